/* What the passes of the PLACED form share. */
#ifndef LOWER_PLACED_H
#define LOWER_PLACED_H
#include "ir/ir_copy.h"
#include "lower/lower.h"
#include "placed/placed.h"

/* ---- target.c ---- */
/* Registers of a thread in `groups` warpgroups that consume a loop of products, and of a thread in the one that starts
 * copies, which gets what they leave. 0: registers are not redistributed. */
int consumer_regs(int groups);
int producer_regs(int groups);

/* ---- strip.c ---- */
/* A cluster that was to hold the tiles cannot: those that one thread block does not hold are cut. true: some are. */
bool strip_alone(Fn *fn, const LowerCx *cx);
/* As it was before its tiles were sliced for a cluster; NULL: they are not. */
const Fn *strip_whole(const Fn *fn, const LowerCx *cx);

/* ---- loads that overlap: overlap.c ---- */
/* Of tiles of this type several overlap along these axes (bits); type NULL: none do. */
typedef struct Overlap {
	const Type *type;
	unsigned axes;
	int fast;
	bool within;            /* axis fast stays within a warp, for shifts along it */
} Overlap;
Overlap overlap_of(const Fn *fn);
int64_t load_offset(const Op *op, int axis);
bool loads_overlap(const Op *x, const Op *y);  /* two loads of tiles that lie a constant apart, of what nobody writes */
/* Pairs of loads of one block that overlap, the earlier first; not of loads with many others between them. */
void overlaps_walk(const Fn *fn, void (*each)(void *, const Op *, const Op *), void *ctx);
bool overlaps_any(const Fn *fn);
Lay lay_overlap(const Overlap *of, Threads n); /* a thread's elements are adjacent along these axes */
/* ---- pack.c ---- */
bool pack_suits(const Op *op);                  /* may tile blocks with it share a warp? */
/* TYPED: do warps need nothing of each other, so that tile blocks of two may share a thread block? */
bool pack_pairs(Fn *fn);
int pack_lanes(const Fn *fn);  /* log2 of the lanes that a tile block of one warp makes use of, before it has layouts */

/* ---- threads.c: how many share a tile; all log2 ---- */
int choose_warps(Fn *fn, const LowerCx *cx);    /* without a cluster */
int choose_cluster(Fn *fn, const LowerCx *cx);  /* thread blocks; 0: none */
int spare_warps(Fn *fn, int cluster, const LowerCx *cx);        /* besides COST_CLUSTER_WARPS */
bool has_loop(const Fn *fn);                    /* or another region */
int cluster_most(const LowerCx *cx, Fn *fn);
int wide_regs(const Fn *fn, const LowerCx *cx);         /* elements that a thread of the largest clusters holds */
bool kernel_suits_cluster(const Fn *fn);        /* may the thread blocks of a cluster share its tiles? */

/* ---- versions.c ---- */
/* As roles around a loop of products (pipeline.c, chain.c): of several with a time the one that takes least serves a
 * call. guard: which calls it serves; NULL: all that the copy engine does. */
typedef struct Pipelined { Fn *fn; Str name; const Sym *time, *guard; } Pipelined;
typedef VEC(Pipelined) PipelinedVec;
/* A version for peeled rows of `least` elements or more and of fewer than `below`; is_short: of less
 * than half of their tile. */
typedef struct Peeled { Fn *fn; int64_t least, below; bool is_short; } Peeled;
typedef VEC(Peeled) PeeledVec;
/* What a kernel is placed as for an architecture; NULL: it is not placed so. */
typedef struct Placements {
	Fn *first;              /* as its tiles suggest: for all calls, or for those with aligned tensors */
	Fn *unaligned;          /* for accesses of single elements, of tensors that are not aligned (unaligned.c) */
	FnVec cuts;             /* copies of that with fewer registers, the fewest first (cut.c) */
	PeeledVec peeled;       /* rows in aligned vectors and ends, the fewest registers first (peel.c) */
	PipelinedVec pipelined;
	bool flat, short_flat;  /* narrow is of flat.c; and for short rows alone */
	bool puts;              /* it stores rows where indices say (narrow_puts) */
	Fn *narrow;  /* with a grid of its own, for rows much shorter than the tile (narrow.c), where narrow_guard holds */
	const Sym *narrow_guard, *narrow_apart;
	Fn *privatised;         /* whose thread blocks have sums of their own (privatise.c), where private_guard holds */
	const Sym *private_guard;
	Fn *portable;           /* with a cluster that every device of the architecture runs */
	int most;               /* versions, of which those for aligned tensors and for all calls are the first two */
} Placements;
/* pipeline.c: appends what a TYPED kernel is placed as for an architecture with a copy engine for
 * tensors, if it has such a loop. */
void pipe_place(Fn *typed, const LowerCx *cx, PipelinedVec *to);
/* chain.c: the same for loops of products that follow from each other. */
void chain_place(Fn *typed, const LowerCx *cx, PipelinedVec *to);
/* Appends those that `of` has for an architecture. */
void versions_add(Module *m, Fn *of, const Placements *p, uint32_t arch);

/* ---- budget.c ---- */
/* versions of a kernel, TYPED, for an architecture; asked: LowerOptions.versions */
int budget_of(const Fn *fn, int asked);
/* Keeps at most `most` of n versions, in the order in which guards are asked; returns how many are left. */
int budget_keep(Version *v, int n, int most);

/* ---- shift.c ---- */
/* A copy of the placement for aligned tensors that also serves rows of these lengths where they begin at any of
 * `places` phases; fn NULL: its rows cannot be shifted. */
typedef struct Shifted { Fn *fn; VEC(const Sym *) lengths; int64_t places; } Shifted;
Shifted shifted_version(Fn *first);

/* ---- by_warp.c ---- */
void by_warp_plan(Fn *fn);      /* TYPED, after cut_plan or instead of it: finds by_warp and short_rows, perhaps */
void by_warp_place(Fn *fn);                     /* PLACED: finds fewer and short_rows */

/* ---- variants.c ---- */
void note_variants(Module *m);                  /* TYPED, with entries: finds rows_taken */
Str kernel_name_apart(const Module *m, Str name);       /* for a kernel that a pass makes, with `_` until free */

/* ---- narrow.c ---- */
/* A kernel, TYPED, with tiles of few columns and many rows, and the calls for which it is better; apart: than one by
 * single elements whose threads exchange what they load. NULL: none. */
Fn *narrow_version(const Fn *of, const LowerCx *cx, const Sym **guard, const Sym **apart);
/* Does it store rows where indices say, which of the TYPED kernel are stored as tiles? */
bool narrow_puts(const Fn *fn, const Fn *of);

/* ---- what several passes do with one kernel ---- */
void simplify_kernel(Fn *fn, const LowerCx *cx);        /* simplify.c */
void bound_accesses(Fn *fn);                    /* bounds.c: TYPED */
void relax_kernel(Fn *fn);                      /* relax.c: numbered */
void mark_powers(Fn *fn);                       /* powers.c */

/* ---- again.c ---- */
void kernel_regrid(Fn *fn, const Sym *blocks);  /* TYPED: a grid of one axis, of `blocks` tile blocks */
void kernel_again(Fn *fn, const LowerCx *cx);   /* TYPED: simplified, with what is proved of its accesses, numbered */
void kernel_set_warps(Fn *fn, int64_t warps);   /* as if its author said so */

/* ---- privatise.c ---- */
/* A kernel, TYPED, whose thread blocks add to sums of their own, and the calls for which it is better; NULL: none. */
Fn *private_version(const Fn *of, const LowerCx *cx, const Sym **guard);

/* ---- flat.c ---- */
/* A kernel, TYPED, that takes elements in the order of memory, the calls of aligned tensors for which it is better, and
 * whether a thread has neighbours; NULL: none. short_rows: it is for no others. */
Fn *flat_version(const Fn *of, const LowerCx *cx, bool short_rows, const Sym **guard, bool *by_vectors);

/* ---- cut.c ---- */
enum { CUT_COPIES = 3 };                        /* of a kernel with fewer registers, at most */
void cut_plan(Fn *fn, bool by_warp);            /* TYPED: finds row_log2, below, row_pads */
/* PLACED by element: which registers a row has; makes the copies, unless cuts is NULL */
void cut_place(Fn *fn, FnVec *cuts);

/* ---- peel.c ---- */
enum { PEEL_COPIES = 5 };                       /* at most */
bool peel_wanted(const Fn *by_element);         /* PLACED so */
/* fn: PLACED as LowerCx.peels says; becomes the versions in `to`, the fewest registers first; none: it
 * cannot be, or would gain nothing */
/* room: bytes of shared memory of a thread block, at most */
void peel_place(Fn *fn, const Fn *by_element, int64_t room, PeeledVec *to);
bool peel_leads(const Fn *fn);                  /* also for aligned rows, rather than the version for aligned tensors */

/* ---- dense.c ---- */
void dense_plan(Fn *fn);                        /* TYPED: marks the accesses of a kernel of rows side by side */
void dense_place(Fn *fn);                       /* PLACED: where in shared memory its stretches are */

/* ---- move.c ---- */
/* Stores x to a buffer of its own, which threads read in the layout `to`; the store. */
Op *move_to_shared(Builder *b, Val *x, Lay to);

/* ---- prefetch.c ---- */
bool is_outside(const Val *v, const Op *loop);  /* is v computed outside of the loop? */

/* ---- quotient.c ---- */
bool divide_by_products(Op *div);               /* which is gone then; false: it stays */
/* ---- relax.c, powers.c ---- */
bool never_below_zero(const Val *v, int depth); /* is v, unless it is a NaN, at least 0 (or -0)? */
void note_low_power(Op *exp);                   /* its operand is not above 0 */

/* ---- base2.c ---- */
void base2_powers(Fn *fn);                      /* TYPED, after pass relax: numbers fn */

/* ---- unaligned.c ---- */
/* TYPED: does it have rows that element accesses serve well, and vectors, placed for the first time? */
bool unaligned_wanted(const Fn *fn, const Fn *first);
bool unaligned_exchanges(const Fn *fn);         /* PLACED: does data move between threads? */
bool unaligned_serves(const Fn *by_element, const Fn *fn);  /* no data moves that stays where it is in fn; */
bool unaligned_pays(const Fn *by_element, const Fn *first); /* or what moves costs less than first's accesses */

#endif
