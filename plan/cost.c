/* What a plan costs: the time of a call from the skeleton of a kernel.
 *
 * A multiprocessor runs tile blocks side by side; for each of them it has to move bytes, issue instructions and so
 * on (throughput), and each of them lives for a while in which it mostly waits (latency). So a tile block costs a
 * multiprocessor the greatest of its throughput terms and of its life divided by how many live there at once,
 * which is Little's law. To that come the launch and the last wave.
 *
 * Counted in ticks of a sixteenth of a cycle, in integers, so that every machine chooses alike. */
#include "base/arena.h"
#include "base/cost.h"
#include "base/least.h"
#include "ir/stretches.h"
#include "plan/plan.h"

enum {
	TICK = 16, WHOLE = 1000,                /* thousandths */
		SLICE = 4,              /* log2 of the elements of a thread's part of a slice (lower/strip.c) */
	FAR = 1 << 30
};

const char *const term_name[TERM_COUNT] = {
	"memory", "the L2 cache", "instructions", "special functions", "shared memory", "starts", "waits"
};

static int clamp(int v, int least, int most) { return imax(least, imin(v, most)); }
static int log2_up(int v)
{
	int n = 0;
	while (1 << n < v) n++;
	return n;
}

/* A skeleton under a plan. */
typedef struct Shape {
	const Skeleton *k;
	const Plan *p;
	const Machine *m;
	const Call *call;
	int threads;            /* log2, of a tile block: in all thread blocks of a cluster */
	int lanes;              /* log2 of those of a warp that a tile block has */
	bool sliced;
} Shape;

static int grown(const Shape *s, unsigned grid)
{
	int n = 0;
	for (int g = 0; g < s->k->ngrid; g++)
		if (grid >> g & 1) n += s->p->at[PC_GRID0 + g];
	return n;
}

static int size_of(const Shape *s, const Node *n) { return imax(0, n->log2 + grown(s, n->grid)); }
static int result_of(const Shape *s, const Node *n) { return imax(0, n->out + grown(s, n->grid)); }
/* log2 of the elements of a thread */
static int each(const Shape *s, int log2) { return imax(0, log2 - s->threads); }

static int run_of(const Shape *s, const Node *n)
{
	return imax(0, n->run + (n->along < 0 ? 0 : s->p->at[PC_GRID0 + n->along]));
}

static bool is_access(const Node *n) { return n->kind == NODE_LOAD || n->kind == NODE_STORE || n->kind == NODE_GATHER; }

static int vector_of(const Shape *s, const Node *n)
{
	if (!s->call->aligned || n->kind == NODE_GATHER) return 0;
	return imin(imin(each(s, size_of(s, n)), run_of(s, n)), imax(0, VECTOR_LOG2 - log2_up(n->bytes)));
}

/* Lanes that a tile block of one warp makes use of (lower/pack.c). */
static int lanes_of(const Shape *s)
{
	int lanes = 0;
	if (s->p->at[PC_WARPS] || s->p->at[PC_CLUSTER] || !s->k->packs) return LANES_LOG2;
	for (int i = 0; i < s->k->n; i++) {
		const Node *n = &s->k->node[i];
		int piece = n->kind == NODE_GATHER ? 0 : imin(run_of(s, n), imin(3, 5 - log2_up(n->bytes)));
		lanes = imax(lanes, size_of(s, n) - (is_access(n) ? piece : 3));
	}
	return imin(lanes, LANES_LOG2);
}

int plan_lanes(const Skeleton *k, const Plan *p)
{
	Shape s = { k, p, NULL, NULL, 0, LANES_LOG2, false };
	return lanes_of(&s);
}

static bool is_sliced(const Shape *s)
{
	int64_t bytes = 0;
	int most = 0;
	for (int i = 0; i < s->k->n; i++) {
		const Node *n = &s->k->node[i];
		if (!is_access(n)) continue;
		most = imax(most, each(s, size_of(s, n)));
		bytes += n->kind == NODE_LOAD ? (int64_t)n->bytes << each(s, size_of(s, n)) : 0;
	}
	return most > COST_HELD_EACH || bytes > COST_HELD_BYTES;
}

static int64_t iterations_of(const Shape *s, const Node *n)
{
	int64_t r = 1;
	for (int d = 0; d < n->depth && r < FAR; d++) r *= s->call->iterations;
	return r;
}

/* ---- registers ---- */
static int words(const Shape *s, const Node *n)
{
	int e = each(s, is_access(n) || n->kind == NODE_VECTOR ? size_of(s, n) : result_of(s, n));
	if (s->sliced && e > SLICE) e = SLICE;
	return (int)((((int64_t)n->bytes << imin(e, 12)) + 3) / 4);
}

/* As of a placed version (placed/pressure.c), by what the skeleton knows of it. */
static int most_words(const Shape *s)
{
	ArenaMark mark = arena_mark(A_TMP);
	Life *lives = NEW_ARRAY(A_TMP, Life, s->k->n);
	int n = 0, where;
	for (int i = 0; i < s->k->n; i++) {
		const Node *v = &s->k->node[i];
		bool early = v->kind == NODE_LOAD || v->kind == NODE_PRODUCT, at_once = v->begin == v->end;
		if (!v->value) continue;
		/* the first stretch has number 1 */
		lives[n++] = (Life){ 2 * v->begin + 2 - early, 2 * v->end + 2, words(s, v), v->kind == NODE_LOAD && at_once };
	}
	int most = stretches_most(lives, n, s->k->stretches, &where);
	arena_release(A_TMP, mark);
	return most;
}

static int registers_of(const Shape *s)
{
	int regs = most_words(s) + COST_AROUND + (s->k->math ? COST_FOR_MATH : 0) + COST_ANY_ARCH;
	return imax(COST_REGS_LEAST, (regs + REGS_UNIT - 1) / REGS_UNIT * REGS_UNIT);
}

/* ---- throughput ---- */
typedef struct Sums { int64_t dram, l2, issue, mufu, shared; int64_t loads, kept; } Sums;

static void add_access(const Shape *s, const Node *n, Sums *t)
{
	int log2 = size_of(s, n), run = run_of(s, n) + log2_up(n->bytes);
	int64_t bytes = (int64_t)n->bytes << log2, moved = bytes * s->call->used / WHOLE;
	/* a run of less than a line shares its sectors with its neighbours */
	if (n->kind == NODE_GATHER) moved = (int64_t)SECTOR << log2;
	else if (1 << imin(run, 20) < LINE && log2 > run_of(s, n)) moved += moved * COST_RUN_BYTES >> run;
	int64_t r = iterations_of(s, n);
	bool own = n->grid + 1u >= 1u << s->k->ngrid || n->depth > 0;  /* other tile blocks do not access it as well */
	if (own) t->dram += moved * r;
	/* what all tile blocks load is mostly in the L1 cache, where the shared memory is */
	bool common = n->kind == NODE_LOAD && !n->grid && !n->depth;
	t->l2 += common ? moved * COST_COMMON_PERCENT / 100 : moved * r;
	if (common) t->shared += moved;
	if (n->kind != NODE_STORE) t->loads += bytes * s->call->used / WHOLE;
	if (n->kind == NODE_LOAD && n->begin != n->end) t->kept += bytes;
}

static int64_t slots_of(const Shape *s, const Node *n)
{
	int e = each(s, size_of(s, n));
	if (is_access(n)) return ((int64_t)COST_ACCESS_SLOTS << e >> vector_of(s, n)) + COST_TENSOR_SLOTS;
	int64_t slots = (int64_t)n->issue << e;
	if (n->kind == NODE_REDUCE || n->kind == NODE_SCAN) {
		int axis = imax(0, n->log2 - n->out), own = imin(axis, e), levels = clamp(axis - own, 0, s->lanes);
		slots += (int64_t)(levels * COST_SHUFFLE) << (e - own);
	}
	return slots;
}

static Sums sums_of(const Shape *s)
{
	Sums t = { 0 };
	int64_t slots = COST_WARP_SLOTS;
	for (int i = 0; i < s->k->n; i++) {
		const Node *n = &s->k->node[i];
		int64_t r = iterations_of(s, n), all = (int64_t)1 << size_of(s, n);
		if (is_access(n)) add_access(s, n, &t);
		slots += slots_of(s, n) * r;
		t.mufu += all * n->mufu * r;
		if (n->kind == NODE_MOVE || n->kind == NODE_PRODUCT) t.shared += 2 * all * n->bytes * r;
	}
	int warps = s->threads - LANES_LOG2;         /* below 0: tile blocks share a warp */
	t.issue = warps >= 0 ? slots << warps : slots >> -warps;
	return t;
}

/* ---- latency ---- */
static int64_t wait_of(const Shape *s, const Node *n)
{
	int e = each(s, size_of(s, n)), axis = imax(0, n->log2 - n->out), warps = s->threads - LANES_LOG2;
	if (n->kind == NODE_MOVE || n->kind == NODE_SCAN) axis = n->log2;
	int lanes = clamp(axis - e, 0, s->lanes);
	int64_t wait = (int64_t)lanes * COST_SHUFFLE_CYCLES;
	if (axis <= e + lanes || warps <= 0) return wait;
	wait += COST_BARRIER_CYCLES + ((int64_t)COST_BARRIER_WARP_CYCLES << s->p->at[PC_WARPS]);
	return s->p->at[PC_CLUSTER] ? wait + COST_EXCHANGE_CYCLES : wait;
}

/* Cycles of a tile block from its start to its end, where nothing is in short supply. */
static int64_t life_of(const Shape *s, const Sums *t)
{
	int64_t life = COST_START_CYCLES + s->m->latency, deep = 0;
	bool seeks = false;
	for (int i = 0; i < s->k->n; i++) {
		const Node *n = &s->k->node[i];
		int64_t r = iterations_of(s, n);
		if (n->kind != NODE_STORE) seeks |= n->seeks;
		if (n->depth && n->kind == NODE_LOAD && r > deep) deep = r;
		if (n->kind == NODE_REDUCE || n->kind == NODE_SCAN || n->kind == NODE_MOVE) life += wait_of(s, n) * r;
	}
	if (seeks) life += s->m->latency;
	if (s->sliced) {
		int most = 0;
		for (int i = 0; i < s->k->n; i++)
			if (is_access(&s->k->node[i])) most = imax(most, each(s, size_of(s, &s->k->node[i])));
		deep = imax((int)deep, 1 << imin(imax(0, most - SLICE), 20));
	}
	life += deep * s->m->latency / 2;       /* the next iteration's loads are under way */
	return life + (t->issue >> imax(0, s->threads - LANES_LOG2)) * COST_STREAM_TICKS / TICK;
}

/* ---- how many at once ---- */
static int blocks_of(const Shape *s, const Sums *t, int regs, int64_t *shared)
{
	int threads = imax(32, 1 << (s->threads - s->p->at[PC_CLUSTER] + s->p->at[PC_PACK]));
	int64_t room = (int64_t)s->m->shared << 10, kept = s->sliced ? t->kept >> s->p->at[PC_CLUSTER] : 0;
	*shared = kept <= (int64_t)s->m->shared_block << 10 ? kept : 0;
	int n = imin(s->m->blocks, s->m->threads / threads);
	n = imin(n, s->m->registers / (regs * threads));
	if (*shared) n = imin(n, (int)(room / *shared));
	return s->p->at[PC_BLOCKS] ? imin(n, s->p->at[PC_BLOCKS]) : n;
}

/* Bytes of a cycle of one multiprocessor, times TICK, of memory. */
static int64_t rate(const Machine *m) { return (int64_t)m->dram * WHOLE * TICK / ((int64_t)m->sms * m->mhz); }

static int64_t least_of(const Shape *s, const Sums *t, int64_t blocks)
{
	return t->dram * blocks * WHOLE / s->m->dram;
}

Cost cost_at(const Skeleton *k, const Plan *p, const Machine *m, const Call *call)
{
	Shape s = { k, p, m, call, 0, LANES_LOG2, false };
	Cost c = { 0 };
	s.lanes = lanes_of(&s);
	s.threads = s.lanes + p->at[PC_WARPS] + p->at[PC_CLUSTER];
	s.sliced = c.sliced = is_sliced(&s);
	Sums t = sums_of(&s);
	int64_t life = life_of(&s, &t), shared;
	c.regs = registers_of(&s);
	c.blocks = blocks_of(&s, &t, imin(c.regs, REGS_MOST), &shared);
	if (c.regs > REGS_MOST) life += (int64_t)(c.regs - REGS_MOST) * COST_SPILL_CYCLES;
	if (c.blocks < 1) c.blocks = 1, life *= 2;      /* registers are spilled */
	if (s.sliced && !shared && t.kept) t.dram += t.kept, t.l2 += t.kept;    /* loaded once more */
	/* tile blocks of a multiprocessor, in ticks */
	int64_t here = ((int64_t)c.blocks << p->at[PC_PACK]) * TICK >> p->at[PC_CLUSTER];
	c.term[TERM_DRAM] = t.dram * TICK * TICK / rate(m);
	c.term[TERM_L2] = t.l2 * TICK * TICK * 100 / m->l2_percent / rate(m);
	c.term[TERM_ISSUE] = t.issue * TICK / COST_ISSUED;
	c.term[TERM_MUFU] = t.mufu * TICK / COST_MUFU_LANES;
	c.term[TERM_SHARED] = (t.shared + (shared ? 2 * t.kept : 0)) * TICK / COST_SHARED_BYTES;
	c.term[TERM_STARTS] = ((int64_t)COST_START_BLOCK_CYCLES * TICK << p->at[PC_CLUSTER]) >> p->at[PC_PACK];
	int64_t through = 0;            /* the greatest of those that are no latency */
	for (int i = 0; i < TERM_WAITS; i++)
		if (c.term[i] > through) through = c.term[i];
	c.term[TERM_WAITS] = (life * TICK + (through >> p->at[PC_CLUSTER])) * TICK / here;  /* it waits, and it is served */
	for (int i = 0; i < TERM_COUNT; i++)
		if (c.term[i] > c.term[c.bound]) c.bound = (Term)i;
	c.in_flight = t.loads * here / TICK / (s.sliced ? COST_SLICED_AHEAD : 1);
	int all = 0;
	for (int g = 0; g < k->ngrid; g++) all += p->at[PC_GRID0 + g];
	int64_t blocks = all > 0 ? (call->blocks + (1 << all) - 1) >> all : call->blocks << -all;
	int64_t per = c.term[c.bound], wave = here * m->sms / TICK;
	int64_t waves = blocks > wave ? blocks * per / m->sms + life * TICK / 2 : life * TICK + blocks * through / m->sms;
	c.least = least_of(&s, &t, blocks);
	c.ps = (int64_t)m->launch * 1000 + waves * (1000000 / TICK) / m->mhz;
	return c;
}

int64_t cost_of_calls(const Skeleton *k, const Plan *p, const Machine *m, const Calls *c)
{
	int64_t all = 0;
	for (int i = 0; i < c->n; i++) {
		Cost at = cost_at(k, p, m, &c->at[i]);
		all += at.ps * WHOLE / (at.least / WHOLE + m->launch);  /* each call counts alike, however long it takes */
	}
	return all;
}
