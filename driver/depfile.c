/* Writing of dependency files that make and Ninja read alike. `\ ` is a space, `\#` a number sign, `\:` a colon, `$$` a
 * dollar; backslashes count only before these and are doubled there. What make reads otherwise, however it is
 * written, is refused: `;` begins a recipe, `=` makes a variable, `|` divides the prerequisites, `(...)` at the end is
 * a member of an archive, `%` in a target a pattern. Ninja wants the first output of the step as the first target. */
#include "driver/depfile.h"

#include <string.h>

enum { RULE_WIDTH = 100 };

bool depfile_can_name(const char *path, bool target)
{
	size_t n = strlen(path);
	for (const char *p = path; *p; p++)
		if ((unsigned char)*p < ' ' || strchr(";=|", *p) || (target && *p == '%')) return false;
	char last = n ? path[n - 1] : 0;
	return last != '\\' && last != ')' && !(target && last == '&');
}

/* One escaped name. */
static void depfile_name(Out *o, const char *path)
{
	if (*path == '~') out_puts(o, "./");    /* no home folder */
	for (const char *p = path; *p; p++) {
		if (*p == ' ' || *p == '#' || *p == ':') {
			for (const char *q = p; q > path && q[-1] == '\\'; q--) out_raw(o, "\\", 1);
			out_raw(o, "\\", 1);
		} else if (*p == '$') {
			out_raw(o, "$", 1);
		}
		out_raw(o, p, 1);
	}
}

void depfile_print(Out *o, int ntargets, const char *const *targets, bool verbatim, int ndeps, const char *const *deps,
	bool phony)
{
	for (int i = 0; i < ntargets; i++) {
		if (i) out_puts(o, " ");
		if (verbatim) out_puts(o, targets[i]);
		else depfile_name(o, targets[i]);
	}
	out_puts(o, ":");
	size_t width = o->n;
	for (int i = 0; i < ndeps; i++) {
		bool wrap = width + strlen(deps[i]) > RULE_WIDTH;
		out_puts(o, wrap ? " \\\n  " : " ");
		width = wrap ? 2 : width + 1;
		width += strlen(deps[i]);
		depfile_name(o, deps[i]);
	}
	out_puts(o, "\n");
	for (int i = 1; phony && i < ndeps; i++) {
		out_puts(o, "\n");
		depfile_name(o, deps[i]);
		out_puts(o, ":\n");
	}
}
