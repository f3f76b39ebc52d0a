/* libFuzzer target: any bytes give a tree or a message; what parses prints to text that parses to the same tree.
 * Memory grows with every run, so give -runs=20000 and start again with the same corpus. */
#include <stdlib.h>
#include <string.h>
#include "base/diag.h"
#include "parser/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static Ast *parse(const char *text, size_t n)
{
	return parse_file(src_add(str_intern("fuzz.tile"), arena_strndup(A_UNIT, text, n), n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static FILE *null;
	if (!null) {
		null = fopen("/dev/null", "w");
		A_UNIT = arena_new();
		A_TMP = arena_new();
		diag_options(&(DiagOptions){ .format = DIAG_RICH });
	}
	int errors = diag_errors();
	Ast *a = parse((const char *)data, n), *b;
	if (diag_errors() == errors) {
		Out *first = out_new(), *second = out_new();
		ast_print(first, a);
		if (!first->n) return 0;        /* of comments alone no text is left, and an empty file is an error */
		b = parse(first->p, first->n);
		ast_print(second, b);
		if (diag_errors() > errors || !ast_equal(a, b) || first->n != second->n || memcmp(first->p, second->p, first->n)) abort();
	}
	diag_flush(null);
	return 0;
}
