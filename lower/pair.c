/* pair: neighbouring tile blocks as one.
 *
 * Rows of one tensor share what does not depend on the row: weights, biases, tables. Where a row is spread over a cluster, that
 * is as much as the row itself or more, each thread block reads another part of it, and the L1 cache holds none of it until the
 * next row comes. So such a kernel is placed once more for two tile blocks at once (Fn.paired): each access whose index is the
 * block's own takes a tile of two such indices, all that is made of it has two elements along that axis, and what is the same
 * for both is loaded once. The last tile block of an odd number has a neighbour outside of the tensor, which is masked.
 *
 * This is a change of types: the index of the block, taken along an axis along which a tile has one element, becomes a step of
 * two. Kernels in which a block's index does anything else stay as they are. */
#include "base/diag.h"
#include "lower/placed.h"

enum { WORDS = 32 };    /* that a thread holds of rows */
enum { NOT = -1, INDEX = -2 };  /* else the axis along which a tile has an element for each tile block */

typedef struct Pairing {
	Fn *fn;
	int *axis;              /* by Val id: which axis, NOT or INDEX */
	bool ok;
} Pairing;

static int axis_of(const Pairing *p, const Op *op, int i) { return p->axis[ir_in(op, i)->id]; }

/* The axis along which an access takes the tile of its block; NOT: it takes the same one in all. */
static int access_axis(const Pairing *p, const Op *op)
{
	for (int a = 0; a < ir_in(op, 0)->type->rank; a++)
		if (axis_of(p, op, 1 + a) == INDEX) return a;
	return NOT;
}

/* Does it take one element there, at the index of the block? */
static bool access_suits(const Pairing *p, const Op *op, const Type *t)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS);
	int at = access_axis(p, op);
	if (at == NOT) return true;
	for (int a = at + 1; a < ir_in(op, 0)->type->rank; a++)
		if (axis_of(p, op, 1 + a) == INDEX) return false;
	return type_is_tile(t) && t->rank == ir_in(op, 0)->type->rank && !t->log2[at] && steps && steps->u.ints.p[at] == 1;
}

/* The axis that all paired operands of an elementwise operation have. */
static int common_axis(Pairing *p, const Op *op)
{
	int at = NOT;
	for (int i = 0; i < op->nin; i++) {
		int a = axis_of(p, op, i);
		if (a == NOT) continue;
		p->ok &= a >= 0 && (at == NOT || at == a);
		at = a;
	}
	return at;
}

static int broadcast_axis(Pairing *p, const Op *op)
{
	int a = axis_of(p, op, 0);
	const Type *t = op->out[0]->type;
	if (a < 0) return a;
	a += t->rank - ir_in(op, 0)->type->rank;
	p->ok &= !t->log2[a];
	return a;
}

static int reduce_axis(Pairing *p, const Op *op)
{
	int a = axis_of(p, op, 0);
	p->ok &= a == NOT || (op->nout == 1 && op->out[0]->type->rank == ir_in(op, 0)->type->rank && ir_int(op, AT_AXIS, 0) != a);
	return a;
}

static int result_axis(Pairing *p, const Op *op)
{
	unsigned f = op_rows[op->code].flags;
	const Val *value = op->nin ? ir_in(op, op->nin - 1) : NULL;
	bool touched = false;
	for (int i = 0; i < op->nin; i++) touched |= axis_of(p, op, i) != NOT;
	switch (op->code) {
	case OP_BID: return INDEX;
	case OP_LOAD:
		p->ok &= access_suits(p, op, op->out[0]->type);
		return access_axis(p, op);
	case OP_STORE:
		p->ok &= access_suits(p, op, value->type) && access_axis(p, op) != NOT
			&& (p->axis[value->id] == NOT || p->axis[value->id] == access_axis(p, op));
		return NOT;
	case OP_BROADCAST: return broadcast_axis(p, op);
	case OP_RETURN: return NOT;
	default: break;
	}
	if (op->nregion || !(f & OPF_PURE)) p->ok = false;
	if (!touched) return NOT;
	if (op_is_reduce(op) && op->code != OP_REDUCE) return reduce_axis(p, op);
	if (f & OPF_ELEMWISE) return common_axis(p, op);
	p->ok = false;
	return NOT;
}

static void find_axes(Pairing *p)
{
	ir_number(p->fn);
	p->axis = NEW_ARRAY(A_TMP, int, p->fn->nval);
	for (int i = 0; i < p->fn->nval; i++) p->axis[i] = NOT;
	p->ok = true;
	for (const Op *op = p->fn->body->first; op && p->ok; op = op->next) {
		int a = result_axis(p, op);
		p->ok &= a != INDEX || op->code == OP_BID;
		for (int i = 0; i < op->nout; i++) p->axis[op->out[i]->id] = a;
	}
}

/* ---- writing ---- */
static const Type *widened(const Type *t, int axis)
{
	uint8_t log2[TILE_RANK];
	for (int a = 0; a < t->rank; a++) log2[a] = t->log2[a];
	log2[axis] = 1;
	return type_tile(t->elem, t->rank, log2);
}

static void widen_access(Op *op, int axis)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS);
	int64_t n[TENSOR_RANK];
	for (int a = 0; a < steps->u.ints.n; a++) n[a] = a == axis ? PAIRED : steps->u.ints.p[a];
	ir_set_ints(op, AT_STEPS, steps->u.ints.n, n);
}

static void widen_operand(Op *op, int i, int axis)
{
	Builder b = build_before(op);
	op->in[i] = ir_unary(&b, OP_BROADCAST, widened(ir_in(op, i)->type, axis), ir_in(op, i));
}

static void widen(const Pairing *p, Op *op)
{
	bool store = op->code == OP_STORE, access = store || op->code == OP_LOAD;
	int axis = store ? access_axis(p, op) : op->nout ? p->axis[op->out[0]->id] : NOT;
	if (axis < 0) return;
	if (access) widen_access(op, axis);
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		bool same = type_is_tile(v->type) && p->axis[v->id] == NOT;
		if (same && (store ? i == op->nin - 1 : !access)) widen_operand(op, i, axis);
	}
	for (int i = 0; i < op->nout; i++) op->out[i]->type = widened(op->out[i]->type, axis);
}

/* ---- whether ---- */
typedef struct Traffic { int64_t own, shared, stored; int words; } Traffic;     /* bytes of a tile block; words: of a thread, of its own */

static int64_t tile_bytes(const Val *v) { return type_is_tile(v->type) ? type_size(v->type) * elem_bytes(v->type->elem) : 0; }

static bool takes_own(const Op *op)
{
	for (int a = 0; a < ir_in(op, 0)->type->rank; a++)
		if (ir_in(op, 1 + a)->def && ir_in(op, 1 + a)->def->code == OP_BID) return true;
	return false;
}

static void count(void *ctx, Op *op)
{
	Traffic *t = ctx;
	if (op->code == OP_STORE) t->stored += tile_bytes(ir_in(op, op->nin - 1));
	if (op->code != OP_LOAD || !type_is_tile(op->out[0]->type)) return;
	const Val *r = op->out[0];
	if (!takes_own(op)) {
		t->shared += tile_bytes(r);
		return;
	}
	t->own += tile_bytes(r);
	t->words += (int)(((int64_t)elem_bytes(r->type->elem) << r->lay->in[HW_REG]) / 4);
}

static bool is_cut(const Fn *fn)        /* into slices, for its registers do not hold one row: two even less */
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->nregion) return true;
	return false;
}

/* Of an H200, the L2 cache gives 1.3 times what its memory reads and writes. */
static bool shares_much(const Traffic *t) { return t->own && 3 * (t->own + t->shared) > 4 * (t->own + t->stored); }

bool pair_wanted(const Fn *fn)
{
	Traffic t = { 0 };
	if (fn->cluster < 2 || fn->by_element || is_cut(fn)) return false;
	ir_walk(fn->body, count, &t);
	return shares_much(&t) && PAIRED * t.words <= WORDS;
}

int64_t pair_shared(const Fn *fn)
{
	Traffic t = { 0 };
	if (fn->cluster < 2 || is_cut(fn)) return 0;
	ir_walk(fn->body, count, &t);
	return shares_much(&t) && t.words <= WORDS && PAIRED * t.words > WORDS ? t.shared : 0;
}

bool pair_blocks(Fn *fn)
{
	Pairing p = { .fn = fn };
	if (fn->ngrid != 1 || fn->ordered) return false;
	ArenaMark mark = arena_mark(A_TMP);
	find_axes(&p);
	if (p.ok) {
		for (Op *op = fn->body->first; op; op = op->next) widen(&p, op);
		fn->grid[0] = sym_cdiv(fn->grid[0], sym_const(PAIRED));
		fn->tiles = PAIRED;
	}
	arena_release(A_TMP, mark);
	return p.ok;
}
