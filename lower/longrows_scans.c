/* longrows, for kernels that scan long rows: a version in two steps, for calls of so few rows that a thread block for
 * each leaves most multiprocessors without work.
 *
 *   k_parts    with one more axis in its grid: tile block p reduces part p of a row by what the scan combines with, and
 *              stores what it has in workspace
 *   k_rest     with the same grid: combines what the parts before part p have, in their order, and scans part p from
 *              there on
 *
 * How many parts a row has follows from the dimensions alone, so results do not depend on the device. */
#include "lower/longrows_parts.h"

#include "ir/ir_copy.h"
#include "ir/monoid.h"
#include "lower/steps.h"
#include "lower/strip.h"

typedef struct Scans {
	Parts k;
	const Sym *blocks;      /* of the kernel's grid */
} Scans;

/* Of value k of a scan: what changes nothing. */
static Num identity(const Op *op, int k)
{
	Num n = { 0 };
	if (op->nregion) ir_const_value(ir_in(op, scan_values(op) + k), &n);
	else n = monoid_identity(op->code, ir_in(op, k)->type->elem, ir_int(op, AT_NAN, 0) != 0);
	return n;
}

/* The author's function in another kernel: a reduction's or a scan's. */
static void copy_function(Builder *b, Op *to, const Op *from)
{
	const IrBlock *f = from->region[0];
	Builder inner = { b->fn, ir_region(to), NULL, b->span };
	Val **args = NEW_ARRAY(A_TMP, Val *, f->args.n);
	for (int k = 0; k < f->args.n; k++) args[k] = ir_arg(inner.block, f->args.p[k]->type, f->args.p[k]->name);
	copy_block(&inner, f, args);
}

/* A scan, or the reduction by the same, of values x along an axis. */
static Op *again(Builder *b, const Op *scan, Val *const *x, bool reduces, int axis)
{
	int n = scan_values(scan), all = scan->nregion ? 2 * n : n;
	Val **in = NEW_ARRAY(A_TMP, Val *, all);
	const Type **out = NEW_ARRAY(A_TMP, const Type *, n);
	for (int k = 0; k < n; k++) {
		uint8_t log2[TILE_RANK];
		const Type *t = x[k]->type;
		for (int a = 0; a < t->rank; a++) log2[a] = reduces && a == axis ? 0 : t->log2[a];
		in[k] = x[k];
		out[k] = type_tile(t->elem, t->rank, log2);
		if (scan->nregion) in[n + k] = ir_const_num(b, type_scalar(t->elem), identity(scan, k));
	}
	OpCode code = !reduces ? scan->code : scan->nregion ? OP_REDUCE
		: monoid_reduction(monoid_combine(scan->code));
	Op *r = ir_op(b, code, all, in, n, out);
	static const AttrKey modes[] = { AT_ROUNDING, AT_SUBNORMALS, AT_NAN };
	if (!reduces) copy_attrs(r, scan);
	for (int i = 0; reduces && i < 3; i++)
		if (ir_int(scan, modes[i], 0)) ir_set_int(r, modes[i], ir_int(scan, modes[i], 0));
	ir_set_int(r, AT_AXIS, axis);
	if (scan->nregion) copy_function(b, r, scan);
	return r;
}

/* ---- the steps ---- */
/* A step's kernel: a thread block has one part of a block of rows. number: the parameter of the next scan's parts. */
typedef struct Step { Fn *to; Val *block, *part; PartSpot at; int number; } Step;

static Val *block_of(Builder *b, const Fn *to, int axes)
{
	Fn of = *to;
	of.ngrid = axes;
	return steps_block_number(b, &of);
}

static Step begin_step(Scans *w, const char *name)
{
	Fn *to = steps_kernel(w->k.p.fn, name);
	int axis = to->ngrid;
	Step s = { .to = to, .number = to->params.n };
	for (int i = 0; i < w->k.p.scans.n; i++)
		for (int k = 0; k < scan_values(w->k.p.scans.p[i]); k++)
			add_workspace_view(to, "parts", ir_in(w->k.p.scans.p[i], k)->type->elem, 2,
				(const Sym *[]){ w->blocks, w->k.parts });
	to->grid[axis] = w->k.parts;
	to->ngrid = axis + 1;
	for (int a = 0; a < 4; a++) to->sweep[a] = 0;
	Builder b = { to, to->body, NULL, to->span };
	s.block = block_of(&b, to, axis);
	s.part = steps_grid_index(&b, axis);
	s.at = parts_place(&w->k, to, b, NULL, s.part);
	return s;
}

/* The operands of a scan, of the part. */
static Val **values_here(const PartSpot *at, const Op *scan)
{
	Val **x = NEW_ARRAY(A_TMP, Val *, scan_values(scan));
	for (int k = 0; k < scan_values(scan); k++) x[k] = parts_here(at, ir_in(scan, k));
	return x;
}

static Fn *write_parts(Scans *w)
{
	Step s = begin_step(w, "parts");
	bool *needed = NEW_ARRAY(A_TMP, bool, w->k.p.fn->nval);
	for (int i = 0; i < w->k.p.scans.n; i++)
		for (int k = 0; k < scan_values(w->k.p.scans.p[i]); k++) parts_need(&s.at, needed, ir_in(w->k.p.scans.p[i], k));
	parts_do(&w->k, &s.at, needed);
	for (int i = 0; i < w->k.p.scans.n; i++) {
		const Op *scan = w->k.p.scans.p[i];
		Op *all = again(&s.at.b, scan, values_here(&s.at, scan), true, ir_axis(scan));
		for (int k = 0; k < all->nout; k++) {
			Val *in[4] = { s.to->params.p[s.number++].val, s.block, s.part, scalar_of(&s.at.b, all->out[k]) };
			ir_op(&s.at.b, OP_SCATTER, 4, in, 0, NULL);
		}
	}
	ir_op(&s.at.b, OP_RETURN, 0, NULL, 0, NULL);
	return s.to;
}

/* What the parts of the row that come before this one have, combined: of each value. */
static Val **before_part(const Scans *w, Step *s, const Op *scan)
{
	Builder *b = &s->at.b;
	int n = scan_values(scan);
	uint8_t log2[2] = { 0, (uint8_t)log2_of(w->k.most) };
	Val **x = NEW_ARRAY(A_TMP, Val *, n);
	const Type *places = line(EL_I32, w->k.most);
	Val *number_of = ir_op1(b, OP_IOTA, places, 0, NULL), *here = spread(b, places, s->at.part);
	Val *is = compare(b, ir_int(scan, AT_DIRECTION, 0) ? OP_GT : OP_LT, number_of, here);
	for (int k = 0; k < n; k++) {
		Elem e = ir_in(scan, k)->type->elem;
		Val *none = ir_const_num(b, type_scalar(e), identity(scan, k));
		Val *in[4] = { b->fn->params.p[s->number + k].val, s->block, num_i32(b, 0), none };
		Val *r = ir_op1(b, OP_LOAD, type_tile(e, 2, log2), 4, in);
		ir_set_ints(r->def, AT_STEPS, 2, (int64_t[]){ 1, w->k.most });
		r = ir_unary(b, OP_RESHAPE, line(e, w->k.most), r);
		x[k] = choose(b, is, r, ir_const_num(b, r->type, identity(scan, k)));
	}
	Op *all = again(b, scan, x, true, 0);
	for (int k = 0; k < n; k++) x[k] = scalar_of(b, all->out[k]);
	return x;
}

static void scan_part(const Scans *w, Step *s, const Op *scan)
{
	PartSpot *at = &s->at;
	Builder *b = &at->b;
	int n = scan_values(scan);
	Op *here = again(b, scan, values_here(at, scan), false, ir_axis(scan));
	Val **before = before_part(w, s, scan), **r = NEW_ARRAY(A_TMP, Val *, n);
	for (int k = 0; k < n; k++) before[k] = spread(b, here->out[k]->type, before[k]);
	strip_combine(b, scan, before, here->out, r);
	for (int k = 0; k < n; k++) {
		at->map[scan->out[k]->id] = r[k];
		r[k]->name = scan->out[k]->name;
	}
	s->number += n;
}

static Fn *write_rest(Scans *w)
{
	Step s = begin_step(w, "rest");
	for (int i = 0; i < w->k.p.ops.n; i++) {
		const Op *op = w->k.p.ops.p[i];
		if (op_is_scan(op)) scan_part(w, &s, op);
		else parts_repeat(&w->k, &s.at, op);
	}
	return s.to;
}

/* Calls of so few rows, and long ones, that two steps are faster. */
static const Sym *gains(const Scans *w, int64_t bytes)
{
	const Sym *row = sym_mul(w->k.p.extent, sym_const(bytes));
	return sym_logic(SYM_AND, sym_cmp(SYM_LE, w->blocks, sym_const(COST_SCANS_FEW)),
		sym_cmp(SYM_LE, sym_const(COST_SCANS_ROW), row));
}

void scans_divide(const PartsPlan *p, const LowerCx *cx)
{
	Fn *fn = p->fn;
	Scans w = { .k = { .p = *p }, .blocks = sym_const(1) };
	int64_t length = (int64_t)1 << p->log2, bytes = parts_element_bytes(p);
	if (!bytes || fn->ngrid > 3 || p->log2 < COST_PARTS_TILE) return;
	while (bytes << w.k.part_log2 < COST_PARTS_BYTES) w.k.part_log2++;
	int64_t part = (int64_t)1 << w.k.part_log2;
	w.k.most = length >> w.k.part_log2;
	w.k.parts = sym_const(w.k.most);
	const Sym *end = sym_add(p->extent, sym_const(p->pads));
	if (p->ends) w.k.parts = sym_min(sym_cdiv(end, sym_const(part)), w.k.parts);
	for (int i = 0; i < fn->ngrid; i++) w.blocks = sym_mul(w.blocks, fn->grid[i]);
	Steps *s = steps_begin(fn, cx, sym_cmp(SYM_LE, p->extent, sym_const(length)), gains(&w, bytes));
	steps_add(s, write_parts(&w));
	steps_add(s, write_rest(&w));
}
