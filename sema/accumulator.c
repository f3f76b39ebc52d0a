/* Sums of f16 and bf16 that a loop carries: each round rounds the sum to 11 or 8 significant bits. A sum is a variable
 * to which rounds add what does not depend on it; an iteration such as `x = x + f(x)` is none. */
#include "sema/findings.h"

#include <ctype.h>
#include <string.h>

typedef struct Sum {
	const Val *var;         /* the variable, as the body of the loop begins */
	const Op *add;          /* an operation that adds to it */
	bool *seen;             /* by Val id */
} Sum;

static bool inside(const Op *op, const IrBlock *body)
{
	for (const IrBlock *b = op->parent; b; b = b->owner ? b->owner->parent : NULL)
		if (b == body) return true;
	return false;
}

static bool depends(const Val *v, const Val *on, bool *seen)
{
	if (v == on) return true;
	if (!v->def || seen[v->id] || !inside(v->def, on->block)) return false;
	seen[v->id] = true;
	for (int i = 0; i < v->def->nin; i++)
		if (depends(ir_in(v->def, i), on, seen)) return true;
	return v->def->nregion > 0;
}

static bool independent(const Sum *s, const Val *v, int nval)
{
	ArenaMark mark = arena_mark(A_TMP);
	bool without = !depends(v, s->var, NEW_ARRAY(A_TMP, bool, nval + 1));
	arena_release(A_TMP, mark);
	return without;
}

/* v is the variable after a round that added to it, or did not. */
static bool summed(Sum *s, const Val *v, int nval)
{
	if (v == s->var) return true;
	const Op *op = v->def;
	if (!op || s->seen[v->id]) return false;
	s->seen[v->id] = true;
	switch (op->code) {
	case OP_ADD: case OP_SUB: case OP_FMA: case OP_MMA: {
		int last = op->nin - 1;
		bool sum = summed(s, ir_in(op, op->code == OP_SUB ? 0 : last), nval);
		int other = op->code == OP_SUB ? 1 : 0;
		if (!sum && op->code == OP_ADD) {
			sum = summed(s, ir_in(op, 0), nval);
			other = 1;
		}
		if (!sum || !independent(s, ir_in(op, other), nval)) return false;
		if (last == 2 && !independent(s, ir_in(op, 1), nval)) return false;
		s->add = op;
		return true;
	}
	case OP_CAST: return summed(s, ir_in(op, 0), nval);
	case OP_SELECT: return summed(s, ir_in(op, 1), nval) && summed(s, ir_in(op, 2), nval);
	case OP_IF:
		for (int i = 0; i < op->nregion; i++) {
			const Op *end = op->region[i]->last;
			if (!end || end->code != OP_YIELD || !summed(s, ir_in(end, v->index), nval)) return false;
		}
		return true;
	default: return false;
	}
}

/* The statement around a place. */
static Span statement(Span at)
{
	const Src *src = src_of(at);
	if (!src) return at;
	uint32_t lo = at.lo - src->base, hi = at.hi - src->base;
	while (lo > 0 && !strchr(";{}", src->text[lo - 1])) lo--;
	while (hi < src->len && !strchr(";{}", src->text[hi])) hi++;
	return (Span){ src->base + lo, src->base + hi };
}

/* The one place in the statement that names the type; false: none, or several. */
static bool type_named(Span in, Elem e, Span *at)
{
	const Src *src = src_of(in);
	Str name = elem_name(e);
	size_t n = strlen(name);
	int found = 0;
	if (!src) return false;
	for (uint32_t i = in.lo - src->base; i + n <= in.hi - src->base; i++) {
		const char *p = src->text + i;
		bool begins = !i || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
		if (!begins || strncmp(p, name, n) || isalnum((unsigned char)p[n]) || p[n] == '_') continue;
		*at = (Span){ src->base + i, src->base + i + (uint32_t)n };
		found++;
	}
	return found == 1;
}

static void carried(const Fn *fn, const Val *var, const Val *init, const Val *next)
{
	Elem e = var->type->elem;
	Span at;
	if (elem_is_ptr(e) || (e != EL_F16 && e != EL_BF16) || next == var) return;
	Sum s = { var, NULL, NEW_ARRAY(A_TMP, bool, fn->nval + 1) };
	if (!summed(&s, next, fn->nval) || !s.add) return;
	Str name = var->name ? var->name : span_source(s.add->span);
	Diag *d = diag(D_ACCUMULATOR, s.add->span, name, elem_name(e), e == EL_F16 ? "11" : "8");
	bool named = init->def && init->def->code == OP_CONST && type_named(statement(init->def->span), e, &at);
	if (!named) {
		diag_help(d, "an accumulator of f32 is cast once, after the loop");
		return;
	}
	diag_help(d, "declare it with `f32`, and cast the sum after the loop");
	diag_edit(d, at, "f32");
}

void accumulator_op(ValSyms *vs, const Op *loop)
{
	bool counts = loop->code == OP_FOR;
	const IrBlock *body = loop->region[loop->nregion - 1];
	const Op *end = body->last;
	if (!end || end->code != OP_YIELD) return;
	if (counts && facts_le(vs->facts, valsym(vs, ir_in(loop, 1)), sym_add(valsym(vs, ir_in(loop, 0)), sym_const(1))))
		return;
	for (int i = counts; i < body->args.n; i++)
		carried(vs->fn, body->args.p[i], ir_in(loop, counts ? 2 + i : i), ir_in(end, i - counts));
}
