// Measures what a row of base/machine.def and the cycles of base/cost.def say of a GPU: `make bench-machine`. README.md has the method.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#define OK(call)                                                                                      \
	do {                                                                                          \
		cudaError_t e_ = (call);                                                              \
		if (e_ != cudaSuccess) {                                                              \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                   \
			exit(1);                                                                      \
		}                                                                                     \
	} while (0)

namespace cg = cooperative_groups;

static const int THREADS = 256, ROUNDS = 7, REPEATS = 64;

// ---- kernels ----
__global__ void empty() {}

// Each thread block moves one run of `each` pieces of 16 bytes a thread.
template <int EACH> __global__ void copy(const int4 *__restrict__ from, int4 *__restrict__ to)
{
	size_t at = (size_t)blockIdx.x * THREADS * EACH + threadIdx.x;
	int4 v[EACH];
	for (int i = 0; i < EACH; i++) v[i] = from[at + i * THREADS];
	for (int i = 0; i < EACH; i++) to[at + i * THREADS] = v[i];
}

// Reads `pieces` of them again and again; the sum is stored where nobody looks.
template <int EACH> __global__ void read(const int4 *__restrict__ from, int4 *to, size_t pieces, int rounds)
{
	int sum = 0;
	for (int r = 0; r < rounds; r++)
		for (size_t at = (size_t)blockIdx.x * THREADS * EACH + threadIdx.x; at < pieces; at += (size_t)gridDim.x * THREADS * EACH) {
			int4 v[EACH];
			for (int i = 0; i < EACH; i++) v[i] = __ldcg(&from[at + i * THREADS]);
			for (int i = 0; i < EACH; i++) sum += v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
		}
	if (sum == 0x12345678) to[threadIdx.x].x = sum;
}

__global__ void chase(const uint32_t *next, uint32_t *out, int steps)
{
	uint32_t at = 0;
	long long begin = clock64();
	for (int i = 0; i < steps; i++) at = __ldcg(&next[at]);
	long long end = clock64();
	out[0] = at;
	out[1] = (uint32_t)((end - begin) / steps);
}

// The loads are volatile for ptxas too: it would take others, whose addresses come back every four rounds, out of the loop.
__global__ void shared_read(uint32_t *out)
{
	__shared__ int4 tile[THREADS * 4];
	for (int i = 0; i < 4; i++) tile[threadIdx.x + i * THREADS] = make_int4(threadIdx.x, i, 0, 0);
	__syncthreads();
	int sum = 0;
	long long begin = clock64();
	for (int r = 0; r < 1024; r++) {
		int4 v;
		uint32_t at = (uint32_t)__cvta_generic_to_shared(&tile[threadIdx.x + (r & 3) * THREADS]);
		asm volatile("ld.volatile.shared.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
		sum += v.x ^ v.y ^ v.z ^ v.w;
	}
	if (sum == 0x12345678) out[2] = sum;
	__syncthreads();
	if (threadIdx.x == 0) out[1] = (uint32_t)(clock64() - begin);
}

__global__ void barriers(uint32_t *out)
{
	__syncthreads();
	long long begin = clock64();
	for (int i = 0; i < 256; i++) __syncthreads();
	if (threadIdx.x == 0) out[1] = (uint32_t)((clock64() - begin) / 256);
}

__global__ void shuffles(uint32_t *out)
{
	int v = threadIdx.x;
	long long begin = clock64();
	for (int i = 0; i < 256; i++) v += __shfl_xor_sync(~0u, v, 1 + (i & 15));
	long long end = clock64();
	out[0] = v;
	if (threadIdx.x == 0) out[1] = (uint32_t)((end - begin) / 256);
}

template <bool MUFU> __global__ void issue(uint32_t *out, float by)
{
	float v[8];
	for (int k = 0; k < 8; k++) v[k] = threadIdx.x + k;
	__syncthreads();
	long long begin = clock64();
	for (int i = 0; i < 256; i++)
		for (int k = 0; k < 8; k++) {
			if (MUFU) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v[k]));
			else v[k] = fmaf(v[k], by, by);
		}
	__syncthreads();
	if (threadIdx.x == 0) out[1] = (uint32_t)(clock64() - begin);
	float sum = 0;
	for (int k = 0; k < 8; k++) sum += v[k];
	if (sum == 0.12345f) out[2] = 1;
}

__global__ void cluster_barriers(uint32_t *out)
{
#if __CUDA_ARCH__ >= 900
	cg::cluster_group c = cg::this_cluster();
	c.sync();
	long long begin = clock64();
	for (int i = 0; i < 64; i++) c.sync();
	if (threadIdx.x == 0 && blockIdx.x == 0) out[1] = (uint32_t)((clock64() - begin) / 64);
	c.sync();
#endif
}

// ---- the clock ----
template <typename F> static double microseconds(F f)
{
	cudaEvent_t a, b;
	std::vector<float> all;
	OK(cudaEventCreate(&a));
	OK(cudaEventCreate(&b));
	f();
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < ROUNDS; i++) {
		float ms;
		OK(cudaEventRecord(a));
		f();
		OK(cudaEventRecord(b));
		OK(cudaEventSynchronize(b));
		OK(cudaEventElapsedTime(&ms, a, b));
		all.push_back(ms);
	}
	std::sort(all.begin(), all.end());
	return all[all.size() / 2] * 1e3;
}

static uint32_t cycles(const uint32_t *out)
{
	uint32_t v[2];
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost));
	return v[1];
}

static void *flush;      // memory to write over

// A walk over lines of `bytes` in an order that no prefetch follows; again: over lines that it has met before.
static uint32_t latency(size_t bytes, bool again, uint32_t *out)
{
	const size_t line = 32;         // words of 128 bytes
	size_t n = bytes / 128;
	std::vector<uint32_t> order(n), next(n * line);
	for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
	uint64_t state = 88172645463325252ull;
	for (size_t i = n - 1; i > 0; i--) {
		state ^= state << 13, state ^= state >> 7, state ^= state << 17;
		std::swap(order[i], order[state % (i + 1)]);
	}
	for (size_t i = 0; i < n; i++) next[order[i] * line] = (uint32_t)(order[(i + 1) % n] * line);
	uint32_t *d;
	OK(cudaMalloc(&d, n * line * 4));
	OK(cudaMemcpy(d, next.data(), n * line * 4, cudaMemcpyHostToDevice));
	int steps = (int)std::min<size_t>(n, 20000);
	if (again) chase<<<1, 1>>>(d, out, steps);
	else OK(cudaMemset(flush, 0, (size_t)256 << 20));       // what the copy left in the L2 cache
	chase<<<1, 1>>>(d, out, steps);
	uint32_t c = cycles(out);
	OK(cudaFree(d));
	return c;
}

static double cluster_cycles(int blocks, uint32_t *out)
{
	cudaLaunchConfig_t c = {};
	cudaLaunchAttribute a = {};
	a.id = cudaLaunchAttributeClusterDimension;
	a.val.clusterDim.x = blocks, a.val.clusterDim.y = a.val.clusterDim.z = 1;
	c.gridDim = blocks, c.blockDim = THREADS, c.attrs = &a, c.numAttrs = 1;
	OK(cudaLaunchKernelEx(&c, cluster_barriers, out));
	return cycles(out);
}

int main()
{
	cudaDeviceProp p;
	int mhz, dram;
	OK(cudaGetDeviceProperties(&p, 0));
	OK(cudaDeviceGetAttribute(&mhz, cudaDevAttrClockRate, 0));
	OK(cudaDeviceGetAttribute(&dram, cudaDevAttrMemoryClockRate, 0));
	int sms = p.multiProcessorCount;
	printf("device %s, sm_%d%d, %d multiprocessors, at most %d MHz, memory %d MHz\n", p.name, p.major, p.minor, sms, mhz / 1000, dram / 1000);
	printf("holds %d threads, %d thread blocks, %d registers, %zu KiB shared (%zu a thread block); L2 %d MiB\n", p.maxThreadsPerMultiProcessor,
		p.maxBlocksPerMultiProcessor, p.regsPerMultiprocessor, p.sharedMemPerMultiprocessor >> 10, p.sharedMemPerBlockOptin >> 10,
		p.l2CacheSize >> 20);
	const size_t large = (size_t)1 << 30;
	int4 *from, *to;
	uint32_t *out;
	OK(cudaMalloc(&from, large));
	OK(cudaMalloc(&to, large));
	OK(cudaMalloc(&out, 4096));
	OK(cudaMemset(from, 1, large));

	size_t pieces = large / 16;
	double best = std::min({ microseconds([&] { copy<1><<<pieces / THREADS, THREADS>>>(from, to); }),
		microseconds([&] { copy<2><<<pieces / THREADS / 2, THREADS>>>(from, to); }),
		microseconds([&] { copy<4><<<pieces / THREADS / 4, THREADS>>>(from, to); }) });
	printf("copy of 1 GiB %.0f GB/s read and written\n", 2.0 * large / best / 1e3);
	double r = microseconds([&] { read<4><<<sms * 8, THREADS>>>(from, to, pieces, 1); });
	printf("read of 1 GiB %.0f GB/s\n", large / r / 1e3);
	size_t small = ((size_t)16 << 20) / 16;
	r = microseconds([&] { read<4><<<sms * 8, THREADS>>>(from, to, small, 64); });
	printf("read of 16 MiB in L2 %.0f GB/s, %.0f percent of the copy\n", 64.0 * small * 16 / r / 1e3, 64.0 * small * 16 / r / 1e3 * 100 / (2.0 * large / best / 1e3));
	for (int blocks = 1; blocks <= 8; blocks *= 2) {
		r = microseconds([&] { read<1><<<sms * blocks, THREADS>>>(from, to, pieces / 4, 1); });
		printf("read with %d KiB in flight a multiprocessor %.0f GB/s\n", blocks * 4, large / 4 / r / 1e3);
	}
	for (int blocks = 4; blocks <= 8; blocks *= 2) {
		r = microseconds([&] { read<4><<<sms * blocks, THREADS>>>(from, to, pieces / 4, 1); });
		printf("read with %d KiB in flight a multiprocessor %.0f GB/s\n", blocks * 16, large / 4 / r / 1e3);
	}
	flush = to;
	printf("latency %u cycles from memory, %u from L2\n", latency((size_t)512 << 20, false, out), latency((size_t)2 << 20, true, out));

	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < REPEATS; i++) empty<<<1, 32, 0, stream>>>();
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	double many = microseconds([&] { OK(cudaGraphLaunch(exec, 0)); });
	printf("launch %.0f ns from kernel to kernel\n", many * 1e3 / REPEATS);
	for (int threads = 32; threads <= 1024; threads *= 4) {
		double a = microseconds([&] { empty<<<sms * 4096, threads>>>(); }), b = microseconds([&] { empty<<<sms * 8192, threads>>>(); });
		printf("thread block of %d threads %.1f ns of a multiprocessor\n", threads, (b - a) * 1e3 / 4096);
	}
	for (int threads = 64; threads <= 1024; threads *= 2) {
		barriers<<<1, threads>>>(out);
		barriers<<<1, threads>>>(out);
		printf("barrier of %d warps %u cycles\n", threads / 32, cycles(out));
	}
	shuffles<<<1, 32>>>(out);
	shuffles<<<1, 32>>>(out);
	printf("shuffle and addition %u cycles\n", cycles(out));
	shared_read<<<1, THREADS>>>(out);
	shared_read<<<1, THREADS>>>(out);
	printf("shared memory %.1f bytes a cycle\n", 1024.0 * THREADS * 16 / cycles(out));
	issue<true><<<1, 1024>>>(out, 0.5f);
	issue<true><<<1, 1024>>>(out, 0.5f);
	printf("ex2 %.1f a cycle\n", 256.0 * 8 * 1024 / cycles(out));
	issue<false><<<1, 1024>>>(out, 0.5f);
	issue<false><<<1, 1024>>>(out, 0.5f);
	printf("fma %.1f a cycle\n", 256.0 * 8 * 1024 / cycles(out));
	for (int blocks = 2; blocks <= 8 && p.major >= 9; blocks *= 2) {
		cluster_cycles(blocks, out);
		printf("barrier of a cluster of %d thread blocks %.0f cycles\n", blocks, cluster_cycles(blocks, out));
	}
	return 0;
}
