/* vec: marks operations of which one instruction or call computes several registers, {vec}.
 *
 * An instruction rounds two numbers to 16 bits, or to two bytes that are adjacent in a vector; bytes that are accessed
 * one by one would have to be extracted again. Random numbers 4k to 4k + 3 come from one call: a thread with four
 * neighbours, the first at a multiple of 4 along the last axis, calls once for them; where neighbours begin anywhere,
 * they take one call more than they would fill. And in a version for aligned tensors the elements of a vector lie
 * before an extent if the first does, so one comparison serves them all. */
#include "ir/exact.h"
#include "lower/placed.h"
#include "placed/access.h"
#include "placed/loops.h"

enum { VECTOR_MOST = 16 /* elements of the widest vector */ };

typedef struct Vecs {
	const Version *v;
	const bool *splat;
	bool rotated, shifted;   /* its rows are rotated, or shifted */
} Vecs;

/* Does each pair of registers hold neighbours along the last axis? */
static bool has_neighbours(const Val *v)
{
	uint8_t bit[LAY_BITS];
	int axis = v->type->rank - 1;
	return axis >= 0 && v->lay->out[axis] && lay_run(*v->lay, axis, bit) > 0 && bit[0] == 0;
}

static bool in_pairs(const Op *op)
{
	const Val *r = op->out[0];
	if (op->code != OP_CAST || ir_in(op, 0)->type->elem != EL_F32 || ir_int(op, AT_OVERFLOW, 0) || regs_of(r) == 1)
		return false;
	int64_t rounding = ir_int(op, AT_ROUNDING, 0);
	switch (r->type->elem) {
	case EL_F16: case EL_BF16: return !rounding;
	case EL_F8E4M3: case EL_F8E5M2: return !rounding && has_neighbours(r);
	case EL_I8: case EL_U8: return rounding == ROUND_TIES_EVEN && has_neighbours(r);
	default: return false;
	}
}

static bool is_asked(const Sym *guard, const Sym *s)
{
	return guard == s || (guard->kind == SYM_AND && (is_asked(guard->arg[0], s) || is_asked(guard->arg[1], s)));
}

/* A power of two that divides an extent where the version's guard holds. 1: nothing is known. */
static int64_t asked_multiple(const Vecs *f, const Val *v)
{
	while (v->def && (v->def->code == OP_CAST || v->def->code == OP_BROADCAST)) v = ir_in(v->def, 0);
	if (!f->v->fn->aligned || !v->def || v->def->code != OP_LAUNCH) return 1;
	const Sym *s = ir_attr(v->def, AT_SYM)->u.sym;
	if (s->kind != SYM_ATOM || s->atom != ATOM_DIM) return 1;
	for (int n = VECTOR_MOST; n > 1; n /= 2)
		if (is_asked(f->v->guard, sym_cmp(SYM_EQ, sym_mod(s, sym_const(n)), sym_const(0)))) return n;
	return 1;
}

/* For aligned tensors, whose extents are multiples of a vector: its elements lie before an extent if the first does. */
static int compared_alike(const Vecs *f, const Op *op)
{
	int i = op->code == OP_LT || op->code == OP_GE ? 0 : op->code == OP_GT || op->code == OP_LE ? 1 : -1;
	const Val *x = i < 0 ? NULL : ir_in(op, i);
	uint8_t bit[LAY_BITS];
	if (!x || !type_is_tile(x->type) || !x->def || x->def->code != OP_IOTA || !elem_is_int(x->type->elem)) return 1;
	int64_t multiple = asked_multiple(f, ir_in(op, 1 - i));
	if (f->shifted && holds_row(f->v->fn, *x->lay)) return 1;
	int axis = x->type->rank - 1, run = x->lay->out[axis] ? lay_run(*x->lay, axis, bit) : 0;
	while (run > 0 && multiple % ((int64_t)1 << run)) run--;
	return 1 << run;
}

/* ---- random numbers by fours ---- */
enum { FOUR = 4, FOUR_LOG2 = 2, DEPTH = 16 /* of an expression of offsets; deeper ones count as unknown */ };

/* What integers are along the last axis. SAME: equal. COUNTS: of four neighbours from a multiple of 4 on, each is the
 * one before plus 1. FOURS: the first of them is a multiple of 4. WIDENED: they were counted in fewer bits, in which
 * they may have wrapped, at a multiple of 4. APART: the next four need not go on where these end. */
enum { SAME = 1, COUNTS = 2, FOURS = 4, WIDENED = 8, APART = 16 };

static unsigned along(const Vecs *f, const Val *v, int depth);

static unsigned of_sum(unsigned x, unsigned y)
{
	unsigned both = x & y, any = x | y;
	if (!x || !y || both & COUNTS || (any & WIDENED && !(both & FOURS))) return 0;
	return (any & COUNTS ? COUNTS : SAME) | (both & FOURS) | (any & (WIDENED | APART));
}

static unsigned of_product(unsigned x, unsigned y)
{
	return x & y & SAME ? SAME | ((x | y) & FOURS) : 0;
}

/* Rows that become one are not counted on from one to the next. */
static unsigned of_reshape(unsigned x, const Type *from, const Type *to)
{
	int was = from->rank ? from->log2[from->rank - 1] : 0, is = to->rank ? to->log2[to->rank - 1] : 0;
	if (!(x & COUNTS) || is < FOUR_LOG2) return 0;
	return is > was ? x | APART : x;
}

static bool is_iota(const Val *v)
{
	while (v->def && (v->def->code == OP_BROADCAST || v->def->code == OP_RESHAPE)) v = ir_in(v->def, 0);
	return v->def && v->def->code == OP_IOTA;
}

static unsigned of_op(const Vecs *f, const Op *op, int depth)
{
	const Type *t = op->out[0]->type;
	unsigned x = op->nin ? along(f, ir_in(op, 0), depth) : 0, y = op->nin > 1 ? along(f, ir_in(op, 1), depth) : 0;
	switch (op->code) {
	case OP_IOTA: return t->log2[t->rank - 1] >= FOUR_LOG2 ? COUNTS | FOURS : 0;
	case OP_BROADCAST: case OP_CONVERT_REGS: return x;
	case OP_RESHAPE: return of_reshape(x, ir_in(op, 0)->type, t);
	case OP_CAST:
		if (!elem_is_int(ir_in(op, 0)->type->elem)) return 0;
		return x & COUNTS && !is_iota(ir_in(op, 0)) ? x | WIDENED : x;
	case OP_ADD: return of_sum(x, y);
	case OP_SUB: return y & COUNTS ? 0 : of_sum(x, y);
	case OP_MUL: return of_product(x, y);
	default: return 0;
	}
}

static unsigned along(const Vecs *f, const Val *v, int depth)
{
	bool tile = type_is_tile(v->type);
	unsigned r = tile && v->def && depth ? of_op(f, v->def, depth - 1) : 0;
	bool is_const = v->def && v->def->code == OP_CONST;
	if (r || (tile && !is_const && v->type->rank && v->type->log2[v->type->rank - 1])) return r;
	return access_multiple(v) % FOUR == 0 || asked_multiple(f, v) % FOUR == 0 ? SAME | FOURS : SAME;
}

/* FOUR: of random numbers a thread makes those of whole blocks. *astride: of parts of blocks, too. */
static int by_fours(const Vecs *f, const Op *op, bool *astride)
{
	int a, b;
	if (!op_has(op, OPF_RANDOM)) return 1;
	const Val *r = op->out[0];
	if (type_is_tile(ir_in(op, 0)->type) || !type_is_tile(r->type) || !random_neighbours(r, &a, &b)) return 1;
	unsigned x = along(f, ir_in(op, 1), DEPTH);
	*astride = f->rotated || !(x & FOURS);
	return x & COUNTS && (x & FOURS || !f->rotated) && !(*astride && x & APART) ? FOUR : 1;
}

/* ---- the pass ---- */
static int vec_of(const Vecs *f, const Op *op, bool *astride)
{
	if (in_pairs(op)) return 2;
	int n = by_fours(f, op, astride);
	return n > 1 ? n : compared_alike(f, op);
}

static void visit(void *ctx, Op *op)
{
	const Vecs *f = ctx;
	if (!op_is_pointwise(op) || f->splat[op->out[0]->id]) return;
	bool astride = false;
	int n = vec_of(f, op, &astride);
	if (n > 1) ir_set_int(op, AT_VEC, n);
	if (n > 1 && astride) ir_set_int(op, AT_ASTRIDE, 1);
}

void pass_vec(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->versions.n; i++) {
		const Version *v = &m->versions.p[i];
		ArenaMark mark = arena_mark(A_TMP);
		Vecs f = { v, splats_of(v->fn, A_TMP), rows_rotate(v->fn), rows_shift(v->fn) };
		ir_walk(v->fn->body, visit, &f);
		arena_release(A_TMP, mark);
	}
}
