/* What groups of different thread blocks hand each other: registers, and numbers drawn from a counter. */
#include "base/diag.h"
#include "emit_cuda/group.h"

/* Registers go in pieces of 16 bytes, and a piece of all threads of the group lies side by side. */
static Str piece_place(const Cu *g, Str at, int piece)
{
	int threads = g->group ? g->group->warps * 32 : block_threads(g->fn);
	return str_fmt("%s + (%d + ct_tid) * 16", at, piece * threads);
}

static void pieces(Cu *g, const Val *tile, Str at, const char *store, const char *load)
{
	Elem e = tile->type->elem;
	int n = 16 / elem_bytes(e);
	for (int i = 0; i < regs_of(tile) / n; i++) {
		Str from[16];
		for (int k = 0; k < n; k++) from[k] = cu_at(g, tile, str_i64(i * n + k));
		if (store) {
			Str w = words_pack(g, e, n, from);
			out_printf(g->o, "%s(%s, %s);\n", store, piece_place(g, at, i), w);
		} else {
			Str w = cu_fresh(g, "w");
			out_printf(g->o, "const ct_u32x4 %s = %s(%s);\n", w, load, piece_place(g, at, i));
			words_unpack(g, e, n, w, from);
		}
	}
}

/* Of a pointer, or of a view's first element. */
static Str address_of(Cu *g, const Val *v) { return v->type->kind == TY_VIEW ? cu_val(g, v)->view->base : cu_scalar(g,
	v); }

void exchange_store(Cu *g, const Op *op)
{
	const Val *to = ir_in(op, 0);
	Str at = address_of(g, to);
	if (to->type->kind != TY_SHARED) {
		pieces(g, ir_in(op, 1), str_fmt("(char *)%s", at), "ct_put_global", NULL);
		return;
	}
	if (op->nin > 2) {
		Str there = cu_fresh(g, "there");
		out_printf(g->o, "const unsigned int %s = ct_at_rank(%s, (unsigned int)%s);\n", there, at,
			cu_scalar(g, ir_in(op, 2)));
		pieces(g, ir_in(op, 1), there, "ct_put_cluster", NULL);
		return;
	}
	pieces(g, ir_in(op, 1), at, "ct_put_shared_b128", NULL);
}

void exchange_load(Cu *g, const Op *op)
{
	const Val *from = ir_in(op, 0), *r = op->out[0];
	bool shared = from->type->kind == TY_SHARED;
	Str at = address_of(g, from);
	cu_val(g, r)->name = cu_name(g, r);
	cu_declare(g, r);
	pieces(g, r, shared ? at : str_fmt("(const char *)%s", at), NULL, shared ? "ct_get_shared_b128" : "ct_get_global");
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
