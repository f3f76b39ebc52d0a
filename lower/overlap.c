/* overlap: loads whose tiles overlap are made one operation, `loads`, in which each thread reads an element once.
 *
 * A stencil loads one tensor at tile offsets that differ by small constants. Under one layout each thread then reads
 * nearly the same elements again and again. Where the layout gives each thread a box (the register's part of each
 * coordinate is a number below a power of two, and the thread's part a multiple of it), the elements that it needs for
 * all these tiles lie in a larger box, its patch, at places known here. Only loads of tensors that are not written in
 * between are merged.
 *
 * lay_overlap is the layout that makes patches small: a thread's elements adjacent along all
 * axes along which loads overlap. */
#include <string.h>

#include "base/diag.h"
#include "lower/placed.h"

enum { GROUP_MOST = 32, LOOK_BACK = 16 };

static const int64_t *offsets_of(const Op *op)
{
	static const int64_t none[TENSOR_RANK];
	const IrAttr *a = ir_attr(op, AT_OFFSETS);
	return a ? a->u.ints.p : none;
}

/* A load that may be read at another time and together with others. */
static bool is_candidate(const Op *op)
{
	if (op->code != OP_LOAD || !type_is_tile(op->out[0]->type) || ir_attr(op, AT_CACHE)) return false;
	const Type *t = op->out[0]->type;
	return t->rank > 0 && t->rank == ir_in(op, 0)->type->rank && type_log2_size(t) > 0
		&& memory_is_constant(op->parent->fn, ir_in(op, 0));
}

/* Do the places of two candidates differ by constants? */
static bool constants_apart(const Op *x, const Op *y)
{
	int rank = x->out[0]->type->rank;
	const Lay *l = x->out[0]->lay, *m = y->out[0]->lay;
	if (x->out[0]->type != y->out[0]->type || ir_in(x, 0) != ir_in(y, 0)) return false;
	for (int a = 0; a < rank; a++)
		if (!same_scalar(ir_in(x, 1 + a), ir_in(y, 1 + a))) return false;
	if (memcmp(ir_attr(x, AT_STEPS)->u.ints.p, ir_attr(y, AT_STEPS)->u.ints.p, (size_t)rank * sizeof(int64_t)) != 0)
		return false;
	return same_scalar(ir_in(x, 1 + rank), ir_in(y, 1 + rank)) && (!l || !m ? l == m : lay_eq(*l, *m));
}

bool loads_overlap(const Op *x, const Op *y) { return is_candidate(x) && is_candidate(y) && constants_apart(x, y); }

int64_t load_offset(const Op *op, int axis) { return offsets_of(op)[axis]; }

/* ---- groups ---- */
typedef struct Group { Op *op[GROUP_MOST]; int n; } Group;
typedef VEC(Group *) Groups;

static void add(Groups *all, Op *op)
{
	for (int i = all->n - 1; i >= 0 && i >= all->n - LOOK_BACK; i--) {
		Group *g = all->p[i];
		if (g->n == GROUP_MOST || !constants_apart(g->op[0], op)) continue;
		g->op[g->n++] = op;
		return;
	}
	Group *g = NEW(A_TMP, Group);
	g->op[g->n++] = op;
	vec_push(A_TMP, all, g);
}

static Groups groups_of(IrBlock *b)
{
	Groups r = { 0 };
	for (Op *op = b->first; op; op = op->next)
		if (is_candidate(op)) add(&r, op);
	return r;
}

static void pairs_of(IrBlock *b, void (*each)(void *, const Op *, const Op *), void *ctx)
{
	Groups all = groups_of(b);
	for (int i = 0; i < all.n; i++)
		for (int k = 1; k < all.p[i]->n; k++)
			for (int j = 0; j < k; j++) each(ctx, all.p[i]->op[j], all.p[i]->op[k]);
	for (const Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->nregion; i++) pairs_of(op->region[i], each, ctx);
}

void overlaps_walk(const Fn *fn, void (*each)(void *, const Op *, const Op *), void *ctx)
{
	ArenaMark mark = arena_mark(A_TMP);
	pairs_of(fn->body, each, ctx);
	arena_release(A_TMP, mark);
}

static void find_pair(void *ctx, const Op *x, const Op *y) { *(bool *)ctx = x != y; }

bool overlaps_any(const Fn *fn)
{
	bool found = false;
	overlaps_walk(fn, find_pair, &found);
	return found;
}

/* ---- patches ---- */

/* Is a patch worth it: fewer elements to read, and few enough for registers? */
static bool pays(const Op *head, Lay l, int n, const int64_t *offsets)
{
	Patch p;
	const Type *t = head->out[0]->type;
	if (!patch_of(l, n, offsets, &p)) return false;
	int size = 1, fast = fast_axis(head->parent->fn, ir_in(head, 0));
	for (int a = 0; a < p.rank; a++) size *= p.ext[a];
	if (size / p.ext[fast] > PATCH_ROWS || size / p.ext[p.rank - 1] > PATCH_ROWS) return false;
	return p.wanted * 100 <= COST_PATCH_PERCENT * (n << l.in[HW_REG])
		&& p.wanted * (elem_bytes(t->elem) > 4 ? 2 : 1) <= COST_PATCH_WORDS;
}

/* ---- the layout ---- */
/* Along which its loads differ. */
static uint32_t axes_of(const Group *g)
{
	uint32_t axes = 0;
	for (int a = 0; a < g->op[0]->out[0]->type->rank; a++)
		for (int k = 1; k < g->n; k++)
			if (offsets_of(g->op[k])[a] != offsets_of(g->op[0])[a]) axes |= 1u << a;
	return axes;
}

static int fast_of(const Group *g) { return fast_axis(g->op[0]->parent->fn, ir_in(g->op[0], 0)); }

/* Does the layout follow g rather than best? Of groups of equally many loads not the one that comes first: along the
 * fastest axis a thread's elements are adjacent anyway, so one that differs along another axis. */
static bool comes_first(const Group *g, const Group *best)
{
	if (!best || g->n != best->n) return g->n > (best ? best->n : 1);
	uint32_t mine = axes_of(g), other = axes_of(best), slow = mine & ~(1u << fast_of(g)),
		other_slow = other & ~(1u << fast_of(best));
	return slow != other_slow ? slow > other_slow : mine > other;
}

static void widest(IrBlock *b, const Group **best)
{
	Groups all = groups_of(b);
	for (int i = 0; i < all.n; i++)
		if (comes_first(all.p[i], *best)) *best = all.p[i];
	for (const Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->nregion; i++) widest(op->region[i], best);
}

static void find_shift(void *ctx, Op *op)
{
	Overlap *o = ctx;
	if (op->code == OP_SHIFT && type_same_shape(op->out[0]->type, o->type) && ir_axis(op) == o->fast) o->within = true;
}

Overlap overlap_of(const Fn *fn)
{
	const Group *g = NULL;
	widest(fn->body, &g);
	if (!g) return (Overlap){ 0 };
	Overlap r = { .type = g->op[0]->out[0]->type, .axes = axes_of(g), .fast = fast_of(g) };
	ir_walk(fn->body, find_shift, &r);
	return r;
}

static int take(int *left, int want)
{
	int n = *left < want ? *left : want;
	*left -= n;
	return n;
}

/* The next n bits of h go along the axes in this order; what finds no element left is a copy. */
static Lay deal(Lay l, Hw h, int n, const int *order, int naxis, int *left)
{
	for (int i = 0; i < naxis; i++) {
		int k = take(&left[order[i]], n);
		l = lay_push(l, h, order[i], k);
		n -= k;
	}
	return lay_mul(l, lay_bcast(l.naxis, h, n));
}

Lay lay_overlap(const Overlap *o, Threads n)
{
	const Type *t = o->type;
	int left[TILE_RANK], fast = o->fast, most = n.piece > elem_log2(t->elem) ? n.piece - elem_log2(t->elem) : 0;
	int regs = type_log2_size(t) - n.lanes - n.warps;
	Lay l = lay_unit(t->rank);
	for (int a = 0; a < t->rank; a++) left[a] = t->log2[a];
	if (regs < 0) regs = 0;
	int vec = take(&left[fast], regs < most ? regs : most);
	l = lay_push(l, HW_REG, fast, vec);
	regs -= vec;
	if (o->within && left[fast] > n.lanes) regs -= left[fast] - n.lanes;
	for (bool more = true; more;) {         /* a bit for each axis in turn */
		more = false;
		for (int a = t->rank - 1; a >= 0; a--) {
			if (!(o->axes >> a & 1) || a == fast || regs <= 0 || !take(&left[a], 1)) continue;
			l = lay_push(l, HW_REG, a, 1);
			regs--;
			more = true;
		}
	}
	/* The others are too short. By single elements lanes hold the neighbours: an eighth of the sectors. */
	if (most && o->axes >> fast & 1 && !o->within) l = lay_push(l, HW_REG, fast, take(&left[fast], regs));
	int order[TILE_RANK], naxis = 0;
	order[naxis++] = fast;
	for (int a = t->rank - 1; a >= 0; a--)
		if (a != fast) order[naxis++] = a;
	l = deal(l, HW_LANE, n.lanes, order, naxis, left);
	if (naxis > 1) memmove(order, order + 1, (size_t)(naxis - 1) * sizeof *order);
	order[naxis - 1] = fast;
	l = deal(l, HW_WARP, n.warps, order, naxis, left);
	for (int a = t->rank - 1; a >= 0; a--) l = lay_push(l, HW_REG, a, left[a]);
	return l;
}

/* ---- the pass ---- */
static void merge(const Group *g)
{
	Op *head = g->op[0];
	const Type *out[GROUP_MOST], *t = head->out[0]->type;
	int64_t off[GROUP_MOST * TENSOR_RANK], inside[TENSOR_RANK];
	Val *in[2 + TENSOR_RANK];
	int rank = t->rank;
	bool near[TENSOR_RANK] = { false };     /* their indices are the same */
	for (int a = 0; a < rank; a++) inside[a] = INSIDE_WHOLE;
	for (int k = 0; k < g->n; k++) {
		const IrAttr *in_k = ir_attr(g->op[k], AT_INSIDE);
		out[k] = t;
		for (int a = 0; a < rank; a++) {
			off[k * rank + a] = offsets_of(g->op[k])[a];
			if (!in_k || in_k->u.ints.p[a] != INSIDE_WHOLE) inside[a] = 0;
			near[a] |= in_k && in_k->u.ints.p[a] == INSIDE_NEAR;
		}
	}
	for (int a = 0; a < rank; a++)
		if (!inside[a] && near[a]) inside[a] = INSIDE_NEAR;
	Lay l = *head->out[0]->lay;
	if (!pays(head, l, g->n, off)) return;
	for (int i = 0; i < head->nin; i++) in[i] = ir_in(head, i);
	Builder b = build_before(head);
	b.span = head->span;
	Op *op = ir_op(&b, OP_LOADS, head->nin, in, g->n, out);
	ir_set_ints(op, AT_STEPS, rank, ir_attr(head, AT_STEPS)->u.ints.p);
	ir_set_ints(op, AT_OFFSETS, g->n * rank, off);
	ir_set_ints(op, AT_INSIDE, rank, inside);
	for (int k = 0; k < g->n; k++) {
		Val *old = g->op[k]->out[0];
		op->out[k]->name = old->name;
		ir_set_layout(op->out[k], l);
		ir_replace(old, op->out[k]);
		ir_remove(g->op[k]);
	}
}

static void merge_block(IrBlock *b)
{
	Groups all = groups_of(b);
	for (int i = 0; i < all.n; i++)
		if (all.p[i]->n > 1) merge(all.p[i]);
	for (const Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->nregion; i++) merge_block(op->region[i]);
}

void pass_overlap(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) merge_block(m->fns.p[i]->body);
}
