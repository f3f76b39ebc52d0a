/* merge: independent reductions exchange their partial results at one barrier.
 *
 * Threads exchange partial results by a store to shared memory, a barrier and a load. What another reduction of the
 * same block combines before its own store, and does not depend on that load, moves in front of the load: one barrier
 * serves both reductions, and their shuffles overlap. In a cluster, the exchanges of two such reductions become one.
 *
 * Only computation moves, no accesses of tensors, and only small buffers, each of which has its own address (share). */
#include "base/diag.h"
#include "lower/placed.h"

enum { SMALL = 256, MOST = 64,          /* bytes of a buffer; operations that move to one wait */
	TOGETHER = 16 };                 /* tiles of one exchange */

typedef struct Meet {
	int *at;                /* by Val id: which operation of its block makes it; moved ones count as that of the wait */
	Op *wait;
	int waits_at, left;
} Meet;

static bool is_small(const Val *buffer) { return type_bytes(buffer->type) <= SMALL; }

static bool may_move(const Op *op)
{
	if (op->nregion) return false;
	return op->code == OP_ALLOC_SHARED || (op_rows[op->code].flags & OPF_PURE);
}

/* Is v there before the wait? */
static bool is_there(const Meet *m, const Val *v)
{
	return !v->def || v->def->parent != m->wait->parent || m->at[v->id] < m->waits_at;
}

static bool can_precede(Meet *m, const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (is_there(m, v)) continue;
		if (v->def == m->wait || --m->left < 0 || !may_move(v->def) || !can_precede(m, v->def)) return false;
	}
	return true;
}

static void precede(Meet *m, Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (!is_there(m, ir_in(op, i))) precede(m, ir_in(op, i)->def);
	for (int i = 0; i < op->nout; i++) m->at[op->out[i]->id] = m->waits_at - 1;
	ir_move_before(op, m->wait);
}

static Op *load_after(Op *store)
{
	for (Op *op = store->next; op; op = op->next)
		if (op->code == OP_LOAD_SHARED && ir_in(op, 0) == ir_in(store, 0)) return op;
	return NULL;
}

/* Stores after the wait, up to one that needs the wait: that and those after it come to the next. Their loads follow
 * the wait's, so that all these buffers are free after the next one. Gives the last load. */
static Op *gather(Meet *m)
{
	Op *last = m->wait;
	for (Op *op = m->wait->next, *next; op && !op->nregion; op = next) {
		next = op->next;
		if (op->code != OP_STORE_SHARED || !is_small(ir_in(op, 0))) continue;
		m->left = MOST;
		Op *load = load_after(op);
		if (!load || !can_precede(m, op)) break;
		if (next == load) next = load->next;
		precede(m, op);
		if (load != last->next) ir_move_before(load, last->next);
		m->at[load->out[0]->id] = m->waits_at;
		last = load;
	}
	return last;
}

/* Both in the place of the first. */
static void exchange_both(Meet *m, Op *second)
{
	Op *each[] = { m->wait, second };
	Val *in[TOGETHER];
	const Type *t[TOGETHER];
	int n = 0;
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < each[i]->nin; k++, n++) in[n] = ir_in(each[i], k), t[n] = in[n]->type;
	Builder b = build_before(m->wait);
	Op *both = ir_op(&b, OP_EXCHANGE, n, in, n, t);
	n = 0;
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < each[i]->nout; k++, n++) {
			ir_set_layout(both->out[n], *each[i]->out[k]->lay);
			ir_replace(each[i]->out[k], both->out[n]);
			m->at[both->out[n]->id] = m->waits_at;
		}
		ir_remove(each[i]);
	}
	m->wait = both;
}

static Op *gather_exchanges(Meet *m)
{
	for (Op *op = m->wait->next, *next; op && !op->nregion; op = next) {
		next = op->next;
		if (op->code != OP_EXCHANGE || op_broadcasts(op)) continue;
		m->left = MOST;
		if (m->wait->nin + op->nin > TOGETHER || !can_precede(m, op)) break;
		for (int i = 0; i < op->nin; i++)
			if (!is_there(m, ir_in(op, i))) precede(m, ir_in(op, i)->def);
		exchange_both(m, op);
	}
	return m->wait;
}

static bool is_wait(const Op *op)
{
	if (op->code == OP_EXCHANGE) return !op_broadcasts(op);
	return op->code == OP_LOAD_SHARED && is_small(ir_in(op, 0));
}

static void visit_block(int *at, IrBlock *b)
{
	int n = 0;
	for (Op *op = b->first; op; op = op->next) {
		n++;
		for (int i = 0; i < op->nout; i++) at[op->out[i]->id] = n;
		for (int i = 0; i < op->nregion; i++) visit_block(at, op->region[i]);
	}
	for (Op *op = b->first; op; op = op->next) {
		if (!is_wait(op)) continue;
		Meet m = { .at = at, .wait = op, .waits_at = at[op->out[0]->id] };
		op = op->code == OP_EXCHANGE ? gather_exchanges(&m) : gather(&m);
	}
}

void pass_merge(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		int joined = fn->cluster ? fn->nval * TOGETHER : 0;     /* exchanges have new results, at most so many */
		visit_block(NEW_ARRAY(A_TMP, int, fn->nval + joined), fn->body);
	}
}
