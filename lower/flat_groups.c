/* Operations of versions by elements in the order of memory (flat.c), and groups of such elements.
 *
 * Elements of less than 4 bytes are stored several at a time, as groups of neighbours: most of what an element needs
 * its group knows. A group lies in a row, or in two; so what follows from rows is computed for two rows of each group.
 * Where rows are shorter than a group, a group has one row and the rest of it nothing. */
#include "ir/fold.h"
#include "lower/flat.h"

const Type *flat_type(const Flat *f, Elem e)
{
	uint8_t log2[2] = { COST_FLAT_ELEMENTS - (uint8_t)f->group, (uint8_t)f->group };
	return type_tile(e, f->group ? 2 : 1, log2);
}

const Type *flat_groups_type(const Flat *f, Elem e)
{
	uint8_t log2[2] = { COST_FLAT_ELEMENTS - (uint8_t)f->group, 0 };
	return type_tile(e, 2, log2);
}

/* Loads, and what they need, come first: a thread asks for all that it needs before it waits for any. */
Builder flat_early(const Flat *f)
{
	Builder b = build_before(f->first_late ? f->first_late : f->fn->body->last);
	b.span = f->span;
	return b;
}

static Val *emit_late(Flat *f, OpCode code, const Type *t, int nin, Val *const *in)
{
	Builder b = build_before(f->fn->body->last);
	b.span = f->span;
	Val *v = ir_op1(&b, code, t, nin, in);
	if (!f->first_late) f->first_late = v->def;
	return v;
}

Val *flat_emit(Flat *f, bool late, OpCode code, const Type *t, int nin, Val *const *in)
{
	if (late) return emit_late(f, code, t, nin, in);
	Builder b = flat_early(f);
	return ir_op1(&b, code, t, nin, in);
}

Twin *flat_twin(Flat *f, Val *v)
{
	for (int i = 0; i < f->twins.n; i++)
		if (f->twins.p[i].first == v) return &f->twins.p[i];
	vec_push(A_TMP, &f->twins, ((Twin){ .first = v, .second = v }));
	return &f->twins.p[f->twins.n - 1];
}

/* Of each element. */
Val *flat_whole(Flat *f, bool late, Val *v)
{
	const Type *t = flat_type(f, v->type->elem);
	if (is_full(f, v)) return v;
	if (!is_of_group(f, v)) return flat_emit(f, late, OP_BROADCAST, t, 1, &v);
	Twin x = *flat_twin(f, v);
	if (x.whole || (late && x.late)) return x.whole ? x.whole : x.late;
	Val *r = flat_emit(f, late, OP_BROADCAST, t, 1, &x.first);
	if (x.second != x.first) {
		Val *second = flat_emit(f, late, OP_BROADCAST, t, 1, &x.second);
		r = flat_emit(f, late, OP_SELECT, t, 3, (Val *[]){ f->after, second, r });
	}
	if (x.step) {
		Val *k = f->in_group->type == t ? f->in_group : flat_emit(f, late, OP_CAST, t, 1, &f->in_group);
		if (x.step != 1) k = flat_emit(f, late, OP_MUL, t, 2, (Val *[]){ k, flat_number(f, t, x.step) });
		r = flat_emit(f, late, OP_ADD, t, 2, (Val *[]){ r, k });
	}
	*(late ? &flat_twin(f, v)->late : &flat_twin(f, v)->whole) = r;
	return r;
}

static int64_t step_of(Flat *f, Val *v) { return is_of_group(f, v) ? flat_twin(f, v)->step : 0; }

/* Is the result a number of each group and its elements' places in it, times step? An author's conversion may wrap or
 * round between an element and the next one. */
static bool keeps_step(Flat *f, OpCode code, int nin, Val *const *in, bool authors, int64_t *step)
{
	int64_t x = nin ? step_of(f, in[0]) : 0, y = nin > 1 ? step_of(f, in[1]) : 0;
	Num n;
	*step = x;
	switch (code) {
	case OP_ADD: *step = x + y; return true;
	case OP_SUB: *step = x - y; return true;
	case OP_CAST: return !x || !authors;
	case OP_MUL:
		if (y || !x) return !x && !y;
		*step = ir_const_value(in[1], &n) && n.i > -INT16_MAX && n.i < INT16_MAX ? x * n.i : 0;
		return *step != 0;
	default: break;
	}
	for (int i = 0; i < nin; i++)
		if (step_of(f, in[i])) return false;
	return true;
}

/* That was computed before. */
static Val *find_twin(const Flat *f, OpCode code, Elem e, int nin, Val *const *x)
{
	for (int i = 0; i < f->twins.n; i++) {
		const Op *op = f->twins.p[i].first->def;
		bool same = f->twins.p[i].early && op->code == code && op->nin == nin && op->out[0]->type->elem == e;
		for (int k = 0; k < nin && same; k++) same = ir_in(op, k) == x[k];
		if (same) return f->twins.p[i].first;
	}
	return NULL;
}

static Val *to_group(Flat *f, bool late, Val *v)
{
	if (is_of_group(f, v)) return v;
	Val *r = late ? NULL : find_twin(f, OP_BROADCAST, v->type->elem, 1, &v);
	if (r) return r;
	r = flat_emit(f, late, OP_BROADCAST, flat_groups_type(f, v->type->elem), 1, &v);
	vec_push(A_TMP, &f->twins, ((Twin){ .first = r, .second = r, .early = !late }));
	return r;
}

static Val *apply_to_groups(Flat *f, bool late, OpCode code, Elem e, int nin, Val *const *in, int64_t step,
	const Op *like)
{
	Val *x[8], *y[8], *r, *s;
	bool same = true;
	for (int i = 0; i < nin; i++) {
		x[i] = to_group(f, late, in[i]);
		y[i] = flat_twin(f, x[i])->second;
		same &= x[i] == y[i];
	}
	r = late || like ? NULL : find_twin(f, code, e, nin, x);
	if (r) return r;
	r = s = flat_emit(f, late, code, flat_groups_type(f, e), nin, x);
	if (!same) s = flat_emit(f, late, code, flat_groups_type(f, e), nin, y);
	if (like) copy_attrs(r->def, like);
	if (like && !same) copy_attrs(s->def, like);
	vec_push(A_TMP, &f->twins, ((Twin){ .first = r, .second = s, .step = step, .early = !late && !like }));
	return r;
}

/* An operation on numbers of the launch, of groups, and of elements, of what has most of its operands. */
Val *flat_apply(Flat *f, bool late, OpCode code, const Type *t, int nin, Val *const *in, const Op *like)
{
	bool full = false, groups = false;
	Val *x[8], *r;
	for (int i = 0; i < nin; i++) full |= is_full(f, in[i]), groups |= is_of_group(f, in[i]);
	int64_t step;
	if (groups && !full && keeps_step(f, code, nin, in, like != NULL, &step))
		return apply_to_groups(f, late, code, t->elem, nin, in, step, like);
	full |= groups;
	for (int i = 0; i < nin; i++) x[i] = full ? flat_whole(f, late, in[i]) : in[i];
	r = flat_emit(f, late, code, full ? flat_type(f, t->elem) : type_scalar(t->elem), nin, x);
	if (like) copy_attrs(r->def, like);
	return r;
}

Val *flat_make(Flat *f, OpCode code, const Type *t, int nin, Val *const *in)
{
	return f->group && nin ? flat_apply(f, false, code, t, nin, in, NULL) : flat_emit(f, false, code, t, nin, in);
}

Val *flat_number(Flat *f, const Type *t, int64_t n)
{
	Builder b = flat_early(f);
	Num known;
	n = num_wrap(t->elem, (uint64_t)n).i;
	for (int i = 0; f->group && i < f->numbers.n; i++) {
		Val *old = f->numbers.p[i];
		if (old->type == t && ir_const_value(old, &known) && known.i == n) return old;
	}
	Val *v = ir_const_int(&b, t, n);
	vec_push(A_TMP, &f->numbers, v);
	return v;
}

/* Where there are groups, operations say what their operands have to be. */
Val *flat_spread(Flat *f, Val *v)
{
	if (f->group || is_full(f, v)) return v;
	return flat_emit(f, false, OP_BROADCAST, flat_type(f, v->type->elem), 1, &v);
}

Val *flat_launched(Flat *f, const Sym *s, Elem e)
{
	Builder b = flat_early(f);
	return cast(f, ir_launch(&b, EL_I64, s), e);
}
