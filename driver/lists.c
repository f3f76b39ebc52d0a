/* Printing of the tables. Each list is made from its .def file and nothing else. */
#include "driver/lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/diag_impl.h"
#include "base/json.h"
#include "driver/options.h"
#include "emit/emit.h"
#include "emit/snippet.h"
#include "emit_c/prelude.h"
#include "emit_cuda/prelude.h"
#include "ir/ir.h"
#include "lower/lower.h"

/* ---- operations and element types ---- */
static void types_json(Out *o)
{
	out_puts(o, "[");
	for (int i = 0; i < EL_COUNT; i++) {
		out_printf(o, "%s\n{\"name\": \"%s\", \"bytes\": %d, \"doc\": ", i ? "," : "", elem_rows[i].name,
			elem_rows[i].bytes);
		json_string(o, elem_rows[i].doc);
		out_puts(o, "}");
	}
	out_puts(o, "\n]");
}

/* The comment that the function computing op begins with states its error. "": there is none. */
static Str stated_error(const SnipTable *t, OpCode op, const char *elem, const char *mode)
{
	SnipSet set;
	snip_init(&set, t);
	int row = snip_find(&set, str_fmt("ct_%s_%s%s", op_rows[op].name, elem, mode));
	const char *text = row < 0 ? "" : t->rows[row].text, *end = strstr(text, " */");
	if (strncmp(text, "/* ", 3) != 0 || !end) return *mode ? stated_error(t, op, elem, "") : str_intern("");
	for (const char *p = text; (p = strstr(p, " ulp")) != NULL && p < end; p += 4)        /* how comes after it */
		if (strncmp(p + 4, " with glibc", 11) == 0 || p[4] == ':') end = p + 4;
	return str_intern_n(text + 3, (size_t)(end - text - 3));
}

static void accuracy_row(Out *o, OpCode op, const char *mode, const char *words)
{
	Str cells[4];
	bool stated = false;
	for (int i = 0; i < 4; i++) {
		const SnipTable *t = i & 1 ? &cuda_prelude : &c_prelude;
		cells[i] = i < 2 || !*mode ? stated_error(t, op, i < 2 ? "f32" : "f64", mode) : str_intern("");
		stated = stated || strstr(cells[i], "ulp") || strstr(cells[i], "error");
	}
	if (!stated || (*mode && cells[1] == stated_error(&cuda_prelude, op, "f32", ""))) return;
	out_printf(o, "| `%s`%s |", op_rows[op].name, words);
	for (int i = 0; i < 4; i++) out_printf(o, " %s |", cells[i]);
	out_puts(o, "\n");
}

static void accuracy_markdown(Out *o)
{
	out_puts(o, "\n## Accuracy\n\nDistances from the exact value in units in the last place (ulp) of the result, with "
		"subnormals kept. Where a\n"
		"place is empty, and for functions that are not here, the result is exact or the nearest value. `f16` and "
		"`bf16` compute in\n"
		"`f32` and round once more. The C target calls the C library: these are glibc's errors. All "
		"were measured, with\n"
		"glibc 2.36 on x86-64 and on an H200: the functions of one operand with all inputs of `f16`, `bf16` "
		"and `f32`. What was\n"
		"measured of each, and where the greatest errors lie: [accuracy.md](../bench/results/accuracy.md).\n\n"
		"| Function | f32, C | f32, CUDA | f64, C | f64, CUDA |\n|---|---|---|---|---|\n");
	for (OpCode op = 0; op < OP_COUNT; op++) {
		if (op != OP_DIV && !(op_rows[op].flags & OPF_MATH)) continue;
		accuracy_row(o, op, "", "");
		/* `full` is the usual form of exp; pass relax marks so what is not needed as exactly. */
		accuracy_row(o, op, "_full", op == OP_EXP ? " whose uses end in rounding to `f16` or `bf16`"
			: ", `rounding: full`");
		accuracy_row(o, op, "_approx", ", `rounding: approximate`");
	}
}

/* ---- what target cuda-tile makes of each operation: the column of ops.def ---- */
static Str class_words(const char *classes, size_t n)
{
	static const struct {
		char class;
		const char *words;
	} rows[] = { { 'b', "bool" }, { 's', "signed integers" }, { 'u', "unsigned integers" },
		{ 'h', "f16 and bf16" }, { 'f', "floats" }, { 'r', "tf32 and fp8" }, { 'p', "pointers" },
			{ '*', "other types" } };
	Out *o = out_new();
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
			if (rows[k].class == classes[i]) out_printf(o, "%s%s", o->n ? ", " : "", rows[k].words);
	return out_take(o);
}

/* Is it one call or operator of Tile C++? A function ct_... is of ours. */
static bool is_direct(Str text) { return *text != '~' && !strstr(text, "ct_"); }

/* "direct", "written out", or both with the types of each. */
static void tile_cell(Out *o, const char *column)
{
	Str types[2] = { NULL, NULL };
	if (!*column) {
		out_puts(o, "no call: known when it is compiled, or integers");
		return;
	}
	for (const char *p = column; *p; ) {
		size_t classes = strcspn(p, "="), n = strcspn(p, ";");
		Str text = str_intern_n(p + classes + 1, n - classes - 1), words = class_words(p, classes);
		int k = !is_direct(text);
		types[k] = types[k] ? str_fmt("%s, %s", types[k], words) : words;
		p += n + (p[n] == ';');
	}
	if (!types[0] || !types[1]) out_puts(o, types[0] ? "direct" : "written out");
	else out_printf(o, "direct: %s; written out: %s", types[0], types[1]);
}

static void tile_markdown(Out *o)
{
	out_puts(o, "\n## Target cuda-tile\n\nWhat becomes of each operation in CUDA Tile C++. Direct: it is a call or an "
		"operator there. Written out: it\n"
		"is written in several of them, with the values that this page states; so are modes that Tile C++ does not "
		"have, and casts of\n"
		"floats to integers, tf32 and fp8. No operation is refused.\n\n"
		"| Operation | |\n|---|---|\n");
	for (OpCode op = 0; op < OP_COUNT; op++) {
		if (op_rows[op].form == FORM_PLACED || op_rows[op].flags & OPF_HIDDEN) continue;
		out_printf(o, "| `%s` | ", op_rows[op].name);
		tile_cell(o, op_rows[op].tile);
		out_puts(o, " |\n");
	}
	out_printf(o, "\nAll of that works from CUDA Tile C++ %s on (`--tile-version=%s`), but for these:\n\n"
		"| What | From | Before |\n|---|---|---|\n", tile_versions[0].name, tile_versions[0].name);
	for (int i = 0; i < TILE_FEATURE_COUNT; i++) {
		const TileFeatureRow *f = &tile_feature_rows[i];
		out_printf(o, "| %s | %s | %s |\n", f->what, tile_version_name(f->since), f->before);
	}
}

void list_ops(Out *o, const char *form)
{
	if (!form || strcmp(form, "text") == 0) {
		ops_list(o, OPS_TEXT);
		out_puts(o, "\nelement types\n");
		for (int i = 0; i < EL_COUNT; i++) out_printf(o, "  %-8s %s\n", elem_rows[i].name, elem_rows[i].doc);
	} else if (strcmp(form, "markdown") == 0) {
		ops_list(o, OPS_MARKDOWN);
		accuracy_markdown(o);
		tile_markdown(o);
		out_puts(o, "\n## Element types\n\n| Type | Meaning |\n|---|---|\n");
		for (int i = 0; i < EL_COUNT; i++) out_printf(o, "| `%s` | %s |\n", elem_rows[i].name, elem_rows[i].doc);
	} else {
		out_puts(o, "{\"operations\": ");
		ops_list(o, OPS_JSON);
		out_puts(o, ", \"types\": ");
		types_json(o);
		out_puts(o, "}\n");
	}
}

/* ---- messages ---- */
static const char *const sev_names[] = { "error", "warning", "note" };

/* "{0}" in a row's text becomes an ellipsis: what stands there depends on the program. */
static Str general_text(const char *s)
{
	Out *o = out_new();
	for (; *s; s++) {
		if (s[0] == '{' && s[1] >= '0' && s[1] <= '9' && s[2] == '}') {
			out_puts(o, "\xE2\x80\xA6");
			s += 2;
		} else {
			out_raw(o, s, 1);
		}
	}
	return out_take(o);
}

/* When a warning is given, for the reader of a list. */
static Str when_on(const DiagRow *r)
{
	const char *class = strchr(r->group, ':');
	return !class || !strcmp(class, ":default") ? str_intern("on by default") : str_fmt("in -W%s", class + 1);
}

static void diagnostics_markdown(Out *o)
{
	out_puts(o, "# Messages\n\nWritten by `ctilec --list-diagnostics=markdown` from the compiler's table; do not edit. "
		"`ctilec --explain=CODE` prints one of them.\n");
	for (int i = 0; i < D_COUNT; i++) {
		const DiagRow *r = &diag_rows[i];
		out_printf(o, "\n## %s\n\n%s: %s", r->code, sev_names[r->sev], general_text(r->text));
		if (r->sev == SEV_WARNING) out_printf(o, " (`-W%s`, %s)", diag_group(r), when_on(r));
		out_puts(o, "\n");
		if (*r->explain) out_printf(o, "\n%s\n", r->explain);
	}
}

static void diagnostics_json(Out *o)
{
	out_puts(o, "[");
	for (int i = 0; i < D_COUNT; i++) {
		const DiagRow *r = &diag_rows[i];
		out_printf(o, "%s\n  {\"code\": \"%s\", \"severity\": \"%s\", \"warning\": ", i ? "," : "", r->code,
			sev_names[r->sev]);
		json_string(o, r->group);
		out_puts(o, ", \"text\": ");
		json_string(o, r->text);
		out_puts(o, ", \"explanation\": ");
		json_string(o, r->explain);
		out_puts(o, "}");
	}
	out_puts(o, "\n]\n");
}

void list_diagnostics(Out *o, const char *form)
{
	if (form && strcmp(form, "markdown") == 0) {
		diagnostics_markdown(o);
	} else if (form && strcmp(form, "json") == 0) {
		diagnostics_json(o);
	} else {
		for (int i = 0; i < D_COUNT; i++) {
			const DiagRow *r = &diag_rows[i];
			out_printf(o, "%s %-7s ", r->code, sev_names[r->sev]);
			if (r->sev == SEV_WARNING) out_printf(o, "-W%s (%s): ", diag_group(r), when_on(r));
			out_printf(o, "%s\n", general_text(r->text));
		}
	}
}

/* Text with blocks of programs for a terminal: what is refused, what is accepted, indented. */
static void print_explanation(Out *o, const char *p)
{
	bool inside = false;
	for (size_t n; *p; p += n + (p[n] == '\n')) {
		n = strcspn(p, "\n");
		if (n >= 3 && !memcmp(p, "```", 3)) {
			inside = n > 3;
			out_puts(o, !inside ? "" : n > 7 && !memcmp(p + 3, "tile-error", 10) ? "\nnot so:\n\n" : "\nbut so:\n\n");
			continue;
		}
		if (inside && n) out_puts(o, "    ");
		for (size_t i = 0; i < n; i++) {
			if (p[i] == '\t') out_puts(o, "    ");
			else out_raw(o, p + i, 1);
		}
		out_puts(o, "\n");
	}
}

/* e262 for E0262: as people type it. */
static Str whole_code(const char *code)
{
	size_t n = strspn(code + (*code != 0), "0123456789");
	bool letter = *code && strchr("EeWw", *code);
	if (!letter || n < 1 || n > 4 || code[1 + n]) return str_intern(code);
	return str_fmt("%c%04d", *code == 'e' || *code == 'E' ? 'E' : 'W', atoi(code + 1));
}

void list_explain(Out *o, const char *code)
{
	Near near;
	code = whole_code(code);
	near_begin(&near, code);
	for (int i = 0; i < D_COUNT; i++) {
		const DiagRow *r = &diag_rows[i];
		near_offer(&near, str_intern(r->code));
		if (strcmp(r->code, code) != 0) continue;
		out_printf(o, "%s[%s]: %s\n", sev_names[r->sev], r->code, general_text(r->text));
		if (r->sev == SEV_WARNING)
			out_printf(o, "\nSwitched by `-W%s` and `-Wno-%s`; %s.\n", diag_group(r), diag_group(r), when_on(r));
		if (*r->explain) {
			out_puts(o, "\n");
			print_explanation(o, r->explain);
		}
		return;
	}
	if (near.best) usage_error("no message has the code `%s`; did you mean `%s`?", code, near.best);
	usage_error("no message has the code `%s`; `ctilec --list-diagnostics` lists all", code);
}

/* ---- passes, targets, architectures ---- */
void list_passes(Out *o)
{
	static const char *const forms[] = { [PASS_TYPED] = "typed", [PASS_PLACED] = "placed", [PASS_VERSION] = "version" };
	for (const PassRow *p = pass_rows; p->name; p++)
		out_printf(o, "%-20s %-7s -O%d  %s\n", p->name, forms[p->form], p->level, p->doc);
}

void list_arches(Out *o)
{
	for (int i = 0; i < arch_count; i++)
		out_printf(o, "%-8s %s%s\n", arch_rows[i].name, arch_rows[i].doc,
			arch_rows[i].specific ? "; runs on this one only" : "");
}

void list_target_names(Out *o)
{
	for (int i = 0; i < TARGET_COUNT; i++)
		out_printf(o, "%s%s (%s)", i ? ", " : "", target_rows[i].name, target_rows[i].doc);
}

void list_arch_names(Out *o)
{
	for (int i = 0; i < arch_count; i++) out_printf(o, "%s%s", i ? ", " : "", arch_rows[i].name);
	out_puts(o, "; default sm_80,sm_90a");
}

void list_tile_versions(Out *o)
{
	for (int i = 0; i < tile_version_count; i++) out_printf(o, "%s%s", i ? ", " : "", tile_versions[i].name);
	out_printf(o, "; default %s", tile_versions[tile_version_count - 1].name);
}
