/* combine: reductions become steps, products get buffers.
 *
 * A reduction along an axis combines first what each thread holds (reduce_regs), then lanes of a warp (reduce_lanes),
 * then warps: their partial results go through a conversion to a layout in which each thread holds all of them, and
 * reduce_regs finishes. In a cluster they go to all its thread blocks (exchange), there into lanes that then combine
 * them. Each step leaves the axis with one element for each group that is not combined yet. So the order of a sum is:
 * within a thread by increasing index, lanes pairwise by increasing distance, warps by increasing number; in a cluster,
 * warps whose numbers differ by 32 first and then pairwise.
 * An element that the kernel itself may write is read by one thread; in a cluster an exchange broadcasts it to all
 * thread blocks. Reductions with a function of the author's keep the order of the elements: their layout
 * (lay_neighbours) has neighbours in registers, then lanes, then warps, so these same steps
 * combine only neighbouring ranges.
 *
 * A product stores its factors in shared memory, in the storage that costs their stores and the instruction's loads
 * least, and takes them from there. Factors too large for that stay with `mma`, which then works in pieces. */
#include "base/diag.h"
#include "ir/monoid.h"
#include "layout/swz.h"
#include "lower/combine.h"

const Type *reduced_type(const Type *t, int axis, int n_log2)
{
	uint8_t shape[TILE_RANK];
	for (int a = 0; a < t->rank; a++) shape[a] = a == axis ? (uint8_t)n_log2 : t->log2[a];
	return type_tile(t->elem, t->rank, shape);
}

static void copy_mode(Op *to, const Op *from, AttrKey key)
{
	int64_t w = ir_int(from, key, 0);
	if (w) ir_set_int(to, key, w);
}

/* One step of the reduction op: combines what levels (1 registers, 2 lanes) hold. */
static void combine_step(Builder *b, const Op *op, OpCode code, int levels, Parts *x)
{
	uint32_t v[LAY_BITS];
	int n, axis = ir_axis(op);
	Lay r = lay_reduced(x->lay, axis, levels, &n, v);
	if (!n) return;
	const Type *t[TILE_RANK];
	for (int i = 0; i < x->n; i++) t[i] = reduced_type(x->v[i]->type, axis, r.out[axis]);
	Op *s = ir_op(b, code, x->n, x->v, x->n, t);
	ir_set_int(s, AT_AXIS, axis);
	ir_set_int(s, AT_KIND, monoid_kind(op->code));
	copy_mode(s, op, AT_ROUNDING);
	copy_mode(s, op, AT_SUBNORMALS);
	copy_mode(s, op, AT_NAN);
	if (op->nregion) {
		IrBlock *region = ir_region(s);
		const IrBlock *from = op->region[0];
		Val **args = NEW_ARRAY(A_TMP, Val *, from->args.n);
		for (int i = 0; i < from->args.n; i++) args[i] = ir_arg(region, from->args.p[i]->type, from->args.p[i]->name);
		Builder in = { b->fn, region, NULL, b->span };
		copy_block(&in, from, args);
	}
	for (int i = 0; i < x->n; i++) {
		ir_set_layout(s->out[i], r);
		x->v[i] = s->out[i];
	}
	x->lay = r;
}

static void move_all(Builder *b, Parts *x, OpCode how, Lay to)
{
	for (int i = 0; i < x->n; i++) {
		x->v[i] = ir_unary(b, how, x->v[i]->type, x->v[i]);
		ir_set_layout(x->v[i], to);
	}
	x->lay = to;
}

static void convert_all(Builder *b, Parts *x, Lay to)
{
	if (!lay_eq(x->lay, to)) move_all(b, x, OP_CONVERT, to);
}

void combine_registers(Builder *b, const Op *op, Parts *x)
{
	combine_step(b, op, OP_REDUCE_REGS, 1, x);
}

void combine_threads(Builder *b, const Op *op, Parts *x)
{
	combine_registers(b, op, x);
	combine_step(b, op, OP_REDUCE_LANES, 2, x);
}

Val *combine_to(Builder *b, const Op *op, Val *x, Lay to)
{
	Parts p = { 1, { x }, *x->lay };
	combine_threads(b, op, &p);
	convert_all(b, &p, to);
	return p.v[0];
}

/* The index along the axis, in the operand's layout. */
static Val *axis_index(Builder *b, Val *x, int axis)
{
	uint8_t shape[TILE_RANK] = { 0 };
	Lay l;
	shape[axis] = x->type->log2[axis];
	Val *i = ir_op1(b, OP_IOTA, type_tile(EL_U32, x->type->rank, shape), 0, NULL);
	if (!lay_broadcast_operand(*x->lay, i->type, x->type, &l)) bug("an index along an axis has no layout");
	ir_set_layout(i, l);
	Val *full = ir_unary(b, OP_BROADCAST, type_with_elem(x->type, EL_U32), i);
	ir_set_layout(full, *x->lay);
	return full;
}

/* Where threads combine the partial results of 2^parts warps: in all warps, or where that takes too many registers each
 * warp for some of the results. */
static Lay all_warps(Lay l, int axis, int parts)
{
	Lay r = lay_drop(l, axis);
	int most = log2_of(COST_UNROLL_REGS) - parts;
	return r.in[HW_REG] <= most ? r : lay_spread(r, most < 1 ? 0 : most - 1);
}

static void combine_reduce(Op *op)
{
	Builder b = build_before(op);
	int axis = ir_axis(op);
	bool by_index = op->code == OP_MAX_ELEMENT || op->code == OP_MIN_ELEMENT;
	Parts x = { .n = op->code == OP_REDUCE ? op->nout : 1, .lay = *ir_in(op, 0)->lay };
	for (int i = 0; i < x.n; i++) x.v[i] = ir_in(op, i);
	if (!lay_combines_simply(x.lay, axis)) convert_all(&b, &x, lay_default(x.v[0]->type, -1, fn_threads(b.fn)));
	if (by_index) x.v[x.n++] = axis_index(&b, x.v[0], axis);
	combine_threads(&b, op, &x);
	int parts = x.v[0]->type->log2[axis];
	if (parts && b.fn->cluster) {
		move_all(&b, &x, OP_EXCHANGE, lay_gathered(x.lay, axis, parts));
		combine_threads(&b, op, &x);
	} else if (parts) {
		convert_all(&b, &x, lay_push(all_warps(x.lay, axis, parts), HW_REG, axis, parts));
		combine_registers(&b, op, &x);
	}
	convert_all(&b, &x, *op->out[0]->lay);
	for (int i = 0; i < op->nout; i++) {
		Val *r = x.v[by_index ? 1 : i];
		if (r->def == NULL || r == ir_in(op, i)) {
			ir_replace(op->out[i], r);
			continue;
		}
		r->name = op->out[i]->name;
		ir_replace(op->out[i], r);
	}
	ir_remove(op);
}

/* ---- products ---- */
static Val *cast(Builder *b, Val *x, Elem to)
{
	if (x->type->elem == to) return x;
	Val *r = ir_unary(b, OP_CAST, type_with_elem(x->type, to), x);
	ir_set_layout(r, *x->lay);
	return r;
}

static Elem factor_elem(const MmaPlan *p, Elem e)
{
	if (e == EL_F8E4M3 || e == EL_F8E5M2) return EL_F16;
	if (e == EL_BOOL) return EL_U8;
	return p->as == EL_TF32 ? EL_TF32 : e;
}

/* What a search for storage found: products are many, their layouts few. */
typedef struct Stored { Lay frag, from, smem; int elem_log2; } Stored;
typedef struct Combine { const LowerCx *cx; VEC(Stored) found; } Combine;

/* For tensor cores: the cheapest storage of those that ldmatrix or plain loads can read. */
static Lay search_storage(const Type *t, Lay frag, Lay from)
{
	static const SwzVia vias[] = { SWZ_LDM, SWZ_LDM_T, SWZ_PLAIN };
	SwzPick best = { .cost = -1 }, pick;
	for (int i = 0; i < 3; i++) {
		SwzUse use[2] = { { from, SWZ_PLAIN, 1 }, { frag, vias[i], 1 } };
		bool serves = swz_choose(t->rank, t->log2, NULL, elem_log2(t->elem), 2, use, &pick);
		if (serves && (best.cost < 0 || pick.cost < best.cost)) best = pick;
	}
	return best.cost < 0 ? lay_stored(t->rank, t->log2, NULL) : best.smem;
}

/* Storage of a factor. */
static Lay storage(Combine *c, const MmaPlan *p, Val *x, Role role)
{
	const Type *t = x->type;
	if (!p->tensor) return lay_stored(t->rank, t->log2, NULL);
	Stored s = { .frag = mma_fragments(p, t, role, NULL), .from = *x->lay, .elem_log2 = elem_log2(t->elem) };
	for (int i = 0; i < c->found.n; i++) {
		const Stored *f = &c->found.p[i];
		if (f->elem_log2 == s.elem_log2 && lay_eq(f->frag, s.frag) && lay_eq(f->from, s.from)) return f->smem;
	}
	s.smem = search_storage(t, s.frag, s.from);
	vec_push(A_TMP, &c->found, s);
	return s.smem;
}

static Val *to_shared(Builder *b, Val *x, Lay smem)
{
	const Type *t = type_shared(x->type->elem, x->type->rank, x->type->log2);
	Val *buf = ir_op1(b, OP_ALLOC_SHARED, t, 0, NULL);
	buf->name = x->name;
	ir_set_lay(buf->def, AT_LAYOUT, smem);
	ir_op(b, OP_STORE_SHARED, 2, (Val *[]){ buf, x }, 0, NULL);
	return buf;
}

static void combine_mma(Combine *c, Op *op)
{
	Builder b = build_before(op);
	MmaPlan p = mma_plan(op, lower_arch(c->cx, b.fn), log2_of(b.fn->warps));
	Val *x[2];
	int64_t bytes = 0;
	for (int i = 0; i < 2; i++)
		bytes += type_size(ir_in(op, i)->type) * elem_bytes(factor_elem(&p, ir_in(op, i)->type->elem));
	if (bytes > COST_SHARED_LIMIT) return;               /* stays as it is: multiplied in pieces */
	for (int i = 0; i < 2; i++) {
		x[i] = cast(&b, ir_in(op, i), factor_elem(&p, ir_in(op, i)->type->elem));
		x[i] = to_shared(&b, x[i], storage(c, &p, x[i], i ? ROLE_B : ROLE_A));
	}
	Val *r = ir_op1(&b, OP_MMA_SYNC, op->out[0]->type, 3, (Val *[]){ x[0], x[1], ir_in(op, 2) });
	ir_set_str(r->def, AT_SHAPE, str_intern(p.name));
	ir_set_layout(r, p.c);
	r->name = op->out[0]->name;
	ir_replace(op->out[0], r);
	ir_remove(op);
}

/* ---- one element that may be written meanwhile, in a cluster ---- */
static bool defined_before(const Op *d, const Op *op)
{
	for (; op; op = op->next)
		if (op == d) return false;
	return true;
}

enum { CHAIN = 8 };             /* operations that an index is computed with, at most */

/* Could what op needs stand before `at`? */
static bool may_rise(const Op *op, const Op *at, int depth)
{
	for (int i = 0; i < op->nin; i++) {
		const Op *d = ir_in(op, i)->def;
		if (!d || d->parent != op->parent || defined_before(d, at)) continue;
		if (!depth || !op_has(d, OPF_PURE) || !may_rise(d, at, depth - 1)) return false;
	}
	return true;
}

static void rise(Op *op, Op *at)
{
	for (int i = 0; i < op->nin; i++) {
		Op *d = ir_in(op, i)->def;
		if (d && d->parent == op->parent && !defined_before(d, at)) rise(d, at);
	}
	ir_move_before(op, at);
}

/* What a load may not pass: writes, and accesses with a memory order, after which stands what others wrote. */
static void find_write(void *ctx, Op *op)
{
	*(bool *)ctx |= op_has(op, OPF_WRITE) || ir_int(op, AT_ORDER, 0);
}

static bool writes(Op *op)
{
	bool found = false;
	find_write(&found, op);
	for (int k = 0; k < op->nregion; k++) ir_walk(op->region[k], find_write, &found);
	return found;
}

static Op *first_reduction(Op *op)
{
	while (op && !op_is_reduce(op)) op = op->next;
	return op;
}

/* Moves op before the first reduction or loop if it may as well be read there: then its way through memory takes no
 * time of its own. */
static void hoist_read(Op *op)
{
	Op *at = op->parent->first;
	while (at != op && !op_is_reduce(at) && !at->nregion) at = at->next;
	for (Op *o = at; o != op; o = o->next)
		if (writes(o)) return;
	if (at != op && may_rise(op, at, CHAIN)) rise(op, at);
}

typedef struct Use { const Val *old; Val *now; bool found; } Use;

static void use(void *ctx, Op *op)
{
	Use *u = ctx;
	for (int i = 0; i < op->nin; i++) {
		if (ir_in(op, i) != u->old) continue;
		u->found = true;
		if (u->now) op->in[i] = u->now;
	}
}

static bool uses(Op *op, Use *u)
{
	use(u, op);
	for (int k = 0; k < op->nregion; k++) ir_walk(op->region[k], use, u);
	return u->found;
}

/* The first operation after op that uses its result, or writes memory. */
static Op *needing_place(Op *op)
{
	Use u = { op->out[0], NULL, false };
	for (Op *o = op->next; o; o = o->next)
		if (writes(o) || uses(o, &u)) return o;
	return op->next;
}

/* After op, but where all threads wait for each other anyway if nobody needs or writes the element before. */
static Op *tile_sending_place(Op *op, const Op *need)
{
	Op *at = first_reduction(op->next);
	for (Op *o = op->next; o != at; o = o->next)
		if (o == need || !o) return op->next;
	return at ? at : op->next;
}

/* After op and before `need`, but as late as the last reduction there: till then the element has come. */
static Op *sending_place(Op *op, Op *need)
{
	Op *at = op->next;
	for (Op *o = op->next; o != need; o = o->next)
		if (op_is_reduce(o)) at = o;
	return at;
}

/* One thread of the cluster reads the element and sends it to all thread blocks. So none of them writes it before. A
 * scalar is waited for where it is needed (to_scalar), not where it is sent. */
static void broadcast_element(Op *op)
{
	hoist_read(op);
	Op *need = needing_place(op);
	Val *x = op->out[0];
	bool tile = type_is_tile(x->type);
	Builder b = build_before(tile ? tile_sending_place(op, need) : sending_place(op, need));
	Val *one = x;
	if (!tile) {
		uint8_t shape[1] = { 0 };
		one = ir_unary(&b, OP_BROADCAST, type_tile(x->type->elem, 1, shape), x);
		ir_set_layout(one, lay_single(1, fn_threads(b.fn)));
	}
	Val *sent = ir_unary(&b, OP_EXCHANGE, one->type, one);
	ir_set_layout(sent, *one->lay);
	Builder at = build_before(need);
	Use u = { x, tile ? sent : ir_unary(&at, OP_TO_SCALAR, x->type, sent), false };
	u.now->name = x->name;
	for (Op *o = u.now->def->next; o; o = o->next) uses(o, &u);
}

static void broadcast_elements(Fn *fn)
{
	for (Op *op = fn->body->first, *next; fn->cluster && op; op = next) {
		next = op->next;
		if (one_thread_reads(op)) broadcast_element(op);
	}
}

/* A broadcast scalar is sent once the sender's part of the reduction after it is computed: the load has arrived by
 * then, and nothing stands between that reduction and its operands. */
static void send_late(Fn *fn)
{
	for (Op *op = fn->body->first, *next; fn->cluster && op; op = next) {
		next = op->next;
		if (!op_broadcasts(op)) continue;
		Op *at = op->next;
		while (at && (at->code == OP_REDUCE_REGS || at->code == OP_REDUCE_LANES)) at = at->next;
		if (at && at != op->next && at->code == OP_EXCHANGE) ir_move_before(op, at);
	}
}

static void combine_op(void *ctx, Op *op)
{
	if (!op->parent) return;
	if (op_is_reduce(op)) combine_reduce(op);
	else if (op->code == OP_MMA) combine_mma(ctx, op);
}

void pass_combine(Module *m, const LowerCx *cx)
{
	Combine c = { .cx = cx };
	for (int i = 0; i < m->fns.n; i++) {
		broadcast_elements(m->fns.p[i]);
		if (cx->o->level > 0 && !m->fns.p[i]->by_element) {
			rebase_squares(m->fns.p[i]);
			merge_powers(m->fns.p[i]);
		}
		ir_walk(m->fns.p[i]->body, combine_op, &c);
		send_late(m->fns.p[i]);
	}
}
