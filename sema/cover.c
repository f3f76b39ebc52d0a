/* Tensors of which a part is never loaded or stored: a tile at a constant index where nothing bounds the extent, and
 * tiles that are shorter than those that the grid or a loop counts.
 *
 * Each axis of each tensor parameter is looked at by itself, over all accesses of the kernel. One access whose place
 * cannot be followed, a view that cuts the tensor, an operation on elements, or a condition that asks for the
 * dimension: nothing is said. */
#include "sema/findings.h"

typedef VEC(const Sym *) SymVec;

typedef struct CoverAxis {
	bool other;             /* an access that is not followed, or one that reaches the end */
	int64_t end;            /* accesses at constant places: where they end */
	bool loaded;            /* by one of those */
	const Op *at;           /* the first of them whose tile has more than one element along the axis */
	const Sym *counter;     /* accesses at factor * counter + constant, where the counter stops at extent / count */
	int64_t count, factor;
	int64_t covered;        /* elements of those `count` that are accessed, at most */
	SymVec places;          /* that were added to it */
	const Op *short_at;
} CoverAxis;

struct Cover {
	ValSyms *vs;
	const Sym **end;        /* of loops, by the Val id of their counters */
	CoverAxis (*axis)[TENSOR_RANK];         /* by parameter */
	bool reduces;           /* there is a reduction, a scan or a product */
	SymVec asked;           /* dimensions that a condition asks for */
};

Cover *cover_new(ValSyms *vs, const Sym **end)
{
	Cover *c = NEW(A_TMP, Cover);
	*c = (Cover){ .vs = vs, .end = end };
	c->axis = arena_array(A_TMP, (size_t)vs->fn->params.n + 1, sizeof *c->axis);
	return c;
}

static CoverAxis *axes_of(const Cover *c, const IrParam *root)
{
	return c->axis[root - c->vs->fn->params.p];
}

static void all_other(const Cover *c, const IrParam *root)
{
	for (int i = 0; i < root->rank; i++) axes_of(c, root)[i].other = true;
}

/* ---- conditions ---- */
static void note_asked(void *ctx, const Sym *atom)
{
	Cover *c = ctx;
	vec_push(A_TMP, &c->asked, atom);
}

static void conditions(Cover *c, const Val *v, int depth)
{
	const Op *op = v->def;
	if (!op || !depth || type_is_tile(v->type)) return;
	if (op->code == OP_LAUNCH) sym_atoms(ir_attr(op, AT_SYM)->u.sym, note_asked, c);
	for (int i = 0; i < op->nin && !op_has(op, OPF_READ); i++) conditions(c, ir_in(op, i), depth - 1);
}

typedef struct Ask { const Cover *c; bool found; } Ask;

static void is_asked(void *ctx, const Sym *atom)
{
	Ask *a = ctx;
	for (int i = 0; i < a->c->asked.n; i++) a->found |= a->c->asked.p[i] == atom;
}

/* ---- places ---- */
static const Sym *end_of(const Cover *c, const Sym *counter)
{
	return counter->atom == ATOM_BID ? c->vs->fn->grid[counter->index] : counter->atom == ATOM_VAL
		? c->end[counter->index] : NULL;
}

/* Whether an index is made of counters that stop somewhere, and whether all of them stop at numbers. */
typedef struct Counters { const Cover *c; bool other, run_time; } Counters;

static void note_counter(void *ctx, const Sym *atom)
{
	Counters *a = ctx;
	const Sym *end = end_of(a->c, atom);
	int64_t n;
	a->other |= !end;
	a->run_time |= end && !sym_is_const(end, &n);
}

/* s = factor * counter + constant. */
static bool linear(const Sym *s, int64_t *factor, const Sym **counter)
{
	int64_t v;
	if (s->kind == SYM_ADD && s->n == 2 && sym_is_const(s->arg[1], &v)) s = s->arg[0];
	bool scaled = s->kind == SYM_MUL && s->n == 2 && sym_is_const(s->arg[0], factor);
	if (!scaled) *factor = 1;
	*counter = scaled ? s->arg[1] : s;
	return (*counter)->kind == SYM_ATOM && *factor > 0;
}

/* Tiles of how many elements of the extent does the counter count? 0: it counts something else. */
static int64_t counts(const Cover *c, const Sym *counter, const Sym *ext)
{
	const Sym *end = end_of(c, counter);
	int64_t n;
	bool quotient = end && (end->kind == SYM_CDIV || end->kind == SYM_DIV) && sym_is_const(end->arg[1], &n);
	return quotient && n > 1 && (end == sym_cdiv(ext, sym_const(n)) || end == sym_div(ext, sym_const(n))) ? n : 0;
}

static void add_place(CoverAxis *x, const Sym *at, int64_t len)
{
	for (int i = 0; i < x->places.n; i++)
		if (x->places.p[i] == at) return;
	vec_push(A_TMP, &x->places, at);
	x->covered += len;
}

static void place(const Cover *c, CoverAxis *x, const Op *op, const Sym *at, int64_t len, const Sym *ext)
{
	x->loaded |= op->code == OP_LOAD;
	Counters of = { c, false, false };
	const Sym *counter;
	int64_t factor, n;
	sym_atoms(at, note_counter, &of);
	int64_t last = facts_eval_range(c->vs->facts, at).hi, most = facts_eval_range(c->vs->facts, ext).hi;
	if (x->other || of.other || sym_is_const(ext, &n) || last == INT64_MAX) {
		x->other = true;
	} else if (!of.run_time) {
		x->other = most <= last + len || facts_le(c->vs->facts, ext, sym_const(last + len));
		if (last + len > x->end) x->end = last + len;
		if (!x->at && len > 1) x->at = op;
	} else if (linear(at, &factor, &counter) && (n = counts(c, counter, ext)) > 0
		&& (!x->counter || x->counter == counter)) {
		x->other = factor > n || (x->counter && (x->count != n || x->factor != factor));
		x->counter = counter;
		x->count = n;
		x->factor = factor;
		add_place(x, at, len);
		if (!x->short_at) x->short_at = op;
	} else {
		x->other = true;
	}
}

/* The axis of the parameter that has this extent; -1: none, or several. */
static int axis_with(const IrParam *root, const Sym *ext)
{
	int found = -1;
	for (int i = 0; i < root->rank; i++) {
		if (root->extent[i] != ext) continue;
		if (found >= 0) return -1;
		found = i;
	}
	return found;
}

static void access_op(const Cover *c, const Op *op, const IrParam *root)
{
	const Val *view = ir_in(op, 0);
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	CoverAxis *x = axes_of(c, root);
	bool seen[TENSOR_RANK] = { false };
	for (int i = 0; i < view->type->rank; i++) {
		const Sym *ext = valsym_extent(c->vs, view, i);
		int a = view->def ? ext ? axis_with(root, ext) : -1 : i;
		if (a < 0 || t->rank != view->type->rank) {
			all_other(c, root);
			return;
		}
		seen[a] = true;
		place(c, &x[a], op, valsym_access(c->vs, op, i), type_extent(t, i), ext);
	}
	for (int i = 0; i < root->rank; i++) x[i].other |= !seen[i];
}

void cover_op(Cover *c, const Op *op)
{
	bool access = op->code == OP_LOAD || op->code == OP_STORE,
		asks = op->code == OP_IF || op->code == OP_ASSERT || op->code == OP_ASSUME;
	if (asks) conditions(c, ir_in(op, 0), 8);
	c->reduces |= op_has(op, OPF_REDUCE) || op->code == OP_MMA || op->code == OP_REDUCE
		|| op->code == OP_SCAN;
	if (op->code == OP_VIEW) return;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		const IrParam *root = v->type->kind == TY_VIEW ? valsym_root(c->vs, v) : NULL;
		if (root && access && !i) access_op(c, op, root);
		else if (root) all_other(c, root);
	}
}

/* ---- the verdict ---- */
static Str verb(const Op *op) { return str_intern(op->code == OP_STORE ? "stored" : "read"); }

static void say_end(const IrParam *p, int axis, const CoverAxis *x)
{
	Str n = sym_text(p->extent[axis]), end = str_i64(x->end);
	Diag *d = diag(D_COVER_END, x->at->span, end, str_i64(axis), p->name, verb(x->at), n);
	diag_label(d, p->span, "`%s` may be any number here", n);
	diag_help(d, "`where %s <= %s` lets the launcher refuse greater ones; else a loop or the grid goes over "
		"the tiles of the axis", n, end);
}

static void say_short(const IrParam *p, int axis, const CoverAxis *x)
{
	int64_t len = x->covered < x->factor ? x->covered : x->factor;
	Diag *d = diag(D_COVER_SHORT, x->short_at->span, str_i64(x->count), str_i64(axis), p->name, str_i64(len),
		verb(x->short_at));
	Str count = sym_text(sym_cdiv(p->extent[axis], sym_const(len)));
	if (len > 1) diag_help(d, "tiles of %lld elements are counted by `%s`", (long long)len, count);
	else diag_help(d, "if one element of each is meant, `%s` counts them; a tile of %s is stored as a whole", count,
		str_i64(x->count));
}

/* A parameter whose extent is a part of this one takes what is read of it. */
static bool part_of(const Fn *fn, const Sym *ext, int64_t by)
{
	for (int i = 0; i < fn->params.n; i++)
		for (int k = 0; k < fn->params.p[i].rank; k++) {
			const Sym *s = fn->params.p[i].extent[k];
			int64_t n;
			if ((s->kind == SYM_DIV || s->kind == SYM_CDIV) && s->arg[0] == ext && sym_is_const(s->arg[1], &n)
				&& n <= by)
				return true;
		}
	return false;
}

/* Whether a tensor with this extent is written through views or by element: it may take a part of it. */
static bool written_freely(const Cover *c, const Sym *ext)
{
	const Fn *fn = c->vs->fn;
	for (int i = 0; i < fn->params.n; i++)
		for (int k = 0; k < fn->params.p[i].rank; k++)
			if (fn->params.p[i].mode != PM_IN && fn->params.p[i].extent[k] == ext && c->axis[i][k].other) return true;
	return false;
}

/* Of what is only read a part may be meant, and of what was written before some of the tiles. */
static bool surely_short(const Cover *c, const IrParam *p, const Sym *ext, const CoverAxis *x)
{
	if (!x->counter) return false;
	if (x->factor == x->count) return p->mode == PM_OUT && x->covered < x->count;
	if (p->mode != PM_IN) return true;
	return x->covered <= x->factor && !part_of(c->vs->fn, ext, x->count / x->factor) && !written_freely(c, ext);
}

/* A tensor that is written is as long as what is read. */
static bool written_as_long(const Fn *fn, int64_t len)
{
	for (int i = 0; i < fn->params.n; i++)
		for (int k = 0; k < fn->params.p[i].rank; k++) {
			int64_t n;
			if (fn->params.p[i].mode != PM_IN && sym_is_const(fn->params.p[i].extent[k], &n) && n == len) return true;
		}
	return false;
}

/* The head of a buffer that is there may be written alone, and the head of one that is only read may be all that is
 * needed, unless it is summed up. */
static bool surely_beyond(const Cover *c, const IrParam *p, const CoverAxis *x)
{
	if (!x->at || x->counter) return false;
	if (p->mode == PM_IN) return c->reduces && !written_as_long(c->vs->fn, x->end);
	return p->mode == PM_OUT || x->loaded;
}

void cover_report(const Cover *c, bool by_entry)
{
	const Fn *fn = c->vs->fn;
	SymVec said = { 0 };
	for (int i = 0; i < fn->params.n; i++) {
		const IrParam *p = &fn->params.p[i];
		for (int k = 0; p->is_tensor && k < p->rank; k++) {
			const CoverAxis *x = &c->axis[i][k];
			Ask asked = { c, false };
			sym_atoms(p->extent[k], is_asked, &asked);
			for (int j = 0; j < said.n; j++) asked.found |= said.p[j] == p->extent[k];
			if (asked.found || x->other) continue;
			bool beyond = !by_entry && surely_beyond(c, p, x);
			if (!beyond && !surely_short(c, p, p->extent[k], x)) continue;
			vec_push(A_TMP, &said, p->extent[k]);
			if (beyond) say_end(p, k, x);
			else say_short(p, k, x);
		}
	}
}
