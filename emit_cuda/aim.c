/* Stores of tiles that come from shared memory, to rows that begin at any phase (lower/late.c). */
#include "base/diag.h"
#include "emit_cuda/access.h"

/* Offsets in the buffer of a tile's coordinates: of bit k along axis a of the stored tile. */
static uint32_t offset_of(const Op *load, const int *axis, int a, int k)
{
	Lay smem = *ir_attr(ir_in(load, 0)->def, AT_LAYOUT)->u.lay;
	uint32_t place;
	if (!lay_place(smem, (uint32_t)1 << (lay_shift(smem, axis[a]) + k), &place)) bug("a buffer lacks elements");
	return place;
}

static CuInt offset_text(const Op *load, const int *axis, int a, int bits, CuInt coordinate)
{
	uint32_t col[LAY_BITS];
	for (int k = 0; k < bits; k++) col[k] = offset_of(load, axis, a, k);
	return cu_linear(coordinate, bits, col);
}

static void print_elements(const Access *x, const Op *load, const int *axis)
{
	Cu *g = x->g;
	Elem e = x->v->elem;
	int f = x->plan.fast, bytes = elem_bytes(e), bits[TILE_RANK];
	CuInt off = cu_int(0);
	Str ok = NULL, row = str_fmt("%s + ct_o%d", x->v->base, f);
	for (int a = 0; a < x->plan.rank; a++) {
		CuMap m = cu_map(x->plan.l, a);
		CuInt c = cu_map_place(&m, x->reg);
		bits[a] = x->plan.l.out[a];
		if (a == f) continue;
		out_printf(g->o, "const int ct_r%d = (int)(%s);\n", a, c.text);
		row = str_fmt("%s + (ct_o%d + ct_r%d) * %s", row, a, a, x->v->str[a]);
	}
	CuMap m = cu_map(x->plan.l, f);
	out_printf(g->o, "%s *const ct_row = %s;\n", elem_rows[e].cuda, row);
	out_printf(g->o, "const int ct_r%d = (int)(((%s) - (unsigned int)(%s)%s) & %lld);\n",
		f, cu_map_place(&m, x->reg).text,
		cu_quotient("(unsigned long long)ct_row", bytes), str_fmt(" %% %d", LINE / bytes),
		(long long)type_extent(x->data->type, f) - 1);
	for (int a = 0; a < x->plan.rank; a++) {
		Str c = str_fmt("ct_r%d", a), in = NULL;
		if (bits[a]) off = cu_xor(off, offset_text(load, axis, a, bits[a], cu_var(c)));
		if (!x->plan.proved[a])
			in = str_fmt(x->plan.low[a] ? "%s < ct_end%d && %s >= ct_begin%d" : "%s < ct_end%d", c, a, c, a);
		if (in) ok = ok ? str_fmt("%s && %s", ok, in) : in;
	}
	CuInt at = words_offset(ir_int(ir_in(load, 0)->def, AT_SLOT, 0), off, bytes);
	cu_line(g, x->op);
	Str element = words_load_shared(e, at), value = words_pack(g, e, 1, &element);
	out_printf(g->o, "ct_st_b%d_if(ct_row + ct_r%d, %s, %s);\n", 8 * bytes, f, ok ? ok : "1", value);
}

bool aim_store(Cu *g, const Op *op)
{
	Access x;
	int axis[TILE_RANK];
	const Val *data = ir_in(op, op->nin - 1);
	const Op *load = shared_source(data, axis);
	if (!load || !ir_int(load, AT_LATE, 0)) return false;
	access_open(&x, g, op, data, true);
	cu_say(g, op);
	out_puts(g->o, "{\n");
	out_in(g->o);
	access_origin(&x);
	for (int a = 0; a < x.plan.rank; a++) {
		if (x.plan.proved[a]) continue;
		out_printf(g->o, "const int ct_end%d = %s;\n", a, access_end(&x, a, str_fmt("ct_o%d", a)));
		if (x.plan.low[a]) out_printf(g->o, "const int ct_begin%d = %s;\n", a, access_start(&x, a));
	}
	x.reg = cu_registers(g, x.plan.l, 0);
	print_elements(&x, load, axis);
	cu_end(g);
	cu_end(g);
	return true;
}
