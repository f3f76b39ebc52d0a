/* Symbolic integers: the normal form, printing and evaluation. Facts and proofs are in facts.c.
 *
 * Normal form. A sum holds terms coefficient * factor * factor ..., sorted by the factors (sym_order), constant last;
 * products of sums are multiplied out. So equal polynomials are one node and a difference that cancels is the constant
 * 0. Where a coefficient would leave i64 the operands stay apart as an opaque factor; the
 * launcher then finds the overflow. */
#include "ir/sym.h"

#include <string.h>

#include "base/diag.h"
#include "base/vec.h"
#include "ir/sym_poly.h"

/* ---- hash-consing ---- */
static struct { const Sym **slot; uint32_t cap, n; } table;

/* Each part spreads over all bits before the next comes: ids and constants are neighbours, and would meet otherwise. */
static uint64_t mixed(uint64_t h, uint64_t part)
{
	h = (h ^ part) * 0x9E3779B97F4A7C15u;
	return h ^ h >> 32;
}

static uint32_t node_hash(const Sym *s)
{
	uint64_t h = mixed((uint64_t)s->kind * 31 + (uint64_t)s->atom, (uint32_t)s->index);
	h = mixed(h, (uint64_t)s->value);
	if (s->name) h = mixed(h, str_hash(s->name));
	for (int i = 0; i < s->n; i++) h = mixed(h, s->arg[i]->id);
	return (uint32_t)h;
}

static bool node_same(const Sym *a, const Sym *b)
{
	if (a->kind != b->kind || a->atom != b->atom || a->name != b->name || a->index != b->index) return false;
	if (a->value != b->value || a->n != b->n) return false;
	for (int i = 0; i < a->n; i++)
		if (a->arg[i] != b->arg[i]) return false;
	return true;
}

static void table_grow(void)
{
	uint32_t cap = table.cap ? table.cap * 2 : 256;
	const Sym **slot = NEW_ARRAY(A_UNIT, const Sym *, cap);
	for (uint32_t i = 0; i < table.cap; i++) {
		if (!table.slot[i]) continue;
		uint32_t h = node_hash(table.slot[i]) & (cap - 1);
		while (slot[h]) h = (h + 1) & (cap - 1);
		slot[h] = table.slot[i];
	}
	table.slot = slot;
	table.cap = cap;
}

static uint32_t tree_size(int n, const Sym *const *arg)
{
	uint64_t size = 1;
	for (int i = 0; i < n; i++) size += arg[i]->size;
	return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

static const Sym *intern(Sym s)
{
	if (table.n * 2 >= table.cap) table_grow();
	uint32_t h = node_hash(&s) & (table.cap - 1);
	for (; table.slot[h]; h = (h + 1) & (table.cap - 1))
		if (node_same(table.slot[h], &s)) return table.slot[h];
	Sym *n = NEW(A_UNIT, Sym);
	const Sym **arg = NEW_ARRAY(A_UNIT, const Sym *, s.n);
	for (int i = 0; i < s.n; i++) arg[i] = s.arg[i];
	*n = s;
	n->arg = arg;
	n->size = tree_size(s.n, arg);
	n->id = ++table.n;
	return table.slot[h] = n;
}

static const Sym *node2(SymKind kind, const Sym *a, const Sym *b)
{
	const Sym *arg[2] = { a, b };
	return intern((Sym){ .kind = kind, .n = 2, .arg = arg });
}

const Sym *sym_const(int64_t v)
{
	return intern((Sym){ .kind = SYM_CONST, .value = v });
}

const Sym *sym_atom(AtomKind kind, Str name, int index)
{
	if (kind == ATOM_BID) name = NULL;      /* its axis is its name */
	return intern((Sym){ .kind = SYM_ATOM, .atom = kind, .name = name, .index = index });
}

bool sym_is_const(const Sym *s, int64_t *v)
{
	if (s->kind != SYM_CONST) return false;
	if (v) *v = s->value;
	return true;
}

/* ---- polynomials ---- */
static void poly_push(Poly *p, Term t)
{
	vec_push(A_TMP, p, t);
}

static Term term_of(const Sym *s)
{
	Term t = { .coef = 1, .is = s };
	if (s->kind == SYM_CONST) {
		t.coef = s->value;
	} else if (s->kind == SYM_MUL && s->arg[0]->kind == SYM_CONST && s->arg[1]->kind != SYM_CONST) {
		t.coef = s->arg[0]->value;
		t.n = s->n - 1;
		t.f = s->arg + 1;
	} else if (s->kind == SYM_MUL && s->arg[0]->kind != SYM_CONST) {
		t.n = s->n;
		t.f = s->arg;
	} else {
		const Sym **f = NEW(A_TMP, const Sym *);
		*f = s;
		t.n = 1;
		t.f = f;
	}
	return t;
}

static int count_terms(const Sym *s) { return s->kind == SYM_ADD ? s->n : s->kind != SYM_CONST || s->value; }

/* The terms of s, and room for so many more. */
static Poly poly_with_room(const Sym *s, int more)
{
	int n = count_terms(s);
	Poly p = { NEW_ARRAY(A_TMP, Term, n + more), n, n + more };
	if (s->kind == SYM_ADD)
		for (int i = 0; i < n; i++) p.p[i] = term_of(s->arg[i]);
	else if (n)
		p.p[0] = term_of(s);
	return p;
}

Poly poly_of(const Sym *s) { return poly_with_room(s, 0); }

/* An order that depends on the expressions alone, not on which was made first: the same text in any module and after
 * reading it back. Atoms by name, then what is made of them, constants last. Nodes are
 * unique, so this walks one path. */
static int sym_order(const Sym *a, const Sym *b)
{
	if (a == b) return 0;
	int ka = a->kind == SYM_CONST ? INT32_MAX : (int)a->kind, kb = b->kind == SYM_CONST ? INT32_MAX : (int)b->kind;
	if (ka != kb) return ka < kb ? -1 : 1;
	if (a->value != b->value) return a->value < b->value ? -1 : 1;
	if (a->atom != b->atom) return a->atom < b->atom ? -1 : 1;
	if (a->name != b->name) return !a->name ? -1 : !b->name ? 1 : strcmp(a->name, b->name);
	if (a->index != b->index) return a->index < b->index ? -1 : 1;
	if (a->n != b->n) return a->n < b->n ? -1 : 1;
	for (int i = 0; i < a->n; i++)
		if (a->arg[i] != b->arg[i]) return sym_order(a->arg[i], b->arg[i]);
	return 0;
}

int term_cmp(const Term *a, const Term *b)      /* order of the factors; the constant term last */
{
	if (!a->n || !b->n) return (!a->n) - (!b->n);
	for (int i = 0; i < a->n && i < b->n; i++)
		if (a->f[i] != b->f[i]) return sym_order(a->f[i], b->f[i]);
	return a->n - b->n;
}

static const Sym *term_sym(const Term *t)
{
	if (t->is) return t->is;
	if (!t->n) return sym_const(t->coef);
	if (t->n == 1 && t->coef == 1) return t->f[0];
	const Sym **arg = NEW_ARRAY(A_TMP, const Sym *, t->n + 1);
	int n = 0;
	if (t->coef != 1) arg[n++] = sym_const(t->coef);
	for (int i = 0; i < t->n; i++) arg[n++] = t->f[i];
	return intern((Sym){ .kind = SYM_MUL, .n = n, .arg = arg });
}

static void poly_sort(Poly *p)          /* insertion: sums are short and mostly sorted */
{
	for (int i = 1; i < p->n; i++) {
		Term t = p->p[i];
		int j = i;
		for (; j > 0 && term_cmp(&p->p[j - 1], &t) > 0; j--) p->p[j] = p->p[j - 1];
		p->p[j] = t;
	}
}

bool poly_merge(Poly *p)
{
	int n = 0;
	poly_sort(p);
	for (int i = 0; i < p->n; i++) {
		if (n && term_cmp(&p->p[n - 1], &p->p[i]) == 0) {
			if (__builtin_add_overflow(p->p[n - 1].coef, p->p[i].coef, &p->p[n - 1].coef)) return false;
			p->p[n - 1].is = NULL;
		} else {
			if (n && !p->p[n - 1].coef) n--;
			p->p[n++] = p->p[i];
		}
	}
	if (n && !p->p[n - 1].coef) n--;
	p->n = n;
	return true;
}

static const Sym *poly_sym(const Poly *p)
{
	if (!p->n) return sym_const(0);
	if (p->n == 1) return term_sym(&p->p[0]);
	const Sym **arg = NEW_ARRAY(A_TMP, const Sym *, p->n);
	for (int i = 0; i < p->n; i++) arg[i] = term_sym(&p->p[i]);
	return intern((Sym){ .kind = SYM_ADD, .n = p->n, .arg = arg });
}

bool poly_sum(const Sym *a, const Sym *b, int64_t k, Poly *sum)
{
	Poly p = poly_with_room(a, count_terms(b));
	for (int i = 0, n = count_terms(b); i < n; i++) {
		Term t = term_of(b->kind == SYM_ADD ? b->arg[i] : b);
		if (__builtin_mul_overflow(t.coef, k, &t.coef)) return false;
		if (k != 1) t.is = NULL;
		p.p[p.n++] = t;
	}
	*sum = p;
	return poly_merge(sum);
}

static const Sym *add_scaled(const Sym *a, const Sym *b, int64_t k)
{
	Poly p;
	return poly_sum(a, b, k, &p) ? poly_sym(&p) : NULL;
}

static bool is_number(const Sym *s, int64_t v) { return s->kind == SYM_CONST && s->value == v; }

const Sym *sym_add(const Sym *a, const Sym *b)
{
	if (is_number(b, 0)) return a;
	if (is_number(a, 0)) return b;
	ArenaMark m = arena_mark(A_TMP);
	const Sym *s = add_scaled(a, b, 1);
	arena_release(A_TMP, m);
	return s ? s : node2(SYM_ADD, a, b);
}

const Sym *sym_sub(const Sym *a, const Sym *b)
{
	if (is_number(b, 0)) return a;
	ArenaMark m = arena_mark(A_TMP);
	const Sym *s = add_scaled(a, b, -1);
	arena_release(A_TMP, m);
	return s ? s : node2(SYM_ADD, a, node2(SYM_MUL, sym_const(-1), b));
}

bool term_mul(const Term *a, const Term *b, Term *r)
{
	if (__builtin_mul_overflow(a->coef, b->coef, &r->coef)) return false;
	const Sym **f = NEW_ARRAY(A_TMP, const Sym *, a->n + b->n);
	int i = 0, j = 0, n = 0;
	while (i < a->n || j < b->n) {
		bool left = j >= b->n || (i < a->n && sym_order(a->f[i], b->f[j]) <= 0);
		f[n++] = left ? a->f[i++] : b->f[j++];
	}
	r->n = n;
	r->f = f;
	r->is = NULL;
	return true;
}

static const Sym *mul_out(const Sym *a, const Sym *b)
{
	Poly p = poly_of(a), q = poly_of(b), r = { 0 };
	if ((int64_t)p.n * q.n > MAX_TERMS) return NULL;
	/* copies of factors that stayed apart */
	if ((uint64_t)p.n * b->size + (uint64_t)q.n * a->size > SYM_SIZE_MAX) return NULL;
	for (int i = 0; i < p.n; i++)
		for (int j = 0; j < q.n; j++) {
			Term t;
			if (!term_mul(&p.p[i], &q.p[j], &t)) return NULL;
			poly_push(&r, t);
		}
	return poly_merge(&r) ? poly_sym(&r) : NULL;
}

const Sym *sym_mul(const Sym *a, const Sym *b)
{
	if (is_number(b, 1)) return a;
	if (is_number(a, 1)) return b;
	ArenaMark m = arena_mark(A_TMP);
	const Sym *s = mul_out(a, b);
	arena_release(A_TMP, m);
	if (s) return s;
	return sym_order(a, b) <= 0 ? node2(SYM_MUL, a, b) : node2(SYM_MUL, b, a);
}

/* a / k where k divides every coefficient; NULL otherwise. */
static const Sym *sym_exact_div(const Sym *a, int64_t k)
{
	ArenaMark m = arena_mark(A_TMP);
	Poly p = poly_of(a);
	bool ok = k > 0;
	for (int i = 0; ok && i < p.n; i++) ok = p.p[i].coef % k == 0;
	for (int i = 0; ok && i < p.n; i++) {
		p.p[i].coef /= k;
		p.p[i].is = NULL;
	}
	const Sym *s = ok ? poly_sym(&p) : NULL;
	arena_release(A_TMP, m);
	return s;
}

/* ---- division, extremes, conditions ---- */
static bool both_const(const Sym *a, const Sym *b, int64_t *x, int64_t *y)
{
	return sym_is_const(a, x) && sym_is_const(b, y);
}

const Sym *sym_div(const Sym *a, const Sym *b)
{
	int64_t x, y;
	const Sym *q;
	if (both_const(a, b, &x, &y) && y && !(x == INT64_MIN && y == -1)) return sym_const(x / y);
	if (sym_is_const(b, &y) && (q = sym_exact_div(a, y))) return q;
	return node2(SYM_DIV, a, b);
}

static int64_t cdiv64(int64_t x, int64_t y) { return x / y + (x % y > 0); }     /* y > 0 */

const Sym *sym_cdiv(const Sym *a, const Sym *b)
{
	int64_t x, y;
	const Sym *q;
	if (both_const(a, b, &x, &y) && y > 0) return sym_const(cdiv64(x, y));
	if (sym_is_const(b, &y) && (q = sym_exact_div(a, y))) return q;
	return node2(SYM_CDIV, a, b);
}

const Sym *sym_mod(const Sym *a, const Sym *b)
{
	int64_t x, y;
	if (both_const(a, b, &x, &y) && y && !(x == INT64_MIN && y == -1)) return sym_const(x % y);
	if (sym_is_const(b, &y) && sym_exact_div(a, y)) return sym_const(0);
	return node2(SYM_MOD, a, b);
}

static bool is_count(const Sym *s)
{
	if (s->kind == SYM_CONST) return s->value >= 0;
	return s->kind == SYM_ATOM && (s->atom == ATOM_DIM || s->atom == ATOM_STRIDE || s->atom == ATOM_BID);
}

/* A sum of products of what is never negative. */
static bool never_negative(const Sym *s)
{
	if (s->kind != SYM_ADD && s->kind != SYM_MUL) return is_count(s);
	for (int i = 0; i < s->n; i++)
		if (s->kind == SYM_ADD ? !never_negative(s->arg[i]) : !is_count(s->arg[i])) return false;
	return true;
}

static const Sym *extreme(SymKind kind, const Sym *a, const Sym *b)
{
	if (never_negative(sym_sub(b, a))) return kind == SYM_MIN ? a : b;
	if (never_negative(sym_sub(a, b))) return kind == SYM_MIN ? b : a;
	return sym_order(a, b) <= 0 ? node2(kind, a, b) : node2(kind, b, a);
}

const Sym *sym_min(const Sym *a, const Sym *b) { return extreme(SYM_MIN, a, b); }
const Sym *sym_max(const Sym *a, const Sym *b) { return extreme(SYM_MAX, a, b); }

const Sym *sym_cmp(SymKind kind, const Sym *a, const Sym *b)
{
	int64_t d;
	if (sym_is_const(sym_sub(a, b), &d))
		return sym_const(kind == SYM_EQ ? d == 0 : kind == SYM_NE ? d != 0 : kind == SYM_LT ? d < 0 : d <= 0);
	return node2(kind, a, b);
}

enum { JOINED_MOST = 256 };     /* conditions that are looked through, at most */

/* Is it one of the conditions that `all` joins? *steps bounds the search: what is not found is taken for another
 * one. */
static bool joins(SymKind kind, const Sym *all, const Sym *one, int *steps)
{
	if (all == one || --*steps <= 0) return all == one;
	return all->kind == kind && (joins(kind, all->arg[1], one, steps) || joins(kind, all->arg[0], one, steps));
}

/* Conditions one after the other, each once. */
static const Sym *join(SymKind kind, const Sym *a, const Sym *b)
{
	int steps = JOINED_MOST;
	if (b->kind == kind) return join(kind, join(kind, a, b->arg[0]), b->arg[1]);
	return joins(kind, a, b, &steps) ? a : node2(kind, a, b);
}

const Sym *sym_logic(SymKind kind, const Sym *a, const Sym *b)
{
	int64_t x;
	if (kind == SYM_NOT) {
		if (sym_is_const(a, &x)) return sym_const(!x);
		if (a->kind == SYM_NOT) return a->arg[0];
		return intern((Sym){ .kind = SYM_NOT, .n = 1, .arg = (const Sym *const[]){ a } });
	}
	if (sym_is_const(a, &x)) return (x != 0) == (kind == SYM_AND) ? b : a;
	if (sym_is_const(b, &x)) return (x != 0) == (kind == SYM_AND) ? a : b;
	return join(kind, a, b);
}

const Sym *sym_select(const Sym *c, const Sym *a, const Sym *b)
{
	int64_t x;
	if (sym_is_const(c, &x)) return x ? a : b;
	if (a == b) return a;
	return intern((Sym){ .kind = SYM_SELECT, .n = 3, .arg = (const Sym *const[]){ c, a, b } });
}

const Sym *sym_aligned(Str tensor, int64_t bytes)
{
	return intern((Sym){ .kind = SYM_ALIGNED, .atom = ATOM_TENSOR, .name = tensor, .value = bytes });
}

/* A node of the same kind over other arguments, normalised again. */
static const Sym *rebuild(const Sym *s, const Sym *const *arg)
{
	const Sym *r = arg[0];
	switch (s->kind) {
	case SYM_CONST: case SYM_ATOM: case SYM_ALIGNED: return s;
	case SYM_ADD: for (int i = 1; i < s->n; i++) r = sym_add(r, arg[i]); return r;
	case SYM_MUL: for (int i = 1; i < s->n; i++) r = sym_mul(r, arg[i]); return r;
	case SYM_DIV: return sym_div(arg[0], arg[1]);
	case SYM_CDIV: return sym_cdiv(arg[0], arg[1]);
	case SYM_MOD: return sym_mod(arg[0], arg[1]);
	case SYM_MIN: case SYM_MAX: return extreme(s->kind, arg[0], arg[1]);
	case SYM_EQ: case SYM_NE: case SYM_LT: case SYM_LE: return sym_cmp(s->kind, arg[0], arg[1]);
	case SYM_AND: case SYM_OR: return sym_logic(s->kind, arg[0], arg[1]);
	case SYM_NOT: return sym_logic(SYM_NOT, arg[0], NULL);
	case SYM_SELECT: return sym_select(arg[0], arg[1], arg[2]);
	}
	return s;
}

const Sym *sym_subst(const Sym *s, const Sym *(*f)(void *ctx, const Sym *atom), void *ctx)
{
	if (s->kind == SYM_ATOM || s->kind == SYM_ALIGNED) {
		const Sym *r = f(ctx, s);
		return r ? r : s;
	}
	if (!s->n) return s;
	const Sym **arg = NEW_ARRAY(A_UNIT, const Sym *, s->n);
	bool same = true;
	for (int i = 0; i < s->n; i++) same &= (arg[i] = sym_subst(s->arg[i], f, ctx)) == s->arg[i];
	return same ? s : rebuild(s, arg);
}

typedef struct Seen { VEC(const Sym *) v; void (*f)(void *, const Sym *); void *ctx; } Seen;

static void atoms_of(const Sym *s, Seen *seen)
{
	if (s->kind == SYM_ATOM || s->kind == SYM_ALIGNED) {
		for (int i = 0; i < seen->v.n; i++)
			if (seen->v.p[i] == s) return;
		vec_push(A_TMP, &seen->v, s);
		seen->f(seen->ctx, s);
	}
	for (int i = 0; i < s->n; i++) atoms_of(s->arg[i], seen);
}

void sym_atoms(const Sym *s, void (*f)(void *ctx, const Sym *atom), void *ctx)
{
	Seen seen = { .f = f, .ctx = ctx };
	atoms_of(s, &seen);
}

bool sym_is_of_call(const Sym *s)
{
	if (s->size > SYM_SIZE_MAX || s->kind == SYM_ALIGNED || (s->kind == SYM_ATOM && s->atom > ATOM_PARAM)) return false;
	for (int i = 0; i < s->n; i++)
		if (!sym_is_of_call(s->arg[i])) return false;
	return true;
}

/* ---- text: .tile source with the least parentheses ---- */
enum { P_OR = 1, P_AND, P_CMP, P_ADD, P_MUL, P_UNARY };

static void print_at(Out *o, const Sym *s, int prec);

static void print_open(Out *o, int mine, int outer) { if (mine < outer) out_puts(o, "("); }
static void print_close(Out *o, int mine, int outer) { if (mine < outer) out_puts(o, ")"); }

static void print_infix(Out *o, const Sym *s, const char *op, int mine, int outer, int right)
{
	print_open(o, mine, outer);
	print_at(o, s->arg[0], mine == P_CMP ? P_CMP + 1 : mine);
	out_printf(o, " %s ", op);
	print_at(o, s->arg[1], right);
	print_close(o, mine, outer);
}

static void print_call(Out *o, const Sym *s, const char *name)
{
	out_printf(o, "%s(", name);
	print_at(o, s->arg[0], 0);
	out_puts(o, ", ");
	print_at(o, s->arg[1], 0);
	out_puts(o, ")");
}

static bool leading_minus(const Sym *s)
{
	if (s->kind == SYM_CONST) return s->value < 0 && s->value != INT64_MIN;
	return s->kind == SYM_MUL && s->arg[0]->kind == SYM_CONST && leading_minus(s->arg[0])
		&& s->arg[1]->kind != SYM_CONST;
}

static void print_negated(Out *o, const Sym *s)        /* a term whose leading minus became the operator */
{
	if (s->kind == SYM_CONST) {
		out_printf(o, "%lld", (long long)-s->value);
		return;
	}
	if (s->arg[0]->value != -1) out_printf(o, "%lld * ", (long long)-s->arg[0]->value);
	for (int i = 1; i < s->n; i++) {
		if (i > 1) out_puts(o, " * ");
		print_at(o, s->arg[i], P_MUL + 1);
	}
}

static void print_sum(Out *o, const Sym *s, int outer)
{
	int first = 0;          /* a positive term leads where there is one: m - 1, n - m */
	while (first < s->n && leading_minus(s->arg[first])) first++;
	if (first == s->n) first = 0;
	print_open(o, P_ADD, outer);
	print_at(o, s->arg[first], P_ADD);
	for (int i = 0; i < s->n; i++) {
		if (i == first) continue;
		bool minus = leading_minus(s->arg[i]);
		out_puts(o, minus ? " - " : " + ");
		if (minus) print_negated(o, s->arg[i]);
		else print_at(o, s->arg[i], P_ADD + 1);
	}
	print_close(o, P_ADD, outer);
}

static void print_product(Out *o, const Sym *s, int outer)
{
	int i = 0;
	print_open(o, P_MUL, outer);
	if (s->arg[0]->kind == SYM_CONST && s->arg[0]->value == -1) {
		out_puts(o, "-");
		i = 1;
	}
	for (int first = i; i < s->n; i++) {
		if (i > first) out_puts(o, " * ");
		print_at(o, s->arg[i], P_MUL + (i > first || first));
	}
	print_close(o, P_MUL, outer);
}

static void print_at(Out *o, const Sym *s, int prec)
{
	switch (s->kind) {
	case SYM_CONST:
		print_open(o, s->value < 0 ? P_ADD : P_UNARY, prec);
		out_printf(o, "%lld", (long long)s->value);
		print_close(o, s->value < 0 ? P_ADD : P_UNARY, prec);
		return;
	case SYM_ATOM:
		if (s->atom == ATOM_BID) out_printf(o, "bid(%d)", s->index);
		else if (s->atom == ATOM_PHASE) out_printf(o, "phase(%s)", s->name);
		else if (s->atom == ATOM_BLOCKS) out_puts(o, "blocks()");
		else if (s->atom == ATOM_VAL && !s->name) out_printf(o, "val(%d)", s->index);
		else out_puts(o, s->name);
		return;
	case SYM_ADD: print_sum(o, s, prec); return;
	case SYM_MUL: print_product(o, s, prec); return;
	case SYM_DIV: print_infix(o, s, "/", P_MUL, prec, P_MUL + 1); return;
	case SYM_MOD: print_infix(o, s, "%", P_MUL, prec, P_MUL + 1); return;
	case SYM_CDIV: print_call(o, s, "cdiv"); return;
	case SYM_MIN: print_call(o, s, "min"); return;
	case SYM_MAX: print_call(o, s, "max"); return;
	case SYM_EQ: print_infix(o, s, "==", P_CMP, prec, P_CMP + 1); return;
	case SYM_NE: print_infix(o, s, "!=", P_CMP, prec, P_CMP + 1); return;
	case SYM_LT: print_infix(o, s, "<", P_CMP, prec, P_CMP + 1); return;
	case SYM_LE: print_infix(o, s, "<=", P_CMP, prec, P_CMP + 1); return;
	case SYM_AND: print_infix(o, s, "&&", P_AND, prec, P_AND + 1); return;
	case SYM_OR: print_infix(o, s, "||", P_OR, prec, P_OR + 1); return;
	case SYM_NOT:
		out_puts(o, "!");
		print_at(o, s->arg[0], P_UNARY + 1);
		return;
	case SYM_ALIGNED: out_printf(o, "aligned(%s, %lld)", s->name, (long long)s->value); return;
	case SYM_SELECT:
		print_open(o, 0, prec);
		print_at(o, s->arg[0], 1);
		out_puts(o, " ? ");
		print_at(o, s->arg[1], 0);
		out_puts(o, " : ");
		print_at(o, s->arg[2], 0);
		print_close(o, 0, prec);
		return;
	}
}

void sym_print(Out *o, const Sym *s) { print_at(o, s, 0); }

Str sym_text(const Sym *s)
{
	Out *o = out_new();
	sym_print(o, s);
	return out_take(o);
}

/* ---- evaluation ---- */
typedef struct Env { bool (*value)(void *, const Sym *, int64_t *); void *ctx; SymValues *known; } Env;

static bool eval(const Sym *s, const Env *e, int64_t *out);

static bool eval_fold(const Sym *s, const Env *e, int64_t *out)        /* sums and products */
{
	if (!eval(s->arg[0], e, out)) return false;
	for (int i = 1; i < s->n; i++) {
		int64_t v;
		if (!eval(s->arg[i], e, &v)) return false;
		if (s->kind == SYM_ADD ? __builtin_add_overflow(*out, v, out) : __builtin_mul_overflow(*out, v, out))
			return false;
	}
	return true;
}

static bool eval_two(SymKind kind, int64_t a, int64_t b, int64_t *out)
{
	switch (kind) {
	case SYM_DIV: case SYM_MOD: case SYM_CDIV:
		if (!b || (a == INT64_MIN && b == -1) || (kind == SYM_CDIV && b < 0)) return false;
		*out = kind == SYM_DIV ? a / b : kind == SYM_MOD ? a % b : cdiv64(a, b);
		return true;
	case SYM_MIN: *out = a < b ? a : b; return true;
	case SYM_MAX: *out = a > b ? a : b; return true;
	case SYM_EQ: *out = a == b; return true;
	case SYM_NE: *out = a != b; return true;
	case SYM_LT: *out = a < b; return true;
	case SYM_LE: *out = a <= b; return true;
	default: return false;
	}
}

static bool eval_new(const Sym *s, const Env *e, int64_t *out)
{
	int64_t a, b;
	switch (s->kind) {
	case SYM_CONST: *out = s->value; return true;
	case SYM_ATOM: case SYM_ALIGNED: return e->value(e->ctx, s, out);
	case SYM_ADD: case SYM_MUL: return eval_fold(s, e, out);
	case SYM_AND: case SYM_OR:              /* short circuit: the right side may only make sense after the left */
		if (!eval(s->arg[0], e, &a)) return false;
		if ((a != 0) != (s->kind == SYM_AND)) return *out = a != 0, true;
		if (!eval(s->arg[1], e, &b)) return false;
		return *out = b != 0, true;
	case SYM_NOT: return eval(s->arg[0], e, &a) && (*out = !a, true);
	case SYM_SELECT: return eval(s->arg[0], e, &a) && eval(s->arg[a ? 1 : 2], e, out);
	default: return eval(s->arg[0], e, &a) && eval(s->arg[1], e, &b) && eval_two(s->kind, a, b, out);
	}
}

static bool eval(const Sym *s, const Env *e, int64_t *out)
{
	SymValues *k = e->known;
	if (!k || s->kind == SYM_CONST) return eval_new(s, e, out);
	while (k->n <= (int)s->id) vec_push(A_TMP, k, ((SymValue){ .of = 0 }));
	if (k->p[s->id].of != k->now) {
		int64_t v = 0;
		bool is = eval_new(s, e, &v);
		k->p[s->id] = (SymValue){ k->now, is, v };
	}
	*out = k->p[s->id].value;
	return k->p[s->id].is;
}

bool sym_eval(const Sym *s, bool (*value)(void *ctx, const Sym *atom, int64_t *v), void *ctx, int64_t *out)
{
	return eval(s, &(Env){ value, ctx, NULL }, out);
}

bool sym_eval_known(const Sym *s, bool (*value)(void *ctx, const Sym *atom, int64_t *v), void *ctx, SymValues *known,
	int64_t *out)
{
	return eval(s, &(Env){ value, ctx, known }, out);
}
