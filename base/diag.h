/* Diagnostics: what users see. Texts live in diags.def and nowhere else; arguments are strings only.
 *
 *   Diag *d = diag(D_MMA_INNER, span_of_op, str_i64(32), str_i64(64));
 *   diag_label(d, a->span, "%s", type_text(a->type));
 *   diag_help(d, "write `matmul(a, b)`");
 *   diag_edit(d, span, "matmul(a, b)");
 *
 * A remedy has one of three forms, and tests apply the first by machine (tests/run/apply_edits.py):
 *   an edit      diag_help and diag_edit: after it the mistake is gone, and the program computes what was meant
 *   a question   diag_ask: a guess, from the spelling of a name
 *   advice       diag_help alone: what there is instead. It says "write `this`", or ends in ":
 *   `this`", only with an edit
 *
 * Diagnostics are collected in order, limited by --error-limit, and printed by diag_flush. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include "base/src.h"

typedef enum { SEV_ERROR, SEV_WARNING, SEV_NOTE } Severity;

typedef enum DiagCode {
#define DIAG(id, code, sev, group, text, explain) D_##id,
#include "base/diags.def"
#undef DIAG
	D_COUNT
} DiagCode;

typedef struct DiagRow {
	const char *id, *code;      /* "MMA_INNER", "E0203" */
	Severity sev;
	const char *group;          /* warnings: the name in -W<name> and its class, "unused:all"; errors: "" */
	const char *text;           /* message with {0} {1} ... for the arguments */
	const char *explain;  /* --explain: prose, then a failing and a mended program in ```tile-error / ```tile fences */
} DiagRow;
extern const DiagRow diag_rows[D_COUNT];

typedef struct Diag Diag;

/* The arguments are C strings, as many as the row's text names. The result is never NULL. */
Diag *diag_at(DiagCode code, Span at, const char *const *args, int nargs);
#define diag0(code, at) diag_at((code), (at), NULL, 0)
#define diag(code, at, ...) diag_at((code), (at), (const char *const[]){ __VA_ARGS__ }, \
	(int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)))
void diag_label(Diag *d, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* a label: the mistake is in `name`, called from here; innermost call first */
void diag_call(Diag *d, Span at, Str name);
void diag_note(Diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void diag_help(Diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* belongs to the last help; insertion when at.lo == at.hi */
void diag_edit(Diag *d, Span at, const char *replacement);
void diag_ask(Diag *d, const char *name);       /* "did you mean `name`?"; NULL: nothing is asked */

/* What is reported from here on is found in this instance of a kernel or function, up to the next call; key NULL: in
 * none. values are lines `T = f32`, name is its own. A mistake that an earlier instance of the same key has at the same
 * place is the same one: it is printed once, with the first instance, where it has to do with its values. */
typedef struct DiagInstance { Str key, name, values; } DiagInstance;
DiagInstance diag_instance(DiagInstance i);     /* returns the one before */

Diag *diag_latest(void);                /* the one reported last, to say more about it; NULL: none */
int diag_errors(void);                  /* so far */
typedef struct DiagMark { int n, errors, repeated; } DiagMark;
DiagMark diag_mark(void);               /* to try something: */
void diag_rollback(DiagMark m);         /* forgets what was reported since */
bool diag_full(void);                   /* the error limit is reached: stop looking */

/* Settings (from the command line) and output. */
typedef enum { DIAG_RICH, DIAG_SHORT, DIAG_JSON, DIAG_SARIF } DiagFormat;
typedef struct DiagOptions {
	DiagFormat format;
	bool color;
	int error_limit;            /* 0 = none */
	bool werror, no_warnings;
} DiagOptions;
void diag_options(const DiagOptions *o);
/* "all" "extra" "perf" "no-unused" "error=unused" ...: the part after -W. False: no such warning; *near may be set. */
bool diag_warning_option(const char *w, Str *near);
void diag_flush(FILE *to);              /* prints and forgets what was collected */

/* Mistakes of ours: prints what happened and how to report it, lets the hook save a repro, exits 70. */
_Noreturn void bug_at(const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#define bug(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
extern void (*bug_hook)(const char *message);   /* set by the driver */
/* Environment trouble outside any source (disk full, ...): a plain sentence "ctilec: error: ...", exit 1. */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die_with(int status, const char *fmt, va_list ap);       /* the same with another exit status */
#endif
