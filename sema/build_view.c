/* Views: partitions and strided views of a tensor, slices, sub-views by indices, permutations; and what can be asked of
 * one. A sub-view is op `view` with an element offset, extents and strides; the offset is computed in i64. */
#include "ast/foreign.h"
#include "sema/build.h"
#include "sema/scope.h"

#include <string.h>

/* ---- modes ---- */

bool view_readable(Cx *cx, const View *v, Span at, Str op)
{
	if (v->mode != MODE_OUT) return true;
	Diag *d = cx_diag(cx, D_READ_OUT, at, v->root, op);
	if (v->decl.hi) diag_label(d, v->decl, "`%s` is `out`", v->root);
	diag_help(d, "declare it `inout` when its old contents matter");
	return false;
}

bool view_writable(Cx *cx, const View *v, Span at, Str op)
{
	if (v->mode == MODE_OUT || v->mode == MODE_INOUT) return true;
	Diag *d = cx_diag(cx, D_WRITE_IN, at, v->root, op);
	if (v->decl.hi) diag_label(d, v->decl, "`%s` is read only: a parameter without `out` or `inout`", v->root);
	diag_help(d, "declare it `out`, or `inout` when it is read as well");
	return false;
}

/* ---- indices ---- */

static void report_index_count(Cx *cx, const View *v, Span at, int n)
{
	Diag *d = cx_diag(cx, D_VIEW_RANK, at, str_fmt("`%s`", v->root), str_i64(v->rank), str_i64(n));
	if (v->decl.hi) diag_label(d, v->decl, "`%s` is %s", v->root, sv_what(sv_view(v, at)));
	diag_help(d, "write one index for each dimension, the slowest first");
}

/* `swapped`: a list stands in another place of the call. */
static void report_no_list(Cx *cx, const Expr *e, Str what, int rank, const Expr *swapped)
{
	Diag *d = cx_diag(cx, D_NEED_LIST, e->span, str_fmt("the index of %s", what));
	Str list = str_fmt("[%s]", span_source(e->span));
	if (swapped)
		diag_help(d, "the index stands before the value: `%s, %s`", span_source(swapped->span), span_source(e->span));
	else if (rank != 1) diag_help(d, "write one index for each axis in brackets, the slowest first");
	else diag_help(d, "write `%s`", list);
	if (!swapped && rank == 1) diag_edit(d, e->span, list);
	if (swapped) {
		diag_edit(d, e->span, span_source(swapped->span));
		diag_edit(d, swapped->span, span_source(e->span));
	}
}

bool view_index(Cx *cx, const Call *c, const View *v)
{
	const Expr *e = c->arg[1].e;
	bool swapped = c->arg[2].e && c->arg[2].e->kind == EX_LIST && c->sig->p[2].kind == 'v';
	if (e->kind == EX_LIST && e->u.list.n == v->rank) return true;
	if (e->kind == EX_LIST) report_index_count(cx, v, e->span, e->u.list.n);
	else report_no_list(cx, e, str_fmt("`%s`", v->root), v->rank, swapped ? c->arg[2].e : NULL);
	return false;
}

bool index_list(Cx *cx, const Expr *e, Str what, int rank, Sv *out)
{
	if (e->kind != EX_LIST) {
		report_no_list(cx, e, what, rank, NULL);
		return false;
	}
	int n = e->u.list.n;
	Expr *const *p = e->u.list.p;
	if (n != rank) {
		Diag *d = cx_diag(cx, D_VIEW_RANK, e->span, what, str_i64(rank), str_i64(n));
		diag_help(d, "write one index for each dimension, the slowest first");
		return false;
	}
	bool ok = true;
	for (int i = 0; i < n; i++) {
		Sv v = sema_expr(cx, p[i], NULL);
		out[i] = conv_index(cx, v, p[i]->span);
		ok &= !sv_bad(out[i]);
	}
	return ok;
}

/* 0 <= index < extent, where the facts say so. */
static bool proved_inside(Cx *cx, const View *v, int axis, Val *index)
{
	const Sym *s = val_sym(cx, index), *ext = v->dim[axis].sym;
	if (!s || !ext || !cx->facts) return false;
	return facts_le(cx->facts, sym_const(0), s) && facts_lt(cx->facts, s, ext);
}

static Val *inside(Cx *cx, const View *v, int axis, Val *i64_index)
{
	Val *low = val_cmp(cx, OP_GE, i64_index, val_int(cx, EL_I64, 0));
	return val_op2(cx, OP_AND, low, val_cmp(cx, OP_LT, i64_index, view_extent(cx, v, axis)));
}

static void check_index(Cx *cx, const View *v, int axis, Val *index, Span at)
{
	if (!cx->opt->checked || proved_inside(cx, v, axis, index)) return;
	at_span(cx, at);
	build_check(cx, sv_val(inside(cx, v, axis, val_i64(cx, index)), at),
		str_fmt("index `%s` outside axis %d of `%s`", span_source(at), axis, v->root), at);
}

/* ---- making sub-views ---- */

static bool whole_tensor(Cx *cx, const View *v, Span at, Str what)
{
	if (v->kind == VK_TENSOR) return true;
	Diag *d = cx_diag(cx, D_PARTITIONED, at, what, v->root);
	diag_help(d, "apply it to `%s` itself", v->root);
	return false;
}

/* Where the strides of a contiguous view are known symbolically they are kept, so that sub-views stay analysable. */
static View derived(const View *v)
{
	View n = *v;
	n.layout = ML_STRIDED;
	n.pad = 0;
	return n;
}

static Sv kept_view(const View *v, Span at)
{
	View *k = NEW(A_UNIT, View);
	*k = *v;
	return sv_view(k, at);
}

static Sv finish_view(Cx *cx, const View *from, View *v, Val *offset, Span at)
{
	Val *in[2 + 2 * TENSOR_RANK];
	int n = 0;
	in[n++] = from->val;
	in[n++] = offset ? offset : val_int(cx, EL_I64, 0);
	for (int i = 0; i < v->rank; i++) in[n++] = view_extent(cx, v, i);
	for (int i = 0; i < v->rank; i++) in[n++] = view_stride(cx, v, i);
	at_span(cx, at);
	v->val = ir_op1(&cx->b, OP_VIEW, type_view(v->elem, v->rank), n, in);
	return kept_view(v, at);
}

static Val *plus(Cx *cx, Val *a, Val *b)
{
	return a ? val_op2(cx, OP_ADD, a, b) : b;
}

typedef struct Indexed { bool all; Val *val; Span at; } Indexed;

/* t[i, :, j]: the given indices become the offset. One outside makes the first remaining axis empty; with none
 * remaining the caller reads an element and never comes here. */
static Sv sub_view(Cx *cx, const View *v, const Indexed *ix, Span at)
{
	View n = derived(v);
	Val *offset = NULL, *ok = NULL;
	n.rank = 0;
	for (int i = 0; i < v->rank; i++) {
		if (ix[i].all) {
			n.dim[n.rank++] = v->dim[i];
			continue;
		}
		check_index(cx, v, i, ix[i].val, ix[i].at);
		at_span(cx, at);
		Val *wide = val_i64(cx, ix[i].val);
		if (!proved_inside(cx, v, i, ix[i].val)) {
			Val *in = inside(cx, v, i, wide);
			ok = ok ? val_op2(cx, OP_AND, ok, in) : in;
		}
		offset = plus(cx, offset, val_op2(cx, OP_MUL, wide, view_stride(cx, v, i)));
	}
	memset(n.dim + n.rank, 0, (size_t)(TENSOR_RANK - n.rank) * sizeof *n.dim);
	Num truth;
	if (ok && !(ir_const_value(ok, &truth) && truth.i)) {
		at_span(cx, at);
		Val *none = val_int(cx, EL_I64, 0);
		n.dim[0].val = val_select(cx, ok, view_extent(cx, &n, 0), none);
	}
	return finish_view(cx, v, &n, offset, at);
}

/* ---- t[...] ---- */

/* None, np.newaxis */
static bool new_axis(Cx *cx, const Expr *item)
{
	if (item->kind == EX_MEMBER) return foreign_word(FW_AXIS, item->u.mem.name.s) && item->u.mem.base->kind == EX_NAME;
	return item->kind == EX_NAME && !scope_find(cx, item->u.name) && foreign_word(FW_AXIS, item->u.name);
}

/* v[0, :]: the row without its axis, as a part that is reshaped; NULL where that cannot be written. */
static Str row_of_tile(Cx *cx, Sv base, const Expr *e)
{
	Str shape = str_intern(""), index = shape, left = shape;
	int n = e->u.idx.items.n;
	if (n != base.type->rank) return NULL;
	for (int i = 0; i < n; i++) {
		const Expr *x = e->u.idx.items.p[i];
		Str extent = x->kind == EX_ALL ? extent_name(cx, base.type->log2[i]) : str_intern("1");
		if (!extent || (x->kind != EX_ALL && x->kind != EX_INT)) return NULL;
		const char *comma = i ? ", " : "";
		shape = str_fmt("%s%s%s", shape, comma, extent);
		index = str_fmt("%s%s%s", index, comma, x->kind == EX_ALL ? "0" : span_source(x->span));
		if (x->kind == EX_ALL) left = str_fmt("%s%s%s", left, *left ? ", " : "", extent);
	}
	return *left ? str_fmt("reshape(extract(%s, [%s], [%s]), [%s])", span_source(e->u.idx.base->span), shape, index,
		left) : NULL;
}

static void report_tile_index(Cx *cx, Sv base, const Expr *e, const Expr *item)
{
	Diag *d = cx_diag(cx, D_TILE_INDEX, item->span, sv_what(base));
	Str x = span_source(e->u.idx.base->span), row = row_of_tile(cx, base, e);
	if (new_axis(cx, item)) {
		diag_help(d, "write `_` for a new axis");
		diag_edit(d, item->span, "_");
	} else if (row) {
		diag_help(d, "write `%s`", row);
		diag_edit(d, e->span, row);
	} else if (base.type->rank == 1 && item->kind == EX_INT) {
		diag_help(d, "one element is `%s(extract(%s, [1], [%s]))`", elem_name(base.type->elem), x,
			span_source(item->span));
		diag_edit(d, e->span, str_fmt("%s(extract(%s, [1], [%s]))", elem_name(base.type->elem), x,
			span_source(item->span)));
	} else if (base.type->rank == 1) {
		diag_help(d, "one element is `%s(extract(%s, [1], [i]))`, `gather(%s, i, 0)` takes an index tile",
			elem_name(base.type->elem), x, x);
	} else {
		diag_help(d, "`extract(%s, shape, index)` is a part of it, `gather(%s, i, axis)` takes an index tile", x, x);
	}
}

static Sv tile_index(Cx *cx, Sv base, const Expr *e)
{
	int n = e->u.idx.items.n, used = 0, rank = 0;
	uint8_t log2[TILE_RANK] = { 0 };
	for (int i = 0; i < n; i++) {
		const Expr *x = e->u.idx.items.p[i];
		if ((x->kind != EX_ALL && x->kind != EX_UNDER) || rank == TILE_RANK) {
			report_tile_index(cx, base, e, x);
			return sv_poison(e->span);
		}
		if (x->kind == EX_UNDER) {
			log2[rank++] = 0;
			continue;
		}
		if (used < base.type->rank) log2[rank] = base.type->log2[used];
		used++;
		rank++;
	}
	if (used != base.type->rank) {
		Diag *d = cx_diag(cx, D_TILE_AXES, e->span, sv_what(base), str_i64(base.type->rank), str_i64(used));
		Str axes = str_intern("");
		for (int i = 0; i < base.type->rank; i++) axes = str_fmt("%s:, ", axes);
		diag_help(d, "`:` stands for an axis of the tile, and `_` for a new one, as in `x[%s_]`", axes);
		return sv_poison(e->span);
	}
	const Type *t = type_tile(base.type->elem, rank, log2);
	return t == base.type ? base : sv_val(ir_unary(at_span(cx, e->span), OP_RESHAPE, t, base.u.val), e->span);
}

/* Evaluates the items; *all: how many are `:`. */
static bool view_items(Cx *cx, const View *v, const Expr *e, Indexed *ix, int *all)
{
	int n = e->u.idx.items.n;
	*all = 0;
	if (!whole_tensor(cx, v, e->span, str_intern("indexing"))) return false;
	if (n != v->rank) {
		report_index_count(cx, v, e->span, n);
		if (n && n < v->rank) {
			Str fix = span_source((Span){ e->u.idx.items.p[0]->span.lo, e->u.idx.items.p[n - 1]->span.hi });
			for (int i = n; i < v->rank; i++) fix = str_fmt("%s, :", fix);
			diag_help(diag_latest(), "`:` stands for an axis that stays, as in `%s[%s]`", v->root, fix);
		}
		return false;
	}
	bool ok = true;
	for (int i = 0; i < n; i++) {
		const Expr *x = e->u.idx.items.p[i];
		ix[i].at = x->span;
		ix[i].all = x->kind == EX_ALL;
		*all += ix[i].all;
		if (ix[i].all) continue;
		Sv s = conv_index(cx, sema_expr(cx, x, NULL), x->span);
		ok &= !sv_bad(s);
		if (!sv_bad(s)) ix[i].val = conv_val(cx, s);
	}
	return ok;
}

Sv build_index(Cx *cx, Sv base, const Expr *e)
{
	Indexed ix[TENSOR_RANK] = { { 0 } };
	int all;
	if (sv_bad(base)) return base;
	if (sv_is_tile(base)) return tile_index(cx, base, e);
	if (base.kind != SV_VIEW) {
		Diag *d = cx_diag(cx, D_NOT_INDEXED, e->span, sv_what(base));
		if (sv_is_scalar(base) && base.type && elem_is_ptr(base.type->elem))
			diag_help(d, "a pointer is read by `unsafe load(%s + i)`", span_source(e->u.idx.base->span));
		else if (sv_is_scalar(base) && e->u.idx.base->kind == EX_INDEX)
			diag_help(d, "`x[i, j]` is one element of a tensor, `x.load([i, j], shape)` a tile");
		else if (sv_is_scalar(base))
			diag_help(d, "a scalar is one value: tiles and tensors have elements");
		return sv_poison(e->span);
	}
	const View *v = base.u.view;
	if (!view_items(cx, v, e, ix, &all)) return sv_poison(e->span);
	if (all == v->rank) return base;
	if (all) return sub_view(cx, v, ix, e->span);
	Sv index[TENSOR_RANK];
	for (int i = 0; i < v->rank; i++) index[i] = sv_val(ix[i].val, ix[i].at);
	return element_read(cx, v, index, e->span);
}

Sv element_read(Cx *cx, const View *v, const Sv *index, Span at)
{
	if (!view_readable(cx, v, at, str_intern("read"))) return sv_poison(at);
	Val *in[2 + TENSOR_RANK] = { v->val };
	for (int i = 0; i < v->rank; i++) {
		in[1 + i] = conv_val(cx, index[i]);
		check_index(cx, v, i, in[1 + i], index[i].span);
	}
	at_span(cx, at);
	in[1 + v->rank] = const_val(cx, type_scalar(v->elem), num_zero(v->elem));
	return sv_val(ir_op1(&cx->b, OP_GATHER, type_scalar(v->elem), 2 + v->rank, in), at);
}

static void element_write(Cx *cx, const View *v, const Sv *index, Sv x, Span at)
{
	if (!view_writable(cx, v, at, str_intern("written"))) return;
	if (sv_one_element(x)) x = sv_val(one_scalar(cx, x.u.val), x.span);
	x = conv_to(cx, x, type_scalar(v->elem), CONV_STORE, str_fmt("%s[...]", v->root), (Span){ 0, 0 });
	if (sv_bad(x)) return;
	Val *in[2 + TENSOR_RANK] = { v->val };
	for (int i = 0; i < v->rank; i++) {
		in[1 + i] = conv_val(cx, index[i]);
		check_index(cx, v, i, in[1 + i], index[i].span);
	}
	in[1 + v->rank] = conv_val(cx, x);
	ir_op(at_span(cx, at), OP_SCATTER, 2 + v->rank, in, 0, NULL);
}

/* v[v < 0] = 0 chooses by element. */
static bool masked_store(Diag *d, Sv base, const Expr *lhs, BinOp op, const Expr *rhs)
{
	const ExprVec *items = &lhs->u.idx.items;
	const Expr *c = items->n == 1 ? items->p[0] : NULL;
	bool compares = c && c->kind == EX_BINARY && c->u.bin.op >= BIN_EQ && c->u.bin.op <= BIN_GE;
	if (!sv_is_tile(base) || !compares || op != BIN_NONE || lhs->u.idx.base->kind != EX_NAME) return false;
	Str name = span_source(lhs->u.idx.base->span), fix = str_fmt("%s = select(%s, %s, %s)", name, span_source(c->span),
		span_source(rhs->span), name);
	diag_help(d, "a choice by element: write `%s`", fix);
	diag_edit(d, span_join(lhs->span, rhs->span), fix);
	return true;
}

void build_index_store(Cx *cx, Sv base, const Expr *lhs, BinOp op, const Expr *rhs, Span at)
{
	Indexed ix[TENSOR_RANK] = { { 0 } };
	int all;
	if (sv_bad(base)) return;
	if (base.kind != SV_VIEW) {
		Diag *d = cx_diag(cx, D_NOT_STORED, lhs->span, sv_what(base));
		if (!masked_store(d, base, lhs, op, rhs) && sv_is_tile(base))
			diag_help(d, "a tile is a value, of which `insert(x, part, index)` gives a changed one");
		return;
	}
	const View *v = base.u.view;
	if (!view_items(cx, v, lhs, ix, &all)) return;
	if (all) {
		Diag *d = cx_diag(cx, D_NOT_STORED, lhs->span, sv_what(base));
		diag_help(d, "a tile is stored by `%s.store(%s, x)`", span_source(lhs->span),
			all == 1 ? "[0]" : all == 2 ? "[0, 0]" : "index");
		return;
	}
	Sv index[TENSOR_RANK];
	for (int i = 0; i < v->rank; i++) index[i] = sv_val(ix[i].val, ix[i].at);
	Sv x;
	if (op == BIN_NONE) {
		x = sema_expr(cx, rhs, type_scalar(v->elem));
	} else {
		Sv old = element_read(cx, v, index, lhs->span);
		Sv r = sema_expr(cx, rhs, type_scalar(v->elem));
		x = op_binary(cx, op, old, r, at, span_join(lhs->span, rhs->span));
	}
	if (!sv_bad(x)) element_write(cx, v, index, x, span_join(lhs->span, rhs->span));
}

/* ---- slice, permute, reshape ---- */

static Val *slice_bound(Cx *cx, Call *c, int i)
{
	Sv v = conv_index(cx, arg_value(cx, c, i, NULL), c->arg[i].span);
	if (sv_bad(v)) return NULL;
	Val *x = conv_val(cx, v);
	at_span(cx, c->arg[i].span);
	return val_i64(cx, x);
}

static bool view_axis(Cx *cx, Call *c, int i, const View *v, int *axis)
{
	int64_t a;
	if (!arg_int(cx, c, i, &a)) return false;
	*axis = (int)a;
	if (a >= 0 && a < v->rank) return true;
	Diag *d = cx_diag(cx, D_AXIS_RANGE, c->arg[i].span, str_i64(a), sv_what(sv_view(v, c->span)));
	if (v->rank) diag_note(d, "axes count from 0: 0 .. %d", v->rank - 1);
	return false;
}

static const Sym *sym_inside(const Sym *lo, const Sym *hi, const Sym *ext, int64_t step, const Facts *f)
{
	if (!lo || !hi || !ext || !f) return NULL;
	if (!facts_le(f, sym_const(0), lo) || !facts_le(f, lo, ext)) return NULL;
	const Sym *n = sym_max(sym_sub(sym_min(hi, ext), lo), sym_const(0));
	n = sym_cdiv(n, sym_const(step));
	return sym_at_launch(n) ? n : NULL;
}

/* In other languages such bounds count from the end. */
static bool warn_below(Cx *cx, Call *c, int i, const Val *bound, int axis)
{
	Num n;
	if (!ir_const_value(bound, &n) || n.i >= 0) return false;
	Diag *d = cx_diag(cx, D_SLICE_EMPTY, c->arg[i].span,
		str_fmt("%s is below 0, and bounds count from the first element", str_i64(n.i)));
	Str fix = str_fmt("%s.extent(%d) - %s", span_source(c->arg[0].span), axis, str_i64(-n.i));
	diag_help(d, "from the end it is the extent less a number: write `%s`", fix);
	diag_edit(d, c->arg[i].span, fix);
	return true;
}

/* A slice that is empty whatever the call. What an instance makes of its numbers, and an unrolled loop of its counter,
 * is left alone. In other languages the last argument is a number of elements. */
static void warn_empty(Cx *cx, Call *c, Val *lo, Val *hi, const View *v, int axis)
{
	bool copied = cx->frame->generic;
	for (const LoopCx *l = cx->loop; l; l = l->up) copied |= l->unrolled;
	if (copied) return;
	bool below = warn_below(cx, c, 2, lo, axis);
	if (warn_below(cx, c, 3, hi, axis) || below || !cx->facts) return;
	const Sym *from = val_sym(cx, lo), *to = val_sym(cx, hi), *ext = v->dim[axis].sym;
	int64_t first, last;
	if (from && to && sym_at_launch(from) && sym_at_launch(to) && facts_le(cx->facts, to, from)) {
		Diag *d = cx_diag(cx, D_SLICE_EMPTY, c->arg[3].span, str_fmt("it begins at %s, and ends before %s",
			sym_text(from), sym_text(to)));
		if (sym_is_const(from, &first) && sym_is_const(to, &last))
			diag_help(d, "the last argument is the end, and no number of elements: %s of them end at %s", str_i64(last),
				str_i64(first + last));
		else diag_help(d, "the last argument is the end, and no number of elements");
	} else if (from && ext && sym_at_launch(from) && facts_le(cx->facts, ext, from)) {
		if (sym_is_const(ext, &last) && !last) return;
		Diag *d = cx_diag(cx, D_SLICE_EMPTY, c->arg[2].span, str_fmt("it begins at %s, and the extent is %s",
			sym_text(from), sym_text(ext)));
		diag_note(d, "indices of axis %d count from 0", axis);
	}
}

static Sv build_slice(Cx *cx, Call *c, const View *v)
{
	int axis;
	int64_t step = 1;
	if (!whole_tensor(cx, v, c->span, call_what(c)) || !view_axis(cx, c, 1, v, &axis)) return sv_poison(c->span);
	Val *lo = slice_bound(cx, c, 2), *hi = lo ? slice_bound(cx, c, 3) : NULL;
	if (!hi || (c->arg[4].given && !arg_int(cx, c, 4, &step))) return sv_poison(c->span);
	if (step < 1) {
		cx_diag(cx, D_STEP_VALUE, c->arg[4].span, str_i64(step));
		return sv_poison(c->span);
	}
	warn_empty(cx, c, lo, hi, v, axis);
	at_span(cx, c->span);
	Val *zero = val_int(cx, EL_I64, 0), *one = val_int(cx, EL_I64, step), *ext = view_extent(cx, v, axis);
	const Sym *sym = sym_inside(val_sym(cx, lo), val_sym(cx, hi), v->dim[axis].sym, step, cx->facts);
	Val *top = val_op2(cx, OP_MAX, val_op2(cx, OP_MIN, hi, ext), lo);        /* so that the difference cannot wrap */
	Val *n = val_op2(cx, OP_SUB, top, lo);
	if (step > 1) n = val_op2(cx, OP_CEILDIV, n, one);
	if (!sym) {
		Val *below = val_cmp(cx, OP_LE, lo, ext);
		n = val_select(cx, val_op2(cx, OP_AND, val_cmp(cx, OP_GE, lo, zero), below), n, zero);
	}
	View s = derived(v);
	Val *stride = view_stride(cx, v, axis);
	at_span(cx, c->span);
	s.dim[axis].sym = sym;
	s.dim[axis].val = n;
	if (step > 1) {
		s.dim[axis].sval = val_op2(cx, OP_MUL, stride, one);
		s.dim[axis].ssym = v->dim[axis].ssym ? sym_mul(v->dim[axis].ssym, sym_const(step)) : NULL;
	}
	return finish_view(cx, v, &s, val_op2(cx, OP_MUL, lo, stride), c->span);
}

static Sv permuted(Cx *cx, const View *v, const int64_t *axes, Span at)
{
	View n = derived(v);
	for (int i = 0; i < v->rank; i++) n.dim[i] = v->dim[axes[i]];
	return finish_view(cx, v, &n, NULL, at);
}

Sv view_permute(Cx *cx, Call *c)
{
	const View *v = c->arg[0].sv.u.view;
	int64_t axes[TENSOR_RANK] = { 0, 1, 2, 3, 4 };
	if (!whole_tensor(cx, v, c->span, call_what(c))) return sv_poison(c->span);
	if (c->op == OP_TRANSPOSE) {
		int i = 0, j = 1;
		if (c->arg[1].given && (!view_axis(cx, c, 1, v, &i) || !view_axis(cx, c, 2, v, &j)))
			return sv_poison(c->span);
		if (v->rank < 2) return c->arg[0].sv;
		axes[i] = j;
		axes[j] = i;
		return permuted(cx, v, axes, c->span);
	}
	int n;
	if (!arg_ints(cx, c, 1, &n, axes, TENSOR_RANK) || !all_axes(cx, c, n, axes, v->rank)) return sv_poison(c->span);
	return permuted(cx, v, axes, c->span);
}

/* Legal where no element has to move: a contiguous tensor whose extents are all known while compiling. */
Sv view_reshape(Cx *cx, Call *c)
{
	const View *v = c->arg[0].sv.u.view;
	int64_t size = 1, want = 1, ext[TENSOR_RANK], e = 0;
	bool fixed = v->kind == VK_TENSOR && v->layout == ML_RIGHT;
	const Expr *list = c->arg[1].e;
	for (int i = 0; i < v->rank; i++) {
		fixed = fixed && v->dim[i].sym && sym_is_const(v->dim[i].sym, &e);
		size *= fixed ? e : 1;
	}
	if (!fixed) {
		Diag *d = cx_diag(cx, D_VIEW_RESHAPE, c->span, v->root);
		diag_note(d, "only a whole `layout_right` tensor with constant extents can be seen under another shape");
		return sv_poison(c->span);
	}
	if (list->kind != EX_LIST || list->u.list.n > TENSOR_RANK) {
		cx_diag(cx, D_NEED_LIST, list->span, str_fmt("the shape of %s", call_what(c)));
		return sv_poison(c->span);
	}
	int n = list->u.list.n, hole = -1;
	for (int i = 0; i < n; i++) {
		Int x = 1;
		if (list->u.list.p[i]->kind == EX_UNDER && hole < 0) hole = i;
		else if (!sema_const_int(cx, list->u.list.p[i], &x)) return sv_poison(c->span);
		ext[i] = x < 1 || x > size ? 0 : (int64_t)x;
		want = ext[i] ? want * ext[i] : 0;
		if (want > size) want = 0;
	}
	if (hole >= 0 && want && size % want == 0) {
		ext[hole] = size / want;
		want = size;
	}
	if (want != size) {
		cx_diag(cx, D_RESHAPE_SIZE, c->span, sv_what(c->arg[0].sv), span_source(list->span), str_i64(size),
			str_i64(want));
		return sv_poison(c->span);
	}
	View r = derived(v);
	r.rank = n;
	r.layout = ML_RIGHT;
	memset(r.dim, 0, sizeof r.dim);
	int64_t stride = 1;
	for (int i = n - 1; i >= 0; i--) {
		r.dim[i] = (ViewDim){ .sym = sym_const(ext[i]), .ssym = sym_const(stride), .elem = EL_I32 };
		stride *= ext[i];
	}
	return finish_view(cx, v, &r, NULL, c->span);
}

/* ---- partitions ---- */

static bool view_tile(Cx *cx, Call *c, const View *v, View *p)
{
	if (!whole_tensor(cx, v, c->span, call_what(c)) || !arg_shape(cx, c, 1, false, &p->tile)) return false;
	if (p->tile.rank != v->rank) {
		cx_diag(cx, D_VIEW_TILE_RANK, c->arg[1].span, shape_text(p->tile.rank, p->tile.log2), str_i64(p->tile.rank),
			v->root, str_i64(v->rank));
		return false;
	}
	if (!sema_tile_type(cx, v->elem, p->tile, c->arg[1].span)) return false;
	for (int i = 0; i < v->rank; i++) {
		p->steps[i] = (int64_t)1 << p->tile.log2[i];
		p->offsets[i] = 0;
	}
	return true;
}

static bool per_axis(Cx *cx, Call *c, int i, int rank, int64_t *out)
{
	int n;
	if (!arg_ints(cx, c, i, &n, out, TENSOR_RANK)) return false;
	if (n == rank) return true;
	cx_diag(cx, D_VIEW_RANK, c->arg[i].span, call_what(c), str_i64(rank), str_i64(n));
	return false;
}

static Sv build_partition(Cx *cx, Call *c, const View *v)
{
	View p = *v;
	if (!view_tile(cx, c, v, &p)) return sv_poison(c->span);
	p.kind = VK_PARTITION;
	if (c->op == OP_STRIDED) {
		p.kind = VK_STRIDED;
		if (!per_axis(cx, c, 2, v->rank, p.steps)) return sv_poison(c->span);
		if (c->arg[3].given && !per_axis(cx, c, 3, v->rank, p.offsets)) return sv_poison(c->span);
		for (int i = 0; i < v->rank; i++) {
			if (p.steps[i] > 0) continue;
			cx_diag(cx, D_STEP_VALUE, c->arg[2].span, str_i64(p.steps[i]));
			return sv_poison(c->span);
		}
	} else if (c->op == OP_GATHER_SCATTER) {
		p.kind = VK_GATHER;
		if (!view_axis(cx, c, 2, v, &p.axis)) return sv_poison(c->span);
	}
	return kept_view(&p, c->span);
}

/* ---- questions ---- */

static Val *tiles_along(Cx *cx, const View *v, int axis)
{
	/* the first tile that lies wholly outside: (extent - offset) / steps, rounded up */
	Val *n = view_extent(cx, v, axis);
	if (v->offsets[axis]) n = val_op2(cx, OP_SUB, n, val_int(cx, EL_I64, v->offsets[axis]));
	n = val_op2(cx, OP_MAX, n, val_int(cx, EL_I64, 0));
	return val_op2(cx, OP_CEILDIV, n, val_int(cx, EL_I64, v->steps[axis]));
}

static Sv num_tiles(Cx *cx, Call *c, const View *v)
{
	int axis;
	if (!view_axis(cx, c, 1, v, &axis)) return sv_poison(c->span);
	if (v->kind == VK_TENSOR || (v->kind == VK_GATHER && axis == v->axis)) {
		Diag *d = cx_diag(cx, D_NO_TILES, c->span, v->root);
		if (v->kind == VK_TENSOR)
			diag_help(d, "tiles have a size in `%s.partition(shape).num_tiles(%d)`; else there is "
				"`cdiv(%s.extent(%d), size)`",
				v->root, axis, v->root, axis);
		return sv_poison(c->span);
	}
	const Sym *e = v->dim[axis].sym;
	if (e && !v->dim[axis].val && !v->offsets[axis]) {
		int64_t k;
		const Sym *n = sym_cdiv(e, sym_const(v->steps[axis]));
		if (sym_is_const(n, &k)) return sv_int(k, c->span);
		return sv_val(sema_launch(cx, v->dim[axis].elem, n), c->span);
	}
	at_span(cx, c->span);
	return sv_folded(val_cast(cx, tiles_along(cx, v, axis), v->dim[axis].elem, (FoldModes){ 0 }), c->span);
}

/* static_stride, static_extent */
static Sv static_size(Cx *cx, Call *c, const View *v)
{
	int axis;
	int64_t k;
	if (!view_axis(cx, c, 1, v, &axis)) return sv_poison(c->span);
	bool stride = c->op == OP_STATIC_STRIDE;
	const Sym *s = stride ? v->dim[axis].ssym : v->dim[axis].sym;
	if (s && sym_is_const(s, &k)) return sv_int(k, c->span);
	return sv_dynamic(str_fmt("the %s of axis %d of `%s`", stride ? "stride" : "extent", axis, v->root), c->span);
}

/* 1 + sum of (extent - 1) * stride, or 0 for an empty view. */
static Sv span_size(Cx *cx, Call *c, const View *v)
{
	at_span(cx, c->span);
	Val *one = val_int(cx, EL_I64, 1), *zero = val_int(cx, EL_I64, 0), *n = one, *some = NULL;
	for (int i = 0; i < v->rank; i++) {
		Val *e = view_extent(cx, v, i), *s = view_stride(cx, v, i);
		n = val_op2(cx, OP_ADD, n, val_op2(cx, OP_MUL, val_op2(cx, OP_SUB, e, one), s));
		Val *here = val_cmp(cx, OP_GT, e, zero);
		some = some ? val_op2(cx, OP_AND, some, here) : here;
	}
	return sv_folded(some ? val_select(cx, some, n, zero) : n, c->span);
}

static Sv layout_value(const View *v, Span at)
{
	Sv r = sv_none(at);
	r.kind = SV_LAYOUT;
	r.u.layout = v;
	return r;
}

/* Extents and strides are the same numbers, whatever their types and however they were said. */
Sv layouts_equal(Cx *cx, const View *a, const View *b, Span at)
{
	Val *all = NULL;
	Num n;
	if (a->rank != b->rank) return sv_bool(false, at);
	at_span(cx, at);
	for (int i = 0; i < 2 * a->rank; i++) {
		const ViewDim *x = &a->dim[i / 2], *y = &b->dim[i / 2];
		bool stride = i % 2;
		const Sym *s = stride ? x->ssym : x->sym, *t = stride ? y->ssym : y->sym;
		if (s && s == t) continue;
		Val *of_b = stride ? view_stride(cx, b, i / 2) : view_extent(cx, b, i / 2);
		Val *of_a = stride ? view_stride(cx, a, i / 2) : view_extent(cx, a, i / 2),
			*same = val_cmp(cx, OP_EQ, of_a, of_b);
		if (sv_const_num(sv_folded(same, at), &n)) {
			if (!n.i) return sv_bool(false, at);
			continue;
		}
		all = all ? val_op2(cx, OP_AND, all, same) : same;
	}
	return all ? sv_val(all, at) : sv_bool(true, at);
}

Sv build_view(Cx *cx, Call *c)
{
	int axis;
	const View *v = arg_view(cx, c, 0);
	if (!v) return sv_poison(c->span);
	switch (c->op) {
	case OP_PARTITION: case OP_STRIDED: case OP_GATHER_SCATTER: return build_partition(cx, c, v);
	case OP_SLICE: return build_slice(cx, c, v);
	case OP_NUM_TILES: return num_tiles(cx, c, v);
	case OP_STATIC_STRIDE: case OP_STATIC_EXTENT: return static_size(cx, c, v);
	case OP_SPAN_SIZE: return span_size(cx, c, v);
	case OP_LAYOUT_OF: return layout_value(v, c->span);
	default: break;
	}
	if (!view_axis(cx, c, 1, v, &axis)) return sv_poison(c->span);
	at_span(cx, c->span);
	if (c->op == OP_EXTENT) return view_extent_sv(cx, v, axis, c->span);
	return sv_folded(view_stride(cx, v, axis), c->span);
}

/* ---- masks ---- */

/* Elements of the tile along one axis that are inside, as a bool tile over that axis: lo <= iota < hi, with the bounds
 * clamped to the tile in 64 bits, so that the comparison can be done in 32. */
static Val *axis_mask(Cx *cx, const View *v, Val *index, const Shape *s, int axis, int64_t steps, int64_t offset)
{
	int64_t len = (int64_t)1 << s->log2[axis];
	Val *zero = val_int(cx, EL_I64, 0), *top = val_int(cx, EL_I64, len);
	Val *step = val_int(cx, EL_I64, steps), *base = val_op2(cx, OP_MUL, val_i64(cx, index), step);
	if (offset) base = val_op2(cx, OP_ADD, base, val_int(cx, EL_I64, offset));
	Val *hi = val_op2(cx, OP_SUB, view_extent(cx, v, axis), base);
	hi = val_op2(cx, OP_MIN, val_op2(cx, OP_MAX, hi, zero), top);
	uint8_t log2[TILE_RANK] = { 0 };
	log2[axis] = s->log2[axis];
	const Type *t = type_tile(EL_I32, s->rank, log2);
	Val *i = ir_op1(&cx->b, OP_IOTA, t, 0, NULL);
	Val *below = val_cmp(cx, OP_LT, i, val_broadcast(cx, val_cast(cx, hi, EL_I32, (FoldModes){ 0 }), t));
	const Sym *sym = val_sym(cx, index);
	bool from_zero = !offset && sym && cx->facts && facts_le(cx->facts, sym_const(0), sym);
	if (from_zero) return below;
	Val *lo = val_op2(cx, OP_MIN, val_op2(cx, OP_MAX, val_op2(cx, OP_SUB, zero, base), zero), top);
	lo = val_broadcast(cx, val_cast(cx, lo, EL_I32, (FoldModes){ 0 }), t);
	return val_op2(cx, OP_AND, below, val_cmp(cx, OP_GE, i, lo));
}

Sv view_mask(Cx *cx, const View *v, Val *const *index, const Shape *s, const int64_t *steps, const int64_t *offsets,
	Span at)
{
	at_span(cx, at);
	const Type *t = type_tile(EL_BOOL, s->rank, s->log2);
	Val *all = NULL;
	for (int i = 0; i < s->rank; i++) {
		Val *m = val_broadcast(cx, axis_mask(cx, v, index[i], s, i, steps[i], offsets[i]), t);
		all = all ? val_op2(cx, OP_AND, all, m) : m;
	}
	return sv_val(all ? all : const_val(cx, t, num_int(1)), at);
}

/* ---- x.name without a call, or of no operation ---- */
static void ask_near_op(Diag *d, Name name, bool view)         /* of memory: what takes memory first */
{
	Near near;
	near_begin(&near, name.s);
	for (int i = 0; i < OP_COUNT; i++)
		if (!(op_rows[i].flags & OPF_HIDDEN) && (!view || !strncmp(op_rows[i].sig, "t:w", 3)))
			near_offer(&near, str_intern(op_rows[i].name));
	diag_ask(d, near.best);
}

/* v.view(i32) */
static bool bits_as(Diag *d, Str name, const Expr *e, const Expr *call)
{
	const ArgVec *a = &call->u.call.args;
	Elem elem;
	if (strcmp(name, "view") || a->n != 1 || !elem_by_name(span_source(a->p[0].value->span), &elem)) return false;
	Str fix = str_fmt("element_bitcast(%s, %s)", span_source(e->u.mem.base->span), elem_name(elem));
	diag_help(d, "write `%s`", fix);
	diag_edit(d, call->span, fix);
	return true;
}

Sv build_member(Cx *cx, Sv base, const Expr *e, const Expr *call)
{
	OpCode op;
	if (sv_bad(base)) return base;
	Str name = e->u.mem.name.s;
	Diag *d = cx_diag(cx, D_NO_MEMBER, e->u.mem.name.span, sv_what(base), name);
	Str of = span_source(e->u.mem.base->span);
	const char *operation = known_elsewhere(name);
	bool block = base.kind == SV_OP && (base.u.op == OP_BID || base.u.op == OP_NUM_BLOCKS), fits;
	Str file = NULL;
	if (base.kind == SV_TUPLE) {
		diag_help(d, "the values of `(a, b)` have names in a pattern, as in `let (a, b) = %s;`",
			str_len(of) > 40 ? "..." : of);
	} else if (op_by_name(name, &op) && !(op_rows[op].flags & OPF_HIDDEN)) {
		diag_help(d, "it is an operation, and called as in `%s.%s(...)`", of, name);
	} else if (block && strlen(name) == 1 && *name >= 'x' && *name <= 'z') {
		diag_help(d, "write `%s(%d)`", of, *name - 'x');
		diag_edit(d, e->span, str_fmt("%s(%d)", of, *name - 'x'));
	} else if (!strcmp(name, "shape") && base.kind == SV_VIEW) {
		diag_help(d, "extents have names in the tensor's type; `%s.extent(0)` gives one too", of);
	} else if (!strcmp(name, "shape")) {
		diag_help(d, "a tile's extents are compile-time values: its type has them");
	} else if (call && bits_as(d, name, e, call)) {
		return sv_poison(e->span);
	} else if (habit_member(cx, d, e, call)) {
		return sv_poison(e->span);
	} else if (operation && op_by_name(str_intern(operation), &op)) {
		diag_help(d, "write `%s`", operation);
		diag_edit(d, e->u.mem.name.span, operation);
	} else if (call && (file = library_with(cx->s, name, call->u.call.args.n + 1, &fits)) && fits) {
		habit_import(cx, d, file);
	} else {
		const char *thought = foreign_word(FW_SAY, name);
		if (thought) diag_help(d, "%s", thought);
		else ask_near_op(d, e->u.mem.name, base.kind == SV_VIEW);
	}
	return sv_poison(e->span);
}
