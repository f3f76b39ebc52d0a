/* Blocks, control flow and scalars. All threads take the same way. */
#include "base/diag.h"
#include "emit/names.h"
#include "emit_cuda/access.h"
#include "emit_cuda/group.h"
#include "emit_cuda/peel.h"
#include "placed/loops.h"

/* ---- carried values ---- */
static void declare(Cu *g, const Val *v)
{
	if (v->type->kind == TY_TOKEN) return;
	if (v->type->kind == TY_VIEW) bug("a view is carried");
	if (v->type->kind == TY_CURSOR) {
		group_declare_cursor(g, v);
		return;
	}
	cu_val(g, v)->name = NULL;
	cu_declare(g, v);
}

static void assign(Cu *g, const Val *to, Str from_each, const Val *from)
{
	int n = regs_of(to);
	if (to->type->kind == TY_CURSOR) {
		out_printf(g->o, "%s = %s;\n", cu_scalar(g, to), from ? cu_scalar(g, from) : from_each);
		return;
	}
	if (n == 1) {
		out_printf(g->o, "%s = %s;\n", cu_at(g, to, "0"), from ? cu_at(g, from, "0") : from_each);
		return;
	}
	cu_each(g, "ct_r", n);
	out_printf(g->o, "%s = %s;\n", cu_at(g, to, "ct_r"), from ? cu_at(g, from, "ct_r")
		: str_fmt("%s[ct_r]", from_each));
}

static bool same_storage(Cu *g, const Val *a, const Val *b)
{
	return cu_val(g, a)->name == cu_val(g, b)->name;
}

static bool is_array(Cu *g, const Val *v)
{
	return v->type->kind != TY_CURSOR && !cu_val(g, v)->splat && regs_of(v) > 1;
}

/* The name of a copy. */
static Str copy_first(Cu *g, const Val *from)
{
	Str copy = cu_fresh(g, "copy");
	Elem e = from->type->elem;
	if (is_array(g, from)) {
		out_printf(g->o, "%s %s[%d];\n", cu_held(from), copy, regs_of(from));
		cu_each(g, "ct_r", regs_of(from));
		out_printf(g->o, "%s[ct_r] = %s;\n", copy, cu_at(g, from, "ct_r"));
		return copy;
	}
	Str type = from->type->kind == TY_CURSOR ? "const ct_place " : elem_is_ptr(e) ? cu_const(e)
		: str_fmt("const %s ", cu_held(from));
	out_printf(g->o, "%s%s = %s;\n", type, copy, cu_val(g, from)->name);
	return copy;
}

/* All at once: what is overwritten before it is read goes through a copy. */
static void assign_all(Cu *g, int n, Val *const *to, const Op *op, int first)
{
	Str *copy = NEW_ARRAY(A_TMP, Str, n + 1);
	NameSet written = { 0 };        /* by the assignments so far */
	for (int i = 0; i < n; i++) {
		const Val *from = ir_in(op, first + i);
		if (from->type->kind == TY_TOKEN) continue;
		if (names_has(&written, cu_val(g, from)->name)) copy[i] = copy_first(g, from);
		if (i + 1 < n && !same_storage(g, to[i], from)) names_take(&written, cu_val(g, to[i])->name);
	}
	int loop = 1;   /* registers of the tiles that the last line copies, which goes on; 1: it does not */
	for (int i = 0; i < n; i++) {
		const Val *from = ir_in(op, first + i);
		if (from->type->kind == TY_TOKEN || (!copy[i] && same_storage(g, to[i], from))) continue;
		int regs = to[i]->type->kind == TY_CURSOR ? 1 : regs_of(to[i]);
		if (loop > 1 && loop != regs) out_puts(g->o, ";\n");
		if (regs == 1) {
			assign(g, to[i], copy[i], copy[i] ? NULL : from);
		} else {
			if (loop == regs) out_puts(g->o, ", ");
			else cu_each(g, "ct_r", regs);
			out_printf(g->o, "%s = %s", cu_at(g, to[i], "ct_r"), !copy[i] ? cu_at(g, from, "ct_r")
				: is_array(g, from) ? str_fmt("%s[ct_r]", copy[i]) : copy[i]);
		}
		loop = regs;
	}
	if (loop > 1) out_puts(g->o, ";\n");
}

/* ---- ends ---- */
static Frame *innermost(Cu *g, bool loop)
{
	for (Frame *f = g->frame; f; f = f->up)
		if (loop ? op_has(f->op, OPF_LOOP) : f->op->code == OP_SCOPE_) return f;
	bug("an end without what it ends");
}

static void print_end(Cu *g, const Op *op)
{
	Op *owner = op->parent->owner;
	Frame *f;
	switch (op->code) {
	case OP_YIELD:
		if (owner->code == OP_FOR) assign_all(g, op->nin, owner->region[0]->args.p + 1, op, 0);
		else if (owner->code == OP_WHILE) assign_all(g, op->nin, owner->region[0]->args.p, op, 0);
		else if (owner->code == OP_IF) assign_all(g, op->nin, owner->out, op, 0);
		return;
	case OP_CONDITION:
		assign_all(g, op->nin - 1, owner->region[1]->args.p, op, 1);
		out_printf(g->o, "if (!%s) break;\n", cu_scalar(g, ir_in(op, 0)));
		return;
	case OP_BREAK:
		f = innermost(g, true);
		assign_all(g, op->nin, f->op->out, op, 0);
		out_puts(g->o, "break;\n");
		return;
	case OP_CONTINUE:
		f = innermost(g, true);
		assign_all(g, op->nin, f->op->code == OP_FOR ? f->op->out : f->op->region[0]->args.p, op, 0);
		out_puts(g->o, "continue;\n");
		return;
	case OP_LEAVE:
		f = innermost(g, false);
		assign_all(g, op->nin, f->op->out, op, 0);
		if (f->op->region[0] != op->parent) out_printf(g->o, "goto %s;\n", f->label);
		return;
	case OP_RETURN:
		if (owner) out_puts(g->o, "return;\n");
		return;
	default: bug("`%s` ends no block", op_rows[op->code].name);
	}
}

/* ---- constructs ---- */
static void region(Cu *g, const Op *op, IrBlock *b, Str label)
{
	Frame f = { g->frame, op, label };
	g->frame = &f;
	control_block(g, b);
	g->frame = f.up;
}

static void share_names(Cu *g, int n, Val *const *from, Val *const *to)
{
	for (int i = 0; i < n; i++) cu_val(g, to[i])->name = cu_val(g, from[i])->name;
}

/* Registers that an asynchronous product uses must not move, nor must those that the next one will use: the loop
 * carries them in the array in which they come, if nothing else reads it. */
static bool carries_on(Cu *g, const Val *to, const Val *from)
{
	if (to->type->kind != TY_ASYNC) return false;
	cu_val(g, to)->name = cu_val(g, from)->name;
	return true;
}

static void begin_carried(Cu *g, const Val *to, const Val *from)
{
	bool cursor = to->type->kind == TY_CURSOR, one = to->type->kind != TY_TOKEN && regs_of(to) == 1;
	if ((!cursor && !one) || cu_val(g, to)->declared) {
		if (to->type->kind == TY_TOKEN || cu_val(g, to)->declared) {
			declare(g, to);
			assign(g, to, NULL, from);
			return;
		}
		cu_val(g, to)->name = NULL;
		cu_fill(g, to);
		out_printf(g->o, "%s = %s;%s\n", cu_at(g, to, "ct_r"), cu_at(g, from, "ct_r"), cu_said(g, to));
		return;
	}
	CuVal *r = cu_val(g, to);
	Str x = cursor ? cu_scalar(g, from) : cu_at(g, from, "0");
	r->name = cursor ? cu_fresh(g, "at") : cu_name(g, to);
	const char *type = cursor ? "ct_place" : cu_held(to), *gap = !cursor && elem_is_ptr(to->type->elem) ? "" : " ";
	out_printf(g->o, "%s%s%s = %s;%s\n", type, gap, r->name, x, cu_said(g, to));
}

static void init_carried(Cu *g, const Op *op, int n, Val *const *to, int first)
{
	for (int i = 0; i < n; i++) {
		if (carries_on(g, to[i], ir_in(op, first + i))) continue;
		begin_carried(g, to[i], ir_in(op, first + i));
	}
}

static void unroll_pragma(Cu *g, const Op *op)
{
	out_printf(g->o, "#pragma unroll %lld\n", (long long)ir_int(op, AT_UNROLL, 1));
}

static void print_for(Cu *g, const Op *op)
{
	IrBlock *b = op->region[0];
	const Val *counter = b->args.p[0];
	Elem e = counter->type->elem;
	Str lo = cu_scalar(g, ir_in(op, 0)), hi = cu_scalar(g, ir_in(op, 1)), step = cu_scalar(g, ir_in(op, 2));
	init_carried(g, op, b->args.n - 1, b->args.p + 1, 3);
	share_names(g, op->nout, b->args.p + 1, op->out);
	next_begin(g, op);
	cluster_before(g, op);
	int together = (int)ir_int(op, AT_JAM, 1);
	Str i = cu_val(g, counter)->name = cu_name(g, counter);
	Num one;
	bool by_one = ir_const_value(ir_in(op, 2), &one) && one.i == 1 && together == 1;
	if (!ir_const_value(ir_in(op, 2), &one)) step = str_fmt("(%s < 1 ? 1 : %s)", step, step);
	else if (one.i < 1 && (!one.i || elem_is_signed(e))) step = str_intern("1");    /* known after folding only */
	unroll_pragma(g, op);
	cu_line(g, op);
	if (by_one) {
		out_printf(g->o, "for (%s %s = %s; %s < %s; %s++) {\n", cu_type(e), i, lo, i, hi, i);
		cu_val(g, counter)->next = str_fmt("%s + 1", i);
		out_in(g->o);
	} else if (elem_bytes(e) < 8 && together == 1) {  /* counted in 64 bits, so that the last step cannot overflow */
		Str n = cu_fresh(g, "n");
		out_printf(g->o, "for (long long %s = %s; %s < %s; %s += %s) {\n", n, lo, n, hi, n, step);
		cu_val(g, counter)->next = str_fmt("%s + %s", n, step);
		out_in(g->o);
		out_printf(g->o, "const %s %s = (%s)%s;\n", cu_type(e), i, cu_type(e), n);
	} else {
		Str n = cu_fresh(g, "n"), rounds = cu_fresh(g, "rounds");
		out_printf(g->o, "for (unsigned long long %s = 0, %s = %s < %s ? ((unsigned long long)%s - (unsigned long "
			"long)%s - 1) / (unsigned long long)%s + 1 : 0", n, rounds, lo, hi, hi, lo, step);
		if (together == 1) out_printf(g->o, "; %s < %s; %s++) {\n", n, rounds, n);
		else out_printf(g->o, ", ct_by; %s < %s; %s += ct_by) {\n", n, rounds, n);
		out_in(g->o);
		if (together > 1)
			out_printf(g->o, "const bool ct_all = %s - %s >= %d;\nct_by = ct_all ? %d : 1;\n", rounds, n, together,
				together);
		out_printf(g->o, "const %s %s = (%s)((unsigned long long)%s + %s * (unsigned long long)%s);\n", cu_type(e), i,
			cu_type(e), lo, n, step);
	}
	if (together > 1) jam_print(g, op, i, one.i);
	else region(g, op, b, NULL);
	cu_end(g);
}

static void print_while(Cu *g, const Op *op)
{
	IrBlock *test = op->region[0], *body = op->region[1];
	init_carried(g, op, op->nin, test->args.p, 0);
	for (int i = 0; i < body->args.n; i++) declare(g, body->args.p[i]);
	share_names(g, op->nout, body->args.p, op->out);
	unroll_pragma(g, op);
	out_puts(g->o, "for (;;) {\n");
	out_in(g->o);
	region(g, op, test, NULL);
	region(g, op, body, NULL);
	cu_end(g);
}

static bool is_empty(const IrBlock *b)
{
	return b->first == b->last && b->first && b->first->code == OP_YIELD && !b->first->nin;
}

static void print_if(Cu *g, const Op *op)
{
	for (int i = 0; i < op->nout; i++) declare(g, op->out[i]);
	cu_line(g, op);
	out_printf(g->o, "if (%s) {\n", cu_scalar(g, ir_in(op, 0)));
	out_in(g->o);
	region(g, op, op->region[0], NULL);
	out_off(g->o);
	if (!is_empty(op->region[1])) {
		out_puts(g->o, "} else {\n");
		out_in(g->o);
		region(g, op, op->region[1], NULL);
		out_off(g->o);
	}
	out_puts(g->o, "}\n");
}

static bool leaves(const Op *scope, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		if (op->code == OP_LEAVE && b != scope->region[0]) return true;
		for (int i = 0; i < op->nregion && op->code != OP_SCOPE_; i++)
			if (leaves(scope, op->region[i])) return true;
	}
	return false;
}

static void print_scope(Cu *g, const Op *op)
{
	Str label = cu_fresh(g, "leave");
	for (int i = 0; i < op->nout; i++) declare(g, op->out[i]);
	out_puts(g->o, "{\n");
	out_in(g->o);
	region(g, op, op->region[0], label);
	cu_end(g);
	if (leaves(op, op->region[0])) out_printf(g->o, "%s:;\n", label);
}

/* ---- single operations ---- */
static void print_launch(Cu *g, const Op *op)
{
	CuVal *r = cu_val(g, op->out[0]);
	const char *t = cu_type(op->out[0]->type->elem);
	Str given = cu_launch(g, ir_attr(op, AT_SYM)->u.sym);   /* a parameter of the kernel, a long long, or a number */
	if (op->out[0]->type->elem == EL_I64 && (*given < '0' || *given > '9') && *given != '-' && *given != '(') {
		r->name = given;
		return;
	}
	r->name = cu_name(g, op->out[0]);
	cu_line(g, op);
	out_printf(g->o, "const %s %s = (%s)%s;\n", t, r->name, t, given);
}

static void print_bid(Cu *g, const Op *op)
{
	CuVal *r = cu_val(g, op->out[0]);
	const char *t = cu_type(op->out[0]->type->elem);
	r->name = cu_name(g, op->out[0]);
	cu_line(g, op);
	out_printf(g->o, "const %s %s = (%s)ct_bid%d;\n", t, r->name, t, ir_axis(op));
}

static void print_literal(Cu *g, const Op *op)         /* of run-time scalars */
{
	const Val *r = op->out[0];
	CuMap m = cu_map(*r->lay, LAY_PACKED);
	Str table = cu_fresh(g, "values");
	cu_val(g, r)->name = cu_name(g, r);
	cu_say(g, op);
	out_printf(g->o, "%s%s[%d] = { ", cu_const(r->type->elem), table, op->nin);
	for (int i = 0; i < op->nin; i++) out_printf(g->o, "%s%s", i ? ", " : "", cu_scalar(g, ir_in(op, i)));
	out_puts(g->o, " };\n");
	cu_declare(g, r);
	CuInt reg = cu_loop(g, "ct_r", regs_of(r));
	cu_line(g, op);
	out_printf(g->o, "%s = %s[%s];\n", cu_at(g, r, reg.text), table,
		cu_map_place(&m, reg).text);
	cu_end(g);
}

static void print_scalar_const(Cu *g, const Op *op)
{
	Num n = { 0 };
	ir_const_value(op->out[0], &n);
	cu_val(g, op->out[0])->name = cu_num(op->out[0]->type->elem, n);
}

static void print_to_scalar(Cu *g, const Op *op)
{
	CuVal *r = cu_val(g, op->out[0]);
	const Op *d = ir_in(op, 0)->def;
	bool received = d && op_broadcasts(d);
	if (!received) r->name = cu_at(g, ir_in(op, 0), "0");
	CuVal *x = cu_val(g, ir_in(op, 0));
	/* what an operation without regions makes is assigned once: its variable serves, unless the author has a name */
	if (x->splat || (!received && !op->out[0]->name && d && !d->nregion)) return;
	Str from = received ? cluster_scalar(g, d) : r->name;
	r->name = cu_name(g, op->out[0]);
	cu_line(g, op);
	out_printf(g->o, "%s%s = %s;\n", cu_const(op->out[0]->type->elem), r->name, from);
}

/* A buffer of a ring, or one of a conversion. */
static void print_store_shared(Cu *g, const Op *op)
{
	if (cu_val(g, ir_in(op, 0))->shared) slab_store(g, op);
	else move_store_shared(g, op);
}

static void print_load_shared(Cu *g, const Op *op)
{
	if (cu_val(g, ir_in(op, 0))->shared) {
		slab_load(g, op);
		return;
	}
	cu_val(g, op->out[0])->name = cu_name(g, op->out[0]);
	move_load_shared(g, op);
}

static void print_mbar_expect(Cu *g, const Op *op)
{
	out_printf(g->o, "ct_mbar_expect(%s, %lld);\n", group_bar(g, op, 0), (long long)ir_int(op, AT_BYTES, 0));
}

static void print_check(Cu *g, const Op *op)
{
	if (op->code == OP_CHECK || g->opt->checked) debug_check(g, op);
}

static void print_barrier(Cu *g, const Op *op) { (void)op; cu_sync(g); }
static void print_grid_wait(Cu *g, const Op *op) { (void)op; out_puts(g->o, "ct_grid_wait();\n"); }
static void print_grid_launch(Cu *g, const Op *op) { (void)op; out_puts(g->o, "ct_grid_launch();\n"); }
static void print_bulk_commit(Cu *g, const Op *op) { (void)op; out_puts(g->o, "ct_bulk_commit();\n"); }
static void print_proxy_fence(Cu *g, const Op *op) { (void)op; out_puts(g->o, "ct_proxy_fence();\n"); }
static void print_wgmma_commit(Cu *g, const Op *op) { (void)op; out_puts(g->o, "ct_wgmma_commit();\n"); }
static void print_nothing(Cu *g, const Op *op) { (void)g, (void)op; }

/* How an operation of its own kind is printed; named: its results have their names before. */
typedef struct Printer { void (*print)(Cu *g, const Op *op); bool named; } Printer;

static const Printer printers[OP_COUNT] = {
#define NO { NULL, false }
#define PRINT(f) { f, false }
#define NAMED(f) { f, true }
#define OP(id, name, form, sig, type, layout, flags, c, cuda, tile, needs, check, sim, print, doc) [OP_##id] = print,
#include "ir/ops.def"
#undef OP
};

static void print_op(Cu *g, Op *op)
{
	const Printer *p = &printers[op->code];
	cu_line(g, op);
	for (int i = 0; i < op->nout && p->named; i++) cu_val(g, op->out[i])->name = cu_name(g, op->out[i]);
	if (op_is_scan(op)) scan_print(g, op);
	else if (p->print) p->print(g, op);
	else if (op_has(op, OPF_TERM)) print_end(g, op);
	else if (op_has(op, OPF_READ | OPF_WRITE)) memory_elements(g, op);
	else if (op_has(op, OPF_ELEMWISE) && !(op->nout && type_is_tile(op->out[0]->type))) elem_scalar(g, op);
	else diag(D_NOT_SUPPORTED, op->span, str_fmt("`%s`", op_rows[op->code].name), "cuda");
}

static void print_ops(Cu *g, Op *op, const Op *end)
{
	while (op != end) {
		if (ir_attr(op, AT_PIECES) && !g->part) {
			op = peel_stretch(g, op);
			continue;
		}
		if (op_is_pointwise(op)) {
			op = elem_group(g, op, end);
			continue;
		}
		print_op(g, op);
		op = op->next;
	}
}

const CuPrinters control_printers = { print_op, print_ops };
