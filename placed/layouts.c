/* Which layouts values get: the rules that passes layouts and combine share. Pure functions over layout/. */
#include <string.h>

#include "base/diag.h"
#include "base/least.h"
#include "placed/placed.h"

int log2_of(int64_t v)
{
	int n = 0;
	while (((int64_t)1 << n) < v) n++;
	return n;
}

int elem_log2(Elem e) { return log2_of(elem_bytes(e)); }

Threads fn_threads(const Fn *fn)
{
	return (Threads){ fn->lanes ? log2_of(fn->lanes) : LANES_LOG2, log2_of(fn->warps), fn->by_element ? 0 : VECTOR_LOG2,
		fn->alternate ? log2_of(fn->cluster) : 0, fn->by_warp };
}

Lay lay_single(int rank, Threads n)
{
	Lay l = lay_mul(lay_unit(rank), lay_bcast(rank, HW_LANE, n.lanes));
	return lay_mul(l, lay_bcast(rank, HW_WARP, n.warps));
}

/* The number of the thread block is the highest bits of a warp's: they change places with the lowest. */
static Lay blocks_in_turn(Lay l, int blocks)
{
	Lay r = l;
	int first = lay_first(l, HW_WARP), warps = l.in[HW_WARP];
	for (int i = 0; i < warps; i++) r.col[first + i] = l.col[first + (i + blocks) % warps];
	return r;
}

/* Of a row, whose elements lanes, then warps, then registers count: warps and the
 * registers after them change places. */
static Lay warps_apart(Lay l)
{
	Lay r = l;
	int warp = lay_first(l, HW_WARP), warps = l.in[HW_WARP], reg = lay_first(l, HW_REG), regs = 0;
	uint32_t place[LAY_BITS], top = 0;
	for (int i = 0; i < warps; i++) top = l.col[warp + i] > top ? l.col[warp + i] : top;
	while (regs < l.in[HW_REG] && l.col[reg + l.in[HW_REG] - 1 - regs] > top) regs++;
	reg += l.in[HW_REG] - regs;
	for (int i = 0; i < warps + regs; i++) place[i] = i < warps ? l.col[warp + i] : l.col[reg + i - warps];
	for (int i = 0; i < regs; i++) r.col[reg + i] = place[i];
	for (int i = 0; i < warps; i++) r.col[warp + i] = place[regs + i];
	return r;
}

Lay lay_default(const Type *t, int fast, Threads n)
{
	int size = type_log2_size(t);
	if (t->rank == 0 || size == 0) return lay_single(t->rank, n);
	if (fast < 0 || fast >= t->rank) fast = t->rank - 1;
	int vec = imin(imax(0, n.piece - elem_log2(t->elem)), imax(0, size - n.lanes - n.warps));
	Lay l = lay_rows(t->rank, t->log2, fast, vec, n.lanes, n.warps);
	if (n.apart && type_is_row(t) && size >= n.lanes + n.warps) return warps_apart(l);
	return n.blocks ? blocks_in_turn(l, n.blocks) : l;
}

/* log2 of the half sectors that one wavefront moves: no more than whole ones. */
enum { HALVES_A_WAVEFRONT = 3 };

/* Bytes that one warp-wide access moves in one piece decide how many 32-byte sectors it touches. */
int64_t lay_memory_cost(Lay l, Elem e, int fast, bool loads)
{
	int bytes = elem_log2(e), run = lay_run(l, fast, NULL), vec = imin(run, 4 - bytes);
	int regs = f2_rank(l.col, l.in[HW_REG], ~0u), at = lay_shift(l, fast), piece = vec;
	uint32_t lanes[LAY_BITS];
	int n = 0;
	for (int i = lay_first(l, HW_LANE); i < lay_first(l, HW_LANE) + l.in[HW_LANE]; i++) lanes[n++] = l.col[i];
	for (bool more = true; more && piece < l.out[fast];) {
		more = false;
		for (int i = 0; i < n; i++)
			if (lanes[i] == (uint32_t)1 << (at + piece)) more = true;
		piece += more;
	}
	int busy = f2_rank(lanes, n, ~0u);
	int sectors = imax(0, imin(20, busy + vec - piece + imax(0, piece + bytes - 5)));
	int64_t accesses = (int64_t)1 << imin(32, imax(0, regs - vec));
	/* the other half of a sector is what the thread's next access loads, from the L1 cache: that
	 * takes wavefronts, of 128 bytes each */
	bool halves = loads && run > vec && vec + bytes == 4 && piece == vec;
	return accesses * (1 + ((int64_t)1 << imax(0, sectors - halves))
		+ (halves ? (int64_t)1 << imax(0, sectors - HALVES_A_WAVEFRONT) : 0));
}

/* ---- reductions with a function of the author's ---- */
Lay lay_neighbours(const Type *t, int axis, Threads all)
{
	int n = t->log2[axis], others = type_log2_size(t) - n;
	int warps_other = imin(all.warps, others);
	int lanes = imin(all.lanes, n), warps = imin(all.warps - warps_other, n - lanes);
	int left[TILE_RANK], lanes_other = all.lanes - lanes;
	Lay l = lay_unit(t->rank);
	for (int a = 0; a < t->rank; a++) left[a] = a == axis ? 0 : t->log2[a];
	l = lay_push(l, HW_REG, axis, n - lanes - warps);
	l = lay_push(l, HW_LANE, axis, lanes);
	l = lay_push(l, HW_WARP, axis, warps);
	for (int h = HW_WARP; h >= HW_LANE; h--) {
		int want = h == HW_WARP ? warps_other : lanes_other;
		for (int a = t->rank - 1; a >= 0; a--) {
			int k = imin(want, left[a]);
			l = lay_push(l, (Hw)h, a, k);
			left[a] -= k;
			want -= k;
		}
		if (h == HW_LANE) l = lay_mul(l, lay_bcast(t->rank, HW_LANE, want));
		else l = lay_mul(l, lay_bcast(t->rank, HW_WARP, all.warps - warps - (warps_other - want)));
	}
	for (int a = t->rank - 1; a >= 0; a--) l = lay_push(l, HW_REG, a, left[a]);
	return l;
}

/* ---- shapes ---- */
Lay lay_cat(Lay half, int axis) { return lay_push(half, HW_REG, axis, 1); }

bool lay_broadcast_operand(Lay result, const Type *from, const Type *to, Lay *r)
{
	uint8_t shape[TILE_RANK] = { 0 };
	int pad = to->rank - from->rank;
	for (int a = 0; a < from->rank; a++) shape[pad + a] = from->log2[a];
	if (!lay_operand(result, shape, r)) return false;
	for (int a = 0; a < pad; a++)
		if (!lay_squeeze(*r, 0, r)) return false;
	return true;
}

/* ---- reductions ---- */
/* Vectors, each at the number of its lowest bit, which no other has; combo: of which given ones it is the sum. */
typedef struct Combos { uint32_t lows, v[LAY_BITS], combo[LAY_BITS]; } Combos;

static uint32_t reduce_by(const Combos *b, uint32_t x, uint32_t *combo)
{
	for (uint32_t hit = x & b->lows; hit; hit &= hit - 1) {
		int i = __builtin_ctz(hit);
		x ^= b->v[i];
		*combo ^= b->combo[i];
	}
	return x;
}

static void combos_add(Combos *b, uint32_t x, int which)
{
	uint32_t combo = (uint32_t)1 << which;
	x = reduce_by(b, x, &combo);
	if (!x) return;
	int low = __builtin_ctz(x);
	for (uint32_t rest = b->lows; rest; rest &= rest - 1) {
		int i = __builtin_ctz(rest);
		if (b->v[i] >> low & 1) b->v[i] ^= x, b->combo[i] ^= combo;
	}
	b->lows |= (uint32_t)1 << low;
	b->v[low] = x;
	b->combo[low] = combo;
}

static int level_of(Lay l, uint32_t place)
{
	return place & lay_inmask(l, HW_WARP) ? 3 : place & lay_inmask(l, HW_LANE) ? 2 : 1;
}

static Lay reduce_layout(Lay l, int axis, int levels, int *n, uint32_t v[LAY_BITS], uint32_t *kept)
{
	uint32_t all[LAY_BITS];
	int k = lay_partners(l, axis, all), at = lay_shift(l, axis), taken = 0, inbits = lay_inbits(l);
	uint32_t mask = ((uint32_t)1 << l.out[axis]) - 1;
	Combos along;
	Basis regs;
	along.lows = regs.tops = 0;
	while (taken < k && level_of(l, all[taken]) <= levels) {
		v[taken] = all[taken];
		taken++;
	}
	*n = taken;
	Lay r = l;
	int rest = k - taken;
	for (int i = 0; rest && i < k; i++) combos_add(&along, lay_image(l, all[i]) >> at & mask, i);
	r.out[axis] = (uint8_t)rest;
	memset(r.col, 0, sizeof r.col);
	r.in[HW_REG] = 0;
	int put = 0;
	for (int i = 0; i < inbits; i++) {
		uint32_t combo = 0, part = 0, low = l.col[i] & (((uint32_t)1 << at) - 1);
		uint32_t high = at + l.out[axis] >= 32 ? 0 : l.col[i] >> (at + l.out[axis]);
		if (rest) {
			reduce_by(&along, l.col[i] >> at & mask, &combo);
			part = combo >> taken;
		}
		uint32_t col = low | part << at | (at + rest >= 32 ? 0 : high << (at + rest));
		if (i < l.in[HW_REG]) {
			if (!basis_add(&regs, col, 0, NULL)) continue;
			*kept |= (uint32_t)1 << i;
			r.in[HW_REG]++;
		}
		r.col[put++] = col;
	}
	return r;
}

Lay lay_reduced(Lay l, int axis, int levels, int *n, uint32_t v[LAY_BITS])
{
	uint32_t kept = 0;
	return reduce_layout(l, axis, levels, n, v, &kept);
}

uint32_t lay_reduced_regs(Lay l, int axis, int levels)
{
	uint32_t v[LAY_BITS], kept = 0;
	int n;
	reduce_layout(l, axis, levels, &n, v, &kept);
	return kept;
}

bool lay_combines_simply(Lay l, int axis)
{
	uint32_t v[LAY_BITS];
	int n = lay_partners(l, axis, v);
	for (int i = 0; i < n; i++) {
		int kinds = 0;
		for (int h = HW_REG; h <= HW_WARP; h++) kinds += (v[i] & lay_inmask(l, (Hw)h)) != 0;
		if (kinds > 1) return false;
	}
	return true;
}

/* Drops register `from`, whose elements lie at place `to` from now on. */
static void move_register(Lay *l, int from, int to)
{
	l->col[to] = l->col[from];
	memmove(l->col + from, l->col + from + 1, (size_t)(LAY_BITS - from - 1) * sizeof *l->col);
	l->col[LAY_BITS - 1] = 0;
	l->in[HW_REG]--;
}

Lay lay_spread(Lay l, int most)
{
	for (int to = lay_first(l, HW_WARP); l.in[HW_REG] > most && to < lay_first(l, HW_WARP) + l.in[HW_WARP]; to++) {
		if (l.col[to]) continue;
		move_register(&l, l.in[HW_REG] - 1, to);
		to--;                   /* all places have moved down by one */
	}
	return l;
}

Lay lay_gathered(Lay l, int axis, int n)
{
	Lay r = lay_push(lay_drop(l, axis), HW_REG, axis, n);
	for (int k = 0; k < n; k++) {
		int from = r.in[HW_REG] - (n - k), lane = lay_first(r, HW_LANE), end = lane + r.in[HW_LANE];
		while (lane < end && r.col[lane]) lane++;
		if (lane == end) break;
		move_register(&r, from, lane);
	}
	return r;
}

/* ---- free of movement: one layout follows from the other ---- */
bool lay_of_moved(const Op *op, Lay in, Lay *r)
{
	const Type *t = op->out[0]->type;
	int perm[TILE_RANK];
	if (op->code == OP_RESHAPE) return lay_reshape(in, t->rank, t->log2, r);
	for (int a = 0; a < t->rank; a++) perm[a] = (int)ir_attr(op, AT_AXES)->u.ints.p[a];
	*r = lay_permute(in, perm);
	return lay_ok(*r);
}

bool lay_before_moved(const Op *op, Lay out, Lay *r)
{
	const Type *t = ir_in(op, 0)->type;
	int perm[TILE_RANK];
	if (op->code == OP_RESHAPE) return lay_reshape(out, t->rank, t->log2, r);
	for (int a = 0; a < t->rank; a++) perm[ir_attr(op, AT_AXES)->u.ints.p[a]] = a;
	*r = lay_permute(out, perm);
	return lay_ok(*r);
}

Lay lay_of_pairs(Lay half) { return lay_push(lay_expand(half, half.naxis), HW_REG, half.naxis, 1); }

Lay lay_of_halves(Lay pair)
{
	Lay r = lay_drop(pair, pair.naxis - 1);
	if (!lay_squeeze(r, r.naxis - 1, &r)) bug("the halves of pairs have no layout");
	return r;
}

Lay lay_of_reduced(const Op *op, Lay in)
{
	uint32_t v[LAY_BITS];
	int n;
	return lay_reduced(in, ir_axis(op), 3, &n, v);
}

/* ---- clusters ---- */
/* x less what the n vectors of basis, of which each has a lowest bit of its own, make of it. */
static uint32_t remainder_of(const uint32_t *basis, int n, uint32_t x)
{
	for (int i = 0; i < n; i++)
		if (x & basis[i] & (~basis[i] + 1)) x ^= basis[i];
	return x;
}

bool lay_in_block(Lay from, Lay to, int cluster)
{
	uint32_t own[LAY_BITS];
	int n = 0, block = lay_inbits(from) - cluster, shift = block - (lay_inbits(to) - cluster);
	for (int i = 0; i < block; i++) {
		uint32_t c = remainder_of(own, n, from.col[i]);
		if (c) own[n++] = c;
	}
	for (int i = 0; i < lay_inbits(to); i++) {
		uint32_t c = to.col[i] ^ (i + shift >= block ? from.col[i + shift] : 0);
		if (remainder_of(own, n, c)) return false;
	}
	return true;
}
