/* Diagnostics for people: the rich form with source lines, and the one-line form.
 * A mark is one span on one line. Lines are shown in order, the main file first; below a line come its underlines,
 * the rightmost label beside them, the others hanging below their start. Columns are display cells: tabs go to the
 * next multiple of four, wide characters take two cells, long lines are cut to a window around the first mark. */
#include <stdlib.h>
#include <string.h>

#include "base/diag_impl.h"
#include "base/json.h"
#include "base/show.h"

enum { MAX_LINES = 10, TAB = 4, WINDOW_BEFORE = 60, WINDOW = 160, MAX_PER_LINE = 16 };

typedef enum { PEN_NONE, PEN_BOLD, PEN_ERROR, PEN_WARNING, PEN_NOTE, PEN_HELP, PEN_GUTTER } Pen;

typedef struct Mark {
	const Src *src;
	uint32_t line, lo, hi;          /* bytes of the line, [lo, hi), at least one wide */
	uint32_t to_line;               /* where the span ends, if on a later line; else 0 */
	Str text;                       /* "" = only underlined */
	bool primary;
	int order;
} Mark;
typedef VEC(Mark) MarkVec;

typedef struct Rich { Out *o; bool color; int gutter; Pen pen; } Rich;

static const char *const pens[] = { "\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[1;35m", "\x1b[1;36m", "\x1b[1;32m",
	"\x1b[1;34m" };
static const char *const sev_name[] = { "error", "warning", "note" };
static const Pen sev_pen[] = { PEN_ERROR, PEN_WARNING, PEN_NOTE };

static void pen(Rich *r, Pen p)
{
	if (r->color && p != r->pen) out_raw(r->o, pens[p], strlen(pens[p]));
	r->pen = p;
}

static void put(Rich *r, const char *s)
{
	out_raw(r->o, s, strlen(s));
}

static void put_times(Rich *r, char c, int n)
{
	for (int i = 0; i < n; i++) out_raw(r->o, &c, 1);
}

static void end_line(Rich *r)
{
	pen(r, PEN_NONE);
	put(r, "\n");
}

/* "14 | " or "   | " */
static void gutter(Rich *r, uint32_t line)
{
	pen(r, PEN_GUTTER);
	if (line) out_printf(r->o, "%*u |", r->gutter, (unsigned)line);
	else out_printf(r->o, "%*s |", r->gutter, "");
	pen(r, PEN_NONE);
}

/* ---- one source line as display cells ---- */
typedef struct Line {
	const char *s;                  /* the window of its text that is shown */
	uint32_t from, n;               /* its place in the line */
	bool cut_left, cut_right;
	int *cell;                      /* cell[i]: column of byte i; cell[n]: of the end */
} Line;

static int char_width(int32_t c)
{
	if ((c >= 0x300 && c < 0x370) || (c >= 0x200B && c <= 0x200D) || c == 0xFEFF) return 0;
	bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
		(c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
		(c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
	return wide ? 2 : 1;
}

static Line line_window(const Src *s, uint32_t line, uint32_t first)
{
	uint32_t lo = s->line[line - 1], hi = line < s->nline ? s->line[line] - 1 : s->len;
	const char *p = s->text + lo;
	uint32_t n = hi - lo;
	if (n && p[n - 1] == '\r') n--;
	Line l = { p, 0, n, false, false, NULL };
	if (n > WINDOW) {
		uint32_t from = first > WINDOW_BEFORE && first + WINDOW_BEFORE > WINDOW ? first - WINDOW_BEFORE : 0;
		if (from > n) from = n;
		while (from && ((unsigned char)p[from] & 0xC0) == 0x80) from--;
		uint32_t to = n - from > WINDOW ? from + WINDOW : n;
		while (to < n && ((unsigned char)p[to] & 0xC0) == 0x80) to++;
		l = (Line){ p + from, from, to - from, from > 0, to < n, NULL };
	}
	l.cell = NEW_ARRAY(A_UNIT, int, l.n + 1);
	int col = l.cut_left ? 3 : 0, len;
	for (uint32_t i = 0; i < l.n; i += (uint32_t)len) {
		int32_t c = utf8_next(l.s + i, l.n - i, &len);
		for (int k = 0; k < len; k++) l.cell[i + (uint32_t)k] = col;
		col = c == '\t' ? (col / TAB + 1) * TAB : col + (c < 0 ? 1 : char_width(c));
	}
	l.cell[l.n] = col;
	return l;
}

static int line_cell(const Line *l, uint32_t byte)
{
	if (byte < l->from) return 0;
	uint32_t i = byte - l->from;
	return i <= l->n ? l->cell[i] : l->cell[l->n] + (int)(i - l->n > 1 ? 1 : i - l->n);
}

static void print_source(Rich *r, const Line *l)
{
	int len;
	if (l->cut_left) put(r, "...");
	for (uint32_t i = 0; i < l->n; i += (uint32_t)len) {
		int32_t c = utf8_next(l->s + i, l->n - i, &len);
		if (c == '\t') put_times(r, ' ', (l->cell[i] / TAB + 1) * TAB - l->cell[i]);
		else if (show_is_control(c)) put(r, "\xEF\xBF\xBD");
		else out_raw(r->o, l->s + i, (size_t)len);
	}
	if (l->cut_right) put(r, "...");
}

/* ---- underlines and labels of one line ---- */
typedef struct Under { int lo, hi; const Mark *m; } Under;

static int under_order(const void *a, const void *b)
{
	const Under *x = a, *y = b;
	if (x->lo != y->lo) return x->lo < y->lo ? 1 : -1;
	return x->m->order < y->m->order ? 1 : -1;
}

static void put_label(Rich *r, const Mark *m, Pen main)
{
	pen(r, m->primary ? main : PEN_GUTTER);
	put(r, m->text);
	if (m->to_line) out_printf(r->o, "%s(to line %u)", *m->text ? " " : "", (unsigned)m->to_line);
}

static bool has_label(const Mark *m)
{
	return *m->text || m->to_line;
}

/* The row of ^^^ and ---; returns the width drawn. */
static int print_underline(Rich *r, const Under *u, int n, Pen main)
{
	int end = 0;
	for (int i = 0; i < n; i++) end = u[i].hi > end ? u[i].hi : end;
	for (int c = 0; c < end; c++) {
		char k = ' ';
		for (int i = 0; i < n; i++) {
			if (c < u[i].lo || c >= u[i].hi) continue;
			if (u[i].m->primary) k = '^';
			else if (k == ' ') k = '-';
		}
		if (k != ' ') pen(r, k == '^' ? main : PEN_GUTTER);
		put_times(r, k, 1);
	}
	return end;
}

static void print_hanging(Rich *r, const Under *u, int n, Pen main)
{
	for (int i = 0; i < n; i++) {
		if (!has_label(u[i].m)) continue;
		gutter(r, 0);
		put(r, " ");
		int col = 0;
		for (int j = n - 1; j > i; j--) {       /* from the left: those that come later hang through */
			if (!has_label(u[j].m) || u[j].lo < col || u[j].lo >= u[i].lo) continue;
			put_times(r, ' ', u[j].lo - col);
			pen(r, u[j].m->primary ? main : PEN_GUTTER);
			put(r, "|");
			col = u[j].lo + 1;
		}
		put_times(r, ' ', u[i].lo - col);
		put_label(r, u[i].m, main);
		end_line(r);
	}
}

static bool reaches_furthest(const Under *u, int n)
{
	for (int i = 1; i < n; i++)
		if (u[i].hi > u[0].hi) return false;
	return true;
}

static int under_lines(const Mark *m, int n)
{
	int labels = 0, right = 0;
	bool beside;
	for (int i = 0; i < n; i++) {
		labels += has_label(&m[i]);
		if (m[i].lo > m[right].lo) right = i;
	}
	beside = has_label(&m[right]);
	for (int i = 0; i < n; i++) beside &= m[i].hi <= m[right].hi;
	return 2 + labels - beside;
}

static void print_line(Rich *r, const Mark *m, int n, Pen main)
{
	Under u[MAX_PER_LINE];
	if (n > MAX_PER_LINE) n = MAX_PER_LINE;
	uint32_t first = m[0].lo;
	for (int i = 0; i < n; i++)
		if (m[i].primary) first = m[i].lo;
	Line l = line_window(m[0].src, m[0].line, first);
	gutter(r, m[0].line);
	if (l.n) put(r, " ");
	print_source(r, &l);
	end_line(r);
	for (int i = 0; i < n; i++) {
		int lo = line_cell(&l, m[i].lo), hi = line_cell(&l, m[i].hi);
		u[i] = (Under){ lo, hi > lo ? hi : lo + 1, &m[i] };
	}
	qsort(u, (size_t)n, sizeof *u, under_order);
	gutter(r, 0);
	put(r, " ");
	print_underline(r, u, n, main);
	bool beside = has_label(u[0].m) && reaches_furthest(u, n);
	if (beside) {
		put(r, " ");
		put_label(r, u[0].m, main);
	}
	end_line(r);
	print_hanging(r, u + beside, n - beside, main);
}

/* ---- marks of a diagnostic ---- */
static Mark mark_of(Span at, Str text, bool primary, int order)
{
	Place a = src_place(at.lo), b = src_place(at.hi > at.lo ? at.hi - 1 : at.lo);
	Mark m = { a.src, a.line, a.col - 1, a.col, 0, text, primary, order };
	if (b.line == a.line) m.hi = at.hi > at.lo ? b.col : a.col;
	else {
		uint32_t end = a.line < a.src->nline ? a.src->line[a.line] - 1 : a.src->len;
		m.hi = end - a.src->line[a.line - 1];
		m.to_line = b.line;
	}
	if (m.hi <= m.lo) m.hi = m.lo + 1;
	return m;
}

static int mark_order(const void *a, const void *b)
{
	const Mark *x = a, *y = b;
	if (x->src != y->src) return x->src->index < y->src->index ? -1 : 1;
	if (x->line != y->line) return x->line < y->line ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static int group_end(const MarkVec *v, int i)
{
	int j = i + 1;
	while (j < v->n && v->p[j].src == v->p[i].src && v->p[j].line == v->p[i].line) j++;
	return j;
}

static int total_lines(const Diag *d, const MarkVec *v)
{
	int n = 3 + d->notes.n;
	const Src *d_src = src_of(d->at), *src = d_src;
	for (int i = 0; i < v->n; i = group_end(v, i)) {
		if (v->p[i].src != src && v->p[i].src != d_src) n++;
		src = v->p[i].src;
		n += under_lines(v->p + i, group_end(v, i) - i);
	}
	return n;
}

static int outermost_call(const Diag *d)       /* -1: there is none */
{
	for (int i = d->labels.n - 1; i >= 0; i--)
		if (d->labels.p[i].call) return i;
	return -1;
}

/* The outermost call names those on the way that are not shown. */
static Str label_text(const Diag *d, const bool *dropped, int i)
{
	const DiagLabel *l = d->labels.p;
	int in = i;
	if (i != outermost_call(d)) return l[i].text;
	while (in > 0 && l[in - 1].call && dropped[in - 1]) in--;
	if (in == i) return l[i].text;
	Str way = str_fmt("`%s`", l[i].call);
	for (int k = i - 1; k > in; k--) way = str_fmt(k == in + 1 ? "%s and `%s`" : "%s, `%s`", way, l[k].call);
	return str_fmt("in `%s`, called from here through %s", l[in].call, way);
}

/* Which labels go first where all of them are more than a reader takes in at a glance: the calls on the way
 * to the outermost one, then the others from the last, then that call. */
static void drop_next(const Diag *d, bool *dropped)
{
	int last_call = outermost_call(d), pick = -1;
	for (int i = last_call - 1; i >= 0 && pick < 0; i--)
		if (d->labels.p[i].call && !dropped[i]) pick = i;
	for (int i = d->labels.n - 1; i >= 0 && pick < 0; i--)
		if (i != last_call && !dropped[i]) pick = i;
	dropped[pick < 0 ? last_call : pick] = true;
}

/* A label on the place of the diagnostic itself is the text beside its carets. */
static void collect_marks(const Diag *d, MarkVec *v)
{
	bool *dropped = NEW_ARRAY(A_TMP, bool, d->labels.n + 1);
	for (int keep = d->labels.n; keep >= 0; keep--) {
		Str own = str_intern("");
		v->n = 0;
		for (int i = 0; i < d->labels.n; i++) {
			DiagLabel l = d->labels.p[i];
			bool same = l.at.lo == d->at.lo && l.at.hi == d->at.hi;
			if (dropped[i]) continue;
			if (same && !*own) own = l.text;
			else if (l.at.hi) vec_push(A_UNIT, v, mark_of(l.at, label_text(d, dropped, i), false, i + 1));
		}
		vec_push(A_UNIT, v, mark_of(d->at, own, true, 0));
		qsort(v->p, (size_t)v->n, sizeof *v->p, mark_order);
		if (total_lines(d, v) <= MAX_LINES || !keep) break;
		drop_next(d, dropped);
	}
}

static void print_arrow(Rich *r, const char *arrow, const Src *s, uint32_t line, uint32_t col)
{
	pen(r, PEN_GUTTER);
	out_printf(r->o, "%*s%s ", r->gutter, "", arrow);
	pen(r, PEN_NONE);
	out_printf(r->o, "%s:%u:%u", shown(s->path), (unsigned)line, (unsigned)col);
	end_line(r);
}

static void print_snippets(Rich *r, const Diag *d)
{
	MarkVec v = { 0 };
	collect_marks(d, &v);
	uint32_t max = 0;
	for (int i = 0; i < v.n; i++) max = v.p[i].line > max ? v.p[i].line : max;
	r->gutter = 2;
	for (; max >= 100; max /= 10) r->gutter++;
	Place at = src_place(d->at.lo);
	print_arrow(r, "-->", at.src, at.line, at.col);
	gutter(r, 0);
	end_line(r);
	/* the file of the diagnostic first, then the others in the order of loading */
	for (int pass = 0; pass < 2; pass++) {
		const Src *shown = at.src;
		for (int i = 0; i < v.n; ) {
			int j = group_end(&v, i);
			const Mark *m = &v.p[i];
			if ((m->src == at.src) == (pass == 0)) {
				if (m->src != shown) print_arrow(r, ":::", m->src, m->line, m->lo + 1);
				shown = m->src;
				print_line(r, m, j - i, sev_pen[d->sev]);
			}
			i = j;
		}
	}
}

static void print_rich(Rich *r, const Diag *d)
{
	const DiagRow *row = &diag_rows[d->code];
	pen(r, sev_pen[d->sev]);
	out_printf(r->o, "%s[%s]", sev_name[d->sev], row->code);
	pen(r, PEN_BOLD);
	put(r, ": ");
	put(r, d->text);
	if (row->sev == SEV_WARNING) out_printf(r->o, " [-W%s]", diag_group(row));
	end_line(r);
	r->gutter = 2;
	if (d->at.hi) print_snippets(r, d);
	for (int i = 0; i < d->notes.n; i++) {
		const DiagNote *n = &d->notes.p[i];
		pen(r, PEN_GUTTER);
		out_printf(r->o, "%*s = ", r->gutter, "");
		pen(r, n->help ? PEN_HELP : PEN_NOTE);
		put(r, n->help ? "help" : "note");
		pen(r, PEN_NONE);
		put(r, ": ");
		put(r, n->text);
		end_line(r);
	}
}

void diag_print_rich(Out *o, const DiagVec *v, bool color)
{
	Rich r = { o, color, 2, PEN_NONE };
	for (int i = 0; i < v->n; i++) {
		if (i) put(&r, "\n");
		print_rich(&r, v->p[i]);
	}
}

void diag_print_short(Out *o, const DiagVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const Diag *d = v->p[i];
		Place at = src_place(d->at.hi ? d->at.lo : 0);
		if (at.src) out_printf(o, "%s:%u:%u: ", shown(at.src->path), (unsigned)at.line, (unsigned)at.col);
		else out_printf(o, "ctilec: ");
		out_printf(o, "%s: %s [%s]\n", sev_name[d->sev], d->text, diag_rows[d->code].code);
	}
}
