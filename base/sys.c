/* errno in plain words: only those that reading and writing files can meet; others get a general sentence. */
#define _POSIX_C_SOURCE 200809L
#include "base/sys.h"

#include <errno.h>

#include "base/str.h"

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
