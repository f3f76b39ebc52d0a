/* The functions of reductions and scans. Their values are scalars, another in each lane, and lanes may take different
 * ways: each operation is carried out for all lanes, but what carries values on - the ends of blocks - only for those
 * that are there. */
#include <string.h>

#include "base/diag.h"
#include "sim/sim_int.h"

typedef struct Way {            /* a loop or scope around what runs */
	struct Way *up;
	const Op *op;
	uint32_t again, out;    /* lanes that continue; lanes that left it by a break, a condition, a leave */
} Way;

typedef struct RegionRun { Warp *w; Way *way; Cell *const *yields; } RegionRun;

static void assign(RegionRun *r, int n, Val *const *to, const Op *op, int first, uint32_t lanes)
{
	Cell copy[2 * TILE_RANK][LANES];
	if (n > 2 * TILE_RANK) bug("%d values are carried in a function of a reduction", n);
	for (int i = 0; i < n; i++) memcpy(copy[i], sim_val(r->w, ir_in(op, first + i))->p, sizeof copy[i]);
	for (int i = 0; i < n; i++) {
		Cell *p = sim_def(r->w, to[i], 1);
		for (int l = 0; l < LANES; l++)
			if (lanes >> l & 1) p[l] = copy[i][l];
	}
}

static void pass_on(RegionRun *r, int n, Val *const *to, Val *const *from, uint32_t lanes)
{
	for (int i = 0; i < n; i++) {
		const Cell *x = sim_val(r->w, from[i])->p;
		Cell *p = sim_def(r->w, to[i], 1);
		for (int l = 0; l < LANES; l++)
			if (lanes >> l & 1) p[l] = x[l];
	}
}

static uint32_t run_block(RegionRun *r, const Code *c, uint32_t lanes);

static uint32_t masked_if(RegionRun *r, const Step *s, uint32_t lanes)
{
	const Cell *c = sim_val(r->w, ir_in(s->op, 0))->p;
	uint32_t yes = 0;
	for (int l = 0; l < LANES; l++) yes |= (uint32_t)(c[l].i != 0) << l;
	uint32_t done = run_block(r, &s->region[0], lanes & yes);
	return done | run_block(r, &s->region[1], lanes & ~yes);
}

static uint32_t masked_scope(RegionRun *r, const Step *s, uint32_t lanes)
{
	Way way = { r->way, s->op, 0, 0 };
	r->way = &way;
	run_block(r, &s->region[0], lanes);
	r->way = way.up;
	return way.out;
}

static uint32_t masked_for(RegionRun *r, const Step *s, uint32_t lanes)
{
	const Op *op = s->op;
	const IrBlock *b = op->region[0];
	const Val *counter = b->args.p[0];
	Elem e = counter->type->elem;
	Way way = { r->way, op, 0, 0 };
	uint64_t iterations[LANES];
	int64_t lo[LANES], step[LANES];
	uint32_t at = 0;
	for (int l = 0; l < LANES; l++) {
		int64_t hi = sim_val(r->w, ir_in(op, 1))->p[l].i;
		lo[l] = sim_val(r->w, ir_in(op, 0))->p[l].i, step[l] = sim_val(r->w, ir_in(op, 2))->p[l].i;
		bool any = e == EL_U64 ? (uint64_t)lo[l] < (uint64_t)hi : lo[l] < hi;
		if (e == EL_U64 ? !step[l] : step[l] < 1) step[l] = 1;
		iterations[l] = any ? ((uint64_t)hi - (uint64_t)lo[l] - 1) / (uint64_t)step[l] + 1 : 0;
		at |= (uint32_t)(iterations[l] > 0) << l;
	}
	assign(r, b->args.n - 1, b->args.p + 1, op, 3, lanes);
	pass_on(r, op->nout, op->out, b->args.p + 1, lanes & ~at);
	uint32_t out = lanes & ~at;
	at &= lanes;
	r->way = &way;
	for (uint64_t k = 0; at && !sim_failed(r->w->u->r); k++) {
		Cell *c = sim_def(r->w, counter, 1);
		for (int l = 0; l < LANES; l++) c[l] = cell_of(e, num_wrap(e, (uint64_t)lo[l] + k * (uint64_t)step[l]));
		way.again = 0;
		at = run_block(r, &s->region[0], at) | way.again;
		uint32_t ends = 0;
		for (int l = 0; l < LANES; l++) ends |= (uint32_t)(at >> l & 1 && k + 1 == iterations[l]) << l;
		pass_on(r, op->nout, op->out, b->args.p + 1, ends);
		out |= ends;
		at &= ~ends;
		if (--r->w->u->r->budget < 0) sim_fault(r->w, "does not end");
	}
	r->way = way.up;
	return out | way.out;
}

static uint32_t masked_while(RegionRun *r, const Step *s, uint32_t lanes)
{
	const Op *op = s->op;
	Way way = { r->way, op, 0, 0 };
	assign(r, op->nin, op->region[0]->args.p, op, 0, lanes);
	r->way = &way;
	while (lanes && !sim_failed(r->w->u->r)) {
		way.again = 0;
		lanes = run_block(r, &s->region[0], lanes);
		lanes = run_block(r, &s->region[1], lanes) | way.again;
		if (--r->w->u->r->budget < 0) sim_fault(r->w, "does not end");
	}
	r->way = way.up;
	return way.out;
}

static Way *around(RegionRun *r, bool loop)
{
	Way *y = r->way;
	while (y && loop != (y->op->code != OP_SCOPE_)) y = y->up;
	if (!y) bug("an end without what it ends");
	return y;
}

/* The lanes that go on after the block. */
static uint32_t masked_end(RegionRun *r, const Op *op, uint32_t lanes)
{
	const Op *owner = op->parent->owner;
	Way *y;
	switch (op->code) {
	case OP_YIELD:
		if (owner->code == OP_FOR) assign(r, op->nin, owner->region[0]->args.p + 1, op, 0, lanes);
		else if (owner->code == OP_WHILE) assign(r, op->nin, owner->region[0]->args.p, op, 0, lanes);
		else if (owner->code == OP_IF) assign(r, op->nin, owner->out, op, 0, lanes);
		else
			for (int i = 0; i < op->nin; i++)
				memcpy(r->yields[i], sim_val(r->w, ir_in(op, i))->p, LANES * sizeof(Cell));
		return lanes;
	case OP_CONDITION: {
		const Cell *c = sim_val(r->w, ir_in(op, 0))->p;
		uint32_t on = 0;
		for (int l = 0; l < LANES; l++) on |= (uint32_t)(c[l].i != 0) << l;
		assign(r, op->nin - 1, owner->region[1]->args.p, op, 1, lanes);
		pass_on(r, owner->nout, owner->out, owner->region[1]->args.p, lanes & ~on);
		around(r, true)->out |= lanes & ~on;
		return lanes & on;
	}
	case OP_BREAK: case OP_LEAVE:
		y = around(r, op->code == OP_BREAK);
		assign(r, op->nin, y->op->out, op, 0, lanes);
		y->out |= lanes;
		return 0;
	case OP_CONTINUE:
		y = around(r, true);
		assign(r, op->nin, y->op->code == OP_FOR ? y->op->region[0]->args.p + 1 : y->op->region[0]->args.p, op, 0,
			lanes);
		y->again |= lanes;
		return 0;
	default: bug("`%s` in a function of a reduction", op_rows[op->code].name);
	}
}

static uint32_t run_block(RegionRun *r, const Code *c, uint32_t lanes)
{
	for (int i = 0; i < c->n && lanes; i++) {
		const Step *s = &c->step[i];
		switch (s->op->code) {
		case OP_IF: lanes = masked_if(r, s, lanes); continue;
		case OP_FOR: lanes = masked_for(r, s, lanes); continue;
		case OP_WHILE: lanes = masked_while(r, s, lanes); continue;
		case OP_SCOPE_: lanes = masked_scope(r, s, lanes); continue;
		default: break;
		}
		if (op_has(s->op, OPF_TERM)) return masked_end(r, s->op, lanes);
		s->run(r->w, s);
	}
	return lanes;
}

void sim_region(Warp *w, const Code *c, Cell *const *args, Cell *const *yields)
{
	RegionRun r = { w, NULL, yields };
	for (int i = 0; i < c->block->args.n; i++)
		memcpy(sim_def(w, c->block->args.p[i], 1), args[i], LANES * sizeof(Cell));
	run_block(&r, c, UINT32_MAX);
}
