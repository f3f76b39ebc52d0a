/* A wrong value that nothing was said of is an internal error, not a program with a statement less. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sema/sema_int.h"

static int ends_with(Sv (*make)(void))
{
	int status = 0;
	pid_t p = fork();
	if (p == 0) {
		if (!freopen("/dev/null", "w", stderr)) _exit(1);
		make();
		sv_poison_said();
		_exit(0);
	}
	waitpid(p, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static Sv wrong(void) { return sv_poison(((Span){ 0, 0 })); }
static Sv absent(void) { return sv_absent((Span){ 0, 0 }); }

int main(void)
{
	if (ends_with(wrong) != 70 || ends_with(absent) != 0) {
		printf("FAIL: poison without an error\n");
		return 1;
	}
	return 0;
}
