/*
 * Compares the functions of the standard library with plain C in double precision. A bound is stated at
 * each call: relative, plus an absolute part for results near zero. Prints one line for each function, as
 * the samples do.
 */
#include "../../samples/common/sample.h"
#include "functions.h"

enum { ROWS = 7, COLS = 45 };	/* neither divides a tile */

/* A device array with a host copy. All of them live until the end of main. */
struct array {
	size_t count;
	float *host, *dev;
};

static struct {
	void *host[256], *dev[256];
	int hosts, devs;
} kept;

static void *keep_host(void *p)
{
	if (kept.hosts == 256)
		abort();
	return kept.host[kept.hosts++] = p;
}

static void *keep_dev(void *p)
{
	if (kept.devs == 256)
		abort();
	return kept.dev[kept.devs++] = p;
}

static void free_kept(void)
{
	while (kept.hosts)
		free(kept.host[--kept.hosts]);
	while (kept.devs)
		dev_free(kept.dev[--kept.devs]);
}

static struct array input(size_t count, uint64_t seed)
{
	struct array a = {count, rnd_array(count, seed), NULL};

	keep_host(a.host);
	a.dev = (float *)keep_dev(dev_copy_of(a.host, count * 4));
	return a;
}

static struct array output(size_t count)
{
	struct array a = {count, (float *)keep_host(host_alloc(count * 4)), (float *)keep_dev(dev_alloc(count * 4))};

	return a;
}

static int failed(const char *name, int status)
{
	return status ? status_report(name, "", status, ctile_status_text(status)) : 0;
}

static int compare(const char *name, struct array *a, const double *want, double rel, double abs)
{
	struct check check = {0};
	char size[32];
	size_t i;

	dev_download(a->host, a->dev, a->count * 4);
	for (i = 0; i < a->count; i++)
		check_value(&check, i, (double)a->host[i], want[i], rel * fabs(want[i]) + abs);
	snprintf(size, sizeof size, "%zu values", a->count);
	return check_report(&check, name, size);
}

/* ---- activations ---- */

static double ref_softplus(double x)
{
	return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double ref_gelu(double x)
{
	return 0.5 * x * (1 + erf(x / sqrt(2)));
}

static double ref_activation(int which, double x)
{
	switch (which) {
	case 0: return 1 / (1 + exp(-x));
	case 1: return x / (1 + exp(-x));
	case 2: return ref_gelu(x);
	case 3: return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
	case 4: return fmax(x, 0);
	case 5: return fmax(x, 0) * fmax(x, 0);
	case 6: return x > 0 ? x : 0.125 * x;
	case 7: return x > 0 ? x : 0.75 * expm1(x);
	case 8: return ref_softplus(x);
	case 9: return x * tanh(ref_softplus(x));
	case 10: return x / (1 + exp(-x)) * (1 - x);
	case 11: return ref_gelu(x) * (1 - x);
	default: return x;
	}
}

/* Values from -8 to 8. 16-bit types: the reference takes 1 - x rounded to the type, as the kernel does. */
static int test_activations(enum elem e)
{
	enum { N = 1000 };
	static uint32_t x[N], y[13 * N];
	struct check check = {0};
	uint64_t seed = 20;
	size_t w = elem_size(e), i;
	void *dx, *dy = keep_dev(dev_alloc(13 * N * w));
	int status, k;

	for (i = 0; i < N; i++)
		elem_set(e, x, i, 8 * rnd_f32(&seed));
	dx = keep_dev(dev_copy_of(x, N * w));
	status = e == ELEM_F32 ? activations_f32((const float *)dx, (float *)dy, N, NULL)
		: e == ELEM_F16 ? activations_f16(dx, dy, N, NULL) : activations_bf16(dx, dy, N, NULL);
	if (failed("activations", status))
		return 1;
	dev_download(y, dy, 13 * N * w);
	for (k = 0; k < 13; k++) {
		for (i = 0; i < N; i++) {
			double v = (double)elem_get(e, x, i), want = ref_activation(k, v);
			/* 1 + erf cancels below zero, and the gated forms multiply what is left by 1 - x */
			double near_zero = 0.2 * (k == 10 || k == 11 ? 1 + fabs(1 - v) : 1);

			check_value(&check, (size_t)k * N + i, (double)elem_get(e, y, (size_t)k * N + i), want,
				(4 * elem_eps(e) + 2e-6) * fabs(want) + 2e-6 * near_zero + 2 * elem_eps(e) * 1e-3);
		}
	}
	return check_report(&check, "activations", elem_name(e));
}

static int test_activations_f64(void)
{
	enum { N = 1000 };
	static double x[N], y[13 * N];
	struct check check = {0};
	uint64_t seed = 20;
	double *dx, *dy = (double *)keep_dev(dev_alloc(sizeof y));
	int status, i;

	for (i = 0; i < N; i++)
		x[i] = 8 * (double)rnd_f32(&seed);
	dx = (double *)keep_dev(dev_copy_of(x, sizeof x));
	status = activations_f64(dx, dy, N, NULL);
	if (failed("activations_f64", status))
		return 1;
	dev_download(y, dy, sizeof y);
	for (i = 0; i < 13 * N; i++) {
		double want = ref_activation(i / N, x[i % N]);

		check_value(&check, (size_t)i, y[i], want, 1e-13 * (fabs(want) + 0.2));
	}
	return check_report(&check, "activations", "f64");
}

static int test_swiglu(void)
{
	struct array x = input(2 * ROWS * COLS, 21), y = output(ROWS * COLS);
	double want[ROWS * COLS];
	int i;

	for (i = 0; i < ROWS * COLS; i++) {
		const float *row = x.host + i / COLS * 2 * COLS;

		want[i] = ref_activation(1, (double)row[i % COLS]) * (double)row[COLS + i % COLS];
	}
	return failed("swiglu_rows", swiglu_f32(x.dev, y.dev, ROWS, COLS, NULL))
		|| compare("swiglu_rows", &y, want, 2e-6, 1e-7);
}

/* ---- softmax ---- */

static void ref_softmax(const float *x, double *y, int64_t n, int64_t step, int take_log)
{
	double sum = 0;
	int64_t i;

	for (i = 0; i < n; i++)
		sum += exp((double)x[i * step]);
	for (i = 0; i < n; i++)
		y[i * step] = take_log ? (double)x[i * step] - log(sum) : exp((double)x[i * step]) / sum;
}

static int test_softmax(void)
{
	struct array x = input(ROWS * COLS, 22), y = output(ROWS * COLS);
	double want[ROWS * COLS], want_log[ROWS * COLS];
	int i, bad;

	for (i = 0; i < ROWS; i++) {
		ref_softmax(x.host + i * COLS, want + i * COLS, COLS, 1, 0);
		ref_softmax(x.host + i * COLS, want_log + i * COLS, COLS, 1, 1);
	}
	bad = failed("softmax_rows", softmax_f32(x.dev, y.dev, ROWS, COLS, NULL))
		|| compare("softmax_rows", &y, want, 5e-6, 0);
	bad |= failed("log_softmax_rows", log_softmax_f32(x.dev, y.dev, ROWS, COLS, NULL))
		|| compare("log_softmax_rows", &y, want_log, 5e-6, 0);
	return bad;
}

static int test_softmax_parts(void)
{
	struct array x = input(ROWS * COLS, 23), y = output(ROWS * COLS), half = output(ROWS * COLS);
	size_t bytes = softmax_parts_workspace(ROWS, COLS);
	double want[ROWS * COLS];
	int i;

	for (i = 0; i < ROWS; i++)
		ref_softmax(x.host + i * COLS, want + i * COLS, COLS, 1, 0);
	return failed("softmax_parts_of", softmax_parts_ws(x.dev, y.dev, half.dev, ROWS, COLS, keep_dev(dev_alloc(bytes)), bytes, NULL))
		|| compare("softmax_parts_of", &y, want, 5e-6, 0) | compare("softmax_parts_of, f16", &half, want, 4e-3, 1e-6);
}

static int test_softmax_online(void)
{
	enum { N = 1000 };
	struct array x = input(ROWS * N, 23), y = output(ROWS * N);
	static double want[ROWS * N];
	int i;

	for (i = 0; i < ROWS; i++)
		ref_softmax(x.host + i * N, want + i * N, N, 1, 0);
	return failed("softmax_rows_online", softmax_online_f32(x.dev, y.dev, ROWS, N, NULL))
		|| compare("softmax_rows_online", &y, want, 2e-5, 0);
}

static int test_softmax_columns(void)
{
	struct array x = input(32 * 16, 24), y = output(32 * 16), l = output(32);
	double want[32 * 16], want_l[32];
	int i, j;

	for (i = 0; i < 16; i++)
		ref_softmax(x.host + i, want + i, 32, 16, 0);
	for (i = 0; i < 32; i++) {
		want_l[i] = 0;
		for (j = 0; j < 16; j++)
			want_l[i] += exp((double)x.host[i * 16 + j]);
		want_l[i] = log(want_l[i]);
	}
	return failed("softmax_columns", softmax_columns(x.dev, y.dev, l.dev, NULL))
		|| compare("softmax, axis 0", &y, want, 5e-6, 0) | compare("logsumexp", &l, want_l, 5e-6, 0);
}

/* ---- norms and statistics ---- */

/* Mean, and mean squared distance from it, of n numbers. */
static void moments(const float *x, int64_t n, double *mean, double *variance)
{
	int64_t i;

	*mean = *variance = 0;
	for (i = 0; i < n; i++)
		*mean += (double)x[i] / (double)n;
	for (i = 0; i < n; i++)
		*variance += ((double)x[i] - *mean) * ((double)x[i] - *mean) / (double)n;
}

static double mean_square(const float *x, int64_t n)
{
	double s = 0;
	int64_t i;

	for (i = 0; i < n; i++)
		s += (double)x[i] * (double)x[i] / (double)n;
	return s;
}

static int test_layer_norm(void)
{
	struct array x = input(ROWS * COLS, 25), w = input(COLS, 26), b = input(COLS, 27), y = output(ROWS * COLS);
	double want[ROWS * COLS], mean, var;
	int i;

	for (i = 0; i < ROWS * COLS; i++) {
		moments(x.host + i / COLS * COLS, COLS, &mean, &var);
		want[i] = ((double)x.host[i] - mean) / sqrt(var + 1e-5) * (double)w.host[i % COLS]
			+ (double)b.host[i % COLS];
	}
	return failed("layer_norm_rows", layer_norm_f32(x.dev, w.dev, b.dev, y.dev, 1e-5f, ROWS, COLS, NULL))
		|| compare("layer_norm_rows", &y, want, 5e-6, 2e-6);
}

static int test_rms_norm(void)
{
	struct array x = input(ROWS * COLS, 28), w = input(COLS, 29), r = input(ROWS * COLS, 30);
	struct array y = output(ROWS * COLS);
	double want[ROWS * COLS], want_r[ROWS * COLS];
	int i, bad;

	for (i = 0; i < ROWS * COLS; i++)
		want[i] = (double)x.host[i] / sqrt(mean_square(x.host + i / COLS * COLS, COLS) + 1e-5)
			* (double)w.host[i % COLS];
	bad = failed("rms_norm_rows", rms_norm_f32(x.dev, w.dev, y.dev, 1e-5f, ROWS, COLS, NULL))
		|| compare("rms_norm_rows", &y, want, 5e-6, 0);
	for (i = 0; i < ROWS * COLS; i++)
		want_r[i] = (double)(r.host[i] + x.host[i]);
	if (failed("add_rms_norm_rows", add_rms_norm_f32(x.dev, r.dev, w.dev, y.dev, 1e-5f, ROWS, COLS, NULL)))
		return 1;
	bad |= compare("add_rms_norm_rows, sum", &r, want_r, 0, 0);
	for (i = 0; i < ROWS * COLS; i++)
		want[i] = (double)r.host[i] / sqrt(mean_square(r.host + i / COLS * COLS, COLS) + 1e-5)
			* (double)w.host[i % COLS];
	return bad | compare("add_rms_norm_rows", &y, want, 5e-6, 0);
}

static int test_group_norm(void)
{
	enum { BATCH = 2, GROUPS = 3, CHANNELS = 5, POSITIONS = 37, GROUP = CHANNELS * POSITIONS };
	struct array x = input(BATCH * GROUPS * GROUP, 31), w = input(GROUPS * CHANNELS, 32);
	struct array b = input(GROUPS * CHANNELS, 33), y = output(BATCH * GROUPS * GROUP);
	static double want[BATCH * GROUPS * GROUP];
	double mean, var;
	int i, c;

	for (i = 0; i < BATCH * GROUPS * GROUP; i++) {
		moments(x.host + i / GROUP * GROUP, GROUP, &mean, &var);
		c = i / POSITIONS % (GROUPS * CHANNELS);
		want[i] = ((double)x.host[i] - mean) / sqrt(var + 1e-5) * (double)w.host[c] + (double)b.host[c];
	}
	return failed("group_norm_rows", group_norm_f32(x.dev, w.dev, b.dev, y.dev, 1e-5f, BATCH, GROUPS, CHANNELS,
		POSITIONS, NULL)) || compare("group_norm_rows", &y, want, 5e-6, 2e-6);
}

static int test_stats(void)
{
	struct array x = input(ROWS * 64, 34), m = output(ROWS), v = output(ROWS), s = output(ROWS * 64);
	struct array u = output(ROWS * 64);
	double want_m[ROWS], want_v[ROWS], want_s[ROWS * 64], want_u[ROWS * 64], var;
	int i, r;

	for (i = 0; i < ROWS * 64; i++) {
		r = i / 64;
		moments(x.host + r * 64, 64, want_m + r, &var);
		want_v[r] = var * 64 / 63;
		want_s[i] = ((double)x.host[i] - want_m[r]) / sqrt(var + 1e-5);
		want_u[i] = (double)x.host[i] / sqrt(64 * mean_square(x.host + r * 64, 64));
	}
	if (failed("row_stats", row_stats(x.dev, m.dev, v.dev, s.dev, u.dev, ROWS, NULL)))
		return 1;
	return compare("mean", &m, want_m, 0, 4e-7) | compare("variance", &v, want_v, 5e-6, 0)
		| compare("standardize", &s, want_s, 5e-6, 2e-6) | compare("l2_normalize", &u, want_u, 5e-6, 0);
}

/* ---- rotary position embedding ---- */

enum { TOKENS = 5, HEADS = 3, HALF = 20, POSITIONS = 50 };

/* Element k of a head after its plane was turned; k0 and k1 are the elements of the plane. */
static double turned(const float *head, int k, int k0, int k1, double c, double s)
{
	double x = (double)head[k0], y = (double)head[k1];

	return k == k0 ? x * c - y * s : x * s + y * c;
}

static int test_rope(int pairs, const struct array *cosines, const struct array *sines)
{
	struct array x = input(TOKENS * HEADS * 2 * HALF, 35);
	const char *name = pairs ? "rope_pairs" : "rope_halves";
	int32_t position[TOKENS] = {0, 7, 49, 12, 12};
	int32_t *dev_position = (int32_t *)keep_dev(dev_copy_of(position, sizeof position));
	double want[TOKENS * HEADS * 2 * HALF];
	int i, status;

	for (i = 0; i < TOKENS * HEADS * 2 * HALF; i++) {
		int k = i % (2 * HALF), plane = pairs ? k / 2 : k % HALF;
		int at = position[i / (HEADS * 2 * HALF)] * HALF + plane;

		want[i] = turned(x.host + i - k, k, pairs ? 2 * plane : plane, pairs ? 2 * plane + 1 : plane + HALF,
			(double)cosines->host[at], (double)sines->host[at]);
	}
	status = (pairs ? rope_pairs_f32 : rope_halves_f32)(x.dev, dev_position, cosines->dev, sines->dev, TOKENS,
		HEADS, HALF, POSITIONS, NULL);
	return failed(name, status) || compare(name, &x, want, 1e-6, 2e-7);
}

static int test_rope_all(void)
{
	struct array c = output(POSITIONS * HALF), s = output(POSITIONS * HALF);
	double want_c[POSITIONS * HALF], want_s[POSITIONS * HALF];
	int i, bad;

	for (i = 0; i < POSITIONS * HALF; i++) {
		double angle = i / HALF * pow(10000, -(double)(i % HALF) / HALF);

		want_c[i] = cos(angle);
		want_s[i] = sin(angle);
	}
	if (failed("rope_table", rope_table_f32(c.dev, s.dev, 10000, POSITIONS, HALF, NULL)))
		return 1;
	/* the angle is rounded to f32, and its exponent carries a few such errors: up to 50 * 2e-6 */
	bad = compare("rope_table, cosines", &c, want_c, 0, 1e-4);
	bad |= compare("rope_table, sines", &s, want_s, 0, 1e-4);
	return bad | test_rope(0, &c, &s) | test_rope(1, &c, &s);
}

/* ---- products ---- */

enum { M = 37, N = 50, K = 29 };

/* Row-major a times row-major (or column-major) b. */
static double product(const float *a, const float *b, int i, int j, int column_major)
{
	double s = 0;
	int p;

	for (p = 0; p < K; p++)
		s += (double)a[i * K + p] * (double)(column_major ? b[j * K + p] : b[p * N + j]);
	return s;
}

static int test_gemm(void)
{
	struct array a = input(M * K, 36), b = input(K * N, 37), c = output(M * N);
	double want[M * N];
	int i, bad;

	for (i = 0; i < M * N; i++)
		want[i] = 0.5 * product(a.host, b.host, i / N, i % N, 0);
	bad = failed("gemm_nn", gemm_nn_f32(0.5f, a.dev, b.dev, c.dev, M, N, K, NULL))
		|| compare("gemm_nn", &c, want, 0, 1e-5);
	for (i = 0; i < M * N; i++)
		want[i] = 0.5 * product(a.host, b.host, i / N, i % N, 1);
	return bad | (failed("gemm_nt", gemm_nt_f32(0.5f, a.dev, b.dev, c.dev, M, N, K, NULL))
		|| compare("gemm_nt", &c, want, 0, 1e-5));
}

static int test_linear(void)
{
	struct array x = input(M * K, 38), w = input(K * N, 39), bias = input(N, 40), r = input(M * N, 41);
	struct array y = output(M * N);
	double want[M * N];
	int i, bad;

	for (i = 0; i < M * N; i++)
		want[i] = ref_gelu(product(x.host, w.host, i / N, i % N, 1) + (double)bias.host[i % N]);
	bad = failed("linear", linear_gelu_f32(x.dev, w.dev, bias.dev, y.dev, M, N, K, NULL))
		|| compare("linear with gelu", &y, want, 0, 2e-5);
	for (i = 0; i < M * N; i++)
		want[i] = product(x.host, w.host, i / N, i % N, 1) + (double)r.host[i];
	return bad | (failed("linear_residual", linear_res_f32(x.dev, w.dev, r.dev, y.dev, M, N, K, NULL))
		|| compare("linear_residual", &y, want, 0, 2e-5));
}

static int test_norm_parts(void)
{
	struct array x = input(ROWS * COLS, 34), w = input(COLS, 35), b = input(COLS, 36), y = output(ROWS * COLS), half = output(ROWS * COLS);
	size_t bytes = rms_norm_parts_workspace(ROWS, COLS), more = layer_norm_parts_workspace(ROWS, COLS);
	double want[ROWS * COLS], mean, var;
	int i, bad;

	for (i = 0; i < ROWS * COLS; i++)
		want[i] = (double)x.host[i] / sqrt(mean_square(x.host + i / COLS * COLS, COLS) + 1e-5) * (double)w.host[i % COLS];
	bad = failed("rms_norm_parts_of",
			rms_norm_parts_ws(x.dev, w.dev, y.dev, half.dev, 1e-5f, ROWS, COLS, keep_dev(dev_alloc(bytes)), bytes, NULL))
		|| compare("rms_norm_parts_of", &y, want, 5e-6, 0) | compare("rms_norm_parts_of, f16", &half, want, 4e-3, 1e-6);
	for (i = 0; i < ROWS * COLS; i++) {
		moments(x.host + i / COLS * COLS, COLS, &mean, &var);
		want[i] = ((double)x.host[i] - mean) / sqrt(var + 1e-5) * (double)w.host[i % COLS] + (double)b.host[i % COLS];
	}
	return bad
		| (failed("layer_norm_parts_of",
			   layer_norm_parts_ws(x.dev, w.dev, b.dev, y.dev, 1e-5f, ROWS, COLS, keep_dev(dev_alloc(more)), more, NULL))
			|| compare("layer_norm_parts_of", &y, want, 5e-6, 2e-6));
}

static int test_gemm_batched(void)
{
	enum { BATCH = 3 };
	struct array a = input(BATCH * M * K, 42), b = input(BATCH * K * N, 43), c = output(BATCH * M * N);
	static double want[BATCH * M * N];
	int i, z;

	for (i = 0; i < BATCH * M * N; i++) {
		z = i / (M * N);
		want[i] = product(a.host + z * M * K, b.host + z * K * N, i / N % M, i % N, 0);
	}
	return failed("gemm_batched", gemm_batched_f32(a.dev, b.dev, c.dev, BATCH, M, N, K, NULL))
		|| compare("gemm_batched", &c, want, 0, 2e-5);
}

static int test_gemv(void)
{
	enum { LONG = 1000 };
	struct array a = input(ROWS * LONG, 44), x = input(LONG, 45), y = output(ROWS);
	double want[ROWS] = {0};
	int i;

	for (i = 0; i < ROWS * LONG; i++)
		want[i / LONG] += (double)a.host[i] * (double)x.host[i % LONG];
	return failed("gemv", gemv_f32(a.dev, x.dev, y.dev, ROWS, LONG, NULL))
		|| compare("gemv", &y, want, 0, 2e-4);
}

int main(void)
{
	int bad = test_activations(ELEM_F32) | test_activations(ELEM_F16) | test_activations(ELEM_BF16);

	bad |= test_activations_f64() | test_swiglu();
	bad |= test_softmax() | test_softmax_parts() | test_softmax_online() | test_softmax_columns();
	bad |= test_layer_norm() | test_rms_norm() | test_norm_parts() | test_group_norm() | test_stats();
	bad |= test_rope_all();
	bad |= test_gemm() | test_linear() | test_gemm_batched() | test_gemv();
	free_kept();
	return bad;
}
