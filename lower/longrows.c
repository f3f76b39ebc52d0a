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
 * Kernels that store nothing but numbers of rows visit parts once: longrows_numbers.c.
 *
 * The function f_ws takes this kernel where rows are long enough; f, which has no workspace, and other kernels are
 * unchanged. stdlib/long_rows.tile is the same algorithm written by hand;
 * bench/notes/rows.md records what was measured. */
#include "lower/longrows_parts.h"

#include "base/diag.h"
#include "lower/steps.h"

typedef struct Writer {
	Parts k;
	Fn *to;
	const Sym *rows;        /* all */
	int words, given;       /* of 64 bits: of a part; of a row */
	Val *partials;          /* the view of the workspace: partial results and totals */
	Val *count;             /* i32: parts */
	Val *givens[PART_GIVEN];        /* of the kernel: what results need of the whole row */
	int ngiven;
	/* every block of results combines the partial results of its row; else the first block of the next row does */
	bool each;
} Writer;

/* ---- small things ---- */
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

/* Loads of rows say what the L2 cache is to keep. */
static void set_cache(const Writer *w, const PartSpot *at, const char *word)
{
	for (int i = 0; i < w->k.p.ops.n; i++) {
		const Op *op = w->k.p.ops.p[i];
		if (op->code != OP_LOAD || !parts_is_long(&w->k, op->out[0]) || !at->map[op->out[0]->id]) continue;
		ir_set_int(at->map[op->out[0]->id]->def, AT_CACHE, attr_word(AT_CACHE, str_intern(word)));
	}
}

static void write_sums(const Writer *w, PartSpot *at, const bool *needed)
{
	Val *words[PART_WORDS];
	parts_do(&w->k, at, needed);
	parts_sums(&w->k, at, words);
	publish(w, &at->b, at->row, at->part, w->count, w->k.p.words, words, false);
	set_cache(w, at, "evict_last");
}

/* ---- totals of a row ---- */
typedef struct Gather { const Writer *w; PartTotals t; Val *mask; } Gather;

static void hear(Gather *g)
{
	const Writer *w = g->w;
	Builder *b = &g->t.at.b;
	int64_t all;
	const Type *places = line(EL_I32, w->k.most), *t = line(EL_U64, w->k.most);
	Val *words[PART_WORDS], *row = spread(b, places, g->t.at.row);
	g->t.parts = ir_op1(b, OP_IOTA, places, 0, NULL);
	if (!sym_is_const(w->k.parts, &all) || all != w->k.most)
		g->mask = compare(b, OP_LT, g->t.parts, spread(b, places, w->count));
	for (int i = 0; i < w->words; i++) {
		Val *at = g->t.parts;
		if (i) at = op2(b, OP_ADD, at, spread(b, places, op2(b, OP_MUL, w->count, num_i32(b, i))));
		words[i] = wait_for(w, b, t, row, at, g->mask);
	}
	for (int i = 0; i < w->k.p.sums.n; i++) {
		const PartSum *s = &w->k.p.sums.p[i];
		for (int k = s->word; k < (i + 1 < w->k.p.sums.n ? w->k.p.sums.p[i + 1].word : w->k.p.words); k++) {
			Val *x = number_of(b, words[k / 2], k % 2, EL_F32);
			g->t.numbers[k] = g->mask ? choose(b, g->mask, x, ir_const_num(b, x->type, parts_neutral(s->op))) : x;
		}
	}
}

static PartSpot gathering(const Writer *w, Builder b, Val *row)
{
	Gather g = { .w = w, .t = { .k = &w->k, .at = parts_place(&w->k, w->to, b, row, NULL) } };
	bool *needed = NEW_ARRAY(A_TMP, bool, w->k.p.fn->nval);
	for (int i = 0; i < w->ngiven; i++) parts_need_late(&w->k, &g.t.at, needed, w->givens[i]);
	parts_need_stored(&w->k, &g.t.at, needed);
	hear(&g);
	parts_do_late(&g.t, needed);
	return g.t.at;
}

static void write_given(const Writer *w, Builder b, Val *row)
{
	Val *v[PART_GIVEN];
	PartSpot at = gathering(w, b, row);
	for (int i = 0; i < w->ngiven; i++) v[i] = scalar_of(&at.b, parts_here(&at, w->givens[i]));
	Val *first = ir_launch(&at.b, EL_I32, sym_mul(w->k.parts, sym_const(w->words)));
	publish(w, &at.b, row, first, NULL, w->ngiven, v, w->k.p.reads_stored);
	yield(&at.b, 0, NULL);
}

/* ---- results ---- */
static void hear_given(const Writer *w, PartSpot *at)
{
	Builder *b = &at->b;
	Val *word = NULL;
	for (int i = 0; i < w->ngiven; i++) {
		const Val *v = w->givens[i];
		Val *first = ir_launch(b, EL_I32, sym_add(sym_mul(w->k.parts, sym_const(w->words)), sym_const(i / 2)));
		if (i % 2 == 0) word = wait_for(w, b, type_scalar(EL_U64), at->row, first, NULL);
		Val *x = number_of(b, word, i % 2, v->type->elem);
		at->map[v->id] = spread(b, v->type, x);
	}
}

/* Tiles that results need, of all or of some: asked for together, before anything is computed. */
static void load_rows(const Writer *w, PartSpot *at, const bool *needed, const bool *some)
{
	bool *first = NEW_ARRAY(A_TMP, bool, w->k.p.fn->nval);
	for (int i = 0; i < w->k.p.ops.n; i++) {
		const Op *op = w->k.p.ops.p[i];
		if (op->code != OP_LOAD || !parts_is_long(&w->k, op->out[0]) || !needed[op->out[0]->id]) continue;
		if (!some || some[op->out[0]->id]) parts_need(at, first, op->out[0]);
	}
	parts_do(&w->k, at, first);
}

static void write_results(const Writer *w, PartSpot *at, const bool *sums)
{
	bool *needed = NEW_ARRAY(A_TMP, bool, w->k.p.fn->nval);
	for (int i = 0; i < w->ngiven; i++) at->map[w->givens[i]->id] = w->givens[i];   /* for a moment: known */
	for (int i = 0; i < w->k.p.ops.n; i++) {
		const Op *op = w->k.p.ops.p[i];
		for (int k = 0; op->code == OP_STORE && parts_is_long(&w->k, ir_accessed(op)) && k < op->nin; k++)
			parts_need(at, needed, ir_in(op, k));
	}
	load_rows(w, at, needed, sums);         /* all before waiting for the totals */
	set_cache(w, at, "evict_first");
	load_rows(w, at, needed, NULL);
	if (w->each) {
		PartSpot all = gathering(w, at->b, at->row);
		for (int i = 0; i < w->ngiven; i++) at->map[w->givens[i]->id] = parts_here(&all, w->givens[i]);
		at->b = all.b;
	} else {
		hear_given(w, at);
	}
	for (int i = 0; i < w->k.p.ops.n; i++) {
		const Op *op = w->k.p.ops.p[i];
		if (op->nout == 1 && needed[op->out[0]->id] && !at->map[op->out[0]->id]) parts_repeat(&w->k, at, op);
		if (op->code != OP_STORE || !parts_is_long(&w->k, ir_accessed(op))) continue;
		ir_set_int(parts_repeat_access(&w->k, at, op), AT_CACHE, attr_word(AT_CACHE, str_intern("evict_first")));
	}
}

/* ---- the kernel ---- */
/* Finds the small values of the whole row that results need; false: too many, or wider than the
 * words that publish them. */
static bool find_given(Writer *w)
{
	const PartsPlan *p = &w->k.p;
	bool *seen = NEW_ARRAY(A_TMP, bool, p->fn->nval);
	PartSpot none = { .map = NEW_ARRAY(A_TMP, Val *, p->fn->nval) };
	for (int i = 0; i < p->ops.n; i++)
		if (p->ops.p[i]->code == OP_STORE && parts_is_long(&w->k, ir_accessed(p->ops.p[i])))
			parts_need(&none, seen, ir_accessed(p->ops.p[i]));
	for (int i = 0; i < p->ops.n; i++) {
		const Op *op = p->ops.p[i];
		if (op->nout != 1 || !parts_is_long(&w->k, op->out[0]) || !seen[op->out[0]->id]) continue;
		for (int k = 0; k < op->nin; k++) {
			Val *v = ir_in(op, k);
			bool known = !p->late[v->id] || parts_is_long(&w->k, v);
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

static Fn *begin_kernel(Writer *w, Fn *from)
{
	Fn *to = steps_kernel(from, "parts");
	const Sym *size = sym_add(sym_mul(w->k.parts, sym_const(w->words)), sym_const(w->given));
	to->ordered = true;
	w->partials = add_workspace_view(to, "partials", EL_U64, 2, (const Sym *[]){ w->rows, size });
	return to;
}

/* Of what both visits read: bytes of an element of all rows, and of the narrowest. */
static int64_t element_bytes(const Writer *w, int64_t *narrowest)
{
	int64_t r = 0;
	PartSpot none = { .map = NEW_ARRAY(A_TMP, Val *, w->k.p.fn->nval) };
	bool *needed = NEW_ARRAY(A_TMP, bool, w->k.p.fn->nval);
	parts_need_sums(&w->k, &none, needed);
	for (int i = 0; i < w->k.p.ops.n; i++) {
		const Op *op = w->k.p.ops.p[i];
		if (op->code != OP_LOAD || !parts_is_long(&w->k, op->out[0]) || !needed[op->out[0]->id]) continue;
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
	for (int i = 0; i < w->k.p.sums.n; i++) powers |= w->k.p.sums.p[i].kind == PART_POWERS && !w->k.p.sums.p[i].packed;
	for (int i = 0; i < w->k.p.ops.n; i++)
		if (w->k.p.ops.p[i]->code == OP_STORE && !parts_is_long(&w->k, ir_accessed(w->k.p.ops.p[i]))) return false;
	return powers && !w->k.p.reads_stored;
}

static int64_t ahead_bytes(const Writer *w)
{
	for (int i = 0; i < w->k.p.sums.n; i++)
		if (w->k.p.sums.p[i].kind == PART_POWERS) return COST_PARTS_AHEAD_MATH;
	return COST_PARTS_AHEAD;
}

static const Sym *at_least(const Sym *x, int64_t least) { return sym_cmp(SYM_LE, sym_const(least), x); }

/* Least elements of a row for which the kernel is faster, where rows are aligned and where they are
 * not; size: bytes of an element. */
static int64_t least_aligned(const Writer *w, int64_t size)
{
	for (int i = 0; i < w->k.p.sums.n; i++)
		if (w->k.p.sums.p[i].kind == PART_SQUARES) return COST_PARTS_SQUARES;
	return size < 4 ? COST_PARTS_PACKED : COST_PARTS_ROW;
}

static int64_t least_unaligned(int64_t size) { return (COST_PARTS_UNALIGNED + size - 1) / size; }

/* The calls for which this kernel is faster. */
static const Sym *gains(const Writer *w, int64_t size)
{
	const Sym *e = w->k.p.extent, *bytes = sym_mul(sym_mul(w->rows, e), sym_const(size));
	const Sym *vector = sym_const(size < VECTOR_BYTES ? VECTOR_BYTES / size : 1),
		*aligned = sym_cmp(SYM_EQ, sym_mod(e, vector), sym_const(0));
	const Sym *length = sym_logic(SYM_AND, aligned, at_least(e, least_aligned(w, size)));
	const Sym *enough = sym_logic(SYM_OR, at_least(e, COST_PARTS_PACKED), at_least(bytes, COST_PARTS_ALL_SHORT));
	enough = sym_logic(SYM_AND, enough, at_least(bytes, COST_PARTS_ALL));
	return sym_logic(SYM_AND, sym_logic(SYM_OR, length, at_least(e, least_unaligned(size))), enough);
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
	Val *bid = steps_grid_index(&b, 0), *zero = num_i32(&b, 0), *two = num_i32(&b, 2);
	Val *first = ir_launch(&b, EL_I32, ahead), *all = ir_launch(&b, EL_I32, w->rows);
	w->count = ir_launch(&b, EL_I32, w->k.parts);
	Val *rest = op2(&b, OP_SUB, bid, first), *reduces_only = compare(&b, OP_LT, rest, zero);
	Val *even = compare(&b, OP_EQ, op2(&b, OP_REM, rest, two), zero);
	Branch reduces = branch(&b, op2(&b, OP_OR, reduces_only, even));
	ir_op(&b, OP_RETURN, 0, NULL, 0, NULL);

	Builder *s = &reduces.then;
	Val *t = choose(s, reduces_only, bid, op2(s, OP_ADD, first, op2(s, OP_DIV, rest, two)));
	Val *row = op2(s, OP_DIV, t, w->count), *part = op2(s, OP_REM, t, w->count);
	Branch inside = branch(s, compare(s, OP_LT, row, all));
	PartSpot sums = parts_place(&w->k, w->to, inside.then, row, part);
	bool *needed = NEW_ARRAY(A_TMP, bool, w->k.p.fn->nval);
	parts_need_sums(&w->k, &sums, needed);
	write_sums(w, &sums, needed);
	yield(&sums.b, 0, NULL);
	yield(&inside.other, 0, NULL);
	if (!w->each) give(w, s, row, part, all);
	yield(s, 0, NULL);

	Builder *m = &reduces.other;
	t = op2(m, OP_DIV, rest, two);
	Val *of_row = op2(m, OP_REM, t, w->count);
	PartSpot results = parts_place(&w->k, w->to, *m, op2(m, OP_DIV, t, w->count), of_row);
	write_results(w, &results, needed);
	yield(&results.b, 0, NULL);
}

/* The kernel with relaxed powers and quotients, which are chosen by what becomes of them in a row as a whole. */
static Fn *relaxed(Fn *of)
{
	Fn *fn = copy_kernel(of);
	ir_number(fn);
	relax_kernel(fn);
	return fn;
}

static void divide(Fn *fn, const LowerCx *cx)
{
	PartsPlan found;
	if (has_steps(fn, cx) || ir_hints_threads(fn) || !parts_plan(&found, fn)) return;
	if (found.numbers) {
		numbers_divide(&found, cx);
		return;
	}
	if (found.scans.n) {
		scans_divide(&found, cx);
		return;
	}
	Writer w = { .rows = sym_const(1) };
	if (!parts_plan(&w.k.p, relaxed(fn)) || !find_given(&w)) return;
	int64_t length = (int64_t)1 << w.k.p.log2, size = 0, bytes = element_bytes(&w, &size);
	bool is_short = length < least_aligned(&w, size) && length < least_unaligned(size);
	if (w.k.p.log2 < COST_PARTS_TILE || !bytes || is_short) return;
	while (bytes << w.k.part_log2 < COST_PARTS_BYTES) w.k.part_log2++;
	int64_t part = (int64_t)1 << w.k.part_log2;
	w.k.most = length >> w.k.part_log2;
	w.k.parts = w.k.p.ends ? sym_cdiv(w.k.p.extent, sym_const(part)) : sym_const(w.k.most);
	w.words = (w.k.p.words + 1) / 2;
	w.each = each_gathers(&w);
	w.given = w.each ? 0 : (w.ngiven + 1) / 2;
	for (int i = 0; i < fn->ngrid; i++) w.rows = sym_mul(w.rows, fn->grid[i]);
	const Sym *ahead = sym_max(sym_const(ahead_bytes(&w) / (bytes << w.k.part_log2)), sym_add(w.k.parts, sym_const(1)));
	Fn *to = w.to = begin_kernel(&w, fn);
	to->grid[0] = sym_add(ahead, sym_mul(sym_const(2), sym_mul(w.rows, w.k.parts)));
	to->ngrid = 1;
	for (int i = 0; i < 4; i++) to->sweep[i] = 0;
	for (int i = 1; i < 4; i++) to->grid[i] = NULL;
	to->hints.p = NULL;
	to->hints.n = to->hints.cap = 0;
	kernel_set_warps(to, COST_PARTS_WARPS);
	write_kernel(&w, ahead);
	Steps *s = steps_begin(fn, cx, sym_cmp(SYM_LE, w.k.p.extent, sym_const(length)), gains(&w, size));
	s->clears = to->params.n - fn->params.n;
	steps_add(s, to);
}

void pass_longrows(Module *m, const LowerCx *cx)
{
	for (int i = 0; cx->o->by_threads && i < m->fns.n; i++) divide(m->fns.p[i], cx);
}
