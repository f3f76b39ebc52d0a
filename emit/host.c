/* Launchers: the checks that a call's contract needs, variant choice, workspace, and the order of launches. */
#include "emit/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "emit/expr.h"
#include "emit/names.h"
#include "emit/snippet.h"
#include "emit/tensors.h"
#include "emit/wide.h"

/* ---- what every output contains once ---- */
const char host_macros[] =
	"#define CT_HELPER static inline __attribute__((unused))\n";

/* Printed only where something calls them: a caller's text says so. */
static const Snippet checked_rows[] = {
	{ "ct_head", "/* Checked arithmetic of the launchers: *bad is set when a value leaves 64 bits. */\n" },
	{ "ct_host_add",
		"CT_HELPER int64_t ct_host_add(int64_t a, int64_t b, int *bad)\n"
		"{ int64_t r; *bad |= __builtin_add_overflow(a, b, &r); return r; }\n" },
	{ "ct_host_mul",
		"CT_HELPER int64_t ct_host_mul(int64_t a, int64_t b, int *bad)\n"
		"{ int64_t r; *bad |= __builtin_mul_overflow(a, b, &r); return r; }\n" },
	{ "ct_host_div",
		"CT_HELPER int64_t ct_host_div(int64_t a, int64_t b, int *bad)\n"
		"{ if (b == 0 || (b == -1 && a == INT64_MIN)) { *bad = 1; return 0; } return a / b; }\n" },
	{ "ct_host_mod",
		"CT_HELPER int64_t ct_host_mod(int64_t a, int64_t b, int *bad)\n"
		"{ if (b == 0 || b == -1) { *bad |= b == 0; return 0; } return a % b; }\n" },
	{ "ct_host_cdiv",
		"CT_HELPER int64_t ct_host_cdiv(int64_t a, int64_t b, int *bad)\n"
		"{ if (b <= 0) { *bad = 1; return 0; } return a / b + (a % b > 0); }\n" },
	{ "ct_host_min", "CT_HELPER int64_t ct_host_min(int64_t a, int64_t b) { return a < b ? a : b; }\n" },
	{ "ct_host_max", "CT_HELPER int64_t ct_host_max(int64_t a, int64_t b) { return a > b ? a : b; }\n" },
	{ "ct_host_u64", "CT_HELPER int64_t ct_host_u64(uint64_t a, int *bad) { *bad |= a > INT64_MAX; "
		"return (int64_t)a; }\n" },
	{ "ct_tile_blocks",
		"\n/* Tile blocks of a grid: 0 if it is empty, -1 if there are 2^31 or more. */\n"
		"CT_HELPER int64_t ct_tile_blocks(const int64_t *grid, int bad)\n"
		"{\n"
		"\tint64_t n = 1;\n"
		"\tfor (int i = 0; i < 4; i++) {\n"
		"\t\tif (grid[i] <= 0) return 0;\n"
		"\t\tn = ct_host_mul(n, grid[i], &bad);\n"
		"\t}\n"
		"\treturn bad || n > INT32_MAX ? -1 : n;\n"
		"}\n" },
};
static const SnipTable checked_table = SNIP_TABLE(checked_rows);

static const char status_head[] =
	"/* Status texts. The last failure of each thread is kept in words; one copy per program. */\n"
	"#define CT_SHARED __attribute__((weak))\n"
	"CT_SHARED __thread int ctile_last_status = 0;\n"
	"CT_SHARED __thread char ctile_last_text[320] = \"\";\n"
	"CT_SHARED const char *ctile_status_text(int status)\n"
	"{\n"
	"\tstatic const char *const text[] = {\n";

static const char status_end[] =
	"\t};\n"
	"\tif (status != 0 && status == ctile_last_status) return ctile_last_text;\n"
	"\treturn status >= 0 && status < (int)(sizeof text / sizeof *text) ? text[status] : \"unknown status\";\n"
	"}\n";

static const char status_fail[] =
	"\n"
	"__attribute__((format(printf, 2, 3), unused))\n"
	"static int ct_fail(int status, const char *format, ...)\n"
	"{\n"
	"\tva_list args; va_start(args, format);\n"
	"\tvsnprintf(ctile_last_text, sizeof ctile_last_text, format, args);\n"
	"\tva_end(args);\n"
	"\treturn ctile_last_status = status;\n"
	"}\n"
	"\n";

#define STATUS(id, number, text) ROW_##id,
enum {
#include "emit/status.def"
};
#undef STATUS
#define STATUS(id, number, text) _Static_assert(ROW_##id == (number), "the texts of statuses are an array by number");
#include "emit/status.def"
#undef STATUS

/* As many in a line as 120 columns hold; at: where the last one ends. */
static int print_string(Out *o, const char *text, int at)
{
	int n = (int)strlen(text) + 4;
	bool next = at == 0 || at + n > 120;
	out_printf(o, "%s\"%s\",", at == 0 ? "\t\t" : next ? "\n\t\t" : " ", text);
	return next ? 16 + n : at + n;
}

static void print_status(Out *o)
{
	out_puts(o, status_head);
	int at = 0;
#define STATUS(id, number, text) at = print_string(o, text, at);
#include "emit/status.def"
#undef STATUS
	out_puts(o, "\n");
	out_puts(o, status_end);
	out_puts(o, status_fail);
}

/* ---- pieces ---- */
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

/* fn: the kernel whose conditions they are, or NULL; said: their text is wanted, else a status
 * will do if ct_say is 0 */
static void print_where(Out *o, Str who, const IrWhereVec *where, bool said, const Fn *fn)
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

typedef VEC(const Fn *) FnsWithFits;

typedef struct Launchers {
	const Module *m;
	Out *o;
	const WideDims *wide;
	FnsWithFits fits;       /* kernels whose calls have conditions of their own: ct_fits_<fn> */
} Launchers;

static void print_dim_checks(Out *o, Str who, const IrDimVec *dims)
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

/* ---- one kernel ---- */

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

static void print_defined_dims(Out *o, const Fn *fn)
{
	for (int i = 0; i < fn->dims.n; i++)
		if (fn->dims.p[i].def) {
			out_printf(o, "const int64_t %s = ", name_c(fn->dims.p[i].name));
			host_expr(o, fn->dims.p[i].def);
			out_puts(o, ";\n");
		}
}

/* also: another parameter; NULL: none */
static void print_unused(Out *o, const IrParamVec *params, const IrDimVec *dims, const char *also)
{
	int n = 0;
	for (int i = 0; i < params->n; i++) out_printf(o, "%s(void)%s", n++ ? ", " : "", name_c(params->p[i].name));
	for (int i = 0; i < dims->n; i++) out_printf(o, "%s(void)%s", n++ ? ", " : "", name_c(dims->p[i].name));
	if (also) out_printf(o, "%s(void)%s", n++ ? ", " : "", also);
	if (n) out_puts(o, ";\n");
}

static bool has_fits(const Launchers *l, const Fn *fn)
{
	for (int i = 0; i < l->fits.n; i++)
		if (l->fits.p[i] == fn) return true;
	return false;
}

/* Only where a call has something to fulfil that the checks of an entry do not say. */
static void print_fits(Launchers *l, const Fn *fn)
{
	Out *conditions = out_new();
	conditions->indent = 1;
	int before = host_checked();
	print_ranges(conditions, fn, wide_dims_of(l->wide, fn));
	print_where(conditions, fn->source_name ? fn->source_name : fn->name, &fn->where, false, fn);
	if (conditions->n) {
		Out *o = l->o;
		vec_push(A_UNIT, &l->fits, fn);
		out_printf(o, "static int ct_fits_%s(", fn->name);
		host_params(o, &fn->params, &fn->dims);
		out_printf(o, "%sint ct_say)\n{\n", fn->params.n + fn->dims.n ? ", " : "");
		out_in(o);
		Out *body = host_body_since(o, before);
		print_defined_dims(body, fn);
		print_unused(body, &fn->params, &fn->dims, "ct_say");
		out_raw(body, conditions->p, conditions->n);
		host_overflow(body, fn->name, "a where clause");
		out_puts(body, "return CTILE_OK;\n");
		host_body_end(o, body);
		out_off(o);
		out_puts(o, "}\n\n");
	}
	out_free(conditions);
}

/* Bytes of a tensor in workspace, where each begins at a multiple of 256. */
static void print_room(Out *o, const IrParam *p)
{
	const Sym *size = sym_const(elem_bytes(p->elem));
	for (int i = 0; i < p->rank; i++) size = sym_mul(size, p->extent[i]);
	out_puts(o, "ct_host_mul(ct_host_cdiv(");
	host_expr(o, size);
	out_printf(o, ", 256, %s), 256, %s)", host_bad(), host_bad());
}

/* How many bytes of workspace a call in several steps needs: 0 where the kernel itself is taken. */
static void print_steps_size(Out *o, const Steps *s)
{
	const Fn *fn = s->of;
	const IrParamVec *params = &s->fns.p[0]->params;
	IrParamVec sizes = host_integers(&fn->params);
	out_printf(o, "static int64_t ct_steps_%s(", fn->name);
	host_params(o, &sizes, &fn->dims);
	out_printf(o, "%sint *ct_over)\n{\n", host_has_params(&sizes, &fn->dims) ? ", " : "");
	out_in(o);
	out_puts(o, "int ct_bad = 0;\nint64_t ct_size = 0;\n");
	print_defined_dims(o, fn);
	print_unused(o, &sizes, &fn->dims, NULL);
	out_puts(o, "if (");
	host_expr(o, s->guard);
	out_puts(o, ") {\n");
	out_in(o);
	HostLets *lets = host_lets(&s->gain, 1, "ct_v");
	host_lets_print(o, lets);
	out_puts(o, "if (CT_STEPS || ");
	if (s->arch) out_printf(o, "(ct_on_arch(%d) && ", s->arch);
	host_expr_by(o, s->gain, lets);
	out_puts(o, s->arch ? ")) {\n" : ") {\n");
	out_in(o);
	for (int i = fn->params.n; i < params->n; i++) {
		out_puts(o, "ct_size = ct_host_add(ct_size, ");
		print_room(o, &params->p[i]);
		out_puts(o, ", &ct_bad);\n");
	}
	out_off(o);
	out_puts(o, "}\n");
	out_off(o);
	out_puts(o, "}\n*ct_over |= ct_bad;\nreturn ct_size;\n");
	out_off(o);
	out_puts(o, "}\n\n");
}

static void print_step(Out *o, const Fn *fn, const Fn *step)
{
	out_printf(o, "ct_run_%s(", step->name);
	for (int i = 0; i < fn->params.n; i++) out_printf(o, "%s, ", name_c(fn->params.p[i].name));
	for (int i = fn->params.n; i < step->params.n; i++)
		out_printf(o, "(%s)ct_w%d, ", host_type(&step->params.p[i]), i - fn->params.n);
	host_args(o, NULL, &fn->dims);
	out_puts(o, "stream);\n");
}

/* Of 64-bit words, the tensors in workspace that are to be cleared. */
static void print_cleared(Out *o, const Steps *s)
{
	const IrParamVec *params = &s->fns.p[0]->params;
	int own = s->of->params.n;
	if (s->clears == params->n - own) {
		out_puts(o, "ct_size / 8");
		return;
	}
	out_puts(o, "(");
	for (int i = 0; i < s->clears; i++) {
		if (i) out_puts(o, " + ");
		print_room(o, &params->p[own + i]);
	}
	out_puts(o, ") / 8");
}

static void print_run_steps(Out *o, const Steps *s)
{
	const Fn *fn = s->of;
	const IrParamVec *params = &s->fns.p[0]->params;
	IrParamVec sizes = host_integers(&fn->params);
	out_printf(o, "const int64_t ct_size = ct_work ? ct_steps_%s(", fn->name);
	host_args(o, &sizes, &fn->dims);
	out_printf(o, "%s) : 0;\nif (ct_size > 0 && !ct_bad) {\n", host_bad());
	out_in(o);
	if (s->clear || s->fns.n > 1) out_puts(o, "int ct_s;\n");
	for (int i = fn->params.n, n = 0; i < params->n; i++, n++) {
		out_printf(o, n ? "char *const ct_w%d = ct_w%d + " : "char *const ct_w%d = (char *)ct_work", n, n - 1);
		if (n) print_room(o, &params->p[i - 1]);
		out_puts(o, ";\n");
	}
	if (s->clear) {
		out_printf(o, "ct_s = ct_run_%s((%s)ct_w0, ", s->clear->name, host_type(&s->clear->params.p[0]));
		print_cleared(o, s);
		out_puts(o, ", stream);\nif (ct_s) return ct_s;\n");
	}
	for (int i = 0; i < s->fns.n; i++) {
		bool last = i + 1 == s->fns.n;
		out_puts(o, last ? "return " : "ct_s = ");
		print_step(o, fn, s->fns.p[i]);
		if (!last) out_puts(o, "if (ct_s) return ct_s;\n");
	}
	out_off(o);
	out_puts(o, "}\n");
}

void host_grid(Out *o, const Fn *fn, Str extents, Str blocks)
{
	out_printf(o, "const int64_t %s[4] = { ", extents);
	for (int i = 0; i < 4; i++) {
		if (i) out_puts(o, ", ");
		if (i < fn->ngrid) host_expr(o, fn->grid[i]);
		else out_puts(o, "1");
	}
	out_printf(o, " };\nconst int64_t %s = ct_tile_blocks(%s, %s);\n", blocks, extents, host_checks() ? "ct_bad" : "0");
}

void host_run(Out *o, const Module *m, const Fn *fn, const EmitOptions *opt, const HostTarget *t)
{
	Str name = fn->source_name ? fn->source_name : fn->name;
	const Steps *steps = ir_steps(&m->steps, fn);
	out_printf(o, "static int ct_run_%s(", fn->name);
	host_params(o, &fn->params, &fn->dims);
	out_printf(o, "%s%sstruct CUstream_st *stream)\n{\n", fn->params.n + fn->dims.n ? ", " : "",
		steps ? "void *ct_work, " : "");
	out_in(o);
	if (t->instead) t->instead(o, fn);
	Out *body = host_body(o);
	print_defined_dims(body, fn);
	if (steps) print_run_steps(body, steps);
	host_grid(body, fn, "ct_grid", "ct_blocks");
	out_printf(body, "if (ct_blocks <= 0) return !ct_blocks ? CTILE_OK : ct_fail(CTILE_GRID, \"%s: the grid has 2^31 "
		"tile blocks or more\");\n", name);
	if (!t->multiprocessors) out_puts(body, "(void)stream;\n");
	t->start(body, m, fn, opt);
	host_body_end(o, body);
	out_off(o);
	out_puts(o, "}\n\n");
}

/* ---- one entry ---- */
typedef VEC(const IrParam *) ScratchVec;

static void print_num(Out *o, Elem e, Num v)
{
	if (elem_is_any_float(e)) {
		if (v.f != v.f) out_puts(o, "__builtin_nan(\"\")");
		else if (v.f - v.f != 0) out_printf(o, "%s__builtin_inf()", v.f < 0 ? "-" : "");
		else out_printf(o, "%a", v.f);
	} else {
		out_puts(o, sym_c(sym_const(v.i)));
	}
}

static void print_host_arg(Out *o, const Entry *e, const ScratchVec *scratch, const HostArg *a, const IrParam *want)
{
	Str type = host_type(want);
	if (a->is_tensor) {
		const IrParam *p = a->tensor < e->params.n ? &e->params.p[a->tensor] : scratch->p[a->tensor - e->params.n];
		if (!a->offset) {
			bool same = a->tensor < e->params.n && !strcmp(type, host_type(p));
			if (!same) out_printf(o, "(%s)", type);
			out_puts(o, name_c(p->name));
			return;
		}
		/* not a pointer's sum: null and 0 are fine */
		out_printf(o, "(%s)((uintptr_t)%s + (uintptr_t)", type, name_c(p->name));
		host_expr(o, a->offset);
		out_printf(o, " * %d)", elem_bytes(p->elem));
	} else if (a->is_num) {
		if (elem_is_any_float(want->elem) && elem_bytes(want->elem) < 4)
			bug("a 16-bit float constant as a launch argument has no bits here");
		out_printf(o, "(%s)", type);
		print_num(o, want->elem, a->num);
	} else if (a->scalar >= 0) {
		const IrParam *p = &e->params.p[a->scalar];
		if (strcmp(type, host_type(p)) != 0) out_printf(o, "(%s)", type);
		out_puts(o, name_c(p->name));
	} else {
		out_printf(o, "(%s)", type);
		host_expr(o, a->value);
	}
}

/* dry: sizes only */
typedef struct EntryText { Out *o; const Launchers *l; const Entry *e; ScratchVec scratch; bool dry; } EntryText;

static bool has_steps(const Launchers *l, const HostStmt *s)    /* may one of the variants run in several steps? */
{
	for (int i = 0; i < s->u.launch.variants.n; i++)
		if (ir_steps(&l->m->steps, s->u.launch.variants.p[i].fn)) return true;
	return false;
}

static bool any_steps(const Launchers *l, const HostVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const HostStmt *s = v->p[i];
		if (s->kind == HOST_LAUNCH && has_steps(l, s)) return true;
		if (s->kind == HOST_IF && (any_steps(l, &s->u.ifs.then) || any_steps(l, &s->u.ifs.other))) return true;
	}
	return false;
}

static void print_stmts(EntryText *t, const HostVec *v);

static void print_scratch(EntryText *t, const IrParam *p)
{
	Out *o = t->o;
	Str n = name_c(p->name);
	vec_push(A_UNIT, &t->scratch, p);
	if (!t->dry) out_printf(o, "void *const %s = (char *)workspace + ct_at;\n(void)%s;\n", n, n);
	out_printf(o, "{\n\tconst CtTensor ct_x = ");
	out_in(o);
	out_printf(o, "{ \"%s\", NULL, %d, %d, 1, { ", p->name, p->rank, elem_bytes(p->elem));
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < p->rank; i++) {
			if (i) out_puts(o, ", ");
			host_expr(o, pass ? p->stride[i] : p->extent[i]);
		}
		if (!p->rank) out_puts(o, "0");
		out_puts(o, pass ? " } };\n" : " }, { ");
	}
	out_off(o);
	if (p->zeroed && !t->dry)
		out_printf(o, "\tct_s = ct_clear(\"%s\", %s, ct_span(&ct_x, %s), stream);\n\tif (ct_s) return ct_s;\n",
			t->e->name, n, host_bad());
	out_printf(o, "\tct_at = ct_host_mul(ct_host_cdiv(ct_host_add(ct_at, ct_span(&ct_x, %s), %s), "
		"256, %s), 256, %s);\n}\n", host_bad(), host_bad(), host_bad(), host_bad());
}

/* After n arguments; how many there are then. */
static int print_dims_of(Out *o, const HostStmt *s, const Fn *fn, int n)
{
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < fn->dims.n; i++) {
			if (fn->dims.p[i].def || fn->dims.p[i].is_stride != (pass == 1)) continue;
			if (n++) out_puts(o, ", ");
			host_expr(o, s->u.launch.dims.p[i]);
		}
	return n;
}

static void print_args_of(EntryText *t, const HostStmt *s, const Fn *fn)
{
	Out *o = t->o;
	int n = 0;
	for (int i = 0; i < s->u.launch.args.n; i++) {
		if (n++) out_puts(o, ", ");
		print_host_arg(o, t->e, &t->scratch, &s->u.launch.args.p[i], &fn->params.p[i]);
	}
	if (print_dims_of(o, s, fn, n)) out_puts(o, ", ");
}

static void print_run_of(EntryText *t, const HostStmt *s, const Fn *fn)
{
	out_printf(t->o, "ct_s = ct_run_%s(", fn->name);
	print_args_of(t, s, fn);
	out_puts(t->o, ir_steps(&t->l->m->steps, fn) ? "ct_work, stream)" : "stream)");
}

/* "!ct_fits_f(x, n, 0)", or 1 where nothing is asked. */
static void print_asks(EntryText *t, const HostStmt *s, const Fn *fn)
{
	if (!has_fits(t->l, fn)) {
		out_puts(t->o, "1");
		return;
	}
	out_printf(t->o, "!ct_fits_%s(", fn->name);
	print_args_of(t, s, fn);
	out_puts(t->o, "0)");
}

static void print_try(EntryText *t, const HostStmt *s, const Fn *fn)
{
	print_asks(t, s, fn);
	out_puts(t->o, ") ");
	print_run_of(t, s, fn);
	out_puts(t->o, ";\n");
}

static void print_conditions(Out *o, const LaunchRule *r)
{
	if (r->arch)
		out_printf(o, "ct_on_arch(%d) && ", (int)strtol(r->arch + (strncmp(r->arch, "sm_", 3) ? 0 : 3), NULL, 10));
	if (!r->cond) return;
	host_expr(o, r->cond);
	out_puts(o, " && ");
}

/* The cheapest of the variants whose rules have a cost: ct_best is its number. */
static bool print_cheapest(EntryText *t, const HostStmt *s)
{
	Out *o = t->o;
	bool any = false;
	for (int i = 0; i < s->u.launch.rules.n; i++) {
		const LaunchRule *r = &s->u.launch.rules.p[i];
		if (!r->cost) continue;
		if (!any) out_puts(o, "int ct_best = -1;\nint64_t ct_least = INT64_MAX;\n");
		any = true;
		out_puts(o, "{\n\tconst int64_t ct_cost = ");
		host_expr(o, r->cost);
		out_puts(o, ";\n\tif (");
		print_conditions(o, r);
		out_puts(o, "ct_cost < ct_least && ");
		print_asks(t, s, s->u.launch.variants.p[r->variant].fn);
		out_printf(o, ") ct_best = %d, ct_least = ct_cost;\n}\n", r->variant);
	}
	if (any) host_overflow(o, t->e->name, "the cost of a variant");
	return any;
}

static bool priced(const HostStmt *s, int variant)
{
	for (int i = 0; i < s->u.launch.rules.n; i++)
		if (s->u.launch.rules.p[i].cost && s->u.launch.rules.p[i].variant == variant) return true;
	return false;
}

/* A line of a tune file. ct_on_arch(90) is the target's: whether the current device is of that architecture. */
static void print_choice(EntryText *t, const HostStmt *s, int i, bool first)
{
	Out *o = t->o;
	out_puts(o, first ? "if (" : "else if (");
	print_conditions(o, &s->u.launch.rules.p[i]);
	print_try(t, s, s->u.launch.variants.p[s->u.launch.rules.p[i].variant].fn);
}

/* Variants one after the other: `else` keeps the text flat and needs no labels. */
static void print_variants(EntryText *t, const HostStmt *s)
{
	Out *o = t->o;
	int n = s->u.launch.variants.n;
	if (n == 1) {
		const Fn *fn = s->u.launch.variants.p[0].fn;
		if (has_fits(t->l, fn)) {
			out_printf(o, "if ((ct_s = ct_fits_%s(", fn->name);
			print_args_of(t, s, fn);
			out_puts(o, "1)) != 0) return ct_s;\n");
		}
		out_puts(o, "if ((");
		print_run_of(t, s, fn);
		out_puts(o, ") != 0) return ct_s;\n");
		return;
	}
	bool costs = print_cheapest(t, s), first = true;
	for (int i = 0; i < s->u.launch.rules.n; i++) {
		if (s->u.launch.rules.p[i].cost) continue;
		print_choice(t, s, i, first);
		first = false;
	}
	for (int i = 0; costs && i < n; i++) {
		if (!priced(s, i)) continue;
		out_printf(o, "%sif (ct_best == %d && ", first ? "" : "else ", i);
		print_try(t, s, s->u.launch.variants.p[i].fn);
		first = false;
	}
	for (int i = 0; i < n; i++) {
		out_puts(o, first ? "if (" : "else if (");
		first = false;
		print_try(t, s, s->u.launch.variants.p[i].fn);
	}
	const Fn *last = s->u.launch.variants.p[n - 1].fn;      /* it says in words what even the last variant needs */
	if (has_fits(t->l, last)) {
		out_printf(o, "else {\n\tchar ct_why[sizeof ctile_last_text];\n\tct_s = ct_fits_%s(", last->name);
		print_args_of(t, s, last);
		out_puts(o, "1);\n\tmemcpy(ct_why, ctile_last_text, sizeof ct_why);\n");
		out_printf(o, "\treturn ct_fail(CTILE_VARIANT, \"%s: no variant accepts this call; the last one: "
			"%%.250s\", ct_why);\n}\n", t->e->name);
	}
	out_puts(o, "if (ct_s) return ct_s;\n");
}

/* Integers and booleans among the arguments, then the dimensions; are there any? */
static bool print_sizes_of(EntryText *t, const HostStmt *s, const Fn *fn)
{
	int n = 0;
	for (int i = 0; i < fn->params.n; i++) {
		const IrParam *p = &fn->params.p[i];
		if (p->is_tensor || !elem_is_integral(p->elem)) continue;
		if (n++) out_puts(t->o, ", ");
		print_host_arg(t->o, t->e, &t->scratch, &s->u.launch.args.p[i], p);
	}
	return print_dims_of(t->o, s, fn, n) > 0;
}

/* After scratch tensors, in their order, lies what versions in several steps have in workspace. A grid or a dimension
 * that depends on a parameter may be negative here, in a call that its conditions refuse. */
static void print_steps_room(EntryText *t, const HostStmt *s)
{
	bool any = host_integers(&t->e->params).n > 0;
	for (int i = 0; i < s->u.launch.variants.n; i++) {
		const Fn *fn = s->u.launch.variants.p[i].fn;
		if (!ir_steps(&t->l->m->steps, fn)) continue;
		out_printf(t->o, "ct_at = ct_host_add(ct_at, %sct_steps_%s(", any ? "ct_host_max(0, " : "", fn->name);
		if (print_sizes_of(t, s, fn)) out_puts(t->o, ", ");
		out_printf(t->o, "%s)%s, %s);\n", host_bad(), any ? ")" : "", host_bad());
	}
}

static void print_launch(EntryText *t, const HostStmt *s)
{
	bool steps = has_steps(t->l, s);
	if (s->u.launch.where.n && !t->dry) {
		print_where(t->o, t->e->name, &s->u.launch.where, true, NULL);
		host_overflow(t->o, t->e->name, "an index");
	}
	if (steps && !t->dry) {
		out_puts(t->o, "{\n");
		out_in(t->o);
		out_puts(t->o, "void *const ct_work = ct_given ? (char *)workspace + ct_at : NULL;\n");
	}
	if (steps) print_steps_room(t, s);
	if (!t->dry) print_variants(t, s);
	if (steps && !t->dry) {
		out_off(t->o);
		out_puts(t->o, "}\n");
	}
}

static void print_dry(EntryText *t, const HostVec *v)
{
	if (!v->n) return;
	out_puts(t->o, "{\n");
	out_in(t->o);
	print_stmts(t, v);
	out_off(t->o);
	out_puts(t->o, "}\n");
}

static void print_stmts(EntryText *t, const HostVec *v)
{
	Out *o = t->o;
	for (int i = 0; i < v->n; i++) {
		const HostStmt *s = v->p[i];
		switch (s->kind) {
		case HOST_SCRATCH: print_scratch(t, &s->u.scratch.tensor); break;
		case HOST_LAUNCH: print_launch(t, s); break;
		case HOST_LET:
			out_printf(o, "const int64_t %s = ", name_c(s->u.let.name));
			if (s->u.let.value) host_expr(o, s->u.let.value);
			else out_puts(o, "ct_multiprocessors()");
			out_printf(o, ";\n(void)%s;\n", name_c(s->u.let.name));
			break;
		case HOST_IF:
			if (t->dry) {  /* the workspace holds the scratch of both branches: it depends on nothing but sizes */
				print_dry(t, &s->u.ifs.then);
				print_dry(t, &s->u.ifs.other);
				break;
			}
			out_puts(o, s->u.ifs.cond->kind == SYM_EQ ? "if " : "if (");  /* a comparison brings its own parentheses */
			host_expr(o, s->u.ifs.cond);
			out_puts(o, s->u.ifs.cond->kind == SYM_EQ ? " {\n" : ") {\n");
			out_in(o);
			print_stmts(t, &s->u.ifs.then);
			out_off(o);
			out_puts(o, "} else {\n");
			out_in(o);
			print_stmts(t, &s->u.ifs.other);
			out_off(o);
			out_puts(o, "}\n");
			break;
		}
	}
}

static bool uses_workspace(const Launchers *l, const Entry *e)
{
	return entry_has_scratch(e) || any_steps(l, &e->body);
}

static void print_workspace(Out *o, const Launchers *l, const Entry *e)
{
	EntryText t = { .o = o, .l = l, .e = e, .dry = true };
	bool any = uses_workspace(l, e);
	IrParamVec sizes = host_integers(&e->params);
	out_printf(o, "size_t %s_workspace(", name_entry(e->name));
	host_params(o, &sizes, &e->dims);
	out_printf(o, "%s)", host_has_params(&sizes, &e->dims) ? "" : "void");
	if (!any) {
		out_puts(o, " { ");
		for (int i = 0; i < sizes.n; i++) out_printf(o, "(void)%s; ", name_c(sizes.p[i].name));
		for (int i = 0; i < e->dims.n; i++)
			if (!e->dims.p[i].def) out_printf(o, "(void)%s; ", name_c(e->dims.p[i].name));
		out_puts(o, "return 0; }\n\n");
		return;
	}
	out_puts(o, "\n{\n");
	out_in(o);
	for (int i = 0; i < sizes.n; i++) out_printf(o, "(void)%s;\n", name_c(sizes.p[i].name));
	out_puts(o, "int ct_bad = 0;\nint64_t ct_at = 0;\n");
	for (int i = 0; i < e->dims.n; i++) {
		const IrDim *d = &e->dims.p[i];
		if (d->def) {
			out_printf(o, "const int64_t %s = ", name_c(d->name));
			host_expr(o, d->def);
			out_puts(o, ";\n");
		}
		out_printf(o, "(void)%s;\n", name_c(d->name));
	}
	print_stmts(&t, &e->body);
	out_puts(o, "return ct_bad ? SIZE_MAX : (size_t)ct_at;\n");
	out_off(o);
	out_puts(o, "}\n\n");
}

/* f, which has no workspace, runs what f_ws does where that needs none. */
static bool may_lack_workspace(const Launchers *l, const Entry *e)
{
	return !entry_has_scratch(e) && any_steps(l, &e->body);
}

static void print_workspace_check(Out *o, const Launchers *l, const Entry *e)
{
	Str n = name_entry(e->name);
	IrParamVec sizes = host_integers(&e->params);
	int k = 0;
	out_printf(o, "const size_t ct_need = %s%s_workspace(", may_lack_workspace(l, e) ? "!ct_given ? 0 : " : "", n);
	for (; k < sizes.n; k++) out_printf(o, "%s%s", k ? ", " : "", name_c(sizes.p[k].name));
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < e->dims.n; i++)
			if (!e->dims.p[i].def && e->dims.p[i].is_stride == (pass == 1))
				out_printf(o, "%s%s", k++ ? ", " : "", name_c(e->dims.p[i].name));
	out_printf(o, ");\nif (ct_need == SIZE_MAX) return ct_fail(CTILE_OVERFLOW, \"%s: the size of the workspace does "
		"not fit 64 bits\");\n", e->name);
	out_printf(o, "if (bytes < ct_need)\n"
		"\treturn ct_fail(CTILE_WORKSPACE, \"%s: needs a workspace of %%lld bytes aligned to 256, got %%lld bytes\", "
		"(long long)ct_need, (long long)bytes);\n", e->name);
	out_printf(o, "if (ct_need && (!workspace || (uintptr_t)workspace %% 256 != 0))\n"
		"\treturn ct_fail(CTILE_WORKSPACE, \"%s: the workspace is %%s\", workspace ? \"not aligned to 256 "
		"bytes\" : \"null\");\n", e->name);
}

static bool launches(const HostVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const HostStmt *s = v->p[i];
		if (s->kind == HOST_LAUNCH) return true;
		if (s->kind == HOST_IF && (launches(&s->u.ifs.then) || launches(&s->u.ifs.other))) return true;
	}
	return false;
}

static void print_body(Out *o, const Launchers *l, const Entry *e)
{
	bool scratch = uses_workspace(l, e), runs = launches(&e->body), tensors = scratch;
	for (int i = 0; i < e->params.n; i++) tensors |= e->params.p[i].is_tensor;
	if (any_steps(l, &e->body) && !may_lack_workspace(l, e)) out_puts(o, "const int ct_given = 1;\n");
	if (runs || tensors) out_puts(o, "int ct_s;\n");
	Out *body = host_body(o);
	EntryText t = { .o = body, .l = l, .e = e };
	print_dim_checks(body, e->name, &e->dims);
	if (scratch) print_workspace_check(body, l, e);
	tensors_check(body, e, scratch);
	print_where(body, e->name, &e->where, true, NULL);
	if (!runs) out_puts(body, "(void)stream;\n");
	if (!scratch) out_puts(body, "(void)workspace, (void)bytes;\n");
	for (int i = 0; i < e->params.n; i++)
		if (!e->params.p[i].is_tensor) out_printf(body, "(void)%s;\n", name_c(e->params.p[i].name));
	for (int i = 0; i < e->dims.n; i++)
		if (e->dims.p[i].def) out_printf(body, "(void)%s;\n", name_c(e->dims.p[i].name));
	if (scratch) out_puts(body, "int64_t ct_at = 0;\n");
	print_stmts(&t, &e->body);
	if (scratch) out_puts(body, "(void)ct_at;\n");
	host_overflow(body, e->name, "a size");
	out_puts(body, "return CTILE_OK;\n");
	host_body_end(o, body);
}

/* What all functions of an entry that run it begin with, and how they call another one with the same arguments. */
static void print_head(Out *o, const Entry *e, const char *how, Str name)
{
	bool more = e->params.n > 0;
	for (int i = 0; i < e->dims.n; i++) more |= !e->dims.p[i].def;
	out_printf(o, "%sint %s(", how, name);
	host_params(o, &e->params, &e->dims);
	if (more) out_puts(o, ", ");
}

static void print_call(Out *o, const Entry *e, Str name)
{
	out_printf(o, "{ return %s(", name);
	host_args(o, &e->params, &e->dims);
}

static void print_entry(Out *o, const Launchers *l, const Entry *e)
{
	Str n = name_entry(e->name), with = str_fmt("%s_ws", n), run = str_fmt("ct_entry_%s", n);
	bool lacks = may_lack_workspace(l, e);
	print_workspace(o, l, e);
	print_head(o, e, lacks ? "static " : "", lacks ? run : with);
	out_printf(o, "%svoid *workspace, size_t bytes, struct CUstream_st *stream)\n{\n", lacks ? "int ct_given, " : "");
	out_in(o);
	print_body(o, l, e);
	out_off(o);
	out_puts(o, "}\n\n");
	if (lacks) {
		print_head(o, e, "", with);
		out_puts(o, "void *workspace, size_t bytes, struct CUstream_st *stream)\n");
		print_call(o, e, run);
		out_puts(o, "1, workspace, bytes, stream); }\n\n");
	}
	if (entry_has_scratch(e)) return;
	print_head(o, e, "", n);
	out_puts(o, "struct CUstream_st *stream)\n");
	print_call(o, e, lacks ? run : with);
	out_printf(o, "%sNULL, 0, stream); }\n\n", lacks ? "0, " : "");
}

static bool counts_multiprocessors(const HostStmt *s) { return s->kind == HOST_LET && !s->u.let.value; }
static bool is_zeroed(const HostStmt *s) { return s->kind == HOST_SCRATCH && s->u.scratch.tensor.zeroed; }

static bool names_arch(const HostStmt *s)
{
	for (int i = 0; s->kind == HOST_LAUNCH && i < s->u.launch.rules.n; i++)
		if (s->u.launch.rules.p[i].arch) return true;
	return false;
}

static bool any_stmt(const HostVec *v, bool (*is)(const HostStmt *))
{
	for (int i = 0; i < v->n; i++) {
		const HostStmt *s = v->p[i];
		if (is(s) || (s->kind == HOST_IF && (any_stmt(&s->u.ifs.then, is) || any_stmt(&s->u.ifs.other, is))))
			return true;
	}
	return false;
}

static bool any_entry(const Module *m, bool (*is)(const HostStmt *))
{
	for (int i = 0; i < m->entries.n; i++)
		if (any_stmt(&m->entries.p[i]->body, is)) return true;
	return false;
}

const char host_clear_memory[] =
	"static int ct_clear(const char *entry, void *p, int64_t bytes, struct CUstream_st *stream)\n"
	"{\n\t(void)entry, (void)stream;\n\tif (bytes > 0) memset(p, 0, (size_t)bytes);\n\treturn CTILE_OK;\n}\n\n";

static const char steps_switch[] = "#ifndef CT_STEPS\n"
	"#define CT_STEPS 0     /* 1: several steps also where they are not faster */\n#endif\n\n";

static bool any_step(const Module *m)
{
	for (int i = 0; i < m->fns.n; i++)
		if (m->fns.p[i]->is_step) return true;
	return false;
}

static bool any_step_on_arch(const Module *m)
{
	for (int i = 0; i < m->steps.n; i++)
		if (m->steps.p[i]->arch) return true;
	return false;
}

static void print_launchers(Out *o, const Module *m, const EmitOptions *opt, const HostTarget *t)
{
	if (any_entry(m, counts_multiprocessors))
		out_puts(o, t->multiprocessors ? t->multiprocessors : "CT_HELPER int64_t "
			"ct_multiprocessors(void) { return 1; }\n\n");
	if (any_entry(m, names_arch) || any_step_on_arch(m))
		out_puts(o, t->on_arch ? t->on_arch : "CT_HELPER int ct_on_arch(int arch) { (void)arch; return 0; }\n\n");
	if (any_entry(m, is_zeroed)) out_puts(o, t->clear);
	Launchers l = { .m = m, .o = o, .wide = wide_dims_new(m) };
	if (any_step(m)) out_puts(o, steps_switch);
	for (int i = 0; i < m->fns.n; i++) {
		const Fn *fn = m->fns.p[i];
		if (!fn->is_step) print_fits(&l, fn);
		const Steps *steps = ir_steps(&m->steps, fn);
		if (steps) print_steps_size(o, steps);
		host_run(o, m, fn, opt, t);
	}
	for (int i = 0; i < m->entries.n; i++) print_entry(o, &l, m->entries.p[i]);  /* the header says that they are C's */
}

static void put_text(void *ctx, const char *text) { out_puts(ctx, text); }

void host_print(Out *o, const Module *m, const EmitOptions *opt, const HostTarget *t, const char *starts)
{
	Out *checks = out_new(), *calls = out_new();
	SnipSet used;
	tensors_prologue(checks, m);
	print_launchers(calls, m, opt, t);
	snip_init(&used, &checked_table);
	snip_use_text(&used, checks->p);
	snip_use_text(&used, starts);
	snip_use_text(&used, calls->p);
	out_puts(o, host_macros);
	snip_print(&used, put_text, o);
	out_puts(o, "\n");
	print_status(o);
	out_raw(o, checks->p, checks->n);
	out_raw(o, starts, strlen(starts));
	out_raw(o, calls->p, calls->n);
	out_free(checks);
	out_free(calls);
}
