/* Loops over the registers of a tile: all of them, or those of a part of a peeled row (peel.c). */
#include "base/diag.h"
#include "emit_cuda/peel.h"

bool peel_row(const Fn *fn, Lay l) { return fn->peel_line && holds_row(fn, l); }

CuInt peel_first(const Cu *g)
{
	return g->part == PART_END ? cu_int(g->fn->row_regs)
		: cu_compound(str_fmt("ct_part * %d", peel_piece(g->fn)));
}

static void loop_part(Cu *g, const char *var, int each, int first)
{
	if (g->part == PART_END) {
		out_printf(g->o, "for (int %s = %d; %s < %d; %s++) {\n", var, g->fn->row_regs + first, var, g->fn->row_regs + 1,
			var);
	} else {
		out_printf(g->o, "CT_UNROLL(%s, ct_part * %d%s, ct_part * %d + %d) {\n", var, each, first ? " + 1" : "", each,
			each);
	}
	out_in(g->o);
}

void peel_rest(Cu *g, const char *var) { loop_part(g, var, peel_piece(g->fn), 1); }

/* ---- registers that rows reach ---- */
bool cu_leaves_out(const Cu *g, Lay l) { return g->fn->row_few && holds_row(g->fn, l); }

void cu_reached(Cu *g, const char *var, int from, int each)
{
	if (each) out_printf(g->o, "CT_UNROLL(%s, %d, ct_used / %d) ", var, from, 1 << each);
	else out_printf(g->o, "CT_UNROLL(%s, %d, ct_used) ", var, from);
}

CuInt peel_loop(Cu *g, const char *var, int64_t n, Lay l, int each)
{
	if (g->part && peel_row(g->fn, l)) {
		loop_part(g, var, peel_piece(g->fn) >> each, 0);
	} else if (n > 1 && n << each == 1 << l.in[HW_REG] && cu_leaves_out(g, l)) {
		cu_reached(g, var, 0, each);
		cu_open(g);
	} else {
		return cu_loop(g, var, n);
	}
	return cu_var(var);
}

bool cu_opens_pieces(const Cu *g, Lay l, uint32_t skip)
{
	int regs = 1 << l.in[HW_REG], each = (int)skip + 1;
	return (skip & (skip + 1)) || g->part || regs_of_layout(g->fn, l) != regs
		|| !(g->roles || cu_unrolled(regs / each));
}

CuInt cu_pieces(Cu *g, Lay l, uint32_t skip, bool *opened)
{
	int regs = 1 << l.in[HW_REG], each = (int)skip + 1;
	*opened = cu_opens_pieces(g, l, skip);
	if (*opened) return cu_registers(g, l, skip);
	if (each == regs) return cu_int(0);
	if (each == 1) cu_each(g, "ct_b", regs);
	else out_printf(g->o, "CT_UNROLL_BY(ct_b, %d, %d) ", regs, each);
	return cu_var("ct_b");
}

static int bits_counted(Lay l, uint32_t skip)
{
	int n = 0;
	for (int i = 0; i < l.in[HW_REG]; i++) n += !(skip >> i & 1);
	return n;
}

/* One iteration, which needs no loop? */
static bool is_once(const Cu *g, Lay l, uint32_t skip)
{
	return !bits_counted(l, skip) && !g->part && regs_of_layout(g->fn, l) == 1 << l.in[HW_REG];
}

CuInt cu_register(const Cu *g, Lay l, uint32_t skip) { return is_once(g, l, skip) ? cu_int(0) : cu_var("ct_b"); }

CuInt cu_iteration(const Cu *g, Lay l, uint32_t skip)
{
	return is_once(g, l, skip) ? cu_int(0) : cu_var(skip ? "ct_i" : "ct_b");
}

CuInt cu_registers(Cu *g, Lay l, uint32_t skip)
{
	uint32_t all = ((uint32_t)1 << l.in[HW_REG]) - 1;
	int n = bits_counted(l, skip);
	if (is_once(g, l, skip)) {
		cu_open(g);
		return cu_int(0);
	}
	if (!skip) return peel_loop(g, "ct_b", regs_of_layout(g->fn, l), l, 0);
	CuInt i = peel_loop(g, "ct_i", (int64_t)1 << n, l, l.in[HW_REG] - n);
	out_printf(g->o, "const int ct_b = %s;\n", cu_deposit(i, all & ~skip).text);
	return cu_var("ct_b");
}
