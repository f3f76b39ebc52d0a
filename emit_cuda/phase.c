/* Where rows begin in their 128 bytes of memory: ct_phase (lower/rotate.c, lower/cut.c). */
#include "emit_cuda/access.h"
#include "emit_cuda/peel.h"

/* A row is shifted within its first register or vector, and where a pad of each tensor stays after it (lower/cut.c). */
static void print_shift(Cu *g, int size)
{
	const Fn *fn = g->fn;
	int64_t room = cut_kept(fn), unit = rows_shift_unit(fn, size);
	Str shift = cu_quotient(str_fmt("(int)(ct_p & %lld)", (long long)unit * size - 1), size);
	if (!fn->row_log2) {            /* by slices: the launcher asks for room */
		out_printf(g->o, ");\nct_phase = %s;\n", shift);
		return;
	}
	out_printf(g->o, ");\nct_phase = %s", fn->short_rows ? "ct_log2 == 5 && " : "");
	for (int i = 0; i < fn->below.n; i++)
		out_printf(g->o, "%s%s < %lld", i ? " && " : "", cu_launch(g, fn->below.p[i]), (long long)(room - unit + 1));
	out_printf(g->o, " ? %s : 0;\n", shift);
}

void memory_phase(Cu *g, const Op *op)
{
	if (ir_int(op, AT_ROWS, ROWS_ROTATED) == ROWS_PEELED) {
		peel_phase(g, op);
		return;
	}
	Access x;
	access_open(&x, g, op, NULL, false);
	bool shifts = ir_int(op, AT_ROWS, ROWS_ROTATED) == ROWS_SHIFTED;
	g->shifted = shifts && g->fn->row_log2;
	g->shift_log2 = g->shifted && g->fn->aligned ? log2_of(rows_shift_unit(g->fn, 1)) : 0;
	g->rotated = shifts ? 0 : ir_int(op, AT_NUMBER, 0);
	cu_val(g, op->out[0])->name = str_intern("ct_phase");
	out_puts(g->o, "int ct_phase;\n{\n");
	out_in(g->o);
	access_origin(&x);
	out_printf(g->o, "const unsigned long long ct_p = (unsigned long long)(%s", x.v->base);
	for (int a = 0; a < x.plan.rank; a++) out_printf(g->o, " + %s", access_scaled(str_fmt("ct_o%d", a), x.v, a));
	int size = elem_bytes(x.v->elem);
	if (shifts) print_shift(g, size);
	else out_printf(g->o, ");\nct_phase = ct_p & 15 ? %s : 0;\n", cu_quotient("(int)(ct_p & 127)", size));
	cu_end(g);
}
