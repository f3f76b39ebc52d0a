/* Global memory: views, tiles of them, single elements, atomics.
 *
 * A request is what the lanes of a warp ask for at once: so many bytes each. It costs as many sectors of 32 bytes as it
 * touches. Every address is checked: it must lie in the tensor that its view is of (a pointer: in some tensor), and at
 * a multiple of what is accessed at once. */
#include <string.h>

#include "base/diag.h"
#include "sim/sim_int.h"

/* ---- requests ---- */
static const Region *region_of(const Run *r, uint64_t at, int bytes)
{
	for (int i = 0; i < r->nregion; i++) {
		const Region *g = &r->region[i];
		if (g->base && at >= g->base && at - g->base + (uint64_t)bytes <= (uint64_t)g->bytes) return g;
	}
	return NULL;
}

static void check_address(Warp *w, int lane, uint64_t at, int bytes, bool write)
{
	const Run *r = w->u->r;
	if (at % (unsigned)bytes)
		sim_fault(w, "lane %d accesses %d bytes at once at an address that is no multiple of them", lane, bytes);
	const Region *g = region_of(r, at, bytes);
	if (g && write && !g->writable) sim_fault(w, "lane %d writes to `%s`, which is an input", lane, g->name);
	if (g || r->pointers) return;
	const Region *near = NULL;
	for (int i = 0; i < r->nregion; i++)
		if (r->region[i].base && r->region[i].base <= at && (!near || r->region[i].base > near->base))
			near = &r->region[i];
	if (near) sim_fault(w, "lane %d accesses %d bytes %lld bytes from the begin of `%s`, which has %lld", lane, bytes,
		(long long)(at - near->base), near->name, (long long)near->bytes);
	else sim_fault(w, "lane %d accesses memory before all tensors", lane);
}

void count_global(Warp *w, const Request *q, bool write)
{
	uint64_t seen[LANES];
	int n = 0, active = 0;
	SimCount *c = &w->u->r->count[w->at->number];
	for (int l = 0; l < LANES; l++) {
		if (!(q->lanes >> l & 1)) continue;
		active++;
		check_address(w, l, q->at[l], q->bytes, write);
		uint64_t sector = q->at[l] / SECTOR;
		int k = n;
		while (k > 0 && seen[k - 1] != sector) k--;
		if (!k) seen[n++] = sector;
	}
	if (!active) return;
	c->requests++;
	c->sectors += n;
	c->bytes += (int64_t)active * q->bytes;
	c->least += ((int64_t)active * q->bytes + SECTOR - 1) / SECTOR;
}

static Cell read_cell(Elem e, uint64_t at)
{
	uint64_t bits = 0;
	memcpy(&bits, (const void *)(uintptr_t)at, (size_t)elem_bytes(e));
	return cell_from(e, bits);
}

static void write_cell(Elem e, uint64_t at, Cell c)
{
	uint64_t bits = cell_bits(e, c);
	memcpy((void *)(uintptr_t)at, &bits, (size_t)elem_bytes(e));
}

/* ---- views ---- */
Go run_view(Warp *w, const Step *s)
{
	const Op *op = s->op;
	const Val *base = ir_in(op, 0), *out = op->out[0];
	const SimVal *x = sim_val(w, base), *off = sim_val(w, ir_in(op, 1));
	int rank = out->type->rank, size = elem_bytes(out->type->elem);
	bool view = base->type->kind == TY_VIEW;
	Cell *r = sim_def(w, out, VIEW_REGS);
	for (int l = 0; l < LANES; l++) {
		r[VIEW_BASE * LANES + l].i = (int64_t)((uint64_t)x->p[l].i + (uint64_t)off->p[l].i * (uint64_t)size);
		r[VIEW_ROOT * LANES + l].i = view ? sim_at(x, VIEW_ROOT, l).i : -1;
		for (int a = 0; a < rank; a++) {
			r[(VIEW_EXT + a) * LANES + l].i = sim_val(w, ir_in(op, 2 + a))->p[l].i;
			r[(VIEW_STR + a) * LANES + l].i = sim_val(w, ir_in(op, 2 + rank + a))->p[l].i;
		}
	}
	return GO_NEXT;
}

static Go permute_view(Warp *w, const Op *op)
{
	const SimVal *x = sim_val(w, ir_in(op, 0));
	const int64_t *axes = ir_attr(op, AT_AXES)->u.ints.p;
	Cell *r = sim_def(w, op->out[0], VIEW_REGS);
	memcpy(r, x->p, 2 * LANES * sizeof *r);
	for (int a = 0; a < op->out[0]->type->rank; a++) {
		memcpy(r + (VIEW_EXT + a) * LANES, x->p + (VIEW_EXT + axes[a]) * LANES, LANES * sizeof *r);
		memcpy(r + (VIEW_STR + a) * LANES, x->p + (VIEW_STR + axes[a]) * LANES, LANES * sizeof *r);
	}
	return GO_NEXT;
}

/* Reshapes and permutations of tiles are other names of the same registers. */
Go run_alias(Warp *w, const Step *s)
{
	const Val *from = ir_in(s->op, 0), *to = s->op->out[0];
	if (to->type->kind == TY_VIEW) return permute_view(w, s->op);
	const SimVal *x = sim_val(w, from);
	int regs = x->mask == LANES - 1 ? 1 : sim_regs(to);
	memcpy(sim_def(w, to, regs), x->p, (size_t)regs * LANES * sizeof(Cell));
	return GO_NEXT;
}

/* ---- tiles of views ---- */
typedef struct Tile {
	AccessPlan p;
	Map map[TENSOR_RANK];
	int regs, end;          /* end: the register of elements before and after a row's vectors; -1: there is none */
	uint32_t spare;         /* registers of a store that hold copies */
	Elem e;
	bool one;               /* one thread reads, then hands on */
	bool moved;             /* a row whose registers hold other elements than the layout says, */
	bool begins;            /* in vectors from its phase on */
	bool sure;              /* its vectors are aligned, which nothing asks */
	int64_t dense;          /* a warp accesses all of its rows together (lower/dense.c): what of them this is */
} Tile;

/* Where the tile is that a lane accesses. */
typedef struct Origin {
	uint64_t base;
	int64_t o[TENSOR_RANK], ext[TENSOR_RANK], str[TENSOR_RANK];
	uint32_t thread[TENSOR_RANK];   /* the lane's part of a coordinate within the tile (map_thread) */
	bool whole, aligned;
	int64_t phase;
} Origin;

static void *plan_tile(Run *r, const Op *op, const Val *data)
{
	Tile *t = NEW(r->mem, Tile);
	t->p = access_plan(op, data, r->rotated != 0);
	for (int a = 0; a < t->p.rank; a++) t->map[a] = map_of(r, t->p.l, a);
	t->regs = sim_regs(data);
	t->e = ir_in(op, 0)->type->elem;
	t->one = one_thread_reads(op);
	t->dense = ir_int(op, AT_DENSE, 0);
	t->moved = row_moves(r, t->p.l);
	t->end = row_is_end(r, t->p.l, r->fn->row_regs) ? r->fn->row_regs : -1;
	t->begins = t->moved && r->fn->peel_line && peel_begins(r->fn, op);
	t->sure = t->p.vec && ir_int(op, AT_WAYS, WAYS_ANY) != WAYS_ANY;
	return t;
}

void *plan_load(Run *r, const Op *op) { return plan_tile(r, op, op->out[0]); }

void *plan_store(Run *r, const Op *op)
{
	const Val *data = ir_in(op, op->nin - 1);
	Tile *t = plan_tile(r, op, data);
	t->spare = lay_hwcoord(t->p.l, lay_free(t->p.l), HW_REG);
	return t;
}

void *plan_phase(Run *r, const Op *op)
{
	AccessPlan *p = NEW(r->mem, AccessPlan);
	*p = access_plan(op, NULL, false);
	return p;
}

/* index * step + offset, far outside where that leaves 62 bits. */
static int64_t tile_at(int64_t index, int64_t step, int64_t offset)
{
	const int64_t far = INT64_C(1) << 62;
	if (step && (index > far / step || index < -far / step)) return -far;
	return index * step + offset;
}

static int64_t origins(Warp *w, const Op *op, const AccessPlan *p, int lane, Origin *o)
{
	const SimVal *v = sim_val(w, ir_in(op, 0));
	int64_t at = 0;
	o->base = (uint64_t)sim_at(v, VIEW_BASE, lane).i;
	for (int a = 0; a < p->rank; a++) {
		o->ext[a] = sim_at(v, VIEW_EXT + a, lane).i;
		o->str[a] = sim_at(v, VIEW_STR + a, lane).i;
		o->o[a] = tile_at(sim_val(w, ir_in(op, 1 + a))->p[lane].i, p->step[a], p->offset[a]);
		if (a == p->shifted_axis) o->o[a] -= sim_phase(w);
		at = (int64_t)((uint64_t)at + (uint64_t)o->o[a] * (uint64_t)o->str[a]);
	}
	return at;              /* elements from the view's first to the tile's */
}

Go run_phase(Warp *w, const Step *s)
{
	const AccessPlan *p = s->plan;
	int size = elem_bytes(ir_in(s->op, 0)->type->elem);
	Cell *r = sim_def(w, s->op->out[0], 1);
	for (int l = 0; l < LANES; l++) {
		Origin o;
		uint64_t at = (uint64_t)origins(w, s->op, p, l, &o) * (uint64_t)size;
		at += o.base;
		r[l].i = row_phase(w, at, size);
	}
	return GO_NEXT;
}

int64_t sim_phase(const Warp *w)
{
	return w->u->r->phase ? sim_val(w, w->u->r->phase)->p[0].i : 0;
}

static void find_origin(Warp *w, const Op *op, const Tile *t, int lane, Origin *o)
{
	const AccessPlan *p = &t->p;
	int64_t at = origins(w, op, p, lane, o), piece = (int64_t)elem_bytes(t->e) << p->vec, size = elem_bytes(t->e);
	o->whole = o->aligned = true;
	for (int a = 0; a < p->rank; a++) o->thread[a] = map_thread(&t->map[a], lane, w->num);
	o->phase = p->rotated_axis >= 0 ? sim_phase(w) : 0;
	for (int a = 0; a < p->rank; a++)
		if (!(p->proved[a] && a != p->rotated_axis))
			o->whole &= o->o[a] >= 0 && o->o[a] <= o->ext[a] - ((int64_t)1 << p->l.out[a]);
	if (p->rotated_axis >= 0 && p->rotated_axis == p->fast) {
		o->aligned = (o->base + (uint64_t)(at - o->phase) * (uint64_t)size) % (uint64_t)piece == 0;
		return;
	}
	if (t->moved && w->u->r->fn->peel_line) {
		o->whole = false;
		o->aligned = t->begins;
		return;
	}
	if (t->moved && p->vec) {       /* shifted to a multiple of its vectors */
		o->phase = sim_phase(w);
		o->aligned = (o->base + (uint64_t)(at - o->phase) * (uint64_t)size) % (uint64_t)piece == 0;
		return;
	}
	if (p->shifted_axis >= 0) {
		o->aligned = (o->base + (uint64_t)at * (uint64_t)size) % (uint64_t)piece == 0;
		return;
	}
	uint64_t low = o->base;
	for (int a = 0; a < p->rank; a++) low |= (uint64_t)(a == p->fast ? o->o[a] : o->str[a]) * (uint64_t)size;
	o->aligned = p->vec && low % (uint64_t)piece == 0;
}

/* One access of a warp to its tiles. */
typedef struct Mover {
	Warp *w;
	const Tile *t;
	Origin o[LANES];
	uint32_t lanes;
	bool store;
	const SimVal *from;
	Cell *to;
} Mover;

/* The coordinate of an element along axis a, from the tile's first. */
static int64_t coordinate(const Warp *w, const Tile *t, const Origin *o, int a, int reg, int lane)
{
	bool end = reg == t->end;
	if (t->moved && t->p.l.out[a]) {
		int64_t e = row_element(w, sim_phase(w), end ? 0 : t->map[a].reg[reg] ^ o->thread[a], end, lane);
		return e < 0 ? -o->o[a] - 1 : e;
	}
	int64_t c = t->map[a].reg[end ? 0 : reg] ^ o->thread[a];
	return a == t->p.rotated_axis ? (c - o->phase) & (w->u->r->rotated - 1) : c;
}

/* Whether an element lies inside the tensor, and its address. */
static bool element_at(const Mover *m, const Origin *o, int reg, int lane, uint64_t *at)
{
	const Tile *t = m->t;
	uint64_t sum = 0;
	bool in = true;
	for (int a = 0; a < t->p.rank; a++) {
		int64_t c = o->o[a] + coordinate(m->w, t, o, a, reg, lane);
		bool sure = t->p.proved[a] && a != t->p.rotated_axis && !(t->moved && t->p.l.out[a]);
		in &= sure || (c >= 0 && c < o->ext[a]);
		sum += (uint64_t)c * (uint64_t)o->str[a];
	}
	*at = o->base + sum * (uint64_t)elem_bytes(t->e);
	return in;
}

/* Whether the vector that begins at reg lies wholly inside, and at neighbouring places (a rotated
 * row goes round its end). */
static bool vector_inside(const Mover *m, int reg, int lane)
{
	const Tile *t = m->t;
	const Origin *o = &m->o[lane];
	uint64_t first, at;
	if (!element_at(m, o, reg, lane, &first)) return false;
	for (uint32_t k = 1; k < (uint32_t)1 << t->p.vec; k++)
		if (!element_at(m, o, (int)((uint32_t)reg ^ vector_reg(t->p.bit, t->p.vec, k)), lane, &at)
			|| at != first + k * (uint64_t)elem_bytes(t->e)) return false;
	return true;
}

/* An end of the tensor, or of a rotated row, may cut a vector. */
static bool is_ragged(const Tile *t, const Origin *o)
{
	int a = t->p.fast;
	int64_t mask = ((int64_t)1 << t->p.vec) - 1;
	if (t->p.proved[a] && a != t->p.rotated_axis) return false;
	return ((o->ext[a] - o->o[a]) | o->o[a] | o->phase) & mask;
}

static void move_element(const Mover *m, int reg, int lane, uint64_t at)
{
	if (m->store) write_cell(m->t->e, at, sim_at(m->from, reg, lane));
	else m->to[reg * LANES + lane] = read_cell(m->t->e, at);
}

/* One request for vectors of 2^vec registers from reg on (vec 0: one element), at q->at. */
static void request_pieces(const Mover *m, int reg, int vec, Request *q)
{
	const Tile *t = m->t;
	q->bytes = elem_bytes(t->e) << vec;
	if (!q->lanes) return;
	count_global(m->w, q, m->store);
	if (sim_failed(m->w->u->r)) return;
	for (int l = 0; l < LANES; l++)
		for (uint32_t k = 0; q->lanes >> l & 1 && k < (uint32_t)1 << vec; k++)
			move_element(m, (int)((uint32_t)reg ^ vector_reg(t->p.bit, vec, k)), l,
				q->at[l] + k * (uint64_t)elem_bytes(t->e));
}

/* Whole vectors from reg on, by these lanes. */
static void move_pieces(const Mover *m, int reg, uint32_t lanes)
{
	Request q = { .lanes = lanes };
	for (int l = 0; l < LANES; l++)
		if (lanes >> l & 1) element_at(m, &m->o[l], reg, l, &q.at[l]);
	request_pieces(m, reg, m->t->p.vec, &q);
}

/* A vector that begins anywhere, from the three aligned ones of 8 bytes around it. */
static void move_around(const Mover *m, int reg, uint32_t lanes)
{
	enum { AROUND = 3, EACH = 8 };
	const Tile *t = m->t;
	Request q = { .lanes = lanes, .bytes = EACH };
	uint64_t first[LANES];
	if (!lanes) return;
	for (int l = 0; l < LANES; l++)
		if (lanes >> l & 1) element_at(m, &m->o[l], reg, l, &first[l]);
	for (int i = 0; i < AROUND; i++) {
		for (int l = 0; l < LANES; l++)
			if (lanes >> l & 1) q.at[l] = (first[l] & ~(uint64_t)(EACH - 1)) + (uint64_t)(i * EACH);
		count_global(m->w, &q, m->store);
	}
	for (int l = 0; l < LANES && !sim_failed(m->w->u->r); l++)
		for (uint32_t k = 0; lanes >> l & 1 && k < (uint32_t)1 << t->p.vec; k++)
			move_element(m, (int)((uint32_t)reg ^ vector_reg(t->p.bit, t->p.vec, k)), l,
				first[l] + k * (uint64_t)elem_bytes(t->e));
}

static void move_single(const Mover *m, int reg, uint32_t lanes)
{
	Request q = { 0 };
	for (int l = 0; l < LANES; l++)
		if (lanes >> l & 1 && element_at(m, &m->o[l], reg, l, &q.at[l])) q.lanes |= (uint32_t)1 << l;
	request_pieces(m, reg, 0, &q);
}

/* One request of a warp for what lies from `at` on, `bytes` for each lane. */
static void count_side_by_side(const Mover *m, uint64_t at, uint64_t end, int bytes)
{
	Request q = { .bytes = bytes };
	for (int l = 0; l < LANES && at + (uint64_t)(l + 1) * (uint64_t)bytes <= end; l++) {
		q.lanes |= (uint32_t)1 << l;
		q.at[l] = at + (uint64_t)(l * bytes);
	}
	count_global(m->w, &q, m->store);
}

/* Rows side by side: vectors of 16 bytes, and single elements before the first and after the last. */
static void move_dense(Mover *m)
{
	const Tile *t = m->t;
	uint64_t lo = UINT64_MAX, hi = 0, at, size = (uint64_t)elem_bytes(t->e), n = 0;
	for (int i = 0; i < t->regs * LANES; i++) {
		if (!(m->lanes >> i % LANES & 1) || !element_at(m, &m->o[i % LANES], i / LANES, i % LANES, &at)) continue;
		n++;
		if (at < lo) lo = at;
		if (at + size > hi) hi = at + size;
	}
	if (!n) return;
	if (hi - lo > n * size) bug("rows do not lie side by side");
	uint64_t first = (lo + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES, last = hi / VECTOR_BYTES * VECTOR_BYTES;
	if (first > last) first = last = hi;
	if (lo < first) count_side_by_side(m, lo, first, (int)size);
	for (at = first; at < last; at += LANES * VECTOR_BYTES) count_side_by_side(m, at, last, VECTOR_BYTES);
	if (last < hi) count_side_by_side(m, last, hi, (int)size);
	for (int i = 0; i < t->regs * LANES && !sim_failed(m->w->u->r); i++)
		if (m->lanes >> i % LANES & 1 && element_at(m, &m->o[i % LANES], i / LANES, i % LANES, &at))
			move_element(m, i / LANES, i % LANES, at);
}

static bool meets_tensor(const Tile *t, const Origin *o)
{
	for (int a = 0; a < t->p.rank; a++)
		if (o->o[a] >= o->ext[a] || o->o[a] <= -((int64_t)1 << t->p.l.out[a])) return false;
	return true;
}

static void move_tile(Mover *m)
{
	const Tile *t = m->t;
	if (t->dense) {
		move_dense(m);
		return;
	}
	Warp *w = m->w;
	uint32_t in_piece = vector_bits(t->p.bit, t->p.vec), by_pieces = 0, all = 0, single = 0;
	for (int l = 0; l < LANES; l++) {
		if (!(m->lanes >> l & 1)) continue;
		const Origin *o = &m->o[l];
		if (t->sure && !o->aligned && meets_tensor(t, o)) sim_fault(w, "a vector access that is not aligned");
		bool few = w->u->r->fn->lanes && !(o->aligned && o->whole) && (!o->aligned || is_ragged(t, o));
		if (!t->p.vec || few) single |= (uint32_t)1 << l;
		else if (o->aligned && o->whole && !o->phase) all |= (uint32_t)1 << l;
		else by_pieces |= (uint32_t)1 << l;
	}
	for (int reg = 0; reg < t->regs && !sim_failed(w->u->r); reg++) {
		if (reg == t->end) {
			move_single(m, reg, m->lanes);
			continue;
		}
		if (!is_first_reg(t->spare, reg)) continue;
		if (!is_first_reg(in_piece, reg)) {
			move_single(m, reg, single);
			continue;
		}
		uint32_t whole = all, parts = 0;
		for (int l = 0; l < LANES; l++) {
			if (!(by_pieces >> l & 1)) continue;
			if ((m->o[l].aligned || (t->moved && t->p.vec)) && vector_inside(m, reg, l))
				whole |= (uint32_t)1 << l;
			else parts |= (uint32_t)1 << l;
		}
		if (w->u->r->fn->peel_line && t->moved && !t->begins) move_around(m, reg, whole);
		else move_pieces(m, reg, whole);
		for (uint32_t k = 0; parts && k < (uint32_t)1 << t->p.vec; k++)
			move_single(m, (int)((uint32_t)reg ^ vector_reg(t->p.bit, t->p.vec, k)), parts);
		move_single(m, reg, single);
	}
}

static Mover mover(Warp *w, const Step *s, bool store)
{
	Mover m = { .w = w, .t = s->plan, .store = store };
	for (int l = 0; l < LANES; l++) find_origin(w, s->op, m.t, l, &m.o[l]);
	return m;
}

Go run_load(Warp *w, const Step *s)
{
	const Tile *t = s->plan;
	const Val *out = s->op->out[0];
	if (t->one && w->phase) return run_copies(w, out, ir_int(s->op, AT_SLOT, 0));
	Mover m = mover(w, s, false);
	const SimVal *pad = sim_val(w, ir_in(s->op, s->op->nin - 1));
	m.to = sim_def(w, out, t->regs);
	for (int k = 0; k < t->regs * LANES; k++) m.to[k] = pad->p[k % LANES];
	m.lanes = w->active;
	if (t->one) m.lanes = first_lanes(lay_single(0, fn_threads(w->u->r->fn)), w->num) & w->active;
	move_tile(&m);
	return t->one && !w->u->r->fn->cluster ? run_copies(w, out, ir_int(s->op, AT_SLOT, 0)) : GO_NEXT;
}

Go run_store(Warp *w, const Step *s)
{
	const Tile *t = s->plan;
	Mover m = mover(w, s, true);
	m.from = sim_val(w, ir_in(s->op, s->op->nin - 1));
	m.lanes = first_lanes(t->p.l, w->num) & w->live & w->active;
	move_tile(&m);
	return GO_NEXT;
}

/* ---- loads that overlap ---- */
typedef struct Loads { Tile t; PatchPlan patch; const int64_t *off; } Loads;

void *plan_loads(Run *r, const Op *op)
{
	Loads *p = NEW(r->mem, Loads);
	p->t = *(Tile *)plan_tile(r, op, op->out[0]);
	p->t.p.rotated_axis = -1;
	p->patch = patch_plan(op);
	p->off = ir_attr(op, AT_OFFSETS)->u.ints.p;
	return p;
}

/* The coordinate of column `at` of a row, relative to the thread's first element. */
static int64_t in_patch(const PatchPlan *p, int row, int axis, int at)
{
	return axis == p->row ? at + p->p.lo[axis] : patch_place(p, row, axis);
}

static bool patch_at(const Warp *w, const Loads *p, const Origin *o, int lane, int row, int at, uint64_t *addr)
{
	uint64_t sum = 0;
	bool in = true;
	for (int a = 0; a < p->t.p.rank; a++) {
		int64_t c = o->o[a] + map_thread(&p->t.map[a], lane, w->num) + in_patch(&p->patch, row, a, at);
		in &= p->t.p.proved[a] || (c >= 0 && c < o->ext[a]);
		sum += (uint64_t)c * (uint64_t)o->str[a];
	}
	*addr = o->base + sum * (uint64_t)elem_bytes(p->t.e);
	return in;
}

static void count_piece(Warp *w, const Loads *p, const Origin *o, int row, int at, int log2, uint32_t lanes)
{
	Request q = { .bytes = elem_bytes(p->t.e) << log2 };
	uint64_t last;
	for (int l = 0; l < LANES; l++) {
		if (!(lanes >> l & 1) || !patch_at(w, p, &o[l], l, row, at, &q.at[l])) continue;
		if (patch_at(w, p, &o[l], l, row, at + (1 << log2) - 1, &last)) q.lanes |= (uint32_t)1 << l;
	}
	count_global(w, &q, false);
}

/* The patch is read as the target reads it; what it holds, each tile takes out of it. */
static void count_patch(Warp *w, Loads *p, const Origin *o)
{
	uint32_t pieces = 0, single;
	for (int l = 0; l < LANES; l++) {
		bool cut = false;
		int a = p->patch.row;
		if (!p->t.p.proved[a]) cut = ((o[l].ext[a] - o[l].o[a]) | o[l].o[a]) & ((1 << p->patch.vec) - 1) && !o[l].whole;
		if (p->patch.vec && o[l].aligned && !cut) pieces |= (uint32_t)1 << l;
	}
	single = ~pieces;
	for (int way = 0; way < 2; way++) {
		uint32_t lanes = way ? single : pieces;
		if (!lanes) continue;
		patch_cut(&p->patch, way ? 0 : p->patch.vec);
		for (int i = 0; i < p->patch.n; i++)
			for (int row = 0; row < p->patch.nrow; row++)
				if (p->patch.piece[i].rows >> row & 1)
					count_piece(w, p, o, row, p->patch.piece[i].at, p->patch.piece[i].log2, lanes);
	}
}

Go run_loads(Warp *w, const Step *s)
{
	Loads *p = s->plan;
	const Op *op = s->op;
	Mover m = { .w = w, .t = &p->t };
	for (int l = 0; l < LANES; l++) find_origin(w, op, &p->t, l, &m.o[l]);
	const SimVal *pad = sim_val(w, ir_in(op, op->nin - 1));
	count_patch(w, p, m.o);
	for (int k = 0; k < op->nout && !sim_failed(w->u->r); k++) {
		Cell *to = sim_def(w, op->out[k], p->t.regs);
		for (int i = 0; i < p->t.regs * LANES; i++) {
			Origin o = m.o[i % LANES];
			uint64_t at;
			for (int a = 0; a < p->t.p.rank; a++) o.o[a] += p->off[k * p->t.p.rank + a];
			bool in = element_at(&m, &o, i / LANES, i % LANES, &at);
			if (in) check_address(w, i % LANES, at, elem_bytes(p->t.e), false);
			to[i] = in && !sim_failed(w->u->r) ? read_cell(p->t.e, at) : pad->p[i % LANES];
		}
	}
	return GO_NEXT;
}

/* ---- element by element: gather, scatter, pointers, atomics ---- */
typedef struct Elements {
	Lay l;
	bool view, tile, writes, one;
	Elem e;
	int rank, first;        /* first: operand after the indices */
	const Val *like, *mask;
	int regs;
	uint32_t spare;
	bool wanted;            /* the old value of an atomic */
	ElementsPlan p;
	bool own;               /* of what the thread block has for itself, in shared memory (private.c) */
	uint32_t joins;         /* lanes combine updates of registers that have these bits */
	ElementsRun run;        /* register bits of updates of which those that go to one place are combined first: */
	Cell *sum;              /* what they then are, */
	uint32_t *gone;         /* and by register, or vector that begins there, lanes whose next register has it */
} Elements;

void *plan_elements(Run *r, const Op *op)
{
	Elements *x = NEW(r->mem, Elements);
	const Val *p = ir_in(op, 0);
	int extra = op_has(op, OPF_CAS) ? 2 : 1;
	if (ir_attr(op, AT_STEPS)) bug("`%s` by tile index", op_rows[op->code].name);
	x->view = p->type->kind == TY_VIEW;
	x->e = x->view ? p->type->elem : elem_pointee(p->type->elem);
	x->rank = x->view ? p->type->rank : 0;
	x->first = 1 + x->rank;
	x->mask = op->nin > x->first + extra ? ir_in(op, x->first + extra) : NULL;
	x->like = op->nout ? op->out[0] : ir_in(op, x->first);
	x->tile = type_is_tile(x->like->type);
	x->l = x->tile ? *x->like->lay : lay_single(0, fn_threads(r->fn));
	x->writes = op_has(op, OPF_WRITE);
	x->one = one_thread_reads(op);
	x->regs = sim_regs(x->like);
	if (x->writes || x->one) x->spare = x->tile ? lay_hwcoord(x->l, lay_free(x->l), HW_REG) : 0;
	x->wanted = op->nout > 0;
	x->p = elements_plan(op, x->like);
	x->own = p->def && p->def->code == OP_PRIVATE;
	x->run = elements_run(op);
	x->joins = update_joins(op);
	x->sum = x->run.log2 ? NEW_ARRAY(r->mem, Cell, x->regs * LANES) : NULL;
	x->gone = x->run.log2 ? NEW_ARRAY(r->mem, uint32_t, x->regs) : NULL;
	return x;
}

Cell cells_combined(OpCode by, Elem e, Cell x, Cell y)
{
	ElemPlan p = { .code = by, .e = e, .r = e, .nin = 2 };
	const Cell *in[2] = { &x, &y };
	const uint32_t mask[2] = { 0, 0 };
	Cell r;
	elem_each(&p, 1, in, mask, &r);
	return r;
}

static Cell atomic_new(const Op *op, Elem e, Cell old, Cell x, Cell y)
{
	static const OpCode by[] = { OP_ADD, OP_SUB, OP_MIN, OP_MAX, OP_AND, OP_OR, OP_XOR };
	if (op_has(op, OPF_CAS))
		return cell_bits(e, old) == cell_bits(e, x) ? y : old;
	int64_t how = ir_int(op, AT_RMW, 0);
	return how < (int64_t)(sizeof by / sizeof *by) ? cells_combined(by[how], e, old, x) : x;      /* else xchg */
}

void update_cell(Elem e, void *at, OpCode by, Cell x)
{
	uint64_t place = (uint64_t)(uintptr_t)at;
	write_cell(e, place, cells_combined(by, e, read_cell(e, place), x));
}

static Cell element_value(Warp *w, const Step *s, int operand, int reg, int lane)
{
	return sim_at(sim_val(w, ir_in(s->op, operand)), reg, lane);
}

static bool place_element(Warp *w, const Step *s, int reg, int lane, uint64_t *at)
{
	const Elements *x = s->plan;
	Cell p = element_value(w, s, 0, x->view ? VIEW_BASE : reg, lane);
	uint64_t sum = 0;
	bool ok = true;
	if (x->view) {
		const SimVal *v = sim_val(w, ir_in(s->op, 0));
		for (int a = 0; a < x->rank; a++) {
			int64_t i = element_value(w, s, 1 + a, reg, lane).i;
			ok &= (uint64_t)i < (uint64_t)sim_at(v, VIEW_EXT + a, lane).i;
			sum += (uint64_t)i * (uint64_t)sim_at(v, VIEW_STR + a, lane).i;
		}
	}
	if (x->mask) ok &= sim_at(sim_val(w, x->mask), reg, lane).i != 0;
	*at = (uint64_t)p.i + sum * (uint64_t)elem_bytes(x->e);
	return ok;
}

static void access_lane(Warp *w, const Step *s, int reg, int lane, uint64_t at, Cell *to)
{
	const Elements *x = s->plan;
	const Op *op = s->op;
	Cell data = x->run.log2 ? x->sum[reg * LANES + lane] : element_value(w, s, x->first, reg, lane);
	if (op_updates(op)) {
		Cell old = read_cell(x->e, at);
		Cell y = op_has(op, OPF_CAS) ? element_value(w, s, x->first + 1, reg, lane) : data;
		write_cell(x->e, at, atomic_new(op, x->e, old, data, y));
		if (to) *to = old;
	} else if (x->writes) {
		write_cell(x->e, at, data);
	} else {
		*to = read_cell(x->e, at);
	}
}

/* What an element gives that is not accessed: the pad; of an update 0, of a compare-exchange what was expected. */
static Cell no_element(Warp *w, const Step *s, int reg, int lane)
{
	const Elements *x = s->plan;
	if (op_updates(s->op) && !op_has(s->op, OPF_CAS)) return cell_of(x->e, num_zero(x->e));
	return element_value(w, s, x->first, reg, lane);
}

/* The lanes whose vector at a register is accessed at once, which is one request. */
static uint32_t count_pieces(Warp *w, const Step *s, int reg, uint32_t lanes)
{
	const Elements *x = s->plan;
	uint64_t bytes = (uint64_t)elem_bytes(x->e) << x->p.vec, at;
	Request q = { .bytes = (int)bytes };
	for (int l = 0; l < LANES; l++) {
		bool in = lanes >> l & 1 && place_element(w, s, reg, l, &q.at[l]) && q.at[l] % bytes == 0;
		for (uint32_t k = 1; in && k < (uint32_t)1 << x->p.vec; k++)
			in = place_element(w, s, (int)((uint32_t)reg ^ vector_reg(x->p.bit, x->p.vec, k)), l, &at);
		if (in) q.lanes |= (uint32_t)1 << l;
	}
	count_global(w, &q, x->writes);
	return q.lanes;
}

/* The lanes whose successor does not update the same place. */
static uint32_t ends_of_runs(Warp *w, const Step *s, int reg, uint32_t lanes)
{
	uint32_t ends = 0;
	for (int l = 0; l < LANES; l++) {
		bool both = l + 1 < LANES && lanes >> l & lanes >> (l + 1) & 1;
		bool same = both && element_value(w, s, 1, reg, l).i == element_value(w, s, 1, reg, l + 1).i;
		ends |= (uint32_t)!same << l;
	}
	return ends;
}

/* Where lanes have few runs that update one place, the first of each has what all of it have; the lanes that update. */
static uint32_t combine_lanes(Warp *w, const Step *s, int reg, uint32_t lanes, Cell *data)
{
	const Elements *x = s->plan;
	uint32_t ends = ends_of_runs(w, s, reg, lanes);
	int runs = 0;
	for (int l = 0; l < LANES; l++) runs += ends >> l & 1;
	w->u->r->count[s->number].shuffles++;
	if (runs > COST_PRIVATE_RUNS) return lanes;
	for (int d = 1; d < LANES; d *= 2)
		for (int l = 0; l + d < LANES; l++)
			if (!(ends >> l & (((uint32_t)1 << d) - 1)))
				data[l] = cells_combined(update_combine(s->op), x->e, data[l], data[l + d]);
	w->u->r->count[s->number].shuffles += LANES_LOG2 * (elem_bytes(x->e) > 4 ? 2 : 1);
	return lanes & (ends << 1 | 1);
}

/* One more update of what the thread block has for itself. */
static void update_own(Warp *w, const Step *s, int reg, Request *q)
{
	const Elements *x = s->plan;
	OpCode by = ir_int(s->op, AT_RMW, 0) == attr_word(AT_RMW, str_intern("sub")) ? OP_SUB : update_combine(s->op);
	Cell data[LANES];
	for (int l = 0; l < LANES; l++)
		data[l] = x->run.log2 ? x->sum[reg * LANES + l] : element_value(w, s, x->first, reg, l);
	if (update_swaps(s->op)) q->lanes = combine_lanes(w, s, reg, q->lanes, data);
	count_shared(w, q);
	for (int l = 0; l < LANES && !sim_failed(w->u->r); l++)
		if (q->lanes >> l & 1)
			update_cell(x->e, shared_at(w, w->rank, (int64_t)q->at[l], q->bytes, l, SHARED_ATOMIC), by, data[l]);
}

/* counted: lanes whose request has been counted. */
static void run_register(Warp *w, const Step *s, int reg, uint32_t lanes, uint32_t counted, Cell *to)
{
	const Elements *x = s->plan;
	Request q = { .bytes = elem_bytes(x->e) };
	uint32_t in = 0;
	for (int l = 0; l < LANES; l++) {
		if (to) to[reg * LANES + l] = no_element(w, s, reg, l);
		if (lanes >> l & 1 && place_element(w, s, reg, l, &q.at[l])) in |= (uint32_t)1 << l;
	}
	q.lanes = in & ~counted;
	if (x->own) {
		update_own(w, s, reg, &q);
		return;
	}
	if (x->joins && ((uint32_t)reg & x->joins) == x->joins)
		in = q.lanes = combine_lanes(w, s, reg, in, &x->sum[reg * LANES]);
	count_global(w, &q, x->writes);
	for (int l = 0; l < LANES && !sim_failed(w->u->r); l++)
		if (in >> l & 1) access_lane(w, s, reg, l, q.at[l], to ? &to[reg * LANES + l] : NULL);
}

/* ---- updates that go to one place ---- */
static bool same_place(Warp *w, const Step *s, int reg, int next, int lane)
{
	const Elements *x = s->plan;
	bool same = true;
	for (int a = 0; a < x->rank; a++)
		same &= element_value(w, s, 1 + a, reg, lane).i == element_value(w, s, 1 + a, next, lane).i;
	return same;
}

/* Register number k of those that a run has. */
static uint32_t run_reg(uint32_t run, uint32_t k)
{
	uint32_t r = 0;
	for (int i = 0; i < 32; i++)
		if (run >> i & 1) r |= (k & 1) << i, k >>= 1;
	return r;
}

static void combine_run(Warp *w, const Step *s, uint32_t first)
{
	const Elements *x = s->plan;
	for (uint32_t k = 0; k + 1 < (uint32_t)1 << x->run.log2; k++) {
		int reg = (int)(first ^ run_reg(x->run.bits, k)), next = (int)(first ^ run_reg(x->run.bits, k + 1));
		for (int l = 0; l < LANES; l++) {
			if (!same_place(w, s, reg, next, l)) continue;
			x->gone[reg] |= (uint32_t)1 << l;
			for (uint32_t i = 0; i < (uint32_t)1 << x->p.vec; i++) {
				int piece = (int)vector_reg(x->p.bit, x->p.vec, i);
				Cell *to = &x->sum[(next ^ piece) * LANES + l];
				*to = cells_combined(update_combine(s->op), x->e, x->sum[(reg ^ piece) * LANES + l], *to);
			}
		}
	}
}

static void combine_runs(Warp *w, const Step *s)
{
	const Elements *x = s->plan;
	for (int reg = 0; reg < x->regs; reg++) {
		x->gone[reg] = 0;
		for (int l = 0; l < LANES; l++) x->sum[reg * LANES + l] = element_value(w, s, x->first, reg, l);
	}
	for (int reg = 0; reg < x->regs; reg++)
		if (is_first_reg(x->spare, reg) && !((uint32_t)reg & (x->run.bits | vector_bits(x->p.bit, x->p.vec))))
			combine_run(w, s, (uint32_t)reg);
}

Go run_elements(Warp *w, const Step *s)
{
	const Elements *x = s->plan;
	const Val *out = s->op->nout ? s->op->out[0] : NULL;
	if (x->one && w->phase) return run_copies(w, out, ir_int(s->op, AT_SLOT, 0));
	uint32_t lanes = x->writes || x->one ? first_lanes(x->l, w->num) : UINT32_MAX;
	lanes &= w->active;
	if (x->writes) lanes &= w->live;
	Cell *to = out ? sim_def(w, out, x->regs) : NULL;
	uint32_t pieces = vector_bits(x->p.bit, x->p.vec);
	if (x->run.log2) combine_runs(w, s);
	for (int reg = 0; reg < x->regs && !sim_failed(w->u->r); reg++) {
		if (!is_first_reg(x->spare, reg) || (uint32_t)reg & pieces) continue;
		uint32_t there = x->run.log2 ? lanes & ~x->gone[reg] : lanes;
		uint32_t whole = x->p.vec ? count_pieces(w, s, reg, there) : 0;
		for (uint32_t k = 0; k < (uint32_t)1 << x->p.vec && !sim_failed(w->u->r); k++)
			run_register(w, s, (int)((uint32_t)reg ^ vector_reg(x->p.bit, x->p.vec, k)), there, whole, to);
	}
	return x->one && !w->u->r->fn->cluster ? run_copies(w, out, ir_int(s->op, AT_SLOT, 0)) : GO_NEXT;
}
