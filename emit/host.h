/* Launchers: plain C functions that check a call's contract and start kernels. Shared by all targets.
 *
 * For a kernel Fn: ct_fits_<fn>(args) says whether its where clauses hold; ct_run_<fn>(args) computes the grid and
 * starts it. For an Entry: the public functions f, f_workspace, f_ws. args: tensors, scalars, then the kernel's
 * dimensions. Text is C11 that C++ compiles as well. */
#ifndef EMIT_HOST_H
#define EMIT_HOST_H
#include "emit/expr.h"

typedef struct HostTarget {
	/* Prints statements that start fn. In scope: the parameters and dimensions under name_c of their names (dimensions
	 * as int64_t), int64_t ct_grid[4] (extents of the grid, 1 where unused), int64_t ct_blocks (their product, 1 ..
	 * 2^31-1), and struct CUstream_st *stream. Ends in `return CTILE_OK;` or another status through ct_fail. */
	/* a function int64_t ct_multiprocessors(void), of the current device; NULL: there is one */
	const char *multiprocessors;
	/* int ct_on_arch(int): whether the current device is of that architecture; NULL: it is of none */
	const char *on_arch;
	void (*start)(const struct HostTarget *t, Out *o, const Fn *fn, const EmitOptions *opt);
	void *kernels;          /* of the target: where `start` finds what it has printed of fn */
	/* Prints statements of ct_run_<fn> that come first of all: they may return what another kernel's
	 * start returns. May be NULL. */
	void (*instead)(Out *o, const Fn *fn);
	/* The function ct_clear(entry, pointer, bytes, stream), a status; printed where an entry has zeroed scratch. */
	const char *clear;
} HostTarget;

extern const char host_clear_memory[];  /* `clear` of targets that run on the host */
extern const char host_macros[];        /* CT_HELPER: a function that may go unused; before anything that uses it */
/* The host's part of a file: of checked arithmetic what is called, status texts, checks of tensors; starts, the
 * functions that the target's launchers share; the launchers, to which o refers. */
Out *host_launchers(const Module *m, const EmitOptions *opt, const HostTarget *t);
void host_print(Out *o, const Module *m, const char *starts, const Out *launchers);
/* ct_run_<fn> alone */
void host_run(Out *o, const Module *m, const Fn *fn, const EmitOptions *opt, const HostTarget *t);
void host_params(Out *o, const IrParamVec *params, const IrDimVec *dims);     /* "const float *x, int64_t n" */
void host_args(Out *o, const IrParamVec *params, const IrDimVec *dims);     /* the same as arguments: "x, n, " */
/* The integers and booleans among them: what sizes of workspace may depend on, besides dimensions. */
IrParamVec host_integers(const IrParamVec *params);
bool host_has_params(const IrParamVec *params, const IrDimVec *dims);       /* does host_params print any? */
/* Declares the extents of a kernel's grid and how many tile blocks these are: 0 or less where
 * there are none, or too many. */
void host_grid(Out *o, const Fn *fn, Str extents, Str blocks);
Str host_type(const IrParam *p);                /* "const float *", "int64_t ": goes before the name */
bool entry_has_scratch(const Entry *e);
#endif
