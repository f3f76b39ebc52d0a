/* Which versions of a kernel are compiled.
 *
 * Each version is code that nvcc compiles and a reviewer reads, so a kernel has few of them for an architecture: the
 * one that serves all calls, then greedily the one that saves most time over the calls that users may make. Those are
 * rows of any length, log-uniform in what the kernel's where clauses leave, and with equal weight for unaligned lengths
 * and for multiples of 2, 8 and 64; tensors begin where an allocator puts them. A variant of a family serves no call of
 * less than a quarter of its longest row: a smaller one does. */
#include <string.h>

#include "base/cost.h"
#include "ir/valsym.h"
#include "lower/placed.h"

enum { CALLS = 128, VERSIONS = 32 };
static const int64_t classes[] = { 1, 2, 8, 64 };

/* How many rows, heads, images ... there are, where a version divides their axis. */
static const int64_t counts[] = { 1, 64, 4, 1024, 16, 2, 256, 32, 4096, 8, 128 };
enum { COUNTS = sizeof counts / sizeof *counts };

/* Calls: all dimensions have one length, but for those along which no row of a tensor lies,
 * where there are such counts. */
typedef struct Calls { const Fn *of; bool counted; int64_t length[CALLS]; int n; } Calls;
typedef struct Call { const Calls *all; int number; int64_t length; } Call;

static void find_atom(void *ctx, const Sym *atom)
{
	const Sym **sought = ctx;
	if (*sought == atom) *sought = NULL;
}

static bool is_of_rows(const Fn *of, const Sym *dim)
{
	for (int i = 0; i < of->params.n; i++) {
		const IrParam *p = &of->params.p[i];
		const Sym *sought = dim;
		if (p->is_tensor && p->rank) sym_atoms(p->extent[p->rank - 1], find_atom, &sought);
		if (!sought) return true;
	}
	return false;
}

static int dim_number(const Fn *of, const Sym *dim)
{
	int i = 0;
	while (i < of->dims.n && of->dims.p[i].name != dim->name) i++;
	return i;
}

static bool atom_of_call(void *ctx, const Sym *a, int64_t *v)
{
	const Call *c = ctx;
	*v = a->kind == SYM_ALIGNED ? 1 : a->atom == ATOM_PHASE ? 0 : a->atom == ATOM_BLOCKS ? COST_BLOCKS_OF_CALL
		: c->length;
	if (c->all->counted && a->kind == SYM_ATOM && a->atom == ATOM_DIM && !is_of_rows(c->all->of, a))
		*v = counts[(c->number + 3 * dim_number(c->all->of, a)) % COUNTS];
	return true;
}

static int64_t value_of(const Sym *s, const Call *c)
{
	int64_t v;
	return sym_eval(s, atom_of_call, (void *)c, &v) ? v : 0;
}

static bool holds(const Sym *s, const Call *c) { return value_of(s, c) != 0; }

static bool is_call(const Calls *c, int64_t length)
{
	Call call = { c, c->n, length };
	for (int i = 0; i < c->of->where.n; i++)
		if (!holds(c->of->where.p[i].cond, &call)) return false;
	return length > c->of->rows_taken;
}

/* The length near n that is a multiple of its class, and of no other. */
static int64_t of_class(int64_t n, int64_t class)
{
	n = (n + class - 1) / class * class;
	return class < 64 && n / class % 2 == 0 ? n + class : n;
}

static void find_calls(Calls *c)
{
	int64_t longest = 0;
	int n = 0;
	for (int64_t l = COST_SHORTEST_ROW; l < COST_LONGEST_ROW; l += l * 2 / 5)
		for (int k = 0; k < 4 && c->n < CALLS; k++)
			if (is_call(c, of_class(l, classes[k]))) c->length[c->n++] = of_class(l, classes[k]);
	for (int i = 0; i < c->n; i++)
		if (c->length[i] > longest) longest = c->length[i];
	for (int i = 0; i < c->n; i++)
		if (longest > COST_LONGEST_ROW / 2 || c->length[i] > longest / 4) c->length[n++] = c->length[i];
	c->n = n;
}

/* Elements of a row that it computes, at least. */
static int64_t kept_of(const Fn *fn, int64_t length)
{
	for (int i = fn->lanes_least; fn->short_rows && i <= short_lanes(fn); i++)
		if (length <= row_of_lanes(fn, i)) return row_of_lanes(fn, i);
	if (fn->fewer) return row_part(fn);
	return !fn->row_log2 ? 0 : fn->row_regs ? (int64_t)fn->row_regs << (fn->row_log2 - fn->row_regs_log2)
		: (int64_t)1 << fn->row_log2;
}

static bool is_small(const Fn *fn)
{
	for (int i = 0; i < fn->params.n; i++)
		if (fn->params.p[i].is_tensor && elem_bytes(fn->params.p[i].elem) < 4) return true;
	return false;
}

/* Of the largest tile that a version stores: its extents, and the tensor's. */
typedef struct Shape { int rank; bool math; const Sym *extent[TENSOR_RANK]; int64_t tile[TENSOR_RANK]; } Shape;

static void find_shape(ValSyms *b, Op *op)
{
	Shape *shape = b->ctx;
	const Type *t = ir_accessed(op)->type;
	int64_t size = 1;
	for (const Op *o = op; o && !shape->math; o = o->prev)
		shape->math = op_has(o, OPF_MATH | OPF_RANDOM) && o->nout && type_is_tile(o->out[0]->type);
	for (int i = 0; i < shape->rank; i++) size *= shape->tile[i];
	if (op->code != OP_STORE || !type_is_tile(t) || t->rank != ir_in(op, 0)->type->rank
		|| (shape->rank && type_size(t) <= size))
		return;
	shape->rank = t->rank;
	for (int i = 0; i < t->rank; i++) {
		shape->extent[i] = valsym_extent(b, ir_in(op, 0), i);
		shape->tile[i] = type_extent(t, i);
	}
}

static Shape shape_of(Fn *fn)
{
	Shape shape = { 0 };
	valsyms_accesses(fn, find_shape, &shape);
	return shape;
}

/* What pads cost that its tiles compute, in percent. */
static int64_t time_of_pads(const Shape *s, const Call *c)
{
	double all = 1, used = 1;
	for (int i = 0; i < s->rank; i++) {
		int64_t n = s->extent[i] ? value_of(s->extent[i], c) : 0;
		if (n <= 0) continue;
		all *= (double)((n + s->tile[i] - 1) / s->tile[i] * s->tile[i]);
		used *= (double)n;
	}
	return (int64_t)((all / used - 1) * (s->math ? COST_PADS_OF_MATH : COST_PADS_OF_MAP));
}

static int64_t time_of(const Fn *fn, int64_t length, int cluster)
{
	int64_t t = fn->peel_line ? COST_BY_PEELED : fn->aligned ? COST_BY_PIECES : is_small(fn) ? COST_BY_SMALL_ELEMENT
		: COST_BY_ELEMENT;
	int64_t kept = kept_of(fn, length);
	if (fn->cluster < cluster) t += COST_SMALL_CLUSTER;
	return kept > length ? t + COST_PADS * (kept - length) / length : t;
}

typedef struct Times { bool serves[VERSIONS][CALLS]; int64_t time[VERSIONS][CALLS]; } Times;

/* Of all calls, with the versions that are chosen. */
static int64_t time_of_all(int n, uint32_t chosen, const Calls *c, const Times *t)
{
	int64_t all = 0;
	for (int k = 0; k < c->n; k++) {
		int i = 0;
		while (i + 1 < n && !(chosen >> i & 1 && t->serves[i][k])) i++;
		all += t->time[i][k];
	}
	return all;
}

static void find_times(Times *t, const Version *v, int n, const Calls *c)
{
	int cluster = 0;
	for (int i = 0; i < n; i++)
		if (v[i].fn->cluster > cluster) cluster = v[i].fn->cluster;
	for (int i = 0; i < n; i++) {
		Shape s = { 0 };
		if (c->counted) s = shape_of(v[i].fn);
		for (int k = 0; k < c->n; k++) {
			Call call = { c, k, c->length[k] };
			t->serves[i][k] = holds(v[i].guard, &call);
			t->time[i][k] = time_of(v[i].fn, c->length[k], cluster) + time_of_pads(&s, &call);
		}
	}
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
	Times *t = NEW_ARRAY(A_TMP, Times, 1);
	uint32_t chosen = (uint32_t)1 << find_last(v, n);
	find_times(t, v, n, c);
	for (int left = most - 1; left > 0; left--) {
		int best = -1;
		int64_t least = INT64_MAX;
		for (int i = 0; i < n; i++) {
			if (chosen >> i & 1) continue;
			int64_t time = time_of_all(n, chosen | (uint32_t)1 << i, c, t);
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
	Calls c = { .of = v->of };
	int left = 0;
	if (n <= most || n > VERSIONS) return n;
	for (int i = 0; i < n; i++)
		c.counted |= v[i].fn->ngrid != v->of->ngrid || memcmp(v[i].fn->grid, v->of->grid, sizeof v->of->grid) != 0;
	find_calls(&c);
	uint32_t chosen = choose(v, n, most, &c);
	for (int i = 0; i < n; i++)
		if (chosen >> i & 1) v[left++] = v[i];
	arena_release(A_TMP, mark);
	return left;
}
