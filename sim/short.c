/* Short rows. A kernel of rows is printed for as many warps, lanes and registers as a call's rows need
 * (lower/by_warp.c). Here the kernel is made again for those of a call: its tiles are as much smaller, each thread has
 * the registers and the place in them that the printed text gives it, and tile blocks share warps or not as they do
 * there.
 *
 * As many warps as there are is a power of two here; a launcher also starts three of four. Clusters run with all of
 * theirs. */
#include "base/diag.h"
#include "ir/ir_copy.h"
#include "placed/placed.h"
#include "sim/sim_int.h"

/* log2 of lanes and warps; registers that hold a row, 0: all */
typedef struct Few { int lanes, warps, regs; } Few;

typedef struct Short { Few few; int warps, row_log2; } Short;

/* ---- what a call's rows need ---- */
static bool longest_row(const SimCall *c, int64_t *longest)
{
	*longest = 0;
	for (int i = 0; i < c->fn->below.n; i++) {
		int64_t n;
		if (!sim_sym(c, c->fn->below.p[i], &n)) return false;
		if (n > *longest) *longest = n;
	}
	return c->fn->below.n > 0;
}

/* As many registers of each lane as its kernel takes for such a row; 0: all. */
static int used_of(const Fn *fn, int lanes, int64_t longest)
{
	RowParts r = row_parts(fn, lanes);
	int i = 0;
	while (i + 1 < r.n && longest > r.p[i].most) i++;
	return r.p[i].regs < 1 << fn->row_regs_log2 ? r.p[i].regs : 0;
}

static Few few_of(const SimCall *c)
{
	const Fn *fn = c->fn;
	Few all = { LANES_LOG2, log2_of(fn->warps), 0 };
	int64_t longest, warps;
	if (!longest_row(c, &longest)) return all;
	if (fn->short_rows && longest <= row_of_lanes(fn, short_lanes(fn))) {
		int lanes = fn->lanes_least;
		while (longest > row_of_lanes(fn, lanes)) lanes++;
		return (Few){ lanes, 0, used_of(fn, lanes, longest) };
	}
	if (!fn->fewer || fn->cluster || !sim_sym(c, row_warps(fn), &warps)) return all;
	if (warps == 1 && fn->warp_rows) return (Few){ LANES_LOG2, 0, used_of(fn, LANES_LOG2, longest) };
	while (all.warps > 0 && warps <= 1 << (all.warps - 1)) all.warps--;
	return all;
}

/* ---- layouts ---- */
/* Bits of a tile's elements that are not there: of a row, and of what lanes have combined of it, those that the absent
 * lanes and warps hold; of partial results of warps, those of absent warps, wherever they lie. */
static uint32_t absent(const Short *s, Lay l)
{
	int lane = lay_first(l, HW_LANE), warp = lay_first(l, HW_WARP), bits = lay_outbits(l);
	uint32_t r = 0;
	if (bits == s->warps && bits < s->row_log2) return f2_low(bits) & ~f2_low(s->few.warps);
	for (int i = s->few.lanes; i < l.in[HW_LANE]; i++) r |= l.col[lane + i];
	for (int i = s->few.warps; i < l.in[HW_WARP]; i++) r |= l.col[warp + i];
	return r;
}

static uint32_t squeezed(uint32_t x, uint32_t without)
{
	uint32_t r = 0;
	for (int i = 0, k = 0; i < LAY_BITS; i++)
		if (!(without >> i & 1)) r |= (x >> i & 1) << k++;
	return r;
}

/* Without those bits, and without these lanes and warps. */
static Lay without(const Short *s, Lay l, uint32_t bits)
{
	Lay r = l;
	int n = 0, at = 0;
	for (int a = 0; a < l.naxis; a++) r.out[a] = (uint8_t)(l.out[a] - __builtin_popcount(lay_coord(l, bits, a)));
	memset(r.col, 0, sizeof r.col);
	for (int h = 0; h < HW_N; h++) {
		int keep = h == HW_LANE ? s->few.lanes : h == HW_WARP ? s->few.warps : l.in[h];
		if (keep > l.in[h]) keep = l.in[h];
		r.in[h] = (uint8_t)keep;
		for (int i = 0; i < keep; i++) r.col[n++] = squeezed(l.col[at + i] & ~bits, bits);
		at += l.in[h];
	}
	return r;
}

/* A buffer in shared memory has no place that no element lies at. */
static Lay buffer_without(const Short *s, Lay l, uint32_t bits)
{
	Lay r = without(s, l, bits);
	int first = lay_first(l, HW_OFF), n = 0;
	for (int i = 0; i < l.in[HW_OFF]; i++)
		if (!(l.col[first + i] & bits)) r.col[n++] = squeezed(l.col[first + i], bits);
	for (int i = n; i < LAY_BITS; i++) r.col[i] = 0;
	r.in[HW_OFF] = (uint8_t)n;
	return r;
}

/* What by_warp_place promises of such kernels. */
static void need(bool ok)
{
	if (!ok) bug("rows of few lanes or warps in a kernel that does not suit them");
}

static bool one_bit_each(Lay l)
{
	for (int i = 0; i < lay_inbits(l); i++)
		if (l.col[i] & (l.col[i] - 1)) return false;
	return true;
}

static const Type *of_layout(const Type *t, Lay l)
{
	if (t->kind == TY_SHARED) return type_placed(TY_SHARED, t->elem, t->rank, l.out, NULL, 0);
	return type_tile(t->elem, t->rank, l.out);
}

/* ---- the kernel ---- */
static void shorten_value(Short *s, Val *v)
{
	if (!type_is_tile(v->type) || !v->lay) return;
	need(one_bit_each(*v->lay));
	Lay l = without(s, *v->lay, absent(s, *v->lay));
	ir_set_layout(v, l);
	v->type = of_layout(v->type, l);
}

static void shorten_buffer(Short *s, Op *op)
{
	Val *v = op->out[0];
	const Lay *l = ir_attr(op, AT_LAYOUT)->u.lay;
	int bits = lay_outbits(*l);
	need(one_bit_each(*l) && (!bits || bits == s->warps));
	Lay r = buffer_without(s, *l, f2_low(bits) & ~f2_low(s->few.warps));
	ir_set_lay(op, AT_LAYOUT, r);
	v->type = of_layout(v->type, r);
}

static void shorten(void *ctx, Op *op)
{
	Short *s = ctx;
	need(op->code != OP_EXCHANGE);
	if (op->code == OP_ALLOC_SHARED) shorten_buffer(s, op);
	else
		for (int i = 0; i < op->nout; i++) shorten_value(s, op->out[i]);
}

/* Rows of fewer lanes are never rotated or shifted: their phase is 0. */
static void forget_phase(Fn *fn)
{
	for (Op *op = fn->body->first, *next; op; op = next) {
		next = op->next;
		if (op->code != OP_PHASE) continue;
		Builder b = build_before(op);
		ir_replace(op->out[0], ir_const_int(&b, op->out[0]->type, 0));
		ir_remove(op);
	}
}

static Fn *shortened(const Fn *of, Few few)
{
	Short s = { .few = few, .warps = log2_of(of->warps), .row_log2 = of->row_log2 };
	Fn *fn = copy_kernel((Fn *)of);
	if (few.lanes < LANES_LOG2) forget_phase(fn);
	ir_walk(fn->body, shorten, &s);
	fn->row_log2 -= fn_threads(of).lanes - few.lanes + s.warps - few.warps;
	fn->row_regs = few.regs;
	fn->warps = 1 << few.warps;
	fn->lanes = few.lanes < LANES_LOG2 ? 1 << few.lanes : 0;
	fn->packed = few.warps ? 0 : COST_SHORT_THREADS >> few.lanes;
	fn->short_rows = fn->warp_rows = fn->fewer = false;
	fn->row_few = 0;
	ir_number(fn);
	Module one = { .path = str_intern("short rows") };
	vec_push(A_TMP, &one.fns, fn);
	ir_verify(&one, "shortening rows");
	return fn;
}

typedef struct Known { const Fn *of, *fn; Few few; } Known;

static bool same_few(Few a, Few b) { return a.lanes == b.lanes && a.warps == b.warps && a.regs == b.regs; }

/* Made once for all calls. */
const Fn *sim_short(const SimCall *c, bool *is_short)
{
	static VEC(Known) known;
	const Fn *fn = c->fn;
	*is_short = false;
	if (!fn->row_log2 || !(fn->short_rows || fn->fewer)) return fn;
	Few few = few_of(c);
	*is_short = few.lanes < LANES_LOG2 || (fn->warp_rows && !few.warps);
	if (few.lanes == LANES_LOG2 && 1 << few.warps == fn->warps && !few.regs) return fn;
	int i = 0;
	while (i < known.n && (known.p[i].of != fn || !same_few(known.p[i].few, few))) i++;
	if (i == known.n) vec_push(A_UNIT, &known, ((Known){ fn, shortened(fn, few), few }));
	return known.p[i].fn;
}
