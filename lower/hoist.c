/* hoist: moves loads above operations that wait for other loads.
 *
 * A thread stalls at the first access that needs the result of an earlier load: a tile at an index that is read from
 * memory, or a store of what was loaded. nvcc keeps the order of accesses, so independent loads after that access would
 * start only when the stall ends. Such a load, with the scalars it needs, moves in front of the access.
 *
 * A load passes elementwise operations and accesses; it passes a store only if nobody writes its own tensor, and it
 * never passes a barrier, across which it would occupy registers. The number of words loaded early is small enough not
 * to cost resident warps. */
#include "base/diag.h"
#include "lower/placed.h"

enum { WORDS_AHEAD = 32, DEPTHS = 4, OPS_MOVED = 32 };

typedef struct Spot { Op *op; int at; } Spot;   /* at: which operation of its block */

/* What has been passed by since the last operation that no load passes. */
typedef struct Stretch {
	Spot waits[DEPTHS];     /* the first access that needs the results of more than so many loads in a row */
	Spot here[DEPTHS];      /* the same since the last write */
	int words;              /* loaded, of each thread */
} Stretch;

typedef struct Early {
	const Fn *fn;
	int *depth;             /* by Val id: how many loads in a row lead to a value */
	int *at;                /* and which operation of its block makes it, or in front of which this was moved */
} Early;

static bool is_access(const Op *op)
{
	switch (op->code) {
	case OP_LOAD: case OP_LOADS: case OP_STORE: case OP_GATHER: case OP_SCATTER: case OP_LOAD_PTR: case OP_STORE_PTR:
		return true;
	default: return false;
	}
}

static bool writes(const Op *op) { return (op_rows[op->code].flags & OPF_WRITE) != 0; }

static bool may_be_passed(const Op *op)
{
	unsigned f = op_rows[op->code].flags;
	if (op->nregion || one_thread_reads(op)) return false;
	if (is_access(op)) return true;
	switch (op->code) {
	case OP_CONST: case OP_IOTA: case OP_BROADCAST: case OP_RESHAPE: case OP_PERMUTE: case OP_BID: case OP_LAUNCH:
	case OP_VIEW: case OP_TO_SCALAR: case OP_CONVERT_REGS: return true;
	case OP_LITERAL: return op->nin == 0;
	default: return (f & OPF_ELEMWISE) && (f & OPF_PURE);
	}
}

static int words_of(const Op *op)
{
	int n = 0;
	for (int i = 0; i < op->nout; i++) {
		const Val *v = op->out[i];
		if (type_is_tile(v->type)) n += ((elem_bytes(v->type->elem) << v->lay->in[HW_REG]) + 3) / 4;
	}
	return n;
}

static bool is_ready(const Early *e, const Op *op, int i, Spot to)
{
	const Op *d = ir_in(op, i)->def;
	return !d || d->parent != op->parent || e->at[ir_in(op, i)->id] <= to.at;
}

/* Can what op needs be computed in front of `to`, in `left` operations? */
static bool can_move(const Early *e, const Op *op, Spot to, int *left)
{
	for (int i = 0; i < op->nin; i++) {
		const Op *d = ir_in(op, i)->def;
		if (is_ready(e, op, i, to)) continue;
		if (--*left < 0 || is_access(d) || !may_be_passed(d) || !can_move(e, d, to, left)) return false;
	}
	return true;
}

static void move(const Early *e, Op *op, Spot to)
{
	for (int i = 0; i < op->nin; i++)
		if (!is_ready(e, op, i, to)) move(e, ir_in(op, i)->def, to);
	for (int i = 0; i < op->nout; i++) e->at[op->out[i]->id] = to.at;
	ir_move_before(op, to.op);
}

static int imin(int a, int b) { return a < b ? a : b; }

static int operands_depth(const Early *e, const Op *op)
{
	int r = 0;
	for (int i = 0; i < op->nin; i++)
		if (e->depth[ir_in(op, i)->id] > r) r = e->depth[ir_in(op, i)->id];
	return r;
}

static void visit_access(const Early *e, Stretch *s, Spot x, int depth)
{
	Op *op = x.op;
	int left = OPS_MOVED;
	if (op->code == OP_LOAD || op->code == OP_LOADS || op->code == OP_GATHER) {
		Spot to = memory_is_constant(e->fn, ir_in(op, 0)) ? s->waits[depth] : s->here[depth];
		s->words += words_of(op);
		if (to.op && s->words <= WORDS_AHEAD && can_move(e, op, to, &left)) {
			move(e, op, to);
			return;
		}
	}
	for (int i = 0; i < DEPTHS; i++) {
		if (i < depth && !s->waits[i].op) s->waits[i] = x;
		if (writes(op)) s->here[i] = (Spot){ 0 };
		else if (i < depth && !s->here[i].op) s->here[i] = x;
	}
}

static void visit_block(const Early *e, IrBlock *b)
{
	Stretch s = { 0 };
	int at = 0;
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		for (int i = 0; i < op->nregion; i++) visit_block(e, op->region[i]);
		int depth = operands_depth(e, op);
		bool reads = (op_rows[op->code].flags & OPF_READ) != 0;
		at++;
		for (int i = 0; i < op->nout; i++) {
			e->depth[op->out[i]->id] = imin(depth + reads, DEPTHS - 1);
			e->at[op->out[i]->id] = at;
		}
		if (!may_be_passed(op)) s = (Stretch){ 0 };
		else if (is_access(op)) visit_access(e, &s, (Spot){ op, at }, depth);
	}
}

void pass_hoist(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		Early e = { fn, NEW_ARRAY(A_TMP, int, fn->nval), NEW_ARRAY(A_TMP, int, fn->nval) };
		visit_block(&e, fn->body);
	}
}
