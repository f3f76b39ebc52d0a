/* Tokens with values and places. A file of any bytes gives a finite row of tokens that ends with TOK_END; what is wrong
 * in it is reported once, at its place, and the row goes on with something harmless. */
#ifndef LEXER_LEX_H
#define LEXER_LEX_H
#include "grammar/gram.h"
#include "grammar/tile_tab.h"

typedef struct Token {
	int kind;                       /* TOK_... */
	Span span;
	TILE_YYSTYPE v;                 /* name, lit, str; lit.text NULL: reported, a poisoned literal */
} Token;

typedef struct Lex {
	Src *src;
	const char *cur, *end;
	bool quiet;                     /* looking ahead: report nothing */
	bool not_utf8, control, suffixed;       /* said once per file */
	uint32_t error;                 /* place of the last report, 0 = none */
} Lex;

void lex_begin(Lex *l, Src *src);       /* checks the bytes of the whole file */
void lex_token(Lex *l, Token *t);
void lex_peek(const Lex *l, Token *t, int n);   /* the next n tokens, quietly */

bool lex_is_name_byte(char c);          /* of names, words and numbers */

void lex_dump(Out *o, Src *src);        /* --emit=tokens: one line per token */
#endif
