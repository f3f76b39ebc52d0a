/* Numbers num / den * 2^e2 with a sign, num and den odd and without a common factor (zero: num of no limbs).
 * Magnitudes are little-endian limbs of 32 bits. Results beyond MAX_LIMBS are refused, so all work is bounded. */
#include "ir/exact.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Big { int n; const uint32_t *p; } Big;

typedef enum ExactKind { EXACT_FINITE, EXACT_INF, EXACT_NAN } ExactKind;

struct Exact {
	ExactKind kind;
	bool neg;
	Big num, den;
	int e2;
};

enum { MAX_LIMBS = 256, MAX_DIGITS = 2400, MAX_E2 = 20000 };

/* ---- magnitudes ---- */

static Big big_take(uint32_t *p, int n)
{
	while (n && !p[n - 1]) n--;
	return (Big){ n, p };
}

static Big big_u64(uint64_t v)
{
	uint32_t *p = NEW_ARRAY(A_UNIT, uint32_t, 2);
	p[0] = (uint32_t)v;
	p[1] = (uint32_t)(v >> 32);
	return big_take(p, 2);
}

static int big_bits(Big a)
{
	if (!a.n) return 0;
	int b = 0;
	for (uint32_t v = a.p[a.n - 1]; v; v >>= 1) b++;
	return 32 * (a.n - 1) + b;
}

static int big_cmp(Big a, Big b)
{
	if (a.n != b.n) return a.n < b.n ? -1 : 1;
	for (int i = a.n - 1; i >= 0; i--)
		if (a.p[i] != b.p[i]) return a.p[i] < b.p[i] ? -1 : 1;
	return 0;
}

static Big big_add(Big a, Big b)
{
	int n = (a.n > b.n ? a.n : b.n) + 1;
	uint32_t *p = NEW_ARRAY(A_UNIT, uint32_t, n);
	uint64_t c = 0;
	for (int i = 0; i < n; i++) {
		c += (uint64_t)(i < a.n ? a.p[i] : 0) + (i < b.n ? b.p[i] : 0);
		p[i] = (uint32_t)c;
		c >>= 32;
	}
	return big_take(p, n);
}

static Big big_sub(Big a, Big b)        /* a >= b */
{
	uint32_t *p = NEW_ARRAY(A_UNIT, uint32_t, a.n ? a.n : 1);
	uint64_t borrow = 0;
	for (int i = 0; i < a.n; i++) {
		uint64_t d = (uint64_t)a.p[i] - (i < b.n ? b.p[i] : 0) - borrow;
		p[i] = (uint32_t)d;
		borrow = d >> 63;
	}
	return big_take(p, a.n);
}

static Big big_mul(Big a, Big b)
{
	int n = a.n + b.n;
	uint32_t *p = NEW_ARRAY(A_UNIT, uint32_t, n ? n : 1);
	for (int i = 0; i < a.n; i++) {
		uint64_t c = 0;
		for (int j = 0; j < b.n; j++) {
			c += (uint64_t)a.p[i] * b.p[j] + p[i + j];
			p[i + j] = (uint32_t)c;
			c >>= 32;
		}
		p[i + b.n] = (uint32_t)c;
	}
	return big_take(p, n);
}

static Big big_shl(Big a, int s)
{
	if (!a.n || !s) return a;
	int w = s / 32, b = s % 32, n = a.n + w + 1;
	uint32_t *p = NEW_ARRAY(A_UNIT, uint32_t, n);
	for (int i = 0; i < a.n; i++) {
		uint64_t v = (uint64_t)a.p[i] << b;
		p[i + w] |= (uint32_t)v;
		p[i + w + 1] |= (uint32_t)(v >> 32);
	}
	return big_take(p, n);
}

static Big big_shr(Big a, int s)
{
	int w = s / 32, b = s % 32, n = a.n - w;
	if (n <= 0) return (Big){ 0, NULL };
	uint32_t *p = NEW_ARRAY(A_UNIT, uint32_t, n);
	for (int i = 0; i < n; i++) {
		uint64_t v = a.p[i + w] | (uint64_t)(i + w + 1 < a.n ? a.p[i + w + 1] : 0) << 32;
		p[i] = (uint32_t)(v >> b);
	}
	return big_take(p, n);
}

static int big_trailing(Big a)          /* zero bits at the low end */
{
	int i = 0, b = 0;
	if (!a.n) return 0;
	while (!a.p[i]) i++;
	while (!(a.p[i] >> b & 1)) b++;
	return 32 * i + b;
}

/* Binary long division: the operands are small and folding is rare. */
static Big big_divmod(Big a, Big b, Big *rem)
{
	int bits = big_bits(a), n = a.n ? a.n : 1, m = b.n + 1;
	uint32_t *q = NEW_ARRAY(A_UNIT, uint32_t, n), *r = NEW_ARRAY(A_UNIT, uint32_t, m);
	for (int i = bits - 1; i >= 0; i--) {
		for (int k = m - 1; k > 0; k--) r[k] = r[k] << 1 | r[k - 1] >> 31;
		r[0] = r[0] << 1 | (a.p[i / 32] >> (i % 32) & 1);
		int rn = m;
		while (rn && !r[rn - 1]) rn--;
		if (big_cmp((Big){ rn, r }, b) < 0) continue;
		uint64_t borrow = 0;
		for (int k = 0; k < m; k++) {
			uint64_t d = (uint64_t)r[k] - (k < b.n ? b.p[k] : 0) - borrow;
			r[k] = (uint32_t)d;
			borrow = d >> 63;
		}
		q[i / 32] |= 1u << (i % 32);
	}
	*rem = big_take(r, m);
	return big_take(q, n);
}

/* Both odd: subtract and strip. */
static Big big_gcd(Big a, Big b)
{
	for (;;) {
		int c = big_cmp(a, b);
		if (!c) return a;
		if (c < 0) {
			Big t = a;
			a = b;
			b = t;
		}
		Big d = big_sub(a, b);
		a = big_shr(d, big_trailing(d));
	}
}

static uint64_t big_low(Big a)
{
	return (a.n ? a.p[0] : 0) | (uint64_t)(a.n > 1 ? a.p[1] : 0) << 32;
}

static bool big_is_one(Big a)
{
	return a.n == 1 && a.p[0] == 1;
}

static Big big_pow5(int n)
{
	Big r = big_u64(1), b = big_u64(5);
	for (; n; n >>= 1) {
		if (n & 1) r = big_mul(r, b);
		if (n > 1) b = big_mul(b, b);
	}
	return r;
}

/* ---- making ---- */

static const Exact *make(ExactKind kind, bool neg)
{
	Exact *x = NEW(A_UNIT, Exact);
	x->kind = kind;
	x->neg = neg;
	x->den = big_u64(1);
	return x;
}

/* NULL beyond the limits. */
static const Exact *finite(bool neg, Big num, Big den, int e2)
{
	Exact *x = NEW(A_UNIT, Exact);
	x->neg = neg;
	x->den = big_u64(1);
	if (!num.n) return x;
	int tn = big_trailing(num), td = big_trailing(den);
	num = big_shr(num, tn);
	den = big_shr(den, td);
	if (!big_is_one(den) && !big_is_one(num)) {
		Big g = big_gcd(num, den), rem;
		num = big_divmod(num, g, &rem);
		den = big_divmod(den, g, &rem);
	}
	x->num = num;
	x->den = den;
	x->e2 = e2 + tn - td;
	bool fits = num.n <= MAX_LIMBS && den.n <= MAX_LIMBS && x->e2 < MAX_E2 && x->e2 > -MAX_E2;
	return fits ? x : NULL;
}

const Exact *exact_u64(uint64_t v)
{
	return finite(false, big_u64(v), big_u64(1), 0);
}

const Exact *exact_i64(int64_t v)
{
	return finite(v < 0, big_u64(v < 0 ? 0 - (uint64_t)v : (uint64_t)v), big_u64(1), 0);
}

const Exact *exact_inf(bool neg)
{
	return make(EXACT_INF, neg);
}

const Exact *exact_nan(void)
{
	return make(EXACT_NAN, false);
}

const Exact *exact_f64(double v)
{
	if (isnan(v)) return exact_nan();
	if (isinf(v)) return exact_inf(v < 0);
	int e;
	double m = frexp(fabs(v), &e);
	return finite(signbit(v), big_u64((uint64_t)ldexp(m, 53)), big_u64(1), e - 53);
}

const Exact *exact_num(Elem e, Num n)
{
	if (!elem_is_ptr(e) && elem_is_any_float(e)) return exact_f64(n.f);
	return e == EL_U64 ? exact_u64((uint64_t)n.i) : exact_i64(n.i);
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9') return c - '0';
	if (c >= 'a' && c <= 'f') return c - 'a' + 10;
	if (c >= 'A' && c <= 'F') return c - 'A' + 10;
	return 99;
}

static bool parse_exponent(const char *s, int *e)
{
	bool neg = *s == '-';
	int v = 0;
	if (*s == '-' || *s == '+') s++;
	for (; digit_of(*s) < 10; s++) {
		v = 10 * v + digit_of(*s);
		if (v > MAX_E2) return false;
	}
	*e = neg ? -v : v;
	return true;
}

const Exact *exact_parse(const char *s)
{
	int base = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10;
	if (base == 16) s += 2;
	size_t most = strlen(s) / 8 + 1;        /* limbs: no digit has more than 4 bits */
	uint32_t *p = NEW_ARRAY(A_UNIT, uint32_t, most < MAX_LIMBS ? most : MAX_LIMBS);
	int n = 0, after = 0, digits = 0;
	bool point = false;
	for (; *s == '.' || *s == '_' || digit_of(*s) < base; s++) {
		if (*s == '.') point = true;
		if (*s == '.' || *s == '_') continue;
		if (n && ++digits > MAX_DIGITS) return NULL;
		uint64_t c = (uint64_t)digit_of(*s);
		for (int i = 0; i < n; i++) {
			c += (uint64_t)p[i] * (unsigned)base;
			p[i] = (uint32_t)c;
			c >>= 32;
		}
		if (c && n == MAX_LIMBS) return NULL;
		if (c) p[n++] = (uint32_t)c;
		after += point;
	}
	int e = 0;
	if (*s && !parse_exponent(s + 1, &e)) return n ? NULL : finite(false, big_take(p, 0), big_u64(1), 0);
	Big num = big_take(p, n);
	if (!n || base == 16) return finite(false, num, big_u64(1), base == 16 ? e - 4 * after : 0);
	e -= after;
	if (e > MAX_DIGITS || e < -2 * MAX_DIGITS) return NULL;
	if (e >= 0) return finite(false, big_mul(num, big_pow5(e)), big_u64(1), e);
	return finite(false, num, big_pow5(-e), e);
}

/* ---- arithmetic ---- */

static const Exact *with_sign(const Exact *a, bool neg)
{
	Exact *x = NEW(A_UNIT, Exact);
	*x = *a;
	x->neg = neg;
	return x;
}

const Exact *exact_neg(const Exact *a)
{
	return a->kind == EXACT_NAN ? a : with_sign(a, !a->neg);
}

const Exact *exact_abs(const Exact *a)
{
	return a->kind == EXACT_NAN ? a : with_sign(a, false);
}

static const Exact *add_special(const Exact *a, const Exact *b)
{
	if (a->kind == EXACT_NAN || b->kind == EXACT_NAN) return exact_nan();
	if (a->kind == EXACT_INF && b->kind == EXACT_INF && a->neg != b->neg) return exact_nan();
	return a->kind == EXACT_INF ? a : b;
}

const Exact *exact_add(const Exact *a, const Exact *b)
{
	if (a->kind != EXACT_FINITE || b->kind != EXACT_FINITE) return add_special(a, b);
	if (!a->num.n && !b->num.n) return a->neg && b->neg ? a : exact_i64(0);
	if (!a->num.n) return b;
	if (!b->num.n) return a;
	int e = a->e2 < b->e2 ? a->e2 : b->e2;
	if (a->e2 - e > 32 * MAX_LIMBS || b->e2 - e > 32 * MAX_LIMBS) return NULL;
	Big x = big_shl(big_mul(a->num, b->den), a->e2 - e);
	Big y = big_shl(big_mul(b->num, a->den), b->e2 - e);
	Big den = big_mul(a->den, b->den);
	if (a->neg == b->neg) return finite(a->neg, big_add(x, y), den, e);
	int c = big_cmp(x, y);
	if (!c) return exact_i64(0);
	return c > 0 ? finite(a->neg, big_sub(x, y), den, e) : finite(b->neg, big_sub(y, x), den, e);
}

const Exact *exact_sub(const Exact *a, const Exact *b)
{
	return exact_add(a, exact_neg(b));
}

const Exact *exact_mul(const Exact *a, const Exact *b)
{
	bool neg = a->neg != b->neg;
	if (a->kind == EXACT_NAN || b->kind == EXACT_NAN) return exact_nan();
	if (a->kind == EXACT_INF || b->kind == EXACT_INF)
		return exact_is_zero(a) || exact_is_zero(b) ? exact_nan() : exact_inf(neg);
	return finite(neg, big_mul(a->num, b->num), big_mul(a->den, b->den), a->e2 + b->e2);
}

const Exact *exact_div(const Exact *a, const Exact *b)
{
	bool neg = a->neg != b->neg;
	if (a->kind == EXACT_NAN || b->kind == EXACT_NAN) return exact_nan();
	if (a->kind == EXACT_INF) return b->kind == EXACT_INF ? exact_nan() : exact_inf(neg);
	if (b->kind == EXACT_INF) return with_sign(exact_i64(0), neg);
	if (!b->num.n) return NULL;
	return finite(neg, big_mul(a->num, b->den), big_mul(a->den, b->num), a->e2 - b->e2);
}

/* |a| without its fraction. */
static Big whole(const Exact *a)
{
	Big rem;
	if (a->e2 >= 0) return big_divmod(big_shl(a->num, a->e2), a->den, &rem);
	return big_divmod(a->num, big_shl(a->den, -a->e2), &rem);
}

const Exact *exact_trunc(const Exact *a)
{
	if (a->kind != EXACT_FINITE || (a->e2 >= 0 && big_is_one(a->den))) return a;
	return finite(a->neg, whole(a), big_u64(1), 0);
}

const Exact *exact_rem(const Exact *a, const Exact *b)
{
	if (a->kind != EXACT_FINITE || b->kind == EXACT_NAN) return exact_nan();
	if (b->kind == EXACT_INF) return a;
	const Exact *q = exact_div(a, b);
	if (!q) return NULL;
	const Exact *t = exact_mul(exact_trunc(q), b);
	const Exact *r = t ? exact_sub(a, t) : NULL;
	return r && !r->num.n ? with_sign(r, a->neg) : r;
}

/* ---- questions ---- */

bool exact_is_nan(const Exact *a) { return a->kind == EXACT_NAN; }
bool exact_is_inf(const Exact *a) { return a->kind == EXACT_INF; }
bool exact_is_neg(const Exact *a) { return a->neg; }
bool exact_is_zero(const Exact *a) { return a->kind == EXACT_FINITE && !a->num.n; }

bool exact_is_int(const Exact *a)
{
	return a->kind == EXACT_FINITE && a->e2 >= 0 && big_is_one(a->den);
}

int exact_cmp(const Exact *a, const Exact *b)
{
	if (a->kind == EXACT_NAN || b->kind == EXACT_NAN) return 2;
	if (a->kind == EXACT_INF && b->kind == EXACT_INF && a->neg == b->neg) return 0;
	const Exact *d = exact_sub(a, b);
	if (!d) {       /* too far apart in size to be subtracted: the greater exponent decides */
		bool big_a = a->e2 + big_bits(a->num) - big_bits(a->den) > b->e2 + big_bits(b->num) - big_bits(b->den);
		return (big_a ? a : b)->neg == big_a ? -1 : 1;
	}
	return exact_is_zero(d) ? 0 : d->neg ? -1 : 1;
}

bool exact_to_u64(const Exact *a, uint64_t *v)
{
	if (!exact_is_int(a) || (a->neg && a->num.n) || big_bits(a->num) + a->e2 > 64) return false;
	*v = a->num.n ? big_low(a->num) << a->e2 : 0;
	return true;
}

bool exact_to_i64(const Exact *a, int64_t *v)
{
	uint64_t u;
	if (!exact_is_int(a) || !exact_to_u64(exact_abs(a), &u)) return false;
	if (u > (uint64_t)INT64_MAX + a->neg) return false;
	*v = a->neg ? (int64_t)(0 - u) : (int64_t)u;
	return true;
}

uint64_t exact_low_bits(const Exact *a)
{
	if (a->kind != EXACT_FINITE) return 0;
	uint64_t u = big_low(whole(a));
	return a->neg ? 0 - u : u;
}

/* Nearest; for messages. */
static double exact_to_f64(const Exact *a)
{
	Num n;
	exact_round(a, EL_F64, ROUND_NEAREST, &n);
	return n.f;
}

/* The shortest text that reads back as d. */
static Str double_digits(double d)
{
	for (int digits = 6; digits <= 17; digits++) {
		Str t = str_fmt("%.*g", digits, d);
		double back = 0;
		if (sscanf(t, "%lf", &back) == 1 && back == d) return t;
	}
	return str_fmt("%g", d);
}

/* "1e-324": a number that no double holds is scaled by powers of ten into their range, and its exponent is put back. */
static Str scaled_text(const Exact *a, bool tiny)
{
	enum { STEP = 300, MOST = 10 * STEP };
	const Exact *step = exact_parse("1e300"), *x = exact_abs(a);
	double d = 0;
	int shift = 0;
	while (x && shift < MOST && !(d > 1e-150 && d <= DBL_MAX)) {
		x = tiny ? exact_mul(x, step) : exact_div(x, step);
		d = x ? exact_to_f64(x) : 0;
		shift += STEP;
	}
	for (int digits = 0; digits <= 16; digits++) {
		Str t = str_fmt("%.*e", digits, d);
		double back = 0;
		int exponent = 0;
		if (sscanf(t, "%lf", &back) != 1 || (back != d && digits < 16)) continue;
		if (sscanf(strchr(t, 'e'), "e%d", &exponent) != 1) break;
		return str_fmt("%s%.*se%+d", a->neg ? "-" : "", (int)(strchr(t, 'e') - t), t,
			tiny ? exponent - shift : exponent + shift);
	}
	return str_fmt("%g", exact_to_f64(a));
}

Str exact_text(const Exact *a)
{
	if (a->kind == EXACT_NAN) return str_intern("nan");
	if (a->kind == EXACT_INF) return str_intern(a->neg ? "-inf" : "inf");
	int64_t i;
	uint64_t u;
	if (exact_to_i64(a, &i)) return str_fmt("%lld", (long long)i);
	if (exact_to_u64(a, &u)) return str_fmt("%llu", (unsigned long long)u);
	double d = exact_to_f64(a);
	bool tiny = d == 0 && !exact_is_zero(a);
	return tiny || d - d != 0 ? scaled_text(a, tiny) : double_digits(d);
}

/* ---- rounding ---- */

static const struct { Elem e; int emin; double max; } formats[] = {
	{ EL_F16, -14, 65504.0 }, { EL_BF16, -126, 0x1.fep127 }, { EL_TF32, -126, 0x1.ffcp127 },
	{ EL_F32, -126, 0x1.fffffep127 }, { EL_F64, -1022, 0x1.fffffffffffffp1023 },
	{ EL_F8E4M3, -6, 448.0 }, { EL_F8E5M2, -14, 57344.0 },
};

static int format_of(Elem e)
{
	for (int i = 0; i < (int)(sizeof formats / sizeof *formats); i++)
		if (formats[i].e == e) return i;
	return 0;
}

static bool rounds_up(int rounding, bool neg, bool odd, bool half, bool sticky)
{
	switch (rounding) {
	case ROUND_ZERO: return false;
	case ROUND_DOWN: return neg && (half || sticky);
	case ROUND_UP: return !neg && (half || sticky);
	default: return half && (sticky || odd);
	}
}

static double overflowed(int rounding, bool neg, double max)
{
	bool to_inf = rounding == ROUND_NEAREST || rounding == ROUND_TIES_EVEN || rounding == (neg ? ROUND_DOWN : ROUND_UP);
	return to_inf ? INFINITY : max;
}

static int bits_of(uint64_t v)
{
	int b = 0;
	for (; v; v >>= 1) b++;
	return b;
}

/* Rounds (q + something in (0,1) if sticky) * 2^exp; q has more than the format's digits + 2 bits. */
static int round_parts(bool neg, uint64_t q, bool sticky, int exp, Elem e, int rounding, Num *out)
{
	int f = format_of(e), p = elem_rows[e].digits;
	int top = bits_of(q) - 1 + exp;
	int quantum = (top > formats[f].emin ? top : formats[f].emin) - (p - 1);
	int drop = quantum - exp;
	uint64_t m = drop > 63 ? 0 : q >> drop;
	bool half = drop <= 64 && (q >> (drop - 1) & 1);
	bool rest = sticky || (drop > 64 ? q != 0 : (q & ((UINT64_C(1) << (drop - 1)) - 1)) != 0);
	int flags = half || rest ? EXACT_INEXACT : 0;
	m += rounds_up(rounding, neg, (m & 1) || (e == EL_TF32 && rounding == ROUND_NEAREST), half, rest);
	double v = bits_of(m) + quantum > 1024 ? INFINITY : ldexp((double)m, quantum);
	if (v > formats[f].max) {
		v = overflowed(rounding, neg, formats[f].max);
		flags |= EXACT_OVERFLOW | EXACT_INEXACT;
	}
	if (v == 0) flags |= EXACT_UNDERFLOW;
	*out = (Num){ .f = neg ? -v : v };
	return flags;
}

int exact_round(const Exact *a, Elem e, int rounding, Num *out)
{
	*out = (Num){ .f = NAN };
	if (a->kind == EXACT_NAN) return 0;
	out->f = a->kind == EXACT_INF ? INFINITY : 0;
	if (a->neg) out->f = -out->f;
	if (a->kind == EXACT_INF || !a->num.n) return 0;
	int k = 60 - (big_bits(a->num) - big_bits(a->den));     /* q gets 60 or 61 bits */
	Big num = k > 0 ? big_shl(a->num, k) : a->num, den = k < 0 ? big_shl(a->den, -k) : a->den, rem;
	Big q = big_divmod(num, den, &rem);
	return round_parts(a->neg, big_low(q), rem.n != 0, a->e2 - k, e, rounding, out);
}

static bool square_fits(uint64_t r, Big n)
{
	Big b = big_u64(r);
	return big_cmp(big_mul(b, b), n) <= 0;
}

int exact_round_sqrt(const Exact *a, Elem e, int rounding, Num *out)
{
	if (a->kind != EXACT_FINITE || !a->num.n || a->neg) {
		bool keep = a->kind == EXACT_NAN || !a->neg || exact_is_zero(a);
		return exact_round(keep ? a : exact_nan(), e, rounding, out);
	}
	/* sqrt(num den 2^e2) / den; the values folded are binary, so den is 1 and the quotient below is exact */
	Big n = big_mul(a->num, a->den);
	int k = 121 - big_bits(n);
	if (k < 0) k = 0;
	if ((a->e2 - k) & 1) k++;
	n = big_shl(n, k);
	uint64_t r = 0;
	for (int bit = 62; bit >= 0; bit--)
		if (square_fits(r | UINT64_C(1) << bit, n)) r |= UINT64_C(1) << bit;
	Big b = big_u64(r);
	bool sticky = big_cmp(big_mul(b, b), n) != 0;
	return round_parts(false, r, sticky, (a->e2 - k) / 2, e, rounding, out);
}
