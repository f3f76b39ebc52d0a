/* Reductions. */

#include "base/diag.h"
#include "emit_cuda/cu.h"
#include "emit_cuda/peel.h"
#include "ir/monoid.h"

enum { MOST = TILE_RANK };

static bool is_element(int kind)
{
	return kind == KIND_MAX_ELEMENT || kind == KIND_MIN_ELEMENT;
}

/* Statements that make a[i] the combination of a[i] and b[i]; a holds names of variables. */
void reduce_combine(Cu *g, const Op *op, int kind, int n, const Str *a, const Str *b, const Str *first,
	const Str *second)
{
	Elem e = ir_in(op, 0)->type->elem;
	if (kind == KIND_CUSTOM) {
		Str args[2 * MOST], yields[MOST], function = combine_function(g, op, n);
		if (function) {
			cu_line(g, op);
			out_printf(g->o, "%s(", function);
			for (int i = 0; i < n; i++) out_printf(g->o, "&%s, ", a[i]);
			for (int i = 0; i < n; i++) out_printf(g->o, "%s, ", first[i]);
			for (int i = 0; i < n; i++) out_printf(g->o, i + 1 < n ? "%s, " : "%s);\n", second[i]);
			return;
		}
		out_puts(g->o, "{\n");
		out_in(g->o);
		for (int i = 0; i < n; i++) args[i] = first[i], args[n + i] = second[i];
		control_region(g, op->region[0], args, yields);
		for (int i = 0; i < n; i++) {
			Elem t = ir_in(op, i)->type->elem;
			if (n > 1) out_printf(g->o, "const %s ct_y%d = %s;\n", cu_type(t), i, yields[i]);
			else out_printf(g->o, "%s = %s;\n", a[i], yields[i]);
		}
		for (int i = 0; n > 1 && i < n; i++) out_printf(g->o, "%s = ct_y%d;\n", a[i], i);
		cu_end(g);
		return;
	}
	cu_line(g, op);
	if (is_element(kind)) {
		/* without && and ||, so that nothing branches; of equal ones the first; a NaN wins
		 * when propagated, else loses */
		const char *t = elem_rows[e].name, *better = kind == KIND_MAX_ELEMENT ? "gt" : "lt";
		out_printf(g->o, "const bool ct_later = %s < %s;\n", b[1], a[1]);
		out_printf(g->o, "bool ct_wins = ct_%s_%s(%s, %s) | (ct_eq_%s(%s, %s) & ct_later);\n", better, t, b[0], a[0], t,
			b[0], a[0]);
		if (elem_is_any_float(e)) {
			bool wins = ir_int(op, AT_NAN, 0) != 0;
			out_printf(g->o, "ct_wins |= ct_isnan_%s(%s) & (!ct_isnan_%s(%s) | ct_later);\n", t, (wins ? b : a)[0], t,
				(wins ? a : b)[0]);
		}
		for (int i = 0; i < 2; i++) out_printf(g->o, "%s = ct_wins ? %s : %s;\n", a[i], b[i], a[i]);
		return;
	}
	out_printf(g->o, "%s = %s;\n", a[0], elem_combine(op, kind, e, first[0], second[0]));
}

/* ---- steps of a reduction ---- */
static void name_outs(Cu *g, const Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (!cu_val(g, op->out[i])->declared) cu_val(g, op->out[i])->name = cu_name(g, op->out[i]);
}

static void declare_outs(Cu *g, const Op *op)
{
	for (int i = 0; i < op->nout; i++) cu_declare(g, op->out[i]);
}

/* The declaration of a result of one register, or its name: what stands before its first value. */
static Str declared_here(Cu *g, const Op *op)
{
	Str name = cu_at(g, op->out[0], "0");
	return cu_val(g, op->out[0])->declared ? name : str_fmt("%s %s", cu_type(op->out[0]->type->elem), name);
}

bool cu_inner_unroll(int64_t outer, int64_t n)
{
	return cu_unrolled((int)n) && (!cu_unrolled((int)outer) || cu_unrolled((int)(outer * n)));
}

/* Over all registers of a thread but the first, of a row those that rows reach. A statement follows. */
static void loop_of_rest(Cu *g, Lay l, int each, bool unroll)
{
	if (!cu_leaves_out(g, l)) {
		cu_head(g, "ct_i", 1, each, unroll);
		return;
	}
	cu_reached(g, "ct_i", 1, 0);
}

/* ct_a1 becomes the least index of the elements of a thread for which the condition holds, of ct_b0 and ct_a0. */
static void least_index(Cu *g, const Op *op, int64_t rows, int each, Str from, Str condition)
{
	Elem e = ir_in(op, 0)->type->elem, index = ir_in(op, 1)->type->elem;
	Str none = cu_num(index, num_greatest(index));
	out_printf(g->o, "ct_a1 = %s;\n", none);
	if (cu_leaves_out(g, *ir_in(op, 0)->lay)) cu_reached(g, "ct_i", 0, 0);
	else cu_head(g, "ct_i", 0, each, cu_inner_unroll(rows, each));
	cu_open(g);
	out_printf(g->o, "const %s ct_b0 = %s;\n", cu_type(e), cu_at(g, ir_in(op, 0), from));
	out_printf(g->o, "const %s ct_b1 = %s ? %s : %s;\n", cu_type(index), condition, cu_at(g, ir_in(op, 1), from), none);
	out_puts(g->o, "ct_a1 = ct_b1 < ct_a1 ? ct_b1 : ct_a1;\n");
	cu_end(g);
}

/* The greatest or smallest element of a thread and its index: the element first, then the least index of what is equal.
 * Half the instructions of comparing pairs. Where the element is a NaN, the NaNs count: all are, unless a NaN wins. */
static void reduce_element(Cu *g, const Op *op, int kind, int64_t rows, int n, const uint32_t *v)
{
	const Val *x = ir_in(op, 0);
	Elem e = x->type->elem;
	const char *t = elem_rows[e].name;
	int value = kind == KIND_MAX_ELEMENT ? KIND_MAX : KIND_MIN, each = regs_of(x) / (int)rows;
	Str from = cu_xor(cu_var("ct_s"), cu_linear(cu_var("ct_i"), n, v)).text;
	out_printf(g->o, "%s ct_a0 = %s;\n%s ct_a1;\n", cu_type(e), cu_at(g, x, "ct_s"), cu_type(ir_in(op, 1)->type->elem));
	loop_of_rest(g, *x->lay, each, cu_inner_unroll(rows, each));
	cu_open(g);
	out_printf(g->o, "const %s ct_b0 = %s;\n", cu_type(e), cu_at(g, x, from));
	out_printf(g->o, "ct_a0 = %s;\n", elem_combine(op, value, e, str_intern("ct_a0"), str_intern("ct_b0")));
	cu_end(g);
	if (elem_is_any_float(e)) {
		out_printf(g->o, "if (ct_isnan_%s(ct_a0)) {\n", t);
		out_in(g->o);
		least_index(g, op, rows, each, from, str_fmt("ct_isnan_%s(ct_b0)", t));
		out_off(g->o);
		out_puts(g->o, "} else {\n");
		out_in(g->o);
	}
	least_index(g, op, rows, each, from, str_fmt("ct_eq_%s(ct_b0, ct_a0)", t));
	if (elem_is_any_float(e)) cu_end(g);
}

/* The greatest of elements that were widened from 16 bits is found in words, two at a time; of registers 0 to
 * `each`. */
static void reduce_narrow(Cu *g, const Op *op, const Val *from, int each, int kind)
{
	const char *t = elem_rows[from->type->elem].name;
	Str lo = cu_at(g, from, "0"), hi = cu_at(g, from, "1");
	out_printf(g->o, "unsigned int ct_m = ct_join_b16(%s, %s);\n#pragma unroll\n", lo, hi);
	out_printf(g->o, "for (int ct_i = 2; ct_i < %s; ct_i += 2) ct_m = ct_%s_%sx2(ct_m, ct_join_b16(%s, %s));\n",
		cu_leaves_out(g, *from->lay) ? "ct_used" : str_i64(each & ~1), kind == KIND_MAX ? "max" : "min", t,
		cu_at(g, from, "ct_i"), cu_at(g, from, "ct_i + 1"));
	if (each % 2) {
		Str last = cu_at(g, from, str_i64(each - 1));
		out_printf(g->o, "ct_m = ct_%s_%sx2(ct_m, ct_join_b16(%s, %s));\n", kind == KIND_MAX ? "max" : "min", t, last,
			last);
	}
	lo = str_fmt("ct_cvt_f32_%s(ct_get_b16(ct_m, 0))", t);
	hi = str_fmt("ct_cvt_f32_%s(ct_get_b16(ct_m, 1))", t);
	out_printf(g->o, "%s = %s;\n", cu_at(g, op->out[0], "0"), elem_combine(op, kind, EL_F32, lo, hi));
}

/* What op combines of a register, and its combination with what `a` has. */
static Str term(Cu *g, const Op *op, const char *reg)
{
	Elem e = ir_in(op, 0)->type->elem;
	Str x = cu_at(g, ir_in(op, 0), reg);
	return op_sums_products(op) ? str_fmt("ct_mul_%s(%s, %s)", elem_rows[e].name, x, cu_at(g, ir_in(op, 1), reg)) : x;
}

static Str with_term(Cu *g, const Op *op, int kind, Str a, const char *reg)
{
	Elem e = ir_in(op, 0)->type->elem;
	Str x = cu_at(g, ir_in(op, 0), reg);
	if (!op_sums_products(op)) return elem_combine(op, kind, e, a, x);
	return str_fmt("ct_fma_%s(%s, %s, %s)", elem_rows[e].name, x, cu_at(g, ir_in(op, 1), reg), a);
}

/* One more register of a reduction in their order. */
void reduce_register(Cu *g, const Op *op, CuInt reg)
{
	Str r = cu_at(g, op->out[0], "0");
	cu_line(g, op);
	out_printf(g->o, "%s = %s ? %s : %s;\n", r, reg.text,
		with_term(g, op, (int)ir_int(op, AT_KIND, 0), r, reg.text), term(g, op, reg.text));
}

/* Of one part of a peeled row, to what the parts before it have. */
static void reduce_part(Cu *g, const Op *op, int kind)
{
	const Val *x = ir_in(op, 0);
	Elem e = x->type->elem;
	Str sum = cu_at(g, op->out[0], "0"), part = str_intern("ct_a");
	out_puts(g->o, "{\n");
	out_in(g->o);
	if (g->part == PART_END && op_sums_products(op)) {
		out_printf(g->o, "%s = %s;\n", sum, with_term(g, op, kind, sum, peel_first(g).text));
		cu_end(g);
		return;
	}
	out_printf(g->o, "%s ct_a = %s;\n", cu_type(e), term(g, op, peel_first(g).text));
	peel_rest(g, "ct_i");
	out_printf(g->o, "ct_a = %s;\n", with_term(g, op, kind, part, "ct_i"));
	cu_end(g);
	Str all = elem_combine(op, kind, e, sum, part);
	if (g->part == PART_END) out_printf(g->o, "%s = %s;\n", sum, all);
	else if (g->fn->row_regs == peel_vector(g->fn)) out_printf(g->o, "%s = ct_a;\n", sum);
	else out_printf(g->o, "%s = ct_part ? %s : ct_a;\n", sum, all);
	cu_end(g);
}

/* One value of each thread, by an operation that is an expression: the result itself holds what is combined so far. */
static bool is_expression(const Op *op, int kind)
{
	return op->nout == 1 && kind != KIND_CUSTOM && !is_element(kind);
}

static bool is_simple(const Op *op, int kind, Lay result)
{
	return result.in[HW_REG] == 0 && is_expression(op, kind);
}

static void reduce_simply(Cu *g, const Op *op, int kind, int n, const uint32_t *v)
{
	Str sum = cu_at(g, op->out[0], "0");
	int each = regs_of(ir_in(op, 0));
	cu_line(g, op);
	out_printf(g->o, "%s = %s;", declared_here(g, op), term(g, op, "0"));
	if (each == 1) {
		out_printf(g->o, "%s\n", cu_said(g, op->out[0]));
		return;
	}
	out_puts(g->o, " ");
	Str next = with_term(g, op, kind, sum, cu_linear(cu_var("ct_i"), n, v).text);
	loop_of_rest(g, *ir_in(op, 0)->lay, each, cu_inner_unroll(1, each));
	out_printf(g->o, "%s = %s;%s\n", sum, next, cu_said(g, op->out[0]));
}

static void reduce_regs(Cu *g, const Op *op, int kind)
{
	if (g->part) {
		declare_outs(g, op);
		reduce_part(g, op, kind);
		return;
	}
	const Val *x = ir_in(op, 0);
	uint32_t v[LAY_BITS];
	int n, axis = ir_axis(op);
	Lay r = lay_reduced(*x->lay, axis, 1, &n, v);
	lay_sort(*x->lay, n, v);
	if (ir_attr(op, AT_VEC)) {
		declare_outs(g, op);
		out_puts(g->o, "{\n");
		out_in(g->o);
		reduce_narrow(g, op, ir_in(x->def, 0), regs_of(x), kind);
		cu_end(g);
		return;
	}
	if (is_simple(op, kind, r)) {
		reduce_simply(g, op, kind, n, v);
		return;
	}
	declare_outs(g, op);
	int64_t rows = (int64_t)1 << r.in[HW_REG];
	if (is_expression(op, kind)) {
		int each = regs_of(x) / (int)rows;
		CuInt at = cu_deposit(cu_var("ct_q"), lay_reduced_regs(*x->lay, axis, 1));
		Str sum = cu_at(g, op->out[0], "ct_q");
		cu_each(g, "ct_q", rows);
		if (each > 1) cu_open(g);
		out_printf(g->o, "%s = %s;\n", sum, term(g, op, at.text));
		if (each == 1) return;
		Str next = with_term(g, op, kind, sum, cu_xor(at, cu_linear(cu_var("ct_i"), n, v)).text);
		cu_head(g, "ct_i", 1, each, cu_inner_unroll(rows, each));
		out_printf(g->o, "%s = %s;\n", sum, next);
		cu_end(g);
		return;
	}
	Str a[MOST], b[MOST];
	CuInt q = cu_loop(g, "ct_q", rows);
	out_printf(g->o, "const int ct_s = %s;\n", cu_deposit(q, lay_reduced_regs(*x->lay, axis, 1)).text);
	for (int i = 0; i < op->nout; i++) {
		a[i] = str_fmt("ct_a%d", i);
		b[i] = str_fmt("ct_b%d", i);
		if (is_element(kind)) continue;
		out_printf(g->o, "%s %s = %s;\n", cu_type(ir_in(op, i)->type->elem), a[i], cu_at(g, ir_in(op, i), "ct_s"));
	}
	if (is_element(kind)) {
		reduce_element(g, op, kind, rows, n, v);
	} else {
		int each = regs_of(x) >> r.in[HW_REG];
		cu_head(g, "ct_i", 1, each, cu_inner_unroll(rows, each));
		cu_open(g);
		Str from = cu_xor(cu_var("ct_s"), cu_linear(cu_var("ct_i"), n, v)).text;
		for (int i = 0; i < op->nin; i++)
			out_printf(g->o, "const %s %s = %s;\n", cu_type(ir_in(op, i)->type->elem), b[i],
				cu_at(g, ir_in(op, i), from));
		reduce_combine(g, op, kind, op->nin, a, b, a, b);
		cu_end(g);
	}
	for (int i = 0; i < op->nout; i++) out_printf(g->o, "%s = %s;\n", cu_at(g, op->out[i], q.text), a[i]);
	cu_end(g);
}

/* Of lanes whose numbers differ by `lane`, whose lowest bit is `low`, both expressions: what both have. */
static void combine_lanes(Cu *g, const Op *op, int kind, const Str *a, Str lane, Str low)
{
	Str b[MOST], first[MOST], second[MOST];
	for (int i = 0; i < op->nin; i++) {
		Elem e = ir_in(op, i)->type->elem;
		b[i] = str_fmt("ct_b%d", i);
		out_printf(g->o, "const %s %s = ct_shfl_xor_%s(%s, %s);\n", cu_type(e), b[i], elem_rows[e].name, a[i], lane);
		first[i] = a[i];
		second[i] = b[i];
		if (kind != KIND_CUSTOM) continue;
		/* the lane without the bit holds the earlier elements */
		first[i] = str_fmt("ct_e%d", i);
		second[i] = str_fmt("ct_f%d", i);
		out_printf(g->o, "const %s %s = (ct_lane & %s) ? %s : %s, %s = (ct_lane & %s) ? %s : %s;\n", cu_type(e),
			first[i], low, b[i], a[i], second[i], low, a[i], b[i]);
	}
	reduce_combine(g, op, kind, op->nin, a, b, first, second);
}

/* A row of fewer lanes is combined in fewer steps. */
static void among_lanes(Cu *g, uint32_t lane, bool doubles)
{
	if (!g->fn->short_rows) return;
	out_printf(g->o, doubles ? "if (%d << ct_k < ct_lanes) " : "if (%d < ct_lanes) ", (int)lane);
}

/* What all lanes of a warp have of x, if one instruction combines it: truth values by a vote, integers of at most
 * 32 bits by redux.sync (from sm_80 on), in the time of two of five shuffles. NULL: it takes steps. */
static Str combine_warp(Cu *g, const Op *op, int kind, int n, Str x)
{
	Elem e = ir_in(op, 0)->type->elem;
	bool combines = kind == KIND_SUM || kind == KIND_MAX || kind == KIND_MIN || kind == KIND_AND || kind == KIND_OR
		|| kind == KIND_XOR;
	if (!combines || n != LANES_LOG2 || g->fn->short_rows || !elem_is_integral(e) || elem_bytes(e) > 4) return NULL;
	return str_fmt("ct_warp_%s_%s(%s)", op_rows[monoid_of_kind(kind)].name, elem_rows[e].name, x);
}

/* lane: of each of n steps the lane to combine with, a power of 2 each time twice as large where `doubles`. said: a
 * comment. */
static void combine_steps(Cu *g, const Op *op, int kind, int n, const uint32_t *lane, bool doubles, Str sum, Str said)
{
	Elem e = ir_in(op, 0)->type->elem;
	Str all = combine_warp(g, op, kind, n, sum);
	if (all) {
		out_printf(g->o, "%s = %s;%s\n", sum, all, said);
		return;
	}
	if (doubles) cu_head(g, "ct_k", 0, n, true);
	for (int k = 0; k < (doubles ? 1 : n); k++) {
		Str other = str_fmt(doubles ? "ct_shfl_xor_%s(%s, %uu << ct_k)" : "ct_shfl_xor_%s(%s, %u)", elem_rows[e].name,
			sum, (unsigned)lane[k]);
		among_lanes(g, lane[k], doubles);
		out_printf(g->o, "%s = %s;%s\n", sum, elem_combine(op, kind, e, sum, other), said);
	}
}

static void combine_simply(Cu *g, const Op *op, int kind, int n, const uint32_t *lane, bool doubles)
{
	Str said = cu_said(g, op->out[0]), none = str_intern("");
	bool one_line = doubles || n == 1;
	Str x = cu_at(g, ir_in(op, 0), "0"), all = combine_warp(g, op, kind, n, x);
	cu_line(g, op);
	if (all) {
		out_printf(g->o, "%s = %s;%s\n", declared_here(g, op), all, said);
		return;
	}
	out_printf(g->o, "%s = %s;%s", declared_here(g, op), x, one_line ? " " : said);
	if (!one_line) out_puts(g->o, "\n");
	combine_steps(g, op, kind, n, lane, doubles, cu_at(g, op->out[0], "0"), one_line ? said : none);
}

/* Its result goes on in the array of its operand, which nobody else reads. */
static bool takes_over(Cu *g, const Op *op)
{
	const Val *x = ir_in(op, 0), *r = op->out[0];
	CuVal *from = cu_val(g, x), *to = cu_val(g, r);
	if (!x->def || x->def->code != OP_REDUCE_REGS || x->def->parent != op->parent || g->uses[x->id] != 1
		|| regs_of(x) != regs_of(r) || regs_of(x) == 1 || from->splat || from->inside || from->declared || to->declared)
		return false;
	to->name = from->name;
	return true;
}

static void reduce_lanes(Cu *g, const Op *op, int kind)
{
	const Val *x = ir_in(op, 0);
	uint32_t v[LAY_BITS], lane[LAY_BITS];
	int n, axis = ir_axis(op);
	Lay r = lay_reduced(*x->lay, axis, 2, &n, v);
	lay_sort(*x->lay, n, v);
	Str a[MOST];
	/* each distance is twice the one before, as nearly always: one loop, if nvcc is to unroll that many iterations */
	bool doubles = n > 1 && cu_unrolled(n << r.in[HW_REG]);
	for (int k = 0; k < n; k++) {
		lane[k] = lay_hwcoord(*x->lay, v[k], HW_LANE);
		doubles &= lane[k] == lane[0] << k;
	}
	if (op->nin == 1 && is_simple(op, kind, r) && regs_of(x) == 1) {
		combine_simply(g, op, kind, n, lane, doubles);
		return;
	}
	uint32_t kept = lay_reduced_regs(*x->lay, axis, 2);
	bool same = !(kept & (kept + 1));       /* registers keep their numbers */
	if (op->nin == 1 && is_expression(op, kind) && doubles && same && takes_over(g, op)) {
		Str sum = str_fmt("%s[ct_q]", cu_val(g, op->out[0])->name);
		cu_line(g, op);
		cu_each(g, "ct_q", (int64_t)1 << r.in[HW_REG]);
		combine_steps(g, op, kind, n, lane, doubles, sum, "");
		return;
	}
	declare_outs(g, op);
	CuInt q = cu_loop(g, "ct_q", (int64_t)1 << r.in[HW_REG]);
	Str from = cu_deposit(q, kept).text;
	if (op->nin == 1 && is_expression(op, kind)) {
		Str sum = cu_at(g, op->out[0], q.text);
		out_printf(g->o, "%s = %s;\n", sum, cu_at(g, x, from));
		combine_steps(g, op, kind, n, lane, doubles, sum, "");
		cu_end(g);
		return;
	}
	out_printf(g->o, "const int ct_s = %s;\n", from);
	for (int i = 0; i < op->nin; i++) {
		a[i] = str_fmt("ct_a%d", i);
		out_printf(g->o, "%s %s = %s;\n", cu_type(ir_in(op, i)->type->elem), a[i], cu_at(g, ir_in(op, i), "ct_s"));
	}
	for (int k = 0; k < (doubles ? 1 : n); k++) {
		if (doubles) cu_head(g, "ct_k", 0, n, true);
		among_lanes(g, lane[k], doubles);
		cu_open(g);
		const char *bits = doubles ? "(%uu << ct_k)" : "%u";
		combine_lanes(g, op, kind, a, str_fmt(bits, (unsigned)lane[k]),
			str_fmt(bits, (unsigned)(lane[k] & (~lane[k] + 1))));
		cu_end(g);
	}
	for (int i = 0; i < op->nin; i++) out_printf(g->o, "%s = %s;\n", cu_at(g, op->out[i], q.text), a[i]);
	cu_end(g);
}

void reduce_begin(Cu *g, const Op *op)
{
	name_outs(g, op);
	declare_outs(g, op);
}

void reduce_step(Cu *g, const Op *op)
{
	int kind = (int)ir_int(op, AT_KIND, 0);
	name_outs(g, op);
	if (op->code == OP_REDUCE_REGS) reduce_regs(g, op, kind);
	else reduce_lanes(g, op, kind);
}
