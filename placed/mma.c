/* How a matrix product runs: which instruction, which warps share it, where the accumulator lives. */
#include "base/diag.h"
#include "base/least.h"
#include "placed/placed.h"

typedef struct MmaRow { Elem elem; Frag frag; const char *name; } MmaRow;

/* Largest K first: the first that fits is taken. fp8 is multiplied as f16, which holds it exactly. */
static const MmaRow mma_rows[] = {
	{ EL_F16,  FRAG_M16N8K16,   "m16n8k16" }, { EL_F16,  FRAG_M16N8K8_H, "m16n8k8" },
	{ EL_BF16, FRAG_M16N8K16,   "m16n8k16" }, { EL_BF16, FRAG_M16N8K8_H, "m16n8k8" },
	{ EL_TF32, FRAG_M16N8K8,    "m16n8k8" },  { EL_TF32, FRAG_M16N8K4,   "m16n8k4" },
	{ EL_I8,   FRAG_M16N8K32,   "m16n8k32" }, { EL_I8,   FRAG_M16N8K16_B, "m16n8k16" },
	{ EL_F64,  FRAG_M8N8K4,     "m8n8k4" },
};

static Elem multiplied_as(Elem e, int precision)
{
	switch (e) {
	case EL_F8E4M3: case EL_F8E5M2: return EL_F16;
	case EL_U8: case EL_BOOL: return EL_I8;         /* the instruction's sign is chosen for each operand */
	case EL_F32: return precision == 1 ? EL_TF32 : EL_F32;
	default: return e;
	}
}

/* Halves the longer side of what a warp does until the warps are dealt; those left over hold copies. */
static void deal_warps(MmaPlan *p, int m, int n, int warps)
{
	p->wm = p->wn = 0;
	for (int i = 0; i < warps; i++) {
		int rest_m = m - p->wm - frag_m(p->frag), rest_n = n - p->wn - frag_n(p->frag);
		bool along_m = m - p->wm >= n - p->wn ? rest_m > 0 : rest_n <= 0 && rest_m > 0;
		if (along_m || rest_n <= 0) p->wm++;
		else p->wn++;
	}
}

/* Batches go along warps first, each of which then multiplies matrices of its own, and along registers after all else
 * of a matrix. A factor of one batch for all has copies in these warps. */
Lay mma_fragments(const MmaPlan *p, const Type *t, Role role, int *one)
{
	int r = t->rank;
	Lay l = frag_tile(p->frag, role, t->log2[r - 2], t->log2[r - 1], p->wm, p->wn);
	if (one) *one = l.in[HW_REG];
	if (r == 2) return l;
	int along = imin(t->log2[0], p->wz);
	l = lay_push(lay_expand(l, 0), HW_WARP, 0, along);
	l = lay_mul(l, lay_bcast(r, HW_WARP, p->wz - along));
	return lay_push(l, HW_REG, 0, t->log2[0] - along);
}

/* A thread holds up to 4 neighbours of a row; lanes and warps cover about as many rows as columns. */
static Lay fma_layout(const Type *t, int warps)
{
	int r = t->rank, left[TILE_RANK];
	Lay l = lay_unit(r);
	for (int a = 0; a < r; a++) left[a] = t->log2[a];
#define DEAL(h, axis, want) do { int k_ = imin(imax(0, (want)), left[axis]); \
	l = lay_push(l, (h), (axis), k_); left[axis] -= k_; } while (0)
	int total = type_log2_size(t), spare = imax(0, total - LANES_LOG2 - warps);
	DEAL(HW_REG, r - 1, imin(2, spare));
	int lanes = LANES_LOG2, w = warps;
	int before = left[r - 1];
	DEAL(HW_LANE, r - 1, imin(3, lanes));
	lanes -= before - left[r - 1];
	for (int a = r - 2; a >= 0; a--) {
		before = left[a];
		DEAL(HW_LANE, a, lanes);
		lanes -= before - left[a];
	}
	before = left[r - 1];
	DEAL(HW_LANE, r - 1, lanes);
	lanes -= before - left[r - 1];
	l = lay_mul(l, lay_bcast(r, HW_LANE, lanes));
	for (int k = 0; k < r && w > 0; k++) {
		int a = k == 0 ? r - 2 : k == 1 ? r - 1 : k - 2;
		before = left[a];
		DEAL(HW_WARP, a, w);
		w -= before - left[a];
	}
	l = lay_mul(l, lay_bcast(r, HW_WARP, w));
	for (int a = r - 1; a >= 0; a--) DEAL(HW_REG, a, left[a]);
#undef DEAL
	return l;
}

MmaPlan mma_plan(const Op *mma, int arch, int warps_log2)
{
	const Type *a = ir_in(mma, 0)->type, *b = ir_in(mma, 1)->type, *c = mma->out[0]->type;
	int precision = (int)ir_int(mma, AT_PRECISION, 0);
	MmaPlan p = { .a = a->elem, .b = b->elem, .acc = c->elem, .as = multiplied_as(a->elem, precision), .name = "fma" };
	(void)arch;
	int m = c->log2[c->rank - 2], n = c->log2[c->rank - 1], k = a->log2[a->rank - 1];
	for (size_t i = 0; i < sizeof mma_rows / sizeof *mma_rows && !p.tensor; i++) {
		const MmaRow *r = &mma_rows[i];
		if (r->elem != p.as || m < frag_m(r->frag) || n < frag_n(r->frag) || k < frag_k(r->frag)) continue;
		p.tensor = true;
		p.frag = r->frag;
		p.name = r->name;
	}
	if (p.tensor) {
		p.wz = c->rank == 3 ? imin(c->log2[0], warps_log2) : 0;
		deal_warps(&p, m, n, warps_log2 - p.wz);
		p.c = mma_fragments(&p, c, ROLE_C, NULL);
	} else {
		p.c = fma_layout(c, warps_log2);
	}
	return p;
}

MmaPieces mma_pieces(const Op *mma)
{
	const Type *a = ir_in(mma, 0)->type, *b = ir_in(mma, 1)->type, *c = mma->out[0]->type;
	int r = c->rank;
	MmaPieces p = { r == 3 ? c->log2[0] : 0, c->log2[r - 2], c->log2[r - 1], a->log2[r - 1], 0, 0 };
	for (;;) {
		int za = r == 3 && a->log2[0] ? p.z : 0, zb = r == 3 && b->log2[0] ? p.z : 0;
		p.a_bytes = (int64_t)elem_bytes(a->elem) << (za + p.m + p.k);
		p.b_bytes = (int64_t)elem_bytes(b->elem) << (zb + p.k + p.n);
		if (p.a_bytes + p.b_bytes <= COST_FACTOR_BYTES) return p;
		if (p.z) p.z--;
		else if (p.k > 6) p.k--;
		else if (p.m >= p.n) p.m--;
		else p.n--;
	}
}
