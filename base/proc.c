/* Runs other programs; see proc.h. */
#define _XOPEN_SOURCE 700
#include "base/proc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 127, SIGNALLED = 128 };

static pid_t start(const Proc *p)
{
	pid_t pid = fork();
	if (pid != 0) return pid;
	int log = open(p->log, O_WRONLY | O_CREAT | O_TRUNC, 0666), none = open("/dev/null", O_RDONLY);
	if (log < 0 || none < 0 || dup2(none, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) _exit(NOT_STARTED);
	execvp(p->argv[0], (char *const *)p->argv);
	_exit(NOT_STARTED);
}

static int status_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status); }

void proc_run_all(Proc *p, int n, int jobs)
{
	pid_t *pid = calloc((size_t)n + 1, sizeof *pid);
	int next = 0, running = 0;
	while (pid && (next < n || running)) {
		while (next < n && running < jobs) {
			p[next].status = NOT_STARTED;
			pid[next] = start(&p[next]);
			running += pid[next] > 0;
			next++;
		}
		int status;
		pid_t ended = running ? waitpid(-1, &status, 0) : 0;
		if (ended < 0) break;
		for (int i = 0; i < next && ended > 0; i++) {
			if (pid[i] != ended) continue;
			p[i].status = status_of(status);
			running--;
		}
	}
	free(pid);
}

int proc_run(const char *const *argv, const char *log)
{
	Proc p = { argv, log, 0 };
	proc_run_all(&p, 1, 1);
	return p.status;
}

int proc_cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : (int)n;
}

bool proc_folder(char *name_template) { return mkdtemp(name_template) != NULL; }
