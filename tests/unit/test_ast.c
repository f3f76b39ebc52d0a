/* Tokens, trees and their text: the token list against the scanner, random trees and every .tile file printed and parsed
 * again, limits. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/diag.h"
#include "lexer/lex.h"
#include "parser/parse.h"

static int failures;
#define CHECK(c) ((c) ? (void)0 : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #c)))

/* ---- tokens ---- */

static int lex_all(const char *text, Token *t, int max)
{
	Lex l;
	int n = 0;
	lex_begin(&l, src_add(str_intern("text"), text, strlen(text)));
	for (lex_token(&l, &t[n]); t[n].kind && n + 1 < max; lex_token(&l, &t[n])) n++;
	return n;
}

static int kind_of(const char *text)
{
	Token t[4];
	return lex_all(text, t, 4) == 1 ? t[0].kind : -1;
}

/* Each word and mark of the list is one token, of its kind. */
static void token_list(void)
{
	int words = 0;
	for (int i = 0; i < token_count; i++) {
		const TokenRow *r = &token_rows[i];
		if (r->cls == TC_CLASS) continue;
		words += r->cls != TC_PUNCTUATION;
		CHECK(kind_of(r->text) == r->kind);
		if (r->cls != TC_PUNCTUATION) CHECK(kind_of(arena_printf(A_UNIT, "%s_", r->text)) == TOK_IDENT);
	}
	CHECK(words == 30);
}

static void is_kinds(const char *text, const int *kinds, int n)
{
	Token t[16];
	int got = lex_all(text, t, 16);
	CHECK(got == n);
	for (int i = 0; i < n && i < got; i++)
		if (t[i].kind != kinds[i]) failures++, printf("%s: token %d is `%s`\n", text, i, token_text(t[i].kind));
}
#define KINDS(text, ...) is_kinds(text, (const int[]){ __VA_ARGS__ }, (int)(sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)))

static void greater(void)
{
	KINDS(">", TOK_GT);
	KINDS(">>", TOK_GT_GT, TOK_GT);
	KINDS(">>>", TOK_GT_GT, TOK_GT_GT, TOK_GT);
	KINDS(">=", TOK_GT_EQ, TOK_ASSIGN);
	KINDS(">>=", TOK_GT_GE, TOK_GT_EQ, TOK_ASSIGN);
	KINDS(">==", TOK_GT, TOK_EQ);
	KINDS("> >", TOK_GT, TOK_GT);
	KINDS(">>==", TOK_GT_GT, TOK_GT, TOK_EQ);
}

static void literals(void)
{
	KINDS("0..4", TOK_INT, TOK_DOTDOT, TOK_INT);
	KINDS("0xF..4", TOK_INT, TOK_DOTDOT, TOK_INT);
	KINDS("a.b", TOK_IDENT, TOK_DOT, TOK_IDENT);
	KINDS("1e5 1.5e-3f16 2f8e4m3 0x1p3 0x1.8p-3f64 3bf16", TOK_FLOAT, TOK_FLOAT, TOK_FLOAT, TOK_FLOAT, TOK_FLOAT, TOK_FLOAT);
	KINDS("/* a /* b */ 1 // c\n/// d\n/// e\n//// f\n2", TOK_INT, TOK_DOC, TOK_INT);
	KINDS("/**/ /***/ 1 */* x */ 2", TOK_INT, TOK_STAR, TOK_INT);
	Token t[16];
	CHECK(lex_all("1_000 0xFF_FFu64 0b101i8 18446744073709551615 1e-5f64 \"a\\n\\u{e9}\\\"\" ///  b \n ///\n///c", t, 16) == 7);
	CHECK(t[0].v.lit.i == 1000 && !strcmp(t[0].v.lit.text, "1000") && !t[0].v.lit.suffix);
	CHECK(t[1].v.lit.i == 0xFFFF && !strcmp(t[1].v.lit.suffix, "u64"));
	CHECK(t[2].v.lit.i == 5 && !strcmp(t[2].v.lit.suffix, "i8"));
	CHECK(t[3].v.lit.i == UINT64_MAX);
	CHECK(!strcmp(t[4].v.lit.text, "1e-5") && !strcmp(t[4].v.lit.suffix, "f64"));
	CHECK(!strcmp(t[5].v.str, "a\n\xC3\xA9\""));
	CHECK(!strcmp(t[6].v.str, " b\n\nc"));
	CHECK(diag_errors() == 0);
}

/* ---- text to tree to text to tree ---- */

static Ast *parse(const char *text, size_t n)
{
	return parse_file(src_add(str_intern("text"), text, n));
}

static const char *printed(const Ast *a)
{
	Out *o = out_new();
	ast_print(o, a);
	return o->n ? o->p : "";
}

static bool identity(const char *what, const Ast *a)
{
	int errors = diag_errors();
	const char *first = printed(a);
	const Ast *b = parse(first, strlen(first));
	bool same = diag_errors() == errors && ast_equal(a, b) && !strcmp(first, printed(b));
	if (!same) failures++, printf("%s does not print and parse to itself:\n%s\n-- and then --\n%s\n", what, first, printed(b));
	return same;
}

static int files;

static void file(const char *path)
{
	size_t n;
	const char *why;
	char *text = src_read(path, &n, &why);
	int errors = diag_errors();
	if (!text) return;
	Ast *a = parse(text, n);
	if (diag_errors() > errors) return;     /* a file with mistakes on purpose */
	files++;
	identity(path, a);
}

static void folder(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	struct stat st;
	while (d && (e = readdir(d))) {
		const char *p = arena_printf(A_UNIT, "%s/%s", path, e->d_name);
		size_t n = strlen(p);
		if (e->d_name[0] == '.' || stat(p, &st)) continue;
		if (S_ISDIR(st.st_mode)) folder(p);
		else if (n > 5 && !strcmp(p + n - 5, ".tile")) file(p);
	}
	if (d) closedir(d);
}

/* ---- random trees ---- */

static uint64_t seed = 1;

static int rnd(int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % (uint64_t)n);
}

#define PICK(...) ((const char *const[]){ __VA_ARGS__ })[rnd((int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)))]
static const Span none = { 0, 0 };

static Name name(void)
{
	return (Name){ str_intern(PICK("a", "b", "x", "out", "step", "grid", "where", "as", "in_", "and", "or", "not", "elif", "T",
		"BM", "inf")), none };
}

static Expr *expr(int depth);
static Expr *type(int depth);
static Block *block(int depth);

static ExprVec exprs(int least, int most, int depth)
{
	ExprVec v = { 0 };
	for (int n = least + rnd(most - least + 1); n > 0; n--) vec_push(A_UNIT, &v, expr(depth));
	return v;
}

static ArgVec args(int depth)
{
	ArgVec v = { 0 };
	for (int n = rnd(3); n > 0; n--) vec_push(A_UNIT, &v, ((Arg){ { NULL, none }, expr(depth) }));
	for (int n = rnd(2); n > 0; n--) vec_push(A_UNIT, &v, ((Arg){ name(), expr(depth) }));
	return v;
}

static Expr *targ(int depth)
{
	if (rnd(6) == 0) return ex_list(EX_SET, none, exprs(1, 3, depth));
	return rnd(3) ? expr(depth) : type(depth);
}

static ArgVec targs(int depth)
{
	ArgVec v = { 0 };
	for (int n = 1 + rnd(3); n > 0; n--) vec_push(A_UNIT, &v, ((Arg){ rnd(3) ? (Name){ 0 } : name(), targ(depth) }));
	return v;
}

static Expr *tensor(int depth)
{
	ExprVec dims = { 0 };
	for (int n = rnd(3); n > 0; n--)
		vec_push(A_UNIT, &dims, rnd(4) ? expr(depth) : ex_dim(none, name(), type(depth)));
	Expr *shape = rnd(5) ? ex_list(EX_LIST, none, dims) : ex_name(name());
	return ex_tensor(none, (Name){ str_intern("tensor"), none }, targ(depth), shape, rnd(2) ? (Arg){ { 0 }, targ(depth) } : (Arg){ 0 });
}

static Expr *basic_type(int depth)
{
	return rnd(3) ? ex_type(none, (Name){ str_intern(PICK("tile", "ptr")), none }, targs(depth)) : tensor(depth);
}

static Expr *type(int depth)
{
	if (depth <= 0) return ex_name(name());
	switch (rnd(4)) {
	case 0: return basic_type(depth - 1);
	case 1: return ex_type(none, name(), targs(depth - 1));
	case 2: return ex_call(none, ex_name(name()), args(depth - 1));
	default: return ex_name(name());
	}
}

static Expr *rtype(int depth)
{
	if (rnd(4)) return type(depth);
	ExprVec v = { 0 };
	for (int n = 2 + rnd(2); n > 0; n--) vec_push(A_UNIT, &v, type(depth));
	return ex_list(EX_TUPLE, none, v);
}

static Expr *pattern(int depth)
{
	if (rnd(4) || depth <= 0) return rnd(4) ? ex_name(name()) : ex_new(EX_UNDER, none);
	ExprVec v = { 0 };
	for (int n = 2 + rnd(2); n > 0; n--) vec_push(A_UNIT, &v, pattern(depth - 1));
	return ex_list(EX_TUPLE, none, v);
}

static Expr *integer(void)
{
	uint64_t i = (uint64_t)rnd(1000);
	bool hex = rnd(4) == 0;
	return ex_int(none, (Literal){ i, str_fmt(hex ? "0x%llx" : "%llu", (unsigned long long)i), rnd(4) ? NULL : str_intern("u8") });
}

static Expr *leaf(void)
{
	switch (rnd(6)) {
	case 0: return integer();
	case 1: return ex_float(none, (Literal){ 0, str_intern(PICK("1.5", "1e-5", "0x1.8p3", "3")), str_intern(PICK("f32", "bf16")) });
	case 2: return ex_string(none, str_intern(PICK("", "a b", "\n\t\"\\", "\x01\x7F", "\xC3\xA9{}")));
	case 3: return ex_new(EX_UNDER, none);
	default: return ex_name(name());
	}
}

static Expr *index(Expr *base, int depth)
{
	ExprVec v = exprs(0, 2, depth);
	if (!v.n || rnd(3) == 0) vec_push(A_UNIT, &v, ex_new(EX_ALL, none));
	return ex_index(none, base, v);
}

static Expr *lambda(int depth)
{
	ExprVec v = { 0 };
	for (int n = rnd(3); n > 0; n--) vec_push(A_UNIT, &v, pattern(1));
	return rnd(2) ? ex_lambda(none, v, expr(depth), NULL) : ex_lambda(none, v, NULL, block(depth));
}

static Expr *expr(int depth)
{
	if (depth <= 0) return leaf();
	depth -= 1 + rnd(2);
	switch (rnd(14)) {
	case 0: return ex_unary((UnOp)rnd(4), none, expr(depth));
	case 1: return ex_unsafe(none, expr(depth));
	case 2: case 3: case 4: case 5: return ex_binary((BinOp)(BIN_ADD + rnd(BIN_OROR)), none, expr(depth), expr(depth));
	case 6: return ex_cond(expr(depth), expr(depth), expr(depth));
	case 7: return ex_call(none, expr(depth), args(depth));
	case 8: return ex_member(expr(depth), name());
	case 9: return index(expr(depth), depth);
	case 10: return ex_list(EX_LIST, none, exprs(0, 3, depth));
	case 11: return ex_list(EX_TUPLE, none, exprs(2, 3, depth));
	case 12: return basic_type(depth);
	default: return lambda(depth);
	}
}

static Expr *place(int depth)
{
	Expr *e = ex_name(name());
	for (int n = rnd(3); n > 0; n--)
		e = rnd(3) == 0 ? ex_member(e, name()) : rnd(2) ? index(e, depth) : ex_call(none, e, args(depth));
	return e;
}

static DeclVec decls(int depth)
{
	DeclVec v = { 0 };
	for (int n = 1 + rnd(2); n > 0; n--) vec_push(A_UNIT, &v, ((Decl){ pattern(1), rnd(2) ? rtype(depth) : NULL, expr(depth) }));
	return v;
}

static Item *constant(ItemKind kind, int depth)
{
	return it_constant(kind, none, name(), rnd(2) ? rtype(depth) : NULL, expr(depth));
}

static Stmt *if_stmt(int depth)
{
	Stmt *other = rnd(3) == 0 ? st_block(ST_BLOCK, block(depth)) : rnd(3) == 0 && depth > 0 ? if_stmt(depth - 1) : NULL;
	return st_if(none, rnd(2), expr(depth), block(depth), other);
}

static Stmt *assignment(int depth)
{
	static const BinOp ops[] = { BIN_NONE, BIN_ADD, BIN_SUB, BIN_MUL, BIN_DIV, BIN_MOD, BIN_MATMUL, BIN_AND, BIN_OR, BIN_XOR, BIN_SHL, BIN_SHR };
	return st_assign(none, place(depth), ops[rnd(12)], none, expr(depth));
}

static Stmt *plain(int depth)
{
	switch (rnd(15)) {
	case 0: return st_decls(ST_LET, none, decls(depth));
	case 1: return st_decls(ST_VAR, none, decls(depth));
	case 2: return st_expr(none, place(depth));
	case 3: return st_expr(none, ex_unsafe(none, place(depth)));
	case 4: case 5: return assignment(depth);
	case 6: return st_for(none, rnd(2), name(), expr(depth), expr(depth), rnd(2) ? expr(depth) : NULL, block(depth));
	case 7: return st_while(none, expr(depth), block(depth));
	case 8: return if_stmt(depth);
	case 9: return st_new(rnd(2) ? ST_BREAK : ST_CONTINUE, none);
	case 10: return st_return(none, rnd(2) ? expr(depth) : NULL);
	case 11: return st_scratch(none, name(), type(depth));
	case 12: return st_block(rnd(2) ? ST_BLOCK : ST_UNSAFE, block(depth));
	case 13: return st_const(constant(IT_CONST, depth));
	default: return st_assign(none, ex_list(EX_TUPLE, none, exprs(2, 3, depth)), BIN_NONE, none, expr(depth));
	}
}

static Str doc(void)
{
	return rnd(4) ? NULL : str_intern(PICK("", "one", " two\n\nthree", "*/ {", "\n"));
}

static AttrVec attrs(int depth)
{
	AttrVec v = { 0 };
	for (int n = rnd(4) ? 0 : 1 + rnd(2); n > 0; n--) vec_push(A_UNIT, &v, ((Attr){ name(), args(depth), none }));
	return v;
}

static Stmt *stmt(int depth)
{
	Stmt *s = plain(depth);
	bool tuple = s->kind == ST_ASSIGN && s->u.assign.lhs->kind == EX_TUPLE;
	return st_deco(s, doc(), tuple ? (AttrVec){ 0 } : attrs(depth));
}

static Block *block(int depth)
{
	StmtVec v = { 0 };
	for (int n = depth > 0 ? rnd(4) : 0; n > 0; n--) vec_push(A_UNIT, &v, stmt(depth - 1));
	return ast_block(none, v);
}

static Expr *class_of(int depth)
{
	if (rnd(3)) return type(depth);
	ExprVec v = { 0 };
	for (int n = 2 + rnd(2); n > 0; n--) vec_push(A_UNIT, &v, type(depth));
	return ex_list(EX_ALT, none, v);
}

static Item *function(ItemKind kind, int depth)
{
	FnItem f = { .body = block(depth), .where = exprs(0, 2, depth) };
	for (int n = kind == IT_ENTRY ? 0 : rnd(3); n > 0; n--)
		vec_push(A_UNIT, &f.generics, *ast_generic(doc(), name(), rnd(2) ? class_of(1) : NULL, rnd(2) ? targ(1) : NULL));
	for (int n = rnd(3); n > 0; n--) {
		vec_push(A_UNIT, &f.params, *ast_param(none, doc(), name(), (Mode)rnd(4), type(depth)));
		if (rnd(3) == 0) f.params.p[f.params.n - 1].dflt = expr(1);
	}
	if (kind != IT_FN && rnd(2)) f.dims = exprs(1, 3, 1);
	if (kind == IT_KERNEL) f.grid = exprs(1, 3, 1);
	if (kind == IT_FN && rnd(2)) f.result = rtype(depth);
	return it_deco(it_fn(kind, none, name(), f), doc(), attrs(1));
}

static Item *item(int depth)
{
	switch (rnd(7)) {
	case 0: return it_deco(it_import(none, str_intern("a b.tile"), none, rnd(2) ? name() : (Name){ 0 }), doc(), (AttrVec){ 0 });
	case 1: return it_deco(constant(rnd(2) ? IT_PARAM : IT_CONST, depth), doc(), (AttrVec){ 0 });
	case 2: {
		Item *it = it_instance(rnd(2) ? IT_INSTANCE : IT_TUNE, none, name(), rnd(2) ? name() : (Name){ 0 }, name());
		return it_deco(it_inst_args(it, none, rnd(3) ? targs(1) : (ArgVec){ 0 }, exprs(0, 2, 1)), doc(), (AttrVec){ 0 });
	}
	case 3: return function(IT_KERNEL, depth);
	case 4: return function(IT_ENTRY, depth);
	default: return function(IT_FN, depth);
	}
}

/* At least one item: a tree of none prints as a file of 0 bytes, which is an error. */
static Ast *program(void)
{
	Ast *a = NEW(A_UNIT, Ast);
	for (int n = 1 + rnd(3); n > 0; n--) vec_push(A_UNIT, &a->items, item(1 + rnd(5)));
	return a;
}

/* Trees that print differently are different, and the other way round. */
static void random_trees(void)
{
	int equal = 0;
	for (int i = 0; i < 3000 && failures < 3; i++) {
		seed = (uint64_t)i + 1;
		Ast *a = program();
		if (!identity(arena_printf(A_UNIT, "tree %d", i), a)) continue;
		seed = (uint64_t)i + 1 + (uint64_t)(i % 3 == 0);
		Ast *b = program();
		equal += ast_equal(a, b);
		CHECK(ast_equal(a, b) == !strcmp(printed(a), printed(b)));
	}
	CHECK(equal >= 2000);
}

/* ---- limits ---- */

static const char *repeat(const char *before, const char *s, int n, const char *after)
{
	Out *o = out_new();
	out_puts(o, before);
	for (int i = 0; i < n; i++) out_puts(o, s);
	out_puts(o, after);
	return o->p;
}

static int errors_in(const char *text)
{
	int before = diag_errors();
	parse(text, strlen(text));
	return diag_errors() - before;
}

static void limits(void)
{
	const char *fn = "fn f() { ";
	CHECK(errors_in("") == 1);                                       /* a file of 0 bytes is a slip */
	CHECK(errors_in("// nothing\n") == 0);
	CHECK(errors_in(repeat("const A = ", "(", 256, "1")) == 1);     /* not closed, not too deep */
	CHECK(errors_in(arena_printf(A_UNIT, "%s%s", repeat("const A = ", "(", 256, "1"), repeat("", ")", 256, ";"))) == 0);
	CHECK(errors_in(repeat("const A = ", "[", 100000, "")) == 1);
	CHECK(errors_in(repeat("const A = 1", " + 1", 990, ";")) == 0);
	CHECK(errors_in(repeat("const A = 1", " + 1", 100000, ";")) == 1);
	CHECK(errors_in(repeat("const A = ", "-", 100000, "1;")) == 1);
	CHECK(errors_in(repeat("const A = ", "a ? b : ", 100000, "1;")) == 1);
	CHECK(errors_in(repeat(fn, "if a { } else ", 900, "{ } }")) == 0);
	CHECK(errors_in(repeat(fn, "if a { } else ", 100000, "{ } }")) == 1);
	CHECK(errors_in(repeat("fn f(a: ", "ptr<", 100000, "f32) { }")) == 1);
	CHECK(errors_in(repeat(fn, "{", 100000, "}")) == 1);
	CHECK(errors_in(repeat(fn, "let ; ", 10, "}")) == 10);
}

int main(void)
{
	A_UNIT = arena_new();
	A_TMP = arena_new();
	diag_options(&(DiagOptions){ .format = DIAG_SHORT });
	token_list();
	greater();
	literals();
	random_trees();
	folder("samples");
	folder("stdlib");
	folder("tests");
	CHECK(files >= 20);
	limits();
	FILE *null = fopen("/dev/null", "w");
	if (null) diag_flush(null);
	printf("%d files, %s\n", files, failures ? "FAILED" : "ok");
	return failures != 0;
}
