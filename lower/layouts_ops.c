/* What each operation says of layouts: those of its results, those that it wants, those that it must have. */
#include "layout/swz.h"
#include "lower/layouts.h"

#include "base/diag.h"

static bool is_tile(const Val *v) { return type_is_tile(v->type); }

/* ---- where the values of a block's end go ---- */
static Op *around(const Op *op, bool loop)
{
	for (Op *o = op->parent->owner; o; o = o->parent->owner)
		if (loop ? o->code == OP_FOR || o->code == OP_WHILE : o->code == OP_SCOPE_) return o;
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
static int imin(int a, int b) { return a < b ? a : b; }

/* A tile that goes through shared memory in several parts does so element by element.
 * Below 0: it cannot be converted. */
static int64_t cost_between(const Type *t, Lay to, Lay from)
{
	int size = elem_log2(t->elem), c = swz_convert_cost(to, from, size);
	return c > 0 && type_bytes(t) > SHARED_WHOLE ? (int64_t)c << (PIECE_LOG2 - imin(size, PIECE_LOG2)) : c;
}

static int64_t convert_cost(const Places *p, Val *v, Lay want)
{
	if (!place_known(p, v) || lay_eq(place_lay(p, v), want)) return 0;
	int64_t c = cost_between(v->type, want, place_lay(p, v));
	return c < 0 ? INT32_MAX : c;
}

static Val *view_of(const Op *op) { return ir_in(op, 0); }

/* Bytes that lie beside elements of more bytes, in tiles of one shape: 8 of them a thread, which it stores at once,
 * where 16 would take two pieces of all that is wider, and ask for rows that are multiples of 16. */
enum { SHARED_RUN = 3 };

static bool shares_run(const Places *p, const Type *t)
{
	for (int i = 0; i < p->accessed.n; i++)
		if (elem_log2(p->accessed.p[i]->elem) > elem_log2(t->elem) && type_same_shape(p->accessed.p[i], t)) return true;
	return false;
}

Lay place_coalesced(const Places *p, const Op *op, const Type *t)
{
	int fast = t->rank == view_of(op)->type->rank ? fast_axis(p->fn, view_of(op)) : -1;
	if (p->overlap.type && fast == p->overlap.fast && type_same_shape(t, p->overlap.type)
		&& t->elem == p->overlap.type->elem) return lay_overlap(&p->overlap, p->threads);
	Threads all = p->threads;
	if (shares_run(p, t)) all.piece = imin(all.piece, SHARED_RUN + elem_log2(t->elem));
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
 * with some of a thread's elements adjacent along another axis, pieces on both sides of an exchange may be wide. */
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

static bool shares_layout(const Op *op)
{
	return op_rows[op->code].layout == LR_SAME || op->code == OP_SHIFT;
}

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

/* ---- forward ---- */
static void forward_end(Places *p, Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		Val *to = place_target(op, i);
		if (to && is_tile(to) && place_known(p, ir_in(op, i))) place_give(p, to, place_lay(p, ir_in(op, i)));
	}
}

/* Operations that meet the elements along an axis in their order, by the bits of registers, lanes and warps. */
static bool walks_axis(const Op *op) { return op_is_scan(op) || op->code == OP_SORT || op->code == OP_TOPK; }

void place_forward(Places *p, Op *op)
{
	Lay l;
	if (op_has(op, OPF_TERM)) {
		forward_end(p, op);
		return;
	}
	if (!op->nout || !is_tile(op->out[0])) return;
	Val *r = op->out[0], *x = op->nin ? ir_in(op, 0) : NULL;
	if (place_known(p, r)) return;
	if (walks_axis(op)) {
		bool (*walks)(const Op *, Lay) = op_is_scan(op) ? scan_walks : sort_walks;
		l = place_known(p, x) && walks(op, place_lay(p, x)) ? place_lay(p, x) : lay_scan(op, p->fn, p->threads);
		for (int i = 0; i < op->nout; i++) place_give(p, op->out[i], l);
		return;
	}
	if (op_is_reduce(op)) {
		if (op->code == OP_REDUCE) {
			Lay in = lay_neighbours(x->type, ir_axis(op), p->threads);
			for (int i = 0; i < op->nout; i++) place_give(p, op->out[i], lay_of_reduced(op, in));
		} else if (place_known(p, x)) {
			place_give(p, r, lay_of_reduced(op, place_lay(p, x)));
		}
		return;
	}
	switch (op->code) {
	case OP_MMA: place_give(p, r, mma_plan(op, lower_arch(p->cx, p->fn), p->threads.warps).c); return;
	case OP_RESHAPE: case OP_PERMUTE:
		if (place_known(p, x) && lay_of_moved(op, place_lay(p, x), &l)) place_give(p, r, l);
		return;
	case OP_CAT:
		if (place_known(p, x)) place_give(p, r, lay_cat(place_lay(p, x), ir_axis(op)));
		return;
	case OP_JOIN:
		if (place_known(p, x)) place_give(p, r, lay_of_pairs(place_lay(p, x)));
		return;
	case OP_SPLIT:
		if (!place_known(p, x)) return;
		place_give(p, r, lay_of_halves(place_lay(p, x)));
		place_give(p, op->out[1], lay_of_halves(place_lay(p, x)));
		return;
	case OP_TAKE:
		if (place_known(p, ir_in(op, 1))) place_give(p, r, place_lay(p, ir_in(op, 1)));
		return;
	case OP_HISTOGRAM: place_give(p, r, lay_default(r->type, -1, p->threads)); return;
	default:
		if (shares_layout(op) && best_operand(p, op, &l)) place_give(p, r, l);
	}
}

bool place_is_forced(const Val *v)
{
	return v->def && (v->def->code == OP_CAT || v->def->code == OP_JOIN || v->def->code == OP_SPLIT);
}

/* What a scan, a sort or a reduction with a function of the author's needs its operands to have. */
static Lay combined_operand(const Places *p, const Op *op)
{
	if (walks_axis(op)) return place_lay(p, op->out[0]);
	return lay_neighbours(ir_in(op, 0)->type, ir_axis(op), p->threads);
}

/* ---- backward ---- */
static void want(Places *p, Val *v, Lay l)
{
	v = place_home(v);
	if (!is_tile(v) || p->known[v->id] || place_is_forced(v)) return;
	if (v->def && v->def->code == OP_LOAD && !suits_memory(p, v->def, v->type, l))
		l = coalesced_for(p, v->def, v->type, l);
	place_give(p, v, l);
}

static void backward_inits(Places *p, Op *op)
{
	int skip = op->code == OP_FOR ? 3 : 0;
	for (int i = skip; i < op->nin; i++) {
		Val *to = op->region[0]->args.p[op->code == OP_FOR ? i - 2 : i];
		if (is_tile(to) && place_known(p, to)) want(p, ir_in(op, i), place_lay(p, to));
	}
}

static void backward_same(Places *p, Op *op)
{
	Lay l;
	if (op->nout && is_tile(op->out[0]) && place_known(p, op->out[0])) l = place_lay(p, op->out[0]);
	else if (op->nout || !best_operand(p, op, &l)) return;
	for (int i = 0; i < op->nin; i++)
		if (is_tile(ir_in(op, i))) want(p, ir_in(op, i), l);
}

/* May a store choose a layout before loads do? Not after a loop that loads tiles, nor what is left of the tiles by
 * reductions: that is stored as these leave it. */
static bool leads(const Places *p, const Op *op)
{
	return place_depth(op) >= p->deepest && type_log2_size(store_value(op)->type) >= p->largest;
}

void place_backward(Places *p, Op *op)
{
	Lay l;
	if (op_has(op, OPF_TERM)) {
		for (int i = 0; i < op->nin; i++) {
			Val *to = place_target(op, i);
			if (to && is_tile(to) && place_known(p, to)) want(p, ir_in(op, i), place_lay(p, to));
		}
		return;
	}
	Val *r = op->nout ? op->out[0] : NULL;
	bool set = r && is_tile(r) && place_known(p, r);
	switch (op->code) {
	case OP_FOR: case OP_WHILE: backward_inits(p, op); return;
	case OP_STORE:
		if (is_tile(store_value(op)) && !place_known(p, store_value(op)) && (p->placed_loads || leads(p, op)))
			want(p, store_value(op), place_coalesced(p, op, store_value(op)->type));
		return;
	case OP_BROADCAST:
		if (set && is_tile(ir_in(op, 0)) && lay_broadcast_operand(place_lay(p, r), ir_in(op, 0)->type, r->type, &l))
			want(p, ir_in(op, 0), l);
		return;
	case OP_RESHAPE: case OP_PERMUTE:
		if (set && is_tile(r) && lay_before_moved(op, place_lay(p, r), &l)) want(p, ir_in(op, 0), l);
		return;
	case OP_MMA: want(p, ir_in(op, 2), mma_plan(op, lower_arch(p->cx, p->fn), p->threads.warps).c); return;
	case OP_CAT: case OP_JOIN:
		if (place_known(p, ir_in(op, 0))) want(p, ir_in(op, 1), place_lay(p, ir_in(op, 0)));
		return;
	case OP_SPLIT:
		if (set) want(p, ir_in(op, 0), lay_of_pairs(place_lay(p, r)));
		return;
	case OP_TAKE:
		if (set) want(p, ir_in(op, 1), place_lay(p, r));
		return;
	default:
		if (walks_axis(op) && !set) return;
		if (walks_axis(op) || op->code == OP_REDUCE) {
			for (int i = 0; i < op->nin; i++)
				if (is_tile(ir_in(op, i))) want(p, ir_in(op, i), combined_operand(p, op));
		} else if (shares_layout(op)) {
			backward_same(p, op);
		}
	}
}

/* ---- what an operand must have ---- */
/* ---- conversions ---- */
bool place_needs(Places *p, const Op *op, int i, Lay *l)
{
	Val *v = ir_in(op, i), *r = op->nout ? op->out[0] : NULL;
	if (op_has(op, OPF_TERM)) {
		Val *to = place_target(op, i);
		if (to) *l = place_lay(p, to);
		return to != NULL;
	}
	switch (op->code) {
	case OP_FOR: *l = place_lay(p, op->region[0]->args.p[i - 2]); return true;
	case OP_WHILE: *l = place_lay(p, op->region[0]->args.p[i]); return true;
	case OP_STORE:
		*l = suits_memory(p, op, v->type, place_lay(p, v)) ? place_lay(p, v) : place_coalesced(p, op, v->type);
		return true;
	case OP_BROADCAST: return lay_broadcast_operand(place_lay(p, r), v->type, r->type, l);
	case OP_RESHAPE: case OP_PERMUTE: return lay_before_moved(op, place_lay(p, r), l);
	case OP_MMA:
		if (i == 2) *l = place_lay(p, r);
		return i == 2;
	case OP_CAT: case OP_JOIN: *l = place_lay(p, ir_in(op, 0)); return true;
	case OP_SPLIT: *l = lay_of_pairs(place_lay(p, r)); return true;
	case OP_TAKE:
		if (i == 1) *l = place_lay(p, r);
		return i == 1;
	default: break;
	}
	if (walks_axis(op) || op->code == OP_REDUCE) {
		*l = combined_operand(p, op);
		return true;
	}
	if (!shares_layout(op)) return false;
	if (r && is_tile(r)) *l = place_lay(p, r);
	else if (!best_operand(p, op, l)) return false;
	return true;
}
