/* Sums as lists of terms: shared by sym.c (normal form) and facts.c (proofs). Lists live in A_TMP. */
#ifndef IR_SYM_POLY_H
#define IR_SYM_POLY_H
#include "base/vec.h"
#include "ir/sym.h"

/* coef * f[0] * f[1] ...; n = 0: the constant. is: the node that this is already; NULL: it is to be made. */
typedef struct Term { int64_t coef; int n; const Sym *const *f; const Sym *is; } Term;
typedef VEC(Term) Poly;

Poly poly_of(const Sym *s);
int term_cmp(const Term *a, const Term *b);
#endif
