/* sim: PLACED kernels run on the host, thread by thread.
 *
 * Owns: what each operation of the PLACED form means (sim/ops.c has a row for each), the memory of thread blocks, and
 * the order in which warps run. Finds what values alone do not show: shared memory read before the barrier after
 * another thread's write, accesses outside of what they may touch, waits that never end. Counts what decides the speed
 * of kernels that move data. Assumes a verified kernel. Memory comes from the caller; everything
 * else is freed at the end of a run. */
#ifndef SIM_SIM_H
#define SIM_SIM_H
#include "emit/emit.h"
#include "ir/ir.h"

typedef struct SimCall {
	const Fn *fn;                   /* PLACED; of sim_version: the kernel */
	void *const *arg;               /* for each parameter: the tensor's first element, or where the scalar's value is */
	const int64_t *dim;             /* for each of fn->dims */
	bool checked;                   /* asserts and assumptions are tested, too */
	bool prints;                    /* `print` writes to standard output; else it only costs */
	bool shortened;                 /* fn is what sim_short made: pads of its tiles stand for those that are left out */
	uint32_t seed;                  /* 0: warps take turns; else they run in an order, and pause, as it says */
	int64_t most;                   /* tile blocks to run, spread over the grid; 0: all */
	int64_t work;                   /* operations of warps, at most; 0: so many that a loop does not end */
} SimCall;

/* Of one operation, or of all. Requests are what one warp asks of memory at once. */
typedef struct SimCount {
	/* global memory; least: sectors if the bytes were packed; bytes that were wanted */
	int64_t requests, sectors, least, bytes;
	/* requests to shared memory; wavefronts they take, and without bank conflicts */
	int64_t shared, wavefronts, ideal;
	int64_t shuffles, barriers;                     /* of warps */
} SimCount;

typedef struct SimResult {
	Span at;                        /* of the operation at fault */
	Str fault;                      /* NULL: none */
	bool stopped;                   /* for more operations than SimCall.work; then there is a fault, too */
	int64_t blocks, run;            /* tile blocks of the grid; how many of them ran */
	int64_t grid[4];
	int nop;                        /* operations in the order of the text, */
	const Op **op;
	SimCount *count;                /* and what each of them did */
	SimCount all;
} SimResult;

/* False: there is a fault. What r points to lives in A_TMP. */
bool sim_run(const SimCall *c, SimResult *r);
/* The value of a symbolic integer with these dimensions and arguments; false: it does not fit 64 bits. */
bool sim_sym(const SimCall *c, const Sym *s, int64_t *v);
/* The version of the kernel c->fn that a launcher takes for this call, or that of this name, where there is one and its
 * guard holds; #2: the third of those whose guards hold. */
const Version *sim_version(const SimCall *c, const Module *m, const char *name);
/* What a launcher starts of c->fn, a version: with so many warps, lanes and registers as the call's rows need
 * (short.c). *is_short: of its two kernels the one for rows that share thread blocks. */
const Fn *sim_short(const SimCall *c, bool *is_short);
/* Does the kernel make pointers of numbers, or load them? What they point to is not known here. */
bool sim_makes_pointers(const Fn *fn);
/* Has this operation of the PLACED form a meaning here? */
bool sim_knows(OpCode code);

/* program.c: --target=sim. The program holds the kernels as IR text; its launchers call ctile_sim_launch. */
void sim_program(Out *o, const Module *m, const EmitOptions *opt);
/* What such a program calls, from libctilec.a. ir: the kernels' text, n bytes. 0, or -1 with the fault in why. */
int ctile_sim_launch(const char *ir, unsigned long n, const char *kernel, int checked, const int64_t *dim,
	void *const *arg, char *why, unsigned long room);
/* What that would start: 1 for a version's kernel for rows that share thread blocks, 0 for its other one; -1: no such
 * kernel. */
int ctile_sim_is_short(const char *ir, unsigned long n, const char *kernel, const int64_t *dim, void *const *arg);

/* report.c: --report. sizes: "m=64,n=1000" or NULL. False: a kernel has a fault, which is printed. */
/* What is wrong with such a list for the kernels of m; NULL: nothing. */
Str sim_report_wrong(const Module *m, Str sizes);
bool sim_report(Out *o, const Module *m, const EmitOptions *opt, Str sizes);
#endif
