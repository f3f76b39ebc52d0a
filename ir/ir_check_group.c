/* Ops of roles, rings, mbarriers and copies by hardware (OPF_GROUP): operands, results and where they may stand, each
 * op by itself. What they mean together, the protocol, is ir_protocol.c.
 *
 * Their signatures in ops.def are `operands -> results {attributes without which they mean nothing}`. Operands and
 * results are words of letters, in order: m mbarriers, c cursor, x cursor or i32, i i32, b bool, s shared
 * buffer, f frag, p pointer to i32, r ring, t tensor map, v view, T tile, A async, R tile or async, P pointer or shared
 * buffer, F shared buffer or async;
 * `*` repeats the letter before it any number of times, `?` makes it optional. */
#include <string.h>

#include "base/diag.h"
#include "ir/ir_check.h"
#include "ir/ir_regs.h"
#include "layout/lay.h"
#include "layout/tma.h"

static const char *results_of(const char *sig)
{
	const char *arrow = strstr(sig, "->");
	return arrow ? arrow + 2 : "";
}

static uint64_t attr_bit(const char *name, size_t n)
{
	for (int key = 0; key < 64 && key < AT_COUNT; key++)
		if (!strncmp(attr_rows[key].name, name, n) && !attr_rows[key].name[n]) return UINT64_C(1) << key;
	bug("a signature names an attribute that does not exist: %s", name);
}

uint64_t chk_group_needs(OpCode code)
{
	uint64_t needs = 0;
	const char *p = strchr(op_rows[code].sig, '{');
	if (!p) return 0;
	for (p++; *p && *p != '}'; p += strspn(p, ", ")) {
		size_t n = strcspn(p, ",}");
		needs |= attr_bit(p, n);
		p += n;
	}
	return needs;
}

static const char *letter_text(char l)
{
	switch (l) {
	case 'm': return "mbarriers";
	case 'c': return "a cursor";
	case 'x': return "a cursor or an i32 scalar";
	case 'i': return "an i32 scalar";
	case 'b': return "a bool scalar";
	case 's': return "a shared buffer";
	case 'r': return "a ring";
	case 'f': return "a fragment";
	case 't': return "a tensor map";
	case 'v': return "a view";
	case 'T': return "a tile";
	case 'A': return "async";
	case 'R': return "a tile or async";
	case 'p': return "a pointer to i32, or a view of one axis of them";
	case 'P': return "a pointer, a view of one axis or a shared buffer";
	default: return "a shared buffer or async";
	}
}

static bool is_scalar(const Type *t, Elem e) { return type_is_scalar(t) && t->elem == e; }

static bool fits(char l, const Type *t)
{
	switch (l) {
	case 'm': return t->kind == TY_MBAR;
	case 'c': return t->kind == TY_CURSOR;
	case 'x': return t->kind == TY_CURSOR || is_scalar(t, EL_I32);
	case 'i': return is_scalar(t, EL_I32);
	case 'b': return is_scalar(t, EL_BOOL);
	case 's': return t->kind == TY_SHARED;
	case 'r': return t->kind == TY_RING;
	case 'f': return t->kind == TY_FRAG;
	case 't': return t->kind == TY_TMAP;
	case 'v': return t->kind == TY_VIEW;
	case 'T': return type_is_tile(t);
	case 'A': return t->kind == TY_ASYNC;
	case 'R': return type_is_tile(t) || t->kind == TY_ASYNC;
	case 'p': return is_scalar(t, elem_ptr_to(EL_I32)) || (t->kind == TY_VIEW && t->elem == EL_I32 && t->rank == 1);
	case 'P': return t->kind == TY_SHARED || (type_is_scalar(t) && elem_is_ptr(t->elem))
		|| (t->kind == TY_VIEW && t->rank == 1);
	default: return t->kind == TY_SHARED || t->kind == TY_ASYNC;
	}
}

static bool chk_word(Check *c, const Op *op, const char *word, int n, bool result)
{
	const char *what = result ? "result" : "operand";
	int at = 0;
	for (const char *p = word; *p && *p != '-' && *p != '{'; p++) {
		if (*p == ' ') continue;
		bool many = p[1] == '*', maybe = p[1] == '?';
		NEED(many || maybe || at < n, "%s %d is missing: %s", what, at, letter_text(*p));
		while (at < n) {
			const Type *t = result ? chk_out(op, at) : chk_in(op, at);
			NEED(fits(*p, t), "%s %d must be %s, is `%s`", what, at, letter_text(*p), type_text(t));
			at++;
			if (!many) break;
		}
		p += many || maybe;
	}
	NEED(at == n, "%d %ss given, %d needed", n, what, at);
	return true;
}

/* ---- single rules ---- */
static bool chk_count(Check *c, const Op *op, int a, int b)
{
	const Type *s = chk_in(op, a), *t = chk_in(op, b);
	NEED(t->kind != TY_CURSOR || s->count == t->count, "the cursor is of %d places, the %s of %d", t->count,
		s->kind == TY_RING ? "ring" : "mbarriers", s->count);
	return true;
}

static bool chk_swizzle(Check *c, const Op *op)
{
	int64_t s = ir_int(op, AT_SWIZZLE, 0);
	NEED(s == 0 || s == 32 || s == 64 || s == 128, "`swizzle` is 32, 64 or 128");
	return true;
}

bool chk_ring(Check *c, const Op *op)
{
	const Type *t = chk_out(op, 0);
	int64_t place = ir_int(op, AT_SLOT, 0), span = ir_int(op, AT_SWIZZLE, 0);
	if (!chk_swizzle(c, op)) return false;
	NEED(t->rank >= 1, "a buffer has rows");
	NEED(place >= 0 && place % (span ? 1024 : 16) == 0, "`slot` is a multiple of %d here", span ? 1024 : 16);
	if (!span) return true;
	int64_t row = type_extent(t, t->rank - 1) * elem_bytes(t->elem), rows = type_size(t) / type_extent(t, t->rank - 1);
	NEED(row % span == 0, "rows of %lld bytes are no multiple of the swizzle's %lld", (long long)row, (long long)span);
	NEED(rows * span % 1024 == 0, "buffers of %lld rows do not keep the swizzle's 1024-byte pattern", (long long)rows);
	return true;
}

bool chk_mbars(Check *c, const Op *op)
{
	int64_t n = ir_int(op, AT_NUMBER, 0);
	NEED(ir_int(op, AT_SLOT, 0) % 8 == 0, "`slot` is a multiple of 8");
	NEED(n >= 1 && n < 1 << 20, "`count` is 1 to 2^20 - 1");
	return true;
}

bool chk_slot(Check *c, const Op *op)
{
	NEED(chk_out(op, 0)->elem == chk_in(op, 0)->elem && type_same_shape(chk_out(op, 0), chk_in(op, 0)),
		"the result is one of the ring's buffers");
	return chk_count(c, op, 0, 1);
}

bool chk_advance(Check *c, const Op *op)
{
	NEED(chk_in(op, 0) == chk_out(op, 0), "the result has the operand's type");
	return true;
}

bool chk_mbar_at(Check *c, const Op *op) { return chk_count(c, op, 0, 1); }

bool chk_arrive(Check *c, const Op *op)
{
	NEED(op->nin < 3 || c->fn->cluster > 1, "a mask of ranks needs a cluster");
	return chk_mbar_at(c, op);
}

bool chk_grid_barrier(Check *c, const Op *op)
{
	NEED(ir_int(op, AT_NUMBER, 0) >= 2, "a barrier of at least two thread blocks");
	return true;
}

bool chk_one_i32(Check *c, const Op *op)
{
	NEED(chk_in(op, 0)->elem == EL_I32 && type_size(chk_in(op, 0)) == 1, "the buffer holds one i32");
	return true;
}

bool chk_part(Check *c, const Op *op)
{
	const Type *s = chk_in(op, 0), *t = chk_out(op, 0);
	NEED(op->nin == 1 + s->rank, "one index for each axis needed");
	NEED(t->rank == s->rank && t->elem == s->elem, "a part has the buffer's rank and elements");
	for (int i = 0; i < s->rank; i++)
		NEED(type_extent(t, i) <= type_extent(s, i), "a part of %lld of %lld elements along axis %d",
			(long long)type_extent(t, i),
			(long long)type_extent(s, i), i);
	return true;
}

/* A buffer is filled by boxes: the box without leading axes of one element divides it. */
static bool chk_boxes(Check *c, const Type *s, const Type *box, int ncoord)
{
	int skip = box->rank - s->rank;
	NEED(skip >= 0 && box->elem == s->elem, "boxes `%s` do not fill `%s`", type_text(box), type_text(s));
	for (int i = 0; i < box->rank; i++) {
		int64_t n = type_extent(box, i), of = i < skip ? 1 : type_extent(s, i - skip);
		NEED(of % n == 0, "boxes `%s` do not fill `%s`", type_text(box), type_text(s));
	}
	for (int i = 0; i < box->rank - 2; i++)
		NEED(type_extent(box, i) == 1, "a box has two axes, the ones before are of one element");
	for (int i = 0; i < s->rank - 2; i++) NEED(type_extent(s, i) == 1, "a buffer that boxes fill has two axes");
	NEED(ncoord == box->rank, "%d coordinates needed", box->rank);
	return true;
}

bool chk_tma(Check *c, const Op *op)
{
	bool load = op->code == OP_TMA_LOAD;
	int mask = load && ir_int(op, AT_MULTICAST, 0);
	NEED(!mask || c->fn->cluster > 1, "`multicast` needs a cluster");
	if (load && !chk_count(c, op, 2, 3)) return false;
	return chk_boxes(c, chk_in(op, load ? 0 : 1), chk_in(op, load ? 1 : 0), op->nin - (load ? 4 + mask : 2));
}

bool chk_tmap(Check *c, const Op *op)
{
	const Type *v = chk_in(op, 0), *t = chk_out(op, 0);
	if (!chk_swizzle(c, op)) return false;
	NEED(t->rank == v->rank && t->elem == v->elem, "a box has the tensor's rank and elements");
	int64_t row = t->rank ? type_extent(t, t->rank - 1) * elem_bytes(t->elem) : 0, span = ir_int(op, AT_SWIZZLE, 0);
	for (int i = 0; i < t->rank; i++)
		NEED(type_extent(t, i) <= TMA_BOX_MOST, "a box has at most 256 elements along an axis");
	const Val *view = ir_in(op, 0);
	while (view->def && view->def->code == OP_PERMUTE) view = ir_in(view->def, 0);
	NEED(!view->def && view->block == c->fn->body, "a tensor map is of a parameter, perhaps permuted");
	NEED(t->rank >= 1 && row % TMA_STRIDE_ALIGN == 0, "rows of a box are a multiple of 16 bytes");
	NEED(!span || row <= span, "rows of a box are at most the swizzle's %lld bytes", (long long)span);
	return true;
}

bool chk_pending(Check *c, const Op *op)
{
	int64_t n = ir_int(op, AT_PENDING, 0);
	NEED(n >= 0 && n <= 7, "`pending` is 0 to 7");
	return true;
}

bool chk_stmatrix(Check *c, const Op *op)
{
	const Type *s = chk_in(op, 0), *t = chk_in(op, 1);
	NEED(elem_bytes(t->elem) == 2 && s->elem == t->elem, "16-bit elements of one type needed");
	bool trans = ir_int(op, AT_TRANS, 0);
	NEED(s->rank == 2 && t->rank == 2 && type_extent(t, 0) == 64 && type_extent(t, 1) % 16 == 0
		&& regs_wgmma(ir_in(op, 1), 0) == 0,
		"the tile is [64, 16 n] in the layout of a wgmma result");
	NEED(type_extent(s, 0) == type_extent(t, trans) && type_extent(s, 1) == type_extent(t, !trans),
		"the tile `%s` does not fill `%s`",
		type_text(t), type_text(s));
	return true;
}

static bool same_values(Check *c, const Op *op)
{
	NEED(op->nin == op->nout, "one result for each operand needed");
	for (int i = 0; i < op->nin; i++) {
		const Type *a = chk_in(op, i), *r = chk_out(op, i);
		NEED(a->elem == r->elem && type_same_shape(a, r), "operand %d is `%s`, its result `%s`", i, type_text(a),
			type_text(r));
		NEED(lay_eq(*ir_in(op, i)->lay, *op->out[i]->lay), "the layout of operand %d changes", i);
	}
	return true;
}

bool chk_wgmma_fence(Check *c, const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		NEED(chk_in(op, i)->elem == EL_F32 || elem_bytes(chk_in(op, i)->elem) == 2, "f32 or 16-bit elements are lent");
	return same_values(c, op);
}

bool chk_wgmma_wait(Check *c, const Op *op)
{
	for (int i = 0; i < op->nin; i++) NEED(chk_in(op, i)->elem == EL_F32, "factors are not given back");
	return chk_pending(c, op) && same_values(c, op);
}

bool chk_wgmma(Check *c, const Op *op)
{
	const Type *d = chk_in(op, 0), *a = chk_in(op, 1), *b = chk_in(op, 2);
	bool amn = ir_int(op, AT_A_MAJOR, 0), bmn = ir_int(op, AT_B_MAJOR, 0);
	NEED(chk_out(op, 0) == d && lay_eq(*ir_in(op, 0)->lay, *op->out[0]->lay),
		"the result has the accumulator's type and layout");
	NEED(d->rank == 2 && a->rank == 2 && b->rank == 2, "matrices needed");
	int64_t m = type_extent(d, 0), n = type_extent(d, 1), k = type_extent(a, amn ? 0 : 1);
	NEED(a->elem == b->elem && elem_bytes(a->elem) <= 4, "both factors have one element type");
	NEED(type_extent(a, amn ? 1 : 0) == m && type_extent(b, bmn ? 1 : 0) == n && type_extent(b, bmn ? 0 : 1) == k,
		"[%lld, %lld] is not the product of `%s` and `%s`", (long long)m, (long long)n, type_text(a), type_text(b));
	NEED(m % 64 == 0 && n % 8 == 0 && n <= 256, "wgmma has 64 rows and 8 to 256 columns, a multiple of 8");
	NEED(k * elem_bytes(a->elem) % 32 == 0, "the depth is a multiple of 32 bytes");
	NEED(!(amn || bmn) || elem_bytes(a->elem) == 2, "only 16-bit factors may be contiguous along m or n");
	NEED(!amn || a->kind == TY_SHARED, "a factor in registers is contiguous along k");
	NEED(d->elem == EL_F32, "the accumulator is f32");
	NEED(elem_is_any_float(a->elem) && a->elem != EL_F32 && a->elem != EL_F64, "wgmma multiplies no `%s`",
		elem_name(a->elem));
	for (int i = 0; i < m / 64; i++)
		NEED(regs_wgmma(op->out[0], (int)i) >= 0, "the accumulator is not in the layout of a wgmma result");
	NEED(a->kind == TY_SHARED || (elem_bytes(a->elem) == 2 && m == 64 && regs_wgmma(ir_in(op, 1), 0) == 0),
		"a factor in registers is [64, k] of 16-bit elements in the layout of a wgmma result");
	return true;
}

/* A parameter, perhaps permuted, whose last axis is known to be contiguous. */
static bool chk_contiguous(Check *c, const Val *v)
{
	int axis = v->type->rank - 1;
	int64_t stride;
	for (; v->def && v->def->code == OP_PERMUTE; v = ir_in(v->def, 0))
		axis = (int)ir_attr(v->def, AT_AXES)->u.ints.p[axis];
	NEED(!v->def && v->block == c->fn->body, "the view is a parameter, perhaps permuted");
	NEED(axis >= 0 && sym_is_const(c->fn->params.p[v->index].stride[axis], &stride) && stride == 1,
		"the view is contiguous along its last axis");
	return true;
}

bool chk_shifted(Check *c, const Op *op)
{
	const Type *t = chk_out(op, 0), *v = chk_in(op, 0);
	uint8_t bit[LAY_BITS];
	NEED(v->rank == 2 && t->rank == 2 && v->elem == t->elem && elem_bytes(t->elem) == 2, "a matrix of 16-bit elements");
	NEED(lay_run(*op->out[0]->lay, 1, bit) >= 3, "each thread holds 8 neighbours along the last axis");
	for (int i = 0; i < 3; i++) NEED(bit[i] == i, "each thread holds 8 neighbours in adjacent registers");
	return chk_contiguous(c, ir_in(op, 0));
}

bool chk_prefetch_rows(Check *c, const Op *op)
{
	NEED(chk_in(op, 0)->rank == 2, "a view of two axes");
	return chk_contiguous(c, ir_in(op, 0));
}

bool chk_cut(Check *c, const Op *op)
{
	const Type *s = chk_in(op, 0), *t = chk_out(op, 0);
	const IrAttr *at = ir_attr(op, AT_OFFSETS);
	ArenaMark mark = arena_mark(A_TMP);
	int *where = NEW_ARRAY(A_TMP, int, regs_count(op->out[0]));
	NEED(s->rank == 2, "a part of a matrix");
	NEED(t->rank == s->rank && t->elem == s->elem, "the part has the tile's rank and elements");
	for (int i = 0; i < s->rank; i++) {
		int64_t o = at->u.ints.p[i];
		NEED(o >= 0 && o + type_extent(t, i) <= type_extent(s, i) && o % type_extent(t, i) == 0,
			"axis %d: %lld elements from %lld on are no part of %lld", i, (long long)type_extent(t, i), (long long)o,
			(long long)type_extent(s, i));
	}
	NEED(regs_cut(op->out[0], ir_in(op, 0), at->u.ints.p, where), "that part of the tile is in other threads");
	NEED(op->nin < 2 || where[regs_count(op->out[0]) - 1] == where[0] + regs_count(op->out[0]) - 1,
		"only parts that are adjacent registers are counted");
	arena_release(A_TMP, mark);
	return true;
}

bool chk_regs(Check *c, const Op *op)
{
	const Type *p = chk_in(op, 0), *t = op->code == OP_STORE_REGS ? chk_in(op, 1) : chk_out(op, 0);
	NEED(p->kind == TY_SHARED || p->elem == (p->kind == TY_VIEW ? t->elem : elem_ptr_to(t->elem)),
		"`%s` is no place for `%s`", type_text(p), type_text(t));
	NEED(p->kind != TY_SHARED || (p->elem == t->elem && type_size(p) == type_size(t)), "`%s` is no place for `%s`",
		type_text(p),
		type_text(t));
	NEED(op->code == OP_STORE_REGS || op->nin < 2 || (chk_in(op, 1) == t && t->elem == EL_F32),
		"a tile of f32 is added to, of the result's type");
	NEED(op->nin < 3 || p->kind == TY_SHARED, "only shared memory belongs to a rank");
	NEED(op->nin < 3 || c->fn->cluster > 1, "a rank needs a cluster");
	NEED(type_size(t) / 128 * elem_bytes(t->elem) % 16 == 0, "a thread's registers are a multiple of 16 bytes");
	return true;
}

static bool chk_role(Check *c, const Op *op)
{
	int64_t warps = ir_int(op, AT_WARPS, 4), groups = ir_int(op, AT_GROUPS, 1), regs = ir_int(op, AT_REGS, 0);
	const IrBlock *b = op->region[0];
	NEED(!op->parent->owner, "a role stands in the kernel's body");
	NEED(b->args.n == 1 && is_scalar(b->args.p[0]->type, EL_I32), "one argument, the group's number, i32");
	NEED(warps >= 1 && groups >= 1 && warps * groups <= 32, "a thread block has at most 32 warps");
	NEED(warps == 1 || warps % 4 == 0, "a group is a warp or whole warpgroups");
	NEED(!regs || (warps % 4 == 0 && regs % 8 == 0 && regs >= 24 && regs <= 256),
		"`regs` is a multiple of 8 from 24 to 256, of warpgroups");
	return true;
}

bool chk_group_region(Check *c, const Op *op)
{
	NEED(op->nregion == 1 && !op->nin && !op->nout, "one region, no operands, no results");
	if (op->code == OP_ROLE) return chk_role(c, op);
	NEED(!op->region[0]->args.n, "the region has no arguments");
	return true;
}

/* Results are looked at before their layouts are checked in general. */
static bool chk_has_layout(Check *c, const Val *v)
{
	if (!type_is_tile(v->type) && v->type->kind != TY_ASYNC) return true;
	NEED(v->lay && lay_ok(*v->lay) && lay_has_shape(*v->lay, v->type->rank, v->type->log2),
		"`%s` needs a layout of its shape", type_text(v->type));
	return true;
}

bool chk_group(Check *c, const Op *op)
{
	const char *sig = op_rows[op->code].sig;
	if (!chk_word(c, op, sig, op->nin, false) || !chk_word(c, op, results_of(sig), op->nout, true)) return false;
	for (int i = 0; i < op->nin + op->nout; i++)
		if (!chk_has_layout(c, i < op->nin ? ir_in(op, i) : op->out[i - op->nin])) return false;
	return true;
}
