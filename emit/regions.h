/* Structured control flow as C text, for targets that carry values in variables: where loops, branches and scopes begin
 * and end, and which values go where. How a variable is declared, and how values are
 * copied into it, is the target's. */
#ifndef EMIT_REGIONS_H
#define EMIT_REGIONS_H
#include "ir/ir.h"

/* Where break, continue, leave and yield of the innermost construct put their values. */
typedef struct Frame {
	struct Frame *up;
	const Op *op;
	Str *slot;              /* names of the carried values or results, by number */
	bool *tile;             /* is it a tile? */
	int n;
} Frame;

typedef struct Regions {
	void *g;                /* the target's, its first argument */
	Out *o;
	Frame *frame;
	const char *forever;    /* head of a loop without an end: "for (;;)" */
	Str (*scalar)(void *g, const Val *v);
	void (*block)(void *g, const IrBlock *b);
	/* slot i of a frame; init NULL: none yet */
	void (*declare)(void *g, Frame *f, int i, const Val *like, const Val *init);
	/* op's operands from `first` on into the slots */
	void (*assign)(void *g, const Op *op, int first, const Frame *f);
	void (*bind)(void *g, const Val *v, const Frame *f, int i);             /* v is what lies in slot i */
	void (*used)(void *g, const Frame *f);                                  /* after a construct; NULL: nothing */
} Regions;

/* Slots for n values, with op's operands from `first` on as their first values; -1: without. */
void regions_open(Regions *r, Frame *f, const Op *op, int n, Val *const *like, int first);
void regions_bind(Regions *r, Val *const *v, const Frame *f);
void regions_run(Regions *r, Frame *f, const IrBlock *b);
void regions_close(Regions *r, const Op *op, const Frame *f);   /* the construct's results are the slots */
bool regions_construct(Regions *r, const Op *op);       /* while, if, scope, and what ends a block; false: another op */
#endif
