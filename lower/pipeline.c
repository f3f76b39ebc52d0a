/* pipeline: loops of matrix products as a pipeline of roles, for architectures with a copy
 * engine for tensors and wgmma.
 *
 * The copy engine fills a ring of buffers with the factors of coming rounds. One warp, the producer, waits until a
 * buffer is free and asks for its copies; warpgroups, the consumers, wait until it is full, multiply, and give it back.
 * Two mbarriers for each buffer say which of both it is. The producer is as many rounds ahead as there are buffers,
 * also from one tile to the next: thread blocks stay and walk over the tiles, so that the next tile's factors come
 * while the last one's sums are stored.
 *
 * Each group of the consumers has rows of its own; the columns' factor, which they share, is copied once. So it is with
 * the thread blocks of a cluster: each copies a part of what they share into the buffers of all.
 *
 * What stands around the loop runs in the layout of the sums (pipeline_layout.c). Stores of 16-bit tiles go through
 * shared memory and the copy engine, others straight from registers.
 *
 * Tiles that do not fill the last wave leave a part of the device idle. Where there is workspace, the rounds of the
 * last waves' tiles are dealt out evenly instead (stream-k): each cluster has a share, a run of rounds that may begin
 * and end within a tile. Who has the last round of a tile stores it. The others leave their sums in workspace, and it
 * adds them in the order of their rounds; it waits for nobody with a higher number. Which rounds are whose follows from
 * the dimensions alone, and so do the results.
 *
 * The kernel serves calls whose tensors the copy engine can read (versions.c asks); there is
 * another version for all calls. */
#include "lower/pipeline.h"

#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/widen.h"

enum {
	STAGES_MOST = 8, STAGES_LEAST = 2,
	BOX_COLS = 64,          /* of a stored box; rows are those of a group */
	BOXES = 2,              /* in shared memory for each group, at most */
	MBAR_BYTES = 8, SWIZZLE_ALIGN = 1024,
	/* attribute words (ir/attrs.def) */
	MAJOR_MN = 1, PHASE_PREVIOUS = 1, ACQUIRE_RELEASE = 3
};

/* Of a tile that the copy engine moves: its map, its buffers. */
typedef struct Moved {
	Val *map, *ring;
	const Type *type;       /* of a buffer */
	const Type *part;       /* what this thread block copies of it; the others of its cluster copy the rest for it */
	bool transposed;            /* the buffer holds the transposed tile */
} Moved;

/* By Val id of a TYPED kernel: what stands for it in all roles; in the one that is written. */
typedef struct Names { Val **common, **own; } Names;

/* Rounds that are dealt out. A share has `each` of them; the tiles from number `whole` on have `rest`. */
typedef struct Shares {
	int count;              /* of shares: one for each cluster; 0: each tile is one cluster's */
	Val *flags, *sums;      /* in workspace: of each group of each share */
	Val *each, *whole, *rest, *rounds;      /* rounds: of a tile */
	Val *waves;             /* tiles that a cluster has for itself */
	/* of the tile under way: the cluster's share, the first that has rounds of it, its first round here, its end */
	Val *own, *first, *lo, *hi;
} Shares;

typedef struct Write {
	Pipe p, part;           /* the kernel; the same by parts of the columns, for what follows the loop */
	int parts;
	Fn *fn;
	Names whole, by_part, *names;   /* of p, of part; those that are used */
	bool *needed;           /* of p: by the producer */
	Builder b;              /* where operations are added */
	Moved in[PIPE_LOADS];
	Moved out[PIPE_LOADS];  /* of stores by the copy engine, in their order; map NULL: there are no more */
	Val *boxes;             /* their ring: so many for each group */
	int nbox, turns;        /* how often a part takes one */
	Val *full, *empty;
	Val *rank, *all;        /* of a cluster: the thread block's number, the mask of all; NULL: there is none */
	Val *rows, *tiles;      /* of tiles along the rows; in all */
	Val *cols;
	Val *row, *col;         /* indices of the tile under way, of the blocks that p has */
	Shares shares;
	int stages;
	int64_t stage_bytes, at;        /* of shared memory given out so far */
} Write;

/* ---- building ---- */
static const Type *i32(void) { return type_scalar(EL_I32); }
static Val *number(Write *x, int64_t n) { return ir_const_int(&x->b, i32(), n); }
static Op *add(Write *x, OpCode code, int nin, Val *const *in) { return ir_op(&x->b, code, nin, in, 0, NULL); }

static Val *named(Val *v, const char *name)
{
	v->name = str_intern(name);
	return v;
}

static Val *make(Write *x, OpCode code, const Type *t, int nin, Val *const *in)
{
	return ir_op1(&x->b, code, t, nin, in);
}
static Val *sum_of(Write *x, Val *a, Val *b) { return ir_binary(&x->b, OP_ADD, i32(), a, b); }
static Val *times(Write *x, Val *a, int64_t n) { return n == 1 ? a : ir_binary(&x->b, OP_MUL, i32(), a, number(x, n)); }

static const Type *shaped(TypeKind kind, const Type *t, int count)
{
	return type_placed(kind, t->elem, t->rank, t->log2, t->more, count);
}

/* Of any extents: each an odd number times a power of two. */
static const Type *matrix(TypeKind kind, Elem e, int64_t rows, int64_t cols, int count)
{
	uint8_t log2[2], more[2];
	for (int a = 0; a < 2; a++) {
		int64_t n = a ? cols : rows;
		log2[a] = (uint8_t)log2_of(n & -n);
		more[a] = (uint8_t)((n >> log2[a]) - 1);
	}
	return type_placed(kind, e, 2, log2, more, count);
}

static const Type *cursor_type(const Write *x) { return type_placed(TY_CURSOR, EL_VOID, 0, NULL, NULL, x->stages); }

/* Opens a region of op; returns where to go on after it. */
static Builder enter(Write *x, Op *op)
{
	Builder back = x->b;
	x->b = (Builder){ x->fn, ir_region(op), NULL, op->span };
	return back;
}

static void leave(Write *x, Builder back, int n, Val *const *v)
{
	add(x, OP_YIELD, n, v);
	x->b = back;
}

static Op *region_op(Write *x, OpCode code, Builder *back)
{
	Op *op = add(x, code, 0, NULL);
	*back = enter(x, op);
	return op;
}

/* ---- copies of the kernel's own operations ---- */
static Val *mapped(const Write *x, const Val *v)
{
	Val *r = x->names->own[v->id] ? x->names->own[v->id] : x->names->common[v->id];
	if (!r) bug("pipeline: %%%d is not known in this role", v->id);
	return r;
}

static void copy_to(Write *x, const Op *from, Val **own)
{
	Val *in[OP_ARGS];
	if (from->nin > OP_ARGS || from->nregion) bug("pipeline: `%s`", op_rows[from->code].name);
	for (int i = 0; i < from->nin; i++) in[i] = mapped(x, ir_in(from, i));
	forget_inside(copy_op(&x->b, from, in, own));   /* a group's tile may begin after the grid's last */
}

static bool is_of_scalars(const Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (!type_is_scalar(op->out[i]->type)) return false;
	return op->nout && op_has(op, OPF_PURE);
}

static bool is_common(const Write *x, const Op *op)
{
	bool view = op->nout == 1 && op->out[0]->type->kind == TY_VIEW;
	if (op->code == OP_BID || (!is_of_scalars(op) && !view)) return false;
	for (int i = 0; i < op->nin; i++)
		if (!x->names->common[ir_in(op, i)->id]) return false;
	return true;
}

/* ---- what the producer needs ---- */
static void need_operands(Write *x, const Op *op)
{
	for (int i = 0; i < op->nin; i++) x->needed[ir_in(op, i)->id] = true;
}

static void need_before(Write *x, const Op *last)
{
	for (const Op *op = last; op; op = op->prev)
		for (int i = 0; i < op->nout; i++)
			if (is_of_scalars(op) && x->needed[op->out[i]->id]) need_operands(x, op);
}

static void find_needed(Write *x)
{
	for (int i = 0; i < x->p.loads; i++) need_operands(x, x->p.load[i].op);
	need_before(x, x->p.loop->region[0]->last);
	for (int i = 0; i < 3; i++) x->needed[ir_in(x->p.loop, i)->id] = true;
	need_before(x, x->p.loop->prev);
}

static bool is_needed(const Write *x, const Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (x->needed[op->out[i]->id]) return true;
	return false;
}

/* ---- shared memory, tensor maps ---- */
static int span_of(const Type *t)
{
	int64_t row = type_extent(t, 1) * elem_bytes(t->elem), whole = row & -row;
	return whole < PIPE_SPAN ? (int)whole : PIPE_SPAN;
}

/* The tensor of an access, contiguous along its last axis. */
static Val *mapped_view(Write *x, const Op *access, bool transposed)
{
	Val *view = ir_in(access, 0);
	if (!transposed) return mapped(x, view);
	Val *v = make(x, OP_PERMUTE, view->type, 1, (Val *[]){ mapped(x, view) });
	ir_set_ints(v->def, AT_AXES, 2, (const int64_t[]){ 1, 0 });
	return v;
}

static Val *map_of(Write *x, Val *view, const Type *copied)
{
	const Type *box = matrix(TY_TMAP, copied->elem, type_extent(copied, 0), span_of(copied) / elem_bytes(copied->elem),
		0);
	Val *map = make(x, OP_TENSOR_MAP, box, 1, (Val *[]){ view });
	ir_set_int(map->def, AT_SWIZZLE, span_of(copied));
	return map;
}

static Val *ring_of(Write *x, const Type *buffer, int count)
{
	Val *ring = make(x, OP_ALLOC_RING, shaped(TY_RING, buffer, count), 0, NULL);
	ir_set_int(ring->def, AT_SLOT, x->at);
	ir_set_int(ring->def, AT_SWIZZLE, span_of(buffer));
	x->at += type_bytes(buffer) * count;
	return ring;
}

static Val *mbars(Write *x, int count, const char *name)
{
	Val *v = make(x, OP_ALLOC_MBAR, type_placed(TY_MBAR, EL_VOID, 0, NULL, NULL, x->stages), 0, NULL);
	ir_set_int(v->def, AT_NUMBER, count);
	ir_set_int(v->def, AT_SLOT, x->at);
	x->at += MBAR_BYTES * x->stages;
	return named(v, name);
}

static const Type *buffer_of(const Write *x, const PipeLoad *l)
{
	const Type *t = l->op->out[0]->type;
	int64_t other = type_extent(t, 1 - l->depth_axis) * (l->differs ? x->p.plan.groups : 1)
		* (l->second ? x->p.reps : 1);
	int64_t depth = type_extent(t, l->depth_axis);
	return l->along_depth ? matrix(TY_SHARED, t->elem, other, depth, 0) : matrix(TY_SHARED, t->elem, depth, other, 0);
}

/* Can the copy engine store it? A tile of all rows and columns of a group, from memory contiguous along columns. */
static bool is_boxed(const Write *x, const Op *op)
{
	const Val *v = ir_in(op, op->nin - 1), *view = ir_in(op, 0);
	const Type *t = v->type;
	if (t->rank != 2 || elem_bytes(t->elem) != 2 || view->type->rank != 2 || !unit_axis(x->part.fn, view, 1))
		return false;
	if (t->log2[0] != PIPE_ROWS_LOG2 || t->log2[1] < 4 || !lay_eq(*v->lay, pipe_sum_layout(t))) return false;
	while (view->def && view->def->code == OP_PERMUTE) view = ir_in(view->def, 0);
	for (int a = 0; a < 2; a++)
		if (ir_in(op, 1 + a)->type->elem != EL_I32) return false;
	return !view->def;
}

static const Type *box_of(const Type *t)
{
	int64_t cols = type_extent(t, 1);
	return matrix(TY_SHARED, t->elem, INT64_C(1) << PIPE_ROWS_LOG2, cols < BOX_COLS ? cols : BOX_COLS, 0);
}

/* The stores by the copy engine share a ring of boxes, of the first one's type: others go by registers. */
static void map_stores(Write *x)
{
	int n = 0;
	for (const Op *op = x->part.fn->body->first; op; op = op->next) {
		if (op->code != OP_STORE || n == PIPE_LOADS || !is_boxed(x, op)) continue;
		const Type *box = box_of(ir_in(op, op->nin - 1)->type);
		if (n && box != x->out[0].type) continue;
		x->turns += (int)(type_extent(ir_in(op, op->nin - 1)->type, 1) / type_extent(box, 1));
		x->out[n++] = (Moved){ map_of(x, mapped_view(x, op, false), box), NULL, box, box, false };
	}
}

static void map_loads(Write *x)
{
	for (int i = 0; i < x->p.loads; i++) {
		const PipeLoad *l = &x->p.load[i];
		Moved *m = &x->in[i];
		m->type = m->part = buffer_of(x, l);
		if (l->shared)
			m->part = matrix(TY_SHARED, m->type->elem, type_extent(m->type, 0) / x->p.plan.cluster,
				type_extent(m->type, 1), 0);
		m->transposed = (l->along_depth ? 1 : 0) != l->depth_axis;
		m->map = map_of(x, mapped_view(x, l->op, m->transposed), m->part);
		x->stage_bytes += type_bytes(m->type);
	}
}

/* Buffers of a ring beside so many boxes. */
static int64_t stages_beside(const Write *x, int64_t room, int nbox)
{
	int64_t boxes = x->out[0].map ? type_bytes(x->out[0].type) * nbox * x->p.plan.groups : 0;
	int64_t n = (room - boxes) / (x->stage_bytes + 2 * MBAR_BYTES);
	return n < STAGES_MOST ? n : STAGES_MOST;
}

static bool give_memory(Write *x, int64_t room)
{
	bool helps = stages_beside(x, room, BOXES) < COST_STAGES_WANTED && stages_beside(x, room, 1) >= COST_STAGES_WANTED;
	x->nbox = helps || x->parts * x->turns % BOXES ? 1 : BOXES;
	x->stages = (int)stages_beside(x, room, x->nbox);
	if (x->stages < STAGES_LEAST) return false;
	for (int i = 0; i < x->p.loads; i++) x->in[i].ring = ring_of(x, x->in[i].type, x->stages);
	if (x->out[0].map) x->boxes = named(ring_of(x, x->out[0].type, x->nbox * x->p.plan.groups), "boxes");
	x->full = mbars(x, 1, "full");
	x->empty = mbars(x, x->p.plan.groups * x->p.plan.cluster, "empty");
	add(x, OP_MBAR_INIT, 2, (Val *[]){ x->full, x->empty });
	return true;
}

/* ---- the walk over tiles ---- */
/* What stands for the index of a tile block in the role that is written. */
typedef struct Block { Write *x; Val *row, *col; } Block;

static void set_index(void *ctx, Op *op)
{
	Block *b = ctx;
	if (op->code == OP_BID) b->x->names->own[op->out[0]->id] = ir_axis(op) == b->x->p.row_axis ? b->row : b->col;
}

/* Thread blocks of a cluster along an axis of the sums. */
static int along_cluster(const Write *x, int axis) { return x->p.plan.axis == axis ? x->p.plan.cluster : 1; }

/* The index of the thread block's own tile, of those of its cluster. */
static Val *in_cluster(Write *x, Val *of_cluster, int axis)
{
	int n = along_cluster(x, axis);
	return n > 1 ? sum_of(x, times(x, of_cluster, n), x->rank) : of_cluster;
}

typedef struct Walk { Op *loop; Builder back; Val *at; struct { Op *loop; Builder back; } shares; } Walk;

static Val *least(Write *x, Val *a, Val *b) { return ir_binary(&x->b, OP_MIN, i32(), a, b); }

static Val *compare(Write *x, OpCode code, Val *a, Val *b)
{
	return ir_binary(&x->b, code, type_scalar(EL_BOOL), a, b);
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
static Op *deal(Write *x, Val *item)
{
	const Shares *s = &x->shares;
	const Type *five[] = { i32(), i32(), i32(), i32(), i32() };
	Val *in[] = { s->own, item, s->each, s->rounds, s->rest, s->whole };
	Op *op = ir_op(&x->b, OP_DEAL, 6, in, 5, five);
	ir_set_int(op, AT_GROUPS, s->count);
	return op;
}

/* Over the shares of this cluster, and over what each has: first, from its last tile to its first one, the rounds that
 * are dealt out, so that others wait for none of them; then whole tiles. Returns the tile's number. */
static Val *begin_shares(Write *x, Walk *w, Val *first, Val *step, Val *start)
{
	Shares *s = &x->shares;
	w->shares.loop = carrying(x, first, number(x, s->count), step, start, "share", &w->shares.back);
	s->own = x->b.block->args.p[0];
	Val *zero = number(x, 0), *one = number(x, 1);
	Val *parts = named(deal(x, zero)->out[0], "parts"), *items = sum_of(x, parts, s->waves);
	w->loop = carrying(x, zero, items, one, x->b.block->args.p[1], "item", &w->back);
	w->at = x->b.block->args.p[1];
	Op *dealt = deal(x, x->b.block->args.p[0]);
	s->lo = named(dealt->out[2], "lo");
	s->hi = named(dealt->out[3], "hi");
	s->first = named(dealt->out[4], "first");
	return named(dealt->out[1], "tile");
}

/* Over the tiles of this thread block; at: a cursor that is carried from one to the next; group: of the consumers,
 * NULL: the first. */
static Walk begin_tiles(Write *x, Val *start, Val *group)
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
	ir_set_int(order, AT_GROUPS, COST_GROUPED / along_cluster(x, 0));
	Block b = { .x = x };
	b.row = times(x, in_cluster(x, order->out[0], 0), x->p.plan.groups);
	b.col = times(x, in_cluster(x, order->out[1], 1), x->p.reps);
	if (group && x->p.plan.groups > 1) b.row = sum_of(x, b.row, group);
	ir_walk(x->p.fn->body, set_index, &b);
	x->row = b.row;
	x->col = b.col;
	return w;
}

static void end_tiles(Write *x, Walk w, Val *at)
{
	leave(x, w.back, 1, &at);
	if (w.shares.loop) leave(x, w.shares.back, 1, w.loop->out);
}

/* Scalars of a block; producer: those alone that it needs. */
static void copy_scalars(Write *x, const Op *first, const Op *end, bool producer)
{
	for (const Op *op = first; op != end; op = op->next) {
		bool done = op->nout && (x->names->own[op->out[0]->id] || x->names->common[op->out[0]->id]);
		if (!done && is_of_scalars(op) && (!producer || is_needed(x, op))) copy_to(x, op, x->names->own);
	}
}

/* The loop of rounds: arguments the counter, the cursor and others. */
static Walk begin_rounds(Write *x, Val *at, int n, Val *const *carried)
{
	Val *in[4 + PIPE_PRODUCTS];
	const Type *out[1 + PIPE_PRODUCTS];
	for (int i = 0; i < 3; i++) in[i] = mapped(x, ir_in(x->p.loop, i));
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

static Val *advance(Write *x, Val *at) { return make(x, OP_ADVANCE, at->type, 1, &at); }
static Val *slot(Write *x, const Moved *m, Val *at) { return make(x, OP_SLOT, m->type, 2, (Val *[]){ m->ring, at }); }

/* The first element of an access along an axis. */
static Val *coordinate(Write *x, const Op *op, int axis)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	Val *v = times(x, mapped(x, ir_in(op, 1 + axis)), steps->u.ints.p[axis]);
	return offsets && offsets->u.ints.p[axis] ? sum_of(x, v, number(x, offsets->u.ints.p[axis])) : v;
}

/* ---- the producer ---- */
/* A thread block copies its part of what the cluster shares into the buffers of all its thread blocks. */
static void copy_buffer(Write *x, const Moved *m, Val *at, Val *const coord[2])
{
	Val *to = slot(x, m, at), *in[] = { to, m->map, x->full, at, coord[0], coord[1], x->all };
	if (m->part == m->type) {
		add(x, OP_TMA_LOAD, 6, in);
		return;
	}
	in[0] = make(x, OP_PART, m->part, 3, (Val *[]){ to, x->rank, number(x, 0) });
	ir_set_ints(in[0]->def, AT_STEPS, 2, (const int64_t[]){ type_extent(m->part, 0), type_extent(m->part, 1) });
	ir_set_int(add(x, OP_TMA_LOAD, 7, in), AT_MULTICAST, 1);
}

static void copy_round(Write *x, Val *at)
{
	Builder back;
	Val *coord[PIPE_LOADS][2];
	for (int i = 0; i < x->p.loads; i++) {
		const Moved *m = &x->in[i];
		for (int a = 0; a < 2; a++) coord[i][a] = coordinate(x, x->p.load[i].op, m->transposed ? 1 - a : a);
		if (m->part != m->type) coord[i][0] = sum_of(x, coord[i][0], times(x, x->rank, type_extent(m->part, 0)));
	}
	ir_set_int(add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->empty, at }), AT_PHASE, PHASE_PREVIOUS);
	region_op(x, OP_ELECT, &back);
	ir_set_int(add(x, OP_MBAR_EXPECT, 2, (Val *[]){ x->full, at }), AT_BYTES, x->stage_bytes);
	for (int i = 0; i < x->p.loads; i++) {
		x->b.span = x->p.load[i].op->span;
		copy_buffer(x, &x->in[i], at, coord[i]);
	}
	leave(x, back, 0, NULL);
}

static Val *cursor(Write *x) { return make(x, OP_CURSOR, cursor_type(x), 0, NULL); }

static Op *begin_role(Write *x, const char *name, int groups, int regs, Builder *back)
{
	Op *role = region_op(x, OP_ROLE, back);
	if (groups > 1) ir_set_int(role, AT_GROUPS, groups);
	if (regs) ir_set_int(role, AT_REGS, regs);
	ir_set_str(role, AT_TEXT, str_intern(name));
	ir_arg(x->b.block, i32(), str_intern("group"));
	return role;
}

static void write_producer(Write *x)
{
	Builder back, inner;
	const IrBlock *body = x->p.fn->body, *rounds = x->p.loop->region[0];
	begin_role(x, "producer", 1, producer_regs(x->p.plan.groups), &back);
	region_op(x, OP_ONE_WARP, &inner);
	add(x, OP_GRID_WAIT, 0, NULL);
	add(x, OP_GRID_LAUNCH, 0, NULL);
	Walk t = begin_tiles(x, cursor(x), NULL);
	copy_scalars(x, body->first, x->p.loop, true);
	Walk w = begin_rounds(x, t.at, 0, NULL);
	copy_scalars(x, rounds->first, rounds->last, true);
	copy_round(x, w.at);
	Val *next = advance(x, w.at);
	leave(x, w.back, 1, &next);
	end_tiles(x, t, w.loop->out[0]);
	leave(x, inner, 0, NULL);
	leave(x, back, 0, NULL);
}

/* ---- the consumers ---- */
static Val *lend(Write *x, Val *sum)
{
	Val *v = make(x, OP_WGMMA_FENCE, shaped(TY_ASYNC, sum->type, 0), 1, &sum);
	v->lay = sum->lay;
	return v;
}

static Val *factor(Write *x, int load, Val *at, Val *group)
{
	const PipeLoad *l = &x->p.load[load];
	Val *whole = slot(x, &x->in[load], at);
	if (!l->differs) return whole;
	int64_t rows = type_extent(whole->type, 0), cols = type_extent(whole->type, 1);
	if (l->along_depth) rows /= x->p.plan.groups;
	else cols /= x->p.plan.groups;
	Val *zero = number(x, 0);
	Val *in[] = { whole, l->along_depth ? group : zero, l->along_depth ? zero : group };
	Val *part = make(x, OP_PART, matrix(TY_SHARED, whole->type->elem, rows, cols, 0), 3, in);
	ir_set_ints(part->def, AT_STEPS, 2, (const int64_t[]){ rows, cols });
	return part;
}

static Val *multiply(Write *x, const PipeProduct *r, Val *sum, Val *at, Val *group)
{
	x->b.span = r->op->span;
	Val *left = factor(x, r->load[0], at, group), *right = factor(x, r->load[1], at, group);
	Val *v = make(x, OP_WGMMA, sum->type, 3, (Val *[]){ sum, left, right });
	v->lay = sum->lay;
	v->name = r->op->out[0]->name;
	if (!x->p.load[r->load[0]].along_depth) ir_set_int(v->def, AT_A_MAJOR, MAJOR_MN);
	if (!x->p.load[r->load[1]].along_depth) ir_set_int(v->def, AT_B_MAJOR, MAJOR_MN);
	return v;
}

/* Multiplies a round; the group that runs beside it keeps the tensor cores busy while this one waits. */
static void multiply_round(Write *x, Walk *w, Val **sum, Val *group)
{
	Val *next[1 + PIPE_PRODUCTS];
	add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->full, w->at });
	for (int i = 0; i < x->p.products; i++) sum[i] = lend(x, sum[i]);
	for (int i = 0; i < x->p.products; i++) {
		const PipeProduct *r = &x->p.product[i];
		next[1 + r->sum] = multiply(x, r, sum[r->sum], w->at, group);
	}
	add(x, OP_WGMMA_COMMIT, 0, NULL);
	add(x, OP_WGMMA_WAIT, 0, NULL);
	add(x, OP_MBAR_ARRIVE, x->all ? 3 : 2, (Val *[]){ x->empty, w->at, x->all });     /* in all that fill the buffer */
	next[0] = advance(x, w->at);
	leave(x, w->back, 1 + x->p.products, next);
}

static const Type *sum_type(const Write *x, int i)
{
	const Type *t = x->p.loop->out[i]->type;
	return matrix(TY_TILE, t->elem, type_extent(t, 0), type_extent(t, 1) * x->p.reps, 0);
}

/* Where a group has several blocks' sums, they begin with constants. */
static Val *initial_sum(Write *x, int i)
{
	Val *own = ir_in(x->p.loop, 3 + i);
	Num n;
	if (x->p.reps == 1) return mapped(x, own);
	ir_const_value(own, &n);
	Val *v = ir_const_num(&x->b, sum_type(x, i), n);
	ir_set_layout(v, *own->lay);
	return v;
}

static Val *write_rounds(Write *x, Val *at, Val *group)
{
	Val *sum[PIPE_PRODUCTS] = { NULL };
	int n = x->p.products;
	for (int i = 0; i < n; i++) sum[i] = lend(x, initial_sum(x, i));
	Walk w = begin_rounds(x, at, n, sum);
	for (int i = 0; i < n; i++) {
		Val *own = ir_arg(x->b.block, sum[i]->type, x->p.loop->region[0]->args.p[1 + i]->name);
		own->lay = sum[i]->lay;
		sum[i] = own;
	}
	multiply_round(x, &w, sum, group);
	const Type *back[PIPE_PRODUCTS];
	for (int i = 0; i < n; i++) back[i] = sum_type(x, i);
	Op *wait = ir_op(&x->b, OP_WGMMA_WAIT, n, w.loop->out + 1, n, back);
	for (int i = 0; i < n; i++) {
		wait->out[i]->lay = x->p.loop->out[i]->lay;
		wait->out[i]->name = x->p.loop->out[i]->name;
		x->names->own[x->p.loop->out[i]->id] = wait->out[i];
	}
	return w.loop->out[0];
}

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
	Val *tile = mapped(x, ir_in(op, op->nin - 1)), *first = times(x, group, x->nbox);
	Val *row = coordinate(x, op, 0), *col = coordinate(x, op, 1);
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

/* ---- what stands around the loop ---- */
static void need_all(bool *needed, const Op *op)
{
	for (int i = 0; i < op->nin; i++) needed[ir_in(op, i)->id] = true;
}

static bool gives_needed(const bool *needed, const Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (needed[op->out[i]->id]) return true;
	return false;
}

static bool is_named(const Write *x, const Op *op)
{
	return op->nout && (x->names->own[op->out[0]->id] || x->names->common[op->out[0]->id]);
}

/* What the sums begin with. */
static void write_initial(Write *x)
{
	bool *needed = NEW_ARRAY(A_TMP, bool, x->p.fn->nval);
	if (x->p.reps > 1) return;
	for (int i = 3; i < x->p.loop->nin; i++) needed[ir_in(x->p.loop, i)->id] = true;
	for (const Op *op = x->p.loop->prev; op; op = op->prev)
		if (gives_needed(needed, op)) need_all(needed, op);
	for (const Op *op = x->p.fn->body->first; op != x->p.loop; op = op->next)
		if (gives_needed(needed, op) && !is_named(x, op)) copy_to(x, op, x->names->own);
}

/* Of the kernel by parts: what stores need, by Val id, and what of it differs between parts. */
typedef struct Tail { bool *needed, *differs; } Tail;

static Tail look_at_tail(const Write *x)
{
	const Fn *fn = x->part.fn;
	Tail t = { NEW_ARRAY(A_TMP, bool, fn->nval), NEW_ARRAY(A_TMP, bool, fn->nval) };
	for (const Op *op = fn->body->last; op; op = op->prev)
		if (op != x->part.loop && (op->code == OP_STORE || gives_needed(t.needed, op))) need_all(t.needed, op);
	for (const Op *op = fn->body->first; op; op = op->next) {
		bool differs = op == x->part.loop || (op->code == OP_BID && ir_axis(op) == x->part.col_axis);
		for (int i = 0; i < op->nin; i++) differs |= t.differs[ir_in(op, i)->id];
		for (int i = 0; i < op->nout; i++) t.differs[op->out[i]->id] = differs;
	}
	return t;
}

static void write_store(Write *x, const Op *op, Val *group, int *turn, int *stored)
{
	bool boxed = x->out[0].map && *stored < PIPE_LOADS && x->out[*stored].map && is_boxed(x, op)
		&& box_of(ir_in(op, op->nin - 1)->type) == x->out[0].type;
	if (boxed) store_by_boxes(x, op, &x->out[(*stored)++], group, turn);
	else copy_to(x, op, x->names->own);
}

/* ---- rounds that are dealt out ---- */
/* Of a group of a share, as often as there is something of each: its place in workspace. */
static Val *place_in_room(Write *x, Val *share, Val *group)
{
	int cluster = x->p.plan.cluster;
	Val *n = cluster > 1 ? sum_of(x, times(x, share, cluster), x->rank) : share;
	return x->p.plan.groups > 1 ? sum_of(x, times(x, n, x->p.plan.groups), group) : n;
}

static Val *room_at(Write *x, Val *of, Val *place, int64_t size)
{
	const Type *wide = type_scalar(EL_I64);
	Val *n = ir_const_int(&x->b, wide, size), *one = size == 1 ? n : ir_const_int(&x->b, wide, 1);
	Val *at = ir_unary(&x->b, OP_CAST, wide, place);
	if (size > 1) at = ir_binary(&x->b, OP_MUL, wide, at, n);
	return make(x, OP_VIEW, of->type, 4, (Val *[]){ of, at, n, one });
}

/* Of a product, the sums that a group of a share left. */
static Val *sums_in_room(Write *x, Val *share, Val *group, int product, const Type *t)
{
	Val *place = times(x, place_in_room(x, share, group), x->p.products);
	return room_at(x, x->shares.sums, product ? sum_of(x, place, number(x, product)) : place, type_size(t));
}

static Op *begin_others(Write *x, int n, Val *const *carried, Builder *back)
{
	Val *in[4] = { x->shares.first, x->shares.own, number(x, 1), n ? carried[0] : NULL };
	Op *loop = ir_op(&x->b, OP_FOR, 3 + n, in, n, n ? &carried[0]->type : NULL);
	*back = enter(x, loop);
	ir_arg(x->b.block, i32(), str_intern("other"));
	return loop;
}

static void await_others(Write *x, Val *group)
{
	Builder back;
	begin_others(x, 0, NULL, &back);
	Val *flag = room_at(x, x->shares.flags, place_in_room(x, x->b.block->args.p[0], group), 1);
	add(x, OP_GRID_AWAIT, 1, &flag);
	leave(x, back, 0, NULL);
}

/* The sums of all shares: what this one has itself, then what the others left, in their order. */
static void add_others(Write *x, Val **sum, Val *group)
{
	Builder back;
	await_others(x, group);
	for (int i = 0; i < x->p.products; i++) {
		Op *loop = begin_others(x, 1, &sum[i], &back);
		Val *own = ir_arg(x->b.block, sum[i]->type, NULL);
		Val *from = sums_in_room(x, x->b.block->args.p[0], group, i, own->type);
		Val *both = make(x, OP_LOAD_REGS, own->type, 2, (Val *[]){ from, own });
		own->lay = both->lay = loop->out[0]->lay = sum[i]->lay;
		leave(x, back, 1, &both);
		sum[i] = loop->out[0];
	}
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
	Block b = { x, x->row, NULL };
	ir_walk(x->part.fn->body, set_index, &b);
	for (const Op *op = x->part.fn->body->first; op; op = op->next) {
		bool skipped = op == x->part.loop || op->code == OP_BID || op->code == OP_STORE || is_named(x, op);
		if (!skipped && gives_needed(t->needed, op) && !t->differs[op->out[0]->id]) copy_to(x, op, x->names->own);
	}
}

static void write_part(Write *x, const Tail *t, Val *const *sum, Val *group, Val *which, int part, int *turn)
{
	Block b = { x, x->row, x->col };
	int stored = 0;
	if (x->parts > 1) {
		Val *n = which ? which : number(x, part);
		b.col = sum_of(x, times(x, x->col, x->parts / x->p.reps), n);
	}
	ir_walk(x->part.fn->body, set_index, &b);
	name_sums(x, sum, which, part);
	for (const Op *op = x->part.fn->body->first; op; op = op->next) {
		if (op == x->part.loop || op->code == OP_BID) continue;
		if (op->code == OP_STORE) write_store(x, op, group, turn, &stored);
		else if (gives_needed(t->needed, op) && t->differs[op->out[0]->id]) copy_to(x, op, x->names->own);
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

static void write_tail(Write *x, Val *const *sum, Val *group)
{
	Tail t = look_at_tail(x);
	x->names = &x->by_part;
	write_before_parts(x, &t);
	write_parts(x, &t, sum, group);
	x->names = &x->whole;
}

/* Who has the last round of a tile stores it, with what the others left; these only leave theirs. */
static void write_shared_tail(Write *x, Val *const *sum, Val *group)
{
	Val *ends = compare(x, OP_EQ, x->shares.hi, x->shares.rounds);
	Op *test = add(x, OP_IF, 1, &ends);
	Builder back = enter(x, test);
	Val *all[PIPE_PRODUCTS];
	for (int i = 0; i < x->p.products; i++) all[i] = sum[i];
	add_others(x, all, group);
	write_tail(x, all, group);
	leave(x, back, 0, NULL);
	enter(x, test);
	for (int i = 0; i < x->p.products; i++) {
		Val *to = sums_in_room(x, x->shares.own, group, i, sum[i]->type);
		add(x, OP_STORE_REGS, 2, (Val *[]){ to, sum[i] });
	}
	Val *flag = room_at(x, x->shares.flags, place_in_room(x, x->shares.own, group), 1);
	add(x, OP_GRID_SIGNAL, 1, &flag);
	leave(x, back, 0, NULL);
}

static void write_consumers(Write *x)
{
	Builder back, inner;
	int groups = x->p.plan.groups;
	Op *role = begin_role(x, "consumer", groups, groups > 1 ? consumer_regs(groups) : 0, &back);
	Val *group = role->region[0]->args.p[0], *sum[PIPE_PRODUCTS];
	add(x, OP_GRID_WAIT, 0, NULL);
	Walk t = begin_tiles(x, cursor(x), group);
	copy_scalars(x, x->p.fn->body->first, x->p.loop, false);
	write_initial(x);
	Val *at = write_rounds(x, t.at, group);
	for (int i = 0; i < x->p.products; i++) sum[i] = mapped(x, x->p.loop->out[i]);
	if (x->shares.count) write_shared_tail(x, sum, group);
	else write_tail(x, sum, group);
	end_tiles(x, t, at);
	if (x->out[0].map) {
		region_op(x, OP_ELECT, &inner);
		add(x, OP_BULK_WAIT, 0, NULL);
		leave(x, inner, 0, NULL);
	}
	leave(x, back, 0, NULL);
}

/* ---- the kernel ---- */
static Val *launch(Write *x, const Sym *s, const char *name) { return named(ir_launch(&x->b, EL_I32, s), name); }

static Names names_of(Fn *fn, Fn *to)
{
	Names n = { NEW_ARRAY(A_TMP, Val *, fn->nval), NEW_ARRAY(A_TMP, Val *, fn->nval) };
	for (int i = 0; i < fn->body->args.n; i++) n.common[fn->body->args.p[i]->id] = to->body->args.p[i];
	return n;
}

static void begin_kernel(Write *x)
{
	Fn *from = x->p.fn;
	x->fn = NEW(A_UNIT, Fn);
	*x->fn = *from;
	x->fn->nval = 0;
	x->fn->body = ir_block(x->fn, NULL);
	for (int i = 0; i < from->body->args.n; i++) {
		Val *a = from->body->args.p[i], *own = ir_arg(x->fn->body, a->type, a->name);
		for (int k = 0; k < x->fn->params.n; k++)
			if (x->fn->params.p[k].val == a) x->fn->params.p[k].val = own;
	}
	x->whole = names_of(from, x->fn);
	x->by_part = names_of(x->part.fn, x->fn);
	x->names = &x->whole;
	x->needed = NEW_ARRAY(A_TMP, bool, from->nval);
	x->b = (Builder){ x->fn, x->fn->body, NULL, from->span };
}

/* The last whole wave is dealt out with what is left after it: shares have one to two tiles' rounds, or less. */
static void deal_out(Write *x, const Sym *tiles)
{
	Shares *s = &x->shares;
	const IrParamVec *params = &x->fn->params;
	ir_number(x->p.fn);
	ValSyms b = valsyms_new(x->p.fn);
	PipeDeal d = pipe_deal(tiles, valsym(&b, ir_in(x->p.loop, 1)), s->count);
	s->flags = params->p[params->n - 2].val;
	s->sums = params->p[params->n - 1].val;
	s->rounds = launch(x, d.rounds, "rounds");
	s->waves = launch(x, d.waves, "waves");
	s->whole = launch(x, sym_mul(d.waves, sym_const(s->count)), "whole");
	s->rest = launch(x, d.rest, "rest");
	s->each = launch(x, d.each, "each");
}

/* A cluster's tiles are as many of the kernel's blocks as it has groups, times those side by side in one group. */
static void set_grid(Write *x)
{
	const Sym *rows = widen_grid(x->p.fn->grid[x->p.row_axis], x->p.plan.groups * along_cluster(x, 0));
	const Sym *cols = widen_grid(x->p.fn->grid[x->p.col_axis], x->p.reps * along_cluster(x, 1));
	x->rows = launch(x, rows, "rows");
	x->cols = launch(x, cols, "cols");
	x->tiles = launch(x, sym_mul(rows, cols), "tiles");
	if (x->shares.count) deal_out(x, sym_mul(rows, cols));
	x->fn->ngrid = 1;
	x->fn->grid[0] = sym_mul(rows, cols);
	x->fn->grid[1] = NULL;
	for (int i = 0; i < 4; i++) x->fn->sweep[i] = 0;
}

static void write_kernel(Write *x)
{
	for (const Op *op = x->p.fn->body->first; op; op = op->next)
		if (is_common(x, op)) copy_to(x, op, x->names->common);
	find_needed(x);
	set_grid(x);
	if (x->p.plan.cluster > 1) {
		x->rank = named(make(x, OP_CLUSTER_RANK, i32(), 0, NULL), "rank");
		x->all = number(x, (INT64_C(1) << x->p.plan.cluster) - 1);
	}
	write_producer(x);
	for (int i = 0; i < x->p.fn->nval; i++) x->whole.own[i] = NULL;
	write_consumers(x);
	if (x->rank) ir_set_int(add(x, OP_CLUSTER_BARRIER, 0, NULL), AT_ORDER, ACQUIRE_RELEASE);
	add(x, OP_RETURN, 0, NULL);
}

/* Views that are permuted parameters, which tensor maps are made of. */
static void name_views(Write *x, Names *names, const Fn *fn)
{
	x->names = names;
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_PERMUTE && op->out[0]->type->kind == TY_VIEW) copy_to(x, op, names->common);
}

bool pipe_wanted(const Fn *fn, const LowerCx *cx)
{
	bool free = !ir_has_hint(fn, "warps") && !ir_has_hint(fn, "cluster") && !ir_has_hint(fn, "occupancy");
	return free && cx->o->by_threads;
}

static bool give_layouts(const Pipe *p)
{
	Lay sums[PIPE_PRODUCTS];
	for (int i = 0; i < p->products; i++) sums[i] = pipe_sum_layout(p->product[i].op->out[0]->type);
	return pipe_layouts(p, sums);
}

static Fn *place(Fn *typed, const PipePlan *plan, const LowerCx *cx)
{
	Write x = { .at = 0 };
	Fn *fn = copy_kernel(typed);
	if (!pipe_find(&x.p, fn) || !pipe_retile(&x.p, plan, cx)) return NULL;
	x.parts = x.p.reps << pipe_part(&x.p, &x.part, cx);
	x.shares.count = typed->shares_rounds ? pipe_places(cx, plan) : 0;
	if (!give_layouts(&x.p) || !give_layouts(&x.part)) return NULL;
	ir_number(fn);
	ir_number(x.part.fn);
	begin_kernel(&x);
	name_views(&x, &x.by_part, x.part.fn);
	map_stores(&x);
	name_views(&x, &x.whole, fn);
	map_loads(&x);
	if (!give_memory(&x, SHARED_LARGE)) return NULL;
	write_kernel(&x);
	x.fn->stage = STAGE_PLACED;
	x.fn->arch = cx->target_arch;
	x.fn->specific = x.fn->persistent = x.fn->by_arch = true;
	x.fn->warps = 4 * (1 + plan->groups) * plan->cluster;
	x.fn->cluster = plan->cluster > 1 ? plan->cluster : 0;
	x.fn->shared_bytes = x.at;
	ir_number(x.fn);
	return x.fn;
}

/* Of kernels whose tiles cannot be joined along both axes: two groups, else one. */
static const PipePlan alone[] = {
	{ .groups = 2, .rows = 1 << PIPE_ROWS_LOG2, .depth = PIPE_SPAN, .cluster = 1 },
	{ .groups = 1, .rows = 1 << PIPE_ROWS_LOG2, .depth = PIPE_SPAN, .cluster = 1 },
};

static Str name_of(const PipePlan *p, const char *kind)
{
	int cluster[2] = { 1, 1 };
	cluster[p->axis] = p->cluster;
	Str name = str_fmt("%s_%dx%d", kind, p->groups * p->rows, p->cols);
	return p->cluster > 1 ? str_fmt("%s_cluster_%dx%d", name, cluster[0], cluster[1]) : name;
}

static void add_placed(PipelinedVec *to, Fn *fn, const Sym *time, Str name)
{
	if (fn) vec_push(A_UNIT, to, ((Pipelined){ .fn = fn, .name = name, .time = time }));
}

static void place_roles(Pipe *p, const LowerCx *cx, PipelinedVec *to)
{
	PipeChoice choice[PIPE_PLANS];
	int n = p->fn->shares_rounds ? pipe_dealt_plans(p, cx, choice) : pipe_plans(p, cx, choice);
	for (int i = 0; i < n; i++)
		add_placed(to, place(p->fn, &choice[i].plan, cx), choice[i].time, name_of(&choice[i].plan, "pipelined"));
	for (size_t i = 0; !to->n && !p->fn->shares_rounds && i < sizeof alone / sizeof *alone; i++)
		add_placed(to, place(p->fn, &alone[i], cx), NULL, str_intern("pipelined"));
}

static void place_stages(Pipe *p, const LowerCx *cx, PipelinedVec *to)
{
	PipeChoice choice[PIPE_PLANS];
	int n = pipe_stage_plans(p, cx, choice);
	for (int i = 0; i < n; i++)
		add_placed(to, pipe_stages(p->fn, &choice[i].plan, cx), choice[i].time, name_of(&choice[i].plan, "stages"));
	if (to->n) return;
	PipePlan own = pipe_own_stages(p);
	add_placed(to, pipe_stages(p->fn, &own, cx), NULL, str_intern("stages"));
}

bool pipe_has_roles(const Pipe *p)
{
	bool wide = true;
	for (int i = 0; i < p->loads; i++) wide &= elem_bytes(p->load[i].op->out[0]->type->elem) == 2;
	return wide;
}

void pipe_place(Fn *typed, const LowerCx *cx, PipelinedVec *to)
{
	Pipe p;
	if (!pipe_find(&p, typed) || !pipe_wanted(typed, cx)) return;
	if (lower_arch(cx, typed) == 90 && cx->target_only && pipe_has_roles(&p)) place_roles(&p, cx, to);
	else if (!typed->shares_rounds) place_stages(&p, cx, to);
	if (to->n == 1) to->p[0].time = NULL;
}
