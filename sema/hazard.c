/* Warnings about blocks that get into each other's way: stores of several blocks to one place, loops that wait for
 * another block. One walk over a finished kernel; for each value it notes which block indices it may depend on, and
 * whether memory. */
#include "sema/distinct.h"
#include "sema/findings.h"
#include "sema/scope.h"

#include <stdlib.h>

enum { DEP_MEMORY = 16, DEP_ANY = 15 | DEP_MEMORY };    /* bits 0 to 3: bid(0) to bid(3) */

typedef struct Hazard {
	Fn *fn;
	uint8_t *dep;           /* by Val id */
	unsigned under;         /* dependences of the conditions around */
	bool nested;            /* inside a loop or an if */
	unsigned axes;          /* axes of the grid that may have more than one block */
	ValSyms *vs;
	LaneSyms *lanes;
	Random random;
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

/* The elements or numbers below changes of shape. */
static const Val *below_shape(const Val *v)
{
	while (v->def && (v->def->code == OP_BROADCAST || v->def->code == OP_RESHAPE)) v = ir_in(v->def, 0);
	return v;
}

static bool same_number(const Hazard *h, const Val *a, const Val *b)
{
	for (; a->def && a->def->code == OP_BROADCAST; a = ir_in(a->def, 0)) continue;
	for (; b->def && b->def->code == OP_BROADCAST; b = ir_in(b->def, 0)) continue;
	Num x, y;
	if (elem_is_int(a->type->elem) && ir_const_value(a, &x) && ir_const_value(b, &y)) return x.i == y.i;
	bool numbers = type_is_scalar(a->type) && type_is_scalar(b->type) && elem_is_int(a->type->elem)
		&& elem_is_int(b->type->elem);
	return a == b || (numbers && valsym(h->vs, a) == valsym(h->vs, b));
}

/* x / w and x % w say together where x is. */
static bool quotient_and_rest(const Hazard *h, const Val *a, const Val *b)
{
	const Op *p = below_shape(a)->def, *q = below_shape(b)->def;
	if (!p || !q || p->nin != 2 || q->nin != 2) return false;
	bool pair = (p->code == OP_DIV && q->code == OP_REM) || (p->code == OP_FLOORDIV && q->code == OP_FLOORMOD);
	bool same = below_shape(ir_in(p, 0)) == below_shape(ir_in(q, 0));
	return pair && same && same_number(h, ir_in(p, 1), ir_in(q, 1));
}

/* Whether two elements of an index may be equal. Each of its tiles surely differs along some axes; they do not meet
 * where those of all tiles together are all axes that the access has. */
static bool lanes_may_meet(const Hazard *h, const Op *op, int rank)
{
	unsigned axes = 0;
	bool memory = false, fold = false, known = true;
	for (int i = 1; i <= rank; i++) {
		const Val *v = ir_in(op, i);
		axes |= distinct_of(v).axes;
		memory |= (dep_of(h, op, i) & DEP_MEMORY) != 0;
		fold |= may_fold(v);
		known &= lanes_of(h->lanes, v) != NULL;
		for (int k = 1; k <= rank; k++)
			if (quotient_and_rest(h, v, ir_in(op, k)) && type_with_elem(ir_in(v->def, 0)->type, v->type->elem)
				== v->type) axes |= distinct_of(ir_in(v->def, 0)).axes;
	}
	if ((long_axes(ir_in(op, 1)->type) & ~axes) == 0 || known) return false;
	return memory || (fold && op->nin <= 2 + rank);         /* a mask may leave out what folds */
}

/* Does v read the elements that op stores? */
static bool reads_place(const Hazard *h, const Val *v, const Op *op)
{
	while (v->def && (v->def->code == OP_CAST || v->def->code == OP_RESHAPE || v->def->code == OP_TO_SCALAR))
		v = ir_in(v->def, 0);
	const Op *load = v->def;
	if (!load || (load->code != OP_LOAD && load->code != OP_GATHER) || ir_in(load, 0) != ir_in(op, 0)) return false;
	for (int i = 1; i <= ir_in(op, 0)->type->rank; i++)
		if (!same_number(h, ir_in(load, i), ir_in(op, i))) return false;
	return true;
}

/* The operation that does atomically what a store of a sum with the old elements was to do; NULL: none. */
static Str atomic_of(const Hazard *h, const Op *op)
{
	static const struct { OpCode code, atomic; } as[] = { { OP_ADD, OP_ATOMIC_ADD }, { OP_MIN, OP_ATOMIC_MIN },
		{ OP_MAX, OP_ATOMIC_MAX }, { OP_AND, OP_ATOMIC_AND }, { OP_OR, OP_ATOMIC_OR }, { OP_XOR, OP_ATOMIC_XOR } };
	const Val *view = ir_in(op, 0), *v = below_shape(ir_in(op, 1 + view->type->rank));
	while (v->def && v->def->code == OP_CAST) v = ir_in(v->def, 0);
	Elem e = view->type->elem;
	bool integer = elem_is_int(e) && elem_bytes(e) >= 4, adds = integer || (elem_is_any_float(e) && elem_bytes(e) >= 2);
	for (size_t i = 0; v->def && v->def->nin == 2 && i < sizeof as / sizeof *as; i++) {
		if (v->def->code != as[i].code || !(as[i].code == OP_ADD ? adds : integer)) continue;
		if (reads_place(h, ir_in(v->def, 0), op) || reads_place(h, ir_in(v->def, 1), op))
			return str_intern(op_rows[as[i].atomic].name);
	}
	return NULL;
}

static void race_help(const Hazard *h, Diag *d, const Op *op)
{
	const Val *view = ir_in(op, 0);
	Str atomic = atomic_of(h, op);
	if (atomic) diag_help(d, "updates of all blocks meet by `%s(%s, index, value)`", atomic,
		view->def || view->block != h->fn->body ? "tensor" : h->fn->params.p[view->index].name);
	else diag_help(d, "let the index depend on it, or use an atomic");
}

static void store_op(const Hazard *h, const Op *op)
{
	int rank = ir_in(op, 0)->type->rank;
	unsigned d = dep_of_all(h, op, 0, 1 + rank) | h->under, missing = h->axes & ~d;
	bool scatter = op->code == OP_SCATTER;
	if (scatter && op->nin > 2 + rank) d |= dep_of(h, op, 2 + rank);
	missing = h->axes & ~d;
	if (missing && !(d & DEP_MEMORY) && !h->nested && surely_many(h, missing)) {
		Diag *g = diag(D_RACE_SURE, op->span, axes_text(missing));
		if (atomic_of(h, op)) race_help(h, g, op);
	} else if (missing && !(d & DEP_MEMORY)) {
		race_help(h, diag(D_RACE, op->span, axes_text(missing)), op);
	} else if (scatter && rank && type_is_tile(ir_in(op, 1)->type) && lanes_may_meet(h, op, rank)) {
		diag0(D_RACE_LANES, op->span);
	}
}

/* ---- stores whose place is known up to the block ---- */
typedef struct ElementPlace { int64_t along[TENSOR_RANK]; } ElementPlace;        /* 0 along axes that the view lacks */

/* Where an access lies along the axes of its view: numbers from `base` on, one for each element, or `len` in a row. */
typedef struct Places {
	int rank;
	const Sym *base[TENSOR_RANK];
	int64_t len[TENSOR_RANK];       /* of a tile */
	int64_t n;                      /* of index tiles: how many elements are stored */
	ElementPlace *at;                      /* n of them, sorted; NULL: a tile */
} Places;

static int place_order(const void *a, const void *b)
{
	const ElementPlace *x = a, *y = b;
	for (int i = 0; i < TENSOR_RANK; i++)
		if (x->along[i] != y->along[i]) return x->along[i] < y->along[i] ? -1 : 1;
	return 0;
}

typedef struct Step { int axis; bool opaque; const Hazard *h; } Step;

static const Sym *next_block(void *ctx, const Sym *atom)
{
	const Step *s = ctx;
	return atom->atom == ATOM_BID && atom->index == s->axis ? sym_add(atom, sym_const(1)) : NULL;
}

static void note_opaque(void *ctx, const Sym *atom)
{
	Step *s = ctx;
	if (atom->atom == ATOM_VAL && (s->h->dep[atom->index] & (DEP_MEMORY | 1u << s->axis))) s->opaque = true;
}

/* How far the places of the next block along an axis of the grid are away; false: not a constant. */
static bool block_step(const Hazard *h, const Places *p, int axis, int64_t *step)
{
	Step s = { axis, false, h };
	for (int i = 0; i < p->rank; i++) {
		sym_atoms(p->base[i], note_opaque, &s);
		const Sym *d = sym_sub(sym_subst(p->base[i], next_block, &s), p->base[i]);
		if (s.opaque || !sym_is_const(d, &step[i])) return false;
	}
	return true;
}

/* Whether places moved by step meet places. */
static bool meet(const Places *p, const int64_t *step)
{
	if (!p->at) {
		for (int i = 0; i < p->rank; i++)
			if (step[i] >= p->len[i] || -step[i] >= p->len[i]) return false;
		return true;
	}
	for (int64_t i = 0; i < p->n; i++) {
		ElementPlace moved = p->at[i];
		for (int k = 0; k < p->rank; k++) moved.along[k] += step[k];
		if (bsearch(&moved, p->at, (size_t)p->n, sizeof moved, place_order)) return true;
	}
	return false;
}

static void blocks_meet(const Hazard *h, const Op *op, const Places *p)
{
	for (int axis = 0; axis < h->fn->ngrid; axis++) {
		int64_t step[TENSOR_RANK] = { 0 };
		unsigned bit = 1u << axis, around = h->under | dep_of(h, op, 0);
		if (!(h->axes & bit) || (around & bit) || !block_step(h, p, axis, step)) continue;
		bool moves = false;
		int k = 0;
		for (int i = p->rank - 1; i >= 0; i--)
			if (step[i]) moves = true, k = i;
		if (!moves || !meet(p, step)) continue;
		Diag *d = diag(D_RACE_OVERLAP, op->span, str_fmt("`bid(%d)`", axis), str_i64(step[k]), str_i64(k));
		if (!p->at) diag_note(d, "a tile is %lld long there", (long long)p->len[k]);
		long long len = (long long)p->len[k];
		if (!p->at) diag_help(d, "begin at a multiple of %lld elements, or use `store`, whose index counts tiles", len);
		else diag_help(d, "let the index grow by more from block to block, or use an atomic");
		return;
	}
}

static bool tile_places(const Hazard *h, const Op *op, Places *p)
{
	const Type *t = ir_in(op, op->nin - 1)->type;
	p->rank = t->rank;
	for (int i = 0; i < t->rank; i++) {
		p->base[i] = valsym_access(h->vs, op, i);
		p->len[i] = type_extent(t, i);
	}
	return p->rank > 0;
}

/* An element that surely lies outside is dropped. */
static bool dropped(const Hazard *h, const Op *op, const Places *p, const int64_t *at)
{
	for (int i = 0; i < p->rank; i++) {
		int64_t base, ext;
		const Sym *s = valsym_extent(h->vs, ir_in(op, 0), i);
		if (!sym_is_const(p->base[i], &base)) continue;
		if (base + at[i] < 0 || (s && sym_is_const(s, &ext) && base + at[i] >= ext)) return true;
	}
	return false;
}

static bool element_places(const Hazard *h, const Op *op, Places *p)
{
	const Lanes *l[TENSOR_RANK], *mask = NULL;
	int64_t mb = 0;
	p->rank = ir_in(op, 0)->type->rank;
	for (int i = 0; i < p->rank; i++) {
		l[i] = lanes_of(h->lanes, ir_in(op, 1 + i));
		if (!l[i] || l[i]->n != l[0]->n) return false;
		p->base[i] = l[i]->base;
	}
	if (op->nin > 2 + p->rank) {
		mask = lanes_of(h->lanes, ir_in(op, 2 + p->rank));
		if (!mask || !sym_is_const(mask->base, &mb)) return false;
	}
	p->at = NEW_ARRAY(A_TMP, ElementPlace, p->rank ? l[0]->n : 1);
	for (int64_t i = 0; p->rank && i < l[0]->n; i++) {
		int64_t *at = p->at[p->n].along;
		for (int k = 0; k < p->rank; k++) at[k] = l[k]->at[i];
		if (!dropped(h, op, p, at) && !(mask && !(mb + mask->at[i]))) p->n++;
	}
	if (p->n) qsort(p->at, (size_t)p->n, sizeof *p->at, place_order);
	return p->n > 0;
}

static bool lanes_meet(const Op *op, const Places *p)
{
	for (int64_t i = 1; i < p->n; i++) {
		if (place_order(&p->at[i - 1], &p->at[i]) != 0) continue;
		Diag *d = diag0(D_LANES_MEET, op->span);
		diag_help(d, "`atomic_add` adds all of them; `mask:` leaves some out");
		return true;
	}
	return false;
}

static void known_places(const Hazard *h, const Op *op)
{
	Places p = { 0 };
	bool tile = op->code == OP_STORE;
	if (!(tile ? tile_places(h, op, &p) : element_places(h, op, &p))) return;
	if (tile || !lanes_meet(op, &p)) blocks_meet(h, op, &p);
}

/* ---- waiting ---- */
typedef struct Waits { bool load, swap, other; } Waits;

static void look_at(void *ctx, Op *op)
{
	Waits *w = ctx;
	switch (op->code) {
	case OP_ATOMIC_LOAD: case OP_ATOMIC_LOAD_PTR: w->load = true; break;
	case OP_ATOMIC_CAS: case OP_ATOMIC_CAS_PTR: case OP_ATOMIC_RMW: case OP_ATOMIC_RMW_PTR: w->swap = true; break;
	case OP_STORE: case OP_SCATTER: case OP_STORE_PTR: case OP_ATOMIC_STORE: case OP_ATOMIC_STORE_PTR:
		w->other = true; break;
	default: break;
	}
}

static void note_weak(void *ctx, Op *op)
{
	const Op **load = ctx;
	if (!*load && (op->code == OP_LOAD || op->code == OP_GATHER)) *load = op;
}

/* A loop without variables of its own that stores nothing ends by what others store; weak loads need not see that. */
static void weak_wait(const Hazard *h, const Op *op)
{
	const Op *load = NULL;
	if (op->region[0]->args.n) return;
	ir_walk(op->region[0], note_weak, &load);
	ir_walk(op->region[1], note_weak, &load);
	const IrParam *root = load ? valsym_root(h->vs, ir_in(load, 0)) : NULL;
	if (!root) return;
	Diag *d = diag(D_WEAK_WAIT, load->span, root->name);
	if (root->mode == PM_IN) diag_help(d, "nothing stores to an `in` tensor: declare it `inout`; then `atomic_load` "
		"with `order: acquire` sees what another tile block stores");
	else diag_help(d, "`atomic_load` with `order: acquire` sees it, and what was stored before it was released");
}

/* A loop that only looks until memory changes. One that swaps and works is taken for a retry, which always gets on. */
static void while_op(const Hazard *h, const Op *op)
{
	Waits test = { 0 }, body = { 0 };
	ir_walk(op->region[0], look_at, &test);
	ir_walk(op->region[1], look_at, &body);
	bool spins = (test.load || body.load || test.swap) && !body.swap && !body.other;
	if (!spins && !body.swap && !body.other) weak_wait(h, op);
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
		bool runs;
		ValSpot spot = valsyms_enter(h->vs, op, r, true, &runs);
		walk_block(&in, b);
		valsyms_leave(h->vs, spot);
	}
	for (int i = 0; i < op->nout; i++) h->dep[op->out[i]->id] = DEP_ANY;
}

/* Whether what follows in the block depends on having stayed in it: `if bid(0) > 0 { return; }`. */
static bool leaves(const IrBlock *b)
{
	return b->last && op_has(b->last, OPF_JUMP);
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
		if (op->code == OP_BID) d = 1u << ir_axis(op);
		if (op_has(op, OPF_READ)) d |= DEP_ANY;
		for (int i = 0; i < op->nout; i++) h->dep[op->out[i]->id] = (uint8_t)d;
		random_op(&h->random, op, h->under & h->axes);
		if (op->code == OP_STORE || op->code == OP_SCATTER) {
			store_op(h, op);
			known_places(h, op);
		}
	}
	h->under = under;
}

void hazards_report(Fn *fn)
{
	ValSyms vs = valsyms_new(fn);
	LaneSyms lanes = lanes_new(&vs, fn);
	Hazard h = { .fn = fn, .dep = NEW_ARRAY(A_TMP, uint8_t, fn->nval + 1), .vs = &vs, .lanes = &lanes };
	for (int i = 0; i < fn->ngrid; i++) {
		int64_t n;
		if (!sym_is_const(fn->grid[i], &n) || n > 1) h.axes |= 1u << i;
	}
	h.random = (Random){ fn, NEW_ARRAY(A_TMP, const Op *, fn->nval + 1), h.dep, h.axes };
	walk_block(&h, fn->body);
	neighbours_report(fn, &vs, &lanes, h.dep);
}
