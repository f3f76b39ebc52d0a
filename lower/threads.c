/* How many threads share a tile: warps of a thread block, thread blocks of a cluster. */
#include "base/least.h"
#include "base/machine.h"
#include "lower/pins.h"
#include "lower/placed.h"
#include "placed/access.h"

enum { FAR = 3 };               /* operations between an index and where it was read, at most */

/* from: log2 of the largest tile that is loaded; loads: of tiles; loaded: bytes of them for an element; asked: in all;
 * carried: log2 of the largest tile that a loop carries; moves: there is more than elementwise operations on rows;
 * seeks: a tile is loaded from where an index from memory says; gathers: elements are; turns: another axis becomes the
 * last; works: floats are computed with; sums, waits, math: tiles that a loop carries, reductions and functions of
 * tiles, if they are more than a few elements */
typedef struct Size {
	int log2, from, products, bytes, loads, loaded, carried, sums, waits;
	bool reduces, scans, sorts, moves, seeks, math, gathers, turns, works;
	int64_t asked;
} Size;

static bool is_plain(const Op *op)
{
	switch (op->code) {
	case OP_LOAD: case OP_STORE: return true;
	case OP_RESHAPE: case OP_PERMUTE: return false;
	default: return op_has(op, OPF_POINTWISE | OPF_UNIFORM);
	}
}

/* Does a scalar come from what was read? Found within a few operations, or not at all. */
static bool was_read(const Val *v, int depth)
{
	const Op *d = v->def;
	if (!d || depth > FAR || !type_is_scalar(v->type)) return false;
	if (op_has(d, OPF_READ)) return true;
	for (int i = 0; i < d->nin; i++)
		if (was_read(ir_in(d, i), depth + 1)) return true;
	return false;
}

static bool changes_last(const Op *permute)
{
	int last = permute->out[0]->type->rank - 1;
	return ir_attr(permute, AT_AXES)->u.ints.p[last] != last;
}

static bool computes(const Op *op)
{
	if (op->nout != 1 || !type_is_tile(op->out[0]->type) || !elem_is_float(op->out[0]->type->elem)) return false;
	return op_has(op, OPF_ELEMWISE) && op->code != OP_CAST && op->code != OP_SELECT;
}

static void measure(void *ctx, Op *op)
{
	Size *s = ctx;
	for (int i = 0; i < op->nout; i++) {
		const Val *v = op->out[i];
		if (type_is_tile(v->type) && op->code != OP_CONST && type_log2_size(v->type) > s->log2)
			s->log2 = type_log2_size(v->type);
	}
	for (int i = 0; i < op->nout; i++) s->moves |= type_is_tile(op->out[i]->type) && !type_is_row(op->out[i]->type);
	s->moves |= !is_plain(op);
	for (int i = 0; op->code == OP_FOR && i < op->nout; i++) {
		const Type *t = op->out[i]->type;
		if (!type_is_tile(t)) continue;
		s->sums += type_log2_size(t) >= COST_TILE_MANY;
		if (type_log2_size(t) > s->carried) s->carried = type_log2_size(t);
	}
	if (op->code == OP_LOAD && type_log2_size(op->out[0]->type)) {
		s->loaded += elem_bytes(op->out[0]->type->elem);
		s->loads++;
		if (type_log2_size(op->out[0]->type) > s->from) s->from = type_log2_size(op->out[0]->type);
		s->asked += (int64_t)elem_bytes(op->out[0]->type->elem) << type_log2_size(op->out[0]->type);
	}
	s->gathers |= op->code == OP_GATHER && type_is_tile(op->out[0]->type);
	s->turns |= op->code == OP_PERMUTE && type_is_tile(op->out[0]->type) && changes_last(op);
	s->works |= computes(op);
	for (int i = 1; op->code == OP_LOAD && i < op->nin; i++) s->seeks |= was_read(ir_in(op, i), 0);
	s->reduces |= op_is_reduce(op) || op_is_scan(op);
	s->waits += op_is_reduce(op) && type_log2_size(ir_in(op, 0)->type) >= COST_TILE_MANY;
	s->math |= op_has(op, OPF_MATH) && type_is_tile(op->out[0]->type)
		&& type_log2_size(op->out[0]->type) >= COST_TILE_MANY;
	s->scans |= op_is_scan(op);
	s->sorts |= op->code == OP_SORT || op->code == OP_TOPK;
	if (op->code == OP_LOAD && type_log2_size(op->out[0]->type) && elem_bytes(op->out[0]->type->elem) > s->bytes)
		s->bytes = elem_bytes(op->out[0]->type->elem);
	if (op->code == OP_MMA && type_log2_size(op->out[0]->type) > s->products)
		s->products = type_log2_size(op->out[0]->type);
}

/* Updates of memory of which a thread combines those of one place. */
typedef struct Updates { const int *uses; bool combine; } Updates;

static void find_updates(void *ctx, Op *op)
{
	Updates *u = ctx;
	u->combine |= updates_combine(op, u->uses);
}

static bool combines_updates(Fn *fn)
{
	ArenaMark mark = arena_mark(A_TMP);
	ir_number(fn);
	Updates u = { ir_use_counts(fn, A_TMP), false };
	ir_walk(fn->body, find_updates, &u);
	arena_release(A_TMP, mark);
	return u.combine;
}

/* Elements of a thread, log2, that reads what rows of a tile share of overlapping loads once: four vectors of 16 bytes.
 * -1: nothing asks for them. By single elements, neighbours along a row lie in other lanes; four vectors of bytes take
 * more registers than such loads leave. */
static int shared_regs(const Fn *fn, const Overlap *o)
{
	if (!o->type || !(o->axes & ~(1u << o->fast)) || fn->by_element) return -1;
	int regs = COST_OVERLAP_BYTES - elem_log2(o->type->elem);
	return regs <= COST_OVERLAP_REGS ? regs : -1;
}

/* A loop that carries partial results of all of its largest tile, and whose iterations reduce such tiles: a thread
 * holds one piece of each, beside what it carries and what is on its way for the next iteration. So few thread
 * blocks have results to write, where many with parts of the rows would write as much as they read. */
static bool carries_tile(const Size *s)
{
	return s->carried && s->carried == s->log2 && s->reduces && !s->scans && !s->products;
}

/* Do threads have no reason to wait for each other, nor much to compute, so that the time to start a thread block is
 * what counts? Few bytes are loaded for an element, or few tiles. */
static bool is_brief(const Fn *fn, const Size *s)
{
	if (s->reduces || s->scans || s->sorts || s->math || s->products) return false;
	if (s->loaded && s->loaded <= COST_ALONE_LOADED && !fn->by_element) return true;
	return s->loads && s->loads <= COST_ALONE_LOADS && s->asked <= (int64_t)COST_ALONE_LOADED << s->log2;
}

/* Is one tile loaded, and its elements moved, or several made of each? */
static bool moves_one_load(const Fn *fn, const Size *s)
{
	if (!s->moves || s->loads != 1 || s->gathers || has_loop(fn) || (fn->by_element && s->turns)) return false;
	return !s->works || s->from < s->log2;
}

/* log2 of the elements of its largest tile that a thread takes, by what the kernel does: the first case that holds.
 * Figures: bench/notes/rows.md. */
static int thread_regs(Fn *fn, const Size *s, const Overlap *o, const LowerCx *cx)
{
	bool packed = s->loaded <= 2 && !fn->by_element;        /* 8 elements take 16 bytes of loads, or less */
	int shared = shared_regs(fn, o);
	/* partial results of the whole tile take registers beside it */
	if (carries_tile(s)) return COST_SUM_REGS;
	/* 64 bytes of the widest load: so that fewer threads wait for each other, and a short row stays within a warp */
	if (s->reduces && !s->products && s->log2 <= COST_ROW_ONE_BLOCK)
		return (s->bytes > 2 ? COST_ROW_REGS : COST_ROW_REGS_PACKED - (s->bytes == 2)) + cx->peels;
	if (s->reduces || s->products) return COST_THREAD_REGS;
	/* what rows of a tile share of overlapping loads is read once */
	if (shared >= 0) return shared;
	/* the more elements of one place a thread has, the more of them it adds before it accesses memory */
	if (combines_updates(fn)) return COST_COMBINE_REGS;
	/* each thread waits for an index before it loads: more of them hide that */
	if (s->seeks && packed) return COST_SOUGHT_REGS + (s->loaded == 1);
	/* vectors of 64 bytes of a map; half as many where it computes functions, whose time more threads hide */
	if (!s->moves && s->loaded && packed) return COST_MAP_REGS - s->math;
	return COST_THREAD_REGS;
}

/* The least log2 of a thread's elements where a thread block does little else than start: each of its warps takes a
 * multiprocessor the time in which memory moves 0.6 KB, and much of a tile may lie outside of the tensor. */
static int brief_regs(const Fn *fn, const Size *s)
{
	if (!is_brief(fn, s)) return 0;
	/* one warp instead of two: several tile blocks then share a thread block (pack.c) */
	if (s->log2 == LANES_LOG2 + COST_ALONE_REGS) return COST_ALONE_REGS;
	/* 16 of what is loaded, or 32 of what is stored */
	if (moves_one_load(fn, s)) return imin(COST_ALONE_REGS + s->log2 - s->from, COST_MAP_REGS);
	return 0;
}

/* log2 of the warps that share a tile before a thread takes more elements than thread_regs says. */
static int full_warps(const Fn *fn, const Size *s, const Overlap *o)
{
	/* with more elements, half of the warps have no registers for two sums of the tile */
	if (carries_tile(s)) return s->log2 <= COST_ROW_ONE_BLOCK + 1 ? COST_FULL_OF_SUMS : BLOCK_WARPS_LOG2;
	return fn->by_element && !s->reduces && !o->type ? COST_FULL_BY_ELEMENT : COST_FULL_WARPS;
}

/* log2 of the elements that a thread takes before there are more warps than full_warps says. */
static int most_regs(const Size *s) { return s->scans ? COST_SCAN_REGS : COST_REGS_MOST; }

/* The hint @warps decides where it is given. */
int choose_warps(Fn *fn, const LowerCx *cx)
{
	Size s = { 0 };
	if (plan_pinned(fn, PC_WARPS) != PLAN_FREE) return plan_pinned(fn, PC_WARPS);
	int hint = hinted_warps(fn, cx);
	if (hint > 0) return imin(log2_of(hint), BLOCK_WARPS_LOG2);
	ir_walk(fn->body, measure, &s);
	Overlap o = overlap_of(fn);
	int threads = s.log2 - LANES_LOG2;
	int w = threads - imax(thread_regs(fn, &s, &o, cx), brief_regs(fn, &s));
	w = imax(imin(w, full_warps(fn, &s, &o)), threads - most_regs(&s));
	return imin(imax(w, 0), BLOCK_WARPS_LOG2);
}

/* ---- clusters ---- */
/* From sm_90 on, thread blocks of a cluster reach each other's shared memory, so that a tile too large for the
 * registers of one block is spread over several: 32 elements a thread, 8 warps a block, at most 16 blocks. Between
 * blocks only the partial results of reductions and scans move, each exchange once: kernels without control flow whose
 * other operations stay within their thread, and in which no layout is converted (layouts.c: stays_apart). */
static bool op_suits_cluster(const Op *op)
{
	if (op->nregion) return false;
	if (op_is_reduce(op)) return op->code != OP_REDUCE;
	if (op_is_scan(op)) return true;
	switch (op->code) {
	case OP_LOAD: case OP_STORE: return true;
	case OP_LITERAL: return op->nin == 0;
	case OP_GATHER: return memory_is_constant(op->parent->fn, ir_in(op, 0)) || type_log2_size(op->out[0]->type) == 0;
	default: return op_has(op, OPF_POINTWISE | OPF_UNIFORM);
	}
}

/* Rows that are stored, and of each one number beside them, which one thread stores: such as a scale, or a mean. Where
 * nothing but that number is stored, few threads that go through a row wait less. */
bool kernel_suits_cluster(const Fn *fn)
{
	bool rows = false, numbers = false, reads = false;
	for (const Op *op = fn->body->first; op; op = op->next) {
		bool one = (op->code == OP_SCATTER || op->code == OP_TO_SCALAR)
			&& type_log2_size(ir_in(op, op->nin - 1)->type) == 0;
		if (!one && !op_suits_cluster(op)) return false;
		rows |= op->code == OP_STORE && type_log2_size(ir_accessed(op)->type) >= COST_TILE_MANY;
		numbers |= one;
		reads |= op->code == OP_GATHER && !memory_is_constant(fn, ir_in(op, 0));
	}
	return !numbers || (rows && !reads);
}

/* A device may have no room for a cluster of more than 8 thread blocks (a part of a GPU, a GPU with fewer
 * multiprocessors side by side): the kernel is placed a second time for those (Fn.portable). */
int cluster_most(const LowerCx *cx, Fn *fn)
{
	const Machine *m = machine_of(lower_arch(cx, fn));
	return !cx->portable && m->cluster > 1 << CLUSTER_PORTABLE ? CLUSTER_WIDE : CLUSTER_PORTABLE;
}

/* Twice as many as elsewhere, where they come from one load or are accessed one by one, or of 16 bits, which wait in
 * words: then that many are under way at once, and registers suffice for three thread blocks an SM (bound_of_wide). So
 * do rows of f32 that wait twice, where 32 elements a thread would take 16 warps: registers suffice for two. */
int wide_regs(const Fn *fn, const LowerCx *cx)
{
	Size s = { 0 };
	ir_walk(fn->body, measure, &s);
	bool one = s.loaded == s.bytes && s.loaded <= COST_WIDE_LOADED;
	bool packed = s.bytes == COST_WIDE_LOADED && s.waits && !s.math;
	bool often = s.waits > 1 && !s.math && s.log2 > LANES_LOG2 + COST_CLUSTER_WARPS + COST_CLUSTER_REGS + CLUSTER_WIDE;
	bool few = cx->peels || (fn->by_element ? s.loaded <= COST_WIDE_BY_ELEMENT : one || packed || often);
	return COST_CLUSTER_REGS + few;
}

typedef struct Held { const bool *rare; bool held, passing; } Held;

/* Is a function of a tile, exact, needed by what is neither a reduction nor for one element
 * alone? Is one needed by those alone? */
static void find_held(void *ctx, Op *op)
{
	Held *h = ctx;
	bool apart = op_is_reduce(op) || (op->nout == 1 && h->rare[op->out[0]->id]);
	for (int i = 0; i < op->nin; i++) {
		const Op *d = ir_in(op, i)->def;
		if (!d || !op_has(d, OPF_MATH) || ir_int(d, AT_ROUNDING, 0)) continue;
		if (!type_is_tile(d->out[0]->type) || type_log2_size(d->out[0]->type) < COST_TILE_MANY) continue;
		*(apart ? &h->passing : &h->held) = true;
	}
}

/* Elements of 16 bits wait in half the registers. So where threads wait several times, and hold nothing meanwhile but
 * what was loaded, a thread takes twice as many, log2, as in cross-entropy, whose exact powers only a sum
 * needs. Without functions only where one thread block then takes what would be shared by two. Softmax, whose powers
 * are relaxed, holds them (bench/notes/rows.md). */
static int more_regs(Fn *fn, const Size *s)
{
	enum { ALONE = LANES_LOG2 + COST_CLUSTER_WARPS + COST_CLUSTER_REGS + 1 };
	if (s->bytes != 2 || s->waits <= 1 || s->scans || fn->by_element) return 0;
	if (!s->math) return s->log2 == ALONE;
	if (s->loaded != 2 || s->products || s->log2 < ALONE) return 0;
	ir_number(fn);
	Held h = { .rare = rare_values(fn, A_TMP) };
	ir_walk(fn->body, find_held, &h);
	return h.passing && !h.held;
}

/* Peeled rows (peel.c) of elements of 16 bits take twice as many a thread: they wait as words. Their clusters have
 * twice as many thread blocks, where 8 suffice, of half the warps: what registers and shared memory have room for is
 * then rounded to 128 threads, not to 256 (bench/notes/rows.md). */
static bool packs_more(const LowerCx *cx, const Size *s) { return cx->peels && s->bytes == 2; }

/* Loops, too, whose iterations all thread blocks of the cluster run alike, and in which nothing is read that the
 * kernel may write: each exchange then has its place for every other iteration (emit_cuda/cluster.c). */
static bool loop_suits_cluster(const Op *op)
{
	if (op->code != OP_FOR) return op_suits_cluster(op);
	const IrBlock *body = op->region[0];
	for (const Op *o = body->first; o; o = o->next) {
		if (op_is_scan(o) || (o->code != OP_YIELD && !loop_suits_cluster(o))) return false;
		if ((o->code == OP_LOAD || o->code == OP_GATHER) && !memory_is_constant(o->parent->fn, ir_in(o, 0)))
			return false;
	}
	return true;
}

bool has_loop(const Fn *fn)
{
	const Op *op = fn->body->first;
	while (op && !op->nregion) op = op->next;
	return op;
}

static int cluster_of_carried(Fn *fn, const LowerCx *cx, const Size *s)
{
	int hint = (int)ir_hint(fn, "cluster", cx->target_arch);
	int c = s->log2 - LANES_LOG2 - COST_CARRY_WARPS - COST_CARRY_REGS;
	if (!carries_tile(s) || s->log2 <= COST_ROW_ONE_BLOCK || c > CLUSTER_PORTABLE || lower_arch(cx, fn) < 90) return 0;
	for (const Op *op = fn->body->first; op; op = op->next)
		if (!loop_suits_cluster(op)) return 0;
	if (hint) c = log2_of(hint);
	return c > CLUSTER_PORTABLE ? CLUSTER_PORTABLE : c;
}

int choose_cluster(Fn *fn, const LowerCx *cx)
{
	Size s = { 0 };
	bool reduces = false;
	if (cx->alone || ir_hint(fn, "warps", 0) > 0 || ir_hint(fn, "cluster", 0) == 1 || plan_alone(fn)) return 0;
	int pin = plan_pinned(fn, PC_CLUSTER);
	ir_walk(fn->body, measure, &s);
	if (has_loop(fn)) return cluster_of_carried(fn, cx, &s);
	int c = s.log2 - LANES_LOG2 - COST_CLUSTER_WARPS - COST_CLUSTER_REGS - packs_more(cx, &s),
		more = c > 0 && !cx->peels ? more_regs(fn, &s) : 0;
	if (pin == PLAN_FREE && (c <= 0 || (c <= more && !ir_has_hint(fn, "cluster")))) return 0;
	if (!kernel_suits_cluster(fn)) return 0;
	for (const Op *op = fn->body->first; op; op = op->next) reduces |= op_is_reduce(op) || op_is_scan(op);
	/* single elements take more registers */
	if (pin == PLAN_FREE && s.scans && s.log2 <= COST_SCAN_ALONE - fn->by_element) return 0;
	if (!reduces || lower_arch(cx, fn) < 90) return 0;
	if (pin != PLAN_FREE) return pin > cluster_most(cx, fn) ? cluster_most(cx, fn) : pin;
	int hint = (int)ir_hint(fn, "cluster", cx->target_arch);
	if (hint) c = log2_of(hint);
	/* a cluster of 8 holds up to four times as much with more warps (spare_warps) */
	int most = !s.scans && (hint || c + packs_more(cx, &s) > CLUSTER_WIDE) ? cluster_most(cx, fn) : CLUSTER_PORTABLE;
	if (!hint) c += packs_more(cx, &s) - more;
	return c > most ? most : c;
}

/* A tile too large for 8 warps a block gets more of them (log2), up to 32; but first each thread takes twice as much,
 * if that is what the threads of the largest clusters do: then half as many threads wait for each other. Peeled rows
 * may do with half. */
int spare_warps(Fn *fn, int cluster, const LowerCx *cx)
{
	Size s = { 0 };
	if (plan_pinned(fn, PC_WARPS) != PLAN_FREE) return plan_pinned(fn, PC_WARPS) - COST_CLUSTER_WARPS;
	ir_walk(fn->body, measure, &s);
	if (has_loop(fn)) {
		/* Registers hold the sums and what is on its way if half the threads do. */
		int w = s.log2 - LANES_LOG2 - COST_CARRY_REGS - COST_CLUSTER_WARPS - cluster;
		return w > 1 && s.bytes <= 2 && s.sums > 1 ? w - 1 : w;
	}
	int more = cx->peels ? packs_more(cx, &s) : more_regs(fn, &s),
		regs = cluster < CLUSTER_WIDE ? COST_CLUSTER_REGS + more : wide_regs(fn, cx);
	int w = s.log2 - LANES_LOG2 - COST_CLUSTER_WARPS - regs - cluster;
	int least = -packs_more(cx, &s);
	bool more_each = !fn->by_element && !s.scans && regs < wide_regs(fn, cx);
	if (w > 0 && more_each) w--;
	return w < least ? least : w > 2 ? 2 : w;
}
