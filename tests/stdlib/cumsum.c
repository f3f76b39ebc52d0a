/*
 * The entries of stdlib/cumsum.tile, on rows shorter than a tile, longer, and none. Reference: plain C in double precision,
 * and wrapping integers.
 */
#include "../../samples/common/sample.h"
#include "cumsum.h"

static int floats(int64_t rows, int64_t cols)
{
	size_t n = (size_t)(rows * cols), bytes = cumsum_rows_workspace(rows, cols);
	float *x = rnd_array(n, 7), *y = (float *)host_alloc(n * 4 + 4), *dx = (float *)dev_copy_of(x, n * 4);
	float *dy = (float *)dev_alloc(n * 4 + 4);
	void *ws = dev_alloc(bytes);
	struct check check = {0};
	char size[48];
	int status = cumsum_rows_ws(dx, dy, rows, cols, ws, bytes, NULL), bad;

	snprintf(size, sizeof size, "%lld x %lld", (long long)rows, (long long)cols);
	if (status)
		return status_report("cumsum_rows", size, status, ctile_status_text(status));
	dev_download(y, dy, n * 4);
	for (int64_t i = 0; i < rows; i++) {
		double sum = 0, mass = 0;
		for (int64_t j = 0; j < cols; j++) {
			sum += (double)x[i * cols + j];
			mass += fabs((double)x[i * cols + j]);
			check_value(&check, (size_t)(i * cols + j), (double)y[i * cols + j], sum, 2e-6 * mass);
		}
	}
	bad = check_report(&check, "cumsum_rows", size);
	dev_free(ws), dev_free(dx), dev_free(dy), free(x), free(y);
	return bad;
}

static int integers(int64_t rows, int64_t cols)
{
	size_t n = (size_t)(rows * cols), bytes = cumsum_rows_i32_workspace(rows, cols);
	int32_t *x = (int32_t *)host_alloc(n * 4 + 4), *y = (int32_t *)host_alloc(n * 4 + 4), *dx, *dy = (int32_t *)dev_alloc(n * 4 + 4);
	void *ws = dev_alloc(bytes);
	struct check check = {0};
	uint64_t seed = 11;
	char size[48];
	int status, bad;

	for (size_t i = 0; i < n; i++)
		x[i] = (int32_t)rnd_u32(&seed);
	dx = (int32_t *)dev_copy_of(x, n * 4);
	status = cumsum_rows_i32_ws(dx, dy, rows, cols, ws, bytes, NULL);
	snprintf(size, sizeof size, "%lld x %lld", (long long)rows, (long long)cols);
	if (status)
		return status_report("cumsum_rows_i32", size, status, ctile_status_text(status));
	dev_download(y, dy, n * 4);
	for (int64_t i = 0; i < rows; i++) {
		uint32_t sum = 0;
		for (int64_t j = 0; j < cols; j++) {
			sum += (uint32_t)x[i * cols + j];
			check_value(&check, (size_t)(i * cols + j), (double)y[i * cols + j], (double)(int32_t)sum, 0);
		}
	}
	bad = check_report(&check, "cumsum_rows_i32", size);
	dev_free(ws), dev_free(dx), dev_free(dy), free(x), free(y);
	return bad;
}

int main(void)
{
	int bad = 0;
	static const int64_t cols[] = { 0, 1, 16383, 16384, 16385, 100003, 600000 };

	for (size_t i = 0; i < sizeof cols / sizeof *cols; i++)
		bad |= floats(1, cols[i]) | floats(3, cols[i]) | integers(2, cols[i]);
	return bad | floats(0, 5) | floats(300, 40) | integers(1, 300000);
}
