// Calls kernels whose thread blocks share a row (rows.tile, rows.h) in many orders. What depends on time shows in long runs only.
//
//   rows [LAUNCHES [SEED [BURST [NAME AGAIN]]]]
//        LAUNCHES: so many, or 20s: for so long; BURST: up to so many between two waits (1); NAME: only kernels whose name, as in
//        add_rmsnorm_bf16_262144, contains this, on many rows, each call AGAIN times more before it is checked
//   rows LIBRARY... [LAUNCHES ...]     with other builds of the same kernels beside those of this program, all in turn
//   rows sanitize [I N]                each kernel, or every N-th from the I-th, on small shapes, from cudaMalloc: for compute-sanitizer
#include "rows.h"
#include <climits>
#include <ctime>
#include <dlfcn.h>
#include <string>
#include <vector>

static std::string name_of(const struct kernel *k)
{
	return std::string(kind_names[k->kind]) + (k->size == 2 ? "_bf16_" : "_f32_") + std::to_string(k->tile);
}

static std::vector<struct kernel> builds(int n, char **libraries)
{
	std::vector<struct kernel> all(kernels, kernels + COUNT(kernels));
	for (int i = 0; i < n; i++) {
		void *lib = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
		if (!lib) fail("dlopen", dlerror());
		for (size_t j = 0; j < COUNT(kernels); j++) {
			struct kernel k = kernels[j];
			k.fn = dlsym(lib, name_of(&k).c_str());
			if (k.fn) all.push_back(k);
		}
	}
	return all;
}

static std::vector<const struct kernel *> named(const std::vector<struct kernel> &all, const char *part)
{
	std::vector<const struct kernel *> found;
	for (const struct kernel &k : all)
		if (name_of(&k).find(part) != std::string::npos) found.push_back(&k);
	return found;
}

static int sanitize(size_t first, size_t step)
{
	static const int64_t shapes[][2] = {{2, 65536}, {2, 65528}, {1, 65529}, {1, 262144}, {1, 200000}, {1, 262137}, {1, 131072}, {1, 131063},
		{4, 4093}, {3, 4096}, {2, 30001}, {2, 32768}};
	int done = 0;
	fenced = 0;
	for (size_t i = first; i < COUNT(kernels); i += step)
		for (size_t s = 0; s < COUNT(shapes); s++)
			for (int off = 0; off < 2; off++) {
				struct call c;
				memset(&c, 0, sizeof c);
				c.k = &kernels[i];
				c.rows = shapes[s][0], c.cols = shapes[s][1], c.off = off;
				if (c.cols > c.k->tile || c.cols * 4 < c.k->tile) continue;
				prepare(&c);
				launch(&c);
				check(&c);
				finish(&c);
				done++;
			}
	printf("%d launches right\n", done);
	return 0;
}

int main(int argc, char **argv)
{
	int libraries = 0;
	RT(cudaFree(0));
	while (libraries + 1 < argc && strstr(argv[libraries + 1], ".so")) libraries++;
	std::vector<struct kernel> all = builds(libraries, argv + 1);
	argc -= libraries, argv += libraries;
	if (argc > 1 && !strcmp(argv[1], "sanitize")) return argc > 3 ? sanitize(strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0)) : sanitize(0, 1);
	const char *many = argc > 1 ? argv[1] : "2000";
	time_t until = *many && many[strlen(many) - 1] == 's' ? time(NULL) + atol(many) : 0;
	long launches = until ? LONG_MAX : atol(many), burst = argc > 3 ? atol(argv[3]) : 1, again = argc > 5 ? atol(argv[5]) : 0, done = 0;
	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	std::vector<struct call> calls;
	std::vector<const struct kernel *> some = named(all, argc > 4 ? argv[4] : "");
	if (some.empty()) {
		printf("no kernel is named %s\n", argv[4]);
		return 1;
	}
	while (done < launches && (!until || time(NULL) < until)) {
		size_t n = 1 + draw((uint32_t)burst);
		calls.resize(n);
		for (size_t i = 0; i < n; i++) draw_call(&calls[i], some[draw((uint32_t)some.size())], argc > 4 ? 1 : burst == 1 ? 50 : 0);
		wait();
		for (size_t i = 0; i < n; i++) launch(&calls[i]);
		char text[300];
		snprintf(text, sizeof text, "after %ld launches, one of the %zu up to: %s", done, n, calls[n - 1].text);
		doing = text;
		wait();
		if (again) {
			for (long k = 0; k < again * (long)n; k++) launch(&calls[draw((uint32_t)n)]);
			doing = text;
			for (size_t i = 0; i < n; i++) relaunch(&calls[i]);
			wait();
		}
		for (size_t i = 0; i < n; i++) check(&calls[i]);
		for (size_t i = 0; i < n; i++) finish(&calls[i]);
		done += (long)n * (again ? again + 2 : 1);
	}
	printf("%ld launches right\n", done);
	return 0;
}
