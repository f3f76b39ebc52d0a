/*
 * Sums rows. Floating sums may combine in any order, so the bound is that of every order: cols * 2^-24 *
 * sum |x|.
 */
#include "../common/sample.h"
#include "row_sum.h"

static int run(int64_t rows, int64_t cols)
{
	size_t count = (size_t)(rows * cols);
	float *x = rnd_array(count, 6), *s = (float *)host_alloc((size_t)rows * 4);
	float *dx = (float *)dev_copy_of(x, count * 4), *ds = (float *)dev_alloc((size_t)rows * 4);
	struct check check = {0};
	char size[64];
	int64_t i, j;
	int bad, status = row_sum(dx, ds, rows, cols, NULL);

	snprintf(size, sizeof size, "%lld x %lld", (long long)rows, (long long)cols);
	if (status) {
		bad = status_report("row_sum", size, status, ctile_status_text(status));
	} else {
		dev_download(s, ds, (size_t)rows * 4);
		for (i = 0; i < rows; i++) {
			double want = 0, mass = 0;

			for (j = 0; j < cols; j++) {
				want += (double)x[i * cols + j];
				mass += fabs((double)x[i * cols + j]);
			}
			check_value(&check, (size_t)i, (double)s[i], want, (double)cols * 0x1p-24 * mass);
		}
		bad = check_report(&check, "row_sum", size);
	}
	dev_free(dx), dev_free(ds);
	free(x), free(s);
	return bad;
}

int main(void)
{
	return run(1, 1) | run(7, 7) | run(1000, 1000) | run(5, 4097) | run(4097, 5) | run(3, 0);
}
