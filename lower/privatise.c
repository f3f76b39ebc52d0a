/* privatise: a version for kernels whose atomics go to few places.
 *
 * Additions of all tile blocks to one place of memory follow each other in the L2 cache: counts of 64 M values in 213
 * places take two hundred times as long as reading them. Where a call's tensor of sums fits shared memory, thread
 * blocks may have a copy each, to which their tile blocks add, and which each adds to the tensor once (publish). So a
 * thread block does many tile blocks, in a loop, and no more of them are started than run at once. What shared memory
 * has no instruction for is compared and swapped, by one lane after another where several go to one place: lanes
 * combine such updates first (update_swaps), and threads have copies of the sums where there is room.
 *
 * Nobody can observe the difference: the updates are relaxed, commute, and give no old value; the kernel accesses the
 * tensor in no other way; and a kernel's order of updates is its own until it ends. Kernels with control flow are
 * excluded, because another tile block may wait for one of the updates; so are those with ordered accesses, which
 * publish earlier updates. Pointers lead to no tensor (docs/language.md). */
#include "base/cost.h"
#include "base/machine.h"
#include "lower/placed.h"
#include "lower/steps.h"
#include "placed/access.h"

/* Of one tensor, sums: all of its updates. */
typedef struct Private {
	Fn *fn;
	Val *tensor;
	const Sym *extent;      /* its elements */
	int64_t rmw;            /* how they combine */
	int64_t updates, work;  /* of a tile block; the elements of its largest tile */
	bool suits;
} Private;

/* Shared memory has their updates, and another order rounds no coarser than f32. */
static bool has_updates(Elem e)
{
	return e == EL_I32 || e == EL_U32 || e == EL_I64 || e == EL_U64 || e == EL_F32 || e == EL_F64;
}

/* An update that may be made in another order, by a thread block's threads alone. */
static bool is_update(const Op *op, const int *uses)
{
	const Type *view = ir_in(op, 0)->type;
	bool named = ir_attr(op, AT_SCOPE) || ir_attr(op, AT_STEPS) || ir_int(op, AT_APART, 0);
	return op->code == OP_ATOMIC_RMW && !named && !ir_int(op, AT_ORDER, 0) && update_combine(op) != OP_COUNT
		&& has_updates(view->elem) && (!op->nout || !uses[op->out[0]->id]);
}

static void look_at_use(Private *p, const Op *op, const int *uses)
{
	const Val *data = op->nin > 1 + p->tensor->type->rank ? ir_in(op, 1 + p->tensor->type->rank) : NULL;
	bool first = !p->updates;
	for (int i = 1; i < op->nin; i++) p->suits &= ir_in(op, i) != p->tensor;
	if (!op->nin || ir_in(op, 0) != p->tensor) return;
	p->suits &= is_update(op, uses) && (first || ir_int(op, AT_RMW, 0) == p->rmw);
	if (!p->suits) return;
	p->rmw = ir_int(op, AT_RMW, 0);
	p->updates += type_is_tile(data->type) ? type_size(data->type) : 1;
}

/* May somebody see what is updated before the kernel ends? */
static bool is_seen(const Op *op)
{
	int64_t order = ir_int(op, AT_ORDER, 0);
	bool flow = op->nregion && !op_is_reduce(op) && !op_is_scan(op);
	return flow || (order && order != attr_word(AT_ORDER, str_intern("weak")));
}

/* Finds the tensor of one axis that all atomic operations of the kernel update. A kernel that updates several tensors
 * gets no version of its own: updates of the others would stay in memory, and the version's many warps leave each
 * thread fewer registers in which to combine neighbouring elements first. */
static bool find_tensor(Private *p)
{
	const int *uses = ir_use_counts(p->fn, A_TMP);
	Val *updated = NULL;
	for (const Op *op = p->fn->body->first; op; op = op->next) {
		if (is_seen(op)) return false;
		if (!op_has(op, OPF_ATOMIC)) continue;
		if (updated && updated != ir_in(op, 0)) return false;
		updated = ir_in(op, 0);
	}
	for (int i = 0; i < p->fn->params.n; i++) {
		const IrParam *q = &p->fn->params.p[i];
		if (!updated || q->val != updated || !q->is_tensor || q->rank != 1 || q->mode == PM_IN) continue;
		*p = (Private){ .fn = p->fn, .tensor = updated, .extent = q->extent[0], .suits = true };
		for (const Op *op = p->fn->body->first; op; op = op->next) look_at_use(p, op, uses);
		return p->suits && p->updates > 1;
	}
	return false;
}

/* ---- the version ---- */
static Val *launched(Builder *b, const Sym *s) { return ir_launch(b, EL_I32, s); }

/* The index along an axis of the author's grid of tile block `at`, which count as a launch would have them. */
static Val *index_of(Builder *b, const Fn *of, Val *at, int axis)
{
	const Type *t = type_scalar(EL_I32);
	const Sym *below = sym_const(1);
	int i = 0;
	for (; ir_sweep(of, i) != axis; i++) below = sym_mul(below, of->grid[ir_sweep(of, i)]);
	Val *v = ir_binary(b, OP_DIV, t, at, launched(b, below));
	return i + 1 == of->ngrid ? v : ir_binary(b, OP_REM, t, v, launched(b, of->grid[axis]));
}

/* Puts the body into a loop over tile blocks; the loop. */
static Op *put_in_loop(Fn *fn, const Fn *of, const Sym *all, const Sym *started)
{
	Op *end = fn->body->last, *first = fn->body->first;
	Builder b = build_before(end);
	Val *block = ir_op1(&b, OP_BID, type_scalar(EL_I32), 0, NULL);
	ir_set_int(block->def, AT_AXIS, 0);
	Val *end_of = launched(&b, all), *step = launched(&b, started);
	Val *in[3] = { block, end_of, step };
	Op *loop = ir_op(&b, OP_FOR, 3, in, 0, NULL);
	Builder inside = { fn, ir_region(loop), NULL, loop->span };
	Val *at = ir_arg(inside.block, type_scalar(EL_I32), NULL);
	Op *back = ir_op(&inside, OP_YIELD, 0, NULL, 0, NULL);
	for (Op *op = first, *next; op != block->def; op = next) {
		next = op->next;
		if (op->code == OP_LAUNCH || op->code == OP_CONST) continue;
		ir_move_before(op, back);
		if (op->code != OP_BID) continue;
		Builder here = build_before(op);
		Val *v = index_of(&here, of, at, (int)ir_int(op, AT_AXIS, 0));
		ir_replace(op->out[0], op->out[0]->type->elem == EL_I32 ? v : ir_unary(&here, OP_CAST, op->out[0]->type, v));
		ir_remove(op);
	}
	return loop;
}

static void make_private(const Private *p, Op *loop, int64_t places, const Sym *copies)
{
	Builder before = build_before(loop), after = build_after(loop);
	Val *of[2] = { p->tensor, launched(&before, copies) };
	Val *copy = ir_op1(&before, OP_PRIVATE, p->tensor->type, 2, of);
	ir_set_int(copy->def, AT_NUMBER, places);
	for (Op *op = loop->region[0]->first; op; op = op->next)
		if (op->nin && ir_in(op, 0) == p->tensor) {
			op->in[0] = copy;
			op->nout = 0;
		}
	Op *publish = ir_op(&after, OP_PUBLISH, 2, (Val *[]){ copy, p->tensor }, 0, NULL);
	if (p->rmw) ir_set_int(copy->def, AT_RMW, p->rmw), ir_set_int(publish, AT_RMW, p->rmw);
}

static void find_work(void *ctx, Op *op)
{
	Private *p = ctx;
	for (int i = 0; i < op->nout; i++) {
		const Type *t = op->out[i]->type;
		if (type_is_tile(t) && type_size(t) > p->work) p->work = type_size(t);
	}
}

static int warps_of(const Private *p)
{
	int warps = 1;
	while (warps < COST_PRIVATE_WARPS && p->work >= (int64_t)warps * 2 * COST_PRIVATE_LEAST) warps *= 2;
	return warps;
}

/* How many places there is room for, copies included. */
static int64_t places_of(const Private *p, int warps)
{
	Elem e = p->tensor->type->elem;
	int64_t most = (int64_t)COST_PRIVATE_BYTES * warps / elem_bytes(e), known;
	int64_t each = shared_swaps(e) ? warps * LANES : 1;
	return sym_is_const(p->extent, &known) && known > 0 && known * each < most ? known * each : most;
}

/* Threads that update one place wait for each other where shared memory has no instruction for it: each has a copy
 * then, or shares it with few, where places leave room and a copy is updated more often than it takes to clear and to
 * add it. */
static const Sym *copies_of(const Private *p, const Sym *all, const Sym *started, int64_t places, int warps)
{
	if (!shared_swaps(p->tensor->type->elem)) return sym_const(1);
	const Sym *extent = sym_max(p->extent, sym_const(1));
	const Sym *cleared = sym_mul(sym_mul(extent, started), sym_const(COST_PRIVATE_COPY));
	const Sym *pay = sym_cdiv(sym_mul(all, sym_const(p->updates)), cleared);
	return sym_min(sym_min(sym_div(sym_const(places), extent), pay), sym_const(warps * LANES));
}

/* Of the calls whose places fit, those in which a thread block does not publish many more places than it updates. */
static const Sym *guard_of(const Private *p, const Sym *all, const Sym *started, int64_t places)
{
	const Sym *fits = sym_cmp(SYM_LE, p->extent, sym_const(places));
	const Sym *most = sym_cmp(SYM_LE, all, sym_const(COST_PRIVATE_MOST));
	const Sym *gains = sym_mul(all, sym_const(COST_PRIVATE_GAIN * p->updates));
	const Sym *pays = sym_cmp(SYM_LE, sym_mul(p->extent, started), gains);
	return sym_logic(SYM_AND, sym_logic(SYM_AND, fits, most), pays);
}

Fn *private_version(const Fn *of, const LowerCx *cx, const Sym **guard)
{
	bool hints = ir_hints_threads(of);
	if (cx->o->checked || hints || of->ordered || of->is_step || has_steps(of, cx)) return NULL;
	Private p = { .fn = copy_kernel((Fn *)of) };
	ir_number(p.fn);
	if (!find_tensor(&p)) return NULL;
	Fn *fn = p.fn;
	ir_walk(fn->body, find_work, &p);
	int warps = warps_of(&p);
	int64_t places = places_of(&p, warps);
	const Sym *all = sym_const(1);
	for (int i = 0; i < of->ngrid; i++) all = sym_mul(all, of->grid[i]);
	const Sym *started = sym_min(all, sym_const((int64_t)machine_of(cx->target_arch)->sms * COST_PRIVATE_HELD / warps));
	*guard = guard_of(&p, all, started, places);
	make_private(&p, put_in_loop(fn, of, all, started), places, copies_of(&p, all, started, places, warps));
	kernel_regrid(fn, started);
	kernel_set_warps(fn, warps);
	kernel_again(fn, cx);
	return fn;
}
