/* Calls the launchers of mixed.tile with tensors that nothing reads: what is started is what cudart.c prints. */
#include <stdio.h>

#include "mixed.h"

static float x[1024] __attribute__((aligned(256))), s[64], c[4096];
static short a[2048], b[4096];  /* f16 */
static int y[256], z[256];

static void say(const char *what, int status)
{
	printf("%s: %s\n", what, ctile_status_text(status));
}

int main(void)
{
	say("row_sum", row_sum(x, s, 10, 100, NULL));
	say("row_sum again", row_sum(x, s, 10, 100, NULL));
	say("product_f16", product_f16(a, b, c, 40, 70, 32, NULL));
	say("shift", shift(y, z, 1, 256, 1, NULL));
	say("row_sum of null", row_sum(NULL, s, 10, 100, NULL));
	return 0;
}
