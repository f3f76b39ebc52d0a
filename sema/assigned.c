/* Questions about statements before they are built: which variables a piece of code assigns (they are carried through
 * ifs and loops), and whether it leaves a function or an unrolled loop from within a run-time if. */
#include "sema/scope.h"

typedef VEC(Str) StrVec;
typedef struct Collect {
	Cx *cx;
	BindVec *out;
	StrVec hidden;          /* names declared inside, innermost last */
	int stamp;
} Collect;

static void collect_block(Collect *c, const Block *b);

static void collect_name(Collect *c, Str name)
{
	Bind *b = scope_find(c->cx, name);
	if (!b || b->kind != BIND_VAR || b->mark == c->stamp || sv_bad(b->sv)) return;
	for (int i = c->hidden.n - 1; i >= 0; i--)
		if (c->hidden.p[i] == name) return;
	b->mark = c->stamp;
	vec_push(A_UNIT, c->out, b);
}

static void collect_lhs(Collect *c, const Expr *e)
{
	if (e->kind == EX_NAME) collect_name(c, e->u.name);
	for (int i = 0; e->kind == EX_TUPLE && i < e->u.list.n; i++) collect_lhs(c, e->u.list.p[i]);
}

static void hide_pattern(Collect *c, const Expr *e)
{
	if (e->kind == EX_NAME) vec_push(A_TMP, &c->hidden, e->u.name);
	for (int i = 0; e->kind == EX_TUPLE && i < e->u.list.n; i++) hide_pattern(c, e->u.list.p[i]);
}

static void collect_stmt(Collect *c, const Stmt *s)
{
	int hidden = c->hidden.n;
	switch (s->kind) {
	case ST_LET: case ST_VAR:
		for (int i = 0; i < s->u.decls.n; i++) hide_pattern(c, s->u.decls.p[i].pat);
		break;
	case ST_CONST: vec_push(A_TMP, &c->hidden, s->u.item->name.s); break;
	case ST_ASSIGN: collect_lhs(c, s->u.assign.lhs); break;
	case ST_FOR: case ST_WHILE:
		if (s->kind == ST_FOR) vec_push(A_TMP, &c->hidden, s->u.loop.name.s);
		collect_block(c, s->u.loop.body);
		c->hidden.n = hidden;
		break;
	case ST_IF:
		collect_block(c, s->u.ifs.then);
		if (s->u.ifs.other) collect_stmt(c, s->u.ifs.other);
		break;
	case ST_BLOCK: case ST_UNSAFE: collect_block(c, s->u.block); break;
	default: break;
	}
}

static void collect_block(Collect *c, const Block *b)
{
	int hidden = c->hidden.n;
	for (int i = 0; b && i < b->stmts.n; i++) collect_stmt(c, b->stmts.p[i]);
	c->hidden.n = hidden;
}

BindVec assigned_in(Cx *cx, const Block *b, const Stmt *s)
{
	BindVec out = { 0 };
	Collect c = { .cx = cx, .out = &out, .stamp = ++cx->s->stamp };
	if (b) collect_block(&c, b);
	if (s) collect_stmt(&c, s);
	return out;
}

/* ---- leaving early ---- */
typedef enum Leaving { LEAVE_FUNCTION, LEAVE_LOOP } Leaving;

static bool leaves(const Block *b, const Stmt *s, Leaving what, bool in_if);

static bool stmt_leaves(const Stmt *s, Leaving what, bool in_if)
{
	switch (s->kind) {
	case ST_RETURN: return what == LEAVE_FUNCTION && in_if;
	case ST_BREAK: case ST_CONTINUE: return what == LEAVE_LOOP && in_if;
	case ST_IF: return leaves(s->u.ifs.then, s->u.ifs.other, what, in_if || !s->is_const);
	case ST_BLOCK: case ST_UNSAFE: return leaves(s->u.block, NULL, what, in_if);
	default: return false;          /* a loop inside has its own break; a return in it is an error */
	}
}

static bool leaves(const Block *b, const Stmt *s, Leaving what, bool in_if)
{
	for (int i = 0; b && i < b->stmts.n; i++)
		if (stmt_leaves(b->stmts.p[i], what, in_if)) return true;
	return s && stmt_leaves(s, what, in_if);
}

bool block_returns_early(const Block *b)
{
	return leaves(b, NULL, LEAVE_FUNCTION, false);
}

bool block_breaks_early(const Block *b)
{
	return leaves(b, NULL, LEAVE_LOOP, false);
}
