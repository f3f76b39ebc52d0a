/* Unaligned rows: a second placement of a kernel, for tensors that are not aligned.
 *
 * Threads use vector accesses of 16 bytes where these lie at multiples of 16 bytes. If rows have another length, each
 * row begins at a phase of its own, and so do the weights that it is combined with: with the layouts that suit vector
 * accesses, the single-element accesses of a warp then touch eight times the lines it needs. So kernels of rows are
 * placed twice. In the second placement neighbouring lanes hold neighbouring elements and each access is of
 * single elements, at whatever phase; the launcher decides which version fits a call (emit_cuda/launch.c). Sums follow
 * the order of their layout: rows of one length have two possible orders, which depend on addresses only through the
 * question whether everything is aligned.
 *
 * Vectors that are combined element by element mostly begin at one phase, so pass rotate serves them better.
 *
 * This applies to kernels whose tiles are rows of one axis each, or which only move, map and reduce their tiles, in
 * loops and branches too, provided that the second placement moves no data between threads that stays in place in the
 * first. If the first placement has no vector accesses, it serves all calls. */
#include "base/diag.h"
#include "lower/placed.h"
#include "placed/access.h"

/* tiles: of several axes. works: more than moving and reducing. vectors: all tensors are. */
typedef struct Rows { bool accessed, other, tiles, works, vectors; } Rows;

static bool moves(const Op *op)
{
	if (op->code == OP_LITERAL) return op->nin == 0;
	return op_is(op, OPT_BY_ELEMENT) || op_is_reduce(op) || op_has(op, OPF_POINTWISE | OPF_UNIFORM);
}

static void look_at(void *ctx, Op *op)
{
	Rows *r = ctx;
	for (int i = 0; i < op->nout; i++) r->tiles |= type_is_tile(op->out[i]->type) && !type_is_row(op->out[i]->type);
	r->works |= !moves(op);
	r->other |= op->code == OP_MMA || op->code == OP_REDUCE || op->code == OP_SORT || op->code == OP_TOPK
		|| op->code == OP_HISTOGRAM;
	const Val *v = ir_accessed(op);
	r->vectors &= !op_is_reduce(op) && (!v || ir_in(op, 0)->type->rank == 1);
	r->accessed |= v && type_is_tile(v->type) && type_log2_size(v->type) > 0 && elem_log2(v->type->elem) < VECTOR_LOG2;
}

static void find_pieces(void *ctx, Op *op)
{
	const Val *v = ir_accessed(op);
	bool single = op->code == OP_GATHER || op->code == OP_SCATTER || op->code == OP_ATOMIC_RMW;
	if (single) *(bool *)ctx |= elements_plan(op, op->nout ? op->out[0] : ir_in(op, op->nin - 1)).vec > 0;
	*(bool *)ctx |= op->code == OP_LOADS || (v && access_plan(op, v, false).vec > 0);
}

bool unaligned_wanted(const Fn *fn, const Fn *first)
{
	Rows r = { false, false, false, false, true };
	bool pieces = false;
	ir_walk(fn->body, look_at, &r);
	if (!r.accessed || r.other || r.vectors || (r.tiles && r.works)) return false;
	ir_walk(first->body, find_pieces, &pieces);
	return pieces;
}

static void count_moves(void *ctx, Op *op)
{
	*(int *)ctx += op->code == OP_STORE_SHARED || op->code == OP_TAKE || op->code == OP_CONVERT
		|| op->code == OP_CONVERT_LANES || op->code == OP_CONVERT_REGS;
}

static int moves_of(const Fn *fn)
{
	int n = 0;
	ir_walk(fn->body, count_moves, &n);
	return n;
}

bool unaligned_exchanges(const Fn *fn) { return moves_of(fn) > 0; }

bool unaligned_serves(const Fn *by_element, const Fn *fn) { return moves_of(by_element) <= moves_of(fn); }

/* Counts vector accesses that element by element would touch so many more cache lines that staging in shared memory is
 * cheaper; -1: threads combine elements. */
static void count_strided(void *ctx, Op *op)
{
	int *n = ctx;
	const Val *v = ir_accessed(op);
	bool tile = v && (op->code == OP_LOAD || op->code == OP_STORE) && type_is_tile(v->type);
	if (op_has(op, OPF_REDUCE | OPF_SCAN)) *n = -1;
	if (*n >= 0 && tile && access_plan(op, v, false).vec >= COST_STRIDED) ++*n;
}

bool unaligned_pays(const Fn *by_element, const Fn *first)
{
	int strided = 0;
	ir_walk(first->body, count_strided, &strided);
	return moves_of(by_element) <= moves_of(first) + (strided > 0 ? strided : 0);
}
