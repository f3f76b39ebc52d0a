/* frag.c: the table of matrix fragments and what is built from it; frag.h has the contract. */
#include "layout/frag.h"

/* A coordinate bit: R3 steps 8 rows, C0 steps 1 column. */
enum { R0 = 0, R1, R2, R3, R4, R5, C0 = 16, C1, C2, C3, C4, C5 };

typedef struct Operand {
	uint8_t rows, cols;       /* log2 extents                                                      */
	uint8_t nreg;             /* log2 of elements per thread                                       */
	uint8_t reg[4];           /* the coordinate bit that each register bit steps                   */
	uint8_t lane[5];          /* and each lane bit                                                 */
} Operand;

typedef struct FragRow {
	uint8_t elem;             /* log2 of bytes per element of A and B                              */
	Operand of[ROLE_N];
} FragRow;

#define C_16X8 { 4, 3, 2, { C0, R3 }, { C1, C2, R0, R1, R2 } }

static const FragRow frag_rows[FRAG_N] = {
	[FRAG_M16N8K16] = { 1, {
		{ 4, 4, 3, { C0, R3, C3 },     { C1, C2, R0, R1, R2 } },
		{ 4, 3, 2, { R0, R3 },         { R1, R2, C0, C1, C2 } },
		C_16X8 } },
	[FRAG_M16N8K8_H] = { 1, {
		{ 4, 3, 2, { C0, R3 },         { C1, C2, R0, R1, R2 } },
		{ 3, 3, 1, { R0 },             { R1, R2, C0, C1, C2 } },
		C_16X8 } },
	[FRAG_M16N8K8] = { 2, {
		{ 4, 3, 2, { R3, C2 },         { C0, C1, R0, R1, R2 } },
		{ 3, 3, 1, { R2 },             { R0, R1, C0, C1, C2 } },
		C_16X8 } },
	[FRAG_M16N8K4] = { 2, {
		{ 4, 2, 1, { R3 },             { C0, C1, R0, R1, R2 } },
		{ 2, 3, 0, { 0 },              { R0, R1, C0, C1, C2 } },
		C_16X8 } },
	[FRAG_M16N8K32] = { 0, {
		{ 4, 5, 4, { C0, C1, R3, C4 }, { C2, C3, R0, R1, R2 } },
		{ 5, 3, 3, { R0, R1, R4 },     { R2, R3, C0, C1, C2 } },
		C_16X8 } },
	[FRAG_M16N8K16_B] = { 0, {
		{ 4, 4, 3, { C0, C1, R3 },     { C2, C3, R0, R1, R2 } },
		{ 4, 3, 2, { R0, R1 },         { R2, R3, C0, C1, C2 } },
		C_16X8 } },
	[FRAG_M8N8K4] = { 3, {
		{ 3, 2, 0, { 0 },              { C0, C1, R0, R1, R2 } },
		{ 2, 3, 0, { 0 },              { R0, R1, C0, C1, C2 } },
		{ 3, 3, 1, { C0 },             { C1, C2, R0, R1, R2 } } } },
};

static uint32_t step_column(const Operand *o, int bit)
{
	return bit >= C0 ? (uint32_t)1 << (bit - C0) : (uint32_t)1 << (bit + o->cols);
}

static bool frag_in(Frag f)
{
	return (int)f >= 0 && f < FRAG_N;
}

int frag_m(Frag f)
{
	return frag_in(f) ? frag_rows[f].of[ROLE_A].rows : 0;
}

int frag_n(Frag f)
{
	return frag_in(f) ? frag_rows[f].of[ROLE_B].cols : 0;
}

int frag_k(Frag f)
{
	return frag_in(f) ? frag_rows[f].of[ROLE_A].cols : 0;
}

int frag_elem(Frag f)
{
	return frag_in(f) ? frag_rows[f].elem : 0;
}

Lay lay_frag(Frag f, Role r)
{
	const Operand *o;
	Lay l = lay_unit(2);

	if (!frag_in(f) || (int)r < 0 || r >= ROLE_N)
		return lay_bad();
	o = &frag_rows[f].of[r];
	l.out[0] = o->rows;
	l.out[1] = o->cols;
	l.in[HW_REG] = o->nreg;
	l.in[HW_LANE] = 5;
	for (int i = 0; i < o->nreg; i++)
		l.col[i] = step_column(o, o->reg[i]);
	for (int i = 0; i < 5; i++)
		l.col[o->nreg + i] = step_column(o, o->lane[i]);
	return l;
}

/* n warp bits along axis of a tile of extent 2^total_log2; those that find no elements are copies, as all
 * are for axis -1. */
static Lay push_warps(Lay l, int axis, int total_log2, int n)
{
	int room, k;

	if (!lay_ok(l) || axis < 0)
		return lay_mul(l, lay_bcast(2, HW_WARP, n));
	room = total_log2 - l.out[axis];
	k = n < room ? n : room;
	return lay_mul(lay_push(l, HW_WARP, axis, k), lay_bcast(2, HW_WARP, n - k));
}

Lay frag_tile(Frag f, Role r, int rows_log2, int cols_log2, int warps_m_log2, int warps_n_log2)
{
	Lay l = lay_frag(f, r);
	int inner = r == ROLE_B ? 0 : 1;      /* repeats go along K of A and B, N of C first */

	if (!lay_ok(l) || rows_log2 < l.out[0] || cols_log2 < l.out[1]
	    || warps_m_log2 < 0 || warps_n_log2 < 0)
		return lay_bad();
	l = push_warps(l, r == ROLE_B ? -1 : 0, rows_log2, warps_m_log2);
	l = push_warps(l, r == ROLE_A ? -1 : 1, cols_log2, warps_n_log2);
	for (int i = 0; i < 2 && lay_ok(l); i++) {
		int axis = i ? 1 - inner : inner;

		l = lay_push(l, HW_REG, axis, (axis ? cols_log2 : rows_log2) - l.out[axis]);
	}
	return l;
}

Lay frag_wgmma(Frag f, Role r, int n_log2)
{
	Lay l = lay_frag(f, r);

	if (!lay_ok(l) || r == ROLE_B || l.out[0] != 4)
		return lay_bad();
	l = lay_push(l, HW_WARP, 0, 2);
	if (r == ROLE_A)
		return l;
	return n_log2 < 3 || n_log2 > 8 ? lay_bad() : lay_push(l, HW_REG, 1, n_log2 - 3);
}

/* PTX manual, ldmatrix: a matrix is 8 rows of 16 bytes; lane 8*j + i passes the address of row i of matrix
 * j; then lane t holds in its register j the 32 bits t % 4 of row t / 4.  With .trans (16-bit elements)
 * lane t holds the elements t / 4 of the rows 2 * (t % 4) and 2 * (t % 4) + 1.  Read backwards: which of
 * the bits of the fragment run within a row, and which choose the row, and so belong to an address lane. */
bool frag_ldmatrix_of(Lay c, int elem_log2, int x_log2, bool trans, Lay *addr)
{
	int packed = 2 - elem_log2;           /* register bits within 32 bits */
	int inrow[4], row[3], k = 0, n_in, lane0, chunk;
	uint32_t used = 0;
	Lay r;

	if (lay_outbits(c) != c.out[LAY_HWAXIS(HW_OFF)] || c.in[HW_LANE] != 5 || c.in[HW_OFF]
		|| c.in[HW_REG] < packed + x_log2
	    || packed < 0 || packed > 2 || (trans && packed != 1) || x_log2 < 0 || x_log2 > 2)
		return false;
	lane0 = lay_first(c, HW_LANE);
	chunk = packed + 2;
	for (int i = 0; i < packed; i++)
		*(trans ? &row[i] : &inrow[k++]) = i;
	for (int i = 0; i < 2; i++)
		*(trans ? &row[1 + i] : &inrow[k++]) = lane0 + i;
	for (int i = 0; i < 3; i++)
		*(trans ? &inrow[i] : &row[i]) = lane0 + 2 + i;

	n_in = lay_inbits(c);
	for (int i = 0; i < chunk; i++) {
		if (c.col[inrow[i]] != (uint32_t)1 << i)
			return false;
		used |= (uint32_t)1 << inrow[i];
	}
	for (int i = 0; i < n_in; i++)
		if (!(used >> i & 1) && c.col[i] & (((uint32_t)1 << chunk) - 1))
			return false;

	r = c;
	for (int i = 0; i < LAY_BITS; i++)
		r.col[i] = 0;
	r.in[HW_REG] = (uint8_t)(c.in[HW_REG] - packed - x_log2);
	k = 0;
	for (int i = packed + x_log2; i < c.in[HW_REG]; i++)
		r.col[k++] = c.col[i];
	for (int i = 0; i < 3; i++)
		r.col[k++] = c.col[row[i]];
	for (int i = 0; i < 2; i++)
		r.col[k++] = i < x_log2 ? c.col[packed + i] : 0;
	for (int i = lane0 + 5; i < n_in; i++)
		r.col[k++] = c.col[i];
	*addr = r;
	return true;
}

bool frag_ldmatrix(Lay frag, Lay smem, int elem_log2, int x_log2, bool trans, Lay *addr)
{
	Lay c;

	return lay_solve(smem, frag, &c) && frag_ldmatrix_of(c, elem_log2, x_log2, trans, addr);
}

/* One wavefront serves one matrix: 8 lanes of 16 bytes, which is the wavefront of a 16-byte vector access. */
int frag_ldmatrix_conflicts(Lay addr, int elem_log2)
{
	int chunk = 4 - elem_log2, k = 0;
	Lay reg = addr;

	if (!lay_ok(addr) || elem_log2 < 0 || elem_log2 > 2
	    || lay_inbits(addr) - addr.in[HW_REG] + chunk > LAY_BITS)
		return -1;
	/* the same access written as a map of registers into places: chunk register bits along
	 * the offset, then the lanes */
	for (int i = 0; i < LAY_BITS; i++)
		reg.col[i] = 0;
	reg.in[HW_REG] = (uint8_t)chunk;
	for (int i = 0; i < chunk; i++)
		reg.col[k++] = (uint32_t)1 << i;
	for (int i = lay_first(addr, HW_LANE); i < lay_inbits(addr); i++)
		reg.col[k++] = addr.col[i];
	return lay_vec_of(reg) < chunk ? -1 : lay_conflicts_of(reg, elem_log2, chunk);
}
