/* Short rows that lie side by side in memory.
 *
 * A warp works on a row for each tile block that shares it. Where rows are as long as their tensor is wide, those rows
 * are contiguous, whatever their length. So the warp copies them in vectors of 16 bytes between global and shared
 * memory, and threads access single elements only in the latter. Rows of 17 elements of 16 bits, accessed in global
 * memory by single elements, request each sector five times, and stores reach the L2 cache in as many parts.
 *
 * Then coalescing does not require that neighbouring lanes hold neighbouring elements, so a lane holds a whole row:
 * addresses and bounds are computed once for 32 elements, reductions need no shuffles, and few elements of the tile lie
 * beyond the row (lower/cut.c drops their registers). Longer rows would need several lanes, and with many lengths the
 * lanes of a warp conflict in a bank of shared memory.
 *
 * Serves kernels of rows in the placement for tensors that are not aligned (unaligned.c). dense_plan looks at the TYPED
 * kernel: each tile is such a row, or the same elements for all rows; it marks their loads and stores {dense}.
 * dense_place allocates them in the shared memory of a placed version. Each load has a buffer of its own, as all loads
 * are issued together; stores reuse the first buffer once every lane has read it. */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/placed.h"

enum { ROW_LOG2 = LANES_LOG2 };  /* of the elements of a row, at most */

static int row_axis(const Type *t)      /* -1: a single element; -2: no row */
{
	int r = -1;
	for (int a = 0; a < t->rank; a++)
		if (t->log2[a]) r = r == -1 ? a : -2;
	return r;
}

/* The element of its tensor with which a tile begins; NULL: not known. */
static const Sym *begin_of(ValSyms *b, const Op *op)
{
	const Sym *sum = sym_const(0);
	for (int a = 0; a < ir_in(op, 0)->type->rank; a++) {
		const Sym *stride = valsym_stride(b, ir_in(op, 0), a);
		if (!stride) return NULL;
		sum = sym_add(sum, sym_mul(valsym_access(b, op, a), stride));
	}
	return sum;
}

/* What the tile of a load or store is of the stretch; DENSE_NONE: nothing that serves. */
static DenseKind stretch_of(const Fn *fn, ValSyms *b, const Op *op)
{
	const Val *view = ir_in(op, 0);
	const Type *t = ir_accessed(op)->type;
	const IrAttr *inside = ir_attr(op, AT_INSIDE);
	int axis = row_axis(t), last = view->type->rank - 1;
	if (view->block != fn->body || view->def || t->rank != view->type->rank || axis != last) return DENSE_NONE;
	if (!unit_axis(fn, view, last) || ir_int(op, AT_CACHE, 0)) return DENSE_NONE;
	const Sym *row = valsym_extent(b, view, last), *begin = begin_of(b, op), *zero = sym_const(0);
	if (!row || !begin || valsym_access(b, op, last) != zero) return DENSE_NONE;
	if (!facts_le(b->facts, row, sym_const(type_extent(t, last)))) return DENSE_NONE;
	for (int a = 0; a < last; a++)
		if (!inside || inside->u.ints.p[a] != 1) return DENSE_NONE;
	if (begin == zero && op->code == OP_LOAD) return DENSE_SAME;
	return begin == sym_mul(sym_atom(ATOM_BID, NULL, 0), row) ? DENSE_ROW : DENSE_NONE;
}

static bool is_served(const Op *op)
{
	return pack_suits(op) && !op_is_scan(op) && op->code != OP_REDUCE;
}

/* All tiles are rows of one extent, or single elements. */
static bool fits(const Op *op, int *log2)
{
	for (int i = 0; i < op->nout; i++) {
		const Type *t = op->out[i]->type;
		int n = type_is_tile(t) ? type_log2_size(t) : 0;
		if (n == 0) continue;
		if (row_axis(t) == -2 || (*log2 && n != *log2)) return false;
		*log2 = n;
	}
	return true;
}

/* log2 of the elements of its rows; 0: it has other tiles than such rows. */
static int row_log2(const Fn *fn)
{
	int log2 = 0;
	for (const Op *op = fn->body->first; op; op = op->next)
		if (!is_served(op) || !fits(op, &log2)) return 0;
	return log2;
}

static bool is_access(const Op *op)
{
	const Val *v = ir_accessed(op);
	return v && type_log2_size(v->type) > 0;
}

void dense_plan(Fn *fn)
{
	int log2 = row_log2(fn), rows = 0;
	int64_t bytes = 0;
	if (fn->ngrid != 1 || ir_hint(fn, "warps", 0) > 0 || log2 == 0 || log2 > ROW_LOG2) return;
	ir_number(fn);
	ValSyms b = valsyms_new(fn);
	for (const Op *op = fn->body->first; op; op = op->next) {
		DenseKind s = is_access(op) ? stretch_of(fn, &b, op) : DENSE_NONE;
		if (is_access(op) && s == DENSE_NONE) return;
		if (s != DENSE_ROW) continue;
		rows++;
		int64_t size = elem_bytes(ir_accessed(op)->type->elem);
		if (op->code == OP_LOAD || bytes == 0) bytes += size << (LANES_LOG2 + log2);
	}
	if (!rows || bytes > COST_DENSE_BYTES) return;
	for (Op *op = fn->body->first; op; op = op->next)
		if (is_access(op)) ir_set_int(op, AT_DENSE, stretch_of(fn, &b, op));
}

/* ---- the placed kernel ---- */

static int64_t round_up(int64_t n) { return (n + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES; }

void dense_place(Fn *fn)
{
	int64_t at = 0, top = 0;
	if (!rows_are_dense(fn)) return;
	for (Op *op = fn->body->first; op; op = op->next) {
		if (!ir_int(op, AT_DENSE, 0)) continue;
		int64_t n = round_up(dense_bytes(fn, op));
		ir_set_int(op, AT_SLOT, op->code == OP_LOAD ? at : 0);
		if (op->code == OP_LOAD) at += n;
		else if (n > top) top = n;
	}
	fn->warp_bytes = at > top ? at : top;
}
