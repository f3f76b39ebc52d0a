/* Loads, stores, gathers, scatters, atomics: on tensors and views, and in `unsafe` on pointer tiles. What lies outside
 * is padding for loads and dropped by stores, so none of these can fail at run time. */
#include "sema/build.h"
#include "sema/distinct.h"
#include "sema/scope.h"

#include <string.h>

/* ---- arguments that several have ---- */

static bool is_word(const Expr *e, const char *w)
{
	return e->kind == EX_NAME && !strcmp(e->u.name, w);
}

static Val *pad_value(Cx *cx, Sv v, const Type *t)
{
	if (v.kind == SV_INT && elem_is_any_float(t->elem)) {
		Num n;
		if (lit_fit(v, t->elem, &n) == FIT_OK) v = sv_const(t->elem, n, v.span);
	}
	v = conv_to(cx, v, t, CONV_ARG, str_intern("pad"), (Span){ 0, 0 });
	return sv_bad(v) ? NULL : conv_val(cx, v);
}

/* `zero`, `neg_zero`, or any value of the element type. Where `lanes` is given, the shape of an access through
 * pointers, a tile that broadcasts to it is a pad too. NULL: reported. */
static Val *pad_arg(Cx *cx, Call *c, Elem e, const Type *lanes)
{
	int i = arg_index(c, "pad");
	at_span(cx, c->span);
	const Type *t = type_scalar(e);
	if (i < 0 || !c->arg[i].given || is_word(c->arg[i].e, "zero")) return const_val(cx, t, num_zero(e));
	if (is_word(c->arg[i].e, "neg_zero")) {
		if (!elem_is_ptr(e) && elem_is_any_float(e)) return const_val(cx, t, num_float(-0.0));
		cx_diag(cx, D_NEED_FLOAT, c->arg[i].span, "`pad: neg_zero`", elem_name(e));
		return NULL;
	}
	Sv v = arg_value(cx, c, i, t);
	if (lanes && sv_is_tile(v) && v.type->rank && spreads_to(v, lanes))
		return pad_value(cx, v, type_with_elem(v.type, e));
	if (sv_one_element(v) && (!lanes || !v.type->rank)) v = sv_val(one_scalar(cx, v.u.val), v.span);
	return pad_value(cx, v, t);
}

static bool latency_arg(Cx *cx, Call *c, int64_t *out)
{
	int i = arg_index(c, "latency");
	*out = cx->latency;
	if (i < 0 || !c->arg[i].given) return true;
	if (!arg_int(cx, c, i, out)) return false;
	if (*out >= 1 && *out <= 10) {
		if (!cx->opt->least_arch) return true;
		Diag *d = cx_diag(cx, D_HINT_IDLE, c->arg[i].span, "`latency:`",
			"the compiler chooses how far ahead tiles are loaded");
		diag_help(d, "leave it out");
		return true;
	}
	cx_diag(cx, D_LATENCY, c->arg[i].span, str_i64(*out));
	return false;
}

/* How an access takes part in the order of memory. A strong access, one with a memory order, is an atomic operation on
 * each element: the IR has no other way to say it, so that every pass that knows atomics treats it right. */
typedef struct Strength { bool strong; int order, scope; } Strength;

static const char *orders_of(OpCode op)
{
	const char *w[8];
	int n = 0;
	for (int i = 0; attr_word_text(AT_ORDER, i); i++)
		if (op_takes_order(op, i)) w[n++] = attr_word_text(AT_ORDER, i);
	return list_or(n, w);
}

static bool is_given(const Call *c, const char *name)
{
	int i = arg_index(c, name);
	return i >= 0 && c->arg[i].given;
}

static bool order_arg(Cx *cx, Call *c, Strength *s)
{
	if (!arg_word(cx, c, AT_ORDER, &s->order) || !arg_word(cx, c, AT_SCOPE, &s->scope)) return false;
	bool weak = s->order == attr_word(AT_ORDER, str_intern("weak")) || !is_given(c, "order");
	if (is_given(c, "order") && !op_takes_order(c->op, s->order)) {
		Diag *d = cx_diag(cx, D_ORDER, c->arg[arg_index(c, "order")].span, call_what(c),
			attr_word_text(AT_ORDER, s->order));
		diag_help(d, "it takes %s", orders_of(c->op));
		return false;
	}
	s->strong = !weak || !op_takes_order(c->op, attr_word(AT_ORDER, str_intern("weak")));
	if (!s->strong && is_given(c, "scope")) {
		Diag *d = cx_diag(cx, D_SCOPE, c->arg[arg_index(c, "scope")].span, call_what(c));
		diag_help(d, "give it an order, `order: relaxed` or a stronger one, or leave `scope:` out");
		return false;
	}
	if (s->strong && is_given(c, "cache")) cx_diag(cx, D_CACHE_ORDER, c->arg[arg_index(c, "cache")].span);
	return true;
}

static void put_strength(Op *op, const Strength *s)
{
	if (s->strong && s->order) ir_set_int(op, AT_ORDER, s->order);
	if (s->strong && s->scope) ir_set_int(op, AT_SCOPE, s->scope);
}

static void put_latency(Op *op, const Strength *s, int64_t latency)
{
	if (latency && !s->strong) ir_set_int(op, AT_LATENCY, latency);
}

/* The view as the program names it. */
static Str written_view(const Call *c, const View *v)
{
	Str text = span_source(c->arg[0].span);
	return c->arg[0].span.hi && str_len(text) <= 40 ? text : v->root;
}

static Str view_name(const Call *c, const View *v) { return str_fmt("`%s`", written_view(c, v)); }

/* ---- tiles by index ---- */

/* one: of a tensor with axes a tile of rank 0, one element. s is then of length 1 along each axis. */
typedef struct Access { const View *v; Shape s; int64_t steps[TENSOR_RANK], offsets[TENSOR_RANK]; bool one; } Access;

static void access_one(Access *a)
{
	if (a->v->kind != VK_TENSOR || a->s.rank || !a->v->rank) return;
	a->s.rank = a->v->rank;
	memset(a->s.log2, 0, sizeof a->s.log2);
	a->one = true;
}

/* sum(x, 1), whose axis stays with length 1. */
static bool keeps_axis(const Expr *e)
{
	const Expr *f = e && e->kind == EX_CALL ? e->u.call.callee : NULL;
	OpCode op;
	if (!f || (f->kind != EX_NAME && f->kind != EX_MEMBER)) return false;
	const ArgVec *a = &e->u.call.args;
	bool one = a->n == (f->kind == EX_NAME ? 2 : 1) && a->p[a->n - 1].value->kind == EX_INT;
	return one && op_by_name(f->kind == EX_NAME ? f->u.name : f->u.mem.name.s, &op) && (op_rows[op].flags & OPF_REDUCE);
}

/* Pairs, as `join` makes them, of a tensor whose last axis has both of each side by side. */
static bool help_pairs(Cx *cx, const Access *a, Diag *d, Span at)
{
	int last = a->s.rank - 1;
	int64_t extent;
	if (last != a->v->rank || last < 1 || a->s.log2[last] != 1 || str_len(span_source(at)) > 80) return false;
	if (sym_is_const(a->v->dim[last - 1].sym, &extent) && extent == 2) return false;
	Str shape = extent_names(cx, last - 1, a->s.log2);      /* `[8]`: the last extent is left to reshape */
	if (!shape) return false;
	shape = str_intern_n(shape, str_len(shape) - 1);
	Str t = str_fmt("reshape(%s, %s%s_])", span_source(at), shape, last > 1 ? ", " : "");
	diag_help(d, "pairs become neighbours: write `%s`", t);
	diag_edit(d, at, t);
	return true;
}

/* The tile has axes of length 1 that the tensor has not. */
static void help_fewer_axes(Cx *cx, const Call *c, const Access *a, Diag *d, Span at)
{
	uint8_t log2[TILE_RANK] = { 0 };
	int n = 0, extra = a->s.rank - a->v->rank;
	bool value = c->op == OP_STORE || c->op == OP_STORE_AT;
	for (int i = 0; i < a->s.rank; i++) {
		if (extra && !a->s.log2[i]) extra--;
		else log2[n++] = a->s.log2[i];
	}
	if (extra || n != a->v->rank) return;
	if (value && a->s.rank == n + 1 && keeps_axis(c->arg[2].e)) {
		diag_help(d, "a reduction keeps its axis with length 1; it is dropped by an argument more: `squeeze: true`");
		diag_edit(d, (Span){ at.hi - 1, at.hi - 1 }, ", squeeze: true");
		return;
	}
	Str shape = extent_names(cx, n, log2);
	if (!shape || str_len(span_source(at)) > 80) return;
	Str t = value ? str_fmt("reshape(%s, %s)", span_source(at), shape) : shape;
	diag_help(d, "leave axes of length 1 out: `%s`", t);
	diag_edit(d, at, t);
}

static bool access_rank(Cx *cx, Call *c, const Access *a, Span at)
{
	if (a->s.rank == a->v->rank) return true;
	Diag *d = cx_diag(cx, D_VIEW_TILE_RANK, at, shape_text(a->s.rank, a->s.log2), str_i64(a->s.rank),
		written_view(c, a->v), str_i64(a->v->rank));
	if (a->v->decl.hi) diag_label(d, a->v->decl, "`%s` is %s", written_view(c, a->v), sv_what(sv_view(a->v, at)));
	bool stored = c->op == OP_STORE || c->op == OP_STORE_AT;
	if (a->s.rank > a->v->rank && !(stored && help_pairs(cx, a, d, at))) help_fewer_axes(cx, c, a, d, at);
	if (a->s.rank < a->v->rank && str_len(span_source(at)) <= 40) {
		uint8_t log2[TILE_RANK] = { 0 };
		memcpy(log2 + (a->v->rank - a->s.rank), a->s.log2, (size_t)a->s.rank);
		Str shape = extent_names(cx, a->v->rank, log2);
		if (!shape) {
			diag_help(d, "it has axes of length 1 where the tensor has more, as in `[1, 64]`");
			return false;
		}
		Str t = stored ? str_fmt("reshape(%s, %s)", span_source(at), shape) : shape;
		diag_help(d, "give it axes of length 1: `%s`", t);
		diag_edit(d, at, t);
	}
	return false;
}

static void access_steps(Access *a, bool elements)
{
	for (int i = 0; i < a->v->rank; i++) {
		a->steps[i] = elements ? 1 : (int64_t)1 << a->s.log2[i];
		a->offsets[i] = 0;
	}
}

/* The shape and steps of an access: given with it on a tensor, by the view otherwise. */
static bool access_load(Cx *cx, Call *c, const View *v, Access *a)
{
	int i = arg_index(c, "shape");
	bool elements = c->op == OP_LOAD_AT;
	*a = (Access){ .v = v };
	if (v->kind == VK_TENSOR) {
		if (!c->arg[i].given) {
			Diag *d = cx_diag(cx, D_LOAD_SHAPE, c->span, view_name(c, v));
			diag_help(d, "the shape of the tile follows, as in `%s.%s(index, [64])`", written_view(c, v), c->name);
			return false;
		}
		if (!arg_shape(cx, c, i, false, &a->s)) return false;
		access_one(a);
		if (!access_rank(cx, c, a, c->arg[i].span)) return false;
		access_steps(a, elements);
		return true;
	}
	if (c->arg[i].given || elements) {
		Diag *d = cx_diag(cx, D_LOAD_VIEW_SHAPE, elements ? c->span : c->arg[i].span,
			shape_text(v->tile.rank, v->tile.log2));
		diag_help(d, "the view has the shape: the index alone is given");
		return false;
	}
	a->s = v->tile;
	memcpy(a->steps, v->steps, sizeof a->steps);
	memcpy(a->offsets, v->offsets, sizeof a->offsets);
	return true;
}

static void put_access(Op *op, const Access *a)
{
	bool any = false;
	ir_set_ints(op, AT_STEPS, a->v->rank, a->steps);
	for (int i = 0; i < a->v->rank; i++) any |= a->offsets[i] != 0;
	if (any) ir_set_ints(op, AT_OFFSETS, a->v->rank, a->offsets);
}

/* Indices of an i64 dimension are i64. */
static bool access_index(Cx *cx, Call *c, const View *v, Val **in)
{
	Sv idx[TENSOR_RANK];
	if (!view_index(cx, c, v) || !index_list(cx, c->arg[1].e, view_name(c, v), v->rank, idx)) return false;
	for (int i = 0; i < v->rank; i++) {
		in[i] = conv_val(cx, idx[i]);
		at_span(cx, idx[i].span);
		if (v->dim[i].elem == EL_I64) in[i] = val_i64(cx, in[i]);
	}
	return true;
}

/* ---- element-wise indices ---- */

typedef struct Lanes {
	const Type *t;          /* type_tile(EL_BOOL, ..) or a scalar: the shape of the access */
	Val *idx[TENSOR_RANK];
	Span at[TENSOR_RANK];
	bool box;               /* the elements of a tile by its index, which may lie outside */
} Lanes;

static Sv lane_index(Cx *cx, const Expr *e)
{
	Sv v = sema_expr(cx, e, NULL);
	if (!sv_is_tile(v)) return conv_index(cx, v, e->span);
	if (!elem_is_ptr(v.type->elem) && elem_is_int(v.type->elem)) {
		if (elem_bytes(v.type->elem) >= 4) return v;
		at_span(cx, e->span);
		return sv_val(val_cast(cx, v.u.val, EL_I32, (FoldModes){ 0 }), e->span);
	}
	Diag *d = cx_diag(cx, D_INDEX_TYPE, e->span, sv_what(v));
	if (!elem_is_ptr(v.type->elem)) help_cast(cx, d, v, EL_I32);
	return sv_poison(e->span);
}

static bool lanes_shape(Cx *cx, Call *c, int n, const Sv *v, Lanes *l)
{
	l->t = type_scalar(EL_BOOL);
	for (int i = 0; i < n; i++) {
		Ruling r = rule_binary(TR_LOGIC, l->t, v[i].type);
		if (r.why != RULE_OK) {
			report_ruling(cx, r, i ? v[i - 1] : v[i], v[i], v[i].span, call_what(c));
			return false;
		}
		l->t = r.type;
	}
	return true;
}

static bool lanes(Cx *cx, Call *c, const View *v, Lanes *l)
{
	const Expr *e = c->arg[1].e;
	Sv idx[TENSOR_RANK];
	if (!view_index(cx, c, v)) return false;
	l->box = false;
	for (int i = 0; i < v->rank; i++) {
		idx[i] = lane_index(cx, e->u.list.p[i]);
		if (sv_bad(idx[i])) return false;
	}
	if (!lanes_shape(cx, c, v->rank, idx, l)) return false;
	for (int i = 0; i < v->rank; i++) {
		Val *x = conv_val(cx, idx[i]);
		l->at[i] = idx[i].span;
		at_span(cx, idx[i].span);
		if (v->dim[i].elem == EL_I64) x = val_i64(cx, x);
		l->idx[i] = val_broadcast(cx, x, l->t);
	}
	return true;
}

/* The index tiles of tile `in` of a partition or gather view: base + iota along each axis. The base is clamped to the
 * extent in 64 bits, so that the sum wraps to a negative index at worst, which is outside as well. */
static Val *axis_lanes(Cx *cx, const View *v, int axis, Val *index, const Type *t)
{
	uint8_t log2[TILE_RANK] = { 0 };
	int64_t len = (int64_t)1 << v->tile.log2[axis];
	Elem e = v->dim[axis].elem;
	log2[axis] = v->tile.log2[axis];
	const Type *it = type_tile(e, v->rank, log2);
	if (type_is_tile(index->type)) {
		Val *x = index->type == it ? index : ir_unary(&cx->b, OP_RESHAPE, type_tile(index->type->elem, v->rank, log2),
			index);
		return val_broadcast(cx, x, t);
	}
	Val *step = val_int(cx, EL_I64, v->steps[axis]), *base = val_op2(cx, OP_MUL, val_i64(cx, index), step);
	if (v->offsets[axis]) base = val_op2(cx, OP_ADD, base, val_int(cx, EL_I64, v->offsets[axis]));
	Val *least = val_int(cx, EL_I64, -len);
	base = val_op2(cx, OP_MAX, val_op2(cx, OP_MIN, base, view_extent(cx, v, axis)), least);
	base = val_broadcast(cx, val_cast(cx, base, e, (FoldModes){ 0 }), it);
	Val *sum = val_op2(cx, OP_ADD, base, ir_op1(&cx->b, OP_IOTA, it, 0, NULL));
	return val_broadcast(cx, sum, t);
}

static bool gather_item(Cx *cx, const View *v, int axis, Sv x)
{
	if (sv_bad(x)) return false;
	bool tile = sv_is_tile(x), wanted = v->kind == VK_GATHER && axis == v->axis;
	bool fits = wanted ? tile && x.type->rank == 1 && x.type->log2[0] == v->tile.log2[axis] : !tile;
	if (fits) return true;
	Diag *d = cx_diag(cx, D_GATHER_INDEX, x.span, str_i64(axis), v->root, wanted ? "a tile" : "a scalar", sv_what(x));
	if (wanted) diag_note(d, "its type is tile<i32, [%lld]>", (long long)1 << v->tile.log2[axis]);
	return false;
}

static bool tile_lanes(Cx *cx, Call *c, const View *v, Lanes *l)
{
	const Expr *e = c->arg[1].e;
	Sv idx[TENSOR_RANK];
	if (!view_index(cx, c, v)) return false;
	for (int i = 0; i < v->rank; i++) {
		idx[i] = lane_index(cx, e->u.list.p[i]);
		if (!gather_item(cx, v, i, idx[i])) return false;
	}
	l->t = type_tile(EL_BOOL, v->tile.rank, v->tile.log2);
	l->box = true;
	for (int i = 0; i < v->rank; i++) {
		Val *x = conv_val(cx, idx[i]);
		l->at[i] = idx[i].span;
		at_span(cx, c->span);
		l->idx[i] = axis_lanes(cx, v, i, x, l->t);
	}
	return true;
}

/* The elements of the tile that an access by tile index names. */
static void box_lanes(Cx *cx, Call *c, const Access *a, Val *const *index, Lanes *l)
{
	View v = *a->v;
	v.kind = VK_PARTITION;
	v.tile = a->s;
	memcpy(v.steps, a->steps, sizeof v.steps);
	memcpy(v.offsets, a->offsets, sizeof v.offsets);
	l->t = type_tile(EL_BOOL, a->s.rank, a->s.log2);
	l->box = true;
	at_span(cx, c->span);
	for (int i = 0; i < v.rank; i++) {
		l->at[i] = c->span;
		l->idx[i] = axis_lanes(cx, &v, i, index[i], l->t);
	}
}

/* An element for each lane makes a tile that may be. */
static bool lanes_fit(Cx *cx, const Call *c, const View *v, const Lanes *l)
{
	if (!type_is_tile(l->t) || rule_limits(v->elem, l->t->rank, l->t->log2) == RULE_OK) return true;
	Diag *d = cx_diag(cx, D_RESULT_LARGE, c->span, call_what(c));
	diag_note(d, "%d MiB of `%s`: a tile has at most 16 MiB", elem_bytes(v->elem) << (type_log2_size(l->t) - 20),
		elem_name(v->elem));
	return false;
}

static bool any_lanes(Cx *cx, Call *c, const View *v, Lanes *l)
{
	return (v->kind == VK_TENSOR ? lanes(cx, c, v, l) : tile_lanes(cx, c, v, l)) && lanes_fit(cx, c, v, l);
}

/* True: no mask, or *mask is a bool of the lanes' shape. */
static bool mask_arg(Cx *cx, Call *c, const Type *t, Val **mask)
{
	int i = arg_index(c, "mask");
	*mask = NULL;
	if (i < 0 || !c->arg[i].given) return true;
	Sv m = arg_value(cx, c, i, NULL);
	if (sv_untyped(m)) m = conv_cond(cx, m, m.span);
	if (!is_value(cx, m, "a mask")) return false;
	if (!elem_is_ptr(m.type->elem) && elem_rows[m.type->elem].cls == EC_RFLOAT) {
		cx_diag(cx, D_RESTRICTED, m.span, "a mask", elem_name(m.type->elem));
		return false;
	}
	if (!spreads_to(m, t)) {
		Diag *d = cx_diag(cx, D_MASK_SHAPE, m.span, sv_what(m),
			type_is_tile(t) ? shape_text(t->rank, t->log2) : "one element");
		label_operand(d, m);
		return false;
	}
	Val *v = conv_val(cx, m);
	at_span(cx, m.span);
	*mask = val_spread(cx, val_bool(cx, v), t);
	return true;
}

/* ---- what --checked adds ---- */
/* What a region of an `if` gives for its result v; NULL: it jumps elsewhere. */
static const Val *given_by(const IrBlock *region, const Val *v)
{
	const Op *end = region->last;
	for (int i = 0; end && end->code == OP_YIELD && i < v->def->nout; i++)
		if (v->def->out[i] == v) return ir_in(end, i);
	return NULL;
}

/* A value that only places of the tile block decide: block indices, loop counters, lengths, numbers. A tile of such
 * indices may cross the end of a tensor like any tile. Whatever chooses between places, a place results. */
static bool is_place(const Val *v, int *steps)
{
	if (++*steps > 256) return false;
	const Op *op = v->def;
	if (!op) return v->block->owner && v->block->owner->code == OP_FOR && v->index == 0;
	if (op->code == OP_IF) {
		for (int i = 0; i < op->nregion; i++) {
			const Val *x = given_by(op->region[i], v);
			if (x && !is_place(x, steps)) return false;
		}
		return true;
	}
	if (op->nregion || op_has(op, OPF_READ)) return false;
	for (int i = op->code == OP_SELECT; i < op->nin; i++)
		if (ir_in(op, i)->type->kind != TY_VIEW && !is_place(ir_in(op, i), steps)) return false;
	return true;
}

/* Which elements of an index tile are places; NULL: none. A `select` passes on what the arm is that it takes. */
static Val *place_lanes(Cx *cx, Val *x, int *steps)
{
	const Type *t = type_with_elem(x->type, EL_BOOL);
	const Op *op = x->def;
	int all_steps = 0;
	if (is_place(x, &all_steps)) return const_val(cx, t, num_int(1));
	if (++*steps > 64 || !op) return NULL;
	if (op->code == OP_BROADCAST) {
		Val *lanes = place_lanes(cx, ir_in(op, 0), steps);
		return lanes ? val_broadcast(cx, lanes, t) : NULL;
	}
	if (op->code == OP_SELECT) {
		Val *a = place_lanes(cx, ir_in(op, 1), steps), *b = place_lanes(cx, ir_in(op, 2), steps);
		Val *none = const_val(cx, t, num_int(0));
		return a || b ? val_select(cx, ir_in(op, 0), a ? a : none, b ? b : none) : NULL;
	}
	if (op->code == OP_IF) {        /* what a region computes has no name outside of it */
		Val *arm[2], *none = const_val(cx, t, num_int(0));
		for (int i = 0; i < 2; i++) {
			const Val *given = given_by(op->region[i], x);
			int region_steps = 0;
			arm[i] = !given || is_place(given, &region_steps) ? const_val(cx, t, num_int(1)) : none;
		}
		return arm[0] == none && arm[1] == none ? NULL
			: val_select(cx, val_broadcast(cx, ir_in(op, 0), t), arm[0], arm[1]);
	}
	if (!op_has(op, OPF_ELEMWISE)) return NULL;
	Val *lanes = NULL;
	for (int i = 0; i < op->nin; i++) {
		Val *in = place_lanes(cx, ir_in(op, i), steps);
		if (!in) return NULL;
		lanes = lanes ? val_op2(cx, OP_AND, lanes, in) : in;
	}
	return lanes;
}

static Val *lane_inside(Cx *cx, const View *v, const Lanes *l, int axis, bool from_below)
{
	from_below |= l->idx[axis]->type->elem == EL_U64;       /* what is too large for i64 */
	Val *x = val_i64(cx, l->idx[axis]);
	Val *high = val_cmp(cx, OP_LT, x, val_broadcast(cx, view_extent(cx, v, axis), x->type));
	return from_below ? val_op2(cx, OP_AND, val_cmp(cx, OP_GE, x, const_val(cx, x->type, num_int(0))), high) : high;
}

/* Elements of an index tile that access nothing: masked off, or outside. */
static Val *lanes_used(Cx *cx, const View *v, const Lanes *l, Val *mask)
{
	Val *used = mask ? mask : const_val(cx, l->t, num_int(1));
	for (int i = 0; i < v->rank; i++) used = val_op2(cx, OP_AND, used, lane_inside(cx, v, l, i, true));
	return used;
}

/* No two elements of a promised index that access memory are equal; index: before it is spread over the access. */
static void check_unique(Cx *cx, Val *used, Val *index, const Op *promise, Span at)
{
	int more = used->type->rank - index->type->rank;
	for (int i = 0; i < used->type->rank; i++) {
		if (!used->type->log2[i] || (i >= more && index->type->log2[i - more])) continue;
		uint8_t log2[TILE_RANK];
		memcpy(log2, used->type->log2, sizeof log2);
		log2[i] = 0;
		used = ir_unary(&cx->b, OP_REDUCE_OR, type_tile(EL_BOOL, used->type->rank, log2), used);
		ir_set_int(used->def, AT_AXIS, i);
	}
	const Type *t = type_with_elem(index->type, EL_BOOL);
	if (used->type != t) used = ir_unary(&cx->b, OP_RESHAPE, t, used);
	Val *ok = used_differ(cx, val_i64(cx, index), used);
	build_check(cx, sv_val(ok, at), str_fmt("`%s` does not hold", span_source(promise->span)), at);
}

static void check_promises(Cx *cx, const View *v, const Lanes *l, Val *mask)
{
	Val *used = NULL;
	for (int i = 0; i < v->rank; i++) {
		Val *index = l->idx[i];
		const Op *d = index->def;
		for (; d && d->code == OP_BROADCAST && type_is_tile(ir_in(d, 0)->type); d = index->def) index = ir_in(d, 0);
		const Op *promise = distinct_of(index).promise;
		if (!promise || !type_log2_size(index->type)) continue;
		at_span(cx, l->at[i]);
		if (!used) used = lanes_used(cx, v, l, mask);
		check_unique(cx, used, index, promise, l->at[i]);
	}
}

/* An element that is not masked off and lies outside traps, where nothing says that it may: a pad of the access does, a
 * negative element of an index tile does, and a tile's place may cross the end, also where it is chosen. */
static void check_lanes(Cx *cx, const View *v, const Lanes *l, Val *mask, bool pad)
{
	if (!cx->opt->checked) return;
	for (int i = 0; i < v->rank && !pad && !l->box && v->kind == VK_TENSOR; i++) {
		int steps = 0, all_steps = 0;
		bool tile = type_is_tile(l->idx[i]->type);
		if (tile && is_place(l->idx[i], &all_steps)) continue;
		at_span(cx, l->at[i]);
		Val *ok = lane_inside(cx, v, l, i, !tile), *place = tile ? place_lanes(cx, l->idx[i], &steps) : NULL;
		if (place) ok = val_op2(cx, OP_OR, ok, place);
		if (mask) ok = val_op2(cx, OP_OR, ok, val_op2(cx, OP_XOR, mask, const_val(cx, mask->type, num_int(1))));
		build_check(cx, sv_val(ok, l->at[i]), str_fmt("index `%s` outside axis %d of `%s`", span_source(l->at[i]), i,
			v->root), l->at[i]);
	}
	if (type_is_tile(l->t)) check_promises(cx, v, l, mask);
}

static const Type *lanes_type(const Lanes *l, Elem e)
{
	return type_with_elem(l->t, e);
}

static Val *lanes_value(Cx *cx, Sv x, const Type *t, const View *v)
{
	if (type_is_scalar(t) && sv_is_tile(x) && !x.type->rank) {      /* one lane: a scalar's shape is that of rank 0 */
		at_span(cx, x.span);
		x = sv_val(one_scalar(cx, x.u.val), x.span);
	}
	bool whole = v && type_is_scalar(t) && sv_is_tile(x);
	x = conv_to(cx, x, t, CONV_STORE, v ? str_fmt("%s", v->root) : NULL, (Span){ 0, 0 });
	if (whole && sv_bad(x))
		diag_help(diag_latest(), "one index names one element; a tile takes an index tile, or the tile of a view, as "
			"of `%s.partition(shape)`", v->root);
	return sv_bad(x) ? NULL : conv_val(cx, x);
}

/* ---- load and store ---- */

static Sv gather_lanes(Cx *cx, Call *c, const View *v, const Lanes *l, const Strength *s, int64_t latency)
{
	Val *in[3 + TENSOR_RANK] = { v->val }, *mask;
	int n = 1;
	Val *pad = pad_arg(cx, c, v->elem, NULL);
	if (!pad || !lanes_fit(cx, c, v, l) || !mask_arg(cx, c, l->t, &mask)) return sv_poison(c->span);
	check_lanes(cx, v, l, mask, arg_given(c, "pad"));
	for (int i = 0; i < v->rank; i++) in[n++] = l->idx[i];
	in[n++] = pad;
	if (mask) in[n++] = mask;
	Val *r = ir_op1(at_span(cx, c->span), s->strong ? OP_ATOMIC_LOAD : OP_GATHER, lanes_type(l, v->elem), n, in);
	put_strength(r->def, s);
	put_latency(r->def, s, latency);
	return sv_val(r, c->span);
}

static Sv build_load(Cx *cx, Call *c, const View *v)
{
	Access a;
	Lanes l;
	Strength s;
	int cache;
	int64_t latency;
	Val *in[2 + TENSOR_RANK] = { v->val };
	if (!view_readable(cx, v, c->span, str_intern("read"))) return sv_poison(c->span);
	if (!order_arg(cx, c, &s) || !latency_arg(cx, c, &latency)) return sv_poison(c->span);
	if (!arg_word(cx, c, AT_CACHE, &cache) || !access_load(cx, c, v, &a)) return sv_poison(c->span);
	if (v->kind == VK_GATHER)
		return tile_lanes(cx, c, v, &l) ? gather_lanes(cx, c, v, &l, &s, latency) : sv_poison(c->span);
	const Type *t = sema_tile_type(cx, v->elem, a.s, c->span);
	if (!t || !access_index(cx, c, v, in + 1)) return sv_poison(c->span);
	if (s.strong) {
		box_lanes(cx, c, &a, in + 1, &l);
		return gather_lanes(cx, c, v, &l, &s, 0);
	}
	in[1 + v->rank] = pad_arg(cx, c, v->elem, NULL);
	if (!in[1 + v->rank]) return sv_poison(c->span);
	Val *r = ir_op1(at_span(cx, c->span), OP_LOAD, t, 2 + v->rank, in);
	put_access(r->def, &a);
	put_latency(r->def, &s, latency);
	if (cache) ir_set_int(r->def, AT_CACHE, cache);
	if (a.one) r = ir_unary(&cx->b, OP_RESHAPE, type_tile(v->elem, 0, NULL), r);
	return sv_val(r, c->span);
}

static Sv store_scalar(Cx *cx, Call *c, const View *v, Sv x)
{
	Diag *d = cx_diag(cx, D_NEED_TILE, x.span, call_what(c), sv_what(x));
	if (x.kind == SV_TUPLE) diag_help(d, "it is taken apart first, as in `let (a, b) = %s;`", span_source(x.span));
	else if (x.kind == SV_VIEW) diag_help(d, "`%s.load(index, shape)` is a tile of it", span_source(x.span));
	else if (v->rank && sv_is_scalar(x))
		diag_help(d, "`%s%s = %s` writes one element, `full(shape, %s, %s)` is a tile", v->root,
			c->arg[1].e && c->arg[1].e->kind == EX_LIST ? span_source(c->arg[1].e->span) : "[...]",
			shortened(x.span), shortened(x.span), elem_word(cx, v->elem));
	return sv_poison(c->span);
}

static bool access_store(Cx *cx, Call *c, const View *v, Sv *x, Access *a)
{
	*a = (Access){ .v = v };
	if (v->kind == VK_TENSOR) {
		if (!sv_is_tile(*x)) {
			if (v->rank || !is_value(cx, *x, call_what(c))) {
				if (!sv_bad(*x)) store_scalar(cx, c, v, *x);
				return false;
			}
			a->s = (Shape){ .hole = -1 };           /* a scalar is a tile of rank 0 */
		} else {
			a->s.rank = x->type->rank;
			a->s.hole = -1;
			memcpy(a->s.log2, x->type->log2, sizeof a->s.log2);
		}
		access_one(a);
		if (!access_rank(cx, c, a, x->span)) return false;
		access_steps(a, c->op == OP_STORE_AT);
	} else {
		a->s = v->tile;
		memcpy(a->steps, v->steps, sizeof a->steps);
		memcpy(a->offsets, v->offsets, sizeof a->offsets);
	}
	const Type *t = sema_tile_type(cx, v->elem, a->s, c->span);
	if (!t) return false;
	if (a->one) {
		Val *one = conv_val(cx, *x);
		*x = sv_val(ir_unary(at_span(cx, x->span), OP_RESHAPE, type_with_elem(t, one->type->elem), one), x->span);
	}
	*x = conv_to(cx, *x, t, CONV_STORE, written_view(c, v), v->decl);
	return !sv_bad(*x);
}

static Sv scatter_lanes(Cx *cx, Call *c, const View *v, const Lanes *l, Sv x, const Strength *s)
{
	Val *in[3 + TENSOR_RANK] = { v->val }, *mask;
	int n = 1;
	Val *value = lanes_value(cx, x, lanes_type(l, v->elem), v);
	if (!value || !mask_arg(cx, c, l->t, &mask)) return sv_poison(c->span);
	check_lanes(cx, v, l, mask, false);
	for (int i = 0; i < v->rank; i++) in[n++] = l->idx[i];
	in[n++] = value;
	if (mask) in[n++] = mask;
	put_strength(ir_op(at_span(cx, c->span), s->strong ? OP_ATOMIC_STORE : OP_SCATTER, n, in, 0, NULL), s);
	return sv_none(c->span);
}

static Sv build_store(Cx *cx, Call *c, const View *v)
{
	Access a;
	Lanes l;
	Strength s;
	int cache;
	int64_t latency;
	Val *in[2 + TENSOR_RANK] = { v->val };
	if (!view_writable(cx, v, c->span, str_intern("written"))) return sv_poison(c->span);
	if (!order_arg(cx, c, &s) || !latency_arg(cx, c, &latency)) return sv_poison(c->span);
	if (!arg_word(cx, c, AT_CACHE, &cache)) return sv_poison(c->span);
	if (v->kind == VK_GATHER) {
		if (!tile_lanes(cx, c, v, &l)) return sv_poison(c->span);
		return scatter_lanes(cx, c, v, &l, arg_value(cx, c, 2, type_scalar(v->elem)), &s);
	}
	if (!access_index(cx, c, v, in + 1)) return sv_poison(c->span);
	Sv x = arg_value(cx, c, 2, type_scalar(v->elem));
	if (sv_bad(x) || !access_store(cx, c, v, &x, &a)) return sv_poison(c->span);
	if (s.strong) {
		box_lanes(cx, c, &a, in + 1, &l);
		return scatter_lanes(cx, c, v, &l, x, &s);
	}
	in[1 + v->rank] = conv_val(cx, x);
	Op *op = ir_op(at_span(cx, c->span), OP_STORE, 2 + v->rank, in, 0, NULL);
	put_access(op, &a);
	put_latency(op, &s, latency);
	if (cache) ir_set_int(op, AT_CACHE, cache);
	return sv_none(c->span);
}

static Sv build_gather(Cx *cx, Call *c, const View *v)
{
	Lanes l;
	Strength s;
	if (v->kind != VK_TENSOR) {
		Diag *d = cx_diag(cx, D_PARTITIONED, c->span, call_what(c), v->root);
		diag_help(d, "a view takes `load` and `store`");
		return sv_poison(c->span);
	}
	bool load = c->op == OP_GATHER;
	if (load ? !view_readable(cx, v, c->span, str_intern("read"))
		: !view_writable(cx, v, c->span, str_intern("written"))) return sv_poison(c->span);
	if (!order_arg(cx, c, &s) || !lanes(cx, c, v, &l)) return sv_poison(c->span);
	if (load) return gather_lanes(cx, c, v, &l, &s, cx->latency);
	Sv x = arg_value(cx, c, 2, type_scalar(v->elem));
	return sv_bad(x) ? x : scatter_lanes(cx, c, v, &l, x, &s);
}

static Sv build_mask(Cx *cx, Call *c, const View *v)
{
	Access a = { .v = v };
	Val *in[TENSOR_RANK];
	if (v->kind != VK_TENSOR) {
		a.s = v->tile;
		memcpy(a.steps, v->steps, sizeof a.steps);
		memcpy(a.offsets, v->offsets, sizeof a.offsets);
	} else {
		if (!arg_shape(cx, c, 2, false, &a.s)) return sv_poison(c->span);
		access_one(&a);
		if (!access_rank(cx, c, &a, c->arg[2].span)) return sv_poison(c->span);
		access_steps(&a, false);
	}
	if (!sema_tile_type(cx, EL_BOOL, a.s, c->span) || !access_index(cx, c, v, in)) return sv_poison(c->span);
	Sv m = view_mask(cx, v, in, &a.s, a.steps, a.offsets, c->span);
	return a.one ? sv_val(ir_unary(at_span(cx, c->span), OP_RESHAPE, type_tile(EL_BOOL, 0, NULL), m.u.val), c->span)
		: m;
}

/* ---- pointers ---- */

static bool pointer_arg(Cx *cx, Call *c, Sv *p)
{
	*p = arg_value(cx, c, 0, NULL);
	if (sv_bad(*p) || !is_value(cx, *p, call_what(c))) return false;
	if (!cx->unsafe) {
		Diag *d = cx_diag(cx, D_UNSAFE, c->span, call_what(c));
		label_operand(d, *p);
		diag_help(d, "write `unsafe` before it, or `unsafe { ... }` around the statement");
		diag_edit(d, (Span){ c->span.lo, c->span.lo }, "unsafe ");
		return false;
	}
	if (elem_pointee(p->type->elem) != EL_VOID) return true;
	Diag *d = cx_diag(cx, D_PTR_VOID, c->span, call_what(c));
	label_operand(d, *p);
	return false;
}

static Sv pointer_load(Cx *cx, Call *c)
{
	Sv p;
	Val *in[3], *mask;
	Strength s;
	if (!pointer_arg(cx, c, &p)) return sv_poison(c->span);
	Elem e = elem_pointee(p.type->elem);
	if (!order_arg(cx, c, &s)) return sv_poison(c->span);
	in[0] = conv_val(cx, p);
	Val *pad = pad_arg(cx, c, e, p.type);
	if (!pad || !mask_arg(cx, c, p.type, &mask)) return sv_poison(c->span);
	const Type *t = type_with_elem(p.type, e);
	in[1] = type_is_scalar(pad->type) ? pad : const_val(cx, type_scalar(e), num_zero(e));
	in[2] = mask;
	Val *r = ir_op1(at_span(cx, c->span), s.strong ? OP_ATOMIC_LOAD_PTR : OP_LOAD_PTR, t, mask ? 3 : 2, in);
	put_strength(r->def, &s);
	put_latency(r->def, &s, cx->latency);
	if (mask && in[1] != pad) r = val_select(cx, mask, r, val_broadcast(cx, pad, t));
	return sv_val(r, c->span);
}

static Sv pointer_store(Cx *cx, Call *c)
{
	Sv p;
	Val *in[3], *mask;
	Strength s;
	if (!pointer_arg(cx, c, &p) || !order_arg(cx, c, &s)) return sv_poison(c->span);
	in[0] = conv_val(cx, p);
	Elem elem = elem_pointee(p.type->elem);
	in[1] = lanes_value(cx, arg_value(cx, c, 1, type_scalar(elem)), type_with_elem(p.type, elem), NULL);
	if (!in[1] || !mask_arg(cx, c, p.type, &mask)) return sv_poison(c->span);
	in[2] = mask;
	put_strength(ir_op(at_span(cx, c->span), s.strong ? OP_ATOMIC_STORE_PTR : OP_STORE_PTR, mask ? 3 : 2, in, 0, NULL),
		&s);
	return sv_none(c->span);
}

Sv build_memory(Cx *cx, Call *c)
{
	if (c->pointer) return c->op == OP_LOAD ? pointer_load(cx, c) : pointer_store(cx, c);
	if (c->op == OP_GATHER && c->sig->p[0].kind == 'v') return tile_gather(cx, c);
	const View *v = arg_view(cx, c, 0);
	if (!v) return sv_poison(c->span);
	switch (c->op) {
	case OP_LOAD: case OP_LOAD_AT: return build_load(cx, c, v);
	case OP_STORE: case OP_STORE_AT: return build_store(cx, c, v);
	case OP_MASK: return build_mask(cx, c, v);
	default: return build_gather(cx, c, v);
	}
}

/* ---- atomics ---- */

static void help_atomic(Diag *d, Elem e)
{
	const char *same = e == EL_F32 ? "i32" : "i64";
	if (elem_is_ptr(e)) return;
	if (e == EL_F32 || e == EL_F64)
		diag_help(d, "floats from 0 on are ordered like their bits, which `element_bitcast(x, %s)` "
			"gives for a tensor of %s", same, same);
	else if (elem_is_any_float(e)) diag_help(d, "let the tensor hold f32, and convert it in a kernel that follows");
	else diag_help(d, "let the tensor hold %s", elem_is_signed(e) ? "i32" : "u32");
}

static bool atomic_elem(Cx *cx, Call *c, Elem e)
{
	bool wide_int = !elem_is_ptr(e) && elem_is_int(e) && elem_bytes(e) >= 4, ok = wide_int;
	const char *list = "i32, u32, i64 or u64";
	switch (c->op) {
	case OP_ATOMIC_ADD: case OP_ATOMIC_SUB:
		ok = wide_int || (!elem_is_ptr(e) && elem_is_float(e));
		list = "i32, u32, i64, u64, f16, bf16, f32 or f64";
		break;
	case OP_ATOMIC_XCHG: case OP_ATOMIC_COMPARE_EXCHANGE:
		ok = wide_int || e == EL_F32 || e == EL_F64;
		list = "i32, u32, i64, u64, f32 or f64";
		break;
	case OP_ATOMIC_LOAD: case OP_ATOMIC_STORE: ok = true; break;
	default: break;
	}
	if (!ok) help_atomic(cx_diag(cx, D_ATOMIC_TYPE, c->span, call_what(c), elem_name(e), list), e);
	if (ok && e == EL_BF16 && (c->op == OP_ATOMIC_ADD || c->op == OP_ATOMIC_SUB))
		warn_emulated(cx, 90, call_what(c), e, "a loop exchanges until nothing came between", c->span);
	return ok;
}

static int rmw_word(OpCode op)
{
	return attr_word(AT_RMW, str_intern(op_rows[op].name + strlen("atomic_")));
}

/* Index operands, or the pointers: then value operands, then the mask. The element type is known. */
typedef struct Atomic { Val *in[TENSOR_RANK + 5]; int n; Elem elem; const Type *t; const View *v; Lanes l; } Atomic;

static bool atomic_target(Cx *cx, Call *c, Atomic *a)
{
	if (c->pointer) {
		Sv p;
		if (!pointer_arg(cx, c, &p)) return false;
		a->elem = elem_pointee(p.type->elem);
		a->t = p.type;
		a->in[a->n++] = conv_val(cx, p);
		return atomic_elem(cx, c, a->elem);
	}
	a->v = arg_view(cx, c, 0);
	if (!a->v) return false;
	bool reads = c->op == OP_ATOMIC_LOAD;
	if (reads ? !view_readable(cx, a->v, c->span, str_intern("read"))
		: !view_writable(cx, a->v, c->span, str_intern("written"))) return false;
	if (c->op != OP_ATOMIC_STORE && !reads && a->v->mode == MODE_OUT)
		return view_readable(cx, a->v, c->span, str_intern("read"));
	a->elem = a->v->elem;
	if (!atomic_elem(cx, c, a->elem) || !any_lanes(cx, c, a->v, &a->l)) return false;
	a->t = a->l.t;
	a->in[a->n++] = a->v->val;
	for (int i = 0; i < a->v->rank; i++) a->in[a->n++] = a->l.idx[i];
	return true;
}

static bool atomic_value(Cx *cx, Call *c, Atomic *a, const char *name)
{
	Sv x = arg_value(cx, c, arg_index(c, name), type_scalar(a->elem));
	Val *v = lanes_value(cx, x, type_with_elem(a->t, a->elem), a->v);
	a->in[a->n++] = v;
	return v != NULL;
}

static bool atomic_mask(Cx *cx, Call *c, Atomic *a)
{
	Val *mask;
	if (!mask_arg(cx, c, a->t, &mask)) return false;
	if (a->v) check_lanes(cx, a->v, &a->l, mask, c->op == OP_ATOMIC_LOAD && arg_given(c, "pad"));
	if (mask) a->in[a->n++] = mask;
	return true;
}

Sv build_atomic(Cx *cx, Call *c)
{
	Atomic a = { .n = 0 };
	Strength s;
	bool load = c->op == OP_ATOMIC_LOAD, store = c->op == OP_ATOMIC_STORE, cas = c->op == OP_ATOMIC_COMPARE_EXCHANGE;
	if (c->pointer && load) return pointer_load(cx, c);
	if (c->pointer && store) return pointer_store(cx, c);
	if (!order_arg(cx, c, &s)) return sv_poison(c->span);
	if (!atomic_target(cx, c, &a)) return sv_poison(c->span);
	if (load) {
		a.in[a.n] = pad_arg(cx, c, a.elem, NULL);
		if (!a.in[a.n++]) return sv_poison(c->span);
	} else if (cas) {
		if (!atomic_value(cx, c, &a, "expected") || !atomic_value(cx, c, &a, "desired")) return sv_poison(c->span);
	} else if (!atomic_value(cx, c, &a, "x")) {
		return sv_poison(c->span);
	}
	if (!atomic_mask(cx, c, &a)) return sv_poison(c->span);
	OpCode op = load ? OP_ATOMIC_LOAD : store ? OP_ATOMIC_STORE : cas
		? (c->pointer ? OP_ATOMIC_CAS_PTR : OP_ATOMIC_CAS) : c->pointer ? OP_ATOMIC_RMW_PTR : OP_ATOMIC_RMW;
	const Type *t = type_with_elem(a.t, a.elem);
	Op *made = ir_op(at_span(cx, c->span), op, a.n, a.in, store ? 0 : 1, &t);
	if (op == OP_ATOMIC_RMW || op == OP_ATOMIC_RMW_PTR) ir_set_int(made, AT_RMW, rmw_word(c->op));
	put_strength(made, &s);
	bool update_of_view = !load && a.v && a.v->kind != VK_TENSOR;
	return store || update_of_view ? sv_none(c->span) : sv_val(made->out[0], c->span);
}
