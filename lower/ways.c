/* ways: says of each version how its accesses to tiles go.
 *
 * A version that serves all calls asks at run time whether a tensor is aligned and whether a tile lies wholly inside
 * it. One for aligned tensors need not ask the former: its rows begin at phase 0, so none is rotated. One for single
 * elements has no vectors.
 *
 * Two ways, the first for tiles wholly inside, are two basic blocks: all that is loaded has to be in registers where
 * control flow joins. In a kernel whose threads wait, for each other or for an index from memory, registers decide how
 * many others run meanwhile. So there is one way, under masks, and ptxas loads weights while it stores results
 * (bench/notes/rows.md).
 *
 * Rows that are updated in place by single elements: ptxas computes the condition of each element once for its load and
 * its store, has seven predicates for them, and so asks for a few elements at a time, with a store between. There the
 * loads before such a store are ordered before it.
 *
 * Tiles that are held for the next iteration (prefetch) need such vectors, or the registers that a single way leaves:
 * where a version has neither, it loads where the tile is needed. */
#include "base/cost.h"
#include "lower/placed.h"
#include "placed/access.h"

static int words_of(const Val *v) { return (int)(((int64_t)regs_of(v) * elem_bytes(v->type->elem) + 3) / 4); }

/* ---- one way ---- */
/* By Val id: does it come from what was read? */
static bool *values_read(const Fn *fn)
{
	bool *read = NEW_ARRAY(A_TMP, bool, fn->nval);
	for (const Op *op = fn->body->first; op; op = op->next) {
		bool r = op_has(op, OPF_READ);
		for (int i = 0; i < op->nin; i++) r |= read[ir_in(op, i)->id];
		for (int i = 0; i < op->nout; i++) read[op->out[i]->id] = r;
	}
	return read;
}

/* Words of a thread's tiles that are loaded, where some of them wait for an index from memory:
 * the others are held meanwhile. */
static int words_beside_index(const Fn *fn)
{
	ArenaMark mark = arena_mark(A_TMP);
	const bool *read = values_read(fn);
	bool waits_for_index = false;
	int words = 0;
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (op->code != OP_LOAD || regs_of(op->out[0]) < COST_TILE_REGS) continue;
		words += op->out[0]->type->elem == EL_BOOL ? (regs_of(op->out[0]) + 31) / 32 : words_of(op->out[0]);
		for (int i = 1; i < op->nin; i++) waits_for_index |= read[ir_in(op, i)->id];
	}
	arena_release(A_TMP, mark);
	return waits_for_index ? words : 0;
}

/* Do threads of a straight kernel wait for each other, for long or with much in their registers, or for an index with
 * much? In the largest clusters, of which few are there at once whatever their registers, only with much. Nor do
 * iterations branch in which thread blocks that share a row wait for each other: a warp that comes late is waited
 * for by all. */
static bool is_one_way(const Fn *fn)
{
	bool wait = false, many = fn->cluster > 1 && fn->cluster <= 1 << CLUSTER_PORTABLE;
	if (fn->alternate) return true;
	if (!is_straight_line(fn->body)) return false;
	for (const Op *op = fn->body->first; op; op = op->next) {
		wait |= waits_for_threads(op);
		for (int i = 0; i < op->nout; i++)
			many |= type_is_tile(op->out[i]->type) && 1 << op->out[i]->lay->in[HW_REG] >= COST_ONE_WAY;
	}
	return wait ? many : fn->cluster <= 1 << CLUSTER_PORTABLE && words_beside_index(fn) >= COST_WORDS_LEAST;
}

static Ways ways_of(const Fn *fn)
{
	if (fn->aligned) return is_one_way(fn) ? WAYS_MASKED : WAYS_ALIGNED;
	return fn->by_element ? WAYS_SINGLE : WAYS_ANY;
}

/* ---- what a version does without ---- */
static void keep_phase(Fn *fn, Op *phase)
{
	if (fn->peel_line) ir_set_int(phase, AT_ROWS, ROWS_PEELED);
	else if ((fn->aligned || fn->by_element) && ir_int(phase, AT_ROWS, ROWS_ROTATED) != ROWS_SHIFTED) ir_remove(phase);
}

static bool is_tile_access(const Op *op)
{
	const Val *v = op->code == OP_LOADS ? op->out[0] : ir_accessed(op);
	return v && ir_in(op, 0)->type->kind == TY_VIEW && (op->code == OP_LOAD || op->code == OP_LOADS
		|| op->code == OP_STORE);
}

/* turns: its rows are rotated. */
typedef struct Chosen { Fn *fn; Ways ways; bool turns; } Chosen;

static void set_ways(const Chosen *v, Op *op)
{
	bool vectors = op->code != OP_LOADS && access_plan(op, ir_accessed(op), v->turns).vec > 0;
	ir_set_int(op, AT_WAYS, v->ways == WAYS_SINGLE && vectors ? WAYS_ANY : v->ways);
	if (op->code != OP_LOAD) return;
	vectors &= !v->turns;
	if (!vectors) ir_drop_attr(op, AT_AHEAD);
	if (!op_loads_one(op) && !(vectors && v->fn->aligned)) ir_drop_attr(op, AT_HELD);
}

static void visit(void *ctx, Op *op)
{
	Chosen *v = ctx;
	if (op->code == OP_PHASE) keep_phase(v->fn, op);
	else if (is_tile_access(op)) set_ways(v, op);
}

/* ---- in place ---- */
static bool is_by_element(const Op *op, OpCode code)
{
	return op->code == code && is_tile_access(op) && ir_int(op, AT_WAYS, WAYS_ANY) == WAYS_SINGLE;
}

/* The loads from `op` on, up to a store. */
static void order_loads(Op *op, const Op *store)
{
	for (; op != store; op = op->next)
		if (is_by_element(op, OP_LOAD)) ir_set_int(op, AT_ORDERED, 1);
}

/* A barrier of the warp orders them, so all of its lanes have to be there: not in loops or branches. */
static void order_in_place(Fn *fn)
{
	if (!is_straight_line(fn->body)) return;
	ArenaMark mark = arena_mark(A_TMP);
	bool *loaded = NEW_ARRAY(A_TMP, bool, fn->nval);        /* by Val id of a view */
	Op *from = fn->body->first;     /* what no store orders yet */
	for (Op *op = from; op; op = op->next) {
		if (is_by_element(op, OP_LOAD)) loaded[ir_in(op, 0)->id] |= regs_of(op->out[0]) >= COST_TILE_REGS;
		if (!is_by_element(op, OP_STORE) || !loaded[ir_in(op, 0)->id]) continue;
		order_loads(from, op);
		ir_set_int(op, AT_ORDERED, 1);
		from = op;
	}
	arena_release(A_TMP, mark);
}

void pass_ways(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->versions.n; i++) {
		Fn *fn = m->versions.p[i].fn;
		bool rotated = rotated_rows(fn) && !fn->aligned && !fn->by_element && !fn->peel_line;
		Chosen v = { fn, ways_of(fn), rotated };
		ir_walk(fn->body, visit, &v);
		order_in_place(fn);
	}
}
