/* Where elements in the order of memory (flat.c) lie along each axis, and what a kernel loads for them. */
#include "base/diag.h"
#include "lower/flat.h"

/* Quotient and remainder of n, a u32 or a u64 below 2^62, by d, of which the reciprocal is 2^32 - 1 or 2^62 over d:
 * what the product leaves is up to one time too much. */
static Val *divide(Flat *f, Val *n, Val *d, Val *reciprocal, Val **rest)
{
	const Type *bools = type_with_elem(n->type, EL_BOOL);
	Val *scaled = n, *q;
	if (n->type->elem == EL_U64) scaled = with(f, OP_SHL, n, 2);
	q = make2(f, OP_MULHI, scaled, reciprocal);
	Val *r = make2(f, OP_SUB, n, make2(f, OP_MUL, q, d));
	Val *more = flat_make(f, OP_GE, bools, 2, (Val *[]){ r, d });
	*rest = flat_make(f, OP_SELECT, n->type, 3, (Val *[]){ more, make2(f, OP_SUB, r, d), r });
	return flat_make(f, OP_SELECT, n->type, 3, (Val *[]){ more, with(f, OP_ADD, q, 1), q });
}

/* Of each group's first element, and of what its elements after the end of its row have in the next one. */
static void find_second_row(Flat *f)
{
	const Type *i32 = type_scalar(EL_I32), *bools = type_scalar(EL_BOOL);
	Val *end = flat_launched(f, f->extent[f->run], EL_I32), *at = f->place[f->run], *more = NULL;
	f->rest = make2(f, OP_SUB, end, at);
	Val *back = make2(f, OP_SUB, at, end);
	f->after = flat_make(f, OP_GE, bools, 2, (Val *[]){ f->in_group, f->rest });
	f->place[f->run] = with(f, OP_ADD, at, 0);
	*flat_twin(f, f->place[f->run]) = (Twin){ .first = f->place[f->run], .second = back, .step = 1 };
	for (int a = f->run - 1; a >= 0; a--) {
		int64_t one;
		if (a && sym_is_const(f->extent[a], &one) && one == 1) continue;
		Val *n = flat_launched(f, f->extent[a], EL_I32), *next = with(f, OP_ADD, f->place[a], 1);
		if (more) next = flat_make(f, OP_SELECT, i32, 3, (Val *[]){ more, next, f->place[a] });
		if (a) {
			more = flat_make(f, OP_GE, bools, 2, (Val *[]){ next, n });
			next = flat_make(f, OP_SELECT, i32, 3, (Val *[]){ more, flat_number(f, i32, 0), next });
		} else {
			next = make2(f, OP_MIN, next, with(f, OP_SUB, n, 1));
		}
		flat_twin(f, f->place[a])->second = next;
	}
}

/* The element's number in its tile block, of its group where there are groups; rest: of the tile block. */
static Val *begin_places(Flat *f, Val **rest)
{
	const Sym *tile = sym_const((int64_t)1 << (COST_FLAT_ELEMENTS - f->group));
	Val *element = flat_emit(f, false, OP_IOTA, f->group ? flat_groups_type(f, EL_U32) : flat_type(f, EL_U32), 0, NULL);
	f->block = flat_emit(f, false, OP_BID, type_scalar(EL_I32), 0, NULL);
	ir_set_int(f->block->def, AT_AXIS, 0);
	*rest = cast(f, f->block, EL_U64);
	if (f->group) tile = sym_mul(tile, f->width);
	f->begin = *rest = make2(f, OP_MUL, *rest, flat_launched(f, tile, EL_U64));
	f->element = element;
	if (f->group) {
		uint8_t log2[2] = { 0, (uint8_t)f->group };
		Val *k = flat_emit(f, false, OP_IOTA, type_tile(EL_I32, 2, log2), 0, NULL);
		Val *width = flat_launched(f, f->width, EL_I32);
		f->in_group = flat_emit(f, false, OP_BROADCAST, flat_type(f, EL_I32), 1, &k);
		f->slot = flat_make(f, OP_LT, type_scalar(EL_BOOL), 2, (Val *[]){ f->in_group, width });
		element = make2(f, OP_MUL, element, cast(f, width, EL_U32));
		f->first = make2(f, OP_ADD, cast(f, *rest, EL_I64), cast(f, element, EL_I64));
		f->first = with(f, OP_ADD, f->first, 0);
		*flat_twin(f, f->first) = (Twin){ .first = f->first, .second = f->first, .step = 1 };
		return element;
	}
	Val *left = make2(f, OP_SUB, flat_launched(f, f->all, EL_U64), *rest);
	left = with(f, OP_MIN, left, (int64_t)1 << COST_FLAT_ELEMENTS);
	Val *end = flat_spread(f, cast(f, left, EL_U32));
	f->valid = flat_make(f, OP_LT, flat_type(f, EL_BOOL), 2, (Val *[]){ element, end });
	return element;
}

void flat_find_places(Flat *f)
{
	Val *rest, *carry = begin_places(f, &rest), *r;
	for (int a = f->rank - 1; a > 0; a--) {
		const Sym *d = sym_max(f->extent[a], sym_const(1));
		int64_t one;
		if (sym_is_const(d, &one) && one == 1) {
			f->place[a] = constant(f, EL_I32, 0);
			continue;
		}
		Val *n = flat_launched(f, d, EL_U64), *by = flat_launched(f, sym_div(sym_const((int64_t)1 << 62), d), EL_U64);
		rest = divide(f, rest, n, by, &r);
		carry = make2(f, OP_ADD, flat_spread(f, cast(f, r, EL_U32)), carry);
		n = flat_spread(f, cast(f, n, EL_U32));
		by = flat_spread(f, flat_launched(f, sym_div(sym_const(UINT32_MAX), d), EL_U32));
		carry = divide(f, carry, n, by, &r);
		f->place[a] = cast(f, r, EL_I32);
	}
	/* after the last one it is read once more, not what lies beyond */
	Val *last = flat_launched(f, sym_sub(f->extent[0], sym_const(1)), EL_U32);
	carry = make2(f, OP_ADD, flat_spread(f, cast(f, rest, EL_U32)), carry);
	f->place[0] = cast(f, make2(f, OP_MIN, carry, flat_spread(f, last)), EL_I32);
	if (f->group) find_second_row(f);
	for (int a = 0; a < f->rank; a++) f->place[a]->name = str_fmt("place%d", a);
	flat_learn_places(f);
}

Val *flat_number_of(Flat *f, Elem e)
{
	if (f->group) return cast(f, f->first, e);
	return make2(f, OP_ADD, flat_spread(f, cast(f, f->begin, e)), cast(f, f->element, e));
}

/* In the author's tile. */
static Val *place_in_tile(Flat *f, int a)
{
	Val *p = f->place[a];
	if (f->grid[a] == NONE) return p;
	if (!f->tile->log2[a]) return constant(f, EL_I32, 0);
	return with(f, OP_AND, p, type_extent(f->tile, a) - 1);
}

/* Of the author's tile along an axis. */
Val *flat_block_at(Flat *f, int a)
{
	Val *p = f->place[a];
	return f->tile->log2[a] ? with(f, OP_SHR, p, f->tile->log2[a]) : p;
}

Val *flat_place_of(Flat *f, const Along *x)
{
	if (x->tile) return x->tile;
	if (x->axis == NONE) return constant(f, EL_I32, x->add);
	Val *p = place_in_tile(f, x->axis), *add = constant(f, EL_I32, x->add);
	return make2(f, x->sign < 0 ? OP_SUB : OP_ADD, x->sign < 0 ? add : p, x->sign < 0 ? p : add);
}

/* ---- where loads are ---- */
static const Sym *without_bids(void *axis, const Sym *atom)
{
	return atom->kind == SYM_ATOM && atom->atom == ATOM_BID ? sym_const(atom->index == *(const int *)axis) : NULL;
}

static const Sym *with_bid(const Sym *s, int axis)        /* that one 1, all others 0 */
{
	return sym_subst(s, without_bids, &axis);
}

/* s = rest + the sum of by[g] * bid(g), with numbers in by and a rest that the launcher knows. */
static bool linear(const Flat *f, const Sym *s, const Sym **rest, int64_t *by)
{
	if (s->size > SYM_SIZE_MAX) return false;
	const Sym *sum = *rest = with_bid(s, NONE);
	for (int g = 0; g < f->fn->ngrid; g++) {
		if (!sym_is_const(sym_sub(with_bid(s, g), *rest), &by[g])) return false;
		sum = sym_add(sum, sym_mul(sym_const(by[g]), sym_atom(ATOM_BID, NULL, g)));
	}
	return sym_is_of_call(*rest) && sum == s;
}

bool flat_plan_place(const Flat *f, const Sym *at, const Along *x, Spot *p)
{
	*p = (Spot){ .others = x->tile != NULL };
	if (!linear(f, at, &p->rest, p->by)) return false;
	p->rest = sym_add(p->rest, sym_const(x->add));
	for (int a = 0; a < f->rank; a++) {
		int g = f->grid[a], sign = x->axis == a ? x->sign : 0;
		int64_t by = g == NONE ? 0 : p->by[g];
		if (g == NONE) p->sign[a] = sign;
		else if (f->tile->log2[a] == 0) p->sign[a] = by == 1 || by == -1 ? (int)by : 0, p->others |= by != p->sign[a];
		else if (sign && by == sign * type_extent(f->tile, a)) p->sign[a] = sign;
		else p->others |= sign || by;
	}
	return true;
}

bool flat_is_inside(const Flat *f, const Spot *p, const Sym *extent)
{
	const Sym *lo = p->rest, *hi = p->rest;
	if (p->others || !extent) return false;
	for (int a = 0; a < f->rank; a++) {
		const Sym *most = sym_sub(f->extent[a], sym_const(1));
		if (p->sign[a] > 0) hi = sym_add(hi, most);
		if (p->sign[a] < 0) lo = sym_sub(lo, most);
	}
	return facts_le(f->syms.facts, sym_const(0), lo) && facts_lt(f->syms.facts, hi, extent);
}

/* May 32 bits hold it, so that what wraps lies outside of the tensor, as what is below 0 does? */
bool flat_is_near(const Flat *f, const Spot *p, const Sym *extent)
{
	Range r = facts_eval_range(f->syms.facts, p->rest);
	int plus = 0, minus = 0;
	for (int a = 0; a < f->rank; a++) plus += p->sign[a] > 0, minus += p->sign[a] < 0;
	if (p->others || plus + minus > 1 || !extent || !flat_is_small(f, extent)) return false;
	return r.lo >= (minus ? -1 : INT32_MIN) && r.hi <= INT32_MAX;
}

/* rest + terms. */
Val *flat_add_up(Flat *f, const Spot *p, const Along *x, Elem e)
{
	Val *sum = flat_spread(f, flat_launched(f, p->rest, e));
	for (int a = 0; a < f->rank; a++) {
		int g = f->grid[a];
		if (p->sign[a]) {
			sum = make2(f, p->sign[a] < 0 ? OP_SUB : OP_ADD, sum, cast(f, f->place[a], e));
			continue;
		}
		if (g != NONE && p->by[g]) {
			Val *v = with(f, OP_MUL, cast(f, flat_block_at(f, a), e), p->by[g]);
			sum = make2(f, OP_ADD, sum, v);
		}
		if (!x->tile && x->axis == a)
			sum = make2(f, x->sign < 0 ? OP_SUB : OP_ADD, sum, cast(f, place_in_tile(f, a), e));
	}
	return x->tile ? make2(f, OP_ADD, sum, cast(f, x->tile, e)) : sum;
}
