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

static Val *box_part(Write *x, Val *tile, const Type *box, int q)
{
	if (type_same_shape(tile->type, box)) return tile;
	Val *v = make(x, OP_CUT, matrix(TY_TILE, box->elem, type_extent(box, 0), type_extent(box, 1), 0), 1, &tile);
	ir_set_ints(v->def, AT_OFFSETS, 2, (const int64_t[]){ 0, q * type_extent(box, 1) });
	ir_set_layout(v, pipe_sum_layout(v->type));
	return v;
}

/* turn: which of the group's boxes is next; it is free again when the copies of all but the others have left. A tile
 * takes each equally often, so that this holds from one tile to the next. */
static void store_by_boxes(Write *x, const Op *op, const Moved *m, Val *group, int *turn)
{
	Val *tile = pipe_value(x, ir_in(op, op->nin - 1)), *first = times(x, group, x->nbox);
	Val *row = pipe_coordinate(x, op, 0), *col = pipe_coordinate(x, op, 1);
	Builder back;
	x->b.span = op->span;
	for (int q = 0; q < type_extent(tile->type, 1) / type_extent(m->type, 1); q++, ++*turn) {
		wait_for_box(x, x->nbox - 1);
		int which = *turn % x->nbox;
		Val *box = make(x, OP_SLOT, m->type, 2, (Val *[]){ x->boxes,
			which ? sum_of(x, first, number(x, which)) : first });
		add(x, OP_STMATRIX, 2, (Val *[]){ box, box_part(x, tile, m->type, q) });
		add(x, OP_PROXY_FENCE, 0, NULL);
		add(x, OP_GROUP_BARRIER, 0, NULL);
		Val *at = q ? sum_of(x, col, number(x, q * type_extent(m->type, 1))) : col;
		region_op(x, OP_ELECT, &back);
		add(x, OP_TMA_STORE, 4, (Val *[]){ m->map, box, row, at });
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
		&& pipe_box_of(ir_in(op, op->nin - 1)->type) == x->out[0].type;
	if (boxed) store_by_boxes(x, op, &x->out[(*stored)++], group, turn);
	else pipe_copy_op(x, op, x->names->own);
}

/* The sums' columns of a part: of number `part`, or of the one that a value is the number of. */
static Val *sums_of_part(Write *x, Val *sum, const Val *like, Val *which, int part)
{
	if (type_same_shape(sum->type, like->type)) return sum;
	Val *cut = make(x, OP_CUT, like->type, which ? 2 : 1, (Val *[]){ sum, which });
	ir_set_ints(cut->def, AT_OFFSETS, 2, (const int64_t[]){ 0, (which ? 1 : part) * type_extent(like->type, 1) });
	cut->lay = like->lay;
	return cut;
}

static void name_sums(Write *x, Val *const *sum, Val *which, int part)
{
	for (int i = 0; i < x->p.products; i++) {
		Val *r = x->part.loop->out[i];
		x->names->own[r->id] = sums_of_part(x, sum[i], r, which, part);
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

static void write_part(Write *x, const Tail *t, Val *const *sum, Val *group, Val *which, int part, int *turn)
{
	Val *col = x->col;
	int stored = 0;
	if (x->parts > 1) {
		Val *n = which ? which : number(x, part);
		col = sum_of(x, times(x, x->col, x->parts / x->p.reps), n);
	}
	pipe_name_block(x, x->part.fn, x->row, col);
	name_sums(x, sum, which, part);
	for (const Op *op = x->part.fn->body->first; op; op = op->next) {
		if (op == x->part.loop || op->code == OP_BID) continue;
		if (op->code == OP_STORE) write_store(x, op, group, turn, &stored);
		else if (pipe_gives_needed(t->needed, op) && t->differs[op->out[0]->id]) pipe_copy_op(x, op, x->names->own);
	}
}

/* Parts are an unrolled loop, an iteration of which has as many as take each box equally often. */
static void write_parts(Write *x, const Tail *t, Val *const *sum, Val *group)
{
	int each = x->turns % x->nbox ? x->nbox : 1, turn = 0;
	if (x->parts == each) {
		for (int i = 0; i < each; i++) write_part(x, t, sum, group, NULL, i, &turn);
		return;
	}
	Val *from = number(x, 0), *to = number(x, x->parts / each);
	Op *loop = add(x, OP_FOR, 3, (Val *[]){ from, to, number(x, 1) });
	ir_set_int(loop, AT_UNROLL, x->parts / each);
	Builder back = enter(x, loop);
	Val *first = times(x, ir_arg(x->b.block, i32(), str_intern("part")), each);
	for (int i = 0; i < each; i++) write_part(x, t, sum, group, i ? sum_of(x, first, number(x, i)) : first, i, &turn);
	leave(x, back, 0, NULL);
}

void pipe_write_tail(Write *x, Val *const *sum, Val *group)
{
	Tail t = look_at_tail(x);
	x->names = &x->by_part;
	write_before_parts(x, &t);
	write_parts(x, &t, sum, group);
	x->names = &x->whole;
}
