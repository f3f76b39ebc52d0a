/* Each operation that may stand in a placed kernel has a meaning in the simulator, or lower writes it as others. */
#include <stdio.h>

#include "sim/sim.h"

/* Passes expand and combine leave none of these. */
static const OpCode lowered[] = { OP_EXTRACT, OP_INSERT, OP_FLIP, OP_SHIFT, OP_ROTATE, OP_SUM, OP_PROD, OP_REDUCE_MAX, OP_REDUCE_MIN,
	OP_MAX_ELEMENT, OP_MIN_ELEMENT, OP_REDUCE_AND, OP_REDUCE_OR, OP_REDUCE_XOR, OP_REDUCE };

static bool is_lowered(OpCode c)
{
	for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++)
		if (lowered[i] == c) return true;
	return false;
}

int main(void)
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
	return bad != 0;
}
