/* JSON strings; see json.h. */
#include "base/json.h"

#include <string.h>

#include "base/show.h"

int32_t utf8_next(const char *s, size_t n, int *len)
{
	const unsigned char *p = (const unsigned char *)s;
	*len = 1;
	if (p[0] < 0x80) return p[0];
	int k = p[0] >= 0xF0 && p[0] < 0xF5 ? 4 : p[0] >= 0xE0 && p[0] < 0xF0 ? 3 : p[0] >= 0xC2 && p[0] < 0xE0 ? 2 : 0;
	if (!k || (size_t)k > n) return -1;
	int32_t c = p[0] & (0x7F >> k);
	for (int i = 1; i < k; i++) {
		if ((p[i] & 0xC0) != 0x80) return -1;
		c = c << 6 | (p[i] & 0x3F);
	}
	if ((k == 3 && c < 0x800) || (k == 4 && c < 0x10000) || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return -1;
	*len = k;
	return c;
}

void json_string(Out *o, const char *s)
{
	size_t n = strlen(s);
	int len;
	out_raw(o, "\"", 1);
	for (size_t i = 0; i < n; i += (size_t)len) {
		int32_t c = utf8_next(s + i, n - i, &len);
		if (c == '"' || c == '\\') {
			out_raw(o, "\\", 1);
			out_raw(o, s + i, 1);
		} else if (c == '\n') {
			out_raw(o, "\\n", 2);
		} else if (c == '\t') {
			out_raw(o, "\\t", 2);
		} else if (c >= 0 && show_is_control(c)) {
			out_printf(o, "\\u%04x", (unsigned)c);
		} else if (c < 0) {
			out_raw(o, "\\ufffd", 6);
		} else {
			out_raw(o, s + i, (size_t)len);
		}
	}
	out_raw(o, "\"", 1);
}
