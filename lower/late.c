/* late: a tile from shared memory is read where it is stored to global memory, {late}, instead of where it is loaded.
 *
 * In the version for unaligned tensors a warp stores neighbouring elements of a row, but 32 of them lie across two
 * cache lines, whose parts are written at different times, and memory takes as long for part of a sector as for a whole
 * one. A tile in shared memory may be read in any order, so the store reads it itself, each row from the last multiple
 * of a line on: position e holds element e - phase, modulo the row (bench/notes/moves.md).
 *
 * Rows that begin anywhere and go to shared memory are shifted there, so that what is between (a wait for room, mostly)
 * happens while they are loaded. */
#include "lower/placed.h"
#include "placed/access.h"


/* Does nothing between the two change what the buffer holds? */
static bool follows(const Op *store, const Op *load)
{
	const Op *op = load->next;
	while (op && op != store && op_is_pure(op)) op = op->next;
	return op == store;
}

/* Each of its elements is in one thread, and lanes hold neighbours of a row of two lines or more. */
static bool suits(const Op *store, const Val *v)
{
	AccessPlan p = access_plan(store, v, rows_rotate(store->parent->fn));
	if (p.vec || p.fast < 0 || p.rotated_axis >= 0 || lay_free(p.l)) return false;
	if (type_extent(v->type, p.fast) * elem_bytes(v->type->elem) < 2 * LINE) return false;
	bool along = p.l.in[HW_LANE] && p.l.col[p.l.in[HW_REG]] == (uint32_t)1 << lay_shift(p.l, p.fast);
	return along && regs_of(v) <= COST_UNROLL_REGS + 1;
}

static void store_late(Op *store, const int *uses)
{
	int axis[TILE_RANK];
	const Val *v = ir_in(store, store->nin - 1);
	if (ir_int(store, AT_WAYS, WAYS_ANY) != WAYS_SINGLE || !type_is_tile(v->type) || !v->lay
		|| store->parent->fn->lanes)
		return;
	Op *load = shared_source(v, axis);
	for (const Val *x = v; load; x = ir_in(x->def, 0)) {
		if (uses[x->id] != 1) return;
		if (x->def == load) break;
	}
	if (load && follows(store, load) && suits(store, v)) ir_set_int(load, AT_LATE, 1);
}

typedef struct Stored { const Val *v; bool found; } Stored;

static void find_store(void *ctx, Op *op)
{
	Stored *s = ctx;
	s->found |= op->code == OP_STORE_SHARED && ir_in(op, 1) == s->v;
}

static void shift_late(Op *load, const int *uses)
{
	Stored s = { load->out[0], false };
	ir_walk(load->parent, find_store, &s);
	if (s.found && uses[s.v->id] == 1) ir_set_int(load, AT_LATE, 1);
}

static void visit(void *uses, Op *op)
{
	if (op->code == OP_STORE) store_late(op, uses);
	if (op->code == OP_LOAD_SHIFTED) shift_late(op, uses);
}

void pass_late(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->versions.n; i++) {
		ArenaMark mark = arena_mark(A_TMP);
		ir_walk(m->versions.p[i].fn->body, visit, ir_use_counts(m->versions.p[i].fn, A_TMP));
		arena_release(A_TMP, mark);
	}
}
