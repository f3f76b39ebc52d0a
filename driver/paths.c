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
	Str dirs[] = { str_fmt("%s/share/ctilec/stdlib", up), str_fmt("%s/stdlib", up), str_fmt("%s/stdlib", folder_of(up)) };
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		struct stat st;
		if (stat(dirs[i], &st) == 0 && S_ISDIR(st.st_mode)) return dirs[i];
	}
	return NULL;
}
