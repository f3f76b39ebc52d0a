/* Attributes of each operation: those that must be there, their kinds, modes only where they mean something. */
#include "ir/exact.h"
#include "ir/ir_check.h"

#include <math.h>

#include "ir/ir_text.h"

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
	const OpRow *row = &op_rows[code];
	_Static_assert(AT_SHAPE < 64, "a set of required attributes is a word of 64 bits");
	uint64_t axis = row->flags & (OPF_REDUCE | OPF_SCAN) ? UINT64_C(1) << AT_AXIS : 0;
	return row->needs | axis | (row->flags & OPF_GROUP ? chk_group_needs(code) : 0);
}

/* May it stand at an operation? */
static bool attr_allowed(OpCode code, AttrKey key)
{
	switch (key) {
#define IS(id) (code == OP_##id)
#define HAS(flag) ((op_rows[code].flags & OPF_##flag) != 0)
#define COMBINES (IS(REDUCE_REGS) || IS(REDUCE_LANES))
#define ACCESS (IS(LOAD) || IS(STORE))
#define LOOP (IS(FOR) || IS(WHILE))
#define ANY true
#define ATTR(id, name, kind, words, of, doc) case AT_##id: return of;
#include "ir/attrs.def"
#undef ATTR
#undef ANY
#undef LOOP
#undef ACCESS
#undef COMBINES
#undef HAS
#undef IS
	default: return false;
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
		if (a->u.i == ROUND_TIES_EVEN) {
			NEED(cast && (r == EL_TF32 || elem_is_int(r)),
				"`rounding = ties_even` is of casts to tf32 and to integers");
			return true;
		}
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

static bool is_power_of_2(int64_t n) { return n > 0 && !(n & (n - 1)); }

/* What loops over registers say. */
static bool chk_number(Check *c, const Op *op, const IrAttr *a)
{
	const char *name = attr_rows[a->key].name;
	bool tile = op->nout == 1 && type_is_tile(chk_out(op, 0));
	switch (a->key) {
	case AT_LOOP:
		NEED(a->u.i > 0 && tile, "`%s` is a number of an operation with one tile", name);
		return true;
	case AT_VEC:
		NEED(is_power_of_2(a->u.i) && tile, "`%s` is a power of 2, of an operation with one tile", name);
		return true;
	case AT_CHUNK:
		NEED(is_power_of_2(a->u.i) && (tile || op->code == OP_STORE),
			"`%s` is a power of 2, of an operation with one tile or a store", name);
		NEED(op->code != OP_REDUCE_REGS || c->fn->row_few % a->u.i == 0,
			"a reduction in chunks takes those that rows reach, which are %d registers", c->fn->row_few);
		return true;
	case AT_PIECES:
		NEED(a->u.i > 0 && c->fn->stage == STAGE_PLACED, "`%s` numbers stretches of placed operations", name);
		return true;
	default:
		return true;
	}
}

static bool chk_attr_value(Check *c, const Op *op, const IrAttr *a)
{
	const char *name = attr_rows[a->key].name;
	Elem e = op->nout ? chk_out(op, 0)->elem : EL_I64;
	NEED(attr_allowed(op->code, a->key), "`%s` means nothing here", name);
	switch (attr_rows[a->key].kind) {
	case AK_INT:
		return chk_number(c, op, a);
	case AK_INTS:
		return chk_ints(c, op, a);
	case AK_WORD:
		NEED(a->u.i != 0, "the default of `%s` is stored", name);
		NEED(a->u.i > 0 && a->u.i < 64 && attr_word_text(a->key, (int)a->u.i),
			"`%s` is not one of its words", name);
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
		if (a->key < 64) missing &= ~(UINT64_C(1) << a->key);
	}
	for (int key = 0; missing && key < 64 && key < AT_COUNT; key++)
		NEED(!(missing >> key & 1), "attribute `%s` is missing", attr_rows[key].name);
	return ir_attr(op, AT_AXIS) ? chk_axis(c, op) : true;
}
