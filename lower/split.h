/* Loops split over the grid: what split_plan.c finds out about a loop, and split.c writes. */
#ifndef LOWER_SPLIT_H
#define LOWER_SPLIT_H
#include "base/cost.h"
#include "ir/ir.h"
#include "ir/valsym.h"

/* A value that a loop carries. Each iteration combines it with something that depends on nothing that is carried; or it
 * goes with such a value (its key), and changes where an iteration's number is strictly less, or greater, than the
 * key; or it is part of a tuple. */
typedef struct Carried {
	OpCode combine;         /* of it, or of its key */
	int64_t nan;            /* attribute AT_NAN of that operation */
	int key;                /* the number of its key among the carried values; -1: it is combined itself */
	const Type *type;
	int tuple, part;        /* the number of its tuple, and of the function's result; -1: it belongs to none */
	/* A sum of powers (combine) of which the exponents are relative to this carried value, the greatest, times factor;
	 * -1: it is none. */
	int power;
	double factor;
} Carried;

/* Values of one shape that a loop carries together: each iteration combines them with others by the function of this
 * reduction, which is associative. The last ones may be scalars that are sums of their own, and belong to none. */
typedef struct CarriedTuple {
	const Op *reduce;       /* in SplitPlan.fn, or in no kernel */
	int n, at[COST_SPLIT_TUPLE];    /* the numbers of its parts among the carried values */
	/* Of a formula with quotients: by part, the Val id of what an iteration has of it, in SplitPlan.fn. */
	bool divides;
	int own[COST_SPLIT_TUPLE];
} CarriedTuple;

typedef struct SplitLoop {
	int at;                 /* the number of its operation in the kernel's body */
	Elem counter;
	const Sym *lo, *hi;
	int64_t step;
	VEC(Carried) carried;
	VEC(CarriedTuple) tuples;
} SplitLoop;

typedef struct SplitPlan {
	Fn *fn;
	VEC(SplitLoop) loops;   /* from the first one of the kernel on */
	bool storing;           /* is there a loop after them that is shared out, too? It carries nothing. */
	SplitLoop stores;
} SplitPlan;

bool split_plan(SplitPlan *p, Fn *fn);          /* false: there is no such loop */
bool split_may_stand(const Op *op);             /* in a loop that is split, or around one */
bool split_know(SplitLoop *l, const Op *loop, ValSyms *syms);  /* false: its iterations are not known at launch */
const Val *split_yielded(const IrBlock *b, int i);      /* NULL: it ends otherwise */

/* ---- split_stores.c ---- */
void split_find_stores(SplitPlan *p);

/* ---- split_tuple.c ---- */
void split_find_tuples(const Fn *fn, const Op *loop, SplitLoop *l);    /* its carried values are listed */
Num split_identity(const CarriedTuple *t, int part);
/* The function's results of 2n arguments, scalars or tiles of one shape, the earlier ones first. */
void split_call(Builder *b, const CarriedTuple *t, Val *const *args, Val **result);
/* The n tiles reduced along an axis. */
void split_reduce(Builder *b, const CarriedTuple *t, int axis, Val *const *x, Val **result);

/* ---- split_powers.c ---- */
bool *split_follows(const Fn *fn, const Op *loop, const bool *on);     /* By Val id: from carried values that are on? */
void split_find_powers(const Fn *fn, const Op *loop, SplitLoop *l);    /* among what nothing else explains */
void split_guard_powers(Op *loop, const SplitLoop *l);  /* of a share: bases are finite */
Val *split_base(Builder *b, Val *most);         /* 0 where it is -inf */
/* The sum x of powers relative to `from` as one relative to `to`: x * exp((from - to) * factor). */
Val *split_move(Builder *b, const Carried *c, Val *x, Val *from, Val *to);

/* ---- split_formula.c ---- */
void split_find_formula(const Fn *fn, const Op *loop, SplitLoop *l);   /* of what nothing else explains */
/* In a copy of SplitPlan.fn, which is not changed otherwise yet: where what is carried, or what the iteration has, is
 * the identity of a formula with quotients, the other one is what is carried then. */
void split_guard_formulas(Fn *copy, Op *loop, const SplitLoop *l);
#endif
