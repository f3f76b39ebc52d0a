/* Random modules, which hold every operation of the table: text -> IR -> text is the identity. */
#include <math.h>

#include "ir/rules.h"
#include "tests/unit/ir_tools.h"

typedef struct Gen {
	Fn *fn;
	Builder b;
	VEC(Val *) pool;        /* what is visible here */
	int depth;
	bool placed;            /* the kernels will get layouts */
	bool made[OP_COUNT];
	const Op *loop, *scope;
} Gen;

static void know(Gen *g, Val *v)
{
	vec_push(A_UNIT, &g->pool, v);
}

static Num random_num(Elem e)
{
	if (elem_is_any_float(e)) return (Num){ .f = rnd(8) ? (rnd(15) - 7) / 4.0 : rnd(2) && e != EL_F8E4M3 ? -INFINITY : NAN };
	if (elem_is_ptr(e)) return (Num){ 0 };
	return (Num){ .i = e == EL_BOOL ? rnd(2) : elem_is_signed(e) ? rnd(200) - 100 : rnd(200) };
}

static Val *need(Gen *g, const Type *t)
{
	int at = g->pool.n ? rnd(g->pool.n) : 0;
	for (int i = 0; i < g->pool.n; i++) {
		Val *v = g->pool.p[(at + i) % g->pool.n];
		if (v->type == t && rnd(4)) return v;
	}
	for (int i = 0; i < g->pool.n && t->kind == TY_VIEW; i++)
		if (g->pool.p[i]->type == t) return g->pool.p[i];
	if (t->kind == TY_VIEW) {       /* a view of any element type: from a null pointer */
		Val *in[12] = { need(g, type_scalar(elem_ptr_to(t->elem))) };
		for (int i = 0; i < 1 + 2 * t->rank; i++) in[1 + i] = need(g, type_scalar(EL_I64));
		g->made[OP_VIEW] = true;
		Val *v = ir_op1(&g->b, OP_VIEW, t, 2 + 2 * t->rank, in);
		know(g, v);
		return v;
	}
	g->made[OP_CONST] = true;
	Val *v = ir_const_num(&g->b, t, random_num(t->elem));
	if (rnd(3) == 0) v->name = str_fmt("c%d", rnd(5));
	if (rnd(50) == 0) v->name = str_intern("odd name.5");
	know(g, v);
	return v;
}

static Elem pick(bool (*is)(Elem))
{
	Elem e;
	do e = (Elem)rnd(EL_COUNT);
	while (!is(e));
	return e;
}

static const Type *some_tile(Elem e, int min_rank, int max_rank)
{
	uint8_t log2[TILE_RANK];
	int rank = min_rank + rnd(max_rank - min_rank + 1);
	for (int i = 0; i < rank; i++) log2[i] = (uint8_t)rnd(4);
	return type_tile(e, rank, log2);
}

static const Type *some_type(Elem e)
{
	return rnd(3) ? some_tile(e, 0, 3) : type_scalar(e);
}

static const Type *with_axis(const Type *t, Elem e, int axis, int log2)
{
	uint8_t s[TILE_RANK];
	memcpy(s, t->log2, sizeof s);
	s[axis] = (uint8_t)log2;
	return type_tile(e, t->rank, s);
}

static void random_modes(Op *op, Elem e)
{
	unsigned f = op_rows[op->code].flags;
	if (f & OPF_ROUND && elem_is_any_float(e)) ir_set_int(op, AT_ROUNDING, rnd(4));
	if ((op->code == OP_EXP || op->code == OP_TANH) && rnd(2)) ir_set_int(op, AT_ROUNDING, 4);
	if (f & OPF_SUBN && e == EL_F32) ir_set_int(op, AT_SUBNORMALS, rnd(2));
	if (f & OPF_NANMODE && elem_is_float(e)) ir_set_int(op, AT_NAN, rnd(2));
	if (f & OPF_SCAN) {
		ir_set_int(op, AT_DIRECTION, rnd(2));
		ir_set_int(op, AT_EXCLUSIVE, rnd(2));
	}
	if (rnd(6) == 0) ir_set_str(op, AT_SOURCE, str_intern(rnd(2) ? "x + \"y\"" : "a\tb"));
}

static Op *make(Gen *g, OpCode code, int nin, Val *const *in, const Type *out)
{
	Op *op = ir_op(&g->b, code, nin, in, out != NULL, &out);
	if (out) know(g, op->out[0]);
	return op;
}

static Elem rule_elem(TypeRule rule)
{
	switch (rule) {
	case TR_CONV_INT: case TR_SAME_INT: case TR_SHIFT: case TR_REDUCE_INT: return pick(elem_is_integral);
	case TR_CONV_ANY_FLT: return pick(elem_is_any_float);
	case TR_CONV_FLT: case TR_CONV_TO_FLT: case TR_SAME_FLT: case TR_FMA: return pick(elem_is_float);
	case TR_TO_BOOL: return pick(elem_is_any_float);
	case TR_CAST: case TR_BITCAST: return pick(elem_is_numeric);
	default: return pick(elem_is_arith);
	}
}

static void gen_elementwise(Gen *g, OpCode code)
{
	TypeRule rule = op_rows[code].type;
	Elem e = rule_elem(rule);
	const Type *t = some_type(e), *r = t, *b = type_with_elem(t, EL_BOOL);
	Val *in[3] = { 0 };
	int n = 1;
	if (rule == TR_PTR) t = r = type_with_elem(t, elem_ptr_to(EL_F32));
	if (code == OP_PTR_DIFF || rule == TR_CMP || rule == TR_TO_BOOL) r = code == OP_PTR_DIFF ? type_with_elem(t, EL_I64) : b;
	if (rule == TR_CAST) r = type_with_elem(t, pick(elem_is_numeric));
	if (rule == TR_BITCAST)
		do r = type_with_elem(t, pick(elem_is_numeric));
		while (elem_bytes(r->elem) != elem_bytes(t->elem));
	if (rule == TR_CONV || rule == TR_CONV_INT || rule == TR_CONV_FLT || rule == TR_CONV_ANY_FLT || rule == TR_CONV_TO_FLT || rule == TR_CMP || rule == TR_SHIFT || rule == TR_PTR) n = 2;
	if (rule == TR_FMA || rule == TR_SELECT) n = 3;
	for (int i = 0; i < n; i++) {
		bool offset = code == OP_PTR_ADD && i == 1, cond = rule == TR_SELECT && i == 0;
		in[i] = need(g, offset ? type_with_elem(t, EL_I64) : cond ? b : t);
	}
	Op *op = make(g, code, n, in, r);
	random_modes(op, rule == TR_CAST && !elem_is_any_float(e) ? r->elem : e);
	if (code == OP_CAST) ir_set_int(op, AT_OVERFLOW, rnd(5));
	if (code == OP_HINT) ir_set_str(op, AT_TEXT, str_intern("divisible 16"));
}

static const Sym *random_sym(int depth)
{
	static const char *const dims[] = { "m", "n", "o" };
	if (depth == 0 || rnd(4) == 0) {
		if (rnd(3) == 0) return sym_const(rnd(20) - 6);
		if (rnd(4) == 0) return sym_atom(ATOM_STRIDE, str_intern("st"), 0);
		if (rnd(4) == 0) return sym_atom(ATOM_PARAM, str_intern("count"), 0);
		return sym_atom(ATOM_DIM, str_intern(dims[rnd(3)]), 0);
	}
	const Sym *a = random_sym(depth - 1), *b = random_sym(depth - 1);
	switch (rnd(14)) {
	case 0: return sym_sub(a, b);
	case 1: return sym_mul(a, b);
	case 2: return sym_div(a, b);
	case 3: return sym_cdiv(a, b);
	case 4: return sym_mod(a, b);
	case 5: return sym_min(a, b);
	case 6: return sym_max(a, b);
	case 7: return sym_select(sym_cmp(SYM_LT, a, b), a, random_sym(depth - 1));
	case 8: return sym_cmp(SYM_EQ, a, b);
	case 9: return sym_logic(SYM_AND, sym_cmp(SYM_LE, a, b), sym_aligned(str_intern("x"), 16));
	case 10: return sym_logic(SYM_OR, sym_cmp(SYM_NE, a, b), sym_cmp(SYM_LT, b, a));
	case 11: return sym_logic(SYM_NOT, sym_cmp(SYM_LT, a, b), NULL);
	default: return sym_add(a, b);
	}
}

static void gen_given(Gen *g, OpCode code)
{
	const Type *t;
	Val *in[8];
	Op *op;
	switch (code) {
	case OP_CONST:
		need(g, some_type((Elem)rnd(EL_VOID)));
		break;
	case OP_LITERAL:
		t = some_tile(pick(elem_is_numeric), 1, 1);
		for (int i = 0; i < type_size(t); i++) in[i] = need(g, type_scalar(t->elem));
		if (rnd(2)) {
			Num v[8];
			for (int i = 0; i < type_size(t); i++) v[i] = random_num(t->elem);
			ir_set_nums(make(g, code, 0, NULL, t), AT_VALUES, (int)type_size(t), v);
		} else {
			make(g, code, (int)type_size(t), in, t);
		}
		break;
	case OP_IOTA:
		make(g, code, 0, NULL, some_tile(rnd(2) ? EL_U16 : EL_I64, 0, 3));
		break;
	case OP_RAND: case OP_RANDN: case OP_RANDINT:
		t = some_type(EL_U64);
		in[0] = need(g, type_scalar(EL_U64));
		in[1] = need(g, t);
		make(g, code, 2, in, type_with_elem(t, code == OP_RANDINT ? EL_U32 : EL_F32));
		break;
	case OP_LAUNCH:
		ir_set_sym(make(g, code, 0, NULL, type_scalar(EL_I64)), AT_SYM, random_sym(3));
		break;
	case OP_BID:
		ir_set_int(make(g, code, 0, NULL, type_scalar(rnd(2) ? EL_I32 : EL_I64)), AT_AXIS, rnd(2));
		break;
	case OP_HISTOGRAM:
		in[0] = need(g, some_tile(EL_U8, 0, 2));
		op = make(g, code, 1, in, type_tile(EL_I32, 1, (const uint8_t[]){ 5 }));
		ir_set_int(op, AT_NUMBER, 32);
		break;
	case OP_VIEW:
		need(g, type_view(pick(elem_is_numeric), rnd(4)));
		break;
	default:
		FAIL("no generator for %s", op_rows[code].name);
	}
}

static void gen_shape(Gen *g, OpCode code)
{
	const Type *t = some_tile(pick(elem_is_arith), 1, 3), *r = t;
	int axis = rnd(t->rank), nin = 1;
	Val *in[8] = { need(g, t) };
	int64_t axes[TILE_RANK];
	Op *op;
	switch (code) {
	case OP_RESHAPE: r = type_tile(t->elem, 1, (const uint8_t[]){ (uint8_t)type_log2_size(t) }); break;
	case OP_BROADCAST: r = t; in[0] = need(g, rnd(2) ? type_scalar(t->elem) : with_axis(t, t->elem, axis, 0)); break;
	case OP_TO_SCALAR: in[0] = need(g, type_tile(t->elem, 2, (const uint8_t[]){ 0, 0 })); r = type_scalar(t->elem); break;
	case OP_CAT: in[1] = need(g, t); nin = 2; r = with_axis(t, t->elem, axis, t->log2[axis] + 1); break;
	case OP_PERMUTE: {
		uint8_t s[TILE_RANK];
		for (int i = 0; i < t->rank; i++) axes[i] = (i + axis) % t->rank, s[i] = t->log2[axes[i]];
		r = type_tile(t->elem, t->rank, s);
		break;
	}
	case OP_EXTRACT: r = with_axis(t, t->elem, axis, 0); break;
	case OP_INSERT: in[1] = need(g, with_axis(t, t->elem, axis, 0)); nin = 2; break;
	case OP_SHIFT: in[1] = need(g, type_scalar(t->elem)); nin = 2; break;
	case OP_TAKE:
		in[1] = need(g, with_axis(t, EL_I32, axis, rnd(4)));
		in[2] = need(g, type_scalar(t->elem));
		nin = 3;
		r = type_with_elem(in[1]->type, t->elem);
		break;
	case OP_JOIN: {
		uint8_t s[TILE_RANK];
		memcpy(s, t->log2, sizeof s);
		s[t->rank] = 1;
		in[1] = need(g, t);
		nin = 2;
		r = type_tile(t->elem, t->rank + 1, s);
		break;
	}
	default: break;
	}
	if (code == OP_EXTRACT || code == OP_INSERT)
		for (int i = 0; i < t->rank; i++) in[nin++] = need(g, type_scalar(rnd(2) ? EL_I32 : EL_U8));
	op = make(g, code, nin, in, r);
	if (code == OP_PERMUTE) ir_set_ints(op, AT_AXES, t->rank, axes);
	if (code == OP_SHIFT || code == OP_ROTATE) ir_set_int(op, AT_SHIFT, rnd(9) - 4);
	if (code == OP_SORT) ir_set_int(op, AT_DESCENDING, rnd(2));
	if (code == OP_SORT && g->placed) axis = t->rank - 1;   /* warps lie on top of the axis: the usual layout has them so on its last one */
	if (strstr("cat flip shift rotate take sort", op_rows[code].name)) ir_set_int(op, AT_AXIS, axis);
}

static void gen_reduce(Gen *g, OpCode code)
{
	TypeRule rule = op_rows[code].type;
	const Type *t = some_tile(rule_elem(rule), 1, 3);
	int axis = rnd(t->rank);
	Val *x = need(g, t);
	Op *op = make(g, code, 1, &x, rule == TR_SCAN ? t : with_axis(t, rule == TR_REDUCE_INDEX ? EL_U32 : t->elem, axis, 0));
	ir_set_int(op, AT_AXIS, axis);
	random_modes(op, t->elem);
}

static void gen_mma(Gen *g)
{
	static const Elem elems[][3] = {
		{ EL_F16, EL_F16, EL_F16 }, { EL_F16, EL_F16, EL_F32 }, { EL_BF16, EL_BF16, EL_F32 }, { EL_TF32, EL_TF32, EL_F32 },
		{ EL_F64, EL_F64, EL_F64 }, { EL_I8, EL_U8, EL_I32 }, { EL_F8E4M3, EL_F8E4M3, EL_F16 }, { EL_F32, EL_F32, EL_F32 }
	};
	const Elem *e = elems[rnd(8)];
	int batch = rnd(2);
	uint8_t a[3] = { (uint8_t)rnd(2), (uint8_t)rnd(5), (uint8_t)rnd(5) }, b[3] = { a[0], a[2], (uint8_t)rnd(5) }, c[3] = { a[0], a[1], b[2] };
	Val *in[3];
	in[0] = need(g, type_tile(e[0], 2 + batch, a + 1 - batch));
	in[1] = need(g, type_tile(e[1], 2 + batch, b + 1 - batch));
	in[2] = need(g, type_tile(e[2], 2 + batch, c + 1 - batch));
	Op *op = make(g, OP_MMA, 3, in, in[2]->type);
	if (e[0] == EL_F32) ir_set_int(op, AT_PRECISION, rnd(3));
}

static void gen_memory(Gen *g, OpCode code)
{
	bool by_ptr = strstr(op_rows[code].name, "_ptr") != NULL, tiles = code == OP_LOAD || code == OP_STORE;
	bool atomic = !strncmp(op_rows[code].name, "atomic", 6), cas = code == OP_ATOMIC_CAS || code == OP_ATOMIC_CAS_PTR;
	bool load = strstr(op_rows[code].name, "load") || code == OP_GATHER, rmw = code == OP_ATOMIC_RMW || code == OP_ATOMIC_RMW_PTR;
	Elem e = atomic ? EL_I32 : pick(elem_is_numeric);
	const Type *t = tiles ? some_tile(e, 1, 3) : some_type(e);
	int rank = tiles ? t->rank : 1 + rnd(3), n = 1;
	int64_t steps[3], offsets[3];
	Val *in[12] = { need(g, by_ptr ? type_with_elem(t, elem_ptr_to(e)) : type_view(e, rank)) };
	for (int i = 0; i < rank && !by_ptr; i++) {
		Elem index = rnd(3) ? EL_I32 : EL_U16;
		in[n++] = need(g, tiles || rnd(2) ? type_scalar(index) : type_with_elem(t, index));
		steps[i] = rnd(2) && tiles ? type_extent(t, i) : 1;
		offsets[i] = rnd(5) - 2;
	}
	if (cas) in[n++] = need(g, t);
	in[n++] = need(g, load ? type_scalar(e) : t);
	if (!tiles && rnd(2)) in[n++] = need(g, type_with_elem(t, EL_BOOL));
	Op *op = make(g, code, n, in, load || ((rmw || cas) && rnd(2)) ? t : NULL);
	if (tiles) ir_set_ints(op, AT_STEPS, rank, steps);
	if (tiles && rnd(2)) ir_set_ints(op, AT_OFFSETS, rank, offsets);
	if (rmw) ir_set_int(op, AT_RMW, rnd(8));
	if (atomic) ir_set_int(op, AT_SCOPE, rnd(3));
	if (atomic) ir_set_int(op, AT_ORDER, rnd(2) ? 0 : load ? 1 : 2);
	if (tiles && rnd(3) == 0) ir_set_int(op, AT_LATENCY, 3);
}

static void gen_block(Gen *g, IrBlock *b, int ops);
static void gen_op(Gen *g, OpCode code);

/* A terminator with values of these types. */
static void gen_end(Gen *g, OpCode code, int n, Val *const *like, Val *first)
{
	Val *in[8];
	int k = 0;
	if (first) in[k++] = first;
	for (int i = 0; i < n; i++) in[k++] = need(g, like[i]->type);
	ir_op(&g->b, code, k, in, 0, NULL);
	g->made[code] = true;
}

static void gen_any_end(Gen *g, OpCode usual, int n, Val *const *like)
{
	int kind = rnd(8);
	const Op *l = g->loop;
	if (kind == 0 && l) gen_end(g, OP_BREAK, l->nout, l->out, NULL);
	else if (kind == 1 && l && l->code == OP_FOR) gen_end(g, OP_CONTINUE, l->nout, l->out, NULL);
	else if (kind == 1 && l) gen_end(g, OP_CONTINUE, l->region[0]->args.n, l->region[0]->args.p, NULL);
	else if (kind == 2 && g->scope) gen_end(g, OP_LEAVE, g->scope->nout, g->scope->out, NULL);
	else if (kind == 3) gen_end(g, OP_RETURN, 0, NULL, NULL);
	else gen_end(g, usual, n, like, NULL);
}

typedef struct Inside { Gen saved; } Inside;

static Inside enter(Gen *g, IrBlock *b, int ops)
{
	Inside in = { *g };
	g->depth++;
	g->b.block = b;
	gen_block(g, b, ops);
	return in;
}

static void leave(Gen *g, Inside in)    /* the pool keeps its storage; what came inside is forgotten */
{
	g->depth = in.saved.depth;
	g->b = in.saved.b;
	g->pool.n = in.saved.pool.n;
	g->loop = in.saved.loop;
	g->scope = in.saved.scope;
}

static void gen_for(Gen *g)
{
	const Type *c = type_scalar(rnd(2) ? EL_I32 : EL_I64), *out[3];
	Val *in[6] = { need(g, c), need(g, c), need(g, c) };
	int n = rnd(3);
	for (int i = 0; i < n; i++) out[i] = (in[3 + i] = need(g, some_type(pick(elem_is_numeric))))->type;
	Op *op = ir_op(&g->b, OP_FOR, 3 + n, in, n, out);
	if (rnd(3) == 0) ir_set_int(op, AT_UNROLL, 2);
	IrBlock *b = ir_region(op);
	ir_arg(b, c, str_intern("i"));
	for (int i = 0; i < n; i++) ir_arg(b, out[i], NULL);
	Gen outer = *g;
	g->loop = op;
	Inside in1 = enter(g, b, 4);
	gen_any_end(g, OP_YIELD, op->nout, op->out);
	in1.saved.loop = outer.loop;
	leave(g, in1);
	for (int i = 0; i < n; i++) know(g, op->out[i]);
}

static void gen_while(Gen *g)
{
	Val *init[2] = { need(g, type_scalar(EL_I32)), need(g, some_type(EL_F32)) };
	const Type *out[1] = { some_type(EL_BF16) };
	Op *op = ir_op(&g->b, OP_WHILE, 2, init, 1, out);
	IrBlock *test = ir_region(op), *body = ir_region(op);
	for (int i = 0; i < 2; i++) ir_arg(test, init[i]->type, NULL);
	ir_arg(body, out[0], str_intern("v"));
	const Op *outer = g->loop;
	g->loop = op;
	Inside a = enter(g, test, 2);
	gen_end(g, OP_CONDITION, 1, op->out, need(g, type_scalar(EL_BOOL)));
	leave(g, a);
	Inside b = enter(g, body, 3);
	gen_any_end(g, OP_YIELD, 2, test->args.p);
	leave(g, b);
	g->loop = outer;
	know(g, op->out[0]);
}

static void gen_if(Gen *g)
{
	Val *c = need(g, type_scalar(EL_BOOL));
	const Type *out[1] = { some_type(pick(elem_is_arith)) };
	int n = rnd(2);
	Op *op = ir_op(&g->b, OP_IF, 1, &c, n, out);
	IrBlock *arm[2] = { ir_region(op), ir_region(op) };
	for (int i = 0; i < 2; i++) {
		Inside in = enter(g, arm[i], 2);
		gen_any_end(g, OP_YIELD, n, op->out);
		leave(g, in);
	}
	for (int i = 0; i < n; i++) know(g, op->out[i]);
}

static void gen_scope(Gen *g)
{
	const Type *out[1] = { some_type(EL_U8) };
	Op *op = ir_op(&g->b, OP_SCOPE_, 0, NULL, 1, out);
	const Op *outer = g->scope;
	g->scope = op;
	Inside in = enter(g, ir_region(op), 3);
	gen_any_end(g, OP_LEAVE, 1, op->out);
	leave(g, in);
	g->scope = outer;
	know(g, op->out[0]);
}

static void gen_custom(Gen *g, OpCode code)
{
	const Type *t = some_tile(EL_F32, 1, 3), *u = type_with_elem(t, EL_I32);
	int axis = rnd(t->rank);
	bool scan = code == OP_SCAN;
	const Type *out[2] = { scan ? t : with_axis(t, EL_F32, axis, 0), scan ? u : with_axis(t, EL_I32, axis, 0) };
	Val *in[4] = { need(g, t), need(g, u), need(g, type_scalar(EL_F32)), need(g, type_scalar(EL_I32)) };
	Op *op = ir_op(&g->b, code, 4, in, 2, out);
	ir_set_int(op, AT_AXIS, axis);
	random_modes(op, EL_F32);
	IrBlock *b = ir_region(op);
	for (int i = 0; i < 4; i++) ir_arg(b, in[2 + i % 2]->type, NULL);
	const Op *loop = g->loop, *scope = g->scope;
	g->loop = g->scope = NULL;
	Inside inside = enter(g, b, 0);
	gen_end(g, OP_YIELD, 2, in + 2, NULL);
	leave(g, inside);
	g->loop = loop;
	g->scope = scope;
	know(g, op->out[0]);
	know(g, op->out[1]);
}

static void gen_pair(Gen *g, OpCode code)       /* two results */
{
	const Type *t = some_tile(pick(elem_is_arith), 1, 2), *out[2];
	int axis = rnd(t->rank);
	uint8_t s[TILE_RANK];
	memcpy(s, t->log2, sizeof s);
	if (code == OP_SPLIT) {
		s[t->rank] = 1;
		out[0] = out[1] = t;
		t = type_tile(t->elem, t->rank + 1, s);
	} else {
		out[0] = g->placed ? t : with_axis(t, t->elem, axis, 0);        /* pass expand leaves the whole axis */
		out[1] = type_with_elem(out[0], EL_I32);
	}
	Val *x = need(g, t);
	Op *op = ir_op(&g->b, code, 1, &x, 2, out);
	if (code == OP_TOPK) {
		ir_set_int(op, AT_AXIS, axis);
		ir_set_int(op, AT_NUMBER, type_extent(out[0], axis));
	}
	know(g, op->out[0]);
	know(g, op->out[1]);
}

static void gen_effect(Gen *g, OpCode code)
{
	Val *in[2] = { need(g, code == OP_ASSUME ? type_scalar(EL_BOOL) : some_type(EL_BOOL)), need(g, some_type(EL_F16)) };
	Op *op = make(g, code, code == OP_PRINT ? 2 : 1, in, NULL);
	if (code != OP_ASSUME) ir_set_str(op, AT_TEXT, str_intern("a {} \\ \"b\"\n"));
}

/* A view of a thread block's own, and perhaps what adds it to the view that it is of. */
static void gen_private(Gen *g, OpCode code)
{
	Val *in[2] = { NULL, need(g, type_view(pick(elem_is_arith), 1)) };
	int rmw = rnd(3);
	Val *of[2] = { in[1], need(g, type_scalar(EL_I32)) };
	in[0] = ir_op1(&g->b, OP_PRIVATE, in[1]->type, 2, of);
	ir_set_int(in[0]->def, AT_NUMBER, 1 + rnd(100));
	if (rmw) ir_set_int(in[0]->def, AT_RMW, rmw);
	g->made[OP_PRIVATE] = true;
	if (code == OP_PRIVATE) return;
	Op *op = make(g, code, 2, in, NULL);
	if (rmw) ir_set_int(op, AT_RMW, rmw);
}

static void gen_op(Gen *g, OpCode code)
{
	const OpRow *r = &op_rows[code];
	g->made[code] = true;
	switch (code) {
	case OP_FOR: gen_for(g); return;
	case OP_WHILE: gen_while(g); return;
	case OP_IF: gen_if(g); return;
	case OP_SCOPE_: gen_scope(g); return;
	case OP_REDUCE: case OP_SCAN: gen_custom(g, code); return;
	case OP_TOPK: case OP_SPLIT: gen_pair(g, code); return;
	case OP_ASSERT: case OP_ASSUME: case OP_CHECK: case OP_PRINT: gen_effect(g, code); return;
	case OP_MMA: gen_mma(g); return;
	case OP_PRIVATE: case OP_PUBLISH: gen_private(g, code); return;
	default: break;
	}
	switch (r->type) {
	case TR_GIVEN: gen_given(g, code); return;
	case TR_SHAPE: gen_shape(g, code); return;
	case TR_REDUCE: case TR_REDUCE_INDEX: case TR_REDUCE_INT: case TR_SCAN: gen_reduce(g, code); return;
	case TR_LOAD: case TR_STORE: case TR_ATOMIC: gen_memory(g, code); return;
	default: gen_elementwise(g, code); return;
	}
}

static bool in_typed(OpCode code)
{
	OpForm f = op_rows[code].form;
	return (f == FORM_BOTH || f == FORM_TYPED) && !(op_rows[code].flags & OPF_TERM);
}

static void gen_block(Gen *g, IrBlock *b, int ops)
{
	for (int i = 0; i < b->args.n; i++) know(g, b->args.p[i]);
	for (int i = 0; i < ops; i++) {
		OpCode code;
		do code = (OpCode)rnd(OP_COUNT);
		while (!in_typed(code) || (g->depth > 3 && op_rows[code].flags & OPF_REGION));
		gen_op(g, code);
	}
}

static IrParam tensor_param(const char *name, Elem e, const Sym *rows)
{
	IrParam p = { .name = str_intern(name), .is_tensor = true, .mode = (ParamMode)rnd(3), .elem = e, .rank = 2 };
	p.extent[0] = rows;
	p.extent[1] = sym_const(4);
	p.stride[0] = sym_const(4);
	p.stride[1] = sym_const(1);
	p.layout = (LayoutKind)rnd(5);
	p.pad = rnd(2) * 16;
	return p;
}

static void gen_params(Fn *fn)
{
	IrParam count = { .name = str_intern("count"), .elem = EL_I64, .doc = str_intern("how \"many\"") };
	static const char *const dims[] = { "m", "n", "o", "st" };
	for (int i = 0; i < 4; i++) vec_push(A_UNIT, &fn->dims, ((IrDim){ .name = str_intern(dims[i]), .elem = EL_I64, .is_stride = i == 3 }));
	vec_push(A_UNIT, &fn->params, tensor_param("x", EL_F32, random_sym(2)));
	vec_push(A_UNIT, &fn->params, count);
	for (int i = 0; i < 2; i++) {
		IrParam *p = &fn->params.p[i];
		p->val = ir_arg(fn->body, p->is_tensor ? type_view(p->elem, p->rank) : type_scalar(p->elem), p->name);
	}
	fn->ngrid = 2;
	fn->grid[0] = random_sym(2);
	fn->grid[1] = random_sym(1);
	vec_push(A_UNIT, &fn->where, ((IrWhere){ .cond = random_sym(4), .text = rnd(2) ? str_intern("n > 3") : NULL }));
	if (rnd(2)) vec_push(A_UNIT, &fn->generics, ((IrGeneric){ str_intern("T"), str_intern("f32") }));
	if (rnd(2)) vec_push(A_UNIT, &fn->hints, ((Hint){ .name = str_intern("warps"), .n = 2, .v = { { NULL, 4 }, { str_intern("sm_90"), 8 } } }));
	fn->ordered = rnd(2);
	fn->no_contract = rnd(2);
}

static Fn *gen_fn(Gen *g, const char *name, int ops)
{
	memset(&g->pool, 0, sizeof g->pool);
	g->fn = ir_fn(str_intern(name), (Span){ 0, 0 });
	g->b = (Builder){ .fn = g->fn, .block = g->fn->body };
	gen_params(g->fn);
	gen_block(g, g->fn->body, ops);
	gen_end(g, OP_RETURN, 0, NULL, NULL);
	return g->fn;
}

static void give_layout(Val *v)
{
	if (type_is_tile(v->type)) ir_set_layout(v, lay_blocked(v->type->rank, v->type->log2, 0, 5, 1, NULL));
}

static void place_block(IrBlock *b)
{
	for (int i = 0; i < b->args.n; i++) give_layout(b->args.p[i]);
	for (Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nout; i++) give_layout(op->out[i]);
		for (int i = 0; i < op->nregion; i++) place_block(op->region[i]);
	}
}

static void random_modules(void)
{
	static Gen g;
	for (int i = 0; i < 200; i++) {
		g.placed = i % 4 != 0;
		Module *m = ir_module(str_intern("random.tile"));
		vec_push(A_UNIT, &m->fns, gen_fn(&g, "first", 30));
		vec_push(A_UNIT, &m->fns, gen_fn(&g, "second", 10));
		round_trip(m, str_fmt("random%d", i));
		ir_number(m->fns.p[0]);
		round_trip(m, str_fmt("numbered%d", i));
		for (int k = 0; g.placed && k < m->fns.n; k++) {
			place_block(m->fns.p[k]->body);
			m->fns.p[k]->stage = STAGE_PLACED;
			m->fns.p[k]->arch = 80;
			m->fns.p[k]->warps = 2;
		}
		if (g.placed) round_trip(m, str_fmt("placed%d", i));
	}
	for (int i = 0; i < OP_COUNT; i++)
		if (!g.made[i] && (in_typed((OpCode)i) || op_rows[i].flags & OPF_TERM)) FAIL("no random module has %s", op_rows[i].name);
}

int main(void)
{
	start();
	random_modules();
	return finish("random modules");
}
