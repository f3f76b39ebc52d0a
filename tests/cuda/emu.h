/* Runs emitted CUDA kernels on the host, so that their values can be tested without a GPU. The kernels' text is compiled as
 * C after this file; the functions it calls are those of the C target, except for what is defined here: memory, shuffles,
 * shared memory, clusters, matrix instructions, launches. Threads of a block are coroutines that run until they wait; EMU_ORDER
 * (0 first to last, each warp as far as it gets, 1 last to first, 2 shuffled) changes who goes first, so that a missing barrier
 * shows in the values.
 * Global accesses must lie in memory from dev_alloc and be aligned; shared memory begins filled with 0xff. */
#include <math.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

/* What stands in for the GPU is optimized, whatever the kernels are: most of the time passes here, where any of them run. */
#pragma GCC push_options
#ifndef EMU_LAUNCH_ONLY
#pragma GCC optimize("O2")
#endif

#define CT_UNROLL(i, from, to) for (int i = from; i < to; i++)
#define CT_UNROLL_BY(i, to, by) for (int i = 0; i < to; i += by)

#define __global__
#define __device__
#define __shared__
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define dim3(x, y, z) (x)

/* ---- threads ---- */
enum { EMU_THREADS = 8192, EMU_STACK = (1 << 16) + 1088, EMU_SHARED = 232448, EMU_CLUSTER = 16 };
typedef enum { EMU_NEW, EMU_READY, EMU_BLOCK, EMU_WARP, EMU_DONE, EMU_STATES } EmuState;
/* at: where the coroutine waits, for the compiler's own jumps: libc's cost more than what kernels do between two waits.
 * arrived: at the cluster's barrier, in this phase of it; met: it has once waited there */
typedef struct EmuThread { void *at[5]; char *stack; unsigned phase; bool arrived, met; } EmuThread;
typedef struct EmuIndex { unsigned x, y, z; } EmuIndex;

__attribute__((aligned(128))) static unsigned char emu_shared[EMU_CLUSTER][EMU_SHARED];         /* of each thread block of the cluster */
static EmuThread emu_thread[EMU_THREADS];
static unsigned char emu_state[EMU_THREADS];
static unsigned short emu_count[EMU_THREADS / 32][EMU_STATES], emu_total[EMU_STATES];  /* threads in each state, of a warp, of all */
static EmuIndex threadIdx, blockIdx, blockDim;
static void *emu_home[5];
static void (*emu_body)(void **args);
static void **emu_args;
static bool emu_clustered;      /* launched with a cluster, if only of one thread block */
static unsigned emu_now, emu_cta, emu_first, emu_cluster;   /* emu_cta: threads of a thread block, emu_cluster: such blocks; emu_first: number of the cluster's first block */
/* What the lanes of each warp exchange. Two buffers alternate, so one wait an exchange is enough: a lane that writes to a buffer again
 * has waited for all lanes at the exchange in between, and they had read it by then. A lane has at most 16 elements of one matrix and 8
 * of the other, as doubles. */
enum { EMU_HANDED = 24 * sizeof(double) };
__attribute__((aligned(16))) static unsigned char emu_box[EMU_THREADS / 32][2][32][EMU_HANDED];
static unsigned char emu_turn[EMU_THREADS];

__attribute__((noreturn)) static void emu_fail(const char *what)
{
	fflush(stdout);
	fprintf(stderr, "emulation: block %u thread %u: %s\n", blockIdx.x, emu_now, what);
	abort();
}

static unsigned emu_rank(void) { return emu_now / emu_cta; }

static void emu_becomes(unsigned t, EmuState s)
{
	EmuState old = (EmuState)emu_state[t];
	emu_count[t / 32][old]--, emu_total[old]--;
	emu_count[t / 32][s]++, emu_total[s]++;
	emu_state[t] = (unsigned char)s;
}

/* The next lane to run of the current warp, the permutation of its lanes in order 2, and its first thread. */
static unsigned emu_lane, emu_shuffled, emu_warp_at;
static int emu_kind;

/* Makes the warp's next lane that can run the present thread. */
static bool emu_next(void)
{
	while (emu_lane < 32) {
		unsigned i = emu_lane++, t = emu_warp_at + (emu_kind == 1 ? 31 - i : (i ^ emu_shuffled) % 32);
		if (emu_state[t] != EMU_READY && emu_state[t] != EMU_NEW) continue;
		emu_now = t;
		threadIdx.x = t % emu_cta;
		if (emu_state[t] == EMU_NEW) emu_becomes(t, EMU_READY);
		return true;
	}
	return false;
}

static void emu_resume(void);

/* Switches to the warp's next lane, or after the last one back to emu_run_warp; returns when this thread is resumed. */
__attribute__((noinline)) static void emu_wait(EmuState s)
{
	unsigned me = emu_now;
	emu_becomes(me, s);
	if (__builtin_setjmp(emu_thread[me].at)) return;
	if (emu_next()) emu_resume();
	__builtin_longjmp(emu_home, 1);
}

/* Where each thread waits for its block: at one place for all, as CUDA wants, unless the barrier is a numbered one (PTX: bar.sync). */
static int emu_place[EMU_THREADS];
#define __syncthreads() (emu_place[emu_now] = __LINE__, emu_wait(EMU_BLOCK))
static inline void ct_named_sync(unsigned int id, unsigned int threads)
{
	if (threads != emu_cta) emu_fail("a numbered barrier of some threads of a block");
	emu_place[emu_now] = -(int)id;
	emu_wait(EMU_BLOCK);
}
#define __syncwarp() emu_wait(EMU_WARP)
static void emu_warp_sync(void) { emu_wait(EMU_WARP); }

/* ---- the cluster's barrier, and who still runs ---- */
static unsigned emu_phase, emu_arrived, emu_live;

static void emu_count_arrived(void)     /* threads that have ended count as arrived */
{
	if (emu_arrived < emu_live) return;
	emu_arrived = 0;
	emu_phase++;
}

static void emu_arrive_cluster(void)
{
	EmuThread *t = &emu_thread[emu_now];
	if (t->arrived) emu_fail("a thread arrives twice at the cluster's barrier");
	t->arrived = true;
	t->phase = emu_phase;
	emu_arrived++;
	emu_count_arrived();
}

static void emu_wait_cluster(void)
{
	EmuThread *t = &emu_thread[emu_now];
	if (!t->arrived) emu_fail("a thread waits at the cluster's barrier at which it has not arrived");
	while (t->phase == emu_phase) emu_wait(EMU_READY);
	t->arrived = false;
	t->met = true;
}

static void emu_block_ends(void);
#define EMU_FREE UINT64_C(0x5eed0fa11570ac75)   /* the far end of a stack that was never full */

static void emu_end(void)
{
	EmuThread *t = &emu_thread[emu_now];
	if (*(const uint64_t *)t->stack != EMU_FREE) emu_fail("a thread needs a larger stack than the emulation has");
	emu_becomes(emu_now, EMU_DONE);
	emu_live--;
	if (t->arrived && t->phase == emu_phase) emu_arrived--;
	emu_count_arrived();
	emu_block_ends();
}

/* A coroutine lives as long as the program: it runs one kernel after the other. */
static void emu_entry(void)
{
	for (;;) {
		emu_body(emu_args);
		emu_end();
		emu_wait(EMU_DONE);
	}
}

/* The stacks of all threads side by side, on large pages where the system has them: at each wait another thread goes on, and with
 * a page or two for each stack the processor would look up most of them anew. Their size is an odd number of lines of its caches, of
 * which all threads would else share a few. */
static char *emu_stack(unsigned t)
{
	static char *all;
	const size_t size = (size_t)EMU_STACK * EMU_THREADS;
	if (!all) {
		all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (all == MAP_FAILED) emu_fail("no memory for stacks");
#ifdef MADV_HUGEPAGE
		madvise(all, size, MADV_HUGEPAGE);
#endif
	}
	char *stack = all + (size_t)EMU_STACK * t;
	*(uint64_t *)stack = EMU_FREE;
	return stack;
}

static void emu_start(unsigned t)
{
	static ucontext_t first;
	emu_thread[t].stack = emu_stack(t);
	getcontext(&first);
	first.uc_stack.ss_sp = emu_thread[t].stack;
	first.uc_stack.ss_size = EMU_STACK;
	first.uc_link = NULL;
	makecontext(&first, emu_entry, 0);
	setcontext(&first);
}

__attribute__((noinline)) static void emu_resume(void)
{
	if (!emu_thread[emu_now].stack) emu_start(emu_now);
	__builtin_longjmp(emu_thread[emu_now].at, 1);
}

/* Lets each lane of a warp that can run do so until it waits. */
__attribute__((noinline)) static void emu_run_warp(unsigned w)
{
	emu_warp_at = w * 32;
	emu_lane = 0;
	blockIdx.x = emu_first + emu_warp_at / emu_cta;
	if (!__builtin_setjmp(emu_home) && emu_next()) emu_resume();
}

static unsigned emu_threads_in(unsigned from, unsigned to, EmuState s)
{
	unsigned n = 0;
	for (unsigned w = from / 32; w < to / 32; w++) n += emu_count[w][s];
	return n;
}

/* Have all of them ended? */
static bool emu_ended(unsigned from, unsigned to) { return emu_threads_in(from, to, EMU_DONE) == to - from; }

/* A warp of which all lanes wait for each other goes on. */
static bool emu_free_warp(unsigned w)
{
	unsigned short *count = emu_count[w];
	if (!count[EMU_WARP] || count[EMU_WARP] + count[EMU_DONE] < 32) return false;
	if (count[EMU_DONE]) emu_fail("a lane ended while others of its warp exchange data");
	memset(emu_state + w * 32, EMU_READY, 32);
	count[EMU_WARP] = 0, emu_total[EMU_WARP] -= 32;
	count[EMU_READY] = 32, emu_total[EMU_READY] += 32;
	return true;
}

/* A thread block of which all threads that run wait at its barrier goes on. */
static bool emu_free_block(unsigned from)
{
	unsigned to = from + emu_cta, waiting = emu_threads_in(from, to, EMU_BLOCK);
	int place = 0;
	if (!waiting || waiting + emu_threads_in(from, to, EMU_DONE) < emu_cta) return false;
	for (unsigned i = from; i < to; i++) {
		if (emu_state[i] != EMU_BLOCK) continue;
		if (place && place != emu_place[i]) emu_fail("threads of a block wait for each other at different places");
		place = emu_place[i];
		emu_becomes(i, EMU_READY);
	}
	return true;
}

/* Lets every thread that can run do so, warp by warp in an order of emu_kind. Lanes of a warp stay neighbours in all of them. In
 * order 0 a warp runs as far as it gets without the others; else all stop at each exchange within a warp. */
static bool emu_round(unsigned threads)
{
	static unsigned seed = 1;
	bool ran = false;
	emu_shuffled = emu_kind == 2 ? ((seed = seed * 1664525 + 1013904223) >> 8) % threads : 0;
	for (unsigned k = 0; k < threads; k += 32) {
		unsigned w = emu_kind == 1 ? (threads - 1 - k) / 32 : (k / 32 + emu_shuffled) % (threads / 32);
		do {
			if (!emu_count[w][EMU_NEW] && !emu_count[w][EMU_READY]) break;
			emu_run_warp(w);
			ran = true;
		} while (emu_kind == 0 && emu_free_warp(w));
	}
	return ran;
}

static void emu_block(unsigned threads)
{
	const char *order = getenv("EMU_ORDER");
	emu_kind = order ? atoi(order) : 0;
	emu_cluster = threads / emu_cta;
	if (emu_cluster > EMU_CLUSTER) emu_fail("a cluster of more thread blocks than have memory of their own");
	if (emu_cta % 32) emu_fail("thread blocks are whole warps");
	for (unsigned b = 0; b < emu_cluster; b++) memset(emu_shared[b], 0xff, sizeof emu_shared[b]);
	memset(emu_state, EMU_NEW, threads);
	memset(emu_count, 0, sizeof emu_count);
	memset(emu_total, 0, sizeof emu_total);
	for (unsigned w = 0; w < threads / 32; w++) emu_count[w][EMU_NEW] = 32;
	emu_total[EMU_NEW] = (unsigned short)threads;
	for (unsigned i = 0; i < threads; i++) emu_thread[i].arrived = emu_thread[i].met = false;
	emu_arrived = 0;
	emu_live = threads;
	while (emu_total[EMU_DONE] < threads) {
		bool ran = emu_round(threads);
		for (unsigned w = 0; w < threads / 32 && emu_total[EMU_WARP]; w++) ran |= emu_free_warp(w);
		for (unsigned b = 0; b < threads && emu_total[EMU_BLOCK]; b += emu_cta) ran |= emu_free_block(b);
		if (!ran && emu_total[EMU_DONE] < threads) emu_fail("threads wait at different barriers");
	}
}

/* ---- global memory ---- */
typedef struct EmuRange { uintptr_t from, to; } EmuRange;
static EmuRange emu_range[256];

void *dev_alloc(size_t bytes)
{
	char *p = aligned_alloc(256, (bytes + 511) / 256 * 256);
	memset(p, 0xa5, (bytes + 511) / 256 * 256);
	for (int i = 0; i < 256; i++)
		if (!emu_range[i].to) {
			emu_range[i] = (EmuRange){ (uintptr_t)p, (uintptr_t)p + bytes };
			return p;
		}
	emu_fail("too many allocations");
}

void dev_free(void *p)
{
	for (int i = 0; i < 256; i++)
		if (emu_range[i].from == (uintptr_t)p) emu_range[i] = (EmuRange){ 0, 0 };
	free(p);
}

void dev_upload(void *d, const void *h, size_t n) { memcpy(d, h, n); }
void dev_download(void *h, const void *d, size_t n) { memcpy(h, d, n); }
void dev_sync(void) { }
const char *dev_name(void) { return "the emulation"; }

static void emu_check(const void *p, size_t n)
{
	uintptr_t a = (uintptr_t)p;
	if (a % n) emu_fail("an access to global memory is not aligned");
	for (int i = 0; i < 256; i++)
		if (a >= emu_range[i].from && a + n <= emu_range[i].to) return;
	emu_fail("an access outside of global memory");
}

typedef struct __align__(8) ct_u32x2 { unsigned int v[2]; } ct_u32x2;
typedef struct __align__(16) ct_u32x4 { unsigned int v[4]; } ct_u32x4;
#define EMU_MEMORY(bits, T) \
	static inline T ct_ld_b##bits(const void *p) { emu_check(p, bits / 8); return *(const T *)p; } \
	static inline T ct_ldnc_b##bits(const void *p) { return ct_ld_b##bits(p); } \
	static inline T ct_ld_b##bits##_if(const void *p, int c, T pad) { return c ? ct_ld_b##bits(p) : pad; } \
	static inline T ct_ldnc_b##bits##_if(const void *p, int c, T pad) { return c ? ct_ld_b##bits(p) : pad; } \
	static inline void ct_st_b##bits(void *p, T v) { emu_check(p, bits / 8); *(T *)p = v; } \
	static inline void ct_st_b##bits##_if(void *p, int c, T v) { if (c) ct_st_b##bits(p, v); }
EMU_MEMORY(8, unsigned char) EMU_MEMORY(16, unsigned short) EMU_MEMORY(32, unsigned int) EMU_MEMORY(64, ct_u32x2) EMU_MEMORY(128, ct_u32x4)
#define EMU_HINT(bits, T) \
	static inline T ct_ld_hint_b##bits(const void *p, unsigned long long policy) { return ct_ld_b##bits(p); } \
	static inline T ct_ldnc_hint_b##bits(const void *p, unsigned long long policy) { return ct_ld_b##bits(p); } \
	static inline T ct_ld_hint_b##bits##_if(const void *p, int c, T pad, unsigned long long policy) { return c ? ct_ld_b##bits(p) : pad; } \
	static inline T ct_ldnc_hint_b##bits##_if(const void *p, int c, T pad, unsigned long long policy) { return c ? ct_ld_b##bits(p) : pad; } \
	static inline void ct_st_hint_b##bits(void *p, T v, unsigned long long policy) { ct_st_b##bits(p, v); } \
	static inline void ct_st_hint_b##bits##_if(void *p, int c, T v, unsigned long long policy) { if (c) ct_st_b##bits(p, v); }
#define EMU_RED(bits, T, scope) \
	static inline void ct_red_add_f32_b##bits##_##scope(float *p, T v) \
	{ \
		emu_check(p, bits / 8); \
		for (int i = 0; i < bits / 32; i++) { \
			float x; \
			memcpy(&x, &v.v[i], sizeof x); \
			p[i] += x; \
		} \
	}
#define EMU_RED_SCOPES(bits, T) EMU_RED(bits, T, block) EMU_RED(bits, T, device) EMU_RED(bits, T, system)
EMU_RED_SCOPES(64, ct_u32x2) EMU_RED_SCOPES(128, ct_u32x4)
static inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int n)
{
	return (unsigned int)(((unsigned long long)high << 32 | low) >> (n & 31));
}
static inline unsigned int __umulhi(unsigned int a, unsigned int b) { return (unsigned int)((unsigned long long)a * b >> 32); }
static inline void ct_copy_piece(void *to, const void *p) { *(ct_u32x4 *)to = ct_ld_b128(p); }
static inline void ct_copied(void) { }
EMU_HINT(64, ct_u32x2) EMU_HINT(128, ct_u32x4)
static inline unsigned long long ct_policy_evict_first(void) { return 0; }
static inline unsigned long long ct_policy_evict_last(void) { return 0; }
static inline unsigned char ct_get_b8(unsigned w, int i) { return (unsigned char)(w >> (8 * i)); }
static inline void ct_split_b16(unsigned short *r, unsigned w) { r[0] = (unsigned short)w; r[1] = (unsigned short)(w >> 16); }
static inline void ct_split_b8(void *r, unsigned short w) { memcpy(r, &w, sizeof w); }
static inline unsigned short ct_get_b16(unsigned w, int i) { return (unsigned short)(w >> (16 * i)); }
static inline unsigned ct_join_b8(unsigned a, unsigned b, unsigned c, unsigned d) { return a | b << 8 | c << 16 | d << 24; }
static inline unsigned ct_join_b16(unsigned short a, unsigned short b) { return a | (unsigned)b << 16; }
static inline void ct_opaque_b16x2(unsigned short *r, const unsigned short *a) { r[0] = a[0]; r[1] = a[1]; }
#define EMU_PIECE(n, T) \
	static inline void ct_get_f32x##n(float *r, T w) { memcpy(r, &w, sizeof w); } \
	static inline T ct_put_f32x##n(const float *a) { T w; memcpy(&w, a, sizeof w); return w; }
#define EMU_HALVES(n, T) \
	static inline void ct_get_b16x##n(unsigned short *r, T w) { memcpy(r, &w, sizeof w); } \
	static inline T ct_put_b16x##n(const unsigned short *a) { T w; memcpy(&w, a, sizeof w); return w; }
#define EMU_BYTES(n, T) \
	static inline void ct_get_b8x##n(void *r, T w) { memcpy(r, &w, sizeof w); } \
	static inline T ct_put_b8x##n(const void *a) { T w; memcpy(&w, a, sizeof w); return w; }
#define EMU_INT(t, type, n, T) \
	static inline void ct_get_##t##x##n(type *r, T w) { memcpy(r, &w, sizeof w); } \
	static inline T ct_put_##t##x##n(const type *a) { T w; memcpy(&w, a, sizeof w); return w; }
EMU_INT(i32, int, 2, ct_u32x2) EMU_INT(i32, int, 4, ct_u32x4)
EMU_INT(u32, unsigned, 2, ct_u32x2) EMU_INT(u32, unsigned, 4, ct_u32x4)
#define EMU_BOOL(n, T) \
	static inline void ct_get_boolx##n(unsigned char *r, T w) \
	{ \
		memcpy(r, &w, sizeof w); \
		for (int i = 0; i < n; i++) r[i] = r[i] != 0; \
	}
EMU_BOOL(4, unsigned) EMU_BOOL(8, ct_u32x2) EMU_BOOL(16, ct_u32x4)
EMU_PIECE(2, ct_u32x2) EMU_PIECE(4, ct_u32x4) EMU_HALVES(4, ct_u32x2) EMU_HALVES(8, ct_u32x4)
EMU_BYTES(4, unsigned) EMU_BYTES(8, ct_u32x2) EMU_BYTES(16, ct_u32x4)
static inline unsigned ct_cvt_f16x2_f32(float lo, float hi)
{
	_Float16 h[2] = { (_Float16)lo, (_Float16)hi };
	unsigned r;
	memcpy(&r, h, 4);
	if (lo != lo) r = (r & 0xffff0000u) | 0x7fff;
	if (hi != hi) r = (r & 0xffff) | 0x7fff0000u;
	return r;
}
static inline unsigned emu_bf16(float a)
{
	unsigned x;
	memcpy(&x, &a, 4);
	return a != a ? 0x7fff : (x + 0x7fff + (x >> 16 & 1)) >> 16;
}
static inline unsigned ct_cvt_bf16x2_f32(float lo, float hi) { return emu_bf16(lo) | emu_bf16(hi) << 16; }
static inline unsigned emu_best(unsigned a, unsigned b, unsigned inf, int least)       /* of 16-bit floats: a NaN only of two */
{
	unsigned x = a & 0x8000 ? ~a & 0xffff : a | 0x8000, y = b & 0x8000 ? ~b & 0xffff : b | 0x8000;
	if ((a & 0x7fff) > inf) return (b & 0x7fff) > inf ? 0x7fff : b;
	return (b & 0x7fff) > inf || (x > y) != least ? a : b;
}
#define EMU_PAIR(name, inf, least) \
	static inline unsigned name(unsigned a, unsigned b) \
	{ return emu_best(a & 0xffff, b & 0xffff, inf, least) | emu_best(a >> 16, b >> 16, inf, least) << 16; }
EMU_PAIR(ct_max_bf16x2, 0x7f80, 0) EMU_PAIR(ct_min_bf16x2, 0x7f80, 1) EMU_PAIR(ct_max_f16x2, 0x7c00, 0) EMU_PAIR(ct_min_f16x2, 0x7c00, 1)
static inline unsigned long long ct_join_u64(unsigned lo, unsigned hi) { return lo | (unsigned long long)hi << 32; }
static inline unsigned int ct_div(unsigned int n, unsigned long long d) { return (unsigned int)((unsigned long long)n * (unsigned int)d >> (int)(d >> 32)); }
static inline int ct_at_most(long long a) { return a > 1 << 30 ? 1 << 30 : (int)a; }
static inline int ct_at_least(int a) { return a < -(1 << 30) ? -(1 << 30) : a; }
static inline int ct_within(long long a) { return a > 1 << 30 ? 1 << 30 : a < -(1 << 30) ? -(1 << 30) : (int)a; }
static inline unsigned char ct_same_u32(unsigned int a, unsigned int b) { return a == b; }
static inline long long ct_tile_at(long long index, long long step, long long offset)
{
	const long long far = 1ll << 62;
	return index > far / step || index < -far / step ? -far : index * step + offset;
}
static inline void ct_trap(const char *what) { printf("%s\n", what); emu_fail("trap"); }
static inline float ct_div_f32_whole(float a, float b) { return a / b; }
#define EMU_WHOLE(elem, T, lo, hi) \
	static inline T ct_cvt_##elem##_f32_re(float a) \
	{ double r = rint(a); return r != r ? 0 : r <= lo ? (T)lo : r >= hi ? (T)hi : (T)r; }
EMU_WHOLE(i8, signed char, -128.0, 127.0) EMU_WHOLE(i16, short, -32768.0, 32767.0)
EMU_WHOLE(i32, int, -2147483648.0, 2147483647.0) EMU_WHOLE(u8, unsigned char, 0.0, 255.0)
EMU_WHOLE(u16, unsigned short, 0.0, 65535.0) EMU_WHOLE(u32, unsigned, 0.0, 4294967295.0)
#define EMU_WHOLE_PAIR(elem) \
	static inline unsigned ct_cvt_##elem##x2_f32_re(float lo, float hi) \
	{ return (unsigned char)ct_cvt_##elem##_f32_re(lo) | (unsigned)(unsigned char)ct_cvt_##elem##_f32_re(hi) << 8; }
EMU_WHOLE_PAIR(i8) EMU_WHOLE_PAIR(u8)
static inline int __popc(unsigned a) { return __builtin_popcount(a); }
static inline int __ffs(int a) { return __builtin_ffs(a); }
static inline int atomicAdd(int *p, int v) { int old = *p; *p += v; return old; }
/* of the functions that are taken as they are printed, whatever the type */
#define emu_atomicAdd(p, v) (*(p) += (v))
#define emu_atomicMin(p, v) (*(p) = (v) < *(p) ? (v) : *(p))
#define emu_atomicMax(p, v) (*(p) = (v) > *(p) ? (v) : *(p))
#define emu_atomicAnd(p, v) (*(p) &= (v))
#define emu_atomicOr(p, v) (*(p) |= (v))
#define emu_atomicXor(p, v) (*(p) ^= (v))

/* ---- within a warp ---- */
#define EMU_WARP_OF (emu_now / 32)
#define EMU_LANE (emu_now % 32)
/* What lane 0 has handed over, EMU_HANDED bytes before lane 1's. */
static const unsigned char *emu_exchange(const void *p, size_t n)
{
	unsigned char (*box)[EMU_HANDED] = emu_box[EMU_WARP_OF][emu_turn[emu_now] ^= 1];
	memcpy(box[EMU_LANE], p, n);
	emu_warp_sync();
	return box[0];
}

#define EMU_SHFL(elem, T) \
	static T ct_shfl_idx_##elem(T a, int lane) \
	{ T r; memcpy(&r, emu_exchange(&a, sizeof a) + (lane & 31) * EMU_HANDED, sizeof r); return r; } \
	static inline T ct_shfl_xor_##elem(T a, int m) { return ct_shfl_idx_##elem(a, (int)EMU_LANE ^ m); } \
	static inline T ct_shfl_up_##elem(T a, int d) { return ct_shfl_idx_##elem(a, (int)EMU_LANE >= d ? (int)EMU_LANE - d : (int)EMU_LANE); } \
	static inline T ct_shfl_down_##elem(T a, int d) { return ct_shfl_idx_##elem(a, (int)EMU_LANE + d < 32 ? (int)EMU_LANE + d : (int)EMU_LANE); }
EMU_SHFL(i8, signed char) EMU_SHFL(i16, short) EMU_SHFL(i32, int) EMU_SHFL(i64, long long) EMU_SHFL(u8, unsigned char)
EMU_SHFL(u16, unsigned short) EMU_SHFL(u32, unsigned) EMU_SHFL(u64, unsigned long long) EMU_SHFL(f8e4m3, unsigned char)
EMU_SHFL(f8e5m2, unsigned char) EMU_SHFL(f16, unsigned short) EMU_SHFL(bf16, unsigned short) EMU_SHFL(tf32, float)
EMU_SHFL(f32, float) EMU_SHFL(f64, double) EMU_SHFL(bool, unsigned char)

#define EMU_COMBINE(op, elem, T, expression) \
	static inline T ct_warp_##op##_##elem(T a) \
	{ \
		const unsigned char *all = emu_exchange(&a, sizeof a); \
		T r, b; \
		memcpy(&r, all, sizeof r); \
		for (int i = 1; i < 32; i++) { memcpy(&b, all + i * EMU_HANDED, sizeof b); r = (T)(expression); } \
		return r; \
	}
#define EMU_COMBINE_BITS(elem, T) \
	EMU_COMBINE(bitand, elem, T, r & b) EMU_COMBINE(bitor, elem, T, r | b) EMU_COMBINE(bitxor, elem, T, r ^ b)
#define EMU_COMBINE_INT(elem, T) \
	EMU_COMBINE_BITS(elem, T) EMU_COMBINE(add, elem, T, (unsigned)r + (unsigned)b) EMU_COMBINE(max, elem, T, r > b ? r : b) \
	EMU_COMBINE(min, elem, T, r < b ? r : b)
EMU_COMBINE(bitand, bool, unsigned char, r & b) EMU_COMBINE(bitor, bool, unsigned char, r | b)
EMU_COMBINE(bitxor, bool, unsigned char, r ^ b)         /* bool is a macro: it must not pass through another one */
EMU_COMBINE_INT(i8, signed char) EMU_COMBINE_INT(i16, short) EMU_COMBINE_INT(i32, int)
EMU_COMBINE_INT(u8, unsigned char) EMU_COMBINE_INT(u16, unsigned short) EMU_COMBINE_INT(u32, unsigned)

/* Votes lie side by side: 32 boxes are as many lines of the processor's cache. Eight bytes that are 0 or 1, times the sum of
 * 1 << 7 * (8 - i) for all i, have the vote of byte i as bit i of the last byte. */
static unsigned ct_ballot(int c)
{
	static unsigned char vote[EMU_THREADS / 32][2][32];
	unsigned char *votes = vote[EMU_WARP_OF][emu_turn[emu_now] ^= 1];
	unsigned r = 0;
	votes[EMU_LANE] = c != 0;
	emu_warp_sync();
	for (int i = 0; i < 4; i++) {
		uint64_t eight;
		memcpy(&eight, votes + 8 * i, sizeof eight);
		r |= (unsigned)(eight * 0x0102040810204080 >> 56) << 8 * i;
	}
	return r;
}

/* ---- clusters: what is sent to a thread block lands in its memory, where bytes count for its mbarrier. It must have begun, which
 * only the cluster's barrier tells, and must not have ended. An mbarrier is the number of bytes to come. ---- */
enum { EMU_BARS = 64 };
static struct { unsigned char *at; bool waited; } emu_bar[EMU_CLUSTER][EMU_BARS];
static unsigned emu_bars[EMU_CLUSTER];

static inline unsigned ct_cluster_rank(void) { return emu_rank(); }
static inline unsigned ct_cluster_size(void) { return emu_cluster; }
static inline int ct_cluster_zero(void) { return 0; }
static inline int ct_unknown_zero(const void *p) { return (int)((unsigned long long)p >> 63); }
static inline void ct_grid_wait(void) { }
static inline void ct_grid_launch(void) { }
static inline void ct_cluster_arrive(void) { emu_arrive_cluster(); }
static inline void ct_cluster_wait(void) { emu_wait_cluster(); }
static inline void ct_cluster_sync(void) { emu_arrive_cluster(); emu_wait_cluster(); }
static inline void ct_bar_ready(void) { }
static inline void ct_ask_if(const void *p, int c) { (void)p; (void)c; }

/* Of an exchange: bytes to come, or where the next phase is not expected yet, those that have come for it; whether it is not; bytes
 * of a phase; phases that are over. */
typedef struct { unsigned left, early, all, over; } emu_bytes;

static void emu_bar_begin(void *bar, unsigned count)
{
	unsigned rank = emu_rank();
	memcpy(bar, &count, sizeof count);
	if (emu_bars[rank] == EMU_BARS) emu_fail("more mbarriers than the emulation keeps");
	emu_bar[rank][emu_bars[rank]].waited = false;
	emu_bar[rank][emu_bars[rank]++].at = (unsigned char *)bar;
}

static inline void ct_bar_init(void *bar, unsigned sends, unsigned bytes)
{
	emu_bytes p = { bytes, 0, bytes, 0 };
	(void)sends;
	emu_bar_begin(bar, bytes);
	memcpy(bar, &p, sizeof p);
}

static void ct_bar_again(void *bar, unsigned bytes)
{
	emu_bytes p;
	memcpy(&p, bar, sizeof p);
	if (!p.early || bytes != p.all) emu_fail("an mbarrier expects bytes before its phase is over");
	p = (emu_bytes){ bytes - p.left, p.left == bytes, bytes, p.over + (p.left == bytes) };
	memcpy(bar, &p, sizeof p);
}

static bool emu_was_sent(const unsigned char *bar)     /* anything: the place of a round that there was not is left alone */
{
	emu_bytes p;
	memcpy(&p, bar, sizeof p);
	return p.early || p.over || p.left != p.all;
}

static void emu_block_ends(void)        /* perhaps: with its last thread */
{
	unsigned rank = emu_rank();
	if (!emu_ended(rank * emu_cta, (rank + 1) * emu_cta)) return;
	for (unsigned i = 0; i < emu_bars[rank]; i++)
		if (!emu_bar[rank][i].waited && emu_was_sent(emu_bar[rank][i].at)) emu_fail("a thread block ends without having waited for what others send to it");
	emu_bars[rank] = 0;
}

static void emu_send(const void *p, const void *v, unsigned bytes, const void *bar, unsigned to)
{
	size_t at = (size_t)((const unsigned char *)p - emu_shared[emu_rank()]);
	size_t its_bar = (size_t)((const unsigned char *)bar - emu_shared[emu_rank()]);
	emu_bytes phase;
	if (at + bytes > EMU_SHARED || its_bar + sizeof phase > EMU_SHARED) emu_fail("what is sent has no place in shared memory");
	if (to >= emu_cluster) emu_fail("there is no such thread block in the cluster");
	if (!emu_clustered) emu_fail("st.async in a launch without a cluster");
	if (!emu_thread[emu_now].met) emu_fail("a thread sends before it knows that the cluster's thread blocks have begun");
	if (emu_ended(to * emu_cta, (to + 1) * emu_cta)) emu_fail("a thread sends to a thread block that has ended");
	memcpy(emu_shared[to] + at, v, bytes);
	memcpy(&phase, emu_shared[to] + its_bar, sizeof phase);
	if (phase.early ? phase.left + bytes > phase.all : phase.left < bytes) emu_fail("more bytes are sent than the exchange waits for");
	phase.left = phase.early ? phase.left + bytes : phase.left - bytes;
	if (!phase.early && !phase.left) phase.early = 1, phase.over++;
	memcpy(emu_shared[to] + its_bar, &phase, sizeof phase);
}
static inline void ct_send_b32(const void *p, unsigned v, const void *bar, unsigned to) { emu_send(p, &v, 4, bar, to); }
static inline void ct_send_b64(const void *p, unsigned long long v, const void *bar, unsigned to) { emu_send(p, &v, 8, bar, to); }
/* Others run as far as they get meanwhile: nothing takes so many rounds that is to come at all. */
static void ct_bar_wait(const void *bar)
{
	enum { ROUNDS = 20000 };
	unsigned left = 1, rounds = 0;
	if (!emu_thread[emu_now].met) emu_fail("a thread waits for an mbarrier before it knows that the cluster's thread blocks have begun");
	while (left) {
		memcpy(&left, bar, sizeof left);
		if (left) emu_wait(EMU_READY);
		if (rounds++ > ROUNDS) emu_fail("a thread waits for what never comes");
	}
	for (unsigned i = 0, rank = emu_rank(); i < emu_bars[rank]; i++) emu_bar[rank][i].waited |= emu_bar[rank][i].at == bar;
}

static void ct_bar_wait_phase(const void *bar, unsigned parity)
{
	emu_bytes p = { 0 };
	for (memcpy(&p, bar, sizeof p); (p.over & 1) == parity; memcpy(&p, bar, sizeof p)) emu_wait(EMU_READY);
	for (unsigned i = 0, rank = emu_rank(); i < emu_bars[rank]; i++) emu_bar[rank][i].waited |= emu_bar[rank][i].at == bar;
}

/* Copies are made at once: the number is that of parts that have not been asked for. */
static inline void ct_stage_init(void *bar, unsigned parts) { emu_bar_begin(bar, parts); }
static void ct_stage_expect(void *bar, unsigned bytes)
{
	unsigned left;
	if (bytes % 16) emu_fail("a copy is not of whole pieces");
	memcpy(&left, bar, sizeof left);
	if (!left--) emu_fail("more copies are announced than an mbarrier waits for");
	memcpy(bar, &left, sizeof left);
}
static void ct_stage(void *to, const void *p, unsigned bytes, void *bar)
{
	const unsigned char *from = (const unsigned char *)((size_t)p & ~(size_t)15);
	(void)bar;
	for (unsigned i = 0; i < bytes; i += 16) ct_copy_piece((unsigned char *)to + i, from + i);
}

/* ---- matrices: ldmatrix and mma.sync as the PTX manual has them ---- */
static inline unsigned ct_shared(const void *p) { return (unsigned)((const unsigned char *)p - emu_shared[emu_rank()]); }

static inline unsigned ct_address(const void *p) { return ct_shared(p); }

/* At once: whether copies are waited for is for tests/sim. */
static inline void ct_copy16(unsigned at, const void *p, unsigned n)
{
	if (at % 16 || at + 16 > EMU_SHARED) emu_fail("cp.async: a piece is not aligned to 16 bytes");
	if (n && (size_t)p % 16) emu_fail("cp.async: an address is no multiple of 16 bytes");
	memset(emu_shared[emu_rank()] + at, 0, 16);
	memcpy(emu_shared[emu_rank()] + at, p, n);
}

static void emu_ldm(unsigned *r, unsigned at, int n, bool trans)
{
	const unsigned char *box = emu_exchange(&at, sizeof at);
	for (int j = 0; j < n; j++) {
		unsigned row[8];
		for (int i = 0; i < 8; i++) {
			memcpy(&row[i], box + (8 * j + i) * EMU_HANDED, sizeof row[i]);
			if (row[i] % 16 || row[i] + 16 > EMU_SHARED) emu_fail("ldmatrix: a row is not aligned to 16 bytes");
		}
		unsigned t = EMU_LANE;
		unsigned short h[2];
		for (int i = 0; i < 2; i++) {
			unsigned x = trans ? 2 * (t % 4) + i : t / 4, y = trans ? t / 4 : 2 * (t % 4) + i;
			memcpy(&h[i], emu_shared[emu_rank()] + row[x] + 2 * y, 2);
		}
		r[j] = h[0] | (unsigned)h[1] << 16;
	}
	emu_warp_sync();        /* all lanes have read before one goes on and writes */
}
#define EMU_LDM(n) \
	static inline void ct_ldm_x##n(unsigned *r, unsigned at) { emu_ldm(r, at, n, false); } \
	static inline void ct_ldm_x##n##_t(unsigned *r, unsigned at) { emu_ldm(r, at, n, true); }
EMU_LDM(1) EMU_LDM(2) EMU_LDM(4)

typedef enum { EMU_F16, EMU_BF16, EMU_TF32, EMU_I8, EMU_U8 } EmuElem;

static double emu_elem(EmuElem e, const unsigned char *words, int i)
{
	unsigned w;
	float f;
	switch (e) {
	case EMU_I8: return (signed char)words[i];
	case EMU_U8: return words[i];
	case EMU_TF32:
		memcpy(&w, words + 4 * i, 4);
		w &= 0xffffe000u;
		break;
	default: {
		unsigned short h;
		memcpy(&h, words + 2 * i, 2);
		if (e == EMU_BF16) {
			w = (unsigned)h << 16;
		} else {
			/* its exponent and fraction as those of an f32, which is then off by a power of two */
			w = (h & 0x7fffu) << 13;
			memcpy(&f, &w, 4);
			f = w >= 31u << 23 ? (w == 31u << 23 ? INFINITY : NAN) : f * 0x1p112f;
			return h >> 15 ? -f : f;
		}
	}
	}
	memcpy(&f, &w, 4);
	return f;
}

static int emu_per(EmuElem e) { return e == EMU_TF32 ? 1 : e <= EMU_BF16 ? 2 : 4; }         /* elements of a register */

/* Sum over k of a[row][k] b[k][col]; box holds each lane's elements: an registers of a, then those of b. */
static double emu_dot(const unsigned char *box, int per, int k, int row, int col, int an)
{
	int half = 4 * per;     /* columns that one register of each lane covers */
	double s = 0;
	for (int c = 0; c < k; c++) {
		int reg = c / half, lane = (c % half) / per, i = c % per;
		int areg = reg * 2 + row / 8;           /* a0 (row), a1 (row + 8), a2, a3: next columns */
		const double *a = (const double *)(box + ((row % 8) * 4 + lane) * EMU_HANDED) + per * areg + i;
		const double *b = (const double *)(box + (col * 4 + lane) * EMU_HANDED) + per * (an + reg) + i;
		s += *a * *b;
	}
	return s;
}

static const unsigned char *emu_hand(const unsigned *a, EmuElem ea, int an, const unsigned *b, EmuElem eb, int bn)
{
	double x[24], *to = x;
	for (int i = 0; i < an * emu_per(ea); i++) *to++ = emu_elem(ea, (const unsigned char *)a, i);
	for (int i = 0; i < bn * emu_per(eb); i++) *to++ = emu_elem(eb, (const unsigned char *)b, i);
	return emu_exchange(x, (size_t)((char *)to - (char *)x));
}

#define EMU_MMA(name, T, ea, eb, k, an, bn) \
	static void name(T *d, const unsigned *a, const unsigned *b) \
	{ \
		const unsigned char *box = emu_hand(a, ea, an, b, eb, bn); \
		for (int i = 0; i < 4; i++) \
			d[i] = (T)(d[i] + emu_dot(box, emu_per(ea), k, (int)EMU_LANE / 4 + 8 * (i / 2), (int)EMU_LANE % 4 * 2 + i % 2, an)); \
	}
EMU_MMA(ct_mma_m16n8k16_f16_f16, float, EMU_F16, EMU_F16, 16, 4, 2) EMU_MMA(ct_mma_m16n8k16_bf16_bf16, float, EMU_BF16, EMU_BF16, 16, 4, 2)
EMU_MMA(ct_mma_m16n8k8_f16_f16, float, EMU_F16, EMU_F16, 8, 2, 1) EMU_MMA(ct_mma_m16n8k8_bf16_bf16, float, EMU_BF16, EMU_BF16, 8, 2, 1)
EMU_MMA(ct_mma_m16n8k8_tf32_tf32, float, EMU_TF32, EMU_TF32, 8, 4, 2) EMU_MMA(ct_mma_m16n8k4_tf32_tf32, float, EMU_TF32, EMU_TF32, 4, 2, 1)
#define EMU_MMA_INT(a, b, ea, eb) EMU_MMA(ct_mma_m16n8k32_##a##_##b, int, ea, eb, 32, 4, 2) EMU_MMA(ct_mma_m16n8k16_##a##_##b, int, ea, eb, 16, 2, 1)
EMU_MMA_INT(i8, i8, EMU_I8, EMU_I8) EMU_MMA_INT(i8, u8, EMU_I8, EMU_U8) EMU_MMA_INT(u8, i8, EMU_U8, EMU_I8) EMU_MMA_INT(u8, u8, EMU_U8, EMU_U8)

static void ct_mma_m8n8k4_f64_f64(double *d, const double *a, const double *b)
{
	double w[2] = { a[0], b[0] }, x, y;
	const unsigned char *box = emu_exchange(w, sizeof w);
	for (int i = 0; i < 2; i++)
		for (unsigned k = 0; k < 4; k++) {
			memcpy(&x, box + (EMU_LANE / 4 * 4 + k) * EMU_HANDED, 8);
			memcpy(&y, box + ((EMU_LANE % 4 * 2 + i) * 4 + k) * EMU_HANDED + 8, 8);
			d[i] += x * y;
		}
}

/* ---- the runtime ---- */
#ifdef EMU_LAUNCH_ONLY          /* what is launched is checked, not run */
enum { EMU_RUNS = false };
#else
enum { EMU_RUNS = true };
#endif
typedef int cudaError_t;
typedef struct cudaFuncAttributes { int maxThreadsPerBlock, ptxVersion; } cudaFuncAttributes;
enum { cudaSuccess, cudaErrorInvalidDeviceFunction = 98, cudaErrorNoKernelImageForDevice = 209, cudaDevAttrComputeCapabilityMajor = 75,
	cudaDevAttrComputeCapabilityMinor, cudaDevAttrMultiProcessorCount = 16, cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributeNonPortableClusterSizeAllowed = 13 };
typedef struct EmuKernel { const void *fn; void (*body)(void **args); int threads; } EmuKernel;
static const EmuKernel *emu_kernel(const void *fn);     /* after the kernels */

static inline cudaError_t cudaGetDevice(int *d) { *d = 0; return 0; }
static inline cudaError_t cudaGetLastError(void) { return 0; }
static inline const char *cudaGetErrorString(cudaError_t e) { return e ? "error" : "no error"; }
static inline cudaError_t cudaDeviceGetAttribute(int *v, int which, int d)
{
	(void)d;
	*v = which == cudaDevAttrComputeCapabilityMajor ? __CUDA_ARCH__ / 100 : __CUDA_ARCH__ / 10 % 10;
	return 0;
}
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *fn)
{
	a->maxThreadsPerBlock = emu_kernel(fn)->threads;
	a->ptxVersion = __CUDA_ARCH__ / 10;
	return 0;
}
static inline cudaError_t cudaFuncSetAttribute(const void *fn, int which, int v) { (void)fn, (void)which, (void)v; return 0; }
struct CUstream_st;
static inline cudaError_t cudaLaunchKernel(const void *fn, unsigned blocks, unsigned threads, void **args, size_t shared, struct CUstream_st *s)
{
	const EmuKernel *k = emu_kernel(fn);
	(void)s;
	if (threads > (unsigned)k->threads) emu_fail("more threads than __launch_bounds__");
	if (shared > EMU_SHARED) emu_fail("too much shared memory");
	emu_body = k->body;
	emu_args = args;
	blockDim.x = emu_cta = threads;
	for (emu_first = 0; EMU_RUNS && emu_first < blocks; emu_first++) emu_block(threads);
	return 0;
}
#define CUDART_VERSION 13000
typedef struct EmuDim { unsigned x, y, z; } EmuDim;
typedef union cudaLaunchAttributeValue { EmuDim clusterDim; int programmaticStreamSerializationAllowed, cooperative; } cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute { int id; cudaLaunchAttributeValue val; } cudaLaunchAttribute;
typedef struct cudaLaunchConfig_t {
	unsigned gridDim, blockDim;
	size_t dynamicSmemBytes;
	struct CUstream_st *stream;
	cudaLaunchAttribute *attrs;
	int numAttrs;
} cudaLaunchConfig_t;
enum { cudaLaunchAttributeCooperative = 2, cudaLaunchAttributeClusterDimension = 4, cudaLaunchAttributeProgrammaticStreamSerialization = 6, cudaErrorInvalidConfiguration = 9 };
/* EMU_CLUSTER_MOST: of a device that runs no larger clusters */
static inline unsigned emu_cluster_most(void) { return getenv("EMU_CLUSTER_MOST") ? (unsigned)atoi(getenv("EMU_CLUSTER_MOST")) : EMU_CLUSTER; }
static inline cudaError_t cudaOccupancyMaxActiveClusters(int *n, const void *fn, const cudaLaunchConfig_t *c)
{
	(void)fn;
	*n = c->attrs[0].val.clusterDim.x <= emu_cluster_most();
	return 0;
}
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *fn, int threads, size_t shared)
{
	(void)fn, (void)threads, (void)shared;
	*n = 1;
	return 0;
}
static inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *fn, void **args)
{
	const EmuKernel *k = emu_kernel(fn);
	unsigned n = 1;
	emu_clustered = false;
	for (int i = 0; i < c->numAttrs; i++)
		if (c->attrs[i].id == cudaLaunchAttributeClusterDimension) n = c->attrs[i].val.clusterDim.x, emu_clustered = true;
	if (c->dynamicSmemBytes > EMU_SHARED) emu_fail("too much shared memory");
	if (c->blockDim > (unsigned)k->threads) emu_fail("more threads than __launch_bounds__");
	if (n > emu_cluster_most()) emu_fail("a larger cluster than the device runs");
	if (c->gridDim % n || n * c->blockDim > EMU_THREADS) emu_fail("a grid that does not consist of clusters");
	emu_body = k->body;
	emu_args = args;
	blockDim.x = emu_cta = c->blockDim;
	for (emu_first = 0; EMU_RUNS && emu_first < c->gridDim; emu_first += n) emu_block(n * c->blockDim);
	return 0;
}

#pragma GCC pop_options
