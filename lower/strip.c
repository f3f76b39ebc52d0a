/* strip: tiles beyond the registers of a thread block become loops over slices (strip-mining).
 *
 * The work on a tile that is too large is divided into loops (strip_plan.c): each loads a slice, computes what follows
 * from it, and stores it or combines it with the partial result of a reduction. A thread combines its part of a slice
 * into its own partial result; after the loop the whole thread block (or cluster) reduces the partial results. So
 * neither the code nor the registers of a kernel grow with its tile.
 *
 * A slice has 64 bytes of the widest access for each thread: enough bytes in flight at once, few enough to live in
 * registers. Tiles that registers hold, and whose elements are read only once, stay whole; loads that a later loop
 * repeats are cached in shared memory as far as it goes (pass cache). */
#include "lower/pins.h"
#include "lower/strip.h"

enum {
	PARTS = 4,              /* of a kernel that are cut one after the other */
	KEEP_ALL = MACHINE_SHARED_90 /* bytes that a thread block may keep (cache.c) */
};

/* ---- how large ---- */
typedef struct Measure { Val *seed; int log2, bytes; } Measure;

static void measure(Measure *m, const Op *op)
{
	const Val *moved = ir_accessed(op);
	for (int i = 0; i < op->nout; i++) {
		Val *v = op->out[i];
		bool made = op_is_made(op);
		if (!type_is_tile(v->type) || made || (m->seed && type_log2_size(v->type) <= m->log2)) continue;
		m->seed = v;
		m->log2 = type_log2_size(v->type);
	}
	if (moved && type_log2_size(moved->type) && elem_bytes(moved->type->elem) > m->bytes)
		m->bytes = elem_bytes(moved->type->elem);
}

static Measure measure_block(const IrBlock *block)
{
	Measure m = { 0 };
	for (const Op *op = block->first; op; op = op->next) measure(&m, op);
	return m;
}

/* May a cluster run the kernel, and does it divide one axis only, so that no slice is converted? */
static bool suits_cluster(const Fn *fn, const LowerCx *cx)
{
	if (cx->alone || ir_hint(fn, "warps", 0) > 0 || ir_hint(fn, "cluster", 0) == 1 || plan_alone(fn)) return false;
	if (!kernel_suits_cluster(fn)) return false;
	for (const Op *op = fn->body->first; op; op = op->next) {
		for (int i = 0; i < op->nout; i++) {
			const Type *t = op->out[i]->type;
			int long_axes = 0;
			for (int a = 0; type_is_tile(t) && a < t->rank; a++) long_axes += t->log2[a] > 0;
			if (long_axes > 1) return false;
		}
	}
	return true;
}

/* ---- along which axis ---- */
/* Accesses whose slices are too short along the axis on which memory is contiguous. */
static int narrow_accesses(const StripPlan *p, int log2, int row)
{
	int n = 0;
	for (int i = 0; i < p->n; i++) {
		const Op *op = p->ops[i].op;
		const Val *v = ir_accessed(op);
		if (!p->ops[i].cut || !v) continue;
		int a = p->axis[v->id];
		n += a == fast_axis(p->fn, ir_in(op, 0)) && (type_extent(v->type, a) >> log2) * elem_bytes(v->type->elem) < row;
	}
	return n;
}

typedef bool Pair(const StripPlan *p, const Op *x, const Op *y);        /* of two accesses that are cut */

static bool any_pair(const StripPlan *p, Pair *is)
{
	for (int i = 0; i < p->n; i++)
		for (int k = 0; k < i && p->ops[i].cut; k++)
			if (p->ops[k].cut && is(p, p->ops[k].op, p->ops[i].op)) return true;
	return false;
}

static bool overlap(const StripPlan *p, const Op *x, const Op *y) { return (void)p, loads_overlap(x, y); }

/* Loads that overlap along the axis that is cut read the edges of each slice twice. */
static bool overlap_along(const StripPlan *p, const Op *x, const Op *y)
{
	int a = loads_overlap(x, y) ? p->axis[x->out[0]->id] : -1;
	return a >= 0 && load_offset(x, a) != load_offset(y, a);
}

/* Memory is contiguous along the axis that is cut, for one of them alone. */
static bool transposed(const StripPlan *p, const Op *x, const Op *y)
{
	if (x->code != OP_LOAD || y->code != OP_STORE) return false;
	const Val *v = x->out[0], *w = ir_in(y, y->nin - 1);
	return (p->axis[v->id] == fast_axis(p->fn, ir_in(x, 0))) != (p->axis[w->id] == fast_axis(p->fn, ir_in(y, 0)));
}

/* The axis that takes fewest loops; of such the one with fewest accesses of less than `row` bytes, of these the one
 * whose slices have fewest elements at their edges, the slowest of these. */
static bool best_plan(IrBlock *block, Val *seed, int log2, int row, StripPlan *best)
{
	StripPlan p;
	int narrow = 0, edge = 0;
	bool found = false;
	for (int a = 0; a < seed->type->rank; a++) {
		if (seed->type->log2[a] < log2 || !strip_plan(block, seed, a, log2, &p)) continue;
		int n = narrow_accesses(&p, log2, row), e = any_pair(&p, overlap_along) ? log2 - seed->type->log2[a]
			: -LAY_BITS;
		if (found && p.loops > best->loops) continue;
		if (found && p.loops == best->loops && (n > narrow || (n == narrow && e >= edge))) continue;
		*best = p;
		narrow = n;
		edge = e;
		found = true;
	}
	return found;
}

/* Loads that overlap are read once (pass overlap): the first of them counts. */
static bool is_read_before(const StripPlan *p, int i, unsigned runs)
{
	for (int k = 0; k < i; k++)
		if ((p->ops[k].runs & runs) == runs && loads_overlap(p->ops[k].op, p->ops[i].op)) return true;
	return false;
}

static int bytes_of(const StripPlan *p, int i, unsigned runs)
{
	return p->ops[i].op->code == OP_LOAD && !is_read_before(p, i, runs) ? elem_bytes(p->ops[i].op->out[0]->type->elem)
		: 0;
}

/* ---- who shares a tile ---- */
enum { ALL_RUNS, RUN_RELOADED };

/* Bytes that the loads of an element have: all of them, or those that more than one loop runs. */
static int load_bytes(const StripPlan *p, int which)
{
	int n = 0;
	for (int i = 0; i < p->n; i++) {
		const StripOp *o = &p->ops[i];
		bool again = (o->runs & (o->runs - 1)) != 0;
		if (o->cut && (which == ALL_RUNS || again)) n += bytes_of(p, i, o->runs);
	}
	return n;
}

/* The same of the loop that has most. */
static int loop_bytes(const StripPlan *p)
{
	int most = 1;
	for (int k = 0; k < SLICE_LOOPS; k++) {
		int n = 0;
		for (int i = 0; i < p->n; i++)
			if (p->ops[i].runs >> k & 1) n += bytes_of(p, i, 1u << k);
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
static int held_each(const StripPlan *p)
{
	int bytes = load_bytes(p, ALL_RUNS), n = log2_floor(COST_HELD_BYTES / (bytes ? bytes : 1));
	int most = any_pair(p, overlap) ? COST_HELD_PATCH : COST_HELD_EACH;
	if (bytes && any_pair(p, transposed) && log2_floor(COST_HELD_TURNED / bytes) < most)
		most = log2_floor(COST_HELD_TURNED / bytes);
	return n < most ? n : most;
}

static bool reduces(const StripPlan *p)
{
	for (int i = 0; i < p->n; i++)
		if (p->ops[i].part) return true;
	return false;
}

static bool scans(const StripPlan *p)
{
	for (int i = 0; i < p->n; i++)
		if (p->ops[i].scan) return true;
	return false;
}

/* Who shares a tile, all log2: the warps of a thread block, its thread blocks, the elements of a
 * slice that a thread has. */
typedef struct Shares { int warps, cluster, each; } Shares;

/* Thread blocks keep what later loops load again. The less that is, the smaller they are, and the more of them share an
 * SM. Outside of clusters most of a large tile is loaded again anyway, and a thread block
 * of 32 warps has few registers. */
static int warps_beside(int64_t kept, bool cluster)
{
	if (kept <= COST_KEEP_THIRD) return COST_SLICE_WARPS;
	return kept <= COST_KEEP_HALF || !cluster ? COST_SLICE_WARPS + 1 : COST_SLICE_WARPS + 2;
}

/* May the thread blocks of a cluster (log2) keep what is loaded again, one on each multiprocessor? */
static bool keeps_all(const StripPlan *p, int size, int cluster)
{
	return ((int64_t)load_bytes(p, RUN_RELOADED) << size) >> cluster <= KEEP_ALL;
}

/* Do the registers of a cluster of 16 thread blocks hold what those of 8 do not? Such clusters leave more
 * multiprocessors idle (bench/notes/rows.md), which pays only if each thread has many loads in flight at once and
 * registers for nothing else: a row's weights would take as many again. Kernels that synchronise twice then take 64
 * elements a thread. Where elements are accessed one by one, slices would take longer still.
 * Or does their shared memory cache what that of 8 does not? Not for accesses of single elements. Figures:
 * bench/notes/rows.md. */
static bool serves_wide(const Fn *fn, const LowerCx *cx, const StripPlan *p, int size)
{
	int each = size - COST_HELD_IN_CLUSTER;
	bool fits = each > CLUSTER_PORTABLE && each <= CLUSTER_WIDE + cx->peels;
	int own = load_bytes(p, RUN_RELOADED);
	bool alone = load_bytes(p, ALL_RUNS) == own;
	bool reloads = own << COST_CLUSTER_REGS >= COST_WIDE_BYTES;
	bool much = wide_regs(fn, cx) > COST_CLUSTER_REGS || ((alone || cx->peels) && reloads);
	if (fits) return much || fn->by_element;
	return !fn->by_element && !keeps_all(p, size, CLUSTER_PORTABLE) && keeps_all(p, size, CLUSTER_WIDE);
}

/* Are rows of one tensor loaded, besides those that all tile blocks share, such as weights? */
static bool loads_one(const StripPlan *p)
{
	int n = 0;
	for (int i = 0; i < p->n; i++) {
		const Op *op = p->ops[i].op;
		bool own = false;
		Num at;
		for (int k = 1; op->code == OP_LOAD && k < op->nin - 1; k++) own |= !ir_const_value(ir_in(op, k), &at);
		n += p->ops[i].cut && own;
	}
	return n <= 1;
}

/* false: registers hold the tile. */
static bool share_out(Fn *fn, const LowerCx *cx, const StripPlan *p, int size, bool hinted, Shares *s)
{
	int most = log2_floor(COST_SLICE_LOADS / loop_bytes(p));
	if (most < s->each) s->each = most;
	int held = COST_HELD_LOG2 - (load_bytes(p, ALL_RUNS) >= COST_HELD_LOADS);
	int pin = plan_pinned(fn, PC_CLUSTER) > 0 ? plan_pinned(fn, PC_CLUSTER) : 0;
	if (size <= LANES_LOG2 + s->warps + pin + held_each(p) || (p->loops > 1 && !hinted && size <= held)) return false;
	if (scans(p) && !hinted) {      /* slices one after the other, each as long as threads of half an SM make it */
		bool wide = suits_cluster(fn, cx) && lower_arch(cx, fn) >= 90;
		if (size <= (wide ? COST_SLICE_SCANNED_WIDE : COST_SLICE_SCANNED)) return false;
		s->warps = COST_SLICE_WARPS + 1;
		return true;
	}
	if (!scans(p) && reduces(p) && suits_cluster(fn, cx) && lower_arch(cx, fn) >= 90) {
		int wish = pin ? 1 << pin : (int)ir_hint(fn, "cluster", cx->target_arch);
		/* a call starts as many warps as its rows need, which few calls fill; single elements take more registers */
		bool by_length = !wish && fn->by_warp && (!fn->by_element || loads_one(p));
		if (by_length && size <= COST_HELD_LOG2 + cluster_most(cx, fn)) return false;
		bool wide = wish > 1 << CLUSTER_PORTABLE || (!wish && serves_wide(fn, cx, p, size));
		s->cluster = wide ? cluster_most(cx, fn) : wish ? log2_of(wish) : CLUSTER_PORTABLE;
		if (size <= COST_HELD_IN_CLUSTER + s->cluster + (cx->peels && s->cluster > CLUSTER_PORTABLE)) return false;
	}
	if (!hinted) s->warps = warps_beside(((int64_t)load_bytes(p, RUN_RELOADED) << size) >> s->cluster, s->cluster > 0);
	/* 32 warps have 64 registers a thread, and single elements take one each */
	if (fn->by_element && s->warps > COST_SLICE_WARPS + 1 && loop_bytes(p) << s->each > COST_SLICE_LOADS / 2) s->each--;
	return true;
}

/* ---- the pass ---- */
/* Makes what the block is given from outside, and cuts, within it. */
static void make_within(const StripPlan *p)
{
	for (int i = 0; i < p->n; i++)
		for (int k = 0; k < p->ops[i].op->nin; k++) {
			Val *v = ir_in(p->ops[i].op, k);
			if (!strip_is_cut(p, v) || p->def[v->id] >= 0) continue;
			Builder b = build_before(p->ops[i].op);
			b.span = v->def->span;
			Val *r = ir_op1(&b, v->def->code, v->type, v->def->nin, v->def->in);
			copy_attrs(r->def, v->def);
			p->ops[i].op->in[k] = r;
		}
}

static bool plan_block(IrBlock *block, Val *seed, int axis, int log2, StripPlan *p)
{
	ir_number(block->fn);
	if (!strip_plan(block, seed, axis, log2, p)) return false;
	make_within(p);
	ir_number(block->fn);
	return strip_plan(block, seed, axis, log2, p);
}

/* As many slices as leave no access narrow, if there are such, better twice as wide: those are then cut along another
 * axis, as in a transposition, where slices that are narrow in one of the tensors are slow (bench/notes/moves.md). */
static int wide_slices(IrBlock *block, Val *seed, int log2, const StripPlan *p)
{
	StripPlan q;
	int axis = p->axis[seed->id];
	if (p->loops > 1 || reduces(p) || scans(p) || !any_pair(p, transposed)) return log2;
	for (int row = 2 * COST_SLICE_ROW; row >= COST_SLICE_ROW; row -= COST_SLICE_ROW)
		for (int n = log2; n; n--)
			if (strip_plan(block, seed, axis, n, &q) && !narrow_accesses(&q, n, row)) return n;
	return log2;
}

static void strip_block(IrBlock *block, const LowerCx *cx, bool again);

/* Cuts what follows from a block's largest tile, so that each thread has 2^each elements of a slice. */
static bool cut(IrBlock *block, const LowerCx *cx, const Measure *m, const Shares *to, int row)
{
	Slicer s = { .log2 = 0 };
	int slices = m->log2 - LANES_LOG2 - to->warps - to->cluster - to->each;
	if (slices < 1 || !best_plan(block, m->seed, slices, row, &s.p)) return false;
	s.log2 = wide_slices(block, m->seed, slices, &s.p);
	if (!plan_block(block, m->seed, s.p.axis[m->seed->id], s.log2, &s.p)) return false;
	int piece = block->fn->by_element ? 0 : VECTOR_LOG2 - log2_floor(m->bytes);
	s.near = piece < to->each ? piece : to->each;
	s.far = to->each - s.near;
	strip_write(&s);
	if (s.log2 < slices) strip_block(s.counter->block, cx, true);
	return true;
}

/* Does a thread hold more elements than registers do? */
static bool exceeds(const Measure *m, const Shares *to)
{
	return m->log2 > LANES_LOG2 + to->warps + to->cluster + COST_HELD_EACH;
}

const Fn *strip_whole(const Fn *fn, const LowerCx *cx)
{
	for (int i = 0; i < cx->wholes->v.n; i++)
		if (cx->wholes->v.p[i].of == fn) return cx->wholes->v.p[i].fn;
	return NULL;
}

static void keep_whole(Fn *fn, const LowerCx *cx)
{
	if (!strip_whole(fn, cx)) vec_push(A_UNIT, &cx->wholes->v, ((Whole){ fn, copy_kernel(fn) }));
}

/* Tiles that only share rows' results with those that were cut are cut by themselves; what cannot be cut beside them
 * takes more warps. */
static void strip_rest(IrBlock *block, const LowerCx *cx, Shares *to, bool hinted)
{
	Measure m = measure_block(block);
	for (int i = 0; i < PARTS && exceeds(&m, to); i++) {
		ir_number(block->fn);
		if (!cut(block, cx, &m, to, COST_SLICE_ROW)) break;
		m = measure_block(block);
	}
	while (!hinted && to->warps < BLOCK_WARPS_LOG2 && exceeds(&m, to)) to->warps++;
}

static void strip_block(IrBlock *block, const LowerCx *cx, bool again)
{
	int row = again ? 2 * COST_SLICE_ROW : COST_SLICE_ROW;
	Fn *fn = block->fn;
	Measure m = measure_block(block);
	if (!m.bytes) return;
	StripPlan p;
	int hint = hinted_warps(fn, cx);
	if (plan_pinned(fn, PC_WARPS) != PLAN_FREE) hint = 1 << plan_pinned(fn, PC_WARPS);
	int each = COST_SLICE_BYTES / m.bytes < COST_SLICE_ELEMS ? COST_SLICE_BYTES / m.bytes : COST_SLICE_ELEMS;
	Shares to = { hint > 0 ? log2_of(hint) : COST_SLICE_WARPS, 0, log2_floor(each) };
	int slices = m.log2 - LANES_LOG2 - to.warps - to.each;
	if (slices < 1) return;
	ir_number(fn);
	if (!best_plan(block, m.seed, slices, row, &p)) return;
	if (!again && !share_out(fn, cx, &p, m.log2, hint > 0, &to)) return;
	if (!again && !block->owner && to.cluster) keep_whole(fn, cx);
	if (!cut(block, cx, &m, &to, row) || block->owner) return;
	strip_rest(block, cx, &to, hint > 0);
	fn->warps = 1 << (to.warps + to.cluster);
	fn->cluster = to.cluster ? 1 << to.cluster : 0;
}

/* The loops of the author, from the inside out. */
static void strip_within(IrBlock *block, const LowerCx *cx)
{
	for (Op *op = block->first; op; op = op->next)
		for (int r = 0; r < op->nregion; r++) strip_within(op->region[r], cx);
	strip_block(block, cx, false);
}

static void belong_to(Fn *fn, IrBlock *b)
{
	b->fn = fn;
	for (Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->nregion; i++) belong_to(fn, op->region[i]);
}

/* The slices were chosen for the threads of a cluster, which a thread block alone does not have. */
static void undo_slices(Fn *fn, const LowerCx *cx)
{
	const Fn *from = strip_whole(fn, cx);
	fn->body = from->body;
	fn->nval = from->nval;
	fn->numbered = from->numbered;
	for (int i = 0; i < fn->params.n; i++) fn->params.p[i].val = from->params.p[i].val;
	belong_to(fn, fn->body);
	fn->warps = fn->cluster = 0;
	for (int i = 0; i < cx->wholes->v.n; i++)
		if (cx->wholes->v.p[i].of == fn) cx->wholes->v.p[i].of = NULL;
	ir_number(fn);
}

bool strip_alone(Fn *fn, const LowerCx *cx)
{
	if (strip_whole(fn, cx)) undo_slices(fn, cx);
	strip_within(fn->body, cx);
	return fn->warps > 0;
}

void pass_strip(Module *m, const LowerCx *cx)
{
	for (int i = 0; i < m->fns.n; i++)
		strip_within(m->fns.p[i]->body, cx);
}
