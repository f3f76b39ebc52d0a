/* Tensors: their types in parameter lists, dimensions and free strides, the views of parameters, extents and strides of
 * any view as values, values known at launch. */
#include "ir/fold.h"
#include "sema/scope.h"

#include <string.h>

bool type_is_tensor(const Expr *type)
{
	return type && type->kind == EX_TYPE && type->u.type.name.s == str_intern("tensor");
}

/* ---- declaring dimensions ---- */
static void declare_atom(TensorCx *t, Name n, Elem elem, bool stride)
{
	Cx *cx = t->cx;
	Bind *b = scope_find(cx, n.s);
	if (b) {
		if (b->kind == BIND_DIM && elem == EL_I64) b->elem = EL_I64;
		return;
	}
	b = scope_add(cx, BIND_DIM, n);
	b->elem = stride ? EL_I64 : elem;
	b->sym = sym_atom(stride ? ATOM_STRIDE : ATOM_DIM, n.s, 0);
	IrDim d = { .name = n.s, .elem = b->elem, .is_stride = stride, .span = n.span };
	if (stride) vec_push(A_UNIT, t->strides, d);
	else vec_push(A_UNIT, t->dims, d);
	facts_range(cx->facts, b->sym, 0, b->elem == EL_I64 ? INT64_MAX : INT32_MAX);
}

/* Every lower-case name of a shape is a dimension, wherever in an expression it stands. ctx: a TensorCx. */
static void declare_dim(void *ctx, Name n)
{
	if (!name_is_upper(n.s)) declare_atom(ctx, n, EL_I32, false);
}

static void declare_stride(void *ctx, Name n)
{
	if (!name_is_upper(n.s)) declare_atom(ctx, n, EL_I32, true);
}

/* The type of a dimension's value, any integer where dimensions are declared, and that of its indices, i32 or i64. */
static bool dim_elem(const TensorCx *t, const Expr *type, Elem *said, Elem *e)
{
	if (!sema_elem(t->cx, type, said)) return false;
	bool integer = !elem_is_ptr(*said) && elem_is_int(*said);
	*e = integer && (elem_bytes(*said) == 8 || *said == EL_U32) ? EL_I64 : EL_I32;
	if (integer && (t->dims || *said == *e)) return true;
	cx_diag(t->cx, D_DIM_TYPE, type->span, elem_name(*said));
	return false;
}

/* The launcher refuses what the type of the dimension's value does not hold. */
static void dim_holds(TensorCx *t, const Bind *b, Span at)
{
	int64_t most = b->said == EL_U64 ? INT64_MAX : num_greatest(b->said).i;
	IrWhere w = { sym_cmp(SYM_LE, b->sym, sym_const(most)), str_fmt("%s <= %lld", b->name, (long long)most), at, true };
	if (b->said == b->elem || b->said == EL_U64 || !t->where) return;
	facts_assume(t->cx->facts, w.cond);
	for (int i = 0; i < t->where->n; i++)
		if (t->where->p[i].cond == w.cond) return;
	vec_push(A_UNIT, t->where, w);
}

/* [-1], [None], [_]: a length that the caller gives, as other languages write it. */
static bool unnamed_extent(TensorCx *t, const Expr *e)
{
	bool bad, minus = e->kind == EX_UNARY && e->u.un.op == UN_NEG && e->u.un.x->kind == EX_INT;
	bool none = e->kind == EX_NAME && (!strcmp(e->u.name, "None") || !strcmp(e->u.name, "dynamic_extent"))
		&& !scope_find(t->cx, e->u.name) && !scope_global(t->cx, e->u.name, e->span, &bad);
	if (!minus && !none && e->kind != EX_UNDER) return false;
	Diag *d = cx_diag(t->cx, D_EXTENT, e->span, sema_source(e));
	diag_help(d, "a length that the caller gives has a name, by which the kernel knows it, as in `tensor<f32, [n]>`");
	return true;
}

/* One extent. `n: i64` declares; the declaration counts for every use of n, so the elem may still become i64. */
static bool resolve_extent(TensorCx *t, const Expr *e, const Sym **sym, Elem *elem)
{
	Cx *cx = t->cx;
	*elem = EL_I32;
	if (e->kind == EX_DIM) {
		Elem said;
		if (!dim_elem(t, e->u.dim.type, &said, elem)) return false;
		if (t->dims) declare_atom(t, e->u.dim.name, *elem, false);
		Bind *b = scope_find(cx, e->u.dim.name.s);
		*sym = b ? b->sym : NULL;
		bool other = b && b->typed && b->said != said;
		if (b && (other || (b->elem == EL_I64 && *elem == EL_I32))) {
			cx_diag(cx, D_DIM_TWICE, e->span, e->u.dim.name.s, elem_name(other ? b->said : b->elem), elem_name(said));
			return false;
		}
		if (b && t->dims) {
			b->typed = true;
			b->said = said;
			dim_holds(t, b, e->span);
		}
		for (int i = 0; t->dims && i < t->dims->n; i++)
			if (t->dims->p[i].name == e->u.dim.name.s) t->dims->p[i].elem = *elem;
		return *sym != NULL;
	}
	if (unnamed_extent(t, e)) return false;
	if (t->dims) ast_length_names(e, declare_dim, t);
	bool bad;
	if (e->kind == EX_NAME && name_is_upper(e->u.name) && !scope_find(cx, e->u.name) &&
		!scope_global(cx, e->u.name, e->span, &bad) && !bad) {
		unknown_extent(cx, e->u.name, e->span);
		return false;
	}
	SymVal v = sema_sym(cx, e);
	int64_t c;
	*sym = v.sym;
	*elem = v.elem;
	if (!v.sym) return false;
	if (v.elem == EL_BOOL || (sym_is_const(v.sym, &c) && c < 0)) {
		cx_diag(cx, D_EXTENT, e->span, sema_source(e));
		return false;
	}
	return true;
}

/* ---- layouts ---- */
static const Sym *padded(const Sym *n, const Sym *a)
{
	return sym_mul(sym_cdiv(n, a), a);
}

static void strides_right(IrParam *p, bool pads, const Sym *a)
{
	const Sym *s = sym_const(1);
	for (int i = p->rank - 1; i >= 0; i--) {
		p->stride[i] = s;
		s = sym_mul(s, pads && i == p->rank - 1 ? padded(p->extent[i], a) : p->extent[i]);
	}
}

static void strides_left(IrParam *p, bool pads, const Sym *a)
{
	const Sym *s = sym_const(1);
	for (int i = 0; i < p->rank; i++) {
		p->stride[i] = s;
		s = sym_mul(s, pads && i == 0 ? padded(p->extent[i], a) : p->extent[i]);
	}
}

static bool strides_given(TensorCx *t, const Expr *layout, const Expr *list, Mode mode, IrParam *p)
{
	Cx *cx = t->cx;
	bool ok = true;
	if (list->kind != EX_LIST || list->u.list.n != p->rank) {
		cx_diag(cx, D_STRIDE_COUNT, layout->span, str_i64(list->kind == EX_LIST ? list->u.list.n : 0),
			str_i64(p->rank));
		return false;
	}
	for (int i = 0; i < p->rank; i++) {
		const Expr *e = list->u.list.p[i];
		if (t->strides) ast_length_names(e, declare_stride, t);
		SymVal v = sema_sym(cx, e);
		int64_t c;
		p->stride[i] = v.sym;
		ok &= v.sym != NULL;
		if (!v.sym || !sym_is_const(v.sym, &c)) continue;
		if (c < 0 || (c == 0 && mode != MODE_IN && mode != MODE_NONE)) {
			cx_diag(cx, D_STRIDE_VALUE, e->span, str_i64(c));
			ok = false;
		}
	}
	return ok;
}

bool layout_by_name(Str name, LayoutKind *kind, bool *arg)
{
	static const struct { const char *name; LayoutKind kind; bool arg; } row[] = {
		{ "layout_right", ML_RIGHT, false }, { "layout_left", ML_LEFT, false },
		{ "layout_right_padded", ML_RIGHT_PADDED, true }, { "layout_left_padded", ML_LEFT_PADDED, true },
		{ "layout_strided", ML_STRIDED, true }
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		if (strcmp(row[i].name, name) != 0) continue;
		*kind = row[i].kind;
		*arg = row[i].arg;
		return true;
	}
	return false;
}

/* An alignment that the caller gives: a lower-case name that is no constant. The launcher refuses one below 1. */
static const Sym *given_alignment(TensorCx *t, const Expr *e)
{
	bool bad = false;
	if (e->kind != EX_NAME || name_is_upper(e->u.name)) return NULL;
	const Bind *b = scope_find(t->cx, e->u.name);
	if (b ? b->kind != BIND_DIM : !t->strides || scope_global(t->cx, e->u.name, e->span, &bad)) return NULL;
	ast_length_names(e, declare_stride, t);
	const Sym *a = sema_sym(t->cx, e).sym;
	if (!a) return NULL;
	IrWhere w = { sym_cmp(SYM_LE, sym_const(1), a), str_fmt("%s >= 1", e->u.name), e->span, false };
	facts_assume(t->cx->facts, w.cond);
	bool said = !t->where;
	for (int i = 0; !said && i < t->where->n; i++) said = t->where->p[i].cond == w.cond;
	if (!said) vec_push(A_UNIT, t->where, w);
	return sym_max(a, sym_const(1));        /* sizes are computed before conditions are checked */
}

/* The alignment of a padded layout, a compile-time integer or a name; NULL: reported. */
static const Sym *alignment(TensorCx *t, const Expr *e, IrParam *p)
{
	Int pad = 0;
	const Sym *a = given_alignment(t, e);
	if (a) {
		p->layout = ML_STRIDED;         /* with the strides that follow from it */
		return a;
	}
	if (!sema_const_int(t->cx, e, &pad)) return NULL;
	if (pad < 1 || pad > (1 << 30)) {
		cx_diag(t->cx, D_LAYOUT_PAD, e->span, sv_value_text(sv_int(pad, e->span)));
		return NULL;
	}
	p->pad = (int64_t)pad;
	return sym_const(p->pad);
}

static bool resolve_layout(TensorCx *t, const Expr *e, Mode mode, IrParam *p)
{
	Cx *cx = t->cx;
	bool takes = false, named = e && (e->kind == EX_NAME || e->kind == EX_TYPE);
	p->layout = ML_RIGHT;
	Str name = !named ? NULL : e->kind == EX_NAME ? e->u.name : e->u.type.name.s;
	int nargs = named && e->kind == EX_TYPE ? e->u.type.args.n : 0;
	if (e && (!named || !layout_by_name(name, &p->layout, &takes) || nargs != (takes ? 1 : 0))) {
		if (e->kind == EX_ERROR) return false;
		Diag *d = cx_diag(cx, D_LAYOUT, e->span, sema_source(e));
		const char *known = !named ? NULL : strcmp(name, "row_major") == 0 ? "layout_right"
			: strcmp(name, "column_major") == 0 || strcmp(name, "col_major") == 0 ? "layout_left" : NULL;
		if (known) {
			diag_help(d, "write `%s`", known);
			diag_edit(d, e->span, known);
			return false;
		}
		diag_help(d, "there are `layout_right`, `layout_left`, `layout_right_padded<A>`, `layout_left_padded<A>` and "
			"`layout_strided<[s0, s1]>`");
		return false;
	}
	const Expr *arg = takes ? e->u.type.args.p[0].value : NULL;
	if (p->layout == ML_STRIDED) return strides_given(t, e, arg, mode, p);
	bool left = p->layout == ML_LEFT || p->layout == ML_LEFT_PADDED;
	const Sym *a = takes ? alignment(t, arg, p) : NULL;
	if (takes && !a) return false;
	if (left) strides_left(p, takes, a);
	else strides_right(p, takes, a);
	return true;
}

/* tensor<f32, n>, tensor<f32, 3, n>: a list without its brackets */
static void help_bare_extents(Diag *d, const Expr *type)
{
	const ArgVec *a = &type->u.type.args;
	for (int i = 1; i < a->n; i++) {
		const Expr *x = a->p[i].value;
		if (x->kind != EX_INT && !(x->kind == EX_NAME && *x->u.name >= 'a' && *x->u.name <= 'z')) return;
	}
	Str list = span_source((Span){ a->p[1].value->span.lo, a->p[a->n - 1].value->span.hi });
	Str fix = str_fmt("tensor<%s, [%s]>", span_source(a->p[0].value->span), list);
	diag_help(d, "the extents are a list in brackets: write `%s`", fix);
	diag_edit(d, type->span, fix);
}

bool tensor_resolve(TensorCx *t, const Expr *type, Mode mode, IrParam *p, Elem elem[TENSOR_RANK])
{
	const ArgVec *a = &type->u.type.args;
	Cx *cx = t->cx;
	p->is_tensor = true;
	p->mode = mode == MODE_OUT ? PM_OUT : mode == MODE_INOUT ? PM_INOUT : PM_IN;
	if (a->n < 2 || a->p[1].value->kind != EX_LIST) {
		if (a->n >= 2 && a->p[1].value->kind == EX_ERROR) return false;
		Diag *d = cx_diag(cx, D_TENSOR_SHAPE, type->span, sema_source(type));
		if (a->n == 2 && a->p[0].value->kind == EX_LIST) {
			Str fix = str_fmt("tensor<%s, %s>", span_source(a->p[1].value->span), span_source(a->p[0].value->span));
			diag_help(d, "the element type stands first: write `%s`", fix);
			diag_edit(d, type->span, fix);
		} else if (a->n >= 2) {
			help_bare_extents(d, type);
		}
		return false;
	}
	const ExprVec *list = &a->p[1].value->u.list;
	bool ok = sema_elem(cx, a->p[0].value, &p->elem);
	if (list->n > TENSOR_RANK) {
		cx_diag(cx, D_TENSOR_RANK, a->p[1].value->span, str_i64(list->n), str_i64(TENSOR_RANK));
		return false;
	}
	if (ok && (elem_is_ptr(p->elem) || p->elem == EL_VOID)) {
		cx_diag(cx, D_TENSOR_ELEM, a->p[0].value->span, elem_name(p->elem));
		ok = false;
	}
	p->rank = list->n;
	for (int i = 0; i < list->n; i++) ok &= resolve_extent(t, list->p[i], &p->extent[i], &elem[i]);
	return ok && resolve_layout(t, a->n > 2 ? a->p[2].value : NULL, mode, p);
}

const View *tensor_view(const IrParam *p, Val *val, const Elem elem[TENSOR_RANK])
{
	View *v = NEW(A_UNIT, View);
	v->kind = VK_TENSOR;
	v->val = val;
	v->mode = p->mode == PM_OUT ? MODE_OUT : p->mode == PM_INOUT ? MODE_INOUT : MODE_IN;
	v->elem = p->elem;
	v->rank = p->rank;
	v->layout = p->layout;
	v->pad = p->pad;
	v->root = p->name;
	v->decl = p->span;
	for (int i = 0; i < p->rank; i++)
		v->dim[i] = (ViewDim){ .sym = p->extent[i], .elem = elem[i], .ssym = p->stride[i] };
	return v;
}

/* ---- values known at launch ---- */
Val *sema_launch(Cx *cx, Elem e, const Sym *s)
{
	Str key = str_fmt("%u:%s", (unsigned)s->id, elem_name(e));
	Val *v = map_get(&cx->launches, key);
	if (v) return v;
	Builder b = { cx->fn, cx->fn->body, cx->prologue ? cx->prologue->next : cx->fn->body->first, cx->b.span };
	v = ir_launch(&b, e, s);
	cx->prologue = v->def;
	if (s->kind == SYM_ATOM && !v->name) v->name = s->name;
	map_put(&cx->launches, key, v);
	return v;
}

Val *view_extent(Cx *cx, const View *v, int axis)
{
	const ViewDim *d = &v->dim[axis];
	return d->val ? d->val : sema_launch(cx, EL_I64, d->sym);
}

Val *view_stride(Cx *cx, const View *v, int axis)
{
	const ViewDim *d = &v->dim[axis];
	return d->sval ? d->sval : sema_launch(cx, EL_I64, d->ssym);
}

Sv view_extent_sv(Cx *cx, const View *v, int axis, Span at)
{
	const ViewDim *d = &v->dim[axis];
	int64_t c;
	if (d->sym && sym_is_const(d->sym, &c)) return sv_int(c, at);
	if (d->sym) return sv_val(sema_launch(cx, d->elem, d->sym), at);
	if (d->elem == EL_I64) return sv_val(d->val, at);
	return sv_val(ir_unary(&cx->b, OP_CAST, type_scalar(d->elem), d->val), at);
}

const Sym *sema_grid(Cx *cx, int axis, Elem *e)
{
	if (axis < 0 || axis >= cx->fn->ngrid) return NULL;
	*e = cx->grid_elem[axis];
	return cx->fn->grid[axis];
}

int sema_grid_rank(Cx *cx)
{
	return cx->fn->ngrid;
}

Spot spot_enter(Cx *cx, IrBlock *region)
{
	Spot s = { cx->b, cx->dead };
	cx->b.block = region;
	cx->b.before = NULL;
	cx->dead = false;
	return s;
}

void spot_leave(Cx *cx, Spot s)
{
	Span at = cx->b.span;
	cx->b = s.b;
	cx->b.span = at;
	cx->dead = s.dead;
}
