/* Access to memory against its rows. */
#include "ir/ir_check.h"

#include <string.h>

typedef enum Extra { X_PAD, X_VALUE, X_VALUES } Extra;          /* VALUES: expected, desired */
typedef enum Result { R_NONE, R_OLD, R_DATA } Result;           /* OLD: may be left out */
typedef struct Access { Extra extra; Result result; bool mask, tiles; } Access;  /* tiles: by tile index, with steps */

static Access access_of(const Op *op)
{
	bool tiles = op->code == OP_LOAD || op->code == OP_STORE;
	Extra extra = op_has(op, OPF_CAS) ? X_VALUES : op_has(op, OPF_WRITE) ? X_VALUE : X_PAD;
	return (Access){ extra, op_updates(op) ? R_OLD : extra == X_PAD ? R_DATA : R_NONE, !tiles, tiles };
}

/* The view and its indices, or the pointers; *first: the operand after them, *e: what is accessed. */
static bool chk_place(Check *c, const Op *op, int nextra, bool mask, int *first, Elem *e)
{
	NEED(op->nin >= 1, "operands are missing");
	const Type *p = chk_in(op, 0);
	bool view = p->kind == TY_VIEW, by_ptr = strstr(op_rows[op->code].name, "_ptr") != NULL;
	if (by_ptr) NEED(chk_is_data(p) && elem_is_ptr(p->elem) && elem_pointee(p->elem) != EL_VOID,
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
	bool atomic = op_has(op, OPF_ATOMIC), load = !op_has(op, OPF_WRITE), store = !op_has(op, OPF_READ);
	if (atomic)
		NEED(op_takes_order(op->code, (int)ir_int(op, AT_ORDER, 0)), "%s", load ? "a load is `relaxed` or `acquire`" :
			store ? "a store is `relaxed` or `release`" : "an atomic operation is not `weak`");
	if (atomic && !load && !store) NEED(elem_is_arith(e) && e != EL_BOOL, "no atomics on this element type");
	return true;
}

bool chk_access(Check *c, const Op *op)
{
	Access a = access_of(op);
	int nextra = a.extra == X_VALUES ? 2 : 1, first = 1;
	Elem e = EL_VOID;
	if (!chk_place(c, op, nextra, a.mask, &first, &e) || !chk_access_modes(c, op, e)) return false;
	NEED(op->nout == (a.result == R_DATA) || (op->nout == 1 && a.result == R_OLD),
		"the number of results is wrong");
	const Type *data = a.extra == X_PAD ? chk_out(op, 0) : chk_in(op, first);
	NEED(chk_is_data(data) && data->elem == e,
		"the data must be scalars or tiles of the element type in memory");
	bool tiles = a.tiles || ir_attr(op, AT_STEPS);
	if (tiles && type_is_tile(data)) NEED(data->rank == chk_in(op, 0)->rank,
		"the tile must have the view's rank");
	for (int i = chk_in(op, 0)->kind == TY_VIEW; i < first; i++) {
		const Type *t = chk_in(op, i);
		bool ptr = i == 0;
		NEED(ptr || elem_is_int(t->elem), "operand %d must be integers", i);
		NEED(ptr ? chk_same_form(t, data) : chk_is_index(t) || (!tiles && chk_same_form(t, data)),
			"operand %d must have the data's shape", i);
	}
	if (a.extra == X_PAD) NEED(chk_is_scalar_of(chk_in(op, first), e),
		"the pad must be a scalar of the element type");
	if (a.extra == X_VALUES) NEED(chk_in(op, first + 1) == data,
		"expected and desired must have one type");
	if (op->nin > first + nextra) NEED(chk_in(op, first + nextra) == type_with_elem(data, EL_BOOL),
		"the mask must be bool of the data's shape");
	if (a.result == R_OLD && op->nout) NEED(chk_out(op, 0) == data,
		"the old values must have the data's type");
	return true;
}

bool chk_shared(Check *c, const Op *op)
{
	bool store = op->code == OP_STORE_SHARED;
	if (!chk_arity(c, op, store ? 2 : 1, store ? 0 : 1)) return false;
	const Type *buf = chk_in(op, 0), *t = store ? chk_in(op, 1) : chk_out(op, 0);
	NEED(buf->kind == TY_SHARED, "the first operand must be a shared buffer");
	NEED(type_is_tile(t) && t->elem == buf->elem && type_same_shape(t, buf),
		"the tile must have the buffer's shape and element type");
	return true;
}
