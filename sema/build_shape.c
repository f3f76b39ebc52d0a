/* Making tiles, and operations that move elements: what each builds, and what it asks of its arguments. */
#include "sema/build.h"

#include <string.h>

static Val *op_axis(Cx *cx, OpCode op, const Type *t, int nin, Val *const *in, int axis)
{
	Val *v = ir_op1(&cx->b, op, t, nin, in);
	ir_set_int(v->def, AT_AXIS, axis);
	return v;
}

static Val *reshape(Cx *cx, Val *v, int rank, const uint8_t *log2)
{
	const Type *t = type_tile(v->type->elem, rank, log2);
	if (t == v->type) return v;
	Num n;
	if (ir_const_value(v, &n)) return const_val(cx, t, n);
	return ir_unary(&cx->b, OP_RESHAPE, t, v);
}

static Shape shape_of(const Type *t)
{
	Shape s = { .rank = t->rank, .hole = -1 };
	memcpy(s.log2, t->log2, sizeof s.log2);
	return s;
}

/* ---- making tiles ---- */

/* full(0.0, [64], f32) */
static bool shape_is_second(Cx *cx, const Call *c)
{
	const Expr *x = c->arg[0].e, *y = c->arg[1].e;
	if (!x || !y || x->kind == EX_LIST || y->kind != EX_LIST) return false;
	Sv v = sema_expr(cx, x, NULL);
	if (sv_bad(v) || v.kind == SV_SHAPE) return sv_bad(v);
	Diag *d = cx_diag(cx, D_NOT_A_SHAPE, x->span, sema_source(x), sv_what(v));
	diag_help(d, "the shape stands before the value: `%s, %s`", sema_source(y), sema_source(x));
	diag_edit(d, x->span, sema_source(y));
	diag_edit(d, y->span, sema_source(x));
	return true;
}

static Sv build_full(Cx *cx, Call *c)
{
	Shape s;
	Elem e;
	bool full = c->op == OP_FULL;
	if (full && shape_is_second(cx, c)) return sv_poison(c->span);
	if (!arg_shape(cx, c, 0, false, &s) || !arg_elem(cx, c, full ? 2 : 1, &e)) return sv_poison(c->span);
	const Type *t = sema_tile_type(cx, e, s, c->span);
	if (!t) return sv_poison(c->span);
	if (!full && elem_is_ptr(e)) {
		Diag *d = cx_diag(cx, D_NEED_NUMBER, c->span, call_what(c), elem_name(e));
		if (c->op == OP_ZEROS) {
			Str fix = str_fmt("full(%s, null, %s)", span_source(c->arg[0].span), span_source(c->arg[1].span));
			diag_help(d, "write `%s`", fix);
			diag_edit(d, c->span, fix);
		}
		return sv_poison(c->span);
	}
	Sv x = full ? arg_value(cx, c, 1, type_scalar(e)) : sv_const(e, c->op == OP_ONES ? num_one(e) : num_zero(e),
		c->span);
	x = conv_to(cx, x, type_scalar(e), CONV_INIT, NULL, (Span){ 0, 0 });
	if (sv_bad(x)) return x;
	Val *v = conv_val(cx, x);
	at_span(cx, c->span);
	return sv_val(val_broadcast(cx, v, t), c->span);
}

static bool iota_fits(Cx *cx, Call *c, Elem e, Shape s)
{
	int bits = 0;
	for (int i = 0; i < s.rank; i++) bits += s.log2[i];
	if (!elem_is_ptr(e) && elem_is_integral(e)) {
		if (bits <= elem_rows[e].digits) return true;
		Diag *d = cx_diag(cx, D_IOTA_RANGE, c->span, elem_name(e), str_i64(((int64_t)1 << bits) - 1));
		diag_help(d, "a wider type holds them, as in `iota(%s, i32)`", shape_text(s.rank, s.log2));
		return false;
	}
	Diag *d = cx_diag(cx, D_NEED_INT, c->span, call_what(c), elem_name(e));
	if (!elem_is_ptr(e))
		diag_help(d, "the numbers are converted, as in `element_cast(iota(%s, i32), %s)`", shape_text(s.rank, s.log2),
			elem_name(e));
	return false;
}

static Sv build_iota(Cx *cx, Call *c)
{
	Shape s;
	Elem e;
	if (!arg_shape(cx, c, 0, false, &s) || !arg_elem(cx, c, 1, &e) || !iota_fits(cx, c, e, s))
		return sv_poison(c->span);
	const Type *t = sema_tile_type(cx, e, s, c->span);
	if (!t) return sv_poison(c->span);
	return sv_val(ir_op1(at_span(cx, c->span), OP_IOTA, t, 0, NULL), c->span);
}

/* arange(0, 64) as in Python: from .. to */
static void help_arange(Diag *d, const Call *c)
{
	Str from = span_source(c->arg[0].span), to = span_source(c->arg[1].span);
	Str fix = str_fmt("%s, %s", to, from);
	diag_help(d, "the number of values stands first: write `%s`", fix);
	diag_edit(d, span_join(c->arg[0].span, c->arg[1].span), fix);
}

static bool power_of_two(Cx *cx, Call *c, int i, int64_t v, int64_t max, int *log2)
{
	*log2 = 0;
	while (*log2 < 30 && ((int64_t)1 << *log2) < v) ++*log2;
	if (v >= 1 && ((int64_t)1 << *log2) == v && v <= max) return true;
	Diag *d = cx_diag(cx, D_POW2, c->arg[i].span, c->sig->p[i].name, str_i64(v));
	diag_note(d, "it is a power of two from 1 to %lld", (long long)max);
	if (v > 1 && v < max)
		diag_help(d, "the next larger is %lld", 1LL << *log2);
	else if (c->op == OP_ARANGE && c->arg[1].given)
		help_arange(d, c);
	return false;
}

static Sv build_arange(Cx *cx, Call *c)
{
	int64_t n;
	int log2;
	if (!arg_int(cx, c, 0, &n) || !power_of_two(cx, c, 0, n, 1 << TILE_LOG2, &log2)) return sv_poison(c->span);
	Sv start = c->arg[1].given ? arg_value(cx, c, 1, NULL) : sv_int(0, c->span);
	Sv step = c->arg[2].given ? arg_value(cx, c, 2, NULL) : sv_int(1, c->span);
	if (!is_value(cx, start, call_what(c)) || !is_value(cx, step, call_what(c))) return sv_poison(c->span);
	Elem literal = start.kind == SV_FLOAT || step.kind == SV_FLOAT ? EL_F32 : EL_I32;
	Elem e = !sv_untyped(start) ? start.type->elem : !sv_untyped(step) ? step.type->elem : literal;
	if (elem_is_ptr(e) || !elem_is_int(e)) {
		cx_diag(cx, D_NEED_INT, c->span, call_what(c), elem_name(e));
		return sv_poison(c->span);
	}
	uint8_t shape[TILE_RANK] = { (uint8_t)log2 };
	Shape s = { .rank = 1, .hole = -1 };
	s.log2[0] = (uint8_t)log2;
	const Type *t = sema_tile_type(cx, e, s, c->span);
	if (!t || !iota_fits(cx, c, e, s)) return sv_poison(c->span);
	Sv v = sv_val(ir_op1(at_span(cx, c->span), OP_IOTA, type_tile(e, 1, shape), 0, NULL), c->span);
	bool unit = step.kind == SV_INT && step.u.i == 1, zero = start.kind == SV_INT && start.u.i == 0;
	if (!unit) v = elem_binary(cx, OP_MUL, v, step, &no_modes, c->span, call_what(c));
	if (!zero && !sv_bad(v)) v = elem_binary(cx, OP_ADD, v, start, &no_modes, c->span, call_what(c));
	return v;
}

/* Any integers: the generator works on u64. */
static Val *random_operand(Cx *cx, Call *c, int i)
{
	Sv x = arg_value(cx, c, i, NULL);
	if (sv_untyped(x)) x = lit_adapt(cx, x, EL_U64, sv_absent(c->span));
	if (!is_value(cx, x, call_what(c))) return NULL;
	if (elem_is_ptr(x.type->elem) || !elem_is_int(x.type->elem)) {
		Diag *d = cx_diag(cx, D_NEED_INT, x.span, call_what(c), sv_what(x));
		if (!elem_is_ptr(x.type->elem)) help_cast(cx, d, x, EL_I64);
		return NULL;
	}
	if (i == 0 && sv_is_tile(x)) {
		Diag *d = cx_diag(cx, D_NEED_SCALAR, x.span, "the seed", sv_what(x));
		Sv y = arg_value(cx, c, 1, NULL);
		bool swapped = !sv_bad(y) && (sv_untyped(y) || sv_is_scalar(y));
		if (swapped) {
			diag_help(d, "the seed stands before the offsets: `%s, %s`", span_source(y.span), span_source(x.span));
			diag_edit(d, x.span, span_source(y.span));
			diag_edit(d, y.span, span_source(x.span));
		} else {
			diag_help(d, "a tile of numbers has one seed, and its offsets differ from element to element");
		}
		return NULL;
	}
	Val *v = conv_val(cx, x);
	at_span(cx, c->span);
	return val_cast(cx, v, EL_U64, (FoldModes){ 0 });
}

static Sv build_rand(Cx *cx, Call *c)
{
	Val *seed = random_operand(cx, c, 0), *offset = seed ? random_operand(cx, c, 1) : NULL;
	if (!offset) return sv_poison(c->span);
	const Type *t = type_with_elem(offset->type, c->op == OP_RANDINT ? EL_U32 : EL_F32);
	return sv_val(ir_binary(at_span(cx, c->span), c->op, t, seed, offset), c->span);
}

Sv build_tile(Cx *cx, Call *c)
{
	switch (c->op) {
	case OP_IOTA: return build_iota(cx, c);
	case OP_ARANGE: return build_arange(cx, c);
	case OP_RAND: case OP_RANDN: case OP_RANDINT: return build_rand(cx, c);
	default: return build_full(cx, c);
	}
}

/* ---- shapes ---- */

static int log2_of(Shape s)
{
	int n = 0;
	for (int i = 0; i < s.rank; i++) n += s.log2[i];
	return n;
}

/* The first extent that can be left to the compiler, so that the elements are as many as before. */
static void help_reshape(Diag *d, const Call *c, int have, const Shape *s)
{
	const Expr *e = c->arg[1].e;
	for (int i = 0; e->kind == EX_LIST && s->hole < 0 && i < s->rank; i++) {
		if (log2_of(*s) - s->log2[i] > have) continue;
		diag_help(d, "write `_` for `%s`, and it is inferred", span_source(e->u.list.p[i]->span));
		diag_edit(d, e->u.list.p[i]->span, "_");
		return;
	}
}

static Sv build_reshape(Cx *cx, Call *c, Sv x)
{
	Shape s;
	if (!arg_shape(cx, c, 1, true, &s)) return sv_poison(c->span);
	int have = sv_is_tile(x) ? type_log2_size(x.type) : 0, want = log2_of(s);
	if (s.hole >= 0 && want <= have) {
		s.log2[s.hole] = (uint8_t)(have - want);
		want = have;
	}
	if (have != want) {
		Diag *d = cx_diag(cx, D_RESHAPE_SIZE, c->span, sv_what(x), shape_text(s.rank, s.log2),
			str_i64((int64_t)1 << have), str_i64((int64_t)1 << want));
		label_operand(d, x);
		help_reshape(d, c, have, &s);
		return sv_poison(c->span);
	}
	Val *v = conv_val(cx, x);
	at_span(cx, c->span);
	if (!sv_is_tile(x)) return sv_val(val_broadcast(cx, v, type_tile(v->type->elem, s.rank, s.log2)), c->span);
	return sv_val(reshape(cx, v, s.rank, s.log2), c->span);
}

/* Where an axis of extent 1 is missing: the axis that `expand` has to add so that x broadcasts to s, or -1. */
static int missing_axis(Sv x, const Shape *s)
{
	uint8_t log2[TILE_RANK];
	int rank = x.type->rank, axis;
	if (rank + 1 > s->rank) return -1;
	for (int k = rank; k >= 0; k--) {
		for (int i = 0; i <= rank; i++) log2[i] = i == k ? 0 : x.type->log2[i - (i > k)];
		if (rule_one_way(type_tile(x.type->elem, rank + 1, log2), s->rank, s->log2, &axis)) return k;
	}
	return -1;
}

static Sv build_broadcast(Cx *cx, Call *c, Sv x)
{
	Shape s;
	int axis = 0;
	if (!arg_shape(cx, c, 1, false, &s)) return sv_poison(c->span);
	const Type *t = sema_tile_type(cx, x.type->elem, s, c->span);
	if (!t) return sv_poison(c->span);
	if (sv_is_tile(x) && !rule_one_way(x.type, s.rank, s.log2, &axis)) {
		Diag *d = cx_diag(cx, D_BROADCAST_TO, c->span, sv_what(x), shape_text(s.rank, s.log2));
		label_operand(d, x);
		diag_note(d, x.type->rank > s.rank ? "the result has fewer axes than the operand" :
			"shapes are compared from the last axis; an extent must be 1 or stay as it is");
		int k = missing_axis(x, &s);
		if (k < 0) diag_help(d, "`reshape` gives the same elements another shape, `extract` takes a part of a tile");
		else {
			diag_help(d, "is its missing axis the one at %d? `expand(%s, %d)` adds it", k, span_source(x.span), k);
			diag_edit(d, x.span, str_fmt("expand(%s, %d)", span_source(x.span), k));
		}
		return sv_poison(c->span);
	}
	Val *v = conv_val(cx, x);
	at_span(cx, c->span);
	return sv_val(val_broadcast(cx, v, t), c->span);
}

static Val *permute(Cx *cx, Val *v, const int64_t *axes)
{
	uint8_t log2[TILE_RANK] = { 0 };
	bool same = true;
	for (int i = 0; i < v->type->rank; i++) {
		log2[i] = v->type->log2[axes[i]];
		same &= axes[i] == i;
	}
	if (same) return v;
	const Type *t = type_tile(v->type->elem, v->type->rank, log2);
	Num n;
	if (ir_const_value(v, &n)) return const_val(cx, t, n);
	Val *r = ir_unary(&cx->b, OP_PERMUTE, t, v);
	ir_set_ints(r->def, AT_AXES, v->type->rank, axes);
	return r;
}

Diag *report_axes(Cx *cx, Span at, int rank)
{
	Diag *d = cx_diag(cx, D_PERMUTE_AXES, at, rank > 1 ? str_fmt("0 .. %d", rank - 1) : str_intern(rank ?
		"and there is only axis 0" : "and there is none"));
	Str last_first = str_fmt("[%s", rank ? "" : "]");
	for (int i = rank - 1; i >= 0; i--) last_first = str_fmt("%s%d%s", last_first, i, i ? ", " : "]");
	diag_help(d, "the list has the axes in their new order, as in `%s`", last_first);
	return d;
}

bool all_axes(Cx *cx, Call *c, int n, const int64_t *axes, int rank)
{
	unsigned seen = 0;
	for (int i = 0; i < n && n == rank; i++)
		if (axes[i] >= 0 && axes[i] < rank) seen |= 1u << axes[i];
	if (n == rank && seen == (1u << rank) - 1) return true;
	label_operand(report_axes(cx, c->arg[1].span, rank), c->arg[0].sv);
	return false;
}

static Sv build_permute(Cx *cx, Call *c, Sv x)
{
	int64_t axes[TILE_RANK];
	int n;
	if (!arg_ints(cx, c, 1, &n, axes, TILE_RANK) || !all_axes(cx, c, n, axes, sv_is_tile(x) ? x.type->rank : 0))
		return sv_poison(c->span);
	if (!sv_is_tile(x)) return x;
	at_span(cx, c->span);
	return sv_val(permute(cx, x.u.val, axes), c->span);
}

/* `transpose` without axes exchanges the first two, and the author may mean the last two, as elsewhere: where the types
 * do not tell, the axes have to. */
static void warn_transpose(Cx *cx, const Call *c, Sv x)
{
	int n = x.type->rank;
	const uint8_t *l = x.type->log2;
	bool alike = n == 3 ? l[0] == l[1] && l[1] == l[2] : n > 3 && l[0] == l[1] && l[n - 2] == l[n - 1];
	if (!alike || !l[n - 1]) return;
	Diag *d = cx_diag(cx, D_TRANSPOSE_AXES, c->span, sv_what(x));
	Str t = shortened(x.span);
	diag_help(d, "`transpose(%s, %d, %d)` exchanges the last two, `transpose(%s, 0, 1)` says that the first two are "
		"meant", t, n - 2, n - 1, t);
}

static Sv build_transpose(Cx *cx, Call *c, Sv x)
{
	int i = 0, j = 1;
	if (c->arg[1].given && !sv_is_tile(x)) {
		cx_diag(cx, D_NEED_TILE, x.span, call_what(c), sv_what(x));
		return sv_poison(c->span);
	}
	if (c->arg[1].given && (!arg_axis(cx, c, 1, x.type, &i) || !arg_axis(cx, c, 2, x.type, &j)))
		return sv_poison(c->span);
	if (!sv_is_tile(x) || (!c->arg[1].given && x.type->rank < 2)) return x;
	if (!c->arg[1].given) warn_transpose(cx, c, x);
	int64_t axes[TILE_RANK];
	for (int k = 0; k < TILE_RANK; k++) axes[k] = k;
	axes[i] = j;
	axes[j] = i;
	at_span(cx, c->span);
	return sv_val(permute(cx, x.u.val, axes), c->span);
}

/* The second operand of cat, join and insert: a tile literal has the type of the first. */
static Sv second_tile(Cx *cx, Call *c, Sv x)
{
	Sv y = arg_operand(cx, c, 1);
	if (y.kind == SV_LIT) c->arg[1].sv = lit_give(cx, y, x.type->elem, x);
	return arg_tile(cx, c, 1);
}

static Sv build_cat(Cx *cx, Call *c, Sv x)
{
	int axis;
	Sv y = second_tile(cx, c, x);
	if (sv_bad(y) || !arg_axis(cx, c, 2, x.type, &axis)) return sv_poison(c->span);
	Ruling r = rule_cat(x.type, y.type, axis);
	if (r.why != RULE_OK) {
		if (r.why == RULE_ELEMENTS || r.why == RULE_BYTES) {
			report_ruling(cx, r, x, y, c->span, call_what(c));
			return sv_poison(c->span);
		}
		Diag *d = cx_diag(cx, D_CAT_TYPES, c->span, sv_what(x), sv_what(y));
		label_operand(d, x);
		label_operand(d, y);
		if (r.why == RULE_SAME) help_cast(cx, d, y, x.type->elem);
		else {
			diag_note(d, "extents are powers of two, so only equal ones can be added");
			diag_help(d, "`extract(x, shape, index)` takes a part of a tile; equal parts can be concatenated");
		}
		return sv_poison(c->span);
	}
	Val *in[2] = { x.u.val, y.u.val };
	at_span(cx, c->span);
	return sv_val(op_axis(cx, OP_CAT, r.type, 2, in, axis), c->span);
}

/* ---- sub-tiles ---- */

static bool sub_shape(Cx *cx, Call *c, Sv x, Shape s)
{
	bool ok = s.rank == x.type->rank;
	for (int i = 0; ok && i < s.rank; i++) ok = s.log2[i] <= x.type->log2[i];
	if (ok) return true;
	Diag *d = cx_diag(cx, D_EXTRACT_SHAPE, c->span, shape_text(s.rank, s.log2), sv_what(x));
	label_operand(d, x);
	diag_note(d, "a sub-tile has the same rank and no greater extents");
	return false;
}

static bool sub_index(Cx *cx, Call *c, int i, Sv x, Shape s, Val **in)
{
	Sv idx[TILE_RANK];
	if (!index_list(cx, c->arg[i].e, call_what(c), s.rank, idx)) return false;
	for (int k = 0; k < s.rank; k++) {
		Num n;
		int64_t tiles = (int64_t)1 << (x.type->log2[k] - s.log2[k]);
		if (sv_const_num(idx[k], &n) && (n.i < 0 || n.i >= tiles)) {
			Diag *d = cx_diag(cx, D_INDEX_RANGE, idx[k].span, str_i64(n.i), str_i64(tiles - 1));
			label_operand(d, x);
			diag_note(d, "an index counts sub-tiles, not elements");
			return false;
		}
		in[k] = conv_val(cx, idx[k]);
		if (!cx->opt->checked || sv_const_num(idx[k], &n)) continue;
		at_span(cx, idx[k].span);
		Val *below = val_cmp(cx, OP_LT, in[k], val_int(cx, in[k]->type->elem, tiles));
		Val *ok = val_op2(cx, OP_AND, val_cmp(cx, OP_GE, in[k], val_int(cx, in[k]->type->elem, 0)), below);
		build_check(cx, sv_val(ok, idx[k].span),
			str_fmt("index `%s` outside 0 .. %lld", span_source(idx[k].span), (long long)tiles - 1), idx[k].span);
	}
	return true;
}

/* extract(x, [0], [8]), as cuTile has it: extents are never 0. */
static bool index_first(Cx *cx, Call *c)
{
	const Expr *shape = c->arg[1].e, *index = c->arg[2].e;
	bool zero = false, swapped = shape && index && shape->kind == EX_LIST && index->kind == EX_LIST;
	for (int i = 0; swapped && i < shape->u.list.n; i++) {
		const Expr *e = shape->u.list.p[i];
		Sv v = e->kind == EX_INT ? lit_int(cx, e) : sv_none(e->span);
		zero |= v.kind == SV_INT && v.u.i == 0;
	}
	if (!zero) return false;
	Diag *d = cx_diag(cx, D_TILE_POW2, shape->span, "0");
	diag_help(d, "the shape stands before the index: write `%s, %s`", span_source(index->span),
		span_source(shape->span));
	diag_edit(d, shape->span, span_source(index->span));
	diag_edit(d, index->span, span_source(shape->span));
	return true;
}

static Sv build_extract(Cx *cx, Call *c, Sv x)
{
	Shape s;
	Val *in[1 + TILE_RANK] = { x.u.val };
	if (index_first(cx, c)) return sv_poison(c->span);
	if (!arg_shape(cx, c, 1, false, &s) || !sub_shape(cx, c, x, s) || !sub_index(cx, c, 2, x, s, in + 1))
		return sv_poison(c->span);
	const Type *t = type_tile(x.type->elem, s.rank, s.log2);
	return sv_val(ir_op1(at_span(cx, c->span), OP_EXTRACT, t, 1 + s.rank, in), c->span);
}

static Sv build_insert(Cx *cx, Call *c, Sv x)
{
	Sv y = second_tile(cx, c, x);
	if (sv_bad(y)) return y;
	Shape s = shape_of(y.type);
	Val *in[2 + TILE_RANK] = { x.u.val };
	if (!sub_shape(cx, c, x, s)) return sv_poison(c->span);
	y = conv_to(cx, y, type_tile(x.type->elem, s.rank, s.log2), CONV_ARG, NULL, (Span){ 0, 0 });
	if (sv_bad(y) || !sub_index(cx, c, 2, x, s, in + 2)) return sv_poison(c->span);
	in[1] = conv_val(cx, y);
	return sv_val(ir_op1(at_span(cx, c->span), OP_INSERT, x.type, 2 + s.rank, in), c->span);
}

static Sv build_expand(Cx *cx, Call *c, Sv x)
{
	int64_t axis;
	if (!arg_int(cx, c, 1, &axis)) return sv_poison(c->span);
	if (axis < 0 || axis > x.type->rank || x.type->rank == TILE_RANK) {
		Diag *d = cx_diag(cx, D_AXIS_RANGE, c->arg[1].span, str_i64(axis), sv_what(x));
		diag_note(d, "the new axis may stand at 0 .. %d", x.type->rank);
		return sv_poison(c->span);
	}
	uint8_t log2[TILE_RANK] = { 0 };
	for (int i = 0, k = 0; i < x.type->rank; i++, k++) {
		if (k == axis) k++;
		log2[k] = x.type->log2[i];
	}
	at_span(cx, c->span);
	return sv_val(reshape(cx, x.u.val, x.type->rank + 1, log2), c->span);
}

/* ---- movement along an axis ---- */

static Sv build_shift(Cx *cx, Call *c, Sv x)
{
	int axis;
	int64_t n;
	if (!arg_axis(cx, c, 1, x.type, &axis) || !arg_int(cx, c, 2, &n)) return sv_poison(c->span);
	Val *in[2] = { x.u.val, NULL };
	int64_t len = type_extent(x.type, axis);
	if (c->op == OP_SHIFT) {
		Sv fill = arg_value(cx, c, 3, type_scalar(x.type->elem));
		if (sv_one_element(fill)) fill = sv_val(one_scalar(cx, fill.u.val), fill.span);
		fill = conv_to(cx, fill, type_scalar(x.type->elem), CONV_ARG, str_intern("fill"), (Span){ 0, 0 });
		if (sv_bad(fill)) return fill;
		in[1] = conv_val(cx, fill);
		if (n >= len || n <= -len) return sv_val(val_broadcast(cx, in[1], x.type), c->span);
	} else {
		n = ((n % len) + len) % len;
	}
	if (!n) return x;
	at_span(cx, c->span);
	Val *v = op_axis(cx, c->op, x.type, in[1] ? 2 : 1, in, axis);
	ir_set_int(v->def, AT_SHIFT, n);
	return sv_val(v, c->span);
}

static bool sortable(Cx *cx, Call *c, Sv x)
{
	if (!elem_is_ptr(x.type->elem) && elem_is_arith(x.type->elem)) return true;
	cx_diag(cx, D_RESTRICTED, c->span, call_what(c), elem_name(x.type->elem));
	return false;
}

static Sv build_flip_sort(Cx *cx, Call *c, Sv x)
{
	int axis, down = 0;
	if (!arg_axis(cx, c, 1, x.type, &axis)) return sv_poison(c->span);
	if (c->op == OP_SORT && (!sortable(cx, c, x) || !arg_word(cx, c, AT_DESCENDING, &down))) return sv_poison(c->span);
	at_span(cx, c->span);
	Val *v = op_axis(cx, c->op, x.type, 1, &x.u.val, axis);
	if (down) ir_set_int(v->def, AT_DESCENDING, down);
	return sv_val(v, c->span);
}

static Sv build_topk(Cx *cx, Call *c, Sv x)
{
	int axis = x.type->rank - 1, log2;
	int64_t k;
	if (!x.type->rank) {
		cx_diag(cx, D_AXIS_RANGE, c->span, "0", sv_what(x));
		return sv_poison(c->span);
	}
	if (!sortable(cx, c, x) || !arg_int(cx, c, 1, &k)) return sv_poison(c->span);
	if (c->arg[2].given && !arg_axis(cx, c, 2, x.type, &axis)) return sv_poison(c->span);
	if (!power_of_two(cx, c, 1, k, type_extent(x.type, axis), &log2)) return sv_poison(c->span);
	Shape s = shape_of(x.type);
	s.log2[axis] = (uint8_t)log2;
	const Type *out[2] = { type_tile(x.type->elem, s.rank, s.log2), type_tile(EL_I32, s.rank, s.log2) };
	Op *op = ir_op(at_span(cx, c->span), OP_TOPK, 1, &x.u.val, 2, out);
	ir_set_int(op, AT_AXIS, axis);
	ir_set_int(op, AT_NUMBER, k);
	Sv both[2] = { sv_val(op->out[0], c->span), sv_val(op->out[1], c->span) };
	return sv_tuple(2, both, c->span);
}

static Sv build_histogram(Cx *cx, Call *c, Sv x)
{
	int64_t bins;
	int log2;
	if (elem_is_ptr(x.type->elem) || !elem_is_integral(x.type->elem)) {
		cx_diag(cx, D_NEED_INT, c->span, call_what(c), sv_what(x));
		return sv_poison(c->span);
	}
	if (!arg_int(cx, c, 1, &bins) || !power_of_two(cx, c, 1, bins, 1 << 22, &log2)) return sv_poison(c->span);
	uint8_t shape[TILE_RANK] = { (uint8_t)log2 };
	Val *v = ir_unary(at_span(cx, c->span), OP_HISTOGRAM, type_tile(EL_I32, 1, shape), x.u.val);
	ir_set_int(v->def, AT_NUMBER, bins);
	return sv_val(v, c->span);
}

/* ---- pairs ---- */

static Val *join(Cx *cx, Val *x, Val *y)
{
	uint8_t log2[TILE_RANK] = { 0 };
	memcpy(log2, x->type->log2, sizeof log2);
	log2[x->type->rank] = 1;
	return ir_binary(&cx->b, OP_JOIN, type_tile(x->type->elem, x->type->rank + 1, log2), x, y);
}

static Op *split(Cx *cx, Val *x)
{
	const Type *t = type_tile(x->type->elem, x->type->rank - 1, x->type->log2), *out[2] = { t, t };
	return ir_op(&cx->b, OP_SPLIT, 1, &x, 2, out);
}

static Sv build_join(Cx *cx, Call *c, Sv x)
{
	Sv y = second_tile(cx, c, x);
	if (sv_bad(y)) return y;
	if (x.type != y.type) {
		Diag *d = cx_diag(cx, D_CAT_TYPES, c->span, sv_what(x), sv_what(y));
		label_operand(d, x);
		label_operand(d, y);
		if (x.type == type_tile(x.type->elem, y.type->rank, y.type->log2)) help_cast(cx, d, y, x.type->elem);
		else diag_help(d, "`broadcast(x, shape)` and `extract(x, shape, index)` give a tile another shape");
		return sv_poison(c->span);
	}
	uint8_t log2[TILE_RANK + 1] = { 0 };
	memcpy(log2, x.type->log2, sizeof x.type->log2);
	log2[x.type->rank] = 1;
	RuleWhy why = rule_limits(x.type->elem, x.type->rank + 1, log2);
	if (why != RULE_OK) {
		report_ruling(cx, (Ruling){ .why = why }, x, y, c->span, call_what(c));
		return sv_poison(c->span);
	}
	at_span(cx, c->span);
	return sv_val(join(cx, x.u.val, y.u.val), c->span);
}

static Sv build_split(Cx *cx, Call *c, Sv x)
{
	if (!x.type->rank || x.type->log2[x.type->rank - 1] != 1) {
		Diag *d = cx_diag(cx, D_SPLIT_SHAPE, c->span, sv_what(x));
		label_operand(d, x);
		diag_help(d, "`extract(x, shape, index)` takes other parts, and `reshape` makes an axis of length 2");
		return sv_poison(c->span);
	}
	at_span(cx, c->span);
	Op *op = split(cx, x.u.val);
	Sv both[2] = { sv_val(op->out[0], c->span), sv_val(op->out[1], c->span) };
	return sv_tuple(2, both, c->span);
}

/* Low nibble first: element 2i goes to the low half of byte i. */
static Sv build_pack(Cx *cx, Call *c, Sv x)
{
	int n = x.type->rank;
	bool bytes = x.type->elem == EL_U8 || x.type->elem == EL_I8;
	if (!bytes || !n || !x.type->log2[n - 1] || n == TILE_RANK) {
		Diag *d = cx_diag(cx, D_PACK_TYPE, c->span, call_what(c), sv_what(x));
		diag_note(d, "it takes u8 (or i8) tiles with an even last extent");
		return sv_poison(c->span);
	}
	uint8_t log2[TILE_RANK] = { 0 };
	memcpy(log2, x.type->log2, sizeof log2);
	log2[n - 1]--;
	log2[n] = 1;
	at_span(cx, c->span);
	Val *v = x.u.val;
	if (x.type->elem == EL_I8) v = ir_unary(&cx->b, OP_BITCAST, type_with_elem(v->type, EL_U8), v);
	Op *halves = split(cx, reshape(cx, v, n + 1, log2));
	const Type *t = halves->out[0]->type;
	Val *lo = val_op2(cx, OP_AND, halves->out[0], const_val(cx, t, num_int(15)));
	Val *hi = val_op2(cx, OP_SHL, halves->out[1], const_val(cx, t, num_int(4)));
	return sv_val(val_op2(cx, OP_OR, lo, hi), c->span);
}

/* 4-bit floats (sign, two exponent bits of bias 1, one fraction bit: 0 0.5 1 1.5 2 3 4 6) as f8e4m3, which has them
 * all: the exponent's bias grows by 6, but the subnormal 0.5 has a pattern of its own. */
static Val *f4e2m1_value(Cx *cx, Val *v)
{
	const Type *t = v->type;
	Val *by = const_val(cx, t, num_int(4)), *sign = val_op2(cx, OP_SHL,
		val_op2(cx, OP_AND, v, const_val(cx, t, num_int(8))), by);
	Val *rest = val_op2(cx, OP_AND, v, const_val(cx, t, num_int(7)));
	Val *bias = const_val(cx, t, num_int(6 << 3));
	Val *normal = val_op2(cx, OP_ADD, val_op2(cx, OP_SHL, rest, const_val(cx, t, num_int(2))), bias);
	Val *small = val_op2(cx, OP_MUL, rest, const_val(cx, t, num_int(6 << 3)));      /* 0, and 0.5 as 1.0 * 2^-1 */
	Val *bits = val_select(cx, val_cmp(cx, OP_LT, rest, const_val(cx, t, num_int(2))), small, normal);
	return ir_unary(&cx->b, OP_BITCAST, type_with_elem(t, EL_F8E4M3), val_op2(cx, OP_OR, sign, bits));
}

static Sv build_unpack(Cx *cx, Call *c, Sv x)
{
	const Expr *kind = c->arg[1].e;
	Str word = kind->kind == EX_NAME ? kind->u.name : str_intern("");
	bool i4 = !strcmp(word, "i4"), f4 = !strcmp(word, "f4e2m1");
	int n = x.type->rank;
	if (!i4 && !f4 && strcmp(word, "u4")) {
		cx_diag(cx, D_ARG_WORD, kind->span, "kind", span_source(kind->span));
		return sv_poison(c->span);
	}
	if ((x.type->elem != EL_U8 && x.type->elem != EL_I8) || !n || n == TILE_RANK) {
		Diag *d = cx_diag(cx, D_PACK_TYPE, c->span, call_what(c), sv_what(x));
		diag_note(d, "it takes u8 (or i8) tiles of rank 1 to %d", TILE_RANK - 1);
		return sv_poison(c->span);
	}
	at_span(cx, c->span);
	/* shifting up and down again extends the sign of an i4 and clears the upper bits of a u4 */
	const Type *t = type_with_elem(x.type, i4 ? EL_I8 : EL_U8);
	Val *v = x.type == t ? x.u.val : ir_unary(&cx->b, OP_BITCAST, t, x.u.val);
	Val *four = const_val(cx, t, num_int(4));
	Val *lo = val_op2(cx, OP_SHR, val_op2(cx, OP_SHL, v, four), four), *hi = val_op2(cx, OP_SHR, v, four);
	Shape s = shape_of(x.type);
	s.log2[n - 1]++;
	if (!sema_tile_type(cx, t->elem, s, c->span)) return sv_poison(c->span);
	Val *all = reshape(cx, join(cx, lo, hi), n, s.log2);
	return sv_val(f4 ? f4e2m1_value(cx, all) : all, c->span);
}

/* ---- gather inside a tile ---- */

static bool take_shape(const Type *x, const Type *index, int axis)
{
	if (x->rank != index->rank) return false;
	for (int i = 0; i < x->rank; i++)
		if (i != axis && x->log2[i] != index->log2[i]) return false;
	return true;
}

Sv tile_gather(Cx *cx, Call *c)
{
	Sv x = arg_tile(cx, c, 0), index = arg_tile(cx, c, 1);
	int axis;
	if (sv_bad(x) || sv_bad(index) || !arg_axis(cx, c, 2, x.type, &axis)) return sv_poison(c->span);
	bool ints = !elem_is_ptr(index.type->elem) && elem_is_int(index.type->elem);
	if (!ints || !take_shape(x.type, index.type, axis)) {
		Diag *d = cx_diag(cx, D_TAKE_INDEX, c->span, sv_what(index), sv_what(x));
		label_operand(d, x);
		label_operand(d, index);
		diag_note(d, "the index is an integer tile whose shape may differ along the axis only");
		return sv_poison(c->span);
	}
	Sv pad = c->arg[3].given ? arg_value(cx, c, 3, type_scalar(x.type->elem))
		: sv_const(x.type->elem, num_zero(x.type->elem), c->span);
	pad = conv_to(cx, pad, type_scalar(x.type->elem), CONV_ARG, str_intern("pad"), (Span){ 0, 0 });
	if (sv_bad(pad)) return pad;
	Val *in[3] = { x.u.val, index.u.val, conv_val(cx, pad) };
	at_span(cx, c->span);
	if (cx->opt->checked && !c->arg[3].given) {
		const Type *t = index.type;
		Val *low = val_cmp(cx, OP_GE, in[1], const_val(cx, t, num_int(0)));
		Val *high = type_extent(x.type, axis) - 1 >= num_greatest(t->elem).i && num_greatest(t->elem).i >= 0 ? low :
			val_cmp(cx, OP_LT, in[1], const_val(cx, t, num_int(type_extent(x.type, axis))));
		build_check(cx, sv_val(val_op2(cx, OP_AND, low, high), c->span),
			str_fmt("index of `%s` outside axis %d of %s", span_source(c->span), axis, type_text(x.type)), c->span);
	}
	return sv_val(op_axis(cx, OP_TAKE, type_with_elem(index.type, x.type->elem), 3, in, axis), c->span);
}

/* ---- calls ---- */

Sv build_shape(Cx *cx, Call *c)
{
	bool two = c->op == OP_CAT || c->op == OP_JOIN;
	Sv x = two ? arg_operand(cx, c, 0) : arg_value(cx, c, 0, NULL);
	if (x.kind == SV_LIT) {
		Sv y = arg_operand(cx, c, 1);
		x = c->arg[0].sv = sv_is_tile(y) ? lit_give(cx, x, y.type->elem, y) : lit_default(cx, x);
	}
	if (sv_bad(x)) return x;
	if (x.kind == SV_VIEW && (c->op == OP_PERMUTE || c->op == OP_TRANSPOSE)) return view_permute(cx, c);
	if (x.kind == SV_VIEW && c->op == OP_RESHAPE) return view_reshape(cx, c);
	x = conv_default(cx, x);
	if (!is_value(cx, x, call_what(c))) return sv_poison(c->span);
	switch (c->op) {
	case OP_RESHAPE: return build_reshape(cx, c, x);
	case OP_BROADCAST: return build_broadcast(cx, c, x);
	case OP_PERMUTE: return build_permute(cx, c, x);
	case OP_TRANSPOSE: return build_transpose(cx, c, x);
	default: break;
	}
	if (c->op == OP_EXTRACT && sv_is_scalar(x)) {   /* a scalar has one sub-tile: itself */
		Val *v = conv_val(cx, x);
		at_span(cx, c->span);
		return build_extract(cx, c, sv_val(val_broadcast(cx, v, type_tile(v->type->elem, 0, (uint8_t[TILE_RANK]){ 0 })),
			x.span));
	}
	x = arg_tile(cx, c, 0);
	if (sv_bad(x)) return x;
	switch (c->op) {
	case OP_CAT: return build_cat(cx, c, x);
	case OP_EXTRACT: return build_extract(cx, c, x);
	case OP_INSERT: return build_insert(cx, c, x);
	case OP_EXPAND: return build_expand(cx, c, x);
	case OP_SHIFT: case OP_ROTATE: return build_shift(cx, c, x);
	case OP_FLIP: case OP_SORT: return build_flip_sort(cx, c, x);
	case OP_TOPK: return build_topk(cx, c, x);
	case OP_HISTOGRAM: return build_histogram(cx, c, x);
	case OP_JOIN: return build_join(cx, c, x);
	case OP_SPLIT: return build_split(cx, c, x);
	case OP_PACK: return build_pack(cx, c, x);
	default: return build_unpack(cx, c, x);
	}
}
