/* Text buffers with indentation. */
#ifndef BASE_OUT_H
#define BASE_OUT_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/str.h"
#include "base/vec.h"

/* belongs before byte `at` of the buffer */
typedef struct OutPiece { size_t at; const char *s; size_t n; } OutPiece;

typedef struct Out {
	char *p;                /* NUL-terminated; without pieces */
	size_t n, cap;
	int indent;             /* tabs put before each non-empty line, up to 32 */
	bool bol;               /* at the beginning of a line (starts true: use out_new) */
	size_t counted;         /* bytes that out_line has looked at, */
	int lines;              /* and how many lines end there and in pieces */
	VEC(OutPiece) pieces;   /* text that lies elsewhere */
	struct Out *next;       /* among those given back */
} Out;

Out *out_new(void);                                   /* lives as long as the compilation, or until given back */
void out_free(Out *o);                                /* gives it back, its text too */
Str out_take(Out *o);                                 /* its text, interned; gives it back */
void out_puts(Out *o, const char *s);                 /* '\n' in s ends lines and indents the next */
void out_raw(Out *o, const char *s, size_t n);        /* no indentation */
/* The same for a long text that stays as it is and where it is until all is written: it is not copied. For files only:
 * p and n know nothing of it. */
void out_refer(Out *o, const char *s, size_t n);
void out_reserve(Out *o, size_t n);                   /* n bytes are to come: room is made once */
void out_fit(Out *o);                                 /* nothing is to come: gives back the room that is left */
void out_printf(Out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_vprintf(Out *o, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
int out_line(Out *o);                                 /* current line, from 1: for #line resets; counts what is new */
void out_in(Out *o);                                  /* one level deeper */
void out_off(Out *o);
/* Its text from start to end, part by part, as long as f wants more; whether it wanted all. */
bool out_parts(const Out *o, bool (*f)(void *ctx, const char *s, size_t n), void *ctx);
#endif
