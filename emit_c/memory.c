/* Views, tile loads and stores, and element-wise accesses of the C target. */
#include <string.h>

#include "base/diag.h"
#include "emit/names.h"
#include "emit/optext.h"
#include "emit_c/cg.h"

static CView *view_of(Cg *g, const Val *v)
{
	if (g->val[v->id].kind != CV_VIEW) bug("value %d is not a view", v->id);
	return g->val[v->id].view;
}

void view_param(Cg *g, const IrParam *p, const Val *v)
{
	CView *w = NEW(A_TMP, CView);
	w->ptr = name_c(p->name);
	w->off = str_intern("0");
	w->rank = p->rank;
	for (int i = 0; i < p->rank; i++) {
		w->ext[i] = launch_c(g, p->extent[i]);
		w->str[i] = launch_c(g, p->stride[i]);
	}
	g->val[v->id] = (CVal){ CV_VIEW, w->ptr, w };
}

static Str wide(Cg *g, const char *what, Str e)         /* an int64_t with a name, literals as they are */
{
	if (strspn(e, "0123456789") == str_len(e) && str_len(e) < 10) return e;
	if (!strncmp(e, "INT64_C(", 8) && strspn(e + 8, "0123456789") == str_len(e) - 9)
		return str_intern_n(e + 8, str_len(e) - 9);
	Str n = temp(g, what);
	out_printf(g->o, "const int64_t %s = (int64_t)%s;\n(void)%s;\n", n, e, n);
	return n;
}

void emit_view(Cg *g, const Op *op)
{
	const Val *base = ir_in(op, 0);
	CView *w = NEW(A_TMP, CView);
	w->rank = op->out[0]->type->rank;
	Str off = wide(g, "off", scalar(g, ir_in(op, 1)));
	if (base->type->kind == TY_VIEW) {
		const CView *b = view_of(g, base);
		w->ptr = b->ptr;
		if (!strcmp(b->off, "0")) w->off = off;
		else w->off = !strcmp(off, "0") ? b->off : wide(g, "off", str_fmt("(%s + %s)", b->off, off));
	} else {
		w->ptr = temp(g, "p");
		w->off = off;
		out_printf(g->o, "%s *const %s = (%s *)%s;\n", c_type(op->out[0]->type->elem), w->ptr,
			c_type(op->out[0]->type->elem), scalar(g, base));
	}
	for (int i = 0; i < w->rank; i++) w->ext[i] = wide(g, "ext", scalar(g, ir_in(op, 2 + i)));
	for (int i = 0; i < w->rank; i++) w->str[i] = wide(g, "str", scalar(g, ir_in(op, 2 + w->rank + i)));
	g->val[op->out[0]->id] = (CVal){ CV_VIEW, w->ptr, w };
}

static Str address(const CView *w, const Str *at)
{
	Out *o = out_new();
	int n = 0;
	if (strcmp(w->off, "0")) out_printf(o, "%s", w->off), n++;
	for (int i = 0; i < w->rank; i++) {
		if (n++) out_puts(o, " + ");
		if (!strcmp(w->str[i], "1")) out_puts(o, at[i]);
		else out_printf(o, "%s * %s", at[i], w->str[i]);
	}
	if (!n) out_puts(o, "0");
	return out_take(o);
}

static Str loaded(Elem e, Str place)    /* bool memory: any non-zero byte reads true */
{
	return e == EL_BOOL ? str_fmt("(uint8_t)(%s != 0)", place) : place;
}

/* ---- tiles ---- */
/* The nest over a box of a view: the axis with stride 1 innermost, ranges clipped to the view, so
 * that no element is tested. */
typedef struct Box {
	const CView *w;
	const Type *t;
	int order[TILE_RANK];
	Str origin[TENSOR_RANK], lo, hi;        /* of the innermost axis */
} Box;

static void box_origin(Cg *g, Box *b, const Op *op, int first)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offs = ir_attr(op, AT_OFFSETS);
	for (int i = 0; i < b->t->rank; i++) {
		long long step = steps ? (long long)steps->u.ints.p[i] : 1, off = offs ? (long long)offs->u.ints.p[i] : 0;
		Str at = temp(g, "at");
		out_printf(g->o, "const int64_t %s = ct_tile_at((int64_t)%s, %lld, %lld);\n", at,
			scalar(g, ir_in(op, first + i)), step, off);
		b->origin[i] = at;
	}
}

static void box_order(Box *b)
{
	int inner = b->t->rank - 1, n = 0;
	for (int i = 0; i < b->t->rank; i++)
		if (!strcmp(b->w->str[i], "1") && b->t->log2[i]) inner = i;
	for (int i = 0; i < b->t->rank; i++)
		if (i != inner) b->order[n++] = i;
	if (b->t->rank) b->order[n] = inner;
}

/* Opens the outer loops and prints the clipped range of the innermost axis; at[]: element
 * coordinates of the outer axes. */
static void box_open(Cg *g, Box *b, Nest *n, Str *at, Str *inner)
{
	int rank = b->t->rank, last = b->order[rank - 1];
	Str ok = NULL;
	nest_open_axes(g, n, b->t, b->order, rank - 1);
	for (int k = 0; k < rank - 1; k++) {
		int a = b->order[k];
		at[a] = temp(g, "c");
		out_printf(g->o, "const int64_t %s = %s + %s;\n", at[a], b->origin[a], n->idx[a]);
		Str in = temp(g, "in");
		out_printf(g->o, "const int %s = %s%s%s >= 0 && %s < %s;\n", in, ok ? ok : "", ok ? " && " : "", at[a], at[a],
			b->w->ext[a]);
		ok = in;
	}
	b->lo = temp(g, "lo");
	b->hi = temp(g, "hi");
	long long len = (long long)type_extent(b->t, last);
	out_printf(g->o, "const int %s = %s%sct_clip(-%s, %lld)%s;\n", b->lo, ok ? ok : "", ok ? " ? " : "",
		b->origin[last], len, ok ? " : 0" : "");
	out_printf(g->o, "const int %s = %s%sct_clip(%s - %s, %lld)%s;\n", b->hi, ok ? ok : "", ok ? " ? " : "",
		b->w->ext[last], b->origin[last], len, ok ? " : 0" : "");
	*inner = n->idx[last] = temp(g, "i");
	at[last] = str_fmt("(%s + %s)", b->origin[last], *inner);
}

static void fill(Cg *g, Str array, const Type *t, const Nest *n, Str i, const char *from, const char *to, Str pad)
{
	out_printf(g->o, "for (int %s = %s; %s < %s; %s++) %s[%s] = %s;\n", i, from, i, to, i, array, linear(t, n->idx),
		pad);
}

void emit_load(Cg *g, const Op *op)
{
	Val *out = op->out[0];
	Box b = { .w = view_of(g, ir_in(op, 0)), .t = out->type };
	Str array = array_new(g, out->type, val_name(g, out)), pad = scalar(g, ir_in(op, op->nin - 1)), at[TENSOR_RANK], i;
	g->val[out->id] = (CVal){ .kind = CV_STORED, .name = array };
	out_puts(g->o, "{\n");
	out_in(g->o);
	if (!b.t->rank) {
		out_printf(g->o, "%s[0] = %s;\n", array, loaded(out->type->elem, str_fmt("%s[%s]", b.w->ptr, b.w->off)));
	} else {
		Nest n;
		box_origin(g, &b, op, 1);
		box_order(&b);
		box_open(g, &b, &n, at, &i);
		Str place = str_fmt("%s[%s]", b.w->ptr, address(b.w, at)),
			end = str_fmt("%lld", (long long)type_extent(b.t, b.order[b.t->rank - 1]));
		fill(g, array, b.t, &n, i, "0", b.lo, pad);
		fill(g, array, b.t, &n, i, b.lo, b.hi, loaded(out->type->elem, place));
		fill(g, array, b.t, &n, i, str_fmt("%s > %s ? %s : %s", b.hi, b.lo, b.hi, b.lo), end, pad);
		nest_close(g, &n);
	}
	out_off(g->o);
	out_puts(g->o, "}\n");
}

void emit_store(Cg *g, const Op *op)
{
	const Val *x = ir_in(op, op->nin - 1);
	Box b = { .w = view_of(g, ir_in(op, 0)), .t = x->type };
	Str at[TENSOR_RANK], i;
	Nest n;
	out_puts(g->o, "{\n");
	out_in(g->o);
	if (!b.t->rank) {
		out_printf(g->o, "%s[%s] = %s;\n", b.w->ptr, b.w->off, elem(g, x, NULL));
	} else {
		box_origin(g, &b, op, 1);
		box_order(&b);
		box_open(g, &b, &n, at, &i);
		out_printf(g->o, "for (int %s = %s; %s < %s; %s++) {\n", i, b.lo, i, b.hi, i);
		out_in(g->o);
		Str e = elem(g, x, n.idx);
		out_printf(g->o, "%s[%s] = %s;\n", b.w->ptr, address(b.w, at), e);
		out_off(g->o);
		out_puts(g->o, "}\n");
		nest_close(g, &n);
	}
	out_off(g->o);
	out_puts(g->o, "}\n");
}

/* ---- element-wise: gather, scatter, pointers, atomics ---- */
static Str atomic_call(const Op *op, Elem e, Str place, const Str *value)
{
	Out *o = out_new();
	Str order = attr_word_text(AT_ORDER, (int)ir_int(op, AT_ORDER, 0)),
		scope = attr_word_text(AT_SCOPE, (int)ir_int(op, AT_SCOPE, 0));
	const char *what = op_has(op, OPF_CAS) ? "cas" : !op_has(op, OPF_WRITE) ? "load" : !op_has(op, OPF_READ) ? "store"
		: attr_word_text(AT_RMW, (int)ir_int(op, AT_RMW, 0));
	out_printf(o, "ct_atomic_%s_%s_%s_%s(&%s", what, elem_name(e), order, scope, place);
	for (int i = 0; i < op_values(op); i++) out_printf(o, ", %s", value[i]);
	out_puts(o, ")");
	return out_take(o);
}

static Str inside_test(Cg *g, const Op *op, const ElemAccess *a, const Str *idx, Str *at)
{
	if (a->ptr) return NULL;
	Out *o = out_new();
	const CView *w = view_of(g, ir_in(op, 0));
	for (int i = 0; i < a->nindex; i++) {
		at[i] = temp(g, "c");
		out_printf(g->o, "const int64_t %s = (int64_t)%s;\n", at[i], elem(g, ir_in(op, 1 + i), idx));
		out_printf(o, "%s%s >= 0 && %s < %s", i ? " && " : "", at[i], at[i], w->ext[i]);
	}
	Str s = out_take(o);
	return a->nindex ? s : NULL;
}

static void print_access(Cg *g, const Op *op, const ElemAccess *a, const Str *idx, Str result)
{
	const Val *x = ir_in(op, 0);
	Str at[TENSOR_RANK], value[2], place, mask = NULL;
	Elem e = x->type->kind == TY_VIEW ? x->type->elem : elem_pointee(x->type->elem);
	int next = 1 + a->nindex;
	Str inside = inside_test(g, op, a, idx, at);
	for (int i = 0; i < a->nvalue; i++) value[i] = elem(g, ir_in(op, next++), idx);
	/* where nothing is accessed, a compare-exchange gives what it expected */
	Str pad = a->pad ? elem(g, ir_in(op, next++), idx) : a->nvalue == 2 ? value[0] : num_c(e, (Num){ 0, 0.0 });
	if (next < op->nin) mask = elem(g, ir_in(op, next), idx);
	if (a->ptr) place = str_fmt("(*%s)", elem(g, x, idx));
	else place = str_fmt("%s[%s]", view_of(g, x)->ptr, address(view_of(g, x), at));
	Str cond = inside && mask ? str_fmt("%s && %s", mask, inside) : inside ? inside : mask ? mask : str_intern("1");
	if (result && !a->store) out_printf(g->o, "%s = %s;\n", result, pad);
	out_printf(g->o, "if (%s) ", cond);
	if (op_has(op, OPF_ATOMIC))
		out_printf(g->o, "%s%s%s;\n", result && !a->store ? result : "", result && !a->store ? " = " : "",
			atomic_call(op, e, place, value));
	else if (a->store) out_printf(g->o, "%s = %s;\n", place, value[0]);
	else out_printf(g->o, "%s = %s;\n", result, loaded(e, place));
}

void emit_elementwise_access(Cg *g, const Op *op)
{
	ElemAccess a = elem_access(op);
	const Type *t = elem_access_type(op);
	Val *out = op->nout ? op->out[0] : NULL;
	if (!type_is_tile(t)) {
		Str n = out ? val_name(g, out) : NULL;
		if (out) out_printf(g->o, "%s %s;\n", c_type(out->type->elem), n);
		out_puts(g->o, "{\n");
		out_in(g->o);
		print_access(g, op, &a, NULL, n);
		out_off(g->o);
		out_puts(g->o, "}\n");
		if (out) out_printf(g->o, "(void)%s;\n", n);
		if (out) g->val[out->id] = (CVal){ .kind = CV_SCALAR, .name = n };
		return;
	}
	Str array = out ? array_new(g, t, val_name(g, out)) : NULL;
	Nest n;
	nest_open(g, &n, t);
	print_access(g, op, &a, n.idx, out ? str_fmt("%s[%s]", array, linear(t, n.idx)) : NULL);
	nest_close(g, &n);
	if (!out) return;
	out_printf(g->o, "(void)%s;\n", array);
	g->val[out->id] = (CVal){ .kind = CV_STORED, .name = array };
}
