/* What a device launches: threads of a thread block, thread blocks of a cluster, shared memory, and registers beside
 * launch bounds that are printed. base/machine.def has the numbers of each architecture. */
#include "base/machine.h"
#include "ir/ir_check.h"

static bool chk_on(Check *c, const Fn *fn, const Machine *m)
{
	int cluster = fn->cluster ? fn->cluster : 1;
	NEED(cluster >= 1 && cluster <= m->cluster && !(cluster & (cluster - 1)),
		m->cluster > 1 ? "a cluster is at most %d thread blocks, a power of two" : "a cluster is %d thread block",
		m->cluster);
	NEED(block_shared(fn, block_threads(fn)) <= (int64_t)m->shared_block << 10,
		"a thread block has at most %d KiB of shared memory", m->shared_block);
	return true;
}

/* Registers of a row's tiles that hold neighbouring elements, of the tile that has most of them. */
static int piece_of_rows(const Fn *fn)
{
	int most = 0;
	for (const Op *op = fn->body->first; op; op = op->next)
		for (int i = 0; i < op->nout; i++) {
			const Type *t = op->out[i]->type;
			if (!type_is_tile(t) || type_log2_size(t) != fn->row_log2 || !op->out[i]->lay) continue;
			int axis = t->rank - 1;
			while (axis > 0 && !t->log2[axis]) axis--;
			int run = lay_run(*op->out[i]->lay, axis, NULL);
			if (run > most) most = run;
		}
	return 1 << most;
}

/* What the lines `rows` and `peeled` say of registers, of accesses and of shared memory. */
bool chk_rows(Check *c, const Fn *fn)
{
	if (!fn->row_log2) return true;
	NEED(fn->row_log2 <= TILE_LOG2 && fn->row_regs_log2 <= fn->row_log2, "a row has at most 2^%d elements", TILE_LOG2);
	int all = 1 << fn->row_regs_log2, held = fn->row_regs ? fn->row_regs : all;
	NEED(held <= all && fn->row_few <= all, "a version holds no more registers of a row than its tile has, %d", all);
	NEED(fn->row_few % piece_of_rows(fn) == 0, "rows of few registers have whole pieces of %d elements",
		piece_of_rows(fn));
	NEED(fn->row_sure <= held, "the registers that are inside of each row are among the %d that are held", held);
	if (!fn->peel_line) return true;
	NEED(fn->peel_line >= VECTOR_BYTES && fn->peel_line <= LINE && !(fn->peel_line & (fn->peel_line - 1)),
		"the body of a peeled row begins at a multiple of 16, 32, 64 or 128 bytes");
	NEED(fn->stage_at >= 0 && fn->stage_at % VECTOR_BYTES == 0 && fn->stage_at <= fn->shared_bytes,
		"what is staged for peeled rows lies at a multiple of 16 in the kernel's shared memory");
	return true;
}

/* Before passes have chosen an architecture, what some device launches. */
bool chk_thread_block(Check *c, const Fn *fn)
{
	int cluster = fn->cluster ? fn->cluster : 1;
	Machine most = machine_most();
	if (!chk_on(c, fn, fn->arch ? machine_of(fn->arch) : &most)) return false;
	NEED(fn->warps >= 1 && fn->warps % cluster == 0, "each thread block of a cluster has as many warps");
	NEED(!(fn->fewer || fn->short_rows || fn->warp_rows) || (fn->row_log2 && fn->below.n),
		"how many warps and lanes a row has follows from its length, which the kernel does not say");
	NEED(!fn->warp_rows || (fn->fewer && !fn->short_rows && !fn->cluster),
		"rows share a thread block where a call may start one warp for each");
	NEED(!fn->row_few || fn->short_rows || fn->warp_rows || fn->fewer,
		"registers are left out where rows share thread blocks, or warps a row");
	NEED(!fn->short_rows || (fn->lanes_least >= 0 && 1 << fn->lanes_least < (fn->lanes ? fn->lanes : 32)),
		"short rows have fewer lanes than others");
	NEED(block_threads(fn) <= BLOCK_THREADS, "a thread block has at most %d threads", BLOCK_THREADS);
	return true;
}

/* The compiler of PTX refuses launch bounds beyond what a multiprocessor holds, of whatever device may run the text. */
static bool chk_resident(Check *c, const Fn *fn, IrArch a, int blocks)
{
	Machine m = a.specific ? *machine_of(a.number) : machine_least(a.number);
	NEED(blocks >= 0, "fewer than no thread blocks of a version are resident");
	NEED(blocks <= m.blocks, "text for sm_%d may run where a multiprocessor holds %d thread blocks, not %d", a.number,
		m.blocks, blocks);
	NEED((int64_t)blocks * block_threads(fn) <= m.threads,
		"text for sm_%d may run where a multiprocessor holds %d threads, not %d times %d", a.number, m.threads, blocks,
		block_threads(fn));
	return true;
}

/* For each architecture that it serves. Registers are counted for the most thread blocks that are resident. */
bool chk_version_device(Check *c, const Version *v)
{
	c->resident = 0;
	for (int i = 0, n = 0; i < c->m->archs.n; i++) {
		if (!(v->archs >> i & 1)) continue;
		int blocks = v->resident ? v->resident[n++] : 0;
		IrArch a = c->m->archs.p[i];
		if (!chk_on(c, v->fn, machine_of(a.number)) || !chk_resident(c, v->fn, a, blocks)) return false;
		if (blocks > c->resident) c->resident = blocks;
	}
	return true;
}

/* Registers are given in steps of 8, to a thread at most 255. */
int64_t chk_start_registers(const Check *c, const Fn *fn)
{
	int64_t n = machine_registers() / block_threads(fn) / (c->resident ? c->resident : 1) / 8 * 8;
	return n > 255 ? 255 : n;
}
