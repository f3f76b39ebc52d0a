/* Gives the texts of a kept corpus to a fuzz target, one after the other: replay FILE. In FILE each text stands after a line with its
 * length in bytes, and before a line end. */
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
	unsigned long n;
	int count = 0;
	if (!f) {
		fprintf(stderr, "replay: cannot read %s\n", argc == 2 ? argv[1] : "without a file");
		return 1;
	}
	while (fscanf(f, "%lu", &n) == 1 && fgetc(f) == '\n') {
		uint8_t *text = malloc(n + !n);        /* of this length, so that memory checkers see its end */
		if (!text || fread(text, 1, n, f) != n || fgetc(f) != '\n') {
			fprintf(stderr, "replay: text %d of %s is cut\n", count, argv[1]);
			return 1;
		}
		fprintf(stderr, "text %d\r", count++);
		LLVMFuzzerTestOneInput(text, n);
		free(text);
	}
	fclose(f);
	printf("%d texts\n", count);
	return 0;
}
