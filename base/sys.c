/* errno in plain words: only those that reading and writing files can meet; others get a general sentence. */
#define _POSIX_C_SOURCE 200809L
#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"

const char *sys_error(int err)
{
	switch (err) {
	case ENOENT: return "no such file or folder";
	case ENOTDIR: return "a part of the path is not a folder";
	case EACCES: case EPERM: return "permission denied";
	case EISDIR: return "is a directory";
	case ENOSPC: return "the disk is full";
	case EDQUOT: return "the disk quota is used up";
	case EFBIG: return "the file would become larger than allowed";
	case EROFS: return "the file system is read-only";
	case EPIPE: return "the reader closed the pipe";
	case EMFILE: case ENFILE: return "too many open files";
	case ENAMETOOLONG: return "the path is too long";
	case ELOOP: return "too many symbolic links";
	case EBADF: return "it is closed";
	case EIO: return "the device reports an input/output error";
	case ENOMEM: return "out of memory";
	default: return str_fmt("the system reports error %d", err);
	}
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int sys_folder(const char *path, const char ***names)
{
	VEC(const char *) v = { 0 };
	DIR *d = opendir(path);
	for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) vec_push(A_UNIT, &v, str_intern(e->d_name));
	if (d) closedir(d);
	if (v.n) qsort(v.p, (size_t)v.n, sizeof *v.p, by_bytes);
	*names = v.p;
	return v.n;
}
