/* Variants of kernels for shorter rows, and which rows reach a variant. A launch takes the first of its variants whose
 * where clause holds, so the variant for rows of at most 2,048 elements after one for 256 is not asked for shorter
 * ones: what serves those is no use to it. Rules of a launch may ask all the same, and find rows served as long ones
 * are. */
#include "ir/ir_copy.h"
#include "lower/pins.h"
#include "lower/placed.h"

/* "n <= 256", the first such where clause of fn: its place; -1: there is none. */
static int limit_of(const Fn *fn)
{
	for (int i = 0; i < fn->where.n; i++) {
		const Sym *s = fn->where.p[i].cond;
		if (s->kind == SYM_LE && sym_is_const(s->arg[1], NULL) && !sym_is_const(s->arg[0], NULL)) return i;
	}
	return -1;
}

static bool asks(const Fn *fn, const Sym *cond)
{
	for (int i = 0; i < fn->where.n; i++)
		if (fn->where.p[i].cond == cond) return true;
	return false;
}

/* Up to how many elements rows that fn would serve are taken by an earlier variant, whose other conditions are among
 * those of fn; 0: none are. */
static int64_t taken_by(const Fn *earlier, const Fn *fn)
{
	int own = limit_of(fn), limit = limit_of(earlier);
	int64_t most = 0;
	if (own < 0 || limit < 0) return 0;
	const Sym *s = earlier->where.p[limit].cond;
	if (s->arg[0] != fn->where.p[own].cond->arg[0]) return 0;
	for (int i = 0; i < earlier->where.n; i++)
		if (i != limit && !asks(fn, earlier->where.p[i].cond)) return 0;
	sym_is_const(s->arg[1], &most);
	return most;
}

static void note_launch(void *ctx, HostStmt *h)
{
	(void)ctx;
	for (int i = 0; i < h->u.launch.variants.n; i++) {
		Fn *fn = h->u.launch.variants.p[i].fn;
		int64_t most = 0;
		for (int k = 0; k < i; k++) {
			int64_t taken = taken_by(h->u.launch.variants.p[k].fn, fn);
			if (taken > most) most = taken;
		}
		if (most < fn->rows_taken) fn->rows_taken = most;
	}
}

void note_variants(Module *m)
{
	for (int i = 0; i < m->fns.n; i++) m->fns.p[i]->rows_taken = INT64_MAX;
	ir_walk_launches(m, note_launch, NULL);
	for (int i = 0; i < m->fns.n; i++)
		if (m->fns.p[i]->rows_taken == INT64_MAX) m->fns.p[i]->rows_taken = 0;
}

/* ---- further variants ---- */
Str kernel_name_apart(const Module *m, Str name)
{
	for (int i = 0; i < m->fns.n; i++)
		if (m->fns.p[i]->name == name) name = str_fmt("%s_", name), i = -1;
	return name;
}

void variant_asks(Fn *fn, const Sym *cond)
{
	vec_push(A_UNIT, &fn->where, ((IrWhere){ .cond = cond, .text = sym_text(cond), .span = fn->span }));
}

Fn *variant_of_rows(Fn *fn, const char *suffix, const Sym *length, int64_t tile)
{
	Fn *variant = copy_kernel(fn);
	IrWhereVec where = { 0 };
	for (int i = 0; i < fn->where.n; i++) vec_push(A_UNIT, &where, fn->where.p[i]);
	variant->where = where;
	variant->name = str_fmt("%s_%s", fn->name, suffix);
	variant_asks(variant, sym_cmp(SYM_LE, length, sym_const(tile)));
	variant_asks(variant, sym_cmp(SYM_LE, sym_const(1), length));
	return variant;
}
