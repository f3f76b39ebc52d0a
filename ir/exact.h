/* Exact numbers for constant expressions: rationals of bounded size, infinities, NaN, and a zero with a sign.
 * A literal keeps its value here until it meets a type; then it is rounded once. Also the model of rounding for fold.c.
 * Values are immutable and live in A_UNIT. */
#ifndef IR_EXACT_H
#define IR_EXACT_H
#include "ir/ir.h"

typedef struct Exact Exact;

/* Order of the words of attribute `rounding`. NEAREST rounds ties to even, but for tf32 away from zero. */
enum { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_TIES_EVEN = 6 };

const Exact *exact_i64(int64_t v);
const Exact *exact_u64(uint64_t v);
const Exact *exact_inf(bool neg);
const Exact *exact_nan(void);
const Exact *exact_f64(double v);               /* the value of any double, exactly */
const Exact *exact_num(Elem e, Num n);          /* the value of a typed constant, exactly */
/* "12", "1e-5", "0x1.8p3", "0xff"; NULL: beyond the limits (near 10^±2400) */
const Exact *exact_parse(const char *text);

/* NULL: division by zero, or a result beyond the limits. Infinities and NaN follow IEEE. */
const Exact *exact_neg(const Exact *a);
const Exact *exact_abs(const Exact *a);
const Exact *exact_add(const Exact *a, const Exact *b);
const Exact *exact_sub(const Exact *a, const Exact *b);
const Exact *exact_mul(const Exact *a, const Exact *b);
const Exact *exact_div(const Exact *a, const Exact *b);
const Exact *exact_rem(const Exact *a, const Exact *b);        /* sign of a: a - trunc(a / b) b */
const Exact *exact_trunc(const Exact *a);                       /* integer part; infinities and NaN stay */

bool exact_is_nan(const Exact *a);
bool exact_is_inf(const Exact *a);
bool exact_is_neg(const Exact *a);              /* -0 too */
bool exact_is_zero(const Exact *a);
bool exact_is_int(const Exact *a);              /* finite and whole */
int exact_cmp(const Exact *a, const Exact *b);  /* -1 0 1; 2: a NaN is involved. -0 == 0 */
bool exact_to_i64(const Exact *a, int64_t *v);  /* whole and in range */
bool exact_to_u64(const Exact *a, uint64_t *v);
uint64_t exact_low_bits(const Exact *a);        /* of trunc(a), two's complement; 0 for infinities and NaN */
Str exact_text(const Exact *a);                 /* short decimal text for messages */

/* Rounds to a float element type (fp8 and tf32 too). Bits of the result: */
enum { EXACT_INEXACT = 1, EXACT_OVERFLOW = 2, EXACT_UNDERFLOW = 4 };    /* UNDERFLOW: non-zero became zero */
int exact_round(const Exact *a, Elem e, int rounding, Num *out);
int exact_round_sqrt(const Exact *a, Elem e, int rounding, Num *out);   /* of the square root; negative: NaN */
#endif
