/* A run: the program decoded, units one after the other, warps as coroutines. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "sim/sim_int.h"

enum { BUDGET = 400 * 1000 * 1000 };    /* operations of warps: more is an endless loop */

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
	set_fault(r, w->at ? w->at->op : NULL, str_fmt("tile block %lld, %swarp %d: %s", (long long)w->tile[0], where, w->index, text));
}

/* ---- values ---- */
int sim_lanes(const Run *r) { return r->fn->lanes ? r->fn->lanes : LANES; }

int sim_regs(const Val *v)
{
	if (v->type->kind == TY_VIEW) return VIEW_REGS;
	return type_is_tile(v->type) ? 1 << v->lay->in[HW_REG] : 1;
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

/* ---- decoding ---- */
Code sim_decode(Run *r, const IrBlock *b)
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

/* ---- symbolic integers ---- */
typedef struct Atoms { const SimCall *c; } Atoms;

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
	for (int i = 0; i < c->fn->params.n && a->atom == ATOM_PARAM; i++) {
		const IrParam *p = &c->fn->params.p[i];
		if (p->name != a->name) continue;
		if (p->is_tensor) return false;
		uint64_t bits = 0;
		memcpy(&bits, c->arg[i], (size_t)elem_bytes(p->elem));          /* hosts and GPUs are little-endian */
		*v = cell_from(p->elem, bits).i;
		return true;
	}
	return false;
}

bool sim_sym(const SimCall *c, const Sym *s, int64_t *v)
{
	Atoms a = { c };
	return sym_eval(s, atom_value, &a, v);
}

/* ---- warps ---- */
uint32_t sim_random(Run *r)             /* xorshift */
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return (uint32_t)(r->random >> 16);
}

/* What each has done before the barrier, all know behind it. */
static void meet(Unit *u)
{
	int n = u->nwarp;
	for (int k = 0; k < n; k++) {
		uint32_t most = 0;
		for (int i = 0; i < n; i++)
			if (u->warp[i].clock[k] > most) most = u->warp[i].clock[k];
		for (int i = 0; i < n; i++) u->warp[i].clock[k] = most;
	}
	for (int i = 0; i < n; i++) {
		Warp *w = &u->warp[i];
		w->clock[i]++;
		if (w->met != 1) continue;
		w->met = 2;
		w->state = WARP_RUNS;
	}
	u->waiting = 0;
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

bool sim_sync(Warp *w)
{
	Unit *u = w->u;
	if (w->met == 2) {
		w->met = 0;
		return true;
	}
	if (w->met) return false;
	u->r->count[w->at->number].barriers++;
	if (!u->waiting) {
		u->where = w->at;
		u->where_phase = w->phase;
	} else if (u->where != w->at || u->where_phase != w->phase) {
		sim_fault(w, "meets at this barrier while another warp waits at another, `%s`", ir_op_text(u->where->op));
	}
	w->met = 1;
	w->state = WARP_WAITS;
	u->waiting++;
	if (u->waiting < unfinished(u)) return false;
	meet(u);
	w->met = 0;
	return true;
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

static void run_unit(Unit *u)
{
	int turn = 0;
	for (Warp *w; !sim_failed(u->r) && (w = next_warp(u, &turn));) go_on(w);
	for (int i = 0; i < u->nwarp && !sim_failed(u->r); i++)
		if (u->warp[i].state != WARP_DONE) sim_fault(&u->warp[i], "waits for ever");
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
		if (!sim_sym(c, p->extent[a], &e) || !sim_sym(c, p->stride[a], &s)) bug("an extent that the launcher did not check");
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

static void make_warps(Run *r)
{
	Unit *u = &r->unit;
	u->r = r;
	u->nrank = r->fn->cluster ? r->fn->cluster : 1;
	u->nwarp = r->fn->warps;
	u->warp = NEW_ARRAY(r->mem, Warp, u->nwarp);
	u->shared = NEW_ARRAY(r->mem, Shared, u->nrank);
	for (int i = 0; i < u->nwarp; i++) {
		Warp *w = &u->warp[i];
		w->u = u;
		w->index = i;
		w->rank = i / (u->nwarp / u->nrank);
		w->val = NEW_ARRAY(r->mem, SimVal, r->fn->nval + 1);
		w->clock = NEW_ARRAY(r->mem, uint32_t, u->nwarp);
		bind_params(w);
	}
}

static void start_unit(Run *r, int64_t first)
{
	Unit *u = &r->unit;
	int lanes = sim_lanes(r);
	u->mem = arena_new();
	u->waiting = 0;
	for (int k = 0; k < u->nrank; k++) {
		int64_t bytes = r->fn->shared_bytes * (LANES / lanes);
		u->shared[k] = (Shared){ .mem = NEW_ARRAY(u->mem, unsigned char, bytes), .seen = NEW_ARRAY(u->mem, Byte, bytes), .bytes = bytes,
			.bar = NEW_ARRAY(u->mem, Bar, r->nbar + 1) };
		for (int i = 0; i < r->nbar; i++) u->shared[k].bar[i].clock = NEW_ARRAY(u->mem, uint32_t, u->nwarp);
		memset(u->shared[k].mem, 0xa5, (size_t)bytes);
		for (int64_t i = 0; i < bytes; i++) u->shared[k].seen[i].writer = -1;
	}
	for (int i = 0; i < u->nwarp; i++) {
		Warp *w = &u->warp[i];
		w->state = WARP_RUNS;
		w->phase = w->met = 0;
		w->asks = false;
		w->at = NULL;
		w->live = 0;
		for (int k = 0; k < u->nwarp; k++) w->clock[k] = 0;
		w->clock[i] = 1;
		for (int l = 0; l < LANES; l++) {       /* lanes beyond the grid work on its last tile block and store nothing */
			int64_t t = first + l / lanes;
			w->tile[l] = t < r->blocks ? t : r->blocks - 1;
			if (t < r->blocks) w->live |= (uint32_t)1 << l;
		}
		w->frame.n = 0;
		vec_push(r->mem, &w->frame, ((Frame){ .code = &r->body }));
	}
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
			if (!sim_sym(c, p->extent[a], &e) || !sim_sym(c, p->stride[a], &s)) bug("an extent that the launcher did not check");
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
	int64_t units = (r->blocks + per - 1) / per, most = r->call->most ? r->call->most : units;
	if (most > units) most = units;
	for (int64_t k = 0; k < most && !sim_failed(r); k++) {
		int64_t first = most == units || most == 1 ? k : k * (units - 1) / (most - 1);  /* the first and the last among them */
		start_unit(r, first * per);
		run_unit(&r->unit);
		arena_free(r->unit.mem);
		r->result->run += r->blocks - first * per < per ? r->blocks - first * per : per;
	}
}

bool sim_run(const SimCall *c, SimResult *result)
{
	Run r = { .call = c, .fn = c->fn, .result = result, .budget = BUDGET, .random = c->seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };
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
	r.turned = turned_rows(c->fn);
	int n = count_ops(c->fn->body);
	result->count = r.count = NEW_ARRAY(A_TMP, SimCount, n + 1);
	result->op = NEW_ARRAY(A_TMP, const Op *, n + 1);
	add_regions(&r);
	r.body = sim_decode(&r, c->fn->body);
	for (int i = 0; i < r.nop; i++) result->op[i] = r.ops.p[i];
	result->nop = r.nop;
	make_warps(&r);
	run_units(&r);
	sum_up(&r);
	arena_free(r.mem);
	return !result->fault;
}
