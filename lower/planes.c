/* Whole planes: a kernel that exchanges two neighbouring axes of a tensor, all of it, with a further text for short rows.
 *
 * y[.., q, p, ..] = x[.., p, q, ..] moves rows, which are what both tensors have behind these axes. Rows that are short and begin
 * anywhere are accessed by single elements, and sectors at their ends by two thread blocks: 33 x 1023 x 33 x 33 elements of 16 bits
 * make the L2 cache move 358 MB where 147 are asked for. But all the rows of one p are one stretch of x, a plane, and so are planes that
 * follow each other; and of y, the rows of those planes with one q. So a thread block takes as many planes as fit its shared
 * memory, in pieces of 16 bytes, and writes stretches in words from line to line (ct_planes in emit_cuda/device.def): 72 % of the copy
 * rate instead of 59.
 *
 * What tile blocks there are does not matter then, so all of the kernel has to be known: its only load meets each element of x once,
 * by one tile that the axes of the grid move, and its only store puts them to the same places of y but for the exchange. The
 * launcher asks whether planes are small enough (emit_cuda/launch.c). */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/placed.h"

/* The only load of a kernel, the order of its axes that is stored, and the store. */
typedef struct Moves { const Op *load, *permute, *store; } Moves;

static bool find_moves(const Fn *fn, Moves *w)
{
	for (const Op *op = fn->body->first; op; op = op->next) {
		bool tile = op->nout && type_is_tile(op->out[0]->type);
		const Op *from = op->code == OP_PERMUTE ? ir_in(op, 0)->def : op->code == OP_STORE ? ir_in(op, op->nin - 1)->def : NULL;
		if (op->code == OP_LOAD && tile && !w->load) w->load = op;
		else if (op->code == OP_PERMUTE && tile && w->load && from == w->load && !w->permute) w->permute = op;
		else if (op->code == OP_STORE && w->permute && from == w->permute && !w->store) w->store = op;
		else if (op->code != OP_RETURN && (tile || op->nregion || !(op_rows[op->code].flags & OPF_PURE))) return false;
	}
	return w->store != NULL;
}

/* A parameter whose elements lie one behind the other; NULL: none such, or the access asks for more than to move. */
static const IrParam *whole_tensor(ValSyms *b, const Op *op)
{
	const Val *v = ir_in(op, 0);
	const Sym *stride = sym_const(1);
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	if (v->def || v->block != b->fn->body || t->rank != v->type->rank || ir_int(op, AT_CACHE, 0)) return NULL;
	for (int a = v->type->rank - 1; a >= 0; a--) {
		const Sym *extent = valsym_extent(b, v, a);
		if (!extent || valsym_stride(b, v, a) != stride) return NULL;
		stride = sym_mul(stride, extent);
	}
	return valsym_root(b, v);
}

/* Do the tile blocks along one axis of the grid, which no other axis of the tensor has, meet each element along this one? */
static bool is_covered(ValSyms *b, const Op *load, int axis, bool *used)
{
	const Sym *extent = valsym_extent(b, ir_in(load, 0), axis), *first = valsym_access(b, load, axis);
	int64_t tile = type_extent(load->out[0]->type, axis);
	if (first == sym_const(0) && facts_le(b->facts, extent, sym_const(tile))) return true;
	for (int k = 0; k < b->fn->ngrid; k++) {
		if (used[k] || first != sym_mul(sym_const(tile), sym_atom(ATOM_BID, NULL, k))) continue;
		used[k] = true;
		return b->fn->grid[k] == sym_cdiv(extent, sym_const(tile));
	}
	return false;
}

static const Sym *product(ValSyms *b, const Val *view, int from, int to)
{
	const Sym *n = sym_const(1);
	for (int a = from; a < to; a++) n = sym_mul(n, valsym_extent(b, view, a));
	return n;
}

/* The first of the two axes that change places; -1: others do. */
static int exchanged(const int64_t *axes, int rank)
{
	int p = 0;
	while (p < rank && axes[p] == p) p++;
	if (p + 2 >= rank || axes[p] != p + 1 || axes[p + 1] != p) return -1;
	for (int a = p + 2; a < rank; a++)
		if (axes[a] != a) return -1;
	return p;
}

static bool plan(Fn *fn, Planes *r)
{
	Moves w = { NULL, NULL, NULL };
	bool used[4] = { false };
	if (fn->ordered || ir_hint(fn, "warps", 0) > 0 || !find_moves(fn, &w)) return false;
	ir_number(fn);
	ValSyms b = valsyms_new(fn);
	const IrParam *x = whole_tensor(&b, w.load), *y = whole_tensor(&b, w.store);
	const int64_t *axes = ir_attr(w.permute, AT_AXES)->u.ints.p;
	const Val *view = ir_in(w.load, 0);
	int rank = view->type->rank, p = exchanged(axes, rank);
	if (!x || !y || x == y || x->mode != PM_IN || p < 0) return false;
	for (int a = 0; a < rank; a++) {
		if (!is_covered(&b, w.load, a, used)) return false;
		if (valsym_access(&b, w.store, a) != valsym_access(&b, w.load, (int)axes[a])) return false;
		if (valsym_extent(&b, ir_in(w.store, 0), a) != valsym_extent(&b, view, (int)axes[a])) return false;
	}
	for (int k = 0; k < fn->ngrid; k++)
		if (!used[k]) return false;
	*r = (Planes){ x->name, y->name, view->type->elem, product(&b, view, 0, p), valsym_extent(&b, view, p), valsym_extent(&b, view, p + 1),
		product(&b, view, p + 2, rank), 1 };
	for (int a = p + 2; a < rank; a++) r->tile *= type_extent(w.load->out[0]->type, a);
	return true;
}

void planes_place(Fn *fn, Fn *placed)
{
	Planes r;
	if (!plan(fn, &r)) return;
	Fn *text = placed->planes = NEW(A_UNIT, Fn);
	*text = *placed->odd;
	text->odd = text->cut = NULL;
	text->packed = text->lanes = 0;
	text->warps = PLANES_WARPS;
	text->shared_bytes = PLANES_BYTES + 16;         /* a stretch keeps its distance from a multiple of 16 */
	text->moved = NEW(A_UNIT, Planes);
	*text->moved = r;
}
