/* The loop after those that are split that stores what comes of them, such as rows by their mean and variance: it
 * carries nothing, and no iteration accesses what another one stores. So its iterations are shared out along one more
 * axis of the grid, too. What stands around it is done by each share, but for stores, which the first one does. */
#include "lower/placed.h"
#include "lower/split.h"

typedef struct Look {
	const Op *loop;         /* NULL: not found yet */
	bool inside;            /* the loop is looked into */
	VEC(const Op *) reads;          /* of what the kernel may write */
	VEC(const Op *) stores, around; /* of the loop; others */
	bool ok;
} Look;

/* Memory that no other parameter leads to. */
static bool is_of_tensor(const Fn *fn, const Op *op)
{
	const Val *v = ir_tensor(ir_in(op, 0));
	return !v->def && v->block == fn->body && fn->params.p[v->index].is_tensor;
}

static void look_at(void *ctx, Op *op)
{
	Look *k = ctx;
	const Fn *fn = op->parent->fn;
	if (op->code == OP_STORE || op->code == OP_SCATTER) {
		k->ok &= !ir_int(op, AT_ORDER, 0) && is_of_tensor(fn, op) && (k->inside || !op->parent->owner);
		if (k->inside) vec_push(A_TMP, &k->stores, op);
		else vec_push(A_TMP, &k->around, op);
		return;
	}
	k->ok &= op->code == OP_RETURN || split_may_stand(op);
	if (!k->ok || !op_has(op, OPF_READ) || memory_is_constant(fn, ir_in(op, 0))) return;
	k->ok = is_of_tensor(fn, op);
	vec_push(A_TMP, &k->reads, op);
}

static const Val *widened_from(const Val *v)
{
	while (v->def && v->def->code == OP_CAST && elem_is_int(ir_in(v->def, 0)->type->elem)
		&& elem_bytes(v->type->elem) >= elem_bytes(ir_in(v->def, 0)->type->elem)) v = ir_in(v->def, 0);
	return v;
}

/* Do the tiles of two iterations have no element in common? Along some axis they are at least their extent apart. */
static bool is_apart(const Op *op, const Op *loop, int64_t step)
{
	const Val *view = ir_in(op, 0);
	const IrAttr *steps = ir_attr(op, AT_STEPS);
	if (op->code != OP_STORE || view->def) return false;
	for (int a = 0; a < view->type->rank; a++) {
		const Type *t = ir_accessed(op)->type;
		int64_t extent = type_is_tile(t) ? type_extent(t, a) : 1, each = steps ? steps->u.ints.p[a] : 1;
		bool counts = widened_from(ir_in(op, 1 + a)) == loop->region[0]->args.p[0];
		if (counts && each >= (extent + step - 1) / step) return true;
	}
	return false;
}

static bool is_to(const Op *store, const Op *other) { return ir_tensor(ir_in(store, 0)) == ir_tensor(ir_in(other, 0)); }

/* May a share find in memory what another one stores by this? What an iteration reads before it stores there is its
 * own. */
static bool is_read(const Look *k, const Op *store)
{
	for (int i = 0; i < k->reads.n; i++) {
		const Op *read = k->reads.p[i];
		bool own = read->parent == store->parent && store->parent->owner && same_elements(read, store);
		if (is_to(store, read) && !own) return true;
	}
	return false;
}

static bool are_apart(const Look *k, int64_t step)
{
	for (int i = 0; i < k->stores.n; i++) {
		const Op *store = k->stores.p[i];
		if (!is_apart(store, k->loop, step) || is_read(k, store)) return false;
		for (int o = 0; o < k->stores.n; o++)
			if (o != i && is_to(store, k->stores.p[o])) return false;
		for (int o = 0; o < k->around.n; o++)
			if (is_to(store, k->around.p[o])) return false;
	}
	for (int i = 0; i < k->around.n; i++)
		if (is_read(k, k->around.p[i])) return false;
	return k->stores.n > 0;
}

void split_find_stores(SplitPlan *p)
{
	Look k = { .ok = true };
	ValSyms syms = valsyms_new(p->fn);
	int at = 0, next = 0;
	for (Op *op = p->fn->body->first; op && k.ok; op = op->next, at++) {
		if (next < p->loops.n && p->loops.p[next].at == at) {
			next++;
			continue;
		}
		bool loop = next == p->loops.n && op->code == OP_FOR && !op->nout;
		if (loop) {
			k.ok = !k.loop && split_know(&p->stores, op, &syms);
			k.loop = op;
			p->stores.at = at;
		} else {
			look_at(&k, op);
		}
		k.inside = loop;
		for (int i = 0; i < op->nregion; i++) ir_walk(op->region[i], look_at, &k);
		k.inside = false;
	}
	p->storing = k.ok && k.loop && are_apart(&k, p->stores.step);
}
