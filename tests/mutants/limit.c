/* Linked with a mutant of the compiler, which may ask for memory without end: it gets BYTES of address space. */
#include <sys/resource.h>

__attribute__((constructor)) static void limit(void)
{
	struct rlimit r;
	if (getrlimit(RLIMIT_AS, &r) || (r.rlim_cur != RLIM_INFINITY && r.rlim_cur < BYTES))
		return;
	r.rlim_cur = BYTES;
	setrlimit(RLIMIT_AS, &r);
}
