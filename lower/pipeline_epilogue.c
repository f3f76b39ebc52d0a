/* What follows a loop of products, in the layout of its sums and by parts of their columns; stores by the copy
 * engine. */
#include "lower/pipeline_write.h"

/* ---- stores ---- */
/* One thread waits until the copies but the last `pending` have left their boxes, then all
 * threads of the group go on. */
static void wait_for_box(Write *x, int pending)
{
	Builder back;
	region_op(x, OP_ELECT, &back);
	ir_set_int(add(x, OP_BULK_WAIT, 0, NULL), AT_PENDING, pending);
	leave(x, back, 0, NULL);
	add(x, OP_GROUP_BARRIER, 0, NULL);
}

/* Are all boxes waited for at once, before the parts that take them? Where a tile takes each once, they are free long
 * before; where there are many, those of an iteration are. */
static bool waits_by_iterations(const Write *x) { return x->iteration == x->parts || x->iteration > 2; }

static Val *box_part(Write *x, Val *tile, int q)
{
	int64_t cols = pipe_box_cols(tile->type);
	if (type_extent(tile->type, 1) == cols) return tile;
	Val *v = make(x, OP_CUT, matrix(TY_TILE, tile->type->elem, type_extent(tile->type, 0), cols, 0), 1, &tile);
	ir_set_ints(v->def, AT_OFFSETS, 2, (const int64_t[]){ 0, q * cols });
	ir_set_layout(v, pipe_sum_layout(v->type));
	return v;
}

/* turn: which of the part's boxes is next; it is free again when the copies of all but the others have left. */
static void store_by_boxes(Write *x, const Op *op, const Moved *m, Val *group, int *turn)
{
	Val *tile = pipe_value(x, ir_in(op, op->nin - 1)), *first = times(x, group, x->nbox);
	Val *row = pipe_coordinate(x, op, 0), *col = pipe_coordinate(x, op, 1);
	Builder back;
	x->b.span = op->span;
	if (x->box) first = sum_of(x, first, x->box);
	int64_t cols = pipe_box_cols(tile->type);
	for (int q = 0; q < type_extent(tile->type, 1) / cols; q++, ++*turn) {
		if (!waits_by_iterations(x)) wait_for_box(x, x->nbox - 1);
		int which = *turn % x->nbox;
		Val *box = make(x, OP_SLOT, m->type, 2, (Val *[]){ x->boxes,
			which ? sum_of(x, first, number(x, which)) : first });
		ir_set_int(add(x, OP_STMATRIX, 2, (Val *[]){ box, box_part(x, tile, q) }), AT_TRANS, m->transposed);
		add(x, OP_PROXY_FENCE, 0, NULL);
		add(x, OP_GROUP_BARRIER, 0, NULL);
		Val *at = q ? sum_of(x, col, number(x, q * cols)) : col;
		region_op(x, OP_ELECT, &back);
		add(x, OP_TMA_STORE, 4, (Val *[]){ m->map, box, m->transposed ? at : row, m->transposed ? row : at });
		add(x, OP_BULK_COMMIT, 0, NULL);
		leave(x, back, 0, NULL);
	}
}

/* ---- by parts ---- */
/* Of the kernel by parts: what stores need, by Val id, and what of it differs between parts. */
typedef struct Tail { bool *needed, *differs; } Tail;

static Tail look_at_tail(const Write *x)
{
	const Fn *fn = x->part.fn;
	Tail t = { NEW_ARRAY(A_TMP, bool, fn->nval), NEW_ARRAY(A_TMP, bool, fn->nval) };
	for (const Op *op = fn->body->last; op; op = op->prev) {
		bool needed = op->code == OP_STORE || pipe_gives_needed(t.needed, op);
		if (needed && op != x->part.loop) pipe_need_operands(t.needed, op);
	}
	for (const Op *op = fn->body->first; op; op = op->next) {
		bool differs = op == x->part.loop || (op->code == OP_BID && ir_axis(op) == x->part.col_axis);
		for (int i = 0; i < op->nin; i++) differs |= t.differs[ir_in(op, i)->id];
		for (int i = 0; i < op->nout; i++) t.differs[op->out[i]->id] = differs;
	}
	return t;
}

static void write_store(Write *x, const Op *op, Val *group, int *turn, int *stored)
{
	bool boxed = x->out[0].map && *stored < PIPE_LOADS && x->out[*stored].map && pipe_is_boxed(x, op)
		&& pipe_box_of(x, op) == x->out[0].type;
	if (boxed) store_by_boxes(x, op, &x->out[(*stored)++], group, turn);
	else pipe_copy_op(x, op, x->names->own);
}

/* The sums' columns of a part. */
static Val *sums_of_part(Write *x, Val *sum, const Val *like, Val *which)
{
	if (!which) return sum;
	Val *cut = make(x, OP_CUT, like->type, 2, (Val *[]){ sum, which });
	ir_set_ints(cut->def, AT_OFFSETS, 2, (const int64_t[]){ 0, type_extent(like->type, 1) });
	cut->lay = like->lay;
	return cut;
}

static void name_sums(Write *x, Val *const *sum, Val *which)
{
	for (int i = 0; i < x->p.products; i++) {
		Val *r = x->part.loop->out[i];
		x->names->own[r->id] = sums_of_part(x, sum[i], r, which);
	}
}

/* What follows the loop and is the same for all parts. */
static void write_before_parts(Write *x, const Tail *t)
{
	pipe_name_block(x, x->part.fn, x->row, NULL);
	for (const Op *op = x->part.fn->body->first; op; op = op->next) {
		bool skipped = op == x->part.loop || op->code == OP_BID || op->code == OP_STORE || pipe_is_named(x, op);
		if (skipped || !pipe_gives_needed(t->needed, op) || t->differs[op->out[0]->id]) continue;
		pipe_copy_op(x, op, x->names->own);
	}
}

/* which: the number of the part; NULL: there is one. */
static void write_part(Write *x, const Tail *t, Val *const *sum, Val *group, Val *which)
{
	int stored = 0, turn = 0;
	Val *col = which ? sum_of(x, times(x, x->col, x->parts / x->p.reps), which) : x->col;
	pipe_name_block(x, x->part.fn, x->row, col);
	name_sums(x, sum, which);
	for (const Op *op = x->part.fn->body->first; op; op = op->next) {
		if (op == x->part.loop || op->code == OP_BID) continue;
		if (op->code == OP_STORE) write_store(x, op, group, &turn, &stored);
		else if (pipe_gives_needed(t->needed, op) && t->differs[op->out[0]->id]) pipe_copy_op(x, op, x->names->own);
	}
}

static Val *begin_unrolled(Write *x, int n, const char *name, Builder *back)
{
	Val *from = number(x, 0), *to = number(x, n);
	Op *loop = add(x, OP_FOR, 3, (Val *[]){ from, to, number(x, 1) });
	ir_set_int(loop, AT_UNROLL, n);
	*back = enter(x, loop);
	return ir_arg(x->b.block, i32(), str_intern(name));
}

/* Parts are an unrolled loop; where they use boxes round robin, one iteration has as many parts as there are boxes. */
static void write_parts(Write *x, const Tail *t, Val *const *sum, Val *group)
{
	Builder back, iterations;
	bool boxed = x->out[0].map, turns = boxed && x->iteration > 1 && x->iteration < x->parts;
	Val *iteration = NULL, *part;
	x->box = NULL;
	if (turns) iteration = begin_unrolled(x, x->parts / x->iteration, "round", &iterations);
	if (boxed && waits_by_iterations(x)) wait_for_box(x, 0);
	if (x->parts == 1) {
		write_part(x, t, sum, group, NULL);
		return;
	}
	part = begin_unrolled(x, turns ? x->iteration : x->parts, "part", &back);
	if (boxed && x->iteration > 1) x->box = times(x, part, x->turns);
	if (turns) part = sum_of(x, times(x, iteration, x->iteration), part);
	write_part(x, t, sum, group, part);
	leave(x, back, 0, NULL);
	if (turns) leave(x, iterations, 0, NULL);
}

void pipe_write_tail(Write *x, Val *const *sum, Val *group)
{
	Tail t = look_at_tail(x);
	x->names = &x->by_part;
	write_before_parts(x, &t);
	write_parts(x, &t, sum, group);
	x->names = &x->whole;
}
