/* Are two trees the same, places aside? */
#include "ast/ast.h"

static bool expr(const Expr *a, const Expr *b);
static bool block(const Block *a, const Block *b);
static bool item(const Item *a, const Item *b);

/* NULL equals NULL only. */
static bool opt(const Expr *a, const Expr *b) { return a && b ? expr(a, b) : !a && !b; }

static bool exprs(const ExprVec *a, const ExprVec *b)
{
	if (a->n != b->n) return false;
	for (int i = 0; i < a->n; i++)
		if (!expr(a->p[i], b->p[i])) return false;
	return true;
}

static bool args(const ArgVec *a, const ArgVec *b)
{
	if (a->n != b->n) return false;
	for (int i = 0; i < a->n; i++)
		if (a->p[i].name.s != b->p[i].name.s || !expr(a->p[i].value, b->p[i].value)) return false;
	return true;
}

static bool lit(const Literal *a, const Literal *b)
{
	return a->i == b->i && a->text == b->text && a->suffix == b->suffix;
}

static bool lambda(const Expr *a, const Expr *b)
{
	if (!exprs(&a->u.lam.params, &b->u.lam.params) || !opt(a->u.lam.body, b->u.lam.body)) return false;
	return a->u.lam.block && b->u.lam.block ? block(a->u.lam.block, b->u.lam.block) : a->u.lam.block == b->u.lam.block;
}

static bool expr(const Expr *a, const Expr *b)
{
	if (a->kind != b->kind) return false;
	switch (a->kind) {
	case EX_ERROR: case EX_UNDER: case EX_ALL: return true;
	case EX_NAME: return a->u.name == b->u.name;
	case EX_INT: case EX_FLOAT: return lit(&a->u.lit, &b->u.lit);
	case EX_STRING: return a->u.str.s == b->u.str.s && a->u.str.len == b->u.str.len;
	case EX_LIST: case EX_SET: case EX_TUPLE: case EX_ALT: return exprs(&a->u.list, &b->u.list);
	case EX_UNARY: return a->u.un.op == b->u.un.op && expr(a->u.un.x, b->u.un.x);
	case EX_UNSAFE: return expr(a->u.un.x, b->u.un.x);
	case EX_BINARY: return a->u.bin.op == b->u.bin.op && expr(a->u.bin.l, b->u.bin.l) && expr(a->u.bin.r, b->u.bin.r);
	case EX_COND:
		return expr(a->u.cond.c, b->u.cond.c) && expr(a->u.cond.a, b->u.cond.a) && expr(a->u.cond.b, b->u.cond.b);
	case EX_CALL: return expr(a->u.call.callee, b->u.call.callee) && args(&a->u.call.args, &b->u.call.args);
	case EX_MEMBER: return a->u.mem.name.s == b->u.mem.name.s && expr(a->u.mem.base, b->u.mem.base);
	case EX_INDEX: return expr(a->u.idx.base, b->u.idx.base) && exprs(&a->u.idx.items, &b->u.idx.items);
	case EX_TYPE: return a->u.type.name.s == b->u.type.name.s && args(&a->u.type.args, &b->u.type.args);
	case EX_LAMBDA: return lambda(a, b);
	case EX_DIM: return a->u.dim.name.s == b->u.dim.name.s && expr(a->u.dim.type, b->u.dim.type);
	}
	return false;
}

static bool attrs(const AttrVec *a, const AttrVec *b)
{
	if (a->n != b->n) return false;
	for (int i = 0; i < a->n; i++)
		if (a->p[i].name.s != b->p[i].name.s || !args(&a->p[i].args, &b->p[i].args)) return false;
	return true;
}

static bool decls(const DeclVec *a, const DeclVec *b)
{
	if (a->n != b->n) return false;
	for (int i = 0; i < a->n; i++) {
		const Decl *x = &a->p[i], *y = &b->p[i];
		if (!expr(x->pat, y->pat) || !opt(x->type, y->type) || !opt(x->init, y->init)) return false;
	}
	return true;
}

static bool loop(const Stmt *a, const Stmt *b)
{
	return a->u.loop.name.s == b->u.loop.name.s && opt(a->u.loop.lo, b->u.loop.lo) && opt(a->u.loop.hi, b->u.loop.hi) &&
		opt(a->u.loop.step, b->u.loop.step) && block(a->u.loop.body, b->u.loop.body);
}

static bool same_stmt(const Stmt *a, const Stmt *b)
{
	if (!a || !b) return a == b;
	if (a->kind != b->kind || a->doc != b->doc || a->is_const != b->is_const || !attrs(&a->attrs, &b->attrs))
		return false;
	switch (a->kind) {
	case ST_ERROR: case ST_BREAK: case ST_CONTINUE: return true;
	case ST_LET: case ST_VAR: case ST_SCRATCH: return decls(&a->u.decls, &b->u.decls);
	case ST_EXPR: case ST_RETURN: return opt(a->u.e, b->u.e);
	case ST_ASSIGN:
		return a->u.assign.op == b->u.assign.op && expr(a->u.assign.lhs, b->u.assign.lhs) &&
			expr(a->u.assign.rhs, b->u.assign.rhs);
	case ST_FOR: case ST_WHILE: return loop(a, b);
	case ST_IF:
		return expr(a->u.ifs.cond, b->u.ifs.cond) && block(a->u.ifs.then, b->u.ifs.then) &&
			same_stmt(a->u.ifs.other, b->u.ifs.other);
	case ST_UNSAFE: case ST_BLOCK: return block(a->u.block, b->u.block);
	case ST_CONST: return item(a->u.item, b->u.item);
	}
	return false;
}

static bool block(const Block *a, const Block *b)
{
	if (a->stmts.n != b->stmts.n) return false;
	for (int i = 0; i < a->stmts.n; i++)
		if (!same_stmt(a->stmts.p[i], b->stmts.p[i])) return false;
	return true;
}

static bool generics(const GenericVec *a, const GenericVec *b)
{
	if (a->n != b->n) return false;
	for (int i = 0; i < a->n; i++) {
		const Generic *x = &a->p[i], *y = &b->p[i];
		if (x->name.s != y->name.s || x->doc != y->doc || !opt(x->class_, y->class_) || !opt(x->dflt, y->dflt))
			return false;
	}
	return true;
}

static bool params(const ParamVec *a, const ParamVec *b)
{
	if (a->n != b->n) return false;
	for (int i = 0; i < a->n; i++) {
		const Param *x = &a->p[i], *y = &b->p[i];
		if (x->name.s != y->name.s || x->doc != y->doc || x->mode != y->mode) return false;
		if (!expr(x->type, y->type) || !opt(x->dflt, y->dflt)) return false;
	}
	return true;
}

static bool function(const FnItem *a, const FnItem *b)
{
	return generics(&a->generics, &b->generics) && params(&a->params, &b->params) &&
		exprs(&a->dims, &b->dims) && exprs(&a->grid, &b->grid) && opt(a->result, b->result) &&
		exprs(&a->where, &b->where) && block(a->body, b->body);
}

static bool item(const Item *a, const Item *b)
{
	if (a->kind != b->kind || a->doc != b->doc || a->name.s != b->name.s || !attrs(&a->attrs, &b->attrs)) return false;
	switch (a->kind) {
	case IT_ERROR: return true;
	case IT_IMPORT: return a->u.import.path == b->u.import.path;
	case IT_PARAM: case IT_CONST:
		return opt(a->u.constant.type, b->u.constant.type) && expr(a->u.constant.value, b->u.constant.value);
	case IT_INSTANCE: case IT_TUNE:
		return a->u.inst.module.s == b->u.inst.module.s && a->u.inst.target.s == b->u.inst.target.s &&
			args(&a->u.inst.args, &b->u.inst.args) &&
			exprs(&a->u.inst.where, &b->u.inst.where);
	case IT_KERNEL: case IT_ENTRY: case IT_FN: return function(&a->u.fn, &b->u.fn);
	}
	return false;
}

bool ast_equal(const Ast *a, const Ast *b)
{
	if (a->items.n != b->items.n) return false;
	for (int i = 0; i < a->items.n; i++)
		if (!item(a->items.p[i], b->items.p[i])) return false;
	return true;
}
