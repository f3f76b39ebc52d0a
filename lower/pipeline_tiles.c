/* The walk of a thread block over its tiles and their iterations. */
#include "lower/pipeline_write.h"

#include "base/cost.h"

/* What stands for the index of a tile block in the role that is written. */
typedef struct Block { Write *x; Val *row, *col; } Block;

static void set_index(void *ctx, Op *op)
{
	Block *b = ctx;
	if (op->code == OP_BID) b->x->names->own[op->out[0]->id] = ir_axis(op) == b->x->p.row_axis ? b->row : b->col;
}

void pipe_name_block(Write *x, const Fn *fn, Val *row, Val *col)
{
	Block b = { x, row, col };
	ir_walk(fn->body, set_index, &b);
}

int pipe_along_cluster(const Write *x, int axis) { return x->p.plan.axis == axis ? x->p.plan.cluster : 1; }

/* The index of the thread block's own tile, of those of its cluster. */
static Val *in_cluster(Write *x, Val *of_cluster, int axis)
{
	int n = pipe_along_cluster(x, axis);
	return n > 1 ? sum_of(x, times(x, of_cluster, n), x->rank) : of_cluster;
}

/* A loop from first on that carries a cursor. */
static Op *carrying(Write *x, Val *first, Val *end, Val *step, Val *at, const char *name, Builder *back)
{
	Op *loop = ir_op(&x->b, OP_FOR, 4, (Val *[]){ first, end, step, at }, 1, &at->type);
	*back = enter(x, loop);
	ir_arg(x->b.block, i32(), str_intern(name));
	ir_arg(x->b.block, at->type, str_intern("at"));
	return loop;
}

/* What a share has of an item. */
static Op *tile_of_share(Write *x, Val *item)
{
	const Shares *s = &x->shares;
	const Type *five[] = { i32(), i32(), i32(), i32(), i32() };
	Val *in[] = { s->own, item, s->each, s->iterations, s->rest, s->whole };
	Op *op = ir_op(&x->b, OP_STREAM_K, 6, in, 5, five);
	ir_set_int(op, AT_GROUPS, s->count);
	return op;
}

/* Over the shares of this cluster, and over what each has: first, from its last tile to its first one, the
 * iterations that are dealt out, so that others wait for none of them; then whole tiles. Returns the tile's number. */
static Val *begin_shares(Write *x, Walk *w, Val *first, Val *step, Val *start)
{
	Shares *s = &x->shares;
	w->shares.loop = carrying(x, first, number(x, s->count), step, start, "share", &w->shares.back);
	s->own = x->b.block->args.p[0];
	Val *zero = number(x, 0), *one = number(x, 1);
	Val *parts = named(tile_of_share(x, zero)->out[0], "parts"), *items = sum_of(x, parts, s->waves);
	w->loop = carrying(x, zero, items, one, x->b.block->args.p[1], "item", &w->back);
	w->at = x->b.block->args.p[1];
	Op *dealt = tile_of_share(x, x->b.block->args.p[0]);
	s->lo = named(dealt->out[2], "lo");
	s->hi = named(dealt->out[3], "hi");
	s->first = named(dealt->out[4], "first");
	return named(dealt->out[1], "tile");
}

/* Over the tiles of this thread block; at: a cursor that is carried from one to the next; group: of the consumers,
 * NULL: the first. */
Walk pipe_begin_tiles(Write *x, Val *start, Val *group)
{
	Val *first = make(x, OP_BID, i32(), 0, NULL), *step = make(x, OP_NUM_STARTED, i32(), 0, NULL);
	ir_set_int(first->def, AT_AXIS, 0);
	Walk w = { .at = NULL };
	Val *tile;
	if (x->shares.count) {
		tile = begin_shares(x, &w, first, step, start);
	} else {
		w.loop = carrying(x, first, x->tiles, step, start, "tile", &w.back);
		tile = x->b.block->args.p[0];
		w.at = x->b.block->args.p[1];
	}
	const Type *two[] = { i32(), i32() };
	Op *order = ir_op(&x->b, OP_TILE_ORDER, 3, (Val *[]){ tile, x->rows, x->cols }, 2, two);
	ir_set_int(order, AT_GROUPS, COST_GROUPED / pipe_along_cluster(x, 0));
	Val *row = times(x, in_cluster(x, order->out[0], 0), x->p.plan.groups);
	x->col = times(x, in_cluster(x, order->out[1], 1), x->p.reps);
	x->row = group && x->p.plan.groups > 1 ? sum_of(x, row, group) : row;
	pipe_name_block(x, x->p.fn, x->row, x->col);
	return w;
}

void pipe_end_tiles(Write *x, Walk w, Val *at)
{
	leave(x, w.back, 1, &at);
	if (w.shares.loop) leave(x, w.shares.back, 1, w.loop->out);
}

/* The loop of iterations: arguments the counter, the cursor and others. */
Walk pipe_begin_iterations(Write *x, Val *at, int n, Val *const *carried)
{
	Val *in[4 + PIPE_PRODUCTS];
	const Type *out[1 + PIPE_PRODUCTS];
	for (int i = 0; i < 3; i++) in[i] = pipe_value(x, ir_in(x->p.loop, i));
	if (x->shares.count) in[0] = x->shares.lo, in[1] = least(x, x->shares.hi, in[1]);
	in[3] = at;
	for (int i = 0; i < n; i++) in[4 + i] = carried[i];
	for (int i = 0; i <= n; i++) out[i] = in[3 + i]->type;
	Walk w = { .loop = ir_op(&x->b, OP_FOR, 4 + n, in, 1 + n, out) };
	for (int i = 0; i < n; i++) w.loop->out[1 + i]->lay = carried[i]->lay;
	w.back = enter(x, w.loop);
	Val *counter = x->p.loop->region[0]->args.p[0];
	x->names->own[counter->id] = ir_arg(x->b.block, i32(), counter->name);
	w.at = ir_arg(x->b.block, at->type, str_intern("at"));
	return w;
}

/* The first element of an access along an axis. */
Val *pipe_coordinate(Write *x, const Op *op, int axis)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	Val *v = times(x, pipe_value(x, ir_in(op, 1 + axis)), steps->u.ints.p[axis]);
	return offsets && offsets->u.ints.p[axis] ? sum_of(x, v, number(x, offsets->u.ints.p[axis])) : v;
}
