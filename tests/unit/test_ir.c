/* The IR: types and tables, building and changing, the reader's refusals, what is large and deep. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <math.h>
#include <stdlib.h>

#include "ir/rules.h"
#include "tests/unit/ir_tools.h"

/* ---- files ---- */
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
		for (int k = 0; k < n; k++) CHECK(strchr("vstalifnbqwpkro", a[k].kind) && str_len(a[k].name) > 0);
		if (r->form == FORM_PLACED) CHECK(r->flags & OPF_HIDDEN);
		if (r->form == FORM_SUGAR) CHECK(!(r->flags & OPF_HIDDEN));
		if (r->flags & OPF_ELEMWISE) CHECK(r->flags & OPF_PURE);
		if (r->flags & OPF_PURE) CHECK(!(r->flags & (OPF_READ | OPF_WRITE | OPF_TERM)));
	}
	OpCode none;
	CHECK(!op_by_name(str_intern("no_such_op"), &none));
	CHECK(attr_word(AT_ROUNDING, str_intern("toward_zero")) == 1 && attr_word(AT_ROUNDING, str_intern("toward")) == -1);
	CHECK(attr_word_text(AT_ROUNDING, 6) == str_intern("ties_even") && !attr_word_text(AT_ROUNDING, 7));
	CHECK(!attr_word_text(AT_ROUNDING, -1) && !attr_word_text(AT_AXIS, 0));
	static const struct { int kind; const char *word; } kinds[] = { { KIND_SUM, "sum" }, { KIND_PROD, "prod" }, { KIND_MAX, "max" },
		{ KIND_MIN, "min" }, { KIND_MAX_ELEMENT, "max_element" }, { KIND_MIN_ELEMENT, "min_element" }, { KIND_AND, "bitand" },
		{ KIND_OR, "bitor" }, { KIND_XOR, "bitxor" }, { KIND_CUSTOM, "custom" } };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) CHECK(attr_word(AT_KIND, str_intern(kinds[i].word)) == kinds[i].kind);
	CHECK(!attr_word_text(AT_KIND, sizeof kinds / sizeof *kinds));
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

/* Each kernel's steps are found by it, however many there are; a kernel without any has none. */
static void steps(void)
{
	enum { KERNELS = 1000 };
	StepsList all = { .n = 0 };
	Fn *fn = NEW_ARRAY(A_UNIT, Fn, 2 * KERNELS);
	CHECK(!ir_steps(&all, &fn[0]));
	for (int i = 0; i < KERNELS; i++) {
		Steps *s = NEW(A_UNIT, Steps);
		s->of = &fn[2 * i];
		ir_add_steps(&all, s);
	}
	CHECK(all.n == KERNELS);
	for (int i = 0; i < KERNELS; i++) {
		CHECK(ir_steps(&all, &fn[2 * i]) == all.p[i]);
		CHECK(!ir_steps(&all, &fn[2 * i + 1]));
	}
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
	start();
	tables();
	types();
	reference();
	numbers();
	changing();
	attributes();
	good_files();
	bad_files();
	large();
	steps();
	deep(200, true);
	deep(201, false);
	return finish("intermediate code");
}
