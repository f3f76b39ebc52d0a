/* Symbolic integers: normal form, text, evaluation, proofs; random polynomials against evaluation. */
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/diag.h"
#include "ir/sym.h"

static int failures;
#define CHECK(c) ((c) ? (void)0 : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #c)))

static const Sym *dim(const char *n) { return sym_atom(ATOM_DIM, str_intern(n), 0); }
static const Sym *k(int64_t v) { return sym_const(v); }
static int text_is(const Sym *s, const char *t)
{
	if (!sym_text(s) || sym_text(s) != str_intern(t)) return printf("got %s, want %s\n", sym_text(s), t), 0;
	return 1;
}

static void normal_form(void)
{
	const Sym *m = dim("m"), *n = dim("n");
	CHECK(sym_add(m, n) == sym_add(n, m));
	CHECK(sym_sub(sym_add(m, n), n) == m);
	CHECK(sym_mul(sym_add(m, k(1)), sym_sub(m, k(1))) == sym_sub(sym_mul(m, m), k(1)));
	CHECK(sym_is_const(sym_sub(m, m), NULL));
	CHECK(sym_cdiv(sym_mul(k(64), m), k(64)) == m);
	CHECK(sym_div(sym_add(sym_mul(k(4), m), k(8)), k(4)) == sym_add(m, k(2)));
	CHECK(sym_mod(sym_mul(k(6), n), k(3)) == k(0));
	CHECK(text_is(sym_add(sym_mul(k(2), m), k(1)), "2 * m + 1"));
	CHECK(text_is(sym_sub(n, sym_mul(k(3), m)), "n - 3 * m"));
	CHECK(text_is(sym_mul(sym_cdiv(n, k(64)), m), "m * cdiv(n, 64)"));
	CHECK(text_is(sym_div(sym_add(m, k(1)), k(2)), "(m + 1) / 2"));
	CHECK(text_is(sym_cmp(SYM_LE, m, k(5)), "m <= 5"));
	CHECK(sym_cmp(SYM_LT, m, sym_add(m, k(1))) == k(1));
	CHECK(sym_mul(k(INT64_MAX), k(2))->kind == SYM_MUL);
}

static bool give(void *ctx, const Sym *atom, int64_t *v)
{
	const int64_t *vals = ctx;
	*v = vals[atom->name[0] - 'a'];
	return true;
}

/* The same random expression built as a Sym and computed directly. */
static const Sym *random_sym(int depth, const int64_t *vals, int64_t *v)
{
	int64_t a, b;
	int op = depth ? rand() % 9 : rand() % 2;
	if (op == 0) return *v = rand() % 9 - 2, k(*v);
	if (op == 1) {
		char name[2] = { (char)('a' + rand() % 3), 0 };
		return *v = vals[name[0] - 'a'], dim(name);
	}
	const Sym *x = random_sym(depth - 1, vals, &a), *y = random_sym(depth - 1, vals, &b);
	switch (op) {
	case 2: case 3: return *v = a + b, sym_add(x, y);
	case 4: return *v = a - b, sym_sub(x, y);
	case 5: return *v = a * b, sym_mul(x, y);
	case 6: return *v = a < b ? a : b, sym_min(x, y);
	case 7: return *v = a > b ? a : b, sym_max(x, y);
	default: return *v = a / 4 + (a % 4 > 0), sym_cdiv(x, k(4));
	}
}

static void random_values(void)
{
	srand(1);
	for (int i = 0; i < 20000; i++) {
		int64_t vals[3] = { rand() % 20, rand() % 20, rand() % 20 }, want, got;
		const Sym *s = random_sym(4, vals, &want);
		CHECK(sym_eval(s, give, vals, &got) && got == want);
		Facts *f = facts_new(NULL, A_UNIT);
		for (int j = 0; j < 3; j++) facts_range(f, dim((const char[]){ (char)('a' + j), 0 }), 0, 19);
		Range r = facts_eval_range(f, s);
		CHECK(r.lo <= want && want <= r.hi);
		int64_t g = facts_gcd(f, s);
		CHECK(g == 0 ? want == 0 : want % g == 0);
	}
}

/* Whatever is proved must hold for every value. */
static void random_proofs(void)
{
	int proved = 0;
	for (int i = 0; i < 4000; i++) {
		int64_t vals[3] = { 3, 5, 7 }, x, y;
		const Sym *a = random_sym(2, vals, &x), *b = random_sym(2, vals, &y);
		Facts *f = facts_new(NULL, A_UNIT);
		facts_range(f, dim("a"), 0, 7);
		facts_range(f, dim("b"), 1, 7);
		facts_bound(f, dim("c"), k(0), sym_cdiv(dim("a"), k(2)));
		facts_assume(f, sym_cmp(SYM_LE, dim("b"), dim("a")));
		if (!facts_le(f, a, b)) continue;
		proved++;
		for (vals[0] = 0; vals[0] <= 7; vals[0]++)
			for (vals[1] = 1; vals[1] <= vals[0]; vals[1]++)
				for (vals[2] = 0; vals[2] < (vals[0] + 1) / 2; vals[2]++) {
					sym_eval(a, give, vals, &x);
					sym_eval(b, give, vals, &y);
					CHECK(x <= y);
				}
	}
	CHECK(proved > 200);
}

/* And whatever is disproved must hold for none: equalities of remainders, of multiples, of anything. */
static void random_disproofs(void)
{
	int disproved = 0;
	for (int i = 0; i < 6000; i++) {
		int64_t vals[3] = { 3, 5, 7 }, x, y;
		const Sym *a = random_sym(2, vals, &x), *b = rand() % 2 ? k(rand() % 12 - 4) : random_sym(1, vals, &y);
		int64_t scale = 1 + rand() % 6, by = 1 + rand() % 6, shift = rand() % 6;
		a = sym_add(sym_mul(k(scale), a), k(shift));
		if (rand() % 2) a = sym_mod(a, k(by));
		Facts *f = facts_new(NULL, A_UNIT);
		facts_range(f, dim("a"), 0, 6);
		facts_range(f, dim("b"), 2, 2);
		facts_range(f, dim("c"), 0, 6);
		facts_assume(f, sym_cmp(SYM_EQ, sym_mod(dim("c"), k(3)), k(0)));
		if (!facts_fails(f, sym_cmp(SYM_EQ, a, b))) continue;
		disproved++;
		vals[1] = 2;
		for (vals[0] = 0; vals[0] <= 6; vals[0]++)
			for (vals[2] = 0; vals[2] <= 6; vals[2] += 3) {
				sym_eval(a, give, vals, &x);
				sym_eval(b, give, vals, &y);
				CHECK(x != y);
			}
	}
	CHECK(disproved > 500);
	CHECK(facts_fails(facts_new(NULL, A_UNIT), sym_cmp(SYM_EQ, sym_mod(sym_add(sym_mul(k(4), dim("m")), k(2)), k(4)), k(0))));
}

static void tiles_inside(void)
{
	const Sym *m = dim("m"), *b = sym_atom(ATOM_BID, NULL, 0);
	const Sym *end = sym_mul(sym_add(b, k(1)), k(128));
	Facts *f = facts_new(NULL, A_UNIT);
	facts_range(f, m, 0, INT32_MAX);
	facts_bound(f, b, k(0), sym_cdiv(m, k(128)));
	CHECK(!facts_le(f, end, m));                    /* the last tile may hang over */
	CHECK(facts_lt(f, sym_mul(b, k(128)), m));      /* but it begins inside */
	Facts *g = facts_new(f, A_UNIT);
	CHECK(facts_assume(g, sym_cmp(SYM_EQ, sym_mod(m, k(128)), k(0))));
	CHECK(facts_le(g, end, m));
	CHECK(facts_gcd(g, m) == 128);
	CHECK(facts_gcd(g, sym_mul(b, sym_mul(m, k(4)))) == 512);
	CHECK(!facts_assume(g, sym_cmp(SYM_LT, m, k(0))));
	const Sym *cols = dim("cols");
	facts_assume(g, sym_cmp(SYM_LE, cols, k(1024)));
	CHECK(facts_holds(g, sym_cmp(SYM_LT, cols, k(1025))));
	CHECK(facts_eval_range(g, cols).hi == 1024);
	CHECK(!facts_holds(g, sym_cmp(SYM_LT, cols, k(1024))));
	facts_assume(g, sym_aligned(str_intern("x"), 16));
	CHECK(facts_holds(g, sym_aligned(str_intern("x"), 8)) && !facts_holds(g, sym_aligned(str_intern("y"), 8)));
}

int main(void)
{
	A_UNIT = arena_new();
	A_TMP = arena_new();
	normal_form();
	random_values();
	random_proofs();
	random_disproofs();
	tiles_inside();
	if (!failures) printf("symbolic integers: ok\n");
	return failures != 0;
}
