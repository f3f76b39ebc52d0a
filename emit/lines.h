/* #line directives. An emitter marks which line the following code comes from; lines_set, which copies a kernel's
 * finished body, prints a directive where the compiler's own count would be another, and before
 * lines that give code only.
 *
 * A line of a .tile becomes many lines of C, and a directive counts up. So that one is enough for statements that
 * follow each other, they stand in brackets, CT_LINE(...): what a macro expands to has the line where its name stands,
 * in the line tables of gcc, clang, nvcc and NVRTC. Statements whose middle is of other lines, loops for one, have a
 * directive for each of their own. */
#ifndef EMIT_LINES_H
#define EMIT_LINES_H
#include "emit/emit.h"

/* code from here on is of this place of a .tile; none: as before */
void lines_mark(Out *o, const EmitOptions *opt, Span s);
/* From the byte `split` on the text has directives of its own: something may come between. */
typedef struct Lined {
	size_t split;           /* where that part begins in o */
	bool any;               /* there are directives: lines_own must follow */
} Lined;
Lined lines_set(Out *o, const char *text, size_t split, const EmitOptions *opt);
void lines_begin(Out *o);  /* before all such texts of a file, if one has directives */
void lines_own(Out *o, const EmitOptions *opt);                 /* o is the file: lines are its own again */
#endif
