/* What threads keep in shared memory for a later loop: each its own registers, in vectors of up to 16 bytes that lie
 * beside those of the other threads, so that lanes do not conflict in a bank. */
#include "emit_cuda/cu.h"

static int piece_elems_of(const Val *v)
{
	int regs = regs_of(v), n = VECTOR_BYTES / elem_bytes(v->type->elem);
	return n < regs ? n : regs;
}

typedef struct Kept {
	const Val *v;
	int n, vec, bytes;      /* elements of a vector, their log2, their bytes */
	uint8_t bit[LAY_BITS];
	Str reg[VECTOR_BYTES], at;     /* registers and place of a vector */
	bool block;             /* a vector takes more than one statement */
} Kept;

/* Opens a loop over vectors, with a block where a vector takes several statements. */
static Kept open_vectors(Cu *g, const Op *op, const Val *v, bool load)
{
	Kept k = { .v = v, .n = piece_elems_of(v) };
	int pieces = regs_of(v) / k.n, threads = block_threads(g->fn);
	k.bytes = k.n * elem_bytes(v->type->elem);
	for (; 1 << k.vec < k.n; k.vec++) k.bit[k.vec] = (uint8_t)k.vec;
	out_printf(g->o, "unsigned char *const ct_p = ct_smem + %lld + ((unsigned int)%s * %d + threadIdx.x) * %d;\n",
		(long long)ir_int(op, AT_SLOT, 0), cu_scalar(g, ir_in(op, 0)), pieces * threads, k.bytes);
	k.block = load ? !words_vector_is_run(g, v, k.bit, k.vec) : !words_pack_is_pure(g, v, k.bit, k.vec);
	cu_line(g, op);
	if (pieces > 1) cu_each(g, "ct_i", pieces);
	if (pieces > 1 && k.block) cu_open(g);
	k.block &= pieces > 1;
	CuInt i = pieces > 1 ? cu_var("ct_i") : cu_int(0), first = cu_times(i, k.n);
	for (int e = 0; e < k.n; e++) k.reg[e] = cu_at(g, v, cu_sum(first, cu_int(e)).text);
	k.at = cu_operand(cu_sum(cu_var("ct_p"), cu_times(i, threads * k.bytes)));
	return k;
}

void keep_store(Cu *g, const Op *op)
{
	cu_say(g, op);
	out_printf(g->o, "if (%s < %lld) {\n", cu_scalar(g, ir_in(op, 0)), (long long)ir_int(op, AT_NUMBER, 0));
	out_in(g->o);
	Kept k = open_vectors(g, op, ir_in(op, 1), false);
	Str w = words_pack_vector(g, k.v, k.bit, k.vec, k.reg);
	out_printf(g->o, "*(%s *)%s = %s;\n", words_type(k.bytes), k.at, w);
	if (k.block) cu_end(g);
	cu_end(g);
}

void keep_load(Cu *g, const Op *op)
{
	const Val *v = op->out[0];
	cu_val(g, v)->name = cu_name(g, v);
	cu_say(g, op);
	cu_declare(g, v);
	cu_open(g);
	Kept k = open_vectors(g, op, v, true);
	Str word = str_fmt("*(const %s *)%s", words_type(k.bytes), k.at);
	if (!words_vector_is_run(g, v, k.bit, k.vec)) {
		out_printf(g->o, "const %s ct_w = %s;\n", words_type(k.bytes), word);
		word = str_intern("ct_w");
	}
	words_unpack_vector(g, v, k.bit, k.vec, word, k.reg);
	if (k.block) cu_end(g);
	cu_end(g);
}
