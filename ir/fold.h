/* Constant evaluation of pure elementwise operations, with the run-time rules of each element type: this is the model
 * that the targets must agree with. Integers wrap; division by zero is 0; shift counts are taken modulo the width;
 * floats are rounded once; there is one NaN. bool: arithmetic is that of integers, and
 * a result that is not zero is true (true + true is true); shifts, counts and mulhi see one bit.
 *
 * Casts: to bool: value != 0 (NaN is true). Integer to integer: wraps (overflow: saturate clamps). Float to integer:
 * truncates and saturates, NaN is 0 (overflow: wrap keeps the low bits of the truncated value, 0 for infinities).
 * To f16, bf16, tf32, f32, f64: rounds, and overflow follows IEEE. What would be an infinity then, an infinite
 * operand too, becomes what overflow says (saturate: the greatest finite value; inf; nan). To fp8: as saturate
 * unless overflow says otherwise; NaN stays. */
#ifndef IR_FOLD_H
#define IR_FOLD_H
#include "ir/ir.h"

typedef struct FoldModes { int rounding, subnormals, nan, overflow; } FoldModes;       /* word indices of attrs.def */

FoldModes fold_modes(const Op *op);

/* e: element type of the first operand that is not a condition; r: of the result. False: not foldable
 * (not elementwise, random, pointers other than null, approximate modes). */
bool fold_op(OpCode code, FoldModes m, Elem e, Elem r, int n, const Num *in, Num *out);
/* Folding gives the bits every target gives. The other math functions are right within their stated error only:
 * sema folds them in constants, passes must not. */
bool fold_is_exact(OpCode code);

/* The value of op with operands `in`, if those are constants and every target gives the same. */
bool fold_known(const Op *op, Val *const *in, Num *out);

Num fold_cast(Num x, Elem from, Elem to, FoldModes m);
bool fold_fits(Num x, Elem from, Elem to);              /* the cast needs no overflow rule */

Num num_int(int64_t v);
Num num_float(double v);
Num num_zero(Elem e);
Num num_one(Elem e);
Num num_wrap(Elem e, uint64_t bits);                    /* integers and bool: the low bits */
uint64_t num_bits(Elem e, Num n);                       /* as in memory, low bytes */
Num num_from_bits(Elem e, uint64_t bits);
bool num_same(Elem e, Num a, Num b);                    /* same bits */
bool num_is_true(Elem e, Num n);
Num num_least(Elem e), num_greatest(Elem e);            /* finite limits of the type */
int elem_bits(Elem e);                                  /* value bits as an integer: bool 1, i8 8 */
#endif
