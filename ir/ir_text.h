/* What the printer, the reader and the verifier of the IR share; nobody else includes it. */
#ifndef IR_IR_TEXT_H
#define IR_IR_TEXT_H
#include <stddef.h>

#include "ir/ir.h"

extern const char *const irt_layouts[5];        /* by LayoutKind */
bool irt_num_fits(Elem e, Num n);               /* n is a value of e, exactly */
/* Lines of a kernel's head that are one word each, for fields of Fn that are true. */
typedef struct FnFlag { const char *name; size_t offset; } FnFlag;
enum { FN_FLAGS = 11 };
extern const FnFlag irt_fn_flags[FN_FLAGS];
/* ir_check that also says where: the span of the op or entry. */
const char *irt_check(const Module *m, Span *at);
#endif
