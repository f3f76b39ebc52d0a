/* jam: loops that wait only for memory issue the loads of several iterations together (unroll and jam).
 *
 * A loop whose iterations load little keeps few bytes in flight. If no warp waits for another, and nothing that is
 * stored may be loaded, a loop with {jam = 2^n} issues the loads of 2^n iterations, or of those that are left,
 * before the first of them computes; the order of computation does not change. So have loops over a part of the
 * iterations, as the steps of a split loop do (split.c). Loops with a bounded number of iterations stay as they are.
 * Figures: bench/notes/loops.md.
 *
 * The loop is printed as two loops over its group of iterations (emit_cuda/jam.c), which nvcc unrolls: the emitted
 * code is as long for 16 iterations as for two. */
#include "base/diag.h"
#include "lower/placed.h"

/* ---- which loops ---- */
/* stores: it writes; written: it loads what somebody may write */
typedef struct Body {
	const Op *loop;
	bool *hoisted;
	int64_t bytes;
	int carried, ops;
	bool stores, written, fails;
} Body;

/* Is it known before anything of the iteration is computed? By Val id: made of the counter and of what is outside
 * alone. */
static bool is_hoisted(const Body *r, const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (!is_outside(v, r->loop) && !r->hoisted[v->id]) return false;
	}
	return true;
}

static int64_t thread_bytes(const Val *v)
{
	return type_is_tile(v->type) && v->lay ? (int64_t)elem_bytes(v->type->elem) << v->lay->in[HW_REG] : 0;
}

static void look_at(Body *r, const Op *op)
{
	r->ops++;
	r->fails |= op->nregion || op->nout > 1 || waits_for_threads(op) || one_thread_reads(op);
	r->fails |= op->code != OP_YIELD && op->code != OP_LOAD && op->code != OP_STORE && !op_has(op, OPF_PURE);
	r->stores |= op->code == OP_STORE;
	r->written |= op->code == OP_LOAD && !memory_is_constant(op->parent->fn, ir_in(op, 0));
	if (r->fails || !op->nout || !is_hoisted(r, op)) return;
	r->hoisted[op->out[0]->id] = jam_asks(op) || (op_has(op, OPF_PURE) && type_is_scalar(op->out[0]->type));
	if (jam_asks(op)) r->bytes += thread_bytes(op->out[0]);
}

/* Is a number of iterations bounded by a constant? So are those of slices: a thread's share of a tile is under way
 * in each, and what they load is kept for the next loop. */
static bool is_bounded(const Val *end)
{
	Num n;
	const Op *op = end->def;
	if (ir_const_value(end, &n)) return true;
	if (!op || (op->code != OP_CAST && op->code != OP_MIN)) return false;
	return is_bounded(ir_in(op, 0)) || (op->code == OP_MIN && is_bounded(ir_in(op, 1)));
}

/* log2 of how many iterations are to be one. */
static int iterations_of(const Fn *fn, const Op *loop)
{
	const IrBlock *body = loop->region[0];
	Num step;
	if (ir_attr(loop, AT_UNROLL) || ir_attr(loop, AT_UNROLL_ON) || is_bounded(ir_in(loop, 1))) return 0;
	if (!ir_const_value(ir_in(loop, 2), &step) || step.i < 1 || step.i > INT32_MAX >> COST_JAM_ROUNDS) return 0;
	Body r = { .loop = loop, .hoisted = NEW_ARRAY(A_TMP, bool, fn->nval) };
	r.hoisted[body->args.p[0]->id] = true;
	for (int i = 1; i < body->args.n; i++) r.carried += (int)(thread_bytes(body->args.p[i]) / 4);
	for (const Op *op = body->first; op && !r.fails; op = op->next) look_at(&r, op);
	if (r.fails || (r.stores && r.written) || !r.bytes || r.ops > COST_JAM_BODY) return 0;
	int n = 0, words = r.bytes <= COST_JAM_LITTLE ? COST_JAM_LITTLE_WORDS : COST_JAM_WORDS;
	while (n < COST_JAM_ROUNDS && r.bytes << n < 1 << COST_JAM_BYTES
		&& r.carried + (r.bytes << (n + 1)) / 4 <= words) n++;
	return n;
}

/* ---- the loop of several iterations ---- */

/* Before what is computed, in their order: what the loads need, and the loads. */
static void ask_first(const Fn *fn, Op *loop)
{
	Body r = { .loop = loop, .hoisted = NEW_ARRAY(A_TMP, bool, fn->nval) };
	Op *rest = NULL;
	r.hoisted[loop->region[0]->args.p[0]->id] = true;
	for (Op *op = loop->region[0]->first, *next; op; op = next) {
		next = op->next;
		look_at(&r, op);
		if (!op->nout || !r.hoisted[op->out[0]->id]) rest = rest ? rest : op;
		else if (rest) ir_move_before(op, rest);
	}
}

typedef VEC(Op *) Loops;

static void find_loop(void *ctx, Op *op)
{
	if (op->code == OP_FOR) vec_push(A_TMP, (Loops *)ctx, op);
}

static void several_fn(Fn *fn)
{
	Loops loops = { 0 };
	ir_walk(fn->body, find_loop, &loops);
	ir_number(fn);
	for (int i = 0; i < loops.n; i++) {
		int n = iterations_of(fn, loops.p[i]);
		if (!n) continue;
		ir_set_int(loops.p[i], AT_JAM, (int64_t)1 << n);
		ask_first(fn, loops.p[i]);
	}
}

void pass_jam(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) several_fn(m->fns.p[i]);
}
