/* Which tiles get an array and which are computed where they are used. */
#include "emit_c/cg.h"

typedef struct Use { const Op *user; int count; const IrBlock *block; } Use;   /* user: the last one seen */
/* depth: of the expression that computes a value, in ops */
typedef struct Plan { Use *use; bool *stored; int *depth; } Plan;
/* an expression is printed by recursion, and C compilers read it so: the unrolled loop may have 10^5 ops */
enum { MAX_DEPTH = 256 };

/* Index arithmetic only: a sort decides by its elements. Those with a choice of source read arrays, so their operands
 * are stored. */
bool plan_is_map(const Op *op)
{
	bool moves = op_has(op, OPF_ALL | OPF_SOME) && op_rows[op->code].layout != LR_SCAN;
	return moves || op_has(op, OPF_PLACE | OPF_FREE);
}

static bool needs_array(const Op *op, int i)
{
	return op_is(op, OPT_ARRAYS | (i == 0 ? OPT_ARRAY_0 : i == 1 ? OPT_ARRAY_1 : 0));
}

static bool expands(const Op *op)
{
	return op->code == OP_BROADCAST && type_size(op->out[0]->type) > type_size(ir_in(op, 0)->type);
}

static void count_use(void *ctx, Op *op)
{
	Plan *p = ctx;
	for (int i = 0; i < op->nin; i++) {
		Val *v = ir_in(op, i);
		p->use[v->id].user = op;
		p->use[v->id].count++;
		if (type_is_tile(v->type) && needs_array(op, i)) p->stored[v->id] = true;
	}
}

/* Whether v may be computed inside its one consumer: same block, evaluated once per element. */
static bool fuses(const Plan *p, const Val *v)
{
	for (;;) {
		const Use *u = &p->use[v->id];
		if (u->count != 1 || u->user->parent != v->def->parent) return false;
		if (!plan_is_map(u->user)) return u->user->code != OP_WHILE && u->user->code != OP_FOR;
		if (expands(u->user) || u->user->nout != 1) return false;
		v = u->user->out[0];
		if (p->stored[v->id]) return true;
	}
}

static int depth_of(const Plan *p, const Op *op)
{
	int most = 0;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (type_is_tile(v->type) && !p->stored[v->id] && p->depth[v->id] > most) most = p->depth[v->id];
	}
	return most + 1;
}

static void decide(void *ctx, Op *op)
{
	Plan *p = ctx;
	for (int i = 0; i < op->nregion; i++)
		for (int k = 0; k < op->region[i]->args.n; k++)
			if (type_is_tile(op->region[i]->args.p[k]->type)) p->stored[op->region[i]->args.p[k]->id] = true;
	int depth = op->nout ? depth_of(p, op) : 0;     /* once: a loop has as many results as operands */
	for (int i = 0; i < op->nout; i++) {
		const Val *v = op->out[i];
		if (!type_is_tile(v->type) || p->stored[v->id]) continue;
		p->stored[v->id] = op_has(op, OPF_ELEMWISE) ? !fuses(p, v) : !plan_is_map(op);
		p->depth[v->id] = depth;
		if (p->depth[v->id] > MAX_DEPTH) p->stored[v->id] = true;
	}
}

bool *plan_stored(const Fn *fn)
{
	Plan p = { NEW_ARRAY(A_TMP, Use, fn->nval + 1), NEW_ARRAY(A_TMP, bool, fn->nval + 1),
		NEW_ARRAY(A_TMP, int, fn->nval + 1) };
	ir_walk(fn->body, count_use, &p);
	ir_walk(fn->body, decide, &p);
	return p.stored;
}
