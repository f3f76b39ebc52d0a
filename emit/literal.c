/* Numbers in emitted C and C++. */
#include "emit/literal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

Str literal_float(double f, bool single)
{
	char buf[64];
	for (int digits = single ? 6 : 15; ; digits++) {
		snprintf(buf, sizeof buf, "%.*g", digits, f);
		if (single ? strtof(buf, NULL) == (float)f : strtod(buf, NULL) == f) break;
		if (digits > 17) bug("a float constant has no decimal text");
	}
	if (!strpbrk(buf, ".e")) strcat(buf, ".0");
	return str_fmt(signbit(f) ? "(%s%s)" : "%s%s", buf, single ? "f" : "");
}

Str literal_int(Elem e, Num n)
{
	switch (e) {
	case EL_U64: return str_fmt("%lluull", (unsigned long long)n.i);
	case EL_U32: return str_fmt("%lluu", (unsigned long long)(uint32_t)n.i);
	case EL_I64:
		if (n.i == INT64_MIN) return str_intern("(-9223372036854775807ll - 1)");
		return str_fmt(n.i < 0 ? "(%lldll)" : "%lldll", (long long)n.i);
	case EL_I32:
		if (n.i == INT32_MIN) return str_intern("(-2147483647 - 1)");
		return str_fmt(n.i < 0 ? "(%lld)" : "%lld", (long long)n.i);
	default: return NULL;
	}
}
