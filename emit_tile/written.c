/* Operations that Tile C++ lacks, written in those that it has. An operation whose row of ops.def calls a function of
 * prelude.def needs nothing here; this is the place of those that look at more than one element.
 *
 * All of them work along one axis. A tile is seen as a *line*, outer x n x inner with n elements along the axis, which
 * is a reshape and moves nothing. Exchanges, shifts and orders of a line are templates of
 * prelude.def over these three numbers. The elements of a line of bytes are words (tl_words). */
#include <string.h>

#include "base/diag.h"
#include "emit_tile/tile.h"
#include "ir/fold.h"
#include "ir/monoid.h"

typedef struct Line { long long outer, n, inner; } Line;

static Line line_of(const Type *t, int axis)
{
	Line l = { 1, type_extent(t, axis), 1 };
	for (int i = 0; i < axis; i++) l.outer *= type_extent(t, i);
	for (int i = axis + 1; i < t->rank; i++) l.inner *= type_extent(t, i);
	return l;
}

static Str line_args(Line l) { return str_fmt("%lld, %lld, %lld", l.outer, l.n, l.inner); }

/* x as the line, and a result that is a line as the tile that it stands for. */
static Str reshaped(Line l, Str x) { return str_fmt("ct::reshape<ct::shape<%s>>(%s)", line_args(l), x); }
static Str as_line(Tg *g, Line l, const Val *v) { return reshaped(l, tl_words(v->type->elem, tl_text(g, v))); }
static void define_line(Tg *g, const Val *v, Str line)
{
	tl_define(g, v, tl_of_words(v->type->elem, str_fmt("ct::reshape<%s>(%s)", tl_shape(v->type), line)));
}

static Line axis_line(const Op *op) { return line_of(ir_in(op, 0)->type, ir_axis(op)); }

/* ---- elements that change places ---- */
static void flip(Tg *g, const Op *op)
{
	Line l = axis_line(op);
	define_line(g, op->out[0], str_fmt("ct_flip<%s>(%s)", line_args(l), as_line(g, l, ir_in(op, 0))));
}

/* x moved by `by` towards higher indices; what leaves comes in at the other end, or fill does. */
static Str moved(Line l, Str x, long long by, Str fill)
{
	bool turns = !fill;
	if (turns) by = (by % l.n + l.n) % l.n;
	return str_fmt("ct_move<%s, %lld, %s>(%s, %s)", line_args(l), by, turns ? "true" : "false", x, turns ? "0" : fill);
}

static void shift(Tg *g, const Op *op)
{
	Line l = axis_line(op);
	Str fill = op->code == OP_SHIFT ? tl_words(ir_in(op, 0)->type->elem, tl_text(g, ir_in(op, 1))) : NULL;
	long long by = (long long)ir_int(op, AT_SHIFT, 0);
	if (by > l.n) by = l.n;
	if (by < -l.n) by = -l.n;
	define_line(g, op->out[0], moved(l, as_line(g, l, ir_in(op, 0)), by, fill));
}

/* Elements by index: the line's elements one by one, each given to those that ask for it. */
static void take(Tg *g, const Op *op)
{
	Line l = axis_line(op), r = line_of(op->out[0]->type, ir_axis(op));
	Str index = str_fmt("ct::element_cast<long long>(%s)", reshaped(r, tl_text(g, ir_in(op, 1))));
	define_line(g, op->out[0], str_fmt("ct_take<%s>(%s, %s, %s)", line_args(l), as_line(g, l, ir_in(op, 0)),
		index, tl_words(op->out[0]->type->elem, tl_text(g, ir_in(op, 2)))));
}

/* Each axis as the number of sub-tiles by their length: `part` first. A sub-tile has one along each axis. */
static Str split_shape(const Type *big, const Type *part, bool whole)
{
	Out *o = out_new();
	out_puts(o, "ct::shape<");
	for (int i = 0; i < big->rank; i++) {
		long long length = (long long)type_extent(part, i), n = (long long)type_extent(big, i) / length;
		out_printf(o, "%s%lld, %lld", i ? ", " : "", whole ? n : 1, length);
	}
	out_puts(o, ">");
	return out_take(o);
}

/* x with a sub-tile replaced: y beside itself everywhere, and chosen where all numbers of sub-tiles are the indices. */
static void insert(Tg *g, const Op *op)
{
	const Val *x = ir_in(op, 0), *y = ir_in(op, 1);
	if (!x->type->rank) {
		tl_define(g, op->out[0], tl_text(g, y));
		return;
	}
	Str whole = split_shape(x->type, y->type, true), here = tl_temp(g, "here");
	out_printf(g->o, "const auto %s = ", here);
	for (int i = 0; i < x->type->rank; i++) {
		long long n = (long long)(type_extent(x->type, i) / type_extent(y->type, i));
		Out *shape = out_new();
		for (int k = 0; k < 2 * x->type->rank; k++) out_printf(shape, "%s%lld", k ? ", " : "", k == 2 * i ? n : 1ll);
		out_printf(g->o, "%s(ct::reshape<ct::shape<%s>>(ct::iota<ct::tile<long long, "
			"ct::shape<%lld>>>()) == (long long)%s)", i ? " && " : "",
			out_take(shape), n, tl_text(g, ir_in(op, 2 + i)));
	}
	out_puts(g->o, ";\n");
	Str part = split_shape(x->type, y->type, false);
	Elem e = x->type->elem;
	tl_define(g, op->out[0], tl_of_words(e, str_fmt("ct::reshape<%s>(ct::select(ct::broadcast<%s>(%s), "
		"ct::broadcast<%s>(ct::reshape<%s>(%s)), ct::reshape<%s>(%s)))", tl_shape(x->type), whole, here, whole, part,
		tl_words(e, tl_text(g, y)), whole, tl_words(e, tl_text(g, x)))));
}

/* ---- orders ---- */
/* Sorts keys with their places in the line, by which equal keys stay in their order; the names of both. */
static void sorted(Tg *g, const Op *op, const char *order, Str *keys, Str *places)
{
	Line l = axis_line(op);
	const Val *x = ir_in(op, 0);
	*keys = tl_temp(g, "keys");
	*places = tl_temp(g, "places");
	out_printf(g->o, "auto %s = %s;\n", *keys, as_line(g, l, x));
	out_printf(g->o, "auto %s = ct_place<%s>();\n", *places, line_args(l));
	out_printf(g->o, "ct_sort<%s, %s>(%s, %s);\n", line_args(l), order, *keys, *places);
}

static void sort(Tg *g, const Op *op)
{
	Str keys, places;
	sorted(g, op, ir_int(op, AT_DESCENDING, 0) ? "ct_down" : "ct_up", &keys, &places);
	define_line(g, op->out[0], keys);
}

/* The first k of a line in descending order. */
static void topk(Tg *g, const Op *op)
{
	int axis = ir_axis(op);
	Line l = line_of(op->out[0]->type, axis);
	Str keys, places;
	sorted(g, op, "ct_greatest", &keys, &places);
	for (int i = 0; i < 2; i++)
		define_line(g, op->out[i],
			str_fmt("ct::extract(%s, ct::shape<%s>{}, 0, 0, 0)", i ? places : keys, line_args(l)));
}

static void histogram(Tg *g, const Op *op)
{
	const Val *x = ir_in(op, 0);
	Str flat = str_fmt("ct::reshape<ct::shape<%lld>>(ct::element_cast<long long>(%s))", (long long)type_size(x->type),
		tl_text(g, x));
	tl_define(g, op->out[0], str_fmt("ct_histogram<%s, %lld>(%s)", tl_type(g, op->out[0]->type),
		(long long)type_size(op->out[0]->type), flat));
}

/* ---- reductions and scans with functions that Tile C++ does not have ---- */
/* Combines tiles a and b of one shape, those of lower indices first, into `to`: texts, `count` of each. */
typedef void Combine(Tg *g, const Op *op, const Type *shape, const Str *a, const Str *b, Str *to);

static const Type *shaped(const Type *like, const Type *shape)
{
	return type_with_shape(like, shape->rank, shape->log2);
}

/* The function's body, run for whole tiles. A branch is both of its regions, of which select takes what each element
 * asked for; a scope that is left early goes on to its end, and keeps for each element what it had when it was left; a
 * loop of as many rounds for all elements is a loop of tiles, and any other goes on until no element is left in it.
 * All of it is pure. */
typedef struct Lift {
	const Type *shape;
	const IrBlock *body;            /* of the function: what stands outside are scalars of the kernel */
} Lift;

/* Around the operation that is being lifted. */
typedef struct Path {
	const struct Path *up;
	const Op *op;                   /* if, scope or loop; the reduction or scan itself */
	Str cond;                       /* what the region that is being run needs; NULL: all elements run it */
	Str *to;                        /* values of its results, NULL before there are any */
	Str left;                       /* which elements have left the scope, or the iteration of the loop; NULL: none */
	Str *next, *result;             /* loop whose iterations differ: variables that it carries, and gives */
} Path;

static bool stands_in(const IrBlock *b, const IrBlock *body)
{
	while (b != body && b->owner) b = b->owner->parent;
	return b == body;
}

/* The text of a value as a tile; a scalar from outside is spread. */
static Str lifted_text(Tg *g, const Lift *l, const Val *v)
{
	if (stands_in(v->def ? v->def->parent : v->block, l->body)) return tl_text(g, v);
	return tl_full(g, shaped(v->type, l->shape), tl_text(g, v));
}

/* An operation on scalars, printed for tiles. Its values have the numbers that they had, so
 * that their texts are found. */
static void print_lifted(Tg *g, const Lift *l, const Op *op)
{
	Op *c = NEW(A_TMP, Op);
	Str *outer = NEW_ARRAY(A_TMP, Str, op->nin + 1);
	*c = *op;
	c->in = NEW_ARRAY(A_TMP, Val *, op->nin + 1);
	c->out = NEW_ARRAY(A_TMP, Val *, op->nout + 1);
	for (int i = 0; i < op->nin; i++) {
		Val *v = NEW(A_TMP, Val);
		*v = *ir_in(op, i);
		v->type = shaped(v->type, l->shape);
		v->fwd = NULL;
		c->in[i] = v;
		outer[i] = tl_text(g, v);
		Str text = lifted_text(g, l, ir_in(op, i));
		if (text != outer[i]) g->val[v->id].text = tl_named(g, "k", text);
	}
	for (int i = 0; i < op->nout; i++) {
		Val *v = NEW(A_TMP, Val);
		*v = *op->out[i];
		v->type = shaped(v->type, l->shape);
		v->def = c;
		v->fwd = NULL;
		c->out[i] = v;
		g->given[v->id] = NULL;         /* printed again for another shape: a name of its own */
	}
	tl_op(g, c);
	for (int i = 0; i < op->nin; i++) g->val[ir_in(op, i)->id].text = outer[i];
}

static Str both(Str a, Str b) { return !a ? b : !b ? a : str_fmt("%s && %s", a, b); }

/* Elements that come here, of those that are in the construct `of`, or of all for NULL; NULL: each of them. */
static Str reached(const Path *p, const Op *of)
{
	Str here = NULL;
	for (; p && p->op != of; p = p->up) {
		here = both(here, p->cond);
		if (p->left) here = both(here, str_fmt("!%s", p->left));
	}
	if (p && p->left) here = both(here, str_fmt("!%s", p->left));
	return here;
}

/* Those that come here, under a name, are gone from here on. */
static void gone(Tg *g, Path *p, Str here)
{
	p->left = p->left ? tl_named(g, "gone", str_fmt("%s || %s", p->left, here)) : here;
}

/* leave of a scope: the first one that an element comes to counts. */
static void leave(Tg *g, const Lift *l, const Op *op, Path *at)
{
	Path *scope = at;
	while (scope->op->code != OP_SCOPE_) scope = (Path *)scope->up;
	Str here = reached(at, scope->op);
	if (here) here = tl_named(g, "here", here);
	bool goes_on = here && at != scope;     /* some elements to what follows */
	for (int i = 0; i < op->nin; i++) {
		Str x = lifted_text(g, l, ir_in(op, i));
		scope->to[i] = tl_named(g, "left", here && scope->to[i]
			? str_fmt("ct::select(%s, %s, %s)", here, x, scope->to[i]) : x);
	}
	if (goes_on) gone(g, scope, here);
}

static void lift_block(Tg *g, const Lift *l, const IrBlock *b, Path *at);

static void bind_results(Tg *g, const Op *op, const Str *to)
{
	for (int i = 0; i < op->nout; i++) g->val[op->out[i]->id].text = to[i];
}

static void lift_scope(Tg *g, const Lift *l, const Op *op, const Path *up)
{
	Path p = { .up = up, .op = op, .to = NEW_ARRAY(A_TMP, Str, op->nout + 1) };
	lift_block(g, l, op->region[0], &p);
	bind_results(g, op, p.to);
}

static Str nothing(Tg *g, const Lift *l, const Val *v)
{
	return tl_full(g, shaped(v->type, l->shape), tl_num(v->type->elem, num_zero(v->type->elem)));
}

/* A region that ends by leaving has no values: those of the other one are taken. */
static void lift_if(Tg *g, const Lift *l, const Op *op, const Path *up)
{
	Str cond = lifted_text(g, l, ir_in(op, 0)), *to[2];
	for (int k = 0; k < 2; k++) {
		Path p = { .up = up, .op = op, .cond = k ? str_fmt("!%s", cond) : cond };
		p.to = NEW_ARRAY(A_TMP, Str, op->nout + 1);
		lift_block(g, l, op->region[k], &p);
		to[k] = p.to;
	}
	for (int i = 0; i < op->nout; i++) {
		Str a = to[0][i], b = to[1][i];
		g->val[op->out[i]->id].text = a && b ? tl_named(g, "one", str_fmt("ct::select(%s, %s, %s)", cond, a, b)) : a ? a
			: b ? b : nothing(g, l, op->out[i]);
	}
}

/* All elements run it as often: no element leaves it early, and its range comes from outside of the function. */
static bool is_shared(const Lift *l, const Op *op)
{
	Num n;
	for (int i = 0; op->code == OP_FOR && i < 3; i++) {
		const Val *v = ir_in(op, i);
		if (!ir_const_value(v, &n) && stands_in(v->def ? v->def->parent : v->block, l->body)) return false;
	}
	return op->code == OP_FOR && !tl_loop_has(op->region[0], OP_BREAK) && !tl_loop_has(op->region[0], OP_CONTINUE);
}

static Str bound(Tg *g, const Val *v)
{
	Num n;
	return ir_const_value(v, &n) ? tl_num(v->type->elem, n) : tl_text(g, v);
}

/* All values, then all variables: a value may be another variable. */
static void assign_all(Tg *g, int n, const Str *var, Str *to)
{
	for (int i = 0; n > 1 && i < n; i++) {
		Str now = tl_temp(g, "new");
		out_printf(g->o, "const auto %s = %s;\n", now, to[i]);
		to[i] = now;
	}
	for (int i = 0; i < n; i++) out_printf(g->o, "%s = %s;\n", var[i], to[i]);
}

/* The same of the elements `here`: the others keep what they have. */
static void assign_some(Tg *g, int n, const Str *var, const Str *to, Str here)
{
	Str *changed = NEW_ARRAY(A_TMP, Str, n + 1), *some = NEW_ARRAY(A_TMP, Str, n + 1);
	int k = 0;
	for (int i = 0; i < n; i++) {
		if (to[i] == var[i]) continue;
		changed[k] = var[i];
		some[k++] = str_fmt("ct::select(%s, %s, %s)", here, to[i], var[i]);
	}
	assign_all(g, k, changed, some);
}

/* A variable for the value and what it begins with. */
static Str variable(Tg *g, const Lift *l, const Val *like, Str first)
{
	Str name = tl_temp(g, "var");
	out_printf(g->o, "%s %s = %s;\n", tl_type(g, shaped(like->type, l->shape)), name, first);
	return name;
}

static void lift_shared(Tg *g, const Lift *l, const Op *op, const Path *up)
{
	const IrBlock *b = op->region[0];
	const Val *iv = b->args.p[0];
	TRange r = { bound(g, ir_in(op, 0)), bound(g, ir_in(op, 1)), bound(g, ir_in(op, 2)) };
	Path p = { .up = up, .op = op, .to = NEW_ARRAY(A_TMP, Str, op->nout + 1) };
	Str *var = NEW_ARRAY(A_TMP, Str, op->nout + 1), i = tl_temp(g, "i");
	for (int k = 0; k < op->nout; k++)
		var[k] = g->val[b->args.p[1 + k]->id].text = variable(g, l, op->out[k], lifted_text(g, l, ir_in(op, 3 + k)));
	tl_loop_open(g, op, &r, i);
	g->val[iv->id].text = tl_named(g, "round", tl_full(g, shaped(iv->type, l->shape), i));
	lift_block(g, l, b, &p);
	assign_all(g, op->nout, var, p.to);
	out_off(g->o);
	out_puts(g->o, "}\n");
	for (int k = 0; k < op->nout; k++) g->val[op->out[k]->id].text = var[k];
}

/* ---- loops that elements leave in different rounds ----
 * A variable says which elements are still in the loop; what the others have stays. */
static void stop_without(Tg *g, const Lift *l, Str live)
{
	out_printf(g->o, "if (!ct_any<%lld>(%s)) break;\n", (long long)type_size(l->shape), live);
}

static Path round_path(Tg *g, const Lift *l, const Op *op, const Path *up)
{
	const Type *flags = type_with_elem(l->shape, EL_BOOL);
	Str all = reached(up, NULL), live = tl_temp(g, "live");
	out_printf(g->o, "%s %s = %s;\n", tl_type(g, flags), live, all ? all : tl_full(g, flags, str_intern("true")));
	return (Path){ .up = up, .op = op, .cond = live };
}

/* A region from its beginning, in which nothing has left the iteration. */
static void lift_round(Tg *g, const Lift *l, const IrBlock *b, Path *p, int n)
{
	p->left = NULL;
	p->to = NEW_ARRAY(A_TMP, Str, n + 1);
	lift_block(g, l, b, p);
}

/* What the region yields, of the elements that came to its end. */
static void next_round(Tg *g, const Path *p, int n)
{
	if (!n || !p->to[0]) return;    /* it ends by leaving */
	Str stays = p->left ? tl_named(g, "stays", str_fmt("%s && !%s", p->cond, p->left)) : p->cond;
	assign_some(g, n, p->next, p->to, stays);
}

static void lift_for(Tg *g, const Lift *l, const Op *op, const Path *up)
{
	const IrBlock *b = op->region[0];
	const Val *iv = b->args.p[0];
	Str range[3], i, rest = tl_temp(g, "rest");
	for (int k = 0; k < 3; k++) range[k] = tl_named(g, "range", lifted_text(g, l, ir_in(op, k)));
	Path p = round_path(g, l, op, up);
	p.next = p.result = NEW_ARRAY(A_TMP, Str, op->nout + 1);
	for (int k = 0; k < op->nout; k++)
		p.next[k] = g->val[b->args.p[1 + k]->id].text = variable(g, l, op->out[k], lifted_text(g, l, ir_in(op, 3 + k)));
	i = g->val[iv->id].text = variable(g, l, iv, range[0]);
	out_printf(g->o, "auto %s = ct_rounds(%s, %s, %s);\n", rest, range[0], range[1], range[2]);
	out_puts(g->o, "while (true) {\n");
	out_in(g->o);
	out_printf(g->o, "%s = %s && ct_nonzero(%s);\n", p.cond, p.cond, rest);
	stop_without(g, l, p.cond);
	lift_round(g, l, b, &p, op->nout);
	next_round(g, &p, op->nout);
	out_printf(g->o, "%s = ct_next(%s, %s);\n", i, i, range[2]);
	out_printf(g->o, "%s = ct::sub(%s, ct_splat<decltype(%s)>(1));\n", rest, rest, rest);
	out_off(g->o);
	out_puts(g->o, "}\n");
	bind_results(g, op, p.next);
}

static void lift_while(Tg *g, const Lift *l, const Op *op, const Path *up)
{
	const IrBlock *test = op->region[0], *body = op->region[1];
	Path p = round_path(g, l, op, up);
	p.next = NEW_ARRAY(A_TMP, Str, op->nin + 1);
	p.result = NEW_ARRAY(A_TMP, Str, op->nout + 1);
	for (int k = 0; k < op->nin; k++)
		p.next[k] = g->val[test->args.p[k]->id].text = variable(g, l, ir_in(op, k), lifted_text(g, l, ir_in(op, k)));
	for (int k = 0; k < op->nout; k++)
		p.result[k] = g->val[body->args.p[k]->id].text = variable(g, l, op->out[k], nothing(g, l, op->out[k]));
	out_puts(g->o, "while (true) {\n");
	out_in(g->o);
	lift_round(g, l, test, &p, op->nout);
	stop_without(g, l, p.cond);
	lift_round(g, l, body, &p, op->nin);
	next_round(g, &p, op->nin);
	out_off(g->o);
	out_puts(g->o, "}\n");
	bind_results(g, op, p.result);
}

/* The values of the test are those of the loop, unless a later round or break has others. */
static void condition(Tg *g, const Lift *l, const Op *op, const Path *at)
{
	int n = op->nin - 1;
	Str *to = NEW_ARRAY(A_TMP, Str, n + 1);
	for (int i = 0; i < n; i++) to[i] = lifted_text(g, l, ir_in(op, 1 + i));
	assign_some(g, n, at->result, to, at->cond);
	out_printf(g->o, "%s = %s && %s;\n", at->cond, at->cond, lifted_text(g, l, ir_in(op, 0)));
}

static void jump(Tg *g, const Lift *l, const Op *op, Path *at)
{
	Path *loop = at;
	while (loop->op->code != OP_FOR && loop->op->code != OP_WHILE) loop = (Path *)loop->up;
	Str here = tl_named(g, "here", both(loop->cond, reached(at, loop->op)));
	Str *to = NEW_ARRAY(A_TMP, Str, op->nin + 1);
	for (int i = 0; i < op->nin; i++) to[i] = lifted_text(g, l, ir_in(op, i));
	assign_some(g, op->nin, op->code == OP_BREAK ? loop->result : loop->next, to, here);
	if (op->code == OP_BREAK) out_printf(g->o, "%s = %s && !%s;\n", loop->cond, loop->cond, here);
	else gone(g, loop, here);
}

static void lift_loop(Tg *g, const Lift *l, const Op *op, const Path *up)
{
	if (is_shared(l, op)) lift_shared(g, l, op, up);
	else if (op->code == OP_FOR) lift_for(g, l, op, up);
	else lift_while(g, l, op, up);
}

static void lift_block(Tg *g, const Lift *l, const IrBlock *b, Path *at)
{
	for (const Op *p = b->first; p; p = p->next) {
		switch (p->code) {
		case OP_IF: lift_if(g, l, p, at); break;
		case OP_SCOPE_: lift_scope(g, l, p, at); break;
		case OP_LEAVE: leave(g, l, p, at); break;
		case OP_CONDITION: condition(g, l, p, at); break;
		case OP_BREAK: case OP_CONTINUE: jump(g, l, p, at); break;
		case OP_YIELD:
			for (int i = 0; i < p->nin; i++) at->to[i] = lifted_text(g, l, ir_in(p, i));
			break;
		default:
			if (p->nregion) lift_loop(g, l, p, at);
			else print_lifted(g, l, p);
		}
	}
}

static void combine_region(Tg *g, const Op *op, const Type *shape, const Str *a, const Str *b, Str *to)
{
	const IrBlock *body = op->region[0];
	int n = op->nin / 2;
	Lift l = { shape, body };
	Path p = { .op = op, .to = to };
	for (int i = 0; i < n; i++) {
		g->val[body->args.p[i]->id].text = a[i];
		g->val[body->args.p[n + i]->id].text = b[i];
	}
	lift_block(g, &l, body, &p);
}

static void combine_op(Tg *g, const Op *op, const Type *shape, const Str *a, const Str *b, Str *to)
{
	Elem e = shape->elem;
	Str modes = elem_is_float(e) ? tl_modes(g, op) : "";
	const char *f = op_rows[monoid_combine(op->code)].name;
	bool sums = op->code == OP_CUMSUM || op->code == OP_CUMPROD;
	(void)g;
	if (e == EL_BOOL)
		to[0] = str_fmt("%s %s %s", a[0], op->code == OP_CUMSUM || op->code == OP_CUMMAX ? "||" : "&&", b[0]);
	else if (sums && elem_is_signed(e)) to[0] = str_fmt("ct_%s_s(%s, %s)", f, a[0], b[0]);
	else to[0] = str_fmt("ct::%s(%s, %s%s)", f, a[0], b[0], modes);
}

/* The shape outer x m x 2 x k x inner, without the 2 where one half is meant. */
static Str halves_shape(Line l, long long m, int two, long long k)
{
	return str_fmt("ct::shape<%lld, %lld, %d, %lld, %lld>", l.outer, m, two, k, l.inner);
}

static const Type *half_type(const Type *t, Line l, long long m, long long k)
{
	long long extent[] = { l.outer, m, 1, k, l.inner };
	uint8_t log2[5];
	for (int i = 0; i < 5; i++) log2[i] = (uint8_t)__builtin_ctzll((unsigned long long)extent[i]);
	return type_with_shape(t, 5, log2);
}

static Str *tiles_as_lines(Tg *g, const Op *op, Line l, int n)
{
	Str *x = NEW_ARRAY(A_TMP, Str, n);
	for (int i = 0; i < n; i++) x[i] = tl_named(g, "x", as_line(g, l, ir_in(op, i)));
	return x;
}

/* Neighbours are combined until one is left. */
static void reduce(Tg *g, const Op *op)
{
	int n = op->nin / 2;
	Line l = axis_line(op);
	Str *x = tiles_as_lines(g, op, l, n), *a = NEW_ARRAY(A_TMP, Str, n), *b = NEW_ARRAY(A_TMP, Str, n);
	for (long long m = l.n / 2; m; m /= 2) {
		const Type *t = half_type(ir_in(op, 0)->type, l, m, 1);
		for (int i = 0; i < n; i++) {
			Str pairs = tl_named(g, "pairs", str_fmt("ct::reshape<%s>(%s)", halves_shape(l, m, 2, 1), x[i]));
			Elem e = ir_in(op, i)->type->elem;
			Str one = halves_shape(l, m, 1, 1);
			a[i] = tl_named(g, "a", tl_of_words(e, str_fmt("ct::extract(%s, %s{}, 0, 0, 0, 0, 0)", pairs, one)));
			b[i] = tl_named(g, "b", tl_of_words(e, str_fmt("ct::extract(%s, %s{}, 0, 0, 1, 0, 0)", pairs, one)));
		}
		combine_region(g, op, t, a, b, x);
		for (int i = 0; i < n; i++) x[i] = tl_words(ir_in(op, i)->type->elem, x[i]);
	}
	for (int i = 0; i < n; i++) define_line(g, op->out[i], x[i]);
}

/* What an exclusive scan begins with. */
static Str identity(Tg *g, const Op *op, int i)
{
	Elem e = op->out[i]->type->elem;
	Str first = op->code == OP_SCAN ? tl_text(g, ir_in(op, op->nin / 2 + i)) : tl_num(e, monoid_begin(op->code, e));
	return tl_words(e, first);
}

/* Runs of k elements are known; those later in each pair of runs get what the earlier run came to (Sklansky). */
static void scan(Tg *g, const Op *op, int n, Combine *combine)
{
	Line l = axis_line(op);
	bool back = ir_int(op, AT_DIRECTION, 0);
	Str *x = tiles_as_lines(g, op, l, n), *lo = NEW_ARRAY(A_TMP, Str, n), *hi = NEW_ARRAY(A_TMP, Str, n);
	Str *a = NEW_ARRAY(A_TMP, Str, n), *b = NEW_ARRAY(A_TMP, Str, n), *to = NEW_ARRAY(A_TMP, Str, n);
	for (long long k = 1; k < l.n; k *= 2) {
		long long m = l.n / 2 / k;
		Str half = halves_shape(l, m, 1, k), one = halves_shape(l, m, 1, 1);
		for (int i = 0; i < n; i++) {
			Str runs = tl_named(g, "runs", str_fmt("ct::reshape<%s>(%s)", halves_shape(l, m, 2, k), x[i]));
			lo[i] = tl_named(g, "lo", str_fmt("ct::extract(%s, %s{}, 0, 0, 0, 0, 0)", runs, half));
			hi[i] = tl_named(g, "hi", str_fmt("ct::extract(%s, %s{}, 0, 0, 1, 0, 0)", runs, half));
			Str all = str_fmt("ct::broadcast<%s>(ct::extract(%s, %s{}, 0, 0, 0, %lld, 0))", half, back ? hi[i] : lo[i],
				one, back ? 0 : k - 1);
			Elem e = ir_in(op, i)->type->elem;
			a[i] = back ? tl_of_words(e, lo[i]) : tl_named(g, "all", tl_of_words(e, all));
			b[i] = back ? tl_named(g, "all", tl_of_words(e, all)) : tl_of_words(e, hi[i]);
		}
		combine(g, op, half_type(ir_in(op, 0)->type, l, m, k), a, b, to);
		for (int i = 0; i < n; i++) {
			Str sum = tl_words(op->out[i]->type->elem, to[i]);
			x[i] = tl_named(g, "x", reshaped(l, str_fmt("ct::cat<2>(%s, %s)", back ? sum : lo[i], back ? hi[i] : sum)));
		}
	}
	for (int i = 0; i < n; i++)
		define_line(g, op->out[i], ir_int(op, AT_EXCLUSIVE, 0) ? moved(l, x[i], back ? -1 : 1, identity(g, op, i))
			: x[i]);
}

void tl_scan_written(Tg *g, const Op *op) { scan(g, op, 1, combine_op); }

bool tl_written(Tg *g, const Op *op)
{
	switch (op->code) {
	case OP_FLIP: flip(g, op); return true;
	case OP_SHIFT: case OP_ROTATE: shift(g, op); return true;
	case OP_TAKE: take(g, op); return true;
	case OP_INSERT: insert(g, op); return true;
	case OP_SORT: sort(g, op); return true;
	case OP_TOPK: topk(g, op); return true;
	case OP_HISTOGRAM: histogram(g, op); return true;
	case OP_REDUCE: reduce(g, op); return true;
	case OP_SCAN: scan(g, op, op->nin / 2, combine_region); return true;
	case OP_CUMMAX: case OP_CUMMIN: tl_scan_written(g, op); return true;
	default: return false;
	}
}
