/* Element types, shapes and operations: see rules.h. Every function is a direct
 * transcription of a rule; none reports. */
#include "ir/rules.h"

#include <string.h>

/* ---- element types ---- */

static bool restricted(Elem e)
{
	return !elem_is_ptr(e) && elem_rows[e].cls == EC_RFLOAT;
}

static bool pointers_meet(Elem a, Elem b, Elem *common)
{
	if (!elem_is_ptr(a) || !elem_is_ptr(b)) return false;
	if (a == b || elem_pointee(b) == EL_VOID) *common = b;
	else if (elem_pointee(a) == EL_VOID) *common = a;
	else return false;
	return true;
}

/* Of two integral types of different signedness: the unsigned one if it ranks as high, else the signed one if it holds
 * all values, else the unsigned partner of the signed one. With these widths the last case cannot arise. */
static Elem mixed_signs(Elem a, Elem b)
{
	Elem s = elem_is_signed(a) ? a : b, u = s == a ? b : a;
	return elem_rows[u].rank >= elem_rows[s].rank ? u : s;
}

bool rule_common(Elem a, Elem b, Elem *common)
{
	if (elem_is_ptr(a) || elem_is_ptr(b)) return pointers_meet(a, b, common);
	if (a == EL_VOID || b == EL_VOID) return false;
	if (a == b) {
		*common = a;
		return true;
	}
	bool fa = elem_is_any_float(a), fb = elem_is_any_float(b);
	if (fa && fb) {
		if (elem_rows[a].rank == elem_rows[b].rank) return false;
		*common = elem_rows[a].rank > elem_rows[b].rank ? a : b;
	} else if (fa || fb) {
		*common = fa ? a : b;
	} else if (elem_is_signed(a) == elem_is_signed(b)) {
		*common = elem_rows[a].rank > elem_rows[b].rank ? a : b;
	} else {
		*common = mixed_signs(a, b);
	}
	return true;
}

static bool pointer_narrows(Elem from, Elem to)
{
	return !elem_is_ptr(from) || !elem_is_ptr(to) || elem_pointee(to) != EL_VOID;
}

bool rule_narrows(Elem from, Elem to)
{
	if (from == to) return false;
	if (elem_is_ptr(from) || elem_is_ptr(to)) return pointer_narrows(from, to);
	bool ff = elem_is_any_float(from), ft = elem_is_any_float(to);
	if (ff != ft) return true;
	if (ff) return elem_rows[to].rank <= elem_rows[from].rank;
	if (elem_is_signed(from) && !elem_is_signed(to)) return true;
	return elem_rows[to].digits < elem_rows[from].digits;
}

bool rule_keeps(const Op *op)
{
	Elem from = op->code == OP_CAST ? ir_in(op, 0)->type->elem : EL_F32;
	return elem_is_integral(from) && !rule_narrows(from, op->out[0]->type->elem);
}

const Val *rule_kept(const Val *v)
{
	while (v->def && (v->def->code == OP_BROADCAST || rule_keeps(v->def))) v = ir_in(v->def, 0);
	return v;
}

bool rule_converts(Elem from, Elem to)
{
	if (elem_is_ptr(from)) return to == EL_BOOL || !rule_narrows(from, to);
	return elem_is_numeric(from) && elem_is_numeric(to);
}

/* ---- shapes ---- */

RuleWhy rule_limits(Elem e, int rank, const uint8_t *log2)
{
	if (rank > TILE_RANK) return RULE_TILE_RANK;
	int sum = 0;
	for (int i = 0; i < rank; i++) sum += log2[i];
	if (sum > TILE_LOG2) return RULE_ELEMENTS;
	if (((int64_t)elem_bytes(e) << sum) > TILE_BYTES) return RULE_BYTES;
	return RULE_OK;
}

bool rule_mutual(const Type *a, const Type *b, int *rank, uint8_t log2[TILE_RANK], int *axis)
{
	int n = a->rank > b->rank ? a->rank : b->rank;
	memset(log2, 0, TILE_RANK);
	*rank = n;
	for (int i = 0; i < n; i++) {
		int ia = i - (n - a->rank), ib = i - (n - b->rank);
		uint8_t la = ia >= 0 ? a->log2[ia] : 0, lb = ib >= 0 ? b->log2[ib] : 0;
		if (la != lb && la && lb) {
			*axis = i;
			return false;
		}
		log2[i] = la > lb ? la : lb;
	}
	return true;
}

bool rule_one_way(const Type *from, int rank, const uint8_t *log2, int *axis)
{
	*axis = 0;
	if (from->rank > rank) return false;
	for (int i = 0; i < from->rank; i++) {
		int to = i + rank - from->rank;
		if (from->log2[i] && from->log2[i] != log2[to]) {
			*axis = to;
			return false;
		}
	}
	return true;
}

/* ---- operations ---- */

static Ruling refuse(RuleWhy why, int which)
{
	return (Ruling){ .why = why, .which = which };
}

static Ruling allow(Elem elem, const Type *t)
{
	return (Ruling){ .why = RULE_OK, .elem = elem, .type = t };
}

/* Scalars stay scalars; with a tile on either side the result is a tile. */
static Ruling shaped(Elem operands, Elem result, const Type *a, const Type *b)
{
	if (!type_is_tile(a) && !type_is_tile(b)) return allow(operands, type_scalar(result));
	int rank, axis = 0;
	uint8_t log2[TILE_RANK];
	if (!rule_mutual(a, b, &rank, log2, &axis)) {
		Ruling r = refuse(RULE_SHAPES, 1);
		r.axis = axis;
		return r;
	}
	RuleWhy why = rule_limits(result, rank, log2);
	if (why != RULE_OK) return refuse(why, 0);
	return allow(operands, type_tile(result, rank, log2));
}

static RuleWhy class_of(TypeRule rule, Elem e)
{
	if (elem_is_ptr(e)) return RULE_POINTER;
	switch (rule) {
	case TR_CONV_INT: case TR_SHIFT: case TR_SAME_INT: case TR_REDUCE_INT:
		return elem_is_integral(e) ? RULE_OK : RULE_NOT_INT;
	case TR_CONV_FLT: case TR_CONV_TO_FLT: case TR_SAME_FLT:
		return restricted(e) ? RULE_RESTRICTED : elem_is_float(e) ? RULE_OK : RULE_NOT_FLOAT;
	case TR_TO_BOOL: case TR_CONV_ANY_FLT:
		return elem_is_any_float(e) ? RULE_OK : RULE_NOT_FLOAT;
	default:
		return restricted(e) ? RULE_RESTRICTED : RULE_OK;
	}
}

static bool forgiven(Elem from, Elem to)
{
	return elem_is_integral(from) && elem_is_float(to);
}

static Ruling convert_both(TypeRule rule, const Type *a, const Type *b)
{
	Elem e;
	bool one_scalar = rule != TR_CMP && type_is_tile(a) != type_is_tile(b);
	if (one_scalar) e = type_is_tile(a) ? a->elem : b->elem;
	else if (!rule_common(a->elem, b->elem, &e)) return refuse(RULE_NO_COMMON, 0);
	for (int i = 0; i < 2; i++) {
		Elem from = i ? b->elem : a->elem;
		if (!rule_narrows(from, e) || forgiven(from, e)) continue;
		Ruling r = refuse(RULE_NARROWS, i);
		r.elem = e;
		return r;
	}
	return shaped(e, rule == TR_CMP ? EL_BOOL : e, a, b);
}

static Ruling compare_pointers(const Type *a, const Type *b)
{
	Elem e;
	if (!rule_common(a->elem, b->elem, &e)) return refuse(RULE_NO_COMMON, 0);
	return shaped(e, EL_BOOL, a, b);
}

Ruling rule_binary(TypeRule rule, const Type *a, const Type *b)
{
	if (rule == TR_LOGIC) {
		if (restricted(a->elem)) return refuse(RULE_RESTRICTED, 0);
		if (restricted(b->elem)) return refuse(RULE_RESTRICTED, 1);
		return shaped(EL_BOOL, EL_BOOL, a, b);
	}
	if (rule == TR_CMP && elem_is_ptr(a->elem) && elem_is_ptr(b->elem)) return compare_pointers(a, b);
	RuleWhy why = class_of(rule, a->elem);
	bool late = rule == TR_CONV_TO_FLT;     /* an integer may meet a float: what counts is the type computed in */
	if (why != RULE_OK && !(late && why == RULE_NOT_FLOAT)) return refuse(why, 0);
	RuleWhy other = class_of(rule, b->elem);
	if (other != RULE_OK && !(late && other == RULE_NOT_FLOAT)) return refuse(other, 1);
	if (rule == TR_SHIFT) return shaped(a->elem, a->elem, a, b);
	Ruling r = convert_both(rule, a, b);
	if (r.why == RULE_OK && late && !elem_is_float(r.elem)) return refuse(RULE_NOT_FLOAT, 0);
	return r;
}

Ruling rule_unary(TypeRule rule, const Type *x)
{
	RuleWhy why = class_of(rule, x->elem);
	if (why != RULE_OK) return refuse(why, 0);
	return allow(x->elem, rule == TR_TO_BOOL ? type_with_elem(x, EL_BOOL) : x);
}

Ruling rule_reduce(TypeRule rule, const Type *x, int axis)
{
	RuleWhy why = class_of(rule, x->elem);
	if (why != RULE_OK) return refuse(why, 0);
	if (!type_is_tile(x) || axis < 0 || axis >= x->rank) return refuse(RULE_RANK, 0);
	if (rule == TR_SCAN) return allow(x->elem, x);
	uint8_t log2[TILE_RANK];
	memcpy(log2, x->log2, sizeof log2);
	log2[axis] = 0;
	Elem e = rule == TR_REDUCE_INDEX ? EL_U32 : x->elem;
	why = rule_limits(e, x->rank, log2);
	if (why != RULE_OK) return refuse(why, 0);
	return allow(x->elem, type_tile(e, x->rank, log2));
}

Ruling rule_cat(const Type *a, const Type *b, int axis)
{
	if (!type_is_tile(a) || !type_is_tile(b) || a->rank != b->rank || axis < 0 || axis >= a->rank)
		return refuse(RULE_RANK, 0);
	if (a->elem != b->elem) return refuse(RULE_SAME, 1);
	for (int i = 0; i < a->rank; i++) {
		if (a->log2[i] == b->log2[i]) continue;
		Ruling r = refuse(RULE_SHAPES, 1);
		r.axis = i;
		return r;
	}
	uint8_t log2[TILE_RANK];
	memcpy(log2, a->log2, sizeof log2);
	log2[axis]++;
	RuleWhy why = rule_limits(a->elem, a->rank, log2);
	if (why != RULE_OK) return refuse(why, 0);
	return allow(a->elem, type_tile(a->elem, a->rank, log2));
}

/* ---- matrix product ---- */

/* What each operand type accumulates into; the first is what matmul gives. */
static const struct { Elem e, acc[2]; int n; const char *text; } mma_rows[] = {
	{ EL_F16,    { EL_F16, EL_F32 }, 2, "f16 or f32" },
	{ EL_F8E4M3, { EL_F16, EL_F32 }, 2, "f16 or f32" },
	{ EL_F8E5M2, { EL_F16, EL_F32 }, 2, "f16 or f32" },
	{ EL_BF16,   { EL_F32, 0 }, 1, "f32" },
	{ EL_TF32,   { EL_F32, 0 }, 1, "f32" },
	{ EL_F32,    { EL_F32, 0 }, 1, "f32" },
	{ EL_F64,    { EL_F64, 0 }, 1, "f64" },
	{ EL_BOOL,   { EL_I32, 0 }, 1, "i32" },
	{ EL_I8,     { EL_I32, 0 }, 1, "i32" },
	{ EL_U8,     { EL_I32, 0 }, 1, "i32" },
};

static int mma_row(Elem e)
{
	for (int i = 0; i < (int)(sizeof mma_rows / sizeof *mma_rows); i++)
		if (mma_rows[i].e == e) return i;
	return -1;
}

const char *rule_mma_accs(Elem e)
{
	int i = mma_row(e);
	return i < 0 ? NULL : mma_rows[i].text;
}

static Ruling mma_elems(Elem a, Elem b, const Elem *acc)
{
	int ra = mma_row(a), rb = mma_row(b);
	if (ra < 0) return refuse(RULE_MMA_ELEM, 0);
	if (rb < 0) return refuse(RULE_MMA_ELEM, 1);
	if (a != b && (elem_is_any_float(a) || elem_is_any_float(b))) return refuse(RULE_SAME, 1);
	if (!acc) return allow(mma_rows[ra].acc[0], NULL);
	for (int i = 0; i < mma_rows[ra].n; i++)
		if (mma_rows[ra].acc[i] == *acc) return allow(*acc, NULL);
	return refuse(RULE_MMA_ACC, 2);
}

Ruling rule_mma(const Type *a, const Type *b, const Type *acc)
{
	const Type *t[3] = { a, b, acc };
	for (int i = 0; i < (acc ? 3 : 2); i++)
		if (!type_is_tile(t[i]) || t[i]->rank < 2 || t[i]->rank > 3 || t[i]->rank != a->rank)
			return refuse(RULE_RANK, i);
	Ruling r = mma_elems(a->elem, b->elem, acc ? &acc->elem : NULL);
	if (r.why != RULE_OK) return r;
	int n = a->rank;
	uint8_t log2[TILE_RANK] = { 0 };
	log2[n - 2] = a->log2[n - 2];
	log2[n - 1] = b->log2[n - 1];
	if (a->log2[n - 1] != b->log2[n - 2]) return refuse(RULE_INNER, 0);
	if (n == 3) {
		log2[0] = acc ? acc->log2[0] : a->log2[0] > b->log2[0] ? a->log2[0] : b->log2[0];
		if (a->log2[0] && a->log2[0] != log2[0]) return refuse(RULE_BATCH, 0);
		if (b->log2[0] && b->log2[0] != log2[0]) return refuse(RULE_BATCH, 1);
	}
	if (acc && acc->log2[n - 2] != log2[n - 2]) return refuse(RULE_ROWS, 2);
	if (acc && acc->log2[n - 1] != log2[n - 1]) return refuse(RULE_COLS, 2);
	RuleWhy why = rule_limits(r.elem, n, log2);
	if (why != RULE_OK) return refuse(why, 0);
	r.type = type_tile(r.elem, n, log2);
	return r;
}
