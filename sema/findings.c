/* Accesses that never reach their tensor, pads in reductions, and views that memory serves badly. One walk over a finished
 * kernel with what is known at each op; code that is proved not to run is left out. */
#include "sema/findings.h"

enum {          /* bytes */
	SECTOR = 32,    /* the unit of memory traffic */
	VECTOR = 16,    /* the widest access of a thread */
	SMALL = 256     /* a tile that is not worth a word */
};

typedef struct Findings { ValSyms vs; Padding pad; } Findings;

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

static bool axis_outside(Findings *w, const Op *op, const Sym *at, int64_t len, int axis)
{
	const Val *view = ir_in(op, 0);
	const IrParam *root = valsym_root(&w->vs, view);
	const Sym *ext = valsym_extent(&w->vs, view, axis);
	int64_t c;
	bool zero = sym_is_const(at, &c) && c == 0;     /* of an empty tensor everything is outside */
	if (!root || !ext || zero) return false;
	bool behind = surely_least(w->vs.facts, at, ext);
	bool before = facts_eval_range(w->vs.facts, sym_add(at, sym_const(len))).hi <= 0;
	if (!behind && !before) return false;
	Str what = len > 1 || op->code == OP_LOAD || op->code == OP_STORE ? "tile" : "element";
	bool stores = op->code == OP_STORE || op->code == OP_SCATTER;
	Diag *d = diag(D_OUTSIDE, op->span, what, root->name, str_fmt("%d", axis), sym_text(at), sym_text(ext));
	diag_label(d, root->span, "`%s` is declared here", root->name);
	if (stores) diag_note(d, "the store is dropped");
	else diag_note(d, "it reads the pad only");
	return true;
}

static void outside(Findings *w, const Op *op)
{
	int rank = ir_in(op, 0)->type->rank;
	bool tiles = op->code == OP_LOAD || op->code == OP_STORE;
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : op->code == OP_STORE ? ir_in(op, op->nin - 1)->type : NULL;
	for (int i = 0; i < rank; i++) {
		const Val *index = ir_in(op, 1 + i);
		if (type_is_tile(index->type)) continue;
		const Sym *at = tiles ? valsym_access(&w->vs, op, i) : valsym(&w->vs, index);
		if (axis_outside(w, op, at, t ? type_extent(t, i) : 1, i)) return;
	}
}

/* ---- speed ---- */
static bool static_value(const Sym *s, int64_t *v)
{
	return s && sym_is_const(s, v);
}

/* Neighbours in memory lie along `inner`; the tile takes so few of them that most of each sector is read for nothing. */
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
	diag_help(d, "make the tile at least %d long along axis %d", (int)(SECTOR / elem_bytes(t->elem)), inner);
}

static void slow_start(Findings *w, const Op *op, const Type *t, int inner)
{
	const Val *view = ir_in(op, 0);
	const IrParam *root = valsym_root(&w->vs, view);
	int64_t bytes = elem_bytes(t->elem), v, ext;
	if (!root || type_extent(t, inner) * bytes < VECTOR) return;
	if (static_value(valsym_extent(&w->vs, view, inner), &ext) && ext * bytes < VECTOR) return;
	for (int i = 0; i < t->rank; i++) {
		if (i == inner || !static_value(valsym_stride(&w->vs, view, i), &v) || v * bytes % VECTOR == 0) continue;
		if (static_value(valsym_extent(&w->vs, view, i), &ext) && ext <= 1) continue;
		Diag *d = diag(D_UNALIGNED, op->span, root->name, str_fmt("%d", i), str_fmt("%lld", (long long)(v * bytes)));
		diag_label(d, root->span, "`%s` is declared here", root->name);
		diag_help(d, "pad the rows in memory: `layout_right_padded<%d>`", (int)(VECTOR / bytes));
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
}

/* ---- the walk ---- */
static void walk(Findings *w, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		bool access = op->code == OP_LOAD || op->code == OP_STORE;
		if (access || op->code == OP_GATHER || op->code == OP_SCATTER) outside(w, op);
		if (access) speed(w, op);
		for (int i = 0; i < op->nregion; i++) {
			bool runs, of_values = op->code == OP_REDUCE || op->code == OP_SCAN;
			if (of_values) continue;
			ValSpot spot = valsyms_enter(&w->vs, op, i, true, &runs);
			if (runs) walk(w, op->region[i]);
			valsyms_leave(&w->vs, spot);
		}
		padding_op(&w->pad, op);
	}
}

void findings_report(const Fn *fn)
{
	Findings w = { .vs = valsyms_new(fn) };
	w.pad = (Padding){ &w.vs, NEW_ARRAY(A_TMP, struct PadAxis *, fn->nval + 1) };
	walk(&w, fn->body);
}
