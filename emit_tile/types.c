/* Names, types and literals of the CUDA Tile C++ target. */
#include "emit_tile/tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/show.h"
#include "emit/literal.h"
#include "ir/fold.h"

const char *tl_elem(Elem e)
{
	const char *t = elem_rows[elem_pointee(e)].tile;
	return elem_is_ptr(e) ? str_fmt("%s *", tl_memory(elem_pointee(e))) : t;
}

const char *tl_memory(Elem e) { return e == EL_BOOL ? "unsigned char" : elem_rows[e].tile; }

Str tl_from_memory(Elem e, Str x) { return e == EL_BOOL ? str_fmt("ct_nonzero(%s)", x) : x; }
Str tl_to_memory(Elem e, Str x) { return e == EL_BOOL ? str_fmt("ct::element_cast<unsigned char>(%s)", x) : x; }

Str tl_shape(const Type *t)
{
	Out *o = out_new();
	out_puts(o, "ct::shape<");
	for (int i = 0; i < t->rank; i++) out_printf(o, "%s%lld", i ? ", " : "", (long long)type_extent(t, i));
	out_puts(o, ">");
	return out_take(o);
}

static Str alias_name(const Type *t)
{
	Out *o = out_new();
	Elem e = elem_pointee(t->elem);
	out_printf(o, "%s%s_", elem_rows[e].name, elem_is_ptr(t->elem) ? "_ptr" : "");
	for (int i = 0; i < t->rank; i++) out_printf(o, "%s%lld", i ? "x" : "", (long long)type_extent(t, i));
	if (!t->rank) out_puts(o, "tile");
	return out_take(o);
}

Str tl_type(Tg *g, const Type *t)
{
	if (!type_is_tile(t)) return str_intern(tl_elem(t->elem));
	for (int i = 0; i < g->aliases.n; i++)
		if (g->aliases.p[i].type == t) return g->aliases.p[i].name;
	TAlias a = { t, names_new(&g->names, alias_name(t)) };
	vec_push(A_TMP, &g->aliases, a);
	return a.name;
}

Str tl_typed(Tg *g, Elem e, const Type *shape)
{
	return tl_type(g, type_is_tile(shape) ? type_with_elem(shape, e) : type_scalar(e));
}

Str tl_temp(Tg *g, const char *what) { return str_fmt("ct_%s%d", what, g->ntemp++); }

Str tl_named(Tg *g, const char *what, Str text)
{
	static const char name[] = "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	if (strspn(text, name) == strlen(text)) return text;
	Str n = tl_temp(g, what);
	out_printf(g->o, "const auto %s = %s;\n", n, text);
	return n;
}

Str tl_name(Tg *g, const Val *v)
{
	if (!g->given[v->id]) g->given[v->id] = names_new(&g->names, v->name);
	return g->given[v->id];
}

Str tl_text(const Tg *g, const Val *v)
{
	if (!g->val[v->id].text) bug("value %d has no text", v->id);
	return g->val[v->id].text;
}

static Str float_text(double f, bool single)
{
	if (f != f) return str_intern(single ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")");
	if (isinf(f)) return str_fmt("(%s__builtin_inf%s())", f < 0 ? "-" : "", single ? "f" : "");
	return literal_float(f, single);
}

Str tl_num(Elem e, Num n)
{
	if (elem_is_ptr(e)) return str_fmt("((%s)nullptr)", tl_elem(e));
	switch (e) {
	case EL_F32: return float_text(n.f, true);
	case EL_F64: return float_text(n.f, false);
	case EL_F8E4M3: case EL_F8E5M2:  /* by its bits: a conversion of NaN or of what is out of range is unspecified */
		return str_fmt("ct::element_bitcast<%s>((unsigned char)0x%02x)", tl_elem(e), (unsigned)num_bits(e, n));
	case EL_F16: case EL_BF16: case EL_TF32:
		return str_fmt("ct::element_cast<%s>(%s)", tl_elem(e), float_text(n.f, true));
	case EL_BOOL: return str_intern(n.i ? "true" : "false");
	case EL_U64: case EL_U32: case EL_I64: case EL_I32: return literal_int(e, n);
	default: return str_fmt("(%s)%lld", tl_elem(e), (long long)n.i);
	}
}

Str tl_full(Tg *g, const Type *t, Str scalar)
{
	return type_is_tile(t) ? str_fmt("ct::full<%s>(%s)", tl_type(g, t), scalar) : scalar;
}

/* Constants and plain dimensions as they are; anything else is computed and checked once by the launcher. */
Str tl_launch(Tg *g, const Sym *s)
{
	int64_t n;
	if (sym_is_const(s, &n)) return tl_num(EL_I64, (Num){ n, 0.0 });
	if (s->kind == SYM_ATOM && s->atom != ATOM_PARAM) return sym_c(s);
	for (int i = 0; i < g->launch.n; i++)
		if (g->launch.p[i] == s) return str_fmt("ct_l%d", i);
	vec_push(A_UNIT, &g->launch, s);
	return str_fmt("ct_l%d", g->launch.n - 1);
}

Str tl_where(Span s)
{
	if (!s.hi) return str_intern("?");
	Place p = src_place(s.lo);
	return str_fmt("%s:%u", shown(src_mapped(p.src->path)), p.line);
}

void tl_define(Tg *g, const Val *v, Str text)
{
	Str name = tl_name(g, v), type = tl_type(g, v->type);
	bool pointer = !type_is_tile(v->type) && elem_is_ptr(v->type->elem);
	out_printf(g->o, pointer ? "%sconst %s = %s;\n" : "const %s %s = %s;\n", type, name, text);
	g->val[v->id].text = name;
}

void tl_define_with(Tg *g, const Val *v, Str hints, Str text)
{
	if (!*hints) {
		tl_define(g, v, text);
		return;
	}
	Str name = tl_name(g, v);
	out_printf(g->o, "%s %s;\n%s%s = %s;\n", tl_type(g, v->type), name, hints, name, text);
	g->val[v->id].text = name;
}
