/* defer: what iterations reduce and combine with what the loop carries, `s += sum(x, 1)`, crosses threads once.
 *
 * In an iteration each thread combines what it holds of x, and carries that; lanes and warps combine after the loop. So
 * iterations need no shuffles and no barriers, and the loads of several of them can be under way together (jam). The
 * order in which elements are combined changes: of sums and products of f32 and f64 the language allows it
 * (language.md, Numbers), of what is exact it changes nothing. */
#include "base/diag.h"
#include "ir/fold.h"
#include "ir/monoid.h"
#include "lower/combine.h"

enum {
	STEPS = 8               /* from what is reduced to what is carried, and loops in each other, at most */
};

/* One carried value: the loops that hand it on, the outermost first; what combines it in the innermost, and the steps
 * by which the other operand is made, the first reduction last. */
typedef struct Deferred {
	Op *loop[STEPS];
	int at[STEPS], nloop;   /* its number among the results of each */
	Op *combine;
	int operand;            /* of combine: what an iteration adds */
	Op *step[STEPS];
	int nstep, first;       /* step[first .. nstep - 1] are reductions */
} Deferred;

typedef struct Loops { VEC(Op *) ops; } Loops;

/* How often values are used, by id; values that this pass makes are not among them. */
typedef struct Uses { const int *of; int n; } Uses;

static bool used_once(const Uses *uses, const Val *v) { return v->id < uses->n && uses->of[v->id] == 1; }

static void note_loop(void *ctx, Op *op)
{
	Loops *l = ctx;
	if (op->code == OP_FOR && op->region[0]->last->code == OP_YIELD) vec_push(A_TMP, &l->ops, op);
}

static bool has_modes(const Op *op) { return ir_int(op, AT_ROUNDING, 0) || ir_int(op, AT_SUBNORMALS, 0); }

/* Of sums of 16 bits each one rounds. */
static bool may_regroup(const Op *op)
{
	Elem e = op->out[0]->type->elem;
	bool rounds = op->code == OP_ADD || op->code == OP_MUL;
	if (rounds && elem_is_any_float(e) && elem_bytes(e) < 4) return false;
	return monoid_reduction(op->code) != OP_COUNT && !has_modes(op);
}

static bool reduces(const Op *op, const Op *combine)
{
	if (op->code != monoid_reduction(combine->code) || has_modes(op)) return false;
	if (ir_int(op, AT_NAN, 0) != ir_int(combine, AT_NAN, 0)) return false;
	const Val *x = ir_in(op, 0);
	return op->out[0]->type->rank == x->type->rank && lay_combines_simply(*x->lay, ir_axis(op));
}

static bool only_moves(const Op *op)
{
	return op->code == OP_RESHAPE || op->code == OP_TO_SCALAR || op->code == OP_CONVERT;
}

static bool find_steps(Deferred *d, const Uses *uses)
{
	int n = 0;
	const Val *x = ir_in(d->combine, d->operand);
	while (x->def && n < STEPS && used_once(uses, x)) {
		bool reduction = reduces(x->def, d->combine);
		if (!reduction && !only_moves(x->def)) break;
		d->step[n++] = x->def;
		if (reduction) d->nstep = n;
		x = ir_in(x->def, 0);
	}
	d->first = d->nstep;
	while (d->first > 0 && reduces(d->step[d->first - 1], d->combine)) d->first--;
	return d->nstep > 0;
}

/* Is result k of the loop such a value? Only the combination asks for what was carried so far. */
static bool find_deferred(Deferred *d, Op *loop, int k, const Uses *uses)
{
	*d = (Deferred){ .nloop = 0 };
	for (;;) {
		const IrBlock *body = loop->region[0];
		const Val *from = body->args.p[k + 1], *next = ir_in(body->last, k);
		Op *last = next->def;
		if (d->nloop == STEPS || body->last->code != OP_YIELD || !used_once(uses, from)) return false;
		if (!last || last->parent != body || !used_once(uses, next)) return false;
		d->loop[d->nloop] = loop;
		d->at[d->nloop++] = k;
		if (last->code != OP_FOR) {
			d->combine = last;
			d->operand = last->nin == 2 && ir_in(last, 0) == from;
			if (last->nin != 2 || !may_regroup(last) || ir_in(last, !d->operand) != from) return false;
			return find_steps(d, uses);
		}
		k = next->index;
		if (ir_in(last, 3 + k) != from) return false;
		loop = last;
	}
}

/* What each thread has combined of x. */
static Val *combined_by_threads(const Deferred *d)
{
	Builder b = build_before(d->combine);
	Val *x = ir_in(d->step[d->nstep - 1], 0);
	Parts p = { 1, { x }, *x->lay };
	for (int i = d->nstep - 1; i >= d->first; i--) combine_registers(&b, d->step[i], &p);
	return p.v[0];
}

static bool is_constant(const Val *v, Num n)
{
	Num have;
	if (v->def && v->def->code == OP_BROADCAST) return is_constant(ir_in(v->def, 0), n);
	return ir_const_value(v, &have) && num_same(v->type->elem, have, n);
}

/* What was carried, from what threads carry now and what the loop began with. */
static Val *combined_by_all(const Deferred *d, Val *all, Val *begin, Num none)
{
	Builder b = build_after(d->loop[0]);
	Val *in[2];
	for (int i = d->nstep - 1; i >= 0; i--) {
		const Op *step = d->step[i];
		bool partly = i > d->first;     /* other axes still have more than one element */
		const Type *t = partly ? reduced_type(all->type, ir_axis(step), 0) : step->out[0]->type;
		const Val *x = all;
		all = ir_unary(&b, step->code, t, all);
		copy_attrs(all->def, step);
		if (type_is_tile(t)) ir_set_layout(all, partly ? lay_drop(*x->lay, ir_axis(step)) : *step->out[0]->lay);
	}
	if (is_constant(begin, none)) return all;
	in[!d->operand] = begin;
	in[d->operand] = all;
	Val *r = ir_op1(&b, d->combine->code, begin->type, 2, in);
	copy_attrs(r->def, d->combine);
	if (d->combine->out[0]->lay) ir_set_layout(r, *d->combine->out[0]->lay);
	return r;
}

static void set_type(Val *v, const Val *as)
{
	v->type = as->type;
	ir_set_layout(v, *as->lay);
}

static void carry_by_threads(const Deferred *d, Val *part)
{
	Op *loop = d->loop[0];
	int k = d->at[0];
	Val *was = loop->out[k], *begin = ir_in(loop, 3 + k), *out = ir_retype(loop, k, part->type);
	Builder before = build_before(loop);
	OpCode reduction = monoid_reduction(d->combine->code);
	Num none = monoid_identity(reduction, part->type->elem, ir_int(d->combine, AT_NAN, 0));
	set_type(out, part);
	ir_replace(was, combined_by_all(d, out, begin, none));
	loop->in[3 + k] = ir_const_num(&before, part->type, none);
	set_type(loop->in[3 + k], part);
	for (int i = 0; i < d->nloop; i++) {
		set_type(d->loop[i]->region[0]->args.p[d->at[i] + 1], part);
		if (i > 0) set_type(d->loop[i]->out[d->at[i]], part);
	}
	d->combine->in[d->operand] = part;
	set_type(d->combine->out[0], part);
	for (int i = 0; i < d->nstep; i++) ir_remove(d->step[i]);
}

/* A thread's registers for what it carries. */
static int registers(const Deferred *d)
{
	uint32_t v[LAY_BITS];
	Lay l = *ir_in(d->step[d->nstep - 1], 0)->lay;
	for (int i = d->nstep - 1, n; i >= d->first; i--) l = lay_reduced(l, ir_axis(d->step[i]), 1, &n, v);
	return 1 << l.in[HW_REG];
}

static void defer(Fn *fn)
{
	int room = COST_DEFER_REGS;
	Loops loops = { { 0 } };
	ir_walk(fn->body, note_loop, &loops);
	if (fn->ordered || !loops.ops.n) return;
	ir_number(fn);
	const Uses uses = { ir_use_counts(fn, A_TMP), fn->nval };
	for (int i = 0; i < loops.ops.n; i++)
		for (int k = 0; k < loops.ops.p[i]->nout; k++) {
			Deferred d;
			if (!find_deferred(&d, loops.ops.p[i], k, &uses)) continue;
			int taken = registers(&d);
			if (taken > room) continue;
			room -= taken;
			carry_by_threads(&d, combined_by_threads(&d));
		}
}

void pass_defer(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) defer(m->fns.p[i]);
}
