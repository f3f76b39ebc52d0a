/* slice: tiles beyond the registers of a thread block become loops over slices.
 *
 * What a kernel does with a tile that is too large falls apart into loops (slice_plan.c): each loads a slice, computes what
 * follows from it, and stores it or combines it with what a reduction has so far. A thread combines what it has of a slice and
 * adds that to its partial result; behind the loop the whole thread block (or cluster) reduces those. So the text and the
 * registers of a kernel do not grow with its tile.
 *
 * A slice has 64 bytes of the widest access for each thread: enough in flight at once, few enough to live in registers. Whole
 * stay tiles that registers hold, where each element is read only once; loads that a later loop repeats are kept in shared
 * memory as far as it goes (pass keep). */
#include "base/diag.h"
#include "ir/fold.h"
#include "lower/slice.h"

enum {
	SLICE_BYTES = 64,       /* of the widest access, for each thread */
	SLICE_LOADS = 128,      /* of all loads of a loop, at most */
	SLICE_ELEMS = 32,       /* and no more elements */
	SLICE_WARPS = 3,        /* log2, of a thread block that shares its SM with two others */
	SLICE_ROW = 128,        /* bytes that lie together in memory, at least */
	HELD_BYTES = 256,       /* of loads that a thread's registers hold */
	HELD_EACH = 6,          /* log2; but no more elements of a tile */
	HELD_LOG2 = 15,         /* elements of a tile that the registers of a thread block hold, log2 */
	HELD_IN_CLUSTER = 14    /* the same in a cluster, where less is better: several tile blocks share an SM then */
};

typedef struct Slicer {
	const LowerCx *cx;
	SlicePlan p;
	int log2;               /* of the number of slices */
	int far, near;          /* log2 of the elements of a slice that a thread has: pieces of memory, and elements of such a piece */
	Val **now;              /* by Val id: the slice, in the loop that is being written */
	Val **sum;              /* by index in plan.ops: what the reduction has so far */
	Val **top;              /* the same of an online sum: the greatest exponent so far; of an index: the slice that it is in */
	Val *counter;
} Slicer;

/* ---- how large ---- */
typedef struct Measure { Val *seed; int log2, bytes; } Measure;

static void measure(Measure *m, const Op *op)
{
	const Val *moved = op->code == OP_LOAD ? op->out[0] : op->code == OP_STORE ? ir_in(op, op->nin - 1) : NULL;
	for (int i = 0; i < op->nout; i++) {
		Val *v = op->out[i];
		bool made = op->code == OP_CONST || op->code == OP_BROADCAST || op->code == OP_IOTA;
		if (!type_is_tile(v->type) || made || (m->seed && type_log2_size(v->type) <= m->log2)) continue;
		m->seed = v;
		m->log2 = type_log2_size(v->type);
	}
	if (moved && type_log2_size(moved->type) && elem_bytes(moved->type->elem) > m->bytes) m->bytes = elem_bytes(moved->type->elem);
}

static Measure measure_fn(const Fn *fn)
{
	Measure m = { 0 };
	for (const Op *op = fn->body->first; op; op = op->next) measure(&m, op);
	return m;
}

/* May a cluster run the kernel, and does it divide one axis only, so that no slice is converted? */
static bool suits_cluster(const Fn *fn)
{
	if (ir_hint(fn, "warps", 0) > 0 || ir_hint(fn, "cluster", 0) == 1) return false;
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (!op_suits_cluster(op) || op_is_scan(op)) return false;
		for (int i = 0; i < op->nout; i++) {
			const Type *t = op->out[i]->type;
			int long_axes = 0;
			for (int a = 0; type_is_tile(t) && a < t->rank; a++) long_axes += t->log2[a] > 0;
			if (long_axes > 1) return false;
		}
	}
	return true;
}

/* ---- writing ---- */
static const Type *cut_type(const Slicer *s, const Val *v)
{
	uint8_t shape[TILE_RANK];
	const Type *t = v->type;
	if (!slice_is_cut(&s->p, v)) return t;
	for (int a = 0; a < t->rank; a++) shape[a] = (uint8_t)(t->log2[a] - (a == s->p.axis[v->id] ? s->log2 : 0));
	return type_tile(t->elem, t->rank, shape);
}

static Val *cut_val(const Slicer *s, Val *v) { return slice_is_cut(&s->p, v) ? s->now[v->id] : v; }

static Op *clone(const Slicer *s, Builder *b, const Op *op)
{
	Val **in = NEW_ARRAY(A_TMP, Val *, op->nin);
	const Type **out = NEW_ARRAY(A_TMP, const Type *, op->nout);
	for (int i = 0; i < op->nin; i++) in[i] = cut_val(s, ir_in(op, i));
	for (int i = 0; i < op->nout; i++) out[i] = cut_type(s, op->out[i]);
	Op *r = ir_op(b, op->code, op->nin, in, op->nout, out);
	copy_attrs(r, op);
	for (int i = 0; i < op->nout; i++) r->out[i]->name = op->out[i]->name;
	return r;
}

static Val *times(Builder *b, Val *x, int64_t n)
{
	return n == 1 ? x : ir_binary(b, OP_MUL, x->type, x, ir_const_int(b, x->type, n));
}

/* The numbers of slice k are those of slice 0 and k times its size. */
static Val *cut_numbers(const Slicer *s, Builder *b, const Op *op)
{
	Val *i = clone(s, b, op)->out[0];
	const Type *one = type_scalar(i->type->elem);
	Val *k = one == s->counter->type ? s->counter : ir_unary(b, OP_CAST, one, s->counter);
	return ir_binary(b, OP_ADD, i->type, i, ir_unary(b, OP_BROADCAST, i->type, times(b, k, type_size(i->type))));
}

/* Slice k of tile number i: element i * step + offset + k * n, as a tile number of its own with a step that divides both. */
static void cut_access(const Slicer *s, Op *op, const Val *whole)
{
	int a = s->p.axis[whole->id], rank = whole->type->rank;
	int64_t n = type_extent(whole->type, a) >> s->log2, step = 1, *steps = NEW_ARRAY(A_TMP, int64_t, rank);
	const IrAttr *old = ir_attr(op, AT_STEPS);
	for (int i = 0; i < rank; i++) steps[i] = old ? old->u.ints.p[i] : 1;
	while (step < n && steps[a] % (2 * step) == 0) step *= 2;
	Val *i = ir_in(op, 1 + a), *k = s->counter;
	int64_t times_i = steps[a] / step;
	Num c;
	if (!ir_const_value(i, &c) || c.i || n != step) {
		Builder at = build_before(op);
		const Type *wide = type_scalar(EL_I64);
		k = times(&at, ir_unary(&at, OP_CAST, wide, k), n / step);
		i = i->type == wide ? i : ir_unary(&at, OP_CAST, wide, i);
		k = ir_binary(&at, OP_ADD, wide, times(&at, i, times_i), k);
	}
	op->in[1 + a] = k;
	steps[a] = step;
	ir_set_ints(op, AT_STEPS, rank, steps);
}

/* ---- reductions ---- */
static OpCode combining(OpCode c)
{
	switch (c) {
	case OP_SUM: return OP_ADD;
	case OP_PROD: return OP_MUL;
	case OP_REDUCE_MAX: return OP_MAX;
	case OP_REDUCE_MIN: return OP_MIN;
	case OP_REDUCE_AND: return OP_AND;
	case OP_REDUCE_OR: return OP_OR;
	case OP_REDUCE_XOR: return OP_XOR;
	default: bug("`%s` has no partial results", op_rows[c].name);
	}
}

/* What changes no element, its sign and its being a NaN included. */
static Num identity(const Op *op)
{
	Elem e = ir_in(op, 0)->type->elem;
	bool is_float = elem_is_any_float(e), wins = ir_int(op, AT_NAN, 0) != 0;
	switch (op->code) {
	case OP_SUM: return is_float ? num_float(-0.0) : num_zero(e);
	case OP_PROD: return num_one(e);
	case OP_REDUCE_MAX: case OP_MAX_ELEMENT: return is_float ? num_float(wins ? -1.0 / 0.0 : 0.0 / 0.0) : num_least(e);
	case OP_REDUCE_MIN: case OP_MIN_ELEMENT: return is_float ? num_float(wins ? 1.0 / 0.0 : 0.0 / 0.0) : num_greatest(e);
	case OP_REDUCE_AND: return num_wrap(e, ~(uint64_t)0);
	default: return num_zero(e);
	}
}

static const Type *with_extent(const Type *t, int axis, int log2)
{
	uint8_t shape[TILE_RANK];
	for (int a = 0; a < t->rank; a++) shape[a] = (uint8_t)(a == axis ? log2 : t->log2[a]);
	return type_tile(t->elem, t->rank, shape);
}

/* A reduction along the axis of memory meets 2^far times 2^near elements in each thread, another one 2^far: so many it combines
 * before it adds them to its partial results. */
typedef struct Fold { int far, near; } Fold;

static Fold fold_of(const Slicer *s, const Type *slice, int axis)
{
	int n = slice->log2[axis], last = slice->rank - 1;
	Fold f = { 0, 0 };
	if (slice->rank > TILE_RANK - SLICE_AXES) return f;
	while (last > axis && !slice->log2[last]) last--;
	if (last == axis) f.near = s->near < n ? s->near : n;
	f.far = s->far < n - f.near ? s->far : n - f.near;
	return f;
}

static bool by_index(const Op *op) { return op->code == OP_MAX_ELEMENT || op->code == OP_MIN_ELEMENT; }

static const Type *partial_type(const Slicer *s, const Op *op)
{
	const Type *slice = cut_type(s, ir_in(op, 0));
	if (by_index(op)) return slice;
	int axis = (int)ir_int(op, AT_AXIS, 0);
	Fold f = fold_of(s, slice, axis);
	return with_extent(slice, axis, slice->log2[axis] - f.far - f.near);
}

/* The axis becomes three: what a thread combines stands in the first and the last. */
static Val *unfolded(const Slicer *s, Builder *b, Val *x, int axis)
{
	const Type *t = x->type;
	Fold f = fold_of(s, t, axis);
	uint8_t shape[TILE_RANK];
	for (int a = 0; a < axis; a++) shape[a] = t->log2[a];
	shape[axis] = (uint8_t)f.far;
	shape[axis + 1] = (uint8_t)(t->log2[axis] - f.far - f.near);
	shape[axis + 2] = (uint8_t)f.near;
	for (int a = axis + 1; a < t->rank; a++) shape[a + SLICE_AXES] = t->log2[a];
	return ir_unary(b, OP_RESHAPE, type_tile(t->elem, t->rank + SLICE_AXES, shape), x);
}

/* Combines along the first and the last of those three. */
static Val *folded(Builder *b, OpCode code, const Op *like, Val *x, int axis)
{
	for (int a = axis; a <= axis + SLICE_AXES; a += SLICE_AXES) {
		x = ir_unary(b, code, with_extent(x->type, a, 0), x);
		if (like) copy_attrs(x->def, like);
		ir_set_int(x->def, AT_AXIS, a);
	}
	return x;
}

static Val *combined(Builder *b, const Op *op, Val *x, Val *y)
{
	static const AttrKey modes[] = { AT_ROUNDING, AT_SUBNORMALS, AT_NAN };
	Val *r = ir_binary(b, combining(op->code), x->type, x, y);
	for (int k = 0; k < 3; k++)
		if (ir_int(op, modes[k], 0)) ir_set_int(r->def, modes[k], ir_int(op, modes[k], 0));
	return r;
}

static void cut_reduce(Slicer *s, Builder *b, int i)
{
	const Op *op = s->p.ops[i].op;
	Val *x = cut_val(s, ir_in(op, 0));
	int axis = (int)ir_int(op, AT_AXIS, 0);
	if (x->type->rank <= TILE_RANK - SLICE_AXES)
		x = ir_unary(b, OP_RESHAPE, s->sum[i]->type, folded(b, op->code, op, unfolded(s, b, x, axis), axis));
	s->sum[i] = combined(b, op, s->sum[i], x);
}

/* r, or 0 where it is -inf, which no exponent can be compared with: nothing was summed there but exp(-inf). */
static Val *reference(Builder *b, Val *r)
{
	const Type *bools = type_with_elem(r->type, EL_BOOL);
	Val *none = ir_binary(b, OP_EQ, bools, r, ir_const_num(b, r->type, num_float(-1.0 / 0.0)));
	return ir_op1(b, OP_SELECT, r->type, 3, (Val *[]){ none, ir_const_num(b, r->type, num_zero(EL_F32)), r });
}

static Val *exp_of_difference(Builder *b, const Op *like, Val *x, Val *y)
{
	Val *e = ir_unary(b, OP_EXP, x->type, ir_binary(b, OP_SUB, x->type, x, y));
	copy_attrs(e->def, like);
	return e;
}

/* The sum so far is one of exp(x - r), r the greatest x that this place of the slice has met; when r grows, so does what it is
 * divided by. A NaN is no greatest x, and makes the sum a NaN. */
static void cut_online(Slicer *s, Builder *b, int i)
{
	const SliceOp *o = &s->p.ops[i];
	const Op *sum = o->op, *e = ir_in(sum, 0)->def;
	int axis = (int)ir_int(sum, AT_AXIS, 0);
	Val *x = unfolded(s, b, cut_val(s, slice_exponent(o)), axis), *old = s->top[i];
	Val *most = folded(b, OP_REDUCE_MAX, NULL, x, axis);
	Val *top = ir_binary(b, OP_MAX, old->type, old, ir_unary(b, OP_RESHAPE, old->type, most)), *r = reference(b, top);
	Val *each = ir_unary(b, OP_BROADCAST, x->type, ir_unary(b, OP_RESHAPE, most->type, r));
	Val *here = folded(b, OP_SUM, sum, exp_of_difference(b, e, x, each), axis);
	Val *scaled = ir_binary(b, OP_MUL, old->type, s->sum[i], exp_of_difference(b, e, old, r));
	s->sum[i] = combined(b, sum, scaled, ir_unary(b, OP_RESHAPE, old->type, here));
	s->top[i] = top;
}

/* Behind the loop: each place's sum as one of exp(x - m). */
static Val *online_result(Slicer *s, Builder *b, int i, Val *sum, Val *top)
{
	const SliceOp *o = &s->p.ops[i];
	const Op *e = ir_in(o->op, 0)->def;
	const Op *broadcast = ir_in(ir_in(e, 0)->def, 1)->def;
	Val *m = ir_unary(b, OP_BROADCAST, top->type, ir_in(broadcast, 0));
	return ir_binary(b, OP_MUL, sum->type, sum, exp_of_difference(b, e, top, m));
}

/* ---- the index of the greatest or smallest element ---- */
static Val *both(Builder *b, OpCode how, Val *x, Val *y) { return ir_binary(b, how, x->type, x, y); }

static Val *is_nan(Builder *b, Val *x) { return ir_unary(b, OP_ISNAN, type_with_elem(x->type, EL_BOOL), x); }

/* Each place of a slice has the element that wins so far, and the number of its slice: of equal ones the first. */
static void cut_index(Slicer *s, Builder *b, int i)
{
	const Op *op = s->p.ops[i].op;
	Val *x = cut_val(s, ir_in(op, 0)), *old = s->sum[i], *slice = s->top[i];
	const Type *bools = type_with_elem(x->type, EL_BOOL);
	Val *wins = ir_binary(b, op->code == OP_MAX_ELEMENT ? OP_GT : OP_LT, bools, x, old);
	if (elem_is_any_float(x->type->elem)) {
		bool first = ir_int(op, AT_NAN, 0) != 0;        /* a NaN wins, or whatever else does */
		Val *nan = is_nan(b, first ? x : old), *other = is_nan(b, first ? old : x);
		wins = both(b, OP_OR, wins, both(b, OP_AND, nan, both(b, OP_XOR, other, ir_const_num(b, bools, num_one(EL_BOOL)))));
	}
	Val *k = ir_unary(b, OP_BROADCAST, slice->type, ir_unary(b, OP_CAST, type_scalar(EL_U32), s->counter));
	s->sum[i] = ir_op1(b, OP_SELECT, x->type, 3, (Val *[]){ wins, x, old });
	s->top[i] = ir_op1(b, OP_SELECT, slice->type, 3, (Val *[]){ wins, k, slice });
}

/* The least index of those that are equal to the one that wins. */
static Val *index_result(Builder *b, const Op *op, Val *x, Val *slice)
{
	int axis = (int)ir_int(op, AT_AXIS, 0);
	uint8_t shape[TILE_RANK] = { 0 };
	shape[axis] = x->type->log2[axis];
	Val *most = ir_unary(b, op->code == OP_MAX_ELEMENT ? OP_REDUCE_MAX : OP_REDUCE_MIN, with_extent(x->type, axis, 0), x);
	copy_attrs(most->def, op);
	most = ir_unary(b, OP_BROADCAST, x->type, most);
	Val *equal = ir_binary(b, OP_EQ, type_with_elem(x->type, EL_BOOL), x, most);
	if (elem_is_any_float(x->type->elem)) equal = both(b, OP_OR, equal, both(b, OP_AND, is_nan(b, x), is_nan(b, most)));
	Val *place = ir_op1(b, OP_IOTA, type_tile(EL_U32, x->type->rank, shape), 0, NULL);
	Val *index = both(b, OP_ADD, times(b, slice, type_extent(x->type, axis)), ir_unary(b, OP_BROADCAST, slice->type, place));
	index = ir_op1(b, OP_SELECT, slice->type, 3, (Val *[]){ equal, index, ir_const_num(b, slice->type, num_greatest(EL_U32)) });
	Val *r = ir_unary(b, OP_REDUCE_MIN, op->out[0]->type, index);
	ir_set_int(r->def, AT_AXIS, axis);
	return r;
}

/* ---- loops ---- */
static void cut_op(Slicer *s, Builder *b, int i)
{
	Op *op = s->p.ops[i].op;
	b->span = op->span;
	if (s->p.ops[i].part) {
		if (by_index(op)) cut_index(s, b, i);
		else if (s->p.ops[i].online < 0) cut_reduce(s, b, i);
		else cut_online(s, b, i);
		return;
	}
	Val *one = op->code == OP_IOTA ? cut_numbers(s, b, op) : NULL;
	Op *r = one ? one->def : clone(s, b, op);
	for (int k = 0; k < op->nout; k++) s->now[op->out[k]->id] = r->out[k];
	if (op->code == OP_LOAD || op->code == OP_STORE) cut_access(s, r, op->code == OP_LOAD ? op->out[0] : ir_in(op, op->nin - 1));
}

/* What a loop carries: partial results, and behind each online sum its greatest exponents, behind each element its slice. */
typedef struct Carried { VEC(int) part; VEC(Val *) in; VEC(const Type *) out; } Carried;

static void carry(Builder *b, Carried *c, int part, const Type *t, Num n)
{
	vec_push(A_TMP, &c->part, part);
	vec_push(A_TMP, &c->out, t);
	vec_push(A_TMP, &c->in, ir_const_num(b, t, n));
}

static void find_carried(Slicer *s, Builder *b, int level, Carried *c)
{
	for (int i = 0; i < s->p.n; i++) {
		const SliceOp *o = &s->p.ops[i];
		if (!o->part || !(o->runs >> level & 1)) continue;
		const Type *t = partial_type(s, o->op);
		carry(b, c, i, t, identity(o->op));
		if (o->online >= 0) carry(b, c, i, t, num_float(-1.0 / 0.0));
		if (by_index(o->op)) carry(b, c, i, type_with_elem(t, EL_U32), num_zero(EL_U32));
	}
}

/* Behind the loop all threads reduce their partial results; maxima first, which online sums ask for. */
static void finish(Slicer *s, Builder *b, const Op *loop, const Carried *c, bool online)
{
	for (int k = 0; k < c->part.n; k++) {
		SliceOp *o = &s->p.ops[c->part.p[k]];
		Val *x = loop->out[k], *r;
		bool sum = o->online >= 0, index = by_index(o->op);
		b->span = o->op->span;
		if (sum && online) x = online_result(s, b, c->part.p[k], x, loop->out[k + 1]);
		k += sum || index;
		if (sum != online) continue;
		if (index) {
			r = index_result(b, o->op, x, loop->out[k]);
		} else {
			r = ir_unary(b, o->op->code, o->op->out[0]->type, x);
			copy_attrs(r->def, o->op);
		}
		r->name = o->op->out[0]->name;
		ir_replace(o->op->out[0], r);
	}
}

static void write_loop(Slicer *s, int level, Op *before)
{
	const Type *i32 = type_scalar(EL_I32);
	Builder b = build_before(before);
	Carried c = { 0 };
	unsigned runs = 0;
	for (int i = 0; i < s->p.n; i++) runs |= s->p.ops[i].runs;
	if (!(runs >> level & 1)) return;
	for (int k = 0; k < 3; k++) vec_push(A_TMP, &c.in, ir_const_int(&b, i32, k == 0 ? 0 : k == 1 ? (int64_t)1 << s->log2 : 1));
	find_carried(s, &b, level, &c);
	Op *loop = ir_op(&b, OP_FOR, c.in.n, c.in.p, c.out.n, c.out.p);
	IrBlock *body = ir_region(loop);
	Builder inner = { s->p.fn, body, NULL, b.span };
	Val **last = NEW_ARRAY(A_TMP, Val *, c.part.n);
	s->counter = ir_arg(body, i32, NULL);
	for (int k = 0; k < c.part.n; k++) {
		int i = c.part.p[k];
		Val **to = k && c.part.p[k - 1] == i ? s->top : s->sum;
		to[i] = ir_arg(body, c.out.p[k], NULL);
	}
	for (int i = 0; i < s->p.n; i++)
		if (s->p.ops[i].runs >> level & 1) cut_op(s, &inner, i);
	for (int k = 0; k < c.part.n; k++) {
		int i = c.part.p[k];
		last[k] = k && c.part.p[k - 1] == i ? s->top[i] : s->sum[i];
	}
	ir_op(&inner, OP_YIELD, c.part.n, last, 0, NULL);
	finish(s, &b, loop, &c, false);
	finish(s, &b, loop, &c, true);
}

static void write_loops(Slicer *s)
{
	Op *end = s->p.ops[s->p.n - 1].op;
	int last = 0;
	s->now = NEW_ARRAY(A_TMP, Val *, s->p.fn->nval);
	s->sum = NEW_ARRAY(A_TMP, Val *, s->p.n);
	s->top = NEW_ARRAY(A_TMP, Val *, s->p.n);
	for (int i = 0; i < s->p.n; i++)
		if (s->p.ops[i].level > last) last = s->p.ops[i].level;
	for (int level = 0; level <= last; level++) {
		for (int i = 0; i < s->p.n - 1; i++)
			if (!s->p.ops[i].cut && s->p.ops[i].level == level) ir_move_before(s->p.ops[i].op, end);
		write_loop(s, level, end);
	}
	for (int i = s->p.n - 1; i >= 0; i--)
		if (s->p.ops[i].cut) ir_remove(s->p.ops[i].op);
}

/* ---- the pass ---- */
/* Accesses whose slices are too short along the axis on which memory is contiguous. */
static int narrow_accesses(const SlicePlan *p, int log2)
{
	int n = 0;
	for (int i = 0; i < p->n; i++) {
		const Op *op = p->ops[i].op;
		if (!p->ops[i].cut || (op->code != OP_LOAD && op->code != OP_STORE)) continue;
		const Val *v = op->code == OP_LOAD ? op->out[0] : ir_in(op, op->nin - 1);
		int a = p->axis[v->id];
		n += a == fast_axis(p->fn, ir_in(op, 0)) && (type_extent(v->type, a) >> log2) * elem_bytes(v->type->elem) < SLICE_ROW;
	}
	return n;
}

/* The axis that takes fewest loops; of such the one with fewest narrow accesses, the slowest of these. */
static bool best_plan(Fn *fn, Val *seed, int log2, SlicePlan *best)
{
	SlicePlan p;
	int narrow = 0;
	bool found = false;
	for (int a = 0; a < seed->type->rank; a++) {
		if (seed->type->log2[a] < log2 || !slice_plan(fn, seed, a, log2, &p)) continue;
		int n = narrow_accesses(&p, log2);
		if (found && (p.loops > best->loops || (p.loops == best->loops && n >= narrow))) continue;
		*best = p;
		narrow = n;
		found = true;
	}
	return found;
}

enum { ALL_RUNS, RUN_AGAIN };

/* Bytes that the loads of an element have: all of them, or those that more than one loop runs. */
static int load_bytes(const SlicePlan *p, int which)
{
	int n = 0;
	for (int i = 0; i < p->n; i++) {
		const SliceOp *o = &p->ops[i];
		bool again = (o->runs & (o->runs - 1)) != 0;
		if (o->cut && o->op->code == OP_LOAD && (which == ALL_RUNS || again)) n += elem_bytes(o->op->out[0]->type->elem);
	}
	return n;
}

/* The same of the loop that has most. */
static int loop_bytes(const SlicePlan *p)
{
	int most = 1;
	for (int k = 0; k < SLICE_LOOPS; k++) {
		int n = 0;
		for (int i = 0; i < p->n; i++)
			if (p->ops[i].op->code == OP_LOAD && p->ops[i].runs >> k & 1) n += elem_bytes(p->ops[i].op->out[0]->type->elem);
		if (n > most) most = n;
	}
	return most;
}

static int log2_floor(int64_t n)
{
	int k = 0;
	while (n >> (k + 1)) k++;
	return k;
}

/* Elements of a tile that a thread's registers hold with what is loaded beside it, log2. */
static int held_each(const SlicePlan *p)
{
	int bytes = load_bytes(p, ALL_RUNS), n = log2_floor(HELD_BYTES / (bytes ? bytes : 1));
	return n < HELD_EACH ? n : HELD_EACH;
}

static bool reduces(const SlicePlan *p)
{
	for (int i = 0; i < p->n; i++)
		if (p->ops[i].part) return true;
	return false;
}

/* Who shares a tile, all log2: the warps of a thread block, its thread blocks, the elements of a slice that a thread has. */
typedef struct Shares { int warps, cluster, each; } Shares;

/* Thread blocks keep what later loops load again. The less that is, the smaller they are, and the more of them share an SM. */
static int warps_beside(int64_t kept)
{
	if (kept <= KEEP_THIRD) return SLICE_WARPS;
	return kept <= KEEP_HALF ? SLICE_WARPS + 1 : SLICE_WARPS + 2;
}

/* false: registers hold the tile. */
static bool share_out(Fn *fn, const LowerCx *cx, const SlicePlan *p, int size, bool hinted, Shares *s)
{
	int most = log2_floor(SLICE_LOADS / loop_bytes(p));
	if (most < s->each) s->each = most;
	if (size <= LANES_LOG2 + s->warps + held_each(p) || (p->loops > 1 && !hinted && size <= HELD_LOG2)) return false;
	if (reduces(p) && suits_cluster(fn) && lower_arch(cx, fn) >= 90) {
		int wish = (int)ir_hint(fn, "cluster", cx->target_arch);
		s->cluster = wish ? log2_of(wish) : CLUSTER_MOST;
		if (size <= HELD_IN_CLUSTER + s->cluster) return false;
	}
	if (!hinted) s->warps = warps_beside(((int64_t)load_bytes(p, RUN_AGAIN) << size) >> s->cluster);
	return true;
}

static void slice_fn(Fn *fn, const LowerCx *cx)
{
	Measure m = measure_fn(fn);
	if (!m.bytes) return;
	Slicer s = { .cx = cx };
	int hint = (int)ir_hint(fn, "warps", ir_has_hint(fn, "warps") ? lower_arch(cx, fn) : 0);
	Shares to = { hint > 0 ? log2_of(hint) : SLICE_WARPS, 0, log2_floor(SLICE_BYTES / m.bytes < SLICE_ELEMS ? SLICE_BYTES / m.bytes : SLICE_ELEMS) };
	int slices = m.log2 - LANES_LOG2 - to.warps - to.each;
	if (slices < 1) return;
	ir_number(fn);
	if (!best_plan(fn, m.seed, slices, &s.p) || !share_out(fn, cx, &s.p, m.log2, hint > 0, &to)) return;
	slices = m.log2 - LANES_LOG2 - to.warps - to.cluster - to.each;
	if (slices < 1 || !best_plan(fn, m.seed, slices, &s.p)) return;
	s.log2 = slices;
	s.near = 4 - log2_floor(m.bytes) < to.each ? 4 - log2_floor(m.bytes) : to.each;
	s.far = to.each - s.near;
	write_loops(&s);
	fn->warps = 1 << (to.warps + to.cluster);
	fn->cluster = to.cluster ? 1 << to.cluster : 0;
}

void pass_slice(Module *m, const LowerCx *cx)
{
	for (int i = 0; i < m->fns.n; i++) slice_fn(m->fns.p[i], cx);
}
