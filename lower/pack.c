/* pack: several tile blocks share a thread block.
 *
 * A multiprocessor holds at most 32 thread blocks, and starting one takes time: one-warp thread blocks leave half of
 * the warp slots empty and move few bytes between start and end. So tile blocks of one warp share a thread block, each
 * with its own warp and its own part of shared memory; barriers of the thread block become barriers of a warp. The
 * launcher packs fewer where the grid is small.
 *
 * As many are packed as move COST_PACK_BYTES together, at least two; not more, because a thread block ends with its
 * slowest warp. The bytes of a tile block are those of its largest tile in registers, or all that it loads and stores
 * if that is less. A tile block stays alone if both exceed COST_PACK_TILE, or if a tile exceeds COST_PACK_HELD: then
 * registers limit how many warps a multiprocessor holds. Accesses with a memory order synchronise through barriers of
 * the thread block, so their kernels are not packed.
 *
 * Tile blocks of two warps (Skeleton.pairs). A multiprocessor starts a thread block in the time in which memory moves
 * 2.6 KB for it, whatever its threads, so tile blocks of few bytes wait for each other's start: those of small tiles,
 * and those of a call of which much of the tile lies outside of the tensor. So these share a thread block, too, if
 * their warps reduce and exchange nothing, synchronise at no barrier and update no memory that other tile blocks
 * update.
 *
 * Tiles too small for a warp. Addresses, bounds and shuffles are computed once per warp; for a row of 32 elements they
 * would be nearly all the work. So a lane gets 8 elements or 32 bytes, a tile block gets as many lanes as that requires
 * (pack_lanes, before layouts are chosen), and several tile blocks share a warp. All lanes of a warp take part in its
 * shuffles and barriers, so tile blocks that share one must run the same instructions: only kernels without control
 * flow, atomics and output other than stores qualify. Rows of which shorter ones have fewer lanes (by_warp.c) are
 * accessed in up to four vectors by each lane, if eight lanes then have one: what is computed once for each lane is
 * then as little, and fewer registers are pads of rows that are shorter than their tile. */
#include "base/least.h"
#include "lower/pins.h"
#include "lower/placed.h"

/* ---- lanes ---- */
bool pack_suits(const Op *op)
{
	if (op_is_reduce(op) || op_is_scan(op)) return true;    /* a region of theirs computes scalars */
	if (op->nregion) return false;
	return op_is(op, OPT_IN_WARP) || op_has(op, OPF_POINTWISE | OPF_UNIFORM);
}

/* log2 of the elements and of the bytes that a lane holds of a tile, at most. */
typedef struct Held { int regs, piece; } Held;

/* Has each tile block an access of its own? */
static bool is_own(const Op *op)
{
	Num n;
	for (int a = 0; a < ir_in(op, 0)->type->rank; a++)
		if (!ir_const_value(ir_in(op, 1 + a), &n)) return true;
	return false;
}

/* Of rows by vectors, whose lanes may be fewer, as long as no smaller tile serves most of them. */
static Held held_by_lane(const Fn *fn)
{
	Held few = { COST_PACK_REGS, COST_PACK_PIECE };
	int size = 0, rows = 0;         /* log2 */
	if (!fn->short_rows || fn->by_element) return few;
	for (const Op *op = fn->body->first; op; op = op->next) {
		const Val *v = ir_accessed(op);
		if (op->code == OP_SORT || op->code == OP_TOPK || op_is_scan(op)) return few;
		if (v && type_is_tile(v->type) && is_own(op)) size = imax(size, elem_log2(v->type->elem));
		if (v && type_is_tile(v->type)) rows = imax(rows, type_log2_size(v->type));
	}
	int regs = COST_SHORT_PIECE - size;
	bool many = rows - regs >= COST_SHORT_FROM && fn->rows_taken < (int64_t)1 << (rows - 1);
	return many && regs <= COST_SHORT_REGS ? (Held){ regs, INT32_MAX } : few;
}

/* So that lanes access vectors where op does, else an element each. */
static int accessed_lanes(const Fn *fn, const Op *op, Held h)
{
	const Val *v = op->nout ? op->out[0] : ir_in(op, op->nin - 1), *view = ir_in(op, 0);
	const Type *t = v->type;
	if (!type_is_tile(t)) return 0;
	if ((op->code != OP_LOAD && op->code != OP_STORE) || !t->rank) return type_log2_size(t);
	int fast = t->rank == view->type->rank ? fast_axis(fn, view) : t->rank - 1;
	return type_log2_size(t) - imin(t->log2[fast], imin(h.regs, h.piece - elem_log2(t->elem)));
}

int pack_lanes(const Fn *fn)
{
	int lanes = 0;
	if (rows_are_dense(fn)) return 0;
	Held h = held_by_lane(fn);
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (!pack_suits(op)) return LANES_LOG2;
		if (op_has(op, OPF_READ | OPF_WRITE)) lanes = imax(lanes, accessed_lanes(fn, op, h));
		for (int i = 0; i < op->nout; i++)
			if (type_is_tile(op->out[i]->type) && op->code != OP_CONST)
				lanes = imax(lanes, type_log2_size(op->out[i]->type) - h.regs);
	}
	return imin(lanes, LANES_LOG2);
}

/* ---- thread blocks ---- */
/* held: log2 of the bytes of the largest tile; meets: threads synchronise with those of other warps or tile blocks;
 * unknown: tiles are accessed element by element */
typedef struct Packed { int held; int64_t moved; bool alone, meets, unknown; } Packed;

static int tile_bytes(const Val *v) { return type_log2_size(v->type) + elem_log2(v->type->elem); }

static void look_at(void *ctx, Op *op)
{
	Packed *p = ctx;
	p->alone |= ir_int(op, AT_ORDER, 0) != 0;
	p->meets |= op->code == OP_BARRIER || op->code == OP_EXCHANGE || op->code == OP_SORT || op->code == OP_TOPK;
	p->meets |= op_has(op, OPF_ATOMIC | OPF_GROUP | OPF_REDUCE | OPF_SCAN);
	for (int i = 0; i < op->nout && op->code != OP_CONST; i++)
		if (type_is_tile(op->out[i]->type)) p->held = imax(p->held, tile_bytes(op->out[i]));
	if (op->code == OP_LOAD || op->code == OP_STORE) {
		const Val *v = op->nout ? op->out[0] : ir_in(op, op->nin - 1);
		p->moved += type_is_tile(v->type) ? (int64_t)1 << tile_bytes(v) : 0;
	} else if (op->code == OP_LOADS || (op_has(op, OPF_READ | OPF_WRITE)
		&& op_rows[op->code].form != FORM_PLACED)) {
		p->moved = INT32_MAX;   /* not known */
		p->unknown |= op->code == OP_LOADS || !op->nout || type_is_tile(op->out[0]->type);
	}
}

bool pack_pairs(Fn *fn)
{
	Packed p = { 0 };
	ir_walk(fn->body, look_at, &p);
	return !p.alone && !p.meets && !p.unknown && !overlap_of(fn).type;      /* one access for several tiles */
}

static void pack_warps(Fn *fn, const Packed *p)
{
	int n = COST_PACK_WARPS - log2_of(fn->warps), pin = plan_pinned(fn, PC_PACK);
	if (fn->warps > COST_PACK_FEW || p->unknown || (pin == PLAN_FREE && p->held > COST_PACK_HELD)) return;
	if (pin != PLAN_FREE) n = imin(pin, n);
	if (n <= 0 || p->alone || p->meets || fn->shared_bytes || fn->warp_bytes || fn->by_warp || fn->persistent) return;
	fn->packed = 1 << n;
}

static void pack_fn(Fn *fn)
{
	Packed p = { .alone = fn->cluster > 0 };
	ir_walk(fn->body, look_at, &p);
	if (fn->warps > 1) {
		pack_warps(fn, &p);
		return;
	}
	int moved = log2_of(p.moved + 1) - 1, bytes = p.moved ? imin(p.held, moved) : p.held;
	int pin = plan_pinned(fn, PC_PACK), warp = LANES_LOG2 - fn_threads(fn).lanes;
	if (p.alone || (pin == PLAN_FREE && (bytes > COST_PACK_TILE || p.held > COST_PACK_HELD))) return;
	int n = pin != PLAN_FREE ? imin(imax(pin - warp, 0), COST_PACK_WARPS)
		: imin(imax(COST_PACK_BYTES - bytes - warp, 1), COST_PACK_WARPS);
	if (rows_are_dense(fn) && pin == PLAN_FREE) n = COST_PACK_DENSE;
	while (n && fn->shared_bytes << (n + warp) > COST_PACK_SHARED) n--;
	fn->packed = n + warp ? 1 << (n + warp) : 0;
}

void pass_pack(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) pack_fn(m->fns.p[i]);
}
