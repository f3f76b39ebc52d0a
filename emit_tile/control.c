/* Statements of the CUDA Tile C++ target: blocks, loops, branches, and which op is printed by whom. */
#include <string.h>

#include "base/diag.h"
#include "emit/lines.h"
#include "emit_tile/tile.h"

/* ---- comments ---- */
static Str operand(Tg *g, const Val *v)
{
	Num n;
	if (v->def && v->def->code == OP_CONST && ir_const_value(v, &n)) {
		if (elem_is_any_float(v->type->elem)) return str_fmt("%g", n.f);
		return str_fmt("%lld", (long long)n.i);
	}
	if (v->type->kind != TY_VIEW && g->val[v->id].text) return g->val[v->id].text;
	if (type_is_tile(v->type)) return tl_name(g, v);
	while (!v->name && v->def && v->def->nin) v = ir_in(v->def, 0);
	return v->name ? v->name : "memory";
}

static void comment(Tg *g, const Op *op)
{
	Out *o = out_new();
	bool pads = op->code == OP_LOAD || op->code == OP_GATHER;       /* their last operand */
	for (int i = 0; i < op->nout; i++) out_printf(o, "%s%s", i ? ", " : "", tl_name(g, op->out[i]));
	out_printf(o, "%s%s(", op->nout ? " = " : "", op_rows[op->code].name);
	for (int i = 0; i < op->nin - pads && i < 8; i++) out_printf(o, "%s%s", i ? ", " : "", operand(g, ir_in(op, i)));
	const Type *t = op->nout ? op->out[0]->type : NULL;
	for (int i = op->nin - 1; i >= 0 && !t; i--)
		if (type_is_tile(ir_in(op, i)->type)) t = ir_in(op, i)->type;
	out_printf(o, ")%s%s", t ? ": " : "", t ? type_text(t) : "");
	out_printf(g->o, "/* %s */\n", o->p);
	out_free(o);
}

/* ---- values that cross a region's border ---- */
static bool is_slot(const TFrame *f, Str text, int except)
{
	for (int i = 0; i < f->n; i++)
		if (i != except && f->slot[i] == text) return true;
	return false;
}

/* All values, then all variables: a value that is another variable of the frame is taken first. */
static void assign(Tg *g, const Op *op, int first, const TFrame *f)
{
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

static const TFrame *frame_of(const Tg *g, OpCode a, OpCode b)
{
	const TFrame *f = g->frame;
	while (f && f->op->code != a && f->op->code != b) f = f->up;
	if (!f) bug("a jump without its construct");
	return f;
}

/* Variables for n values; initial values from op's operands at `first`, or none. */
static void frame_open(Tg *g, TFrame *f, const Op *op, int n, Val *const *like, int first)
{
	*f = (TFrame){ g->frame, op, NEW_ARRAY(A_TMP, Str, n), n };
	for (int i = 0; i < n; i++) {
		f->slot[i] = tl_name(g, like[i]);
		out_printf(g->o, "%s %s", tl_type(g, like[i]->type), f->slot[i]);
		if (first >= 0) out_printf(g->o, " = %s", tl_text(g, ir_in(op, first + i)));
		out_puts(g->o, ";\n");
	}
}

static void bind(Tg *g, Val *const *v, const TFrame *f)
{
	for (int i = 0; i < f->n; i++) g->val[v[i]->id].text = f->slot[i];
}

static void region(Tg *g, const TFrame *f, const IrBlock *b)
{
	TFrame *up = g->frame;
	g->frame = (TFrame *)f;
	tl_block(g, b);
	g->frame = up;
}

/* ---- constructs ---- */
static bool breaks(const IrBlock *b)    /* out of the loop whose body it is */
{
	for (const Op *op = b->first; op; op = op->next) {
		if (op->code == OP_BREAK) return true;
		for (int i = 0; i < op->nregion && op->code != OP_FOR && op->code != OP_WHILE; i++)
			if (breaks(op->region[i])) return true;
	}
	return false;
}

/* irange becomes a loop that NVIDIA's compiler pipelines, of a C loop it does not know that its rounds are counted; but where one may
 * be left early it warns. */
static void loop_head(Tg *g, const IrBlock *b, const char *t, Str i, Str lo, Str hi)
{
	if (breaks(b)) out_printf(g->o, "for (%s %s = %s; %s < %s; %s++) {\n", t, i, lo, i, hi, i);
	else out_printf(g->o, "for (const %s %s : ct::irange<%s>(%s, %s)) {\n", t, i, t, lo, hi);
	out_in(g->o);
}

static void emit_for(Tg *g, const Op *op)
{
	const IrBlock *b = op->region[0];
	Val *iv = b->args.p[0], *const *carried = b->args.p + 1;
	Str lo = tl_text(g, ir_in(op, 0)), hi = tl_text(g, ir_in(op, 1)), step = tl_text(g, ir_in(op, 2)), i = tl_name(g, iv);
	const char *t = tl_elem(iv->type->elem);
	Num n;
	TFrame f;
	frame_open(g, &f, op, op->nout, carried, 3);
	bind(g, carried, &f);
	g->val[iv->id].text = i;
	if (ir_const_value(ir_in(op, 2), &n) && n.i == 1) {
		loop_head(g, b, t, i, lo, hi);
	} else {        /* counted, so that the last step cannot overflow */
		Str k = tl_temp(g, "k"), trips = tl_temp(g, "trips");
		out_printf(g->o, "const long long %s = ct_trips<%s>(%s, %s, %s);\n", trips, t, lo, hi, step);
		loop_head(g, b, "long long", k, str_intern("0"), trips);
		out_printf(g->o, "const %s %s = ct_counter<%s>(%s, %s, %s);\n", t, i, t, lo, step, k);
	}
	region(g, &f, b);
	out_off(g->o);
	out_puts(g->o, "}\n");
	bind(g, op->out, &f);
}

static void emit_while(Tg *g, const Op *op)
{
	TFrame carried, results;
	frame_open(g, &carried, op, op->nin, op->region[0]->args.p, 0);
	frame_open(g, &results, op, op->nout, op->out, -1);
	bind(g, op->region[0]->args.p, &carried);
	out_puts(g->o, "while (true) {\n");
	out_in(g->o);
	/* the condition's values go to the results; the body sees them there */
	region(g, &results, op->region[0]);
	bind(g, op->region[1]->args.p, &results);
	TFrame body = carried;          /* yield and continue: next round; break: the results */
	body.up = &results;
	results.up = g->frame;
	region(g, &body, op->region[1]);
	out_off(g->o);
	out_puts(g->o, "}\n");
	bind(g, op->out, &results);
}

static bool is_empty(const IrBlock *b) { return !b->first || (b->first->code == OP_YIELD && !b->first->nin); }

static void emit_if(Tg *g, const Op *op)
{
	TFrame f;
	frame_open(g, &f, op, op->nout, op->out, -1);
	out_printf(g->o, "if (%s) {\n", tl_text(g, ir_in(op, 0)));
	out_in(g->o);
	region(g, &f, op->region[0]);
	out_off(g->o);
	if (!is_empty(op->region[1])) {
		out_puts(g->o, "} else {\n");
		out_in(g->o);
		region(g, &f, op->region[1]);
		out_off(g->o);
	}
	out_puts(g->o, "}\n");
	bind(g, op->out, &f);
}

static void emit_scope(Tg *g, const Op *op)
{
	TFrame f;
	frame_open(g, &f, op, op->nout, op->out, -1);
	out_puts(g->o, "do {\n");
	out_in(g->o);
	region(g, &f, op->region[0]);
	out_off(g->o);
	out_puts(g->o, "} while (0);\n");
	bind(g, op->out, &f);
}

static void emit_jump(Tg *g, const Op *op)
{
	const TFrame *f;
	switch (op->code) {
	case OP_YIELD: assign(g, op, 0, g->frame); return;
	case OP_CONDITION:
		assign(g, op, 1, g->frame);
		out_printf(g->o, "if (!%s) break;\n", tl_text(g, ir_in(op, 0)));
		return;
	case OP_BREAK:
		f = frame_of(g, OP_FOR, OP_WHILE);
		if (f->op->code == OP_WHILE) f = f->up;         /* a while has its results in a frame of their own */
		assign(g, op, 0, f);
		out_puts(g->o, "break;\n");
		return;
	case OP_CONTINUE:
		assign(g, op, 0, frame_of(g, OP_FOR, OP_WHILE));
		out_puts(g->o, "continue;\n");
		return;
	case OP_LEAVE:
		assign(g, op, 0, frame_of(g, OP_SCOPE_, OP_SCOPE_));
		out_puts(g->o, "break;\n");
		return;
	default:
		if (op->parent->owner) out_puts(g->o, "return;\n");
		return;
	}
}

/* ---- ops ---- */
static void emit_launch(Tg *g, const Op *op)
{
	Val *v = op->out[0];
	const char *t = tl_elem(v->type->elem);
	if (op->code == OP_LAUNCH) tl_define(g, v, str_fmt("(%s)%s", t, tl_launch(g, ir_attr(op, AT_SYM)->u.sym)));
	else tl_define(g, v, str_fmt("(%s)ct_bid%d", t, (int)ir_int(op, AT_AXIS, 0)));
}

static bool is_dead(const Tg *g, const Op *op)
{
	if (!(op_rows[op->code].flags & OPF_PURE) || op->nregion) return false;
	for (int i = 0; i < op->nout; i++)
		if (g->uses[op->out[i]->id]) return false;
	return true;
}

static bool has_tile(const Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (type_is_tile(op->out[i]->type)) return true;
	for (int i = 0; i < op->nin; i++)
		if (type_is_tile(ir_in(op, i)->type)) return true;
	return false;
}

static void print_op(Tg *g, const Op *op)
{
	if (has_tile(op) && !(op_rows[op->code].flags & OPF_TERM) && !op->nregion && op->code != OP_CONST) comment(g, op);
	switch (op->code) {
	case OP_YIELD: case OP_CONDITION: case OP_BREAK: case OP_CONTINUE: case OP_LEAVE: case OP_RETURN: emit_jump(g, op); return;
	case OP_FOR: emit_for(g, op); return;
	case OP_WHILE: emit_while(g, op); return;
	case OP_IF: emit_if(g, op); return;
	case OP_SCOPE_: emit_scope(g, op); return;
	case OP_LAUNCH: case OP_BID: emit_launch(g, op); return;
	case OP_VIEW: tl_view(g, op); return;
	case OP_LOAD: tl_load(g, op); return;
	case OP_STORE: tl_store(g, op); return;
	case OP_GATHER: case OP_SCATTER: case OP_LOAD_PTR: case OP_STORE_PTR: case OP_ATOMIC_RMW: case OP_ATOMIC_RMW_PTR: case OP_ATOMIC_CAS:
	case OP_ATOMIC_CAS_PTR: case OP_ATOMIC_LOAD: case OP_ATOMIC_STORE: case OP_ATOMIC_LOAD_PTR: case OP_ATOMIC_STORE_PTR:
		tl_access(g, op);
		return;
	case OP_MMA: tl_mma(g, op); return;
	case OP_SUM: case OP_PROD: case OP_REDUCE_MAX: case OP_REDUCE_MIN: case OP_REDUCE_AND: case OP_REDUCE_OR: case OP_REDUCE_XOR:
		tl_reduce(g, op);
		return;
	case OP_MAX_ELEMENT: case OP_MIN_ELEMENT: tl_reduce_index(g, op); return;
	case OP_CUMSUM: case OP_CUMPROD: tl_scan(g, op); return;
	case OP_ASSERT: case OP_CHECK: case OP_ASSUME:
		if (g->opt->checked) tl_check(g, op);
		return;
	case OP_PRINT: tl_print(g, op); return;
	default: break;
	}
	if (!tl_shaped(g, op) && !tl_elementwise(g, op) && !tl_written(g, op)) tl_lacks(g, op, NULL);
}

void tl_op(Tg *g, const Op *op)
{
	if (is_dead(g, op)) return;
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
