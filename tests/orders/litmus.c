/*
 * Litmus tests of memory orders (litmus.tile): litmus ROUNDS PAIRS. Message passing, store buffering and coherence between tile blocks
 * that run at once. Prints how often each outcome came; fails if a forbidden one did.
 */
#include <stdlib.h>

#include "../../samples/common/sample.h"
#include "litmus.h"

static int64_t rounds, pairs;

static int32_t *zeros(int64_t n) { return dev_copy_of(calloc((size_t)n, 4), (size_t)n * 4); }

static int failed(const char *what, int status)
{
	return status_report(what, "", status, ctile_status_text(status));
}

static int report(const char *what, const int64_t count[4], const char *forbidden, int which)
{
	printf("%s: %lld, %lld, %lld, %lld", what, (long long)count[0], (long long)count[1], (long long)count[2], (long long)count[3]);
	if (which >= 0)
		printf("; forbidden: %s, %lld", forbidden, (long long)count[which]);
	printf("\n");
	return which >= 0 && count[which] != 0;
}

static int passing(const char *what, int waits)
{
	int64_t n = pairs * rounds, count[4] = {0};
	int32_t *box = zeros(n * 64), *ready = zeros(n), *seen = zeros(n), *got = host_alloc((size_t)n * 4);
	int status = waits ? message(box, ready, seen, pairs, rounds, NULL) : glance(box, ready, seen, pairs, rounds, NULL);

	if (status)
		return failed(what, status);
	dev_download(got, seen, (size_t)n * 4);
	for (int64_t i = 0; i < n; i++)
		count[waits ? (got[i] ? 2 : 1) : got[i] & 3]++;
	dev_free(box), dev_free(ready), dev_free(seen), free(got);
	return report(what, count, "the flag without the tile", 2);
}

static int store_buffering(void)
{
	int64_t n = pairs * rounds, count[4] = {0};
	int32_t *x = zeros(2 * n), *turn = zeros(n), *seen = zeros(2 * n), *got = host_alloc((size_t)n * 8);
	int status = buffering(x, turn, seen, pairs, rounds, NULL);

	if (status)
		return failed("store buffering", status);
	dev_download(got, seen, (size_t)n * 8);
	for (int64_t i = 0; i < n; i++)
		count[(got[2 * i] & 1) + 2 * (got[2 * i + 1] & 1)]++;
	dev_free(x), dev_free(turn), dev_free(seen), free(got);
	return report("store buffering", count, "neither saw the other", 0);
}

static int one_location(void)
{
	int64_t count[4] = {0};
	int32_t *x = zeros(pairs), *seen = zeros(pairs), *got = host_alloc((size_t)pairs * 4);
	int status = coherence(x, seen, (int32_t)rounds, pairs, NULL);

	if (status)
		return failed("coherence", status);
	dev_download(got, seen, (size_t)pairs * 4);
	for (int64_t i = 0; i < pairs; i++)
		count[got[i] & 3]++;
	dev_free(x), dev_free(seen), free(got);
	return report("coherence", count, "a read went back", 1);
}

int main(int argc, char **argv)
{
	int bad = 0;

	rounds = argc > 1 ? atoll(argv[1]) : 100000;
	pairs = argc > 2 ? atoll(argv[2]) : 10;
	bad += passing("message passing", 1);
	bad += passing("message passing without waiting", 0);
	bad += store_buffering();
	bad += one_location();
	return bad != 0;
}
