/*
 * The entries of stdlib/long_rows.tile, on rows shorter than a tile, longer, of more parts than are looked at together, and none;
 * with tiles and rows of -inf alone. Reference: plain C in double precision.
 */
#include "../../samples/common/sample.h"
#include "long_rows.h"

enum { PART = 8192 };           /* elements */
enum { SOFTMAX, RMS, LAYER };
static const char *const names[] = { "softmax_long", "rms_norm_long", "layer_norm_long" };
static const float eps = 1e-5f;

/* Row 1: nothing in its first part; row 2: nothing at all. */
static void empty_parts(float *x, int64_t rows, int64_t cols)
{
	for (int64_t i = 1; i < rows && i < 3; i++)
		for (int64_t j = 0; j < cols && (i == 2 || j < PART); j++)
			x[i * cols + j] = -INFINITY;
}

static void softmax_row(struct check *check, const float *x, const float *y, size_t at, int64_t cols)
{
	double most = -INFINITY, sum = 0;
	for (int64_t j = 0; j < cols; j++)
		most = x[j] > most ? x[j] : most;
	for (int64_t j = 0; j < cols; j++)
		sum += exp(x[j] - most);
	for (int64_t j = 0; j < cols; j++) {
		double want = exp(x[j] - most) / sum;
		if (want != want && y[j] != y[j]) continue;     /* a row of -inf alone */
		check_value(check, at + (size_t)j, (double)y[j], want, 1e-5 * want);
	}
}

/* center: layer norm, whose b is w */
static void norm_row(struct check *check, const float *x, const float *w, const float *y, size_t at, int64_t cols, int center)
{
	double mean = 0, sum = 0;
	for (int64_t j = 0; center && j < cols; j++)
		mean += (double)x[j] / (double)cols;
	for (int64_t j = 0; j < cols; j++)
		sum += (x[j] - mean) * (x[j] - mean);
	for (int64_t j = 0; j < cols; j++) {
		double want = (x[j] - mean) / sqrt(sum / (double)cols + eps) * w[j] + (center ? w[j] : 0);
		check_value(check, at + (size_t)j, (double)y[j], want, 1e-5 * (fabs(want) + fabs((double)w[j])));
	}
}

static size_t workspace(int which, int64_t rows, int64_t cols)
{
	if (which == SOFTMAX) return softmax_long_workspace(rows, cols);
	return which == RMS ? rms_norm_long_workspace(rows, cols) : layer_norm_long_workspace(rows, cols);
}

static int call(int which, const float *x, const float *w, float *y, int64_t rows, int64_t cols, void *ws, size_t bytes)
{
	if (which == SOFTMAX) return softmax_long_ws(x, y, rows, cols, ws, bytes, NULL);
	if (which == RMS) return rms_norm_long_ws(x, w, y, eps, rows, cols, ws, bytes, NULL);
	return layer_norm_long_ws(x, w, w, y, eps, rows, cols, ws, bytes, NULL);
}

static int one(int64_t rows, int64_t cols, int which)
{
	size_t n = (size_t)(rows * cols), bytes = workspace(which, rows, cols);
	float *x = rnd_array(n, 7), *w = rnd_array((size_t)cols, 9), *y = (float *)host_alloc(n * 4 + 4), *dx, *dw, *dy;
	void *ws = dev_alloc(bytes);
	struct check check = {0};
	char size[48];
	int status, bad;

	for (size_t i = 0; which == LAYER && i < n; i++)
		x[i] += 3;
	if (which == SOFTMAX) empty_parts(x, rows, cols);
	dx = (float *)dev_copy_of(x, n * 4);
	dw = (float *)dev_copy_of(w, (size_t)cols * 4);
	dy = (float *)dev_alloc(n * 4 + 4);
	snprintf(size, sizeof size, "%lld x %lld", (long long)rows, (long long)cols);
	status = call(which, dx, dw, dy, rows, cols, ws, bytes);
	if (status)
		return status_report(names[which], size, status, ctile_status_text(status));
	dev_download(y, dy, n * 4);
	for (int64_t i = 0; i < rows; i++) {
		size_t at = (size_t)(i * cols);
		if (which == SOFTMAX) softmax_row(&check, x + at, y + at, at, cols);
		else norm_row(&check, x + at, w, y + at, at, cols, which == LAYER);
	}
	bad = check_report(&check, names[which], size);
	dev_free(ws), dev_free(dx), dev_free(dw), dev_free(dy), free(x), free(w), free(y);
	return bad;
}

int main(void)
{
	int bad = 0;
	static const int64_t cols[] = { 1, 8191, 8192, 8193, 100003 };

	for (size_t i = 0; i < sizeof cols / sizeof *cols; i++)
		bad |= one(3, cols[i], SOFTMAX) | one(2, cols[i], RMS) | one(2, cols[i], LAYER);
	for (int which = SOFTMAX; which <= LAYER; which++)
		bad |= one(0, 5, which) | one(1, 129 * PART + 5, which);
	return bad;
}
