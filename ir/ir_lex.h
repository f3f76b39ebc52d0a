/* Tokens of the IR's text form. Only ir_read.h and ir_lex.c include this. */
#ifndef IR_IR_LEX_H
#define IR_IR_LEX_H
#include "base/diag.h"
#include "ir/ir.h"

typedef enum Tok {              /* other tokens are their own character */
	T_END = 256,
	T_NAME,                 /* text */
	T_STRING,               /* text, unescaped */
	T_NUMBER,               /* text; what it is worth depends on the type */
	T_VALUE,                /* %name.id: text (or NULL) and id (or -1) */
	T_EQ, T_NE, T_LE, T_GE, T_AND, T_OR
} Tok;

typedef struct Lex {
	Src *src;
	uint32_t pos;           /* after the token */
	int tok;
	uint32_t lo;            /* of the token; hi is pos */
	uint32_t last;          /* end of the token before */
	bool nl;                /* it is the first of its line */
	Str text;
	int64_t id;
	bool failed;            /* something was reported: only T_END from now on */
} Lex;

void lex_next(Lex *l);
Span lex_span(const Lex *l);
/* Reports and turns the rest of the text into T_END, so that the reader unwinds without further messages. NULL: it had
 * been reported. */
Diag *lex_fail(Lex *l, DiagCode code, Span at, const char *const *args, int nargs);
#define lex_error(l, code, at, ...) lex_fail((l), (code), (at), (const char *const[]){ __VA_ARGS__ }, \
	(int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)))
Diag *lex_expected(Lex *l, const char *what);    /* "expected {what}, found `...`" */
bool lex_is(const Lex *l, const char *word);    /* the token is this name */
bool lex_accept(Lex *l, int tok);
bool lex_accept_word(Lex *l, const char *word);
bool lex_need(Lex *l, int tok, const char *what);
Str lex_name(Lex *l, const char *what);         /* a name, quoted or not; NULL after an error */
int64_t lex_int(Lex *l, const char *what);      /* with sign; 0 after an error */
#endif
