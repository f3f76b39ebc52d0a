/* fuse: consecutive elementwise operations of one register count share a loop over registers, {loop}. Values that only
 * they use are scalars of that loop instead of arrays.
 *
 * A maximum of elements that were widened from 16 bits is computed on packed words, two elements at a time: a reduction
 * with {vec}. */
#include "lower/placed.h"
#include "placed/loops.h"

typedef struct Fuse { const Fn *fn; const bool *splat; int *loop, nloop; } Fuse;        /* loop: by Val id */

/* Is register i of the result register i of the operand? */
static bool keeps_registers(const Op *op)
{
	if (op->code != OP_BROADCAST || regs_of(ir_in(op, 0)) != regs_of(op->out[0])) return false;
	Lay from = broadcast_source(op);
	for (int i = 0; i < lay_inbits(from); i++)
		if (lay_coord(from, from.col[i], LAY_HWAXIS(HW_REG)) != (i < from.in[HW_REG] ? (uint32_t)1 << i : 0))
			return false;
	return true;
}

static bool moves_registers(const Op *op)
{
	return op->code == OP_CONVERT_REGS || (op->code == OP_BROADCAST && type_is_tile(ir_in(op, 0)->type)
		&& !keeps_registers(op));
}

/* Neighbours share a loop unless one needs all registers of another. */
static void number_loops(Fuse *f, IrBlock *b)
{
	int loop = 0, regs = 0;
	const IrAttr *pieces = NULL;
	for (Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nregion; i++) number_loops(f, op->region[i]);
		const IrAttr *own = ir_attr(op, AT_PIECES);
		if (f->fn->peel_line == 0 && own && !pieces) loop = 0;
		pieces = own;
		if (!op_is_pointwise(op)) {
			loop = 0;
			continue;
		}
		if (f->splat[op->out[0]->id]) continue;
		int n = regs_of(op->out[0]);
		const Val *x = op->nin ? ir_in(op, 0) : NULL;
		bool whole = moves_registers(op) && f->loop[x->id] == loop && loop;
		bool moved = moves_registers(op) && op_renames(x->def ? x->def : op);
		if (!loop || n != regs || whole || moved || op_in_own_loop(op)) loop = ++f->nloop;
		regs = n;
		f->loop[op->out[0]->id] = loop;
		ir_set_int(op, AT_LOOP, loop);
		if (op_in_own_loop(op)) loop = 0;
	}
}

/* ---- reductions in words ---- */
/* The largest of a tile that was widened from one of 16-bit floats? */
static bool is_narrow(const Op *op)
{
	if (op->code != OP_REDUCE_REGS) return false;
	int kind = (int)ir_int(op, AT_KIND, 0);
	const Val *x = ir_in(op, 0), *from = x->def && x->def->code == OP_CAST ? ir_in(x->def, 0) : NULL;
	if (op->nin != 1 || (kind != KIND_MAX && kind != KIND_MIN) || ir_int(op, AT_NAN, 0) || x->type->elem != EL_F32)
		return false;
	if (!from || !type_is_tile(from->type) || (from->type->elem != EL_BF16 && from->type->elem != EL_F16)) return false;
	uint32_t v[LAY_BITS];
	int n;
	if (lay_reduced(*x->lay, ir_axis(op), 1, &n, v).in[HW_REG]) return false;
	return regs_of(from) == regs_of(x) && regs_of(x) >= COST_FUSE_WORDS;
}

typedef struct Narrow { VEC(Op *) ops; } Narrow;

static void find_narrow(void *ctx, Op *op)
{
	Narrow *n = ctx;
	if (is_narrow(op)) vec_push(A_TMP, &n->ops, op);
}

/* Those whose narrow tile is in an array. */
static void reduce_in_words(Fn *fn)
{
	Narrow n = { { 0 } };
	ir_walk(fn->body, find_narrow, &n);
	if (!n.ops.n) return;
	Loops l = loops_of(fn, A_TMP);
	for (int i = 0; i < n.ops.n; i++) {
		int from = ir_in(ir_in(n.ops.p[i], 0)->def, 0)->id;
		if (!l.splat[from] && !l.inside[from]) ir_set_int(n.ops.p[i], AT_VEC, 2);
	}
}

static void fuse(Fn *fn)
{
	Fuse f = { fn, splats_of(fn, A_TMP), NEW_ARRAY(A_TMP, int, fn->nval), 0 };
	number_loops(&f, fn->body);
	reduce_in_words(fn);
}

void pass_fuse(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->versions.n; i++) {
		ArenaMark mark = arena_mark(A_TMP);
		fuse(m->versions.p[i].fn);
		arena_release(A_TMP, mark);
	}
}
