/* Sums as lists of terms: shared by sym.c (normal form) and facts.c (proofs). Lists live in A_TMP. */
#ifndef IR_SYM_POLY_H
#define IR_SYM_POLY_H
#include "base/vec.h"
#include "ir/sym.h"

/* coef * f[0] * f[1] ...; n = 0: the constant. is: the node that this is already; NULL: it is to be made. */
typedef struct Term { int64_t coef; int n; const Sym *const *f; const Sym *is; } Term;
typedef VEC(Term) Poly;

enum { MAX_TERMS = 64 };        /* a product with more terms stays a product */

Poly poly_of(const Sym *s);
int term_cmp(const Term *a, const Term *b);
/* Each of these is false where a coefficient leaves i64. */
bool poly_sum(const Sym *a, const Sym *b, int64_t k, Poly *sum);        /* a + k * b */
bool poly_merge(Poly *p);                                               /* sorts terms and adds up like ones */
bool term_mul(const Term *a, const Term *b, Term *product);
#endif
