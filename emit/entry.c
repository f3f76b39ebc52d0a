/* The public functions of an entry, f, f_workspace, f_ws: checks, workspace, launches in their order, and which variant
 * runs. */
#include "emit/launchers.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "emit/expr.h"
#include "emit/names.h"
#include "emit/tensors.h"

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

static void print_and(Out *o, bool first)
{
	if (!first) out_puts(o, " && ");
}

/* " && !ct_fits_f(x, n, 0)", nothing where nothing is asked; first: without the sign. Is there a condition now? */
static bool print_asks(EntryText *t, const HostStmt *s, const Fn *fn, bool first)
{
	if (!fits_asked(t->l, fn)) return !first;
	print_and(t->o, first);
	out_printf(t->o, "!ct_fits_%s(", fn->name);
	print_args_of(t, s, fn);
	out_puts(t->o, "0)");
	return true;
}

/* Those of a rule, after what stands there; is there a condition now? */
static bool print_conditions(Out *o, const LaunchRule *r, bool first)
{
	if (r->arch) {
		print_and(o, first);
		out_printf(o, "ct_on_arch(%d)", (int)strtol(r->arch + (strncmp(r->arch, "sm_", 3) ? 0 : 3), NULL, 10));
		first = false;
	}
	if (!r->cond) return !first;
	print_and(o, first);
	host_expr(o, r->cond);
	return true;
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
		print_and(o, !print_conditions(o, r, true));
		out_puts(o, "ct_cost < ct_least");
		print_asks(t, s, s->u.launch.variants.p[r->variant].fn, false);
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

enum { TRY_FIRST = 1, TRY_LAST = 2 };
/* A variant that is tried after others: where the device is that of `rule`, a line of a tune file, or `best` is the
 * number of the cheapest one, and where it accepts the call. ct_on_arch(90) is the target's: whether the current device
 * is of that architecture. What follows one that asks for nothing stays in the text, so that every variant is used.
 * Does the last one ask for nothing? */
static bool print_try(EntryText *t, const HostStmt *s, const Fn *fn, const LaunchRule *rule, int best, int place)
{
	EntryText in = *t;
	in.o = out_new();
	bool any = best >= 0;
	if (any) out_printf(in.o, "ct_best == %d", best);
	if (rule) any = print_conditions(in.o, rule, !any);
	any = print_asks(&in, s, fn, !any);
	if (!(place & TRY_FIRST)) out_puts(t->o, "else ");
	if (any || !(place & TRY_LAST)) out_printf(t->o, "if (%s) ", any ? out_take(in.o) : "1");
	print_run_of(t, s, fn);
	out_puts(t->o, ";\n");
	return !any && place & TRY_LAST;
}

static bool same_instance(const Fn *x, const Fn *y)
{
	if (x->source_name != y->source_name || x->generics.n != y->generics.n) return false;
	for (int i = 0; i < x->generics.n; i++)
		if (x->generics.p[i].value != y->generics.p[i].value) return false;
	return true;
}

/* Are all variants made of one instance? The author wrote no others then: lower/single_trip.c puts some before it that
 * ask for more. */
static bool is_one_instance(const HostStmt *s)
{
	int n = s->u.launch.variants.n;
	for (int i = 0; i < n; i++)
		if (!same_instance(s->u.launch.variants.p[i].fn, s->u.launch.variants.p[n - 1].fn)) return false;
	return n == 1 || !s->u.launch.rules.n;
}

/* Variants one after the other: `else` keeps the text flat and needs no labels. What the only instance needs is said in
 * words and with its own status, whatever variants the compiler has made of it. */
static void print_variants(EntryText *t, const HostStmt *s)
{
	Out *o = t->o;
	int n = s->u.launch.variants.n;
	const Fn *last = s->u.launch.variants.p[n - 1].fn;
	bool one = is_one_instance(s);
	if (one && fits_asked(t->l, last)) {
		out_printf(o, "if ((ct_s = ct_fits_%s(", last->name);
		print_args_of(t, s, last);
		out_puts(o, "1)) != 0) return ct_s;\n");
	}
	if (n == 1) {
		out_puts(o, "if ((");
		print_run_of(t, s, last);
		out_puts(o, ") != 0) return ct_s;\n");
		return;
	}
	bool costs = print_cheapest(t, s), ends = false;
	int first = TRY_FIRST;
	for (int i = 0; i < s->u.launch.rules.n; i++) {
		const LaunchRule *r = &s->u.launch.rules.p[i];
		if (r->cost) continue;
		print_try(t, s, s->u.launch.variants.p[r->variant].fn, r, -1, first);
		first = 0;
	}
	for (int i = 0; costs && i < n; i++) {
		if (!priced(s, i)) continue;
		print_try(t, s, s->u.launch.variants.p[i].fn, NULL, i, first);
		first = 0;
	}
	for (int i = 0; i < n; i++) {
		ends = print_try(t, s, s->u.launch.variants.p[i].fn, NULL, -1, first | (i == n - 1 ? TRY_LAST : 0));
		first = 0;
	}
	if (!one && !ends) {   /* it says in words what even the last variant needs */
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
		where_print(t->o, t->e->name, &s->u.launch.where, true, NULL);
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
	where_dims(body, e->name, &e->dims);
	if (scratch) print_workspace_check(body, l, e);
	tensors_check(body, e, scratch);
	where_print(body, e->name, &e->where, true, NULL);
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

void entry_print(Out *o, const Launchers *l, const Entry *e)
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
