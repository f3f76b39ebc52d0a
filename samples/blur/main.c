/*
 * Blurs images with overlapping tiles. The weights are powers of two, so each product is exact and the
 * additions are the only roundings; the reference makes them in the same order and the result must be
 * equal.
 */
#include "../common/sample.h"
#include "blur.h"

static float pixel(const float *x, int64_t h, int64_t w, int64_t r, int64_t c)
{
	return r < 0 || r >= h || c < 0 || c >= w ? 0 : x[r * w + c];
}

static float blurred(const float *x, int64_t h, int64_t w, int64_t r, int64_t c)
{
	static const float weight[3] = {1, 2, 1};
	float s = 0;
	int i, j;

	for (i = 0; i < 3; i++)
		for (j = 0; j < 3; j++)
			s += weight[i] * weight[j] * pixel(x, h, w, r + i - 1, c + j - 1);
	return s / 16;
}

static float blurred_row(const float *x, int64_t h, int64_t w, int64_t r, int64_t c)
{
	return (pixel(x, h, w, r, c - 1) + 2 * pixel(x, h, w, r, c) + pixel(x, h, w, r, c + 1)) / 4;
}

typedef int entry(const float *x, float *y, int64_t h, int64_t w, struct CUstream_st *stream);
typedef float reference(const float *x, int64_t h, int64_t w, int64_t r, int64_t c);

static int run(const char *name, entry *blur_entry, reference *ref, int64_t h, int64_t w)
{
	size_t bytes = (size_t)(h * w) * 4;
	float *x = rnd_array((size_t)(h * w), 14), *y = (float *)host_alloc(bytes);
	float *dx = (float *)dev_copy_of(x, bytes), *dy = (float *)dev_alloc(bytes);
	struct check check = {0};
	char size[64];
	int64_t r, c;
	int bad, status = blur_entry(dx, dy, h, w, NULL);

	snprintf(size, sizeof size, "%lld x %lld", (long long)h, (long long)w);
	if (status) {
		bad = status_report(name, size, status, ctile_status_text(status));
	} else {
		dev_download(y, dy, bytes);
		for (r = 0; r < h; r++)
			for (c = 0; c < w; c++)
				check_value(&check, (size_t)(r * w + c), (double)y[r * w + c],
					(double)ref(x, h, w, r, c), 0);
		bad = check_report(&check, name, size);
	}
	dev_free(dx), dev_free(dy);
	free(x), free(y);
	return bad;
}

int main(void)
{
	static const int64_t sizes[][2] = {{1, 1}, {7, 7}, {1000, 7}, {3, 4097}, {65, 129}, {256, 256}};
	int bad = 0;
	size_t i;

	for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		bad |= run("blur", blur, blurred, sizes[i][0], sizes[i][1]);
		bad |= run("blur_rows", blur_rows, blurred_row, sizes[i][0], sizes[i][1]);
	}
	return bad;
}
