/* Where the elements of a tile lie in global memory, and which of them lie inside their tensor. */
#include <string.h>

#include "emit_cuda/access.h"
#include "emit_cuda/peel.h"

/* What is stored after a loop that a cluster shares: where the largest thread blocks leave 64 registers to a thread,
 * none holds the place of the store all through the loop (peel.c has the reason for the number). Rms norm's backward
 * pass spilled it. */
static bool is_made_again(const Access *x)
{
	return x->store && x->g->fn->alternate && !x->asked.in_region && block_threads(x->g->fn) == BLOCK_THREADS;
}

void access_open(Access *x, Cu *g, const Op *op, const Val *data, bool store)
{
	*x = (Access){ .g = g, .op = op, .v = cu_val(g, ir_in(op, 0))->view, .data = data, .store = store,
		.plan = access_plan(op, data, g->rotated != 0), .ways = (Ways)ir_int(op, AT_WAYS, WAYS_ANY) };
	x->asked.in_region = op->parent->owner;
	x->asked.made_again = is_made_again(x);
	x->asked.cache = (int)ir_int(op, AT_CACHE, 0);
	x->asked.ordered = ir_int(op, AT_ORDERED, 0);
	const IrAttr *ahead = ir_attr(op, AT_AHEAD);
	x->asked.asks_ahead = ahead;
	if (ahead) memcpy(x->asked.ahead, ahead->u.ints.p, (size_t)x->plan.rank * sizeof *x->asked.ahead);
	if (x->plan.vec) x->asked.multiple = access_origin_multiple(op, &x->plan, x->plan.fast);
}

static Str tile_origin(const Access *x, int a)
{
	const Val *index = ir_in(x->op, 1 + a), *as = cu_val(x->g, index)->as, *i = as ? as : index;
	int64_t step = x->plan.step[a], off = x->plan.offset[a], at;
	Num n;
	bool known = ir_const_value(i, &n);
	if (elem_bytes(i->type->elem) == 8 && !known)
		return str_fmt("ct_tile_at(%s, %lld, %lld)", access_wide(x->g, i), (long long)step, (long long)off);
	if (known && !__builtin_mul_overflow(n.i, step, &at) && !__builtin_add_overflow(at, off, &at))
		return cu_num(EL_I64, num_int(at));
	Str s = access_wide(x->g, i);
	if (step != 1) s = str_fmt("%s * %lld", s, (long long)step);
	return off ? str_fmt("%s + (%lld)", s, (long long)off) : s;
}

Str access_origin_text(const Access *x, int a)
{
	Str at = tile_origin(x, a);
	return a == x->plan.shifted_axis ? str_fmt("%s - ct_phase", at) : at;
}

void access_origin(Access *x)
{
	for (int a = 0; a < x->plan.rank; a++)
		out_printf(x->g->o, "const long long ct_o%d = %s;\n", a, access_origin_text(x, a));
}

Str access_scaled(Str i, const CuView *v, int a)
{
	return v->unit[a] ? i : str_fmt("%s * %s", i, v->str[a]);
}

Str access_of_thread(const Access *x, int a, const char *sign)
{
	return x->apart[a] && !x->still[a] ? str_fmt(" %s ct_c%d", sign, a) : str_intern("");
}

void access_thread(Access *x)
{
	Cu *g = x->g;
	const char *again = x->asked.made_again ? " + ct_cluster_zero()" : "";
	Out *sum = out_new();
	for (int a = 0; a < x->plan.rank; a++) {
		x->map[a] = cu_map_row(g, x->plan.l, a);
		x->apart[a] = lay_adds(x->plan.l, a);
		CuInt c = cu_map_thread(&x->map[a]);
		bool shifts = g->shifted && x->plan.l.out[a] && holds_row(g->fn, x->plan.l);
		const char *more = a == x->plan.fast ? again : "";
		x->still[a] = cu_is(c, 0) && !shifts && !*more;
		if (!x->still[a])
			out_printf(g->o, "const int ct_c%d = (int)%s%s%s;\n", a, c.text, shifts ? " - ct_phase" : "",
				more);
		Str at = str_fmt("ct_o%d%s", a, access_of_thread(x, a, "+"));
		if (x->apart[a] && !x->still[a]) at = str_fmt("(%s)", at);
		out_printf(sum, " + %s", access_scaled(at, x->v, a));
	}
	/* nvcc would compute the address of each single element before a loop, and hold them all through */
	bool hidden = x->ways == WAYS_SINGLE && !x->plan.vec && x->asked.in_region;
	out_printf(g->o, "%s%s *%sct_p = %s%s;\n", x->store || !x->v->constant ? "" : "const ", elem_rows[x->v->elem].cuda,
		hidden ? "" : "const ", x->v->base, sum->p);
	if (hidden) out_puts(g->o, "asm(\"\" : \"+l\"(ct_p));\n");
	out_free(sum);
}

/* What a register adds to the coordinate: one that begins a vector has none of the bits
 * that count the vector's elements. */
static CuInt part_of_register(const Access *x, int a, CuInt reg)
{
	CuMap m = x->map[a];
	uint32_t none = x->begins && reg.text == x->reg.text ? vector_bits(x->plan.bit, x->plan.vec) : 0;
	for (int i = 0; i < m.nreg; i++)
		if (none >> i & 1) m.col[i] = 0;
	return cu_map_reg(&m, reg);
}

/* ct_q: the coordinate of a register of a rotated row. */
void access_print_rotated(const Access *x, CuInt reg)
{
	if (!x->rotates) return;
	int a = x->plan.rotated_axis;
	CuInt of_thread = x->still[a] ? cu_int(0) : cu_compound(str_fmt("(unsigned int)ct_c%d", a));
	out_printf(x->g->o, "const int ct_q = (int)((%s - (unsigned int)ct_phase) & %lldu);\n",
		cu_xor(of_thread, part_of_register(x, a, reg)).text, (long long)x->g->rotated - 1);
}

/* Coordinate of register reg relative to what ct_p counts. */
CuInt access_coord(const Access *x, int a, CuInt reg)
{
	Str less = access_of_thread(x, a, "-");
	if (x->rotates && a == x->plan.rotated_axis) return cu_var(*less ? str_fmt("(ct_q%s)", less) : "ct_q");
	CuInt r = part_of_register(x, a, reg);
	if (x->apart[a]) return r;
	return cu_compound(str_fmt("(int)%s", cu_xor(cu_compound(str_fmt("(unsigned int)ct_c%d", a)), r).text));
}

Str access_address(const Access *x, CuInt reg)
{
	Out *o = out_new();
	out_puts(o, "ct_p");
	for (int a = 0; a < x->plan.rank; a++) {
		CuInt c = access_coord(x, a, reg);
		if (!cu_is(c, 0)) out_printf(o, " + %s", access_scaled(c.text, x->v, a));
	}
	return out_take(o);
}

Str access_end(const Access *x, int a, Str begin)
{
	const char *within = !x->plan.near[a] ? "ct_within" : x->plan.offset[a] < 0 ? "ct_at_most" : "(int)";
	return str_fmt("%s(%s - %s)", within, x->v->ext[a], begin);
}

Str access_start(const Access *x, int a)
{
	return str_fmt(x->plan.near[a] && x->plan.offset[a] <= 0 ? "ct_at_least(-(int)ct_o%d)" : "ct_within(-ct_o%d)", a);
}

void access_bounds(Access *x)
{
	for (int a = 0; a < x->plan.rank; a++) {
		Str less = access_of_thread(x, a, "-"), begin = str_fmt("ct_o%d%s", a, less);
		if (x->plan.proved[a]) continue;
		if (x->rotates && a == x->plan.rotated_axis) {       /* a vector must not go round the end of the row, either */
			out_printf(x->g->o, "const int ct_hi%d = ct_within(%s - ct_o%d < %lld ? %s - ct_o%d : %lld)%s;\n", a,
				x->v->ext[a], a, (long long)x->g->rotated, x->v->ext[a], a, (long long)x->g->rotated, less);
			if (x->plan.low[a]) out_printf(x->g->o, "const int ct_lo%d = ct_within(-ct_o%d)%s;\n", a, a, less);
			continue;
		}
		/* or nvcc holds the loads' comparisons, with as many elements as registers have room for */
		bool again = x->store && x->g->late;
		out_printf(x->g->o, "%sint ct_hi%d = %s;\n", again ? "" : "const ", a, access_end(x, a, begin));
		if (again) out_printf(x->g->o, "asm volatile(\"\" : \"+r\"(ct_hi%d));\n", a);
		if (x->plan.low[a]) out_printf(x->g->o, "const int ct_lo%d = %s%s;\n", a, access_start(x, a), less);
	}
}

/* NVVM reuses the results of equal comparisons and keeps each in a register, so the bound is hidden from it. ptxas does
 * the same in predicates: of tensors that are loaded together it then places the loads of each element side by side,
 * with no more in flight than there are predicates. A zero computed from the tensor's address prevents that. Loads
 * after a row's first reduction are held until all have arrived, and do share comparisons: all of them at once would
 * take twice the registers. */
void access_forget_bounds(const Access *x)
{
	for (int a = 0; a < x->plan.rank; a++) {
		if (!x->plan.l.out[a] || x->plan.proved[a]) continue;
		Str zero = x->g->loads_first ? str_fmt(" + ct_unknown_zero(%s)", x->v->base) : str_intern("");
		out_printf(x->g->o, "int ct_last%d = ct_hi%d%s;\nasm volatile(\"\" : \"+r\"(ct_last%d));\n", a, a, zero, a);
	}
}

/* Does an element of a shifted row not lie before the row? */
Str access_after_begin(const Access *x, int a, CuInt reg)
{
	Str at = x->g->fn->aligned ? str_fmt("ct_c%d + %s", a, access_coord(x, a, reg).text) : str_fmt("ct_c%d", a);
	return str_fmt("(%s || %s >= 0)", cu_after_first(x->g, reg), at);
}

/* Is the access of a row that is shifted to the multiples of its vectors, or of a slice of it? They may be cut at both
 * ends. */
bool access_shifts(const Access *x)
{
	if (x->plan.shifted_axis >= 0) return x->plan.vec > 0;
	return x->g->shifted && x->plan.vec > 0 && x->plan.l.out[x->plan.fast] && holds_row(x->g->fn, x->plan.l);
}

Str access_inside(const Access *x, CuInt reg)        /* NULL: always */
{
	Out *o = out_new();
	int n = 0;
	for (int a = 0; a < x->plan.rank; a++) {
		if (x->plan.proved[a]) continue;
		Str c = access_coord(x, a, reg).text;
		bool row = x->forgotten && x->plan.l.out[a], sure = row && x->g->fn->row_sure && holds_row(x->g->fn, x->plan.l);
		out_puts(o, n++ ? " && " : "");
		bool shifts = x->g->shifted && x->plan.l.out[a] && holds_row(x->g->fn, x->plan.l);
		if (sure)
			out_printf(o, "((%s%s%s < %d) || (", shifts ? reg.text : "", shifts ? " && " : "", reg.text,
				x->g->fn->row_sure);
		out_printf(o, "%s < ct_%s%d", c, row ? "last" : "hi", a);
		if (shifts) out_printf(o, " && %s", access_after_begin(x, a, reg));
		if (sure) out_puts(o, "))");
		if (x->plan.low[a]) out_printf(o, " && %s >= ct_lo%d", c, a);
	}
	Str s = out_take(o);
	return n ? s : NULL;
}

/* ---- whole tiles ---- */
/* The condition that the tile lies wholly inside; NULL: it does. */
Str access_whole(const Access *x)
{
	Out *o = out_new();
	int n = 0;
	for (int a = 0; a < x->plan.rank; a++) {
		if (x->plan.proved[a]) continue;
		if (x->plan.low[a]) out_printf(o, "%sct_o%d >= 0", n++ ? " && " : "", a);
		out_printf(o, "%sct_o%d + %lld <= %s", n++ ? " && " : "", a, (long long)type_extent(x->data->type, a),
			x->v->ext[a]);
	}
	return n ? str_intern_n(o->p, o->n) : NULL;
}

Str access_aligned(const Access *x)
{
	Out *o = out_new();
	int bytes = elem_bytes(x->v->elem) << x->plan.vec;
	out_printf(o, "(((unsigned long long)%s", x->v->base);
	for (int a = 0; a < x->plan.rank; a++) {
		int64_t size = elem_bytes(x->v->elem);
		if (a == x->plan.fast) {
			if ((x->asked.multiple * size) % bytes || (x->plan.offset[a] * size) % bytes)
				out_printf(o, " | (unsigned long long)%s", cu_times(cu_var(str_fmt("ct_o%d", a)), size).text);
		} else if ((x->v->multiple[a] * size) % bytes) {
			out_printf(o, " | %s", cu_times(cu_var(str_fmt("(unsigned long long)(%s)", x->v->str[a])), size).text);
		}
	}
	out_printf(o, ") & %d) == 0", bytes - 1);
	return str_intern_n(o->p, o->n);
}

/* The same of a rotated row: the address of its first element, less the phase. */
Str access_rotated(const Access *x)
{
	Out *o = out_new();
	out_printf(o, "((unsigned long long)(%s", x->v->base);
	for (int a = 0; a < x->plan.rank; a++) out_printf(o, " + %s", access_scaled(str_fmt("ct_o%d", a), x->v, a));
	out_printf(o, " - ct_phase) & %d) == 0", (elem_bytes(x->v->elem) << x->plan.vec) - 1);
	return str_intern_n(o->p, o->n);
}

Str access_pad(const Access *x)
{
	int size = elem_bytes(x->v->elem), bytes = size << x->plan.vec;
	Str p = x->pad, w = p;
	if (x->plan.vec == 0) return p;
	if (size == 8) return bytes == 8 ? p : str_fmt("{ { %s.v[0], %s.v[1], %s.v[0], %s.v[1] } }", p, p, p, p);
	if (size == 1) w = str_fmt("%s * 0x01010101u", p);
	if (size == 2) w = str_fmt("%s * 0x00010001u", p);
	if (bytes == 2) return str_fmt("(unsigned short)(%s)", w);
	return bytes == 4 ? w : bytes == 8 ? str_fmt("{ { %s, %s } }", w, w)
		: str_fmt("{ { %s, %s, %s, %s } }", w, w, w, w);
}
