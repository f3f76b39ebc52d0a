/* Shared memory: races, bank conflicts, and tiles on their way through it.
 *
 * Races. Each actor has a clock, and each warp knows how far it has seen the actors; whoever meets or waits learns what
 * the others know. Actors are warps and what works in the background: copies that arrive at an mbarrier, copies and
 * products that a warp has started. An access must be one that the other's earlier access is seen by, or both must be
 * reads. Lanes of one warp run in lockstep here, but not on a GPU: between them, too, there must be a barrier, if only
 * one of the warp. What a thread wrote is seen by copies and products in the background only after its proxy_fence. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "sim/group.h"

enum { BANKS = 32, BANK_BYTES = 4 };

/* ---- races ---- */
static bool has_seen(const Warp *w, const Seen *s, int lane)
{
	if (s->actor != w->index) return w->clock[s->actor] >= s->clock;
	return s->clock < w->clock[w->index] || s->lane == lane;
}

/* Is there a fence of the writer after the write, which w has seen? */
static bool is_fenced(const Warp *w, const Seen *s)
{
	const Unit *u = w->u;
	if (s->actor >= u->nwarp) return true;
	const Fences *f = &u->warp[s->actor].fences;
	for (int i = f->n - 1; i >= 0 && f->p[i] > s->clock; i--)
		if (f->p[i] <= w->clock[s->actor]) return true;
	return false;
}

static Str actor_text(const Unit *u, const Seen *s)
{
	int bars = u->nwarp + u->nrank * u->r->nmbar;
	if (s->actor >= bars + u->nwarp) return str_fmt("a copy that warp %d started", s->actor - bars - u->nwarp);
	if (s->actor >= bars) return str_fmt("a product of warp %d", s->actor - bars);
	if (s->actor >= u->nwarp) return str_intern("a copy by hardware");
	if (s->lane == SEVERAL) return str_fmt("warp %d", s->actor);
	return str_fmt("lane %d of warp %d", s->lane, s->actor);
}

static void report_race(Warp *w, int64_t at, const Seen *s, const char *did, const char *does, const char *why)
{
	sim_fault(w, "%s byte %lld of shared memory, which %s %s %s, in `%s`", does, (long long)at, actor_text(w->u, s),
		did, why, ir_op_text(w->u->r->ops.p[s->step]));
}

static void note_read(Warp *w, Byte *b, int actor, uint32_t clock, int lane)
{
	int i = 0;
	while (i < b->nread && b->read[i].actor != actor) i++;
	if (i == b->cap) {
		int cap = b->cap ? 2 * b->cap : 2;
		Seen *p = NEW_ARRAY(w->u->mem, Seen, cap);
		if (b->nread) memcpy(p, b->read, (size_t)b->nread * sizeof *p);
		b->read = p;
		b->cap = cap;
	}
	Seen *s = &b->read[i];
	uint8_t who = i < b->nread && s->clock == clock && s->lane != lane ? SEVERAL : (uint8_t)lane;
	*s = (Seen){ .clock = clock, .step = w->at->number, .actor = actor, .lane = who };
	if (i == b->nread) b->nread++;
}

static bool unseen_read(Warp *w, Byte *b, int64_t at, int lane, const char *does)
{
	for (int i = 0; i < b->nread; i++)
		if (!has_seen(w, &b->read[i], lane)) {
			report_race(w, at, &b->read[i], "reads", does, "with no barrier between");
			return true;
		}
	return false;
}

/* Nobody has written it since this warp read it the last time, which was this far. */
static bool has_read(const Warp *w, const Byte *b, int lane)
{
	for (int i = 0; i < b->nread; i++) {
		const Seen *s = &b->read[i];
		if (s->actor == w->index) return s->clock == w->clock[w->index] && (s->lane == lane || s->lane == SEVERAL);
	}
	return false;
}

static bool in_range(Warp *w, const Shared *s, int64_t at, int64_t bytes, int64_t align)
{
	if (at >= 0 && at + bytes <= s->bytes && at % align == 0) return true;
	sim_fault(w, "accesses %lld bytes at %lld of shared memory, which has %lld", (long long)bytes, (long long)at,
		(long long)s->bytes);
	return false;
}

/* An access to a part of what one Byte stands for: from now on, and in the thread blocks to come, each stands for less,
 * and has what the larger one had. */
static void refine(Warp *w, Shared *s, int64_t at, int64_t bytes)
{
	Run *r = w->u->r;
	int grain = 0;
	while (grain < s->grain && !((at | bytes) >> grain & 1)) grain++;
	if (grain >= s->grain) return;
	Byte *fine = NEW_ARRAY(w->u->mem, Byte, (s->bytes >> grain) + 1);
	for (int64_t k = 0; k <= s->bytes >> grain; k++) {
		fine[k] = s->seen[k >> (s->grain - grain)];
		if (!fine[k].cap) continue;
		Seen *p = NEW_ARRAY(w->u->mem, Seen, fine[k].cap);
		memcpy(p, fine[k].read, (size_t)fine[k].nread * sizeof *p);
		fine[k].read = p;
	}
	s->seen = fine;
	s->grain = grain;
	if (grain < r->grain) r->grain = grain;
}

void *shared_at(Warp *w, int rank, int64_t at, int bytes, int lane, SharedUse use)
{
	Shared *s = &w->u->shared[rank];
	bool write = use != SHARED_READ;
	const char *does = write ? "writes" : "reads";
	static uint64_t nowhere[2];
	if (!in_range(w, s, at, bytes, bytes)) return nowhere;
	refine(w, s, at, bytes);
	int grain = s->grain;
	for (int64_t k = at >> grain; k <= (at + bytes - 1) >> grain; k++) {
		Byte *b = &s->seen[k];
		if (!write && has_read(w, b, lane)) continue;
		if (!b->is_written && !write) {
			sim_fault(w, "lane %d reads byte %lld of shared memory, which nobody has written", lane,
				(long long)k << grain);
			break;
		}
		if (b->is_written && !(b->atomic && use == SHARED_ATOMIC) && !has_seen(w, &b->write, lane)) {
			report_race(w, k << grain, &b->write, "wrote", does, "with no barrier between");
			break;
		}
		if (!write) {
			note_read(w, b, w->index, w->clock[w->index], lane);
			continue;
		}
		if (unseen_read(w, b, k << grain, lane, does)) break;
		b->nread = 0;
		b->is_written = true;
		b->write = (Seen){ .clock = w->clock[w->index], .step = w->at->number, .actor = w->index,
			.lane = (uint8_t)lane };
		b->atomic = use == SHARED_ATOMIC;
	}
	return s->mem + at;
}

void *shared_async(Warp *w, int rank, int64_t at, int64_t bytes, int actor, uint32_t clock, bool write)
{
	Shared *s = &w->u->shared[rank];
	const char *does = write ? "copies into" : "takes, in the background,";
	bool by_threads = actor >= actor_of_copies(w) - w->index;        /* cp.async writes as threads do */
	if (!in_range(w, s, at, bytes, 1)) return NULL;
	refine(w, s, at, bytes);
	int grain = s->grain;
	for (int64_t k = at >> grain; k <= (at + bytes - 1) >> grain; k++) {
		Byte *b = &s->seen[k];
		if (!b->is_written && !write) {
			sim_fault(w, "%s byte %lld of shared memory, which nobody has written", does, (long long)k << grain);
			return NULL;
		}
		if (b->is_written && !(b->write.actor == actor && b->write.clock == clock)) {
			bool seen = has_seen(w, &b->write, 0);
			if (!seen || !(by_threads || is_fenced(w, &b->write))) {
				report_race(w, k << grain, &b->write, "wrote", does,
					seen ? "with no proxy_fence after the write" : "with no barrier between");
				return NULL;
			}
		}
		if (!write) {
			note_read(w, b, actor, clock, SEVERAL);
			continue;
		}
		if (unseen_read(w, b, k << grain, 0, does)) return NULL;
		b->nread = 0;
		b->is_written = true;
		b->write = (Seen){ .clock = clock, .step = w->at->number, .actor = actor, .lane = SEVERAL };
		b->atomic = false;
	}
	return s->mem + at;
}

unsigned char *shared_copy(Warp *w, int64_t at, int bytes)
{
	return shared_async(w, w->rank, at, bytes, actor_of_copies(w), (uint32_t)w->copies + 1, true);
}

/* ---- bank conflicts ---- */
/* A wavefront serves each bank once; lanes that ask for one word share it. Lanes whose accesses are wider than a bank
 * take turns: as many at once as ask for 128 bytes. */
int bank_wavefronts(const Request *q, int *least)
{
	int words = q->bytes > BANK_BYTES ? q->bytes / BANK_BYTES : 1, group = LANES / words, sum = 0, n = 0;
	uint64_t seen[LANES * 4][BANKS];        /* the words of each bank; the first of all banks side by side */
	int in_bank[BANKS] = { 0 };
	for (int from = 0; from < LANES; from += group) {
		int before[BANKS], most = 0;
		for (int i = 0; i < BANKS; i++) before[i] = in_bank[i];
		for (int l = from; l < from + group; l++)
			for (int k = 0; q->lanes >> l & 1 && k < words; k++) {
				uint64_t word = q->at[l] / BANK_BYTES + (unsigned)k;
				int bank = (int)(word % BANKS), i = 0;
				while (i < in_bank[bank] && seen[i][bank] != word) i++;
				if (i < in_bank[bank]) continue;
				seen[in_bank[bank]++][bank] = word;
				if (in_bank[bank] - before[bank] > most) most = in_bank[bank] - before[bank];
				n++;
			}
		sum += most;
	}
	*least = (n + BANKS - 1) / BANKS;
	return sum;
}

void count_shared(Warp *w, const Request *q)
{
	int least;
	SimCount *c = &w->u->r->count[w->at->number];
	if (!q->lanes) return;
	c->shared++;
	c->wavefronts += bank_wavefronts(q, &least);
	c->ideal += least;
}

int64_t shared_base(const Warp *w, int lane)
{
	const Run *r = w->u->r;
	return lane / sim_lanes(r) * r->fn->shared_bytes;
}

static void store_bits(void *p, int bytes, uint64_t bits)
{
	for (int i = 0; i < bytes; i++) ((unsigned char *)p)[i] = (unsigned char)(bits >> (8 * i));
}

static uint64_t load_bits(const void *p, int bytes)
{
	uint64_t r = 0;
	for (int i = 0; i < bytes; i++) r |= (uint64_t)((const unsigned char *)p)[i] << (8 * i);
	return r;
}

void shared_put(Warp *w, Elem e, const Request *q, int n, const Cell *const *from)
{
	int size = elem_bytes(e);
	count_shared(w, q);
	for (int l = 0; l < LANES && !sim_failed(w->u->r); l++) {
		if (!(q->lanes >> l & 1)) continue;
		unsigned char *p = shared_at(w, w->rank, (int64_t)q->at[l], q->bytes, l, SHARED_WRITE);
		for (int k = 0; k < n && !sim_failed(w->u->r); k++) store_bits(p + k * size, size, cell_bits(e, from[k][l]));
	}
}

void shared_get(Warp *w, Elem e, const Request *q, int n, Cell *const *to)
{
	int size = elem_bytes(e);
	count_shared(w, q);
	for (int l = 0; l < LANES && !sim_failed(w->u->r); l++) {
		if (!(q->lanes >> l & 1)) continue;
		const unsigned char *p = shared_at(w, w->rank, (int64_t)q->at[l], q->bytes, l, SHARED_READ);
		for (int k = 0; k < n && !sim_failed(w->u->r); k++) to[k][l] = cell_from(e, load_bits(p + k * size, size));
	}
}

void shared_store(Warp *w, Elem e, const Request *q, const Cell *from) { shared_put(w, e, q, 1, &from); }
void shared_load(Warp *w, Elem e, const Request *q, Cell *to) { shared_get(w, e, q, 1, &to); }

/* ---- buffers ---- */
typedef struct Buffer {
	SharedPlan p;
	Map off;
	Elem e;
	Lay l;
	int regs;
	int64_t slot;
	uint32_t spare;
} Buffer;

static void *plan_buffer(Run *r, const Val *buf, const Val *data)
{
	Buffer *b = NEW(r->mem, Buffer);
	b->l = *data->lay;
	b->e = data->type->elem;
	b->p = shared_plan(b->l, *ir_attr(buf->def, AT_LAYOUT)->u.lay, b->e);
	b->off = map_of(r, b->p.map, LAY_HWAXIS(HW_OFF));
	b->regs = sim_regs(data);
	b->slot = ir_int(buf->def, AT_SLOT, 0);
	return b;
}

static bool in_ring(const Val *buf) { return buf->def->code != OP_ALLOC_SHARED; }

void *plan_store_shared(Run *r, const Op *op)
{
	if (in_ring(ir_in(op, 0))) return plan_slab(r, ir_in(op, 1));
	Buffer *b = plan_buffer(r, ir_in(op, 0), ir_in(op, 1));
	b->spare = lay_hwcoord(b->l, lay_free(b->l), HW_REG);
	return b;
}

void *plan_load_shared(Run *r, const Op *op)
{
	if (in_ring(ir_in(op, 0))) return plan_slab(r, op->out[0]);
	return plan_buffer(r, ir_in(op, 0), op->out[0]);
}

static void each_piece(Warp *w, const Buffer *b, uint32_t lanes, const SimVal *from, Cell *to)
{
	uint32_t bits = vector_bits(b->p.bit, b->p.vec);
	int n = 1 << b->p.vec;
	for (int reg = 0; reg < b->regs && !sim_failed(w->u->r); reg++) {
		Request q = { .lanes = lanes, .bytes = elem_bytes(b->e) << b->p.vec };
		const Cell *src[16];
		Cell *dst[16];
		if (!is_first_reg(bits | b->spare, reg)) continue;
		for (int l = 0; l < LANES; l++)
			q.at[l] = (uint64_t)(shared_base(w, l) + b->slot
				+ (int64_t)map_at(&b->off, reg, l, w->num) * elem_bytes(b->e));
		for (int k = 0; k < n; k++) {
			uint32_t at = ((uint32_t)reg ^ vector_reg(b->p.bit, b->p.vec, (uint32_t)k)) * LANES;
			if (from) src[k] = from->p + (at & from->mask);
			else dst[k] = to + at;
		}
		if (from) shared_put(w, b->e, &q, n, src);
		else shared_get(w, b->e, &q, n, dst);
	}
}

Go run_store_shared(Warp *w, const Step *s)
{
	const Buffer *b = s->plan;
	if (in_ring(ir_in(s->op, 0))) return run_slab(w, s);
	each_piece(w, b, first_lanes_of_block(w, b->l), sim_val(w, ir_in(s->op, 1)), NULL);
	return GO_NEXT;
}

Go run_load_shared(Warp *w, const Step *s)
{
	const Buffer *b = s->plan;
	if (in_ring(ir_in(s->op, 0))) return run_slab(w, s);
	each_piece(w, b, UINT32_MAX, NULL, sim_def(w, s->op->out[0], b->regs));
	return GO_NEXT;
}

/* What threads keep for themselves: vectors of up to 16 bytes beside those of the other threads. */
static int keep_elems(const Val *v)
{
	int regs = sim_regs(v), n = 16 / elem_bytes(v->type->elem);
	return n < regs ? n : regs;
}

static void each_kept(Warp *w, const Op *op, const Val *v, const SimVal *from, Cell *to)
{
	int n = keep_elems(v), pieces = sim_regs(v) / n, threads = w->u->nwarp / w->u->nrank * LANES,
		bytes = n * elem_bytes(v->type->elem);
	const SimVal *number = sim_val(w, ir_in(op, 0));
	for (int i = 0; i < pieces && !sim_failed(w->u->r); i++) {
		Request q = { .lanes = UINT32_MAX, .bytes = bytes };
		const Cell *src[16];
		Cell *dst[16];
		for (int l = 0; l < LANES; l++) {
			int64_t thread = w->num % (w->u->nwarp / w->u->nrank) * LANES + l;
			q.at[l] = (uint64_t)(ir_int(op, AT_SLOT, 0) + ((number->p[l].i * pieces + i) * threads + thread) * bytes);
		}
		for (int k = 0; k < n; k++) {
			uint32_t at = (uint32_t)(i * n + k) * LANES;
			if (from) src[k] = from->p + (at & from->mask);
			else dst[k] = to + at;
		}
		if (from) shared_put(w, v->type->elem, &q, n, src);
		else shared_get(w, v->type->elem, &q, n, dst);
	}
}

Go run_keep(Warp *w, const Step *s)
{
	if (sim_val(w, ir_in(s->op, 0))->p[0].i < ir_int(s->op, AT_NUMBER, 0))
		each_kept(w, s->op, ir_in(s->op, 1), sim_val(w, ir_in(s->op, 1)), NULL);
	return GO_NEXT;
}

Go run_kept(Warp *w, const Step *s)
{
	const Val *v = s->op->out[0];
	each_kept(w, s->op, v, NULL, sim_def(w, v, sim_regs(v)));
	return GO_NEXT;
}

Go run_barrier(Warp *w, const Step *s)
{
	(void)s;
	return sim_sync(w) ? GO_NEXT : GO_WAIT;
}

/* ---- in pieces: row-major storage of a tile of which so many elements are in shared memory at once ---- */
typedef struct Pieces { Elem e; int64_t elems, count, slot; } Pieces;

static Pieces pieces_of(const Op *op, const Type *t)
{
	Pieces p = { .e = t->elem, .elems = piece_elems(t), .slot = ir_int(op, AT_SLOT, 0) };
	p.count = type_size(t) / p.elems;
	return p;
}

static uint64_t piece_at(const Warp *w, const Pieces *p, int64_t offset, int lane)
{
	return (uint64_t)(shared_base(w, lane) + p->slot + offset % p->elems * elem_bytes(p->e));
}

/* Stores the part of x that belongs to piece k: each element by the first thread that holds
 * it, of each thread block. */
static void fill_piece(Warp *w, const Pieces *p, int64_t k, const Val *x, const Map *off)
{
	const SimVal *v = sim_val(w, x);
	uint32_t lanes = first_lanes_of_block(w, *x->lay);
	for (int reg = 0; reg < sim_regs(x) && !sim_failed(w->u->r); reg++) {
		Request q = { .bytes = elem_bytes(p->e) };
		Cell c[LANES];
		for (int l = 0; l < LANES; l++) {
			int64_t f = map_at(off, reg, l, w->num);
			q.at[l] = piece_at(w, p, f, l);
			if (lanes >> l & 1 && f / p->elems == k) q.lanes |= (uint32_t)1 << l;
			c[l] = sim_at(v, reg, l);
		}
		shared_store(w, p->e, &q, c);
	}
}

static void read_piece(Warp *w, const Pieces *p, int64_t k, const Val *r, const Map *off)
{
	Cell *to = sim_def(w, r, sim_regs(r));
	for (int reg = 0; reg < sim_regs(r) && !sim_failed(w->u->r); reg++) {
		Request q = { .bytes = elem_bytes(p->e) };
		for (int l = 0; l < LANES; l++) {
			int64_t f = map_at(off, reg, l, w->num);
			q.at[l] = piece_at(w, p, f, l);
			if (f / p->elems == k) q.lanes |= (uint32_t)1 << l;
		}
		shared_load(w, p->e, &q, to + reg * LANES);
	}
}

typedef struct Convert { Pieces p; Map from, to; } Convert;

void *plan_convert(Run *r, const Op *op)
{
	Convert *c = NEW(r->mem, Convert);
	c->p = pieces_of(op, op->out[0]->type);
	c->from = map_of(r, *ir_in(op, 0)->lay, -1);
	c->to = map_of(r, *op->out[0]->lay, -1);
	return c;
}

/* Phases of piece k: 2 k, before it is filled (with a barrier where there are several); 2 k + 1, before it is read. */
Go run_convert(Warp *w, const Step *s)
{
	const Convert *c = s->plan;
	for (;;) {
		int k = w->phase / 2;
		if (w->phase % 2 == 0) {
			if (k == c->p.count) return GO_NEXT;
			if (c->p.count > 1 && !sim_sync(w)) return GO_WAIT;
			fill_piece(w, &c->p, k, ir_in(s->op, 0), &c->from);
			w->phase++;
		}
		if (!sim_sync(w)) return GO_WAIT;
		read_piece(w, &c->p, k, s->op->out[0], &c->to);
		w->phase++;
	}
}

/* ---- what one thread of those with copies got ---- */
Go run_copies(Warp *w, const Val *v, int64_t slot)
{
	bool tile = type_is_tile(v->type);
	Pieces p = { v->type->elem, tile ? type_size(v->type) : 1, 1, slot };
	Lay l = tile ? *v->lay : lay_single(0, fn_threads(w->u->r->fn));
	ArenaMark mark = arena_mark(w->u->r->mem);
	Map off = map_of(w->u->r, l, -1);
	if (!w->phase) {
		if (tile) {
			fill_piece(w, &p, 0, v, &off);
		} else {
			Request q = { .lanes = first_lanes(l, w->num), .bytes = elem_bytes(p.e) };
			for (int k = 0; k < LANES; k++) q.at[k] = (uint64_t)(shared_base(w, k) + slot);
			shared_store(w, p.e, &q, sim_val(w, v)->p);
		}
		w->phase = 1;
	}
	bool met = sim_sync(w);
	if (met && tile) {
		read_piece(w, &p, 0, v, &off);
	} else if (met) {
		Request q = { .lanes = UINT32_MAX, .bytes = elem_bytes(p.e) };
		for (int k = 0; k < LANES; k++) q.at[k] = (uint64_t)(shared_base(w, k) + slot);
		shared_load(w, p.e, &q, sim_def(w, v, 1));
	}
	arena_release(w->u->r->mem, mark);
	return met ? GO_NEXT : GO_WAIT;
}

/* ---- take ---- */
typedef struct Take { Pieces p; Map from, other; int shift; } Take;

void *plan_take(Run *r, const Op *op)
{
	Take *t = NEW(r->mem, Take);
	const Val *x = ir_in(op, 0), *out = op->out[0];
	int axis = ir_axis(op), rlog = out->type->log2[axis], xlog = x->type->log2[axis];
	Lay l = *out->lay;
	t->p = pieces_of(op, x->type);
	t->from = map_of(r, *x->lay, -1);
	for (int a = x->type->rank - 1; a > axis; a--) t->shift += x->type->log2[a];
	/* the offset of the other coordinates: those of the result, past the axis moved */
	for (int i = 0; i < lay_inbits(l); i++) {
		uint32_t c = l.col[i], low = c & (((uint32_t)1 << t->shift) - 1),
			high = t->shift + rlog >= 32 ? 0 : c >> (t->shift + rlog);
		l.col[i] = low | (t->shift + xlog >= 32 ? 0 : high << (t->shift + xlog));
	}
	t->other = map_of(r, l, -1);
	return t;
}

static void take_piece(Warp *w, const Step *s, const Take *t, int64_t k)
{
	const Val *out = s->op->out[0], *x = ir_in(s->op, 0);
	const SimVal *index = sim_val(w, ir_in(s->op, 1)), *pad = sim_val(w, ir_in(s->op, 2));
	uint64_t extent = (uint64_t)type_extent(x->type, ir_axis(s->op));
	Cell *to = sim_def(w, out, sim_regs(out));
	for (int reg = 0; reg < sim_regs(out) && !sim_failed(w->u->r); reg++) {
		Request q = { .bytes = elem_bytes(t->p.e) };
		for (int l = 0; l < LANES; l++) {
			uint64_t j = (uint64_t)sim_at(index, reg, l).i;
			int64_t f = (int64_t)((map_at(&t->other, reg, l, w->num)) ^ (j < extent ? j << t->shift : 0));
			if (j >= extent) to[reg * LANES + l] = pad->p[l];
			else if (f / t->p.elems == k) q.lanes |= (uint32_t)1 << l;
			q.at[l] = piece_at(w, &t->p, f, l);
		}
		shared_load(w, t->p.e, &q, to + reg * LANES);
	}
}

Go run_take(Warp *w, const Step *s)
{
	const Take *t = s->plan;
	for (;;) {
		int k = w->phase / 2;
		if (w->phase % 2 == 0) {
			if (k == t->p.count) return GO_NEXT;
			if (t->p.count > 1 && !sim_sync(w)) return GO_WAIT;
			fill_piece(w, &t->p, k, ir_in(s->op, 0), &t->from);
			w->phase++;
		}
		if (!sim_sync(w)) return GO_WAIT;
		take_piece(w, s, t, k);
		w->phase++;
	}
}
