/* occupancy: how many thread blocks of a version should fit a multiprocessor, for each architecture that it serves.
 *
 * By default nvcc allocates registers as if one thread block had the multiprocessor for itself: it issues loads early
 * and keeps values long. With a number of blocks in __launch_bounds__ it uses no more registers than let that many be
 * resident, and blocks hide each other's latency.
 *
 * The registers that a thread needs are estimated (placed/pressure.c), and a number of blocks is printed for kernels
 * whose body is straight-line code without products. Given a number of blocks, ptxas 13.0 fills the registers that
 * these leave, and spills where they do not suffice. So where the estimate is within its error of what a number of
 * blocks leaves, none is printed, and ptxas takes what it needs.
 *
 * Where a loop holds its next tiles in registers, prefetch.c decides for how many threads registers should suffice, and
 * the number of blocks is at most what the estimate allows.
 *
 * Products keep accumulators throughout their loop: without a number ptxas 13.0 spills some of them so that two blocks
 * fit, so the bound is one block. */
#include "base/cost.h"
#include "base/machine.h"
#include "lower/placed.h"
#include "plan/plan.h"

static int words_of(const Val *v)
{
	int n = regs_of(v);
	if (v->type->elem == EL_BOOL) return (n + 31) / 32;     /* predicates, packed */
	return (int)(((int64_t)n * elem_bytes(v->type->elem) + 3) / 4);
}

/* Do threads wait for each other between what they load and rows that they store? Where only numbers of rows are stored
 * ptxas 13.0 takes fewer registers of its own accord than launch bounds allow. */
static bool exchanges(const Fn *fn)
{
	bool exchange = false, wait = false, store = false;
	for (const Op *op = fn->body->first; op; op = op->next) {
		exchange |= op->code == OP_EXCHANGE || op->code == OP_REDUCE_LANES;
		wait |= waits_for_threads(op);
		store |= wait && op->code == OP_STORE && regs_of(ir_accessed(op)) >= COST_TILE_REGS;
	}
	return exchange && store;
}

static void find_product(void *ctx, Op *op)
{
	*(bool *)ctx |= op->code == OP_MMA_SYNC || op->code == OP_MMA_FRAG;
}

static int bound_of_products(const Fn *fn)
{
	bool product = false;
	ir_walk(fn->body, find_product, &product);
	return product;
}

/* The largest clusters use fewer multiprocessors, so more of their thread blocks have to share one. */
static int bound_of_wide(const Fn *fn)
{
	int words = 0;
	for (const Op *op = fn->body->first; op && !fn->by_element; op = op->next)
		if (op->code == OP_LOAD && words_of(op->out[0]) > words) words = words_of(op->out[0]);
	if (fn->cluster <= 1 << CLUSTER_PORTABLE || block_threads(fn) > COST_WIDE_THREADS / COST_WIDE_BLOCKS) return 0;
	return words < COST_WIDE_WORDS ? COST_WIDE_BLOCKS : COST_WIDE_BLOCKS - 1;
}

/* With no number ptxas 13.0 takes so few registers that another thread block fits, and now and then spills one or two
 * for that. So versions that serve few rows (by single elements where others are peeled; rows side by side that are
 * shorter than their tile) say one, for all architectures but those that have versions of
 * their own, where none spills. */
static int bound_of_few(const Fn *fn, bool specific, bool rest)
{
	return !specific && (rest || (rows_are_dense(fn) && fn->row_regs));
}

/* And peeled versions of several warps with few words of a row, and with weights, say what leaves registers for the
 * rest: outside of clusters for the same architectures, and where the largest clusters have more than 8 warps a thread
 * block. */
static int bound_of_peeled(const Fn *fn, bool specific)
{
	int words = fn->row_regs * 4 / peel_vector(fn);
	int regs = (words + COST_PEELED_AROUND + REGS_UNIT - 1) / REGS_UNIT * REGS_UNIT;
	bool wide = fn->cluster > 1 << CLUSTER_PORTABLE && block_threads(fn) > COST_WIDE_THREADS / COST_WIDE_BLOCKS;
	if (words > (wide ? COST_PEELED_WIDE : COST_PEELED_WORDS)) return 0;
	if (!wide && (specific || fn->cluster || block_threads(fn) < COST_PEELED_THREADS)) return 0;
	if (peel_loads_apart(fn) != 1) return 0;
	return machine_registers() / (regs * block_threads(fn));
}

static void find_held(void *ctx, Op *op)        /* the fewest threads */
{
	int *threads = ctx, n = op->code == OP_LOAD && !op_loads_one(op) ? (int)ir_int(op, AT_HELD, 0) : 0;
	if (n && (!*threads || n < *threads)) *threads = n;
}

/* How many thread blocks fit a multiprocessor whose threads take this many registers. */
static int blocks_of(const Fn *fn, int regs)
{
	int warps = block_threads(fn) / 32;
	regs = (regs + REGS_UNIT - 1) / REGS_UNIT * REGS_UNIT;
	int blocks = machine_registers() / 32 / regs / REGS_WARPS * REGS_WARPS / warps;
	while (blocks > 1 && blocks * warps % REGS_WARPS) blocks--;
	return blocks;
}

/* For as many threads as the loop should have (prefetch.c), or as registers suffice for, unless those are half of them
 * or less and the others spill little. */
static int bound_of_held(const Fn *fn, int threads, int regs)
{
	int wanted = threads / block_threads(fn), fit = blocks_of(fn, regs);
	if (fit >= wanted) return wanted < 1 ? 1 : wanted;
	bool half = 2 * fit <= wanted && blocks_of(fn, regs - COST_SPILLED) >= wanted;
	if (half) return wanted;
	return fit < 1 ? 1 : fit;
}

static int bound_blocks(const Fn *fn, bool specific)
{
	if (bound_of_products(fn)) return 1;
	int held = 0;
	ir_walk(fn->body, find_held, &held);
	Pressure p = pressure_of(fn);
	if (held) return bound_of_held(fn, held, p.regs);
	int regs = p.regs + (specific ? 0 : COST_ANY_ARCH) + p.together;
	if (!exchanges(fn) || !is_straight_line(fn->body) || p.words < COST_WORDS_LEAST) return 0;
	int blocks = blocks_of(fn, regs);
	bool sure = blocks_of(fn, regs - COST_UNSURE) == blocks && blocks_of(fn, regs + COST_UNSURE) == blocks;
	return sure || rows_shift(fn) ? blocks : 0;
}

static void find_scan(void *ctx, Op *op)
{
	int *words = ctx, n = 0;
	if (!op_is_scan(op) || ir_int(op, AT_EXCLUSIVE, 0)) return;
	for (int i = 0; i < scan_values(op); i++) n += words_of(ir_in(op, i));
	if (n > *words) *words = n;
}

/* A thread block of a cluster that scans waits for the others while it holds what comes before each number of a thread:
 * other clusters load meanwhile. */
static int bound_of_scan(const Fn *fn)
{
	int words = 0;
	if (!fn->cluster || !fn->by_element) return 0;
	ir_walk(fn->body, find_scan, &words);
	return words < COST_WORDS_LEAST ? 0 : machine_registers() / ((words + COST_SCAN_AROUND) * block_threads(fn));
}

static int bound_of(const Fn *fn, bool specific, bool rest)
{
	if (fn->peel_line) return bound_of_peeled(fn, specific);
	int wide = bound_of_wide(fn);
	if (wide) return wide;
	int scan = bound_of_scan(fn);
	if (scan) return scan;
	return fn->aligned ? bound_blocks(fn, specific) : bound_of_products(fn) || bound_of_few(fn, specific, rest);
}

static void find_role(void *ctx, Op *op) { *(bool *)ctx |= op->code == OP_ROLE; }

/* ptxas refuses more thread blocks than a multiprocessor holds, whichever device the kernel may run on.
 * Roles change their registers: the compiler must know how many they start with. */
static int resident(const Fn *fn, IrArch a, bool rest)
{
	int threads = block_threads(fn), blocks = bound_of(fn, a.specific, rest);
	bool roles = false;
	if (ir_has_hint(fn, "occupancy")) blocks = (int)ir_hint(fn, "occupancy", a.number);
	int pin;
	if (plan_pins(fn->plan, PC_BLOCKS, &pin) && pin) blocks = pin;
	Machine m = a.specific ? *machine_of(a.number) : machine_least(a.number);
	if (blocks > m.threads / threads) blocks = m.threads / threads;
	if (blocks > m.blocks) blocks = m.blocks;
	ir_walk(fn->body, find_role, &roles);
	return roles ? 1 : blocks;
}

/* Do other versions take most rows? */
static bool is_rest(const Module *m, const Version *v, int arch)
{
	for (int i = 0; i < m->versions.n && v->fn->by_element; i++) {
		const Version *o = &m->versions.p[i];
		if (o->of == v->of && o->fn->peel_line && o->archs >> arch & 1) return true;
	}
	return false;
}

void pass_occupancy(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->versions.n; i++) {
		Version *v = &m->versions.p[i];
		int n = 0, *blocks = NEW_ARRAY(A_UNIT, int, m->archs.n);
		for (int a = 0; a < m->archs.n; a++)
			if (v->archs >> a & 1) blocks[n++] = resident(v->fn, m->archs.p[a], is_rest(m, v, a));
		v->resident = blocks;
	}
}
