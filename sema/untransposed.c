/* Tiles that are loaded at one place and stored at the place with two axes swapped, element by element: the transposed
 * matrix has its tiles there, but each with its elements transposed too. Followed through elementwise operations only;
 * the tensors must have the extents of a transposition. */
#include "sema/findings.h"

typedef struct Moved {
	ValSyms *vs;
	const Op *store;
	int *seen, number;      /* by Val id: the number of the store for which it was looked at last */
	bool said;
	VEC(const Op *) next;   /* to look at: a chain of operations may be as long as the program */
} Moved;

/* Where an access lies along an axis: the number of its tile, or its first element. */
static const Sym *place(ValSyms *vs, const Op *op, int axis, bool by_tile)
{
	return by_tile ? valsym(vs, ir_in(op, 1 + axis)) : valsym_access(vs, op, axis);
}

/* The axis of the load that has the place and the extent that the store has along `axis`; -1: none. */
static int source_axis(const Moved *m, const Op *load, int axis, bool by_tile)
{
	const Sym *at = place(m->vs, m->store, axis, by_tile), *ext = valsym_extent(m->vs, ir_in(m->store, 0), axis);
	int rank = load->out[0]->type->rank, found = -1;
	for (int i = 0; i < rank; i++) {
		if (place(m->vs, load, i, by_tile) != at || !ext || valsym_extent(m->vs, ir_in(load, 0), i) != ext) continue;
		if (i == axis) return i;
		if (found < 0) found = i;
	}
	return found;
}

/* The store lies at the places of the load in another order, and not all elements of the tile lie along one axis that
 * stays: from[i] is the axis of the load that axis i of the store continues. */
static bool permuted(const Moved *m, const Op *load, bool by_tile, int64_t *from)
{
	const Type *t = load->out[0]->type;
	unsigned taken = 0;
	bool moved = false, run_time = false;
	int64_t n;
	for (int i = 0; i < t->rank; i++) {
		int k = source_axis(m, load, i, by_tile);
		if (k < 0 || (taken >> k & 1)) return false;
		taken |= 1u << k;
		from[i] = k;
		moved |= k != i && t->log2[i];
		run_time |= k != i && !sym_is_const(place(m->vs, load, k, by_tile), &n);
	}
	return moved && run_time;
}

static Str place_text(ValSyms *vs, const Op *op, int rank)
{
	Out *o = out_new();
	for (int i = 0; i < rank; i++) {
		const Val *v = ir_in(op, 1 + i);
		Str text = v->name ? v->name : sym_text(valsym(vs, v));
		out_printf(o, "%s%s", i ? ", " : "[", text);
	}
	return str_fmt("`%s]`", out_take(o));
}

typedef struct Uses { const Val *v; int n; } Uses;

static void note_use(void *ctx, Op *op)
{
	Uses *u = ctx;
	for (int i = 0; i < op->nin; i++) u->n += ir_in(op, i) == u->v;
}

/* The load may be turned where it stands: it gives the same type, and nothing else uses it. */
static bool alone(const Moved *m, const Op *load, const int64_t *from)
{
	const Type *t = load->out[0]->type;
	Uses u = { load->out[0], 0 };
	ir_walk(m->vs->fn->body, note_use, &u);
	for (int i = 0; i < t->rank; i++)
		if (t->log2[i] != t->log2[from[i]]) return false;
	return u.n == 1;
}

static void loaded(Moved *m, const Op *load)
{
	const Val *to = ir_in(m->store, 0);
	const Type *t = load->out[0]->type;
	const IrParam *x = valsym_root(m->vs, ir_in(load, 0)), *y = valsym_root(m->vs, to);
	int64_t from[TILE_RANK];
	if (!x || !y || t->rank != to->type->rank || ir_in(load, 0)->type->rank != t->rank) return;
	if (!permuted(m, load, true, from) && !permuted(m, load, false, from)) return;
	m->said = true;
	Diag *d = diag(D_UNTRANSPOSED, m->store->span, x->name, place_text(m->vs, load, t->rank), y->name,
		place_text(m->vs, m->store, t->rank));
	if (load->span.lo != m->store->span.lo) diag_label(d, load->span, "loaded here");
	Str axes = str_intern("");
	for (int i = 0; i < t->rank; i++) axes = str_fmt("%s%s%lld", axes, i ? ", " : "", (long long)from[i]);
	Str fix = t->rank == 2 ? str_fmt("transpose(%s)", span_source(load->span))
		: str_fmt("permute(%s, [%s])", span_source(load->span), axes);
	if (!alone(m, load, from)) {
		diag_help(d, "`%s` of the tile that is loaded moves its elements, too", t->rank == 2 ? "transpose" : "permute");
		return;
	}
	diag_help(d, "write `%s`", fix);
	diag_edit(d, load->span, fix);
}

static void visit(Moved *m, const Val *v)
{
	if (!v->def || m->seen[v->id] == m->number) return;
	m->seen[v->id] = m->number;
	vec_push(A_TMP, &m->next, v->def);
}

bool untransposed_op(Untransposed *u, const Op *store)
{
	ArenaMark mark = arena_mark(A_TMP);
	Moved m = { .vs = u->vs, .store = store, .seen = u->seen, .number = ++u->stores };
	visit(&m, ir_in(store, store->nin - 1));
	while (m.next.n && !m.said) {
		const Op *op = m.next.p[--m.next.n];
		if (op->code == OP_LOAD) loaded(&m, op);
		if (!op_has(op, OPF_ELEMWISE)) continue;
		for (int i = op->nin - 1; i >= 0; i--)
			if (type_is_tile(ir_in(op, i)->type)) visit(&m, ir_in(op, i));
	}
	if (!m.said) arena_release(A_TMP, mark);
	return m.said;
}
