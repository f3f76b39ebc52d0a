/* Operations of the text form, with the values that they make and the blocks they stand in. */
#include "ir/ir_read.h"

/* ---- values ---- */
static Str value_shown(Str name, int64_t id)
{
	if (id < 0) return str_fmt("%%%s", name);
	return name ? str_fmt("%%%s.%d", name, (int)id) : str_fmt("%%%d", (int)id);
}

typedef struct NewVal { Str name; int64_t id; Span at; } NewVal;

static NewVal read_new_val(Reader *r)
{
	NewVal v = { r->l.text, r->l.id, lex_span(&r->l) };
	int64_t most = r->l.src->len > ID_MAX ? r->l.src->len : ID_MAX;
	if (r->l.tok != T_VALUE) lex_expected(&r->l, "a value");
	else if (v.id > most) lex_error(&r->l, D_IR_NUMBER, v.at, value_shown(v.name, v.id), "i32");
	else lex_next(&r->l);
	return v;
}

/* Gives a value its name and number, and makes it known. */
static void define(Reader *r, Val *v, NewVal as, const Lay *lay)
{
	if (r->l.failed) return;
	v->name = as.name;
	v->lay = lay;
	Str key = as.id >= 0 ? str_i64(as.id) : as.name;
	if (!rd_put(&r->values, key, v)) lex_error(&r->l, D_IR_TWICE, as.at, value_shown(as.name, as.id));
	if (as.id < 0) {
		vec_push(A_UNIT, &r->unnumbered, v);
		return;
	}
	v->id = (int)as.id;
	if (r->fn->nval <= v->id) r->fn->nval = v->id + 1;
}

static Val *read_use(Reader *r)
{
	if (r->l.tok != T_VALUE) {
		lex_expected(&r->l, "a value");
		return NULL;
	}
	Str name = r->l.text, key = r->l.id >= 0 ? str_i64(r->l.id) : name;
	Val *v = key ? rd_get(&r->values, key) : NULL;
	if (!v || (name && v->name != name)) {
		lex_error(&r->l, D_IR_VALUE, lex_span(&r->l), value_shown(name, r->l.id));
		return NULL;
	}
	lex_next(&r->l);
	return v;
}

/* ---- operations ---- */
typedef struct AttrText {       /* numbers wait for the type of the result */
	AttrKey key;
	Span at;
	int64_t i;
	VEC(int64_t) ints;
	Str s;
	const Sym *sym;
	VEC(NumText) nums;
	Lay lay;
} AttrText;

typedef struct OpText {
	VEC(NewVal) outs;
	VEC(Val *) ins;
	VEC(AttrText) attrs;
	VEC(TypeLay) types;
} OpText;

static void read_ints(Reader *r, AttrText *a)
{
	lex_need(&r->l, '[', "`[`");
	while (!r->l.failed && r->l.tok != ']') {
		vec_push(A_UNIT, &a->ints, lex_int(&r->l, "a number"));
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ']', "`]`");
}

static void read_nums(Reader *r, AttrText *a)
{
	lex_need(&r->l, '[', "`[`");
	while (!r->l.failed && r->l.tok != ']') {
		vec_push(A_UNIT, &a->nums, rd_num_text(r));
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ']', "`]`");
}

static void read_word(Reader *r, AttrText *a)
{
	a->i = r->l.tok == T_NAME ? attr_word(a->key, r->l.text) : -1;
	if (a->i < 0) lex_expected(&r->l, str_fmt("one of `%s`", attr_rows[a->key].words));
	else lex_next(&r->l);
}

static void read_attr_value(Reader *r, AttrText *a)
{
	switch (attr_rows[a->key].kind) {
	case AK_INT:  a->i = lex_int(&r->l, "a number"); break;
	case AK_INTS: read_ints(r, a); break;
	case AK_WORD: read_word(r, a); break;
	case AK_STR:  a->s = rd_string(r, "a string"); break;
	case AK_SYM:  a->sym = rd_sym(r); break;
	case AK_NUM:  vec_push(A_UNIT, &a->nums, rd_num_text(r)); break;
	case AK_NUMS: read_nums(r, a); break;
	case AK_LAY:  rd_lay(r, &a->lay); break;
	}
}

static void read_attr(Reader *r, OpText *t)
{
	AttrText a = { .at = lex_span(&r->l) };
	int key = 0;
	while (key < AT_COUNT && !lex_is(&r->l, attr_rows[key].name)) key++;
	if (key == AT_COUNT) {
		lex_expected(&r->l, "an attribute");
		return;
	}
	a.key = (AttrKey)key;
	for (int i = 0; i < t->attrs.n; i++)
		if (t->attrs.p[i].key == a.key) lex_error(&r->l, D_IR_TWICE, a.at, attr_rows[key].name);
	lex_next(&r->l);
	lex_need(&r->l, '=', "`=`");
	if (!r->l.failed) read_attr_value(r, &a);
	vec_push(A_UNIT, &t->attrs, a);
}

static void set_attr(Reader *r, Op *op, const AttrText *a)
{
	VEC(Num) nums = { 0 };
	if (a->nums.n && !op->nout) lex_error(&r->l, D_IR_SYNTAX, a->at, "a result type for the number", "none");
	for (int i = 0; i < a->nums.n && !r->l.failed; i++)
		vec_push(A_UNIT, &nums, rd_num(r, op->out[0]->type->elem, a->nums.p[i]));
	if (r->l.failed) return;
	switch (attr_rows[a->key].kind) {
	case AK_INT: case AK_WORD: ir_set_int(op, a->key, a->i); break;
	case AK_INTS: ir_set_ints(op, a->key, a->ints.n, a->ints.p); break;
	case AK_STR:  ir_set_str(op, a->key, a->s); break;
	case AK_SYM:  ir_set_sym(op, a->key, a->sym); break;
	case AK_NUM:  ir_set_num(op, a->key, nums.p[0]); break;
	case AK_NUMS: ir_set_nums(op, a->key, nums.n, nums.p); break;
	case AK_LAY:  ir_set_lay(op, a->key, a->lay); break;
	}
}

static void read_outs(Reader *r, OpText *t)
{
	if (r->l.tok != T_VALUE) return;
	do vec_push(A_UNIT, &t->outs, read_new_val(r));
	while (lex_accept(&r->l, ','));
	lex_need(&r->l, '=', "`=`");
}

/* Operands, attributes and types. */
static void read_tail(Reader *r, OpText *t)
{
	if (r->l.tok == T_VALUE && !r->l.nl) {
		do vec_push(A_UNIT, &t->ins, read_use(r));
		while (lex_accept(&r->l, ','));
	}
	if (lex_accept(&r->l, '{')) {
		do read_attr(r, t);
		while (lex_accept(&r->l, ','));
		lex_need(&r->l, '}', "`}`");
	}
	if (!t->outs.n) return;
	lex_need(&r->l, ':', "`:` and a type");
	for (int i = 0; i < t->outs.n && !r->l.failed; i++) {
		if (i) lex_need(&r->l, ',', "`,` and a type for each result");
		vec_push(A_UNIT, &t->types, rd_type_lay(r));
	}
}

static Op *make_op(Reader *r, IrBlock *b, OpCode code, Span span, OpText *t)
{
	const Type **types = NEW_ARRAY(A_UNIT, const Type *, t->types.n);
	for (int i = 0; i < t->types.n; i++) types[i] = t->types.p[i].type;
	Builder make = { .fn = r->fn, .block = b, .span = span };
	int next = r->fn->nval;
	Op *op = ir_op(&make, code, t->ins.n, t->ins.p, t->types.n, types);
	r->fn->nval = next;     /* define knows the number */
	for (int i = 0; i < op->nout; i++) define(r, op->out[i], t->outs.p[i], t->types.p[i].lay);
	for (int i = 0; i < t->attrs.n; i++) set_attr(r, op, &t->attrs.p[i]);
	return op;
}

static void no_op(Reader *r)
{
	Near near;
	bool named = r->l.tok == T_NAME;
	if (named) near_begin(&near, r->l.text);
	for (int i = 0; named && i < OP_COUNT; i++)
		if (op_rows[i].form != FORM_SUGAR) near_offer(&near, str_intern(op_rows[i].name));
	Diag *d = lex_expected(&r->l, "an operation");
	if (d && named) diag_ask(d, near.best);
}

/* at 0:12: a line of a file that stands before the kernels. */
static Span read_place(Reader *r, Span span)
{
	if (r->l.nl || !lex_accept_word(&r->l, "at")) return span;
	Span at = lex_span(&r->l);
	int64_t file = lex_int(&r->l, "a file's number");
	lex_need(&r->l, ':', "`:` and a line");
	int64_t line = lex_int(&r->l, "a line");
	if (r->l.failed) return span;
	if (file < 0 || file >= r->files.n || line < 1 || line > (int64_t)r->files.p[file]->len + 1) {
		lex_error(&r->l, D_IR_NUMBER, at, str_fmt("%lld:%lld", (long long)file, (long long)line), "file");
		return span;
	}
	uint32_t lo = r->files.p[file]->base + (uint32_t)line - 1;      /* each line is empty */
	return (Span){ lo, lo + 1 };
}

static void read_op(Reader *r, IrBlock *b)
{
	OpText t = { 0 };
	OpCode code;
	Span span = lex_span(&r->l);
	read_outs(r, &t);
	if (r->l.tok != T_NAME || !op_by_name(r->l.text, &code)) {
		no_op(r);
		return;
	}
	lex_next(&r->l);
	read_tail(r, &t);
	if (r->l.failed) return;
	span.hi = r->l.src->base + r->l.last;
	span = read_place(r, span);
	Op *op = make_op(r, b, code, span, &t);
	while (lex_accept_word(&r->l, "do")) rd_block(r, ir_region(op));
}

/* [(arguments)] { operations } */
void rd_block(Reader *r, IrBlock *b)
{
	if (!rd_deeper(r)) return;
	if (lex_accept(&r->l, '(')) {
		do {
			NewVal as = read_new_val(r);
			lex_need(&r->l, ':', "`:` and a type");
			if (r->l.failed) return;
			TypeLay t = rd_type_lay(r);
			int next = r->fn->nval;
			Val *v = ir_arg(b, t.type, NULL);
			r->fn->nval = next;
			define(r, v, as, t.lay);
		} while (lex_accept(&r->l, ','));
		lex_need(&r->l, ')', "`)`");
	}
	lex_need(&r->l, '{', "`{`");
	while (!r->l.failed && r->l.tok != '}') read_op(r, b);
	lex_need(&r->l, '}', "`}`");
	r->depth--;
}
