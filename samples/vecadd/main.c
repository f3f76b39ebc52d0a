/*
 * Adds two arrays of several lengths. The result must be exact: one addition per element, rounded once.
 */
#include "../common/sample.h"
#include "vecadd.h"

static int run(int64_t n)
{
	size_t bytes = (size_t)n * sizeof(float);
	float *a = rnd_array((size_t)n, 1), *b = rnd_array((size_t)n, 2), *c = (float *)host_alloc(bytes);
	float *da = (float *)dev_copy_of(a, bytes), *db = (float *)dev_copy_of(b, bytes);
	float *dc = (float *)dev_alloc(bytes);
	struct check check = {0};
	char size[64];
	int64_t i;
	int bad, status = vecadd(da, db, dc, n, NULL);

	snprintf(size, sizeof size, "n = %lld", (long long)n);
	if (status) {
		bad = status_report("vecadd", size, status, ctile_status_text(status));
	} else {
		dev_download(c, dc, bytes);
		for (i = 0; i < n; i++)
			check_value(&check, (size_t)i, c[i], a[i] + b[i], 0);
		bad = check_report(&check, "vecadd", size);
	}
	dev_free(da), dev_free(db), dev_free(dc);
	free(a), free(b), free(c);
	return bad;
}

int main(void)
{
	return run(0) | run(1) | run(7) | run(1000) | run(4097) | run(1000003);
}
