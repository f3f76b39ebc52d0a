/* What a thread block has for itself of a tensor that it updates, in its shared memory; copies of an element follow
 * each other. */
#include "base/diag.h"
#include "sim/sim_int.h"

typedef struct Own {
	Elem e;
	int64_t slot, extent, count;    /* count: of elements with their copies */
	int log2;                       /* of the copies */
} Own;

static Own own_of(Warp *w, const Op *private)
{
	int64_t copies = sim_at(sim_val(w, ir_in(private, 1)), 0, 0).i;
	Own x = { .e = private->out[0]->type->elem, .slot = ir_int(private, AT_SLOT, 0) };
	x.extent = sim_at(sim_val(w, ir_in(private, 0)), VIEW_EXT, 0).i;
	while (copies >> (x.log2 + 1)) x.log2++;
	x.count = x.extent << x.log2;
	return x;
}

/* Elements for each lane of those that there are, from number `from` of 2^of copies on; how many elements further. */
static Request elements_at(const Own *x, int64_t from, int of, int64_t further)
{
	Request q = { .bytes = elem_bytes(x->e) };
	for (int l = 0; l < LANES; l++) {
		int64_t i = from + l;
		if (i >= x->extent << of) continue;
		i = (i >> of << x->log2) + (i & (((int64_t)1 << of) - 1)) + further;
		q.at[l] = (uint64_t)(x->slot + i * q.bytes);
		q.lanes |= (uint32_t)1 << l;
	}
	return q;
}

static void define_view(Warp *w, const Op *op, const Own *x)
{
	Cell *r = sim_def(w, op->out[0], VIEW_REGS);
	for (int l = 0; l < LANES; l++) {
		int64_t copy = (w->num * LANES + l) & (((int64_t)1 << x->log2) - 1);
		r[VIEW_BASE * LANES + l].i = x->slot + copy * elem_bytes(x->e);
		r[VIEW_ROOT * LANES + l].i = -1;
		r[VIEW_EXT * LANES + l].i = x->extent;
		r[VIEW_STR * LANES + l].i = (int64_t)1 << x->log2;
	}
}

/* Two phases: before the elements are cleared, and before they are updated. */
Go run_private(Warp *w, const Step *s)
{
	const Op *op = s->op;
	Cell none[LANES];
	if (w->phase) return sim_sync(w) ? GO_NEXT : GO_WAIT;
	Own x = own_of(w, op);
	define_view(w, op, &x);
	if (x.count > ir_int(op, AT_NUMBER, 0)) sim_fault(w, "more elements than `private` has room for");
	for (int l = 0; l < LANES; l++) none[l] = cell_of(x.e, update_identity(op, x.e));
	for (int64_t from = (int64_t)w->num * LANES; from < x.count; from += w->u->nwarp * LANES) {
		Request q = elements_at(&x, from, x.log2, 0);
		shared_store(w, x.e, &q, none);
	}
	w->phase++;
	return sim_sync(w) ? GO_NEXT : GO_WAIT;
}

static void join_copies(Warp *w, const Op *op, const Own *x, int of)
{
	for (int64_t from = (int64_t)w->num * LANES; from < x->extent << of; from += w->u->nwarp * LANES) {
		Cell a[LANES], b[LANES];
		Request q = elements_at(x, from, of, 0), other = elements_at(x, from, of, (int64_t)1 << of);
		shared_load(w, x->e, &q, a);
		shared_load(w, x->e, &other, b);
		for (int l = 0; l < LANES; l++) a[l] = cells_combined(update_combine(op), x->e, a[l], b[l]);
		shared_store(w, x->e, &q, a);
	}
}

static void publish(Warp *w, const Op *op, const Own *x)
{
	const SimVal *to = sim_val(w, ir_in(op, 1));
	Cell none = cell_of(x->e, update_identity(op, x->e));
	for (int64_t from = (int64_t)w->num * LANES; from < x->extent; from += w->u->nwarp * LANES) {
		Cell sum[LANES];
		Request q = elements_at(x, from, 0, 0), at = { .bytes = q.bytes };
		shared_load(w, x->e, &q, sum);
		for (int l = 0; l < LANES; l++) {
			if (!(q.lanes >> l & 1) || cell_bits(x->e, sum[l]) == cell_bits(x->e, none)) continue;
			at.at[l] = (uint64_t)(sim_at(to, VIEW_BASE, l).i + (from + l) * sim_at(to, VIEW_STR, l).i * q.bytes);
			at.lanes |= (uint32_t)1 << l;
		}
		count_global(w, &at, true);
		for (int l = 0; l < LANES && !sim_failed(w->u->r); l++)
			if (at.lanes >> l & 1) update_cell(x->e, (void *)(uintptr_t)at.at[l], update_combine(op), sum[l]);
	}
}

/* Two phases for each halving of the copies. */
Go run_publish(Warp *w, const Step *s)
{
	Own x = own_of(w, ir_in(s->op, 0)->def);
	for (;;) {
		if (w->phase & 1) {
			if (!sim_sync(w)) return GO_WAIT;
			w->phase++;
		}
		if (w->phase / 2 == x.log2) break;
		join_copies(w, s->op, &x, x.log2 - 1 - w->phase / 2);
		w->phase++;
	}
	publish(w, s->op, &x);
	return GO_NEXT;
}
