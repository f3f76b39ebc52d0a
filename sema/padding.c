/* Elements outside of a tensor that get into a reduction, or into the index of a store. A load that crosses the end of
 * its tensor reads the pad there; what an operation makes of the pad is followed along each axis of each tile, until a
 * reduction takes the axis in.
 *
 * Only what is certain is reported. What a `select`, a mask or a loop has changed counts as the author's care: it is
 * unknown from there on, and unknown is silent. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "ir/fold.h"
#include "ir/monoid.h"
#include "sema/build.h"
#include "sema/findings.h"

typedef enum PadKind {
	PAD_NONE,       /* nothing outside along this axis */
	PAD_CONST,      /* what is outside holds c */
	PAD_OTHER,      /* what is outside holds the pad combined with a number that is the same along the axis */
	PAD_UNKNOWN
} PadKind;

struct PadAxis {
	PadKind kind;
	Num c;
	const Op *load;
	int axis;               /* of the load */
	int64_t from, end;      /* the elements of the loaded tile that are left along the axis */
	const Op *moved;        /* what moved the elements last along the axis; NULL: they are where the load put them */
	bool plain;             /* still the pad of the load itself */
};
typedef struct PadAxis PadAxis;

/* Values that one question looks at, at most: those that several operands share are looked at for each. */
enum { LOOKS = 256 };

static PadAxis *pads_new(Padding *p, const Val *v)
{
	PadAxis *a = NEW_ARRAY(A_TMP, PadAxis, TILE_RANK);
	p->of[v->id] = a;
	return a;
}

static PadAxis pad_at(const Padding *p, const Val *v, int axis)
{
	if (!type_is_tile(v->type) || v->type->log2[axis] == 0) return (PadAxis){ .kind = PAD_NONE };
	if (!v->def) return (PadAxis){ .kind = PAD_UNKNOWN };
	return p->of[v->id] ? p->of[v->id][axis] : (PadAxis){ .kind = PAD_NONE };
}

static bool padded(const Padding *p, const Val *v)
{
	for (int i = 0; type_is_tile(v->type) && i < v->type->rank; i++)
		if (pad_at(p, v, i).kind != PAD_NONE) return true;
	return false;
}

static void all_unknown(Padding *p, const Val *v)
{
	if (!type_is_tile(v->type)) return;
	PadAxis *a = pads_new(p, v);
	for (int i = 0; i < v->type->rank; i++) a[i].kind = PAD_UNKNOWN;
}

/* ---- what a value may be ---- */
static bool varies(const Val *v, int axis, int *left)
{
	Num n;
	if (!type_is_tile(v->type) || v->type->log2[axis] == 0 || ir_const_value(v, &n)) return false;
	const Op *op = v->def;
	if (!op || --*left < 0) return true;
	if (op->code == OP_BROADCAST) {
		const Val *x = ir_in(op, 0);
		int from = type_is_tile(x->type) ? axis - (v->type->rank - x->type->rank) : -1;
		return from >= 0 && varies(x, from, left);
	}
	if (!op_has(op, OPF_ELEMWISE)) return true;
	for (int i = 0; i < op->nin; i++)
		if (varies(ir_in(op, i), axis, left)) return true;
	return false;
}

static Reach reach(const Val *v, int *left);

static Reach reach_of_float(const Op *op, Reach x, Reach all)
{
	switch (op->code) {
	case OP_EXP: case OP_EXP2: case OP_SQRT: case OP_RSQRT: case OP_ERFC: return (Reach){ 0, INFINITY };
	case OP_COSH: return (Reach){ 1, INFINITY };
	case OP_SIN: case OP_COS: return (Reach){ -1, 1 };
	case OP_TANH: case OP_ERF: return (Reach){ x.lo >= 0 ? 0 : -1, x.hi <= 0 ? 0 : 1 };
	case OP_FLOOR: return (Reach){ floor(x.lo), x.hi };
	case OP_CEIL: return (Reach){ x.lo, ceil(x.hi) };
	case OP_ROUND: case OP_RINT: case OP_TRUNC: case OP_CBRT: case OP_SINH: case OP_LOG1P: case OP_EXPM1:
		return x.lo >= 0 ? (Reach){ 0, INFINITY } : x.hi <= 0 ? (Reach){ -INFINITY, 0 } : all;
	default: return all;
	}
}

/* Reductions of elements that lie within bounds. */
static Reach reach_of_reduction(const Op *op, Reach x, Reach all)
{
	bool flt = elem_is_any_float(op->out[0]->type->elem);
	switch (op->code) {
	case OP_REDUCE_MAX: case OP_REDUCE_MIN: return x;
	case OP_SUM: return !flt ? all : x.lo >= 0 ? (Reach){ 0, INFINITY } : x.hi <= 0 ? (Reach){ -INFINITY, 0 } : all;
	case OP_PROD: return flt && x.lo >= 0 ? (Reach){ 0, INFINITY } : all;
	default: return all;
	}
}

/* Integers wrap: a result is in r only where all of r are values of its type. Those of 64 bits are none that a double
 * tells apart. */
static Reach unless_wraps(Reach r, Reach all) { return r.lo >= all.lo && r.hi <= all.hi ? r : all; }

static Reach reach_of_ints(OpCode code, Reach x, Reach y, Reach all)
{
	double a = x.lo * y.lo, b = x.lo * y.hi, c = x.hi * y.lo, d = x.hi * y.hi;
	switch (code) {
	case OP_ADD: return unless_wraps((Reach){ x.lo + y.lo, x.hi + y.hi }, all);
	case OP_SUB: return unless_wraps((Reach){ x.lo - y.hi, x.hi - y.lo }, all);
	case OP_MUL: return unless_wraps((Reach){ fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)) }, all);
	case OP_DIV:            /* y is above 0 here and below */
		return (Reach){ fmin(trunc(x.lo / y.lo), trunc(x.lo / y.hi)), fmax(trunc(x.hi / y.lo), trunc(x.hi / y.hi)) };
	case OP_REM:
		return (Reach){ x.lo < 0 ? fmax(x.lo, 1 - y.hi) : 0, x.hi > 0 ? fmin(x.hi, y.hi - 1) : 0 };
	default: return all;
	}
}

/* Sums and products of floats are bounded by their signs alone: rounding may pass any other bound. */
static Reach reach_of_two(const Op *op, Reach x, Reach y, Reach all)
{
	Elem e = op->out[0]->type->elem;
	bool flt = elem_is_any_float(e), exact = !flt && elem_bits(e) <= 32;
	if (exact && (op->code == OP_ADD || op->code == OP_SUB || op->code == OP_MUL || (y.lo >= 1
		&& (op->code == OP_DIV || op->code == OP_REM)))) return reach_of_ints(op->code, x, y, all);
	switch (op->code) {
	case OP_MAX: return (Reach){ fmax(x.lo, y.lo), fmax(x.hi, y.hi) };
	case OP_MIN: return (Reach){ fmin(x.lo, y.lo), fmin(x.hi, y.hi) };
	case OP_MUL:
		if (!flt) return all;
		if (ir_in(op, 0) == ir_in(op, 1) || (x.lo >= 0 && y.lo >= 0) || (x.hi <= 0 && y.hi <= 0))
			return (Reach){ 0, INFINITY };
		return (x.lo >= 0 && y.hi <= 0) || (x.hi <= 0 && y.lo >= 0) ? (Reach){ -INFINITY, 0 } : all;
	case OP_DIV:
		if (x.lo >= 0 && y.lo >= 0) return (Reach){ 0, all.hi };
		return flt && x.hi <= 0 && y.lo >= 0 ? (Reach){ -INFINITY, 0 } : all;
	case OP_ADD:
		if (!flt) return all;
		return x.lo >= 0 && y.lo >= 0 ? (Reach){ 0, INFINITY } : x.hi <= 0 && y.hi <= 0 ? (Reach){ -INFINITY, 0 } : all;
	case OP_SUB:
		if (!flt) return all;
		return x.lo >= 0 && y.hi <= 0 ? (Reach){ 0, INFINITY } : x.hi <= 0 && y.lo >= 0 ? (Reach){ -INFINITY, 0 } : all;
	case OP_AND: return x.lo < 0 && y.lo < 0 ? all : (Reach){ 0, x.lo < 0 ? y.hi : y.lo < 0 ? x.hi : fmin(x.hi, y.hi) };
	case OP_SHR:
		if (x.lo < 0) return all;
		return (Reach){ 0, y.lo == y.hi && y.lo >= 0 && y.lo < 64 ? floor(ldexp(x.hi, -(int)y.lo)) : x.hi };
	case OP_REM: return x.lo >= 0 && !flt ? (Reach){ 0, x.hi } : all;
	default: return all;
	}
}

static void note_continue(void *ctx, Op *op)
{
	*(bool *)ctx |= op->code == OP_CONTINUE;
}

/* m of `for .. { m = max(m, ..); }` never falls below its first value. */
static Reach reach_of_carried(const Val *v, int *left, Reach all)
{
	const Op *loop = v->block->owner, *end = v->block->last;
	bool jumps = false;
	if (!loop || loop->code != OP_FOR || !v->index || !end || end->code != OP_YIELD) return all;
	ir_walk(v->block, note_continue, &jumps);
	const Op *next = ir_in(end, v->index - 1)->def;
	if (jumps || !next || next->nin != 2 || (ir_in(next, 0) != v && ir_in(next, 1) != v)) return all;
	Reach first = reach(ir_in(loop, 2 + v->index), left);
	if (next->code == OP_MAX) return (Reach){ first.lo, all.hi };
	return next->code == OP_MIN ? (Reach){ all.lo, first.hi } : all;
}

static Reach reach(const Val *v, int *left)
{
	Elem e = v->type->elem;
	Reach all = { -INFINITY, INFINITY };
	Num n;
	if (elem_is_ptr(e)) return all;
	if (elem_is_integral(e)) all = (Reach){ (double)num_least(e).i, (double)num_greatest(e).i };
	if (e == EL_U64) all = (Reach){ 0, 18446744073709551615.0 };
	if (ir_const_value(v, &n) && e != EL_U64) {
		double c = elem_is_integral(e) ? (double)n.i : n.f;
		return (Reach){ c, c };
	}
	const Op *op = v->def;
	if (--*left < 0) return all;
	if (!op) return reach_of_carried(v, left, all);
	if (!op->nin) return all;
	Reach x = reach(ir_in(op, 0), left);
	if (op_has(op, OPF_FREE)) return x;
	switch (op->code) {
	case OP_ABS: return (Reach){ 0, fmin(all.hi, fmax(fabs(x.lo), fabs(x.hi))) };
	case OP_NEG: return elem_is_any_float(e) ? (Reach){ -x.hi, -x.lo } : all;
	case OP_HINT: return x;
	case OP_CAST: {
		Elem from = ir_in(op, 0)->type->elem;
		bool same = elem_is_integral(from) ? !rule_narrows(from, e) || elem_is_any_float(e) : elem_is_any_float(e);
		return same ? x : all;
	}
	case OP_SELECT: {
		Reach a = reach(ir_in(op, 1), left), b = reach(ir_in(op, 2), left);
		return (Reach){ fmin(a.lo, b.lo), fmax(a.hi, b.hi) };
	}
	default: break;
	}
	if (op_has(op, OPF_ALL) && op->nin == 1) return x;
	if (op_has(op, OPF_ALL) && op->nin == 2) {
		Reach y = reach(ir_in(op, 1), left);
		return (Reach){ fmin(x.lo, y.lo), fmax(x.hi, y.hi) };
	}
	if (op_has(op, OPF_REDUCE)) return reach_of_reduction(op, x, all);
	if (op->nin == 1) return reach_of_float(op, x, all);
	return op->nin == 2 ? reach_of_two(op, x, reach(ir_in(op, 1), left), all) : all;
}

Reach value_reach(const Val *v)
{
	int left = LOOKS;
	return reach(v, &left);
}

/* ---- from operands to results ---- */
static void of_load(Padding *p, const Op *op)
{
	const Val *v = op->out[0], *pad = ir_in(op, op->nin - 1);
	Num c;
	bool known = ir_const_value(pad, &c);
	PadAxis *a = pads_new(p, v);
	for (int i = 0; i < v->type->rank; i++)
		if (v->type->log2[i])
			a[i] = known ? (PadAxis){ PAD_CONST, c, op, i, 0, type_extent(v->type, i), NULL, true }
				: (PadAxis){ .kind = PAD_UNKNOWN };
}

/* Both cross the end of their tensors at the same element. */
static bool same_end(const Padding *p, PadAxis a, PadAxis b)
{
	if (a.moved != b.moved || a.from != b.from || a.end != b.end) return false;
	if (a.load == b.load && a.axis == b.axis) return true;
	return valsym_access(p->vs, a.load, a.axis) == valsym_access(p->vs, b.load, b.axis) &&
		valsym_extent(p->vs, ir_in(a.load, 0), a.axis) == valsym_extent(p->vs, ir_in(b.load, 0), b.axis);
}

static bool is_inf(Elem e, Num n) { return elem_is_any_float(e) && isinf(n.f); }
static bool is_zero(Elem e, Num n) { return elem_is_any_float(e) ? n.f == 0 : n.i == 0; }

/* An operation on pads and on numbers that are the same along the axis. */
static PadAxis mixed(const Op *op, PadAxis at, const PadAxis *in)
{
	Elem e = ir_in(op, 0)->type->elem;
	PadAxis r = at;
	bool zero = false, inf = false;
	for (int i = 0; i < op->nin; i++) {
		if (in[i].kind != PAD_CONST || elem_is_ptr(ir_in(op, i)->type->elem)) continue;
		bool absorbs = op->code == OP_MUL || op->code == OP_AND || (op->code == OP_DIV && !i);
		zero |= absorbs && is_zero(ir_in(op, i)->type->elem, in[i].c);
		inf |= is_inf(ir_in(op, i)->type->elem, in[i].c);
		if (is_inf(e, in[i].c)) r.c = num_float(op->code == OP_SUB && i ? -in[i].c.f : in[i].c.f);
	}
	r.plain = false;
	r.kind = PAD_CONST;
	if (zero) {
		r.c = num_zero(op->out[0]->type->elem);
		return r;
	}
	if (inf && (op->code == OP_ADD || op->code == OP_SUB)) return r;
	r.kind = inf ? PAD_UNKNOWN : PAD_OTHER;
	switch (op->code) {
	case OP_ADD: case OP_SUB: case OP_MUL: case OP_DIV: case OP_NEG: case OP_ABS: break;
	case OP_EXP: case OP_EXP2: case OP_CAST: break;
	default: r.kind = PAD_UNKNOWN;
	}
	return r;
}

static PadAxis elementwise(const Padding *p, const Op *op, int axis)
{
	PadAxis in[4], at = { .kind = PAD_NONE };
	Num num[4];
	bool constant = true, wild = false;
	if (op->nin > 4) return (PadAxis){ .kind = PAD_UNKNOWN };
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		in[i] = pad_at(p, v, axis);
		if (in[i].kind == PAD_UNKNOWN) return in[i];
		if (in[i].kind == PAD_NONE) {
			if (ir_const_value(v, &num[i])) continue;
			int left = LOOKS;
			wild |= varies(v, axis, &left);
			constant = false;
			continue;
		}
		if (at.kind != PAD_NONE && !same_end(p, at, in[i])) return (PadAxis){ .kind = PAD_UNKNOWN };
		at = in[i];
		num[i] = in[i].c;
		constant &= in[i].kind == PAD_CONST;
	}
	if (at.kind == PAD_NONE) return at;
	if (constant) {
		Elem e = ir_in(op, op->code == OP_SELECT)->type->elem, r = op->out[0]->type->elem;
		bool cast = op->code == OP_CAST;
		if (elem_is_ptr(e) || elem_is_ptr(r)) return (PadAxis){ .kind = PAD_UNKNOWN };
		if (cast) at.c = fold_cast(num[0], e, r, fold_modes(op));
		else if (!fold_op(op->code, fold_modes(op), e, r, op->nin, num, &at.c)) return (PadAxis){ .kind = PAD_UNKNOWN };
		at.kind = PAD_CONST;
		at.plain &= cast;
		return at;
	}
	PadAxis m = mixed(op, at, in);
	if (wild && m.kind != PAD_CONST) m.kind = PAD_UNKNOWN;
	return m;
}

static void of_broadcast(Padding *p, const Op *op)
{
	const Val *x = ir_in(op, 0), *v = op->out[0];
	if (!padded(p, x)) return;
	PadAxis *a = pads_new(p, v);
	int more = v->type->rank - x->type->rank;
	for (int i = more; i < v->type->rank; i++) a[i] = pad_at(p, x, i - more);
}

/* What two tiles hold outside, for a tile that has the elements of both. */
static PadAxis beside(const Padding *p, PadAxis a, PadAxis b)
{
	if (a.kind == PAD_NONE) return b;
	if (b.kind == PAD_NONE) return a;
	bool same = a.kind == PAD_CONST && b.kind == PAD_CONST && a.c.i == b.c.i && same_end(p, a, b);
	return same ? a : (PadAxis){ .kind = PAD_UNKNOWN };
}

static PadAxis moved_by(const Op *op, PadAxis a)
{
	if (a.kind != PAD_NONE) a.moved = op;
	return a;
}

/* Lengths are powers of two, so an axis is a field of the bits of the place in row-major order. An axis of the result
 * holds pads of an axis of x if it has that axis's upper bits: with its lower ones alone it holds them only where the
 * tensor's extent is no multiple of what they count, which groups of elements usually are. */
static void of_reshape(Padding *p, const Op *op)
{
	const Val *x = ir_in(op, 0), *v = op->out[0];
	if (!padded(p, x)) return;
	PadAxis *a = pads_new(p, v);
	for (int i = v->type->rank - 1, low = 0; i >= 0; low += v->type->log2[i--]) {
		int high = low + v->type->log2[i];
		for (int k = x->type->rank - 1, from = 0; k >= 0; from += x->type->log2[k--]) {
			int end = from + x->type->log2[k];
			if (from >= high || end <= low) continue;
			PadAxis b = pad_at(p, x, k);
			if (b.kind != PAD_NONE && end > high) b.kind = PAD_UNKNOWN;
			a[i] = beside(p, a[i], from == low && end == high ? b : moved_by(op, b));
		}
	}
}

static void of_permute(Padding *p, const Op *op)
{
	const IrAttr *axes = ir_attr(op, AT_AXES);
	if (!padded(p, ir_in(op, 0))) return;
	PadAxis *a = pads_new(p, op->out[0]);
	for (int i = 0; axes && i < axes->u.ints.n; i++) a[i] = pad_at(p, ir_in(op, 0), (int)axes->u.ints.p[i]);
}

/* A part at a constant place has the pads that lie there. */
static PadAxis extracted(const Op *op, PadAxis a, int axis)
{
	int64_t n = type_extent(op->out[0]->type, axis);
	Num at;
	if (a.kind == PAD_NONE || n == type_extent(ir_in(op, 0)->type, axis)) return a;
	if (a.moved || !ir_const_value(ir_in(op, 1 + axis), &at)) return (PadAxis){ .kind = PAD_UNKNOWN };
	a.from += at.i * n;
	a.end = a.from + n;
	return moved_by(op, a);
}

/* Elements moved towards higher or lower indices: those that leave are gone. */
static PadAxis shifted(const Op *op, PadAxis a)
{
	int64_t by = ir_int(op, AT_SHIFT, 0);
	if (a.kind == PAD_NONE) return a;
	if (a.moved || by <= a.from - a.end || by >= a.end - a.from) return (PadAxis){ .kind = PAD_UNKNOWN };
	if (by > 0) a.end -= by;
	else a.from -= by;
	return moved_by(op, a);
}

/* Elements of the first tile at chosen places along an axis: the other axes are as they were. */
static PadAxis taken(const Padding *p, const Op *op, PadAxis a, int axis)
{
	bool here = axis == ir_axis(op);
	if (here && (a.kind != PAD_NONE || pad_at(p, ir_in(op, 1), axis).kind != PAD_NONE)) a.kind = PAD_UNKNOWN;
	return a;
}

static PadAxis moved_along(const Padding *p, const Op *op, const Val *v, int axis)
{
	PadAxis a = pad_at(p, ir_in(op, 0), axis), unknown = { .kind = PAD_UNKNOWN };
	switch (op->code) {
	case OP_EXTRACT: return extracted(op, a, axis);
	case OP_SHIFT: return axis == ir_axis(op) ? shifted(op, a) : a;
	case OP_TAKE: return taken(p, op, a, axis);
	case OP_SPLIT: return a;
	case OP_TOPK: return a.kind != PAD_NONE && (axis == ir_axis(op) || v != op->out[0]) ? unknown : a;
	default: break;
	}
	if (op_has(op, OPF_SOME)) return unknown;
	for (int i = 1; i < op->nin; i++) a = beside(p, a, pad_at(p, ir_in(op, i), axis));
	return op->code == OP_JOIN || axis != ir_axis(op) ? a : moved_by(op, a);
}

static void of_move(Padding *p, const Op *op)
{
	bool any = false;
	for (int i = 0; i < op->nin; i++) any |= padded(p, ir_in(op, i));
	for (int k = 0; any && k < op->nout; k++) {
		const Val *v = op->out[k];
		PadAxis *a = pads_new(p, v);
		for (int i = 0; i < v->type->rank; i++)
			if (v->type->log2[i]) a[i] = moved_along(p, op, v, i);
	}
}

/* ---- reductions ---- */
/* The value that does not change the result; false: this reduction has none to speak of here. */
static bool neutral(OpCode code, Elem e, Num *n)
{
	if (monoid_kind(code) == KIND_CUSTOM && code != OP_TOPK) return false;
	*n = monoid_begin(code == OP_TOPK ? OP_REDUCE_MAX : code, e);
	return true;
}

/* The reduction that an operation is: one with a function of the author's that combines its two arguments by one
 * operation is that operation's. */
static OpCode reduces_as(const Op *op)
{
	if (op->code != OP_REDUCE && op->code != OP_SCAN) return op->code;
	const Op *end = op->nout == 1 ? op->region[0]->last : NULL;
	const Op *by = end && end->nin == 1 ? ir_in(end, 0)->def : NULL;
	if (!by || by->nin != 2 || ir_in(by, 0) == ir_in(by, 1)) return op->code;
	for (int i = 0; i < 2; i++)
		if (ir_in(by, i)->def || ir_in(by, i)->block != op->region[0]) return op->code;
	OpCode code = monoid_reduction(by->code);
	return code == OP_COUNT ? op->code : code;
}

static bool harmless(const Padding *p, const Op *op, const Val *x, PadAxis a, Num zero)
{
	Elem e = x->type->elem;
	if (a.kind != PAD_CONST) return false;
	bool flt = elem_is_any_float(e);
	if (flt ? a.c.f == zero.f : a.c.i == zero.i) return true;
	if (flt && isnan(a.c.f)) return false;
	double c = flt ? a.c.f : (double)a.c.i;
	Reach r = value_reach(x);
	/* ties give the lowest index, and what is outside comes last unless the tile may begin outside */
	bool place = op->code == OP_MAX_ELEMENT || op->code == OP_MIN_ELEMENT || op->code == OP_TOPK;
	bool last = !place
		|| (!a.moved && facts_le(p->vs->facts, sym_const(0), valsym_access(p->vs, a.load, a.axis)));
	OpCode code = reduces_as(op);
	if (code == OP_REDUCE_MAX || op->code == OP_MAX_ELEMENT || op->code == OP_TOPK)
		return last ? c <= r.lo : c < r.lo;
	if (code == OP_REDUCE_MIN || op->code == OP_MIN_ELEMENT) return last ? c >= r.hi : c > r.hi;
	return false;
}

static bool proved_inside(const Padding *p, PadAxis a)
{
	const Sym *at = valsym_access(p->vs, a.load, a.axis), *ext = valsym_extent(p->vs, ir_in(a.load, 0), a.axis);
	const Sym *end = sym_add(at, sym_const(a.end));
	return ext && facts_le(p->vs->facts, sym_const(-a.from), at) && facts_le(p->vs->facts, end, ext);
}

/* The text of a call between its parentheses mentions a pad: the author has chosen it. */
static bool chosen(Span at)
{
	const Src *s = src_of(at);
	for (uint32_t i = at.lo; s && i + 4 <= at.hi; i++)
		if (!strncmp(s->text + (i - s->base), "pad:", 4)) return true;
	return false;
}

/* The mask of the elements that a load takes from inside, for values of its shape. */
static Str mask_text(PadAxis a, const Type *of)
{
	const Op *load = a.load;
	if (a.moved || !type_is_tile(of) || !type_same_shape(of, load->out[0]->type))
		return str_intern("t.mask(index, shape)");
	Str text = span_source(load->span), at = strstr(text, ".load(");
	if (!at || str_len(text) > 60 || strchr(text, ':') || strstr(at + 1, ".load"))
		return str_intern("t.mask(index, shape)");
	return str_fmt("%.*s.mask(%s", (int)(at - text), text, at + 6);
}

/* How an operand may be named in a remedy. */
static Str operand_text(const Val *x)
{
	Str text = x->def ? span_source(x->def->span) : NULL;
	size_t n = text ? str_len(text) : 0;
	/* that of an operation with two operands is its operator */
	bool whole = n && n <= 30 && (isalnum((unsigned char)text[n - 1]) || strchr(")]", text[n - 1]));
	return x->name ? x->name : whole ? text : str_intern("..");
}

static void help_pad(Diag *d, const Val *x, PadAxis a, Num zero)
{
	Elem e = x->type->elem;
	const Src *s = src_of(a.load->span);
	bool call = s && a.load->span.hi > s->base && s->text[a.load->span.hi - 1 - s->base] == ')';
	if (!a.plain || chosen(a.load->span) || !call) {
		diag_help(d, "`select(%s, %s, %s)` takes them out before%s", mask_text(a, x->type),
			a.moved ? str_intern("..") : operand_text(x), ir_num_text(e, zero),
			a.moved ? str_fmt(" `%s` moves them", op_rows[a.moved->code].name) : str_intern(""));
		return;
	}
	Str pad = str_fmt(", pad: %s", ir_num_text(e, zero));
	diag_help(d, "let them read %s: write `%s` in the load", ir_num_text(e, zero), pad + 2);
	diag_edit(d, (Span){ a.load->span.hi - 1, a.load->span.hi - 1 }, pad);
}

/* Whether a maximum or minimum with something that is as great or as small follows wherever v is used. */
typedef struct Absorbs { const Val *v; OpCode by; double c; bool any, other; } Absorbs;

static void note_user(void *ctx, Op *op)
{
	Absorbs *a = ctx;
	for (int i = 0; i < op->nin; i++) {
		if (ir_in(op, i) != a->v) continue;
		a->any = true;
		Reach r = op->code == a->by ? value_reach(ir_in(op, !i)) : (Reach){ -INFINITY, INFINITY };
		a->other |= !(a->by == OP_MAX ? r.lo >= a->c : r.hi <= a->c);
	}
}

static bool absorbed(const Padding *p, const Op *op, PadAxis a)
{
	Elem e = op->out[0]->type->elem;
	OpCode code = reduces_as(op);
	bool max = code == OP_REDUCE_MAX;
	if (a.kind != PAD_CONST || (!max && code != OP_REDUCE_MIN)) return false;
	Absorbs w = { op->out[0], max ? OP_MAX : OP_MIN, elem_is_any_float(e) ? a.c.f : (double)a.c.i, false, false };
	ir_walk(p->vs->fn->body, note_user, &w);
	return w.any && !w.other;
}

/* The operation by the name that the author wrote: `argmin`, where the IR has min_element. */
static Str written_name(const Op *op)
{
	Str text = span_source(op->span);
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
	OpCode code;
	bool call = n && text[n] == '(' && op_by_name(str_intern_n(text, n), &code);
	return call ? str_intern_n(text, n) : op_rows[op->code].name;
}

/* zero: a pad that does no harm, or NULL where the type has none */
static Diag *warn_entered(const Padding *p, const Op *op, const Val *x, PadAxis a, const Num *zero)
{
	const IrParam *root = valsym_root(p->vs, ir_in(a.load, 0));
	Elem e = x->type->elem;
	if (!root || (zero && a.plain && chosen(a.load->span)) || proved_inside(p, a)) return NULL;
	bool known = a.kind == PAD_CONST;
	Str as = str_fmt(known ? "as %s" : "as something else than %s", ir_num_text(e, known ? a.c : *zero));
	Diag *d = diag(D_PAD_ENTERS, op->span, root->name, written_name(op), as);
	diag_label(d, a.load->span, "may reach beyond axis %d of `%s`", a.axis, root->name);
	return d;
}

static Diag *enter(const Padding *p, const Op *op, const Val *x, PadAxis a, Num zero)
{
	Diag *d = warn_entered(p, op, x, a, &zero);
	if (d) help_pad(d, x, a, zero);
	return d;
}

static void taken_in(const Padding *p, const Op *op)
{
	const Val *x = ir_in(op, 0);
	PadAxis a = pad_at(p, x, ir_axis(op));
	Num zero;
	if ((a.kind != PAD_CONST && a.kind != PAD_OTHER) || !neutral(reduces_as(op), x->type->elem, &zero)) return;
	if (!harmless(p, op, x, a, zero) && !absorbed(p, op, a)) enter(p, op, x, a, zero);
}

static void of_reduction(Padding *p, const Op *op)
{
	const Val *x = ir_in(op, 0), *v = op->out[0];
	int axis = ir_axis(op);
	Num zero;
	if (!padded(p, x) || !neutral(op->code, x->type->elem, &zero)) {
		if (padded(p, x)) all_unknown(p, v);
		return;
	}
	taken_in(p, op);
	PadAxis *r = pads_new(p, v);
	for (int i = 0; i < v->type->rank; i++) {
		r[i] = i == axis ? (PadAxis){ .kind = PAD_NONE } : pad_at(p, x, i);
		bool kept = r[i].kind == PAD_CONST && (op->code == OP_REDUCE_MAX || op->code == OP_REDUCE_MIN ||
			(op->code == OP_SUM && is_zero(x->type->elem, r[i].c)));
		if (r[i].kind != PAD_NONE && !kept) r[i].kind = PAD_UNKNOWN;
		r[i].plain = false;
	}
}

/* What sorts after all elements stays outside; what does not lies anywhere from here on. */
static void of_sort(Padding *p, const Op *op)
{
	const Val *x = ir_in(op, 0);
	Elem e = x->type->elem;
	bool down = ir_int(op, AT_DESCENDING, 0) != 0, flt = elem_is_any_float(e);
	PadAxis a = pad_at(p, x, ir_axis(op));
	if (a.kind != PAD_CONST || (flt && isnan(a.c.f)) || elem_is_ptr(e)) return;
	Num last = down ? (flt ? num_float(-INFINITY) : num_least(e)) : flt ? num_float(INFINITY) : num_greatest(e);
	double c = flt ? a.c.f : (double)a.c.i;
	Reach r = value_reach(x);
	if (e != EL_U64 && (down ? c <= r.lo : c >= r.hi)) return;
	if (e == EL_U64 && a.c.i == last.i) return;
	Diag *d = enter(p, op, x, a, last);
	bool adds_nothing = d && a.plain && is_zero(e, a.c);    /* where running sums of what is sorted follow */
	if (adds_nothing) diag_help(d, "`pad: zero` says that zeros are meant, which add nothing to a sum");
	p->of[op->out[0]->id][ir_axis(op)].kind = PAD_UNKNOWN;
}

/* The sum along a padded axis whose pads are zeros, or NULL; v: it, cast or in another shape. */
static const Op *padded_sum(const Padding *p, const Val *v, PadAxis *a)
{
	for (const Op *op = v->def; op; op = ir_in(op, 0)->def) {
		if (op->code == OP_SUM) {
			*a = pad_at(p, ir_in(op, 0), ir_axis(op));
			return a->kind == PAD_CONST && is_zero(ir_in(op, 0)->type->elem, a->c) ? op : NULL;
		}
		if (op->code != OP_CAST && op->code != OP_RESHAPE && op->code != OP_BROADCAST && op->code != OP_TO_SCALAR)
			return NULL;
	}
	return NULL;
}

/* The divisor of a mean is how many elements there are. */
static void of_mean(const Padding *p, const Op *op)
{
	PadAxis a;
	Num by;
	const Op *sum = ir_const_value(ir_in(op, 1), &by) ? padded_sum(p, ir_in(op, 0), &a) : NULL;
	const IrParam *root = sum ? valsym_root(p->vs, ir_in(a.load, 0)) : NULL;
	if (!root || proved_inside(p, a)) return;
	int64_t n = type_extent(ir_in(sum, 0)->type, ir_axis(sum));
	double d = elem_is_any_float(op->out[0]->type->elem) ? by.f : (double)by.i;
	if (n < 2 || d != (double)n) return;
	Diag *w = diag(D_MEAN, op->span, str_i64(n), str_i64(a.axis), root->name);
	diag_label(w, a.load->span, "may reach beyond axis %d of `%s`", a.axis, root->name);
	const Sym *ext = valsym_extent(p->vs, ir_in(a.load, 0), a.axis);
	if (ext) diag_help(w, "there are `%s` elements", sym_text(ext));
}

/* Pads are counted in the bin of their value. Where there is a bin for each value of the type, any pad is. */
static void of_histogram(Padding *p, const Op *op)
{
	const Val *x = ir_in(op, 0);
	Elem e = x->type->elem;
	int64_t bins = ir_int(op, AT_NUMBER, 0);
	for (int i = 0; i < x->type->rank; i++) {
		PadAxis a = pad_at(p, x, i);
		if (a.kind != PAD_CONST || a.c.i < 0 || a.c.i >= bins) continue;
		if (elem_is_signed(e) || num_greatest(e).i >= bins) {
			enter(p, op, x, a, elem_is_signed(e) ? num_int(-1) : num_greatest(e));
			return;
		}
		Diag *d = warn_entered(p, op, x, a, NULL);
		if (d)
			diag_help(d, "`select(%s, element_cast(%s, i32), -1)` takes them out: no pad of `%s` is "
				"outside of %lld bins",
				mask_text(a, x->type), operand_text(x), elem_name(e), (long long)bins);
		return;
	}
}

/* ---- products ---- */
/* A row of zeros times anything is 0, if nothing is added to it. */
static void of_product(Padding *p, const Op *op)
{
	const Val *v = op->out[0], *acc = ir_in(op, 2);
	int last = v->type->rank - 1;
	Num c;
	all_unknown(p, v);
	if (!ir_const_value(acc, &c) || !is_zero(acc->type->elem, c)) return;
	for (int i = 0; i < 2; i++) {
		const Val *x = ir_in(op, i);
		PadAxis a = pad_at(p, x, i ? last : last - 1);
		if (a.kind == PAD_NONE) p->of[v->id][i ? last : last - 1] = a;
		if (a.kind != PAD_CONST || !is_zero(x->type->elem, a.c)) continue;
		a.c = num_zero(v->type->elem);
		a.plain = false;
		p->of[v->id][i ? last : last - 1] = a;
	}
}

/* ---- indices of stores ---- */
/* What is stored outside changes nothing, or is not known to change anything. */
static bool stores_nothing(const Padding *p, const Op *op, const Val *value, int axis)
{
	PadAxis a = pad_at(p, value, axis);
	Num c = a.c;
	if (a.kind == PAD_UNKNOWN) return true;
	if (op->code != OP_ATOMIC_RMW) return false;
	Str how = attr_word_text(AT_RMW, (int)ir_int(op, AT_RMW, 0));
	if (!strcmp(how, "xchg")) return false;
	bool sums = !strcmp(how, "add") || !strcmp(how, "sub") || !strcmp(how, "or") || !strcmp(how, "xor");
	if (!sums || a.kind == PAD_OTHER || (a.kind == PAD_NONE && !ir_const_value(value, &c))) return true;
	return is_zero(value->type->elem, c);
}

/* A pad that is a place in the tensor, and no other index of the element is outside. */
static bool is_place(const Padding *p, const Op *op, int rank, int axis, PadAxis *found)
{
	for (int k = 0; k < rank; k++) {
		const Val *index = ir_in(op, 1 + k);
		const Sym *ext = valsym_extent(p->vs, ir_in(op, 0), k);
		PadAxis a = pad_at(p, index, axis);
		int64_t end;
		if (a.kind == PAD_NONE) continue;
		if (a.kind != PAD_CONST || a.c.i < 0 || (ext && sym_is_const(ext, &end) && a.c.i >= end)) return false;
		if (!found->load) *found = a;
	}
	return found->load != NULL;
}

static void help_index(Diag *d, const Op *op, const Val *value, PadAxis a)
{
	Elem e = a.load->out[0]->type->elem;
	const Src *s = src_of(a.load->span);
	bool call = s && a.load->span.hi > s->base && s->text[a.load->span.hi - 1 - s->base] == ')';
	if (!a.plain || !elem_is_signed(e) || !call) {
		diag_help(d, "`mask: %s` in the %s leaves them out", mask_text(a, value->type),
			op->code == OP_SCATTER ? "scatter" : "atomic operation");
		return;
	}
	diag_help(d, "let them read -1, which is outside of every tensor: write `pad: -1` in the load");
	diag_edit(d, (Span){ a.load->span.hi - 1, a.load->span.hi - 1 }, ", pad: -1");
}

static void of_indices(Padding *p, const Op *op)
{
	int rank = ir_in(op, 0)->type->rank, values = op->code == OP_ATOMIC_CAS ? 2 : 1;
	const Val *value = ir_in(op, 1 + rank);
	if (op->nin != 1 + rank + values || !type_is_tile(value->type)) return;
	for (int i = 0; i < value->type->rank; i++) {
		PadAxis a = { .kind = PAD_NONE };
		if (!is_place(p, op, rank, i, &a) || (a.plain && chosen(a.load->span))) continue;
		if (proved_inside(p, a) || stores_nothing(p, op, value, i)) continue;
		const IrParam *root = valsym_root(p->vs, ir_in(a.load, 0)), *to = valsym_root(p->vs, ir_in(op, 0));
		if (!root || !to) return;
		Diag *d = diag(D_PAD_INDEX, op->span, root->name, str_i64(a.c.i), to->name);
		diag_label(d, a.load->span, "may reach beyond axis %d of `%s`", a.axis, root->name);
		help_index(d, op, value, a);
		return;
	}
}

void padding_op(Padding *p, const Op *op)
{
	unsigned flags = op_rows[op->code].flags;
	if (op->code == OP_HISTOGRAM) of_histogram(p, op);
	if (op->code == OP_TOPK) taken_in(p, op);
	if (flags & OPF_SCAN && ir_int(op, AT_DIRECTION, 0)) taken_in(p, op);
	if (op->code == OP_REDUCE && !ir_attr(op, AT_AXES)) taken_in(p, op);
	if (op->code == OP_DIV) of_mean(p, op);
	if (op->code == OP_SCATTER || op->code == OP_ATOMIC_RMW || op->code == OP_ATOMIC_CAS || op->code == OP_ATOMIC_STORE)
		of_indices(p, op);
	if (flags & (OPF_ALL | OPF_SOME)) {
		of_move(p, op);
		if (op->code == OP_SORT) of_sort(p, op);
		return;
	}
	if (op->nregion || op->nout != 1) {
		for (int i = 0; i < op->nout; i++) all_unknown(p, op->out[i]);
		return;
	}
	const Val *v = op->out[0];
	if (!type_is_tile(v->type)) return;
	if (op->code == OP_LOAD) of_load(p, op);
	else if (op->code == OP_BROADCAST) of_broadcast(p, op);
	else if (op->code == OP_RESHAPE) of_reshape(p, op);
	else if (op->code == OP_PERMUTE) of_permute(p, op);
	else if (op->code == OP_MMA) of_product(p, op);
	else if (op->code == OP_HINT) p->of[v->id] = p->of[ir_in(op, 0)->id];
	else if (flags & OPF_REDUCE) of_reduction(p, op);
	else if (flags & OPF_ELEMWISE && op->code != OP_BITCAST) {
		PadAxis *a = NULL;
		for (int i = 0; i < v->type->rank; i++) {
			PadAxis r = elementwise(p, op, i);
			if (r.kind == PAD_NONE || !v->type->log2[i]) continue;
			if (!a) a = pads_new(p, v);
			a[i] = r;
		}
	} else {
		bool any = (flags & OPF_READ) != 0;
		for (int i = 0; i < op->nin; i++) any |= padded(p, ir_in(op, i));
		if (any) all_unknown(p, v);
	}
}
