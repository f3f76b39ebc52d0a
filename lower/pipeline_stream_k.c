/* Sums of a tile whose iterations several clusters share: left in workspace, waited for, added in order. */
#include "lower/pipeline_write.h"

/* Of a group of a share, as often as there is something of each: its place in workspace. */
static Val *place_in_room(Write *x, Val *share, Val *group)
{
	int cluster = x->p.plan.cluster;
	Val *n = cluster > 1 ? sum_of(x, times(x, share, cluster), x->rank) : share;
	return x->p.plan.groups > 1 ? sum_of(x, times(x, n, x->p.plan.groups), group) : n;
}

static Val *room_at(Write *x, Val *of, Val *place, int64_t size)
{
	const Type *wide = type_scalar(EL_I64);
	Val *n = ir_const_int(&x->b, wide, size), *one = size == 1 ? n : ir_const_int(&x->b, wide, 1);
	Val *at = ir_unary(&x->b, OP_CAST, wide, place);
	if (size > 1) at = ir_binary(&x->b, OP_MUL, wide, at, n);
	return make(x, OP_VIEW, of->type, 4, (Val *[]){ of, at, n, one });
}

/* Of a product, the sums that a group of a share left. */
static Val *sums_in_room(Write *x, Val *share, Val *group, int product, const Type *t)
{
	Val *place = times(x, place_in_room(x, share, group), x->p.products);
	return room_at(x, x->shares.sums, product ? sum_of(x, place, number(x, product)) : place, type_size(t));
}

static Op *begin_others(Write *x, int n, Val *const *carried, Builder *back)
{
	Val *in[4] = { x->shares.first, x->shares.own, number(x, 1), n ? carried[0] : NULL };
	Op *loop = ir_op(&x->b, OP_FOR, 3 + n, in, n, n ? &carried[0]->type : NULL);
	*back = enter(x, loop);
	ir_arg(x->b.block, i32(), str_intern("other"));
	return loop;
}

static void await_others(Write *x, Val *group)
{
	Builder back;
	begin_others(x, 0, NULL, &back);
	Val *flag = room_at(x, x->shares.flags, place_in_room(x, x->b.block->args.p[0], group), 1);
	add(x, OP_GRID_AWAIT, 1, &flag);
	leave(x, back, 0, NULL);
}

/* The sums of all shares: what this one has itself, then what the others left, in their order. */
void pipe_add_others(Write *x, Val **sum, Val *group)
{
	Builder back;
	await_others(x, group);
	for (int i = 0; i < x->p.products; i++) {
		Op *loop = begin_others(x, 1, &sum[i], &back);
		Val *own = ir_arg(x->b.block, sum[i]->type, NULL);
		Val *from = sums_in_room(x, x->b.block->args.p[0], group, i, own->type);
		Val *both = make(x, OP_LOAD_REGS, own->type, 2, (Val *[]){ from, own });
		own->lay = both->lay = loop->out[0]->lay = sum[i]->lay;
		leave(x, back, 1, &both);
		sum[i] = loop->out[0];
	}
}

void pipe_leave_sums(Write *x, Val *const *sum, Val *group)
{
	for (int i = 0; i < x->p.products; i++) {
		Val *to = sums_in_room(x, x->shares.own, group, i, sum[i]->type);
		add(x, OP_STORE_REGS, 2, (Val *[]){ to, sum[i] });
	}
	Val *flag = room_at(x, x->shares.flags, place_in_room(x, x->shares.own, group), 1);
	add(x, OP_GRID_SIGNAL, 1, &flag);
}
