/* Conditions that a call must fulfil, in the launchers' text: where clauses, dimensions, what single kernels ask. */
#include "emit/launchers.h"

#include <string.h>

#include "emit/expr.h"
#include "emit/names.h"

/* ---- where clauses ---- */
static void print_values(void *ctx, const Sym *atom)   /* ", (long long)n" for each atom of a condition */
{
	Out *o = ctx;
	if (atom->kind == SYM_ATOM) out_printf(o, ", (long long)%s", name_c(atom->name));
}

static void print_names(void *ctx, const Sym *atom)
{
	Out *o = ctx;
	if (atom->kind == SYM_ATOM) out_printf(o, "%s%s = %%lld", o->n ? ", " : "", atom->name);
}

static bool is_name_char(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static Str percent(Str s)       /* the text inside a printf format */
{
	Out *o = out_new();
	for (const char *p = s; *p; p++) {
		if (*p == '%') out_raw(o, "%", 1);
		out_raw(o, p, 1);
	}
	return out_take(o);
}

/* "BN = 64" for the compile-time values that the condition names. */
static void print_generics(Out *names, Str text, const Fn *fn)
{
	for (int i = 0; fn && i < fn->generics.n; i++) {
		Str name = fn->generics.p[i].name;
		size_t n = str_len(name);
		for (const char *p = strstr(text, name); p; p = strstr(p + 1, name)) {
			if ((p > text && is_name_char(p[-1])) || is_name_char(p[n])) continue;
			out_printf(names, "%s%s = %s", names->n ? ", " : "", name, fn->generics.p[i].value);
			break;
		}
	}
}

static bool is_type_limit(const IrWhere *w)
{
	return w->of_type && w->cond->kind == SYM_LE && w->cond->arg[0]->kind == SYM_ATOM
		&& w->cond->arg[1]->kind == SYM_CONST;
}

/* A dimension has a value that its type does not hold. */
static void print_type_limit(Out *o, Str who, const IrWhere *w, const char *quiet)
{
	Str n = name_c(w->cond->arg[0]->name);
	out_puts(o, "if (!(");
	host_expr(o, w->cond);
	out_printf(o, ")) return %sct_fail(CTILE_DIMENSION, \"%s: %s is %%lld, outside 0 to %lld\", (long long)%s);\n",
		quiet, who, w->cond->arg[0]->name, (long long)w->cond->arg[1]->value, n);
}

void where_print(Out *o, Str who, const IrWhereVec *where, bool said, const Fn *fn)
{
	for (int i = 0; i < where->n; i++) {
		const IrWhere *w = &where->p[i];
		if (is_type_limit(w)) {
			print_type_limit(o, who, w, said ? "" : "!ct_say ? CTILE_DIMENSION : ");
			continue;
		}
		Out *names = out_new(), *fmt = out_new();
		sym_atoms(w->cond, print_names, names);
		print_generics(names, w->text, fn);
		out_printf(fmt, "%s: where %s does not hold%s%s%s", who, percent(w->text), names->n ? " (" : "",
			names->n ? names->p : "", names->n ? ")" : "");
		out_puts(o, "if (!(");
		host_expr(o, w->cond);
		out_printf(o, ")) return %sct_fail(CTILE_WHERE, %s", said ? "" : "!ct_say ? CTILE_WHERE : ",
			c_string(out_take(fmt)));
		sym_atoms(w->cond, print_values, o);
		out_puts(o, ");\n");
		out_free(names);
	}
}

/* ---- dimensions ---- */
void where_dims(Out *o, Str who, const IrDimVec *dims)
{
	for (int i = 0; i < dims->n; i++) {
		const IrDim *d = &dims->p[i];
		Str n = name_c(d->name);
		if (d->def) {
			out_printf(o, "const int64_t %s = ", n);
			host_expr(o, d->def);
			out_puts(o, ";\n");
			if (host_checks())
				out_printf(o,
					"if (ct_bad) return ct_fail(CTILE_OVERFLOW, \"%s: %s = %%s does not fit 64 bits\", %s);\n", who,
					d->name, c_string(sym_text(d->def)));
		}
		if (d->is_stride)
			out_printf(o, "if (%s < 0) return ct_fail(CTILE_STRIDE, \"%s: %s is %%lld, below 0\", (long long)%s);\n", n,
				who, d->name, n);
		else if (d->elem == EL_I64)
			out_printf(o, "if (%s < 0) return ct_fail(CTILE_DIMENSION, \"%s: %s is %%lld, below 0\", (long long)%s);\n",
				n, who, d->name, n);
		else
			out_printf(o, "if (%s < 0 || %s > INT32_MAX) return ct_fail(CTILE_DIMENSION, \"%s: %s is %%lld, "
				"outside 0 to 2^31 - 1\", "
				"(long long)%s);\n", n, n, who, d->name, n);
	}
}

void host_defined_dims(Out *o, const Fn *fn)
{
	for (int i = 0; i < fn->dims.n; i++)
		if (fn->dims.p[i].def) {
			out_printf(o, "const int64_t %s = ", name_c(fn->dims.p[i].name));
			host_expr(o, fn->dims.p[i].def);
			out_puts(o, ";\n");
		}
}

void host_unused(Out *o, const IrParamVec *params, const IrDimVec *dims, const char *also)
{
	int n = 0;
	for (int i = 0; i < params->n; i++) out_printf(o, "%s(void)%s", n++ ? ", " : "", name_c(params->p[i].name));
	for (int i = 0; i < dims->n; i++) out_printf(o, "%s(void)%s", n++ ? ", " : "", name_c(dims->p[i].name));
	if (also) out_printf(o, "%s(void)%s", n++ ? ", " : "", also);
	if (n) out_puts(o, ";\n");
}

/* ---- of one kernel ---- */
typedef struct WideSym { const Fn *fn; bool wide; } WideSym;

static void note_wide_atom(void *ctx, const Sym *atom)
{
	WideSym *w = ctx;
	w->wide |= atom->atom == ATOM_STRIDE;
	for (int i = 0; atom->atom == ATOM_DIM && i < w->fn->dims.n; i++)
		w->wide |= w->fn->dims.p[i].name == atom->name && w->fn->dims.p[i].elem == EL_I64;
	for (int i = 0; atom->atom == ATOM_PARAM && i < w->fn->params.n; i++)
		w->wide |= w->fn->params.p[i].name == atom->name && w->fn->params.p[i].elem == EL_I64;
}

/* A number of the kernel that is i32 there and may come out larger here. */
static void print_in_i32(Out *o, const Fn *fn, const Sym *value, Str what)
{
	out_puts(o, "{\n\tconst int64_t ct_x = ");
	host_expr(o, value);
	out_printf(o, ";\n\tif (ct_x > INT32_MAX)\n\t\treturn !ct_say ? CTILE_DIMENSION : ct_fail(CTILE_DIMENSION, "
		"\"%s: %s is %%lld, outside 0 to 2^31 - 1\", (long long)ct_x);\n}\n",
		fn->source_name ? fn->source_name : fn->name, what);
}

/* wide: wide_dims_of. */
static void print_ranges(Out *o, const Fn *fn, uint64_t wide)
{
	Facts *f = facts_new(NULL, A_UNIT);
	for (int i = 0; i < fn->dims.n; i++)
		if (fn->dims.p[i].elem == EL_I32) facts_range(f, sym_atom(ATOM_DIM, fn->dims.p[i].name, 0), 0, INT32_MAX);
	for (int i = 0; i < fn->dims.n && i < 64; i++) {
		const IrDim *d = &fn->dims.p[i];
		if ((wide >> i & 1) && d->elem == EL_I32 && !d->is_stride)
			print_in_i32(o, fn, sym_atom(ATOM_DIM, d->name, 0), d->name);
	}
	for (int i = 0; i < fn->params.n; i++) {
		const IrParam *p = &fn->params.p[i];
		for (int k = 0; p->is_tensor && k < p->rank; k++) {
			WideSym w = { fn, false };
			if (p->extent[k]->kind == SYM_CONST || p->extent[k]->kind == SYM_ATOM) continue;
			sym_atoms(p->extent[k], note_wide_atom, &w);
			if (!w.wide && !facts_le(f, p->extent[k], sym_const(INT32_MAX)))
				print_in_i32(o, fn, p->extent[k], str_fmt("extent %d of %s", k, p->name));
		}
	}
}

bool fits_asked(const Launchers *l, const Fn *fn)
{
	for (int i = 0; i < l->fits.n; i++)
		if (l->fits.p[i] == fn) return true;
	return false;
}

/* What the checks of an entry do not say. */
void fits_print(Launchers *l, const Fn *fn)
{
	Out *conditions = out_new();
	conditions->indent = 1;
	int before = host_checked();
	print_ranges(conditions, fn, wide_dims_of(l->wide, fn));
	where_print(conditions, fn->source_name ? fn->source_name : fn->name, &fn->where, false, fn);
	if (conditions->n) {
		Out *o = l->o;
		vec_push(A_UNIT, &l->fits, fn);
		out_printf(o, "static int ct_fits_%s(", fn->name);
		host_params(o, &fn->params, &fn->dims);
		out_printf(o, "%sint ct_say)\n{\n", fn->params.n + fn->dims.n ? ", " : "");
		out_in(o);
		Out *body = host_body_since(o, before);
		host_defined_dims(body, fn);
		host_unused(body, &fn->params, &fn->dims, "ct_say");
		out_raw(body, conditions->p, conditions->n);
		host_overflow(body, fn->name, "a where clause");
		out_puts(body, "return CTILE_OK;\n");
		host_body_end(o, body);
		out_off(o);
		out_puts(o, "}\n\n");
	}
	out_free(conditions);
}
