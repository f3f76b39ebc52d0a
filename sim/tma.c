/* Copies by hardware between tensors and shared memory. A box is written densely, row by row, and the hardware
 * exchanges 16-byte chunks by bits of their address; what lies outside of the tensor is zero, and is not written. */
#include <string.h>

#include "base/diag.h"
#include "sim/group.h"

enum { MASKS = 16 };

typedef struct Tmap { const IrParam *p; int param, axis[TENSOR_RANK], span; } Tmap;

void *plan_tensor_map(Run *r, const Op *op)
{
	Tmap *m = NEW(r->mem, Tmap);
	const Val *v = ir_in(op, 0);
	int rank = v->type->rank;
	for (int i = 0; i < rank; i++) m->axis[i] = i;
	for (; v->def && v->def->code == OP_PERMUTE; v = ir_in(v->def, 0))
		for (int i = 0; i < rank; i++) m->axis[i] = (int)ir_attr(v->def, AT_AXES)->u.ints.p[m->axis[i]];
	if (v->def || v->block != r->fn->body) bug("a tensor map of what is no parameter");
	m->param = v->index;
	m->p = &r->fn->params.p[v->index];
	m->span = (int)ir_int(op, AT_SWIZZLE, 0);
	return m;
}

Go run_tensor_map(Warp *w, const Step *s)
{
	Cell *c = sim_def(w, s->op->out[0], 1);
	c[0].i = (int64_t)(intptr_t)s->plan;    /* of the run, as all that is decoded */
	for (int l = 1; l < LANES; l++) c[l] = c[0];
	return GO_NEXT;
}

/* One copy: a box of `high` rows of `wide` elements, whose first is at these coordinates. */
typedef struct Copy {
	Warp *w;
	const Tmap *m;
	Elem e;
	int rank;
	int64_t at[TENSOR_RANK], high, wide;
	int64_t to;             /* byte in shared memory */
	bool store;
} Copy;

/* Address of element (i, j) of the box; 0: outside of the tensor. */
static uint64_t element_at(const Copy *c, int64_t i, int64_t j)
{
	const SimCall *call = c->w->u->r->call;
	uint64_t sum = 0;
	for (int a = 0; a < c->rank; a++) {
		int64_t e = 0, s = 0, x = c->at[a] + (a == c->rank - 1 ? j : a == c->rank - 2 ? i : 0);
		if (!sim_sym(call, c->m->p->extent[c->m->axis[a]], &e) || !sim_sym(call, c->m->p->stride[c->m->axis[a]], &s))
			return 0;
		if (x < 0 || x >= e) return 0;
		sum += (uint64_t)x * (uint64_t)s;
	}
	return (uint64_t)(uintptr_t)call->arg[c->m->param] + sum * (uint64_t)elem_bytes(c->e);
}

static int64_t place_in_box(const Copy *c, int64_t i, int64_t j)
{
	int64_t dense = c->to + (i * c->wide + j) * elem_bytes(c->e);
	return smem_swizzle(c->m->span, (uint32_t)dense);
}

static void count_row(const Copy *c, uint64_t first, int64_t n)
{
	SimCount *k = &c->w->u->r->count[c->w->at->number];
	int64_t bytes = n * elem_bytes(c->e);
	if (!n) return;
	k->bytes += bytes;
	k->sectors += (int64_t)((first + (uint64_t)bytes - 1) / SECTOR - first / SECTOR) + 1;
	k->least += (bytes + SECTOR - 1) / SECTOR;
}

/* Between the tensor and the copy's place in each thread block of the mask; into one by the actor of its mbarrier. */
static void move_box(const Copy *c, int64_t mask, int bar)
{
	Warp *w = c->w;
	Unit *u = w->u;
	int size = elem_bytes(c->e);
	unsigned char *mem[MASKS] = { NULL };
	for (int rank = 0; rank < u->nrank && rank < MASKS; rank++) {
		if (!(mask >> rank & 1)) continue;
		int actor = c->store ? actor_of_stores(w) : actor_of_mbar(u, rank, bar);
		uint32_t clock = c->store ? (uint32_t)w->stores + 1 : mbar_clock(w, rank, bar);
		if (sim_failed(u->r) || !shared_async(w, rank, c->to, c->high * c->wide * size, actor, clock, !c->store))
			return;
		mem[rank] = u->shared[rank].mem;
	}
	u->r->count[w->at->number].requests++;
	for (int64_t i = 0; i < c->high; i++) {
		uint64_t first = 0;
		int64_t n = 0;
		for (int64_t j = 0; j < c->wide; j++) {
			uint64_t at = element_at(c, i, j);
			int64_t place = place_in_box(c, i, j);
			if (at && !n++) first = at;
			for (int rank = 0; rank < u->nrank && rank < MASKS; rank++) {
				if (!mem[rank]) continue;
				if (c->store && at) memcpy((void *)(uintptr_t)at, mem[rank] + place, (size_t)size);
				else if (!c->store && at) memcpy(mem[rank] + place, (const void *)(uintptr_t)at, (size_t)size);
				else if (!c->store) memset(mem[rank] + place, 0, (size_t)size);
			}
		}
		count_row(c, first, n);
	}
}

/* A buffer box by box: the tail of the box's axes are those of the buffer. */
static void move_buffer(Warp *w, const Op *op, bool store, int first, int64_t mask, int bar)
{
	const Val *buf = ir_in(op, store ? 1 : 0), *map = ir_in(op, store ? 0 : 1);
	const Type *t = buf->type, *box = map->type;
	Buf b = sim_buf(w, buf);
	int last = box->rank - 1;
	Copy c = { .w = w, .m = (const Tmap *)(intptr_t)sim_scalar(w, map), .e = t->elem, .rank = box->rank,
		.store = store };
	int64_t cols = type_extent(t, t->rank - 1), rows = type_size(t) / cols;
	c.wide = type_extent(box, last);
	c.high = last ? type_extent(box, last - 1) : 1;
	for (int64_t col = 0; col < cols; col += c.wide)
		for (int64_t row = 0; row < rows && !sim_failed(w->u->r); row += c.high) {
			for (int a = 0; a < c.rank; a++)
				c.at[a] = sim_scalar(w, ir_in(op, first + a)) + (a == last ? col : a == last - 1 ? row : 0);
			c.to = buf_at(&b, row, col);
			if (c.to % 128)
				sim_fault(w, "a copy by hardware begins at byte %lld of shared memory, no multiple of 128",
					(long long)c.to);
			move_box(&c, mask, bar);
			for (int rank = 0; !store && rank < w->u->nrank && !sim_failed(w->u->r); rank++)
				if (mask >> rank & 1) mbar_bytes(w, rank, bar, c.high * c.wide * elem_bytes(c.e));
		}
}

Go run_tma_load(Warp *w, const Step *s)
{
	const Op *op = s->op;
	bool multicast = ir_int(op, AT_MULTICAST, 0) != 0;
	int64_t mask = multicast ? sim_scalar(w, ir_in(op, op->nin - 1)) : (int64_t)1 << w->rank;
	move_buffer(w, op, false, 4, mask, sim_bar(w, op, 2));
	return GO_NEXT;
}

Go run_tma_store(Warp *w, const Step *s)
{
	move_buffer(w, s->op, true, 2, (int64_t)1 << w->rank, 0);
	w->storing = true;
	return GO_NEXT;
}

Go run_bulk_commit(Warp *w, const Step *s)
{
	(void)s;
	w->stores++;
	w->storing = false;
	return GO_NEXT;
}

Go run_bulk_wait(Warp *w, const Step *s)
{
	int64_t done = w->stores - ir_int(s->op, AT_PENDING, 0);
	uint32_t *seen = &w->clock[actor_of_stores(w)];
	if (done > (int64_t)*seen) *seen = (uint32_t)done;
	return GO_NEXT;
}

Go run_proxy_fence(Warp *w, const Step *s)
{
	(void)s;
	vec_push(w->u->r->mem, &w->fences, ++w->clock[w->index]);
	return GO_NEXT;
}
