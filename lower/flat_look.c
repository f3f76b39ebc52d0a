/* Which kernels have a version by elements in the order of memory (flat.c): what they store, and where. */
#include "ir/fold.h"
#include "lower/flat.h"

const IrParam *flat_dense(const Flat *f, const Val *view)
{
	if (view->def || view->type->kind != TY_VIEW || view->block != f->fn->body) return NULL;
	const IrParam *p = &f->fn->params.p[view->index];
	const Sym *stride = sym_const(1);
	for (int a = p->rank - 1; a >= 0; a--) {
		if (p->stride[a] != stride) return NULL;
		stride = sym_mul(stride, p->extent[a]);
	}
	return p;
}

/* The axis of the grid whose tile blocks lie side by side along an axis of the store, and cover it; ngrid: none. */
static int grid_of(Flat *f, const Op *store, int a)
{
	int64_t tile = type_extent(f->tile, a);
	const Sym *at = valsym_access(&f->syms, store, a), *whole = sym_const(tile), *end = f->extent[a];
	if (at == sym_const(0) && facts_le(f->syms.facts, end, whole)) return NONE;
	for (int g = 0; g < f->fn->ngrid; g++) {
		if (at != sym_mul(sym_atom(ATOM_BID, NULL, g), whole)) continue;
		const Sym *n = f->fn->grid[g];
		bool covers = n == sym_cdiv(end, whole) || facts_le(f->syms.facts, end, sym_mul(n, whole));
		return covers && f->along[g] == NONE ? g : f->fn->ngrid;
	}
	return f->fn->ngrid;
}

bool flat_is_small(const Flat *f, const Sym *extent)
{
	return facts_le(f->syms.facts, sym_const(0), extent) && facts_le(f->syms.facts, extent, sym_const(INT32_MAX));
}

static void find_wide(void *ctx, const Sym *atom)
{
	Flat *f = ctx;
	f->wide |= atom->kind != SYM_ATOM || atom->atom != ATOM_DIM;
	for (int i = 0; i < f->fn->dims.n; i++)
		if (f->fn->dims.p[i].name == atom->name && f->fn->dims.p[i].elem != EL_I32) f->wide = true;
}

/* Launchers refuse calls in which extents that are computed of i32 are not of i32 (emit/host.c). */
void flat_learn_extents(Flat *f)
{
	for (int i = 0; i < f->fn->params.n && !f->fn->is_step; i++)
		for (int a = 0; a < f->fn->params.p[i].rank; a++) {
			const Sym *s = f->fn->params.p[i].extent[a];
			f->wide = s->kind == SYM_CONST || s->kind == SYM_ATOM;
			sym_atoms(s, find_wide, f);
			if (!f->wide) facts_assume(f->syms.facts, sym_cmp(SYM_LE, s, sym_const(INT32_MAX)));
		}
}

static bool look_at_first(Flat *f, const Op *store)
{
	const IrParam *p = flat_dense(f, ir_in(store, 0));
	int64_t one;
	f->like = store;
	f->tile = ir_accessed(store)->type;
	if (!p || !type_is_tile(f->tile) || p->rank != f->tile->rank || p->rank < 2) return false;
	f->rank = p->rank;
	for (int g = 0; g < f->fn->ngrid; g++) f->along[g] = NONE;
	for (int a = 0; a < f->rank; a++) {
		f->extent[a] = p->extent[a];
		f->grid[a] = grid_of(f, store, a);
		if (f->grid[a] == f->fn->ngrid || !flat_is_small(f, f->extent[a])) return false;
		if (f->grid[a] != NONE) f->along[f->grid[a]] = a;
	}
	for (int g = 0; g < f->fn->ngrid; g++)
		if (f->along[g] == NONE && !(sym_is_const(f->fn->grid[g], &one) && one == 1)) return false;
	return true;
}

static bool same_places(Flat *f, const Op *store)
{
	const IrParam *p = flat_dense(f, ir_in(store, 0));
	if (!p || p->rank != f->rank || !type_same_shape(ir_accessed(store)->type, f->tile)) return false;
	for (int a = 0; a < f->rank; a++) {
		if (p->extent[a] != f->extent[a]) return false;
		if (valsym_access(&f->syms, store, a) != valsym_access(&f->syms, f->like, a)) return false;
	}
	return true;
}

static bool look_at(Flat *f, const Op *op)
{
	if (op->nregion) return false;
	f->draws |= op_has(op, OPF_RANDOM);
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		for (int k = 0; k < op->nout; k++) f->differs[op->out[k]->id] |= f->differs[v->id];
	}
	if (op->code == OP_BID) f->differs[op->out[0]->id] = (uint8_t)(1 << ir_axis(op));
	/* no element's own, but what is stored comes of it: flat.c would find that out after much work */
	if ((op_is_reduce(op) || op_is_scan(op)) && f->differs[op->out[0]->id]) return false;
	/* all loads will come before all stores */
	if (f->like && op_has(op, OPF_READ) && !memory_is_constant(f->fn, ir_in(op, 0))) return false;
	if (op->code == OP_STORE) return !ir_int(op, AT_CACHE, 0) && (f->like ? same_places(f, op) : look_at_first(f, op));
	return !op_has(op, OPF_WRITE);
}

bool flat_suits(Flat *f)
{
	for (const Op *op = f->fn->body->first; op; op = op->next)
		if (!look_at(f, op)) return false;
	return f->like != NULL;
}
