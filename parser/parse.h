/* Source text to tree. Every mistake in it was reported when this returns; what could not be read is missing from the
 * tree or an error node in it, so a tree is good for checking only if diag_errors() did not grow. */
#ifndef PARSER_PARSE_H
#define PARSER_PARSE_H
#include "ast/ast.h"

Ast *parse_file(Src *src);      /* never NULL */
/* the expression in bytes [lo, hi) of the text; NULL: reported */
const Expr *parse_part(Src *src, uint32_t lo, uint32_t hi);
#endif
