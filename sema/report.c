/* What is said of operands that do not go together, and of tiles beyond the limits. */
#include "sema/build.h"
#include "sema/scope.h"

#include <string.h>

Str operand_types(Sv x, Sv y)
{
	return str_fmt("%s and %s", sv_what(x), sv_what(y));
}

static void report_shapes(Cx *cx, Ruling r, Sv x, Sv y, Span at, Str shown)
{
	const Type *a = x.type, *b = y.type;
	int n = a->rank > b->rank ? a->rank : b->rank;
	int ia = r.axis - (n - a->rank), ib = r.axis - (n - b->rank);
	Diag *d = cx_diag(cx, D_BROADCAST, at, shown, type_text(a), type_text(b), str_i64(type_extent(a, ia)),
		str_i64(type_extent(b, ib)));
	label_operands(cx, d, x, y);
	const Type *small = a->rank < b->rank ? a : b->rank < a->rank ? b : NULL;
	if (small && small->rank == 1) {
		Sv s = small == a ? x : y;
		const Type *big = small == a ? b : a;
		bool fits = big->rank == 2 && (small->log2[0] == big->log2[0] || big->log2[0] == 0);
		if (fits && str_len(span_source(s.span)) <= 40) {
			diag_help(d, "make `%s` a column: `expand(%s, 1)`", span_source(s.span), span_source(s.span));
			diag_edit(d, s.span, str_fmt("expand(%s, 1)", span_source(s.span)));
			return;
		}
	}
	diag_help(d, "from the last axis on, extents must be equal or one of them 1: both are %s, say",
		str_i64(type_extent(a, ia) > type_extent(b, ib) ? type_extent(a, ia) : type_extent(b, ib)));
}

/* Integers with and without a sign: the least type that holds both, where there is one; else EL_COUNT. */
static Elem both_signs(Elem a, Elem b)
{
	static const Elem order[] = { EL_I16, EL_I32, EL_I64 };
	if (!elem_is_int(a) || !elem_is_int(b) || elem_is_signed(a) == elem_is_signed(b)) return EL_COUNT;
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		if (!rule_narrows(a, order[i]) && !rule_narrows(b, order[i])) return order[i];
	return EL_COUNT;
}

static bool is_comparison(Str shown)
{
	static const char *const all[] = { "`<`", "`<=`", "`>`", "`>=`", "`==`", "`!=`" };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(shown, all[i])) return true;
	return false;
}

static bool is_bitwise(Str shown)
{
	return !strcmp(shown, "`&`") || !strcmp(shown, "`|`") || !strcmp(shown, "`^`");
}

/* A cast to the other's type would make large numbers of negative ones; the bitwise operators take their bits. */
static bool help_signs(Cx *cx, Diag *d, Sv x, Sv y, Str shown)
{
	Elem e = both_signs(x.type->elem, y.type->elem);
	const Sv *v[2] = { &x, &y };
	Str fix[2], said[2];
	if (e == EL_COUNT || is_bitwise(shown) || (sv_is_tile(x) != sv_is_tile(y) && !is_comparison(shown))) return false;
	if (elem_varies(cx, x.type->elem) || elem_varies(cx, y.type->elem) || x.span.lo == y.span.lo) return false;
	for (int i = 0; i < 2; i++) {
		Str all = span_source(v[i]->span), part = shortened(v[i]->span), to = elem_name(e);
		bool tile = sv_is_tile(*v[i]);
		fix[i] = tile ? str_fmt("element_cast(%s, %s)", all, to) : str_fmt("%s(%s)", to, all);
		said[i] = tile ? str_fmt("element_cast(%s, %s)", part, to) : str_fmt("%s(%s)", to, part);
	}
	diag_help(d, "%s holds both: `%s` and `%s`", elem_name(e), said[0], said[1]);
	for (int i = 0; i < 2; i++) diag_edit(d, v[i]->span, fix[i]);
	return true;
}

static void report_narrows(Cx *cx, Ruling r, Sv x, Sv y, Span at, Str shown)
{
	Sv bad = r.which ? y : x;
	Diag *d = cx_diag(cx, D_OPERAND_NARROWS, at, shown, operand_types(x, y), elem_name(bad.type->elem),
		elem_name(r.elem));
	label_operand(d, x);
	label_operand(d, y);
	Sv tile = r.which ? x : y;
	Elem e = bad.type->elem;
	bool beside = sv_is_scalar(bad) && bad.kind == SV_VAL && sv_is_tile(tile) && tile.type->elem == r.elem;
	bool widens = beside && !elem_varies(cx, e) &&
		(!rule_narrows(r.elem, e) || (elem_is_float(e) && elem_is_int(r.elem)));
	if (!widens) {
		if (!help_signs(cx, d, x, y, shown)) help_cast(cx, d, bad, r.elem);
		return;
	}
	diag_note(d, "a scalar takes the type of the tile; `%s(%s)` %s", elem_word(cx, r.elem), span_source(bad.span),
		elem_is_float(r.elem) ? "would round it" : elem_is_float(e) ? "would drop its fraction" : "would wrap");
	help_cast(cx, d, tile, e);
}

/* Both operands have a type without arithmetic. A number takes the type of the other operand when that is converted. */
static void help_both(Diag *d, Sv x, Sv y)
{
	const Sv *v[2] = { &x, &y };
	Str fix[2] = { NULL, NULL };
	for (int i = 0; i < 2 && !(i && x.span.lo == y.span.lo); i++) {
		if (v[i]->kind == SV_CONST && v[!i]->kind != SV_CONST) continue;
		fix[i] = str_fmt(sv_is_tile(*v[i]) ? "element_cast(%s, f32)" : "f32(%s)", span_source(v[i]->span));
	}
	diag_help(d, "convert to f32 first: `%s`", fix[0] ? fix[0] : fix[1]);
	for (int i = 0; i < 2; i++)
		if (fix[i]) diag_edit(d, v[i]->span, fix[i]);
}

/* An operator of integers between floats. */
static void help_float_operator(Diag *d, Sv x, Sv y, Span at, Str shown)
{
	bool between = x.span.hi <= at.lo && at.hi <= y.span.lo, power = shown == str_intern("`^`") && y.kind == SV_CONST;
	if ((power || shown == str_intern("`%`")) && between) {
		Str fix = str_fmt("%s(%s, %s)", power ? "pow" : "remainder", span_source(x.span), span_source(y.span));
		diag_help(d, "write `%s`", fix);
		diag_edit(d, span_join(x.span, y.span), fix);
	} else {
		diag_help(d, "`element_bitcast(x, i32)` has the bits of a float, `element_cast(x, i32)` its value");
	}
}

/* pow(i, 2) of integers: a product, which has no fraction to lose. */
static bool help_small_power(Diag *d, Sv x, Sv y, Span at, Str shown)
{
	Str of = span_source(x.span), by = span_source(y.span);
	bool two = !strcmp(by, "2") || !strcmp(by, "2.0"), three = !strcmp(by, "3") || !strcmp(by, "3.0");
	bool name = !of[strspn(of, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")];
	if (shown != str_intern("`pow`") || !name || (!two && !three) || !elem_is_integral(x.type->elem)) return false;
	Str fix = two ? str_fmt("(%s * %s)", of, of) : str_fmt("(%s * %s * %s)", of, of, of);
	diag_help(d, "a power of integers is a product: write `%s`", fix);
	diag_edit(d, at, fix);
	return true;
}

void report_ruling(Cx *cx, Ruling r, Sv x, Sv y, Span at, Str shown)
{
	Sv bad = r.which ? y : x;
	Diag *d;
	switch (r.why) {
	case RULE_SHAPES: report_shapes(cx, r, x, y, at, shown); return;
	case RULE_NARROWS: report_narrows(cx, r, x, y, at, shown); return;
	case RULE_NO_COMMON:
		d = cx_diag(cx, D_NO_COMMON, at, shown, sv_what(x), sv_what(y));
		label_operand(d, x);
		label_operand(d, y);
		bool floats = elem_is_any_float(x.type->elem) || elem_is_any_float(y.type->elem);
		if (floats && !elem_is_ptr(x.type->elem) && !elem_is_ptr(y.type->elem)) help_both(d, x, y);
		return;
	case RULE_RESTRICTED:
		d = cx_diag(cx, D_RESTRICTED, at, shown, elem_name(bad.type->elem));
		label_operand(d, bad);
		if (x.type->elem != y.type->elem) {
			help_cast(cx, d, bad, EL_F32);
			return;
		}
		if (x.span.lo != y.span.lo) label_operand(d, bad.span.lo == x.span.lo ? y : x);
		help_both(d, x, y);
		return;
	case RULE_NOT_INT:
		d = cx_diag(cx, D_NEED_INT, at, shown, sv_what(bad));
		label_operand(d, bad);
		help_float_operator(d, x, y, at, shown);
		return;
	case RULE_NOT_FLOAT:
		d = cx_diag(cx, D_NEED_FLOAT, at, shown, sv_what(bad));
		label_operand(d, bad);
		if (!help_small_power(d, x, y, at, shown)) help_cast(cx, d, bad, EL_F32);
		return;
	case RULE_ELEMENTS: case RULE_BYTES: case RULE_TILE_RANK:
		d = cx_diag(cx, D_RESULT_LARGE, at, shown);
		label_operand(d, x);
		if (y.span.lo != x.span.lo) label_operand(d, y);
		diag_note(d, "a tile has at most 2^24 elements, 16 MiB and %d axes", TILE_RANK);
		return;
	default:
		d = cx_diag(cx, D_NEED_NUMBER, at, shown, sv_what(bad));
		label_operand(d, bad);
		return;
	}
}

bool result_fits(Cx *cx, Elem e, const Type *t, Sv x, Sv y, Span at, Str shown)
{
	RuleWhy why = type_is_tile(t) ? rule_limits(e, t->rank, t->log2) : RULE_OK;
	if (why != RULE_OK) report_ruling(cx, (Ruling){ .why = why }, x, y, at, shown);
	return why == RULE_OK;
}

const Type *sema_tile_type(Cx *cx, Elem e, Shape s, Span at)
{
	int sum = 0;
	for (int i = 0; i < s.rank; i++) sum += s.log2[i];
	if (sum > TILE_LOG2) {
		Diag *d = cx_diag(cx, D_TILE_SIZE, at, shape_text(s.rank, s.log2));
		diag_help(d, "it is worked on by parts, in more blocks or in a loop");
		return NULL;
	}
	if (((int64_t)elem_bytes(e) << sum) > TILE_BYTES) {
		Diag *d = cx_diag(cx, D_TILE_BYTES, at, str_fmt("tile<%s, %s>", elem_name(e), shape_text(s.rank, s.log2)),
			str_i64(((int64_t)elem_bytes(e) << sum) >> 20));
		diag_help(d, "it is worked on by parts, in more blocks or in a loop");
		return NULL;
	}
	return type_tile(e, s.rank, s.log2);
}
