/* Reductions and scans. */
#include <string.h>

#include "base/diag.h"
#include "emit_cuda/cu.h"

enum { KIND_MAX = 2, KIND_MIN = 3, KIND_MAX_ELEMENT = 4, KIND_MIN_ELEMENT = 5, KIND_CUSTOM = 9, MOST = TILE_RANK };

static bool is_element(int kind)
{
	return kind == KIND_MAX_ELEMENT || kind == KIND_MIN_ELEMENT;
}

/* Statements that make a[i] the combination of a[i] and b[i]; a holds names of variables. */
static void combine(Cu *g, const Op *op, int kind, int n, const Str *a, const Str *b, const Str *first, const Str *second)
{
	Elem e = ir_in(op, 0)->type->elem;
	if (kind == KIND_CUSTOM) {
		Str args[2 * MOST], yields[MOST];
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
		/* without && and ||, so that nothing branches; of equal ones the first; a NaN wins when propagated, else loses */
		const char *t = elem_rows[e].name, *better = kind == KIND_MAX_ELEMENT ? "gt" : "lt";
		out_printf(g->o, "const bool ct_later = %s < %s;\n", b[1], a[1]);
		out_printf(g->o, "bool ct_wins = ct_%s_%s(%s, %s) | (ct_eq_%s(%s, %s) & ct_later);\n", better, t, b[0], a[0], t, b[0],
			a[0]);
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
static void declare_outs(Cu *g, const Op *op)
{
	for (int i = 0; i < op->nout; i++) cu_val(g, op->out[i])->name = cu_name(g, op->out[i]);
	cu_say(g, op);
	for (int i = 0; i < op->nout; i++) cu_declare(g, op->out[i]);
}

static void sort_by_image(Lay l, int n, uint32_t *v)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && lay_image(l, v[k]) < lay_image(l, v[k - 1]); k--) {
			uint32_t t = v[k];
			v[k] = v[k - 1];
			v[k - 1] = t;
		}
}

/* A loop of n turns within an unrolled one of `outer`: both are unrolled only where the whole stays within the budget, as it
 * does for every tile that lives in registers. */
static void inner_unroll(Cu *g, int64_t outer, int64_t n)
{
	bool fits = cu_unrolled((int)n) && (!cu_unrolled((int)outer) || outer * n <= UNROLL_REGS);
	out_puts(g->o, fits ? "#pragma unroll\n" : "#pragma unroll 1\n");
}

/* ct_a1 becomes the least index of the elements of a thread for which the condition holds, of ct_b0 and ct_a0. */
static void least_index(Cu *g, const Op *op, int64_t rows, int n, Str from, Str condition)
{
	Elem e = ir_in(op, 0)->type->elem, index = ir_in(op, 1)->type->elem;
	Str none = cu_num(index, num_greatest(index));
	out_printf(g->o, "ct_a1 = %s;\n", none);
	inner_unroll(g, rows, (int64_t)1 << n);
	out_printf(g->o, "for (int ct_i = 0; ct_i < %d; ct_i++) {\n", 1 << n);
	out_in(g->o);
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
	int value = kind == KIND_MAX_ELEMENT ? KIND_MAX : KIND_MIN;
	Str from = cu_xor(str_intern("ct_s"), cu_linear("ct_i", n, v));
	out_printf(g->o, "%s ct_a0 = %s;\n%s ct_a1;\n", cu_type(e), cu_at(g, x, "ct_s"), cu_type(ir_in(op, 1)->type->elem));
	inner_unroll(g, rows, (int64_t)1 << n);
	out_printf(g->o, "for (int ct_i = 1; ct_i < %d; ct_i++) {\n", 1 << n);
	out_in(g->o);
	out_printf(g->o, "const %s ct_b0 = %s;\n", cu_type(e), cu_at(g, x, from));
	out_printf(g->o, "ct_a0 = %s;\n", elem_combine(op, value, e, str_intern("ct_a0"), str_intern("ct_b0")));
	cu_end(g);
	if (elem_is_any_float(e)) {
		out_printf(g->o, "if (ct_isnan_%s(ct_a0)) {\n", t);
		out_in(g->o);
		least_index(g, op, rows, n, from, str_fmt("ct_isnan_%s(ct_b0)", t));
		out_off(g->o);
		out_puts(g->o, "} else {\n");
		out_in(g->o);
	}
	least_index(g, op, rows, n, from, str_fmt("ct_eq_%s(ct_b0, ct_a0)", t));
	if (elem_is_any_float(e)) cu_end(g);
}

static void reduce_regs(Cu *g, const Op *op, int kind)
{
	const Val *x = ir_in(op, 0);
	uint32_t v[LAY_BITS];
	int n, axis = (int)ir_int(op, AT_AXIS, 0);
	Lay r = lay_reduced(*x->lay, axis, 1, &n, v);
	sort_by_image(*x->lay, n, v);
	Str a[MOST], b[MOST];
	cu_loop(g, "ct_q", (int64_t)1 << r.in[HW_REG]);
	out_printf(g->o, "const int ct_s = %s;\n", cu_deposit("ct_q", lay_reduced_regs(*x->lay, axis, 1)));
	for (int i = 0; i < op->nin; i++) {
		a[i] = str_fmt("ct_a%d", i);
		b[i] = str_fmt("ct_b%d", i);
		if (is_element(kind)) continue;
		out_printf(g->o, "%s %s = %s;\n", cu_type(ir_in(op, i)->type->elem), a[i], cu_at(g, ir_in(op, i), "ct_s"));
	}
	if (is_element(kind)) {
		reduce_element(g, op, kind, (int64_t)1 << r.in[HW_REG], n, v);
	} else {
		inner_unroll(g, (int64_t)1 << r.in[HW_REG], (int64_t)1 << n);
		out_printf(g->o, "for (int ct_i = 1; ct_i < %d; ct_i++) {\n", 1 << n);
		out_in(g->o);
		Str from = cu_xor(str_intern("ct_s"), cu_linear("ct_i", n, v));
		for (int i = 0; i < op->nin; i++)
			out_printf(g->o, "const %s %s = %s;\n", cu_type(ir_in(op, i)->type->elem), b[i], cu_at(g, ir_in(op, i), from));
		combine(g, op, kind, op->nin, a, b, a, b);
		cu_end(g);
	}
	for (int i = 0; i < op->nin; i++) out_printf(g->o, "%s = %s;\n", cu_at(g, op->out[i], "ct_q"), a[i]);
	cu_end(g);
}

static void reduce_lanes(Cu *g, const Op *op, int kind)
{
	const Val *x = ir_in(op, 0);
	uint32_t v[LAY_BITS];
	int n, axis = (int)ir_int(op, AT_AXIS, 0);
	Lay r = lay_reduced(*x->lay, axis, 2, &n, v);
	sort_by_image(*x->lay, n, v);
	Str a[MOST], b[MOST], first[MOST], second[MOST];
	cu_loop(g, "ct_q", (int64_t)1 << r.in[HW_REG]);
	out_printf(g->o, "const int ct_s = %s;\n", cu_deposit("ct_q", lay_reduced_regs(*x->lay, axis, 2)));
	for (int i = 0; i < op->nin; i++) {
		a[i] = str_fmt("ct_a%d", i);
		out_printf(g->o, "%s %s = %s;\n", cu_type(ir_in(op, i)->type->elem), a[i], cu_at(g, ir_in(op, i), "ct_s"));
	}
	for (int k = 0; k < n; k++) {
		uint32_t lane = lay_hwcoord(*x->lay, v[k], HW_LANE);
		out_puts(g->o, "{\n");
		out_in(g->o);
		for (int i = 0; i < op->nin; i++) {
			Elem e = ir_in(op, i)->type->elem;
			b[i] = str_fmt("ct_b%d", i);
			out_printf(g->o, "const %s %s = ct_shfl_xor_%s(%s, %u);\n", cu_type(e), b[i], elem_rows[e].name, a[i], (unsigned)lane);
			first[i] = a[i];
			second[i] = b[i];
			if (kind != KIND_CUSTOM) continue;
			/* the lane without the bit holds the earlier elements */
			Str late = str_fmt("(ct_lane & %u)", (unsigned)(lane & (~lane + 1)));
			first[i] = str_fmt("ct_e%d", i);
			second[i] = str_fmt("ct_f%d", i);
			out_printf(g->o, "const %s %s = %s ? %s : %s, %s = %s ? %s : %s;\n", cu_type(e), first[i], late, b[i], a[i], second[i], late,
				a[i], b[i]);
		}
		combine(g, op, kind, op->nin, a, b, first, second);
		cu_end(g);
	}
	for (int i = 0; i < op->nin; i++) out_printf(g->o, "%s = %s;\n", cu_at(g, op->out[i], "ct_q"), a[i]);
	cu_end(g);
}

void reduce_step(Cu *g, const Op *op)
{
	int kind = (int)ir_int(op, AT_KIND, 0);
	declare_outs(g, op);
	if (op->code == OP_REDUCE_REGS) reduce_regs(g, op, kind);
	else reduce_lanes(g, op, kind);
}

/* ---- scans ---- */
/* The layout is lay_scan: along the axis run the low register bits, then lanes, then warps. Order: within a thread one
 * after the other, then lanes by doubling distance, then warps one after the other. */
typedef struct Scan {
	Cu *g;
	const Op *op;
	int n, kind;            /* tiles */
	int regs, lanes, warps; /* log2, along the axis */
	int rows;               /* log2 of the other registers */
	bool back, exclusive;
	Str identity[MOST];
	Elem e[MOST];
} Scan;

static int scan_kind(const Op *op)
{
	switch (op->code) {
	case OP_CUMSUM: return 0;
	case OP_CUMPROD: return 1;
	case OP_CUMMAX: return 2;
	case OP_CUMMIN: return 3;
	default: return KIND_CUSTOM;
	}
}

static Str identity_of(const Op *op, Elem e)
{
	Num n = { 0 };
	bool flt = elem_is_any_float(e);
	switch (op->code) {
	case OP_CUMPROD: n = num_one(e); break;
	case OP_CUMMAX: n = flt ? num_float(-1.0 / 0.0) : num_least(e); break;
	case OP_CUMMIN: n = flt ? num_float(1.0 / 0.0) : num_greatest(e); break;
	default: n = num_zero(e); break;
	}
	return cu_num(e, n);
}

static int along(Lay l, int axis, Hw h)
{
	int n = 0;
	uint32_t mask = (((uint32_t)1 << l.out[axis]) - 1) << lay_shift(l, axis);
	for (int i = 0; i < l.in[h]; i++) n += (l.col[lay_first(l, h) + i] & mask) != 0;
	return n;
}

static Scan scan_of(Cu *g, const Op *op)
{
	int axis = (int)ir_int(op, AT_AXIS, 0);
	Lay l = *ir_in(op, 0)->lay;
	Scan s = { .g = g, .op = op, .n = op->code == OP_SCAN ? op->nout : 1, .kind = scan_kind(op) };
	s.regs = along(l, axis, HW_REG);
	s.lanes = along(l, axis, HW_LANE);
	s.warps = along(l, axis, HW_WARP);
	s.rows = l.in[HW_REG] - s.regs;
	s.back = ir_int(op, AT_DIRECTION, 0) != 0;
	s.exclusive = ir_int(op, AT_EXCLUSIVE, 0) != 0;
	for (int i = 0; i < s.n; i++) {
		s.e[i] = ir_in(op, i)->type->elem;
		s.identity[i] = op->code == OP_SCAN ? cu_scalar(g, ir_in(op, s.n + i)) : identity_of(op, s.e[i]);
	}
	return s;
}

static void set_each(const Scan *s, Str *v, const char *fmt)
{
	for (int i = 0; i < s->n; i++) {
		Out *o = out_new();
		for (const char *p = fmt; *p; p++)
			if (*p == '#') out_printf(o, "%d", i);
			else out_raw(o, p, 1);
		v[i] = out_take(o);
	}
}

/* a becomes the combination of what the scan met before and what it met after; earlier elements are first operands, so
 * backwards the two change places. */
static void ordered(const Scan *s, const Str *a, const Str *b, const Str *before, const Str *after)
{
	combine(s->g, s->op, s->kind, s->n, a, b, s->back ? after : before, s->back ? before : after);
}

/* One row within a thread: results so far in the outputs, the row's combination in ct_t<i>. */
static void scan_thread(const Scan *s)
{
	Cu *g = s->g;
	Str t[MOST], x[MOST];
	int len = 1 << s->regs;
	set_each(s, t, "ct_t#");
	set_each(s, x, "ct_x#");
	Str at = s->back ? str_fmt("ct_base + %d - ct_j", len - 1) : str_intern("ct_base + ct_j");
	for (int i = 0; i < s->n; i++) out_printf(g->o, "%s ct_t%d = %s;\n", cu_type(s->e[i]), i, s->identity[i]);
	inner_unroll(g, (int64_t)1 << s->rows, len);
	out_printf(g->o, "for (int ct_j = 0; ct_j < %d; ct_j++) {\n", len);
	out_in(g->o);
	out_printf(g->o, "const int ct_r = %s;\n", at);
	for (int i = 0; i < s->n; i++) out_printf(g->o, "const %s ct_x%d = %s;\n", cu_type(s->e[i]), i, cu_at(g, ir_in(s->op, i), "ct_r"));
	for (int i = 0; s->exclusive && i < s->n; i++) out_printf(g->o, "%s = ct_t%d;\n", cu_at(g, s->op->out[i], "ct_r"), i);
	out_puts(g->o, "if (ct_j == 0) {\n");
	out_in(g->o);
	for (int i = 0; i < s->n; i++) out_printf(g->o, "ct_t%d = ct_x%d;\n", i, i);
	out_off(g->o);
	out_puts(g->o, "} else {\n");
	out_in(g->o);
	ordered(s, t, x, t, x);
	cu_end(g);
	for (int i = 0; !s->exclusive && i < s->n; i++) out_printf(g->o, "%s = ct_t%d;\n", cu_at(g, s->op->out[i], "ct_r"), i);
	cu_end(g);
}

/* ct_t<i> becomes the combination up to and with this lane; ct_p<i> that of the lanes before, where ct_has is set. */
static void scan_lanes(const Scan *s)
{
	Cu *g = s->g;
	Str t[MOST], o[MOST];
	const char *dir = s->back ? "down" : "up";
	int len = 1 << s->lanes;
	set_each(s, t, "ct_t#");
	set_each(s, o, "ct_o#");
	out_printf(g->o, "const int ct_pos = %s(int)(ct_lane & %d);\n", s->back ? str_fmt("%d - ", len - 1) : "", len - 1);
	for (int d = 1; d < len; d *= 2) {
		out_puts(g->o, "{\n");
		out_in(g->o);
		for (int i = 0; i < s->n; i++)
			out_printf(g->o, "const %s ct_o%d = ct_shfl_%s_%s(ct_t%d, %d);\n", cu_type(s->e[i]), i, dir, elem_rows[s->e[i]].name, i, d);
		out_printf(g->o, "if (ct_pos >= %d) {\n", d);
		out_in(g->o);
		ordered(s, t, o, o, t);
		cu_end(g);
		cu_end(g);
	}
	for (int i = 0; i < s->n; i++)
		out_printf(g->o, "%s ct_p%d = ct_shfl_%s_%s(ct_t%d, 1);\n", cu_type(s->e[i]), i, dir, elem_rows[s->e[i]].name, i);
	out_puts(g->o, s->warps ? "bool ct_has = ct_pos > 0;\n" : "const bool ct_has = ct_pos > 0;\n");
}

/* Each warp leaves its combination in shared memory and combines those of the warps before. */
static void scan_warps(const Scan *s)
{
	Cu *g = s->g;
	Str p[MOST], w[MOST];
	int len = 1 << s->warps, nwarps = s->g->fn->warps;
	int64_t slot = ir_int(s->op, AT_SLOT, 0);
	set_each(s, p, "ct_p#");
	set_each(s, w, "ct_w#");
	out_printf(g->o, "if (ct_pos == %d) {\n", (1 << s->lanes) - 1);
	out_in(g->o);
	for (int i = 0; i < s->n; i++)
		words_store_shared(g, s->e[i], str_fmt("%lld + ct_warp * %d", (long long)(slot + 8 * nwarps * i), elem_bytes(s->e[i])),
			str_fmt("ct_t%d", i));
	cu_end(g);
	cu_sync(g);
	/* from the nearest warp before to the farthest: each new one goes in front */
	out_printf(g->o, "for (int ct_n = 1; ct_n < %d; ct_n++) {\n", len);
	out_in(g->o);
	Str warp = s->back ? str_fmt("((int)(ct_warp & %d) + ct_n)", len - 1) : str_fmt("((int)(ct_warp & %d) - ct_n)", len - 1);
	out_printf(g->o, "const int ct_v = %s;\n", warp);
	out_printf(g->o, s->back ? "if (ct_v >= %d) break;\n" : "if (ct_v < 0) break;\n", len);
	for (int i = 0; i < s->n; i++)
		out_printf(g->o, "const %s ct_w%d = %s;\n", cu_type(s->e[i]), i, words_load_shared(s->e[i], str_fmt("%lld + ((ct_warp & ~%du) + (unsigned int)ct_v) * %d",
			(long long)(slot + 8 * nwarps * i), len - 1, elem_bytes(s->e[i]))));
	out_puts(g->o, "if (!ct_has) {\n");
	out_in(g->o);
	for (int i = 0; i < s->n; i++) out_printf(g->o, "ct_p%d = ct_w%d;\n", i, i);
	out_off(g->o);
	out_puts(g->o, "} else {\n");
	out_in(g->o);
	ordered(s, p, w, w, p);
	cu_end(g);
	out_puts(g->o, "ct_has = true;\n");
	cu_end(g);
}

static void scan_apply(const Scan *s)
{
	Cu *g = s->g;
	Str y[MOST], p[MOST];
	set_each(s, p, "ct_p#");
	set_each(s, y, "ct_z#");
	out_puts(g->o, "if (ct_has) {\n");
	out_in(g->o);
	cu_loop(g, "ct_j", (int64_t)1 << s->regs);
	for (int i = 0; i < s->n; i++) out_printf(g->o, "%s ct_z%d = %s;\n", cu_type(s->e[i]), i, cu_at(g, s->op->out[i], "ct_base + ct_j"));
	ordered(s, y, p, p, y);
	for (int i = 0; i < s->n; i++) out_printf(g->o, "%s = ct_z%d;\n", cu_at(g, s->op->out[i], "ct_base + ct_j"), i);
	cu_end(g);
	cu_end(g);
}

void reduce_scan(Cu *g, const Op *op)
{
	Scan s = scan_of(g, op);
	declare_outs(g, op);
	cu_loop(g, "ct_q", (int64_t)1 << s.rows);
	out_printf(g->o, "const int ct_base = ct_q << %d;\n", s.regs);
	scan_thread(&s);
	if (s.lanes) {
		scan_lanes(&s);
		if (s.warps) scan_warps(&s);
		scan_apply(&s);
	}
	cu_end(g);
}
