/* Roles, barriers, rings and mbarriers: who runs what, and how groups of threads wait for each other.
 *
 * A cursor is a number: buffer n % count in phase n / count. A buffer is three registers: the byte at which the whole
 * buffer begins, and the row and column at which a part of it does. */
#include <string.h>

#include "base/diag.h"
#include "sim/group.h"

enum { GROUP, ROLE, BLOCK };            /* words of {among} */
enum { BY_GROUP, BY_WARP, BY_THREAD };  /* of {by} */
enum { WORD_LOG2 = 2 };                 /* what one Byte of shared memory stands for at first */
enum { ACQUIRE_RELEASE = 3, STARTED_MOST = 3, NAMED_BARRIERS = 16 /* PTX: bar.sync; 0 is that of the thread block */ };

/* ---- the kernel ---- */
static void look_at(void *ctx, Op *op)
{
	Run *r = ctx;
	r->roles |= op->code == OP_ROLE;
	if (op->code == OP_GRID_BARRIER || op->code == OP_GRID_AWAIT) r->nunit = 0;
}

void group_prepare(Run *r)
{
	r->grain = WORD_LOG2;
	ir_walk(r->fn->body, look_at, r);
	if (r->fn->persistent && r->started > STARTED_MOST) r->started = STARTED_MOST;
	if (!r->nunit) r->nunit = (int)r->started;      /* they meet each other */
}

/* A phase that began must end; what a warp started in the background must be over. */
void group_end(Unit *u)
{
	for (int i = 0; i < u->nwarp && !sim_failed(u->r); i++) {
		Warp *w = &u->warp[i];
		if (w->storing) sim_fault(w, "ends with copies out of shared memory that belong to no group");
		else if (w->clock[actor_of_stores(w)] < (uint32_t)w->stores)
			sim_fault(w, "ends while copies out of shared memory still run");
		else if (w->clock[actor_of_copies(w)] < (uint32_t)w->copies || w->copying)
			sim_fault(w, "ends while copies still run");
	}
	for (int rank = 0; rank < u->nrank; rank++)
		for (int i = 0; i < u->r->nmbar && !sim_failed(u->r); i++) {
			const Mbar *b = &u->shared[rank].mbar[i];
			if (!b->ready || (b->pending == b->count && !b->bytes)) continue;
			Warp *w = &u->warp[rank * (u->nwarp / u->nrank)];
			sim_fault(w, "ends while mbarrier %d still waits for %d of %d arrivals and %lld bytes", i, b->pending,
				b->count, (long long)b->bytes);
		}
}

/* ---- roles ---- */
static int role_warps(const Op *role) { return (int)(ir_int(role, AT_WARPS, 4) * ir_int(role, AT_GROUPS, 1)); }

/* The first named barrier of a role: one for each group, then one for all of them. */
static int barrier_of(const Op *role)
{
	int n = 1;
	for (const Op *op = role->prev; op; op = op->prev)
		if (op->code == OP_ROLE) n += (int)ir_int(op, AT_GROUPS, 1) + 1;
	return n;
}

Go run_role(Warp *w, const Step *s)
{
	int warp = w->index % (w->u->nwarp / w->u->nrank), first = 0, warps = (int)ir_int(s->op, AT_WARPS, 4);
	for (const Op *op = s->op->prev; op; op = op->prev)
		if (op->code == OP_ROLE) first += role_warps(op);
	if (barrier_of(s->op) + (int)ir_int(s->op, AT_GROUPS, 1) >= NAMED_BARRIERS) {
		sim_fault(w, "a thread block has %d named barriers: the roles have more groups", NAMED_BARRIERS);
		return GO_NEXT;
	}
	if (warp < first || warp >= first + role_warps(s->op)) return GO_NEXT;
	Go go = sim_enter(w, s, 0, (Frame){ 0 });
	w->group = (Group){ first, warps, (int)ir_int(s->op, AT_GROUPS, 1), (warp - first) / warps, s->op };
	w->num = (warp - first) % warps;
	Cell *number = sim_def(w, s->op->region[0]->args.p[0], 1);
	for (int l = 0; l < LANES; l++) number[l].i = w->group.number;
	return go;
}

Go run_one_warp(Warp *w, const Step *s)
{
	if (w->num) return GO_NEXT;
	Go go = sim_enter(w, s, 0, (Frame){ 0 });
	w->group.warps = w->group.groups = 1;
	w->group.role = NULL;
	return go;
}

Go run_elect(Warp *w, const Step *s)
{
	if (w->num) return GO_NEXT;
	Go go = sim_enter(w, s, 0, (Frame){ 0 });
	w->active = 1;
	return go;
}

/* ---- barriers ---- */
static bool warp_sync(Warp *w)
{
	w->clock[w->index]++;
	return true;
}

static bool group_sync(Warp *w, int64_t among)
{
	const Group *g = &w->group;
	bool in_role = g->role != NULL, alone = g->warps == 1;
	if (alone && !in_role) return warp_sync(w);     /* one_warp */
	if (among == BLOCK || !in_role) return sim_sync(w);
	if (alone && (among == GROUP || g->groups == 1)) return warp_sync(w);
	int first = barrier_of(g->role);
	if (among == ROLE) return sim_meet(w, first + g->groups, g->groups * g->warps, true);
	return sim_meet(w, first + g->number, g->warps, true);
}

Go run_group_barrier(Warp *w, const Step *s) { return group_sync(w, ir_int(s->op, AT_AMONG, 0)) ? GO_NEXT : GO_WAIT; }

Go run_cluster_barrier(Warp *w, const Step *s)
{
	return sim_meet_all(w, ir_int(s->op, AT_ORDER, 0) == ACQUIRE_RELEASE) ? GO_NEXT : GO_WAIT;
}

/* ---- numbers ---- */
static void set_all(Warp *w, const Val *v, int64_t n)
{
	Cell *c = sim_def(w, v, 1);
	for (int l = 0; l < LANES; l++) c[l].i = n;
}

int64_t sim_scalar(Warp *w, const Val *v) { return sim_val(w, v)->p[0].i; }

Go run_number(Warp *w, const Step *s)
{
	set_all(w, s->op->out[0], s->op->code == OP_CLUSTER_RANK ? w->rank : w->u->r->started);
	return GO_NEXT;
}

Go run_tile_order(Warp *w, const Step *s)
{
	int64_t n = sim_scalar(w, ir_in(s->op, 0)), rows = sim_scalar(w, ir_in(s->op, 1)),
		cols = sim_scalar(w, ir_in(s->op, 2));
	int64_t group = ir_int(s->op, AT_GROUPS, 1);
	if (cols < 1 || group < 1) {
		sim_fault(w, "walks over %lld columns", (long long)cols);
		return GO_NEXT;
	}
	int64_t first = n / (group * cols) * group, high = rows - first < group ? rows - first : group,
		in = n - first * cols;
	if (high < 1) high = 1;         /* a tile beyond the last: nobody uses it */
	set_all(w, s->op->out[0], (int32_t)(first + in % high));
	set_all(w, s->op->out[1], (int32_t)(in / high));
	return GO_NEXT;
}

Go run_ragged_order(Warp *w, const Step *s)
{
	int64_t in[5];
	for (int i = 0; i < 5; i++) in[i] = sim_scalar(w, ir_in(s->op, i));
	int64_t n = in[0], rows = in[1], cols = in[2], near = in[3], started = in[4];
	if (rows < 1 || near < 1 || started < 1) {
		sim_fault(w, "walks over %lld rows, %lld columns at a time", (long long)rows, (long long)near);
		return GO_NEXT;
	}
	int64_t first = n / (near * rows) * near, width = cols - first < near ? cols - first : near, at = n - first * rows;
	if (width < 1) width = 1;       /* a tile beyond the last: nobody uses it */
	int64_t begin = at / started * started, left = width * rows - begin, many = left < started ? left : started;
	int64_t spot = begin + (at / started % 2 ? many - 1 - (at - begin) : at - begin);
	set_all(w, s->op->out[0], (int32_t)(rows - 1 - spot / width));
	set_all(w, s->op->out[1], (int32_t)(first + spot % width));
	return GO_NEXT;
}

Go run_stream_k(Warp *w, const Step *s)
{
	int64_t in[6];
	for (int i = 0; i < 6; i++) in[i] = sim_scalar(w, ir_in(s->op, i));
	int64_t share = in[0], item = in[1], each = in[2], iterations = in[3], rest = in[4];
	int64_t count = ir_int(s->op, AT_GROUPS, 1);
	if (each < 1 || iterations < 1) {
		sim_fault(w, "deals out %lld of %lld rounds", (long long)each, (long long)iterations);
		return GO_NEXT;
	}
	int64_t begin = share * each, end = begin + each < rest ? begin + each : rest, last = (end - 1) / iterations;
	int64_t parts = last + 1 - begin / iterations, from = (last - item) * iterations;
	bool dealt = item < parts;
	if (parts < 0) parts = 0;
	set_all(w, s->op->out[0], parts);
	set_all(w, s->op->out[1], dealt ? in[5] + last - item : share + (item - parts) * count);
	set_all(w, s->op->out[2], dealt && begin > from ? begin - from : 0);
	set_all(w, s->op->out[3], dealt && end - from < iterations ? end - from : iterations);
	set_all(w, s->op->out[4], dealt ? from / each : share);
	return GO_NEXT;
}

/* ---- what thread blocks of one grid share ---- */
Go run_draw(Warp *w, const Step *s)
{
	int32_t *counter = (int32_t *)(uintptr_t)sim_scalar(w, ir_in(s->op, 0)), n = *counter;
	*counter = n == sim_scalar(w, ir_in(s->op, 1)) + w->u->r->started - 1 ? 0 : n + 1;
	set_all(w, s->op->out[0], n);
	return GO_NEXT;
}

/* All warps of the role in {count} thread blocks; `seen` is of shared memory, so nothing of it
 * goes from one to the other. */
typedef struct GridBarrier { int64_t at; int came, iterations; } GridBarrier;

static GridBarrier *meet_of(Run *r, int64_t at)
{
	for (int i = 0; i < r->grid_barriers.n; i++)
		if (r->grid_barriers.p[i]->at == at) return r->grid_barriers.p[i];
	GridBarrier *m = NEW(r->mem, GridBarrier);
	m->at = at;
	vec_push(r->mem, &r->grid_barriers, m);
	return m;
}

static void wake_all(Run *r)
{
	for (int i = 0; i < r->nunit; i++)
		if (r->unit[i].warp) sim_wake(&r->unit[i]);
}

Go run_grid_barrier(Warp *w, const Step *s)
{
	Run *r = w->u->r;
	GridBarrier *m = meet_of(r, sim_scalar(w, ir_in(s->op, 0)));
	int warps = w->group.role ? w->group.warps * w->group.groups : w->u->nwarp / w->u->nrank;
	if (!w->phase) {
		w->phase = 1 + m->iterations;
		if (++m->came < warps * (int)ir_int(s->op, AT_NUMBER, 0)) return GO_WAIT;
		m->came = 0;
		m->iterations++;
		wake_all(r);
	}
	return m->iterations >= w->phase ? GO_NEXT : GO_WAIT;
}

Go run_grid_signal(Warp *w, const Step *s)
{
	if (!group_sync(w, GROUP)) return GO_WAIT;
	*(int32_t *)(uintptr_t)sim_scalar(w, ir_in(s->op, 0)) = 1;
	wake_all(w->u->r);
	return GO_NEXT;
}

Go run_grid_await(Warp *w, const Step *s)
{
	return *(const int32_t *)(uintptr_t)sim_scalar(w, ir_in(s->op, 0)) ? GO_NEXT : GO_WAIT;
}

/* ---- rings ---- */
static Smem sim_smem(const Val *buf)
{
	while (buf->def && (buf->def->code == OP_PART || buf->def->code == OP_SLOT)) buf = ir_in(buf->def, 0);
	const Type *t = buf->type;
	Smem s = { .elem_log2 = (uint8_t)elem_log2(t->elem), .fast = 1, .span = (uint8_t)ir_int(buf->def, AT_SWIZZLE, 0) };
	s.extent[1] = (int)type_extent(t, t->rank - 1);
	s.extent[0] = (int)(type_size(t) / s.extent[1]);
	return s;
}

Buf sim_buf(Warp *w, const Val *v)
{
	const SimVal *x = sim_val(w, v);
	return (Buf){ sim_smem(v), sim_at(x, BUF_AT, 0).i, sim_at(x, BUF_ROW, 0).i, sim_at(x, BUF_COL, 0).i };
}

int64_t buf_at(const Buf *b, int64_t row, int64_t col)
{
	return b->at + smem_at(b->whole, (int)(b->row + row), (int)(b->col + col));
}

static void set_buf(Warp *w, const Val *v, int64_t at, int64_t row, int64_t col)
{
	Cell *c = sim_def(w, v, BUF_REGS);
	for (int l = 0; l < LANES; l++)
		c[BUF_AT * LANES + l].i = at, c[BUF_ROW * LANES + l].i = row, c[BUF_COL * LANES + l].i = col;
}

Go run_alloc_ring(Warp *w, const Step *s)
{
	set_all(w, s->op->out[0], ir_int(s->op, AT_SLOT, 0));
	return GO_NEXT;
}

static int64_t place_of(Warp *w, const Val *v)  /* which buffer */
{
	int64_t n = sim_scalar(w, v);
	return v->type->kind == TY_CURSOR ? n % v->type->count : n;
}

Go run_slot(Warp *w, const Step *s)
{
	const Val *ring = ir_in(s->op, 0);
	int64_t n = place_of(w, ir_in(s->op, 1));
	if (n < 0 || n >= ring->type->count)
		sim_fault(w, "a ring of %d buffers has no number %lld", ring->type->count, (long long)n);
	set_buf(w, s->op->out[0], sim_scalar(w, ring) + n * type_bytes(ring->type), 0, 0);
	return GO_NEXT;
}

Go run_part(Warp *w, const Step *s)
{
	const Val *buf = ir_in(s->op, 0);
	const IrAttr *steps = ir_attr(s->op, AT_STEPS), *offsets = ir_attr(s->op, AT_OFFSETS);
	Buf b = sim_buf(w, buf);
	int last = buf->type->rank - 1;
	for (int a = 0; a <= last; a++) {
		int64_t from = sim_scalar(w, ir_in(s->op, 1 + a)) * steps->u.ints.p[a] + (offsets ? offsets->u.ints.p[a] : 0);
		if (from < 0 || from + type_extent(s->op->out[0]->type, a) > type_extent(buf->type, a))
			sim_fault(w, "elements from %lld on along axis %d are no part of %lld", (long long)from, a,
				(long long)type_extent(buf->type, a));
		for (int k = a + 1; k < last; k++) from *= type_extent(buf->type, k);
		if (a == last) b.col += from;
		else b.row += from;
	}
	set_buf(w, s->op->out[0], b.at, b.row, b.col);
	return GO_NEXT;
}

Go run_cursor(Warp *w, const Step *s)
{
	set_all(w, s->op->out[0], s->op->code == OP_CURSOR ? 0 : sim_scalar(w, ir_in(s->op, 0)) + 1);
	return GO_NEXT;
}

/* ---- mbarriers ---- */
void *plan_alloc_mbar(Run *r, const Op *op)
{
	int *first = NEW(r->mem, int);
	*first = r->nmbar;
	r->nmbar += op->out[0]->type->count;
	return first;
}

Go run_alloc_mbar(Warp *w, const Step *s)
{
	set_all(w, s->op->out[0], *(const int *)s->plan);
	return GO_NEXT;
}

static void init_bars(Warp *w, const Val *bars)
{
	Unit *u = w->u;
	for (int i = 0; i < bars->type->count; i++) {
		Mbar *b = &u->shared[w->rank].mbar[sim_scalar(w, bars) + i];
		int n = (int)ir_int(bars->def, AT_NUMBER, 0);
		*b = (Mbar){ .ready = true, .count = n, .pending = n, .seen = NEW_ARRAY(u->mem, uint32_t, u->nactor) };
		for (int k = 0; k < 2; k++) b->done[k] = NEW_ARRAY(u->mem, uint32_t, u->nactor);
	}
}

Go run_mbar_init(Warp *w, const Step *s)
{
	if (!w->phase) {
		for (int i = 0; i < s->op->nin && !w->num; i++) init_bars(w, ir_in(s->op, i));
		w->phase = 1;
	}
	return (w->u->nrank > 1 ? sim_meet_all(w, true) : sim_sync(w)) ? GO_NEXT : GO_WAIT;
}

int sim_bar(Warp *w, const Op *op, int i) { return (int)(sim_scalar(w, ir_in(op, i)) + place_of(w, ir_in(op, i + 1))); }

/* NULL: no such mbarrier, which is a fault. */
static Mbar *sim_mbar(Warp *w, int rank, int bar)
{
	Mbar *b = rank >= 0 && rank < w->u->nrank ? &w->u->shared[rank].mbar[bar] : NULL;
	if (b && b->ready) return b;
	sim_fault(w, "mbarrier %d of thread block %d is not ready", bar, rank);
	return NULL;
}

static void end_phase(Warp *w, Mbar *b)
{
	Unit *u = w->u;
	if (b->pending || b->bytes) return;
	memcpy(b->done[b->phase & 1], b->seen, (size_t)u->nactor * sizeof *b->seen);
	memset(b->seen, 0, (size_t)u->nactor * sizeof *b->seen);
	b->phase++;
	b->pending = b->count;
	sim_wake(u);
}

static void arrive(Warp *w, int rank, int bar, int n, int64_t bytes)
{
	Mbar *b = sim_mbar(w, rank, bar);
	if (!b) return;
	if (b->pending < n) {
		sim_fault(w, "mbarrier %d gets more than the %d arrivals of its phase %d", bar, b->count, b->phase);
		return;
	}
	for (int k = 0; k < w->u->nactor; k++)
		if (w->clock[k] > b->seen[k]) b->seen[k] = w->clock[k];
	b->bytes += bytes;
	b->pending -= n;
	end_phase(w, b);
}

uint32_t mbar_clock(Warp *w, int rank, int bar)
{
	const Mbar *b = sim_mbar(w, rank, bar);
	return b ? (uint32_t)b->phase + 1 : 1;
}

void mbar_bytes(Warp *w, int rank, int bar, int64_t bytes)
{
	Mbar *b = sim_mbar(w, rank, bar);
	if (!b) return;
	int actor = actor_of_mbar(w->u, rank, bar);
	uint32_t clock = (uint32_t)b->phase + 1;
	if (b->seen[actor] < clock) b->seen[actor] = clock;
	b->filled = clock;
	b->bytes -= bytes;
	if (b->bytes < 0 && !b->pending)
		sim_fault(w, "more bytes arrive at mbarrier %d than its phase %d expects", bar, b->phase);
	end_phase(w, b);
}

Go run_mbar_expect(Warp *w, const Step *s)
{
	arrive(w, w->rank, sim_bar(w, s->op, 0), 1, ir_int(s->op, AT_BYTES, 0));
	w->clock[w->index]++;
	return GO_NEXT;
}

Go run_mbar_arrive(Warp *w, const Step *s)
{
	int64_t by = ir_int(s->op, AT_BY, 0), mask = s->op->nin > 2 ? sim_scalar(w, ir_in(s->op, 2)) : 0;
	int n = 0, bar = sim_bar(w, s->op, 0);
	for (int l = 0; l < LANES; l++) n += w->active >> l & 1;
	if (by != BY_THREAD) n = 1;
	if (by == BY_GROUP && w->num) return GO_NEXT;
	if (s->op->nin < 3) arrive(w, w->rank, bar, n, 0);
	for (int rank = 0; s->op->nin > 2 && rank < w->u->nrank; rank++)
		if ((mask >> rank & 1) && cluster_reach(w, rank)) arrive(w, rank, bar, n, 0);
	w->clock[w->index]++;
	return GO_NEXT;
}

/* The hardware compares parities, so a phase that is two behind looks like one to come. */
Go run_mbar_wait(Warp *w, const Step *s)
{
	const Val *cursor = ir_in(s->op, 1);
	Mbar *b = sim_mbar(w, w->rank, sim_bar(w, s->op, 0));
	int64_t phase = sim_scalar(w, cursor) / cursor->type->count - ir_int(s->op, AT_PHASE, 0);
	if (!b) return GO_NEXT;
	if (b->phase > phase + 1)
		sim_fault(w, "waits for phase %lld of an mbarrier that is in phase %d: too late to tell", (long long)phase,
			b->phase);
	if (b->phase <= phase) return GO_WAIT;
	if (phase >= 0) sim_learn(w, b->done[phase & 1]);
	return GO_NEXT;
}

/* ---- one number for a group ---- */
Go run_put(Warp *w, const Step *s)
{
	if (w->num) return GO_NEXT;
	Request q = { .lanes = 1, .bytes = 4, .at = { (uint64_t)sim_buf(w, ir_in(s->op, 0)).at } };
	shared_store(w, EL_I32, &q, sim_val(w, ir_in(s->op, 1))->p);
	return GO_NEXT;
}

Go run_get(Warp *w, const Step *s)
{
	Request q = { .lanes = UINT32_MAX, .bytes = 4 };
	for (int l = 0; l < LANES; l++) q.at[l] = (uint64_t)sim_buf(w, ir_in(s->op, 0)).at;
	shared_load(w, EL_I32, &q, sim_def(w, s->op->out[0], 1));
	return GO_NEXT;
}
