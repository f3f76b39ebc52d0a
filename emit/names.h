/* Names in emitted text: the author's own, except where C, C++ or CUDA reserve them or the text itself uses them.
 * What an emitter names begins with `ct_`, `CT`, `Ct` or `ctile_`, also loop variables and temporaries: no name that
 * name_c or name_entry gives begins so. */
#ifndef EMIT_NAMES_H
#define EMIT_NAMES_H
#include "base/str.h"
#include "ir/ir.h"

Str name_c(Str s);                      /* of a variable, parameter or dimension: s, or another one where it is taken */
Str name_entry(Str s);  /* of a C function: as name_c, but capitals stay, for nothing of the caller's is renamed */
Str name_dim(const Fn *fn, int i);      /* C name of a dimension: name_c */
Str sym_c(const Sym *s);                /* plain C of a number, of an atom by its name_c, or of an alignment */
void comment_text(Out *o, Str doc, const char *prefix);  /* doc lines, each after prefix; no way out of a comment */
/* The names of one scope. */
/* next: where to look for a free number after it; 0: nobody did */
typedef struct NameSlot { Str name; int next; } NameSlot;
typedef struct NameSet { NameSlot *p; int cap, n, unnamed; } NameSet;
bool names_take(NameSet *t, Str s);     /* false: in use */
bool names_has(const NameSet *t, Str s);
/* wanted (NULL: v0, v1 ...) as C takes it, with a number after it where it is in use */
Str names_new(NameSet *t, Str wanted);
Str c_string(Str s);                    /* a C string literal with quotes */
#endif
