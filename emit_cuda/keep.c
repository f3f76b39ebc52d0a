/* What threads keep in shared memory for a later loop: each its own registers, in vectors of up to 16 bytes that lie
 * beside those of the other threads, so that no two lanes meet in a bank. */
#include "emit_cuda/cu.h"

static int piece_elems_of(const Val *v)
{
	int regs = regs_of(v), n = PIECE / elem_bytes(v->type->elem);
	return n < regs ? n : regs;
}

/* Opens a loop over vectors: ct_b is the first register of vector ct_i. Its place. */
static Str open_place(Cu *g, const Op *op, const Val *v, Str *reg)
{
	int n = piece_elems_of(v), pieces = regs_of(v) / n, threads = block_threads(g->fn),
		bytes = n * elem_bytes(v->type->elem);
	out_printf(g->o, "unsigned char *const ct_p = ct_smem + %lld + ((unsigned int)%s * %d + threadIdx.x) * %d;\n",
		(long long)ir_int(op, AT_SLOT, 0), cu_scalar(g, ir_in(op, 0)), pieces * threads, bytes);
	cu_loop(g, "ct_i", pieces);
	out_printf(g->o, "const int ct_b = %s;\n", cu_times("ct_i", n));
	for (int i = 0; i < n; i++) reg[i] = cu_at(g, v, i ? str_fmt("ct_b + %d", i) : "ct_b");
	return str_fmt("ct_p + ct_i * %d", threads * bytes);
}

void keep_store(Cu *g, const Op *op)
{
	const Val *v = ir_in(op, 1);
	Str reg[PIECE];
	int n = piece_elems_of(v), bytes = n * elem_bytes(v->type->elem);
	cu_say(g, op);
	out_printf(g->o, "if (%s < %lld) {\n", cu_scalar(g, ir_in(op, 0)), (long long)ir_int(op, AT_NUMBER, 0));
	out_in(g->o);
	Str at = open_place(g, op, v, reg), w = words_pack(g, v->type->elem, n, reg);
	cu_line(g, op);
	out_printf(g->o, "*(%s *)(%s) = %s;\n", words_type(bytes), at, w);
	cu_end(g);
	cu_end(g);
}

void keep_load(Cu *g, const Op *op)
{
	const Val *v = op->out[0];
	Str reg[PIECE];
	int n = piece_elems_of(v), bytes = n * elem_bytes(v->type->elem);
	cu_val(g, v)->name = cu_name(g, v);
	cu_say(g, op);
	cu_declare(g, v);
	out_puts(g->o, "{\n");
	out_in(g->o);
	Str at = open_place(g, op, v, reg);
	cu_line(g, op);
	out_printf(g->o, "const %s ct_w = *(const %s *)(%s);\n", words_type(bytes), words_type(bytes), at);
	words_unpack(g, v->type->elem, n, "ct_w", reg);
	cu_end(g);
	cu_end(g);
}
