/* What each operation of the PLACED form means: column `sim` of ir/ops.def. */
#include "sim/sim_int.h"

const OpMeaning op_meanings[OP_COUNT] = {
#define NO { NULL, NULL }
#define ELEM { run_elem, plan_elem }
#define RUN(f) { run_##f, NULL }
#define PLAN(f) { run_##f, plan_##f }
#define OP(id, name, form, sig, type, layout, flags, c, cuda, tile, needs, check, sim, print, doc) [OP_##id] = sim,
#include "ir/ops.def"
#undef OP
};

bool sim_knows(OpCode code) { return op_meanings[code].run != NULL; }
