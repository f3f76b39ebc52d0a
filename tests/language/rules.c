/*
 * The values that the kernels of rules.tile must give, worked out here in plain C. One line for each kernel.
 */
#include "../../samples/common/sample.h"
#include "rules.h"

/* The device arrays of one test; freed together. */
static void *kept[16];
static int nkept;

static void *keep(void *p)
{
	if (nkept == 16)
		abort();
	return kept[nkept++] = p;
}

static int32_t *ints(const int32_t *host, size_t count)
{
	return (int32_t *)keep(dev_copy_of(host, count * 4));
}

static float *floats(const float *host, size_t count)
{
	return (float *)keep(dev_copy_of(host, count * 4));
}

static int finish(const char *name, const struct check *c)
{
	while (nkept)
		dev_free(kept[--nkept]);
	return check_report(c, name, "values");
}

static int end_ints(const char *name, int status, const int32_t *dev, const int32_t *want, size_t count)
{
	int32_t *got = (int32_t *)host_alloc(count * 4);
	struct check check = {0};
	size_t i;

	if (status)
		return status_report(name, "values", status, ctile_status_text(status));
	dev_download(got, dev, count * 4);
	for (i = 0; i < count; i++)
		check_value(&check, i, got[i], want[i], 0);
	free(got);
	return finish(name, &check);
}

static int end_floats(const char *name, int status, const float *dev, const float *want, size_t count,
	double bound)
{
	float *got = (float *)host_alloc(count * 4);
	struct check check = {0};
	size_t i;

	if (status)
		return status_report(name, "values", status, ctile_status_text(status));
	dev_download(got, dev, count * 4);
	for (i = 0; i < count; i++)
		check_value(&check, i, (double)got[i], (double)want[i], bound * fabs((double)want[i]));
	free(got);
	return finish(name, &check);
}

static void count_up(int32_t *x, size_t n, int32_t first)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = first + (int32_t)i;
}

/* ---- statements ---- */

static int test_collatz(void)
{
	int32_t want[100] = {0}, *d = ints(want, 100);
	int i;

	for (i = 0; i < 100; i++) {
		int64_t x = i + 1;

		for (; x != 1; want[i]++)
			x = x % 2 ? 3 * x + 1 : x / 2;
	}
	return end_ints("collatz", collatz(d, 100, NULL), d, want, 100);
}

static int test_loops(void)
{
	int32_t want[8] = {34, 3, 3, 0, 10, 1, 213, 215}, *d = ints(want, 8);
	int i, j;

	for (i = 0; i < 10; i++)
		for (j = 0; j <= i; j++)
			want[3] += (i + j) % 3 == 0;
	return end_ints("loops", loops(d, NULL), d, want, 8);
}

static int test_tuples(void)
{
	int32_t x[7] = {5, 2, -3, 0, 8, 9, 4}, want[7] = {2, 5, -3, 0, 8, 9, 4};
	int32_t *dx = ints(x, 7), *dy = ints(x, 7);

	return end_ints("tuples", tuples(dx, dy, 7, NULL), dy, want, 7);
}

/* ---- functions, literals, types ---- */

static int test_functions(void)
{
	float x[16], want[8 * 16] = {0}, *dx, *dy;
	int i;

	for (i = 0; i < 16; i++) {
		x[i] = (float)((i * 7) % 16);
		want[i] = 2 * x[i] + 1;
		want[16 + i] = 3 * x[i] + 1;
		want[32 + i] = 4 * x[i] + 5;
	}
	want[48] = 2, want[49] = 2, want[50] = 15, want[51] = 120;
	dx = floats(x, 16);
	memset(want + 52, 0, sizeof want - 52 * sizeof *want);
	dy = floats(want, 8 * 16);
	return end_floats("functions", functions(dx, dy, NULL), dy, want, 8 * 16, 0);
}

static int test_literals(void)
{
	static const int32_t want[16] = {10, 1132, 6, 6, -6, -39, 2, -56, 0, 1, 5, 12, 48, 1, 45, 0};
	int32_t zero[16] = {0}, *d = ints(zero, 16);

	return end_ints("literals", literals(d, 16, NULL), d, want, 16);
}

/* The 8-bit float of 4 exponent bits, for values that it holds: sign, exponent, 3 bits. */
static unsigned char e4m3(float x)
{
	float a = fabsf(x);
	int e = 7;

	if (a == 0)
		return signbit(x) ? 0x80 : 0;
	while (a >= 2)
		a /= 2, e++;
	while (a < 1)
		a *= 2, e--;
	return (unsigned char)((signbit(x) ? 0x80 : 0) | e << 3 | (int)((a - 1) * 8));
}

static int test_storage(void)
{
	enum { N = 17 };
	static const float x[N] = {0, 0.125f, 0.25f, 0.5f, 1, 1.5f, 2, 3, 3.5f, -0.125f, -1, -1.75f, -3, 1.75f, 2.5f,
		0.75f, -0.5f};
	struct check check = {0};
	float *dx = floats(x, N), back[N];
	uint16_t h[N];
	unsigned char e[N], b[N], raw[N];
	int32_t want_bools[N];
	void *dh = keep(dev_alloc(sizeof h)), *de = keep(dev_alloc(sizeof e));
	unsigned char *db = (unsigned char *)keep(dev_alloc(sizeof b));
	float *dback = (float *)keep(dev_alloc(sizeof back));
	int i, status = storage(dx, dh, de, db, dback, N, NULL);

	if (status)
		return status_report("storage", "values", status, ctile_status_text(status));
	dev_download(h, dh, sizeof h), dev_download(e, de, sizeof e), dev_download(b, db, sizeof b);
	dev_download(back, dback, sizeof back);
	for (i = 0; i < N; i++) {
		check_value(&check, (size_t)i, h[i], f16_from(x[i]), 0);
		check_value(&check, (size_t)i, e[i], e4m3(x[i]), 0);
		check_value(&check, (size_t)i, b[i], x[i] > 0, 0);
		/* two fraction bits: 1.75, 3.5, 2.5 and the rest all fit */
		check_value(&check, (size_t)i, (double)back[i], (double)x[i], 0);
	}
	if (finish("storage", &check))
		return 1;
	for (i = 0; i < N; i++) {	/* any non-zero byte is true */
		raw[i] = (unsigned char)(i * 37);
		want_bools[i] = raw[i] != 0;
	}
	db = (unsigned char *)keep(dev_copy_of(raw, sizeof raw));
	memset(&check, 0, sizeof check);
	{
		int32_t *dy = (int32_t *)keep(dev_alloc(sizeof want_bools));

		return end_ints("read_bools", read_bools(db, dy, N, NULL), dy, want_bools, N);
	}
}

/* ---- reductions, scans, shapes ---- */

static int test_reductions(void)
{
	float x[32], want[16] = {0}, *dx, *dy;
	int i;

	for (i = 0; i < 32; i++) {
		x[i] = (float)((i * 11) % 32) / 8;	/* a permutation of 0, 1/8 .. 31/8 */
		want[0] += x[i];
		if (x[i] == 31.0f / 8)
			want[3] = want[5] = (float)i;
	}
	dy = floats(want, 16);
	want[1] = want[0], want[4] = 31.0f / 8, want[6] = x[0] * x[1] * x[2] * x[3], want[7] = 1;
	for (i = 0; i < 4; i++) {
		float least = 100;
		int j;

		for (j = 0; j < 8; j++)
			least = fminf(least, x[8 * i + j]);
		want[2] = fmaxf(want[2], least);
	}
	memset(want + 8, 0, 8 * sizeof *want);
	{
		static const float zeros[16];

		dev_upload(dy, zeros, sizeof zeros);
	}
	dx = floats(x, 32);
	return end_floats("reductions", reductions(dx, dy, NULL), dy, want, 16, 0);
}

static int by_value(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static int test_scans(void)
{
	int32_t x[16], y[8][16], sorted[16], *dx, *dy;
	int i, sum = 0, max = -100, bits = 0, segment = 0;

	for (i = 0; i < 16; i++) {
		x[i] = (i * 13) % 17 - 5;
		y[1][i] = sum;
		y[0][i] = sum += x[i];
		y[3][i] = max = x[i] > max ? x[i] : max;
		y[4][i] = bits ^= x[i];
		y[5][i] = segment = i % 5 == 0 ? x[i] : segment + x[i];
		sorted[i] = x[i];
	}
	for (i = 15, sum = 0; i >= 0; i--)
		y[2][i] = sum += x[i];
	qsort(sorted, 16, sizeof *sorted, by_value);
	for (i = 0; i < 16; i++) {
		y[6][i] = sorted[i];
		y[7][i] = sorted[15 - i];
	}
	dx = ints(x, 16);
	dy = (int32_t *)keep(dev_alloc(sizeof y));
	return end_ints("scans", scans(dx, dy, NULL), dy, y[0], 8 * 16);
}

static int test_shapes(void)
{
	int32_t x[4][8], y[8][32], *dx, *dy;
	int i, j;

	count_up(x[0], 32, 0);
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 8; j++) {
			int k = 8 * i + j;

			y[0][j * 4 + i] = x[i][j];
			y[1][k] = x[i][7 - j];
			y[2][k] = j ? x[i][j - 1] : -1;
			y[3][k] = x[(i + 3) % 4][j];
			y[4][k] = x[i][(j + 4) % 8];
			y[5][k] = x[i][j % 2 * 4 + j / 2];
			y[6][k] = x[i][j % 4 * 2 + j / 4];
			y[7][k] = i / 2 == 1 && j / 2 == 3 ? 99 : x[i][j];
		}
	}
	dx = ints(x[0], 32);
	dy = (int32_t *)keep(dev_alloc(sizeof y));
	return end_ints("shapes", shapes(dx, dy, NULL), dy, y[0], 8 * 32);
}

/* ---- memory ---- */

static int test_views(void)
{
	static const int32_t rows[4] = {6, 0, 9, 3};
	int32_t x[8][16], y[8][16], *dx, *drows, *dy;
	const int32_t *flat = x[0];
	int k;

	count_up(x[0], 128, 1);
	for (k = 0; k < 16; k++) {
		int i = k / 4, j = k % 4;

		y[0][k] = k < 2 ? 0 : flat[k - 2];
		y[1][k] = flat[k + 4];
		y[2][k] = x[6 + k / 8][8 + k % 8];
		y[3][k] = rows[i] < 8 ? x[rows[i]][8 + j] : 0;
		y[4][k] = flat[5 + 3 * k];
		y[5][k] = x[j][8 + i];
		y[6][k] = k < 3 ? x[7][10 + k] : -7;
		y[7][k] = i == 0 || j == 3 ? 5 : x[i - 1][13 + j];
	}
	dx = ints(x[0], 128), drows = ints(rows, 4);
	dy = (int32_t *)keep(dev_alloc(sizeof y));
	return end_ints("views", views(dx, drows, dy, NULL), dy, y[0], 8 * 16);
}

static int test_stores(void)
{
	int32_t y[5][7], *dy;
	int i, j;

	count_up(y[0], 35, 100);
	dy = ints(y[0], 35);
	for (i = 0; i < 5; i++) {
		for (j = 0; j < 7; j++) {
			if (i < 2 && j < 2)
				y[i][j] = 1;
			if (i >= 4 && j >= 4)
				y[i][j] = 2;
			if (i >= 2 && i < 3 && j < 4)	/* a slice of one row */
				y[i][j] = 3;
		}
	}
	y[0][6] = 10, y[4][3] = 11;
	return end_ints("stores", stores(dy, NULL), dy, y[0], 35);
}

static int test_atomics(void)
{
	enum { N = 100 };
	int32_t x[N], y[8] = {0}, old[N], got[N], *dx, *dy, *dold;
	struct check check = {0};
	int i, status;

	for (i = 0; i < N; i++) {
		x[i] = (i * 37) % 101 - 50;
		y[0] += x[i];
		y[1] = x[i] > y[1] ? x[i] : y[1];
		y[2] = x[i] < y[2] ? x[i] : y[2];
		y[3] |= x[i];
		y[4] ^= x[i];
		old[i] = i;
	}
	y[5] = N, y[6] = 1, y[7] = N;
	dx = ints(x, N), dold = (int32_t *)keep(dev_alloc(sizeof old));
	{
		int32_t zeros[8] = {0};

		dy = ints(zeros, 8);
	}
	status = atomics(dx, dy, dold, N, NULL);
	if (status)
		return status_report("atomics", "values", status, ctile_status_text(status));
	dev_download(got, dold, sizeof got);
	qsort(got, N, sizeof *got, by_value);	/* the order is free: each old value once */
	for (i = 0; i < N; i++)
		check_value(&check, (size_t)i, got[i], old[i], 0);
	if (check.wrong)
		return check_report(&check, "atomics, old values", "");
	return end_ints("atomics", status, dy, y, 8);
}

static int test_pointers(void)
{
	enum { N = 100 };
	float x[N], want[N], *p, *q, *y;
	int i;

	for (i = 0; i < N; i++) {
		x[i] = (float)i + 0.25f;
		want[i] = x[i] / 2;
	}
	want[0] = 5;
	p = floats(x, N), q = floats(x, N), y = floats(x, N);
	return end_floats("pointers", pointers(p, q, y, N, NULL), y, want, N, 0);
}

static int test_arms(void)
{
	int32_t want[18] = {0}, *dy = ints(want, 18);
	int i;

	for (i = 0; i < 8; i++)
		want[i] = i, want[8 + i] = i * 1000000;
	want[16] = 7, want[17] = 5;
	return end_ints("arms", arms(dy, 10, NULL), dy, want, 18);
}

static int test_pads(void)
{
	enum { N = 13 };
	float x[N], want[40] = {0}, *dy = floats(want, 40), *q;
	int i;

	for (i = 0; i < N; i++)
		x[i] = (float)i + 0.5f;
	for (i = 0; i < 32; i++)
		want[i] = i < N ? x[i] : (float)(i / 8);
	want[32] = 1, want[33] = 2, want[34] = 4, want[35] = 8;
	want[36] = 4 + N, want[37] = N, want[38] = 4, want[39] = 1;
	q = floats(x, 1);
	return end_floats("pads", pads(floats(x, N), dy, q, N, NULL), dy, want, 40, 0);
}

/* ---- entries and launches ---- */

static int test_chain(int64_t n, int32_t each)
{
	int32_t *want = (int32_t *)host_alloc((size_t)n * 4), *dy = ints(want, (size_t)n);
	size_t bytes = chain_workspace(7, n);
	void *ws = keep(dev_alloc(bytes));
	int64_t i;
	int bad;

	for (i = 0; i < n; i++)
		want[i] = each;
	bad = end_ints("chain", chain_ws(dy, 7, n, ws, bytes, NULL), dy, want, (size_t)n);
	free(want);
	return bad;
}

static int test_branches(int64_t n, int32_t each)
{
	int32_t *want = (int32_t *)host_alloc((size_t)n * 4), *dy = ints(want, (size_t)n);
	size_t bytes = branches_workspace(7, n);
	void *ws = keep(dev_alloc(bytes));
	int64_t i;
	int bad;

	for (i = 0; i < n; i++)
		want[i] = each;
	bad = end_ints("branches", branches_ws(dy, 7, n, ws, bytes, NULL), dy, want, (size_t)n);
	free(want);
	return bad;
}

static int test_chain_refused(void)
{
	int32_t zero = 0, *dy = ints(&zero, 1);
	void *ws = keep(dev_alloc(4096));
	struct check none = {0};
	int status = chain_ws(dy, -1, 1, ws, 4096, NULL);
	int bad = refusal_report("chain", "v = -1", status, ctile_status_text(status), "v >= 0");

	bad |= (status = chain_ws(dy, 1, 1, NULL, 0, NULL)) == 0;
	return bad | finish("chain, refused", &none);
}

static int test_grid4(void)
{
	int32_t x[2 * 3 * 5 * 7], *dx, *dy;

	count_up(x, 210, -3);
	dx = ints(x, 210);
	dy = (int32_t *)keep(dev_alloc(sizeof x));
	return end_ints("grid4", grid4(dx, dy, 7, 5, 3, 2, NULL), dy, x, 210);
}

static int test_long_array(void)
{
	unsigned char x[1000], got[1000], *dx, *dy;
	struct check check = {0};
	int i, status;

	for (i = 0; i < 1000; i++)
		x[i] = (unsigned char)(i * 7);
	dx = (unsigned char *)keep(dev_copy_of(x, sizeof x)), dy = (unsigned char *)keep(dev_alloc(sizeof x));
	status = long_array(dx, dy, 1000, NULL);
	if (status)
		return status_report("long_array", "values", status, ctile_status_text(status));
	dev_download(got, dy, sizeof got);
	for (i = 0; i < 1000; i++)
		check_value(&check, (size_t)i, got[i], (unsigned char)(x[i] + 200), 0);
	return finish("long_array", &check);
}

static int test_layouts(void)
{
	enum { H = 11, W = 13, STEP = 3, W_PADDED = 16, H_PADDED = 16 };
	int32_t l[W][H], p[H][W_PADDED], q[W * STEP], y[W][H_PADDED], *dy;
	int i, j;

	count_up(l[0], H * W, 1000), count_up(p[0], H * W_PADDED, 100000), count_up(q, W * STEP, 1);
	memset(y, 0x55, sizeof y);
	dy = ints(y[0], W * H_PADDED);
	for (i = 0; i < H; i++)
		for (j = 0; j < W; j++)
			y[j][i] = l[j][i] + p[i][j] + q[j * STEP];
	return end_ints("layouts", layouts(ints(l[0], H * W), ints(p[0], H * W_PADDED), ints(q, W * STEP), dy, H, W,
		STEP, NULL), dy, y[0], W * H_PADDED);
}

static int test_lengths(void)
{
	enum { N = 5, R = 3, T = 2, H = 4, W = 3, PITCH = 10, V = 5 };
	int32_t x[N * 2 * R], y[T] = { 0 }, wide[H * PITCH], odd[N * 7], many[3 * T], *z;
	int32_t none[8] = { 0 };

	count_up(x, N * 2 * R, 1000), count_up(wide, H * PITCH, 1), count_up(odd, N * 7, 1), count_up(many, 3 * T, 50);
	z = ints(none, 8);
	const int32_t want[8] = { R, 100 * (N - T) + T, 3, PITCH - W, 3, many[1 + (V - 1) / 2], R, x[R] };
	return end_ints("lengths", lengths(ints(x, N * 2 * R), ints(y, T), z, ints(wide, H * PITCH), ints(odd, N * 7),
		ints(many, 3 * T), V, N, R, T, H, W, PITCH, NULL), z, want, 8);
}

static int test_find_lengths(void)
{
	enum { Q = 6, K = 3 };
	int32_t x[2 * Q + 1], s[K] = { 0 }, z[4 * K], y[4], *dy;
	int32_t none[Q * 2] = { 0 };

	count_up(x, 2 * Q + 1, 1), count_up(z, 4 * K, 200);
	dy = ints(none, Q * 2);
	y[0] = Q, y[1] = x[2 * Q], y[2] = 4, y[3] = z[4 * K - 1];
	return end_ints("find_lengths", find_lengths(ints(x, 2 * Q + 1), dy, ints(z, 4 * K), ints(s, K), Q, K, NULL), dy, y, 4);
}

int main(void)
{
	int bad = test_collatz() | test_loops() | test_tuples() | test_functions() | test_literals();

	bad |= test_storage() | test_reductions() | test_scans() | test_shapes();
	bad |= test_views() | test_stores() | test_atomics() | test_pointers() | test_arms() | test_pads();
	bad |= test_chain(5, 8) | test_chain(100, -1) | test_chain(1000, 22) | test_chain_refused();
	bad |= test_branches(50, 115) | test_branches(300, 23);
	bad |= test_lengths() | test_find_lengths();
	return bad | test_grid4() | test_long_array() | test_layouts();
}
