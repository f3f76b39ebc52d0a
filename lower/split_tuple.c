/* Which carried values go together: each iteration combines them with values of its own by the function of a
 * reduction in the kernel,
 *
 *   let (a, b, c) = reduce((x, y, z), 0, (0, 0, 0), f);
 *   (n, m, q) = f(n, m, q, a, b, c);
 *
 * Whoever reduces by a function says that it is associative, and what its identity is (language.md). So iterations
 * may be combined in groups of neighbours, as the elements of a reduction are. The loop's operations are compared
 * with those of the function one by one; nothing is known of what it computes. */
#include <string.h>

#include "base/diag.h"
#include "ir/fold.h"
#include "ir/monoid.h"
#include "lower/placed.h"
#include "lower/split.h"

/* ---- functions whose calls may be regrouped ---- */
static bool is_known(const Val *v)
{
	Num n;
	return ir_const_value(v, &n);
}

/* Does the operation round to 16 bits? A loop's round does so, and a reader may count on it. */
static bool rounds_to_16(const Op *op)
{
	Elem e = op->out[0]->type->elem;
	bool only_picks = op->code == OP_SELECT || op->code == OP_MIN || op->code == OP_MAX;
	return elem_is_any_float(e) && elem_bytes(e) < 4 && !only_picks;
}

static bool may_regroup(const IrBlock *f, const Op *op)
{
	if (op->code == OP_CONST) return true;
	if (!op_has(op, OPF_ELEMWISE) || !op_is_pure(op) || op->nout != 1 || rounds_to_16(op)) return false;
	if (ir_int(op, AT_ROUNDING, 0) || ir_int(op, AT_SUBNORMALS, 0)) return false;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (v->block != f && (!v->def || v->def->parent != f) && !is_known(v)) return false;
	}
	return true;
}

/* Each result combines its own two arguments by an operation that has a reduction: better taken one by one. */
static bool is_plain(const IrBlock *f, int n)
{
	for (int k = 0; k < n; k++) {
		const Op *op = ir_in(f->last, k)->def;
		const Val *a = f->args.p[k], *b = f->args.p[n + k];
		if (!op || op->parent != f || op->nin != 2 || monoid_reduction(op->code) == OP_COUNT) return false;
		const Val *x = ir_in(op, 0), *y = ir_in(op, 1);
		if (!(x == a && y == b) && !(x == b && y == a)) return false;
	}
	return true;
}

static bool is_candidate(const Op *op)
{
	if (op->code != OP_REDUCE || op->nout > COST_SPLIT_TUPLE) return false;
	const IrBlock *f = op->region[0];
	for (int i = 0; i < op->nout; i++)
		if (!is_known(ir_in(op, op->nout + i))) return false;
	for (const Op *o = f->first; o != f->last; o = o->next)
		if (!may_regroup(f, o)) return false;
	if (f->last->code != OP_YIELD) return false;
	for (int k = 0; k < op->nout; k++) {
		const Val *v = ir_in(f->last, k);
		if (v->block != f && (!v->def || v->def->parent != f) && !is_known(v)) return false;
	}
	return !is_plain(f, op->nout);
}

typedef struct Candidates { VEC(const Op *) ops; } Candidates;

static void note_candidate(void *ctx, Op *op)
{
	Candidates *c = ctx;
	if (is_candidate(op)) vec_push(A_TMP, &c->ops, op);
}

/* ---- what depends on carried values ---- */
typedef struct Depends {
	const IrBlock *body;
	const bool *on;         /* by argument of the body */
	int nval;
	bool *seen;             /* by Val id: does not, or is being looked at */
} Depends;

static bool find_in(Depends *d, const Val *v);

static bool find_in_operands(Depends *d, const Op *op, int n)
{
	for (int i = 0; i < n; i++)
		if (find_in(d, ir_in(op, i))) return true;
	return false;
}

static bool find_in_op(Depends *d, const Op *op)
{
	if (find_in_operands(d, op, op->nin)) return true;
	for (int r = 0; r < op->nregion; r++)
		for (const Op *o = op->region[r]->first; o; o = o->next)
			if (find_in_op(d, o)) return true;
	return false;
}

static bool find_in(Depends *d, const Val *v)
{
	if (d->seen[v->id]) return false;
	d->seen[v->id] = true;
	if (v->block == d->body) return d->on[v->index];
	if (v->def) return find_in_op(d, v->def);
	const Op *owner = v->block->owner;
	if (!owner) return false;
	bool counter = owner->code == OP_FOR && v->index == 0;
	return counter ? find_in_operands(d, owner, 3) : find_in_op(d, owner);
}

static bool settled(Depends *d, bool found)             /* what was seen on the way to it does depend */
{
	if (found) memset(d->seen, 0, sizeof *d->seen * (size_t)d->nval);
	return found;
}

static bool depends(Depends *d, const Val *v) { return settled(d, find_in(d, v)); }
static bool operands_depend(Depends *d, const Op *op, int n) { return settled(d, find_in_operands(d, op, n)); }

static Depends depends_on(const Fn *fn, const Op *loop, const bool *on)
{
	return (Depends){ loop->region[0], on, fn->nval, NEW_ARRAY(A_TMP, bool, fn->nval) };
}

/* ---- a loop's operations beside those of a function ---- */
typedef struct Fold {
	const Op *reduce;
	const IrBlock *f;
	int n;
	Depends carried;        /* on what the loop carries */
	const Val **as;         /* by place in f: what stands for its arguments and results in the loop */
	int size;               /* of `as` */
	int steps;
	bool met;               /* some iteration combines */
	bool fed;               /* the reduction is of what the loop carries in the end */
} Fold;

static const Val *unshaped(const Val *v)
{
	while (v->def && (v->def->code == OP_RESHAPE || v->def->code == OP_TO_SCALAR || v->def->code == OP_BROADCAST))
		v = ir_in(v->def, 0);
	return v;
}

/* Values are numbered in program order. */
static int place_in(const IrBlock *f, const Val *v) { return v->id - f->args.p[0]->id; }

static int places_in(const IrBlock *f)
{
	const Op *last = f->last->prev;
	return last ? place_in(f, last->out[0]) + 1 : f->args.n;
}

static bool same_number(const Val *v, const Val *s)
{
	Num a, b;
	return ir_const_value(v, &a) && ir_const_value(s, &b) && num_same(s->type->elem, a, b);
}

static bool matches(Fold *x, const Val *v, const Val *s);

static bool match_operands(Fold *x, const Op *op, const Op *of, bool swapped)
{
	for (int i = 0; i < op->nin; i++)
		if (!matches(x, ir_in(op, swapped ? op->nin - 1 - i : i), ir_in(of, i))) return false;
	return true;
}

static bool match_op(Fold *x, const Op *op, const Op *of)
{
	if (!op || op->code != of->code || op->nin != of->nin || !ir_same_attrs(op, of)) return false;
	const Val **kept = NEW_ARRAY(A_TMP, const Val *, x->size);
	memcpy(kept, x->as, sizeof *kept * (size_t)x->size);
	if (match_operands(x, op, of, false)) return true;
	memcpy(x->as, kept, sizeof *kept * (size_t)x->size);
	return op_has(op, OPF_COMM) && op->nin == 2 && match_operands(x, op, of, true);
}

/* Is v what s is in the function, if its arguments are what x->as says? */
static bool matches(Fold *x, const Val *v, const Val *s)
{
	if (v->type->elem != s->type->elem || x->steps-- <= 0) return false;
	if (is_known(s)) return same_number(v, s);
	const Val **as = &x->as[place_in(x->f, s)];
	if (*as) return *as == v;
	if (s->def && !match_op(x, v->def, s->def)) return false;
	*as = v;
	return true;
}

static bool folds(Fold *x, const Val *const *v, const Val *const *from);

static bool same_operands(const IrBlock *f, const Op *x, const IrBlock *g, const Op *y)
{
	for (int i = 0; i < x->nin; i++) {
		const Val *v = ir_in(x, i), *w = ir_in(y, i);
		if (is_known(v) ? !same_number(w, v) : is_known(w) || place_in(f, v) != place_in(g, w)) return false;
	}
	return true;
}

/* Do both compute the same, operation by operation? Those of f may be regrouped. */
static bool same_function(const IrBlock *f, const IrBlock *g)
{
	const Op *x = f->first, *y = g->first;
	if (f->args.n != g->args.n) return false;
	for (int i = 0; i < f->args.n; i++)
		if (f->args.p[i]->type != g->args.p[i]->type) return false;
	for (; x && y; x = x->next, y = y->next) {
		if (x->code != y->code || x->nin != y->nin || x->nout != y->nout || !ir_same_attrs(x, y)) return false;
		if ((x->nout && x->out[0]->type != y->out[0]->type) || !same_operands(f, x, g, y)) return false;
	}
	return !x && !y;
}

/* An identity is one of its function, for what its reduction is of and its results: is that what the iteration has?
 *
 * What a reduction takes of the whole loop, t = f(first, x1, ..., xn), has e as its identity, f(t, e) = t. Where f
 * commutes, a share that starts from e changes nothing, whatever the x are: f(f(first, .., xk), f(e, xk+1, ..)) =
 * f(t, e) = t. Else it is needed that e is the identity of f as the language asks (W1030): of maps that are projected
 * at the end, f(t, e) = t says nothing about those on the way. */
static bool has_identity(const Fold *x, const Val *own, int k)
{
	const Val *v = unshaped(own);
	const Op *op = v->def;
	if (x->fed) return true;
	if (!op || op->code != OP_REDUCE || op->nout != x->n || v->index != k) return false;
	if (op != x->reduce && !same_function(x->f, op->region[0])) return false;
	for (int i = 0; i < x->n; i++)
		if (!same_number(ir_in(op, x->n + i), ir_in(x->reduce, x->n + i))) return false;
	return true;
}

/* v = f(u, what the iteration has): is u made from `from`? */
static bool folds_call(Fold *x, const Val *const *v, const Val *const *from)
{
	const Val *u[COST_SPLIT_TUPLE];
	memset(x->as, 0, sizeof *x->as * (size_t)x->size);
	for (int k = 0; k < x->n; k++)
		if (!matches(x, v[k], ir_in(x->f->last, k))) return false;
	for (int k = 0; k < x->n; k++) {
		const Val *own = x->as[x->n + k];
		u[k] = x->as[k];
		if (!u[k] || u[k]->type != v[k]->type) return false;
		if (own && (depends(&x->carried, own) || !has_identity(x, own, k))) return false;
	}
	x->met = true;
	return folds(x, u, from);
}

/* v are results of one loop in the loop, or of one condition. */
static bool folds_region(Fold *x, const Op *op, const Val *const *v, const Val *const *from)
{
	const Val *end[2][COST_SPLIT_TUPLE], *first[COST_SPLIT_TUPLE], *arg[COST_SPLIT_TUPLE];
	bool loop = op->code == OP_FOR;
	if ((!loop && op->code != OP_IF) || operands_depend(&x->carried, op, loop ? 3 : 1)) return false;
	for (int r = 0; r < op->nregion; r++)
		for (int k = 0; k < x->n; k++)
			if (!(end[r][k] = split_yielded(op->region[r], v[k]->index))) return false;
	if (!loop) return op->nregion == 2 && folds(x, end[0], from) && folds(x, end[1], from);
	for (int k = 0; k < x->n; k++) {
		first[k] = ir_in(op, 3 + v[k]->index);
		arg[k] = op->region[0]->args.p[1 + v[k]->index];
	}
	return folds(x, end[0], arg) && folds(x, first, from);
}

static bool folds(Fold *x, const Val *const *v, const Val *const *from)
{
	const Op *op = v[0]->def;
	bool same = true, together = true;
	for (int k = 0; k < x->n; k++) {
		same &= v[k] == from[k];
		together &= v[k]->def == op;
	}
	if (same) return true;
	if (op && op->nregion && together && op->code != OP_REDUCE) return folds_region(x, op, v, from);
	return folds_call(x, v, from);
}

/* ---- tuples of carried values ---- */
typedef struct Assign { Fold fold; const Op *loop; const SplitLoop *l; CarriedTuple t; int tries; } Assign;

static bool assigned_folds(Assign *a)
{
	const Val *v[COST_SPLIT_TUPLE], *from[COST_SPLIT_TUPLE];
	const IrBlock *body = a->loop->region[0];
	for (int k = 0; k < a->t.n; k++) {
		v[k] = ir_in(body->last, a->t.at[k]);
		from[k] = body->args.p[1 + a->t.at[k]];
	}
	a->fold.steps = COST_SPLIT_MATCH;
	a->fold.met = false;
	a->fold.fed = true;
	for (int k = 0; k < a->t.n; k++) a->fold.fed &= unshaped(ir_in(a->fold.reduce, k)) == a->loop->out[a->t.at[k]];
	return folds(&a->fold, v, from) && a->fold.met;
}

/* Finds carried values for the results from k on. */
static bool assign(Assign *a, int k)
{
	if (k == a->t.n) return a->tries-- > 0 && assigned_folds(a);
	for (int i = 0; i < a->loop->nout; i++) {
		const Type *t = a->loop->out[i]->type;
		bool taken = a->l->carried.p[i].tuple >= 0;
		for (int j = 0; j < k; j++) taken |= a->t.at[j] == i || !type_same_shape(t, a->loop->out[a->t.at[j]]->type);
		if (taken || t->kind > TY_TILE || t->elem != a->fold.reduce->out[k]->type->elem) continue;
		a->t.at[k] = i;
		if (assign(a, k + 1)) return true;
	}
	return false;
}

static bool *flags(int n) { return NEW_ARRAY(A_TMP, bool, n + 1); }

/* Do other carried values ask for those of the tuple? */
static bool asks_for(const Fn *fn, const Op *loop, const CarriedTuple *t)
{
	bool *on = flags(loop->nout);
	for (int k = 0; k < t->n; k++) on[1 + t->at[k]] = true;
	Depends d = depends_on(fn, loop, on);
	for (int i = 0; i < loop->nout; i++)
		if (!on[1 + i] && depends(&d, ir_in(loop->region[0]->last, i))) return true;
	return false;
}

void split_find_tuples(const Fn *fn, const Op *loop, SplitLoop *l)
{
	Candidates c = { { 0 } };
	bool *all = flags(loop->nout);
	ir_walk(fn->body, note_candidate, &c);
	for (int i = 0; i < loop->nout; i++) all[1 + i] = true;
	for (int i = 0; i < c.ops.n; i++) {
		const Op *reduce = c.ops.p[i];
		int size = places_in(reduce->region[0]);
		Fold fold = { reduce, reduce->region[0], reduce->nout, depends_on(fn, loop, all),
			NEW_ARRAY(A_TMP, const Val *, size), size, 0, false, false };
		Assign a = { fold, loop, l, { reduce, reduce->nout, { 0 }, false, { 0 } }, COST_SPLIT_ASSIGNED };
		if (!assign(&a, 0) || asks_for(fn, loop, &a.t)) continue;
		for (int k = 0; k < a.t.n; k++) {
			l->carried.p[a.t.at[k]].tuple = l->tuples.n;
			l->carried.p[a.t.at[k]].part = k;
		}
		vec_push(A_TMP, &l->tuples, a.t);
	}
}

/* ---- calls of the function ---- */
Num split_identity(const CarriedTuple *t, int part)
{
	Num n;
	if (!ir_const_value(ir_in(t->reduce, t->n + part), &n)) bug("the identity of a function is not known");
	return n;
}

void split_call(Builder *b, const CarriedTuple *t, Val *const *args, Val **result)
{
	const IrBlock *f = t->reduce->region[0];
	const Type *shape = args[0]->type;
	Val **as = NEW_ARRAY(A_TMP, Val *, places_in(f));
	for (int i = 0; i < f->args.n; i++) as[i] = args[i];
	for (const Op *op = f->first; ; op = op->next) {
		Val *in[4];
		if (op->code == OP_CONST) continue;
		if (op->nin > 4 && op != f->last) bug("`%s` has too many operands", op_rows[op->code].name);
		for (int i = 0; i < op->nin; i++) {
			Val *v = ir_in(op, i), **to = op == f->last ? &result[i] : &in[i];
			Num n;
			*to = ir_const_value(v, &n) ? ir_const_num(b, type_with_elem(shape, v->type->elem), n)
				: as[place_in(f, v)];
		}
		if (op == f->last) return;
		Val *r = ir_op1(b, op->code, type_with_elem(shape, op->out[0]->type->elem), op->nin, in);
		copy_attrs(r->def, op);
		r->name = op->out[0]->name;
		as[place_in(f, op->out[0])] = r;
	}
}

void split_reduce(Builder *b, const CarriedTuple *t, int axis, Val *const *x, Val **result)
{
	const IrBlock *from = t->reduce->region[0];
	Val *in[2 * COST_SPLIT_TUPLE], *args[2 * COST_SPLIT_TUPLE], *ends[COST_SPLIT_TUPLE];
	const Type *type[COST_SPLIT_TUPLE];
	for (int k = 0; k < t->n; k++) {
		uint8_t log2[TILE_RANK];
		memcpy(log2, x[k]->type->log2, sizeof log2);
		log2[axis] = 0;
		in[k] = x[k];
		in[t->n + k] = ir_const_num(b, type_scalar(x[k]->type->elem), split_identity(t, k));
		type[k] = type_tile(x[k]->type->elem, x[k]->type->rank, log2);
	}
	Op *op = ir_op(b, OP_REDUCE, 2 * t->n, in, t->n, type);
	ir_set_int(op, AT_AXIS, axis);
	IrBlock *f = ir_region(op);
	for (int i = 0; i < 2 * t->n; i++) args[i] = ir_arg(f, from->args.p[i]->type, from->args.p[i]->name);
	Builder inside = { b->fn, f, NULL, b->span };
	split_call(&inside, t, args, ends);
	ir_op(&inside, OP_YIELD, t->n, ends, 0, NULL);
	for (int k = 0; k < t->n; k++) result[k] = op->out[k];
}
