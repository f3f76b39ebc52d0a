/* Makes the nodes of the tree and keeps it shallow. Everything lives in A_UNIT. */
#include "ast/ast.h"
#include <string.h>
#include "base/diag.h"

/* ---- depth ---- */

/* The depth of a node over children of depth d, or 0 when it would be too deep: then the caller makes an error node of
 * depth AST_MAX_DEPTH, which silently swallows all nodes above it. */
static uint32_t above(Span at, uint32_t d, bool reported)
{
	if (d < AST_MAX_DEPTH) return d + 1;
	if (!reported) diag(D_NESTING, at, str_i64(AST_MAX_DEPTH));
	return 0;
}

static uint32_t max_depth(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t expr_depth(const Expr *e) { return e ? e->depth : 0; }
static uint32_t block_depth(const Block *b) { return b ? b->depth : 0; }

static uint32_t exprs_depth(ExprVec v)
{
	uint32_t d = 0;
	for (int i = 0; i < v.n; i++) d = max_depth(d, v.p[i]->depth);
	return d;
}

static uint32_t args_depth(ArgVec v)
{
	uint32_t d = 0;
	for (int i = 0; i < v.n; i++) d = max_depth(d, v.p[i].value->depth);
	return d;
}

static bool too_deep(const Expr *e) { return e && e->kind == EX_ERROR && e->depth == AST_MAX_DEPTH; }

/* ---- expressions ---- */

Expr *ex_new(ExprKind kind, Span span)
{
	Expr *e = NEW(A_UNIT, Expr);
	e->kind = kind;
	e->span = span;
	e->depth = 1;
	return e;
}

/* A node over children of depth d; `hint` is the child most likely to be the end of a chain. */
static Expr *node(ExprKind kind, Span span, uint32_t d, const Expr *hint)
{
	Expr *e = ex_new(kind, span);
	e->depth = above(span, d, too_deep(hint));
	if (!e->depth) {
		e->kind = EX_ERROR;
		e->depth = AST_MAX_DEPTH;
	}
	return e;
}

Expr *ex_name(Name n)
{
	Expr *e = ex_new(EX_NAME, n.span);
	e->u.name = n.s;
	return e;
}

static Expr *literal(ExprKind kind, Span span, Literal lit)
{
	Expr *e = ex_new(lit.text ? kind : EX_ERROR, span);
	if (lit.text) e->u.lit = lit;
	return e;
}

Expr *ex_int(Span span, Literal lit) { return literal(EX_INT, span, lit); }
Expr *ex_float(Span span, Literal lit) { return literal(EX_FLOAT, span, lit); }

Expr *ex_string(Span span, Str s)
{
	Expr *e = ex_new(EX_STRING, span);
	e->u.str.s = s;
	e->u.str.len = str_len(s);
	return e;
}

Expr *ex_list(ExprKind kind, Span span, ExprVec list)
{
	Expr *e = node(kind, span, exprs_depth(list), list.n ? list.p[0] : NULL);
	if (e->kind == kind) e->u.list = list;
	return e;
}

Expr *ex_paren(Span span, ExprVec list)
{
	if (list.n != 1) return ex_list(EX_TUPLE, span, list);
	list.p[0]->span = span;
	return list.p[0];
}

Expr *ex_unary(UnOp op, Span span, Expr *x)
{
	Expr *e = node(EX_UNARY, span, x->depth, x);
	if (e->kind == EX_UNARY) {
		e->u.un.op = op;
		e->u.un.x = x;
	}
	return e;
}

Expr *ex_unsafe(Span span, Expr *x)
{
	Expr *e = node(EX_UNSAFE, span, x->depth, x);
	if (e->kind == EX_UNSAFE) e->u.un.x = x;
	return e;
}

Expr *ex_binary(BinOp op, Span at, Expr *l, Expr *r)
{
	Expr *e = node(EX_BINARY, span_join(l->span, r->span), max_depth(l->depth, r->depth), too_deep(l) ? l : r);
	if (e->kind == EX_BINARY) {
		e->u.bin.op = op;
		e->u.bin.at = at;
		e->u.bin.l = l;
		e->u.bin.r = r;
	}
	return e;
}

Expr *ex_cond(Expr *c, Expr *a, Expr *b)
{
	uint32_t d = max_depth(c->depth, max_depth(a->depth, b->depth));
	Expr *e = node(EX_COND, span_join(c->span, b->span), d, too_deep(b) ? b : too_deep(a) ? a : c);
	if (e->kind == EX_COND) {
		e->u.cond.c = c;
		e->u.cond.a = a;
		e->u.cond.b = b;
	}
	return e;
}

/* The argument that is too deep, if one is: it was reported. */
static const Expr *deep_arg(ArgVec v)
{
	for (int i = 0; i < v.n; i++)
		if (too_deep(v.p[i].value)) return v.p[i].value;
	return NULL;
}

Expr *ex_call(Span span, Expr *callee, ArgVec args)
{
	uint32_t d = max_depth(callee->depth, args_depth(args));
	Expr *e = node(EX_CALL, span, d, too_deep(callee) ? callee : deep_arg(args));
	if (e->kind == EX_CALL) {
		e->u.call.callee = callee;
		e->u.call.args = args;
	}
	return e;
}

Expr *ex_member(Expr *base, Name name)
{
	Expr *e = node(EX_MEMBER, span_join(base->span, name.span), base->depth, base);
	if (e->kind == EX_MEMBER) {
		e->u.mem.base = base;
		e->u.mem.name = name;
	}
	return e;
}

Expr *ex_index(Span span, Expr *base, ExprVec items)
{
	uint32_t d = max_depth(base->depth, exprs_depth(items));
	Expr *e = node(EX_INDEX, span, d, too_deep(base) ? base : items.p[0]);
	if (e->kind == EX_INDEX) {
		e->u.idx.base = base;
		e->u.idx.items = items;
	}
	return e;
}

Expr *ex_type(Span span, Name name, ArgVec args)
{
	Expr *e = node(EX_TYPE, span, args_depth(args), deep_arg(args));
	if (e->kind == EX_TYPE) {
		e->u.type.name = name;
		e->u.type.args = args;
	}
	return e;
}

Expr *ex_tensor(Span span, Name name, Expr *elem, Expr *shape, Arg layout)
{
	ArgVec args = { 0 };
	vec_push(A_UNIT, &args, ((Arg){ { 0 }, elem }));
	vec_push(A_UNIT, &args, ((Arg){ { 0 }, shape }));
	if (layout.value) vec_push(A_UNIT, &args, layout);
	return ex_type(span, name, args);
}

Expr *ex_dim(Span span, Name name, Expr *type)
{
	Expr *e = node(EX_DIM, span, type->depth, type);
	if (e->kind == EX_DIM) {
		e->u.dim.name = name;
		e->u.dim.type = type;
	}
	return e;
}

Expr *ex_lambda(Span span, ExprVec params, Expr *body, Block *block)
{
	uint32_t d = max_depth(exprs_depth(params), max_depth(expr_depth(body), block_depth(block)));
	Expr *e = node(EX_LAMBDA, span, d, body);
	if (e->kind == EX_LAMBDA) {
		e->u.lam.params = params;
		e->u.lam.body = body;
		e->u.lam.block = block;
	}
	return e;
}

/* ---- statements ---- */

Stmt *st_new(StmtKind kind, Span span)
{
	Stmt *s = NEW(A_UNIT, Stmt);
	s->kind = kind;
	s->span = span;
	s->depth = 1;
	return s;
}

static Stmt *stmt(StmtKind kind, Span span, uint32_t d, bool reported)
{
	Stmt *s = st_new(kind, span);
	s->depth = above(span, d, reported);
	if (!s->depth) {
		s->kind = ST_ERROR;
		s->depth = AST_MAX_DEPTH;
	}
	return s;
}

static bool deep_stmt(const Stmt *s) { return s && s->kind == ST_ERROR && s->depth == AST_MAX_DEPTH; }

static bool deep_block(const Block *b)
{
	return b && b->depth >= AST_MAX_DEPTH;
}

Stmt *st_expr(Span span, Expr *e)
{
	Stmt *s = stmt(ST_EXPR, span, e->depth, too_deep(e));
	if (s->kind == ST_EXPR) s->u.e = e;
	return s;
}

Stmt *st_assign(Span span, Expr *lhs, BinOp op, Span at, Expr *rhs)
{
	Stmt *s = stmt(ST_ASSIGN, span, max_depth(lhs->depth, rhs->depth), too_deep(lhs) || too_deep(rhs));
	if (s->kind == ST_ASSIGN) {
		s->u.assign.lhs = lhs;
		s->u.assign.op = op;
		s->u.assign.at = at;
		s->u.assign.rhs = rhs;
	}
	return s;
}

Stmt *st_decls(StmtKind kind, Span span, DeclVec decls)
{
	uint32_t d = 0;
	bool reported = false;
	for (int i = 0; i < decls.n; i++) {
		const Decl *it = &decls.p[i];
		d = max_depth(d, max_depth(it->pat->depth, max_depth(expr_depth(it->type), expr_depth(it->init))));
		reported = reported || too_deep(it->pat) || too_deep(it->type) || too_deep(it->init);
	}
	Stmt *s = stmt(kind, span, d, reported);
	if (s->kind == kind) s->u.decls = decls;
	return s;
}

Stmt *st_for(Span span, bool is_const, Name name, Expr *lo, Expr *hi, Expr *step, Block *body)
{
	uint32_t d = max_depth(max_depth(lo->depth, hi->depth), max_depth(expr_depth(step), body->depth));
	Stmt *s = stmt(ST_FOR, span, d, too_deep(lo) || too_deep(hi) || too_deep(step) || deep_block(body));
	s->is_const = is_const;
	if (s->kind == ST_FOR) {
		s->u.loop.name = name;
		s->u.loop.lo = lo;
		s->u.loop.hi = hi;
		s->u.loop.step = step;
		s->u.loop.body = body;
	}
	return s;
}

Stmt *st_while(Span span, Expr *cond, Block *body)
{
	Stmt *s = stmt(ST_WHILE, span, max_depth(cond->depth, body->depth), too_deep(cond) || deep_block(body));
	if (s->kind == ST_WHILE) {
		s->u.loop.lo = cond;
		s->u.loop.body = body;
	}
	return s;
}

Stmt *st_if(Span span, bool is_const, Expr *cond, Block *then, Stmt *other)
{
	uint32_t d = max_depth(max_depth(cond->depth, then->depth), other ? other->depth : 0);
	Stmt *s = stmt(ST_IF, span, d, too_deep(cond) || deep_block(then) || deep_stmt(other));
	s->is_const = is_const;
	if (s->kind == ST_IF) {
		s->u.ifs.cond = cond;
		s->u.ifs.then = then;
		s->u.ifs.other = other;
	}
	return s;
}

Stmt *st_return(Span span, Expr *e)
{
	Stmt *s = stmt(ST_RETURN, span, expr_depth(e), too_deep(e));
	if (s->kind == ST_RETURN) s->u.e = e;
	return s;
}

Stmt *st_scratch(Span span, Name name, Expr *type)
{
	DeclVec v = { 0 };
	vec_push(A_UNIT, &v, ((Decl){ ex_name(name), type, NULL }));
	return st_decls(ST_SCRATCH, span, v);
}

Stmt *st_block(StmtKind kind, Block *b)
{
	Stmt *s = stmt(kind, b->span, b->depth, deep_block(b));
	if (s->kind == kind) s->u.block = b;
	return s;
}

Stmt *st_const(Item *it)
{
	Expr *type = it->u.constant.type, *value = it->u.constant.value;
	Stmt *s = stmt(ST_CONST, it->span, max_depth(expr_depth(type), value->depth), too_deep(type) || too_deep(value));
	if (s->kind == ST_CONST) s->u.item = it;
	return s;
}

Stmt *st_deco(Stmt *s, Str doc, AttrVec attrs)
{
	s->doc = doc;
	s->attrs = attrs;
	return s;
}

Block *ast_block(Span span, StmtVec stmts)
{
	Block *b = NEW(A_UNIT, Block);
	uint32_t d = 0;
	for (int i = 0; i < stmts.n; i++) d = max_depth(d, stmts.p[i]->depth);
	b->span = span;
	b->stmts = stmts;
	b->depth = d + 1;
	return b;
}

/* ---- items ---- */

Item *it_new(ItemKind kind, Span span)
{
	Item *it = NEW(A_UNIT, Item);
	it->kind = kind;
	it->span = span;
	return it;
}

Item *it_import(Span span, Str path, Span at, Name as)
{
	Item *it = it_new(IT_IMPORT, span);
	it->name = as;
	it->u.import.path = path;
	it->u.import.at = at;
	return it;
}

Item *it_constant(ItemKind kind, Span span, Name name, Expr *type, Expr *value)
{
	Item *it = it_new(kind, span);
	it->name = name;
	it->u.constant.type = type;
	it->u.constant.value = value;
	return it;
}

Item *it_instance(ItemKind kind, Span span, Name name, Name module, Name target)
{
	Item *it = it_new(kind, span);
	it->name = name;
	it->u.inst.module = module;
	it->u.inst.target = target;
	return it;
}

Item *it_inst_args(Item *it, Span span, ArgVec args, ExprVec where)
{
	it->span = span;
	it->u.inst.args = args;
	it->u.inst.where = where;
	return it;
}

int param_index(const FnItem *f, Str name)
{
	for (int i = 0; i < f->params.n; i++)
		if (f->params.p[i].name.s == name) return i;
	return -1;
}

const char *mode_word(Mode m) { return m == MODE_OUT ? "out" : m == MODE_INOUT ? "inout" : "in"; }

Item *it_fn(ItemKind kind, Span span, Name name, FnItem fn)
{
	Item *it = it_new(kind, span);
	it->name = name;
	it->u.fn = fn;
	return it;
}

Item *it_deco(Item *it, Str doc, AttrVec attrs)
{
	it->doc = doc;
	it->attrs = attrs;
	return it;
}

Param *ast_param(Span span, Str doc, Name name, Mode mode, Expr *type)
{
	Param *p = NEW(A_UNIT, Param);
	*p = (Param){ .name = name, .mode = mode, .type = type, .doc = doc, .span = span };
	return p;
}

Generic *ast_generic(Str doc, Name name, Expr *class_, Expr *dflt)
{
	Generic *p = NEW(A_UNIT, Generic);
	*p = (Generic){ .name = name, .class_ = class_, .dflt = dflt, .doc = doc };
	return p;
}
