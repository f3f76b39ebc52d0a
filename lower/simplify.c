/* Pass simplify: constants folded with the run-time rules, identities removed, equal pure ops merged, dead ones
 * dropped. TYPED to TYPED, for every target. It never changes a value's bits: floats only fold where every target gives
 * the same (fold_is_exact), and no rule of algebra is used that rounding breaks.
 *
 * One walk in program order does all: operands are settled before their users. Equal ops are found in a table whose
 * entries live as long as the block that defines them (scoped by a mark), so a value is
 * only reused where it dominates. */
#include <math.h>
#include <string.h>

#include "base/cost.h"
#include "base/diag.h"
#include "ir/fold.h"
#include "ir/valsym.h"
#include "lower/placed.h"
#include "placed/placed.h"

typedef struct Seen { Op *op; uint32_t hash; int next; } Seen;

typedef struct Simp {
	Fn *fn;
	bool checked;
	VEC(Seen) seen;         /* pure ops of the enclosing blocks, in order */
	int loads;              /* the first of them that a load may be equal to: see is_constant_load */
	int *bucket;            /* heads of chains through Seen.next, by hash; -1 ends */
	int nbucket;
} Simp;

/* ---- folding ---- */
static Val *make_const(Op *op, const Type *t, Num v)
{
	Builder b = { op->parent->fn, op->parent, op, op->span };
	return ir_const_num(&b, t, v);
}

static Val *fold(Op *op)
{
	Num r;
	return fold_known(op, op->in, &r) ? make_const(op, op->out[0]->type, r) : NULL;
}

/* ---- identities ---- */
static bool is_int_const(const Val *v, int64_t want)
{
	Num n;
	return elem_is_integral(v->type->elem) && ir_const_value(v, &n) && n.i == want;
}

static Val *integer_identity(const Op *op)
{
	Val *x = ir_in(op, 0), *y = ir_in(op, 1);
	switch (op->code) {
	case OP_ADD: case OP_OR: case OP_XOR:
		if (is_int_const(x, 0)) return y;
		/* fallthrough */
	case OP_SUB: case OP_SHL: case OP_SHR: return is_int_const(y, 0) ? x : NULL;
	case OP_MUL:
		if (is_int_const(x, 0) || is_int_const(y, 1)) return x;
		return is_int_const(y, 0) || is_int_const(x, 1) ? y : NULL;
	case OP_AND: return is_int_const(x, 0) ? x : is_int_const(y, 0) ? y : NULL;
	case OP_DIV: case OP_CEILDIV: case OP_FLOORDIV:
		return is_int_const(y, 1) && x->type->elem != EL_BOOL ? x : NULL;
	default: return NULL;
	}
}

static Val *bool_identity(const Op *op)
{
	Val *x = ir_in(op, 0), *y = ir_in(op, 1);
	if (x->type->elem != EL_BOOL) return NULL;
	if (op->code == OP_AND) return is_int_const(x, 1) ? y : is_int_const(y, 1) ? x : NULL;
	if (op->code == OP_OR) return is_int_const(x, 1) ? x : is_int_const(y, 1) ? y : NULL;
	return NULL;
}

static Val *select_identity(const Op *op)
{
	Num c;
	if (ir_in(op, 1) == ir_in(op, 2)) return ir_in(op, 1);
	return ir_const_value(ir_in(op, 0), &c) ? ir_in(op, c.i ? 1 : 2) : NULL;
}

/* The element of a tile at a place, where the tile is made of scalars by a literal or a broadcast and what came between
 * only says which element goes where; NULL: it is not known. op: before which a constant may stand. */
static Val *element_at(Op *op, const Val *v, const int64_t *at, int deep)
{
	const Type *t = v->type;
	const Op *def = v->def;
	int64_t from[TILE_RANK] = { 0 };
	Num n;
	if (ir_const_value(v, &n)) return make_const(op, type_scalar(t->elem), n);
	if (!def || !type_is_tile(t) || !deep) return NULL;
	Val *x = def->nin ? ir_in(def, 0) : NULL;
	int64_t place = 0, k;
	for (int i = 0; i < t->rank; i++) {
		place = place * type_extent(t, i) + at[i];
		from[i] = at[i];
	}
	switch (def->code) {
	case OP_LITERAL: return ir_in(def, (int)place);
	case OP_BROADCAST:
		if (!type_is_tile(x->type)) return x;
		for (int i = 0; i < x->type->rank; i++)
			from[i] = x->type->log2[i] ? at[i + t->rank - x->type->rank] : 0;
		break;
	case OP_RESHAPE:
		for (int i = x->type->rank; i-- > 0; place /= type_extent(x->type, i))
			from[i] = place % type_extent(x->type, i);
		break;
	case OP_PERMUTE:
		for (int i = 0; i < t->rank; i++) from[ir_attr(def, AT_AXES)->u.ints.p[i]] = at[i];
		break;
	case OP_FLIP:
		k = ir_axis(def);
		from[k] = type_extent(t, (int)k) - 1 - at[k];
		break;
	case OP_EXTRACT:
		for (int i = 0; i < t->rank; i++) {
			int64_t parts = type_extent(x->type, i) / type_extent(t, i);
			if (!ir_const_value(ir_in(def, 1 + i), &n)) return NULL;
			if (n.i < 0 || n.i >= parts) return make_const(op, type_scalar(t->elem), num_zero(t->elem));
			from[i] = n.i * type_extent(t, i) + at[i];
		}
		break;
	case OP_TAKE: {
		const Val *index = element_at(op, ir_in(def, 1), at, deep - 1);
		k = ir_axis(def);
		if (!index || !ir_const_value(index, &n)) return NULL;
		if (n.i < 0 || n.i >= type_extent(x->type, (int)k)) return ir_in(def, 2);
		from[k] = n.i;
		break;
	}
	default: return NULL;
	}
	return element_at(op, x, from, deep - 1);
}

/* Elements of a literal, elsewhere, are a literal. Not those of a scalar that is spread: the literal would have as many
 * operands as the tile has elements. */
static Val *literal_moved(Op *op)
{
	const Type *t = op->out[0]->type;
	const Op *from = ir_in(op, 0)->def;
	if (!from || from->code != OP_LITERAL || type_size(t) > from->nin) return NULL;
	int64_t at[TILE_RANK] = { 0 };
	VEC(Val *) elems = { 0 };
	bool one = true;
	Num first, n;
	for (int axis = 0; axis >= 0;) {
		Val *v = element_at(op, op->out[0], at, COST_LITERAL_DEEP);
		if (!v) return NULL;
		if (!elems.n) one = ir_const_value(v, &first);
		else one = one && (v == elems.p[0] || (ir_const_value(v, &n) && num_same(t->elem, n, first)));
		vec_push(A_TMP, &elems, v);
		for (axis = t->rank - 1; axis >= 0 && ++at[axis] == type_extent(t, axis); axis--) at[axis] = 0;
	}
	if (one) return make_const(op, t, first);
	Builder b = { op->parent->fn, op->parent, op, op->span };
	return ir_op1(&b, OP_LITERAL, t, elems.n, elems.p);
}

/* Shape changes: the same shape, a constant, or a change of a change. */
static Val *shape_identity(Op *op)
{
	Val *x = ir_in(op, 0), *v;
	const Type *t = op->out[0]->type;
	Num n;
	if (x->type == t && op->code != OP_PERMUTE) return x;
	if (type_is_tile(t) && ir_const_value(x, &n)) return make_const(op, t, n);
	if (op->code == OP_BROADCAST && x->def && x->def->code == OP_BROADCAST) {
		Builder b = { op->parent->fn, op->parent, op, op->span };
		v = ir_in(x->def, 0);
		return ir_op1(&b, OP_BROADCAST, t, 1, &v);
	}
	if (op->code == OP_RESHAPE && x->def && x->def->code == OP_RESHAPE) {
		Builder b = { op->parent->fn, op->parent, op, op->span };
		v = ir_in(x->def, 0);
		return ir_op1(&b, OP_RESHAPE, t, 1, &v);
	}
	return NULL;
}

static Val *to_scalar_identity(Op *op)
{
	Val *x = ir_in(op, 0);
	Num n;
	if (ir_const_value(x, &n)) return make_const(op, op->out[0]->type, n);
	while (x->def && (x->def->code == OP_BROADCAST || x->def->code == OP_RESHAPE)) {
		x = ir_in(x->def, 0);
		if (x->type == op->out[0]->type) return x;
	}
	return element_at(op, ir_in(op, 0), (const int64_t[TILE_RANK]){ 0 }, COST_LITERAL_DEEP);
}

static Val *launch_identity(Op *op)
{
	const IrAttr *s = ir_attr(op, AT_SYM);
	int64_t v;
	return s && sym_is_const(s->u.sym, &v) ? make_const(op, op->out[0]->type, num_int(v)) : NULL;
}

static bool is_float_const(const Val *v, double want)
{
	Num n;
	return elem_is_float(v->type->elem) && ir_const_value(v, &n) && n.f == want;
}

/* x * 1 and x / 1 are x, whatever the rounding; x + 0 is not: -0 becomes 0. */
static Val *float_identity(const Op *op)
{
	Val *x = ir_in(op, 0), *y = ir_in(op, 1);
	if (ir_int(op, AT_SUBNORMALS, 0)) return NULL;
	switch (op->code) {
	case OP_MUL: return is_float_const(y, 1) ? x : is_float_const(x, 1) ? y : NULL;
	case OP_DIV: return is_float_const(y, 1) ? x : NULL;
	default: return NULL;
	}
}

/* x / 2^n = x * 2^-n, both being that number rounded once, where 2^-n is a normal number. */
static Val *exact_quotient(Op *op)
{
	Num n;
	int exp, most;
	const Type *t = op->out[0]->type;
	switch (t->elem) {
	case EL_F16: most = 14; break;
	case EL_F32: case EL_BF16: most = 126; break;
	case EL_F64: most = 1022; break;
	default: return NULL;
	}
	if (op->nattr || !ir_const_value(ir_in(op, 1), &n) || !isfinite(n.f)) return NULL;
	double half = frexp(n.f, &exp);         /* n = half * 2^exp */
	if (fabs(half) != 0.5 || exp - 1 > most || exp - 1 < -most) return NULL;
	Val *r = make_const(op, ir_in(op, 1)->type, (Num){ .f = 1 / n.f });
	Builder b = { op->parent->fn, op->parent, op, op->span };
	return ir_binary(&b, OP_MUL, t, ir_in(op, 0), r);
}

/* x^1 = x and x^2 = x * x, which one product rounds correctly; NaN, infinities and zeros become the same by both. */
static Val *small_power(Op *op)
{
	Val *x = ir_in(op, 0);
	if (ir_int(op, AT_SUBNORMALS, 0) || !elem_is_float(x->type->elem)) return NULL;
	if (is_float_const(ir_in(op, 1), 1)) return x;
	if (!is_float_const(ir_in(op, 1), 2)) return NULL;
	Builder b = { op->parent->fn, op->parent, op, op->span };
	return ir_binary(&b, OP_MUL, op->out[0]->type, x, x);
}

static Val *identity(Op *op)
{
	Val *v;
	if (op->nin == 2 && elem_is_float(ir_in(op, 0)->type->elem) && (v = float_identity(op))) return v;
	switch (op->code) {
	case OP_BROADCAST: return shape_identity(op);
	case OP_RESHAPE: case OP_PERMUTE:
		v = shape_identity(op);
		return v ? v : literal_moved(op);
	case OP_EXTRACT: case OP_TAKE: case OP_FLIP: return literal_moved(op);
	case OP_TO_SCALAR: return to_scalar_identity(op);
	case OP_LAUNCH: return launch_identity(op);
	case OP_IOTA: return type_log2_size(op->out[0]->type) ? NULL : make_const(op, op->out[0]->type, num_int(0));
	case OP_SELECT: return select_identity(op);
	case OP_POW: return small_power(op);
	case OP_DIV:
		if (elem_is_float(op->out[0]->type->elem)) return exact_quotient(op);
		break;
	case OP_CAST: return ir_in(op, 0)->type == op->out[0]->type && !ir_int(op, AT_OVERFLOW, 0) ? ir_in(op, 0) : NULL;
	default: break;
	}
	if (op->nin != 2 || !op_has(op, OPF_ELEMWISE) || !elem_is_integral(ir_in(op, 0)->type->elem))
		return NULL;
	v = integer_identity(op);
	if (!v) v = bool_identity(op);
	return v && v->type == op->out[0]->type ? v : NULL;
}

/* ---- equal ops ---- */
static uint32_t mix(uint32_t h, uint64_t v)
{
	h = (h ^ (uint32_t)v) * 0x9E3779B1u;
	return (h ^ (uint32_t)(v >> 32)) * 0x85EBCA6Bu ^ h >> 13;
}

static uint64_t double_bits(double d)
{
	uint64_t u;
	memcpy(&u, &d, sizeof u);
	return u;
}

static uint32_t attr_hash(const IrAttr *a)
{
	uint32_t h = (uint32_t)a->key;
	switch (attr_rows[a->key].kind) {
	case AK_INT: case AK_WORD: return mix(h, (uint64_t)a->u.i);
	case AK_INTS:
		for (int i = 0; i < a->u.ints.n; i++) h = mix(h, (uint64_t)a->u.ints.p[i]);
		return h;
	case AK_STR: return mix(h, str_hash(a->u.s));
	case AK_SYM: return mix(h, a->u.sym->id);
	case AK_NUM: return mix(mix(h, (uint64_t)a->u.num.i), double_bits(a->u.num.f));
	default: return h;
	}
}

static uint32_t op_hash(const Op *op)
{
	uint32_t h = mix((uint32_t)op->code, op->out[0]->type->id);
	for (int i = 0; i < op->nin; i++) h = mix(h, (uint64_t)ir_in(op, i)->id);
	for (int i = 0; i < op->nattr; i++) h = mix(h, attr_hash(&op->attr[i]));
	return h;
}

static bool op_same(const Op *a, const Op *b)
{
	if (a->code != b->code || a->nin != b->nin || a->nout != b->nout) return false;
	for (int i = 0; i < a->nout; i++)
		if (a->out[i]->type != b->out[i]->type) return false;
	for (int i = 0; i < a->nin; i++)
		if (ir_in(a, i) != ir_in(b, i)) return false;
	return ir_same_attrs(a, b);
}

/* A load of what nobody writes is as good as a pure operation. It is merged with an earlier one of its block if no loop
 * or branch lies between them, in which registers would hold the tile. */
static bool is_constant_load(const Op *op)
{
	return op->code == OP_LOAD && !ir_attr(op, AT_ORDER) && memory_is_constant(op->parent->fn, ir_in(op, 0));
}

static bool merge_equal(Simp *s, Op *op)
{
	uint32_t h = op_hash(op);
	int *head = &s->bucket[h % (uint32_t)s->nbucket];
	for (int i = *head; i >= 0; i = s->seen.p[i].next)
		if (s->seen.p[i].hash == h && (op->code != OP_LOAD || i >= s->loads) && op_same(s->seen.p[i].op, op)) {
			for (int k = 0; k < op->nout; k++) {
				if (!s->seen.p[i].op->out[k]->name) s->seen.p[i].op->out[k]->name = op->out[k]->name;
				ir_replace(op->out[k], s->seen.p[i].op->out[k]);
			}
			return true;
		}
	vec_push(A_TMP, &s->seen, ((Seen){ op, h, *head }));
	*head = s->seen.n - 1;
	return false;
}

static void forget(Simp *s, int mark)   /* the block ends: its values dominate nothing more */
{
	while (s->seen.n > mark) {
		Seen *e = &s->seen.p[--s->seen.n];
		s->bucket[e->hash % (uint32_t)s->nbucket] = e->next;
	}
}

/* ---- the walk ---- */
static void simplify_block(Simp *s, IrBlock *b);

static void take_over(Op *op, Val *with)
{
	if (!with->name && with->def && with->def->parent == op->parent) with->name = op->out[0]->name;
	ir_replace(op->out[0], with);
	ir_remove(op);
}

/* b's ops go before op; its end, too, if that is to be the end of op's block. */
static void move_out(IrBlock *b, Op *op, bool end)
{
	while (b->first && (end || b->first != b->last)) ir_move_before(b->first, op);
}

/* The block ends before op: nothing after it is reached. */
static void cut_from(Op *op)
{
	for (Op *next; op; op = next) {
		next = op->next;
		ir_remove(op);
	}
}

/* if (constant): the branch taken replaces the op. A branch that jumps is where the block ends; a loop's body only ends
 * in `yield`, so there the op stays. */
static bool splice_if(Op *op)
{
	Num c;
	if (op->code != OP_IF || !ir_const_value(ir_in(op, 0), &c)) return false;
	IrBlock *b = op->region[c.i ? 0 : 1];
	Op *end = b->last, *owner = op->parent->owner;
	if (end->code != OP_YIELD) {
		if (owner && op_has(owner, OPF_LOOP)) return false;
		move_out(b, op, true);
		cut_from(op);
		return true;
	}
	move_out(b, op, false);
	for (int i = 0; i < op->nout; i++) ir_replace(op->out[i], ir_in(end, i));
	ir_remove(op);
	return true;
}

static void find_leave(void *ctx, Op *op)
{
	if (op->code == OP_LEAVE) ++*(int *)ctx;
}

/* A scope that is left at its end only: no scope. */
static void splice_scope(Op *op)
{
	int leaves = 0;
	IrBlock *b = op->region[0];
	Op *end = b->last;
	ir_walk(b, find_leave, &leaves);
	if (end->code != OP_LEAVE || leaves != 1) return;
	move_out(b, op, false);
	for (int i = 0; i < op->nout; i++) ir_replace(op->out[i], ir_in(end, i));
	ir_remove(op);
}

typedef VEC(Op *) Ops;

static void find_bid(void *ctx, Op *op)
{
	if (op->code == OP_BID) vec_push(A_TMP, (Ops *)ctx, op);
}

/* What the function of a reduction or a scan asks of the tile block is asked before it: passes that give a kernel
 * another grid look for indices of tile blocks there. */
static void hoist_bids(Simp *s, Op *op)
{
	Ops bids = { 0 };
	for (int i = 0; i < op->nregion; i++) ir_walk(op->region[i], find_bid, &bids);
	for (int i = 0; i < bids.n; i++) {
		ir_move_before(bids.p[i], op);
		if (merge_equal(s, bids.p[i])) ir_remove(bids.p[i]);
	}
}

static void simplify_op(Simp *s, Op *op)
{
	Val *v;
	if (!s->checked && (op->code == OP_ASSERT || op->code == OP_CHECK)) {
		ir_remove(op);
		return;
	}
	if (op_is_reduce(op) || op_is_scan(op)) hoist_bids(s, op);
	for (int i = 0; i < op->nregion; i++) simplify_block(s, op->region[i]);
	if (op->nregion) s->loads = s->seen.n;
	if ((!op_is_pure(op) && !is_constant_load(op)) || !op->nout) return;
	if (op->nout == 1 && ((v = fold(op)) || (v = identity(op)))) {
		take_over(op, v);
		return;
	}
	if (merge_equal(s, op)) ir_remove(op);
}

static void simplify_block(Simp *s, IrBlock *b)
{
	int mark = s->seen.n;
	s->loads = mark;
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		Op *before = op->prev;
		if (splice_if(op)) {
			next = before ? before->next : b->first;        /* its ops are seen now */
			continue;
		}
		simplify_op(s, op);
		if (op->code == OP_SCOPE_) splice_scope(op);
	}
	forget(s, mark);
}

/* ---- dead ops ---- */
static bool removable(const Op *op, const int *uses)
{
	if (op_has(op, OPF_WRITE | OPF_TERM | OPF_STAYS) || !op_has(op, OPF_PURE | OPF_READ | OPF_HIDDEN)) return false;
	if (op->nregion && !op_has(op, OPF_PURE)) return false;
	if (op_has(op, OPF_ATOMIC) && !op_has(op, OPF_WRITE)) return false;
	for (int i = 0; i < op->nout; i++)
		if (uses[op->out[i]->id]) return false;
	return op->nout > 0;
}

static void sweep(IrBlock *b, int *uses)        /* backwards: users before what they use */
{
	for (Op *op = b->last, *prev; op; op = prev) {
		prev = op->prev;
		if (removable(op, uses)) {
			for (int i = 0; i < op->nin; i++) uses[ir_in(op, i)->id]--;
			ir_remove(op);
			continue;
		}
		for (int i = op->nregion - 1; i >= 0; i--) sweep(op->region[i], uses);
	}
}

void drop_dead(Fn *fn)
{
	ir_number(fn);
	sweep(fn->body, ir_use_counts(fn, A_TMP));
}

/* ---- bounds of integers ---- */
static bool is_bound(const Op *op)
{
	const Type *t = op->nout == 1 ? op->out[0]->type : NULL;
	return (op->code == OP_MIN || op->code == OP_MAX) && type_is_scalar(t) && elem_is_int(t->elem);
}

static void find_bound(void *ctx, Op *op) { *(bool *)ctx |= is_bound(op); }

/* The operand that the lesser or the greater of two integers is in every launch. */
static void keep_operand(void *ctx, Op *op)
{
	ValSyms *b = ctx;
	if (!is_bound(op)) return;
	const Sym *x = valsym(b, ir_in(op, 0)), *y = valsym(b, ir_in(op, 1));
	bool min = op->code == OP_MIN, below = facts_le(b->facts, x, y);
	if (below || facts_le(b->facts, y, x)) take_over(op, ir_in(op, below == min ? 0 : 1));
}

/* An integer of the launch, in another type that has it. */
static void keep_launched(void *ctx, Op *op)
{
	const Facts *f = ctx;
	const Op *from = op->code == OP_CAST ? ir_in(op, 0)->def : NULL;
	const Type *to = from ? op->out[0]->type : NULL;
	if (!from || from->code != OP_LAUNCH || !type_is_scalar(to) || to->elem != EL_I32) return;
	const Sym *s = ir_attr(from, AT_SYM)->u.sym;
	if (!facts_le(f, sym_const(INT32_MIN), s) || !facts_le(f, s, sym_const(INT32_MAX))) return;
	Builder at = build_before(op);
	take_over(op, ir_launch(&at, to->elem, s));
}

/* Limits that dimensions, the grid and conditions of the kernel keep anyway: a mask of a tile that has no more rows
 * than its tensor is a comparison of its columns, as a kernel's author may write it. What holds in every launch; NULL:
 * there are no limits. */
static const Facts *drop_bounds(Fn *fn)
{
	bool some = false;
	ir_walk(fn->body, find_bound, &some);
	if (!some) return NULL;
	ValSyms b = valsyms_new(fn);
	ir_walk(fn->body, keep_operand, &b);
	return b.facts;
}

void simplify_kernel(Fn *fn, const LowerCx *cx)
{
	ArenaMark mark = arena_mark(A_TMP);
	Simp s = { .fn = fn, .checked = cx->o->checked };
	ir_number(fn);
	const Facts *facts = drop_bounds(fn);
	s.nbucket = fn->nval * 2 + 16;
	s.bucket = NEW_ARRAY(A_TMP, int, s.nbucket);
	for (int k = 0; k < s.nbucket; k++) s.bucket[k] = -1;
	simplify_block(&s, fn->body);
	if (facts) ir_walk(fn->body, keep_launched, (void *)facts);
	drop_dead(fn);
	arena_release(A_TMP, mark);
}

void pass_simplify(Module *m, const LowerCx *cx)
{
	for (int i = 0; i < m->fns.n; i++) simplify_kernel(m->fns.p[i], cx);
}
