/* Numbers in emitted C and C++. */
#ifndef EMIT_LITERAL_H
#define EMIT_LITERAL_H
#include "ir/ir.h"

Str literal_float(double f, bool single);       /* finite, with as few digits as give it back; "(-0.5f)" */
Str literal_int(Elem e, Num n);                 /* of 32 and 64 bits; NULL: another one */
#endif
