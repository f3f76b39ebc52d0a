/* Matrix products. The factors are in shared memory.
 *
 * Tensor cores: each warp takes the fragments of one or two steps of K by ldmatrix where the storage allows, else word
 * by word, then multiplies all its blocks of M and N. So the order of an element's sum is: increasing K in steps of the
 * instruction, within a step as the hardware does. By fma: increasing K, one element after the other; f16 sums are kept
 * in f32 and rounded at the end of the tile. */
#include <string.h>

#include "base/diag.h"
#include "base/least.h"
#include "emit_cuda/cu.h"
#include "placed/access.h"

typedef struct Factor {
	Elem e;
	CuInt base;             /* byte offset of the buffer */
	int words;              /* 32-bit words (f64: elements) of one fragment of a thread */
	int reps, steps, batches;       /* log2 of the blocks along M or N, and along K; of the batches of a warp */
	bool matrices, trans;   /* by ldmatrix */
	int x;                  /* log2 of matrices at once */
	CuMap off;              /* fragment place -> offset; by ldmatrix: issue, lane, warp -> offset */
	const char *name;       /* "a" */
} Factor;

typedef struct Mma {
	Cu *g;
	const Op *op;
	MmaPlan plan;
	Factor f[2];
	int together;           /* steps of K loaded at once */
	CuInt batch;            /* of those of a warp */
	bool unrolled;
	Str acc;
} Mma;

static Factor factor(const Mma *m, int i)
{
	MmaFactor p = mma_factor(m->op, i, &m->plan);
	return (Factor){ .e = p.e, .base = cu_int(ir_int(ir_in(m->op, i)->def, AT_SLOT, 0)),
		.words = p.words, .reps = p.reps, .steps = p.steps, .batches = p.batches,
		.matrices = p.matrices, .trans = p.trans, .x = p.x, .off = cu_map(p.off, LAY_HWAXIS(HW_OFF)),
		.name = i ? "b" : "a" };
}

static void open_loop(Cu *g, const char *var, int n, bool unroll)
{
	cu_head(g, var, 0, n, unroll);
	cu_open(g);
}

/* A loop over n repetitions and its variable, or the number of the only one. */
static CuInt open_reps(Cu *g, const char *var, int n, bool unroll)
{
	if (n == 1) return cu_int(0);
	open_loop(g, var, n, unroll);
	return cu_var(var);
}

static void close_reps(Cu *g, int n)
{
	if (n > 1) cu_end(g);
}

static CuInt byte_at(const Factor *f, CuInt off)
{
	return cu_sum(f->base, cu_times(off, elem_bytes(f->e)));
}

static Str word_at(const char *array, CuInt at, int n)
{
	return cu_sum(cu_sum(cu_var(array), at), cu_int(n)).text;
}

/* Words of one fragment, rep `rep` and step `step` (expressions), into dst (a pointer expression). */
static void load_words(const Mma *m, const Factor *f, CuInt rep, CuInt step, const char *dst)
{
	Cu *g = m->g;
	int size = elem_log2(f->e), bits = 0, per = f->e == EL_F64 ? 0 : 2 - size;
	while (1 << bits < f->words) bits++;
	/* register bits of the layout: within a word, words, steps, reps */
	CuMap at = f->off;
	CuInt base = cu_xor(cu_linear(step, f->steps, at.col + per + bits),
		cu_linear(rep, f->reps, at.col + per + bits + f->steps));
	base = cu_xor(base, cu_linear(m->batch, f->batches, at.col + per + bits + f->steps + f->reps));
	base = cu_xor(cu_var(str_fmt("ct_t%s", f->name)), base);
	for (int w = 0; w < f->words; w++) {
		uint32_t add[4] = { 0 };
		bool run = true;
		for (int i = 0; i < 1 << per; i++) {
			for (int b = 0; b < per; b++)
				if (i >> b & 1) add[i] ^= at.col[b];
			for (int b = 0; b < bits; b++)
				if (w >> b & 1) add[i] ^= at.col[per + b];
		}
		for (int i = 0; i < per; i++) run = run && at.col[i] == (uint32_t)1 << i;
		for (int i = per; i < at.nreg + at.nlane + at.nwarp; i++)
			run = run && !(at.col[i] & (((uint32_t)1 << per) - 1));
		if (f->e == EL_F64) {
			out_printf(g->o, "(%s)[%d] = *(const double *)%s;\n", dst, w,
				words_shared(byte_at(f, cu_xor(base, cu_int(add[0])))));
		} else if (run) {
			out_printf(g->o, "(%s)[%d] = *(const unsigned int *)%s;\n", dst, w,
				words_shared(byte_at(f, cu_xor(base, cu_int(add[0])))));
		} else {
			Str part[4];
			for (int i = 0; i < 1 << per; i++)
				part[i] = str_fmt("*(const unsigned %s *)%s", size ? "short" : "char",
					words_shared(byte_at(f, cu_xor(base, cu_int(add[i])))));
			if (per == 1) out_printf(g->o, "(%s)[%d] = ct_join_b16(%s, %s);\n", dst, w, part[0], part[1]);
			else
				out_printf(g->o, "(%s)[%d] = ct_join_b8(%s, %s, %s, %s);\n", dst, w, part[0], part[1], part[2],
					part[3]);
		}
	}
}

/* All steps of K that are taken together, of one rep, into ct_f<name> + at. */
static void load_fragment(const Mma *m, const Factor *f, CuInt rep, CuInt at)
{
	Cu *g = m->g;
	cu_line(g, m->op);
	if (!f->matrices) {
		for (int s = 0; s < m->together; s++)
			load_words(m, f, rep, cu_sum(cu_times(cu_var("ct_k"), m->together), cu_int(s)),
				word_at(str_fmt("ct_f%s", f->name), at, s * f->words));
		return;
	}
	int words = 1 << f->x, need = f->words * m->together;
	for (int w = 0; w < need; w += words) {
		/* issue number: words / 2^x, then steps, then reps */
		int within = 0;
		while (words << within < f->words) within++;
		int joined = f->x;      /* log2 of the steps that one issue holds */
		while (joined > 0 && f->words << joined > words) joined--;
		if (f->words >= words) joined = 0;
		uint32_t base = 0;
		for (int b = 0; b < within; b++)
			if ((w / words) >> b & 1) base ^= f->off.col[b];
		int extra = f->words >= words ? w / f->words : 0;
		CuInt step = cu_var("ct_k");
		if (m->together > 1 && !joined) step = cu_sum(cu_times(step, m->together), cu_int(extra));
		CuInt off = cu_xor(cu_linear(step, f->steps - joined, f->off.col + within),
			cu_linear(rep, f->reps, f->off.col + within + f->steps - joined));
		off = cu_xor(off, cu_linear(m->batch, f->batches, f->off.col + within + f->steps - joined + f->reps));
		off = cu_xor(cu_xor(cu_var(str_fmt("ct_t%s", f->name)), off), cu_int(base));
		out_printf(g->o, "ct_ldm_x%d%s(%s, %s);\n", words, f->trans ? "_t" : "",
			word_at(str_fmt("ct_f%s", f->name), at, w), cu_sum(cu_var("ct_sh"), byte_at(f, off)).text);
	}
}

static void print_mma(const Mma *m, const char *a, const char *b, CuInt mrep, CuInt nrep)
{
	const MmaPlan *p = &m->plan;
	int each = p->frag == FRAG_M8N8K4 ? 2 : 4, nr = 1 << m->f[1].reps, mr = 1 << m->f[0].reps;
	Elem x = m->f[0].e, y = m->f[1].e;
	cu_line(m->g, m->op);
	CuInt at = cu_sum(cu_times(mrep, nr * each), cu_times(nrep, each));
	at = cu_sum(cu_times(m->batch, mr * nr * each), at);
	out_printf(m->g->o, "ct_mma_%s_%s_%s(%s, %s, %s);\n", p->name, elem_rows[x].name, elem_rows[y].name,
		word_at(m->acc, at, 0), a, b);
}

static void multiply_matrices(const Mma *m)
{
	Cu *g = m->g;
	const Factor *a = &m->f[0], *b = &m->f[1];
	const char *word = a->e == EL_F64 ? "double" : "unsigned int";
	int mr = 1 << a->reps, nr = 1 << b->reps, ks = m->together, aw = a->words * ks, bw = b->words * ks;
	int steps = (1 << a->steps) / ks;
	CuInt zero = cu_int(0);
	open_loop(g, "ct_k", steps, m->unrolled && steps * mr * nr * ks <= 128);
	out_printf(g->o, "%s ct_fa[%d], ct_fb[%d];\n", word, m->unrolled ? mr * aw : aw, bw);
	if (m->unrolled) {
		CuInt rep = open_reps(g, "ct_m", mr, true);
		load_fragment(m, a, rep, cu_times(rep, aw));
		close_reps(g, mr);
		CuInt col = open_reps(g, "ct_n", nr, true);
		load_fragment(m, b, col, zero);
		open_reps(g, "ct_m", mr, true);
		for (int s = 0; s < ks; s++)
			print_mma(m, word_at("ct_fa", cu_times(rep, aw), s * a->words), word_at("ct_fb", zero, s * b->words), rep,
				col);
		close_reps(g, mr);
		close_reps(g, nr);
	} else {
		CuInt rep = open_reps(g, "ct_m", mr, false);
		load_fragment(m, a, rep, zero);
		CuInt col = open_reps(g, "ct_n", nr, false);
		load_fragment(m, b, col, zero);
		for (int s = 0; s < ks; s++)
			print_mma(m, word_at("ct_fa", zero, s * a->words), word_at("ct_fb", zero, s * b->words), rep, col);
		close_reps(g, nr);
		close_reps(g, mr);
	}
	cu_end(g);
}

static void tensor_block(Mma *m)
{
	int n = 1 << imax(m->f[0].batches, m->f[1].batches);
	m->batch = open_reps(m->g, "ct_z", n, m->unrolled);
	multiply_matrices(m);
	close_reps(m->g, n);
}

/* ---- by fma ---- */
/* Offset of the row (of a) or column (of b) that an accumulator's place needs, step 0 of K. */
static CuMap fma_map(const Mma *m, int i)
{
	const Type *t = ir_in(m->op, i)->type;
	Lay l = m->plan.c;
	int r = t->rank, rows = t->log2[r - 2], cols = t->log2[r - 1];
	CuMap map = cu_map(l, l.naxis - 1);
	for (int k = 0; k < map.nreg + map.nlane + map.nwarp; k++) {
		uint32_t x = lay_coord(l, l.col[k], i ? l.naxis - 1 : l.naxis - 2);
		uint32_t off = i ? x : x << cols;
		if (r == 3 && t->log2[0]) off |= lay_coord(l, l.col[k], 0) << (rows + cols);
		map.col[k] = off;
	}
	return map;
}

static Str as_acc(Elem e, Elem acc, Str x)
{
	char name[64];
	if (e == acc) return x;
	if (!snip_cvt(name, sizeof name, elem_rows[acc].name, elem_rows[e].name, NULL, NULL))
		bug("no conversion for a product");
	return str_fmt("%s(%s)", name, x);
}

static Str fma_factor(const Mma *m, int i, CuInt off, Elem acc)
{
	Elem e = ir_in(m->op, i)->type->elem;
	return as_acc(e, acc, words_load_shared(e, byte_at(&m->f[i], off)));
}

/* d += x y */
static void print_fma(Cu *g, Elem acc, Str d)
{
	const char *t = elem_rows[acc].name;
	if (elem_is_any_float(acc)) out_printf(g->o, "%s = ct_fma_%s(ct_x, ct_y, %s);\n", d, t, d);
	else out_printf(g->o, "%s = ct_add_%s(ct_mul_%s(ct_x, ct_y), %s);\n", d, t, t, d);
}

static void fma_block(const Mma *m, Elem acc)
{
	Cu *g = m->g;
	const Type *a = ir_in(m->op, 0)->type, *b = ir_in(m->op, 1)->type;
	int k = 1 << a->log2[a->rank - 1], cols = b->log2[b->rank - 1], regs = 1 << m->plan.c.in[HW_REG];
	CuMap ma = fma_map(m, 0), mb = fma_map(m, 1);
	out_printf(g->o, "const unsigned int ct_ta = %s, ct_tb = %s;\n", cu_map_thread(&ma).text,
		cu_map_thread(&mb).text);
	open_loop(g, "ct_k", k, false);
	open_loop(g, "ct_r", regs, cu_unrolled(regs));
	CuInt reg = cu_var("ct_r");
	CuInt oa = cu_sum(cu_xor(cu_var("ct_ta"), cu_map_reg(&ma, reg)), cu_var("ct_k"));
	CuInt ob = cu_sum(cu_xor(cu_var("ct_tb"), cu_map_reg(&mb, reg)), cu_var(str_fmt("(ct_k << %d)", cols)));
	cu_line(g, m->op);
	out_printf(g->o, "const %s ct_x = %s;\n", cu_type(acc), fma_factor(m, 0, oa, acc));
	out_printf(g->o, "const %s ct_y = %s;\n", cu_type(acc), fma_factor(m, 1, ob, acc));
	print_fma(g, acc, str_fmt("%s[ct_r]", m->acc));
	cu_end(g);
	cu_end(g);
}

/* ---- in pieces ---- */
/* Puts the part of factor i that the pieces ct_pz, ct_pm, ct_pn, ct_pk are about into shared memory, row-major. */
static void fill_factor(Cu *g, const Op *op, int i, MmaPieces p)
{
	const Val *x = ir_in(op, i);
	const Type *t = x->type;
	int cols = t->log2[t->rank - 1], rows = t->log2[t->rank - 2], pc = i ? p.n : p.k, pr = i ? p.k : p.m;
	int z = t->rank == 3 && t->log2[0] ? p.z : 0;
	int64_t slot = ir_int(op, AT_SLOT, 0) + (i ? p.a_bytes : 0);
	CuMap off = cu_map(*x->lay, LAY_PACKED);
	Str copies = cu_copies(*x->lay);
	CuInt reg = cu_loop(g, "ct_b", regs_of(x));
	out_printf(g->o, "const unsigned int ct_f = %s;\n", cu_map_place(&off, reg).text);
	out_printf(g->o, "const unsigned int ct_col = ct_f & %u, ct_row = ct_f >> %d & %u, ct_z = ct_f >> %d;\n",
		(1u << cols) - 1, cols, (1u << rows) - 1, rows + cols);
	cu_line(g, op);
	out_printf(g->o, "if (%s%sct_col >> %d == ct_p%c && ct_row >> %d == ct_p%c && ct_z >> %d == %s) {\n",
		copies ? copies : "", copies ? " && " : "",
		pc, i ? 'n' : 'k', pr, i ? 'k' : 'm', z, t->rank == 3 && t->log2[0] ? "ct_pz" : "0");
	out_in(g->o);
	Str at = str_fmt("((ct_z & %u) << %d) + ((ct_row & %u) << %d) + (ct_col & %u)", (1u << z) - 1, pc + pr,
		(1u << pr) - 1, pc, (1u << pc) - 1);
	words_store_shared(g, t->elem, words_offset(slot, cu_compound(at), elem_bytes(t->elem)), cu_at(g, x, reg.text));
	cu_end(g);
	cu_end(g);
}

static void multiply_pieces(Cu *g, const Op *op, MmaPieces p, Elem acc)
{
	const Type *a = ir_in(op, 0)->type, *b = ir_in(op, 1)->type, *c = op->out[0]->type;
	int cols = c->log2[c->rank - 1], rows = c->log2[c->rank - 2];
	long long slot = (long long)ir_int(op, AT_SLOT, 0);
	int za = a->rank == 3 && a->log2[0] ? p.z : 0, zb = b->rank == 3 && b->log2[0] ? p.z : 0;
	CuMap off = cu_map(*op->out[0]->lay, LAY_PACKED);
	open_loop(g, "ct_r", regs_of(op->out[0]), false);
	out_printf(g->o, "const unsigned int ct_f = %s;\n", cu_map_place(&off, cu_var("ct_r")).text);
	out_printf(g->o, "const unsigned int ct_col = ct_f & %u, ct_row = ct_f >> %d & %u, ct_z = ct_f >> %d;\n",
		(1u << cols) - 1, cols, (1u << rows) - 1, rows + cols);
	out_printf(g->o, "if (ct_col >> %d != ct_pn || ct_row >> %d != ct_pm || ct_z >> %d != ct_pz) continue;\n", p.n, p.m,
		p.z);
	out_printf(g->o, "const unsigned int ct_ta = ((ct_z & %u) << %d) + ((ct_row & %u) << %d);\n", (1u << za) - 1,
		p.m + p.k, (1u << p.m) - 1, p.k);
	out_printf(g->o, "const unsigned int ct_tb = ((ct_z & %u) << %d) + (ct_col & %u);\n", (1u << zb) - 1, p.k + p.n,
		(1u << p.n) - 1);
	out_printf(g->o, "%s ct_d = ct_acc[ct_r];\n", cu_type(acc));
	open_loop(g, "ct_k", 1 << p.k, false);
	cu_line(g, op);
	out_printf(g->o, "const %s ct_x = %s;\n", cu_type(acc), as_acc(a->elem, acc,
		words_load_shared(a->elem, words_offset(slot, cu_compound("ct_ta + ct_k"), elem_bytes(a->elem)))));
	out_printf(g->o, "const %s ct_y = %s;\n", cu_type(acc), as_acc(b->elem, acc,
		words_load_shared(b->elem, words_offset(slot + p.a_bytes, cu_compound(str_fmt("ct_tb + (ct_k << %d)", p.n)),
		elem_bytes(b->elem)))));
	print_fma(g, acc, str_intern("ct_d"));
	cu_end(g);
	out_puts(g->o, "ct_acc[ct_r] = ct_d;\n");
	cu_end(g);
}

void mma_in_pieces(Cu *g, const Op *op)
{
	MmaPieces p = mma_pieces(op);
	const Val *r = op->out[0];
	const Type *c = r->type, *a = ir_in(op, 0)->type;
	Elem acc = c->elem == EL_F16 ? EL_F32 : c->elem;
	int sizes[4] = { (c->rank == 3 ? c->log2[0] : 0) - p.z, c->log2[c->rank - 2] - p.m, c->log2[c->rank - 1] - p.n,
		a->log2[a->rank - 1] - p.k };
	cu_val(g, r)->name = cu_name(g, r);
	cu_say(g, op);
	cu_declare(g, r);
	out_printf(g->o, "{\n\t%s ct_acc[%d];\n", cu_type(acc), regs_of(r));
	out_in(g->o);
	cu_each(g, "ct_r", regs_of(r));
	out_printf(g->o, "ct_acc[ct_r] = %s;\n", as_acc(c->elem, acc, cu_at(g, ir_in(op, 2), "ct_r")));
	for (int i = 0; i < 4; i++)
		out_printf(g->o, "#pragma unroll 1\nfor (unsigned int ct_p%c = 0; ct_p%c < %u; ct_p%c++)\n", "zmnk"[i],
			"zmnk"[i], 1u << sizes[i], "zmnk"[i]);
	out_puts(g->o, "{\n");
	out_in(g->o);
	cu_sync(g);
	fill_factor(g, op, 0, p);
	fill_factor(g, op, 1, p);
	cu_sync(g);
	multiply_pieces(g, op, p, acc);
	cu_end(g);
	cu_each(g, "ct_r", regs_of(r));
	out_printf(g->o, "%s = %s;\n", cu_at(g, r, "ct_r"), acc == c->elem ? "ct_acc[ct_r]"
		: "ct_cvt_f16_f32(ct_acc[ct_r])");
	cu_end(g);
}

/* ---- both ---- */
void mma_print(Cu *g, const Op *op)
{
	Mma m = { .g = g, .op = op, .plan = mma_plan(op, g->fn->arch, log2_of(g->fn->warps)) };
	const Val *r = op->out[0], *c = ir_in(op, 2);
	Elem to = r->type->elem, acc = to == EL_F16 ? EL_F32 : to;
	int regs = regs_of(r);
	cu_val(g, r)->name = cu_name(g, r);
	cu_say(g, op);
	cu_declare(g, r);
	out_puts(g->o, "{\n");
	out_in(g->o);
	bool in_place = acc == to && regs > 1;
	if (!in_place) out_printf(g->o, "%s ct_acc[%d];\n", cu_type(acc), regs);
	m.acc = in_place ? cu_scalar(g, r) : str_intern("ct_acc");
	m.unrolled = cu_unrolled(regs);
	cu_each(g, "ct_r", regs);
	out_printf(g->o, acc == to ? "%s[ct_r] = %s;\n" : "%s[ct_r] = ct_cvt_f32_f16(%s);\n", m.acc, cu_at(g, c, "ct_r"));
	for (int i = 0; i < 2 && m.plan.tensor; i++) m.f[i] = factor(&m, i);
	if (m.plan.tensor) {
		const Factor *b = &m.f[1];
		m.together = b->matrices && 1 << b->x > b->words ? (1 << b->x) / b->words : 1;
		if (m.f[0].matrices || b->matrices) out_puts(g->o, "const unsigned int ct_sh = ct_shared(ct_smem);\n");
		for (int i = 0; i < 2; i++)
			out_printf(g->o, "const unsigned int ct_t%s = %s;\n", m.f[i].name, cu_map_thread(&m.f[i].off).text);
		tensor_block(&m);
	} else {
		for (int i = 0; i < 2; i++)
			m.f[i] = (Factor){ .e = ir_in(op, i)->type->elem,
				.base = cu_int(ir_int(ir_in(op, i)->def, AT_SLOT, 0)) };
		fma_block(&m, acc);
	}
	if (!in_place) {
		cu_each(g, "ct_r", regs);
		out_printf(g->o, acc == to ? "%s = ct_acc[ct_r];\n" : "%s = ct_cvt_f16_f32(ct_acc[ct_r]);\n",
			cu_at(g, r, "ct_r"));
	}
	cu_end(g);
}
