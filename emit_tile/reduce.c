/* Reductions and scans along one axis. Sums and products of f16 and bf16 are kept in f32 and rounded once; those of
 * signed integers run in unsigned, which wraps; bool has its own words. */
#include "base/diag.h"
#include "emit_tile/tile.h"
#include "ir/fold.h"

static const char *combine_of(OpCode code)
{
	switch (code) {
	case OP_SUM: return "sum";
	case OP_PROD: return "prod";
	case OP_REDUCE_MAX: return "reduce_max";
	case OP_REDUCE_MIN: return "reduce_min";
	case OP_REDUCE_AND: return "reduce_bitand";
	case OP_REDUCE_OR: return "reduce_bitor";
	case OP_REDUCE_XOR: return "reduce_bitxor";
	case OP_CUMSUM: return "partial_sum";
	default: return "partial_prod";
	}
}

static bool is_half(Elem e) { return e == EL_F16 || e == EL_BF16; }
static bool adds(const Op *op)
{
	return op->code == OP_SUM || op->code == OP_PROD || op->code == OP_CUMSUM || op->code == OP_CUMPROD;
}

/* reduce_min of signed integers begins with -1 in nvcc 13.4 instead of with the greatest one; the
 * complement turns the order round. */
static Str least_signed(Str x, int axis) { return str_fmt("~ct::reduce_max<%d>(~%s)", axis, x); }

static Str reduced(Tg *g, const Op *op, Str x, Elem e)
{
	int axis = ir_axis(op);
	const char *f = combine_of(op->code);
	if (e == EL_BOOL) {
		if (op->code == OP_REDUCE_XOR)
			return str_fmt("ct_nonzero(ct::reduce_bitxor<%d>(ct::element_cast<unsigned char>(%s)))", axis, x);
		bool all = op->code == OP_PROD || op->code == OP_REDUCE_MIN || op->code == OP_REDUCE_AND;
		return str_fmt("ct::%s_of<%d>(%s)", all ? "all" : "any", axis, x);
	}
	(void)g;
	if (elem_is_signed(e) && op->code == OP_REDUCE_MIN) return least_signed(x, axis);
	if (elem_is_signed(e) && adds(op))
		return str_fmt("ct::element_bitcast<%s>(ct::%s<%d>(ct_bits(%s)))", tl_elem(e), f, axis, x);
	if (is_half(e) && adds(op) && !*tl_modes(g, op))
		return str_fmt("ct::element_cast<%s>(ct::%s<%d>(ct::element_cast<float>(%s)))", tl_elem(e), f, axis, x);
	if (*tl_modes(g, op)) return str_fmt("ct::%s(%s, ct::integral_constant<%d>{}%s)", f, x, axis, tl_modes(g, op));
	return str_fmt("ct::%s<%d>(%s)", f, axis, x);
}

void tl_reduce(Tg *g, const Op *op)
{
	const Val *x = ir_in(op, 0);
	tl_define(g, op->out[0], reduced(g, op, tl_text(g, x), x->type->elem));
}

/* The least index among the elements that equal the extreme one. An extreme that is NaN equals those that are. */
void tl_reduce_index(Tg *g, const Op *op)
{
	const Val *x = ir_in(op, 0), *out = op->out[0];
	int axis = ir_axis(op);
	Str v = tl_text(g, x), best = tl_temp(g, "best"), same = tl_temp(g, "same");
	bool min = op->code == OP_MIN_ELEMENT, nan = ir_int(op, AT_NAN, 0), flt = elem_is_float(x->type->elem);
	uint8_t log2[TILE_RANK] = { 0 };
	log2[axis] = x->type->log2[axis];
	Str index = tl_type(g, type_tile(EL_U32, x->type->rank, log2)), wide = tl_typed(g, EL_U32, x->type);
	if (x->type->elem == EL_BOOL) v = str_fmt("ct::element_cast<unsigned char>(%s)", v);
	Str mode = nan && flt ? str_fmt(", ct::integral_constant<%d>{}, ct::propagate_nan_t{}", axis) : NULL;
	if (mode) out_printf(g->o, "const auto %s = ct::reduce_%s(%s%s);\n", best, min ? "min" : "max", v, mode);
	else if (min && elem_is_signed(x->type->elem))
		out_printf(g->o, "const auto %s = %s;\n", best, least_signed(v, axis));
	else out_printf(g->o, "const auto %s = ct::reduce_%s<%d>(%s);\n", best, min ? "min" : "max", axis, v);
	out_printf(g->o, "const auto %s = %s == %s%s;\n", same, v, best,
		flt ? str_fmt(" || (ct::isnan(%s) && ct::isnan(%s))", v, best) : "");
	tl_define(g, out, str_fmt("ct::reduce_min<%d>(ct::select(%s, ct::broadcast<%s>(ct::iota<%s>()), "
		"ct::full<%s>(0xffffffffu)))", axis, same, tl_shape(x->type), index, wide));
}

/* A running sum of bools is whether one was true, a product whether all were: there was no false one. */
static Str bool_scan(Tg *g, const Op *op, int axis, bool back)
{
	Str x = tl_text(g, ir_in(op, 0));
	bool all = op->code == OP_CUMPROD;
	return str_fmt("%sct_nonzero(ct::partial_sum(ct::element_cast<unsigned int>(%s%s), ct::integral_constant<%d>{}%s))",
		all ? "!" : "", all ? "!" : "", x, axis, back ? ", ct::scan_backward_t{}" : "");
}

void tl_scan(Tg *g, const Op *op)
{
	const Val *x = ir_in(op, 0);
	Elem e = x->type->elem;
	int axis = ir_axis(op);
	bool back = ir_int(op, AT_DIRECTION, 0);
	const char *f = combine_of(op->code);
	Str v = tl_text(g, x);
	if (ir_int(op, AT_EXCLUSIVE, 0)) {
		tl_scan_written(g, op);
		return;
	}
	if (e == EL_BOOL) {             /* counted: any, or as many as there are */
		tl_define(g, op->out[0], bool_scan(g, op, axis, back));
		return;
	}
	Str modes = tl_modes(g, op), rest = str_fmt(", ct::integral_constant<%d>{}%s%s", axis, modes,
		back ? ", ct::scan_backward_t{}" : "");
	if (back && *modes && !ir_int(op, AT_SUBNORMALS, 0))
		rest = str_fmt(", ct::integral_constant<%d>{}%s, ct::preserve_subnormals_t{}, "
			"ct::scan_backward_t{}", axis, modes);
	if (elem_is_signed(e)) v = str_fmt("ct::element_bitcast<%s>(ct::%s(ct_bits(%s)%s))", tl_elem(e), f, v, rest);
	else if (is_half(e) && !*modes)
		v = str_fmt("ct::element_cast<%s>(ct::%s(ct::element_cast<float>(%s)%s))", tl_elem(e), f, v, rest);
	else v = str_fmt("ct::%s(%s%s)", f, v, rest);
	tl_define(g, op->out[0], v);
}
