/* twin: tile blocks TWIN_APART rows apart as one.
 *
 * Rows that share more than they have (pair.c) and begin anywhere (peel.c) are taken two at a time, too. Neighbouring ones begin at
 * different phases, but rows 16 bytes' worth of elements apart at the same, whatever their length: so a thread holds the same
 * elements of both, and each piece of the weights is taken from shared memory, shifted and unpacked once.
 *
 * What is made of the block's index is made a second time, of the index of the other row: a change of the TYPED kernel, which later
 * passes treat like any other. The last rows have no other: they take themselves, and are stored twice by the same threads. The text
 * of such a kernel numbers its tile blocks so that the rows of two blocks meet (emit_cuda/kernel.c). */
#include "ir/fold.h"
#include "lower/placed.h"

static bool is_other(const Fn *fn, const Val *v, const Val *of)
{
	const Op *select = v->def;
	return fn->apart && select && select->code == OP_SELECT && of->def && of->def->code == OP_BID && ir_in(select, 2) == of;
}

bool twin_rows(const Fn *fn, const Val *x, const Val *y) { return is_other(fn, x, y) || is_other(fn, y, x); }

static bool is_loaded(const Fn *fn, const Val *view)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_LOAD && ir_in(op, 0) == view) return true;
	return false;
}

/* Nothing but what is computed from loads and stored elsewhere: a row that takes itself is read before it is stored. */
static bool suits(const Fn *fn, const Op *op)
{
	if (op->nregion) return false;
	if (op->code == OP_STORE) return !is_loaded(fn, ir_in(op, 0));
	return op->code == OP_LOAD || op->code == OP_RETURN || (op_rows[op->code].flags & OPF_PURE);
}

/* The index of the other row, behind op, which gives that of the first. */
static Val *other_index(Fn *fn, Op *op)
{
	Builder b = build_before(op->next);
	Val *bid = op->out[0], *apart = ir_const_num(&b, bid->type, num_int(TWIN_APART));
	Val *last = ir_binary(&b, OP_SUB, bid->type, ir_launch(&b, bid->type->elem, fn->grid[0]), apart);
	Val *in[3] = { bid, last, NULL };
	in[0] = ir_op1(&b, OP_LT, type_scalar(EL_BOOL), 2, in);
	in[1] = ir_binary(&b, OP_ADD, bid->type, bid, apart);
	in[2] = bid;
	return ir_op1(&b, OP_SELECT, bid->type, 3, in);
}

static void repeat(Op *op, Val **other, int n)
{
	bool any = false;
	Val **in = NEW_ARRAY(A_TMP, Val *, op->nin);
	const Type **out = NEW_ARRAY(A_TMP, const Type *, op->nout);
	for (int i = 0; i < op->nin; i++) {
		Val *v = ir_in(op, i);
		in[i] = v->id < n && other[v->id] ? other[v->id] : v;
		any |= in[i] != v;
	}
	if (!any) return;
	for (int i = 0; i < op->nout; i++) out[i] = op->out[i]->type;
	Builder b = build_before(op->next);
	b.span = op->span;
	Op *to = ir_op(&b, op->code, op->nin, in, op->nout, out);
	copy_attrs(to, op);
	for (int i = 0; i < op->nout; i++) {
		to->out[i]->name = op->out[i]->name;
		other[op->out[i]->id] = to->out[i];
	}
}

bool twin_blocks(Fn *fn)
{
	if (fn->ngrid != 1 || fn->ordered) return false;
	for (const Op *op = fn->body->first; op; op = op->next)
		if (!suits(fn, op)) return false;
	ArenaMark mark = arena_mark(A_TMP);
	ir_number(fn);
	int n = fn->nval;
	Val **other = NEW_ARRAY(A_TMP, Val *, n);
	for (Op *op = fn->body->first, *next; op; op = next) {
		next = op->next;
		if (op->code == OP_BID) other[op->out[0]->id] = other_index(fn, op);
		else if (op->code != OP_RETURN) repeat(op, other, n);
	}
	fn->apart = TWIN_APART;
	arena_release(A_TMP, mark);
	return true;
}

/* ---- one wait for what both rows exchange ---- */
typedef struct Rise { const Op *wait; int left; } Rise;

static bool stands_before(const Op *d, const Op *at)
{
	for (const Op *op = at->prev; op; op = op->prev)
		if (op == d) return true;
	return false;
}

static bool may_rise(Rise *r, const Val *v)
{
	const Op *d = v->def;
	if (!d || d->parent != r->wait->parent || stands_before(d, r->wait)) return true;
	bool pure = (op_rows[d->code].flags & OPF_PURE) || d->code == OP_REDUCE_REGS || d->code == OP_REDUCE_LANES;
	if (d == r->wait || !pure || d->nregion || d->code == OP_EXCHANGE || --r->left < 0) return false;
	for (int i = 0; i < d->nin; i++)
		if (!may_rise(r, ir_in(d, i))) return false;
	return true;
}

static void rise(Op *wait, Val *v)
{
	Op *d = v->def;
	if (!d || d->parent != wait->parent || stands_before(d, wait)) return;
	for (int i = 0; i < d->nin; i++) rise(wait, ir_in(d, i));
	ir_move_before(d, wait);
}

static Op *joined(Op *x, Op *y)
{
	enum { MOST = 8 };      /* values of an exchange */
	int n = x->nin + y->nin;
	if (n > MOST) return NULL;
	for (int i = 0; i < y->nin; i++) {
		Rise r = { x, 64 };
		if (!may_rise(&r, ir_in(y, i))) return NULL;
	}
	for (int i = 0; i < y->nin; i++) rise(x, ir_in(y, i));
	Builder b = build_before(x);
	Val *in[MOST];
	const Type *t[MOST];
	for (int i = 0; i < n; i++) {
		in[i] = i < x->nin ? ir_in(x, i) : ir_in(y, i - x->nin);
		t[i] = in[i]->type;
	}
	Op *both = ir_op(&b, OP_EXCHANGE, n, in, n, t);
	for (int i = 0; i < n; i++) {
		Val *old = i < x->nin ? x->out[i] : y->out[i - x->nin];
		ir_set_layout(both->out[i], *old->lay);
		ir_replace(old, both->out[i]);
	}
	ir_remove(x);
	ir_remove(y);
	return both;
}

void twin_exchanges(Fn *fn)
{
	for (Op *op = fn->body->first, *next; fn->apart && op; op = next) {
		next = op->next;
		if (op->code != OP_EXCHANGE) continue;
		Op *y = op->next;
		while (y && y->code != OP_EXCHANGE) y = y->next;
		Op *both = y ? joined(op, y) : NULL;
		if (both) next = both->next;
	}
}
