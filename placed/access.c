/* How threads access memory; see access.h. */
#include "placed/access.h"

#include "base/diag.h"
#include "ir/monoid.h"
#include "ir/rules.h"

/* ---- global memory ---- */
bool index_never_below(const Val *v)
{
	Num n;
	if (ir_const_value(v, &n)) return n.i >= 0;
	if (!v->def) {
		const Op *o = v->block ? v->block->owner : NULL;
		return o && o->code == OP_FOR && v->index == 0 && index_never_below(ir_in(o, 0));
	}
	return v->def->code == OP_BID || (rule_keeps(v->def) && index_never_below(ir_in(v->def, 0)));
}

static int64_t number_of(const Op *op, AttrKey key, int a, int64_t dflt)
{
	const IrAttr *s = ir_attr(op, key);
	return s ? s->u.ints.p[a] : dflt;
}

static void plan_origin(AccessPlan *x, const Op *op)
{
	const IrAttr *inside = ir_attr(op, AT_INSIDE);
	for (int a = 0; a < x->rank; a++) {
		x->step[a] = number_of(op, AT_STEPS, a, 1);
		/* several loads in one: each has offsets of its own, which their patch holds */
		x->offset[a] = op->code == OP_LOADS ? 0 : number_of(op, AT_OFFSETS, a, 0);
		x->proved[a] = inside && inside->u.ints.p[a] == INSIDE_WHOLE;
		x->near[a] = inside && inside->u.ints.p[a] == INSIDE_NEAR;
		bool below = op->code == OP_LOADS || !x->near[a] ? !index_never_below(ir_in(op, 1 + a)) : false;
		x->low[a] = below || x->offset[a] < 0;
	}
}

/* Do tiles of an access surely begin between multiples of n elements along an axis? What an index adds to a multiple
 * counts like {offsets}. */
static bool begins_between(const Op *op, const AccessPlan *x, int axis, int64_t n)
{
	const Val *v = ir_in(op, 1 + axis);
	int64_t step = x->step[axis], offset = x->offset[axis];
	Num k;
	if (v->def && (v->def->code == OP_ADD || v->def->code == OP_SUB) && ir_const_value(ir_in(v->def, 1), &k)) {
		offset += (v->def->code == OP_ADD ? 1 : -1) * (int64_t)(k.i % n) * (step % n);
		v = ir_in(v->def, 0);
	}
	if (ir_const_value(v, &k)) return (offset + k.i % n * (step % n)) % n != 0;
	return access_multiple(v) * (step & -step) % n == 0 && offset % n != 0;
}

AccessPlan access_plan(const Op *op, const Val *data, bool rotated)
{
	const Val *view = ir_in(op, 0);
	const Fn *fn = op->parent->fn;
	AccessPlan x = { .rank = view->type->rank, .fast = -1, .rotated_axis = -1, .shifted_axis = -1 };
	plan_origin(&x, op);
	if (!data) return x;
	x.l = data->lay ? *data->lay : lay_single(x.rank, fn_threads(fn));
	for (int a = x.rank - 1; a >= 0 && x.fast < 0; a--)
		if (data->lay && x.l.out[a] && unit_axis(fn, view, a)) x.fast = a;
	int most = 4 - elem_log2(view->type->elem);
	x.vec = x.fast < 0 ? 0 : lay_run(x.l, x.fast, x.bit);
	if (x.vec > most) x.vec = most;
	for (int a = 0; a < x.rank && rotated && data->lay; a++)
		if (x.l.out[a]) x.rotated_axis = a;
	if (ir_int(op, AT_SHIFTED, 0)) {
		x.shifted_axis = x.fast;
		x.low[x.fast] = true;
	}
	bool one = x.rotated_axis < 0 && op->code != OP_LOADS;
	while (one && x.vec > 0 && begins_between(op, &x, x.fast, (int64_t)1 << x.vec)) x.vec--;
	return x;
}

/* ---- element by element ---- */
enum { INDEX_DEPTH = 12, ANY_STEP = -1 };       /* operations that make an index tile, at most */

/* By how much an integer grows along an axis of its tile from one element to the next, within aligned groups of
 * 2^*span; where it wraps, the element before lies outside of any tensor. */
static int index_step(const Val *v, int axis, int *span, int depth);

static int step_of_moved(const Op *op, int axis, int *span, int depth)
{
	const Val *x = ir_in(op, 0);
	const Type *from = x->type, *to = op->out[0]->type;
	int below = 0, sum = 0;
	for (int a = to->rank - 1; a > axis; a--) below += to->log2[a];
	for (int a = from->rank - 1; a >= 0; sum += from->log2[a--]) {
		if (sum != below || !from->log2[a]) continue;
		if (from->log2[a] < *span) *span = from->log2[a];
		return index_step(x, a, span, depth);
	}
	return to->log2[axis] ? ANY_STEP : 0;
}

static int step_of_broadcast(const Op *op, int axis, int *span, int depth)
{
	const Val *x = ir_in(op, 0);
	if (!type_is_tile(x->type)) return 0;
	int a = axis - (op->out[0]->type->rank - x->type->rank);
	return a < 0 || !x->type->log2[a] ? 0 : index_step(x, a, span, depth);
}

static int step_of_sum(const Op *op, int axis, int *span, int depth)
{
	int x = index_step(ir_in(op, 0), axis, span, depth), y = index_step(ir_in(op, 1), axis, span, depth);
	if (x == ANY_STEP || y == ANY_STEP) return ANY_STEP;
	if (op->code == OP_ADD) return x + y <= 1 ? x + y : ANY_STEP;
	return op->code == OP_SUB && !y ? x : x || y ? ANY_STEP : 0;
}

static int index_step(const Val *v, int axis, int *span, int depth)
{
	const Op *op = v->def;
	if (!type_is_tile(v->type) || !v->type->log2[axis]) return 0;
	if (!op || !depth) return ANY_STEP;
	switch (op->code) {
	case OP_CONST: return 0;
	case OP_IOTA: return 1;
	case OP_RESHAPE: return step_of_moved(op, axis, span, depth - 1);
	case OP_BROADCAST: return step_of_broadcast(op, axis, span, depth - 1);
	case OP_PERMUTE: return index_step(ir_in(op, 0), (int)ir_attr(op, AT_AXES)->u.ints.p[axis], span, depth - 1);
	case OP_ADD: case OP_SUB: return step_of_sum(op, axis, span, depth - 1);
	case OP_CONVERT: case OP_CONVERT_REGS: case OP_CONVERT_LANES:
		return index_step(ir_in(op, 0), axis, span, depth - 1);
	default: break;
	}
	if (op->nout != 1 || !op_has(op, OPF_ELEMWISE)) return ANY_STEP;
	for (int i = 0; i < op->nin; i++)
		if (index_step(ir_in(op, i), axis, span, depth - 1)) return ANY_STEP;
	return 0;
}

/* Sums of f32 that nobody asks for again: hardware has them for several neighbours. */
static bool has_pieces(const Op *op)
{
	if (op->code == OP_GATHER || op->code == OP_SCATTER) return true;
	return op->code == OP_ATOMIC_RMW && !op->nout && ir_in(op, 0)->type->elem == EL_F32
		&& ir_int(op, AT_RMW, 0) == attr_word(AT_RMW, str_intern("add"))
		&& ir_int(op, AT_ORDER, 0) == attr_word(AT_ORDER, str_intern("relaxed"));
}

ElementsPlan elements_plan(const Op *op, const Val *like)
{
	ElementsPlan p = { .fast = -1 };
	const Val *view = ir_in(op, 0);
	if (view->def && view->def->code == OP_PRIVATE) return p;       /* in shared memory */
	if (!has_pieces(op) || view->type->kind != TY_VIEW || !type_is_tile(like->type) || !like->lay) return p;
	int rank = view->type->rank, t = like->type->rank - 1;
	for (int a = rank - 1; a >= 0 && p.fast < 0; a--)
		if (unit_axis(op->parent->fn, view, a)) p.fast = a;
	while (t >= 0 && !like->lay->out[t]) t--;
	if (p.fast < 0 || t < 0) return p;
	int span = lay_run(*like->lay, t, p.bit), most = 4 - elem_log2(view->type->elem);
	if (span > most) span = most;
	for (int a = 0; a < rank && span > 0; a++)
		if (index_step(ir_in(op, 1 + a), t, &span, INDEX_DEPTH) != (a == p.fast)) return p;
	p.vec = span > 0 ? span : 0;
	return p;
}

/* ---- updates that go to one place ---- */
OpCode update_combine(const Op *op)
{
	static const OpCode by[] = { OP_ADD, OP_ADD, OP_MIN, OP_MAX, OP_AND, OP_OR, OP_XOR };
	int64_t how = ir_int(op, AT_RMW, 0);    /* what is subtracted adds up */
	return how < (int64_t)(sizeof by / sizeof *by) ? by[how] : OP_COUNT;
}

bool shared_swaps(Elem e) { return elem_is_any_float(e) || elem_bytes(e) > 4; }

bool update_swaps(const Op *op)
{
	const Val *view = ir_in(op, 0);
	if (op->code != OP_ATOMIC_RMW || !view->def || view->def->code != OP_PRIVATE) return false;
	return shared_swaps(view->type->elem);
}

Num update_identity(const Op *op, Elem e) { return monoid_identity(monoid_reduction(update_combine(op)), e, false); }

/* Sums of 16 bits round too often to be added in another order. */
static bool may_combine(const Op *op)
{
	if (op->code != OP_ATOMIC_RMW || ir_in(op, 0)->type->kind != TY_VIEW || ir_attr(op, AT_STEPS)) return false;
	const Type *view = ir_in(op, 0)->type;
	if (op->nin != 2 + view->rank || !type_is_tile(ir_in(op, 1 + view->rank)->type)) return false;
	if (ir_int(op, AT_ORDER, 0) != attr_word(AT_ORDER, str_intern("relaxed"))) return false;
	return update_combine(op) != OP_COUNT && !(elem_is_any_float(view->elem) && elem_bytes(view->elem) < 4);
}

/* Is an index known to differ between neighbours along this axis of the tiles? */
static bool steps_along(const Op *op, int axis)
{
	int span = 32;
	for (int i = 1; i < op->nin - 1; i++)
		if (type_is_tile(ir_in(op, i)->type) && index_step(ir_in(op, i), axis, &span, INDEX_DEPTH) == 1) return true;
	return false;
}

bool updates_combine(const Op *op, const int *uses)
{
	if (!may_combine(op) || (op->nout && uses[op->out[0]->id])) return false;
	const Type *t = ir_in(op, op->nin - 1)->type;
	for (int a = 0; a < t->rank; a++)
		if (t->log2[a] && !steps_along(op, a)) return true;
	return false;
}

ElementsRun elements_run(const Op *op)
{
	ElementsRun run = { 0, 0 };
	if (op->nout || !may_combine(op)) return run;
	const Val *x = ir_in(op, op->nin - 1);
	Lay l = *x->lay;
	uint32_t copies = lay_hwcoord(l, lay_free(l), HW_REG);
	for (int i = 0; i < l.in[HW_REG]; i++) {
		uint32_t col = l.col[lay_first(l, HW_REG) + i];
		bool apart = copies >> i & 1;
		for (int a = 0; a < x->type->rank && !apart; a++) apart = lay_coord(l, col, a) && steps_along(op, a);
		if (apart) continue;
		run.bits |= (uint32_t)1 << i;
		run.log2++;
	}
	return run;
}

/* Do lanes count elements along the only axis, and the registers of *regs those below them? */
static bool lanes_follow(Lay l, int axis, uint32_t *regs)
{
	uint32_t below = 1;
	int n = 0;
	*regs = 0;
	for (int i = 0; i < l.in[HW_REG]; i++) {
		if (lay_coord(l, l.col[lay_first(l, HW_REG) + i], axis) != below) continue;
		*regs |= (uint32_t)1 << i;
		below <<= 1;
		n++;
	}
	for (int i = 0; i < l.in[HW_LANE]; i++, below <<= 1)
		if (lay_coord(l, l.col[lay_first(l, HW_LANE) + i], axis) != below) return false;
	return n >= COST_JOINED && l.in[HW_LANE] == LANES_LOG2;
}

/* Lanes compare places of 32 bits; none of theirs is like ~lane, which stands for no place. */
static bool joins_at(const Val *index)
{
	return type_is_tile(index->type) && index->type->elem != EL_U32 && elem_bytes(index->type->elem) <= 4;
}

uint32_t update_joins(const Op *op)
{
	ElementsRun run = elements_run(op);
	const Val *view = ir_in(op, 0);
	uint32_t regs = 0;
	if (run.log2 < COST_JOINED || (view->def && view->def->code == OP_PRIVATE) || view->type->rank != 1) return 0;
	const Val *x = ir_in(op, op->nin - 1);
	int axis = type_only_axis(x->type);
	if (axis < 0 || elem_bytes(x->type->elem) < 4 || !joins_at(ir_in(op, 1))) return 0;
	return lanes_follow(*x->lay, axis, &regs) && (regs & run.bits) == regs ? regs : 0;
}

int64_t sym_multiple(const Sym *s)
{
	int64_t r = 1, v;
	if (sym_is_const(s, &v)) return v ? v & -v : (int64_t)1 << 32;
	if (s->kind == SYM_MUL)
		for (int i = 0; i < s->n; i++)
			if (r < (int64_t)1 << 31) r *= sym_multiple(s->arg[i]) < 1 << 16 ? sym_multiple(s->arg[i]) : 1 << 16;
	if (s->kind == SYM_ADD) {
		r = (int64_t)1 << 32;
		for (int i = 0; i < s->n; i++)
			if (sym_multiple(s->arg[i]) < r) r = sym_multiple(s->arg[i]);
	}
	return r;
}

bool keeps_multiples(const Op *op)
{
	return rule_keeps(op) || (op->code == OP_CAST && !ir_int(op, AT_OVERFLOW, 0));
}

int64_t access_multiple(const Val *v)
{
	Num n;
	if (!elem_is_int(v->type->elem)) return 1;
	if (ir_const_value(v, &n)) return n.i ? n.i & -n.i : (int64_t)1 << 32;
	if (v->def && (v->def->code == OP_MUL || v->def->code == OP_ADD || v->def->code == OP_SUB)) {
		int64_t x = access_multiple(ir_in(v->def, 0)), y = access_multiple(ir_in(v->def, 1));
		int64_t r = v->def->code != OP_MUL ? (x < y ? x : y)
			: (x < 1 << 16 ? x : 1 << 16) * (y < 1 << 16 ? y : 1 << 16);
		return r < 1 << 16 ? r : 1 << 16;
	}
	if (v->def && v->def->code == OP_LAUNCH) return sym_multiple(ir_attr(v->def, AT_SYM)->u.sym);
	if (v->def && keeps_multiples(v->def)) return access_multiple(ir_in(v->def, 0));
	return 1;
}

int64_t access_origin_multiple(const Op *op, const AccessPlan *x, int a)
{
	int64_t step = x->step[a], least = step & -step, index = access_multiple(ir_in(op, 1 + a));
	return (least < 1 << 16 ? least : 1 << 16) * (index < 1 << 16 ? index : 1 << 16);
}

uint32_t vector_bits(const uint8_t *bit, int vec)
{
	uint32_t m = 0;
	for (int i = 0; i < vec; i++) m |= (uint32_t)1 << bit[i];
	return m;
}

uint32_t vector_reg(const uint8_t *bit, int vec, uint32_t k)
{
	uint32_t m = 0;
	for (int i = 0; i < vec; i++)
		if (k >> i & 1) m |= (uint32_t)1 << bit[i];
	return m;
}

int64_t rotated_rows(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_PHASE) return ir_int(op, AT_NUMBER, 0);
	return 0;
}

/* ---- shared memory ---- */
SharedPlan shared_plan(Lay reg, Lay smem, Elem e)
{
	SharedPlan s;
	if (!lay_solve(smem, reg, &s.map)) bug("a buffer lacks elements");
	s.vec = lay_run(s.map, LAY_HWAXIS(HW_OFF), s.bit);
	while (s.vec + elem_log2(e) > 4) s.vec--;
	return s;
}

/* ---- loads that overlap ---- */
static bool is_wanted(const PatchPlan *r, int row, int col)
{
	int at = 0, size = 1;
	for (int a = r->p.rank - 1; a >= 0; a--) {
		int c = col;
		if (a != r->row) c = row % r->p.ext[a], row /= r->p.ext[a];
		at += c * size;
		size *= r->p.ext[a];
	}
	return r->p.want[at];
}

static void add_piece(PatchPlan *r, int row, int at, int log2)
{
	int i = 0;
	while (i < r->n && (r->piece[i].at != at || r->piece[i].log2 != log2)) i++;
	if (i == r->n) r->piece[r->n++] = (PatchPiece){ at, log2, 0 };
	r->piece[i].rows |= (uint64_t)1 << row;
}

/* The part of a row of 2^log2 elements that begins `from` elements from the thread's first. */
static void cut(PatchPlan *r, int row, int64_t from, int log2)
{
	int n = 0, ext = r->p.ext[r->row];
	int64_t at = from - r->p.lo[r->row];
	for (int k = 0; k < 1 << log2; k++) n += at + k >= 0 && at + k < ext && is_wanted(r, row, (int)(at + k));
	if (n == 0) return;
	if (n == 1 << log2) {
		add_piece(r, row, (int)at, log2);
		return;
	}
	cut(r, row, from, log2 - 1);
	cut(r, row, from + ((int64_t)1 << (log2 - 1)), log2 - 1);
}

void patch_cut(PatchPlan *r, int log2)
{
	int64_t lo = r->p.lo[r->row], size = (int64_t)1 << log2, first = lo - ((lo % size) + size) % size;
	r->n = 0;
	for (int row = 0; row < r->nrow; row++)
		for (int64_t from = first; from < lo + r->p.ext[r->row]; from += size) cut(r, row, from, log2);
}

PatchPlan patch_plan(const Op *op)
{
	const Val *view = ir_in(op, 0);
	Lay l = *op->out[0]->lay;
	PatchPlan r = { .n = 0 };
	int rank = view->type->rank, fast = -1, size = 1, most = 4 - elem_log2(view->type->elem);
	if (!patch_of(l, op->nout, ir_attr(op, AT_OFFSETS)->u.ints.p, &r.p)) bug("loads without a patch");
	for (int a = rank - 1; a >= 0 && fast < 0; a--)
		if (l.out[a] && unit_axis(op->parent->fn, view, a)) fast = a;
	r.vec = fast < 0 ? 0 : lay_run(l, fast, NULL);
	if (r.vec > most) r.vec = most;
	r.row = fast < 0 ? rank - 1 : fast;
	for (int a = 0; a < rank; a++) size *= r.p.ext[a];
	r.nrow = size / r.p.ext[r.row];
	if (r.nrow > PATCH_ROWS) bug("a patch of %d rows", r.nrow);
	return r;
}

int64_t patch_place(const PatchPlan *r, int row, int axis)
{
	for (int a = r->p.rank - 1; a > axis; a--)
		if (a != r->row) row /= r->p.ext[a];
	return row % r->p.ext[axis] + r->p.lo[axis];
}

/* ---- products ---- */
MmaFactor mma_factor(const Op *op, int i, const MmaPlan *p)
{
	const Val *buf = ir_in(op, i);
	const Type *t = buf->type;
	MmaFactor f = { .e = t->elem, .smem = *ir_attr(buf->def, AT_LAYOUT)->u.lay };
	Role role = i ? ROLE_B : ROLE_A;
	Lay one = lay_frag(p->frag, role);
	int size = elem_log2(f.e), k = i ? 2 : 1, matrix;
	f.frag = mma_fragments(p, t, role, &matrix);
	f.words = f.e == EL_F64 ? 1 << one.in[HW_REG] : (1 << one.in[HW_REG] << size) / 4;
	f.steps = t->log2[t->rank - k] - frag_k(p->frag);
	f.reps = matrix - one.in[HW_REG] - f.steps;
	f.batches = f.frag.in[HW_REG] - matrix;
	for (f.x = 2; f.x >= 0 && !f.matrices; f.x -= !f.matrices)
		for (int tr = 0; tr < 2 && !f.matrices; tr++)
			if (1 << f.x <= f.words || (i && f.steps && 1 << f.x == 2 * f.words)) {
				f.matrices = frag_ldmatrix(f.frag, f.smem, size, f.x, tr, &f.off);
				f.trans = f.matrices && tr;
			}
	if (!f.matrices && !lay_solve(f.smem, f.frag, &f.off)) bug("a factor is not in its buffer");
	return f;
}
