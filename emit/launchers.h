/* Inside the launchers: what their files share.
 *
 *	status.c        what every output has once: checked arithmetic, texts of statuses
 *	where.c         conditions that a call must fulfil: where clauses, dimensions, and those of kernels (ct_fits_)
 *	steps.c         versions in several steps: their size, and running them one after the other
 *	entry.c         the public functions of an entry: checks, workspace, launches and which variant runs
 *	host.c          ct_run_<fn>, and all of it in order */
#ifndef EMIT_LAUNCHERS_H
#define EMIT_LAUNCHERS_H
#include "emit/host.h"
#include "emit/snippet.h"
#include "emit/wide.h"

typedef VEC(const Fn *) FnsWithFits;

typedef struct Launchers {
	const Module *m;
	Out *o;
	const WideDims *wide;
	FnsWithFits fits;       /* kernels whose calls have conditions of their own: ct_fits_<fn> */
} Launchers;

/* ---- status.c ---- */
extern const SnipTable checked_table;   /* checked arithmetic: what of it is printed is what is called */
void status_print(Out *o);

/* ---- where.c ---- */
/* fn: the kernel whose conditions they are, or NULL; said: their text is wanted, else a status will do if ct_say is
 * 0 */
void where_print(Out *o, Str who, const IrWhereVec *where, bool said, const Fn *fn);
void where_dims(Out *o, Str who, const IrDimVec *dims);
void host_defined_dims(Out *o, const Fn *fn);           /* those that the launcher computes */
void host_unused(Out *o, const IrParamVec *params, const IrDimVec *dims, const char *also);    /* also: or NULL */
void fits_print(Launchers *l, const Fn *fn);            /* only where there is something to fulfil */
bool fits_asked(const Launchers *l, const Fn *fn);      /* was there? */

/* ---- steps.c ---- */
void steps_print_size(Out *o, const Steps *s);  /* bytes of workspace of a call; 0: the kernel itself is taken */
void steps_print_run(Out *o, const Steps *s);   /* runs them, where there is workspace and the call is one of theirs */

/* ---- entry.c ---- */
void entry_print(Out *o, const Launchers *l, const Entry *e);
#endif
