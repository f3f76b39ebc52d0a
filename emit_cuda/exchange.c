/* What groups of different thread blocks hand each other: registers, and numbers drawn from a counter. */
#include "base/diag.h"
#include "emit_cuda/group.h"

/* A vector of f32 is four registers. */
static void f32_piece(Cu *g, const Val *tile, const Val *added, Str place, const char *store, const char *load)
{
	Str w = cu_fresh(g, "w"), at = str_intern("4 * ct_i + ct_j"), r = cu_at(g, tile, at);
	if (store) {
		out_printf(g->o, "ct_u32x4 %s;\nCT_UNROLL(ct_j, 0, 4) %s.v[ct_j] = ct_bits_u32_f32(%s);\n", w, w, r);
		out_printf(g->o, "%s(%s, %s);\n", store, place, w);
		return;
	}
	Str one = str_fmt("ct_bits_f32_u32(%s.v[ct_j])", w);
	if (added) one = str_fmt("ct_add_f32(%s, %s)", cu_at(g, added, at), one);
	out_printf(g->o, "const ct_u32x4 %s = %s(%s);\nCT_UNROLL(ct_j, 0, 4) %s = %s;\n", w, load, place, r, one);
}

/* Registers go in vectors of 16 bytes, and a vector of all threads of the group lies side by side. */
static void pieces(Cu *g, const Val *tile, const Val *added, Str at, const char *store, const char *load)
{
	Elem e = tile->type->elem;
	int n = 16 / elem_bytes(e), threads = g->group ? g->group->warps * 32 : block_threads(g->fn);
	Str place = str_fmt("%s + (%d * ct_i + ct_tid) * 16", at, threads), from[16];
	out_printf(g->o, "CT_UNROLL(ct_i, 0, %d) {\n", regs_of(tile) / n);
	out_in(g->o);
	for (int k = 0; k < n; k++) from[k] = cu_at(g, tile, str_fmt("%d * ct_i + %d", n, k));
	if (e == EL_F32) {
		f32_piece(g, tile, added, place, store, load);
	} else if (store) {
		Str w = words_pack(g, e, n, from);
		out_printf(g->o, "%s(%s, %s);\n", store, place, w);
	} else {
		Str w = cu_fresh(g, "w");
		out_printf(g->o, "const ct_u32x4 %s = %s(%s);\n", w, load, place);
		words_unpack(g, e, n, w, from);
	}
	cu_end(g);
}

/* Of a pointer, or of a view's first element. */
static Str address_of(Cu *g, const Val *v) { return v->type->kind == TY_VIEW ? cu_val(g, v)->view->base : cu_scalar(g,
	v); }

void exchange_store(Cu *g, const Op *op)
{
	const Val *to = ir_in(op, 0);
	Str at = address_of(g, to);
	if (to->type->kind != TY_SHARED) {
		pieces(g, ir_in(op, 1), NULL, str_fmt("(char *)%s", at), "ct_put_global", NULL);
		return;
	}
	if (op->nin > 2) {
		Str there = cu_fresh(g, "there");
		out_printf(g->o, "const unsigned int %s = ct_at_rank(%s, (unsigned int)%s);\n", there, at,
			cu_scalar(g, ir_in(op, 2)));
		pieces(g, ir_in(op, 1), NULL, there, "ct_put_cluster", NULL);
		return;
	}
	pieces(g, ir_in(op, 1), NULL, at, "ct_put_shared_b128", NULL);
}

void exchange_load(Cu *g, const Op *op)
{
	const Val *from = ir_in(op, 0), *r = op->out[0];
	bool shared = from->type->kind == TY_SHARED;
	Str at = address_of(g, from);
	cu_val(g, r)->name = cu_name(g, r);
	cu_declare(g, r);
	const Val *added = op->nin > 1 ? ir_in(op, 1) : NULL;
	if (shared) pieces(g, r, added, at, NULL, "ct_get_shared_b128");
	else pieces(g, r, added, str_fmt("(const char *)%s", at), NULL, "ct_get_global");
}

void exchange_put(Cu *g, const Op *op)
{
	out_printf(g->o, "if (%s == 0) ct_put_i32(%s, %s);\n", g->group && g->group->warps > 1 ? "ct_tid" : "ct_lane",
		cu_scalar(g, ir_in(op, 0)),
		cu_scalar(g, ir_in(op, 1)));
}

void exchange_get(Cu *g, const Op *op)
{
	Str n = cu_val(g, op->out[0])->name = cu_name(g, op->out[0]);
	out_printf(g->o, "const int %s = ct_get_i32(%s);\n", n, cu_scalar(g, ir_in(op, 0)));
}

void exchange_draw(Cu *g, const Op *op)
{
	Str n = cu_val(g, op->out[0])->name = cu_name(g, op->out[0]);
	int cluster = g->fn->cluster > 1 ? g->fn->cluster : 1;
	if (cluster > 1) bug("a cluster draws one number for all its thread blocks");
	out_printf(g->o, "const int %s = ct_draw(%s, %s);\n", n, address_of(g, ir_in(op, 0)), cu_scalar(g, ir_in(op, 1)));
}

void exchange_grid_barrier(Cu *g, const Op *op)
{
	const CuGroup *me = g->group;
	Str sync = me ? str_fmt("ct_named_sync(%d, %d);\n", me->barrier + me->groups,
		me->groups * me->warps * 32) : str_intern("__syncthreads();\n");
	out_puts(g->o, "__threadfence();\n");
	out_puts(g->o, sync);
	out_printf(g->o, "if (%s == 0%s) ct_grid_barrier(%s, %s ? 0x80000000u - %lldu : 1u);\n",
		me ? "ct_tid" : "threadIdx.x",
		me ? str_fmt(" && %s == 0", me->number) : "", address_of(g, ir_in(op, 0)), cu_scalar(g,
			ir_in(op, 1)), (long long)ir_int(op, AT_NUMBER, 0) - 1);
	out_puts(g->o, sync);
}

static Str first_thread(const Cu *g)
{
	return str_intern(!g->group ? "threadIdx.x" : g->group->warps > 1 ? "ct_tid" : "ct_lane");
}

/* Writes of other threads that a barrier made visible to a thread are covered by that thread's release (cumulativity).
 * */
void exchange_signal(Cu *g, const Op *op)
{
	group_barrier(g, op);
	out_printf(g->o, "if (%s == 0) ct_signal(%s);\n", first_thread(g), address_of(g, ir_in(op, 0)));
}

void exchange_await(Cu *g, const Op *op)
{
	out_printf(g->o, "if (%s == 0) ct_await(%s);\n", first_thread(g), address_of(g, ir_in(op, 0)));
	group_barrier(g, op);
}
