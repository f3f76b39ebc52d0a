
#define CT_HELPER static inline __attribute__((unused))
/* Checked arithmetic of the launchers: *bad is set when a value leaves 64 bits. */
CT_HELPER int64_t ct_host_add(int64_t a, int64_t b, int *bad)
{ int64_t r; *bad |= __builtin_add_overflow(a, b, &r); return r; }
CT_HELPER int64_t ct_host_mul(int64_t a, int64_t b, int *bad)
{ int64_t r; *bad |= __builtin_mul_overflow(a, b, &r); return r; }
CT_HELPER int64_t ct_host_mod(int64_t a, int64_t b, int *bad)
{ if (b == 0 || b == -1) { *bad |= b == 0; return 0; } return a % b; }
CT_HELPER int64_t ct_host_cdiv(int64_t a, int64_t b, int *bad)
{ if (b <= 0) { *bad = 1; return 0; } return a / b + (a % b > 0); }

/* Tile blocks of a grid: 0 if it is empty, -1 if there are 2^31 or more. */
CT_HELPER int64_t ct_tile_blocks(const int64_t *grid, int bad)
{
	int64_t n = 1;
	for (int i = 0; i < 4; i++) {
		if (grid[i] <= 0) return 0;
		n = ct_host_mul(n, grid[i], &bad);
	}
	return bad || n > INT32_MAX ? -1 : n;
}

/* Status texts. The last failure of each thread is kept in words; one copy per program. */
#define CT_SHARED __attribute__((weak))
CT_SHARED __thread int ctile_last_status = 0;
CT_SHARED __thread char ctile_last_text[320] = "";
CT_SHARED const char *ctile_status_text(int status)
{
	static const char *const text[] = {
		"success", "a dimension is negative or does not fit its type",
		"a size computed from the dimensions does not fit 64 bits", "a where clause does not hold",
		"a pointer is null although its tensor has elements", "a pointer is not aligned to its element type",
		"an output shares an element with another tensor",
		"a stride is negative, or two elements of an output share an address",
		"the grid has 2^31 tile blocks or more", "the workspace is too small or not aligned to 256 bytes",
		"no variant of the instance accepts these dimensions",
		"the device runs none of the architectures compiled in", "the CUDA runtime reported an error",
		"no host memory",
	};
	if (status != 0 && status == ctile_last_status) return ctile_last_text;
	return status >= 0 && status < (int)(sizeof text / sizeof *text) ? text[status] : "unknown status";
}

__attribute__((format(printf, 2, 3), unused))
static int ct_fail(int status, const char *format, ...)
{
	va_list args; va_start(args, format);
	vsnprintf(ctile_last_text, sizeof ctile_last_text, format, args);
	va_end(args);
	return ctile_last_status = status;
}

/* Checks of the tensors of one call. */
typedef struct CtTensor {
	const char *name; const void *p;
	int rank, bytes, writes;    /* bytes of an element; writes: out or inout */
	int64_t extent[5], stride[5];
} CtTensor;

/* Bytes from the first element to the end of the last; 0 for an empty tensor. */
static int64_t ct_span(const CtTensor *t, int *bad)
{
	int64_t last = 0;
	for (int i = 0; i < t->rank; i++) {
		if (t->extent[i] <= 0) return 0;
		last = ct_host_add(last, ct_host_mul(t->extent[i] - 1, t->stride[i], bad), bad);
	}
	return ct_host_mul(ct_host_add(last, 1, bad), t->bytes, bad);
}

CT_HELPER int ct_check_tensors(const char *entry, const CtTensor *t, int n)
{
	int bad = 0;
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < t[i].rank; k++) {
			if (t[i].extent[k] < 0)
				return ct_fail(CTILE_DIMENSION, "%s: extent %d of %s is %lld", entry, k, t[i].name, (long long)t[i].extent[k]);
			if (t[i].stride[k] < 0)
				return ct_fail(CTILE_STRIDE, "%s: stride %d of %s is %lld", entry, k, t[i].name, (long long)t[i].stride[k]);
		}
		const int64_t span = ct_span(&t[i], &bad);
		if (bad) return ct_fail(CTILE_OVERFLOW, "%s: the size of %s does not fit 64 bits", entry, t[i].name);
		if (span == 0) continue;
		if (!t[i].p) return ct_fail(CTILE_NULL, "%s: %s is null but has elements", entry, t[i].name);
		if ((uintptr_t)t[i].p % (uintptr_t)t[i].bytes != 0)
			return ct_fail(CTILE_ALIGNMENT, "%s: %s is not aligned to its %d-byte elements", entry, t[i].name, t[i].bytes);
		for (int j = 0; j < i; j++) {
			int64_t other = ct_span(&t[j], &bad);
			uintptr_t a = (uintptr_t)t[i].p, b = (uintptr_t)t[j].p;
			if ((t[i].writes || t[j].writes) && other && a < b + (uintptr_t)other && b < a + (uintptr_t)span)
				return ct_fail(CTILE_OVERLAP, "%s: %s and %s overlap", entry, t[j].name, t[i].name);
		}
	}
	return CTILE_OK;
}

CT_HELPER int ct_launch(const char *name, const void *kernel, int64_t blocks, void **args, struct CUstream_st *stream)
{
	const cudaError_t e = cudaLaunchKernel(kernel, dim3((unsigned int)blocks, 1, 1), dim3(1, 1, 1), args, 0, stream);
	int device = 0, major = 0, minor = 0;
	if (e == cudaSuccess) return CTILE_OK;
	cudaGetLastError();
	if (e != cudaErrorNoKernelImageForDevice && e != cudaErrorInvalidDeviceFunction)
		return ct_fail(CTILE_CUDA, "%s: %s", name, cudaGetErrorString(e));
	cudaGetDevice(&device);
	cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
	cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
	return ct_fail(CTILE_ARCH, "%s: the device is sm_%d%d, for which no tile code was compiled", name, major, minor);
}

static int ct_run_scale_256(float a, const float *x, float *y, int64_t n, struct CUstream_st *stream)
{
	int ct_bad = 0;
	const int64_t ct_grid[4] = { ct_host_cdiv(n, 256, &ct_bad), 1, 1, 1 };
	const int64_t ct_blocks = ct_tile_blocks(ct_grid, ct_bad);
	if (ct_blocks <= 0) return !ct_blocks ? CTILE_OK : ct_fail(CTILE_GRID, "scale: the grid has 2^31 tile blocks or more");
	void *ct_args[] = { (void *)&a, (void *)&x, (void *)&y, (void *)&n };
	if (((uintptr_t)x % 16 == 0)
		&& ((uintptr_t)y % 16 == 0)
		&& (ct_host_mod(n, 4, &ct_bad) == 0)
		&& !ct_bad)
		return ct_launch("scale", (const void *)ct_kernels::scale_256<true>, ct_blocks, ct_args, stream);
	return ct_launch("scale", (const void *)ct_kernels::scale_256<false>, ct_blocks, ct_args, stream);
}

size_t scale_workspace(int64_t n) { (void)n; return 0; }

int scale_ws(float a, const float *x, float *y, int64_t n, void *workspace, size_t bytes, struct CUstream_st *stream)
{
	int ct_s;
	if (n < 0 || n > INT32_MAX) return ct_fail(CTILE_DIMENSION, "scale: n is %lld, outside 0 to 2^31 - 1", (long long)n);
	const CtTensor ct_t[2] = {
		{ "x", x, 1, 4, 0, { n }, { 1 } },
		{ "y", y, 1, 4, 1, { n }, { 1 } },
	};
	if ((ct_s = ct_check_tensors("scale", ct_t, 2)) != 0) return ct_s;
	(void)workspace, (void)bytes;
	(void)a;
	if ((ct_s = ct_run_scale_256(a, x, y, n, stream)) != 0) return ct_s;
	return CTILE_OK;
}

int scale(float a, const float *x, float *y, int64_t n, struct CUstream_st *stream)
{ return scale_ws(a, x, y, n, NULL, 0, stream); }

