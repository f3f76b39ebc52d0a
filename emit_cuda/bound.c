/* How many thread blocks should fit a multiprocessor. nvcc takes registers as if a thread block had it for itself, orders loads
 * early and values long; with the number of blocks in __launch_bounds__ it takes no more than leave room for so many, and waits
 * of one block are filled by others.
 *
 * The registers that a thread needs are estimated, for kernels that are one block without loops and products: between two waits it
 * holds what it loaded and what is needed again after a later wait; what it computes takes the place of what that came from, and
 * COST_AROUND registers are left for addresses, partial results and what a few elements take on their way.
 *
 * Where a loop holds its next tiles, lower/prefetch.c says for how many threads registers suffice.
 *
 * Products hold sums all through their loop: with no number ptxas 13.0 spills some of them so that two blocks fit, so they say one. */
#include "base/cost.h"
#include "base/machine.h"
#include "emit_cuda/cu.h"
#include "emit_cuda/peel.h"

enum {
	MANY = 64,              /* elements of a thread from which accesses are one way, outside of clusters, too */
	LEAST = 8,              /* elements of a thread from which a tile counts */
	UNIT = 8,               /* registers are given to a warp in so many a thread, */
	WARPS = 4,              /* and to so many warps at once */
	FOLLOW_THREADS = 1024,  /* of a multiprocessor (lower/persist.c) */
	WIDE_BLOCKS = 3, WIDE_THREADS = 768     /* with up to 80 registers each */
};

typedef struct Bound {
	Cu *g;
	int now;                /* the stretch between waits */
	int *begin, *end;       /* by Val id: the stretch that makes it and the last that uses it */
	bool math;
	VEC(const Val *) tiles;
} Bound;

static int words_of(const Val *v)
{
	int n = cu_regs(v);
	if (v->type->elem == EL_BOOL) return (n + 31) / 32;     /* predicates, packed */
	return (int)(((int64_t)n * elem_bytes(v->type->elem) + 3) / 4);
}

static const Val *holder(const Val *v)          /* whose registers v names */
{
	while (v->def && (v->def->code == OP_RESHAPE || v->def->code == OP_PERMUTE || v->def->code == OP_OPAQUE)) v = ir_in(v->def, 0);
	return v;
}

static bool is_read(const Val *v) { return (op_rows[v->def->code].flags & OPF_READ) || v->def->code == OP_STAGED; }

static bool is_straight(const IrBlock *block)
{
	for (const Op *op = block->first; op; op = op->next)
		if (op->nregion || op->code == OP_MMA || op->code == OP_MMA_SYNC || op->code == OP_SORT || op->code == OP_TOPK
			|| op->code == OP_HISTOGRAM || op_rows[op->code].flags & (OPF_SCAN | OPF_GROUP)) return false;
	return true;
}

static void number_stretches(Bound *b, const IrBlock *block)
{
	for (const Op *op = block->first; op; op = op->next) {
		b->now += waits_for_threads(op);
		for (int i = 0; i < op->nin; i++) b->end[holder(ir_in(op, i))->id] = b->now;
		for (int i = 0; i < op->nout; i++) {
			const Val *v = op->out[i];
			b->math |= cu_regs(v) >= LEAST && (op_rows[op->code].flags & OPF_MATH) && !ir_int(op, AT_ROUNDING, 0);
			b->begin[v->id] = b->end[v->id] = b->now;
			bool held = op->code != OP_IOTA && !ir_attr(op, AT_STAGED) && holder(v) == v && !cu_val(b->g, v)->splat;
			if (held && cu_regs(v) >= LEAST) vec_push(A_TMP, &b->tiles, v);
		}
	}
}

static int most_words(const Bound *b)
{
	enum { KEPT, IN, OUT, N };      /* also needed after the stretch; used up in it; made in it for later */
	int (*n)[N] = (int (*)[N])NEW_ARRAY(A_TMP, int, (b->now + 1) * N), most = 0;
	for (int i = 0; i < b->tiles.n; i++) {
		const Val *v = b->tiles.p[i];
		int from = b->begin[v->id], to = b->end[v->id], words = words_of(v);
		if (from == to && !is_read(v)) continue;
		int passing = elem_bytes(v->type->elem) < 4 ? COST_PASSING_PACKED : COST_PASSING;
		if (from == to && b->g->one_way && words > passing) words = passing;
		if (from == to && b->g->stream.first && v->def->code == OP_STAGED) words = COST_STREAMED;
		for (int s = from; s < to; s++) n[s][s == from && !is_read(v) ? OUT : KEPT] += words;
		n[to][IN] += words;
	}
	for (int s = 0; s <= b->now; s++) {
		int here = n[s][KEPT] + (n[s][IN] > n[s][OUT] ? n[s][IN] : n[s][OUT]);
		if (here > most) most = here;
	}
	return most;
}

static bool exchanges(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_EXCHANGE || op->code == OP_REDUCE_LANES) return true;
	return false;
}

static int addresses_besides(const Fn *fn)
{
	int n = -COST_AROUND_TENSORS;
	for (int i = 0; i < fn->params.n; i++) n += fn->params.p[i].is_tensor;
	return n > 0 ? 2 * n : 0;
}

static void find_product(void *ctx, Op *op) { *(bool *)ctx |= op->code == OP_MMA_SYNC; }

int bound_of_products(const Fn *fn)
{
	bool product = false;
	ir_walk(fn->body, find_product, &product);
	return product;
}

/* The largest clusters use fewer multiprocessors, so more of their thread blocks have to share one. */
int bound_of_wide(const Fn *fn)
{
	int words = 0;
	for (const Op *op = fn->body->first; op && !fn->by_element; op = op->next)
		if (op->code == OP_LOAD && words_of(op->out[0]) > words) words = words_of(op->out[0]);
	if (fn->cluster <= 1 << CLUSTER_PORTABLE || cu_threads(fn) > WIDE_THREADS / WIDE_BLOCKS) return 0;
	return words < MANY ? WIDE_BLOCKS : WIDE_BLOCKS - 1;
}

/* With no number ptxas 13.0 takes so few registers that another thread block fits, and now and then spills one or two for that. So versions
 * that serve few rows (by single elements where others are peeled; rows side by side that are shorter than their tile) say one, for all
 * architectures but those that have versions of their own, where none spills. */
int bound_of_few(const Fn *fn, bool specific) { return !specific && (fn->rest || (fn->dense && fn->row_regs)); }

/* And peeled versions of several warps with few words of a row, and with weights, say what leaves registers for the
 * rest: outside of clusters for the same architectures, and where the largest clusters have more than 8 warps a thread
 * block. */
int bound_of_peeled(const Fn *fn, bool specific)
{
	enum { WORDS = 24, WORDS_WIDE = 16, AROUND_ROW = 48 };
	int words = fn->row_regs * 4 / peel_piece(fn), regs = (words + AROUND_ROW + UNIT - 1) / UNIT * UNIT;
	bool wide = fn->cluster > 1 << CLUSTER_PORTABLE && cu_threads(fn) > WIDE_THREADS / WIDE_BLOCKS;
	if (wide ? words > WORDS_WIDE : specific || fn->cluster || words > WORDS || cu_threads(fn) < 128) return 0;
	if (peel_loads_apart(fn) != 1) return 0;
	return machine_registers() / (regs * cu_threads(fn));
}

/* Tile blocks that follow each other have a thread block's share of registers, whatever the version. */
int bound_of_follow(const Fn *fn) { return FOLLOW_THREADS / cu_threads(fn); }

/* By Val id: does it come from what was read? */
static bool *values_read(const Fn *fn)
{
	bool *read = NEW_ARRAY(A_TMP, bool, fn->nval);
	for (const Op *op = fn->body->first; op; op = op->next) {
		bool r = (op_rows[op->code].flags & OPF_READ) != 0;
		for (int i = 0; i < op->nin; i++) r |= read[ir_in(op, i)->id];
		for (int i = 0; i < op->nout; i++) read[op->out[i]->id] = r;
	}
	return read;
}

/* Words of a thread's tiles that are loaded, where some of them wait for an index from memory: the others are held meanwhile. */
static int words_beside_index(const Fn *fn)
{
	ArenaMark mark = arena_mark(A_TMP);
	const bool *read = values_read(fn);
	bool waits_for_index = false;
	int words = 0;
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (op->code != OP_LOAD || cu_regs(op->out[0]) < LEAST) continue;
		words += words_of(op->out[0]);
		for (int i = 1; i < op->nin; i++) waits_for_index |= read[ir_in(op, i)->id];
	}
	arena_release(A_TMP, mark);
	return waits_for_index ? words : 0;
}

/* Do threads of a straight kernel wait for each other, for long or with much in their registers, or for an index with much? In the
 * largest clusters, of which few are there at once whatever their registers, only with much. Nor do rounds branch in which thread blocks
 * that share a row wait for each other: a warp that comes late is waited for by all. */
bool bound_one_way(const Fn *fn)
{
	bool wait = false, many = fn->cluster > 1 && fn->cluster <= 1 << CLUSTER_PORTABLE;
	if (fn->alternate) return true;
	if (!is_straight(fn->body)) return false;
	for (const Op *op = fn->body->first; op; op = op->next) {
		wait |= waits_for_threads(op);
		for (int i = 0; i < op->nout; i++) many |= type_is_tile(op->out[i]->type) && 1 << op->out[i]->lay->in[HW_REG] >= MANY;
	}
	return wait ? many : fn->cluster <= 1 << CLUSTER_PORTABLE && words_beside_index(fn) >= COST_WORDS_LEAST;
}

static void find_held(void *ctx, Op *op)        /* the fewest threads */
{
	int *threads = ctx, n = op->code == OP_LOAD && !op_loads_one(op) ? (int)ir_int(op, AT_HELD, 0) : 0;
	if (n && (!*threads || n < *threads)) *threads = n;
}

int bound_blocks(Cu *g, bool specific)
{
	const Fn *fn = g->fn;
	if (bound_of_products(fn)) return 1;
	int held = 0;
	if (g->aligned) ir_walk(fn->body, find_held, &held);
	if (held) return held > cu_threads(fn) ? held / cu_threads(fn) : 1;
	Bound b = { .g = g };
	ArenaMark mark = arena_mark(A_TMP);
	b.begin = NEW_ARRAY(A_TMP, int, fn->nval);
	b.end = NEW_ARRAY(A_TMP, int, fn->nval);
	int words = 0;
	if (exchanges(fn) && is_straight(fn->body)) {
		number_stretches(&b, fn->body);
		if (b.now) words = most_words(&b);
	}
	arena_release(A_TMP, mark);
	if (words < COST_WORDS_LEAST) return 0;
	int regs = words + COST_AROUND + addresses_besides(fn) + (b.math ? COST_FOR_MATH : 0) + (specific ? 0 : COST_ANY_ARCH);
	int warps = cu_threads(fn) / 32;
	regs = (regs + UNIT - 1) / UNIT * UNIT;
	int blocks = machine_registers() / 32 / regs / WARPS * WARPS / warps;
	while (blocks > 1 && blocks * warps % WARPS) blocks--;
	return blocks;
}
