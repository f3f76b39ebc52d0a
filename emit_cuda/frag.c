/* Copies by threads in the background (cp.async), and products of a warp from fragments (ldmatrix, mma).
 *
 * A fragment is an array of 32-bit registers, as the instruction takes them. Which thread copies which vector, and
 * which address a lane gives to ldmatrix, are linear maps (ir/ir_frag.h): a part of the thread and one number for
 * each register, so that nvcc keeps the first outside of loops. */
#include "base/diag.h"
#include "emit_cuda/group.h"
#include "ir/ir_frag.h"
#include "ir/strides.h"

/* ---- shared memory ---- */
static CuInt base_of(Cu *g, const Val *buf)
{
	while (buf->def && buf->def->code == OP_PART) buf = ir_in(buf->def, 0);
	if (buf->def && buf->def->code == OP_ALLOC_SHARED)
		return cu_sum(cu_var("ct_base"), cu_int(ir_int(buf->def, AT_SLOT, 0)));
	return cu_var(cu_scalar(g, buf));
}

/* the address of element ct_t ^ add */
static Str address_at(Cu *g, const Val *buf, unsigned add, int bytes)
{
	return cu_sum(base_of(g, buf), cu_times(cu_xor(cu_var("ct_t"), cu_int(add)), bytes)).text;
}

static uint32_t xor_bits(const CuMap *m, int first, int n, int k)
{
	uint32_t r = 0;
	for (int b = 0; b < n; b++)
		if (k >> b & 1) r ^= m->col[first + b];
	return r;
}

/* ---- copies ---- */
typedef struct Copy {
	Cu *g;
	const Op *op;
	const CuView *view;
	CopyPlan plan;
	CuMap coord[2], off;
	int size;               /* log2 of the bytes of an element */
	bool narrow[2];  /* coordinates of 32 bits: what lies outside wraps around to numbers that lie outside as well */
	bool whole;             /* rows end where vectors end */
} Copy;

static const char *number_type(const Copy *x, int a) { return x->narrow[a] ? "unsigned int" : "unsigned long long"; }

/* What the where clauses say about the tensor. */
static void look_at_tensor(Copy *x)
{
	const Fn *fn = x->g->fn;
	const Val *view = ir_in(x->op, 1);
	Facts *f = facts_new(NULL, A_UNIT);
	for (int i = 0; i < fn->dims.n; i++)
		if (fn->dims.p[i].elem == EL_I32) facts_range(f, sym_atom(ATOM_DIM, fn->dims.p[i].name, 0), 0, INT32_MAX);
	for (int i = 0; i < fn->where.n; i++) facts_assume(f, fn->where.p[i].cond);
	for (int a = 0; a < 2; a++) {
		int axis = a;
		const IrParam *p = param_of_view(fn, view, &axis);
		x->narrow[a] = facts_le(f, p->extent[axis], sym_const(INT32_MAX));
		if (a) x->whole = facts_gcd(f, p->extent[axis]) % (16 >> x->size) == 0;
	}
}

static void print_thread_part(Copy *x)
{
	Cu *g = x->g;
	const IrAttr *steps = ir_attr(x->op, AT_STEPS), *offs = ir_attr(x->op, AT_OFFSETS);
	for (int a = 0; a < 2; a++) {
		Str index = cu_scalar(g, ir_in(x->op, 2 + a));
		long long off = offs ? (long long)offs->u.ints.p[a] : 0;
		const char *t = number_type(x, a);
		out_printf(g->o, "const %s ct_c%d = (%s)%s * %lldu%s + (%s);\n", t, a, t, index, (long long)steps->u.ints.p[a],
			off ? str_fmt(" + (%s)%lld", t, off) : "", cu_map_thread(&x->coord[a]).text);
	}
	out_printf(g->o, "const %s *const ct_p = %s + (long long)ct_c0 * %s + ct_c1;\n", cu_type(x->view->elem),
		x->view->base, x->view->str[0]);
	out_printf(g->o, "const unsigned int ct_t = %s;\n", cu_map_thread(&x->off).text);
}

/* Is this vector inside, and how much of it: a row may end within one. */
static void print_piece(Copy *x, int i)
{
	Cu *g = x->g;
	int regs = x->plan.piece.in[HW_REG];
	unsigned row = xor_bits(&x->coord[0], 0, regs, i), col = xor_bits(&x->coord[1], 0, regs, i);
	unsigned off = xor_bits(&x->off, 0, regs, i) ^ x->plan.begin;
	Str c0 = row ? str_fmt("ct_c0 + %u", row) : str_intern("ct_c0"),
		c1 = col ? str_fmt("ct_c1 + %u", col) : str_intern("ct_c1");
	Str from = str_fmt("ct_p%s%s", row ? str_fmt(" + %u * %s", row, x->view->str[0]) : "",
		col ? str_fmt(" + %u", col) : "");
	Str e0 = str_fmt("(%s)%s", number_type(x, 0), x->view->ext[0]),
		e1 = str_fmt("(%s)%s", number_type(x, 1), x->view->ext[1]);
	Str bytes = x->whole ? str_intern("16") : str_fmt("ct_copy_part((%s - (%s)) * %dull, 16)", e1, c1, 1 << x->size);
	out_printf(g->o, "ct_copy16(%s, %s, %s < %s && %s < %s ? %s : 0);\n",
		address_at(g, ir_in(x->op, 0), off, 1 << x->size), from, c0, e0, c1, e1, bytes);
}

void frag_copy(Cu *g, const Op *op)
{
	const Val *buf = ir_in(op, 0), *view = ir_in(op, 1);
	Copy x = { .g = g, .op = op, .view = cu_val(g, view)->view, .size = elem_log2(buf->type->elem) };
	if (!copy_plan(buf, log2_of(group_warps(op)), &x.plan)) bug("a buffer that takes no pieces");
	look_at_tensor(&x);
	for (int a = 0; a < 2; a++) x.coord[a] = cu_map(x.plan.piece, a);
	x.off = cu_map(x.plan.off, LAY_HWAXIS(HW_OFF));
	Str copies = cu_copies(x.plan.piece);
	cu_say(g, op);
	out_printf(g->o, "%s%s%s{\n", copies ? "if (" : "", copies ? copies : "", copies ? ") " : "");
	out_in(g->o);
	print_thread_part(&x);
	cu_line(g, op);
	for (int i = 0; i < 1 << x.plan.piece.in[HW_REG]; i++) print_piece(&x, i);
	cu_end(g);
}

void frag_copy_group(Cu *g, const Op *op)
{
	if (op->code == OP_COPY_COMMIT) out_puts(g->o, "asm volatile(\"cp.async.commit_group;\" : : : \"memory\");\n");
	else
		out_printf(g->o, "asm volatile(\"cp.async.wait_group %lld;\" : : : \"memory\");\n",
			(long long)ir_int(op, AT_PENDING, 0));
}

/* ---- fragments ---- */
void frag_ldmatrix_op(Cu *g, const Op *op)
{
	const Val *r = op->out[0], *buf = ir_in(op, 0);
	LdmPlan p;
	if (!ldm_plan(op, &p)) bug("a fragment that ldmatrix cannot load");
	CuMap off = cu_map(p.addr, LAY_HWAXIS(HW_OFF));
	int words = 1 << p.x_log2, size = elem_log2(buf->type->elem);
	cu_val(g, r)->name = cu_name(g, r);
	cu_say(g, op);
	cu_declare(g, r);
	out_puts(g->o, "{\n");
	out_in(g->o);
	out_printf(g->o, "const unsigned int ct_t = %s;\n", cu_map_thread(&off).text);
	cu_line(g, op);
	for (int i = 0; i < 1 << p.addr.in[HW_REG]; i++)
		out_printf(g->o, "ct_ldm_x%d%s(%s%s, %s);\n", words, p.trans ? "_t" : "", regs_of(r) > 1 ? "" : "&",
			cu_sum(cu_var(cu_scalar(g, r)), cu_int(i * words)).text,
			address_at(g, buf, xor_bits(&off, 0, p.addr.in[HW_REG], i) ^ p.begin, 1 << size));
	cu_end(g);
}

void frag_of_tile(Cu *g, const Op *op)
{
	const Val *r = op->out[0], *x = ir_in(op, 0);
	Elem e = x->type->elem;
	int per = 4 / elem_bytes(e);
	Str part[4];
	cu_val(g, r)->name = cu_name(g, r);
	cu_say(g, op);
	cu_declare(g, r);
	for (int w = 0; w < regs_of(r); w++) {
		for (int i = 0; i < per; i++) part[i] = cu_at(g, x, str_fmt("%d", w * per + i));
		Str word = words_pack(g, e, per, part);
		out_printf(g->o, "%s = %s;\n", cu_at(g, r, str_fmt("%d", w)), word);
	}
}

/* ---- products ---- */
static void open_loop(Cu *g, const char *var, int n)
{
	cu_head(g, var, 0, n, true);
	cu_open(g);
}

/* Of a factor: those of step s of repetition rep, `words` each. */
static Str words_of(Cu *g, const Val *v, const char *rep, const MmaFragPlan *p, int s, int words)
{
	CuInt at = cu_sum(cu_times(cu_var(rep), 1 << p->steps), cu_int(s));
	return cu_sum(cu_var(cu_scalar(g, v)), cu_times(at, words)).text;
}

/* The sum is added in place where nobody else wants it as it was. */
void frag_mma(Cu *g, const Op *op)
{
	const Val *a = ir_in(op, 0), *b = ir_in(op, 1), *c = ir_in(op, 2), *r = op->out[0];
	MmaFragPlan p;
	if (!mma_frag_plan(op, &p)) bug("fragments of no instruction");
	bool in_place = g->uses[c->id] == 1 && !cu_val(g, c)->splat && !cu_val(g, c)->inside;
	cu_say(g, op);
	if (in_place) {
		cu_val(g, r)->name = cu_scalar(g, c);
	} else {
		cu_val(g, r)->name = cu_name(g, r);
		cu_declare(g, r);
		CuInt reg = cu_loop(g, "ct_r", regs_of(r));
		out_printf(g->o, "%s = %s;\n", cu_at(g, r, reg.text), cu_at(g, c, reg.text));
		cu_end(g);
	}
	for (int s = 0; s < 1 << p.steps; s++) {
		open_loop(g, "ct_m", 1 << p.mrep);
		open_loop(g, "ct_n", 1 << p.nrep);
		cu_line(g, op);
		out_printf(g->o, "ct_mma_m16n8k%d_%s_%s(%s + (ct_m * %d + ct_n) * 4, %s, %s);\n", 1 << frag_k(p.frag),
			elem_rows[a->type->elem].name, elem_rows[b->type->elem].name, cu_scalar(g, r), 1 << p.nrep,
			words_of(g, a, "ct_m", &p, s, p.a_words), words_of(g, b, "ct_n", &p, s, p.b_words));
		cu_end(g);
		cu_end(g);
	}
}
