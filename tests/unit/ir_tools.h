/* What the tests of the IR share: checks that print one line when they fail, numbers that are the same in every run, text to modules
 * and back. They run from the root of the project. */
#ifndef UNIT_IR_TOOLS_H
#define UNIT_IR_TOOLS_H
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/vec.h"
#include "ir/ir.h"

static int failures;
#define CHECK(c) ((c) ? (void)0 : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #c)))
#define FAIL(...) (failures++, printf("%s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), printf("\n"))

static uint32_t seed = 12345;
static inline int rnd(int n)
{
	seed = seed * 1664525u + 1013904223u;
	return (int)((seed >> 8) % (uint32_t)n);
}

static inline Str print_module(const Module *m)
{
	Out *o = out_new();
	ir_print(o, m);
	return str_intern_n(o->p, o->n);
}

static inline Module *read_text(const char *name, const char *text)
{
	return ir_read(src_add(str_intern(name), text, strlen(text)));
}

/* What was reported, in the short form. */
static inline Str reported(void)
{
	static char buf[20000];
	FILE *f = tmpfile();
	diag_flush(f);
	rewind(f);
	size_t n = fread(buf, 1, sizeof buf, f);
	fclose(f);
	return str_intern_n(buf, n);
}

static inline const char *load(const char *dir, const char *name)
{
	size_t n;
	const char *why;
	char *text = src_read(str_fmt("%s/%s", dir, name), &n, &why);
	if (!text) FAIL("%s/%s: %s", dir, name, why);
	return text ? text : "";
}

/* Text -> IR -> text, and the module read is sound as well. */
static inline void round_trip(const Module *m, const char *what)
{
	const char *why = ir_check(m);
	if (why) {
		FAIL("%s: %s", what, why);
		return;
	}
	Str text = print_module(m);
	Module *back = read_text(what, text);
	if (!back) FAIL("%s: %s", what, reported());
	else if (print_module(back) != text) FAIL("%s: prints otherwise", what);
}

static inline void start(void)
{
	A_UNIT = arena_new();
	A_TMP = arena_new();
	diag_options(&(DiagOptions){ .format = DIAG_SHORT });
}

static inline int finish(const char *what)
{
	if (!failures) printf("%s: ok\n", what);
	return failures != 0;
}
#endif
