// Launchers on several devices of one process: what they keep (which text a device runs, its attributes, how many clusters fit) is kept
// for each device, and tensor maps are made for the memory they point to. Kernels of rows.tile and placed kernels of GEMM and
// attention, first on all devices in turn, then from threads that change devices, all at once. Values are compared on the device.
//
//   devices [LAUNCHES [SEED]]          of each thread; exit status 77 with fewer than two devices
#include "rows.h"
#include "gemm_bf16.h"
#include "attention_bf16.h"
#include <atomic>
#include <thread>
#include <vector>

// ---- products: small integers, so that sums are exact and rounded once ----
__global__ static void integers(__nv_bfloat16 *p, size_t n, uint32_t seed)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
		uint32_t h = ((uint32_t)i ^ seed) * 2654435761u;
		p[i] = __float2bfloat16_rn((float)((h >> 20) % 7) - 3);
	}
}

__global__ static void compare_product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, const __nv_bfloat16 *c, int m, int n, int k,
	unsigned long long *wrong)
{
	int row = blockIdx.x, bad = 0;
	for (int col = threadIdx.x; col < n; col += blockDim.x) {
		float sum = 0;
		for (int i = 0; i < k; i++) sum += __bfloat162float(a[(size_t)row * k + i]) * __bfloat162float(b[(size_t)i * n + col]);
		bad += __bfloat162float(__float2bfloat16_rn(sum)) != __bfloat162float(c[(size_t)row * n + col]);
	}
	if (bad) atomicAdd(wrong, (unsigned long long)bad);
}

typedef int product(const void *, const void *, void *, int64_t, int64_t, int64_t, void *, size_t, cudaStream_t);
typedef size_t product_workspace(int64_t, int64_t, int64_t);
struct gemm { const char *name; product *fn; product_workspace *workspace; };
#define GEMM(s) {"GEMM " #s, run_gemm_bf16_##s##_ws, run_gemm_bf16_##s##_workspace}
static const struct gemm gemms[] = {{"GEMM", gemm_bf16_ws, gemm_bf16_workspace}, GEMM(128x256), GEMM(192x160t), GEMM(192x192), GEMM(128x128), GEMM(128x16t), GEMM(128x64t), GEMM(128x128d),
	GEMM(128x256s)};

static unsigned long long download(unsigned long long *wrong)
{
	unsigned long long bad;
	RT(cudaMemcpyAsync(&bad, wrong, sizeof bad, cudaMemcpyDeviceToHost, stream));
	wait();
	RT(cudaFree(wrong));
	return bad;
}

static unsigned long long *counter(void)
{
	unsigned long long *wrong;
	RT(cudaMalloc((void **)&wrong, sizeof *wrong));
	RT(cudaMemsetAsync(wrong, 0, sizeof *wrong, stream));
	return wrong;
}

static void said(const char *what, unsigned long long bad, int status)
{
	char text[60];
	if (status) fail(what, ctile_status_text(status));
	snprintf(text, sizeof text, "%llu elements", bad);
	if (bad) fail(what, text);
}

static void multiply(const struct gemm *g)
{
	int64_t m = 1 + draw(700), n = 8 * (1 + draw(100)), k = 8 * (1 + draw(60));
	__nv_bfloat16 *p[3];
	size_t size[3] = {(size_t)(m * k), (size_t)(k * n), (size_t)(m * n)}, bytes = g->workspace(m, n, k);
	void *space = NULL;
	char text[120];
	snprintf(text, sizeof text, "%s, %lld x %lld x %lld", g->name, (long long)m, (long long)n, (long long)k);
	doing = text;
	for (int i = 0; i < 3; i++) RT(cudaMalloc((void **)&p[i], 2 * size[i]));
	if (bytes) RT(cudaMalloc(&space, bytes));
	if (bytes) RT(cudaMemsetAsync(space, 0, bytes, stream));
	for (int i = 0; i < 2; i++) integers<<<256, 256, 0, stream>>>(p[i], size[i], draw(~0u));
	RT(cudaMemsetAsync(p[2], 0xff, 2 * size[2], stream));
	unsigned long long *wrong = counter();
	int status = g->fn(p[0], p[1], p[2], m, n, k, space, bytes, stream);
	if (!status) compare_product<<<(unsigned)m, 256, 0, stream>>>(p[0], p[1], p[2], (int)m, (int)n, (int)k, wrong);
	said(g->name, download(wrong), status);
	for (int i = 0; i < 3; i++) RT(cudaFree(p[i]));
	if (bytes) RT(cudaFree(space));
}

// ---- attention ----
__global__ static void compare_attention(const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v, const __nv_bfloat16 *o, int s, int d,
	int causal, unsigned long long *wrong)
{
	extern __shared__ float p[];		// one block for a row of one head
	size_t head = (size_t)blockIdx.y * s * d;
	int row = blockIdx.x, end = causal ? row + 1 : s, bad = 0;
	float most = -INFINITY, sum = 0;
	for (int i = threadIdx.x; i < end; i += blockDim.x) {
		float dot = 0;
		for (int j = 0; j < d; j++) dot += __bfloat162float(q[head + (size_t)row * d + j]) * __bfloat162float(k[head + (size_t)i * d + j]);
		p[i] = dot * rsqrtf((float)d);
	}
	__syncthreads();
	for (int i = 0; i < end; i++) most = fmaxf(most, p[i]);
	for (int i = 0; i < end; i++) sum += expf(p[i] - most);
	for (int j = threadIdx.x; j < d; j += blockDim.x) {
		float want = 0;
		for (int i = 0; i < end; i++) want += expf(p[i] - most) / sum * __bfloat162float(v[head + (size_t)i * d + j]);
		bad += !(fabsf(want - __bfloat162float(o[head + (size_t)row * d + j])) <= 0.02f * fabsf(want) + 0.02f);
	}
	if (bad) atomicAdd(wrong, (unsigned long long)bad);
}

typedef int attention(const void *, const void *, const void *, void *, float, int64_t, int64_t, int64_t, void *, size_t, cudaStream_t);
typedef size_t attention_workspace(int64_t, int64_t, int64_t);
struct attend { const char *name; attention *fn; attention_workspace *workspace; int d, causal; };
#define ATTEND(d, how, causal) {"attention " #d " " #how, attention_bf16_d##d##_##how##_ws, attention_bf16_d##d##_##how##_workspace, d, causal}
static const struct attend attends[] = {ATTEND(64, full, 0), ATTEND(64, causal, 1), ATTEND(128, full, 0), ATTEND(128, causal, 1)};

static void attend(const struct attend *a)
{
	int64_t heads = 1 + draw(5), s = 1 + draw(400);
	size_t size = (size_t)(heads * s * a->d), bytes = a->workspace(heads, s, s);
	__nv_bfloat16 *p[4];
	void *space = NULL;
	char text[120];
	snprintf(text, sizeof text, "%s, %lld heads of %lld", a->name, (long long)heads, (long long)s);
	doing = text;
	for (int i = 0; i < 4; i++) RT(cudaMalloc((void **)&p[i], 2 * size));
	if (bytes) RT(cudaMalloc(&space, bytes));
	if (bytes) RT(cudaMemsetAsync(space, 0, bytes, stream));
	for (int i = 0; i < 3; i++) fill<<<256, 256, 0, stream>>>(p[i], 2, size, draw(~0u));
	RT(cudaMemsetAsync(p[3], 0xff, 2 * size, stream));
	unsigned long long *wrong = counter();
	int status = a->fn(p[0], p[1], p[2], p[3], 1 / sqrtf((float)a->d), heads, s, s, space, bytes, stream);
	if (!status) compare_attention<<<dim3((unsigned)s, (unsigned)heads), 128, (size_t)s * 4, stream>>>(p[0], p[1], p[2], p[3], (int)s, a->d, a->causal, wrong);
	said(a->name, download(wrong), status);
	for (int i = 0; i < 4; i++) RT(cudaFree(p[i]));
	if (bytes) RT(cudaFree(space));
}

// ---- jobs ----
static const size_t jobs = COUNT(kernels) + COUNT(gemms) + COUNT(attends);

static void run(size_t job)
{
	if (job < COUNT(kernels)) {
		struct call c;
		draw_call(&c, &kernels[job], 0);
		launch(&c);
		wait();
		check(&c);
		finish(&c);
	} else if ((job -= COUNT(kernels)) < COUNT(gemms)) {
		multiply(&gemms[job]);
	} else {
		attend(&attends[job - COUNT(gemms)]);
	}
}

int main(int argc, char **argv)
{
	long launches = argc > 1 ? atol(argv[1]) : 200;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	int devices = 0;
	if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) {
		printf("skipped: %d device%s, two are needed\n", devices, devices == 1 ? "" : "s");
		return 77;
	}
	state = seed;
	for (int round = 0; round < 2; round++)		// the first launch of a kernel is sometimes on one, sometimes on another device
		for (size_t job = 0; job < jobs; job++)
			for (int d = 0; d < devices; d++) {
				RT(cudaSetDevice((int)((d + job) % devices)));
				run(job);
			}
	printf("%d devices, one thread: %zu launches right\n", devices, 2 * jobs * devices);
	std::vector<std::thread> threads;
	std::atomic<long> done(0);
	for (int t = 0; t < 2 * devices; t++)
		threads.emplace_back([=, &done] {
			state = seed * 1000 + t;
			for (long i = 0; i < launches; i++) {
				if (i % 8 == 0) RT(cudaSetDevice((int)((t + i / 8) % devices)));
				run(draw((uint32_t)jobs));
				done++;
			}
		});
	for (auto &t : threads) t.join();
	printf("%d devices, %d threads: %ld launches right\n", devices, 2 * devices, done.load());
	return 0;
}
