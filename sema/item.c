/* Kernels: parameters, dimensions, grid and where clauses of one variant, and its body. */
#include "sema/findings.h"
#include "sema/scope.h"

#include <string.h>

/* ---- parameters, shared with entries ---- */
void tensors_resolve(TensorCx *t, const FnItem *f, IrParam *p, Elem (*elem)[TENSOR_RANK], bool *bad)
{
	bool wide = false;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < f->params.n; i++) {
			const Param *q = &f->params.p[i];
			if (type_is_tensor(q->type)) *bad |= !tensor_resolve(t, q->type, q->mode, &p[i], elem[i]);
		}
		for (int i = 0; t->dims && i < t->dims->n; i++) wide |= t->dims->p[i].elem == EL_I64;
		if (!wide) break;       /* a second round tells the extents of the first that a dimension is i64 */
	}
}

/* BLOCK: int among the parameters, where a generic one is meant. */
static bool generic_meant(Cx *cx, const Param *p)
{
	const Expr *t = p->type;
	bool class_ = t && t->kind == EX_NAME && (t->u.name == str_intern("int") || t->u.name == str_intern("constexpr"));
	if (!class_ || !name_is_upper(p->name.s)) return false;
	Diag *d = cx_diag(cx, D_NOT_A_TYPE, t->span, t->u.name);
	diag_help(d, "a compile-time value is a generic parameter, as in `<%s: int>` after the kernel's name", p->name.s);
	scope_add_sv(cx, p->name, sv_absent(p->name.span))->used = true;
	return true;
}

bool scalar_param(Cx *cx, const Param *p, IrParam *ip)
{
	if (generic_meant(cx, p)) return false;
	Sv t = p->type ? sema_type(cx, p->type) : sv_absent(p->span);
	if (sv_bad(t)) return false;
	if (t.kind != SV_TYPE || t.type->kind != TY_SCALAR || t.type->elem == EL_VOID) {
		Diag *d = cx_diag(cx, D_KERNEL_PARAM, p->type->span, p->name.s, sema_source(p->type));
		diag_help(d, "pass a tensor and load from it");
		return false;
	}
	if (p->mode != MODE_NONE) {
		Diag *d = cx_diag(cx, D_PARAM_MODE, p->span, p->name.s, mode_word(p->mode));
		diag_help(d, "a result is an element of memory, as of `%s: %s tensor<f32, [1]>`", p->name.s,
			mode_word(p->mode));
		return false;
	}
	ip->elem = t.type->elem;
	return true;
}

static void param_facts(Cx *cx, const Sym *sym, Elem e)
{
	int bits = elem_bytes(e) * 8;
	if (e == EL_BOOL) facts_range(cx->facts, sym, 0, 1);
	else if (e == EL_U64) facts_range(cx->facts, sym, INT64_MIN, INT64_MAX);
	else if (!elem_is_signed(e)) facts_range(cx->facts, sym, 0, ((int64_t)1 << bits) - 1);
	else if (bits < 64) facts_range(cx->facts, sym, -((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1);
}

static void bind_params(Cx *cx, const FnItem *f, IrParam *ip, Elem (*elem)[TENSOR_RANK])
{
	for (int i = 0; i < f->params.n; i++) {
		const Param *p = &f->params.p[i];
		const Type *t = ip[i].is_tensor ? type_view(ip[i].elem, ip[i].rank) : type_scalar(ip[i].elem);
		const Sym *sym = NULL;
		ip[i].val = ir_arg(cx->fn->body, t, p->name.s);
		if (!ip[i].is_tensor && elem_is_integral(ip[i].elem)) {
			sym = sym_atom(ATOM_PARAM, p->name.s, 0);
			param_facts(cx, sym, ip[i].elem);
		}
		Sv v = ip[i].is_tensor ? sv_view(tensor_view(&ip[i], ip[i].val, elem[i]), p->name.span)
			: sv_val(ip[i].val, p->name.span);
		bind_param(cx, p, v, sym);
		if (p->dflt) cx_diag(cx, D_KERNEL_DEFAULT, p->dflt->span, p->name.s);
	}
}

/* ---- where clauses ---- */
typedef struct Mentions { const Sym *atom; bool found; } Mentions;

static void look_for(void *ctx, const Sym *atom)
{
	Mentions *m = ctx;
	m->found |= atom == m->atom;
}

static bool mentions(const Sym *s, const Sym *atom)
{
	Mentions m = { atom, false };
	sym_atoms(s, look_for, &m);
	return m.found;
}

static const Sym *def_of(void *ctx, const Sym *atom)
{
	const DimVec *dims = ctx;
	for (int i = 0; i < dims->n; i++)
		if (atom->atom == ATOM_DIM && dims->p[i].name == atom->name) return dims->p[i].def;
	return NULL;
}

/* where name == expr: the launcher computes the dimension. Definitions are kept in terms of what is given. */
static bool defines(Cx *cx, const Expr *e, DimVec *dims)
{
	if (e->kind != EX_BINARY || e->u.bin.op != BIN_EQ || e->u.bin.l->kind != EX_NAME) return false;
	Bind *b = scope_find(cx, e->u.bin.l->u.name);
	if (!b || b->kind != BIND_DIM) return false;
	IrDim *dim = NULL;
	for (int i = 0; i < dims->n; i++)
		if (dims->p[i].name == b->name && !dims->p[i].is_stride) dim = &dims->p[i];
	if (!dim || dim->def) return false;
	SymVal v = sema_sym(cx, e->u.bin.r);
	if (!v.sym || v.elem == EL_BOOL) return false;
	const Sym *def = sym_subst(v.sym, def_of, dims);
	if (mentions(def, b->sym)) return false;
	dim->def = def;
	for (int i = 0; i < dims->n; i++)
		if (dims->p[i].def) dims->p[i].def = sym_subst(dims->p[i].def, def_of, dims);
	facts_assume(cx->facts, sym_cmp(SYM_EQ, b->sym, v.sym));
	b->used = true;
	return true;
}

/* `where n % 4` is meant to say that it divides; of other numbers nothing is known. */
void report_where_kind(Cx *cx, const Expr *e)
{
	Diag *d = cx_diag(cx, D_WHERE_KIND, e->span, sema_source(e));
	if (e->kind != EX_BINARY || e->u.bin.op != BIN_MOD) {
		diag_help(d, "a condition compares, as in `%s > 0`", sema_source(e));
		return;
	}
	diag_help(d, "write `%s == 0`", sema_source(e));
	diag_edit(d, (Span){ e->span.hi, e->span.hi }, " == 0");
}

void wheres_read(Cx *cx, const FnItem *f, DimVec *dims, WhereVec *out, bool *pruned, bool *bad)
{
	for (int i = 0; i < f->where.n; i++) {
		const Expr *e = f->where.p[i];
		int64_t c;
		if (defines(cx, e, dims)) continue;
		SymVal v = sema_sym(cx, e);
		if (v.sym && v.elem != EL_BOOL) report_where_kind(cx, e);
		if (!v.sym || v.elem != EL_BOOL) {
			*bad = true;
			continue;
		}
		bool known = sym_is_const(v.sym, &c) || (facts_fails(cx->facts, v.sym) && (c = 0, true));
		if (known && !c) *pruned = true;
		if (known) continue;
		vec_push(A_UNIT, out, ((IrWhere){ v.sym, sema_source(e), e->span, false }));
		facts_assume(cx->facts, v.sym);
	}
}

/* dims [m, n, k]: those first, in this order. */
void dims_order(Cx *cx, const FnItem *f, DimVec *dims)
{
	DimVec out = { 0 };
	bool wrong = false;
	for (int i = 0; i < f->dims.n; i++) {
		const Expr *e = f->dims.p[i];
		int at = -1;
		bool twice = false;
		for (int k = 0; e->kind == EX_NAME && k < dims->n; k++)
			if (dims->p[k].name == e->u.name) at = k;
		for (int k = 0; at >= 0 && k < out.n; k++)
			if (out.p[k].name == dims->p[at].name) at = -1, twice = true;
		wrong |= at < 0;
		if (at < 0) cx_diag(cx, D_DIMS_ORDER, e->span, sema_source(e),
			twice ? "is listed twice" : "is not a dimension of this kernel");
		else vec_push(A_UNIT, &out, dims->p[at]);
	}
	for (int i = 0; i < dims->n; i++) {
		bool listed = false;
		for (int k = 0; k < out.n; k++) listed |= out.p[k].name == dims->p[i].name;
		if (listed) continue;
		if (f->dims.n && !dims->p[i].def && !wrong)
			cx_diag(cx, D_DIMS_MISSING, f->dims.n ? f->dims.p[0]->span : dims->p[i].span, dims->p[i].name);
		vec_push(A_UNIT, &out, dims->p[i]);
	}
	*dims = out;
}

/* ---- one variant ---- */
static Str variant_name(Sema *s, const Global *g, const Solve *vals)
{
	Out *o = out_new();
	bool number = false;
	out_puts(o, g->name);
	for (int i = 0; i < vals->var.n; i++) {
		Sv v = vals->var.p[i].val;
		Int n;
		bool b, num = sv_get_int(v, &n) || sv_get_bool(v, &b);
		if (v.kind == SV_SHAPE) {
			for (int k = 0; k < v.u.shape->rank; k++) out_printf(o, "_%ld", 1L << v.u.shape->log2[k]);
			number = false;
			continue;
		}
		out_puts(o, num && number ? "x" : "_");
		if (sv_get_bool(v, &b)) out_puts(o, b ? "1" : "0");
		else if (num && n < 0) out_printf(o, "m%s", sv_value_text(sv_int(-n, v.span)));
		else out_puts(o, sv_value_text(v));
		number = num;
	}
	for (char *p = o->p; *p; p++) {
		bool ok = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_';
		if (!ok) *p = '_';
	}
	Str base = out_take(o), name = base;
	for (int i = 2; map_get(&s->fn_names, name); i++) name = str_fmt("%s_%d", base, i);
	map_put(&s->fn_names, name, s);
	return name;
}

static Str variant_key(const Global *g, const Solve *vals)
{
	Out *o = out_new();
	out_printf(o, "%s:%s", g->unit->path, g->name);
	for (int i = 0; i < vals->var.n; i++) out_printf(o, ":%s", sv_value_text(vals->var.p[i].val));
	return out_take(o);
}

static void grid_read(Cx *cx, const FnItem *f, bool *bad)
{
	if (f->grid.n > 4) {
		Diag *d = cx_diag(cx, D_GRID_RANK, f->grid.p[4]->span, str_i64(f->grid.n));
		Str a = sema_source(f->grid.p[3]), b = sema_source(f->grid.p[4]);
		diag_help(d, "make two of them one, `%s * %s`, and take the index apart with `/` and `%%`", a, b);
		*bad = true;
	}
	for (int i = 0; i < f->grid.n && i < 4; i++) {
		SymVal v = sema_sym(cx, f->grid.p[i]);
		int64_t c;
		*bad |= !v.sym;
		if (v.sym && (v.elem == EL_BOOL || (sym_is_const(v.sym, &c) && c < 0))) {
			cx_diag(cx, D_EXTENT, f->grid.p[i]->span, sema_source(f->grid.p[i]));
			*bad = true;
		}
		cx->fn->grid[i] = v.sym ? v.sym : sym_const(1);
		cx->grid_elem[i] = v.elem == EL_BOOL ? EL_I32 : v.elem;
		cx->fn->ngrid = i + 1;
	}
	if (cx->fn->ngrid == 0) {
		cx->fn->grid[0] = sym_const(1);
		cx->grid_elem[0] = EL_I32;
		cx->fn->ngrid = 1;
	}
}

static void kernel_body(Cx *cx, const Item *it)
{
	RetCx r = { .kernel = true, .name = it->name.s };
	r.type = r.value = sv_none(it->span);
	r.scoped = block_returns_early(it->u.fn.body);
	cx->ret = &r;
	if (r.scoped) {
		Op *op = ir_op(&cx->b, OP_SCOPE_, 0, NULL, 0, NULL);
		Spot spot = spot_enter(cx, ir_region(op));
		stmt_block(cx, it->u.fn.body);
		region_end(cx, OP_LEAVE, 0, NULL);
		spot_leave(cx, spot);
	} else {
		stmt_block(cx, it->u.fn.body);
	}
	cx->dead = false;
	cx->b.span = it->span;
	region_end(cx, OP_RETURN, 0, NULL);
}

static bool kernel_params(Cx *cx, const FnItem *f, bool *bad)
{
	int n = f->params.n;
	IrParam *p = NEW_ARRAY(A_UNIT, IrParam, n);
	Elem (*elem)[TENSOR_RANK] = arena_array(A_TMP, (size_t)n, sizeof *elem);
	DimVec dims = { 0 }, strides = { 0 };
	WhereVec where = { 0 };
	TensorCx t = { cx, &dims, &strides, &where };
	bool pruned = false;
	for (int i = 0; i < n; i++) {
		const Param *q = &f->params.p[i];
		p[i].name = q->name.s;
		p[i].doc = q->doc;
		p[i].span = q->name.span;
		if (!type_is_tensor(q->type)) *bad |= !scalar_param(cx, q, &p[i]);
	}
	tensors_resolve(&t, f, p, elem, bad);
	if (*bad) return true;
	bind_params(cx, f, p, elem);
	wheres_read(cx, f, &dims, &where, &pruned, bad);
	grid_read(cx, f, bad);
	dims_order(cx, f, &dims);
	for (int i = 0; i < n; i++) vec_push(A_UNIT, &cx->fn->params, p[i]);
	for (int i = 0; i < dims.n; i++) vec_push(A_UNIT, &cx->fn->dims, dims.p[i]);
	for (int i = 0; i < strides.n; i++) vec_push(A_UNIT, &cx->fn->dims, strides.p[i]);
	for (int i = 0; i < where.n; i++) vec_push(A_UNIT, &cx->fn->where, where.p[i]);
	return !pruned;
}

static Fn *build_variant(Sema *s, Global *g, Solve *vals, Span at, bool *bad)
{
	const Item *it = g->item;
	Cx *cx = cx_new(s, g->unit, it, str_intern(""));
	bool keep = false;
	scope_open(cx);
	if (solve_finish(cx, vals, at)) keep = kernel_params(cx, &it->u.fn, bad);
	else *bad = true;
	if (keep && !*bad) {
		int errors = diag_errors();
		attrs_of_kernel(cx, it);
		kernel_body(cx, it);
		*bad = diag_errors() > errors;
	}
	scope_close(cx);
	Fn *fn = cx->fn;
	fn->source_name = g->name;
	fn->doc = it->doc;
	fn->span = it->name.span;
	if (!keep || *bad) return NULL;
	fn->name = variant_name(s, g, vals);
	for (int i = 0; i < vals->var.n; i++) {
		vec_reserve(A_UNIT, &fn->generics, fn->generics.n + 1);
		fn->generics.p[fn->generics.n].name = vals->var.p[i].name.s;
		fn->generics.p[fn->generics.n++].value = sv_value_text(vals->var.p[i].val);
	}
	return fn;
}

/* What a finished kernel shows; by_entry: an entry launches it, so that the calls are those of the entry. */
static void report(const Sema *s, Fn *fn, bool by_entry)
{
	ArenaMark mark = arena_mark(A_TMP);
	const Diag *before = diag_latest();
	hazards_report(fn);
	findings_report(fn, diag_latest() != before, by_entry, &s->copied);
	arena_release(A_TMP, mark);
}

Fn *kernel_variant(Sema *s, Global *g, const Solve *vals, const Item *of, Span at, bool *bad)
{
	Solve own = *vals;
	own.dim.n = 0;
	Str key = variant_key(g, vals);
	Fn *fn = map_get(&s->fns, key);
	g->used = true;
	if (fn) return fn;
	bool item = of && (of->kind == IT_INSTANCE || of->kind == IT_TUNE);
	DiagInstance in = { g->name, item ? str_fmt("instance `%s`", of->name.s) : str_fmt("`%s`", g->name),
		solve_values(vals) };
	DiagInstance outer = diag_instance(vals->var.n ? in : (DiagInstance){ NULL, NULL, NULL });
	fn = build_variant(s, g, &own, at, bad);
	if (fn) {
		ir_number(fn);
		report(s, fn, !of);
	}
	diag_instance(outer);
	if (!fn) return NULL;
	map_put(&s->fns, key, fn);
	vec_push(A_UNIT, &s->mod->fns, fn);
	return fn;
}
