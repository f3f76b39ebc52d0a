// Calls of the kernels of rows.tile: shapes, tensors that are aligned or off by one element, at the start of their memory or at its end.
// Memory is mapped so that nothing lies on either side of it: an access outside stops the program, which names the launch. Values are
// compared with a plain kernel's in f64. All is of the calling thread, its current device and its stream.
#ifndef ROWS_H
#define ROWS_H
#include "rows_kernels.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_bf16.h>

static thread_local const char *doing = "start";
static thread_local cudaStream_t stream = cudaStreamPerThread;

static void fail(const char *what, const char *why)
{
	printf("FAILED %s: %s\n%s\n", what, why, doing);
	fflush(stdout);
	_Exit(1);
}

#define RT(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) fail(#call, cudaGetErrorString(e_)); } while (0)
#define DR(call) do { CUresult r_ = (call); if (r_ != CUDA_SUCCESS) { const char *s_ = "?"; cuGetErrorString(r_, &s_); fail(#call, s_); } } while (0)

enum kind { RMS, LAYER, ADD, SOFT, SCAN };
static const char *const kind_names[] = {"rmsnorm", "layernorm", "add_rmsnorm", "softmax", "cumsum"};

struct kernel {
	enum kind kind;
	int size, tile;		// bytes of an element; columns of the tile
	void *fn;
};

#define ROW(kind, name, type, size, tile) {kind, size, tile, (void *)name##_##type##_##tile}
#define SIZES(kind, name, type, size) ROW(kind, name, type, size, 4096), ROW(kind, name, type, size, 32768), \
	ROW(kind, name, type, size, 65536), ROW(kind, name, type, size, 131072)
#define TYPES(kind, name) SIZES(kind, name, bf16, 2), SIZES(kind, name, f32, 4), ROW(kind, name, bf16, 2, 262144), ROW(kind, name, f32, 4, 262144)
static const struct kernel kernels[] = {TYPES(RMS, rmsnorm), TYPES(LAYER, layernorm), TYPES(ADD, add_rmsnorm), TYPES(SOFT, softmax),
	SIZES(SCAN, cumsum, bf16, 2), SIZES(SCAN, cumsum, f32, 4)};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static thread_local uint64_t state = 1;

static uint32_t draw(uint32_t n)
{
	state += 0x9e3779b97f4a7c15u;
	uint64_t z = state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ (z >> 31)) >> 32) % n;
}

// ---- memory ----
static const size_t page = 2 << 20;
static int fenced = 1;

struct memory {			// mapped bytes with nothing on either side, or cudaMalloc's
	CUdeviceptr reserved, at;
	size_t room;
	CUmemGenericAllocationHandle handle;
};

static struct memory map(size_t bytes)
{
	struct memory m;
	memset(&m, 0, sizeof m);
	if (!fenced) {
		RT(cudaMalloc((void **)&m.at, bytes));
		m.room = bytes;
		return m;
	}
	m.room = (bytes + page - 1) / page * page;
	CUmemAllocationProp prop;
	memset(&prop, 0, sizeof prop);
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	RT(cudaGetDevice(&prop.location.id));
	DR(cuMemAddressReserve(&m.reserved, m.room + 2 * page, page, 0, 0));
	m.at = m.reserved + page;
	DR(cuMemCreate(&m.handle, m.room, &prop, 0));
	DR(cuMemMap(m.at, m.room, 0, m.handle, 0));
	CUmemAccessDesc access;
	memset(&access, 0, sizeof access);
	access.location = prop.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	DR(cuMemSetAccess(m.at, m.room, &access, 1));
	return m;
}

static void unmap(struct memory *m)
{
	if (!fenced) {
		RT(cudaFree((void *)m->at));
		return;
	}
	DR(cuMemUnmap(m->at, m->room));
	DR(cuMemRelease(m->handle));
	DR(cuMemAddressFree(m->reserved, m->room + 2 * page));
}

// ---- values ----
__device__ static float at(const void *p, int size, size_t i)
{
	return size == 2 ? __bfloat162float(((const __nv_bfloat16 *)p)[i]) : ((const float *)p)[i];
}

__device__ static void put(void *p, int size, size_t i, float v)
{
	if (size == 2) ((__nv_bfloat16 *)p)[i] = __float2bfloat16_rn(v);
	else ((float *)p)[i] = v;
}

__global__ static void fill(void *p, int size, size_t n, uint32_t seed)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
		uint32_t h = (uint32_t)i * 2654435761u ^ seed;
		h = (h ^ h >> 16) * 0x85ebca6bu;
		h = (h ^ h >> 13) * 0xc2b2ae35u;
		put(p, size, i, ((h ^ h >> 16) >> 8) * 0x1p-22f - 2);
	}
}

__device__ static double all(double v, int greatest)
{
	__shared__ double part[32];
	for (int d = 16; d; d >>= 1) {
		double o = __shfl_xor_sync(~0u, v, d);
		v = greatest ? fmax(v, o) : v + o;
	}
	__syncthreads();
	if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
	__syncthreads();
	v = part[threadIdx.x % 32];
	for (int d = 16; d; d >>= 1) {
		double o = __shfl_xor_sync(~0u, v, d);
		v = greatest ? fmax(v, o) : v + o;
	}
	return v;
}

// One block of 1024 for each row: what the row must hold, compared with what it holds. x: as before the call; sum: ADD's r afterwards.
__global__ static void compare(enum kind kind, int size, const void *x, const void *r, const void *w, const void *b, const void *sum, const void *y,
	int64_t cols, float eps, unsigned long long *wrong)
{
	size_t row = blockIdx.x * (size_t)cols;
	double a = 0, c = 0, m = -INFINITY;
	unsigned long long bad = 0;
	if (kind == SCAN) {	// each thread has a run of columns
		int64_t each = (cols + 1023) / 1024, lo = min(cols, threadIdx.x * each), hi = min(cols, lo + each);
		__shared__ double run[1024];
		for (int64_t i = lo; i < hi; i++) a += at(x, size, row + i);
		run[threadIdx.x] = a;
		__syncthreads();
		for (int i = 0; i < (int)threadIdx.x; i++) c += run[i];
		for (int64_t i = lo; i < hi; i++) {
			c += at(x, size, row + i);
			double g = at(y, size, row + i);
			bad += !(fabs(g - c) <= (size == 2 ? 1.0 / 256 : 1e-5) * fabs(c) + 1e-2);
		}
		if (bad) atomicAdd(wrong, bad);
		return;
	}
	for (int64_t i = threadIdx.x; i < cols; i += 1024) {
		double v = kind == ADD ? at(sum, size, row + i) : at(x, size, row + i);
		a += v;
		m = fmax(m, v);
		if (kind == ADD) {
			float t = at(x, size, row + i) + at(r, size, row + i);
			bad += !((float)v == (size == 2 ? __bfloat162float(__float2bfloat16_rn(t)) : t));
		}
	}
	a = all(a, 0);
	m = all(m, 1);
	for (int64_t i = threadIdx.x; i < cols; i += 1024) {
		double v = kind == ADD ? at(sum, size, row + i) : at(x, size, row + i);
		c += kind == SOFT ? exp(v - m) : kind == LAYER ? (v - a / cols) * (v - a / cols) : v * v;
	}
	c = all(c, 0);
	for (int64_t i = threadIdx.x; i < cols; i += 1024) {
		double v = kind == ADD ? at(sum, size, row + i) : at(x, size, row + i);
		double rstd = 1 / sqrt(c / cols + eps), want;
		if (kind == SOFT) want = exp(v - m) / c;
		else if (kind == LAYER) want = (v - a / cols) * rstd * at(w, size, i) + at(b, size, i);
		else want = v * rstd * at(w, size, i);
		double g = at(y, size, row + i), unit = size == 2 ? 1.0 / 128 : 2e-5;
		bad += !(fabs(g - want) <= unit * fabs(want) + (kind == SOFT ? 1e-12 : unit));
	}
	if (bad) atomicAdd(wrong, bad);
}

// ---- calls ----
struct tensor {
	struct memory m;
	void *p;
	size_t bytes;
};

struct call {
	const struct kernel *k;
	int64_t rows, cols;
	int off, end;		// off by one element; at the end of its memory
	struct tensor x, r, w, b, y, before;
	unsigned long long *wrong;
	char text[200];
};

static struct tensor tensor(const struct call *c, size_t n, int data)
{
	struct tensor t;
	size_t size = c->k->size;
	t.bytes = n * size;
	t.m = map(t.bytes + (c->end ? 16 : c->off * size));
	size_t start = c->off * size;
	if (c->end) {	// as far up as the alignment lets it
		start = t.m.room - t.bytes;
		if (!c->off) start &= ~(size_t)15;
		else if (start % 16 == 0) start -= size;
	}
	t.p = (char *)t.m.at + start;
	if (data) fill<<<1024, 256, 0, stream>>>(t.p, c->k->size, n, draw(~0u));
	else RT(cudaMemsetAsync(t.p, 0xff, t.bytes, stream));
	return t;
}

static void prepare(struct call *c)
{
	size_t n = (size_t)c->rows * c->cols;
	enum kind k = c->k->kind;
	memset(&c->r, 0, sizeof c->r);
	c->w = c->b = c->before = c->r;
	RT(cudaMalloc((void **)&c->wrong, sizeof *c->wrong));
	RT(cudaMemsetAsync(c->wrong, 0, sizeof *c->wrong, stream));
	c->x = tensor(c, n, 1);
	c->y = tensor(c, n, 0);
	if (k == RMS || k == LAYER || k == ADD) c->w = tensor(c, c->cols, 1);
	if (k == LAYER) c->b = tensor(c, c->cols, 1);
	if (k == ADD) {
		c->r = tensor(c, n, 1);
		c->before = tensor(c, n, 0);
		RT(cudaMemcpyAsync(c->before.p, c->r.p, c->r.bytes, cudaMemcpyDeviceToDevice, stream));
	}
	snprintf(c->text, sizeof c->text, "%s of %s, tile %d, %lld x %lld, %s, at the %s", kind_names[k], c->k->size == 2 ? "bf16" : "f32", c->k->tile,
		(long long)c->rows, (long long)c->cols, c->off ? "off by one" : "aligned", c->end ? "end" : "start");
}

static const float EPS = 1e-5f;

static void launch(struct call *c)
{
	int s;
	doing = c->text;
	switch (c->k->kind) {
	case RMS:
		s = ((int (*)(const void *, const void *, void *, float, int64_t, int64_t, cudaStream_t))c->k->fn)(c->x.p, c->w.p, c->y.p, EPS, c->rows, c->cols, stream);
		break;
	case LAYER:
		s = ((int (*)(const void *, const void *, const void *, void *, float, int64_t, int64_t, cudaStream_t))c->k->fn)(c->x.p, c->w.p, c->b.p, c->y.p,
			EPS, c->rows, c->cols, stream);
		break;
	case ADD:
		s = ((int (*)(const void *, void *, const void *, void *, float, int64_t, int64_t, cudaStream_t))c->k->fn)(c->x.p, c->r.p, c->w.p, c->y.p, EPS,
			c->rows, c->cols, stream);
		break;
	default:
		s = ((int (*)(const void *, void *, int64_t, int64_t, cudaStream_t))c->k->fn)(c->x.p, c->y.p, c->rows, c->cols, stream);
	}
	if (s) fail("launch", ctile_status_text(s));
}

/* Once more, from what its tensors hold now. */
static void relaunch(struct call *c)
{
	if (c->r.p) RT(cudaMemcpyAsync(c->before.p, c->r.p, c->r.bytes, cudaMemcpyDeviceToDevice, stream));
	launch(c);
}

static void wait(void)
{
	cudaError_t e = cudaStreamSynchronize(stream);
	if (e != cudaSuccess) fail("launch", cudaGetErrorString(e));
}

static void check(struct call *c)
{
	unsigned long long bad = 0;
	doing = c->text;
	compare<<<(unsigned)c->rows, 1024, 0, stream>>>(c->k->kind, c->k->size, c->x.p, c->before.p, c->w.p, c->b.p, c->r.p, c->y.p, c->cols, EPS, c->wrong);
	RT(cudaMemcpyAsync(&bad, c->wrong, sizeof bad, cudaMemcpyDeviceToHost, stream));
	wait();
	if (bad) {
		char text[60];
		snprintf(text, sizeof text, "%llu elements", bad);
		fail("values", text);
	}
}

static void finish(struct call *c)
{
	struct tensor *const all[] = {&c->x, &c->r, &c->w, &c->b, &c->y, &c->before};
	RT(cudaFree(c->wrong));
	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i]->m.at) unmap(&all[i]->m);
}

// Columns beside what the tile holds, powers of two and lengths that no piece divides.
static int64_t columns(int tile)
{
	int64_t c;
	switch (draw(6)) {
	case 0: c = tile; break;
	case 1: c = tile - 1 - draw(20); break;
	case 2: c = tile / 2 + 1 + draw(9); break;
	case 3: c = tile / 4 * 3 + 8 * draw(40); break;
	case 4: c = 1 + draw(tile); break;
	default: c = tile > 65536 ? 65536 - 8 * draw(3) : 8 * (1 + draw(tile / 8));
	}
	return c < 1 ? 1 : c > tile ? tile : c;
}

/* large: one of so many has thousands of long rows; 0: none */
static void draw_call(struct call *c, const struct kernel *k, uint32_t large)
{
	memset(c, 0, sizeof *c);
	c->k = k;
	c->cols = columns(c->k->tile);
	c->rows = 1 + draw(min((draw(8) ? 300u : 4096u) * 4096 / (uint32_t)c->cols + 8, 4096u));
	if (large && draw(large) == 0 && c->cols > 16384) c->rows = 3000 + draw(1097);
	c->off = draw(3) == 0;
	c->end = draw(2);
	prepare(c);
}
#endif
