/* The directives that emitters use (%s %c %d %i %u and these with l, ll, z, all without flags, width and precision) are
 * done here; a format with any other goes to vsnprintf as a whole. */
#include "base/fmt.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct Text { char *at, *end; size_t lost; } Text;     /* lost: how much did not fit */

/* By value, as directives are: in registers while formats are read. */
static inline Text put(Text t, const char *s, size_t n)
{
	size_t room = (size_t)(t.end - t.at);
	if (n > room) {
		t.lost += n - room;
		n = room;
	}
	memcpy(t.at, s, n);
	t.at += n;
	return t;
}

static Text put_number(Text t, unsigned long long v, bool negative)
{
	char digits[24];
	size_t at = sizeof digits;
	do digits[--at] = (char)('0' + v % 10); while (v /= 10);
	if (negative) digits[--at] = '-';
	return put(t, digits + at, sizeof digits - at);
}

static Text put_signed(Text t, long long v)
{
	return put_number(t, v < 0 ? 0 - (unsigned long long)v : (unsigned long long)v, v < 0);
}

typedef enum Width { W_INT, W_LONG, W_LLONG, W_SIZE } Width;

/* Of a directive that begins at p with it; *n: its length. */
static inline Width width(const char *p, int *n)
{
	Width w = *p == 'z' ? W_SIZE : *p != 'l' ? W_INT : p[1] == 'l' ? W_LLONG : W_LONG;
	*n = w == W_LLONG ? 2 : w != W_INT;
	return w;
}

int fmt_text(char *buf, size_t n, const char *fmt, va_list ap)
{
	char none, *begin = n ? buf : &none;
	Text t = { begin, begin + (n ? n - 1 : 0), 0 };
	const char *p = fmt, *s;
	va_list mine;
	int skip;
	va_copy(mine, ap);
	for (;;) {
		for (; *p != '%' && *p; p++) {          /* a few bytes: a call would cost more */
			if (t.at < t.end) *t.at++ = *p;
			else t.lost++;
		}
		if (!*p++) break;
		if (*p == 's') {        /* most are */
			p++;
			if (!(s = va_arg(mine, const char *))) goto other;
			t = put(t, s, strlen(s));
			continue;
		}
		Width w = width(p, &skip);
		p += skip;
		switch (*p++) {
		case 'd': case 'i':
			if (w == W_SIZE) goto other;
			t = put_signed(t, w == W_INT ? va_arg(mine, int) : w == W_LONG ? va_arg(mine, long)
				: va_arg(mine, long long));
			break;
		case 'u':
			t = put_number(t, w == W_INT ? va_arg(mine, unsigned) : w == W_LONG ? va_arg(mine, unsigned long)
				: w == W_SIZE ? va_arg(mine, size_t) : va_arg(mine, unsigned long long), false);
			break;
		case 'c':
			if (w != W_INT) goto other;
			t = put(t, &(const char){ (char)va_arg(mine, int) }, 1);
			break;
		case '%':
			if (w != W_INT) goto other;
			t = put(t, "%", 1);
			break;
		default: goto other;
		}
	}
	va_end(mine);
	size_t all = (size_t)(t.at - begin) + t.lost;
	if (all > INT_MAX) return vsnprintf(buf, n, fmt, ap);
	*t.at = 0;
	return (int)all;
other:
	va_end(mine);
	return vsnprintf(buf, n, fmt, ap);
}
