/* #line directives. An emitter marks whose line the code behind is; lines_put, which copies the finished text into the file,
 * prints a directive where the compiler's own count would be another, and before lines that give code only.
 *
 * A line of a .tile becomes many lines of C, and a directive counts up. So that one is enough for statements that follow each
 * other, they stand in brackets, CT_LINE(...): what a macro expands to has the line where its name stands, in the line tables of
 * gcc, clang, nvcc and NVRTC. Statements whose middle is of other lines, loops for one, have a directive for each of their own. */
#ifndef EMIT_LINES_H
#define EMIT_LINES_H
#include "emit/emit.h"

void lines_mark(Out *o, const EmitOptions *opt, Span s);        /* code from here on is of this place of a .tile; none: as before */
void lines_own(Out *o, const EmitOptions *opt);                 /* from here on lines are those of the output again */
void lines_put(Out *o, const char *text, const EmitOptions *opt);
#endif
