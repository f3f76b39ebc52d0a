/*
 * The entries of workspace.tile with and without workspace: what f_workspace asks for by dimensions and parameters is what f_ws takes.
 */
#include "../../samples/common/sample.h"
#include "workspace.h"

enum { N = 2560, MOST = 4 };

static float x[N];
static float *dx;

static float sum_from(int64_t lo, int64_t end)
{
	float s = 0;

	for (int64_t i = lo; i < end; i++)
		s += x[i];
	return s;
}

/* f_ws ran with f_workspace bytes and wrote `want`; others keep -1. */
static int end(const char *name, const char *how, int status, float *dy, const float *want)
{
	float got[MOST];
	struct check check = {0};

	if (status)
		return status_report(name, how, status, ctile_status_text(status));
	dev_download(got, dy, sizeof got);
	dev_free(dy);
	for (size_t i = 0; i < MOST; i++)
		check_value(&check, i, got[i], want[i], 0);
	return check_report(&check, name, how);
}

static float *fresh(void)
{
	const float none[MOST] = { -1, -1, -1, -1 };

	return (float *)dev_copy_of(none, sizeof none);
}

/* args: of f_workspace; before: arguments of f and f_ws, of which y is the result */
#define BOTH(f, sizes, args, ...) \
	do { \
		const float want[MOST] = { __VA_ARGS__ }; \
		float *y = fresh(); \
		size_t bytes = f##_workspace sizes; \
		void *ws = dev_alloc(bytes); \
		bad |= end(#f, "without workspace", f(dx, y, RAW args, NULL), y, want); \
		y = fresh(); \
		bad |= end(#f, "with workspace", f##_ws(dx, y, RAW args, ws, bytes, NULL), y, want); \
		dev_free(ws); \
	} while (0)
#define RAW(...) __VA_ARGS__

static int softmax(int32_t rows)
{
	enum { R = 3, C = 1000 };
	float in[R * C], out[R * C];
	struct check check = {0};
	size_t bytes = softmax_rows_workspace(rows, R, C);
	void *ws = dev_alloc(bytes);
	float *di, *dy;
	int status;

	for (int i = 0; i < R * C; i++)
		in[i] = (float)(i * 7 % 13) / 4, out[i] = -1;
	di = (float *)dev_copy_of(in, sizeof in), dy = (float *)dev_copy_of(out, sizeof out);
	status = softmax_rows_ws(di, dy, rows, R, C, ws, bytes, NULL);
	if (status)
		return status_report("softmax_rows", "values", status, ctile_status_text(status));
	dev_download(out, dy, sizeof out);
	for (int i = 0; i < R; i++) {
		double all = 0;
		for (int j = 0; j < C; j++)
			all += exp(in[i * C + j]);
		for (int j = 0; j < C; j++)
			check_value(&check, (size_t)(i * C + j), out[i * C + j], i < rows ? exp(in[i * C + j]) / all : -1, 1e-6);
	}
	dev_free(di), dev_free(dy), dev_free(ws);
	return check_report(&check, "softmax_rows", "values");
}

int main(void)
{
	int bad = 0;

	for (int i = 0; i < N; i++)
		x[i] = (float)(i * 7 % 5 - 1);
	dx = (float *)dev_copy_of(x, sizeof x);
	float all = sum_from(0, N);
	BOTH(tail_sum, (100, N), (100, N), sum_from(100, N), -1, -1, -1);
	BOTH(tail_sum, (N, N), (N, N), 0, -1, -1, -1);
	BOTH(tail_scaled, (2000, N), (2, 2000, N), 2 * sum_from(2000, N), -1, -1, -1);
	BOTH(copies, (3, N, 3), (3, N, 3), all, all, all, -1);
	BOTH(few, (3, N, 4), (3, N, 4), all, all, -1, -1);
	BOTH(few, (-5, N, 4), (-5, N, 4), -1, -1, -1, -1);
	BOTH(both, (0, N), (0, N), all, -1, -1, -1);
	BOTH(both, (1, N), (1, N), all, all, -1, -1);
	BOTH(defined, (N / 128), (N / 128), all, -1, -1, -1);
	BOTH(narrow, (255, 253, N, 4), (255, 253, N, 4), all, all, -1, -1);
	BOTH(begin, (33, N), (33, N), sum_from(0, 33 * 64), -1, -1, -1);
	bad |= softmax(2);
	dev_free(dx);
	return bad;
}
