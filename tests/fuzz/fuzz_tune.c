/* Fuzz target: a tuning list beside a program. Whatever is read becomes rules of the launcher, which is printed. */
#include "common.h"

#include <stdlib.h>
#include <unistd.h>

#include "emit_c/emit_c.h"
#include "lower/lower.h"
#include "parser/parse.h"
#include "sema/sema.h"

static const char program[] =
	"kernel fill<T: float, N: int>(y: out tensor<T, [rows, cols], layout_strided<[pitch, 1]>>, v: f32, k: i32, on: bool)\n"
	"    grid [rows, cdiv(cols, N)] where k >= 0\n"
	"{ y.store([bid(0), bid(1)], full([1, N], T(v), T)); }\n"
	"tune fill_f32 = fill<f32, {64, 128, 256}>;\n";

static bool goes_on(void *ctx, const char *pass, int arch, const Module *m)
{
	(void)ctx, (void)pass, (void)arch, (void)m;
	return true;
}

static bool arch_exists(Str name) { return arch_by_name(name) != NULL; }

/* The list's path; a file of this process, written anew. */
static const char *list_file(const uint8_t *data, size_t n)
{
	static char path[64];
	if (!*path) snprintf(path, sizeof path, "/tmp/ctilec-fuzz-%ld.tune", (long)getpid());
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) abort();
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_begin(n);
	const char *path = list_file(data, n);
	SemaOptions so = { .arch_known = arch_exists, .tune_path = str_intern(path) };
	LowerOptions lo = { .after = goes_on };
	EmitOptions eo = { .version = str_intern("0"), .header_name = str_intern("fuzz.h"), .output_name = str_intern("fuzz.c"), .line = LINE_OFF };
	Module *m = sema_check(parse_file(fuzz_source("fuzz.tile", (const uint8_t *)program, sizeof program - 1)), &so, NULL);
	if (!m && !diag_errors()) abort();
	if (m && !diag_errors() && lower_typed(m, &lo)) {
		Out *o = out_new();
		emit_c(o, m, &eo);
		out_free(o);
	}
	unlink(path);
	fuzz_end();
	return 0;
}
