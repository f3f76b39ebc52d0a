/* Integer values of a kernel as symbolic integers, with what is known where they stand. An SSA integer becomes a
 * symbolic one only where its own arithmetic is proved not to wrap; else it is an atom of its own, in the range of its
 * type. Used by passes bounds and offsets and by the checker's findings: both ask whether
 * places lie inside their tensors. */
#ifndef IR_VALSYM_H
#define IR_VALSYM_H
#include "ir/ir.h"

typedef struct ValSyms {
	const Fn *fn;
	const Sym **sym;        /* by Val id; NULL: not asked yet */
	Facts *facts;           /* what holds at the op under way */
	void *ctx;              /* of whoever visits accesses */
} ValSyms;

ValSyms valsyms_new(const Fn *fn);  /* after ir_number: knows what holds in every launch; in A_TMP */
const Sym *valsym(ValSyms *b, const Val *v);            /* never NULL */
/* The element of a tile of integers at a place along each of its axes, modulo 2^n for a type of n bits; a scalar's
 * places are not read. NULL: it is not known to be a sum of products. */
const Sym *valsym_element(ValSyms *b, const Val *v, const Sym *const *place);
const Sym *valsym_extent(ValSyms *b, const Val *view, int axis);        /* NULL: not known; so for strides */
const Sym *valsym_stride(ValSyms *b, const Val *view, int axis);
/* The first element of a load or store along an axis: index * step + offset. */
const Sym *valsym_access(ValSyms *b, const Op *op, int axis);
const IrParam *valsym_root(const ValSyms *b, const Val *view);  /* the parameter that a view came from, or NULL */
/* Enters a region of op: scoped facts, those of a loop's counter and, if wanted, of the condition of an if. *runs
 * false: it is never run. */
typedef struct ValSpot { Facts *outer; } ValSpot;
ValSpot valsyms_enter(ValSyms *b, const Op *op, int region, bool conditions, bool *runs);
void valsyms_leave(ValSyms *b, ValSpot s);
/* visit for each load and store of fn, with what is known there but for the conditions of ifs. Numbers fn. */
void valsyms_accesses(Fn *fn, void (*visit)(ValSyms *b, Op *op), void *ctx);
/* in launches of which guard holds */
void valsyms_accesses_where(Fn *fn, const Sym *guard, void (*visit)(ValSyms *b, Op *op), void *ctx);
#endif
