/* See common.h. */
#include "common.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"

FILE *nowhere;
static DiagMark clean;
static jmp_buf back;
static bool armed;

void fuzz_begin(size_t n)
{
	static const DiagFormat form[] = { DIAG_RICH, DIAG_SHORT, DIAG_JSON, DIAG_SARIF };
	if (!nowhere) {
		nowhere = fopen("/dev/null", "w");
		A_UNIT = arena_new();
		A_TMP = arena_new();
		diag_options(&(DiagOptions){ .format = DIAG_RICH, .error_limit = 20 });
		diag_warning_option("all", NULL);
		diag_warning_option("extra", NULL);
		diag_warning_option("perf", NULL);
		clean = diag_mark();
	}
	src_begin();
	diag_options(&(DiagOptions){ .format = form[n / 32 % 4], .error_limit = 20 });
}

void fuzz_end(void)
{
	diag_flush(nowhere);
	diag_rollback(clean);
}

Src *fuzz_source(const char *name, const uint8_t *data, size_t n)
{
	return src_add(str_intern(name), arena_strndup(A_UNIT, (const char *)data, n), n);
}

/* The linker gives calls of exit to this (--wrap=exit). */
_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);
_Noreturn void __wrap_exit(int status)
{
	if (!armed) __real_exit(status);
	if (status == 70) abort();
	longjmp(back, 1);
}

void fuzz_until_exit(void (*f)(void *ctx), void *ctx)
{
	armed = true;
	if (!setjmp(back)) f(ctx);
	armed = false;
}
