/* Operations that work register by register: the loops that they share. */
#include "base/diag.h"
#include "emit_cuda/access.h"
#include "emit_cuda/elem.h"
#include "emit_cuda/peel.h"
#include "placed/loops.h"

static void find_user(void *user, Op *op)
{
	for (int i = 0; i < op->nin; i++) ((const Op **)user)[ir_in(op, i)->id] = op;
}

static void find_read(void *ctx, Op *op)
{
	Cu *g = ctx;
	for (int i = 0; i < op->nin; i++)
		if (i || !elem_says_numbers(g, op)) cu_val(g, ir_in(op, i))->unread = false;
}

static void find_numbers(void *ctx, Op *op)
{
	if (op->code == OP_IOTA) cu_val(ctx, op->out[0])->unread = true;
}

/* Numbers in rotated rows are read: where an element lies is no sum. */
static void find_rotated(void *found, Op *op)
{
	*(bool *)found |= op->code == OP_PHASE && ir_int(op, AT_ROWS, ROWS_ROTATED) == ROWS_ROTATED
		&& ir_int(op, AT_NUMBER, 0);
}

/* A variable of a loop that would have the value of one register in each iteration is that register's name instead. Not
 * so an array: ptxas then chose other orders, and layer norm took 79 registers, not 58. */
static void find_splat(void *ctx, Op *op)
{
	Cu *g = ctx;
	if (op->code == OP_BROADCAST && cu_val(g, op->out[0])->inside && regs_of(ir_in(op, 0)) == 1)
		cu_val(g, op->out[0])->splat = true;
}

void elem_begin(Cu *g)
{
	g->user = NEW_ARRAY(A_TMP, const Op *, g->nval);
	ir_walk(g->fn->body, find_user, g->user);
	Loops l = loops_of(g->fn, A_TMP);
	for (int i = 0; i < g->nval; i++) {
		g->val[i].group = l.loop[i];
		g->val[i].splat = g->val[i].scalar = l.splat[i];
		g->val[i].inside = l.inside[i];
	}
	ir_walk(g->fn->body, find_splat, g);
	bool rotated = false;
	ir_walk(g->fn->body, find_rotated, &rotated);
	if (rotated) return;
	ir_walk(g->fn->body, find_numbers, g);
	ir_walk(g->fn->body, find_read, g);
}

static bool same_line(Span a, Span b)
{
	if (!a.hi || !b.hi) return false;
	Place p = src_place(a.lo), q = src_place(b.lo);
	return p.src == q.src && p.line == q.line;
}

enum { LONGEST = 80 };   /* characters of an expression that is part of another */

/* Is it without a name of the author's, and does one operation of the same block and line alone need it? So it may be
 * part of that one's expression, but not as an arm of a select, which would be evaluated under its condition. */
static const Op *only_user(const Cu *g, const Op *op, Str text)
{
	const Val *r = op->out[0];
	const Op *user = g->user[r->id];
	bool alone = g->uses[r->id] == 1 && !r->name && user && user->parent == op->parent;
	if (!alone || (user->code == OP_SELECT && ir_in(user, 0) != r)) return NULL;
	return str_len(text) <= LONGEST && same_line(op->span, user->span) ? user : NULL;
}

/* The register that a loop over n registers stands at. */
static CuInt register_of(int n) { return n > 1 ? cu_var("ct_r") : cu_int(0); }

static void literal_table(Cu *g, const Op *op)
{
	const IrAttr *a = ir_attr(op, AT_VALUES);
	Elem e = op->out[0]->type->elem;
	out_printf(g->o, "%sct_%s_values[%d] = { ", cu_const(e), cu_val(g, op->out[0])->name, a->u.nums.n);
	for (int i = 0; i < a->u.nums.n; i++) out_printf(g->o, "%s%s", i ? ", " : "", cu_num(e, a->u.nums.p[i]));
	out_puts(g->o, " };\n");
}

/* Splats and aliases: names only. */
static bool name_only(Cu *g, const Op *op)
{
	CuVal *r = cu_val(g, op->out[0]);
	Num n;
	if (r->splat) {
		if (op->code == OP_CONST && ir_const_value(op->out[0], &n)) r->name = cu_num(op->out[0]->type->elem, n);
		else r->name = cu_scalar(g, ir_in(op, 0));
		return true;
	}
	if (r->unread) return true;
	if (!op_renames(op)) return false;
	CuVal *x = cu_val(g, ir_in(op, 0));
	r->name = x->name;
	return true;
}

static bool in_group(Cu *g, const Op *op, int group)
{
	if (!op_is_pointwise(op)) return false;
	const CuVal *v = cu_val(g, op->out[0]);
	return v->splat || v->group == group;
}

static void print_pairs(Cu *g, const Op *op)
{
	const Val *r = op->out[0];
	CuInt last = cu_int(regs_of(r) - 1);
	cu_line(g, op);
	if (g->part == PART_END) {
		out_printf(g->o, "%s = %s;\n", cu_at(g, r, last.text), elem_point(g, op, last));
		return;
	}
	if (!g->part && regs_of(r) > 2) {
		if (cu_leaves_out(g, *r->lay)) cu_reached(g, "ct_r", 0, 1);
		else cu_each(g, "ct_r", regs_of(r) / 2);
		elem_print_pair(g, op, cu_var("ct_r"));
		return;
	}
	elem_print_pair(g, op, peel_loop(g, "ct_r", regs_of(r) / 2, *r->lay, 1));
	cu_end(g);
}

static void print_each(Cu *g, Op *first, const Op *end, int n)
{
	const Op *like = first;         /* one that has registers */
	while (!elem_is_printed(g, like)) like = like->next;
	if (n > 1) (void)peel_loop(g, "ct_r", n, *like->out[0]->lay, 0).text;
	for (Op *op = first; op != end; op = op->next)
		if (elem_is_printed(g, op)) elem_print_point(g, op, n > 1, elem_point(g, op, register_of(n)));
	if (n > 1) cu_end(g);
}

/* Names what op makes, and declares it where others need it. false: it is a name only. */
static bool begin_point(Cu *g, const Op *op)
{
	if (name_only(g, op)) return false;
	CuVal *v = cu_val(g, op->out[0]);
	if (!v->declared) v->name = cu_name(g, op->out[0]);
	if (op->code == OP_LITERAL) {
		cu_line(g, op);
		literal_table(g, op);
	}
	if (!v->inside && regs_of(op->out[0]) > 1) cu_declare(g, op->out[0]);
	return true;
}

/* A vector of a peeled row is a chunk. */
static void print_of_part(Cu *g, const CuChunks *c)
{
	if (g->part == PART_END || !c->each) {
		print_each(g, c->first, c->end, c->n);
		return;
	}
	out_printf(g->o, "{\nconst int ct_k = ct_part * %d;\n", c->each);
	chunks_print_one(g, c);
	out_puts(g->o, "}\n");
}

static Op *print_loop(Cu *g, Op *first, Op *end, int n)
{
	CuChunks *c = chunks_of(g, first, end, n);
	if (g->part) {
		print_of_part(g, c);
		return end;
	}
	if (end && ir_attr(end, AT_CHUNK) && end->code == OP_CAST && op_in_own_loop(end)) c->next.pairs = end;
	if (end && ir_attr(end, AT_CHUNK) && end->code == OP_REDUCE_REGS) c->next.sum = end;
	if (c->next.pairs) begin_point(g, end);
	if (c->next.sum) reduce_begin(g, end);
	const Op *store = c->next.pairs ? end->next : end;
	if (store && store->code == OP_STORE && ir_attr(store, AT_CHUNK)) g->late = c;
	else chunks_print(g, c);
	return c->next.pairs || c->next.sum ? end->next : end;
}

/* ---- loops over all registers ---- */
typedef struct Statement { const Op *op; Str text; } Statement;
typedef VEC(Statement) Statements;

static bool is_part(Cu *g, const Op *op, Str text)
{
	const Op *user = only_user(g, op, text);
	return user && op->code != OP_LITERAL && op_is_pointwise(user) && elem_is_printed(g, user) && !op_in_own_loop(user)
		&& cu_val(g, user->out[0])->group == cu_val(g, op->out[0])->group;
}

/* What a loop does. waiting: expressions that will be part of others, from `done` on; nvcc evaluates arguments in their
 * order, so that all is computed in the order in which the operations stand. */
typedef struct Body { Statements lines, waiting; int done; } Body;

/* Those that wait become statements of their own. */
static void flush(Cu *g, Body *b, int to)
{
	for (; b->done < to; b->done++) {
		Statement *s = &b->waiting.p[b->done];
		cu_val(g, s->op->out[0])->name = cu_name(g, s->op->out[0]);
		vec_push(A_TMP, &b->lines, *s);
	}
}

/* Are the operands of op that wait the last ones, in order? *n: how many there are. */
static bool takes_last(const Body *b, const Op *op, int *n)
{
	*n = 0;
	for (int i = 0; i < op->nin; i++)
		for (int k = b->done; k < b->waiting.n; k++) *n += b->waiting.p[k].op->out[0] == ir_in(op, i);
	int k = b->waiting.n - *n;
	for (int i = 0; i < op->nin; i++)
		if (k < b->waiting.n && b->waiting.p[k].op->out[0] == ir_in(op, i)) k++;
	return k == b->waiting.n;
}

static Statements statements_of(Cu *g, Op *first, const Op *end)
{
	Body b = { .done = 0 };
	for (Op *op = first; op != end; op = op->next) {
		CuVal *v = cu_val(g, op->out[0]);
		int n = regs_of(op->out[0]), taken;
		if (name_only(g, op) || (v->inside && !g->uses[op->out[0]->id])) continue;
		if (op->code == OP_LITERAL) {
			if (!v->declared) v->name = cu_name(g, op->out[0]);
			cu_line(g, op);
			literal_table(g, op);
		}
		if (!takes_last(&b, op, &taken)) {
			flush(g, &b, b.waiting.n);
			taken = 0;
		}
		Statement s = { op, elem_point(g, op, register_of(n)) };
		b.waiting.n -= taken;
		if (!v->declared && is_part(g, op, s.text)) {
			v->name = s.text;
			vec_push(A_TMP, &b.waiting, s);
			continue;
		}
		flush(g, &b, b.waiting.n);
		if (!v->declared && op->code != OP_LITERAL) v->name = cu_name(g, op->out[0]);
		vec_push(A_TMP, &b.lines, s);
	}
	flush(g, &b, b.waiting.n);
	return b.lines;
}

static void print_statements(Cu *g, const Statements *s)
{
	if (!s->n) return;
	const Val *r = s->p[0].op->out[0];
	int n = regs_of(r);
	cu_line(g, s->p[0].op);
	if (s->n == 1 && n > 1) {
		cu_fill(g, r);
		out_printf(g->o, "%s[ct_r] = %s;%s\n", cu_val(g, r)->name, s->p[0].text, cu_said(g, r));
		return;
	}
	for (int i = 0; i < s->n && n > 1; i++)
		if (!cu_val(g, s->p[i].op->out[0])->inside) cu_declare(g, s->p[i].op->out[0]);
	if (n > 1) (void)peel_loop(g, "ct_r", n, *r->lay, 0).text;
	for (int i = 0; i < s->n; i++) elem_print_point(g, s->p[i].op, n > 1, s->p[i].text);
	if (n > 1) cu_end(g);
}

Op *elem_group(Cu *g, Op *first, const Op *limit)
{
	int group = 0, n = 1;
	Op *end = first;
	for (; end != limit && op_is_pointwise(end); end = end->next) {
		if (!group && !cu_val(g, end->out[0])->splat) group = cu_val(g, end->out[0])->group;
		if (!in_group(g, end, group)) break;
	}
	const Op *own = NULL;
	for (const Op *op = first; op != end; op = op->next)
		if (!cu_val(g, op->out[0])->splat && op_in_own_loop(op)) own = op;
	if (!own && !g->part && !chunks_each(g, first, end)) {
		Statements s = statements_of(g, first, end);
		print_statements(g, &s);
		return end;
	}
	const Op *made = NULL;          /* the first that makes something */
	for (Op *op = first; op != end; op = op->next) {
		if (!made && elem_is_printed(g, op)) cu_line(g, made = op);
		if (begin_point(g, op)) n = regs_of(op->out[0]);
	}
	if (!made) return end;
	cu_line(g, made);
	if (own && own->code == OP_CAST) print_pairs(g, own);
	else if (own && own->code == OP_OPAQUE) words_opaque(g, own);
	else if (own) random_print(g, own);
	else return print_loop(g, first, end, n);
	return end;
}

static bool is_scalar_op(const Op *op)
{
	return op_has(op, OPF_ELEMWISE) && op->nout == 1 && type_is_scalar(op->out[0]->type);
}

void elem_scalar(Cu *g, const Op *op)
{
	Str arg[4];
	CuVal *r = cu_val(g, op->out[0]);
	const Type *t = op->out[0]->type;
	for (int i = 0; i < op->nin && i < 4; i++) arg[i] = cu_scalar(g, ir_in(op, i));
	Str x = elem_text(op, arg);
	const Op *user = only_user(g, op, x);
	if (user && is_scalar_op(user)) {
		r->name = x;
		return;
	}
	r->name = cu_name(g, op->out[0]);
	cu_line(g, op);
	out_printf(g->o, "%s%s = %s;\n", cu_const(t->elem), r->name, x);
}
