/* Elements in words: memory is accessed in vectors of 1, 2, 4, 8 or 16 bytes, held as unsigned char, unsigned short,
 * unsigned int, ct_u32x2 and ct_u32x4; these functions take elements out and put them in. */
#include <string.h>

#include "base/diag.h"
#include "emit_cuda/cu.h"
#include "ir/fold.h"

const char *words_type(int bytes)
{
	switch (bytes) {
	case 1: return "unsigned char";
	case 2: return "unsigned short";
	case 4: return "unsigned int";
	case 8: return "ct_u32x2";
	case 16: return "ct_u32x4";
	default: bug("no piece of %d bytes", bytes);
	}
}

/* The bits of an element as the unsigned type of its size; 8 bytes: unsigned long long. */
Str words_bits(Elem e, Str x)
{
	if (elem_is_ptr(e)) return str_fmt("(unsigned long long)%s", x);
	switch (elem_bytes(e)) {
	case 1: return e == EL_I8 ? str_fmt("(unsigned char)%s", x) : x;
	case 2: return e == EL_I16 ? str_fmt("(unsigned short)%s", x) : x;
	case 4: return e == EL_U32 ? x : e == EL_I32 ? str_fmt("(unsigned int)%s", x) : str_fmt("ct_bits_u32_f32(%s)", x);
	default:
		return e == EL_U64 ? x : e == EL_I64 ? str_fmt("(unsigned long long)%s", x) : str_fmt("ct_bits_u64_f64(%s)", x);
	}
}

Str words_value(Elem e, Str bits)
{
	if (elem_is_ptr(e)) return str_fmt("(%s)%s", cu_type(e), bits);
	switch (elem_bytes(e)) {
	case 1:
		return e == EL_BOOL ? str_fmt("(unsigned char)(%s != 0)", bits) : e == EL_I8 ? str_fmt("(signed char)%s", bits)
			: bits;
	case 2: return e == EL_I16 ? str_fmt("(short)%s", bits) : bits;
	case 4: return e == EL_U32 ? bits : e == EL_I32 ? str_fmt("(int)%s", bits) : str_fmt("ct_bits_f32_u32(%s)", bits);
	default:
		return e == EL_U64 ? bits : e == EL_I64 ? str_fmt("(long long)%s", bits) : str_fmt("ct_bits_f64_u64(%s)", bits);
	}
}

void words_unpack(Cu *g, Elem e, int n, const char *word, const Str *to)
{
	int size = elem_bytes(e), bytes = size * n;
	for (int i = 0; i < n; i++) {
		Str bits;
		Str part = bytes > 4 ? str_fmt("%s.v[%d]", word, i * size / 4) : str_intern(word);
		if (size == 8) bits = str_fmt("ct_join_u64(%s.v[%d], %s.v[%d])", word, 2 * i, word, 2 * i + 1);
		else if (size == 4 || bytes == size) bits = part;
		else bits = str_fmt(size == 2 ? "ct_get_b16(%s, %d)" : "ct_get_b8(%s, %d)", part, i % (4 / size));
		if (bytes < 4 && n > 1) bits = str_fmt("ct_get_b8(%s, %d)", word, i);
		out_printf(g->o, "%s = %s;\n", to[i], words_value(e, bits));
	}
}

static Str word32(Elem e, const Str *from)
{
	switch (elem_bytes(e)) {
	case 1:
		return str_fmt("ct_join_b8(%s, %s, %s, %s)", words_bits(e, from[0]), words_bits(e, from[1]),
			words_bits(e, from[2]),
		words_bits(e, from[3]));
	case 2: return str_fmt("ct_join_b16(%s, %s)", words_bits(e, from[0]), words_bits(e, from[1]));
	default: return words_bits(e, from[0]);
	}
}

Str words_pack(Cu *g, Elem e, int n, const Str *from)
{
	int size = elem_bytes(e), bytes = size * n;
	if (n == 1 && size < 8) return words_bits(e, from[0]);
	if (bytes == 2) return str_fmt("(unsigned short)(%s | %s << 8)", words_bits(e, from[0]), words_bits(e, from[1]));
	if (bytes == 4) return word32(e, from);
	Str t = cu_fresh(g, "w");
	out_printf(g->o, "%s %s;\n", words_type(bytes), t);
	for (int i = 0; i < bytes / 4; i++) {
		if (size == 8) {
			Str x = words_bits(e, from[i / 2]);
			out_printf(g->o, i % 2 ? "%s.v[%d] = (unsigned int)((%s) >> 32);\n" : "%s.v[%d] = (unsigned int)(%s);\n", t,
				i, x);
		} else {
			out_printf(g->o, "%s.v[%d] = %s;\n", t, i, word32(e, from + i * 4 / size));
		}
	}
	return t;
}

/* The function that takes a vector apart or puts it together: ct_get_<this>x<n>, ct_put_<this>x<n>. least: log2 of the
 * fewest elements; NULL: there is none. */
static const char *run_type(Elem e, int *least)
{
	*least = elem_bytes(e) == 4 ? 1 : 2;
	switch (e) {
	case EL_F32: case EL_I32: case EL_U32: case EL_BOOL: return elem_rows[e].name;
	case EL_F16: case EL_BF16: return "b16";
	default: return elem_bytes(e) == 1 ? "b8" : NULL;
	}
}

/* Are a vector's registers neighbours in the array that holds v, and is there a function that takes them? */
bool words_vector_is_run(Cu *g, const Val *v, const uint8_t *bit, int vec)
{
	const CuVal *c = cu_val(g, v);
	int least;
	const char *type = run_type(v->type->elem, &least);
	if (regs_of(v) == 1 || c->splat || c->inside || !type || vec < least) return false;
	for (int i = 0; i < vec; i++)
		if (bit[i] != i) return false;
	return true;
}

/* Bools are 0 or 1 in registers, so none has to be made one: they are joined like other elements. */
static bool is_put(Cu *g, const Val *v, const uint8_t *bit, int vec)
{
	return v->type->elem != EL_BOOL && words_vector_is_run(g, v, bit, vec);
}

bool words_pack_is_pure(Cu *g, const Val *v, const uint8_t *bit, int vec)
{
	return elem_bytes(v->type->elem) << vec <= 4 || is_put(g, v, bit, vec);
}

Str words_unpack_run(const Val *v, int vec, const char *word, Str first)
{
	int least;
	return str_fmt("ct_get_%sx%d(&%s, %s)", run_type(v->type->elem, &least), 1 << vec, first, word);
}

void words_unpack_vector(Cu *g, const Val *v, const uint8_t *bit, int vec, const char *word, const Str *reg)
{
	if (words_vector_is_run(g, v, bit, vec)) out_printf(g->o, "%s;\n", words_unpack_run(v, vec, word, reg[0]));
	else words_unpack(g, v->type->elem, 1 << vec, word, reg);
}

Str words_pack_vector(Cu *g, const Val *v, const uint8_t *bit, int vec, const Str *reg)
{
	int least;
	if (!is_put(g, v, bit, vec)) return words_pack(g, v->type->elem, 1 << vec, reg);
	return str_fmt("ct_put_%sx%d(&%s)", run_type(v->type->elem, &least), 1 << vec, reg[0]);
}

static const char *const sizes[] = { "unsigned char", "unsigned short", "unsigned int", "unsigned long long" };

CuInt words_offset(int64_t slot, CuInt index, int bytes) { return cu_sum(cu_int(slot), cu_times(index, bytes)); }

Str words_shared(CuInt at) { return cu_is(at, 0) ? str_intern("ct_smem") : str_fmt("(ct_smem + %s)", at.text); }

Str words_load_shared(Elem e, CuInt at)
{
	return words_value(e, str_fmt("*(const %s *)%s", sizes[elem_log2(e)], words_shared(at)));
}

Str words_load_piece(Elem e, CuInt at)
{
	return words_value(e, str_fmt("*(const volatile %s *)%s", sizes[elem_log2(e)], words_shared(at)));
}

void words_store_shared(Cu *g, Elem e, CuInt at, Str x)
{
	out_printf(g->o, "*(%s *)%s = %s;\n", sizes[elem_log2(e)], words_shared(at), words_bits(e, x));
}

/* What is made in a branch of a vector (peel_stretch) is not read after it: merged with nothing,
 * halves of words would be held apart. */
static const Val *first_of(const Cu *g, const Val *x)
{
	while (g->part && x->def && x->def->code == OP_OPAQUE) x = ir_in(x->def, 0);
	return x;
}

/* Is there a function for vectors of 2^vec elements, whose registers are neighbours in both arrays? */
static bool has_function(Cu *g, const Val *x, const Val *r, const uint8_t *bit, int vec)
{
	Elem e = r->type->elem;
	const CuVal *from = cu_val(g, x);
	bool halves = e == EL_F16 || e == EL_BF16 || e == EL_U16;
	return halves && vec == 1 && bit[0] == 0 && regs_of(x) == regs_of(r) && !from->splat && !from->inside;
}

void words_opaque(Cu *g, const Op *op)
{
	const Val *x = first_of(g, ir_in(op, 0)), *r = op->out[0];
	Elem e = r->type->elem;
	uint8_t bit[LAY_BITS];
	Str from[4], to[4];
	int axis = r->type->rank - 1, n = 0, most = 2 - elem_log2(e);
	while (axis > 0 && !r->lay->out[axis]) axis--;
	uint32_t mask = 0;
	for (int run = lay_run(*r->lay, axis, bit); n < run && n < most; n++) mask |= (uint32_t)1 << bit[n];
	if (g->part == PART_END) n = 0, mask = 0;
	if (has_function(g, x, r, bit, n)) {
		bool opened;
		Str at = cu_vectors(g, *r->lay, mask, &opened).text;
		out_printf(g->o, "ct_opaque_b16x2(&%s, &%s);\n", cu_at(g, r, at), cu_at(g, x, at));
		if (opened) cu_end(g);
		return;
	}
	CuInt first = cu_registers(g, *r->lay, mask);
	for (int k = 0; k < 1 << n; k++) {
		uint32_t add = 0;
		for (int i = 0; i < n; i++) add |= (uint32_t)(k >> i & 1) << bit[i];
		Str at = cu_xor(first, cu_int(add)).text;
		from[k] = cu_at(g, x, at);
		to[k] = cu_at(g, r, at);
	}
	out_printf(g->o, "unsigned int ct_w = %s;\n", words_pack(g, e, 1 << n, from));
	out_puts(g->o, "asm volatile(\"\" : \"+r\"(ct_w));\n");
	words_unpack(g, e, 1 << n, "ct_w", to);
	cu_end(g);
}

Str words_pad(Cu *g, Elem e, const Val *pad)
{
	Num n;
	bool known = ir_const_value(pad, &n);
	if (known && e == EL_F32) return str_fmt("0x%08xu", (unsigned)num_bits(e, n));
	return words_pad_element(g, e, known ? cu_num(e, n) : cu_scalar(g, pad));
}

Str words_pad_element(Cu *g, Elem e, Str pad)
{
	if (elem_bytes(e) < 8) return words_bits(e, pad);
	Str t = cu_fresh(g, "pad");
	out_printf(g->o, "const unsigned long long %s_ = %s;\n", t, words_bits(e, pad));
	out_printf(g->o, "const ct_u32x2 %s = { { (unsigned int)%s_, (unsigned int)(%s_ >> 32) } };\n", t, t, t);
	return t;
}
