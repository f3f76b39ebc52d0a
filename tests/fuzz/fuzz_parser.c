/* Fuzz target: any bytes give a tree or a message; what parses prints to text that parses to the same tree. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "parser/parse.h"

static void print_and_parse(const Ast *a)
{
	Out *first = out_new(), *second = out_new();
	ast_print(first, a);
	if (first->n) {         /* of comments alone no text is left, and an empty file is an error */
		const Ast *b = parse_file(fuzz_source("fuzz.tile", (const uint8_t *)first->p, first->n));
		ast_print(second, b);
		if (diag_errors() || !ast_equal(a, b) || first->n != second->n || memcmp(first->p, second->p, first->n)) abort();
	}
	out_free(first);
	out_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_begin(n);
	const Ast *a = parse_file(fuzz_source("fuzz.tile", data, n));
	if (!diag_errors()) print_and_parse(a);
	fuzz_end();
	return 0;
}
