/* The tables of targets and architectures, and the walk over what was placed for them. */
#include <string.h>

#include "emit/emit.h"

const TargetRow target_rows[TARGET_COUNT] = {
#define TARGET(id, name, suffix, doc) { name, suffix, doc },
#include "emit/targets.def"
};

const ArchRow arch_rows[] = {
#define ARCH(name, number, specific, doc) { name, number, specific, doc },
#include "emit/targets.def"
};
const int arch_count = sizeof arch_rows / sizeof *arch_rows;

const TileVersion tile_versions[] = {
#define TILE_VERSION(number, name) { number, name },
#include "emit/targets.def"
};
const int tile_version_count = sizeof tile_versions / sizeof *tile_versions;

const TileFeatureRow tile_feature_rows[TILE_FEATURE_COUNT] = {
#define TILE_FEATURE(id, since, what, before) { since, what, before },
#include "emit/targets.def"
};

const char *tile_version_name(int number)
{
	int i = 0;
	while (tile_versions[i].number != number) i++;
	return tile_versions[i].name;
}

const ArchRow *arch_by_name(const char *name)
{
	for (int i = 0; i < arch_count; i++)
		if (!strcmp(arch_rows[i].name, name)) return &arch_rows[i];
	return NULL;
}

bool emit_kernels(Out *o, const Module *m, Module *const *placed, const EmitOptions *opt, KernelPrinter *print, Str more)
{
	bool ok = true;
	for (int k = 0; k < m->fns.n; k++)
		for (int i = 0, next; i < opt->archs.n; i = next) {
			const Fn *fn = placed[i]->fns.p[k];
			Out *names = out_new();
			for (next = i; next < opt->archs.n && placed[next]->fns.p[k] == fn; next++)
				out_printf(names, "%s%s", next > i ? ", " : "", opt->archs.p[next]->name);
			out_puts(o, k || i ? "\n" : "");
			ArenaMark mark = arena_mark(A_TMP);
			ok &= print(o, fn, str_intern(names->p), more);
			arena_release(A_TMP, mark);
			out_free(names);
		}
	return ok;
}
