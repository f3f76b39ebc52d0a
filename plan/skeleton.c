/* The skeleton of a kernel: one walk over its TYPED form. */
#include "base/cost.h"
#include "ir/strides.h"
#include "plan/plan.h"

enum { CONSTANT_GRID = 4 };

typedef struct Walk {
	const Fn *fn;
	Skeleton k;
	int room;
	uint8_t *grid;          /* by Val id: axes of the grid on which it depends */
	bool *read;             /* by Val id: a scalar that depends on what was read */
	int *node;              /* by Val id: the node whose result it is, or names; -1: none */
	int now, depth;         /* the stretch; loops around */
} Walk;

static bool is_tile(const Val *v) { return type_is_tile(v->type) && type_log2_size(v->type) > 0; }

static Node *add_node(Walk *w, NodeKind kind, const Type *t)
{
	if (w->k.n == w->room) {
		int room = w->room ? 2 * w->room : 64;
		Node *more = NEW_ARRAY(A_TMP, Node, room);
		for (int i = 0; i < w->k.n; i++) more[i] = w->k.node[i];
		w->k.node = more;
		w->room = room;
	}
	Node *n = &w->k.node[w->k.n++];
	*n = (Node){ .kind = (uint8_t)kind, .bytes = (uint8_t)elem_bytes(t->elem), .depth = (uint8_t)w->depth, .along = -1,
		.begin = (uint16_t)w->now, .end = (uint16_t)w->now };
	n->log2 = n->out = (uint8_t)type_log2_size(t);
	return n;
}

/* Which axis of the grid moves the access by its own extent along the axis on which memory is contiguous. */
static void note_run(Walk *w, Node *n, const Op *op, const Type *t)
{
	const Val *view = ir_in(op, 0);
	int fast = t->rank == view->type->rank ? fast_axis(w->fn, view) : -1;
	if (fast < 0 || !unit_axis(w->fn, view, fast)) return;
	n->run = (uint8_t)t->log2[fast];
	uint8_t bits = w->grid[ir_in(op, 1 + fast)->id];
	for (int g = 0; g < CONSTANT_GRID; g++)
		if (bits == 1u << g) n->along = (int8_t)g;
}

static bool seeks(const Walk *w, const Op *op)
{
	for (int i = 1; i < op->nin; i++)
		if (w->read[ir_in(op, i)->id]) return true;
	return false;
}

static void add_access(Walk *w, const Op *op)
{
	const Val *v = ir_accessed(op);
	if (!v || !is_tile(v)) return;
	Node *n = add_node(w, op->code == OP_LOAD ? NODE_LOAD : NODE_STORE, v->type);
	note_run(w, n, op, v->type);
	n->seeks = seeks(w, op);
	n->value = op->code == OP_LOAD;
	if (op->code == OP_LOAD && n->bytes > w->k.widest) w->k.widest = n->bytes;
}

static bool is_name(OpCode c) { return c == OP_RESHAPE || c == OP_PERMUTE || c == OP_OPAQUE; }
static bool is_made(const Op *op)
{
	return op_is_made(op) || (op->code == OP_LITERAL && !op->nin);
}


static void add_math(Node *n, const Op *op)
{
	bool divides = op->code == OP_DIV;
	if (!op_has(op, OPF_MATH) && !divides) return;
	n->mufu = 1;
	n->issue = ir_int(op, AT_ROUNDING, 0) ? COST_RELAXED_SLOTS : COST_MATH_SLOTS;
}

static void add_vector(Walk *w, const Op *op)
{
	Node *n = add_node(w, NODE_VECTOR, op->out[0]->type);
	n->issue = op->code == OP_CAST ? COST_CAST_SLOTS : 1;
	if (n->bytes == 8) n->issue *= COST_WIDE_SLOTS;
	n->value = true;
	add_math(n, op);
	w->k.math |= op_has(op, OPF_MATH);
}

static bool is_reduce(const Op *op) { return op_has(op, OPF_REDUCE); }
static bool is_scan(const Op *op) { return op_has(op, OPF_SCAN); }

static void add_combine(Walk *w, const Op *op)
{
	const Type *in = ir_in(op, 0)->type;
	if (!type_is_tile(in) || !type_log2_size(in)) return;
	Node *n = add_node(w, is_scan(op) ? NODE_SCAN : NODE_REDUCE, in);
	n->out = (uint8_t)(type_is_tile(op->out[0]->type) ? type_log2_size(op->out[0]->type) : 0);
	n->issue = 1;
	n->value = is_scan(op);
	w->k.scans |= is_scan(op);
	w->k.reduces |= is_reduce(op);
	n->begin = n->end = (uint16_t)++w->now;
}

static void add_move(Walk *w, const Op *op, NodeKind kind)
{
	Node *n = add_node(w, kind, op->out[0]->type);
	n->issue = COST_MOVE_SLOTS;
	n->value = true;
	n->seeks = kind == NODE_GATHER;
	w->k.moves |= kind == NODE_MOVE;
	w->k.products |= kind == NODE_PRODUCT;
	if (kind == NODE_MOVE) n->begin = n->end = (uint16_t)++w->now;
}

static void add_op(Walk *w, const Op *op)
{
	bool tile = op->nout && is_tile(op->out[0]);
	if (op->code == OP_LOAD || op->code == OP_STORE) add_access(w, op);
	else if (is_reduce(op) || is_scan(op)) add_combine(w, op);
	else if (op->code == OP_PERMUTE && tile) add_move(w, op, NODE_MOVE);
	else if (!tile || is_name(op->code) || is_made(op)) return;
	else if (op->code == OP_MMA) add_move(w, op, NODE_PRODUCT);
	else if (op_has(op, OPF_READ)) add_move(w, op, NODE_GATHER);
	else if (op_has(op, OPF_ELEMWISE)) add_vector(w, op);
	else if (!op->nregion) add_move(w, op, NODE_MOVE);
}

/* A use in a loop of what was made before lasts as long as the loop: `now` is its end then. */
static void use(Walk *w, const Val *v)
{
	int i = w->node[v->id];
	if (i >= 0 && w->k.node[i].end < w->now) w->k.node[i].end = (uint16_t)w->now;
}

static void walk(Walk *w, const IrBlock *b);

static void walk_region(Walk *w, const Op *op, uint8_t bits, bool read)
{
	bool loop = op_has(op, OPF_LOOP);
	w->k.straight = false;
	w->depth += loop;
	for (int r = 0; r < op->nregion; r++) {
		for (int i = 0; i < op->region[r]->args.n; i++) {
			const Val *v = op->region[r]->args.p[i];
			w->grid[v->id] = bits;
			w->read[v->id] = read && !type_is_tile(v->type);
		}
		walk(w, op->region[r]);
	}
	w->depth -= loop;
	for (int i = 0; i < op->nin && loop; i++) use(w, ir_in(op, i));
}

static void walk(Walk *w, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		uint8_t bits = op->code == OP_BID ? (uint8_t)(1u << ir_axis(op)) : 0;
		bool read = op_has(op, OPF_READ);
		int before = w->k.n;
		for (int i = 0; i < op->nin; i++) {
			const Val *v = ir_in(op, i);
			bits |= w->grid[v->id];
			read |= w->read[v->id];
			use(w, v);
		}
		if (op->nregion && !is_reduce(op) && !is_scan(op)) walk_region(w, op, bits, read);
		else add_op(w, op);
		bool names = op->nout && (is_name(op->code) || op->code == OP_BROADCAST) && op->nin && w->k.n == before;
		for (int i = 0; i < op->nout; i++) {
			const Val *v = op->out[i];
			w->grid[v->id] = bits;
			w->read[v->id] = read && type_is_scalar(v->type);
			w->node[v->id] = names ? w->node[ir_in(op, 0)->id] : w->k.n > before && !op->nregion ? before : -1;
		}
		for (int i = before; i < w->k.n && !op->nregion; i++) w->k.node[i].grid = bits;
		if (op->nout && is_tile(op->out[0]) && op->code != OP_CONST && type_log2_size(op->out[0]->type) > w->k.log2)
			w->k.log2 = type_log2_size(op->out[0]->type);
	}
}

Skeleton skeleton_of(Fn *fn)
{
	ir_number(fn);
	Walk w = { .fn = fn, .k = { .ngrid = fn->ngrid, .straight = true } };
	w.grid = NEW_ARRAY(A_TMP, uint8_t, fn->nval + 1);
	w.read = NEW_ARRAY(A_TMP, bool, fn->nval + 1);
	w.node = NEW_ARRAY(A_TMP, int, fn->nval + 1);
	for (int i = 0; i < fn->nval; i++) w.node[i] = -1;
	walk(&w, fn->body);
	w.k.stretches = w.now + 1;
	return w.k;
}
