/* The program: reads the command line, does what only prints, or compiles. Exit codes: 0, 1 the program is wrong or a
 * file cannot be read or written, 2 wrong options, 70 a mistake of ours. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "base/arena.h"
#include "base/files.h"
#include "base/version.h"
#include "driver/compile.h"
#include "driver/lists.h"
#include "driver/options.h"
#include "driver/tune.h"
#include "git_id.h"

/* A closed standard stream must not be handed to the next file that is opened. The substitutes refuse what they are
 * asked to do: standard input gives nothing, the others cannot be written. */
static void hold_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) _exit(1);
}

static void print_version(Out *o, const char *form)
{
	if (form && form[0] == 's') out_puts(o, CTILEC_VERSION "\n");
	else out_puts(o, "ctilec " CTILEC_VERSION " (" CTILEC_GIT ")\n");
}

static int print_and_exit(const Options *o)
{
	Out *out = out_new();
	const char *why;
	if (o->output && o->input && file_is_same(o->output, o->input, FILE_READ))
		usage_error("the output `%s` is the input", o->output);
	switch (o->action) {
	case OPT_HELP: help_print(out, o->action_arg); break;
	case OPT_VERSION: print_version(out, o->action_arg); break;
	case OPT_EXPLAIN: list_explain(out, o->action_arg); break;
	case OPT_LIST_DIAGNOSTICS: list_diagnostics(out, o->action_arg); break;
	case OPT_LIST_OPS: list_ops(out, o->action_arg); break;
	case OPT_LIST_PASSES: list_passes(out); break;
	case OPT_PRINT_ARCH: list_arches(out); break;
	default: bug("no action");
	}
	if (file_write(out, o->output ? o->output : "-", FILE_REWRITE, &why)) return 0;
	if (!o->output && strcmp(why, sys_error(EPIPE)) == 0) return 1;         /* `| head`: whoever read has enough */
	die("cannot write %s: %s", o->output ? o->output : "standard output", why);
}

int main(int argc, char **argv)
{
	Options o;
	hold_streams();
	signal(SIGPIPE, SIG_IGN);       /* a closed pipe is an error like any other, */
	signal(SIGXFSZ, SIG_IGN);       /* and so is a file that may not grow further */
	A_UNIT = arena_new();
	A_TMP = arena_new();
	options_read(&o, argc, argv);
	if (o.action != OPT_COUNT) return print_and_exit(&o);
	return o.tune_it ? tune(&o) : compile(&o);
}
