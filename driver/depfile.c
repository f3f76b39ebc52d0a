/* Writing of dependency files. `\ ` is a space, `\#` a number sign, `$$` a dollar; backslashes count only in front
 * of a space or number sign and are doubled there. Ninja wants the first output of the step as the first target. */
#include "driver/depfile.h"

#include <string.h>

enum { RULE_WIDTH = 100 };

void depfile_name(Out *o, const char *path)
{
	for (const char *p = path; *p; p++) {
		if (*p == ' ' || *p == '\t' || *p == '#') {
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
