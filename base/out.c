/* Text buffers. A buffer is a block of its own and not of an arena: the text of a program grows to many megabytes, and
 * an arena would keep every size that it had on the way. */
#include "base/out.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/fmt.h"
#include "base/vec.h"

enum { FIRST = 128, KEEP = 4096 };      /* bytes of a new buffer, of the largest one that waits for its next user */

static Out *spare;      /* given back, with their buffers */

static void out_room(Out *o, size_t n)
{
	size_t cap = o->cap ? o->cap : FIRST;
	while (cap - o->n <= n && cap <= SIZE_MAX / 2) cap *= 2;
	char *p = cap - o->n > n ? realloc(o->p, cap) : NULL;
	if (!p) out_of_memory("");
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

void out_fit(Out *o)
{
	char *p = realloc(o->p, o->n + 1);
	if (!p) return;         /* it stays as it is */
	o->p = p;
	o->cap = o->n + 1;
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

/* Lines after the first of what was written in place: they move as each gets its indentation. */
static void out_further_lines(Out *o, const char *at, size_t n)
{
	ArenaMark mark = arena_mark(A_TMP);
	out_text(o, arena_strndup(A_TMP, at, n), n);
	arena_release(A_TMP, mark);
}

void out_vprintf(Out *o, const char *fmt, va_list ap)
{
	enum { LINE = 256 };    /* most are shorter */
	size_t before = o->n;
	va_list again;
	va_copy(again, ap);
	if (o->bol) out_indent(o);
	out_reserve(o, LINE);
	size_t room = o->cap - o->n;
	int length = fmt_text(o->p + o->n, room, fmt, ap);
	size_t n = length < 0 ? 0 : (size_t)length;
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

void out_printf(Out *o, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	out_vprintf(o, fmt, ap);
	va_end(ap);
}

void out_in(Out *o)
{
	o->indent++;
}

void out_off(Out *o)
{
	o->indent--;
}

bool out_parts(const Out *o, bool (*f)(void *ctx, const char *s, size_t n), void *ctx)
{
	size_t at = 0;
	for (int i = 0; i < o->pieces.n; i++) {
		const OutPiece *p = &o->pieces.p[i];
		if (!f(ctx, o->p + at, p->at - at) || !f(ctx, p->s, p->n)) return false;
		at = p->at;
	}
	return f(ctx, o->p + at, o->n - at);
}
