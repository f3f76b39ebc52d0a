/* Which operations of the PLACED form need shared memory beside explicit buffers, and how much. */
#include <string.h>

#include "base/diag.h"
#include "placed/placed.h"

int64_t piece_elems(const Type *t)
{
	int64_t n = type_size(t), chunk = COST_SHARED_CHUNK / elem_bytes(t->elem);
	return type_bytes(t) <= COST_SHARED_WHOLE ? n : chunk;
}

static int64_t piece_bytes(const Type *t) { return piece_elems(t) * elem_bytes(t->elem); }

bool memory_is_constant(const Fn *fn, const Val *v)
{
	v = ir_tensor(v);
	for (int i = 0; i < fn->params.n; i++)
		if (fn->params.p[i].val == v) return fn->params.p[i].is_tensor && fn->params.p[i].mode == PM_IN;
	return false;
}

static bool has_copies(const Val *v)
{
	if (!type_is_tile(v->type)) return true;
	uint32_t spare = lay_free(*v->lay);
	return (spare & (lay_inmask(*v->lay, HW_LANE) | lay_inmask(*v->lay, HW_WARP))) != 0;
}

static bool is_one(const Val *v) { return !type_is_tile(v->type) || type_size(v->type) == 1; }

/* Asked of every operation of a kernel: most are none of these. */
bool one_thread_reads(const Op *op)
{
	if (op_has(op, OPF_ATOMIC)) return op->nout && has_copies(op->out[0]);
	switch (op->code) {
	case OP_LOAD: case OP_GATHER:
		return is_one(op->out[0]) && has_copies(op->out[0]) && !memory_is_constant(op->parent->fn, ir_in(op, 0));
	case OP_LOAD_PTR: return is_one(op->out[0]) && has_copies(op->out[0]);
	default: return false;
	}
}

static int64_t scan_bytes(const Op *op)
{
	ScanPlan p = scan_plan_of(op);
	return scan_offset(op, &p, scan_values(op));
}

bool op_exchanges(const Op *op)
{
	return op->code == OP_EXCHANGE || (op_is_scan(op) && op->parent->fn->cluster && scan_bytes(op));
}

int64_t exchange_at(const Op *op, int k)
{
	int64_t at = 0;
	for (int i = 0; i < op->nout; i++) {
		const Type *t = op->out[i]->type;
		int64_t slot = exchange_slot(t->elem);
		if (i == k) return (at + slot - 1) / slot * slot;
		at = (at + slot - 1) / slot * slot + type_size(t) * slot;
	}
	return at;
}

bool exchange_repeats(const Op *op) { return op->parent->owner != NULL; }

int64_t exchange_bytes(const Op *op) { return (EXCHANGE_BAR + exchange_at(op, op->nout) + 15) / 16 * 16; }

bool op_broadcasts(const Op *op)
{
	if (op->code != OP_EXCHANGE || op->nin != 1) return false;
	const Op *from = ir_in(op, 0)->def;
	return from && from->code == OP_BROADCAST && !type_is_tile(ir_in(from, 0)->type);
}

void exchange_size(const Op *op, int64_t *elems, int64_t *bytes)
{
	*elems = *bytes = 0;
	for (int i = 0; i < op->nout; i++) {
		int64_t n = op_is_scan(op) ? (int64_t)1 << lay_outbits(scan_plan_of(op).totals) : type_size(op->out[i]->type);
		*elems += n;
		*bytes += n * exchange_slot(op->out[i]->type->elem);
	}
}

int64_t scratch_bytes(const Op *op)
{
	int64_t bytes = 0;
	if (op_is_scan(op)) return scan_bytes(op);
	if (one_thread_reads(op)) {
		if (op->parent->fn->cluster) return 0;          /* handed round by an exchange */
		return type_is_tile(op->out[0]->type) ? type_bytes(op->out[0]->type) : 8;
	}
	switch (op->code) {
	case OP_EXCHANGE: return exchange_bytes(op) * (exchange_repeats(op) ? 2 : 1);
	case OP_CONVERT: return piece_bytes(op->out[0]->type);
	case OP_TAKE: return piece_bytes(ir_in(op, 0)->type);
	case OP_MMA: return mma_pieces(op).a_bytes + mma_pieces(op).b_bytes;
	case OP_SORT: case OP_TOPK: return sort_plan_of(op).bytes;
	case OP_HISTOGRAM: return piece_bytes(op->out[0]->type);
	case OP_PRIVATE: return ir_int(op, AT_NUMBER, 0) * elem_bytes(op->out[0]->type->elem);
	case OP_PRINT:
		for (int i = 0; i < op->nin; i++) {
			const Type *t = ir_in(op, i)->type;
			if (type_is_tile(t) && piece_bytes(t) > bytes) bytes = piece_bytes(t);
		}
		return bytes;
	default: return 0;
	}
}

bool waits_for_threads(const Op *op)
{
	if (op->code == OP_EXCHANGE) return !op_broadcasts(op);
	return op->code == OP_LOAD_SHARED || op->code == OP_BARRIER || scratch_bytes(op) > 0;
}
