/* Statements of the C target: blocks, loops, branches, and which op is printed by whom. */
#include <string.h>

#include "base/diag.h"
#include "emit/lines.h"
#include "emit/names.h"
#include "emit/optext.h"
#include "emit_c/cg.h"

static Str comment_name(void *g, const Val *v) { return val_name(g, v); }

static Str comment_text_of(void *g, const Val *v)
{
	const CVal *c = &((Cg *)g)->val[v->id];
	return type_is_tile(v->type) ? val_name(g, v) : c->kind == CV_SCALAR ? c->name : NULL;
}

static void comment(Cg *g, const Op *op, const char *how)
{
	op_comment(g->o, op, &(OpNames){ g, comment_name, comment_text_of }, how);
}

/* ---- values that cross a region's border ---- */
/* Which arrays v reads, each with how: 1 element by element at the same place, 2 elsewhere too. */
typedef struct Read { Str array; int how; } Read;
typedef VEC(Read) Reads;

static void find_reads(Cg *g, const Val *v, int how, Reads *r)
{
	const CVal *c = &g->val[v->id];
	if (!type_is_tile(v->type)) return;
	if (c->kind == CV_STORED) {
		vec_push(A_TMP, r, ((Read){ c->name, how }));
		return;
	}
	if (plan_is_map(v->def)) how = 2;
	for (int i = 0; i < v->def->nin; i++) find_reads(g, ir_in(v->def, i), how, r);
}

static Str saved(Cg *g, const Val *v)
{
	Str t = array_new(g, v->type, temp(g, "new"));
	store_value(g, v, t);
	return t;
}

static void copy_array(Cg *g, Str to, Str from, const Type *t)
{
	out_printf(g->o, "memcpy(%s, %s, sizeof(%s) * %lld);\n", to, from, c_type(t->elem), (long long)type_size(t));
}

/* Must value i be computed before the places are written? It reads one that is written before its own, or its own
 * elsewhere than where it writes. */
static bool is_late(Cg *g, const Val *v, const Frame *f, int i)
{
	Reads r = { 0 };
	find_reads(g, v, 1, &r);
	for (int k = 0; k < r.n; k++) {
		if (r.p[k].array == f->slot[i] && r.p[k].how == 2) return true;
		for (int j = 0; j < i; j++)
			if (f->tile[j] && r.p[k].array == f->slot[j]) return true;
	}
	return false;
}

/* All values, then all places: tiles that read a place written before them are computed ahead; scalars go last, through
 * temporaries, because inline tiles may read them. */
static void assign(Cg *g, const Op *op, int first, const Frame *f)
{
	int n = op->nin - first;
	if (n > f->n) bug("%d values for %d places", n, f->n);
	Str *ahead = NEW_ARRAY(A_TMP, Str, n), *now = NEW_ARRAY(A_TMP, Str, n);
	for (int i = 0; i < n; i++) {
		const Val *v = ir_in(op, first + i);
		if (type_is_tile(v->type) && is_late(g, v, f, i)) ahead[i] = saved(g, v);
	}
	for (int i = 0; i < n; i++) {
		const Val *v = ir_in(op, first + i);
		if (!type_is_tile(v->type)) continue;
		const CVal *c = &g->val[v->id];
		if (ahead[i]) copy_array(g, f->slot[i], ahead[i], v->type);
		else if (c->kind != CV_STORED) store_value(g, v, f->slot[i]);
		else if (c->name != f->slot[i]) copy_array(g, f->slot[i], c->name, v->type);
	}
	for (int i = 0; i < n; i++) {
		const Val *v = ir_in(op, first + i);
		if (type_is_tile(v->type) || scalar(g, v) == f->slot[i]) continue;
		now[i] = n > 1 ? temp(g, "new") : scalar(g, v);
		if (n > 1) out_printf(g->o, "%s %s = %s;\n", c_const(v->type->elem), now[i], scalar(g, v));
	}
	for (int i = 0; i < n; i++)
		if (now[i]) out_printf(g->o, "%s = %s;\n", f->slot[i], now[i]);
}

/* A place for a value: a variable for a scalar, an array for a tile. */
static void declare(void *ctx, Frame *f, int i, const Val *like, const Val *init)
{
	Cg *g = ctx;
	f->slot[i] = val_name(g, like);
	if (f->tile[i]) {
		f->slot[i] = array_new(g, like->type, f->slot[i]);
		if (init) store_value(g, init, f->slot[i]);
	} else {
		out_printf(g->o, "%s %s = %s;\n", c_type(like->type->elem), f->slot[i], init ? scalar(g, init) : "0");
	}
}

static void bind(void *g, const Val *v, const Frame *f, int i)
{
	((Cg *)g)->val[v->id] = (CVal){ .kind = f->tile[i] ? CV_STORED : CV_SCALAR, .name = f->slot[i] };
}

static void use_all(void *g, const Frame *f)    /* no warning where a result is not used */
{
	for (int i = 0; i < f->n; i++) out_printf(((Cg *)g)->o, "(void)%s;\n", f->slot[i]);
}

static void assign_to(void *g, const Op *op, int first, const Frame *f) { assign(g, op, first, f); }
static Str scalar_of(void *g, const Val *v) { return scalar(g, v); }
static void block_of(void *g, const IrBlock *b) { emit_block(g, b); }

void control_init(Cg *g)
{
	g->regions = (Regions){ .g = g, .o = g->o, .forever = "for (;;)", .scalar = scalar_of, .block = block_of,
		.declare = declare, .assign = assign_to, .bind = bind, .used = use_all };
}

/* ---- constructs ---- */
static void emit_for(Cg *g, const Op *op)
{
	const IrBlock *b = op->region[0];
	Val *iv = b->args.p[0], *const *carried = b->args.p + 1;
	Str lo = scalar(g, ir_in(op, 0)), hi = scalar(g, ir_in(op, 1)), step = scalar(g, ir_in(op, 2)), i = val_name(g, iv);
	const char *t = c_type(iv->type->elem);
	Num n;
	Frame f;
	regions_open(&g->regions, &f, op, op->nout, carried, 3);
	regions_bind(&g->regions, carried, &f);
	g->val[iv->id] = (CVal){ .kind = CV_SCALAR, .name = i };
	if (ir_const_value(ir_in(op, 2), &n) && n.i == 1) {
		out_printf(g->o, "for (%s %s = %s; %s < %s; %s++) {\n", t, i, lo, i, hi, i);
		out_in(g->o);
	} else {        /* counted, so that the last step cannot overflow */
		Str k = temp(g, "k"), trips = temp(g, "trips");
		if (!ir_const_value(ir_in(op, 2), &n)) step = str_fmt("(%s < 1 ? 1 : %s)", step, step);
		else if (n.i < 1 && (!n.i || elem_is_signed(iv->type->elem)))  /* known after folding only */
			step = str_intern("1");
		out_printf(g->o, "const uint64_t %s = ct_trips%s(%s, %s, %s);\n", trips,
			elem_is_signed(iv->type->elem) ? "" : "_u", lo, hi, step);
		out_printf(g->o, "for (uint64_t %s = 0; %s < %s; %s++) {\n", k, k, trips, k);
		out_in(g->o);
		out_printf(g->o, "const %s %s = (%s)((uint64_t)%s + %s * (uint64_t)%s);\n(void)%s;\n", t, i, t, lo, k, step, i);
	}
	regions_run(&g->regions, &f, b);
	out_off(g->o);
	out_puts(g->o, "}\n");
	regions_close(&g->regions, op, &f);
}

/* ---- ops ---- */
/* acc of an mma that is the loop's carried tile and goes straight back: the product is added in place. */
static Str in_place(Cg *g, const Op *op)
{
	const Val *acc = ir_in(op, 2), *out = op->out[0];
	const Op *end = op->parent->last, *loop = op->parent->owner;
	if (!loop || loop->code != OP_FOR || !end || end->code != OP_YIELD) return NULL;
	if (acc->def || acc->block != op->parent || g->uses[acc->id] != 1 || g->uses[out->id] != 1) return NULL;
	return ir_in(end, acc->index - 1) == out ? g->val[acc->id].name : NULL;
}

static void emit_scalar(Cg *g, const Op *op)
{
	Val *out = op->out[0];
	const char *t = c_type(out->type->elem);
	Str text, arg[8];
	Num n;
	switch (op->code) {
	case OP_CONST:
		if (!ir_const_value(out, &n)) bug("a constant without a value");
		g->val[out->id] = (CVal){ .kind = CV_SCALAR, .name = num_c(out->type->elem, n) };
		return;
	case OP_LAUNCH: text = str_fmt("(%s)%s", t, launch_c(g, ir_attr(op, AT_SYM)->u.sym)); break;
	case OP_BID: text = str_fmt("(%s)ct_bid%d", t, ir_axis(op)); break;
	case OP_TO_SCALAR: {
		Str idx[TILE_RANK];
		for (int i = 0; i < TILE_RANK; i++) idx[i] = str_intern("0");
		text = elem(g, ir_in(op, 0), idx);
		break;
	}
	default:
		if (op->nin > 8) bug("%s has %d operands", op_rows[op->code].name, op->nin);
		for (int i = 0; i < op->nin; i++) arg[i] = scalar(g, ir_in(op, i));
		text = op_template(g, op, arg);
	}
	Str name = val_name(g, out);
	out_printf(g->o, "%s %s = %s;\n", c_const(out->type->elem), name, text);
	g->val[out->id] = (CVal){ .kind = CV_SCALAR, .name = name };
}

static void emit_tile(Cg *g, const Op *op)      /* elementwise ops and index maps */
{
	for (int i = 0; i < op->nout; i++) {
		Val *v = op->out[i];
		g->val[v->id] = (CVal){ .kind = CV_INLINE };
		if (!g->stored[v->id]) continue;
		Str array = array_new(g, v->type, val_name(g, v));
		store_value(g, v, array);
		g->val[v->id] = (CVal){ .kind = CV_STORED, .name = array };
	}
}

static void emit_literal(Cg *g, const Op *op)
{
	Val *v = op->out[0];
	const IrAttr *values = ir_attr(op, AT_VALUES);
	Str name = val_name(g, v);
	int64_t n = type_size(v->type);
	if (!values) name = array_new(g, v->type, name);
	else out_printf(g->o, "static %s %s[%lld] = {\n", c_type(v->type->elem), name, (long long)n);
	for (int64_t i = 0; i < n; i++) {
		if (values)
			out_printf(g->o, "%s%s", num_c(v->type->elem, values->u.nums.p[i]),
				i + 1 == n ? "\n};\n" : i % 8 == 7 ? ",\n" : ", ");
		else out_printf(g->o, "%s[%lld] = %s;\n", name, (long long)i, scalar(g, ir_in(op, (int)i)));
	}
	g->val[v->id] = (CVal){ .kind = CV_STORED, .name = name };
}

static void print_op(Cg *g, const Op *op)
{
	bool inl = op->nout && type_is_tile(op->out[0]->type) && !g->stored[op->out[0]->id];
	if (op_has_tile(op) && !op_has(op, OPF_TERM) && op->code != OP_CONST)
		comment(g, op, inl ? ", where it is used" : "");
	if (regions_construct(&g->regions, op)) return;
	if (op_is_elem_access(op)) {
		emit_elementwise_access(g, op);
		return;
	}
	if (op_has(op, OPF_REDUCE) && !op->nregion) {
		if (op_rows[op->code].type == TR_REDUCE_INDEX) emit_reduce_index(g, op);
		else emit_reduce(g, op);
		return;
	}
	switch (op->code) {
	case OP_FOR: emit_for(g, op); return;
	case OP_VIEW: emit_view(g, op); return;
	case OP_LOAD: emit_load(g, op); return;
	case OP_STORE: emit_store(g, op); return;
	case OP_MMA: emit_mma(g, op, in_place(g, op)); return;
	case OP_CUMSUM: case OP_CUMPROD: case OP_CUMMAX: case OP_CUMMIN: emit_scan(g, op); return;
	case OP_REDUCE: case OP_SCAN: emit_custom(g, op); return;
	case OP_SORT: emit_sort(g, op); return;
	case OP_TOPK: emit_topk(g, op); return;
	case OP_HISTOGRAM: emit_histogram(g, op); return;
	case OP_LITERAL: emit_literal(g, op); return;
	case OP_PRINT: emit_print(g, op); return;
	case OP_ASSERT: case OP_CHECK: case OP_ASSUME:
		if (g->opt->checked) emit_check(g, op);
		else if (!type_is_tile(ir_in(op, 0)->type)) out_printf(g->o, "(void)%s;\n", scalar(g, ir_in(op, 0)));
		return;
	default: break;
	}
	if (!op->nout) bug("the C target has no text for %s", op_rows[op->code].name);
	if (type_is_tile(op->out[0]->type)) emit_tile(g, op);
	else emit_scalar(g, op);
}

static void emit_op(Cg *g, const Op *op)
{
	if (op_is_dead(op, g->uses)) return;
	Span outer = g->at;
	if (op->code != OP_CONST && op->span.hi) lines_mark(g->o, g->opt, g->at = op->span);
	print_op(g, op);
	if (outer.hi && outer.lo != g->at.lo) lines_mark(g->o, g->opt, outer);
	g->at = outer;
}

void emit_block(Cg *g, const IrBlock *b)
{
	int64_t top = g->mem_top, stack = g->stack;
	int memo = g->memo.n;
	for (const Op *op = b->first; op; op = op->next) emit_op(g, op);
	g->memo.n = memo;
	g->mem_top = top;
	g->stack = stack;
}
