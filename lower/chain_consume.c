/* The consumers of a loop of chained products: products, operations on registers between them, stores. */
#include <string.h>

#include "base/diag.h"
#include "lower/chain_write.h"
#include "lower/pipeline.h"

static const Type *as_async(const Type *t) { return type_placed(TY_ASYNC, t->elem, t->rank, t->log2, NULL, 0); }

static Val *lend(Write *x, Val *v)
{
	if (v->type->kind == TY_ASYNC) return v;
	Val *r = make(x, OP_WGMMA_FENCE, as_async(v->type), 1, &v);
	r->lay = v->lay;
	return r;
}

/* Part k of n of a buffer, along the depth of a second factor. */
static Val *depth_part(Write *x, Val *buffer, bool mn_major, int k, int n)
{
	if (n == 1) return buffer;
	const Type *t = buffer->type;
	uint8_t log2[2] = { t->log2[0], t->log2[1] };
	log2[mn_major ? 0 : 1] -= (uint8_t)log2_of(n);
	Val *zero = number(x, 0), *at = number(x, k);
	Val *part = make(x, OP_PART, type_placed(TY_SHARED, t->elem, 2, log2, NULL, 0), 3,
		(Val *[]){ buffer, mn_major ? at : zero, mn_major ? zero : at });
	ir_set_ints(part->def, AT_STEPS, 2, (const int64_t[]){ INT64_C(1) << log2[0], INT64_C(1) << log2[1] });
	return part;
}

static Val *factor_in(Write *x, const ChainFactor *f)
{
	const ChainLoad *l = &x->c.load[f->load];
	const Moved *m = &x->in[f->load];
	Val *whole = make(x, OP_SLOT, m->type, 2, (Val *[]){ m->ring, x->place[l->ring] });
	if (!l->differs) return whole;
	const Type *t = l->op->out[0]->type;
	Val *in[] = { whole, x->group, number(x, 0) };
	Val *part = make(x, OP_PART, type_placed(TY_SHARED, t->elem, 2, t->log2, NULL, 0), 3, in);
	ir_set_ints(part->def, AT_STEPS, 2, (const int64_t[]){ type_extent(t, 0), type_extent(t, 1) });
	return part;
}

static Val *multiply(Write *x, const ChainProduct *r, Val *sum, Val *a, Val *b, Val *keep)
{
	Val *in[] = { sum, a, b, keep };
	x->b.span = r->op->span;
	Val *v = make(x, OP_WGMMA, sum->type, keep ? 4 : 3, in);
	v->lay = sum->lay;
	v->name = r->op->out[0]->name;
	if (!r->level && r->a.mn_major) ir_set_int(v->def, AT_A_MAJOR, MAJOR_MN);
	if (r->b.mn_major) ir_set_int(v->def, AT_B_MAJOR, MAJOR_MN);
	return v;
}

/* Issues the products of a level; of level 1, those of `parts` parts of the depth. */
static void issue(Write *x, int level, int parts)
{
	ChainRing ring = level ? RING_SECOND : RING_FIRST;
	Val *none = level ? NULL : ir_const_int(&x->b, type_scalar(EL_BOOL), 0);
	add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->ring[ring].full, x->place[ring] });
	for (int i = 0; i < x->c.products; i++)
		if (x->c.product[i].level == level) x->async[i] = lend(x, x->sum[i]);
	for (int i = 0; i < x->c.products; i++) {
		const ChainProduct *r = &x->c.product[i];
		if (r->level != level) continue;
		Val *b = factor_in(x, &r->b);
		if (!level) x->async[i] = multiply(x, r, x->async[i], factor_in(x, &r->a), b, none);
		for (int k = 0; level && k < parts; k++) {
			Val *part = depth_part(x, b, r->b.mn_major, k, x->parts);
			x->async[i] = multiply(x, r, x->async[i], x->factor[i][k], part, NULL);
		}
	}
	add(x, OP_WGMMA_COMMIT, 0, NULL);
}

/* Waits for the products of a level, then gives their buffers back; pending: groups of products that may go on.
 * The ring is to be advanced. */
static void await(Write *x, int level, int pending)
{
	ChainRing ring = level ? RING_SECOND : RING_FIRST;
	Val *in[CHAIN_PRODUCTS];
	const Type *out[CHAIN_PRODUCTS];
	int n = 0, k = 0;
	for (int i = 0; i < x->c.products; i++) {
		if (x->c.product[i].level != level) continue;
		out[n] = x->c.product[i].op->out[0]->type;
		in[n++] = x->async[i];
	}
	Op *wait = ir_op(&x->b, OP_WGMMA_WAIT, n, in, n, out);
	if (pending) ir_set_int(wait, AT_PENDING, pending);
	for (int i = 0; i < x->c.products; i++) {
		const ChainProduct *r = &x->c.product[i];
		if (r->level != level) continue;
		Val *v = wait->out[k++];
		v->lay = r->op->out[0]->lay;
		v->name = r->op->out[0]->name;
		x->sum[i] = v;
		if (level) x->own[x->c.loop->region[0]->args.p[1 + r->carried]->id] = v;
		else x->own[r->op->out[0]->id] = v;
	}
	add(x, OP_MBAR_ARRIVE, 2, (Val *[]){ x->ring[ring].empty, x->place[ring] });
}

static void finish(Write *x, int level, int pending)
{
	await(x, level, pending);
	chain_advance(x, level ? RING_SECOND : RING_FIRST);
}

/* Lends a factor, by parts of its columns. */
static void lend_factor(Write *x, int product, Val *v)
{
	for (int k = 0; k < x->parts; k++) {
		Val *part = v;
		if (x->parts > 1) {
			uint8_t log2[2] = { v->type->log2[0], (uint8_t)(v->type->log2[1] - log2_of(x->parts)) };
			part = make(x, OP_CUT, type_tile(v->type->elem, 2, log2), 1, &v);
			ir_set_ints(part->def, AT_OFFSETS, 2, (const int64_t[]){ 0, (int64_t)k << log2[1] });
			ir_set_layout(part, pipe_sum_layout(part->type));
		}
		x->factor[product][k] = lend(x, part);
	}
}

/* A factor's last conversion, to 16 bits: done when its registers are free again. */
static bool packs(const Chain *c, const Op *op)
{
	bool some = false;
	for (int i = 0; i < c->products; i++) some |= c->product[i].level && ir_in(c->product[i].op, 0)->def == op;
	if (!some || op->code != OP_CAST || elem_bytes(ir_in(op, 0)->type->elem) < 4) return false;
	for (const Op *o = op->parent->first; o; o = o->next)
		for (int i = 0; i < o->nin; i++)
			if (ir_in(o, i) == op->out[0] && !chain_product_of(c, o)) return false;
	return true;
}

static bool is_mask(const Write *x, const Op *op)
{
	for (int i = 0; i < x->masks.masks; i++)
		if (x->masks.mask[i] == op) return true;
	return false;
}

/* A mask that chooses every element where the iteration is a plain one. */
static void write_mask(Write *x, const Op *op)
{
	Val *cond = chain_value(x, ir_in(op, 0));
	Val *plain = ir_unary(&x->b, OP_BROADCAST, cond->type, x->plain);
	plain->lay = cond->lay;
	Val *any = ir_binary(&x->b, OP_OR, cond->type, plain, cond);
	any->lay = cond->lay;
	Val *in[] = { any, NULL, NULL };
	for (int i = 1; i < op->nin; i++) in[i] = chain_value(x, ir_in(op, i));
	copy_op(&x->b, op, in, x->own);
}

/* Operations of an iteration on registers: those that need no sum of level 1, or (late) the others. */
static void write_vectors(Write *x, bool late)
{
	const IrBlock *b = x->c.loop->region[0];
	for (const Op *op = b->first; op != b->last; op = op->next) {
		bool tile = op->nout && type_is_tile(op->out[0]->type);
		bool factor = chain_load_of(&x->c, op) || op->code == OP_PERMUTE;
		if (!tile || factor || chain_product_of(&x->c, op)) continue;
		if ((x->c.late[op->out[0]->id] || packs(&x->c, op)) != late) continue;
		if (x->plain && is_mask(x, op)) write_mask(x, op);
		else chain_write_vector(x, op);
	}
}

/* After the operations of an iteration: what products of level 1 will take, and registers for the next of level 0: the
 * last tile of their shape that has been made. */
static void take_operands(Write *x)
{
	const IrBlock *b = x->c.loop->region[0];
	for (int i = 0; i < x->c.products; i++) {
		const ChainProduct *r = &x->c.product[i];
		if (r->level) {
			x->sum[i] = chain_value(x, ir_in(r->op, 2));
			lend_factor(x, i, chain_value(x, ir_in(r->op, 0)));
			continue;
		}
		for (const Op *op = b->last->prev; op && op != r->op; op = op->prev) {
			bool same = op->nout == 1 && op->out[0]->type == r->op->out[0]->type && x->own[op->out[0]->id];
			same = same && op_has(op, OPF_ELEMWISE);
			bool taken = false;
			for (int k = 0; same && k < i; k++) taken |= x->sum[k] == x->own[op->out[0]->id];
			if (!same || taken || x->c.late[op->out[0]->id]) continue;
			x->sum[i] = x->own[op->out[0]->id];
			break;
		}
	}
}

static bool is_sum(const Chain *c, int carried)
{
	for (int i = 0; i < c->products; i++)
		if (c->product[i].level && c->product[i].carried == carried) return true;
	return false;
}

/* What iterations carry: the loop's own values but for sums; registers of products, sums, factors. */
typedef struct Carried { int n; Val *v[CARRIED_MOST]; } Carried;

static Carried carried_after(Write *x)
{
	const IrBlock *b = x->c.loop->region[0];
	Carried r = { 0 };
	for (int i = 0; i < b->last->nin; i++)
		if (!is_sum(&x->c, i)) r.v[r.n++] = chain_value(x, ir_in(b->last, i));
	for (int i = 0; i < x->c.products; i++) {
		r.v[r.n++] = x->sum[i];
		for (int k = 0; x->c.product[i].level && k < x->parts; k++) r.v[r.n++] = x->factor[i][k];
	}
	return r;
}

/* to: where values of the loop are known; the arguments or the results of the loop of iterations. */
static void name_carried(Write *x, Val *const *v, bool after)
{
	const IrBlock *b = x->c.loop->region[0];
	for (int i = 0; i < b->last->nin; i++) {
		if (is_sum(&x->c, i)) continue;
		const Val *of = after ? x->c.loop->out[i] : b->args.p[1 + i];
		(*v)->name = of->name;
		x->own[of->id] = *v++;
	}
	for (int i = 0; i < x->c.products; i++) {
		x->sum[i] = *v++;
		for (int k = 0; x->c.product[i].level && k < x->parts; k++) x->factor[i][k] = *v++;
	}
}

static Val *zeros_like(Write *x, const Val *v)
{
	Val *z = ir_const_num(&x->b, v->type, (Num){ 0 });
	z->lay = v->lay;
	return z;
}

/* The first iteration, whose values are those that the loop begins with. */
static void write_first(Write *x)
{
	const IrBlock *b = x->c.loop->region[0];
	for (int i = 0; i < b->last->nin; i++) x->own[b->args.p[1 + i]->id] = chain_value(x, ir_in(x->c.loop, 3 + i));
	for (int i = 0; i < x->c.products; i++)
		if (!x->c.product[i].level) x->sum[i] = zeros_like(x, x->c.product[i].op->out[0]);
	chain_name_iteration(x, number(x, 0));
	add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->ring[RING_HELD].full, x->place[RING_HELD] });
	issue(x, 0, 1);
	finish(x, 0, 0);
	write_vectors(x, false);
	write_vectors(x, true);
	take_operands(x);
}

/* The least element of a limit (chain_mask.c). */
static Val *least(Write *x, const Val *v)
{
	const Op *op = v->def;
	Num n;
	if (ir_const_value(v, &n)) return number(x, n.i);
	if (type_is_scalar(v->type)) return chain_value(x, v);
	Val *other = op->code == OP_ADD || op->code == OP_MIN ? least(x, ir_in(op, 1)) : NULL;
	switch (op->code) {
	case OP_IOTA: return number(x, 0);
	case OP_BROADCAST: return least(x, ir_in(op, 0));
	case OP_ADD: return plus(x, least(x, ir_in(op, 0)), other);
	case OP_MIN: return both(x, OP_MIN, least(x, ir_in(op, 0)), other);
	default: bug("chain: `%s` has no least element", op_rows[op->code].name);
	}
}

/* Where iterations with masks begin: after the first one, at the end at most. */
static Val *first_masked(Write *x)
{
	Val *at = x->iterations;
	for (int i = 0; i < x->masks.limits; i++)
		at = both(x, OP_MIN, at, both(x, OP_DIV, least(x, x->masks.limit[i]), number(x, x->masks.columns[i])));
	return both(x, OP_MAX, at, number(x, 1));
}

/* Further iterations from `first` on, which carry c. */
static Carried write_iterations(Write *x, Val *first, Val *end, Carried c)
{
	Val *arg[CARRIED_MOST];
	Loop l = chain_begin_iterations(x, first, end, c.n, c.v, arg);
	name_carried(x, arg, false);
	issue(x, 0, 1);
	issue(x, 1, x->parts);
	finish(x, 0, 1);
	write_vectors(x, false);
	finish(x, 1, 0);
	write_vectors(x, true);
	take_operands(x);
	c = carried_after(x);
	chain_end_iterations(x, l, c.n, c.v);
	for (int i = 0; i < c.n; i++) c.v[i] = l.op->out[2 + i];
	return c;
}

static Val *choose(Write *x, Val *cond, Val *a, Val *b)
{
	return make(x, OP_SELECT, i32(), 3, (Val *[]){ cond, a, b });
}

/* Iterations without masks, then those from `masked` on: an unrolled loop over the two kinds, so that each kind is
 * compiled separately but printed once. */
static Carried write_kinds(Write *x, Val *masked, Carried c)
{
	enum { KINDS = 2 };
	Val *arg[CARRIED_MOST], *kind, *one = number(x, 1);
	Loop l = chain_begin_loop(x, number(x, 0), number(x, KINDS), c.n, c.v, arg, &kind);
	ir_set_int(l.op, AT_UNROLL, KINDS);
	memcpy(c.v, arg, sizeof arg);
	x->plain = ir_binary(&x->b, OP_EQ, type_scalar(EL_BOOL), named(kind, "kind"), number(x, 0));
	c = write_iterations(x, choose(x, x->plain, one, masked), choose(x, x->plain, masked, x->iterations), c);
	x->plain = NULL;
	chain_end_iterations(x, l, c.n, c.v);
	for (int i = 0; i < c.n; i++) c.v[i] = l.op->out[2 + i];
	return c;
}

/* The iterations after the first one. */
static void write_further(Write *x, Carried c)
{
	if (x->masks.masks) c = write_kinds(x, first_masked(x), c);
	else c = write_iterations(x, number(x, 1), x->iterations, c);
	name_carried(x, c.v, true);
}

/* Gives back the buffers of iterations that only other groups have. */
static void drain(Write *x)
{
	const Type *out[] = { x->place[RING_FIRST]->type, x->place[RING_SECOND]->type };
	Val *in[] = { x->iterations, x->most, number(x, 1), x->place[RING_FIRST], x->place[RING_SECOND] };
	Loop l = { .op = ir_op(&x->b, OP_FOR, 5, in, 2, out) };
	l.r = chain_enter(x, l.op);
	ir_arg(x->b.block, i32(), NULL);
	for (int i = RING_FIRST; i < RING_COUNT; i++) {
		x->place[i] = ir_arg(x->b.block, out[i - RING_FIRST], str_intern("at"));
		add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->ring[i].full, x->place[i] });
		add(x, OP_GROUP_BARRIER, 0, NULL);
		add(x, OP_MBAR_ARRIVE, 2, (Val *[]){ x->ring[i].empty, x->place[i] });
		chain_advance(x, i);
	}
	chain_leave(x, l.r, 2, x->place + RING_FIRST);
	for (int i = RING_FIRST; i < RING_COUNT; i++) x->place[i] = l.op->out[i - RING_FIRST];
}

/* In a branch of an `if`, which gives the sums. */
static void write_branch(Write *x, Op *op, int parts)
{
	Val *sum[CHAIN_PRODUCTS], *out[CHAIN_PRODUCTS];
	int n = 0;
	memcpy(sum, x->sum, sizeof sum);
	Region r = chain_enter(x, op);
	issue(x, 1, parts);
	await(x, 1, 0);
	for (int i = 0; i < x->c.products; i++)
		if (x->c.product[i].level) out[n++] = x->sum[i];
	chain_leave(x, r, n, out);
	memcpy(x->sum, sum, sizeof sum);
}

/* Half an iteration, if the number of the author's iterations is odd: the second half is not multiplied. */
static void write_last_parts(Write *x)
{
	const Type *out[CHAIN_PRODUCTS], *boolean = type_scalar(EL_BOOL);
	int n = 0;
	for (int i = 0; i < x->c.products; i++)
		if (x->c.product[i].level) out[n++] = x->sum[i]->type;
	Val *left = both(x, OP_REM, chain_value(x, x->ends), number(x, x->parts));
	Val *half = ir_binary(&x->b, OP_EQ, boolean, left, number(x, 1));
	Op *op = ir_op(&x->b, OP_IF, 1, &half, n, out);
	write_branch(x, op, 1);
	write_branch(x, op, x->parts);
	for (int i = n = 0; i < x->c.products; i++) {
		if (!x->c.product[i].level) continue;
		op->out[n]->lay = x->sum[i]->lay;
		x->sum[i] = op->out[n++];
	}
}

/* The products of level 1 of the last iteration. */
static void write_last(Write *x)
{
	add(x, OP_MBAR_ARRIVE, 2, (Val *[]){ x->ring[RING_HELD].empty, x->place[RING_HELD] });
	chain_advance(x, RING_HELD);
	if (x->parts > 1) {
		write_last_parts(x);
	} else {
		issue(x, 1, 1);
		await(x, 1, 0);
	}
	chain_advance(x, RING_SECOND);
	for (int i = 0; i < x->c.products; i++)
		if (x->c.product[i].level) x->own[x->c.loop->out[x->c.product[i].carried]->id] = x->sum[i];
}

/* ---- stores ---- */
/* One thread waits until copies have left their boxes, then all threads of the group go on. */
static void wait_for_boxes(Write *x)
{
	Region e = chain_begin(x, OP_ELECT, NULL);
	add(x, OP_BULK_WAIT, 0, NULL);
	chain_leave(x, e, 0, NULL);
}

static Val *box_part(Write *x, Val *tile, const Type *box, int q)
{
	if (type_same_shape(tile->type, box)) return tile;
	Val *v = make(x, OP_CUT, type_tile(box->elem, 2, box->log2), 1, &tile);
	ir_set_ints(v->def, AT_OFFSETS, 2, (const int64_t[]){ 0, q * type_extent(box, 1) });
	ir_set_layout(v, pipe_sum_layout(v->type));
	return v;
}

static void store_by_boxes(Write *x, const Stored *s)
{
	enum { BOXES = 1 << (8 - BOX_COLS_LOG2) };
	Val *tile = chain_value(x, ir_in(s->op, s->op->nin - 1)), *first = times(x, x->group, s->n);
	Val *box[BOXES], *in[2 + TENSOR_RANK] = { s->map };
	x->b.span = s->op->span;
	int n = chain_coordinates(x, s->op, &s->place, false, in + 2);
	wait_for_boxes(x);
	add(x, OP_GROUP_BARRIER, 0, NULL);
	for (int q = 0; q < s->n; q++) {
		box[q] = make(x, OP_SLOT, s->box, 2, (Val *[]){ s->ring, plus(x, first, number(x, q)) });
		add(x, OP_STMATRIX, 2, (Val *[]){ box[q], box_part(x, tile, s->box, q) });
	}
	add(x, OP_PROXY_FENCE, 0, NULL);
	add(x, OP_GROUP_BARRIER, 0, NULL);
	Region e = chain_begin(x, OP_ELECT, NULL);
	Val *col = in[1 + n];
	for (int q = 0; q < s->n; q++) {
		in[1] = box[q];
		in[1 + n] = plus(x, col, number(x, q * type_extent(s->box, 1)));
		add(x, OP_TMA_STORE, 2 + n, in);
	}
	add(x, OP_BULK_COMMIT, 0, NULL);
	chain_leave(x, e, 0, NULL);
}

static const Stored *stored(const Write *x, const Op *op)
{
	for (int i = 0; i < x->stores; i++)
		if (x->out[i].op == op) return &x->out[i];
	return NULL;
}

/* Tiles around the loop: before it, then after it. */
static void write_around(Write *x, const Op *first, const Op *end)
{
	for (const Op *op = first; op != end; op = op->next) {
		bool tile = op->nout && type_is_tile(op->out[0]->type);
		bool factor = chain_load_of(&x->c, op) || op->code == OP_PERMUTE;
		if (stored(x, op)) store_by_boxes(x, stored(x, op));
		else if (op->code == OP_STORE) chain_copy_op(x, op);
		else if (tile && !factor && !x->own[op->out[0]->id]) chain_write_vector(x, op);
	}
}

void chain_write_consumers(Write *x)
{
	Region role = chain_begin_role(x, "consumer", x->groups, consumer_regs(x->groups));
	add(x, OP_GRID_WAIT, 0, NULL);
	Loop t = chain_begin_tiles(x);
	chain_count_iterations(x);
	write_around(x, x->c.fn->body->first, x->c.loop);
	Val **own = chain_names(x);
	write_first(x);
	Carried c = carried_after(x);
	x->own = own;           /* what the first iteration made is not what the next ones make */
	write_further(x, c);
	write_last(x);
	if (x->c.ragged) drain(x);
	write_around(x, x->c.loop->next, NULL);
	chain_end_tiles(x, t);
	if (x->stores) wait_for_boxes(x);
	chain_leave(x, role, 0, NULL);
}
