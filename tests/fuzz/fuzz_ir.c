/* Fuzz target: the reader of the IR's text form, typed (.ir) and placed (.tir). Whatever is read is sound, prints, and reads back to
 * the same text; placed kernels are then printed as CUDA, typed ones lowered and printed as C. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "emit_c/emit_c.h"
#include "emit_cuda/emit_cuda.h"
#include "ir/ir.h"
#include "lower/lower.h"

static void read_again(const Module *m)
{
	Out *once = out_new(), *twice = out_new();
	ir_print(once, m);
	const Module *back = ir_read(fuzz_source("fuzz.ir", (const uint8_t *)once->p, once->n));
	if (back) ir_print(twice, back);
	if (!back || strcmp(once->p, twice->p)) {
		diag_flush(stderr);
		fputs(once->p, stderr);
		abort();
	}
	out_free(once);
	out_free(twice);
}

static bool goes_on(void *ctx, const char *pass, int arch, const Module *m)
{
	(void)ctx, (void)pass, (void)arch, (void)m;
	return true;
}

static void emit(Module *m, size_t n)
{
	EmitOptions eo = { .version = str_intern("0"), .header_name = str_intern("fuzz.h"), .output_name = str_intern("fuzz.c"),
		.line = n / 8 % 2 ? LINE_ON : LINE_OFF, .opt = (int)(n % 4) };
	LowerOptions lo = { .level = eo.opt, .after = goes_on };
	Out *o = out_new();
	const Fn *fn = m->fns.n ? m->fns.p[0] : NULL;
	for (int i = 1; i < m->fns.n; i++)
		if (m->fns.p[i]->stage != fn->stage || m->fns.p[i]->arch != fn->arch || m->fns.p[i]->specific != fn->specific) return;
	if (m->versions.n) {
		for (int i = 0; i < m->archs.n; i++) {
			const ArchRow *arch = arch_by_name(str_fmt("sm_%d%s", m->archs.p[i].number, m->archs.p[i].specific ? "a" : ""));
			if (!arch) return;
			vec_push(A_UNIT, &eo.archs, arch);
		}
		emit_cuda(o, m, &eo, NULL, NULL);
	} else if (fn && fn->stage == STAGE_PLACED) {
		const ArchRow *arch = arch_by_name(str_fmt("sm_%d%s", fn->arch, fn->specific ? "a" : ""));
		if (!arch) return;
		vec_push(A_UNIT, &eo.archs, arch);
		vec_push(A_UNIT, &m->archs, ((IrArch){ fn->arch, fn->specific }));
		for (int i = 0; i < m->fns.n; i++)
			vec_push(A_UNIT, &m->versions, ((Version){ m->fns.p[i], str_intern(""), sym_const(1), 1, m->fns.p[i], NULL, NULL }));
		emit_cuda(o, m, &eo, NULL, NULL);
	} else if (lower_typed(m, &lo)) {
		emit_c(o, m, &eo);
	}
	out_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_begin(n);
	Module *m = memchr(data, 0, n) ? NULL : ir_read(fuzz_source("fuzz.ir", data, n));
	if (m && !diag_errors()) {
		read_again(m);
		emit(m, n);
	}
	fuzz_end();
	return 0;
}
