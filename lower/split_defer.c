/* In a share of a loop's rounds: what each round reduces and then adds to what is carried, `s += sum(x, 0)`, is carried
 * as it was before, `t += x`, and reduced once after the loop. So threads do not wait for each other in each round. */
#include "base/diag.h"
#include "ir/monoid.h"
#include "lower/placed.h"
#include "lower/split.h"

enum {
	DEFER_LOG2 = 14,        /* of the elements of all that is carried so: 64 registers of each of 256 threads */
	STEPS = 8               /* from what is reduced to what is carried, at most */
};

/* One carried value: the loops that hand it on, the outermost first; what combines it in the
 * innermost; what is done before that. */
typedef struct Deferred {
	Op *loop[STEPS];
	int at[STEPS], nloop;   /* its number among the results of each */
	Op *combine;
	int operand;            /* of combine: what a round adds */
	Op *step[STEPS];        /* from combine back to x */
	int nstep;
	Val *x;
} Deferred;

static bool is_step(const Op *op, const Carried *c, const int *uses)
{
	if (uses[op->out[0]->id] != 1) return false;
	if (op->code == OP_RESHAPE || op->code == OP_TO_SCALAR) return true;
	return op->code == monoid_reduction(c->combine) && ir_int(op, AT_NAN, 0) == c->nan && !ir_int(op, AT_ROUNDING, 0)
		&& !ir_int(op, AT_SUBNORMALS, 0);
}

static bool find_deferred(Deferred *d, Op *loop, int k, const Carried *c, const int *uses)
{
	*d = (Deferred){ .nloop = 0 };
	for (;;) {
		const Val *from = loop->region[0]->args.p[k + 1];
		Op *last = ir_in(loop->region[0]->last, k)->def;
		if (d->nloop == STEPS || !last || uses[from->id] != 1) return false;
		d->loop[d->nloop] = loop;
		d->at[d->nloop++] = k;
		if (last->code != OP_FOR) {
			d->combine = last;
			d->operand = last->nin == 2 && ir_in(last, 0) == from;
			if (last->code != c->combine || ir_in(last, !d->operand) != from) return false;
			break;
		}
		k = ir_in(loop->region[0]->last, k)->index;
		if (ir_in(last, 3 + k) != from) return false;
		loop = last;
	}
	d->x = ir_in(d->combine, d->operand);
	while (d->nstep < STEPS && d->x->def && d->x->def->nin == 1 && is_step(d->x->def, c, uses)) {
		d->step[d->nstep++] = d->x->def;
		d->x = ir_in(d->x->def, 0);
	}
	return d->nstep > 0 && type_is_tile(d->x->type);
}

/* What the loop gave before, from what it carries now. */
static Val *carry_unreduced(Deferred *d, Val *none)
{
	const Type *t = d->x->type;
	Op *loop = d->loop[0];
	Val *result = loop->out[d->at[0]];
	loop->in[3 + d->at[0]] = none;
	d->combine->in[d->operand] = d->x;
	d->combine->out[0]->type = t;
	for (int i = 0; i < d->nloop; i++) {
		d->loop[i]->region[0]->args.p[d->at[i] + 1]->type = t;
		d->loop[i]->out[d->at[i]]->type = t;
	}
	Builder b = build_after(loop);
	Val *r = result;
	for (int i = d->nstep - 1; i >= 0; i--) {
		r = ir_unary(&b, d->step[i]->code, d->step[i]->out[0]->type, r);
		copy_attrs(r->def, d->step[i]);
	}
	return r;
}

void split_defer(Fn *fn, Op *loop, const SplitLoop *l, Val **result)
{
	int64_t room = (int64_t)1 << DEFER_LOG2;
	ir_number(fn);
	const int *uses = ir_use_counts(fn, A_TMP);
	for (int i = 0; i < l->carried.n; i++) {
		const Carried *c = &l->carried.p[i];
		bool is_key = false;
		Deferred d;
		for (int k = 0; k < l->carried.n; k++) is_key |= l->carried.p[k].key == i;
		result[i] = loop->out[i];
		if (is_key || c->key >= 0 || !find_deferred(&d, loop, i, c, uses)) continue;
		int64_t n = (int64_t)1 << type_log2_size(d.x->type);
		if (n > room) continue;
		room -= n;
		Builder before = build_before(loop);
		Num none = monoid_identity(monoid_reduction(c->combine), d.x->type->elem, c->nan);
		result[i] = carry_unreduced(&d, ir_const_num(&before, d.x->type, none));
	}
}
