/* layouts: a layout for every tile value.
 *
 * Each value starts without a layout. Two kinds of rules fill in: FORWARD, an operation gives its result the layout that
 * follows from its operands'; BACKWARD, an operand that is free takes the layout that its user wants. Free are the values
 * that any layout suits: constants, iota, broadcasts, loads, and what is computed from such alone. Products bring layouts of
 * their own, and so do scans of what has none that they can walk. When the rules come to rest, the largest load that is still
 * free gets the coalesced layout of its memory (then the largest other value), and the rules go on. A store gives what it
 * stores the coalesced layout from the start, but behind a loop that loads tiles only once all loads have theirs.
 *
 * Where operands of an elementwise operation disagree, it takes the one to which the others convert at least cost
 * (swz_convert_cost). A load takes the layout of its user instead of the coalesced one unless that costs more than
 * converting (lay_memory_cost); a store likewise. Carried values have one layout: that of the value carried round, else
 * the initial one. Afterwards each operand whose layout is not the one its user needs gets a `convert`; constants, iotas
 * and broadcasts of scalars are made again instead. */
#include <string.h>

#include "base/diag.h"
#include "base/worklist.h"
#include "layout/swz.h"
#include "lower/placed.h"

typedef struct Places {
	Fn *fn;
	const LowerCx *cx;
	Threads threads;
	int nval;
	Lay *lay;               /* by Val id */
	bool *known;
	bool changed;
	int deepest;            /* how many loops lie around the innermost load of a tile */
	bool placed_loads;      /* all loads have layouts */
	Overlap overlap;        /* loads that overlap */
	VEC(Op *) ops;          /* in pre-order */
	/* A rule looks only at the values that its op touches, so it says nothing new before one of them got a layout: the
	 * places in `ops` where FORWARD, BACKWARD, or a loop's initial values are to be asked again. */
	Worklist forward, backward, inits;
	int *first_user, *users;        /* who touches a value: places in `ops`, those of value i from first_user[i] on */
	int nchoice;
	Val **choice;           /* values that may be given a layout when nothing gives them one, the best to begin with first */
} Places;

bool op_is_reduce(const Op *op) { return (op_rows[op->code].flags & OPF_REDUCE) != 0 && op_rows[op->code].form != FORM_PLACED; }
bool op_is_scan(const Op *op) { return (op_rows[op->code].flags & OPF_SCAN) != 0; }
bool op_is_atomic(const Op *op) { return strncmp(op_rows[op->code].name, "atomic_", 7) == 0; }

static bool is_tile(const Val *v) { return type_is_tile(v->type); }

/* Results of loops stand for the arguments that carry them. */
static Val *home(Val *v)
{
	while (v->fwd) v = v->fwd;
	if (v->def && v->def->code == OP_FOR) return v->def->region[0]->args.p[v->index + 1];
	if (v->def && v->def->code == OP_WHILE) return v->def->region[1]->args.p[v->index];
	return v;
}

static bool has(const Places *p, Val *v) { return p->known[home(v)->id]; }
static Lay lay_of(const Places *p, Val *v) { return p->lay[home(v)->id]; }

static void give(Places *p, Val *v, Lay l)
{
	v = home(v);
	if (!is_tile(v) || p->known[v->id]) return;
	if (!lay_ok(l)) bug("%%%d gets no layout", v->id);
	p->lay[v->id] = l;
	p->known[v->id] = p->changed = true;
	for (int i = p->first_user[v->id]; i < p->first_user[v->id + 1]; i++) {
		int at = p->users[i];
		worklist_add(&p->forward, at);
		worklist_add(&p->backward, at);
		if (p->ops.p[at]->code == OP_FOR || p->ops.p[at]->code == OP_WHILE) worklist_add(&p->inits, at);
	}
}

static int depth_of(const Op *op)       /* loops around it */
{
	int n = 0;
	for (const Op *o = op->parent->owner; o; o = o->parent->owner) n += o->code == OP_FOR || o->code == OP_WHILE;
	return n;
}

/* ---- where the values of a block's end go ---- */
static Op *around(const Op *op, bool loop)
{
	for (Op *o = op->parent->owner; o; o = o->parent->owner)
		if (loop ? o->code == OP_FOR || o->code == OP_WHILE : o->code == OP_SCOPE_) return o;
	bug("`%s` outside of what it leaves", op_rows[op->code].name);
}

/* The value that operand i of an end becomes; NULL: none (the condition itself, the scalars of a region). */
static Val *target(const Op *end, int i)
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
static int64_t convert_cost(const Places *p, Val *v, Lay want)
{
	if (!has(p, v) || lay_eq(lay_of(p, v), want)) return 0;
	int c = swz_convert_cost(want, lay_of(p, v), elem_log2(v->type->elem));
	return c < 0 ? INT32_MAX : c;
}

static Val *view_of(const Op *op) { return ir_in(op, 0); }

/* The axis along which an access takes the tiles of several tile blocks (pair.c); -1: it takes one. */
static int tiles_axis(const Fn *fn, const Op *op, const Type *t)
{
	for (int a = 0; fn->tiles && t->rank == view_of(op)->type->rank && a < t->rank; a++)
		if (t->log2[a] && ir_in(op, 1 + a)->def && ir_in(op, 1 + a)->def->code == OP_BID) return a;
	return -1;
}

/* Each thread has the same elements of all of them, as if it had those of one. */
static Lay coalesced_tiles(const Places *p, const Type *t, int fast, int axis)
{
	uint8_t one[TILE_RANK];
	for (int a = 0; a < t->rank; a++) one[a] = a == axis ? 0 : t->log2[a];
	return lay_push(lay_default(type_tile(t->elem, t->rank, one), fast, p->threads), HW_REG, axis, t->log2[axis]);
}

static Lay coalesced(const Places *p, const Op *op, const Type *t)
{
	int tiles = tiles_axis(p->fn, op, t);
	if (tiles >= 0) return coalesced_tiles(p, t, fast_axis(p->fn, view_of(op)), tiles);
	int fast = t->rank == view_of(op)->type->rank ? fast_axis(p->fn, view_of(op)) : -1;
	if (p->overlap.type && fast == p->overlap.fast && type_same_shape(t, p->overlap.type) && t->elem == p->overlap.type->elem)
		return lay_overlap(&p->overlap, p->threads);
	return lay_default(t, fast, p->threads);
}

/* Whether a load or store moves its tile in layout l for no more than its own layout and a conversion cost. */
static bool suits_memory(const Places *p, const Op *op, const Type *t, Lay l)
{
	Lay own = coalesced(p, op, t);
	int fast = fast_axis(p->fn, view_of(op));
	if (lay_eq(own, l) || t->rank != view_of(op)->type->rank || t->rank == 0) return true;
	int convert = swz_convert_cost(l, own, elem_log2(t->elem));
	return convert < 0 || lay_memory_cost(l, t->elem, fast) <= lay_memory_cost(own, t->elem, fast) + convert;
}

/* Of the layouts that are as good for memory as the coalesced one, that from which the tile becomes `to` at least cost: with
 * some of a thread's elements adjacent along another axis, pieces on both sides of an exchange may be wide. */
static Lay coalesced_for(const Places *p, const Op *op, const Type *t, Lay to)
{
	Lay best = coalesced(p, op, t);
	if (t->rank != view_of(op)->type->rank || p->overlap.type) return best;
	int fast = fast_axis(p->fn, view_of(op)), size = elem_log2(t->elem), cost = swz_convert_cost(to, best, size);
	int64_t most = lay_memory_cost(best, t->elem, fast);
	for (int a = 0; a < t->rank; a++) {
		if (a == fast || !t->log2[a]) continue;
		Lay l = lay_overlap(&(Overlap){ .type = t, .axes = 1u << a, .fast = fast }, p->threads);
		int c = swz_convert_cost(to, l, size);
		if (c < 0 || (cost >= 0 && c >= cost) || lay_memory_cost(l, t->elem, fast) > most) continue;
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
		if (!is_tile(v) || !has(p, v)) continue;
		Lay cand = lay_of(p, v);
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
		Val *to = target(op, i);
		if (to && is_tile(to) && has(p, ir_in(op, i))) give(p, to, lay_of(p, ir_in(op, i)));
	}
}

static void forward(Places *p, Op *op)
{
	Lay l;
	if (op_rows[op->code].flags & OPF_TERM) {
		forward_end(p, op);
		return;
	}
	if (!op->nout || !is_tile(op->out[0])) return;
	Val *r = op->out[0], *x = op->nin ? ir_in(op, 0) : NULL;
	if (has(p, r)) return;
	if (op_is_scan(op)) {
		l = has(p, x) && scan_walks(op, lay_of(p, x)) ? lay_of(p, x) : lay_scan(op, p->fn, p->threads);
		for (int i = 0; i < op->nout; i++) give(p, op->out[i], l);
		return;
	}
	if (op_is_reduce(op)) {
		if (op->code == OP_REDUCE) {
			Lay in = lay_neighbours(x->type, (int)ir_int(op, AT_AXIS, 0), p->threads);
			for (int i = 0; i < op->nout; i++) give(p, op->out[i], lay_of_reduced(op, in));
		} else if (has(p, x)) {
			give(p, r, lay_of_reduced(op, lay_of(p, x)));
		}
		return;
	}
	switch (op->code) {
	case OP_MMA: give(p, r, mma_plan(op, lower_arch(p->cx, p->fn), p->threads.warps).c); return;
	case OP_RESHAPE: case OP_PERMUTE:
		if (has(p, x) && lay_of_moved(op, lay_of(p, x), &l)) give(p, r, l);
		return;
	case OP_CAT:
		if (has(p, x)) give(p, r, lay_cat(lay_of(p, x), (int)ir_int(op, AT_AXIS, 0)));
		return;
	case OP_JOIN:
		if (has(p, x)) give(p, r, lay_of_pairs(lay_of(p, x)));
		return;
	case OP_SPLIT:
		if (!has(p, x)) return;
		give(p, r, lay_of_halves(lay_of(p, x)));
		give(p, op->out[1], lay_of_halves(lay_of(p, x)));
		return;
	case OP_TAKE:
		if (has(p, ir_in(op, 1))) give(p, r, lay_of(p, ir_in(op, 1)));
		return;
	case OP_SORT: case OP_TOPK: case OP_HISTOGRAM:
		for (int i = 0; i < op->nout; i++) give(p, op->out[i], lay_default(r->type, -1, p->threads));
		return;
	default:
		if (shares_layout(op) && best_operand(p, op, &l)) give(p, r, l);
	}
}

/* The result's layout follows from the operands' in one way only. */
static bool is_forced(const Val *v)
{
	return v->def && (v->def->code == OP_CAT || v->def->code == OP_JOIN || v->def->code == OP_SPLIT);
}

/* What a scan or a reduction with a function of the author's needs its operands to have. */
static Lay combined_operand(const Places *p, const Op *op)
{
	if (op_is_scan(op)) return lay_of(p, op->out[0]);
	return lay_neighbours(ir_in(op, 0)->type, (int)ir_int(op, AT_AXIS, 0), p->threads);
}

/* ---- backward ---- */
static void want(Places *p, Val *v, Lay l)
{
	v = home(v);
	if (!is_tile(v) || p->known[v->id] || is_forced(v)) return;
	if (v->def && v->def->code == OP_LOAD && !suits_memory(p, v->def, v->type, l)) l = coalesced_for(p, v->def, v->type, l);
	give(p, v, l);
}

static void backward_inits(Places *p, Op *op)
{
	int skip = op->code == OP_FOR ? 3 : 0;
	for (int i = skip; i < op->nin; i++) {
		Val *to = op->region[0]->args.p[op->code == OP_FOR ? i - 2 : i];
		if (is_tile(to) && has(p, to)) want(p, ir_in(op, i), lay_of(p, to));
	}
}

static void backward_same(Places *p, Op *op)
{
	Lay l;
	if (op->nout && is_tile(op->out[0]) && has(p, op->out[0])) l = lay_of(p, op->out[0]);
	else if (op->nout || !best_operand(p, op, &l)) return;
	for (int i = 0; i < op->nin; i++)
		if (is_tile(ir_in(op, i))) want(p, ir_in(op, i), l);
}

static void backward(Places *p, Op *op)
{
	Lay l;
	if (op_rows[op->code].flags & OPF_TERM) {
		for (int i = 0; i < op->nin; i++) {
			Val *to = target(op, i);
			if (to && is_tile(to) && has(p, to)) want(p, ir_in(op, i), lay_of(p, to));
		}
		return;
	}
	Val *r = op->nout ? op->out[0] : NULL;
	bool set = r && is_tile(r) && has(p, r);
	switch (op->code) {
	case OP_FOR: case OP_WHILE: backward_inits(p, op); return;
	case OP_STORE:
		if (is_tile(store_value(op)) && !has(p, store_value(op)) && (p->placed_loads || depth_of(op) >= p->deepest))
			want(p, store_value(op), coalesced(p, op, store_value(op)->type));
		return;
	case OP_BROADCAST:
		if (set && is_tile(ir_in(op, 0)) && lay_broadcast_operand(lay_of(p, r), ir_in(op, 0)->type, r->type, &l))
			want(p, ir_in(op, 0), l);
		return;
	case OP_RESHAPE: case OP_PERMUTE:
		if (set && is_tile(r) && lay_before_moved(op, lay_of(p, r), &l)) want(p, ir_in(op, 0), l);
		return;
	case OP_MMA: want(p, ir_in(op, 2), mma_plan(op, lower_arch(p->cx, p->fn), p->threads.warps).c); return;
	case OP_CAT: case OP_JOIN:
		if (has(p, ir_in(op, 0))) want(p, ir_in(op, 1), lay_of(p, ir_in(op, 0)));
		return;
	case OP_SPLIT:
		if (set) want(p, ir_in(op, 0), lay_of_pairs(lay_of(p, r)));
		return;
	case OP_TAKE:
		if (set) want(p, ir_in(op, 1), lay_of(p, r));
		return;
	default:
		if (op_is_scan(op) && !set) return;
		if (op_is_scan(op) || op->code == OP_REDUCE) {
			for (int i = 0; i < op->nin; i++)
				if (is_tile(ir_in(op, i))) want(p, ir_in(op, i), combined_operand(p, op));
		} else if (shares_layout(op)) {
			backward_same(p, op);
		}
	}
}

/* ---- who touches what ---- */
static void note_value(Places *p, Val *v, int at, int *n)
{
	if (!v || !is_tile(v)) return;
	int id = home(v)->id;
	if (p->users) p->users[--n[id]] = at;
	else n[id]++;
}

static void note_op(Places *p, int at, int *n)
{
	const Op *op = p->ops.p[at];
	bool end = (op_rows[op->code].flags & OPF_TERM) != 0;
	for (int i = 0; i < op->nin; i++) {
		note_value(p, ir_in(op, i), at, n);
		if (end) note_value(p, target(op, i), at, n);
	}
	for (int i = 0; i < op->nout; i++) note_value(p, op->out[i], at, n);
	for (int r = 0; r < op->nregion; r++)
		for (int i = 0; i < op->region[r]->args.n; i++) note_value(p, op->region[r]->args.p[i], at, n);
}

/* Counts the touches of each value, then files them: behind the counts, from the last to the first. */
static void find_users(Places *p)
{
	int *n = NEW_ARRAY(A_TMP, int, p->nval + 1);
	p->users = NULL;
	for (int i = 0; i < p->ops.n; i++) note_op(p, i, n);
	for (int i = 0; i < p->nval; i++) n[i + 1] += n[i];
	p->users = NEW_ARRAY(A_TMP, int, n[p->nval]);
	for (int i = p->ops.n - 1; i >= 0; i--) note_op(p, i, n);
	p->first_user = n;
}

/* ---- rest ---- */
/* The first loop, in the text, that carries a value without a layout takes the one of the value it starts with. */
static bool take_init(Places *p, Op *op)
{
	bool is_for = op->code == OP_FOR;
	for (int i = is_for ? 3 : 0; i < op->nin; i++) {
		Val *to = op->region[0]->args.p[is_for ? i - 2 : i];
		if (!is_tile(to) || has(p, to) || !has(p, ir_in(op, i))) continue;
		give(p, to, lay_of(p, ir_in(op, i)));
		return true;
	}
	return false;
}

static void take_one_init(Places *p)
{
	for (int i; (i = worklist_next(&p->inits, 0)) >= 0; worklist_remove(&p->inits, i))
		if (take_init(p, p->ops.p[i])) return;
}

/* Rules go over the ops in rounds, down and up again: what is given to an op that this round has yet to come by counts in
 * it already. */
static void settle(Places *p)
{
	do {
		p->changed = false;
		for (int i = 0; (i = worklist_next(&p->forward, i)) >= 0; i++) {
			worklist_remove(&p->forward, i);
			forward(p, p->ops.p[i]);
		}
		for (int i = p->ops.n - 1; (i = worklist_prev(&p->backward, i)) >= 0; i--) {
			worklist_remove(&p->backward, i);
			backward(p, p->ops.p[i]);
		}
		if (!p->changed) take_one_init(p);
	} while (p->changed);
}

/* The free value to begin with: loads before others, the largest first, then the first in the text. A broadcast may wait
 * for its user, so it comes last. */
enum { KINDS = 3, KIND_RANKS = 64 };
static int rank_of(const Val *v)
{
	int size = type_log2_size(v->type), kind = 1;
	if (v->def && v->def->code == OP_LOAD) kind = 2;
	if (v->def && (v->def->code == OP_CONST || v->def->code == OP_BROADCAST)) kind = 0;
	return kind * KIND_RANKS + size;
}

static void consider(Places *p, Val *v, int *n)
{
	if (!is_tile(v) || home(v) != v || is_forced(v)) return;
	int before = KINDS * KIND_RANKS - 1 - rank_of(v);
	if (p->choice) p->choice[n[before]++] = v;
	else n[before + 1]++;
}

static void consider_all(Places *p, int *n)
{
	for (int i = 0; i < p->ops.n; i++) {
		Op *op = p->ops.p[i];
		for (int k = 0; k < op->nout; k++) consider(p, op->out[k], n);
		for (int r = 0; r < op->nregion; r++)
			for (int k = 0; k < op->region[r]->args.n; k++) consider(p, op->region[r]->args.p[k], n);
	}
}

static void order_choices(Places *p)    /* sorted by counting: how many come before a rank */
{
	int n[KINDS * KIND_RANKS + 1] = { 0 };
	p->choice = NULL;
	consider_all(p, n);
	for (int i = 0; i < KINDS * KIND_RANKS; i++) n[i + 1] += n[i];
	p->nchoice = n[KINDS * KIND_RANKS];
	p->choice = NEW_ARRAY(A_TMP, Val *, p->nchoice);
	consider_all(p, n);
}

/* What is stored in fewer loops than tiles are loaded in waits for them: a store after a loop must not choose for the loop. */
static void ask_stores(Places *p)
{
	p->placed_loads = true;
	worklist_fill(&p->backward);
	settle(p);
}

static void give_all(Places *p)
{
	p->placed_loads = false;
	worklist_fill(&p->forward);
	worklist_fill(&p->backward);
	settle(p);
	for (int i = 0; i < p->nchoice; i++) {
		Val *v = p->choice[i];
		bool load = v->def && v->def->code == OP_LOAD;
		if (!load && !p->placed_loads) ask_stores(p);
		if (has(p, v)) continue;
		if (load) give(p, v, coalesced(p, v->def, v->type));
		else give(p, v, lay_default(v->type, -1, p->threads));
		settle(p);
	}
	if (!p->placed_loads) ask_stores(p);
}

/* ---- conversions ---- */
static bool needs(Places *p, const Op *op, int i, Lay *l)
{
	Val *v = ir_in(op, i), *r = op->nout ? op->out[0] : NULL;
	if (op_rows[op->code].flags & OPF_TERM) {
		Val *to = target(op, i);
		if (to) *l = lay_of(p, to);
		return to != NULL;
	}
	switch (op->code) {
	case OP_FOR: *l = lay_of(p, op->region[0]->args.p[i - 2]); return true;
	case OP_WHILE: *l = lay_of(p, op->region[0]->args.p[i]); return true;
	case OP_STORE:
		*l = suits_memory(p, op, v->type, lay_of(p, v)) ? lay_of(p, v) : coalesced(p, op, v->type);
		return true;
	case OP_BROADCAST: return lay_broadcast_operand(lay_of(p, r), v->type, r->type, l);
	case OP_RESHAPE: case OP_PERMUTE: return lay_before_moved(op, lay_of(p, r), l);
	case OP_MMA:
		if (i == 2) *l = lay_of(p, r);
		return i == 2;
	case OP_CAT: case OP_JOIN: *l = lay_of(p, ir_in(op, 0)); return true;
	case OP_SPLIT: *l = lay_of_pairs(lay_of(p, r)); return true;
	case OP_TAKE:
		if (i == 1) *l = lay_of(p, r);
		return i == 1;
	default: break;
	}
	if (op_is_scan(op) || op->code == OP_REDUCE) {
		*l = combined_operand(p, op);
		return true;
	}
	if (!shares_layout(op)) return false;
	if (r && is_tile(r)) *l = lay_of(p, r);
	else if (!best_operand(p, op, l)) return false;
	return true;
}

static bool is_cheap(const Val *v)
{
	if (!v->def) return false;
	OpCode c = v->def->code;
	return c == OP_CONST || c == OP_IOTA || (c == OP_LITERAL && !v->def->nin)
		|| (c == OP_BROADCAST && !is_tile(ir_in(v->def, 0)));
}

static Val *in_layout(Val *v, Lay l, Op *before)
{
	Builder b = build_before(before);
	Val *r;
	if (is_cheap(v)) {
		Op *d = v->def;
		b.span = d->span;
		r = ir_op1(&b, d->code, v->type, d->nin, d->in);
		copy_attrs(r->def, d);
	} else {
		r = ir_unary(&b, OP_CONVERT, v->type, v);
	}
	r->name = v->name;
	ir_set_layout(r, l);
	return r;
}

static void fix_operands(Places *p, Op *op)
{
	Lay l, now;
	for (int i = 0; i < op->nin; i++) {
		Val *v = ir_in(op, i);
		if (!is_tile(v) || !needs(p, op, i, &l)) continue;
		now = v->lay ? *v->lay : lay_of(p, v);
		if (lay_eq(now, l)) continue;
		const Op *made = op->prev;      /* the same operand twice: one conversion */
		bool again = made && made->code == OP_CONVERT && ir_in(made, 0) == v && lay_eq(*made->out[0]->lay, l);
		op->in[i] = again ? made->out[0] : in_layout(v, l, op);
	}
}

/* ---- clusters ---- */
/* Does little enough leave the warps when op reduces? */
static bool reduces_apart(const Op *op, Lay l)
{
	uint32_t v[LAY_BITS];
	int n, axis = (int)ir_int(op, AT_AXIS, 0);
	Lay left = lay_reduced(l, axis, 2, &n, v);
	if (!lay_combines_simply(l, axis)) return false;
	if (!left.out[axis]) return true;
	/* in a loop all warps send in each round: so none is two rounds behind another */
	if (op->parent->owner && lay_hwcoord(left, lay_free(left), HW_WARP)) return false;
	return lay_outbits(left) <= CLUSTER_SENT;
}

static bool scans_apart(const Op *op, Lay l)
{
	ScanPlan plan;
	return scan_plan(l, (int)ir_int(op, AT_AXIS, 0), &plan) && (plan.warps == plan.n || lay_outbits(plan.totals) <= CLUSTER_SENT);
}

static bool stays_apart(Places *p, int cluster)
{
	Lay l;
	for (int i = 0; i < p->ops.n; i++) {
		Op *op = p->ops.p[i];
		if (op_is_scan(op) && !scans_apart(op, lay_of(p, op->out[0]))) return false;
		if (op_is_reduce(op) && !reduces_apart(op, lay_of(p, ir_in(op, 0)))) return false;
		for (int k = 0; op_is_reduce(op) && k < op->nout; k++)
			if (!lay_in_block(lay_of_reduced(op, lay_of(p, ir_in(op, 0))), lay_of(p, op->out[k]), cluster)) return false;
		for (int k = 0; k < op->nin; k++) {
			Val *v = ir_in(op, k);
			if (is_tile(v) && needs(p, op, k, &l) && !lay_eq(lay_of(p, v), l) && !is_cheap(v)) return false;
		}
	}
	return true;
}

/* ---- the pass ---- */
static void collect(void *ctx, Op *op)
{
	Places *p = ctx;
	vec_push(A_TMP, &p->ops, op);
}

static void write_layouts(Places *p, Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (is_tile(op->out[i])) ir_set_layout(op->out[i], lay_of(p, op->out[i]));
	for (int r = 0; r < op->nregion; r++)
		for (int k = 0; k < op->region[r]->args.n; k++)
			if (is_tile(op->region[r]->args.p[k])) ir_set_layout(op->region[r]->args.p[k], lay_of(p, op->region[r]->args.p[k]));
}

/* A loop's own number of copies for the architecture takes the place of the one for all. */
static void choose_unroll(Places *p)
{
	for (int i = 0; i < p->ops.n; i++) {
		const IrAttr *on = ir_attr(p->ops.p[i], AT_UNROLL_ON);
		int arch = on ? lower_arch(p->cx, p->fn) : 0;
		for (int k = 0; on && k + 1 < on->u.ints.n; k += 2) {
			if (on->u.ints.p[k] != arch) continue;
			ir_set_int(p->ops.p[i], AT_UNROLL, on->u.ints.p[k + 1]);
			break;
		}
	}
}

static void place_fn(Fn *fn, const LowerCx *cx)
{
	Places p = { .fn = fn, .cx = cx };
	int sliced = fn->warps, cluster = sliced ? log2_of(fn->cluster ? fn->cluster : 1) : choose_cluster(fn, cx);
	if (cx->o->level > 0) p.overlap = overlap_of(fn);
	p.nval = fn->nval;
	ir_walk(fn->body, collect, &p);
	for (int i = 0; i < p.ops.n; i++)
		if (p.ops.p[i]->code == OP_LOAD && is_tile(p.ops.p[i]->out[0]) && depth_of(p.ops.p[i]) > p.deepest)
			p.deepest = depth_of(p.ops.p[i]);
	p.forward = worklist_new(A_TMP, p.ops.n);
	p.backward = worklist_new(A_TMP, p.ops.n);
	p.inits = worklist_new(A_TMP, p.ops.n);
	choose_unroll(&p);
	if (ir_has_hint(fn, "occupancy")) lower_arch(cx, fn);   /* read where the kernel is printed */
	find_users(&p);
	order_choices(&p);
	for (;; cluster = 0) {
		if (sliced) p.threads.warps = log2_of(sliced);         /* pass slice chose its slices for them */
		else p.threads.warps = cluster ? CLUSTER_WARPS + cluster + spare_warps(fn, cluster) : choose_warps(fn, cx);
		p.threads.lanes = p.threads.warps || ir_hint(fn, "warps", 0) > 0 ? LANES_LOG2 : pack_lanes(fn);
		p.threads.piece = fn->by_element ? 0 : PIECE_LOG2;
		p.threads.blocks = cluster && !sliced && has_loop(fn) ? cluster : 0;
		p.lay = NEW_ARRAY(A_TMP, Lay, fn->nval);
		p.known = NEW_ARRAY(A_TMP, bool, fn->nval);
		give_all(&p);
		if (!cluster || stays_apart(&p, cluster)) break;
	}
	for (int i = 0; i < p.ops.n; i++) write_layouts(&p, p.ops.p[i]);
	for (int i = 0; i < p.ops.n; i++) fix_operands(&p, p.ops.p[i]);
	fn->stage = STAGE_PLACED;
	fn->arch = cx->target_arch;
	fn->warps = 1 << p.threads.warps;
	fn->lanes = p.threads.lanes < LANES_LOG2 ? 1 << p.threads.lanes : 0;
	fn->cluster = cluster ? 1 << cluster : 0;
	fn->alternate = p.threads.blocks > 0;
}

void pass_layouts(Module *m, const LowerCx *cx)
{
	for (int i = 0; i < m->fns.n; i++) place_fn(m->fns.p[i], cx);
}
