/* Matrix products: mma, matmul and @, and mma_scaled, whose operands carry a scale for each
 * block of the inner dimension. */
#include "sema/build.h"
#include "sema/scope.h"

#include <math.h>
#include <string.h>

static bool greater_range(Elem a, Elem b)
{
	return exact_cmp(exact_num(a, num_greatest(a)), exact_num(b, num_greatest(b))) > 0;
}

static void report_mma_elems(Cx *cx, Ruling r, const Product *p)
{
	Sv a = p->a, b = p->b;
	Diag *d;
	if (r.why == RULE_MMA_ELEM) {
		Sv bad = r.which ? b : a;
		d = cx_diag(cx, D_MMA_ELEM, p->at, p->shown, sv_what(bad));
		label_operand(d, bad);
		diag_note(d, "operands are f16, bf16, tf32, f32, f64, f8e4m3, f8e5m2, bool, i8 or u8");
		return;
	}
	if (r.why == RULE_SAME) {
		d = cx_diag(cx, D_MMA_SAME, p->at, p->shown, elem_name(a.type->elem), elem_name(b.type->elem));
		label_operand(d, a);
		label_operand(d, b);
		bool widens = !rule_narrows(a.type->elem, b.type->elem) && !elem_varies(cx, b.type->elem);
		if (widens) diag_note(d, "the product is one of %s then; `element_cast(.., %s)` of the other operand rounds it",
			elem_name(b.type->elem), elem_name(a.type->elem));
		bool floats = elem_is_any_float(a.type->elem) && elem_is_any_float(b.type->elem);
		if (!widens && floats && greater_range(b.type->elem, a.type->elem)) widens = true;
		help_cast(cx, d, widens ? a : b, widens ? b.type->elem : a.type->elem);
		return;
	}
	d = cx_diag(cx, D_MMA_ACC, p->at, elem_name(a.type->elem), rule_mma_accs(a.type->elem),
		elem_name(p->acc->type->elem));
	label_operand(d, *p->acc);
	label_operand(d, a);
	diag_help(d, "the sum is kept in a tile of %s, and its result converted, as in `element_cast(.., %s)`",
		rule_mma_accs(a.type->elem), elem_name(p->acc->type->elem));
}

/* The source of an operand as a factor: in parentheses where an operator stands in it. */
static Str factor(Sv v)
{
	Str text = span_source(v.span);
	int depth = 0;
	for (const char *c = text; *c; c++) {
		if (strchr("([{", *c)) depth++;
		else if (strchr(")]}", *c)) depth--;
		else if (!depth && strchr("+-*/%@&|^<>=?!~", *c)) return str_fmt("(%s)", text);
	}
	return text;
}

/* The product with a vector is a sum of elementwise products, which are taken in a type of 32 bits or more. */
static void help_vectors(Cx *cx, Diag *d, const Product *p)
{
	const Type *a = p->a.type, *b = p->b.type;
	Elem e = a->elem, sum = elem_bits(e) >= 32 ? e : elem_is_any_float(e) ? EL_F32 : EL_I32;
	if (e == EL_TF32) sum = EL_F32;
	bool same = e == b->elem && (sum == e || elem_varies(cx, e));
	Str x = factor(p->a), y = factor(p->b);
	bool assigns = !strcmp(span_source(p->at), "@=");
	if (p->acc || assigns || str_len(x) + str_len(y) > 60) {
		diag_help(d, "the product with a vector is `sum` of an elementwise product");
		return;
	}
	if (!same) {
		x = str_fmt("element_cast(%s, %s)", span_source(p->a.span), elem_name(sum));
		y = str_fmt("element_cast(%s, %s)", span_source(p->b.span), elem_name(sum));
	}
	Str fix = NULL;
	if (a->rank == 1 && b->rank == 1) {
		fix = str_fmt("%s(sum(%s * %s))", same ? elem_word(cx, e) : elem_name(sum), x, y);
	} else {
		bool right = b->rank == 1;
		Str n = right ? extent_name(cx, a->log2[0]) : extent_name(cx, b->log2[1]);
		if (n) fix = right ? str_fmt("reshape(sum(%s * %s, 1), [%s])", x, y, n)
			: str_fmt("reshape(sum(expand(%s, 1) * %s, 0), [%s])", x, y, n);
	}
	if (!fix) {
		diag_help(d, "the product with a vector is `sum` of an elementwise product along an axis");
		return;
	}
	diag_help(d, "the product with a vector is a sum: write `%s`", fix);
	diag_edit(d, p->whole, fix);
}

/* Shapes that are no matrices, or not as many batches. */
static void help_ranks(Cx *cx, Diag *d, Ruling r, const Product *p)
{
	const Type *a = p->a.type, *b = p->b.type;
	int na = a->rank, nb = b->rank;
	if (na >= 1 && nb >= 1 && na + nb < 4) {
		if (a->log2[na - 1] == b->log2[0]) help_vectors(cx, d, p);
		else diag_help(d, "is the product of each element with all of the other tile meant? that is `x[:, _] * y`");
	} else if (na + nb == 5 && na > 1 && nb > 1) {
		Sv one = na == 2 ? p->a : p->b;
		Str text = span_source(one.span), fix = str_fmt("expand(%s, 0)", text);
		diag_help(d, "one matrix for every batch: write `%s`", str_len(text) > 40 ? "expand(.., 0)" : fix);
		diag_edit(d, one.span, fix);
	} else if (na > 3 || nb > 3) {
		diag_help(d, "`reshape` makes one batch axis of several");
	} else if (r.why == RULE_BATCH) {
		diag_help(d, "there are as many batches on both sides, or one that serves all");
	} else if (p->acc && (r.why == RULE_ROWS || r.why == RULE_COLS)) {
		Str m = extent_name(cx, a->log2[na - 2]), n = extent_name(cx, b->log2[nb - 1]);
		if (m && n) diag_help(d, "the accumulator has the rows of the first operand and the columns of the second: "
			"%s x %s", m, n);
	} else {
		diag_help(d, "`reshape` and `expand` give a tile the axes that it lacks");
	}
}

/* `x.transpose()` of rank 3, which exchanges the first two axes, where the last two would fit the other operand. */
static bool help_last_axes(Diag *d, Sv x, Sv other, bool right)
{
	static const int64_t first_two[] = { 1, 0, 2 };
	const Op *op = x.u.val->def;
	const IrAttr *axes = op && op->code == OP_PERMUTE && x.type->rank == 3 ? ir_attr(op, AT_AXES) : NULL;
	if (!axes || memcmp(axes->u.ints.p, first_two, sizeof first_two)) return false;
	const Type *from = ir_in(op, 0)->type, *to = other.type;
	int batch = to->rank == 3 ? to->log2[0] : 0, inner = right ? to->log2[to->rank - 1] : to->log2[to->rank - 2];
	if ((batch && from->log2[0] && batch != from->log2[0]) || inner != from->log2[right ? 2 : 1]) return false;
	Str text = span_source(x.span);
	size_t n = str_len(text);
	if (n < 2 || text[n - 1] != ')' || !strstr(text, "transpose(")) return false;
	Str more = str_intern(text[n - 2] == '(' ? "1, 2" : ", 1, 2");
	Str fix = n > 40 ? str_intern("transpose(.., 1, 2)") : str_fmt("%.*s%s)", (int)n - 1, text, more);
	diag_help(d, "`transpose` without axes exchanges the first two, and the last two are meant: write `%s`", fix);
	diag_edit(d, (Span){ x.span.hi - 1, x.span.hi - 1 }, more);
	return true;
}

static void report_mma_shapes(Cx *cx, Ruling r, const Product *p)
{
	Sv a = p->a, b = p->b;
	Diag *d;
	int n = a.type->rank;
	if (r.why == RULE_INNER) {
		d = cx_diag(cx, D_MMA_INNER, p->at, p->shown, str_i64(type_extent(a.type, n - 1)),
			str_i64(type_extent(b.type, n - 2)));
		label_operands(cx, d, a, b);
		if (help_last_axes(d, b, a, true) || help_last_axes(d, a, b, false)) return;
		if (n == 2 && a.type->log2[1] == b.type->log2[1] && str_len(span_source(b.span)) <= 40) {
			diag_help(d, "is `%s` stored transposed? then `transpose(%s)` is the operand", span_source(b.span),
				span_source(b.span));
		} else {
			diag_help(d, "the left operand's last extent is the right one's last but one: both are %s, say",
				str_i64(type_extent(a.type, n - 1)));
		}
		return;
	}
	d = cx_diag(cx, D_MMA_SHAPE, p->at, p->shown, sv_what(a), sv_what(b),
		p->acc ? str_fmt(" and %s", sv_what(*p->acc)) : str_intern(""));
	label_operand(d, a);
	label_operand(d, b);
	if (p->acc) label_operand(d, *p->acc);
	diag_note(d, "the shapes are [m, k], [k, n] and [m, n], or all three with a batch in front");
	bool matrices = a.type->rank > 1 && b.type->rank > 1;
	if (matrices && (help_last_axes(d, b, a, true) || help_last_axes(d, a, b, false))) return;
	help_ranks(cx, d, r, p);
}

/* mma(acc, a, b), as instructions have it: in the other order it is right. */
static bool report_turned(Cx *cx, const Product *p)
{
	if (!p->acc || rule_mma(p->b.type, p->acc->type, p->a.type).why != RULE_OK) return false;
	Diag *d = cx_diag(cx, D_MMA_SHAPE, p->at, p->shown, sv_what(p->a), sv_what(p->b),
		str_fmt(" and %s", sv_what(*p->acc)));
	label_operand(d, p->a);
	label_operand(d, p->b);
	label_operand(d, *p->acc);
	diag_help(d, "the accumulator stands last: write `mma(%s, %s, %s)`", span_source(p->b.span),
		span_source(p->acc->span), span_source(p->a.span));
	diag_edit(d, p->a.span, span_source(p->b.span));
	diag_edit(d, p->b.span, span_source(p->acc->span));
	diag_edit(d, p->acc->span, span_source(p->a.span));
	return true;
}

static Sv report_mma(Cx *cx, Ruling r, const Product *p)
{
	if (report_turned(cx, p)) return sv_poison(p->at);
	switch (r.why) {
	case RULE_MMA_ELEM: case RULE_SAME: case RULE_MMA_ACC: report_mma_elems(cx, r, p); break;
	case RULE_ELEMENTS: case RULE_BYTES: case RULE_TILE_RANK: report_ruling(cx, r, p->a, p->b, p->at, p->shown); break;
	default: report_mma_shapes(cx, r, p); break;
	}
	return sv_poison(p->at);
}

static bool mma_tile(Cx *cx, Sv v, const Product *p)
{
	if (sv_bad(v)) return false;
	if (sv_is_tile(v)) return true;
	Diag *d = cx_diag(cx, D_NEED_TILE, v.span.hi ? v.span : p->at, p->shown, sv_what(v));
	if (p->acc && v.span.lo == p->acc->span.lo && sv_is_scalar(v) && sv_is_tile(p->a)) {
		Elem e = p->a.type->elem;
		diag_help(d, "an accumulator has the product's shape, as in `var acc: tile<%s, [m, n]> = 0;`",
			elem_is_int(e) ? "i32" : e == EL_F64 ? "f64" : "f32");
	}
	return false;
}

void warn_emulated(Cx *cx, int since_arch, Str what, Elem e, const char *how, Span at)
{
	int least = cx->opt->least_arch;
	if (!least || least >= since_arch) return;
	Diag *d = cx_diag(cx, D_EMULATED, at, what, elem_name(e), str_fmt("sm_%d", least), how);
	diag_help(d, "`--arch=sm_%d` compiles for GPUs that have it", since_arch);
}

/* `@` and matmul choose the accumulator: of f16 and 8-bit floats it has eleven bits. */
static void warn_half_sum(Cx *cx, const Product *p, Ruling r)
{
	int64_t k = type_extent(p->a.type, p->a.type->rank - 1);
	Str a = span_source(p->a.span), b = span_source(p->b.span);
	if (p->acc || r.elem != EL_F16 || k == 1) return;
	if (str_len(a) + str_len(b) > 60) a = str_intern("a"), b = str_intern("b");
	Diag *d = cx_diag(cx, D_HALF_SUM, p->at, p->shown, str_i64(k));
	if (cx->added.name && cx->added.product.lo == p->whole.lo && cx->added.product.hi == p->whole.hi) {
		Str mma = str_fmt("%s = mma(%s, %s, %s)", cx->added.name, span_source(p->a.span), span_source(p->b.span),
			cx->added.name);
		diag_help(d, "`mma` adds to the f32 accumulator: write `%s = mma(%s, %s, %s)`", cx->added.name, a, b,
			cx->added.name);
		diag_edit(d, cx->added.whole, mma);
		return;
	}
	Str shape = extent_names(cx, r.type->rank, r.type->log2);
	Str zeros = str_fmt("zeros(%s, f32)", shape ? shape : "shape");
	diag_help(d, "`mma(%s, %s, %s)` sums them in f32; an f16 accumulator given to `mma` says that f16 is meant", a, b,
		zeros);
}

Sv mma_of(Cx *cx, Product p)
{
	if (p.a.kind == SV_LIT && sv_is_tile(p.b)) p.a = lit_give(cx, p.a, p.b.type->elem, p.b);
	p.a = lit_default(cx, p.a);
	if (p.b.kind == SV_LIT && sv_is_tile(p.a)) p.b = lit_give(cx, p.b, p.a.type->elem, p.a);
	if (!mma_tile(cx, p.a, &p) || !mma_tile(cx, p.b, &p) || (p.acc && !mma_tile(cx, *p.acc, &p)))
		return sv_poison(p.at);
	Elem e = p.a.type->elem;
	Ruling r = rule_mma(p.a.type, p.b.type, p.acc ? p.acc->type : NULL);
	if (r.why != RULE_OK) return report_mma(cx, r, &p);
	if (p.precision && e != EL_F32) {
		Diag *d = cx_diag(cx, D_MODE_TYPE, p.precision_at, "precision", attr_word_text(AT_PRECISION, p.precision),
			"mma", elem_name(e));
		diag_help(d, "leave `precision:` out: it is a choice for f32 only");
		return sv_poison(p.at);
	}
	if ((e == EL_F8E4M3 || e == EL_F8E5M2) && cx->opt->least_arch)
		cx_diag(cx, D_MMA_WIDENED, p.at, p.shown, elem_name(e));
	warn_half_sum(cx, &p, r);
	at_span(cx, p.at);
	Val *c = p.acc ? p.acc->u.val : const_val(cx, r.type, num_zero(r.elem));
	Val *res = ir_op1(&cx->b, OP_MMA, r.type, 3, (Val *[]){ p.a.u.val, p.b.u.val, c });
	if (p.precision) ir_set_int(res->def, AT_PRECISION, p.precision);
	return sv_val(res, p.at);
}

static Sv mma_call(Cx *cx, Call *c)
{
	bool with_acc = c->op == OP_MMA;
	Sv a = arg_operand(cx, c, 0), b = arg_operand(cx, c, 1), acc = with_acc ? arg_value(cx, c, 2, NULL) : a;
	int precision, at = arg_index(c, "precision");
	if (!arg_word(cx, c, AT_PRECISION, &precision)) return sv_poison(c->span);
	if (sv_bad(a) || sv_bad(b) || sv_bad(acc)) return sv_poison(c->span);
	return mma_of(cx, (Product){ a, b, with_acc ? &acc : NULL, precision, c->arg[at].span, c->span, c->span,
		call_what(c) });
}

/* ---- block scales ---- */

static Sv report_scaled(Cx *cx, Call *c, Str why, Sv x, Sv y)
{
	Diag *d = cx_diag(cx, D_MMA_SCALED, c->span, why);
	label_operand(d, x);
	label_operand(d, y);
	diag_note(d, "f8e4m3 or f8e5m2 [m, k] with a scale [m, k / 32], times [k, n] with [k / 32, n]; "
		"scales are u8 (the byte s "
		"stands for 2^(s - 127)), or f8e4m3 for blocks of 16");
	return sv_poison(c->span);
}

/* NULL: x with its scale s is an operand, whose inner axis is `axis`; else what is wrong. */
static Str scaled_fault(Sv x, Sv s, int axis)
{
	if (x.type->elem != EL_F8E4M3 && x.type->elem != EL_F8E5M2) return str_fmt("%s cannot be scaled", sv_what(x));
	if (s.type->elem != EL_U8 && s.type->elem != EL_F8E4M3) return str_fmt("%s is no scale", sv_what(s));
	if (x.type->rank < 2 || x.type->rank > 3 || s.type->rank != x.type->rank)
		return str_fmt("%s does not scale %s", sv_what(s), sv_what(x));
	for (int i = 0; i < x.type->rank; i++)
		if (i != axis && s.type->log2[i] != x.type->log2[i])
			return str_fmt("%s does not scale %s", sv_what(s), sv_what(x));
	int block = x.type->log2[axis] - s.type->log2[axis];
	if (block == 4 || (block == 5 && s.type->elem == EL_U8)) return NULL;
	if (block == 5) return str_intern("f8e4m3 scales are for blocks of 16, not of 32");
	return str_fmt("%s does not scale %s in blocks of 16 or 32", sv_what(s), sv_what(x));
}

/* The byte s as 2^(s - 127), which are the bits s << 7 but for the ends: 0 is subnormal, 255 is NaN. */
static Val *e8m0_value(Cx *cx, Val *s)
{
	const Type *u16 = type_with_elem(s->type, EL_U16), *bf = type_with_elem(s->type, EL_BF16);
	Val *by = const_val(cx, u16, num_int(7));
	Val *bits = val_op2(cx, OP_SHL, val_cast(cx, s, EL_U16, (FoldModes){ 0 }), by);
	Val *v = ir_unary(&cx->b, OP_BITCAST, bf, bits);
	Val *least = const_val(cx, bf, num_float(ldexp(1, -127)));
	v = val_select(cx, val_cmp(cx, OP_EQ, s, const_val(cx, s->type, num_int(0))), least, v);
	Val *nan = const_val(cx, bf, num_float(NAN));
	return val_select(cx, val_cmp(cx, OP_EQ, s, const_val(cx, s->type, num_int(255))), nan, v);
}

/* An operand times its scales, in bf16: eight bits hold the product of any two of these types exactly. */
static Val *scaled(Cx *cx, Val *x, Val *s, int axis)
{
	uint8_t log2[TILE_RANK] = { 0 };
	int rank = x->type->rank;
	Val *v = s->type->elem == EL_U8 ? e8m0_value(cx, s) : val_cast(cx, s, EL_BF16, (FoldModes){ 0 });
	memcpy(log2, s->type->log2, (size_t)axis + 1);
	memcpy(log2 + axis + 2, s->type->log2 + axis + 1, (size_t)(rank - axis - 1));
	v = ir_unary(&cx->b, OP_RESHAPE, type_tile(EL_BF16, rank + 1, log2), v);
	log2[axis + 1] = (uint8_t)(x->type->log2[axis] - s->type->log2[axis]);
	v = val_broadcast(cx, v, type_tile(EL_BF16, rank + 1, log2));
	v = ir_unary(&cx->b, OP_RESHAPE, type_with_elem(x->type, EL_BF16), v);
	return val_op2(cx, OP_MUL, val_cast(cx, x, EL_BF16, (FoldModes){ 0 }), v);
}

static Sv scaled_call(Cx *cx, Call *c)
{
	Sv p[5];
	for (int i = 0; i < 5; i++) {
		p[i] = arg_tile(cx, c, i);
		if (sv_bad(p[i])) return p[i];
	}
	int rank = p[0].type->rank;
	Str why = scaled_fault(p[0], p[1], rank - 1);
	if (why) return report_scaled(cx, c, why, p[0], p[1]);
	why = scaled_fault(p[2], p[3], p[2].type->rank - 2);
	if (why) return report_scaled(cx, c, why, p[2], p[3]);
	if (p[1].type->elem != p[3].type->elem)
		return report_scaled(cx, c, str_fmt("both scales have one type, found %s and %s", elem_name(p[1].type->elem),
			elem_name(p[3].type->elem)), p[1], p[3]);
	const Type *a = type_with_elem(p[0].type, EL_BF16), *b = type_with_elem(p[2].type, EL_BF16);
	Ruling r = rule_mma(a, b, p[4].type);
	if (r.why == RULE_MMA_ACC)
		return report_scaled(cx, c, str_fmt("it sums up in f32, not in %s", elem_name(p[4].type->elem)), p[0], p[4]);
	if (r.why != RULE_OK)
		return report_mma(cx, r, &(Product){ .a = p[0], .b = p[2], .acc = &p[4], .at = c->span,
			.whole = c->span, .shown = call_what(c) });
	at_span(cx, c->span);
	Val *x = scaled(cx, p[0].u.val, p[1].u.val, rank - 1), *y = scaled(cx, p[2].u.val, p[3].u.val, rank - 2);
	Val *in[3] = { x, y, p[4].u.val };
	return sv_val(ir_op1(&cx->b, OP_MMA, r.type, 3, in), c->span);
}

Sv build_product(Cx *cx, Call *c)
{
	return c->op == OP_MMA_SCALED ? scaled_call(cx, c) : mma_call(cx, c);
}
