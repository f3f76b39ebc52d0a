/* split: loops that carry sums, maxima and the like, or what a function of the author's combines, over the grid. Such a
 * kernel gets a version in several steps, for calls whose grid leaves most of a device idle, with workspace for partial
 * results:
 *
 *   k_share    the kernel up to its loop, with one more axis in its grid: tile block s runs a share of the iterations,
 *              side by side, from what changes nothing, and stores what the loop carries then
 *   k_whole    combines what the shares of a tile block have, for the loop that follows
 *   k_share_2  the same of the second loop, and so on
 *   k_rest     combines what the shares of the last loop have, and runs the kernel from there on; or, where a loop is
 *              left that stores, tile block s runs a share of that from what k_whole_n has combined
 *
 * How many shares there are follows from the dimensions alone, and they are combined in their order, so results do not
 * depend on the device. split_plan.c says which loops may be split, split_stores.c which one that stores. */
#include "lower/split.h"

#include "base/cost.h"
#include "base/diag.h"
#include "base/machine.h"
#include "ir/fold.h"
#include "ir/monoid.h"
#include "lower/placed.h"
#include "lower/steps.h"

typedef struct Share { const Sym *iterations, *each, *count; } Share;       /* of the loop; of a share; shares */

typedef struct Splitter {
	SplitPlan p;
	Fn *rest;               /* the kernel, in which loops that were split are replaced */
	Op **loop;              /* in rest */
	Share *share;           /* of each loop, and of the one that stores */
	/* the parameter with partial results of each loop's first carried value; then come those of the whole loop */
	int *first;
	const Sym *blocks;      /* of the kernel's grid */
	int64_t most;           /* tile blocks of a share's grid */
} Splitter;

/* ---- small things ---- */
static const Type *i32(void) { return type_scalar(EL_I32); }
static Val *op2(Builder *b, OpCode code, Val *x, Val *y) { return ir_binary(b, code, x->type, x, y); }
static Val *choose(Builder *b, Val *c, Val *x, Val *y)
{
	return ir_op1(b, OP_SELECT, x->type, 3, (Val *[]){ c, x, y });
}
static Val *compare(Builder *b, OpCode code, Val *x, Val *y)
{
	return ir_binary(b, code, type_with_elem(x->type, EL_BOOL), x, y);
}
static const Type *box(Elem e, int rank, const uint8_t *log2) { return type_tile(e, rank, log2); }
static int size_log2(const Type *t) { return type_is_tile(t) ? type_log2_size(t) : 0; }

/* A carried value as a tile of these extents, and back. */
static Val *as_box(Builder *b, Val *x, const Type *t)
{
	return type_is_tile(x->type) ? ir_unary(b, OP_RESHAPE, t, x) : ir_unary(b, OP_BROADCAST, t, x);
}

static Val *as_carried(Builder *b, Val *x, const Type *t)
{
	return type_is_tile(t) ? ir_unary(b, OP_RESHAPE, t, x) : ir_unary(b, OP_TO_SCALAR, t, x);
}

static Op *op_at(const Fn *fn, int n)
{
	Op *op = fn->body->first;
	while (n-- > 0) op = op->next;
	return op;
}

static int place_of(const Op *op)
{
	int n = 0;
	for (; op->prev; op = op->prev) n++;
	return n;
}

static void cut_after(Op *op)
{
	while (op->next) ir_remove(op->parent->last);
}

/* ---- partial results in workspace ---- */
static void store_box(Builder *b, Val *to, int n, Val *const *at, Val *x)
{
	Val *in[5] = { to };
	int64_t steps[3];
	for (int i = 0; i < n; i++) in[1 + i] = at[i], steps[i] = type_extent(x->type, i);
	in[1 + n] = x;
	ir_set_ints(ir_op(b, OP_STORE, n + 2, in, 0, NULL), AT_STEPS, n, steps);
}

static Val *load_box(Builder *b, Val *from, int n, Val *const *at, const Type *t, Num pad)
{
	Val *in[5] = { from };
	int64_t steps[3];
	for (int i = 0; i < n; i++) in[1 + i] = at[i], steps[i] = type_extent(t, i);
	in[1 + n] = ir_const_num(b, type_scalar(t->elem), pad);
	Val *r = ir_op1(b, OP_LOAD, t, n + 2, in);
	ir_set_ints(r->def, AT_STEPS, n, steps);
	return r;
}

/* ---- a share of the iterations ---- */
static Val *begins_with(Builder *b, const Op *loop, int i, const SplitLoop *l)
{
	const Carried *c = &l->carried.p[i];
	if (c->tuple >= 0) return ir_const_num(b, c->type, split_identity(&l->tuples.p[c->tuple], c->part));
	if (c->power >= 0) return ir_const_num(b, c->type, num_zero(c->type->elem));
	if (c->key >= 0 || monoid_idempotent(c->combine)) return ir_in(loop, 3 + i);
	return ir_const_num(b, c->type, monoid_identity(monoid_reduction(c->combine), c->type->elem, c->nan));
}

/* Counters keep the loop's own bounds, by which accesses are proved to lie inside their tensors. */
static void take_share(Builder *b, Op *loop, const SplitLoop *l, const Share *s, Val *number)
{
	const Type *t = type_scalar(l->counter);
	const Sym *length = sym_mul(s->each, sym_const(l->step));
	Val *each = ir_launch(b, l->counter, length), *lo = ir_in(loop, 0), *hi = ir_in(loop, 1);
	if (number->type != t) number = ir_unary(b, OP_CAST, t, number);
	Val *first = op2(b, OP_MAX, op2(b, OP_ADD, op2(b, OP_MUL, number, each), lo), lo);
	loop->in[0] = first;
	loop->in[1] = op2(b, OP_MIN, op2(b, OP_ADD, first, each), hi);
}

static void add_axis(Fn *fn, const Sym *n)
{
	fn->grid[fn->ngrid++] = n;
	for (int a = 0; a < 4; a++) fn->sweep[a] = 0;
}

static Fn *write_share(const Splitter *w, int i)
{
	const SplitLoop *l = &w->p.loops.p[i];
	int at = place_of(w->loop[i]), axis = w->rest->ngrid;
	Fn *fn = copy_kernel(w->rest);
	Op *loop = op_at(fn, at);
	cut_after(loop);
	fn->name = i ? str_fmt("%s_share_%d", w->p.fn->name, i + 1) : str_fmt("%s_share", w->p.fn->name);
	Builder before = build_before(loop);
	Val *block = steps_block_number(&before, fn), *share = steps_grid_index(&before, axis);
	Val *index[3] = { block, share, ir_const_int(&before, i32(), 0) };
	take_share(&before, loop, l, &w->share[i], share);
	for (int k = 0; k < l->carried.n; k++) loop->in[3 + k] = begins_with(&before, loop, k, l);
	split_guard_powers(loop, l);
	Builder b = { fn, fn->body, NULL, loop->span };
	for (int k = 0; k < l->carried.n; k++) {
		uint8_t log2[3] = { 0, 0, (uint8_t)size_log2(l->carried.p[k].type) };
		Val *x = as_box(&b, loop->out[k], box(l->carried.p[k].type->elem, 3, log2));
		store_box(&b, fn->params.p[w->first[i] + k].val, 3, index, x);
	}
	ir_op(&b, OP_RETURN, 0, NULL, 0, NULL);
	add_axis(fn, w->share[i].count);
	return fn;
}

/* ---- what the shares have, combined ---- */
typedef struct Combine {
	const Splitter *w;
	const SplitLoop *l;
	Fn *fn;
	int together;           /* log2 of the shares whose results are loaded at once */
	int first;              /* parameter */
	Val *block;
	Val **loaded;           /* of each carried value */
	Val **now;              /* what was combined so far */
} Combine;

static void set_modes(Val *v, const Carried *c)
{
	if (c->nan) ir_set_int(v->def, AT_NAN, c->nan);
}

static Val *along_shares(Builder *b, OpCode code, Val *x)
{
	uint8_t log2[3] = { 0, 0, x->type->log2[2] };
	bool by_index = code == OP_MIN_ELEMENT || code == OP_MAX_ELEMENT;
	Val *r = ir_unary(b, code, box(by_index ? EL_U32 : x->type->elem, 3, log2), x);
	ir_set_int(r->def, AT_AXIS, 1);
	return r;
}

static Elem bits_of(Elem e)
{
	switch (elem_bytes(e)) {
	case 1: return EL_U8;
	case 2: return EL_U16;
	case 4: return EL_U32;
	default: return EL_U64;
	}
}

/* The one element along the shares where hit is true. */
static Val *element_at(Builder *b, Val *x, Val *hit)
{
	Elem e = x->type->elem, word = bits_of(e);
	bool as_bits = elem_is_any_float(e);
	if (as_bits) x = ir_unary(b, OP_BITCAST, type_with_elem(x->type, word), x);
	x = choose(b, hit, x, ir_const_num(b, x->type, num_zero(x->type->elem)));
	x = along_shares(b, OP_REDUCE_OR, x);
	return as_bits ? ir_unary(b, OP_BITCAST, type_with_elem(x->type, e), x) : x;
}

/* Where the first share with the least, or greatest, key has less, or more, than was found so far, its value. */
static void combine_picked(Combine *g, Builder *b, int i)
{
	const Carried *c = &g->l->carried.p[i];
	bool least = c->combine == OP_MIN;
	Val *keys = g->loaded[c->key], *old = g->now[c->key];
	Val *best = along_shares(b, monoid_reduction(c->combine), keys);
	Val *place = along_shares(b, least ? OP_MIN_ELEMENT : OP_MAX_ELEMENT, keys);
	uint8_t log2[3] = { 0, keys->type->log2[1], 0 };
	const Type *numbers = type_with_elem(keys->type, EL_U32);
	Val *number = ir_unary(b, OP_BROADCAST, numbers, ir_op1(b, OP_IOTA, box(EL_U32, 3, log2), 0, NULL));
	Val *hit = compare(b, OP_EQ, number, ir_unary(b, OP_BROADCAST, numbers, place));
	Val *value = as_carried(b, element_at(b, g->loaded[i], hit), c->type);
	Val *wins = compare(b, least ? OP_LT : OP_GT, as_carried(b, best, g->l->carried.p[c->key].type), old);
	g->now[i] = choose(b, wins, value, g->now[i]);
}

static void combine_reduced(Combine *g, Builder *b, int i)
{
	const Carried *c = &g->l->carried.p[i];
	Val *all = along_shares(b, monoid_reduction(c->combine), g->loaded[i]);
	set_modes(all, c);
	g->now[i] = op2(b, c->combine, g->now[i], as_carried(b, all, c->type));
	set_modes(g->now[i], c);
}

/* Of the tuple's shape: its last parts may be scalars, which stand for all elements. */
static Val *spread_over(Builder *b, Val *x, const Type *shape)
{
	return type_same_shape(x->type, shape) ? x : ir_unary(b, OP_BROADCAST, type_with_elem(shape, x->type->elem), x);
}

static void combine_tuple(Combine *g, Builder *b, int number)
{
	const CarriedTuple *t = &g->l->tuples.p[number];
	Val *x[2 * COST_SPLIT_TUPLE], *all[COST_SPLIT_TUPLE];
	const Type *shape = g->l->carried.p[t->at[0]].type;
	for (int k = 0; k < t->n; k++) x[k] = spread_over(b, g->loaded[t->at[k]], g->loaded[t->at[0]]->type);
	split_reduce(b, t, 1, x, all);
	for (int k = 0; k < t->n; k++) {
		x[k] = spread_over(b, g->now[t->at[k]], shape);
		x[t->n + k] = as_carried(b, all[k], type_with_elem(shape, x[k]->type->elem));
	}
	split_call(b, t, x, all);
	for (int k = 0; k < t->n; k++)
		if (g->l->carried.p[t->at[k]].tuple == number) g->now[t->at[k]] = all[k];
}

/* The greatest of the shares is not what is carried yet. */
static void combine_powers(Combine *g, Builder *b, int i)
{
	const Carried *c = &g->l->carried.p[i];
	Val *keys = g->loaded[c->power], *old = g->now[c->power];
	Val *base = split_base(b, op2(b, OP_MAX, old, as_carried(b, along_shares(b, OP_REDUCE_MAX, keys), old->type)));
	uint8_t log2[3] = { 0, 0, keys->type->log2[2] };
	Val *x = split_move(b, c, g->loaded[i], keys, as_box(b, base, box(keys->type->elem, 3, log2)));
	Val *moved = split_move(b, c, g->now[i], old, base);
	g->now[i] = op2(b, OP_ADD, moved, as_carried(b, along_shares(b, OP_SUM, x), c->type));
}

static Num pad_of(const SplitLoop *l, const Carried *c)
{
	bool is_key = false;
	for (int i = 0; i < l->carried.n; i++)
		is_key |= (l->carried.p[i].key >= 0 && &l->carried.p[l->carried.p[i].key] == c)
			|| (l->carried.p[i].power >= 0 && &l->carried.p[l->carried.p[i].power] == c);
	if (c->tuple >= 0) return split_identity(&l->tuples.p[c->tuple], c->part);
	if (c->key >= 0 || c->power >= 0) return num_zero(c->type->elem);
	return monoid_identity(monoid_reduction(c->combine), c->type->elem, is_key || c->nan);
}

static void combine_iteration(Combine *g, Builder *b, Val *number)
{
	const SplitLoop *l = g->l;
	Val *at[3] = { g->block, number, ir_const_int(b, i32(), 0) };
	for (int i = 0; i < l->carried.n; i++) {
		const Type *t = l->carried.p[i].type;
		uint8_t log2[3] = { 0, (uint8_t)g->together, (uint8_t)size_log2(t) };
		g->loaded[i] = load_box(b, g->fn->params.p[g->first + i].val, 3, at, box(t->elem, 3, log2),
			pad_of(l, &l->carried.p[i]));
	}
	for (int i = 0; i < l->carried.n; i++)          /* before their keys change */
		if (l->carried.p[i].key >= 0) combine_picked(g, b, i);
	for (int i = 0; i < l->carried.n; i++)
		if (l->carried.p[i].power >= 0) combine_powers(g, b, i);
	for (int i = 0; i < l->tuples.n; i++) combine_tuple(g, b, i);           /* before their scalars change */
	for (int i = 0; i < l->carried.n; i++)
		if (l->carried.p[i].key < 0 && l->carried.p[i].tuple < 0 && l->carried.p[i].power < 0) combine_reduced(g, b, i);
}

/* Words that a thread block holds while it combines `together` shares: what it loads, what warps have of it before
 * they exchange it, and what is carried, old and new. */
static int64_t words_held(const SplitLoop *l, int together)
{
	int64_t carried = 0;
	for (int i = 0; i < l->carried.n; i++) {
		const Type *t = l->carried.p[i].type;
		carried += (int64_t)((elem_bytes(t->elem) + 3) / 4) << size_log2(t);
	}
	int64_t loaded = carried << together, parts = carried * COST_SPLIT_WARPS;
	return loaded + (parts < loaded ? parts : loaded) + 2 * carried;
}

/* A function takes registers for all parts of a tuple at once, and more instructions than a sum. */
static int together_log2(const SplitLoop *l)
{
	int most = 0, parts = 0, n;
	for (int i = 0; i < l->carried.n; i++)
		if (size_log2(l->carried.p[i].type) > most) most = size_log2(l->carried.p[i].type);
	for (int i = 0; i < l->tuples.n; i++)
		if (log2_of(l->tuples.p[i].n) > parts) parts = log2_of(l->tuples.p[i].n);
	n = (l->tuples.n ? COST_SPLIT_CALLED - parts : COST_SPLIT_TOGETHER) - most;
	if (n > COST_SPLIT_SHARES) n = COST_SPLIT_SHARES;
	int64_t room = (int64_t)(REGS_MOST - COST_AROUND) * 32 * COST_SPLIT_WARPS;
	while (n > 0 && words_held(l, n) > room) n--;
	return n < 0 ? 0 : n;
}

/* Puts the shares' results, combined with what the loop began with, in the loop's place. */
static void write_combined(const Splitter *w, Fn *fn, int i, Op *loop)
{
	const SplitLoop *l = &w->p.loops.p[i];
	int n = l->carried.n;
	Builder b = build_before(loop);
	Combine g = { w, l, fn, together_log2(l), w->first[i], NULL, NEW_ARRAY(A_TMP, Val *, n),
		NEW_ARRAY(A_TMP, Val *, n) };
	Val **in = NEW_ARRAY(A_TMP, Val *, 3 + n);
	const Type **types = NEW_ARRAY(A_TMP, const Type *, n);
	g.block = steps_block_number(&b, fn);
	in[0] = ir_const_int(&b, i32(), 0);
	in[1] = ir_launch(&b, EL_I32, sym_cdiv(w->share[i].count, sym_const((int64_t)1 << g.together)));
	in[2] = ir_const_int(&b, i32(), 1);
	for (int k = 0; k < n; k++) in[3 + k] = ir_in(loop, 3 + k), types[k] = l->carried.p[k].type;
	Op *all = ir_op(&b, OP_FOR, 3 + n, in, n, types);
	IrBlock *body = ir_region(all);
	Builder inside = { fn, body, NULL, loop->span };
	Val *number = ir_arg(body, i32(), NULL);
	for (int k = 0; k < n; k++) g.now[k] = ir_arg(body, types[k], NULL);
	combine_iteration(&g, &inside, number);
	ir_op(&inside, OP_YIELD, n, g.now, 0, NULL);
	for (int k = 0; k < n; k++) {
		all->out[k]->name = loop->out[k]->name;
		ir_replace(loop->out[k], all->out[k]);
	}
	ir_remove(loop);
}

static void forget_hints(Fn *fn)                /* they were for the loop */
{
	fn->hints.p = NULL;
	fn->hints.n = fn->hints.cap = 0;
}

/* What loop i carries in the end, for what follows it. */
static Fn *write_whole(const Splitter *w, int i)
{
	const SplitLoop *l = &w->p.loops.p[i];
	int at = place_of(w->loop[i]);
	Fn *fn = copy_kernel(w->rest);
	Op *loop = op_at(fn, at);
	cut_after(loop);
	fn->name = i ? str_fmt("%s_whole_%d", w->p.fn->name, i + 1) : str_fmt("%s_whole", w->p.fn->name);
	forget_hints(fn);
	Builder b = { fn, fn->body, NULL, loop->span };
	Val *block = steps_block_number(&b, fn), *index[2] = { block, ir_const_int(&b, i32(), 0) };
	for (int k = 0; k < l->carried.n; k++) {
		uint8_t log2[2] = { 0, (uint8_t)size_log2(l->carried.p[k].type) };
		Val *x = as_box(&b, loop->out[k], box(l->carried.p[k].type->elem, 2, log2));
		store_box(&b, fn->params.p[w->first[i] + l->carried.n + k].val, 2, index, x);
	}
	ir_op(&b, OP_RETURN, 0, NULL, 0, NULL);
	write_combined(w, fn, i, loop);
	return fn;
}

static void load_whole(const Splitter *w, int i)
{
	const SplitLoop *l = &w->p.loops.p[i];
	Op *loop = w->loop[i];
	Builder b = build_before(loop);
	Val *block = steps_block_number(&b, w->rest), *index[2] = { block, ir_const_int(&b, i32(), 0) };
	for (int k = 0; k < l->carried.n; k++) {
		const Type *t = l->carried.p[k].type;
		uint8_t log2[2] = { 0, (uint8_t)size_log2(t) };
		Val *x = load_box(&b, w->rest->params.p[w->first[i] + l->carried.n + k].val, 2, index, box(t->elem, 2, log2),
			num_zero(t->elem));
		x = as_carried(&b, x, t);
		x->name = loop->out[k]->name;
		ir_replace(loop->out[k], x);
	}
	ir_remove(loop);
}

/* ---- the loop that stores ---- */
/* Stores around it are for the first share. */
static void store_once(Fn *fn, const Op *loop, Val *share)
{
	IrBlock *then = NULL;
	for (Op *op = fn->body->first, *next; op; op = next) {
		next = op->next;
		if (op == loop || !op_has(op, OPF_WRITE)) {
			then = NULL;
			continue;
		}
		if (!then) {
			Builder b = build_before(op);
			Val *first = compare(&b, OP_EQ, share, ir_const_int(&b, i32(), 0));
			Op *cond = ir_op(&b, OP_IF, 1, &first, 0, NULL);
			then = ir_region(cond);
			Builder yes = { fn, then, NULL, op->span }, no = { fn, ir_region(cond), NULL, op->span };
			ir_op(&yes, OP_YIELD, 0, NULL, 0, NULL);
			ir_op(&no, OP_YIELD, 0, NULL, 0, NULL);
		}
		ir_move_before(op, then->last);
	}
}

static void write_stores(const Splitter *w)
{
	Fn *fn = w->rest;
	const Share *s = &w->share[w->p.loops.n];
	Op *loop = w->loop[w->p.loops.n];
	Builder first = build_before(fn->body->first);
	Val *share = steps_grid_index(&first, fn->ngrid);
	Builder before = build_before(loop);
	take_share(&before, loop, &w->p.stores, s, share);
	store_once(fn, loop, share);
	add_axis(fn, s->count);
}

/* ---- the version ---- */
static void find_largest(void *ctx, Op *op)
{
	int *log2 = ctx;
	for (int i = 0; i < op->nout; i++)
		if (size_log2(op->out[i]->type) > *log2) *log2 = size_log2(op->out[i]->type);
}

/* Is a tuple of tiles carried that are as large as what an iteration works on? Their shares are combined one by one. */
static bool carries_all(const SplitLoop *l, Op *loop)
{
	int log2 = 0;
	ir_walk(loop->region[0], find_largest, &log2);
	for (int i = 0; i < l->tuples.n; i++)
		if (size_log2(l->carried.p[l->tuples.p[i].at[0]].type) == log2) return true;
	return false;
}

/* How many tile blocks fill a device: by the largest tile of the loops. */
static int64_t blocks_that_fill(const SplitPlan *p)
{
	int log2 = 0;
	for (int i = 0; i < p->loops.n; i++) ir_walk(op_at(p->fn, p->loops.p[i].at)->region[0], find_largest, &log2);
	int more = log2 > COST_SPLIT_FULL ? 0 : COST_SPLIT_FULL - log2;
	return (int64_t)COST_SPLIT_BLOCKS << (more > COST_SPLIT_MORE ? COST_SPLIT_MORE : more);
}

static Share share_of(const SplitLoop *l, Op *loop, const Sym *blocks, int64_t most)
{
	Share s;
	int64_t least = carries_all(l, loop) ? COST_SPLIT_CARRIED : COST_SPLIT_ROUNDS;
	s.iterations = sym_cdiv(sym_sub(l->hi, l->lo), sym_const(l->step));
	s.each = sym_max(sym_const(least), sym_cdiv(sym_mul(s.iterations, blocks), sym_const(most)));
	s.count = sym_cdiv(s.iterations, s.each);
	return s;
}

static const Sym *both(const Sym *a, const Sym *b) { return sym_logic(SYM_AND, a, b); }

static const SplitLoop *loop_of(const SplitPlan *p, int i) { return i < p->loops.n ? &p->loops.p[i] : &p->stores; }

static const Sym *guard_of(const Splitter *w)
{
	const Sym *r = sym_const(1);
	for (int i = 0; i < w->p.loops.n + w->p.storing; i++) {
		const SplitLoop *l = loop_of(&w->p, i);
		const Sym *end = sym_add(l->hi, sym_mul(w->share[i].each, sym_const(l->step)));
		r = both(r, sym_cmp(SYM_LT, l->lo, l->hi));
		if (l->counter == EL_I32) r = both(r, sym_cmp(SYM_LE, end, sym_const(INT32_MAX)));
	}
	return r;
}

static const Sym *gain_of(const Splitter *w)
{
	const Sym *iterations = w->share[0].iterations;
	for (int i = 1; i < w->p.loops.n; i++) iterations = sym_max(iterations, w->share[i].iterations);
	const Sym *few = sym_cmp(SYM_LE, w->blocks, sym_const(w->most / COST_SPLIT_FEW));
	int64_t least = COST_SPLIT_ALL;
	for (int i = 0; i < w->p.loops.n; i++)
		for (int k = 0; k < w->p.loops.p[i].tuples.n; k++)
			if (w->p.loops.p[i].tuples.p[k].divides) least = COST_SPLIT_DIVIDES;
	return both(few, sym_cmp(SYM_LE, sym_const(least * w->p.loops.n), iterations));
}

/* Is it combined in a step of its own, for several tile blocks? */
static bool has_whole(const Splitter *w, int i) { return i + 1 < w->p.loops.n + w->p.storing; }

static void add_workspace(Splitter *w)
{
	int64_t loops = w->p.loops.n;
	for (int i = 0; i < loops; i++) {
		const SplitLoop *l = &w->p.loops.p[i];
		w->first[i] = w->rest->params.n;
		for (int whole = 0; whole < (has_whole(w, i) ? 2 : 1); whole++)
			for (int k = 0; k < l->carried.n; k++) {
				const Type *t = l->carried.p[k].type;
				const Sym *n = sym_const((int64_t)1 << size_log2(t));
				const Sym *parts[3] = { w->blocks, w->share[i].count, n }, *all[2] = { w->blocks, n };
				add_workspace_view(w->rest, whole ? "whole" : "shares", t->elem, whole ? 2 : 3, whole ? all : parts);
			}
	}
}

static bool is_never(const Sym *condition)
{
	int64_t v;
	return sym_is_const(condition, &v) && !v;
}

static void split(Fn *fn, const LowerCx *cx)
{
	Splitter w = { .blocks = sym_const(1) };
	if (has_steps(fn, cx) || fn->is_step || fn->ordered || fn->ngrid > 3 || !split_plan(&w.p, fn)) return;
	split_find_stores(&w.p);
	int n = w.p.loops.n, all = n + w.p.storing;
	w.loop = NEW_ARRAY(A_TMP, Op *, all);
	w.share = NEW_ARRAY(A_TMP, Share, all);
	w.first = NEW_ARRAY(A_TMP, int, n);
	for (int i = 0; i < fn->ngrid; i++) w.blocks = sym_mul(w.blocks, fn->grid[i]);
	w.most = blocks_that_fill(&w.p);
	for (int i = 0; i < all; i++) {
		const SplitLoop *l = loop_of(&w.p, i);
		w.share[i] = share_of(l, op_at(fn, l->at), w.blocks, w.most);
	}
	const Sym *guard = guard_of(&w), *gain = gain_of(&w);
	if (is_never(guard) || is_never(gain)) return;
	w.rest = copy_kernel(fn);
	for (int i = 0; i < all; i++) w.loop[i] = op_at(w.rest, loop_of(&w.p, i)->at);
	for (int i = n - 1; i >= 0; i--) split_guard_formulas(w.rest, w.loop[i], &w.p.loops.p[i]);
	add_workspace(&w);
	Steps *s = steps_begin(fn, cx, guard, gain);
	for (int i = 0; i < n; i++) {
		steps_add(s, write_share(&w, i));
		if (!has_whole(&w, i)) break;
		steps_add(s, write_whole(&w, i));
		load_whole(&w, i);
	}
	if (w.p.storing) {
		write_stores(&w);
	} else {
		write_combined(&w, w.rest, n - 1, w.loop[n - 1]);
		forget_hints(w.rest);
	}
	w.rest->name = str_fmt("%s_rest", fn->name);
	steps_add(s, w.rest);
}

void pass_split(Module *m, const LowerCx *cx)
{
	for (int i = 0; cx->o->by_threads && i < m->fns.n; i++) split(m->fns.p[i], cx);
}
