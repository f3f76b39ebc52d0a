/* Products of a warpgroup (wgmma), and what becomes of their registers.
 *
 * An accumulator is one array from its first wgmma_fence to its last wgmma_wait: each result there is another name for
 * it, for a copy between two products would touch registers that the tensor cores work on. The compiler does not know
 * that, so registers that enter or leave are operands of an empty asm at the fence and at the
 * wait, which nothing passes. */
#include <string.h>

#include "base/diag.h"
#include "emit_cuda/group.h"
#include "ir/ir_regs.h"
#include "layout/wgmma.h"

/* ---- one instruction ---- */
typedef struct Product { int n, k; Elem elem; bool a_regs, ta, tb; } Product;

static VEC(Product) wanted;

static const char *ptx_elem(Elem e)
{
	switch (e) {
	case EL_F16: return "f16";
	case EL_BF16: return "bf16";
	case EL_TF32: return "tf32";
	case EL_F8E4M3: return "e4m3";
	case EL_F8E5M2: return "e5m2";
	default: bug("wgmma knows no %s", elem_name(e));
	}
}

static Str product_name(const Product *p)
{
	return str_fmt("ct_wgmma_m64n%dk%d_%s%s%s%s", p->n, p->k, ptx_elem(p->elem), p->a_regs ? "_ra" : "",
		p->ta ? "_ta" : "",
		p->tb ? "_tb" : "");
}

static Str product_wanted(Product p)
{
	for (int i = 0; i < wanted.n; i++) {
		Str have = product_name(&wanted.p[i]);
		if (have == product_name(&p)) return have;
	}
	vec_push(A_UNIT, &wanted, p);
	return product_name(&p);
}

static void operands(Out *o, const char *what, int from, int n)
{
	for (int i = 0; i < n; i++) out_printf(o, "%s%s", i ? i % 16 ? ", " : ",\"\n\t\t\" " : "", str_fmt(what, from + i));
}

static void print_function(Out *o, const Product *p)
{
	int d = p->n / 2, b = d + (p->a_regs ? 4 : 1);
	out_printf(o, "/* d[64 x %d] (+)= a b; keep 0 starts a new sum */\nstatic __device__ __forceinline__ void\n"
		"%s(float *d, %s a, unsigned long long b, int keep)\n{\n",
		p->n, product_name(p), p->a_regs ? "const unsigned int *" : "unsigned long long");
	out_printf(o, "\tasm volatile(\"{ .reg .pred p; setp.ne.b32 p, %%%d, 0;\\n\"\n"
		"\t\t\"wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s.%s {\"\n\t\t\"", b + 1,
		p->n, p->k, ptx_elem(p->elem), ptx_elem(p->elem));
	operands(o, "%%%d", 0, d);
	out_puts(o, "}, \"\n\t\t\"");
	if (p->a_regs) out_printf(o, "{%%%d, %%%d, %%%d, %%%d}", d, d + 1, d + 2, d + 3);
	else out_printf(o, "%%%d", d);
	out_printf(o, ", %%%d, p, 1, 1", b);
	if (elem_bytes(p->elem) == 2) out_printf(o, p->a_regs ? ", %d" : ", %d, %d", p->a_regs ? p->tb : p->ta, p->tb);
	out_puts(o, "; }\"\n\t\t: ");
	for (int i = 0; i < d; i++) out_printf(o, "%s\"+f\"(d[%d])", i ? i % 8 ? ", " : ",\n\t\t\t" : "", i);
	if (p->a_regs) out_puts(o, "\n\t\t: \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])");
	else out_puts(o, "\n\t\t: \"l\"(a)");
	out_puts(o, ", \"l\"(b), \"r\"(keep));\n}\n\n");
}

void wgmma_functions(Out *o)
{
	for (int i = 0; i < wanted.n; i++) print_function(o, &wanted.p[i]);
	wanted.n = 0;
}

/* ---- fence and wait ---- */
static void tie(Cu *g, Str array, int n, bool words)
{
	cu_each(g, "ct_r", n);
	out_printf(g->o, "asm volatile(\"\" : \"+%s\"(%s[ct_r]) : : \"memory\");\n", words ? "r" : "f", array);
}

static bool in_words(const Type *t) { return elem_bytes(t->elem) == 2; }

/* May the result take over the operand's array? Nobody else reads it, and it is made anew each time the operation
 * runs. */
static bool takes_over(Cu *g, const Op *op, const Val *x)
{
	const IrBlock *from = x->def ? x->def->parent : x->block;
	return g->uses[x->id] == 1 && from == op->parent && !cu_val(g, x)->splat;
}

static void lend(Cu *g, const Op *op, const Val *x, const Val *r)
{
	int n = regs_of(x);
	if (in_words(x->type)) {
		Str w = cu_val(g, r)->name = cu_name(g, r);
		out_printf(g->o, "unsigned int %s[%d]; ", w, n / 2);
		cu_each(g, "ct_r", n / 2);
		out_printf(g->o, "%s[ct_r] = ct_join_b16(%s, %s);\n", w, words_bits(x->type->elem, cu_at(g, x, "2 * ct_r")),
			words_bits(x->type->elem, cu_at(g, x, "2 * ct_r + 1")));
		tie(g, w, n / 2, true);
		return;
	}
	if (takes_over(g, op, x)) {
		cu_val(g, r)->name = cu_val(g, x)->name;
	} else {
		Str d = cu_val(g, r)->name = cu_name(g, r);
		out_printf(g->o, "%s %s[%d]; ", cu_type(x->type->elem), d, n);
		cu_each(g, "ct_r", n);
		out_printf(g->o, "%s[ct_r] = %s;\n", d, cu_at(g, x, "ct_r"));
	}
	tie(g, cu_val(g, r)->name, n, false);
}

void wgmma_fence(Cu *g, const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		const Val *x = ir_in(op, i), *r = op->out[i];
		if (x->type->kind == TY_ASYNC) cu_val(g, r)->name = cu_val(g, x)->name;
		else lend(g, op, x, r);
	}
	out_puts(g->o, "ct_wgmma_fence();\n");
}

void wgmma_wait(Cu *g, const Op *op)
{
	int64_t n = ir_int(op, AT_PENDING, 0);
	out_printf(g->o, "ct_wgmma_wait_%lld();\n", (long long)n);
	for (int i = 0; i < op->nout; i++) {
		const Val *r = op->out[i];
		cu_val(g, r)->name = cu_val(g, ir_in(op, i))->name;
		tie(g, cu_val(g, r)->name, regs_of(r), false);
	}
}

/* ---- product ---- */
typedef struct Factor { Str name; Smem whole; int k_axis; bool regs; } Factor;

static Factor factor_of(Cu *g, const Op *op, int i)
{
	const Val *v = ir_in(op, i);
	bool mn = ir_int(op, i == 1 ? AT_A_MAJOR : AT_B_MAJOR, 0);
	Factor f = { .name = cu_scalar(g, v), .k_axis = mn ? 0 : 1, .regs = v->type->kind == TY_ASYNC };
	WgOperand o;
	if (f.regs) return f;
	f.whole = cu_val(g, v)->shared->whole;
	if (!wg_operand(f.whole, f.k_axis, &o)) bug("wgmma cannot read this buffer");
	Str d = cu_fresh(g, i == 1 ? "a" : "b");
	out_printf(g->o, "const unsigned long long %s = 0x%016llxull | (%s >> 4 & 0x%xu);\n", d,
		(unsigned long long)o.fixed, f.name, WG_ADDRESS_MASK);
	f.name = d;
	return f;
}

static int64_t step_bytes(const Factor *f, int k)
{
	int64_t bytes;
	if (!wg_step(f->whole, f->k_axis, 0, k, &bytes)) bug("no operand of wgmma begins there");
	return bytes;
}

/* Is each step along k as far from the one before it as the first two are? */
static bool are_even(const Factor *f, int depth, int step)
{
	for (int k = step; k < depth && !f->regs; k += step)
		if (step_bytes(f, k) != k / step * step_bytes(f, step)) return false;
	return true;
}

static Str step_text(const Factor *f, int step)        /* number ct_k */
{
	return str_fmt("%s + ct_k * %lld", f->name, f->regs ? 4 : (long long)step_bytes(f, step) / 16);
}

static Str factor_at(const Factor *f, int mn, int k, int k_words)
{
	int64_t bytes;
	if (f->regs) return str_fmt("%s + %d", f->name, k_words);
	if (!wg_step(f->whole, f->k_axis, mn, k, &bytes)) bug("no operand of wgmma begins there");
	return bytes ? str_fmt("%s + %lld", f->name, (long long)bytes / 16) : f->name;
}

void wgmma_product(Cu *g, const Op *op)
{
	const Val *acc = ir_in(op, 0);
	bool amn = ir_int(op, AT_A_MAJOR, 0), bmn = ir_int(op, AT_B_MAJOR, 0);
	const Type *a = ir_in(op, 1)->type;
	int m = (int)type_extent(acc->type, 0), depth = (int)type_extent(a, amn ? 0 : 1), step = wg_k(elem_log2(a->elem));
	Factor fa = factor_of(g, op, 1), fb = factor_of(g, op, 2);
	Product p = { .n = (int)type_extent(acc->type, 1), .k = step, .elem = a->elem, .a_regs = fa.regs, .ta = amn,
		.tb = bmn };
	Str fn = product_wanted(p), array = cu_val(g, op->out[0])->name = cu_val(g, acc)->name;
	bool adds = op->nin <= 3;       /* in all steps to what the accumulator holds */
	Str keep = adds ? str_intern("1") : cu_scalar(g, ir_in(op, 3));
	if (m == WG_M && depth > step && are_even(&fa, depth, step) && are_even(&fb, depth, step)) {
		cu_each(g, "ct_k", depth / step);
		out_printf(g->o, "%s(%s, %s, %s, %s);\n", fn, array, step_text(&fa, step), step_text(&fb, step),
			adds ? keep : str_fmt("ct_k ? 1 : %s", keep));
		return;
	}
	for (int k = 0; k < depth; k += step)
		for (int mi = 0; mi < m / WG_M; mi++) {
			int first = regs_wgmma(acc, mi);
			Str words = factor_at(&fa, mi * WG_M, k, k / step * 4);
			out_printf(g->o, "%s(%s, %s, %s, %s);\n", fn, first ? str_fmt("%s + %d", array, first) : array, words,
				factor_at(&fb, 0, k, 0),
				k ? "1" : keep);
		}
}

/* ---- parts of tiles ---- */
void wgmma_cut(Cu *g, const Op *op)
{
	const Val *x = ir_in(op, 0), *r = op->out[0];
	int n = regs_of(r);
	Str from = cu_scalar(g, x);
	int *where = NEW_ARRAY(A_UNIT, int, n);
	bool adjacent = true;
	if (!regs_cut(r, x, ir_attr(op, AT_OFFSETS)->u.ints.p, where)) bug("the part of a tile is in other threads");
	for (int i = 0; i < n; i++) adjacent &= where[i] == where[0] + i;
	if (cu_val(g, x)->splat) {
		cu_val(g, r)->splat = true;
		cu_val(g, r)->name = from;
	} else if (op->nin > 1) {
		cu_val(g, r)->name = str_fmt("(%s + %d * %s)", from, where[0], cu_scalar(g, ir_in(op, 1)));
	} else if (adjacent) {
		cu_val(g, r)->name = n == 1 ? cu_at(g, x, str_i64(where[0])) : where[0] ? str_fmt("(%s + %d)", from, where[0])
			: from;
	} else {
		cu_declare(g, r);
		for (int i = 0; i < n; i++)
			out_printf(g->o, "%s = %s;\n", cu_at(g, r, str_i64(i)), cu_at(g, x, str_i64(where[i])));
	}
}

/* ---- stmatrix ---- */
/* Groups of 16 columns from `first` on, of which number k is stored `step` * k bytes further on, in places that bits of
 * k flip: they are one loop. */
typedef struct Columns { int first, n; int64_t add, step; uint32_t begin, flip[LAY_BITS]; } Columns;

static uint32_t flipped(const Columns *c, int k)
{
	uint32_t flip = c->begin;
	for (int b = 0; k >> b; b++)
		if (k >> b & 1) flip ^= c->flip[b];
	return flip;
}

static int bits_below(int n)            /* of the numbers below n */
{
	int bits = 0;
	while (1 << bits < n) bits++;
	return bits;
}

static Columns columns_from(Smem s, bool trans, int first, int end)
{
	Columns c = { .first = first };
	WgStore to;
	for (; first + c.n < end && wg_stmatrix(s, trans, first + c.n, &to); c.n++) {
		int k = c.n;
		if (k == 0) c.add = to.add, c.begin = to.flip;
		if (k == 1) c.step = to.add - c.add;
		if (k && !(k & (k - 1))) c.flip[log2_of(k)] = to.flip ^ c.begin;
		if (to.add != c.add + k * c.step || to.flip != flipped(&c, k)) break;
	}
	return c;
}

/* The bits of a tile's elements as an array. */
static Str bits_of(Cu *g, const Val *x)
{
	const CuVal *c = cu_val(g, x);
	int n = regs_of(x);
	if (!c->splat && x->type->elem != EL_I16) return c->name;
	Str all = cu_fresh(g, "bits");
	out_printf(g->o, "unsigned short %s[%d]; ", all, n);
	cu_each(g, "ct_r", n);
	out_printf(g->o, "%s[ct_r] = %s;\n", all, words_bits(x->type->elem, cu_at(g, x, "ct_r")));
	return all;
}

/* Four 8 x 8 matrices at a time: 16 columns of the tile. */
void wgmma_stmatrix(Cu *g, const Op *op)
{
	const Val *buf = ir_in(op, 0), *x = ir_in(op, 1);
	const Smem s = cu_val(g, buf)->shared->whole;
	bool trans = ir_int(op, AT_TRANS, 0);
	int groups = (int)type_extent(x->type, 1) / 16;
	WgStore to;
	if (!wg_stmatrix(s, trans, 0, &to)) bug("stmatrix of %s", type_text(x->type));
	CuMap off = cu_map(to.addr, LAY_HWAXIS(HW_OFF));
	Str from = cu_fresh(g, "to"), bits = bits_of(g, x);
	out_printf(g->o, "const unsigned int %s = %s;\n", from, cu_map_thread(&off).text);
	for (int first = 0; first < groups;) {
		Columns c = columns_from(s, trans, first, groups);
		if (!c.n) bug("stmatrix of %s", type_text(x->type));
		CuInt j = c.n > 1 ? cu_var("ct_j") : cu_int(0), regs = cu_sum(cu_int(8 * first), cu_times(j, 8));
		CuInt flip = cu_xor(cu_int(c.begin), cu_linear(j, bits_below(c.n), c.flip));
		CuInt at = cu_sum(cu_var(cu_scalar(g, buf)), cu_times(cu_xor(cu_var(from), flip), 2));
		at = cu_sum(cu_sum(at, cu_int(c.add)), cu_times(j, c.step));
		if (c.n > 1) cu_each(g, "ct_j", c.n);
		out_printf(g->o, "ct_stmatrix_x4%s(%s, %s);\n", trans ? "_t" : "", at.text, cu_sum(cu_var(bits), regs).text);
		first += c.n;
	}
}
