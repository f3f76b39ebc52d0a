/* What each operation of the PLACED form means: a row for each, in the order of ir/ops.def. Elementwise ones share a
 * meaning. Rows without a function are operations that lower writes as others. */
#include "sim/sim_int.h"

#define ROW(id, name) [OP_##id] = { run_##name, plan_##name }
#define SIMPLE(id, name) [OP_##id] = { run_##name, NULL }
#define ELEM(id) [OP_##id] = { run_elem, plan_elem }

const OpMeaning op_meanings[OP_COUNT] = {
	SIMPLE(CONST, const), ROW(LITERAL, literal), ROW(IOTA, iota), ELEM(RAND), ELEM(RANDN), ELEM(RANDINT),
	SIMPLE(LAUNCH, launch), SIMPLE(BID, bid),
	SIMPLE(RESHAPE, alias), ROW(BROADCAST, broadcast), SIMPLE(TO_SCALAR, to_scalar), SIMPLE(PERMUTE, alias),
	SIMPLE(CAT, cat),
	ROW(TAKE, take), ROW(SORT, sort), ROW(TOPK, sort), ROW(HISTOGRAM, histogram), SIMPLE(JOIN, cat),
	SIMPLE(SPLIT, split),
	ELEM(CAST), ELEM(BITCAST), ELEM(ADD), ELEM(SUB), ELEM(MUL), ELEM(DIV), ELEM(REM), ELEM(CEILDIV), ELEM(FLOORDIV),
	ELEM(FLOORMOD),
	ELEM(NEG), ELEM(ABS), ELEM(FMA), ELEM(MULHI), ELEM(MULHI_SIGNED), ELEM(MIN), ELEM(MAX), ELEM(AND), ELEM(OR),
	ELEM(XOR), ELEM(NOT),
	ELEM(SHL), ELEM(SHR), ELEM(EQ), ELEM(NE), ELEM(LT), ELEM(LE), ELEM(GT), ELEM(GE), ELEM(SELECT), ELEM(POPCOUNT),
	ELEM(CLZ), ELEM(CTZ),
	ELEM(BITREVERSE), ELEM(ADD_SAT), ELEM(SUB_SAT), ELEM(ISNAN), ELEM(ISINF), ELEM(ISFINITE), ELEM(SIGNBIT),
	ELEM(COPYSIGN), ELEM(PTR_ADD), ELEM(PTR_DIFF),
	ELEM(EXP), ELEM(EXP2), ELEM(LOG), ELEM(LOG2), ELEM(LOG10), ELEM(LOG1P), ELEM(EXPM1), ELEM(SQRT), ELEM(RSQRT),
	ELEM(SIN), ELEM(COS),
	ELEM(TAN), ELEM(ASIN), ELEM(ACOS), ELEM(ATAN), ELEM(SINH), ELEM(COSH), ELEM(TANH), ELEM(ATAN2), ELEM(POW),
	ELEM(HYPOT), ELEM(FMOD),
	ELEM(CEIL), ELEM(FLOOR), ELEM(ROUND), ELEM(RINT), ELEM(TRUNC), ELEM(ERF), ELEM(ERFC), ELEM(CBRT),
	ROW(MMA, mma),
	ROW(CUMSUM, scan), ROW(CUMPROD, scan), ROW(CUMMAX, scan), ROW(CUMMIN, scan), ROW(SCAN, scan),
	SIMPLE(VIEW, view), ROW(LOAD, load), ROW(STORE, store), ROW(GATHER, elements), ROW(SCATTER, elements),
	ROW(LOAD_PTR, elements), ROW(STORE_PTR, elements), ROW(ATOMIC_RMW, elements), ROW(ATOMIC_RMW_PTR, elements),
	ROW(ATOMIC_CAS, elements), ROW(ATOMIC_CAS_PTR, elements), ROW(ATOMIC_LOAD, elements), ROW(ATOMIC_STORE, elements),
	ROW(ATOMIC_LOAD_PTR, elements), ROW(ATOMIC_STORE_PTR, elements),
	SIMPLE(ASSUME, check), ELEM(HINT),
	SIMPLE(FOR, for), SIMPLE(WHILE, while), SIMPLE(IF, if), SIMPLE(SCOPE_, scope), SIMPLE(YIELD, end),
	SIMPLE(CONDITION, end), SIMPLE(BREAK, end), SIMPLE(CONTINUE, end), SIMPLE(LEAVE, end), SIMPLE(RETURN, end),
	SIMPLE(ASSERT, check), ROW(PRINT, print), SIMPLE(CHECK, check),
	ROW(CONVERT, convert), ROW(CONVERT_REGS, convert_regs), ROW(CONVERT_LANES, convert_lanes), ROW(SLIDE, slide),
	SIMPLE(OPAQUE, alias),
	SIMPLE(ALLOC_SHARED, nothing),
	ROW(STORE_SHARED, store_shared), ROW(LOAD_SHARED, load_shared),
	SIMPLE(KEEP, keep), SIMPLE(KEPT, kept), SIMPLE(BARRIER, barrier), ROW(LOADS, loads), ROW(PHASE, phase),
	ROW(EXCHANGE, exchange), ROW(REDUCE_REGS, reduce_regs), ROW(REDUCE_LANES, reduce_lanes), ROW(MMA_SYNC, mma_sync),
	SIMPLE(ROLE, role), SIMPLE(ONE_WARP, one_warp), SIMPLE(ELECT, elect), SIMPLE(GROUP_BARRIER, group_barrier),
	SIMPLE(CLUSTER_BARRIER, cluster_barrier), SIMPLE(CLUSTER_RANK, number), SIMPLE(NUM_STARTED, number),
	SIMPLE(TILE_ORDER, tile_order),
	SIMPLE(DRAW, draw), SIMPLE(GRID_BARRIER, grid_barrier), SIMPLE(GRID_WAIT, nothing), SIMPLE(GRID_LAUNCH, nothing),
	SIMPLE(ALLOC_RING, alloc_ring), SIMPLE(SLOT, slot), SIMPLE(PART, part), SIMPLE(CURSOR, cursor),
	SIMPLE(ADVANCE, cursor),
	ROW(ALLOC_MBAR, alloc_mbar), SIMPLE(MBAR_INIT, mbar_init), SIMPLE(MBAR_EXPECT, mbar_expect),
	SIMPLE(MBAR_ARRIVE, mbar_arrive), SIMPLE(MBAR_WAIT, mbar_wait), SIMPLE(PUT, put), SIMPLE(GET, get),
	ROW(TENSOR_MAP, tensor_map), SIMPLE(TMA_LOAD, tma_load), SIMPLE(TMA_STORE, tma_store),
	SIMPLE(BULK_COMMIT, bulk_commit), SIMPLE(BULK_WAIT, bulk_wait), SIMPLE(PROXY_FENCE, proxy_fence),
	SIMPLE(WGMMA_FENCE, wgmma_fence), ROW(WGMMA, wgmma), SIMPLE(WGMMA_COMMIT, wgmma_commit),
	SIMPLE(WGMMA_WAIT, wgmma_wait),
	ROW(CUT, cut), ROW(STMATRIX, stmatrix), SIMPLE(STORE_REGS, store_regs), SIMPLE(LOAD_REGS, load_regs),
	ROW(LOAD_SHIFTED, load_shifted), SIMPLE(PREFETCH_ROWS, nothing),
	ROW(COPY_ASYNC, copy_async), SIMPLE(COPY_COMMIT, copy_commit), SIMPLE(COPY_WAIT, copy_wait),
	ROW(LDMATRIX, ldmatrix), SIMPLE(AS_FRAG, as_frag), ROW(MMA_FRAG, mma_frag),
};

bool sim_knows(OpCode code) { return op_meanings[code].run != NULL; }
