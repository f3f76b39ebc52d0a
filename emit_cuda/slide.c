/* slide: tiles shifted within warps (lower/slide.c). The element that comes to register r of a lane is the lane's own,
 * or that of lane + carry, where lanes beyond the last begin again with the next registers. The value that a lane sends
 * is selected before the shuffle: the first (last) few lanes send one of the next (previous) registers, because only
 * lanes whose source wraps around read from them. */
#include <stdlib.h>

#include "base/diag.h"
#include "emit_cuda/cu.h"

typedef struct Slide {
	Cu *g;
	const Op *op;
	const Val *x;
	SlidePlan p;
	const int64_t *from;    /* of each result: its element i is element i + from */
	uint32_t low;           /* the registers' bits within a vector */
	CuInt reg;              /* the first register of a vector */
} Slide;

/* The register, its bits within the vector set to `low`. */
static Str in_piece(const Slide *s, int low)
{
	uint32_t reg = 0;
	for (int i = 0; i < s->p.lows; i++)
		if (low >> i & 1) reg |= (uint32_t)1 << s->p.low[i];
	return cu_xor(s->reg, cu_int(reg)).text;
}

static bool is_wanted(const Slide *s, int carry, int low, int k)
{
	int64_t to = (int64_t)carry * (1 << s->p.lows) + low - s->from[k];
	return to >= 0 && to < (int64_t)1 << s->p.lows;
}

static void put(const Slide *s, int carry, int low, Str value)
{
	for (int k = 0; k < s->op->nout; k++) {
		if (!is_wanted(s, carry, low, k)) continue;
		int to = carry * (1 << s->p.lows) + low - s->from[k];
		out_printf(s->g->o, "%s = %s;\n", cu_at(s->g, s->op->out[k], in_piece(s, to)), value);
	}
}

/* What stands at the same place one turn of the lanes further on: in the next registers, or outside of the tile. */
static Str next_turn(const Slide *s, int carry, int low)
{
	Str fill = cu_scalar(s->g, ir_in(s->op, 1));
	if (!s->p.highs) return fill;
	int ends = (1 << s->p.highs) - 1, all = regs_of(s->x) - 1;
	Str at = str_fmt("(%s %s %d) & %d", in_piece(s, low), carry > 0 ? "+" : "-", 1 << s->p.high, all);
	return str_fmt("((%s & %d) == %d ? %s : %s)", cu_shifted(s->reg.text, s->p.high), ends, carry > 0 ? ends : 0, fill,
		cu_at(s->g, s->x, at));
}

static void print_from_lane(Slide *s, int carry, int low)
{
	Cu *g = s->g;
	Elem e = s->x->type->elem;
	int count = 1 << s->p.lanes;
	s->reg = cu_registers(g, *s->x->lay, s->low);
	Str own = cu_at(g, s->x, in_piece(s, low)), next = next_turn(s, carry, low);
	Str asked = carry > 0 ? str_fmt("ct_l < %d", carry) : str_fmt("ct_l >= %d", count + carry);
	Str sent = s->p.lanes ? str_fmt("%s ? %s : %s", asked, next, own) : next;
	cu_line(g, s->op);
	out_printf(g->o, "const %s ct_sent = %s;\n", cu_type(e), sent);
	if (s->p.lanes) {
		uint32_t others = ~((uint32_t)(count - 1) << s->p.lane) & 31u;
		Str from = str_fmt("((unsigned int)(ct_l %s %d) & %d)", carry < 0 ? "-" : "+", abs(carry), count - 1);
		if (s->p.lane) from = str_fmt("(%s << %d)", from, s->p.lane);
		if (others) from = str_fmt("(ct_lane & %u) | %s", (unsigned)others, from);
		if (g->fn->lanes) from = str_fmt("%s ^ (%s)", cu_first_lane(g), from);
		out_printf(g->o, "const %s ct_got = ct_shfl_idx_%s(ct_sent, (int)(%s));\n", cu_type(e), elem_rows[e].name,
			from);
	}
	put(s, carry, low, str_intern(s->p.lanes ? "ct_got" : "ct_sent"));
	cu_end(g);
}

static void print_carry(Slide *s, int carry)
{
	for (int low = 0; low < 1 << s->p.lows; low++) {
		bool wanted = false;
		for (int k = 0; k < s->op->nout; k++) wanted |= is_wanted(s, carry, low, k);
		if (!wanted) continue;
		if (carry) {
			print_from_lane(s, carry, low);
			continue;
		}
		s->reg = cu_registers(s->g, *s->x->lay, s->low);
		cu_line(s->g, s->op);
		put(s, 0, low, cu_at(s->g, s->x, in_piece(s, low)));
		cu_end(s->g);
	}
}

void slide_print(Cu *g, const Op *op)
{
	Slide s = { .g = g, .op = op, .x = ir_in(op, 0), .from = ir_attr(op, AT_OFFSETS)->u.ints.p };
	int least = 0, most = 0;
	if (!slide_plan(*s.x->lay, ir_axis(op), &s.p)) bug("slide leaves its warp");
	for (int i = 0; i < s.p.lows; i++) s.low |= (uint32_t)1 << s.p.low[i];
	for (int k = 0; k < op->nout; k++) {
		int first = slide_carry(&s.p, (int)s.from[k]), last = slide_carry(&s.p, (int)s.from[k] + (1 << s.p.lows) - 1);
		if (first < least) least = first;
		if (last > most) most = last;
		cu_val(g, op->out[k])->name = cu_name(g, op->out[k]);
	}
	cu_say(g, op);
	for (int k = 0; k < op->nout; k++) cu_declare(g, op->out[k]);
	out_puts(g->o, "{\n");
	out_in(g->o);
	if (s.p.lanes && (least || most))
		out_printf(g->o, "const int ct_l = (int)(%s & %d);\n", cu_shifted("ct_lane", s.p.lane),
			(1 << s.p.lanes) - 1);
	for (int carry = least; carry <= most; carry++) print_carry(&s, carry);
	cu_end(g);
}
