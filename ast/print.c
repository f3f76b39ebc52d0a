/* Source text from the tree: what is printed parses to the same tree. Parentheses only where precedence needs them. */
#include "ast/ast.h"
#include <string.h>
#include "base/diag.h"
#include "base/json.h"

/* ---- operators: one table in the order of BinOp ---- */

typedef struct OpRow { const char *text; int prec; } OpRow;
enum {
	P_EXPR, P_COND, P_OR, P_AND, P_CMP, P_BOR, P_BXOR, P_BAND, P_SHIFT, P_ADD, P_MUL, P_UNARY, P_POSTFIX, P_PRIMARY
};

static const OpRow bin_rows[] = {
	{ "", P_EXPR }, { "+", P_ADD }, { "-", P_ADD }, { "*", P_MUL }, { "/", P_MUL }, { "%", P_MUL }, { "@", P_MUL },
	{ "&", P_BAND }, { "|", P_BOR }, { "^", P_BXOR }, { "<<", P_SHIFT }, { ">>", P_SHIFT },
	{ "==", P_CMP }, { "!=", P_CMP }, { "<", P_CMP }, { "<=", P_CMP }, { ">", P_CMP }, { ">=", P_CMP },
	{ "&&", P_AND }, { "||", P_OR },
};

const char *binop_text(BinOp op) { return bin_rows[op].text; }

const char *unop_text(UnOp op)
{
	static const char *const text[] = { "-", "+", "!", "~" };
	return text[op];
}

static int prec_of(const Expr *e)
{
	switch (e->kind) {
	case EX_LAMBDA: return P_EXPR;
	case EX_COND: return P_COND;
	case EX_BINARY: return bin_rows[e->u.bin.op].prec;
	case EX_UNARY: case EX_UNSAFE: return P_UNARY;
	case EX_MEMBER: case EX_INDEX: case EX_CALL: return P_POSTFIX;
	case EX_TYPE: {
		Str s = e->u.type.name.s;
		return !strcmp(s, "tile") || !strcmp(s, "ptr") || !strcmp(s, "tensor") ? P_PRIMARY : P_EXPR;
	}
	default: return P_PRIMARY;
	}
}

static void expr(Out *o, const Expr *e, int prec);
static void block(Out *o, const Block *b);
static void stmt(Out *o, const Stmt *s);

/* ---- literals ---- */

/* Characters by their escapes where they have one, so that a string stays on its line. */
static void string(Out *o, const char *s, size_t n)
{
	static const char from[] = "\n\r\t\\\"", to[] = "nrt\\\"";
	out_puts(o, "\"");
	for (size_t i = 0; i < n; ) {
		int len;
		int32_t c = utf8_next(s + i, n - i, &len);
		const char *k = c > 0 && c < 0x80 ? strchr(from, (int)c) : NULL;
		if (k) out_printf(o, "\\%c", to[k - from]);
		else if (c >= 0 && (c < 0x20 || c == 0x7F)) out_printf(o, "\\u{%x}", (unsigned)c);
		else out_raw(o, s + i, (size_t)len);
		i += (size_t)len;
	}
	out_puts(o, "\"");
}

static void literal(Out *o, const Literal *lit)
{
	out_printf(o, "%s%s", lit->text, lit->suffix ? lit->suffix : "");
}

/* ---- lists ---- */

static void exprs(Out *o, const ExprVec *v, int prec)
{
	for (int i = 0; i < v->n; i++) {
		if (i) out_puts(o, ", ");
		expr(o, v->p[i], prec);
	}
}

static void args(Out *o, const ArgVec *v, int prec)
{
	for (int i = 0; i < v->n; i++) {
		if (i) out_puts(o, ", ");
		if (v->p[i].name.s) out_printf(o, "%s: ", v->p[i].name.s);
		expr(o, v->p[i].value, prec);
	}
}

/* A <...> argument is at the level of + and -; a name with <...> and a set may stand bare there. */
static void targ(Out *o, const Expr *e)
{
	if (e->kind == EX_TYPE || e->kind == EX_SET) expr(o, e, P_EXPR);
	else expr(o, e, P_ADD);
}

static void targs(Out *o, const ArgVec *v)
{
	out_puts(o, "<");
	for (int i = 0; i < v->n; i++) {
		if (i) out_puts(o, ", ");
		if (v->p[i].name.s) out_printf(o, "%s: ", v->p[i].name.s);
		targ(o, v->p[i].value);
	}
	out_puts(o, ">");
}

static void bracketed(Out *o, const char *open, const ExprVec *v, const char *close)
{
	out_puts(o, open);
	exprs(o, v, P_EXPR);
	out_puts(o, close);
}

/* ---- expressions ---- */

static void binary(Out *o, const Expr *e)
{
	int p = prec_of(e);
	expr(o, e->u.bin.l, p == P_CMP ? p + 1 : p);
	out_printf(o, " %s ", binop_text(e->u.bin.op));
	expr(o, e->u.bin.r, p + 1);
}

static void cond(Out *o, const Expr *e)
{
	expr(o, e->u.cond.c, P_OR);
	out_puts(o, " ? ");
	expr(o, e->u.cond.a, P_EXPR);
	out_puts(o, " : ");
	expr(o, e->u.cond.b, P_COND);
}

static void lambda(Out *o, const Expr *e)
{
	bracketed(o, "fn(", &e->u.lam.params, ") ");
	if (e->u.lam.block) block(o, e->u.lam.block);
	else expr(o, e->u.lam.body, P_EXPR);
}

static void call(Out *o, const Expr *e)
{
	expr(o, e->u.call.callee, P_POSTFIX);
	out_puts(o, "(");
	args(o, &e->u.call.args, P_EXPR);
	out_puts(o, ")");
}

/* `1.x` would be a bad number. */
static void member(Out *o, const Expr *e)
{
	expr(o, e->u.mem.base, e->u.mem.base->kind == EX_INT ? P_PRIMARY + 1 : P_POSTFIX);
	out_printf(o, ".%s", e->u.mem.name.s);
}

static void bare(Out *o, const Expr *e)
{
	switch (e->kind) {
	case EX_ERROR: out_puts(o, "_"); break;
	case EX_NAME: out_puts(o, e->u.name); break;
	case EX_INT: case EX_FLOAT: literal(o, &e->u.lit); break;
	case EX_STRING: string(o, e->u.str.s, e->u.str.len); break;
	case EX_UNDER: out_puts(o, "_"); break;
	case EX_ALL: out_puts(o, ":"); break;
	case EX_LIST: bracketed(o, "[", &e->u.list, "]"); break;
	case EX_SET: bracketed(o, "{", &e->u.list, "}"); break;
	case EX_TUPLE: bracketed(o, "(", &e->u.list, ")"); break;
	case EX_UNARY: out_puts(o, unop_text(e->u.un.op)); expr(o, e->u.un.x, P_UNARY); break;
	case EX_UNSAFE: out_puts(o, "unsafe "); expr(o, e->u.un.x, P_UNARY); break;
	case EX_BINARY: binary(o, e); break;
	case EX_COND: cond(o, e); break;
	case EX_CALL: call(o, e); break;
	case EX_MEMBER: member(o, e); break;
	case EX_INDEX: expr(o, e->u.idx.base, P_POSTFIX); bracketed(o, "[", &e->u.idx.items, "]"); break;
	case EX_TYPE: out_puts(o, e->u.type.name.s); targs(o, &e->u.type.args); break;
	case EX_LAMBDA: lambda(o, e); break;
	case EX_ALT:
		for (int i = 0; i < e->u.list.n; i++) {
			if (i) out_puts(o, " | ");
			expr(o, e->u.list.p[i], P_EXPR);
		}
		break;
	case EX_DIM: out_printf(o, "%s: ", e->u.dim.name.s); expr(o, e->u.dim.type, P_EXPR); break;
	}
}

/* e where at least `prec` is needed. */
static void expr(Out *o, const Expr *e, int prec)
{
	bool paren = prec_of(e) < prec;
	if (paren) out_puts(o, "(");
	bare(o, e);
	if (paren) out_puts(o, ")");
}

void ast_print_expr(Out *o, const Expr *e) { expr(o, e, P_EXPR); }

/* ---- statements ---- */

static void doc(Out *o, Str d)
{
	if (!d) return;
	for (const char *p = d; ; p++) {
		size_t n = strcspn(p, "\n");
		out_printf(o, n ? "/// %.*s\n" : "///%.*s\n", (int)n, p);
		p += n;
		if (!*p) return;
	}
}

static void attrs(Out *o, const AttrVec *v, const char *after)
{
	for (int i = 0; i < v->n; i++) {
		const Attr *a = &v->p[i];
		out_printf(o, "@%s", a->name.s);
		if (a->args.n) {
			out_puts(o, "(");
			args(o, &a->args, P_EXPR);
			out_puts(o, ")");
		}
		out_puts(o, i + 1 < v->n ? " " : after);
	}
}

static void decls(Out *o, const DeclVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const Decl *d = &v->p[i];
		if (i) out_puts(o, ", ");
		expr(o, d->pat, P_EXPR);
		if (d->type) {
			out_puts(o, ": ");
			expr(o, d->type, P_EXPR);
		}
		if (d->init) {
			out_puts(o, " = ");
			expr(o, d->init, P_EXPR);
		}
	}
}

static void loop(Out *o, const Stmt *s)
{
	out_printf(o, "for %s%s in ", s->is_const ? "const " : "", s->u.loop.name.s);
	expr(o, s->u.loop.lo, P_EXPR);
	out_puts(o, " .. ");
	expr(o, s->u.loop.hi, P_EXPR);
	if (s->u.loop.step) {
		out_puts(o, " step ");
		expr(o, s->u.loop.step, P_EXPR);
	}
	out_puts(o, " ");
	block(o, s->u.loop.body);
}

static void if_chain(Out *o, const Stmt *s)
{
	for (; s && s->kind == ST_IF; s = s->u.ifs.other) {
		out_puts(o, s->is_const ? "if const " : "if ");
		expr(o, s->u.ifs.cond, P_EXPR);
		out_puts(o, " ");
		block(o, s->u.ifs.then);
		if (s->u.ifs.other) out_puts(o, " else ");
	}
	if (s && s->kind == ST_BLOCK) block(o, s->u.block);
	else if (s) out_puts(o, "{ }");
}

static void constant(Out *o, const char *word, const Item *it)
{
	out_printf(o, "%s %s", word, it->name.s);
	if (it->u.constant.type) {
		out_puts(o, ": ");
		expr(o, it->u.constant.type, P_EXPR);
	}
	out_puts(o, " = ");
	expr(o, it->u.constant.value, P_EXPR);
	out_puts(o, ";");
}

static void assign(Out *o, const Stmt *s)
{
	expr(o, s->u.assign.lhs, P_POSTFIX);
	out_printf(o, " %s= ", binop_text(s->u.assign.op));
	expr(o, s->u.assign.rhs, P_EXPR);
	out_puts(o, ";");
}

static void plain(Out *o, const Stmt *s)
{
	switch (s->kind) {
	case ST_ERROR: break;
	case ST_LET: out_puts(o, "let "); decls(o, &s->u.decls); out_puts(o, ";"); break;
	case ST_VAR: out_puts(o, "var "); decls(o, &s->u.decls); out_puts(o, ";"); break;
	case ST_SCRATCH: out_puts(o, "scratch "); decls(o, &s->u.decls); out_puts(o, ";"); break;
	case ST_EXPR: expr(o, s->u.e, P_EXPR); out_puts(o, ";"); break;
	case ST_ASSIGN: assign(o, s); break;
	case ST_FOR: loop(o, s); break;
	case ST_WHILE:
		out_puts(o, "while ");
		expr(o, s->u.loop.lo, P_EXPR);
		out_puts(o, " ");
		block(o, s->u.loop.body);
		break;
	case ST_IF: if_chain(o, s); break;
	case ST_BREAK: out_puts(o, "break;"); break;
	case ST_CONTINUE: out_puts(o, "continue;"); break;
	case ST_RETURN:
		out_puts(o, s->u.e ? "return " : "return");
		if (s->u.e) expr(o, s->u.e, P_EXPR);
		out_puts(o, ";");
		break;
	case ST_UNSAFE: out_puts(o, "unsafe "); block(o, s->u.block); break;
	case ST_BLOCK: block(o, s->u.block); break;
	case ST_CONST: constant(o, "const", s->u.item); break;
	}
}

static void stmt(Out *o, const Stmt *s)
{
	doc(o, s->doc);
	attrs(o, &s->attrs, " ");
	plain(o, s);
	out_puts(o, "\n");
}

static void block(Out *o, const Block *b)
{
	if (!b->stmts.n) {
		out_puts(o, "{ }");
		return;
	}
	out_puts(o, "{\n");
	out_in(o);
	for (int i = 0; i < b->stmts.n; i++) stmt(o, b->stmts.p[i]);
	out_off(o);
	out_puts(o, "}");
}

/* ---- items ---- */

static void generics(Out *o, const GenericVec *v)
{
	if (!v->n) return;
	out_puts(o, "<");
	for (int i = 0; i < v->n; i++) {
		const Generic *g = &v->p[i];
		if (i) out_puts(o, ", ");
		if (g->doc) out_puts(o, "\n");
		doc(o, g->doc);
		out_puts(o, g->name.s);
		if (g->class_) {
			out_puts(o, ": ");
			expr(o, g->class_, P_EXPR);
		}
		if (g->dflt) {
			out_puts(o, " = ");
			targ(o, g->dflt);
		}
	}
	out_puts(o, ">");
}

/* On one line if nothing is documented, else one to a line. */
static void params(Out *o, const ParamVec *v)
{
	static const char *const mode[] = { "", "in ", "out ", "inout " };
	bool docs = false;
	for (int i = 0; i < v->n; i++) docs = docs || v->p[i].doc;
	out_puts(o, docs ? "(\n" : "(");
	if (docs) out_in(o);
	for (int i = 0; i < v->n; i++) {
		const Param *p = &v->p[i];
		if (i) out_puts(o, docs ? ",\n" : ", ");
		doc(o, p->doc);
		out_printf(o, "%s: %s", p->name.s, mode[p->mode]);
		expr(o, p->type, P_EXPR);
		if (p->dflt) {
			out_puts(o, " = ");
			expr(o, p->dflt, P_EXPR);
		}
	}
	if (docs) out_off(o);
	out_puts(o, ")");
}

static void wheres(Out *o, const ExprVec *v)
{
	if (!v->n) return;
	out_puts(o, " where ");
	exprs(o, v, P_EXPR);
}

static void function(Out *o, const char *word, const Item *it)
{
	const FnItem *f = &it->u.fn;
	out_printf(o, "%s %s", word, it->name.s);
	generics(o, &f->generics);
	params(o, &f->params);
	if (f->result) {
		out_puts(o, " -> ");
		expr(o, f->result, P_EXPR);
	}
	if (f->dims.n) bracketed(o, " dims [", &f->dims, "]");
	if (it->kind == IT_KERNEL) bracketed(o, " grid [", &f->grid, "]");
	wheres(o, &f->where);
	out_puts(o, " ");
	block(o, f->body);
}

static void instance(Out *o, const char *word, const Item *it)
{
	Str module = it->u.inst.module.s;
	out_printf(o, "%s %s = %s%s%s", word, it->name.s, module ? module : "", module ? "." : "", it->u.inst.target.s);
	if (it->u.inst.args.n) targs(o, &it->u.inst.args);
	wheres(o, &it->u.inst.where);
	out_puts(o, ";");
}

static void import(Out *o, const Item *it)
{
	out_puts(o, "import ");
	string(o, it->u.import.path, str_len(it->u.import.path));
	if (it->name.s) out_printf(o, " as %s", it->name.s);
	out_puts(o, ";");
}

static void item(Out *o, const Item *it)
{
	doc(o, it->doc);
	attrs(o, &it->attrs, "\n");
	switch (it->kind) {
	case IT_ERROR: break;
	case IT_IMPORT: import(o, it); break;
	case IT_PARAM: constant(o, "param", it); break;
	case IT_CONST: constant(o, "const", it); break;
	case IT_INSTANCE: instance(o, "instance", it); break;
	case IT_TUNE: instance(o, "tune", it); break;
	case IT_KERNEL: function(o, "kernel", it); break;
	case IT_ENTRY: function(o, "entry", it); break;
	case IT_FN: function(o, "fn", it); break;
	}
	out_puts(o, "\n");
}

void ast_print(Out *o, const Ast *a)
{
	for (int i = 0; i < a->items.n; i++) {
		if (i) out_puts(o, "\n");
		item(o, a->items.p[i]);
	}
}
