/* The calls for which plans are judged: as users may make them, or as they say that they make them. */
#include "base/cost.h"
#include "plan/plan.h"

enum { ROUNDS_MOST = 4096, WHOLE = 1000 };

/* Tiles are full, or as many elements inside as of rows drawn between a tile and half of one; thread blocks fill
 * the device many times, or about once. */
Calls calls_of(const Fn *fn)
{
	Calls c = { .n = 0 };
	(void)fn;
	for (int few = 0; few < 2; few++)
		for (int part = 0; part < 2; part++)
			c.at[c.n++] = (Call){ few ? COST_BLOCKS_FEW : COST_BLOCKS_OF_CALL, part ? COST_PART_USED : WHOLE,
				COST_LOOP_ROUNDS, true };
	return c;
}

/* ---- given extents ---- */
typedef struct Given { const Fn *fn; const Extents *e; } Given;

static bool atom_given(void *ctx, const Sym *a, int64_t *v)
{
	const Given *g = ctx;
	if (a->kind == SYM_ALIGNED) return *v = 1, true;
	bool named = a->atom == ATOM_DIM || a->atom == ATOM_STRIDE || a->atom == ATOM_PARAM;
	if (!named) return *v = 0, true;
	for (int i = 0; i < g->e->n; i++)
		if (g->e->p[i].name == a->name) return *v = g->e->p[i].value, true;
	return false;
}

static bool value(const Given *g, const Sym *s, int64_t *v) { return sym_eval(s, atom_given, (void *)g, v); }

static int64_t elements(const Given *g, const IrParam *p)
{
	int64_t n = 1, v;
	for (int a = 0; a < p->rank; a++)
		if (value(g, p->extent[a], &v) && v > 0 && n < INT64_MAX / v) n *= v;
	return n;
}

/* Elements of the tensor of which each tile block has least, over those of a tile: the part of the tiles that is
 * inside. */
static int used_of(const Given *g, const Skeleton *k, int64_t blocks)
{
	int64_t least = WHOLE, tile = (int64_t)1 << k->log2;
	for (int i = 0; i < g->fn->params.n && blocks > 0; i++) {
		const IrParam *p = &g->fn->params.p[i];
		int64_t n = p->is_tensor ? elements(g, p) : 0, part = n / blocks * WHOLE / tile;
		if (n > tile && part > 0 && part < least) least = part;
	}
	return (int)least;
}

bool calls_at(const Fn *fn, const Extents *e, const Skeleton *k, Calls *c)
{
	Given g = { fn, e };
	int64_t blocks = 1, v;
	for (int i = 0; i < fn->where.n; i++)
		if (!value(&g, fn->where.p[i].cond, &v) || !v) return false;
	for (int a = 0; a < fn->ngrid; a++) {
		if (!value(&g, fn->grid[a], &v) || v < 0) return false;
		blocks = v && blocks > INT64_MAX / v ? INT64_MAX : blocks * v;
	}
	*c = (Calls){ .n = 1 };
	c->at[0] = (Call){ blocks > INT32_MAX ? INT32_MAX : blocks, used_of(&g, k, blocks), COST_LOOP_ROUNDS, true };
	return true;
}
