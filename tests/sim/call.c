/* Calls kernels of a placed text in the simulator: call FILE.ir < requests > answers. A request: kernel, version (a length and bytes each),
 * dimensions (how many, 64 bits each), arguments (how many; of each, bytes from a multiple of 256 on, its length, its bytes). An answer:
 * whether the version's kernel for short rows would be started (64 bits); the fault (a length and bytes), then the arguments' bytes.
 * With a `?` before the kernel's name, that is all: nothing is run, and bytes of scalars alone are given. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ctile_sim_launch(const char *ir, unsigned long n, const char *kernel, int checked, const int64_t *dim, void *const *arg, char *why,
	unsigned long room);
int ctile_sim_is_short(const char *ir, unsigned long n, const char *kernel, const int64_t *dim, void *const *arg);

enum { MOST = 64, ROOM = 400, ALIGN = 256, SCALAR = 8 };

static int64_t number(void)
{
	int64_t n;
	if (fread(&n, sizeof n, 1, stdin) != 1) exit(feof(stdin) ? 0 : 2);
	return n;
}

static void bytes(void *to, int64_t n)
{
	if (fread(to, 1, (size_t)n, stdin) != (size_t)n) exit(2);
}

static void text(char *to)
{
	int64_t n = number();
	if (n >= ROOM) exit(2);
	bytes(to, n);
	to[n] = 0;
}

static char *read_file(const char *path, long *n)
{
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) || (*n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) exit(2);
	char *r = malloc((size_t)*n + 1);
	if (!r || fread(r, 1, (size_t)*n, f) != (size_t)*n) exit(2);
	r[*n] = 0;
	fclose(f);
	return r;
}

int main(int argc, char **argv)
{
	long n;
	char *ir = argc > 1 ? read_file(argv[1], &n) : NULL;
	if (!ir) return 2;
	for (;;) {
		char kernel[ROOM], version[ROOM], why[ROOM] = "";
		int64_t dim[MOST], size[MOST], front;
		void *arg[MOST], *held[MOST];
		text(kernel);
		text(version);
		int asks = kernel[0] == '?';
		int64_t ndim = number();
		for (int64_t i = 0; i < ndim; i++) dim[i] = number();
		int64_t narg = number();
		for (int64_t i = 0; i < narg; i++) {
			front = number();
			size[i] = number();
			held[i] = aligned_alloc(ALIGN, (size_t)(front + size[i] + 2 * ALIGN - 1) / ALIGN * ALIGN);
			arg[i] = (char *)held[i] + front;
			if (!asks || size[i] <= SCALAR) bytes(arg[i], size[i]);
		}
		setenv("CTILE_SIM_VERSION", version, 1);
		int64_t is_short = ctile_sim_is_short(ir, (unsigned long)n, kernel + asks, dim, arg);
		fwrite(&is_short, sizeof is_short, 1, stdout);
		if (!asks) ctile_sim_launch(ir, (unsigned long)n, kernel, 0, dim, arg, why, sizeof why);
		int64_t said = (int64_t)strlen(why);
		fwrite(&said, sizeof said, 1, stdout);
		fputs(why, stdout);
		for (int64_t i = 0; i < narg; i++) {
			if (!asks) fwrite(arg[i], 1, (size_t)size[i], stdout);
			free(held[i]);
		}
		fflush(stdout);
	}
}
