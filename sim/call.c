/* What is known of a call: symbolic integers and conditions over its dimensions, parameters and tensors. */
#include <string.h>

#include "sim/sim_int.h"

typedef struct Atoms { const SimCall *c; } Atoms;

static bool count_blocks(const SimCall *c, int64_t *v)
{
	int64_t extent;
	*v = 1;
	for (int i = 0; i < c->fn->ngrid; i++)
		if (!sim_sym(c, c->fn->grid[i], &extent) || __builtin_mul_overflow(*v, extent, v)) return false;
	return true;
}

static bool atom_value(void *ctx, const Sym *a, int64_t *v)
{
	const SimCall *c = ((Atoms *)ctx)->c;
	for (int i = 0; i < c->fn->dims.n && (a->atom == ATOM_DIM || a->atom == ATOM_STRIDE); i++)
		if (c->fn->dims.p[i].name == a->name) {
			*v = c->dim[i];
			return true;
		}
	for (int i = 0; i < c->fn->params.n && a->kind == SYM_ALIGNED; i++)
		if (c->fn->params.p[i].name == a->name) {
			*v = (uint64_t)(uintptr_t)c->arg[i] % (uint64_t)a->value == 0;
			return true;
		}
	for (int i = 0; i < c->fn->params.n && a->atom == ATOM_PHASE; i++)
		if (c->fn->params.p[i].name == a->name) {
			*v = (int64_t)((uintptr_t)c->arg[i] % 128);
			return true;
		}
	if (a->atom == ATOM_BLOCKS) return count_blocks(c, v);
	for (int i = 0; i < c->fn->params.n && a->atom == ATOM_PARAM; i++) {
		const IrParam *p = &c->fn->params.p[i];
		if (p->name != a->name) continue;
		if (p->is_tensor) return false;
		uint64_t bits = 0;
		memcpy(&bits, c->arg[i], (size_t)elem_bytes(p->elem));          /* hosts and GPUs are little-endian */
		*v = num_wrap(p->elem, bits).i;
		return true;
	}
	return false;
}

bool sim_sym(const SimCall *c, const Sym *s, int64_t *v)
{
	Atoms a = { c };
	return sym_eval(s, atom_value, &a, v);
}
