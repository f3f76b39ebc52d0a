/* What a thread block has for itself of a tensor that it updates, in its shared memory. */
#include "base/diag.h"
#include "sim/sim_int.h"

/* Elements from `from` on, one for each lane, of those that there are. */
static Request elements_at(const SimVal *view, Elem e, int64_t from)
{
	Request q = { .bytes = elem_bytes(e) };
	for (int l = 0; l < LANES; l++) {
		if (from + l >= sim_at(view, VIEW_EXT, l).i) continue;
		q.at[l] = (uint64_t)(sim_at(view, VIEW_BASE, l).i + (from + l) * elem_bytes(e));
		q.lanes |= (uint32_t)1 << l;
	}
	return q;
}

static void define_view(Warp *w, const Op *op, const SimVal *of)
{
	Cell *r = sim_def(w, op->out[0], VIEW_REGS);
	for (int l = 0; l < LANES; l++) {
		r[VIEW_BASE * LANES + l].i = ir_int(op, AT_SLOT, 0);
		r[VIEW_ROOT * LANES + l].i = -1;
		r[VIEW_EXT * LANES + l].i = sim_at(of, VIEW_EXT, l).i;
		r[VIEW_STR * LANES + l].i = 1;
	}
}

/* Two phases: before the elements are cleared, and before they are updated. */
Go run_private(Warp *w, const Step *s)
{
	const Op *op = s->op;
	Elem e = op->out[0]->type->elem;
	Cell none[LANES];
	if (w->phase) return sim_sync(w) ? GO_NEXT : GO_WAIT;
	define_view(w, op, sim_val(w, ir_in(op, 0)));
	const SimVal *view = sim_val(w, op->out[0]);
	if (sim_at(view, VIEW_EXT, 0).i > ir_int(op, AT_NUMBER, 0))
		sim_fault(w, "more elements than `private` has room for");
	for (int l = 0; l < LANES; l++) none[l] = cell_of(e, update_identity(op, e));
	for (int64_t from = (int64_t)w->num * LANES; from < sim_at(view, VIEW_EXT, 0).i; from += w->u->nwarp * LANES) {
		Request q = elements_at(view, e, from);
		shared_store(w, e, &q, none);
	}
	w->phase++;
	return sim_sync(w) ? GO_NEXT : GO_WAIT;
}

Go run_publish(Warp *w, const Step *s)
{
	const Op *op = s->op;
	const SimVal *view = sim_val(w, ir_in(op, 0)), *to = sim_val(w, ir_in(op, 1));
	Elem e = ir_in(op, 0)->type->elem;
	Cell none = cell_of(e, update_identity(op, e));
	for (int64_t from = (int64_t)w->num * LANES; from < sim_at(view, VIEW_EXT, 0).i; from += w->u->nwarp * LANES) {
		Cell sum[LANES];
		Request q = elements_at(view, e, from), at = { .bytes = q.bytes };
		shared_load(w, e, &q, sum);
		for (int l = 0; l < LANES; l++) {
			if (!(q.lanes >> l & 1) || cell_bits(e, sum[l]) == cell_bits(e, none)) continue;
			at.at[l] = (uint64_t)(sim_at(to, VIEW_BASE, l).i + (from + l) * sim_at(to, VIEW_STR, l).i * q.bytes);
			at.lanes |= (uint32_t)1 << l;
		}
		count_global(w, &at, true);
		for (int l = 0; l < LANES && !sim_failed(w->u->r); l++)
			if (at.lanes >> l & 1) update_cell(e, (void *)(uintptr_t)at.at[l], update_combine(op), sum[l]);
	}
	return GO_NEXT;
}
