/* Diagnostics for programs: JSON, one object per line in the shape that editors use (lines and UTF-16 columns from 0),
 * and SARIF 2.1.0, one document. Edits carry byte offsets too, so that a script can apply them without counting. */
#include <string.h>

#include "base/diag_impl.h"
#include "base/json.h"
#include "base/version.h"

static uint32_t utf16_column(const Src *s, uint32_t line, uint32_t col)
{
	const char *p = s->text + s->line[line - 1];
	size_t n = col - 1, i = 0;
	uint32_t units = 0;
	int len;
	for (; i < n; i += (size_t)len) units += utf8_next(p + i, n - i, &len) > 0xFFFF ? 2 : 1;
	return units;
}

static void json_place(Out *o, uint32_t pos)
{
	Place p = src_place(pos);
	out_printf(o, "{\"line\":%u,\"character\":%u}", (unsigned)p.line - 1, (unsigned)utf16_column(p.src, p.line, p.col));
}

static void json_location(Out *o, Span at)
{
	const Src *s = src_of(at);
	out_puts(o, "\"file\":");
	json_string(o, s->path);
	out_puts(o, ",\"range\":{\"start\":");
	json_place(o, at.lo);
	out_puts(o, ",\"end\":");
	json_place(o, at.hi);
	out_printf(o, "},\"bytes\":[%u,%u]", (unsigned)(at.lo - s->base), (unsigned)(at.hi - s->base));
}

/* A label without text only underlines, which is for people. */
static bool says(const DiagLabel *l)
{
	return l->at.hi && *l->text;
}

static void json_labels(Out *o, const Diag *d)
{
	out_puts(o, ",\"relatedInformation\":[");
	for (int i = 0, k = 0; i < d->labels.n; i++) {
		if (!says(&d->labels.p[i])) continue;
		out_puts(o, k++ ? ",{" : "{");
		json_location(o, d->labels.p[i].at);
		out_puts(o, ",\"message\":");
		json_string(o, d->labels.p[i].text);
		out_puts(o, "}");
	}
	out_puts(o, "]");
}

static void json_notes(Out *o, const Diag *d)
{
	out_puts(o, ",\"notes\":[");
	for (int i = 0, k = 0; i < d->notes.n; i++) {
		if (d->notes.p[i].help) continue;
		if (k++) out_puts(o, ",");
		json_string(o, d->notes.p[i].text);
	}
	out_puts(o, "],\"help\":[");
	for (int i = 0, k = 0; i < d->notes.n; i++) {
		const DiagNote *n = &d->notes.p[i];
		if (!n->help) continue;
		out_puts(o, k++ ? ",{\"title\":" : "{\"title\":");
		json_string(o, n->text);
		out_puts(o, ",\"edits\":[");
		for (int j = 0; j < n->edits.n; j++) {
			out_puts(o, j ? ",{" : "{");
			json_location(o, n->edits.p[j].at);
			out_puts(o, ",\"newText\":");
			json_string(o, n->edits.p[j].text);
			out_puts(o, "}");
		}
		out_puts(o, "]}");
	}
	out_puts(o, "]");
}

void diag_print_json(Out *o, const DiagVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const Diag *d = v->p[i];
		const DiagRow *row = &diag_rows[d->code];
		out_puts(o, "{");
		if (d->at.hi) {
			json_location(o, d->at);
			out_puts(o, ",");
		}
		out_printf(o, "\"severity\":%d,\"code\":\"%s\",\"source\":\"ctilec\",\"message\":", (int)d->sev + 1, row->code);
		json_string(o, d->text);
		if (row->sev == SEV_WARNING) {
			out_puts(o, ",\"warning\":");
			json_string(o, diag_group(row));
		}
		json_labels(o, d);
		json_notes(o, d);
		out_puts(o, "}\n");
	}
}

/* ---- SARIF ---- */
static void sarif_region(Out *o, const char *key, Span at)
{
	Place a = src_place(at.lo), b = src_place(at.hi);
	out_printf(o, "\"%s\":{\"startLine\":%u,\"startColumn\":%u,\"endLine\":%u,\"endColumn\":%u}", key,
		(unsigned)a.line, (unsigned)utf16_column(a.src, a.line, a.col) + 1,
		(unsigned)b.line, (unsigned)utf16_column(b.src, b.line, b.col) + 1);
}

/* An artifact is named by a URI: bytes outside the unreserved set and `/` are escaped. An
 * absolute path has its scheme. */
static void sarif_artifact(Out *o, const Src *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
	out_printf(o, "\"artifactLocation\":{\"uri\":\"%s", *s->path == '/' ? "file://" : "");
	for (const char *p = s->path; *p; p++) {
		if (strchr(plain, *p)) out_raw(o, p, 1);
		else out_printf(o, "%%%02X", (unsigned)(unsigned char)*p);
	}
	out_puts(o, "\"}");
}

static void sarif_location(Out *o, Span at, Str message)
{
	out_puts(o, "{\"physicalLocation\":{");
	sarif_artifact(o, src_of(at));
	out_puts(o, ",");
	sarif_region(o, "region", at);
	out_puts(o, "}");
	if (message) {
		out_puts(o, ",\"message\":{\"text\":");
		json_string(o, message);
		out_puts(o, "}");
	}
	out_puts(o, "}");
}

static bool same_source(const DiagNote *n, int i, int k)
{
	return src_of(n->edits.p[i].at) == src_of(n->edits.p[k].at);
}

/* The edits of one artifact are one change of it. */
static void sarif_change(Out *o, const DiagNote *n, int first)
{
	out_puts(o, "{");
	sarif_artifact(o, src_of(n->edits.p[first].at));
	out_puts(o, ",\"replacements\":[");
	for (int i = first; i < n->edits.n; i++) {
		if (!same_source(n, first, i)) continue;
		out_puts(o, i > first ? ",{" : "{");
		sarif_region(o, "deletedRegion", n->edits.p[i].at);
		out_puts(o, ",\"insertedContent\":{\"text\":");
		json_string(o, n->edits.p[i].text);
		out_puts(o, "}}");
	}
	out_puts(o, "]}");
}

static void sarif_fix(Out *o, const DiagNote *n)
{
	out_puts(o, "{\"description\":{\"text\":");
	json_string(o, n->text);
	out_puts(o, "},\"artifactChanges\":[");
	for (int i = 0; i < n->edits.n; i++) {
		bool again = false;
		for (int k = 0; k < i; k++) again |= same_source(n, i, k);
		if (again) continue;
		if (i) out_puts(o, ",");
		sarif_change(o, n, i);
	}
	out_puts(o, "]}");
}

static void sarif_result(Out *o, const Diag *d)
{
	static const char *const level[] = { "error", "warning", "note" };
	out_printf(o, "{\"ruleId\":\"%s\",\"level\":\"%s\",\"message\":{\"text\":", diag_rows[d->code].code, level[d->sev]);
	Out *text = out_new();
	out_puts(text, d->text);
	for (int i = 0; i < d->notes.n; i++) {
		out_puts(text, d->notes.p[i].help ? "\nhelp: " : "\nnote: ");
		out_puts(text, d->notes.p[i].text);
	}
	json_string(o, text->p);
	out_puts(o, "},\"locations\":[");
	if (d->at.hi) sarif_location(o, d->at, NULL);
	out_puts(o, "],\"relatedLocations\":[");
	for (int i = 0, k = 0; i < d->labels.n; i++) {
		if (!says(&d->labels.p[i])) continue;
		if (k++) out_puts(o, ",");
		sarif_location(o, d->labels.p[i].at, d->labels.p[i].text);
	}
	out_puts(o, "],\"fixes\":[");
	for (int i = 0, k = 0; i < d->notes.n; i++) {
		if (!d->notes.p[i].edits.n) continue;
		if (k++) out_puts(o, ",");
		sarif_fix(o, &d->notes.p[i]);
	}
	out_puts(o, "]}");
}

static void sarif_rules(Out *o, const DiagVec *v)
{
	bool used[D_COUNT] = { false };
	for (int i = 0; i < v->n; i++) used[v->p[i]->code] = true;
	for (int i = 0, k = 0; i < D_COUNT; i++) {
		if (!used[i]) continue;
		out_printf(o, "%s{\"id\":\"%s\",\"shortDescription\":{\"text\":", k++ ? "," : "", diag_rows[i].code);
		json_string(o, diag_rows[i].text);
		out_puts(o, "}}");
	}
}

void diag_print_sarif(Out *o, const DiagVec *v)
{
	out_puts(o,
		"{\"version\":\"2.1.0\",\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"runs\":[{\"tool\":"
		"{\"driver\":{\"name\":\"ctilec\",\"version\":\"" CTILEC_VERSION "\",\"rules\":[");
	sarif_rules(o, v);
	out_puts(o, "]}},\"columnKind\":\"utf16CodeUnits\",\"results\":[");
	for (int i = 0; i < v->n; i++) {
		if (i) out_puts(o, ",");
		out_puts(o, "\n");
		sarif_result(o, v->p[i]);
	}
	out_puts(o, "]}]}\n");
}
