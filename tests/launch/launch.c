/* Calls of launchers, right and wrong: each with its status and its text. Then several threads at once. Included twice, the
 * headers must not mind; second.h belongs to another generated file of the same program. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launch.h"
#include "second.h"
#include "launch.h"
#include "second.h"
#ifdef THREADS
#include <pthread.h>
#endif

static int bad;

static void say(int line, const char *call, int got, int want, const char *text)
{
	const char *t = ctile_status_text(got);
	if (got == want && !strcmp(t, text)) return;
	printf("%s:%d: %s\n  gives  %d: %s\n  wanted %d: %s\n", __FILE__, line, call, got, t, want, text);
	bad++;
}
#define CALL(call, want, text) say(__LINE__, #call, call, want, text)
#define OK(call) say(__LINE__, #call, call, CTILE_OK, "success")
#define TRUE(x) do { if (!(x)) { printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #x); bad++; } } while (0)

static const int64_t big = INT64_C(1) << 31, most = INT64_MAX;
static float fx[4096], fy[4096];
static double dx[4096], dy[4096];
static int8_t b8x[4096], b8y[4096];
static int16_t hx[4096], hy[4096];
static int32_t ix[4096], iy[4096];
static uint8_t ux[4096], uy[4096];
static _Alignas(256) unsigned char space[4096];
static struct CUstream_st *const odd = (struct CUstream_st *)8;        /* no stream: the C target takes no notice */

static void dimensions(void)
{
	OK(copy(fx, fy, 100, NULL));
	OK(copy(fx, fy, 100, odd));
	OK(copy(fx, fy, 0, NULL));
	OK(copy(NULL, NULL, 0, NULL));
	CALL(copy(fx, fy, -1, NULL), CTILE_DIMENSION, "copy: n is -1, outside 0 to 2^31 - 1");
	CALL(copy(fx, fy, big, NULL), CTILE_DIMENSION, "copy: n is 2147483648, outside 0 to 2^31 - 1");
	CALL(copy(fx, fy, INT64_MIN, NULL), CTILE_DIMENSION, "copy: n is -9223372036854775808, outside 0 to 2^31 - 1");
	CALL(wide(ux, uy, -5, NULL), CTILE_DIMENSION, "wide: n is -5, below 0");
	OK(wide(ux, uy, 4096, NULL));
	CALL(wide(ux, ux + 4095, most, NULL), CTILE_OVERLAP, "wide: x and y overlap");
	CALL(computed(b8x, b8y, 1, big - 1, big - 1, big - 1, big - 1, NULL), CTILE_OVERFLOW, "computed: the size of a tensor does not fit 64 bits");
	CALL(computed(b8x, b8y, 1, big - 1, big - 1, 2, 1, NULL), CTILE_OVERFLOW, "computed: the size of x does not fit 64 bits");
	OK(computed(b8x, b8y, 7, 2, 3, 0, big - 1, NULL));
	TRUE(b8y[0] == 7);
	CALL(halves(b8x, b8y, 3, 4, NULL), CTILE_DIMENSION, "halves: extent 0 of x is -1");
	OK(halves(b8x, b8y, 4, 4, NULL));
}

static void views_of(void)
{
	enum { H = 5, W = 70 };
	for (int i = 0; i < H * W; i++) fx[i] = (float)i, fy[i] = -1;
	OK(views(fx, fy, fy + 1000, fy + 1100, fy + 1600, 2, 3, 9, H, W, NULL));
	for (int j = 0; j < W; j++) {
		TRUE(fy[3 * W + j] == fx[2 * W + j] + 1 && fy[2 * W + j] == -1 && fy[4 * W + j] == -1);
		for (int i = 0; i < H; i++) TRUE(fy[1100 + j * H + i] == fx[i * W + j]);
	}
	for (int i = 0; i < H; i++) TRUE(fy[1000 + i] == 2 * fx[i * W + W - 1]);
	for (int j = 3; j < 9; j++)
		for (int i = 0; i < H; i++) TRUE(fy[1600 + (j - 3) * H + i] == fx[i * W + j]);
	CALL(views(fx, fy, fy + 1000, fy + 1100, fy + 1600, -1, 3, 9, H, W, NULL), CTILE_WHERE, "views: where i >= 0 does not hold (i = -1)");
	CALL(views(fx, fy, fy + 1000, fy + 1100, fy + 1600, 4, 3, 9, H, W, NULL), CTILE_WHERE, "views: where i + 1 < h does not hold (i = 4, h = 5)");
	CALL(views(fx, fy, fy + 1000, fy + 1100, fy + 1600, 0, -3, 3, H, W, NULL), CTILE_WHERE, "views: where lo >= 0 does not hold (lo = -3)");
}

static void pointers(void)
{
	CALL(copy(NULL, fy, 1, NULL), CTILE_NULL, "copy: x is null but has elements");
	CALL(copy(fx, NULL, 1, NULL), CTILE_NULL, "copy: y is null but has elements");
	CALL(copy((const float *)(const void *)((const char *)fx + 2), fy, 1, NULL), CTILE_ALIGNMENT, "copy: x is not aligned to its 4-byte elements");
	CALL(add_into(dx, (double *)(void *)((char *)dy + 4), 1, NULL), CTILE_ALIGNMENT, "add_into: y is not aligned to its 8-byte elements");
	CALL(copy(fx, fx, 1, NULL), CTILE_OVERLAP, "copy: x and y overlap");
	CALL(copy(fx, fx + 99, 100, NULL), CTILE_OVERLAP, "copy: x and y overlap");
	CALL(copy(fx + 99, fx, 100, NULL), CTILE_OVERLAP, "copy: x and y overlap");
	OK(copy(fx, fx + 100, 100, NULL));
	OK(copy(fx + 100, fx, 100, NULL));
	CALL(add_into(dy + 1, dy, 2, NULL), CTILE_OVERLAP, "add_into: x and y overlap");
	OK(poke(&iy[5], 11, 1, NULL));
	TRUE(iy[5] == 11);
	OK(poke(NULL, 11, 0, NULL));
}

static void clauses(void)
{
	OK(ruled(fx, fy, 0, 2, 8, NULL));
	CALL(ruled(fx, fy, 0, 2, 6, NULL), CTILE_WHERE, "ruled: where n % 4 == 0 does not hold (n = 6)");
	CALL(ruled(fx, fy, 8, 2, 8, NULL), CTILE_WHERE, "ruled: where lo >= 0 && lo < n does not hold (lo = 8, n = 8)");
	CALL(ruled(fx + 1, fy, 0, 2, 8, NULL), CTILE_WHERE, "ruled: where aligned(x, 16) does not hold");
	OK(defined(ix, iy, 5, NULL));
	OK(row_of(fx, fy, 16, NULL));
	OK(row_of(fx, fy, 17, NULL));
	CALL(row_of(fx, fy, 65, NULL), CTILE_VARIANT, "row_of: no variant accepts this call; the last one: row: where cols <= BN does not hold (cols = 65, BN = 64)");
}

static void strides(void)
{
	OK(strided(hx, hy, 3, 5, 7, 1, 5, NULL));
	OK(strided(hx, hy, 3, 5, 0, 0, 5, NULL));
	CALL(strided(hx, hy, 3, 5, -7, 1, 5, NULL), CTILE_STRIDE, "strided: p is -7, below 0");
	CALL(strided(hx, hy, 3, 5, 7, 1, 4, NULL), CTILE_STRIDE, "strided: elements of the output y share an address");
	CALL(strided(hx, hy, 3, 5, 7, 1, 0, NULL), CTILE_STRIDE, "strided: elements of the output y share an address");
	OK(strided(hx, hy, 1, 5, 7, 1, 0, NULL));
	CALL(strided(hx, hy, 3, 5, most, 1, 5, NULL), CTILE_OVERFLOW, "strided: the size of x does not fit 64 bits");
}

static void grids(void)
{
	memset(iy, 0xff, sizeof iy);
	OK(boxes(ix, iy, 3, 4, 5, 6, NULL));
	for (int i = 0; i < 3 * 4 * 5 * 6; i++) TRUE(iy[i] == i / 120 + 10 * (i / 30 % 4) + 100 * (i / 6 % 5) + 1000 * (i % 6));
	TRUE(iy[360] == -1);
	OK(boxes(ix, iy, 3, 0, 5, 6, NULL));
	CALL(boxes(ix, NULL, 3, 4, 5, 6, NULL), CTILE_NULL, "boxes: y is null but has elements");
	OK(huge(ix, iy, 0, big - 1, big - 1, NULL));
	OK(huge(ix, iy, 3, 2, 1, NULL));
	CALL(huge(ix, iy, 2, 1 << 30, 1, NULL), CTILE_GRID, "huge: the grid has 2^31 tile blocks or more");
	CALL(huge(ix, iy, big - 1, big - 1, big - 1, NULL), CTILE_GRID, "huge: the grid has 2^31 tile blocks or more");
}

static void workspaces(void)
{
	float s[2] = { 0, 77 };
	for (int i = 0; i < 1000; i++) fx[i] = (float)(i % 10);
	size_t need = total_workspace(1000);
	TRUE(need >= 16 * sizeof(float) && need <= sizeof space);
	TRUE(copy_workspace(1000) == 0);
	for (int k = 0; k < 3; k++) {   /* whatever it holds */
		memset(space, 0xff, sizeof space);
		OK(total_ws(fx, s, 1000, space, need, NULL));
		TRUE(s[0] == 4500 && s[1] == 77);
	}
	OK(total_ws(fx, s, 0, space, sizeof space, NULL));
	TRUE(s[0] == 0);
	char text[200];
	snprintf(text, sizeof text, "total: needs a workspace of %d bytes aligned to 256, got %d bytes", (int)need, (int)need - 1);
	CALL(total_ws(fx, s, 1000, space, need - 1, NULL), CTILE_WORKSPACE, text);
	CALL(total_ws(fx, s, 1000, NULL, need, NULL), CTILE_WORKSPACE, "total: the workspace is null");
	CALL(total_ws(fx, s, 1000, space + 64, need, NULL), CTILE_WORKSPACE, "total: the workspace is not aligned to 256 bytes");
	CALL(total_ws(fx, s, -1, space, need, NULL), CTILE_DIMENSION, "total: n is -1, outside 0 to 2^31 - 1");
	OK(copy_ws(fx, fy, 10, NULL, 0, NULL));
}

static void texts(void)
{
	for (int i = 0; i <= CTILE_MEMORY; i++) {
		const char *t = ctile_status_text(i);
		TRUE(t && strlen(t) > 4 && !strstr(t, "unknown"));
	}
	TRUE(!strcmp(ctile_status_text(-1), "unknown status"));
	TRUE(!strcmp(ctile_status_text(1000), "unknown status"));
	CALL(second(fx, fy, -2, NULL), CTILE_DIMENSION, "second: n is -2, outside 0 to 2^31 - 1");
}

#ifdef THREADS
/* Each thread has its own memory, its own workspace and its own text. */
static void *worker(void *arg)
{
	long id = (long)(size_t)arg, wrong = 0;
	float *x = malloc(1000 * sizeof *x), *y = malloc(1000 * sizeof *y), s;
	void *w = aligned_alloc(256, 4096);
	for (int i = 0; i < 1000; i++) x[i] = (float)((i + id) % 10);
	for (int k = 0; k < 50; k++) {
		char text[100];
		snprintf(text, sizeof text, "copy: n is %ld, outside 0 to 2^31 - 1", -1 - id);
		wrong += copy(x, y, 1000, NULL) != 0 || memcmp(x, y, 1000 * sizeof *x) != 0;
		wrong += total_ws(x, &s, 1000, w, 4096, NULL) != 0 || s != 4500;
		int status = copy(x, y, -1 - id, NULL);
		wrong += status != CTILE_DIMENSION || strcmp(ctile_status_text(status), text) != 0;
	}
	free(x), free(y), free(w);
	return (void *)(size_t)wrong;
}

static void threads(void)
{
	pthread_t t[4];
	for (size_t i = 0; i < 4; i++) pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < 4; i++) {
		void *wrong;
		pthread_join(t[i], &wrong);
		TRUE(!wrong);
	}
}
#else
static void threads(void) {}
#endif

int main(void)
{
	dimensions();
	views_of();
	pointers();
	clauses();
	strides();
	grids();
	workspaces();
	texts();
	threads();
	if (!bad) printf("all calls as wanted\n");
	return bad != 0;
}
