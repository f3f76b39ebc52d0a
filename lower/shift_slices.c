/* Rows that begin anywhere in memory, in kernels that work on one slice of a row after the other (strip.c).
 *
 * Each slice begins as many elements earlier as the row's phase says, so the first begins before the row, and all
 * vectors lie at multiples of their size. Slices in the middle of a row are accessed as those of aligned tensors are;
 * of vectors that an end of the row cuts, the elements are accessed one by one. The loop runs once more where the phase
 * makes the row reach into another slice.
 *
 * The elements before the row must not change results. To a reduction they are pads like those after the row, of which
 * there is one at least, because the launcher requires room for it. A scan takes them first, so they have to be its
 * identity: where no other operation depends on the pads of a load, the load gets that pad. Kernels that use numbers of
 * elements (argmax, iota) are not shifted. */
#include "ir/fold.h"
#include "ir/monoid.h"
#include "lower/shift.h"
#include "placed/access.h"

typedef enum Front { CLEAN, KNOWN, DIRTY } Front;       /* before the row: identity, a known number, anything */
typedef struct FrontNum { Front kind; Num n; } FrontNum;

typedef struct Slices {
	Fn *fn;
	Op *loop;               /* that is looked at */
	Op *anchor;             /* the access whose rows give the phase */
	const Sym *extent;      /* of all rows */
	int64_t places;         /* of all slices */
	bool backward;          /* the loop begins with the last of them */
	bool scans, back, reduces;      /* back: a loop of them all is backward */
	FrontNum *at;           /* by Val id */
} Slices;

/* ---- accesses ---- */
static bool is_row_slice(const Val *v) { return type_is_tile(v->type) && type_log2_size(v->type) > 0; }

static const Val *counter_of(const Op *loop) { return loop->region[0]->args.p[0]; }

/* Is it the number of the slice, from the first on, or from the last? */
static bool is_slice_number(const Slices *s, const Val *v)
{
	const Val *k = counter_of(s->loop);
	return s->backward ? v->def && v->def->code == OP_SUB && ir_in(v->def, 1) == k : v == k;
}

static bool suits_access(Slices *s, Op *op)
{
	const Val *v = ir_accessed(op);
	const IrParam *p = peel_param(s->fn, op);
	if (!p || !type_is_row(v->type) || ir_attr(op, AT_LATE)) return false;
	AccessPlan x = access_plan(op, v, false);
	int a = type_row_axis(v->type);
	int64_t size = type_extent(v->type, a), places = ir_int(s->loop, AT_SLICES, 0) * size;
	if (x.fast != a || x.rank != v->type->rank || x.proved[a] || x.offset[a] || x.step[a] != size) return false;
	if (!x.vec || !lay_adds(x.l, a) || !is_slice_number(s, ir_in(op, 1 + a))) return false;
	if ((s->extent && p->extent[a] != s->extent) || (s->places && s->places != places)) return false;
	s->extent = p->extent[a];
	s->places = places;
	if (!s->anchor) s->anchor = op;
	ir_set_int(op, AT_SHIFTED, 1);
	return true;
}

/* ---- elements before the row ---- */
static FrontNum front(const Slices *s, const Val *v)
{
	Num n;
	if (ir_const_value(v, &n)) return (FrontNum){ KNOWN, n };
	return s->at[v->id];
}

/* Is it true for one place of the slice alone, the last one that the loop asks for (strip_parts.c)? */
static bool asks_for_last(const Slices *s, const Val *v)
{
	Num n;
	while (v->def && v->def->code == OP_BROADCAST) v = ir_in(v->def, 0);
	const Op *op = v->def;
	if (!op || op->code != OP_EQ || !ir_in(op, 0)->def || ir_in(op, 0)->def->code != OP_IOTA) return false;
	int64_t last = s->backward ? 0 : type_size(ir_in(op, 0)->type) - 1;
	return ir_const_value(ir_in(op, 1), &n) && n.i == last;
}

static bool front_elementwise(Slices *s, const Op *op)
{
	Num *in = NEW_ARRAY(A_TMP, Num, op->nin);
	FrontNum r = { CLEAN, { 0 } };
	bool known = fold_is_exact(op->code);
	if (op->nout != 1) return false;
	if (op->code == OP_SELECT && asks_for_last(s, ir_in(op, 0))) {
		s->at[op->out[0]->id] = front(s, ir_in(op, 2));
		return true;
	}
	for (int i = 0; i < op->nin; i++) {
		FrontNum f = front(s, ir_in(op, i));
		if (ir_in(op, i)->def && ir_in(op, i)->def->code == OP_IOTA && !asks_for_last(s, op->out[0])) return false;
		known &= f.kind == KNOWN;
		if (f.kind == DIRTY || s->at[ir_in(op, i)->id].kind == KNOWN) r.kind = DIRTY;
		in[i] = f.n;
	}
	Elem e = op->nin ? ir_in(op, op->code == OP_SELECT)->type->elem : EL_BOOL, to = op->out[0]->type->elem;
	if (known && r.kind == DIRTY) {
		bool is = true;
		if (op->code == OP_CAST) r.n = fold_cast(in[0], e, to, fold_modes(op));
		else is = fold_op(op->code, fold_modes(op), e, to, op->nin, in, &r.n);
		if (is) r.kind = KNOWN;
	}
	s->at[op->out[0]->id] = r;
	return true;
}

/* Does one element more of this number change nothing beside pads of the same number? */
static bool is_neutral(int64_t kind, Elem e, Num n)
{
	switch (kind) {
	case KIND_SUM: case KIND_XOR: return elem_is_any_float(e) ? n.f == 0 : n.i == 0;
	case KIND_PROD: return num_same(e, n, num_one(e));
	case KIND_MAX: case KIND_MIN: case KIND_AND: case KIND_OR: return true;
	default: return false;
	}
}

/* Does a reduction take more than the one element that a slice hands on? */
static bool reduces_row(const Slices *s, const Val *x)
{
	return !x->def || x->def->code != OP_SELECT || !asks_for_last(s, ir_in(x->def, 0));
}

/* A sum of two operands adds their products. */
static bool front_reduce(Slices *s, const Op *op)
{
	FrontNum f = s->at[ir_in(op, 0)->id];
	for (int i = 1; i < op->nin; i++) {
		FrontNum g = s->at[ir_in(op, i)->id];
		f.n.f *= g.n.f;
		if (g.kind != f.kind || !elem_is_any_float(ir_in(op, i)->type->elem)) return false;
	}
	if (f.kind == CLEAN) return true;
	s->reduces |= reduces_row(s, ir_in(op, 0));
	return f.kind == KNOWN && !op->nregion && is_neutral(ir_int(op, AT_KIND, KIND_SUM), ir_in(op, 0)->type->elem, f.n);
}

/* What a scan begins with, of its k-th value. */
static bool begins_with(const Op *op, int k, Num *n)
{
	if (op->nregion) return ir_const_value(ir_in(op, scan_values(op) + k), n);
	*n = monoid_identity(op->code, ir_in(op, k)->type->elem, ir_int(op, AT_NAN, 0) != 0);
	return true;
}

/* A backward scan visits the elements before the row last; the pads that follow the row come first. */
static bool front_scan(Slices *s, const Op *op)
{
	s->scans = true;
	for (int k = 0; k < scan_values(op); k++) {
		const Val *v = ir_in(op, k);
		FrontNum f = front(s, v);
		Num n;
		if (f.kind != KNOWN) return false;
		if (s->backward ? !is_neutral(monoid_kind(op->code), v->type->elem, f.n)
			: !begins_with(op, k, &n) || !num_same(v->type->elem, f.n, n)) return false;
		s->at[op->out[k]->id].kind = DIRTY;
	}
	return true;
}

static bool front_op(Slices *s, Op *op)
{
	if (op_is_scan(op)) return front_scan(s, op);
	if (op->nregion) return false;
	if (op->code == OP_LOAD || op->code == OP_STORE) {
		Num n;
		const Val *v = ir_accessed(op);
		if (!is_row_slice(v)) return op->code == OP_LOAD;
		if (!suits_access(s, op)) return false;
		if (op->code == OP_STORE) return true;
		if (!ir_const_value(ir_in(op, op->nin - 1), &n)) return false;
		s->at[v->id] = (FrontNum){ KNOWN, n };
		return true;
	}
	if (op->code == OP_REDUCE_REGS || op->code == OP_REDUCE_LANES) return front_reduce(s, op);
	if (op->code == OP_RESHAPE || op->code == OP_BROADCAST) {
		s->at[op->out[0]->id] = s->at[ir_in(op, 0)->id];
		const Op *d = ir_in(op, 0)->def;
		return !d || d->code != OP_IOTA || op->code == OP_BROADCAST;
	}
	if (op_has(op, OPF_ELEMWISE)) return front_elementwise(s, op);
	for (int i = 0; i < op->nin; i++)
		if (s->at[ir_in(op, i)->id].kind != CLEAN) return false;
	return !op_has(op, OPF_READ | OPF_WRITE) || op->code == OP_STORE_SHARED || op->code == OP_LOAD_SHARED
		|| op->code == OP_BARRIER;
}

/* A loop over slices that all lie along rows that begin at one phase. */
static bool suits_loop(Slices *s, Op *loop)
{
	Num lo, step;
	s->loop = loop;
	if (!ir_attr(loop, AT_SLICES) || !ir_const_value(ir_in(loop, 0), &lo) || lo.i) return false;
	if (!ir_const_value(ir_in(loop, 2), &step) || step.i != 1) return false;
	s->backward = false;
	for (const Op *op = loop->region[0]->first; op; op = op->next)
		s->backward |= op_is_scan(op) && ir_int(op, AT_DIRECTION, 0);
	s->back |= s->backward;
	for (Op *op = loop->region[0]->first; op; op = op->next)
		if (!front_op(s, op)) return false;
	return true;
}

static bool suits_all(Slices *s)
{
	s->at = NEW_ARRAY(A_TMP, FrontNum, s->fn->nval);
	s->scans = s->reduces = false;
	for (Op *op = s->fn->body->first; op; op = op->next) {
		const Val *v = ir_accessed(op);
		if (op->code == OP_FOR ? !suits_loop(s, op) : op->nregion || op->code == OP_PHASE) return false;
		if (op->code != OP_FOR && v && is_row_slice(v)) return false;
	}
	return s->anchor;
}

/* ---- pads ---- */
static Op *load_of(const Val *v)
{
	while (v->def && (v->def->code == OP_CAST || v->def->code == OP_RESHAPE)) v = ir_in(v->def, 0);
	return v->def && v->def->code == OP_LOAD ? v->def : NULL;
}

/* Pads what is loaded for a scan alone with the scan's identity, before the row and after it. */
static void set_pads(Op *loop)
{
	for (Op *op = loop->region[0]->first; op; op = op->next)
		for (int k = 0; op_is_scan(op) && !ir_int(op, AT_DIRECTION, 0) && k < scan_values(op); k++) {
			Op *load = load_of(ir_in(op, k));
			Num n;
			if (!load || !begins_with(op, k, &n)) continue;
			Builder b = build_before(loop);
			const Type *t = type_scalar(load->out[0]->type->elem);
			n = fold_cast(n, ir_in(op, k)->type->elem, t->elem, (FoldModes){ 0 });
			load->in[load->nin - 1] = ir_const_num(&b, t, n);
		}
}

static void set_all_pads(Fn *fn)
{
	for (Op *op = fn->body->first; op; op = op->next)
		if (ir_attr(op, AT_SLICES)) set_pads(op);
	ir_number(fn);
}

/* ---- the phase ---- */
/* The first operation that knows how many slices there are, or has some. */
static Op *first_of(const Slices *s)
{
	for (Op *op = s->fn->body->first; op; op = op->next) {
		const IrAttr *sym = op->code == OP_LAUNCH ? ir_attr(op, AT_SYM) : NULL;
		if (op->code == OP_FOR || (sym && sym->u.sym == s->extent)) return op;
	}
	return NULL;
}

static bool stands_before(const Val *v, const Op *op)
{
	for (const Op *o = op; o && v->def; o = o->next)
		if (o == v->def) return false;
	return !v->def || v->def->parent == op->parent;
}

static Op *add_phase(const Slices *s, Op *first)
{
	const Op *a = s->anchor;
	int axis = type_row_axis(ir_accessed(a)->type), n = 1 + ir_in(a, 0)->type->rank;
	Builder b = build_before(first);
	Val *in[1 + TENSOR_RANK];
	for (int i = 0; i < n; i++) {
		in[i] = i == 1 + axis ? ir_const_int(&b, type_scalar(EL_I32), 0) : ir_in(a, i);
		if (i != 1 + axis && !stands_before(in[i], first)) return NULL;
	}
	Val *p = ir_op1(&b, OP_PHASE, type_scalar(EL_I32), n, in);
	static const AttrKey keys[] = { AT_STEPS, AT_OFFSETS };
	for (int k = 0; k < 2; k++) {
		const IrAttr *from = ir_attr(a, keys[k]);
		if (from) ir_set_ints(p->def, keys[k], from->u.ints.n, from->u.ints.p);
	}
	ir_set_int(p->def, AT_ROWS, ROWS_SHIFTED);
	return p->def;
}

/* Rows reach as many elements further. */
static bool lengthen(const Slices *s, Val *phase)
{
	Num n;
	for (Op *loop = s->fn->body->first; loop; loop = loop->next) {
		if (loop->code != OP_FOR || ir_const_value(ir_in(loop, 1), &n)) continue;
		Op *op = ir_in(loop, 1)->def;
		while (op && op->code != OP_ADD) op = op->nin ? ir_in(op, 0)->def : NULL;
		if (!op) return false;
		Val *length = ir_in(op, 0);
		if (length->def && length->def->code == OP_ADD) continue;       /* another loop's, too */
		if (launched_sym(length) != s->extent) return false;
		Builder b = build_before(op);
		Val *more = ir_unary(&b, OP_CAST, length->type, phase);
		op->in[0] = ir_binary(&b, OP_ADD, length->type, length, more);
	}
	return true;
}

/* Do all rows begin as many elements after their tensors' first? */
static bool rows_agree(const Fn *fn)
{
	for (const Op *loop = fn->body->first; loop; loop = loop->next)
		for (const Op *op = loop->code == OP_FOR ? loop->region[0]->first : NULL; op; op = op->next)
			if (ir_int(op, AT_SHIFTED, 0) && !row_slices_begin(fn, op, type_row_axis(ir_accessed(op)->type)))
				return false;
	return true;
}

static bool has_slices(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (ir_attr(op, AT_SLICES)) return true;
	return false;
}

Shifted shifted_slices(Fn *first)
{
	const Shifted none = { 0 };
	if (first->row_log2 || first->by_element || first->lanes || !has_slices(first)) return none;
	Slices s = { .fn = copy_kernel(first) };
	ir_number(s.fn);
	if (!suits_all(&s)) {
		set_all_pads(s.fn);
		if (!suits_all(&s) || s.reduces) return none;
	}
	if (!s.scans && elem_bytes(peel_param(s.fn, s.anchor)->elem) >= 4) return none;
	Op *at = first_of(&s), *phase = at ? add_phase(&s, at) : NULL;
	if (!phase || !lengthen(&s, phase->out[0]) || !rows_agree(s.fn)) return none;
	s.fn->aligned = true;
	ir_number(s.fn);
	Shifted r = { .fn = s.fn, .places = s.places - s.back };        /* from the end there is a pad to begin with */
	vec_push(A_TMP, &r.lengths, s.extent);
	return r;
}
