/* How thread blocks walk over the tiles of a loop of chained products, and over the iterations of a tile. */
#include <string.h>

#include "base/diag.h"
#include "lower/chain_write.h"

static const Type *cursor_type(const Write *x, ChainRing r)
{
	return type_placed(TY_CURSOR, EL_VOID, 0, NULL, NULL, x->ring[r].stages);
}

/* What stands for the indices of a tile block. */
typedef struct Indices { Write *x; Val *at[4]; } Indices;

static void set_index(void *ctx, Op *op)
{
	Indices *n = ctx;
	if (op->code == OP_BID) n->x->own[op->out[0]->id] = n->at[ir_axis(op)];
}

static Val *extent_along(Write *x, int axis) { return ir_launch(&x->b, EL_I32, x->c.fn->grid[axis]); }

/* How many neighbours along the grid's other axes are walked together where rows have iterations of their own: those
 * of COST_CHAIN_WAVES tiles for each thread block, whose factors the L2 cache holds. */
static Val *neighbours(Write *x, Val *started)
{
	Val *one = number(x, 1), *half = over(x, x->rows, number(x, 2));
	Val *n = over(x, both(x, OP_ADD, times(x, started, COST_CHAIN_WAVES), half), x->rows);
	return both(x, OP_MIN, x->others, both(x, OP_MAX, n, one));
}

/* The tile of rows and its index along the other axes. Where all tiles have as many iterations, rows follow each
 * other, so that tiles under way at a time share what iterations load in the L2 cache. */
typedef struct Spot { Val *row, *other; } Spot;

static Op *tile_order(Write *x, Val *n, Val *rows, Val *cols)
{
	const Type *two[] = { i32(), i32() };
	Op *order = ir_op(&x->b, OP_TILE_ORDER, 3, (Val *[]){ n, rows, cols }, 2, two);
	ir_set_int(order, AT_GROUPS, 1);
	return order;
}

static Spot spot_of_equal(Write *x, Val *tile)
{
	Op *order = tile_order(x, tile, x->others, x->rows);
	return (Spot){ order->out[1], order->out[0] };
}

/* Where later rows have more iterations: among neighbours the last rows first, and each other turn of the thread
 * blocks backwards, so that who had the longest tile of a turn has the shortest one of the next. */
static Spot spot_of_unequal(Write *x, Val *tile)
{
	const Type *two[] = { i32(), i32() };
	Op *order = ir_op(&x->b, OP_RAGGED_ORDER, 5, (Val *[]){ tile, x->rows, x->others, x->near, x->started }, 2, two);
	return (Spot){ order->out[0], order->out[1] };
}

/* Indices of a tile along the grid's axes; along rows those of the first group. */
static Indices indices_of(Write *x, Val *tile)
{
	Indices n = { .x = x };
	Spot s = x->c.ragged ? spot_of_unequal(x, tile) : spot_of_equal(x, tile);
	Val *rest = s.other;
	int last = x->c.fn->ngrid - 1;
	if (last == x->c.row_axis) last--;
	n.at[x->c.row_axis] = times(x, s.row, x->groups);
	for (int a = 0; a < x->c.fn->ngrid; a++) {
		if (a == x->c.row_axis) continue;
		n.at[a] = rest;
		if (a == last) break;
		Op *order = tile_order(x, rest, x->others, extent_along(x, a));
		rest = order->out[0];
		n.at[a] = order->out[1];
	}
	return n;
}

/* Names the tile block of a group. */
static void name_tile(Write *x, Indices n)
{
	Val **row = &n.at[x->c.row_axis];
	x->row = *row;
	if (x->group) *row = both(x, OP_ADD, *row, x->group);
	ir_walk(x->c.fn->body, set_index, &n);
}

Loop chain_begin_tiles(Write *x)
{
	Val *first = make(x, OP_BID, i32(), 0, NULL), *step = make(x, OP_NUM_STARTED, i32(), 0, NULL);
	ir_set_int(first->def, AT_AXIS, 0);
	Val *in[3 + RING_COUNT] = { first, x->tiles, step };
	const Type *out[RING_COUNT];
	for (int i = 0; i < RING_COUNT; i++) {
		out[i] = cursor_type(x, i);
		in[3 + i] = make(x, OP_CURSOR, out[i], 0, NULL);
	}
	x->started = step;
	if (x->c.ragged) x->near = neighbours(x, step);
	Loop l = { .op = ir_op(&x->b, OP_FOR, 3 + RING_COUNT, in, RING_COUNT, out) };
	l.r = chain_enter(x, l.op);
	Val *tile = ir_arg(x->b.block, i32(), str_intern("tile"));
	for (int i = 0; i < RING_COUNT; i++) x->place[i] = ir_arg(x->b.block, out[i], str_intern("at"));
	name_tile(x, indices_of(x, tile));
	return l;
}

void chain_end_tiles(Write *x, Loop l) { chain_leave(x, l.r, RING_COUNT, x->place); }

/* How many iterations this group has; how many the group with most of them. A group after the grid's last has one at
 * least, which it does with whatever it finds. */
void chain_count_iterations(Write *x)
{
	const Val *end = ir_in(x->c.loop, 1);
	if (!x->c.ragged) {
		x->iterations = x->most = chain_value(x, end);
		return;
	}
	Val *most = NULL, **own = x->own;
	for (int g = 0; g < x->groups; g++) {
		x->own = own;
		x->own = chain_names(x);
		Indices n = { .x = x };
		for (const Op *op = x->c.fn->body->first; op; op = op->next)
			if (op->code == OP_BID) n.at[ir_axis(op)] = x->own[op->out[0]->id];
		n.at[x->c.row_axis] = g ? both(x, OP_ADD, x->row, number(x, g)) : x->row;
		ir_walk(x->c.fn->body, set_index, &n);
		Val *count = both(x, OP_MAX, chain_value(x, end), number(x, 1));
		most = most ? both(x, OP_MAX, most, count) : count;
	}
	x->own = own;
	x->most = most;
	x->iterations = both(x, OP_MAX, chain_value(x, end), number(x, 1));
}

void chain_advance(Write *x, ChainRing r) { x->place[r] = make(x, OP_ADVANCE, x->place[r]->type, 1, &x->place[r]); }

void chain_name_iteration(Write *x, Val *counter)
{
	const Val *of = x->c.loop->region[0]->args.p[0];
	if (!counter->name) counter->name = of->name;
	x->own[of->id] = counter;
}

/* The first element of an access along an axis of its view. */
static Val *coordinate(Write *x, const Op *op, int axis)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	Val *v = times(x, chain_value(x, ir_in(op, 1 + axis)), steps->u.ints.p[axis]);
	return offsets && offsets->u.ints.p[axis] ? both(x, OP_ADD, v, number(x, offsets->u.ints.p[axis])) : v;
}

/* The coordinates of an access in the order of the tensor map's axes. */
int chain_coordinates(Write *x, const Op *op, const ChainPlace *p, bool transposed, Val **at)
{
	const IrParam *param = &x->c.fn->params.p[p->param];
	int fast = p->axis[transposed ? 0 : 1], last = param->rank - 1;
	for (int a = 0; a < param->rank; a++) {
		if (a == p->axis[0] || a == p->axis[1]) at[a] = coordinate(x, op, a == p->axis[1]);
		else at[a] = p->at[a] ? chain_value(x, p->at[a]) : number(x, 0);
	}
	Val *swap = at[fast];
	at[fast] = at[last];
	at[last] = swap;
	return param->rank;
}

/* ---- iterations, roles ---- */
Loop chain_begin_loop(Write *x, Val *first, Val *end, int n, Val *const *carried, Val **arg, Val **counter)
{
	enum { MOST = RING_COUNT - 1 + CARRIED_MOST };
	Val *in[3 + MOST] = { first, end, number(x, 1), x->place[RING_FIRST], x->place[RING_SECOND] };
	const Type *out[MOST];
	for (int i = 0; i < n; i++) in[5 + i] = carried[i];
	for (int i = 0; i < 2 + n; i++) out[i] = in[3 + i]->type;
	Loop l = { .op = ir_op(&x->b, OP_FOR, 5 + n, in, 2 + n, out) };
	for (int i = 0; i < n; i++) l.op->out[2 + i]->lay = carried[i]->lay;
	l.r = chain_enter(x, l.op);
	*counter = ir_arg(x->b.block, i32(), NULL);
	for (int i = RING_FIRST; i < RING_COUNT; i++)
		x->place[i] = ir_arg(x->b.block, x->place[i]->type, str_intern("at"));
	for (int i = 0; i < n; i++) {
		arg[i] = ir_arg(x->b.block, carried[i]->type, carried[i]->name);
		arg[i]->lay = carried[i]->lay;
	}
	return l;
}

Loop chain_begin_iterations(Write *x, Val *first, Val *end, int n, Val *const *carried, Val **arg)
{
	Val *counter;
	Loop l = chain_begin_loop(x, first, end, n, carried, arg, &counter);
	chain_name_iteration(x, counter);
	return l;
}

void chain_end_iterations(Write *x, Loop l, int n, Val *const *next)
{
	enum { MOST = RING_COUNT - 1 + CARRIED_MOST };
	Val *v[MOST] = { x->place[RING_FIRST], x->place[RING_SECOND] };
	for (int i = 0; i < n; i++) v[2 + i] = next[i];
	chain_leave(x, l.r, 2 + n, v);
	for (int i = 0; i < 2; i++) x->place[RING_FIRST + i] = l.op->out[i];
}

Region chain_begin_role(Write *x, const char *name, int groups, int regs)
{
	Op *role;
	Region r = chain_begin(x, OP_ROLE, &role);
	if (groups > 1) ir_set_int(role, AT_GROUPS, groups);
	ir_set_int(role, AT_REGS, regs);
	ir_set_str(role, AT_TEXT, str_intern(name));
	x->group = ir_arg(x->b.block, i32(), str_intern("group"));
	return r;
}
