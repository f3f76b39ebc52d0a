/* Nests of two loops that reduce all of two axes which follow each other in memory, as one loop over one axis.
 *
 *   for i in 0 .. cdiv(h, 16) {
 *       for j in 0 .. cdiv(w, 256) { m = max(m, reduce_max(x.load([k, i, j], [1, 16, 256], pad: -inf), [1, 2])); }
 *   }
 *
 * Planes have any shape, and a tile the one that its author chose: for planes of 64 columns three in four lanes of this
 * one do nothing, rows of an unaligned length begin anywhere, and few bytes are in flight where the inner loop has one
 * iteration. The result does not depend on the shape: the greatest of the h * w elements that lie at x[k]. So where
 * rows follow each other without gaps, the nest becomes
 *
 *   for j in 0 .. cdiv(h * w, 4096) { m = max(m, reduce_max(x'.load([k, 0, j], [1, 1, 4096], pad: -inf), [1, 2])); }
 *
 * of the view x' with one row a plane. That is so if the loops go through the axes from their begin to their end, all
 * that depends on where a tile lies are loads, what is made of their elements is made of each alone and then reduced
 * along both axes, elements outside change nothing, and what is carried is combined by the reduction's operation. */
#include "base/cost.h"
#include "ir/fold.h"
#include "ir/ir_copy.h"
#include "ir/monoid.h"
#include "ir/valsym.h"
#include "lower/pins.h"
#include "lower/placed.h"

enum { OUTER, INNER };          /* of the two loops, and of the axes that they go through */

typedef struct Nest {
	Fn *fn;
	ValSyms *syms;
	const int *uses;        /* by Val id */
	Op *loop[2];
	const Sym *length[2];   /* of the axes */
	int64_t tile[2];
	int axis[2];            /* of tensors and tiles; -1: not known yet */
	bool *moves;            /* by Val id: depends on where the tile lies */
	int rank;
	VEC(Op *) loads;        /* those that do */
} Nest;

/* ---- the loops ---- */
static bool is_number(const Val *v, int64_t n)
{
	Num k;
	return ir_const_value(v, &k) && k.i == n;
}

static bool goes_through(Nest *n, int which)
{
	Op *op = n->loop[which];
	if (op->nattr || !is_number(ir_in(op, 0), 0) || !is_number(ir_in(op, 2), 1)) return false;
	const Sym *trips = valsym(n->syms, ir_in(op, 1));
	bool tiles = trips->kind == SYM_CDIV && sym_is_const(trips->arg[1], &n->tile[which]);
	n->length[which] = tiles ? trips->arg[0] : trips;
	if (!tiles) n->tile[which] = 1;
	return op->region[0]->last->code == OP_YIELD && sym_is_of_call(n->length[which]);
}

static const Val *argument(const Nest *n, int which, int k) { return n->loop[which]->region[0]->args.p[k]; }

/* The only loop of a loop, which carries what the other does, and beside which there are scalars that do not change. */
static Op *only_loop(Nest *n)
{
	const Op *outer = n->loop[OUTER];
	const IrBlock *body = outer->region[0];
	Op *inner = NULL;
	for (Op *op = body->first; op != body->last; op = op->next) {
		if (op->code == OP_FOR && !inner) inner = op;
		else if (op->nregion || !op_is_pure(op)) return NULL;
	}
	if (!inner || inner->nout != outer->nout) return NULL;
	for (int k = 0; k < inner->nout; k++)
		if (ir_in(inner, 3 + k) != argument(n, OUTER, 1 + k) || ir_in(body->last, k) != inner->out[k]) return NULL;
	for (Op *op = body->first; op != body->last; op = op->next) {
		for (int i = 0; i < op->nin; i++) {
			const Val *v = ir_in(op, i);
			if (v->block == body && !(op == inner && i >= 3)) return NULL;
		}
	}
	return inner;
}

/* ---- what the inner loop does ---- */
static bool is_tile_of(const Val *v) { return type_is_tile(v->type); }

/* Extents along the two axes, log2. */
static int along(const Nest *n, const Val *v, int which)
{
	return is_tile_of(v) && v->type->rank == n->rank ? v->type->log2[n->axis[which]] : 0;
}

static bool is_wide(const Nest *n, const Val *v) { return along(n, v, OUTER) || along(n, v, INNER); }

static bool is_whole(const Nest *n, const Val *v)
{
	return is_tile_of(v) && v->type->rank == n->rank && (int64_t)1 << along(n, v, OUTER) == n->tile[OUTER]
		&& (int64_t)1 << along(n, v, INNER) == n->tile[INNER];
}

static bool moves(const Nest *n, const Val *v) { return n->moves[v->id]; }

static bool stands_outside(const Nest *n, const Val *v)
{
	const IrBlock *b = v->def ? v->def->parent : v->block;
	for (; b; b = b->owner ? b->owner->parent : NULL)
		if (b->owner == n->loop[OUTER]) return false;
	return true;
}

/* Rows of the view follow each other, and it has as many of them, and as long, as the loops go through. */
static bool fits_view(Nest *n, const Val *view)
{
	const Sym *e[2], *s[2];
	for (int w = 0; w < 2; w++) {
		e[w] = valsym_extent(n->syms, view, n->axis[w]);
		s[w] = valsym_stride(n->syms, view, n->axis[w]);
		if (!e[w] || !s[w] || !facts_eq(n->syms->facts, e[w], n->length[w])) return false;
	}
	for (int a = 0; a < view->type->rank; a++) {
		const Sym *x = valsym_extent(n->syms, view, a), *y = valsym_stride(n->syms, view, a);
		if (!x || !y || !sym_is_of_call(x) || !sym_is_of_call(y)) return false;
	}
	return facts_eq(n->syms->facts, s[OUTER], sym_mul(s[INNER], e[INNER]));
}

/* Along which axes the loops' counters say where the tile lies. */
static void find_axes(const Nest *n, const Op *load, int *at)
{
	for (int a = 0; a < ir_in(load, 0)->type->rank; a++)
		for (int w = 0; w < 2; w++)
			if (ir_in(load, 1 + a) == argument(n, w, 0)) at[w] = a;
}

static bool look_at_load(Nest *n, Op *op)
{
	const Val *view = ir_in(op, 0), *v = op->out[0];
	const IrAttr *steps = ir_attr(op, AT_STEPS);
	int at[2] = { -1, -1 };
	if (ir_int(op, AT_ORDER, 0) || ir_attr(op, AT_OFFSETS) || !steps || !is_tile_of(v)) return false;
	if (v->type->rank != view->type->rank || !stands_outside(n, view)) return false;
	find_axes(n, op, at);
	if (v->type->rank != n->rank || moves(n, ir_in(op, op->nin - 1))) return false;
	for (int w = 0; w < 2; w++)
		if (at[w] < 0 || n->axis[w] != at[w] || steps->u.ints.p[at[w]] != n->tile[w]) return false;
	for (int a = 0; a < view->type->rank; a++)
		if (a != at[OUTER] && a != at[INNER] && moves(n, ir_in(op, 1 + a))) return false;
	vec_push(A_TMP, &n->loads, op);
	return is_whole(n, v) && fits_view(n, view);
}

/* What elements outside the tensors are. */
static bool outside(const Nest *n, const Val *v, Num *r)
{
	const Op *op = v->def;
	Num in[3];
	if (ir_const_value(v, r)) return true;
	if (!op) return false;
	if (op->code == OP_LOAD) return moves(n, v) && ir_const_value(ir_in(op, op->nin - 1), r);
	if (op->code == OP_BROADCAST) return outside(n, ir_in(op, 0), r);
	if (!op_has(op, OPF_ELEMWISE) || op->nin > (int)(sizeof in / sizeof *in) || !fold_is_exact(op->code)) return false;
	for (int i = 0; i < op->nin; i++)
		if (!outside(n, ir_in(op, i), &in[i])) return false;
	Elem e = ir_in(op, 0)->type->elem;
	if (op->code != OP_CAST) return fold_op(op->code, fold_modes(op), e, v->type->elem, op->nin, in, r);
	*r = fold_cast(in[0], e, v->type->elem, fold_modes(op));
	return true;
}

static bool changes_nothing(const Op *reduce, Num x)
{
	Elem e = ir_in(reduce, 0)->type->elem;
	if (reduce->code == OP_SUM && elem_is_any_float(e)) return x.f == 0;
	return num_same(e, x, monoid_identity(reduce->code, e, true));
}

/* A reduction of what is whole, or of what is reduced so along another axis. */
static bool look_at_reduction(const Nest *n, const Op *op)
{
	const Val *x = ir_in(op, 0);
	const Op *before = x->def && op_is_reduce(x->def) ? x->def : NULL;
	Num pad;
	if (op->nout != 1 || monoid_combine(op->code) == OP_COUNT) return false;
	if (ir_int(op, AT_ROUNDING, 0) || ir_int(op, AT_SUBNORMALS, 0)) return false;
	if (before) return before->code == op->code && ir_int(before, AT_NAN, 0) == ir_int(op, AT_NAN, 0);
	return is_whole(n, x) && outside(n, x, &pad) && changes_nothing(op, pad);
}

static bool keeps_elements(const Op *op)
{
	return op->code == OP_RESHAPE || op->code == OP_TO_SCALAR || op->code == OP_BROADCAST;
}

/* What is made of results of reductions: they are only given another shape, and combined with what is carried. */
static bool is_reduced(const Nest *n, const Val *v)
{
	return !is_wide(n, v) && v->def && (op_is_reduce(v->def) || keeps_elements(v->def));
}

static bool look_at_op(Nest *n, Op *op)
{
	bool any = false, counts = false;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		any |= moves(n, v);
		counts |= v == argument(n, OUTER, 0) || v == argument(n, INNER, 0);
	}
	if (op->nregion || op->nout != 1) return false;
	bool wide = is_wide(n, op->out[0]);
	if (op->code == OP_LOAD && any) return n->moves[op->out[0]->id] = look_at_load(n, op);
	if (op->code == OP_LOAD) return !ir_int(op, AT_ORDER, 0) && !wide;
	if (!op_is_pure(op) || counts) return false;
	if (!any) return !wide || op->code == OP_CONST || (op->code == OP_BROADCAST && !is_wide(n, ir_in(op, 0)));
	n->moves[op->out[0]->id] = true;
	if (op_is_reduce(op)) return look_at_reduction(n, op);
	if (is_reduced(n, ir_in(op, 0)) && keeps_elements(op)) return !wide;
	return op_has(op, OPF_ELEMWISE) && (is_whole(n, op->out[0]) || !wide);
}

/* Before changes of shape: the reduction whose result is combined. */
static const Op *reduction_of(const Val *v)
{
	while (v->def && keeps_elements(v->def)) v = ir_in(v->def, 0);
	return v->def && op_is_reduce(v->def) ? v->def : NULL;
}

static bool starts_with_number(const Nest *n, int k)
{
	const Val *v = ir_in(n->loop[OUTER], 3 + k);
	Num x;
	while (v->def && v->def->code == OP_BROADCAST) v = ir_in(v->def, 0);
	return ir_const_value(v, &x) && x.f == x.f;
}

/* Carried value k: combined with a reduction of all elements by the reduction's operation. */
static bool is_combined(const Nest *n, int k)
{
	const Val *from = argument(n, INNER, 1 + k), *v = ir_in(n->loop[INNER]->region[0]->last, k);
	const Op *op = v->def;
	Elem e = v->type->elem;
	if (!op || op->nin != 2 || monoid_reduction(op->code) == OP_COUNT || n->uses[from->id] != 1) return false;
	if (ir_int(op, AT_ROUNDING, 0) || ir_int(op, AT_SUBNORMALS, 0)) return false;
	bool second = ir_in(op, 1) == from, rounds = op->code == OP_ADD || op->code == OP_MUL;
	const Op *reduce = reduction_of(ir_in(op, !second));
	if (ir_in(op, second) != from || !reduce || monoid_combine(reduce->code) != op->code) return false;
	if (ir_int(reduce, AT_NAN, 0) != ir_int(op, AT_NAN, 0) || is_wide(n, reduce->out[0])) return false;
	if (rounds) return !elem_is_any_float(e) || elem_bytes(e) >= 4;
	return !elem_is_any_float(e) || ir_int(op, AT_NAN, 0) || starts_with_number(n, k);
}

/* Is what depends on the tile's place used by what may be, alone? */
static bool look_inside(Nest *n)
{
	const IrBlock *body = n->loop[INNER]->region[0];
	int combined = 0, reduced = 0;
	for (int w = 0; w < 2; w++) n->moves[argument(n, w, 0)->id] = true;
	for (Op *op = body->first; op != body->last; op = op->next) {
		int at[2] = { -1, -1 };
		if (op->code == OP_LOAD) find_axes(n, op, at);
		if (at[OUTER] < 0 || at[INNER] < 0) continue;
		for (int w = 0; w < 2; w++) n->axis[w] = at[w];
		n->rank = ir_in(op, 0)->type->rank;
	}
	if (n->axis[OUTER] < 0 || n->tile[INNER] < 2) return false;
	for (Op *op = body->first; op != body->last; op = op->next)
		if (!look_at_op(n, op)) return false;
	for (int k = 0; k < n->loop[INNER]->nout; k++) {
		if (!is_combined(n, k)) return false;
		combined++;
	}
	for (Op *op = body->first; op != body->last; op = op->next) {
		bool carries = false, takes = false;
		for (int i = 0; i < op->nin; i++) {
			const Val *v = ir_in(op, i);
			carries |= !v->def && v->block == body && v != body->args.p[0];
			takes |= moves(n, v) && is_reduced(n, v);
		}
		if (takes && !carries && !keeps_elements(op) && !op_is_reduce(op)) return false;
		reduced += carries;
	}
	return n->loads.n && reduced == combined;
}

/* ---- as one loop ---- */
static Val *known(Builder *b, const Sym *s) { return ir_launch(b, EL_I64, s); }

/* Extents and strides of the view with one row a plane. */
static void one_row(const Nest *n, const Val *view, const Sym **extent, const Sym **stride)
{
	const Sym *all = sym_mul(n->length[OUTER], n->length[INNER]);
	for (int a = 0; a < view->type->rank; a++) {
		extent[a] = valsym_extent(n->syms, view, a);
		stride[a] = valsym_stride(n->syms, view, a);
	}
	extent[n->axis[OUTER]] = sym_const(1);
	extent[n->axis[INNER]] = all;
	stride[n->axis[OUTER]] = sym_mul(all, stride[n->axis[INNER]]);
}

static Val *view_of_one_row(const Nest *n, Builder *b, Val *view)
{
	const Sym *extent[TENSOR_RANK], *stride[TENSOR_RANK];
	int rank = view->type->rank;
	Val *in[2 + 2 * TENSOR_RANK] = { view, known(b, sym_const(0)) };
	one_row(n, view, extent, stride);
	for (int a = 0; a < rank; a++) in[2 + a] = known(b, extent[a]), in[2 + rank + a] = known(b, stride[a]);
	return ir_op1(b, OP_VIEW, view->type, 2 + 2 * rank, in);
}

/* A parameter that nothing else accesses has such rows itself: what asks for lengths of rows sees them. */
static bool becomes_one_row(const Nest *n, const Val *view, int load)
{
	int all = 0, before = 0;
	for (int i = 0; i < n->loads.n; i++) {
		bool same = ir_in(n->loads.p[i], 0) == view;
		all += same;
		before += same && i < load;
	}
	if (view->def || view->block != n->fn->body || n->uses[view->id] != all) return false;
	IrParam *p = &n->fn->params.p[view->index];
	if (!before) one_row(n, view, p->extent, p->stride);
	return true;
}

static void lengthen(const Nest *n, Val *v, int log2)
{
	uint8_t to[TILE_RANK] = { 0 };
	if (!is_wide(n, v)) return;
	for (int a = 0; a < v->type->rank; a++) to[a] = v->type->log2[a];
	to[n->axis[INNER]] = (uint8_t)(along(n, v, INNER) ? log2 : 0);
	to[n->axis[OUTER]] = 0;
	v->type = type_with_shape(v->type, v->type->rank, to);
}

static void rewrite(Nest *n)
{
	Op *outer = n->loop[OUTER], *inner = n->loop[INNER];
	IrBlock *body = inner->region[0];
	int log2 = log2_of((int)n->tile[OUTER]) + log2_of((int)n->tile[INNER]);
	const Type *wide = type_scalar(EL_I64);
	if (log2 > COST_COLLAPSED) log2 = COST_COLLAPSED;
	for (Op *op = outer->region[0]->first, *next; op != inner; op = next) {
		next = op->next;
		ir_move_before(op, outer);
	}
	ir_move_before(inner, outer);
	Builder b = build_before(inner);
	Val *zero = ir_const_int(&b, wide, 0);
	const Sym *all = sym_mul(n->length[OUTER], n->length[INNER]);
	inner->in[0] = zero;
	inner->in[1] = known(&b, sym_cdiv(all, sym_const((int64_t)1 << log2)));
	inner->in[2] = ir_const_int(&b, wide, 1);
	body->args.p[0]->type = wide;
	for (int k = 0; k < inner->nout; k++) {
		inner->in[3 + k] = ir_in(outer, 3 + k);
		ir_replace(outer->out[k], inner->out[k]);
	}
	for (int i = 0; i < n->loads.n; i++) {
		Op *load = n->loads.p[i];
		int64_t steps[TENSOR_RANK];
		const IrAttr *old = ir_attr(load, AT_STEPS);
		for (int a = 0; a < old->u.ints.n; a++) steps[a] = old->u.ints.p[a];
		steps[n->axis[OUTER]] = 1;
		steps[n->axis[INNER]] = (int64_t)1 << log2;
		if (!becomes_one_row(n, ir_in(load, 0), i)) load->in[0] = view_of_one_row(n, &b, ir_in(load, 0));
		load->in[1 + n->axis[OUTER]] = zero;
		ir_set_ints(load, AT_STEPS, old->u.ints.n, steps);
	}
	for (Op *op = body->first; op; op = op->next)
		for (int i = 0; i < op->nout; i++) lengthen(n, op->out[i], log2);
	ir_remove(outer);
}

/* ---- kernels ---- */
typedef struct Loops { VEC(Op *) p; } Loops;

static void note_loop(void *ctx, Op *op)
{
	if (op->code == OP_FOR) vec_push(A_TMP, &((Loops *)ctx)->p, op);
}

static bool collapse_one(Fn *fn)
{
	Loops loops = { { 0 } };
	ir_number(fn);
	ir_walk(fn->body, note_loop, &loops);
	ValSyms syms = valsyms_new(fn);
	const int *uses = ir_use_counts(fn, A_TMP);
	for (int i = loops.p.n - 1; i >= 0; i--) {      /* those inside first */
		Nest n = { .fn = fn, .syms = &syms, .uses = uses, .loop = { loops.p.p[i], NULL }, .axis = { -1, -1 } };
		n.loop[INNER] = only_loop(&n);
		if (!n.loop[INNER]) continue;
		n.moves = NEW_ARRAY(A_TMP, bool, fn->nval);
		if (!goes_through(&n, OUTER) || !goes_through(&n, INNER) || !look_inside(&n)) continue;
		rewrite(&n);
		return true;
	}
	return false;
}

void lower_collapse(Module *m)
{
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		ArenaMark mark = arena_mark(A_TMP);
		while (!fn->ordered && !fn->plan && !ir_hints_threads(fn) && collapse_one(fn)) continue;
		arena_release(A_TMP, mark);
	}
}
