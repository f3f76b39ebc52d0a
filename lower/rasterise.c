/* rasterise: the order in which blocks run over the axes of the grid.
 *
 * Blocks that run at the same time should access neighbouring memory: lines that two of them share are then in the
 * cache, and pages of memory are opened once. Stores decide, because parts of lines that are written at different times
 * cost more than parts that are read twice. So the axis along which the address of the largest store changes least is
 * the fastest, and so on; loads decide where much more is loaded than stored (reductions). An address is a polynomial
 * of the block's indices, and the number of dimensions that an index is multiplied by stands for the size of its step.
 *
 * One axis is enough for what decides: along it, short runs of elements become long ones. Where the others' runs are
 * short, too, as of what is loaded to be transposed, the next axis is that along which their address changes least.
 * It is the fastest one where what decides has long runs in each tile: where each block loads one channel of
 * interleaved pixels and stores a plane, each would else fetch from memory again all sectors that the last one had.
 *
 * Rows selected by an index from memory lie anywhere in their table, so they are not neighbours, whatever the order. If
 * they run fastest, blocks that run at once read the same columns, and what they read of the table is a slice that
 * caches hold. Figures: bench/notes/moves.md.
 *
 * Products have an order of their own, and kernels whose blocks communicate keep the order in which they start. Blocks
 * that only add all that they load to memory do not communicate; in the order of what they load they add to whole rows
 * of a table, where in another all that run at once may add to the same few lines. */
#include <string.h>

#include "base/diag.h"
#include "base/machine.h"
#include "ir/valsym.h"
#include "lower/placed.h"

enum {
	GRID = 4,
	DEEP = 16
};

/* How far apart neighbours along an axis of the grid access memory: coef elements times a product of `dims`
 * dimensions. */
typedef struct Stride { bool known; int dims; int64_t coef; } Stride;
/* log2 of the bytes; -1: none. run: the same of those that are adjacent. looked_up: the axes of the grid, a set, that
 * say which index from memory a place is at */
typedef struct Spread { int log2, run; Stride along[GRID]; unsigned looked_up; } Spread;
/* Of the largest load and store. first: of the one whose places matter more; second: of the other. */
typedef struct Sweep { Spread load, store; const Spread *first, *second; } Sweep;

static bool is_farther(Stride x, Stride y) { return x.dims != y.dims ? x.dims > y.dims : x.coef > y.coef; }

static void add_term(Spread *p, const Sym *term)
{
	const Sym *const *arg = term->kind == SYM_MUL ? term->arg : &term;
	int n = term->kind == SYM_MUL ? term->n : 1, axis = -1;
	Stride s = { true, -1, 1 };     /* without the index itself */
	for (int i = 0; i < n; i++) {
		if (arg[i]->kind == SYM_ATOM && arg[i]->atom == ATOM_BID) axis = arg[i]->index;
		if (arg[i]->kind == SYM_CONST) s.coef = arg[i]->value < 0 ? -arg[i]->value : arg[i]->value;
		else s.dims++;
	}
	if (axis < 0 || axis >= GRID) return;
	if (!p->along[axis].known || is_farther(s, p->along[axis])) p->along[axis] = s;
}

static void add_terms(Spread *p, const Sym *s)
{
	if (s->size > SYM_SIZE_MAX) return;
	if (s->kind != SYM_ADD) add_term(p, s);
	for (int i = 0; s->kind == SYM_ADD && i < s->n; i++) add_term(p, s->arg[i]);
}

static const Sym *stride_of(ValSyms *b, const Val *view, int axis)
{
	for (; view->def && view->def->code == OP_PERMUTE; view = ir_in(view->def, 0))
		axis = (int)ir_attr(view->def, AT_AXES)->u.ints.p[axis];
	return valsym_stride(b, view, axis);
}

/* The axes of the grid that a scalar depends on, a set; memory: those by which it depends on what lies in memory. */
static unsigned axes_of(const Val *v, bool memory, int deep)
{
	const Op *op = v->def;
	unsigned r = 0;
	if (!op || !deep || op->nregion) return 0;
	if (op->code == OP_BID) return memory ? 0 : 1u << ir_axis(op);
	if (op->code == OP_GATHER || op->code == OP_LOAD) memory = false;
	for (int i = 0; i < op->nin; i++)
		if (ir_in(op, i)->type->kind != TY_VIEW) r |= axes_of(ir_in(op, i), memory, deep - 1);
	return r;
}

static unsigned looked_up(const Op *load)
{
	const Type *t = load->out[0]->type;
	int fast = fast_axis(load->parent->fn, ir_in(load, 0));
	unsigned r = 0;
	if (!type_is_tile(t) || t->rank != ir_in(load, 0)->type->rank) return 0;
	if (t->log2[fast] + elem_log2(t->elem) < COST_ROW_ALONE) return 0;
	for (int a = 0; a < t->rank; a++)
		if (a != fast) r |= axes_of(ir_in(load, 1 + a), true, DEEP);
	return r;
}

/* log2 of the bytes of a tile that lie side by side in memory: of one of its rows. */
static int run_of(const Op *op, const Type *t)
{
	const Fn *fn = op->parent->fn;
	const Val *view = ir_in(op, 0);
	int fast = fast_axis(fn, view);
	bool runs = type_is_tile(t) && t->rank == view->type->rank && unit_axis(fn, view, fast);
	return elem_log2(t->elem) + (runs ? t->log2[fast] : 0);
}

static void visit_access(ValSyms *b, Op *op)
{
	bool store = op->code == OP_STORE;
	const Type *t = store ? ir_in(op, op->nin - 1)->type : op->out[0]->type;
	Spread p = { .log2 = type_is_tile(t) ? type_log2_size(t) + elem_log2(t->elem) : 0 };
	Sweep *s = b->ctx;
	Spread *best = store ? &s->store : &s->load;
	if (p.log2 <= best->log2) return;
	p.run = run_of(op, t);
	if (op->code == OP_LOAD) p.looked_up = looked_up(op);
	for (const Val *v = ir_in(op, 0); v->def && (v->def->code == OP_VIEW || v->def->code == OP_PERMUTE);
		v = ir_in(v->def, 0)) if (v->def->code == OP_VIEW) add_terms(&p, valsym(b, ir_in(v->def, 1)));
	for (int a = 0; a < ir_in(op, 0)->type->rank; a++) {
		const Sym *stride = stride_of(b, ir_in(op, 0), a);
		if (stride) add_terms(&p, sym_mul(valsym_access(b, op, a), stride));
	}
	*best = p;
}

/* uses: by Val id; loaded, added: log2 of the elements of the largest tile that is, and of the smallest */
typedef struct Order { const int *uses; bool keeps; int loaded, added; } Order;

static int size_log2(const Type *t) { return type_is_tile(t) ? type_log2_size(t) : 0; }

/* A reduction in memory, an atomic operation whose old value nobody reads, says nothing to other blocks. */
static void look_at_order(void *ctx, Op *op)
{
	Order *o = ctx;
	bool relaxed = ir_int(op, AT_ORDER, 0) == attr_word(AT_ORDER, str_intern("relaxed"));
	bool reduces = op->code == OP_ATOMIC_RMW && relaxed && !o->uses[op->out[0]->id];
	o->keeps |= op->code == OP_MMA || (op_has(op, OPF_ATOMIC) && !reduces);
	int n = op->nout ? size_log2(op->out[0]->type) : 0;
	if (op->code == OP_LOAD && n > o->loaded) o->loaded = n;
	if (reduces && n < o->added) o->added = n;
}

/* Is axis x to be faster than y? */
static bool is_faster(const Sweep *of, int x, int y)
{
	const Spread *p[] = { of->first, of->second };
	unsigned up = of->load.log2 >= of->store.log2 ? of->load.looked_up : 0;
	if ((up >> x ^ up >> y) & 1) return up >> x & 1;
	for (int i = 0; i < 2; i++) {
		Stride s = p[i]->along[x], t = p[i]->along[y];
		if (s.known != t.known) return s.known;
		if (s.known && (is_farther(s, t) || is_farther(t, s))) return is_farther(t, s);
	}
	return false;
}

/* The axis along which the place changes least; -1: along some axis it is not known. */
static int nearest(const Fn *fn, const Spread *p)
{
	int best = 0;
	for (int a = 0; a < fn->ngrid; a++) {
		if (!p->along[a].known) return -1;
		if (is_farther(p->along[best], p->along[a])) best = a;
	}
	return best;
}

/* Is an access to be looked at for its own sake? Not what moves little beside the other. Memory moves whole sectors. */
static bool is_short(const Spread *p, const Spread *beside)
{
	int moved = p->log2 + (p->run < SECTOR_LOG2 ? SECTOR_LOG2 - p->run : 0);
	return p->run < COST_SWEEP_RUN && moved + COST_SWEEP_MORE >= beside->log2;
}

/* Short runs grow along the axis that is nearest to each access. */
static void join_runs(Fn *fn, const Sweep *of)
{
	const Spread *p[] = { of->first, of->second };
	int place = 0;
	if (of->load.looked_up) return;
	for (int i = 0; i < 2; i++) {
		if (!is_short(p[i], p[!i])) continue;
		int axis = nearest(fn, p[i]), k = 0;
		if (axis < 0) return;
		while (fn->sweep[k] != axis) k++;
		if (k < place) continue;
		for (; k > place; k--) fn->sweep[k] = fn->sweep[k - 1];
		fn->sweep[place++] = axis;
	}
}

static void sweep_fn(Fn *fn)
{
	if (fn->ngrid < 2) return;
	ir_number(fn);
	ArenaMark mark = arena_mark(A_TMP);
	Order order = { ir_use_counts(fn, A_TMP), false, 0, INT32_MAX };
	ir_walk(fn->body, look_at_order, &order);
	arena_release(A_TMP, mark);
	if (order.keeps || order.added < order.loaded) return;
	Sweep s = { .load = { .log2 = -1 }, .store = { .log2 = -1 } };
	valsyms_accesses(fn, visit_access, &s);
	bool loads = s.load.log2 > s.store.log2 + COST_SWEEP_MORE;
	s.first = loads ? &s.load : &s.store;
	s.second = loads ? &s.store : &s.load;
	bool same = true;
	for (int i = 0; i < fn->ngrid; i++) {
		int k = i;
		for (; k > 0 && is_faster(&s, i, fn->sweep[k - 1]); k--) fn->sweep[k] = fn->sweep[k - 1];
		fn->sweep[k] = i;
	}
	join_runs(fn, &s);
	for (int i = 0; i < fn->ngrid; i++) same &= fn->sweep[i] == i;
	if (same) memset(fn->sweep, 0, sizeof fn->sweep);
}

void pass_rasterise(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) sweep_fn(m->fns.p[i]);
}
