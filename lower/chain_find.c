/* Which loops of chained products a pipeline of roles serves.
 *
 * The loop counts iterations from 0. Its products have a level: 0 where both factors are loads, 1 where the first one
 * follows from products of level 0 of the same iteration. A product of level 0 begins a sum of its own; that of level
 * 1 is carried to the next iteration, where operations on registers may change it (scale it) before it is added to. So
 * the next iteration's products of level 0 need nothing of this iteration's level 1, and both may run at once.
 *
 * Factors in memory are loads of whole tiles that feed products alone, of 16-bit elements, of tensors that the
 * kernel only reads: those of each iteration, and those from before the loop, which are held. Tile blocks that differ
 * in what is held, along one axis of the grid, share what iterations load. */
#include "base/diag.h"
#include "ir/rules.h"
#include "lower/chain.h"

static const Type *tile_of(const Val *v) { return type_is_tile(v->type) ? v->type : NULL; }
static IrBlock *body_of(const Chain *c) { return c->loop->region[0]; }

static bool is_number(const Val *v, int64_t n)
{
	Num x;
	return ir_const_value(v, &x) && x.i == n && x.f == 0;
}

static bool is_zero(const Val *v) { return is_number(v, 0); }

static bool is_transposition(const Op *op)
{
	const IrAttr *axes = op && op->code == OP_PERMUTE && type_is_tile(op->out[0]->type) ? ir_attr(op, AT_AXES) : NULL;
	return axes && axes->u.ints.n == 2 && axes->u.ints.p[0] == 1;
}

/* ---- where accesses lie ---- */
static const Sym *known(const Val *v)
{
	Num n;
	v = rule_kept(v);
	if (v->def && v->def->code == OP_LAUNCH) return ir_attr(v->def, AT_SYM)->u.sym;
	return ir_const_value(v, &n) && type_is_scalar(v->type) ? sym_const(n.i) : NULL;
}

static Val *narrow(Val *v)
{
	while (v->def && v->def->code == OP_CAST && v->type->elem == EL_I64) v = ir_in(v->def, 0);
	return v->type->elem == EL_I32 ? v : NULL;
}

/* One term of a view's offset: an index times the stride of an axis that the view has not. */
static bool add_term(const IrParam *p, Val *term, unsigned taken, ChainPlace *r)
{
	const Op *mul = term->def && term->def->code == OP_MUL ? term->def : NULL;
	for (int i = 0; mul && i < 2; i++) {
		const Sym *stride = known(ir_in(mul, i));
		Val *index = narrow(ir_in(mul, 1 - i));
		for (int a = 0; stride && index && a < p->rank; a++)
			if (!(taken >> a & 1) && !r->at[a] && p->stride[a] == stride) {
				r->at[a] = index;
				return true;
			}
	}
	return is_zero(term);
}

static bool add_offset(const IrParam *p, Val *v, unsigned taken, ChainPlace *r)
{
	bool sum = v->def && v->def->code == OP_ADD;
	if (!sum) return add_term(p, v, taken, r);
	return add_offset(p, ir_in(v->def, 0), taken, r) && add_offset(p, ir_in(v->def, 1), taken, r);
}

/* The copy engine fills and cuts off at the tensor's end: the view must end there, too. */
static int find_axis(const IrParam *p, const Sym *extent, const Sym *stride, unsigned taken)
{
	for (int a = p->rank - 1; a >= 0; a--)
		if (!(taken >> a & 1) && p->stride[a] == stride && p->extent[a] == extent) return a;
	return -1;
}

/* Of a slice whose index may lie outside of the tensor the extent is `select(inside, extent, 0)`: the copy engine
 * finds zeros there, too. */
static const Op *asks_inside(const Val *extent)
{
	const Op *op = extent->def;
	return op && op->code == OP_SELECT && is_zero(ir_in(op, 2)) ? op : NULL;
}

static bool is_index(const IrParam *p, const ChainPlace *r, Val *v, const Val *end)
{
	const Val *index = narrow(v);
	for (int a = 0; a < p->rank && index; a++)
		if (r->at[a] == index) return !end || known(end) == p->extent[a];
	return false;
}

static bool says_inside(const IrParam *p, const ChainPlace *r, const Val *cond)
{
	const Op *op = cond->def;
	if (!op) return false;
	switch (op->code) {
	case OP_AND: return says_inside(p, r, ir_in(op, 0)) && says_inside(p, r, ir_in(op, 1));
	case OP_GE: return is_zero(ir_in(op, 1)) && is_index(p, r, ir_in(op, 0), NULL);
	case OP_LT: return is_index(p, r, ir_in(op, 0), ir_in(op, 1));
	default: return false;
	}
}

static const Sym *known_extent(const Val *v)
{
	const Op *asks = asks_inside(v);
	return known(asks ? ir_in(asks, 1) : v);
}

static bool of_slice(const Fn *fn, const Op *view, ChainPlace *r)
{
	const Val *from = ir_in(view, 0);
	if (from->def || from->block != fn->body) return false;
	const IrParam *p = &fn->params.p[from->index];
	unsigned taken = 0;
	r->param = from->index;
	for (int a = 0; a < 2; a++) {
		r->axis[a] = find_axis(p, known_extent(ir_in(view, 2 + a)), known(ir_in(view, 4 + a)), taken);
		if (r->axis[a] < 0) return false;
		taken |= 1u << r->axis[a];
	}
	if (!add_offset(p, ir_in(view, 1), taken, r)) return false;
	for (int a = 0; a < 2; a++) {
		const Op *asks = asks_inside(ir_in(view, 2 + a));
		if (asks && !says_inside(p, r, ir_in(asks, 0))) return false;
	}
	return true;
}

static bool of_view(const Fn *fn, const Val *view, ChainPlace *r)
{
	if (!view->def && view->block == fn->body) {
		*r = (ChainPlace){ .param = view->index, .axis = { 0, 1 } };
		return true;
	}
	if (!view->def || view->type->rank != 2) return false;
	if (view->def->code == OP_VIEW) return of_slice(fn, view->def, r);
	if (view->def->code != OP_PERMUTE || !of_view(fn, ir_in(view->def, 0), r)) return false;
	const IrAttr *axes = ir_attr(view->def, AT_AXES);
	ChainPlace from = *r;
	for (int a = 0; a < 2; a++) r->axis[a] = from.axis[axes->u.ints.p[a]];
	return true;
}

bool chain_place_of(const Fn *fn, const Op *access, ChainPlace *p)
{
	const Val *view = ir_in(access, 0);
	*p = (ChainPlace){ .param = -1 };
	if (view->type->kind != TY_VIEW || view->type->rank != 2 || !ir_attr(access, AT_STEPS)) return false;
	for (int a = 0; a < 2; a++)
		if (ir_in(access, 1 + a)->type->elem != EL_I32) return false;
	return of_view(fn, view, p);
}

/* ---- loads ---- */
const ChainLoad *chain_load_of(const Chain *c, const Op *op)
{
	for (int i = 0; i < c->loads; i++)
		if (c->load[i].op == op) return &c->load[i];
	return NULL;
}

const ChainProduct *chain_product_of(const Chain *c, const Op *op)
{
	for (int i = 0; i < c->products; i++)
		if (c->product[i].op == op) return &c->product[i];
	return NULL;
}

static bool is_copied(const Fn *fn, const Op *op, ChainPlace *place)
{
	const Type *t = tile_of(op->out[0]);
	if (!t || t->rank != 2 || (t->elem != EL_F16 && t->elem != EL_BF16)) return false;
	return is_zero(ir_in(op, op->nin - 1)) && chain_place_of(fn, op, place) && fn->params.p[place->param].mode == PM_IN;
}

/* The load of a factor, perhaps transposed; false: it is none. */
static bool add_load(Chain *c, const Op *product, int i, int level, ChainFactor *f)
{
	Val *v = ir_in(product, i);
	int depth_axis = 1 - i;
	if (is_transposition(v->def)) v = ir_in(v->def, 0), depth_axis = i;
	Op *op = v->def;
	ChainLoad l = { .op = op };
	if (!op || op->code != OP_LOAD || !is_copied(c->fn, op, &l.place)) return false;
	bool held = op->parent == c->fn->body;
	if (!held && op->parent != body_of(c)) return false;
	l.ring = held ? RING_HELD : level ? RING_SECOND : RING_FIRST;
	int fast = unit_axis(c->fn, ir_in(op, 0), 1) ? 1 : 0;
	if (!unit_axis(c->fn, ir_in(op, 0), fast)) return false;
	l.transposed = !fast;
	l.differs = i == 0;
	f->mn_major = fast != depth_axis;
	for (f->load = 0; f->load < c->loads; f->load++)
		if (c->load[f->load].op == op)
			return c->load[f->load].ring == l.ring && c->load[f->load].differs == l.differs;
	if (c->loads == CHAIN_LOADS) return false;
	c->load[c->loads++] = l;
	return true;
}

/* ---- products ---- */
static int level_of(const Chain *c, const Val *v, int depth)
{
	const ChainProduct *r = v->def ? chain_product_of(c, v->def) : NULL;
	int most = r ? r->level + 1 : 0;
	if (r || !v->def || v->def->parent != body_of(c) || !depth) return most;
	for (int i = 0; i < v->def->nin; i++) {
		int n = level_of(c, ir_in(v->def, i), depth - 1);
		if (n > most) most = n;
	}
	return most;
}

enum { DEPTH = 24 };    /* operations from one product to the next */

static bool add_product(Chain *c, Op *op)
{
	const Type *t = op->out[0]->type;
	if (c->products == CHAIN_PRODUCTS || t->rank != 2 || t->elem != EL_F32) return false;
	if (t->log2[0] != CHAIN_ROWS_LOG2) return false;
	ChainProduct r = { .op = op, .level = level_of(c, ir_in(op, 0), DEPTH), .carried = -1 };
	if (t->log2[1] < 4 || t->log2[1] > 8 || r.level > 1) return false;
	const Type *a = ir_in(op, 0)->type, *b = ir_in(op, 1)->type;
	if (a->elem != b->elem || a->log2[1] < 4 || a->log2[1] > 8) return false;
	if (!add_load(c, op, 1, r.level, &r.b) || c->load[r.b.load].ring == RING_HELD) return false;
	if (r.level) {
		r.a.load = -1;
		if (a->elem != EL_F16 && a->elem != EL_BF16) return false;
	} else if (!add_load(c, op, 0, 0, &r.a) || c->load[r.a.load].ring != RING_HELD || !is_zero(ir_in(op, 2))) {
		return false;
	}
	c->product[c->products++] = r;
	return true;
}

bool chain_is_vector(const Chain *c, const Op *op)
{
	(void)c;
	if (op->nregion) return false;
	if (op->code == OP_LOAD) return type_is_tile(op->out[0]->type) && ir_in(op, 0)->type->kind == TY_VIEW;
	if (op_is_reduce(op))
		return op->nout == 1 && op->out[0]->type->rank == ir_in(op, 0)->type->rank && ir_axis(op) == 1;
	if (op->code == OP_RESHAPE) return type_is_tile(ir_in(op, 0)->type) && type_is_tile(op->out[0]->type);
	return op->code == OP_LAUNCH || (op_has(op, OPF_POINTWISE) && op->code != OP_PERMUTE);
}

/* Its first result is the carried value that the next iteration's sum is made of. */
static bool find_sum(const Chain *c, ChainProduct *r)
{
	const IrBlock *b = body_of(c);
	int uses = 0;
	for (const Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++) {
			if (ir_in(op, i) != r->op->out[0]) continue;
			if (op != b->last) return false;
			r->carried = i;
			uses++;
		}
	return uses == 1;
}

/* Values that need a sum of level 1 go into those products alone, and around the loop. */
static bool find_late(Chain *c)
{
	const IrBlock *b = body_of(c);
	for (int i = 0; i < c->products; i++)
		if (c->product[i].level) c->late[b->args.p[1 + c->product[i].carried]->id] = true;
	for (const Op *op = b->first; op != b->last; op = op->next) {
		const ChainProduct *r = chain_product_of(c, op);
		bool late = false;
		for (int i = 0; i < op->nin; i++) {
			bool needs = c->late[ir_in(op, i)->id];
			if (needs && r && !(r->level && i == 2)) return false;
			late |= needs;
		}
		for (int i = 0; i < op->nout && late && !r; i++) c->late[op->out[i]->id] = true;
	}
	for (int i = 0; i < b->last->nin; i++)
		if (c->late[ir_in(b->last, i)->id]) return false;
	return true;
}

/* ---- the loop ---- */
static bool is_factor(const Chain *c, const Op *op) { return chain_load_of(c, op) || is_transposition(op); }

static bool is_factor_only(const Chain *c, const Val *v)
{
	for (const Op *op = body_of(c)->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++) {
			if (ir_in(op, i) != v) continue;
			bool factor = chain_product_of(c, op) && i < 2;
			if (is_transposition(op) ? !is_factor_only(c, op->out[0]) : !factor) return false;
		}
	for (const Op *op = c->fn->body->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++)
			if (ir_in(op, i) == v) return false;
	return true;
}

static bool look_at_loop(Chain *c)
{
	IrBlock *b = body_of(c);
	if (b->args.p[0]->type->elem != EL_I32 || b->last->code != OP_YIELD || b->args.n - 1 > CHAIN_CARRIED) return false;
	if (!is_zero(ir_in(c->loop, 0)) || !is_number(ir_in(c->loop, 2), 1)) return false;
	for (Op *op = b->first; op; op = op->next)
		if (op->code == OP_MMA && !add_product(c, op)) return false;
	bool chained = false;
	for (int i = 0; i < c->products; i++) {
		ChainProduct *r = &c->product[i];
		chained |= r->level;
		if (r->level && !find_sum(c, r)) return false;
	}
	if (!chained || !find_late(c)) return false;
	for (int i = 0; i < c->loads; i++)
		if (!is_factor_only(c, c->load[i].op->out[0])) return false;
	for (const Op *op = b->first; op != b->last; op = op->next)
		if (!chain_product_of(c, op) && !is_factor(c, op) && !chain_is_vector(c, op)) return false;
	return true;
}

/* ---- the grid ---- */
static void depend_through(Chain *c, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		unsigned axes = op->code == OP_BID ? 1u << ir_axis(op) : 0;
		for (int i = 0; i < op->nin; i++) axes |= c->axes[ir_in(op, i)->id];
		for (int i = 0; i < op->nregion; i++) {
			for (int k = 1; k < op->region[i]->args.n; k++) c->axes[op->region[i]->args.p[k]->id] |= axes;
			depend_through(c, op->region[i]);
			for (int k = 0; k < op->region[i]->last->nin; k++) axes |= c->axes[ir_in(op->region[i]->last, k)->id];
		}
		for (int i = 0; i < op->nout; i++) c->axes[op->out[i]->id] |= axes;
	}
}

static unsigned axes_of(const Chain *c, const Op *op)
{
	unsigned axes = 0;
	for (int i = 0; i < op->nin; i++) axes |= c->axes[ir_in(op, i)->id];
	return axes;
}

/* Neighbours along the axis have the next rows of what is held. */
static bool steps_rows(const Chain *c, const ChainLoad *l, int axis)
{
	const Val *index = ir_in(l->op, 1);
	const IrAttr *steps = ir_attr(l->op, AT_STEPS);
	bool counted = index->def && index->def->code == OP_BID && ir_axis(index->def) == axis;
	bool sides = steps->u.ints.p[0] == type_extent(l->op->out[0]->type, 0);
	return counted && sides && !l->transposed && !(c->axes[ir_in(l->op, 2)->id] >> axis & 1);
}

static bool is_row_axis(const Chain *c, int axis)
{
	bool some = false;
	for (int i = 0; i < c->loads; i++) {
		const ChainLoad *l = &c->load[i];
		if (l->ring == RING_HELD) {
			if (l->differs && !steps_rows(c, l, axis)) return false;
			some |= l->differs;
		} else if (axes_of(c, l->op) >> axis & 1) {
			return false;
		}
	}
	return some;
}

static bool look_at_grid(Chain *c)
{
	depend_through(c, c->fn->body);
	depend_through(c, c->fn->body);         /* what a later iteration depends on by what an earlier one carries */
	for (int a = 0; a < c->fn->ngrid && c->row_axis < 0; a++)
		if (is_row_axis(c, a)) c->row_axis = a;
	if (c->row_axis < 0) return false;
	c->ragged = c->axes[ir_in(c->loop, 1)->id] >> c->row_axis & 1;
	return true;
}

/* ---- what stands around it ---- */
static bool is_around(const Chain *c, const Op *op)
{
	if (op == c->loop || op->code == OP_RETURN || op->code == OP_BID || is_factor(c, op)) return true;
	if (op->code == OP_STORE) return type_is_tile(ir_in(op, op->nin - 1)->type);
	if (op->code == OP_VIEW || op->code == OP_PERMUTE) return op->out[0]->type->kind == TY_VIEW;
	return chain_is_vector(c, op);
}

/* What the kernel stores it does not load: a store may be a copy in the background. */
static bool loads_stored(const Fn *fn)
{
	for (int i = 0; i < fn->params.n; i++)
		if (fn->params.p[i].is_tensor && fn->params.p[i].mode == PM_INOUT) return true;
	return false;
}

bool chain_find(Chain *c, Fn *fn)
{
	*c = (Chain){ .fn = fn, .row_axis = -1 };
	for (Op *op = fn->body->first; op; op = op->next) {
		if (op->code != OP_FOR) continue;
		if (c->loop) return false;
		c->loop = op;
	}
	if (!c->loop || fn->ordered || loads_stored(fn)) return false;
	ir_number(fn);
	c->axes = NEW_ARRAY(A_TMP, unsigned, fn->nval);
	c->late = NEW_ARRAY(A_TMP, bool, fn->nval);
	if (!look_at_loop(c) || !look_at_grid(c)) return false;
	for (const Op *op = fn->body->first; op; op = op->next)
		if (!is_around(c, op)) return false;
	return true;
}
