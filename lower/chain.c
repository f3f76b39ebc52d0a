/* Chained products as a pipeline of roles, for architectures with a copy engine for tensors and wgmma (pipeline.c has the loops of plain
 * products, and says how rings and roles work).
 *
 * Each group of the consumers has a tile block of its own, neighbours along the axis of the grid along which what is held differs. The loop
 * is rotated by one product (a modulo schedule of two stages): a round issues its products of level 0 and those of level 1 of
 * the round before, waits for the first, and does its operations on registers while the second run:
 *
 *	S = q k(0); P = f(S)
 *	for each further round j:  S = q k(j) | O += P v(j - 1) | wait for S | P' = f(S) | wait for O | scale O, pack P
 *	O += P v(last)
 *
 * So tensor cores work while exponentials are taken, also those of one group alone, and the registers of S are lent again when P is
 * packed. A group whose rounds end before those of its neighbours gives the buffers of the others' rounds back unread. */
#include <string.h>

#include "base/diag.h"
#include "base/machine.h"
#include "ir/valsym.h"
#include "lower/chain.h"
#include "lower/combine.h"
#include "lower/pipeline.h"

enum {
	GROUPS_MOST = 3,
	CHAIN_PARTS = 2,
	CARRIED_MOST = CHAIN_CARRIED + (1 + CHAIN_PARTS) * CHAIN_PRODUCTS,
	WAVES = 4,
	JOINED_LOG2 = 7,        /* elements of a round, as which shorter ones are joined */
	STAGES_MOST = 4, STAGES_LEAST = 2, RING_BYTES = 64 << 10,       /* of the buffers of one load */
	HELD_BUFFERS = 2,
	PRODUCER_REGS = 24,     /* in a group of four warps */
	SPARE_REGS = 32,        /* of a consumer, beside sums and factors: addresses, counters, rows' values */
	REGS_STEP = 8, REGS_MOST = 240, /* of a role */
	EXTENT_MOST = INT32_MAX - (1 << 13),
	MBAR_BYTES = 8, TMA_BOX = 256, SPAN = 128 /* bytes of a row of the widest swizzle */,
	CHAIN_STORES = 2,       /* by the copy engine, at most */
	BOX_COLS_LOG2 = 6,      /* of a stored box; rows are those of a group */
	/* attribute words (ir/attrs.def) */
	MAJOR_MN = 1, PHASE_PREVIOUS = 1
};

typedef struct Ring { Val *full, *empty; int stages; int64_t bytes; } Ring;     /* its mbarriers; bytes of a stage */
typedef struct Moved { Val *map, *ring; const Type *type; } Moved;              /* type: of a buffer */

/* A store by the copy engine, from a ring of boxes in which each group has n, side by side. */
typedef struct Stored { const Op *op; ChainPlace place; Val *map, *ring; const Type *box; int n; } Stored;

typedef struct Write {
	Chain c;
	Fn *fn;
	Builder b;
	Val **own;              /* by Val id of the TYPED kernel: what stands for it where operations are added */
	int groups;
	Moved in[CHAIN_LOADS];
	Ring ring[RING_COUNT];
	Stored out[CHAIN_STORES];
	int stores;
	Val *tiles, *rows, *others;     /* of the walk: all; along the row axis; along the other ones */
	Val *started, *near;    /* thread blocks that walk; neighbours along the other axes that are walked together */
	int64_t at;             /* of shared memory given out so far */
	Val *group;             /* of the consumers; NULL: in the producer */
	Val *row;               /* index of the first group's tile block along the row axis */
	Val *rounds, *most;     /* of this group; of all of them */
	Val *place[RING_COUNT]; /* cursors */
	Val *sum[CHAIN_PRODUCTS];       /* of products of level 0: the tile whose registers they take; of level 1: what they add to */
	Val *factor[CHAIN_PRODUCTS][CHAIN_PARTS];       /* of level 1, lent, by parts of the depth */
	int parts;
	const Val *ends;        /* the author's rounds, of which an odd last one has half of the elements; NULL: none is known to */
	Val *async[CHAIN_PRODUCTS];     /* under way */
	ChainMasks masks;
	bool unmasked;          /* the round that is written needs none */
} Write;

/* ---- building ---- */
static const Type *i32(void) { return type_scalar(EL_I32); }
static Val *number(Write *x, int64_t n) { return ir_const_int(&x->b, i32(), n); }
static Op *add(Write *x, OpCode code, int nin, Val *const *in) { return ir_op(&x->b, code, nin, in, 0, NULL); }
static Val *make(Write *x, OpCode code, const Type *t, int nin, Val *const *in) { return ir_op1(&x->b, code, t, nin, in); }
static Val *both(Write *x, OpCode code, Val *a, Val *b) { return ir_binary(&x->b, code, i32(), a, b); }

static Val *plus(Write *x, Val *a, Val *b)
{
	Num n;
	if (ir_const_value(a, &n) && !n.i) return b;
	return ir_const_value(b, &n) && !n.i ? a : both(x, OP_ADD, a, b);
}

static Val *times(Write *x, Val *a, int64_t n)
{
	Num k;
	if (ir_const_value(a, &k)) return number(x, k.i * n);
	return n == 1 ? a : both(x, OP_MUL, a, number(x, n));
}

static Val *named(Val *v, const char *name)
{
	v->name = str_intern(name);
	return v;
}

static const Type *cursor_type(const Write *x, ChainRing r) { return type_placed(TY_CURSOR, EL_VOID, 0, NULL, NULL, x->ring[r].stages); }
static const Type *as_async(const Type *t) { return type_placed(TY_ASYNC, t->elem, t->rank, t->log2, NULL, 0); }

/* A region of an operation: what is made in it is not known after it. */
typedef struct Region { Builder back; Val **own; } Region;

static Val **copy_names(const Write *x)
{
	Val **own = NEW_ARRAY(A_TMP, Val *, x->c.fn->nval);
	memcpy(own, x->own, (size_t)x->c.fn->nval * sizeof *own);
	return own;
}

static Region enter(Write *x, Op *op)
{
	Region r = { x->b, x->own };
	x->own = copy_names(x);
	x->b = (Builder){ x->fn, ir_region(op), NULL, op->span };
	return r;
}

static void leave(Write *x, Region r, int n, Val *const *v)
{
	add(x, OP_YIELD, n, v);
	x->b = r.back;
	x->own = r.own;
}

static Region begin(Write *x, OpCode code, Op **op)
{
	Op *o = add(x, code, 0, NULL);
	if (op) *op = o;
	return enter(x, o);
}

/* ---- copies of the kernel's own operations ---- */
/* A group's tile may begin after the grid's last. */
static void forget_inside(Op *op)
{
	const IrAttr *a = ir_attr(op, AT_INSIDE);
	if (a) ir_set_ints(op, AT_INSIDE, a->u.ints.n, (const int64_t[TENSOR_RANK]){ 0 });
}

static Val *value(Write *x, const Val *v);

static void copy_op(Write *x, const Op *from)
{
	Val *in[OP_ARGS];
	const Type *out[OP_ARGS];
	if (from->nin > OP_ARGS || from->nout > OP_ARGS || from->nregion) bug("chain: `%s`", op_rows[from->code].name);
	for (int i = 0; i < from->nin; i++) in[i] = value(x, ir_in(from, i));
	for (int i = 0; i < from->nout; i++) out[i] = from->out[i]->type;
	x->b.span = from->span;
	Op *op = ir_op(&x->b, from->code, from->nin, in, from->nout, out);
	copy_attrs(op, from);
	forget_inside(op);
	for (int i = 0; i < from->nout; i++) {
		op->out[i]->name = from->out[i]->name;
		op->out[i]->lay = from->out[i]->lay;
		x->own[from->out[i]->id] = op->out[i];
	}
}

/* What stands for v; scalars, views and loops' invariants are made where they are first needed. */
static Val *value(Write *x, const Val *v)
{
	if (x->own[v->id]) return x->own[v->id];
	if (!v->def || v->def->nregion) bug("chain: %%%d is not known in this role", v->id);
	copy_op(x, v->def);
	return x->own[v->id];
}

static void write_reduction(Write *x, const Op *op)
{
	Val *v = value(x, ir_in(op, 0));
	Parts parts = { .n = 1, .v = { v }, .lay = *v->lay };
	x->b.span = op->span;
	combine_threads(&x->b, op, &parts);
	parts.v[0]->name = op->out[0]->name;
	x->own[op->out[0]->id] = parts.v[0];
}

static void write_vector(Write *x, const Op *op)
{
	if (op_is_reduce(op) && type_is_tile(op->out[0]->type)) write_reduction(x, op);
	else copy_op(x, op);
}

/* ---- shared memory, tensor maps ---- */
static int span_of(const Type *t)
{
	int64_t row = type_extent(t, 1) * elem_bytes(t->elem);
	return row < SPAN ? (int)row : SPAN;
}

/* A tensor whose last axis is contiguous, with boxes of a matrix along its last axis and another one. */
static Val *map_of(Write *x, const ChainPlace *p, bool turned, const Type *buffer)
{
	const IrParam *param = &x->c.fn->params.p[p->param];
	int fast = p->axis[turned ? 0 : 1], slow = p->axis[turned ? 1 : 0], last = param->rank - 1;
	Val *view = value(x, param->val);
	uint8_t log2[TILE_RANK] = { 0 };
	if (fast != last) {
		int64_t axes[TENSOR_RANK];
		for (int a = 0; a < param->rank; a++) axes[a] = a == last ? fast : a == fast ? last : a;
		view = make(x, OP_PERMUTE, view->type, 1, &view);
		ir_set_ints(view->def, AT_AXES, param->rank, axes);
		if (slow == last) slow = fast;
	}
	log2[slow] = buffer->log2[0];
	log2[last] = (uint8_t)log2_of(span_of(buffer) / elem_bytes(buffer->elem));
	while (1 << log2[slow] > TMA_BOX) log2[slow]--;
	uint8_t more[TILE_RANK] = { 0 };
	more[slow] = buffer->more[0];
	Val *map = make(x, OP_TENSOR_MAP, type_placed(TY_TMAP, buffer->elem, param->rank, log2, more, 0), 1, &view);
	ir_set_int(map->def, AT_SWIZZLE, span_of(buffer));
	return map;
}

static Val *ring_of(Write *x, const Type *buffer, int count, const char *name)
{
	const Type *t = type_placed(TY_RING, buffer->elem, buffer->rank, buffer->log2, buffer->more, count);
	Val *ring = make(x, OP_ALLOC_RING, t, 0, NULL);
	ir_set_int(ring->def, AT_SLOT, x->at);
	ir_set_int(ring->def, AT_SWIZZLE, span_of(buffer));
	x->at += type_bytes(buffer) * count;
	return named(ring, name);
}

static Val *mbars(Write *x, int stages, int count, const char *name)
{
	Val *v = make(x, OP_ALLOC_MBAR, type_placed(TY_MBAR, EL_VOID, 0, NULL, NULL, stages), 0, NULL);
	ir_set_int(v->def, AT_NUMBER, count);
	ir_set_int(v->def, AT_SLOT, x->at);
	x->at += MBAR_BYTES * stages;
	return named(v, name);
}

static const Type *buffer_of(const Write *x, const ChainLoad *l)
{
	const Type *t = l->op->out[0]->type;
	uint8_t log2[2] = { t->log2[l->turned], t->log2[!l->turned] }, more[2] = { 0, 0 };
	int groups = l->differs ? x->groups : 1;
	while (groups % 2 == 0) groups /= 2, log2[0]++;
	more[0] = (uint8_t)(groups - 1);
	return type_placed(TY_SHARED, t->elem, 2, log2, more, 0);
}

static void map_loads(Write *x)
{
	for (int i = 0; i < x->c.loads; i++) {
		const ChainLoad *l = &x->c.load[i];
		x->in[i].type = buffer_of(x, l);
		x->in[i].map = map_of(x, &l->place, l->turned, x->in[i].type);
		x->ring[l->ring].bytes += type_bytes(x->in[i].type);
	}
}

/* Can the copy engine store it? A tile of all rows and columns of a group, to memory that is contiguous along columns. */
static bool is_boxed(const Write *x, const Op *op, ChainPlace *place)
{
	const Val *v = ir_in(op, op->nin - 1);
	const Type *t = v->type;
	if (op->code != OP_STORE || t->rank != 2 || elem_bytes(t->elem) != 2 || t->log2[0] != CHAIN_ROWS_LOG2 || t->log2[1] < 4) return false;
	return unit_axis(x->c.fn, ir_in(op, 0), 1) && lay_eq(*v->lay, pipe_sum_layout(t)) && chain_place_of(x->c.fn, op, place);
}

static void map_stores(Write *x)
{
	for (const Op *op = x->c.loop->next; op && x->stores < CHAIN_STORES; op = op->next) {
		Stored *s = &x->out[x->stores];
		if (op->code != OP_STORE || !is_boxed(x, op, &s->place)) continue;
		const Type *t = ir_in(op, op->nin - 1)->type;
		uint8_t log2[2] = { t->log2[0], t->log2[1] < BOX_COLS_LOG2 ? t->log2[1] : BOX_COLS_LOG2 };
		s->op = op;
		s->box = type_placed(TY_SHARED, t->elem, 2, log2, NULL, 0);
		s->n = (int)(type_extent(t, 1) / type_extent(s->box, 1));
		s->map = map_of(x, &s->place, false, s->box);
		x->stores++;
	}
}

static int64_t stored_bytes(const Write *x)
{
	int64_t n = 0;
	for (int i = 0; i < x->stores; i++) n += type_bytes(x->out[i].box) * x->out[i].n * x->groups;
	return n;
}

static void choose_stages(Write *x, int64_t room)
{
	Ring *r = x->ring;
	room -= stored_bytes(x);
	for (int i = RING_FIRST; i < RING_COUNT; i++) {
		r[i].stages = STAGES_MOST;
		while (r[i].stages > STAGES_LEAST && r[i].stages * r[i].bytes > RING_BYTES) r[i].stages--;
		room -= r[i].stages * (r[i].bytes + 2 * MBAR_BYTES);
	}
	r[RING_HELD].stages = HELD_BUFFERS;
	while (r[RING_HELD].stages && r[RING_HELD].stages * (r[RING_HELD].bytes + 2 * MBAR_BYTES) > room) r[RING_HELD].stages--;
}

static bool give_memory(Write *x, int64_t room)
{
	static const char *const full[] = { "held_full", "first_full", "second_full" }, *const empty[] = { "held_empty", "first_empty", "second_empty" };
	Val *bars[2 * RING_COUNT];
	choose_stages(x, room);
	if (!x->ring[RING_HELD].stages) return false;
	for (int i = 0; i < x->c.loads; i++) {
		const ChainLoad *l = &x->c.load[i];
		Str name = x->c.fn->params.p[l->place.param].name;
		x->in[i].ring = ring_of(x, x->in[i].type, x->ring[l->ring].stages, str_fmt("%s_ring", name));
	}
	for (int i = 0; i < x->stores; i++) {
		Stored *o = &x->out[i];
		o->ring = ring_of(x, o->box, o->n * x->groups, str_fmt("%s_boxes", x->c.fn->params.p[o->place.param].name));
	}
	for (int i = 0; i < RING_COUNT; i++) {
		bars[2 * i] = x->ring[i].full = mbars(x, x->ring[i].stages, 1, full[i]);
		bars[2 * i + 1] = x->ring[i].empty = mbars(x, x->ring[i].stages, x->groups, empty[i]);
	}
	add(x, OP_MBAR_INIT, 2 * RING_COUNT, bars);
	return true;
}

/* ---- the walk over tiles ---- */
typedef struct Indices { Write *x; Val *at[4]; } Indices;

static void set_index(void *ctx, Op *op)
{
	Indices *n = ctx;
	if (op->code == OP_BID) n->x->own[op->out[0]->id] = n->at[ir_axis(op)];
}

static Val *extent_along(Write *x, int axis) { return ir_launch(&x->b, EL_I32, x->c.fn->grid[axis]); }

static Val *over(Write *x, Val *a, Val *b) { return both(x, OP_DIV, a, b); }
static Val *less(Write *x, Val *a, Val *b) { return both(x, OP_SUB, a, b); }

/* How many neighbours along the grid's other axes are walked together where rows have rounds of their own: those of WAVES tiles for each
 * thread block, whose factors the L2 cache holds. */
static Val *neighbours(Write *x, Val *started)
{
	Val *tiles = both(x, OP_ADD, times(x, started, WAVES), over(x, x->rows, number(x, 2)));
	return both(x, OP_MIN, x->others, both(x, OP_MAX, over(x, tiles, x->rows), number(x, 1)));
}

/* The tile of rows and its index along the other axes. Where all tiles have as many rounds, rows follow each other, so that tiles
 * under way at a time share what rounds load in the L2 cache. */
typedef struct Spot { Val *row, *other; } Spot;

static Spot spot_of_equal(Write *x, Val *tile)
{
	const Type *two[] = { i32(), i32() };
	Op *order = ir_op(&x->b, OP_TILE_ORDER, 3, (Val *[]){ tile, x->others, x->rows }, 2, two);
	ir_set_int(order, AT_GROUPS, 1);
	return (Spot){ order->out[1], order->out[0] };
}

/* Where later rows have more rounds: among neighbours the last rows first, and each other turn of the thread blocks backwards, so that who
 * had the longest tile of a turn has the shortest one of the next. */
static Spot spot_of_unequal(Write *x, Val *tile)
{
	Val *all = both(x, OP_MUL, x->near, x->rows), *turn_of = over(x, tile, all), *first = both(x, OP_MUL, turn_of, x->near);
	Val *near = both(x, OP_MIN, x->near, less(x, x->others, first)), *at = less(x, tile, both(x, OP_MUL, turn_of, all));
	Val *turn = over(x, at, x->started), *begin = both(x, OP_MUL, turn, x->started), *count = both(x, OP_MUL, near, x->rows);
	Val *many = both(x, OP_MIN, x->started, less(x, count, begin)), *i = less(x, at, begin);
	Val *back = less(x, less(x, many, number(x, 1)), i);
	Val *odd = ir_binary(&x->b, OP_NE, type_scalar(EL_BOOL), both(x, OP_REM, turn, number(x, 2)), number(x, 0));
	Val *n = both(x, OP_ADD, begin, make(x, OP_SELECT, i32(), 3, (Val *[]){ odd, back, i })), *down = over(x, n, near);
	return (Spot){ less(x, less(x, x->rows, number(x, 1)), down), both(x, OP_ADD, first, less(x, n, both(x, OP_MUL, down, near))) };
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
		Val *extent = a == last ? NULL : extent_along(x, a);
		n.at[a] = extent ? both(x, OP_REM, rest, extent) : rest;
		if (extent) rest = over(x, rest, extent);
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

/* Over the tiles of this thread block, carrying the rings' places and, for consumers, the tile's indices: divisions for the next tile stand
 * where this one's results are stored, not where everybody waits for the first product. */
typedef struct Loop { Op *op; Region r; Val *tile; } Loop;

static Loop begin_tiles(Write *x)
{
	enum { MOST = RING_COUNT + 4 };
	Val *first = make(x, OP_BID, i32(), 0, NULL), *step = make(x, OP_NUM_STARTED, i32(), 0, NULL);
	ir_set_int(first->def, AT_AXIS, 0);
	Val *in[3 + MOST] = { first, x->tiles, step };
	const Type *out[MOST];
	int n = RING_COUNT;
	for (int i = 0; i < RING_COUNT; i++) {
		out[i] = cursor_type(x, i);
		in[3 + i] = make(x, OP_CURSOR, out[i], 0, NULL);
	}
	x->started = step;
	if (x->c.ragged) x->near = neighbours(x, step);
	Indices at = { .x = x };
	if (x->group) at = indices_of(x, first);
	for (int a = 0; x->group && a < x->c.fn->ngrid; a++, n++) {
		in[3 + n] = at.at[a];
		out[n] = i32();
	}
	Loop l = { .op = ir_op(&x->b, OP_FOR, 3 + n, in, n, out) };
	l.r = enter(x, l.op);
	l.tile = ir_arg(x->b.block, i32(), str_intern("tile"));
	for (int i = 0; i < RING_COUNT; i++) x->place[i] = ir_arg(x->b.block, out[i], str_intern("at"));
	for (int i = RING_COUNT; i < n; i++) at.at[i - RING_COUNT] = ir_arg(x->b.block, i32(), NULL);
	name_tile(x, x->group ? at : indices_of(x, l.tile));
	return l;
}

/* next: indices of the next tile, of consumers. */
static void end_tiles(Write *x, Loop l, const Indices *next)
{
	Val *v[RING_COUNT + 4];
	int n = RING_COUNT;
	memcpy(v, x->place, sizeof x->place);
	for (int a = 0; next && a < x->c.fn->ngrid; a++) v[n++] = next->at[a];
	leave(x, l.r, n, v);
}

/* How many rounds this group has; how many the group with most of them. A group after the grid's last has one at least, which it does
 * with whatever it finds. */
static void count_rounds(Write *x)
{
	const Val *end = ir_in(x->c.loop, 1);
	if (!x->c.ragged) {
		x->rounds = x->most = value(x, end);
		return;
	}
	Val *most = NULL, **own = x->own;
	for (int g = 0; g < x->groups; g++) {
		x->own = own;
		x->own = copy_names(x);
		Indices n = { .x = x };
		for (const Op *op = x->c.fn->body->first; op; op = op->next)
			if (op->code == OP_BID) n.at[ir_axis(op)] = x->own[op->out[0]->id];
		n.at[x->c.row_axis] = g ? both(x, OP_ADD, x->row, number(x, g)) : x->row;
		ir_walk(x->c.fn->body, set_index, &n);
		Val *count = both(x, OP_MAX, value(x, end), number(x, 1));
		most = most ? both(x, OP_MAX, most, count) : count;
	}
	x->own = own;
	x->most = most;
	x->rounds = both(x, OP_MAX, value(x, end), number(x, 1));
}

static void advance(Write *x, ChainRing r) { x->place[r] = make(x, OP_ADVANCE, x->place[r]->type, 1, &x->place[r]); }

static void name_round(Write *x, Val *counter)
{
	const Val *of = x->c.loop->region[0]->args.p[0];
	if (!counter->name) counter->name = of->name;
	x->own[of->id] = counter;
}

/* The first element of an access along an axis of its view. */
static Val *coordinate(Write *x, const Op *op, int axis)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	Val *v = times(x, value(x, ir_in(op, 1 + axis)), steps->u.ints.p[axis]);
	return offsets && offsets->u.ints.p[axis] ? both(x, OP_ADD, v, number(x, offsets->u.ints.p[axis])) : v;
}

/* The coordinates of an access in the order of the tensor map's axes. */
static int coordinates(Write *x, const Op *op, const ChainPlace *p, bool turned, Val **at)
{
	const IrParam *param = &x->c.fn->params.p[p->param];
	int fast = p->axis[turned ? 0 : 1], last = param->rank - 1;
	for (int a = 0; a < param->rank; a++) {
		if (a == p->axis[0] || a == p->axis[1]) at[a] = coordinate(x, op, a == p->axis[1]);
		else at[a] = p->at[a] ? value(x, p->at[a]) : number(x, 0);
	}
	Val *swap = at[fast];
	at[fast] = at[last];
	at[last] = swap;
	return param->rank;
}

/* ---- the producer ---- */
/* Fills the next buffers of a ring. */
static void fill(Write *x, ChainRing r)
{
	Val *at[CHAIN_LOADS][TENSOR_RANK];
	int n[CHAIN_LOADS];
	for (int i = 0; i < x->c.loads; i++) {
		const ChainLoad *l = &x->c.load[i];
		if (l->ring == r) n[i] = coordinates(x, l->op, &l->place, l->turned, at[i]);
	}
	ir_set_int(add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->ring[r].empty, x->place[r] }), AT_PHASE, PHASE_PREVIOUS);
	Region e = begin(x, OP_ELECT, NULL);
	ir_set_int(add(x, OP_MBAR_EXPECT, 2, (Val *[]){ x->ring[r].full, x->place[r] }), AT_BYTES, x->ring[r].bytes);
	for (int i = 0; i < x->c.loads; i++) {
		if (x->c.load[i].ring != r) continue;
		x->b.span = x->c.load[i].op->span;
		Val *in[4 + TENSOR_RANK] = { make(x, OP_SLOT, x->in[i].type, 2, (Val *[]){ x->in[i].ring, x->place[r] }), x->in[i].map,
			x->ring[r].full, x->place[r] };
		for (int a = 0; a < n[i]; a++) in[4 + a] = at[i][a];
		add(x, OP_TMA_LOAD, 4 + n[i], in);
	}
	leave(x, e, 0, NULL);
	advance(x, r);
}

/* What is left of a thread block's registers by the producer's. */
static int consumer_regs(int groups)
{
	int n = (machine_registers() / 128 - PRODUCER_REGS) / groups / REGS_STEP * REGS_STEP;
	return n > REGS_MOST ? REGS_MOST : n;
}

/* Sums of all products, and factors in registers of 16-bit elements, at once. */
static int words_needed(const Chain *c)
{
	int64_t n = SPARE_REGS;
	for (int i = 0; i < c->products; i++) {
		const Op *op = c->product[i].op;
		n += type_size(op->out[0]->type) / 128;
		if (c->product[i].level) n += type_size(ir_in(op, 0)->type) / 256;
	}
	return (int)n;
}

/* More groups share what rounds load, and overlap more of their vector work; as many as registers allow. */
static int choose_groups(const Chain *c)
{
	int groups = GROUPS_MOST;
	while (groups > 1 && consumer_regs(groups) < words_needed(c)) groups--;
	return groups;
}

static Region begin_role(Write *x, const char *name, int groups, int regs)
{
	Op *role;
	Region r = begin(x, OP_ROLE, &role);
	if (groups > 1) ir_set_int(role, AT_GROUPS, groups);
	ir_set_int(role, AT_REGS, regs);
	ir_set_str(role, AT_TEXT, str_intern(name));
	x->group = ir_arg(x->b.block, i32(), str_intern("group"));
	return r;
}

/* Rounds from `first` on, carrying the rings' places and n more values. */
static Loop begin_rounds(Write *x, Val *first, Val *end, int n, Val *const *carried, Val **arg)
{
	enum { MOST = RING_COUNT - 1 + CARRIED_MOST };
	Val *in[3 + MOST] = { first, end, number(x, 1), x->place[RING_FIRST], x->place[RING_SECOND] };
	const Type *out[MOST];
	for (int i = 0; i < n; i++) in[5 + i] = carried[i];
	for (int i = 0; i < 2 + n; i++) out[i] = in[3 + i]->type;
	Loop l = { .op = ir_op(&x->b, OP_FOR, 5 + n, in, 2 + n, out) };
	for (int i = 0; i < n; i++) l.op->out[2 + i]->lay = carried[i]->lay;
	l.r = enter(x, l.op);
	name_round(x, ir_arg(x->b.block, i32(), NULL));
	for (int i = RING_FIRST; i < RING_COUNT; i++) x->place[i] = ir_arg(x->b.block, x->place[i]->type, str_intern("at"));
	for (int i = 0; i < n; i++) {
		arg[i] = ir_arg(x->b.block, carried[i]->type, carried[i]->name);
		arg[i]->lay = carried[i]->lay;
	}
	return l;
}

static void end_rounds(Write *x, Loop l, int n, Val *const *next)
{
	enum { MOST = RING_COUNT - 1 + CARRIED_MOST };
	Val *v[MOST] = { x->place[RING_FIRST], x->place[RING_SECOND] };
	for (int i = 0; i < n; i++) v[2 + i] = next[i];
	leave(x, l.r, 2 + n, v);
	for (int i = 0; i < 2; i++) x->place[RING_FIRST + i] = l.op->out[i];
}

/* In the order in which consumers want it. */
static void write_producer(Write *x)
{
	Region role = begin_role(x, "producer", 1, PRODUCER_REGS), warp = begin(x, OP_ONE_WARP, NULL);
	x->group = NULL;
	add(x, OP_GRID_WAIT, 0, NULL);
	add(x, OP_GRID_LAUNCH, 0, NULL);
	Loop t = begin_tiles(x);
	count_rounds(x);
	fill(x, RING_HELD);
	Val **own = copy_names(x);
	name_round(x, number(x, 0));
	fill(x, RING_FIRST);
	x->own = own;
	Loop l = begin_rounds(x, number(x, 1), x->most, 0, NULL, NULL);
	Val *counter = value(x, x->c.loop->region[0]->args.p[0]);
	fill(x, RING_FIRST);
	own = x->own;
	x->own = l.r.own;
	x->own = copy_names(x);
	name_round(x, both(x, OP_SUB, counter, number(x, 1)));
	fill(x, RING_SECOND);
	x->own = own;
	end_rounds(x, l, 0, NULL);
	name_round(x, both(x, OP_SUB, x->most, number(x, 1)));
	fill(x, RING_SECOND);
	end_tiles(x, t, NULL);
	leave(x, warp, 0, NULL);
	leave(x, role, 0, NULL);
}

/* ---- the consumers ---- */
static Val *lend(Write *x, Val *v)
{
	if (v->type->kind == TY_ASYNC) return v;
	Val *r = make(x, OP_WGMMA_FENCE, as_async(v->type), 1, &v);
	r->lay = v->lay;
	return r;
}

/* Part k of n of a buffer, along the depth of a second factor. */
static Val *depth_part(Write *x, Val *buffer, bool mn_major, int k, int n)
{
	if (n == 1) return buffer;
	const Type *t = buffer->type;
	uint8_t log2[2] = { t->log2[0], t->log2[1] };
	log2[mn_major ? 0 : 1] -= (uint8_t)log2_of(n);
	Val *zero = number(x, 0), *at = number(x, k);
	Val *part = make(x, OP_PART, type_placed(TY_SHARED, t->elem, 2, log2, NULL, 0), 3,
		(Val *[]){ buffer, mn_major ? at : zero, mn_major ? zero : at });
	ir_set_ints(part->def, AT_STEPS, 2, (const int64_t[]){ INT64_C(1) << log2[0], INT64_C(1) << log2[1] });
	return part;
}

static Val *factor_in(Write *x, const ChainFactor *f)
{
	const ChainLoad *l = &x->c.load[f->load];
	const Moved *m = &x->in[f->load];
	Val *whole = make(x, OP_SLOT, m->type, 2, (Val *[]){ m->ring, x->place[l->ring] });
	if (!l->differs) return whole;
	const Type *t = l->op->out[0]->type;
	Val *part = make(x, OP_PART, type_placed(TY_SHARED, t->elem, 2, t->log2, NULL, 0), 3, (Val *[]){ whole, x->group, number(x, 0) });
	ir_set_ints(part->def, AT_STEPS, 2, (const int64_t[]){ type_extent(t, 0), type_extent(t, 1) });
	return part;
}

static Val *multiply(Write *x, const ChainProduct *r, Val *sum, Val *a, Val *b, Val *keep)
{
	Val *in[] = { sum, a, b, keep };
	x->b.span = r->op->span;
	Val *v = make(x, OP_WGMMA, sum->type, keep ? 4 : 3, in);
	v->lay = sum->lay;
	v->name = r->op->out[0]->name;
	if (!r->level && r->a.mn_major) ir_set_int(v->def, AT_A_MAJOR, MAJOR_MN);
	if (r->b.mn_major) ir_set_int(v->def, AT_B_MAJOR, MAJOR_MN);
	return v;
}

/* Issues the products of a level; of level 1 with so many parts of the depth. */
static void issue(Write *x, int level, int parts)
{
	ChainRing ring = level ? RING_SECOND : RING_FIRST;
	Val *none = level ? NULL : ir_const_int(&x->b, type_scalar(EL_BOOL), 0);
	add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->ring[ring].full, x->place[ring] });
	for (int i = 0; i < x->c.products; i++)
		if (x->c.product[i].level == level) x->async[i] = lend(x, x->sum[i]);
	for (int i = 0; i < x->c.products; i++) {
		const ChainProduct *r = &x->c.product[i];
		if (r->level != level) continue;
		if (!level) x->async[i] = multiply(x, r, x->async[i], factor_in(x, &r->a), factor_in(x, &r->b), none);
		Val *b = level ? factor_in(x, &r->b) : NULL;
		for (int k = 0; level && k < parts; k++)
			x->async[i] = multiply(x, r, x->async[i], x->factor[i][k], depth_part(x, b, r->b.mn_major, k, x->parts), NULL);
	}
	add(x, OP_WGMMA_COMMIT, 0, NULL);
}

/* Waits for the products of a level, then gives their buffers back; pending: groups of products that may go on. The ring is to be
 * advanced. */
static void await(Write *x, int level, int pending)
{
	ChainRing ring = level ? RING_SECOND : RING_FIRST;
	Val *in[CHAIN_PRODUCTS];
	const Type *out[CHAIN_PRODUCTS];
	int n = 0, k = 0;
	for (int i = 0; i < x->c.products; i++) {
		if (x->c.product[i].level != level) continue;
		out[n] = x->c.product[i].op->out[0]->type;
		in[n++] = x->async[i];
	}
	Op *wait = ir_op(&x->b, OP_WGMMA_WAIT, n, in, n, out);
	if (pending) ir_set_int(wait, AT_PENDING, pending);
	for (int i = 0; i < x->c.products; i++) {
		const ChainProduct *r = &x->c.product[i];
		if (r->level != level) continue;
		Val *v = wait->out[k++];
		v->lay = r->op->out[0]->lay;
		v->name = r->op->out[0]->name;
		x->sum[i] = v;
		if (level) x->own[x->c.loop->region[0]->args.p[1 + r->carried]->id] = v;
		else x->own[r->op->out[0]->id] = v;
	}
	add(x, OP_MBAR_ARRIVE, 2, (Val *[]){ x->ring[ring].empty, x->place[ring] });
}

static void finish(Write *x, int level, int pending)
{
	await(x, level, pending);
	advance(x, level ? RING_SECOND : RING_FIRST);
}

/* Lends a factor, by parts of its columns. */
static void lend_factor(Write *x, int product, Val *v)
{
	for (int k = 0; k < x->parts; k++) {
		Val *part = v;
		if (x->parts > 1) {
			uint8_t log2[2] = { v->type->log2[0], (uint8_t)(v->type->log2[1] - log2_of(x->parts)) };
			part = make(x, OP_CUT, type_tile(v->type->elem, 2, log2), 1, &v);
			ir_set_ints(part->def, AT_OFFSETS, 2, (const int64_t[]){ 0, (int64_t)k << log2[1] });
			ir_set_layout(part, pipe_sum_layout(part->type));
		}
		x->factor[product][k] = lend(x, part);
	}
}

/* A factor's last conversion, to 16 bits: done when its registers are free again. */
static bool packs(const Chain *c, const Op *op)
{
	bool some = false;
	for (int i = 0; i < c->products; i++) some |= c->product[i].level && ir_in(c->product[i].op, 0)->def == op;
	if (!some || op->code != OP_CAST || elem_bytes(ir_in(op, 0)->type->elem) < 4) return false;
	for (const Op *o = op->parent->first; o; o = o->next)
		for (int i = 0; i < o->nin; i++)
			if (ir_in(o, i) == op->out[0] && !chain_product_of(c, o)) return false;
	return true;
}

static bool is_mask(const Write *x, const Op *op)
{
	for (int i = 0; i < x->masks.masks; i++)
		if (x->masks.mask[i] == op) return true;
	return false;
}

/* Operations of a round on registers: those that need no sum of level 1, or (late) the others. */
static void write_vectors(Write *x, bool late)
{
	const IrBlock *b = x->c.loop->region[0];
	for (const Op *op = b->first; op != b->last; op = op->next) {
		bool tile = op->nout && type_is_tile(op->out[0]->type), factor = chain_load_of(&x->c, op) || op->code == OP_PERMUTE;
		if (!tile || factor || chain_product_of(&x->c, op)) continue;
		if ((x->c.late[op->out[0]->id] || packs(&x->c, op)) != late) continue;
		if (x->unmasked && is_mask(x, op)) x->own[op->out[0]->id] = value(x, ir_in(op, 1));
		else write_vector(x, op);
	}
}

/* After the operations of a round: what products of level 1 will take, and registers for the next of level 0: the last tile of their
 * shape that has been made. */
static void take_operands(Write *x)
{
	const IrBlock *b = x->c.loop->region[0];
	for (int i = 0; i < x->c.products; i++) {
		const ChainProduct *r = &x->c.product[i];
		if (r->level) {
			x->sum[i] = value(x, ir_in(r->op, 2));
			lend_factor(x, i, value(x, ir_in(r->op, 0)));
			continue;
		}
		for (const Op *op = b->last->prev; op && op != r->op; op = op->prev) {
			bool same = op->nout == 1 && op->out[0]->type == r->op->out[0]->type && x->own[op->out[0]->id];
			same = same && op_rows[op->code].flags & OPF_ELEMWISE;
			bool taken = false;
			for (int k = 0; same && k < i; k++) taken |= x->sum[k] == x->own[op->out[0]->id];
			if (!same || taken || x->c.late[op->out[0]->id]) continue;
			x->sum[i] = x->own[op->out[0]->id];
			break;
		}
	}
}

static bool is_sum(const Chain *c, int carried)
{
	for (int i = 0; i < c->products; i++)
		if (c->product[i].level && c->product[i].carried == carried) return true;
	return false;
}

/* What rounds carry: the loop's own values but for sums; registers of products, sums, factors. */
typedef struct Carried { int n; Val *v[CARRIED_MOST]; } Carried;

static Carried carried_after(Write *x)
{
	const IrBlock *b = x->c.loop->region[0];
	Carried r = { 0 };
	for (int i = 0; i < b->last->nin; i++)
		if (!is_sum(&x->c, i)) r.v[r.n++] = value(x, ir_in(b->last, i));
	for (int i = 0; i < x->c.products; i++) {
		r.v[r.n++] = x->sum[i];
		for (int k = 0; x->c.product[i].level && k < x->parts; k++) r.v[r.n++] = x->factor[i][k];
	}
	return r;
}

/* to: where values of the loop are known; the arguments or the results of the loop of rounds. */
static void name_carried(Write *x, Val *const *v, bool after)
{
	const IrBlock *b = x->c.loop->region[0];
	for (int i = 0; i < b->last->nin; i++) {
		if (is_sum(&x->c, i)) continue;
		const Val *of = after ? x->c.loop->out[i] : b->args.p[1 + i];
		(*v)->name = of->name;
		x->own[of->id] = *v++;
	}
	for (int i = 0; i < x->c.products; i++) {
		x->sum[i] = *v++;
		for (int k = 0; x->c.product[i].level && k < x->parts; k++) x->factor[i][k] = *v++;
	}
}

static Val *zeros_like(Write *x, const Val *v)
{
	Val *z = ir_const_num(&x->b, v->type, (Num){ 0 });
	z->lay = v->lay;
	return z;
}

/* The first round, whose values are those that the loop begins with. */
static void write_first(Write *x)
{
	const IrBlock *b = x->c.loop->region[0];
	for (int i = 0; i < b->last->nin; i++) x->own[b->args.p[1 + i]->id] = value(x, ir_in(x->c.loop, 3 + i));
	for (int i = 0; i < x->c.products; i++)
		if (!x->c.product[i].level) x->sum[i] = zeros_like(x, x->c.product[i].op->out[0]);
	name_round(x, number(x, 0));
	add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->ring[RING_HELD].full, x->place[RING_HELD] });
	issue(x, 0, 1);
	finish(x, 0, 0);
	write_vectors(x, false);
	write_vectors(x, true);
	take_operands(x);
}

/* The least element of a limit (chain_mask.c). */
static Val *least(Write *x, const Val *v)
{
	const Op *op = v->def;
	Num n;
	if (ir_const_value(v, &n)) return number(x, n.i);
	if (type_is_scalar(v->type)) return value(x, v);
	switch (op->code) {
	case OP_IOTA: return number(x, 0);
	case OP_BROADCAST: return least(x, ir_in(op, 0));
	case OP_ADD: return plus(x, least(x, ir_in(op, 0)), least(x, ir_in(op, 1)));
	case OP_MIN: return both(x, OP_MIN, least(x, ir_in(op, 0)), least(x, ir_in(op, 1)));
	default: bug("chain: `%s` has no least element", op_rows[op->code].name);
	}
}

/* Where rounds with masks begin: after the first one, at the end at most. */
static Val *first_masked(Write *x)
{
	Val *at = x->rounds;
	for (int i = 0; i < x->masks.limits; i++)
		at = both(x, OP_MIN, at, both(x, OP_DIV, least(x, x->masks.limit[i]), number(x, x->masks.columns[i])));
	return both(x, OP_MAX, at, number(x, 1));
}

/* Further rounds from `first` on, which carry c. */
static Carried write_rounds(Write *x, Val *first, Val *end, Carried c)
{
	Val *arg[CARRIED_MOST];
	Loop l = begin_rounds(x, first, end, c.n, c.v, arg);
	name_carried(x, arg, false);
	issue(x, 0, 1);
	issue(x, 1, x->parts);
	finish(x, 0, 1);
	write_vectors(x, false);
	finish(x, 1, 0);
	write_vectors(x, true);
	take_operands(x);
	c = carried_after(x);
	end_rounds(x, l, c.n, c.v);
	for (int i = 0; i < c.n; i++) c.v[i] = l.op->out[2 + i];
	return c;
}

/* The rounds after the first one. */
static void write_further(Write *x, Carried c)
{
	Val *first = number(x, 1);
	if (x->masks.masks) {
		Val *masked = first_masked(x);
		x->unmasked = true;
		c = write_rounds(x, first, masked, c);
		x->unmasked = false;
		first = masked;
	}
	c = write_rounds(x, first, x->rounds, c);
	name_carried(x, c.v, true);
}

/* Gives back the buffers of rounds that only other groups have. */
static void drain(Write *x)
{
	const Type *out[] = { x->place[RING_FIRST]->type, x->place[RING_SECOND]->type };
	Val *in[] = { x->rounds, x->most, number(x, 1), x->place[RING_FIRST], x->place[RING_SECOND] };
	Loop l = { .op = ir_op(&x->b, OP_FOR, 5, in, 2, out) };
	l.r = enter(x, l.op);
	ir_arg(x->b.block, i32(), NULL);
	for (int i = RING_FIRST; i < RING_COUNT; i++) {
		x->place[i] = ir_arg(x->b.block, out[i - RING_FIRST], str_intern("at"));
		add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->ring[i].full, x->place[i] });
		add(x, OP_GROUP_BARRIER, 0, NULL);
		add(x, OP_MBAR_ARRIVE, 2, (Val *[]){ x->ring[i].empty, x->place[i] });
		advance(x, i);
	}
	leave(x, l.r, 2, x->place + RING_FIRST);
	for (int i = RING_FIRST; i < RING_COUNT; i++) x->place[i] = l.op->out[i - RING_FIRST];
}

/* In a branch of an `if`, which gives the sums. */
static void write_branch(Write *x, Op *op, int parts)
{
	Val *sum[CHAIN_PRODUCTS], *out[CHAIN_PRODUCTS];
	int n = 0;
	memcpy(sum, x->sum, sizeof sum);
	Region r = enter(x, op);
	issue(x, 1, parts);
	await(x, 1, 0);
	for (int i = 0; i < x->c.products; i++)
		if (x->c.product[i].level) out[n++] = x->sum[i];
	leave(x, r, n, out);
	memcpy(x->sum, sum, sizeof sum);
}

/* Half a round, if the author's rounds are odd: what lies after it is not multiplied. */
static void write_last_parts(Write *x)
{
	const Type *out[CHAIN_PRODUCTS], *boolean = type_scalar(EL_BOOL);
	int n = 0;
	for (int i = 0; i < x->c.products; i++)
		if (x->c.product[i].level) out[n++] = x->sum[i]->type;
	Val *left = both(x, OP_REM, value(x, x->ends), number(x, x->parts));
	Val *half = ir_binary(&x->b, OP_EQ, boolean, left, number(x, 1));
	Op *op = ir_op(&x->b, OP_IF, 1, &half, n, out);
	write_branch(x, op, 1);
	write_branch(x, op, x->parts);
	for (int i = n = 0; i < x->c.products; i++) {
		if (!x->c.product[i].level) continue;
		op->out[n]->lay = x->sum[i]->lay;
		x->sum[i] = op->out[n++];
	}
}

/* The products of level 1 of the last round. */
static void write_last(Write *x)
{
	add(x, OP_MBAR_ARRIVE, 2, (Val *[]){ x->ring[RING_HELD].empty, x->place[RING_HELD] });
	advance(x, RING_HELD);
	if (x->parts > 1) {
		write_last_parts(x);
	} else {
		issue(x, 1, 1);
		await(x, 1, 0);
	}
	advance(x, RING_SECOND);
	for (int i = 0; i < x->c.products; i++)
		if (x->c.product[i].level) x->own[x->c.loop->out[x->c.product[i].carried]->id] = x->sum[i];
}

/* ---- stores ---- */
/* One thread waits until copies have left their boxes, then all threads of the group go on. */
static void wait_for_boxes(Write *x)
{
	Region e = begin(x, OP_ELECT, NULL);
	add(x, OP_BULK_WAIT, 0, NULL);
	leave(x, e, 0, NULL);
}

static Val *box_part(Write *x, Val *tile, const Type *box, int q)
{
	if (type_same_shape(tile->type, box)) return tile;
	Val *v = make(x, OP_CUT, type_tile(box->elem, 2, box->log2), 1, &tile);
	ir_set_ints(v->def, AT_OFFSETS, 2, (const int64_t[]){ 0, q * type_extent(box, 1) });
	ir_set_layout(v, pipe_sum_layout(v->type));
	return v;
}

static void store_by_boxes(Write *x, const Stored *s)
{
	enum { BOXES = 1 << (8 - BOX_COLS_LOG2) };
	Val *tile = value(x, ir_in(s->op, s->op->nin - 1)), *first = times(x, x->group, s->n), *box[BOXES], *in[2 + TENSOR_RANK] = { s->map };
	x->b.span = s->op->span;
	int n = coordinates(x, s->op, &s->place, false, in + 2);
	wait_for_boxes(x);
	add(x, OP_GROUP_BARRIER, 0, NULL);
	for (int q = 0; q < s->n; q++) {
		box[q] = make(x, OP_SLOT, s->box, 2, (Val *[]){ s->ring, plus(x, first, number(x, q)) });
		add(x, OP_STMATRIX, 2, (Val *[]){ box[q], box_part(x, tile, s->box, q) });
	}
	add(x, OP_PROXY_FENCE, 0, NULL);
	add(x, OP_GROUP_BARRIER, 0, NULL);
	Region e = begin(x, OP_ELECT, NULL);
	Val *col = in[1 + n];
	for (int q = 0; q < s->n; q++) {
		in[1] = box[q];
		in[1 + n] = plus(x, col, number(x, q * type_extent(s->box, 1)));
		add(x, OP_TMA_STORE, 2 + n, in);
	}
	add(x, OP_BULK_COMMIT, 0, NULL);
	leave(x, e, 0, NULL);
}

static const Stored *stored(const Write *x, const Op *op)
{
	for (int i = 0; i < x->stores; i++)
		if (x->out[i].op == op) return &x->out[i];
	return NULL;
}

/* Tiles around the loop: before it, then after it. */
static void write_around(Write *x, const Op *first, const Op *end)
{
	for (const Op *op = first; op != end; op = op->next) {
		bool tile = op->nout && type_is_tile(op->out[0]->type), factor = chain_load_of(&x->c, op) || op->code == OP_PERMUTE;
		if (stored(x, op)) store_by_boxes(x, stored(x, op));
		else if (op->code == OP_STORE) copy_op(x, op);
		else if (tile && !factor && !x->own[op->out[0]->id]) write_vector(x, op);
	}
}

static void write_consumers(Write *x)
{
	Region role = begin_role(x, "consumer", x->groups, consumer_regs(x->groups));
	add(x, OP_GRID_WAIT, 0, NULL);
	Loop t = begin_tiles(x);
	count_rounds(x);
	write_around(x, x->c.fn->body->first, x->c.loop);
	Val **own = copy_names(x);
	write_first(x);
	Carried c = carried_after(x);
	x->own = own;           /* what the first round made is not what the next ones make */
	write_further(x, c);
	write_last(x);
	if (x->c.ragged) drain(x);
	Indices next = indices_of(x, both(x, OP_ADD, t.tile, x->started));
	write_around(x, x->c.loop->next, NULL);
	end_tiles(x, t, &next);
	if (x->stores) wait_for_boxes(x);
	leave(x, role, 0, NULL);
}

/* ---- the kernel ---- */
static Val *launch(Write *x, const Sym *s, const char *name) { return named(ir_launch(&x->b, EL_I32, s), name); }

static void begin_kernel(Write *x)
{
	Fn *from = x->c.fn;
	x->fn = NEW(A_UNIT, Fn);
	*x->fn = *from;
	x->fn->nval = 0;
	x->fn->steps = NULL;
	x->fn->body = ir_block(x->fn, NULL);
	x->fn->params.p = NEW_ARRAY(A_UNIT, IrParam, from->params.n);
	memcpy(x->fn->params.p, from->params.p, (size_t)from->params.n * sizeof *from->params.p);
	x->own = NEW_ARRAY(A_TMP, Val *, from->nval);
	for (int i = 0; i < from->body->args.n; i++) {
		Val *a = from->body->args.p[i], *own = ir_arg(x->fn->body, a->type, a->name);
		x->own[a->id] = own;
		for (int k = 0; k < x->fn->params.n; k++)
			if (x->fn->params.p[k].val == a) x->fn->params.p[k].val = own;
	}
	x->b = (Builder){ x->fn, x->fn->body, NULL, from->span };
}

static void set_grid(Write *x)
{
	const Sym *rows = sym_cdiv(x->c.fn->grid[x->c.row_axis], sym_const(x->groups)), *others = sym_const(1);
	for (int a = 0; a < x->c.fn->ngrid; a++)
		if (a != x->c.row_axis) others = sym_mul(others, x->c.fn->grid[a]);
	x->rows = launch(x, rows, "rows");
	x->others = launch(x, others, "others");
	x->tiles = launch(x, sym_mul(rows, others), "tiles");
	for (int i = 0; i < 4; i++) x->fn->grid[i] = NULL, x->fn->sweep[i] = 0;
	x->fn->ngrid = 1;
	x->fn->grid[0] = sym_mul(rows, others);
}

/* Scalars and views that are the same for all tile blocks. */
static void write_common(Write *x)
{
	for (const Op *op = x->c.fn->body->first; op != x->c.loop; op = op->next) {
		bool same = op->nout && !x->c.axes[op->out[0]->id] && !op->nregion;
		if (same && type_is_scalar(op->out[0]->type) && op_rows[op->code].flags & OPF_PURE && !x->own[op->out[0]->id]) copy_op(x, op);
	}
}

/* Removes what nobody uses, from the end on. */
static void drop_unused(IrBlock *b, int *uses)
{
	for (Op *op = b->last, *prev; op; op = prev) {
		prev = op->prev;
		for (int i = 0; i < op->nregion; i++) drop_unused(op->region[i], uses);
		bool used = !(op_rows[op->code].flags & OPF_PURE) || op->nregion || !op->nout;
		for (int i = 0; i < op->nout; i++) used |= uses[op->out[i]->id] > 0;
		if (used) continue;
		for (int i = 0; i < op->nin; i++) uses[ir_in(op, i)->id]--;
		ir_remove(op);
	}
}

static bool is_wanted(Fn *fn, const LowerCx *cx)
{
	bool free = !ir_has_hint(fn, "warps") && !ir_has_hint(fn, "cluster") && !ir_has_hint(fn, "occupancy");
	return free && cx->o->by_threads && lower_arch(cx, fn) == 90 && cx->target_only;
}

/* Calls in which no dimension is 0, or so great that the first element of the last tile is no i32; NULL: even then some tile block may
 * have no round. */
static const Sym *guard_of(const Chain *c)
{
	const Sym *guard = sym_const(1);
	for (int i = 0; i < c->fn->dims.n; i++) {
		const IrDim *d = &c->fn->dims.p[i];
		if (d->is_stride || d->def) continue;
		const Sym *n = sym_atom(ATOM_DIM, d->name, 0);
		guard = sym_logic(SYM_AND, guard, sym_cmp(SYM_LE, sym_const(1), n));
		guard = sym_logic(SYM_AND, guard, sym_cmp(SYM_LE, n, sym_const(EXTENT_MOST)));
	}
	ValSyms v = valsyms_new(c->fn);
	facts_assume(v.facts, guard);
	return facts_le(v.facts, sym_const(1), valsym(&v, ir_in(c->loop, 1))) ? guard : NULL;
}

/* Without what nobody uses, and with values that cost nothing made for each use. */
static void settle(Fn *fn, const LowerCx *cx)
{
	Module one = { .path = NULL };
	vec_push(A_TMP, &one.fns, fn);
	pass_simplify(&one, cx);
	chain_unshare(fn);
}

static Fn *prepare(Fn *typed, const LowerCx *cx)
{
	Module one = { .path = NULL };
	Fn *fn = copy_kernel(typed);
	ir_number(fn);
	vec_push(A_TMP, &one.fns, fn);
	pass_relax(&one, cx);
	base2_powers(fn);
	pass_powers(&one, cx);
	settle(fn, cx);
	return fn;
}

/* Joins short rounds where two groups have the registers. */
static void join_rounds(Write *x, const LowerCx *cx)
{
	int more = 0, n = 0;
	for (int i = 0; i < x->c.products; i++) {
		const ChainProduct *r = &x->c.product[i];
		more += (int)(r->level ? type_size(ir_in(r->op, 0)->type) / 256 : type_size(r->op->out[0]->type) / 128);
		if (r->level && ir_in(r->op, 0)->type->log2[1] > n) n = ir_in(r->op, 0)->type->log2[1];
	}
	if (n >= JOINED_LOG2 || words_needed(&x->c) + more > consumer_regs(2)) return;
	ChainTail tail = chain_join(&x->c);
	if (tail == TAIL_NONE) return;
	settle(x->c.fn, cx);
	if (!chain_find(&x->c, x->c.fn)) bug("a loop of chained products with joined rounds is none");
	x->ends = tail == TAIL_OPEN ? ir_in(ir_in(x->c.loop, 1)->def, 0) : NULL;
	x->parts = x->ends ? CHAIN_PARTS : 1;
}

static Fn *place(Fn *typed, const LowerCx *cx, const Sym **guard)
{
	Write x = { .at = 0, .parts = 1 };
	if (!chain_find(&x.c, typed) || !is_wanted(typed, cx) || !chain_find(&x.c, prepare(typed, cx))) return NULL;
	join_rounds(&x, cx);
	if (!(*guard = guard_of(&x.c)) || !chain_layouts(&x.c)) return NULL;
	x.groups = choose_groups(&x.c);
	x.masks = chain_masks(&x.c);
	begin_kernel(&x);
	map_loads(&x);
	map_stores(&x);
	if (!give_memory(&x, SHARED_LARGE)) return NULL;
	set_grid(&x);
	write_common(&x);
	write_producer(&x);
	write_consumers(&x);
	add(&x, OP_RETURN, 0, NULL);
	ir_number(x.fn);
	drop_unused(x.fn->body, ir_use_counts(x.fn, A_TMP));
	x.fn->stage = STAGE_PLACED;
	x.fn->arch = cx->target_arch;
	x.fn->specific = x.fn->persistent = x.fn->by_arch = true;
	x.fn->warps = 4 * (1 + x.groups);
	x.fn->cluster = 0;
	x.fn->shared_bytes = x.at;
	ir_number(x.fn);
	return x.fn;
}

void chain_place(Fn *typed, const LowerCx *cx, PipelinedVec *to)
{
	const Sym *guard;
	Fn *fn = place(typed, cx, &guard);
	if (fn) vec_push(A_UNIT, to, ((Pipelined){ .fn = fn, .name = str_intern("pipelined"), .guard = guard }));
}
