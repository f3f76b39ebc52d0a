/* Versions in several launches: code shared by the passes that make them. */
#include "lower/steps.h"

#include "base/cost.h"
#include "ir/fold.h"
#include "lower/placed.h"

static bool is_taken(const Fn *fn, Str name)
{
	for (int i = 0; i < fn->params.n; i++)
		if (fn->params.p[i].name == name) return true;
	for (int i = 0; i < fn->dims.n; i++)
		if (fn->dims.p[i].name == name) return true;
	return false;
}

Fn *steps_kernel(const Fn *from, const char *name)
{
	Fn *to = NEW(A_UNIT, Fn);
	*to = *from;
	to->name = str_fmt("%s_%s", from->name, name);
	to->nval = 0;
	to->body = ir_block(to, NULL);
	to->params = (IrParamVec){ 0 };
	for (int i = 0; i < from->params.n; i++) {
		IrParam p = from->params.p[i];
		p.val = ir_arg(to->body, p.is_tensor ? type_view(p.elem, p.rank) : type_scalar(p.elem), p.name);
		vec_push(A_UNIT, &to->params, p);
	}
	return to;
}

Val *add_workspace_view(Fn *fn, const char *name, Elem e, int rank, const Sym *const *extent)
{
	IrParam p = { .name = str_intern(name), .span = fn->span, .is_tensor = true, .mode = PM_INOUT, .elem = e,
		.rank = rank, .layout = ML_RIGHT };
	while (is_taken(fn, p.name)) p.name = str_fmt("%s_", p.name);
	const Sym *stride = sym_const(1);
	for (int i = rank - 1; i >= 0; i--) {
		p.extent[i] = extent[i];
		p.stride[i] = stride;
		stride = sym_mul(stride, extent[i]);
	}
	p.val = ir_arg(fn->body, type_view(e, rank), p.name);
	vec_push(A_UNIT, &fn->params, p);
	return p.val;
}

bool has_steps(const Fn *fn, const LowerCx *cx) { return ir_steps(cx->steps, fn) != NULL; }

Steps *steps_begin(Fn *fn, const LowerCx *cx, const Sym *guard, const Sym *gain)
{
	Steps *s = NEW(A_UNIT, Steps);
	s->of = fn;
	s->guard = guard;
	s->gain = gain;
	ir_add_steps(cx->steps, s);
	return s;
}

void steps_add(Steps *s, Fn *step)
{
	step->is_step = true;
	ir_number(step);
	vec_push(A_UNIT, &s->fns, step);
}

Val *steps_grid_index(Builder *b, int axis)
{
	Val *r = ir_op1(b, OP_BID, type_scalar(EL_I32), 0, NULL);
	ir_set_int(r->def, AT_AXIS, axis);
	return r;
}

Val *steps_block_number(Builder *b, const Fn *fn)
{
	Val *r = steps_grid_index(b, 0);
	for (int a = 1; a < fn->ngrid; a++) {
		Val *i = steps_grid_index(b, a), *n = ir_launch(b, EL_I32, fn->grid[a]);
		r = ir_binary(b, OP_ADD, r->type, ir_binary(b, OP_MUL, r->type, r, n), i);
	}
	return r;
}

/* A kernel, not a copy of the runtime's: the next one may begin while it ends. */
Fn *steps_clear_kernel(const Module *m, Span at)
{
	enum { CLEARED = 1 << COST_CLEARED };
	Str name = kernel_name_apart(m, str_intern("clear_partials"));
	Fn *fn = ir_fn(name, at);
	const Sym *n = sym_atom(ATOM_DIM, str_intern("n"), 0), *each = sym_const(CLEARED);
	IrParam words = { .name = str_intern("partials"), .span = at, .is_tensor = true, .mode = PM_OUT, .elem = EL_U64,
		.rank = 1, .extent = { n }, .stride = { sym_const(1) }, .layout = ML_RIGHT };
	words.val = ir_arg(fn->body, type_view(EL_U64, 1), words.name);
	fn->source_name = name;
	fn->is_step = fn->brief = true;
	vec_push(A_UNIT, &fn->params, words);
	vec_push(A_UNIT, &fn->dims, ((IrDim){ .name = str_intern("n"), .elem = EL_I64, .span = at }));
	fn->grid[0] = sym_cdiv(n, each);
	fn->ngrid = 1;
	Builder b = { fn, fn->body, NULL, at };
	uint8_t log2 = COST_CLEARED;
	Val *bid = ir_op1(&b, OP_BID, type_scalar(EL_I32), 0, NULL);
	ir_set_int(bid->def, AT_AXIS, 0);
	Val *in[3] = { words.val, bid, ir_const_num(&b, type_tile(EL_U64, 1, &log2), num_zero(EL_U64)) };
	int64_t step = CLEARED;
	ir_set_ints(ir_op(&b, OP_STORE, 3, in, 0, NULL), AT_STEPS, 1, &step);
	ir_op(&b, OP_RETURN, 0, NULL, 0, NULL);
	ir_number(fn);
	return fn;
}
