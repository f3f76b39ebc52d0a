/* The pipeline: read, parse, check, lower, emit, write. Each step either succeeds or has reported why not; nothing is
 * written before the last one succeeded. */
#define _POSIX_C_SOURCE 200809L
#include "driver/compile.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/sys.h"
#include "base/files.h"
#include "base/show.h"
#include "base/version.h"
#include "driver/depfile.h"
#include "driver/manifest.h"
#include "driver/outputs.h"
#include "driver/paths.h"
#include "driver/plans.h"
#include "driver/repro.h"
#include "emit/emit.h"
#include "emit/names.h"
#include "emit_c/emit_c.h"
#include "emit_cuda/emit_cuda.h"
#include "emit_tile/emit_tile.h"
#include "lexer/lex.h"
#include "lower/lower.h"
#include "lower/pins.h"
#include "parser/parse.h"
#include "sema/sema.h"
#include "sim/sim.h"

#define DEFAULT_ARCH "sm_80,sm_90a"

typedef struct Step { const char *name; double ms; } Step;

typedef struct Unit {
	const Options *opt;
	TargetId target;
	EmitOptions eo;
	Str output, header, depfile;    /* NULL: not written */
	Str named;                      /* what the program would be called if it is not written to a file */
	bool only_print;                /* one thing goes to the output: no header, no program */
	Out *printed;                   /* that thing */
	Planned *planned;               /* plans of all kernels, where they are to be explained */
	VEC(Step) steps;
	double clock;
} Unit;

/* ---- time report ---- */
/* Of this process's processor time: on a busy machine the clock says how long others ran. */
static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void step_done(Unit *u, const char *name)
{
	if (!u->opt->time_report) return;
	double t = now_ms(), ms = t - u->clock;
	int i = 0;
	u->clock = t;
	while (i < u->steps.n && strcmp(u->steps.p[i].name, name) != 0) i++;
	if (i < u->steps.n) u->steps.p[i].ms += ms;     /* passes come back with each kernel */
	else vec_push(A_UNIT, &u->steps, ((Step){ name, ms }));
}

static void time_report(const Unit *u)
{
	double sum = 0;
	for (int i = 0; i < u->steps.n; i++) {
		fprintf(stderr, "%-24s %9.3f ms\n", u->steps.p[i].name, u->steps.p[i].ms);
		sum += u->steps.p[i].ms;
	}
	fprintf(stderr, "%-24s %9.3f ms, %.1f MiB\n", "all", sum, (double)arena_bytes(A_UNIT) / (1 << 20));
}

/* ---- what the options mean for this input ---- */
static TargetId find_target(const Options *o)
{
	Out *names = out_new();
	for (int i = 0; i < TARGET_COUNT; i++) out_printf(names, "%s%s", i ? " " : "", target_rows[i].name);
	if (o->emit == EMIT_C) return TARGET_C;
	if (!o->target || o->emit == EMIT_CUDA) return TARGET_CUDA;
	return (TargetId)options_word("--target", o->target, names->p);
}

/* Does the target place tiles in threads? Others print TYPED kernels. */
static bool has_layouts(const Unit *u) { return u->target == TARGET_CUDA || u->target == TARGET_SIM; }

static int arch_order(const ArchRow *a)
{
	return a->number * 2 + a->specific;
}

static void add_arch(ArchVec *v, const ArchRow *a)
{
	int at = v->n;
	while (at > 0 && arch_order(v->p[at - 1]) > arch_order(a)) at--;
	if (at > 0 && v->p[at - 1] == a) return;
	vec_push(A_UNIT, v, a);
	for (int i = v->n - 1; i > at; i--) v->p[i] = v->p[i - 1];
	v->p[at] = a;
}

/* plain: entries for one compute capability alone are none of the words. */
static void read_arches(ArchVec *v, const char *option, const char *list, bool plain)
{
	Out *names = out_new();
	for (int i = 0; i < arch_count; i++)
		if (!plain || !arch_rows[i].specific) out_printf(names, "%s%s", i ? " " : "", arch_rows[i].name);
	for (bool more = true; more; list++) {
		size_t n = strcspn(list, ",");
		Str name = str_intern_n(list, n);
		options_word(option, name, names->p);
		add_arch(v, arch_by_name(name));
		list += n;
		more = *list != 0;
	}
}

static int tile_version(const char *name)
{
	Out *names = out_new();
	for (int i = 0; i < tile_version_count; i++) out_printf(names, "%s%s", i ? " " : "", tile_versions[i].name);
	return tile_versions[name ? options_word("--tile-version", name, names->p) : tile_version_count - 1].number;
}

static Str mapped_absolute(Str path)
{
	return src_mapped(path[0] == '<' ? path : path_absolute(path));
}

static void name_files(Unit *u)
{
	const Options *o = u->opt;
	const char *ending = target_rows[u->target].suffix;
	bool from_stdin = strcmp(o->input, "-") == 0;
	bool print = u->only_print || from_stdin;
	Str program = o->output ? str_intern(o->output) : print ? str_intern("-")
		: path_with_ending(path_base(o->input), ending);
	bool to_stdout = strcmp(program, "-") == 0;
	Str named = to_stdout ? path_with_ending(path_base(from_stdin ? "stdin" : o->input), ending) : program;
	if (o->header) u->header = str_intern(o->header);
	else if (!o->no_header && (!to_stdout || o->want_header)) u->header = path_with_ending(named, ".h");
	u->output = program;
	if (u->only_print || o->check) u->header = NULL;
	if (o->check) u->output = NULL;
	if (o->dep_only) u->depfile = str_intern(o->dep_file ? o->dep_file : o->output ? o->output : "-");
	else if (o->dep || o->dep_file)
		u->depfile = o->dep_file ? str_intern(o->dep_file) : path_with_ending(named, ".tile.d");
	u->named = named;
	u->eo.output_name = to_stdout ? path_base(named) : o->line == LINE_ABS ? mapped_absolute(named) : src_mapped(named);
	u->eo.header_name = u->header ? path_base(u->header) : NULL;
}

static void set_up(Unit *u)
{
	const Options *o = u->opt;
	u->only_print = o->emit != EMIT_ALL || o->stop_after || o->print_params || o->explain_schedule || o->report;
	u->target = find_target(o);
	if (o->explain_schedule && (u->target != TARGET_CUDA || (o->emit != EMIT_ALL && o->emit != EMIT_CUDA)))
		usage_error("`--explain-schedule` prints how target cuda uses the GPU, and goes with no other target "
			"and no other `--emit`");
	if (o->emit == EMIT_PLACED && !has_layouts(u))
		usage_error("`--emit=placed` prints what target cuda places on threads, and goes with no other target");
	if (o->report && (!has_layouts(u) || (o->emit != EMIT_ALL && o->emit != EMIT_CUDA)))
		usage_error("`--report` counts what target cuda does, and goes with no other target and no other `--emit`");
	u->eo = (EmitOptions){ .version = str_intern(CTILEC_VERSION), .ns = o->ns ? str_intern(o->ns) : NULL,
		.line = o->line, .abs_path = mapped_absolute, .checked = o->checked, .opt = o->level };
	if (o->tile_arch && u->target != TARGET_CUDA) usage_error("`--tile-arch` is for `--target=cuda`");
	if (has_layouts(u))
		read_arches(&u->eo.archs, "--arch", o->arch ? o->arch : u->target == TARGET_SIM ? "sm_80" : DEFAULT_ARCH,
			false);
	else if (u->target == TARGET_TILE && o->arch)  /* only to refuse what one of them cannot do */
		read_arches(&u->eo.archs, "--arch", o->arch, false);
	if (o->tile_arch) read_arches(&u->eo.tile_archs, "--tile-arch", o->tile_arch, true);
	u->eo.tile_version = tile_version(o->tile_version);
	if (u->target == TARGET_SIM && u->eo.archs.n > 1)
		usage_error("`--target=sim` runs kernels as for one architecture");
	u->printed = out_new();
	name_files(u);
}

static void check_pass_name(const char *option, const char *name)
{
	Out *names = out_new();
	for (const PassRow *p = pass_rows; p->name; p++) out_printf(names, "%s%s", p == pass_rows ? "" : " ", p->name);
	options_word(option, name, names->p);
}

static void check_without(const Options *o)
{
	Out *names = out_new();
	for (const PassRow *p = pass_rows; p->name; p++)
		if (p->level) out_printf(names, "%s%s", names->n ? " " : "", p->name);
	for (int i = 0; i < o->without.n; i++) options_word("--without-pass", o->without.p[i], names->p);
}

/* ---- reading ---- */
static Src *read_input(const Unit *u)
{
	const Options *o = u->opt;
	size_t n;
	const char *why = NULL;
	bool from_stdin = strcmp(o->input, "-") == 0;
	Str shown = str_intern(!from_stdin ? o->input : o->stdin_name ? o->stdin_name : "<stdin>");
	char *text = src_read(o->input, &n, &why);
	if (text) return src_add(shown, text, n);
	diag(D_FILE_READ, ((Span){ 0, 0 }), shown, why);
	return NULL;
}

static bool is_ir(const char *path)
{
	size_t n = strlen(path);
	return n > 3 && (strcmp(path + n - 3, ".ir") == 0 || (n > 4 && strcmp(path + n - 4, ".tir") == 0));
}

static bool arch_known(Str name)
{
	for (int i = 0; i < arch_count; i++)
		if (strcmp(arch_rows[i].name, name) == 0) return true;
	return false;
}

static SemaOptions sema_options(const Unit *u)
{
	const Options *o = u->opt;
	SemaOptions s = { .tune_path = o->tune ? str_intern(o->tune) : NULL, .arch_known = arch_known,
		.checked = o->checked };
	s.program = !o->check && !u->only_print;
	if (has_layouts(u)) s.least_arch = u->eo.archs.p[0]->number;
	for (int i = 0; i < o->defines.n; i++) {
		SemaDefine d = { o->defines.p[i].name, str_intern(o->defines.p[i].value) };
		vec_push(A_UNIT, &s.defines, d);
	}
	for (int i = 0; i < o->include.n; i++) vec_push(A_UNIT, &s.import_dirs, str_intern(o->include.p[i]));
	Str lib = path_stdlib();
	if (lib) {
		src_prefix_map_first(lib, "stdlib");
		vec_push(A_UNIT, &s.import_dirs, lib);
	}
	return s;
}

/* ---- printing one thing ---- */
static void print_types(Out *o, const TypeNoteVec *v)
{
	Str fn = NULL;
	for (int i = 0; i < v->n; i++) {
		const TypeNote *t = &v->p[i];
		Place p = src_place(t->span.lo);
		if (t->fn != fn) out_printf(o, "%s%s:\n", i ? "\n" : "", t->fn);
		fn = t->fn;
		out_printf(o, "  %s:%u:%u: %s: %s\n", p.src ? shown(src_mapped(p.src->path)) : "?", (unsigned)p.line,
			(unsigned)p.col, t->name, t->type);
	}
}

static void print_params(Out *o, const Options *opt, const Ast *a)
{
	for (int i = 0; i < a->items.n; i++) {
		const Item *it = a->items.p[i];
		if (it->kind != IT_PARAM) continue;
		const char *set = NULL;
		for (int k = 0; k < opt->defines.n; k++)
			if (opt->defines.p[k].name == it->name.s) set = opt->defines.p[k].value;
		out_printf(o, "%s: ", it->name.s);
		ast_print_expr(o, it->u.constant.type);
		out_puts(o, " = ");
		if (set) out_puts(o, set);
		else ast_print_expr(o, it->u.constant.value);
		out_puts(o, "\n");
	}
}

/* ---- passes ---- */
static bool after_pass(void *ctx, const char *pass, int arch, const Module *m)
{
	Unit *u = ctx;
	if (u->opt->time_report) step_done(u, arch ? str_fmt("%s sm_%d", pass, arch) : pass);
	for (int i = 0; i < u->opt->dump_after.n; i++) {
		if (strcmp(u->opt->dump_after.p[i], pass) != 0) continue;
		Out *o = out_new();
		ir_print(o, m);
		fprintf(stderr, "// after %s%s\n", pass, arch ? str_fmt(", sm_%d", arch) : "");
		fwrite(o->p, 1, o->n, stderr);
	}
	if (!u->opt->stop_after || strcmp(u->opt->stop_after, pass) != 0) return true;
	ir_print(u->printed, m);
	return false;
}

static LowerOptions lower_options(Unit *u)
{
	bool watched = u->opt->dump_after.n || u->opt->stop_after;
	LowerOptions lo = { .level = u->opt->level, .checked = u->opt->checked, .after = after_pass, .ctx = u,
		.whole = watched, .by_threads = has_layouts(u), .planned = u->planned, .versions = u->opt->versions };
	if (u->target == TARGET_TILE) lo.accumulator = tile_accumulator(&u->eo.archs);
	for (int i = 0; i < u->eo.archs.n; i++)
		lo.roles |= u->eo.archs.p[i]->number == 90 && u->eo.archs.p[i]->specific;
	for (int i = 0; pass_rows[i].name; i++)
		for (int k = 0; k < u->opt->without.n; k++)
			if (!strcmp(u->opt->without.p[k], pass_rows[i].name)) lo.without |= (uint64_t)1 << i;
	return lo;
}

static bool is_placed(const Module *m) { return m->versions.n || (m->fns.n && m->fns.p[0]->stage == STAGE_PLACED); }

static void set_archs(Unit *u, Module *m)
{
	m->archs.n = 0;
	for (int i = 0; i < u->eo.archs.n; i++)
		vec_push(A_UNIT, &m->archs, ((IrArch){ u->eo.archs.p[i]->number, u->eo.archs.p[i]->specific }));
}

static const ArchRow *arch_row(int number, bool specific)
{
	return arch_by_name(str_fmt("sm_%d%s", number, specific ? "a" : ""));
}

/* Versions that are read serve the architectures that they name; so does a kernel that is read as a
 * placed one, in its only version. */
static bool already_placed(Unit *u, Module *m)
{
	LowerOptions lo = lower_options(u);
	u->eo.archs.n = 0;
	for (int i = 0; i < m->archs.n; i++) add_arch(&u->eo.archs, arch_row(m->archs.p[i].number, m->archs.p[i].specific));
	if (m->versions.n) return true;
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		const ArchRow *row = arch_row(fn->arch, fn->specific);
		if (fn->stage != STAGE_PLACED || !row || (i && row != u->eo.archs.p[0])) {
			diag_flush(stderr);
			usage_error("kernel `%s` of `%s` is placed for `sm_%d%s`: all kernels of a file are placed "
				"for one architecture", fn->name, u->opt->input, fn->arch, fn->specific ? "a" : "");
		}
		add_arch(&u->eo.archs, row);
		vec_push(A_UNIT, &m->versions, ((Version){ .of = fn, .name = str_intern(""), .guard = sym_const(1), .archs = 1,
			.fn = fn }));
	}
	set_archs(u, m);
	return lower_finish(m, &lo);
}

/* Makes the versions of m, where the target has them. */
static bool place_all(Unit *u, Module *m)
{
	LowerOptions lo = lower_options(u);
	if (!has_layouts(u)) return true;
	if (is_placed(m)) return already_placed(u, m);
	set_archs(u, m);
	if (!lower_place(m, &lo)) return false;
	if (u->target == TARGET_CUDA) lower_hints(m);
	return true;
}

/* ---- writing ---- */
static bool write_failed(const char *path, const char *why)
{
	file_discard();
	bool std = strcmp(path, "-") == 0;
	if (std && strcmp(why, sys_error(EPIPE)) == 0) return false;    /* `| head`: whoever read has enough */
	fprintf(stderr, "ctilec: error: cannot write %s%s%s: %s\n", std ? "" : "`", std ? "standard output" : shown(path),
		std ? "" : "`", why);
	return false;
}

static bool stage(const Out *o, Str path, FileMode mode)
{
	const char *why = NULL;
	return !path || file_stage(o, path, mode, &why) || write_failed(path, why);
}

static bool commit(void)
{
	const char *why = NULL, *path = NULL;
	return file_commit(&why, &path) || write_failed(path, why);
}

static bool stage_depfile(const Unit *u)
{
	const Options *o = u->opt;
	TextVec targets = { 0 }, deps = { 0 };
	Out *out = out_new();
	Unit full = *u;         /* the rule names the files of a full run, also with --check and -M */
	Options plain = *o;
	if (!u->depfile) return true;
	plain.check = false;
	plain.dep_only = false;
	full.opt = &plain;
	full.only_print = u->only_print && !o->dep_only;
	full.header = NULL;
	if (o->dep_only && o->output) plain.output = NULL;      /* -M -o FILE: FILE is the rule itself */
	name_files(&full);
	for (int i = 0; i < o->dep_targets.n; i++) vec_push(A_UNIT, &targets, o->dep_targets.p[i]);
	if (!targets.n) {
		bool std = strcmp(full.output, "-") == 0;
		vec_push(A_UNIT, &targets, std ? full.named : full.output);
		if (full.header) vec_push(A_UNIT, &targets, full.header);
	}
	bool from_stdin = strcmp(o->input, "-") == 0;           /* the first source; no file, whatever it is called */
	for (int i = from_stdin; i < src_count(); i++)
		if (src_at(i)->path[0] != '<') vec_push(A_UNIT, &deps, src_at(i)->path);
	for (int i = 0; i < targets.n + deps.n; i++) {
		bool target = i < targets.n, phony = o->dep_phony && i > targets.n;
		const char *name = target ? targets.p[i] : deps.p[i - targets.n];
		if ((target && o->dep_targets.n) || depfile_can_name(name, target || phony)) continue;
		fprintf(stderr, "ctilec: error: `%s` cannot stand in a make rule%s\n", shown(name),
			target ? "; name another target with -MT" : "");
		file_discard();
		return false;
	}
	depfile_print(out, targets.n, targets.p, o->dep_targets.n > 0, deps.n, deps.p, o->dep_phony);
	return stage(out, u->depfile, FILE_REWRITE);
}

static void list_outputs(const Unit *u, Out *o)
{
	Str all[] = { u->opt->dep_only ? NULL : u->output, u->opt->dep_only ? NULL : u->header, u->depfile };
	for (int i = 0; i < 3; i++)
		if (all[i]) out_printf(o, "%s\n", all[i]);
}

/* Nothing that is written is read, or written a second time. Asked before anything is written, once
 * all that is read is known. */
static void check_outputs(const Unit *u)
{
	const Options *o = u->opt;
	OutputVec v = { 0 };
	if (u->output && !o->dep_only)
		vec_push(A_UNIT, &v, ((Output){ u->only_print ? "the output" : "the program", u->output }));
	if (u->header && !o->dep_only) vec_push(A_UNIT, &v, ((Output){ "the header", u->header }));
	if (u->depfile) vec_push(A_UNIT, &v, ((Output){ "the make rule", u->depfile }));
	if (o->save_repro) vec_push(A_UNIT, &v, ((Output){ "the repro file", repro_path(o) }));
	outputs_check(o, &v);
}

/* ---- the pipeline ---- */
static bool print_and_stop(Unit *u)
{
	return diag_errors() == 0 && stage(u->printed, u->output, FILE_REWRITE) && stage_depfile(u) && commit();
}

/* ---- one function of the program ---- */
static bool keep_variant(HostVec *body, Str name)
{
	bool found = false;
	for (int i = 0; i < body->n; i++) {
		HostStmt *h = body->p[i];
		for (int k = 0; h->kind == HOST_LAUNCH && k < h->u.launch.variants.n && !found; k++) {
			if (h->u.launch.variants.p[k].fn->name != name) continue;
			h->u.launch.variants.p[0] = h->u.launch.variants.p[k];
			h->u.launch.variants.n = 1;
			h->u.launch.rules.n = 0;
			found = true;
		}
	}
	return found;
}

static bool launches(const HostVec *body, const Fn *fn)
{
	bool found = false;
	for (int i = 0; i < body->n && !found; i++) {
		const HostStmt *h = body->p[i];
		if (h->kind == HOST_IF) found = launches(&h->u.ifs.then, fn) || launches(&h->u.ifs.other, fn);
		for (int k = 0; h->kind == HOST_LAUNCH && k < h->u.launch.variants.n; k++)
			found |= h->u.launch.variants.p[k].fn == fn;
	}
	return found;
}

static void keep_entry(const Options *o, Module *m)
{
	int n = 0;
	for (int i = 0; i < m->entries.n; i++)
		if (m->entries.p[i]->name == o->entry) m->entries.p[n++] = m->entries.p[i];
	if (!n || (o->variant && !keep_variant(&m->entries.p[0]->body, o->variant))) {
		diag_flush(stderr);
		usage_error("`--entry`: the program has no function `%s`%s%s", o->entry, n ? " with a variant " : "",
			n ? o->variant : "");
	}
	m->entries.n = 1;
	for (int i = n = 0; i < m->fns.n; i++)
		if (launches(&m->entries.p[0]->body, m->fns.p[i])) m->fns.p[n++] = m->fns.p[i];
	m->fns.n = n;
}

/* Plans that options pin. */
static void pin_plans(const Unit *u, Module *m)
{
	const Options *o = u->opt;
	for (int i = 0; i < o->plans.n; i++) {
		bool found = false;
		for (int k = 0; k < m->fns.n; k++) {
			Fn *fn = m->fns.p[k];
			if (fn->name != o->plans.p[i].kernel && fn->source_name != o->plans.p[i].kernel) continue;
			found = true;
			plan_pin(fn, o->plans.p[i].id, fn->span);
		}
		if (found) continue;
		diag_flush(stderr);
		usage_error("`--plan`: no kernel that is launched has the name `%s`", o->plans.p[i].kernel);
	}
}

static Module *front(Unit *u, Src *src, bool *stop)
{
	const Options *o = u->opt;
	SemaOptions so = sema_options(u);
	TypeNoteVec types = { 0 };
	*stop = true;
	if (o->emit == EMIT_TOKENS) {
		lex_dump(u->printed, src);
		return NULL;
	}
	Module *m;
	if (is_ir(o->input)) {
		m = ir_read(src);
		step_done(u, "read");
	} else {
		Ast *ast = parse_file(src);
		step_done(u, "parse");
		if (o->emit == EMIT_AST && diag_errors() == 0) ast_print(u->printed, ast);
		if (o->print_params) print_params(u->printed, o, ast);
		if (o->emit == EMIT_AST || (o->print_params && !o->defines.n)) return NULL;
		m = sema_check(ast, &so, o->emit == EMIT_TYPES ? &types : NULL);
		step_done(u, "check");
		if (o->print_params) return NULL;
	}
	if (!m || diag_errors()) return NULL;
	if (o->entry) keep_entry(o, m);
	pin_plans(u, m);
	if (has_layouts(u) && !is_placed(m)) lower_pins(m);
	if (o->emit == EMIT_TYPES) print_types(u->printed, &types);
	if (o->emit == EMIT_IR) ir_print(u->printed, m);
	if (o->emit == EMIT_MANIFEST) manifest_print(u->printed, m);
	*stop = o->emit == EMIT_TYPES || o->emit == EMIT_IR || o->emit == EMIT_MANIFEST || o->dep_only;
	return m;
}

/* Programs add the header's folder to their include path, where it would be found before the system's. */
static void warn_header_name(const Unit *u, const Src *src)
{
	Str name = u->header ? path_base(u->header) : NULL;
	if (!name || !path_is_system_header(name)) return;
	Str other = str_fmt("%.*s_kernels.h", (int)(strlen(name) - 2), name);
	Diag *d = diag(D_HEADER_NAME, ((Span){ src->base, src->base }), name);
	diag_help(d, "name the header otherwise, `--header=%s`, or the file", other);
}

static void warn_entry_names(const Module *m)
{
	for (int i = 0; m && i < m->entries.n; i++) {
		const Entry *e = m->entries.p[i];
		if (name_entry(e->name) == e->name) continue;
		Diag *d = diag(D_ENTRY_RENAMED, e->span, e->name, name_entry(e->name));
		diag_help(d, "a name that neither C nor CUDA has, nor begins with an underscore, stays as it is");
	}
}

/* The kernels as tile kernels, for the architectures that they serve. They are lowered from what was read. */
static bool make_beside(Unit *u, const Module *m, Beside *beside)
{
	LowerOptions lo = lower_options(u);
	Module *copy = lower_copy(m);
	lo.by_threads = false;
	lo.accumulator = tile_accumulator(&u->eo.tile_archs);
	lo.after = NULL;        /* passes that are watched are those of the file's own kernels */
	if (!lower_typed(copy, &lo)) return false;
	*beside = tile_beside(copy, &u->eo);
	return diag_errors() == 0;
}

/* Kernels are placed as they are printed, each into the memory of the one before it, where
 * nobody looks at all of them. */
static bool places_next(const Unit *u, const Module *m)
{
	return u->target == TARGET_CUDA && !is_placed(m) && !lower_options((Unit *)u).whole;
}

static bool place_next(void *ctx, Module *m, int i)
{
	LowerOptions lo = lower_options(ctx);
	step_done(ctx, "emit");         /* of the kernel before */
	return lower_place_next(m, i, &lo);
}

static void print_cuda(Unit *u, Out *o, Module *m, const Beside *beside)
{
	Placer placer = { place_next, u };
	bool next = places_next(u, m);
	if (next) set_archs(u, m);
	emit_cuda(o, m, &u->eo, beside, next ? &placer : NULL);
	if (next) lower_hints(m);
}

static void print_program(Unit *u, Out *o, Module *m, const Beside *beside)
{
	switch (u->target) {
	case TARGET_CUDA: print_cuda(u, o, m, beside); break;
	case TARGET_C: emit_c(o, m, &u->eo); break;
	case TARGET_TILE: emit_tile(o, m, &u->eo); break;
	case TARGET_SIM: sim_program(o, m, &u->eo); break;
	case TARGET_COUNT: bug("no target");
	}
}

static bool back(Unit *u, Module *m)
{
	const Options *o = u->opt;
	Planned planned = { .extents = NULL };
	for (int i = 0; o->explain_schedule && i < u->eo.archs.n; i++)
		vec_push(A_UNIT, &planned.archs, u->eo.archs.p[i]->number);
	u->planned = &planned;
	LowerOptions lo = lower_options(u);
	Out *program = out_new(), *header = out_new();
	bool tiles = u->eo.tile_archs.n && o->emit != EMIT_HEADER;
	Beside beside;
	if (is_placed(m) && (!has_layouts(u) || tiles))
		usage_error("placed kernels are for targets `cuda` and `sim`, without `--tile-arch`");
	if (has_layouts(u) && !is_placed(m) && o->level) lower_collapse(m), lower_single_trips(m);
	if (tiles && !make_beside(u, m, &beside)) return false;
	if (!is_placed(m) && !lower_typed(m, &lo)) return o->stop_after && print_and_stop(u);
	bool header_only = o->emit == EMIT_HEADER && !o->stop_after,
		shown = o->emit == EMIT_PLACED || o->explain_schedule || o->report;
	if (!header_only && (shown || !places_next(u, m)) && !place_all(u, m)) return o->stop_after && print_and_stop(u);
	if (o->stop_after) {
		diag_flush(stderr);
		usage_error("pass `%s` does not run here: target `%s`, -O%d", o->stop_after, target_rows[u->target].name,
			o->level);
	}
	if (o->emit == EMIT_PLACED) {
		ir_print_complete(u->printed, m);
		return print_and_stop(u);
	}
	if (o->explain_schedule) {
		cuda_schedule(u->printed, m, &u->eo);
		plans_print(u->printed, m, u->planned);
		return print_and_stop(u);
	}
	if (o->report) {
		Str wrong = sim_report_wrong(m, o->report_sizes);
		if (wrong) {
			diag_flush(stderr);
			usage_error("`--report`: %s", wrong);
		}
		bool sound = sim_report(u->printed, m, &u->eo, o->report_sizes);
		return print_and_stop(u) && sound;
	}
	if (o->emit != EMIT_HEADER) print_program(u, program, m, tiles ? &beside : NULL);
	if (u->header || o->emit == EMIT_HEADER) emit_header(header, m, &u->eo);
	step_done(u, "emit");
	if (diag_errors()) return false;
	bool ok = stage(o->emit == EMIT_HEADER ? header : program, u->output, FILE_REWRITE) &&
		stage(header, u->header, FILE_KEEP_IF_SAME) && stage_depfile(u) && commit();
	step_done(u, "write");
	return ok;
}

static bool run(Unit *u)
{
	const Options *o = u->opt;
	bool stop;
	set_up(u);
	for (int i = 0; i < o->dump_after.n; i++) check_pass_name("--dump-after", o->dump_after.p[i]);
	if (o->stop_after) check_pass_name("--stop-after", o->stop_after);
	check_without(o);
	if (o->list_outputs) {
		list_outputs(u, u->printed);
		return stage(u->printed, str_intern("-"), FILE_REWRITE) && commit();
	}
	check_outputs(u);
	Src *src = read_input(u);
	step_done(u, "read");
	if (!src) return false;
	Module *m = front(u, src, &stop);
	check_outputs(u);
	if (diag_errors()) return false;
	warn_header_name(u, src);
	warn_entry_names(m);
	if (diag_errors()) return false;        /* -Werror */
	if (o->dep_only) return stage_depfile(u) && commit();
	if (stop || o->check) return print_and_stop(u);
	return m && back(u, m);
}

Module *compile_read(const Options *o)
{
	Unit u = { .opt = o, .clock = now_ms() };
	bool stop;
	repro_on_bug(o);
	set_up(&u);
	Src *src = read_input(&u);
	Module *m = src ? front(&u, src, &stop) : NULL;
	diag_flush(stderr);
	return diag_errors() ? NULL : m;
}

bool compile_plans(const Options *o, Module *m, Planned *p)
{
	Unit u = { .opt = o, .clock = now_ms(), .planned = p };
	set_up(&u);
	LowerOptions lo = lower_options(&u);
	bool ok = lower_typed(m, &lo);
	diag_flush(stderr);
	return ok && !diag_errors();
}

int compile(const Options *o)
{
	Unit u = { .opt = o, .clock = now_ms() };
	repro_on_bug(o);
	bool ok = run(&u);
	if (o->save_repro) ok &= repro_save(o, NULL);
	diag_flush(stderr);
	if (o->time_report) time_report(&u);
	return ok && diag_errors() == 0 ? 0 : 1;
}
