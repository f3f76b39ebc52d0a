/* Accesses of single elements, or vector accesses of neighbours (elements_plan): gather, scatter, pointers, atomics. */
#include "base/diag.h"
#include "emit_cuda/access.h"
#include "ir/monoid.h"

typedef struct Elements {
	Cu *g;
	const Op *op;
	const CuView *v;        /* NULL: pointers */
	Elem e;
	int first;              /* operand after the indices */
	const Val *like;        /* the value that says how many */
	int mask;               /* its operand; 0: none */
	CuInt reg;              /* this one */
	CuInt first_reg;        /* the first one of the vector */
	Lay l;
	ElementsPlan p;
	ElementsRun run;        /* register bits of updates of which those that go to one place are combined first */
	bool swaps;             /* lanes whose updates go to one place combine them: every lane comes there, */
	uint32_t joins;         /* or at registers that have these bits */
	Str copies;             /* which threads access memory; NULL: all do */
	bool called;            /* a function is printed: values are its parameters */
	bool array[2 + TENSOR_RANK + 3];        /* of these, and of the result, which comes first, which are arrays */
} Elements;

static int extra_operands(const Op *op) { return op_has(op, OPF_CAS) ? 2 : 1; }       /* a pad, or values */

/* Operand i, or -1: the result, of a register. In a function it is a parameter. */
static Str value_at(const Elements *x, int i, const char *reg)
{
	if (!x->called) return cu_at(x->g, i < 0 ? x->op->out[0] : ir_in(x->op, i), reg);
	Str name = i < 0 ? "ct_r" : str_fmt("ct_x%d", i);
	return x->array[i + 1] ? str_fmt("%s[%s]", name, reg) : i < 0 ? "*ct_r" : name;
}

static Str element_index(const Elements *x, int a)
{
	const Val *i = ir_in(x->op, 1 + a);
	if (ir_const_value(i, NULL) && type_is_scalar(i->type) && !x->called) return access_wide(x->g, i);
	Str s = value_at(x, 1 + a, x->reg.text);
	return i->type->elem == EL_I64 ? s : str_fmt("(long long)%s", s);
}

/* Whether index ct_i<a> is inside, before and after other conditions; "": it is proved to be. */
static Str index_inside(const Elements *x, int a, const char *before, const char *after)
{
	const IrAttr *inside = ir_attr(x->op, AT_INSIDE);
	if (inside && inside->u.ints.p[a] == INSIDE_WHOLE) return str_intern("");
	return str_fmt("%s(unsigned long long)ct_i%d < (unsigned long long)(%s)%s", before, a, x->v->ext[a], after);
}

/* What is written, or the pad of what is read. */
static Str element_data(const Elements *x, const char *reg)
{
	return x->run.log2 ? str_fmt("ct_s[%s]", reg) : value_at(x, x->first, reg);
}

/* ct_ok: whether the element is accessed; ct_a: its address. */
static void print_place(const Elements *x)
{
	Cu *g = x->g;
	Out *ok = out_new(), *at = out_new();
	int n = 0;
	if (!x->v) {
		out_puts(at, value_at(x, 0, x->reg.text));
	} else {
		out_puts(at, x->v->base);
		for (int a = 0; a < x->v->rank; a++) {
			out_printf(g->o, "const long long ct_i%d = %s;\n", a, element_index(x, a));
			Str inside = index_inside(x, a, n ? " && " : "", "");
			n += *inside != 0;
			out_puts(ok, inside);
			out_printf(at, " + %s", access_scaled(str_fmt("ct_i%d", a), x->v, a));
		}
	}
	if (x->mask) out_printf(ok, "%s%s", n++ ? " && " : "", value_at(x, x->mask, x->reg.text));
	if (x->run.log2 && !x->p.vec) out_printf(ok, "%s!ct_gone[%s]", n++ ? " && " : "", x->reg.text);
	if (x->swaps && x->copies) out_printf(ok, "%s%s", n++ ? " && " : "", x->copies);
	out_printf(g->o, "const int ct_ok = %s;\n", n ? ok->p : "1");
	out_printf(g->o, "%s%s *const ct_a = %s;\n", x->v && x->v->constant ? "const " : "", elem_rows[x->e].cuda, at->p);
	out_free(ok);
	out_free(at);
}

/* Does one thread publish a word to other thread blocks? It is printed as an exchange: a store would queue after all
 * earlier stores of its multiprocessor while the others wait (bench/notes/moves.md has figures). */
static bool publishes(const Elements *x)
{
	if (type_is_tile(x->like->type) || ir_int(x->op, AT_SCOPE, 0) == attr_word(AT_SCOPE, str_intern("block")))
		return false;
	switch (x->e) {
	case EL_I32: case EL_U32: case EL_F32: case EL_I64: case EL_U64: case EL_F64: return true;
	default: return false;
	}
}

static Str rmw_name(const Elements *x)
{
	return str_fmt("%s_%s", attr_word_text(AT_RMW, (int)ir_int(x->op, AT_RMW, 0)), elem_rows[x->e].name);
}

static Str atomic_call(const Elements *x)
{
	const Op *op = x->op;
	const char *what;
	if (x->v && x->v->own) return str_fmt("ct_own_%s", rmw_name(x));
	int64_t order = ir_int(op, AT_ORDER, 0), scope = ir_int(op, AT_SCOPE, 0);
	if (!op_has(op, OPF_WRITE)) what = "load";
	else if (!op_has(op, OPF_READ)) what = publishes(x) ? "xchg" : "store";
	else what = op_has(op, OPF_CAS) ? "cas" : attr_word_text(AT_RMW, (int)ir_int(op, AT_RMW, 0));
	return str_fmt("ct_atomic_%s_%s_%s_%s", what, elem_rows[x->e].name, attr_word_text(AT_ORDER, (int)order),
		attr_word_text(AT_SCOPE, (int)scope));
}

/* data: of a register where updates are combined, else a value. */
static void print_joined(const Elements *x, Str call, Str data)
{
	Out *o = x->g->o;
	if (!x->run.log2) out_printf(o, "%s ct_v = %s;\n", cu_type(x->e), data);
	Str to = x->run.log2 ? data : str_intern("ct_v");
	Str lanes = str_fmt("ct_lanes_%s(ct_i0, ct_ok, &%s, ct_lane, %d)", rmw_name(x), to, COST_PRIVATE_RUNS);
	if (x->joins) lanes = str_fmt("(%s & %u) == %u ? %s : ct_ok", cu_operand(x->reg), x->joins, x->joins, lanes);
	out_printf(o, "if (%s) %s;\n", lanes, call);
}

static void print_element(const Elements *x)
{
	Cu *g = x->g;
	const Op *op = x->op;
	int bits = 8 * elem_bytes(x->e);
	Str data = element_data(x, x->reg.text);
	bool wanted = op->nout && g->uses[op->out[0]->id] > 0;
	Str r = op->nout ? value_at(x, -1, x->reg.text) : NULL;
	cu_line(g, op);
	switch (op->code) {
	case OP_GATHER: case OP_LOAD_PTR: {
		Str pad = words_pad_element(g, x->e, data);
		out_printf(g->o, "const %s ct_w = ct_ld%s_b%d_if(ct_a, ct_ok, %s);\n", words_type(bits / 8),
			x->v && x->v->constant ? "nc" : "", bits, pad);
		words_unpack(g, x->e, 1, "ct_w", &r);
		return;
	}
	case OP_SCATTER: case OP_STORE_PTR:
		out_printf(g->o, "ct_st_b%d_if(ct_a, ct_ok, %s);\n", bits, words_pack(g, x->e, 1, &data));
		return;
	case OP_ATOMIC_LOAD: case OP_ATOMIC_LOAD_PTR:
		out_printf(g->o, "%s = ct_ok ? %s(ct_a) : %s;\n", r, atomic_call(x), data);
		return;
	case OP_ATOMIC_STORE: case OP_ATOMIC_STORE_PTR:
		out_printf(g->o, "if (ct_ok) %s(ct_a, %s);\n", atomic_call(x), data);
		return;
	default: {
		Str value = x->swaps && !x->run.log2 ? str_intern("ct_v") : data;
		Str call = str_fmt("%s(ct_a, %s%s)", atomic_call(x), value, extra_operands(op) == 2
			? str_fmt(", %s", value_at(x, x->first + 1, x->reg.text)) : "");
		Str none = extra_operands(op) == 2 ? data : cu_num(x->e, (Num){ 0 });   /* as a compare-exchange that matched */
		if (x->swaps || x->joins) print_joined(x, call, data);
		else if (wanted) out_printf(g->o, "%s = ct_ok ? %s : %s;\n", r, call, none);
		else out_printf(g->o, "if (ct_ok) %s;\n", call);
	}
	}
}

/* ---- vector accesses ---- */
static uint32_t vector_mask(const Elements *x) { return vector_bits(x->p.bit, x->p.vec); }

static Str vector_register(const Elements *x, int k)
{
	return cu_xor(x->first_reg, cu_int(vector_reg(x->p.bit, x->p.vec, (uint32_t)k))).text;
}

/* ct_i<a>: where the vector at register x->first_reg begins; ct_a: its address; ct_in: whether it is accessed at once.
 * ct_some: whether some of its elements may be accessed, one by one. */
static void print_vector_place(const Elements *x)
{
	Cu *g = x->g;
	int n = 1 << x->p.vec, f = x->p.fast;
	Out *row = out_new(), *at = out_new(), *all = out_new();
	out_puts(at, x->v->base);
	for (int a = 0; a < x->v->rank; a++) {
		out_printf(g->o, "const long long ct_i%d = %s;\n", a, element_index(x, a));
		if (a != f) out_puts(row, index_inside(x, a, "", " && "));
		out_printf(at, " + %s", access_scaled(str_fmt("ct_i%d", a), x->v, a));
	}
	for (int k = 0; x->mask && k < n; k++) out_printf(all, " && %s", value_at(x, x->mask, vector_register(x, k)));
	out_printf(g->o, "%s%s *const ct_a = %s;\n", x->v->constant ? "const " : "", elem_rows[x->e].cuda, at->p);
	Str there = x->run.log2 ? str_fmt("!ct_gone[%s] && ", x->first_reg.text) : "";
	out_printf(g->o, "const int ct_some = %s%sct_i%d > %d && ct_i%d < %s;\n", there, row->p ? row->p : "", f, -n, f,
		x->v->ext[f]);
	out_printf(g->o, "const int ct_in = ct_some && ct_i%d >= 0 && ct_i%d <= %s - %d%s && ((unsigned long "
		"long)ct_a & %d) == 0;\n", f, f, x->v->ext[f], n, all->p ? all->p : "", (elem_bytes(x->e) << x->p.vec) - 1);
	out_free(row);
	out_free(at);
	out_free(all);
}

/* word: what a gather loads, for its elements to be taken out of later. */
static void print_piece(const Elements *x, Str word)
{
	Cu *g = x->g;
	int bits = 8 * elem_bytes(x->e) << x->p.vec;
	Str reg[16];
	for (int k = 0; k < 1 << x->p.vec; k++) reg[k] = element_data(x, vector_register(x, k));
	print_vector_place(x);
	Str w = words_pack(g, x->e, 1 << x->p.vec, reg);
	cu_line(g, x->op);
	switch (x->op->code) {
	case OP_GATHER:
		out_printf(g->o, "%s = ct_ld%s_b%d_if(ct_a, ct_in, %s);\n", word, x->v->constant ? "nc" : "", bits, w);
		return;
	case OP_SCATTER: out_printf(g->o, "ct_st_b%d_if(ct_a, ct_in, %s);\n", bits, w); return;
	default:
		out_printf(g->o, "if (ct_in) ct_red_add_f32_b%d_%s(ct_a, %s);\n", bits,
			attr_word_text(AT_SCOPE, (int)ir_int(x->op, AT_SCOPE, 0)), w);
	}
}

/* All loads are asked for before a thread looks at those of single elements. */
static void print_vectors(Elements *x, uint32_t spare)
{
	Cu *g = x->g;
	uint32_t skip = vector_mask(x) | spare;
	bool load = x->op->code == OP_GATHER;
	Str reg[16], word = str_fmt("ct_v[%s]", cu_iteration(g, x->l, skip).text);
	if (load) {
		out_printf(g->o, "{\n");
		out_in(g->o);
		out_printf(g->o, "%s ct_v[%d];\n", words_type(elem_bytes(x->e) << x->p.vec), regs_of(x->like) >> x->p.vec);
	}
	x->reg = x->first_reg = cu_registers(g, x->l, skip);
	print_piece(x, word);
	cu_end(g);
	x->reg = x->first_reg = cu_registers(g, x->l, skip);
	if (load) {
		for (int k = 0; k < 1 << x->p.vec; k++) reg[k] = value_at(x, -1, vector_register(x, k));
		words_unpack(g, x->e, 1 << x->p.vec, word, reg);
	}
	print_vector_place(x);
	out_puts(g->o, "if (ct_some && !ct_in) {\n");
	out_in(g->o);
	CuInt j = cu_loop(g, "ct_j", (int64_t)1 << x->p.vec);
	out_printf(g->o, "const int ct_e = %s;\n", cu_xor(x->first_reg, cu_deposit(j, vector_mask(x))).text);
	x->reg = cu_var("ct_e");
	print_place(x);
	print_element(x);
	cu_end(g);
	cu_end(g);
	cu_end(g);
	if (load) cu_end(g);
}

/* ---- updates that go to one place ---- */
static Str same_place(const Elements *x)        /* Do the elements of registers ct_e and ct_n go there? */
{
	Out *o = out_new();
	for (int a = 0; a < x->v->rank; a++) {
		const Val *i = ir_in(x->op, 1 + a);
		if (!type_is_tile(i->type)) continue;
		out_printf(o, "%s%s == %s", o->p && *o->p ? " && " : "", cu_at(x->g, i, str_intern("ct_e")),
			cu_at(x->g, i, str_intern("ct_n")));
	}
	Str r = str_intern(o->p ? o->p : "1");
	out_free(o);
	return r;
}

/* ct_s: what is combined with memory; ct_gone: of which registers, or vectors that begin there, it is not, because the
 * next one has it. */
static void print_combined(const Elements *x, uint32_t spare)
{
	Cu *g = x->g;
	int n = regs_of(x->like), runs = 1 << x->run.log2;
	int kind = monoid_kind(monoid_reduction(update_combine(x->op)));
	out_printf(g->o, "%s ct_s[%d];\n", cu_type(x->e), n);
	cu_head(g, "ct_r", 0, n, true);
	out_printf(g->o, "ct_s[ct_r] = %s;\n", cu_at(g, ir_in(x->op, x->first), str_intern("ct_r")));
	out_printf(g->o, "int ct_gone[%d] = { 0 };\n", n);
	CuInt first = cu_registers(g, x->l, x->run.bits | vector_mask(x) | spare);
	cu_head(g, "ct_k", 0, runs - 1, true);
	cu_open(g);
	out_printf(g->o, "const int ct_e = %s, ct_n = %s;\n", cu_xor(first, cu_deposit(cu_var("ct_k"), x->run.bits)).text,
		cu_xor(first, cu_deposit(cu_var("(ct_k + 1)"), x->run.bits)).text);
	out_printf(g->o, "ct_gone[ct_e] = %s;\n", same_place(x));
	for (int k = 0; k < 1 << x->p.vec; k++) {
		Str from = str_intern("ct_s[ct_e]"), to = str_intern("ct_s[ct_n]");
		unsigned at = (unsigned)vector_reg(x->p.bit, x->p.vec, (uint32_t)k);
		if (at) from = str_fmt("ct_s[ct_e ^ %u]", at), to = str_fmt("ct_s[ct_n ^ %u]", at);
		cu_line(g, x->op);
		out_printf(g->o, "if (ct_gone[ct_e]) %s = %s;\n", to, elem_combine(x->op, kind, x->e, from, to));
	}
	cu_end(g);
	cu_end(g);
}

static bool writes(const Op *op)
{
	return op_has(op, OPF_WRITE);
}

/* inside: a block is open already. */
static void print_each(Elements *x, int n, uint32_t spare, bool inside)
{
	Cu *g = x->g;
	x->reg = cu_int(0);
	if (n > 1) x->reg = cu_registers(g, x->l, spare);
	else if (!inside) cu_open(g);
	print_place(x);
	print_element(x);
	if (n > 1 || !inside) cu_end(g);
}

static bool is_wanted(const Elements *x) { return x->op->nout && x->g->uses[x->op->out[0]->id] > 0; }

static void print_accesses(Elements *x, uint32_t spare, bool inside)
{
	if (x->p.vec) print_vectors(x, spare);
	else print_each(x, regs_of(x->like), spare, inside);
}

/* ---- functions ---- */
static void add_value(const Elements *x, TileCall *c, int i, bool *array)
{
	Cu *g = x->g;
	const Val *v = i < 0 ? x->op->out[0] : ir_in(x->op, i);
	const CuVal *r = cu_val(g, v);
	Elem e = v->type->elem;
	const char *type = cu_type(e), *gap = elem_is_ptr(e) ? "" : " ";
	*array = type_is_tile(v->type) && regs_of(v) > 1 && !r->splat;
	Str arg = *array || !ir_const_value(v, NULL) ? r->name : cu_at(g, v, "0");
	if (i < 0) tilefn_add(c, *array ? arg : str_fmt("&%s", arg), "%s%s*ct_r", type, gap);
	else tilefn_add(c, arg, *array ? "const %s%s*ct_x%d" : "%s%sct_x%d", type, gap, i);
}

/* A tensor's elements; not those that stand in a loop over registers, are combined first, or are in shared memory. */
static bool has_function(const Elements *x)
{
	if (!x->v || x->v->own || x->run.log2 || x->swaps || x->g->part) return false;
	for (int i = 1; i < x->op->nin; i++)
		if (cu_val(x->g, ir_in(x->op, i))->inside) return false;
	return !x->op->nout || !cu_val(x->g, x->op->out[0])->inside;
}

/* The access as a call of a function, which accesses of equal text share. */
static void print_call(Elements *x, uint32_t spare)
{
	Cu *g = x->g;
	Out *o = g->o, *text = out_new();
	const EmitOptions *opt = g->opt;
	EmitOptions plain = *opt;
	CuView view = *x->v;
	TileCall c = { .params = out_new(), .args = out_new() };
	int ntemp = g->ntemp;
	if (x->op->nout && (is_wanted(x) || !op_has(x->op, OPF_WRITE))) add_value(x, &c, -1, &x->array[0]);
	tilefn_add(&c, view.base, "%s%s *ct_base", view.constant ? "const " : "", elem_rows[view.elem].cuda);
	view.base = str_intern("ct_base");
	for (int a = 0; a < view.rank; a++) {
		const IrAttr *inside = ir_attr(x->op, AT_INSIDE);
		add_value(x, &c, 1 + a, &x->array[2 + a]);
		if (!inside || inside->u.ints.p[a] != INSIDE_WHOLE || (x->p.vec && a == x->p.fast)) {
			tilefn_add(&c, view.ext[a], "long long ct_n%d", a);
			view.ext[a] = str_fmt("ct_n%d", a);
		}
		if (view.unit[a]) continue;
		tilefn_add(&c, view.str[a], "long long ct_s%d", a);
		view.str[a] = str_fmt("ct_s%d", a);
	}
	for (int i = x->first; i < x->op->nin; i++) add_value(x, &c, i, &x->array[1 + i]);
	x->called = true;
	x->v = &view;
	plain.line = LINE_OFF;
	g->opt = &plain;
	g->o = text;
	g->ntemp = 0;
	out_printf(text, "(%s)\n{\n", c.params->p);
	out_in(text);
	print_accesses(x, spare, true);
	out_off(text);
	out_puts(text, "}\n");
	g->opt = opt;
	g->o = o;
	g->ntemp = ntemp;
	Str name = tilefn_of(str_fmt("%s_at", op_rows[x->op->code].name), view.elem, NULL, out_take(text));
	out_printf(o, "%s(%s);\n", name, c.args->p);
	out_free(c.params);
	out_free(c.args);
}

void memory_elements(Cu *g, const Op *op)
{
	if (ir_attr(op, AT_STEPS)) {
		diag(D_NOT_SUPPORTED, op->span, str_fmt("`%s` by tile index", op_rows[op->code].name), "cuda");
		return;
	}
	const Val *p = ir_in(op, 0);
	Elements x = { .g = g, .op = op };
	x.v = p->type->kind == TY_VIEW ? cu_val(g, p)->view : NULL;
	x.e = x.v ? x.v->elem : elem_pointee(p->type->elem);
	x.first = x.v ? 1 + x.v->rank : 1;
	x.mask = op->nin > x.first + extra_operands(op) ? x.first + extra_operands(op) : 0;
	x.like = op->nout ? op->out[0] : ir_in(op, x.first);
	bool tile = type_is_tile(x.like->type), wanted = is_wanted(&x);
	bool once = writes(op) || one_thread_reads(op);
	if (op->nout && (wanted || !writes(op))) {
		cu_val(g, op->out[0])->name = cu_name(g, op->out[0]);
		cu_declare(g, op->out[0]);
	}
	Lay held = tile ? *x.like->lay : lay_single(0, fn_threads(g->fn));
	x.copies = writes(op) ? cu_writers(g, held) : once ? cu_copies(held) : NULL;
	x.swaps = update_swaps(op);
	x.joins = update_joins(op);
	bool apart = x.copies && !x.swaps;
	uint32_t spare = once && tile ? lay_hwcoord(*x.like->lay, lay_free(*x.like->lay), HW_REG) : 0;
	x.l = tile ? *x.like->lay : lay_unit(0);
	x.p = elements_plan(op, x.like);
	x.run = elements_run(op);
	bool called = has_function(&x);
	if (!called) cu_say(g, op);
	cu_line(g, op);
	if (apart) out_printf(g->o, called ? "if (%s) " : "if (%s) {\n", x.copies);
	if (called) {
		print_call(&x, spare);
	} else {
		if (apart) out_in(g->o);
		if (x.run.log2) {
			cu_open(g);
			print_combined(&x, spare);
		}
		print_accesses(&x, spare, apart || x.run.log2);
		if (x.run.log2) cu_end(g);
		if (apart) cu_end(g);
	}
	if (wanted && one_thread_reads(op) && !g->fn->cluster) move_share_copies(g, op);
}
