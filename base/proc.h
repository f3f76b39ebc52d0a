/* Other programs. */
#ifndef BASE_PROC_H
#define BASE_PROC_H
#include <stdbool.h>

/* argv ends with NULL; the first is looked for on the PATH. What the program prints goes to the file `log`. */
typedef struct Proc {
	const char *const *argv;
	const char *log;
	int status;             /* its exit status; 127: it could not be started, 128 and more: a signal ended it */
} Proc;

void proc_run_all(Proc *p, int n, int jobs);    /* so many at once; returns when all have ended */
int proc_run(const char *const *argv, const char *log);         /* its status */
int proc_cores(void);
bool proc_folder(char *name_template);          /* makes a new folder of this name, which ends in XXXXXX */
#endif
