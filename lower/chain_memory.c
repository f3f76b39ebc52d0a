/* Shared memory of a loop of chained products: tensor maps, rings of buffers, their mbarriers, boxes of stores. */
#include "lower/chain_write.h"
#include "lower/pipeline.h"

static int span_of(const Type *t)
{
	int64_t row = type_extent(t, 1) * elem_bytes(t->elem);
	return row < SPAN ? (int)row : SPAN;
}

/* A tensor whose last axis is contiguous, with boxes of a matrix along its last axis and another one. */
static Val *map_of(Write *x, const ChainPlace *p, bool transposed, const Type *buffer)
{
	const IrParam *param = &x->c.fn->params.p[p->param];
	int fast = p->axis[transposed ? 0 : 1], slow = p->axis[transposed ? 1 : 0], last = param->rank - 1;
	Val *view = chain_value(x, param->val);
	uint8_t log2[TILE_RANK] = { 0 };
	if (fast != last) {
		int64_t axes[TENSOR_RANK];
		for (int a = 0; a < param->rank; a++) axes[a] = a == last ? fast : a == fast ? last : a;
		view = make(x, OP_PERMUTE, view->type, 1, &view);
		ir_set_ints(view->def, AT_AXES, param->rank, axes);
		if (slow == last) slow = fast;
	}
	log2[slow] = buffer->log2[0];
	log2[last] = (uint8_t)log2_of(span_of(buffer) / elem_bytes(buffer->elem));
	while (1 << log2[slow] > TMA_BOX) log2[slow]--;
	uint8_t more[TILE_RANK] = { 0 };
	more[slow] = buffer->more[0];
	Val *map = make(x, OP_TENSOR_MAP, type_placed(TY_TMAP, buffer->elem, param->rank, log2, more, 0), 1, &view);
	ir_set_int(map->def, AT_SWIZZLE, span_of(buffer));
	return map;
}

static Val *ring_of(Write *x, const Type *buffer, int count, const char *name)
{
	const Type *t = type_placed(TY_RING, buffer->elem, buffer->rank, buffer->log2, buffer->more, count);
	Val *ring = make(x, OP_ALLOC_RING, t, 0, NULL);
	ir_set_int(ring->def, AT_SLOT, x->at);
	ir_set_int(ring->def, AT_SWIZZLE, span_of(buffer));
	x->at += type_bytes(buffer) * count;
	return named(ring, name);
}

static Val *mbars(Write *x, int stages, int count, const char *name)
{
	Val *v = make(x, OP_ALLOC_MBAR, type_placed(TY_MBAR, EL_VOID, 0, NULL, NULL, stages), 0, NULL);
	ir_set_int(v->def, AT_NUMBER, count);
	ir_set_int(v->def, AT_SLOT, x->at);
	x->at += MBAR_BYTES * stages;
	return named(v, name);
}

static const Type *buffer_of(const Write *x, const ChainLoad *l)
{
	const Type *t = l->op->out[0]->type;
	uint8_t log2[2] = { t->log2[l->transposed], t->log2[!l->transposed] }, more[2] = { 0, 0 };
	int groups = l->differs ? x->groups : 1;
	while (groups % 2 == 0) groups /= 2, log2[0]++;
	more[0] = (uint8_t)(groups - 1);
	return type_placed(TY_SHARED, t->elem, 2, log2, more, 0);
}

bool chain_fits(const Write *x)
{
	for (int i = 0; i < x->c.loads; i++) {
		const Type *t = buffer_of(x, &x->c.load[i]);
		if (type_extent(t, 0) * span_of(t) % PATTERN || type_extent(t, 1) * elem_bytes(t->elem) % span_of(t))
			return false;
	}
	return true;
}

void chain_map_loads(Write *x)
{
	for (int i = 0; i < x->c.loads; i++) {
		const ChainLoad *l = &x->c.load[i];
		x->in[i].type = buffer_of(x, l);
		x->in[i].map = map_of(x, &l->place, l->transposed, x->in[i].type);
		x->ring[l->ring].bytes += type_bytes(x->in[i].type);
	}
}

/* Can the copy engine store it? A tile of all rows and columns of a group, to memory that is contiguous along
 * columns. */
static bool is_boxed(const Write *x, const Op *op, ChainPlace *place)
{
	const Val *v = ir_in(op, op->nin - 1);
	const Type *t = v->type;
	if (op->code != OP_STORE || t->rank != 2 || elem_bytes(t->elem) != 2) return false;
	if (t->log2[0] != CHAIN_ROWS_LOG2 || t->log2[1] < 4 || !unit_axis(x->c.fn, ir_in(op, 0), 1)) return false;
	return lay_eq(*v->lay, pipe_sum_layout(t)) && chain_place_of(x->c.fn, op, place);
}

void chain_map_stores(Write *x)
{
	for (const Op *op = x->c.loop->next; op && x->stores < CHAIN_STORES; op = op->next) {
		Stored *s = &x->out[x->stores];
		if (op->code != OP_STORE || !is_boxed(x, op, &s->place)) continue;
		const Type *t = ir_in(op, op->nin - 1)->type;
		uint8_t log2[2] = { t->log2[0], t->log2[1] < BOX_COLS_LOG2 ? t->log2[1] : BOX_COLS_LOG2 };
		s->op = op;
		s->box = type_placed(TY_SHARED, t->elem, 2, log2, NULL, 0);
		s->n = (int)(type_extent(t, 1) / type_extent(s->box, 1));
		s->map = map_of(x, &s->place, false, s->box);
		x->stores++;
	}
}

static int64_t stored_bytes(const Write *x)
{
	int64_t n = 0;
	for (int i = 0; i < x->stores; i++) n += type_bytes(x->out[i].box) * x->out[i].n * x->groups;
	return n;
}

static void choose_stages(Write *x, int64_t room)
{
	Ring *r = x->ring;
	room -= stored_bytes(x);
	for (int i = RING_FIRST; i < RING_COUNT; i++) {
		r[i].stages = STAGES_MOST;
		while (r[i].stages > STAGES_LEAST && r[i].stages * r[i].bytes > COST_CHAIN_RING) r[i].stages--;
		room -= r[i].stages * (r[i].bytes + 2 * MBAR_BYTES);
	}
	r[RING_HELD].stages = HELD_BUFFERS;
	int64_t each = r[RING_HELD].bytes + 2 * MBAR_BYTES;
	while (r[RING_HELD].stages && r[RING_HELD].stages * each > room) r[RING_HELD].stages--;
}

bool chain_give_memory(Write *x, int64_t room)
{
	static const char *const full[] = { "held_full", "first_full", "second_full" };
	static const char *const empty[] = { "held_empty", "first_empty", "second_empty" };
	Val *bars[2 * RING_COUNT];
	choose_stages(x, room);
	if (!x->ring[RING_HELD].stages) return false;
	for (int i = 0; i < x->c.loads; i++) {
		const ChainLoad *l = &x->c.load[i];
		Str name = x->c.fn->params.p[l->place.param].name;
		x->in[i].ring = ring_of(x, x->in[i].type, x->ring[l->ring].stages, str_fmt("%s_ring", name));
	}
	for (int i = 0; i < x->stores; i++) {
		Stored *o = &x->out[i];
		Str name = x->c.fn->params.p[o->place.param].name;
		o->ring = ring_of(x, o->box, o->n * x->groups, str_fmt("%s_boxes", name));
	}
	for (int i = 0; i < RING_COUNT; i++) {
		bars[2 * i] = x->ring[i].full = mbars(x, x->ring[i].stages, 1, full[i]);
		bars[2 * i + 1] = x->ring[i].empty = mbars(x, x->ring[i].stages, x->groups, empty[i]);
	}
	add(x, OP_MBAR_INIT, 2 * RING_COUNT, bars);
	return true;
}
