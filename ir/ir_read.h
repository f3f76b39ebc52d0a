/* What the parts of the reader share: ir_read.c (modules, kernels), ir_read_sym.c, ir_read_type.c, ir_read_op.c,
 * ir_read_entry.c. Nobody else includes it. */
#ifndef IR_IR_READ_H
#define IR_IR_READ_H
#include "ir/ir_lex.h"

enum { ID_MAX = 1 << 20 };

typedef struct Slot { Str key; void *val; } Slot;
typedef struct Map { Slot *slot; uint32_t cap, n; } Map;        /* from names */
void *rd_get(const Map *m, Str key);
bool rd_put(Map *m, Str key, void *val);        /* false: it is there already */

typedef struct Reader {
	Lex l;
	int depth;
	Module *m;
	Fn *fn;                 /* of the kernel or version being read */
	VEC(Src *) files;       /* that places name by their number */
	Map fns;                /* by name */
	Map names;              /* of the kernel or entry: where the kind of a name's atom is */
	Map values;             /* of the kernel: by number, or by name where there is no number */
	VEC(Val *) unnumbered;
	Entry *entry;
	VEC(const IrParam *) scratch;
	Str owner;              /* name of the kernel or entry */
} Reader;

bool rd_deeper(Reader *r);                      /* whoever calls it takes one off r->depth after it */
Str rd_string(Reader *r, const char *what);
int rd_small(Reader *r, const char *what);      /* 0 to 2^31 - 1 */
IrParam rd_param(Reader *r);
IrDim rd_dim(Reader *r, bool is_stride);
IrWhere rd_where(Reader *r);
void rd_declare_names(Reader *r);
void rd_declare(Reader *r, Str name, AtomKind kind, Span at);   /* name NULL: nothing */
void rd_entry(Reader *r);

const Sym *rd_sym(Reader *r);
int rd_syms(Reader *r, int max, const Sym **out);

Elem rd_elem(Reader *r);
bool rd_lay(Reader *r, Lay *lay);               /* from the current `[` to the next `}` */
typedef struct TypeLay { const Type *type; const Lay *lay; } TypeLay;
TypeLay rd_type_lay(Reader *r);
typedef struct NumText { Str text; bool neg; Span at; } NumText;
NumText rd_num_text(Reader *r);
Num rd_num(Reader *r, Elem e, NumText t);

void rd_block(Reader *r, IrBlock *b);           /* [(arguments)] { operations } */
#endif
