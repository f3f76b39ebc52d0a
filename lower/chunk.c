/* chunk: loops over many registers run in chunks, {chunk}, so that few values are in registers at once.
 *
 * A chunked loop includes the rounding or the reduction of its last value. Where only a store uses that value, each
 * chunk is computed immediately before its part of the store. Operations that a single element of a row needs
 * (placed/rare.c) are taken out of the loop and repeated for the chunk that holds the element, {rare}. */
#include "lower/placed.h"
#include "placed/access.h"
#include "placed/loops.h"

typedef struct Chunks {
	Fn *fn;
	bool rotated, shifted;   /* its rows are rotated, or shifted */
	Loops l;
	const bool *rare;
	const int *uses;
} Chunks;

/* Operations that share a loop: up to `end`, of n registers. */
typedef struct Loop { Op *first, *end; int n; bool part; } Loop;

/* Versions that leave registers out (cut.c) have any number of them; a vector of a peeled row is a chunk. */
static bool in_chunks(const Loop *l)
{
	return (l->part || l->n % (1 << COST_CHUNK) == 0) && l->n <= COST_UNROLL_REGS + 1;
}

static bool is_made_here(const Chunks *f, const Val *v, const Loop *l)
{
	for (const Op *op = l->first; op != l->end; op = op->next)
		if (op == v->def) return !op_renames(op) && !f->l.splat[v->id];
	return false;
}

/* Each row of a warp has its element in another register, so for rows that lanes share what one element alone needs is
 * made for it once, whatever their number. */
static bool is_few(const Chunks *f, const Loop *l)
{
	return l->n < COST_CHUNK_PICKED || (f->fn->short_rows && l->n <= 1 << COST_SHORT_REGS);
}

/* Does one element alone need a quotient or a function? Less is not worth a branch for each register. */
static bool is_much_rare(const Chunks *f, const Loop *l)
{
	for (const Op *op = l->first; op != l->end; op = op->next)
		if ((op->code == OP_DIV || op_has(op, OPF_MATH)) && f->rare[op->out[0]->id]) return true;
	return false;
}

/* A select of the loop that takes its first arm for one element; NULL: none, or several. */
static Op *find_pick(const Chunks *f, const Loop *l)
{
	Op *select = NULL;
	const Val *numbers = NULL;
	if (l->n == 1 || (is_few(f, l) ? !is_much_rare(f, l) : !in_chunks(l)) || f->rotated) return NULL;
	for (Op *op = l->first; op != l->end; op = op->next) {
		const Val *from, *x = rare_number(op, &from);
		if (!x) continue;
		if (select) return NULL;
		select = op;
		numbers = x;
	}
	if (!select) return NULL;
	return lay_adds(*numbers->lay, -1) ? select : NULL;
}

/* What one element alone needs, unless another loop asks for it, too: so must be what it is made of then. */
static void mark_rare(const Chunks *f, const Loop *l, Op *select)
{
	bool *common = NEW_ARRAY(A_TMP, bool, f->fn->nval);
	VEC(Op *) ops = { 0 };
	for (Op *op = l->first; op != l->end; op = op->next) vec_push(A_TMP, &ops, op);
	for (int k = ops.n - 1; k >= 0; k--) {
		Op *op = ops.p[k];
		int id = op->out[0]->id;
		bool picked = f->l.inside[id] && f->rare[id] && !common[id];
		if (f->l.splat[id] || (op_renames(op) ? !common[id] : picked)) continue;
		for (int i = op == select ? 2 : 0; i < op->nin; i++) common[ir_in(op, i)->id] = true;
	}
	for (int k = 0; k < ops.n; k++) {
		int id = ops.p[k]->out[0]->id;
		if (ops.p[k] == select || (f->l.inside[id] && f->rare[id] && !common[id])) ir_set_int(ops.p[k], AT_RARE, 1);
	}
}

static void set_chunk(const Chunks *f, const Loop *l, int chunk)
{
	for (Op *op = l->first; op != l->end; op = op->next)
		if (!f->l.splat[op->out[0]->id]) ir_set_int(op, AT_CHUNK, 1 << chunk);
}

/* Where a store of r follows that nobody else needs, each chunk is made before what is stored of it at once: 2^n
 * elements, which are returned as n. -1: it does not follow. */
static int store_of_chunks(const Chunks *f, const Op *store, const Val *r)
{
	if (!store || store->code != OP_STORE || ir_in(store, store->nin - 1) != r) return -1;
	AccessPlan p = access_plan(store, r, false);
	Ways ways = (Ways)ir_int(store, AT_WAYS, WAYS_ANY);
	bool single = ways == WAYS_SINGLE && !p.vec && !f->rotated && !f->shifted && !rows_are_dense(f->fn);
	if (ways != WAYS_MASKED && !single) return -1;
	bool whole = p.vec <= COST_CHUNK && vector_bits(p.bit, p.vec) == (1u << p.vec) - 1
		&& !lay_hwcoord(p.l, lay_free(p.l), HW_REG);
	return whole && f->uses[r->id] == 1 ? p.vec : -1;
}

/* The first operation after the loop and what it takes with it. */
static Op *chunk_loop(Chunks *f, const Loop *l, int vector)
{
	Op *end = l->end, *select = l->part && vector != 1 << COST_CHUNK ? NULL : find_pick(f, l);
	if (select) mark_rare(f, l, select);
	if (l->part) {
		if (select) set_chunk(f, l, COST_CHUNK);
		return end;
	}
	const Val *last = end && end->nin ? ir_in(end, end->code == OP_STORE ? end->nin - 1 : 0) : NULL;
	bool here = last && is_made_here(f, last, l), many = l->n >= COST_CHUNK_ALL && in_chunks(l);
	bool pairs = here && op_is_pointwise(end) && op_in_own_loop(end) && end->code == OP_CAST;
	bool sums = here && !select && many && reduces_in_order(end) && !ir_attr(end, AT_VEC);
	/* of bytes, which need fewer registers in the words of a store */
	const Val *stored = pairs ? end->out[0] : last;
	Op *store_of = pairs ? end->next : end;
	bool bytes = stored && elem_bytes(stored->type->elem) == 1 && l->n >= COST_CHUNK_STORED && in_chunks(l);
	bool stores = here && bytes && store_of && store_of->code == OP_STORE && !select;
	int own = stores ? store_of_chunks(f, store_of, stored) : -1;
	if (own < pairs) own = -1;
	if (!select && !sums && own < 0 && !(pairs && many)) return end;
	if (select && is_few(f, l)) {
		set_chunk(f, l, 0);
		return end;
	}
	set_chunk(f, l, own < 0 ? COST_CHUNK : own);
	if (own >= 0) {
		ir_set_int(store_of, AT_CHUNK, 1 << own);
		if (pairs) ir_set_int(end, AT_CHUNK, 1 << own);
		return store_of;
	}
	if (!pairs && !sums) return end;
	ir_set_int(end, AT_CHUNK, 1 << COST_CHUNK);
	bool store = pairs && many && store_of_chunks(f, end->next, end->out[0]) == COST_CHUNK;
	if (store) ir_set_int(end->next, AT_CHUNK, 1 << COST_CHUNK);
	return end->next;
}

static Op *next_loop(const Chunks *f, Op *first, const Op *limit, Loop *l)
{
	int loop = 0;
	Op *end = first;
	*l = (Loop){ .first = first, .n = 1, .part = f->fn->peel_line && ir_attr(first, AT_PIECES) };
	for (; end != limit && op_is_pointwise(end); end = end->next) {
		const Val *r = end->out[0];
		if (f->l.splat[r->id]) continue;
		if (!loop) loop = f->l.loop[r->id];
		if (f->l.loop[r->id] != loop) break;
		if (!op_renames(end)) l->n = regs_of(r);
	}
	return l->end = end;
}

static bool is_alone(const Loop *l)
{
	for (const Op *op = l->first; op != l->end; op = op->next)
		if (op_in_own_loop(op)) return true;
	return false;
}

static bool makes(const Chunks *f, const Loop *l)
{
	for (const Op *op = l->first; op != l->end; op = op->next)
		if (!f->l.splat[op->out[0]->id] && !op_renames(op)) return true;
	return false;
}

static const Op *pieces_end(const Op *op)
{
	int64_t number = ir_int(op, AT_PIECES, 0);
	while (op && ir_int(op, AT_PIECES, 0) == number) op = op->next;
	return op;
}

static void chunk_block(Chunks *f, IrBlock *b)
{
	Loop l;
	for (Op *op = b->first; op;) {
		for (int i = 0; i < op->nregion; i++) chunk_block(f, op->region[i]);
		if (!op_is_pointwise(op)) {
			op = op->next;
			continue;
		}
		bool part = f->fn->peel_line && ir_attr(op, AT_PIECES);
		Op *after = next_loop(f, op, part ? pieces_end(op) : NULL, &l);
		op = is_alone(&l) || !makes(f, &l) ? after : chunk_loop(f, &l, f->fn->peel_line ? peel_vector(f->fn) : 0);
	}
}

static void chunk(Fn *fn)
{
	Chunks f = { .fn = fn, .rotated = rows_rotate(fn), .shifted = rows_shift(fn), .l = loops_of(fn, A_TMP),
		.rare = rare_values(fn, A_TMP), .uses = ir_use_counts(fn, A_TMP) };
	chunk_block(&f, fn->body);
}

void pass_chunk(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->versions.n; i++) {
		ArenaMark mark = arena_mark(A_TMP);
		chunk(m->versions.p[i].fn);
		arena_release(A_TMP, mark);
	}
}
