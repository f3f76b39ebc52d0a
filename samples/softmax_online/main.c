/*
 * Softmax of rows of any length: the row is read in blocks, and the last block is cut.
 */
#include "../common/softmax_check.h"
#include "softmax_online.h"

static int launch(enum elem e, const void *x, void *y, int64_t rows, int64_t cols)
{
	if (e == ELEM_F32)
		return softmax_online_f32((const float *)x, (float *)y, rows, cols, NULL);
	if (e == ELEM_F16)
		return softmax_online_f16(x, y, rows, cols, NULL);
	return softmax_online_bf16(x, y, rows, cols, NULL);
}

static int run(enum elem e, int64_t rows, int64_t cols)
{
	return softmax_run("softmax_online", launch, ctile_status_text, NULL, e, rows, cols);
}

int main(void)
{
	int bad = 0;
	int e;

	for (e = ELEM_F32; e <= ELEM_BF16; e++) {
		bad |= run((enum elem)e, 1, 1) | run((enum elem)e, 1000, 7) | run((enum elem)e, 7, 1000);
		bad |= run((enum elem)e, 5, 4097) | run((enum elem)e, 2, 100003);
	}
	return bad;
}
