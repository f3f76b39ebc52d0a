/*
 * Transposes matrices of 1-, 2- and 4-byte elements. Nothing is computed, so every byte must match.
 */
#include "../common/sample.h"
#include "transpose.h"

static int launch(size_t width, const void *x, void *y, int64_t m, int64_t n)
{
	if (width == 4)
		return transpose_f32((const float *)x, (float *)y, m, n, NULL);
	if (width == 2)
		return transpose_f16(x, y, m, n, NULL);
	return transpose_u8((const unsigned char *)x, (unsigned char *)y, m, n, NULL);
}

static int run(size_t width, int64_t m, int64_t n)
{
	size_t bytes = (size_t)m * (size_t)n * width, k;
	unsigned char *x = (unsigned char *)host_alloc(bytes), *y = (unsigned char *)host_alloc(bytes);
	uint64_t seed = 5;
	void *dx, *dy = dev_alloc(bytes);
	struct check check = {0};
	char size[64];
	int64_t i, j;
	int bad, status;

	for (k = 0; k < bytes; k++)
		x[k] = (unsigned char)(rnd_u32(&seed) >> 24);
	dx = dev_copy_of(x, bytes);
	status = launch(width, dx, dy, m, n);
	snprintf(size, sizeof size, "%lld x %lld, %zu-byte elements", (long long)m, (long long)n, width);
	if (status) {
		bad = status_report("transpose", size, status, ctile_status_text(status));
	} else {
		dev_download(y, dy, bytes);
		for (i = 0; i < m; i++) {
			for (j = 0; j < n; j++) {
				size_t to = (size_t)(j * m + i) * width, from = (size_t)(i * n + j) * width;

				check_value(&check, to, memcmp(y + to, x + from, width) != 0, 0, 0);
			}
		}
		bad = check_report(&check, "transpose", size);
	}
	dev_free(dx), dev_free(dy);
	free(x), free(y);
	return bad;
}

int main(void)
{
	static const size_t widths[] = {1, 2, 4};
	int bad = 0;
	size_t k;

	for (k = 0; k < 3; k++) {
		bad |= run(widths[k], 1, 1) | run(widths[k], 7, 1000) | run(widths[k], 1000, 7);
		bad |= run(widths[k], 4097, 65) | run(widths[k], 512, 512);
	}
	return bad;
}
