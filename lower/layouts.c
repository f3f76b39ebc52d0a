/* layouts: a layout for every tile value.
 *
 * Each value starts without a layout. Two kinds of rules fill in: FORWARD, an operation gives its result the layout
 * that follows from its operands'; BACKWARD, an operand that is free takes the layout that its user wants. Free are the
 * values that any layout suits: constants, iota, broadcasts, loads, and what is computed from such alone. Products
 * bring layouts of their own, and so do scans of what has none that they can walk. When the rules come to rest, the
 * largest load that is still free gets the coalesced layout of its memory (then the largest other value), and the rules
 * go on. A store gives what it stores the coalesced layout from the start, but after a loop that loads tiles only once
 * all loads have theirs.
 *
 * Where operands of an elementwise operation disagree, it takes the one to which the others convert at least cost
 * (swz_convert_cost). A load takes the layout of its user instead of the coalesced one unless that costs more than
 * converting (lay_memory_cost); a store likewise. Carried values have one layout: that of the value carried round, else
 * the initial one. Afterwards each operand whose layout is not the one its user needs gets a `convert`; constants,
 * iotas and broadcasts of scalars are made again instead. */
#include "base/diag.h"
#include "lower/layouts.h"

static bool is_tile(const Val *v) { return type_is_tile(v->type); }

Val *place_home(Val *v)
{
	while (v->fwd) v = v->fwd;
	if (v->def && v->def->code == OP_FOR) return v->def->region[0]->args.p[v->index + 1];
	if (v->def && v->def->code == OP_WHILE) return v->def->region[1]->args.p[v->index];
	return v;
}

bool place_known(const Places *p, Val *v) { return p->known[place_home(v)->id]; }
Lay place_lay(const Places *p, Val *v) { return p->lay[place_home(v)->id]; }

void place_give(Places *p, Val *v, Lay l)
{
	v = place_home(v);
	if (!is_tile(v) || p->known[v->id]) return;
	if (!lay_ok(l)) bug("%%%d gets no layout", v->id);
	p->lay[v->id] = l;
	p->known[v->id] = p->changed = true;
	for (int i = p->first_user[v->id]; i < p->first_user[v->id + 1]; i++) {
		int at = p->users[i];
		worklist_add(&p->forward, at);
		worklist_add(&p->backward, at);
		if (op_has(p->ops.p[at], OPF_LOOP)) worklist_add(&p->inits, at);
	}
}

int place_depth(const Op *op)
{
	int n = 0;
	for (const Op *o = op->parent->owner; o; o = o->parent->owner) n += op_has(o, OPF_LOOP);
	return n;
}

/* ---- who touches what ---- */
static void note_value(Places *p, Val *v, int at, int *n)
{
	if (!v || !is_tile(v)) return;
	int id = place_home(v)->id;
	if (p->users) p->users[--n[id]] = at;
	else n[id]++;
}

static void note_op(Places *p, int at, int *n)
{
	const Op *op = p->ops.p[at];
	bool end = op_has(op, OPF_TERM);
	for (int i = 0; i < op->nin; i++) {
		note_value(p, ir_in(op, i), at, n);
		if (end) note_value(p, place_target(op, i), at, n);
	}
	for (int i = 0; i < op->nout; i++) note_value(p, op->out[i], at, n);
	for (int r = 0; r < op->nregion; r++)
		for (int i = 0; i < op->region[r]->args.n; i++) note_value(p, op->region[r]->args.p[i], at, n);
}

/* Counts the touches of each value, then files them: after the counts, from the last to the first. */
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
/* The first loop, in program order, that carries a value without a layout takes the one of the value it starts with. */
static bool take_init(Places *p, Op *op)
{
	bool is_for = op->code == OP_FOR;
	for (int i = is_for ? 3 : 0; i < op->nin; i++) {
		Val *to = op->region[0]->args.p[is_for ? i - 2 : i];
		if (!is_tile(to) || place_known(p, to) || !place_known(p, ir_in(op, i))) continue;
		place_give(p, to, place_lay(p, ir_in(op, i)));
		return true;
	}
	return false;
}

static void take_one_init(Places *p)
{
	for (int i; (i = worklist_next(&p->inits, 0)) >= 0; worklist_remove(&p->inits, i))
		if (take_init(p, p->ops.p[i])) return;
}

/* Rules go over the ops in iterations, down and up again: what is given to an op that this iteration has yet to come
 * by counts in it already. */
static void settle(Places *p)
{
	do {
		p->changed = false;
		for (int i = 0; (i = worklist_next(&p->forward, i)) >= 0; i++) {
			worklist_remove(&p->forward, i);
			place_forward(p, p->ops.p[i]);
		}
		for (int i = p->ops.n - 1; (i = worklist_prev(&p->backward, i)) >= 0; i--) {
			worklist_remove(&p->backward, i);
			place_backward(p, p->ops.p[i]);
		}
		if (!p->changed) take_one_init(p);
	} while (p->changed);
}

/* The free value to begin with: loads before others, the largest first, then the first in program order. A broadcast
 * may wait for its user, so it comes last. */
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
	if (!is_tile(v) || place_home(v) != v || place_is_forced(v)) return;
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

/* What is stored in fewer loops than tiles are loaded in waits for them: a store after a loop must
 * not choose for the loop. */
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
		if (place_known(p, v)) continue;
		if (load) place_give(p, v, place_coalesced(p, v->def, v->type));
		else place_give(p, v, lay_default(v->type, -1, p->threads));
		settle(p);
	}
	if (!p->placed_loads) ask_stores(p);
}

/* ---- conversions ---- */
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
		if (!is_tile(v) || !place_needs(p, op, i, &l)) continue;
		now = v->lay ? *v->lay : place_lay(p, v);
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
	int n, axis = ir_axis(op);
	Lay left = lay_reduced(l, axis, 2, &n, v);
	if (!lay_combines_simply(l, axis)) return false;
	if (!left.out[axis]) return true;
	/* in a loop all warps send in each iteration, so no two of them are more than one iteration apart */
	if (op->parent->owner && lay_hwcoord(left, lay_free(left), HW_WARP)) return false;
	return lay_outbits(left) <= COST_CLUSTER_SENT;
}

static bool scans_apart(const Op *op, Lay l)
{
	ScanPlan plan;
	return scan_plan(l, ir_axis(op), &plan) && (plan.warps == plan.n || lay_outbits(plan.totals) <= COST_CLUSTER_SENT);
}

static bool stays_apart(Places *p, int cluster)
{
	Lay l;
	for (int i = 0; i < p->ops.n; i++) {
		Op *op = p->ops.p[i];
		if (op_is_scan(op) && !scans_apart(op, place_lay(p, op->out[0]))) return false;
		if (op_is_reduce(op) && !reduces_apart(op, place_lay(p, ir_in(op, 0)))) return false;
		for (int k = 0; op_is_reduce(op) && k < op->nout; k++)
			if (!lay_in_block(lay_of_reduced(op, place_lay(p, ir_in(op, 0))), place_lay(p, op->out[k]), cluster))
				return false;
		for (int k = 0; k < op->nin; k++) {
			Val *v = ir_in(op, k);
			if (is_tile(v) && place_needs(p, op, k, &l) && !lay_eq(place_lay(p, v), l) && !is_cheap(v)) return false;
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
		if (is_tile(op->out[i])) ir_set_layout(op->out[i], place_lay(p, op->out[i]));
	for (int r = 0; r < op->nregion; r++)
		for (int k = 0; k < op->region[r]->args.n; k++)
			if (is_tile(op->region[r]->args.p[k]))
				ir_set_layout(op->region[r]->args.p[k], place_lay(p, op->region[r]->args.p[k]));
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

static void note_access(Places *p, const Op *op)
{
	const Val *v = ir_accessed(op);
	int k = 0;
	if (!v || !is_tile(v)) return;
	bool known = (op->code == OP_LOAD || op->code == OP_STORE) && v->type->rank == ir_in(op, 0)->type->rank;
	Accessed a = { v->type, known ? fast_axis(p->fn, ir_in(op, 0)) : -1 };
	while (k < p->accessed.n && (p->accessed.p[k].t != a.t || p->accessed.p[k].fast != a.fast)) k++;
	if (k == p->accessed.n) vec_push(A_TMP, &p->accessed, a);
	if (op->code != OP_LOAD) return;
	if (place_depth(op) > p->deepest) p->deepest = place_depth(op);
	if (type_log2_size(v->type) > p->largest) p->largest = type_log2_size(v->type);
}

static void place_fn(Fn *fn, const LowerCx *cx)
{
	Places p = { .fn = fn, .cx = cx };
	int sliced = fn->warps, cluster = sliced ? log2_of(fn->cluster ? fn->cluster : 1) : choose_cluster(fn, cx);
	if (cx->o->level > 0) p.overlap = overlap_of(fn);
	p.nval = fn->nval;
	ir_walk(fn->body, collect, &p);
	for (int i = 0; i < p.ops.n; i++) note_access(&p, p.ops.p[i]);
	p.forward = worklist_new(A_TMP, p.ops.n);
	p.backward = worklist_new(A_TMP, p.ops.n);
	p.inits = worklist_new(A_TMP, p.ops.n);
	choose_unroll(&p);
	if (ir_has_hint(fn, "occupancy")) lower_arch(cx, fn);   /* read where the kernel is printed */
	find_users(&p);
	order_choices(&p);
	for (;; cluster = 0) {
		if (sliced) p.threads.warps = log2_of(sliced);         /* pass strip chose its slices for them */
		else p.threads.warps = cluster ? COST_CLUSTER_WARPS + cluster + spare_warps(fn, cluster, cx) :
			choose_warps(fn, cx);
		p.threads.lanes = p.threads.warps || ir_hint(fn, "warps", 0) > 0 ? LANES_LOG2 : pack_lanes(fn);
		p.threads.piece = fn->by_element ? 0 : VECTOR_LOG2;
		fn->by_warp &= !sliced;
		fn->short_rows &= !sliced;
		p.threads.apart = fn->by_warp;
		p.threads.blocks = cluster && !sliced && has_loop(fn) ? cluster : 0;
		p.lay = NEW_ARRAY(A_TMP, Lay, fn->nval);
		p.known = NEW_ARRAY(A_TMP, bool, fn->nval);
		give_all(&p);
		if (!cluster || stays_apart(&p, cluster)) break;
		bool again = strip_whole(fn, cx) != NULL;      /* then nothing of what is known here holds any longer */
		LowerCx own = *cx;
		own.alone = true;
		if ((!sliced || again) && (strip_alone(fn, &own) || again)) {
			place_fn(fn, &own);
			return;
		}
	}
	for (int i = 0; i < p.ops.n; i++) write_layouts(&p, p.ops.p[i]);
	for (int i = 0; i < p.ops.n; i++) fix_operands(&p, p.ops.p[i]);
	fn->stage = STAGE_PLACED;
	fn->arch = cx->target_arch;
	fn->warps = 1 << p.threads.warps;
	fn->lanes = p.threads.lanes < LANES_LOG2 ? 1 << p.threads.lanes : 0;
	fn->cluster = cluster ? 1 << cluster : 0;
	fn->alternate = p.threads.blocks > 0;
	fn->by_warp &= p.threads.warps > 0;
	fn->short_rows &= p.threads.lanes > 0;
}

void pass_layouts(Module *m, const LowerCx *cx)
{
	for (int i = 0; i < m->fns.n; i++) place_fn(m->fns.p[i], cx);
}
