/* Layouts of a kernel with chained products: accumulators have the one that wgmma gives them, which is also that
 * of a factor of 16-bit elements in registers; everything else has the one that follows from it, so that no
 * element leaves its thread but in reductions. */
#include "lower/chain.h"
#include "lower/pipeline.h"
#include "lower/spread.h"

static void spread_loop(Spread *s, const Op *op)
{
	const IrBlock *b = op->region[0];
	for (int i = 0; i < op->nout; i++)
		spread_same(s, (Val *[]){ ir_in(op, 3 + i), b->args.p[1 + i], ir_in(b->last, i), op->out[i] }, 4);
}

static void spread(Spread *s, const Op *op)
{
	if (op->code == OP_FOR) {
		spread_loop(s, op);
	} else if (op_is_reduce(op)) {
		if (ir_in(op, 0)->lay) spread_give(s, op->out[0], lay_of_reduced(op, *ir_in(op, 0)->lay));
	} else if (op->code != OP_PERMUTE) {    /* which only turns a factor in shared memory */
		spread_op(s, op);
	}
}

static void walk(Spread *s, const Chain *c, const IrBlock *b)
{
	for (const Op *op = b->last; op; op = op->prev) spread(s, op);
	for (const Op *op = b->first; op; op = op->next) {
		spread(s, op);
		if (op == c->loop) walk(s, c, op->region[0]);
	}
}

/* Are all tiles that registers hold laid out? */
static bool is_whole(const Chain *c, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		if (chain_load_of(c, op) || (op->code == OP_PERMUTE && type_is_tile(op->out[0]->type))) continue;
		for (int i = 0; i < op->nout; i++)
			if (type_is_tile(op->out[i]->type) && !op->out[i]->lay) return false;
		if (op == c->loop && !is_whole(c, op->region[0])) return false;
	}
	return true;
}

/* Values that are made of nothing in registers are made for each use anew: uses may want other layouts. */
static bool is_made_of_nothing(const Val *v)
{
	const Op *d = v->def;
	if (!d || !type_is_tile(v->type)) return false;
	return d->code == OP_CONST || d->code == OP_IOTA || (d->code == OP_BROADCAST && type_is_scalar(ir_in(d, 0)->type));
}

typedef struct Unshare { bool *seen; int n; } Unshare;

static void unshare(void *ctx, Op *op)
{
	Unshare *u = ctx;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (v->id >= u->n || !is_made_of_nothing(v)) continue;
		if (u->seen[v->id]) {
			Builder at = build_before(op);
			at.span = v->def->span;
			Op *copy = ir_op(&at, v->def->code, v->def->nin, v->def->in, 1, &v->type);
			copy_attrs(copy, v->def);
			op->in[i] = copy->out[0];
		}
		u->seen[v->id] = true;
	}
}

void chain_unshare(Fn *fn)
{
	ir_number(fn);
	Unshare u = { NEW_ARRAY(A_TMP, bool, fn->nval), fn->nval };
	ir_walk(fn->body, unshare, &u);
}

bool chain_layouts(const Chain *c)
{
	Spread s = { false, false };
	for (int i = 0; i < c->products; i++) {
		const ChainProduct *r = &c->product[i];
		spread_give(&s, r->op->out[0], pipe_sum_layout(r->op->out[0]->type));
		spread_give(&s, ir_in(r->op, 2), pipe_sum_layout(ir_in(r->op, 2)->type));
		if (r->level) spread_give(&s, ir_in(r->op, 0), pipe_sum_layout(ir_in(r->op, 0)->type));
	}
	do {
		s.changed = false;
		walk(&s, c, c->fn->body);
	} while (s.changed && !s.fails);
	return !s.fails && is_whole(c, c->fn->body);
}
