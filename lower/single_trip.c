/* Variants of kernels for rows that one tile holds.
 *
 * A kernel that goes through a row tile by tile, `for j in 0 .. cdiv(n, 1024)`, is written for rows of any length. Of a
 * row that one tile holds its loops have one iteration, and pay for what more of them would need: partial results that
 * are carried, and lanes for the whole tile, though a row of 100 elements is a tenth of it. As straight-line code the
 * kernel is one of rows that fit their tile: a row gets as many warps and lanes as it needs (by_warp.c, cut.c), and
 * what two loops load is loaded once.
 *
 * So such a kernel gets a variant before it, `where 1 <= n` and `n <= 1024`, without the loops, if all loops have that
 * one number of iterations. The kernel itself serves all other calls. It has none where an iteration takes few elements
 * (few rows are that short, and a warp has few lanes to spare), where rules or costs choose between variants, or where
 * the author says by how many threads it runs. Figures: bench/notes/loops.md.
 *
 * A kernel without loops whose tiles lie side by side along a row, `grid [cdiv(m, 16), cdiv(n, 128)]`, and who reduces
 * each tile along the row, as one that gives blocks a scale each, computes all of a tile for a row of 17 elements, too.
 * Its variant has one tile block along the row, and one for each row, so that it is a kernel of rows that fit their
 * tile. It has none where that is not proved to be one (by_warp.c); what only moves and maps elements has versions of
 * another kind (narrow.c). */
#include "base/cost.h"
#include "ir/ir_copy.h"
#include "ir/valsym.h"
#include "lower/pins.h"
#include "lower/placed.h"
#include "lower/widen.h"

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

static void ask(Fn *fn, const Sym *cond)
{
	vec_push(A_UNIT, &fn->where, ((IrWhere){ .cond = cond, .text = sym_text(cond), .span = fn->span }));
}

/* The kernel again, for rows of 1 to so many elements. */
static Fn *variant_for(Fn *fn, const Sym *length, int64_t tile)
{
	Fn *once = copy_kernel(fn);
	IrWhereVec where = { 0 };
	for (int i = 0; i < fn->where.n; i++) vec_push(A_UNIT, &where, fn->where.p[i]);
	once->where = where;
	once->name = str_fmt("%s_once", fn->name);
	ask(once, sym_cmp(SYM_LE, length, sym_const(tile)));
	ask(once, sym_cmp(SYM_LE, sym_const(1), length));
	return once;
}

static Fn *single_trip(Fn *fn)
{
	int64_t tile;
	const Sym *length = length_of(fn, &tile);
	if (!length) return NULL;
	Fn *once = variant_for(fn, length, tile);
	for (Op *op = once->body->first, *next; op; op = next) {
		next = op->next;
		if (op->code == OP_FOR) run_once(op);
	}
	ir_number(once);
	return once;
}

/* ---- tiles side by side ---- */
/* The index along the axis is 0, and the grid has the axis no more. */
static void drop_axis(Fn *fn, int axis)
{
	for (Op *op = fn->body->first, *next; op; op = next) {
		next = op->next;
		if (op->code != OP_BID || ir_axis(op) < axis) continue;
		if (ir_axis(op) > axis) {
			ir_set_int(op, AT_AXIS, ir_axis(op) - 1);
			continue;
		}
		Builder b = build_before(op);
		ir_replace(op->out[0], ir_const_int(&b, op->out[0]->type, 0));
		ir_remove(op);
	}
	fn->ngrid--;
	for (int i = axis; i < fn->ngrid; i++) fn->grid[i] = fn->grid[i + 1];
	fn->grid[fn->ngrid] = NULL;
}

/* log2 of the rows that a tile block along the axis has. */
typedef struct Rows { const Widen *w; int log2; } Rows;

static void find_rows(void *ctx, Op *op)
{
	Rows *r = ctx;
	if (op->code != OP_STORE || !type_is_tile(ir_accessed(op)->type)) return;
	int a = widen_access(r->w, op);
	if (a >= 0 && ir_accessed(op)->type->log2[a] > r->log2) r->log2 = ir_accessed(op)->type->log2[a];
}

/* Tile blocks of one row each; false: a tile block's rows need each other. */
static bool divide_rows(Fn *fn, int axis)
{
	Widen w;
	Rows r = { &w, 0 };
	if (!widen_plan(&w, fn, axis)) return false;
	ir_walk(fn->body, find_rows, &r);
	if (!r.log2) return true;
	if (!widen_parts(&w, r.log2)) return false;
	widen_divide(&w, r.log2);
	fn->joined[axis] = 0;
	return true;
}

static void find_reduction(void *ctx, Op *op) { *(bool *)ctx |= op_is_reduce(op) || op_is_scan(op); }

static void find_region(void *ctx, Op *op) { *(bool *)ctx |= op->nregion && !op_is_scan(op) && !op_is_reduce(op); }

static Fn *single_tile_along(Fn *fn, int axis)
{
	const Sym *grid = fn->grid[axis];
	int64_t tile;
	if (grid->kind != SYM_CDIV || !sym_is_const(grid->arg[1], &tile) || tile < COST_SINGLE_TILE) return NULL;
	if (sym_is_const(grid->arg[0], NULL) || !sym_is_of_call(grid->arg[0])) return NULL;
	Fn *once = variant_for(fn, grid->arg[0], tile);
	drop_axis(once, axis);
	for (int a = 0; a < once->ngrid; a++)
		if (!divide_rows(once, a)) return NULL;
	drop_dead(once);                        /* what is left of the axis */
	Fn *asked = copy_kernel(once);          /* what is found is noted there */
	by_warp_plan(asked);
	ir_number(once);
	return asked->short_rows && tile == (int64_t)1 << asked->row_log2 ? once : NULL;
}

static Fn *single_tile(Fn *fn)
{
	bool reduces = false, loops = false;
	ir_walk(fn->body, find_reduction, &reduces);
	ir_walk(fn->body, find_region, &loops);
	if (!reduces || loops || fn->ngrid < 2 || fn->ordered || ir_sweeps(fn)) return NULL;
	for (int axis = fn->ngrid - 1; axis >= 0; axis--) {
		Fn *once = single_tile_along(fn, axis);
		if (once) return once;
	}
	return NULL;
}

/* fn -> its variant, NULL: it has none */
typedef struct Pair { Fn *fn, *once; } Pair;
typedef VEC(Pair) Pairs;

static Fn *variant_of(Pairs *known, Fn *fn)
{
	for (int i = 0; i < known->n; i++)
		if (known->p[i].fn == fn) return known->p[i].once;
	Fn *once = NULL;
	if (!fn->plan && !ir_hints_threads(fn)) once = single_trip(fn);
	if (!fn->plan && !ir_hints_threads(fn) && !once) once = single_tile(fn);
	vec_push(A_TMP, known, ((Pair){ fn, once }));
	return once;
}

static void put_before(void *ctx, HostStmt *h)
{
	if (h->u.launch.rules.n || h->u.launch.variants.n != 1) return;
	Fn *once = variant_of(ctx, h->u.launch.variants.p[0].fn);
	if (!once) return;
	vec_push(A_UNIT, &h->u.launch.variants, h->u.launch.variants.p[0]);
	h->u.launch.variants.p[0].fn = once;
}

void lower_single_trips(Module *m)
{
	Pairs known = { 0 };
	ir_walk_launches(m, put_before, &known);
	FnVec all = { 0 };
	for (int i = 0; i < m->fns.n; i++) {
		for (int k = 0; k < known.n; k++)
			if (known.p[k].fn == m->fns.p[i] && known.p[k].once) vec_push(A_TMP, &all, known.p[k].once);
		vec_push(A_TMP, &all, m->fns.p[i]);
	}
	if (all.n == m->fns.n) return;
	m->fns.n = 0;
	for (int i = 0; i < all.n; i++) vec_push(A_UNIT, &m->fns, all.p[i]);
}
