/* `ctilec tune FILE`: the plans of each function that the model takes for the best, for extents that options give, are
 * built by nvcc and measured on this machine's GPU (harness.c). A table says what came out, and FILE.tune gets a line
 * for each function whose best plan is not the one that is compiled anyhow. Its part of the list changes when a
 * function is done, so what is there stays when a run is interrupted. */
#define _XOPEN_SOURCE 700
#include "driver/tune.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/proc.h"
#include "base/show.h"
#include "base/sys.h"
#include "driver/compile.h"
#include "driver/harness.h"
#include "driver/paths.h"

enum { CANDIDATES = 64, ARGS = 64, WORTH = 2 /* percent: a plan that gains less is left to the compiler */ };

typedef struct Candidate {
	const Fn *fn;           /* NULL: the function as it is compiled without a list */
	uint32_t plan;
	const char *from;       /* "best 1" */
	Cost cost;
	bool built;
	double us, low, high;   /* measured; 0: it was not */
	Str fails;
} Candidate;

typedef struct Tune {
	const Options *o;
	const char *nvcc, *self;
	Str dir, arch, device, list;
	Extents extents;
	Candidate c[CANDIDATES];
	int n;
} Tune;

static int say(const char *fmt, ...)
{
	va_list a;
	va_start(a, fmt);
	fputs("ctilec: error: ", stderr);
	vfprintf(stderr, fmt, a);
	fputs("\n", stderr);
	va_end(a);
	return 1;
}

static Str in_dir(const Tune *t, const char *name) { return str_fmt("%s/%s", t->dir, name); }
static Str numbered(const Tune *t, int i, const char *ending) { return str_fmt("%s/c%d%s", t->dir, i, ending); }

static const char *log_of(Str path)
{
	size_t n;
	const char *why;
	char *text = src_read(path, &n, &why);
	return text ? text : "";
}

static bool write_text(const Out *o, Str path)
{
	const char *why;
	return file_write(o, path, FILE_REWRITE, &why) || (say("cannot write `%s`: %s", shown(path), why), false);
}

/* ---- the device ---- */
static bool build_harness(Tune *t, const Entry *e, const char *arch)
{
	Out *o = out_new();
	harness_print(o, e, &t->extents, "c0.h");
	const char *argv[] = { t->nvcc, "-O2", "-std=c++17", str_fmt("-arch=%s", arch), "-o", in_dir(t, "harness"),
		in_dir(t, "harness.cu"),
		"-ldl", NULL };
	if (!write_text(o, in_dir(t, "harness.cu"))) return false;
	if (proc_run(argv, in_dir(t, "harness.log")) == 0) return true;
	say("nvcc does not build the program that measures:\n%s", log_of(in_dir(t, "harness.log")));
	return false;
}

/* The device's name and the most special architecture that it runs. */
static bool find_device(Tune *t)
{
	static const char text[] = "#include <cuda_runtime.h>\n#include <stdio.h>\nint main()\n{\n\tcudaDeviceProp p;\n"
		"\tcudaError_t e = cudaGetDeviceProperties(&p, 0);\n"
		"\tif (e != cudaSuccess) return printf(\"%s\\n\", cudaGetErrorString(e)), 1;\n"
		"\tprintf(\"%d %s\\n\", p.major * 10 + p.minor, p.name);\n\treturn 0;\n}\n";
	Str log = in_dir(t, "device.log"), program = in_dir(t, "device");
	const char *version[] = { t->nvcc, "--version", NULL };
	const char *build[] = { t->nvcc, "-o", program, in_dir(t, "device.cu"), NULL }, *run[] = { program, NULL };
	Out *o = out_new();
	int number, at = 0;
	out_puts(o, text);
	if (proc_run(version, log) != 0)
		return say("`ctilec tune` needs nvcc, and `%s` does not run; `--nvcc` names another", shown(t->nvcc)), false;
	if (!write_text(o, in_dir(t, "device.cu"))) return false;
	if (proc_run(build, log) != 0) return say("nvcc builds nothing here:\n%s", log_of(log)), false;
	bool runs = proc_run(run, log) == 0;
	const char *said = log_of(log);
	Str line = str_intern_n(said, strcspn(said, "\n"));
	if (!runs)
		return say("`ctilec tune` measures on this machine's GPU, and CUDA says: %s", *line ? line : "nothing"), false;
	if (sscanf(line, "%d %n", &number, &at) < 1) return say("the GPU has no name: %s", line), false;
	t->device = str_intern(line + at);
	Str plain = str_fmt("sm_%d", number), special = str_fmt("sm_%da", number);
	t->arch = t->o->arch ? str_intern(t->o->arch) : arch_by_name(special) ? special : plain;
	if (arch_by_name(t->arch)) return true;
	return say("`--arch` names one architecture, that of the GPU: `%s` is none that ctilec knows", t->arch), false;
}

/* ---- candidates ---- */
static void add_candidate(Tune *t, const Fn *fn, const Plan *p, const Cost *cost, const char *from)
{
	uint32_t id = p ? plan_id(p) : 0;
	for (int i = 0; i < t->n; i++)
		if (t->c[i].fn == fn && t->c[i].plan == id) return;
	if (t->n < CANDIDATES) t->c[t->n++] = (Candidate){ .fn = fn, .plan = id, .from = from, .cost = *cost };
}

static bool is_variant(const HostStmt *h, const Fn *fn)
{
	for (int i = 0; i < h->u.launch.variants.n; i++)
		if (h->u.launch.variants.p[i].fn == fn) return true;
	return false;
}

/* The best of all variants that take the call, by predicted time; then those that are drawn. */
static void find_candidates(Tune *t, const HostStmt *h, const Planned *p)
{
	bool taken[CANDIDATES][PLANS_KEPT] = { { false } };
	Cost none = { 0 };
	t->n = 0;
	add_candidate(t, NULL, NULL, &none, "as compiled");
	for (int k = 0; k < t->o->best; k++) {
		int best = -1, at = 0;
		for (int i = 0; i < p->fns.n && i < CANDIDATES; i++)
			for (int j = 0; j < p->fns.p[i].ranked.n && is_variant(h, p->fns.p[i].fn); j++)
				if (!taken[i][j] && (best < 0 || p->fns.p[i].cost[j].ps < p->fns.p[best].cost[at].ps)) best = i, at = j;
		if (best < 0) break;
		taken[best][at] = true;
		add_candidate(t, p->fns.p[best].fn, &p->fns.p[best].ranked.at[at].plan, &p->fns.p[best].cost[at],
			str_fmt("best %d", k + 1));
	}
	for (int i = 0; i < p->fns.n; i++)
		for (int j = 0; j < p->fns.p[i].drawn.n && is_variant(h, p->fns.p[i].fn); j++) {
			Plan d = p->fns.p[i].drawn.p[j];
			Cost c = cost_at(&p->fns.p[i].skeleton, &d, machine_of(p->fns.p[i].arch), &p->fns.p[i].asked.at[0]);
			add_candidate(t, p->fns.p[i].fn, &d, &c, "drawn");
		}
}

static const char **arguments(int n)
{
	return NEW_ARRAY(A_UNIT, const char *, n);
}

/* The compiler's own command line for a candidate. */
static const char **compile_line(const Tune *t, const Entry *e, int i)
{
	const Options *o = t->o;
	const Candidate *c = &t->c[i];
	const char **a = arguments(ARGS + 2 * (o->include.n + o->defines.n));
	int n = 0;
	a[n++] = t->self;
	a[n++] = o->input;
	a[n++] = "-w";
	a[n++] = str_fmt("--arch=%s", t->arch);
	a[n++] = str_fmt("-O%d", o->level);
	if (o->versions) a[n++] = str_fmt("--versions=%d", o->versions);
	a[n++] = c->fn ? str_fmt("--entry=%s=%s", e->name, c->fn->name) : str_fmt("--entry=%s", e->name);
	if (c->fn) a[n++] = str_fmt("--plan=%s=%s", c->fn->name, plan_id_text(c->plan));
	for (int k = 0; k < o->include.n; k++) a[n++] = str_fmt("-I%s", o->include.p[k]);
	for (int k = 0; k < o->defines.n; k++) a[n++] = str_fmt("-D%s=%s", o->defines.p[k].name, o->defines.p[k].value);
	a[n++] = str_fmt("--header=%s", numbered(t, i, ".h"));
	a[n++] = "-o";
	a[n++] = numbered(t, i, ".cu");
	a[n] = NULL;
	return a;
}

static const char **nvcc_line(const Tune *t, int i)
{
	const char **a = arguments(ARGS);
	int n = 0;
	a[n++] = t->nvcc;
	a[n++] = "-O3";
	a[n++] = str_fmt("-arch=%s", t->arch);
	a[n++] = "-Xcompiler=-fPIC";
	a[n++] = "-shared";
	a[n++] = "-o";
	a[n++] = numbered(t, i, ".so");
	a[n++] = numbered(t, i, ".cu");
	a[n] = NULL;
	return a;
}

/* The first line of what a program printed that says something. */
static Str first_line(const char *text)
{
	while (*text == '\n') text++;
	return str_intern_n(text, strcspn(text, "\n"));
}

static bool build_candidates(Tune *t, const Entry *e)
{
	Proc *p = NEW_ARRAY(A_UNIT, Proc, t->n);
	for (int step = 0; step < 2; step++) {
		int n = 0, of[CANDIDATES];
		for (int i = 0; i < t->n; i++) {
			if (t->c[i].fails) continue;
			of[n] = i;
			p[n++] = (Proc){ step ? nvcc_line(t, i) : compile_line(t, e, i), numbered(t, i, ".log"), 0 };
		}
		proc_run_all(p, n, proc_cores());
		for (int k = 0; k < n; k++)
			if (p[k].status) t->c[of[k]].fails = first_line(log_of(numbered(t, of[k], ".log")));
	}
	for (int i = 0; i < t->n; i++) t->c[i].built = !t->c[i].fails;
	if (t->c[0].built) return true;
	say("`%s` cannot be built: %s", e->name, t->c[0].fails);
	return false;
}

/* ---- measuring ---- */
static void read_line(Tune *t, const int *number, const char *line)
{
	int i, at = 0;
	double us, low, high;
	if (sscanf(line, "candidate %d takes %lf from %lf to %lf", &i, &us, &low, &high) == 4) {
		Candidate *c = &t->c[number[i]];
		c->us = us, c->low = low, c->high = high;
	} else if (sscanf(line, "candidate %d fails %n", &i, &at) == 1 && at) {
		t->c[number[i]].fails = first_line(line + at);
	}
}

static bool measure(Tune *t, const Entry *e)
{
	const char **a = arguments(CANDIDATES + 2);
	int number[CANDIDATES], n = 0;
	Str log = in_dir(t, "run.log");
	a[0] = in_dir(t, "harness");
	for (int i = 0; i < t->n; i++) {
		if (!t->c[i].built) continue;
		number[n++] = i;
		a[n] = numbered(t, i, ".so");
	}
	a[n + 1] = NULL;
	if (!build_harness(t, e, t->arch)) return false;
	int status = proc_run(a, log);
	for (const char *p = log_of(log); *p; p += strcspn(p, "\n"), p += *p == '\n') read_line(t, number, p);
	if (t->c[0].us > 0) return true;
	const char *stop = strstr(log_of(log), "stop ");
	say("`%s` was not measured (exit status %d): %s", e->name, status,
		t->c[0].fails ? t->c[0].fails : first_line(stop ? stop : log_of(log)));
	return false;
}

/* ---- what came out ---- */
static Str percent(double of, double all) { return all > 0 ? str_fmt("%.0f %%", of * 100 / all) : str_intern(""); }

static int by_time(const void *x, const void *y)
{
	const Candidate *a = x, *b = y;
	double p = a->us > 0 ? a->us : 1e30, q = b->us > 0 ? b->us : 1e30;
	return p < q ? -1 : p > q;
}

static void print_table(const Tune *t, const Entry *e, int64_t least)
{
	printf("%s:", e->name);
	for (int i = 0; i < t->extents.n; i++)
		printf("%s %s = %lld", i ? "," : "", t->extents.p[i].name, (long long)t->extents.p[i].value);
	printf(", %s, %s\n  %10s  %8s  %6s  %9s  %-11s  %-8s  plan\n", t->device, t->arch, "time", "of bound", "spread",
		"predicted", "from", "number");
	for (int i = 0; i < t->n; i++) {
		const Candidate *c = &t->c[i];
		if (c->us <= 0) continue;
		printf("  %7.2f us  %8s  %6s  %9s  %-11s  %-8s  ", c->us, percent((double)least / 1e6, c->us),
			percent(c->high - c->low, c->us),
			c->fn ? str_fmt("%.2f us", (double)c->cost.ps / 1e6) : "", c->from, c->fn ? plan_id_text(c->plan) : "");
		Plan p = { { 0 } };
		int v;
		for (int k = 0; k < PC_COUNT; k++)
			if (plan_pins(c->plan, (Coord)k, &v)) p.at[k] = (int8_t)v;
		printf("%s%s%s\n", c->fn ? c->fn->name : "the compiler's", c->fn ? ", " : "", c->fn ? plan_text(&p) : "");
	}
	for (int i = 0; i < t->n; i++)
		if (t->c[i].fails)
			printf("  not measured: %s %s: %s\n", t->c[i].from, plan_id_text(t->c[i].plan), t->c[i].fails);
	fflush(stdout);
}

/* The list without the part that begins with a name. */
static void copy_others(Out *o, const char *text, Str name)
{
	bool mine = false;
	Str head = str_fmt("[%s]", name);
	while (*text) {
		size_t n = strcspn(text, "\n") + 1;
		if (!text[n - 1]) n--;
		if (*text == '[') mine = strncmp(text, head, str_len(head)) == 0;
		if (!mine) out_raw(o, text, n);
		text += n;
	}
}

static bool write_list(const Tune *t, const Entry *e, const Candidate *best)
{
	size_t n;
	const char *why;
	char *before = src_read(t->list, &n, &why);
	Out *o = out_new();
	copy_others(o, before ? before : "", e->name);
	out_printf(o, "[%s]\n# %s, %s:", e->name, t->device, t->arch);
	for (int i = 0; i < t->extents.n; i++)
		out_printf(o, " %s = %lld", t->extents.p[i].name, (long long)t->extents.p[i].value);
	if (!best) {
		out_puts(o, "; what is compiled without a line is the fastest\n");
		return write_text(o, t->list);
	}
	out_printf(o, "; %.2f us, without the line below %.2f us\n", best->us, t->c[0].us);
	out_printf(o, "%s: * -> %s @%s\n", t->arch, best->fn->name, plan_id_text(best->plan));
	return write_text(o, t->list);
}

static bool tune_entry(Tune *t, const Entry *e, const Planned *p)
{
	const HostStmt *h = e->body.p[0];
	find_candidates(t, h, p);
	if (t->n == 1)
		return say("`%s` has no plans for this call: `--extent` gives all dimensions, and some variant takes them",
			e->name), false;
	int64_t least = t->c[1].cost.least;
	if (!build_candidates(t, e) || !measure(t, e)) return false;
	double own = t->c[0].us;
	const Candidate *best = NULL;
	for (int i = 1; i < t->n; i++) {
		const Candidate *c = &t->c[i];
		if (c->us > 0 && c->us * (100 + WORTH) < own * 100 && (!best || c->us < best->us)) best = c;
	}
	bool ok = write_list(t, e, best);
	qsort(t->c + 1, (size_t)(t->n - 1), sizeof *t->c, by_time);
	print_table(t, e, least);
	return ok;
}

static void remove_folder(const Tune *t)
{
	const char **names;
	int n = sys_folder(t->dir, &names);
	for (int i = 0; i < n; i++) unlink(in_dir(t, names[i]));
	rmdir(t->dir);
}

/* What options say that compiling a program alone needs not. */
static void set_up(Tune *t, const Options *o)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	const char *nvcc = getenv("NVCC"), *tmp = getenv("TMPDIR");
	t->self = n > 0 ? str_intern_n(exe, (size_t)n) : "ctilec";
	t->nvcc = o->nvcc ? o->nvcc : nvcc && *nvcc ? nvcc : "nvcc";
	t->list = o->output ? str_intern(o->output) : path_with_ending(o->input, ".tune");
	for (int i = 0; i < o->extents.n; i++)
		vec_push(A_UNIT, &t->extents, ((Extent){ o->extents.p[i].name, o->extents.p[i].value }));
	Str dir = str_fmt("%s/ctilec-tune-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	char *made = NEW_ARRAY(A_UNIT, char, (int)str_len(dir) + 1);
	strcpy(made, dir);
	if (!proc_folder(made)) usage_error("`tune` cannot make a folder `%s`", dir);
	t->dir = str_intern(made);
}

static bool has_extent(const Entry *e, Str name)
{
	for (int i = 0; i < e->dims.n; i++)
		if (e->dims.p[i].name == name) return true;
	for (int i = 0; i < e->params.n; i++)
		if (!e->params.p[i].is_tensor && e->params.p[i].name == name) return true;
	return false;
}

/* An extent that no function has is a slip of the pen: what was meant would be missing. */
static void check_extents(const Module *m, const Options *o)
{
	for (int i = 0; i < o->extents.n; i++) {
		bool any = false;
		for (int k = 0; k < m->entries.n && !any; k++) any = has_extent(m->entries.p[k], o->extents.p[i].name);
		if (!any) usage_error("`--extent %s`: no function has such a dimension or parameter", o->extents.p[i].name);
	}
}

int tune(const Options *o)
{
	Tune *t = NEW(A_UNIT, Tune);
	Options own = *o;
	t->o = &own;
	if (!o->input || !strcmp(o->input, "-")) usage_error("`tune` takes a file");
	if (!o->extents.n) usage_error("`tune` needs the extents of the calls that matter: `--extent n=4096`");
	own.output = NULL;
	Module *m = compile_read(&own);
	if (!m) return 1;
	check_extents(m, o);
	set_up(t, o);
	bool ok = find_device(t);
	Planned p = { .extents = &t->extents, .drawn = o->drawn };
	if (ok) {
		own.arch = t->arch;
		vec_push(A_UNIT, &p.archs, arch_by_name(t->arch)->number);
		ok = compile_plans(&own, m, &p);
	}
	bool all = ok;
	for (int i = 0; ok && i < m->entries.n; i++) {
		const char *why = harness_refuses(m->entries.p[i]);
		if (why) fprintf(stderr, "ctilec: `%s` is left as it is: %s\n", m->entries.p[i]->name, why);
		else all &= tune_entry(t, m->entries.p[i], &p);
	}
	remove_folder(t);
	return all ? 0 : 1;
}
