/* Elementwise operations, by the column of ops.def, conversions, and changes of shape.
 *
 * The column for CUDA Tile C++ is a list of alternatives, `classes=text;classes=text`, of which the first is taken
 * whose classes hold the element type of operand 0 (of select: operand 1):
 *   b bool   s signed   u unsigned   h f16, bf16   f those and f32, f64   r restricted floats   p pointers   * any
 * In a text: %0 %1 %2 operands, %T type of the result, %E element type of the result, %m modes. A text that is an
 * operator works on tiles; scalars of the types that are classes in C++ become tiles of rank 0 for it. A call of ct_...
 * is a function of prelude.def. */
#include <string.h>

#include "base/diag.h"
#include "emit/optext.h"
#include "emit_tile/tile.h"
#include "ir/fold.h"

/* ---- the column ---- */
static bool has_class(const char *classes, size_t n, Elem e)
{
	for (size_t i = 0; i < n; i++)
		switch (classes[i]) {
		case '*': return true;
		case 'p': if (elem_is_ptr(e)) return true; break;
		case 'b': if (e == EL_BOOL) return true; break;
		case 's': if (!elem_is_ptr(e) && elem_is_signed(e)) return true; break;
		case 'u': if (!elem_is_ptr(e) && elem_is_int(e) && !elem_is_signed(e)) return true; break;
		case 'h': if (e == EL_F16 || e == EL_BF16) return true; break;
		case 'f': if (!elem_is_ptr(e) && elem_is_float(e)) return true; break;
		case 'r': if (!elem_is_ptr(e) && elem_is_any_float(e) && !elem_is_float(e)) return true; break;
		default: bug("class %c in the table", classes[i]);
		}
	return false;
}

static Str alternative(const char *column, Elem e)
{
	for (const char *p = column; *p; ) {
		size_t classes = strcspn(p, "="), n = strcspn(p, ";");
		if (!p[classes] || classes > n) bug("no classes in `%s`", column);
		if (has_class(p, classes, e)) return str_intern_n(p + classes + 1, n - classes - 1);
		p += n + (p[n] == ';');
	}
	return NULL;
}

static const char *mode_type(AttrKey key, int word)
{
	static const char *const rounding[] = { "ct::round_ties_to_even_t{}", "ct::round_toward_zero_t{}",
		"ct::round_toward_negative_t{}",
		"ct::round_toward_positive_t{}", "ct::round_approximate_t{}", "ct::round_full_t{}" };
	static const char *const subnormals[] = { "ct::preserve_subnormals_t{}", "ct::round_subnormals_to_zero_t{}" };
	static const char *const nan[] = { "ct::suppress_nan_t{}", "ct::propagate_nan_t{}" };
	return key == AT_ROUNDING ? rounding[word] : key == AT_NAN ? nan[word] : subnormals[word];
}

/* Arguments that follow one another: an earlier one is written where a later one is. */
Str tl_modes(const Tg *g, const Op *op)
{
	unsigned f = op_rows[op->code].flags;
	if ((op->code == OP_EXP || op->code == OP_TANH) && !tl_offers(g, TILE_FAST_EXP)) return str_intern("");
	bool rounds = f & OPF_ROUND || op->code == OP_EXP || op->code == OP_TANH;
	int first = (int)ir_int(op, rounds ? AT_ROUNDING : AT_NAN, 0), flush = (int)ir_int(op, AT_SUBNORMALS, 0);
	Out *o = out_new();
	if (first || (flush && (rounds || f & OPF_NANMODE)))
		out_printf(o, ", %s", mode_type(rounds ? AT_ROUNDING : AT_NAN, first));
	if (flush) out_printf(o, ", %s", mode_type(AT_SUBNORMALS, flush));
	return out_take(o);
}

static bool put_part(void *ctx, Out *o, const Op *op, char what)
{
	Tg *g = ctx;
	switch (what) {
	case 'T': out_puts(o, tl_type(g, op->out[0]->type)); return true;
	case 'E': out_puts(o, tl_elem(op->out[0]->type->elem)); return true;
	case 'm': out_puts(o, tl_modes(g, op)); return true;
	default: return false;
	}
}

static bool is_call(const char *t) { return !strncmp(t, "ct::", 4) || !strncmp(t, "ct_", 3); }
static bool is_class(Elem e) { return elem_is_ptr(e) ? false : elem_is_any_float(e) && e != EL_F32 && e != EL_F64; }

/* A product whose operands and result are as written, but which no later addition is merged with: NVIDIA's front end
 * makes mul + add one fma whatever the rounding modes say, unless something stands between. */
bool *tl_rounded(const Fn *fn);

static Str table_text(Tg *g, const Op *op)
{
	const Val *typed = ir_in(op, op->code == OP_SELECT ? 1 : 0);
	Str arg[3], t = alternative(op_rows[op->code].tile, typed->type->elem);
	if (!t) return NULL;
	if (op->nin > 3) bug("%s has %d operands", op_rows[op->code].name, op->nin);
	bool wraps = !is_call(t);
	bool lifted = false;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		arg[i] = tl_text(g, v);
		if (!wraps || type_is_tile(v->type) || !is_class(v->type->elem)) continue;
		arg[i] = str_fmt("ct::tile(%s)", arg[i]);
		lifted = true;
	}
	Str text = op_expand(t, op, arg, put_part, g);
	if (lifted && !type_is_tile(op->out[0]->type)) text = str_fmt("(%s)(%s)", tl_elem(op->out[0]->type->elem), text);
	if (g->rounded[op->out[0]->id]) text = str_fmt("ct_round(%s)", text);
	return text;
}

/* ---- products that are added to later ---- */
static void mark_product(void *ctx, Op *op)
{
	bool *rounded = ctx;
	if (op_is(op, OPT_SEALS)) return;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (v->def && v->def->code == OP_MUL && elem_is_float(v->type->elem)) rounded[v->id] = true;
	}
}

bool *tl_rounded(const Fn *fn)
{
	bool *rounded = NEW_ARRAY(A_TMP, bool, fn->nval + 1);
	ir_walk(fn->body, mark_product, rounded);
	return rounded;
}

/* ---- conversions ---- */
static bool is_fp8(Elem e) { return e == EL_F8E4M3 || e == EL_F8E5M2; }

static bool is_wide_int(Elem e) { return e == EL_I64 || e == EL_U64; }

/* x as f64: exactly, of 64-bit integers by rounding to odd. */
static Str as_f64(Elem from, Str x)
{
	if (is_wide_int(from)) return str_fmt("ct_odd(%s)", x);
	if (from == EL_F64) return x;
	return str_fmt(elem_is_any_float(from) && !elem_is_float(from)
		? "ct::element_cast<double>(ct::element_cast<float>(%s))" : "ct::element_cast<double>(%s)", x);
}

/* Digits, least exponent and greatest number of a type below f64. */
typedef struct Format { int digits, least; const char *most; } Format;

static Format format_of(Elem e)
{
	switch (e) {
	case EL_F16: return (Format){ 11, -14, "65504.0" };
	case EL_BF16: return (Format){ 8, -126, "3.3895313892515355e38" };
	case EL_TF32: return (Format){ 11, -126, "3.4011621342146535e38" };
	case EL_F32: return (Format){ 24, -126, "3.4028234663852886e38" };
	case EL_F8E4M3: return (Format){ 4, -6, "448.0" };
	case EL_F8E5M2: return (Format){ 3, -14, "57344.0" };
	default: bug("no format of %s", elem_name(e));
	}
}

/* A cast whose modes have an effect, "_rz_sat": written out, for Tile C++ has one conversion of each pair of types. */
static Str cast_with(Elem to, Elem from, Str x, const char *modes)
{
	static const char *const words[] = { "", "_sat", "_inf", "_nan" };
	int mode = to == EL_TF32 ? 4 : 0, over = 0;
	if (modes[1] == 'r') {
		mode = (int)(strchr("ezmp", modes[2]) - "ezmp");
		modes += 3;
	}
	if (!strcmp(modes, "_wrap")) return str_fmt("ct_int_wrap<%s>(%s)", tl_elem(to), as_f64(from, x));
	if (elem_is_int(to)) return str_fmt("ct_int_sat<%s>(%s)", tl_elem(to), x);
	while (strcmp(words[over], modes)) over++;
	if (!over && is_fp8(to)) over = 1;
	if (to == EL_F64)
		return str_fmt(is_wide_int(from) ? "ct_halves<%d>(%s)" : "ct_at_inf<%d>(%s)", is_wide_int(from) ? mode : over,
			is_wide_int(from) ? x : as_f64(from, x));
	Format f = format_of(to);
	Str r = str_fmt("ct_digits<%d, %d, %d, %d>(%s, %s)", f.digits, f.least, mode, over, as_f64(from, x), f.most);
	if (is_fp8(to)) return str_fmt("ct_%s_%s(%s)", over == 2 ? "inf" : "to", elem_rows[to].name, r);
	return str_fmt(to == EL_TF32 ? "ct::element_cast<%s>(ct::element_cast<float>(%s))" : "ct::element_cast<%s>(%s)",
		tl_elem(to), r);
}

Str tl_cast(Tg *g, Elem to, Elem from, Str x, const Op *op)
{
	Str word = op && ir_int(op, AT_OVERFLOW, 0) ? attr_word_text(AT_OVERFLOW, (int)ir_int(op, AT_OVERFLOW, 0)) : NULL;
	Str mode = op && ir_int(op, AT_ROUNDING, 0) ? attr_word_text(AT_ROUNDING, (int)ir_int(op, AT_ROUNDING, 0)) : NULL;
	char name[96];
	(void)g;
	if (elem_is_ptr(from) || elem_is_ptr(to)) {
		if (to == EL_BOOL) return str_fmt("ct_nonzero(%s)", x);
		return str_fmt("ct::element_cast<%s>(%s)", tl_elem(to), x);
	}
	if (from == to && !word) return x;
	if (!snip_cvt(name, sizeof name, elem_rows[to].name, elem_rows[from].name, mode, word))
		bug("no conversion from %s to %s", elem_name(from), elem_name(to));
	/* what the modes leave in the name is what has an effect on this pair of types */
	const char *modes = name + strlen(str_fmt("ct_cvt_%s_%s", elem_rows[to].name, elem_rows[from].name));
	if (*modes) return cast_with(to, from, x, modes);
	if (from == to) return x;
	if (to == EL_BOOL)
		return str_fmt(elem_is_any_float(from) && !elem_is_float(from) ? "ct_nonzero(ct::element_cast<float>(%s))"
			: "ct_nonzero(%s)", x);
	if (elem_is_any_float(from) && elem_is_int(to))
		return str_fmt(elem_is_float(from) ? "ct_to_int<%s>(%s)" : "ct_to_int<%s>(ct::element_cast<float>(%s))",
			tl_elem(to), x);
	if (is_fp8(to)) return str_fmt("ct_to_%s(%s)", elem_rows[to].name, from == EL_F64 || from == EL_F32 ? x :
		from == EL_I64 || from == EL_U64 || from == EL_I32 || from == EL_U32
			? str_fmt("ct::element_cast<double>(%s)", x) :
		str_fmt("ct::element_cast<float>(%s)", x));
	if (to == EL_TF32) return str_fmt("ct_to_tf32(%s)", from == EL_F32 ? x : str_fmt("ct::element_cast<float>(%s)", x));
	return str_fmt("ct::element_cast<%s>(%s)", tl_elem(to), x);
}

static Str bitcast(Elem to, Elem from, Str x)
{
	if (from == to) return x;
	/* the compiler fails on tf32 here, and a bool is a bit to it */
	if (from == EL_TF32) x = str_fmt("ct::element_cast<float>(%s)", x), from = EL_F32;
	if (from == EL_BOOL) x = str_fmt("ct::element_cast<unsigned char>(%s)", x), from = EL_U8;
	if (from == to) return x;
	if (to == EL_BOOL)
		return from == EL_U8 ? str_fmt("ct_nonzero(%s)", x) : str_fmt("ct_nonzero(ct::element_bitcast<unsigned "
			"char>(%s))", x);
	if (to == EL_TF32) return str_fmt("ct_tf32_of(%s)", x);
	return str_fmt("ct::element_bitcast<%s>(%s)", tl_elem(to), x);
}

bool tl_elementwise(Tg *g, const Op *op)
{
	Str text = NULL;
	const Val *x = op->nin ? ir_in(op, 0) : NULL;
	if (!op_has(op, OPF_ELEMWISE) || op->nout != 1) return false;
	if (op->code == OP_CAST) text = tl_cast(g, op->out[0]->type->elem, x->type->elem, tl_text(g, x), op);
	else if (op->code == OP_HINT) text = tl_promised(op, tl_text(g, x));
	else if (op->code == OP_BITCAST) text = bitcast(op->out[0]->type->elem, x->type->elem, tl_text(g, x));
	else text = table_text(g, op);
	if (!text) return false;
	tl_define(g, op->out[0], text);
	return true;
}

/* ---- shapes ---- */
static Str map_text(const Op *op)
{
	const IrAttr *axes = ir_attr(op, AT_AXES);
	Out *o = out_new();
	out_puts(o, "ct::dimension_map<");
	for (int i = 0; i < axes->u.ints.n; i++) out_printf(o, "%s%lld", i ? ", " : "", (long long)axes->u.ints.p[i]);
	out_puts(o, ">");
	return out_take(o);
}

static void constant(Tg *g, const Op *op)
{
	Val *v = op->out[0];
	Num n;
	if (!ir_const_value(v, &n)) bug("a constant without a value");
	g->val[v->id].text = tl_full(g, v->type, tl_num(v->type->elem, n));
}

/* NVIDIA's compiler lets threads exchange bytes through addresses of shared memory that coincide: elements of one byte
 * change places as words. The words of bytes and of bool are in the same order. */
Str tl_words(Elem e, Str x)
{
	if (elem_bytes(e) > 1) return x;
	return str_fmt(is_fp8(e) ? "ct::element_cast<int>(ct_bits(%s))" : "ct::element_cast<int>(%s)", x);
}

Str tl_of_words(Elem e, Str x)
{
	if (elem_bytes(e) > 1) return x;
	if (e == EL_BOOL) return str_fmt("ct_nonzero(%s)", x);
	Str bytes = str_fmt("ct::element_cast<%s>(%s)", is_fp8(e) ? "unsigned char" : tl_elem(e), x);
	return is_fp8(e) ? str_fmt("ct::element_bitcast<%s>(%s)", tl_elem(e), bytes) : bytes;
}

static Str cat_text(Elem e, int axis, Str a, Str b)
{
	return tl_of_words(e, str_fmt("ct::cat<%d>(%s, %s)", axis, tl_words(e, a), tl_words(e, b)));
}

/* Halves side by side: a tile of equal elements for each scalar, and then pairs of them. */
static Str literal_part(Tg *g, const Op *op, Elem e, int64_t first, int64_t n)
{
	const IrAttr *values = ir_attr(op, AT_VALUES);
	uint8_t one = 0;
	if (n == 1)
		return tl_full(g, type_tile(e, 1, &one), values ? tl_num(e, values->u.nums.p[first])
			: tl_text(g, ir_in(op, (int)first)));
	Str a = literal_part(g, op, e, first, n / 2), b = literal_part(g, op, e, first + n / 2, n / 2);
	return cat_text(e, 0, a, b);
}

static bool element(const Op *op, int64_t i, Num *x)
{
	const IrAttr *values = ir_attr(op, AT_VALUES);
	if (values) *x = values->u.nums.p[i];
	return values || ir_const_value(ir_in(op, (int)i), x);
}

static bool all_known(const Op *op)
{
	Num x;
	for (int64_t i = 0; i < type_size(op->out[0]->type); i++)
		if (!element(op, i, &x)) return false;
	return true;
}

/* nvcc 13.4 makes 0 of an element that is -0.0. */
static bool has_negative_zero(const Op *op)
{
	Num x = { 0 };
	for (int64_t i = 0; i < type_size(op->out[0]->type); i++)
		if (element(op, i, &x) && x.f == 0 && __builtin_signbit(x.f)) return true;
	return false;
}

/* Constants in memory, before the kernel: numbers that C++ has as they are, of other types
 * the bits. tf32 lies there as f32. */
static Str table(Tg *g, const Op *op, Elem of)
{
	static const Elem words[] = { EL_U8, EL_U16, EL_U32, EL_U64 };
	Elem e = of == EL_TF32 ? EL_F32 : of == EL_BOOL ? EL_U8 : of;
	bool bits = is_class(e) || (elem_is_any_float(e) && has_negative_zero(op));
	int64_t n = type_size(op->out[0]->type);
	Elem word = bits ? words[__builtin_ctz((unsigned)elem_rows[e].bytes)] : e;
	Str name = str_fmt("ct_values%d", (*g->ntable)++);
	out_printf(g->tables, "static __tile__ const %s %s[%lld] = {", tl_elem(word), name, (long long)n);
	for (int64_t i = 0; i < n; i++) {
		Num x = { 0 };
		element(op, i, &x);
		out_puts(g->tables, !i ? "\n\t" : i % 8 ? ", " : ",\n\t");
		if (bits) out_printf(g->tables, "0x%llx", (unsigned long long)num_bits(e, x));
		else out_puts(g->tables, tl_num(e, x));
	}
	out_puts(g->tables, "\n};\n\n");
	Str x = str_fmt("ct::load(%s + ct::iota<ct::tile<int, ct::shape<%lld>>>())", name, (long long)n);
	if (bits) x = str_fmt("ct::element_bitcast<%s>(%s)", tl_elem(e), x);
	return of == EL_TF32 ? str_fmt("ct::element_cast<%s>(%s)", tl_elem(of), x) : of == EL_BOOL ? tl_from_memory(of, x)
		: x;
}

/* Scalars that are computed: pairs in parts that have names, for NVIDIA's compiler takes
 * quadratic time for deep expressions. */
static Str computed(Tg *g, const Op *op, Elem e, int64_t first, int64_t n)
{
	enum { PART = 64 };
	if (n > PART) {
		Str a = computed(g, op, e, first, n / 2), b = computed(g, op, e, first + n / 2, n / 2);
		return cat_text(e, 0, a, b);
	}
	Str text = literal_part(g, op, e, first, n), name = tl_temp(g, "part");
	out_printf(g->o, "const auto %s = %s;\n", name, text);
	return name;
}

static void literal(Tg *g, const Op *op)
{
	enum { FEW = 16 };
	Val *v = op->out[0];
	Elem e = v->type->elem;
	int64_t n = type_size(v->type);
	Str text = n <= FEW ? literal_part(g, op, e, 0, n) : !elem_is_ptr(e) && all_known(op) ? table(g, op, e)
		: computed(g, op, e, 0, n);
	tl_define(g, v, str_fmt("ct::reshape<%s>(%s)", tl_shape(v->type), text));
}

/* A sub-tile: its number along each axis; outside there are zeros. */
static void extract(Tg *g, const Op *op)
{
	const Type *big = ir_in(op, 0)->type, *t = op->out[0]->type;
	Out *index = out_new(), *inside = out_new();
	bool sure = true;
	for (int i = 0; i < t->rank; i++) {
		const Val *v = ir_in(op, 1 + i);
		long long n = (long long)(type_extent(big, i) / type_extent(t, i));
		Num c;
		if (ir_const_value(v, &c) && c.i >= 0 && c.i < n) {
			out_printf(index, ", %lld", (long long)c.i);
			continue;
		}
		out_printf(index, ", ct_sub(%s, %lld)", tl_text(g, v), n);
		out_printf(inside, "%sct_is_sub(%s, %lld)", sure ? "" : " && ", tl_text(g, v), n);
		sure = false;
	}
	Str text = str_fmt("ct::extract(%s, %s{}%s)", tl_text(g, ir_in(op, 0)), tl_shape(t), out_take(index));
	Str test = out_take(inside);
	if (!sure) text = str_fmt("ct::select(%s, %s, %s)", test, text, tl_full(g, t, tl_num(t->elem, num_zero(t->elem))));
	tl_define(g, op->out[0], text);
}

static void join(Tg *g, const Op *op)
{
	const Type *t = op->out[0]->type, *x = ir_in(op, 0)->type;
	uint8_t log2[TILE_RANK] = { 0 };
	memcpy(log2, x->log2, x->rank);
	Str shape = tl_shape(type_with_shape(t, x->rank + 1, log2));
	Str a = str_fmt("ct::reshape<%s>(%s)", shape, tl_text(g, ir_in(op, 0)));
	Str b = str_fmt("ct::reshape<%s>(%s)", shape, tl_text(g, ir_in(op, 1)));
	tl_define(g, op->out[0], cat_text(x->elem, x->rank, a, b));
}

static void split(Tg *g, const Op *op)
{
	const Type *t = op->out[0]->type;
	uint8_t log2[TILE_RANK] = { 0 };
	memcpy(log2, t->log2, t->rank);
	Str half = tl_shape(type_with_shape(t, t->rank + 1, log2));
	for (int k = 0; k < 2; k++) {
		Out *index = out_new();
		for (int i = 0; i < t->rank; i++) out_puts(index, "0, ");
		tl_define(g, op->out[k], str_fmt("ct::reshape<%s>(ct::extract(%s, %s{}, %s%d))", tl_shape(t),
			tl_text(g, ir_in(op, 0)), half, out_take(index), k));
	}
}

bool tl_shaped(Tg *g, const Op *op)
{
	Val *out = op->nout ? op->out[0] : NULL;
	const Val *x = op->nin ? ir_in(op, 0) : NULL;
	switch (op->code) {
	case OP_CONST: constant(g, op); return true;
	case OP_LITERAL: literal(g, op); return true;
	case OP_IOTA: tl_define(g, out, str_fmt("ct::iota<%s>()", tl_type(g, out->type))); return true;
	case OP_BROADCAST: case OP_RESHAPE:
		if (!type_is_tile(x->type)) tl_define(g, out, tl_full(g, out->type, tl_text(g, x)));
		else
			tl_define(g, out, str_fmt("ct::%s<%s>(%s)", op->code == OP_RESHAPE ? "reshape" : "broadcast",
				tl_shape(out->type), tl_text(g, x)));
		return true;
	case OP_TO_SCALAR:
		tl_define(g, out, str_fmt("ct_scalar<%s>(%s)", tl_elem(out->type->elem), tl_text(g, x))); return true;
	case OP_PERMUTE: tl_define(g, out, str_fmt("ct::permute<%s>(%s)", map_text(op), tl_text(g, x))); return true;
	case OP_CAT:
		tl_define(g, out, cat_text(x->type->elem, ir_axis(op), tl_text(g, x), tl_text(g, ir_in(op, 1))));
		return true;
	case OP_EXTRACT: extract(g, op); return true;
	case OP_JOIN: join(g, op); return true;
	case OP_SPLIT: split(g, op); return true;
	default: return false;
	}
}
