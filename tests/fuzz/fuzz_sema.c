/* Fuzz target: any text through the checker and, when it is a program, through every pass and the three emitters up to their text.
 * -O, --checked, the architecture and the version of CUDA Tile C++ follow from the length, so that a corpus sees them all. Nothing but
 * messages may stop it. */
#include "common.h"

#include <stdlib.h>

#include "emit_c/emit_c.h"
#include "emit_cuda/emit_cuda.h"
#include "emit_tile/emit_tile.h"
#include "lower/lower.h"
#include "parser/parse.h"
#include "sema/sema.h"

static bool goes_on(void *ctx, const char *pass, int arch, const Module *m)
{
	(void)ctx, (void)pass, (void)arch, (void)m;
	return true;
}

static bool arch_exists(Str name)
{
	return arch_by_name(name) != NULL;
}

static Str same_path(Str path)
{
	return path;
}

/* m: lowered without regard to threads. What the target cannot express is a message. */
static void emit_tiles(Module *m, EmitOptions eo, size_t n)
{
	Out *tiles = out_new();
	eo.tile_version = tile_versions[n % (size_t)tile_version_count].number;
	emit_tile(tiles, m, &eo);
	if (diag_errors() == 0 && !tiles->n) abort();
}

static void emit_all(Module *m, size_t n)
{
	LowerOptions lo = { .level = (int)(n % 4), .checked = n / 4 % 2, .after = goes_on, .by_threads = n / 16 % 2 };
	EmitOptions eo = { .version = str_intern("0"), .header_name = str_intern("fuzz.h"), .output_name = str_intern("fuzz.c"),
		.line = n / 8 % 2 ? LINE_ON : LINE_OFF, .abs_path = same_path, .checked = lo.checked, .opt = lo.level };
	const ArchRow *arch = &arch_rows[n % (size_t)arch_count];
	Out *header = out_new(), *c = out_new(), *cuda = out_new();
	if (!lower_typed(m, &lo)) return;
	emit_header(header, m, &eo);
	emit_c(c, m, &eo);
	if (!lo.by_threads) emit_tiles(lower_copy(m), eo, n);
	if (diag_errors()) return;
	vec_push(A_UNIT, &eo.archs, arch);
	vec_push(A_UNIT, &m->archs, ((IrArch){ arch->number, arch->specific }));
	bool placed = lower_place(m, &lo);
	if (placed) emit_cuda(cuda, m, &eo, NULL, NULL);
	if (placed && diag_errors() == 0 && !(header->n && c->n && cuda->n)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_begin(n);
	SemaOptions so = { .arch_known = arch_exists, .checked = n / 4 % 2 };
	TypeNoteVec notes = { 0 };
	vec_push(A_UNIT, &so.import_dirs, str_intern("stdlib"));
	Ast *ast = parse_file(fuzz_source("fuzz.tile", data, n));
	Module *m = diag_errors() ? NULL : sema_check(ast, &so, &notes);
	if (!m && diag_errors() == 0) abort();
	if (m && diag_errors() == 0) emit_all(m, n);
	fuzz_end();
	return 0;
}
