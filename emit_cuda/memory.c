/* Views, and access to global memory.
 *
 * A tile of a tensor is accessed in pieces of up to 16 bytes where its address and strides allow. Where it also lies wholly
 * inside, no piece has a condition; both are asked at run time (uniformly for the block) unless they are known. Else each piece
 * that is inside is accessed as one, and the rest, if there may be any, element by element. Offsets are 64-bit. Memory that
 * nobody writes while the kernel runs is read through the read-only path. */
#include <string.h>

#include "base/diag.h"
#include "emit/names.h"
#include "emit_cuda/access.h"
#include "emit_cuda/peel.h"

/* ---- views ---- */
static Str i64_text(Cu *g, const Sym *s)
{
	int64_t v;
	if (sym_is_const(s, &v)) return str_fmt(v == (int32_t)v ? "%lld" : "%lldll", (long long)v);
	return cu_launch(g, s);
}

/* A power of two that divides s whatever the atoms are. */
static int64_t sym_multiple(const Sym *s)
{
	int64_t r = 1, v;
	if (sym_is_const(s, &v)) return v ? v & -v : (int64_t)1 << 32;
	if (s->kind == SYM_MUL)
		for (int i = 0; i < s->n; i++)
			if (r < (int64_t)1 << 31) r *= sym_multiple(s->arg[i]) < 1 << 16 ? sym_multiple(s->arg[i]) : 1 << 16;
	if (s->kind == SYM_ADD) {
		r = (int64_t)1 << 32;
		for (int i = 0; i < s->n; i++)
			if (sym_multiple(s->arg[i]) < r) r = sym_multiple(s->arg[i]);
	}
	return r;
}

void memory_params(Cu *g)
{
	for (int i = 0; i < g->fn->params.n; i++) {
		const IrParam *p = &g->fn->params.p[i];
		if (!p->is_tensor || !p->val) continue;
		CuView *v = NEW(A_UNIT, CuView);
		v->base = name_c(p->name);
		v->param = true;
		v->rank = p->rank;
		v->elem = p->elem;
		v->constant = p->mode == PM_IN;
		for (int a = 0; a < p->rank; a++) {
			int64_t s;
			v->ext[a] = i64_text(g, p->extent[a]);
			v->str[a] = i64_text(g, p->stride[a]);
			v->unit[a] = sym_is_const(p->stride[a], &s) && s == 1;
			v->multiple[a] = sym_multiple(p->stride[a]);
		}
		CuVal *c = cu_val(g, p->val);
		c->view = v;
		c->name = v->base;
	}
}

static Str wide(Cu *g, const Val *v)            /* an integer scalar as long long */
{
	Num n;
	if (ir_const_value(v, &n)) return str_fmt(n.i == (int32_t)n.i ? "%lld" : "%lldll", (long long)n.i);
	Str s = cu_scalar(g, v);
	return v->type->elem == EL_I64 ? s : str_fmt("(long long)%s", s);
}

int64_t access_multiple(const Val *v)
{
	Num n;
	if (ir_const_value(v, &n)) return n.i ? n.i & -n.i : (int64_t)1 << 32;
	if (v->def && (v->def->code == OP_MUL || v->def->code == OP_ADD || v->def->code == OP_SUB)) {
		int64_t x = access_multiple(ir_in(v->def, 0)), y = access_multiple(ir_in(v->def, 1));
		int64_t r = v->def->code != OP_MUL ? (x < y ? x : y) : (x < 1 << 16 ? x : 1 << 16) * (y < 1 << 16 ? y : 1 << 16);
		return r < 1 << 16 ? r : 1 << 16;
	}
	if (v->def && v->def->code == OP_LAUNCH) return sym_multiple(ir_attr(v->def, AT_SYM)->u.sym);
	if (v->def && v->def->code == OP_CAST) return access_multiple(ir_in(v->def, 0));
	return 1;
}

static void permute_view(Cu *g, const Op *op)
{
	const CuView *x = cu_val(g, ir_in(op, 0))->view;
	CuView *v = NEW(A_UNIT, CuView);
	const int64_t *axes = ir_attr(op, AT_AXES)->u.ints.p;
	*v = *x;
	for (int a = 0; a < x->rank; a++) {
		v->ext[a] = x->ext[axes[a]];
		v->str[a] = x->str[axes[a]];
		v->unit[a] = x->unit[axes[a]];
		v->multiple[a] = x->multiple[axes[a]];
	}
	cu_val(g, op->out[0])->view = v;
	cu_val(g, op->out[0])->name = x->base;
}

void memory_view(Cu *g, const Op *op)
{
	const Val *base = ir_in(op, 0);
	CuView *v = NEW(A_UNIT, CuView);
	Num n;
	if (op->code == OP_PERMUTE) {
		permute_view(g, op);
		return;
	}
	bool view = base->type->kind == TY_VIEW;
	const CuView *x = view ? cu_val(g, base)->view : NULL;
	v->rank = op->out[0]->type->rank;
	v->elem = op->out[0]->type->elem;
	v->constant = x && x->constant;
	for (int a = 0; a < v->rank; a++) {
		const Val *s = ir_in(op, 2 + v->rank + a);
		v->ext[a] = wide(g, ir_in(op, 2 + a));
		v->str[a] = wide(g, s);
		v->unit[a] = ir_const_value(s, &n) && n.i == 1;
		v->multiple[a] = access_multiple(s);
	}
	CuVal *r = cu_val(g, op->out[0]);
	Str from = view ? x->base : cu_scalar(g, base);
	r->view = v;
	if (ir_const_value(ir_in(op, 1), &n) && n.i == 0) {
		v->base = r->name = from;
		return;
	}
	v->base = r->name = cu_name(g, op->out[0]);
	cu_line(g, op);
	out_printf(g->o, "%s%s *const %s = %s + %s;\n", v->constant ? "const " : "", elem_rows[v->elem].cuda, v->base, from,
		wide(g, ir_in(op, 1)));
}

/* ---- tiles of views ---- */
void access_origin(Access *x)
{
	for (int a = 0; a < x->rank; a++) {
		const Val *i = ir_in(x->op, 1 + a);
		int64_t step = x->step[a], off = x->offset[a];
		Num n;
		if (elem_bytes(i->type->elem) == 8 && !ir_const_value(i, &n)) {
			out_printf(x->g->o, "const long long ct_o%d = ct_tile_at(%s, %lld, %lld);\n", a, wide(x->g, i), (long long)step, (long long)off);
			continue;
		}
		out_printf(x->g->o, "const long long ct_o%d = %s", a, wide(x->g, i));
		if (step != 1) out_printf(x->g->o, " * %lld", (long long)step);
		if (off) out_printf(x->g->o, " + (%lld)", (long long)off);
		out_puts(x->g->o, ";\n");
	}
}

static Str scaled(Str i, const CuView *v, int a)
{
	if (!strcmp(i, "0") || v->unit[a]) return i;
	return str_fmt("%s * %s", i, v->str[a]);
}

void access_thread(Access *x)
{
	Cu *g = x->g;
	Out *sum = out_new();
	for (int a = 0; a < x->rank; a++) {
		uint32_t reg = 0, thread = 0;
		x->map[a] = cu_map(x->l, a);
		for (int i = 0; i < x->map[a].nreg; i++) reg |= x->map[a].col[i];
		for (int i = x->map[a].nreg; i < x->map[a].nreg + x->map[a].nlane + x->map[a].nwarp; i++) thread |= x->map[a].col[i];
		x->apart[a] = !(reg & thread);
		Str c = cu_map_thread(&x->map[a]);
		bool shifts = g->shifted && x->l.out[a] && holds_row(g->fn, x->l);
		out_printf(g->o, "const int ct_c%d = (int)%s%s;\n", a, c, shifts ? " - ct_phase" : "");
		Str at = x->apart[a] ? str_fmt("(ct_o%d + ct_c%d)", a, a) : str_fmt("ct_o%d", a);
		out_printf(sum, " + %s", scaled(at, x->v, a));
	}
	/* nvcc would compute the address of each single element in front of a loop, and hold them all through */
	bool hidden = g->fn->by_element && !x->vec && x->op->parent->owner;
	out_printf(g->o, "%s%s *%sct_p = %s%s;\n", x->store || !x->v->constant ? "" : "const ", elem_rows[x->v->elem].cuda,
		hidden ? "" : "const ", x->v->base, sum->p);
	if (hidden) out_puts(g->o, "asm(\"\" : \"+l\"(ct_p));\n");
	out_free(sum);
}

/* ct_q: the coordinate of register ct_b of a turned row. */
static void print_turned(const Access *x, const char *reg)
{
	if (!x->turning) return;
	out_printf(x->g->o, "const int ct_q = (int)((((unsigned int)ct_c%d ^ %s) - (unsigned int)ct_phase) & %lldu);\n", x->turn,
		cu_map_reg(&x->map[x->turn], reg), (long long)x->g->turned - 1);
}

/* Coordinate of register reg relative to what ct_p counts. */
static Str coord(const Access *x, int a, const char *reg)
{
	if (x->turning && a == x->turn) return x->apart[a] ? str_fmt("(ct_q - ct_c%d)", a) : str_intern("ct_q");
	Str r = cu_map_reg(&x->map[a], reg);
	return x->apart[a] ? r : str_fmt("(int)%s", cu_xor(str_fmt("(unsigned int)ct_c%d", a), r));
}

static Str address(const Access *x, const char *reg)
{
	Out *o = out_new();
	out_puts(o, "ct_p");
	for (int a = 0; a < x->rank; a++) {
		Str c = coord(x, a, reg);
		if (!strcmp(c, "0")) continue;
		out_printf(o, " + %s", x->v->unit[a] ? c : str_fmt("%s * %s", c, x->v->str[a]));
	}
	return out_take(o);
}

Str access_end(const Access *x, int a, Str begin)
{
	const char *within = !x->near[a] ? "ct_within" : x->offset[a] < 0 ? "ct_at_most" : "(int)";
	return str_fmt("%s(%s - %s)", within, x->v->ext[a], begin);
}

Str access_start(const Access *x, int a)
{
	return str_fmt(x->near[a] && x->offset[a] <= 0 ? "ct_at_least(-(int)ct_o%d)" : "ct_within(-ct_o%d)", a);
}

void access_bounds(Access *x)
{
	for (int a = 0; a < x->rank; a++) {
		Str sum = x->apart[a] ? str_fmt("ct_o%d - ct_c%d", a, a) : str_fmt("ct_o%d", a);
		if (x->proved[a]) continue;
		if (x->turning && a == x->turn) {       /* a piece must not go round the end of the row, either */
			Str c = x->apart[a] ? str_fmt(" - ct_c%d", a) : "";
			out_printf(x->g->o, "const int ct_hi%d = ct_within(%s - ct_o%d < %lld ? %s - ct_o%d : %lld)%s;\n", a, x->v->ext[a], a,
				(long long)x->g->turned, x->v->ext[a], a, (long long)x->g->turned, c);
			if (x->low[a]) out_printf(x->g->o, "const int ct_lo%d = ct_within(-ct_o%d)%s;\n", a, a, c);
			continue;
		}
		bool again = x->store && x->g->late;    /* or nvcc holds the loads' comparisons, with as many elements as registers have room for */
		out_printf(x->g->o, "%sint ct_hi%d = %s;\n", again ? "" : "const ", a, access_end(x, a, sum));
		if (again) out_printf(x->g->o, "asm volatile(\"\" : \"+r\"(ct_hi%d));\n", a);
		if (x->low[a]) {
			sum = x->apart[a] ? str_fmt(" - ct_c%d", a) : "";
			out_printf(x->g->o, "const int ct_lo%d = %s%s;\n", a, access_start(x, a), sum);
		}
	}
}

/* nvcc keeps the results of comparisons that it meets again, a register for each; so it must not know that it does. */
static void forget_bounds(const Access *x)
{
	for (int a = 0; a < x->rank; a++)
		if (x->l.out[a] && !x->proved[a])
			out_printf(x->g->o, "int ct_last%d = ct_hi%d;\nasm volatile(\"\" : \"+r\"(ct_last%d));\n", a, a, a);
}

static Str inside_text(const Access *x, const char *reg)        /* NULL: always */
{
	Out *o = out_new();
	int n = 0;
	for (int a = 0; a < x->rank; a++) {
		if (x->proved[a]) continue;
		Str c = coord(x, a, reg);
		bool row = x->forgotten && x->l.out[a], sure = row && x->g->fn->row_sure && holds_row(x->g->fn, x->l);
		out_puts(o, n++ ? " && " : "");
		bool shifts = x->g->shifted && x->l.out[a] && holds_row(x->g->fn, x->l);
		if (sure) out_printf(o, "((%s%s%s < %d) || (", shifts ? reg : "", shifts ? " && " : "", reg, x->g->fn->row_sure);
		out_printf(o, "%s < ct_%s%d", c, row ? "last" : "hi", a);
		if (shifts) out_printf(o, " && (%s || ct_c%d >= 0)", reg, a);
		if (sure) out_puts(o, "))");
		if (x->low[a]) out_printf(o, " && %s >= ct_lo%d", c, a);
	}
	Str s = out_take(o);
	return n ? s : NULL;
}

enum { LINE = 128 };

/* A row is shifted within its first register, and where a pad of each tensor stays behind it (lower/cut.c). */
static void print_shift(Cu *g, int size)
{
	const Fn *fn = g->fn;
	int64_t room = fn->row_regs ? cut_kept(fn) : ((int64_t)1 << fn->row_log2) + 1;
	int line = cut_step(fn) < LINE / size ? cut_step(fn) * size : LINE;
	out_puts(g->o, ");\nct_phase = ");
	for (int i = 0; i < fn->below.n; i++)
		out_printf(g->o, "%s%s < %lld", i ? " && " : "", cu_launch(g, fn->below.p[i]), (long long)room - line / size + 1);
	out_printf(g->o, " ? (int)(ct_p & %d) / %d : 0;\n", line - 1, size);
}

void memory_phase(Cu *g, const Op *op)
{
	const Fn *fn = g->fn;
	if (fn->peel_line) {
		peel_phase(g, op);
		return;
	}
	if (g->aligned || (fn->by_element && !fn->row_shifts)) return;
	Access x;
	access_open(&x, g, op, NULL, false);
	g->shifted = fn->by_element;
	g->turned = g->shifted ? 0 : ir_int(op, AT_NUMBER, 0);
	cu_val(g, op->out[0])->name = str_intern("ct_phase");
	out_puts(g->o, "int ct_phase;\n{\n");
	out_in(g->o);
	access_origin(&x);
	out_printf(g->o, "const unsigned long long ct_p = (unsigned long long)(%s", x.v->base);
	for (int a = 0; a < x.rank; a++) out_printf(g->o, " + %s", scaled(str_fmt("ct_o%d", a), x.v, a));
	int size = elem_bytes(x.v->elem);
	if (g->shifted) print_shift(g, size);
	else out_printf(g->o, ");\nct_phase = ct_p & 15 ? (int)(ct_p & 127) / %d : 0;\n", size);
	cu_end(g);
}

/* ---- whole tiles ---- */
/* The condition that the tile lies wholly inside; NULL: it does. */
static Str whole_text(const Access *x)
{
	Out *o = out_new();
	int n = 0;
	for (int a = 0; a < x->rank; a++) {
		if (x->proved[a]) continue;
		if (x->low[a]) out_printf(o, "%sct_o%d >= 0", n++ ? " && " : "", a);
		out_printf(o, "%sct_o%d + %lld <= %s", n++ ? " && " : "", a, (long long)type_extent(x->data->type, a), x->v->ext[a]);
	}
	return n ? str_intern_n(o->p, o->n) : NULL;
}

/* A power of two that divides the tile's offset along axis a, but for {offsets}. */
int64_t access_origin_multiple(const Access *x, int a)
{
	int64_t step = x->step[a], least = step & -step, index = access_multiple(ir_in(x->op, 1 + a));
	return (least < 1 << 16 ? least : 1 << 16) * (index < 1 << 16 ? index : 1 << 16);
}

Str access_aligned(const Access *x)
{
	Out *o = out_new();
	int bytes = elem_bytes(x->v->elem) << x->vec;
	out_printf(o, "(((unsigned long long)%s", x->v->base);
	for (int a = 0; a < x->rank; a++) {
		int64_t size = elem_bytes(x->v->elem);
		if (a == x->fast) {
			int64_t step = access_origin_multiple(x, a), off = x->offset[a];
			if ((step * size) % bytes || (off * size) % bytes) out_printf(o, " | (unsigned long long)ct_o%d * %lld", a, (long long)size);
		} else if ((x->v->multiple[a] * size) % bytes) {
			out_printf(o, " | (unsigned long long)(%s) * %lld", x->v->str[a], (long long)size);
		}
	}
	out_printf(o, ") & %d) == 0", bytes - 1);
	return str_intern_n(o->p, o->n);
}

/* The same of a turned row: the address of its first element, less the phase. */
static Str turned_text(const Access *x)
{
	Out *o = out_new();
	out_printf(o, "((unsigned long long)(%s", x->v->base);
	for (int a = 0; a < x->rank; a++) out_printf(o, " + %s", scaled(str_fmt("ct_o%d", a), x->v, a));
	out_printf(o, " - ct_phase) & %d) == 0", (elem_bytes(x->v->elem) << x->vec) - 1);
	return str_intern_n(o->p, o->n);
}

static uint32_t piece_mask(const Access *x) { return piece_bits(x->bit, x->vec); }

/* The registers of the piece that begins at register ct_b. */
static void piece_registers(const Access *x, Str *reg)
{
	for (int k = 0; k < 1 << x->vec; k++) {
		uint32_t add = 0;
		for (int i = 0; i < x->vec; i++)
			if (k >> i & 1) add |= (uint32_t)1 << x->bit[i];
		reg[k] = cu_at(x->g, x->data, cu_xor(str_intern("ct_b"), str_fmt("%u", (unsigned)add)));
	}
}

/* A thread must not wait for a piece before it asks for the next. Where the ways of loading part - a tile inside, at a border,
 * not aligned - nvcc unpacks elements of 8 or 16 bits on each way, and so waits on it: pieces stay in words till the ways meet. */
static void words_of_pieces(Access *x)
{
	int regs = cu_regs(x->data);
	const char *type = words_type(elem_bytes(x->v->elem) << x->vec);
	if (x->stage) return;
	x->words = x->held || (!x->store && elem_bytes(x->v->elem) < 4 && regs <= UNROLL_REGS);
	if (x->words && !x->held) out_printf(x->g->o, "%s ct_v[%d];\n", type, regs >> x->vec);
}

static Str word_of_piece(const Access *x) { return str_fmt("%s[ct_i]", x->held ? x->held : "ct_v"); }

/* Between words and registers: of the piece that begins at register ct_b, the ct_i-th. */
static void put_words(Access *x, const Str *reg)
{
	Str w = words_pack(x->g, x->v->elem, 1 << x->vec, reg);
	out_printf(x->g->o, "%s = %s;\n", word_of_piece(x), w);
}

static void get_words(Access *x)
{
	Str reg[16];
	cu_registers(x->g, x->l, piece_mask(x));
	piece_registers(x, reg);
	words_unpack(x->g, x->v->elem, 1 << x->vec, word_of_piece(x), reg);
	cu_end(x->g);
}

static int piece_bytes(const Access *x) { return elem_bytes(x->v->elem) << x->vec; }

/* What the author says of the L2 cache goes with pieces of 8 and 16 bytes. */
static bool is_hinted(const Access *x) { return ir_int(x->op, AT_CACHE, 0) && piece_bytes(x) >= 8; }

static void print_policy(const Access *x)
{
	if (is_hinted(x))
		out_printf(x->g->o, "const unsigned long long ct_policy = ct_policy_%s();\n", attr_word_text(AT_CACHE, (int)ir_int(x->op, AT_CACHE, 0)));
}

static void print_pieces(Access *x)
{
	Cu *g = x->g;
	Str reg[16];
	int n = 1 << x->vec, bits = 8 * piece_bytes(x);
	const char *hint = is_hinted(x) ? "_hint" : "", *policy = is_hinted(x) ? ", ct_policy" : "";
	uint32_t spare = x->store ? lay_hwcoord(x->l, lay_free(x->l), HW_REG) : 0;
	cu_registers(g, x->l, piece_mask(x) | spare);
	if (x->store) elem_print_late(g);
	piece_registers(x, reg);
	Str at = address(x, "ct_b");
	if (x->store) {
		Str w = words_pack(g, x->v->elem, n, reg);
		cu_line(g, x->op);
		if (x->copies) out_printf(g->o, "if (%s) ", x->copies);
		out_printf(g->o, "ct_st%s_b%d(%s, %s%s);\n", hint, bits, at, w, policy);
	} else if (x->stage) {
		cu_line(g, x->op);
		out_printf(g->o, "ct_copy_piece(%s, %s);\n", x->stage, at);
	} else {
		cu_line(g, x->op);
		if (x->words) out_printf(g->o, "%s = ", word_of_piece(x));
		else out_printf(g->o, "const %s ct_w = ", words_type(bits / 8));
		out_printf(g->o, "ct_ld%s%s_b%d(%s%s);\n", x->v->constant ? "nc" : "", hint, bits, at, policy);
		if (!x->words) words_unpack(g, x->v->elem, n, "ct_w", reg);
	}
	cu_end(g);
}

static void print_elements(Access *x)
{
	Cu *g = x->g;
	Elem e = x->v->elem;
	int bits = 8 * elem_bytes(e);
	uint32_t spare = x->store ? lay_hwcoord(x->l, lay_free(x->l), HW_REG) : 0;
	cu_registers(g, x->l, spare);
	print_turned(x, "ct_b");
	Str at = address(x, "ct_b"), ok = inside_text(x, "ct_b"), reg = cu_at(g, x->data, "ct_b");
	if (x->store) {
		Str w = words_pack(g, e, 1, &reg);
		if (x->copies) ok = ok ? str_fmt("%s && %s", x->copies, ok) : x->copies;
		cu_line(g, x->op);
		if (ok) out_printf(g->o, "ct_st_b%d_if(%s, %s, %s);\n", bits, at, ok, w);
		else out_printf(g->o, "ct_st_b%d(%s, %s);\n", bits, at, w);
	} else {
		const char *nc = x->v->constant ? "nc" : "";
		cu_line(g, x->op);
		if (ok) out_printf(g->o, "const %s ct_w = ct_ld%s_b%d_if(%s, %s, %s);\n", words_type(bits / 8), nc, bits, at, ok, x->pad);
		else out_printf(g->o, "const %s ct_w = ct_ld%s_b%d(%s);\n", words_type(bits / 8), nc, bits, at);
		words_unpack(g, e, 1, "ct_w", &reg);
	}
	cu_end(g);
}

/* ct_in: whether the piece that begins at register ct_b is aligned and inside. */
static void print_piece_inside(const Access *x)
{
	Out *o = out_new();
	for (int a = 0; a < x->rank; a++) {
		if (x->proved[a]) continue;
		Str c = coord(x, a, "ct_b");
		if (a == x->fast) out_printf(o, " && %s + %d <= ct_hi%d", c, 1 << x->vec, a);
		else out_printf(o, " && %s < ct_hi%d", c, a);
		if (x->low[a]) out_printf(o, " && %s >= ct_lo%d", c, a);
	}
	out_printf(x->g->o, "const int ct_in = %s%s;\n", x->g->aligned ? "1" : "ct_aligned", o->p ? o->p : "");
}

Str access_pad(const Access *x)
{
	int size = elem_bytes(x->v->elem), bytes = size << x->vec;
	Str p = x->pad, w = p;
	if (x->vec == 0) return p;
	if (size == 8) return bytes == 8 ? p : str_fmt("{ { %s.v[0], %s.v[1], %s.v[0], %s.v[1] } }", p, p, p, p);
	if (size == 1) w = str_fmt("%s * 0x01010101u", p);
	if (size == 2) w = str_fmt("%s * 0x00010001u", p);
	if (bytes == 2) return str_fmt("(unsigned short)(%s)", w);
	return bytes == 4 ? w : bytes == 8 ? str_fmt("{ { %s, %s } }", w, w) : str_fmt("{ { %s, %s, %s, %s } }", w, w, w, w);
}

static void print_inside_pieces(Access *x, uint32_t skip)
{
	Cu *g = x->g;
	Str reg[16];
	int n = 1 << x->vec, bits = 8 * piece_bytes(x);
	const char *hint = is_hinted(x) ? "_hint" : "", *policy = is_hinted(x) ? ", ct_policy" : "";
	if (!x->store && !x->stage) out_printf(g->o, "const %s ct_pad = %s;\n", words_type(bits / 8), access_pad(x));
	cu_registers(g, x->l, skip);
	if (x->store) elem_print_late(g);
	piece_registers(x, reg);
	print_turned(x, "ct_b");
	print_piece_inside(x);
	Str at = address(x, "ct_b");
	if (x->store) {
		Str w = words_pack(g, x->v->elem, n, reg);
		cu_line(g, x->op);
		out_printf(g->o, "ct_st%s_b%d_if(%s, ct_in%s%s, %s%s);\n", hint, bits, at, x->copies ? " && " : "", x->copies ? x->copies : "", w, policy);
	} else if (x->stage) {
		cu_line(g, x->op);
		out_printf(g->o, "ct_copy_piece_if(%s, %s, ct_in);\n", x->stage, at);
	} else {
		cu_line(g, x->op);
		if (x->words) out_printf(g->o, "%s = ", word_of_piece(x));
		else out_printf(g->o, "const %s ct_w = ", words_type(bits / 8));
		out_printf(g->o, "ct_ld%s%s_b%d_if(%s, ct_in, ct_pad%s);\n", x->v->constant ? "nc" : "", hint, bits, at, policy);
		if (!x->words) words_unpack(g, x->v->elem, n, "ct_w", reg);
	}
	cu_end(g);
}

/* What else holds for a piece of which some elements may be inside. */
static Str touched_text(const Access *x)
{
	int a = x->fast;
	Str c = coord(x, a, "ct_b");
	if (x->turning) return str_fmt(" && (%s < ct_hi%d || ct_q > %lld)", c, a, (long long)x->g->turned - (1 << x->vec));
	return x->proved[a] ? "" : str_fmt(" && %s < ct_hi%d", c, a);
}

/* The elements of the pieces that cannot be accessed as one. */
static void print_other_elements(Access *x, uint32_t skip)
{
	Cu *g = x->g;
	Elem e = x->v->elem;
	int bits = 8 * elem_bytes(e);
	Str whole[16];
	cu_registers(g, x->l, skip);
	piece_registers(x, whole);
	print_turned(x, "ct_b");
	print_piece_inside(x);
	out_printf(g->o, "if (!ct_in%s) {\n", touched_text(x));
	out_in(g->o);
	bool rolled = cu_regs(x->data) > UNROLL_REGS && !g->roles;
	if (rolled) out_printf(g->o, "#pragma unroll 1\nfor (int ct_j = 0; ct_j < %d; ct_j++) {\n", 1 << x->vec);
	else cu_loop(g, "ct_j", (int64_t)1 << x->vec);
	if (rolled) out_in(g->o);
	out_printf(g->o, "const int ct_e = ct_b ^ %s;\n", cu_deposit("ct_j", piece_mask(x)));
	print_turned(x, "ct_e");
	Str at = address(x, "ct_e"), ok = inside_text(x, "ct_e"), reg = cu_at(g, x->data, "ct_e");
	cu_line(g, x->op);
	if (x->store) {
		if (x->copies) ok = ok ? str_fmt("%s && %s", x->copies, ok) : x->copies;
		out_printf(g->o, "ct_st_b%d_if(%s, %s, %s);\n", bits, at, ok ? ok : "1", words_pack(g, e, 1, &reg));
	} else {
		out_printf(g->o, "const %s ct_w = ct_ld%s_b%d_if(%s, %s, %s);\n", words_type(bits / 8), x->v->constant ? "nc" : "", bits, at,
			ok ? ok : "1", x->pad);
		words_unpack(g, e, 1, "ct_w", &reg);
	}
	cu_end(g);
	if (x->words) put_words(x, whole);
	cu_end(g);
	cu_end(g);
}

/* Whether the border of the tensor may cut a piece; NULL: it cannot. */
static Str ragged_text(const Access *x)
{
	int a = x->fast, mask = (1 << x->vec) - 1;
	if (x->turning) return str_fmt("((ct_hi%d | ct_phase%s) & %d) != 0", a, x->low[a] ? str_fmt(" | ct_lo%d", a) : "", mask);
	if (x->proved[a]) return NULL;
	return x->low[a] ? str_fmt("((ct_hi%d | ct_lo%d) & %d) != 0", a, a, mask) : str_fmt("(ct_hi%d & %d) != 0", a, mask);
}

static void print_partial(Access *x)
{
	Cu *g = x->g;
	uint32_t spare = x->store ? lay_hwcoord(x->l, lay_free(x->l), HW_REG) : 0, skip = piece_mask(x) | spare;
	x->turning = x->turn >= 0;
	access_bounds(x);
	if (g->aligned) {
		print_inside_pieces(x, skip);
		return;
	}
	Str ragged = ragged_text(x);
	if (g->fn->lanes) {                     /* a row of few pieces: all its elements cost less than to find those of its ends */
		out_printf(g->o, "if (!ct_aligned%s%s) {\n", ragged ? " || " : "", ragged ? ragged : "");
		out_in(g->o);
		print_elements(x);
		if (x->words) {
			Str reg[16];
			cu_registers(g, x->l, piece_mask(x));
			piece_registers(x, reg);
			put_words(x, reg);
			cu_end(g);
		}
		out_off(g->o);
		out_puts(g->o, "} else {\n");
		out_in(g->o);
		print_inside_pieces(x, skip);
		cu_end(g);
		return;
	}
	print_inside_pieces(x, skip);
	if (x->turning) out_puts(g->o, "asm volatile(\"\" : \"+r\"(ct_phase));        /* compute coordinates again, do not keep them */\n");
	out_printf(g->o, "if (!ct_aligned%s%s) {\n", ragged ? " || " : "", ragged ? ragged : "");
	out_in(g->o);
	print_other_elements(x, skip);
	cu_end(g);
}

void access_open(Access *x, Cu *g, const Op *op, const Val *data, bool store)
{
	AccessPlan p = access_plan(op, data, g->turned != 0);
	*x = (Access){ .g = g, .op = op, .v = cu_val(g, ir_in(op, 0))->view, .data = data, .store = store, .rank = p.rank, .fast = p.fast,
		.vec = p.vec, .l = p.l, .turn = p.turn };
	memcpy(x->bit, p.bit, sizeof x->bit);
	memcpy(x->proved, p.proved, sizeof x->proved);
	memcpy(x->near, p.near, sizeof x->near);
	memcpy(x->low, p.low, sizeof x->low);
	memcpy(x->step, p.step, sizeof x->step);
	memcpy(x->offset, p.offset, sizeof x->offset);
}

static void open_access(Access *x, Cu *g, const Op *op, const Val *data, bool store)
{
	access_open(x, g, op, data, store);
	if (store) x->copies = cu_writers(g, x->l);
	out_puts(g->o, "{\n");
	out_in(g->o);
	access_origin(x);
	access_thread(x);
}

/* Lines of the same tile in the loop's next round come into the L2 cache: those of the pieces that begin inside. */
static void print_ahead(Access *x)
{
	Cu *g = x->g;
	const IrAttr *ahead = ir_attr(x->op, AT_AHEAD);
	Out *on = out_new(), *inside = out_new();
	if (!ahead || x->held || x->store || !x->vec || x->turn >= 0) return;
	for (int a = 0; a < x->rank; a++) {
		int64_t n = ahead->u.ints.p[a] * x->step[a];
		if (n) out_printf(on, " + %lldll * %s", (long long)n, x->v->unit[a] ? "1" : x->v->str[a]);
		Str c = coord(x, a, "ct_b"), at = x->apart[a] ? str_fmt("ct_o%d + ct_c%d", a, a) : str_fmt("ct_o%d", a);
		if (n || !x->proved[a]) out_printf(inside, "%s%s + %s + %lldll < %s", inside->n ? " && " : "", at, c, (long long)n, x->v->ext[a]);
		if (x->low[a]) out_printf(inside, "%s%s + %s >= 0", inside->n ? " && " : "", at, c);
	}
	cu_registers(g, x->l, piece_mask(x));
	cu_line(g, x->op);
	out_printf(g->o, "ct_ask_if(%s%s, %s);\n", address(x, "ct_b"), on->p, inside->p);
	cu_end(g);
	out_free(on);
	out_free(inside);
}

/* In the text for aligned tensors each piece is one access, under a condition or not. Two ways, of which the first knows that the
 * whole tile is inside, are two basic blocks: whatever is loaded has to be in registers where they meet again. In a kernel whose
 * threads wait, for each other or for an index from memory, registers say how many others run meanwhile, so there one way has to
 * do, and ptxas loads weights while it stores results: layer norm of 16,384 columns of f32 needs 60 registers instead of 116. */
static void print_aligned(Access *x, Str whole)
{
	Cu *g = x->g;
	bool both = whole && !g->one_way;
	if (both) out_printf(g->o, "if (%s) {\n", whole);
	else out_puts(g->o, "{\n");
	out_in(g->o);
	if (both || !whole) print_pieces(x);
	if (both) {
		out_off(g->o);
		out_puts(g->o, "} else {\n");
		out_in(g->o);
	}
	if (whole) print_partial(x);
	cu_end(g);
	if (x->words && !x->held) get_words(x);
	cu_end(g);
}

static void print_access(Access *x)
{
	Cu *g = x->g;
	x->turning = x->turn >= 0;
	if (x->turning) x->proved[x->turn] = false;
	if (!x->vec) {
		access_bounds(x);
		x->forgotten = g->fn->by_element && cu_regs(x->data) > 1;
		if (x->forgotten) forget_bounds(x);
		print_elements(x);
		cu_end(g);
		return;
	}
	Str whole = whole_text(x);
	access_ask_launcher(x);
	print_ahead(x);
	print_policy(x);
	words_of_pieces(x);
	if (g->aligned) {
		print_aligned(x, whole);
		return;
	}
	out_printf(g->o, "const int ct_aligned = %s;\n", x->turn >= 0 && x->turn == x->fast ? turned_text(x) : access_aligned(x));
	out_printf(g->o, "if (ct_aligned%s%s%s) {\n", x->turn >= 0 ? " && ct_phase == 0" : "", whole ? " && " : "", whole ? whole : "");
	x->turning = false;
	out_in(g->o);
	print_pieces(x);
	out_off(g->o);
	out_puts(g->o, "} else {\n");
	out_in(g->o);
	print_partial(x);
	cu_end(g);
	if (x->words && !x->held) get_words(x);
	cu_end(g);
}

void access_load_held(Cu *g, const Op *op, Str held)
{
	Access x;
	open_access(&x, g, op, op->out[0], false);
	x.held = held;
	const Val *pad = ir_in(op, op->nin - 1);
	Num n;
	x.pad = words_pad(g, x.v->elem, ir_const_value(pad, &n) ? cu_num(pad->type->elem, n) : cu_scalar(g, pad));
	print_access(&x);
}

void access_take_held(Cu *g, const Op *op, Str held)
{
	Access x;
	access_open(&x, g, op, op->out[0], false);
	out_puts(g->o, "{\n");
	out_in(g->o);
	x.held = held;
	get_words(&x);
	cu_end(g);
}

/* ---- tiles that come into shared memory meanwhile: lower/stage.c ---- */
static Str stage_place(const Cu *g, const Op *load)
{
	int threads = cu_threads(g->fn);
	return str_fmt("ct_smem + %lld + ((unsigned int)ct_i * %d + threadIdx.x) * 16", (long long)ir_int(load, AT_STAGED, 0), threads);
}

/* Only the text for aligned tensors has pieces that can be copied. */
static void ask_staged(Cu *g, const Op *op)
{
	Access x;
	if (!g->aligned) return;
	cu_val(g, op->out[0])->name = cu_name(g, op->out[0]);   /* of no variable: pieces go to their places */
	cu_say(g, op);
	open_access(&x, g, op, op->out[0], false);
	x.stage = stage_place(g, op);
	print_access(&x);
}

void memory_staged(Cu *g, const Op *op)
{
	Access x;
	const Op *load = ir_in(op, 0)->def;
	const Val *r = op->out[0];
	cu_val(g, r)->name = cu_name(g, r);
	cu_say(g, op);
	cu_declare(g, r);
	if (!g->aligned) {
		open_access(&x, g, load, r, false);
		x.pad = words_pad(g, x.v->elem, cu_scalar(g, ir_in(load, load->nin - 1)));
		print_access(&x);
		return;
	}
	access_open(&x, g, load, r, false);
	const char *type = words_type(piece_bytes(&x));
	out_puts(g->o, "{\n");
	out_in(g->o);
	out_printf(g->o, "%s ct_v[%d];\nct_copied();\n", type, cu_regs(r) >> x.vec);
	cu_registers(g, x.l, piece_mask(&x));
	out_printf(g->o, "ct_v[ct_i] = *(const %s *)(%s);\n", type, stage_place(g, load));
	cu_end(g);
	get_words(&x);
	cu_end(g);
}

void memory_load(Cu *g, const Op *op)
{
	Access x;
	if (dense_load(g, op)) return;
	if (ir_attr(op, AT_STAGED)) {
		ask_staged(g, op);
		return;
	}
	const Val *r = op->out[0];
	bool one = one_thread_reads(op);
	if (!cu_val(g, r)->declared) cu_val(g, r)->name = cu_name(g, r);
	cu_say(g, op);
	cu_declare(g, r);
	if (type_is_tile(r->type) && peel_row(g->fn, *r->lay)) {
		peel_load(g, op);
		return;
	}
	if (next_load(g, op)) return;
	if (one) {
		out_puts(g->o, "if (ct_lane == 0 && ct_warp == 0) {\n");
		out_in(g->o);
	}
	open_access(&x, g, op, r, false);
	x.pad = words_pad(g, x.v->elem, cu_scalar(g, ir_in(op, op->nin - 1)));
	print_access(&x);
	if (one) {
		cu_end(g);
		if (!g->fn->cluster) move_share_copies(g, op);
	}
}

static bool takes_chunks(Cu *g, const Op *op)
{
	Access x;
	if (!g->late) return false;
	access_open(&x, g, op, ir_in(op, op->nin - 1), true);
	return x.turn < 0 && !lay_hwcoord(x.l, lay_free(x.l), HW_REG) && x.vec && elem_is_late(g, 1 << x.vec, piece_mask(&x));
}

void memory_store(Cu *g, const Op *op)
{
	Access x;
	if (!takes_chunks(g, op)) elem_flush(g);
	if (aim_store(g, op) || dense_store(g, op)) return;
	cu_say(g, op);
	const Val *data = ir_in(op, op->nin - 1);
	if (type_is_tile(data->type) && peel_row(g->fn, *data->lay)) {
		peel_store(g, op);
		return;
	}
	open_access(&x, g, op, data, true);
	print_access(&x);
	g->late = NULL;
}

/* ---- element by element: gather, scatter, pointers, atomics ---- */
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
			out_printf(at, " + %s", scaled(str_fmt("ct_i%d", a), x->v, a));
		}
	}
	if (x->mask) out_printf(ok, "%s%s", n++ ? " && " : "", cu_at(g, x->mask, x->reg));
	out_printf(g->o, "const int ct_ok = %s;\n", n ? ok->p : "1");
	out_printf(g->o, "%s%s *const ct_a = %s;\n", x->v && x->v->constant ? "const " : "", elem_rows[x->e].cuda, at->p);
	out_free(ok);
	out_free(at);
}

static Str atomic_call(const Elements *x)
{
	const Op *op = x->op;
	static const char *const words[] = { "load", "store", "cas" };
	const char *what = "";
	int64_t order = ir_int(op, AT_ORDER, 0), scope = ir_int(op, AT_SCOPE, 0);
	switch (op->code) {
	case OP_ATOMIC_LOAD: case OP_ATOMIC_LOAD_PTR: what = words[0]; break;
	case OP_ATOMIC_STORE: case OP_ATOMIC_STORE_PTR: what = words[1]; break;
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
