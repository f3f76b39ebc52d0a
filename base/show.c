/* See show.h. */
#include "base/show.h"

#include <string.h>

#include "base/json.h"

enum { ROOM = 16 };     /* for one character as it is shown */

bool show_is_control(int32_t c)
{
	return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F
		|| (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/* The next character of s[0..n) as it is shown, in to; how many bytes of s it takes. */
static int show_next(const char *s, size_t n, char to[ROOM])
{
	int len;
	int32_t c = utf8_next(s, n, &len);
	if (!show_is_control(c)) {
		memcpy(to, s, (size_t)len);
		to[len] = 0;
	} else if (c == '\n' || c == '\t' || c == '\r') {
		snprintf(to, ROOM, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
	} else if (c < 0x80) {          /* also a byte that is no character */
		snprintf(to, ROOM, "\\x%02x", (unsigned char)*s);
	} else {
		snprintf(to, ROOM, "\\u{%x}", (unsigned)c);
	}
	return len;
}

void show_text(Out *o, const char *s, size_t n)
{
	char as[ROOM];
	for (size_t i = 0; i < n;) {
		i += (size_t)show_next(s + i, n - i, as);
		out_raw(o, as, strlen(as));
	}
}

Str shown(const char *s)
{
	Out *o = out_new();
	show_text(o, s, strlen(s));
	return out_take(o);
}

void show_to(FILE *f, const char *s)
{
	char as[ROOM];
	for (size_t i = 0, n = strlen(s); i < n;) {
		i += (size_t)show_next(s + i, n - i, as);
		fputs(as, f);
	}
}
