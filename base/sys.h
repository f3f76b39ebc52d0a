/* Words for what the operating system refuses. Independent of the locale. */
#ifndef BASE_SYS_H
#define BASE_SYS_H

const char *sys_error(int err);         /* of errno: "permission denied"; never starts with a capital */
#endif
