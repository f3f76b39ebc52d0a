/* Inside pass longrows: which kernels can work on parts of rows.
 *
 * A tile block works on one row, which is one tile: all tiles of more than one element are as long, along their only
 * axis, and begin at the beginning of rows of one extent. What is no such tile is known for the row as a whole, before
 * its reductions or after them (late). A reduction along the row is of elements known before any other (PLAIN), or one
 * of two that can be taken of a part by what it knows itself, and be moved to the row's later: see rebase.c and
 * online.c for how, and for what that does to their accuracy. The place of an extreme is a reduction of pairs: a part
 * has the extreme and its place in the row.
 *
 * Either rows are stored, or nothing but numbers of them (numbers). Then parts are visited once, so any monoid will do,
 * and nothing that is written is read. */
#include "base/diag.h"
#include "ir/fold.h"
#include "ir/monoid.h"
#include "lower/beyond.h"
#include "lower/longrows.h"
#include "lower/placed.h"
#include "lower/rebase.h"
#include "lower/strip.h"

int parts_sum_of(const PartsPlan *p, const Op *op)
{
	for (int i = 0; i < p->sums.n; i++)
		if (p->sums.p[i].op == op) return i;
	return -1;
}

static bool is_long(const PartsPlan *p, const Val *v) { return p->side[v->id] == SIDE_LONG; }

static bool any_late(const PartsPlan *p, const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (p->late[ir_in(op, i)->id]) return true;
	return false;
}

/* The tensor that a view is of; NULL: not known. */
static const IrParam *tensor_of(const Fn *fn, const Val *view)
{
	while (view->def && view->def->code == OP_VIEW && view->def->nin
		&& ir_in(view->def, 0)->type->kind == TY_VIEW) view = ir_in(view->def, 0);
	return view->def || view->block != fn->body ? NULL : &fn->params.p[view->index];
}

/* ---- accesses ---- */
static bool is_zero_index(const Op *op, int axis)
{
	Num n;
	const IrAttr *offsets = ir_attr(op, AT_OFFSETS);
	return ir_const_value(ir_in(op, 1 + axis), &n) && !n.i && (!offsets || !offsets->u.ints.p[axis]);
}

/* Does the tile begin at the beginning of a row of the extent that all have? */
static bool row_access(PartsPlan *p, const Op *op)
{
	const Val *view = ir_in(op, 0), *v = ir_accessed(op);
	int a = type_only_axis(v->type);
	if (view->def || view->block != p->fn->body || v->type->rank != view->type->rank) return false;
	const Sym *e = p->fn->params.p[view->index].extent[a];
	for (int i = 0; i < view->type->rank; i++)
		if (p->late[ir_in(op, 1 + i)->id]) return false;
	if (!is_zero_index(op, a) || (p->extent && p->extent != e)) return false;
	p->extent = e;
	return true;
}

typedef struct Stored { const IrParam *of; bool row; } Stored;
typedef VEC(Stored) StoredVec;

static const Stored *stored_to(const StoredVec *v, const IrParam *of)
{
	for (int i = 0; i < v->n; i++)
		if (v->p[i].of == of) return &v->p[i];
	return NULL;
}

/* Loads of a tensor that is stored to come before its store, at its place or of single elements of rows; so parts read
 * what they read at once. */
static bool loads_agree(const PartsPlan *p, int store)
{
	const Op *s = p->ops.p[store];
	const IrParam *to = tensor_of(p->fn, ir_in(s, 0));
	bool row = is_long(p, ir_accessed(s));
	for (int i = 0; i < p->ops.n; i++) {
		const Op *op = p->ops.p[i];
		bool second = i != store && op->code == OP_STORE;
		if (!second && !op_has(op, OPF_READ)) continue;
		if (tensor_of(p->fn, ir_in(op, 0)) != to) continue;
		if (second || !row || i > store) return false;
		if (is_long(p, op->out[0]) && !same_elements(op, s)) return false;
	}
	return true;
}

/* ---- elements after a row's end ---- */
static bool has_places(const void *plan, const Val *v) { return is_long(plan, v); }

static bool is_extent(void *plan, const Sym *s) { return s == ((const PartsPlan *)plan)->extent; }

static bool outside(const PartsPlan *p, const Val *v, Num *r)
{
	ArenaMark mark = arena_mark(A_TMP);
	Beyonds b = { NEW_ARRAY(A_TMP, Beyond, p->fn->nval), has_places, is_extent, (PartsPlan *)p, NULL, 0 };
	Beyond x = beyond_end(&b, v);
	arena_release(A_TMP, mark);
	*r = x.n;
	return beyond_is_number(x);
}

/* Is v the question whether an element lies inside its row? */
static bool asks_inside(const PartsPlan *p, const Val *v)
{
	const Val *end, *i = strip_places(v, type_log2_size(v->type), &end);
	return i && is_long(p, i) && launched_sym(end) == p->extent;
}

static bool changes_nothing(const PartsPlan *p, const PartSum *s)
{
	Num n, none = monoid_begin(s->op->code, ir_in(s->op, 0)->type->elem);
	if (s->kind == PART_SQUARES) return s->mask != NULL;
	if (!outside(p, s->x, &n)) return false;
	if (s->kind == PART_POWERS) return n.f == -1.0 / 0.0;
	return elem_is_any_float(s->x->type->elem) ? n.f == none.f : n.i == none.i;
}

/* Does it change nothing to have the same element again? Of places the first counts. */
static bool one_does(const PartsPlan *p, const PartSum *s)
{
	Num n;
	bool again = s->kind == PART_PLACE || (s->kind == PART_PLAIN && monoid_idempotent(monoid_combine(s->op->code)));
	return p->numbers && again && outside(p, s->x, &n);
}

/* ---- reductions ---- */
static Val *one_element(Val *v)         /* the operand of changes of shape of a value of one element */
{
	while (v->def && (v->def->code == OP_BROADCAST || v->def->code == OP_RESHAPE || v->def->code == OP_TO_SCALAR)
		&& type_log2_size(ir_in(v->def, 0)->type) == 0) v = ir_in(v->def, 0);
	return v;
}

/* v is x - m, m of the whole row. */
static bool differs(const PartsPlan *p, Val *v, PartSum *s)
{
	const Op *sub = pair_made_by(v, OP_SUB), *spread;
	if (!sub || !(spread = pair_made_by(ir_in(sub, 1), OP_BROADCAST)) || is_long(p, ir_in(spread, 0))) return false;
	s->x = ir_in(sub, 0);
	s->m = one_element(ir_in(spread, 0));
	return !p->late[s->x->id] && is_long(p, s->x);
}

/* Is v x where it counts, and 0 elsewhere? A part's mean is of what counts. */
static bool is_masked(const PartsPlan *p, const Val *v, const Val *x, const Val *mask)
{
	Num n;
	const Op *op = v->def;
	if (v == x) return !mask || (outside(p, x, &n) && n.f == 0);
	return mask && op && op->code == OP_SELECT && ir_in(op, 0) == mask && ir_in(op, 1) == x
		&& ir_const_value(ir_in(op, 2), &n) && n.f == 0;
}

static int plain_of(const PartsPlan *p, const PartSum *of, OpCode code)
{
	for (int i = 0; i < p->sums.n; i++) {
		const PartSum *s = &p->sums.p[i];
		if (s->kind == PART_PLAIN && s->op->code == code && is_masked(p, s->x, of->x, of->mask) && pair_plain(s->op))
			return i;
	}
	return -1;
}

static bool is_power(const PartsPlan *p, PartSum *s)
{
	const Op *e = ir_in(s->op, 0)->def;
	if (!e || e->code != OP_EXP || ir_int(e, AT_SUBNORMALS, 0) || !differs(p, ir_in(e, 0), s)) return false;
	s->kind = PART_POWERS;
	s->first = plain_of(p, s, OP_REDUCE_MAX);
	return s->first >= 0 && s->m == p->sums.p[s->first].op->out[0];
}

static bool is_square(const PartsPlan *p, PartSum *s)
{
	Num n;
	const Op *mul = pair_made_by(ir_in(s->op, 0), OP_MUL);
	if (!mul || ir_in(mul, 0) != ir_in(mul, 1)) return false;
	Val *d = ir_in(mul, 0);
	const Op *select = pair_made_by(d, OP_SELECT);
	if (select && ir_const_value(ir_in(select, 2), &n) && n.f == 0 && asks_inside(p, ir_in(select, 0))) {
		s->mask = ir_in(select, 0);
		d = ir_in(select, 1);
	}
	s->kind = PART_SQUARES;
	return differs(p, d, s) && (s->first = plain_of(p, s, OP_SUM)) >= 0;
}

/* Of sums of 16 bits each one rounds, and a part has no function of the author's. */
static bool reduces_parts(const PartsPlan *p, const Op *op)
{
	Elem e = ir_in(op, 0)->type->elem;
	bool rounds = op->code == OP_SUM || op->code == OP_PROD;
	if (p->numbers) return monoid_kind(op->code) != KIND_CUSTOM
		&& !(rounds && elem_is_any_float(e) && (elem_bytes(e) < 4 || !pair_plain(op)));
	return op->out[0]->type->elem == EL_F32
		&& (op->code == OP_SUM || op->code == OP_REDUCE_MAX || op->code == OP_REDUCE_MIN);
}

static bool add_sum(PartsPlan *p, Op *op)
{
	PartSum s = { .op = op, .first = -1, .x = ir_in(op, 0), .word = p->words };
	if (!reduces_parts(p, op)) return false;
	bool f32 = op->out[0]->type->elem == EL_F32 && op->code == OP_SUM && pair_plain(op);
	if (p->late[s.x->id] && (!f32 || (!is_power(p, &s) && !is_square(p, &s)))) return false;
	if (op->code == OP_MAX_ELEMENT || op->code == OP_MIN_ELEMENT) s.kind = PART_PLACE;
	s.packed = pair_is_packed(s.x);
	s.linear = s.kind == PART_SQUARES && !s.packed;
	p->words += s.linear || s.kind == PART_PLACE ? 2 : 1;
	vec_push(A_TMP, &p->sums, s);
	return p->words <= PART_WORDS;
}

/* ---- scans ---- */
/* Does the author's function work element by element, on nothing but its operands, from constants on? */
static bool stands_alone(const Op *op)
{
	const IrBlock *f = op->region[0];
	for (int k = scan_values(op); k < op->nin; k++)
		if (!ir_const_value(ir_in(op, k), NULL)) return false;
	for (const Op *o = f->first; o; o = o->next) {
		for (int i = 0; i < o->nin; i++) {
			const Val *v = ir_in(o, i);
			if ((v->def ? v->def->parent : v->block) != f) return false;
		}
		bool simple = o->code == OP_CONST || op_has(o, OPF_ELEMWISE);
		if (o != f->last && (o->nregion || o->nout != 1 || !simple)) return false;
	}
	return !ir_int(op, AT_DIRECTION, 0);
}

static bool note_sides(PartsPlan *p, const Op *op);

/* Along the row, of what is known before any other: parts reduce by the same, in another order. */
static bool add_scan(PartsPlan *p, Op *op)
{
	if (!note_sides(p, op) || (op->nregion && !stands_alone(op))) return false;
	for (int k = 0; k < scan_values(op); k++) {
		const Val *v = ir_in(op, k);
		bool rounds = elem_is_any_float(v->type->elem) && elem_bytes(v->type->elem) < 4;
		if (!is_long(p, v) || p->late[v->id] || ir_axis(op) != type_only_axis(v->type)) return false;
		if (rounds && (op->nregion || !monoid_idempotent(monoid_combine(op->code)))) return false;
		p->late[op->out[k]->id] = true;
	}
	vec_push(A_TMP, &p->scans, op);
	return true;
}

/* Is what a scan makes of a row the same without what comes after it? Backwards, where one element of that does for all
 * (pads), or where it changes nothing. */
static bool ends_with_row(PartsPlan *p)
{
	for (int i = 0; i < p->scans.n; i++) {
		const Op *op = p->scans.p[i];
		Num n;
		Elem e = ir_in(op, 0)->type->elem;
		if (!ir_int(op, AT_DIRECTION, 0)) continue;
		if (!outside(p, ir_in(op, 0), &n)) return false;
		if (num_same(e, n, monoid_identity(op->code, e, ir_int(op, AT_NAN, 0) != 0))) continue;
		if (!num_same(e, n, monoid_begin(op->code, e))) return false;
		p->pads = true;
	}
	return true;
}

/* ---- operations ---- */
static bool fits_long(PartsPlan *p, Op *op)
{
	if (op->code == OP_LOAD) return row_access(p, op) && !any_late(p, op);
	if (op->code == OP_CONST || op->code == OP_IOTA)
		return op->code == OP_CONST || elem_bytes(op->out[0]->type->elem) >= 4;
	if (op_has(op, OPF_FREE)) return true;
	if (!op_has(op, OPF_ELEMWISE)) return false;
	for (int i = 0; i < op->nin; i++)
		if (!is_long(p, ir_in(op, i))) return false;
	return true;
}

static bool fits_small(PartsPlan *p, Op *op)
{
	bool rows = false;
	for (int i = 0; i < op->nin; i++) rows |= is_long(p, ir_in(op, i));
	if (rows) return op_is_reduce(op) && add_sum(p, op);
	if (op->code == OP_LOAD || op->code == OP_GATHER) return tensor_of(p->fn, ir_in(op, 0)) != NULL;
	return op_has(op, OPF_PURE);
}

static bool note_sides(PartsPlan *p, const Op *op)
{
	for (int i = 0; i < op->nout; i++) {
		const Type *t = op->out[i]->type;
		int n = type_is_tile(t) ? type_log2_size(t) : 0;
		if (n && (n != p->log2 || type_only_axis(t) < 0)) return false;
		p->side[op->out[i]->id] = n ? SIDE_LONG : SIDE_SMALL;
	}
	return true;
}

static bool writes_number(const PartsPlan *p, const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (is_long(p, ir_in(op, i))) return false;
	return tensor_of(p->fn, ir_in(op, 0)) != NULL;
}

static bool add_op(PartsPlan *p, const StoredVec *stored, Op *op)
{
	vec_push(A_TMP, &p->ops, op);
	if (op->code == OP_RETURN || op->code == OP_ASSUME) return true;
	if (op_is_scan(op)) return add_scan(p, op);
	if (op->nregion || !note_sides(p, op)) return false;
	if (op->code == OP_STORE)
		return is_long(p, ir_accessed(op)) ? row_access(p, op)
			: tensor_of(p->fn, ir_in(op, 0)) && !type_is_scalar(ir_accessed(op)->type);
	if (p->numbers && op->code == OP_SCATTER) return writes_number(p, op);
	if (op_has(op, OPF_WRITE) || op->nout != 1) return false;
	if (p->numbers && op_has(op, OPF_READ) && !memory_is_constant(p->fn, ir_in(op, 0))) return false;
	bool row = is_long(p, op->out[0]), reads = op_has(op, OPF_READ);
	if (!(row ? fits_long(p, op) : fits_small(p, op))) return false;
	bool reread = reads && !row && stored_to(stored, tensor_of(p->fn, ir_in(op, 0)));
	p->reads_stored |= reread;
	p->late[op->out[0]->id] = reread || any_late(p, op) || parts_sum_of(p, op) >= 0;
	return true;
}

/* The longest tile, whose extent is that of rows. */
static int longest(const Fn *fn)
{
	int r = 0;
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (op->code != OP_LOAD || !type_is_tile(op->out[0]->type)) continue;
		int n = type_log2_size(op->out[0]->type);
		r = n > r ? n : r;
	}
	return r;
}

static bool has_pointers(const Fn *fn)
{
	for (int i = 0; i < fn->params.n; i++)
		if (!fn->params.p[i].is_tensor && elem_is_ptr(fn->params.p[i].elem)) return true;
	return false;
}

bool parts_plan(PartsPlan *p, Fn *fn)
{
	StoredVec stored = { 0 };
	*p = (PartsPlan){ .fn = fn, .log2 = longest(fn) };
	if (p->log2 < COST_PARTS_LEAST || fn->ordered || has_pointers(fn)) return false;
	ir_number(fn);
	p->side = NEW_ARRAY(A_TMP, uint8_t, fn->nval);
	p->late = NEW_ARRAY(A_TMP, bool, fn->nval);
	bool rows = false;
	for (Op *op = fn->body->first; op; op = op->next) {
		if (op->code != OP_STORE) continue;
		const Stored s = { tensor_of(fn, ir_in(op, 0)), type_log2_size(ir_accessed(op)->type) > 0 };
		rows |= s.row;
		vec_push(A_TMP, &stored, s);
	}
	p->numbers = !rows;
	for (Op *op = fn->body->first; op; op = op->next)
		if (!add_op(p, &stored, op)) return false;
	bool scans = p->scans.n > 0;
	if (p->sums.n ? scans : !scans || p->numbers) return false;
	if (!p->extent) return false;
	for (int i = 0; rows && i < p->ops.n; i++)
		if (p->ops.p[i]->code == OP_STORE && !loads_agree(p, i)) return false;
	p->ends = !scans || ends_with_row(p);
	for (int i = 0; i < p->sums.n; i++) {
		const PartSum *s = &p->sums.p[i];
		bool nothing = s->kind != PART_PLACE && changes_nothing(p, s);
		p->ends &= nothing || one_does(p, s);
		p->pads |= !nothing;
	}
	return true;
}

int64_t parts_element_bytes(const PartsPlan *p)
{
	int64_t n = 0;
	for (int i = 0; i < p->ops.n; i++)
		if (p->ops.p[i]->code == OP_LOAD && p->side[p->ops.p[i]->out[0]->id] == SIDE_LONG)
			n += elem_bytes(p->ops.p[i]->out[0]->type->elem);
	return n;
}
