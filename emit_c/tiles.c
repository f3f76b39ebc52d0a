/* Products, reductions, scans, sorting and printing of the C target.
 *
 * Orders of combination (language: any order, fixed by source, options and target): a reduction along the last axis
 * runs LANES partial results side by side and combines them in halves; along other axes it runs in index order. mma
 * adds products in order of k, four at a time. f16 and bf16 sums and products are kept in f32 and rounded once. */
#include <string.h>

#include "base/diag.h"
#include "emit/names.h"
#include "emit_c/cg.h"
#include "ir/fold.h"
#include "ir/monoid.h"

enum { LANES = 16 };

static bool is_half(Elem e) { return e == EL_F16 || e == EL_BF16; }

static Str define(Cg *g, Val *out)
{
	Str array = array_new(g, out->type, val_name(g, out));
	g->val[out->id] = (CVal){ .kind = CV_STORED, .name = array };
	return array;
}

static void block_open(Cg *g) { out_puts(g->o, "{\n"); out_in(g->o); }
static void block_close(Cg *g) { out_off(g->o); out_puts(g->o, "}\n"); }

static Str cast_to(Elem to, Elem from, Str x)
{
	char name[96];
	if (to == from) return x;
	if (!snip_cvt(name, sizeof name, elem_rows[to].name, elem_rows[from].name, NULL, NULL)) bug("no conversion");
	return str_fmt("%s(%s)", name, x);
}

/* ---- mma ---- */
/* Elements are converted once, to the type that is multiplied: float, double, or the 32-bit integers. */
static Elem product_elem(Elem e)
{
	if (e == EL_F64) return EL_F64;
	return elem_is_any_float(e) ? EL_F32 : EL_I32;
}

static Str converted(Cg *g, const Op *op, int i)
{
	const Val *v = ir_in(op, i);
	Elem from = v->type->elem, to = product_elem(from);
	bool tf32 = from == EL_F32 && ir_int(op, AT_PRECISION, 0) == 1;
	if (from == to && !tf32) return g->val[v->id].name;
	Str array = array_new(g, type_with_elem(v->type, to), temp(g, "m"));
	Nest n;
	nest_open(g, &n, v->type);
	Str x = elem(g, v, n.idx);
	if (tf32) x = str_fmt("(float)%s", cast_to(EL_TF32, EL_F32, x));
	else if (from == EL_TF32) x = str_fmt("(float)%s", x);
	else x = cast_to(to, from, x);
	out_printf(g->o, "%s[%s] = %s;\n", array, linear(v->type, n.idx), x);
	nest_close(g, &n);
	return array;
}

static void mma_rows(Cg *g, Str c, Str a, Str b, Elem acc, long long m, long long n, long long k)
{
	long long step = k % 4 == 0 ? 4 : 1;
	Out *o = g->o;
	out_printf(o, "for (int ct_i = 0; ct_i < %lld; ct_i++)\n\tfor (int ct_k = 0; ct_k < %lld; ct_k += %lld)\n"
		"\t\tfor (int ct_j = 0; ct_j < %lld; ct_j++)", m, k, step, n);
	if (acc == EL_I32) {
		out_printf(o, " {\n\t\t\tuint32_t ct_s = (uint32_t)%s[ct_i * %lld + ct_j];\n", c, n);
		for (long long u = 0; u < step; u++)
			out_printf(o, "\t\t\tct_s += (uint32_t)%s[ct_i * %lld + ct_k + %lld] * (uint32_t)%s[(ct_k + "
				"%lld) * %lld + ct_j];\n", a, k, u, b, u, n);
		out_printf(o, "\t\t\t%s[ct_i * %lld + ct_j] = (int32_t)ct_s;\n\t\t}\n", c, n);
		return;
	}
	out_printf(o, " {\n\t\t\t%s ct_s = %s[ct_i * %lld + ct_j];\n", c_type(acc), c, n);
	for (long long u = 0; u < step; u++)
		out_printf(o, "\t\t\tct_s = CT_MAC%s(%s[ct_i * %lld + ct_k + %lld], %s[(ct_k + %lld) * %lld + ct_j], ct_s);\n",
			acc == EL_F64 ? "" : "F", a, k, u, b, u, n);
	out_printf(o, "\t\t\t%s[ct_i * %lld + ct_j] = ct_s;\n\t\t}\n", c, n);
}

static long long at_least_one(const Type *t, int axis) { return axis < 0 ? 1 : (long long)type_extent(t, axis); }

void emit_mma(Cg *g, const Op *op, Str into)
{
	Val *out = op->out[0];
	const Val *va = ir_in(op, 0), *vb = ir_in(op, 1), *vc = ir_in(op, 2);
	const Type *t = out->type;
	int r = t->rank;
	Elem acc = product_elem(va->type->elem);
	bool half = t->elem == EL_F16;
	Str result = into ? into : define(g, out);
	g->val[out->id] = (CVal){ .kind = CV_STORED, .name = result };
	block_open(g);
	int64_t top = g->mem_top, stack = g->stack;
	Str c = half ? array_new(g, type_with_elem(t, EL_F32), temp(g, "acc")) : result;
	if (g->val[vc->id].kind != CV_STORED || g->val[vc->id].name != c) {
		Nest n;
		nest_open(g, &n, t);
		Str x = elem(g, vc, n.idx);
		out_printf(g->o, "%s[%s] = %s;\n", c, linear(t, n.idx), half ? cast_to(EL_F32, EL_F16, x) : x);
		nest_close(g, &n);
	}
	Str a = converted(g, op, 0), b = converted(g, op, 1);
	long long m = at_least_one(t, r - 2), n = at_least_one(t, r - 1), k = at_least_one(va->type, va->type->rank - 1);
	long long batch = r == 3 ? at_least_one(t, 0) : 1;
	if (batch > 1) {
		bool more_a = type_extent(va->type, 0) > 1, more_b = type_extent(vb->type, 0) > 1;
		out_printf(g->o, "for (int ct_z = 0; ct_z < %lld; ct_z++) {\n", batch);
		out_in(g->o);
		mma_rows(g, str_fmt("(%s + ct_z * %lld)", c, m * n), more_a ? str_fmt("(%s + ct_z * %lld)", a, m * k) : a,
			more_b ? str_fmt("(%s + ct_z * %lld)", b, k * n) : b, acc, m, n, k);
		block_close(g);
	} else {
		mma_rows(g, c, a, b, acc, m, n, k);
	}
	if (half)
		out_printf(g->o, "for (int ct_i = 0; ct_i < %lld; ct_i++) %s[ct_i] = %s;\n", (long long)type_size(t), result,
			cast_to(EL_F16, EL_F32, str_fmt("%s[ct_i]", c)));
	g->mem_top = top;
	g->stack = stack;
	block_close(g);
}

/* ---- reductions ---- */
typedef struct Reduction {
	const Op *op;
	const Val *x;
	Val *out;
	int axis;
	int64_t n;
	Elem acc;
	Str array;
	const char *combine;
} Reduction;

static Str reduced_elem(Cg *g, const Reduction *r, const Str *idx)
{
	return cast_to(r->acc, r->x->type->elem, elem(g, r->x, idx));
}

static Str reduced_at(const Reduction *r, const Str *idx)      /* place of the result: index 0 along the axis */
{
	Str in[TILE_RANK];
	memcpy(in, idx, sizeof in[0] * r->x->type->rank);
	in[r->axis] = str_intern("0");
	return linear(r->out->type, in);
}

/* Along the last axis: lanes side by side. */
static void reduce_last(Cg *g, const Reduction *r)
{
	Nest n;
	int lanes = r->n < LANES ? (int)r->n : LANES;
	Str part = temp(g, "part"), l = temp(g, "lane"), j = temp(g, "j");
	nest_open(g, &n, r->out->type);
	out_printf(g->o, "%s %s[%d];\n", c_type(r->acc), part, lanes);
	int memo = g->memo.n;
	out_printf(g->o, "for (int %s = 0; %s < %d; %s++) {\n", l, l, lanes, l);
	out_in(g->o);
	n.idx[r->axis] = l;
	out_printf(g->o, "%s[%s] = %s;\n", part, l, reduced_elem(g, r, n.idx));
	block_close(g);
	g->memo.n = memo;
	if (r->n > lanes) {
		out_printf(g->o, "for (int %s = %d; %s < %lld; %s += %d)\n\tfor (int %s = 0; %s < %d; %s++) {\n", j, lanes, j,
			(long long)r->n, j, lanes, l, l, lanes, l);
		out_in(g->o);
		out_in(g->o);
		Str i = temp(g, "i");
		out_printf(g->o, "const int %s = %s + %s;\n", i, j, l);
		n.idx[r->axis] = i;
		out_printf(g->o, "%s[%s] = %s(%s[%s], %s);\n", part, l, r->combine, part, l, reduced_elem(g, r, n.idx));
		out_off(g->o);
		block_close(g);
		g->memo.n = memo;
	}
	if (lanes > 1)
		out_printf(g->o, "for (int %s = %d; %s > 0; %s /= 2)\n"
			"\tfor (int %s = 0; %s < %s; %s++) %s[%s] = %s(%s[%s], %s[%s + %s]);\n",
			j, lanes / 2, j, j, l, l, j, l, part, l, r->combine, part, l, part, l, j);
	n.idx[r->axis] = str_intern("0");
	out_printf(g->o, "%s[%s] = %s;\n", r->array, reduced_at(r, n.idx),
		cast_to(r->out->type->elem, r->acc, str_fmt("%s[0]", part)));
	nest_close(g, &n);
}

/* Along another axis: whole rows at a time, in index order. */
static void reduce_rows(Cg *g, const Reduction *r)
{
	const Type *t = r->x->type;
	int lead[TILE_RANK], trail[TILE_RANK], nl = 0, nt = 0;
	for (int i = 0; i < r->axis; i++) lead[nl++] = i;
	for (int i = r->axis + 1; i < t->rank; i++) trail[nt++] = i;
	int64_t top = g->mem_top, stack = g->stack;
	bool wide = r->acc != r->out->type->elem;
	Str acc = wide ? array_new(g, type_with_elem(r->out->type, r->acc), temp(g, "acc")) : r->array;
	for (int first = 1; first >= 0; first--) {
		Nest a, b;
		nest_open_axes(g, &a, t, lead, nl);
		Str i = str_intern("0");
		if (!first) {
			i = temp(g, "i");
			out_printf(g->o, "for (int %s = 1; %s < %lld; %s++) {\n", i, i, (long long)r->n, i);
			out_in(g->o);
		}
		nest_open_axes(g, &b, t, trail, nt);
		for (int k = 0; k < nl; k++) b.idx[lead[k]] = a.idx[lead[k]];
		b.idx[r->axis] = i;
		Str x = reduced_elem(g, r, b.idx), at = str_fmt("%s[%s]", acc, reduced_at(r, b.idx));
		if (first) out_printf(g->o, "%s = %s;\n", at, x);
		else out_printf(g->o, "%s = %s(%s, %s);\n", at, r->combine, at, x);
		nest_close(g, &b);
		if (!first) block_close(g);
		nest_close(g, &a);
		if (r->n == 1) break;
	}
	if (wide)
		out_printf(g->o, "for (int ct_i = 0; ct_i < %lld; ct_i++) %s[ct_i] = %s;\n", (long long)type_size(r->out->type),
			r->array,
			cast_to(r->out->type->elem, r->acc, str_fmt("%s[ct_i]", acc)));
	g->mem_top = top;
	g->stack = stack;
}

static bool keeps_wide(const Op *op, Elem e)    /* sums of halves in f32 */
{
	return is_half(e) && (op->code == OP_SUM || op->code == OP_PROD || op->code == OP_CUMSUM
		|| op->code == OP_CUMPROD) && !ir_int(op, AT_ROUNDING, 0);
}

void emit_reduce(Cg *g, const Op *op)
{
	Reduction r = { .op = op, .x = ir_in(op, 0), .out = op->out[0], .axis = ir_axis(op) };
	r.n = type_extent(r.x->type, r.axis);
	r.acc = keeps_wide(op, r.x->type->elem) ? EL_F32 : r.x->type->elem;
	r.array = define(g, op->out[0]);
	r.combine = combine_name(op, r.acc);
	block_open(g);
	if (r.axis == r.x->type->rank - 1) reduce_last(g, &r);
	else reduce_rows(g, &r);
	block_close(g);
}

/* a before b in the order of max_element: greater; a NaN before all numbers when propagated, else after them. */
static Str better(const Op *op, Elem e, Str a, Str b)
{
	const char *t = elem_rows[e].name;
	Str win = str_fmt("ct_%s_%s(%s, %s)", op->code == OP_MIN_ELEMENT ? "lt" : "gt", t, a, b);
	if (!elem_is_float(e)) return win;
	Str first = ir_int(op, AT_NAN, 0) ? a : b, second = first == a ? b : a;
	return str_fmt("(%s || (ct_isnan_%s(%s) && !ct_isnan_%s(%s)))", win, t, first, t, second);
}

void emit_reduce_index(Cg *g, const Op *op)
{
	Reduction r = { .op = op, .x = ir_in(op, 0), .out = op->out[0], .axis = ir_axis(op) };
	Elem e = r.x->type->elem;
	Nest n;
	r.array = define(g, op->out[0]);
	nest_open(g, &n, op->out[0]->type);
	Str best = temp(g, "best"), at = temp(g, "at"), i = temp(g, "i"), x = temp(g, "x");
	out_printf(g->o, "%s %s = %s;\nuint32_t %s = 0;\n", c_type(e), best, elem(g, r.x, n.idx), at);
	out_printf(g->o, "for (int %s = 1; %s < %lld; %s++) {\n", i, i, (long long)type_extent(r.x->type, r.axis), i);
	out_in(g->o);
	n.idx[r.axis] = i;
	out_printf(g->o, "const %s %s = %s;\n", c_type(e), x, elem(g, r.x, n.idx));
	out_printf(g->o, "if (%s) {\n\t%s = %s;\n\t%s = (uint32_t)%s;\n}\n", better(op, e, x, best), best, x, at, i);
	block_close(g);
	n.idx[r.axis] = str_intern("0");
	out_printf(g->o, "%s[%s] = %s;\n", r.array, linear(op->out[0]->type, n.idx), at);
	nest_close(g, &n);
}

/* ---- scans ---- */
static void other_axes(const Type *t, int axis, int *axes, int *n)
{
	*n = 0;
	for (int i = 0; i < t->rank; i++)
		if (i != axis) axes[(*n)++] = i;
}

/* Opens the walk along the axis, forwards or backwards; gives the index. */
static Str walk_open(Cg *g, const Op *op, int64_t len)
{
	Str k = temp(g, "k");
	out_printf(g->o, "for (int %s = 0; %s < %lld; %s++) {\n", k, k, (long long)len, k);
	out_in(g->o);
	if (!ir_int(op, AT_DIRECTION, 0) || len == 1) return k;
	Str i = temp(g, "i");
	out_printf(g->o, "const int %s = %lld - %s;\n", i, (long long)len - 1, k);
	return i;
}

void emit_scan(Cg *g, const Op *op)
{
	const Val *x = ir_in(op, 0);
	int axis = ir_axis(op), axes[TILE_RANK], na;
	Elem e = x->type->elem, acc = keeps_wide(op, e) ? EL_F32 : e;
	bool exclusive = ir_int(op, AT_EXCLUSIVE, 0);
	Str array = define(g, op->out[0]), s = temp(g, "s"), first = temp(g, "first");
	const char *f = combine_name(op, acc);
	Nest n;
	other_axes(x->type, axis, axes, &na);
	nest_open_axes(g, &n, x->type, axes, na);
	out_printf(g->o, "%s %s = %s;\nint %s = 1;\n", c_type(acc), s, num_c(acc, monoid_begin(op->code, acc)), first);
	n.idx[axis] = walk_open(g, op, type_extent(x->type, axis));
	Str v = cast_to(acc, e, elem(g, x, n.idx)), place = str_fmt("%s[%s]", array, linear(x->type, n.idx));
	if (exclusive) out_printf(g->o, "%s = %s;\n", place, cast_to(e, acc, s));
	out_printf(g->o, "%s = %s ? %s : %s(%s, %s);\n%s = 0;\n", s, first, v, f, s, v, first);
	if (!exclusive) out_printf(g->o, "%s = %s;\n", place, cast_to(e, acc, s));
	block_close(g);
	nest_close(g, &n);
}

/* ---- custom reductions and scans ---- */
void emit_custom(Cg *g, const Op *op)
{
	int k = op->nin / 2, axis = ir_axis(op), axes[TILE_RANK], na;
	bool scan = op->code == OP_SCAN, exclusive = ir_int(op, AT_EXCLUSIVE, 0), back = ir_int(op, AT_DIRECTION, 0);
	const IrBlock *body = op->region[0];
	const Type *t = ir_in(op, 0)->type;
	Str array[TILE_RANK], acc[TILE_RANK];
	Nest n;
	if (k > TILE_RANK) bug("a reduction over %d tiles", k);
	for (int i = 0; i < k; i++) array[i] = define(g, op->out[i]);
	other_axes(t, axis, axes, &na);
	nest_open_axes(g, &n, t, axes, na);
	for (int i = 0; i < k; i++) {
		acc[i] = temp(g, "acc");
		out_printf(g->o, "%s %s = %s;\n", c_type(ir_in(op, i)->type->elem), acc[i], scalar(g, ir_in(op, k + i)));
	}
	Str at = walk_open(g, op, type_extent(t, axis));
	n.idx[axis] = at;
	for (int i = 0; i < k; i++) {
		Str x = temp(g, "x"), old = temp(g, "a");
		Elem e = ir_in(op, i)->type->elem;
		out_printf(g->o, "%s %s = %s;\n", c_const(e), x, elem(g, ir_in(op, i), n.idx));
		out_printf(g->o, "%s %s = %s;\n", c_const(e), old, acc[i]);
		if (scan && exclusive) out_printf(g->o, "%s[%s] = %s;\n", array[i], linear(t, n.idx), old);
		/* earlier operands first: backwards, the element stands before what was combined so far */
		g->val[body->args.p[back ? k + i : i]->id] = (CVal){ .kind = CV_SCALAR, .name = old };
		g->val[body->args.p[back ? i : k + i]->id] = (CVal){ .kind = CV_SCALAR, .name = x };
	}
	bool tile[TILE_RANK] = { false };
	Frame f = { g->regions.frame, op, acc, tile, k };
	regions_run(&g->regions, &f, body);
	if (scan && !exclusive)
		for (int i = 0; i < k; i++) out_printf(g->o, "%s[%s] = %s;\n", array[i], linear(t, n.idx), acc[i]);
	block_close(g);
	n.idx[axis] = str_intern("0");
	for (int i = 0; i < k && !scan; i++)
		out_printf(g->o, "%s[%s] = %s;\n", array[i], linear(op->out[i]->type, n.idx), acc[i]);
	nest_close(g, &n);
	for (int i = 0; i < k; i++) out_printf(g->o, "(void)%s;\n", array[i]);
}

/* ---- order ---- */
/* a stands strictly before b; a NaN after everything else. */
static Str before(Elem e, bool descending, Str a, Str b)
{
	const char *t = elem_rows[e].name;
	Str lt = str_fmt("ct_%s_%s(%s, %s)", descending ? "gt" : "lt", t, a, b);
	if (!elem_is_float(e)) return lt;
	return str_fmt("(%s || (!ct_isnan_%s(%s) && ct_isnan_%s(%s)))", lt, t, a, t, b);
}

void emit_sort(Cg *g, const Op *op)     /* merge sort of each line, bottom up: stable */
{
	const Val *x = ir_in(op, 0);
	int axis = ir_axis(op), axes[TILE_RANK], na;
	Elem e = x->type->elem;
	int64_t len = type_extent(x->type, axis);
	Str array = define(g, op->out[0]);
	block_open(g);
	int64_t top = g->mem_top, stack = g->stack;
	Str a = array_new(g, type_tile(e, 1, &x->type->log2[axis]), temp(g, "line")),
		b = array_new(g, type_tile(e, 1, &x->type->log2[axis]), temp(g, "line"));
	Nest n;
	other_axes(x->type, axis, axes, &na);
	nest_open_axes(g, &n, x->type, axes, na);
	Str i = temp(g, "i"), from = temp(g, "from"), to = temp(g, "to");
	n.idx[axis] = i;
	out_printf(g->o, "%s *%s = %s, *%s = %s;\n", c_type(e), from, a, to, b);
	out_printf(g->o, "for (int %s = 0; %s < %lld; %s++) %s[%s] = %s;\n", i, i, (long long)len, i, from, i,
		elem(g, x, n.idx));
	out_printf(g->o, "for (int ct_w = 1; ct_w < %lld; ct_w *= 2) {\n", (long long)len);
	out_printf(g->o, "\tfor (int ct_s = 0; ct_s < %lld; ct_s += 2 * ct_w)\n", (long long)len);
	out_printf(g->o, "\t\tfor (int ct_k = ct_s, ct_p = ct_s, ct_q = ct_s + ct_w; ct_k < ct_s + 2 * ct_w; ct_k++) {\n");
	out_printf(g->o, "\t\t\tconst int ct_right = ct_p == ct_s + ct_w || (ct_q < ct_s + 2 * ct_w && %s);\n",
		before(e, ir_int(op, AT_DESCENDING, 0), str_fmt("%s[ct_q]", from), str_fmt("%s[ct_p]", from)));
	out_printf(g->o, "\t\t\t%s[ct_k] = ct_right ? %s[ct_q++] : %s[ct_p++];\n\t\t}\n", to, from, from);
	out_printf(g->o, "\t%s *const ct_swap = %s;\n\t%s = %s;\n\t%s = ct_swap;\n}\n", c_type(e), from, from, to, to);
	out_printf(g->o, "for (int %s = 0; %s < %lld; %s++) %s[%s] = %s[%s];\n", i, i, (long long)len, i, array,
		linear(x->type, n.idx), from, i);
	nest_close(g, &n);
	g->mem_top = top;
	g->stack = stack;
	block_close(g);
}

void emit_topk(Cg *g, const Op *op)     /* k rounds of "the best not taken yet": ties go to the lowest index */
{
	const Val *x = ir_in(op, 0);
	int axis = (int)ir_int(op, AT_AXIS, x->type->rank - 1), axes[TILE_RANK], na;
	Elem e = x->type->elem;
	const char *t = elem_rows[e].name;
	int64_t len = type_extent(x->type, axis), k = type_extent(op->out[0]->type, axis);
	Str values = define(g, op->out[0]), places = define(g, op->out[1]);
	block_open(g);
	int64_t top = g->mem_top, stack = g->stack;
	Str taken = array_new(g, type_tile(EL_U8, 1, &x->type->log2[axis]), temp(g, "taken"));
	Nest n;
	other_axes(x->type, axis, axes, &na);
	nest_open_axes(g, &n, x->type, axes, na);
	out_printf(g->o, "memset(%s, 0, %lld);\nfor (int ct_r = 0; ct_r < %lld; ct_r++) {\n", taken, (long long)len,
		(long long)k);
	out_in(g->o);
	Str i = temp(g, "i"), best = temp(g, "best"), v = temp(g, "x");
	out_printf(g->o, "int %s = -1;\n%s %s = %s;\n", best, c_type(e), v, num_c(e, num_zero(e)));
	out_printf(g->o, "for (int %s = 0; %s < %lld; %s++) {\n", i, i, (long long)len, i);
	out_in(g->o);
	n.idx[axis] = i;
	Str y = temp(g, "y"), win = str_fmt("ct_gt_%s(%s, %s)", t, y, v);
	out_printf(g->o, "const %s %s = %s;\n", c_type(e), y, elem(g, x, n.idx));
	if (elem_is_float(e)) win = str_fmt("%s || (ct_isnan_%s(%s) && !ct_isnan_%s(%s))", win, t, y, t, v);
	out_printf(g->o, "if (!%s[%s] && (%s < 0 || %s)) {\n\t%s = %s;\n\t%s = %s;\n}\n", taken, i, best, win, best, i, v,
		y);
	block_close(g);
	n.idx[axis] = str_intern("ct_r");
	Str at = linear(op->out[0]->type, n.idx);
	out_printf(g->o, "%s[%s] = 1;\n%s[%s] = %s;\n%s[%s] = %s;\n", taken, best, values, at, v, places, at, best);
	block_close(g);
	nest_close(g, &n);
	g->mem_top = top;
	g->stack = stack;
	block_close(g);
	out_printf(g->o, "(void)%s;\n(void)%s;\n", values, places);
}

void emit_histogram(Cg *g, const Op *op)
{
	const Val *x = ir_in(op, 0);
	Str array = define(g, op->out[0]), v = temp(g, "x");
	long long bins = (long long)type_size(op->out[0]->type);
	Nest n;
	out_printf(g->o, "memset(%s, 0, sizeof(int32_t) * %lld);\n", array, bins);
	nest_open(g, &n, x->type);
	out_printf(g->o, "const uint64_t %s = (uint64_t)(int64_t)%s;\nif (%s < %lld) %s[%s]++;\n", v, elem(g, x, n.idx), v,
		bins, array, v);
	nest_close(g, &n);
}

/* ---- print, assert, check ---- */
static void print_number(Cg *g, Elem e, Str x)
{
	if (elem_is_ptr(e)) out_printf(g->o, "printf(\"%%p\", (void *)%s);\n", x);
	else if (elem_is_any_float(e)) out_printf(g->o, "printf(\"%%g\", %s);\n", e == EL_F64 ? x :
		str_fmt("(double)%s", e == EL_TF32 ? x : cast_to(EL_F32, e, x)));
	else if (e == EL_BOOL) out_printf(g->o, "printf(%s ? \"true\" : \"false\");\n", x);
	else if (elem_is_signed(e)) out_printf(g->o, "printf(\"%%lld\", (long long)%s);\n", x);
	else out_printf(g->o, "printf(\"%%llu\", (unsigned long long)%s);\n", x);
}

static void print_tile(Cg *g, const Val *v)     /* [[1, 2], [3, 4]] in row order */
{
	Nest n = { .memo = g->memo.n };
	int r = v->type->rank;
	for (int i = 0; i < r; i++) {
		n.idx[i] = temp(g, "i");
		out_printf(g->o, "printf(\"[\");\nfor (int %s = 0; %s < %lld; %s++) {\n", n.idx[i], n.idx[i],
			(long long)type_extent(v->type, i), n.idx[i]);
		out_in(g->o);
		out_printf(g->o, "if (%s) printf(\", \");\n", n.idx[i]);
	}
	print_number(g, v->type->elem, elem(g, v, n.idx));
	for (int i = 0; i < r; i++) {
		block_close(g);
		out_puts(g->o, "printf(\"]\");\n");
	}
	g->memo.n = n.memo;
}

static void print_text(Cg *g, const char *from, const char *to)
{
	if (from == to) return;
	Out *o = out_new();
	for (const char *p = from; p < to; p++) {
		if ((*p == '{' || *p == '}') && p[1] == *p) p++;       /* those of formats come in pairs */
		out_raw(o, p, 1);
	}
	out_printf(g->o, "fputs(%s, stdout);\n", c_string(out_take(o)));
}

void emit_print(Cg *g, const Op *op)
{
	const IrAttr *text = ir_attr(op, AT_TEXT);
	const char *p = text ? text->u.s : "", *from = p;
	int arg = 0;
	block_open(g);
	out_puts(g->o, "#ifdef _OPENMP\n#pragma omp critical(ct_print)\n#endif\n{\n");
	out_in(g->o);
	for (; *p; p++) {
		if (p[0] == '{' && p[1] == '{') p++;
		else if (p[0] == '{' && p[1] == '}' && arg < op->nin) {
			const Val *v = ir_in(op, arg++);
			print_text(g, from, p);
			if (type_is_tile(v->type)) print_tile(g, v);
			else print_number(g, v->type->elem, scalar(g, v));
			from = p + 2;
			p++;
		}
	}
	print_text(g, from, p);
	if (!ir_int(op, AT_PARTIAL, 0)) out_puts(g->o, "fputs(\"\\n\", stdout);\n");
	out_off(g->o);
	out_puts(g->o, "}\n");
	block_close(g);
}

void emit_check(Cg *g, const Op *op)
{
	const Val *c = ir_in(op, 0);
	const IrAttr *text = ir_attr(op, AT_TEXT), *source = ir_attr(op, AT_SOURCE);
	const char *what = text && *text->u.s ? text->u.s : source ? source->u.s : "check";
	Str message = c_string(str_fmt("%s: %s failed: %s", where_c(op->span), op_rows[op->code].name, what));
	if (!type_is_tile(c->type)) {
		out_printf(g->o, "if (!%s) ct_trap(%s);\n", scalar(g, c), message);
		return;
	}
	Nest n;
	nest_open(g, &n, c->type);
	out_printf(g->o, "if (!%s) ct_trap(%s);\n", elem(g, c, n.idx), message);
	nest_close(g, &n);
}
