/*
 * Host reference and bound shared by the two softmax samples. `launch` is the sample's own switch over
 * element types.
 */
#ifndef SAMPLES_COMMON_SOFTMAX_CHECK_H
#define SAMPLES_COMMON_SOFTMAX_CHECK_H

#include "sample.h"

typedef int softmax_launch(enum elem e, const void *x, void *y, int64_t rows, int64_t cols);

/*
 * The bound: exp and the sum in f32 are each off by at most a relative 1e-5 + cols * 2^-24, the result is
 * rounded once more to its own type (below whose normal range the error is absolute).
 */
static inline void softmax_check_row(struct check *c, enum elem e, const void *x, const void *y, int64_t row,
	int64_t cols)
{
	size_t at = (size_t)(row * cols), k;
	double max = -INFINITY, sum = 0, rel = 1e-5 + (double)cols * 0x1p-24 + elem_eps(e);

	for (k = at; k < at + (size_t)cols; k++)
		max = fmax(max, (double)elem_get(e, x, k));
	for (k = at; k < at + (size_t)cols; k++)
		sum += exp((double)elem_get(e, x, k) - max);
	for (k = at; k < at + (size_t)cols; k++) {
		double want = exp((double)elem_get(e, x, k) - max) / sum;

		check_value(c, k, (double)elem_get(e, y, k), want, rel * want + (e == ELEM_F16 ? 0x1p-25 : 1e-38));
	}
}

static inline int softmax_run(const char *name, softmax_launch *launch, const char *(*status_text)(int),
	const char *refused_for, enum elem e, int64_t rows, int64_t cols)
{
	size_t count = (size_t)(rows * cols), bytes = count * elem_size(e), i;
	void *x = rnd_elems(e, count, 7), *y = host_alloc(bytes), *dx, *dy = dev_alloc(bytes);
	struct check check = {0};
	char size[64];
	int64_t row;
	int bad, status;

	for (i = 0; i < count; i++)	/* scores from -8 to 8 */
		elem_set(e, x, i, 8 * elem_get(e, x, i));
	dx = dev_copy_of(x, bytes);
	status = launch(e, dx, dy, rows, cols);
	snprintf(size, sizeof size, "%lld x %lld %s", (long long)rows, (long long)cols, elem_name(e));
	if (refused_for) {
		bad = refusal_report(name, size, status, status_text(status), refused_for);
	} else if (status) {
		bad = status_report(name, size, status, status_text(status));
	} else {
		dev_download(y, dy, bytes);
		for (row = 0; row < rows; row++)
			softmax_check_row(&check, e, x, y, row, cols);
		bad = check_report(&check, name, size);
	}
	dev_free(dx), dev_free(dy);
	free(x), free(y);
	return bad;
}

#endif
