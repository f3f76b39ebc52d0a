/* Text buffers, and sets of files that appear together. A file is staged as a temporary beside its final place;
 * out_commit renames what was staged. What was not committed is removed at exit.
 *
 * A buffer is a block of its own and not of an arena: the text of a program grows to many megabytes, and an arena would
 * keep every size that it had on the way. */
#define _XOPEN_SOURCE 700
#include "base/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/fmt.h"
#include "base/sys.h"
#include "base/vec.h"

enum { FIRST = 128, KEEP = 4096 };      /* bytes of a new buffer, of the largest one that waits for its next user */

static Out *spare;      /* given back, with their buffers */

static void out_room(Out *o, size_t n)
{
	size_t cap = o->cap ? o->cap : FIRST;
	while (cap - o->n <= n && cap <= SIZE_MAX / 2) cap *= 2;
	char *p = cap - o->n > n ? realloc(o->p, cap) : NULL;
	if (!p) die("out of memory");
	o->p = p;
	o->cap = cap;
}

Out *out_new(void)
{
	Out *o = spare;
	if (o) {
		spare = o->next;
		*o = (Out){ .p = o->p, .cap = o->cap };
	} else {
		o = NEW(A_UNIT, Out);
	}
	if (!o->cap) out_room(o, 0);
	o->p[0] = 0;
	o->bol = true;
	return o;
}

void out_free(Out *o)
{
#ifdef CT_ARENA_MALLOC
	bool keep = false;      /* memory checkers see who reads it afterwards */
#else
	bool keep = o->cap <= KEEP;
#endif
	if (!keep) free(o->p);
	*o = (Out){ .p = keep ? o->p : NULL, .cap = keep ? o->cap : 0, .next = spare };
	spare = o;
}

Str out_take(Out *o)
{
	Str s = str_intern_n(o->p, o->n);
	out_free(o);
	return s;
}

static void out_put(Out *o, const char *s, size_t n)
{
	if (o->cap - o->n <= n) out_room(o, n);
	memcpy(o->p + o->n, s, n);
	o->n += n;
	o->p[o->n] = 0;
}

void out_raw(Out *o, const char *s, size_t n)
{
	if (!n) return;
	out_put(o, s, n);
	o->bol = s[n - 1] == '\n';
}

static int lines_in(const char *s, size_t n)
{
	int lines = 0;
	for (const char *nl; (nl = memchr(s, '\n', n)); lines++) {
		n -= (size_t)(nl - s) + 1;
		s = nl + 1;
	}
	return lines;
}

void out_refer(Out *o, const char *s, size_t n)
{
	if (!n) return;
	vec_push(A_UNIT, &o->pieces, ((OutPiece){ o->n, s, n }));
	o->lines += lines_in(s, n);
	o->bol = s[n - 1] == '\n';
}

void out_reserve(Out *o, size_t n)
{
	if (o->cap - o->n <= n) out_room(o, n);
}

int out_line(Out *o)
{
	o->lines += lines_in(o->p + o->counted, o->n - o->counted);
	o->counted = o->n;
	return o->lines + 1;
}

/* Text that nests deeper goes no further to the right: a chain of `else if` nests as deep as it is long. */
enum { INDENT_MOST = 32 };

static void out_indent(Out *o)
{
	static const char tabs[] = "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t";
	int left = o->indent < INDENT_MOST ? o->indent : INDENT_MOST;
	for (; left > 0; left -= 16) out_put(o, tabs, (size_t)(left < 16 ? left : 16));
}

/* Line by line, each with the indentation that is due. */
static void out_text(Out *o, const char *s, size_t n)
{
	while (n) {
		const char *nl = memchr(s, '\n', n);
		size_t k = nl ? (size_t)(nl - s) + 1 : n;
		if (o->bol && *s != '\n') out_indent(o);
		out_put(o, s, k);
		o->bol = nl != NULL;
		s += k;
		n -= k;
	}
}

void out_puts(Out *o, const char *s)
{
	out_text(o, s, strlen(s));
}

/* Lines behind the first of what was written in place: they move as each gets its indentation. */
static void out_further_lines(Out *o, const char *at, size_t n)
{
	ArenaMark mark = arena_mark(A_TMP);
	out_text(o, arena_strndup(A_TMP, at, n), n);
	arena_release(A_TMP, mark);
}

void out_printf(Out *o, const char *fmt, ...)
{
	enum { LINE = 256 };    /* most are shorter */
	size_t before = o->n;
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	if (o->bol) out_indent(o);
	out_reserve(o, LINE);
	size_t room = o->cap - o->n;
	int length = fmt_text(o->p + o->n, room, fmt, ap);
	size_t n = length < 0 ? 0 : (size_t)length;
	va_end(ap);
	if (n >= room) {
		out_reserve(o, n);
		fmt_text(o->p + o->n, n + 1, fmt, again);
	}
	va_end(again);
	char *at = o->p + o->n;
	if (!n || *at == '\n') at = memmove(o->p + before, at, n);       /* nothing to indent */
	const char *nl = memchr(at, '\n', n);
	size_t first = nl ? (size_t)(nl - at) + 1 : n;
	if (n) o->bol = nl != NULL;
	o->n = (size_t)(at - o->p) + first;
	if (first < n) out_further_lines(o, at + first, n - first);
	o->p[o->n] = 0;
}

void out_in(Out *o)
{
	o->indent++;
}

void out_off(Out *o)
{
	o->indent--;
}

/* ---- files ---- */
typedef struct Staged { const char *tmp, *path; const Out *text; } Staged;     /* tmp NULL: written at commit */
static VEC(Staged) staged;

void out_discard(void)
{
	for (int i = 0; i < staged.n; i++)
		if (staged.p[i].tmp) unlink(staged.p[i].tmp);
	staged.n = 0;
}

/* The text from start to end, part by part, as long as f wants more. */
static bool out_parts(const Out *o, bool (*f)(void *ctx, const char *s, size_t n), void *ctx)
{
	size_t at = 0;
	for (int i = 0; i < o->pieces.n; i++) {
		const OutPiece *p = &o->pieces.p[i];
		if (!f(ctx, o->p + at, p->at - at) || !f(ctx, p->s, p->n)) return false;
		at = p->at;
	}
	return f(ctx, o->p + at, o->n - at);
}

static bool to_stream(void *f, const char *s, size_t n) { return !n || fwrite(s, 1, n, f) == n; }

static bool out_to_stream(const Out *o, FILE *f, const char **why)
{
	if (out_parts(o, to_stream, f) && fflush(f) == 0) return true;
	*why = sys_error(errno);
	return false;
}

static bool same_as_stream(void *f, const char *s, size_t n)
{
	char buf[4096];
	for (size_t k; n; s += k, n -= k) {
		k = n < sizeof buf ? n : sizeof buf;
		if (fread(buf, 1, k, f) != k || memcmp(buf, s, k) != 0) return false;
	}
	return true;
}

static bool out_same(const Out *o, const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f) return false;
	bool same = out_parts(o, same_as_stream, f) && fgetc(f) == EOF && !ferror(f);
	fclose(f);
	return same;
}

/* A new file gets the mode that fopen would give it, an old one keeps its own. */
static mode_t out_mode(const struct stat *old)
{
	if (old) return old->st_mode & 07777;
	mode_t mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static bool out_temporary(const Out *o, const char *path, const struct stat *old, const char **why)
{
	static bool at_exit;
	if (!at_exit) at_exit = atexit(out_discard) == 0;
	char *tmp = arena_printf(A_UNIT, "%s.XXXXXX", path);
	int fd = mkstemp(tmp);
	if (fd < 0) {
		*why = sys_error(errno);
		return false;
	}
	vec_push(A_UNIT, &staged, ((Staged){ tmp, path, o }));
	FILE *f = fdopen(fd, "wb");
	if (!f) {
		*why = sys_error(errno);
		close(fd);
		return false;
	}
	setvbuf(f, NULL, _IOFBF, 1 << 16);      /* pieces are of some kilobytes */
	bool ok = out_to_stream(o, f, why);
	if (ok && fchmod(fd, out_mode(old)) != 0) {
		*why = sys_error(errno);
		ok = false;
	}
	if (fclose(f) != 0 && ok) {
		*why = sys_error(errno);
		ok = false;
	}
	return ok;
}

bool out_stage(const Out *o, const char *path, FileMode mode, const char **why)
{
	struct stat st;
	if (strcmp(path, "-") == 0) {
		vec_push(A_UNIT, &staged, ((Staged){ NULL, path, o }));
		return true;
	}
	if (stat(path, &st) != 0) return out_temporary(o, path, NULL, why);
	if (S_ISDIR(st.st_mode)) {
		*why = sys_error(EISDIR);
		return false;
	}
	if (!S_ISREG(st.st_mode)) {     /* a device or a pipe: nothing to rename */
		vec_push(A_UNIT, &staged, ((Staged){ NULL, path, o }));
		return true;
	}
	if (mode == FILE_KEEP_IF_SAME && out_same(o, path)) return true;
	if (access(path, W_OK) != 0) {  /* a rename would replace a file that its owner protected */
		*why = sys_error(errno);
		return false;
	}
	char *real = realpath(path, NULL);      /* through symbolic links, as a plain write would go */
	const char *final = real ? arena_strndup(A_UNIT, real, strlen(real)) : path;
	free(real);
	return out_temporary(o, final, &st, why);
}

static bool out_direct(const Staged *s, const char **why)
{
	if (strcmp(s->path, "-") == 0) return out_to_stream(s->text, stdout, why);
	FILE *f = fopen(s->path, "wb");
	if (!f) {
		*why = sys_error(errno);
		return false;
	}
	bool ok = out_to_stream(s->text, f, why);
	if (fclose(f) != 0 && ok) {
		*why = sys_error(errno);
		ok = false;
	}
	return ok;
}

/* Streams first: they may fail, and then no file has changed yet. */
bool out_commit(const char **why, const char **path)
{
	bool ok = true;
	for (int i = 0; i < staged.n && ok; i++) {
		*path = staged.p[i].path;
		if (!staged.p[i].tmp) ok = out_direct(&staged.p[i], why);
	}
	for (int i = 0; i < staged.n && ok; i++) {
		Staged *s = &staged.p[i];
		if (!s->tmp) continue;
		*path = s->path;
		ok = rename(s->tmp, s->path) == 0;
		if (ok) s->tmp = NULL;
		else *why = sys_error(errno);
	}
	out_discard();
	return ok;
}

bool out_write(const Out *o, const char *path, FileMode mode, const char **why)
{
	const char *at;
	if (out_stage(o, path, mode, why)) return out_commit(why, &at);
	out_discard();
	return false;
}
