/* Scans: running combinations along an axis, over any layout whose bits along it are plain ones (placed/scan.c).
 *
 * A block is what lies below some bit of the axis. The results within a thread's neighbours come first, then for each
 * level the total of a block (ct_t) and, for each group of neighbours, the combination of what comes before it in the
 * block (ct_p), which all results of the group get at the end; where a group is one element, ct_p includes it and is
 * the result. In program order: neighbours one after the other, lanes pairwise by increasing distance, groups
 * of registers one after the other, warps one after the other. Backwards, `before` is what the scan met before; the
 * function gets the element with the lesser number first either way.
 *
 * Lanes scan few groups at a time where groups of registers follow: their totals are then needed no more, so that a
 * thread holds one number for each of its groups, not two.
 *
 * Where a value changes nothing it is what ct_p begins with, and no test is needed; elsewhere ct_p counts only where
 * something comes before. That value is -0 for sums, as 0 + -0 is 0, and NaN for the greatest of numbers and NaNs. */
#include <string.h>

#include "base/cost.h"
#include "base/diag.h"
#include "emit_cuda/cu.h"
#include "ir/exact.h"
#include "ir/fold.h"
#include "ir/monoid.h"
#include "layout/f2.h"

enum { MOST = TILE_RANK };

typedef struct Scan {
	Cu *g;
	const Op *op;
	int n, kind;            /* tiles */
	Lay lay;
	ScanPlan plan;
	bool back, exclusive;
	bool self;              /* groups of one element: ct_p includes it */
	int rows;               /* mask of the register bits that are not on the axis */
	int groups;             /* log2 of the groups of neighbours */
	int after_lanes;        /* the bit of the axis from which on groups of registers follow; 0: not all at once */
	int some;               /* log2 of the groups that lanes scan at a time, if so */
	bool inside;            /* of these: their totals are ct_q, all before them together are ct_t */
	Elem e[MOST];
	Str identity[MOST];     /* what an exclusive scan begins with */
	Str neutral[MOST];      /* changes nothing; [0] NULL: there is none */
	bool neutral_first;     /* identity is neutral */
} Scan;

/* false: nothing is neutral, for to combine is to flush. */
static bool neutral_of(const Op *op, Elem e, Num *n)
{
	bool down = op->code == OP_CUMSUM && ir_int(op, AT_ROUNDING, 0) == ROUND_DOWN;  /* there 0 + -0 is -0 */
	*n = down ? num_float(0) : monoid_identity(op->code, e, ir_int(op, AT_NAN, 0) != 0);
	return !ir_int(op, AT_SUBNORMALS, 0);
}

static void find_first(Scan *s)
{
	s->neutral_first = s->op->code != OP_SCAN;
	for (int i = 0; i < s->n; i++) {
		if (s->op->code == OP_SCAN) {
			s->identity[i] = cu_scalar(s->g, ir_in(s->op, s->n + i));
			continue;
		}
		Num first = monoid_begin(s->op->code, s->e[i]), n;
		bool known = neutral_of(s->op, s->e[i], &n);
		s->identity[i] = cu_num(s->e[i], first);
		s->neutral[i] = known ? cu_num(s->e[i], n) : NULL;
		s->neutral_first &= known && num_bits(s->e[i], first) == num_bits(s->e[i], n);
	}
}

static uint32_t as_groups(const Scan *s, uint32_t regs) { return scan_group_bits(&s->plan, s->lay.in[HW_REG], regs); }

/* Do lanes come after neighbours, and then all groups, in the order of their numbers? */
static int find_after_lanes(const Scan *s)
{
	int k = s->plan.low;
	while (k < s->plan.warps && s->plan.hw[k] == HW_LANE) k++;
	if (k == s->plan.low || s->plan.warps - k != s->groups || s->exclusive || cu_leaves_out(s->g, s->lay)) return 0;
	for (int i = k; i < s->plan.warps; i++)
		if (s->plan.hw[i] != HW_REG || as_groups(s, (uint32_t)1 << s->plan.bit[i]) != (uint32_t)1 << (i - k)) return 0;
	return k;
}

static Scan scan_of(Cu *g, const Op *op)
{
	Scan s = { .g = g, .op = op, .n = scan_values(op), .kind = monoid_kind(op->code), .lay = *ir_in(op, 0)->lay,
		.plan = scan_plan_of(op) };
	s.back = ir_int(op, AT_DIRECTION, 0) != 0;
	s.exclusive = ir_int(op, AT_EXCLUSIVE, 0) != 0;
	s.rows = (1 << s.lay.in[HW_REG]) - 1;
	for (int k = 0; k < s.plan.n; k++)
		if (s.plan.hw[k] == HW_REG) s.rows &= ~(1 << s.plan.bit[k]);
	s.self = !s.plan.low && !s.exclusive;
	s.groups = s.lay.in[HW_REG] - s.plan.low;
	for (s.some = COST_SCAN_SOME; s.some > 1 && s.n << s.some > 1 << COST_SCAN_SOME;) s.some--;
	s.after_lanes = s.groups > s.some ? find_after_lanes(&s) : 0;
	for (int i = 0; i < s.n; i++) s.e[i] = ir_in(op, i)->type->elem;
	find_first(&s);
	return s;
}

/* ---- places along the axis ---- */
static uint32_t bits_of(const Scan *s, Hw h, int from, int to) { return scan_bits(&s->plan, h, from, to); }

static uint32_t low_bits(const Scan *s) { return bits_of(s, HW_REG, 0, s->plan.low); }

static uint32_t all_groups(const Scan *s) { return ((uint32_t)1 << s->groups) - 1; }

static CuInt group_of(const Scan *s, CuInt reg)
{
	uint32_t col[LAY_BITS];
	for (int b = 0; b < s->lay.in[HW_REG]; b++) col[b] = as_groups(s, (uint32_t)1 << b);
	return cu_linear(reg, s->lay.in[HW_REG], col);
}

/* What number `var` of bits from..to of the axis adds to the register (or warp) that holds them. */
static CuInt walk(const Scan *s, CuInt var, Hw h, int from, int to, bool groups)
{
	uint32_t col[LAY_BITS] = { 0 };
	for (int k = from; k < to; k++) {
		if (s->plan.hw[k] != h) continue;
		uint32_t bit = (uint32_t)1 << s->plan.bit[k];
		col[k - from] = groups ? as_groups(s, bit) : bit;
	}
	return cu_linear(var, to - from, col);
}

/* Where a call starts the warps that its rows need (lower/by_warp.c), a kernel has one row, and what warps hold is
 * theirs. */
static Str last_warp(const Scan *s)
{
	if (s->g->fn->fewer) return str_fmt("%s - 1", cu_warps_started(s->g->fn));
	return str_fmt("%u", (unsigned)scan_bits(&s->plan, HW_WARP, 0, s->plan.n));
}

/* Condition: something comes before, among bits low..to of the axis; group: the group's
 * number, or those of its bits; lanes: the bits of the lane, NULL: those below `to`. */
static Str comes_before(const Scan *s, int to, Str lanes, Str group)
{
	uint32_t warps = bits_of(s, HW_WARP, 0, to);
	uint32_t groups = as_groups(s, bits_of(s, HW_REG, s->plan.low, to));
	const char *const name[] = { "ct_lane", "ct_warp", group };
	const uint32_t mask[] = { bits_of(s, HW_LANE, 0, to), warps, groups };
	Str r = NULL;
	for (int i = 0; i < 3; i++) {
		bool given = i == 0 && lanes;
		if (!mask[i] && !given) continue;
		Str bits = given ? str_fmt("(%s)", lanes) : str_fmt("%u", (unsigned)mask[i]);
		Str last = s->back ? bits : str_intern("0");
		if (s->back && i == 0 && s->g->fn->short_rows) last = str_fmt("(%s & (ct_lanes - 1))", last);
		if (s->back && i == 1 && s->g->fn->fewer) last = last_warp(s);
		Str one = str_fmt("(%s & %s) != %s", name[i], bits, last);
		r = r ? str_fmt("%s || %s", r, one) : one;
	}
	return r ? r : str_intern("false");
}

/* ---- variables ---- */
/* For each tile the name of an array of 2^n elements at `at`; of a plain variable where n is 0. */
static void each(const Scan *s, Str *v, const char *what, int n, const char *at)
{
	bool total = s->after_lanes && !strcmp(what, "t");
	for (int i = 0; i < s->n; i++)
		if (total) v[i] = s->inside ? str_fmt("ct_q%d[%s - ct_c]", i, at) : str_fmt("ct_t%d", i);
		else v[i] = n ? str_fmt("ct_%s%d[%s]", what, i, at) : str_fmt("ct_%s%d", what, i);
}

static void declare(const Scan *s, const char *what, int n)
{
	for (int i = 0; i < s->n; i++) {
		if (n) out_printf(s->g->o, "%s ct_%s%d[%d];\n", cu_type(s->e[i]), what, i, 1 << n);
		else out_printf(s->g->o, "%s ct_%s%d;\n", cu_type(s->e[i]), what, i);
	}
}

static void assign(const Scan *s, const Str *to, const Str *from)
{
	for (int i = 0; i < s->n; i++) out_printf(s->g->o, "%s = %s;\n", to[i], from[i]);
}

/* A new variable for each tile. */
static void copies(const Scan *s, const char *what, const Str *from, Str *v)
{
	each(s, v, what, 0, "");
	for (int i = 0; i < s->n; i++) out_printf(s->g->o, "%s ct_%s%d = %s;\n", cu_type(s->e[i]), what, i, from[i]);
}

static void registers(const Scan *s, bool out, const char *at, Str *v)
{
	for (int i = 0; i < s->n; i++) v[i] = cu_at(s->g, out ? s->op->out[i] : ir_in(s->op, i), at);
}

/* to becomes the combination of what the scan met before and what it met after. */
static void combine(const Scan *s, const Str *to, const Str *with, const Str *before, const Str *after)
{
	reduce_combine(s->g, s->op, s->kind, s->n, to, with, s->back ? after : before, s->back ? before : after);
}

/* p, which counts where `known`, gets x before it. */
static void put_before(const Scan *s, const Str *p, const Str *x, Str known)
{
	Cu *g = s->g;
	bool ask = !s->neutral[0] && !s->self;
	if (ask) {
		out_printf(g->o, "if (!(%s)) {\n", known);
		out_in(g->o);
		assign(s, p, x);
		out_off(g->o);
		out_puts(g->o, "} else {\n");
		out_in(g->o);
	}
	combine(s, p, x, x, p);
	if (ask) cu_end(g);
}

/* A loop over the numbers that have only bits of mask. */
static CuInt loop_over(Cu *g, const char *var, uint32_t mask)
{
	if (!(mask & (mask + 1))) return cu_loop(g, var, (int64_t)mask + 1);
	CuInt counter = cu_loop(g, str_fmt("%s_", var), (int64_t)1 << f2_count(mask));
	out_printf(g->o, "const int %s = %s;\n", var, cu_deposit(counter, mask).text);
	return cu_var(var);
}

/* The same over a thread's groups: of a row over those that rows reach, each of which is a vector; over some of them,
 * where these are scanned at a time. */
static CuInt loop_over_groups(const Scan *s, const char *var, uint32_t mask)
{
	if (s->inside) {
		cu_head(s->g, "ct_i", 0, (int64_t)1 << s->some, true);
		cu_open(s->g);
		out_printf(s->g->o, "const int %s = ct_c + ct_i;\n", var);
		return cu_var(var);
	}
	if (!mask || mask != all_groups(s) || !cu_leaves_out(s->g, s->lay)) return loop_over(s->g, var, mask);
	cu_reached(s->g, var, 0, s->plan.low);
	cu_open(s->g);
	return cu_var(var);
}

/* The groups below bit k of the axis, of the block whose first group is `block`, get ct_o before them. */
static void put_before_block(const Scan *s, int k, Str lanes, CuInt block)
{
	Str p[MOST], o[MOST];
	uint32_t groups = as_groups(s, bits_of(s, HW_REG, s->plan.low, k));
	CuInt group = groups ? loop_over(s->g, "ct_u", groups) : cu_int(0);
	each(s, p, "p", s->groups, cu_xor(block, group).text);
	each(s, o, "o", 0, "");
	put_before(s, p, o, comes_before(s, k, lanes, group.text));
	if (groups) cu_end(s->g);
}

/* ---- levels ---- */
static CuInt nth(const Scan *s, const char *var, int len)
{
	return s->back ? cu_compound(str_fmt("%d - %s", len - 1, var)) : cu_var(var);
}

/* Of len numbers the one that comes first in the scan's direction. */
static CuInt first_of(const Scan *s, int len) { return cu_int(s->back ? len - 1 : 0); }

/* The first register of a group. */
static CuInt print_begin(const Scan *s, CuInt group)
{
	CuInt begin = cu_deposit(group, ~low_bits(s) & (((uint32_t)1 << s->lay.in[HW_REG]) - 1));
	if (!low_bits(s) || cu_is(begin, 0)) return begin;
	out_printf(s->g->o, "const int ct_s = %s;\n", begin.text);
	return cu_var("ct_s");
}

/* Results among neighbours, and their total. */
static void scan_neighbours(const Scan *s)
{
	Cu *g = s->g;
	Str t[MOST], x[MOST], y[MOST], r[MOST];
	int low = s->plan.low, len = 1 << low;
	CuInt group = loop_over_groups(s, "ct_g", all_groups(s)), begin = print_begin(s, group);
	Str at = cu_xor(begin, walk(s, first_of(s, len), HW_REG, 0, low, false)).text;
	registers(s, false, at, x);
	registers(s, true, at, y);
	copies(s, "x", x, t);
	if (!s->self || s->plan.n == 0) assign(s, y, s->exclusive ? s->identity : t);
	if (low) {
		cu_head(g, "ct_j", 1, len, cu_inner_unroll((int64_t)1 << s->groups, len));
		cu_open(g);
		CuInt next = cu_xor(begin, walk(s, nth(s, "ct_j", len), HW_REG, 0, low, false));
		out_printf(g->o, "const int ct_r = %s;\n", next.text);
		registers(s, false, "ct_r", x);
		registers(s, true, "ct_r", y);
		if (s->exclusive) assign(s, y, t);
		copies(s, "w", x, r);
		combine(s, t, r, t, r);
		if (!s->exclusive) assign(s, y, t);
		cu_end(g);
	}
	if (low < s->plan.n) {
		each(s, x, "t", s->groups, group.text);
		assign(s, x, t);
		each(s, x, "p", s->groups, group.text);
		assign(s, x, s->self ? t : s->neutral[0] ? s->neutral : s->identity);
	}
	cu_end(g);
}

/* Bits from..to of the axis choose among the thread's groups. */
static void scan_groups(const Scan *s, int from, int to)
{
	Cu *g = s->g;
	Str t[MOST], o[MOST], x[MOST];
	uint32_t below = as_groups(s, bits_of(s, HW_REG, 0, to)), rest = all_groups(s) & ~below;
	int len = 1 << (to - from);
	CuInt h = loop_over(g, "ct_h", rest);
	each(s, t, "t", s->groups, cu_xor(h, walk(s, first_of(s, len), HW_REG, from, to, true)).text);
	copies(s, "o", t, o);
	if (!rest && len == 1 << s->groups && cu_leaves_out(g, s->lay)) {
		cu_reached(g, "ct_j", 1, s->plan.low);
	} else {
		cu_head(g, "ct_j", 1, len, cu_inner_unroll((int64_t)1 << f2_count(rest), len));
	}
	cu_open(g);
	CuInt at = cu_xor(h, walk(s, nth(s, "ct_j", len), HW_REG, from, to, true));
	put_before_block(s, from, NULL, at);
	each(s, t, "t", s->groups, at.text);
	copies(s, "x", t, x);
	combine(s, o, x, o, x);
	cu_end(g);
	each(s, t, "t", s->groups, h.text);
	assign(s, t, o);
	cu_end(g);
}

/* Where the run of bits of the lane from `from` on ends in which each distance is twice the one before: they are one
 * loop, if nvcc is to unroll that many iterations. Within the loop over some groups at a time steps are not made a
 * loop, which nvcc 13 compiles to slower code (bench/notes/text.md). */
static int lanes_end(const Scan *s, int from, int most)
{
	int to = from + 1;
	while (!s->inside && to < most && s->plan.hw[to] == HW_LANE && s->plan.bit[to] == s->plan.bit[to - 1] + 1
		&& cu_unrolled((to + 1 - from) << s->groups))
		to++;
	return to;
}

/* Bits from..to of the axis are bits of the lane. Both lanes of a pair, which are `lane` apart, get the total. */
static void scan_lanes(const Scan *s, int from, int to)
{
	Cu *g = s->g;
	Str t[MOST], x[MOST], first[MOST], second[MOST];
	uint32_t least = (uint32_t)1 << s->plan.bit[from], below = bits_of(s, HW_LANE, 0, from);
	uint32_t rest = all_groups(s) & ~as_groups(s, bits_of(s, HW_REG, 0, from));
	Str lane = str_fmt("%u", (unsigned)least), lower = NULL;
	if (to > from + 1) {
		cu_head(g, "ct_l", 0, to - from, true);
		cu_open(g);
		out_printf(g->o, "const unsigned int ct_m = %uu << ct_l;\n", (unsigned)least);
		lane = str_intern("ct_m");
		lower = below < least ? str_fmt("ct_m - %u", (unsigned)(least - below))
			: str_fmt("ct_m + %u", (unsigned)(below - least));
	}
	if (g->fn->short_rows) out_printf(g->o, "if (%s < ct_lanes) ", lane);
	CuInt h = loop_over_groups(s, "ct_h", rest);
	each(s, t, "t", s->groups, h.text);
	for (int i = 0; i < s->n; i++)
		out_printf(g->o, "const %s ct_o%d = ct_shfl_xor_%s(%s, %s);\n", cu_type(s->e[i]), i, elem_rows[s->e[i]].name,
			t[i], lane);
	out_printf(g->o, "const bool ct_late = (ct_lane & %s) %s 0;\n", lane, s->back ? "==" : "!=");
	out_puts(g->o, "if (ct_late) {\n");
	out_in(g->o);
	put_before_block(s, from, lower, h);
	cu_end(g);
	each(s, x, "o", 0, "");
	for (int i = 0; i < s->n; i++) {
		first[i] = t[i], second[i] = x[i];
		if (s->kind != KIND_CUSTOM) continue;
		first[i] = str_fmt("ct_a%d", i), second[i] = str_fmt("ct_b%d", i);
		out_printf(g->o, "const %s %s = ct_late ? %s : %s, %s = ct_late ? %s : %s;\n", cu_type(s->e[i]), first[i], x[i],
			t[i], second[i], t[i], x[i]);
	}
	combine(s, t, x, first, second);
	cu_end(g);
	if (to > from + 1) cu_end(g);
}

/* All that lies within a warp, some groups at a time; ct_t: the total of those so far. */
static void scan_some(Scan *s)
{
	Cu *g = s->g;
	Str t[MOST], q[MOST], o[MOST], x[MOST];
	int64_t len = (int64_t)1 << s->groups, some = (int64_t)1 << s->some;
	each(s, t, "t", 0, "");
	cu_head(g, "ct_k", 0, len / some, true);
	cu_open(g);
	out_printf(g->o, "const int ct_c = %s;\n", s->back ? str_fmt("%d - ct_k * %d", (int)(len - some), (int)some)
		: str_fmt("ct_k * %d", (int)some));
	s->inside = true;
	declare(s, "q", s->some);
	scan_neighbours(s);
	for (int k = s->plan.low, to; k < s->after_lanes; k = to) scan_lanes(s, k, to = lanes_end(s, k, s->after_lanes));
	cu_head(g, "ct_j", 0, some, true);
	cu_open(g);
	out_printf(g->o, "const int ct_d = ct_c + %s;\n", nth(s, "ct_j", (int)some).text);
	each(s, q, "t", s->some, "ct_d");
	out_puts(g->o, "if (ct_k == 0 && ct_j == 0) {\n");
	out_in(g->o);
	assign(s, t, q);
	out_off(g->o);
	out_puts(g->o, "} else {\n");
	out_in(g->o);
	copies(s, "o", t, o);
	put_before_block(s, s->after_lanes, NULL, cu_var("ct_d"));
	copies(s, "x", q, x);
	combine(s, t, x, o, x);
	cu_end(g);
	cu_end(g);
	cu_end(g);
	s->inside = false;
}

/* ---- warps ---- */
static CuInt slot(const Scan *s, int value, CuInt index)
{
	int64_t at = ir_int(s->op, AT_SLOT, 0) + scan_offset(s->op, &s->plan, value);
	return words_offset(at, index, scan_slot(s->op, value));
}

static void store_totals(const Scan *s)
{
	Cu *g = s->g;
	Lay l = s->plan.totals;
	CuMap m = cu_map(l, LAY_PACKED);
	CuInt at[MOST];
	Str t[MOST], who = cu_copies(l);
	uint32_t spare = lay_hwcoord(l, lay_free(l), HW_REG);
	CuInt reg = g->fn->cluster ? cluster_register(g, l) : cu_register(g, l, spare);
	each(s, t, "t", s->groups, group_of(s, reg).text);
	for (int i = 0; i < s->n; i++) at[i] = slot(s, i, cu_map_place(&m, reg));
	if (g->fn->cluster) {
		cluster_send(g, s->op, l, s->n, s->e, at, t);
		return;
	}
	if (who) out_printf(g->o, "if (%s) ", who);
	(void)cu_registers(g, l, spare).text;
	for (int i = 0; i < s->n; i++) words_store_shared(g, s->e[i], at[i], t[i]);
	cu_end(g);
	cu_sync(g);
}

/* The number of a total whose number along the axis is 0, in the row of a register. */
static CuInt first_slot(const Scan *s, CuInt reg)
{
	CuMap m = cu_map(s->plan.totals, LAY_PACKED);
	int at = lay_shift(s->plan.totals, ir_axis(s->op));
	uint32_t axis = (((uint32_t)1 << (s->plan.n - s->plan.warps)) - 1) << at;
	for (int i = 0; i < m.nreg + m.nlane + m.nwarp; i++) m.col[i] &= ~axis;
	return cu_map_place(&m, reg);
}

/* first: the number of the first one. */
static void load_total(const Scan *s, CuInt first, CuInt number, Str *v)
{
	int at = lay_shift(s->plan.totals, ir_axis(s->op));
	uint32_t col[LAY_BITS];
	for (int k = 0; k < LAY_BITS; k++) col[k] = k + at < 32 ? (uint32_t)1 << (k + at) : 0;
	CuInt index = cu_xor(first, cu_linear(number, s->plan.n - s->plan.warps, col));
	for (int i = 0; i < s->n; i++)
		v[i] = s->g->fn->cluster ? cluster_received(s->e[i], slot(s, i, index))
			: words_load_shared(s->e[i], slot(s, i, index));
}

static CuInt last_total(const Scan *s, int len)
{
	return s->g->fn->fewer ? cu_var(str_fmt("(int)(%s)", last_warp(s))) : cu_int(len - 1);
}

/* ct_e[u] becomes the combination of the totals before those of this warp's groups u above the first bit of warps. Of
 * warps that a call does not start nobody takes the totals: those that are there come first. */
static void combine_totals(const Scan *s, CuInt first, int above)
{
	Cu *g = s->g;
	Str o[MOST], e[MOST], w[MOST], x[MOST];
	int from = s->plan.warps, to = s->plan.n, len = 1 << (to - from);
	uint32_t warps = bits_of(s, HW_WARP, from, to), ups = bits_of(s, HW_REG, from, to), col[LAY_BITS] = { 0 };
	for (int k = from, u = 0; k < to; k++)
		if (s->plan.hw[k] == HW_REG)
			col[k - from] = (uint32_t)1 << f2_count(ups & (((uint32_t)1 << s->plan.bit[k]) - 1)), u++;
	load_total(s, first, s->back ? last_total(s, len) : cu_int(0), w);
	copies(s, "o", w, o);
	bool few = above || (int64_t)len << f2_count((uint32_t)s->rows) <= COST_SCAN_UNROLLED;
	out_puts(g->o, few ? "#pragma unroll\n" : "#pragma unroll 8\n");
	out_printf(g->o, "for (int ct_j = 1; ct_j < %d; ct_j++) {\n", len);
	out_in(g->o);
	CuInt number = nth(s, "ct_j", len);
	if (s->back) {
		if (g->fn->fewer) number = cu_compound(str_fmt("(%s - ct_j) & %d", last_total(s, len).text, len - 1));
		out_printf(g->o, "const int ct_n = %s;\n", number.text);
		number = cu_var("ct_n");
	}
	each(s, e, "e", above, cu_linear(number, to - from, col).text);
	out_printf(g->o, "if ((ct_warp & %u) == %s) {\n", (unsigned)warps, walk(s, number, HW_WARP, from, to, false).text);
	out_in(g->o);
	assign(s, e, o);
	cu_end(g);
	load_total(s, first, number, w);
	copies(s, "x", w, x);
	combine(s, o, x, o, x);
	cu_end(g);
}

static void scan_warps(const Scan *s)
{
	Cu *g = s->g;
	Str e[MOST], o[MOST];
	int from = s->plan.warps, to = s->plan.n;
	uint32_t ups = bits_of(s, HW_REG, from, to);
	int above = f2_count(ups);
	store_totals(s);
	CuInt reg = loop_over(g, "ct_b", (uint32_t)s->rows), first = first_slot(s, reg);
	if (!cu_is(first, 0)) {
		out_printf(g->o, "const unsigned int ct_a = %s;\n", first.text);
		first = cu_var("ct_a");
	}
	const Str *none = s->neutral[0] ? s->neutral : s->identity;
	if (!above) copies(s, "e", none, e);
	else declare(s, "e", above);
	for (int i = 0; above && i < s->n; i++) {
		each(s, e, "e", above, "ct_v");
		cu_each(g, "ct_v", (int64_t)1 << above);
		out_printf(g->o, "%s = %s;\n", e[i], none[i]);
	}
	combine_totals(s, first, above);
	CuInt v = cu_loop(g, "ct_v", (int64_t)1 << above);
	each(s, e, "e", above, v.text);
	copies(s, "o", e, o);
	if (!s->neutral[0]) {
		out_printf(g->o, "if ((ct_warp & %u) != %s", (unsigned)bits_of(s, HW_WARP, from, to),
			s->back ? last_warp(s) : "0");
		if (above) out_printf(g->o, " || ct_v != %d", s->back ? (1 << above) - 1 : 0);
		out_puts(g->o, ") {\n");
		out_in(g->o);
	}
	put_before_block(s, from, NULL, cu_xor(group_of(s, reg), cu_deposit(v, as_groups(s, ups))));
	if (!s->neutral[0]) cu_end(g);
	cu_end(g);
	cu_end(g);
}

/* ---- results ---- */
/* Every result gets what comes before its group. */
static void scan_apply(const Scan *s)
{
	Cu *g = s->g;
	Str p[MOST], y[MOST], z[MOST];
	int low = s->plan.low, len = 1 << low;
	CuInt group = loop_over_groups(s, "ct_g", all_groups(s)), begin = print_begin(s, group);
	Str any = comes_before(s, s->plan.n, NULL, group.text);
	each(s, p, "p", s->groups, group.text);
	if (s->self) {
		registers(s, true, begin.text, y);
		assign(s, y, p);
		cu_end(g);
		return;
	}
	bool ask = !s->neutral[0] || (s->exclusive && !s->neutral_first);
	if (ask) {
		out_printf(g->o, "if (%s) {\n", any);
		out_in(g->o);
	}
	if (s->exclusive) {
		registers(s, true, cu_xor(begin, walk(s, first_of(s, len), HW_REG, 0, low, false)).text, y);
		assign(s, y, p);
	}
	if (!s->exclusive || low) {
		cu_head(g, "ct_j", s->exclusive, len, cu_inner_unroll((int64_t)1 << s->groups, len));
		cu_open(g);
		CuInt next = cu_xor(begin, walk(s, nth(s, "ct_j", len), HW_REG, 0, low, false));
		out_printf(g->o, "const int ct_r = %s;\n", next.text);
		registers(s, true, "ct_r", y);
		copies(s, "z", y, z);
		combine(s, z, p, p, z);
		assign(s, y, z);
		cu_end(g);
	}
	if (ask) cu_end(g);
	cu_end(g);
}

void scan_print(Cu *g, const Op *op)
{
	Scan s = scan_of(g, op);
	for (int i = 0; i < op->nout; i++) cu_val(g, op->out[i])->name = cu_name(g, op->out[i]);
	cu_say(g, op);
	for (int i = 0; i < op->nout; i++) cu_declare(g, op->out[i]);
	out_puts(g->o, "{\n");
	out_in(g->o);
	if (s.plan.low < s.plan.n) declare(&s, "t", s.after_lanes ? 0 : s.groups), declare(&s, "p", s.groups);
	if (s.after_lanes) scan_some(&s);
	else scan_neighbours(&s);
	for (int k = s.after_lanes ? s.plan.warps : s.plan.low, to; k < s.plan.warps; k = to) {
		if (s.plan.hw[k] == HW_LANE) {
			scan_lanes(&s, k, to = lanes_end(&s, k, s.plan.warps));
			continue;
		}
		to = k + 1;
		while (to < s.plan.warps && s.plan.hw[to] == HW_REG) to++;
		scan_groups(&s, k, to);
	}
	if (s.plan.warps < s.plan.n) {
		bool alone = rows_share(g->fn);         /* a warp, or lanes of it, perhaps */
		if (alone) out_puts(g->o, g->fn->short_rows ? "if (ct_log2 == 5) {\n" : "if (!ct_alone) {\n");
		if (alone) out_in(g->o);
		scan_warps(&s);
		if (alone) cu_end(g);
	}
	if (s.plan.low < s.plan.n) scan_apply(&s);
	cu_end(g);
}
