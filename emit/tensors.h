/* Launchers: checks of the tensors of a call; see tensors.c. */
#ifndef EMIT_TENSORS_H
#define EMIT_TENSORS_H
#include "emit/emit.h"

void tensors_prologue(Out *o, const Module *m);         /* the functions, as much of them as the entries of m need */
/* Statements that return a status where a tensor of the call, or its workspace, is not as it must be. In scope: `int
 * ct_s`, and `int ct_bad` where there are checked expressions (host.h). */
void tensors_check(Out *o, const Entry *e, bool workspace);
#endif
