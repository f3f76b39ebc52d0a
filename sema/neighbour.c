/* An `inout` tensor from which a tile block loads what another one stores: without an order between them it may see the
 * elements before or after. Places are compared for pairs of tile blocks near the first; a kernel with atomics or
 * memory orders, or one that is marked `@ordered`, has an order of its own, and an access under a condition may belong
 * to another step. */
#include "sema/findings.h"

enum {
	NEAR = 3,       /* tile blocks along an axis that are compared */
	MOST = 32       /* accesses at different places that are compared */
};

typedef struct Access { const Op *op; int param, rank; const Sym *base[TENSOR_RANK]; int64_t len[TENSOR_RANK]; } Access;
typedef VEC(Access) AccessVec;

typedef struct Neighbours {
	const Fn *fn;
	ValSyms *vs;
	LaneSyms *lanes;
	const uint8_t *dep;     /* by Val id: 0 where it is the same in all tile blocks */
	AccessVec load, store;
	bool ordered, conditional;
} Neighbours;

static bool orders(const Op *op) { return op_has(op, OPF_ATOMIC); }

/* Index tiles of one axis whose numbers are all of a range. */
static bool in_a_row(const Lanes *l, int64_t *first)
{
	int64_t lo = INT64_MAX, hi = INT64_MIN;
	for (int64_t i = 0; l && i < l->n; i++) {
		if (l->at[i] < lo) lo = l->at[i];
		if (l->at[i] > hi) hi = l->at[i];
	}
	if (!l || hi - lo != l->n - 1) return false;
	bool *seen = NEW_ARRAY(A_TMP, bool, l->n);
	for (int64_t i = 0; i < l->n; i++) {
		if (seen[l->at[i] - lo]) return false;
		seen[l->at[i] - lo] = true;
	}
	*first = lo;
	return true;
}

static bool access_of(Neighbours *w, const Op *op, Access *p)
{
	const Val *view = ir_in(op, 0);
	bool loads = op->code == OP_LOAD || op->code == OP_GATHER, tile = op->code == OP_LOAD || op->code == OP_STORE;
	const Type *t = loads ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	int rank = view->type->rank;
	if (view->def || view->block != w->fn->body || (!tile && op->nin > 2 + rank)) return false;
	if (w->fn->params.p[view->index].mode != PM_INOUT) return false;
	*p = (Access){ .op = op, .param = view->index, .rank = rank };
	for (int i = 0; i < rank; i++) {
		const Val *index = ir_in(op, 1 + i);
		int64_t first = 0;
		p->len[i] = tile && t->rank == rank ? type_extent(t, i) : 1;
		p->base[i] = tile ? valsym_access(w->vs, op, i) : NULL;
		if (p->base[i]) continue;
		if (!type_is_tile(index->type)) {
			p->base[i] = valsym(w->vs, index);
			continue;
		}
		const Lanes *l = rank == 1 ? lanes_of(w->lanes, index) : NULL;
		if (!in_a_row(l, &first)) return false;
		p->base[i] = sym_add(l->base, sym_const(first));
		p->len[i] = l->n;
	}
	return true;
}

static bool same_place(const Access *a, const Access *b)
{
	if (a->param != b->param) return false;
	for (int i = 0; i < a->rank; i++)
		if (a->base[i] != b->base[i] || a->len[i] != b->len[i]) return false;
	return true;
}

/* Of accesses at one place the first stands for all. */
static void note(AccessVec *v, const Access *p)
{
	for (int i = 0; i < v->n; i++)
		if (same_place(&v->p[i], p)) return;
	if (v->n < MOST) vec_push(A_TMP, v, *p);
}

static void walk(Neighbours *w, const IrBlock *b)
{
	bool outer = w->conditional;
	for (const Op *op = b->first; op; op = op->next) {
		Access p;
		w->ordered |= orders(op) || ir_attr(op, AT_ORDER);
		bool loads = op->code == OP_LOAD || op->code == OP_GATHER,
			stores = op->code == OP_STORE || op->code == OP_SCATTER;
		if (!w->conditional && (loads || stores) && access_of(w, op, &p)) note(loads ? &w->load : &w->store, &p);
		bool before = w->conditional;
		w->conditional |= op->code == OP_IF || op->code == OP_WHILE;
		for (int i = 0; i < op->nregion && op->code != OP_REDUCE && op->code != OP_SCAN; i++) {
			bool runs;
			ValSpot spot = valsyms_enter(w->vs, op, i, true, &runs);
			if (runs) walk(w, op->region[i]);
			valsyms_leave(w->vs, spot);
		}
		w->conditional = before;
		for (int i = 0; i < op->nregion; i++) {
			const Op *last = op->region[i]->last;
			if (op->code == OP_IF && last && (last->code == OP_LEAVE || last->code == OP_BREAK
				|| last->code == OP_CONTINUE)) w->conditional = true;
		}
	}
	w->conditional = outer;
}

/* ---- pairs of tile blocks ---- */
typedef struct At { const Neighbours *w; const int *bid; bool other; } At;

static const Sym *at_block(void *ctx, const Sym *atom)
{
	const At *a = ctx;
	return atom->atom == ATOM_BID ? sym_const(a->bid[atom->index]) : NULL;
}

static void note_dependent(void *ctx, const Sym *atom)
{
	At *a = ctx;
	if (atom->atom == ATOM_VAL && a->w->dep[atom->index]) a->other = true;
}

/* Do the elements of l in tile block lb and those of s in sb meet? */
static bool meet(const Neighbours *w, const Access *l, const int *lb, const Access *s, const int *sb)
{
	for (int i = 0; i < l->rank; i++) {
		At la = { w, lb, false }, sa = { w, sb, false };
		const Sym *x = sym_subst(l->base[i], at_block, &la), *y = sym_subst(s->base[i], at_block, &sa);
		int64_t d, a, b, n;
		if (!sym_is_const(sym_sub(y, x), &d) || d >= l->len[i] || -d >= s->len[i]) return false;
		if (!sym_is_const(x, &a) || !sym_is_const(y, &b)) continue;
		if (a + l->len[i] <= 0 || b + s->len[i] <= 0) return false;
		const Sym *ext = w->fn->params.p[l->param].extent[i];
		n = facts_eval_range(w->vs->facts, ext).hi;
		if ((a > b ? a : b) >= n) return false;
	}
	return true;
}

static bool overlap(const Neighbours *w, const Access *l, const int *lb, const Access *s, const int *sb)
{
	ArenaMark mark = arena_mark(A_TMP);
	bool both = meet(w, l, lb, s, sb);
	arena_release(A_TMP, mark);
	return both;
}

static bool next(int *bid, const int *blocks, int n)
{
	for (int i = 0; i < n; i++) {
		if (++bid[i] < blocks[i]) return true;
		bid[i] = 0;
	}
	return false;
}

static bool others_element(const Neighbours *w, const Access *l, const Access *s, const int *blocks)
{
	int lb[4] = { 0 }, n = w->fn->ngrid;
	At any = { w, lb, false };
	for (int i = 0; i < l->rank; i++) {
		sym_atoms(l->base[i], note_dependent, &any);
		sym_atoms(s->base[i], note_dependent, &any);
	}
	if (any.other) return false;
	do {
		int sb[4] = { 0 };
		do {
			bool same = true;
			for (int i = 0; i < n; i++) same &= lb[i] == sb[i];
			if (!same && overlap(w, l, lb, s, sb)) return true;
		} while (next(sb, blocks, n));
	} while (next(lb, blocks, n));
	return false;
}

static void note_block(void *ctx, const Sym *atom)
{
	if (atom->atom == ATOM_BID) *(bool *)ctx = true;
}

/* Of `s[0] += x` the store alone is said to be a race (W1004): the load is no second mistake. */
static bool in_all_blocks(const Access *l, const Access *s)
{
	bool depends = false;
	for (int i = 0; i < l->rank; i++) sym_atoms(l->base[i], note_block, &depends);
	return same_place(l, s) && !depends;
}

void neighbours_report(const Fn *fn, ValSyms *vs, LaneSyms *lanes, const uint8_t *dep)
{
	Neighbours w = { .fn = fn, .vs = vs, .lanes = lanes, .dep = dep, .ordered = fn->ordered };
	int blocks[4] = { 1, 1, 1, 1 };
	walk(&w, fn->body);
	for (int i = 0; i < fn->ngrid; i++) {
		int64_t most = facts_eval_range(vs->facts, fn->grid[i]).hi;
		blocks[i] = most < NEAR ? (int)most : NEAR;
		if (most < 1) return;
	}
	for (int i = 0; i < w.load.n && !w.ordered; i++)
		for (int k = 0; k < w.store.n; k++) {
			const Access *l = &w.load.p[i], *s = &w.store.p[k];
			if (l->param != s->param || in_all_blocks(l, s) || !others_element(&w, l, s, blocks)) continue;
			const IrParam *p = &fn->params.p[l->param];
			Diag *d = diag(D_RACE_READ, l->op->span, p->name);
			if (s->op->span.lo != l->op->span.lo) diag_label(d, s->op->span, "stored here");
			diag_help(d, "load from an `in` tensor and store to another one, `out`");
			return;
		}
}
