/* Files that appear only when complete, and together; and which paths are one file. */
#ifndef BASE_FILES_H
#define BASE_FILES_H
#include "base/out.h"

typedef enum { FILE_REWRITE, FILE_KEEP_IF_SAME } FileMode;
/* Writes through a temporary file in the same folder and a rename; "-" is standard output. FILE_KEEP_IF_SAME leaves
 * an equal file and its time stamp alone. False: nothing was changed and *why says why ("disk full", ...). */
bool file_write(const Out *o, const char *path, FileMode mode, const char **why);
/* Several files that change together or not at all: each is staged, then all are put in place. What a build compares
 * with its inputs, the program, is staged first: it is the first to go and the last to come. */
bool file_stage(const Out *o, const char *path, FileMode mode, const char **why);
bool file_commit(const char **why, const char **path);    /* *path: the one that failed */
void file_discard(void);

/* Whether a file that is written is a file that is read (or written too), however the paths are spelled; "-" is
 * standard output, or input. Devices and pipes are nobody's. */
typedef enum { FILE_READ, FILE_WRITTEN } FileUse;
bool file_is_same(const char *written, const char *other, FileUse use);
#endif
