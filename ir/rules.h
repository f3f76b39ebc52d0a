/* The language's type rules as pure functions: element types and shapes in, a type or the reason for refusing out.
 * Owns: common types, narrowing, broadcasting, the arithmetic and comparison conversions, mma's table, the limits of
 * tiles. Knows no source text and reports nothing: sema puts the reasons into words, the
 * verifier asks the same questions. */
#ifndef IR_RULES_H
#define IR_RULES_H
#include "ir/ir.h"

typedef enum RuleWhy {
	RULE_OK,
	RULE_SHAPES,            /* extents differ and neither is 1: axis, counted from the result's first axis */
	RULE_RANK,              /* the ranks do not suit the operation */
	RULE_NO_COMMON,         /* the element types have no common type */
	RULE_NARROWS,           /* operand `which` would have to be narrowed to elem */
	RULE_RESTRICTED,        /* operand `which` is tf32 or fp8: no arithmetic, no comparison */
	RULE_POINTER,           /* operand `which` is a pointer and the rule has no place for one */
	RULE_NOT_INT,           /* operand `which` is not integral */
	RULE_NOT_FLOAT,         /* operand `which` is not a basic float */
	RULE_ELEMENTS,          /* the result would have more than 2^24 elements */
	RULE_BYTES,             /* the result would be larger than 16 MiB */
	RULE_TILE_RANK,         /* the result would have more than TILE_RANK axes */
	RULE_SAME,              /* both must have the same element type */
	RULE_INNER,             /* mma: inner extents differ */
	RULE_ROWS, RULE_COLS, RULE_BATCH,       /* mma: the accumulator's or the batches' extents do not match */
	RULE_MMA_ELEM,          /* mma does not take operand `which`'s element type */
	RULE_MMA_ACC            /* mma does not accumulate into the accumulator's element type */
} RuleWhy;

typedef struct Ruling {
	RuleWhy why;
	int which;              /* 0, 1, 2: the operand at fault */
	int axis;
	Elem elem;              /* what the operands are converted to before the operation */
	const Type *type;       /* of the result; NULL unless RULE_OK */
} Ruling;

/* ---- element types ---- */
bool rule_common(Elem a, Elem b, Elem *common);         /* arithmetic common type; pointers: equal, or one is void */
bool rule_narrows(Elem from, Elem to);                  /* no implicit conversion in assignment, argument, store */
bool rule_keeps(const Op *op);          /* a conversion that gives every whole number as it is */
const Val *rule_kept(const Val *v);     /* before broadcasts and such conversions */
bool rule_converts(Elem from, Elem to);  /* explicit conversion exists: numeric to numeric, pointer to bool */

/* ---- shapes ---- */
RuleWhy rule_limits(Elem e, int rank, const uint8_t *log2);
/* right-aligned, equal or 1 in either; the greater; false: not at `axis` */
bool rule_mutual(const Type *a, const Type *b, int *rank, uint8_t log2[TILE_RANK], int *axis);
bool rule_one_way(const Type *from, int rank, const uint8_t *log2, int *axis);     /* right-aligned, equal or 1 */

/* ---- operations ---- */
Ruling rule_unary(TypeRule rule, const Type *x);
/* CONV CONV_INT CONV_FLT CONV_ANY_FLT CONV_TO_FLT CMP LOGIC SHIFT */
Ruling rule_binary(TypeRule rule, const Type *a, const Type *b);
Ruling rule_reduce(TypeRule rule, const Type *x, int axis);            /* REDUCE REDUCE_INT REDUCE_INDEX SCAN */
Ruling rule_cat(const Type *a, const Type *b, int axis);
/* acc NULL: the type of matmul's result. elem: of the accumulator. */
Ruling rule_mma(const Type *a, const Type *b, const Type *acc);
const char *rule_mma_accs(Elem e);                      /* "f16 or f32"; NULL: mma does not take e */
#endif
