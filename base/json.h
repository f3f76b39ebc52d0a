/* JSON strings and UTF-8: the one place that decodes and escapes. */
#ifndef BASE_JSON_H
#define BASE_JSON_H
#include <stddef.h>
#include <stdint.h>
#include "base/out.h"

void json_string(Out *o, const char *s);        /* with quotes; bytes that are not UTF-8 become U+FFFD */
/* One character of s[0..n): its code point, or -1 for a byte that starts none; *len is how many bytes it takes. */
int32_t utf8_next(const char *s, size_t n, int *len);
#endif
