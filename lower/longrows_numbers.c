/* longrows, for kernels that store nothing but numbers of long rows, such as a sum, a variance, a place: a version in
 * two steps, for calls of so few rows that a thread block for each leaves most multiprocessors without work.
 *
 *   k_parts    with one more axis in its grid: tile block p reduces part p of a row, and stores what it has in
 *              workspace
 *   k_totals   combines what the parts of a row have, and stores the numbers
 *
 * How many parts a row has follows from the dimensions alone, and they are combined in their order, so results do not
 * depend on the device. */
#include "lower/longrows_parts.h"
#include "lower/steps.h"

typedef struct Numbers {
	Parts k;
	const Sym *blocks;      /* of the kernel's grid */
	Elem elem[PART_WORDS];  /* of what a part has */
} Numbers;

/* What a part has of a reduction: the extreme before its place. */
static void find_elems(Numbers *w)
{
	for (int i = 0; i < w->k.p.sums.n; i++) {
		const PartSum *s = &w->k.p.sums.p[i];
		Elem result = s->op->out[0]->type->elem;
		w->elem[s->word] = s->kind == PART_PLACE ? s->x->type->elem : result;
		if (s->kind == PART_PLACE || s->linear) w->elem[s->word + 1] = result;
	}
}

/* The reduction that a number is of. */
static const PartSum *sum_of(const Numbers *w, int number)
{
	int i = 0;
	while (i + 1 < w->k.p.sums.n && w->k.p.sums.p[i + 1].word <= number) i++;
	return &w->k.p.sums.p[i];
}

/* A kernel with the same parameters, and a view of the workspace for each number; *first: which is the first. */
static Fn *begin_step(const Numbers *w, const char *name, int *first)
{
	Fn *to = steps_kernel(w->k.p.fn, name);
	*first = to->params.n;
	for (int i = 0; i < w->k.p.words; i++)
		add_workspace_view(to, "parts", w->elem[i], 2, (const Sym *[]){ w->blocks, w->k.parts });
	return to;
}

static Fn *write_parts(const Numbers *w)
{
	int first, axis = w->k.p.fn->ngrid;
	Fn *to = begin_step(w, "parts", &first);
	Builder b = { to, to->body, NULL, to->span };
	Val *block = steps_block_number(&b, to), *part = steps_grid_index(&b, axis), *numbers[PART_WORDS];
	PartSpot at = parts_place(&w->k, to, b, NULL, part);
	bool *needed = NEW_ARRAY(A_TMP, bool, w->k.p.fn->nval);
	parts_need_sums(&w->k, &at, needed);
	parts_do(&w->k, &at, needed);
	parts_sums(&w->k, &at, numbers);
	for (int i = 0; i < w->k.p.words; i++)
		ir_op(&at.b, OP_SCATTER, 4, (Val *[]){ to->params.p[first + i].val, block, part, numbers[i] }, 0, NULL);
	ir_op(&at.b, OP_RETURN, 0, NULL, 0, NULL);
	to->grid[axis] = w->k.parts;
	to->ngrid = axis + 1;
	for (int a = 0; a < 4; a++) to->sweep[a] = 0;
	return to;
}

/* What the parts of the tile block's row have, side by side. */
static Val *load_parts(const Numbers *w, Builder *b, Val *from, Val *block, int number)
{
	uint8_t log2[2] = { 0, (uint8_t)log2_of(w->k.most) };
	const PartSum *s = sum_of(w, number);
	Elem e = w->elem[number];
	Num pad = number == s->word ? parts_neutral(s->op) : num_zero(e);
	Val *in[4] = { from, block, num_i32(b, 0), ir_const_num(b, type_scalar(e), pad) };
	Val *r = ir_op1(b, OP_LOAD, type_tile(e, 2, log2), 4, in);
	ir_set_ints(r->def, AT_STEPS, 2, (int64_t[]){ 1, w->k.most });
	return ir_unary(b, OP_RESHAPE, line(e, w->k.most), r);
}

static Fn *write_totals(const Numbers *w)
{
	int first;
	Fn *to = begin_step(w, "totals", &first);
	PartTotals g = { .k = &w->k, .at = parts_place(&w->k, to, (Builder){ to, to->body, NULL, to->span }, NULL, NULL) };
	Builder *b = &g.at.b;
	bool *needed = NEW_ARRAY(A_TMP, bool, w->k.p.fn->nval);
	Val *block = steps_block_number(b, to);
	g.parts = ir_op1(b, OP_IOTA, line(EL_I32, w->k.most), 0, NULL);
	for (int i = 0; i < w->k.p.words; i++) g.numbers[i] = load_parts(w, b, to->params.p[first + i].val, block, i);
	parts_need_stored(&w->k, &g.at, needed);
	parts_do_late(&g, needed);
	ir_op(b, OP_RETURN, 0, NULL, 0, NULL);
	return to;
}

static const Sym *at_least(const Sym *x, int64_t least) { return sym_cmp(SYM_LE, sym_const(least), x); }

static bool any_part(const Numbers *w, PartKind kind)
{
	for (int i = 0; i < w->k.p.sums.n; i++)
		if (w->k.p.sums.p[i].kind == kind) return true;
	return false;
}

/* Calls for which two steps are faster: of few rows, of long ones, and of squares, which are read twice otherwise.
 * Places are compared and exchanged by each part, which costs more than its loads: so only where a thread block for
 * each row leaves multiprocessors idle. */
static const Sym *gains(const Numbers *w, int64_t bytes)
{
	const Sym *row = sym_mul(w->k.p.extent, sym_const(bytes)), *few = sym_mul(w->blocks, sym_const(COST_NUMBERS_FEW));
	const Sym *is_long = at_least(row, COST_NUMBERS_ROW);
	if (any_part(w, PART_PLACE))
		return sym_logic(SYM_AND, sym_cmp(SYM_LE, w->blocks, sym_const(COST_NUMBERS_PLACES)), is_long);
	int64_t alone = any_part(w, PART_SQUARES) ? COST_NUMBERS_SQUARES : COST_NUMBERS_LONG;
	return sym_logic(SYM_OR, sym_logic(SYM_AND, sym_cmp(SYM_LE, few, row), is_long), at_least(row, alone));
}

void numbers_divide(const PartsPlan *p, const LowerCx *cx)
{
	Fn *fn = p->fn;
	Numbers w = { .k = { .p = *p }, .blocks = sym_const(1) };
	int64_t length = (int64_t)1 << p->log2, bytes = parts_element_bytes(p);
	if (!bytes || fn->ngrid > 3) return;
	while (bytes << w.k.part_log2 < COST_PARTS_BYTES) w.k.part_log2++;
	int64_t part = (int64_t)1 << w.k.part_log2;
	const Sym *end = sym_add(p->extent, sym_const(p->pads));
	w.k.most = length >> w.k.part_log2;
	w.k.parts = p->ends ? sym_min(sym_cdiv(end, sym_const(part)), sym_const(w.k.most)) : sym_const(w.k.most);
	for (int i = 0; i < fn->ngrid; i++) w.blocks = sym_mul(w.blocks, fn->grid[i]);
	find_elems(&w);
	Steps *s = steps_begin(fn, cx, sym_cmp(SYM_LE, p->extent, sym_const(length)), gains(&w, bytes));
	steps_add(s, write_parts(&w));
	steps_add(s, write_totals(&w));
}
