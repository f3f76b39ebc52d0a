/* The manifest: entries with their parameters, dimensions and conditions in the order of the C prototype, what they
 * launch, and the kernels with their grids. Expressions are .tile source over the dimensions' names. */
#include "driver/manifest.h"

#include "base/json.h"
#include "base/src.h"
#include "base/version.h"
#include "emit/host.h"
#include "emit/names.h"

static const char *const modes[] = { "in", "out", "inout" };
static const char *const layouts[] = { "layout_right", "layout_left", "layout_right_padded", "layout_left_padded",
	"layout_strided" };

/* `,` and a new line between the members of a list or object */
static void next(Out *o, bool *first)
{
	out_puts(o, *first ? "\n" : ",\n");
	*first = false;
}

static void member(Out *o, bool *first, const char *key)
{
	next(o, first);
	json_string(o, key);
	out_puts(o, ": ");
}

static void open_with(Out *o, const char *bracket)
{
	out_puts(o, bracket);
	out_in(o);
}

static void close_with(Out *o, const char *bracket)
{
	out_off(o);
	out_puts(o, "\n");
	out_puts(o, bracket);
}

static void text_member(Out *o, bool *first, const char *key, const char *value)
{
	member(o, first, key);
	json_string(o, value);
}

static void syms(Out *o, const Sym *const *s, int n)
{
	out_puts(o, "[");
	for (int i = 0; i < n; i++) {
		if (i) out_puts(o, ", ");
		json_string(o, sym_text(s[i]));
	}
	out_puts(o, "]");
}

static void conditions(Out *o, const IrWhereVec *v)
{
	out_puts(o, "[");
	for (int i = 0; i < v->n; i++) {
		if (i) out_puts(o, ", ");
		json_string(o, v->p[i].text);
	}
	out_puts(o, "]");
}

static void param(Out *o, const IrParam *p)
{
	bool first = true;
	open_with(o, "{");
	text_member(o, &first, "name", p->name);
	if (p->doc) text_member(o, &first, "doc", p->doc);
	text_member(o, &first, "kind", p->is_tensor ? "tensor" : "scalar");
	text_member(o, &first, "type", elem_name(p->elem));
	if (p->is_tensor) {
		text_member(o, &first, "mode", modes[p->mode]);
		text_member(o, &first, "layout", layouts[p->layout]);
		member(o, &first, "shape");
		syms(o, p->extent, p->rank);
		member(o, &first, "strides");
		syms(o, p->stride, p->rank);
	}
	close_with(o, "}");
}

static void dim(Out *o, const IrDim *d)
{
	out_puts(o, "{\"name\": ");
	json_string(o, d->name);
	out_printf(o, ", \"type\": \"%s\", \"kind\": \"%s\"", elem_name(d->elem), d->is_stride ? "stride" : "dimension");
	if (d->def) {
		out_puts(o, ", \"computed\": ");
		json_string(o, sym_text(d->def));
	}
	out_puts(o, "}");
}

static void launch(Out *o, const HostStmt *s)
{
	out_puts(o, "{\"launch\": [");
	for (int i = 0; i < s->u.launch.variants.n; i++) {
		if (i) out_puts(o, ", ");
		json_string(o, s->u.launch.variants.p[i].fn->name);
	}
	out_printf(o, "], \"choice\": \"%s\"}", s->u.launch.tuned ? "tuned" : "first");
}

static void host(Out *o, const HostVec *v)
{
	bool first = true;
	open_with(o, "[");
	for (int i = 0; i < v->n; i++) {
		const HostStmt *s = v->p[i];
		next(o, &first);
		switch (s->kind) {
		case HOST_SCRATCH:
			out_puts(o, "{\"scratch\": ");
			param(o, &s->u.scratch.tensor);
			out_puts(o, "}");
			break;
		case HOST_LAUNCH: launch(o, s); break;
		case HOST_IF:
			out_puts(o, "{\"if\": ");
			json_string(o, sym_text(s->u.ifs.cond));
			out_puts(o, ", \"then\": ");
			host(o, &s->u.ifs.then);
			out_puts(o, ", \"else\": ");
			host(o, &s->u.ifs.other);
			out_puts(o, "}");
			break;
		case HOST_LET:
			out_puts(o, "{\"let\": ");
			json_string(o, s->u.let.name);
			out_puts(o, ", \"value\": ");
			json_string(o, s->u.let.value ? sym_text(s->u.let.value) : "multiprocessors");
			out_puts(o, "}");
			break;
		}
	}
	close_with(o, "]");
}

static void source(Out *o, bool *first, Span at)
{
	Place p = src_place(at.lo);
	if (!p.src) return;
	text_member(o, first, "source", str_fmt("%s:%u", src_mapped(p.src->path), (unsigned)p.line));
}

static void entry(Out *o, const Entry *e)
{
	bool first = true, item = true;
	open_with(o, "{");
	Str c = name_entry(e->name);
	text_member(o, &first, "name", c);
	text_member(o, &first, "entry", e->name);
	if (!entry_has_scratch(e)) text_member(o, &first, "function", c);
	text_member(o, &first, "ws", str_fmt("%s_ws", c));
	text_member(o, &first, "workspace", str_fmt("%s_workspace", c));
	if (e->doc) text_member(o, &first, "doc", e->doc);
	source(o, &first, e->span);
	member(o, &first, "params");
	open_with(o, "[");
	for (int i = 0; i < e->params.n; i++) {
		next(o, &item);
		param(o, &e->params.p[i]);
	}
	close_with(o, "]");
	member(o, &first, "dims");
	open_with(o, "[");
	item = true;
	for (int i = 0; i < e->dims.n; i++) {
		next(o, &item);
		dim(o, &e->dims.p[i]);
	}
	close_with(o, "]");
	member(o, &first, "where");
	conditions(o, &e->where);
	member(o, &first, "steps");
	host(o, &e->body);
	close_with(o, "}");
}

static void kernel(Out *o, const Fn *f)
{
	bool first = true;
	open_with(o, "{");
	text_member(o, &first, "name", f->name);
	text_member(o, &first, "kernel", f->source_name);
	source(o, &first, f->span);
	member(o, &first, "generics");
	out_puts(o, "{");
	for (int i = 0; i < f->generics.n; i++) {
		if (i) out_puts(o, ", ");
		json_string(o, f->generics.p[i].name);
		out_puts(o, ": ");
		json_string(o, f->generics.p[i].value);
	}
	out_puts(o, "}");
	member(o, &first, "grid");
	syms(o, f->grid, f->ngrid);
	member(o, &first, "where");
	conditions(o, &f->where);
	close_with(o, "}");
}

void manifest_print(Out *o, const Module *m)
{
	bool first = true, item = true;
	open_with(o, "{");
	text_member(o, &first, "ctilec", CTILEC_VERSION);
	text_member(o, &first, "source", src_mapped(m->path));
	member(o, &first, "entries");
	open_with(o, "[");
	for (int i = 0; i < m->entries.n; i++) {
		next(o, &item);
		entry(o, m->entries.p[i]);
	}
	close_with(o, "]");
	member(o, &first, "kernels");
	open_with(o, "[");
	item = true;
	for (int i = 0; i < m->fns.n; i++) {
		next(o, &item);
		kernel(o, m->fns.p[i]);
	}
	close_with(o, "]");
	close_with(o, "}");
	out_puts(o, "\n");
}
