/* --help: the option table as text, markdown, a manual page, or JSON. */
#include <string.h>

#include "base/json.h"
#include "base/version.h"
#include "driver/lists.h"
#include "driver/options.h"

enum { HELP_COLUMN = 26, HELP_WIDTH = 100 };

static const char about[] = "compiles kernels written with tiles to CUDA C or C";
static const char usage[] = "ctilec [tune] [OPTIONS] FILE.tile";
static const char exits[] = "Exit status: 0 success; 1 the program is wrong or a file cannot be read or written; 2 "
	"wrong options; 70 a mistake in ctilec.";
static const char more[] = "FILE `-` is standard input. @FILE reads further arguments from FILE. `ctilec explain CODE` "
	"is `--explain=CODE`. "
	"All files that are read, imports and lists included, have 64 MiB together at most. No output may be a file that "
	"is read, or another output.";

/* "-o FILE", "--header[=FILE]", "-WNAME", "--color=auto|always|never" */
static Str spelled(const OptRow *r)
{
	Out *o = out_new();
	const char *s = r->spellings;
	for (int i = 0; *s; i++) {
		size_t n = strcspn(s, " ");
		bool last = !s[n], is_long = n > 1 && s[1] == '-';
		if (i) out_puts(o, ", ");
		out_raw(o, s, n);
		if (last && r->arg != ARG_NONE) {
			const char *open = r->arg == ARG_MAYBE ? "[=" : r->arg == ARG_JOIN ? "" : is_long ? "=" : " ";
			out_puts(o, open);
			out_puts(o, r->metavar);
			if (r->arg == ARG_MAYBE) out_puts(o, "]");
		}
		s += n + (s[n] == ' ');
	}
	return out_take(o);
}

/* The sentence with the words of the option and the tables filled in. */
static Str filled(const OptRow *r)
{
	Out *o = out_new();
	for (const char *p = r->help; *p; ) {
		size_t n = 1;
		if (strncmp(p, "{targets}", n = 9) == 0) list_target_names(o);
		else if (strncmp(p, "{arches}", n = 8) == 0) list_arch_names(o);
		else if (strncmp(p, "{tile_versions}", n = 15) == 0) list_tile_versions(o);
		else out_raw(o, p, n = 1);
		p += n;
	}
	if (*r->words) {
		out_puts(o, "; ");
		out_puts(o, r->metavar);
		out_puts(o, ": ");
		for (const char *w = r->words; *w; w++) {
			if (*w == ' ') out_puts(o, ", ");
			else out_raw(o, w, 1);
		}
	}
	return out_take(o);
}

static void wrap(Out *o, const char *text, int column)
{
	int at = column;
	while (*text) {
		int n = (int)strcspn(text, " ");
		if (at > column && at + 1 + n > HELP_WIDTH) {
			out_printf(o, "\n%*s", column, "");
			at = column;
		} else if (at > column) {
			out_puts(o, " ");
			at++;
		}
		out_raw(o, text, (size_t)n);
		at += n;
		text += n + (text[n] == ' ');
	}
	out_puts(o, "\n");
}

static void help_text(Out *o)
{
	out_printf(o, "ctilec %s\n\nUsage: %s\n", about, usage);
	for (int i = 0; i < opt_nrows; i++) {
		const OptRow *r = &opt_rows[i];
		if (r->group) {
			out_printf(o, "\n%s:\n", r->group);
			continue;
		}
		Str s = spelled(r);
		out_printf(o, "  %-*s", HELP_COLUMN - 2, s);
		if ((int)str_len(s) > HELP_COLUMN - 4) out_printf(o, "\n%*s", HELP_COLUMN, "");
		wrap(o, filled(r), HELP_COLUMN);
	}
	out_puts(o, "\n");
	wrap(o, more, 0);
	wrap(o, exits, 0);
}

/* `|` would end a cell of the table. */
static void cell(Out *o, const char *s)
{
	for (; *s; s++) {
		if (*s == '|') out_puts(o, "\\|");
		else out_raw(o, s, 1);
	}
}

static void help_markdown(Out *o)
{
	out_printf(o, "# Command line\n\nWritten by `ctilec --help=markdown` from the compiler's table; do not edit.\n\n"
		"`ctilec` %s. Usage: `%s`\n", about, usage);
	for (int i = 0; i < opt_nrows; i++) {
		const OptRow *r = &opt_rows[i];
		if (r->group) {
			out_printf(o, "\n## %s\n\n| Option | Meaning |\n|---|---|\n", r->group);
			continue;
		}
		out_puts(o, "| `");
		cell(o, spelled(r));
		out_puts(o, "` | ");
		cell(o, filled(r));
		out_puts(o, " |\n");
	}
	out_printf(o, "\n%s\n\n%s\n", more, exits);
}

/* In a manual page `-` is written `\-`, a backslash `\e`; a line must not start with a dot or a quote. */
static void man_text(Out *o, const char *s)
{
	for (bool bol = true; *s; bol = *s++ == '\n') {
		if (bol && (*s == '.' || *s == '\'')) out_puts(o, "\\&");
		if (*s == '-') out_puts(o, "\\-");
		else if (*s == '\\') out_puts(o, "\\e");
		else out_raw(o, s, 1);
	}
}

static void help_man(Out *o)
{
	out_puts(o, ".TH CTILEC 1 \"\" \"ctilec " CTILEC_VERSION "\" \"User Commands\"\n.SH NAME\nctilec \\- ");
	man_text(o, about);
	out_puts(o, "\n.SH SYNOPSIS\n.B ctilec\n[OPTIONS] FILE.tile\n.SH OPTIONS\n");
	for (int i = 0; i < opt_nrows; i++) {
		const OptRow *r = &opt_rows[i];
		if (r->group) {
			out_printf(o, ".SS %s\n", r->group);
			continue;
		}
		out_puts(o, ".TP\n.B ");
		man_text(o, spelled(r));
		out_puts(o, "\n");
		man_text(o, filled(r));
		out_puts(o, "\n");
	}
	out_puts(o, ".SH ARGUMENTS\n");
	man_text(o, more);
	out_puts(o, "\n.SH EXIT STATUS\n");
	man_text(o, exits);
	out_puts(o, "\n");
}

static void json_words(Out *o, const char *list)
{
	out_puts(o, "[");
	for (int i = 0; *list; i++) {
		size_t n = strcspn(list, " ");
		if (i) out_puts(o, ", ");
		json_string(o, str_intern_n(list, n));
		list += n + (list[n] == ' ');
	}
	out_puts(o, "]");
}

static void help_json(Out *o)
{
	static const char *const kinds[] = { "none", "required", "optional", "joined" };
	const char *group = "";
	bool first = true;
	out_printf(o, "{\"name\": \"ctilec\", \"version\": \"%s\", \"options\": [", CTILEC_VERSION);
	for (int i = 0; i < opt_nrows; i++) {
		const OptRow *r = &opt_rows[i];
		if (r->group) {
			group = r->group;
			continue;
		}
		out_printf(o, "%s\n  {\"group\": \"%s\", \"spellings\": ", first ? "" : ",", group);
		first = false;
		json_words(o, r->spellings);
		out_printf(o, ", \"argument\": \"%s\", \"metavar\": \"%s\", \"words\": ", kinds[r->arg], r->metavar);
		json_words(o, r->words);
		out_puts(o, ", \"help\": ");
		json_string(o, filled(r));
		out_puts(o, "}");
	}
	out_puts(o, "\n]}\n");
}

void help_print(Out *o, const char *form)
{
	if (!form || strcmp(form, "text") == 0) help_text(o);
	else if (strcmp(form, "markdown") == 0) help_markdown(o);
	else if (strcmp(form, "man") == 0) help_man(o);
	else help_json(o);
}
