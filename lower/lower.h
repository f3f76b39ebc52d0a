/* Running the passes. TYPED: once, for all targets. PLACED: from a copy of the typed module, once per architecture. */
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H
#include "ir/ir.h"

enum { VERSIONS_ROWS = 2, VERSIONS_PRODUCTS = 6 };

typedef struct Planned Planned;         /* lower/space.h */

typedef struct LowerOptions {
	int level;              /* -O */
	bool checked;
	/* Called after each pass over m or over a part of it; false stops. arch: 0 during the TYPED passes. */
	bool (*after)(void *ctx, const char *pass, int arch, const Module *m);
	void *ctx;
	/* Each pass goes over the whole module before the next begins: for who looks at it in between. Else the passes
	 * follow each other kernel by kernel, so that a large module goes through the processor's caches once. */
	bool whole;
	bool roles;             /* among the architectures is one whose products warps with roles do: sm_90a */
	bool by_threads;        /* the target runs tile blocks by threads, not one after the other */
	/* log2 of the bytes of an accumulator of a product above which the target's compiler spills it; 0: it has no such
	 * limit */
	int accumulator;
	Planned *planned;       /* takes what the search finds for each kernel; NULL: nobody asks */
	/* of a kernel for an architecture, at most; 0: VERSIONS_ROWS, or VERSIONS_PRODUCTS where it has products */
	int versions;
	uint64_t without;       /* a bit for each row of pass_rows that is left out */
} LowerOptions;

/* TYPED: once, for all targets. PLACED: for each architecture, on kernels as they are placed. VERSION: on versions,
 * when it is known which calls and which architectures each of them serves; they say all that is still open about what
 * is printed and run. */
typedef enum PassForm { PASS_TYPED, PASS_PLACED, PASS_VERSION } PassForm;
typedef struct PassRow { const char *name; PassForm form; int level; const char *doc; } PassRow;
extern const PassRow pass_rows[];       /* ends with a row whose name is NULL */

Module *lower_copy(const Module *m);      /* for lower_typed with other options; the entries are those of m */
bool lower_typed(Module *m, const LowerOptions *o);     /* false: stopped, or errors were reported */
/* Makes m->versions for m->archs; false: stopped, or errors were reported. Kernels in which nothing depended on an
 * architecture (Fn.by_arch) have the same versions for the next one. */
bool lower_place(Module *m, const LowerOptions *o);
/* The passes over versions alone: for kernels that were placed by hand and just became
 * the only version of themselves. */
bool lower_finish(Module *m, const LowerOptions *o);
/* lower_place for kernel i alone, after those of the kernels before it, whose operations it frees: what is still to be
 * asked of them is whatever else their Fn says. Kernels come in their order. */
bool lower_place_next(Module *m, int i, const LowerOptions *o);
void lower_hints(const Module *m);              /* warns of hints that no version follows */

/* Kernels whose tiles are sliced for a cluster, and what they were before (strip.c). */
typedef struct Whole { const Fn *of; Fn *fn; } Whole;
typedef struct Wholes { VEC(Whole) v; } Wholes;

typedef VEC(Fn *) FnVec;

/* What a pass gets. A pass reports through diag and never fails otherwise. */
typedef struct LowerCx {
	const LowerOptions *o;
	int target_arch;        /* 0: TYPED. Passes ask lower_arch */
	bool target_only;
	Wholes *wholes;
	StepsList *steps;       /* of the module, and those that TYPED passes find */
	bool portable;          /* clusters of no more thread blocks than every device of the architecture runs */
	bool alone;             /* no cluster: a layout would have to be converted between its thread blocks */
	bool peels;             /* places rows in aligned vectors and ends (peel.c): twice the registers a thread */
	/* takes kernels that need more shared memory than there is, which calls do without; NULL: that is an error */
	FnVec *misfits;
} LowerCx;
/* The architecture that fn is lowered for. Asking makes the kernel one that serves this architecture alone. */
int lower_arch(const LowerCx *cx, Fn *fn);
int hinted_warps(Fn *fn, const LowerCx *cx);    /* 0: no hint; asks only where the hint names architectures */
void drop_dead(Fn *fn);         /* pure operations whose results nobody takes; numbers fn (simplify.c) */
int64_t shared_room(const LowerCx *cx, Fn *fn);         /* bytes of shared memory of a thread block, at most; asks */
#define PASS(id, name, form, level, doc) void pass_##id(Module *m, const LowerCx *cx);
#include "lower/passes.def"
#undef PASS
#endif
