/* Tiles of pointers: gathers, scatters, raw pointers, atomics, and boxes that no view of Tile C++ can say. */
#include <string.h>

#include "base/diag.h"
#include "emit/optext.h"
#include "emit_tile/tile.h"
#include "ir/fold.h"

static bool is_zero(Str e) { return !strcmp(e, "0") || !strcmp(e, "0ll"); }
static bool is_one(Str e) { return !strcmp(e, "1") || !strcmp(e, "1ll"); }

/* ---- boxes ---- */
/* The tile type of coordinates along one axis: its extent there, 1 elsewhere. */
static const Type *along(const Type *t, int axis)
{
	uint8_t log2[TILE_RANK] = { 0 };
	log2[axis] = t->log2[axis];
	return type_tile(EL_I64, t->rank, log2);
}

/* The sum that makes pointers of a view's, and the test which of them are inside, axis by axis. */
typedef struct Sum { const TView *w; Out *ptr, *inside; } Sum;

static Sum sum_begin(const TView *w)
{
	Sum s = { w, out_new(), out_new() };
	out_puts(s.ptr, w->ptr);
	if (!is_zero(w->off)) out_printf(s.ptr, " + %s", w->off);
	return s;
}

static void sum_test(Sum *s, Str test) { out_printf(s->inside, "%s%s", s->inside->n ? " && " : "", test); }

/* Coordinates along axis i, under a name. */
static void sum_axis(Tg *g, Sum *s, int i, Str coordinates, bool sure)
{
	Str c = tl_temp(g, "c");
	out_printf(g->o, "const auto %s = %s;\n", c, coordinates);
	if (is_one(s->w->str[i])) out_printf(s->ptr, " + %s", c);
	else out_printf(s->ptr, " + ct_times(%s, %s)", c, s->w->str[i]);
	if (!sure) sum_test(s, str_fmt("%s >= 0ll && %s < (long long)%s", c, c, s->w->ext[i]));
}

static TPlaces sum_end(Tg *g, Sum *s, bool mask_only)
{
	TPlaces r = { mask_only ? NULL : tl_temp(g, "at"), NULL };
	if (r.ptr) out_printf(g->o, "const auto %s = %s;\n", r.ptr, s->ptr->p);
	if (s->inside->n) {
		r.inside = tl_temp(g, "in");
		out_printf(g->o, "const auto %s = %s;\n", r.inside, s->inside->p);
	}
	out_free(s->ptr);
	out_free(s->inside);
	return r;
}

TPlaces tl_box(Tg *g, const TView *w, const Type *t, const Str *origin, const bool *sure, bool mask_only)
{
	Sum s = sum_begin(w);
	for (int i = 0; i < t->rank; i++)
		if (!mask_only || !sure[i])
			sum_axis(g, &s, i, str_fmt("ct_offset(ct::iota<%s>(), %s)", tl_type(g, along(t, i)), origin[i]), sure[i]);
	return sum_end(g, &s, mask_only);
}

/* Pads are as in memory: a bool's is a byte. */
static Str masked_load(Elem e, TPlaces at, Str pad)
{
	if (!at.inside) return tl_from_memory(e, str_fmt("ct::load(%s)", at.ptr));
	return tl_from_memory(e, str_fmt("ct::load_masked(%s, %s, %s)", at.ptr, at.inside, tl_to_memory(e, pad)));
}

static void masked_store(Tg *g, Elem e, TPlaces at, Str x, Str hints)
{
	if (at.inside) out_printf(g->o, "%sct::store_masked(%s, %s, %s);\n", hints, at.ptr, tl_to_memory(e, x), at.inside);
	else out_printf(g->o, "%sct::store(%s, %s);\n", hints, at.ptr, tl_to_memory(e, x));
}

void tl_pointer_load(Tg *g, const Val *out, TPlaces at, Str pad, Str hints)
{
	tl_define_with(g, out, hints, masked_load(out->type->elem, at, pad));
}

void tl_pointer_store(Tg *g, const Val *x, TPlaces at, Str hints)
{
	masked_store(g, x->type->elem, at, tl_text(g, x), hints);
}

/* ---- element by element ---- */
/* Tile C++ broadcasts a mask and a pad; indices and values must have the shape. */
static Str spread(Tg *g, const Type *t, const Val *v)
{
	if (!type_is_tile(t) || type_same_shape(v->type, t)) return tl_text(g, v);
	if (type_is_tile(v->type)) return str_fmt("ct::broadcast<%s>(%s)", tl_shape(t), tl_text(g, v));
	return str_fmt("ct::full<%s>(%s)", tl_type(g, type_with_elem(t, v->type->elem)), tl_text(g, v));
}

static TPlaces places_of(Tg *g, const Op *op, const ElemAccess *a, const Type *t)
{
	const Val *x = ir_in(op, 0);
	int last = 1 + a->nindex + a->nvalue + a->pad;
	Str mask = last < op->nin ? spread(g, t, ir_in(op, last)) : NULL;
	if (a->ptr) return (TPlaces){ spread(g, t, x), mask };
	Sum s = sum_begin(tl_view_of(g, x));
	for (int i = 0; i < a->nindex; i++) {
		const Val *index = ir_in(op, 1 + i);
		sum_axis(g, &s, i, str_fmt("ct::element_cast<long long>(%s)", i ? tl_text(g, index) : spread(g, t, index)),
			false);
	}
	if (mask) sum_test(&s, mask);
	return sum_end(g, &s, false);
}

/* ", ct::memory_order_relaxed_t{}, ct::thread_scope_device_t{}" */
static Str order_text(const Op *op)
{
	static const char *const orders[] = { "relaxed", "acquire", "release", "acq_rel" };
	return str_fmt(", ct::memory_order_%s_t{}, ct::thread_scope_%s_t{}", orders[ir_int(op, AT_ORDER, 0)],
		attr_word_text(AT_SCOPE, (int)ir_int(op, AT_SCOPE, 0)));
}

static bool is_atomic(const Op *op) { return op_has(op, OPF_ATOMIC); }

static const char *atomic_name(const Op *op)
{
	if (op_has(op, OPF_CAS)) return "compare_exchange";
	return op_has(op, OPF_READ) ? attr_word_text(AT_RMW, (int)ir_int(op, AT_RMW, 0)) : "store";
}

/*
 * Not ct::atomic_load: NVIDIA's compiler lets each warp do it that needs the tile, so that the warps of a block may see
 * different values of one tile, and part at a branch. What an atomic operation gives is the same for all of them.
 */
static Str atomic_read(const Op *op, TPlaces at, Str pad)
{
	Elem e = op->out[0]->type->elem;
	Str text = tl_from_memory(e, str_fmt("ct_atomic_read(%s, %s%s)", at.ptr, at.inside ? at.inside : "true",
		order_text(op)));
	return at.inside ? str_fmt("ct::select(%s, %s, %s)", at.inside, text, pad) : text;
}

/* Of bf16, where the version or an architecture has no addition of it. */
static Str add_bf16(const Op *op, TPlaces at, Str x)
{
	bool sub = ir_int(op, AT_RMW, 0) == attr_word(AT_RMW, str_intern("sub"));
	return str_fmt("ct_atomic_add_bf16<%lld, %s>(%s, %s, %s%s)", (long long)type_size(elem_access_type(op)),
		sub ? "true" : "false", at.ptr, x, at.inside ? at.inside : "true", order_text(op));
}

void tl_access(Tg *g, const Op *op)
{
	ElemAccess a = elem_access(op);
	const Type *t = elem_access_type(op);
	const Val *x = ir_in(op, 0);
	Elem e = x->type->kind == TY_VIEW ? x->type->elem : elem_pointee(x->type->elem);
	TPlaces at = places_of(g, op, &a, t);
	Str value[2] = { NULL, NULL };
	for (int i = 0; i < a.nvalue; i++) value[i] = tl_to_memory(e, spread(g, t, ir_in(op, 1 + a.nindex + i)));
	const Val *pad = a.pad ? ir_in(op, 1 + a.nindex + a.nvalue) : NULL;
	if (!is_atomic(op)) {
		Str hints = tl_access_hints(g, op, false);
		if (!a.store) tl_define_with(g, op->out[0], hints, masked_load(e, at, tl_text(g, pad)));
		else masked_store(g, e, at, spread(g, t, ir_in(op, 1 + a.nindex)), hints);
		return;
	}
	if (pad) {
		tl_define(g, op->out[0], atomic_read(op, at, spread(g, t, pad)));
		return;
	}
	/* bits are compared, not values: -0 is not 0, and a NaN is itself */
	bool by_bits = a.nvalue == 2 && elem_is_any_float(e);
	Out *o = out_new();
	out_printf(o, "ct::atomic_%s%s(%s", atomic_name(op), at.inside ? "_masked" : "",
		by_bits ? str_fmt("ct_bits_at(%s)", at.ptr) : at.ptr);
	for (int i = 0; i < a.nvalue; i++) out_printf(o, by_bits ? ", ct_bits(%s)" : ", %s", value[i]);
	if (at.inside) out_printf(o, ", %s", at.inside);
	out_printf(o, "%s)", order_text(op));
	Str text = tl_adds_bf16(op) && !tl_has_bf16_atomics(g->opt) ? add_bf16(op, at, value[0]) : out_take(o);
	if (by_bits) text = str_fmt("ct_as<%s>(%s)", tl_typed(g, e, t), text);
	if (!a.store) text = tl_from_memory(e, text);
	if (a.store || !op->nout || !g->uses[op->out[0]->id]) {
		out_printf(g->o, "%s;\n", text);
		if (op->nout) g->val[op->out[0]->id].text = tl_name(g, op->out[0]);
		return;
	}
	/* what is masked off reads zero, and of a compare-exchange what was expected */
	if (at.inside)
		text = str_fmt("ct::select(%s, %s, %s)", at.inside, text,
			a.nvalue == 2 ? value[0] : tl_full(g, t, tl_num(e, num_zero(e))));
	tl_define(g, op->out[0], text);
}
