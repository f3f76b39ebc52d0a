/* Runs on a GPU: every function that both targets have gives the same bits for the same operands as on the host, and the
 * mathematical functions stay within a bound of the host's. Built and run by prelude_ref.py gpu, also with -fmad=false,
 * -ftz=true and -use_fast_math: each must print the same line (its last number is a hash of all results). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace host {
#include "c.inc"
}
#undef CT_FN
#include "cuda.inc"

#define TRY(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) { printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
	exit(1); } } while (0)

enum { N = 1 << 17 };
static int failures, functions;
static unsigned long long hash = 14695981039346656037ull, seed = 88172645463325252ull;

static unsigned long long draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 2685821657736338717ull;
}

/* Operands: edges, all values of 16-bit types, random bits, and floats of like exponents. */
static unsigned long long operand(int i, int k, size_t size, unsigned long long first)
{
	static const unsigned long long edges32[] = { 0, 1, 2, 0x7fffff, 0x800000, 0x800001, 0x3f800000, 0x3f7fffff, 0x3f800001, 0x7f7fffff,
		0x7f800000, 0x7fc00000, 0x4b000000, 0x4f000000, 0x5f000000, 0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x43e00000, 0x43e80001,
		0x47600000, 0x47700000, 0xff, 0x100, 0xffff, 0x10000, 0x7fffffff };
	const int n = (int)(sizeof edges32 / sizeof *edges32);
	unsigned long long r = draw();
	static const unsigned edges16[] = { 0, 0x8000, 1, 0x8001, 0x3c00, 0xbc00, 0x3f80, 0xbf80, 0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7bff, 0x7f7f,
		0x400, 0x80 };
	if (size == 2 && i >= 1 << 16) return edges16[(k ? i >> (4 * k) : i) & 15];
	if (size == 1) return (k ? r : (unsigned long long)i) & 0xff;
	if (size == 2 && k == 0) return i & 0xffff;
	if (size == 2) return (i & 3 ? (r & 0x83ff) | ((first + (r >> 20 & 0x1fff) - 0x1000) & 0x7c00) : r) & 0xffff;
	int j = k == 0 ? i / n : k == 1 ? i : i / 7;
	if (size == 4) {
		unsigned long long v = i < 4 * n * n ? edges32[j % n] ^ (i % 2 ? 0 : 1ull << 31) : r;
		if (k && i >= 4 * n * n && (i & 3)) v = (r & 0x807fffff) | ((first + (r >> 40 << 21) % 0x10000000 - 0x8000000) & 0x7f800000);
		if (i >= 4 * n * n && (i & 12) == 4) v &= ~0xfffull;
		return v & 0xffffffff;
	}
	unsigned long long v = r;
	if (i < 4 * n * n) {
		unsigned long long e = edges32[j % n];
		v = ((e & 0x7f800000) == 0x7f800000 ? 0x7ffull << 52 | (e & 0x7fffff) << 29 : (e >> 23) ? ((e >> 23) + 896) << 52 | (e & 0x7fffff) << 29 : e) ^
			(unsigned long long)(i % 2) << 63;
		if (i % 5 == 0) v = e;
	} else if (k && (i & 3))
		v = (r & 0x800fffffffffffffull) | ((first + (r >> 40 << 49) % 0x0100000000000000ull - 0x0080000000000000ull) & 0x7ff0000000000000ull);
	if (i >= 4 * n * n && (i & 12) == 4) v &= ~((1ull << (i % 53)) - 1);
	return v;
}

template <class T> struct Bits { static bool nan(T) { return false; } };
template <> struct Bits<float> { static bool nan(float x) { unsigned u; memcpy(&u, &x, 4); return (u & 0x7fffffff) > 0x7f800000; } };
template <> struct Bits<double> { static bool nan(double x) { unsigned long long u; memcpy(&u, &x, 8); return (u << 1) > 0xffe0000000000000ull; } };

static void *pool[5];        /* managed memory: three operands, result */

template <class T> static T *at(int k) { return (T *)pool[k]; }

/* 16-bit floats by name of the function: NaNs of any bits are equal */
static bool both_nan16(const char *name, unsigned a, unsigned b)
{
	bool bf = strstr(name, "_bf16") != NULL, f = !bf && strstr(name, "_f16") != NULL;
	if (!bf && !f) return false;
	unsigned inf = bf ? 0x7f80 : 0x7c00;
	return (a & 0x7fff) > inf && (b & 0x7fff) > inf;
}

/* Bound in units of the last place for functions that need not agree to the bit; 0: they must. */
static double bound(const char *name)
{
	static const struct { const char *name; double ulp; } loose[] = { { "ct_exp2_", 3 }, { "ct_expm1_", 3 }, { "ct_exp_f32_approx", 200 }, { "ct_exp_f32_full", 250 },
		{ "ct_exp_", 3 }, { "ct_log", 4 }, { "ct_sin", 4 }, { "ct_cos", 4 }, { "ct_tanh_f32_approx", 9000 }, { "ct_tan", 4 }, { "ct_asin", 4 },
		{ "ct_acos", 4 }, { "ct_atan", 4 }, { "ct_pow", 4 }, { "ct_hypot", 3 }, { "ct_erf_", 4 }, { "ct_erfc", 10 }, { "ct_cbrt", 6 },
		{ "ct_rsqrt", 4 }, { "ct_sqrt_f32_approx", 2 }, { "ct_div_f32_approx", 3 }, { "ct_div_f32_full", 3 }, { "ct_randn", 8 } };
	for (const auto &l : loose)
		if (!strncmp(name, l.name, strlen(l.name)))
			return l.ulp;
	return 0;
}

static double distance(float a, float b)
{
	int x, y;
	memcpy(&x, &a, 4);
	memcpy(&y, &b, 4);
	return fabs((double)(x < 0 ? (int)0x80000000 - x : x) - (double)(y < 0 ? (int)0x80000000 - y : y));
}
static double distance(double a, double b)
{
	long long x, y;
	memcpy(&x, &a, 8);
	memcpy(&y, &b, 8);
	const long long least = (long long)0x8000000000000000ull;
	x = x < 0 ? least - x : x;
	y = y < 0 ? least - y : y;
	/* subtracted as integers: a double has no room for the last bits of either */
	return x < y ? (double)((unsigned long long)y - (unsigned long long)x) : (double)((unsigned long long)x - (unsigned long long)y);
}
static double distance(unsigned short a, unsigned short b)
{
	int x = a & 0x8000 ? -(int)(a & 0x7fff) : a, y = b & 0x8000 ? -(int)(b & 0x7fff) : b;
	return fabs((double)x - y);
}
template <class T> static double distance(T a, T b) { return a == b ? 0 : 1e9; }

/* What differs by more than units of the last place say. Box-Muller is computed to 2^-39 of what it multiplies, numbers up to 8. A
 * result below the least normal number that rounds to it is flushed by a GPU, which looks before it rounds. */
template <class T> static bool excused(const char *, T, T) { return false; }
static bool excused(const char *name, double got, double want)
{
	return (!strcmp(name, "ct_normal_f64") || !strcmp(name, "ct_randn_f64")) && fabs(got - want) <= 8 * ldexp(1.0, -39);
}
static bool excused(const char *name, float got, float want)
{
	return strstr(name, "_ftz") && got == 0 && fabsf(want) == ldexpf(1.0f, -126);
}

template <class R> static void judge(const char *name, const R *want, const unsigned long long (*args)[3], int n)
{
	const R *got = at<R>(3);
	double worst = 0;
	int bad = 0, at_ = 0;
	functions++;
	for (int i = 0; i < n; i++) {
		unsigned long long g = 0, w = 0;
		memcpy(&g, &got[i], sizeof(R));
		memcpy(&w, &want[i], sizeof(R));
		bool nan = (Bits<R>::nan(got[i]) && Bits<R>::nan(want[i])) || (sizeof(R) == 2 && both_nan16(name, (unsigned)g, (unsigned)w));
		hash = (hash ^ (nan ? 1 : g)) * 1099511628211ull;
		if (nan || g == w || excused(name, got[i], want[i])) continue;
		double d = distance(got[i], want[i]), b = bound(name);
		if (strstr(name, "_f16") || strstr(name, "_bf16")) b = b ? 1 : 0;
		if (d > worst) worst = d;
		if (d > b && !bad++) at_ = i;
	}
	if (bad) {
		unsigned long long g = 0, w = 0;
		memcpy(&g, &got[at_], sizeof(R));
		memcpy(&w, &want[at_], sizeof(R));
		failures++;
		printf("FAIL %s: %d of %d, first (%llx, %llx, %llx): gpu %llx, host %llx, worst %g\n", name, bad, n, args[at_][0], args[at_][1],
			args[at_][2], g, w, worst);
	}
}

static unsigned long long given[N][3];
template <class A> static void fill(int k, int n)
{
	for (int i = 0; i < n; i++) {
		given[i][k] = operand(i, k, sizeof(A), given[i][0]);
		memcpy(&at<A>(k)[i], &given[i][k], sizeof(A));
	}
}

/* bool operands are 0 or 1, tf32 operands have no low bits */
template <class A> static void tame(const char *name, int k, int n)
{
	bool b = strstr(name, "_bool") && strncmp(name, "ct_cvt_bool_", 12) && strncmp(name, "ct_bits_bool_", 13);
	b = b || strstr(name, "_bool_bool");
	const char *tail = strstr(name, "_tf32");
	bool t = sizeof(A) == 4 && tail && !strstr(name, "cvt_tf32") && !strstr(name, "bits_tf32_u") && !strstr(name, "bits_tf32_i") && !strstr(name, "bits_tf32_f");
	for (int i = 0; i < n; i++) {
		if (b) given[i][k] &= 1;
		if (t) given[i][k] &= ~0x1fffull;
		memcpy(&at<A>(k)[i], &given[i][k], sizeof(A));
	}
}

/* approx forms: their error is stated for a range of operands; others have few operands */
static void narrow(const char *name, int n)
{
	bool div = !strncmp(name, "ct_div_f32_approx", 17), ex = !strncmp(name, "ct_exp_f32_approx", 17);
	for (int i = 0; i < n && !strcmp(name, "ct_exp_f32_low"); i++) {        /* of numbers that are not positive */
		given[i][0] |= 0x80000000;
		memcpy(&at<float>(0)[i], &given[i][0], 4);
	}
	for (int i = 0; i < n && !strcmp(name, "ct_normal_f64"); i++) {         /* the first or the second of a pair */
		given[i][2] &= 1;
		memcpy(&at<int>(2)[i], &given[i][2], sizeof(int));
	}
	for (int i = 0; i < n && (div || ex); i++)
		for (int k = 0; k < (div ? 2 : 1); k++) {
			unsigned x = (unsigned)given[i][k];
			x = (x & 0x807fffff) | ((div ? 97 : 115) + (x >> 23) % (div ? 60u : 15u)) << 23;
			given[i][k] = x;
			memcpy(&at<float>(k)[i], &x, 4);
		}
}

#define SAME1(f, R, A) \
	__global__ void k_##f(const A *a, R *r) { int i = blockIdx.x * 256 + threadIdx.x; r[i] = f(a[i]); } \
	static void t_##f() { fill<A>(0, N); tame<A>(#f, 0, N); narrow(#f, N); k_##f<<<N / 256, 256>>>(at<A>(0), at<R>(3)); \
		TRY(cudaDeviceSynchronize()); for (int i = 0; i < N; i++) at<R>(4)[i] = host::f(at<A>(0)[i]); judge<R>(#f, at<R>(4), given, N); }
#define SAME2(f, R, A, B) \
	__global__ void k_##f(const A *a, const B *b, R *r) { int i = blockIdx.x * 256 + threadIdx.x; r[i] = f(a[i], b[i]); } \
	static void t_##f() { fill<A>(0, N); fill<B>(1, N); tame<A>(#f, 0, N); tame<B>(#f, 1, N); narrow(#f, N); \
		k_##f<<<N / 256, 256>>>(at<A>(0), at<B>(1), at<R>(3)); \
		TRY(cudaDeviceSynchronize()); for (int i = 0; i < N; i++) at<R>(4)[i] = host::f(at<A>(0)[i], at<B>(1)[i]); judge<R>(#f, at<R>(4), given, N); }
#define SAME3(f, R, A, B, C) \
	__global__ void k_##f(const A *a, const B *b, const C *c, R *r) { int i = blockIdx.x * 256 + threadIdx.x; r[i] = f(a[i], b[i], c[i]); } \
	static void t_##f() { fill<A>(0, N); fill<B>(1, N); fill<C>(2, N); narrow(#f, N); k_##f<<<N / 256, 256>>>(at<A>(0), at<B>(1), at<C>(2), at<R>(3)); \
		TRY(cudaDeviceSynchronize()); for (int i = 0; i < N; i++) at<R>(4)[i] = host::f(at<A>(0)[i], at<B>(1)[i], at<C>(2)[i]); \
		judge<R>(#f, at<R>(4), given, N); }
#include "same.inc"
#undef SAME1
#undef SAME2
#undef SAME3

/* ---- memory and atomics ---- */
__global__ void move(const unsigned char *from, unsigned char *to, int n)
{
	int i = blockIdx.x * 256 + threadIdx.x;
	if (i >= n) return;
	const unsigned char *p = from + 64 * i;
	unsigned char *q = to + 64 * i;
	ct_u32x4 zero4 = { { 0, 0, 0, 0 } };
	ct_u32x2 zero2 = { { 7, 8 } };
	ct_st_b128(q, i & 1 ? ct_ld_b128(p) : ct_ldnc_b128(p));
	ct_st_b128_if(q + 16, 1, ct_ldnc_b128_if(p + 16, i % 3, zero4));
	ct_st_b64(q + 32, i & 1 ? ct_ld_b64(p + 32) : ct_ldnc_b64_if(p + 32, i % 5, zero2));
	ct_st_b32(q + 40, i & 1 ? ct_ldnc_b32(p + 40) : ct_ld_b32_if(p + 40, i % 5, 99));
	ct_st_b16(q + 44, i & 1 ? ct_ldnc_b16(p + 44) : ct_ld_b16_if(p + 44, i % 5, 99));
	ct_st_b8(q + 46, i & 1 ? ct_ldnc_b8(p + 46) : ct_ld_b8_if(p + 46, i % 5, 99));
	ct_st_b8_if(q + 47, i % 2, p[47]);
	ct_st_b16_if(q + 48, i % 2, ct_get_b16(ct_join_b16(p[48], p[49]), 0));
	ct_st_b32_if(q + 52, i % 2, ct_join_b8(p[52], p[53], p[54], p[55]));
	ct_st_b64_if(q + 56, i % 2, ct_ld_b64_if(p + 56, 1, zero2));
}

static void test_memory(void)
{
	unsigned char *p = at<unsigned char>(0), *q = at<unsigned char>(3);
	const int n = 4096;
	for (int i = 0; i < 64 * n; i++) { p[i] = (unsigned char)draw(); q[i] = 0xee; }
	move<<<n / 256, 256>>>(p, q, n);
	TRY(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++) {
		unsigned char w[64];
		memset(w, 0xee, 64);
		memcpy(w, p + 64 * i, 16);
		if (i % 3) memcpy(w + 16, p + 64 * i + 16, 16); else memset(w + 16, 0, 16);
		memcpy(w + 32, p + 64 * i + 32, 15);
		if (!(i & 1) && i % 5 == 0) {
			unsigned pad[2] = { 7, 8 }, ninety = 99;
			memcpy(w + 32, pad, 8);
			memcpy(w + 40, &ninety, 4);
			w[44] = 99; w[45] = 0; w[46] = 99;
		}
		if (i % 2) {
			w[47] = p[64 * i + 47];
			w[48] = p[64 * i + 48]; w[49] = 0;
			memcpy(w + 52, p + 64 * i + 52, 12);
		}
		if (memcmp(w, q + 64 * i, 64)) { failures++; printf("FAIL memory helpers at %d\n", i); return; }
	}
}

struct Cells { int i; unsigned u, least, most, bits; long long l; float f; double d; unsigned short h, b; unsigned turn; unsigned long long cas; };

__global__ void many(Cells *c)
{
	int i = blockIdx.x * 256 + threadIdx.x;
	ct_atomic_add_i32_relaxed_device(&c->i, i);
	ct_atomic_sub_u32_acquire_release_system(&c->u, 1u);
	ct_atomic_min_u32_relaxed_device(&c->least, 1000u + (unsigned)(i * 7919 % 4096));
	ct_atomic_max_u32_release_block(&c->most, (unsigned)(i * 7919 % 4096));
	ct_atomic_or_u32_acquire_device(&c->bits, 1u << (i & 31));
	ct_atomic_add_i64_relaxed_device(&c->l, -1000000007ll * i);
	ct_atomic_add_f32_relaxed_device(&c->f, 0.5f);
	ct_atomic_sub_f64_relaxed_device(&c->d, 0.25);
	if (i < 256) ct_atomic_add_f16_relaxed_device(&c->h, 0x3c00);
	if (i < 64) ct_atomic_add_bf16_relaxed_device(&c->b, 0x3f80);
	for (;;) {
		unsigned long long old = ct_atomic_load_u64_relaxed_device(&c->cas);
		if (ct_atomic_cas_u64_acquire_release_device(&c->cas, old, old + 3) == old) break;
	}
	if (i == 0) ct_atomic_store_u32_release_device(&c->turn, 5);
}

static void test_atomics(void)
{
	Cells *c = at<Cells>(0);
	memset(c, 0, sizeof *c);
	c->least = 0xffffffffu;
	many<<<16, 256>>>(c);
	TRY(cudaDeviceSynchronize());
	const int n = 4096;
	bool ok = c->i == n * (n - 1) / 2 && c->u == 0u - n && c->least == 1000 && c->bits == 0xffffffffu &&
		c->l == -1000000007ll * n * (n - 1) / 2 && c->f == n / 2 && c->d == -n / 4.0 && c->h == 0x5c00 && c->b == 0x4280 &&
		c->cas == 3ull * n && c->turn == 5 && c->most == 4095;
	if (!ok) { failures++; printf("FAIL atomics: %d %u %u %u %x %lld %g %g %x %x %llu %u\n", c->i, c->u, c->least, c->most, c->bits, c->l, c->f, c->d, c->h, c->b, c->cas, c->turn); }
}

int main(void)
{
	for (auto &p : pool) TRY(cudaMallocManaged(&p, N * 8));
#define SAME1(f, R, A) t_##f();
#define SAME2(f, R, A, B) t_##f();
#define SAME3(f, R, A, B, C) t_##f();
#include "same.inc"
	test_memory();
	test_atomics();
	printf("prelude on the GPU: %d functions, %d failures, results %016llx\n", functions, failures, hash);
	return failures != 0;
}
