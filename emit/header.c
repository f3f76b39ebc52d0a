/* The C header of a module. Plain C that C++ and ctypes users read too; the same bytes for every target. */
#include <ctype.h>
#include <string.h>

#include "base/diag.h"
#include "base/json.h"
#include "base/show.h"
#include "emit/emit.h"
#include "emit/host.h"
#include "emit/names.h"

static const char *scalar_type(Elem e)
{
	switch (e) {
	case EL_F16: case EL_BF16: return "uint16_t";
	case EL_F8E4M3: case EL_F8E5M2: return "uint8_t";
	case EL_TF32: return "float";
	default: return elem_rows[e].header;
	}
}

Str host_type(const IrParam *p)
{
	Elem target = p->is_tensor ? p->elem : elem_pointee(p->elem);
	if (!p->is_tensor && !elem_is_ptr(p->elem)) return str_fmt("%s ", scalar_type(p->elem));
	bool reads_only = p->is_tensor && p->mode == PM_IN;
	return str_fmt("%s%s *", reads_only ? "const " : "", elem_rows[target].header);
}

static void comma(Out *o, int *n)
{
	if ((*n)++) out_puts(o, ", ");
}

void host_params(Out *o, const IrParamVec *params, const IrDimVec *dims)
{
	int n = 0;
	for (int i = 0; params && i < params->n; i++) {
		comma(o, &n);
		out_printf(o, "%s%s", host_type(&params->p[i]), name_c(params->p[i].name));
	}
	for (int pass = 0; pass < 2; pass++)            /* dimensions, then free strides */
		for (int i = 0; dims && i < dims->n; i++) {
			if (dims->p[i].def || dims->p[i].is_stride != (pass == 1)) continue;
			comma(o, &n);
			out_printf(o, "int64_t %s", name_c(dims->p[i].name));
		}
}

void host_args(Out *o, const IrParamVec *params, const IrDimVec *dims)
{
	for (int i = 0; params && i < params->n; i++) out_printf(o, "%s, ", name_c(params->p[i].name));
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < dims->n; i++)
			if (!dims->p[i].def && dims->p[i].is_stride == (pass == 1)) out_printf(o, "%s, ", name_c(dims->p[i].name));
}

IrParamVec host_integers(const IrParamVec *params)
{
	IrParamVec r = { 0 };
	for (int i = 0; i < params->n; i++)
		if (!params->p[i].is_tensor && elem_is_integral(params->p[i].elem)) vec_push(A_UNIT, &r, params->p[i]);
	return r;
}

bool host_has_params(const IrParamVec *params, const IrDimVec *dims)
{
	for (int i = 0; dims && i < dims->n; i++)
		if (!dims->p[i].def) return true;
	return params && params->n > 0;
}

/* A parameter as the author writes it: "out tensor<f32, [m, n]>". */
static Str param_text(const IrParam *p)
{
	static const char *const mode[] = { "", "out ", "inout " };
	static const char *const layout[] = { "", ", layout_left", ", layout_right_padded<", ", layout_left_padded<",
		", layout_strided<[" };
	Out *o = out_new();
	if (!p->is_tensor) return elem_name(p->elem);
	out_printf(o, "%stensor<%s, [", mode[p->mode], elem_name(p->elem));
	for (int i = 0; i < p->rank; i++) out_printf(o, "%s%s", i ? ", " : "", sym_text(p->extent[i]));
	out_printf(o, "]%s", layout[p->layout]);
	if (p->layout == ML_RIGHT_PADDED || p->layout == ML_LEFT_PADDED) out_printf(o, "%lld>", (long long)p->pad);
	for (int i = 0; p->layout == ML_STRIDED && i < p->rank; i++)
		out_printf(o, "%s%s%s", i ? ", " : "", sym_text(p->stride[i]), i + 1 == p->rank ? "]>" : "");
	out_puts(o, ">");
	return out_take(o);
}

static bool has_scratch(const HostVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const HostStmt *s = v->p[i];
		if (s->kind == HOST_SCRATCH) return true;
		if (s->kind == HOST_IF && (has_scratch(&s->u.ifs.then) || has_scratch(&s->u.ifs.other))) return true;
	}
	return false;
}

bool entry_has_scratch(const Entry *e) { return has_scratch(&e->body); }

static void print_contract(Out *o, const Entry *e)
{
	for (int i = 0; i < e->params.n; i++) {
		const IrParam *p = &e->params.p[i];
		Out *line = out_new();
		out_printf(line, "%s: %s%s%s", p->name, param_text(p), p->doc ? "  " : "", p->doc ? p->doc : "");
		comment_text(o, out_take(line), " *   ");
	}
	for (int i = 0; i < e->dims.n; i++) {
		const IrDim *d = &e->dims.p[i];
		if (d->def) out_printf(o, " *   %s = %s is computed\n", d->name, sym_text(d->def));
		else if (d->is_stride) out_printf(o, " *   %s: a stride in elements, 0 or more\n", d->name);
		else out_printf(o, " *   0 <= %s%s\n", d->name, d->elem == EL_I64 ? "" : " < 2^31");
	}
	for (int i = 0; i < e->where.n; i++)
		comment_text(o, e->where.p[i].text, e->where.p[i].of_type ? " *   " : " *   where ");
}

static void print_entry(Out *o, const Entry *e)
{
	Str name = name_entry(e->name);
	out_puts(o, "\n/* ");
	out_printf(o, "%s\n", e->name);
	comment_text(o, e->doc, " * ");
	print_contract(o, e);
	out_puts(o, " */\n");
	bool more = host_has_params(&e->params, &e->dims);
	IrParamVec sizes = host_integers(&e->params);
	if (!entry_has_scratch(e)) {
		out_printf(o, "int %s(", name);
		host_params(o, &e->params, &e->dims);
		out_printf(o, "%sstruct CUstream_st *stream);\n", more ? ", " : "");
	}
	out_printf(o, "size_t %s_workspace(", name);
	host_params(o, &sizes, &e->dims);
	out_printf(o, "%s);\nint %s_ws(", host_has_params(&sizes, &e->dims) ? "" : "void", name);
	host_params(o, &e->params, &e->dims);
	out_printf(o, "%svoid *workspace, size_t bytes, struct CUstream_st *stream);\n", more ? ", " : "");
}

static void print_args(Out *o, const IrParamVec *params, const Entry *e, const char *more)
{
	int n = 0;
	for (int i = 0; i < params->n; i++) {
		comma(o, &n);
		out_puts(o, name_c(params->p[i].name));
	}
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < e->dims.n; i++) {
			if (e->dims.p[i].def || e->dims.p[i].is_stride != (pass == 1)) continue;
			comma(o, &n);
			out_puts(o, name_c(e->dims.p[i].name));
		}
	out_puts(o, n ? more : "");
}

static void print_wrapper(Out *o, const Entry *e)
{
	Str name = name_entry(e->name);
	bool more = host_has_params(&e->params, &e->dims);
	IrParamVec sizes = host_integers(&e->params);
	if (!entry_has_scratch(e)) {
		out_printf(o, "inline int %s(", name);
		host_params(o, &e->params, &e->dims);
		out_printf(o, "%sstruct CUstream_st *stream)\n{ return ::%s(", more ? ", " : "", name);
		print_args(o, &e->params, e, ", ");
		out_puts(o, "stream); }\n");
	}
	out_printf(o, "inline size_t %s_workspace(", name);
	host_params(o, &sizes, &e->dims);
	out_printf(o, ")\n{ return ::%s_workspace(", name);
	print_args(o, &sizes, e, "");
	out_printf(o, "); }\ninline int %s_ws(", name);
	host_params(o, &e->params, &e->dims);
	out_printf(o, "%svoid *workspace, size_t bytes, struct CUstream_st *stream)\n{ return ::%s_ws(", more ? ", " : "",
		name);
	print_args(o, &e->params, e, ", ");
	out_puts(o, "workspace, bytes, stream); }\n");
}

/* explained: each in a line of its own, with its text */
static void print_statuses(Out *o, bool explained)
{
	out_puts(o, "#ifndef CTILE_STATUS\n#define CTILE_STATUS\nenum {\n");
	out_in(o);
#define STATUS(id, number, text) \
	out_printf(o, "CTILE_%s = %d,", #id, number); \
	if (explained) out_printf(o, "%*s/* %s */\n", (int)(16 - sizeof #id - (number > 9)), "", text); \
	else out_puts(o, (number) % 7 == 6 ? "\n" : " ");
#include "emit/status.def"
#undef STATUS
	out_off(o);
	out_puts(o, "};\n#endif\n");
}

/* a::b as C++11 takes it: one namespace in the other. */
static void print_namespace(Out *o, const char *ns, bool open)
{
	while (*ns) {
		size_t n = strcspn(ns, ":");
		if (open) out_printf(o, "namespace %.*s { ", (int)n, ns);
		else out_puts(o, "}");
		ns += n + strspn(ns + n, ":");
	}
	out_puts(o, "\n");
}

static void print_declarations(Out *o, const Module *m, bool explained)
{
	out_puts(o, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nstruct CUstream_st;\n\n");
	print_statuses(o, explained);
	out_puts(o, "const char *ctile_status_text(int status);\n");
	for (int i = 0; i < m->entries.n; i++) print_entry(o, m->entries.p[i]);
	out_puts(o, "\n#ifdef __cplusplus\n}\n#endif\n");
}

void emit_header(Out *o, const Module *m, const EmitOptions *opt)
{
	Out *guard = out_new();
	out_puts(guard, "CTILE_");
	Str base = opt->header_name ? opt->header_name : str_intern("out.h");
	for (const char *p = base; *p; p++) {
		char c[2] = { isalnum((unsigned char)*p) ? (char)toupper((unsigned char)*p) : '_', 0 };
		out_puts(guard, c);
	}
	if (m->entries.n) out_printf(guard, "_%s", m->entries.p[0]->name);
	out_printf(o, "/* Generated by ctilec %s from ", opt->version);
	comment_text(o, shown(src_mapped(m->path)), "");
	out_puts(o, " *\n * Every function returns a status, 0 for success; ctile_status_text(status) "
		"says what was wrong.\n"
		" * Tensors are pointers to device memory (host memory for the C target); sizes and strides count elements.\n"
		" * f_ws uses a workspace of f_workspace bytes, aligned to 256; its contents on entry do not matter. */\n");
	out_printf(o, "#ifndef %s\n#define %s\n\n#include <stddef.h>\n#include <stdint.h>\n\n", guard->p, guard->p);
	print_declarations(o, m, true);
	if (opt->ns) {
		out_puts(o, "\n#ifdef __cplusplus\n");
		print_namespace(o, opt->ns, true);
		for (int i = 0; i < m->entries.n; i++) print_wrapper(o, m->entries.p[i]);
		print_namespace(o, opt->ns, false);
		out_puts(o, "#endif\n");
	}
	out_puts(o, "\n#endif\n");
}

/* A header's name has no escapes: it ends at the next quote, some compilers take backslashes as such and some do not,
 * and `??/` is a backslash to C11. */
static bool can_include(const char *name)
{
	int len;
	for (const char *p = name; *p; p += len) {
		int32_t c = utf8_next(p, strlen(p), &len);
		if (c < 0 || show_is_control(c) || c == '"' || c == '\\' || (p[0] == '?' && p[1] == '?')) return false;
	}
	return true;
}

void emit_include(Out *o, const Module *m, const EmitOptions *opt)
{
	if (opt->header_name && can_include(opt->header_name)) out_printf(o, "#include \"%s\"\n\n", opt->header_name);
	else print_declarations(o, m, false);
}
