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
