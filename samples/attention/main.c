/*
 * Attention against the three plain loops. Bound: o is a weighted mean of rows of v (|v| < 1), the weights
 * are rounded to T before the second product and the scores carry the error of an f32 sum: 2 eps(T) + 2e-5,
 * and one rounding to T.
 */
#include "../common/sample.h"
#include "attention.h"

struct arrays {
	enum elem e;
	int causal;
	int64_t batch, heads, rows, cols, d;
	void *q, *k, *v, *o, *dq, *dk, *dv, *d_o;
	float scale;
};

typedef int entry16(const void *q, const void *k, const void *v, void *o, float scale, int64_t batch,
	int64_t heads, int64_t rows, int64_t cols, int64_t d, struct CUstream_st *stream);
typedef int entry32(const float *q, const float *k, const float *v, float *o, float scale, int64_t batch,
	int64_t heads, int64_t rows, int64_t cols, int64_t d, struct CUstream_st *stream);

static int launch(const struct arrays *a)
{
	entry16 *f16 = a->causal ? attention_causal_f16 : attention_f16;
	entry32 *f32 = a->causal ? attention_causal_f32 : attention_f32;

	if (a->e == ELEM_F16)
		return f16(a->dq, a->dk, a->dv, a->d_o, a->scale, a->batch, a->heads, a->rows, a->cols, a->d, NULL);
	return f32((const float *)a->dq, (const float *)a->dk, (const float *)a->dv, (float *)a->d_o, a->scale,
		a->batch, a->heads, a->rows, a->cols, a->d, NULL);
}

/* The factors as floats. */
struct factors { float *q, *k, *v; };

/* One query: the scores of the keys it sees, their softmax into `p`, the weighted mean of v. */
static void check_query(struct check *c, const struct arrays *a, const struct factors *f, int64_t bh, int64_t row,
	double *p)
{
	int64_t cols = a->causal && row + 1 < a->cols ? row + 1 : a->cols, d = a->d, j, t;
	size_t q0 = (size_t)((bh * a->rows + row) * d), k0 = (size_t)(bh * a->cols * d);
	const float *q = f->q + q0, *k = f->k + k0, *v = f->v + k0;
	double max = -INFINITY, sum = 0;

	for (j = 0; j < cols; j++) {
		p[j] = 0;
		for (t = 0; t < d; t++)
			p[j] += (double)q[t] * (double)k[j * d + t];
		p[j] *= (double)a->scale;
		max = fmax(max, p[j]);
	}
	for (j = 0; j < cols; j++)
		sum += p[j] = exp(p[j] - max);
	for (t = 0; t < d; t++) {
		double want = 0, eps = elem_eps(a->e);

		for (j = 0; j < cols; j++)
			want += p[j] / sum * (double)v[j * d + t];
		check_value(c, q0 + (size_t)t, (double)elem_get(a->e, a->o, q0 + (size_t)t), want,
			2 * eps + 2e-5 + eps * fabs(want));
	}
}

static int report(struct arrays *a, int status)
{
	const char *name = a->causal ? "attention_causal" : "attention";
	struct check check = {0};
	struct factors f;
	size_t heads = (size_t)(a->batch * a->heads);
	char size[96];
	int64_t bh, row;
	double *p;

	snprintf(size, sizeof size, "%lld x %lld heads, %lld queries, %lld keys, d = %lld, %s", (long long)a->batch,
		(long long)a->heads, (long long)a->rows, (long long)a->cols, (long long)a->d, elem_name(a->e));
	if (a->d > (a->e == ELEM_F32 ? 64 : 128))
		return refusal_report(name, size, status, ctile_status_text(status), "d <= D");
	if (status)
		return status_report(name, size, status, ctile_status_text(status));
	dev_download(a->o, a->d_o, (size_t)(a->batch * a->heads * a->rows * a->d) * elem_size(a->e));
	p = (double *)host_alloc((size_t)a->cols * sizeof *p);
	f.q = elem_floats(a->e, a->q, heads * (size_t)(a->rows * a->d));
	f.k = elem_floats(a->e, a->k, heads * (size_t)(a->cols * a->d));
	f.v = elem_floats(a->e, a->v, heads * (size_t)(a->cols * a->d));
	for (bh = 0; bh < a->batch * a->heads; bh++)
		for (row = 0; row < a->rows; row++)
			check_query(&check, a, &f, bh, row, p);
	free(p), free(f.q), free(f.k), free(f.v);
	return check_report(&check, name, size);
}

static int run(enum elem e, int causal, int64_t rows, int64_t cols, int64_t d)
{
	struct arrays a = {.e = e, .causal = causal, .batch = 2, .heads = 3, .rows = rows, .cols = cols, .d = d};
	size_t many = (size_t)(a.batch * a.heads * d), w = elem_size(e);
	size_t q_bytes = many * (size_t)rows * w, k_bytes = many * (size_t)cols * w;
	int bad;

	a.scale = 1 / sqrtf((float)d);
	a.q = rnd_elems(e, many * (size_t)rows, 15), a.o = host_alloc(q_bytes);
	a.k = rnd_elems(e, many * (size_t)cols, 16), a.v = rnd_elems(e, many * (size_t)cols, 17);
	a.dq = dev_copy_of(a.q, q_bytes), a.d_o = dev_alloc(q_bytes);
	a.dk = dev_copy_of(a.k, k_bytes), a.dv = dev_copy_of(a.v, k_bytes);
	bad = report(&a, launch(&a));
	dev_free(a.dq), dev_free(a.dk), dev_free(a.dv), dev_free(a.d_o);
	free(a.q), free(a.k), free(a.v), free(a.o);
	return bad;
}

int main(void)
{
	static const enum elem elems[] = {ELEM_F16, ELEM_F32};
	int bad = 0, causal;
	size_t i;

	for (i = 0; i < 2; i++) {
		for (causal = 0; causal < 2; causal++) {
			bad |= run(elems[i], causal, 1, 1, 1) | run(elems[i], causal, 7, 7, 7);
			bad |= run(elems[i], causal, 100, 65, 64) | run(elems[i], causal, 257, 257, 40);
			bad |= run(elems[i], causal, 1, 1000, 64) | run(elems[i], causal, 130, 7, 64);
		}
	}
	bad |= run(ELEM_F16, 0, 65, 129, 128) | run(ELEM_F16, 1, 129, 129, 80);
	return bad | run(ELEM_F16, 0, 2, 2, 129) | run(ELEM_F32, 1, 2, 2, 65);
}
