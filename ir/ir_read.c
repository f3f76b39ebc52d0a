/* Reads the text form that ir_print writes (shown there). Recursive descent, one token ahead; depth of regions, of host
 * statements and of expressions is limited. Every mistake is reported once, with its place, and ends the reading; a module
 * that was read has passed ir_check.
 *
 * Lenient where people write by hand: comments, header lines in any order, values without a number (%acc), default words.
 * An operation's operands begin on its own line. Spans of what is read are places in the text. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir_lex.h"
#include "ir/ir_text.h"
#include "ir/rules.h"
#include "layout/lay_text.h"

enum { DEPTH_MAX = 200, ID_MAX = 1 << 20 };

/* ---- maps from names ---- */
typedef struct Slot { Str key; void *val; } Slot;
typedef struct Map { Slot *slot; uint32_t cap, n; } Map;

static Slot *map_slot(const Map *m, Str key)
{
	uint32_t h = str_hash(key) & (m->cap - 1);
	while (m->slot[h].key && m->slot[h].key != key) h = (h + 1) & (m->cap - 1);
	return &m->slot[h];
}

static void *map_get(const Map *m, Str key)
{
	return m->cap ? map_slot(m, key)->val : NULL;
}

/* False: it is there already. */
static bool map_put(Map *m, Str key, void *val)
{
	if (m->n * 2 >= m->cap) {
		Map bigger = { .cap = m->cap ? m->cap * 2 : 64, .n = m->n };
		bigger.slot = NEW_ARRAY(A_UNIT, Slot, bigger.cap);
		for (uint32_t i = 0; i < m->cap; i++)
			if (m->slot[i].key) *map_slot(&bigger, m->slot[i].key) = m->slot[i];
		*m = bigger;
	}
	Slot *s = map_slot(m, key);
	if (s->key) return false;
	*s = (Slot){ key, val };
	m->n++;
	return true;
}

/* ---- the reader ---- */
typedef struct Reader {
	Lex l;
	int depth;
	Module *m;
	Fn *fn;                 /* of the kernel being read */
	Map fns;                /* by name */
	Map names;              /* of the kernel or entry: where the kind of a name's atom is */
	Map values;             /* of the kernel: by number, or by name where there is no number */
	VEC(Val *) unnumbered;
	Entry *entry;
	VEC(const IrParam *) scratch;
	Str owner;              /* name of the kernel or entry */
} Reader;

static const AtomKind atom_kinds[] = { ATOM_DIM, ATOM_STRIDE, ATOM_PARAM };

static bool deeper(Reader *r)
{
	if (++r->depth > DEPTH_MAX) lex_error(&r->l, D_IR_DEEP, lex_span(&r->l), str_i64(DEPTH_MAX));
	return !r->l.failed;
}

static Str read_string(Reader *r, const char *what)
{
	Str s = r->l.text;
	if (r->l.tok != T_STRING) {
		lex_expected(&r->l, what);
		return NULL;
	}
	lex_next(&r->l);
	return s;
}

/* ---- symbolic integers ---- */
static const Sym *read_sym(Reader *r);
static const Sym *read_sum(Reader *r);

static const Sym *zero(void)
{
	return sym_const(0);
}

static const Sym *read_call2(Reader *r, const Sym *(*make)(const Sym *, const Sym *))
{
	const Sym *a = read_sym(r);
	lex_need(&r->l, ',', "`,`");
	const Sym *b = read_sym(r);
	lex_need(&r->l, ')', "`)`");
	return r->l.failed ? zero() : make(a, b);
}

static const Sym *read_call(Reader *r, Str name, Span at)
{
	if (!strcmp(name, "cdiv")) return read_call2(r, sym_cdiv);
	if (!strcmp(name, "min")) return read_call2(r, sym_min);
	if (!strcmp(name, "max")) return read_call2(r, sym_max);
	if (!strcmp(name, "aligned")) {
		Str tensor = lex_name(&r->l, "a tensor's name");
		lex_need(&r->l, ',', "`,`");
		int64_t bytes = lex_int(&r->l, "a number of bytes");
		lex_need(&r->l, ')', "`)`");
		return r->l.failed ? zero() : sym_aligned(tensor, bytes);
	}
	if (!strcmp(name, "bid") || !strcmp(name, "val")) {
		int64_t i = lex_int(&r->l, "a number");
		if (i < 0 || i > ID_MAX) lex_error(&r->l, D_IR_NUMBER, at, str_i64(i), "i32");
		lex_need(&r->l, ')', "`)`");
		return r->l.failed ? zero() : sym_atom(*name == 'b' ? ATOM_BID : ATOM_VAL, NULL, (int)i);
	}
	lex_error(&r->l, D_IR_NAME, at, name, r->owner);
	return zero();
}

static const Sym *read_atom(Reader *r)
{
	Span at = lex_span(&r->l);
	Str name = r->l.text;
	lex_next(&r->l);
	if (lex_accept(&r->l, '(')) return read_call(r, name, at);
	const AtomKind *kind = map_get(&r->names, name);
	if (!kind) {
		lex_error(&r->l, D_IR_NAME, at, name, r->owner);
		return zero();
	}
	return sym_atom(*kind, name, 0);
}

static const Sym *read_primary(Reader *r)
{
	if (r->l.tok == T_NUMBER) return sym_const(lex_int(&r->l, "a number"));
	if (r->l.tok == T_NAME) return read_atom(r);
	if (!lex_accept(&r->l, '(')) {
		lex_expected(&r->l, "an expression");
		return zero();
	}
	const Sym *s = read_sym(r);
	lex_need(&r->l, ')', "`)`");
	return s;
}

static const Sym *read_unary(Reader *r)
{
	const Sym *s = zero();
	if (!deeper(r)) return s;
	if (lex_accept(&r->l, '!')) {
		s = sym_logic(SYM_NOT, read_unary(r), NULL);
	} else if (r->l.tok == '-') {
		Lex back = r->l;
		lex_next(&r->l);
		if (r->l.tok == T_NUMBER) {     /* with its sign: the least integer has no positive */
			r->l = back;
			s = sym_const(lex_int(&r->l, "a number"));
		} else {
			s = sym_sub(zero(), read_unary(r));
		}
	} else {
		s = read_primary(r);
	}
	r->depth--;
	return s;
}

static const Sym *read_product(Reader *r)
{
	const Sym *s = read_unary(r);
	for (;;) {
		if (lex_accept(&r->l, '*')) s = sym_mul(s, read_unary(r));
		else if (lex_accept(&r->l, '/')) s = sym_div(s, read_unary(r));
		else if (lex_accept(&r->l, '%')) s = sym_mod(s, read_unary(r));
		else return s;
	}
}

static const Sym *read_sum(Reader *r)
{
	const Sym *s = read_product(r);
	for (;;) {
		if (lex_accept(&r->l, '+')) s = sym_add(s, read_product(r));
		else if (lex_accept(&r->l, '-')) s = sym_sub(s, read_product(r));
		else return s;
	}
}

static const Sym *read_cmp(Reader *r)
{
	const Sym *a = read_sum(r);
	int tok = r->l.tok;
	if (tok != T_EQ && tok != T_NE && tok != T_LE && tok != T_GE && tok != '<' && tok != '>') return a;
	lex_next(&r->l);
	const Sym *b = read_sum(r);
	switch (tok) {
	case T_EQ: return sym_cmp(SYM_EQ, a, b);
	case T_NE: return sym_cmp(SYM_NE, a, b);
	case T_LE: return sym_cmp(SYM_LE, a, b);
	case T_GE: return sym_cmp(SYM_LE, b, a);
	case '<':  return sym_cmp(SYM_LT, a, b);
	default:   return sym_cmp(SYM_LT, b, a);
	}
}

static const Sym *read_and(Reader *r)
{
	const Sym *s = read_cmp(r);
	while (lex_accept(&r->l, T_AND)) s = sym_logic(SYM_AND, s, read_cmp(r));
	return s;
}

static const Sym *read_or(Reader *r)
{
	const Sym *s = read_and(r);
	while (lex_accept(&r->l, T_OR)) s = sym_logic(SYM_OR, s, read_and(r));
	return s;
}

static const Sym *read_sym(Reader *r)
{
	if (!deeper(r)) return zero();
	const Sym *s = read_or(r);
	if (lex_accept(&r->l, '?')) {
		const Sym *a = read_sym(r);
		lex_need(&r->l, ':', "`:`");
		s = sym_select(s, a, read_sym(r));
	}
	r->depth--;
	return s;
}

static int read_syms(Reader *r, int max, const Sym **out)
{
	int n = 0;
	lex_need(&r->l, '[', "`[`");
	while (!r->l.failed && r->l.tok != ']') {
		if (n == max) {
			lex_expected(&r->l, "`]`");
			return n;
		}
		out[n++] = read_sym(r);
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ']', "`]`");
	return n;
}

/* ---- types ---- */
static Elem read_elem(Reader *r)
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
		{ "tile", TY_TILE }, { "tensor", TY_VIEW }, { "shared", TY_SHARED }, { "async", TY_ASYNC }, { "frag", TY_FRAG }, { "ring", TY_RING }, { "tmap", TY_TMAP }
	};
	enum { SHAPED = sizeof shaped / sizeof *shaped };
	int kind = 0;
	if (lex_accept_word(&r->l, "token")) return type_token();
	if (lex_accept_word(&r->l, "mbar")) return read_counted(r, TY_MBAR);
	if (lex_accept_word(&r->l, "cursor")) return read_counted(r, TY_CURSOR);
	while (kind < SHAPED && !lex_is(&r->l, shaped[kind].word)) kind++;
	if (kind == SHAPED) return type_scalar(read_elem(r));
	lex_next(&r->l);
	lex_need(&r->l, '<', "`<`");
	Elem e = read_elem(r);
	lex_need(&r->l, ',', "`,`");
	lex_need(&r->l, '[', "`[`");
	if (r->l.failed) return type_scalar(e);
	const Type *t = shaped[kind].kind == TY_VIEW ? read_holes(r, e, at) : read_shaped(r, shaped[kind].kind, e, at);
	if (shaped[kind].kind != TY_RING) lex_need(&r->l, ']', "`]`");
	lex_need(&r->l, '>', "`>`");
	return t;
}

/* From the current `[` to the next `}`. */
static bool read_lay(Reader *r, Lay *lay)
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

typedef struct TypeLay { const Type *type; const Lay *lay; } TypeLay;

static TypeLay read_type_lay(Reader *r)
{
	TypeLay t = { .type = read_type(r) };
	Lay lay;
	if (lex_accept(&r->l, '@') && read_lay(r, &lay)) {
		Lay *p = NEW(A_UNIT, Lay);
		*p = lay;
		t.lay = p;
	}
	return t;
}

/* ---- numbers ---- */
typedef struct NumText { Str text; bool neg; Span at; } NumText;

static NumText read_num_text(Reader *r)
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

static Num num_of(Reader *r, Elem e, NumText t)
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

/* ---- values ---- */
static Str value_shown(Str name, int64_t id)
{
	if (id < 0) return str_fmt("%%%s", name);
	return name ? str_fmt("%%%s.%d", name, (int)id) : str_fmt("%%%d", (int)id);
}

typedef struct NewVal { Str name; int64_t id; Span at; } NewVal;

static NewVal read_new_val(Reader *r)
{
	NewVal v = { r->l.text, r->l.id, lex_span(&r->l) };
	int64_t most = r->l.src->len > ID_MAX ? r->l.src->len : ID_MAX;
	if (r->l.tok != T_VALUE) lex_expected(&r->l, "a value");
	else if (v.id > most) lex_error(&r->l, D_IR_NUMBER, v.at, value_shown(v.name, v.id), "i32");
	else lex_next(&r->l);
	return v;
}

/* Gives a value its name and number, and makes it known. */
static void define(Reader *r, Val *v, NewVal as, const Lay *lay)
{
	if (r->l.failed) return;
	v->name = as.name;
	v->lay = lay;
	Str key = as.id >= 0 ? str_i64(as.id) : as.name;
	if (!map_put(&r->values, key, v)) lex_error(&r->l, D_IR_TWICE, as.at, value_shown(as.name, as.id));
	if (as.id < 0) {
		vec_push(A_UNIT, &r->unnumbered, v);
		return;
	}
	v->id = (int)as.id;
	if (r->fn->nval <= v->id) r->fn->nval = v->id + 1;
}

static Val *read_use(Reader *r)
{
	if (r->l.tok != T_VALUE) {
		lex_expected(&r->l, "a value");
		return NULL;
	}
	Str name = r->l.text, key = r->l.id >= 0 ? str_i64(r->l.id) : name;
	Val *v = key ? map_get(&r->values, key) : NULL;
	if (!v || (name && v->name != name)) {
		lex_error(&r->l, D_IR_VALUE, lex_span(&r->l), value_shown(name, r->l.id));
		return NULL;
	}
	lex_next(&r->l);
	return v;
}

/* ---- operations ---- */
typedef struct AttrText {       /* numbers wait for the type of the result */
	AttrKey key;
	Span at;
	int64_t i;
	VEC(int64_t) ints;
	Str s;
	const Sym *sym;
	VEC(NumText) nums;
	Lay lay;
} AttrText;

typedef struct OpText {
	VEC(NewVal) outs;
	VEC(Val *) ins;
	VEC(AttrText) attrs;
	VEC(TypeLay) types;
} OpText;

static void read_ints(Reader *r, AttrText *a)
{
	lex_need(&r->l, '[', "`[`");
	while (!r->l.failed && r->l.tok != ']') {
		vec_push(A_UNIT, &a->ints, lex_int(&r->l, "a number"));
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ']', "`]`");
}

static void read_nums(Reader *r, AttrText *a)
{
	lex_need(&r->l, '[', "`[`");
	while (!r->l.failed && r->l.tok != ']') {
		vec_push(A_UNIT, &a->nums, read_num_text(r));
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ']', "`]`");
}

static void read_word(Reader *r, AttrText *a)
{
	a->i = r->l.tok == T_NAME ? attr_word(a->key, r->l.text) : -1;
	if (a->i < 0) lex_expected(&r->l, str_fmt("one of `%s`", attr_rows[a->key].words));
	else lex_next(&r->l);
}

static void read_attr_value(Reader *r, AttrText *a)
{
	switch (attr_rows[a->key].kind) {
	case AK_INT:  a->i = lex_int(&r->l, "a number"); break;
	case AK_INTS: read_ints(r, a); break;
	case AK_WORD: read_word(r, a); break;
	case AK_STR:  a->s = read_string(r, "a string"); break;
	case AK_SYM:  a->sym = read_sym(r); break;
	case AK_NUM:  vec_push(A_UNIT, &a->nums, read_num_text(r)); break;
	case AK_NUMS: read_nums(r, a); break;
	case AK_LAY:  read_lay(r, &a->lay); break;
	}
}

static void read_attr(Reader *r, OpText *t)
{
	AttrText a = { .at = lex_span(&r->l) };
	int key = 0;
	while (key < AT_COUNT && !lex_is(&r->l, attr_rows[key].name)) key++;
	if (key == AT_COUNT) {
		lex_expected(&r->l, "an attribute");
		return;
	}
	a.key = (AttrKey)key;
	for (int i = 0; i < t->attrs.n; i++)
		if (t->attrs.p[i].key == a.key) lex_error(&r->l, D_IR_TWICE, a.at, attr_rows[key].name);
	lex_next(&r->l);
	lex_need(&r->l, '=', "`=`");
	if (!r->l.failed) read_attr_value(r, &a);
	vec_push(A_UNIT, &t->attrs, a);
}

static void set_attr(Reader *r, Op *op, const AttrText *a)
{
	VEC(Num) nums = { 0 };
	if (a->nums.n && !op->nout) lex_error(&r->l, D_IR_SYNTAX, a->at, "a result type for the number", "none");
	for (int i = 0; i < a->nums.n && !r->l.failed; i++)
		vec_push(A_UNIT, &nums, num_of(r, op->out[0]->type->elem, a->nums.p[i]));
	if (r->l.failed) return;
	switch (attr_rows[a->key].kind) {
	case AK_INT: case AK_WORD: ir_set_int(op, a->key, a->i); break;
	case AK_INTS: ir_set_ints(op, a->key, a->ints.n, a->ints.p); break;
	case AK_STR:  ir_set_str(op, a->key, a->s); break;
	case AK_SYM:  ir_set_sym(op, a->key, a->sym); break;
	case AK_NUM:  ir_set_num(op, a->key, nums.p[0]); break;
	case AK_NUMS: ir_set_nums(op, a->key, nums.n, nums.p); break;
	case AK_LAY:  ir_set_lay(op, a->key, a->lay); break;
	}
}

static void read_outs(Reader *r, OpText *t)
{
	if (r->l.tok != T_VALUE) return;
	do vec_push(A_UNIT, &t->outs, read_new_val(r));
	while (lex_accept(&r->l, ','));
	lex_need(&r->l, '=', "`=`");
}

/* Operands, attributes and types. */
static void read_tail(Reader *r, OpText *t)
{
	if (r->l.tok == T_VALUE && !r->l.nl) {
		do vec_push(A_UNIT, &t->ins, read_use(r));
		while (lex_accept(&r->l, ','));
	}
	if (lex_accept(&r->l, '{')) {
		do read_attr(r, t);
		while (lex_accept(&r->l, ','));
		lex_need(&r->l, '}', "`}`");
	}
	if (!t->outs.n) return;
	lex_need(&r->l, ':', "`:` and a type");
	for (int i = 0; i < t->outs.n && !r->l.failed; i++) {
		if (i) lex_need(&r->l, ',', "`,` and a type for each result");
		vec_push(A_UNIT, &t->types, read_type_lay(r));
	}
}

static Op *make_op(Reader *r, IrBlock *b, OpCode code, Span span, OpText *t)
{
	const Type **types = NEW_ARRAY(A_UNIT, const Type *, t->types.n);
	for (int i = 0; i < t->types.n; i++) types[i] = t->types.p[i].type;
	Builder make = { .fn = r->fn, .block = b, .span = span };
	int next = r->fn->nval;
	Op *op = ir_op(&make, code, t->ins.n, t->ins.p, t->types.n, types);
	r->fn->nval = next;     /* define knows the number */
	for (int i = 0; i < op->nout; i++) define(r, op->out[i], t->outs.p[i], t->types.p[i].lay);
	for (int i = 0; i < t->attrs.n; i++) set_attr(r, op, &t->attrs.p[i]);
	return op;
}

static void no_op(Reader *r)
{
	Near near;
	bool named = r->l.tok == T_NAME;
	if (named) near_begin(&near, r->l.text);
	for (int i = 0; named && i < OP_COUNT; i++)
		if (op_rows[i].form != FORM_SUGAR) near_offer(&near, str_intern(op_rows[i].name));
	Diag *d = lex_expected(&r->l, "an operation");
	if (d && named && near.best) diag_help(d, "write `%s`", near.best);
}

static void read_block(Reader *r, IrBlock *b);

static void read_op(Reader *r, IrBlock *b)
{
	OpText t = { 0 };
	OpCode code;
	Span span = lex_span(&r->l);
	read_outs(r, &t);
	if (r->l.tok != T_NAME || !op_by_name(r->l.text, &code)) {
		no_op(r);
		return;
	}
	lex_next(&r->l);
	read_tail(r, &t);
	if (r->l.failed) return;
	span.hi = r->l.src->base + r->l.last;
	Op *op = make_op(r, b, code, span, &t);
	while (lex_accept_word(&r->l, "do")) read_block(r, ir_region(op));
}

/* [(arguments)] { operations } */
static void read_block(Reader *r, IrBlock *b)
{
	if (!deeper(r)) return;
	if (lex_accept(&r->l, '(')) {
		do {
			NewVal as = read_new_val(r);
			lex_need(&r->l, ':', "`:` and a type");
			if (r->l.failed) return;
			TypeLay t = read_type_lay(r);
			int next = r->fn->nval;
			Val *v = ir_arg(b, t.type, NULL);
			r->fn->nval = next;
			define(r, v, as, t.lay);
		} while (lex_accept(&r->l, ','));
		lex_need(&r->l, ')', "`)`");
	}
	lex_need(&r->l, '{', "`{`");
	while (!r->l.failed && r->l.tok != '}') read_op(r, b);
	lex_need(&r->l, '}', "`}`");
	r->depth--;
}

/* ---- what kernels and entries share ---- */
static LayoutKind read_layout(Reader *r)
{
	int k = 0;
	while (k < 5 && !lex_is(&r->l, irt_layouts[k])) k++;
	if (k < 5) lex_next(&r->l);
	else lex_expected(&r->l, "a layout: right, left, right_padded, left_padded or strided");
	return k < 5 ? (LayoutKind)k : ML_RIGHT;
}

static ParamMode read_mode(Reader *r)
{
	if (lex_accept_word(&r->l, "out")) return PM_OUT;
	if (lex_accept_word(&r->l, "inout")) return PM_INOUT;
	if (!lex_accept_word(&r->l, "in")) lex_expected(&r->l, "`in`, `out` or `inout`");
	return PM_IN;
}

static void read_tensor(Reader *r, IrParam *p)
{
	p->is_tensor = true;
	p->mode = read_mode(r);
	if (!lex_accept_word(&r->l, "tensor")) lex_expected(&r->l, "`tensor`");
	lex_need(&r->l, '<', "`<`");
	p->elem = read_elem(r);
	lex_need(&r->l, ',', "`,`");
	p->rank = read_syms(r, TENSOR_RANK, p->extent);
	lex_need(&r->l, '>', "`>`");
	if (!lex_accept_word(&r->l, "strides")) lex_expected(&r->l, "`strides`");
	Span at = lex_span(&r->l);
	if (read_syms(r, TENSOR_RANK, p->stride) != p->rank)
		lex_error(&r->l, D_IR_TYPE, at, "a tensor has one stride for each extent");
	p->layout = read_layout(r);
	if (lex_accept_word(&r->l, "pad")) p->pad = lex_int(&r->l, "a number");
	p->zeroed = lex_accept_word(&r->l, "zeroed");
}

static IrParam read_param(Reader *r)
{
	IrParam p = { .span = lex_span(&r->l) };
	p.name = lex_name(&r->l, "a name");
	lex_need(&r->l, ':', "`:`");
	if (lex_is(&r->l, "in") || lex_is(&r->l, "out") || lex_is(&r->l, "inout")) read_tensor(r, &p);
	else p.elem = read_elem(r);
	if (lex_accept_word(&r->l, "doc")) p.doc = read_string(r, "a string");
	return p;
}

static IrDim read_dim(Reader *r, bool is_stride)
{
	IrDim d = { .is_stride = is_stride, .span = lex_span(&r->l) };
	d.name = lex_name(&r->l, "a name");
	lex_need(&r->l, ':', "`:`");
	d.elem = read_elem(r);
	if (lex_accept(&r->l, '=')) d.def = read_sym(r);
	return d;
}

static IrWhere read_where(Reader *r)
{
	IrWhere w = { .span = lex_span(&r->l) };
	w.cond = read_sym(r);
	if (lex_accept_word(&r->l, "text")) w.text = read_string(r, "a string");
	return w;
}

/* Expressions may name what a later line of the header declares, so the lines are looked at twice. */
static void declare_names(Reader *r)
{
	Lex back = r->l;
	r->names = (Map){ 0 };
	while (r->l.tok != T_END && !(r->l.nl && lex_is(&r->l, "body"))) {
		bool dim = lex_is(&r->l, "dim"), stride = lex_is(&r->l, "stride");
		bool line = r->l.nl && (dim || stride || lex_is(&r->l, "param"));
		lex_next(&r->l);
		if (!line) continue;
		Span at = lex_span(&r->l);
		Str name = lex_name(&r->l, "a name");
		if (name && !map_put(&r->names, name, (void *)&atom_kinds[dim ? 0 : stride ? 1 : 2]))
			lex_error(&r->l, D_IR_TWICE, at, name);
	}
	if (!r->l.failed) r->l = back;
}

/* ---- kernels ---- */
static Hint read_hint(Reader *r)
{
	Hint h = { .span = lex_span(&r->l) };
	h.name = lex_name(&r->l, "a hint");
	lex_need(&r->l, '(', "`(`");
	while (!r->l.failed && r->l.tok != ')') {
		if (h.n == (int)(sizeof h.v / sizeof *h.v)) {
			lex_expected(&r->l, "`)`");
			break;
		}
		HintValue *v = &h.v[h.n++];
		if (r->l.tok == T_NAME || r->l.tok == T_STRING) {
			v->arch = lex_name(&r->l, "an architecture");
			lex_need(&r->l, ':', "`:`");
		}
		v->value = lex_int(&r->l, "a number");
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ')', "`)`");
	return h;
}

static int read_small(Reader *r, const char *what)
{
	Span at = lex_span(&r->l);
	int64_t v = lex_int(&r->l, what);
	if (v < 0 || v > INT32_MAX) lex_error(&r->l, D_IR_NUMBER, at, str_i64(v), "i32");
	return r->l.failed ? 0 : (int)v;
}

static void read_generic(Reader *r, Fn *fn)
{
	IrGeneric g = { .name = lex_name(&r->l, "a name") };
	lex_need(&r->l, '=', "`=`");
	g.value = read_string(r, "a string");
	vec_push(A_UNIT, &fn->generics, g);
}

static bool read_fn_line(Reader *r, Fn *fn)
{
	Lex *l = &r->l;
	if (lex_accept_word(l, "source")) fn->source_name = lex_name(l, "a name");
	else if (lex_accept_word(l, "doc")) fn->doc = read_string(r, "a string");
	else if (lex_accept_word(l, "generic")) read_generic(r, fn);
	else if (lex_accept_word(l, "dim")) vec_push(A_UNIT, &fn->dims, read_dim(r, false));
	else if (lex_accept_word(l, "stride")) vec_push(A_UNIT, &fn->dims, read_dim(r, true));
	else if (lex_accept_word(l, "param")) vec_push(A_UNIT, &fn->params, read_param(r));
	else if (lex_accept_word(l, "grid")) fn->ngrid = read_syms(r, 4, fn->grid);
	else if (lex_accept_word(l, "sweep")) for (int i = 0; i < fn->ngrid; i++) fn->sweep[i] = read_small(r, "an axis");
	else if (lex_accept_word(l, "where")) vec_push(A_UNIT, &fn->where, read_where(r));
	else if (lex_accept_word(l, "hint")) vec_push(A_UNIT, &fn->hints, read_hint(r));
	else if (lex_accept_word(l, "ordered")) fn->ordered = true;
	else if (lex_accept_word(l, "no_contract")) fn->no_contract = true;
	else if (lex_accept_word(l, "persistent")) fn->persistent = true;
	else if (lex_accept_word(l, "specific")) fn->specific = true;
	else if (lex_accept_word(l, "arch")) fn->arch = read_small(r, "a number");
	else if (lex_accept_word(l, "warps")) fn->warps = read_small(r, "a number");
	else if (lex_accept_word(l, "cluster")) fn->cluster = read_small(r, "a number");
	else if (lex_accept_word(l, "lanes")) fn->lanes = read_small(r, "a number");
	else if (lex_accept_word(l, "packed")) fn->packed = read_small(r, "a number");
	else if (lex_accept_word(l, "shared")) fn->shared_bytes = lex_int(l, "a number of bytes");
	else return false;
	return true;
}

static void number_rest(Reader *r)
{
	for (int i = 0; i < r->unnumbered.n; i++) r->unnumbered.p[i]->id = r->fn->nval++;
	r->unnumbered.n = 0;
}

static void read_kernel(Reader *r)
{
	Span at = lex_span(&r->l);
	Str name = lex_name(&r->l, "a kernel's name");
	if (!name) return;
	Fn *fn = r->fn = ir_fn(name, at);
	r->owner = name;
	r->values = (Map){ 0 };
	if (!map_put(&r->fns, name, fn)) lex_error(&r->l, D_IR_TWICE, at, name);
	if (lex_accept_word(&r->l, "placed")) fn->stage = STAGE_PLACED;
	else if (!lex_accept_word(&r->l, "typed")) lex_expected(&r->l, "`typed` or `placed`");
	lex_need(&r->l, '{', "`{`");
	declare_names(r);
	while (!r->l.failed && read_fn_line(r, fn)) continue;
	if (!lex_accept_word(&r->l, "body")) lex_expected(&r->l, "a line of the kernel's head, or `body`");
	read_block(r, fn->body);
	lex_need(&r->l, '}', "`}`");
	number_rest(r);
	for (int i = 0; i < fn->params.n && i < fn->body->args.n; i++) fn->params.p[i].val = fn->body->args.p[i];
	vec_push(A_UNIT, &r->m->fns, fn);
}

/* ---- entries ---- */
static const IrParam *entry_tensor(const Reader *r, int64_t i)
{
	if (i < 0) return NULL;
	if (i < r->entry->params.n) return &r->entry->params.p[i];
	return i - r->entry->params.n < r->scratch.n ? r->scratch.p[i - r->entry->params.n] : NULL;
}

static void read_ref(Reader *r, HostArg *a)
{
	Span at = lex_span(&r->l);
	Str name = lex_name(&r->l, "a name");
	lex_need(&r->l, '.', "`.` and a number");
	int64_t i = lex_int(&r->l, "a number");
	if (r->l.failed) return;
	const IrParam *p = entry_tensor(r, i);
	if (!p || p->name != name) {
		lex_error(&r->l, D_IR_NAME, at, str_fmt("@%s.%s", name, str_i64(i)), r->owner);
		return;
	}
	a->is_tensor = p->is_tensor;
	if (p->is_tensor) a->tensor = (int)i;
	else a->scalar = (int)i;
}

static HostArg read_host_arg(Reader *r, Elem e)
{
	HostArg a = { .scalar = -1 };
	if (lex_accept(&r->l, '@')) {
		read_ref(r, &a);
		if (a.is_tensor && lex_accept(&r->l, '+')) a.offset = read_sym(r);
	} else if (lex_accept(&r->l, '#')) {
		a.is_num = true;
		a.num = num_of(r, e, read_num_text(r));
	} else {
		a.value = read_sym(r);
	}
	return a;
}

static void read_rule(Reader *r, HostStmt *s)
{
	LaunchRule rule = { 0 };
	if (!lex_accept_word(&r->l, "when")) lex_expected(&r->l, "`when`");
	if (!lex_accept_word(&r->l, "any")) rule.arch = lex_name(&r->l, "an architecture");
	if (lex_accept(&r->l, ',')) rule.cond = read_sym(r);
	if (!lex_accept_word(&r->l, "use")) lex_expected(&r->l, "`use`");
	rule.variant = read_small(r, "a variant's number");
	if (lex_accept_word(&r->l, "cost")) rule.cost = read_sym(r);
	vec_push(A_UNIT, &s->u.launch.rules, rule);
}

static void read_variants(Reader *r, HostStmt *s)
{
	do {
		Span at = lex_span(&r->l);
		Str name = lex_name(&r->l, "a kernel's name");
		Variant v = { name ? map_get(&r->fns, name) : NULL };
		if (name && !v.fn) lex_error(&r->l, D_IR_NAME, at, name, r->l.src->path);
		if (v.fn) vec_push(A_UNIT, &s->u.launch.variants, v);
	} while (lex_accept(&r->l, ','));
}

static void read_launch(Reader *r, HostStmt *s)
{
	read_variants(r, s);
	lex_need(&r->l, '(', "`(`");
	if (r->l.failed) return;
	const Fn *fn = s->u.launch.variants.p[0].fn;
	while (!r->l.failed && r->l.tok != ')') {
		int i = s->u.launch.args.n;
		vec_push(A_UNIT, &s->u.launch.args, read_host_arg(r, i < fn->params.n ? fn->params.p[i].elem : EL_I64));
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ')', "`)`");
	if (!lex_accept_word(&r->l, "dims")) lex_expected(&r->l, "`dims`");
	lex_need(&r->l, '[', "`[`");
	while (!r->l.failed && r->l.tok != ']') {
		vec_push(A_UNIT, &s->u.launch.dims, read_sym(r));
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ']', "`]`");
	s->u.launch.tuned = lex_accept_word(&r->l, "tuned");
	if (!lex_accept(&r->l, '{')) return;
	while (!r->l.failed && r->l.tok != '}') {
		if (lex_accept_word(&r->l, "where")) vec_push(A_UNIT, &s->u.launch.where, read_where(r));
		else read_rule(r, s);
	}
	lex_need(&r->l, '}', "`}`");
}

static void read_let(Reader *r, HostStmt *s)
{
	Span at = lex_span(&r->l);
	s->u.let.name = lex_name(&r->l, "a name");
	lex_need(&r->l, '=', "`=`");
	if (!lex_accept_word(&r->l, "multiprocessors")) s->u.let.value = read_sym(r);
	if (s->u.let.name && !map_put(&r->names, s->u.let.name, (void *)&atom_kinds[2]))
		lex_error(&r->l, D_IR_TWICE, at, s->u.let.name);
}

static void read_host(Reader *r, HostVec *v);

static void read_host_stmt(Reader *r, HostVec *v)
{
	HostStmt *s = NEW(A_UNIT, HostStmt);
	s->span = lex_span(&r->l);
	if (lex_accept_word(&r->l, "scratch")) {
		s->kind = HOST_SCRATCH;
		s->u.scratch.tensor = read_param(r);
		vec_push(A_UNIT, &r->scratch, &s->u.scratch.tensor);
	} else if (lex_accept_word(&r->l, "launch")) {
		s->kind = HOST_LAUNCH;
		read_launch(r, s);
	} else if (lex_accept_word(&r->l, "if")) {
		s->kind = HOST_IF;
		s->u.ifs.cond = read_sym(r);
		read_host(r, &s->u.ifs.then);
		if (lex_accept_word(&r->l, "else")) read_host(r, &s->u.ifs.other);
	} else if (lex_accept_word(&r->l, "let")) {
		s->kind = HOST_LET;
		read_let(r, s);
	} else {
		lex_expected(&r->l, "`scratch`, `launch`, `if` or `let`");
		return;
	}
	vec_push(A_UNIT, v, s);
}

static void read_host(Reader *r, HostVec *v)
{
	if (!deeper(r)) return;
	lex_need(&r->l, '{', "`{`");
	while (!r->l.failed && r->l.tok != '}') read_host_stmt(r, v);
	lex_need(&r->l, '}', "`}`");
	r->depth--;
}

static bool read_entry_line(Reader *r, Entry *e)
{
	if (lex_accept_word(&r->l, "doc")) e->doc = read_string(r, "a string");
	else if (lex_accept_word(&r->l, "dim")) vec_push(A_UNIT, &e->dims, read_dim(r, false));
	else if (lex_accept_word(&r->l, "stride")) vec_push(A_UNIT, &e->dims, read_dim(r, true));
	else if (lex_accept_word(&r->l, "param")) vec_push(A_UNIT, &e->params, read_param(r));
	else if (lex_accept_word(&r->l, "where")) vec_push(A_UNIT, &e->where, read_where(r));
	else return false;
	return true;
}

static void read_entry(Reader *r)
{
	Entry *e = r->entry = NEW(A_UNIT, Entry);
	e->span = lex_span(&r->l);
	e->name = r->owner = lex_name(&r->l, "an entry's name");
	r->scratch.n = 0;
	lex_need(&r->l, '{', "`{`");
	declare_names(r);
	while (!r->l.failed && read_entry_line(r, e)) continue;
	if (!lex_accept_word(&r->l, "body")) lex_expected(&r->l, "a line of the entry's head, or `body`");
	read_host(r, &e->body);
	lex_need(&r->l, '}', "`}`");
	vec_push(A_UNIT, &r->m->entries, e);
}

Module *ir_read(Src *src)
{
	Reader r = { .l = { .src = src } };
	lex_next(&r.l);
	if (!lex_accept_word(&r.l, "module")) lex_expected(&r.l, "`module`");
	Str path = read_string(&r, "the path of the module in quotes");
	r.m = ir_module(path);
	vec_push(A_UNIT, &r.m->sources, src);
	while (!r.l.failed && r.l.tok != T_END) {
		if (lex_accept_word(&r.l, "kernel")) read_kernel(&r);
		else if (lex_accept_word(&r.l, "entry")) read_entry(&r);
		else lex_expected(&r.l, "`kernel` or `entry`");
	}
	if (r.l.failed) return NULL;
	Span at = { 0, 0 };
	const char *why = irt_check(r.m, &at);
	if (why) diag(D_IR_INVALID, at, why);
	return why ? NULL : r.m;
}
