/* What is found in a finished kernel: hazards between blocks, accesses outside of tensors, pads
 * in reductions, slow views. */
#ifndef SEMA_FINDINGS_H
#define SEMA_FINDINGS_H
#include "base/diag.h"
#include "ir/valsym.h"

/* ---- padding.c ---- */
/* of: by Val id, one for each axis; NULL: none */
typedef struct Padding { ValSyms *vs; struct PadAxis **of; } Padding;
void padding_op(Padding *p, const Op *op);

typedef struct Reach { double lo, hi; } Reach;  /* between which the elements of a value lie */
Reach value_reach(const Val *v);

/* ---- identity.c: identities of reductions and scans that are none ---- */
void identity_op(const Op *op);

/* ---- widened.c: casts that come too late ---- */
void widened_op(const Op *op);
bool help_cast_early(Diag *d, const Val *x, Elem to);   /* whether a cast of x to that type comes too late; says so */
void halved_op(const Op *op);           /* a division or shift */
void apart_op(const Op *op);            /* an absolute value */

/* ---- untransposed.c: tiles that are stored at swapped places as they are ---- */
typedef struct Untransposed { ValSyms *vs; int *seen, stores; } Untransposed;   /* seen: by Val id */
bool untransposed_op(Untransposed *u, const Op *store);         /* whether it said something */

/* ---- random.c: the same random numbers in several tile blocks or iterations of a loop ---- */
typedef struct Random {
	const Fn *fn;
	const Op **of;          /* by Val id, the random numbers of which a value is made; NULL: none */
	const uint8_t *dep;     /* by Val id, the block indices on which it may depend */
	unsigned axes;          /* axes of the grid that may have more than one block */
} Random;
void random_op(const Random *r, const Op *op, unsigned under);  /* under: those on which it depends whether op runs */

/* ---- accumulator.c: sums of 16-bit floats that a loop carries ---- */
void accumulator_op(ValSyms *vs, const Op *loop);

/* ---- lanes.c: index tiles whose elements differ from each other by known numbers ---- */
typedef struct Lanes { const Sym *base; const int64_t *at; int64_t n; } Lanes;  /* element i: base + at[i] */
typedef struct LaneSyms { ValSyms *vs; const Lanes **of; bool *done; } LaneSyms;
LaneSyms lanes_new(ValSyms *vs, const Fn *fn);
const Lanes *lanes_of(LaneSyms *c, const Val *v);       /* NULL: not known */

/* ---- neighbour.c: loads of what other tile blocks store; dep: by Val id, 0 where it is the same
 * in all tile blocks ---- */
void neighbours_report(const Fn *fn, ValSyms *vs, LaneSyms *lanes, const uint8_t *dep);

/* ---- cover.c: parts of tensors that no access reaches ---- */
typedef struct Cover Cover;
/* end: where the counters of loops stop, by Val id; filled on the way */
Cover *cover_new(ValSyms *vs, const Sym **end);
void cover_op(Cover *c, const Op *op);
void cover_report(const Cover *c, bool by_entry);

/* ---- findings.c ---- */
/* raced: hazards were reported, so its stores may lie elsewhere in the end; by_entry: an entry
 * launches it, and may bound extents */
void findings_report(const Fn *fn, bool raced, bool by_entry, const SpanVec *copied);
#endif
