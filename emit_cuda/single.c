/* Access element by element: gather, scatter, pointers, atomics. */
#include "base/diag.h"
#include "emit_cuda/access.h"

typedef struct Elements {
	Cu *g;
	const Op *op;
	const CuView *v;        /* NULL: pointers */
	Elem e;
	int first;              /* operand behind the indices */
	const Val *like;        /* the value that says how many */
	const Val *mask;
	Str reg;                /* this one */
} Elements;

static int extra_operands(const Op *op)
{
	return op->code == OP_ATOMIC_CAS || op->code == OP_ATOMIC_CAS_PTR ? 2 : 1;
}

static Str element_index(const Elements *x, int a)
{
	const Val *i = ir_in(x->op, 1 + a);
	Str s = cu_at(x->g, i, x->reg);
	return i->type->elem == EL_I64 ? s : str_fmt("(long long)%s", s);
}

/* ct_ok: whether the element is accessed; ct_a: its address. */
static void print_place(const Elements *x)
{
	Cu *g = x->g;
	Out *ok = out_new(), *at = out_new();
	int n = 0;
	if (!x->v) {
		out_puts(at, cu_at(g, ir_in(x->op, 0), x->reg));
	} else {
		out_puts(at, x->v->base);
		for (int a = 0; a < x->v->rank; a++) {
			out_printf(g->o, "const long long ct_i%d = %s;\n", a, element_index(x, a));
			out_printf(ok, "%s(unsigned long long)ct_i%d < (unsigned long long)(%s)", n++ ? " && " : "", a, x->v->ext[a]);
			out_printf(at, " + %s", access_scaled(str_fmt("ct_i%d", a), x->v, a));
		}
	}
	if (x->mask) out_printf(ok, "%s%s", n++ ? " && " : "", cu_at(g, x->mask, x->reg));
	out_printf(g->o, "const int ct_ok = %s;\n", n ? ok->p : "1");
	out_printf(g->o, "%s%s *const ct_a = %s;\n", x->v && x->v->constant ? "const " : "", elem_rows[x->e].cuda, at->p);
	out_free(ok);
	out_free(at);
}

/* Does one thread tell another thread block something? A store then waits behind all that its multiprocessor has stored before, while
 * others wait for it; an exchange does not: running sums by look-back go from 74 to 95 % of the copy rate. */
static bool tells(const Elements *x)
{
	if (type_is_tile(x->like->type) || ir_int(x->op, AT_SCOPE, 0) == attr_word(AT_SCOPE, str_intern("block"))) return false;
	switch (x->e) {
	case EL_I32: case EL_U32: case EL_F32: case EL_I64: case EL_U64: case EL_F64: return true;
	default: return false;
	}
}

static Str atomic_call(const Elements *x)
{
	const Op *op = x->op;
	static const char *const words[] = { "load", "store", "cas", "xchg" };
	const char *what = "";
	int64_t order = ir_int(op, AT_ORDER, 0), scope = ir_int(op, AT_SCOPE, 0);
	switch (op->code) {
	case OP_ATOMIC_LOAD: case OP_ATOMIC_LOAD_PTR: what = words[0]; break;
	case OP_ATOMIC_STORE: case OP_ATOMIC_STORE_PTR: what = words[tells(x) ? 3 : 1]; break;
	case OP_ATOMIC_CAS: case OP_ATOMIC_CAS_PTR: what = words[2]; break;
	default: what = attr_word_text(AT_RMW, (int)ir_int(op, AT_RMW, 0)); break;
	}
	return str_fmt("ct_atomic_%s_%s_%s_%s", what, elem_rows[x->e].name, attr_word_text(AT_ORDER, (int)order),
		attr_word_text(AT_SCOPE, (int)scope));
}

static void print_element(const Elements *x)
{
	Cu *g = x->g;
	const Op *op = x->op;
	int bits = 8 * elem_bytes(x->e);
	Str data = cu_at(g, ir_in(op, x->first), x->reg);
	bool wanted = op->nout && g->uses[op->out[0]->id] > 0;
	Str r = op->nout ? cu_at(g, op->out[0], x->reg) : NULL;
	cu_line(g, op);
	switch (op->code) {
	case OP_GATHER: case OP_LOAD_PTR: {
		Str pad = words_pad(g, x->e, data);
		out_printf(g->o, "const %s ct_w = ct_ld%s_b%d_if(ct_a, ct_ok, %s);\n", words_type(bits / 8), x->v && x->v->constant ? "nc" : "",
			bits, pad);
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
		Str call = str_fmt("%s(ct_a, %s%s)", atomic_call(x), data, extra_operands(op) == 2
			? str_fmt(", %s", cu_at(g, ir_in(op, x->first + 1), x->reg)) : "");
		Str none = extra_operands(op) == 2 ? data : cu_num(x->e, (Num){ 0 });   /* as a compare-exchange that matched */
		if (wanted) out_printf(g->o, "%s = ct_ok ? %s : %s;\n", r, call, none);
		else out_printf(g->o, "if (ct_ok) %s;\n", call);
	}
	}
}

static bool writes(const Op *op)
{
	return (op_rows[op->code].flags & OPF_WRITE) != 0;
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
	x.mask = op->nin > x.first + extra_operands(op) ? ir_in(op, x.first + extra_operands(op)) : NULL;
	x.like = op->nout ? op->out[0] : ir_in(op, x.first);
	bool tile = type_is_tile(x.like->type), wanted = op->nout && g->uses[op->out[0]->id] > 0;
	bool once = writes(op) || one_thread_reads(op);
	int n = cu_regs(x.like);
	cu_say(g, op);
	if (op->nout && (wanted || !writes(op))) {
		cu_val(g, op->out[0])->name = cu_name(g, op->out[0]);
		cu_declare(g, op->out[0]);
	}
	Lay held = tile ? *x.like->lay : lay_single(0, fn_threads(g->fn));
	Str copies = writes(op) ? cu_writers(g, held) : once ? cu_copies(held) : NULL;
	uint32_t spare = once && tile ? lay_hwcoord(*x.like->lay, lay_free(*x.like->lay), HW_REG) : 0;
	if (copies) {
		out_printf(g->o, "if (%s) {\n", copies);
		out_in(g->o);
	}
	Access loop = { .g = g, .l = tile ? *x.like->lay : lay_unit(0) };
	if (n > 1) cu_registers(g, loop.l, spare);
	else {
		out_puts(g->o, "{\n");
		out_in(g->o);
	}
	x.reg = str_intern("ct_b");
	print_place(&x);
	print_element(&x);
	cu_end(g);
	if (copies) cu_end(g);
	if (wanted && one_thread_reads(op) && !g->fn->cluster) move_share_copies(g, op);
}
