/*
 * Softmax of whole rows. The entry holds variants for rows of up to 16384 elements; a longer row is refused
 * by the where clause, which the status text quotes.
 */
#include "../common/softmax_check.h"
#include "softmax.h"

static int launch(enum elem e, const void *x, void *y, int64_t rows, int64_t cols)
{
	if (e == ELEM_F32)
		return softmax_f32((const float *)x, (float *)y, rows, cols, NULL);
	if (e == ELEM_F16)
		return softmax_f16(x, y, rows, cols, NULL);
	return softmax_bf16(x, y, rows, cols, NULL);
}

static int run(enum elem e, int64_t rows, int64_t cols)
{
	return softmax_run("softmax", launch, ctile_status_text, NULL, e, rows, cols);
}

int main(void)
{
	int bad = 0;
	int e;

	for (e = ELEM_F32; e <= ELEM_BF16; e++) {
		bad |= run((enum elem)e, 1, 1) | run((enum elem)e, 1000, 7) | run((enum elem)e, 7, 1000);
		bad |= run((enum elem)e, 5, 4097) | run((enum elem)e, 2, 16384);
	}
	bad |= softmax_run("softmax", launch, ctile_status_text, "cols <= BN", ELEM_F32, 1, 16385);
	return bad;
}
