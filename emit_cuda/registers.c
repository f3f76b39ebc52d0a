/* Loops over the registers of a tile: all of them, or those of a part of a peeled row (peel.c), and which elements
 * these are. */
#include "base/diag.h"
#include "emit_cuda/peel.h"

bool peel_row(const Fn *fn, Lay l) { return fn->peel_line && holds_row(fn, l); }

CuInt peel_first(const Cu *g)
{
	return g->part == PART_END ? cu_int(g->fn->row_regs)
		: cu_compound(str_fmt("ct_part * %d", peel_vector(g->fn)));
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

void peel_rest(Cu *g, const char *var) { loop_part(g, var, peel_vector(g->fn), 1); }

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
		loop_part(g, var, peel_vector(g->fn) >> each, 0);
	} else if (n > 1 && n << each == 1 << l.in[HW_REG] && cu_leaves_out(g, l)) {
		cu_reached(g, var, 0, each);
		cu_open(g);
	} else {
		return cu_loop(g, var, n);
	}
	return cu_var(var);
}

bool cu_opens_vectors(const Cu *g, Lay l, uint32_t skip)
{
	int regs = 1 << l.in[HW_REG], each = (int)skip + 1;
	return (skip & (skip + 1)) || g->part || regs_of_layout(g->fn, l) != regs
		|| !(g->roles || cu_unrolled(regs / each));
}

CuInt cu_vectors(Cu *g, Lay l, uint32_t skip, bool *opened)
{
	int regs = 1 << l.in[HW_REG], each = (int)skip + 1;
	*opened = cu_opens_vectors(g, l, skip);
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

/* ---- numbers of the elements of a peeled row ---- */
static int row_axis(Lay l)
{
	int r = 0;
	for (int a = 0; a < l.naxis; a++)
		if (l.out[a]) r = a;
	return r;
}

/* The element of register `reg`, less what the thread adds. */
Str peel_in_body(Lay l, CuInt reg)
{
	CuMap m = cu_map(l, row_axis(l));
	return cu_map_reg(&m, reg).text;
}

Str peel_of_thread(Lay l)
{
	CuMap m = cu_map(l, row_axis(l));
	return cu_map_thread(&m).text;
}

/* Of places without an element: that of the tile's end. */
Str peel_iota(const Cu *g, Lay l, CuInt reg)
{
	Str at = peel_in_body(l, reg), none = str_fmt("%lld", 1ll << g->fn->row_log2);
	return str_fmt("(%s < %d ? %s < ct_left ? (int)%s + %s + ct_begin : %s : ct_edge ? ct_end : %s)", reg.text,
		g->fn->row_regs, at, peel_of_thread(l), at, none, none);
}

/* All of a vector are below the row's length, or none are. */
Str peel_below_length(const Cu *g, Lay l, CuInt reg)
{
	CuInt first = cu_var(str_fmt("(%s & ~%d)", reg.text, peel_vector(g->fn) - 1));
	Str in = str_fmt("%s < ct_left", peel_in_body(l, first));
	if (g->fn->row_sure) in = str_fmt("(%s < %d || %s)", reg.text, g->fn->row_sure, in);
	return str_fmt("(%s < %d ? %s : ct_edge)", reg.text, g->fn->row_regs, in);
}

/* y: an integer. Places without an element are never stored: they may equal what they like. */
Str peel_equals(const Cu *g, Lay l, CuInt reg, Str y, const char *sign)
{
	Str here = str_fmt("%s %s (unsigned int)%s - (unsigned int)%s - (unsigned int)ct_begin",
		peel_in_body(l, cu_compound(str_fmt("(unsigned int)%s", reg.text))), sign, y, peel_of_thread(l));
	return str_fmt("(%s < %d ? %s : (unsigned int)ct_end %s (unsigned int)%s)", reg.text, g->fn->row_regs, here,
		sign, y);
}
