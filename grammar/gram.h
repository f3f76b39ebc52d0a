/* What the generated scanner and parser share with the hand-written code around them.
 * The scanner finds where tokens begin and end; lexer/ gives them values and reports what is wrong with them. The
 * parser asks parser/ for tokens and tells it about errors. Nothing here knows what a program means. */
#ifndef GRAMMAR_GRAM_H
#define GRAMMAR_GRAM_H
#include "ast/ast.h"

/* ---- scanner ---- */

/* Kinds below 0 are texts that are no token. */
enum {
	SCAN_BAD_NUMBER = -1,
	SCAN_BAD_POINT = -2,            /* 1. or .5 */
	SCAN_OPEN_STRING = -3,          /* up to the end of the line or file */
	SCAN_OPEN_COMMENT = -4,         /* up to the end of the file */
	SCAN_STRAY_CLOSE = -5,          /* the two characters that end a comment, outside one */
	SCAN_STRAY = -6                 /* one byte that begins no token */
};

/* Finds the token after `at`, skipping blanks and comments. [*lo, result) is its text; at the end of the text (a NUL
 * byte at `end`) the kind is 0. Names and words all come as TOK_IDENT. */
const char *scan_token(const char *at, const char *end, const char **lo, int *kind);

/* ---- tokens: rows of the %token lines, in their order ---- */
typedef enum TokenClass { TC_RESERVED, TC_CONTEXTUAL, TC_PUNCTUATION, TC_CLASS } TokenClass;
typedef struct TokenRow { int kind; const char *text; TokenClass cls; } TokenRow;
extern const TokenRow token_rows[];
extern const int token_count;
const char *token_text(int kind);       /* the alias: "kernel", "+=", "a name" */

/* ---- parser ---- */
typedef struct Gram Gram;               /* parser/parse_impl.h */

/* A syntax error: the texts of the tokens that could stand here. Called before anything is thrown away; afterwards the
 * parser drops the current token and gets TOK_SYNC and what follows it. */
void gram_error(Gram *g, const char *const *expected, int n);
void gram_overflow(Gram *g);            /* the parser's stack is full */
void gram_item(Gram *g, Item *it);      /* a complete item, in order */

/* Slips that the grammar accepts in order to say what was meant. Each reports and returns something harmless. */
Expr *slip_condition(Gram *g, Expr *l, Span at, Expr *r);       /* if a = b */
Arg slip_argument(Gram *g, Expr *l, Span at, Expr *r);          /* f(a = b) */
void slip_semicolon(Gram *g, Span at);                          /* ; after } */
ExprVec slip_no_grid(Gram *g);
Expr *slip_result(Gram *g, Span at, Expr *type);                /* fn f(): T */
Expr *slip_no_value(Gram *g, Expr *pat);                        /* let x; */
Expr *slip_range(Gram *g, Expr *e);                             /* for i in e { */
#endif
