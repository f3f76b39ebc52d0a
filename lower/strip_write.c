/* The loops of pass strip, written from its plan: each runs its operations on a slice, and carries
 * what reductions have so far. */
#include "ir/fold.h"
#include "lower/strip.h"

/* ---- one operation on a slice ---- */
const Type *strip_type(const Slicer *s, const Val *v)
{
	uint8_t shape[TILE_RANK];
	const Type *t = v->type;
	if (!strip_is_cut(&s->p, v)) return t;
	for (int a = 0; a < t->rank; a++) shape[a] = (uint8_t)(t->log2[a] - (a == s->p.axis[v->id] ? s->log2 : 0));
	return type_tile(t->elem, t->rank, shape);
}

Val *strip_val(const Slicer *s, Val *v) { return strip_is_cut(&s->p, v) ? s->now[v->id] : v; }

static Op *clone(const Slicer *s, Builder *b, const Op *op)
{
	Val **in = NEW_ARRAY(A_TMP, Val *, op->nin);
	const Type **out = NEW_ARRAY(A_TMP, const Type *, op->nout);
	for (int i = 0; i < op->nin; i++) in[i] = strip_val(s, ir_in(op, i));
	for (int i = 0; i < op->nout; i++) out[i] = strip_type(s, op->out[i]);
	Op *r = ir_op(b, op->code, op->nin, in, op->nout, out);
	copy_attrs(r, op);
	for (int i = 0; i < op->nout; i++) r->out[i]->name = op->out[i]->name;
	return r;
}

Val *strip_times(Builder *b, Val *x, int64_t n)
{
	return n == 1 ? x : ir_binary(b, OP_MUL, x->type, x, ir_const_int(b, x->type, n));
}

/* The numbers of slice k are those of slice 0 and k times its size. */
static Val *cut_numbers(const Slicer *s, Builder *b, const Op *op)
{
	Val *i = clone(s, b, op)->out[0];
	const Type *one = type_scalar(i->type->elem);
	Val *k = one == s->counter->type ? s->counter : ir_unary(b, OP_CAST, one, s->counter);
	return ir_binary(b, OP_ADD, i->type, i, ir_unary(b, OP_BROADCAST, i->type, strip_times(b, k, type_size(i->type))));
}

/* i * times_i + k * times_k, k the counter; once for all accesses of a loop, so that those that overlap are seen to. */
static Val *strip_index(Slicer *s, Op *before, Val *i, int64_t times_i, int64_t times_k)
{
	const Type *wide = type_scalar(EL_I64);
	for (int n = 0; n < s->indices.n; n++) {
		const StripIndex *x = &s->indices.p[n];
		if (x->i == i && x->times_i == times_i && x->times_k == times_k) return x->made;
	}
	Builder at = build_before(before);
	Val *k = strip_times(&at, ir_unary(&at, OP_CAST, wide, s->counter), times_k);
	Val *from = i->type == wide ? i : ir_unary(&at, OP_CAST, wide, i);
	k = ir_binary(&at, OP_ADD, wide, strip_times(&at, from, times_i), k);
	vec_push(A_TMP, &s->indices, ((StripIndex){ i, times_i, times_k, k }));
	return k;
}

/* Slice k of tile number i: element i * step + offset + k * n, as a tile number of its own with
 * a step that divides both. */
static void cut_access(Slicer *s, Op *op, const Val *whole)
{
	int a = s->p.axis[whole->id], rank = whole->type->rank;
	int64_t n = type_extent(whole->type, a) >> s->log2, step = 1, *steps = NEW_ARRAY(A_TMP, int64_t, rank);
	const IrAttr *old = ir_attr(op, AT_STEPS);
	for (int i = 0; i < rank; i++) steps[i] = old ? old->u.ints.p[i] : 1;
	while (step < n && steps[a] % (2 * step) == 0) step *= 2;
	Val *i = ir_in(op, 1 + a), *k = s->counter;
	int64_t times_i = steps[a] / step;
	Num c;
	if (!ir_const_value(i, &c) || c.i || n != step) k = strip_index(s, op, i, times_i, n / step);
	op->in[1 + a] = k;
	steps[a] = step;
	ir_set_ints(op, AT_STEPS, rank, steps);
}

/* ---- loops ---- */
static void cut_op(Slicer *s, Builder *b, int i)
{
	Op *op = s->p.ops[i].op;
	b->span = op->span;
	if (s->p.ops[i].part) {
		strip_reduce(s, b, i);
		return;
	}
	if (s->p.ops[i].scan) {
		strip_scan(s, b, i);
		return;
	}
	Val *one = op->code == OP_IOTA ? cut_numbers(s, b, op) : NULL;
	Op *r = one ? one->def : clone(s, b, op);
	for (int k = 0; k < op->nout; k++) s->now[op->out[k]->id] = r->out[k];
	if (ir_accessed(op)) cut_access(s, r, ir_accessed(op));
}

/* What a loop carries: partial results, for each scan what came before, and after each online sum its greatest
 * exponents, after each extreme its place. */
typedef struct Carried { VEC(int) part; VEC(Val *) in; VEC(const Type *) out; } Carried;

static void carry(Carried *c, int part, Val *begin)
{
	vec_push(A_TMP, &c->part, part);
	vec_push(A_TMP, &c->out, begin->type);
	vec_push(A_TMP, &c->in, begin);
}

static void find_carried(Slicer *s, Builder *b, int level, Carried *c)
{
	for (int i = 0; i < s->p.n; i++) {
		const StripOp *o = &s->p.ops[i];
		if ((!o->part && !o->scan) || !(o->runs >> level & 1)) continue;
		int values = o->scan ? scan_values(o->op) : 1;
		for (int k = 0; k < values; k++) carry(c, i, strip_begin(b, o->op, k, strip_partial(s, o->op, k)));
		const Type *t = c->out.p[c->out.n - 1];
		if (o->online >= 0) carry(c, i, ir_const_num(b, t, num_float(-1.0 / 0.0)));
		if (strip_by_index(o->op)) carry(c, i, ir_const_num(b, type_with_elem(t, EL_U32), num_zero(EL_U32)));
	}
}

/* Of what a loop carries, number k: where it is in the iteration that is being written. */
static Val **place_of(Slicer *s, const Carried *c, int k)
{
	int i = c->part.p[k], nth = 0;
	while (nth < k && c->part.p[k - nth - 1] == i) nth++;
	if (s->p.ops[i].scan) return &s->before[i][nth];
	return nth ? &s->top[i] : &s->sum[i];
}

/* After the loop all threads reduce their partial results; maxima first, which online sums ask for. */
static void finish(Slicer *s, Builder *b, const Op *loop, const Carried *c, bool online)
{
	for (int k = 0; k < c->part.n; k++) {
		StripOp *o = &s->p.ops[c->part.p[k]];
		if (o->scan) continue;
		bool sum = o->online >= 0, two = sum || strip_by_index(o->op);
		b->span = o->op->span;
		if (sum == online) {
			Val *r = strip_result(s, b, c->part.p[k], loop->out[k], two ? loop->out[k + 1] : NULL);
			r->name = o->op->out[0]->name;
			ir_replace(o->op->out[0], r);
		}
		k += two;
	}
}

/* Loads that need nothing of the slice stand first in their loop: nvcc keeps the order of accesses, and a thread shall
 * ask for all before it waits for one. */
static bool may_be_first(const Slicer *s, int i)
{
	const Op *op = s->p.ops[i].op;
	if (op->code != OP_LOAD || !memory_is_constant(s->p.fn, ir_in(op, 0))) return false;
	for (int k = 0; k < op->nin; k++) {
		int made = s->p.def[ir_in(op, k)->id];
		if (made >= 0 && s->p.ops[made].runs) return false;
	}
	return true;
}

static void write_loop(Slicer *s, int level, Op *before)
{
	const Type *i32 = type_scalar(EL_I32);
	Builder b = build_before(before);
	Carried c = { 0 };
	unsigned runs = 0;
	for (int i = 0; i < s->p.n; i++) runs |= s->p.ops[i].runs;
	if (!(runs >> level & 1)) return;
	for (int k = 0; k < 3; k++)
		vec_push(A_TMP, &c.in, k == 1 ? strip_count(s, &b, level) : ir_const_int(&b, i32, k == 2));
	find_carried(s, &b, level, &c);
	Val *end = strip_is_backward(&s->p, level)
		? ir_binary(&b, OP_SUB, i32, c.in.p[1], ir_const_int(&b, i32, 1)) : NULL;
	Op *loop = ir_op(&b, OP_FOR, c.in.n, c.in.p, c.out.n, c.out.p);
	ir_set_int(loop, AT_SLICES, (int64_t)1 << s->log2);
	IrBlock *body = ir_region(loop);
	Builder inner = { s->p.fn, body, NULL, b.span };
	Val **last = NEW_ARRAY(A_TMP, Val *, c.part.n);
	s->counter = ir_arg(body, i32, NULL);
	if (end) s->counter = ir_binary(&inner, OP_SUB, i32, end, s->counter);
	s->indices.n = 0;
	for (int k = 0; k < c.part.n; k++) *place_of(s, &c, k) = ir_arg(body, c.out.p[k], NULL);
	for (int first = 1; first >= 0; first--)
		for (int i = 0; i < s->p.n; i++)
			if (s->p.ops[i].runs >> level & 1 && may_be_first(s, i) == first) cut_op(s, &inner, i);
	for (int k = 0; k < c.part.n; k++) last[k] = *place_of(s, &c, k);
	ir_op(&inner, OP_YIELD, c.part.n, last, 0, NULL);
	finish(s, &b, loop, &c, false);
	finish(s, &b, loop, &c, true);
}

void strip_write(Slicer *s)
{
	Op *end = s->p.ops[s->p.n - 1].op;
	int last = 0;
	s->now = NEW_ARRAY(A_TMP, Val *, s->p.fn->nval);
	s->sum = NEW_ARRAY(A_TMP, Val *, s->p.n);
	s->top = NEW_ARRAY(A_TMP, Val *, s->p.n);
	s->before = NEW_ARRAY(A_TMP, Val **, s->p.n);
	for (int i = 0; i < s->p.n; i++)
		if (s->p.ops[i].scan) s->before[i] = NEW_ARRAY(A_TMP, Val *, scan_values(s->p.ops[i].op));
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
