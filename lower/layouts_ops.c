/* What each operation says of layouts: those of its results, those that it wants, those that it must have. */
#include "base/diag.h"
#include "base/least.h"
#include "layout/swz.h"
#include "lower/layouts.h"

static bool is_tile(const Val *v) { return type_is_tile(v->type); }

/* ---- where the values of a block's end go ---- */
static Op *around(const Op *op, bool loop)
{
	for (Op *o = op->parent->owner; o; o = o->parent->owner)
		if (loop ? op_has(o, OPF_LOOP) : o->code == OP_SCOPE_) return o;
	bug("`%s` outside of what it leaves", op_rows[op->code].name);
}

Val *place_target(const Op *end, int i)
{
	Op *o = end->parent->owner;
	switch (end->code) {
	case OP_YIELD:
		if (!o) return NULL;
		if (o->code == OP_FOR) return o->region[0]->args.p[i + 1];
		if (o->code == OP_WHILE) return o->region[0]->args.p[i];
		return o->code == OP_IF ? o->out[i] : NULL;
	case OP_CONDITION: return i ? o->region[1]->args.p[i - 1] : NULL;
	case OP_BREAK: return around(end, true)->out[i];
	case OP_CONTINUE:
		o = around(end, true);
		return o->code == OP_FOR ? o->out[i] : o->region[0]->args.p[i];
	case OP_LEAVE: return around(end, false)->out[i];
	default: return NULL;
	}
}

/* ---- cost ---- */
/* A tile that goes through shared memory in several parts does so element by element.
 * Below 0: it cannot be converted. */
static int64_t cost_between(const Type *t, Lay to, Lay from)
{
	int size = elem_log2(t->elem), c = swz_convert_cost(to, from, size);
	return c > 0 && type_bytes(t) > COST_SHARED_WHOLE ? (int64_t)c << (VECTOR_LOG2 - imin(size, VECTOR_LOG2)) : c;
}

static int64_t convert_cost(const Places *p, Val *v, Lay want)
{
	if (!place_known(p, v) || lay_eq(place_lay(p, v), want)) return 0;
	int64_t c = cost_between(v->type, want, place_lay(p, v));
	return c < 0 ? INT32_MAX : c;
}

static Val *view_of(const Op *op) { return ir_in(op, 0); }

/* Bytes that lie beside elements of more bytes, in tiles of one shape: 8 of them a thread, which it stores at once,
 * where 16 would take two vectors of all that is wider, and ask for rows that are multiples of 16. */
static bool shares_run(const Places *p, const Type *t)
{
	for (int i = 0; i < p->accessed.n; i++)
		if (elem_log2(p->accessed.p[i].t->elem) > elem_log2(t->elem) && type_same_shape(p->accessed.p[i].t, t))
			return true;
	return false;
}

Lay place_coalesced(const Places *p, const Op *op, const Type *t)
{
	int fast = t->rank == view_of(op)->type->rank ? fast_axis(p->fn, view_of(op)) : -1;
	if (p->overlap.type && fast == p->overlap.fast && type_same_shape(t, p->overlap.type)
		&& t->elem == p->overlap.type->elem) return lay_overlap(&p->overlap, p->threads);
	Threads all = p->threads;
	if (shares_run(p, t)) all.piece = imin(all.piece, COST_RUN_BESIDE + elem_log2(t->elem));
	return lay_default(t, fast, all);
}

/* Whether a load or store moves its tile in layout l for no more than its own layout and a conversion cost. */
static bool suits_memory(const Places *p, const Op *op, const Type *t, Lay l)
{
	Lay own = place_coalesced(p, op, t);
	int fast = fast_axis(p->fn, view_of(op));
	if (lay_eq(own, l) || t->rank != view_of(op)->type->rank || t->rank == 0) return true;
	int64_t convert = cost_between(t, l, own);
	bool loads = op->code == OP_LOAD;
	return convert < 0 || lay_memory_cost(l, t->elem, fast, loads)
		<= lay_memory_cost(own, t->elem, fast, loads) + convert;
}

/* Of the layouts that are as good for memory as the coalesced one, that from which the tile becomes `to` at least cost:
 * with some of a thread's elements adjacent along another axis, vectors on both sides of an exchange may be wide. */
static Lay coalesced_for(const Places *p, const Op *op, const Type *t, Lay to)
{
	Lay best = place_coalesced(p, op, t);
	if (t->rank != view_of(op)->type->rank || p->overlap.type) return best;
	int fast = fast_axis(p->fn, view_of(op));
	int64_t most = lay_memory_cost(best, t->elem, fast, true), cost = cost_between(t, to, best);
	for (int a = 0; a < t->rank; a++) {
		if (a == fast || !t->log2[a]) continue;
		Lay l = lay_overlap(&(Overlap){ .type = t, .axes = 1u << a, .fast = fast }, p->threads);
		int64_t c = cost_between(t, to, l);
		if (c < 0 || (cost >= 0 && c >= cost) || lay_memory_cost(l, t->elem, fast, true) > most) continue;
		best = l;
		cost = c;
	}
	return best;
}

static Val *store_value(const Op *op) { return ir_in(op, op->nin - 1); }

/* Of the layouts of the tile operands, the one to which the others convert at least cost. */
static bool best_operand(Places *p, const Op *op, Lay *l)
{
	int64_t best = -1;
	for (int i = 0; i < op->nin; i++) {
		Val *v = ir_in(op, i);
		if (!is_tile(v) || !place_known(p, v)) continue;
		Lay cand = place_lay(p, v);
		int64_t sum = 0;
		if (best >= 0 && lay_eq(cand, *l)) continue;
		for (int k = 0; k < op->nin; k++)
			if (is_tile(ir_in(op, k))) sum += convert_cost(p, ir_in(op, k), cand);
		if (best >= 0 && sum >= best) continue;
		best = sum;
		*l = cand;
	}
	return best >= 0;
}

/* ---- wishes ---- */
static void want(Places *p, Val *v, Lay l)
{
	v = place_home(v);
	if (!is_tile(v) || p->known[v->id] || place_is_forced(v)) return;
	if (v->def && v->def->code == OP_LOAD && !suits_memory(p, v->def, v->type, l))
		l = coalesced_for(p, v->def, v->type, l);
	place_give(p, v, l);
}

static void want_all(Places *p, Op *op, Lay l)
{
	for (int i = 0; i < op->nin; i++)
		if (is_tile(ir_in(op, i))) want(p, ir_in(op, i), l);
}

static Val *result(const Op *op) { return op->nout ? op->out[0] : NULL; }
static bool is_known(Places *p, Val *v) { return v && is_tile(v) && place_known(p, v); }

/* ---- one layout: operations element by element ---- */
static void same_forward(Places *p, Op *op)
{
	Lay l;
	if (best_operand(p, op, &l)) place_give(p, op->out[0], l);
}

static void same_backward(Places *p, Op *op)
{
	Lay l;
	if (is_known(p, result(op))) l = place_lay(p, op->out[0]);
	else if (op->nout || !best_operand(p, op, &l)) return;
	want_all(p, op, l);
}

static bool same_needs(Places *p, const Op *op, int i, Lay *l)
{
	(void)i;
	if (!result(op) || !is_tile(op->out[0])) return best_operand(p, op, l);
	*l = place_lay(p, op->out[0]);
	return true;
}

/* ---- scans and sorts, which depend on the order of the elements along an axis ---- */
/* A scan's own layout: as the access of a tile of its shape that moves the smallest elements asks for. */
static Lay scanned(const Places *p, const Op *op)
{
	const Type *t = ir_in(op, 0)->type;
	Accessed smallest = { .t = NULL };
	for (int i = 0; i < p->accessed.n; i++) {
		Accessed a = p->accessed.p[i];
		if (a.fast < 0 || !type_same_shape(a.t, t)) continue;
		if (!smallest.t || elem_log2(a.t->elem) < elem_log2(smallest.t->elem)) smallest = a;
	}
	if (!smallest.t) smallest = (Accessed){ t, t->rank - 1 };
	int vec = p->threads.piece - elem_log2(smallest.t->elem);
	return lay_scan(op, smallest.fast, vec < 0 ? 0 : vec, p->threads);
}

static void scan_forward(Places *p, Op *op)
{
	bool (*walks)(const Op *, Lay) = op_is_scan(op) ? scan_walks : sort_walks;
	Val *x = ir_in(op, 0);
	Lay l = place_known(p, x) && walks(op, place_lay(p, x)) ? place_lay(p, x) : scanned(p, op);
	for (int i = 0; i < op->nout; i++) place_give(p, op->out[i], l);
}

static void scan_backward(Places *p, Op *op)
{
	if (is_known(p, result(op))) want_all(p, op, place_lay(p, op->out[0]));
}

static bool scan_needs(Places *p, const Op *op, int i, Lay *l)
{
	(void)i;
	*l = place_lay(p, op->out[0]);
	return true;
}

/* ---- reductions ---- */
static void reduce_forward(Places *p, Op *op)
{
	Val *x = ir_in(op, 0);
	if (place_known(p, x)) place_give(p, op->out[0], lay_of_reduced(op, place_lay(p, x)));
}

static Lay combined_operand(const Places *p, const Op *op)
{
	return lay_neighbours(ir_in(op, 0)->type, ir_axis(op), p->threads);
}

static void combine_forward(Places *p, Op *op)
{
	for (int i = 0; i < op->nout; i++) place_give(p, op->out[i], lay_of_reduced(op, combined_operand(p, op)));
}

static void combine_backward(Places *p, Op *op) { want_all(p, op, combined_operand(p, op)); }

static bool combine_needs(Places *p, const Op *op, int i, Lay *l)
{
	(void)i;
	*l = combined_operand(p, op);
	return true;
}

/* ---- other shapes ---- */
static void move_forward(Places *p, Op *op)
{
	Val *x = ir_in(op, 0);
	Lay l;
	if (place_known(p, x) && lay_of_moved(op, place_lay(p, x), &l)) place_give(p, op->out[0], l);
}

static void move_backward(Places *p, Op *op)
{
	Lay l;
	if (is_known(p, op->out[0]) && lay_before_moved(op, place_lay(p, op->out[0]), &l)) want(p, ir_in(op, 0), l);
}

static bool move_needs(Places *p, const Op *op, int i, Lay *l)
{
	(void)i;
	return lay_before_moved(op, place_lay(p, op->out[0]), l);
}

static bool broadcast_needs(Places *p, const Op *op, int i, Lay *l)
{
	return lay_broadcast_operand(place_lay(p, op->out[0]), ir_in(op, i)->type, op->out[0]->type, l);
}

static void broadcast_backward(Places *p, Op *op)
{
	Lay l;
	if (is_known(p, op->out[0]) && is_tile(ir_in(op, 0)) && broadcast_needs(p, op, 0, &l)) want(p, ir_in(op, 0), l);
}

/* ---- halves ---- */
static void cat_forward(Places *p, Op *op)
{
	Val *x = ir_in(op, 0);
	if (place_known(p, x)) place_give(p, op->out[0], lay_cat(place_lay(p, x), ir_axis(op)));
}

static void join_forward(Places *p, Op *op)
{
	Val *x = ir_in(op, 0);
	if (place_known(p, x)) place_give(p, op->out[0], lay_of_pairs(place_lay(p, x)));
}

static void halves_backward(Places *p, Op *op)
{
	if (place_known(p, ir_in(op, 0))) want(p, ir_in(op, 1), place_lay(p, ir_in(op, 0)));
}

static bool halves_need(Places *p, const Op *op, int i, Lay *l)
{
	(void)i;
	*l = place_lay(p, ir_in(op, 0));
	return true;
}

static void split_forward(Places *p, Op *op)
{
	Val *x = ir_in(op, 0);
	for (int i = 0; place_known(p, x) && i < op->nout; i++)
		place_give(p, op->out[i], lay_of_halves(place_lay(p, x)));
}

static bool split_needs(Places *p, const Op *op, int i, Lay *l)
{
	(void)i;
	*l = lay_of_pairs(place_lay(p, op->out[0]));
	return true;
}

static void split_backward(Places *p, Op *op)
{
	if (is_known(p, op->out[0])) want(p, ir_in(op, 0), lay_of_pairs(place_lay(p, op->out[0])));
}

/* ---- gathers within a tile ---- */
static void take_forward(Places *p, Op *op)
{
	if (place_known(p, ir_in(op, 1))) place_give(p, op->out[0], place_lay(p, ir_in(op, 1)));
}

static void take_backward(Places *p, Op *op)
{
	if (is_known(p, op->out[0])) want(p, ir_in(op, 1), place_lay(p, op->out[0]));
}

static bool take_needs(Places *p, const Op *op, int i, Lay *l)
{
	if (i == 1) *l = place_lay(p, op->out[0]);
	return i == 1;
}

/* ---- products ---- */
static Lay sum_layout(const Places *p, const Op *op)
{
	return mma_plan(op, lower_arch(p->cx, p->fn), p->threads.warps).c;
}

static void mma_forward(Places *p, Op *op) { place_give(p, op->out[0], sum_layout(p, op)); }
static void mma_backward(Places *p, Op *op) { want(p, ir_in(op, 2), sum_layout(p, op)); }

static bool mma_needs(Places *p, const Op *op, int i, Lay *l)
{
	if (i == 2) *l = place_lay(p, op->out[0]);
	return i == 2;
}

/* ---- memory ---- */
static void choose_forward(Places *p, Op *op)
{
	if (op->code == OP_HISTOGRAM) place_give(p, op->out[0], lay_default(op->out[0]->type, -1, p->threads));
}

/* May a store choose a layout before loads do? Not a store after a loop that loads tiles, nor one of the result of a
 * reduction, which keeps the layout that the reduction gives it. */
static bool leads(const Places *p, const Op *op)
{
	return place_depth(op) >= p->deepest && type_log2_size(store_value(op)->type) >= p->largest;
}

static void store_backward(Places *p, Op *op)
{
	Val *v = store_value(op);
	if (is_tile(v) && !place_known(p, v) && (p->placed_loads || leads(p, op)))
		want(p, v, place_coalesced(p, op, v->type));
}

static bool store_needs(Places *p, const Op *op, int i, Lay *l)
{
	Val *v = ir_in(op, i);
	*l = suits_memory(p, op, v->type, place_lay(p, v)) ? place_lay(p, v) : place_coalesced(p, op, v->type);
	return true;
}

/* ---- control flow ---- */
/* What a loop carries, of an operand; NULL: its bounds. */
static Val *carried(const Op *op, int i)
{
	int at = op->code == OP_FOR ? i - 2 : i;
	return at > 0 || op->code != OP_FOR ? op->region[0]->args.p[at] : NULL;
}

static void loop_backward(Places *p, Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		Val *to = carried(op, i);
		if (is_known(p, to)) want(p, ir_in(op, i), place_lay(p, to));
	}
}

static bool loop_needs(Places *p, const Op *op, int i, Lay *l)
{
	*l = place_lay(p, carried(op, i));
	return true;
}

static void end_forward(Places *p, Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		Val *to = place_target(op, i);
		if (to && is_tile(to) && place_known(p, ir_in(op, i))) place_give(p, to, place_lay(p, ir_in(op, i)));
	}
}

static void end_backward(Places *p, Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		Val *to = place_target(op, i);
		if (is_known(p, to)) want(p, ir_in(op, i), place_lay(p, to));
	}
}

static bool end_needs(Places *p, const Op *op, int i, Lay *l)
{
	Val *to = place_target(op, i);
	if (to) *l = place_lay(p, to);
	return to != NULL;
}

/* ---- the rules: column `layout` of ops.def ---- */
typedef struct Rule {
	void (*forward)(Places *p, Op *op);     /* gives the results layouts, if the first of them has none */
	void (*backward)(Places *p, Op *op);    /* wishes for operands */
	bool (*needs)(Places *p, const Op *op, int i, Lay *l);  /* see place_needs */
} Rule;

static const Rule rules[LR_COUNT] = {
	[LR_CHOOSE] = { choose_forward, NULL, NULL },
	[LR_SAME] = { same_forward, same_backward, same_needs },
	[LR_SCAN] = { scan_forward, scan_backward, scan_needs },
	[LR_REDUCE] = { reduce_forward, NULL, NULL },
	[LR_COMBINE] = { combine_forward, combine_backward, combine_needs },
	[LR_MOVE] = { move_forward, move_backward, move_needs },
	[LR_BROADCAST] = { NULL, broadcast_backward, broadcast_needs },
	[LR_CAT] = { cat_forward, halves_backward, halves_need },
	[LR_JOIN] = { join_forward, halves_backward, halves_need },
	[LR_SPLIT] = { split_forward, split_backward, split_needs },
	[LR_TAKE] = { take_forward, take_backward, take_needs },
	[LR_MMA] = { mma_forward, mma_backward, mma_needs },
	[LR_STORE] = { NULL, store_backward, store_needs },
	[LR_LOOP] = { NULL, loop_backward, loop_needs },
	[LR_END] = { end_forward, end_backward, end_needs },
};

static const Rule *rule_of(const Op *op) { return &rules[op_rows[op->code].layout]; }

void place_forward(Places *p, Op *op)
{
	const Rule *r = rule_of(op);
	Val *v = result(op);
	if (r->forward && (op_has(op, OPF_TERM) || (v && is_tile(v) && !place_known(p, v)))) r->forward(p, op);
}

void place_backward(Places *p, Op *op)
{
	const Rule *r = rule_of(op);
	if (r->backward) r->backward(p, op);
}

bool place_needs(Places *p, const Op *op, int i, Lay *l)
{
	const Rule *r = rule_of(op);
	return r->needs && r->needs(p, op, i, l);
}

bool place_is_forced(const Val *v)
{
	LayoutRule r = v->def ? op_rows[v->def->code].layout : LR_NONE;
	return r == LR_CAT || r == LR_JOIN || r == LR_SPLIT;
}
