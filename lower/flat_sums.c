/* Integers of versions by elements in the order of memory (flat.c) that are sums of what the launcher knows and of
 * places along axes, however their author wrote them: a tile block's index times the tile's extent and an index in the
 * tile are the place. Where places are counted as memory is, the sum is the element's number, times what it is counted
 * by: that has neither rows nor divisions, and is counted on from one row to the next. Numbers wrap, so sums and
 * products may be taken in any order. */
#include "lower/flat.h"

static const Sym *place_atom(const Flat *f, int a) { return sym_atom(ATOM_VAL, f->place[a]->name, f->fn->nval + a); }

void flat_learn_places(Flat *f)
{
	for (int a = 0; a < f->rank; a++) facts_bound(f->syms.facts, place_atom(f, a), sym_const(0), f->extent[a]);
}

/* In the author's tile, whose blocks along an axis of single elements are places themselves. */
static const Sym *in_tile(const Flat *f, int a)
{
	int g = f->grid[a];
	if (g == NONE) return place_atom(f, a);
	if (!f->tile->log2[a]) return sym_const(0);
	return sym_sub(place_atom(f, a), sym_mul(sym_atom(ATOM_BID, NULL, g), sym_const(type_extent(f->tile, a))));
}

static bool tile_places(const Flat *f, const Type *t, const Along *at, const Sym **place)
{
	for (int i = 0; type_is_tile(t) && i < t->rank; i++) {
		if (at[i].tile) return false;
		place[i] = sym_const(at[i].add);
		if (at[i].axis == NONE) continue;
		const Sym *p = in_tile(f, at[i].axis);
		place[i] = at[i].sign < 0 ? sym_sub(place[i], p) : sym_add(place[i], p);
	}
	return true;
}

static const Sym *block_place(void *ctx, const Sym *atom)
{
	const Flat *f = ctx;
	if (atom->kind != SYM_ATOM || atom->atom != ATOM_BID) return NULL;
	int a = f->along[atom->index];
	return a != NONE && !f->tile->log2[a] ? place_atom(f, a) : NULL;
}

typedef struct Only { const Flat *f; int axis; } Only;

static const Sym *only(void *ctx, const Sym *atom)
{
	const Only *x = ctx;
	int a = atom->index - x->f->fn->nval;
	if (atom->kind != SYM_ATOM || atom->atom != ATOM_VAL || a < 0) return NULL;
	return sym_const(a == x->axis);
}

static const Sym *only_place(const Flat *f, const Sym *s, int axis)    /* that one 1, all others 0 */
{
	return sym_subst(s, only, &(Only){ f, axis });
}

static bool has_one_place(const Flat *f, int a)
{
	int64_t n;
	return sym_is_const(f->extent[a], &n) && n == 1;
}

static bool is_known(const Flat *f, const Sym *s)
{
	if (!sym_is_of_call(s)) return false;
	Range r = facts_eval_range(f->syms.facts, s);
	return r.lo != INT64_MIN && r.hi != INT64_MAX;
}

/* s = rest + the sum of by[a] * place[a] */
static bool linear(const Flat *f, const Sym *s, Sum *p)
{
	const Sym *sum = p->rest = only_place(f, s, NONE);
	for (int a = 0; a < f->rank; a++) {
		p->by[a] = sym_sub(only_place(f, s, a), p->rest);
		sum = sym_add(sum, sym_mul(p->by[a], place_atom(f, a)));
		if (!is_known(f, p->by[a])) return false;
	}
	return sum == s && is_known(f, p->rest);
}

/* Places are counted as memory is. */
static bool is_number(const Flat *f, const Sum *p)
{
	int last = f->rank - 1;
	while (last > 0 && has_one_place(f, last)) last--;
	const Sym *by = p->by[last];
	if (by == sym_const(0)) return false;
	for (int a = last; a >= 0; by = sym_mul(by, f->extent[a--]))
		if (p->by[a] != by && !has_one_place(f, a)) return false;
	return true;
}

bool flat_sum(Flat *f, const Val *v, const Along *at, Sum *p)
{
	const Sym *place[TILE_RANK];
	if (!elem_is_int(v->type->elem) || !tile_places(f, v->type, at, place)) return false;
	const Sym *s = valsym_element(&f->syms, v, place);
	if (!s) return false;
	s = sym_subst(s, block_place, f);
	if (s->size > SYM_SIZE_MAX || !linear(f, s, p)) return false;
	p->numbers = is_number(f, p);
	return true;
}

bool flat_sum_is_inside(const Flat *f, const Sum *p, const Sym *extent)
{
	const Facts *known = f->syms.facts;
	const Sym *lo = p->rest, *hi = p->rest, *zero = sym_const(0);
	if (p->numbers || !extent) return false;
	for (int a = 0; a < f->rank; a++) {
		const Sym *most = sym_mul(p->by[a], sym_sub(f->extent[a], sym_const(1)));
		if (facts_le(known, zero, p->by[a])) hi = sym_add(hi, most);
		else if (facts_le(known, p->by[a], zero)) lo = sym_add(lo, most);
		else return false;
	}
	return facts_le(known, zero, lo) && facts_lt(known, hi, extent);
}

static Val *times(Flat *f, Val *v, const Sym *n)
{
	int64_t k;
	if (sym_is_const(n, &k)) return k == 1 ? v : with(f, OP_MUL, v, k);
	return make2(f, OP_MUL, v, flat_spread(f, flat_launched(f, n, v->type->elem)));
}

Val *flat_sum_up(Flat *f, const Sum *p, Elem e)
{
	Val *sum = NULL;
	for (int a = p->numbers ? f->rank : 0; a < f->rank; a++) {
		if (p->by[a] == sym_const(0)) continue;
		Val *v = times(f, cast(f, f->place[a], e), p->by[a]);
		sum = sum ? make2(f, OP_ADD, sum, v) : v;
	}
	int last = f->rank - 1;
	while (last > 0 && has_one_place(f, last)) last--;
	if (p->numbers) sum = times(f, flat_number_of(f, e), p->by[last]);
	if (!sum) return flat_launched(f, p->rest, e);
	if (p->rest == sym_const(0)) return sum;
	return make2(f, OP_ADD, sum, flat_spread(f, flat_launched(f, p->rest, e)));
}
