/* Views, and loads and stores of tiles.
 *
 * A view is a tensor_span. A tile whose index counts whole tiles is an access to a partition_view, one with other steps
 * to a strided_view; what those two cannot say goes through a tile of pointers and a mask (access.c): constant offsets,
 * tiles that may begin before their tensor and reach into it, tensors of rank 0.
 * A tile wholly outside of its tensor is undefined behaviour in Tile C++. Where it is not proved that a tile begins
 * inside, a test stands before the access. */
#include <string.h>

#include "base/diag.h"
#include "emit/optext.h"
#include "emit_tile/tile.h"
#include "ir/fold.h"
#include "ir/valsym.h"

/* ---- what is proved of an access ---- */
/* Bit 2a: along axis a it begins at element 0 or later; bit 2a + 1: and before the extent's end.
 * aligned: where tensors are. */
typedef struct Begin { const Op *op; unsigned bits, aligned; } Begin;
static VEC(Begin) begins;
static int next_begin;
static Tg *begins_of;

static unsigned begin_bits(ValSyms *b, const Op *op)
{
	unsigned bits = 0;
	const Val *view = ir_in(op, 0);
	for (int i = 0; i < view->type->rank; i++) {
		const Sym *at = valsym_access(b, op, i), *ext = valsym_extent(b, view, i);
		if (facts_le(b->facts, sym_const(0), at)) bits |= 1u << 2 * i;
		if (ext && facts_lt(b->facts, at, ext)) bits |= 2u << 2 * i;
	}
	return bits;
}

static const Type *accessed_type(const Op *op) { return op->nout ? op->out[0]->type : ir_in(op, op->nin - 1)->type; }

static int64_t step_of(const Op *op, int axis)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS);
	return steps ? steps->u.ints.p[axis] : 1;
}

static int64_t offset_of(const Op *op, int axis)
{
	const IrAttr *offs = ir_attr(op, AT_OFFSETS);
	return offs ? offs->u.ints.p[axis] : 0;
}

static bool is_partition(const Op *op)
{
	const Type *t = accessed_type(op);
	for (int i = 0; i < t->rank; i++)
		if (step_of(op, i) != type_extent(t, i)) return false;
	return true;
}

/* Can a partition_view or a strided_view say it? */
static bool is_by_view(const Tg *g, const Op *op, unsigned bits)
{
	const Type *t = accessed_type(op);
	for (int i = 0; i < t->rank; i++)
		if (offset_of(op, i) != 0 || (step_of(op, i) < type_extent(t, i) && !(bits >> 2 * i & 1))) return false;
	return is_partition(op) || tl_offers(g, TILE_STRIDED_VIEW);
}

static void note_begin(ValSyms *b, Op *op)
{
	Begin r = { op, begin_bits(b, op), 0 };
	vec_push(A_TMP, &begins, r);
	if (!op_is_dead(op, begins_of->uses) && is_by_view(begins_of, op, r.bits))
		begins_of->spanned[ir_in(op, 0)->id] = true;
}

void tl_find_begins(Tg *g, Fn *fn)
{
	begins.n = begins.cap = next_begin = 0;
	begins.p = NULL;
	begins_of = g;
	g->spanned = NEW_ARRAY(A_TMP, bool, fn->nval + 1);
	valsyms_accesses(fn, note_begin, NULL);
}

/* Accesses are asked for in the order in which they were visited. */
static Begin *begin_of(const Op *op)
{
	for (int tried = 0; tried < begins.n; tried++, next_begin++)
		if (begins.p[next_begin % begins.n].op == op) return &begins.p[next_begin % begins.n];
	bug("an access that was not visited");
}

/* A tile at place 0 begins inside of all but empty tensors. */
static void need_some(ValSyms *b, Op *op)
{
	const Val *view = ir_in(op, 0);
	int64_t at;
	unsigned bits = begin_of(op)->bits;
	if (!tl_aligned_span(&begins_of->aligned, view)) return;
	for (int i = 0; i < view->type->rank; i++)
		if (!(bits >> 2 * i & 2) && sym_is_const(valsym_access(b, op, i), &at) && at == 0)
			tl_need_some(&begins_of->aligned, b, view, i);
}

static void note_aligned(ValSyms *b, Op *op) { begin_of(op)->aligned = begin_bits(b, op); }

void tl_find_aligned_begins(Tg *g, Fn *fn)
{
	if (!g->aligned.guard.n) return;
	valsyms_accesses(fn, need_some, NULL);
	valsyms_accesses_where(fn, tl_aligned_guard(&g->aligned), note_aligned, NULL);
}

/* ---- views ---- */
TView *tl_view_of(Tg *g, const Val *v)
{
	if (!g->val[v->id].view) bug("value %d is not a view", v->id);
	return g->val[v->id].view;
}

static bool is_literal(Str e)
{
	return strspn(e, "0123456789") + (size_t)(strlen(e) > 2 && !strcmp(e + strlen(e) - 2, "ll")) * 2 == strlen(e);
}

/* A number with or without ll; NULL: none. */
static Str digits_of(Str e) { return is_literal(e) ? str_intern_n(e, strspn(e, "0123456789")) : NULL; }

static bool is_value(Str e, const char *n) { return digits_of(e) && !strcmp(digits_of(e), n); }

/* An offset, extent or stride as views keep it: a name, or digits without ll. */
static Str size_named(Tg *g, const char *what, Str e) { return is_literal(e) ? digits_of(e) : tl_named(g, what, e); }

/* "ct::strides<long long, ct::dynamic_stride, 1>(ct_str0)" */
static void put_numbers(Out *o, const Str *e, int n, const char *type, const char *index, const char *dynamic)
{
	int known = 0;
	out_printf(o, "ct::%s<%s", type, index);
	for (int i = 0; i < n; i++) {
		Str d = digits_of(e[i]);
		known += d != NULL;
		out_printf(o, ", %s", d ? d : dynamic);
	}
	out_puts(o, known == n ? ">{" : ">(");
	for (int i = 0, k = 0; i < n; i++)
		if (!digits_of(e[i])) out_printf(o, "%s%s", k++ ? ", " : "", e[i]);
	out_puts(o, known == n ? "}" : ")");
}

/* Neither a stride nor a known extent of a tensor_span is 0. */
static bool has_span(const TView *w)
{
	bool plain = w->rank > 0;
	for (int i = 0; i < w->rank; i++) plain &= !is_value(w->str[i], "0") && !is_value(w->ext[i], "0");
	return plain;
}

/* An extent or a stride for a span. */
static Str promised(const TSpan *a, Str text, int multiple)
{
	if (is_literal(text)) return text;
	return str_fmt("ct_size<ct_aligned, %d%s>(%s)", multiple, a->narrow ? "" : ", long long", text);
}

/* a: what it promises, or NULL */
static void declare_span(Tg *g, TView *w, Str name, const TSpan *a)
{
	Str ext[TENSOR_RANK], str[TENSOR_RANK], ptr = is_value(w->off, "0") ? w->ptr : str_fmt("%s + %s", w->ptr, w->off);
	bool strides = tl_offers(g, TILE_STRIDES);
	if (!has_span(w)) return;
	for (int i = 0; i < w->rank; i++) {
		ext[i] = a ? promised(a, w->ext[i], a->ext[i]) : w->ext[i];
		str[i] = a ? promised(a, w->str[i], a->str[i]) : w->str[i];
	}
	w->span = names_new(&g->names, name);
	w->index = a && a->narrow ? "ct_index<ct_aligned>" : "long long";
	out_printf(g->o, a ? "const auto %s = ct::tensor_span(ct_base<ct_aligned>(%s), ct::layout_strided_mapping("
		: "const auto %s = ct::tensor_span(%s, ct::layout_strided_mapping(", w->span, ptr);
	put_numbers(g->o, ext, w->rank, "extents", w->index, "ct::dynamic_extent");
	out_puts(g->o, ", ");
	put_numbers(g->o, str, w->rank, strides ? "strides" : "extents", w->index,
		strides ? "ct::dynamic_stride" : "ct::dynamic_extent");
	out_puts(g->o, "));\n");
}

static Str span_name(const Val *v)
{
	while (!v->name && v->def && v->def->nin) v = ir_in(v->def, 0);
	return str_fmt("%s_span", v->name ? v->name : "ct");
}

void tl_view_param(Tg *g, const IrParam *p, const Val *v)
{
	TView *w = NEW(A_TMP, TView);
	w->ptr = name_c(p->name);
	w->off = str_intern("0");
	w->rank = p->rank;
	w->elem = p->elem;
	for (int i = 0; i < p->rank; i++) {
		w->ext[i] = tl_launch(g, p->extent[i]);
		w->str[i] = tl_launch(g, p->stride[i]);
	}
	g->val[v->id] = (TVal){ w->ptr, w };
	if (g->spanned[v->id]) declare_span(g, w, span_name(v), tl_aligned_span(&g->aligned, v));
}

void tl_view(Tg *g, const Op *op)
{
	const Val *base = ir_in(op, 0), *out = op->out[0];
	TView *w = NEW(A_TMP, TView);
	w->rank = out->type->rank;
	w->elem = out->type->elem;
	Str off = size_named(g, "off", tl_text(g, ir_in(op, 1)));
	if (base->type->kind == TY_VIEW) {
		const TView *b = tl_view_of(g, base);
		w->ptr = b->ptr;
		if (is_value(b->off, "0")) w->off = off;
		else w->off = is_value(off, "0") ? b->off : size_named(g, "off", str_fmt("%s + %s", b->off, off));
	} else {
		w->ptr = tl_temp(g, "p");
		w->off = off;
		out_printf(g->o, "%s *const %s = (%s *)%s;\n", tl_memory(w->elem), w->ptr, tl_memory(w->elem),
			tl_text(g, base));
	}
	for (int i = 0; i < w->rank; i++) w->ext[i] = size_named(g, "ext", tl_text(g, ir_in(op, 2 + i)));
	for (int i = 0; i < w->rank; i++) w->str[i] = size_named(g, "str", tl_text(g, ir_in(op, 2 + w->rank + i)));
	g->val[out->id] = (TVal){ w->ptr, w };
	if (g->spanned[out->id]) declare_span(g, w, span_name(out), tl_aligned_span(&g->aligned, out));
}

/* ---- accesses ---- */
typedef struct TAccess {
	const Op *op;
	const TView *w;
	const Type *t;                  /* of the tile */
	int64_t step[TENSOR_RANK], offset[TENSOR_RANK];
	bool sure[TENSOR_RANK];         /* wholly inside along that axis */
	bool partition;                 /* steps are the tile's extents */
	bool by_view;
	Str view;                       /* the view object */
	Str index;                      /* ", i, j" */
	Str guard;                      /* that the tile begins inside; NULL: it is known to */
	bool whole;                     /* nothing is masked */
} TAccess;

/* "a && b" in parentheses where it is more than one test. */
static Str conjunction(const Out *o, int n) { return str_fmt(n > 1 ? "(%s)" : "%s", o->p); }

/* The test whether it begins inside, as far as that is not known; NULL: it is. What the aligned
 * version knows is not asked there. */
static Str guard_of(const Tg *g, const TAccess *a, const Begin *b)
{
	Out *test[2] = { out_new(), out_new() };
	int n[2] = { 0, 0 };
	for (int i = 0; i < a->t->rank; i++) {
		if ((b->bits >> 2 * i & 3) == 3 || a->sure[i]) continue;
		int k = g->aligned.guard.n && (b->aligned >> 2 * i & 3) == 3;
		out_printf(test[k], "%sct_begins_inside(%s, %lld, %s)", n[k]++ ? " && " : "", tl_text(g, ir_in(a->op, 1 + i)),
			(long long)a->step[i], a->w->ext[i]);
	}
	Str always = n[0] ? str_intern(test[0]->p) : NULL, r = always;
	if (n[1]) r = str_fmt("ct_aligned || %s", conjunction(test[1], n[1]));
	if (n[0] && n[1]) r = str_fmt("%s && (%s)", always, r);
	out_free(test[0]);
	out_free(test[1]);
	return r;
}

static TAccess access_of(Tg *g, const Op *op, const Type *t)
{
	const IrAttr *inside = ir_attr(op, AT_INSIDE);
	TAccess a = { .op = op, .w = tl_view_of(g, ir_in(op, 0)), .t = t, .partition = is_partition(op), .whole = true };
	const Begin *b = begin_of(op);
	Out *index = out_new();
	for (int i = 0; i < t->rank; i++) {
		a.step[i] = step_of(op, i);
		a.offset[i] = offset_of(op, i);
		a.sure[i] = inside && inside->u.ints.p[i] == INSIDE_WHOLE;
		a.whole &= a.sure[i];
		out_printf(index, ", %s", tl_text(g, ir_in(op, 1 + i)));
	}
	a.by_view = a.w->span && is_by_view(g, op, b->bits);
	a.guard = guard_of(g, &a, b);
	a.index = out_take(index);
	if (!a.by_view) return a;
	Out *o = out_new();
	out_printf(o, "ct::%s(%s, %s{}", a.partition ? "partition_view" : "strided_view", a.w->span, tl_shape(t));
	if (!a.partition) {
		out_printf(o, ", ct::strides<%s", a.w->index);
		for (int i = 0; i < t->rank; i++) out_printf(o, ", %lld", (long long)a.step[i]);
		out_puts(o, ">{}");
	}
	out_puts(o, ")");
	a.view = out_take(o);
	return a;
}

/* Places through pointers: first elements along each axis, far outside where they leave 62 bits. */
static TPlaces places_of(Tg *g, const TAccess *a, bool mask_only)
{
	Str origin[TENSOR_RANK];
	for (int i = 0; i < a->t->rank; i++) {
		origin[i] = tl_temp(g, "at");
		out_printf(g->o, "const long long %s = ct_tile_at(%s, %lld, %lld);\n", origin[i],
			tl_text(g, ir_in(a->op, 1 + i)), (long long)a->step[i], (long long)a->offset[i]);
	}
	return tl_box(g, a->w, a->t, origin, a->sure, mask_only);
}

/* The pads that views know, of floats; NULL: another one. */
static const char *padding(Elem e, const Val *pad)
{
	Num n;
	if (!ir_const_value(pad, &n)) return NULL;
	if (elem_is_integral(e) || elem_is_ptr(e)) return n.i ? NULL : "";
	if (n.f == 0 && !__builtin_signbit(n.f)) return "";
	if (!elem_is_float(e)) return NULL;
	if (n.f == 0) return "ct::view_padding_negative_zero_t{}";
	if (n.f != n.f) return "ct::view_padding_nan_t{}";
	if (n.f - n.f != 0) return n.f < 0 ? "ct::view_padding_negative_inf_t{}" : "ct::view_padding_positive_inf_t{}";
	return NULL;
}

/* Which elements of a tile lie inside, where a pad has to be put in by select. */
static Str inside_of(Tg *g, const TAccess *a) { return places_of(g, a, true).inside; }

void tl_load(Tg *g, const Op *op)
{
	Val *out = op->out[0];
	const Val *pad = ir_in(op, op->nin - 1);
	TAccess a = access_of(g, op, out->type);
	Elem e = out->type->elem;
	const char *how = padding(e, pad);
	Str hints = tl_access_hints(g, op, a.by_view);
	if (!a.by_view) {
		tl_pointer_load(g, out, places_of(g, &a, false), tl_text(g, pad), hints);
		return;
	}
	Out *o = out_new();
	bool says = !a.whole && how && *how;
	out_printf(o, "%s.load%s(%s%s)", a.view, a.whole ? "" : "_masked", says ? how : "", says ? a.index : a.index + 2);
	Str text = tl_from_memory(e, out_take(o)), full = tl_full(g, out->type, tl_text(g, pad));
	if (!a.whole && !how) text = str_fmt("ct::select(%s, %s, %s)", inside_of(g, &a), text, full);
	if (!a.guard || a.whole) {
		tl_define_with(g, out, hints, text);
		return;
	}
	Str name = tl_name(g, out);
	out_printf(g->o, "%s %s = %s;\nif (%s) %s%s = %s;\n", tl_type(g, out->type), name, full, a.guard, hints, name,
		text);
	g->val[out->id].text = name;
}

void tl_store(Tg *g, const Op *op)
{
	const Val *x = ir_in(op, op->nin - 1);
	TAccess a = access_of(g, op, x->type);
	if (!a.by_view) {
		tl_pointer_store(g, x, places_of(g, &a, false), tl_access_hints(g, op, false));
		return;
	}
	if (a.guard && !a.whole) out_printf(g->o, "if (%s) ", a.guard);
	out_printf(g->o, "%s%s.store%s(%s%s);\n", tl_access_hints(g, op, true), a.view, a.whole ? "" : "_masked",
		tl_to_memory(x->type->elem, tl_text(g, x)), a.index);
}
