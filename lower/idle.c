/* Warps behind the end of rows, in loops that a cluster runs.
 *
 * Extents of tiles are powers of two, rows are of any length: of a row of 12,288 elements in a tile of 16,384 each fourth warp holds
 * pads alone. Where all threads compute in step, those warps take the same slots as the others. They need do nothing if what they
 * send in each exchange is zero: then a loop of their own sends zeros, and waits as the others do.
 *
 * That is proved here, of a placed kernel, by following what is computed from pads. Whether a warp lies behind the row is asked by the
 * target, at run time. Where anything else happens (threads meet, memory is read or written otherwise), nothing is said. */
#include "base/diag.h"
#include "ir/fold.h"
#include "lower/placed.h"

typedef enum Kind { ANY, NUMBER, COUNTS } Kind;         /* COUNTS: the number of its place in the row */
typedef struct Pads { Kind kind; Num n; } Pads;         /* what a value is in a warp of pads */

typedef struct Idle {
	const Fn *fn;
	const Op *loop, *row;   /* row: the first load of one */
	Pads *at;               /* by Val id */
	bool ok;
} Idle;

static bool is_single(const Val *v) { return !type_is_tile(v->type) || type_log2_size(v->type) == 0; }

static const Sym *extent_of(const Idle *d, const Op *op, const Type *t)
{
	const Val *view = ir_in(op, 0);
	int axis = type_only_axis(t);
	if (axis < 0 || view->block != d->fn->body || t->rank != view->type->rank) return NULL;
	const IrAttr *offsets = ir_attr(op, AT_OFFSETS);
	Num index;
	if (!ir_const_value(ir_in(op, 1 + axis), &index) || index.i || (offsets && offsets->u.ints.p[axis])) return NULL;
	return d->fn->params.p[view->index].extent[axis];
}

static bool same_places(Lay a, Lay b)
{
	for (int h = 0; h < HW_N; h++)
		if (a.in[h] != b.in[h]) return false;
	for (int i = 0; i < lay_inbits(a); i++)
		if (a.col[i] != b.col[i]) return false;
	return lay_outbits(a) == lay_outbits(b);
}

/* An access of rows as the first one is: they end where that does. */
static bool of_rows(Idle *d, const Op *op)
{
	const Val *v = ir_accessed(op);
	const Sym *end = v->lay ? extent_of(d, op, v->type) : NULL;
	if (!end) return false;
	if (!d->row && op->code == OP_LOAD) d->row = op;
	return d->row && end == extent_of(d, d->row, ir_accessed(d->row)->type) && same_places(*v->lay, *ir_accessed(d->row)->lay);
}

static Pads pads(const Idle *d, const Val *v)
{
	Num n;
	if (ir_const_value(v, &n)) return (Pads){ NUMBER, n };
	return d->at[v->id];
}

static bool is_zero(const Idle *d, const Val *v)
{
	Pads p = pads(d, v);
	return p.kind == NUMBER && !elem_is_ptr(v->type->elem) && (elem_is_any_float(v->type->elem) ? p.n.f == 0 : p.n.i == 0);
}

static bool is_row_length(const Idle *d, const Val *v)
{
	while (v->def && (v->def->code == OP_BROADCAST || v->def->code == OP_CAST) && elem_is_integral(ir_in(v->def, 0)->type->elem))
		v = ir_in(v->def, 0);
	if (!d->row || !v->def || v->def->code != OP_LAUNCH) return false;
	return ir_attr(v->def, AT_SYM)->u.sym == extent_of(d, d->row, ir_accessed(d->row)->type);
}

/* The number of a place beside the length of the row: it is not less. */
static bool of_compare(const Idle *d, const Op *op, Pads *r)
{
	OpCode code = op->code;
	if (code != OP_LT && code != OP_LE && code != OP_GT && code != OP_GE) return false;
	bool first = pads(d, ir_in(op, 0)).kind == COUNTS;
	if (pads(d, ir_in(op, first ? 0 : 1)).kind != COUNTS || !is_row_length(d, ir_in(op, first ? 1 : 0))) return false;
	if (first ? code != OP_LT && code != OP_GE : code != OP_GT && code != OP_LE) return false;
	*r = (Pads){ NUMBER, num_int(first ? code == OP_GE : code == OP_LE) };
	return true;
}

static Pads of_elementwise(const Idle *d, const Op *op)
{
	enum { MOST = 4 };
	Num n[MOST];
	Pads r = { .kind = ANY };
	if (op->nin > MOST || of_compare(d, op, &r)) return r;
	Pads c = pads(d, ir_in(op, 0));
	if (op->code == OP_SELECT && c.kind == NUMBER) return pads(d, ir_in(op, num_is_true(EL_BOOL, c.n) ? 1 : 2));
	for (int i = 0; i < op->nin; i++) {
		Pads p = pads(d, ir_in(op, i));
		if (p.kind != NUMBER || elem_is_ptr(ir_in(op, i)->type->elem)) return r;
		n[i] = p.n;
	}
	Elem e = ir_in(op, op->code == OP_SELECT)->type->elem, to = op->out[0]->type->elem;
	if (op->code == OP_CAST) r = (Pads){ NUMBER, fold_cast(n[0], e, to, fold_modes(op)) };
	else if (fold_is_exact(op->code) && fold_op(op->code, fold_modes(op), e, to, op->nin, n, &r.n)) r.kind = NUMBER;
	return r;
}

static bool sums_zeros(const Idle *d, const Op *op)
{
	bool zeros = ir_int(op, AT_KIND, 0) == KIND_SUM && op->nout == 1;
	for (int i = 0; i < op->nin; i++) zeros &= is_zero(d, ir_in(op, i));    /* of products: of both factors */
	return zeros;
}

static bool of_op(Idle *d, const Op *op)
{
	unsigned f = op_rows[op->code].flags;
	Pads *r = op->nout ? &d->at[op->out[0]->id] : NULL;
	switch (op->code) {
	case OP_LOAD:
		if (is_single(op->out[0])) return memory_is_constant(d->fn, ir_in(op, 0));
		*r = pads(d, ir_in(op, op->nin - 1));
		return of_rows(d, op);
	case OP_STORE: return is_single(ir_accessed(op)) || of_rows(d, op);
	case OP_IOTA: *r = (Pads){ .kind = type_only_axis(op->out[0]->type) >= 0 ? COUNTS : ANY }; return true;
	case OP_BROADCAST: case OP_RESHAPE: case OP_PERMUTE: case OP_AGAIN: *r = pads(d, ir_in(op, 0)); return true;
	case OP_REDUCE_REGS: case OP_REDUCE_LANES:
		if (sums_zeros(d, op)) *r = (Pads){ NUMBER, pads(d, ir_in(op, 0)).n };
		return true;
	case OP_EXCHANGE:
		for (int i = 0; i < op->nin; i++)
			if (!is_zero(d, ir_in(op, i))) return false;
		return op->parent->owner == d->loop && !op_tells(op);
	case OP_VIEW: case OP_RETURN: case OP_YIELD: return true;
	default: break;
	}
	if (op->nregion || f & (OPF_READ | OPF_WRITE) || !(f & OPF_PURE)) return op == d->loop;
	if (op->nout == 1 && f & OPF_ELEMWISE) *r = of_elementwise(d, op);
	return op->code != OP_CONVERT;
}

static bool of_block(Idle *d, const IrBlock *block)
{
	for (const Op *op = block->first; op; op = op->next)
		if (!of_op(d, op) || (op == d->loop && !of_block(d, op->region[0]))) return false;
	return true;
}

const Op *idle_row(const Fn *fn, const Op *loop)
{
	if (!fn->alternate || loop->code != OP_FOR || loop->parent != fn->body) return NULL;
	ArenaMark mark = arena_mark(A_TMP);
	Idle d = { .fn = fn, .loop = loop, .at = NEW_ARRAY(A_TMP, Pads, fn->nval) };
	bool ok = of_block(&d, fn->body);
	arena_release(A_TMP, mark);
	return ok ? d.row : NULL;
}
