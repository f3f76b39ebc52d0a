/* Prints the functions of the C target that a text (standard input) calls, except for those named as arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "emit_c/prelude.h"

static char text[64 << 20];
static int skip_n;
static char **skip;

static void put(void *ctx, const char *s)
{
	(void)ctx;
	for (int i = 0; i < skip_n; i++) {
		char call[128];
		snprintf(call, sizeof call, " %s(", skip[i]);
		const char *at = strstr(s, call), *line = strchr(s, '{');
		if (at && (!line || at < line)) return;
	}
	fputs(s, stdout);
}

int main(int argc, char **argv)
{
	A_UNIT = arena_new();
	A_TMP = arena_new();
	skip_n = argc - 1;
	skip = argv + 1;
	size_t n = fread(text, 1, sizeof text - 1, stdin);
	text[n] = 0;
	SnipSet *s = NEW(A_UNIT, SnipSet);
	snip_init(s, &c_prelude);
	snip_use_text(s, text);
	snip_print(s, put, NULL);
	return 0;
}
