/* Persistent clusters, whose tile blocks follow each other: see pass persist. */
#include "placed/placed.h"

const Op *follow_mark(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_BID && ir_int(op, AT_FOLLOWS, 0)) return op;
	return NULL;
}

int follow_distance(const Fn *fn)
{
	const Op *mark = fn->cluster ? follow_mark(fn) : NULL;
	return mark ? (int)ir_int(mark, AT_FOLLOWS, 0) : 0;
}

int follow_groups(const Fn *fn) { return follow_distance(fn) ? (int)ir_int(follow_mark(fn), AT_GROUPS, 1) : 1; }
