/* What the host's part of every output has once: checked arithmetic, and statuses with their texts. */
#include <string.h>

#include "emit/launchers.h"

/* Printed only where something calls them: a caller's text says so. */
static const Snippet checked_rows[] = {
	SNIPPET_ROW("ct_head", "/* Checked arithmetic of the launchers: *bad is set when a value leaves 64 bits. */\n"),
	SNIPPET_ROW("ct_host_add",
		"CT_HELPER int64_t ct_host_add(int64_t a, int64_t b, int *bad)\n"
		"{ int64_t r; *bad |= __builtin_add_overflow(a, b, &r); return r; }\n"),
	SNIPPET_ROW("ct_host_mul",
		"CT_HELPER int64_t ct_host_mul(int64_t a, int64_t b, int *bad)\n"
		"{ int64_t r; *bad |= __builtin_mul_overflow(a, b, &r); return r; }\n"),
	SNIPPET_ROW("ct_host_div",
		"CT_HELPER int64_t ct_host_div(int64_t a, int64_t b, int *bad)\n"
		"{ if (b == 0 || (b == -1 && a == INT64_MIN)) { *bad = 1; return 0; } return a / b; }\n"),
	SNIPPET_ROW("ct_host_mod",
		"CT_HELPER int64_t ct_host_mod(int64_t a, int64_t b, int *bad)\n"
		"{ if (b == 0 || b == -1) { *bad |= b == 0; return 0; } return a % b; }\n"),
	SNIPPET_ROW("ct_host_cdiv",
		"CT_HELPER int64_t ct_host_cdiv(int64_t a, int64_t b, int *bad)\n"
		"{ if (b <= 0) { *bad = 1; return 0; } return a / b + (a % b > 0); }\n"),
	SNIPPET_ROW("ct_host_min", "CT_HELPER int64_t ct_host_min(int64_t a, int64_t b) { return a < b ? a : b; }\n"),
	SNIPPET_ROW("ct_host_max", "CT_HELPER int64_t ct_host_max(int64_t a, int64_t b) { return a > b ? a : b; }\n"),
	SNIPPET_ROW("ct_host_u64", "CT_HELPER int64_t ct_host_u64(uint64_t a, int *bad) { *bad |= a > INT64_MAX; "
		"return (int64_t)a; }\n"),
	SNIPPET_ROW("ct_tile_blocks",
		"\n/* Tile blocks of a grid: 0 if it is empty, -1 if there are 2^31 or more. */\n"
		"CT_HELPER int64_t ct_tile_blocks(const int64_t *grid, int bad)\n"
		"{\n"
		"\tint64_t n = 1;\n"
		"\tfor (int i = 0; i < 4; i++) {\n"
		"\t\tif (grid[i] <= 0) return 0;\n"
		"\t\tn = ct_host_mul(n, grid[i], &bad);\n"
		"\t}\n"
		"\treturn bad || n > INT32_MAX ? -1 : n;\n"
		"}\n"),
};
extern const SnipNames emit_status_names;
const SnipTable checked_table = SNIP_TABLE(checked_rows, &emit_status_names);

static const char status_head[] =
	"/* Status texts. The last failure of each thread is kept in words; one copy per program. */\n"
	"#define CT_SHARED __attribute__((weak))\n"
	"CT_SHARED __thread int ctile_last_status = 0;\n"
	"CT_SHARED __thread char ctile_last_text[320] = \"\";\n"
	"CT_SHARED const char *ctile_status_text(int status)\n"
	"{\n"
	"\tstatic const char *const text[] = {\n";

static const char status_end[] =
	"\t};\n"
	"\tif (status != 0 && status == ctile_last_status) return ctile_last_text;\n"
	"\treturn status >= 0 && status < (int)(sizeof text / sizeof *text) ? text[status] : \"unknown status\";\n"
	"}\n";

static const char status_fail[] =
	"\n"
	"__attribute__((format(printf, 2, 3), unused))\n"
	"static int ct_fail(int status, const char *format, ...)\n"
	"{\n"
	"\tva_list args; va_start(args, format);\n"
	"\tvsnprintf(ctile_last_text, sizeof ctile_last_text, format, args);\n"
	"\tva_end(args);\n"
	"\treturn ctile_last_status = status;\n"
	"}\n"
	"\n";

#define STATUS(id, number, text) ROW_##id,
enum {
#include "emit/status.def"
};
#undef STATUS
#define STATUS(id, number, text) _Static_assert(ROW_##id == (number), "the texts of statuses are an array by number");
#include "emit/status.def"
#undef STATUS

/* As many in a line as 120 columns hold; at: where the last one ends. */
static int print_string(Out *o, const char *text, int at)
{
	int n = (int)strlen(text) + 4;
	bool next = at == 0 || at + n > 120;
	out_printf(o, "%s\"%s\",", at == 0 ? "\t\t" : next ? "\n\t\t" : " ", text);
	return next ? 16 + n : at + n;
}

void status_print(Out *o)
{
	out_puts(o, status_head);
	int at = 0;
#define STATUS(id, number, text) at = print_string(o, text, at);
#include "emit/status.def"
#undef STATUS
	out_puts(o, "\n");
	out_puts(o, status_end);
	out_puts(o, status_fail);
}
