/* The transposed kernel: (a b)^T = b^T a^T. All tiles of two axes become their transposes, in place, and accesses go to
 * views with exchanged axes, so memory and results stay as they are.
 *
 * What it is for: the rows of a tile of products are those of warp groups, multiples of 64, its columns any multiple of
 * 16 where the second factor is contiguous along the depth. Of a row-major product only the first one is. So the
 * transposed kernel has tiles of which the rows of the author's product are as many as fill the device. */
#include "lower/pipeline.h"

typedef struct Turned { Val *view, *exchanged; } Turned;
typedef struct Transpose { Fn *fn; VEC(Turned) views; bool fails; } Transpose;

static bool is_turned(const Type *t) { return type_is_tile(t) && t->rank == 2; }

static void turn_type(Val *v)
{
	const Type *t = v->type;
	if (is_turned(t)) v->type = type_with_shape(t, 2, (const uint8_t[]){ t->log2[1], t->log2[0] });
}

/* The view with exchanged axes, made where the view itself is. */
static Val *exchanged(Transpose *x, Val *view)
{
	for (int i = 0; i < x->views.n; i++)
		if (x->views.p[i].view == view) return x->views.p[i].exchanged;
	Builder b = build_before(view->def ? view->def->next : x->fn->body->first);
	Val *v = ir_unary(&b, OP_PERMUTE, view->type, view);
	ir_set_ints(v->def, AT_AXES, 2, (const int64_t[]){ 1, 0 });
	vec_push(A_TMP, &x->views, ((Turned){ view, v }));
	return v;
}

static void exchange_attr(Op *op, AttrKey key)
{
	const IrAttr *a = ir_attr(op, key);
	if (a) ir_set_ints(op, key, 2, (const int64_t[]){ a->u.ints.p[1], a->u.ints.p[0] });
}

static void turn_access(Transpose *x, Op *op)
{
	Val *view = ir_in(op, 0), *row = ir_in(op, 1);
	if (view->type->kind != TY_VIEW || view->type->rank != 2 || !ir_attr(op, AT_STEPS)) {
		x->fails = true;
		return;
	}
	op->in[0] = exchanged(x, view);
	op->in[1] = ir_in(op, 2);
	op->in[2] = row;
	exchange_attr(op, AT_STEPS);
	exchange_attr(op, AT_OFFSETS);
	exchange_attr(op, AT_INSIDE);
}

/* Of n elements, which lie along columns, a row; that is turned with the others. */
static void turn_broadcast(Op *op)
{
	Val *v = ir_in(op, 0);
	if (!type_is_tile(v->type) || v->type->rank != 1) return;
	Builder b = build_before(op);
	op->in[0] = ir_unary(&b, OP_RESHAPE, type_with_shape(v->type, 2, (const uint8_t[]){ 0, v->type->log2[0] }), v);
}

static void exchange_factors(Op *op)
{
	Val *first = ir_in(op, 0);
	op->in[0] = ir_in(op, 1);
	op->in[1] = first;
}

/* A reshape to a row or a column exchanges nothing. */
static bool is_line(const Type *t) { return !is_turned(t) || !t->log2[0] || !t->log2[1]; }

static void turn_op(Transpose *x, Op *op)
{
	const Val *data = op->code == OP_LOAD ? op->out[0] : op->code == OP_STORE ? ir_in(op, op->nin - 1) : NULL;
	if (data && is_turned(data->type)) turn_access(x, op);
	else if (op->code == OP_BROADCAST && is_turned(op->out[0]->type)) turn_broadcast(op);
	else if (op->code == OP_RESHAPE) x->fails |= !is_line(op->out[0]->type) || !is_line(ir_in(op, 0)->type);
	else if (op->code == OP_MMA) exchange_factors(op);
}

static void turn_block(Transpose *x, IrBlock *block)
{
	for (int i = 0; i < block->args.n; i++) turn_type(block->args.p[i]);
	for (Op *op = block->first; op; op = op->next) {
		turn_op(x, op);
		for (int i = 0; i < op->nregion; i++) turn_block(x, op->region[i]);
	}
	for (Op *op = block->first; op; op = op->next)
		for (int i = 0; i < op->nout; i++) turn_type(op->out[i]);
}

bool pipe_stores_by_engine(const Pipe *p)
{
	for (const Op *op = p->fn->body->first; op; op = op->next) {
		const Val *v = ir_accessed(op);
		if (!v || !is_turned(v->type)) continue;
		const Val *view = ir_in(op, 0);
		bool contiguous = unit_axis(p->fn, view, 0) || unit_axis(p->fn, view, 1);
		if (op->code != OP_STORE || elem_bytes(v->type->elem) != 2 || !contiguous) return false;
	}
	return true;
}

bool pipe_transpose(Fn *fn)
{
	Transpose x = { .fn = fn };
	turn_block(&x, fn->body);
	return !x.fails;
}
