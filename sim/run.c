/* A run: the program decoded, units one after the other, warps as coroutines. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sim/sim_int.h"

enum { BUDGET = 400 * 1000 * 1000 };    /* operations of warps: more is an endless loop */

/* ---- decoding ---- */
static Code sim_decode(Run *r, const IrBlock *b)
{
	Code c = { .block = b };
	for (const Op *op = b->first; op; op = op->next) c.n++;
	c.step = NEW_ARRAY(r->mem, Step, c.n + 1);
	int i = 0;
	for (const Op *op = b->first; op; op = op->next, i++) {
		Step *s = &c.step[i];
		const OpMeaning *m = &op_meanings[op->code];
		*s = (Step){ .op = op, .run = m->run, .number = r->nop++ };
		vec_push(r->mem, &r->ops, op);
		if (!m->run) bug("`%s` has no meaning in sim", op_rows[op->code].name);
		if (op->nregion > 2) bug("`%s` has %d regions", op_rows[op->code].name, op->nregion);
		if (m->plan) s->plan = m->plan(r, op);
		for (int k = 0; k < op->nregion; k++) s->region[k] = sim_decode(r, op->region[k]);
	}
	return c;
}

/* ---- versions ---- */
static bool serves(const SimCall *c, const Version *v)
{
	int64_t holds;
	return sim_sym(c, v->guard, &holds) && holds;
}

/* Only versions with a predicted time are compared. */
static bool is_faster(const SimCall *c, const Version *v, const Version *than)
{
	int64_t a, b;
	return v->time && than->time && sim_sym(c, v->time, &a) && sim_sym(c, than->time, &b) && a < b;
}

const Version *sim_version(const SimCall *c, const Module *m, const char *name)
{
	Versions of = ir_versions(m, c->fn, 0);
	const Version *v = &m->versions.p[of.first], *serving = NULL;
	int skip = name && *name == '#' ? atoi(name + 1) : 0;
	for (int i = 0; name && i < of.n; i++) {
		if (!serves(c, &v[i])) continue;
		if (!strcmp(v[i].name, name) || (*name == '#' && skip-- == 0)) return &v[i];
	}
	for (int i = 0; i < of.n; i++)
		if (serves(c, &v[i]) && (!serving || is_faster(c, &v[i], serving))) serving = &v[i];
	if (!serving) bug("no version of `%s` serves a call", c->fn->name);
	return serving;
}

/* ---- warps ---- */
static uint32_t sim_random(Run *r)             /* xorshift */
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return (uint32_t)(r->random >> 16);
}

/* Runs a warp until it waits or ends, or, in random order, for a while. */
static void go_on(Warp *w)
{
	Run *r = w->u->r;
	int turns = r->call->seed ? 1 + (int)(sim_random(r) % 8) : 1 << 30;
	while (turns-- && w->state == WARP_RUNS && !sim_failed(r)) {
		Frame *f = &w->frame.p[w->frame.n - 1];
		if (f->at >= f->code->n) bug("a block of `%s` has no end", r->fn->name);
		w->at = &f->code->step[f->at];
		if (--r->budget < 0) {
			r->result->stopped = r->call->work > 0;
			sim_fault(w, "does not end");
			return;
		}
		Go go = w->at->run(w, w->at);
		if (go == GO_NEXT) {
			w->frame.p[w->frame.n - 1].at++;
			w->phase = 0;
		}
		w->asks = go == GO_WAIT && !w->met;
		if (go == GO_WAIT && w->state == WARP_RUNS) w->state = WARP_WAITS;
	}
}

static Warp *next_warp(Unit *u, int *turn)
{
	int n = u->nwarp, from = u->r->call->seed ? (int)(sim_random(u->r) % (unsigned)n) : *turn;
	for (int k = 0; k < n; k++) {
		Warp *w = &u->warp[(from + k) % n];
		if (w->state != WARP_RUNS) continue;
		*turn = (from + k + 1) % n;
		return w;
	}
	return NULL;
}

/* All that runs at once, a warp of each unit in turn. */
static void run_together(Run *r, int n)
{
	for (bool more = true; more && !sim_failed(r);) {
		more = false;
		for (int i = 0; i < n && !sim_failed(r); i++) {
			Warp *w = next_warp(&r->unit[i], &r->unit[i].turn);
			if (!w) continue;
			go_on(w);
			more = true;
		}
	}
	for (int i = 0; i < n; i++)
		for (int k = 0; k < r->unit[i].nwarp && !sim_failed(r); k++)
			if (r->unit[i].warp[k].state != WARP_DONE) sim_fault(&r->unit[i].warp[k], "waits for ever");
	for (int i = 0; i < n && !sim_failed(r); i++) {
		group_end(&r->unit[i]);
		cluster_end(&r->unit[i]);
	}
}

/* ---- units ---- */
static void bind_view(Warp *w, int param)
{
	const SimCall *c = w->u->r->call;
	const IrParam *p = &c->fn->params.p[param];
	Cell *v = sim_def(w, p->val, VIEW_REGS);
	for (int l = 0; l < LANES; l++) {
		v[VIEW_BASE * LANES + l].i = (int64_t)(uintptr_t)c->arg[param];
		v[VIEW_ROOT * LANES + l].i = param;
	}
	for (int a = 0; a < p->rank; a++) {
		int64_t e = 0, s = 0;
		if (!sim_sym(c, p->extent[a], &e) || !sim_sym(c, p->stride[a], &s))
			bug("an extent that the launcher did not check");
		for (int l = 0; l < LANES; l++) v[(VIEW_EXT + a) * LANES + l].i = e, v[(VIEW_STR + a) * LANES + l].i = s;
	}
}

static void bind_params(Warp *w)
{
	const SimCall *c = w->u->r->call;
	for (int i = 0; i < c->fn->params.n; i++) {
		const IrParam *p = &c->fn->params.p[i];
		if (p->is_tensor) {
			if (p->val) bind_view(w, i);
			continue;
		}
		uint64_t bits = 0;
		memcpy(&bits, c->arg[i], (size_t)elem_bytes(p->elem));
		Cell *v = sim_def(w, c->fn->body->args.p[i], 1);
		for (int l = 0; l < LANES; l++) v[l] = cell_from(p->elem, bits);
	}
}

static void make_warps(Run *r, Unit *u)
{
	u->r = r;
	u->nrank = r->fn->cluster ? r->fn->cluster : 1;
	u->nwarp = r->fn->warps;
	u->nactor = 4 * u->nwarp + u->nrank * r->nmbar;
	u->warp = NEW_ARRAY(r->mem, Warp, u->nwarp);
	u->shared = NEW_ARRAY(r->mem, Shared, u->nrank);
	u->reach = NEW_ARRAY(r->mem, Reach, u->nwarp * u->nrank);
	u->meeting = NEW_ARRAY(r->mem, Meeting, 1 + u->nrank * MEETINGS);
	for (int i = 0; i < u->nwarp; i++) {
		Warp *w = &u->warp[i];
		w->u = u;
		w->index = i;
		w->rank = i / (u->nwarp / u->nrank);
		w->val = NEW_ARRAY(r->mem, SimVal, r->fn->nval + 1);
		w->clock = NEW_ARRAY(r->mem, uint32_t, u->nactor);
		w->done = NEW_ARRAY(r->mem, int64_t, r->nbar + 1);
		bind_params(w);
	}
}

static void start_shared(Run *r, Unit *u)
{
	int64_t bytes = r->fn->shared_bytes * (LANES / sim_lanes(r));
	for (int k = 0; k < u->nrank; k++) {
		u->shared[k] = (Shared){ .mem = NEW_ARRAY(u->mem, unsigned char, bytes),
			.seen = NEW_ARRAY(u->mem, Byte, (bytes >> r->grain) + 1), .grain = r->grain, .bytes = bytes,
			.bar = NEW_ARRAY(u->mem, Bar, r->nbar + 1), .mbar = NEW_ARRAY(u->mem, Mbar, r->nmbar + 1) };
		memset(u->shared[k].mem, 0xa5, (size_t)bytes);
		for (int i = 0; i < r->nbar; i++) u->shared[k].bar[i].clock = NEW_ARRAY(u->mem, uint32_t, u->nactor);
	}
}

static void start_unit(Run *r, Unit *u, int64_t first)
{
	int lanes = sim_lanes(r), per = u->nwarp / u->nrank;
	u->mem = arena_new();
	u->first = first;
	u->turn = 0;
	memset(u->meeting, 0, (size_t)(1 + u->nrank * MEETINGS) * sizeof *u->meeting);
	memset(u->reach, 0, (size_t)(u->nwarp * u->nrank) * sizeof *u->reach);
	start_shared(r, u);
	for (int i = 0; i < u->nwarp; i++) {
		Warp *w = &u->warp[i];
		w->state = WARP_RUNS;
		w->phase = w->met = 0;
		w->asks = w->storing = w->copying = false;
		w->products = w->stores = w->copies = 0;
		w->fences.n = 0;
		w->at = NULL;
		w->num = r->roles ? i % per : i;
		w->group = (Group){ 0, per, 1, 0, NULL };
		w->active = UINT32_MAX;
		w->live = 0;
		for (int k = 0; k < u->nactor; k++) w->clock[k] = 0;
		w->clock[i] = 1;
		for (int k = 0; k < r->nbar; k++) w->done[k] = 0;
		for (int l = 0; l < LANES; l++) {  /* lanes beyond the grid work on its last tile block and store nothing */
			int64_t t = first + l / lanes;
			w->tile[l] = t < r->blocks ? t : r->blocks - 1;
			if (t < r->blocks) w->live |= (uint32_t)1 << l;
		}
		w->frame.n = 0;
		vec_push(r->mem, &w->frame, ((Frame){ .code = &r->body }));
	}
}

/* ---- pointers ---- */
static void find_made(void *ctx, Op *op)
{
	bool made = op->code == OP_BITCAST && !elem_is_ptr(ir_in(op, 0)->type->elem), read = op_has(op, OPF_READ);
	for (int i = 0; i < op->nout && (made || read); i++) {
		const Type *t = op->out[i]->type;
		*(bool *)ctx |= t->kind != TY_VIEW && elem_is_ptr(t->elem);
	}
}

bool sim_makes_pointers(const Fn *fn)
{
	bool made = false;
	ir_walk(fn->body, find_made, &made);
	return made;
}

static bool has_pointers(const Fn *fn)
{
	for (int i = 0; i < fn->params.n; i++)
		if (!fn->params.p[i].is_tensor && elem_is_ptr(fn->params.p[i].elem)) return true;
	return sim_makes_pointers(fn);
}

/* ---- the run ---- */
static void add_regions(Run *r)
{
	const SimCall *c = r->call;
	if (c->fn->params.n > (int)(sizeof r->region / sizeof *r->region)) bug("%d parameters", c->fn->params.n);
	for (int i = 0; i < c->fn->params.n; i++) {
		const IrParam *p = &c->fn->params.p[i];
		Region *g = &r->region[r->nregion++];
		*g = (Region){ .name = p->name };
		if (!p->is_tensor) continue;
		int64_t last = 0, e, s;
		bool empty = false;
		for (int a = 0; a < p->rank; a++) {
			if (!sim_sym(c, p->extent[a], &e) || !sim_sym(c, p->stride[a], &s))
				bug("an extent that the launcher did not check");
			empty |= e <= 0;
			last += (e - 1) * s;
		}
		g->base = (uint64_t)(uintptr_t)c->arg[i];
		g->bytes = empty ? 0 : (last + 1) * elem_bytes(p->elem);
		g->writable = p->mode != PM_IN;
	}
}

static void sum_up(Run *r)
{
	SimCount *a = &r->result->all;
	for (int i = 0; i < r->nop; i++) {
		const SimCount *c = &r->count[i];
		a->requests += c->requests;
		a->sectors += c->sectors;
		a->least += c->least;
		a->bytes += c->bytes;
		a->shared += c->shared;
		a->wavefronts += c->wavefronts;
		a->ideal += c->ideal;
		a->shuffles += c->shuffles;
		a->barriers += c->barriers;
	}
}

static int count_ops(const IrBlock *b)
{
	int n = 0;
	for (const Op *op = b->first; op; op = op->next) {
		n++;
		for (int i = 0; i < op->nregion; i++) n += count_ops(op->region[i]);
	}
	return n;
}

static void run_units(Run *r)
{
	int per = LANES / sim_lanes(r);
	int64_t units = (r->started + per - 1) / per, most = r->call->most && !r->roles ? r->call->most : units;
	if (most > units) most = units;
	for (int64_t k = 0; k < most && !sim_failed(r); k += r->nunit) {
		int n = most - k < r->nunit ? (int)(most - k) : r->nunit;
		for (int i = 0; i < n; i++) {
			/* first and last among them */
			int64_t at = k + i, first = most == units || most == 1 ? at : at * (units - 1) / (most - 1);
			start_unit(r, &r->unit[i], first * per);
			r->result->run += r->started - first * per < per ? r->started - first * per : per;
		}
		run_together(r, n);
		for (int i = 0; i < n; i++) arena_free(r->unit[i].mem);
	}
}

bool sim_run(const SimCall *c, SimResult *result)
{
	Run r = { .call = c, .fn = c->fn, .result = result, .budget = c->work ? c->work : BUDGET,
		.random = c->seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };
	str_intern("full");             /* what folding asks for, so that its memory can be given back after each element */
	memset(result, 0, sizeof *result);
	r.mem = arena_new();
	r.blocks = 1;
	for (int i = 0; i < 4; i++) r.grid[i] = 1;
	for (int i = 0; i < c->fn->ngrid; i++) {
		if (!sim_sym(c, c->fn->grid[i], &r.grid[i])) bug("a grid that the launcher did not check");
		r.blocks *= r.grid[i];
	}
	memcpy(result->grid, r.grid, sizeof r.grid);
	result->blocks = r.blocks;
	r.rotated = rows_rotate(c->fn) ? rotated_rows(c->fn) : 0;
	for (const Op *op = c->fn->body->first; op && !r.phase; op = op->next)
		if (op->code == OP_PHASE) r.phase = op->out[0];
	int n = count_ops(c->fn->body);
	result->count = r.count = NEW_ARRAY(A_TMP, SimCount, n + 1);
	result->op = NEW_ARRAY(A_TMP, const Op *, n + 1);
	add_regions(&r);
	r.pointers = has_pointers(c->fn);
	r.body = sim_decode(&r, c->fn->body);
	for (int i = 0; i < r.nop; i++) result->op[i] = r.ops.p[i];
	result->nop = r.nop;
	r.started = r.blocks;
	r.nunit = 1;
	group_prepare(&r);
	r.unit = NEW_ARRAY(r.mem, Unit, r.nunit);
	for (int i = 0; i < r.nunit; i++) make_warps(&r, &r.unit[i]);
	run_units(&r);
	sum_up(&r);
	arena_free(r.mem);
	return !result->fault;
}
