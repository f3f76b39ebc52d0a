/* The tables of snippets: their order, closure and names; and the texts that the other prelude tests compile.
 * Without argument: checks both tables. With one: prints
 *   c, cuda    the whole prelude of that target
 *   visible    the same C with every function visible, and for each function of scalars an entry x_<name> in which float
 *              and double travel as bits (for prelude_ref.py)
 *   same       one line SAME1(name, result, a) ... SAME3 per function that both targets have (for test_prelude_cuda.cu) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emit/snippet.h"
#include "emit_c/prelude.h"
#include "emit_cuda/device.h"
#include "emit_cuda/prelude.h"

static int failures;
#define CHECK(c, ...) do { if (!(c)) { failures++; printf("FAIL %d: ", __LINE__); printf(__VA_ARGS__); puts(""); } } while (0)

static SnipSet set;

static void put_file(void *ctx, const char *text)
{
	fputs(text, ctx);
}

/* ---- the tables ---- */
typedef struct Order { int row; bool bad; } Order;

static void check_before(void *ctx, int row)
{
	Order *o = ctx;
	o->bad = o->bad || row > o->row;
}

static void check_table(const char *what, const SnipTable *t)
{
	snip_init(&set, t);
	CHECK(!strcmp(t->rows[0].name, "ct_head"), "%s: the first row is %s", what, t->rows[0].name);
	for (int i = 0; i < t->count; i++) {
		const char *name = t->rows[i].name, *text = t->rows[i].text;
		Order o = { i, false };
		CHECK(snip_find(&set, name) == i, "%s: %s stands twice", what, name);
		snip_needs(&set, i, check_before, &o);
		CHECK(!o.bad, "%s: %s stands before a row it calls", what, name);
		CHECK(text[strlen(text) - 1] == '\n', "%s: %s does not end its line", what, name);
		CHECK(i == 0 || strstr(text, name), "%s: %s does not define itself", what, name);
	}
	CHECK(snip_find(&set, "ct_no_such_function") == -1 && !snip_use(&set, "ct_no"), "%s: found what is not there", what);
}

static void put_name(void *ctx, const char *text)
{
	char *to = ctx;
	const char *name = strstr(text, "ct_");
	strcat(to, "|");
	if (strncmp(text, "CT_FN ", 6) == 0 && name)
		strncat(to, name, strcspn(name, "("));
}

/* Only what is needed, in table order, whatever the order of use. */
static void check_closure(void)
{
	char a[1000] = "", b[1000] = "";
	snip_init(&set, &c_prelude);
	CHECK(snip_use(&set, "ct_isnan_f16") && snip_use(&set, "ct_cvt_bf16_f32_rz"), "a row is missing");
	snip_print(&set, put_name, a);
	snip_init(&set, &c_prelude);
	CHECK(snip_use_text(&set, "x = ct_cvt_bf16_f32_rz(y); z = ct_isnan_f16(h); act_isnan_f32(1); ct_nothing();") == 2,
		"names in a text");
	snip_print(&set, put_name, b);
	CHECK(!strcmp(a, b), "the order of use shows: %s and %s", a, b);
	CHECK(!strcmp(a, "||ct_bits_u32_f32|ct_isnan_f16|ct_round_small|ct_over_small|ct_bf16|ct_cvt_bf16_f32_rz"),
		"closure: %s", a);
}

/* ---- names of conversions ---- */
static const char *const types[] = { "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f8e4m3", "f8e5m2",
	"f16", "bf16", "tf32", "f32", "f64" };
static const char *const roundings[] = { NULL, "nearest_even", "toward_zero", "toward_negative", "toward_positive" };
static const char *const overflows[] = { NULL, "default", "saturate", "inf", "nan", "wrap" };
enum { TYPES = 16, ROUNDINGS = 5, OVERFLOWS = 6 };

static int check_pair(const SnipTable *t, const char *dst, const char *src)
{
	char name[80];
	int n = 0;
	snip_init(&set, t);
	for (int r = 0; r < ROUNDINGS; r++)
		for (int o = 0; o < OVERFLOWS; o++) {
			bool ok = snip_cvt(name, sizeof name, dst, src, roundings[r], overflows[o]);
			CHECK(ok || o >= 3 || !strcmp(dst, "bool"), "%s from %s has no form for %s", dst, src, overflows[o]);
			CHECK(!ok || snip_find(&set, name) >= 0, "%s is no row", name);
			n += ok;
		}
	return n;
}

static void check_names(void)
{
	static const struct { const char *dst, *src, *r, *o, *want; } given[] = {
		{ "f16", "f32", NULL, NULL, "ct_cvt_f16_f32" },
		{ "f16", "f32", "toward_zero", "saturate", "ct_cvt_f16_f32_rz_sat" },
		{ "f16", "f32", NULL, "inf", "ct_cvt_f16_f32" },
		{ "f32", "f16", "toward_zero", NULL, "ct_cvt_f32_f16" },
		{ "f8e4m3", "f32", NULL, "saturate", "ct_cvt_f8e4m3_f32" },
		{ "f8e4m3", "f32", NULL, "nan", "ct_cvt_f8e4m3_f32_nan" },
		{ "f8e4m3", "f32", NULL, "inf", "" },
		{ "f16", "i16", NULL, "nan", "ct_cvt_f16_i16" },
		{ "i8", "i32", NULL, "saturate", "ct_cvt_i8_i32_sat" },
		{ "i8", "f32", NULL, "saturate", "ct_cvt_i8_f32" },
		{ "i8", "f32", "toward_zero", "wrap", "ct_cvt_i8_f32_wrap" },
		{ "i8", "f32", NULL, "inf", "" },
		{ "f32", "i32", NULL, "wrap", "" },
		{ "f64", "i64", "toward_positive", NULL, "ct_cvt_f64_i64_rp" },
		{ "f64", "i32", "toward_positive", NULL, "ct_cvt_f64_i32" },
		{ "bool", "f8e5m2", NULL, NULL, "ct_cvt_bool_f8e5m2" },
		{ "void", "f32", NULL, NULL, "" },
	};
	for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
		char name[80] = "";
		bool ok = snip_cvt(name, sizeof name, given[i].dst, given[i].src, given[i].r, given[i].o);
		CHECK(ok == (*given[i].want != 0) && (!ok || !strcmp(name, given[i].want)), "%s from %s: %s, not %s",
			given[i].dst, given[i].src, name, given[i].want);
	}
	int n = 0;
	for (int d = 0; d < TYPES; d++)
		for (int s = 0; s < TYPES; s++)
			n += check_pair(&c_prelude, types[d], types[s]) + check_pair(&cuda_prelude, types[d], types[s]);
	CHECK(n > 2 * TYPES * TYPES * ROUNDINGS * 3, "only %d forms", n);
	CHECK(!strcmp(snip_mode("toward_negative"), "_rm") && !snip_mode("sideways"), "modes");
}

/* What op templates form by themselves must be there for both targets. */
static void check_families(void)
{
	static const char *const ints = "add sub mul div remainder ceildiv floordiv floormod neg abs mulhi mulhi_signed min max "
		"bitand bitor bitxor bitnot shl shr eq ne lt le gt ge popcount clz ctz bitreverse add_sat sub_sat";
	static const char *const floats = "add sub mul div add_rz sub_rm mul_rp div_rz fma fma_rz fma_rm fma_rp sqrt sqrt_rz "
		"sqrt_rm sqrt_rp remainder neg abs min max min_nan max_nan eq ne lt le gt ge isnan isinf isfinite signbit copysign "
		"exp exp2 log log2 log10 log1p expm1 rsqrt sin cos tan asin acos atan sinh cosh tanh atan2 pow hypot fmod ceil "
		"floor round rint trunc erf erfc cbrt exp_full tanh_full rand randn";
	static const char *const f32s = "add_ftz sub_rz_ftz mul_rm_ftz div_rp_ftz fma_ftz fma_rz_ftz sqrt_ftz sqrt_approx "
		"sqrt_approx_ftz div_approx div_approx_ftz div_full div_full_ftz rsqrt_ftz exp2_ftz min_ftz max_nan_ftz "
		"exp_approx tanh_approx";
	const SnipTable *const tables[] = { &c_prelude, &cuda_prelude };
	for (int k = 0; k < 2; k++) {
		snip_init(&set, tables[k]);
		for (int i = 0; i < TYPES; i++) {
			const char *list = i < 9 ? ints : i == 11 || i == 12 || i >= 14 ? floats : "";
			for (int pass = 0; pass < 2; pass++, list = !strcmp(types[i], "f32") ? f32s : "") {
				while (*list) {
					char name[80];
					int n = (int)strcspn(list, " "), op = n;
					for (const char *const *m = (const char *const[]){ "_rz", "_rm", "_rp", "_nan", "_ftz", "_approx", "_full",
							"_nan_ftz", "_rz_ftz", "_rm_ftz", "_rp_ftz", "_approx_ftz", "_full_ftz", NULL }; *m; m++) {
						int len = (int)strlen(*m);
						if (n > len && !strncmp(list + n - len, *m, (size_t)len) && n - len < op)
							op = n - len;
					}
					snprintf(name, sizeof name, "ct_%.*s_%s%.*s", op, list, types[i], n - op, list + op);
					CHECK(snip_find(&set, name) >= 0, "%s is no row of table %d", name, k);
					list += n + strspn(list + n, " ");
				}
			}
		}
	}
}

/* ---- texts for the other tests ---- */
typedef struct Sig { char name[80], type[4][24]; int n; } Sig;      /* type[0]: result */

static const char *word(const char *p, const char *stop, char *to, size_t cap)
{
	size_t n = strcspn(p, stop);
	snprintf(to, cap, "%.*s", (int)n, p);
	return p + n;
}

/* The signature of a row "CT_FN type name(type a, ...)" over scalars; false for anything else. */
static bool signature(const Snippet *s, Sig *g)
{
	const char *p = strstr(s->text, "CT_FN "), *q = strstr(s->text, "CT_CALL ");
	char head[120], args[200];
	p = p ? p + 6 : q ? q + 8 : NULL;
	if (!p)
		return false;
	p = word(p, "(", head, sizeof head) + 1;
	word(p, ")", args, sizeof args);
	char *at = strrchr(head, ' ');
	if (!at || strcmp(at + 1, s->name) || strpbrk(head, "*") || strpbrk(args, "*") || strstr(args, "ct_") || strstr(head, "void"))
		return false;
	*at = 0;
	word(s->name, "", g->name, sizeof g->name);
	word(head, "", g->type[0], sizeof g->type[0]);
	g->n = 0;
	for (char *a = strtok(args, ","); a; a = strtok(NULL, ",")) {
		char *end = strrchr(a, ' ');
		if (!end || g->n == 3)
			return false;
		*end = 0;
		word(a + strspn(a, " "), "", g->type[++g->n], sizeof g->type[0]);
	}
	return strncmp(head, "ct_", 3) != 0;
}

static const char *bits_of(const char *type)
{
	return !strcmp(type, "float") ? "uint32_t" : !strcmp(type, "double") ? "uint64_t" : type;
}

static void print_entry(const Sig *g)
{
	static const char *const to[] = { "", "_f32_u32", "_f64_u64" };
	printf("%s x_%s(", bits_of(g->type[0]), g->name);
	for (int i = 1; i <= g->n; i++)
		printf("%s%s a%d", i > 1 ? ", " : "", bits_of(g->type[i]), i);
	bool f = !strcmp(g->type[0], "float"), d = !strcmp(g->type[0], "double");
	printf(") { return %s(%s(", f ? "ct_bits_u32_f32" : d ? "ct_bits_u64_f64" : "", g->name);
	for (int i = 1; i <= g->n; i++) {
		int k = !strcmp(g->type[i], "float") ? 1 : !strcmp(g->type[i], "double") ? 2 : 0;
		printf("%s%s%s(a%d)", i > 1 ? ", " : "", k ? "ct_bits" : "", to[k], i);
	}
	printf(")); }\n");
}

static void put_visible(void *ctx, const char *text)
{
	const char *at = strstr(text, "#define CT_FN static inline");
	if (at)
		fprintf(ctx, "%.*s#define CT_FN\n", (int)(at - text), text);
	else
		fputs(text, ctx);
}

static void print_all(const SnipTable *t, SnipPut *put)
{
	snip_init(&set, t);
	for (int i = 0; i < t->count; i++)
		set.used[i] = true;
	snip_print(&set, put, stdout);
}

/* Internal helpers take modes or pointers by position, and random or undefined operands would mean nothing to them. */
static bool comparable(const Sig *g)
{
	static const char *const inner[] = { "ct_round_small", "ct_over_small", "ct_f8e4m3", "ct_f8e5m2", "ct_odd_", "ct_sin_", "ct_cos_" };
	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
		if (!strncmp(g->name, inner[i], strlen(inner[i])))
			return !strcmp(g->name, "ct_sin_f32") || !strcmp(g->name, "ct_cos_f32") || !strncmp(g->name, "ct_odd_", 7) ||
				!strncmp(g->name, "ct_sin_f", 8) || !strncmp(g->name, "ct_cos_f", 8) || strstr(g->name, "_bf16");
	return true;
}

static void print_same(void)
{
	Sig c, g;
	snip_init(&set, &c_prelude);
	for (int i = 0; i < cuda_prelude.count; i++) {
		int k = snip_find(&set, cuda_prelude.rows[i].name);
		if (k < 0 || !signature(&c_prelude.rows[k], &c) || !signature(&cuda_prelude.rows[i], &g) || !comparable(&c))
			continue;
		printf("SAME%d(%s, %s", c.n, c.name, c.type[0]);
		for (int j = 1; j <= c.n; j++)
			printf(", %s", c.type[j]);
		puts(")");
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "c"))
		print_all(&c_prelude, put_file);
	else if (!strcmp(what, "cuda"))
		print_all(&cuda_prelude, put_file);
	else if (!strcmp(what, "same"))
		print_same();
	else if (!strcmp(what, "visible")) {
		Sig g;
		print_all(&c_prelude, put_visible);
		for (int i = 1; i < c_prelude.count; i++)
			if (signature(&c_prelude.rows[i], &g))
				print_entry(&g);
	} else {
		check_table("c", &c_prelude);
		check_table("cuda", &cuda_prelude);
		check_table("device", &cuda_device);
		check_closure();
		check_names();
		check_families();
		printf("prelude tables: %d and %d rows, %d failures\n", c_prelude.count, cuda_prelude.count, failures);
	}
	return failures != 0;
}
