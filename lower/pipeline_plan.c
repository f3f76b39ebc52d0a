/* Which plans a pipeline of products has: shapes of tiles, clusters, and which of them is for which calls.
 *
 * All plans are costed by one formula, an expression over what is known at launch: how many times each multiprocessor
 * has a tile, times a tile's time. That is the slower of two things, what the tensor cores do and what L2 delivers, for
 * each iteration, and what follows the loop. The unit is the time in which tensor cores add DEPTH products to one
 * sum. L2 delivers lines of 128 bytes: rows of a tensor that are no multiple of that touch two for each row of a
 * box, so clusters, which get what they share once, are the faster for it.
 *
 * Of all plans those are kept that together lose least over calls as users make them; of those that a kernel has the
 * launcher takes the one that costs least. */
#include "base/cost.h"
#include "base/machine.h"
#include "ir/valsym.h"
#include "lower/pipeline.h"

enum {
	PLANS = 128,            /* that are compared, at most */
	DEPTH = PIPE_SPAN / 2   /* elements of an iteration, of 16 bits */
};

/* A kernel as plans see it: what all costs are made of. */
typedef struct Shape {
	const Sym *grid[2];     /* blocks along rows and columns of the sums */
	int64_t tile[2];        /* elements of the author's tile */
	const Sym *iterations;      /* of DEPTH elements */
	const Sym *line[2];     /* time of a line of L2 of all first, all second factors */
	int products, sms;
	bool joins;             /* any number of blocks along the columns; else powers of two of them */
	bool fine;              /* the second factor is contiguous along the depth: columns in small steps */
	bool transposed;
} Shape;

/* ---- the formula ---- */
static const Sym *tiles_along(const Shape *s, int axis, int64_t extent)
{
	const Sym *n = s->grid[axis];
	int64_t by;
	if (n->kind == SYM_CDIV && sym_is_const(n->arg[1], &by) && by == s->tile[axis])
		return sym_cdiv(n->arg[0], sym_const(extent));
	return sym_cdiv(sym_mul(n, sym_const(s->tile[axis])), sym_const(extent));
}

static int64_t extent_of(const PipePlan *p, int axis) { return axis ? p->cols : (int64_t)p->groups * p->rows; }

/* Lines that a thread block asks L2 for in an iteration: rows of the first, columns of the second factor,
 * of which a cluster asks once. */
static const Sym *lines_of(const Shape *s, const PipePlan *p)
{
	const Sym *all = sym_const(0);
	for (int i = 0; i < 2; i++)
		all = sym_add(all, sym_mul(s->line[i], sym_const(extent_of(p, i) / (p->axis == 1 - i ? p->cluster : 1))));
	return all;
}

/* Time of an iteration while `taken` of the `places` that a device has for clusters are in use. Clusters share the rate
 * of the L2 cache, at most half of which one cluster gets for itself. */
static const Sym *iteration_time(const Shape *s, const PipePlan *p, const Sym *taken, int64_t places)
{
	int64_t sums = extent_of(p, 0) * extent_of(p, 1) * s->products;
	const Sym *shared = sym_mul(lines_of(s, p), sym_add(taken, sym_const(places)));
	return sym_add(sym_max(sym_const(sums), sym_div(shared, sym_const(2 * places))), sym_const(COST_EACH_ROUND));
}

static const Sym *tile_time(const Shape *s, const PipePlan *p, const Sym *taken, int64_t places)
{
	int64_t sums = extent_of(p, 0) * extent_of(p, 1) * s->products;
	const Sym *after = sym_const(sums * COST_STORE_SUM + COST_TILE);
	return sym_add(sym_mul(s->iterations, iteration_time(s, p, taken, places)), after);
}

/* A cluster's tiles are neighbours. */
static const Sym *cluster_tiles(const Shape *s, const PipePlan *p)
{
	const Sym *tiles = sym_const(1);
	for (int i = 0; i < 2; i++)
		tiles = sym_mul(tiles, tiles_along(s, i, extent_of(p, i) * (p->axis == i ? p->cluster : 1)));
	return tiles;
}

static const Sym *time_of(const Shape *s, const PipePlan *p)
{
	int64_t places = s->sms / p->cluster;
	const Sym *tiles = cluster_tiles(s, p);
	const Sym *waves = sym_cdiv(tiles, sym_const(places));
	return sym_mul(waves, tile_time(s, p, sym_min(tiles, sym_const(places)), places));
}

int pipe_places(const LowerCx *cx, const PipePlan *plan) { return machine_of(cx->target_arch)->sms / plan->cluster; }

/* The tiles that are divided are those of the last whole wave and the remainder after it. Few of them, of which a
 * cluster would have half or less, have as many shares each, which begin where tiles do: so those of all tiles are at
 * the same depth at a time, and share what they read in the L2 cache. */
PipeStreamK pipe_stream_k(const Sym *tiles, const Sym *iterations, int places)
{
	PipeStreamK d;
	const Sym *all = sym_const(places), *one = sym_const(1);
	d.waves = sym_max(sym_const(0), sym_sub(sym_cdiv(tiles, all), sym_const(2)));
	const Sym *dealt = sym_sub(tiles, sym_mul(d.waves, all)), *least = sym_const(COST_STREAM_K_LEAST);
	const Sym *few = sym_cmp(SYM_LE, sym_mul(dealt, sym_const(2)), all);
	const Sym *even = sym_cdiv(iterations, sym_max(one, sym_div(all, sym_max(one, dealt))));
	d.each = sym_max(least, sym_select(few, even, sym_cdiv(sym_mul(dealt, iterations), all)));
	d.iterations = sym_select(few, sym_mul(sym_cdiv(iterations, d.each), d.each), iterations);
	d.rest = sym_mul(dealt, d.iterations);
	return d;
}

/* Shares of many iterations are at different depths, and read what the L2 cache no longer has. */
static const Sym *slowed(const Shape *s, const Sym *time)
{
	const Sym *rows = sym_const(0);
	for (int i = 0; i < 2; i++) rows = sym_add(rows, sym_mul(s->grid[i], sym_const(s->tile[i])));
	const Sym *lines = sym_div(sym_mul(rows, s->iterations), sym_const(COST_STREAM_K_LINES));
	const Sym *over = sym_max(sym_sub(lines, sym_const(COST_STREAM_K_CACHED)), sym_const(0));
	const Sym *percent = sym_min(over, sym_const(COST_STREAM_K_SLOWED));
	return sym_add(time, sym_mul(sym_div(time, sym_const(100)), percent));
}

/* Where the last waves' iterations are dealt out, there is a tile or less to store after them, and what shares of a
 * tile hand each other. */
static const Sym *stream_k_time(const Shape *s, const PipePlan *p)
{
	int places = s->sms / p->cluster;
	int64_t sums = extent_of(p, 0) * extent_of(p, 1) * s->products;
	const Sym *tiles = cluster_tiles(s, p), *all = sym_const(places);
	PipeStreamK d = pipe_stream_k(tiles, s->iterations, places);
	const Sym *busy = sym_min(all, sym_cdiv(d.rest, d.each));
	const Sym *others = sym_mul(sym_cdiv(d.iterations, d.each), sym_const(sums * COST_STREAM_K_TAKEN));
	const Sym *dealt = sym_add(slowed(s, sym_mul(d.each, iteration_time(s, p, busy, places))), others);
	const Sym *fixed = sym_const(sums * COST_STORE_SUM + COST_TILE + COST_STREAM_K);
	return sym_add(sym_mul(d.waves, tile_time(s, p, all, places)), sym_add(dealt, fixed));
}

/* ---- what the formula knows of a kernel ---- */
/* Is the distance of rows a multiple of this number of bytes? */
static const Sym *is_multiple(const Sym *pitch, int elems)
{
	return sym_cmp(SYM_EQ, sym_mod(pitch, sym_const(elems)), sym_const(0));
}

/* Of a line of L2 where rows begin at lines, at sectors, or anywhere. */
typedef struct LineCosts { int64_t line, sectors, apart; } LineCosts;
static const LineCosts by_engine = { COST_LINE, COST_LINE_SECTORS, COST_LINE_APART };
static const LineCosts by_threads = { COST_STAGES_LINE, COST_STAGES_SECTORS, COST_STAGES_APART };

static const Sym *line_time(ValSyms *b, const PipeLoad *l, const LineCosts *c)
{
	int bytes = elem_bytes(l->op->out[0]->type->elem), axis = l->along_depth ? 1 - l->depth_axis : l->depth_axis;
	const Sym *pitch = valsym_stride(b, ir_in(l->op, 0), axis);
	if (!pitch) return sym_const(c->apart);
	const Sym *apart = sym_select(is_multiple(pitch, SECTOR / bytes), sym_const(c->sectors), sym_const(c->apart));
	return sym_select(is_multiple(pitch, PIPE_SPAN / bytes), sym_const(c->line), apart);
}

static void find_other(void *ctx, const Sym *atom)
{
	*(bool *)ctx |= atom->kind == SYM_ALIGNED || atom->atom != ATOM_DIM;
}

static bool is_of_dims(const Sym *s)
{
	bool other = s->size > SYM_SIZE_MAX;
	if (!other) sym_atoms(s, find_other, &other);
	return !other;
}

static const Sym *iterations_of(ValSyms *b, const Pipe *p)
{
	const Type *t = p->load[0].op->out[0]->type;
	const Sym *n = valsym(b, ir_in(p->loop, 1)), *each = sym_const(type_extent(t, p->load[0].depth_axis));
	int64_t by;
	if (!is_of_dims(n)) return sym_const(COST_ROUNDS);
	if (n->kind == SYM_CDIV && sym_is_const(n->arg[1], &by) && sym_const(by) == each)
		return sym_cdiv(n->arg[0], sym_const(DEPTH));
	return sym_cdiv(sym_mul(n, each), sym_const(DEPTH));
}

static bool look_at(Shape *s, Pipe *p, const LowerCx *cx, const LineCosts *costs)
{
	ir_number(p->fn);
	ValSyms b = valsyms_new(p->fn);
	*s = (Shape){ .iterations = iterations_of(&b, p), .products = p->products, .sms = machine_of(cx->target_arch)->sms,
		.joins = pipe_starts_with_constants(p), .fine = true };
	for (int i = 0; i < 2; i++) s->line[i] = sym_const(0);
	for (int i = 0; i < p->loads; i++) {
		const Sym **line = &s->line[p->load[i].second];
		*line = sym_add(*line, line_time(&b, &p->load[i], costs));
		s->fine &= !p->load[i].second || p->load[i].along_depth;
	}
	for (int a = 0; a < 2; a++) {
		int axis = pipe_grid_axis(p, a);
		if (axis < 0 || !is_of_dims(p->fn->grid[axis])) return false;
		s->grid[a] = p->fn->grid[axis];
		s->tile[a] = type_extent(p->product[0].op->out[0]->type, a);
	}
	return true;
}

/* ---- all plans ---- */
static bool may_have(const Shape *s, const PipePlan *p)
{
	return p->cols * s->products <= (p->groups < 3 ? PIPE_COLS : COST_SUMS_OF_THREE)
		&& (s->joins || !(p->cols & (p->cols - 1)));
}

/* The first are those of which a cluster shares what it can. */
static int all_plans(const Shape *s, PipePlan to[PLANS])
{
	static const PipePlan clusters[] = { { .cluster = 2, .axis = 0 }, { .cluster = 2, .axis = 1 }, { .cluster = 1 } };
	int n = 0, step = s->fine ? PIPE_COLS_FINE : PIPE_COLS_STEP;
	for (int groups = 2; groups <= PIPE_GROUPS; groups++)
		for (int cols = PIPE_COLS; cols >= PIPE_COLS_LEAST; cols -= step)
			for (size_t i = 0; i < sizeof clusters / sizeof *clusters - s->fine; i++) {
				PipePlan p = clusters[i];
				p.groups = groups;
				p.rows = 1 << PIPE_ROWS_LOG2;
				p.cols = cols;
				p.depth = PIPE_SPAN;
				p.transposed = s->transposed;
				if (may_have(s, &p) && n < PLANS) to[n++] = p;
			}
	return n;
}

/* ---- calls ---- */
/* One that users may make: each dimension by its name, log-uniform, a multiple of COST_CALL_MULTIPLE. */
typedef struct Call { const Fn *fn; uint32_t number; } Call;

static uint32_t mixed(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

static bool atom_of_call(void *ctx, const Sym *a, int64_t *v)
{
	const Call *c = ctx;
	uint32_t which = 0;
	*v = 1;
	if (a->kind == SYM_ALIGNED) return true;
	for (int i = 0; i < c->fn->dims.n; i++)
		if (c->fn->dims.p[i].name == a->name) which = (uint32_t)i;
	uint32_t r = mixed(c->number * 8 + which);
	int64_t octave = COST_CALL_LEAST << (r >> 16) % COST_CALL_OCTAVES;
	*v = (octave + octave * (r & 0xffff) / 0x10000) / COST_CALL_MULTIPLE * COST_CALL_MULTIPLE;
	return true;
}

static bool is_legal(Call *c)
{
	int64_t holds;
	for (int i = 0; i < c->fn->where.n; i++)
		if (!sym_eval(c->fn->where.p[i].cond, atom_of_call, c, &holds) || !holds) return false;
	return true;
}

/* Of each plan for each call; 0: there is no such call. */
static void time_calls(const Fn *fn, int n, const Sym *const *time, int64_t of[PLANS][COST_PLAN_CALLS])
{
	SymValues known = { 0 };
	for (int k = 0; k < COST_PLAN_CALLS; k++) {
		Call c = { fn, (uint32_t)k };
		bool legal = is_legal(&c);
		known.now = 1 + k;
		for (int i = 0; i < n; i++)
			if (!legal || !sym_eval_known(time[i], atom_of_call, &c, &known, &of[i][k])) of[i][k] = 0;
	}
}

/* The plan that loses least over all calls with those that are kept, in parts of 1,000 of the best of all. */
static int best_beside(int n, int64_t of[PLANS][COST_PLAN_CALLS], const bool *kept)
{
	int found = 0;
	int64_t least = INT64_MAX, best[COST_PLAN_CALLS], own[COST_PLAN_CALLS];
	for (int k = 0; k < COST_PLAN_CALLS; k++) {
		best[k] = own[k] = INT64_MAX;
		for (int i = 0; i < n; i++) {
			if (of[i][k] < best[k]) best[k] = of[i][k];
			if (kept[i] && of[i][k] < own[k]) own[k] = of[i][k];
		}
	}
	for (int i = 0; i < n; i++) {
		int64_t all = 0;
		for (int k = 0; k < COST_PLAN_CALLS; k++) {
			int64_t time = of[i][k] < own[k] ? of[i][k] : own[k];
			all += best[k] > 0 ? (time - best[k]) * 1000 / best[k] : 0;
		}
		if (all < least) found = i, least = all;
	}
	return found;
}

typedef struct Candidates {
	int n, kept;            /* the first ones are kept anyway */
	PipePlan plan[PLANS];
	const Sym *time[PLANS];
} Candidates;

/* Those that together lose least: one after the other, each better with it than without; then each is exchanged for a
 * better one beside the others. */
static int choose(const Fn *fn, const Candidates *c, int most, PipeChoice *to)
{
	int64_t (*of)[COST_PLAN_CALLS] = (void *)NEW_ARRAY(A_TMP, int64_t, PLANS * COST_PLAN_CALLS);
	bool kept[PLANS] = { false };
	int n = 0, chosen[PIPE_PLANS];
	for (int i = 0; i < c->kept; i++) kept[i] = true;
	time_calls(fn, c->n, c->time, of);
	while (n < most && c->n) {
		int i = best_beside(c->n, of, kept);
		if (kept[i]) break;
		kept[i] = true;
		chosen[n++] = i;
	}
	for (int k = 0; k < n; k++) {
		kept[chosen[k]] = false;
		int i = best_beside(c->n, of, kept);
		if (!kept[i]) chosen[k] = i;
		kept[chosen[k]] = true;
		to[k] = (PipeChoice){ c->plan[chosen[k]], c->time[chosen[k]] };
	}
	return n;
}

static void add_plans(Candidates *c, const Shape *s, const Sym *(*time_by)(const Shape *s, const PipePlan *p))
{
	PipePlan all[PLANS];
	int n = all_plans(s, all);
	for (int i = 0; i < n && c->n < PLANS; i++) {
		c->plan[c->n] = all[i];
		c->time[c->n++] = time_by(s, &all[i]);
	}
}

typedef const Sym *TimeBy(const Shape *s, const PipePlan *p);

/* Plans of the transposed kernel, too, unless tiles are accessed around its loop by threads: theirs would not be
 * neighbours in memory. */
static bool add_all(Candidates *c, Pipe *p, const LowerCx *cx, TimeBy *time_by)
{
	Shape s;
	Pipe turned;
	if (!look_at(&s, p, cx, &by_engine)) return false;
	add_plans(c, &s, time_by);
	if (!pipe_stores_by_engine(p)) return true;
	Fn *fn = copy_kernel(p->fn);
	if (!pipe_transpose(fn) || !pipe_find(&turned, fn) || !look_at(&s, &turned, cx, &by_engine)) return true;
	s.transposed = true;
	add_plans(c, &s, time_by);
	return true;
}

int pipe_plans(Pipe *p, const LowerCx *cx, PipeChoice to[PIPE_PLANS])
{
	Candidates *c = NEW(A_TMP, Candidates);
	return add_all(c, p, cx, time_of) ? choose(p->fn, c, PIPE_PLANS, to) : 0;
}

int pipe_stream_k_plans(Pipe *p, const LowerCx *cx, PipeChoice to[PIPE_PLANS])
{
	Candidates *c = NEW(A_TMP, Candidates);
	PipeChoice whole[PIPE_PLANS];
	c->n = c->kept = pipe_plans(p, cx, whole);
	for (int i = 0; i < c->n; i++) c->plan[i] = whole[i].plan, c->time[i] = whole[i].time;
	return add_all(c, p, cx, stream_k_time) ? choose(p->fn, c, COST_STREAM_K_PLANS, to) : 0;
}

/* ---- several stages ---- */
/* A tile, and how many thread blocks with one a multiprocessor runs at once. */
typedef struct StagePlan { PipePlan plan; int blocks; } StagePlan;

static const StagePlan stage_plans[] = {
#define COST(name, value, reason)
#define STAGE_PLAN(row, col, row_warps, col_warps, blocks) \
	{ { .rows = row, .cols = col, .warps = { row_warps, col_warps } }, blocks },
#include "base/cost.def"
#undef COST
};

enum { STAGE_LEAST = 16 };      /* rows and columns of a warp: of one ldmatrix */

/* Thread blocks that a multiprocessor runs at once take turns at its tensor cores and its lines. */
static const Sym *stage_time(const Shape *s, const StagePlan *q)
{
	int64_t sums = (int64_t)q->plan.rows * q->plan.cols * s->products;
	const Sym *tiles = sym_mul(tiles_along(s, 0, q->plan.rows), tiles_along(s, 1, q->plan.cols));
	const Sym *lines = sym_add(sym_mul(s->line[0], sym_const(q->plan.rows)),
		sym_mul(s->line[1], sym_const(q->plan.cols)));
	const Sym *busy = sym_min(sym_cdiv(tiles, sym_const(s->sms)), sym_const(q->blocks));
	const Sym *each = sym_add(sym_mul(s->iterations, sym_max(sym_const(sums), lines)), sym_const(sums));
	const Sym *waves = sym_cdiv(tiles, sym_const((int64_t)s->sms * q->blocks));
	each = sym_add(sym_mul(each, busy), sym_const(COST_STAGES_TILE));
	return sym_add(sym_mul(waves, each), sym_const(COST_STAGES_START));
}

static PipePlan in_stages(PipePlan p)
{
	p.groups = p.cluster = 1;
	p.depth = COST_STAGES_DEPTH;
	return p;
}

/* The plan for tiles of the author's size: warps divide the longer side until each has few accumulators, or the most
 * warps are reached. */
PipePlan pipe_own_stages(const Pipe *p)
{
	const Type *t = p->product[0].op->out[0]->type;
	PipePlan q = in_stages((PipePlan){ .rows = (int)type_extent(t, 0), .cols = (int)type_extent(t, 1) });
	for (;;) {
		int rows = q.rows >> q.warps[0], cols = q.cols >> q.warps[1], n = q.warps[0] + q.warps[1];
		bool many = rows * cols * p->products > COST_STAGES_SUMS / 2 * LANES;
		if (n == COST_STAGES_WARPS || (!many && n >= 2) || (rows <= STAGE_LEAST && cols <= STAGE_LEAST)) return q;
		q.warps[cols > rows]++;
	}
}

int pipe_stage_plans(Pipe *p, const LowerCx *cx, PipeChoice to[PIPE_PLANS])
{
	Candidates c = { .kept = 0 };
	Shape s;
	if (!look_at(&s, p, cx, &by_threads)) return 0;
	for (size_t i = 0; i < sizeof stage_plans / sizeof *stage_plans; i++) {
		const PipePlan *q = &stage_plans[i].plan;
		if (q->rows * q->cols * s.products > COST_STAGES_SUMS * LANES << (q->warps[0] + q->warps[1])) continue;
		c.plan[c.n] = in_stages(*q);
		c.time[c.n++] = stage_time(&s, &stage_plans[i]);
	}
	return choose(p->fn, &c, PIPE_STAGE_PLANS, to);
}
