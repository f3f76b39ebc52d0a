/* Facts about symbolic integers, and proofs from them.
 *
 * A question a <= b becomes "is b - a at least 0". The proof tries, to a small depth: the interval of the polynomial;
 * replacing a factor by a symbolic bound in the direction that its sign allows (bid < cdiv(m, BM), a quotient, a
 * minimum); subtracting a known non-negative polynomial (from `where`). All steps are sound for exact integers, so
 * "yes" is a proof as long as the program's own arithmetic did not wrap, which is what the ranges of the atoms say.
 * "No" means not proved. */
#include "base/diag.h"
#include "ir/sym.h"
#include "ir/sym_poly.h"

enum { PROOF_DEPTH = 6, PROOF_STEPS = 400, RANGE_DEPTH = 64 };

typedef struct RangeFact { const Sym *s; Range r; int next; } RangeFact;       /* next: see first_range */
typedef struct BoundFact { const Sym *atom, *lo, *hi; } BoundFact;      /* lo <= atom < hi; either may be NULL */
typedef struct DivFact { const Sym *s; int64_t by; } DivFact;

/* A chain of `else if` nests as deep as it is long. Most scopes know something of one kind at most, so each kind has a
 * way up of its own, to the next scope that knew some of it when this one began. Of scopes that did, the NEAR innermost
 * are asked, and the outermost, which knows what holds in every launch: so an answer takes a time that does not grow
 * with the depth. */
enum { UP_RANGES, UP_DIVS, UP_NONNEG, UP_CONDS, UPS };
enum { NEAR = 24 };
/* Of what one scope knows of a kind only the latest are asked, too. */
enum { LATEST = 256 };

struct Facts {
	const Facts *up[UPS], *outermost;
	Arena *arena;
	VEC(RangeFact) ranges;
	int *slot, nslot;  /* by a symbol's number, modulo the power of two nslot: its latest range, plus 1; 0: none */
	VEC(BoundFact) bounds;
	VEC(DivFact) divs;
	VEC(Poly) nonneg;               /* sums known to be >= 0 */
	VEC(const Sym *) conds;         /* other conditions known to hold */
};

Facts *facts_new(const Facts *parent, Arena *a)
{
	Facts *f = NEW(a, Facts);
	f->arena = a;
	f->outermost = parent ? parent->outermost : f;
	if (!parent) return f;
	const bool some[UPS] = { [UP_RANGES] = parent->ranges.n || parent->bounds.n, [UP_DIVS] = parent->divs.n,
		[UP_NONNEG] = parent->nonneg.n, [UP_CONDS] = parent->conds.n };
	for (int i = 0; i < UPS; i++) f->up[i] = some[i] ? parent : parent->up[i];
	return f;
}

static const Facts *above(const Facts *f, int kind, int *seen)
{
	return ++*seen == NEAR && f->up[kind] ? f->outermost : f->up[kind];
}

static int first_asked(int n) { return n > LATEST ? n - LATEST : 0; }

/* ---- ranges by their symbol: a kernel has as many as it has values whose arithmetic may wrap ---- */
static int *slot_of(const Facts *f, const Sym *s) { return &f->slot[s->id & (uint32_t)(f->nslot - 1)]; }

static void file_range(Facts *f, int i)
{
	int *slot = slot_of(f, f->ranges.p[i].s);
	f->ranges.p[i].next = *slot;
	*slot = i + 1;
}

/* The latest range of what shares a slot with s; those before it follow by `next`. */
static const RangeFact *first_range(const Facts *f, const Sym *s)
{
	int i = f->nslot ? *slot_of(f, s) : 0;
	return i ? &f->ranges.p[i - 1] : NULL;
}

static const RangeFact *next_range(const Facts *f, const RangeFact *r)
{
	return r->next ? &f->ranges.p[r->next - 1] : NULL;
}

void facts_range(Facts *f, const Sym *atom, int64_t lo, int64_t hi)
{
	vec_push(f->arena, &f->ranges, ((RangeFact){ atom, { lo, hi }, 0 }));
	if (f->ranges.n <= f->nslot) {
		file_range(f, f->ranges.n - 1);
		return;
	}
	f->nslot = f->nslot ? 2 * f->nslot : 4;
	f->slot = NEW_ARRAY(f->arena, int, f->nslot);
	for (int i = 0; i < f->ranges.n; i++) file_range(f, i);
}

void facts_bound(Facts *f, const Sym *atom, const Sym *lo, const Sym *hi)
{
	vec_push(f->arena, &f->bounds, ((BoundFact){ atom, lo, hi }));
}

void facts_divisible(Facts *f, const Sym *s, int64_t by)
{
	if (by > 1) vec_push(f->arena, &f->divs, ((DivFact){ s, by }));
}

/* ---- intervals; INT64_MIN and INT64_MAX stand for "unbounded" and absorb ---- */
static int64_t sat(__int128 v)
{
	return v >= INT64_MAX ? INT64_MAX : v <= INT64_MIN ? INT64_MIN : (int64_t)v;
}

static bool unbounded(int64_t v) { return v == INT64_MIN || v == INT64_MAX; }

static int64_t end_add(int64_t a, int64_t b) { return unbounded(a) ? a : unbounded(b) ? b : sat((__int128)a + b); }

static int64_t end_mul(int64_t a, int64_t b)
{
	if (!a || !b) return 0;
	if (unbounded(a) || unbounded(b)) return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
	return sat((__int128)a * b);
}

static Range range_mul(Range a, Range b)
{
	int64_t v[4] = { end_mul(a.lo, b.lo), end_mul(a.lo, b.hi), end_mul(a.hi, b.lo), end_mul(a.hi, b.hi) };
	Range r = { v[0], v[0] };
	for (int i = 1; i < 4; i++) {
		if (v[i] < r.lo) r.lo = v[i];
		if (v[i] > r.hi) r.hi = v[i];
	}
	return r;
}

static Range range_meet(Range a, Range b)
{
	return (Range){ a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi };
}

static Range range_of(const Facts *f, const Sym *s, int depth);

static int64_t quot(int64_t v, int64_t d, bool up)
{
	if (unbounded(v)) return v;
	return up ? v / d + (v % d > 0) : v / d;
}

static Range range_quot(Range a, Range d, bool up)     /* divisor > 0 known, else nothing */
{
	if (d.lo <= 0) return (Range){ INT64_MIN, INT64_MAX };
	int64_t dlo = d.lo, dhi = d.hi;
	Range r;
	r.lo = a.lo >= 0 ? (unbounded(dhi) ? (up && a.lo > 0) : quot(a.lo, dhi, up)) : quot(a.lo, dlo, up);
	r.hi = a.hi >= 0 ? quot(a.hi, dlo, up) : (unbounded(dhi) ? 0 : quot(a.hi, dhi, up));
	return r;
}

static Range range_rem(Range a, Range d)
{
	if (d.lo <= 0) return (Range){ INT64_MIN, INT64_MAX };
	if (a.lo == a.hi && d.lo == d.hi && !unbounded(a.lo)) return (Range){ a.lo % d.lo, a.lo % d.lo };
	int64_t top = unbounded(d.hi) ? INT64_MAX : d.hi - 1;
	Range r = { a.lo < 0 ? (unbounded(top) ? INT64_MIN : -top) : 0, a.hi < 0 ? 0 : top };
	if (a.lo >= 0 && a.hi < r.hi) r.hi = a.hi;
	return r;
}

static Range range_plain(const Facts *f, const Sym *s, int depth)
{
	Range a, b, r = { INT64_MIN, INT64_MAX };
	if (s->n) a = range_of(f, s->arg[0], depth - 1);
	switch (s->kind) {
	case SYM_ATOM:
		if (s->atom == ATOM_DIM || s->atom == ATOM_STRIDE || s->atom == ATOM_BID) r.lo = 0;
		return r;
	case SYM_ADD: case SYM_MUL:
		for (int i = 1; i < s->n; i++) {
			b = range_of(f, s->arg[i], depth - 1);
			a = s->kind == SYM_MUL ? range_mul(a, b) : (Range){ end_add(a.lo, b.lo), end_add(a.hi, b.hi) };
		}
		return a;
	case SYM_DIV: return range_quot(a, range_of(f, s->arg[1], depth - 1), false);
	case SYM_CDIV: return range_quot(a, range_of(f, s->arg[1], depth - 1), true);
	case SYM_MOD: return range_rem(a, range_of(f, s->arg[1], depth - 1));
	case SYM_MIN: case SYM_MAX:
		b = range_of(f, s->arg[1], depth - 1);
		if (s->kind == SYM_MIN) return (Range){ a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi };
		return (Range){ a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi };
	case SYM_SELECT:
		a = range_of(f, s->arg[1], depth - 1);
		b = range_of(f, s->arg[2], depth - 1);
		return (Range){ a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi };
	default: return (Range){ 0, 1 };
	}
}

static Range range_of(const Facts *f, const Sym *s, int depth)
{
	int seen = 0;
	if (depth <= 0) return (Range){ INT64_MIN, INT64_MAX };
	if (s->kind == SYM_CONST) return (Range){ s->value, s->value };
	Range r = range_plain(f, s, depth);
	if (s->kind != SYM_ATOM) return r;
	for (const Facts *g = f; g; g = above(g, UP_RANGES, &seen)) {
		for (const RangeFact *q = first_range(g, s); q; q = next_range(g, q))
			if (q->s == s) r = range_meet(r, q->r);
		for (int i = 0; i < g->bounds.n; i++) {
			const BoundFact *b = &g->bounds.p[i];
			if (b->atom != s) continue;
			if (b->lo) r.lo = range_meet(r, range_of(f, b->lo, depth - 8)).lo;
			int64_t hi = b->hi ? range_of(f, b->hi, depth - 8).hi : INT64_MAX;
			if (!unbounded(hi) && hi - 1 < r.hi) r.hi = hi - 1;
		}
	}
	return r;
}

Range facts_eval_range(const Facts *f, const Sym *s) { return range_of(f, s, RANGE_DEPTH); }

/* ---- divisibility ---- */
static int64_t gcd64(int64_t a, int64_t b)
{
	while (b) {
		int64_t t = a % b;
		a = b;
		b = t;
	}
	return a < 0 ? -a : a;
}

static int64_t lcm_sat(int64_t a, int64_t b)
{
	if (!a || !b) return 0;
	__int128 m = (__int128)(a / gcd64(a, b)) * b;
	return m > INT64_MAX / 2 ? a : (int64_t)m;
}

static int64_t known_divisor(const Facts *f, const Sym *s)
{
	int seen = 0;
	int64_t d = 1;
	for (const Facts *g = f; g; g = above(g, UP_DIVS, &seen))
		for (int i = 0; i < g->divs.n; i++)
			if (g->divs.p[i].s == s) d = lcm_sat(d, g->divs.p[i].by);
	return d;
}

int64_t facts_gcd(const Facts *f, const Sym *s)
{
	int64_t d = known_divisor(f, s), v;
	Range r = range_of(f, s, 8);
	if (r.lo == r.hi && !unbounded(r.lo)) return r.lo < 0 ? -r.lo : r.lo;
	if (sym_is_const(s, &v)) return v == INT64_MIN ? (int64_t)1 << 62 : v < 0 ? -v : v;
	if (s->kind == SYM_ADD) {
		int64_t g = 0;
		for (int i = 0; i < s->n; i++) g = gcd64(g, facts_gcd(f, s->arg[i]));
		return lcm_sat(d, g ? g : 1);
	}
	if (s->kind == SYM_MUL) {
		__int128 m = 1;
		for (int i = 0; i < s->n; i++) {
			__int128 next = m * facts_gcd(f, s->arg[i]);
			if (next <= INT64_MAX / 2) m = next;        /* without a factor it divides as well */
		}
		return lcm_sat(d, (int64_t)m);
	}
	if (s->kind == SYM_MIN || s->kind == SYM_MAX)
		return lcm_sat(d, gcd64(facts_gcd(f, s->arg[0]), facts_gcd(f, s->arg[1])));
	if (s->kind == SYM_SELECT) return lcm_sat(d, gcd64(facts_gcd(f, s->arg[1]), facts_gcd(f, s->arg[2])));
	return d;
}

/* ---- proofs of p >= 0 ---- */
/* The sums on the way are lists of terms in A_TMP: as symbols, which are there for good, most would be seen once. */
typedef struct Proof { const Facts *f; int steps; } Proof;

static bool nonneg(Proof *pr, const Poly *p, int depth);

static Range range_of_terms(const Facts *f, const Poly *p)
{
	Range sum = { 0, 0 };
	for (int i = 0; i < p->n; i++) {
		const Term *t = &p->p[i];
		Range r = { t->coef, t->coef };
		for (int k = 0; k < t->n; k++) r = range_mul(r, range_of(f, t->f[k], RANGE_DEPTH));
		sum = i ? (Range){ end_add(sum.lo, r.lo), end_add(sum.hi, r.hi) } : r;
	}
	return sum;
}

/* An end of a factor: s + add. */
typedef struct Bound { const Sym *s; int64_t add; } Bound;

/* Bounds of a factor x: *lo <= x <= *hi. Nonlinear nodes have exact integer bounds, atoms those of the facts. */
static int factor_bounds(Proof *pr, const Sym *x, bool upper, Bound out[8])
{
	int n = 0, seen = 0;
	int64_t k;
	for (const Facts *g = x->kind == SYM_ATOM ? pr->f : NULL; g; g = above(g, UP_RANGES, &seen))
		for (int i = 0; i < g->bounds.n && n < 6; i++) {
			const BoundFact *b = &g->bounds.p[i];
			if (b->atom != x) continue;
			if (upper && b->hi) out[n++] = (Bound){ b->hi, -1 };
			if (!upper && b->lo) out[n++] = (Bound){ b->lo, 0 };
		}
	if ((x->kind == SYM_MIN && upper) || (x->kind == SYM_MAX && !upper)) {
		out[n++] = (Bound){ x->arg[0], 0 };
		out[n++] = (Bound){ x->arg[1], 0 };
	}
	if (x->kind == SYM_MOD && upper && sym_is_const(x->arg[1], &k) && k > 0) out[n++] = (Bound){ x->arg[1], -1 };
	return n;
}

/* Is p, with factor `which` of its term number i replaced by a bound, not negative? The other factors have `coef`. */
static bool try_replaced(Proof *pr, const Poly *p, int i, int which, int64_t coef, Bound by, int depth)
{
	ArenaMark mark = arena_mark(A_TMP);
	Poly with = poly_of(by.s);
	Term rest = { .coef = coef }, t;
	const Sym **factors = NEW_ARRAY(A_TMP, const Sym *, p->p[i].n);
	for (int k = 0; k < p->p[i].n; k++)
		if (k != which) factors[rest.n++] = p->p[i].f[k];
	rest.f = factors;
	if (by.add) vec_push(A_TMP, &with, (Term){ .coef = by.add });
	Poly r = { NEW_ARRAY(A_TMP, Term, p->n + with.n), 0, p->n + with.n };
	bool ok = with.n <= MAX_TERMS;
	for (int k = 0; k < p->n; k++)
		if (k != i) r.p[r.n++] = p->p[k];
	for (int k = 0; ok && k < with.n; k++) {
		ok = term_mul(&rest, &with.p[k], &t);
		r.p[r.n++] = t;
	}
	ok = ok && poly_merge(&r) && nonneg(pr, &r, depth - 1);
	arena_release(A_TMP, mark);
	return ok;
}

static bool rest_sign(Proof *pr, const Term *t, int which, bool *positive)
{
	Range r = { t->coef, t->coef };
	for (int i = 0; i < t->n; i++)
		if (i != which) r = range_mul(r, range_of(pr->f, t->f[i], 16));
	*positive = r.lo >= 0;
	return r.lo >= 0 || r.hi <= 0;
}

/* k * cdiv(x, k) lies in [x, x + k - 1], k * (x / k) in [x - k + 1, x] for x >= 0; both are x where k divides it. */
static bool try_quotient(Proof *pr, const Poly *p, int i, int which, bool want_lower, int depth)
{
	const Term *t = &p->p[i];
	const Sym *x = t->f[which], *num = x->arg[0];
	int64_t k;
	if (!sym_is_const(x->arg[1], &k) || k <= 0 || t->coef % k) return false;
	int64_t g = facts_gcd(pr->f, num);
	bool exact = g == 0 || g % k == 0, up = x->kind == SYM_CDIV;
	if (!up && range_of(pr->f, num, 16).lo < 0) return false;
	int64_t slack = exact || up == want_lower ? 0 : up ? k - 1 : -(k - 1);
	return try_replaced(pr, p, i, which, t->coef / k, (Bound){ num, slack }, depth);
}

static bool try_bounds(Proof *pr, const Poly *p, int depth)
{
	for (int i = 0; i < p->n; i++)
		for (int j = 0; j < p->p[i].n; j++) {
			const Term *t = &p->p[i];
			const Sym *x = t->f[j];
			Bound bound[8];
			bool positive;
			if (!rest_sign(pr, t, j, &positive)) continue;
			if ((x->kind == SYM_CDIV || x->kind == SYM_DIV) && try_quotient(pr, p, i, j, positive, depth)) return true;
			int n = factor_bounds(pr, x, !positive, bound);
			for (int b = 0; b < n; b++)
				if (try_replaced(pr, p, i, j, t->coef, bound[b], depth)) return true;
		}
	return false;
}

/* A copy as lasting as the facts; a term that is one factor has that factor in A_TMP. */
static Poly lasting(const Facts *f, Poly p)
{
	Poly r = { 0 };
	for (int i = 0; i < p.n; i++) {
		Term t = p.p[i];
		const Sym **factors = NEW_ARRAY(f->arena, const Sym *, t.n);
		for (int k = 0; k < t.n; k++) factors[k] = t.f[k];
		t.f = factors;
		vec_push(f->arena, &r, t);
	}
	return r;
}

static bool same_terms(const Poly *p, const Poly *q)
{
	if (p->n != q->n) return false;
	for (int i = 0; i < p->n; i++)
		if (p->p[i].coef != q->p[i].coef || term_cmp(&p->p[i], &q->p[i])) return false;
	return true;
}

/* Is p less k times a known q not negative? */
static bool try_less(Proof *pr, const Poly *p, const Poly *q, int64_t k, int depth)
{
	ArenaMark mark = arena_mark(A_TMP);
	Poly r = { NEW_ARRAY(A_TMP, Term, p->n + q->n), 0, p->n + q->n };
	bool ok = true;
	for (int i = 0; i < p->n; i++) r.p[r.n++] = p->p[i];
	for (int i = 0; ok && i < q->n; i++) {
		Term t = q->p[i];
		ok = !__builtin_mul_overflow(t.coef, -k, &t.coef);
		r.p[r.n++] = t;
	}
	ok = ok && poly_merge(&r) && nonneg(pr, &r, depth - 1);
	arena_release(A_TMP, mark);
	return ok;
}

/* Subtract a multiple of a known q >= 0 that cancels a term of p. */
static bool try_known(Proof *pr, const Poly *p, int depth)
{
	int seen = 0;
	for (const Facts *g = pr->f; g; g = above(g, UP_NONNEG, &seen))
		for (int i = first_asked(g->nonneg.n); i < g->nonneg.n; i++) {
			const Poly *q = &g->nonneg.p[i];
			if (same_terms(p, q)) return true;
			for (int a = 0; a < q->n; a++)
				for (int b = 0; b < p->n; b++) {
					const Term *tq = &q->p[a], *tp = &p->p[b];
					if (!tq->n || term_cmp(tq, tp) || tp->coef % tq->coef || tp->coef / tq->coef <= 0) continue;
					if (try_less(pr, p, q, tp->coef / tq->coef, depth)) return true;
				}
		}
	return false;
}

static bool nonneg(Proof *pr, const Poly *p, int depth)
{
	if (range_of_terms(pr->f, p).lo >= 0) return true;
	if (depth <= 0 || --pr->steps <= 0) return false;
	return try_bounds(pr, p, depth) || try_known(pr, p, depth);
}

/* Is b - a - less, at most 1, not negative? */
static bool prove(const Facts *f, const Sym *a, const Sym *b, int64_t less)
{
	ArenaMark m = arena_mark(A_TMP);
	Proof pr = { f, PROOF_STEPS };
	Poly p;
	if (!poly_sum(b, a, -1, &p)) p = poly_of(sym_sub(b, a));
	if (less) vec_push(A_TMP, &p, (Term){ .coef = -less });
	bool ok = poly_merge(&p) && nonneg(&pr, &p, PROOF_DEPTH);
	arena_release(A_TMP, m);
	return ok;
}

bool facts_le(const Facts *f, const Sym *a, const Sym *b) { return prove(f, a, b, 0); }
bool facts_lt(const Facts *f, const Sym *a, const Sym *b) { return prove(f, a, b, 1); }
bool facts_eq(const Facts *f, const Sym *a, const Sym *b) { return a == b || (facts_le(f, a, b) && facts_le(f, b, a)); }

static bool known_cond(const Facts *f, const Sym *c)
{
	int seen = 0;
	for (const Facts *g = f; g; g = above(g, UP_CONDS, &seen))
		for (int i = first_asked(g->conds.n); i < g->conds.n; i++) {
			const Sym *k = g->conds.p[i];
			if (k == c) return true;
			if (c->kind == SYM_ALIGNED && k->kind == SYM_ALIGNED && k->name == c->name && k->value % c->value == 0)
				return true;
		}
	return false;
}

/* x = c + rest, where k divides the rest and not c: no multiple of k. */
static bool never_divides(const Facts *f, int64_t k, const Sym *x)
{
	int64_t c = 0;
	for (int i = 0; x->kind == SYM_ADD && i < x->n; i++)
		if (x->arg[i]->kind == SYM_CONST) c = x->arg[i]->value;
	if (k <= 0 || c % k == 0) return false;
	int64_t g = facts_gcd(f, sym_sub(x, sym_const(c)));
	return g % k == 0;
}

/* a is a multiple of what does not divide the constant b. */
static bool never_multiple(const Facts *f, const Sym *a, const Sym *b)
{
	int64_t v, k;
	if (!sym_is_const(b, &v)) return false;
	if (!v && a->kind == SYM_MOD && sym_is_const(a->arg[1], &k) && never_divides(f, k, a->arg[0])) return true;
	int64_t g = facts_gcd(f, a);
	return g == 0 ? v != 0 : v % g != 0;
}

static bool differ(const Facts *f, const Sym *a, const Sym *b)
{
	return facts_lt(f, a, b) || facts_lt(f, b, a) || never_multiple(f, a, b) || never_multiple(f, b, a);
}

bool facts_holds(const Facts *f, const Sym *c)
{
	int64_t v;
	if (sym_is_const(c, &v)) return v != 0;
	if (known_cond(f, c)) return true;
	switch (c->kind) {
	case SYM_AND: return facts_holds(f, c->arg[0]) && facts_holds(f, c->arg[1]);
	case SYM_OR: return facts_holds(f, c->arg[0]) || facts_holds(f, c->arg[1]);
	case SYM_NOT: return facts_fails(f, c->arg[0]);
	case SYM_EQ:
		if (c->arg[0]->kind == SYM_MOD && sym_is_const(c->arg[1], &v) && !v && sym_is_const(c->arg[0]->arg[1], &v)
			&& v > 0) {
			int64_t g = facts_gcd(f, c->arg[0]->arg[0]);
			if (g == 0 || g % v == 0) return true;
		}
		return facts_eq(f, c->arg[0], c->arg[1]);
	case SYM_NE: return differ(f, c->arg[0], c->arg[1]);
	case SYM_LT: return facts_lt(f, c->arg[0], c->arg[1]);
	case SYM_LE: return facts_le(f, c->arg[0], c->arg[1]);
	default: return false;
	}
}

bool facts_fails(const Facts *f, const Sym *c)
{
	int64_t v;
	if (sym_is_const(c, &v)) return v == 0;
	switch (c->kind) {
	case SYM_AND: return facts_fails(f, c->arg[0]) || facts_fails(f, c->arg[1]);
	case SYM_OR: return facts_fails(f, c->arg[0]) && facts_fails(f, c->arg[1]);
	case SYM_NOT: return facts_holds(f, c->arg[0]);
	case SYM_EQ: return differ(f, c->arg[0], c->arg[1]);
	case SYM_NE: return facts_eq(f, c->arg[0], c->arg[1]);
	case SYM_LT: return facts_le(f, c->arg[1], c->arg[0]);
	case SYM_LE: return facts_lt(f, c->arg[1], c->arg[0]);
	default: return false;
	}
}

/* ---- learning ---- */
static void learn_le(Facts *f, const Sym *a, const Sym *b)
{
	int64_t v;
	Poly d = poly_of(sym_sub(b, a));
	if (a->kind == SYM_ATOM && sym_is_const(b, &v)) facts_range(f, a, INT64_MIN, v);
	else if (b->kind == SYM_ATOM && sym_is_const(a, &v)) facts_range(f, b, v, INT64_MAX);
	vec_push(f->arena, &f->nonneg, lasting(f, d));
}

static void learn_eq(Facts *f, const Sym *a, const Sym *b)
{
	int64_t v, k;
	learn_le(f, a, b);
	learn_le(f, b, a);
	if (a->kind == SYM_MOD && sym_is_const(b, &v) && !v && sym_is_const(a->arg[1], &k))
		facts_divisible(f, a->arg[0], k);
	if (b->kind == SYM_MOD && sym_is_const(a, &v) && !v && sym_is_const(b->arg[1], &k))
		facts_divisible(f, b->arg[0], k);
	int64_t ga = facts_gcd(f, a), gb = facts_gcd(f, b);
	if (a->kind == SYM_ATOM) facts_divisible(f, a, gb);
	if (b->kind == SYM_ATOM) facts_divisible(f, b, ga);
}

bool facts_assume(Facts *f, const Sym *c)
{
	if (facts_fails(f, c)) return false;
	switch (c->kind) {
	case SYM_AND: return facts_assume(f, c->arg[0]) && facts_assume(f, c->arg[1]);
	case SYM_EQ: learn_eq(f, c->arg[0], c->arg[1]); break;
	case SYM_LE: learn_le(f, c->arg[0], c->arg[1]); break;
	case SYM_LT: learn_le(f, sym_add(c->arg[0], sym_const(1)), c->arg[1]); break;
	case SYM_NOT:
		if (c->arg[0]->kind == SYM_LT) return facts_assume(f, sym_cmp(SYM_LE, c->arg[0]->arg[1], c->arg[0]->arg[0]));
		if (c->arg[0]->kind == SYM_LE) return facts_assume(f, sym_cmp(SYM_LT, c->arg[0]->arg[1], c->arg[0]->arg[0]));
		if (c->arg[0]->kind == SYM_NE) return facts_assume(f, sym_cmp(SYM_EQ, c->arg[0]->arg[0], c->arg[0]->arg[1]));
		break;
	default: break;
	}
	vec_push(f->arena, &f->conds, c);
	return true;
}
