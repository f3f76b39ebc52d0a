/* test_base.c: arenas, strings, nearest names, buffers, files, places, and how messages are drawn.
 * Prints one line per failing check; returns 1 if any failed. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/fmt.h"
#include "base/json.h"
#include "base/out.h"
#include "base/src.h"
#include "base/str.h"
#include "base/worklist.h"
#include "base/vec.h"

static int failures;

static void check_at(int line, int ok, const char *what)
{
	if (ok) return;
	failures++;
	printf("test_base.c:%d: %s\n", line, what);
}
#define CHECK(c) check_at(__LINE__, (c), #c)

static void same_text(int line, const char *have, const char *want)
{
	if (strcmp(have, want) == 0) return;
	failures++;
	printf("test_base.c:%d: got\n%s--- and not\n%s---\n", line, have, want);
}
#define SAME(have, want) same_text(__LINE__, (have), (want))

static void arenas(void)
{
	Arena *a = arena_new();
	ArenaMark empty = arena_mark(a);
	char *p = arena_alloc(a, 100);
	ArenaMark m = arena_mark(a);
	for (int i = 0; i < 100; i++) CHECK(p[i] == 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 1000; i++) {
			char *q = arena_alloc(a, (size_t)i * 7);
			CHECK((size_t)q % _Alignof(max_align_t) == 0);
			for (int k = 0; k < i * 7; k++)
				if (q[k]) CHECK(!"memory is zeroed");
			memset(q, 0xAA, (size_t)i * 7);
		}
		arena_release(a, m);
	}
	p[99] = 1;
	char *big = arena_alloc(a, 1 << 22);
	CHECK(big[(1 << 22) - 1] == 0 && arena_bytes(a) >= 1 << 22);
	arena_release(a, empty);
	CHECK(arena_bytes(a) <= 1 << 20);      /* what was given back does not count */
	int *v = arena_array(a, 3, sizeof *v);
	v[2] = 7;
	v = arena_grow(a, v, 3, 300, sizeof *v);
	CHECK(v[2] == 7 && v[3] == 0 && v[299] == 0);
	/* what was allocated last grows where it is, what was not is copied, and neither writes over its neighbour */
	int *first = arena_array(a, 2, sizeof *first), *second;
	first[0] = 1, first[1] = 2;
	first = arena_grow(a, first, 2, 6, sizeof *first);
	second = arena_array(a, 4, sizeof *second);
	second[0] = 9;
	CHECK(first[0] == 1 && first[1] == 2 && !first[2] && !first[5] && !second[3]);
	first[5] = 6;
	int *moved = arena_grow(a, first, 6, 40, sizeof *moved);
	CHECK(moved != first && moved[1] == 2 && moved[5] == 6 && !moved[6] && !moved[39] && second[0] == 9);
	moved = arena_grow(a, moved, 40, 1 << 20, sizeof *moved);       /* beyond the block */
	CHECK(moved[5] == 6 && !moved[40] && !moved[(1 << 20) - 1]);
	arena_free(a);
}

static void vectors(void)
{
	VEC(int) v = { 0 };
	for (int i = 0; i < 100000; i++) vec_push(A_TMP, &v, i);
	int wrong = 0;
	for (int i = 0; i < v.n; i++) wrong += v.p[i] != i;
	CHECK(v.n == 100000 && !wrong);
}

static const char *nearest(const char *word, const char *const *names)
{
	Near n;
	near_begin(&n, word);
	for (; *names; names++) near_offer(&n, str_intern(*names));
	return n.best ? n.best : "";
}

static void strings(void)
{
	static const char *const names[] = { "reduce_max", "reduce_min", "exp", "exp2", "sum", "gelu", NULL };
	CHECK(str_intern("abc") == str_intern_n("abcdef", 3));
	CHECK(str_intern("") == str_intern_n("x", 0) && str_len(str_intern("")) == 0);
	CHECK(str_fmt("%0300d", 7) == str_fmt("%0300d", 7) && str_len(str_fmt("%0300d", 7)) == 300);
	CHECK(strcmp(str_i64(INT64_MIN), "-9223372036854775808") == 0);
	for (int i = 0; i < 50000; i++) CHECK(str_fmt("n%d", i) == str_fmt("n%d", i));
	SAME(nearest("reduce_mxa", names), "reduce_max");
	SAME(nearest("reducemax", names), "reduce_max");
	SAME(nearest("reduce_mix", names), "reduce_max");
	SAME(nearest("smu", names), "sum");
	SAME(nearest("summ", names), "sum");
	SAME(nearest("xy", names), "");
	SAME(nearest("celu", names), "");               /* a short word with another first letter is another word */
	SAME(nearest("usm", names), "sum");
	SAME(nearest("softmax", names), "");
}

/* fmt_text gives what vsnprintf gives, also where the buffer is too small. */
__attribute__((format(printf, 2, 3))) static void same_format(int line, const char *fmt, ...)
{
	for (size_t room = 0; room < 80; room++) {
		char have[81], want[81];
		va_list ap, again;
		memset(have, '#', sizeof have);
		memset(want, '#', sizeof want);
		va_start(ap, fmt);
		va_copy(again, ap);
		int n = fmt_text(have, room, fmt, ap), m = vsnprintf(want, room, fmt, again);
		va_end(ap);
		va_end(again);
		size_t written = room < (size_t)m + 1 ? room : (size_t)m + 1;
		check_at(line, n == m && memcmp(have, want, written) == 0 && have[written] == '#', "fmt_text is vsnprintf");
	}
}

static void formats(void)
{
	same_format(__LINE__, "%s", "");
	same_format(__LINE__, "plain, 100%%%c", 'x');
	same_format(__LINE__, "%d %i %d %d", 0, -1, INT_MAX, INT_MIN);
	same_format(__LINE__, "%u %lu %llu %zu", UINT_MAX, ULONG_MAX, ULLONG_MAX, (size_t)7);
	same_format(__LINE__, "%ld %lld %lld|%s|", LONG_MIN, LLONG_MIN, LLONG_MAX, "a text");
	same_format(__LINE__, "%s%5d %-4s %#x %.3s %g %s", "other", 7, "ab", 255u, "long", 0.5, "directives");
}

static void buffers(void)
{
	Out *o = out_new();
	out_puts(o, "a {\n");
	out_in(o);
	out_printf(o, "b%d;\n\nc;\n", 5);
	out_raw(o, "#raw\n", 5);
	out_off(o);
	out_puts(o, "}\n");
	SAME(o->p, "a {\n\tb5;\n\n\tc;\n#raw\n}\n");
	CHECK(out_line(o) == 7);
	CHECK(out_take(o) == str_intern("a {\n\tb5;\n\n\tc;\n#raw\n}\n"));
	Out *again = out_new();         /* the same buffer, as new */
	CHECK(again->n == 0 && *again->p == 0 && again->bol && out_line(again) == 1 && again->indent == 0);
	for (int i = 0; i < 3000; i++) out_puts(again, "0123456789");
	CHECK(again->n == 30000 && strlen(again->p) == 30000);
	out_free(again);
	Out *j = out_new();
	json_string(j, "a\"b\\c\n\t\x01\xC3\xA9\xFFz");
	SAME(j->p, "\"a\\\"b\\\\c\\n\\t\\u0001\xC3\xA9\\ufffdz\"");
}

/* Text that lies elsewhere is written in its place, and its lines count. */
static void pieces(const char *path)
{
	const char *why = NULL;
	size_t n;
	struct stat a, b;
	Out *o = out_new();
	out_refer(o, "a\nb\n", 4);
	out_printf(o, "c%d\n", 1);
	out_refer(o, "d", 1);
	out_refer(o, "\n", 1);
	CHECK(out_line(o) == 5 && o->bol);
	out_puts(o, "e");
	CHECK(out_line(o) == 5 && !o->bol && file_write(o, path, FILE_REWRITE, &why));
	char *text = src_read(path, &n, &why);
	CHECK(text && n == 10 && strcmp(text, "a\nb\nc1\nd\ne") == 0);
	CHECK(stat(path, &a) == 0 && file_write(o, path, FILE_KEEP_IF_SAME, &why) && stat(path, &b) == 0 && a.st_ino == b.st_ino);
	out_refer(o, "f", 1);
	CHECK(file_write(o, path, FILE_KEEP_IF_SAME, &why));
	text = src_read(path, &n, &why);
	CHECK(text && n == 11 && text[10] == 'f');
}

static void files(void)
{
	char dir[] = "/tmp/ctilec-test-XXXXXX", path[64], other[64];
	const char *why = NULL, *where = NULL;
	struct stat a, b;
	size_t n;
	if (!mkdtemp(dir)) {
		CHECK(!"mkdtemp");
		return;
	}
	snprintf(path, sizeof path, "%s/f", dir);
	snprintf(other, sizeof other, "%s/no/f", dir);
	pieces(path);
	Out *o = out_new();
	out_puts(o, "text\n");
	CHECK(file_write(o, path, FILE_REWRITE, &why));
	CHECK(stat(path, &a) == 0 && file_write(o, path, FILE_KEEP_IF_SAME, &why) && stat(path, &b) == 0 && a.st_ino == b.st_ino);
	CHECK(file_write(o, path, FILE_REWRITE, &why) && stat(path, &b) == 0 && a.st_ino != b.st_ino);
	CHECK(!file_write(o, dir, FILE_REWRITE, &why) && strcmp(why, "is a directory") == 0);
	CHECK(!file_write(o, other, FILE_REWRITE, &why) && strcmp(why, "no such file or folder") == 0);
	CHECK(!file_write(o, "/dev/full", FILE_REWRITE, &why) && strcmp(why, "the disk is full") == 0);
	/* one that fails takes the staged ones with it */
	out_puts(o, "more\n");
	CHECK(file_stage(o, path, FILE_REWRITE, &why) && file_stage(o, "/dev/full", FILE_REWRITE, &why));
	CHECK(!file_commit(&why, &where) && strcmp(where, "/dev/full") == 0);
	char *text = src_read(path, &n, &why);
	CHECK(text && n == 5 && strcmp(text, "text\n") == 0);
	CHECK(!src_read(dir, &n, &why) && strcmp(why, "is a directory") == 0);
	CHECK(!src_read(other, &n, &why));
	unlink(path);
	CHECK(rmdir(dir) == 0);         /* no temporary was left */
}

static Src *source(const char *name, const char *text)
{
	return src_add(str_intern(name), text, strlen(text));
}

static Span part(const Src *s, const char *word, uint32_t n)
{
	uint32_t at = s->base + (uint32_t)(strstr(s->text, word) - s->text);
	return (Span){ at, at + n };
}

static void places(void)
{
	Src *a = source("a.tile", "one\ntwo\n"), *b = source("b.tile", "");
	Place p = src_place(a->base + 5);
	CHECK(p.src == a && p.line == 2 && p.col == 2);
	p = src_place(a->base + a->len);
	CHECK(p.src == a && p.line == 3 && p.col == 1);
	p = src_place(b->base);
	CHECK(p.src == b && p.line == 1 && p.col == 1);
	CHECK(src_of((Span){ 0, 0 }) == NULL && src_place(0).src == NULL);
	src_prefix_map("/home/me", "/src");
	src_prefix_map_first("/home", "/h");
	SAME(src_mapped(str_intern("/home/me/k.tile")), "/src/k.tile");
	SAME(src_mapped(str_intern("/home/you/k.tile")), "/h/you/k.tile");
}

static const char *drawn(DiagFormat f)
{
	static char text[65536];
	DiagOptions o = { f, false, 20, false, false };
	FILE *to = tmpfile();
	diag_options(&o);
	diag_flush(to);
	rewind(to);
	text[fread(text, 1, sizeof text - 1, to)] = 0;
	fclose(to);
	return text;
}

static void labels(void)
{
	Src *s = source("gemm.tile", "kernel k() {\n  let b = load B[k, j];\n\tacc += a\xC3\xA9 @ b;\n}\n");
	Diag *d = diag(D_NOT_SUPPORTED, part(s, "@", 1), "this", "c");
	diag_label(d, part(s, "a\xC3\xA9", 3), "left");
	diag_label(d, part(s, "b;\n}", 1), "right");
	diag_label(d, part(s, "load B", 12), "from here");
	diag_help(d, "use another");
	SAME(drawn(DIAG_RICH),
		"error[E0900]: this is not supported yet by target `c`\n"
		"  --> gemm.tile:3:13\n"
		"   |\n"
		" 2 |   let b = load B[k, j];\n"
		"   |           ------------ from here\n"
		" 3 |     acc += a\xC3\xA9 @ b;\n"
		"   |            -- ^ - right\n"
		"   |            left\n"
		"   = help: use another\n");
}

static void whole_lines(void)
{
	Src *s = source("w.tile", "a {\n  b\n}\n\xE4\xB8\xAD x");
	diag(D_NOT_SUPPORTED, part(s, "{", 7), "this", "c");
	SAME(drawn(DIAG_RICH),
		"error[E0900]: this is not supported yet by target `c`\n"
		"  --> w.tile:1:3\n"
		"   |\n"
		" 1 | a {\n"
		"   |   ^ (to line 3)\n");
	diag(D_NOT_SUPPORTED, part(s, "x", 1), "this", "c");
	SAME(drawn(DIAG_RICH),
		"error[E0900]: this is not supported yet by target `c`\n"
		"  --> w.tile:4:5\n"
		"   |\n"
		" 4 | \xE4\xB8\xAD x\n"
		"   |    ^\n");
	diag(D_NOT_SUPPORTED, ((Span){ s->base + s->len, s->base + s->len }), "the end", "c");
	SAME(drawn(DIAG_SHORT), "w.tile:4:6: error: the end is not supported yet by target `c` [E0900]\n");
}

static void long_lines(void)
{
	char *text = arena_alloc(A_UNIT, 1 << 20);
	memset(text, 'x', (1 << 20) - 1);
	text[500000] = '@';
	Src *s = source("long.tile", text);
	diag(D_NOT_SUPPORTED, part(s, "@", 1), "this", "c");
	const char *out = drawn(DIAG_RICH);
	CHECK(strlen(out) < 1000 && strstr(out, "long.tile:1:500001") && strstr(out, "...xxx") && strstr(out, "^\n"));
	const char *caret = strrchr(out, '^'), *line = caret;
	while (line[-1] != '\n') line--;
	const char *above = line - 1;
	while (above[-1] != '\n') above--;
	CHECK(above[caret - line] == '@');
}

static void many(void)
{
	Src *s = source("m.tile", "a\nb\nc\nd\ne\nf\ng\nh\n");
	Diag *d = diag(D_NOT_SUPPORTED, part(s, "h", 1), "this", "c");
	for (int i = 0; i < 7; i++) diag_label(d, (Span){ s->base + (uint32_t)i * 2, s->base + (uint32_t)i * 2 + 1 }, "label %d", i);
	diag_help(d, "use another");
	const char *out = drawn(DIAG_RICH);
	int lines = 0;
	for (const char *p = out; *p; p++) lines += *p == '\n';
	CHECK(lines <= 10);
	/* the same message at the same place is said once */
	diag(D_NOT_SUPPORTED, part(s, "h", 1), "that", "c");
	diag(D_NOT_SUPPORTED, part(s, "h", 1), "that", "c");
	SAME(drawn(DIAG_SHORT), "m.tile:8:1: error: that is not supported yet by target `c` [E0900]\n");
}

/* Against a plain array, at sizes around what a word and a word of words hold. */
static void worklists(void)
{
	static const int sizes[] = { 0, 1, 63, 64, 65, 4096, 4097, 300000 };
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		int n = sizes[k];
		unsigned seed = 7;
		Worklist t = worklist_new(A_TMP, n);
		char *in = arena_alloc(A_TMP, (size_t)n + 1);
		CHECK(worklist_next(&t, 0) == -1 && worklist_prev(&t, n - 1) == -1);
		for (int step = 0; step < 2000 && n; step++) {
			seed = seed * 1664525u + 1013904223u;
			int i = (int)(seed >> 8) % n, j = i, least = -1, greatest = -1;
			if (seed & 128) worklist_add(&t, i), in[i] = 1;
			else worklist_remove(&t, i), in[i] = 0;
			if (step % 64) continue;
			for (j = i; j < n && least < 0; j++) if (in[j]) least = j;
			for (j = i; j >= 0 && greatest < 0; j--) if (in[j]) greatest = j;
			CHECK(worklist_next(&t, i) == least && worklist_prev(&t, i) == greatest);
		}
		worklist_fill(&t);
		int seen = 0;
		for (int i = worklist_next(&t, 0); i >= 0; i = worklist_next(&t, i + 1)) seen += i == seen;
		CHECK(seen == n);
		for (int i = worklist_prev(&t, n - 1); i >= 0; i = worklist_prev(&t, i - 1)) worklist_remove(&t, i), seen--;
		CHECK(seen == 0 && worklist_next(&t, 0) == -1);
	}
}

int main(void)
{
	A_UNIT = arena_new();
	A_TMP = arena_new();
	arenas();
	vectors();
	worklists();
	strings();
	formats();
	buffers();
	files();
	places();
	labels();
	whole_lines();
	drawn(DIAG_SHORT);
	long_lines();
	many();
	return failures != 0;
}
