/* libFuzzer target: any bytes give a finite row of tokens whose places go forward.
 * Memory grows with every run, so give -runs=20000 and start again with the same corpus. */
#include <stdlib.h>
#include "base/diag.h"
#include "lexer/lex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static FILE *null;
	if (!null) {
		null = fopen("/dev/null", "w");
		A_UNIT = arena_new();
		A_TMP = arena_new();
		diag_options(&(DiagOptions){ .format = DIAG_RICH });
	}
	Lex l;
	Token t;
	uint32_t last = 0;
	Src *src = src_add(str_intern("fuzz.tile"), arena_strndup(A_UNIT, (const char *)data, n), n);
	for (lex_begin(&l, src), lex_token(&l, &t); t.kind != 0; lex_token(&l, &t)) {
		if (t.span.lo < last || t.span.hi <= t.span.lo || t.span.hi > src->base + src->len) abort();
		last = t.span.hi;
	}
	lex_dump(out_new(), src);
	diag_flush(null);
	return 0;
}
