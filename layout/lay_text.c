/* lay_text.c: text forms of layouts; lay_text.h has the contract. */
#include "layout/lay_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text under construction: what does not fit is only counted. */
typedef struct Text {
	char  *buf;
	size_t n;                 /* bytes of buf                                                      */
	size_t len;               /* of the whole text                                                 */
} Text;

static const char *const hw_names[HW_N] = { "reg", "lane", "warp", "cta", "off" };

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void put(Text *t, const char *fmt, ...)
{
	bool room = t->len < t->n;
	va_list ap;
	int k;

	va_start(ap, fmt);
	k = vsnprintf(room ? t->buf + t->len : NULL, room ? t->n - t->len : 0, fmt, ap);
	va_end(ap);
	t->len += k > 0 ? (size_t)k : 0;
}

static Text text_begin(char *buf, size_t n)
{
	if (n > 0)
		buf[0] = 0;
	return (Text){ buf, n, 0 };
}

/* ---- print ---- */

static void put_coords(Text *t, Lay l, uint32_t packed)
{
	put(t, "(");
	for (int a = 0; a < l.naxis; a++)
		put(t, "%s%lu", a ? "," : "", (unsigned long)lay_coord(l, packed, a));
	put(t, ")");
}

size_t lay_print(char *buf, size_t n, Lay l)
{
	Text t = text_begin(buf, n);
	const char *sep = "";

	if (!lay_ok(l)) {
		put(&t, "bad");
		return t.len;
	}
	put(&t, "[");
	for (int a = 0; a < l.naxis; a++)
		put(&t, "%s%llu", a ? "," : "", 1ULL << l.out[a]);
	put(&t, "]{");
	for (int h = 0; h < HW_N; h++) {
		if (!l.in[h])
			continue;
		put(&t, "%s%s:", sep, hw_names[h]);
		for (int i = 0; i < l.in[h]; i++) {
			put(&t, "%s", i ? " " : "");
			put_coords(&t, l, l.col[lay_first(l, (Hw)h) + i]);
		}
		sep = " ";
	}
	put(&t, "}");
	return t.len;
}

/* ---- read ---- */

static bool eat(const char **s, const char *token)
{
	size_t n = strlen(token);

	while (**s == ' ')
		++*s;
	if (strncmp(*s, token, n) != 0)
		return false;
	*s += n;
	return true;
}

static bool read_number(const char **s, uint64_t *v)
{
	eat(s, "");
	if (**s < '0' || **s > '9')
		return false;
	for (*v = 0; **s >= '0' && **s <= '9'; ++*s) {
		*v = *v * 10 + (uint64_t)(**s - '0');
		if (*v > (uint64_t)1 << 32)
			return false;
	}
	return true;
}

/* A list of at most LAY_AXES numbers after the opening bracket, through the closing one.  Returns its
 * length or -1. */
static int read_list(const char **s, const char *close, uint64_t v[LAY_AXES])
{
	int n = 0;

	if (eat(s, close))
		return 0;
	do {
		if (n == LAY_AXES || !read_number(s, &v[n++]))
			return -1;
	} while (eat(s, ","));
	return eat(s, close) ? n : -1;
}

static bool read_shape(const char **s, Lay *l)
{
	uint64_t v[LAY_AXES];
	int n = eat(s, "[") ? read_list(s, "]", v) : -1, bits = 0;

	if (n < 0)
		return false;
	*l = lay_unit(n);
	for (int a = 0; a < n; a++) {
		while (v[a] > (uint64_t)1 << l->out[a])
			l->out[a]++;
		if (v[a] != (uint64_t)1 << l->out[a])
			return false;
		bits += l->out[a];
	}
	return bits <= LAY_BITS;
}

static bool read_column(const char **s, Lay *l, Hw h)
{
	uint64_t v[LAY_AXES];
	uint32_t coord[LAY_AXES] = { 0 };
	int k = lay_inbits(*l);

	if (k == LAY_BITS || read_list(s, ")", v) != l->naxis)
		return false;
	for (int a = 0; a < l->naxis; a++) {
		if (v[a] >> l->out[a])
			return false;
		coord[a] = (uint32_t)v[a];
	}
	l->col[k] = lay_pack(*l, coord);
	l->in[h]++;
	return true;
}

bool lay_read(const char *s, Lay *l)
{
	Lay r;

	if (!read_shape(&s, &r) || !eat(&s, "{"))
		return false;
	for (int h = 0; h < HW_N; h++) {
		if (!eat(&s, hw_names[h]))
			continue;
		if (!eat(&s, ":"))
			return false;
		while (eat(&s, "("))
			if (!read_column(&s, &r, (Hw)h))
				return false;
		if (!r.in[h])
			return false;
	}
	if (!eat(&s, "}") || !eat(&s, "") || *s)
		return false;
	*l = r;
	return true;
}

/* ---- emit ---- */

/* The bits of h that move up by `up` (down if negative), as a mask over the coordinate of h. */
static uint32_t diagonal(Lay l, Hw h, int up)
{
	uint32_t mask = 0;
	int first = lay_first(l, h);

	for (int i = 0; i < l.in[h]; i++)
		if (i + up >= 0 && i + up < 32 && l.col[first + i] >> (i + up) & 1)
			mask |= (uint32_t)1 << i;
	return mask;
}

/* Bits that a right shift throws away, and bits that the coordinate does not have, need no mask. */
static void put_diagonal(Text *t, const char *name, int nbits, int up, uint32_t mask)
{
	uint32_t all = (uint32_t)(((uint64_t)1 << nbits) - 1);
	uint32_t lost = up < 0 ? ((uint32_t)1 << -up) - 1 : 0;
	bool bare = (mask | lost) == all;

	if (up)
		put(t, "(");
	if (bare)
		put(t, "%s", name);
	else
		put(t, "(%s & %luu)", name, (unsigned long)mask);
	if (up)
		put(t, " %s %d)", up > 0 ? "<<" : ">>", up > 0 ? up : -up);
}

static Lay one_axis(Lay l, int axis)
{
	return axis == LAY_PACKED ? l : lay_pick(l, ~0u, axis >= 0 && axis < LAY_AXES ? 1u << axis : 0);
}

/* Writes the terms, or just counts them if t is NULL. */
static int each_diagonal(Text *t, Lay l, const char *const name[HW_N])
{
	int n = 0;

	for (int h = 0; h < HW_N; h++) {
		for (int up = -31; name[h] && up < 32; up++) {
			uint32_t mask = diagonal(l, (Hw)h, up);

			if (!mask)
				continue;
			if (t && n)
				put(t, " ^ ");
			if (t)
				put_diagonal(t, name[h], l.in[h], up, mask);
			n++;
		}
	}
	return n;
}

size_t lay_emit(char *buf, size_t n, Lay l, int axis, const char *const name[HW_N])
{
	Text t = text_begin(buf, n);
	Lay one;
	int terms;

	if (!lay_ok(l)) {
		put(&t, "bad");
		return t.len;
	}
	one = one_axis(l, axis);
	terms = each_diagonal(NULL, one, name);
	if (terms == 0)
		put(&t, "0u");
	else if (terms > 1)
		put(&t, "(");
	each_diagonal(&t, one, name);
	if (terms > 1)
		put(&t, ")");
	return t.len;
}
