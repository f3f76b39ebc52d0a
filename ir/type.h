/* Types of IR values, hash-consed: equality is ==. A type prints itself as source text. */
#ifndef IR_TYPE_H
#define IR_TYPE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"

typedef enum ElemId {
#define ELEM(id, name, bytes, cls, rank, digits, c, cuda, tile, header, doc) EL_##id,
#include "ir/types.def"
#undef ELEM
	EL_COUNT
} ElemId;
typedef uint8_t Elem;                   /* an ElemId, or EL_PTR | pointee */
enum { EL_PTR = 0x40 };

typedef enum ElemClass { EC_BOOL, EC_SINT, EC_UINT, EC_FLOAT, EC_RFLOAT, EC_VOID } ElemClass;
typedef struct ElemRow {
	const char *id, *name;
	int bytes;
	ElemClass cls;
	int rank, digits;
	const char *c, *cuda, *tile, *header, *doc;
} ElemRow;
extern const ElemRow elem_rows[EL_COUNT];

static inline bool elem_is_ptr(Elem e) { return (e & EL_PTR) != 0; }
static inline Elem elem_pointee(Elem e) { return (Elem)(e & ~EL_PTR); }
static inline Elem elem_ptr_to(Elem e) { return (Elem)(e | EL_PTR); }
static inline int elem_bytes(Elem e) { return elem_is_ptr(e) ? 8 : elem_rows[e].bytes; }
Str elem_name(Elem e);                  /* "f32", "ptr<f32>" */
bool elem_by_name(Str name, Elem *e);
static inline bool elem_class_in(Elem e, unsigned set) { return !elem_is_ptr(e) && set >> elem_rows[e].cls & 1; }
/* signed and unsigned, not bool */
static inline bool elem_is_int(Elem e) { return elem_class_in(e, 1u << EC_SINT | 1u << EC_UINT); }
/* integers and bool */
static inline bool elem_is_integral(Elem e) { return elem_class_in(e, 1u << EC_BOOL | 1u << EC_SINT | 1u << EC_UINT); }
static inline bool elem_is_signed(Elem e) { return elem_class_in(e, 1u << EC_SINT); }   /* signed integers */
static inline bool elem_is_float(Elem e) { return elem_class_in(e, 1u << EC_FLOAT); }   /* f16 bf16 f32 f64 */
/* and the restricted ones */
static inline bool elem_is_any_float(Elem e) { return elem_class_in(e, 1u << EC_FLOAT | 1u << EC_RFLOAT); }
bool elem_is_arith(Elem e);             /* integral or float */
bool elem_is_numeric(Elem e);           /* arith or restricted */

typedef enum TypeKind {
	TY_SCALAR,      /* elem */
	TY_TILE,        /* elem, rank, log2[] */
	TY_VIEW,  /* elem, rank: memory with run-time extents and strides; static facts live in its defining op or Param */
	TY_TOKEN,       /* orders effects; carries nothing */
	TY_SHARED,      /* PLACED: a buffer in shared memory; elem, shape; its layout is in the defining op */
	/* PLACED: registers lent to the tensor cores; elem, shape. Only wgmma may touch them, until wgmma_wait */
	TY_ASYNC,
	TY_FRAG,        /* PLACED: an operand of mma_frag, in 32-bit registers as the instruction takes them; elem, shape */
	TY_RING,        /* PLACED: count buffers of one shape in shared memory; elem, shape, count */
	TY_MBAR,        /* PLACED: count mbarriers; count */
	TY_CURSOR,      /* PLACED: which of count buffers, and the phase of its mbarrier; count */
	TY_TMAP         /* PLACED: a tensor map; elem, shape: of one box */
} TypeKind;

enum { TILE_RANK = 8, TENSOR_RANK = 5, TILE_LOG2 = 24 };     /* limits: ranks; 2^24 elements */
enum { TILE_BYTES = 16 << 20 };                              /* and 16 MiB */

typedef struct Type {
	TypeKind kind;
	Elem elem;
	uint8_t rank;
	uint8_t log2[TILE_RANK];        /* log2 of each extent, slowest axis first; unused: 0 */
	/* an extent is (1 + more) << log2; other than 0 in PLACED only, and then 1 + more is odd */
	uint8_t more[TILE_RANK];
	uint16_t count;
	uint32_t id;                    /* order of creation: deterministic for the same input */
	Str text;                       /* "tile<f32, [4, 8]>" */
} Type;

const Type *type_scalar(Elem e);
const Type *type_tile(Elem e, int rank, const uint8_t *log2);   /* caller checked the limits (rules.h) */
const Type *type_view(Elem e, int rank);
const Type *type_shared(Elem e, int rank, const uint8_t *log2);
const Type *type_token(void);
/* PLACED. TILE, SHARED, ASYNC, RING and TMAP have a shape whose extents need not be powers of two: the layout of a
 * value describes the part of 1 << log2 elements, and registers or places are those of each part in turn, row-major. */
const Type *type_placed(TypeKind kind, Elem e, int rank, const uint8_t *log2, const uint8_t *more, int count);
int64_t type_parts(const Type *t);              /* how many such parts */
const Type *type_with_elem(const Type *t, Elem e);              /* same kind and shape */
const Type *type_with_shape(const Type *t, int rank, const uint8_t *log2);      /* a tile of t's element type */
static inline bool type_is_tile(const Type *t) { return t->kind == TY_TILE; }
static inline bool type_is_scalar(const Type *t) { return t->kind == TY_SCALAR; }
int type_log2_size(const Type *t);              /* of all elements; scalars: 0 */
int64_t type_size(const Type *t);               /* elements */
int64_t type_bytes(const Type *t);
int64_t type_extent(const Type *t, int axis);
bool type_is_row(const Type *t);                  /* has no more than one axis several elements? */
int type_row_axis(const Type *t);               /* the last axis that has; -1: none */
int type_only_axis(const Type *t);              /* the one axis that has; -1: none, or several */
int type_axis_shift(const Type *t, int axis);   /* log2 of the elements from one to the next along axis */
bool type_same_shape(const Type *a, const Type *b);
Str type_text(const Type *t);
Str shape_text(int rank, const uint8_t *log2);  /* "[4, 8]" */
#endif
