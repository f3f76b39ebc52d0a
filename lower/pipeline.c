/* pipeline: loops of matrix products as a pipeline of roles, for architectures with a copy
 * engine for tensors and wgmma.
 *
 * The copy engine fills a ring of buffers with the factors of coming iterations. One warp, the producer, waits until a
 * buffer is free and asks for its copies; warpgroups, the consumers, wait until it is full, multiply, and give it back.
 * Two mbarriers for each buffer say which of both it is. The producer is as many iterations ahead as there are buffers,
 * also from one tile to the next: thread blocks stay and walk over the tiles, so that the next tile's factors come
 * while the last one's sums are stored.
 *
 * Each group of the consumers has rows of its own; the columns' factor, which they share, is copied once. So it is with
 * the thread blocks of a cluster: each copies a part of what they share into the buffers of all.
 *
 * What stands around the loop runs in the layout of the sums (pipeline_layout.c). Stores of 16-bit tiles go through
 * shared memory and the copy engine, others straight from registers.
 *
 * Tiles that do not fill the last wave leave multiprocessors without work. Where there is workspace, the iterations of
 * the tiles of the last waves are divided evenly instead (stream-k): each cluster has a share, a run of iterations that
 * may begin and end within a tile. The cluster with the last iteration of a tile stores the tile. The others write
 * their sums to the workspace, and it adds them in the order of their iterations; no cluster waits for one with a
 * higher number. The shares follow from the dimensions alone, so results are the same on each run.
 *
 * The kernel serves calls whose tensors the copy engine can read (versions.c asks); there is
 * another version for all calls. */
#include "lower/pipeline_write.h"

#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/widen.h"

/* ---- the producer ---- */
/* A thread block copies its part of what the cluster shares into the buffers of all its thread blocks. */
static void copy_buffer(Write *x, const Moved *m, Val *at, Val *const coord[2])
{
	Val *to = slot(x, m, at), *in[] = { to, m->map, x->full, at, coord[0], coord[1], x->all };
	if (m->part == m->type) {
		add(x, OP_TMA_LOAD, 6, in);
		return;
	}
	in[0] = make(x, OP_PART, m->part, 3, (Val *[]){ to, x->rank, number(x, 0) });
	ir_set_ints(in[0]->def, AT_STEPS, 2, (const int64_t[]){ type_extent(m->part, 0), type_extent(m->part, 1) });
	ir_set_int(add(x, OP_TMA_LOAD, 7, in), AT_MULTICAST, 1);
}

static void copy_iteration(Write *x, Val *at)
{
	Builder back;
	Val *coord[PIPE_LOADS][2];
	for (int i = 0; i < x->p.loads; i++) {
		const Moved *m = &x->in[i];
		for (int a = 0; a < 2; a++) coord[i][a] = pipe_coordinate(x, x->p.load[i].op, m->transposed ? 1 - a : a);
		if (m->part != m->type) coord[i][0] = sum_of(x, coord[i][0], times(x, x->rank, type_extent(m->part, 0)));
	}
	ir_set_int(add(x, OP_MBAR_WAIT, 2, (Val *[]){ x->empty, at }), AT_PHASE, PHASE_PREVIOUS);
	region_op(x, OP_ELECT, &back);
	ir_set_int(add(x, OP_MBAR_EXPECT, 2, (Val *[]){ x->full, at }), AT_BYTES, x->stage_bytes);
	for (int i = 0; i < x->p.loads; i++) {
		x->b.span = x->p.load[i].op->span;
		copy_buffer(x, &x->in[i], at, coord[i]);
	}
	leave(x, back, 0, NULL);
}

Op *pipe_begin_role(Write *x, const char *name, int groups, int regs, Builder *back)
{
	Op *role = region_op(x, OP_ROLE, back);
	if (groups > 1) ir_set_int(role, AT_GROUPS, groups);
	if (regs) ir_set_int(role, AT_REGS, regs);
	ir_set_str(role, AT_TEXT, str_intern(name));
	ir_arg(x->b.block, i32(), str_intern("group"));
	return role;
}

static void write_producer(Write *x)
{
	Builder back, inner;
	const IrBlock *body = x->p.fn->body, *iterations = x->p.loop->region[0];
	pipe_begin_role(x, "producer", 1, producer_regs(x->p.plan.groups), &back);
	region_op(x, OP_ONE_WARP, &inner);
	add(x, OP_GRID_WAIT, 0, NULL);
	add(x, OP_GRID_LAUNCH, 0, NULL);
	Walk t = pipe_begin_tiles(x, cursor(x), NULL);
	pipe_copy_scalars(x, body->first, x->p.loop, true);
	Walk w = pipe_begin_iterations(x, t.at, 0, NULL);
	pipe_copy_scalars(x, iterations->first, iterations->last, true);
	copy_iteration(x, w.at);
	Val *next = advance(x, w.at);
	leave(x, w.back, 1, &next);
	pipe_end_tiles(x, t, w.loop->out[0]);
	leave(x, inner, 0, NULL);
	leave(x, back, 0, NULL);
}

/* ---- the kernel ---- */
static Val *launch(Write *x, const Sym *s, const char *name) { return named(ir_launch(&x->b, EL_I32, s), name); }

static Names names_of(Fn *fn, Fn *to)
{
	Names n = { NEW_ARRAY(A_TMP, Val *, fn->nval), NEW_ARRAY(A_TMP, Val *, fn->nval) };
	for (int i = 0; i < fn->body->args.n; i++) n.common[fn->body->args.p[i]->id] = to->body->args.p[i];
	return n;
}

static void begin_kernel(Write *x)
{
	Fn *from = x->p.fn;
	x->fn = NEW(A_UNIT, Fn);
	*x->fn = *from;
	x->fn->nval = 0;
	x->fn->body = ir_block(x->fn, NULL);
	for (int i = 0; i < from->body->args.n; i++) {
		Val *a = from->body->args.p[i], *own = ir_arg(x->fn->body, a->type, a->name);
		for (int k = 0; k < x->fn->params.n; k++)
			if (x->fn->params.p[k].val == a) x->fn->params.p[k].val = own;
	}
	x->whole = names_of(from, x->fn);
	x->by_part = names_of(x->part.fn, x->fn);
	x->names = &x->whole;
	x->needed = NEW_ARRAY(A_TMP, bool, from->nval);
	x->b = (Builder){ x->fn, x->fn->body, NULL, from->span };
}

/* The tiles of the last whole wave are divided together with the remainder after it: a share has one to two tiles'
 * iterations, or less. */
static void deal_out(Write *x, const Sym *tiles)
{
	Shares *s = &x->shares;
	const IrParamVec *params = &x->fn->params;
	ir_number(x->p.fn);
	ValSyms b = valsyms_new(x->p.fn);
	PipeStreamK d = pipe_stream_k(tiles, valsym(&b, ir_in(x->p.loop, 1)), s->count);
	s->flags = params->p[params->n - 2].val;
	s->sums = params->p[params->n - 1].val;
	s->iterations = launch(x, d.iterations, "rounds");
	s->waves = launch(x, d.waves, "waves");
	s->whole = launch(x, sym_mul(d.waves, sym_const(s->count)), "whole");
	s->rest = launch(x, d.rest, "rest");
	s->each = launch(x, d.each, "each");
}

/* A cluster's tiles are as many of the kernel's blocks as it has groups, times those side by side in one group. */
static void set_grid(Write *x)
{
	const Sym *rows = widen_grid(x->p.fn->grid[x->p.row_axis], x->p.plan.groups * pipe_along_cluster(x, 0));
	const Sym *cols = widen_grid(x->p.fn->grid[x->p.col_axis], x->p.reps * pipe_along_cluster(x, 1));
	x->rows = launch(x, rows, "rows");
	x->cols = launch(x, cols, "cols");
	x->tiles = launch(x, sym_mul(rows, cols), "tiles");
	if (x->shares.count) deal_out(x, sym_mul(rows, cols));
	x->fn->ngrid = 1;
	x->fn->grid[0] = sym_mul(rows, cols);
	x->fn->grid[1] = NULL;
	for (int i = 0; i < 4; i++) x->fn->sweep[i] = 0;
}

static void write_kernel(Write *x)
{
	for (const Op *op = x->p.fn->body->first; op; op = op->next)
		if (pipe_is_common(x, op)) pipe_copy_op(x, op, x->names->common);
	pipe_find_needed(x);
	set_grid(x);
	if (x->p.plan.cluster > 1) {
		x->rank = named(make(x, OP_CLUSTER_RANK, i32(), 0, NULL), "rank");
		x->all = number(x, (INT64_C(1) << x->p.plan.cluster) - 1);
	}
	write_producer(x);
	for (int i = 0; i < x->p.fn->nval; i++) x->whole.own[i] = NULL;
	pipe_write_consumers(x);
	if (x->rank) ir_set_int(add(x, OP_CLUSTER_BARRIER, 0, NULL), AT_ORDER, ACQUIRE_RELEASE);
	add(x, OP_RETURN, 0, NULL);
}

/* Views that are permuted parameters, which tensor maps are made of. */
static void name_views(Write *x, Names *names, const Fn *fn)
{
	x->names = names;
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_PERMUTE && op->out[0]->type->kind == TY_VIEW) pipe_copy_op(x, op, names->common);
}

bool pipe_wanted(const Fn *fn, const LowerCx *cx)
{
	return !ir_hints_threads(fn) && cx->o->by_threads;
}

static bool give_layouts(const Pipe *p)
{
	Lay sums[PIPE_PRODUCTS];
	for (int i = 0; i < p->products; i++) sums[i] = pipe_sum_layout(p->product[i].op->out[0]->type);
	return pipe_layouts(p, sums);
}

static Fn *place(Fn *typed, const PipePlan *plan, const LowerCx *cx)
{
	Write x = { .at = 0 };
	Fn *fn = copy_kernel(typed);
	if (plan->transposed && !pipe_transpose(fn)) return NULL;
	if (!pipe_find(&x.p, fn) || !pipe_retile(&x.p, plan, cx)) return NULL;
	x.parts = x.p.reps << pipe_part(&x.p, &x.part, cx);
	x.shares.count = typed->stream_k ? pipe_places(cx, plan) : 0;
	if (!give_layouts(&x.p) || !give_layouts(&x.part)) return NULL;
	ir_number(fn);
	ir_number(x.part.fn);
	begin_kernel(&x);
	name_views(&x, &x.by_part, x.part.fn);
	pipe_map_stores(&x);
	name_views(&x, &x.whole, fn);
	if (!pipe_map_loads(&x) || !pipe_give_memory(&x, MACHINE_SHARED_90)) return NULL;
	write_kernel(&x);
	x.fn->stage = STAGE_PLACED;
	x.fn->arch = cx->target_arch;
	x.fn->specific = x.fn->persistent = x.fn->by_arch = true;
	x.fn->warps = 4 * (1 + plan->groups) * plan->cluster;
	x.fn->cluster = plan->cluster > 1 ? plan->cluster : 0;
	x.fn->shared_bytes = x.at;
	ir_number(x.fn);
	return x.fn;
}

/* Of kernels whose tiles cannot be joined along both axes: two groups, else one. */
static const PipePlan alone[] = {
	{ .groups = 2, .rows = 1 << PIPE_ROWS_LOG2, .depth = PIPE_SPAN, .cluster = 1 },
	{ .groups = 1, .rows = 1 << PIPE_ROWS_LOG2, .depth = PIPE_SPAN, .cluster = 1 },
};

static Str name_of(const PipePlan *p, const char *kind)
{
	int cluster[2] = { 1, 1 }, rows = p->groups * p->rows;
	cluster[p->transposed ? 1 - p->axis : p->axis] = p->cluster;
	Str name = p->transposed ? str_fmt("%s_%dx%d_transposed", kind, p->cols, rows) : str_fmt("%s_%dx%d", kind, rows,
		p->cols);
	return p->cluster > 1 ? str_fmt("%s_cluster_%dx%d", name, cluster[0], cluster[1]) : name;
}

static void add_placed(PipelinedVec *to, Fn *fn, const Sym *time, Str name)
{
	if (fn) vec_push(A_UNIT, to, ((Pipelined){ .fn = fn, .name = name, .time = time }));
}

static void place_roles(Pipe *p, const LowerCx *cx, PipelinedVec *to)
{
	PipeChoice choice[PIPE_PLANS];
	int n = p->fn->stream_k ? pipe_stream_k_plans(p, cx, choice) : pipe_plans(p, cx, choice);
	for (int i = 0; i < n; i++)
		add_placed(to, place(p->fn, &choice[i].plan, cx), choice[i].time, name_of(&choice[i].plan, "pipelined"));
	for (size_t i = 0; !to->n && !p->fn->stream_k && i < sizeof alone / sizeof *alone; i++)
		add_placed(to, place(p->fn, &alone[i], cx), NULL, str_intern("pipelined"));
}

static void place_stages(Pipe *p, const LowerCx *cx, PipelinedVec *to)
{
	PipeChoice choice[PIPE_PLANS];
	int n = pipe_stage_plans(p, cx, choice);
	for (int i = 0; i < n; i++)
		add_placed(to, pipe_stages(p->fn, &choice[i].plan, cx), choice[i].time, name_of(&choice[i].plan, "stages"));
	if (to->n) return;
	PipePlan own = pipe_own_stages(p);
	add_placed(to, pipe_stages(p->fn, &own, cx), NULL, str_intern("stages"));
}

bool pipe_has_roles(const Pipe *p)
{
	bool wide = true;
	for (int i = 0; i < p->loads; i++) wide &= elem_bytes(p->load[i].op->out[0]->type->elem) == 2;
	return wide;
}

/* What stands around the loop may be less accurate where it ends in rounding, as in other kernels. */
static Fn *relaxed(Fn *typed)
{
	Fn *fn = copy_kernel(typed);
	relax_kernel(fn);
	return fn;
}

void pipe_place(Fn *typed, const LowerCx *cx, PipelinedVec *to)
{
	Pipe p;
	if (!pipe_find(&p, typed) || !pipe_wanted(typed, cx)) return;
	Fn *fn = relaxed(typed);
	if (!pipe_find(&p, fn)) bug("a pipeline is none when it is relaxed");
	if (lower_arch(cx, typed) == 90 && cx->target_only && pipe_has_roles(&p)) place_roles(&p, cx, to);
	else if (!typed->stream_k) place_stages(&p, cx, to);
	if (to->n == 1) to->p[0].time = NULL;
}
