/* Fuzz target: a command line, an argument on each line; what stands after a form feed is a response file, which the argument `@`
 * names. Whatever it is, the compiler lists what it would write, prints what it was asked about, or ends with a sentence. */
#include "common.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "driver/compile.h"
#include "driver/lists.h"
#include "driver/options.h"

enum { ARGUMENTS = 64 };
typedef struct Line { char *arg[ARGUMENTS]; int n; } Line;

static void print_only(const Options *o)
{
	Out *out = out_new();
	switch (o->action) {
	case OPT_HELP: help_print(out, o->action_arg); break;
	case OPT_EXPLAIN: list_explain(out, o->action_arg); break;
	case OPT_LIST_DIAGNOSTICS: list_diagnostics(out, o->action_arg); break;
	case OPT_LIST_OPS: list_ops(out, o->action_arg); break;
	case OPT_LIST_PASSES: list_passes(out); break;
	case OPT_PRINT_ARCH: list_arches(out); break;
	default: break;
	}
	out_free(out);
}

static void read_line(void *ctx)
{
	Line *l = ctx;
	Options o;
	options_read(&o, l->n, l->arg);
	if (o.action != OPT_COUNT) {
		print_only(&o);
		return;
	}
	o.list_outputs = true;          /* nothing is read or written */
	o.save_repro = false;
	compile(&o);
}

static const char *response_file(const uint8_t *data, size_t n)
{
	static char path[64];
	if (!*path) snprintf(path, sizeof path, "/tmp/ctilec-fuzz-%ld.args", (long)getpid());
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) abort();
	return path;
}

static void split(Line *l, char *text, char *response)
{
	l->arg[l->n++] = (char *)"ctilec";
	for (char *p = text; p && l->n < ARGUMENTS;) {
		char *next = strchr(p, '\n');
		if (next) *next++ = 0;
		if (strcmp(p, "@") == 0 && response) l->arg[l->n++] = response;
		else if (*p != '@') l->arg[l->n++] = p;         /* no other file of this machine */
		p = next;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static Line l;
	FILE *out = stdout, *err = stderr;
	const uint8_t *more = memchr(data, '\f', n);
	const char *path = more ? response_file(more + 1, n - (size_t)(more + 1 - data)) : NULL;
	fuzz_begin(0);
	l.n = 0;
	split(&l, arena_strndup(A_UNIT, (const char *)data, more ? (size_t)(more - data) : n), path ? arena_printf(A_UNIT, "@%s", path) : NULL);
	stdout = stderr = nowhere;
	fuzz_until_exit(read_line, &l);
	file_discard();
	fuzz_end();
	stdout = out;
	stderr = err;
	if (path) unlink(path);
	return 0;
}
