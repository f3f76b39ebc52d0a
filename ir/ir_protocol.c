/* What the roles of a placed kernel promise each other: rules over several operations (those of single ones are in
 * ir_check_group.c). Broken, they would not fail but give wrong values now and then, or wait for ever. Here are
 * sums, layouts, lent registers and budgets; what depends on the order of operations is in ir_order.c. */
#include "base/machine.h"
#include "ir/ir_check.h"
#include "layout/wgmma.h"

enum { ACQUIRE_RELEASE = 3 };   /* of attribute order */

/* WGMMA_SPARE: registers that ptxas wants beside one accumulator at the number a kernel starts with
 * (it refuses 128 of 128: C7602). */
enum { WGMMA_SPARE = 26, BARRIERS = 16 };

/* ---- bytes and arrivals ---- */
static int64_t ones(int64_t mask)
{
	int64_t n = 0;
	for (; mask; mask &= mask - 1) n++;
	return n;
}

/* Bytes that one iteration of this block brings to the mbarrier of each thread block; -1: the mask is not known. */
static int64_t bytes_loaded(const Op *expect)
{
	int64_t sum = 0;
	for (const Op *op = expect->parent->first; op; op = op->next) {
		Num mask = { .i = 1 };
		if (op->code != OP_TMA_LOAD || ir_in(op, 2) != ir_in(expect, 0) || ir_in(op, 3) != ir_in(expect, 1)) continue;
		if (ir_int(op, AT_MULTICAST, 0) && !ir_const_value(ir_in(op, op->nin - 1), &mask)) return -1;
		sum += type_bytes(ir_in(op, 0)->type) * ones(mask.i);
	}
	return sum;
}

static bool chk_bytes(Check *c, const Op *op)
{
	int64_t want = ir_int(op, AT_BYTES, 0), loaded = bytes_loaded(op);
	NEED(loaded < 0 || loaded == want, "%lld bytes are expected, %lld arrive in each thread block", (long long)want,
		(long long)loaded);
	return true;
}

static bool chk_expected(Check *c, const Op *load)
{
	for (const Op *op = load->parent->first; op; op = op->next)
		if (op->code == OP_MBAR_EXPECT && ir_in(op, 0) == ir_in(load, 2) && ir_in(op, 1) == ir_in(load, 3)) return true;
	return chk_fail(c, "no mbar_expect beside it says how many bytes arrive");
}

typedef struct Arrivals { Check *c; const Val *bar; const Op *role; int64_t expects, arrives; } Arrivals;

/* Several arrivals of a role in different blocks are the same one on different ways; in one block they add up. */
static int64_t arrivals_of(const Fn *fn, const Op *op, const Op *role)
{
	enum { GROUP, WARP, THREAD };
	int64_t by = ir_int(op, AT_BY, 0), each = by == GROUP ? 1 : ir_int(role, AT_WARPS, 4) * (by == WARP ? 1 : 32);
	bool one_warp = false;
	Num mask = { .i = 1 };
	for (const Op *o = op->parent->owner; o; o = o->parent->owner) one_warp |= o->code == OP_ONE_WARP;
	if (one_warp) each = by == THREAD ? 32 : 1;
	if (op->nin > 2 && !ir_const_value(ir_in(op, 2), &mask)) return -1;
	(void)fn;
	return each * ir_int(role, AT_GROUPS, 1) * ones(mask.i);
}

static void count_arrivals(void *ctx, Op *op)
{
	Arrivals *a = ctx;
	if (op->code == OP_MBAR_EXPECT && ir_in(op, 0) == a->bar) a->expects = ir_int(a->role, AT_GROUPS, 1);
	if (op->code != OP_MBAR_ARRIVE || ir_in(op, 0) != a->bar) return;
	int64_t n = 0;
	for (const Op *o = op->parent->first; o; o = o->next) {
		if (o->code != OP_MBAR_ARRIVE || ir_in(o, 0) != a->bar) continue;
		int64_t one = arrivals_of(a->c->fn, o, a->role);
		n = one < 0 || n < 0 ? -1 : n + one;
	}
	if (a->arrives && n != a->arrives) {
		a->c->op = op;
		chk_fail(a->c, "the role arrives %lld times here and %lld times elsewhere", (long long)n,
			(long long)a->arrives);
	}
	a->arrives = n;
}

static bool chk_arrivals(Check *c, const Fn *fn, const Op *alloc)
{
	int64_t sum = 0, count = ir_int(alloc, AT_NUMBER, 0);
	bool known = true;
	for (const Op *role = fn->body->first; role; role = role->next) {
		if (role->code != OP_ROLE) continue;
		Arrivals a = { .c = c, .bar = alloc->out[0], .role = role };
		ir_walk(role->region[0], count_arrivals, &a);
		known &= a.arrives >= 0;
		sum += a.expects + a.arrives;
	}
	c->op = alloc;
	NEED(c->msg || !known || sum == count, "a phase ends with %lld arrivals, the roles arrive %lld times",
		(long long)count, (long long)sum);
	return !c->msg;
}

/* ---- layouts ---- */
static const Op *ring_of(const Val *buf)
{
	while (buf->def && buf->def->code == OP_PART) buf = ir_in(buf->def, 0);
	return buf->def && buf->def->code == OP_SLOT ? ir_in(buf->def, 0)->def : NULL;
}

static Smem smem_of(const Op *ring)
{
	const Type *t = ring->out[0]->type;
	int log2 = 0;
	while (1 << log2 < elem_bytes(t->elem)) log2++;
	Smem s = { .elem_log2 = (uint8_t)log2, .fast = 1, .span = (uint8_t)ir_int(ring, AT_SWIZZLE, 0) };
	s.extent[1] = (int)type_extent(t, t->rank - 1);
	s.extent[0] = (int)(type_size(t) / s.extent[1]);
	return s;
}

static bool chk_same_swizzle(Check *c, const Op *op, int buf, int map)
{
	const Op *ring = ring_of(ir_in(op, buf)), *tmap = ir_in(op, map)->def;
	NEED(ring && tmap && tmap->code == OP_TENSOR_MAP, "the buffer or the tensor map comes from nowhere");
	NEED(ir_int(ring, AT_SWIZZLE, 0) == ir_int(tmap, AT_SWIZZLE, 0),
		"the tensor map has another swizzle than the buffer");
	return true;
}

static bool chk_readable(Check *c, const Op *op)
{
	for (int i = 1; i <= 2; i++) {
		const Val *v = ir_in(op, i);
		WgOperand o;
		bool mn = ir_int(op, i == 1 ? AT_A_MAJOR : AT_B_MAJOR, 0);
		if (v->type->kind != TY_SHARED) continue;
		const Op *ring = ring_of(v);
		NEED(ring && wg_operand(smem_of(ring), mn ? 0 : 1, &o),
			"wgmma cannot read operand %d: no descriptor describes its buffer", i);
	}
	return true;
}

/* Parts begin where the swizzle's pattern does: at whole groups of 8 rows and at whole slabs. */
static bool chk_part_place(Check *c, const Op *op)
{
	const Op *ring = ring_of(ir_in(op, 0));
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	NEED(ring, "the buffer comes from nowhere");
	Smem s = smem_of(ring);
	int rank = op->out[0]->type->rank;
	for (int a = 0; a < rank; a++) {
		int64_t step = steps->u.ints.p[a], off = offsets ? offsets->u.ints.p[a] : 0;
		int64_t of = type_extent(ir_in(op, 0)->type, a);
		int64_t unit = a == rank - 1 ? smem_slab_elems(s) : a == rank - 2 && s.span ? 8 : 1;
		int64_t n = type_extent(op->out[0]->type, a);
		Num at;
		NEED(step % unit == 0 && off % unit == 0, "along axis %d parts begin at multiples of %lld", a, (long long)unit);
		if (ir_const_value(ir_in(op, 1 + a), &at))
			NEED(at.i * step + off >= 0 && at.i * step + off + n <= of,
				"the part lies outside the buffer along axis %d", a);
	}
	return true;
}

/* ---- async values ---- */
typedef struct Uses { Check *c; const Op **by; } Uses;

static bool exclusive(const Op *a, const Op *b)         /* in different branches of one `if` */
{
	for (const IrBlock *x = a->parent; x->owner; x = x->owner->parent)
		for (const IrBlock *y = b->parent; y->owner; y = y->owner->parent)
			if (x->owner == y->owner) return x != y && x->owner->code == OP_IF;
	return false;
}

/* Is op run more often than b? */
static bool loops_between(const IrBlock *b, const Op *op)
{
	for (const IrBlock *x = op->parent; x != b && x->owner; x = x->owner->parent)
		if (op_has(x->owner, OPF_LOOP)) return true;
	return false;
}

/* Whose registers are these: a block's argument, or a tile that was lent. */
static const Val *lender(const Val *v)
{
	for (;;) {
		const Op *d = v->def;
		if (!d || v->type->kind != TY_ASYNC) return v;
		if (d->code == OP_WGMMA) v = ir_in(d, 0);
		else if (d->code == OP_WGMMA_FENCE) v = ir_in(d, v->index);
		else if (d->code == OP_FOR) v = ir_in(d, 3 + v->index);
		else return v;
	}
}

static void find_product(void *found, Op *op)
{
	if (op->code == OP_WGMMA) *(bool *)found = true;
}

/* A factor packed into registers of its own, after a wait that no product outlives: those that it replaces are
 * free. */
static bool packed_anew(const Op *yield, const Val *v)
{
	const Op *d = v->def;
	if (!d || d->code != OP_WGMMA_FENCE || d->parent != yield->parent || ir_in(d, v->index)->type->kind != TY_TILE)
		return false;
	for (const Op *op = d->prev; op; op = op->prev) {
		bool product = op->code == OP_WGMMA;
		if (op->code == OP_WGMMA_WAIT && !ir_int(op, AT_PENDING, 0)) return elem_bytes(v->type->elem) < 4;
		for (int i = 0; i < op->nregion; i++) ir_walk(op->region[i], find_product, &product);
		if (product) return false;
	}
	return false;
}

/* An iteration ends with the registers that it began with, for a copy would touch them at work. */
static void note_carried(Check *c, const Op *op)
{
	const Op *loop = op->parent->owner;
	if (!loop || op->code == OP_RETURN) return;
	for (int i = 0; i < op->nin; i++) {
		if (ir_in(op, i)->type->kind != TY_ASYNC) continue;
		c->op = op;
		if (loop->code != OP_FOR || op->code != OP_YIELD)
			chk_fail(c, "lent registers are carried by `for` and its `yield` only");
		else if (lender(ir_in(op, i)) != loop->region[0]->args.p[1 + i] && !packed_anew(op, ir_in(op, i)))
			chk_fail(c, "value %d does not end in the registers it began in", i);
	}
}

static void note_use(void *ctx, Op *op)
{
	Uses *u = ctx;
	if (op_has(op, OPF_TERM)) note_carried(u->c, op);
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (v->type->kind != TY_ASYNC || (op->code == OP_WGMMA && i == 1)) continue;
		const Op *other = u->by[v->id];
		u->by[v->id] = op;
		if (loops_between(v->def ? v->def->parent : v->block, op)) {
			u->c->op = op;
			chk_fail(u->c, "operand %d is handed on in each iteration of a loop that does not carry it", i);
		}
		if (!other || exclusive(other, op)) continue;
		u->c->op = op;
		chk_fail(u->c, "operand %d was handed on before: its registers are at work", i);
	}
}

/* ---- budgets ---- */
typedef struct Area { int64_t lo, hi; const Op *op; } Area;

static bool chk_shared_budget(Check *c, const Fn *fn)
{
	VEC(Area) v = { 0 };
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (op->code != OP_ALLOC_RING && op->code != OP_ALLOC_MBAR) continue;
		const Type *t = op->out[0]->type;
		int64_t lo = ir_int(op, AT_SLOT, 0), n = op->code == OP_ALLOC_MBAR ? 8 * t->count : type_bytes(t) * t->count;
		c->op = op;
		NEED(lo + n <= fn->shared_bytes, "%lld bytes from %lld on are outside the kernel's %lld", (long long)n,
			(long long)lo, (long long)fn->shared_bytes);
		for (int i = 0; i < v.n; i++)
			NEED(lo >= v.p[i].hi || lo + n <= v.p[i].lo, "it overlaps `%s`", ir_op_text(v.p[i].op));
		vec_push(A_TMP, &v, ((Area){ lo, lo + n, op }));
	}
	c->op = NULL;
	return true;
}

static bool chk_register_budget(Check *c, const Fn *fn)
{
	int64_t sum = 0, warps = 0, barriers = 1, threads = tile_threads(fn), start = chk_start_registers(c, fn);
	bool set = false;
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (op->code != OP_ROLE) continue;
		int64_t n = ir_int(op, AT_WARPS, 4) * ir_int(op, AT_GROUPS, 1), regs = ir_int(op, AT_REGS, 0);
		c->op = op;
		NEED(!regs || warps % 4 == 0, "a role with `regs` begins with a warpgroup");
		set |= regs > 0;
		barriers += ir_int(op, AT_GROUPS, 1) + 1;
		sum += n * 32 * (regs ? regs : start);
		warps += n;
	}
	c->op = NULL;
	NEED(warps * 32 == threads, "the roles have %lld warps, the thread block %lld", (long long)warps,
		(long long)threads / 32);
	NEED(barriers <= BARRIERS, "%lld named barriers, for each role and each of its groups, are more than %d",
		(long long)barriers, BARRIERS);
	sum *= c->resident ? c->resident : 1;
	NEED(!set || sum <= machine_registers(), "the roles want %lld registers, there are %d", (long long)sum,
		machine_registers());
	return true;
}

static bool chk_accumulator(Check *c, const Fn *fn, const Op *op)
{
	int64_t threads = tile_threads(fn), start = chk_start_registers(c, fn), n = type_size(chk_out(op, 0)) / 128;
	NEED(n + WGMMA_SPARE <= start, "an accumulator of %lld registers and %d beside it do not fit the %lld that %lld "
		"threads start with", (long long)n, WGMMA_SPARE, (long long)start, (long long)threads);
	return true;
}

/* Sums that are lent stay in a thread's registers until they are given back. Each is handed on once, so those lent at a
 * point are those lent before it less those given back. */
typedef struct Lent { int64_t now, most; } Lent;

/* by lending x as y; factors are not given back and not counted */
static int64_t words_lent(const Val *x, const Val *y)
{
	return x->type->kind == TY_TILE && y->type->kind == TY_ASYNC && elem_bytes(x->type->elem) == 4
		? type_size(x->type) / 128 : 0;
}

static void count_lent(Lent *l, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nout && op->code == OP_WGMMA_FENCE; i++) l->now += words_lent(ir_in(op, i), op->out[i]);
		if (l->now > l->most) l->most = l->now;
		for (int i = 0; i < op->nout && op->code == OP_WGMMA_WAIT; i++) l->now -= words_lent(op->out[i], ir_in(op, i));
		int64_t before = l->now, after = before;
		for (int i = 0; i < op->nregion; i++) {
			l->now = before;
			count_lent(l, op->region[i]);
			if (l->now > after) after = l->now;
		}
		l->now = after;
	}
}

static bool chk_lent(Check *c, const Fn *fn, const Op *role)
{
	int64_t regs = ir_int(role, AT_REGS, 0);
	if (!regs) regs = chk_start_registers(c, fn);
	if (regs > 255) regs = 255;
	Lent l = { 0 };
	count_lent(&l, role->region[0]);
	c->op = role;
	NEED(l.most <= regs, "%lld registers are lent to products at once, a thread of the role has %lld",
		(long long)l.most, (long long)regs);
	return true;
}

/* ---- the kernel ---- */
typedef struct Each { Check *c; const Fn *fn; int barriers; } Each;

static void chk_each(void *ctx, Op *op)
{
	Each *e = ctx;
	if (e->c->msg) return;
	e->c->op = op;
	switch (op->code) {
	case OP_MBAR_EXPECT: chk_bytes(e->c, op); return;
	case OP_TMA_LOAD:
		if (chk_expected(e->c, op)) chk_same_swizzle(e->c, op, 0, 1);
		return;
	case OP_TMA_STORE: chk_same_swizzle(e->c, op, 1, 0); return;
	case OP_WGMMA:
		if (chk_readable(e->c, op)) chk_accumulator(e->c, e->fn, op);
		return;
	case OP_PART: chk_part_place(e->c, op); return;
	case OP_CLUSTER_BARRIER:
		e->barriers++;
		for (const Op *o = op->parent->owner; o && !e->c->msg; o = o->parent->owner)
			if (op_has(o, OPF_LOOP) || o->code == OP_IF)
				chk_fail(e->c, "each role comes to it equally often: not in a loop or a condition");
		return;
	default: return;
	}
}

static bool chk_barriers_meet(Check *c, const Fn *fn)
{
	int first = -1;
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (op->code != OP_ROLE) continue;
		Each e = { .c = c, .fn = fn };
		ir_walk(op->region[0], chk_each, &e);
		if (c->msg) return false;
		c->op = op;
		NEED(first < 0 || e.barriers == first, "the role comes to %d cluster_barriers, the one before it to %d",
			e.barriers, first);
		first = e.barriers;
	}
	return true;
}

static bool chk_init(Check *c, const Fn *fn)
{
	const Op *init = NULL;
	bool roles = false;
	for (const Op *op = fn->body->first; op; op = op->next) {
		roles |= op->code == OP_ROLE;
		c->op = op;
		if (op->code != OP_MBAR_INIT) continue;
		NEED(!init && !roles, "mbarriers are made ready once, before the roles");
		init = op;
	}
	for (const Op *op = fn->body->first; op; op = op->next) {
		bool found = false;
		if (op->code != OP_ALLOC_MBAR) continue;
		for (int i = 0; init && i < init->nin; i++) found |= ir_in(init, i) == op->out[0];
		c->op = op;
		NEED(found, "no mbar_init makes these mbarriers ready");
	}
	return true;
}

/* What is lent, and how long, is known of roles alone. */
static bool chk_products_in_roles(Check *c, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		c->op = op;
		NEED(op->code != OP_WGMMA_FENCE && op->code != OP_WGMMA, "products of a warpgroup stand in a role");
		for (int i = 0; i < op->nregion && op->code != OP_ROLE; i++)
			if (!chk_products_in_roles(c, op->region[i])) return false;
	}
	return true;
}

bool chk_protocol(Check *c, const Fn *fn)
{
	bool roles = false;
	if (!chk_products_in_roles(c, fn->body)) return false;
	for (const Op *op = fn->body->first; op; op = op->next) roles |= op->code == OP_ROLE;
	if (!roles) return true;
	if (!chk_shared_budget(c, fn) || !chk_register_budget(c, fn) || !chk_init(c, fn) || !chk_barriers_meet(c, fn))
		return false;
	Uses u = { c, NEW_ARRAY(A_TMP, const Op *, fn->nval) };
	ir_walk(fn->body, note_use, &u);
	if (c->msg) return false;
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_ALLOC_MBAR && !chk_arrivals(c, fn, op)) return false;
	bool reaches = false;
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (op->code == OP_ROLE && (!chk_lent(c, fn, op) || !chk_role_order(c, fn, op, &reaches))) return false;
		if (op->code == OP_CLUSTER_BARRIER && ir_int(op, AT_ORDER, 0) == ACQUIRE_RELEASE) reaches = false;
		c->op = op;
	}
	/* A relaxed barrier orders no arrival of before: it might come when the block is gone. */
	NEED(!reaches, "a thread block may end while others still reach into its shared memory: a "
		"cluster_barrier {order = acquire_release} is missing after the roles");
	return true;
}
