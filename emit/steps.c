/* Versions in several steps (Module.steps): how much workspace a call needs, and running one step after the other. */
#include "emit/launchers.h"

#include "emit/expr.h"
#include "emit/names.h"

/* Bytes of a tensor in workspace, where each begins at a multiple of 256. */
static void print_room(Out *o, const IrParam *p)
{
	const Sym *size = sym_const(elem_bytes(p->elem));
	for (int i = 0; i < p->rank; i++) size = sym_mul(size, p->extent[i]);
	out_puts(o, "ct_host_mul(ct_host_cdiv(");
	host_expr(o, size);
	out_printf(o, ", 256, %s), 256, %s)", host_bad(), host_bad());
}

void steps_print_size(Out *o, const Steps *s)
{
	const Fn *fn = s->of;
	const IrParamVec *params = &s->fns.p[0]->params;
	IrParamVec sizes = host_integers(&fn->params);
	out_printf(o, "static int64_t ct_steps_%s(", fn->name);
	host_params(o, &sizes, &fn->dims);
	out_printf(o, "%sint *ct_over)\n{\n", host_has_params(&sizes, &fn->dims) ? ", " : "");
	out_in(o);
	out_puts(o, "int ct_bad = 0;\nint64_t ct_size = 0;\n");
	host_defined_dims(o, fn);
	host_unused(o, &sizes, &fn->dims, NULL);
	out_puts(o, "if (");
	host_expr(o, s->guard);
	out_puts(o, ") {\n");
	out_in(o);
	HostLets *lets = host_lets(&s->gain, 1, "ct_v");
	host_lets_print(o, lets);
	out_puts(o, "if (CT_STEPS || ");
	if (s->arch) out_printf(o, "(ct_on_arch(%d) && ", s->arch);
	host_expr_by(o, s->gain, lets);
	out_puts(o, s->arch ? ")) {\n" : ") {\n");
	out_in(o);
	for (int i = fn->params.n; i < params->n; i++) {
		out_puts(o, "ct_size = ct_host_add(ct_size, ");
		print_room(o, &params->p[i]);
		out_puts(o, ", &ct_bad);\n");
	}
	out_off(o);
	out_puts(o, "}\n");
	out_off(o);
	out_puts(o, "}\n*ct_over |= ct_bad;\nreturn ct_size;\n");
	out_off(o);
	out_puts(o, "}\n\n");
}

static void print_step(Out *o, const Fn *fn, const Fn *step)
{
	out_printf(o, "ct_run_%s(", step->name);
	for (int i = 0; i < fn->params.n; i++) out_printf(o, "%s, ", name_c(fn->params.p[i].name));
	for (int i = fn->params.n; i < step->params.n; i++)
		out_printf(o, "(%s)ct_w%d, ", host_type(&step->params.p[i]), i - fn->params.n);
	host_args(o, NULL, &fn->dims);
	out_puts(o, "stream);\n");
}

/* Of 64-bit words, the tensors in workspace that are to be cleared. */
static void print_cleared(Out *o, const Steps *s)
{
	const IrParamVec *params = &s->fns.p[0]->params;
	int own = s->of->params.n;
	if (s->clears == params->n - own) {
		out_puts(o, "ct_size / 8");
		return;
	}
	out_puts(o, "(");
	for (int i = 0; i < s->clears; i++) {
		if (i) out_puts(o, " + ");
		print_room(o, &params->p[own + i]);
	}
	out_puts(o, ") / 8");
}

void steps_print_run(Out *o, const Steps *s)
{
	const Fn *fn = s->of;
	const IrParamVec *params = &s->fns.p[0]->params;
	IrParamVec sizes = host_integers(&fn->params);
	out_printf(o, "const int64_t ct_size = ct_work ? ct_steps_%s(", fn->name);
	host_args(o, &sizes, &fn->dims);
	out_printf(o, "%s) : 0;\nif (ct_size > 0 && !ct_bad) {\n", host_bad());
	out_in(o);
	if (s->clear || s->fns.n > 1) out_puts(o, "int ct_s;\n");
	for (int i = fn->params.n, n = 0; i < params->n; i++, n++) {
		out_printf(o, n ? "char *const ct_w%d = ct_w%d + " : "char *const ct_w%d = (char *)ct_work", n, n - 1);
		if (n) print_room(o, &params->p[i - 1]);
		out_puts(o, ";\n");
	}
	if (s->clear) {
		out_printf(o, "ct_s = ct_run_%s((%s)ct_w0, ", s->clear->name, host_type(&s->clear->params.p[0]));
		print_cleared(o, s);
		out_puts(o, ", stream);\nif (ct_s) return ct_s;\n");
	}
	for (int i = 0; i < s->fns.n; i++) {
		bool last = i + 1 == s->fns.n;
		out_puts(o, last ? "return " : "ct_s = ");
		print_step(o, fn, s->fns.p[i]);
		if (!last) out_puts(o, "if (ct_s) return ct_s;\n");
	}
	out_off(o);
	out_puts(o, "}\n");
}
