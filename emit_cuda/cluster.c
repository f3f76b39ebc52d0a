/* Clusters: several thread blocks that hold one tile and exchange partial results.
 *
 * Each exchange has an mbarrier in every thread block, which counts the bytes that arrive (PTX: mbarrier, st.async). They are
 * made ready at the start; the blocks meet once, before the first of them sends, and that wait stands behind the first loads.
 * Afterwards nothing waits but for the data itself: a release at cluster scope would wait for all memory operations before it.
 * Each block waits for everything that is sent to it, so none ends while another still writes to its shared memory. */
#include "emit_cuda/cu.h"

int cu_threads(const Fn *fn)
{
	if (fn->packed) return fn->packed * (fn->lanes ? fn->lanes : 32);
	return fn->warps * 32 / (fn->cluster ? fn->cluster : 1);
}

static void init_bar(void *ctx, Op *op)
{
	Cu *g = ctx;
	if (op->code != OP_EXCHANGE) return;
	const Type *t = op->out[0]->type;
	out_printf(g->o, "ct_bar_init(ct_smem + %lld, %lld, %lld);\n", (long long)ir_int(op, AT_SLOT, 0), (long long)type_size(t),
		(long long)type_size(t) * exchange_slot(t));
}

void cluster_begin(Cu *g)
{
	out_puts(g->o, "extern __shared__ __align__(16) unsigned char ct_smem[];\n");
	out_printf(g->o, "const unsigned int ct_lane = threadIdx.x & 31, ct_warp = (threadIdx.x >> 5) + ct_cluster_rank() * %d;\n",
		cu_threads(g->fn) / 32);
	out_puts(g->o, "if (threadIdx.x == 0) {\n");
	out_in(g->o);
	ir_walk(g->fn->body, init_bar, g);
	out_puts(g->o, "ct_bar_ready();\n");
	out_off(g->o);
	out_puts(g->o, "}\nct_cluster_arrive();\n");
}

static Str slot_at(const Op *op, Str index)
{
	const Type *t = op->out[0]->type;
	return str_fmt("ct_smem + %lld + (%s) * %d", (long long)ir_int(op, AT_SLOT, 0) + EXCHANGE_BAR, index, exchange_slot(t));
}

static Str index_text(Lay l)
{
	CuMap m = cu_map(l, LAY_PACKED);
	return cu_xor(cu_map_thread(&m), cu_map_reg(&m, "ct_b"));
}

/* One lane for each thread block where all lanes hold copies, else one lane for all of them. */
static void print_send(Cu *g, const Op *op)
{
	const Val *x = ir_in(op, 0);
	Lay l = *x->lay;
	Elem e = x->type->elem;
	uint32_t spare = lay_free(l);
	bool lanes = lay_hwcoord(l, spare, HW_LANE) == 31 && !lay_hwcoord(l, spare, HW_WARP);
	Str copies = lanes ? str_fmt("ct_lane < %d", g->fn->cluster) : cu_copies(l);
	int bits = 8 * exchange_slot(x->type);
	out_printf(g->o, "%s%s%s{\n", copies ? "if (" : "", copies ? copies : "", copies ? ") " : "");
	out_in(g->o);
	cu_registers(g, l, lay_hwcoord(l, spare, HW_REG));
	if (!lanes) cu_loop(g, "ct_to", g->fn->cluster);
	out_printf(g->o, "ct_send_b%d(%s, %s, ct_smem + %lld, %s);\n", bits, slot_at(op, index_text(l)), words_bits(e, cu_at(g, x, "ct_b")),
		(long long)ir_int(op, AT_SLOT, 0), lanes ? "ct_lane" : "(unsigned int)ct_to");
	if (!lanes) cu_end(g);
	cu_end(g);
	cu_end(g);
}

static void print_receive(Cu *g, const Op *op)
{
	const Val *r = op->out[0];
	Elem e = r->type->elem;
	const char *word = exchange_slot(r->type) == 8 ? "unsigned long long" : "unsigned int";
	cu_registers(g, *r->lay, 0);
	Str bits = str_fmt("*(const %s *)(%s)", word, slot_at(op, index_text(*r->lay)));
	if (elem_bytes(e) < 4) bits = str_fmt("(%s)%s", words_type(elem_bytes(e)), bits);
	out_printf(g->o, "%s = %s;\n", cu_at(g, r, "ct_b"), words_value(e, bits));
	cu_end(g);
}

void cluster_exchange(Cu *g, const Op *op)
{
	cu_val(g, op->out[0])->name = cu_name(g, op->out[0]);
	cu_say(g, op);
	cu_declare(g, op->out[0]);
	if (!g->started) out_puts(g->o, "ct_cluster_wait();\n");
	g->started = true;
	print_send(g, op);
	out_printf(g->o, "ct_bar_wait(ct_smem + %lld);\n", (long long)ir_int(op, AT_SLOT, 0));
	print_receive(g, op);
}
