/* longrows: a second kernel for rows that are longer than thread blocks hold well.
 * It splits each row into parts and visits each part twice.
 *
 * The tile block of the author's kernel works on a whole row as one tile. However a thread block or a cluster does
 * that, few rows are in flight at once, and all of them load, synchronise, compute and store in step; a row that
 * registers do not hold is read twice from memory. The tile blocks of the second kernel work on parts of rows and
 * alternate between two jobs. The first reduces a part and publishes its partial results in workspace. The second, for
 * a part that is AHEAD parts older, loads the part once more while the L2 cache still holds it, and stores the results.
 * The first block of a row also combines the partial results of the row before and publishes the totals. A block waits
 * only for blocks that started before it (@ordered), and AHEAD is more than a row has parts.
 *
 *   b < ahead, then every other b:                                      the blocks between:
 *     part t: its partial results                  -> partials[row, t]    part t: load it, wait for totals[row], store
 *     results first of a row: wait for partials[row - 1, ..] -> totals[row - 1]
 *
 * Two 32-bit numbers make one word. Words are stored inverted, so that the 0 to which the launcher clears them means
 * "not yet"; the only numbers that invert to 0 are two NaNs with all bits set, which are stored as other NaNs.
 *
 * The function f_ws takes this kernel where rows are long enough; f, which has no workspace, and other kernels are
 * unchanged. stdlib/long_rows.tile is the same algorithm written by hand;
 * bench/notes/rows.md records what was measured. */
#include "lower/longrows.h"

#include <math.h>

#include "base/diag.h"
#include "ir/fold.h"
#include "lower/placed.h"
#include "lower/steps.h"

/* One of the places where operations of the kernel are repeated. */
typedef struct Spot {
	Builder b;
	Val **map;              /* by Val id of the kernel; NULL: not here */
	Val *row, *part;        /* i32; part NULL: values of the whole row only */
	Val *first;             /* element of the part */
} Spot;

typedef struct Writer {
	PartsPlan p;
	Fn *to;
	const Sym *parts, *rows;        /* of a row; all */
	int64_t most;           /* of the parts of a row */
	int part_log2;          /* of the elements of a part */
	int words, given;       /* of 64 bits: of a part; of a row */
	Val *partials;          /* the view of the workspace: partial results and totals */
	Val *count;             /* i32: parts */
	Val *givens[PART_GIVEN];        /* of the kernel: what results need of the whole row */
	int ngiven;
	/* every block of results combines the partial results of its row; else the first block of the next row does */
	bool each;
} Writer;

/* ---- small things ---- */
static const Type *i32(void) { return type_scalar(EL_I32); }
static Val *num_i32(Builder *b, int64_t v) { return ir_const_int(b, i32(), v); }
static const Type *like(const Type *t, Elem e) { return type_is_tile(t) ? type_with_elem(t, e) : type_scalar(e); }
static Val *op2(Builder *b, OpCode code, Val *x, Val *y) { return ir_binary(b, code, x->type, x, y); }
static Val *compare(Builder *b, OpCode code, Val *x, Val *y)
{
	return ir_binary(b, code, like(x->type, EL_BOOL), x, y);
}
static Val *number(Builder *b, const Type *t, double v) { return ir_const_num(b, t, num_float(v)); }
static Val *integer(Builder *b, const Type *t, int64_t v) { return ir_const_num(b, t, num_int(v)); }
static Val *spread(Builder *b, const Type *t, Val *x) { return x->type == t ? x : ir_unary(b, OP_BROADCAST, t, x); }
static Val *cast(Builder *b, Val *x, Elem e)
{
	return x->type->elem == e ? x : ir_unary(b, OP_CAST, like(x->type, e), x);
}
static Val *bits(Builder *b, Val *x, Elem e)
{
	return x->type->elem == e ? x : ir_unary(b, OP_BITCAST, like(x->type, e), x);
}
static Val *choose(Builder *b, Val *c, Val *x, Val *y)
{
	return ir_op1(b, OP_SELECT, x->type, 3, (Val *[]){ c, x, y });
}

static const Type *line(Elem e, int64_t n)
{
	uint8_t log2 = (uint8_t)log2_of(n);
	return type_tile(e, 1, &log2);
}

static Val *scalar_of(Builder *b, Val *x)
{
	return type_is_tile(x->type) ? ir_unary(b, OP_TO_SCALAR, type_scalar(x->type->elem), x) : x;
}

static void yield(Builder *b, int n, Val *const *v) { ir_op(b, OP_YIELD, n, v, 0, NULL); }

typedef struct Branch { Op *op; Builder then, other; } Branch;

static Branch branch(Builder *b, Val *c)
{
	Branch r = { .op = ir_op(b, OP_IF, 1, &c, 0, NULL) };
	IrBlock *then = ir_region(r.op), *other = ir_region(r.op);
	r.then = (Builder){ b->fn, then, NULL, b->span };
	r.other = (Builder){ b->fn, other, NULL, b->span };
	return r;
}

/* ---- the kernel's operations, repeated for a part ---- */
static const Type *part_type(const Writer *w, const Type *t)
{
	uint8_t log2[TILE_RANK];
	int a = type_only_axis(t);
	for (int i = 0; i < t->rank; i++) log2[i] = (uint8_t)(i == a ? w->part_log2 : t->log2[i]);
	return type_with_shape(t, t->rank, log2);
}

static bool is_long(const Writer *w, const Val *v) { return w->p.side[v->id] == SIDE_LONG; }

static const Type *type_here(const Writer *w, const Val *v) { return is_long(w, v) ? part_type(w, v->type) : v->type; }

static Val *here(const Spot *at, const Val *v)
{
	Val *r = at->map[v->id];
	if (!r) bug("a value is missing in a part");
	return r;
}

/* Which operations are needed for v, where what the map has is known. */
static void need(const Spot *at, bool *needed, const Val *v)
{
	if (at->map[v->id] || needed[v->id]) return;
	needed[v->id] = true;
	for (int i = 0; v->def && i < v->def->nin; i++) need(at, needed, ir_in(v->def, i));
}

static Op *repeat(const Writer *w, Spot *at, const Op *op)
{
	Val *in[16];
	const Type *t = op->nout ? type_here(w, op->out[0]) : NULL;
	if (op->nin > 16) bug("an operation of a part has %d operands", op->nin);
	for (int i = 0; i < op->nin; i++) in[i] = here(at, ir_in(op, i));
	at->b.span = op->span;
	Op *r = ir_op(&at->b, op->code, op->nin, in, op->nout, &t);
	copy_attrs(r, op);
	if (op->nout) {
		r->out[0]->name = op->out[0]->name;
		at->map[op->out[0]->id] = r->out[0];
	}
	return r;
}

/* A tile of a row: that of a part begins part * 2^part_log2 elements on. */
static Op *repeat_access(const Writer *w, Spot *at, const Op *op)
{
	int a = type_only_axis(ir_accessed(op)->type), rank = ir_in(op, 0)->type->rank;
	Op *r = repeat(w, at, op);
	const IrAttr *old = ir_attr(op, AT_STEPS);
	int64_t steps[TENSOR_RANK], inside[TENSOR_RANK] = { 0 };
	for (int i = 0; i < rank; i++) steps[i] = i == a ? (int64_t)1 << w->part_log2 : old->u.ints.p[i];
	ir_set_ints(r, AT_STEPS, rank, steps);
	if (ir_attr(op, AT_INSIDE)) ir_set_ints(r, AT_INSIDE, rank, inside);
	Builder before = build_before(r);
	r->in[1 + a] = cast(&before, at->part, ir_in(op, 1 + a)->type->elem);
	return r;
}

static void repeat_numbers(const Writer *w, Spot *at, const Op *op)
{
	Op *r = repeat(w, at, op);
	Builder *b = &at->b;
	Elem e = r->out[0]->type->elem;
	at->map[op->out[0]->id] = op2(b, OP_ADD, r->out[0], spread(b, r->out[0]->type, cast(b, at->first, e)));
}

/* The index of the kernel's tile block along an axis of its grid. */
static void repeat_bid(const Writer *w, Spot *at, const Op *op)
{
	const Fn *fn = w->p.fn;
	int axis = ir_axis(op);
	Val *r = at->row;
	for (int i = fn->ngrid - 1; i > axis; i--) r = op2(&at->b, OP_DIV, r, ir_launch(&at->b, EL_I32, fn->grid[i]));
	if (axis) r = op2(&at->b, OP_REM, r, ir_launch(&at->b, EL_I32, fn->grid[axis]));
	at->map[op->out[0]->id] = cast(&at->b, r, op->out[0]->type->elem);
}

static void repeat_op(const Writer *w, Spot *at, const Op *op)
{
	if (op->code == OP_BID) repeat_bid(w, at, op);
	else if (op->code == OP_IOTA && is_long(w, op->out[0])) repeat_numbers(w, at, op);
	else if ((op->code == OP_LOAD || op->code == OP_STORE) && is_long(w, ir_accessed(op))) repeat_access(w, at, op);
	else forget_inside(repeat(w, at, op));
}

static void do_needed(const Writer *w, Spot *at, const bool *needed)
{
	for (int i = 0; i < w->p.ops.n; i++) {
		const Op *op = w->p.ops.p[i];
		if (op->nout == 1 && needed[op->out[0]->id] && !at->map[op->out[0]->id]) repeat_op(w, at, op);
	}
}

static Spot place(const Writer *w, Builder b, Val *row, Val *part)
{
	Spot r = { .b = b, .map = NEW_ARRAY(A_TMP, Val *, w->p.fn->nval), .row = row, .part = part };
	for (int i = 0; i < w->p.fn->body->args.n; i++) r.map[w->p.fn->body->args.p[i]->id] = w->to->body->args.p[i];
	if (part) r.first = op2(&r.b, OP_MUL, part, num_i32(&r.b, (int64_t)1 << w->part_log2));
	return r;
}

/* ---- words ---- */
/* Two 32-bit numbers as one inverted word. */
static Val *word_of(Builder *b, Val *x, Val *y)
{
	const Type *u64 = type_scalar(EL_U64);
	Val *low = cast(b, bits(b, y, EL_U32), EL_U64);
	Val *by = integer(b, u64, 32), *high = op2(b, OP_SHL, cast(b, bits(b, x, EL_U32), EL_U64), by);
	Val *ones = integer(b, u64, -1), *r = op2(b, OP_XOR, op2(b, OP_OR, high, low), ones);
	Val *one = integer(b, u64, 1);
	return choose(b, compare(b, OP_EQ, r, integer(b, u64, 0)), one, r);
}

/* One of the numbers in words that were loaded. */
static Val *number_of(Builder *b, Val *word, int which, Elem e)
{
	Val *r = op2(b, OP_XOR, word, integer(b, word->type, -1));
	r = which ? op2(b, OP_AND, r, integer(b, word->type, 0xffffffff)) : op2(b, OP_SHR, r, integer(b, word->type, 32));
	return bits(b, cast(b, r, EL_U32), e);
}

static void publish(const Writer *w, Builder *b, Val *row, Val *first, Val *step, int n, Val *const *v, bool release)
{
	for (int i = 0; 2 * i < n; i++) {
		Val *at = i ? op2(b, OP_ADD, first, step ? op2(b, OP_MUL, step, num_i32(b, i)) : num_i32(b, i)) : first;
		Val *in[4] = { w->partials, row, at, word_of(b, v[2 * i],
			2 * i + 1 < n ? v[2 * i + 1] : integer(b, type_scalar(EL_U32), 0)) };
		Op *op = ir_op(b, OP_ATOMIC_STORE, 4, in, 0, NULL);
		ir_set_int(op, AT_APART, true);
		if (release) ir_set_int(op, AT_ORDER, attr_word(AT_ORDER, str_intern("release")));
	}
}

static Val *look(const Writer *w, Builder *b, const Type *t, Val *row, Val *at, Val *mask)
{
	Val *in[5] = { w->partials, row, at, integer(b, type_scalar(EL_U64), 1), mask };
	Val *r = ir_op1(b, OP_ATOMIC_LOAD, t, mask ? 5 : 4, in);
	ir_set_int(r->def, AT_APART, true);
	return r;
}

/* The words at these indices, once all are published. What is stored afterwards depends on them, so
 * no further ordering is needed. */
static Val *wait_for(const Writer *w, Builder *b, const Type *t, Val *row, Val *at, Val *mask)
{
	Val *first = look(w, b, t, row, at, mask);
	Op *loop = ir_op(b, OP_WHILE, 1, &first, 1, &t);
	IrBlock *before = ir_region(loop), *body = ir_region(loop);
	Builder in = { b->fn, before, NULL, b->span };
	Val *v = ir_arg(before, t, NULL), *missing = compare(&in, OP_EQ, v, integer(&in, t, 0));
	if (type_is_tile(t)) {
		uint8_t one = 0;
		missing = ir_unary(&in, OP_REDUCE_OR, type_tile(EL_BOOL, 1, &one), missing);
		ir_set_int(missing->def, AT_AXIS, 0);
		missing = scalar_of(&in, missing);
	}
	ir_op(&in, OP_CONDITION, 2, (Val *[]){ missing, v }, 0, NULL);
	in = (Builder){ b->fn, body, NULL, b->span };
	ir_arg(body, t, NULL);
	Val *next = look(w, &in, t, row, at, mask);
	yield(&in, 1, &next);
	return loop->out[0];
}

/* ---- partial results of a part ---- */
static Val *reduced(Spot *at, const Op *as, Val *x)
{
	Val *r = ir_unary(&at->b, as->code, as->out[0]->type, x);
	copy_attrs(r->def, as);
	return r;
}

/* How many elements of a part count, as f32. */
static Val *counted(const Writer *w, Builder *b, const PartSum *s, Val *part)
{
	int64_t all = (int64_t)1 << w->part_log2;
	if (!s->mask) return number(b, like(part->type, EL_F32), (double)all);
	Val *end = spread(b, part->type, ir_launch(b, EL_I32, w->p.extent));
	Val *n = op2(b, OP_SUB, end, op2(b, OP_MUL, part, integer(b, part->type, all)));
	Val *most = integer(b, n->type, all);
	n = op2(b, OP_MIN, op2(b, OP_MAX, n, integer(b, n->type, 0)), most);
	return cast(b, n, EL_F32);
}

/* The reference of a part's squares: its mean, but for rounding. All that need it compute the same number. */
static Val *mean_of(Builder *b, Val *sum, Val *n)
{
	return op2(b, OP_DIV, sum, op2(b, OP_MAX, n, number(b, n->type, 1)));
}

static void tell_powers(const Writer *w, Spot *at, const PartSum *s, Val **words)
{
	Builder *b = &at->b;
	Val *x = here(at, s->x), *m = words[w->p.sums.p[s->first].word];
	Val *none = compare(b, OP_EQ, m, number(b, m->type, -INFINITY));
	Val *base = choose(b, none, number(b, m->type, 0), m);
	Op *e = ir_in(s->op, 0)->def;
	Val *power = ir_unary(b, OP_EXP, x->type, op2(b, OP_SUB, x, spread(b, x->type, base)));
	copy_attrs(power->def, e);
	words[s->word] = scalar_of(b, reduced(at, s->op, power));
}

static void tell_squares(const Writer *w, Spot *at, const PartSum *s, Val **words)
{
	Builder *b = &at->b;
	Val *x = here(at, s->x), *mean = mean_of(b, words[w->p.sums.p[s->first].word], counted(w, b, s, at->part));
	Val *d = op2(b, OP_SUB, x, spread(b, x->type, mean));
	if (s->mask) d = choose(b, here(at, s->mask), d, number(b, d->type, 0));
	if (s->linear) words[s->word + 1] = scalar_of(b, reduced(at, s->op, d));
	words[s->word] = scalar_of(b, reduced(at, s->op, op2(b, OP_MUL, d, d)));
}

/* Loads of rows say what the L2 cache is to keep. */
static void set_cache(const Writer *w, const Spot *at, const char *word)
{
	for (int i = 0; i < w->p.ops.n; i++) {
		const Op *op = w->p.ops.p[i];
		if (op->code != OP_LOAD || !is_long(w, op->out[0]) || !at->map[op->out[0]->id]) continue;
		ir_set_int(at->map[op->out[0]->id]->def, AT_CACHE, attr_word(AT_CACHE, str_intern(word)));
	}
}

static void write_sums(const Writer *w, Spot *at, const bool *needed)
{
	Val *words[PART_WORDS];
	do_needed(w, at, needed);
	for (int i = 0; i < w->p.sums.n; i++) {
		const PartSum *s = &w->p.sums.p[i];
		if (s->kind == PART_POWERS) tell_powers(w, at, s, words);
		else if (s->kind == PART_SQUARES) tell_squares(w, at, s, words);
		else words[s->word] = scalar_of(&at->b, reduced(at, s->op, here(at, s->x)));
	}
	publish(w, &at->b, at->row, at->part, w->count, w->p.words, words, false);
	set_cache(w, at, "evict_last");
}

/* ---- totals of a row ---- */
typedef struct Gather { const Writer *w; Spot at; Val *numbers[PART_WORDS], *parts, *mask; } Gather;

static Val *sum_partials(Gather *g, const Op *as, Val *x)
{
	uint8_t one = 0;
	Builder *b = &g->at.b;
	Val *r = ir_unary(b, as->code, type_tile(x->type->elem, 1, &one), x);
	copy_attrs(r->def, as);
	ir_set_int(r->def, AT_AXIS, 0);
	return as->out[0]->type->rank == 1 ? r : ir_unary(b, OP_RESHAPE, as->out[0]->type, r);
}

static Val *combined(Gather *g, const PartSum *s)
{
	Builder *b = &g->at.b;
	const Type *t = g->numbers[s->word]->type;
	if (s->kind == PART_PLAIN) return sum_partials(g, s->op, g->numbers[s->word]);
	Val *first = g->numbers[g->w->p.sums.p[s->first].word];
	Val *m = spread(b, t, scalar_of(b, here(&g->at, s->m)));
	if (s->kind == PART_POWERS)
		return sum_partials(g, s->op, op2(b, OP_MUL, g->numbers[s->word],
			ir_unary(b, OP_EXP, t, op2(b, OP_SUB, first, m))));
	Val *n = counted(g->w, b, s, g->parts), *d = op2(b, OP_SUB, mean_of(b, first, n), m);
	Val *none = number(b, t, 0);
	d = choose(b, compare(b, OP_EQ, n, number(b, t, 0)), none, d);
	Val *slope = op2(b, OP_MUL, n, d), *linear = s->linear ? g->numbers[s->word + 1] : NULL;
	if (linear) slope = ir_op1(b, OP_FMA, t, 3, (Val *[]){ n, d, op2(b, OP_ADD, linear, linear) });
	return sum_partials(g, s->op, ir_op1(b, OP_FMA, t, 3, (Val *[]){ d, slope, g->numbers[s->word] }));
}

/* The number that changes no result, for parts that a row has not. */
static double neutral(const Op *op)
{
	return op->code == OP_REDUCE_MAX ? -INFINITY : op->code == OP_REDUCE_MIN ? INFINITY : 0;
}

static void hear(Gather *g)
{
	const Writer *w = g->w;
	Builder *b = &g->at.b;
	int64_t all;
	const Type *places = line(EL_I32, w->most), *t = line(EL_U64, w->most);
	Val *words[PART_WORDS], *row = spread(b, places, g->at.row);
	g->parts = ir_op1(b, OP_IOTA, places, 0, NULL);
	if (!sym_is_const(w->parts, &all) || all != w->most)
		g->mask = compare(b, OP_LT, g->parts, spread(b, places, w->count));
	for (int i = 0; i < w->words; i++) {
		Val *at = i ? op2(b, OP_ADD, g->parts, spread(b, places, op2(b, OP_MUL, w->count, num_i32(b, i)))) : g->parts;
		words[i] = wait_for(w, b, t, row, at, g->mask);
	}
	for (int i = 0; i < w->p.sums.n; i++) {
		const PartSum *s = &w->p.sums.p[i];
		for (int k = s->word; k < (i + 1 < w->p.sums.n ? w->p.sums.p[i + 1].word : w->p.words); k++) {
			Val *x = number_of(b, words[k / 2], k % 2, EL_F32);
			g->numbers[k] = g->mask ? choose(b, g->mask, x, number(b, x->type, neutral(s->op))) : x;
		}
	}
}

static void write_gathered(Gather *g, const bool *needed)
{
	const Writer *w = g->w;
	for (int i = 0; i < w->p.ops.n; i++) {
		const Op *op = w->p.ops.p[i];
		int sum = parts_sum_of(&w->p, op);
		if (op->code == OP_STORE && !is_long(w, ir_accessed(op))) repeat_op(w, &g->at, op);
		if (op->nout != 1 || !needed[op->out[0]->id]) continue;
		if (sum >= 0) g->at.map[op->out[0]->id] = combined(g, &w->p.sums.p[sum]);
		else if (!g->at.map[op->out[0]->id]) repeat_op(w, &g->at, op);
	}
}

/* Everything below reductions is known when they are: what they are made of is not needed. */
static void need_late(const Writer *w, const Spot *at, bool *needed, const Val *v)
{
	if (at->map[v->id] || needed[v->id]) return;
	needed[v->id] = true;
	int sum = v->def ? parts_sum_of(&w->p, v->def) : -1;
	if (sum >= 0 && w->p.sums.p[sum].m) need_late(w, at, needed, w->p.sums.p[sum].m);
	for (int i = 0; sum < 0 && v->def && i < v->def->nin; i++) need_late(w, at, needed, ir_in(v->def, i));
}

static Spot gathering(const Writer *w, Builder b, Val *row)
{
	Gather g = { .w = w, .at = place(w, b, row, NULL) };
	bool *needed = NEW_ARRAY(A_TMP, bool, w->p.fn->nval);
	for (int i = 0; i < w->ngiven; i++) need_late(w, &g.at, needed, w->givens[i]);
	for (int i = 0; i < w->p.ops.n; i++) {
		const Op *op = w->p.ops.p[i];
		for (int k = 0; op->code == OP_STORE && !is_long(w, ir_accessed(op)) && k < op->nin; k++)
			need_late(w, &g.at, needed, ir_in(op, k));
	}
	hear(&g);
	write_gathered(&g, needed);
	return g.at;
}

static void write_given(const Writer *w, Builder b, Val *row)
{
	Val *v[PART_GIVEN];
	Spot at = gathering(w, b, row);
	for (int i = 0; i < w->ngiven; i++) v[i] = scalar_of(&at.b, here(&at, w->givens[i]));
	Val *first = ir_launch(&at.b, EL_I32, sym_mul(w->parts, sym_const(w->words)));
	publish(w, &at.b, row, first, NULL, w->ngiven, v, w->p.reads_stored);
	yield(&at.b, 0, NULL);
}

/* ---- results ---- */
static void hear_given(const Writer *w, Spot *at)
{
	Builder *b = &at->b;
	Val *word = NULL;
	for (int i = 0; i < w->ngiven; i++) {
		const Val *v = w->givens[i];
		Val *first = ir_launch(b, EL_I32, sym_add(sym_mul(w->parts, sym_const(w->words)), sym_const(i / 2)));
		if (i % 2 == 0) word = wait_for(w, b, type_scalar(EL_U64), at->row, first, NULL);
		Val *x = number_of(b, word, i % 2, v->type->elem);
		at->map[v->id] = spread(b, v->type, x);
	}
}

/* Tiles that results need, of all or of some: asked for together, before anything is computed. */
static void load_rows(const Writer *w, Spot *at, const bool *needed, const bool *some)
{
	bool *first = NEW_ARRAY(A_TMP, bool, w->p.fn->nval);
	for (int i = 0; i < w->p.ops.n; i++) {
		const Op *op = w->p.ops.p[i];
		if (op->code != OP_LOAD || !is_long(w, op->out[0]) || !needed[op->out[0]->id]) continue;
		if (!some || some[op->out[0]->id]) need(at, first, op->out[0]);
	}
	do_needed(w, at, first);
}

static void write_results(const Writer *w, Spot *at, const bool *sums)
{
	bool *needed = NEW_ARRAY(A_TMP, bool, w->p.fn->nval);
	for (int i = 0; i < w->ngiven; i++) at->map[w->givens[i]->id] = w->givens[i];   /* for a moment: known */
	for (int i = 0; i < w->p.ops.n; i++) {
		const Op *op = w->p.ops.p[i];
		for (int k = 0; op->code == OP_STORE && is_long(w, ir_accessed(op)) && k < op->nin; k++)
			need(at, needed, ir_in(op, k));
	}
	load_rows(w, at, needed, sums);         /* all before waiting for the totals */
	set_cache(w, at, "evict_first");
	load_rows(w, at, needed, NULL);
	if (w->each) {
		Spot all = gathering(w, at->b, at->row);
		for (int i = 0; i < w->ngiven; i++) at->map[w->givens[i]->id] = here(&all, w->givens[i]);
		at->b = all.b;
	} else {
		hear_given(w, at);
	}
	for (int i = 0; i < w->p.ops.n; i++) {
		const Op *op = w->p.ops.p[i];
		if (op->nout == 1 && needed[op->out[0]->id] && !at->map[op->out[0]->id]) repeat_op(w, at, op);
		if (op->code != OP_STORE || !is_long(w, ir_accessed(op))) continue;
		ir_set_int(repeat_access(w, at, op), AT_CACHE, attr_word(AT_CACHE, str_intern("evict_first")));
	}
}

/* ---- the kernel ---- */
/* Finds the small values of the whole row that results need; false: too many, or wider than the
 * words that publish them. */
static bool find_given(Writer *w)
{
	const PartsPlan *p = &w->p;
	bool *seen = NEW_ARRAY(A_TMP, bool, p->fn->nval);
	Spot none = { .map = NEW_ARRAY(A_TMP, Val *, p->fn->nval) };
	for (int i = 0; i < p->ops.n; i++)
		if (p->ops.p[i]->code == OP_STORE && is_long(w, ir_accessed(p->ops.p[i])))
			need(&none, seen, ir_accessed(p->ops.p[i]));
	for (int i = 0; i < p->ops.n; i++) {
		const Op *op = p->ops.p[i];
		if (op->nout != 1 || !is_long(w, op->out[0]) || !seen[op->out[0]->id]) continue;
		for (int k = 0; k < op->nin; k++) {
			Val *v = ir_in(op, k);
			bool known = !p->late[v->id] || is_long(w, v);
			for (int g = 0; g < w->ngiven; g++) known |= w->givens[g] == v;
			if (known) continue;
			Elem e = v->type->elem;
			if (w->ngiven == PART_GIVEN || (e != EL_F32 && e != EL_I32 && e != EL_U32) || op->code != OP_BROADCAST)
				return false;
			w->givens[w->ngiven++] = v;
		}
	}
	return w->ngiven > 0;
}

/* What reductions are made of, of a part. */
static void need_sums(const Writer *w, const Spot *at, bool *needed)
{
	for (int i = 0; i < w->p.sums.n; i++) {
		const PartSum *s = &w->p.sums.p[i];
		need(at, needed, s->x);
		if (s->mask) need(at, needed, s->mask);
	}
}

static Fn *begin_kernel(Writer *w, Fn *from)
{
	Fn *to = NEW(A_UNIT, Fn);
	*to = *from;
	to->name = str_fmt("%s_parts", from->name);
	to->nval = 0;
	to->ordered = true;
	to->body = ir_block(to, NULL);
	to->params = (IrParamVec){ 0 };
	const Sym *size = sym_add(sym_mul(w->parts, sym_const(w->words)), sym_const(w->given));
	for (int i = 0; i < from->params.n; i++) {
		IrParam p = from->params.p[i];
		p.val = ir_arg(to->body, p.is_tensor ? type_view(p.elem, p.rank) : type_scalar(p.elem), p.name);
		vec_push(A_UNIT, &to->params, p);
	}
	w->partials = add_workspace_view(to, "partials", EL_U64, 2, (const Sym *[]){ w->rows, size });
	return to;
}

/* Of what both visits read: bytes of an element of all rows, and of the narrowest. */
static int64_t element_bytes(const Writer *w, int64_t *narrowest)
{
	int64_t r = 0;
	Spot none = { .map = NEW_ARRAY(A_TMP, Val *, w->p.fn->nval) };
	bool *needed = NEW_ARRAY(A_TMP, bool, w->p.fn->nval);
	need_sums(w, &none, needed);
	for (int i = 0; i < w->p.ops.n; i++) {
		const Op *op = w->p.ops.p[i];
		if (op->code != OP_LOAD || !is_long(w, op->out[0]) || !needed[op->out[0]->id]) continue;
		int64_t n = elem_bytes(op->out[0]->type->elem);
		r += n;
		if (!*narrowest || n < *narrowest) *narrowest = n;
	}
	return r;
}

/* Whether each block of results combines the partial results of its row. With powers of f32, that waits less; with
 * other sums it waits more (bench/notes/rows.md). What is stored once for a row, or read from a tensor that rows are
 * stored to, needs one block for the row. */
static bool each_gathers(const Writer *w)
{
	bool powers = false;
	for (int i = 0; i < w->p.sums.n; i++) powers |= w->p.sums.p[i].kind == PART_POWERS && !w->p.sums.p[i].packed;
	for (int i = 0; i < w->p.ops.n; i++)
		if (w->p.ops.p[i]->code == OP_STORE && !is_long(w, ir_accessed(w->p.ops.p[i]))) return false;
	return powers && !w->p.reads_stored;
}

static int64_t ahead_bytes(const Writer *w)
{
	for (int i = 0; i < w->p.sums.n; i++)
		if (w->p.sums.p[i].kind == PART_POWERS) return COST_PARTS_AHEAD_MATH;
	return COST_PARTS_AHEAD;
}

static const Sym *at_least(const Sym *x, int64_t least) { return sym_cmp(SYM_LE, sym_const(least), x); }

/* Least elements of a row for which the kernel is faster, where rows are aligned and where they are
 * not; size: bytes of an element. */
static int64_t least_aligned(const Writer *w, int64_t size)
{
	for (int i = 0; i < w->p.sums.n; i++)
		if (w->p.sums.p[i].kind == PART_SQUARES) return COST_PARTS_SQUARES;
	return size < 4 ? COST_PARTS_PACKED : COST_PARTS_ROW;
}

static int64_t least_unaligned(int64_t size) { return (COST_PARTS_UNALIGNED + size - 1) / size; }

/* The calls for which this kernel is faster. */
static const Sym *gains(const Writer *w, int64_t size)
{
	const Sym *e = w->p.extent, *bytes = sym_mul(sym_mul(w->rows, e), sym_const(size));
	const Sym *aligned = sym_cmp(SYM_EQ, sym_mod(e, sym_const(size < PIECE ? PIECE / size : 1)), sym_const(0));
	const Sym *length = sym_logic(SYM_AND, aligned, at_least(e, least_aligned(w, size)));
	const Sym *enough = sym_logic(SYM_OR, at_least(e, COST_PARTS_PACKED), at_least(bytes, COST_PARTS_ALL_SHORT));
	enough = sym_logic(SYM_AND, enough, at_least(bytes, COST_PARTS_ALL));
	return sym_logic(SYM_AND, sym_logic(SYM_OR, length, at_least(e, least_unaligned(size))), enough);
}

static Val *block_index(Builder *b)
{
	Val *r = ir_op1(b, OP_BID, i32(), 0, NULL);
	ir_set_int(r->def, AT_AXIS, 0);
	return r;
}

/* The first block of a row gives what comes of the row before. */
static void give(const Writer *w, Builder *b, Val *row, Val *part, Val *rows)
{
	Val *zero = num_i32(b, 0), *later = compare(b, OP_GT, row, zero);
	Val *first = op2(b, OP_AND, compare(b, OP_EQ, part, zero), later);
	Branch gives = branch(b, op2(b, OP_AND, first, compare(b, OP_LE, row, rows)));
	Builder in = gives.then;
	write_given(w, in, op2(&in, OP_SUB, row, num_i32(&in, 1)));
	yield(&gives.other, 0, NULL);
}

static void write_kernel(Writer *w, const Sym *ahead)
{
	Fn *to = w->to;
	Builder b = { to, to->body, NULL, to->span };
	Val *bid = block_index(&b), *zero = num_i32(&b, 0), *two = num_i32(&b, 2);
	Val *first = ir_launch(&b, EL_I32, ahead), *all = ir_launch(&b, EL_I32, w->rows);
	w->count = ir_launch(&b, EL_I32, w->parts);
	Val *rest = op2(&b, OP_SUB, bid, first), *reduces_only = compare(&b, OP_LT, rest, zero);
	Val *even = compare(&b, OP_EQ, op2(&b, OP_REM, rest, two), zero);
	Branch reduces = branch(&b, op2(&b, OP_OR, reduces_only, even));
	ir_op(&b, OP_RETURN, 0, NULL, 0, NULL);

	Builder *s = &reduces.then;
	Val *t = choose(s, reduces_only, bid, op2(s, OP_ADD, first, op2(s, OP_DIV, rest, two)));
	Val *row = op2(s, OP_DIV, t, w->count), *part = op2(s, OP_REM, t, w->count);
	Branch inside = branch(s, compare(s, OP_LT, row, all));
	Spot sums = place(w, inside.then, row, part);
	bool *needed = NEW_ARRAY(A_TMP, bool, w->p.fn->nval);
	need_sums(w, &sums, needed);
	write_sums(w, &sums, needed);
	yield(&sums.b, 0, NULL);
	yield(&inside.other, 0, NULL);
	if (!w->each) give(w, s, row, part, all);
	yield(s, 0, NULL);

	Builder *m = &reduces.other;
	t = op2(m, OP_DIV, rest, two);
	Val *of_row = op2(m, OP_REM, t, w->count);
	Spot results = place(w, *m, op2(m, OP_DIV, t, w->count), of_row);
	write_results(w, &results, needed);
	yield(&results.b, 0, NULL);
}

/* The kernel with relaxed powers and quotients, which are chosen by what becomes of them in a row as a whole. */
static Fn *relaxed(Fn *fn, const LowerCx *cx)
{
	Module one = { .path = NULL };
	vec_push(A_TMP, &one.fns, copy_kernel(fn));
	ir_number(one.fns.p[0]);
	pass_relax(&one, cx);
	return one.fns.p[0];
}

static Hint warps_hint(int64_t n, Span at)
{
	Hint h = { .name = str_intern("warps"), .n = 1, .span = at };
	h.v[0].value = n;
	return h;
}

static bool hinted(const Fn *fn)
{
	return ir_has_hint(fn, "warps") || ir_has_hint(fn, "cluster") || ir_has_hint(fn, "occupancy");
}

static void divide(Fn *fn, const LowerCx *cx)
{
	PartsPlan found;
	if (fn->steps || hinted(fn) || !parts_plan(&found, fn)) return;
	Writer w = { .rows = sym_const(1) };
	if (!parts_plan(&w.p, relaxed(fn, cx)) || !find_given(&w)) return;
	int64_t length = (int64_t)1 << w.p.log2, size = 0, bytes = element_bytes(&w, &size);
	bool is_short = length < least_aligned(&w, size) && length < least_unaligned(size);
	if (w.p.log2 < COST_PARTS_TILE || !bytes || is_short) return;
	while (bytes << w.part_log2 < COST_PARTS_BYTES) w.part_log2++;
	int64_t part = (int64_t)1 << w.part_log2;
	w.most = length >> w.part_log2;
	w.parts = w.p.ends ? sym_cdiv(w.p.extent, sym_const(part)) : sym_const(w.most);
	w.words = (w.p.words + 1) / 2;
	w.each = each_gathers(&w);
	w.given = w.each ? 0 : (w.ngiven + 1) / 2;
	for (int i = 0; i < fn->ngrid; i++) w.rows = sym_mul(w.rows, fn->grid[i]);
	const Sym *ahead = sym_max(sym_const(ahead_bytes(&w) / (bytes << w.part_log2)), sym_add(w.parts, sym_const(1)));
	Fn *to = w.to = begin_kernel(&w, fn);
	to->grid[0] = sym_add(ahead, sym_mul(sym_const(2), sym_mul(w.rows, w.parts)));
	to->ngrid = 1;
	for (int i = 0; i < 4; i++) to->sweep[i] = 0;
	for (int i = 1; i < 4; i++) to->grid[i] = NULL;
	to->hints.p = NULL;
	to->hints.n = to->hints.cap = 0;
	vec_push(A_UNIT, &to->hints, warps_hint(COST_PARTS_WARPS, fn->span));
	write_kernel(&w, ahead);
	ir_number(to);
	steps_begin(fn, sym_cmp(SYM_LE, w.p.extent, sym_const(length)), gains(&w, size));
	steps_add(fn, to);
	fn->steps->clears = to->params.n - fn->params.n;
}

void pass_longrows(Module *m, const LowerCx *cx)
{
	for (int i = 0; cx->o->by_threads && i < m->fns.n; i++) divide(m->fns.p[i], cx);
}
