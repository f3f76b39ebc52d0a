/* Each operation against its row: number of operands, types, attributes, layouts. What a type rule says about the
 * operands of the language (conversions, broadcasts) has been done by sema; here the operands have the types that the
 * operation computes in, so the rules are equalities. */
#include "ir/ir_check.h"

#include <math.h>
#include <string.h>

#include "ir/ir_text.h"
#include "ir/rules.h"

/* ---- constants ---- */
typedef struct FloatRange { int emin; double max; bool inf; } FloatRange;

static FloatRange float_range(Elem e)
{
	switch (e) {
	case EL_F8E4M3: return (FloatRange){ -6, 448, false };
	case EL_F8E5M2: return (FloatRange){ -14, 57344, true };
	case EL_F16:    return (FloatRange){ -14, 65504, true };
	case EL_BF16:   return (FloatRange){ -126, 0x1.fep127, true };
	case EL_TF32:   return (FloatRange){ -126, 0x1.ffcp127, true };
	case EL_F32:    return (FloatRange){ -126, 0x1.fffffep127, true };
	default:        return (FloatRange){ -1022, 0x1.fffffffffffffp1023, true };
	}
}

static bool float_fits(Elem e, double f)
{
	FloatRange r = float_range(e);
	int exp;
	if (isnan(f) || f == 0) return true;
	if (isinf(f)) return r.inf;
	if (fabs(f) > r.max) return false;
	frexp(f, &exp);
	exp = exp - 1 < r.emin ? r.emin : exp - 1;
	double units = ldexp(f, elem_rows[e].digits - 1 - exp);         /* in units of the last place */
	return units == trunc(units);
}

bool irt_num_fits(Elem e, Num n)
{
	if (elem_is_ptr(e)) return n.i == 0;
	if (elem_is_any_float(e)) return float_fits(e, n.f);
	int digits = elem_rows[e].digits;
	if (e == EL_VOID) return false;
	if (digits >= 63) return true;
	int64_t end = (int64_t)1 << digits;
	return n.i < end && n.i >= (elem_is_signed(e) ? -end : 0);
}

/* ---- attributes ---- */
/* Those without which the operation means nothing. */
static uint64_t required(OpCode code)
{
#define A(key) (UINT64_C(1) << AT_##key)
	_Static_assert(AT_COUNT <= 64, "attribute sets are words of 64 bits");
	unsigned flags = op_rows[code].flags;
	switch (code) {
	case OP_CONST: return A(VALUE);
	case OP_LAUNCH: return A(SYM);
	case OP_PERMUTE: return A(AXES);
	case OP_SHIFT: case OP_ROTATE: return A(AXIS) | A(SHIFT);
	case OP_BID: case OP_CAT: case OP_FLIP: case OP_TAKE: case OP_SORT: return A(AXIS);
	case OP_TOPK: return A(AXIS) | A(NUMBER);
	case OP_HISTOGRAM: return A(NUMBER);
	case OP_LOAD: case OP_STORE: return A(STEPS);
	case OP_LOADS: return A(STEPS) | A(OFFSETS);
	case OP_SLIDE: return A(AXIS) | A(OFFSETS);
	case OP_HINT: case OP_PRINT: case OP_CHECK: return A(TEXT);
	case OP_ALLOC_SHARED: return A(LAYOUT);
	case OP_MMA_SYNC: return A(SHAPE);
	default:
		if (flags & OPF_GROUP) return chk_group_needs(code);
		return flags & (OPF_REDUCE | OPF_SCAN) ? A(AXIS) : 0;
	}
}

static bool is_atomic(OpCode code)
{
	return strncmp(op_rows[code].name, "atomic_", 7) == 0;
}

static bool takes_rounding(OpCode code)
{
	return op_rows[code].flags & OPF_ROUND || code == OP_EXP || code == OP_TANH;
}

/* Modes may stand only where the operation reads them; other attributes are hints to whoever knows them. */
static bool mode_allowed(OpCode code, AttrKey key)
{
	unsigned flags = op_rows[code].flags;
	bool reduces_here = code == OP_REDUCE_REGS || code == OP_REDUCE_LANES;
	switch (key) {
	case AT_ROUNDING: return takes_rounding(code) || reduces_here;
	case AT_SUBNORMALS: return flags & OPF_SUBN || reduces_here;
	case AT_NAN: return flags & OPF_NANMODE || reduces_here;
	case AT_OVERFLOW: return code == OP_CAST;
	case AT_DIRECTION: case AT_EXCLUSIVE: return flags & OPF_SCAN;
	case AT_DESCENDING: return code == OP_SORT;
	case AT_PRECISION: return code == OP_MMA || code == OP_MMA_SYNC;
	case AT_RMW: return code == OP_ATOMIC_RMW || code == OP_ATOMIC_RMW_PTR;
	case AT_ORDER: return is_atomic(code) || code == OP_LOAD || code == OP_STORE || code == OP_CLUSTER_BARRIER;
	case AT_SCOPE: return is_atomic(code);
	case AT_KIND: return reduces_here;
	case AT_PHASE: return code == OP_MBAR_WAIT;
	case AT_AMONG: return code == OP_GROUP_BARRIER;
	case AT_BY: return code == OP_MBAR_ARRIVE;
	case AT_MULTICAST: return code == OP_TMA_LOAD;
	case AT_CACHE: return code == OP_TMA_LOAD || code == OP_LOAD || code == OP_STORE;
	case AT_UNTIL: return code == OP_BULK_WAIT;
	case AT_A_MAJOR: case AT_B_MAJOR: return code == OP_WGMMA;
	case AT_TRANS: return code == OP_STMATRIX;
	default: return true;
	}
}

static bool chk_mode(Check *c, const Op *op, const IrAttr *a)
{
	Elem e = op->nin ? chk_in(op, 0)->elem : EL_I64, r = op->nout ? chk_out(op, 0)->elem : EL_I64;
	bool cast = op->code == OP_CAST;
	switch (a->key) {
	case AT_ROUNDING:
		NEED(elem_is_any_float(e) || (cast && elem_is_any_float(r)), "integers take no `rounding`");
		if (op->code == OP_EXP || op->code == OP_TANH) NEED(a->u.i >= 4,
			"`rounding` is `approximate` or `full` here");
		if (a->u.i == 5) NEED(op->code != OP_SQRT, "`rounding = full` means nothing here");
		if (a->u.i < 4 || op->code == OP_EXP || op->code == OP_TANH) return true;
		NEED(op->code == OP_DIV || op->code == OP_SQRT,
			"`rounding` is one of the four IEEE modes here");
		return true;
	case AT_SUBNORMALS:
		NEED(e == EL_F32, "`subnormals` is for f32");
		return true;
	case AT_NAN:
		NEED(elem_is_float(e), "`nan` is for floats");
		return true;
	default:
		return true;
	}
}

static bool chk_ints(Check *c, const Op *op, const IrAttr *a)
{
	const char *name = attr_rows[a->key].name;
	NEED(a->u.ints.n >= 0 && (a->u.ints.n == 0 || a->u.ints.p), "`%s` has no numbers", name);
	if (a->key == AT_UNROLL_ON) {
		NEED(op->code == OP_FOR || op->code == OP_WHILE, "`%s` is for loops", name);
		NEED(a->u.ints.n % 2 == 0, "`%s` needs pairs of an architecture and a number", name);
		return true;
	}
	NEED(op->nin > 0, "`%s` needs an operand", name);
	if (op->code == OP_SLIDE) {
		NEED(a->u.ints.n == op->nout, "`%s` needs one number for each result", name);
		return true;
	}
	int each = op->code == OP_LOADS && a->key == AT_OFFSETS ? op->nout : 1;
	NEED(a->u.ints.n == each * chk_in(op, 0)->rank,
		"`%s` needs one number for each axis of the first operand", name);
	return true;
}

static bool chk_attr_value(Check *c, const Op *op, const IrAttr *a)
{
	const char *name = attr_rows[a->key].name;
	Elem e = op->nout ? chk_out(op, 0)->elem : EL_I64;
	switch (attr_rows[a->key].kind) {
	case AK_INT:
		return true;
	case AK_INTS:
		return chk_ints(c, op, a);
	case AK_WORD:
		NEED(a->u.i != 0, "the default of `%s` is stored", name);
		NEED(a->u.i > 0 && a->u.i < 64 && attr_word_text(a->key, (int)a->u.i),
			"`%s` is not one of its words", name);
		NEED(mode_allowed(op->code, a->key), "`%s` means nothing here", name);
		return chk_mode(c, op, a);
	case AK_STR:
		NEED(a->u.s, "`%s` has no text", name);
		return true;
	case AK_SYM:
		NEED(a->u.sym, "`%s` has no expression", name);
		return chk_sym(c, a->u.sym);
	case AK_NUM:
		NEED(op->nout == 1 && irt_num_fits(e, a->u.num),
			"`%s` is not a value of the result's type", name);
		return true;
	case AK_NUMS:
		NEED(op->nout == 1 && a->u.nums.n == type_size(chk_out(op, 0)),
			"`%s` needs one number for each element", name);
		for (int i = 0; i < a->u.nums.n; i++)
			NEED(irt_num_fits(e, a->u.nums.p[i]),
				"`%s` has a number that is not of the result's type", name);
		return true;
	case AK_LAY:
		NEED(a->u.lay && lay_ok(*a->u.lay), "`%s` is no layout", name);
		return true;
	}
	return true;
}

static bool chk_axis(Check *c, const Op *op)
{
	int64_t axis = ir_int(op, AT_AXIS, -1);
	if (op->code == OP_BID) {
		NEED(axis >= 0 && axis < c->fn->ngrid, "`axis` is not an axis of the grid");
		return true;
	}
	NEED(op->nin > 0, "the operand is missing");
	NEED(axis >= 0 && axis < chk_in(op, 0)->rank, "`axis` is not an axis of the operand");
	return true;
}

bool chk_attrs(Check *c, const Op *op)
{
	uint64_t missing = required(op->code);
	for (int i = 0; i < op->nattr; i++) {
		const IrAttr *a = &op->attr[i];
		NEED(a->key < AT_COUNT, "an attribute does not exist");
		NEED(!i || op->attr[i - 1].key < a->key, "attributes are not in order");
		if (!chk_attr_value(c, op, a)) return false;
		missing &= ~(UINT64_C(1) << a->key);
	}
	for (int key = 0; key < AT_COUNT; key++)
		NEED(!(missing >> key & 1), "attribute `%s` is missing", attr_rows[key].name);
	return ir_attr(op, AT_AXIS) ? chk_axis(c, op) : true;
}

/* ---- small questions ---- */
static bool arity(Check *c, const Op *op, int nin, int nout)
{
	NEED(op->nin == nin, "%d operand%s needed", nin, nin == 1 ? "" : "s");
	NEED(op->nout == nout, "%d result%s needed", nout, nout == 1 ? "" : "s");
	return true;
}

static bool is_data(const Type *t)      /* scalar or tile */
{
	return type_is_scalar(t) || type_is_tile(t);
}

static bool is_scalar_of(const Type *t, Elem e)
{
	return type_is_scalar(t) && t->elem == e;
}

static bool is_index(const Type *t)
{
	return type_is_scalar(t) && elem_is_int(t->elem);
}

static bool same_form(const Type *a, const Type *b)     /* both scalars, or tiles of one shape */
{
	return a->kind == b->kind && is_data(a) && type_same_shape(a, b);
}

static bool chk_tile_in(Check *c, const Op *op, int i)
{
	NEED(type_is_tile(chk_in(op, i)), "operand %d must be a tile", i);
	return true;
}

static bool all_same_type(Check *c, const Op *op)
{
	const Type *t = chk_in(op, 0);
	NEED(is_data(t), "operands are scalars or tiles");
	for (int i = 1; i < op->nin; i++) NEED(chk_in(op, i) == t, "operands must have one type");
	NEED(chk_out(op, 0) == t, "the result must have the operands' type");
	return true;
}

/* ---- elementwise ---- */
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
	NEED(is_data(t) && chk_in(op, 1) == t, "operands must have one type");
	NEED(elem_is_arith(t->elem) || elem_is_ptr(t->elem), "the type cannot be compared");
	NEED(chk_out(op, 0) == type_with_elem(t, EL_BOOL), "the result must be bool of the operands' shape");
	return true;
}

static bool chk_select(Check *c, const Op *op)
{
	const Type *t = chk_out(op, 0);
	NEED(is_data(t) && chk_in(op, 1) == t && chk_in(op, 2) == t,
		"both values and the result must have one type");
	NEED(chk_in(op, 0) == type_with_elem(t, EL_BOOL), "the condition must be bool of the values' shape");
	return true;
}

static bool chk_cast(Check *c, const Op *op)
{
	const Type *from = chk_in(op, 0), *to = chk_out(op, 0);
	NEED(same_form(from, to), "the shape must stay");
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
	NEED(is_data(p) && elem_is_ptr(p->elem), "the first operand must be a pointer");
	if (op->code == OP_PTR_ADD) {
		NEED(q == type_with_elem(p, EL_I64), "the offset must be i64 of the pointers' shape");
		NEED(r == p, "the result must have the pointers' type");
	} else {
		NEED(q == p, "both pointers must have one type");
		NEED(r == type_with_elem(p, EL_I64), "the result must be i64 of the pointers' shape");
	}
	return true;
}

static bool chk_random(Check *c, const Op *op)
{
	Elem e = op->code == OP_RANDINT ? EL_U32 : EL_F32;
	if (!arity(c, op, 2, 1)) return false;
	NEED(is_scalar_of(chk_in(op, 0), EL_U64), "the seed must be a u64 scalar");
	NEED(is_data(chk_in(op, 1)) && chk_in(op, 1)->elem == EL_U64, "the offset must be u64");
	NEED(chk_out(op, 0) == type_with_elem(chk_in(op, 1), e),
		"the result must be %s of the offset's shape", elem_rows[e].name);
	return true;
}

static bool chk_to_bool(Check *c, const Op *op)
{
	const Type *t = chk_in(op, 0);
	NEED(is_data(t) && elem_is_any_float(t->elem), "the operation is for floats");
	NEED(chk_out(op, 0) == type_with_elem(t, EL_BOOL), "the result must be bool of the operand's shape");
	return true;
}

/* ---- making tiles, launch, block ---- */
static bool chk_literal(Check *c, const Op *op)
{
	NEED(op->nout == 1 && type_is_tile(chk_out(op, 0)), "the result must be a tile");
	if (ir_attr(op, AT_VALUES)) {
		NEED(op->nin == 0, "elements are operands or `values`, not both");
		return true;
	}
	NEED(op->nin == type_size(chk_out(op, 0)), "one operand for each element needed");
	for (int i = 0; i < op->nin; i++)
		NEED(is_scalar_of(chk_in(op, i), chk_out(op, 0)->elem),
			"operand %d must be a scalar of the result's type", i);
	return true;
}

static bool chk_view(Check *c, const Op *op)
{
	NEED(op->nout == 1 && chk_out(op, 0)->kind == TY_VIEW, "the result must be a view");
	const Type *v = chk_out(op, 0);
	NEED(op->nin == 2 + 2 * v->rank, "base, offset, and extent and stride of each axis needed");
	const Type *base = chk_in(op, 0);
	bool view = base->kind == TY_VIEW && base->elem == v->elem;
	NEED(view || is_scalar_of(base, elem_ptr_to(v->elem)),
		"the base must be a view or a pointer of the element type");
	for (int i = 1; i < op->nin; i++) NEED(is_scalar_of(chk_in(op, i), EL_I64),
		"operand %d must be an i64 scalar", i);
	return true;
}

static bool chk_indices(Check *c, const Op *op, int first, int n);

static bool chk_loads(Check *c, const Op *op)
{
	NEED(op->nout > 0 && op->nin > 1 && chk_in(op, 0)->kind == TY_VIEW, "a view, indices, a pad, and results needed");
	const Type *v = chk_in(op, 0), *t = chk_out(op, 0);
	NEED(type_is_tile(t) && t->rank == v->rank && t->elem == v->elem, "the results must be tiles of the view's rank and elements");
	for (int i = 1; i < op->nout; i++) NEED(chk_out(op, i) == t, "the results must have one type");
	NEED(op->nin == 2 + v->rank, "one index for each axis and a pad needed");
	for (int i = 1; i <= v->rank; i++) NEED(is_index(chk_in(op, i)), "operand %d must be an integer scalar", i);
	NEED(is_scalar_of(chk_in(op, op->nin - 1), v->elem), "the pad must be a scalar of the element type");
	return true;
}

static bool chk_slide(Check *c, const Op *op)
{
	NEED(op->nin == 2 && op->nout > 0 && type_is_tile(chk_in(op, 0)), "a tile, a fill, and results needed");
	NEED(is_scalar_of(chk_in(op, 1), chk_in(op, 0)->elem), "the fill must be a scalar of the element type");
	for (int i = 0; i < op->nout; i++) NEED(chk_out(op, i) == chk_in(op, 0), "the results must have the tile's type");
	return true;
}

static bool chk_given(Check *c, const Op *op)
{
	const Type *t = op->nout ? chk_out(op, 0) : NULL;
	switch (op->code) {
	case OP_RAND: case OP_RANDN: case OP_RANDINT: return chk_random(c, op);
	case OP_LITERAL: return chk_literal(c, op);
	case OP_VIEW: return chk_view(c, op);
	case OP_LOADS: return chk_loads(c, op);
	case OP_SLIDE: return chk_slide(c, op);
	case OP_PHASE:
		NEED(op->nin > 0 && chk_in(op, 0)->kind == TY_VIEW, "operand 0 must be a view");
		NEED(op->nout == 1 && is_scalar_of(t, EL_I32), "the result must be i32");
		return chk_indices(c, op, 1, chk_in(op, 0)->rank);
	case OP_KEPT:
		NEED(op->nin == 1 && is_scalar_of(chk_in(op, 0), EL_I32), "the operand must be an i32");
		NEED(op->nout == 1 && type_is_tile(t), "the result must be a tile");
		return true;
	default: break;
	}
	if (!arity(c, op, op->code == OP_HISTOGRAM, 1)) return false;
	switch (op->code) {
	case OP_CONST:
		NEED(is_data(t), "the result must be a scalar or a tile");
		return true;
	case OP_IOTA:
		NEED(type_is_tile(t) && elem_is_integral(t->elem), "the result must be a tile of integers");
		NEED(type_log2_size(t) <= elem_rows[t->elem].digits, "the type cannot hold the last value");
		return true;
	case OP_LAUNCH:
		NEED(type_is_scalar(t) && elem_is_integral(t->elem), "the result must be an integer scalar");
		return true;
	case OP_BID:
		NEED(is_scalar_of(t, EL_I32) || is_scalar_of(t, EL_I64), "the result must be i32 or i64");
		return true;
	case OP_HISTOGRAM:
		NEED(type_is_tile(chk_in(op, 0)) && elem_is_integral(chk_in(op, 0)->elem),
			"the operand must be a tile of integers");
		NEED(type_is_tile(t) && t->elem == EL_I32 && t->rank == 1 && type_size(t) == ir_int(op, AT_NUMBER, 0),
			"the result must be tile<i32, [count]>");
		return true;
	case OP_ALLOC_SHARED:
		NEED(t->kind == TY_SHARED, "the result must be a shared buffer");
		NEED(lay_has_shape(*ir_attr(op, AT_LAYOUT)->u.lay, t->rank, t->log2),
			"`layout` has another shape");
		NEED(lay_onto(*ir_attr(op, AT_LAYOUT)->u.lay), "`layout` leaves out elements");
		return true;
	default:
		return true;
	}
}

/* ---- shape ---- */
/* The result is x's type but for the extent along axis, which is 2^log2. */
static bool differs_in(const Type *r, const Type *x, int axis, int log2)
{
	Type want = *x;
	want.log2[axis] = (uint8_t)log2;
	return r->kind == x->kind && r->elem == x->elem && type_same_shape(r, &want);
}

static bool chk_permute(Check *c, const Op *op)
{
	const Type *x = chk_in(op, 0), *r = chk_out(op, 0);
	const int64_t *axes = ir_attr(op, AT_AXES)->u.ints.p;
	unsigned seen = 0;
	NEED(r->kind == x->kind && r->elem == x->elem && r->rank == x->rank,
		"the result must be of the same kind and rank");
	for (int i = 0; i < x->rank; i++) {
		NEED(axes[i] >= 0 && axes[i] < x->rank && !(seen >> axes[i] & 1), "`axes` is no permutation");
		seen |= 1u << axes[i];
		NEED(r->log2[i] == x->log2[axes[i]], "extent %d of the result is wrong", i);
	}
	return true;
}

static bool chk_indices(Check *c, const Op *op, int first, int n)
{
	NEED(op->nin == first + n, "one index for each axis needed");
	for (int i = first; i < op->nin; i++) NEED(is_index(chk_in(op, i)),
		"operand %d must be an integer scalar", i);
	return true;
}

static bool chk_extract(Check *c, const Op *op)
{
	bool insert = op->code == OP_INSERT;
	NEED(op->nin >= 1 + insert && op->nout == 1, "operands are missing");
	if (!chk_tile_in(c, op, 0) || (insert && !chk_tile_in(c, op, 1))) return false;
	const Type *whole = chk_in(op, 0), *part = insert ? chk_in(op, 1) : chk_out(op, 0);
	NEED(type_is_tile(part) && part->elem == whole->elem && part->rank == whole->rank,
		"the part must be a tile of the same element type and rank");
	for (int i = 0; i < part->rank; i++) NEED(part->log2[i] <= whole->log2[i],
		"the part is larger than the whole along axis %d", i);
	if (insert) NEED(chk_out(op, 0) == whole, "the result must have the whole's type");
	return chk_indices(c, op, 1 + insert, whole->rank);
}

static bool chk_take(Check *c, const Op *op)
{
	if (!arity(c, op, 3, 1) || !chk_tile_in(c, op, 0) || !chk_tile_in(c, op, 1)) return false;
	const Type *x = chk_in(op, 0), *index = chk_in(op, 1);
	int axis = (int)ir_int(op, AT_AXIS, 0);
	NEED(elem_is_int(index->elem), "the index must be integers");
	NEED(index->rank == x->rank, "the index must have the operand's rank");
	for (int i = 0; i < x->rank; i++)
		NEED(i == axis || index->log2[i] == x->log2[i],
			"the index has another extent along axis %d", i);
	NEED(is_scalar_of(chk_in(op, 2), x->elem), "the pad must be a scalar of the operand's type");
	NEED(chk_out(op, 0) == type_with_elem(index, x->elem),
		"the result must have the index's shape and the operand's element type");
	return true;
}

static bool chk_reshape(Check *c, const Op *op)
{
	const Type *x = chk_in(op, 0), *r = chk_out(op, 0);
	NEED(type_is_tile(x) && type_is_tile(r), "operand and result must be tiles");
	NEED(x->elem == r->elem && type_log2_size(x) == type_log2_size(r),
		"element type and number of elements must stay");
	return true;
}

static bool chk_broadcast(Check *c, const Op *op)
{
	const Type *x = chk_in(op, 0), *r = chk_out(op, 0);
	int axis;
	NEED(is_data(x) && type_is_tile(r) && x->elem == r->elem,
		"the result must be a tile of the operand's element type");
	NEED(type_is_scalar(x) || rule_one_way(x, r->rank, r->log2, &axis),
		"the operand does not broadcast to the result's shape");
	return true;
}

static bool chk_join(Check *c, const Op *op)
{
	bool join = op->code == OP_JOIN;
	if (!arity(c, op, join ? 2 : 1, join ? 1 : 2)) return false;
	const Type *half = join ? chk_in(op, 0) : chk_out(op, 0), *pair = join ? chk_out(op, 0) : chk_in(op, 0);
	NEED(half == (join ? chk_in(op, 1) : chk_out(op, 1)), "both halves must have one type");
	NEED(type_is_tile(half) && type_is_tile(pair) && half->elem == pair->elem,
		"all must be tiles of one element type");
	NEED(pair->rank == half->rank + 1 && pair->log2[half->rank] == 1,
		"the last axis of the pairs must have length 2");
	for (int i = 0; i < half->rank; i++) NEED(pair->log2[i] == half->log2[i], "extent %d must stay", i);
	return true;
}

static bool chk_topk(Check *c, const Op *op)
{
	if (!arity(c, op, 1, 2) || !chk_tile_in(c, op, 0)) return false;
	const Type *x = chk_in(op, 0), *r = chk_out(op, 0);
	int axis = (int)ir_int(op, AT_AXIS, 0);
	int64_t k = ir_int(op, AT_NUMBER, 0);
	NEED(type_is_tile(r) && r->rank == x->rank && type_extent(r, axis) == k,
		"the results must have `count` elements along `axis`");
	NEED(differs_in(r, x, axis, r->log2[axis]) && r->log2[axis] <= x->log2[axis],
		"the other extents must stay");
	NEED(chk_out(op, 1) == type_with_elem(r, EL_I32), "the indices must be i32 of the values' shape");
	NEED(elem_is_arith(x->elem), "the operation is for arithmetic types");
	return true;
}

/* One tile in, the same type out; some with a scalar of the element type. */
static bool chk_same_tile(Check *c, const Op *op, int nin)
{
	if (!arity(c, op, nin, 1) || !chk_tile_in(c, op, 0)) return false;
	NEED(chk_out(op, 0) == chk_in(op, 0), "the result must have the operand's type");
	if (nin == 2) NEED(is_scalar_of(chk_in(op, 1), chk_in(op, 0)->elem),
		"the fill must be a scalar of the operand's type");
	if (op->code == OP_SORT) NEED(elem_is_arith(chk_in(op, 0)->elem),
		"the operation is for arithmetic types");
	return true;
}

static bool chk_cat(Check *c, const Op *op)
{
	if (!arity(c, op, 2, 1) || !chk_tile_in(c, op, 0)) return false;
	const Type *x = chk_in(op, 0);
	int axis = (int)ir_int(op, AT_AXIS, 0);
	NEED(chk_in(op, 1) == x, "both operands must have one type");
	NEED(differs_in(chk_out(op, 0), x, axis, x->log2[axis] + 1),
		"the result must be twice as long along `axis`");
	return true;
}

static bool chk_shape(Check *c, const Op *op)
{
	switch (op->code) {
	case OP_EXTRACT: case OP_INSERT: return chk_extract(c, op);
	case OP_TAKE: return chk_take(c, op);
	case OP_JOIN: return chk_join(c, op);
	case OP_CAT: return chk_cat(c, op);
	case OP_FLIP: case OP_ROTATE: case OP_SORT: return chk_same_tile(c, op, 1);
	case OP_SHIFT: return chk_same_tile(c, op, 2);
	default: break;
	}
	if (!arity(c, op, 1, 1)) return false;
	switch (op->code) {
	case OP_RESHAPE: return chk_reshape(c, op);
	case OP_BROADCAST: return chk_broadcast(c, op);
	case OP_PERMUTE: return chk_permute(c, op);
	case OP_TO_SCALAR:
		NEED(type_is_tile(chk_in(op, 0)) && type_size(chk_in(op, 0)) == 1,
			"the operand must be a tile of one element");
		NEED(is_scalar_of(chk_out(op, 0), chk_in(op, 0)->elem),
			"the result must be a scalar of its type");
		return true;
	default: return true;
	}
}

/* ---- reductions, scans, mma ---- */
static bool chk_reduce(Check *c, const Op *op)
{
	TypeRule rule = op_rows[op->code].type;
	if (!arity(c, op, 1, 1) || !chk_tile_in(c, op, 0)) return false;
	const Type *x = chk_in(op, 0);
	NEED(rule == TR_REDUCE_INT ? elem_is_integral(x->elem) : elem_is_arith(x->elem),
		"the operation does not take the element type");
	const Type *want = rule == TR_REDUCE_INDEX ? type_with_elem(x, EL_U32) : x;
	if (rule == TR_SCAN) NEED(chk_out(op, 0) == x, "the result must have the operand's type");
	else NEED(differs_in(chk_out(op, 0), want, (int)ir_int(op, AT_AXIS, 0), 0),
		"the result must have length 1 along `axis`, and be %s",
		elem_name(want->elem));
	return true;
}

/* Steps of a placed reduction may leave the axis at any length up to the operand's: what is left is spread over threads. */
static bool chk_reduce_step(Check *c, const Op *op)
{
	int axis = (int)ir_int(op, AT_AXIS, 0);
	NEED(op->nin >= 1 && op->nout == op->nin, "one result for each operand needed");
	for (int i = 0; i < op->nin; i++) {
		const Type *x = chk_in(op, i), *r = chk_out(op, i);
		NEED(type_is_tile(x) && type_is_tile(r) && x->rank == r->rank,
			"operand and result must be tiles of one rank");
		NEED(type_same_shape(x, chk_in(op, 0)), "operands must have one shape");
		NEED(r->log2[axis] <= x->log2[axis], "`axis` must not grow");
		NEED(differs_in(r, x, axis, r->log2[axis]), "element type and the other extents must stay");
	}
	NEED((ir_int(op, AT_KIND, 0) == attr_word(AT_KIND, str_intern("custom"))) == (op->nregion == 1),
		"a region belongs to `kind = custom`, and only there");
	return true;
}

bool chk_reduce_region(Check *c, const Op *op)
{
	bool step = op->code == OP_REDUCE_REGS || op->code == OP_REDUCE_LANES, scan = op->code == OP_SCAN;
	int n = step ? op->nin : op->nin / 2;
	if (!step) {
		NEED(n >= 1 && op->nin == 2 * n && op->nout == n,
			"n tiles, n identities and n results needed");
		for (int i = 0; i < n; i++) {
			const Type *x = chk_in(op, i), *first = chk_in(op, 0);
			if (!chk_tile_in(c, op, i)) return false;
			NEED(type_same_shape(x, first), "the tiles must have one shape");
			NEED(is_scalar_of(chk_in(op, n + i), x->elem),
				"identity %d must be a scalar of its tile's type", i);
			NEED(differs_in(chk_out(op, i), x, (int)ir_int(op, AT_AXIS, 0), scan ? x->log2[ir_int(op, AT_AXIS, 0)] : 0),
				scan ? "result %d must have its tile's type" : "result %d must have length 1 along `axis`", i);
		}
	}
	NEED(op->nregion == 1, "one region needed");
	const IrBlock *b = op->region[0];
	NEED(b->args.n == 2 * n, "the region needs two arguments for each tile");
	for (int i = 0; i < 2 * n; i++)
		NEED(is_scalar_of(b->args.p[i]->type, chk_in(op, i % n)->elem),
			"argument %d of the region must be a scalar of its tile's type", i);
	return true;
}

static bool chk_mma(Check *c, const Op *op)
{
	static const struct { RuleWhy why; const char *text; } texts[] = {
		{ RULE_RANK, "ranks must be 2 or 3" }, { RULE_INNER, "inner extents differ" },
		{ RULE_ROWS, "the accumulator has another number of rows" }, { RULE_COLS, "the accumulator has another number of columns" },
		{ RULE_BATCH, "batches differ" }, { RULE_MMA_ACC, "the accumulator's element type does not go with the factors'" }
	};
	if (!arity(c, op, 3, 1)) return false;
	const Type *t[3];
	for (int i = 0; i < 3; i++) {
		t[i] = chk_in(op, i);
		if (op->code == OP_MMA_SYNC && i < 2 && t[i]->kind == TY_SHARED) t[i] = type_tile(t[i]->elem, t[i]->rank, t[i]->log2);
		NEED(type_is_tile(t[i]), "operand %d must be a tile", i);
	}
	NEED(chk_out(op, 0) == chk_in(op, 2), "the result must have the accumulator's type");
	Ruling r = rule_mma(t[0], t[1], t[2]);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) NEED(r.why != texts[i].why,
		"%s", texts[i].text);
	NEED(r.why == RULE_OK, "the factors' element types do not go together");
	return true;
}

/* ---- memory ---- */
typedef enum Extra { X_PAD, X_VALUE, X_VALUES } Extra;          /* VALUES: expected, desired */
typedef enum Result { R_NONE, R_OLD, R_DATA } Result;           /* OLD: may be left out */
typedef struct Access { Extra extra; Result result; bool mask, tiles; } Access;        /* tiles: by tile index, with steps */

static Access access_of(OpCode code)
{
	switch (code) {
	case OP_LOAD: return (Access){ X_PAD, R_DATA, false, true };
	case OP_STORE: return (Access){ X_VALUE, R_NONE, false, true };
	case OP_GATHER: case OP_LOAD_PTR: case OP_ATOMIC_LOAD: case OP_ATOMIC_LOAD_PTR: return (Access){ X_PAD, R_DATA, true, false };
	case OP_ATOMIC_RMW: case OP_ATOMIC_RMW_PTR: return (Access){ X_VALUE, R_OLD, true, false };
	case OP_ATOMIC_CAS: case OP_ATOMIC_CAS_PTR: return (Access){ X_VALUES, R_OLD, true, false };
	default: return (Access){ X_VALUE, R_NONE, true, false };
	}
}

/* The view and its indices, or the pointers; *first: the operand behind them, *e: what is accessed. */
static bool chk_place(Check *c, const Op *op, int nextra, bool mask, int *first, Elem *e)
{
	NEED(op->nin >= 1, "operands are missing");
	const Type *p = chk_in(op, 0);
	bool view = p->kind == TY_VIEW, by_ptr = strstr(op_rows[op->code].name, "_ptr") != NULL;
	if (by_ptr) NEED(is_data(p) && elem_is_ptr(p->elem) && elem_pointee(p->elem) != EL_VOID,
		"the first operand must be pointers");
	else NEED(view, "the first operand must be a view");
	*first = view ? 1 + p->rank : 1;
	*e = view ? p->elem : elem_pointee(p->elem);
	NEED(op->nin == *first + nextra || (mask && op->nin == *first + nextra + 1),
		"the number of operands is wrong");
	return true;
}

static bool chk_access_modes(Check *c, const Op *op, Elem e)
{
	int64_t order = ir_int(op, AT_ORDER, 0);
	bool load = op->code == OP_ATOMIC_LOAD || op->code == OP_ATOMIC_LOAD_PTR || op->code == OP_LOAD;
	bool store = op->code == OP_ATOMIC_STORE || op->code == OP_ATOMIC_STORE_PTR || op->code == OP_STORE;
	if (load) NEED(order <= 1, "a load is `relaxed` or `acquire`");
	if (store) NEED(order == 0 || order == 2, "a store is `relaxed` or `release`");
	if (is_atomic(op->code) && !load && !store) NEED(elem_is_arith(e) && e != EL_BOOL, "no atomics on this element type");
	return true;
}

static bool chk_access(Check *c, const Op *op)
{
	Access a = access_of(op->code);
	int nextra = a.extra == X_VALUES ? 2 : 1, first = 1;
	Elem e = EL_VOID;
	if (!chk_place(c, op, nextra, a.mask, &first, &e) || !chk_access_modes(c, op, e)) return false;
	NEED(op->nout == (a.result == R_DATA) || (op->nout == 1 && a.result == R_OLD),
		"the number of results is wrong");
	const Type *data = a.extra == X_PAD ? chk_out(op, 0) : chk_in(op, first);
	NEED(is_data(data) && data->elem == e,
		"the data must be scalars or tiles of the element type in memory");
	bool tiles = a.tiles || ir_attr(op, AT_STEPS);
	if (tiles && type_is_tile(data)) NEED(data->rank == chk_in(op, 0)->rank,
		"the tile must have the view's rank");
	for (int i = chk_in(op, 0)->kind == TY_VIEW; i < first; i++) {
		const Type *t = chk_in(op, i);
		bool ptr = i == 0;
		NEED(ptr || elem_is_int(t->elem), "operand %d must be integers", i);
		NEED(ptr ? same_form(t, data) : is_index(t) || (!tiles && same_form(t, data)),
			"operand %d must have the data's shape", i);
	}
	if (a.extra == X_PAD) NEED(is_scalar_of(chk_in(op, first), e),
		"the pad must be a scalar of the element type");
	if (a.extra == X_VALUES) NEED(chk_in(op, first + 1) == data,
		"expected and desired must have one type");
	if (op->nin > first + nextra) NEED(chk_in(op, first + nextra) == type_with_elem(data, EL_BOOL),
		"the mask must be bool of the data's shape");
	if (a.result == R_OLD && op->nout) NEED(chk_out(op, 0) == data,
		"the old values must have the data's type");
	return true;
}

static bool chk_shared(Check *c, const Op *op)
{
	bool store = op->code == OP_STORE_SHARED;
	if (!arity(c, op, store ? 2 : 1, store ? 0 : 1)) return false;
	const Type *buf = chk_in(op, 0), *t = store ? chk_in(op, 1) : chk_out(op, 0);
	NEED(buf->kind == TY_SHARED, "the first operand must be a shared buffer");
	NEED(type_is_tile(t) && t->elem == buf->elem && type_same_shape(t, buf),
		"the tile must have the buffer's shape and element type");
	return true;
}

/* ---- no result ---- */
static bool chk_effect(Check *c, const Op *op)
{
	if (op->code == OP_PRINT) {
		NEED(op->nout == 0, "no result");
		for (int i = 0; i < op->nin; i++) NEED(is_data(chk_in(op, i)),
			"operand %d must be a scalar or a tile", i);
		return true;
	}
	if (op->code == OP_KEEP) {
		NEED(op->nin == 2 && !op->nout && is_scalar_of(chk_in(op, 0), EL_I32) && type_is_tile(chk_in(op, 1)),
			"the operands must be an i32 and a tile");
		return true;
	}
	if (!arity(c, op, op->code == OP_BARRIER ? 0 : 1, 0)) return false;
	if (op->code == OP_BARRIER) return true;
	const Type *t = chk_in(op, 0);
	NEED(is_data(t) && t->elem == EL_BOOL, "the condition must be bool");
	NEED(op->code != OP_ASSUME || type_is_scalar(t), "the condition must be a scalar");
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

static bool chk_layouts(Check *c, const Op *op)
{
	if (op_rows[op->code].layout == LR_SAME) return chk_one_layout(c, op);
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
	case TR_CONV: case TR_CONV_INT: case TR_CONV_FLT: case TR_CONV_ANY_FLT: case TR_CONV_TO_FLT: case TR_CMP: case TR_SHIFT:
	case TR_PTR:
		return 2;
	default: return 1;
	}
}

/* Several tiles at once, perhaps of several types. */
static bool chk_exchange(Check *c, const Op *op)
{
	NEED(op->nin && op->nin == op->nout, "there must be a result for each operand");
	for (int i = 0; i < op->nin; i++)
		NEED(type_is_tile(chk_in(op, i)) && chk_out(op, i) == chk_in(op, i), "result %d must be a tile of operand %d's type", i, i);
	return true;
}

static bool chk_elementwise(Check *c, const Op *op, TypeRule rule)
{
	if (op->code == OP_EXCHANGE) return chk_exchange(c, op);
	if (!arity(c, op, elementwise_arity(rule), 1)) return false;
	switch (rule) {
	case TR_CMP: return chk_cmp(c, op);
	case TR_SELECT: return chk_select(c, op);
	case TR_CAST: case TR_BITCAST: return chk_cast(c, op);
	case TR_PTR: return chk_pointer(c, op);
	case TR_TO_BOOL: return chk_to_bool(c, op);
	default: return all_same_type(c, op) && chk_elem_class(c, rule, chk_in(op, 0)->elem);
	}
}

static bool chk_types(Check *c, const Op *op)
{
	if (op_rows[op->code].flags & OPF_GROUP) return chk_group(c, op);
	TypeRule rule = op_rows[op->code].type;
	switch (rule) {
	case TR_GIVEN: return chk_given(c, op);
	case TR_SHAPE: return chk_shape(c, op);
	case TR_MMA: return chk_mma(c, op);
	case TR_REDUCE: case TR_REDUCE_INDEX: case TR_REDUCE_INT: case TR_SCAN:
		return op->code == OP_REDUCE_REGS || op->code == OP_REDUCE_LANES ? chk_reduce_step(c, op) : chk_reduce(c, op);
	case TR_LOAD: case TR_STORE: case TR_ATOMIC:
		return op->code == OP_LOAD_SHARED || op->code == OP_STORE_SHARED ? chk_shared(c, op) : chk_access(c, op);
	case TR_NONE:
		if (op->code == OP_TOPK) return chk_topk(c, op);
		return op->code == OP_SPLIT ? chk_join(c, op) : chk_effect(c, op);
	default:
		return chk_elementwise(c, op, rule);
	}
}

bool chk_op(Check *c, const Op *op)
{
	return chk_types(c, op) && chk_layouts(c, op);
}
