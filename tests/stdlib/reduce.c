/*
 * The entries of stdlib/reduce.tile, on arrays of several lengths: shorter than a block, longer, none, and
 * one with a large mean that a naive variance would lose. Reference: plain C in double precision.
 */
#include "../../samples/common/sample.h"
#include "reduce.h"

typedef int reduce_entry(const float *x, float *s, int64_t n, void *workspace, size_t bytes,
	struct CUstream_st *stream);
typedef size_t reduce_workspace(int64_t n);

static int one(const char *name, reduce_entry *entry, reduce_workspace *wanted, const float *dx, int64_t n,
	double want, double bound)
{
	size_t bytes = wanted(n);
	void *ws = dev_alloc(bytes);
	float *ds = (float *)dev_alloc(4), s = 0;
	struct check check = {0};
	char size[32];
	int status = entry(dx, ds, n, ws, bytes, NULL);

	snprintf(size, sizeof size, "n = %lld", (long long)n);
	if (status)
		return status_report(name, size, status, ctile_status_text(status));
	dev_download(&s, ds, 4);
	dev_free(ws), dev_free(ds);
	if (isnan(want) && isnan(s))
		return 0;
	check_value(&check, 0, (double)s, want, bound);
	return check_report(&check, name, size);
}

static int moments(const float *dx, int64_t n, double mean, double squares, double mass)
{
	size_t bytes = var_all_workspace(1, n);
	void *ws = dev_alloc(bytes);
	float *ds = (float *)dev_alloc(8), s[2];
	struct check check = {0};
	char size[32];
	int status = var_all_ws(dx, ds, ds + 1, 1, n, ws, bytes, NULL);

	snprintf(size, sizeof size, "n = %lld", (long long)n);
	if (status)
		return status_report("var_all", size, status, ctile_status_text(status));
	dev_download(s, ds, 8);
	dev_free(ws), dev_free(ds);
	check_value(&check, 0, (double)s[0], mean, 1e-5 * mass / (double)n);
	if (n > 1)
		check_value(&check, 1, (double)s[1], squares / (double)(n - 1),
			1e-4 * squares / (double)(n - 1) + 1e-9);
	return check_report(&check, "var_all", size);
}

static int run(int64_t n, float offset)
{
	float *x = rnd_array((size_t)n, 50), *dx;
	double sum = 0, mass = 0, max = -INFINITY, min = INFINITY, mean, squares = 0;
	int64_t i;
	int bad;

	for (i = 0; i < n; i++) {
		x[i] += offset;
		sum += (double)x[i];
		mass += fabs((double)x[i]);
		max = fmax(max, (double)x[i]);
		min = fmin(min, (double)x[i]);
	}
	mean = sum / (double)n;
	for (i = 0; i < n; i++)
		squares += ((double)x[i] - mean) * ((double)x[i] - mean);
	dx = (float *)dev_copy_of(x, (size_t)n * 4);
	bad = one("sum_all", sum_all_ws, sum_all_workspace, dx, n, sum, 1e-5 * mass);
	bad |= one("mean_all", mean_all_ws, mean_all_workspace, dx, n, mean, 1e-5 * mass / (double)n);
	bad |= one("max_all", max_all_ws, max_all_workspace, dx, n, max, 0);
	bad |= one("min_all", min_all_ws, min_all_workspace, dx, n, min, 0);
	if (n)
		bad |= moments(dx, n, mean, squares, mass);
	dev_free(dx);
	free(x);
	return bad;
}

int main(void)
{
	return run(0, 0) | run(1, 0) | run(7, 0) | run(16384, 0) | run(100003, 0)
		| run(1000, 100) | run(200000, -30);
}
