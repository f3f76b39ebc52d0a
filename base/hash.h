/* The hash of a text: the same in every run. */
#ifndef BASE_HASH_H
#define BASE_HASH_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_FACTOR ((uint64_t)0x9E3779B97F4A7C15u)      /* odd, its bits in no order */

/* Eight bytes at a step. The last step takes the last eight, or of a shorter text its two halves, which may overlap. */
static inline uint32_t hash_bytes(const char *s, size_t n)
{
	const uint64_t k = HASH_FACTOR;
	const char *end = s + n;
	uint64_t h = n * k, w = 0;
	for (; end - s > (ptrdiff_t)sizeof w; s += sizeof w) {
		memcpy(&w, s, sizeof w);
		h = (h ^ w) * k;
		h ^= h >> 29;
	}
	if (n >= sizeof w) {
		memcpy(&w, end - sizeof w, sizeof w);
	} else if (n >= sizeof(uint32_t)) {
		uint32_t first, last;
		memcpy(&first, s, sizeof first);
		memcpy(&last, end - sizeof last, sizeof last);
		w = (uint64_t)first << 32 | last;
	} else if (n) {
		w = (uint64_t)(unsigned char)s[0] << 16 | (uint64_t)(unsigned char)s[n / 2] << 8 | (unsigned char)end[-1];
	}
	h = (h ^ w) * k;
	return (uint32_t)(h >> 32);
}
#endif
