/* Inside pass combine: a sum of squares (x - m)^2, where m is computed from the sum of x, is
 * exchanged together with that sum.
 *
 * In a cluster, a reduction whose elements need the result of another one synchronises the thread blocks a second time,
 * and meanwhile no memory moves. But a sum of squares can be moved from one reference to
 * another, exactly but for rounding:
 *
 *   sum of (x - m)^2 = sum of (x - c)^2 + (c - m) * (2 * sum of (x - c) + n * (c - m))
 *
 * for any c, where n counts the elements. So each warp takes the mean of its own elements for c. Then nothing cancels,
 * however far the elements are from zero: the sum of (x - c) is what rounding has left, and all else is positive. What
 * warps have of both sums is exchanged together, and when it has come each thread moves the squares to m. What else is
 * made of x - m is made of m as before.
 *
 * Not for elements of 16 bits, which would be unpacked once more, nor for rows accessed by single elements: they lose
 * more by instructions than they gain (bench/notes/rows.md). Within one thread block a second barrier costs little. */
#include "base/diag.h"
#include "ir/fold.h"
#include "ir/rules.h"
#include "lower/rebase.h"
#include "lower/strip.h"

/* ---- finding them ---- */
bool pair_plain(const Op *op)      /* of the default rounding and so on */
{
	return !ir_int(op, AT_ROUNDING, 0) && !ir_int(op, AT_SUBNORMALS, 0) && !ir_int(op, AT_NAN, 0);
}

Op *pair_made_by(const Val *v, OpCode code)
{
	return v->def && v->def->code == code && pair_plain(v->def) ? v->def : NULL;
}

static bool is_zero(const Val *v)
{
	Num n;
	return ir_const_value(v, &n) && !num_is_true(v->type->elem, n);
}

/* v is x - m, m the same along axis. */
bool pair_differs(const Val *v, Pair *p)
{
	const Op *sub = pair_made_by(v, OP_SUB), *spread;
	if (!sub || !(spread = pair_made_by(ir_in(sub, 1), OP_BROADCAST))) return false;
	p->x = ir_in(sub, 0);
	p->m = ir_in(spread, 0);
	if (!type_is_tile(p->m->type) || p->m->type->rank != p->x->type->rank) return false;
	for (int a = 0; a < p->x->type->rank; a++)
		if (p->m->type->log2[a] != (a == p->axis ? 0 : p->x->type->log2[a])) return false;
	return p->m->lay && p->x->lay;
}

static bool is_square(const Val *v, Pair *p)
{
	const Op *mul = pair_made_by(v, OP_MUL);
	if (!mul || ir_in(mul, 0) != ir_in(mul, 1)) return false;
	const Val *d = ir_in(mul, 0);
	const Op *select = pair_made_by(d, OP_SELECT);
	if (select && is_zero(ir_in(select, 2))) {
		p->mask = ir_in(select, 0);
		d = ir_in(select, 1);
	}
	return pair_differs(d, p);
}

enum { DEPTH = 12 };    /* of expressions that are looked at */

static bool is_made_of(const Val *v, const Op *op, int depth)
{
	if (!v->def || v->def->parent != op->parent || !depth) return false;
	if (v->def == op) return true;
	for (int i = 0; i < v->def->nin; i++)
		if (is_made_of(ir_in(v->def, i), op, depth - 1)) return true;
	return false;
}

/* The operand beside the constant n. */
static const Val *beside(const Val *v, OpCode code, int64_t n)
{
	const Op *op = rule_kept(v)->def;
	Num k;
	for (int i = 0; op && op->code == code && i < 2; i++)
		if (ir_const_value(ir_in(op, i), &k) && k.i == n) return ir_in(op, 1 - i);
	return NULL;
}

/* Does v say how many elements of the tile number `index`, of n elements, lie inside the extent? It is the extent, or
 * min(max(extent - index * n, 0), n). */
static bool is_end(const Val *v, const Val *index, int64_t n, const Sym *extent)
{
	Num k;
	bool first = ir_const_value(index, &k) && !k.i;
	const Val *rest = first ? v : beside(v, OP_MIN, n), *from;
	if (!first && !(rest && (rest = beside(rest, OP_MAX, 0)))) return false;
	const Op *sub = rule_kept(rest)->def;
	if (!first) {
		if (!sub || sub->code != OP_SUB || !(from = beside(ir_in(sub, 1), OP_MUL, n))) return false;
		if (rule_kept(from) != rule_kept(index)) return false;
		rest = ir_in(sub, 0);
	}
	rest = rule_kept(rest);
	const IrAttr *sym = rest->def && rest->def->code == OP_LAUNCH ? ir_attr(rest->def, AT_SYM) : NULL;
	return sym && sym->u.sym == extent;
}

static bool load_ends(const Fn *fn, const Op *op, const Val *end)
{
	const Val *view = ir_in(op, 0);
	const IrAttr *offsets = ir_attr(op, AT_OFFSETS), *steps = ir_attr(op, AT_STEPS);
	int a = type_only_axis(op->out[0]->type);
	if (a < 0 || op->out[0]->type->rank != view->type->rank || view->def || view->block != fn->body) return false;
	if ((offsets && offsets->u.ints.p[a]) || !is_zero(ir_in(op, op->nin - 1))) return false;
	int64_t n = type_extent(op->out[0]->type, a);
	return steps && steps->u.ints.p[a] == n && is_end(end, ir_in(op, 1 + a), n, fn->params.p[view->index].extent[a]);
}

/* Is v zero from `end` on, where its tensors end? */
static bool ends_in_zeros(const Fn *fn, const Val *v, const Val *end, int depth)
{
	const Op *op = v->def;
	if (!op || !depth) return false;
	switch (op->code) {
	case OP_CONST: return is_zero(v);
	case OP_LOAD: return load_ends(fn, op, end);
	case OP_CAST: return ends_in_zeros(fn, ir_in(op, 0), end, depth - 1);
	case OP_RESHAPE: return type_only_axis(v->type) >= 0 && ends_in_zeros(fn, ir_in(op, 0), end, depth - 1);
	case OP_ADD: case OP_SUB: case OP_MUL:
		return ends_in_zeros(fn, ir_in(op, 0), end, depth - 1) && ends_in_zeros(fn, ir_in(op, 1), end, depth - 1);
	default: return false;
	}
}

/* Is x zero where the mask does not hold? Then a warp's sum of x is one of what counts, and their quotient a mean that
 * is near them. */
static bool counts_all(const Fn *fn, const Pair *p)
{
	const Val *end;
	const Op *select = pair_made_by(p->x, OP_SELECT);
	if (select && ir_in(select, 0) == p->mask && is_zero(ir_in(select, 2))) return true;
	return strip_places(p->mask, type_log2_size(p->mask->type), &end) && ends_in_zeros(fn, p->x, end, DEPTH);
}

static bool find_first(Pair *p)
{
	for (Op *op = p->sum->prev; op; op = op->prev) {
		if (op->code != OP_SUM || ir_in(op, 0) != p->x || ir_axis(op) != p->axis || !pair_plain(op)) continue;
		if (!is_made_of(p->m, op, DEPTH)) continue;
		p->first = op;
		return true;
	}
	return false;
}

/* Can v be computed before `at`, from what is known there? */
static bool may_stand(const Val *v, const Op *at, int depth)
{
	const Op *d = v->def;
	if (!d || d->parent != at->parent) return true;
	for (const Op *op = at->prev; op; op = op->prev)
		if (op == d) return true;
	if (!depth || !op_is_pure(d)) return false;
	for (int i = 0; i < d->nin; i++)
		if (!may_stand(ir_in(d, i), at, depth - 1)) return false;
	return true;
}

void pair_stand(Val *v, Op *at)
{
	Op *d = v->def;
	if (!d || d->parent != at->parent) return;
	for (const Op *op = at; op; op = op->prev)
		if (op == d) return;
	for (int i = 0; i < d->nin; i++) pair_stand(ir_in(d, i), at);
	ir_move_before(d, at);
}

static bool find_groups(const Pair *p, Lay part, const Type *part_type, Groups *g)
{
	enum { MORE = 2 };      /* axes */
	const Type *t = p->x->type;
	int n = part_type->log2[p->axis], length = t->log2[p->axis];
	if (t->rank + MORE > TILE_RANK) return false;
	for (int near = 0; near + n <= length; near++) {
		uint8_t one[TILE_RANK] = { 0 }, all[TILE_RANK] = { 0 };
		for (int a = 0; a < t->rank; a++) {
			int to = a < p->axis ? a : a + MORE;
			one[to] = all[to] = t->log2[a];
		}
		all[p->axis] = (uint8_t)(length - near - n);
		all[p->axis + 1] = one[p->axis + 1] = (uint8_t)n;
		all[p->axis + 2] = (uint8_t)near;
		one[p->axis] = one[p->axis + 2] = 0;
		g->one = type_tile(t->elem, t->rank + MORE, one);
		g->all = type_tile(t->elem, t->rank + MORE, all);
		Lay spread;
		if (lay_reshape(part, t->rank + MORE, one, &g->one_lay)
			&& lay_reshape(*p->x->lay, t->rank + MORE, all, &g->all_lay)
			&& lay_broadcast_operand(g->all_lay, g->one, g->all, &spread) && lay_eq(spread, g->one_lay)) return true;
	}
	return false;
}

bool pair_places(const Pair *p, Places *at)
{
	uint32_t v[LAY_BITS];
	int n;
	Lay l = *p->x->lay;
	uint8_t shape[TILE_RANK];
	if (!lay_combines_simply(l, p->axis) || !lay_eq(l, *ir_in(p->sum, 0)->lay)) return false;
	at->part = lay_reduced(lay_reduced(l, p->axis, 1, &n, v), p->axis, 2, &n, v);
	if (!at->part.out[p->axis]) return false;       /* nothing leaves the warps */
	for (int a = 0; a < p->x->type->rank; a++) shape[a] = at->part.out[a];
	at->type = type_tile(p->x->type->elem, p->x->type->rank, shape);
	at->gathered = lay_gathered(at->part, p->axis, at->part.out[p->axis]);
	if (!lay_broadcast_operand(at->gathered, p->m->type, at->type, &at->m) || !lay_eq(at->m, *p->m->lay)) return false;
	return find_groups(p, at->part, at->type, &at->groups);
}

bool pair_is_packed(const Val *x)
{
	const Op *cast = pair_made_by(x, OP_CAST);
	return cast && elem_bytes(ir_in(cast, 0)->type->elem) <= 2;
}

static bool find_pair(const Fn *fn, Op *sum, Pair *p, Places *at)
{
	*p = (Pair){ .sum = sum };
	if (sum->code != OP_SUM || !pair_plain(sum) || !type_is_tile(ir_in(sum, 0)->type)) return false;
	Elem e = ir_in(sum, 0)->type->elem;
	p->axis = ir_axis(sum);
	if ((e != EL_F32 && e != EL_F64) || !is_square(ir_in(sum, 0), p)) return false;
	if (pair_is_packed(p->x) || !find_first(p)) return false;
	if (p->mask && (!counts_all(fn, p) || !may_stand(p->mask, p->first, DEPTH))) return false;
	return pair_places(p, at);
}

/* ---- writing them ---- */
Val *pair_laid(Val *v, Lay l)
{
	ir_set_layout(v, l);
	return v;
}

Val *pair_both(Builder *b, OpCode code, Val *x, Val *y)
{
	return pair_laid(ir_binary(b, code, x->type, x, y), *x->lay);
}

Val *pair_number(Builder *b, const Val *like, double v)
{
	return pair_laid(ir_const_num(b, like->type, num_float(v)), *like->lay);
}

Val *pair_choose(Builder *b, Val *c, Val *x, Val *y)
{
	return pair_laid(ir_op1(b, OP_SELECT, x->type, 3, (Val *[]){ c, x, y }), *x->lay);
}

Val *pair_equals(Builder *b, Val *x, double v)
{
	Val *in[2] = { x, pair_number(b, x, v) };
	return pair_laid(ir_op1(b, OP_EQ, type_with_elem(x->type, EL_BOOL), 2, in), *x->lay);
}

static Val *cast(Builder *b, Val *x, Elem to)
{
	return pair_laid(ir_unary(b, OP_CAST, type_with_elem(x->type, to), x), *x->lay);
}

/* What a warp has of x, combined like `as`. */
Val *pair_of_warp(Builder *b, const Op *as, Val *x)
{
	Parts part = { 1, { x }, *x->lay };
	combine_threads(b, as, &part);
	return part.v[0];
}

Val *pair_spread(Builder *b, const Pair *p, const Groups *g, Val *c)
{
	c = pair_laid(ir_unary(b, OP_RESHAPE, g->one, c), g->one_lay);
	c = pair_laid(ir_unary(b, OP_BROADCAST, g->all, c), g->all_lay);
	return pair_laid(ir_unary(b, OP_RESHAPE, p->x->type, c), *p->x->lay);
}

/* The mean of s, the sum of n; 0 of none. Any number near it will do, if only all threads compute the same one. */
static Val *mean(Builder *b, Val *s, Val *n)
{
	Val *r = pair_both(b, OP_DIV, s, pair_both(b, OP_MAX, n, pair_number(b, n, 1)));
	if (r->type->elem == EL_F32) ir_set_int(r->def, AT_ROUNDING, attr_word(AT_ROUNDING, str_intern("approximate")));
	return r;
}

enum { PARTS = 4 };

/* Elements of a row that a warp has, where there is no mask. */
static double most_of_warp(const Pair *p, const Places *at)
{
	return (double)(type_extent(p->x->type, p->axis) / type_extent(at->type, p->axis));
}

/* Of a warp: its sum s, the sums of x - c and of the squares, and where there is a mask how many elements it has. */
static int parts_of_squares(Builder *b, const Pair *p, const Places *at, Val *v[PARTS])
{
	Val *s = pair_of_warp(b, p->first, p->x), *n = pair_number(b, s, most_of_warp(p, at));
	if (p->mask) n = cast(b, pair_of_warp(b, p->sum, cast(b, p->mask, EL_U32)), s->type->elem);
	Val *d = pair_both(b, OP_SUB, p->x, pair_spread(b, p, &at->groups, mean(b, s, n)));
	if (p->mask) d = pair_choose(b, p->mask, d, pair_number(b, d, 0));
	v[0] = s;
	v[1] = pair_of_warp(b, p->sum, d);
	v[2] = pair_of_warp(b, p->sum, pair_both(b, OP_MUL, d, d));
	v[3] = n;
	return p->mask ? 4 : 3;
}

static Val *squares_at(Builder *b, const Pair *p, Val *const v[PARTS], Val *m)
{
	Val *d = pair_both(b, OP_SUB, mean(b, v[0], v[3]), m);
	if (p->mask) {
		Val *zero = pair_number(b, d, 0);
		d = pair_choose(b, pair_equals(b, v[3], 0), zero, d);
	}
	Val *linear = pair_laid(ir_op1(b, OP_FMA, d->type, 3, (Val *[]){ v[3], d, pair_both(b, OP_ADD, v[1], v[1]) }),
		*d->lay);
	return pair_laid(ir_op1(b, OP_FMA, d->type, 3, (Val *[]){ d, linear, v[2] }), *d->lay);
}

void pair_take_place(Op *old, Val *now)
{
	now->name = old->out[0]->name;
	ir_replace(old->out[0], now);
	ir_remove(old);
}

typedef struct Use { const Val *v; bool found; } Use;

static void find_use(void *ctx, Op *op)
{
	Use *u = ctx;
	for (int i = 0; i < op->nin; i++) u->found |= ir_in(op, i) == u->v;
}

/* What only the sum needed. */
void pair_drop(Fn *fn, Op *op, int depth)
{
	if (!op || op->nout != 1 || !op_is_pure(op) || !depth) return;
	Use u = { op->out[0], false };
	ir_walk(fn->body, find_use, &u);
	if (u.found) return;
	Val *in[3];
	int n = op->nin < 3 ? op->nin : 3;
	for (int i = 0; i < n; i++) in[i] = ir_in(op, i);
	ir_remove(op);
	for (int i = 0; i < n; i++)
		if (in[i]->def && in[i]->def->parent && (!i || in[i] != in[i - 1])) pair_drop(fn, in[i]->def, depth - 1);
}

/* The first operation after op, in its block, that needs its result. */
static Op *first_user(const Op *op)
{
	Use u = { op->out[0], false };
	for (Op *o = op->next; o; o = o->next) {
		find_use(&u, o);
		for (int k = 0; k < o->nregion; k++) ir_walk(o->region[k], find_use, &u);
		if (u.found) return o;
	}
	return NULL;
}

/* What stands between both sums and is needed after them comes there: nobody holds it while sums are moved and
 * quotients, which branch, are taken of them. */
void pair_sink(const Op *first, const Op *last)
{
	for (Op *op = last->prev, *before; op && op != first; op = before) {
		before = op->prev;
		if (op->nout != 1 || !type_is_tile(op->out[0]->type) || !op_has(op, OPF_ELEMWISE | OPF_FREE)) continue;
		Op *user = first_user(op);
		if (user && user != op->next) ir_move_before(op, user);
	}
}

static void rebase(Fn *fn, const Pair *p, const Places *at)
{
	Builder b = build_before(p->first);
	Val *v[PARTS] = { 0 };
	const Type *t[PARTS];
	if (p->mask) pair_stand(p->mask, p->first);
	int n = parts_of_squares(&b, p, at, v);
	for (int i = 0; i < n; i++) t[i] = v[i]->type;
	Op *exchange = ir_op(&b, OP_EXCHANGE, n, v, n, t);
	for (int i = 0; i < n; i++) v[i] = pair_laid(exchange->out[i], at->gathered);
	Val *first = combine_to(&b, p->first, v[0], *p->first->out[0]->lay);
	Val *y = ir_in(p->sum, 0);
	pair_take_place(p->first, first);
	b = build_before(p->sum);
	if (!p->mask) v[3] = pair_number(&b, v[0], most_of_warp(p, at));
	Val *m = pair_laid(ir_unary(&b, OP_BROADCAST, at->type, p->m), at->gathered);
	Val *sum = combine_to(&b, p->sum, squares_at(&b, p, v, m), *p->sum->out[0]->lay);
	pair_take_place(p->sum, sum);
	pair_drop(fn, y->def, DEPTH);
	pair_sink(exchange, sum->def);
}

void rebase_squares(Fn *fn)
{
	Pair p;
	Places at;
	for (Op *op = fn->body->first, *next; fn->cluster && op; op = next) {
		next = op->next;
		if (op_is_reduce(op) && find_pair(fn, op, &p, &at)) rebase(fn, &p, &at);
	}
}
