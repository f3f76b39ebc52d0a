/* See monoid.h. */
#include "ir/monoid.h"

#include "base/diag.h"
#include "ir/fold.h"

typedef struct Row { int kind; OpCode reduction, scan, combine; bool idempotent; } Row;

static const Row rows[] = {
	{ KIND_SUM, OP_SUM, OP_CUMSUM, OP_ADD, false },
	{ KIND_PROD, OP_PROD, OP_CUMPROD, OP_MUL, false },
	{ KIND_MAX, OP_REDUCE_MAX, OP_CUMMAX, OP_MAX, true },
	{ KIND_MIN, OP_REDUCE_MIN, OP_CUMMIN, OP_MIN, true },
	{ KIND_AND, OP_REDUCE_AND, OP_COUNT, OP_AND, true },
	{ KIND_OR, OP_REDUCE_OR, OP_COUNT, OP_OR, true },
	{ KIND_XOR, OP_REDUCE_XOR, OP_COUNT, OP_XOR, false },
	/* with the element's number; of their values alone */
	{ KIND_MAX_ELEMENT, OP_MAX_ELEMENT, OP_COUNT, OP_MAX, true },
	{ KIND_MIN_ELEMENT, OP_MIN_ELEMENT, OP_COUNT, OP_MIN, true },
};

enum { ROWS = sizeof rows / sizeof *rows };

static bool is_element(const Row *r) { return r->kind == KIND_MAX_ELEMENT || r->kind == KIND_MIN_ELEMENT; }

static const Row *find(OpCode code)             /* NULL: no reduction or scan */
{
	for (int i = 0; i < ROWS; i++)
		if (rows[i].reduction == code || (rows[i].scan == code && code != OP_COUNT)) return &rows[i];
	return NULL;
}

int monoid_kind(OpCode code)
{
	const Row *r = find(code);
	return r ? r->kind : KIND_CUSTOM;
}

OpCode monoid_of_kind(int kind)
{
	for (int i = 0; i < ROWS; i++)
		if (rows[i].kind == kind) return rows[i].combine;
	return OP_COUNT;
}

OpCode monoid_combine(OpCode c)
{
	const Row *r = find(c);
	if (!r || is_element(r)) bug("`%s` has no partial results", op_rows[c].name);
	return r->combine;
}

OpCode monoid_reduction(OpCode c)
{
	for (int i = 0; i < ROWS; i++)
		if (rows[i].combine == c) return rows[i].reduction;
	return OP_COUNT;
}

bool monoid_idempotent(OpCode c)
{
	for (int i = 0; i < ROWS; i++)
		if (rows[i].combine == c) return rows[i].idempotent;
	return false;
}

Num monoid_begin(OpCode reduction, Elem e)
{
	const Row *r = find(reduction);
	bool is_float = elem_is_any_float(e);
	switch (r ? r->combine : OP_COUNT) {
	case OP_MUL: return num_one(e);
	case OP_MAX: return is_float ? num_float(-1.0 / 0.0) : num_least(e);
	case OP_MIN: return is_float ? num_float(1.0 / 0.0) : num_greatest(e);
	case OP_AND: return num_wrap(e, ~(uint64_t)0);
	default: return num_zero(e);
	}
}

Num monoid_identity(OpCode reduction, Elem e, bool nan_wins)
{
	const Row *r = find(reduction);
	OpCode combine = r ? r->combine : OP_COUNT;
	if (elem_is_any_float(e) && combine == OP_ADD) return num_float(-0.0);
	if (elem_is_any_float(e) && (combine == OP_MAX || combine == OP_MIN) && !nan_wins) return num_float(0.0 / 0.0);
	return monoid_begin(reduction, e);
}
