/* A version that takes elements in the order of memory, whatever the extents are.
 *
 * A tile has the extents that its author chose, tensors have those of a call: a row of 20 elements uses 20 lanes of a
 * tile of 512, and where rows begin anywhere, each row of a tile has an end of its own. In kernels that only move and
 * map elements, what is stored at a place follows from the place alone. So such a kernel has a version whose tile
 * blocks take the next elements of what is stored, one after the other, as a tensor of one axis: no lane idles, and
 * stores are of whole lines. The place of an element along each axis follows from its number by divisions, which are
 * products with reciprocals that the launcher knows. From the store back, each value is asked for at such places:
 * operations that work element by element stay as they are, reshapes, permutations, broadcasts and flips change places
 * alone, and loads become gathers, of which those that are proved to lie inside have no condition.
 *
 * It serves all calls. The launcher takes the author's tiles where they are aligned and much of them is used, since
 * these access several elements at once; so elements of less than 4 bytes are left to narrow.c. */
#include <string.h>

#include "base/cost.h"
#include "base/diag.h"
#include "ir/fold.h"
#include "ir/valsym.h"
#include "lower/placed.h"
#include "lower/steps.h"

/* The place of each element along an axis of a tile: add + sign * its place in the author's tile along an axis of what
 * is stored; or `tile`; axis NONE: just add. */
enum { NONE = -1 };
typedef struct Along { int axis, sign; int64_t add; Val *tile; } Along;

typedef struct Pulled { const Val *of; bool early; Along at[TILE_RANK]; Val *v; } Pulled;

typedef struct Flat {
	Fn *fn;
	ValSyms syms;
	const Op *like;         /* a store, whose tensor's shape all have */
	const Type *tile;
	int rank;
	int grid[TENSOR_RANK];  /* the axis of the grid along an axis of what is stored; NONE: there is one tile */
	int along[4];   /* and the other way */
	const Sym *extent[TENSOR_RANK], *all;   /* of what is stored; its elements */
	Val *place[TENSOR_RANK], *block;        /* of each element; of the tile block */
	bool *differs;          /* by Val id: between tile blocks */
	Op *first_late;         /* before it stand all loads */
	VEC(Pulled) pulled;
	Val *valid;             /* by element: it is one */
	Span span;              /* of the operation under way */
	int work, depth;
	bool fails;
} Flat;

/* ---- small things ---- */
static const Along nowhere = { NONE, 0, 0, NULL };

static const Type *flat_type(Elem e)
{
	uint8_t log2 = COST_FLAT_ELEMENTS;
	return type_tile(e, 1, &log2);
}

/* Loads, and what they need, come first: a thread asks for all that it needs before it waits for any. */
static Builder before_late(const Flat *f)
{
	Builder b = build_before(f->first_late ? f->first_late : f->fn->body->last);
	b.span = f->span;
	return b;
}

static Val *make_late(Flat *f, OpCode code, const Type *t, int nin, Val *const *in)
{
	Builder b = build_before(f->fn->body->last);
	b.span = f->span;
	Val *v = ir_op1(&b, code, t, nin, in);
	if (!f->first_late) f->first_late = v->def;
	return v;
}

static Val *make(Flat *f, OpCode code, const Type *t, int nin, Val *const *in)
{
	Builder b = before_late(f);
	return ir_op1(&b, code, t, nin, in);
}

static Val *make2(Flat *f, OpCode code, Val *x, Val *y) { return make(f, code, x->type, 2, (Val *[]){ x, y }); }

static Val *number(Flat *f, const Type *t, int64_t n)
{
	Builder b = before_late(f);
	return ir_const_int(&b, t, n);
}

static Val *with(Flat *f, OpCode code, Val *x, int64_t n) { return make2(f, code, x, number(f, x->type, n)); }

static Val *spread(Flat *f, Val *v)
{
	if (type_is_tile(v->type) && v->type->rank == 1 && v->type->log2[0] == COST_FLAT_ELEMENTS) return v;
	return make(f, OP_BROADCAST, flat_type(v->type->elem), 1, &v);
}

static Val *cast(Flat *f, Val *v, Elem e)
{
	const Type *t = type_with_elem(v->type, e);
	return v->type == t ? v : make(f, OP_CAST, t, 1, &v);
}

static Val *launched(Flat *f, const Sym *s, Elem e)
{
	Builder b = before_late(f);
	return cast(f, ir_launch(&b, EL_I64, s), e);
}

/* ---- what is stored, and where ---- */
static const IrParam *dense_param(const Flat *f, const Val *view)
{
	if (view->def || view->type->kind != TY_VIEW || view->block != f->fn->body) return NULL;
	const IrParam *p = &f->fn->params.p[view->index];
	const Sym *stride = sym_const(1);
	for (int a = p->rank - 1; a >= 0; a--) {
		if (p->stride[a] != stride) return NULL;
		stride = sym_mul(stride, p->extent[a]);
	}
	return p;
}

/* The axis of the grid whose tile blocks lie side by side along an axis of the store, and cover it; ngrid: none. */
static int grid_of(Flat *f, const Op *store, int a)
{
	int64_t tile = type_extent(f->tile, a);
	const Sym *at = valsym_access(&f->syms, store, a), *whole = sym_const(tile), *end = f->extent[a];
	if (at == sym_const(0) && facts_le(f->syms.facts, end, whole)) return NONE;
	for (int g = 0; g < f->fn->ngrid; g++) {
		if (at != sym_mul(sym_atom(ATOM_BID, NULL, g), whole)) continue;
		const Sym *n = f->fn->grid[g];
		bool covers = n == sym_cdiv(end, whole) || facts_le(f->syms.facts, end, sym_mul(n, whole));
		return covers && f->along[g] == NONE ? g : f->fn->ngrid;
	}
	return f->fn->ngrid;
}

static bool is_small(const Flat *f, const Sym *extent)
{
	Range r = facts_eval_range(f->syms.facts, extent);
	return r.lo >= 0 && r.hi <= INT32_MAX;
}

static bool look_at_first(Flat *f, const Op *store)
{
	const IrParam *p = dense_param(f, ir_in(store, 0));
	int64_t one;
	f->like = store;
	f->tile = ir_accessed(store)->type;
	if (!p || !type_is_tile(f->tile) || p->rank != f->tile->rank || p->rank < 2) return false;
	f->rank = p->rank;
	for (int g = 0; g < f->fn->ngrid; g++) f->along[g] = NONE;
	for (int a = 0; a < f->rank; a++) {
		f->extent[a] = p->extent[a];
		f->grid[a] = grid_of(f, store, a);
		if (f->grid[a] == f->fn->ngrid || !is_small(f, p->extent[a])) return false;
		if (f->grid[a] != NONE) f->along[f->grid[a]] = a;
	}
	for (int g = 0; g < f->fn->ngrid; g++)
		if (f->along[g] == NONE && !(sym_is_const(f->fn->grid[g], &one) && one == 1)) return false;
	return true;
}

static bool same_places(Flat *f, const Op *store)
{
	const IrParam *p = dense_param(f, ir_in(store, 0));
	if (!p || p->rank != f->rank || !type_same_shape(ir_accessed(store)->type, f->tile)) return false;
	for (int a = 0; a < f->rank; a++) {
		if (p->extent[a] != f->extent[a]) return false;
		if (valsym_access(&f->syms, store, a) != valsym_access(&f->syms, f->like, a)) return false;
	}
	return true;
}

static bool look_at(Flat *f, const Op *op)
{
	if (op->nregion || op_has(op, OPF_RANDOM)) return false;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		for (int k = 0; k < op->nout; k++) f->differs[op->out[k]->id] |= f->differs[v->id];
	}
	if (op->code == OP_BID) f->differs[op->out[0]->id] = true;
	/* all loads will come before all stores */
	if (f->like && op_has(op, OPF_READ) && !memory_is_constant(f->fn, ir_in(op, 0))) return false;
	if (op->code == OP_STORE) return !ir_int(op, AT_CACHE, 0) && (f->like ? same_places(f, op) : look_at_first(f, op));
	return !op_has(op, OPF_WRITE);
}

static bool suits(Flat *f)
{
	for (const Op *op = f->fn->body->first; op; op = op->next)
		if (!look_at(f, op)) return false;
	return f->like != NULL;
}

/* ---- places ---- */
/* Quotient and remainder of n, a u32 or a u64 below 2^62, by d, of which the reciprocal is 2^32 - 1 or 2^62 over d:
 * what the product leaves is up to one time too much. */
static Val *divide(Flat *f, Val *n, Val *d, Val *reciprocal, Val **rest)
{
	const Type *bools = type_with_elem(n->type, EL_BOOL);
	Val *scaled = n, *q;
	if (n->type->elem == EL_U64) scaled = with(f, OP_SHL, n, 2);
	q = make2(f, OP_MULHI, scaled, reciprocal);
	Val *r = make2(f, OP_SUB, n, make2(f, OP_MUL, q, d));
	Val *more = make(f, OP_GE, bools, 2, (Val *[]){ r, d });
	*rest = make(f, OP_SELECT, n->type, 3, (Val *[]){ more, make2(f, OP_SUB, r, d), r });
	return make(f, OP_SELECT, n->type, 3, (Val *[]){ more, with(f, OP_ADD, q, 1), q });
}

static void find_places(Flat *f)
{
	Val *element = make(f, OP_IOTA, flat_type(EL_U32), 0, NULL), *carry = element, *rest, *r;
	f->block = make(f, OP_BID, type_scalar(EL_I32), 0, NULL);
	ir_set_int(f->block->def, AT_AXIS, 0);
	rest = cast(f, f->block, EL_U64);
	rest = with(f, OP_MUL, rest, (int64_t)1 << COST_FLAT_ELEMENTS);
	Val *left = make2(f, OP_SUB, launched(f, f->all, EL_U64), rest);
	left = with(f, OP_MIN, left, (int64_t)1 << COST_FLAT_ELEMENTS);
	Val *end = spread(f, cast(f, left, EL_U32));
	f->valid = make(f, OP_LT, flat_type(EL_BOOL), 2, (Val *[]){ element, end });
	for (int a = f->rank - 1; a > 0; a--) {
		const Sym *d = sym_max(f->extent[a], sym_const(1));
		int64_t one;
		if (sym_is_const(d, &one) && one == 1) {
			f->place[a] = number(f, flat_type(EL_I32), 0);
			continue;
		}
		Val *n = launched(f, d, EL_U64), *by = launched(f, sym_div(sym_const((int64_t)1 << 62), d), EL_U64);
		rest = divide(f, rest, n, by, &r);
		carry = make2(f, OP_ADD, spread(f, cast(f, r, EL_U32)), carry);
		n = spread(f, cast(f, n, EL_U32));
		by = spread(f, launched(f, sym_div(sym_const(UINT32_MAX), d), EL_U32));
		carry = divide(f, carry, n, by, &r);
		f->place[a] = cast(f, r, EL_I32);
	}
	/* after the last one it is read once more, not what lies beyond */
	Val *last = launched(f, sym_sub(f->extent[0], sym_const(1)), EL_U32);
	carry = make2(f, OP_ADD, spread(f, cast(f, rest, EL_U32)), carry);
	f->place[0] = cast(f, make2(f, OP_MIN, carry, spread(f, last)), EL_I32);
	for (int a = 0; a < f->rank; a++) f->place[a]->name = str_fmt("place%d", a);
}

/* In the author's tile. */
static Val *place_in_tile(Flat *f, int a)
{
	Val *p = f->place[a];
	if (f->grid[a] == NONE) return p;
	return with(f, OP_AND, p, type_extent(f->tile, a) - 1);
}

/* Of the author's tile along an axis. */
static Val *block_at(Flat *f, int a)
{
	Val *p = f->place[a];
	return f->tile->log2[a] ? with(f, OP_SHR, p, f->tile->log2[a]) : p;
}

static Val *place_of(Flat *f, const Along *x)
{
	const Type *t = flat_type(EL_I32);
	if (x->tile) return x->tile;
	if (x->axis == NONE) return number(f, t, x->add);
	Val *p = place_in_tile(f, x->axis), *add = number(f, t, x->add);
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

static void find_unknown(void *ctx, const Sym *atom)
{
	*(bool *)ctx |= atom->atom == ATOM_VAL || atom->atom == ATOM_BID;
}

/* s = rest + the sum of by[g] * bid(g), with numbers in by and a rest that the launcher knows. */
static bool linear(const Flat *f, const Sym *s, const Sym **rest, int64_t *by)
{
	bool unknown = s->size > SYM_SIZE_MAX;
	if (unknown) return false;
	const Sym *sum = *rest = with_bid(s, NONE);
	for (int g = 0; g < f->fn->ngrid; g++) {
		if (!sym_is_const(sym_sub(with_bid(s, g), *rest), &by[g])) return false;
		sum = sym_add(sum, sym_mul(sym_const(by[g]), sym_atom(ATOM_BID, NULL, g)));
	}
	sym_atoms(*rest, find_unknown, &unknown);
	return !unknown && sum == s;
}

/* A place as rest + terms: sign[a] times the place along axis a of what is stored, and others. */
typedef struct Spot { const Sym *rest; int64_t by[4]; int sign[TENSOR_RANK]; bool others; } Spot;

static bool plan_place(const Flat *f, const Sym *at, const Along *x, Spot *p)
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

static bool is_inside(const Flat *f, const Spot *p, const Sym *extent)
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
static bool is_near(const Flat *f, const Spot *p, const Sym *extent)
{
	Range r = facts_eval_range(f->syms.facts, p->rest);
	int plus = 0, minus = 0;
	for (int a = 0; a < f->rank; a++) plus += p->sign[a] > 0, minus += p->sign[a] < 0;
	if (p->others || plus + minus > 1 || !extent || !is_small(f, extent)) return false;
	return r.lo >= (minus ? -1 : INT32_MIN) && r.hi <= INT32_MAX;
}

/* rest + terms. */
static Val *add_up(Flat *f, const Spot *p, const Along *x, Elem e)
{
	Val *sum = spread(f, launched(f, p->rest, e));
	for (int a = 0; a < f->rank; a++) {
		int g = f->grid[a];
		if (p->sign[a]) {
			sum = make2(f, p->sign[a] < 0 ? OP_SUB : OP_ADD, sum, cast(f, f->place[a], e));
			continue;
		}
		if (g != NONE && p->by[g]) {
			Val *v = with(f, OP_MUL, cast(f, block_at(f, a), e), p->by[g]);
			sum = make2(f, OP_ADD, sum, v);
		}
		if (!x->tile && x->axis == a)
			sum = make2(f, x->sign < 0 ? OP_SUB : OP_ADD, sum, cast(f, place_in_tile(f, a), e));
	}
	return x->tile ? make2(f, OP_ADD, sum, cast(f, x->tile, e)) : sum;
}

/* ---- values ---- */
static Val *pull(Flat *f, Val *v, const Along *at, bool early);

/* Do neighbours of what is stored lie apart? */
static bool goes_across(const Flat *f, const Spot *p, const Along *x)
{
	int last = f->rank - 1, g = f->grid[last];
	return p->sign[last] || x->axis == last || x->tile || (g != NONE && p->by[g]);
}

/* An index along an axis of a load or a gather, at * step + offset + x; inside: it is proved to be. */
static Val *index_of(Flat *f, Val *at, int64_t step, int64_t offset, const Along *x, const Sym *extent, bool *inside,
	bool *across)
{
	const Sym *s = sym_add(sym_mul(valsym(&f->syms, at), sym_const(step)), sym_const(offset));
	Spot p;
	*inside = false;
	*across = true;
	if (plan_place(f, s, x, &p)) {
		*across = goes_across(f, &p, x);
		*inside = is_inside(f, &p, extent);
		return add_up(f, &p, x, is_near(f, &p, extent) ? EL_I32 : EL_I64);
	}
	Val *v = pull(f, at, NULL, true);
	if (f->fails) return NULL;
	Val *first = cast(f, spread(f, v), EL_I64);
	first = with(f, OP_MUL, first, step);
	first = with(f, OP_ADD, first, offset);
	return make2(f, OP_ADD, first, cast(f, place_of(f, x), EL_I64));
}

static bool is_uniform(const Flat *f, const Val *v) { return !f->differs[v->id]; }

static Val *flat_view(Flat *f, Val *view)
{
	const Type *i64 = type_scalar(EL_I64);
	Val *zero = number(f, i64, 0), *all = launched(f, f->all, EL_I64), *one = number(f, i64, 1);
	Val *in[4] = { view, zero, all, one };
	return make(f, OP_VIEW, type_view(view->type->elem, 1), 4, in);
}

static Val *note_gather(Flat *f, Val *v, int conditions, bool other_rows)
{
	f->work += 1 + conditions + other_rows;
	f->fails |= f->work > COST_FLAT_WORK;
	return v;
}

/* Of a tensor that lies in memory as what is stored does: is the place the same but for an offset along each axis? */
static bool is_same_place(Flat *f, const Op *load, const Along *at, Spot *to)
{
	const IrParam *p = dense_param(f, ir_in(load, 0));
	if (!p || p->rank != f->rank) return false;
	for (int a = 0; a < f->rank; a++) {
		Spot *x = &to[a];
		if (p->extent[a] != f->extent[a] || !plan_place(f, valsym_access(&f->syms, load, a), &at[a], x)) return false;
		for (int k = 0; k < f->rank; k++)
			if (x->sign[k] != (k == a)) return false;
		if (x->others || !is_near(f, x, p->extent[a])) return false;
	}
	return true;
}

/* Then it follows from the element's number, and conditions are what is left of the places. */
static Val *pull_same_place(Flat *f, const Op *load, const Spot *to)
{
	const Sym *offset = sym_const(0), *stride = sym_const(1);
	const Type *t = flat_type(load->out[0]->type->elem);
	int conditions = 0;
	bool other_rows = false;
	Val *mask = f->valid, *pad = ir_in(load, load->nin - 1), *view = flat_view(f, ir_in(load, 0)), *r;
	for (int a = f->rank - 1; a >= 0; stride = sym_mul(stride, f->extent[a--])) {
		offset = sym_add(offset, sym_mul(to[a].rest, stride));
		other_rows |= a < f->rank - 1 && to[a].rest != sym_const(0);
		if (is_inside(f, &to[a], f->extent[a])) continue;
		Val *v = cast(f, add_up(f, &to[a], &nowhere, EL_I32), EL_U32);
		Val *end = spread(f, launched(f, f->extent[a], EL_U32));
		v = make(f, OP_LT, flat_type(EL_BOOL), 2, (Val *[]){ v, end });
		mask = make2(f, OP_AND, mask, v);
		conditions++;
	}
	/* a row down and the length of a row back is the same address, but lies outside */
	if (offset == sym_const(0) && !conditions) {
		r = make(f, OP_LOAD, t, 3, (Val *[]){ view, f->block, pad });
		ir_set_ints(r->def, AT_STEPS, 1, (const int64_t[]){ (int64_t)1 << COST_FLAT_ELEMENTS });
		return r;
	}
	Val *first = with(f, OP_MUL, cast(f, f->block, EL_I64), (int64_t)1 << COST_FLAT_ELEMENTS);
	first = spread(f, make2(f, OP_ADD, first, launched(f, offset, EL_I64)));
	first = make2(f, OP_ADD, first, make(f, OP_IOTA, first->type, 0, NULL));
	r = make(f, OP_GATHER, t, 4, (Val *[]){ view, first, pad, mask });
	ir_set_ints(r->def, AT_INSIDE, 1, (const int64_t[]){ INSIDE_WHOLE });
	return note_gather(f, r, conditions, other_rows);
}

static Val *gather(Flat *f, const Op *op, Val **index, const int64_t *inside, const Along *at)
{
	int rank = ir_in(op, 0)->type->rank, n = 1 + rank;
	Val *in[3 + TENSOR_RANK] = { ir_in(op, 0) };
	for (int a = 0; a < rank; a++) in[1 + a] = index[a];
	in[n++] = ir_in(op, 1 + rank);
	if (op->nin > 2 + rank) in[n++] = pull(f, ir_in(op, 2 + rank), at, true);
	if (f->fails) return NULL;
	Val *r = make(f, OP_GATHER, flat_type(op->out[0]->type->elem), n, in);
	ir_set_ints(r->def, AT_INSIDE, rank, inside);
	int conditions = 0;
	for (int a = 0; a < rank; a++) conditions += !inside[a];
	return note_gather(f, r, conditions, conditions > (rank && !inside[rank - 1]));
}

static Val *pull_load(Flat *f, const Op *op, const Along *at)
{
	const Val *view = ir_in(op, 0);
	const Type *t = op->out[0]->type;
	int rank = view->type->rank;
	Val *index[TENSOR_RANK];
	int64_t inside[TENSOR_RANK];
	Spot to[TENSOR_RANK];
	bool tile = type_is_tile(t) && t->rank == rank && is_uniform(f, ir_in(op, 1 + rank));
	bool same = tile && is_same_place(f, op, at, to);
	if (same && memory_is_constant(f->fn, view)) return pull_same_place(f, op, to);
	for (int a = 0; a < rank; a++) same = same && to[a].rest == sym_const(0);
	if (same) return pull_same_place(f, op, to);
	f->fails |= !memory_is_constant(f->fn, view) || !is_uniform(f, view) || !is_uniform(f, ir_in(op, 1 + rank));
	f->fails |= ir_int(op, AT_CACHE, 0) || ir_int(op, AT_ORDER, 0) || (type_is_tile(t) && t->rank != rank);
	for (int a = 0; a < rank && !f->fails; a++) {
		const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
		bool in, across;
		index[a] = index_of(f, ir_in(op, 1 + a), steps ? steps->u.ints.p[a] : 1, offsets ? offsets->u.ints.p[a] : 0,
			type_is_tile(t) ? &at[a] : &nowhere, valsym_extent(&f->syms, view, a), &in, &across);
		f->fails |= across && a != rank - 1 && type_is_tile(t) && type_log2_size(t);
		inside[a] = in ? INSIDE_WHOLE : 0;
	}
	return f->fails ? NULL : gather(f, op, index, inside, at);
}

static Val *pull_gather(Flat *f, const Op *op, const Along *at)
{
	const Val *view = ir_in(op, 0);
	int rank = view->type->rank;
	Val *index[TENSOR_RANK];
	int64_t inside[TENSOR_RANK];
	f->fails |= !memory_is_constant(f->fn, view) || !is_uniform(f, view) || !is_uniform(f, ir_in(op, 1 + rank));
	f->fails |= ir_int(op, AT_ORDER, 0) != 0;
	for (int a = 0; a < rank && !f->fails; a++) {
		Val *i = ir_in(op, 1 + a);
		bool in = false, across;
		if (type_is_tile(i->type)) index[a] = pull(f, i, at, true);
		else index[a] = index_of(f, i, 1, 0, &nowhere, valsym_extent(&f->syms, view, a), &in, &across);
		inside[a] = in ? INSIDE_WHOLE : 0;
	}
	return f->fails ? NULL : gather(f, op, index, inside, at);
}

static Val *pull_iota(Flat *f, const Op *op, const Along *at)
{
	const Type *t = op->out[0]->type;
	Val *sum = number(f, flat_type(EL_I32), 0);
	for (int a = t->rank - 1, below = 0; a >= 0; below += t->log2[a--]) {
		Val *p = place_of(f, &at[a]);
		sum = make2(f, OP_ADD, sum, with(f, OP_SHL, p, below));
	}
	return cast(f, sum, t->elem);
}

/* The bits of a place that are an axis of the tile before, of all places together, the last axis first. */
static Along reshaped(Flat *f, const Type *to, const Along *at, int low, int n)
{
	Along r = nowhere;
	Val *sum = NULL;
	for (int a = to->rank - 1, below = 0; a >= 0 && n; below += to->log2[a--]) {
		int end = below + to->log2[a];
		if (end <= low || below >= low + n) continue;
		if (below == low && to->log2[a] == n) return at[a];
		int skip = low > below ? low - below : 0, shift = below > low ? below - low : 0;
		int bits = (end < low + n ? end : low + n) - below - skip;
		Val *p = place_of(f, &at[a]);
		p = with(f, OP_AND, with(f, OP_SHR, p, skip), ((int64_t)1 << bits) - 1);
		p = with(f, OP_SHL, p, shift);
		sum = sum ? make2(f, OP_OR, sum, p) : p;
	}
	r.tile = sum;
	return r;
}

/* Operations that change places alone. */
static Val *pull_moved(Flat *f, const Op *op, const Along *at, bool early)
{
	Val *x = ir_in(op, 0);
	const Type *from = x->type, *to = op->out[0]->type;
	Along in[TILE_RANK];
	int axis = ir_axis(op);
	for (int a = 0; a < TILE_RANK; a++) in[a] = nowhere;
	switch (op->code) {
	case OP_RESHAPE:
		for (int a = from->rank - 1, low = 0; a >= 0; low += from->log2[a--])
			in[a] = reshaped(f, to, at, low, from->log2[a]);
		break;
	case OP_PERMUTE:
		for (int a = 0; a < to->rank; a++) in[ir_attr(op, AT_AXES)->u.ints.p[a]] = at[a];
		break;
	case OP_BROADCAST:
		for (int a = 0; type_is_tile(from) && a < from->rank; a++)
			if (from->log2[a]) in[a] = at[a + to->rank - from->rank];
		break;
	default:        /* OP_FLIP */
		memcpy(in, at, sizeof(Along) * (size_t)to->rank);
		Along *turned = &in[axis];
		int64_t last = type_extent(to, axis) - 1;
		if (turned->tile) turned->tile = make2(f, OP_SUB, number(f, turned->tile->type, last), turned->tile);
		else turned->add = last - turned->add, turned->sign = -turned->sign;
	}
	return pull(f, x, in, early);
}

static Val *pull_elementwise(Flat *f, const Op *op, const Along *at, bool early)
{
	Val *in[8];
	f->fails |= op->nout != 1 || op->nin > 8;
	for (int i = 0; i < op->nin && !f->fails; i++) {
		Val *v = pull(f, ir_in(op, i), at, early);
		in[i] = v && !f->fails ? spread(f, v) : NULL;
	}
	if (f->fails) return NULL;
	const Type *t = flat_type(op->out[0]->type->elem);
	Val *r = early ? make(f, op->code, t, op->nin, in) : make_late(f, op->code, t, op->nin, in);
	copy_attrs(r->def, op);
	return r;
}

static Val *pull_new(Flat *f, Val *v, const Along *at, bool early)
{
	Op *op = v->def;
	Num n;
	Builder b = before_late(f);
	if (ir_const_value(v, &n)) return ir_const_num(&b, flat_type(v->type->elem), n);
	if (is_uniform(f, v) && type_is_scalar(v->type)) return v;
	if (!op) return NULL;
	switch (op->code) {
	case OP_BID: return cast(f, block_at(f, f->along[ir_axis(op)]), v->type->elem);
	case OP_IOTA: return pull_iota(f, op, at);
	case OP_LOAD: return pull_load(f, op, at);
	case OP_GATHER: return pull_gather(f, op, at);
	case OP_RESHAPE: case OP_PERMUTE: case OP_BROADCAST: case OP_FLIP: return pull_moved(f, op, at, early);
	case OP_TO_SCALAR: return pull(f, ir_in(op, 0), NULL, early);
	default: return op_has(op, OPF_ELEMWISE) && op_has(op, OPF_PURE) ? pull_elementwise(f, op, at, early) : NULL;
	}
}

static bool same_along(const Type *t, const Along *x, const Along *y)
{
	for (int a = 0; type_is_tile(t) && a < t->rank; a++)
		if (x[a].axis != y[a].axis || x[a].sign != y[a].sign || x[a].add != y[a].add || x[a].tile != y[a].tile)
			return false;
	return true;
}

/* The elements of v at these places; a scalar that is the same everywhere stays one. at NULL: of its only element. */
static Val *pull(Flat *f, Val *v, const Along *at, bool early)
{
	Along first[TILE_RANK];
	for (int a = 0; a < TILE_RANK; a++) first[a] = nowhere;
	if (!at) at = first;
	for (int i = 0; i < f->pulled.n; i++) {
		const Pulled *p = &f->pulled.p[i];
		if (p->of == v && (p->early || !early) && same_along(v->type, p->at, at)) return p->v;
	}
	Pulled p = { .of = v, .early = early };
	if (type_is_tile(v->type)) memcpy(p.at, at, sizeof(Along) * (size_t)v->type->rank);
	Span outer = f->span;
	if (v->def) f->span = v->def->span;
	f->fails |= ++f->depth > COST_FLAT_DEPTH;
	p.v = f->fails ? NULL : pull_new(f, v, at, early);
	f->depth--;
	f->span = outer;
	f->fails |= !p.v;
	if (p.v && p.v != v && !p.v->name) p.v->name = v->name;
	if (!f->fails) vec_push(A_TMP, &f->pulled, p);
	return p.v;
}

/* ---- the version ---- */
static void store_flat(Flat *f, Op *store, Val *v)
{
	Val *in[3] = { flat_view(f, ir_in(store, 0)), f->block, v };
	Builder b = build_before(f->fn->body->last);
	b.span = store->span;
	Op *flat = ir_op(&b, OP_STORE, 3, in, 0, NULL);
	ir_set_ints(flat, AT_STEPS, 1, (const int64_t[]){ (int64_t)1 << COST_FLAT_ELEMENTS });
	ir_remove(store);
}

static void store_all(Flat *f)
{
	VEC(Op *) stores = { 0 };
	VEC(Val *) values = { 0 };
	Along at[TILE_RANK];
	for (int a = 0; a < TILE_RANK; a++) at[a] = (Along){ a, 1, 0, NULL };
	for (Op *op = f->fn->body->first; op && !f->fails; op = op->next) {
		if (op->code != OP_STORE) continue;
		vec_push(A_TMP, &stores, op);
		Val *v = pull(f, ir_accessed(op), at, false);
		if (v && !f->fails) v = spread(f, v);
		vec_push(A_TMP, &values, v);
	}
	for (int i = 0; i < stores.n && !f->fails; i++) store_flat(f, stores.p[i], values.p[i]);
}

/* Of a tile, what lies inside of the tensor: is that much less than the tile? */
static const Sym *is_narrow(const Flat *f, bool math)
{
	const Sym *used = sym_const(1);
	int64_t tile = 1;
	for (int a = 0; a < f->rank; a++) {
		int64_t n = type_extent(f->tile, a);
		if (n == 1) continue;
		used = sym_mul(used, sym_min(f->extent[a], sym_const(n)));
		tile *= n;
	}
	return sym_cmp(SYM_LE, used, sym_const(tile / (math ? COST_NARROW_MATH : COST_NARROW)));
}

static void find_math(void *ctx, Op *op)
{
	*(bool *)ctx |= op_has(op, OPF_MATH) && op->nout && type_is_tile(op->out[0]->type);
}

Fn *flat_version(const Fn *of, const LowerCx *cx, const Sym **guard)
{
	bool hints = ir_has_hint(of, "warps") || ir_has_hint(of, "cluster") || ir_has_hint(of, "occupancy"), math = false;
	if (cx->o->checked || hints || of->ordered || has_steps(of, cx)) return NULL;
	Fn *fn = copy_kernel((Fn *)of);
	ir_number(fn);
	Flat f = { .fn = fn, .syms = valsyms_new(fn), .differs = NEW_ARRAY(A_TMP, bool, fn->nval) };
	if (!suits(&f) || elem_bytes(f.tile->elem) < COST_FLAT_BYTES) return NULL;
	ir_walk(fn->body, find_math, &math);
	*guard = is_narrow(&f, math);
	f.all = sym_const(1);
	for (int a = 0; a < f.rank; a++) f.all = sym_mul(f.all, f.extent[a]);
	f.span = f.like->span;
	find_places(&f);
	store_all(&f);
	if (f.fails) return NULL;
	fn->ngrid = 1;
	memset(fn->grid, 0, sizeof fn->grid);
	memset(fn->sweep, 0, sizeof fn->sweep);
	memset(fn->joined, 0, sizeof fn->joined);
	fn->grid[0] = sym_cdiv(f.all, sym_const((int64_t)1 << COST_FLAT_ELEMENTS));
	Module one = { .path = NULL };
	vec_push(A_TMP, &one.fns, fn);
	pass_simplify(&one, cx);
	pass_bounds(&one, cx);
	ir_number(fn);
	return fn;
}
