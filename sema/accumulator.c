/* Sums of f16 and bf16 that a loop carries: each iteration rounds the sum to 11 or 8 significant bits. A sum is a
 * variable to which iterations add what does not depend on it; an iteration such as `x = x + f(x)` is none. */
#include "sema/findings.h"

#include <ctype.h>
#include <string.h>

/* What is known of each value of the loop's body, by Val id; found from the first operation to the last, so that a
 * chain of additions may be as long as the program. */
typedef struct Sums {
	bool *depends;          /* on the variable, as far as can be seen */
	bool *sum;              /* it is the variable after something was added to it, or nothing */
	const Op **add;         /* the last operation that added to it */
} Sums;

static void hand_on(Sums *s, const Val *to, const Val *from)
{
	if (s->add[from->id]) s->add[to->id] = s->add[from->id];
}

static void added(Sums *s, const Op *op)
{
	const Val *out = op->out[0];
	bool sub = op->code == OP_SUB;
	int last = op->nin - 1, sum = sub ? 0 : last;
	if (op->code == OP_ADD && !s->sum[ir_in(op, last)->id]) sum = 0;
	if (!s->sum[ir_in(op, sum)->id]) return;
	for (int i = 0; i < op->nin; i++)
		if (i != sum && s->depends[ir_in(op, i)->id]) return;
	s->sum[out->id] = true;
	s->add[out->id] = op;
}

static void chosen(Sums *s, const Op *op)
{
	for (int k = 0; k < op->nout; k++) {
		bool all = true;
		for (int i = 0; i < op->nregion && all; i++) {
			const Op *end = op->region[i]->last;
			all = end && end->code == OP_YIELD && s->sum[ir_in(end, k)->id];
			if (all) hand_on(s, op->out[k], ir_in(end, k));
		}
		s->sum[op->out[k]->id] = all;
	}
}

static void look(Sums *s, const IrBlock *body)
{
	for (const Op *op = body->first; op; op = op->next) {
		bool depends = op->nregion > 0;
		for (int i = 0; i < op->nregion; i++) look(s, op->region[i]);
		for (int i = 0; i < op->nin; i++) depends |= s->depends[ir_in(op, i)->id];
		for (int i = 0; i < op->nout; i++) s->depends[op->out[i]->id] = depends;
		switch (op->code) {
		case OP_ADD: case OP_SUB: case OP_FMA: case OP_MMA:
			added(s, op);
			break;
		case OP_CAST:
			s->sum[op->out[0]->id] = s->sum[ir_in(op, 0)->id];
			hand_on(s, op->out[0], ir_in(op, 0));
			break;
		case OP_SELECT:
			s->sum[op->out[0]->id] = s->sum[ir_in(op, 1)->id] && s->sum[ir_in(op, 2)->id];
			hand_on(s, op->out[0], ir_in(op, 1));
			hand_on(s, op->out[0], ir_in(op, 2));
			break;
		case OP_IF:
			chosen(s, op);
			break;
		default:
			break;
		}
	}
}

/* The last operation by which an iteration of the loop adds to the variable, if adding is all that it does to it. */
static const Op *summed(const Fn *fn, const IrBlock *body, const Val *var, const Val *next)
{
	ArenaMark mark = arena_mark(A_TMP);
	Sums s = { NEW_ARRAY(A_TMP, bool, fn->nval + 1), NEW_ARRAY(A_TMP, bool, fn->nval + 1),
		NEW_ARRAY(A_TMP, const Op *, fn->nval + 1) };
	s.depends[var->id] = s.sum[var->id] = true;
	look(&s, body);
	const Op *add = s.sum[next->id] ? s.add[next->id] : NULL;
	arena_release(A_TMP, mark);
	return add;
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

static void carried(const Fn *fn, const IrBlock *body, const Val *var, const Val *init, const Val *next)
{
	Elem e = var->type->elem;
	Span at;
	if (elem_is_ptr(e) || (e != EL_F16 && e != EL_BF16) || next == var) return;
	const Op *add = summed(fn, body, var, next);
	if (!add) return;
	Str name = var->name ? var->name : span_source(add->span);
	Diag *d = diag(D_ACCUMULATOR, add->span, name, elem_name(e), e == EL_F16 ? "11" : "8");
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
		carried(vs->fn, body, body->args.p[i], ir_in(loop, counts ? 2 + i : i), ir_in(end, i - counts));
}
