/* Names, types, literals and storage of the C target. */
#include "emit_c/cg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/show.h"
#include "emit/names.h"
#include "emit/optext.h"
#include "ir/fold.h"
#include "ir/monoid.h"

enum { STACK_ARRAY = 2048, STACK_TOTAL = 32768, ALIGN = 64 };

const char *c_type(Elem e)
{
	const char *t = elem_rows[elem_pointee(e)].c;
	return elem_is_ptr(e) ? str_fmt("%s *", t) : t;
}

const char *c_const(Elem e) { return elem_is_ptr(e) ? str_fmt("%sconst", c_type(e)) : str_fmt("const %s", c_type(e)); }

Str temp(Cg *g, const char *what) { return str_fmt("ct_%s%d", what, g->ntemp++); }

Str val_name(Cg *g, const Val *v)
{
	if (!g->given[v->id]) g->given[v->id] = names_new(&g->names, v->name);
	return g->given[v->id];
}

static Str float_text(double f, bool single)
{
	if (f != f) return str_intern("NAN");
	if (isinf(f)) return str_intern(f < 0 ? "(-INFINITY)" : "INFINITY");
	return literal_float(f, single);
}

Str num_c(Elem e, Num n)
{
	if (elem_is_ptr(e)) return str_fmt("(%s)0", c_type(e));
	switch (e) {
	case EL_F32: case EL_TF32: return float_text(n.f, true);
	case EL_F64: return float_text(n.f, false);
	case EL_F16: case EL_BF16: return str_fmt("0x%04x /* %g */", (unsigned)num_bits(e, n), n.f);
	case EL_F8E4M3: case EL_F8E5M2: return str_fmt("0x%02x /* %g */", (unsigned)num_bits(e, n), n.f);
	case EL_U64: return str_fmt("%lluu", (unsigned long long)n.i);
	case EL_U32: return str_fmt("%lluu", (unsigned long long)(uint32_t)n.i);
	case EL_I64:
		if (n.i == INT64_MIN) return str_intern("INT64_MIN");
		return str_fmt("INT64_C(%lld)", (long long)n.i);
	case EL_I32:
		if (n.i == INT32_MIN) return str_intern("INT32_MIN");
		/* fallthrough */
	default: return str_fmt(n.i < 0 ? "(%lld)" : "%lld", (long long)n.i);
	}
}

Str array_new(Cg *g, const Type *t, Str name)
{
	int64_t n = type_size(t), bytes = n * (elem_is_ptr(t->elem) ? 8 : elem_bytes(t->elem));
	const char *c = c_type(t->elem);
	if (bytes <= STACK_ARRAY && g->stack + bytes <= STACK_TOTAL) {
		g->stack += bytes;
		out_printf(g->o, "%s %s[%lld];\n", c, name, (long long)n);
		return name;
	}
	g->mem_top = (g->mem_top + ALIGN - 1) / ALIGN * ALIGN;
	out_printf(g->o, "%s *restrict const %s = (%s *)(ct_mem + %lld);        /* %lld elements */\n", c, name, c,
		(long long)g->mem_top, (long long)n);
	g->mem_top += bytes;
	if (g->mem_top > g->mem_peak) g->mem_peak = g->mem_top;
	return name;
}

/* Constants and plain dimensions as they are; anything else is computed and checked once by the launcher. */
Str launch_c(Cg *g, const Sym *s)
{
	if (s->kind == SYM_CONST || (s->kind == SYM_ATOM && s->atom != ATOM_PARAM)) return sym_c(s);
	for (int i = 0; i < g->launch.n; i++)
		if (g->launch.p[i] == s) return str_fmt("ct_l%d", i);
	vec_push(A_UNIT, &g->launch, s);
	return str_fmt("ct_l%d", g->launch.n - 1);
}

Str scalar(Cg *g, const Val *v)
{
	if (!g->val[v->id].name) bug("value %d has no C name", v->id);
	return g->val[v->id].name;
}

Str where_c(Span s)
{
	if (!s.hi) return str_intern("?");
	Place p = src_place(s.lo);
	return str_fmt("%s:%u", shown(src_mapped(p.src->path)), p.line);
}

static const char *c_column(const OpRow *r) { return r->c; }

Str op_template(Cg *g, const Op *op, const Str *arg)
{
	static const OpDialect c_dialect = { c_type, c_column };
	(void)g;
	return op_text(&c_dialect, op, arg);
}

const char *combine_name(const Op *op, Elem e)
{
	return op_combine(op_rows[monoid_combine(op->code)].name, op, e);
}
