/* pieces: a peeled row is computed vector by vector, then its ends (peel.c).
 *
 * Values computed from a vector occupy registers only until they are stored or combined. Consecutive operations that
 * run vector by vector are a stretch, whose number is {pieces}. Loads that reductions wait for are in none, because
 * they are issued together.
 *
 * Threads skip vectors that lie beyond the row, {leaves_out}. As in versions with fewer registers (cut.c) results stay
 * the same: elements that are not stored need no value, and each sum has a pad in the end of some thread. Tiles are
 * powers of two, so a version's last vectors are empty in many warps. Not while threads wait for memory, where branches
 * only cost registers, nor in larger thread blocks, of which ptxas 13.0 then spills some (bench/notes/rows.md). */
#include "lower/placed.h"
#include "placed/loops.h"

typedef struct Pieces { Fn *fn; const bool *splat; } Pieces;

static bool is_name(const Pieces *p, const Op *op)
{
	return op_is_pointwise(op) && (p->splat[op->out[0]->id] || op_renames(op));
}

static bool works(const Pieces *p, const Op *op)
{
	if (op_is_pointwise(op)) return p->splat[op->out[0]->id] || peel_is_row(p->fn, op->out[0]);
	if (op->code == OP_STORE) return peel_is_row(p->fn, ir_in(op, op->nin - 1));
	if (op->code == OP_LOAD) return peel_is_row(p->fn, op->out[0]) && !peel_begins(p->fn, op);
	return op->code == OP_REDUCE_REGS && peel_is_row(p->fn, ir_in(op, 0));
}

static bool is_made(const Pieces *p, const Val *v, const Op *first, const Op *end)
{
	for (const Op *op = first; peel_is_row(p->fn, v) && op != end; op = op->next)
		if (op == v->def) return true;
	return false;
}

/* A reduction in words needs all of what its operand was widened from. */
static bool needs_all(const Pieces *p, const Op *op, const Op *first)
{
	return op->code == OP_REDUCE_REGS && ir_attr(op, AT_VEC) && !is_made(p, ir_in(ir_in(op, 0)->def, 0), first, op);
}

static Op *stretch_end(const Pieces *p, Op *first)
{
	Op *end = first;
	while (end && works(p, end) && !needs_all(p, end, first)) end = end->next;
	return end;
}

/* Does what needs all of a row at once read a value that is made from `first` to `end`? A maximum of 16-bit floats
 * reads those that its operand was widened from. */
static bool is_needed_whole(const Pieces *p, const Op *first, const Op *end)
{
	for (const Op *op = end; op; op = op->next) {
		if (works(p, op) && !needs_all(p, op, op)) continue;
		for (int i = 0; i < op->nin; i++) {
			const Val *v = ir_in(op, i);
			if (is_made(p, v, first, end)) return true;
			for (int k = 0; peel_is_row(p->fn, v) && v->def && k < v->def->nin; k++)
				if (is_made(p, ir_in(v->def, k), first, end)) return true;
		}
	}
	return false;
}

static bool leaves_out(const Pieces *p, const Op *first, const Op *end)
{
	if (p->fn->row_sure >= p->fn->row_regs || block_threads(p->fn) > COST_PIECES_THREADS) return false;
	return stands_after_wait(first) && !is_needed_whole(p, first, end);
}

/* ---- what begins at another phase ---- */
/* Is anything made of v that other elements of the row are combined with? Else what stands
 * after the row does not matter. */
static bool meets_others(const Fn *fn, const Op *load)
{
	bool *made = NEW_ARRAY(A_TMP, bool, fn->nval);
	made[load->out[0]->id] = true;
	for (const Op *op = load->next; op; op = op->next) {
		bool uses = false;
		for (int i = 0; i < op->nin; i++) uses |= made[ir_in(op, i)->id];
		if (!uses || op->code == OP_STORE) continue;
		if (!op_is_pointwise(op)) return true;
		made[op->out[0]->id] = true;
	}
	return false;
}

/* Copies are issued after the last load of what begins at the row's phase, or where they are
 * needed; they are waited for once. */
static void stage(Fn *fn)
{
	Op *ask = NULL, *await = NULL;
	for (Op *op = fn->body->first; op; op = op->next) {
		if (op->code != OP_LOAD || !peel_is_row(fn, op->out[0])) continue;
		if (!peel_is_apart(fn, op)) ask = op;
		else if (!await && fn->stage_at) await = op;
		if (peel_is_apart(fn, op) && meets_others(fn, op)) ir_set_int(op, AT_PADDED, 1);
	}
	if (!await) return;
	for (const Op *op = await; ask && op; op = op->next)
		if (op == ask) ask = NULL;
	ir_set_int(await, AT_STAGE, ask ? STAGE_AWAIT : STAGE_BOTH);
	if (ask) ir_set_int(ask, AT_STAGE, STAGE_ASK);
}

static void pieces(Fn *fn)
{
	Pieces p = { fn, splats_of(fn, A_TMP) };
	int number = 0;
	for (Op *first = fn->body->first, *end; first; first = end) {
		bool any = false;
		end = stretch_end(&p, first);
		for (const Op *op = first; op != end; op = op->next) any |= !is_name(&p, op);
		if (!any) {
			end = first->next;
			continue;
		}
		number++;
		if (leaves_out(&p, first, end)) ir_set_int(first, AT_LEAVES_OUT, 1);
		for (Op *op = first; op != end; op = op->next) {
			ir_set_int(op, AT_PIECES, number);
			if (op->code == OP_REDUCE_REGS) ir_drop_attr(op, AT_VEC);
		}
	}
	stage(fn);
}

void pass_pieces(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->versions.n; i++) {
		ArenaMark mark = arena_mark(A_TMP);
		if (m->versions.p[i].fn->peel_line) pieces(m->versions.p[i].fn);
		arena_release(A_TMP, mark);
	}
}
