/* Shared memory and tensor maps of a loop of products: rings of buffers, boxes of stores. */
#include "lower/pipeline_write.h"

static int span_of(const Type *t)
{
	int64_t row = type_extent(t, 1) * elem_bytes(t->elem), whole = row & -row;
	return whole < PIPE_SPAN ? (int)whole : PIPE_SPAN;
}

/* The tensor of an access, contiguous along its last axis. */
static Val *mapped_view(Write *x, const Op *access, bool transposed)
{
	Val *view = ir_in(access, 0);
	if (!transposed) return pipe_value(x, view);
	Val *v = make(x, OP_PERMUTE, view->type, 1, (Val *[]){ pipe_value(x, view) });
	ir_set_ints(v->def, AT_AXES, 2, (const int64_t[]){ 1, 0 });
	return v;
}

static Val *map_of(Write *x, Val *view, const Type *copied)
{
	const Type *box = matrix(TY_TMAP, copied->elem, type_extent(copied, 0), span_of(copied) / elem_bytes(copied->elem),
		0);
	Val *map = make(x, OP_TENSOR_MAP, box, 1, (Val *[]){ view });
	ir_set_int(map->def, AT_SWIZZLE, span_of(copied));
	return map;
}

static Val *ring_of(Write *x, const Type *buffer, int count)
{
	Val *ring = make(x, OP_ALLOC_RING, shaped(TY_RING, buffer, count), 0, NULL);
	ir_set_int(ring->def, AT_SLOT, x->at);
	ir_set_int(ring->def, AT_SWIZZLE, span_of(buffer));
	x->at += type_bytes(buffer) * count;
	return ring;
}

static Val *mbars(Write *x, int count, const char *name)
{
	Val *v = make(x, OP_ALLOC_MBAR, type_placed(TY_MBAR, EL_VOID, 0, NULL, NULL, x->stages), 0, NULL);
	ir_set_int(v->def, AT_NUMBER, count);
	ir_set_int(v->def, AT_SLOT, x->at);
	x->at += MBAR_BYTES * x->stages;
	return named(v, name);
}

static const Type *buffer_of(const Write *x, const PipeLoad *l)
{
	const Type *t = l->op->out[0]->type;
	int64_t other = type_extent(t, 1 - l->depth_axis) * (l->differs ? x->p.plan.groups : 1)
		* (l->second ? x->p.reps : 1);
	int64_t depth = type_extent(t, l->depth_axis);
	return l->along_depth ? matrix(TY_SHARED, t->elem, other, depth, 0) : matrix(TY_SHARED, t->elem, depth, other, 0);
}

/* Can the copy engine store it? A tile of all rows and columns of a group, to memory contiguous along either. */
bool pipe_is_boxed(const Write *x, const Op *op)
{
	const Val *v = ir_in(op, op->nin - 1), *view = ir_in(op, 0);
	const Type *t = v->type;
	if (t->rank != 2 || elem_bytes(t->elem) != 2 || view->type->rank != 2) return false;
	if (!unit_axis(x->part.fn, view, 0) && !unit_axis(x->part.fn, view, 1)) return false;
	if (t->log2[0] != PIPE_ROWS_LOG2 || t->log2[1] < 4 || !lay_eq(*v->lay, pipe_sum_layout(t))) return false;
	while (view->def && view->def->code == OP_PERMUTE) view = ir_in(view->def, 0);
	for (int a = 0; a < 2; a++)
		if (ir_in(op, 1 + a)->type->elem != EL_I32) return false;
	return !view->def;
}

static bool is_stored_transposed(const Write *x, const Op *op) { return !unit_axis(x->part.fn, ir_in(op, 0), 1); }

int64_t pipe_box_cols(const Type *tile)
{
	int64_t cols = type_extent(tile, 1);
	return cols < BOX_COLS ? cols : BOX_COLS;
}

const Type *pipe_box_of(const Write *x, const Op *store)
{
	const Type *tile = ir_in(store, store->nin - 1)->type;
	int64_t rows = INT64_C(1) << PIPE_ROWS_LOG2, cols = pipe_box_cols(tile);
	bool transposed = is_stored_transposed(x, store);
	return transposed ? matrix(TY_SHARED, tile->elem, cols, rows, 0) : matrix(TY_SHARED, tile->elem, rows, cols, 0);
}

/* The stores by the copy engine share a ring of boxes, of the first one's type: others go by registers. */
void pipe_map_stores(Write *x)
{
	int n = 0;
	for (const Op *op = x->part.fn->body->first; op; op = op->next) {
		if (op->code != OP_STORE || n == PIPE_LOADS || !pipe_is_boxed(x, op)) continue;
		const Type *box = pipe_box_of(x, op), *tile = ir_in(op, op->nin - 1)->type;
		bool transposed = is_stored_transposed(x, op);
		if (n && box != x->out[0].type) continue;
		x->turns += (int)(type_extent(tile, 1) / pipe_box_cols(tile));
		x->out[n++] = (Moved){ map_of(x, mapped_view(x, op, transposed), box), NULL, box, box, transposed };
	}
}

bool pipe_map_loads(Write *x)
{
	bool fits = true;
	for (int i = 0; i < x->p.loads; i++) {
		const PipeLoad *l = &x->p.load[i];
		Moved *m = &x->in[i];
		m->type = m->part = buffer_of(x, l);
		if (l->shared)
			m->part = matrix(TY_SHARED, m->type->elem, type_extent(m->type, 0) / x->p.plan.cluster,
				type_extent(m->type, 1), 0);
		m->transposed = (l->along_depth ? 1 : 0) != l->depth_axis;
		m->map = map_of(x, mapped_view(x, l->op, m->transposed), m->part);
		x->stage_bytes += type_bytes(m->type);
		fits &= type_bytes(m->type) % SWIZZLE_ALIGN == 0;
	}
	return fits;
}

/* How many buffers a ring has beside nbox boxes. */
static int64_t stages_beside(const Write *x, int64_t room, int nbox)
{
	int64_t boxes = x->out[0].map ? type_bytes(x->out[0].type) * nbox * x->p.plan.groups : 0;
	int64_t n = (room - boxes) / (x->stage_bytes + 2 * MBAR_BYTES);
	return n < STAGES_MOST ? n : STAGES_MOST;
}

/* As many parts of a tile have boxes of their own as leave room for a ring of stages; 0: a box serves all. Tiles take
 * each equally often, so that it holds from one to the next which is free. */
static int parts_boxed(const Write *x, int64_t room)
{
	for (int n = x->parts; n > 0; n--)
		if (x->parts % n == 0 && stages_beside(x, room, n * x->turns) >= COST_STAGES_WANTED) return n;
	return 0;
}

bool pipe_give_memory(Write *x, int64_t room)
{
	x->iteration = parts_boxed(x, room);
	x->nbox = x->iteration ? x->iteration * x->turns : 1;
	x->stages = (int)stages_beside(x, room, x->nbox);
	if (x->stages < STAGES_LEAST) return false;
	for (int i = 0; i < x->p.loads; i++) x->in[i].ring = ring_of(x, x->in[i].type, x->stages);
	if (x->out[0].map) x->boxes = named(ring_of(x, x->out[0].type, x->nbox * x->p.plan.groups), "boxes");
	x->full = mbars(x, 1, "full");
	x->empty = mbars(x, x->p.plan.groups * x->p.plan.cluster, "empty");
	add(x, OP_MBAR_INIT, 2, (Val *[]){ x->full, x->empty });
	return true;
}
