/* Which loops of products a pipeline serves.
 *
 * One loop in the kernel's body carries nothing but sums, each the accumulator of one product an iteration. The
 * factors are loads that feed products alone, of elements of 16 or 8 bits, from tensors that the kernel only reads,
 * contiguous along one of the tile's two axes; what else the loop computes are scalars. Around the loop stand
 * scalars, and operations that keep the elements of the sums where they are: elementwise ones, broadcasts, loads and
 * stores. */
#include "lower/pipeline.h"

static const Type *tile_of(const Val *v) { return type_is_tile(v->type) ? v->type : NULL; }

static bool is_scalar_op(const Op *op)
{
	if (!op_is_pure(op)) return false;
	for (int i = 0; i < op->nout; i++)
		if (!type_is_scalar(op->out[i]->type)) return false;
	for (int i = 0; i < op->nin; i++)
		if (!type_is_scalar(ir_in(op, i)->type)) return false;
	return true;
}

static bool is_transposition(const Op *op)
{
	const IrAttr *axes = op->code == OP_PERMUTE && type_is_tile(op->out[0]->type) ? ir_attr(op, AT_AXES) : NULL;
	return axes && axes->u.ints.n == 2 && axes->u.ints.p[0] == 1;
}

/* ---- the loop ---- */
static const IrParam *param_of(const Fn *fn, const Val *view) { return param_of_view(fn, view, &(int){ 0 }); }

static bool is_zero(const Val *v)
{
	Num n;
	return ir_const_value(v, &n) && n.f == 0 && n.i == 0;
}

/* The copy engine reads whole parameters, takes coordinates of 32 bits and fills with zeros. */
static bool is_copied(const Fn *fn, const Op *op)
{
	const Val *view = ir_in(op, 0);
	const Type *t = tile_of(op->out[0]);
	const IrParam *param = param_of(fn, view);
	if (!t || t->rank != 2 || view->type->rank != 2) return false;
	if (t->elem != EL_F16 && t->elem != EL_BF16 && t->elem != EL_I8 && t->elem != EL_U8) return false;
	if (!param || param->mode != PM_IN || !ir_attr(op, AT_STEPS) || !is_zero(ir_in(op, op->nin - 1))) return false;
	for (int a = 0; a < 2; a++)
		if (ir_in(op, 1 + a)->type->elem != EL_I32) return false;
	return unit_axis(fn, view, 0) || unit_axis(fn, view, 1);
}

/* The load of a product's factor, perhaps transposed; -1: it is none, or serves other products otherwise. */
static int add_load(Pipe *p, const Op *product, int i)
{
	Val *v = ir_in(product, i);
	int depth_axis = 1 - i;
	if (v->def && is_transposition(v->def)) v = ir_in(v->def, 0), depth_axis = i;
	Op *op = v->def;
	if (!op || op->code != OP_LOAD || op->parent->owner != p->loop || !is_copied(p->fn, op)) return -1;
	for (int k = 0; k < p->loads; k++)
		if (p->load[k].op == op) return p->load[k].second == i && p->load[k].depth_axis == depth_axis ? k : -1;
	if (p->loads == PIPE_LOADS) return -1;
	p->load[p->loads] = (PipeLoad){ op, i == 1, depth_axis, unit_axis(p->fn, ir_in(op, 0), depth_axis), false, false };
	return p->loads++;
}

static bool add_product(Pipe *p, Op *op)
{
	const Type *t = op->out[0]->type;
	const Val *sum = ir_in(op, 2);
	Elem want = elem_is_int(ir_in(op, 0)->type->elem) ? EL_I32 : EL_F32;
	if (p->products == PIPE_PRODUCTS || t->rank != 2 || t->elem != want) return false;
	if (sum->def || sum->block != p->loop->region[0] || !sum->index) return false;
	PipeProduct *r = &p->product[p->products++];
	*r = (PipeProduct){ op, { add_load(p, op, 0), add_load(p, op, 1) }, sum->index - 1 };
	const Op *end = p->loop->region[0]->last;
	return r->load[0] >= 0 && r->load[1] >= 0 && ir_in(end, r->sum) == op->out[0];
}

static bool is_found(const Pipe *p, const Op *op)
{
	for (int i = 0; i < p->loads; i++)
		if (p->load[i].op == op) return true;
	return is_transposition(op);
}

/* How often a value is used in the loop; of its results, after it. */
typedef struct Uses { const Val *v; int n; } Uses;

static void count_uses(void *ctx, Op *op)
{
	Uses *u = ctx;
	for (int i = 0; i < op->nin; i++) u->n += ir_in(op, i) == u->v;
}

static int uses_in(IrBlock *b, const Val *v)
{
	Uses u = { v, 0 };
	ir_walk(b, count_uses, &u);
	return u.n;
}

/* Factors go nowhere but into products, sums nowhere but around the loop. */
static bool is_closed(const Pipe *p)
{
	IrBlock *b = p->loop->region[0];
	int of_products = 0, of_loads = 0;
	for (int i = 0; i < p->products; i++) {
		if (uses_in(b, ir_in(p->product[i].op, 2)) != 1 || uses_in(b, p->product[i].op->out[0]) != 1) return false;
		of_products += 2;
	}
	for (const Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++) {
			const Op *from = ir_in(op, i)->def;
			of_loads += from && from->parent == b && (from->code == OP_LOAD || is_transposition(from))
				&& op->code == OP_MMA;
			if (from && from->parent == b && from->code == OP_LOAD && op->code != OP_MMA && !is_transposition(op))
				return false;
			if (from && from->parent == b && is_transposition(from) && op->code != OP_MMA) return false;
		}
	return of_loads == of_products && p->products == b->args.n - 1;
}

static bool look_at_loop(Pipe *p)
{
	const IrBlock *b = p->loop->region[0];
	if (b->args.p[0]->type->elem != EL_I32 || b->last->code != OP_YIELD) return false;
	for (Op *op = b->first; op; op = op->next)
		if (op->code == OP_MMA && !add_product(p, op)) return false;
	for (const Op *op = b->first; op != b->last; op = op->next)
		if (op->code != OP_MMA && !is_found(p, op) && !is_scalar_op(op)) return false;
	return p->products > 0 && is_closed(p);
}

/* ---- what stands around it ---- */
static bool is_around(const Pipe *p, const Op *op)
{
	if (op == p->loop || op->code == OP_RETURN || is_scalar_op(op)) return true;
	if (op->code == OP_STORE) return type_is_tile(ir_in(op, op->nin - 1)->type);
	if (op->code == OP_LOAD) return type_is_tile(op->out[0]->type) || ir_in(op, 0)->type->kind == TY_VIEW;
	if (op->code == OP_PERMUTE) return op->out[0]->type->kind == TY_VIEW;
	return op_has(op, OPF_POINTWISE);
}

/* What the kernel stores it does not load after that: a store may be a copy in the background. */
static bool loads_stored(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next) {
		const IrParam *p = op->code == OP_STORE ? param_of(fn, ir_in(op, 0)) : NULL;
		if (op->code == OP_STORE && !p) return true;
		for (const Op *o = op; p && o; o = o->next)
			if (o->code == OP_LOAD && param_of(fn, ir_in(o, 0)) == p) return true;
	}
	return false;
}

bool pipe_find(Pipe *p, Fn *fn)
{
	*p = (Pipe){ .fn = fn, .row_axis = -1, .col_axis = -1 };
	for (Op *op = fn->body->first; op; op = op->next) {
		if (op->code != OP_FOR) continue;
		if (p->loop) return false;
		p->loop = op;
	}
	if (!p->loop || fn->ordered || fn->ngrid != 2 || !look_at_loop(p) || loads_stored(fn)) return false;
	for (const Op *op = fn->body->first; op; op = op->next)
		if (!is_around(p, op)) return false;
	return true;
}
