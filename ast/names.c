/* Which names a part of a source mentions, whatever they stand for: each use, not the declarations. */
#include "ast/ast.h"

static void in_expr(const Expr *e, const NameVisit *v);
static void in_block(const Block *b, const NameVisit *v);

static void say(const NameVisit *v, Str name, bool assigned)
{
	if (name) v->f(v->ctx, name, assigned);
}

static void in_exprs(const ExprVec *l, const NameVisit *v)
{
	for (int i = 0; i < l->n; i++) in_expr(l->p[i], v);
}

static void in_args(const ArgVec *l, const NameVisit *v)
{
	for (int i = 0; i < l->n; i++)
		if (l->p[i].value) in_expr(l->p[i].value, v);
}

static void in_expr(const Expr *e, const NameVisit *v)
{
	if (!e) return;
	switch (e->kind) {
	case EX_ERROR: case EX_INT: case EX_FLOAT: case EX_STRING: case EX_UNDER: case EX_ALL: break;
	case EX_NAME: say(v, e->u.name, false); break;
	case EX_LIST: case EX_SET: case EX_TUPLE: case EX_ALT: in_exprs(&e->u.list, v); break;
	case EX_UNARY: case EX_UNSAFE: in_expr(e->u.un.x, v); break;
	case EX_BINARY:
		in_expr(e->u.bin.l, v);
		in_expr(e->u.bin.r, v);
		break;
	case EX_COND:
		in_expr(e->u.cond.c, v);
		in_expr(e->u.cond.a, v);
		in_expr(e->u.cond.b, v);
		break;
	case EX_CALL:
		in_expr(e->u.call.callee, v);
		in_args(&e->u.call.args, v);
		break;
	case EX_MEMBER:                 /* x.f(y) is f(x, y) */
		in_expr(e->u.mem.base, v);
		say(v, e->u.mem.name.s, false);
		break;
	case EX_INDEX:
		in_expr(e->u.idx.base, v);
		in_exprs(&e->u.idx.items, v);
		break;
	case EX_TYPE:
		say(v, e->u.type.name.s, false);
		in_args(&e->u.type.args, v);
		break;
	case EX_LAMBDA:
		in_expr(e->u.lam.body, v);
		in_block(e->u.lam.block, v);
		break;
	case EX_DIM: in_expr(e->u.dim.type, v); break;
	}
}

static void in_assignment(const Stmt *s, const NameVisit *v)
{
	const Expr *l = s->u.assign.lhs;
	in_expr(s->u.assign.rhs, v);
	if (l->kind == EX_NAME) {
		say(v, l->u.name, true);
	} else if (l->kind == EX_TUPLE) {
		for (int i = 0; i < l->u.list.n; i++)
			if (l->u.list.p[i]->kind == EX_NAME) say(v, l->u.list.p[i]->u.name, true);
	} else {
		in_expr(l, v);
	}
}

static void in_attrs(const AttrVec *a, const NameVisit *v)
{
	for (int i = 0; i < a->n; i++) in_args(&a->p[i].args, v);
}

void ast_names_stmt(const Stmt *s, const NameVisit *v)
{
	if (!s) return;
	in_attrs(&s->attrs, v);
	switch (s->kind) {
	case ST_ERROR: case ST_BREAK: case ST_CONTINUE: break;
	case ST_LET: case ST_VAR: case ST_SCRATCH:
		for (int i = 0; i < s->u.decls.n; i++) {
			in_expr(s->u.decls.p[i].type, v);
			in_expr(s->u.decls.p[i].init, v);
		}
		break;
	case ST_EXPR: case ST_RETURN: in_expr(s->u.e, v); break;
	case ST_ASSIGN: in_assignment(s, v); break;
	case ST_FOR: case ST_WHILE:
		in_expr(s->u.loop.lo, v);
		in_expr(s->u.loop.hi, v);
		in_expr(s->u.loop.step, v);
		in_block(s->u.loop.body, v);
		break;
	case ST_IF:
		in_expr(s->u.ifs.cond, v);
		in_block(s->u.ifs.then, v);
		ast_names_stmt(s->u.ifs.other, v);
		break;
	case ST_UNSAFE: case ST_BLOCK: in_block(s->u.block, v); break;
	case ST_CONST: ast_names_item(s->u.item, v); break;
	}
}

static void in_block(const Block *b, const NameVisit *v)
{
	for (int i = 0; b && i < b->stmts.n; i++) ast_names_stmt(b->stmts.p[i], v);
}

void ast_names_block(const Block *b, const NameVisit *v)
{
	in_block(b, v);
}

static void in_fn(const FnItem *f, const NameVisit *v)
{
	for (int i = 0; i < f->generics.n; i++) {
		in_expr(f->generics.p[i].class_, v);
		in_expr(f->generics.p[i].dflt, v);
	}
	for (int i = 0; i < f->params.n; i++) {
		in_expr(f->params.p[i].type, v);
		in_expr(f->params.p[i].dflt, v);
	}
	in_exprs(&f->dims, v);
	in_exprs(&f->grid, v);
	in_exprs(&f->where, v);
	in_expr(f->result, v);
	in_block(f->body, v);
}

void ast_names_item(const Item *it, const NameVisit *v)
{
	in_attrs(&it->attrs, v);
	switch (it->kind) {
	case IT_ERROR: case IT_IMPORT: break;
	case IT_PARAM: case IT_CONST:
		in_expr(it->u.constant.type, v);
		in_expr(it->u.constant.value, v);
		break;
	case IT_INSTANCE: case IT_TUNE:
		say(v, it->u.inst.module.s, false);
		say(v, it->u.inst.target.s, false);
		in_args(&it->u.inst.args, v);
		in_exprs(&it->u.inst.where, v);
		break;
	case IT_KERNEL: case IT_ENTRY: case IT_FN: in_fn(&it->u.fn, v); break;
	}
}

void ast_length_names(const Expr *e, void (*f)(void *ctx, Name n), void *ctx)
{
	switch (e->kind) {
	case EX_NAME: f(ctx, (Name){ e->u.name, e->span }); break;
	case EX_UNARY: ast_length_names(e->u.un.x, f, ctx); break;
	case EX_BINARY:
		ast_length_names(e->u.bin.l, f, ctx);
		ast_length_names(e->u.bin.r, f, ctx);
		break;
	case EX_COND:
		ast_length_names(e->u.cond.c, f, ctx);
		ast_length_names(e->u.cond.a, f, ctx);
		ast_length_names(e->u.cond.b, f, ctx);
		break;
	case EX_CALL:
		for (int i = 0; i < e->u.call.args.n; i++) ast_length_names(e->u.call.args.p[i].value, f, ctx);
		break;
	default: break;
	}
}
