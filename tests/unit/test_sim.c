/* Each operation that may stand in a placed kernel has a meaning in the simulator, or lower writes it as others. And what it computes
 * by the host's arithmetic is what the model of constant folding computes with exact numbers. */
#include <math.h>
#include <stdio.h>

#include "sim/sim_int.h"

/* Passes expand and combine leave none of these. */
static const OpCode lowered[] = { OP_EXTRACT, OP_INSERT, OP_FLIP, OP_SHIFT, OP_ROTATE, OP_SUM, OP_PROD, OP_REDUCE_MAX, OP_REDUCE_MIN,
	OP_MAX_ELEMENT, OP_MIN_ELEMENT, OP_REDUCE_AND, OP_REDUCE_OR, OP_REDUCE_XOR, OP_REDUCE };

static bool is_lowered(OpCode c)
{
	for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++)
		if (lowered[i] == c) return true;
	return false;
}

static int coverage(void)
{
	int bad = 0;
	for (int c = 0; c < OP_COUNT; c++) {
		const OpRow *r = &op_rows[c];
		bool placed = r->form == FORM_BOTH || r->form == FORM_PLACED;
		if (placed && sim_knows((OpCode)c) == is_lowered((OpCode)c)) {
			fprintf(stderr, "`%s`: %s\n", r->name, sim_knows((OpCode)c) ? "known, and lowered" : "no meaning in sim/ops.c");
			bad++;
		}
		if (!placed && sim_knows((OpCode)c)) {
			fprintf(stderr, "`%s` never stands in a placed kernel\n", r->name);
			bad++;
		}
	}
	return bad;
}

/* ---- arithmetic ---- */
enum { TRIES = 40 };
static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Any bits, small whole numbers, and bits near each other, so that sums cancel. */
static Num some(Elem e)
{
	uint64_t x = next();
	if (x % 4 == 0) return elem_is_any_float(e) ? fold_cast(num_int((int64_t)(x >> 8) % 9 - 4), EL_I64, e, (FoldModes){ 0 }) : num_wrap(e, x >> 8 & 7);
	if (x % 4 == 1) return num_from_bits(e, UINT64_C(0x3f80003c003f8000) + (x >> 60));
	return num_from_bits(e, next());
}

static bool takes(OpCode c, Elem e)
{
	switch (op_rows[c].type) {
	case TR_CONV: case TR_CMP: case TR_SAME_ARITH: return elem_is_arith(e) && !(e == EL_BOOL && c == OP_NEG);
	case TR_CONV_INT: case TR_SAME_INT: case TR_SHIFT: return elem_is_integral(e);
	case TR_SAME_FLT: case TR_FMA: case TR_TO_BOOL: case TR_CONV_ANY_FLT: return elem_is_float(e);
	default: return false;
	}
}

static int operands(OpCode c)
{
	OpArg args[OP_ARGS];
	switch (op_rows[c].type) {
	case TR_FMA: return 3;
	case TR_SAME_ARITH: case TR_SAME_INT: case TR_SAME_FLT: case TR_TO_BOOL: return 1;
	default: return op_args(c, args) < 0 ? 0 : 2;
	}
}

static int compare(ElemPlan p)
{
	Cell in[3][1], out[1];
	const Cell *of[3] = { in[0], in[1], in[2] };
	const uint32_t mask[3] = { 0, 0, 0 };
	Num x[3], want = { 0 };
	for (int i = 0; i < p.nin; i++) {
		x[i] = some(p.e);
		in[i][0] = cell_of(p.e, x[i]);
	}
	ArenaMark mark = arena_mark(A_UNIT);
	if (!fold_op(p.code, p.modes, p.e, p.r, p.nin, x, &want)) return 0;
	arena_release(A_UNIT, mark);
	elem_each(&p, 1, of, mask, out);
	if (cell_bits(p.r, out[0]) == cell_bits(p.r, cell_of(p.r, want))) return 0;
	if (elem_is_any_float(p.r) && isnan(out[0].f) && isnan(want.f)) return 0;       /* any NaN stands for any other */
	fprintf(stderr, "%s of %s to %s: %016llx, not %016llx, of %016llx, %016llx\n", op_rows[p.code].name, elem_name(p.e), elem_name(p.r),
		(unsigned long long)cell_bits(p.r, out[0]), (unsigned long long)num_bits(p.r, want), (unsigned long long)num_bits(p.e, x[0]),
		p.nin > 1 ? (unsigned long long)num_bits(p.e, x[1]) : 0ull);
	return 1;
}

static int arithmetic(void)
{
	int bad = 0;
	str_intern("full");
	for (int c = 0; c < OP_COUNT; c++)
		for (int e = 0; e < EL_VOID && bad < 20; e++) {
			if (!(op_rows[c].flags & OPF_ELEMWISE) || !takes((OpCode)c, (Elem)e) || !fold_is_exact((OpCode)c)) continue;
			bool truth = op_rows[c].type == TR_CMP || op_rows[c].type == TR_TO_BOOL;
			ElemPlan p = { .code = (OpCode)c, .e = (Elem)e, .r = truth ? EL_BOOL : (Elem)e, .nin = operands((OpCode)c) };
			for (int i = 0; i < TRIES; i++) bad += compare(p);
		}
	for (int e = 0; e < EL_VOID; e++)
		for (int r = 0; r < EL_VOID && bad < 20; r++)
			for (int i = 0; i < TRIES; i++) bad += compare((ElemPlan){ .code = OP_CAST, .e = (Elem)e, .r = (Elem)r, .nin = 1 });
	return bad;
}

int main(void)
{
	A_UNIT = arena_new();
	A_TMP = arena_new();
	return coverage() + arithmetic() != 0;
}
