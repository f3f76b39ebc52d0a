/* Each operation against its row: number of operands, types, attributes, layouts. What a type rule says about the
 * operands of the language (conversions, broadcasts) has been done by sema; here the operands have the types that the
 * operation computes in, so the rules are equalities. */
#include "base/diag.h"
#include "ir/ir_check.h"

/* ---- small questions ---- */
bool chk_arity(Check *c, const Op *op, int nin, int nout)
{
	NEED(op->nin == nin, "%d operand%s needed", nin, nin == 1 ? "" : "s");
	NEED(op->nout == nout, "%d result%s needed", nout, nout == 1 ? "" : "s");
	return true;
}

bool chk_tile_in(Check *c, const Op *op, int i)
{
	NEED(type_is_tile(chk_in(op, i)), "operand %d must be a tile", i);
	return true;
}

/* ---- elementwise ---- */
static bool all_same_type(Check *c, const Op *op)
{
	const Type *t = chk_in(op, 0);
	NEED(chk_is_data(t), "operands are scalars or tiles");
	for (int i = 1; i < op->nin; i++) NEED(chk_in(op, i) == t, "operands must have one type");
	NEED(chk_out(op, 0) == t, "the result must have the operands' type");
	return true;
}

static bool chk_elem_class(Check *c, TypeRule rule, Elem e)
{
	switch (rule) {
	case TR_CONV: case TR_SAME_ARITH:
		NEED(elem_is_arith(e), "the operation is for arithmetic types");
		return true;
	case TR_CONV_INT: case TR_SAME_INT: case TR_SHIFT:
		NEED(elem_is_integral(e), "the operation is for integers");
		return true;
	case TR_CONV_FLT: case TR_CONV_TO_FLT: case TR_SAME_FLT: case TR_FMA:
		NEED(elem_is_float(e), "the operation is for floats");
		return true;
	case TR_CONV_ANY_FLT:
		NEED(elem_is_any_float(e), "the operation is for floats");
		return true;
	default:
		return true;
	}
}

static bool chk_cmp(Check *c, const Op *op)
{
	const Type *t = chk_in(op, 0);
	NEED(chk_is_data(t) && chk_in(op, 1) == t, "operands must have one type");
	NEED(elem_is_arith(t->elem) || elem_is_ptr(t->elem), "the type cannot be compared");
	NEED(chk_out(op, 0) == type_with_elem(t, EL_BOOL), "the result must be bool of the operands' shape");
	return true;
}

static bool chk_select(Check *c, const Op *op)
{
	const Type *t = chk_out(op, 0);
	NEED(chk_is_data(t) && chk_in(op, 1) == t && chk_in(op, 2) == t,
		"both values and the result must have one type");
	NEED(chk_in(op, 0) == type_with_elem(t, EL_BOOL), "the condition must be bool of the values' shape");
	return true;
}

static bool chk_cast(Check *c, const Op *op)
{
	const Type *from = chk_in(op, 0), *to = chk_out(op, 0);
	NEED(chk_same_form(from, to), "the shape must stay");
	if (op->code == OP_BITCAST) {
		NEED(elem_bytes(from->elem) == elem_bytes(to->elem) && elem_bytes(to->elem),
			"the element size must stay");
		return true;
	}
	bool ptr_test = elem_is_ptr(from->elem) && to->elem == EL_BOOL;
	NEED(ptr_test || (elem_is_numeric(from->elem) && elem_is_numeric(to->elem)),
		"casts are between numeric types");
	return true;
}

static bool chk_pointer(Check *c, const Op *op)
{
	const Type *p = chk_in(op, 0), *q = chk_in(op, 1), *r = chk_out(op, 0);
	NEED(chk_is_data(p) && elem_is_ptr(p->elem), "the first operand must be a pointer");
	if (op->code == OP_PTR_ADD) {
		NEED(q == type_with_elem(p, EL_I64), "the offset must be i64 of the pointers' shape");
		NEED(r == p, "the result must have the pointers' type");
	} else {
		NEED(q == p, "both pointers must have one type");
		NEED(r == type_with_elem(p, EL_I64), "the result must be i64 of the pointers' shape");
	}
	return true;
}

bool chk_random(Check *c, const Op *op)
{
	Elem e = op->code == OP_RANDINT ? EL_U32 : EL_F32;
	if (!chk_arity(c, op, 2, 1)) return false;
	NEED(chk_is_scalar_of(chk_in(op, 0), EL_U64), "the seed must be a u64 scalar");
	NEED(chk_is_data(chk_in(op, 1)) && chk_in(op, 1)->elem == EL_U64, "the offset must be u64");
	NEED(chk_out(op, 0) == type_with_elem(chk_in(op, 1), e),
		"the result must be %s of the offset's shape", elem_rows[e].name);
	return true;
}

static bool chk_to_bool(Check *c, const Op *op)
{
	const Type *t = chk_in(op, 0);
	NEED(chk_is_data(t) && elem_is_any_float(t->elem), "the operation is for floats");
	NEED(chk_out(op, 0) == type_with_elem(t, EL_BOOL), "the result must be bool of the operand's shape");
	return true;
}

/* ---- making tiles, launch, block ---- */
bool chk_literal(Check *c, const Op *op)
{
	NEED(op->nout == 1 && type_is_tile(chk_out(op, 0)), "the result must be a tile");
	if (ir_attr(op, AT_VALUES)) {
		NEED(op->nin == 0, "elements are operands or `values`, not both");
		return true;
	}
	NEED(op->nin == type_size(chk_out(op, 0)), "one operand for each element needed");
	for (int i = 0; i < op->nin; i++)
		NEED(chk_is_scalar_of(chk_in(op, i), chk_out(op, 0)->elem),
			"operand %d must be a scalar of the result's type", i);
	return true;
}

bool chk_view(Check *c, const Op *op)
{
	NEED(op->nout == 1 && chk_out(op, 0)->kind == TY_VIEW, "the result must be a view");
	const Type *v = chk_out(op, 0);
	NEED(op->nin == 2 + 2 * v->rank, "base, offset, and extent and stride of each axis needed");
	const Type *base = chk_in(op, 0);
	bool view = base->kind == TY_VIEW && base->elem == v->elem;
	NEED(view || chk_is_scalar_of(base, elem_ptr_to(v->elem)),
		"the base must be a view or a pointer of the element type");
	for (int i = 1; i < op->nin; i++) NEED(chk_is_scalar_of(chk_in(op, i), EL_I64),
		"operand %d must be an i64 scalar", i);
	return true;
}

bool chk_private(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 2, 1)) return false;
	NEED(chk_in(op, 0)->kind == TY_VIEW && chk_in(op, 0)->rank == 1 && chk_out(op, 0) == chk_in(op, 0),
		"the operand and the result must be views of one type, of one axis");
	NEED(chk_is_scalar_of(chk_in(op, 1), EL_I32), "the number of copies must be an i32 scalar");
	NEED(ir_int(op, AT_NUMBER, 0) > 0, "`count` must be positive");
	return true;
}

bool chk_publish(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 2, 0)) return false;
	const Op *from = ir_in(op, 0)->def;
	NEED(from && from->code == OP_PRIVATE && ir_in(from, 0) == ir_in(op, 1),
		"the operands must be what `private` gave for a view, and that view");
	NEED(ir_int(op, AT_RMW, 0) == ir_int(from, AT_RMW, 0), "`rmw` must be that of `private`");
	return true;
}

bool chk_loads(Check *c, const Op *op)
{
	NEED(op->nout > 0 && op->nin > 1 && chk_in(op, 0)->kind == TY_VIEW, "a view, indices, a pad, and results needed");
	const Type *v = chk_in(op, 0), *t = chk_out(op, 0);
	NEED(type_is_tile(t) && t->rank == v->rank && t->elem == v->elem,
		"the results must be tiles of the view's rank and elements");
	for (int i = 1; i < op->nout; i++) NEED(chk_out(op, i) == t, "the results must have one type");
	NEED(op->nin == 2 + v->rank, "one index for each axis and a pad needed");
	for (int i = 1; i <= v->rank; i++) NEED(chk_is_index(chk_in(op, i)), "operand %d must be an integer scalar", i);
	NEED(chk_is_scalar_of(chk_in(op, op->nin - 1), v->elem), "the pad must be a scalar of the element type");
	return true;
}

bool chk_slide(Check *c, const Op *op)
{
	NEED(op->nin == 2 && op->nout > 0 && type_is_tile(chk_in(op, 0)), "a tile, a fill, and results needed");
	NEED(chk_is_scalar_of(chk_in(op, 1), chk_in(op, 0)->elem), "the fill must be a scalar of the element type");
	for (int i = 0; i < op->nout; i++) NEED(chk_out(op, i) == chk_in(op, 0), "the results must have the tile's type");
	return true;
}

bool chk_phase(Check *c, const Op *op)
{
	NEED(!op->parent->owner, "it is of all rows of the kernel, and stands in its body");
	NEED(op->nin > 0 && chk_in(op, 0)->kind == TY_VIEW, "operand 0 must be a view");
	NEED(op->nout == 1 && chk_is_scalar_of(chk_out(op, 0), EL_I32), "the result must be i32");
	return chk_indices(c, op, 1, chk_in(op, 0)->rank);
}

bool chk_kept(Check *c, const Op *op)
{
	NEED(op->nin == 1 && chk_is_scalar_of(chk_in(op, 0), EL_I32), "the operand must be an i32");
	NEED(op->nout == 1 && type_is_tile(chk_out(op, 0)), "the result must be a tile");
	return true;
}

bool chk_const(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 0, 1)) return false;
	NEED(chk_is_data(chk_out(op, 0)), "the result must be a scalar or a tile");
	return true;
}

bool chk_iota(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 0, 1)) return false;
	const Type *t = chk_out(op, 0);
	NEED(type_is_tile(t) && elem_is_integral(t->elem), "the result must be a tile of integers");
	NEED(type_log2_size(t) <= elem_rows[t->elem].digits, "the type cannot hold the last value");
	return true;
}

bool chk_launched(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 0, 1)) return false;
	const Type *t = chk_out(op, 0);
	NEED(type_is_scalar(t) && elem_is_integral(t->elem), "the result must be an integer scalar");
	return true;
}

bool chk_bid(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 0, 1)) return false;
	const Type *t = chk_out(op, 0);
	NEED(chk_is_scalar_of(t, EL_I32) || chk_is_scalar_of(t, EL_I64), "the result must be i32 or i64");
	return true;
}

bool chk_histogram(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 1, 1)) return false;
	const Type *x = chk_in(op, 0), *t = chk_out(op, 0);
	NEED(type_is_tile(x) && elem_is_integral(x->elem), "the operand must be a tile of integers");
	NEED(type_is_tile(t) && t->elem == EL_I32 && t->rank == 1 && type_size(t) == ir_int(op, AT_NUMBER, 0),
		"the result must be tile<i32, [count]>");
	return true;
}

bool chk_alloc_shared(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 0, 1)) return false;
	const Type *t = chk_out(op, 0);
	NEED(t->kind == TY_SHARED, "the result must be a shared buffer");
	NEED(lay_has_shape(*ir_attr(op, AT_LAYOUT)->u.lay, t->rank, t->log2),
		"`layout` has another shape");
	NEED(lay_onto(*ir_attr(op, AT_LAYOUT)->u.lay), "`layout` leaves out elements");
	return true;
}

/* ---- no result ---- */
bool chk_print(Check *c, const Op *op)
{
	NEED(op->nout == 0, "no result");
	for (int i = 0; i < op->nin; i++) NEED(chk_is_data(chk_in(op, i)),
		"operand %d must be a scalar or a tile", i);
	return true;
}

bool chk_keep(Check *c, const Op *op)
{
	NEED(op->nin == 2 && !op->nout && chk_is_scalar_of(chk_in(op, 0), EL_I32) && type_is_tile(chk_in(op, 1)),
		"the operands must be an i32 and a tile");
	return true;
}

bool chk_nothing(Check *c, const Op *op) { return chk_arity(c, op, 0, 0); }

bool chk_test(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 1, 0)) return false;
	const Type *t = chk_in(op, 0);
	NEED(chk_is_data(t) && t->elem == EL_BOOL, "the condition must be bool");
	return true;
}

bool chk_promise(Check *c, const Op *op)
{
	if (!chk_test(c, op)) return false;
	NEED(type_is_scalar(chk_in(op, 0)), "the condition must be a scalar");
	return true;
}

/* ---- layouts ---- */
static bool chk_one_layout(Check *c, const Op *op)
{
	const Lay *l = NULL;
	for (int i = 0; i < op->nin + op->nout; i++) {
		const Val *v = i < op->nin ? ir_in(op, i) : op->out[i - op->nin];
		if (!v->lay) continue;
		NEED(!l || lay_eq(*l, *v->lay), "operands and result must share one layout");
		l = v->lay;
	}
	return true;
}

/* A scan or a sort goes along the axis from bit to bit; a sort exchanges between warps least often. */
static bool chk_walk(Check *c, const Op *op)
{
	const Lay *l = ir_in(op, 0)->lay;
	Hw hw[LAY_BITS];
	uint8_t bit[LAY_BITS];
	if (!l) return true;
	int k = lay_walk(*l, ir_axis(op), hw, bit);
	NEED(k >= 0, "each bit of the axis must be one of a register, a lane or a warp, and lanes lie below warps");
	for (; k < l->out[ir_axis(op)] && !op_has(op, OPF_SCAN); k++)
		NEED(hw[k] == HW_WARP, "registers of the axis must lie below its warps");
	return true;
}

static bool chk_layouts(Check *c, const Op *op)
{
	LayoutRule rule = op_rows[op->code].layout;
	if (rule == LR_SAME) return chk_one_layout(c, op);
	if (rule == LR_SCAN) return chk_one_layout(c, op) && chk_walk(c, op);
	if (op->code != OP_CONVERT_REGS && op->code != OP_CONVERT_LANES) return true;
	CvtKind most = op->code == OP_CONVERT_REGS ? CVT_REGS : CVT_SHFL;
	NEED(ir_in(op, 0)->lay && op->out[0]->lay, "operand and result need layouts");
	NEED(lay_cvt(*op->out[0]->lay, *ir_in(op, 0)->lay) <= most,
		"the data would leave its %s", most == CVT_REGS ? "thread" : "warp");
	return true;
}

/* ---- one operation ---- */
static int elementwise_arity(TypeRule rule)
{
	switch (rule) {
	case TR_FMA: case TR_SELECT: return 3;
	case TR_CONV: case TR_CONV_INT: case TR_CONV_FLT: case TR_CONV_ANY_FLT: case TR_CONV_TO_FLT: case TR_CMP:
	case TR_SHIFT:
	case TR_PTR:
		return 2;
	default: return 1;
	}
}

/* Several tiles at once, perhaps of several types. */
bool chk_exchange(Check *c, const Op *op)
{
	NEED(op->nin && op->nin == op->nout, "there must be a result for each operand");
	for (int i = 0; i < op->nin; i++)
		NEED(type_is_tile(chk_in(op, i)) && chk_out(op, i) == chk_in(op, i),
			"result %d must be a tile of operand %d's type", i, i);
	return true;
}

static bool chk_elementwise(Check *c, const Op *op, TypeRule rule)
{
	if (!chk_arity(c, op, elementwise_arity(rule), 1)) return false;
	switch (rule) {
	case TR_CMP: return chk_cmp(c, op);
	case TR_SELECT: return chk_select(c, op);
	case TR_CAST: case TR_BITCAST: return chk_cast(c, op);
	case TR_PTR: return chk_pointer(c, op);
	case TR_TO_BOOL: return chk_to_bool(c, op);
	default: return all_same_type(c, op) && chk_elem_class(c, rule, chk_in(op, 0)->elem);
	}
}

static bool (*const rules[OP_COUNT])(Check *c, const Op *op) = {
#define NO NULL
#define RULE(f) chk_##f
#define OP(id, name, form, sig, type, layout, flags, c, cuda, tile, needs, check, sim, print, doc) [OP_##id] = check,
#include "ir/ops.def"
#undef OP
#undef RULE
#undef NO
};

/* What the type rule says of all its operations. */
static bool chk_by_type(Check *c, const Op *op, TypeRule rule)
{
	switch (rule) {
	case TR_MMA: return chk_mma(c, op);
	case TR_REDUCE: case TR_REDUCE_INDEX: case TR_REDUCE_INT: case TR_SCAN: return chk_reduce(c, op);
	case TR_LOAD: case TR_STORE: case TR_ATOMIC: return chk_access(c, op);
	case TR_GIVEN: case TR_SHAPE: case TR_NONE: bug("`%s` has no check", op_rows[op->code].name);
	default: return chk_elementwise(c, op, rule);
	}
}

static bool chk_types(Check *c, const Op *op)
{
	if (op_has(op, OPF_GROUP) && !chk_group(c, op)) return false;
	if (rules[op->code]) return rules[op->code](c, op);
	return op_has(op, OPF_GROUP) || chk_by_type(c, op, op_rows[op->code].type);
}

bool chk_op(Check *c, const Op *op)
{
	return chk_types(c, op) && chk_layouts(c, op);
}
