/* What follows a loop of products, in the layout of its sums and by parts of their columns; stores by the copy
 * engine. */
#include "base/cost.h"
#include "lower/pipeline_write.h"

/* ---- stores ---- */
/* One thread waits until the copies but the last `pending` have left their boxes, then all
 * threads of the group go on. */
static void wait_for_box(Write *x, int pending)
{
	Builder back;
	region_op(x, OP_ELECT, &back);
	ir_set_int(add(x, OP_BULK_WAIT, 0, NULL), AT_PENDING, pending);
	leave(x, back, 0, NULL);
	add(x, OP_GROUP_BARRIER, 0, NULL);
}

/* Are all boxes waited for at once, before the parts that take them? Where a tile takes each once, they are free long
 * before; where there are many, those of an iteration are. */
static bool waits_by_iterations(const Write *x) { return x->iteration == x->parts || x->iteration > 2; }

static Val *box_part(Write *x, Val *tile, int q)
{
	int64_t cols = pipe_box_cols(tile->type);
	if (type_extent(tile->type, 1) == cols) return tile;
	Val *v = make(x, OP_CUT, matrix(TY_TILE, tile->type->elem, type_extent(tile->type, 0), cols, 0), 1, &tile);
	ir_set_ints(v->def, AT_OFFSETS, 2, (const int64_t[]){ 0, q * cols });
	ir_set_layout(v, pipe_sum_layout(v->type));
	return v;
}

/* turn: which of the part's boxes is next; it is free again when the copies of all but the others have left. */
static void store_by_boxes(Write *x, const Op *op, const Moved *m, Val *group, int *turn)
{
	Val *tile = pipe_value(x, ir_in(op, op->nin - 1)), *first = times(x, group, x->nbox);
	Val *row = pipe_coordinate(x, op, 0), *col = pipe_coordinate(x, op, 1);
	Builder back;
	x->b.span = op->span;
	if (x->box) first = sum_of(x, first, x->box);
	int64_t cols = pipe_box_cols(tile->type);
	for (int q = 0; q < type_extent(tile->type, 1) / cols; q++, ++*turn) {
		if (!waits_by_iterations(x)) wait_for_box(x, x->nbox - 1);
		int which = *turn % x->nbox;
		Val *box = make(x, OP_SLOT, m->type, 2, (Val *[]){ x->boxes,
			which ? sum_of(x, first, number(x, which)) : first });
		ir_set_int(add(x, OP_STMATRIX, 2, (Val *[]){ box, box_part(x, tile, q) }), AT_TRANS, m->transposed);
		add(x, OP_PROXY_FENCE, 0, NULL);
		add(x, OP_GROUP_BARRIER, 0, NULL);
		Val *at = q ? sum_of(x, col, number(x, q * cols)) : col;
		region_op(x, OP_ELECT, &back);
		add(x, OP_TMA_STORE, 4, (Val *[]){ m->map, box, m->transposed ? at : row, m->transposed ? row : at });
		add(x, OP_BULK_COMMIT, 0, NULL);
		leave(x, back, 0, NULL);
	}
}

/* ---- by parts ---- */
/* Of the kernel by parts: what stores need, by Val id, what of it differs between parts, and what loads that are asked
 * for ahead need. */
typedef struct Tail { bool *needed, *differs, *asked; } Tail;

static bool any_operand(const Op *op, const bool *of)
{
	bool any = false;
	for (int i = 0; i < op->nin; i++) any |= of[ir_in(op, i)->id];
	return any;
}

static void mark_results(const Op *op, bool *of, bool is)
{
	for (int i = 0; i < op->nout; i++) of[op->out[i]->id] = is;
}

/* Loads that need nothing of the sums, as many as a few registers hold. */
static void choose_asked(const Write *x, Tail *t)
{
	const Fn *fn = x->part.fn;
	bool *late = NEW_ARRAY(A_TMP, bool, fn->nval);
	int words = 0;
	for (const Op *op = fn->body->first; op; op = op->next) {
		bool scalar = op->code == OP_BID || op->nout == 0 || !type_is_tile(op->out[0]->type);
		bool load = op->code == OP_LOAD && type_is_tile(op->out[0]->type) && t->needed[op->out[0]->id];
		mark_results(op, late, op == x->part.loop || any_operand(op, late) || !scalar);
		if (!load || any_operand(op, late)) continue;
		int more = regs_of(op->out[0]) * elem_bytes(op->out[0]->type->elem) / 4;
		if (words + more > COST_ASKED_AHEAD) continue;
		words += more;
		t->asked[op->out[0]->id] = true;
	}
	for (const Op *op = fn->body->last; op; op = op->prev)
		if (op != x->part.loop && pipe_gives_needed(t->asked, op)) pipe_need_operands(t->asked, op);
}

static Tail look_at_tail(const Write *x)
{
	const Fn *fn = x->part.fn;
	Tail t = { NEW_ARRAY(A_TMP, bool, fn->nval), NEW_ARRAY(A_TMP, bool, fn->nval), NEW_ARRAY(A_TMP, bool, fn->nval) };
	for (const Op *op = fn->body->last; op; op = op->prev) {
		bool needed = op->code == OP_STORE || pipe_gives_needed(t.needed, op);
		if (needed && op != x->part.loop) pipe_need_operands(t.needed, op);
	}
	for (const Op *op = fn->body->first; op; op = op->next) {
		bool differs = op == x->part.loop || (op->code == OP_BID && ir_axis(op) == x->part.col_axis);
		mark_results(op, t.differs, differs || any_operand(op, t.differs));
	}
	choose_asked(x, &t);
	return t;
}

static bool is_asked(const Tail *t, const Op *op)
{
	return op->code == OP_LOAD && type_is_tile(op->out[0]->type) && t->asked[op->out[0]->id];
}

/* Asks for what the part whose columns these are loads; all: for what is the same for all parts, too. Returns how many
 * loads differ between parts. */
static int ask(Write *x, const Tail *t, Val *col, bool all, Val *loaded[PIPE_LOADS])
{
	int n = 0;
	pipe_name_block(x, x->part.fn, x->row, col);
	for (const Op *op = x->part.fn->body->first; op; op = op->next) {
		if (!op->nout || op->code == OP_BID || op == x->part.loop || !t->asked[op->out[0]->id]) continue;
		bool differs = t->differs[op->out[0]->id];
		if (differs ? n == PIPE_LOADS : !all || pipe_is_named(x, op)) continue;
		pipe_copy_op(x, op, x->names->own);
		if (differs && is_asked(t, op)) loaded[n++] = pipe_value(x, op->out[0]);
	}
	return n;
}

static void write_store(Write *x, const Op *op, Val *group, int *turn, int *stored)
{
	bool boxed = x->out[0].map && *stored < PIPE_LOADS && x->out[*stored].map && pipe_is_boxed(x, op)
		&& pipe_box_of(x, op) == x->out[0].type;
	if (boxed) store_by_boxes(x, op, &x->out[(*stored)++], group, turn);
	else pipe_copy_op(x, op, x->names->own);
}

/* The sums' columns of a part. */
static Val *sums_of_part(Write *x, Val *sum, const Val *like, Val *which)
{
	if (!which) return sum;
	Val *cut = make(x, OP_CUT, like->type, 2, (Val *[]){ sum, which });
	ir_set_ints(cut->def, AT_OFFSETS, 2, (const int64_t[]){ 0, type_extent(like->type, 1) });
	cut->lay = like->lay;
	return cut;
}

static void name_sums(Write *x, Val *const *sum, Val *which)
{
	for (int i = 0; i < x->p.products; i++) {
		Val *r = x->part.loop->out[i];
		x->names->own[r->id] = sums_of_part(x, sum[i], r, which);
	}
}

/* What follows the loop and is the same for all parts. */
static void write_before_parts(Write *x, const Tail *t)
{
	pipe_name_block(x, x->part.fn, x->row, NULL);
	for (const Op *op = x->part.fn->body->first; op; op = op->next) {
		bool skipped = op == x->part.loop || op->code == OP_BID || op->code == OP_STORE || pipe_is_named(x, op);
		if (skipped || !pipe_gives_needed(t->needed, op) || t->differs[op->out[0]->id]) continue;
		pipe_copy_op(x, op, x->names->own);
	}
}

/* The columns of a part, as blocks of the kernel by parts. */
static Val *part_col(Write *x, Val *which)
{
	return which ? sum_of(x, times(x, x->col, x->parts / x->p.reps), which) : x->col;
}

/* which: the number of the part; NULL: there is one. loaded: what was asked for ahead; for the next part it is then. */
static void write_part(Write *x, const Tail *t, Val *const *sum, Val *group, Val *which, Val *loaded[PIPE_LOADS])
{
	int stored = 0, turn = 0, taken = 0;
	Val *col = part_col(x, which), *next[PIPE_LOADS];
	if (which && x->asked) ask(x, t, sum_of(x, col, number(x, 1)), false, next);
	pipe_name_block(x, x->part.fn, x->row, col);
	name_sums(x, sum, which);
	for (const Op *op = x->part.fn->body->first; op; op = op->next) {
		if (op == x->part.loop || op->code == OP_BID) continue;
		bool differs = op->nout && t->differs[op->out[0]->id];
		if (op->code == OP_STORE) write_store(x, op, group, &turn, &stored);
		else if (differs && is_asked(t, op) && taken < x->asked) x->names->own[op->out[0]->id] = loaded[taken++];
		else if (differs && pipe_gives_needed(t->needed, op)) pipe_copy_op(x, op, x->names->own);
	}
	for (int i = 0; which && i < x->asked; i++) loaded[i] = next[i];
}

/* The loop's number; what it carries is replaced by its own. */
static Op *begin_unrolled(Write *x, int n, const char *name, int ncarried, Val **carried, Builder *back)
{
	Val *in[3 + PIPE_LOADS] = { number(x, 0), number(x, n), number(x, 1) };
	const Type *out[PIPE_LOADS];
	for (int i = 0; i < ncarried; i++) in[3 + i] = carried[i], out[i] = carried[i]->type;
	Op *loop = ir_op(&x->b, OP_FOR, 3 + ncarried, in, ncarried, out);
	ir_set_int(loop, AT_UNROLL, n);
	*back = enter(x, loop);
	ir_arg(x->b.block, i32(), str_intern(name));
	for (int i = 0; i < ncarried; i++) {
		Val *own = ir_arg(x->b.block, out[i], NULL);
		own->lay = loop->out[i]->lay = carried[i]->lay;
		carried[i] = own;
	}
	return loop;
}

/* Parts are an unrolled loop; where they use boxes round robin, one iteration has as many parts as there are boxes. */
static void write_parts(Write *x, const Tail *t, Val *const *sum, Val *group)
{
	Builder back, iterations;
	bool boxed = x->out[0].map, turns = boxed && x->iteration > 1 && x->iteration < x->parts;
	Val *iteration = NULL, *loaded[PIPE_LOADS];
	for (int i = 0; i < x->asked; i++) loaded[i] = x->ahead[i];
	x->box = NULL;
	if (turns) {
		Op *outer = begin_unrolled(x, x->parts / x->iteration, "round", x->asked, loaded, &iterations);
		iteration = outer->region[0]->args.p[0];
	}
	if (boxed && waits_by_iterations(x)) wait_for_box(x, 0);
	if (x->parts == 1) {
		write_part(x, t, sum, group, NULL, loaded);
		return;
	}
	Op *inner = begin_unrolled(x, turns ? x->iteration : x->parts, "part", x->asked, loaded, &back);
	Val *part = inner->region[0]->args.p[0];
	if (boxed && x->iteration > 1) x->box = times(x, part, x->turns);
	if (turns) part = sum_of(x, times(x, iteration, x->iteration), part);
	write_part(x, t, sum, group, part, loaded);
	leave(x, back, x->asked, loaded);
	if (turns) leave(x, iterations, x->asked, inner->out);
}

/* Before the loop: asks for what the first part loads. */
void pipe_begin_tail(Write *x)
{
	Tail t = look_at_tail(x);
	x->names = &x->by_part;
	x->asked = ask(x, &t, times(x, x->col, x->parts / x->p.reps), true, x->ahead);
	x->names = &x->whole;
}

void pipe_write_tail(Write *x, Val *const *sum, Val *group)
{
	Tail t = look_at_tail(x);
	x->names = &x->by_part;
	write_before_parts(x, &t);
	write_parts(x, &t, sum, group);
	x->names = &x->whole;
}
