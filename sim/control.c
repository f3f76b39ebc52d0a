/* Control flow. All lanes of a warp take the same way; that they do is checked. */
#include <string.h>

#include "base/diag.h"
#include "sim/sim_int.h"

/* A condition that all lanes agree on. */
static bool sim_truth(Warp *w, const Val *v)
{
	const SimVal *c = sim_val(w, v);
	for (int l = 1; l < LANES; l++)
		if (!c->p[l].i != !c->p[0].i) sim_fault(w, "lanes 0 and %d part ways", l);
	return c->p[0].i != 0;
}

/* ---- carried values ---- */
static void copy_val(Warp *w, const Val *to, const Cell *from, int regs, int group)
{
	Cell *p = sim_def(w, to, regs);
	if (p != from) memcpy(p, from, (size_t)regs * LANES * sizeof *p);
	w->val[to->id].group = group;
}

static const SimVal *carried(Warp *w, const Val *v)
{
	const SimVal *x = sim_val(w, v);
	if (x->moved) sim_fault(w, "registers are lent on that a later product has as its own");
	return x;
}

static int held_regs(const SimVal *v, const Val *of) { return v->mask == LANES - 1 ? 1 : sim_regs(of); }

static bool is_target(int n, Val *const *to, const Val *v)
{
	for (int i = 0; i < n; i++)
		if (to[i] == v) return true;
	return false;
}

/* All at once: what is overwritten before it is read goes through a copy. */
static void assign_all(Warp *w, int n, Val *const *to, const Op *op, int first)
{
	int regs = 0;
	for (int i = 0; i < n; i++)
		if (is_target(n, to, ir_in(op, first + i))) regs += sim_regs(ir_in(op, first + i));
	Cell *copy = regs ? sim_scratch(w, regs) : NULL;
	ArenaMark mark = arena_mark(w->u->mem);
	const Cell **from = NEW_ARRAY(w->u->mem, const Cell *, n + 1);
	int *held = NEW_ARRAY(w->u->mem, int, n + 1), *group = NEW_ARRAY(w->u->mem, int, n + 1);
	for (int i = 0; i < n; i++) {
		const Val *v = ir_in(op, first + i);
		if (v->type->kind == TY_TOKEN) continue;
		const SimVal *x = carried(w, v);
		held[i] = held_regs(x, v);
		group[i] = x->group;
		from[i] = x->p;
		if (!is_target(n, to, v)) continue;
		memcpy(copy, x->p, (size_t)held[i] * LANES * sizeof *copy);
		from[i] = copy;
		copy += held[i] * LANES;
	}
	for (int i = 0; i < n; i++)
		if (from[i]) copy_val(w, to[i], from[i], held[i], group[i]);
	arena_release(w->u->mem, mark);
}

static void copy_all(Warp *w, int n, Val *const *to, Val *const *from)
{
	for (int i = 0; i < n; i++) {
		if (from[i]->type->kind == TY_TOKEN) continue;
		const SimVal *x = sim_val(w, from[i]);
		copy_val(w, to[i], x->p, held_regs(x, from[i]), x->group);
	}
}

/* ---- frames ---- */
Go sim_enter(Warp *w, const Step *s, int region, Frame f)
{
	f.group = w->group;
	f.active = w->active;
	f.num = w->num;
	f.code = &s->region[region];
	f.at = 0;
	f.owner = s;
	vec_push(w->u->r->mem, &w->frame, f);
	w->phase = 0;
	return GO_JUMP;
}

/* Ends the innermost frames down to the one at `depth`; the operation after what owned it follows. */
static Go leave(Warp *w, int depth)
{
	const Frame *f = &w->frame.p[depth];    /* what its owner changed */
	w->group = f->group;
	w->active = f->active;
	w->num = f->num;
	w->frame.n = depth;
	w->frame.p[depth - 1].at++;
	w->phase = 0;
	return GO_JUMP;
}

static int innermost(const Warp *w, bool loop)
{
	for (int i = w->frame.n - 1; i > 0; i--) {
		OpCode c = w->frame.p[i].owner->op->code;
		if (loop ? c == OP_FOR || c == OP_WHILE : c == OP_SCOPE_) return i;
	}
	bug("an end without what it ends");
}

/* ---- loops ---- */
static void set_counter(Warp *w, const Frame *f)
{
	const Val *counter = f->owner->op->region[0]->args.p[0];
	Cell *c = sim_def(w, counter, 1);
	uint64_t v = (uint64_t)f->lo + f->iteration * (uint64_t)f->step;
	for (int l = 0; l < LANES; l++) c[l] = cell_of(counter->type->elem, num_wrap(counter->type->elem, v));
}

static int64_t uniform(Warp *w, const Val *v)
{
	const SimVal *x = sim_val(w, v);
	for (int l = 1; l < LANES; l++)
		if (x->p[l].i != x->p[0].i) sim_fault(w, "lanes 0 and %d part ways", l);
	return x->p[0].i;
}

Go run_for(Warp *w, const Step *s)
{
	const Op *op = s->op;
	const IrBlock *b = op->region[0];
	bool u64 = b->args.p[0]->type->elem == EL_U64;
	int64_t lo = uniform(w, ir_in(op, 0)), hi = uniform(w, ir_in(op, 1)), step = uniform(w, ir_in(op, 2));
	if (u64 ? !step : step < 1) step = 1;
	bool any = u64 ? (uint64_t)lo < (uint64_t)hi : lo < hi;
	Frame f = { .owner = s, .lo = lo, .step = step, .iterations = any
		? ((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)step + 1 : 0 };
	assign_all(w, b->args.n - 1, b->args.p + 1, op, 3);
	if (!f.iterations) {
		copy_all(w, op->nout, op->out, b->args.p + 1);
		return GO_NEXT;
	}
	set_counter(w, &f);
	return sim_enter(w, s, 0, f);
}

static Go next_iteration(Warp *w, int depth)
{
	Frame *f = &w->frame.p[depth];
	const Op *op = f->owner->op;
	w->frame.n = depth + 1;
	w->phase = 0;
	if (op->code == OP_WHILE) {
		f->code = &f->owner->region[0];
		f->at = 0;
		return GO_JUMP;
	}
	if (++f->iteration == f->iterations) {
		copy_all(w, op->nout, op->out, op->region[0]->args.p + 1);
		return leave(w, depth);
	}
	set_counter(w, f);
	f->at = 0;
	return GO_JUMP;
}

Go run_while(Warp *w, const Step *s)
{
	assign_all(w, s->op->nin, s->op->region[0]->args.p, s->op, 0);
	return sim_enter(w, s, 0, (Frame){ 0 });
}

Go run_if(Warp *w, const Step *s) { return sim_enter(w, s, sim_truth(w, ir_in(s->op, 0)) ? 0 : 1, (Frame){ 0 }); }

Go run_scope(Warp *w, const Step *s) { return sim_enter(w, s, 0, (Frame){ 0 }); }

/* ---- ends ---- */
static Go end_yield(Warp *w, const Op *op)
{
	int depth = w->frame.n - 1;
	const Op *owner = w->frame.p[depth].owner->op;
	if (owner->code == OP_FOR) assign_all(w, op->nin, owner->region[0]->args.p + 1, op, 0);
	else if (owner->code == OP_WHILE) assign_all(w, op->nin, owner->region[0]->args.p, op, 0);
	else assign_all(w, op->nin, owner->out, op, 0);
	return op_has(owner, OPF_LOOP) ? next_iteration(w, depth) : leave(w, depth);
}

static Go end_condition(Warp *w, const Op *op)
{
	Frame *f = &w->frame.p[w->frame.n - 1];
	const Op *owner = f->owner->op;
	bool on = sim_truth(w, ir_in(op, 0));
	assign_all(w, op->nin - 1, owner->region[1]->args.p, op, 1);
	if (!on) {
		copy_all(w, owner->nout, owner->out, owner->region[1]->args.p);
		return leave(w, w->frame.n - 1);
	}
	f->code = &f->owner->region[1];
	f->at = 0;
	return GO_JUMP;
}

Go run_end(Warp *w, const Step *s)
{
	const Op *op = s->op, *owner;
	int depth;
	switch (op->code) {
	case OP_YIELD: return end_yield(w, op);
	case OP_CONDITION: return end_condition(w, op);
	case OP_BREAK: case OP_LEAVE:
		depth = innermost(w, op->code == OP_BREAK);
		owner = w->frame.p[depth].owner->op;
		assign_all(w, op->nin, owner->out, op, 0);
		return leave(w, depth);
	case OP_CONTINUE:
		depth = innermost(w, true);
		owner = w->frame.p[depth].owner->op;
		assign_all(w, op->nin, owner->code == OP_FOR ? owner->region[0]->args.p + 1 : owner->region[0]->args.p, op, 0);
		return next_iteration(w, depth);
	case OP_RETURN:
		w->state = WARP_DONE;
		return GO_JUMP;
	default: bug("`%s` ends no block", op_rows[op->code].name);
	}
}
