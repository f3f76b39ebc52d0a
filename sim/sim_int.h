/* Inside sim. How it runs:
 *
 * A unit is what runs together: the thread blocks of a cluster or the one thread block that hold a tile block, or one
 * warp that holds one or several tile blocks (lower/pack.c). Its warps are coroutines: each has its own values and its
 * own place in the program, and goes on until an operation waits. The lanes of a warp run in lockstep, so an operation
 * is a loop over lanes. An operation that has to wait in its middle keeps where it is in
 * Warp.phase and is called again.
 *
 * Values are cells, element (register r, lane l) at r * 32 + l; what all registers share is held once. Integers and
 * addresses are in Cell.i, floats of every type in Cell.f: bits appear only in memory. A view has registers of its own:
 * address, root, extents, strides. */
#ifndef SIM_SIM_INT_H
#define SIM_SIM_INT_H
#include "ir/fold.h"
#include "placed/access.h"
#include "sim/sim.h"

enum {
	VIEW_BASE = 0, VIEW_ROOT = 1, VIEW_EXT = 2, VIEW_REGS = 2 + 2 * TENSOR_RANK, VIEW_STR = 2 + TENSOR_RANK
};

typedef union Cell { int64_t i; double f; } Cell;
/* cap: registers; mask: of r * 32 + l. Of registers that are lent: the group of the last product that writes them;
 * moved: that product's result stands for them now. */
typedef struct SimVal { Cell *p; int cap; uint32_t mask; int group; bool moved; } SimVal;

typedef struct Warp Warp;
typedef struct Unit Unit;
typedef struct Run Run;
typedef struct Step Step;

typedef enum Go {
	GO_NEXT,        /* done: the next operation follows */
	GO_WAIT,        /* the warp waits; the operation is called again */
	GO_JUMP         /* the operation has set where the warp goes on */
} Go;

/* ---- the program, decoded ---- */
typedef struct Code { int n; Step *step; const IrBlock *block; } Code;
struct Step {
	const Op *op;
	Go (*run)(Warp *w, const Step *s);
	void *plan;             /* what the operation keeps from one call to the next */
	Code region[2];
	int number;             /* in the order of the text: index of its count */
};

typedef struct OpMeaning {
	Go (*run)(Warp *w, const Step *s);
	void *(*plan)(Run *r, const Op *op);
} OpMeaning;
extern const OpMeaning op_meanings[OP_COUNT];

/* ---- state ---- */
typedef enum WarpState { WARP_RUNS, WARP_WAITS, WARP_DONE } WarpState;

typedef VEC(uint32_t) Fences;   /* clocks after proxy fences, increasing */

/* Who runs: the warps of a role's group, or of the thread block. */
typedef struct Group { int first, warps, groups, number; const Op *role; } Group;

/* A block that runs. group, active, num: what was before, where the block's owner changes it. */
typedef struct Frame {
	const Code *code;
	int at;
	const Step *owner;
	uint64_t iteration, iterations;
	int64_t lo, step;
	Group group;
	uint32_t active;
	int num;
} Frame;

struct Warp {
	Unit *u;
	int index;              /* in the unit: an actor */
	int num;                /* in the group, as layouts count warps */
	int rank;               /* thread block of the cluster */
	WarpState state;
	Group group;
	uint32_t active;        /* lanes that run: one in elect */
	SimVal *val;            /* by Val id */
	VEC(Frame) frame;
	int phase;              /* of the operation under way */
	int met;                /* barrier: 0 not there yet, 1 waits, 2 all have met */
	int meeting;            /* which barrier */
	const Step *at;         /* the operation under way */
	bool asks;              /* it waits, and asks again whenever something happened */
	uint32_t *clock;        /* by actor: what this warp has seen of each; its own: what it is doing now */
	Fences fences;
	int products, stores, copies;   /* groups of wgmma, of bulk copies, of cp.async that it has committed */
	bool storing, copying;  /* there is something to commit */
	int64_t *done;          /* by the first mbarrier of an exchange: how often it has made that */
	Cell *scratch;          /* of the operation under way; scratch_cap registers */
	int scratch_cap;
	uint32_t live;          /* lanes whose tile block is in the grid */
	int64_t tile[LANES];    /* the tile block of each lane */
};

typedef struct Seen { uint32_t clock; int step, actor; uint8_t lane; } Seen;   /* lane SEVERAL: of more than one lane */
enum { SEVERAL = 0xff };
typedef struct Byte {  /* 1 << Shared.grain bytes of shared memory: who wrote them last, who has read them since */
	Seen write;
	bool is_written;
	bool atomic;            /* atomically */
	int nread, cap;
	Seen *read;             /* the last read of each actor */
} Byte;
/* of an exchange: bytes; what those who sent them had seen */
typedef struct Bar { int64_t arrived; uint32_t *clock; } Bar;
/* Of a ring. seen: what those who arrived in this phase had seen; done: the same of the
 * two phases before, by parity. */
/* filled: clock of the last copy that it counted. */
typedef struct Mbar {
	bool ready;
	int count, pending;
	int64_t bytes;
	int phase;
	uint32_t filled, *seen, *done[2];
} Mbar;
typedef struct Shared {
	unsigned char *mem;
	int64_t bytes;
	int grain;              /* log2 of the bytes that one Byte stands for: no access was to a part of them */
	Byte *seen;
	Bar *bar;
	Mbar *mbar;
} Shared;
/* What a warp did last in the shared memory of another thread block, and when. */
typedef struct Reach { uint32_t clock; const Step *at; } Reach;
typedef struct Meeting { int waiting, phase; const Step *where; } Meeting;

struct Unit {
	Run *r;
	int64_t first;          /* tile block */
	int nwarp, nrank;
	int nactor;  /* warps, then mbarriers of each thread block, then products, stores and copies of each warp */
	Warp *warp;
	Shared *shared;         /* by rank */
	Reach *reach;           /* by warp and rank */
	Arena *mem;             /* lives as long as the tile block */
	Meeting *meeting;       /* barriers: 0 of all; MEETINGS for each thread block */
	int turn;
};
enum { MEETINGS = 64, MEET_WGMMA = 40 };  /* of a thread block: named barriers, then those of warpgroups at a product */

typedef struct Region { const char *name; uint64_t base; int64_t bytes; bool writable; } Region;

struct Run {
	const SimCall *call;
	const Fn *fn;
	Arena *mem;             /* lives as long as the run */
	Code body;
	Region region[16];
	int nregion;
	int64_t rotated;         /* elements of rows that are rotated; 0: none are */
	const Val *phase;       /* of the kernel's OP_PHASE; NULL: it has none */
	int nbar, nmbar;
	bool roles;             /* warps run different things: see group.c */
	bool pointers;          /* to memory that is not known here */
	int grain;              /* the least grain of shared memory so far */
	int64_t started;        /* clusters (or thread blocks without) that run: persistent kernels walk over tiles */
	VEC(struct GridBarrier *) grid_barriers;
	int64_t grid[4], blocks;
	int nop;
	VEC(const Op *) ops;
	SimCount *count;        /* by Step.number */
	uint64_t random;
	int64_t budget;         /* operations until the run counts as endless */
	SimResult *result;
	Unit *unit;             /* those that run at once */
	int nunit;
};

/* ---- warp.c ---- */
void sim_fault(const Warp *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool sim_failed(const Run *r);
Cell *sim_scratch(Warp *w, int regs);
/* The value of v in this warp; sim_def makes room for regs registers first (1: the same in all). */
const SimVal *sim_val(const Warp *w, const Val *v);
Cell *sim_def(Warp *w, const Val *v, int regs);
static inline Cell sim_at(const SimVal *v, int reg, int lane) { return v->p[(uint32_t)(reg * LANES + lane) & v->mask]; }
int sim_regs(const Val *v);
/* A barrier of the tile block (in a role: of the thread block): true once all its warps have
 * met, which takes a new call. */
bool sim_sync(Warp *w);
/* The same of `need` warps; id: 0 .. MEETINGS of the thread block. join: they learn what the others know. */
bool sim_meet(Warp *w, int id, int need, bool join);
bool sim_meet_all(Warp *w, bool join);          /* all warps of the unit */
void sim_learn(Warp *w, const uint32_t *clock);
int actor_of_mbar(const Unit *u, int rank, int bar);
int actor_of_products(const Warp *w);
int actor_of_stores(const Warp *w);
int actor_of_copies(const Warp *w);
void sim_wake(Unit *u);                         /* something happened that a warp may wait for */
int sim_lanes(const Run *r);                     /* lanes of a tile block in a warp */

/* ---- group.c ---- */
void group_prepare(Run *r);                     /* what a kernel with roles or rings needs, once it is decoded */
void group_end(Unit *u);                        /* nothing may be left over */

/* ---- cluster.c ---- */
bool cluster_reach(Warp *w, int rank);  /* before an access to the memory of thread block rank; false: a fault */
void cluster_met(Warp *w);                      /* it knows that all thread blocks of the cluster have begun */
void cluster_end(Unit *u);                      /* nobody may reach into a thread block that has ended */

/* ---- rows.c ---- */
bool row_moves(const Run *r, Lay l);            /* its registers hold other elements of a row than the layout says: */
bool row_is_end(const Run *r, Lay l, int reg);  /* the one after all others */
/* Of a place of the layout, or of that register, in a row whose phase is `begin`; -1: none. */
int64_t row_element(const Warp *w, int64_t begin, int64_t place, bool end, int lane);
/* of a row of elements of this size that begins at address `at` */
int64_t row_phase(const Warp *w, uint64_t at, int size);

/* ---- control.c ---- */
Go sim_enter(Warp *w, const Step *s, int region, Frame f);
Go run_for(Warp *w, const Step *s);
Go run_while(Warp *w, const Step *s);
Go run_if(Warp *w, const Step *s);
Go run_scope(Warp *w, const Step *s);
Go run_end(Warp *w, const Step *s);             /* yield, condition, break, continue, leave, return */
/* region.c: the region of a reduction over the 32 lanes: args and results are registers of one cell a lane. */
void sim_region(Warp *w, const Code *c, Cell *const *args, Cell *const *yields);

/* ---- elem.c ---- */
typedef struct ElemPlan { OpCode code; FoldModes modes; Elem e, r; int nin; } ElemPlan;
void *plan_elem(Run *r, const Op *op);
Go run_elem(Warp *w, const Step *s);
void elem_each(const ElemPlan *p, int n, const Cell *const *in, const uint32_t *mask, Cell *out);
ElemPlan elem_combining(const Op *op, OpCode code, Elem e);     /* with the modes of op */
Cell cell_of(Elem e, Num n);
Num num_of(Elem e, Cell c);
uint64_t cell_bits(Elem e, Cell c);
Cell cell_from(Elem e, uint64_t bits);

/* ---- places.c: layouts as tables ---- */
typedef struct Map { int nreg, nlane, nwarp; uint32_t *reg; uint32_t lane[LANES], warp[LAY_BITS]; } Map;
Map map_of(Run *r, Lay l, int axis);            /* axis -1: the packed coordinate */
static inline uint32_t map_thread(const Map *m, int lane, int warp)
{
	uint32_t x = m->lane[lane];
	for (int i = 0; i < m->nwarp; i++)
		if (warp >> i & 1) x ^= m->warp[i];
	return x;
}
static inline uint32_t map_at(const Map *m, int reg, int lane, int warp)
{
	return m->reg[reg] ^ map_thread(m, lane, warp);
}
uint32_t first_lanes(Lay l, int warp);  /* of those that hold copies, the lanes that count; 0: none of this warp */
uint32_t first_lanes_of_block(const Warp *w, Lay l);    /* the same where each thread block of a cluster keeps a copy */
bool is_first_reg(uint32_t spare, int reg);
uint32_t bits_along(uint32_t mask, uint32_t n); /* the n-th number whose bits lie in mask */

/* ---- global.c, shared.c ---- */
int64_t sim_phase(const Warp *w);               /* what the kernel's OP_PHASE gave; 0: it has none */
typedef struct Request { uint64_t at[LANES]; uint32_t lanes; int bytes; } Request;
void count_global(Warp *w, const Request *q, bool write);       /* checks each address, too */
Cell cells_combined(OpCode by, Elem e, Cell x, Cell y);
void update_cell(Elem e, void *at, OpCode by, Cell x);          /* what lies there becomes `by` of it and x */
typedef enum SharedUse { SHARED_READ, SHARED_WRITE, SHARED_ATOMIC } SharedUse;
/* moves.c: an element to the same place of all thread blocks; bar_sent ends what a warp sends. */
void bar_send(Warp *w, int bar, int64_t at, int bytes, int lane, uint64_t bits);
void bar_sent(Warp *w);
bool bar_arrived(Warp *w, int bar, int64_t expect, int64_t before);     /* after those of phases before */
void *shared_at(Warp *w, int rank, int64_t at, int bytes, int lane, SharedUse use);
/* An access in the background that w starts: by another actor, at its clock. NULL: a fault. */
void *shared_async(Warp *w, int rank, int64_t at, int64_t bytes, int actor, uint32_t clock, bool write);
void count_shared(Warp *w, const Request *q);   /* at: offsets in shared memory */
/* One request: stores or loads n elements a lane at these offsets; element k of lane l is from[k][l]. */
void shared_put(Warp *w, Elem e, const Request *q, int n, const Cell *const *from);
void shared_get(Warp *w, Elem e, const Request *q, int n, Cell *const *to);
/* The same of one element. */
void shared_store(Warp *w, Elem e, const Request *q, const Cell *from);
void shared_load(Warp *w, Elem e, const Request *q, Cell *to);
int64_t shared_base(const Warp *w, int lane);   /* of the lane's tile block */
int bank_wavefronts(const Request *q, int *least);

#define OPS(X) \
	X(const) X(literal) X(iota) X(launch) X(bid) X(alias) X(broadcast) X(to_scalar) X(cat) X(split) X(convert_regs) \
	X(convert_lanes) X(slide) X(view) X(load) X(loads) X(store) X(elements) X(phase) X(store_shared) X(load_shared) \
	X(keep) X(kept) X(barrier) X(exchange) X(convert) X(take) X(reduce_regs) X(reduce_lanes) X(scan) X(sort) \
	X(histogram) X(private) X(publish) X(mma_sync) X(mma) X(print) X(check) X(nothing) \
	X(role) X(one_warp) X(elect) X(group_barrier) X(cluster_barrier) X(number) X(tile_order) \
	X(ragged_order) X(draw) X(grid_barrier) \
	X(grid_signal) X(grid_await) X(stream_k) \
	X(alloc_ring) X(slot) X(part) X(cursor) X(alloc_mbar) X(mbar_init) X(mbar_expect) X(mbar_arrive) X(mbar_wait) \
	X(put) X(get) X(tensor_map) X(tma_load) X(tma_store) X(bulk_commit) X(bulk_wait) X(proxy_fence) X(wgmma_fence) \
	X(wgmma) X(wgmma_commit) X(wgmma_wait) X(cut) X(stmatrix) X(store_regs) X(load_regs) X(load_shifted) X(copy_async) \
	X(copy_commit) X(copy_wait) X(ldmatrix) X(as_frag) X(mma_frag)
#define X(name) Go run_##name(Warp *w, const Step *s); void *plan_##name(Run *r, const Op *op);
OPS(X)
#undef X
Go run_copies(Warp *w, const Val *v, int64_t slot);     /* one thread got each element: it passes it on */
#endif
