/* Inside lexer/ only. */
#ifndef LEXER_LEX_IMPL_H
#define LEXER_LEX_IMPL_H
#include "base/diag.h"
#include "lexer/lex.h"

Span lex_place(const Lex *l, const char *lo, const char *hi);
/* Reports at [lo, hi) unless looking ahead; NULL then. */
Diag *lex_report(Lex *l, DiagCode code, const char *lo, const char *hi, const char *a, const char *b);
/* Source text for a message: shortened, control characters as dots. */
const char *lex_quote(const char *lo, const char *hi);

/* Literals: the value of what the scanner found. Poisoned ones have text NULL. */
Literal lex_integer(Lex *l, const char *lo, const char *hi);
Literal lex_float(Lex *l, const char *lo, const char *hi);
Literal lex_bad_number(Lex *l, const char *lo, const char *hi);
Literal lex_bad_point(Lex *l, const char *lo, const char *hi);
Str lex_string(Lex *l, const char *lo, const char *hi);         /* between the quotes */

/* Bytes outside any token. */
void lex_check_bytes(Lex *l);
bool lex_stray(Lex *l, const char *lo, Token *t);       /* true: t is what was meant; moves l->cur */
bool lex_foreign_name(Lex *l, const char *lo, Token *t);    /* true: it is one, and t is set */
#endif
