/* prefetch: loops with barriers load the tiles of the next iteration early.
 *
 * In such an iteration nothing is loaded while partial results are exchanged, and the next iteration would issue its
 * loads only after the exchange. A load whose index moves with the loop's counter gets {ahead}: how far its tile index
 * moves in one iteration. The target prefetches those lines into the L2 cache, at no cost of registers.
 *
 * If registers suffice beside the values that the loop carries, the tile itself is loaded one iteration early and gets
 * {held}: then an iteration starts without waiting. So is a single element, which takes one register: the start of an
 * iteration often needs it. */
#include "base/diag.h"
#include "base/machine.h"
#include "ir/rules.h"
#include "lower/placed.h"

enum {
	DEPTH = 8,              /* of index expressions that are looked at */
};

bool is_outside(const Val *v, const Op *loop)
{
	const IrBlock *b = v->def ? v->def->parent : v->block;
	for (; b; b = b->owner ? b->owner->parent : NULL)
		if (b == loop->region[0]) return false;
	return true;
}

static bool is_counter(const Val *v, const Op *loop, int depth)
{
	if (v == loop->region[0]->args.p[0]) return true;
	return depth && v->def && rule_keeps(v->def) && is_counter(ir_in(v->def, 0), loop, depth - 1);
}

static void mark(Fn *fn, const Op *loop, Op *op)
{
	int64_t ahead[TENSOR_RANK] = { 0 };
	int rank = ir_in(op, 0)->type->rank, moving = 0;
	Num step;
	if (!ir_const_value(ir_in(loop, 2), &step) || step.i < 1 || step.i > INT32_MAX) return;
	if (!memory_is_constant(fn, ir_in(op, 0)) || !is_outside(ir_in(op, 0), loop)) return;
	for (int a = 0; a < rank; a++) {
		const Val *i = ir_in(op, 1 + a);
		Num n;
		if (is_counter(i, loop, DEPTH)) ahead[a] = step.i, moving++;
		else if (!ir_const_value(i, &n) && !is_outside(i, loop)) return;
	}
	if (moving == 1) ir_set_ints(op, AT_AHEAD, rank, ahead);
}

/* Words of a thread that hold v. */
static int words_of(const Val *v)
{
	if (!type_is_tile(v->type) || !v->lay || v->type->elem == EL_BOOL) return 0;
	if (1 << v->lay->in[HW_REG] < COST_TILE_REGS) return 0;
	return (int)((((int64_t)elem_bytes(v->type->elem) << v->lay->in[HW_REG]) + 3) / 4);
}

static bool is_made(const Val *v)
{
	return v->def && op_is_made(v->def);
}

static bool may_hold(const Op *load, const Op *loop)
{
	const IrAttr *ahead = ir_attr(load, AT_AHEAD);
	if (load->code != OP_LOAD || !ahead || (!op_loads_one(load) && !words_of(load->out[0]))) return false;
	for (int a = 0; a < ahead->u.ints.n; a++)
		if (ahead->u.ints.p[a] && ir_in(load, 1 + a) != loop->region[0]->args.p[0]) return false;
	Num n;
	const Val *pad = ir_in(load, load->nin - 1);
	return ir_const_value(pad, &n) || is_outside(pad, loop);
}

typedef struct Room { const Op *loop; int words; bool *seen, jumps, products; } Room;

static void count_op(void *ctx, Op *op)
{
	Room *r = ctx;
	r->jumps |= op_has(op, OPF_JUMP);
	r->products |= op->code == OP_MMA || op->code == OP_MMA_SYNC;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (r->seen[v->id] || !is_outside(v, r->loop) || is_made(v)) continue;
		r->seen[v->id] = true;
		r->words += words_of(v);
	}
}

/* Tiles that are loaded ahead take registers twice: this iteration's and the next one's. A loop that carries tiles
 * leaves room for few warps in any case; else many are what fills the waits. */
static void hold(Fn *fn, Op *loop)
{
	ArenaMark mark = arena_mark(A_TMP);
	Room r = { .loop = loop, .seen = NEW_ARRAY(A_TMP, bool, fn->nval) };
	const IrBlock *body = loop->region[0];
	int threads = tile_threads(fn), loads = 0;
	int around = COST_PREFETCH_AROUND;
	for (int i = 1; i < body->args.n; i++) {
		int words = words_of(body->args.p[i]);
		r.words += words;
		if (2 * words > around) around = 2 * words;
	}
	int on_sm = r.words ? COST_HOLD_CARRIED : COST_HOLD_THREADS;
	for (const Op *op = body->first; op; op = op->next)
		if (may_hold(op, loop) && !op_loads_one(op)) r.words += 2 * words_of(op->out[0]), loads++;
	ir_walk(loop->region[0], count_op, &r);
	arena_release(A_TMP, mark);
	int most = machine_registers() / (threads < on_sm ? on_sm : threads);
	bool tiles = loads && r.words + around <= most;
	if (r.jumps || r.products || elem_bytes(body->args.p[0]->type->elem) == 8) return;
	for (Op *op = body->first; op; op = op->next)
		if (may_hold(op, loop) && (tiles || op_loads_one(op))) ir_set_int(op, AT_HELD, on_sm);
}

/* Held tiles are loaded before held elements. Where tiles are loaded in the iteration that needs them, the other order
 * is faster (bench/notes/loops.md). */
static void tiles_first(Op *loop)
{
	Op *one = loop->region[0]->first;
	while (one && !(op_loads_one(one) && ir_int(one, AT_HELD, 0))) one = one->next;
	for (Op *op = one, *next; op; op = next) {
		next = op->next;
		if (op->code == OP_LOAD && ir_int(op, AT_HELD, 0) && !op_loads_one(op)) ir_move_before(op, one);
	}
}

static void visit(void *ctx, Op *loop)
{
	Fn *fn = ctx;
	bool exchanges = false;
	if (loop->code != OP_FOR) return;
	for (const Op *op = loop->region[0]->first; op; op = op->next) exchanges |= waits_for_threads(op) && !op->nregion;
	for (Op *op = loop->region[0]->first; op && exchanges; op = op->next)
		if (op->code == OP_LOAD && !one_thread_reads(op)) mark(fn, loop, op);
	if (exchanges) hold(fn, loop);
	if (exchanges) tiles_first(loop);
}

void pass_prefetch(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) ir_walk(m->fns.p[i]->body, visit, m->fns.p[i]);
}
