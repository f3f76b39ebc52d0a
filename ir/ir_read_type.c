/* Types, layouts and numbers of the text form. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir_read.h"
#include "ir/ir_text.h"
#include "ir/rules.h"
#include "layout/lay_text.h"

/* ---- types ---- */
Elem rd_elem(Reader *r)
{
	Elem e = EL_I32;
	bool ptr = lex_is(&r->l, "ptr");
	if (ptr) {
		lex_next(&r->l);
		lex_need(&r->l, '<', "`<`");
	}
	if (r->l.tok != T_NAME || !elem_by_name(r->l.text, &e)) {
		lex_expected(&r->l, "an element type");
		return EL_I32;
	}
	lex_next(&r->l);
	if (ptr) lex_need(&r->l, '>', "`>`");
	return ptr ? elem_ptr_to(e) : e;
}

static const Type *bad_type(Reader *r, Span at, const char *why)
{
	lex_error(&r->l, D_IR_TYPE, at, why);
	return type_scalar(EL_I32);
}

static int read_count(Reader *r)
{
	Span at = lex_span(&r->l);
	int64_t n = lex_int(&r->l, "a number of buffers");
	if (n >= 1 && n <= 256) return (int)n;
	bad_type(r, at, "1 to 256 buffers or mbarriers");
	return 1;
}

/* Placed kernels have extents that are a small odd number times a power of two. */
static const Type *read_shaped(Reader *r, TypeKind kind, Elem e, Span at)
{
	Type t = { .kind = kind, .elem = e };
	bool placed = r->fn && r->fn->stage == STAGE_PLACED;
	while (r->l.tok != ']') {
		int64_t n = lex_int(&r->l, "an extent");
		if (r->l.failed) return type_scalar(e);
		if (t.rank == TILE_RANK) return bad_type(r, at, "a tile has at most 8 axes");
		if (n <= 0 || n > INT64_C(1) << TILE_LOG2) return bad_type(r, at, "extents are powers of two up to 2^24");
		for (; !(n & 1); n /= 2) t.log2[t.rank]++;
		if (n > 1 && !placed) return bad_type(r, at, "extents are powers of two up to 2^24");
		if (n > 255) return bad_type(r, at, "extents are powers of two, times an odd number up to 255");
		t.more[t.rank++] = (uint8_t)(n - 1);
		if (!lex_accept(&r->l, ',')) break;
	}
	bool fits = rule_limits(e, t.rank, t.log2) == RULE_OK && type_size(&t) <= INT64_C(1) << TILE_LOG2;
	if (!fits || type_bytes(&t) > TILE_BYTES) return bad_type(r, at, "a tile has at most 2^24 elements and 16 MiB");
	if (kind == TY_RING && lex_need(&r->l, ']', "`]`")) {
		lex_need(&r->l, ',', "`,`");
		t.count = (uint16_t)read_count(r);
	}
	return type_placed(kind, e, t.rank, t.log2, t.more, t.count);
}

static const Type *read_counted(Reader *r, TypeKind kind)
{
	lex_need(&r->l, '<', "`<`");
	int n = read_count(r);
	lex_need(&r->l, '>', "`>`");
	return type_placed(kind, EL_VOID, 0, NULL, NULL, n);
}

static const Type *read_holes(Reader *r, Elem e, Span at)
{
	int rank = 0;
	while (lex_accept_word(&r->l, "_")) {
		rank++;
		if (!lex_accept(&r->l, ',')) break;
	}
	return rank <= TENSOR_RANK ? type_view(e, rank) : bad_type(r, at, "a tensor has at most 5 axes");
}

static const Type *read_type(Reader *r)
{
	Span at = lex_span(&r->l);
	static const struct { const char *word; TypeKind kind; } shaped[] = {
		{ "tile", TY_TILE }, { "tensor", TY_VIEW }, { "shared", TY_SHARED }, { "async", TY_ASYNC }, { "frag", TY_FRAG },
			{ "ring", TY_RING }, { "tmap", TY_TMAP }
	};
	enum { SHAPED = sizeof shaped / sizeof *shaped };
	int kind = 0;
	if (lex_accept_word(&r->l, "token")) return type_token();
	if (lex_accept_word(&r->l, "mbar")) return read_counted(r, TY_MBAR);
	if (lex_accept_word(&r->l, "cursor")) return read_counted(r, TY_CURSOR);
	while (kind < SHAPED && !lex_is(&r->l, shaped[kind].word)) kind++;
	if (kind == SHAPED) return type_scalar(rd_elem(r));
	lex_next(&r->l);
	lex_need(&r->l, '<', "`<`");
	Elem e = rd_elem(r);
	lex_need(&r->l, ',', "`,`");
	lex_need(&r->l, '[', "`[`");
	if (r->l.failed) return type_scalar(e);
	const Type *t = shaped[kind].kind == TY_VIEW ? read_holes(r, e, at) : read_shaped(r, shaped[kind].kind, e, at);
	if (shaped[kind].kind != TY_RING) lex_need(&r->l, ']', "`]`");
	lex_need(&r->l, '>', "`>`");
	return t;
}

/* From the current `[` to the next `}`. */
bool rd_lay(Reader *r, Lay *lay)
{
	const char *s = r->l.src->text + r->l.lo, *end = r->l.tok == '[' ? strchr(s, '}') : NULL;
	if (end && end - s < 8192 && lay_read(arena_strndup(A_UNIT, s, (size_t)(end - s) + 1), lay)) {
		r->l.pos = r->l.lo + (uint32_t)(end - s) + 1;
		lex_next(&r->l);
		return true;
	}
	lex_expected(&r->l, "a layout");
	return false;
}

TypeLay rd_type_lay(Reader *r)
{
	TypeLay t = { .type = read_type(r) };
	Lay lay;
	if (lex_accept(&r->l, '@') && rd_lay(r, &lay)) {
		Lay *p = NEW(A_UNIT, Lay);
		*p = lay;
		t.lay = p;
	}
	return t;
}

/* ---- numbers ---- */
NumText rd_num_text(Reader *r)
{
	NumText n = { .at = lex_span(&r->l) };
	n.neg = lex_accept(&r->l, '-');
	n.at.hi = lex_span(&r->l).hi;
	n.text = r->l.text;
	if (r->l.tok != T_NUMBER && r->l.tok != T_NAME) lex_expected(&r->l, "a number");
	else lex_next(&r->l);
	return n;
}

static bool float_of(Elem e, NumText t, double *v)
{
	char *end;
	bool inf = !strcmp(t.text, "inf"), nan = !strcmp(t.text, "nan");
	if (inf || nan) {
		*v = inf ? (t.neg ? -INFINITY : INFINITY) : (double)NAN;
		return inf || !t.neg;
	}
	if (t.text[0] < '0' || t.text[0] > '9') return false;
	*v = e == EL_F32 || e == EL_TF32 ? (double)strtof(t.text, &end) : strtod(t.text, &end);
	if (t.neg) *v = -*v;
	return !*end && !isinf(*v);
}

static bool int_of(Elem e, NumText t, int64_t *v)
{
	char *end;
	errno = 0;
	unsigned long long u = strtoull(t.text, &end, 10);
	if (t.text[0] < '0' || t.text[0] > '9' || *end || errno) return false;
	if (e == EL_U64) {
		*v = (int64_t)u;
		return !t.neg;
	}
	if (u > (unsigned long long)INT64_MAX + t.neg) return false;
	*v = t.neg ? -(int64_t)(u - (u != 0)) - (u != 0) : (int64_t)u;
	return true;
}

Num rd_num(Reader *r, Elem e, NumText t)
{
	Num n = { 0 };
	bool ok;
	if (r->l.failed) return n;
	if (elem_is_any_float(e)) {
		ok = float_of(e, t, &n.f);
	} else if (e == EL_BOOL) {
		n.i = !strcmp(t.text, "true");
		ok = !t.neg && (n.i || !strcmp(t.text, "false"));
	} else if (elem_is_ptr(e)) {
		ok = !t.neg && !strcmp(t.text, "null");
	} else {
		ok = int_of(e, t, &n.i);
	}
	if (!ok || !irt_num_fits(e, n))
		lex_error(&r->l, D_IR_NUMBER, t.at, str_fmt("%s%s", t.neg ? "-" : "", t.text), elem_name(e));
	return n;
}
