/*
 * Layer normalisation. Bound: each of the two sums is off by at most cols * 2^-24 of the sum of its
 * magnitudes, the rest by a few units in the last place; the result is rounded once to its own type.
 */
#include "../common/sample.h"
#include "layer_norm.h"

struct arrays {
	enum elem e;
	int64_t rows, cols;
	void *x, *y, *dx, *dy;
	float *w, *b, *dw, *db;
};

static const float eps = 1e-5f;

static int launch(const struct arrays *a)
{
	if (a->e == ELEM_F32)
		return layer_norm_f32((const float *)a->dx, a->dw, a->db, (float *)a->dy, eps, a->rows, a->cols, NULL);
	return layer_norm_f16(a->dx, a->dw, a->db, a->dy, eps, a->rows, a->cols, NULL);
}

static void check_row(struct check *c, const struct arrays *a, int64_t row)
{
	size_t at = (size_t)(row * a->cols), k, n = (size_t)a->cols;
	double mean = 0, var = 0, rstd;

	for (k = 0; k < n; k++)
		mean += (double)elem_get(a->e, a->x, at + k) / (double)n;
	for (k = 0; k < n; k++) {
		double d = (double)elem_get(a->e, a->x, at + k) - mean;

		var += d * d / (double)n;
	}
	rstd = 1 / sqrt(var + (double)eps);
	for (k = 0; k < n; k++) {
		double d = (double)elem_get(a->e, a->x, at + k) - mean;
		double want = d * rstd * (double)a->w[k] + (double)a->b[k];
		double slack = ((double)n * 0x1p-24 + 1e-6) * (1 + rstd) * (1 + fabs(want));

		check_value(c, at + k, (double)elem_get(a->e, a->y, at + k), want,
			slack + elem_eps(a->e) * fabs(want) + (a->e == ELEM_F16 ? 0x1p-25 : 0));
	}
}

static int run(enum elem e, int64_t rows, int64_t cols, const char *refused_for)
{
	size_t count = (size_t)(rows * cols), bytes = count * elem_size(e), row_bytes = (size_t)cols * 4;
	struct arrays a = {.e = e, .rows = rows, .cols = cols};
	struct check check = {0};
	char size[64];
	int64_t row;
	int bad, status;

	a.x = rnd_elems(e, count, 8), a.y = host_alloc(bytes);
	a.w = rnd_array((size_t)cols, 9), a.b = rnd_array((size_t)cols, 10);
	a.dx = dev_copy_of(a.x, bytes), a.dy = dev_alloc(bytes);
	a.dw = (float *)dev_copy_of(a.w, row_bytes), a.db = (float *)dev_copy_of(a.b, row_bytes);
	status = launch(&a);
	snprintf(size, sizeof size, "%lld x %lld %s", (long long)rows, (long long)cols, elem_name(e));
	if (refused_for) {
		bad = refusal_report("layer_norm", size, status, ctile_status_text(status), refused_for);
	} else if (status) {
		bad = status_report("layer_norm", size, status, ctile_status_text(status));
	} else {
		dev_download(a.y, a.dy, bytes);
		for (row = 0; row < rows; row++)
			check_row(&check, &a, row);
		bad = check_report(&check, "layer_norm", size);
	}
	dev_free(a.dx), dev_free(a.dy), dev_free(a.dw), dev_free(a.db);
	free(a.x), free(a.y), free(a.w), free(a.b);
	return bad;
}

int main(void)
{
	int bad = 0;
	int e;

	for (e = ELEM_F32; e <= ELEM_F16; e++) {
		bad |= run((enum elem)e, 1, 1, NULL) | run((enum elem)e, 7, 7, NULL);
		bad |= run((enum elem)e, 33, 1000, NULL) | run((enum elem)e, 5, 4097, NULL);
	}
	return bad | run(ELEM_F32, 1, 8193, "cols <= BN");
}
