/* Variants for tensors that are much shorter than the tiles that hold whole axes of them.
 *
 * A kernel that takes a small system, a matrix or a group of channels as one tile, `a.load([b, 0, 0], [1, 64, 64])`, is
 * written for extents of up to 64. Of 9 x 9 elements such a tile uses a fiftieth, and threads, registers and barriers
 * are those of the whole. Rows have as many warps and lanes as they need (by_warp.c), and tiles that only move and map
 * elements are divided (narrow.c); a tile of several axes that is reduced is neither. So such a kernel gets variants
 * before it: of a dimension that bounds axes one whose tiles have a sixteenth of the elements, `where n <= 16`, and one
 * of a quarter, `where n <= 32`; of two dimensions one in which the axes of both are a quarter as long, one in
 * which they are half as long, and one for each.
 *
 * Which axes these are follows from the operations: an elementwise one joins the axes of its operands and of its
 * result in a class, a permutation joins them in another order, a load or a store that begins at element 0 says which
 * dimension bounds a class. A class becomes shorter if nothing but loads, stores, numbers of elements (iota) and
 * elementwise operations see it, and reductions that miss nothing beyond the dimension: sums of what is 0 there, and
 * extremes of what is one number there, of which the shorter tile keeps an element (`n <= 15`). */
#include "base/cost.h"
#include "base/least.h"
#include "ir/fold.h"
#include "ir/ir_copy.h"
#include "ir/rules.h"
#include "lower/pins.h"
#include "lower/placed.h"

/* A class of axes: of, another axis of it, or this one if it is the first, which has the rest. dim: what bounds the
 * class, NULL: nothing yet; stays: it cannot be shorter. */
typedef struct Class { int of; const Sym *dim; bool stays; } Class;

/* What the elements of a value are that lie beyond the dimension along one axis, wherever they lie along others:
 * anything, one number, or the number of the element along that axis. */
typedef enum Kind { ANY, NUMBER, COUNTS } Kind;
typedef struct Beyond { Kind kind; Num n; } Beyond;

typedef struct Axes {
	Fn *fn;
	Class *of;              /* by Val id and axis, */
	Beyond *at;             /* and so this */
	bool fails;
} Axes;

static int node(const Val *v, int axis) { return v->id * TILE_RANK + axis; }

static int root_of(const Axes *x, int i)
{
	while (x->of[i].of != i) i = x->of[i].of = x->of[x->of[i].of].of;
	return i;
}

/* Does v have elements along axis a? Operands of lower rank have no such axis. */
static bool has_axis(const Val *v, int a)
{
	return type_is_tile(v->type) && a >= 0 && a < v->type->rank && v->type->log2[a];
}

static Class *class_of(const Axes *x, const Val *v, int a) { return &x->of[root_of(x, node(v, a))]; }

static void bound(Class *c, const Sym *dim)
{
	c->stays |= c->dim && dim && c->dim != dim;
	if (dim) c->dim = dim;
}

static void join(Axes *x, const Val *v, int a, const Val *w, int b)
{
	if (!has_axis(v, a) || !has_axis(w, b)) return;
	int from = root_of(x, node(w, b)), to = root_of(x, node(v, a));
	if (from == to) return;
	x->of[to].stays |= x->of[from].stays;
	bound(&x->of[to], x->of[from].dim);
	x->of[from].of = to;
}

static void join_all(Axes *x, const Val *v, const Val *w)
{
	if (!type_is_tile(v->type) || !type_is_tile(w->type)) return;
	for (int a = 0; a < v->type->rank; a++) join(x, v, a, w, a);
}

static void keep(Axes *x, const Val *v)
{
	for (int a = 0; type_is_tile(v->type) && a < v->type->rank; a++)
		if (has_axis(v, a)) class_of(x, v, a)->stays = true;
}

/* Where the tile begins with its tensor, the extent bounds it. */
static void follow_access(Axes *x, const Op *op)
{
	const Val *view = ir_in(op, 0), *v = ir_accessed(op);
	const IrAttr *offsets = ir_attr(op, AT_OFFSETS), *inside = ir_attr(op, AT_INSIDE);
	bool param = view->block == x->fn->body && !view->def;
	for (int a = 0; type_is_tile(v->type) && a < v->type->rank; a++) {
		Num n;
		if (!has_axis(v, a)) continue;
		bool begins = param && v->type->rank == view->type->rank && ir_const_value(ir_in(op, 1 + a), &n) && n.i == 0
			&& !(offsets && offsets->u.ints.p[a]) && !(inside && inside->u.ints.p[a]);
		const Sym *extent = begins ? x->fn->params.p[view->index].extent[a] : NULL;
		if (extent && !sym_is_const(extent, NULL) && sym_is_of_call(extent)) bound(class_of(x, v, a), extent);
		else class_of(x, v, a)->stays = true;
	}
}

static void follow_broadcast(Axes *x, const Val *from, const Val *to)
{
	if (!type_is_tile(from->type)) return;
	for (int a = 0; a < from->type->rank; a++) join(x, to, a + to->type->rank - from->type->rank, from, a);
}

/* The axis of a tile after its i-th one of several elements; its rank: none. */
static int next_axis(const Val *v, int a)
{
	while (a < v->type->rank && !v->type->log2[a]) a++;
	return a;
}

/* Axes of one element come and go; others stay what they are, or all are mixed. */
static void follow_reshape(Axes *x, const Val *from, const Val *to)
{
	int a = next_axis(from, 0), b = next_axis(to, 0);
	while (a < from->type->rank && b < to->type->rank && from->type->log2[a] == to->type->log2[b])
		a = next_axis(from, a + 1), b = next_axis(to, b + 1);
	if (a < from->type->rank || b < to->type->rank) {
		keep(x, from);
		keep(x, to);
		return;
	}
	for (a = next_axis(from, 0), b = next_axis(to, 0); a < from->type->rank; a = next_axis(from, a + 1)) {
		join(x, to, b, from, a);
		b = next_axis(to, b + 1);
	}
}

static void follow_permute(Axes *x, const Op *op)
{
	const int64_t *axes = ir_attr(op, AT_AXES)->u.ints.p;
	for (int a = 0; a < op->out[0]->type->rank; a++) join(x, op->out[0], a, ir_in(op, 0), (int)axes[a]);
}

static void follow_loop(Axes *x, const Op *op)
{
	for (int i = 3; i < op->nin; i++) {
		join_all(x, op->region[0]->args.p[i - 2], ir_in(op, i));
		join_all(x, op->out[i - 3], ir_in(op, i));
		join_all(x, op->out[i - 3], ir_in(op->region[0]->last, i - 3));
	}
}

static void follow_reduction(Axes *x, const Op *op)
{
	const Val *from = ir_in(op, 0), *to = op->out[0];
	bool known = op->code == OP_SUM || op->code == OP_REDUCE_MAX || op->code == OP_REDUCE_MIN;
	if (!known || op->nin > 1 || from->type->rank != to->type->rank) {
		for (int i = 0; i < op->nin; i++) keep(x, ir_in(op, i));
		for (int i = 0; i < op->nout; i++) keep(x, op->out[i]);
		return;
	}
	join_all(x, to, from);
}

static void follow(void *ctx, Op *op)
{
	Axes *x = ctx;
	x->fails |= op->nregion && op->code != OP_FOR;
	if (x->fails) return;
	switch (op->code) {
	case OP_CONST: case OP_YIELD: return;
	case OP_IOTA:
		if (!type_is_row(op->out[0]->type)) keep(x, op->out[0]);
		return;
	case OP_LOAD: case OP_STORE: follow_access(x, op); return;
	case OP_BROADCAST: follow_broadcast(x, ir_in(op, 0), op->out[0]); return;
	case OP_RESHAPE: follow_reshape(x, ir_in(op, 0), op->out[0]); return;
	case OP_PERMUTE: follow_permute(x, op); return;
	case OP_FOR: follow_loop(x, op); return;
	default: break;
	}
	if (op_is_reduce(op)) {
		follow_reduction(x, op);
	} else if (op_has(op, OPF_ELEMWISE) && op->nout == 1 && op->code != OP_HINT) {
		for (int i = 0; i < op->nin; i++) join_all(x, op->out[0], ir_in(op, i));
	} else {
		for (int i = 0; i < op->nin; i++) keep(x, ir_in(op, i));
		for (int i = 0; i < op->nout; i++) keep(x, op->out[i]);
	}
}

/* ---- what lies beyond the dimension ---- */
static Beyond beyond(const Axes *x, const Val *v, int a)
{
	Beyond r = { .kind = NUMBER };
	if (ir_const_value(v, &r.n)) return r;
	return has_axis(v, a) ? x->at[node(v, a)] : (Beyond){ .kind = ANY };
}

static bool is_number(Elem e, Beyond b, int n)
{
	return b.kind == NUMBER && (elem_is_any_float(e) ? b.n.f == n : b.n.i == n);
}

/* Is v a number of the call, in every element? */
static bool is_dim(const Val *v, const Sym *dim)
{
	while (v->def && op_has(v->def, OPF_FREE)) v = ir_in(v->def, 0);
	return dim && launched_sym(v) == dim;
}

/* An element's number, which is the dimension or more, compared with the dimension. */
static bool of_compare(const Axes *x, const Op *op, int a, Beyond *r)
{
	if (op->nin != 2) return false;
	bool first = beyond(x, ir_in(op, 0), a).kind == COUNTS;
	if (!first && beyond(x, ir_in(op, 1), a).kind != COUNTS) return false;
	bool below = op->code == (first ? OP_LT : OP_GT), from = op->code == (first ? OP_GE : OP_LE);
	if ((!below && !from) || !is_dim(ir_in(op, first), class_of(x, op->out[0], a)->dim)) return false;
	*r = (Beyond){ NUMBER, num_int(from) };
	return true;
}

static Beyond of_elementwise(const Axes *x, const Op *op, int a)
{
	Beyond in[3], r = { .kind = ANY };
	Num n[3];
	bool numbers = true;
	if (op->nin > 3) return r;
	for (int i = 0; i < op->nin; i++) {
		in[i] = beyond(x, ir_in(op, i), a);
		n[i] = in[i].n;
		numbers &= in[i].kind == NUMBER;
	}
	Elem e = ir_in(op, op->code == OP_SELECT)->type->elem, to = op->out[0]->type->elem;
	switch (op->code) {
	case OP_SELECT:
		if (in[0].kind == NUMBER) return in[num_is_true(EL_BOOL, in[0].n) ? 1 : 2];
		if (in[1].kind == NUMBER && in[2].kind == NUMBER && num_same(to, in[1].n, in[2].n)) return in[1];
		break;
	case OP_AND:
		if (is_number(e, in[0], 0) || is_number(e, in[1], 0)) return (Beyond){ NUMBER, num_zero(to) };
		break;
	case OP_CAST:
		if (in[0].kind == COUNTS && rule_keeps(op)) return in[0];
		break;
	default:
		if (of_compare(x, op, a, &r)) return r;
	}
	bool known = numbers && fold_is_exact(op->code) && fold_op(op->code, fold_modes(op), e, to, op->nin, n, &r.n);
	if (known) r.kind = NUMBER;
	return r;
}

/* Of other axes' elements beyond the dimension. */
static Beyond of_reduction(const Axes *x, const Op *op, int a)
{
	Beyond in = beyond(x, ir_in(op, 0), a);
	bool same = op->code == OP_SUM ? is_number(op->out[0]->type->elem, in, 0) : op->code == OP_REDUCE_MAX
		|| op->code == OP_REDUCE_MIN;
	return in.kind == NUMBER && same ? in : (Beyond){ .kind = ANY };
}

/* Of an operation that gives the elements of its operand other places. */
static Beyond of_moved(const Axes *x, const Op *op, int a)
{
	const Val *from = ir_in(op, 0), *to = op->out[0];
	int at = next_axis(from, 0);
	if (op->code == OP_PERMUTE) return beyond(x, from, (int)ir_attr(op, AT_AXES)->u.ints.p[a]);
	if (op->code == OP_BROADCAST) return beyond(x, from, a - (to->type->rank - from->type->rank));
	for (int i = next_axis(to, 0); i < a; i = next_axis(to, i + 1)) at = next_axis(from, at + 1);
	return beyond(x, from, at);
}

static void look_beyond(void *ctx, Op *op)
{
	Axes *x = ctx;
	if (op->nout != 1 || op->code == OP_FOR || !type_is_tile(op->out[0]->type)) return;
	for (int a = 0; a < op->out[0]->type->rank; a++) {
		Beyond r = { .kind = ANY };
		if (!has_axis(op->out[0], a)) continue;
		if (op->code == OP_LOAD) r = beyond(x, ir_in(op, op->nin - 1), a);
		else if (op->code == OP_IOTA) r.kind = COUNTS;
		else if (op->code == OP_BROADCAST || op->code == OP_RESHAPE || op->code == OP_PERMUTE) r = of_moved(x, op, a);
		else if (op_is_reduce(op)) r = of_reduction(x, op, a);
		else if (op_has(op, OPF_ELEMWISE)) r = of_elementwise(x, op, a);
		x->at[node(op->out[0], a)] = r;
	}
}

static Axes axes_of(Fn *fn)
{
	ir_number(fn);
	int n = fn->nval * TILE_RANK;
	Axes x = { .fn = fn, .of = NEW_ARRAY(A_TMP, Class, n), .at = NEW_ARRAY(A_TMP, Beyond, n) };
	for (int i = 0; i < n; i++) x.of[i].of = i;
	ir_walk(fn->body, follow, &x);
	if (!x.fails) ir_walk(fn->body, look_beyond, &x);
	return x;
}

/* ---- which dimensions ---- */
/* log2: of the shortest tile's extent along axes that the dimension bounds; axes: most of one tile; worth: a tile of
 * several axes has one; pad: extremes want one element beyond it. */
typedef struct Found { const Axes *x; const Sym *dim; int log2, axes; bool worth, stays, pad; } Found;

/* Does a reduction along an axis miss nothing beyond the dimension? */
static bool misses_nothing(Found *f, const Op *op)
{
	const Val *v = ir_in(op, 0);
	Beyond in = beyond(f->x, v, ir_axis(op));
	if (op->code == OP_SUM) return is_number(v->type->elem, in, 0);
	f->pad = true;
	return in.kind == NUMBER;
}

static bool is_bounded(const Axes *x, const Val *v, int a, const Sym *dim)
{
	return has_axis(v, a) && class_of(x, v, a)->dim == dim;
}

static void find_axes(void *ctx, Op *op)
{
	Found *f = ctx;
	for (int i = 0; i < op->nout; i++) {
		const Type *t = op->out[i]->type;
		int n = 0;
		for (int a = 0; type_is_tile(t) && a < t->rank; a++) {
			if (!is_bounded(f->x, op->out[i], a, f->dim)) continue;
			f->stays |= class_of(f->x, op->out[i], a)->stays;
			f->log2 = imin(f->log2, t->log2[a]);
			n++;
		}
		f->axes = imax(f->axes, n);
		f->worth |= n && type_log2_size(t) >= COST_SHORT_TILE && !type_is_row(t);
	}
	if (op_is_reduce(op) && is_bounded(f->x, ir_in(op, 0), ir_axis(op), f->dim)) f->stays |= !misses_nothing(f, op);
}

/* Can the axes that a dimension bounds be shorter, and is that worth a variant? */
static bool look_at(Found *f)
{
	ir_walk(f->x->fn->body, find_axes, f);
	return !f->stays && f->worth;
}

/* The first dimensions of tensors for which that is so. */
static int find_dims(const Axes *x, Found *to)
{
	int n = 0;
	for (int i = 0; i < x->fn->params.n; i++)
		for (int a = 0; a < x->fn->params.p[i].rank && n < COST_SHORT_DIMS; a++) {
			Found f = { .x = x, .dim = x->fn->params.p[i].extent[a], .log2 = TILE_LOG2 };
			bool known = !f.dim;
			for (int k = 0; k < n; k++) known |= to[k].dim == f.dim;
			if (!known && look_at(&f)) to[n++] = f;
		}
	return n;
}

/* ---- the variants ---- */
/* How much shorter, log2, the axes of a dimension are so that a tile has 2^part times fewer elements. */
static int shorter_by(const Found *f, int part) { return imax(part / f->axes, 1); }

static bool long_enough(const Found *f, int part) { return f->log2 - shorter_by(f, part) >= COST_SHORT_AXIS; }

/* part: of each dimension; 0: its axes stay */
typedef struct Shorter { Axes x; const Found *of; const int *part; int n; } Shorter;

static int new_log2(const Shorter *s, const Val *v, int a)
{
	for (int i = 0; i < s->n; i++) {
		const Found *f = &s->of[i];
		if (s->part[i] && is_bounded(&s->x, v, a, f->dim)) return f->log2 - shorter_by(f, s->part[i]);
	}
	return v->type->log2[a];
}

static void shorten_value(const Shorter *s, Val *v)
{
	uint8_t log2[TILE_RANK];
	if (!type_is_tile(v->type)) return;
	for (int a = 0; a < v->type->rank; a++) log2[a] = (uint8_t)new_log2(s, v, a);
	v->type = type_with_shape(v->type, v->type->rank, log2);
}

static void shorten(void *ctx, Op *op)
{
	for (int i = 0; i < op->nout; i++) shorten_value(ctx, op->out[i]);
	for (int r = 0; r < op->nregion; r++)
		for (int i = 0; i < op->region[r]->args.n; i++) shorten_value(ctx, op->region[r]->args.p[i]);
}

static void ask_shorter(Fn *fn, const Found *f, int part)
{
	IrWhereVec where = { 0 };
	for (int i = 0; i < fn->where.n; i++) {
		const Sym *s = fn->where.p[i].cond;
		if (s->kind != SYM_LE || s->arg[0] != f->dim) vec_push(A_UNIT, &where, fn->where.p[i]);
	}
	fn->where = where;
	variant_asks(fn, sym_cmp(SYM_LE, f->dim, sym_const(((int64_t)1 << (f->log2 - shorter_by(f, part))) - f->pad)));
}

static void add_variant(Fn *fn, const Found *found, int n, const int *part, FnVec *to)
{
	Fn *few = copy_kernel(fn);
	few->name = to->n ? str_fmt("%s_short_axes_%d", fn->name, to->n) : str_fmt("%s_short_axes", fn->name);
	Shorter s = { axes_of(few), found, part, n };
	for (int i = 0; i < n; i++)
		if (part[i]) ask_shorter(few, &found[i], part[i]);
	ir_walk(few->body, shorten, &s);
	ir_number(few);
	vec_push(A_UNIT, to, few);
}

static void find_reduction(void *ctx, Op *op) { *(bool *)ctx |= op_is_reduce(op); }

/* What the i-th variant has of the k-th of n dimensions; log2, 0: all. The first has a sixteenth of the elements, the
 * others, a quarter; of two dimensions there are three ways to have that. */
static int part_of(int i, int k, int n)
{
	if (i == 0) return n == 1 ? 2 * COST_SHORT_BY : COST_SHORT_BY;
	if (i == 1) return COST_SHORT_BY / n;
	return i == 2 + k ? COST_SHORT_BY : 0;
}

void short_axes(Fn *fn, FnVec *to)
{
	ArenaMark mark = arena_mark(A_TMP);
	bool reduces = false;
	ir_walk(fn->body, find_reduction, &reduces);
	if (!reduces || fn->ordered) return;
	Axes x = axes_of(fn);
	Found found[COST_SHORT_DIMS];
	int n = x.fails ? 0 : find_dims(&x, found), part[COST_SHORT_DIMS];
	if (n && divide_into_rows(copy_kernel(fn))) n = 0;      /* asked of few kernels, for a copy stays */
	for (int i = 0; n && i < 2 * n; i++) {
		bool yes = true;
		for (int k = 0; k < n; k++) {
			part[k] = part_of(i, k, n);
			yes &= !part[k] || long_enough(&found[k], part[k]);
		}
		if (yes) add_variant(fn, found, n, part, to);
	}
	arena_release(A_TMP, mark);
}
