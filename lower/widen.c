/* widen: a kernel whose tile blocks do the work of 2^n that lie side by side along an axis of the grid.
 *
 * A tile that differs between neighbours becomes one of 2^n times the extent along one of its axes, in which the
 * neighbours' tiles lie one after the other. What axis that is follows from where the tile is loaded: the first
 * element along one axis of the access, and along no other, grows by the tile's extent from one block to the next.
 * From there it follows through the operations: elementwise ones keep it, a permutation moves it. An operation along
 * the axis itself, as a reduction, works on each neighbour's part: between two reshapes the axis is split in two, that
 * of the neighbours first. What is the same for all neighbours is made once and broadcast where it meets what differs.
 *
 * Rows that are looked up (`x.load_at([order[bid(0)], 0], [1, N])`) do not lie side by side, but an index of the tile
 * for each of them gathers them, if the caller likes.
 *
 * The last of the new blocks may stand for neighbours that the grid did not have. Whatever they compute, no element of
 * theirs may be stored: it is proved that a tile after the grid's end lies outside of the view that it would be
 * stored to.
 *
 * Kernels in which blocks could see that they are fewer stay as they are: with atomics, prints, checks, loops and
 * branches that depend on the block's index. */
#include "lower/widen_write.h"

#include "base/diag.h"
#include "ir/rules.h"
#include "ir/valsym.h"
#include "lower/placed.h"

/* ---- what differs, and along which axis ---- */
static int along(const Widen *w, const Val *v) { return widen_along(w, v); }

/* What has no axis of its own takes one. */
static void mark(Widen *w, const Val *v, int a)
{
	int was = along(w, v);
	bool tile = type_is_tile(v->type);
	if (a == WIDEN_SAME || was == a || (tile && was != WIDEN_SAME && a == WIDEN_DIFFERS)) return;
	if ((was != WIDEN_SAME && was != WIDEN_DIFFERS) || (tile ? a == WIDEN_DIFFERS && !w->places : a != WIDEN_DIFFERS)) {
		w->fails = true;
		return;
	}
	w->along[v->id] = (int8_t)a;
	w->changed = true;
}

static bool any_differs(const Widen *w, const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (along(w, ir_in(op, i)) != WIDEN_SAME) return true;
	return false;
}

int widen_access(const Widen *w, const Op *op)
{
	for (int a = 0; a < ir_in(op, 0)->type->rank; a++)
		if (along(w, ir_in(op, 1 + a)) != WIDEN_SAME) return a;
	return -1;
}

/* The scalar depends on what lies in memory at an index that differs. */
static void look_up(Widen *w, const Val *v)
{
	w->changed |= !w->looked_up[v->id];
	w->looked_up[v->id] = true;
}

static bool any_looked_up(const Widen *w, const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (w->looked_up[ir_in(op, i)->id]) return true;
	return false;
}

/* The axis along which a load or a store looks its one row up; -1: none. */
static int looked_up_axis(const Widen *w, const Op *op)
{
	int a = op->code == OP_LOAD || op->code == OP_STORE ? widen_access(w, op) : -1;
	if (a < 0 || !w->looked_up[ir_in(op, 1 + a)->id]) return -1;
	const Type *t = ir_accessed(op)->type;
	return type_is_tile(t) && t->rank == ir_in(op, 0)->type->rank ? a : -1;
}

static void follow_gather(Widen *w, Op *op)
{
	int rank = ir_in(op, 0)->type->rank;
	bool mask = op->nin > rank + 2;
	w->fails |= !w->places || ir_int(op, AT_ORDER, 0) || (mask && type_is_scalar(op->out[0]->type));
	w->fails |= along(w, ir_in(op, 0)) != WIDEN_SAME || along(w, ir_in(op, 1 + rank)) != WIDEN_SAME;
	if (w->fails) return;
	if (type_is_tile(op->out[0]->type)) {
		for (int i = 1; i < op->nin && !w->fails; i++) mark(w, op->out[0], along(w, ir_in(op, i)));
		return;
	}
	mark(w, op->out[0], WIDEN_DIFFERS);
	look_up(w, op->out[0]);
}

static void follow_access(Widen *w, Op *op)
{
	const Type *t = ir_accessed(op)->type;
	int rank = ir_in(op, 0)->type->rank, n = 0, at = widen_access(w, op);
	bool store = op->code == OP_STORE;
	for (int a = 0; a < rank; a++) n += along(w, ir_in(op, 1 + a)) != WIDEN_SAME;
	w->fails |= along(w, ir_in(op, 0)) != WIDEN_SAME || n > 1 || (store && n == 0);
	w->fails |= n && (!type_is_tile(t) || t->rank != rank);
	if (w->fails || !n) {
		w->fails |= along(w, ir_in(op, op->nin - 1)) != WIDEN_SAME;     /* the pad */
		return;
	}
	const Val *last = ir_in(op, op->nin - 1);
	if (store) w->fails |= along(w, last) != WIDEN_SAME && along(w, last) != WIDEN_DIFFERS && along(w, last) != at;
	else w->fails |= along(w, last) != WIDEN_SAME;
	bool hinted = ir_attr(op, AT_CACHE) || ir_attr(op, AT_ORDER);   /* which gathers do not take */
	w->fails |= w->looked_up[ir_in(op, 1 + at)->id] && (t->log2[at] || hinted);
	if (!store) mark(w, op->out[0], at);
}

int widen_reshaped_axis(const Type *from, const Type *to, int a)
{
	int before = 0, sum = 0;
	for (int i = 0; i < a; i++) before += from->log2[i];
	for (int i = 0; i < to->rank; i++) {
		if (sum == before && to->log2[i] == from->log2[a]) return i;
		sum += to->log2[i];
	}
	return -1;
}

static void follow_shape(Widen *w, Op *op)
{
	const Val *x = ir_in(op, 0);
	int a = along(w, x), to = -1;
	if (a == WIDEN_SAME) return;
	if (a == WIDEN_DIFFERS && w->places) to = a;
	if (a != WIDEN_DIFFERS && op->code == OP_RESHAPE) to = widen_reshaped_axis(x->type, op->out[0]->type, a);
	if (a != WIDEN_DIFFERS && op->code == OP_BROADCAST) to = a + op->out[0]->type->rank - x->type->rank;
	for (int i = 0; a != WIDEN_DIFFERS && op->code == OP_PERMUTE && i < op->out[0]->type->rank; i++)
		if (ir_attr(op, AT_AXES)->u.ints.p[i] == a) to = i;
	if (to < 0) w->fails = true;
	else mark(w, op->out[0], to);
}

/* Tiles joined along a new last axis, or parted along the last. */
static void follow_pairs(Widen *w, Op *op)
{
	int a = along(w, ir_in(op, 0));
	for (int i = 1; i < op->nin; i++) w->fails |= along(w, ir_in(op, i)) != a;
	w->fails |= a == WIDEN_DIFFERS || (op->code == OP_SPLIT && a == ir_in(op, 0)->type->rank - 1);
	for (int i = 0; i < op->nout && !w->fails; i++) mark(w, op->out[i], a);
}

/* A product has the rows of its first factor and the columns of its second. */
static void follow_product(Widen *w, Op *op)
{
	int rows = along(w, ir_in(op, 0)), cols = along(w, ir_in(op, 1)), sum = along(w, ir_in(op, 2));
	int at = rows == WIDEN_SAME ? cols : rows;
	if (op->out[0]->type->rank == 3) {      /* batches, of which one matrix may serve all */
		for (int i = 0; i < 3; i++) {
			int a = along(w, ir_in(op, i));
			w->fails |= a != 0 && (a != WIDEN_SAME || (i < 2 && ir_in(op, i)->type->log2[0]));
		}
		if (!w->fails) mark(w, op->out[0], 0);
		return;
	}
	w->fails |= op->out[0]->type->rank != 2 || (rows != WIDEN_SAME && rows != 0) || (cols != WIDEN_SAME && cols != 1);
	w->fails |= (rows != WIDEN_SAME && cols != WIDEN_SAME) || (sum != WIDEN_SAME && sum != at);
	if (!w->fails) mark(w, op->out[0], at);
}

static void follow_loop(Widen *w, Op *op)
{
	for (int i = 0; i < 3; i++) w->fails |= along(w, ir_in(op, i)) != WIDEN_SAME;
	for (int i = 3; i < op->nin; i++) {
		const Val *arg = op->region[0]->args.p[i - 2];
		mark(w, arg, along(w, ir_in(op, i)));
		mark(w, op->out[i - 3], along(w, arg));
	}
}

static void follow_yield(Widen *w, const Op *op)
{
	const Op *loop = op->parent->owner;
	w->changed = false;
	for (int i = 0; loop && loop->code == OP_FOR && i < op->nin; i++)
		mark(w, loop->region[0]->args.p[i + 1], along(w, ir_in(op, i)));
	w->again |= w->changed;
}

static void follow_same_shape(Widen *w, Op *op)
{
	bool tile = type_is_tile(op->out[0]->type);
	for (int i = 0; i < op->nin; i++) {
		int a = along(w, ir_in(op, i));
		w->fails |= tile && a == WIDEN_DIFFERS && (!w->places || type_is_scalar(ir_in(op, i)->type));
		if (!w->fails) mark(w, op->out[0], a);
	}
}

static bool is_sum(const Op *op)        /* that valsym follows */
{
	return op->code == OP_CAST || op->code == OP_ADD || op->code == OP_SUB || op->code == OP_MUL;
}

static void follow(void *ctx, Op *op)
{
	Widen *w = ctx;
	if (w->fails) return;
	for (int i = 0; i < op->nout; i++)
		w->fails |= type_is_tile(op->out[i]->type) && op->out[i]->type->rank == TILE_RANK;
	if (op_has(op, OPF_ATOMIC)) w->fails = true;
	if (w->fails) return;
	switch (op->code) {
	case OP_BID:
		if (ir_axis(op) == w->axis) mark(w, op->out[0], WIDEN_DIFFERS);
		return;
	case OP_LOAD: case OP_STORE: follow_access(w, op); return;
	case OP_RESHAPE: case OP_BROADCAST: case OP_PERMUTE: follow_shape(w, op); return;
	case OP_JOIN: case OP_SPLIT: follow_pairs(w, op); return;
	case OP_FOR: follow_loop(w, op); return;
	case OP_MMA: follow_product(w, op); return;
	case OP_YIELD: follow_yield(w, op); return;
	case OP_ASSUME: case OP_RETURN: return;         /* what is promised holds for the first of the neighbours too */
	case OP_WHILE: case OP_IF: case OP_SCOPE_: case OP_BREAK: case OP_CONTINUE: w->fails = true; return;
	default: break;
	}
	if (op_has(op, OPF_WRITE)) w->fails = true;
	if (w->fails || !any_differs(w, op)) return;
	if (op->code == OP_GATHER) {
		follow_gather(w, op);
		return;
	}
	bool one = op->nout == 1 && !op->nregion, mapped = op_has(op, OPF_ELEMWISE) && op->code != OP_HINT;
	if (one && type_is_scalar(op->out[0]->type)) {
		w->fails |= !is_sum(op) && !(w->places && mapped);
		mark(w, op->out[0], WIDEN_DIFFERS);
		if (any_looked_up(w, op)) look_up(w, op->out[0]);
	} else if (one && mapped) {
		follow_same_shape(w, op);
	} else if (one && along(w, ir_in(op, 0)) == WIDEN_DIFFERS) {
		w->fails = true;
	} else if (one && (op_is_scan(op) || op->code == OP_SHIFT)) {
		follow_same_shape(w, op);
	} else if (one && op_is_reduce(op)) {
		mark(w, op->out[0], along(w, ir_in(op, 0)));
	} else {
		w->fails = true;
	}
}

/* ---- where accesses are ---- */
typedef struct Differing { const Widen *w; bool found; } Differing;

static void find_differing(void *ctx, const Sym *atom)
{
	Differing *d = ctx;
	const Widen *w = d->w;
	if (atom->atom == ATOM_BID) d->found |= atom->index == w->axis;
	if (atom->atom == ATOM_VAL) d->found |= atom->index >= w->fn->nval || w->along[atom->index] != WIDEN_SAME;
}

/* Do neighbours' tiles lie one after the other, and those after the grid's end outside of what they are stored to? */
static void check_access(ValSyms *b, Op *op)
{
	Widen *w = b->ctx;
	int a = widen_access(w, op);
	if (a < 0 || w->fails) return;
	if (looked_up_axis(w, op) >= 0) {
		w->fails |= !widen_lifts(w, ir_in(op, 1 + a));
		return;
	}
	const Sym *step = sym_const(type_extent(ir_accessed(op)->type, a));
	const Sym *bid = sym_atom(ATOM_BID, NULL, w->axis), *at = valsym_access(b, op, a);
	const Sym *rest = sym_sub(at, sym_mul(bid, step)), *ext = valsym_extent(b, ir_in(op, 0), a);
	Differing d = { w, rest->size > SYM_SIZE_MAX };
	if (!d.found) sym_atoms(rest, find_differing, &d);
	w->fails |= d.found;
	if (w->fails || op->code != OP_STORE) return;
	step = sym_const(type_extent(ir_accessed(op)->type, a) >> w->parts);
	w->fails |= !ext || !facts_le(b->facts, ext, sym_add(sym_mul(w->end, step), rest));
}

static void init_same(void *ctx, Op *op)
{
	Widen *w = ctx;
	for (int i = 0; i < op->nout; i++) w->along[op->out[i]->id] = WIDEN_SAME;
	for (int r = 0; r < op->nregion; r++)
		for (int i = 0; i < op->region[r]->args.n; i++) w->along[op->region[r]->args.p[i]->id] = WIDEN_SAME;
}

/* ---- where values meet ---- */
static int own_axis(const Widen *w, const Val *v)
{
	return along(w, v) == WIDEN_DIFFERS ? WIDEN_SAME : along(w, v);
}

/* The axis along which operand i, which has none of its own, meets what differs; -1: it does not. */
static int meets_along(const Widen *w, const Op *op, int i)
{
	const Op *loop = op->code == OP_FOR ? op : op->code == OP_YIELD ? op->parent->owner : NULL;
	int skip = op->code == OP_FOR ? 3 : 0;
	const Val *v = ir_in(op, i);
	bool index = op->code == OP_GATHER && type_is_tile(op->out[0]->type);
	if (!type_is_tile(v->type) && !(index && along(w, v) == WIDEN_DIFFERS)) return -1;
	if (own_axis(w, v) >= 0 || i < skip) return -1;
	if (loop && loop->code == OP_FOR) return own_axis(w, loop->region[0]->args.p[i - skip + 1]);
	if (op->code == OP_STORE) return i == op->nin - 1 ? widen_access(w, op) : -1;
	if (op->code == OP_MMA) return i == 2 ? own_axis(w, op->out[0]) : -1;
	return (index || op_has(op, OPF_ELEMWISE)) && op->nout ? own_axis(w, op->out[0]) : -1;
}

static void check_meeting(void *ctx, Op *op)
{
	Widen *w = ctx;
	for (int i = 0; i < op->nin; i++)
		if (along(w, ir_in(op, i)) == WIDEN_DIFFERS && meets_along(w, op, i) >= 0)
			w->fails |= !widen_lifts(w, ir_in(op, i));
}

static bool plan(Widen *w, Fn *fn, int axis, bool places)
{
	ir_number(fn);
	*w = (Widen){ .fn = fn, .axis = axis, .along = NEW_ARRAY(A_TMP, int8_t, fn->nval),
		.looked_up = NEW_ARRAY(A_TMP, bool, fn->nval), .lifts = NEW_ARRAY(A_TMP, int8_t, fn->nval),
		.places = places, .end = fn->grid[axis] };
	for (int i = 0; i < fn->body->args.n; i++) w->along[fn->body->args.p[i]->id] = WIDEN_SAME;
	ir_walk(fn->body, init_same, w);
	do {
		w->again = false;
		ir_walk(fn->body, follow, w);
	} while (w->again && !w->fails);
	if (!w->fails) ir_walk(fn->body, check_meeting, w);
	if (w->fails) return false;
	valsyms_accesses(fn, check_access, w);
	return !w->fails;
}

bool widen_plan(Widen *w, Fn *fn, int axis) { return plan(w, fn, axis, false); }
bool widen_plan_places(Widen *w, Fn *fn, int axis) { return plan(w, fn, axis, true); }

/* ---- the kernel for more of them ---- */
static int axis_of(const Wide *x, const Val *v) { return v->id < x->nval ? own_axis(x->w, v) : WIDEN_SAME; }

static void note_op(void *ctx, Op *op)
{
	Wide *x = ctx;
	const Val *in = op->nin ? ir_in(op, 0) : NULL, *out = op->nout ? op->out[0] : NULL;
	Was was = { op, in ? in->type : NULL, out ? out->type : NULL, in ? axis_of(x, in) : -1,
		out ? axis_of(x, out) : -1 };
	vec_push(A_TMP, &x->ops, was);
}

const Type *widen_type(const Wide *x, const Type *t, int axis)
{
	uint8_t log2[TILE_RANK];
	for (int i = 0; i < t->rank; i++) log2[i] = (uint8_t)(t->log2[i] + (i == axis ? x->log2 : 0));
	return type_with_shape(t, t->rank, log2);
}

/* t with an axis of 2^n elements before an axis. */
static const Type *split_type(const Type *t, int axis, int n)
{
	uint8_t log2[TILE_RANK];
	for (int i = 0; i <= t->rank; i++) log2[i] = (uint8_t)(i < axis ? t->log2[i] : i == axis ? n : t->log2[i - 1]);
	return type_with_shape(t, t->rank + 1, log2);
}

static void widen_value(const Wide *x, Val *v)
{
	if (axis_of(x, v) >= 0) v->type = widen_type(x, v->type, axis_of(x, v));
}

static void widen_values(const Wide *x, const Op *op)
{
	for (int i = 0; i < op->nout; i++) widen_value(x, op->out[i]);
	for (int r = 0; r < op->nregion; r++)
		for (int i = 0; i < op->region[r]->args.n; i++) widen_value(x, op->region[r]->args.p[i]);
}

/* Are all elements of v along an axis copies of one? */
static bool is_spread(const Val *v, int axis)
{
	if (!v->def || v->def->code != OP_BROADCAST) return false;
	const Type *from = ir_in(v->def, 0)->type;
	int at = axis - (v->type->rank - from->rank);
	return !type_is_tile(from) || at < 0 || !from->log2[at];
}

/* v, which is the same for all, in as many copies side by side. */
static Val *copies(const Wide *x, Builder *b, Val *v, int axis)
{
	const Type *t = v->type, *wide = widen_type(x, t, axis);
	Num n;
	if (ir_const_value(v, &n)) return ir_const_num(b, wide, n);
	if (is_spread(v, axis)) return ir_unary(b, OP_BROADCAST, wide, ir_in(v->def, 0));
	if (!t->log2[axis]) return ir_unary(b, OP_BROADCAST, wide, v);
	Val *one = ir_unary(b, OP_RESHAPE, split_type(t, axis, 0), v);
	Val *more = ir_unary(b, OP_BROADCAST, split_type(t, axis, x->log2), one);
	return ir_unary(b, OP_RESHAPE, wide, more);
}

static void copy_operands(Wide *x, const Was *was)
{
	Op *op = was->op;
	for (int i = 0; i < op->nin; i++) {
		Val *v = ir_in(op, i);
		int axis = v->id < x->nval ? meets_along(x->w, op, i) : -1;
		Builder b = build_before(op);
		if (axis < 0) continue;
		const Type *t = type_is_tile(v->type) ? v->type : was->out;
		bool own = along(x->w, v) == WIDEN_DIFFERS;
		Num n;
		bool made = ir_const_value(v, &n) || is_spread(v, axis);        /* of any size */
		if (x->log2 < 0 && !made) op->in[i] = widen_part(x, v, axis);
		else op->in[i] = x->log2 > 0 && own ? widen_joined(x, &b, v, t, axis) : copies(x, &b, v, axis);
	}
}

/* Does the operation work along the neighbours' axis, so that it is done to each one's part? */
static bool works_along(const Was *was)
{
	const Op *op = was->op;
	if (was->from < 0 || was->to < 0) return false;
	if (op->code == OP_BROADCAST) return was->in->log2[was->from] != was->out->log2[was->to];
	return (op_is_reduce(op) || op_is_scan(op) || op->code == OP_SHIFT) && ir_axis(op) == was->from;
}

static void split(const Wide *x, const Was *was)
{
	Op *op = was->op;
	Builder b = build_before(op);
	Val **in = NEW_ARRAY(A_TMP, Val *, op->nin);
	const Type *out = split_type(was->out, was->to, x->log2);
	for (int i = 1; i < op->nin; i++) in[i] = ir_in(op, i);
	in[0] = ir_unary(&b, OP_RESHAPE, split_type(was->in, was->from, x->log2), ir_in(op, 0));
	Op *parts = ir_op(&b, op->code, op->nin, in, 1, &out);
	copy_attrs(parts, op);
	if (op->code != OP_BROADCAST) ir_set_int(parts, AT_AXIS, was->from + 1);
	Val *whole = ir_unary(&b, OP_RESHAPE, op->out[0]->type, parts->out[0]);
	whole->name = op->out[0]->name;
	ir_replace(op->out[0], whole);
	ir_remove(op);
}

/* ---- rows that are looked up ---- */
/* Tiles of integers along one axis of a tile, and copies of them as large as it. */
typedef struct Line { Wide *x; const Type *shape; int axis; } Line;

static const Type *line_type(const Line *l, Elem e)
{
	uint8_t log2[TILE_RANK] = { 0 };
	log2[l->axis] = (uint8_t)l->x->log2;
	return type_with_shape(type_with_elem(l->shape, e), l->shape->rank, log2);
}

/* A scalar for each of the neighbours. */
static Val *each(const Line *l, Builder *b, Val *v)
{
	return ir_unary(b, OP_RESHAPE, line_type(l, v->type->elem), widen_lifted(l->x, b, v));
}

static Val *to_i64(Builder *b, Val *v)
{
	return v->type->elem == EL_I64 ? v : ir_unary(b, OP_CAST, type_with_elem(v->type, EL_I64), v);
}

/* The elements of an access along an axis, as many as the tile has, each by its number. */
static Val *numbers(Line *l, Builder *b, const Op *op, int axis)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	int64_t step = steps ? steps->u.ints.p[axis] : 1, offset = offsets ? offsets->u.ints.p[axis] : 0;
	Val *at = ir_in(op, 1 + axis);
	if (axis == l->axis) {
		at = to_i64(b, each(l, b, at));
	} else {
		uint8_t log2[TILE_RANK] = { 0 };
		log2[axis] = l->shape->log2[axis];
		const Type *t = type_with_shape(type_with_elem(l->shape, EL_I64), l->shape->rank, log2);
		Val *first = ir_unary(b, OP_BROADCAST, t, to_i64(b, at));
		if (step != 1) first = ir_binary(b, OP_MUL, t, first, ir_const_int(b, t, step));
		step = 1;
		at = log2[axis] ? ir_binary(b, OP_ADD, t, first, ir_op1(b, OP_IOTA, t, 0, NULL)) : first;
	}
	if (step != 1) at = ir_binary(b, OP_MUL, at->type, at, ir_const_int(b, at->type, step));
	if (offset) at = ir_binary(b, OP_ADD, at->type, at, ir_const_int(b, at->type, offset));
	return ir_unary(b, OP_BROADCAST, type_with_elem(l->shape, EL_I64), at);
}

/* Of the neighbours, those that the grid has: what others look up is no row of theirs. */
static Val *in_grid(const Line *l, Builder *b)
{
	const Wide *x = l->x;
	const Op *bid = NULL;
	for (int i = 0; i < x->ops.n && !bid; i++)
		if (x->ops.p[i].op->code == OP_BID && ir_axis(x->ops.p[i].op) == x->w->axis) bid = x->ops.p[i].op;
	const Type *t = line_type(l, EL_I64), *yes = line_type(l, EL_BOOL);
	Val *blocks = ir_op1(b, OP_LAUNCH, type_scalar(EL_I64), 0, NULL);
	ir_set_sym(blocks->def, AT_SYM, x->w->fn->grid[x->w->axis]);
	Val *number = to_i64(b, each(l, b, bid->out[0]));
	Val *in = ir_binary(b, OP_LT, yes, number, ir_unary(b, OP_BROADCAST, t, blocks));
	return ir_unary(b, OP_BROADCAST, type_with_elem(l->shape, EL_BOOL), in);
}

static void look_up_rows(Wide *x, Op *op)
{
	int axis = looked_up_axis(x->w, op);
	if (axis < 0) return;
	int rank = ir_in(op, 0)->type->rank;
	Val *in[3 + TENSOR_RANK] = { ir_in(op, 0) };
	Line l = { x, ir_accessed(op)->type, axis };
	Builder b = build_before(op);
	for (int a = 0; a < rank; a++) in[1 + a] = numbers(&l, &b, op, a);
	in[1 + rank] = ir_in(op, 1 + rank);
	if (op->code == OP_STORE) {
		in[2 + rank] = in_grid(&l, &b);
		ir_op(&b, OP_SCATTER, 3 + rank, in, 0, NULL);
	} else {
		Val *r = ir_op1(&b, OP_GATHER, l.shape, 2 + rank, in);
		r->name = op->out[0]->name;
		ir_replace(op->out[0], r);
	}
	ir_remove(op);
}

/* The index of the first of the neighbours, and accesses at that of all: a tile index of theirs is the block's own. */
static void scale_index(const Wide *x, Op *bid)
{
	Builder b = build_before(bid);
	const Type *t = bid->out[0]->type;
	Val *own = ir_op1(&b, OP_BID, t, 0, NULL), *first = NULL;
	copy_attrs(own->def, bid);
	own->name = bid->out[0]->name;
	for (int i = 0; i < x->ops.n; i++) {
		Op *op = x->ops.p[i].op;
		if (!op->parent) continue;
		for (int k = 0; k < op->nin; k++) {
			if (ir_in(op, k) != bid->out[0]) continue;
			if (op->code == OP_LOAD || op->code == OP_STORE) {
				const IrAttr *a = ir_attr(op, AT_STEPS);
				int64_t steps[TENSOR_RANK];
				for (int s = 0; s < a->u.ints.n; s++) steps[s] = a->u.ints.p[s] << (s == k - 1 ? x->log2 : 0);
				ir_set_ints(op, AT_STEPS, a->u.ints.n, steps);
				op->in[k] = own;
				continue;
			}
			if (!first) first = ir_binary(&b, OP_MUL, t, own, ir_const_int(&b, t, (int64_t)1 << x->log2));
			op->in[k] = first;
		}
	}
	ir_remove(bid);
}

const Sym *widen_grid(const Sym *extent, int64_t blocks)
{
	const Sym *n = sym_const(blocks);
	int64_t by;
	bool small = extent->kind == SYM_CDIV && sym_is_const(extent->arg[1], &by) && by > 0 && by <= INT32_MAX;
	return small ? sym_cdiv(extent->arg[0], sym_mul(extent->arg[1], n)) : sym_cdiv(extent, n);
}

void widen_do(Widen *w, int log2)
{
	Fn *fn = w->fn;
	Wide x = { .w = w, .log2 = log2, .nval = fn->nval, .lifted = NEW_ARRAY(A_TMP, Val *, fn->nval) };
	ir_walk(fn->body, note_op, &x);
	for (int i = 0; i < x.ops.n; i++) widen_values(&x, x.ops.p[i].op);
	for (int i = 0, n = x.ops.n; i < n; i++) copy_operands(&x, &x.ops.p[i]);
	for (int i = 0, n = x.ops.n; i < n; i++) look_up_rows(&x, x.ops.p[i].op);
	for (int i = 0; i < x.ops.n; i++)
		if (x.ops.p[i].op->code == OP_BID && ir_axis(x.ops.p[i].op) == w->axis) scale_index(&x, x.ops.p[i].op);
	for (int i = 0; i < x.ops.n; i++)
		if (works_along(&x.ops.p[i])) split(&x, &x.ops.p[i]);
	fn->grid[w->axis] = widen_grid(fn->grid[w->axis], (int64_t)1 << log2);
	fn->joined[w->axis] += log2;
}

/* ---- parts of its tiles ---- */
/* v, an index made of the block's index, for blocks of which 2^log2 are one of the author's; b NULL: only whether there
 * is one. */
static Val *divided(const Widen *w, Builder *b, Val *v, int log2)
{
	Op *op = v->def;
	Num n;
	if (!op || op->nin < 1 || op->nin > 2) return NULL;
	Val *x = ir_in(op, 0), *y = op->nin > 1 ? ir_in(op, 1) : NULL;
	if (op->code == OP_MUL && !ir_const_value(y, &n)) y = x, x = ir_in(op, 1);
	if (op->code == OP_MUL) {
		bool whole = ir_const_value(y, &n) && n.i > 0 && !(n.i & (((int64_t)1 << log2) - 1));
		if (!whole || !x->def || x->def->code != OP_BID) return NULL;
		return b ? ir_binary(b, OP_MUL, v->type, x, ir_const_int(b, v->type, n.i >> log2)) : v;
	}
	if (op->code == OP_ADD && along(w, x) == WIDEN_SAME) y = x, x = ir_in(op, 1);
	if ((op->code == OP_ADD || op->code == OP_SUB) && along(w, y) == WIDEN_SAME) {
		Val *part = divided(w, b, x, log2);
		return part && b ? ir_binary(b, op->code, v->type, part, y) : part;
	}
	if (!rule_keeps(op)) return NULL;
	Val *part = divided(w, b, x, log2);
	if (!part || !b) return part;
	Val *r = ir_unary(b, OP_CAST, v->type, part);
	copy_attrs(r->def, op);
	return r;
}

static bool divides(const Wide *x, const Was *was)
{
	Op *op = was->op;
	if (works_along(was) || (was->to >= 0 && was->out->log2[was->to] < x->log2)) return false;
	for (int i = 0; i < op->nin; i++) {
		int axis = meets_along(x->w, op, i);
		if (axis >= 0 && !widen_has_parts(x->w, ir_in(op, i), axis, x->log2)) return false;
	}
	if (op->code == OP_LOAD || op->code == OP_STORE) {
		int a = widen_access(x->w, op);
		const Op *index = a < 0 ? NULL : ir_in(op, 1 + a)->def;
		return a < 0 || (index && (index->code == OP_BID || divided(x->w, NULL, ir_in(op, 1 + a), x->log2)));
	}
	return true;
}

/* How many parts there are: up to the tensor's end where that is proved to leave out nothing that would be stored. */
static const Sym *count_parts(Widen *w, int log2)
{
	const Sym *grid = w->fn->grid[w->axis], *all = sym_mul(grid, sym_const((int64_t)1 << log2));
	int64_t by;
	if (grid->kind != SYM_CDIV || !sym_is_const(grid->arg[1], &by) || by % ((int64_t)1 << log2)) return all;
	w->end = sym_cdiv(grid->arg[0], sym_const(by >> log2));
	w->parts = log2;
	valsyms_accesses(w->fn, check_access, w);
	bool enough = !w->fails;
	w->fails = false;
	return enough ? w->end : all;
}

bool widen_parts(Widen *w, int log2)
{
	Wide x = { .w = w, .log2 = log2, .nval = w->fn->nval };
	bool yes = true;
	w->parted = NEW_ARRAY(A_TMP, int8_t, x.nval);
	ir_walk(w->fn->body, note_op, &x);
	for (int i = 0; i < x.ops.n && yes; i++) yes = divides(&x, &x.ops.p[i]);
	if (yes) w->end = count_parts(w, log2);
	return yes;
}

static void divide_access(const Wide *x, Op *op)
{
	int a = widen_access(x->w, op);
	if (a < 0) return;
	if (ir_in(op, 1 + a)->def->code != OP_BID) {
		Builder b = build_before(op);
		op->in[1 + a] = divided(x->w, &b, ir_in(op, 1 + a), x->log2);
		return;
	}
	const IrAttr *old = ir_attr(op, AT_STEPS);
	int64_t steps[TENSOR_RANK];
	for (int i = 0; i < old->u.ints.n; i++) steps[i] = old->u.ints.p[i] >> (i == a ? x->log2 : 0);
	ir_set_ints(op, AT_STEPS, old->u.ints.n, steps);
}

/* What is not where an access begins sees the index of the author's tile block, as it was. */
static void divide_index(const Wide *x, Op *bid)
{
	Builder b = build_after(bid);
	const Type *t = bid->out[0]->type;
	Val *whole = NULL;
	for (int i = 0; i < x->ops.n; i++) {
		Op *op = x->ops.p[i].op;
		for (int k = 0; k < op->nin; k++) {
			if (ir_in(op, k) != bid->out[0] || op->code == OP_LOAD || op->code == OP_STORE) continue;
			if (!whole) whole = ir_binary(&b, OP_SHR, t, bid->out[0], ir_const_int(&b, t, x->log2));
			op->in[k] = whole;
		}
	}
}

void widen_divide(Widen *w, int log2)
{
	Fn *fn = w->fn;
	Wide x = { .w = w, .log2 = log2, .nval = fn->nval, .part = NEW_ARRAY(A_TMP, Val *, fn->nval) };
	ir_walk(fn->body, note_op, &x);
	for (int i = 0; i < x.ops.n; i++)
		if (x.ops.p[i].op->code == OP_LOAD || x.ops.p[i].op->code == OP_STORE) divide_access(&x, x.ops.p[i].op);
	for (int i = 0; w->places && i < x.ops.n; i++)
		if (x.ops.p[i].op->code == OP_BID && ir_axis(x.ops.p[i].op) == w->axis) divide_index(&x, x.ops.p[i].op);
	x.log2 = -log2;
	for (int i = 0; i < x.ops.n; i++) widen_values(&x, x.ops.p[i].op);
	for (int i = 0; i < x.ops.n; i++) copy_operands(&x, &x.ops.p[i]);
	fn->grid[w->axis] = w->end;
	fn->joined[w->axis] -= log2;
}
