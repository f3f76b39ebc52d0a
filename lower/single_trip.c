/* Variants of kernels for rows that one tile holds.
 *
 * A kernel that goes through a row tile by tile, `for j in 0 .. cdiv(n, 1024)`, is written for rows of any length. Of a
 * row that one tile holds its loops have one iteration, and pay for what more of them would need: partial results that
 * are carried, and lanes for the whole tile, though a row of 100 elements is a tenth of it. As straight-line code the
 * kernel is one of rows that fit their tile: a row gets as many warps and lanes as it needs (by_warp.c, cut.c), and
 * what two loops load is loaded once.
 *
 * So such a kernel gets a variant NAME_single_trip before it, `where 1 <= n` and `n <= 1024`, without the loops, if all
 * loops have that one number of iterations. The kernel itself serves all other calls. It has none where an iteration
 * takes few elements (few rows are that short, and a warp has few lanes to spare), where rules or costs choose between
 * variants, or where the author says by how many threads it runs. Figures: bench/notes/loops.md. Kernels whose tiles
 * lie side by side in the grid have such a variant by single_tile.c. */
#include "base/cost.h"
#include "ir/ir_copy.h"
#include "ir/valsym.h"
#include "lower/pins.h"
#include "lower/placed.h"

/* trips: of all loops, NULL: no loop was seen yet */
typedef struct Look { ValSyms *b; const Sym *trips; bool fails; } Look;

static bool is_number(const Val *v, int64_t n)
{
	Num k;
	return ir_const_value(v, &k) && k.i == n;
}

static void look_at(void *ctx, Op *op)
{
	Look *l = ctx;
	l->fails |= op->code == OP_MMA || op_has(op, OPF_ATOMIC) || op_has(op, OPF_JUMP);
	if (!op->nregion || l->fails) return;
	l->fails = op->code != OP_FOR || op->parent->owner || !is_number(ir_in(op, 0), 0) || !is_number(ir_in(op, 2), 1);
	if (l->fails) return;
	const Sym *trips = valsym(l->b, ir_in(op, 1));
	l->fails = l->trips && trips != l->trips;
	l->trips = trips;
}

/* What the loops go through; *tile: how many elements of it an iteration takes. NULL: they stay. */
static const Sym *length_of(Fn *fn, int64_t *tile)
{
	ArenaMark mark = arena_mark(A_TMP);
	ir_number(fn);
	ValSyms b = valsyms_new(fn);
	Look l = { .b = &b };
	ir_walk(fn->body, look_at, &l);
	arena_release(A_TMP, mark);
	if (l.fails || !l.trips || l.trips->kind != SYM_CDIV || !sym_is_const(l.trips->arg[1], tile)) return NULL;
	const Sym *length = l.trips->arg[0];    /* of all tile blocks: the launcher chooses the variant by it */
	return *tile >= COST_SINGLE_TRIP && sym_is_of_call(length) ? length : NULL;
}

/* The first iteration in place of the loop, whose results are what it yields. */
static void run_once(Op *loop)
{
	IrBlock *body = loop->region[0];
	Op *yield = body->last;
	ir_replace(body->args.p[0], ir_in(loop, 0));
	for (int i = 1; i < body->args.n; i++) ir_replace(body->args.p[i], ir_in(loop, 2 + i));
	for (Op *op = body->first, *next; op != yield; op = next) {
		next = op->next;
		ir_move_before(op, loop);
	}
	for (int i = 0; i < loop->nout; i++) ir_replace(loop->out[i], ir_in(yield, i));
	ir_remove(loop);
}

static Fn *single_trip(Fn *fn)
{
	int64_t tile;
	const Sym *length = length_of(fn, &tile);
	if (!length) return NULL;
	Fn *variant = variant_of_rows(fn, "single_trip", length, tile);
	for (Op *op = variant->body->first, *next; op; op = next) {
		next = op->next;
		if (op->code == OP_FOR) run_once(op);
	}
	ir_number(variant);
	return variant;
}

/* fn -> its variants, those for the shortest rows first */
typedef struct Pair { Fn *fn; FnVec variants; } Pair;
typedef VEC(Pair) Pairs;

static FnVec variants_of(Pairs *known, Fn *fn)
{
	for (int i = 0; i < known->n; i++)
		if (known->p[i].fn == fn) return known->p[i].variants;
	Pair p = { .fn = fn };
	if (!fn->plan && !ir_hints_threads(fn)) {
		short_axes(fn, &p.variants);
		Fn *variant = single_trip(fn);
		if (variant) vec_push(A_UNIT, &p.variants, variant);
		else single_tile(fn, &p.variants);
	}
	vec_push(A_TMP, known, p);
	return p.variants;
}

static void put_before(void *ctx, HostStmt *h)
{
	if (h->u.launch.rules.n || h->u.launch.variants.n != 1) return;
	Variant own = h->u.launch.variants.p[0];
	FnVec before = variants_of(ctx, own.fn);
	for (int i = 0; i < before.n; i++) {
		vec_push(A_UNIT, &h->u.launch.variants, own);
		h->u.launch.variants.p[i].fn = before.p[i];
	}
}

void lower_single_trips(Module *m)
{
	Pairs known = { 0 };
	ir_walk_launches(m, put_before, &known);
	FnVec all = { 0 };
	for (int i = 0; i < m->fns.n; i++) {
		for (int k = 0; k < known.n; k++)
			for (int j = 0; known.p[k].fn == m->fns.p[i] && j < known.p[k].variants.n; j++) {
				Fn *variant = known.p[k].variants.p[j];
				variant->name = kernel_name_apart(m, variant->name);
				vec_push(A_TMP, &all, variant);
			}
		vec_push(A_TMP, &all, m->fns.p[i]);
	}
	if (all.n == m->fns.n) return;
	m->fns.n = 0;
	for (int i = 0; i < all.n; i++) vec_push(A_UNIT, &m->fns, all.p[i]);
}
