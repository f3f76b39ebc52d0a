/* libFuzzer target: the reader of the IR's text form. Whatever is read is sound, prints, and reads back to the same text.
 * Seeds: tests/ir and tests/ir/err. Memory grows with every run, so give -runs=20000 and start again with the same corpus. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *text_of(const Module *m)
{
	Out *o = out_new();
	ir_print(o, m);
	return o->p;
}

static Module *read_back(const char *text)
{
	return ir_read(src_add(str_intern("fuzz.ir"), text, strlen(text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	if (!A_UNIT) A_UNIT = arena_new();      /* kept: symbolic integers live in it for the whole run */
	if (!A_TMP) A_TMP = arena_new();
	if (!nowhere) nowhere = fopen("/dev/null", "w");
	if (memchr(data, 0, size)) return 0;
	Module *m = read_back(arena_strndup(A_UNIT, (const char *)data, size));
	if (m) {
		const char *once = text_of(m);
		Module *back = read_back(once);
		if (!back || strcmp(once, text_of(back))) {
			diag_flush(stderr);
			fputs(once, stderr);
			abort();
		}
	}
	diag_flush(nowhere);
	return 0;
}
