/* Elements of tiles as C expressions, and the loop nests they stand in. */
#include <string.h>

#include "base/diag.h"
#include "emit/lines.h"
#include "emit_c/cg.h"
#include "ir/fold.h"

static bool is_zero(Str s) { return !strcmp(s, "0"); }

Str linear(const Type *t, const Str *idx)
{
	Out *o = out_new();
	int shift = 0, n = 0;
	for (int i = t->rank - 1; i >= 0; i--) {
		if (t->log2[i] && !is_zero(idx[i])) {
			if (n++) out_puts(o, " + ");
			if (shift) out_printf(o, "%s * %lld", idx[i], 1LL << shift);
			else out_puts(o, idx[i]);
		}
		shift += t->log2[i];
	}
	if (!n) out_puts(o, "0");
	return out_take(o);
}

/* An index expression as a name, so that nothing is computed twice. */
static Str name_index(Cg *g, Str e)
{
	if (strspn(e, "0123456789") == str_len(e) || !strpbrk(e, " (")) return e;
	Str n = temp(g, "i");
	out_printf(g->o, "CT_UNUSED const int %s = %s;\n", n, e);        /* a broadcast may not ask for it */
	return n;
}

static Str memo_find(Cg *g, const Val *v, const Str *idx)
{
	for (int i = g->memo.n - 1; i >= 0; i--) {
		const Memo *m = &g->memo.p[i];
		if (m->v == v && !memcmp(m->idx, idx, sizeof *idx * v->type->rank)) return m->text;
	}
	return NULL;
}

static void memo_add(Cg *g, const Val *v, const Str *idx, Str text)
{
	Memo m = { .v = v, .text = text };
	for (int i = 0; i < v->type->rank; i++) m.idx[i] = idx[i];
	vec_push(A_TMP, &g->memo, m);
}

/* ---- index maps ---- */
static void unflatten(Cg *g, const Type *t, Str at, Str *idx)
{
	int shift = 0;
	at = name_index(g, at);
	for (int i = t->rank - 1; i >= 0; i--) {
		bool top = shift + t->log2[i] == type_log2_size(t);
		if (!t->log2[i]) idx[i] = str_intern("0");
		else if (top) idx[i] = shift ? str_fmt("(%s >> %d)", at, shift) : at;
		else if (shift) idx[i] = str_fmt("((%s >> %d) & %lld)", at, shift, (1LL << t->log2[i]) - 1);
		else idx[i] = str_fmt("(%s & %lld)", at, (1LL << t->log2[i]) - 1);
		idx[i] = name_index(g, idx[i]);
		shift += t->log2[i];
	}
}

static Str map_broadcast(Cg *g, const Op *op, const Str *idx)
{
	const Val *x = ir_in(op, 0);
	Str in[TILE_RANK];
	int lead = op->out[0]->type->rank - x->type->rank;
	for (int i = 0; i < x->type->rank; i++) in[i] = x->type->log2[i] ? idx[lead + i] : str_intern("0");
	return elem(g, x, in);
}

static Str map_permute(Cg *g, const Op *op, const Str *idx)
{
	const IrAttr *axes = ir_attr(op, AT_AXES);
	Str in[TILE_RANK];
	for (int i = 0; i < axes->u.ints.n; i++) in[axes->u.ints.p[i]] = idx[i];
	return elem(g, ir_in(op, 0), in);
}

static Str map_reshape(Cg *g, const Op *op, const Str *idx)
{
	const Val *x = ir_in(op, 0);
	Str in[TILE_RANK];
	if (x->type->kind == TY_SCALAR) return scalar(g, x);
	unflatten(g, x->type, linear(op->out[0]->type, idx), in);
	return elem(g, x, in);
}

static Str map_cat(Cg *g, const Op *op, const Str *idx)
{
	int axis = ir_axis(op);
	const Type *t = ir_in(op, 0)->type;
	Str in[TILE_RANK], half = str_fmt("%lld", (long long)type_extent(t, axis));
	memcpy(in, idx, sizeof in[0] * t->rank);
	in[axis] = t->log2[axis] ? name_index(g, str_fmt("(%s & %lld)", idx[axis], (long long)type_extent(t, axis) - 1))
		: str_intern("0");
	return str_fmt("(%s < %s ? %s : %s)", idx[axis], half, elem(g, ir_in(op, 0), in), elem(g, ir_in(op, 1), in));
}

/* extract and insert: whether each index lies inside; and the element offset along the axis. */
static Str sub_inside(Cg *g, const Op *op, int first, const Type *big, const Type *small)
{
	Out *o = out_new();
	for (int i = 0; i < big->rank; i++)
		out_printf(o, "%s((uint64_t)(int64_t)%s < %lld)", i ? " && " : "", scalar(g, ir_in(op, first + i)),
			(long long)type_extent(big, i) >> small->log2[i]);
	if (!big->rank) out_puts(o, "1");
	return out_take(o);
}

static bool const_inside(const Op *op, int first, const Type *big, const Type *small)
{
	for (int i = 0; i < big->rank; i++) {
		Num n;
		if (!ir_const_value(ir_in(op, first + i), &n) || n.i < 0 || n.i >= type_extent(big, i) >> small->log2[i])
			return false;
	}
	return true;
}

static Str map_extract(Cg *g, const Op *op, const Str *idx)
{
	const Val *x = ir_in(op, 0);
	const Type *t = op->out[0]->type;
	bool sure = const_inside(op, 1, x->type, t);
	Str in[TILE_RANK], ok = sure ? NULL : temp(g, "ok");
	if (!sure) out_printf(g->o, "const int %s = %s;\n", ok, sub_inside(g, op, 1, x->type, t));
	for (int i = 0; i < t->rank; i++) {
		Str at = str_fmt("(int)%s * %lld + %s", scalar(g, ir_in(op, 1 + i)), (long long)type_extent(t, i), idx[i]);
		in[i] = name_index(g, sure ? str_fmt("(%s)", at) : str_fmt("(%s ? %s : 0)", ok, at));
	}
	Str e = elem(g, x, in);
	return sure ? e : str_fmt("(%s ? %s : %s)", ok, e, num_c(t->elem, num_zero(t->elem)));
}

static Str map_insert(Cg *g, const Op *op, const Str *idx)
{
	const Val *x = ir_in(op, 0), *y = ir_in(op, 1);
	const Type *t = x->type;
	Str in[TILE_RANK], ok = temp(g, "ok");
	Out *o = out_new();
	out_puts(o, "1");
	for (int i = 0; i < t->rank; i++) {
		Str at = scalar(g, ir_in(op, 2 + i));
		out_printf(o, " && (int64_t)%s == (%s >> %d)", at, idx[i], y->type->log2[i]);
		in[i] = y->type->log2[i] ? name_index(g, str_fmt("(%s & %lld)", idx[i], (long long)type_extent(y->type, i) - 1))
			: str_intern("0");
	}
	out_printf(g->o, "const int %s = %s;\n", ok, out_take(o));
	return str_fmt("(%s ? %s : %s)", ok, elem(g, y, in), elem(g, x, idx));
}

static Str map_move(Cg *g, const Op *op, const Str *idx)        /* flip, rotate, shift */
{
	const Val *x = ir_in(op, 0);
	int axis = ir_axis(op);
	int64_t n = type_extent(x->type, axis), by = ir_int(op, AT_SHIFT, 0);
	Str in[TILE_RANK];
	memcpy(in, idx, sizeof in[0] * x->type->rank);
	if (op->code == OP_FLIP) {
		in[axis] = name_index(g, str_fmt("(%lld - %s)", (long long)n - 1, idx[axis]));
		return elem(g, x, in);
	}
	if (op->code == OP_ROTATE) {
		in[axis] = name_index(g, str_fmt("((%s + %lld) & %lld)", idx[axis], (long long)(((-by) % n + n) % n),
			(long long)n - 1));
		if (n == 1) in[axis] = str_intern("0");
		return elem(g, x, in);
	}
	Str fill = scalar(g, ir_in(op, 1));
	if (by >= n || by <= -n) return fill;
	Str at = name_index(g, str_fmt("(%s - (%lld))", idx[axis], (long long)by));
	in[axis] = name_index(g, str_fmt("(%s & %lld)", at, (long long)n - 1));
	return str_fmt("((unsigned)%s < %lldu ? %s : %s)", at, (long long)n, elem(g, x, in), fill);
}

static Str map_take(Cg *g, const Op *op, const Str *idx)
{
	const Val *x = ir_in(op, 0), *pick = ir_in(op, 1);
	int axis = ir_axis(op);
	Str in[TILE_RANK], at = temp(g, "at");
	out_printf(g->o, "const int64_t %s = (int64_t)%s;\n", at, elem(g, pick, idx));
	memcpy(in, idx, sizeof in[0] * x->type->rank);
	in[axis] = name_index(g, str_fmt("(int)(%s & %lld)", at, (long long)type_extent(x->type, axis) - 1));
	return str_fmt("((uint64_t)%s < %lldu ? %s : %s)", at, (long long)type_extent(x->type, axis), elem(g, x, in),
		scalar(g, ir_in(op, 2)));
}

static Str map_join(Cg *g, const Op *op, const Str *idx)
{
	Str last = idx[op->out[0]->type->rank - 1];
	return str_fmt("(%s ? %s : %s)", last, elem(g, ir_in(op, 1), idx), elem(g, ir_in(op, 0), idx));
}

static Str map_split(Cg *g, const Op *op, const Val *v, const Str *idx)
{
	Str in[TILE_RANK];
	memcpy(in, idx, sizeof in[0] * v->type->rank);
	in[v->type->rank] = v == op->out[1] ? str_intern("1") : str_intern("0");
	return elem(g, ir_in(op, 0), in);
}

static Str iota(const Op *op, const Str *idx)
{
	return str_fmt("(%s)(%s)", c_type(op->out[0]->type->elem), linear(op->out[0]->type, idx));
}

static Str elementwise(Cg *g, const Op *op, const Val *v, const Str *idx)
{
	Str arg[8];
	if (op->nin > 8) bug("%s has %d operands", op_rows[op->code].name, op->nin);
	for (int i = 0; i < op->nin; i++) arg[i] = elem(g, ir_in(op, i), idx);
	Str n = v->name ? names_new(&g->names, v->name) : str_fmt("ct_%s%d", op_rows[op->code].name, g->ntemp++);
	lines_mark(g->o, g->opt, op->span);
	out_printf(g->o, "%s %s = %s;\n", c_const(v->type->elem), n, op_template(g, op, arg));
	lines_mark(g->o, g->opt, g->at);
	memo_add(g, v, idx, n);
	return n;
}

static Str element_of(Cg *g, const Op *op, const Val *v, const Str *idx)
{
	Num n;
	switch (op->code) {
	case OP_CONST: return ir_const_value(v, &n) ? num_c(v->type->elem, n) : str_intern("0");
	case OP_IOTA: return iota(op, idx);
	case OP_BROADCAST: return map_broadcast(g, op, idx);
	case OP_PERMUTE: return map_permute(g, op, idx);
	case OP_RESHAPE: return map_reshape(g, op, idx);
	case OP_CAT: return map_cat(g, op, idx);
	case OP_EXTRACT: return map_extract(g, op, idx);
	case OP_INSERT: return map_insert(g, op, idx);
	case OP_FLIP: case OP_SHIFT: case OP_ROTATE: return map_move(g, op, idx);
	case OP_TAKE: return map_take(g, op, idx);
	case OP_JOIN: return map_join(g, op, idx);
	case OP_SPLIT: return map_split(g, op, v, idx);
	default: return elementwise(g, op, v, idx);
	}
}

Str elem(Cg *g, const Val *v, const Str *idx)
{
	if (!type_is_tile(v->type)) return scalar(g, v);
	const CVal *c = &g->val[v->id];
	if (c->kind == CV_STORED) return str_fmt("%s[%s]", c->name, linear(v->type, idx));
	if (c->kind != CV_INLINE) bug("tile %d is used before it is computed", v->id);
	Str m = memo_find(g, v, idx);
	return m ? m : element_of(g, v->def, v, idx);
}

/* ---- nests ---- */
void nest_open_axes(Cg *g, Nest *n, const Type *t, const int *axes, int naxes)
{
	n->rank = t->rank;
	n->open = 0;
	n->memo = g->memo.n;
	for (int k = 0; k < naxes; k++) {
		int a = axes[k];
		n->idx[a] = str_intern("0");
		if (!t->log2[a]) continue;
		n->idx[a] = temp(g, "i");
		out_printf(g->o, "for (int %s = 0; %s < %lld; %s++) {\n", n->idx[a], n->idx[a], (long long)type_extent(t, a),
			n->idx[a]);
		out_in(g->o);
		n->open++;
	}
	if (!n->open) {         /* a block of its own: statements of elements stay local */
		out_puts(g->o, "{\n");
		out_in(g->o);
		n->open = 1;
	}
}

void nest_open(Cg *g, Nest *n, const Type *t)
{
	static const int axes[TILE_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	nest_open_axes(g, n, t, axes, t->rank);
}

void nest_close(Cg *g, Nest *n)
{
	for (; n->open; n->open--) {
		out_off(g->o);
		out_puts(g->o, "}\n");
	}
	g->memo.n = n->memo;
}

void store_value(Cg *g, const Val *v, Str array)
{
	Nest n;
	nest_open(g, &n, v->type);
	Str e = elem(g, v, n.idx);
	out_printf(g->o, "%s[%s] = %s;\n", array, linear(v->type, n.idx), e);
	nest_close(g, &n);
}
