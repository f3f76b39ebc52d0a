/* Conversions: what happens by itself (assignment, argument, store, condition, index), and values of operations. */
#include "sema/build.h"
#include "sema/findings.h"
#include "sema/scope.h"

#include <string.h>

/* ---- text for messages ---- */

void label_operand(Diag *d, Sv v)
{
	if (v.name) diag_label(d, v.span, "`%s` is %s", v.name, sv_what(v));
	else diag_label(d, v.span, "%s", sv_what(v));
}

/* Where a named value got its type: the declaration of a variable or parameter, else the expression it names. None
 * where that is the line of its use, or in another file. */
static Span origin_of(Cx *cx, Sv v)
{
	Span none = { 0, 0 };
	if (v.kind != SV_VAL || !v.name) return none;
	const Bind *b = scope_find(cx, v.name);
	const Op *def = v.u.val->def;
	Span at = b && (b->kind == BIND_VAR || !def) ? b->at : def ? def->span : none;
	const Src *src = at.hi ? src_of(at) : NULL;
	if (!src || src != src_of(v.span) || src_place(at.lo).line == src_place(v.span.lo).line) return none;
	return at;
}

/* Both types, each once: where they come from, when both come from other lines. A call adds lines of its own, which
 * leaves no room for that in a message of ten. */
void label_operands(Cx *cx, Diag *d, Sv x, Sv y)
{
	Span from[2] = { origin_of(cx, x), origin_of(cx, y) };
	const Sv *v[2] = { &x, &y };
	bool both = from[0].hi && from[1].hi && from[0].lo != from[1].lo && !cx->site;
	for (int i = 0; i < 2; i++) {
		if (both) diag_label(d, v[i]->span, "%s", "");
		else label_operand(d, *v[i]);
	}
	for (int i = 0; i < 2; i++) {
		if (both) diag_label(d, from[i], "`%s` is %s", v[i]->name, sv_what(*v[i]));
		else if (from[i].hi && (i == 0 || from[0].lo != from[1].lo)) diag_label(d, from[i], "this is `%s`", v[i]->name);
	}
}

/* An expression inside a remedy: as it stands, or dots where it is long. */
Str shortened(Span at)
{
	Str src = span_source(at);
	return str_len(src) > 40 ? str_intern("..") : src;
}

void help_cast(Cx *cx, Diag *d, Sv v, Elem to)
{
	Str before = sv_is_tile(v) ? "element_cast(" : str_fmt("%s(", elem_word(cx, to)),
		after = sv_is_tile(v) ? str_fmt(", %s)", elem_word(cx, to)) : ")";
	if (!rule_converts(v.type ? v.type->elem : EL_I32, to)) return;
	if (v.kind == SV_VAL && help_cast_early(d, v.u.val, to)) return;
	diag_help(d, "convert it: `%s%s%s`", before, shortened(v.span), after);
	diag_edit(d, v.span, str_fmt("%s%s%s", before, span_source(v.span), after));
}

/* ---- values ---- */

Val *const_val(Cx *cx, const Type *t, Num n)
{
	return ir_const_num(&cx->b, t, n);
}

Val *val_int(Cx *cx, Elem e, int64_t v)
{
	return ir_const_num(&cx->b, type_scalar(e), num_int(v));
}

static bool same_modes(FoldModes m)
{
	return !m.rounding && !m.overflow;
}

Val *val_cast(Cx *cx, Val *v, Elem to, FoldModes m)
{
	bool limits = m.overflow && !elem_is_ptr(to) && elem_is_any_float(to);  /* an infinity has another value then */
	if (v->type->elem == to && !limits) return v;
	const Type *t = type_with_elem(v->type, to);
	Num n;
	if (ir_const_value(v, &n) && same_modes(m)) return const_val(cx, t, fold_cast(n, v->type->elem, to, m));
	if (elem_is_ptr(to)) return ir_unary(&cx->b, OP_BITCAST, t, v);
	Val *r = ir_unary(&cx->b, OP_CAST, t, v);
	ir_set_int(r->def, AT_ROUNDING, m.rounding);
	ir_set_int(r->def, AT_OVERFLOW, m.overflow);
	return r;
}

Val *val_broadcast(Cx *cx, Val *v, const Type *to)
{
	if (!type_is_tile(to) || (type_is_tile(v->type) && type_same_shape(v->type, to))) return v;
	const Type *t = type_tile(v->type->elem, to->rank, to->log2);
	Num n;
	if (ir_const_value(v, &n)) return const_val(cx, t, n);
	return ir_unary(&cx->b, OP_BROADCAST, t, v);
}

bool spreads_to(Sv x, const Type *to)
{
	int axis;
	return rule_one_way(x.type, to->rank, to->log2, &axis);
}

Val *val_spread(Cx *cx, Val *v, const Type *to)
{
	return type_is_tile(to) ? val_broadcast(cx, v, to) : one_scalar(cx, v);
}

Val *val_i64(Cx *cx, Val *v)
{
	return val_cast(cx, v, EL_I64, (FoldModes){ 0 });
}

Val *val_op2(Cx *cx, OpCode op, Val *x, Val *y)
{
	Num in[2], r;
	if (ir_const_value(x, &in[0]) && ir_const_value(y, &in[1]) &&
		fold_op(op, (FoldModes){ 0 }, x->type->elem, x->type->elem, 2, in, &r)) return const_val(cx, x->type, r);
	return ir_binary(&cx->b, op, x->type, x, y);
}

Val *val_cmp(Cx *cx, OpCode op, Val *x, Val *y)
{
	const Type *t = type_with_elem(x->type, EL_BOOL);
	Num in[2], r;
	if (ir_const_value(x, &in[0]) && ir_const_value(y, &in[1]) &&
		fold_op(op, (FoldModes){ 0 }, x->type->elem, EL_BOOL, 2, in, &r)) return const_val(cx, t, r);
	return ir_binary(&cx->b, op, t, x, y);
}

Val *val_select(Cx *cx, Val *c, Val *a, Val *b)
{
	Num n;
	if (ir_const_value(c, &n)) return n.i ? a : b;
	return ir_op1(&cx->b, OP_SELECT, a->type, 3, (Val *[]){ c, a, b });
}

Val *val_bool(Cx *cx, Val *v)
{
	if (v->type->elem == EL_BOOL) return v;
	if (elem_is_ptr(v->type->elem)) return val_cmp(cx, OP_NE, v, const_val(cx, v->type, num_int(0)));
	return val_cast(cx, v, EL_BOOL, (FoldModes){ 0 });
}

/* ---- exact meaning of an index ---- */

static const Sym *sym_binary(OpCode op, const Sym *a, const Sym *b)
{
	if (!a || !b) return NULL;
	switch (op) {
	case OP_ADD: return sym_add(a, b);
	case OP_SUB: return sym_sub(a, b);
	case OP_MUL: return sym_mul(a, b);
	default: return NULL;
	}
}

/* The result where it cannot wrap: the facts bound it within its type. */
static const Sym *no_wrap(const Cx *cx, const Sym *s, Elem e)
{
	if (!s || !cx->facts) return NULL;
	Range r = facts_eval_range(cx->facts, s);
	bool bounded = r.lo != INT64_MIN && r.hi != INT64_MAX;
	if (e == EL_I64) return bounded ? s : NULL;
	return bounded && e != EL_U64 && r.lo >= num_least(e).i && r.hi <= num_greatest(e).i ? s : NULL;
}

static const Sym *value_sym(Cx *cx, Val *v, int depth);

/* The counter of a loop lies between its bounds. */
static const Sym *counter_sym(Cx *cx, Val *v, int depth)
{
	Op *loop = v->block ? v->block->owner : NULL;
	if (!loop || loop->code != OP_FOR || v->index) return NULL;
	const Sym *s = sym_atom(ATOM_VAL, NULL, v->id), *lo = value_sym(cx, ir_in(loop, 0), depth);
	const Sym *hi = value_sym(cx, ir_in(loop, 1), depth);
	if (lo && hi && cx->facts && !facts_lt(cx->facts, s, hi)) {
		facts_range(cx->facts, s, facts_eval_range(cx->facts, lo).lo, facts_eval_range(cx->facts, hi).hi);
		facts_bound(cx->facts, s, lo, hi);
	}
	return s;
}

/* depth bounds the work: a value used twice is looked at twice. */
static const Sym *value_sym(Cx *cx, Val *v, int depth)
{
	Num n;
	Op *op = v->def;
	if (!elem_is_int(v->type->elem) || !type_is_scalar(v->type) || !depth) return NULL;
	if (ir_const_value(v, &n)) return sym_const(n.i);
	if (!op) return counter_sym(cx, v, depth - 1);
	switch (op->code) {
	case OP_LAUNCH: return ir_attr(op, AT_SYM)->u.sym;
	case OP_BID: return sym_atom(ATOM_BID, NULL, ir_axis(op));
	case OP_CAST: {
		Elem from = ir_in(op, 0)->type->elem;
		return elem_is_int(from) && !rule_narrows(from, v->type->elem) ? value_sym(cx, ir_in(op, 0), depth - 1) : NULL;
	}
	case OP_ADD: case OP_SUB: case OP_MUL:
		return no_wrap(cx, sym_binary(op->code, value_sym(cx, ir_in(op, 0), depth - 1),
			value_sym(cx, ir_in(op, 1), depth - 1)), v->type->elem);
	default: return NULL;
	}
}

const Sym *val_sym(Cx *cx, Val *v)
{
	return value_sym(cx, v, 10);
}

static void note_atom(void *ctx, const Sym *atom)
{
	if (atom->atom != ATOM_DIM && atom->atom != ATOM_STRIDE && atom->atom != ATOM_PARAM) *(bool *)ctx = false;
}

bool sym_at_launch(const Sym *s)
{
	bool ok = true;
	sym_atoms(s, note_atom, &ok);
	return ok;
}

Sv sv_folded(Val *v, Span at)
{
	Num n;
	if (type_is_scalar(v->type) && ir_const_value(v, &n)) return sv_const(v->type->elem, n, at);
	return sv_val(v, at);
}

/* The name of an operation alone is no value. */
static bool help_operation(Diag *d, Sv v)
{
	if (v.kind != SV_OP) return false;
	if (v.u.op == OP_BID || v.u.op == OP_NUM_BLOCKS) {
		diag_help(d, "write `%s(0)`, with the axis of the grid", v.name);
		diag_edit(d, v.span, str_fmt("%s(0)", v.name));
	} else {
		diag_help(d, "it is called, with its operands in parentheses");
	}
	return true;
}

bool is_value(Cx *cx, Sv v, const char *whose)
{
	if (sv_bad(v)) return false;
	if (sv_is_scalar(v) || sv_is_tile(v) || v.kind == SV_LIT) return true;
	if (report_dynamic(cx, v, v.span)) return false;
	Diag *d = cx_diag(cx, D_VALUE_NEEDED, v.span, whose, sv_what(v));
	Str of = span_source(v.span);
	if (help_operation(d, v)) return false;
	bool moved = !strcmp(whose, "`+`") || !strcmp(whose, "`-`");    /* as a pointer is */
	if (v.kind == SV_VIEW && moved)
		diag_help(d, "`%s.load(...)` loads a tile from it, `%s.gather([i])` the elements that an index tile names", of,
			of);
	else if (v.kind == SV_VIEW) diag_help(d, "`%s.load(...)` loads a tile from it", of);
	return false;
}

bool sv_one_element(Sv v)
{
	return sv_is_tile(v) && type_log2_size(v.type) == 0;
}

Val *one_scalar(Cx *cx, Val *v)
{
	if (!type_is_tile(v->type)) return v;
	Num n;
	if (ir_const_value(v, &n)) return const_val(cx, type_scalar(v->type->elem), n);
	return ir_unary(&cx->b, OP_TO_SCALAR, type_scalar(v->type->elem), v);
}

/* ---- defaults ---- */

Sv conv_default(Cx *cx, Sv x)
{
	if (x.kind == SV_INT) return lit_alone(cx, x);
	if (x.kind == SV_FLOAT) return lit_adapt(cx, x, EL_F32, sv_absent(x.span));
	return lit_default(cx, x);
}

Val *conv_val(Cx *cx, Sv x)
{
	if (sv_open(x)) x = conv_default(cx, x);
	if (!is_value(cx, x, "here")) return NULL;
	if (x.kind == SV_VAL) return x.u.val;
	at_span(cx, x.span);
	return const_val(cx, x.type, x.u.num);
}

/* ---- implicit conversion ---- */
/* What a value is converted for: a variable, argument, result or place in memory called `what`, declared at `decl`. */
typedef struct Goal { const Type *to; ConvWhy why; Str what; Span decl; } Goal;

/* "`s` is tile<f32, [8]>", "`f` returns f32" */
static Str goal_text(const Goal *g)
{
	static const char *const verbs[] = {
		[CONV_INIT] = "is", [CONV_ASSIGN] = "is", [CONV_ARG] = "takes", [CONV_RETURN] = "returns",
			[CONV_STORE] = "stores"
	};
	if (!g->what) return str_fmt("the type here is %s", type_text(g->to));
	return str_fmt("`%s` %s %s", g->what, verbs[g->why], type_text(g->to));
}

static Diag *conv_report(Cx *cx, DiagCode code, Sv x, const Goal *g)
{
	Str goal = goal_text(g);
	const char *from = x.type ? elem_name(x.type->elem) : "";
	Diag *d = cx_diag_at(cx, code, x.span, (const char *const[]){ goal, sv_what(x), from, elem_name(g->to->elem) },
		code == D_CONVERT_NARROW ? 4 : 2);
	if (g->decl.hi) diag_label(d, g->decl, "%s", goal);
	return d;
}

/* `var s = 0;` makes an i32, to which a loop then adds what is wider: the author chose no type. */
static bool help_wider_variable(Cx *cx, Diag *d, Sv x, const Goal *g)
{
	const Src *src = g->decl.hi ? src_of(g->decl) : NULL;
	const char *after = src ? src->text + (g->decl.hi - src->base) : "", *p = after + strspn(after, " \t");
	if (*p != '=' || !x.type || !elem_is_numeric(x.type->elem)) return false;
	p += 1 + strspn(p + 1, " \t");
	size_t digits = strspn(p, "0123456789"), fraction = p[digits] == '.' ? strspn(p + digits, ".0123456789") : 0;
	if (!digits || p[digits + fraction] != ';') return false;
	Elem e = x.type->elem;
	uint32_t end = g->decl.hi + (uint32_t)(p - after) + (uint32_t)digits;
	if (!fraction && !elem_varies(cx, e) && (e == EL_F32 || e == EL_F16 || e == EL_BF16)) {
		diag_help(d, "a variable has the type of its first value: write `var %s = %.*s.0`", g->what, (int)digits, p);
		diag_edit(d, (Span){ end, end }, ".0");
	} else {
		Str typed = str_fmt("%s: %s", g->what, elem_word(cx, e));
		diag_help(d, "a variable has the type of its first value: write `var %s = %.*s`", typed,
			(int)(digits + fraction), p);
		diag_edit(d, g->decl, typed);
	}
	return true;
}

static Sv conv_narrows(Cx *cx, Sv x, const Goal *g)
{
	const Type *to = g->to;
	if (elem_is_ptr(to->elem) || (x.type && elem_is_ptr(x.type->elem))) {
		conv_report(cx, D_CONVERT_KIND, x, g);
		return sv_poison(x.span);
	}
	Diag *d = conv_report(cx, D_CONVERT_NARROW, x, g);
	if (g->why != CONV_ASSIGN || !help_wider_variable(cx, d, x, g)) help_cast(cx, d, x, to->elem);
	return sv_poison(x.span);
}

/* sum(x) went over all axes, and one alone gives the shape that is needed: that axis; else -1. */
static int single_axis(Sv x, const Type *to)
{
	const Op *op = x.u.val->def;
	const Val *from = NULL;
	int axis = -1;
	if (!op || !op_has(op, OPF_REDUCE) || op->nregion || !type_is_tile(to)) return -1;
	for (const Op *o = op; o && o->code == op->code && o->span.lo == op->span.lo; o = from->def) from = ir_in(o, 0);
	if (from == ir_in(op, 0) || from->type->rank != to->rank) return -1;
	for (int i = 0; i < to->rank; i++) {
		if (to->log2[i] == from->type->log2[i]) continue;
		if (to->log2[i] || axis >= 0) return -1;
		axis = i;
	}
	return axis;
}

/* A reduction that kept axes, without which the shape is the one that is needed; log2 NULL: any of that rank. */
static bool squeezes_to(const Op *op, const Val *x, int rank, const uint8_t *log2)
{
	unsigned kept = 0;
	int n = 0;
	for (const Op *o = op; o && o->code == op->code && o->span.lo == op->span.lo; o = ir_in(o, 0)->def)
		kept |= 1u << ir_axis(o);
	for (int i = 0; i < x->type->rank; i++) {
		if (kept >> i & 1) continue;
		if (n == rank || (log2 && log2[n] != x->type->log2[i])) return false;
		n++;
	}
	return n == rank && rank < x->type->rank;
}

bool help_squeeze(Diag *d, Sv v, int rank, const uint8_t *log2)
{
	const Op *of = sv_is_tile(v) ? v.u.val->def : NULL;
	bool itself = !of || of->span.lo == v.span.lo;          /* else a sum, say, that has a reduction as operand */
	for (int i = 0; of && i < (itself ? 1 : of->nin); i++) {
		const Val *x = itself ? v.u.val : ir_in(of, i);
		while (x->def && (x->def->code == OP_BROADCAST || x->def->code == OP_CAST)) x = ir_in(x->def, 0);
		const Op *op = x->def;
		if (!op || !op_has(op, OPF_REDUCE) || !squeezes_to(op, x, rank, log2)) continue;
		Str src = span_source(op->span);
		if (src[str_len(src) - 1] != ')' || strstr(src, "squeeze")) continue;
		diag_help(d, "a reduction keeps its axis with length 1; it is dropped by an argument more: `squeeze: true`");
		diag_edit(d, (Span){ op->span.hi - 1, op->span.hi - 1 }, ", squeeze: true");
		return true;
	}
	return false;
}

/* `var acc = 0.0;` makes a scalar, to which a loop then adds tiles. */
static void help_tile_variable(Cx *cx, Diag *d, Str name, const Type *t, Span decl)
{
	Str words = tile_words(cx, elem_name(t->elem), t->rank, t->log2);
	Str typed = str_fmt("%s: %s", name, words ? words : str_fmt("tile<%s, shape>", elem_name(t->elem)));
	const Src *src = src_of(decl);
	const char *after = src ? src->text + (decl.hi - src->base) : "";
	diag_help(d, "declare it as a tile, as in `var %s = ...`", typed);
	if (words && after[strspn(after, " \t")] == '=') diag_edit(d, decl, typed);
}

/* An operation that gives that shape; in generic code the numbers are those of one instance, so
 * names stand in their place. */
void help_shape(Cx *cx, Diag *d, Sv x, const char *op, const Type *to)
{
	Str shape = extent_names(cx, to->rank, to->log2);
	Str t = str_fmt("%s(%s, %s)", op, shortened(x.span), shape ? shape : "shape");
	if (shape) {
		diag_help(d, *op == 'r' ? "the sizes are equal: write `%s`" : "write `%s`", t);
		diag_edit(d, x.span, str_fmt("%s(%s, %s)", op, span_source(x.span), shape));
	} else {
		diag_help(d, "`%s` gives it another shape", t);
	}
}

static Sv conv_shapes(Cx *cx, Sv x, const Goal *g)
{
	const Type *to = g->to;
	Diag *d = conv_report(cx, D_CONVERT_SHAPE, x, g);
	Str src = span_source(x.span);
	int axis;
	int only = sv_is_tile(x) ? single_axis(x, to) : -1;
	if (g->why == CONV_ASSIGN && type_is_scalar(to) && sv_is_tile(x) && !sv_one_element(x)) {
		Elem e = rule_narrows(x.type->elem, to->elem) ? x.type->elem : to->elem;
		help_tile_variable(cx, d, g->what, type_with_elem(x.type, e), g->decl);
		return sv_poison(x.span);
	}
	if (type_is_tile(to) && help_squeeze(d, x, to->rank, to->log2)) return sv_poison(x.span);
	if (g->why == CONV_ASSIGN && sv_is_tile(x) && rule_one_way(to, x.type->rank, x.type->log2, &axis)) {
		Str words = tile_words(cx, elem_name(to->elem), x.type->rank, x.type->log2);
		diag_help(d, "a variable keeps the shape that it is declared with%s",
			words ? str_fmt("; `%s` has room for all of this", words) : "");
	}
	if (to->kind == TY_VIEW && sv_is_tile(x)) {
		Str words = tile_words(cx, elem_word(cx, x.type->elem), x.type->rank, x.type->log2);
		bool edit = g->decl.hi && words;
		diag_help(d, edit ? "a tensor is memory, and a load gives values: write `%s`"
			: "a tensor is memory, and a load gives values, `%s`", words ? words : type_text(x.type));
		if (edit) diag_edit(d, g->decl, words);
	} else if (only >= 0 && src[str_len(src) - 1] == ')') {
		diag_help(d, "without an axis all are taken: write `, %d` for one", only);
		diag_edit(d, (Span){ x.span.hi - 1, x.span.hi - 1 }, str_fmt(", %d", only));
	} else if (type_is_scalar(to) && sv_one_element(x)) {
		diag_help(d, "take its one element: `%s(%s)`", elem_word(cx, to->elem), shortened(x.span));
		diag_edit(d, x.span, str_fmt("%s(%s)", elem_word(cx, to->elem), src));
	} else if (type_is_tile(to) && sv_is_tile(x) && type_log2_size(x.type) == type_log2_size(to)) {
		help_shape(cx, d, x, "reshape", to);
	} else if (type_is_tile(to) && rule_one_way(x.type, to->rank, to->log2, &axis)) {
		help_shape(cx, d, x, "broadcast", to);
	} else if (type_is_scalar(to) && sv_is_tile(x) && g->why == CONV_STORE && g->what && strchr(g->what, '[')) {
		Str to_store = str_intern_n(g->what, strcspn(g->what, "["));
		diag_help(d, "`%s.store([...], %s)` stores a tile, by its number", to_store, shortened(x.span));
	} else if (type_is_scalar(to) && sv_is_tile(x) && g->why == CONV_INIT) {
		diag_help(d, "leave the type out: the value has one");
	} else if (type_is_tile(to) && sv_is_tile(x) && g->why != CONV_ASSIGN) {
		diag_help(d, "`extract` takes a part of a tile and `cat` joins two; else the type is another");
	}
	return sv_poison(x.span);
}

/* A scalar broadcasts only into a variable; a tile of rank 0 takes one anywhere. */
static Sv conv_spread(Cx *cx, Sv x, const Goal *g)
{
	const Type *to = g->to;
	if (type_is_scalar(to)) return x;
	if (g->why != CONV_INIT && g->why != CONV_ASSIGN && to->rank) {
		Diag *d = conv_report(cx, D_SCALAR_TO_TILE, x, g);
		Str shape = extent_names(cx, to->rank, to->log2);
		Str t = str_fmt("full(%s, %s, %s)", shape ? shape : "shape", span_source(x.span), elem_word(cx, to->elem));
		if (shape) {
			diag_help(d, "make a tile of it: `%s`", t);
			diag_edit(d, x.span, t);
		} else {
			diag_help(d, "`%s` is a tile of it", t);
		}
		return sv_poison(x.span);
	}
	Val *v = conv_val(cx, x);
	at_span(cx, x.span);
	return sv_val(val_broadcast(cx, v, to), x.span);
}

static Sv conv_element(Cx *cx, Sv x, Elem to)
{
	if (x.type->elem == to) return x;
	if (x.kind == SV_CONST) {
		Sv r = sv_const(to, fold_cast(x.u.num, x.type->elem, to, (FoldModes){ 0 }), x.span);
		return r;
	}
	at_span(cx, x.span);
	return sv_val(val_cast(cx, x.u.val, to, (FoldModes){ 0 }), x.span);
}

Sv conv_to(Cx *cx, Sv x, const Type *to, ConvWhy why, Str what, Span decl)
{
	Goal g = { to, why, what, decl };
	if (sv_bad(x)) return x;
	if (report_dynamic(cx, x, x.span)) return sv_poison(x.span);
	if (!sv_is_scalar(x) && !sv_is_tile(x)) {
		conv_report(cx, D_CONVERT_KIND, x, &g);
		return sv_poison(x.span);
	}
	if (sv_untyped(x)) x = lit_adapt(cx, x, to->elem, sv_absent(x.span));
	if (sv_bad(x)) return x;
	bool null_to_ptr = x.kind == SV_CONST && elem_is_ptr(x.type->elem) && elem_is_ptr(to->elem) && !x.u.num.i;
	if (null_to_ptr) x = sv_const(to->elem, x.u.num, x.span);
	if (sv_is_tile(x) && (!type_is_tile(to) || !type_same_shape(x.type, to)))
		return conv_shapes(cx, x, &g);
	if (rule_narrows(x.type->elem, to->elem)) return conv_narrows(cx, x, &g);
	x = conv_element(cx, x, to->elem);
	return sv_is_tile(x) ? x : conv_spread(cx, x, &g);
}

/* ---- conditions and indices ---- */

Sv conv_cond(Cx *cx, Sv x, Span at)
{
	if (sv_bad(x)) return x;
	if (report_dynamic(cx, x, at)) return sv_poison(at);
	if (x.kind == SV_INT) return sv_bool(x.u.i != 0, at);
	if (x.kind == SV_FLOAT) return sv_bool(!exact_is_zero(x.u.f), at);
	if (!sv_is_scalar(x) && !sv_one_element(x)) {
		Diag *d = cx_diag(cx, D_CONDITION, at, sv_what(x));
		if (sv_is_tile(x))
			diag_help(d, "`all_of(%s)` and `any_of(%s)` combine its elements; `select(c, a, b)`, and `mask:` of "
				"gathers and scatters, take a condition for each", shortened(at), shortened(at));
		return sv_poison(at);
	}
	if (!elem_is_ptr(x.type->elem) && elem_rows[x.type->elem].cls == EC_RFLOAT) {
		cx_diag(cx, D_RESTRICTED, at, "a condition", elem_name(x.type->elem));
		return sv_poison(at);
	}
	if (x.kind == SV_CONST) return sv_bool(num_is_true(x.type->elem, x.u.num), at);
	at_span(cx, at);
	return sv_folded(val_bool(cx, one_scalar(cx, x.u.val)), at);
}

static void help_index(Diag *d, Sv x)
{
	Elem e = x.type ? x.type->elem : EL_COUNT;
	bool tile = sv_is_tile(x), pointer = x.type && x.kind != SV_TYPE && x.kind != SV_VIEW && elem_is_ptr(e);
	if (help_operation(d, x)) return;
	if (x.kind == SV_VIEW) {
		diag_help(d, "an element of a tensor may be one; a tile that is loaded from it stands in `gather`");
	} else if (x.kind == SV_TUPLE) {
		diag_help(d, "there is one for each axis, all of them in one list, as in `[i, j]`");
	} else if (pointer) {
		diag_help(d, "what a pointer points to is loaded first, as in `unsafe load(p)`");
	} else if (x.kind == SV_FLOAT || sv_is_scalar(x)) {
		diag_help(d, e == EL_BOOL ? "`i32(c)` is 0 or 1, `c ? i : j` one of two"
			: "`/` of integers truncates, and `i32(x)` converts");
	} else if (sv_one_element(x) && elem_is_int(e)) {
		diag_help(d, "its one element is a scalar: write `%s(%s)`", elem_name(e), shortened(x.span));
		diag_edit(d, x.span, str_fmt("%s(%s)", elem_name(e), span_source(x.span)));
	} else if (tile) {
		diag_help(d, "%s stand in `gather`, `scatter`, `atomic_add` and its kin", elem_is_int(e) ? "index tiles"
			: "tiles of integers");
	}
}

Sv conv_index(Cx *cx, Sv x, Span at)
{
	if (sv_bad(x)) return x;
	if (report_dynamic(cx, x, at)) return sv_poison(at);
	if (x.kind == SV_INT) {
		Num n;
		Elem e = lit_fit(x, EL_I32, &n) == FIT_OK ? EL_I32 : EL_I64;
		return lit_adapt(cx, x, e, sv_absent(at));
	}
	bool scalar = sv_is_scalar(x) && x.kind != SV_FLOAT && elem_is_int(x.type->elem);
	if (!scalar) {
		help_index(cx_diag(cx, D_INDEX_TYPE, at, sv_what(x)), x);
		return sv_poison(at);
	}
	if (elem_bytes(x.type->elem) < 4) return conv_element(cx, x, EL_I32);
	if (x.type->elem != EL_U64) return x;
	Val *v = conv_val(cx, x);       /* beyond i64 is outside, and stays there */
	at_span(cx, at);
	v = val_op2(cx, OP_MIN, v, const_val(cx, v->type, num_int(INT64_MAX)));
	return sv_val(val_i64(cx, v), at);
}

const Type *conv_common(Cx *cx, Sv a, Sv b, Span at)
{
	Elem e;
	if (sv_bad(a) || sv_bad(b)) return NULL;
	if (a.kind == SV_INT && b.kind == SV_INT) {
		Num n;
		bool small = lit_fit(a, EL_I32, &n) == FIT_OK && lit_fit(b, EL_I32, &n) == FIT_OK;
		return type_scalar(small ? EL_I32 : EL_I64);
	}
	Sv *p[2] = { &a, &b };
	for (int i = 0; i < 2; i++) {
		if (p[i]->kind == SV_INT) continue;
		if (p[i]->kind == SV_FLOAT || !sv_is_scalar(*p[i]) || !elem_is_int(p[i]->type->elem)) {
			Diag *d = cx_diag(cx, D_NEED_INT, p[i]->span, "the bounds of a loop", sv_what(*p[i]));
			bool number = p[i]->kind != SV_FLOAT && (sv_is_scalar(*p[i]) || sv_one_element(*p[i]))
				&& !elem_is_ptr(p[i]->type->elem);
			if (number) diag_help(d, "convert it: `i32(%s)`", span_source(p[i]->span));
			if (number) diag_edit(d, p[i]->span, str_fmt("i32(%s)", span_source(p[i]->span)));
			return NULL;
		}
	}
	if (a.kind == SV_INT) return type_scalar(b.type->elem);
	if (b.kind == SV_INT) return type_scalar(a.type->elem);
	if (rule_common(a.type->elem, b.type->elem, &e) && !rule_narrows(a.type->elem, e) && !rule_narrows(b.type->elem, e))
		return type_scalar(e);
	Diag *d = cx_diag(cx, D_NO_COMMON, at, "`..`", elem_name(a.type->elem), elem_name(b.type->elem));
	label_operand(d, a);
	label_operand(d, b);
	return NULL;
}
