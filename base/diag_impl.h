/* What diag.c shares with the printers of diagnostics; nobody else includes it. */
#ifndef BASE_DIAG_IMPL_H
#define BASE_DIAG_IMPL_H
#include "base/diag.h"
#include "base/out.h"
#include "base/vec.h"

/* call: the function's name where this is one, else NULL */
typedef struct DiagLabel { Span at; Str text, call; } DiagLabel;
typedef struct DiagEdit { Span at; Str text; } DiagEdit;
typedef struct DiagNote {
	bool help;
	Str text;
	VEC(DiagEdit) edits;
} DiagNote;

struct Diag {
	DiagCode code;
	Severity sev;
	Span at;
	Str text;
	VEC(DiagLabel) labels;
	VEC(DiagNote) notes;
	DiagInstance in;                /* key NULL: in none */
	Str last;                       /* the last instance that has it */
	int instances;                  /* how many do */
	bool varies;                    /* the text is not the same in all of them */
};
typedef VEC(Diag *) DiagVec;

Str diag_group(const DiagRow *r);       /* the name after -W, without the class */
void diag_print_rich(Out *o, const DiagVec *v, bool color);
void diag_print_short(Out *o, const DiagVec *v);
void diag_print_json(Out *o, const DiagVec *v);
void diag_print_sarif(Out *o, const DiagVec *v);
#endif
