/* Launchers of a mixed library (LIBRARY, the output for mixed.tile): which kernels serve the current device, and what they compute.
 * mixed_values tiles|own|none: what should. Numbers are small integers, so all sums are exact. */
#include LIBRARY

#include <cuda_fp16.h>
#include <stdlib.h>

#include <vector>

static void must(int status, const char *what)
{
	if (!status) return;
	printf("%s: %d, %s\n", what, status, ctile_status_text(status));
	exit(1);
}

template<class T> static T *on_device(const std::vector<T> &v)
{
	T *p = NULL;
	must(cudaMalloc((void **)&p, v.size() * sizeof(T)), "cudaMalloc");
	must(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
	return p;
}

template<class T> static void compare(const char *what, const T *got, const std::vector<T> &want)
{
	std::vector<T> back(want.size());
	must(cudaMemcpy(back.data(), got, want.size() * sizeof(T), cudaMemcpyDeviceToHost), what);
	for (size_t i = 0; i < want.size(); i++)
		if (back[i] != want[i]) {
			printf("%s: element %lld is %g, not %g\n", what, (long long)i, (double)back[i], (double)want[i]);
			exit(1);
		}
	printf("%s: %lld values as they should be\n", what, (long long)want.size());
}

static int small(size_t i) { return (int)(i * 7 % 11) - 5; }

static void rows_of(int64_t rows, int64_t cols)
{
	std::vector<float> x(rows * cols), s(rows), none(rows, -1);
	for (size_t i = 0; i < x.size(); i++) s[i / cols] += x[i] = (float)small(i);
	float *to = on_device(none);
	must(row_sum(on_device(x), to, rows, cols, NULL), "row_sum");
	compare("row_sum", to, s);
}

static void product_of(int64_t m, int64_t n, int64_t k)
{
	std::vector<__half> a(m * k), b(k * n);
	std::vector<float> c(m * n), none(m * n, -1);
	for (size_t i = 0; i < a.size(); i++) a[i] = __float2half((float)small(i));
	for (size_t i = 0; i < b.size(); i++) b[i] = __float2half((float)small(i + 3));
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++)
			for (int64_t p = 0; p < k; p++) c[i * n + j] += (float)(small(i * k + p) * small(p * n + j + 3));
	float *to = on_device(none);
	must(product_f16(on_device(a), on_device(b), to, m, n, k, NULL), "product_f16");
	compare("product_f16", to, c);
}

static void shift_of(int64_t n, int64_t step, int by)
{
	std::vector<int> x(n * step), y(n), none(n, -1);
	for (size_t i = 0; i < x.size(); i++) x[i] = small(i);
	for (int64_t i = 0; i < n; i++) y[i] = x[i * step] + by;
	int *to = on_device(none);
	must(shift(on_device(x), to, by, n, step, NULL), "shift");
	compare("shift", to, y);
}

int main(int argc, char **argv)
{
	const char *want = argc > 1 ? argv[1] : "own", *serve = "own";
#if CT_TILES
	if (ct_on_tiles()) serve = "tiles";
#endif
	if (!strcmp(want, "none")) {
		float *p = on_device(std::vector<float>(4));
		const int status = row_sum(p, p + 2, 1, 2, NULL);
		printf("%d: %s\n", status, ctile_status_text(status));
		return status != CTILE_ARCH;
	}
	printf("kernels that serve: %s\n", serve);
	if (strcmp(want, serve)) return 1;
	rows_of(130, 1000);
	rows_of(3, 64);
	product_of(100, 70, 50);
	product_of(33, 200, 128);
	shift_of(1000, 3, 11);
	shift_of(64, 1, -2);
	return 0;
}
