/* Types and element types. Owns: the table of element types, the hash-consed table of types. Types live for the whole
 * run, like interned strings, so a type stays valid from one compilation to the next (language server). */
#include "ir/type.h"

#include "base/arena.h"
#include "base/diag.h"

const ElemRow elem_rows[EL_COUNT] = {
#define ELEM(id, name, bytes, cls, rank, digits, c, cuda, tile, header, doc) \
	[EL_##id] = { #id, name, bytes, EC_##cls, rank, digits, c, cuda, tile, header, doc },
#include "ir/types.def"
#undef ELEM
};

/* ---- element types ---- */
Str elem_name(Elem e)
{
	static Str plain[EL_COUNT], ptr[EL_COUNT];
	Elem p = elem_pointee(e);
	if (p >= EL_COUNT) bug("element type %d does not exist", e);
	Str *s = elem_is_ptr(e) ? &ptr[p] : &plain[p];
	if (!*s) *s = elem_is_ptr(e) ? str_fmt("ptr<%s>", elem_rows[p].name) : str_intern(elem_rows[p].name);
	return *s;
}

bool elem_by_name(Str name, Elem *e)
{
	for (int i = 0; i < EL_COUNT; i++) {
		if (elem_name((Elem)i) != name && elem_name(elem_ptr_to((Elem)i)) != name) continue;
		*e = elem_name((Elem)i) == name ? (Elem)i : elem_ptr_to((Elem)i);
		return true;
	}
	return false;
}

bool elem_is_arith(Elem e)
{
	return elem_is_integral(e) || elem_is_float(e);
}

bool elem_is_numeric(Elem e)
{
	return elem_is_integral(e) || elem_is_any_float(e);
}

/* ---- types ---- */
static struct { Arena *arena; Type **slot; uint32_t cap, n; } types;

static uint32_t type_hash(const Type *t)
{
	uint32_t h = ((uint32_t)t->kind * 256u + t->elem) * 256u + t->rank;
	for (int i = 0; i < t->rank && i < TILE_RANK; i++) h = (h ^ t->log2[i] ^ (uint32_t)t->more[i] << 8) * 16777619u;
	h ^= t->count;
	h *= 0x9E3779B1u;
	return h ^ h >> 15;
}

static bool type_same(const Type *a, const Type *b)
{
	if (a->kind != b->kind || a->elem != b->elem || a->rank != b->rank || a->count != b->count) return false;
	return type_same_shape(a, b);
}

static void types_grow(void)
{
	if (!types.arena) types.arena = arena_new();
	uint32_t cap = types.cap ? types.cap * 2 : 256;
	Type **slot = NEW_ARRAY(types.arena, Type *, cap);
	for (uint32_t i = 0; i < types.cap; i++) {
		if (!types.slot[i]) continue;
		uint32_t h = type_hash(types.slot[i]) & (cap - 1);
		while (slot[h]) h = (h + 1) & (cap - 1);
		slot[h] = types.slot[i];
	}
	types.slot = slot;
	types.cap = cap;
}

/* A view is written as its tensor type; the extents are not part of the type, hence the holes. */
static Str view_text(const Type *t)
{
	static const char *const holes[] = { "", "_", "_, _", "_, _, _", "_, _, _, _", "_, _, _, _, _" };
	return str_fmt("tensor<%s, [%s]>", elem_name(t->elem), holes[t->rank]);
}

static Str extents_text(const Type *t)
{
	Str s = str_intern("[");
	for (int i = 0; i < t->rank; i++) s = str_fmt("%s%s%s", s, i ? ", " : "", str_i64(type_extent(t, i)));
	return str_fmt("%s]", s);
}

static Str make_text(const Type *t)
{
	switch (t->kind) {
	case TY_SCALAR: return elem_name(t->elem);
	case TY_TILE:   return str_fmt("tile<%s, %s>", elem_name(t->elem), extents_text(t));
	case TY_VIEW:   return view_text(t);
	case TY_TOKEN:  return str_intern("token");
	case TY_SHARED: return str_fmt("shared<%s, %s>", elem_name(t->elem), extents_text(t));
	case TY_ASYNC:  return str_fmt("async<%s, %s>", elem_name(t->elem), extents_text(t));
	case TY_FRAG:   return str_fmt("frag<%s, %s>", elem_name(t->elem), extents_text(t));
	case TY_RING:   return str_fmt("ring<%s, %s, %d>", elem_name(t->elem), extents_text(t), t->count);
	case TY_MBAR:   return str_fmt("mbar<%d>", t->count);
	case TY_CURSOR: return str_fmt("cursor<%d>", t->count);
	case TY_TMAP:   return str_fmt("tmap<%s, %s>", elem_name(t->elem), extents_text(t));
	}
	bug("type kind %d does not exist", (int)t->kind);
}

static const Type *type_intern(Type t)
{
	if (types.n * 2 >= types.cap) types_grow();
	uint32_t h = type_hash(&t) & (types.cap - 1);
	for (; types.slot[h]; h = (h + 1) & (types.cap - 1))
		if (type_same(types.slot[h], &t)) return types.slot[h];
	Type *n = NEW(types.arena, Type);
	*n = t;
	n->id = types.n++;
	n->text = make_text(n);
	return types.slot[h] = n;
}

static const Type *type_shaped(TypeKind kind, Elem e, int rank, const uint8_t *log2)
{
	if (rank < 0 || rank > TILE_RANK) bug("a tile of rank %d", rank);
	Type t = { .kind = kind, .elem = e, .rank = (uint8_t)rank };
	for (int i = 0; i < rank; i++) {
		if (log2[i] > TILE_LOG2) bug("a tile with 2^%d elements along axis %d", log2[i], i);
		t.log2[i] = log2[i];
	}
	return type_intern(t);
}

const Type *type_scalar(Elem e)
{
	return type_intern((Type){ .kind = TY_SCALAR, .elem = e });
}

const Type *type_tile(Elem e, int rank, const uint8_t *log2)
{
	return type_shaped(TY_TILE, e, rank, log2);
}

const Type *type_shared(Elem e, int rank, const uint8_t *log2)
{
	return type_shaped(TY_SHARED, e, rank, log2);
}

const Type *type_view(Elem e, int rank)
{
	if (rank < 0 || rank > TENSOR_RANK) bug("a view of rank %d", rank);
	return type_intern((Type){ .kind = TY_VIEW, .elem = e, .rank = (uint8_t)rank });
}

const Type *type_token(void)
{
	return type_intern((Type){ .kind = TY_TOKEN, .elem = EL_VOID });
}

const Type *type_placed(TypeKind kind, Elem e, int rank, const uint8_t *log2, const uint8_t *more, int count)
{
	if (rank < 0 || rank > TILE_RANK || count < 0 || count > UINT16_MAX)
		bug("a placed type of rank %d, count %d", rank, count);
	Type t = { .kind = kind, .elem = e, .rank = (uint8_t)rank, .count = (uint16_t)count };
	for (int i = 0; i < rank; i++) {
		t.log2[i] = log2[i];
		t.more[i] = more ? more[i] : 0;
	}
	return type_intern(t);
}

const Type *type_with_elem(const Type *t, Elem e)
{
	Type n = *t;
	n.elem = e;
	return type_intern(n);
}

const Type *type_with_shape(const Type *t, int rank, const uint8_t *log2)
{
	return type_tile(t->elem, rank, log2);
}

static bool type_has_shape(const Type *t)
{
	return t->kind == TY_TILE || t->kind == TY_SHARED || t->kind == TY_ASYNC || t->kind == TY_FRAG || t->kind == TY_RING
		|| t->kind == TY_TMAP;
}

int type_log2_size(const Type *t)
{
	int n = 0;
	if (type_has_shape(t))
		for (int i = 0; i < t->rank; i++) n += t->log2[i];
	return n;
}

bool type_is_row(const Type *t)
{
	int n = 0;
	for (int a = 0; a < t->rank; a++) n += t->log2[a] > 0;
	return n <= 1;
}

int type_row_axis(const Type *t)
{
	int axis = t->rank - 1;
	while (axis >= 0 && !t->log2[axis]) axis--;
	return axis;
}

int type_only_axis(const Type *t) { return type_is_row(t) ? type_row_axis(t) : -1; }

int type_axis_shift(const Type *t, int axis)
{
	int s = 0;
	for (int a = t->rank - 1; a > axis; a--) s += t->log2[a];
	return s;
}

int64_t type_parts(const Type *t)
{
	int64_t n = 1;
	for (int i = 0; i < t->rank; i++) n *= 1 + t->more[i];
	return n;
}

int64_t type_size(const Type *t)
{
	return type_parts(t) << type_log2_size(t);
}

int64_t type_bytes(const Type *t)
{
	return type_size(t) * elem_bytes(t->elem);
}

int64_t type_extent(const Type *t, int axis)
{
	return (int64_t)(1 + t->more[axis]) << t->log2[axis];
}

bool type_same_shape(const Type *a, const Type *b)
{
	if (a->rank != b->rank) return false;
	for (int i = 0; i < a->rank; i++)
		if (a->log2[i] != b->log2[i] || a->more[i] != b->more[i]) return false;
	return true;
}

Str type_text(const Type *t)
{
	return t->text;
}

Str shape_text(int rank, const uint8_t *log2)
{
	char buf[16 * TILE_RANK + 8];
	size_t n = 0;
	buf[n++] = '[';
	for (int i = 0; i < rank && i < TILE_RANK; i++) {
		const char *x = str_i64((int64_t)1 << log2[i]);
		if (i) buf[n++] = ',', buf[n++] = ' ';
		while (*x) buf[n++] = *x++;
	}
	buf[n++] = ']';
	return str_intern_n(buf, n);
}
