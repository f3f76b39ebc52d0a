/* Names, types, constants, lines and layouts as CUDA text. */
#include "emit_cuda/cu.h"
#include "base/show.h"
#include "emit_cuda/peel.h"
#include "ir/ir_frag.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "emit/lines.h"
#include "emit/literal.h"
#include "emit/names.h"
#include "ir/fold.h"
#include "ir/monoid.h"

const char *cu_type(Elem e)
{
	const char *t = elem_rows[elem_pointee(e)].cuda;
	return elem_is_ptr(e) ? str_fmt("%s *", t) : t;
}

/* What stands before the name of a value that stays as it is. */
const char *cu_const(Elem e)
{
	return str_fmt(elem_is_ptr(e) ? "%sconst " : "const %s ", cu_type(e));
}

/* ---- constants ---- */
Str cu_num(Elem e, Num n)
{
	if (elem_is_ptr(e)) return str_fmt("(%s)0", cu_type(e));
	switch (e) {
	case EL_F32: case EL_TF32:
		if (isfinite(n.f)) return literal_float(n.f, true);
		return str_fmt("ct_bits_f32_u32(0x%08llxu)", (unsigned long long)num_bits(e, n));
	case EL_F64:
		if (isfinite(n.f)) return literal_float(n.f, false);
		return str_fmt("ct_bits_f64_u64(0x%016llxull)", (unsigned long long)num_bits(e, n));
	case EL_F16: case EL_BF16: return str_fmt("(unsigned short)0x%04x", (unsigned)num_bits(e, n));
	case EL_F8E4M3: case EL_F8E5M2: return str_fmt("(unsigned char)0x%02x", (unsigned)num_bits(e, n));
	case EL_U64: case EL_U32: case EL_I64: case EL_I32: return literal_int(e, n);
	default: return str_fmt("(%s)%lld", cu_type(e), (long long)n.i);
	}
}

/* ---- names ---- */
Str cu_fresh(Cu *g, const char *what) { return str_fmt("ct_%s%d", what, g->ntemp++); }

void cu_reserve(Cu *g, Str name) { names_take(&g->names, name); }

Str cu_name(Cu *g, const Val *v) { return names_new(&g->names, v->name); }

/* ---- lines of the source ---- */
Str cu_where(Span s)
{
	if (!s.hi) return str_intern("?");
	Place p = src_place(s.lo);
	return str_fmt("%s:%u", shown(src_mapped(p.src->path)), (unsigned)p.line);
}

void cu_line(Cu *g, const Op *op) { lines_mark(g->o, g->opt, op->span); }

static void say_val(Out *o, Cu *g, const Val *v)
{
	const CuVal *c = v->id < g->nval ? &g->val[v->id] : NULL;
	if (v->def && v->def->code == OP_ALLOC_SHARED) out_puts(o, "shared memory");
	else out_puts(o, c && c->name ? c->name : v->name ? v->name : "?");
}

void cu_say(Cu *g, const Op *op)
{
	if (g->part == PART_END) return;        /* said of the vectors */
	Out *o = out_new();
	for (int i = 0; i < op->nout; i++) {
		if (i) out_puts(o, ", ");
		say_val(o, g, op->out[i]);
	}
	out_printf(o, "%s%s(", op->nout ? " = " : "", op_rows[op->code].name);
	for (int i = 0, n = 0; i < op->nin && n < 8; i++) {
		const Val *v = ir_in(op, i);
		if (type_is_scalar(v->type) && (op->code == OP_LOAD || op->code == OP_LOADS || op->code == OP_GATHER)
			&& i == op->nin - 1)
			continue;
		if (n++) out_puts(o, ", ");
		say_val(o, g, v);
	}
	const Type *t = op->nout ? op->out[0]->type : op->nin ? ir_in(op, op->nin - 1)->type : NULL;
	out_printf(o, ")%s%s", t ? ": " : "", t ? type_text(t) : "");
	comment_text(g->o, o->p, "// ");
	out_free(o);
}

/* ---- values ---- */
CuVal *cu_val(Cu *g, const Val *v)
{
	while (v->fwd) v = v->fwd;
	if (v->id >= g->nval) bug("value %%%d has no place in the emitter", v->id);
	return &g->val[v->id];
}

Str cu_scalar(Cu *g, const Val *v)
{
	CuVal *c = cu_val(g, v);
	if (!c->name) bug("value %%%d has no name yet", v->id);
	return c->name;
}

const char *cu_held(const Val *v) { return held_in_words(v->type) ? "unsigned int" : cu_type(v->type->elem); }

Str cu_at(Cu *g, const Val *v, const char *reg)
{
	CuVal *c = cu_val(g, v);
	if (!c->name) bug("value %%%d has no name yet", v->id);
	bool many = type_is_tile(v->type) || v->type->kind == TY_ASYNC || v->type->kind == TY_FRAG;
	if (!many || c->splat || c->inside || regs_of(v) == 1) return c->name;
	return str_fmt("%s[%s]", c->name, reg);
}

/* Of a tile, once: not of the end of a peeled row. */
Str cu_said(Cu *g, const Val *v)
{
	return type_is_tile(v->type) && g->part != PART_END ? str_fmt("        /* %s */", type_text(v->type)) : "";
}

/* A peeled row has a register more. */
enum { UNROLL_MOST = COST_UNROLL_REGS + 1 };
bool cu_unrolled(int regs) { return regs <= UNROLL_MOST; }
static bool is_unrolled(const Cu *g, int64_t n) { return g->roles || n <= UNROLL_MOST; }

static bool declare(Cu *g, const Val *v)
{
	CuVal *c = cu_val(g, v);
	const char *t = cu_held(v), *gap = elem_is_ptr(v->type->elem) ? "" : " ";
	int n = regs_of(v);
	if (c->declared) return false;
	if (!c->name) c->name = cu_name(g, v);
	out_printf(g->o, n == 1 ? "%s%s%s;" : "%s%s%s[%d];", t, gap, c->name, n);
	return true;
}

void cu_declare(Cu *g, const Val *v)
{
	if (declare(g, v)) out_printf(g->o, "%s\n", cu_said(g, v));
}

Str cu_declare_before(Cu *g, const Val *v, bool one_line)
{
	CuVal *c = cu_val(g, v);
	bool declares = !c->declared;
	if (!one_line) {
		cu_declare(g, v);
		return "";
	}
	if (regs_of(v) > 1) {
		if (declare(g, v)) out_puts(g->o, " ");
	} else if (declares) {          /* the statement becomes its initialiser */
		if (!c->name) c->name = cu_name(g, v);
		out_printf(g->o, elem_is_ptr(v->type->elem) ? "%s" : "%s ", cu_held(v));
	}
	return declares ? cu_said(g, v) : "";
}

void cu_fill(Cu *g, const Val *v)
{
	if (declare(g, v)) out_puts(g->o, is_unrolled(g, regs_of(v)) ? " " : "\n");
	if (regs_of(v) > 1 && cu_leaves_out(g, *v->lay)) cu_reached(g, "ct_r", 0, 0);
	else cu_each(g, "ct_r", regs_of(v));
}

Str cu_launch(Cu *g, const Sym *s)
{
	CuSyms *v = g->launch;
	if (s->kind == SYM_CONST || (s->kind == SYM_ATOM && (s->atom == ATOM_DIM || s->atom == ATOM_STRIDE)))
		return sym_c(s);
	for (int i = 0; i < v->n; i++)
		if (v->p[i] == s) return str_fmt("ct_l%d", i);
	vec_push(A_UNIT, v, s);
	return str_fmt("ct_l%d", v->n - 1);
}

/* ---- loops ---- */
CuInt cu_loop(Cu *g, const char *var, int64_t n)
{
	if (n > 1) cu_each(g, var, n);
	cu_open(g);
	return n > 1 ? cu_var(var) : cu_int(0);
}

/* After a condition on the same line a directive is none. */
const char *cu_rolled(const Cu *g)
{
	return g->o->n && g->o->p[g->o->n - 1] == ' ' ? "_Pragma(\"unroll 1\") " : "#pragma unroll 1\n";
}

void cu_head(Cu *g, const char *var, int64_t from, int64_t to, bool unroll)
{
	if (unroll) out_printf(g->o, "CT_UNROLL(%s, %lld, %lld) ", var, (long long)from, (long long)to);
	else out_printf(g->o, "%sfor (int %s = %lld; %s < %lld; %s++) ", cu_rolled(g), var, (long long)from, var,
		(long long)to, var);
}

void cu_each(Cu *g, const char *var, int64_t n) { cu_head(g, var, 0, n, is_unrolled(g, n)); }

void cu_open(Cu *g)
{
	out_puts(g->o, "{\n");
	out_in(g->o);
}

void cu_end(Cu *g)
{
	out_off(g->o);
	out_puts(g->o, "}\n");
}

/* ---- threads ---- */
Str cu_warps_started(const Fn *fn)
{
	if (!fn->fewer) return str_i64(fn->warps);
	if (fn->short_rows) return str_intern("(ct_log2 < 5 ? 1 : blockDim.x >> 5)");
	if (fn->warp_rows) return str_intern("(ct_alone ? 1 : blockDim.x >> 5)");
	return str_intern(fn->cluster ? "ct_warps" : "(blockDim.x >> 5)");
}

Str cu_of_no_warp(Cu *g, const Val *partial)
{
	const Op *sum = partial->def;
	if (sum->code == OP_CAST) sum = ir_in(sum, 0)->def;
	OpCode combine = monoid_of_kind((int)ir_int(sum, AT_KIND, KIND_SUM));
	if (monoid_idempotent(combine)) return cu_at(g, partial, "0");  /* a warp's own changes no maximum */
	return cu_num(partial->type->elem, monoid_begin(monoid_reduction(combine), partial->type->elem));
}

Str cu_blocks_started(const Fn *fn) { return fn->fewer ? str_intern("ct_ranks") : str_i64(fn->cluster); }

const char *cu_thread(const Cu *g) { return g->fn->packed ? "ct_lane" : "threadIdx.x"; }

Str cu_first_lane(const Cu *g) { return str_fmt("(threadIdx.x & %d)", 32 - g->fn->lanes); }

void cu_sync(Cu *g)
{
	if (g->fn->short_rows && !g->fn->packed) out_puts(g->o, "if (ct_log2 < 5) __syncwarp(); else ");
	if (g->fn->warp_rows) out_puts(g->o, "if (ct_alone) __syncwarp(); else ");
	out_puts(g->o, g->fn->cluster ? "ct_cluster_sync();\n" : g->fn->packed ? "__syncwarp();\n" : "__syncthreads();\n");
}

/* ---- linear maps ---- */
CuInt cu_int(int64_t n) { return (CuInt){ str_i64(n), n, INT_LITERAL }; }

CuInt cu_var(Str text) { return (CuInt){ str_intern(text), 0, INT_OPERAND }; }

CuInt cu_compound(Str text) { return (CuInt){ text, 0, INT_COMPOUND }; }

bool cu_is(CuInt a, int64_t n) { return a.kind == INT_LITERAL && a.value == n; }

Str cu_operand(CuInt a)
{
	bool bare = a.kind == INT_OPERAND || (a.kind == INT_LITERAL && a.value >= 0);
	return bare ? a.text : str_fmt("(%s)", a.text);
}

/* All bits that move by the same distance move together; those that move by by_lanes are multiplied by ct_lanes
 * instead, the number of a row's lanes. */
static CuInt linear(CuInt x, int nbits, const uint32_t *col, int by_lanes)
{
	uint32_t moved[63] = { 0 }, all = nbits >= 32 ? ~0u : ((uint32_t)1 << nbits) - 1;  /* which bits move by d - 31 */
	int n = 0, most = -32, least = 32;
	if (x.kind == INT_LITERAL) {
		uint32_t r = 0, far = 0;
		for (int i = 0; i < nbits; i++) {
			if (!(x.value >> i & 1)) continue;
			if (by_lanes && col[i] == (uint32_t)1 << (i + by_lanes)) far ^= (uint32_t)1 << i;
			else r ^= col[i];
		}
		if (far && !r) return cu_var(str_fmt("(%u * ct_lanes)", (unsigned)far));
		return far ? cu_var(str_fmt("(%u ^ %u * ct_lanes)", (unsigned)r, (unsigned)far)) : cu_int(r);
	}
	for (int i = 0; i < nbits; i++)
		for (uint32_t c = col[i], to = 0; c; c >>= 1, to++) {
			int d = (int)to - i;
			if (!(c & 1)) continue;
			moved[31 + d] |= (uint32_t)1 << i;
			if (d > most) most = d;
			if (d < least) least = d;
		}
	for (int d = most; d >= least; d--) n += moved[31 + d] != 0;
	if (!n) return cu_int(0);
	Str var = cu_operand(x);
	if (n == 1 && most == 0 && moved[31] == all) return cu_var(var);
	Out *o = out_new();
	if (n > 1) out_puts(o, "(");
	for (int d = most; d >= least; d--) {
		uint32_t mask = moved[31 + d];
		if (!mask) continue;
		if (d < most) out_puts(o, " ^ ");
		if (mask != all) out_printf(o, d ? "((%s & %u)" : "(%s & %u)", var, (unsigned)mask);
		else out_printf(o, d ? "(%s" : "%s", var);
		if (d > 0 && d == by_lanes) out_puts(o, " * ct_lanes)");
		else if (d > 0) out_printf(o, " << %d)", d);
		if (d < 0) out_printf(o, " >> %d)", -d);
	}
	if (n > 1) out_puts(o, ")");
	return cu_var(out_take(o));
}

CuInt cu_linear(CuInt var, int nbits, const uint32_t *col) { return linear(var, nbits, col, 0); }

static bool are_literals(CuInt a, CuInt b) { return a.kind == INT_LITERAL && b.kind == INT_LITERAL; }

CuInt cu_xor(CuInt a, CuInt b)
{
	if (are_literals(a, b)) return cu_int(a.value ^ b.value);
	if (cu_is(a, 0)) return b;
	if (cu_is(b, 0)) return a;
	return cu_var(str_fmt("(%s ^ %s)", a.text, b.text));
}

CuInt cu_sum(CuInt a, CuInt b)
{
	if (are_literals(a, b)) return cu_int(a.value + b.value);
	if (cu_is(a, 0)) return b;
	return cu_is(b, 0) ? a : cu_compound(str_fmt("%s + %s", a.text, b.text));
}

CuInt cu_times(CuInt a, int64_t n)
{
	if (a.kind == INT_LITERAL || n == 0) return cu_int(a.value * n);
	return n == 1 ? cu_var(cu_operand(a)) : cu_compound(str_fmt("%s * %lld", cu_operand(a), (long long)n));
}

Str cu_quotient(Str a, int64_t n) { return n == 1 ? a : str_fmt("%s / %lld", a, (long long)n); }

Str cu_shifted(Str a, int bits) { return bits ? str_fmt("%s >> %d", a, bits) : a; }

Str cu_after_first(const Cu *g, CuInt reg)
{
	return cu_shifted(reg.text, g->shift_log2);
}

CuInt cu_deposit(CuInt var, uint32_t mask)
{
	uint32_t col[LAY_BITS];
	int n = 0;
	for (int i = 0; i < 32; i++)
		if (mask >> i & 1) col[n++] = (uint32_t)1 << i;
	return cu_linear(var, n, col);
}

CuMap cu_map(Lay l, int axis)
{
	CuMap m = { .nreg = l.in[HW_REG], .nlane = l.in[HW_LANE], .nwarp = l.in[HW_WARP] };
	int n = m.nreg + m.nlane + m.nwarp;
	for (int i = 0; i < n; i++) m.col[i] = axis < 0 ? l.col[i] : lay_coord(l, l.col[i], axis);
	return m;
}

CuMap cu_map_row(const Cu *g, Lay l, int axis)
{
	CuMap m = cu_map(l, axis);
	if (g->fn->short_rows && holds_row(g->fn, l)) m.by_lanes = fn_threads(g->fn).lanes;
	for (int i = m.nreg + m.nlane; i < m.nreg + m.nlane + m.nwarp; i++) m.share |= m.col[i] != 0;
	m.share = m.share && holds_row(g->fn, l) && g->row_shares;
	return m;
}

CuInt cu_map_thread(const CuMap *m)
{
	if (m->share)
		return cu_var(str_fmt("(%s + ct_warp * (ct_used << %d))",
			cu_linear(cu_var("ct_lane"), m->nlane, m->col + m->nreg).text, LANES_LOG2));
	return cu_xor(cu_linear(cu_var("ct_lane"), m->nlane, m->col + m->nreg),
		cu_linear(cu_var("ct_warp"), m->nwarp, m->col + m->nreg + m->nlane));
}

CuInt cu_map_reg(const CuMap *m, CuInt reg) { return linear(reg, m->nreg, m->col, m->by_lanes); }

CuInt cu_map_place(const CuMap *m, CuInt reg) { return cu_xor(cu_map_thread(m), cu_map_reg(m, reg)); }

static Str first_of(uint32_t lane, uint32_t warp)
{
	if (!lane && !warp) return NULL;
	if (!warp) return str_fmt("(ct_lane & %u) == 0", (unsigned)lane);
	if (!lane) return str_fmt("(ct_warp & %u) == 0", (unsigned)warp);
	return str_fmt("(ct_lane & %u) == 0 && (ct_warp & %u) == 0", (unsigned)lane, (unsigned)warp);
}

Str cu_copies(Lay l)
{
	uint32_t spare = lay_free(l);
	return first_of(lay_hwcoord(l, spare, HW_LANE), lay_hwcoord(l, spare, HW_WARP));
}

Str cu_copies_of_block(const Cu *g, Lay l)
{
	uint32_t spare = lay_free(l), own = (uint32_t)(tile_threads(g->fn) / 32) - 1;
	if (g->fn->cluster <= 1) return cu_copies(l);
	return first_of(lay_hwcoord(l, spare, HW_LANE), lay_hwcoord(l, spare, HW_WARP) & own);
}

Str cu_writers(const Cu *g, Lay l)
{
	Str first = cu_copies(l);
	if (!g->fn->lanes && !g->fn->short_rows) return first;
	return first ? str_fmt("ct_live && %s", first) : str_intern("ct_live");
}

/* ---- registers that depend on the thread ---- */
typedef struct Choice {
	uint32_t basis[LAY_BITS], pivot[LAY_BITS];
	int n;
	uint32_t lane[LAY_BITS], warp[LAY_BITS];
} Choice;

/* The register bits that lanes and warps choose: a basis of what they add, and for each which
 * bits of the thread add it. */
static Choice thread_choice(const CuMap *m)
{
	Choice c = { .n = 0 };
	for (int i = 0; i < m->nlane + m->nwarp; i++) {
		uint32_t x = m->col[m->nreg + i], in = 0;
		for (int k = 0; k < c.n; k++)
			if (x & c.pivot[k]) x ^= c.basis[k], in |= (uint32_t)1 << k;
		if (x) {
			uint32_t low = x & (~x + 1);
			c.basis[c.n] = x;
			c.pivot[c.n] = low;
			in |= (uint32_t)1 << c.n++;
		}
		for (int k = 0; k < c.n; k++)
			if (in >> k & 1)
				*(i < m->nlane ? &c.lane[k] : &c.warp[k]) |= (uint32_t)1 << (i < m->nlane ? i : i - m->nlane);
	}
	return c;
}

static CuInt parity(const char *var, uint32_t mask)
{
	int bit = 0;
	while (!(mask >> bit & 1)) bit++;
	if (mask == (uint32_t)1 << bit) return cu_var(str_fmt("(%s & 1)", cu_shifted(var, bit)));
	return cu_var(str_fmt("(__popc(%s & %u) & 1)", var, (unsigned)mask));
}

static Str pick(const Choice *c, int k, CuInt reg, Str (*candidate)(void *ctx, Str reg), void *ctx)
{
	if (k == 0) return candidate(ctx, reg.text);
	k--;
	Str yes = pick(c, k, cu_xor(reg, cu_int(c->basis[k])), candidate, ctx);
	Str no = pick(c, k, reg, candidate, ctx);
	CuInt when = c->lane[k] && c->warp[k] ? cu_xor(parity("ct_lane", c->lane[k]), parity("ct_warp", c->warp[k]))
		: c->lane[k] ? parity("ct_lane", c->lane[k]) : parity("ct_warp", c->warp[k]);
	return str_fmt("(%s ? %s : %s)", when.text, yes, no);
}

Str cu_pick(Lay c, CuInt reg, Str (*candidate)(void *ctx, Str reg), void *ctx)
{
	CuMap m = cu_map(c, LAY_HWAXIS(HW_REG));
	Choice choice = thread_choice(&m);
	return pick(&choice, choice.n, cu_map_reg(&m, reg), candidate, ctx);
}

typedef struct At { Cu *g; const Val *v; } At;

static Str at_register(void *ctx, Str reg)
{
	At *a = ctx;
	return cu_at(a->g, a->v, reg);
}

Str cu_pulled(Cu *g, const Val *v, Lay c, CuInt reg)
{
	At a = { g, v };
	return cu_pick(c, reg, at_register, &a);
}
