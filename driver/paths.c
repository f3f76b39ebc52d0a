/* File names; see paths.h. */
#define _XOPEN_SOURCE 700
#include "driver/paths.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

Str path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return str_intern(slash ? slash + 1 : path);
}

Str path_with_ending(const char *path, const char *ending)
{
	const char *base = strrchr(path, '/');
	base = base ? base + 1 : path;
	const char *dot = strrchr(base, '.');
	size_t n = dot && dot != base ? (size_t)(dot - path) : strlen(path);
	return str_fmt("%.*s%s", (int)n, path, ending);
}

/* C11, the POSIX headers that those of usual C libraries include, and what nvcc includes by itself. */
bool path_is_system_header(Str base)
{
	static const char *const names[] = {
		"assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale", "math",
			"setjmp", "signal",
		"stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string",
		"tgmath",
		"threads", "time", "uchar", "wchar", "wctype",
		"alloca", "dlfcn", "endian", "features", "fcntl", "malloc", "memory", "poll", "pthread", "sched", "search",
		"strings",
		"syscall", "unistd", "values",
		"builtin_types", "channel_descriptor", "common_functions", "cuda", "cuda_bf16", "cuda_fp16", "cuda_fp8",
		"cuda_runtime",
		"cuda_runtime_api", "device_functions", "device_types", "driver_types", "host_config", "host_defines",
		"library_types",
		"math_constants", "math_functions", "mma", "omp", "surface_types", "texture_types", "vector_functions",
		"vector_types"
	};
	size_t n = strlen(base);
	if (n < 3 || strcmp(base + n - 2, ".h") != 0) return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == n - 2 && strncmp(base, names[i], n - 2) == 0) return true;
	return false;
}

Str path_absolute(const char *path)
{
	char here[4096];
	if (path[0] == '/' || !getcwd(here, sizeof here)) return str_intern(path);
	while (path[0] == '.' && path[1] == '/') path += 2;
	return str_fmt("%s/%s", strcmp(here, "/") == 0 ? "" : here, path);
}

static Str folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash != path ? str_intern_n(path, (size_t)(slash - path)) : str_intern("/");
}

Str path_stdlib(void)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (n <= 0) return NULL;
	exe[n] = 0;
	Str up = folder_of(folder_of(exe));
	Str dirs[] = { str_fmt("%s/share/ctilec/stdlib", up), str_fmt("%s/stdlib", up),
		str_fmt("%s/stdlib", folder_of(up)) };
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		struct stat st;
		if (stat(dirs[i], &st) == 0 && S_ISDIR(st.st_mode)) return dirs[i];
	}
	return NULL;
}
