/* Reading tile literals: [1, 2, 3, 4], [[1, 2], [3, 4]]. */
#include "sema/build.h"

typedef struct Lits { Cx *cx; TileLit t; bool bad; } Lits;

static int log2_exact(int n)
{
	int l = 0;
	while (1 << l < n) l++;
	return 1 << l == n ? l : -1;
}

static void lit_rank(Lits *l, const Expr *e)
{
	for (; e->kind == EX_LIST && !l->bad; e = e->u.list.p[0]) {
		int k = log2_exact(e->u.list.n);
		if (!e->u.list.n || k < 0 || l->t.s.rank == TILE_RANK) {
			Diag *d = cx_diag(l->cx, D_TILE_LITERAL, e->span, str_i64(e->u.list.n));
			diag_note(d, "each dimension of a tile is a power of two");
			l->bad = true;
			return;
		}
		l->t.s.log2[l->t.s.rank++] = (uint8_t)k;
	}
}

static void lit_fill(Lits *l, const Expr *e, int axis)
{
	if (l->bad) return;
	bool leaf = axis == l->t.s.rank;
	if ((e->kind == EX_LIST) == leaf || (!leaf && e->u.list.n != 1 << l->t.s.log2[axis])) {
		Diag *d = cx_diag0(l->cx, D_TILE_LITERAL_ROWS, e->span);
		diag_label(d, l->t.whole->span, "the first rows say the shape is %s", shape_text(l->t.s.rank, l->t.s.log2));
		l->bad = true;
		return;
	}
	if (leaf) {
		l->t.v[l->t.n] = sema_expr(l->cx, e, NULL);
		if (sv_bad(l->t.v[l->t.n])) l->bad = true;
		l->t.n++;
		return;
	}
	for (int i = 0; i < e->u.list.n; i++) lit_fill(l, e->u.list.p[i], axis + 1);
}

/* The one type that elements have; *typed is false where none has any. */
static bool lit_elem(Lits *l, Elem *e, bool *typed)
{
	*typed = false;
	for (int i = 0; i < l->t.n; i++) {
		Sv v = l->t.v[i];
		l->t.has_float |= v.kind == SV_FLOAT;
		if (sv_untyped(v)) continue;
		if (!sv_is_scalar(v)) {
			cx_diag(l->cx, D_NEED_SCALAR, v.span, "an element of a tile literal", sv_what(v));
			return false;
		}
		if (*typed && *e != v.type->elem) {
			Diag *d = cx_diag(l->cx, D_TILE_LITERAL_TYPES, v.span, elem_name(*e), elem_name(v.type->elem));
			help_cast(l->cx, d, v, *e);
			return false;
		}
		*e = v.type->elem;
		*typed = true;
	}
	return true;
}

Sv lit_open(Cx *cx, const Expr *e)
{
	Lits l = { .cx = cx, .t.whole = e, .t.s.hole = -1 };
	Elem elem = EL_I32;
	bool typed;
	lit_rank(&l, e);
	if (l.bad) return sv_poison(e->span);
	int size = 0;
	for (int i = 0; i < l.t.s.rank; i++) size += l.t.s.log2[i];
	if (size > 20) {
		cx_diag0(cx, D_TILE_LITERAL_ROWS, e->span);
		return sv_poison(e->span);
	}
	l.t.v = NEW_ARRAY(A_UNIT, Sv, 1 << size);
	lit_fill(&l, e, 0);
	if (l.bad || !lit_elem(&l, &elem, &typed)) return sv_poison(e->span);
	if (typed) return lit_make(cx, &l.t, elem, sv_absent(e->span));
	Sv v = sv_none(e->span);
	TileLit *kept = NEW(A_UNIT, TileLit);
	*kept = l.t;
	v.kind = SV_LIT;
	v.u.lit = kept;
	return v;
}

Sv lit_tile(Cx *cx, const Expr *e, const Type *want)
{
	Sv v = lit_open(cx, e);
	bool takes = want && !elem_is_ptr(want->elem) && (elem_is_any_float(want->elem) || !sv_open_float(v));
	if (v.kind != SV_LIT || !takes) return lit_default(cx, v);
	return lit_make(cx, v.u.lit, want->elem, sv_absent(e->span));
}
