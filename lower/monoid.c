/* See monoid.h. */
#include "lower/monoid.h"

#include "base/diag.h"
#include "ir/fold.h"

static const struct { OpCode reduction, combine; bool idempotent; } rows[] = {
	{ OP_SUM, OP_ADD, false }, { OP_PROD, OP_MUL, false }, { OP_REDUCE_MAX, OP_MAX, true }, { OP_REDUCE_MIN, OP_MIN, true },
	{ OP_REDUCE_AND, OP_AND, true }, { OP_REDUCE_OR, OP_OR, true }, { OP_REDUCE_XOR, OP_XOR, false },
};

enum { ROWS = sizeof rows / sizeof *rows };

/* The reduction of which a scan keeps every step; any other operation: itself. */
static OpCode monoid_of_scan(OpCode c)
{
	switch (c) {
	case OP_CUMSUM: return OP_SUM;
	case OP_CUMPROD: return OP_PROD;
	case OP_CUMMAX: return OP_REDUCE_MAX;
	case OP_CUMMIN: return OP_REDUCE_MIN;
	default: return c;
	}
}

OpCode monoid_combine(OpCode c)
{
	for (int i = 0; i < ROWS; i++)
		if (rows[i].reduction == monoid_of_scan(c)) return rows[i].combine;
	bug("`%s` has no partial results", op_rows[c].name);
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

Num monoid_identity(OpCode reduction, Elem e, bool nan_wins)
{
	bool is_float = elem_is_any_float(e);
	switch (monoid_of_scan(reduction)) {
	case OP_SUM: return is_float ? num_float(-0.0) : num_zero(e);
	case OP_PROD: return num_one(e);
	case OP_REDUCE_MAX: case OP_MAX_ELEMENT: return is_float ? num_float(nan_wins ? -1.0 / 0.0 : 0.0 / 0.0) : num_least(e);
	case OP_REDUCE_MIN: case OP_MIN_ELEMENT: return is_float ? num_float(nan_wins ? 1.0 / 0.0 : 0.0 / 0.0) : num_greatest(e);
	case OP_REDUCE_AND: return num_wrap(e, ~(uint64_t)0);
	default: return num_zero(e);
	}
}
