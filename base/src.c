/* The list of loaded files, reading of files, and the mapping from places to lines. */
#define _POSIX_C_SOURCE 200809L
#include "base/src.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/sys.h"
#include "base/vec.h"

static VEC(Src *) src_list;
static uint64_t src_next = 1;

Src *src_add(Str path, const char *text, size_t len)
{
	if (len >= UINT32_MAX - src_next) return NULL;
	Src *s = NEW(A_UNIT, Src);
	s->path = path;
	s->text = text;
	s->len = (uint32_t)len;
	s->base = (uint32_t)src_next;
	s->index = src_list.n;
	src_next += len + 1;    /* one more, so that the end of a file is a place of its own */
	vec_push(A_UNIT, &src_list, s);
	return s;
}

int src_count(void)
{
	return src_list.n;
}

Src *src_at(int index)
{
	return src_list.p[index];
}

static Src *src_find(uint32_t pos)
{
	int lo = 0, hi = src_list.n;
	while (lo < hi) {
		int mid = (lo + hi) / 2;
		if (src_list.p[mid]->base <= pos) lo = mid + 1;
		else hi = mid;
	}
	return lo ? src_list.p[lo - 1] : NULL;
}

const Src *src_of(Span s)
{
	return s.hi ? src_find(s.lo) : NULL;
}

static void src_index_lines(Src *s)
{
	uint32_t n = 1, k = 1;
	for (uint32_t i = 0; i < s->len; i++) n += s->text[i] == '\n';
	s->line = NEW_ARRAY(A_UNIT, uint32_t, n);
	for (uint32_t i = 0; i < s->len; i++)
		if (s->text[i] == '\n') s->line[k++] = i + 1;
	s->nline = n;
}

Place src_place(uint32_t pos)
{
	Src *s = pos ? src_find(pos) : NULL;
	if (!s) return (Place){ NULL, 0, 0 };
	if (!s->line) src_index_lines(s);
	uint32_t off = pos - s->base, lo = 0, hi = s->nline, k = s->last;
	if (s->line[k] <= off && (k + 1 == hi || s->line[k + 1] > off)) lo = k, hi = k + 1;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (s->line[mid] <= off) lo = mid;
		else hi = mid;
	}
	s->last = lo;
	return (Place){ s, lo + 1, off - s->line[lo] + 1 };
}

/* ---- reading ---- */
enum { PIECE = 1 << 16 };

static size_t read_so_far;      /* by this run */

void src_begin(void) { read_so_far = 0; }

/* Piece by piece, so that what never ends takes no more memory than the limit. hint: its likely size. */
static char *src_read_stream(FILE *f, size_t hint, size_t *len, const char **why)
{
	size_t left = SRC_MOST - read_so_far, cap = (hint < left ? hint : left) + 2, n = 0;
	if (cap < 4096) cap = 4096;
	char *p = arena_alloc(A_UNIT, cap);
	for (;;) {
		size_t room = cap - 1 - n, got = fread(p + n, 1, room < PIECE ? room : PIECE, f);
		n += got;
		if (ferror(f)) {
			*why = sys_error(errno);
			return NULL;
		}
		if (n > left) {
			*why = SRC_TOO_LARGE;
			return NULL;
		}
		if (!got) break;
		if (n < cap - 1) continue;
		p = arena_grow(A_UNIT, p, n, cap * 2, 1);
		cap *= 2;
	}
	p[n] = 0;
	read_so_far += n;
	*len = n;
	return p;
}

char *src_read(const char *path, size_t *len, const char **why)
{
	if (strcmp(path, "-") == 0) return src_read_stream(stdin, 0, len, why);
	FILE *f = fopen(path, "rb");
	struct stat st;
	if (!f || fstat(fileno(f), &st) != 0) {
		*why = sys_error(errno);
		if (f) fclose(f);
		return NULL;
	}
	char *p = NULL;
	bool regular = S_ISREG(st.st_mode);
	if (S_ISDIR(st.st_mode)) *why = "is a directory";
	else if (regular && (uint64_t)st.st_size > SRC_MOST - read_so_far) *why = SRC_TOO_LARGE;
	else p = src_read_stream(f, regular ? (size_t)st.st_size : 0, len, why);
	fclose(f);
	return p;
}

/* ---- path prefixes ---- */
typedef struct PrefixMap { const char *from, *to; } PrefixMap;
static VEC(PrefixMap) src_maps;

void src_prefix_map(const char *from, const char *to)
{
	vec_push(A_UNIT, &src_maps, ((PrefixMap){ from, to }));
}

void src_prefix_map_first(const char *from, const char *to)
{
	src_prefix_map(from, to);
	for (int i = src_maps.n - 1; i > 0; i--) {
		PrefixMap t = src_maps.p[i];
		src_maps.p[i] = src_maps.p[i - 1];
		src_maps.p[i - 1] = t;
	}
}

Str src_mapped(Str path)
{
	for (int i = src_maps.n - 1; i >= 0; i--) {     /* as in gcc: the last one given that fits */
		PrefixMap m = src_maps.p[i];
		size_t n = strlen(m.from);
		if (strncmp(path, m.from, n) == 0) return str_fmt("%s%s", m.to, path + n);
	}
	return path;
}

Str span_source(Span at)
{
	const Src *src = src_of(at);
	if (!src || at.lo < src->base) return str_intern("x");
	const char *p = src->text + (at.lo - src->base);
	size_t n = at.hi - at.lo, k = 0;
	char *buf = arena_alloc(A_TMP, n + 1);
	for (size_t i = 0; i < n; i++) {
		bool space = p[i] == ' ' || p[i] == '\t' || p[i] == '\n' || p[i] == '\r';
		if (space && k && buf[k - 1] == ' ') continue;
		buf[k++] = space ? ' ' : p[i];
	}
	return str_intern_n(buf, k);
}
