/* Symbolic integers as checked expressions of launchers: `int ct_bad`, in scope, notes that one left 64 bits. */
#ifndef EMIT_EXPR_H
#define EMIT_EXPR_H
#include "emit/emit.h"

void host_expr(Out *o, const Sym *s);

/* A function's body, which begins with `int ct_bad` where checked expressions are printed into it. */
Out *host_body(const Out *o);
/* The same, where checked expressions belong to it that were printed since host_checked() returned a number. */
Out *host_body_since(const Out *o, int checked);
void host_body_end(Out *o, Out *body);
int host_checked(void);                         /* checked expressions that have been printed */
bool host_checks(void);                         /* were any printed in this function, so that ct_bad is there? */
const char *host_bad(void);                     /* "&ct_bad", for a checked function's call */
/* "if (ct_bad) return ...", which says that `what` does not fit, where the function has checked expressions at all. */
void host_overflow(Out *o, Str who, const char *what);

/* Subexpressions that have names. Predicted times and shares of work are a few hundred operations of which many occur
 * several times: written out they are thousands. So what occurs several times is a variable, and so are parts of long
 * expressions. */
typedef struct HostLets HostLets;
/* Of n expressions, which are all evaluated where this is called; prefix: of the names, "ct_v" for ct_v0, ct_v1 ... */
HostLets *host_lets(const Sym *const *s, int n, const char *prefix);
/* The i-th expression itself is a variable of this name. */
void host_lets_name(HostLets *l, int i, Str name);
void host_lets_print(Out *o, HostLets *l);
void host_expr_by(Out *o, const Sym *s, const HostLets *l);     /* what has a name is printed as that; l may be NULL */
/* ct_l0, ct_l1 ...: what a kernel takes as numbers */
void host_sizes(Out *o, Str kernel, const Sym *const *size, int n);
#endif
