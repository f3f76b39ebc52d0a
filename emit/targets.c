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

static Str arch_list(const Version *v, const EmitOptions *opt)
{
	Out *names = out_new();
	for (int i = 0; i < opt->archs.n; i++)
		if (v->archs >> i & 1) out_printf(names, "%s%s", names->n ? ", " : "", opt->archs.p[i]->name);
	Str r = str_intern(names->p);
	out_free(names);
	return r;
}

/* The version for aligned tensors, or for rows in vectors wherever they begin; else that for all calls. */
static const Version *main_version(const Module *m, Versions of, int arch)
{
	const Version *r = NULL;
	for (int i = of.first; i < of.first + of.n; i++) {
		const Version *v = &m->versions.p[i];
		bool vectors = !strcmp(v->name, "aligned") || !strcmp(v->name, "shifted");
		if (v->archs >> arch & 1 && (vectors || (!r && !*v->name))) r = v;
	}
	return r;
}

bool emit_kernels(Out *o, const Module *m, const EmitOptions *opt, KernelPrinter *print, Str more)
{
	bool ok = true;
	int n = 0;
	Versions v = { 0, 0 };
	for (int k = 0; k < m->fns.n; k++) {
		v = ir_versions(m, m->fns.p[k], v.first + v.n);
		const Version *last = NULL;
		for (int i = 0; i < opt->archs.n; i++) {
			const Version *one = main_version(m, v, i);
			if (one == last) continue;
			last = one;
			out_puts(o, n++ ? "\n" : "");
			ArenaMark mark = arena_mark(A_TMP);
			ok &= print(o, m, one, arch_list(one, opt), more);
			arena_release(A_TMP, mark);
		}
	}
	return ok;
}
