/* Inside the CUDA target: a kernel's versions (ir.h), of which the launcher takes one for each call. All have the same
 * parameters. versions.c prints their bodies, kernel.c what stands around one, launch.c the choice. */
#ifndef EMIT_CUDA_VERSIONS_H
#define EMIT_CUDA_VERSIONS_H
#include "emit/lines.h"
#include "emit_cuda/cu.h"
#include "emit_cuda/tmap.h"

typedef struct CuVersion {
	Version v;  /* its operations may be freed once its body is printed: what else is asked of them stands here */
	Str name;               /* of its kernel */
	Out *o;                 /* from the opening brace on */
	Lined line;             /* what lines_set says, whose split is the first access of memory */
	bool roles;             /* its warps have roles */
	bool dependent;         /* it waits for the kernel before it itself, so it may begin earlier */
	bool together;          /* its thread blocks wait for each other: all must run at once */
	int threads;            /* of a thread block */
	const Sym *warps;       /* that a call starts of a tile block; NULL: all */
	int share;              /* registers of a lane where the warps of a row have equal shares; 0: they have none */
	int beside;             /* places that those of a row need beside it */
	RowParts parts[LANES_LOG2 + 1];         /* of rows that 2^i lanes have, if rows share thread blocks */
	int short_lanes;                        /* log2 of the most lanes of those that are short */
} CuVersion;

/* A parameter of all versions: its type up to its name, that, and the launcher's variable for it. */
typedef struct CuParam { const char *type; Str name, given; } CuParam;
typedef VEC(CuParam) CuParams;

/* A grid and the order of its axes; what is known at launch of number i > 0 ends in _i. */
typedef VEC(const Fn *) CuGrids;        /* kernels that have it */

typedef struct CuKernel {
	const Fn *fn;           /* TYPED: what the launchers know */
	CuSyms launch;          /* ct_l0, ct_l1 ... */
	CuTmaps maps;           /* ct_m0, ct_m1 ... */
	CuParams params;        /* version_params, when all bodies are printed */
	VEC(CuVersion) versions;
	CuGrids grids;          /* those that versions have, that of fn first */
	bool packed;            /* one of them shares thread blocks */
	bool prints;            /* one of them calls printf */
	bool starts;            /* one of them needs more of a launch than its grid */
} CuKernel;
typedef VEC(CuKernel) CuKernels;

/* kernel.c */
Str arch_macro(const ArchRow *a);                       /* the macro that is 1 where code for it is compiled */
Str version_name(const NameSet *entries, const Version *v, const EmitOptions *opt);     /* none of the entries has it */
void version_note_grid(CuKernel *k, const Fn *fn);      /* before anything else is asked about its grid */
int version_grid(const CuKernel *k, const Fn *fn);      /* which of its grids a version has */
Str version_grid_name(const char *what, int grid);      /* ct_blocks, ct_blocks_1 ... */
Cu version_body(CuKernel *k, const Version *v, const EmitOptions *opt);
void version_params(CuKernel *k);                       /* those of the author, and what versions ask for beside them */
void version_print(Out *o, const CuKernel *k, const CuVersion *t, const EmitOptions *opt);
enum { DEPENDENT_FROM = 90 };   /* the first architecture whose kernels may begin while those before them end */
void version_ask(CuVersion *t);                         /* what is to be known of it when its operations are gone */
/* version_wait is printed before its first access of memory */
bool version_waits(const CuVersion *t, const EmitOptions *opt);
extern const char version_wait[], version_lets[];       /* and this before it where it is brief */
/* Of a version with short rows: whether rows of a call are, and log2 of the lanes that each then has: for the launcher
 * and for the kernel. */
Str version_short(const CuKernel *k, const CuVersion *t);
Str version_lanes(const CuKernel *k, const CuVersion *t);
bool version_same_lanes(const CuVersion *a, const CuVersion *b);        /* Are both of these alike? */

/* versions.c */
/* And all that they call. entries: the names of the file's C functions, which no kernel has. */
void versions_make(CuKernel *k, const Module *m, Versions of, const NameSet *entries, const EmitOptions *opt,
	SnipSet *used);
void versions_print(Out *o, const CuKernel *k, const EmitOptions *opt);         /* they stay where they are */

/* launch.c */
void launch_guards(CuKernel *k);  /* what they ask is known to the launcher: before version_params */
void launch_host(Out *o, const Module *m, const CuKernels *kernels, const EmitOptions *opt, const Beside *beside);
#endif
