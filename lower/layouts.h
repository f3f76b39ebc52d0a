/* Inside pass layouts: layouts.c gives them, by what layouts_ops.c says that each operation asks for. */
#ifndef LOWER_LAYOUTS_H
#define LOWER_LAYOUTS_H
#include "base/worklist.h"
#include "lower/placed.h"

/* A tile that is loaded or stored, and the axis along which its elements are adjacent in memory; -1: unknown. */
typedef struct Accessed { const Type *t; int fast; } Accessed;

typedef struct Places {
	Fn *fn;
	const LowerCx *cx;
	Threads threads;
	int nval;
	Lay *lay;               /* by Val id */
	bool *known;
	bool changed;
	int deepest;            /* how many loops lie around the innermost load of a tile */
	int largest;            /* log2 of the elements of the largest tile that is loaded */
	VEC(Accessed) accessed;         /* each once */
	bool placed_loads;      /* all loads have layouts */
	Overlap overlap;        /* loads that overlap */
	VEC(Op *) ops;          /* in pre-order */
	/* A rule looks only at the values that its op touches, so it says nothing new before one of them got a layout: the
	 * places in `ops` where FORWARD, BACKWARD, or a loop's initial values are to be asked again. */
	Worklist forward, backward, inits;
	int *first_user, *users;        /* who touches a value: places in `ops`, those of value i from first_user[i] on */
	int nchoice;
	Val **choice;  /* values that may be given a layout when nothing gives them one, the best to begin with first */
} Places;

/* layouts.c */
Val *place_home(Val *v);                        /* the argument that carries it, of a loop's result; else v */
bool place_known(const Places *p, Val *v);
Lay place_lay(const Places *p, Val *v);
void place_give(Places *p, Val *v, Lay l);      /* if it has none */
int place_depth(const Op *op);                  /* how many loops lie around it */

/* layouts_ops.c */
/* what operand i of a block's end becomes; NULL: none (a condition, scalars of a region) */
Val *place_target(const Op *end, int i);
bool place_is_forced(const Val *v);             /* its layout follows from the operands' in one way only */
Lay place_coalesced(const Places *p, const Op *op, const Type *t);      /* for a load or store of t */
void place_forward(Places *p, Op *op);          /* the layouts of its results, from those of its operands */
void place_backward(Places *p, Op *op);         /* the layouts that it wants for operands that have none */
/* the layout that operand i must have, all being known; false: any */
bool place_needs(Places *p, const Op *op, int i, Lay *l);
#endif
