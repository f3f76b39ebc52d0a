/* The consumers of a loop of products: waits, products, what follows them. */
#include "lower/pipeline_write.h"

static Val *lend(Write *x, Val *sum)
{
	Val *v = make(x, OP_WGMMA_FENCE, shaped(TY_ASYNC, sum->type, 0), 1, &sum);
	v->lay = sum->lay;
	return v;
}

static Val *factor(Write *x, int load, Val *at, Val *group)
{
	const PipeLoad *l = &x->p.load[load];
	Val *whole = slot(x, &x->in[load], at);
	if (!l->differs) return whole;
	int64_t rows = type_extent(whole->type, 0), cols = type_extent(whole->type, 1);
	if (l->along_depth) rows /= x->p.plan.groups;
	else cols /= x->p.plan.groups;
	Val *zero = number(x, 0);
	Val *in[] = { whole, l->along_depth ? group : zero, l->along_depth ? zero : group };
	Val *part = make(x, OP_PART, matrix(TY_SHARED, whole->type->elem, rows, cols, 0), 3, in);
	ir_set_ints(part->def, AT_STEPS, 2, (const int64_t[]){ rows, cols });
	return part;
}

static Val *multiply(Write *x, const PipeProduct *r, Val *sum, Val *at, Val *group)
{
	x->b.span = r->op->span;
	Val *left = factor(x, r->load[0], at, group), *right = factor(x, r->load[1], at, group);
	Val *v = make(x, OP_WGMMA, sum->type, 3, (Val *[]){ sum, left, right });
	v->lay = sum->lay;
	v->name = r->op->out[0]->name;
	if (!x->p.load[r->load[0]].along_depth) ir_set_int(v->def, AT_A_MAJOR, MAJOR_MN);
	if (!x->p.load[r->load[1]].along_depth) ir_set_int(v->def, AT_B_MAJOR, MAJOR_MN);
	return v;
}

/* Multiplies an iteration; the group that runs beside it keeps the tensor cores busy while this one waits. */
static void multiply_iteration(Write *x, Walk *w, Val **sum, Val *group)
{
	Val *next[1 + PIPE_PRODUCTS];
	add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->full, w->at });
	for (int i = 0; i < x->p.products; i++) sum[i] = lend(x, sum[i]);
	for (int i = 0; i < x->p.products; i++) {
		const PipeProduct *r = &x->p.product[i];
		next[1 + r->sum] = multiply(x, r, sum[r->sum], w->at, group);
	}
	add(x, OP_WGMMA_COMMIT, 0, NULL);
	add(x, OP_WGMMA_WAIT, 0, NULL);
	add(x, OP_MBAR_ARRIVE, x->all ? 3 : 2, (Val *[]){ x->empty, w->at, x->all });     /* in all that fill the buffer */
	next[0] = advance(x, w->at);
	leave(x, w->back, 1 + x->p.products, next);
}

static const Type *sum_type(const Write *x, int i)
{
	const Type *t = x->p.loop->out[i]->type;
	return matrix(TY_TILE, t->elem, type_extent(t, 0), type_extent(t, 1) * x->p.reps, 0);
}

/* Where a group has several blocks' sums, they begin with constants. */
static Val *initial_sum(Write *x, int i)
{
	Val *own = ir_in(x->p.loop, 3 + i);
	Num n;
	if (x->p.reps == 1) return pipe_value(x, own);
	ir_const_value(own, &n);
	Val *v = ir_const_num(&x->b, sum_type(x, i), n);
	ir_set_layout(v, *own->lay);
	return v;
}

static Val *write_iterations(Write *x, Val *at, Val *group)
{
	Val *sum[PIPE_PRODUCTS] = { NULL };
	int n = x->p.products;
	for (int i = 0; i < n; i++) sum[i] = lend(x, initial_sum(x, i));
	Walk w = pipe_begin_iterations(x, at, n, sum);
	for (int i = 0; i < n; i++) {
		Val *own = ir_arg(x->b.block, sum[i]->type, x->p.loop->region[0]->args.p[1 + i]->name);
		own->lay = sum[i]->lay;
		sum[i] = own;
	}
	multiply_iteration(x, &w, sum, group);
	const Type *back[PIPE_PRODUCTS];
	for (int i = 0; i < n; i++) back[i] = sum_type(x, i);
	Op *wait = ir_op(&x->b, OP_WGMMA_WAIT, n, w.loop->out + 1, n, back);
	for (int i = 0; i < n; i++) {
		wait->out[i]->lay = x->p.loop->out[i]->lay;
		wait->out[i]->name = x->p.loop->out[i]->name;
		x->names->own[x->p.loop->out[i]->id] = wait->out[i];
	}
	return w.loop->out[0];
}

/* ---- the role ---- */
/* What the sums begin with. */
static void write_initial(Write *x)
{
	bool *needed = NEW_ARRAY(A_TMP, bool, x->p.fn->nval);
	if (x->p.reps > 1) return;
	for (int i = 3; i < x->p.loop->nin; i++) needed[ir_in(x->p.loop, i)->id] = true;
	for (const Op *op = x->p.loop->prev; op; op = op->prev)
		if (pipe_gives_needed(needed, op)) pipe_need_operands(needed, op);
	for (const Op *op = x->p.fn->body->first; op != x->p.loop; op = op->next)
		if (pipe_gives_needed(needed, op) && !pipe_is_named(x, op)) pipe_copy_op(x, op, x->names->own);
}

/* Who has the last iteration of a tile stores it, with what the others left; these only leave theirs. */
static void write_shared_tail(Write *x, Val *const *sum, Val *group)
{
	Val *ends = compare(x, OP_EQ, x->shares.hi, x->shares.iterations);
	Op *test = add(x, OP_IF, 1, &ends);
	Builder back = enter(x, test);
	Val *all[PIPE_PRODUCTS];
	for (int i = 0; i < x->p.products; i++) all[i] = sum[i];
	pipe_add_others(x, all, group);
	pipe_write_tail(x, all, group);
	leave(x, back, 0, NULL);
	enter(x, test);
	pipe_leave_sums(x, sum, group);
	leave(x, back, 0, NULL);
}

void pipe_write_consumers(Write *x)
{
	Builder back, inner;
	int groups = x->p.plan.groups;
	Op *role = pipe_begin_role(x, "consumer", groups, groups > 1 ? consumer_regs(groups) : 0, &back);
	Val *group = role->region[0]->args.p[0], *sum[PIPE_PRODUCTS];
	add(x, OP_GRID_WAIT, 0, NULL);
	Walk t = pipe_begin_tiles(x, cursor(x), group);
	pipe_copy_scalars(x, x->p.fn->body->first, x->p.loop, false);
	write_initial(x);
	pipe_begin_tail(x);
	Val *at = write_iterations(x, t.at, group);
	for (int i = 0; i < x->p.products; i++) sum[i] = pipe_value(x, x->p.loop->out[i]);
	if (x->shares.count) write_shared_tail(x, sum, group);
	else pipe_write_tail(x, sum, group);
	pipe_end_tiles(x, t, at);
	if (x->out[0].map) {
		region_op(x, OP_ELECT, &inner);
		add(x, OP_BULK_WAIT, 0, NULL);
		leave(x, inner, 0, NULL);
	}
	leave(x, back, 0, NULL);
}
