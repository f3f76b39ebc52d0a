/* Formatted text, as vsnprintf makes it, at a fraction of its cost: most of what the compiler does is printing. */
#ifndef BASE_FMT_H
#define BASE_FMT_H
#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf: the length of the whole text is returned, of which n - 1 bytes and a NUL fit. */
int fmt_text(char *buf, size_t n, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
#endif
