/* What the printer, the reader and the verifier of the IR share; nobody else includes it. */
#ifndef IR_IR_TEXT_H
#define IR_IR_TEXT_H
#include "ir/ir.h"

extern const char *const irt_layouts[5];        /* by LayoutKind */
bool irt_is_name(const char *s);                /* an identifier, printed without quotes */
bool irt_num_fits(Elem e, Num n);               /* n is a value of e, exactly */
/* ir_check that also says where: the span of the op or entry. */
const char *irt_check(const Module *m, Span *at);
#endif
