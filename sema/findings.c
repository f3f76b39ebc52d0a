/* Accesses that never reach their tensor, indices that count what they should not, counts that leave a rest, pads in
 * reductions, and views that memory serves badly. One walk over a finished kernel with what is known at each op; code
 * that is proved not to run is left out. */
#include "sema/findings.h"

#include "base/machine.h"

enum { SMALL = 256 };   /* bytes of a tile that is not worth a word */

/* An access of which no element lies inside: where it begins along that axis, and the extent. */
typedef struct Outside { const Op *op; const IrParam *root; int axis; int64_t len; const Sym *at, *ext; } Outside;

/* What an unrolled loop has made of one access: outside is what all of its copies are. */
typedef struct Copies { Outside first; int all, outside; } Copies;

typedef struct Findings {
	ValSyms vs;
	Padding pad;
	Untransposed moved;
	Cover *cover;
	const Sym **end;        /* of loops, by the Val id of their counters */
	bool misplaced;         /* an access was reported whose place is not the one that is meant */
	bool swapped;           /* an access was reported whose axes of the grid are swapped */
	const SpanVec *copied;  /* unrolled loops */
	VEC(Copies) copies;     /* accesses in these */
	unsigned rests;         /* axes of the grid of which was said that they leave a rest */
} Findings;

/* ---- outside ---- */
/* a >= b for certain. A proof is searched for sums in dimensions only: most indices are block indices and counters. */
static void note_other(void *ctx, const Sym *atom)
{
	if (atom->atom != ATOM_DIM && atom->atom != ATOM_STRIDE) *(bool *)ctx = true;
}

static bool surely_least(const Facts *f, const Sym *a, const Sym *b)
{
	const Sym *d = sym_sub(a, b);
	int64_t v;
	if (sym_is_const(d, &v)) return v >= 0;
	if (facts_eval_range(f, d).lo >= 0) return true;
	bool other = sym_is_const(a, &v);
	sym_atoms(a, note_other, &other);
	return !other && facts_le(f, b, a);
}

static bool axis_outside(Findings *w, const Op *op, const Sym *at, int64_t len, int axis, Outside *o)
{
	const Val *view = ir_in(op, 0);
	const IrParam *root = valsym_root(&w->vs, view);
	const Sym *ext = valsym_extent(&w->vs, view, axis);
	int64_t c;
	bool zero = sym_is_const(at, &c) && c == 0;     /* of an empty tensor everything is outside */
	zero |= ext && sym_is_const(ext, &c) && c == 0; /* and of an empty slice, which is told of by itself */
	if (!root || !ext || zero) return false;
	bool beyond = surely_least(w->vs.facts, at, ext);
	bool before = facts_eval_range(w->vs.facts, sym_add(at, sym_const(len))).hi <= 0;
	*o = (Outside){ op, root, axis, len, at, ext };
	return beyond || before;
}

static bool is_outside(Findings *w, const Op *op, Outside *o)
{
	int rank = ir_in(op, 0)->type->rank;
	bool tiles = op->code == OP_LOAD || op->code == OP_STORE;
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : op->code == OP_STORE ? ir_in(op, op->nin - 1)->type : NULL;
	for (int i = 0; i < rank; i++) {
		const Val *index = ir_in(op, 1 + i);
		if (type_is_tile(index->type)) continue;
		const Sym *at = tiles ? valsym_access(&w->vs, op, i) : valsym(&w->vs, index);
		if (axis_outside(w, op, at, t ? type_extent(t, i) : 1, i, o)) return true;
	}
	return false;
}

static void say_outside(const Outside *o)
{
	const Op *op = o->op;
	bool tile = o->len > 1 || op->code == OP_LOAD || op->code == OP_STORE;
	Diag *d = diag(D_OUTSIDE, op->span, tile ? "tile" : "element", o->root->name, str_i64(o->axis), sym_text(o->at),
		sym_text(o->ext));
	diag_label(d, o->root->span, "`%s` is declared here", o->root->name);
	if (op->code == OP_STORE || op->code == OP_SCATTER) diag_note(d, "the store is dropped");
	else diag_note(d, "it reads the pad only");
}

static Copies *copies_of(Findings *w, const Op *op)
{
	bool copied = false;
	for (int i = 0; i < w->copied->n && !copied; i++)
		copied = w->copied->p[i].lo <= op->span.lo && op->span.hi <= w->copied->p[i].hi;
	if (!copied) return NULL;
	for (int i = 0; i < w->copies.n; i++)
		if (w->copies.p[i].first.op->span.lo == op->span.lo) return &w->copies.p[i];
	vec_push(A_TMP, &w->copies, ((Copies){ .first.op = op }));
	return &w->copies.p[w->copies.n - 1];
}

static void outside(Findings *w, const Op *op)
{
	Outside o = { 0 };
	bool is = is_outside(w, op, &o);
	Copies *c = copies_of(w, op);
	if (!c) {
		if (is) say_outside(&o);
		return;
	}
	c->all++;
	if (is && !c->outside++) c->first = o;
}

/* After the walk: whether something was said. */
static bool outside_copies(const Findings *w)
{
	bool said = false;
	for (int i = 0; i < w->copies.n; i++) {
		const Copies *c = &w->copies.p[i];
		if (c->outside < c->all) continue;
		say_outside(&c->first);
		said = true;
	}
	return said;
}

/* ---- counting ---- */
/* s = factor * counter, a block index or the counter of a loop; *end: where the counter stops. */
static bool counted(const Findings *w, const Sym *s, int64_t *factor, const Sym **counter, const Sym **end)
{
	bool scaled = s->kind == SYM_MUL && s->n == 2 && sym_is_const(s->arg[0], factor);
	if (!scaled) *factor = 1;
	*counter = scaled ? s->arg[1] : s;
	if ((*counter)->kind != SYM_ATOM) return false;
	*end = (*counter)->atom == ATOM_BID ? w->vs.fn->grid[(*counter)->index] :
		(*counter)->atom == ATOM_VAL ? w->end[(*counter)->index] : NULL;
	return *end != NULL;
}

static Str index_text(Findings *w, const Op *op, int axis)
{
	const Val *v = ir_in(op, 1 + axis);
	return v->name ? v->name : sym_text(valsym(&w->vs, v));
}

/* The index of a tile runs over elements, or over the first ones of tiles. */
static bool counts_elements(Findings *w, const Op *op, const Sym *index, int64_t len, int axis)
{
	const IrParam *root = valsym_root(&w->vs, ir_in(op, 0));
	const Sym *ext = valsym_extent(&w->vs, ir_in(op, 0), axis), *counter, *end;
	int64_t factor, n;
	if (!root || !ext || !counted(w, index, &factor, &counter, &end)) return false;
	const Sym *tiles = sym_cdiv(ext, sym_const(len));
	bool by_tile = factor % len == 0 && (end == tiles || end == sym_div(ext, sym_const(len)));
	bool by_element = factor == 1 && end == ext && end != tiles;
	if ((!by_tile && !by_element) || (sym_is_const(end, &n) && n <= 1)) return false;
	bool stores = op->code == OP_STORE;
	Diag *d = diag(D_TILE_COUNT, op->span, index_text(w, op, axis), str_i64(len), str_i64(axis), root->name);
	if (by_tile)
		diag_help(d, "the factor is left out, or `%s` takes the first element", stores ? "store_at" : "load_at");
	else
		diag_help(d, "`%s` takes the first element; a tile number runs to `%s`", stores ? "store_at" : "load_at",
			sym_text(tiles));
	return true;
}

/* The offset of a tile runs over tile numbers: each overlaps the next but for one element. (Stores that do so race.) */
static bool counts_tiles(Findings *w, const Op *op, const Sym *index, int64_t len, int axis)
{
	const IrParam *root = valsym_root(&w->vs, ir_in(op, 0));
	const Sym *ext = valsym_extent(&w->vs, ir_in(op, 0), axis), *counter, *end;
	int64_t factor, n;
	if (!root || !ext || !counted(w, index, &factor, &counter, &end) || factor != 1) return false;
	if (end != sym_cdiv(ext, sym_const(len)) && end != sym_div(ext, sym_const(len))) return false;
	if (sym_is_const(end, &n) && n <= 1) return false;
	Diag *d = diag(D_OFFSET_COUNT, op->span, index_text(w, op, axis), str_i64(axis), root->name, str_i64(len));
	diag_help(d, "`load` takes the number of a tile; its first element is that number times %lld", (long long)len);
	return true;
}

/* A quotient that is the extent of a parameter was rounded down on purpose. */
static bool is_extent(const Fn *fn, const Sym *s)
{
	for (int i = 0; i < fn->params.n; i++)
		for (int k = 0; k < fn->params.p[i].rank; k++)
			if (fn->params.p[i].extent[k] == s) return true;
	return false;
}

/* Tiles are counted by a quotient that is rounded down. */
static bool leaves_rest(Findings *w, const Op *op, const Sym *index, int64_t len, int axis)
{
	const IrParam *root = valsym_root(&w->vs, ir_in(op, 0));
	const Sym *ext = valsym_extent(&w->vs, ir_in(op, 0), axis), *counter, *end;
	int64_t factor;
	if (!root || !ext || !counted(w, index, &factor, &counter, &end) || factor != 1) return false;
	if (end->kind != SYM_DIV || end != sym_div(ext, sym_const(len)) || facts_gcd(w->vs.facts, ext) % len == 0)
		return false;
	if (is_extent(w->vs.fn, end)) return false;
	bool grid = counter->atom == ATOM_BID;
	if (grid && (w->rests >> counter->index & 1)) return false;
	if (grid) w->rests |= 1u << counter->index;
	else w->end[counter->index] = NULL;
	Diag *d = diag(D_REST, op->span, sym_text(end), str_i64(axis), root->name,
		op->code == OP_STORE ? "stored" : "read");
	diag_help(d, "rounded up, `%s`, the last tile is cut by itself; else `where %s %% %lld == 0` "
		"promises that there is none", sym_text(sym_cdiv(ext, sym_const(len))), sym_text(ext), (long long)len);
	return true;
}

static void counting(Findings *w, const Op *op)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS);
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	if (ir_attr(op, AT_OFFSETS)) return;
	for (int i = 0; i < t->rank; i++) {
		int64_t len = type_extent(t, i);
		if (len < 2 || !steps) continue;
		const Sym *index = valsym(&w->vs, ir_in(op, 1 + i));
		if (op->code == OP_LOAD && steps->u.ints.p[i] == 1 && counts_tiles(w, op, index, len, i)) return;
		if (steps->u.ints.p[i] != len) continue;
		if (counts_elements(w, op, index, len, i) || leaves_rest(w, op, index, len, i)) return;
	}
}

/* ---- speed ---- */
static bool static_value(const Sym *s, int64_t *v)
{
	return s && sym_is_const(s, v);
}

static void help_between(Diag *d, const Op *op)
{
	bool store = op->code == OP_STORE;
	diag_help(d, "%s together with what lies between, %s, they %s in pieces of up to 16 bytes",
		store ? "stored" : "loaded",
		store ? "put together by `join` or `cat`" : "and taken apart by `split`, `extract` or `gather`",
		store ? "go" : "come");
}

/* Neighbours in memory lie along `inner`; the tile takes so few of them that most of each
 * sector is read for nothing. */
static void slow_rows(Findings *w, const Op *op, const Type *t, int inner)
{
	const Val *view = ir_in(op, 0);
	const IrParam *root = valsym_root(&w->vs, view);
	int64_t row = type_extent(t, inner) * elem_bytes(t->elem), ext;
	bool many = false;
	for (int i = 0; i < t->rank; i++) many |= i != inner && t->log2[i];
	if (!root || !many || row >= SECTOR || type_bytes(t) < SMALL) return;
	if (static_value(valsym_extent(&w->vs, view, inner), &ext) && ext <= type_extent(t, inner)) return;
	Diag *d = diag(D_UNCOALESCED, op->span, shape_text(t->rank, t->log2), str_fmt("%lld", (long long)row), root->name);
	diag_label(d, root->span, "neighbours in memory lie along axis %d", inner);
	if (static_value(valsym_extent(&w->vs, view, inner), &ext) && ext * elem_bytes(t->elem) < SECTOR)
		help_between(d, op);
	else diag_help(d, "make the tile at least %d long along axis %d", (int)(SECTOR / elem_bytes(t->elem)), inner);
}

/* No axis of the view has neighbours in memory: each element is accessed by itself. */
static void strided(Findings *w, const Op *op, const Type *t)
{
	const IrParam *root = valsym_root(&w->vs, ir_in(op, 0));
	int64_t least = 0, v, bytes = elem_bytes(t->elem);
	if (!root || type_bytes(t) < SMALL) return;
	for (int i = 0; i < t->rank; i++)
		if (t->log2[i] && static_value(valsym_stride(&w->vs, ir_in(op, 0), i), &v) && v > 1)
			least = least ? v < least ? v : least : v;
	if (!least) return;
	int64_t times = least * bytes < SECTOR ? least : SECTOR / bytes;
	Diag *d = diag(D_STRIDED, op->span, shape_text(t->rank, t->log2), str_i64(least * bytes), root->name,
		op->code == OP_STORE ? "stored" : "loaded", str_i64(times));
	diag_label(d, root->span, "`%s` is declared here", root->name);
	if (least * bytes < SECTOR) help_between(d, op);
}

static void slow_start(Findings *w, const Op *op, const Type *t, int inner)
{
	const Val *view = ir_in(op, 0);
	const IrParam *root = valsym_root(&w->vs, view);
	int64_t bytes = elem_bytes(t->elem), v, ext;
	if (!root || type_extent(t, inner) * bytes < VECTOR_BYTES) return;
	if (static_value(valsym_extent(&w->vs, view, inner), &ext) && ext * bytes < VECTOR_BYTES) return;
	for (int i = 0; i < t->rank; i++) {
		if (i == inner || !static_value(valsym_stride(&w->vs, view, i), &v) || v * bytes % VECTOR_BYTES == 0) continue;
		if (static_value(valsym_extent(&w->vs, view, i), &ext) && ext <= 1) continue;
		Diag *d = diag(D_UNALIGNED, op->span, root->name, str_fmt("%d", i), str_fmt("%lld", (long long)(v * bytes)));
		diag_label(d, root->span, "`%s` is declared here", root->name);
		diag_help(d, "rows are padded in memory by `layout_right_padded<%d>`", (int)(VECTOR_BYTES / bytes));
		return;
	}
}

static void speed(Findings *w, const Op *op)
{
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	for (int i = t->rank - 1; i >= 0; i--) {
		int64_t v;
		if (!static_value(valsym_stride(&w->vs, ir_in(op, 0), i), &v) || v != 1) continue;
		slow_rows(w, op, t, i);
		slow_start(w, op, t, i);
		return;
	}
	strided(w, op, t);
}

/* ---- which axis of the grid ---- */
static int block_axis(const Val *v) { return v->def && v->def->code == OP_BID ? (int)ir_int(v->def, AT_AXIS, 0) : -1; }

/* The index of a block is compared with how many there are. */
static void past_grid(Findings *w, const Op *op)
{
	for (int i = 0; i < 2; i++) {
		int axis = block_axis(ir_in(op, i));
		if (axis < 0 || type_is_tile(ir_in(op, !i)->type) || valsym(&w->vs, ir_in(op, !i)) != w->vs.fn->grid[axis])
			continue;
		Diag *d = diag(D_PAST_GRID, op->span, str_i64(axis));
		diag_help(d, "the last one is `num_blocks(%d) - 1`", axis);
		return;
	}
}

/* How many tiles an access has along an axis that is indexed by bid(*block) alone; NULL: it is not. */
static const Sym *tiles_by_block(Findings *w, const Op *op, const Type *t, int axis, int *block)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS);
	const Sym *ext = valsym_extent(&w->vs, ir_in(op, 0), axis);
	*block = block_axis(ir_in(op, 1 + axis));
	if (!ext || *block < 0 || (steps && steps->u.ints.p[axis] != type_extent(t, axis))) return NULL;
	return sym_cdiv(ext, sym_const(type_extent(t, axis)));
}

static bool equal(const Findings *w, const Sym *a, const Sym *b)
{
	return a == b || (facts_le(w->vs.facts, a, b) && facts_le(w->vs.facts, b, a));
}

static bool as_long(Findings *w, const Op *op, const Type *t, int i, int k)
{
	const Val *view = ir_in(op, 0);
	return t->log2[i] == t->log2[k] && equal(w, valsym_extent(&w->vs, view, i), valsym_extent(&w->vs, view, k));
}

/* Where the block index or loop counter stops that alone is the index along an axis, whose
 * tiles are *tiles; NULL: there is none. */
static const Sym *counter_end(Findings *w, const Op *op, const Type *t, int axis, const Sym **tiles)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS);
	const Sym *ext = valsym_extent(&w->vs, ir_in(op, 0), axis), *counter, *end;
	int64_t factor, len = type_extent(t, axis);
	if (!ext || (steps && steps->u.ints.p[axis] != len)) return NULL;
	if (!counted(w, valsym(&w->vs, ir_in(op, 1 + axis)), &factor, &counter, &end) || factor != 1) return NULL;
	*tiles = sym_cdiv(ext, sym_const(len));
	return end;
}

/* The tiles along an axis of the tensor if they were `len` long; NULL: its extent is not known. */
static const Sym *tiles_along(Findings *w, const Op *op, int axis, int64_t len)
{
	const Sym *ext = valsym_extent(&w->vs, ir_in(op, 0), axis);
	return ext ? sym_cdiv(ext, sym_const(len)) : NULL;
}

/* Two counters, of the grid or of loops, count the tiles of two axes of the tensor, each those of the other's, or the
 * other's extent in tiles of its own length. */
static bool axes_swapped(Findings *w, const Op *op, const Type *t)
{
	const IrParam *root = valsym_root(&w->vs, ir_in(op, 0));
	if (w->swapped || !root || ir_attr(op, AT_OFFSETS)) return false;
	for (int i = 0; i < t->rank; i++)
		for (int k = i + 1; k < t->rank; k++) {
			const Sym *a, *b, *end = counter_end(w, op, t, i, &a), *other = counter_end(w, op, t, k, &b);
			if (!end || !other || equal(w, a, b) || as_long(w, op, t, i, k)) continue;
			bool extents = end == tiles_along(w, op, k, type_extent(t, i))
				&& other == tiles_along(w, op, i, type_extent(t, k));
			if ((end != b || other != a) && !extents) continue;
			if (equal(w, end, a) && equal(w, other, b)) continue;
			Diag *d = diag(D_COUNTER_AXIS, op->span, index_text(w, op, i), sym_text(end), str_i64(i), root->name);
			if (extents) diag_note(d, "axis %d of `%s` has `%s` tiles, axis %d `%s`", i, root->name, sym_text(a), k,
				sym_text(b));
			else diag_note(d, "axis %d of `%s` has `%s` tiles, which `%s` counts", i, root->name, sym_text(a),
				index_text(w, op, k));
			return w->swapped = true;
		}
	return false;
}

/* The grid counts smaller tiles along the axis, or counts something else and the axis is never longer than a tile. */
static bool counts_more(const Findings *w, const Sym *grid, const Sym *ext, int64_t len)
{
	const Facts *f = w->vs.facts;
	int64_t each;
	if (grid->kind == SYM_CDIV && grid->arg[0] == ext && sym_is_const(grid->arg[1], &each))
		return each > 1 && each < len;
	return len > 1 && grid != ext && facts_le(f, ext, sym_const(len)) && !facts_le(f, grid, sym_const(1));
}

static void help_past(Diag *d, int g, const Sym *grid, const Sym *ext, int64_t len, bool stores)
{
	int64_t each;
	if (grid->kind == SYM_CDIV && grid->arg[0] == ext && sym_is_const(grid->arg[1], &each))
		diag_help(d, "tile blocks and tiles go together where the tile has %lld elements along the axis, or the grid "
			"`%s` blocks", (long long)each, sym_text(sym_cdiv(ext, sym_const(len))));
	else if (stores)
		diag_help(d, "one tile holds the whole axis: its index is 0, and `bid(%d)` says which tile block stores it", g);
	else
		diag_help(d, "one tile holds the whole axis, and all tile blocks read it: its index is 0");
}

/* An access of every tile block, of which most lie outside of the tensor. */
static bool past_axis(Findings *w, const Op *op, const Type *t)
{
	const IrParam *root = valsym_root(&w->vs, ir_in(op, 0));
	if (!root || ir_attr(op, AT_OFFSETS) || op->parent != w->vs.fn->body) return false;
	for (int i = 0; i < t->rank; i++) {
		int g;
		const Sym *own = tiles_by_block(w, op, t, i, &g), *grid = own ? w->vs.fn->grid[g] : NULL;
		int64_t len = type_extent(t, i), tiles;
		bool empty = own && sym_is_const(own, &tiles) && !tiles;
		if (!own || grid == own || empty) continue;
		if (!counts_more(w, grid, valsym_extent(&w->vs, ir_in(op, 0), i), len)) continue;
		Diag *d = diag(D_PAST_AXIS, op->span, str_i64(g), sym_text(grid), str_i64(i), root->name, sym_text(own));
		diag_label(d, root->span, "`%s` is declared here", root->name);
		help_past(d, g, grid, valsym_extent(&w->vs, ir_in(op, 0), i), type_extent(t, i), op->code == OP_STORE);
		return true;
	}
	return false;
}

/* ---- stores that a later iteration of the loop undoes ---- */
static bool carried(const IrBlock *body, const Val *v, bool *seen)
{
	if (seen[v->id]) return false;
	seen[v->id] = true;
	if (!v->def) return v->block == body ? v->index > 0 : v->block != NULL && v->block->owner != NULL;
	if (v->def->nregion) return true;
	for (int i = 0; i < v->def->nin; i++)
		if (carried(body, ir_in(v->def, i), seen)) return true;
	return false;
}

static void note_round(void *ctx, Op *op)
{
	unsigned flags = op_rows[op->code].flags;
	bool jumps = op_has(op, OPF_JUMP) || op->code == OP_RETURN;
	*(bool *)ctx |= jumps || (flags & OPF_WRITE && op->code != OP_STORE);
}

static void note_inner(void *ctx, const Sym *atom)
{
	if (atom->atom == ATOM_VAL) *(bool *)ctx = true;
}

static bool loads_from(const Findings *w, const IrBlock *body, const IrParam *root)
{
	for (const Op *op = body->first; op; op = op->next) {
		bool views = op->nin && ir_in(op, 0)->type->kind == TY_VIEW;
		if (views && op->code != OP_STORE && valsym_root(&w->vs, ir_in(op, 0)) == root) return true;
		for (int i = 0; i < op->nregion; i++)
			if (loads_from(w, op->region[i], root)) return true;
	}
	return false;
}

/* Each round stores to the same place what no round before it has a part in. */
static void overwritten(Findings *w, const Op *op)
{
	IrBlock *body = op->parent;
	const IrParam *root = valsym_root(&w->vs, ir_in(op, 0));
	const Op *loop = body->owner;
	bool inner = false, other = false;
	if (!loop || loop->code != OP_FOR || ir_in(op, 0)->def || !root) return;
	for (int i = 1; i + 1 < op->nin; i++) sym_atoms(valsym(&w->vs, ir_in(op, i)), note_inner, &inner);
	const Sym *lo = valsym(&w->vs, ir_in(loop, 0)), *hi = valsym(&w->vs, ir_in(loop, 1));
	if (inner || facts_le(w->vs.facts, hi, sym_add(lo, sym_const(1)))) return;
	ir_walk(body, note_round, &other);
	if (other || loads_from(w, body, root)) return;
	if (carried(body, ir_in(op, op->nin - 1), NEW_ARRAY(A_TMP, bool, w->vs.fn->nval + 1))) return;
	diag(D_OVERWRITTEN, op->span, root->name);
}

/* ---- orders ---- */
/* An atomic load of what nobody stores to while the kernel runs. */
static void unchanging(const Findings *w, const Op *op)
{
	const IrParam *root = valsym_root(&w->vs, ir_in(op, 0));
	if (!root || root->mode != PM_IN) return;
	Diag *d = diag(D_ORDER_IN, op->span, root->name);
	diag_label(d, root->span, "`%s` is declared here", root->name);
	diag_help(d, "declare it `inout` if other tile blocks or devices store to it meanwhile; else a plain load does");
}

/* ---- the walk ---- */
static void walk(Findings *w, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		bool access = op->code == OP_LOAD || op->code == OP_STORE;
		const Diag *before = diag_latest();
		if (access || op->code == OP_GATHER || op->code == OP_SCATTER) outside(w, op);
		if (access) {
			const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
			bool store = op->code == OP_STORE, said = store && untransposed_op(&w->moved, op);
			if (!said && !axes_swapped(w, op, t) && !past_axis(w, op, t)) counting(w, op);
			if (store) overwritten(w, op);
		}
		w->misplaced |= diag_latest() != before;
		cover_op(w->cover, op);
		if (access) speed(w, op);
		if (op->code == OP_FOR) w->end[op->region[0]->args.p[0]->id] = valsym(&w->vs, ir_in(op, 1));
		if (op_has(op, OPF_LOOP)) accumulator_op(&w->vs, op);
		for (int i = 0; i < op->nregion; i++) {
			bool runs, of_values = op->code == OP_REDUCE || op->code == OP_SCAN;
			if (of_values) continue;
			ValSpot spot = valsyms_enter(&w->vs, op, i, true, &runs);
			if (runs) walk(w, op->region[i]);
			valsyms_leave(&w->vs, spot);
		}
		padding_op(&w->pad, op);
		if (op->code == OP_REDUCE || op->code == OP_SCAN) identity_op(op);
		if (op->code == OP_EQ) past_grid(w, op);
		if (op->code == OP_CAST) widened_op(op);
		bool divides = op->code == OP_DIV || op->code == OP_FLOORDIV || op->code == OP_CEILDIV;
		if (divides || op->code == OP_SHR) halved_op(op);
		if (op->code == OP_ABS) apart_op(op);
		if (op->code == OP_ATOMIC_LOAD) unchanging(w, op);
	}
}

void findings_report(const Fn *fn, bool raced, bool by_entry, const SpanVec *copied)
{
	Findings w = { .vs = valsyms_new(fn), .misplaced = raced, .copied = copied };
	w.end = NEW_ARRAY(A_TMP, const Sym *, fn->nval + 1);
	w.pad = (Padding){ &w.vs, NEW_ARRAY(A_TMP, struct PadAxis *, fn->nval + 1) };
	w.moved = (Untransposed){ &w.vs, NEW_ARRAY(A_TMP, int, fn->nval + 1), 0 };
	w.cover = cover_new(&w.vs, w.end);
	walk(&w, fn->body);
	w.misplaced |= outside_copies(&w);
	if (!w.misplaced) cover_report(w.cover, by_entry);
}
