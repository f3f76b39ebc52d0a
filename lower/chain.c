/* Chained products as a pipeline of roles, for architectures with a copy engine for tensors and wgmma (pipeline.c
 * has the loops of plain products, and says how rings and roles work).
 *
 * Each group of the consumers has a tile block of its own, neighbours along the axis of the grid along which what
 * is held differs. The loop is rotated by one product (a modulo schedule of two stages): an iteration issues its
 * products of level 0 and those of level 1 of the iteration before, waits for the first, and does its operations on
 * registers while the second run:
 *
 * 	S = q k(0); P = f(S)
 * 	for each further iteration j:  S = q k(j) | O += P v(j - 1) | wait for S | P' = f(S) | wait for O | scale O, pack P
 * 	O += P v(last)
 *
 * So tensor cores work while exponentials are computed, even with a single group, and the registers of S are handed to
 * the next product as soon as P is packed. A group whose iterations end before those of its neighbours releases the
 * buffers of the others' iterations unread. Iterations in which masks do nothing come first; both kinds are one loop,
 * unrolled over the kinds (chain_consume.c). */
#include <string.h>

#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/chain_write.h"

/* ---- the producer ---- */
/* Fills the next buffers of a ring. */
static void fill(Write *x, ChainRing r)
{
	Val *at[CHAIN_LOADS][TENSOR_RANK];
	int n[CHAIN_LOADS];
	for (int i = 0; i < x->c.loads; i++) {
		const ChainLoad *l = &x->c.load[i];
		if (l->ring == r) n[i] = chain_coordinates(x, l->op, &l->place, l->transposed, at[i]);
	}
	ir_set_int(add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->ring[r].empty, x->place[r] }), AT_PHASE, PHASE_PREVIOUS);
	Region e = chain_begin(x, OP_ELECT, NULL);
	ir_set_int(add(x, OP_MBAR_EXPECT, 2, (Val *[]){ x->ring[r].full, x->place[r] }), AT_BYTES, x->ring[r].bytes);
	for (int i = 0; i < x->c.loads; i++) {
		if (x->c.load[i].ring != r) continue;
		x->b.span = x->c.load[i].op->span;
		Val *to = make(x, OP_SLOT, x->in[i].type, 2, (Val *[]){ x->in[i].ring, x->place[r] });
		Val *in[4 + TENSOR_RANK] = { to, x->in[i].map, x->ring[r].full, x->place[r] };
		for (int a = 0; a < n[i]; a++) in[4 + a] = at[i][a];
		add(x, OP_TMA_LOAD, 4 + n[i], in);
	}
	chain_leave(x, e, 0, NULL);
	chain_advance(x, r);
}

/* In the order in which consumers want it. */
static void write_producer(Write *x)
{
	Region role = chain_begin_role(x, "producer", 1, COST_PRODUCER_REGS), warp = chain_begin(x, OP_ONE_WARP, NULL);
	x->group = NULL;
	add(x, OP_GRID_WAIT, 0, NULL);
	add(x, OP_GRID_LAUNCH, 0, NULL);
	Loop t = chain_begin_tiles(x);
	chain_count_iterations(x);
	fill(x, RING_HELD);
	Val **own = chain_names(x);
	chain_name_iteration(x, number(x, 0));
	fill(x, RING_FIRST);
	x->own = own;
	Loop l = chain_begin_iterations(x, number(x, 1), x->most, 0, NULL, NULL);
	Val *counter = chain_value(x, x->c.loop->region[0]->args.p[0]);
	fill(x, RING_FIRST);
	own = x->own;
	x->own = l.r.own;
	x->own = chain_names(x);
	chain_name_iteration(x, both(x, OP_SUB, counter, number(x, 1)));
	fill(x, RING_SECOND);
	x->own = own;
	chain_end_iterations(x, l, 0, NULL);
	chain_name_iteration(x, both(x, OP_SUB, x->most, number(x, 1)));
	fill(x, RING_SECOND);
	chain_end_tiles(x, t);
	chain_leave(x, warp, 0, NULL);
	chain_leave(x, role, 0, NULL);
}

/* ---- how many groups ---- */
/* Sums of all products, and factors in registers of 16-bit elements, at once. */
static int words_needed(const Chain *c)
{
	int64_t n = COST_CONSUMER_SPARE;
	for (int i = 0; i < c->products; i++) {
		const Op *op = c->product[i].op;
		n += type_size(op->out[0]->type) / 128;
		if (c->product[i].level) n += type_size(ir_in(op, 0)->type) / 256;
	}
	return (int)n;
}

/* 0: not even one has the registers. More groups share what iterations load, and overlap more of their vector work;
 * as many as registers allow. */
static int choose_groups(const Chain *c)
{
	int groups = GROUPS_MOST;
	while (groups && consumer_regs(groups) < words_needed(c)) groups--;
	return groups;
}

/* ---- the kernel ---- */
static Val *launch(Write *x, const Sym *s, const char *name) { return named(ir_launch(&x->b, EL_I32, s), name); }

static void begin_kernel(Write *x)
{
	Fn *from = x->c.fn;
	x->fn = NEW(A_UNIT, Fn);
	*x->fn = *from;
	x->fn->nval = 0;
	x->fn->body = ir_block(x->fn, NULL);
	x->fn->params.p = NEW_ARRAY(A_UNIT, IrParam, from->params.n);
	memcpy(x->fn->params.p, from->params.p, (size_t)from->params.n * sizeof *from->params.p);
	x->own = NEW_ARRAY(A_TMP, Val *, from->nval);
	for (int i = 0; i < from->body->args.n; i++) {
		Val *a = from->body->args.p[i], *own = ir_arg(x->fn->body, a->type, a->name);
		x->own[a->id] = own;
		for (int k = 0; k < x->fn->params.n; k++)
			if (x->fn->params.p[k].val == a) x->fn->params.p[k].val = own;
	}
	x->b = (Builder){ x->fn, x->fn->body, NULL, from->span };
}

static void set_grid(Write *x)
{
	const Sym *rows = sym_cdiv(x->c.fn->grid[x->c.row_axis], sym_const(x->groups)), *others = sym_const(1);
	for (int a = 0; a < x->c.fn->ngrid; a++)
		if (a != x->c.row_axis) others = sym_mul(others, x->c.fn->grid[a]);
	x->rows = launch(x, rows, "rows");
	x->others = launch(x, others, "others");
	x->tiles = launch(x, sym_mul(rows, others), "tiles");
	for (int i = 0; i < 4; i++) x->fn->grid[i] = NULL, x->fn->sweep[i] = 0;
	x->fn->ngrid = 1;
	x->fn->grid[0] = sym_mul(rows, others);
}

/* Scalars and views that are the same for all tile blocks. */
static void write_common(Write *x)
{
	for (const Op *op = x->c.fn->body->first; op != x->c.loop; op = op->next) {
		bool same = op->nout && !x->c.axes[op->out[0]->id] && op_is_pure(op);
		if (same && type_is_scalar(op->out[0]->type) && !x->own[op->out[0]->id]) chain_copy_op(x, op);
	}
}

/* Removes what nobody uses, from the end on. */
static void drop_unused(IrBlock *b, int *uses)
{
	for (Op *op = b->last, *prev; op; op = prev) {
		prev = op->prev;
		for (int i = 0; i < op->nregion; i++) drop_unused(op->region[i], uses);
		bool used = !op_is_pure(op) || !op->nout;
		for (int i = 0; i < op->nout; i++) used |= uses[op->out[i]->id] > 0;
		if (used) continue;
		for (int i = 0; i < op->nin; i++) uses[ir_in(op, i)->id]--;
		ir_remove(op);
	}
}

static bool is_wanted(Fn *fn, const LowerCx *cx)
{
	return !ir_hints_threads(fn) && cx->o->by_threads && lower_arch(cx, fn) == 90 && cx->target_only;
}

/* Calls in which no dimension is 0, or so great that the first element of the last tile is no i32; NULL: even then
 * some tile block may have no iteration. */
static const Sym *guard_of(const Chain *c)
{
	const Sym *guard = sym_const(1);
	for (int i = 0; i < c->fn->dims.n; i++) {
		const IrDim *d = &c->fn->dims.p[i];
		if (d->is_stride || d->def) continue;
		const Sym *n = sym_atom(ATOM_DIM, d->name, 0);
		guard = sym_logic(SYM_AND, guard, sym_cmp(SYM_LE, sym_const(1), n));
		guard = sym_logic(SYM_AND, guard, sym_cmp(SYM_LE, n, sym_const(EXTENT_MOST)));
	}
	ValSyms v = valsyms_new(c->fn);
	facts_assume(v.facts, guard);
	return facts_le(v.facts, sym_const(1), valsym(&v, ir_in(c->loop, 1))) ? guard : NULL;
}

/* Without what nobody uses, and with values that cost nothing made for each use. */
static void settle(Fn *fn, const LowerCx *cx)
{
	simplify_kernel(fn, cx);
	chain_unshare(fn);
}

static Fn *prepare(Fn *typed, const LowerCx *cx)
{
	Fn *fn = copy_kernel(typed);
	ir_number(fn);
	relax_kernel(fn);
	base2_powers(fn);
	mark_powers(fn);
	settle(fn, cx);
	return fn;
}

/* Joins short iterations where that leaves as many groups: they hide more than longer iterations save. */
static void join_iterations(Write *x, const LowerCx *cx)
{
	int more = 0, n = 0;
	for (int i = 0; i < x->c.products; i++) {
		const ChainProduct *r = &x->c.product[i];
		more += (int)(r->level ? type_size(ir_in(r->op, 0)->type) / 256 : type_size(r->op->out[0]->type) / 128);
		if (r->level && ir_in(r->op, 0)->type->log2[1] > n) n = ir_in(r->op, 0)->type->log2[1];
	}
	int groups = choose_groups(&x->c);
	if (n >= COST_CHAIN_JOINED || !groups || words_needed(&x->c) + more > consumer_regs(groups)) return;
	ChainTail tail = chain_join(&x->c);
	if (tail == TAIL_NONE) return;
	settle(x->c.fn, cx);
	if (!chain_find(&x->c, x->c.fn)) bug("a loop of chained products with joined iterations is none");
	x->ends = tail == TAIL_OPEN ? ir_in(ir_in(x->c.loop, 1)->def, 0) : NULL;
	x->parts = x->ends ? CHAIN_PARTS : 1;
}

static Fn *place(Fn *typed, const LowerCx *cx, const Sym **guard)
{
	Write x = { .at = 0, .parts = 1 };
	if (!chain_find(&x.c, typed) || !is_wanted(typed, cx) || !chain_find(&x.c, prepare(typed, cx))) return NULL;
	join_iterations(&x, cx);
	if (!(*guard = guard_of(&x.c)) || !chain_layouts(&x.c)) return NULL;
	if (!(x.groups = choose_groups(&x.c)) || !chain_fits(&x)) return NULL;
	x.masks = chain_masks(&x.c);
	begin_kernel(&x);
	chain_map_loads(&x);
	chain_map_stores(&x);
	if (!chain_give_memory(&x, MACHINE_SHARED_90)) return NULL;
	set_grid(&x);
	write_common(&x);
	write_producer(&x);
	chain_write_consumers(&x);
	add(&x, OP_RETURN, 0, NULL);
	ir_number(x.fn);
	drop_unused(x.fn->body, ir_use_counts(x.fn, A_TMP));
	x.fn->stage = STAGE_PLACED;
	x.fn->arch = cx->target_arch;
	x.fn->specific = x.fn->persistent = x.fn->by_arch = true;
	x.fn->warps = 4 * (1 + x.groups);
	x.fn->cluster = 0;
	x.fn->shared_bytes = x.at;
	ir_number(x.fn);
	return x.fn;
}

void chain_place(Fn *typed, const LowerCx *cx, PipelinedVec *to)
{
	const Sym *guard;
	Fn *fn = place(typed, cx, &guard);
	if (fn) vec_push(A_UNIT, to, ((Pipelined){ .fn = fn, .name = str_intern("pipelined"), .guard = guard }));
}
