/* Copies of kernels: PLACED begins with one, so that the TYPED module serves other architectures too. */
#include <string.h>

#include "base/diag.h"
#include "ir/ir_copy.h"

typedef struct Copy { Val **map; int nval; } Copy;      /* by old id */

static Val *mapped(const Copy *c, Val *v)
{
	while (v->fwd) v = v->fwd;
	Val *r = v->id < c->nval ? c->map[v->id] : NULL;
	return r ? r : v;       /* what comes from outside stands for itself */
}

void copy_attrs(Op *to, const Op *from)
{
	to->nattr = from->nattr;
	to->attr = NEW_ARRAY(ir_home(), IrAttr, from->nattr);
	if (from->nattr) memcpy(to->attr, from->attr, (size_t)from->nattr * sizeof *from->attr);
}

static void copy_ops(Copy *c, Builder *b, const IrBlock *from);

static void copy_regions(Copy *c, Op *to, const Op *from)
{
	for (int i = 0; i < from->nregion; i++) {
		IrBlock *r = ir_region(to);
		for (int k = 0; k < from->region[i]->args.n; k++) {
			Val *a = from->region[i]->args.p[k], *n = ir_arg(r, a->type, a->name);
			n->lay = a->lay;
			c->map[a->id] = n;
		}
		Builder in = { r->fn, r, NULL, from->span };
		copy_ops(c, &in, from->region[i]);
	}
}

Op *copy_op(Builder *b, const Op *from, Val *const *in, Val **own)
{
	const Type **out = NEW_ARRAY(A_TMP, const Type *, from->nout);
	for (int i = 0; i < from->nout; i++) out[i] = from->out[i]->type;
	b->span = from->span;
	Op *to = ir_op(b, from->code, from->nin, in, from->nout, out);
	copy_attrs(to, from);
	for (int i = 0; i < from->nout; i++) {
		to->out[i]->name = from->out[i]->name;
		to->out[i]->lay = from->out[i]->lay;
		own[from->out[i]->id] = to->out[i];
	}
	return to;
}

void forget_inside(Op *op)
{
	const IrAttr *a = ir_attr(op, AT_INSIDE);
	if (a) ir_set_ints(op, AT_INSIDE, a->u.ints.n, (const int64_t[TENSOR_RANK]){ 0 });
}

static void copy_with_regions(Copy *c, Builder *b, const Op *from)
{
	Val **in = NEW_ARRAY(A_TMP, Val *, from->nin);
	for (int i = 0; i < from->nin; i++) in[i] = mapped(c, from->in[i]);
	copy_regions(c, copy_op(b, from, in, c->map), from);
}

static void copy_ops(Copy *c, Builder *b, const IrBlock *from)
{
	for (const Op *op = from->first; op; op = op->next) copy_with_regions(c, b, op);
}

void copy_block(Builder *b, const IrBlock *from, Val *const *args)
{
	Copy c = { NEW_ARRAY(A_TMP, Val *, from->fn->nval), from->fn->nval };
	for (int i = 0; i < from->args.n; i++) c.map[from->args.p[i]->id] = args[i];
	copy_ops(&c, b, from);
}

static Fn *copy_fn(const Fn *from)
{
	Fn *to = NEW(A_UNIT, Fn);
	*to = *from;
	to->params.p = NEW_ARRAY(A_UNIT, IrParam, from->params.n);
	to->params.cap = from->params.n;
	to->nval = 0;
	to->body = ir_block(to, NULL);
	Copy c = { NEW_ARRAY(A_TMP, Val *, from->nval), from->nval };
	for (int i = 0; i < from->body->args.n; i++) {
		Val *a = from->body->args.p[i];
		c.map[a->id] = ir_arg(to->body, a->type, a->name);
	}
	for (int i = 0; i < from->params.n; i++) {
		to->params.p[i] = from->params.p[i];
		if (from->params.p[i].val) to->params.p[i].val = mapped(&c, from->params.p[i].val);
	}
	Builder b = { to, to->body, NULL, from->span };
	copy_ops(&c, &b, from->body);
	return to;
}

Fn *copy_kernel(Fn *from)
{
	ir_number(from);
	return copy_fn(from);
}

Module *copy_module(const Module *m)
{
	Module *to = NEW(A_UNIT, Module);
	*to = *m;
	to->fns.p = NEW_ARRAY(A_UNIT, Fn *, m->fns.n);
	to->fns.cap = m->fns.n;
	for (int i = 0; i < m->fns.n; i++) {
		to->fns.p[i] = copy_kernel(m->fns.p[i]);
	}
	ir_copy_lists(to, m);
	return to;
}

Builder build_before(Op *op)
{
	return (Builder){ op->parent->fn, op->parent, op, op->span };
}

Builder build_after(Op *op)
{
	return (Builder){ op->parent->fn, op->parent, op->next, op->span };
}
