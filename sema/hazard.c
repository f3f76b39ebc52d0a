/* Warnings about blocks that get into each other's way: stores of several blocks to one place, loops that wait for another
 * block. One walk over a finished kernel; for each value it notes which block indices it may depend on, and whether memory. */
#include "sema/scope.h"

enum { DEP_MEMORY = 16, DEP_ANY = 15 | DEP_MEMORY };    /* bits 0 to 3: bid(0) to bid(3) */

typedef struct Hazard {
	Fn *fn;
	uint8_t *dep;           /* by Val id */
	unsigned under;         /* dependences of the conditions around */
	bool nested;            /* inside a loop or an if */
	unsigned axes;          /* axes of the grid that may have more than one block */
} Hazard;

static unsigned dep_of(const Hazard *h, const Op *op, int i)
{
	return h->dep[ir_in(op, i)->id];
}

static unsigned dep_of_all(const Hazard *h, const Op *op, int from, int to)
{
	unsigned d = 0;
	for (int i = from; i < to && i < op->nin; i++) d |= dep_of(h, op, i);
	return d;
}

/* ---- stores ---- */
static Str axes_text(unsigned axes)
{
	Out *o = out_new();
	for (int i = 0; i < 4; i++)
		if (axes >> i & 1) out_printf(o, "%s`bid(%d)`", o->n ? " and " : "", i);
	return out_take(o);
}

static bool surely_many(const Hazard *h, unsigned axes)
{
	for (int i = 0; i < h->fn->ngrid; i++) {
		int64_t n;
		if ((axes >> i & 1) && sym_is_const(h->fn->grid[i], &n) && n > 1) return true;
	}
	return false;
}

static void store_op(const Hazard *h, const Op *op)
{
	int rank = ir_in(op, 0)->type->rank;
	unsigned d = dep_of_all(h, op, 0, 1 + rank) | h->under, missing = h->axes & ~d;
	bool scatter = op->code == OP_SCATTER;
	if (scatter && op->nin > 2 + rank) d |= dep_of(h, op, 2 + rank);
	missing = h->axes & ~d;
	if (missing && !(d & DEP_MEMORY) && !h->nested && surely_many(h, missing)) {
		diag(D_RACE_SURE, op->span, axes_text(missing));
	} else if (missing && !(d & DEP_MEMORY)) {
		Diag *g = diag(D_RACE, op->span, axes_text(missing));
		diag_help(g, "let the index depend on it, or use an atomic");
	} else if (scatter && type_is_tile(ir_in(op, 1)->type) && (dep_of_all(h, op, 1, 1 + rank) & DEP_MEMORY)) {
		bool unique = false;
		for (int i = 1; i <= rank; i++) {
			const Op *def = ir_in(op, i)->def;
			const IrAttr *t = def && def->code == OP_HINT ? ir_attr(def, AT_TEXT) : NULL;
			unique |= t && t->u.s == str_intern("unique");
		}
		if (!unique) diag0(D_RACE_LANES, op->span);
	}
}

/* ---- waiting ---- */
typedef struct Waits { bool load, swap, other; } Waits;

static void look_at(void *ctx, Op *op)
{
	Waits *w = ctx;
	switch (op->code) {
	case OP_ATOMIC_LOAD: case OP_ATOMIC_LOAD_PTR: w->load = true; break;
	case OP_ATOMIC_CAS: case OP_ATOMIC_CAS_PTR: case OP_ATOMIC_RMW: case OP_ATOMIC_RMW_PTR: w->swap = true; break;
	case OP_STORE: case OP_SCATTER: case OP_STORE_PTR: case OP_ATOMIC_STORE: case OP_ATOMIC_STORE_PTR: w->other = true; break;
	default: break;
	}
}

/* A loop that only looks until memory changes. One that swaps and works is taken for a retry, which always gets on. */
static void while_op(const Hazard *h, const Op *op)
{
	Waits test = { 0 }, body = { 0 };
	ir_walk(op->region[0], look_at, &test);
	ir_walk(op->region[1], look_at, &body);
	bool spins = (test.load || body.load || test.swap) && !body.swap && !body.other;
	if (!spins || h->fn->ordered) return;
	Diag *d = diag0(D_PROGRESS, op->span);
	diag_help(d, "mark the kernel `@ordered` and wait for blocks of smaller index only");
}

/* ---- the walk ---- */
static void walk_block(Hazard *h, const IrBlock *b);

static void set_args(Hazard *h, const IrBlock *b, int from, unsigned d)
{
	for (int i = from; i < b->args.n; i++) h->dep[b->args.p[i]->id] = (uint8_t)d;
}

static void region_op(Hazard *h, const Op *op)
{
	Hazard in = *h;
	in.nested |= op->code != OP_SCOPE_;
	if (op->code == OP_IF) in.under |= dep_of(h, op, 0);
	if (op->code == OP_FOR) in.under |= dep_of_all(h, op, 0, 2) & ~(unsigned)DEP_MEMORY;
	if (op->code == OP_WHILE) while_op(h, op);
	for (int r = 0; r < op->nregion; r++) {
		const IrBlock *b = op->region[r];
		set_args(&in, b, 0, DEP_ANY);
		if (op->code == OP_FOR && b->args.n) in.dep[b->args.p[0]->id] = (uint8_t)dep_of_all(h, op, 0, 3);
		walk_block(&in, b);
	}
	for (int i = 0; i < op->nout; i++) h->dep[op->out[i]->id] = DEP_ANY;
}

/* Whether what follows in the block depends on having stayed in it: `if bid(0) > 0 { return; }`. */
static bool leaves(const IrBlock *b)
{
	return b->last && (b->last->code == OP_LEAVE || b->last->code == OP_BREAK || b->last->code == OP_CONTINUE);
}

static void walk_block(Hazard *h, const IrBlock *b)
{
	unsigned under = h->under;
	for (const Op *op = b->first; op; op = op->next) {
		unsigned d = dep_of_all(h, op, 0, op->nin);
		if (op->nregion) {
			region_op(h, op);
			bool left = false;
			for (int r = 0; r < op->nregion; r++) left |= leaves(op->region[r]);
			if (left) h->under |= op->code == OP_IF ? d : DEP_ANY;
			continue;
		}
		if (op->code == OP_BID) d = 1u << ir_int(op, AT_AXIS, 0);
		if (op_rows[op->code].flags & OPF_READ) d |= DEP_ANY;
		for (int i = 0; i < op->nout; i++) h->dep[op->out[i]->id] = (uint8_t)d;
		if (op->code == OP_STORE || op->code == OP_SCATTER) store_op(h, op);
	}
	h->under = under;
}

void hazards_report(Fn *fn)
{
	Hazard h = { .fn = fn, .dep = NEW_ARRAY(A_UNIT, uint8_t, fn->nval + 1) };
	for (int i = 0; i < fn->ngrid; i++) {
		int64_t n;
		if (!sym_is_const(fn->grid[i], &n) || n > 1) h.axes |= 1u << i;
	}
	walk_block(&h, fn->body);
}
