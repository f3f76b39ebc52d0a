/* Fuzz target: any bytes give a finite row of tokens whose places go forward. */
#include "common.h"

#include <stdlib.h>

#include "lexer/lex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	Lex l;
	Token t;
	uint32_t last = 0;
	fuzz_begin(n);
	Src *src = fuzz_source("fuzz.tile", data, n);
	for (lex_begin(&l, src), lex_token(&l, &t); t.kind != 0; lex_token(&l, &t)) {
		if (t.span.lo < last || t.span.hi <= t.span.lo || t.span.hi > src->base + src->len) abort();
		last = t.span.hi;
	}
	Out *o = out_new();
	lex_dump(o, src);
	out_free(o);
	fuzz_end();
	return 0;
}
