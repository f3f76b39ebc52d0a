/*
 * Litmus tests whose blocks meet before each round (weak.tile): weak ROUNDS PAIRS, on a device that runs 2 PAIRS blocks at once. For each case the
 * rounds, how often each outcome came, and the weak outcome, with orders and relaxed. Fails if an ordered form shows it.
 */
#include <stdlib.h>

#include "../../samples/common/sample.h"
#include "weak.h"

enum { STEP = 64 };
static int64_t rounds, pairs;

static int32_t *zeros(int64_t n)
{
	void *host = calloc((size_t)n, 4);
	int32_t *d = dev_copy_of(host, (size_t)n * 4);

	free(host);
	return d;
}

static int failed(const char *what, int status) { return status_report(what, "", status, ctile_status_text(status)); }

static int report(const char *what, int ordered, const int64_t count[4], const char *weak, int which)
{
	printf("%s, %s: %lld rounds; outcomes %lld, %lld, %lld, %lld; %s (%s): %lld\n", what, ordered ? "ordered" : "relaxed", (long long)(pairs * rounds),
		(long long)count[0], (long long)count[1], (long long)count[2], (long long)count[3], ordered ? "forbidden" : "allowed, weak", weak,
		(long long)count[which]);
	return ordered && count[which] != 0;
}

static int message_passing(int ordered)
{
	int64_t n = pairs * rounds, count[4] = {0};
	int32_t *x = zeros(n * STEP), *y = zeros(n * STEP), *gate = zeros(n), *seen = zeros(n), *got = host_alloc((size_t)n * 4);
	int status = ordered ? passing(x, y, gate, seen, pairs, rounds, NULL) : passing_relaxed(x, y, gate, seen, pairs, rounds, NULL);

	if (status)
		return failed("message passing", status);
	dev_download(got, seen, (size_t)n * 4);
	for (int64_t i = 0; i < n; i++)
		count[got[i] & 3]++;
	dev_free(x), dev_free(y), dev_free(gate), dev_free(seen), free(got);
	return report("message passing", ordered, count, "the second write without the first", 2);
}

static int store_buffering(int ordered)
{
	int64_t n = pairs * rounds, count[4] = {0};
	int32_t *x = zeros(2 * n * STEP), *turn = zeros(n), *gate = zeros(n), *seen = zeros(2 * n), *got = host_alloc((size_t)n * 8);
	int status = ordered ? buffering(x, turn, gate, seen, pairs, rounds, NULL) : buffering_relaxed(x, gate, seen, pairs, rounds, NULL);

	if (status)
		return failed("store buffering", status);
	dev_download(got, seen, (size_t)n * 8);
	for (int64_t i = 0; i < n; i++)
		count[(got[2 * i] & 1) + 2 * (got[2 * i + 1] & 1)]++;
	dev_free(x), dev_free(turn), dev_free(gate), dev_free(seen), free(got);
	return report("store buffering", ordered, count, "neither saw the other", 0);
}

int main(int argc, char **argv)
{
	int bad = 0;

	rounds = argc > 1 ? atoll(argv[1]) : 20000;
	pairs = argc > 2 ? atoll(argv[2]) : 50;
	for (int ordered = 1; ordered >= 0; ordered--) {
		bad += message_passing(ordered);
		bad += store_buffering(ordered);
	}
	return bad != 0;
}
