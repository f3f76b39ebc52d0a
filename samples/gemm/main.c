/*
 * Matrix products of odd sizes. Bound: products of 16-bit floats are exact in f32 and k of them are added
 * in some order, in f32 of which a tensor core may keep two bits less: (k + 4) * 2^-22 * sum |a b|. Then
 * one rounding to T.
 */
#include "../common/sample.h"
#include "gemm.h"

struct arrays {
	enum elem e;
	int64_t m, n, k;
	void *a, *b, *c, *da, *db, *dc;
};

static int launch(const struct arrays *s)
{
	if (s->e == ELEM_F32)
		return gemm_f32((const float *)s->da, (const float *)s->db, (float *)s->dc, s->m, s->n, s->k, NULL);
	if (s->e == ELEM_F16)
		return gemm_f16(s->da, s->db, s->dc, s->m, s->n, s->k, NULL);
	return gemm_bf16(s->da, s->db, s->dc, s->m, s->n, s->k, NULL);
}

/* a is row-major, b column-major: both are read along k. */
static void check_all(struct check *c, const struct arrays *s)
{
	size_t m = (size_t)s->m, n = (size_t)s->n, k = (size_t)s->k, i, j, p;
	float *a = (float *)host_alloc(m * k * 4), *b = (float *)host_alloc(k * n * 4);

	for (i = 0; i < m * k; i++)
		a[i] = elem_get(s->e, s->a, i);
	for (i = 0; i < k * n; i++)
		b[i] = elem_get(s->e, s->b, i);
	for (i = 0; i < m; i++) {
		for (j = 0; j < n; j++) {
			double want = 0, mass = 0;

			for (p = 0; p < k; p++) {
				double t = (double)a[i * k + p] * (double)b[j * k + p];

				want += t;
				mass += fabs(t);
			}
			check_value(c, i * n + j, (double)elem_get(s->e, s->c, i * n + j), want,
				(double)(k + 4) * 0x1p-22 * mass + elem_eps(s->e) * fabs(want) + 0x1p-25);
		}
	}
	free(a), free(b);
}

static int run(enum elem e, int64_t m, int64_t n, int64_t k)
{
	struct arrays s = {.e = e, .m = m, .n = n, .k = k};
	size_t w = elem_size(e), c_bytes = (size_t)(m * n) * w;
	struct check check = {0};
	char size[96];
	int bad, status;

	s.a = rnd_elems(e, (size_t)(m * k), 11), s.b = rnd_elems(e, (size_t)(k * n), 12), s.c = host_alloc(c_bytes);
	s.da = dev_copy_of(s.a, (size_t)(m * k) * w), s.db = dev_copy_of(s.b, (size_t)(k * n) * w);
	s.dc = dev_alloc(c_bytes);
	status = launch(&s);
	snprintf(size, sizeof size, "%lld x %lld x %lld %s", (long long)m, (long long)n, (long long)k, elem_name(e));
	if (status) {
		bad = status_report("gemm", size, status, ctile_status_text(status));
	} else {
		dev_download(s.c, s.dc, c_bytes);
		check_all(&check, &s);
		bad = check_report(&check, "gemm", size);
	}
	dev_free(s.da), dev_free(s.db), dev_free(s.dc);
	free(s.a), free(s.b), free(s.c);
	return bad;
}

int main(void)
{
	int bad = 0;
	int e;

	for (e = ELEM_F32; e <= ELEM_BF16; e++) {
		bad |= run((enum elem)e, 1, 1, 1) | run((enum elem)e, 7, 7, 7) | run((enum elem)e, 1000, 7, 100);
		bad |= run((enum elem)e, 4097, 9, 33) | run((enum elem)e, 129, 257, 65);
		bad |= run((enum elem)e, 256, 256, 256) | run((enum elem)e, 3, 5, 0);
	}
	return bad;
}
