/* Plans: how many threads run a tile block of a kernel, and how much of the grid one tile block does.
 *
 *   TYPED kernel ── skeleton.c ──► Skeleton: a flat list of accesses, reductions and elementwise work, with sizes
 *   Skeleton × Plan × Machine × Call ── cost.c ──► Cost: picoseconds, and which term they come from
 *   Space: the values that each coordinate may have ── search.c ──► Ranked: the best plans
 *
 * A plan is a value and binds nothing: neither the search nor the model looks at the IR, so that a plan costs a
 * microsecond. Which values are legal is asked of the passes that carry a plan out (lower/space.c). */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H
#include "base/machine.h"
#include "ir/ir.h"

/* ---- plan.c ---- */
typedef enum Coord {
#define COORD(id, name, least, most, doc) PC_##id,
#include "plan/coords.def"
#undef COORD
	PC_COUNT
} Coord;

typedef struct Plan { int8_t at[PC_COUNT]; } Plan;
/* Values that a coordinate may have; of one that is pinned least == most. */
typedef struct PlanRange { int8_t least, most; } PlanRange;

extern const char *const plan_coord_name[PC_COUNT];
PlanRange plan_range(Coord c);                      /* all values that a plan's number can express */
uint32_t plan_id(const Plan *p);
uint32_t plan_digit(Coord c, int value);        /* the part of a number that says so */
uint32_t plan_digits_below(Coord c);            /* a mask: of the coordinates before it */
bool plan_pins(uint32_t id, Coord c, int *value);       /* false: the number leaves the coordinate to the compiler */
bool plan_id_ok(uint32_t id, Coord *wrong);     /* *wrong: whose digit stands for no value */
Str plan_id_text(uint32_t id);                  /* hexadecimal, without a prefix */
bool plan_id_read(const char *text, size_t n, uint32_t *id);
Str plan_text(const Plan *p);                   /* "8 warps, cluster of 2, 4 joined along axis 0" */

/* ---- skeleton.c ---- */
typedef enum NodeKind {
	NODE_LOAD, NODE_STORE, NODE_GATHER, NODE_VECTOR, NODE_REDUCE, NODE_SCAN, NODE_MOVE, NODE_PRODUCT
} NodeKind;

/* Sizes are log2 of elements of a tile as the author wrote it. */
typedef struct Node {
	uint8_t kind;           /* NodeKind */
	uint8_t bytes;          /* of an element */
	uint8_t depth;          /* loops around it */
	uint8_t log2;           /* elements: accessed, computed, or reduced */
	uint8_t out;            /* those of its result */
	uint8_t run;            /* accesses: those that are adjacent in memory */
	uint8_t grid;           /* bits: axes of the grid along which it differs between tile blocks */
	int8_t along;           /* the axis along which the next tile block continues its runs; -1: none */
	uint16_t issue, mufu;   /* instructions an element, and how many of them the unit for special functions runs */
	uint16_t begin, end;    /* its result: the stretch between waits in which it is made, and the last that uses it */
	bool value;             /* the result is held: not a name, a constant or a number of an element */
	bool seeks;             /* an access whose place was read before */
} Node;

typedef struct Skeleton {
	Node *node;             /* in program order */
	int n;
	int ngrid, log2;        /* axes of the grid; elements of the largest tile */
	int stretches;          /* one more than the waits of all threads for each other */
	int widest;             /* bytes of the widest element that is loaded, 0: none */
	bool straight;          /* no loops or branches */
	bool products, scans, reduces, math;
	bool packs;             /* tile blocks of less than a warp may share one (said by lower/space.c) */
	bool pairs;             /* tile blocks of COST_PACK_FEW warps may share a thread block (the same) */
	bool moves;             /* tiles change their layout on the way */
} Skeleton;

Skeleton skeleton_of(Fn *fn);                   /* TYPED; in A_TMP; numbers fn */

/* ---- calls.c ---- */
/* A call for which a plan is judged. */
typedef struct Call {
	int64_t blocks;         /* tile blocks as the author wrote them */
	int used;               /* thousandths of each tile that lie inside of the tensors */
	int iterations;         /* of each loop */
	bool aligned;           /* vector accesses have 16 bytes; else each is of an element */
} Call;
typedef struct Calls { Call at[8]; int n; } Calls;
Calls calls_of(const Fn *fn);
/* The one with these extents, by the names of dimensions; false: one is missing, or the kernel refuses them. */
typedef struct Extent { Str name; int64_t value; } Extent;
typedef VEC(Extent) Extents;
bool calls_at(const Fn *fn, const Extents *e, const Skeleton *k, Calls *c);

/* ---- cost.c ---- */
typedef enum Term { TERM_DRAM, TERM_L2, TERM_ISSUE, TERM_MUFU, TERM_SHARED, TERM_STARTS, TERM_WAITS, TERM_COUNT } Term;
extern const char *const term_name[TERM_COUNT];

typedef struct Cost {
	int64_t ps;             /* of the call */
	int64_t term[TERM_COUNT];       /* of a multiprocessor for a tile block, if nothing else took time */
	Term bound;             /* the greatest of them */
	int64_t least;          /* ps that the bytes alone would take at the rate of memory */
	int regs, blocks;       /* registers of a thread; thread blocks of a multiprocessor */
	int64_t in_flight;      /* bytes of loads under way in a multiprocessor */
	bool sliced;            /* threads do not hold their part: loops over slices */
} Cost;
Cost cost_at(const Skeleton *k, const Plan *p, const Machine *m, const Call *call);
int64_t cost_of_calls(const Skeleton *k, const Plan *p, const Machine *m, const Calls *c);      /* the sum */

int plan_lanes(const Skeleton *k, const Plan *p);  /* log2 of the lanes of a tile block's warp that it makes use of */

/* ---- search.c ---- */
enum { PLANS_COSTED = 512, PLANS_KEPT = 24 };

typedef struct Space {
	const Skeleton *k;
	const Machine *m;
	const Calls *calls;
	PlanRange range[PC_COUNT];
	int smallest;           /* log2 of the elements of a tile that is divided */
	/* May the first n coordinates of p go together? */
	bool (*legal)(const struct Space *s, const Plan *p, int n);
} Space;

typedef struct RankedPlan { Plan plan; int64_t ps; } RankedPlan;
typedef struct Ranked {
	RankedPlan at[PLANS_KEPT];  /* the chosen one, then the others from the fastest on */
	int n, costed;
} Ranked;

bool plan_legal(const Space *s, const Plan *p, int n);   /* what holds of each kernel */
Ranked plan_search(const Space *s);
int64_t plan_ps(const Space *s, const Plan *p);
/* The i-th legal plan of all, counted in the order of the search; false: there are no more. */
bool plan_nth(const Space *s, int i, Plan *p);
#endif
