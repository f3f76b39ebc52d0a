/* Statements of the CUDA Tile C++ target: blocks, loops, branches, and which op is printed by whom. */
#include <string.h>

#include "base/diag.h"
#include "emit/lines.h"
#include "emit/optext.h"
#include "emit_tile/tile.h"

/* ---- comments ---- */
static Str comment_name(void *g, const Val *v) { return tl_name(g, v); }

static Str comment_text_of(void *g, const Val *v)
{
	Str text = ((Tg *)g)->val[v->id].text;
	return v->type->kind != TY_VIEW && text ? text : type_is_tile(v->type) ? tl_name(g, v) : NULL;
}

static void comment(Tg *g, const Op *op) { op_comment(g->o, op, &(OpNames){ g, comment_name, comment_text_of }, ""); }

/* ---- values that cross a region's border ---- */
static bool is_slot(const Frame *f, Str text, int except)
{
	for (int i = 0; i < f->n; i++)
		if (i != except && f->slot[i] == text) return true;
	return false;
}

/* All values, then all variables: a value that is another variable of the frame is taken first. */
static void assign(void *ctx, const Op *op, int first, const Frame *f)
{
	Tg *g = ctx;
	int n = op->nin - first;
	if (n > f->n) bug("%d values for %d variables", n, f->n);
	Str *now = NEW_ARRAY(A_TMP, Str, n);
	for (int i = 0; i < n; i++) {
		const Val *v = ir_in(op, first + i);
		now[i] = tl_text(g, v);
		if (!is_slot(f, now[i], i)) continue;
		Str t = tl_temp(g, "new");
		out_printf(g->o, "const auto %s = %s;\n", t, now[i]);
		now[i] = t;
	}
	for (int i = 0; i < n; i++)
		if (now[i] != f->slot[i]) out_printf(g->o, "%s = %s;\n", f->slot[i], now[i]);
}

static void declare(void *ctx, Frame *f, int i, const Val *like, const Val *init)
{
	Tg *g = ctx;
	f->slot[i] = tl_name(g, like);
	out_printf(g->o, "%s %s", tl_type(g, like->type), f->slot[i]);
	if (init) out_printf(g->o, " = %s", tl_text(g, init));
	out_puts(g->o, ";\n");
}

static void bind(void *g, const Val *v, const Frame *f, int i) { ((Tg *)g)->val[v->id].text = f->slot[i]; }
static Str scalar_of(void *g, const Val *v) { return tl_text(g, v); }
static void block_of(void *g, const IrBlock *b) { tl_block(g, b); }

void tl_control_init(Tg *g)
{
	g->regions = (Regions){ .g = g, .o = g->o, .forever = "while (true)", .scalar = scalar_of, .block = block_of,
		.declare = declare, .assign = assign, .bind = bind };
}

/* ---- constructs ---- */
bool tl_loop_has(const IrBlock *body, OpCode jump)
{
	for (const Op *op = body->first; op; op = op->next) {
		if (op->code == jump) return true;
		for (int i = 0; i < op->nregion && op->code != OP_FOR && op->code != OP_WHILE; i++)
			if (tl_loop_has(op->region[i], jump)) return true;
	}
	return false;
}

/* irange becomes a loop that NVIDIA's compiler pipelines, of a C loop it does not know that its iterations are counted;
 * but where one may be left early it warns. */
static void loop_head(Tg *g, const IrBlock *b, const char *t, Str i, Str lo, Str hi)
{
	if (tl_loop_has(b, OP_BREAK)) out_printf(g->o, "for (%s %s = %s; %s < %s; %s++) {\n", t, i, lo, i, hi, i);
	else out_printf(g->o, "for (const %s %s : ct::irange<%s>(%s, %s)) {\n", t, i, t, lo, hi);
	out_in(g->o);
}

void tl_loop_open(Tg *g, const Op *op, TRange *r, Str i)
{
	const IrBlock *b = op->region[0];
	const char *t = tl_elem(b->args.p[0]->type->elem);
	Num n;
	if (ir_const_value(ir_in(op, 2), &n) && n.i == 1) {
		loop_head(g, b, t, i, r->lo, r->hi);
	} else {        /* counted, so that the last step cannot overflow */
		Str from = r->lo, k = tl_temp(g, "k"), trips = tl_temp(g, "trips");
		out_printf(g->o, "const long long %s = ct_trips<%s>(%s, %s, %s);\n", trips, t, from, r->hi, r->step);
		r->lo = str_intern("0"), r->hi = trips;
		loop_head(g, b, "long long", k, r->lo, r->hi);
		out_printf(g->o, "const %s %s = ct_counter<%s>(%s, %s, %s);\n", t, i, t, from, r->step, k);
	}
}

/*
 * NVIDIA's compiler takes what a loop leaves in two variables for one value where both get the same in each iteration,
 * and one of them is not read there: without any iteration they would both be what the other one was before.
 */
static void keep_initial(Tg *g, const Op *op, Val *const *carried, const Frame *f, const TRange *r)
{
	for (int i = 0; f->n > 1 && i < f->n; i++)
		if (!g->uses[carried[i]->id] && g->uses[op->out[i]->id])
			out_printf(g->o, "if (!(%s < %s)) %s = %s;\n", r->lo, r->hi, f->slot[i], tl_text(g, ir_in(op, 3 + i)));
}

static void emit_for(Tg *g, const Op *op)
{
	const IrBlock *b = op->region[0];
	Val *iv = b->args.p[0], *const *carried = b->args.p + 1;
	TRange r = { tl_text(g, ir_in(op, 0)), tl_text(g, ir_in(op, 1)), tl_text(g, ir_in(op, 2)) };
	Str i = tl_name(g, iv);
	Frame f;
	regions_open(&g->regions, &f, op, op->nout, carried, 3);
	regions_bind(&g->regions, carried, &f);
	g->val[iv->id].text = i;
	tl_loop_open(g, op, &r, i);
	regions_run(&g->regions, &f, b);
	out_off(g->o);
	out_puts(g->o, "}\n");
	keep_initial(g, op, carried, &f, &r);
	regions_close(&g->regions, op, &f);
}

/* ---- ops ---- */
static void emit_launch(Tg *g, const Op *op)
{
	Val *v = op->out[0];
	const char *t = tl_elem(v->type->elem);
	Str sym = op->code == OP_LAUNCH ? tl_launch(g, ir_attr(op, AT_SYM)->u.sym) : NULL;
	if (sym && v->type->elem == EL_I64) g->val[v->id].text = sym;   /* as the launcher passes it */
	else if (sym) tl_define(g, v, str_fmt("(%s)%s", t, sym));
	else tl_define(g, v, str_fmt("(%s)ct_bid%d", t, ir_axis(op)));
}

static void print_op(Tg *g, const Op *op)
{
	if (op_has_tile(op) && !op_has(op, OPF_TERM) && !op->nregion && op->code != OP_CONST)
		comment(g, op);
	if (regions_construct(&g->regions, op)) return;
	if (op_is_elem_access(op)) {
		tl_access(g, op);
		return;
	}
	if (op_has(op, OPF_REDUCE) && !op->nregion) {
		if (op_rows[op->code].type == TR_REDUCE_INDEX) tl_reduce_index(g, op);
		else tl_reduce(g, op);
		return;
	}
	switch (op->code) {
	case OP_FOR: emit_for(g, op); return;
	case OP_LAUNCH: case OP_BID: emit_launch(g, op); return;
	case OP_VIEW: tl_view(g, op); return;
	case OP_LOAD: tl_load(g, op); return;
	case OP_STORE: tl_store(g, op); return;
	case OP_MMA: tl_mma(g, op); return;
	case OP_CUMSUM: case OP_CUMPROD: tl_scan(g, op); return;
	case OP_ASSERT: case OP_CHECK: case OP_ASSUME:
		if (g->opt->checked) tl_check(g, op);
		return;
	case OP_PRINT: tl_print(g, op); return;
	default: break;
	}
	if (!tl_shaped(g, op) && !tl_elementwise(g, op) && !tl_written(g, op))
		bug("`%s` has no text in CUDA Tile C++", op_rows[op->code].name);
}

void tl_op(Tg *g, const Op *op)
{
	if (op_is_dead(op, g->uses)) return;
	Span outer = g->at;
	if (op->code != OP_CONST && op->span.hi) lines_mark(g->o, g->opt, g->at = op->span);
	print_op(g, op);
	if (outer.hi && outer.lo != g->at.lo) lines_mark(g->o, g->opt, outer);
	g->at = outer;
}

void tl_block(Tg *g, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) tl_op(g, op);
}
