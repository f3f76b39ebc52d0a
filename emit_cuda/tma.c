/* Copies between tensors and buffers in shared memory, box by box. */
#include "base/diag.h"
#include "emit_cuda/group.h"
#include "emit_cuda/tmap.h"

/* The parameter of a view that is a parameter, perhaps permuted: axis[i] of it is axis i of the view. */
static const IrParam *param_of(const Fn *fn, const Val *v, int *axis)
{
	int rank = v->type->rank;
	for (int i = 0; i < rank; i++) axis[i] = i;
	for (; v->def && v->def->code == OP_PERMUTE; v = ir_in(v->def, 0)) {
		const IrAttr *a = ir_attr(v->def, AT_AXES);
		for (int i = 0; i < rank; i++) axis[i] = (int)a->u.ints.p[axis[i]];
	}
	return v->def || v->block != fn->body ? NULL : &fn->params.p[v->index];
}

void tma_map(Cu *g, const Op *op)
{
	const Type *t = op->out[0]->type;
	int axis[TENSOR_RANK], span = (int)ir_int(op, AT_SWIZZLE, 0);
	const IrParam *p = param_of(g->fn, ir_in(op, 0), axis);
	if (!p) bug("a tensor map of what is no parameter");
	CuTmap m = { .param = (int)(p - g->fn->params.p), .rank = t->rank };
	m.box.rank = t->rank;
	m.box.swizzle = tma_swizzle(span);
	m.box.bytes = type_bytes(t);
	for (int i = 0; i < t->rank; i++) {
		int a = t->rank - 1 - i;
		m.extent[i] = p->extent[axis[a]];
		m.stride[i] = p->stride[axis[a]];
		m.box.box[i] = (uint32_t)type_extent(t, a);
		m.box.elem_stride[i] = 1;
	}
	cu_val(g, op->out[0])->name = cu_tmap(g, &m);
}

/* Of a buffer, from `bytes` on. */
static Str at_byte(Str buffer, int64_t bytes) { return bytes ? str_fmt("%s + %s", buffer, str_i64(bytes)) : buffer; }

/* Coordinates from operand `first` on, `fast` and `slow` elements further along the last two axes; innermost first. */
static Str coordinates(Cu *g, const Op *op, int first, int rank, int64_t slow, int64_t fast)
{
	Str s = str_intern("");
	for (int a = rank - 1; a >= 0; a--) {
		int64_t more = a == rank - 1 ? fast : a == rank - 2 ? slow : 0;
		Str x = cu_scalar(g, ir_in(op, first + a));
		s = str_fmt(more ? "%s%s%s + %s" : "%s%s%s", s, a == rank - 1 ? "" : ", ", x, str_i64(more));
	}
	return s;
}

typedef struct Boxes { int rank; int64_t rows, cols, high,
	wide; const CuShared *in; } Boxes;  /* of the buffer, of a box */

static Boxes boxes_of(Cu *g, const Val *buf, const Type *box)
{
	const Type *t = buf->type;
	int last = box->rank - 1;
	Boxes b = { .rank = box->rank, .in = cu_val(g, buf)->shared, .cols = type_extent(t, t->rank - 1), .rows = 1 };
	if (t->rank > 1) b.rows = type_extent(t, t->rank - 2);
	b.wide = type_extent(box, last);
	b.high = last > 0 ? type_extent(box, last - 1) : 1;
	if (type_size(t) != b.rows * b.cols || type_size(box) != b.high * b.wide) bug("a box of more than two axes");
	return b;
}

void tma_load(Cu *g, const Op *op)
{
	static const char *const policy[] = { "", "evict_first", "evict_last" };
	Boxes b = boxes_of(g, ir_in(op, 0), ir_in(op, 1)->type);
	bool multicast = ir_int(op, AT_MULTICAST, 0);
	int64_t cache = ir_int(op, AT_CACHE, 0);
	Str bar = group_bar(g, op, 2), to = cu_scalar(g, ir_in(op, 0)), map = cu_scalar(g, ir_in(op, 1));
	Str tail = multicast ? str_fmt(", (unsigned int)%s", cu_scalar(g, ir_in(op, op->nin - 1)))
		: cache ? str_fmt(", ct_policy_%s()", policy[cache]) : str_intern("");
	for (int64_t c = 0; c < b.cols; c += b.wide)
		for (int64_t r = 0; r < b.rows; r += b.high)
			out_printf(g->o, "ct_tma_load_%dd%s(%s, &%s, %s, %s%s);\n", b.rank,
				multicast ? "_multicast" : cache ? "_hint" : "", at_byte(to, smem_at(b.in->whole, (int)r, (int)c)), map,
				coordinates(g, op, 4, b.rank, r, c), bar, tail);
}

void tma_store(Cu *g, const Op *op)
{
	Boxes b = boxes_of(g, ir_in(op, 1), ir_in(op, 0)->type);
	for (int64_t c = 0; c < b.cols; c += b.wide)
		for (int64_t r = 0; r < b.rows; r += b.high)
			out_printf(g->o, "ct_tma_store_%dd(%s, &%s, %s);\n", b.rank, at_byte(cu_scalar(g, ir_in(op, 1)),
				smem_at(b.in->whole, (int)r, (int)c)), cu_scalar(g, ir_in(op, 0)), coordinates(g, op, 2, b.rank, r, c));
}

void tma_wait(Cu *g, const Op *op)
{
	int64_t n = ir_int(op, AT_PENDING, 0);
	out_printf(g->o, "ct_bulk_wait_%s%lld();\n", ir_int(op, AT_UNTIL, 0) ? "" : "read_", (long long)n);
}
