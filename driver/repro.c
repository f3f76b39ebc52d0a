/* Repro files. Lines of `key value`; a file is `file BYTES PATH` and then its bytes and a newline, so that any content
 * fits. tools/replay.py unpacks one and runs it, and writes nowhere else whatever the file says. */
#include "driver/repro.h"

#include "base/files.h"
#include "base/show.h"
#include "base/src.h"
#include "base/version.h"
#include "driver/outputs.h"

static const Options *bug_options;

static void repro_line(Out *o, const char *key, const char *value)
{
	out_printf(o, "%s ", key);
	for (; *value; value++) {       /* one line each */
		if (*value == '\n') out_puts(o, "\\n");
		else if (*value == '\\') out_puts(o, "\\\\");
		else out_raw(o, value, 1);
	}
	out_puts(o, "\n");
}

const char *repro_path(const Options *o) { return o->repro_file ? o->repro_file : "ctilec-repro.txt"; }

bool repro_save(const Options *opt, const char *message)
{
	const char *path = repro_path(opt);
	Out *o = out_new();
	const char *why;
	out_puts(o, "ctilec-repro 1\n");
	repro_line(o, "version", CTILEC_VERSION);
	if (message) repro_line(o, "message", message);
	for (int i = 0; i < opt->all.n; i++) repro_line(o, "argument", opt->all.p[i]);
	for (int i = 0; i < src_count(); i++) {
		const Src *s = src_at(i);
		repro_line(o, str_fmt("file %u", (unsigned)s->len), s->path);
		out_raw(o, s->text, s->len);
		out_puts(o, "\n");
	}
	out_puts(o, "end\n");
	if (!file_write(o, path, FILE_REWRITE, &why)) {
		fprintf(stderr, "ctilec: error: cannot write `%s`: %s\n", shown(path), why);
		return false;
	}
	if (message) fprintf(stderr, "  inputs and options are saved in `%s`: please attach it\n", shown(path));
	return true;
}

static void save_after_bug(const char *message)
{
	if (!outputs_meet_inputs(bug_options, repro_path(bug_options))) repro_save(bug_options, message);
}

void repro_on_bug(const Options *o)
{
	bug_options = o;
	bug_hook = save_after_bug;
}
