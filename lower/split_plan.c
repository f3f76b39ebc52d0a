/* Which loops of a kernel may be split over the grid: those in its body, the first one and what follows it, whose
 * extent is known at launch, which write nothing, and which carry values that a monoid combines, a function that
 * their author reduces by (split_tuple.c), a formula that is associative (split_formula.c), or sums of powers
 * relative to the greatest so far (split_powers.c). */
#include "base/diag.h"
#include "ir/fold.h"
#include "ir/valsym.h"
#include "ir/monoid.h"
#include "lower/split.h"

enum { CHAIN_STEPS = 256 };     /* bounds the search for what a carried value becomes */

/* The search through the loop's body for what becomes of one carried value. */
typedef struct Chain {
	const int *uses;        /* by Val id, in the kernel */
	int *met;               /* those uses that the chain itself makes */
	OpCode combine;         /* OP_COUNT: none was met yet */
	int64_t nan;
	int steps;
} Chain;

/* ---- what a loop may consist of ---- */
static bool is_weak_load(const Op *op)
{
	return (op->code == OP_LOAD || op->code == OP_GATHER || op->code == OP_LOAD_PTR) && !ir_int(op, AT_ORDER, 0);
}

bool split_may_stand(const Op *op)
{
	if (op->code == OP_MMA || op->code == OP_MMA_SCALED) return false;     /* products are split otherwise */
	if (op->code == OP_FOR || op->code == OP_IF || op->code == OP_YIELD || op->code == OP_ASSUME) return true;
	return op_has(op, OPF_PURE) || is_weak_load(op);
}

static void look_at(void *ctx, Op *op) { *(bool *)ctx &= split_may_stand(op); }

/* Operations that may be done in any thread block, and again: the regions of reductions with a
 * function of the author's are pure. */
static bool is_pure(Op *op)
{
	bool ok = split_may_stand(op);
	for (int i = 0; ok && i < op->nregion; i++) ir_walk(op->region[i], look_at, &ok);
	return ok;
}

/* ---- carried values ---- */
static bool takes(Chain *c, OpCode combine, const Op *op)
{
	int64_t nan = ir_int(op, AT_NAN, 0);
	Elem e = op->out[0]->type->elem;
	bool rounds = combine == OP_ADD || combine == OP_MUL;
	if (ir_int(op, AT_ROUNDING, 0) || ir_int(op, AT_SUBNORMALS, 0)) return false;
	if (rounds && elem_is_any_float(e) && elem_bytes(e) < 4) return false;  /* each iteration's sum is one of 16 bits */
	if (c->combine != OP_COUNT && (c->combine != combine || c->nan != nan)) return false;
	c->combine = combine;
	c->nan = nan;
	return true;
}

static bool leads(Chain *c, const Val *v, const Val *from);

static bool leads_through(Chain *c, const Op *op, const Val *from)
{
	if (monoid_reduction(op->code) != OP_COUNT)
		return takes(c, op->code, op) && (leads(c, ir_in(op, 0), from) || leads(c, ir_in(op, 1), from));
	switch (op->code) {
	case OP_SUB: return takes(c, OP_ADD, op) && leads(c, ir_in(op, 0), from);
	case OP_FMA: return takes(c, OP_ADD, op) && leads(c, ir_in(op, 2), from);
	default: return false;
	}
}

const Val *split_yielded(const IrBlock *b, int i)
{
	return b->last->code == OP_YIELD ? ir_in(b->last, i) : NULL;
}

static bool leads_out_of(Chain *c, const Op *op, int result, const Val *from)
{
	if (op->code == OP_IF) {
		const Val *then = split_yielded(op->region[0], result), *other = split_yielded(op->region[1], result);
		return then && other && leads(c, then, from) && leads(c, other, from);
	}
	if (op->code != OP_FOR) return false;
	const Val *last = split_yielded(op->region[0], result);
	return last && leads(c, last, op->region[0]->args.p[result + 1]) && leads(c, ir_in(op, 3 + result), from);
}

/* Is v what `from` becomes by combinations alone? */
static bool leads(Chain *c, const Val *v, const Val *from)
{
	OpCode combine = c->combine;
	int64_t nan = c->nan;
	if (c->steps-- <= 0) return false;
	bool ok = v == from;
	if (!ok && v->def) ok = v->def->nregion ? leads_out_of(c, v->def, v->index, from) : leads_through(c, v->def, from);
	if (ok) {
		c->met[v->id]++;
	} else {
		c->combine = combine;
		c->nan = nan;
	}
	return ok;
}

/* Does nothing else than the chain make use of what it goes through? more: uses of the carried value
 * that are accounted for. */
static bool is_alone(const Chain *c, const Fn *fn, const Val *from, int more)
{
	for (int i = 0; i < fn->nval; i++)
		if (c->met[i] && c->met[i] + (i == from->id ? more : 0) != c->uses[i]) return false;
	return c->combine != OP_COUNT;
}

/* Of the carried value i: select(x < key, what, value), strictly; NULL: it is none. */
static const Op *picks(const Op *loop, int i, const Val *key, OpCode combine, const Val *x)
{
	const Op *select = ir_in(loop->region[0]->last, i)->def, *c;
	if (!select || select->code != OP_SELECT || ir_in(select, 2) != loop->region[0]->args.p[i + 1]) return NULL;
	c = ir_in(select, 0)->def;
	if (!c || (c->code != OP_LT && c->code != OP_GT)) return NULL;
	bool swapped = ir_in(c, 0) == key, less = (c->code == OP_LT) != swapped;
	return ir_in(c, swapped) == x && ir_in(c, !swapped) == key && less == (combine == OP_MIN) ? select : NULL;
}

static bool is_number(const Val *v)             /* a constant, and no NaN */
{
	Num n;
	if (v->def && v->def->code == OP_BROADCAST) return is_number(ir_in(v->def, 0));
	return ir_const_value(v, &n) && n.f == n.f;
}

static bool shares_shape(const Type *a, const Type *b)
{
	return type_with_elem(a, EL_BOOL) == type_with_elem(b, EL_BOOL);
}

typedef struct Search { const Fn *fn; const Op *loop; const int *uses; } Search;

/* Marks the values that go with carried value `key`; how many uses of the key they make, by
 * comparisons that nothing else asks. */
static int find_picked(const Search *s, SplitLoop *l, int key)
{
	const IrBlock *body = s->loop->region[0];
	const Op *combine = ir_in(body->last, key)->def;
	const Val *from = body->args.p[key + 1];
	if (!combine || (combine->code != OP_MIN && combine->code != OP_MAX) || ir_int(combine, AT_NAN, 0)) return 0;
	bool second = ir_in(combine, 0) == from;
	if (ir_in(combine, !second) != from || !type_is_tile(from->type) || !is_number(ir_in(s->loop, 3 + key))) return 0;
	int *asked = NEW_ARRAY(A_TMP, int, s->fn->nval), n = 0;
	for (int i = 0; i < l->carried.n; i++) {
		const Op *select = i == key ? NULL : picks(s->loop, i, from, combine->code, ir_in(combine, second));
		if (!select || s->uses[body->args.p[i + 1]->id] != 1 || s->uses[select->out[0]->id] != 1) continue;
		if (!shares_shape(select->out[0]->type, from->type)) continue;
		l->carried.p[i].key = key;
		l->carried.p[i].combine = combine->code;
		const Val *c = ir_in(select, 0);
		if (++asked[c->id] == s->uses[c->id]) n++;
	}
	return n;
}

/* The key is combined in another way. */
static void forget_picked(SplitLoop *l, int key)
{
	for (int i = 0; i < l->carried.n; i++)
		if (l->carried.p[i].key == key) l->carried.p[i].key = -1, l->carried.p[i].combine = OP_COUNT;
}

static bool is_explained(const SplitLoop *l)
{
	for (int i = 0; i < l->carried.n; i++)
		if (l->carried.p[i].combine == OP_COUNT && l->carried.p[i].tuple < 0) return false;
	return true;
}

static bool find_carried(const Search *s, SplitLoop *l)
{
	const IrBlock *body = s->loop->region[0];
	for (int i = 0; i < s->loop->nout; i++)
		vec_push(A_TMP, &l->carried, ((Carried){ OP_COUNT, 0, -1, s->loop->out[i]->type, -1, 0, -1, 1 }));
	split_find_tuples(s->fn, s->loop, l);
	for (int i = 0; i < s->loop->nout; i++) {
		const Val *from = body->args.p[i + 1];
		Chain c = { s->uses, NEW_ARRAY(A_TMP, int, s->fn->nval), OP_COUNT, 0, CHAIN_STEPS };
		if (l->carried.p[i].key >= 0 || l->carried.p[i].tuple >= 0 || from->type->kind > TY_TILE) continue;
		if (!leads(&c, ir_in(body->last, i), from)) continue;
		if (!is_alone(&c, s->fn, from, find_picked(s, l, i))) {
			forget_picked(l, i);
			continue;
		}
		l->carried.p[i].combine = c.combine;
		l->carried.p[i].nan = c.nan;
	}
	if (!is_explained(l)) split_find_powers(s->fn, s->loop, l);
	if (!is_explained(l)) split_find_formula(s->fn, s->loop, l);
	return l->carried.n > 0 && is_explained(l);
}

/* ---- loops ---- */
static void only_dims(void *ctx, const Sym *atom)
{
	*(bool *)ctx &= atom->atom == ATOM_DIM || atom->atom == ATOM_STRIDE;
}

static bool known_at_launch(const Sym *s)
{
	bool ok = true;
	sym_atoms(s, only_dims, &ok);
	return ok;
}

bool split_know(SplitLoop *l, const Op *loop, ValSyms *syms)
{
	Num step;
	l->counter = ir_in(loop, 0)->type->elem;
	if ((l->counter != EL_I32 && l->counter != EL_I64) || loop->region[0]->last->code != OP_YIELD) return false;
	if (!ir_const_value(ir_in(loop, 2), &step) || step.i < 1 || step.i > INT32_MAX) return false;
	l->step = step.i;
	l->lo = valsym(syms, ir_in(loop, 0));
	l->hi = valsym(syms, ir_in(loop, 1));
	return known_at_launch(l->lo) && known_at_launch(l->hi);
}

static bool find_loop(Fn *fn, Op *op, const int *uses, ValSyms *syms, SplitLoop *l)
{
	const Search s = { fn, op, uses };
	return is_pure(op) && split_know(l, op, syms) && find_carried(&s, l);
}

bool split_plan(SplitPlan *p, Fn *fn)
{
	*p = (SplitPlan){ .fn = fn };
	int at = 0;
	ir_number(fn);
	ValSyms syms = valsyms_new(fn);
	const int *uses = ir_use_counts(fn, A_TMP);
	for (Op *op = fn->body->first; op; op = op->next, at++) {
		SplitLoop l = { .at = at };
		if (op->code == OP_FOR) {
			if (!find_loop(fn, op, uses, &syms, &l)) break;
			vec_push(A_TMP, &p->loops, l);
		} else if (!is_pure(op)) {
			break;
		}
	}
	return p->loops.n > 0;
}
