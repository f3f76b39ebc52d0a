/* How remedies name types and extents that differ between instances of generic code: by its parameters. */
#include "sema/scope.h"

static const Bind *bound_as(Cx *cx, bool (*fits)(const Bind *b, int value), int value, int *n)
{
	const Bind *found = NULL;
	*n = 0;
	for (int i = 0; cx->frame->generic && i < cx->frame->open.n; i++) {
		for (const Bind *b = cx->frame->open.p[i]; b; b = b->next) {
			if (b->kind != BIND_SV || !fits(b, value)) continue;
			found = b;
			++*n;
		}
	}
	return found;
}

static bool is_extent(const Bind *b, int log2) { return b->sv.kind == SV_INT && b->sv.u.i == (Int)1 << log2; }

static bool is_elem(const Bind *b, int e)
{
	return b->sv.kind == SV_TYPE && b->sv.type->kind == TY_SCALAR && (int)b->sv.type->elem == e;
}

static bool has_elem(const Bind *b, int e) { return b->sv.kind == SV_TYPE && (int)b->sv.type->elem == e; }

bool elem_varies(Cx *cx, Elem e)
{
	int n;
	bound_as(cx, has_elem, (int)e, &n);
	return n > 0;
}

Str elem_word(Cx *cx, Elem e)
{
	int n;
	const Bind *b = bound_as(cx, is_elem, (int)e, &n);
	return n == 1 ? b->name : elem_name(e);
}

Str extent_name(Cx *cx, int log2)
{
	int n;
	const Bind *b = bound_as(cx, is_extent, log2, &n);
	if (!cx->frame->generic) return str_fmt("%lld", 1LL << log2);
	return n == 1 ? b->name : n ? NULL : log2 ? NULL : str_intern("1");
}

Str extent_names(Cx *cx, int rank, const uint8_t *log2)
{
	Str list = str_intern("");
	for (int i = 0; i < rank; i++) {
		Str n = extent_name(cx, log2[i]);
		if (!n) return NULL;
		list = str_fmt("%s%s%s", list, i ? ", " : "", n);
	}
	return str_fmt("[%s]", list);
}

Str tile_words(Cx *cx, Str elem, int rank, const uint8_t *log2)
{
	Str shape = extent_names(cx, rank, log2);
	return shape ? str_fmt("tile<%s, %s>", elem, shape) : NULL;
}
