/* The IR: types and tables, building and changing, text -> IR -> text, the reader's and the verifier's refusals.
 *
 * Runs from the root of the project (it reads tests/ir). Random modules hold every operation of the table; the generator
 * is seeded, so every run is the same. Prints one line per failing check; returns 1 if any failed. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/vec.h"
#include "ir/ir.h"
#include "ir/rules.h"

static int failures;
#define CHECK(c) ((c) ? (void)0 : (void)(failures++, printf("test_ir.c:%d: %s\n", __LINE__, #c)))
#define FAIL(...) (failures++, printf("test_ir.c:%d: ", __LINE__), printf(__VA_ARGS__), printf("\n"))

static uint32_t seed = 12345;
static int rnd(int n)
{
	seed = seed * 1664525u + 1013904223u;
	return (int)((seed >> 8) % (uint32_t)n);
}

/* ---- reading and printing ---- */
static Str print_module(const Module *m)
{
	Out *o = out_new();
	ir_print(o, m);
	return str_intern_n(o->p, o->n);
}

static Module *read_text(const char *name, const char *text)
{
	return ir_read(src_add(str_intern(name), text, strlen(text)));
}

/* What was reported, in the short form. */
static Str reported(void)
{
	static char buf[20000];
	FILE *f = tmpfile();
	diag_flush(f);
	rewind(f);
	size_t n = fread(buf, 1, sizeof buf, f);
	fclose(f);
	return str_intern_n(buf, n);
}

static const char *load(const char *dir, const char *name)
{
	size_t n;
	const char *why;
	char *text = src_read(str_fmt("%s/%s", dir, name), &n, &why);
	if (!text) FAIL("%s/%s: %s", dir, name, why);
	return text ? text : "";
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef VEC(Str) StrVec;

static StrVec ir_files(const char *dir)
{
	StrVec v = { 0 };
	DIR *d = opendir(dir);
	if (!d) FAIL("cannot open %s", dir);
	for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
		const char *dot = strrchr(e->d_name, '.');
		if (dot && !strcmp(dot, ".ir")) vec_push(A_UNIT, &v, str_intern(e->d_name));
	}
	if (d) closedir(d);
	if (v.n) qsort(v.p, (size_t)v.n, sizeof *v.p, by_name);
	return v;
}

/* Each file of tests/ir is what the printer prints, below its first comment. */
static void good_files(void)
{
	StrVec v = ir_files("tests/ir");
	CHECK(v.n >= 5);
	for (int i = 0; i < v.n; i++) {
		const char *text = load("tests/ir", v.p[i]), *body = strchr(text, '\n');
		Module *m = read_text(v.p[i], text);
		if (!m) FAIL("%s: %s", v.p[i], reported());
		else if (!body || strcmp(print_module(m), body + 1)) FAIL("%s: prints otherwise:\n%s", v.p[i], print_module(m));
		if (!m || !body) continue;
		Out *o = out_new();
		ir_print_places(o, m);
		Module *again = read_text(v.p[i], o->p);
		CHECK(again && !strcmp(print_module(again), body + 1) && strstr(o->p, " // loc("));
	}
}

/* Each file of tests/ir/err begins with `// CODE: message`, and that is reported, once. */
static void bad_files(void)
{
	StrVec v = ir_files("tests/ir/err");
	CHECK(v.n >= 20);
	for (int i = 0; i < v.n; i++) {
		const char *text = load("tests/ir/err", v.p[i]);
		int errors = diag_errors();
		if (strncmp(text, "// ", 3) || strlen(text) < 10 || read_text(v.p[i], text)) {
			FAIL("%s: no expectation, or it was read", v.p[i]);
			continue;
		}
		int n = diag_errors() - errors;
		Str code = str_intern_n(text + 3, 5), said = reported(), want = str_intern_n(text + 10, strcspn(text + 10, "\n"));
		if (n != 1 || !strstr(said, code) || !strstr(said, want)) FAIL("%s: wanted %s %s, got %s", v.p[i], code, want, said);
	}
}

/* ---- tables and types ---- */
static void tables(void)
{
	for (int i = 0; i < OP_COUNT; i++) {
		OpCode op = OP_COUNT;
		OpArg a[OP_ARGS];
		const OpRow *r = &op_rows[i];
		CHECK(op_by_name(str_intern(r->name), &op) && (int)op == i);
		int n = op_args((OpCode)i, a);
		CHECK(n < OP_ARGS && (n || !*r->sig));
		for (int k = 0; k < n; k++) CHECK(strchr("vstalifnbqwpk", a[k].kind) && str_len(a[k].name) > 0);
		if (r->form == FORM_PLACED) CHECK(r->flags & OPF_HIDDEN);
		if (r->form == FORM_SUGAR) CHECK(!(r->flags & OPF_HIDDEN));
		if (r->flags & OPF_PURE) CHECK(!(r->flags & (OPF_READ | OPF_WRITE | OPF_TERM)));
	}
	OpCode none;
	CHECK(!op_by_name(str_intern("no_such_op"), &none));
	CHECK(attr_word(AT_ROUNDING, str_intern("toward_zero")) == 1 && attr_word(AT_ROUNDING, str_intern("toward")) == -1);
	CHECK(attr_word_text(AT_ROUNDING, 5) == str_intern("full") && !attr_word_text(AT_ROUNDING, 6));
	CHECK(!attr_word_text(AT_ROUNDING, -1) && !attr_word_text(AT_AXIS, 0));
	OpArg a[OP_ARGS];
	CHECK(op_args(OP_SUM, a) == 5 && a[1].kind == 'a' && a[1].optional && !a[1].named && a[2].named && a[2].kind == 'b');
	CHECK(a[3].word == AT_ROUNDING && a[4].word == AT_SUBNORMALS && a[2].word == AT_COUNT);
}

static void types(void)
{
	const uint8_t s[] = { 2, 3 };
	const Type *t = type_tile(EL_F32, 2, s);
	CHECK(t == type_tile(EL_F32, 2, s) && t != type_shared(EL_F32, 2, s) && t != type_tile(EL_F16, 2, s));
	CHECK(!strcmp(type_text(t), "tile<f32, [4, 8]>") && type_size(t) == 32 && type_bytes(t) == 128);
	CHECK(type_extent(t, 0) == 4 && type_extent(t, 1) == 8);
	CHECK(!strcmp(type_text(type_tile(EL_F32, 0, s)), "tile<f32, []>"));
	CHECK(!strcmp(type_text(type_view(EL_BF16, 2)), "tensor<bf16, [_, _]>"));
	CHECK(!strcmp(type_text(type_scalar(elem_ptr_to(EL_I8))), "ptr<i8>"));
	CHECK(type_with_elem(t, EL_BOOL)->elem == EL_BOOL && type_same_shape(t, type_with_elem(t, EL_BOOL)));
	CHECK(type_with_shape(type_scalar(EL_U8), 2, s) == type_tile(EL_U8, 2, s));
	CHECK(type_scalar(EL_F32) != type_tile(EL_F32, 0, s) && type_token() == type_token());
	Elem e;
	CHECK(elem_by_name(str_intern("ptr<f64>"), &e) && e == elem_ptr_to(EL_F64) && elem_bytes(e) == 8);
	CHECK(elem_by_name(str_intern("tf32"), &e) && e == EL_TF32 && !elem_is_float(e) && elem_is_any_float(e));
	CHECK(!elem_by_name(str_intern("f99"), &e));
	CHECK(elem_is_integral(EL_BOOL) && !elem_is_int(EL_BOOL) && elem_is_signed(EL_I8) && !elem_is_signed(EL_U8));
	CHECK(!elem_is_int(elem_ptr_to(EL_I32)) && !elem_is_numeric(elem_ptr_to(EL_F32)));
}

static void reference(void)
{
	Out *text = out_new(), *md = out_new(), *json = out_new();
	ops_list(text, OPS_TEXT);
	ops_list(md, OPS_MARKDOWN);
	ops_list(json, OPS_JSON);
	for (int i = 0; i < OP_COUNT; i++) {
		bool hidden = op_rows[i].flags & OPF_HIDDEN;
		CHECK(hidden == !strstr(md->p, str_fmt("\n### %s\n", op_rows[i].name)));
		CHECK(hidden || strstr(text->p, str_fmt("%s(", op_rows[i].name)));
		CHECK(hidden == !strstr(json->p, str_fmt("{\"name\": \"%s\", \"group\"", op_rows[i].name)));
	}
	CHECK(!strstr(md->p, "IR operand") && !strstr(md->p, "PLACED"));
}

/* ---- numbers ---- */
static void num_back(Elem e, Num n)
{
	Str text = ir_num_text(e, n);
	const char *all = str_fmt("module \"m\"\nkernel k typed {\ngrid [1]\nbody {\n%%1 = const {value = %s} : %s\nreturn\n}\n}\n",
		text, elem_name(e));
	Module *m = read_text("num", all);
	Num back = { 0 };
	if (!m) {
		FAIL("%s %s: %s", elem_name(e), text, reported());
		return;
	}
	CHECK(ir_const_value(m->fns.p[0]->body->first->out[0], &back));
	bool same = elem_is_any_float(e) ? (isnan(n.f) ? isnan(back.f) : n.f == back.f && signbit(n.f) == signbit(back.f)) : n.i == back.i;
	if (!same) FAIL("%s %s reads back as %s", elem_name(e), text, ir_num_text(e, back));
}

static double random_double(void)
{
	uint64_t bits = 0;
	double d;
	for (int i = 0; i < 4; i++) bits = bits << 16 | (uint64_t)rnd(65536);
	memcpy(&d, &bits, sizeof d);
	return d;
}

static void numbers(void)
{
	static const struct { Elem e; double v; const char *text; } exact[] = {
		{ EL_F32, (double)0.1f, "0.1" }, { EL_F64, 0.1, "0.1" }, { EL_F64, (double)0.1f, "0.10000000149011612" },
		{ EL_F32, -0.0, "-0.0" }, { EL_F32, 16777216, "16777216.0" }, { EL_F16, 65504, "65504.0" },
		{ EL_F64, INFINITY, "inf" }, { EL_F64, -INFINITY, "-inf" }, { EL_BF16, 3, "3.0" }, { EL_F32, 1e10, "1e+10" }
	};
	for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
		CHECK(!strcmp(ir_num_text(exact[i].e, (Num){ .f = exact[i].v }), exact[i].text));
	CHECK(!strcmp(ir_num_text(EL_F32, (Num){ .f = NAN }), "nan") && !strcmp(ir_num_text(EL_BOOL, (Num){ .i = 1 }), "true"));
	CHECK(!strcmp(ir_num_text(EL_U64, (Num){ .i = -1 }), "18446744073709551615"));
	CHECK(!strcmp(ir_num_text(elem_ptr_to(EL_F32), (Num){ 0 }), "null"));
	for (int i = 0; i < 300; i++) {
		double d = random_double();
		num_back(EL_F64, (Num){ .f = d });
		num_back(EL_F32, (Num){ .f = (double)(float)d });
		num_back(EL_F32, (Num){ .f = (double)(float)ldexp(rnd(1 << 24), rnd(200) - 100 - 24) });
		num_back(EL_F16, (Num){ .f = ldexp(rnd(2048) - 1024, rnd(14) - 13) });
		num_back(EL_BF16, (Num){ .f = ldexp(rnd(256) - 128, rnd(200) - 100) });
	}
	for (int i = 0; i < EL_COUNT; i++) {
		if (!elem_is_integral((Elem)i)) continue;
		int d = elem_rows[i].digits;
		int64_t most = d == 64 ? -1 : d == 63 ? INT64_MAX : ((int64_t)1 << d) - 1;
		num_back((Elem)i, (Num){ .i = most });
		num_back((Elem)i, (Num){ .i = elem_is_signed((Elem)i) ? -most - 1 : 0 });
	}
}

/* ---- building and changing ---- */
static void visit(void *ctx, Op *op)
{
	Out *o = ctx;
	out_printf(o, "%s ", op_rows[op->code].name);
}

static Str order(Fn *fn)
{
	Out *o = out_new();
	ir_walk(fn->body, visit, o);
	return str_intern_n(o->p, o->n);
}

static void remove_adds(void *ctx, Op *op)
{
	int *seen = ctx;
	++*seen;
	if (op->code == OP_ADD) ir_remove(op);
	if (op->code == OP_MUL) {       /* this one and its successor */
		Op *next = op->next;
		ir_remove(op);
		ir_remove(next);
	}
	if (op->code == OP_SUB) ir_move_before(op, op->parent->first);
	if (op->code == OP_DIV) {
		Builder b = { .fn = op->parent->fn, .block = op->parent, .before = op };
		ir_unary(&b, OP_NEG, op->in[0]->type, op->in[0]);
	}
}

static void changing(void)
{
	Fn *fn = ir_fn(str_intern("f"), (Span){ 0, 0 });
	const Type *t = type_scalar(EL_I32);
	Val *x = ir_arg(fn->body, t, str_intern("x"));
	Builder b = { .fn = fn, .block = fn->body };
	Val *a = ir_binary(&b, OP_ADD, t, x, x), *m = ir_binary(&b, OP_MUL, t, a, x);
	Val *n = ir_unary(&b, OP_NEG, t, m);
	Val *d = ir_binary(&b, OP_DIV, t, n, x), *s = ir_binary(&b, OP_SUB, t, d, x);
	ir_op(&b, OP_RETURN, 0, NULL, 0, NULL);
	CHECK(!strcmp(order(fn), "add mul neg div sub return "));
	int *uses = ir_use_counts(fn, A_UNIT);
	CHECK(uses[x->id] == 5 && uses[a->id] == 1 && uses[s->id] == 0);
	a->name = str_intern("acc");
	ir_replace(a, x);
	ir_replace(n, m);
	ir_replace(m, x);
	CHECK(ir_in(m->def, 0) == x && ir_in(d->def, 0) == x && ir_in(n->def, 0) == x);
	CHECK(!strcmp(x->name, "x"));
	int seen = 0;
	ir_walk(fn->body, remove_adds, &seen);
	CHECK(!strcmp(order(fn), "sub neg div return "));
	CHECK(seen == 5);
	CHECK(!a->def->parent && fn->body->last->code == OP_RETURN && fn->body->first == s->def);
	ir_number(fn);
	CHECK(x->id == 0 && s->id == 1 && d->id == 3 && fn->nval == 4);
	CHECK(d->def->in[0] == x);
}

static void attributes(void)
{
	Fn *fn = ir_fn(str_intern("f"), (Span){ 0, 0 });
	Builder b = { .fn = fn, .block = fn->body };
	Val *c = ir_const_int(&b, type_scalar(EL_F32), 3);
	Op *op = ir_unary(&b, OP_NEG, c->type, c)->def;
	Num n;
	CHECK(ir_const_value(c, &n) && n.f == 3.0 && !ir_const_value(op->out[0], &n));
	ir_set_int(op, AT_UNROLL, 4);
	ir_set_int(op, AT_ROUNDING, 2);
	ir_set_int(op, AT_AXIS, 1);
	ir_set_int(op, AT_AXIS, 7);
	CHECK(op->nattr == 3 && op->attr[0].key == AT_AXIS && op->attr[2].key == AT_UNROLL && ir_int(op, AT_AXIS, 0) == 7);
	ir_set_int(op, AT_ROUNDING, 0);
	CHECK(op->nattr == 2 && !ir_attr(op, AT_ROUNDING) && ir_int(op, AT_ROUNDING, 9) == 0 && ir_int(op, AT_SHIFT, 9) == 9);
	ir_set_ints(op, AT_STEPS, 2, (const int64_t[]){ 4, -5 });
	ir_set_str(op, AT_TEXT, str_intern("a\"b\\\n\x01"));
	Str text = ir_op_text(op);
	CHECK(!strcmp(text, "%1 = neg %0 {axis = 7, steps = [4, -5], text = \"a\\\"b\\\\\\n\\x01\", unroll = 4} : f32"));
	Val *l = ir_launch(&b, EL_I32, sym_const(5)), *k = ir_launch(&b, EL_I64, sym_atom(ATOM_DIM, str_intern("n"), 0));
	CHECK(l->def->code == OP_CONST && k->def->code == OP_LAUNCH);
}

/* ---- random modules ---- */
typedef struct Gen {
	Fn *fn;
	Builder b;
	VEC(Val *) pool;        /* what is visible here */
	int depth;
	bool made[OP_COUNT];
	const Op *loop, *scope;
} Gen;

static void know(Gen *g, Val *v)
{
	vec_push(A_UNIT, &g->pool, v);
}

static Num random_num(Elem e)
{
	if (elem_is_any_float(e)) return (Num){ .f = rnd(8) ? (rnd(15) - 7) / 4.0 : rnd(2) && e != EL_F8E4M3 ? -INFINITY : NAN };
	if (elem_is_ptr(e)) return (Num){ 0 };
	return (Num){ .i = e == EL_BOOL ? rnd(2) : elem_is_signed(e) ? rnd(200) - 100 : rnd(200) };
}

static Val *need(Gen *g, const Type *t)
{
	int at = g->pool.n ? rnd(g->pool.n) : 0;
	for (int i = 0; i < g->pool.n; i++) {
		Val *v = g->pool.p[(at + i) % g->pool.n];
		if (v->type == t && rnd(4)) return v;
	}
	for (int i = 0; i < g->pool.n && t->kind == TY_VIEW; i++)
		if (g->pool.p[i]->type == t) return g->pool.p[i];
	if (t->kind == TY_VIEW) {       /* a view of any element type: from a null pointer */
		Val *in[12] = { need(g, type_scalar(elem_ptr_to(t->elem))) };
		for (int i = 0; i < 1 + 2 * t->rank; i++) in[1 + i] = need(g, type_scalar(EL_I64));
		g->made[OP_VIEW] = true;
		Val *v = ir_op1(&g->b, OP_VIEW, t, 2 + 2 * t->rank, in);
		know(g, v);
		return v;
	}
	g->made[OP_CONST] = true;
	Val *v = ir_const_num(&g->b, t, random_num(t->elem));
	if (rnd(3) == 0) v->name = str_fmt("c%d", rnd(5));
	if (rnd(50) == 0) v->name = str_intern("odd name.5");
	know(g, v);
	return v;
}

static Elem pick(bool (*is)(Elem))
{
	Elem e;
	do e = (Elem)rnd(EL_COUNT);
	while (!is(e));
	return e;
}

static const Type *some_tile(Elem e, int min_rank, int max_rank)
{
	uint8_t log2[TILE_RANK];
	int rank = min_rank + rnd(max_rank - min_rank + 1);
	for (int i = 0; i < rank; i++) log2[i] = (uint8_t)rnd(4);
	return type_tile(e, rank, log2);
}

static const Type *some_type(Elem e)
{
	return rnd(3) ? some_tile(e, 0, 3) : type_scalar(e);
}

static const Type *with_axis(const Type *t, Elem e, int axis, int log2)
{
	uint8_t s[TILE_RANK];
	memcpy(s, t->log2, sizeof s);
	s[axis] = (uint8_t)log2;
	return type_tile(e, t->rank, s);
}

static void random_modes(Op *op, Elem e)
{
	unsigned f = op_rows[op->code].flags;
	if (f & OPF_ROUND && elem_is_any_float(e)) ir_set_int(op, AT_ROUNDING, rnd(4));
	if ((op->code == OP_EXP || op->code == OP_TANH) && rnd(2)) ir_set_int(op, AT_ROUNDING, 4);
	if (f & OPF_SUBN && e == EL_F32) ir_set_int(op, AT_SUBNORMALS, rnd(2));
	if (f & OPF_NANMODE && elem_is_float(e)) ir_set_int(op, AT_NAN, rnd(2));
	if (f & OPF_SCAN) {
		ir_set_int(op, AT_DIRECTION, rnd(2));
		ir_set_int(op, AT_EXCLUSIVE, rnd(2));
	}
	if (rnd(6) == 0) ir_set_str(op, AT_SOURCE, str_intern(rnd(2) ? "x + \"y\"" : "a\tb"));
}

static Op *make(Gen *g, OpCode code, int nin, Val *const *in, const Type *out)
{
	Op *op = ir_op(&g->b, code, nin, in, out != NULL, &out);
	if (out) know(g, op->out[0]);
	return op;
}

static Elem rule_elem(TypeRule rule)
{
	switch (rule) {
	case TR_CONV_INT: case TR_SAME_INT: case TR_SHIFT: case TR_REDUCE_INT: return pick(elem_is_integral);
	case TR_CONV_ANY_FLT: return pick(elem_is_any_float);
	case TR_CONV_FLT: case TR_CONV_TO_FLT: case TR_SAME_FLT: case TR_FMA: return pick(elem_is_float);
	case TR_TO_BOOL: return pick(elem_is_any_float);
	case TR_CAST: case TR_BITCAST: return pick(elem_is_numeric);
	default: return pick(elem_is_arith);
	}
}

static void gen_elementwise(Gen *g, OpCode code)
{
	TypeRule rule = op_rows[code].type;
	Elem e = rule_elem(rule);
	const Type *t = some_type(e), *r = t, *b = type_with_elem(t, EL_BOOL);
	Val *in[3] = { 0 };
	int n = 1;
	if (rule == TR_PTR) t = r = type_with_elem(t, elem_ptr_to(EL_F32));
	if (code == OP_PTR_DIFF || rule == TR_CMP || rule == TR_TO_BOOL) r = code == OP_PTR_DIFF ? type_with_elem(t, EL_I64) : b;
	if (rule == TR_CAST) r = type_with_elem(t, pick(elem_is_numeric));
	if (rule == TR_BITCAST)
		do r = type_with_elem(t, pick(elem_is_numeric));
		while (elem_bytes(r->elem) != elem_bytes(t->elem));
	if (rule == TR_CONV || rule == TR_CONV_INT || rule == TR_CONV_FLT || rule == TR_CONV_ANY_FLT || rule == TR_CONV_TO_FLT || rule == TR_CMP || rule == TR_SHIFT || rule == TR_PTR) n = 2;
	if (rule == TR_FMA || rule == TR_SELECT) n = 3;
	for (int i = 0; i < n; i++) {
		bool offset = code == OP_PTR_ADD && i == 1, cond = rule == TR_SELECT && i == 0;
		in[i] = need(g, offset ? type_with_elem(t, EL_I64) : cond ? b : t);
	}
	Op *op = make(g, code, n, in, r);
	random_modes(op, rule == TR_CAST && !elem_is_any_float(e) ? r->elem : e);
	if (code == OP_CAST) ir_set_int(op, AT_OVERFLOW, rnd(5));
	if (code == OP_HINT) ir_set_str(op, AT_TEXT, str_intern("divisible 16"));
}

static const Sym *random_sym(int depth)
{
	static const char *const dims[] = { "m", "n", "o" };
	if (depth == 0 || rnd(4) == 0) {
		if (rnd(3) == 0) return sym_const(rnd(20) - 6);
		if (rnd(4) == 0) return sym_atom(ATOM_STRIDE, str_intern("st"), 0);
		if (rnd(4) == 0) return sym_atom(ATOM_PARAM, str_intern("count"), 0);
		return sym_atom(ATOM_DIM, str_intern(dims[rnd(3)]), 0);
	}
	const Sym *a = random_sym(depth - 1), *b = random_sym(depth - 1);
	switch (rnd(14)) {
	case 0: return sym_sub(a, b);
	case 1: return sym_mul(a, b);
	case 2: return sym_div(a, b);
	case 3: return sym_cdiv(a, b);
	case 4: return sym_mod(a, b);
	case 5: return sym_min(a, b);
	case 6: return sym_max(a, b);
	case 7: return sym_select(sym_cmp(SYM_LT, a, b), a, random_sym(depth - 1));
	case 8: return sym_cmp(SYM_EQ, a, b);
	case 9: return sym_logic(SYM_AND, sym_cmp(SYM_LE, a, b), sym_aligned(str_intern("x"), 16));
	case 10: return sym_logic(SYM_OR, sym_cmp(SYM_NE, a, b), sym_cmp(SYM_LT, b, a));
	case 11: return sym_logic(SYM_NOT, sym_cmp(SYM_LT, a, b), NULL);
	default: return sym_add(a, b);
	}
}

static void gen_given(Gen *g, OpCode code)
{
	const Type *t;
	Val *in[8];
	Op *op;
	switch (code) {
	case OP_CONST:
		need(g, some_type((Elem)rnd(EL_VOID)));
		break;
	case OP_LITERAL:
		t = some_tile(pick(elem_is_numeric), 1, 1);
		for (int i = 0; i < type_size(t); i++) in[i] = need(g, type_scalar(t->elem));
		if (rnd(2)) {
			Num v[8];
			for (int i = 0; i < type_size(t); i++) v[i] = random_num(t->elem);
			ir_set_nums(make(g, code, 0, NULL, t), AT_VALUES, (int)type_size(t), v);
		} else {
			make(g, code, (int)type_size(t), in, t);
		}
		break;
	case OP_IOTA:
		make(g, code, 0, NULL, some_tile(rnd(2) ? EL_U16 : EL_I64, 0, 3));
		break;
	case OP_RAND: case OP_RANDN: case OP_RANDINT:
		t = some_type(EL_U64);
		in[0] = need(g, type_scalar(EL_U64));
		in[1] = need(g, t);
		make(g, code, 2, in, type_with_elem(t, code == OP_RANDINT ? EL_U32 : EL_F32));
		break;
	case OP_LAUNCH:
		ir_set_sym(make(g, code, 0, NULL, type_scalar(EL_I64)), AT_SYM, random_sym(3));
		break;
	case OP_BID:
		ir_set_int(make(g, code, 0, NULL, type_scalar(rnd(2) ? EL_I32 : EL_I64)), AT_AXIS, rnd(2));
		break;
	case OP_HISTOGRAM:
		in[0] = need(g, some_tile(EL_U8, 0, 2));
		op = make(g, code, 1, in, type_tile(EL_I32, 1, (const uint8_t[]){ 5 }));
		ir_set_int(op, AT_NUMBER, 32);
		break;
	case OP_VIEW:
		need(g, type_view(pick(elem_is_numeric), rnd(4)));
		break;
	default:
		FAIL("no generator for %s", op_rows[code].name);
	}
}

static void gen_shape(Gen *g, OpCode code)
{
	const Type *t = some_tile(pick(elem_is_arith), 1, 3), *r = t;
	int axis = rnd(t->rank), nin = 1;
	Val *in[8] = { need(g, t) };
	int64_t axes[TILE_RANK];
	Op *op;
	switch (code) {
	case OP_RESHAPE: r = type_tile(t->elem, 1, (const uint8_t[]){ (uint8_t)type_log2_size(t) }); break;
	case OP_BROADCAST: r = t; in[0] = need(g, rnd(2) ? type_scalar(t->elem) : with_axis(t, t->elem, axis, 0)); break;
	case OP_TO_SCALAR: in[0] = need(g, type_tile(t->elem, 2, (const uint8_t[]){ 0, 0 })); r = type_scalar(t->elem); break;
	case OP_CAT: in[1] = need(g, t); nin = 2; r = with_axis(t, t->elem, axis, t->log2[axis] + 1); break;
	case OP_PERMUTE: {
		uint8_t s[TILE_RANK];
		for (int i = 0; i < t->rank; i++) axes[i] = (i + axis) % t->rank, s[i] = t->log2[axes[i]];
		r = type_tile(t->elem, t->rank, s);
		break;
	}
	case OP_EXTRACT: r = with_axis(t, t->elem, axis, 0); break;
	case OP_INSERT: in[1] = need(g, with_axis(t, t->elem, axis, 0)); nin = 2; break;
	case OP_SHIFT: in[1] = need(g, type_scalar(t->elem)); nin = 2; break;
	case OP_TAKE:
		in[1] = need(g, with_axis(t, EL_I32, axis, rnd(4)));
		in[2] = need(g, type_scalar(t->elem));
		nin = 3;
		r = type_with_elem(in[1]->type, t->elem);
		break;
	case OP_JOIN: {
		uint8_t s[TILE_RANK];
		memcpy(s, t->log2, sizeof s);
		s[t->rank] = 1;
		in[1] = need(g, t);
		nin = 2;
		r = type_tile(t->elem, t->rank + 1, s);
		break;
	}
	default: break;
	}
	if (code == OP_EXTRACT || code == OP_INSERT)
		for (int i = 0; i < t->rank; i++) in[nin++] = need(g, type_scalar(rnd(2) ? EL_I32 : EL_U8));
	op = make(g, code, nin, in, r);
	if (code == OP_PERMUTE) ir_set_ints(op, AT_AXES, t->rank, axes);
	if (code == OP_SHIFT || code == OP_ROTATE) ir_set_int(op, AT_SHIFT, rnd(9) - 4);
	if (code == OP_SORT) ir_set_int(op, AT_DESCENDING, rnd(2));
	if (strstr("cat flip shift rotate take sort", op_rows[code].name)) ir_set_int(op, AT_AXIS, axis);
}

static void gen_reduce(Gen *g, OpCode code)
{
	TypeRule rule = op_rows[code].type;
	const Type *t = some_tile(rule_elem(rule), 1, 3);
	int axis = rnd(t->rank);
	Val *x = need(g, t);
	Op *op = make(g, code, 1, &x, rule == TR_SCAN ? t : with_axis(t, rule == TR_REDUCE_INDEX ? EL_U32 : t->elem, axis, 0));
	ir_set_int(op, AT_AXIS, axis);
	random_modes(op, t->elem);
}

static void gen_mma(Gen *g)
{
	static const Elem elems[][3] = {
		{ EL_F16, EL_F16, EL_F16 }, { EL_F16, EL_F16, EL_F32 }, { EL_BF16, EL_BF16, EL_F32 }, { EL_TF32, EL_TF32, EL_F32 },
		{ EL_F64, EL_F64, EL_F64 }, { EL_I8, EL_U8, EL_I32 }, { EL_F8E4M3, EL_F8E4M3, EL_F16 }, { EL_F32, EL_F32, EL_F32 }
	};
	const Elem *e = elems[rnd(8)];
	int batch = rnd(2);
	uint8_t a[3] = { (uint8_t)rnd(2), (uint8_t)rnd(5), (uint8_t)rnd(5) }, b[3] = { a[0], a[2], (uint8_t)rnd(5) }, c[3] = { a[0], a[1], b[2] };
	Val *in[3];
	in[0] = need(g, type_tile(e[0], 2 + batch, a + 1 - batch));
	in[1] = need(g, type_tile(e[1], 2 + batch, b + 1 - batch));
	in[2] = need(g, type_tile(e[2], 2 + batch, c + 1 - batch));
	Op *op = make(g, OP_MMA, 3, in, in[2]->type);
	if (e[0] == EL_F32) ir_set_int(op, AT_PRECISION, rnd(3));
}

static void gen_memory(Gen *g, OpCode code)
{
	bool by_ptr = strstr(op_rows[code].name, "_ptr") != NULL, tiles = code == OP_LOAD || code == OP_STORE;
	bool atomic = !strncmp(op_rows[code].name, "atomic", 6), cas = code == OP_ATOMIC_CAS || code == OP_ATOMIC_CAS_PTR;
	bool load = strstr(op_rows[code].name, "load") || code == OP_GATHER, rmw = code == OP_ATOMIC_RMW || code == OP_ATOMIC_RMW_PTR;
	Elem e = atomic ? EL_I32 : pick(elem_is_numeric);
	const Type *t = tiles ? some_tile(e, 1, 3) : some_type(e);
	int rank = tiles ? t->rank : 1 + rnd(3), n = 1;
	int64_t steps[3], offsets[3];
	Val *in[12] = { need(g, by_ptr ? type_with_elem(t, elem_ptr_to(e)) : type_view(e, rank)) };
	for (int i = 0; i < rank && !by_ptr; i++) {
		Elem index = rnd(3) ? EL_I32 : EL_U16;
		in[n++] = need(g, tiles || rnd(2) ? type_scalar(index) : type_with_elem(t, index));
		steps[i] = rnd(2) && tiles ? type_extent(t, i) : 1;
		offsets[i] = rnd(5) - 2;
	}
	if (cas) in[n++] = need(g, t);
	in[n++] = need(g, load ? type_scalar(e) : t);
	if (!tiles && rnd(2)) in[n++] = need(g, type_with_elem(t, EL_BOOL));
	Op *op = make(g, code, n, in, load || ((rmw || cas) && rnd(2)) ? t : NULL);
	if (tiles) ir_set_ints(op, AT_STEPS, rank, steps);
	if (tiles && rnd(2)) ir_set_ints(op, AT_OFFSETS, rank, offsets);
	if (rmw) ir_set_int(op, AT_RMW, rnd(8));
	if (atomic) ir_set_int(op, AT_SCOPE, rnd(3));
	if (atomic || tiles) ir_set_int(op, AT_ORDER, rnd(2) ? 0 : load ? 1 : 2);
	if (tiles && rnd(3) == 0) ir_set_int(op, AT_LATENCY, 3);
}

static void gen_block(Gen *g, IrBlock *b, int ops);
static void gen_op(Gen *g, OpCode code);

/* A terminator with values of these types. */
static void gen_end(Gen *g, OpCode code, int n, Val *const *like, Val *first)
{
	Val *in[8];
	int k = 0;
	if (first) in[k++] = first;
	for (int i = 0; i < n; i++) in[k++] = need(g, like[i]->type);
	ir_op(&g->b, code, k, in, 0, NULL);
	g->made[code] = true;
}

static void gen_any_end(Gen *g, OpCode usual, int n, Val *const *like)
{
	int kind = rnd(8);
	const Op *l = g->loop;
	if (kind == 0 && l) gen_end(g, OP_BREAK, l->nout, l->out, NULL);
	else if (kind == 1 && l && l->code == OP_FOR) gen_end(g, OP_CONTINUE, l->nout, l->out, NULL);
	else if (kind == 1 && l) gen_end(g, OP_CONTINUE, l->region[0]->args.n, l->region[0]->args.p, NULL);
	else if (kind == 2 && g->scope) gen_end(g, OP_LEAVE, g->scope->nout, g->scope->out, NULL);
	else if (kind == 3) gen_end(g, OP_RETURN, 0, NULL, NULL);
	else gen_end(g, usual, n, like, NULL);
}

typedef struct Inside { Gen saved; } Inside;

static Inside enter(Gen *g, IrBlock *b, int ops)
{
	Inside in = { *g };
	g->depth++;
	g->b.block = b;
	gen_block(g, b, ops);
	return in;
}

static void leave(Gen *g, Inside in)    /* the pool keeps its storage; what came inside is forgotten */
{
	g->depth = in.saved.depth;
	g->b = in.saved.b;
	g->pool.n = in.saved.pool.n;
	g->loop = in.saved.loop;
	g->scope = in.saved.scope;
}

static void gen_for(Gen *g)
{
	const Type *c = type_scalar(rnd(2) ? EL_I32 : EL_I64), *out[3];
	Val *in[6] = { need(g, c), need(g, c), need(g, c) };
	int n = rnd(3);
	for (int i = 0; i < n; i++) out[i] = (in[3 + i] = need(g, some_type(pick(elem_is_numeric))))->type;
	Op *op = ir_op(&g->b, OP_FOR, 3 + n, in, n, out);
	if (rnd(3) == 0) ir_set_int(op, AT_UNROLL, 2);
	IrBlock *b = ir_region(op);
	ir_arg(b, c, str_intern("i"));
	for (int i = 0; i < n; i++) ir_arg(b, out[i], NULL);
	Gen outer = *g;
	g->loop = op;
	Inside in1 = enter(g, b, 4);
	gen_any_end(g, OP_YIELD, op->nout, op->out);
	in1.saved.loop = outer.loop;
	leave(g, in1);
	for (int i = 0; i < n; i++) know(g, op->out[i]);
}

static void gen_while(Gen *g)
{
	Val *init[2] = { need(g, type_scalar(EL_I32)), need(g, some_type(EL_F32)) };
	const Type *out[1] = { some_type(EL_BF16) };
	Op *op = ir_op(&g->b, OP_WHILE, 2, init, 1, out);
	IrBlock *test = ir_region(op), *body = ir_region(op);
	for (int i = 0; i < 2; i++) ir_arg(test, init[i]->type, NULL);
	ir_arg(body, out[0], str_intern("v"));
	const Op *outer = g->loop;
	g->loop = op;
	Inside a = enter(g, test, 2);
	gen_end(g, OP_CONDITION, 1, op->out, need(g, type_scalar(EL_BOOL)));
	leave(g, a);
	Inside b = enter(g, body, 3);
	gen_any_end(g, OP_YIELD, 2, test->args.p);
	leave(g, b);
	g->loop = outer;
	know(g, op->out[0]);
}

static void gen_if(Gen *g)
{
	Val *c = need(g, type_scalar(EL_BOOL));
	const Type *out[1] = { some_type(pick(elem_is_arith)) };
	int n = rnd(2);
	Op *op = ir_op(&g->b, OP_IF, 1, &c, n, out);
	IrBlock *arm[2] = { ir_region(op), ir_region(op) };
	for (int i = 0; i < 2; i++) {
		Inside in = enter(g, arm[i], 2);
		gen_any_end(g, OP_YIELD, n, op->out);
		leave(g, in);
	}
	for (int i = 0; i < n; i++) know(g, op->out[i]);
}

static void gen_scope(Gen *g)
{
	const Type *out[1] = { some_type(EL_U8) };
	Op *op = ir_op(&g->b, OP_SCOPE_, 0, NULL, 1, out);
	const Op *outer = g->scope;
	g->scope = op;
	Inside in = enter(g, ir_region(op), 3);
	gen_any_end(g, OP_LEAVE, 1, op->out);
	leave(g, in);
	g->scope = outer;
	know(g, op->out[0]);
}

static void gen_custom(Gen *g, OpCode code)
{
	const Type *t = some_tile(EL_F32, 1, 3), *u = type_with_elem(t, EL_I32);
	int axis = rnd(t->rank);
	bool scan = code == OP_SCAN;
	const Type *out[2] = { scan ? t : with_axis(t, EL_F32, axis, 0), scan ? u : with_axis(t, EL_I32, axis, 0) };
	Val *in[4] = { need(g, t), need(g, u), need(g, type_scalar(EL_F32)), need(g, type_scalar(EL_I32)) };
	Op *op = ir_op(&g->b, code, 4, in, 2, out);
	ir_set_int(op, AT_AXIS, axis);
	random_modes(op, EL_F32);
	IrBlock *b = ir_region(op);
	for (int i = 0; i < 4; i++) ir_arg(b, in[2 + i % 2]->type, NULL);
	const Op *loop = g->loop, *scope = g->scope;
	g->loop = g->scope = NULL;
	Inside inside = enter(g, b, 0);
	gen_end(g, OP_YIELD, 2, in + 2, NULL);
	leave(g, inside);
	g->loop = loop;
	g->scope = scope;
	know(g, op->out[0]);
	know(g, op->out[1]);
}

static void gen_pair(Gen *g, OpCode code)       /* two results */
{
	const Type *t = some_tile(pick(elem_is_arith), 1, 2), *out[2];
	int axis = rnd(t->rank);
	uint8_t s[TILE_RANK];
	memcpy(s, t->log2, sizeof s);
	if (code == OP_SPLIT) {
		s[t->rank] = 1;
		out[0] = out[1] = t;
		t = type_tile(t->elem, t->rank + 1, s);
	} else {
		out[0] = with_axis(t, t->elem, axis, 0);
		out[1] = type_with_elem(out[0], EL_I32);
	}
	Val *x = need(g, t);
	Op *op = ir_op(&g->b, code, 1, &x, 2, out);
	if (code == OP_TOPK) {
		ir_set_int(op, AT_AXIS, axis);
		ir_set_int(op, AT_NUMBER, 1);
	}
	know(g, op->out[0]);
	know(g, op->out[1]);
}

static void gen_effect(Gen *g, OpCode code)
{
	Val *in[2] = { need(g, code == OP_ASSUME ? type_scalar(EL_BOOL) : some_type(EL_BOOL)), need(g, some_type(EL_F16)) };
	Op *op = make(g, code, code == OP_PRINT ? 2 : 1, in, NULL);
	if (code != OP_ASSUME) ir_set_str(op, AT_TEXT, str_intern("a {} \\ \"b\"\n"));
}

static void gen_op(Gen *g, OpCode code)
{
	const OpRow *r = &op_rows[code];
	g->made[code] = true;
	switch (code) {
	case OP_FOR: gen_for(g); return;
	case OP_WHILE: gen_while(g); return;
	case OP_IF: gen_if(g); return;
	case OP_SCOPE_: gen_scope(g); return;
	case OP_REDUCE: case OP_SCAN: gen_custom(g, code); return;
	case OP_TOPK: case OP_SPLIT: gen_pair(g, code); return;
	case OP_ASSERT: case OP_ASSUME: case OP_CHECK: case OP_PRINT: gen_effect(g, code); return;
	case OP_MMA: gen_mma(g); return;
	default: break;
	}
	switch (r->type) {
	case TR_GIVEN: gen_given(g, code); return;
	case TR_SHAPE: gen_shape(g, code); return;
	case TR_REDUCE: case TR_REDUCE_INDEX: case TR_REDUCE_INT: case TR_SCAN: gen_reduce(g, code); return;
	case TR_LOAD: case TR_STORE: case TR_ATOMIC: gen_memory(g, code); return;
	default: gen_elementwise(g, code); return;
	}
}

static bool in_typed(OpCode code)
{
	OpForm f = op_rows[code].form;
	return (f == FORM_BOTH || f == FORM_TYPED) && !(op_rows[code].flags & OPF_TERM);
}

static void gen_block(Gen *g, IrBlock *b, int ops)
{
	for (int i = 0; i < b->args.n; i++) know(g, b->args.p[i]);
	for (int i = 0; i < ops; i++) {
		OpCode code;
		do code = (OpCode)rnd(OP_COUNT);
		while (!in_typed(code) || (g->depth > 3 && op_rows[code].flags & OPF_REGION));
		gen_op(g, code);
	}
}

static IrParam tensor_param(const char *name, Elem e, const Sym *rows)
{
	IrParam p = { .name = str_intern(name), .is_tensor = true, .mode = (ParamMode)rnd(3), .elem = e, .rank = 2 };
	p.extent[0] = rows;
	p.extent[1] = sym_const(4);
	p.stride[0] = sym_const(4);
	p.stride[1] = sym_const(1);
	p.layout = (LayoutKind)rnd(5);
	p.pad = rnd(2) * 16;
	return p;
}

static void gen_params(Fn *fn)
{
	IrParam count = { .name = str_intern("count"), .elem = EL_I64, .doc = str_intern("how \"many\"") };
	static const char *const dims[] = { "m", "n", "o", "st" };
	for (int i = 0; i < 4; i++) vec_push(A_UNIT, &fn->dims, ((IrDim){ .name = str_intern(dims[i]), .elem = EL_I64, .is_stride = i == 3 }));
	vec_push(A_UNIT, &fn->params, tensor_param("x", EL_F32, random_sym(2)));
	vec_push(A_UNIT, &fn->params, count);
	for (int i = 0; i < 2; i++) {
		IrParam *p = &fn->params.p[i];
		p->val = ir_arg(fn->body, p->is_tensor ? type_view(p->elem, p->rank) : type_scalar(p->elem), p->name);
	}
	fn->ngrid = 2;
	fn->grid[0] = random_sym(2);
	fn->grid[1] = random_sym(1);
	vec_push(A_UNIT, &fn->where, ((IrWhere){ .cond = random_sym(4), .text = rnd(2) ? str_intern("n > 3") : NULL }));
	if (rnd(2)) vec_push(A_UNIT, &fn->generics, ((IrGeneric){ str_intern("T"), str_intern("f32") }));
	if (rnd(2)) vec_push(A_UNIT, &fn->hints, ((Hint){ .name = str_intern("warps"), .n = 2, .v = { { NULL, 4 }, { str_intern("sm_90"), 8 } } }));
	fn->ordered = rnd(2);
	fn->no_contract = rnd(2);
}

static Fn *gen_fn(Gen *g, const char *name, int ops)
{
	memset(&g->pool, 0, sizeof g->pool);
	g->fn = ir_fn(str_intern(name), (Span){ 0, 0 });
	g->b = (Builder){ .fn = g->fn, .block = g->fn->body };
	gen_params(g->fn);
	gen_block(g, g->fn->body, ops);
	gen_end(g, OP_RETURN, 0, NULL, NULL);
	return g->fn;
}

/* Text -> IR -> text, and the module read is sound as well. */
static void round_trip(const Module *m, const char *what)
{
	const char *why = ir_check(m);
	if (why) {
		FAIL("%s: %s", what, why);
		return;
	}
	Str text = print_module(m);
	Module *back = read_text(what, text);
	if (!back) FAIL("%s: %s", what, reported());
	else if (print_module(back) != text) FAIL("%s: prints otherwise", what);
}

static void give_layout(Val *v)
{
	if (type_is_tile(v->type)) ir_set_layout(v, lay_blocked(v->type->rank, v->type->log2, 0, 5, 1, NULL));
}

static void place_block(IrBlock *b)
{
	for (int i = 0; i < b->args.n; i++) give_layout(b->args.p[i]);
	for (Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nout; i++) give_layout(op->out[i]);
		for (int i = 0; i < op->nregion; i++) place_block(op->region[i]);
	}
}

static void random_modules(void)
{
	static Gen g;
	for (int i = 0; i < 150; i++) {
		Module *m = ir_module(str_intern("random.tile"));
		vec_push(A_UNIT, &m->fns, gen_fn(&g, "first", 30));
		vec_push(A_UNIT, &m->fns, gen_fn(&g, "second", 10));
		round_trip(m, str_fmt("random%d", i));
		ir_number(m->fns.p[0]);
		round_trip(m, str_fmt("numbered%d", i));
		for (int k = 0; k < m->fns.n; k++) {
			place_block(m->fns.p[k]->body);
			m->fns.p[k]->stage = STAGE_PLACED;
			m->fns.p[k]->arch = 80;
			m->fns.p[k]->warps = 2;
		}
		round_trip(m, str_fmt("placed%d", i));
	}
	for (int i = 0; i < OP_COUNT; i++)
		if (!g.made[i] && (in_typed((OpCode)i) || op_rows[i].flags & OPF_TERM)) FAIL("no random module has %s", op_rows[i].name);
}

/* ---- what the verifier refuses ---- */
typedef struct Found { Str name; Val *val; OpCode code; int nth; Op *op; } Found;

static void find(void *ctx, Op *op)
{
	Found *f = ctx;
	for (int i = 0; i < op->nout && f->name; i++)
		if (op->out[i]->name == f->name) f->val = op->out[i];
	for (int r = 0; r < op->nregion && f->name; r++)
		for (int i = 0; i < op->region[r]->args.n; i++)
			if (op->region[r]->args.p[i]->name == f->name) f->val = op->region[r]->args.p[i];
	if (!f->name && op->code == f->code && f->nth-- == 0) f->op = op;
}

static Val *val(Module *m, const char *name)
{
	Found f = { .name = str_intern(name) };
	ir_walk(m->fns.p[0]->body, find, &f);
	if (!f.val) bug("no value %s", name);
	return f.val;
}

static Op *op_nth(Module *m, OpCode code, int nth)
{
	Found f = { .code = code, .nth = nth };
	ir_walk(m->fns.p[0]->body, find, &f);
	if (!f.op) bug("no such op");
	return f.op;
}

static const Type *f32_tile(int log2)
{
	return type_tile(EL_F32, 1, (const uint8_t[]){ (uint8_t)log2 });
}

#define M(name) static void m_##name(Module *m)
M(operand_type) { val(m, "e")->def->in[1] = val(m, "i"); }
M(operand_missing) { val(m, "e")->def->in[0] = NULL; }
M(arity) { val(m, "e")->def->nin = 1; }
M(result_type) { val(m, "e")->type = f32_tile(3); }
M(result_elem) { val(m, "go")->type = type_scalar(EL_I32); }
M(use_later) { val(m, "c")->def->in[1] = val(m, "r"); }
M(use_inner) { op_nth(m, OP_PRINT, 0)->in[0] = val(m, "i"); }
M(use_removed) { ir_remove(val(m, "c")->def); }
M(use_other_kernel) { Fn *f = ir_fn(str_intern("o"), (Span){ 0, 0 }); op_nth(m, OP_PRINT, 0)->in[0] = ir_arg(f->body, type_scalar(EL_I32), NULL); }
M(id_twice) { val(m, "c")->id = val(m, "e")->id; }
M(id_range) { val(m, "c")->id = 1 << 20; }
M(owner) { val(m, "c")->def = val(m, "e")->def; }
M(index) { val(m, "u")->index = 0; }
M(no_return) { ir_remove(m->fns.p[0]->body->last); }
M(early_return) { Op *r = m->fns.p[0]->body->last; ir_move_before(r, r->prev); }
M(no_yield) { ir_remove(op_nth(m, OP_YIELD, 0)); }
M(yield_count) { op_nth(m, OP_YIELD, 2)->nin = 1; }
M(yield_type) { op_nth(m, OP_YIELD, 2)->in[0] = m->fns.p[0]->body->args.p[1]; }
M(break_type) { op_nth(m, OP_BREAK, 0)->in[0] = m->fns.p[0]->body->args.p[1]; }
M(continue_count) { op_nth(m, OP_CONTINUE, 0)->nin = 1; }
M(break_nowhere) { op_nth(m, OP_RETURN, 0)->code = OP_BREAK; }
M(leave_nowhere) { op_nth(m, OP_RETURN, 0)->code = OP_LEAVE; }
M(leave_type) { op_nth(m, OP_LEAVE, 0)->in[0] = val(m, "v"); }
M(condition_bool) { op_nth(m, OP_CONDITION, 0)->in[0] = val(m, "t"); }
M(condition_away) { op_nth(m, OP_CONDITION, 0)->code = OP_YIELD; }
M(if_condition) { val(m, "d")->def->in[0] = val(m, "i"); }
M(if_regions) { val(m, "d")->def->nregion = 1; }
M(for_counter) { val(m, "i")->type = type_scalar(EL_I64); }
M(for_carried) { val(m, "a")->type = f32_tile(5); }
M(for_bounds) { val(m, "w")->def->in[2] = val(m, "v"); }
M(region_owner) { val(m, "d")->def->region[0]->owner = val(m, "w")->def; }
M(links) { val(m, "c")->def->next->prev = NULL; }
M(parent) { val(m, "e")->def->parent = m->fns.p[0]->body; }
M(code) { val(m, "e")->def->code = OP_COUNT; }
M(sugar) { val(m, "e")->def->code = OP_CLAMP; }
M(placed_op) { Op *op = op_nth(m, OP_ASSERT, 0); op->code = OP_BARRIER; op->nin = 0; op->nattr = 0; }
M(attr_missing) { op_nth(m, OP_CONST, 0)->nattr = 0; }
M(attr_order) { IrAttr *a = val(m, "e")->def->attr, t = a[0]; a[0] = a[1]; a[1] = t; }
M(attr_default) { val(m, "e")->def->attr[0].u.i = 0; }
M(attr_word) { val(m, "e")->def->attr[0].u.i = 40; }
M(mode_not_here) { ir_set_int(val(m, "c")->def, AT_ROUNDING, 1); }
M(mode_int) { ir_set_int(val(m, "q")->def, AT_ROUNDING, 1); }
M(value_range) { ir_set_num(op_nth(m, OP_CONST, 0)->out[0]->def, AT_VALUE, (Num){ .i = INT64_MAX }); }
M(value_rounds) { ir_set_num(val(m, "v")->def, AT_VALUE, (Num){ .f = 0.1 }); }
M(text_missing) { op_nth(m, OP_PRINT, 0)->nattr = 0; }
M(early_layout) { ir_set_layout(val(m, "v"), lay_unit(1)); }
M(grid) { m->fns.p[0]->ngrid = 0; }
M(grid_atom) { m->fns.p[0]->grid[0] = sym_atom(ATOM_DIM, str_intern("zz"), 0); }
M(grid_bid) { m->fns.p[0]->grid[0] = sym_atom(ATOM_BID, NULL, 0); }
M(grid_kind) { m->fns.p[0]->grid[0] = sym_atom(ATOM_STRIDE, str_intern("n"), 0); }
M(param_val) { m->fns.p[0]->params.p[1].val = NULL; }
M(param_type) { m->fns.p[0]->params.p[1].elem = EL_U8; }
M(param_stride) { m->fns.p[0]->params.p[0].stride[1] = NULL; }
M(dim_elem) { m->fns.p[0]->dims.p[0].elem = EL_F32; }
M(dim_twice) { m->fns.p[0]->dims.p[1].name = m->fns.p[0]->dims.p[0].name; }
M(type_none) { val(m, "e")->type = NULL; }
M(fn_name) { vec_push(A_UNIT, &m->fns, m->fns.p[0]); }
/* gemm.ir */
M(load_rank) { val(m, "ta")->def->nin--; }
M(load_index) { val(m, "ta")->def->in[1] = val(m, "pad"); }
M(load_pad) { val(m, "ta")->def->in[3] = val(m, "i"); }
M(load_elem) { val(m, "ta")->type = type_with_elem(val(m, "ta")->type, EL_F32); }
M(load_steps) { ir_set_ints(val(m, "ta")->def, AT_STEPS, 1, (const int64_t[]){ 1 }); }
M(store_value) { op_nth(m, OP_STORE, 0)->in[3] = val(m, "acc"); }
M(store_result) { Op *op = op_nth(m, OP_STORE, 0); op->in[0] = val(m, "i"); op->nattr = 0; }
M(mma_inner) { val(m, "next")->def->in[1] = val(m, "ta"); }
M(mma_acc) { val(m, "next")->def->in[2] = val(m, "ta"); }
M(bid_axis) { ir_set_int(val(m, "i")->def, AT_AXIS, 2); }
M(launch_atom) { ir_set_sym(val(m, "kt")->def, AT_SYM, sym_atom(ATOM_VAL, NULL, 3)); }
M(cast_shape) { val(m, "out")->type = type_tile(EL_F16, 1, (const uint8_t[]){ 14 }); }
M(entry_tensor) { m->entries.p[0]->body.p[0]->u.launch.args.p[0].tensor = 9; }
M(entry_kind) { m->entries.p[0]->body.p[0]->u.launch.args.p[0].is_tensor = false; }
M(entry_count) { m->entries.p[0]->body.p[0]->u.launch.args.n = 2; }
M(entry_dims) { m->entries.p[0]->body.p[0]->u.launch.dims.n = 2; }
M(entry_fn) { m->entries.p[0]->body.p[0]->u.launch.variants.p[0].fn = ir_fn(str_intern("q"), (Span){ 0, 0 }); }
M(entry_none) { m->entries.p[0]->body.p[0]->u.launch.variants.n = 0; }
/* host.ir */
M(host_elem) { m->entries.p[0]->params.p[1].elem = EL_F64; }
M(host_num) { m->entries.p[0]->body.p[2]->u.ifs.then.p[2]->u.launch.args.p[4].num.i = 2; }
M(host_rule) { m->entries.p[0]->body.p[2]->u.ifs.other.p[0]->u.ifs.then.p[1]->u.launch.rules.p[0].variant = 2; }
M(host_variants) { m->fns.p[1]->params.n = 4; m->fns.p[1]->body->args.n = 4; }
M(host_let) { m->entries.p[0]->body.p[0]->u.let.name = str_intern("other"); }
M(host_scratch) { m->entries.p[0]->body.p[1]->u.scratch.tensor.is_tensor = false; }
M(host_name) { m->entries.p[0]->name = NULL; }
/* placed.ir */
M(lay_none) { val(m, "b")->lay = NULL; }
M(lay_shape) { ir_set_layout(val(m, "d"), lay_unit(2)); }
M(lay_onto) { Lay l = *val(m, "d")->lay; l.col[0] = l.col[1]; ir_set_layout(val(m, "d"), l); }
M(lay_other) { ir_set_layout(val(m, "b"), *val(m, "c")->lay); }
M(lay_leaves_warp) { val(m, "c")->def->code = OP_CONVERT_REGS; }
M(lay_scalar) { ir_set_layout(val(m, "i"), lay_unit(0)); }
M(lay_warps) { m->fns.p[0]->warps = 2; }
M(packed_warps) { m->fns.p[0]->packed = 2; }
M(packed_lanes) { m->fns.p[1]->lanes = 3; }
M(packed_part) { m->fns.p[1]->packed = 2; }
M(lay_lanes) { m->fns.p[1]->lanes = 4; }
M(buffer_layout) { ir_set_lay(val(m, "buf")->def, AT_LAYOUT, lay_id(2, HW_OFF, 1, 6)); }
M(buffer_onto) { Lay l = *ir_attr(val(m, "buf")->def, AT_LAYOUT)->u.lay; l.col[7] = 0; ir_set_lay(val(m, "buf")->def, AT_LAYOUT, l); }
M(store_view) { Op *op = op_nth(m, OP_STORE, 0); op->code = OP_SCATTER; op->nattr = 0; op->in[0] = val(m, "i"); }
M(buffer_shape) { op_nth(m, OP_STORE_SHARED, 0)->in[1] = val(m, "pad"); }
M(step_grows) { val(m, "e")->type = type_tile(EL_F32, 2, (const uint8_t[]){ 3, 5 }); }
M(step_region) { val(m, "f")->def->nregion = 0; }
M(step_kind) { val(m, "f")->def->nattr = 1; }
M(step_yield) { op_nth(m, OP_YIELD, 0)->in[0] = val(m, "i"); }
M(stage) { m->fns.p[0]->stage = STAGE_TYPED; }

typedef struct Mutation { const char *file, *name; void (*f)(Module *m); const char *says; } Mutation;
#define X(file, name, says) { file, #name, m_##name, says }
static const Mutation mutations[] = {
	X("control", operand_type, "operands must have one type"), X("control", operand_missing, "operand 0 is missing"),
	X("control", arity, "2 operands needed"), X("control", result_type, "the result must have the operands' type"),
	X("control", result_elem, "the result must be bool"), X("control", use_later, "operand 1 is not defined before this use"),
	X("control", use_inner, "not defined before this use"), X("control", use_removed, "not defined before this use"),
	X("control", use_other_kernel, "not defined before this use"),
	X("control", id_twice, "is used twice"), X("control", id_range, "is outside the kernel's"),
	X("control", owner, "result 0 belongs elsewhere"), X("control", index, "result 1 belongs elsewhere"),
	X("control", no_return, "the block has no end"), X("control", early_return, "the block goes on behind its end"),
	X("control", no_yield, "the block has no end"), X("control", yield_count, "1 values given, 2 needed"),
	X("control", yield_type, "values 0: `i32` given, `tile<f32, [4]>` needed"),
	X("control", break_type, "values 0: `i32` given, `tile<f32, [4]>` needed"),
	X("control", continue_count, "1 values given, 2 needed"), X("control", break_nowhere, "no loop to break"),
	X("control", leave_nowhere, "no scope to leave"), X("control", leave_type, "`tile<f32, [4]>` given, `i32` needed"),
	X("control", condition_bool, "the condition must be a bool scalar"), X("control", condition_away, "ends in `condition`"),
	X("control", if_condition, "the condition must be a bool scalar"), X("control", if_regions, "two regions needed"),
	X("control", for_counter, "the counter must have the type of the bounds"), X("control", for_carried, "initial values 0"),
	X("control", for_bounds, "bounds and step must have one type"), X("control", region_owner, "belongs to another operation"),
	X("control", links, "the links of the block are broken"), X("control", parent, "the links of the block are broken"),
	X("control", code, "the operation does not exist"), X("control", sugar, "exists in the language only"),
	X("control", placed_op, "exists in placed kernels only"), X("control", attr_missing, "attribute `value` is missing"),
	X("control", attr_order, "attributes are not in order"), X("control", attr_default, "the default of `rounding` is stored"),
	X("control", attr_word, "is not one of its words"), X("control", mode_not_here, "`rounding` means nothing here"),
	X("control", mode_int, "integers take no `rounding`"), X("control", value_range, "`value` is not a value of the result's type"),
	X("control", value_rounds, "`value` is not a value of the result's type"),
	X("control", text_missing, "attribute `text` is missing"), X("control", early_layout, "has a layout before the kernel is placed"),
	X("control", grid, "the grid needs 1 to 4 extents"), X("control", grid_atom, "`zz` is not declared"),
	X("control", grid_bid, "`bid(0)` is not known at the launch"), X("control", grid_kind, "`n` is not declared"),
	X("control", param_val, "does not know its argument"), X("control", param_type, "argument 1 must be `u8`"),
	X("control", param_stride, "lacks an extent or a stride"), X("control", dim_elem, "must be i32 or i64"),
	X("control", dim_twice, "is declared twice"), X("control", type_none, "result 0 belongs elsewhere"),
	X("control", fn_name, "another kernel has the same name"),
	X("gemm", load_rank, "the number of operands is wrong"), X("gemm", load_index, "operand 1 must be integers"),
	X("gemm", load_pad, "the pad must be a scalar of the element type"), X("gemm", load_elem, "of the element type in memory"),
	X("gemm", load_steps, "one number for each axis"), X("gemm", store_value, "of the element type in memory"),
	X("gemm", store_result, "attribute `steps` is missing"), X("gemm", mma_inner, "inner extents differ"),
	X("gemm", mma_acc, "the result must have the accumulator's type"), X("gemm", bid_axis, "is not an axis of the grid"),
	X("gemm", launch_atom, "is not known at the launch"), X("gemm", cast_shape, "the shape must stay"),
	X("gemm", entry_tensor, "gets no tensor"), X("gemm", entry_kind, "the wrong kind of argument"),
	X("gemm", entry_count, "one argument for each parameter"), X("gemm", entry_dims, "one value for each dimension"),
	X("gemm", entry_fn, "not in the module"), X("gemm", entry_none, "a launch of nothing"),
	X("host", host_elem, "a scalar of another type"), X("host", host_num, "a number of another type"),
	X("host", host_rule, "a variant that does not exist"), X("host", host_variants, "have different signatures"),
	X("host", host_let, "`half` is not declared"), X("host", host_scratch, "is no tensor"), X("host", host_name, "an entry without a name"),
	X("placed", lay_none, "a tile without a layout"), X("placed", lay_shape, "has another shape"),
	X("placed", lay_onto, "leaves out elements"), X("placed", lay_other, "must share one layout"),
	X("placed", lay_leaves_warp, "the data would leave its thread"), X("placed", lay_scalar, "is no tile and has a layout"),
	X("placed", lay_warps, "has more warps than the kernel"), 
	X("placed", packed_warps, "only tile blocks of one warp share a thread block"), X("placed", packed_lanes, "are a power of two, or a warp"),
	X("placed", packed_part, "a thread block consists of whole warps"), X("placed", lay_lanes, "has more lanes than the tile block"),
 X("placed", buffer_layout, "`layout` has another shape"), X("placed", buffer_onto, "`layout` leaves out elements"),
	X("placed", store_view, "the first operand must be a view"),
	X("placed", buffer_shape, "the buffer's shape"), X("placed", step_grows, "the other extents must stay"),
	X("placed", step_region, "a region belongs to `kind = custom`"), X("placed", step_kind, "a region belongs to `kind = custom`"),
	X("placed", step_yield, "must be a scalar of the result's element type"), X("placed", stage, "before the kernel is placed"),
};

static void verifier(void)
{
	for (size_t i = 0; i < sizeof mutations / sizeof *mutations; i++) {
		const Mutation *x = &mutations[i];
		Module *m = read_text(x->file, load("tests/ir", str_fmt("%s.ir", x->file)));
		if (!m) {
			FAIL("%s: %s", x->file, reported());
			continue;
		}
		x->f(m);
		const char *why = ir_check(m);
		if (!why || !strstr(why, x->says)) FAIL("%s.%s: wanted `%s`, got `%s`", x->file, x->name, x->says, why ? why : "nothing");
	}
}

/* ---- size ---- */
static void large(void)
{
	Module *m = ir_module(str_intern("large.tile"));
	Fn *fn = ir_fn(str_intern("large"), (Span){ 0, 0 });
	Builder b = { .fn = fn, .block = fn->body };
	const Type *t = type_tile(EL_F32, 1, (const uint8_t[]){ 4 });
	Val *x = ir_const_int(&b, t, 1);
	for (int i = 0; i < 100000; i++) {
		Val *y = ir_binary(&b, OP_ADD, t, x, x);
		Val *z = ir_binary(&b, OP_MUL, t, y, x);
		if (i % 2) x = y;
		else ir_replace(z, y), x = z;           /* long chains of forwards */
	}
	ir_op(&b, OP_RETURN, 0, NULL, 0, NULL);
	fn->ngrid = 1;
	fn->grid[0] = sym_const(1);
	vec_push(A_UNIT, &m->fns, fn);
	ir_number(fn);
	round_trip(m, "large");
}

static void deep(int levels, bool fine)
{
	Out *o = out_new();
	out_puts(o, "module \"m\"\nkernel k typed {\ngrid [1]\nbody {\n%c = const {value = true} : bool\n");
	for (int i = 1; i < levels; i++) out_puts(o, "if %c do {\n");
	for (int i = 1; i < levels; i++) out_puts(o, "yield\n} do {\nyield\n}\n");
	out_puts(o, "return\n}\n}\n");
	Module *m = read_text("deep", o->p);
	CHECK(!m == !fine);
	if (!fine) CHECK(strstr(reported(), "E0606"));
}

int main(void)
{
	A_UNIT = arena_new();
	A_TMP = arena_new();
	diag_options(&(DiagOptions){ .format = DIAG_SHORT });
	tables();
	types();
	reference();
	numbers();
	changing();
	attributes();
	good_files();
	bad_files();
	random_modules();
	verifier();
	large();
	deep(200, true);
	deep(201, false);
	if (!failures) printf("intermediate code: ok\n");
	return failures != 0;
}
