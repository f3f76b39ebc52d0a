/* Inside the CUDA target: a kernel has several texts, of which the launcher takes one for each call.
 *
 * lower places a kernel once or more often (Fn.odd, cut, half, peel, twin, paired, whole, portable), and one placement may be
 * printed twice, for aligned tensors and for others. All texts of a kernel have the same parameters. texts.c decides which there
 * are, kernel.c prints one, launch.c the choice. */
#ifndef EMIT_CUDA_TEXTS_H
#define EMIT_CUDA_TEXTS_H
#include "emit/lines.h"
#include "emit_cuda/cu.h"
#include "emit_cuda/tmap.h"

/* The launcher takes the last one that serves a call but the first. */
typedef enum TextKind {
	TEXT_ANY,               /* serves all calls */
	TEXT_CUT,               /* rows that end early in their tile: the fewer elements kept, the later (lower/cut.c) */
	TEXT_HALF = TEXT_CUT + CUT_TEXTS,       /* the same with half the tile, and last with all of that (lower/half.c) */
	TEXT_PEELED = TEXT_HALF + CUT_TEXTS + 1,     /* rows at one phase in pieces: the fewer elements kept, the later (lower/peel.c) */
	TEXT_TWIN = TEXT_PEELED + PEEL_TEXTS,   /* the same for two rows at once (lower/twin.c) */
	TEXT_ALIGNED = TEXT_TWIN + PEEL_TEXTS,
	TEXT_PAIRED,            /* two tile blocks at once, of aligned tensors (lower/pair.c) */
	TEXT_WHOLE,             /* rows as long as their tile, of aligned tensors (lower/whole.c) */
	TEXTS_FOR_CALLS,
	TEXT_PORTABLE = TEXTS_FOR_CALLS,        /* serves all calls, where a device does not run the clusters of the others */
	TEXTS
} TextKind;

typedef VEC(Str) Conditions;    /* of the launcher */

typedef struct CuText {
	const Fn *fn;           /* the placement; NULL: there is no such text */
	Out *o;                 /* from behind the opening brace on */
	Lined line;             /* what lines_set says, whose split is the first access of memory */
	int blocks[2];          /* how many of it should fit a multiprocessor (bound.c): for several architectures, for its own alone */
	bool roles;             /* it has operations of groups */
} CuText;

/* A parameter of all texts: its type up to its name, that, and the launcher's variable for it. */
typedef struct CuParam { const char *type; Str name, given; } CuParam;
typedef VEC(CuParam) CuParams;

typedef struct CuTexts { CuText of[TEXTS]; } CuTexts;   /* for one architecture; the next may share them */

typedef struct CuKernel {
	const Fn *fn;           /* TYPED: what the launchers know */
	CuSyms launch;          /* ct_l0, ct_l1 ... */
	CuTmaps maps;           /* ct_m0, ct_m1 ... */
	CuParams params;        /* text_params, when all bodies are printed */
	CuTexts *by_arch;
	int64_t sure[TEXTS], kept[TEXTS];       /* a text with fewer registers is for rows from the one to below the other */
	bool packed;            /* one of them shares thread blocks */
	bool prints;            /* one of them calls printf */
	bool starts;            /* one of them needs more of a launch than its grid */
	Conditions needs;       /* what makes tensors aligned */
	Conditions lengths;     /* what has to lie between them */
	Str whole;              /* what makes rows as long as their tile */
	Conditions phases;      /* what makes rows begin at one phase */
} CuKernel;
typedef VEC(CuKernel) CuKernels;

static inline bool text_is_for_aligned(TextKind t) { return t == TEXT_ALIGNED || t == TEXT_PAIRED || t == TEXT_WHOLE; }

/* kernel.c */
Str text_arch(const ArchRow *a);                        /* the macro that is 1 where code for it is compiled */
void text_module(const Module *m);      /* whose entries text_name keeps apart from kernels */
Str text_name(const Fn *fn, const ArchRow *a, TextKind t);      /* fn: the placed kernel */
Cu text_body(CuKernel *k, const Fn *fn, const EmitOptions *opt, bool aligned);
void text_params(CuKernel *k);                          /* those of the author, and what texts ask for beside them */
void text_print(Out *o, const CuKernel *k, const CuText *t, TextKind kind, const ArchRow *a, const EmitOptions *opt);
enum { DEPENDENT_FROM = 90 };   /* the first architecture whose kernels may begin while those before them end */
bool text_dependent(const Fn *fn);                      /* it waits for the kernel before it itself, so it may begin earlier */
bool text_together(const Fn *fn);                       /* its thread blocks wait for each other: all must run at once */
bool text_waits(const CuText *t, const ArchRow *a);     /* text_wait is printed in front of its first access of memory */
extern const char text_wait[];

/* texts.c */
bool texts_any(const CuKernel *k, const EmitOptions *opt, TextKind t);          /* for some architecture */
void texts_make(CuKernel *k, int index, Module *const *placed, const EmitOptions *opt, SnipSet *used);        /* and all that they call */
void texts_print(Out *o, CuKernel *k, const EmitOptions *opt);                  /* they stay where they are */

/* launch.c */
void launch_host(Out *o, const Module *m, const CuKernels *kernels, const EmitOptions *opt, const Beside *beside);
#endif
