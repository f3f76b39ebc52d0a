/* Which versions of a kernel earn their text.
 *
 * A version is text that somebody reads and nvcc compiles, so a kernel has a few of them for an architecture: the one that
 * serves all calls, and greedily whichever saves most time over the calls that users may make. Those are rows of any length,
 * log-uniform in what the kernel's where clauses leave, and as often of odd length as a multiple of 2, 8 or 64; tensors begin
 * where an allocator puts them. A variant of a family serves no call of less than a quarter of its longest row: a smaller
 * one does. */
#include "base/cost.h"
#include "lower/placed.h"

enum { CALLS = 128, VERSIONS = 32 };
static const int64_t classes[] = { 1, 2, 8, 64 };

/* A call: all dimensions have one length. */
typedef struct Calls { int64_t length[CALLS]; int n; } Calls;

static bool atom_of_call(void *ctx, const Sym *a, int64_t *v)
{
	*v = a->kind == SYM_ALIGNED ? 1 : a->atom == ATOM_PHASE ? 0 : a->atom == ATOM_BLOCKS ? COST_BLOCKS_OF_CALL : *(const int64_t *)ctx;
	return true;
}

static bool holds(const Sym *s, int64_t length)
{
	int64_t v;
	return sym_eval(s, atom_of_call, &length, &v) && v;
}

static bool is_call(const Fn *of, int64_t length)
{
	for (int i = 0; i < of->where.n; i++)
		if (!holds(of->where.p[i].cond, length)) return false;
	return true;
}

/* The length near n that is a multiple of its class, and of no other. */
static int64_t of_class(int64_t n, int64_t class)
{
	n = (n + class - 1) / class * class;
	return class < 64 && n / class % 2 == 0 ? n + class : n;
}

static void find_calls(Calls *c, const Fn *of)
{
	int64_t longest = 0;
	int n = 0;
	for (int64_t l = COST_SHORTEST_ROW; l < COST_LONGEST_ROW; l += l * 2 / 5)
		for (int k = 0; k < 4 && c->n < CALLS; k++)
			if (is_call(of, of_class(l, classes[k]))) c->length[c->n++] = of_class(l, classes[k]);
	for (int i = 0; i < c->n; i++)
		if (c->length[i] > longest) longest = c->length[i];
	for (int i = 0; i < c->n; i++)
		if (longest > COST_LONGEST_ROW / 2 || c->length[i] > longest / 4) c->length[n++] = c->length[i];
	c->n = n;
}

static int64_t kept_of(const Fn *fn)
{
	return !fn->row_log2 ? 0 : fn->row_regs ? (int64_t)fn->row_regs << (fn->row_log2 - fn->row_regs_log2) : (int64_t)1 << fn->row_log2;
}

static bool is_small(const Fn *fn)
{
	for (int i = 0; i < fn->params.n; i++)
		if (fn->params.p[i].is_tensor && elem_bytes(fn->params.p[i].elem) < 4) return true;
	return false;
}

static int64_t time_of(const Fn *fn, int64_t length, int cluster)
{
	int64_t t = fn->peel_line ? COST_BY_PEELED : fn->aligned ? COST_BY_PIECES : is_small(fn) ? COST_BY_SMALL_ELEMENT : COST_BY_ELEMENT;
	int64_t kept = kept_of(fn);
	if (fn->cluster < cluster) t += COST_SMALL_CLUSTER;
	return kept > length ? t + COST_PADS * (kept - length) / length : t;
}

/* Of all calls, with the versions that are chosen. */
static int64_t time_of_all(const Version *v, int n, uint32_t chosen, const Calls *c, const bool serves[VERSIONS][CALLS], int cluster)
{
	int64_t all = 0;
	for (int k = 0; k < c->n; k++) {
		int i = 0;
		while (i + 1 < n && !(chosen >> i & 1 && serves[i][k])) i++;
		all += time_of(v[i].fn, c->length[k], cluster);
	}
	return all;
}

/* The last version that serves all calls on all devices. */
static int find_last(const Version *v, int n)
{
	for (int i = n - 1; i > 0; i--)
		if (sym_is_const(v[i].guard, NULL) && v[i].fn->cluster <= 1 << CLUSTER_PORTABLE) return i;
	return 0;
}

static uint32_t choose(const Version *v, int n, int most, const Calls *c)
{
	bool (*serves)[CALLS] = (void *)NEW_ARRAY(A_TMP, bool, VERSIONS * CALLS);
	uint32_t chosen = (uint32_t)1 << find_last(v, n);
	int cluster = 0;
	for (int i = 0; i < n; i++) {
		if (v[i].fn->cluster > cluster) cluster = v[i].fn->cluster;
		for (int k = 0; k < c->n; k++) serves[i][k] = holds(v[i].guard, c->length[k]);
	}
	for (int left = most - 1; left > 0; left--) {
		int best = -1;
		int64_t least = INT64_MAX;
		for (int i = 0; i < n; i++) {
			if (chosen >> i & 1) continue;
			int64_t time = time_of_all(v, n, chosen | (uint32_t)1 << i, c, (const bool (*)[CALLS])serves, cluster);
			if (time < least) best = i, least = time;
		}
		chosen |= (uint32_t)1 << best;
	}
	return chosen;
}

static void find_product(void *ctx, Op *op) { *(bool *)ctx |= op->code == OP_MMA; }

int budget_of(const Fn *fn, int asked)
{
	bool products = false;
	if (asked) return asked;
	ir_walk(fn->body, find_product, &products);
	return products ? VERSIONS_PRODUCTS : VERSIONS_ROWS;
}

int budget_keep(Version *v, int n, int most)
{
	ArenaMark mark = arena_mark(A_TMP);
	Calls c = { .n = 0 };
	int left = 0;
	if (n <= most || n > VERSIONS) return n;
	find_calls(&c, v->of);
	uint32_t chosen = choose(v, n, most, &c);
	for (int i = 0; i < n; i++)
		if (chosen >> i & 1) v[left++] = v[i];
	arena_release(A_TMP, mark);
	return left;
}
