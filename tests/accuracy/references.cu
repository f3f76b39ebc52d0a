/* Judges results on the GPU beside CUDA's double functions: part PART of PARTS. */
#include "answer.h"

#define FUNCTION1(name, text) struct Of_##name { static __device__ double at(double a, double b) { (void)b; return text; } };
#define FUNCTION2(name, text) struct Of_##name { static __device__ double at(double a, double b) { return text; } };
REFERENCES1(FUNCTION1) REFERENCES2(FUNCTION2)

static __device__ uint32_t raw(enum Elem e, const void *p, int64_t i)
{
	return e == F32 ? ((const uint32_t *)p)[i] : ((const uint16_t *)p)[i];
}

static __device__ unsigned long long packed(double error, uint32_t i)
{
	return (unsigned long long)__float_as_uint(__double2float_rn(error)) << 32 | i;
}

template <class Reference> __global__ void judge_all(Task t)
{
	unsigned long long ulp = 0, part = 0, inputs = 0;

	for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < t.n; i += (int64_t)gridDim.x * blockDim.x) {
		uint32_t a_bits = raw(t.r.in, t.a, i), b_bits = t.r.arity == 2 ? raw(t.r.in, t.b, i) : 0;
		double a = element(t.r.in, a_bits), b = element(t.r.in, b_bits);
		if (out_of_domain(&t.r, b))
			continue;
		inputs++;
		if (t.r.flush_in) {
			a = flushed(a);
			b = flushed(b);
		}
		Verdict v = judge_result(&t.f, &t.r, element(t.r.out, raw(t.r.out, t.y, i)), Reference::at(a, b), a, a_bits, b_bits);
		uint32_t at = (uint32_t)(t.first + (uint64_t)i);
		ulp = max(ulp, packed(v.ulp, at));
		part = max(part, packed(v.part, at));
		if (v.fault >= 0) {
			atomicAdd(&t.answer->faults[v.fault], 1ull);
			atomicMin(&t.answer->fault_at[v.fault], (unsigned long long)at);
		}
	}
	atomicMax(&t.answer->ulp, ulp);
	atomicMax(&t.answer->part, part);
	atomicAdd(&t.answer->inputs, inputs);
}

template <class Reference, bool mine> struct Launcher { static void launch(const Task *t) { judge_all<Reference><<<2048, 256>>>(*t); } };
template <class Reference> struct Launcher<Reference, false> { static void launch(const Task *) { } };

#define CASE(name, text) case REF_##name: Launcher<Of_##name, REF_##name % PARTS == PART>::launch(t); break;
#define NAMED(part) launch_##part
#define LAUNCH(part) NAMED(part)
void LAUNCH(PART)(const Task *t)
{
	switch (t->r.reference) {
	REFERENCES1(CASE) REFERENCES2(CASE)
	}
}
