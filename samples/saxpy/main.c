/*
 * y = alpha x + y. Exact: the language contracts a product and a sum in one expression to one fma, on every
 * target.
 */
#include "../common/sample.h"
#include "saxpy.h"

static int run(int64_t n, float alpha)
{
	size_t bytes = (size_t)n * sizeof(float);
	float *x = rnd_array((size_t)n, 3), *y = rnd_array((size_t)n, 4), *got = (float *)host_alloc(bytes);
	float *dx = (float *)dev_copy_of(x, bytes), *dy = (float *)dev_copy_of(y, bytes);
	struct check check = {0};
	char size[64];
	int64_t i;
	int bad, status = saxpy(alpha, dx, dy, n, NULL);

	snprintf(size, sizeof size, "n = %lld", (long long)n);
	if (status) {
		bad = status_report("saxpy", size, status, ctile_status_text(status));
	} else {
		dev_download(got, dy, bytes);
		for (i = 0; i < n; i++)
			check_value(&check, (size_t)i, got[i], fmaf(alpha, x[i], y[i]), 0);
		bad = check_report(&check, "saxpy", size);
	}
	dev_free(dx), dev_free(dy);
	free(x), free(y), free(got);
	return bad;
}

int main(void)
{
	return run(1, 2.5f) | run(7, -0.1f) | run(1000, 0.3f) | run(4097, 1.7f) | run(1000003, 3.1f);
}
