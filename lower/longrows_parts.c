/* See longrows_parts.h. A power or a square that depends on an earlier reduction is taken relative to the part's own
 * maximum or mean, and rescaled to the row's when that is known. */
#include "lower/longrows_parts.h"

#include <math.h>

#include "base/diag.h"
#include "ir/monoid.h"

static const Type *part_type(const Parts *k, const Type *t)
{
	uint8_t log2[TILE_RANK];
	int a = type_only_axis(t);
	for (int i = 0; i < t->rank; i++) log2[i] = (uint8_t)(i == a ? k->part_log2 : t->log2[i]);
	return type_with_shape(t, t->rank, log2);
}

bool parts_is_long(const Parts *k, const Val *v) { return k->p.side[v->id] == SIDE_LONG; }

static const Type *type_here(const Parts *k, const Val *v)
{
	return parts_is_long(k, v) ? part_type(k, v->type) : v->type;
}

Val *parts_here(const PartSpot *at, const Val *v)
{
	Val *r = at->map[v->id];
	if (!r) bug("a value is missing in a part");
	return r;
}

void parts_need(const PartSpot *at, bool *needed, const Val *v)
{
	if (at->map[v->id] || needed[v->id]) return;
	needed[v->id] = true;
	for (int i = 0; v->def && i < v->def->nin; i++) parts_need(at, needed, ir_in(v->def, i));
}

static Op *repeat(const Parts *k, PartSpot *at, const Op *op)
{
	Val *in[16];
	const Type *t = op->nout ? type_here(k, op->out[0]) : NULL;
	if (op->nin > 16) bug("an operation of a part has %d operands", op->nin);
	for (int i = 0; i < op->nin; i++) in[i] = parts_here(at, ir_in(op, i));
	at->b.span = op->span;
	Op *r = ir_op(&at->b, op->code, op->nin, in, op->nout, &t);
	copy_attrs(r, op);
	if (op->nout) {
		r->out[0]->name = op->out[0]->name;
		at->map[op->out[0]->id] = r->out[0];
	}
	return r;
}

/* A tile of a row: that of a part begins part * 2^part_log2 elements on. */
Op *parts_repeat_access(const Parts *k, PartSpot *at, const Op *op)
{
	int a = type_only_axis(ir_accessed(op)->type), rank = ir_in(op, 0)->type->rank;
	Op *r = repeat(k, at, op);
	const IrAttr *old = ir_attr(op, AT_STEPS);
	int64_t steps[TENSOR_RANK], inside[TENSOR_RANK] = { 0 };
	for (int i = 0; i < rank; i++) steps[i] = i == a ? (int64_t)1 << k->part_log2 : old->u.ints.p[i];
	ir_set_ints(r, AT_STEPS, rank, steps);
	if (ir_attr(op, AT_INSIDE)) ir_set_ints(r, AT_INSIDE, rank, inside);
	Builder before = build_before(r);
	r->in[1 + a] = cast(&before, at->part, ir_in(op, 1 + a)->type->elem);
	return r;
}

static void repeat_numbers(const Parts *k, PartSpot *at, const Op *op)
{
	Op *r = repeat(k, at, op);
	Builder *b = &at->b;
	Elem e = r->out[0]->type->elem;
	at->map[op->out[0]->id] = op2(b, OP_ADD, r->out[0], spread(b, r->out[0]->type, cast(b, at->first, e)));
}

/* The index of the kernel's tile block along an axis of its grid. */
static void repeat_bid(const Parts *k, PartSpot *at, const Op *op)
{
	const Fn *fn = k->p.fn;
	int axis = ir_axis(op);
	Val *r = at->row;
	for (int i = fn->ngrid - 1; i > axis; i--) r = op2(&at->b, OP_DIV, r, ir_launch(&at->b, EL_I32, fn->grid[i]));
	if (axis) r = op2(&at->b, OP_REM, r, ir_launch(&at->b, EL_I32, fn->grid[axis]));
	at->map[op->out[0]->id] = cast(&at->b, r, op->out[0]->type->elem);
}

void parts_repeat(const Parts *k, PartSpot *at, const Op *op)
{
	bool access = op->code == OP_LOAD || op->code == OP_STORE;
	if (op->code == OP_BID && at->row) repeat_bid(k, at, op);
	else if (op->code == OP_IOTA && parts_is_long(k, op->out[0])) repeat_numbers(k, at, op);
	else if (access && parts_is_long(k, ir_accessed(op))) parts_repeat_access(k, at, op);
	else forget_inside(repeat(k, at, op));
}

void parts_do(const Parts *k, PartSpot *at, const bool *needed)
{
	for (int i = 0; i < k->p.ops.n; i++) {
		const Op *op = k->p.ops.p[i];
		if (op->nout == 1 && needed[op->out[0]->id] && !at->map[op->out[0]->id]) parts_repeat(k, at, op);
	}
}

PartSpot parts_place(const Parts *k, const Fn *to, Builder b, Val *row, Val *part)
{
	PartSpot r = { .b = b, .map = NEW_ARRAY(A_TMP, Val *, k->p.fn->nval), .row = row, .part = part };
	for (int i = 0; i < k->p.fn->body->args.n; i++) r.map[k->p.fn->body->args.p[i]->id] = to->body->args.p[i];
	if (part) r.first = op2(&r.b, OP_MUL, part, num_i32(&r.b, (int64_t)1 << k->part_log2));
	return r;
}

/* ---- partial results of a part ---- */
static Val *reduced(PartSpot *at, const Op *as, Val *x)
{
	Val *r = ir_unary(&at->b, as->code, as->out[0]->type, x);
	copy_attrs(r->def, as);
	return r;
}

/* How many elements of a part count, as f32. */
static Val *counted(const Parts *k, Builder *b, const PartSum *s, Val *part)
{
	int64_t all = (int64_t)1 << k->part_log2;
	if (!s->mask) return number(b, like(part->type, EL_F32), (double)all);
	Val *end = spread(b, part->type, ir_launch(b, EL_I32, k->p.extent));
	Val *n = op2(b, OP_SUB, end, op2(b, OP_MUL, part, integer(b, part->type, all)));
	Val *most = integer(b, n->type, all);
	n = op2(b, OP_MIN, op2(b, OP_MAX, n, integer(b, n->type, 0)), most);
	return cast(b, n, EL_F32);
}

/* The reference of a part's squares: its mean, but for rounding. All that need it compute the same number. */
static Val *mean_of(Builder *b, Val *sum, Val *n)
{
	return op2(b, OP_DIV, sum, op2(b, OP_MAX, n, number(b, n->type, 1)));
}

static void tell_powers(const Parts *k, PartSpot *at, const PartSum *s, Val **words)
{
	Builder *b = &at->b;
	Val *x = parts_here(at, s->x), *m = words[k->p.sums.p[s->first].word];
	Val *none = compare(b, OP_EQ, m, number(b, m->type, -INFINITY));
	Val *base = choose(b, none, number(b, m->type, 0), m);
	Op *e = ir_in(s->op, 0)->def;
	Val *power = ir_unary(b, OP_EXP, x->type, op2(b, OP_SUB, x, spread(b, x->type, base)));
	copy_attrs(power->def, e);
	words[s->word] = scalar_of(b, reduced(at, s->op, power));
}

static void tell_squares(const Parts *k, PartSpot *at, const PartSum *s, Val **words)
{
	Builder *b = &at->b;
	Val *x = parts_here(at, s->x), *mean = mean_of(b, words[k->p.sums.p[s->first].word], counted(k, b, s, at->part));
	Val *d = op2(b, OP_SUB, x, spread(b, x->type, mean));
	if (s->mask) d = choose(b, parts_here(at, s->mask), d, number(b, d->type, 0));
	if (s->linear) words[s->word + 1] = scalar_of(b, reduced(at, s->op, d));
	words[s->word] = scalar_of(b, reduced(at, s->op, op2(b, OP_MUL, d, d)));
}

/* The extreme of a part and its place in the row. */
static void tell_place(PartSpot *at, const PartSum *s, Val **numbers)
{
	Builder *b = &at->b;
	Val *x = parts_here(at, s->x), *place = scalar_of(b, reduced(at, s->op, x));
	Val *extreme = ir_unary(b, monoid_reduction(s->op->code == OP_MAX_ELEMENT ? OP_MAX : OP_MIN),
		type_with_elem(s->op->out[0]->type, x->type->elem), x);
	copy_attrs(extreme->def, s->op);
	numbers[s->word] = scalar_of(b, extreme);
	numbers[s->word + 1] = op2(b, OP_ADD, place, cast(b, at->first, place->type->elem));
}

/* What reductions are made of, of a part. */
void parts_need_sums(const Parts *k, const PartSpot *at, bool *needed)
{
	for (int i = 0; i < k->p.sums.n; i++) {
		const PartSum *s = &k->p.sums.p[i];
		parts_need(at, needed, s->x);
		if (s->mask) parts_need(at, needed, s->mask);
	}
}

void parts_sums(const Parts *k, PartSpot *at, Val **numbers)
{
	for (int i = 0; i < k->p.sums.n; i++) {
		const PartSum *s = &k->p.sums.p[i];
		if (s->kind == PART_POWERS) tell_powers(k, at, s, numbers);
		else if (s->kind == PART_SQUARES) tell_squares(k, at, s, numbers);
		else if (s->kind == PART_PLACE) tell_place(at, s, numbers);
		else numbers[s->word] = scalar_of(&at->b, reduced(at, s->op, parts_here(at, s->x)));
	}
}

/* ---- totals of a row ---- */
static Val *along_parts(Builder *b, OpCode code, Elem e, const Op *as, Val *x)
{
	uint8_t one = 0;
	Val *r = ir_unary(b, code, type_tile(e, 1, &one), x);
	if (as) copy_attrs(r->def, as);
	ir_set_int(r->def, AT_AXIS, 0);
	return r;
}

static Val *as_total(Builder *b, const Op *as, Val *r)
{
	return as->out[0]->type->rank == 1 ? r : ir_unary(b, OP_RESHAPE, as->out[0]->type, r);
}

static Val *sum_partials(PartTotals *g, const Op *as, Val *x)
{
	return as_total(&g->at.b, as, along_parts(&g->at.b, as->code, x->type->elem, as, x));
}

/* Of equal elements the first counts, so the first of the parts that have one: its place. */
static Val *place_of_first(PartTotals *g, const PartSum *s)
{
	Builder *b = &g->at.b;
	Val *places = g->numbers[s->word + 1], *parts = cast(b, g->parts, EL_U32);
	Val *part = along_parts(b, s->op->code, EL_U32, s->op, g->numbers[s->word]);
	Val *is_it = compare(b, OP_EQ, parts, spread(b, parts->type, part));
	Val *one = choose(b, is_it, places, integer(b, places->type, 0));
	return as_total(b, s->op, along_parts(b, OP_REDUCE_OR, EL_U32, NULL, one));
}

static Val *parts_total(PartTotals *g, const PartSum *s)
{
	Builder *b = &g->at.b;
	const Type *t = g->numbers[s->word]->type;
	if (s->kind == PART_PLAIN) return sum_partials(g, s->op, g->numbers[s->word]);
	if (s->kind == PART_PLACE) return place_of_first(g, s);
	Val *first = g->numbers[g->k->p.sums.p[s->first].word];
	Val *m = spread(b, t, scalar_of(b, parts_here(&g->at, s->m)));
	if (s->kind == PART_POWERS)
		return sum_partials(g, s->op, op2(b, OP_MUL, g->numbers[s->word],
			ir_unary(b, OP_EXP, t, op2(b, OP_SUB, first, m))));
	Val *n = counted(g->k, b, s, g->parts), *d = op2(b, OP_SUB, mean_of(b, first, n), m);
	Val *none = number(b, t, 0);
	d = choose(b, compare(b, OP_EQ, n, number(b, t, 0)), none, d);
	Val *slope = op2(b, OP_MUL, n, d), *linear = s->linear ? g->numbers[s->word + 1] : NULL;
	if (linear) slope = ir_op1(b, OP_FMA, t, 3, (Val *[]){ n, d, op2(b, OP_ADD, linear, linear) });
	return sum_partials(g, s->op, ir_op1(b, OP_FMA, t, 3, (Val *[]){ d, slope, g->numbers[s->word] }));
}

Num parts_neutral(const Op *op) { return monoid_begin(op->code, ir_in(op, 0)->type->elem); }

/* Everything below reductions is known when they are: what they are made of is not needed. */
void parts_need_late(const Parts *k, const PartSpot *at, bool *needed, const Val *v)
{
	if (at->map[v->id] || needed[v->id]) return;
	needed[v->id] = true;
	int sum = v->def ? parts_sum_of(&k->p, v->def) : -1;
	if (sum >= 0 && k->p.sums.p[sum].m) parts_need_late(k, at, needed, k->p.sums.p[sum].m);
	for (int i = 0; sum < 0 && v->def && i < v->def->nin; i++) parts_need_late(k, at, needed, ir_in(v->def, i));
}

static bool stores_number(const Parts *k, const Op *op)
{
	return op->code == OP_SCATTER || (op->code == OP_STORE && !parts_is_long(k, ir_accessed(op)));
}

void parts_need_stored(const Parts *k, const PartSpot *at, bool *needed)
{
	for (int i = 0; i < k->p.ops.n; i++) {
		const Op *op = k->p.ops.p[i];
		for (int j = 0; stores_number(k, op) && j < op->nin; j++) parts_need_late(k, at, needed, ir_in(op, j));
	}
}

void parts_do_late(PartTotals *g, const bool *needed)
{
	for (int i = 0; i < g->k->p.ops.n; i++) {
		const Op *op = g->k->p.ops.p[i];
		int sum = parts_sum_of(&g->k->p, op);
		if (stores_number(g->k, op)) parts_repeat(g->k, &g->at, op);
		if (op->nout != 1 || !needed[op->out[0]->id]) continue;
		if (sum >= 0) g->at.map[op->out[0]->id] = parts_total(g, &g->k->p.sums.p[sum]);
		else if (!g->at.map[op->out[0]->id]) parts_repeat(g->k, &g->at, op);
	}
}
