/* The type rules: common types, narrowing, broadcasting, the conversions of operands, mma, limits. Expected values are those
 * of the language's rules written out by hand, not computed. */
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "ir/rules.h"

static int failures;
#define CHECK(c) ((c) ? (void)0 : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #c)))

static Elem el(const char *name)
{
	Elem e = EL_VOID;
	if (!strncmp(name, "ptr ", 4)) return elem_ptr_to(el(name + 4));
	if (!elem_by_name(str_intern(name), &e)) printf("no element type %s\n", name), failures++;
	return e;
}

/* "f32", "f32[4,8]", "f32[]" */
static const Type *ty(const char *text)
{
	const char *b = strchr(text, '[');
	char name[32] = { 0 };
	memcpy(name, text, b ? (size_t)(b - text) : strlen(text));
	if (!b) return type_scalar(el(name));
	uint8_t log2[TILE_RANK] = { 0 };
	int rank = 0, n, used = 0;
	for (b++; sscanf(b, "%d%n", &n, &used) == 1; b += used + (b[used] == ',')) {
		int l = 0;
		while (1 << l < n) l++;
		log2[rank++] = (uint8_t)l;
	}
	return type_tile(el(name), rank, log2);
}

static void common_is(const char *a, const char *b, const char *want)
{
	for (int swap = 0; swap < 2; swap++) {
		Elem c = EL_VOID;
		bool ok = rule_common(el(swap ? b : a), el(swap ? a : b), &c);
		if (ok != (want != NULL) || (want && c != el(want))) {
			failures++;
			printf("common(%s, %s): got %s, want %s\n", a, b, ok ? elem_name(c) : "none", want ? want : "none");
		}
	}
}

static void common_types(void)
{
	common_is("i32", "f64", "f64");
	common_is("f16", "f32", "f32");
	common_is("f16", "bf16", NULL);
	common_is("i16", "i16", "i16");
	common_is("i32", "u32", "u32");
	common_is("i64", "u32", "i64");
	common_is("i32", "u64", "u64");
	common_is("i32", "u16", "i32");
	common_is("i8", "u8", "u8");
	common_is("bool", "i8", "i8");
	common_is("bool", "u8", "u8");
	common_is("bool", "bool", "bool");
	common_is("bool", "f16", "f16");
	common_is("i64", "f16", "f16");
	common_is("bf16", "f32", "f32");
	common_is("ptr f32", "ptr void", "ptr void");
	common_is("ptr f32", "ptr i32", NULL);
	common_is("ptr f32", "i32", NULL);
}

static void narrows_is(const char *from, const char *to, bool want)
{
	if (rule_narrows(el(from), el(to)) == want) return;
	failures++;
	printf("%s to %s: want %s\n", from, to, want ? "narrowing" : "fine");
}

static void narrowing(void)
{
	static const char *const order[] = { "f8e4m3", "f16", "tf32", "f32", "f64" };
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < 5; k++) narrows_is(order[i], order[k], k < i);
	narrows_is("f16", "bf16", true);
	narrows_is("bf16", "f16", true);
	narrows_is("f8e4m3", "f8e5m2", true);
	narrows_is("f8e5m2", "bf16", false);
	narrows_is("bool", "f64", true);
	narrows_is("i8", "f64", true);
	narrows_is("f64", "i64", true);
	narrows_is("i8", "i16", false);
	narrows_is("i16", "i8", true);
	narrows_is("u8", "i16", false);
	narrows_is("u8", "i8", true);
	narrows_is("i8", "u64", true);
	narrows_is("u32", "i64", false);
	narrows_is("bool", "i8", false);
	narrows_is("bool", "u64", false);
	narrows_is("i8", "bool", true);
	narrows_is("ptr f32", "ptr void", false);
	narrows_is("ptr void", "ptr f32", true);
	narrows_is("ptr f32", "i64", true);
	CHECK(rule_converts(el("f8e4m3"), el("bool")) && rule_converts(el("i64"), el("tf32")));
	CHECK(rule_converts(el("ptr f32"), el("bool")) && !rule_converts(el("ptr f32"), el("i64")));
	CHECK(!rule_converts(el("i64"), el("ptr f32")));
}

static void binary_is(TypeRule rule, const char *a, const char *b, const char *elem, const char *type)
{
	Ruling r = rule_binary(rule, ty(a), ty(b));
	if (r.why == RULE_OK && r.elem == el(elem) && r.type == ty(type)) return;
	failures++;
	printf("%s with %s: got %s (reason %d), want %s in %s\n", a, b, r.type ? type_text(r.type) : "none", r.why, type, elem);
}

static void refused(TypeRule rule, const char *a, const char *b, RuleWhy why, int which)
{
	Ruling r = rule_binary(rule, ty(a), ty(b));
	if (r.why == why && r.which == which && !r.type) return;
	failures++;
	printf("%s with %s: reason %d of operand %d, want %d of %d\n", a, b, r.why, r.which, why, which);
}

static void arithmetic(void)
{
	binary_is(TR_CONV, "i32[4,1]", "f32[1,8]", "f32", "f32[4,8]");
	binary_is(TR_CONV, "i32", "f32[8]", "f32", "f32[8]");
	binary_is(TR_CONV, "i64", "f16[8]", "f16", "f16[8]");
	binary_is(TR_CONV, "i8", "i8", "i8", "i8");
	binary_is(TR_CONV, "f32", "f32[]", "f32", "f32[]");
	binary_is(TR_CONV, "i16", "i32[8]", "i32", "i32[8]");
	binary_is(TR_CONV, "i32[8]", "u16[8]", "i32", "i32[8]");
	binary_is(TR_CONV, "bool[8]", "bool[8]", "bool", "bool[8]");
	binary_is(TR_CONV, "f64[2,1]", "f32[1,2]", "f64", "f64[2,2]");
	binary_is(TR_CONV, "i32[4,2,1]", "i32[2,8]", "i32", "i32[4,2,8]");
	binary_is(TR_CONV, "i32[4]", "i32[1,2,1]", "i32", "i32[1,2,4]");
	refused(TR_CONV, "f32", "i32[8]", RULE_NARROWS, 0);
	refused(TR_CONV, "f64", "f32[8]", RULE_NARROWS, 0);
	refused(TR_CONV, "f16[8]", "f32", RULE_NARROWS, 1);
	refused(TR_CONV, "i64", "i32[8]", RULE_NARROWS, 0);
	refused(TR_CONV, "u32", "i32[8]", RULE_NARROWS, 0);
	refused(TR_CONV, "i32[8]", "u32[8]", RULE_NARROWS, 0);
	refused(TR_CONV, "u32", "i32", RULE_NARROWS, 1);
	refused(TR_CONV, "f16[8]", "bf16[8]", RULE_NO_COMMON, 0);
	refused(TR_CONV, "tf32[8]", "f32[8]", RULE_RESTRICTED, 0);
	refused(TR_CONV, "f32[8]", "f8e4m3", RULE_RESTRICTED, 1);
	refused(TR_CONV, "f32[2,4]", "f32[8]", RULE_SHAPES, 1);
	refused(TR_CONV, "f32[4,8]", "f32[4]", RULE_SHAPES, 1);
	refused(TR_CONV_INT, "f32[8]", "i32", RULE_NOT_INT, 0);
	refused(TR_CONV_INT, "i32", "f32[8]", RULE_NOT_INT, 1);
	refused(TR_CONV_FLT, "i32[8]", "i32[8]", RULE_NOT_FLOAT, 0);
	refused(TR_CONV_FLT, "f32[8]", "i32", RULE_NOT_FLOAT, 1);
	binary_is(TR_CONV_TO_FLT, "f32[8]", "i32", "f32", "f32[8]");
	refused(TR_CONV_TO_FLT, "i32[8]", "i32[8]", RULE_NOT_FLOAT, 0);
	refused(TR_CONV, "f32[8192,1]", "f32[1,8192]", RULE_ELEMENTS, 0);
	refused(TR_CONV, "f64[4096,1]", "f64[1,1024]", RULE_BYTES, 0);
}

static void comparison(void)
{
	binary_is(TR_CMP, "f64", "f32[8]", "f64", "bool[8]");
	binary_is(TR_CMP, "f32", "i32[8]", "f32", "bool[8]");
	binary_is(TR_CMP, "f64", "i32[8]", "f64", "bool[8]");
	binary_is(TR_CMP, "i32", "i64", "i64", "bool");
	refused(TR_CMP, "u32", "i32[8]", RULE_NARROWS, 1);
	refused(TR_CMP, "bf16", "f16[8]", RULE_NO_COMMON, 0);
	refused(TR_CMP, "f8e5m2[8]", "f8e5m2[8]", RULE_RESTRICTED, 0);
	binary_is(TR_SHIFT, "u8[8]", "i64", "u8", "u8[8]");
	binary_is(TR_SHIFT, "i32", "u8[8]", "i32", "i32[8]");
	refused(TR_SHIFT, "f32", "i32", RULE_NOT_INT, 0);
	binary_is(TR_LOGIC, "f16[8]", "bf16[4,1]", "bool", "bool[4,8]");
	refused(TR_LOGIC, "tf32[8]", "bool", RULE_RESTRICTED, 0);
}

static void one_way_is(const char *from, const char *to, bool want)
{
	int axis;
	const Type *t = ty(to);
	if (rule_one_way(ty(from), t->rank, t->log2, &axis) == want) return;
	failures++;
	printf("%s broadcasts to %s: want %d\n", from, to, want);
}

static void broadcasting(void)
{
	one_way_is("f32[4,1]", "f32[4,8]", true);
	one_way_is("f32[2]", "f32[4,2]", true);
	one_way_is("f32[2,1,8]", "f32[2,16,8]", true);
	one_way_is("f32[2]", "f32[2,4]", false);
	one_way_is("f32[4,8]", "f32[8]", false);
	one_way_is("f32[4,8]", "f32[4,1]", false);
	one_way_is("f32[]", "f32[4]", true);
	one_way_is("f32", "f32[4]", true);
}

static void unary_and_reductions(void)
{
	CHECK(rule_unary(TR_SAME_FLT, ty("bf16[4]")).type == ty("bf16[4]"));
	CHECK(rule_unary(TR_SAME_FLT, ty("i32[4]")).why == RULE_NOT_FLOAT);
	CHECK(rule_unary(TR_SAME_INT, ty("bool")).type == ty("bool"));
	CHECK(rule_unary(TR_TO_BOOL, ty("f8e4m3[4]")).type == ty("bool[4]"));
	CHECK(rule_unary(TR_TO_BOOL, ty("i32[4]")).why == RULE_NOT_FLOAT);
	CHECK(rule_unary(TR_SAME_ARITH, ty("tf32")).why == RULE_RESTRICTED);
	CHECK(rule_reduce(TR_REDUCE, ty("i8[4,8]"), 1).type == ty("i8[4,1]"));
	CHECK(rule_reduce(TR_REDUCE_INDEX, ty("f16[4,8]"), 0).type == ty("u32[1,8]"));
	CHECK(rule_reduce(TR_SCAN, ty("f16[4,8]"), 0).type == ty("f16[4,8]"));
	CHECK(rule_reduce(TR_REDUCE, ty("f16[4,8]"), 2).why == RULE_RANK);
	CHECK(rule_reduce(TR_REDUCE, ty("f16[4,8]"), -1).why == RULE_RANK);
	CHECK(rule_reduce(TR_REDUCE, ty("f16"), 0).why == RULE_RANK);
	CHECK(rule_reduce(TR_REDUCE_INT, ty("f16[4]"), 0).why == RULE_NOT_INT);
	CHECK(rule_cat(ty("i32[2,4]"), ty("i32[2,4]"), 0).type == ty("i32[4,4]"));
	CHECK(rule_cat(ty("i32[2,4]"), ty("i32[2,4]"), 1).type == ty("i32[2,8]"));
	CHECK(rule_cat(ty("i32[2,4]"), ty("i32[4,4]"), 0).why == RULE_SHAPES);
	CHECK(rule_cat(ty("i32[2,4]"), ty("f32[2,4]"), 0).why == RULE_SAME);
	CHECK(rule_cat(ty("i32"), ty("i32"), 0).why == RULE_RANK);
}

static void products(void)
{
	CHECK(rule_mma(ty("f16[16,32]"), ty("f16[32,8]"), NULL).type == ty("f16[16,8]"));
	CHECK(rule_mma(ty("f8e5m2[16,32]"), ty("f8e5m2[32,8]"), NULL).type == ty("f16[16,8]"));
	CHECK(rule_mma(ty("bf16[1,1]"), ty("bf16[1,1]"), NULL).type == ty("f32[1,1]"));
	CHECK(rule_mma(ty("i8[2,4]"), ty("u8[4,2]"), NULL).type == ty("i32[2,2]"));
	CHECK(rule_mma(ty("bool[2,4]"), ty("u8[4,2]"), ty("i32[2,2]")).type == ty("i32[2,2]"));
	CHECK(rule_mma(ty("f16[2,4]"), ty("f16[4,2]"), ty("f32[2,2]")).type == ty("f32[2,2]"));
	CHECK(rule_mma(ty("f64[2,4]"), ty("f64[4,2]"), ty("f32[2,2]")).why == RULE_MMA_ACC);
	CHECK(rule_mma(ty("bf16[2,4]"), ty("bf16[4,2]"), ty("bf16[2,2]")).why == RULE_MMA_ACC);
	CHECK(rule_mma(ty("f16[2,4]"), ty("bf16[4,2]"), NULL).why == RULE_SAME);
	CHECK(rule_mma(ty("f8e4m3[2,4]"), ty("f8e5m2[4,2]"), NULL).why == RULE_SAME);
	CHECK(rule_mma(ty("i16[2,4]"), ty("i16[4,2]"), NULL).why == RULE_MMA_ELEM);
	CHECK(rule_mma(ty("f16[2,4]"), ty("f16[2,4]"), NULL).why == RULE_INNER);
	CHECK(rule_mma(ty("f16[2,4]"), ty("f16[4,2]"), ty("f32[4,2]")).why == RULE_ROWS);
	CHECK(rule_mma(ty("f16[2,4]"), ty("f16[4,2]"), ty("f32[2,4]")).why == RULE_COLS);
	CHECK(rule_mma(ty("f16[4]"), ty("f16[4]"), NULL).why == RULE_RANK);
	CHECK(rule_mma(ty("f16[1,2,4]"), ty("f16[8,4,2]"), NULL).type == ty("f16[8,2,2]"));
	CHECK(rule_mma(ty("f16[1,2,4]"), ty("f16[8,4,2]"), ty("f32[8,2,2]")).type == ty("f32[8,2,2]"));
	CHECK(rule_mma(ty("f16[4,2,4]"), ty("f16[8,4,2]"), NULL).why == RULE_BATCH);
	CHECK(rule_mma(ty("f16[2,4]"), ty("f16[1,4,2]"), NULL).why == RULE_RANK);
}

int main(void)
{
	A_UNIT = arena_new();
	A_TMP = arena_new();
	common_types();
	narrowing();
	arithmetic();
	comparison();
	broadcasting();
	unary_and_reductions();
	products();
	if (!failures) puts("ok");
	return failures != 0;
}
