/* The directives that emitters use (%s %c %d %i %u and these with l, ll, z, all without flags, width and precision) are
 * done here; a format with any other goes to vsnprintf as a whole. */
#include "base/fmt.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct Text { char *at, *end; size_t lost; } Text;     /* lost: how much did not fit */

static inline void put(Text *t, const char *s, size_t n)
{
	size_t room = (size_t)(t->end - t->at), fits = n < room ? n : room;
	memcpy(t->at, s, fits);
	t->at += fits;
	t->lost += n - fits;
}

static void put_number(Text *t, unsigned long long v, bool negative)
{
	char digits[24];
	size_t at = sizeof digits;
	do digits[--at] = (char)('0' + v % 10); while (v /= 10);
	if (negative) digits[--at] = '-';
	put(t, digits + at, sizeof digits - at);
}

static void put_signed(Text *t, long long v)
{
	put_number(t, v < 0 ? 0 - (unsigned long long)v : (unsigned long long)v, v < 0);
}

typedef enum Width { W_INT, W_LONG, W_LLONG, W_SIZE } Width;

static Width width(const char **p)
{
	Width w = W_INT;
	if (**p == 'z') w = W_SIZE;
	else if (**p == 'l') w = (*p)[1] == 'l' ? W_LLONG : W_LONG;
	*p += w == W_LLONG ? 2 : w != W_INT;
	return w;
}

static long long next_signed(va_list *ap, Width w)
{
	return w == W_INT ? va_arg(*ap, int) : w == W_LONG ? va_arg(*ap, long) : va_arg(*ap, long long);
}

static unsigned long long next_unsigned(va_list *ap, Width w)
{
	if (w == W_SIZE) return va_arg(*ap, size_t);
	return w == W_INT ? va_arg(*ap, unsigned) : w == W_LONG ? va_arg(*ap, unsigned long)
		: va_arg(*ap, unsigned long long);
}

/* One directive, *p after its `%`; false: not one of ours. */
static inline bool directive(Text *t, const char **p, va_list *ap)
{
	const char *s;
	Width w = W_INT;
	if (**p == 's') {       /* most are */
		(*p)++;
		if (!(s = va_arg(*ap, const char *))) return false;
		put(t, s, strlen(s));
		return true;
	}
	w = width(p);
	char c = *(*p)++;
	switch (c) {
	case 'd': case 'i':
		if (w == W_SIZE) return false;
		put_signed(t, next_signed(ap, w));
		return true;
	case 'u': put_number(t, next_unsigned(ap, w), false); return true;
	case 'c':
		if (w != W_INT) return false;
		c = (char)va_arg(*ap, int);
		put(t, &c, 1);
		return true;
	case '%':
		if (w != W_INT) return false;
		put(t, &c, 1);
		return true;
	default: return false;
	}
}

int fmt_text(char *buf, size_t n, const char *fmt, va_list ap)
{
	char none, *begin = n ? buf : &none;
	Text t = { begin, begin + (n ? n - 1 : 0), 0 };
	va_list mine;
	bool ours = true;
	va_copy(mine, ap);
	for (const char *p = fmt; *p && ours;) {
		for (; *p && *p != '%'; p++) {  /* a few bytes: a call would cost more */
			if (t.at < t.end) *t.at++ = *p;
			else t.lost++;
		}
		if (*p) {
			p++;
			ours = directive(&t, &p, &mine);
		}
	}
	va_end(mine);
	size_t all = (size_t)(t.at - begin) + t.lost;
	if (!ours || all > INT_MAX) return vsnprintf(buf, n, fmt, ap);
	*t.at = 0;
	return (int)all;
}
