/*
 * Counts bytes of a skewed distribution: many blocks add to few counters. Exact, and two calls add up.
 */
#include "../common/sample.h"
#include "histogram.h"

static int run(int64_t n)
{
	unsigned char *x = (unsigned char *)host_alloc((size_t)n);
	uint32_t counts[256] = {0}, want[256] = {0};
	unsigned char *dx;
	uint32_t *dc;
	uint64_t seed = 13;
	struct check check = {0};
	char size[64];
	int64_t i;
	int bad, status;

	for (i = 0; i < n; i++) {
		x[i] = (unsigned char)((rnd_u32(&seed) >> 24) * (rnd_u32(&seed) >> 24) / 255);
		want[x[i]] += 2;
	}
	dx = (unsigned char *)dev_copy_of(x, (size_t)n);
	dc = (uint32_t *)dev_copy_of(counts, sizeof counts);
	status = histogram(dx, dc, n, NULL);
	if (!status)
		status = histogram(dx, dc, n, NULL);
	snprintf(size, sizeof size, "n = %lld, twice", (long long)n);
	if (status) {
		bad = status_report("histogram", size, status, ctile_status_text(status));
	} else {
		dev_download(counts, dc, sizeof counts);
		for (i = 0; i < 256; i++)
			check_value(&check, (size_t)i, counts[i], want[i], 0);
		bad = check_report(&check, "histogram", size);
	}
	dev_free(dx), dev_free(dc);
	free(x);
	return bad;
}

int main(void)
{
	return run(1) | run(7) | run(1000) | run(4097) | run(1000003);
}
