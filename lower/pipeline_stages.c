/* Loops of matrix products as a pipeline of several stages, for architectures whose products are those of a warp
 * (mma.sync).
 *
 * A ring of buffers holds the factors of coming iterations. All threads copy into it in the background (cp.async); a
 * buffer is multiplied when as many iterations have gone by as the ring has other buffers. So one barrier an
 * iteration suffices: it shows all threads what has arrived, and says that nobody reads any more what is filled
 * next. Within an iteration a warp loads the fragments of a step of the depth while it multiplies those of the step
 * before.
 *
 * The kernel stays what it was: its loop is replaced, and what stands around it runs in the layout of the sums, as in
 * the pipeline of roles. Blocks are walked in groups of rows, which share columns in the L2 cache. */
#include "lower/pipeline.h"

#include "base/cost.h"
#include "layout/frag.h"

enum {
	STAGES_MOST = 4, STAGES_LEAST = 2,
	RING_ALIGN = 1024       /* of what is swizzled */
};

typedef struct Stages {
	Pipe p;
	Builder b;
	int nval;               /* of the kernel as it was */
	int count;              /* buffers of each ring */
	int steps;              /* of fragments, in an iteration */
	Frag frag;
	const Type *buffer[PIPE_LOADS];
	Val *ring[PIPE_LOADS], *view[PIPE_LOADS];
	bool transposed[PIPE_LOADS];        /* the buffer holds the transposed tile */
} Stages;

/* ---- building ---- */
static const Type *i32(void) { return type_scalar(EL_I32); }
static Val *number(Stages *x, int64_t n) { return ir_const_int(&x->b, i32(), n); }

static Val *make(Stages *x, OpCode code, const Type *t, int nin, Val *const *in)
{
	return ir_op1(&x->b, code, t, nin, in);
}

static Op *add(Stages *x, OpCode code, int nin, Val *const *in) { return ir_op(&x->b, code, nin, in, 0, NULL); }

static const Type *matrix(TypeKind kind, Elem e, int64_t rows, int64_t cols, int count)
{
	uint8_t log2[] = { (uint8_t)log2_of(rows), (uint8_t)log2_of(cols) };
	return type_placed(kind, e, 2, log2, (const uint8_t[]){ 0, 0 }, count);
}

/* The number of the iteration that is n iterations after another. */
static Val *later(Stages *x, Val *iteration, int n)
{
	Val *step = ir_in(x->p.loop, 2);
	Num from, by;
	if (!n) return iteration;
	if (!ir_const_value(step, &by)) return ir_binary(&x->b, OP_ADD, i32(), iteration,
		ir_binary(&x->b, OP_MUL, i32(), step, number(x, n)));
	if (ir_const_value(iteration, &from)) return number(x, from.i + by.i * n);
	return ir_binary(&x->b, OP_ADD, i32(), iteration, number(x, by.i * n));
}

/* ---- layouts ---- */
/* Fragments of one instruction, repeated within a warp, then by warps along rows and along columns. Warps along an axis
 * that a factor does not have hold the same. */
static Lay layout_of(const Stages *x, Role role, int rows, int cols)
{
	const PipePlan *p = &x->p.plan;
	Lay l = lay_frag(x->frag, role);
	int to[] = { rows, cols };
	for (int a = 1; a >= 0; a--) {
		bool spread = role == ROLE_C || a == (role == ROLE_B);
		int own = to[a] - (spread ? p->warps[a] : 0);
		if (own < l.out[a]) return lay_bad();
		l = lay_push(l, HW_REG, a, own - l.out[a]);
	}
	for (int a = 0; a < 2; a++) {
		bool spread = role == ROLE_C || a == (role == ROLE_B);
		l = spread ? lay_push(l, HW_WARP, a, p->warps[a]) : lay_mul(l, lay_bcast(2, HW_WARP, p->warps[a]));
	}
	return l;
}

/* Of all sums. */
static bool give_layouts(const Stages *x)
{
	Lay sums[PIPE_PRODUCTS];
	for (int i = 0; i < x->p.products; i++) {
		const Type *t = x->p.product[i].op->out[0]->type;
		sums[i] = layout_of(x, ROLE_C, t->log2[0], t->log2[1]);
		if (!lay_ok(sums[i])) return false;
	}
	return pipe_layouts(&x->p, sums);
}

/* ---- rings ---- */
static int span_of(const Type *t)
{
	int64_t row = type_extent(t, 1) * elem_bytes(t->elem);
	return row < PIPE_SPAN ? (int)row : PIPE_SPAN;
}

/* Does each access begin with a vector of the tensor's rows? */
static bool begins_with_pieces(const PipeLoad *l)
{
	const IrAttr *steps = ir_attr(l->op, AT_STEPS), *offsets = ir_attr(l->op, AT_OFFSETS);
	int fast = l->along_depth ? l->depth_axis : 1 - l->depth_axis,
		each = VECTOR_BYTES / elem_bytes(l->op->out[0]->type->elem);
	return steps->u.ints.p[fast] % each == 0 && (!offsets || offsets->u.ints.p[fast] % each == 0);
}

static bool look_at_buffer(Stages *x, int i)
{
	const PipeLoad *l = &x->p.load[i];
	const Type *t = l->op->out[0]->type;
	int64_t depth = type_extent(t, l->depth_axis), other = type_extent(t, 1 - l->depth_axis);
	x->transposed[i] = l->along_depth != (l->depth_axis == 1);
	x->buffer[i] = matrix(TY_SHARED, t->elem, l->along_depth ? other : depth, l->along_depth ? depth : other, 0);
	x->steps = (int)(depth >> frag_k(x->frag));
	/* ldmatrix transposes elements of 16 bits alone */
	return x->steps > 0 && begins_with_pieces(l) && frag_elem(x->frag) == elem_log2(t->elem)
		&& (l->along_depth || elem_bytes(t->elem) == 2);
}

static int64_t ring_bytes(const Type *buffer, int count)
{
	return (type_bytes(buffer) * count + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
}

static int64_t rings_bytes(const Stages *x, int count)
{
	int64_t n = 0;
	for (int i = 0; i < x->p.loads; i++) n += ring_bytes(x->buffer[i], count);
	return n;
}

static void make_rings(Stages *x)
{
	int64_t at = 0;
	for (int i = 0; i < x->p.loads; i++) {
		const Type *t = x->buffer[i];
		Val *view = ir_in(x->p.load[i].op, 0);
		x->ring[i] = make(x, OP_ALLOC_RING, type_placed(TY_RING, t->elem, 2, t->log2, t->more, x->count), 0, NULL);
		ir_set_int(x->ring[i]->def, AT_SLOT, at);
		ir_set_int(x->ring[i]->def, AT_SWIZZLE, span_of(t));
		at += ring_bytes(t, x->count);
		x->view[i] = view;
		if (!x->transposed[i]) continue;
		x->view[i] = make(x, OP_PERMUTE, view->type, 1, &view);
		ir_set_ints(x->view[i]->def, AT_AXES, 2, (const int64_t[]){ 1, 0 });
	}
}

static Val *advance(Stages *x, Val *at) { return make(x, OP_ADVANCE, at->type, 1, &at); }

static Val *slot(Stages *x, int load, Val *at)
{
	return make(x, OP_SLOT, x->buffer[load], 2, (Val *[]){ x->ring[load], at });
}

/* ---- an iteration ---- */
static bool is_scalar(const Op *op) { return op->nout && type_is_scalar(op->out[0]->type); }

static Val *in_iteration(Val *v, Val *const *own, int nval) { return v->id < nval && own[v->id] ? own[v->id] : v; }

/* Fills a buffer of each ring with the factors of an iteration; what the iteration computes for that is computed
 * here, too. */
static void fill(Stages *x, Val *at, Val *iteration)
{
	const IrBlock *body = x->p.loop->region[0];
	Val **own = NEW_ARRAY(A_TMP, Val *, x->nval);
	own[body->args.p[0]->id] = iteration;
	for (const Op *op = body->first; op != body->last; op = op->next) {
		Val *in[OP_ARGS];
		if (!is_scalar(op)) continue;
		for (int i = 0; i < op->nin; i++) in[i] = in_iteration(ir_in(op, i), own, x->nval);
		copy_op(&x->b, op, in, own);
	}
	for (int i = 0; i < x->p.loads; i++) {
		const Op *op = x->p.load[i].op;
		const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
		Val *index[2];
		int64_t step[2], offset[2];
		for (int a = 0; a < 2; a++) {
			int from = x->transposed[i] ? 1 - a : a;
			index[a] = in_iteration(ir_in(op, 1 + from), own, x->nval);
			step[a] = steps->u.ints.p[from];
			offset[a] = offsets ? offsets->u.ints.p[from] : 0;
		}
		x->b.span = op->span;
		Op *copy = add(x, OP_COPY_ASYNC, 4, (Val *[]){ slot(x, i, at), x->view[i], index[0], index[1] });
		ir_set_ints(copy, AT_STEPS, 2, step);
		if (offsets) ir_set_ints(copy, AT_OFFSETS, 2, offset);
	}
	add(x, OP_COPY_COMMIT, 0, NULL);
}

/* The oldest buffer that is filled has arrived, for all threads; nobody reads the one before it any more. */
static void arrive(Stages *x)
{
	ir_set_int(add(x, OP_COPY_WAIT, 0, NULL), AT_PENDING, x->count - 2);
	add(x, OP_BARRIER, 0, NULL);
}

/* Fragments of a step, of each load's buffer. */
static void load_fragments(Stages *x, Val *at, int step, Val *to[PIPE_LOADS])
{
	for (int i = 0; i < x->p.loads; i++) {
		const PipeLoad *l = &x->p.load[i];
		const Type *t = x->buffer[i];
		int64_t depth = INT64_C(1) << frag_k(x->frag), other = type_extent(t, l->along_depth ? 0 : 1);
		int64_t size[] = { l->along_depth ? other : depth, l->along_depth ? depth : other };
		Val *zero = number(x, 0), *n = number(x, step), *buffer = slot(x, i, at);
		x->b.span = l->op->span;
		Val *part = make(x, OP_PART, matrix(TY_SHARED, t->elem, size[0], size[1], 0), 3,
			(Val *[]){ buffer, l->along_depth ? zero : n, l->along_depth ? n : zero });
		ir_set_ints(part->def, AT_STEPS, 2, size);
		to[i] = make(x, OP_LDMATRIX, matrix(TY_FRAG, t->elem, l->second ? depth : other, l->second ? other : depth, 0),
			1, &part);
		ir_set_layout(to[i], layout_of(x, l->second ? ROLE_B : ROLE_A, to[i]->type->log2[0], to[i]->type->log2[1]));
		if (l->along_depth == l->second) ir_set_ints(to[i]->def, AT_AXES, 2, (const int64_t[]){ 1, 0 });
	}
}

static void multiply(Stages *x, Val *const frag[PIPE_LOADS], Val *sum[PIPE_PRODUCTS])
{
	for (int i = 0; i < x->p.products; i++) {
		const PipeProduct *r = &x->p.product[i];
		Val *old = sum[r->sum];
		x->b.span = r->op->span;
		sum[r->sum] = make(x, OP_MMA_FRAG, old->type, 3, (Val *[]){ frag[r->load[0]], frag[r->load[1]], old });
		sum[r->sum]->lay = old->lay;
		sum[r->sum]->name = r->op->out[0]->name;
	}
}

/* ---- the loop ---- */
enum { CARRIED = PIPE_PRODUCTS + PIPE_LOADS + 2 };      /* sums, fragments, where is read, where is filled */

static void write_loop(Stages *x)
{
	Op *old = x->p.loop;
	int sums = x->p.products, loads = x->p.loads, n = sums + loads + 2;
	Val *in[3 + CARRIED], *arg[CARRIED], *frag[PIPE_LOADS], *first = ir_in(old, 0);
	const Type *out[CARRIED];
	Val *at = make(x, OP_CURSOR, type_placed(TY_CURSOR, EL_VOID, 0, NULL, NULL, x->count), 0, NULL), *free = at;
	for (int i = 0; i + 1 < x->count; i++) {
		fill(x, free, later(x, first, i));
		free = advance(x, free);
	}
	arrive(x);
	for (int i = 0; i < 3 + sums; i++) in[i] = ir_in(old, i);
	load_fragments(x, at, 0, in + 3 + sums);
	in[3 + sums + loads] = at;
	in[3 + sums + loads + 1] = free;
	for (int i = 0; i < n; i++) out[i] = in[3 + i]->type;
	x->b.span = old->span;
	Op *loop = ir_op(&x->b, OP_FOR, 3 + n, in, n, out);
	Builder back = x->b;
	x->b = (Builder){ x->p.fn, ir_region(loop), NULL, old->span };
	Val *iteration = ir_arg(x->b.block, i32(), old->region[0]->args.p[0]->name);
	for (int i = 0; i < n; i++) {
		arg[i] = ir_arg(x->b.block, out[i], i < sums ? old->region[0]->args.p[1 + i]->name : NULL);
		arg[i]->lay = loop->out[i]->lay = in[3 + i]->lay;
	}
	for (int i = 0; i < loads; i++) frag[i] = arg[sums + i];
	at = arg[sums + loads];
	free = arg[sums + loads + 1];
	for (int s = 0; s < x->steps; s++) {
		Val *next[PIPE_LOADS];
		bool fills = !s, last = s + 1 == x->steps;
		/* the wait counts the copies that are asked for before it */
		if (fills && last) fill(x, free, later(x, iteration, x->count - 1));
		if (last) {
			arrive(x);
			at = advance(x, at);
		}
		load_fragments(x, at, (s + 1) % x->steps, next);
		if (fills && !last) fill(x, free, later(x, iteration, x->count - 1));
		multiply(x, frag, arg);
		for (int i = 0; i < loads; i++) frag[i] = next[i];
	}
	for (int i = 0; i < loads; i++) arg[sums + i] = frag[i];
	arg[sums + loads] = at;
	arg[sums + loads + 1] = advance(x, free);
	add(x, OP_YIELD, n, arg);
	x->b = back;
	add(x, OP_COPY_WAIT, 0, NULL);
	for (int i = 0; i < sums; i++) {
		loop->out[i]->name = old->out[i]->name;
		ir_replace(old->out[i], loop->out[i]);
	}
	ir_remove(old);
}

/* ---- registers ---- */
static int words_of(const Val *v)
{
	if (v->def && (v->def->code == OP_CONST || v->def->code == OP_BROADCAST)) return 0;     /* one register for many */
	return type_is_tile(v->type) && v->lay ? (elem_bytes(v->type->elem) << v->lay->in[HW_REG]) / 4 : 0;
}

static bool is_used_from(const Op *op, const Val *v)
{
	for (; op; op = op->next)
		for (int i = 0; i < op->nin; i++)
			if (ir_in(op, i) == v) return true;
	return false;
}

/* Registers of a thread that hold tiles at once after the loop: at accesses, for what is between them is done element
 * by element. */
static int words_after(const Pipe *p)
{
	int most = 0;
	for (const Op *op = p->loop->next; op; op = op->next) {
		int words = op->nout ? words_of(op->out[0]) : 0;
		if (op->code != OP_LOAD && op->code != OP_STORE) continue;
		for (const Op *from = p->fn->body->first; from != op; from = from->next)
			for (int i = 0; i < from->nout; i++)
				if (words_of(from->out[i]) && is_used_from(op, from->out[i])) words += words_of(from->out[i]);
		if (words > most) most = words;
	}
	return most;
}

/* ---- stores ---- */
/* A row of a fragment has less than a sector of 16-bit elements: such tiles are stored row by row, in vectors, through
 * the memory of the rings. Those that are larger than it are stored as they are. */
static void store_by_rows(Stages *x, Op *op)
{
	Val *v = ir_in(op, op->nin - 1), *r;
	const Type *t = v->type;
	int fast = fast_axis(x->p.fn, ir_in(op, 0)), piece = log2_of(VECTOR_BYTES) - elem_log2(t->elem);
	const uint8_t order[] = { (uint8_t)fast, (uint8_t)(1 - fast) };
	if (!type_is_tile(t) || t->rank != 2 || ir_in(op, 0)->type->rank != 2 || t->log2[fast] < piece) return;
	if (elem_bytes(t->elem) << frag_n(x->frag) >= SECTOR || type_bytes(t) > rings_bytes(x, x->count)) return;
	x->b = build_before(op);
	Lay rows = lay_blocked(2, t->log2, piece, 5, x->p.plan.warps[0] + x->p.plan.warps[1], order);
	add(x, OP_BARRIER, 0, NULL);
	Val *buffer = ir_in(move_to_shared(&x->b, v, rows), 0);
	ir_set_int(buffer->def, AT_SLOT, 0);
	add(x, OP_BARRIER, 0, NULL);
	r = make(x, OP_LOAD_SHARED, t, 1, &buffer);
	ir_set_layout(r, rows);
	op->in[op->nin - 1] = r;
}

/* ---- the kernel ---- */
typedef struct Index { const Pipe *p; Val *row, *col; } Index;

static void set_index(void *ctx, Op *op)
{
	Index *i = ctx;
	if (op->code != OP_BID) return;
	ir_replace(op->out[0], ir_axis(op) == i->p->row_axis ? i->row : i->col);
	ir_remove(op);
}

static void set_grid(Stages *x)
{
	Fn *fn = x->p.fn;
	const Sym *rows = fn->grid[x->p.row_axis], *cols = fn->grid[x->p.col_axis];
	Val *tile = make(x, OP_BID, i32(), 0, NULL), *nrow = ir_launch(&x->b, EL_I32, rows);
	Val *ncol = ir_launch(&x->b, EL_I32, cols);
	ir_set_int(tile->def, AT_AXIS, 0);
	const Type *two[] = { i32(), i32() };
	Op *order = ir_op(&x->b, OP_TILE_ORDER, 3, (Val *[]){ tile, nrow, ncol }, 2, two);
	ir_set_int(order, AT_GROUPS, COST_STAGES_GROUPED);
	Index index = { &x->p, order->out[0], order->out[1] };
	for (Op *op = order->next, *next; op; op = next) {
		next = op->next;
		set_index(&index, op);
	}
	ir_walk(x->p.loop->region[0], set_index, &index);
	fn->ngrid = 1;
	fn->grid[0] = sym_mul(rows, cols);
	fn->grid[1] = NULL;
	for (int i = 0; i < 4; i++) fn->sweep[i] = 0;
}

static void ask(Fn *fn, const Sym *cond)
{
	int64_t always;
	if (sym_is_const(cond, &always) && always) return;
	for (int i = 0; i < fn->where.n; i++)
		if (fn->where.p[i].cond == cond) return;
	vec_push(A_UNIT, &fn->where, ((IrWhere){ .cond = cond, .span = fn->span }));
}

/* Rows of all that is copied begin at vectors. */
static void ask_pieces(const Stages *x)
{
	Fn *fn = x->p.fn;
	IrWhereVec own = { 0 };
	for (int i = 0; i < fn->where.n; i++) vec_push(A_UNIT, &own, fn->where.p[i]);
	fn->where = own;
	for (int i = 0; i < x->p.loads; i++) {
		const IrParam *p = param_of_view(fn, ir_in(x->p.load[i].op, 0), &(int){ 0 });
		int64_t one;
		ask(fn, sym_aligned(p->name, VECTOR_BYTES));
		for (int a = 0; a < p->rank; a++) {
			if (sym_is_const(p->stride[a], &one) && one == 1) continue;
			const Sym *vector = sym_const(VECTOR_BYTES / elem_bytes(p->elem));
			ask(fn, sym_cmp(SYM_EQ, sym_mod(p->stride[a], vector), sym_const(0)));
		}
	}
}

Fn *pipe_stages(Fn *typed, const PipePlan *plan, const LowerCx *cx)
{
	Stages x = { .nval = 0 };
	Fn *fn = copy_kernel(typed);
	if (!pipe_find(&x.p, fn) || !pipe_retile(&x.p, plan, cx)) return NULL;
	x.frag = elem_bytes(x.p.load[0].op->out[0]->type->elem) == 1 ? FRAG_M16N8K32 : FRAG_M16N8K16;
	for (int i = 0; i < x.p.loads; i++)
		if (!look_at_buffer(&x, i)) return NULL;
	int64_t room = shared_room(cx, fn);
	for (x.count = STAGES_MOST; x.count >= STAGES_LEAST && rings_bytes(&x, x.count) > room;) x.count--;
	if (x.count < STAGES_LEAST || !give_layouts(&x) || words_after(&x.p) > COST_STAGES_BEHIND) return NULL;
	ask_pieces(&x);
	ir_number(fn);
	x.nval = fn->nval;
	x.b = (Builder){ fn, fn->body, fn->body->first, fn->span };
	set_grid(&x);
	x.b = build_before(x.p.loop);
	make_rings(&x);
	write_loop(&x);
	for (Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_STORE) store_by_rows(&x, op);
	fn->stage = STAGE_PLACED;
	fn->arch = cx->target_arch;
	fn->by_arch = true;
	fn->warps = 1 << (plan->warps[0] + plan->warps[1]);
	fn->shared_bytes = rings_bytes(&x, x.count);
	ir_number(fn);
	return fn;
}
