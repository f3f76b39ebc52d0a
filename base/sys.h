/* Words for what the operating system refuses. Independent of the locale. */
#ifndef BASE_SYS_H
#define BASE_SYS_H

const char *sys_error(int err);         /* of errno: "permission denied"; never starts with a capital */
/* Names in a folder, in the order of their bytes; *names in A_UNIT. 0: none, or it cannot be read. */
int sys_folder(const char *path, const char ***names);
#endif
