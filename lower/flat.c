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
 * Elements of less than 4 bytes are taken in groups, which a thread stores at once (flat_groups.c).
 *
 * It serves all calls. The launcher takes the author's tiles where they are aligned and much of them is used, since
 * these access several elements at once. */
#include <string.h>

#include "base/diag.h"
#include "ir/fold.h"
#include "lower/flat.h"
#include "lower/steps.h"

static const Along nowhere = { NONE, 0, 0, NULL };

/* ---- values ---- */
static Val *pull(Flat *f, Val *v, const Along *at, bool early);

/* Do neighbours of what is stored lie apart? */
static bool goes_across(Flat *f, const Spot *p, const Along *x)
{
	int last = f->rank - 1, g = f->grid[last];
	return p->sign[last] || x->axis == last || (x->tile && !is_of_row(f, x->tile)) || (g != NONE && p->by[g]);
}

/* An index along an axis of a load or a gather, at * step + offset + x; inside: it is proved to be. */
static Val *index_of(Flat *f, Val *at, int64_t step, int64_t offset, const Along *x, const Sym *extent, bool *inside,
	bool *across)
{
	const Sym *s = sym_add(sym_mul(valsym(&f->syms, at), sym_const(step)), sym_const(offset));
	Spot p;
	*inside = false;
	*across = true;
	if (flat_plan_place(f, s, x, &p)) {
		*across = goes_across(f, &p, x);
		*inside = flat_is_inside(f, &p, extent);
		return flat_add_up(f, &p, x, flat_is_near(f, &p, extent) ? EL_I32 : EL_I64);
	}
	Val *v = pull(f, at, NULL, true);
	if (f->fails) return NULL;
	int last = f->grid[f->rank - 1];
	if (f->group) {
		*across = (last != NONE && f->differs[at->id] >> last & 1) || x->axis == f->rank - 1;
		*across |= x->tile && !is_of_row(f, x->tile);
	}
	if (is_of_group(f, v) && !is_of_row(f, v)) v = flat_whole(f, false, v);
	Val *first = cast(f, flat_spread(f, v), EL_I64);
	first = with(f, OP_MUL, first, step);
	first = with(f, OP_ADD, first, offset);
	return make2(f, OP_ADD, first, cast(f, flat_place_of(f, x), EL_I64));
}

static bool is_uniform(const Flat *f, const Val *v) { return !f->differs[v->id]; }

static Val *flat_view(Flat *f, Val *view)
{
	const Type *i64 = type_scalar(EL_I64);
	Val *zero = flat_number(f, i64, 0), *all = flat_launched(f, f->all, EL_I64), *one = flat_number(f, i64, 1);
	Val *in[4] = { view, zero, all, one };
	return flat_emit(f, false, OP_VIEW, type_view(view->type->elem, 1), 4, in);
}

static Val *note_gather(Flat *f, Val *v, int conditions, bool other_rows)
{
	f->work += 1 + conditions + other_rows;
	f->fails |= f->work > f->most;
	return v;
}

/* Of a tensor that lies in memory as what is stored does: is the place the same but for an offset along each axis? */
static bool is_same_place(Flat *f, const Op *load, const Along *at, Spot *to)
{
	const IrParam *p = flat_dense(f, ir_in(load, 0));
	if (!p || p->rank != f->rank) return false;
	for (int a = 0; a < f->rank; a++) {
		Spot *x = &to[a];
		if (p->extent[a] != f->extent[a]) return false;
		if (!flat_plan_place(f, valsym_access(&f->syms, load, a), &at[a], x)) return false;
		for (int k = 0; k < f->rank; k++)
			if (x->sign[k] != (k == a)) return false;
		if (x->others || !flat_is_near(f, x, p->extent[a])) return false;
	}
	return true;
}

/* Of each element, where groups lie as what is stored does, counted so that accesses see neighbours (elements_plan). */
static Val *neighbours(Flat *f)
{
	const Type *t = flat_type(f, EL_I64);
	uint8_t log2[2] = { 0, (uint8_t)f->group };
	Val *k = flat_emit(f, false, OP_IOTA, type_tile(EL_I64, 2, log2), 0, NULL);
	Val *first = flat_emit(f, false, OP_BROADCAST, t, 1, &flat_twin(f, f->first)->first);
	return flat_emit(f, false, OP_ADD, t, 2, (Val *[]){ first, flat_emit(f, false, OP_BROADCAST, t, 1, &k) });
}

/* The same of groups: elements that lie outside of the tensor's memory are not read. A group's large elements take
 * vector accesses where they are aligned: a single one of a warp touches a sector for each lane. */
static Val *gather_groups(Flat *f, Val *view, Val *offset, Val *pad, Val *mask, Elem e)
{
	Val *in[4] = { view, NULL, pad, NULL };
	bool vectors = offset == f->first && elem_bytes(e) >= COST_FLAT_BYTES;
	in[1] = vectors ? neighbours(f) : flat_whole(f, false, offset);
	if (offset != f->first) f->gathered += elem_bytes(e);
	f->fails |= f->gathered > COST_FLAT_GATHERED;
	if (mask) in[3] = flat_whole(f, false, mask);
	return flat_emit(f, false, OP_GATHER, flat_type(f, e), mask ? 4 : 3, in);
}

/* Then it follows from the element's number alone, and only conditions still need the coordinates. */
static Val *pull_same_place(Flat *f, const Op *load, const Spot *to)
{
	const Sym *offset = sym_const(0), *stride = sym_const(1);
	const Type *t = flat_type(f, load->out[0]->type->elem);
	int conditions = 0;
	bool other_rows = false;
	Val *mask = f->valid, *pad = ir_in(load, load->nin - 1), *view = flat_view(f, ir_in(load, 0)), *r;
	for (int a = f->rank - 1; a >= 0; stride = sym_mul(stride, f->extent[a--])) {
		offset = sym_add(offset, sym_mul(to[a].rest, stride));
		other_rows |= a < f->rank - 1 && to[a].rest != sym_const(0);
		if (flat_is_inside(f, &to[a], f->extent[a])) continue;
		Val *v = cast(f, flat_add_up(f, &to[a], &nowhere, EL_I32), EL_U32);
		Val *end = flat_spread(f, flat_launched(f, f->extent[a], EL_U32));
		v = flat_make(f, OP_LT, flat_type(f, EL_BOOL), 2, (Val *[]){ v, end });
		mask = mask ? make2(f, OP_AND, mask, v) : v;
		conditions++;
	}
	if (f->group) {
		Val *at = f->first;
		if (offset != sym_const(0)) at = make2(f, OP_ADD, flat_launched(f, offset, EL_I64), f->first);
		r = gather_groups(f, view, at, pad, mask, t->elem);
		return offset == sym_const(0) && !conditions ? r : note_gather(f, r, conditions, other_rows);
	}
	/* a row down and the length of a row back is the same address, but lies outside */
	if (offset == sym_const(0) && !conditions) {
		r = flat_emit(f, false, OP_LOAD, t, 3, (Val *[]){ view, f->block, pad });
		ir_set_ints(r->def, AT_STEPS, 1, (const int64_t[]){ (int64_t)1 << COST_FLAT_ELEMENTS });
		return r;
	}
	Val *first = with(f, OP_MUL, cast(f, f->block, EL_I64), (int64_t)1 << COST_FLAT_ELEMENTS);
	first = flat_spread(f, make2(f, OP_ADD, first, flat_launched(f, offset, EL_I64)));
	first = make2(f, OP_ADD, first, flat_make(f, OP_IOTA, first->type, 0, NULL));
	r = flat_emit(f, false, OP_GATHER, t, 4, (Val *[]){ view, first, pad, mask });
	ir_set_ints(r->def, AT_INSIDE, 1, (const int64_t[]){ INSIDE_WHOLE });
	return note_gather(f, r, conditions, other_rows);
}

/* An extent or a stride of a view; NULL: it is not the same in all tile blocks. */
static Val *of_view(Flat *f, const Val *view, int axis, bool stride)
{
	if (view->def && view->def->code == OP_VIEW) {
		Val *v = ir_in(view->def, 2 + (stride ? view->type->rank : 0) + axis);
		return is_uniform(f, v) ? v : NULL;
	}
	const Sym *s = stride ? valsym_stride(&f->syms, view, axis) : valsym_extent(&f->syms, view, axis);
	return s && sym_is_of_call(s) ? flat_launched(f, s, EL_I64) : NULL;
}

/* The place in memory that indices name, and whether they lie inside of the tensor. NULL: tile blocks have views of
 * their own. */
static Val *address(Flat *f, const Val *view, Val **index, const int64_t *inside, Val **mask)
{
	Val *sum = NULL;
	for (int a = 0; a < view->type->rank; a++) {
		Val *extent = of_view(f, view, a, false), *stride = of_view(f, view, a, true);
		Num one;
		if (!extent || !stride) return NULL;
		if (!inside[a]) {
			const Sym *s = valsym_extent(&f->syms, view, a);
			Elem e = index[a]->type->elem == EL_I32 && s && flat_is_small(f, s) ? EL_U32 : EL_U64;
			if (e == EL_U64) index[a] = cast(f, index[a], EL_I64);
			Val *in = flat_make(f, OP_LT, type_scalar(EL_BOOL), 2,
				(Val *[]){ cast(f, index[a], e), cast(f, extent, e) });
			*mask = *mask ? make2(f, OP_AND, *mask, in) : in;
		}
		Val *at = cast(f, index[a], EL_I64);
		if (ir_const_value(stride, &one)) stride = flat_number(f, stride->type, one.i);
		if (stride != flat_number(f, stride->type, 1)) at = make2(f, OP_MUL, at, stride);
		sum = sum ? make2(f, OP_ADD, sum, at) : at;
	}
	return sum;
}

/* Of a condition on rows: elements from the first one of which it holds to the end of the last one. */
static Val *slots_where(Flat *f, Val *mask)
{
	const Type *i32 = type_scalar(EL_I32);
	Val *zero = flat_number(f, i32, 0), *width = flat_launched(f, f->width, EL_I32), *in = flat_twin(f, mask)->first;
	Val *then = flat_twin(f, mask)->second, *lo = zero, *end = zero;
	if (in != then) {
		end = make2(f, OP_MIN, f->rest, width);
		lo = flat_make(f, OP_SELECT, i32, 3, (Val *[]){ in, zero, end });
	}
	Val *hi = flat_make(f, OP_SELECT, i32, 3, (Val *[]){ then, width, end });
	Val *n = cast(f, make2(f, OP_SUB, hi, lo), EL_U32), *at = cast(f, make2(f, OP_SUB, f->in_group, lo), EL_U32);
	return flat_make(f, OP_LT, type_scalar(EL_BOOL), 2, (Val *[]){ at, n });
}

/* What a group needs of each of its rows. */
static Val *gather_rows(Flat *f, Val *view, Val *at, Val *pad, Val *mask, Elem e)
{
	const Type *t = flat_groups_type(f, e);
	if (mask && !is_of_group(f, mask)) mask = flat_emit(f, false, OP_BROADCAST, flat_groups_type(f, EL_BOOL), 1, &mask);
	Val *in[4] = { view, at, pad, mask }, *r = flat_emit(f, false, OP_GATHER, t, mask ? 4 : 3, in), *second = r;
	in[1] = flat_twin(f, at)->second;
	if (mask) in[3] = flat_twin(f, mask)->second;
	if (in[1] != at || in[3] != mask) second = flat_emit(f, false, OP_GATHER, t, mask ? 4 : 3, in);
	ir_set_ints(second->def, AT_INSIDE, 1, (const int64_t[]){ INSIDE_WHOLE });
	vec_push(A_TMP, &f->twins, ((Twin){ .first = r, .second = second }));
	return r;
}

static Val *gather_addressed(Flat *f, const Op *op, Val **index, const int64_t *inside, const Along *at)
{
	Val *view = ir_in(op, 0), *mask = NULL, *pad = ir_in(op, 1 + view->type->rank);
	Elem e = op->out[0]->type->elem;
	bool masked = op->nin > 2 + view->type->rank;
	int conditions = masked;
	for (int a = 0; a < view->type->rank; a++) conditions += !inside[a];
	if (masked) mask = pull(f, ir_in(op, 2 + view->type->rank), at, true);
	Val *sum = f->fails ? NULL : address(f, view, index, inside, &mask), *r;
	f->fails |= !sum || type_is_scalar(sum->type);
	if (f->fails) return NULL;
	Builder b = flat_early(f);
	Val *one = flat_number(f, type_scalar(EL_I64), 1), *zero = flat_number(f, type_scalar(EL_I64), 0);
	Val *all = ir_const_int(&b, type_scalar(EL_I64), INT64_MAX);
	view = flat_emit(f, false, OP_VIEW, type_view(view->type->elem, 1), 4, (Val *[]){ view, zero, all, one });
	if (is_of_group(f, sum) && !flat_twin(f, sum)->step && !(mask && is_full(f, mask))) {
		r = gather_rows(f, view, sum, pad, mask, e);
	} else {
		/* Neighbours that lie anywhere, or that are read for several elements each, tiles serve better, unless these
		 * make random numbers one by one. */
		bool repeated = type_log2_size(op->out[0]->type) < type_log2_size(f->tile);
		f->fails |= is_full(f, sum) || (repeated && !f->draws);
		if (mask && is_of_group(f, mask)) mask = slots_where(f, mask);
		else mask = mask ? make2(f, OP_AND, f->slot, mask) : f->slot;
		r = gather_groups(f, view, sum, pad, mask, e);
	}
	ir_set_ints(r->def, AT_INSIDE, 1, (const int64_t[]){ INSIDE_WHOLE });
	return note_gather(f, r, conditions, conditions > 1);
}

static Val *gather(Flat *f, const Op *op, Val **index, const int64_t *inside, const Along *at)
{
	if (f->group) return gather_addressed(f, op, index, inside, at);
	int rank = ir_in(op, 0)->type->rank, n = 1 + rank;
	Val *in[3 + TENSOR_RANK] = { ir_in(op, 0) };
	for (int a = 0; a < rank; a++) in[1 + a] = index[a];
	in[n++] = ir_in(op, 1 + rank);
	if (op->nin > 2 + rank) in[n++] = pull(f, ir_in(op, 2 + rank), at, true);
	if (f->fails) return NULL;
	Val *r = flat_emit(f, false, OP_GATHER, flat_type(f, op->out[0]->type->elem), n, in);
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
		Sum sum;
		if (type_is_tile(i->type)) {
			index[a] = pull(f, i, at, true);
			in = flat_sum(f, i, at, &sum) && flat_sum_is_inside(f, &sum, valsym_extent(&f->syms, view, a));
		} else index[a] = index_of(f, i, 1, 0, &nowhere, valsym_extent(&f->syms, view, a), &in, &across);
		inside[a] = in ? INSIDE_WHOLE : 0;
	}
	return f->fails ? NULL : gather(f, op, index, inside, at);
}

static Val *pull_iota(Flat *f, const Op *op, const Along *at)
{
	const Type *t = op->out[0]->type;
	Val *sum = constant(f, EL_I32, 0);
	for (int a = t->rank - 1, below = 0; a >= 0; below += t->log2[a--]) {
		Val *p = flat_place_of(f, &at[a]);
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
		Val *p = flat_place_of(f, &at[a]);
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
		if (turned->tile) turned->tile = make2(f, OP_SUB, flat_number(f, turned->tile->type, last), turned->tile);
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
		in[i] = v && !f->fails ? flat_spread(f, v) : NULL;
	}
	if (f->fails) return NULL;
	const Type *t = flat_type(f, op->out[0]->type->elem);
	if (f->group) return flat_apply(f, !early, op->code, t, op->nin, in, op);
	Val *r = flat_emit(f, !early, op->code, t, op->nin, in);
	copy_attrs(r->def, op);
	return r;
}

/* Numbers have one key; neighbours of which the offsets are counted share what makes them. */
static Val *pull_random(Flat *f, const Op *op, const Along *at, bool early)
{
	f->fails |= !is_uniform(f, ir_in(op, 0));
	Val *in[2] = { ir_in(op, 0), f->fails ? NULL : pull(f, ir_in(op, 1), at, early) };
	if (f->fails) return NULL;
	in[1] = f->group ? flat_whole(f, !early, in[1]) : flat_spread(f, in[1]);
	return flat_emit(f, !early, op->code, flat_type(f, op->out[0]->type->elem), 2, in);
}

static Val *pull_new(Flat *f, Val *v, const Along *at, bool early)
{
	Op *op = v->def;
	Num n;
	Sum sum;
	Builder b = flat_early(f);
	if (ir_const_value(v, &n)) return ir_const_num(&b, flat_type(f, v->type->elem), n);
	if (is_uniform(f, v) && type_is_scalar(v->type)) return v;
	if (!op) return NULL;
	if (flat_sum(f, v, at, &sum)) {
		f->counts |= f->draws && sum.numbers;
		return flat_sum_up(f, &sum, v->type->elem);
	}
	if (op_has(op, OPF_RANDOM)) return pull_random(f, op, at, early);
	switch (op->code) {
	case OP_BID: return cast(f, flat_block_at(f, f->along[ir_axis(op)]), v->type->elem);
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
	f->fails |= ++f->depth > COST_FORMULA_DEPTH;
	p.v = f->fails ? NULL : pull_new(f, v, at, early);
	f->depth--;
	f->span = outer;
	f->fails |= !p.v;
	if (p.v && p.v != v && !p.v->name) p.v->name = v->name;
	if (!f->fails) vec_push(A_TMP, &f->pulled, p);
	return p.v;
}

/* ---- the version ---- */
static void store_flat(const Flat *f, Builder *b, Val *view, Val *v)
{
	const Type *t = v->type;
	Val *in[3] = { view, f->block, v };
	uint8_t log2 = COST_FLAT_ELEMENTS;
	if (t->rank > 1) in[2] = ir_op1(b, OP_RESHAPE, type_tile(t->elem, 1, &log2), 1, &v);
	Op *flat = ir_op(b, OP_STORE, 3, in, 0, NULL);
	ir_set_ints(flat, AT_STEPS, 1, (const int64_t[]){ (int64_t)1 << COST_FLAT_ELEMENTS });
}

/* Of each element that there is; others are at -1. */
static Val *place_of_slot(Flat *f, Builder *b)
{
	const Type *t = flat_type(f, EL_I64);
	Val *first = ir_op1(b, OP_BROADCAST, t, 1, &flat_twin(f, f->first)->first), *none = ir_const_int(b, t, -1);
	Val *place = ir_binary(b, OP_ADD, t, first, ir_op1(b, OP_CAST, t, 1, &f->in_group));
	return ir_op1(b, OP_SELECT, t, 3, (Val *[]){ f->slot, place, none });
}

/* Where rows are shorter than a group, element by element. */
static void store_groups(Flat *f, int n, Op **store, Val **view, Val **v)
{
	Val *group = flat_number(f, type_scalar(EL_I32), (int64_t)1 << f->group);
	Val *width = flat_launched(f, f->width, EL_I32);
	Val *fills = flat_make(f, OP_EQ, type_scalar(EL_BOOL), 2, (Val *[]){ width, group });
	Builder b = build_before(f->fn->body->last);
	Op *choice = ir_op(&b, OP_IF, 1, &fills, 0, NULL);
	for (int way = 0; way < 2; way++) {
		Builder in = { b.fn, ir_region(choice), NULL, b.span };
		Val *place = way ? place_of_slot(f, &in) : NULL;
		for (int i = 0; i < n; i++) {
			in.span = store[i]->span;
			if (way) ir_op(&in, OP_SCATTER, 3, (Val *[]){ view[i], place, v[i] }, 0, NULL);
			else store_flat(f, &in, view[i], v[i]);
		}
		ir_op(&in, OP_YIELD, 0, NULL, 0, NULL);
	}
}

static void store_all(Flat *f)
{
	VEC(Op *) stores = { 0 };
	VEC(Val *) values = { 0 };
	VEC(Val *) views = { 0 };
	Along at[TILE_RANK];
	for (int a = 0; a < TILE_RANK; a++) at[a] = (Along){ a, 1, 0, NULL };
	for (Op *op = f->fn->body->first; op && !f->fails; op = op->next) {
		if (op->code != OP_STORE) continue;
		vec_push(A_TMP, &stores, op);
		Val *v = pull(f, ir_accessed(op), at, false);
		if (v && !f->fails) v = f->group ? flat_whole(f, true, v) : flat_spread(f, v);
		vec_push(A_TMP, &values, v);
	}
	if (f->fails) return;
	for (int i = 0; i < stores.n; i++) {
		f->span = stores.p[i]->span;
		Val *view = flat_view(f, ir_in(stores.p[i], 0));
		vec_push(A_TMP, &views, view);
	}
	if (f->group) store_groups(f, stores.n, stores.p, views.p, values.p);
	for (int i = 0; i < stores.n; i++) {
		Builder b = build_before(f->fn->body->last);
		b.span = stores.p[i]->span;
		if (!f->group) store_flat(f, &b, views.p[i], values.p[i]);
		ir_remove(stores.p[i]);
	}
}

/* Do some tiles reach beyond the tensor? They test what they access at its border, and compute functions of their pads,
 * where every element here has functions of its own and nothing else. */
static const Sym *has_pads(const Flat *f)
{
	const Sym *used = sym_const(1), *tiles = used;
	for (int a = 0; a < f->rank; a++) {
		const Sym *n = sym_const(type_extent(f->tile, a));
		if (n == sym_const(1)) continue;
		used = sym_mul(used, f->extent[a]);
		tiles = sym_mul(tiles, sym_mul(sym_cdiv(f->extent[a], n), n));
	}
	return sym_cmp(SYM_LT, used, tiles);
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
	return sym_cmp(SYM_LE, used, sym_const(math ? tile / COST_NARROW_MATH : tile * COST_NARROW / 100));
}

/* Functions of tiles, and those that a tile computes once for several elements, which are computed for each here. */
typedef struct Functions { int tile; bool any, shared; } Functions;

static void find_functions(void *ctx, Op *op)
{
	Functions *s = ctx;
	if (!op_has(op, OPF_MATH | OPF_RANDOM) || !op->nout) return;
	bool tile = type_is_tile(op->out[0]->type);
	s->any |= tile;
	s->shared |= !tile || type_log2_size(op->out[0]->type) < s->tile;
}

/* The calls that the version serves though tiles are aligned. */
static const Sym *guard_of(Flat *f, bool short_rows, bool overlaps)
{
	Functions s = { .tile = type_log2_size(f->tile) };
	ir_walk(f->fn->body, find_functions, &s);
	bool alone = s.any && !s.shared && !f->group && !f->draws && !overlaps;
	return alone && !short_rows ? has_pads(f) : is_narrow(f, s.any || short_rows);
}

/* Groups of elements of less than 4 bytes lie along the last axis of more than one. */
static bool choose_group(Flat *f)
{
	int64_t n;
	f->run = f->rank - 1;
	while (f->run > 0 && sym_is_const(f->extent[f->run], &n) && n == 1) f->run--;
	f->width = sym_min(sym_max(f->extent[f->run], sym_const(1)), sym_const((int64_t)1 << COST_FLAT_GROUP));
	if (elem_bytes(f->tile->elem) < COST_FLAT_BYTES) f->group = COST_FLAT_GROUP;
	return !f->group || f->run > 0;
}

/* Kernels with loops and branches are none, so they need no copy to see it. */
static bool has_regions(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->nregion) return true;
	return false;
}

Fn *flat_version(const Fn *of, const LowerCx *cx, bool short_rows, const Sym **guard, bool *by_vectors)
{
	bool hints = ir_hints_threads(of), overlaps;
	if (cx->o->checked || hints || of->ordered || has_regions(of) || has_steps(of, cx)) return NULL;
	Fn *fn = copy_kernel((Fn *)of);
	ir_number(fn);
	Flat f = { .fn = fn, .syms = valsyms_new(fn), .differs = NEW_ARRAY(A_TMP, uint8_t, fn->nval),
		.most = short_rows ? COST_FLAT_SHORT : COST_FLAT_WORK };
	flat_learn_extents(&f);
	if (!flat_suits(&f) || !choose_group(&f)) return NULL;
	overlaps = overlaps_any(fn);
	if (short_rows && overlaps) return NULL;       /* what a thread of a tile reads once for several elements */
	*guard = guard_of(&f, short_rows, overlaps);
	f.all = sym_const(1);
	for (int a = 0; a < f.rank; a++) f.all = sym_mul(f.all, f.extent[a]);
	f.span = f.like->span;
	flat_find_places(&f);
	store_all(&f);
	if (f.fails) return NULL;
	*by_vectors = f.group || f.counts;
	const Sym *tile = sym_const((int64_t)1 << (COST_FLAT_ELEMENTS - f.group));
	kernel_regrid(fn, sym_cdiv(f.all, f.group ? sym_mul(tile, f.width) : tile));
	kernel_again(fn, cx);
	return fn;
}
