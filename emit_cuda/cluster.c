/* Clusters: several thread blocks that hold one tile and exchange partial results.
 *
 * Each exchange has an mbarrier in every thread block, which counts the bytes that arrive (PTX: mbarrier, st.async).
 * They are initialised at the start; the blocks synchronise once, before the first of them sends, and after the first
 * loads are issued. From then on threads wait for nothing but the data: a release at cluster scope would wait for all
 * earlier memory operations. Each block waits for everything that is sent to it, so none ends while another still
 * writes to its shared memory.
 *
 * An exchange in a loop has two mbarriers and two places for what arrives, for every other iteration: who sends for
 * iteration n + 2 has what all warps sent for iteration n + 1, after their reading of iteration n. Bytes may arrive
 * for a phase before its own block expects them (PTX: the pending count of transactions goes below zero, and the
 * phase stays open until its one arrival). */
#include "emit_cuda/cu.h"
#include "emit_cuda/peel.h"

static Str in_shared(CuInt at) { return cu_sum(cu_var("ct_smem"), at).text; }

static void init_bar(void *ctx, Op *op)
{
	Cu *g = ctx;
	int64_t sends, bytes;
	if (!op_exchanges(op)) return;
	exchange_size(op, &sends, &bytes);
	Str times = str_intern("");
	if (g->fn->fewer) {
		times = str_fmt(" * %s", cu_warps_started(g->fn));
		sends /= g->fn->warps;
		bytes /= g->fn->warps;
	}
	for (int i = 0; i <= exchange_repeats(op); i++)
		out_printf(g->o, "ct_bar_init(%s, %lld%s, %lld%s);\n",
			in_shared(cu_int(ir_int(op, AT_SLOT, 0) + i * exchange_bytes(op))), (long long)sends, times,
			(long long)bytes, times);
}

static void count_times(void *ctx, Op *op)
{
	Cu *g = ctx;
	if (op_exchanges(op) && exchange_repeats(op))
		out_printf(g->o, "unsigned int ct_done%lld = 0;\n", (long long)ir_int(op, AT_SLOT, 0));
}

/* Where its place begins. One that is done again and again has two, for every other time. */
static CuInt place_of(const Op *op)
{
	CuInt at = cu_int(ir_int(op, AT_SLOT, 0));
	return exchange_repeats(op) ? cu_sum(at, cu_var(str_fmt("ct_half%s", at.text))) : at;
}

static void begin_time(Cu *g, const Op *op)
{
	long long at = ir_int(op, AT_SLOT, 0);
	if (!exchange_repeats(op)) return;
	out_printf(g->o,
		"const unsigned int ct_half%lld = (ct_done%lld & 1) * %lld, ct_phase%lld = ct_done%lld >> 1 & 1;\n", at, at,
		(long long)exchange_bytes(op), at, at);
	out_printf(g->o, "ct_done%lld++;\n", at);
}

void cluster_begin(Cu *g)
{
	int threads = tile_threads(g->fn);
	out_puts(g->o, "extern __shared__ __align__(16) unsigned char ct_smem[];\n");
	if (g->fn->fewer) {
		out_puts(g->o, "const unsigned int ct_lane = threadIdx.x & 31, ct_warp = (threadIdx.x >> 5) + "
			"ct_cluster_rank() * (blockDim.x >> 5);\n");
		out_puts(g->o, "const unsigned int ct_ranks = ct_cluster_size(), ct_warps = (blockDim.x >> 5) * ct_ranks;\n");
	} else {
		out_printf(g->o, "const unsigned int ct_lane = threadIdx.x & 31, ct_warp = (threadIdx.x >> 5) + "
			"ct_cluster_rank() * %d;\n", threads / 32);
	}
	out_puts(g->o, "if (threadIdx.x == 0) {\n");
	out_in(g->o);
	ir_walk(g->fn->body, init_bar, g);
	if (g->fn->stage_at) peel_stage_init(g);
	out_puts(g->o, "ct_bar_ready();\n");
	out_off(g->o);
	out_puts(g->o, "}\nct_cluster_arrive();\n");
	ir_walk(g->fn->body, count_times, g);
}

static CuInt slot_at(const Op *op, int k, CuInt index)
{
	const Type *t = op->out[k]->type;
	int slot = exchange_slot(t->elem);
	if (!exchange_repeats(op))
		return words_offset(ir_int(op, AT_SLOT, 0) + EXCHANGE_BAR + exchange_at(op, k), index, slot);
	return cu_sum(place_of(op), words_offset(EXCHANGE_BAR + exchange_at(op, k), index, slot));
}

static CuInt index_text(Lay l, CuInt reg)
{
	CuMap m = cu_map(l, LAY_PACKED);
	return cu_map_place(&m, reg);
}

CuInt cluster_register(const Cu *g, Lay l) { return cu_register(g, l, lay_hwcoord(l, lay_free(l), HW_REG)); }

/* One lane for each thread block where all lanes hold copies, else one lane for all of them. */
static void print_sends(Cu *g, const Op *op, Lay l, int n, const Elem *e, const CuInt *at, const Str *x)
{
	uint32_t spare = lay_free(l);
	bool lanes = lay_hwcoord(l, spare, HW_LANE) == 31 && !lay_hwcoord(l, spare, HW_WARP);
	Str copies = lanes ? str_fmt("ct_lane < %s", cu_blocks_started(g->fn)) : cu_copies(l);
	uint32_t skip = lay_hwcoord(l, spare, HW_REG);
	bool once = cu_is(cluster_register(g, l), 0);
	if (copies) out_printf(g->o, "if (%s) ", copies);
	cu_open(g);
	if (!once) (void)cu_registers(g, l, skip).text;
	if (!lanes && g->fn->fewer) {
		out_puts(g->o, "for (unsigned int ct_to = 0; ct_to < ct_ranks; ct_to++) {\n");
		out_in(g->o);
	} else if (!lanes) {
		(void)cu_loop(g, "ct_to", g->fn->cluster).text;
	}
	for (int i = 0; i < n; i++)
		out_printf(g->o, "ct_send_b%d(%s, %s, %s, %s);\n", 8 * exchange_slot(e[i]), in_shared(at[i]),
			words_bits(e[i], x[i]), in_shared(place_of(op)), lanes ? "ct_lane" : "(unsigned int)ct_to");
	if (!lanes) cu_end(g);
	if (!once) cu_end(g);
	cu_end(g);
}

void cluster_meet(Cu *g)
{
	if (!g->started) out_puts(g->o, "ct_cluster_wait();\n");
	g->started = true;
}

static void find_exchange(void *ctx, Op *op) { *(bool *)ctx |= op_exchanges(op); }

void cluster_before(Cu *g, const Op *loop)
{
	bool any = false;
	if (!g->fn->cluster || g->started) return;
	ir_walk(loop->region[0], find_exchange, &any);
	if (any) cluster_meet(g);
}

static void print_wait(Cu *g, const Op *op)
{
	if (!exchange_repeats(op)) {
		out_printf(g->o, "ct_bar_wait(%s);\n", in_shared(place_of(op)));
		return;
	}
	int64_t sends, bytes;
	exchange_size(op, &sends, &bytes);
	out_printf(g->o, "ct_bar_wait_phase(%s, ct_phase%lld);\n", in_shared(place_of(op)),
		(long long)ir_int(op, AT_SLOT, 0));
	out_printf(g->o, "if (threadIdx.x == 0) ct_bar_again(%s, %lld);\n", in_shared(place_of(op)), (long long)bytes);
}

void cluster_send(Cu *g, const Op *op, Lay l, int n, const Elem *e, const CuInt *at, const Str *x)
{
	cluster_meet(g);
	print_sends(g, op, l, n, e, at, x);
	print_wait(g, op);
}

Str cluster_received(Elem e, CuInt at)
{
	Str bits = str_fmt("*(const %s *)(ct_smem + %s)", exchange_slot(e) == 8 ? "unsigned long long" : "unsigned int",
		at.text);
	if (elem_bytes(e) < 4) bits = str_fmt("(%s)%s", words_type(elem_bytes(e)), bits);
	return words_value(e, bits);
}

static void print_receive(Cu *g, const Op *op, int k)
{
	const Val *r = op->out[k];
	bool opened;
	CuInt reg = cu_vectors(g, *r->lay, 0, &opened), at = index_text(*r->lay, reg);
	Str x = cluster_received(r->type->elem, slot_at(op, k, at));
	if (g->fn->fewer) x = str_fmt("(%s) < ct_warps ? %s : %s", at.text, x, cu_of_no_warp(g, ir_in(op, k)));
	out_printf(g->o, "%s = %s;\n", cu_at(g, r, reg.text), x);
	if (opened) cu_end(g);
}

/* Operands from k on that have the layout of operand k, which go in one loop; gives the next one that has not. */
static int print_alike(Cu *g, const Op *op, int k)
{
	enum { MOST = 8 };
	Lay l = *ir_in(op, k)->lay;
	Elem e[MOST];
	CuInt at[MOST];
	Str x[MOST];
	int n = 0;
	for (; n < MOST && k + n < op->nin && lay_eq(*ir_in(op, k + n)->lay, l); n++) {
		const Val *v = ir_in(op, k + n);
		e[n] = v->type->elem;
		at[n] = slot_at(op, k + n, index_text(l, cluster_register(g, l)));
		x[n] = cu_at(g, v, cluster_register(g, l).text);
	}
	print_sends(g, op, l, n, e, at, x);
	return k + n;
}

void cluster_exchange(Cu *g, const Op *op)
{
	for (int k = 0; k < op->nout; k++) cu_val(g, op->out[k])->name = cu_name(g, op->out[k]);
	cu_say(g, op);
	begin_time(g, op);
	for (int k = 0; k < op->nout && !op_broadcasts(op); k++) cu_declare(g, op->out[k]);
	cluster_meet(g);
	for (int k = 0; k < op->nin; ) k = print_alike(g, op, k);
	if (op_broadcasts(op)) return;
	print_wait(g, op);
	for (int k = 0; k < op->nout; k++) print_receive(g, op, k);
}

Str cluster_scalar(Cu *g, const Op *op)
{
	print_wait(g, op);
	return cluster_received(op->out[0]->type->elem, slot_at(op, 0, cu_int(0)));
}
