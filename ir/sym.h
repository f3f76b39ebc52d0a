/* Symbolic integers: exact (mathematical, i64 at run time with overflow checked) expressions over a kernel's
 * dimensions, scalar parameters, block indices and loop counters; facts about them; questions with the answers yes or
 * "not proved". Hash-consed and kept in a normal form: sums of products in a fixed order, so equal polynomials are the
 * same pointer. Used by three parties: the launcher (evaluates extents, grids, conditions), the checker (are two
 * extents equal), the passes (is this tile inside its tensor, is this address 16-byte aligned,
 * does this loop run at least once). */
#ifndef IR_SYM_H
#define IR_SYM_H
#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/out.h"
#include "base/str.h"
#include "base/src.h"

typedef struct Sym Sym;

typedef enum SymKind {
	SYM_CONST,      /* value */
	SYM_ATOM,       /* atom */
	SYM_ADD,        /* arg[0..n): at least 2, constant last */
	SYM_MUL,        /* arg[0..n): at least 2, constant coefficient first */
	SYM_DIV,        /* arg[0] / arg[1], truncating (for non-negative: floor) */
	SYM_CDIV,       /* smallest q with q * arg[1] >= arg[0], for arg[1] > 0 */
	SYM_MOD,        /* remainder of SYM_DIV */
	SYM_MIN, SYM_MAX,
	/* conditions: value 0 or 1 */
	SYM_EQ, SYM_NE, SYM_LT, SYM_LE,         /* > and >= are stored swapped */
	SYM_AND, SYM_OR, SYM_NOT,
	SYM_ALIGNED,    /* atom is a tensor parameter; value = bytes: its address is a multiple */
	SYM_SELECT      /* arg[0] ? arg[1] : arg[2] */
} SymKind;

typedef enum AtomKind {
	ATOM_DIM,       /* a dimension: 0 <= d < 2^31 (2^63 when i64) */
	ATOM_STRIDE,    /* a free stride: 0 <= s < 2^63, launcher argument */
	ATOM_PARAM,     /* an integer scalar parameter */
	ATOM_TENSOR,    /* only under SYM_ALIGNED */
	ATOM_BID,       /* bid(index): 0 <= b < grid extent */
	ATOM_PHASE,     /* phase(name): the address of a tensor parameter modulo 128; in guards of versions alone, as is */
	ATOM_BLOCKS,    /* blocks(): the tile blocks of a call */
	ATOM_VAL        /* value `index` of the function being analysed (loop counter or opaque) */
} AtomKind;

struct Sym {
	SymKind kind;
	AtomKind atom;
	Str name;               /* atoms */
	int index;              /* ATOM_BID: axis; ATOM_VAL: Val id */
	int64_t value;          /* SYM_CONST, SYM_ALIGNED */
	int n;
	const Sym *const *arg;
	uint32_t id;            /* creation order */
	uint32_t size;          /* nodes when written out as a tree, at most UINT32_MAX: shared parts count each time */
};

/* A caller that goes through a tree of unknown origin asks this first: nodes are
 * shared, so a tree may be exponential. */
enum { SYM_SIZE_MAX = 4096 };

const Sym *sym_const(int64_t v);
const Sym *sym_atom(AtomKind kind, Str name, int index);
const Sym *sym_add(const Sym *a, const Sym *b);
const Sym *sym_sub(const Sym *a, const Sym *b);
const Sym *sym_mul(const Sym *a, const Sym *b);
const Sym *sym_div(const Sym *a, const Sym *b);
const Sym *sym_cdiv(const Sym *a, const Sym *b);
const Sym *sym_mod(const Sym *a, const Sym *b);
const Sym *sym_min(const Sym *a, const Sym *b);
const Sym *sym_max(const Sym *a, const Sym *b);
const Sym *sym_cmp(SymKind kind, const Sym *a, const Sym *b);   /* EQ NE LT LE; folds constants */
const Sym *sym_logic(SymKind kind, const Sym *a, const Sym *b); /* AND OR; NOT takes a */
const Sym *sym_select(const Sym *c, const Sym *a, const Sym *b);
const Sym *sym_aligned(Str tensor, int64_t bytes);
bool sym_is_const(const Sym *s, int64_t *v);
/* f: replacement or NULL */
const Sym *sym_subst(const Sym *s, const Sym *(*f)(void *ctx, const Sym *atom), void *ctx);
void sym_atoms(const Sym *s, void (*f)(void *ctx, const Sym *atom), void *ctx);  /* each once, first appearance */
/* Is s made of what a launcher knows of a call, dimensions, strides and integer parameters, and no longer than what is
 * looked at? */
bool sym_is_of_call(const Sym *s);
void sym_print(Out *o, const Sym *s);                           /* as .tile source: "cdiv(n, 64)", "2 * r + 1" */
Str sym_text(const Sym *s);
/* Value for given atoms; false: overflow of i64 or division by zero. */
bool sym_eval(const Sym *s, bool (*value)(void *ctx, const Sym *atom, int64_t *v), void *ctx, int64_t *out);
/* The same of many expressions, whose common parts are computed once for the same atoms; these are others, and nothing
 * is known of them, where `now` is another number than before, not 0. */
typedef struct SymValue { int of; bool is; int64_t value; } SymValue;
typedef struct SymValues { SymValue *p; int n, cap, now; } SymValues;
bool sym_eval_known(const Sym *s, bool (*value)(void *ctx, const Sym *atom, int64_t *v), void *ctx, SymValues *known,
	int64_t *out);

/* ---- facts and proofs ---- */
typedef struct Facts Facts;
typedef struct Range { int64_t lo, hi; } Range;                 /* inclusive; INT64_MIN / INT64_MAX: unknown */

Facts *facts_new(const Facts *parent, Arena *a);  /* scoped: adds to what the parent knows; both grow in a */
void facts_range(Facts *f, const Sym *atom, int64_t lo, int64_t hi);    /* e.g. a dimension: 0 .. 2^31-1 */
/* lo <= atom < hi symbolically: bid, loop counters */
void facts_bound(Facts *f, const Sym *atom, const Sym *lo, const Sym *hi);
void facts_divisible(Facts *f, const Sym *s, int64_t by);
bool facts_assume(Facts *f, const Sym *cond);  /* a where clause, assume; false: contradicts what is known */
Range facts_eval_range(const Facts *f, const Sym *s);
int64_t facts_gcd(const Facts *f, const Sym *s);  /* largest power-of-two-or-known divisor; 0 means the value is 0 */
/* All of these: true = proved; false = not proved. */
bool facts_le(const Facts *f, const Sym *a, const Sym *b);
bool facts_lt(const Facts *f, const Sym *a, const Sym *b);
bool facts_eq(const Facts *f, const Sym *a, const Sym *b);
bool facts_holds(const Facts *f, const Sym *cond);
bool facts_fails(const Facts *f, const Sym *cond);              /* proved false */
#endif
