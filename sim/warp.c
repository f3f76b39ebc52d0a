/* What a warp has and does whatever it runs: faults, values, clocks, barriers. */
#include <stdarg.h>
#include <stdio.h>

#include "base/diag.h"
#include "sim/sim_int.h"

/* ---- faults ---- */
bool sim_failed(const Run *r) { return r->result->fault != NULL; }

static void set_fault(Run *r, const Op *op, const char *text)
{
	if (r->result->fault) return;
	r->result->at = op ? op->span : r->fn->span;
	r->result->fault = str_fmt("%s%s%s", text, op ? ": " : "", op ? ir_op_text(op) : "");
}

void sim_fault(const Warp *w, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	Run *r = w->u->r;
	if (r->result->fault) return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	Str where = r->fn->cluster ? str_fmt("thread block %d, ", w->rank) : str_intern("");
	set_fault(r, w->at ? w->at->op : NULL, str_fmt("tile block %lld, %swarp %d: %s", (long long)w->tile[0], where,
		w->index, text));
}

/* ---- values ---- */
int sim_lanes(const Run *r) { return r->fn->lanes ? r->fn->lanes : LANES; }

int sim_regs(const Val *v)
{
	if (v->type->kind == TY_VIEW) return VIEW_REGS;
	if (v->type->kind == TY_SHARED) return 3;       /* group.h */
	return type_is_tile(v->type) && v->lay ? regs_of(v) : v->lay ? (int)type_parts(v->type) << v->lay->in[HW_REG] : 1;
}

static const Val *settled(const Val *v)
{
	while (v->fwd) v = v->fwd;
	return v;
}

const SimVal *sim_val(const Warp *w, const Val *v)
{
	v = settled(v);
	const SimVal *r = &w->val[v->id];
	if (!r->p) bug("%%%d is used before it has a value", v->id);
	return r;
}

Cell *sim_def(Warp *w, const Val *v, int regs)
{
	SimVal *r = &w->val[settled(v)->id];
	if (r->cap < regs) {
		r->p = NEW_ARRAY(w->u->r->mem, Cell, (size_t)regs * LANES);
		r->cap = regs;
	}
	r->mask = regs == 1 ? LANES - 1 : UINT32_MAX;
	r->group = 0;
	r->moved = false;
	return r->p;
}

Cell *sim_scratch(Warp *w, int regs)
{
	if (w->scratch_cap < regs) {
		w->scratch = NEW_ARRAY(w->u->r->mem, Cell, (size_t)regs * LANES);
		w->scratch_cap = regs;
	}
	return w->scratch;
}

/* ---- clocks ---- */
void sim_learn(Warp *w, const uint32_t *clock)
{
	for (int k = 0; k < w->u->nactor; k++)
		if (clock[k] > w->clock[k]) w->clock[k] = clock[k];
}

int actor_of_mbar(const Unit *u, int rank, int bar) { return u->nwarp + rank * u->r->nmbar + bar; }
int actor_of_products(const Warp *w) { return w->u->nwarp + w->u->nrank * w->u->r->nmbar + w->index; }
int actor_of_stores(const Warp *w) { return actor_of_products(w) + w->u->nwarp; }
int actor_of_copies(const Warp *w) { return actor_of_stores(w) + w->u->nwarp; }

/* ---- barriers ---- */
static bool is_at(const Warp *w, int meeting) { return w->met == 1 && w->meeting == meeting; }

/* What each has done before the barrier, all know after it. */
static void meet(Unit *u, int meeting, bool join)
{
	ArenaMark mark = arena_mark(u->mem);
	uint32_t *all = NEW_ARRAY(u->mem, uint32_t, u->nactor);
	for (int i = 0; i < u->nwarp; i++)
		for (int k = 0; is_at(&u->warp[i], meeting) && k < u->nactor; k++)
			if (u->warp[i].clock[k] > all[k]) all[k] = u->warp[i].clock[k];
	for (int i = 0; i < u->nwarp; i++) {
		Warp *w = &u->warp[i];
		if (!is_at(w, meeting)) continue;
		if (join) {
			sim_learn(w, all);
			w->clock[i]++;
		}
		w->met = 2;
		w->state = WARP_RUNS;
	}
	u->meeting[meeting].waiting = 0;
	arena_release(u->mem, mark);
}

static int unfinished(const Unit *u)
{
	int n = 0;
	for (int i = 0; i < u->nwarp; i++) n += u->warp[i].state != WARP_DONE;
	return n;
}

void sim_wake(Unit *u)
{
	for (int i = 0; i < u->nwarp; i++)
		if (u->warp[i].asks && u->warp[i].state == WARP_WAITS) u->warp[i].state = WARP_RUNS;
}

static bool meet_at(Warp *w, int id, int need, bool join)
{
	Unit *u = w->u;
	Meeting *m = &u->meeting[id];
	if (w->met == 2) {
		w->met = 0;
		return true;
	}
	if (w->met) return false;
	if (join) u->r->count[w->at->number].barriers++;
	if (!m->waiting) {
		m->where = w->at;
		m->phase = w->phase;
	} else if (!u->r->roles && (m->where != w->at || m->phase != w->phase)) {
		sim_fault(w, "meets at this barrier while another warp waits at another, `%s`", ir_op_text(m->where->op));
	}
	w->met = 1;
	w->meeting = id;
	w->state = WARP_WAITS;
	if (++m->waiting < need) return false;
	meet(u, id, join);
	w->met = 0;
	return true;
}

bool sim_meet(Warp *w, int id, int need, bool join) { return meet_at(w, 1 + w->rank * MEETINGS + id, need, join); }
bool sim_meet_all(Warp *w, bool join) { return meet_at(w, 0, unfinished(w->u), join); }

bool sim_sync(Warp *w)
{
	if (!w->u->r->roles) return sim_meet_all(w, true);
	return sim_meet(w, 0, w->u->nwarp / w->u->nrank, true);
}
