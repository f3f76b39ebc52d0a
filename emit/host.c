/* Launchers: ct_run_<fn> of each kernel, and the host's part of a file. */
#include "emit/launchers.h"

#include <string.h>

#include "emit/expr.h"
#include "emit/names.h"
#include "emit/tensors.h"

const char host_macros[] =
	"#define CT_HELPER static inline __attribute__((unused))\n";

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
	host_defined_dims(body, fn);
	if (steps) steps_print_run(body, steps);
	host_grid(body, fn, "ct_grid", "ct_blocks");
	out_printf(body, "if (ct_blocks <= 0) return !ct_blocks ? CTILE_OK : ct_fail(CTILE_GRID, \"%s: the grid has 2^31 "
		"tile blocks or more\");\n", name);
	if (!t->multiprocessors) out_puts(body, "(void)stream;\n");
	t->start(t, body, fn, opt);
	host_body_end(o, body);
	out_off(o);
	out_puts(o, "}\n\n");
}

/* ---- the file ---- */
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

static bool any_step_on_arch(const Module *m)
{
	for (int i = 0; i < m->steps.n; i++)
		if (m->steps.p[i]->arch) return true;
	return false;
}

Out *host_launchers(const Module *m, const EmitOptions *opt, const HostTarget *t)
{
	Out *o = out_new();
	if (any_entry(m, counts_multiprocessors))
		out_puts(o, t->multiprocessors ? t->multiprocessors : "CT_HELPER int64_t "
			"ct_multiprocessors(void) { return 1; }\n\n");
	if (any_entry(m, names_arch) || any_step_on_arch(m))
		out_puts(o, t->on_arch ? t->on_arch : "CT_HELPER int ct_on_arch(int arch) { (void)arch; return 0; }\n\n");
	if (any_entry(m, is_zeroed)) out_puts(o, t->clear);
	Launchers l = { .m = m, .o = o, .wide = wide_dims_new(m) };
	if (m->steps.n) out_puts(o, steps_switch);
	for (int i = 0; i < m->fns.n; i++) {
		const Fn *fn = m->fns.p[i];
		if (!fn->is_step) fits_print(&l, fn);
		const Steps *steps = ir_steps(&m->steps, fn);
		if (steps) steps_print_size(o, steps);
		host_run(o, m, fn, opt, t);
	}
	for (int i = 0; i < m->entries.n; i++) entry_print(o, &l, m->entries.p[i]);  /* the header says that they are C's */
	return o;
}

static void put_text(void *ctx, const char *text) { out_puts(ctx, text); }

void host_print(Out *o, const Module *m, const char *starts, const Out *launchers)
{
	Out *checks = out_new();
	SnipSet used;
	tensors_prologue(checks, m);
	snip_init(&used, &checked_table);
	snip_use_text(&used, checks->p);
	snip_use_text(&used, starts);
	snip_use_text(&used, launchers->p);
	out_puts(o, host_macros);
	snip_print(&used, put_text, o);
	out_puts(o, "\n");
	status_print(o);
	out_raw(o, checks->p, checks->n);
	out_raw(o, starts, strlen(starts));
	out_free(checks);
	out_refer(o, launchers->p, launchers->n);
}
