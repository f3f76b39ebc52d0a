/* Rows in a body of aligned vectors and ends (lower/peel.c). A thread's registers hold vectors of the body, the last
 * one an element of the ends. Of each row:
 *
 *   ct_head, ct_begin       the element with which the body begins
 *   ct_body                 its length
 *   ct_left                 how far the body goes on after the thread's first element of it
 *   ct_end, ct_edge         the element of the thread's last register, and whether there is one */
#include "base/diag.h"
#include "emit_cuda/access.h"
#include "emit_cuda/peel.h"
#include "placed/loops.h"

static const Val *some_row(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_LOAD && holds_row(fn, *op->out[0]->lay)) return op->out[0];
	bug("a peeled kernel without rows");
}

/* ct_p: the row's first element. */
static void print_row(Access *x)
{
	Out *o = x->g->o;
	access_origin(x);
	out_printf(o, "%s%s *const ct_p = %s", x->store || !x->v->constant ? "" : "const ", elem_rows[x->v->elem].cuda,
		x->v->base);
	for (int a = 0; a < x->plan.rank; a++) out_printf(o, " + %s", access_scaled(str_fmt("ct_o%d", a), x->v, a));
	out_puts(o, ";\n");
}

void peel_phase(Cu *g, const Op *op)
{
	const Fn *fn = g->fn;
	Access x;
	access_open(&x, g, op, NULL, false);
	x.store = !x.v->constant;
	int size = elem_bytes(x.v->elem);
	cu_val(g, op->out[0])->name = str_intern("ct_head");
	cu_line(g, op);
	out_puts(g->o, "int ct_head;\n{\n");
	out_in(g->o);
	print_row(&x);
	out_printf(g->o, "ct_head = (int)((0u - (unsigned int)((unsigned long long)ct_p / %d) - %d) & %d) + %d;\n", size,
		fn->peel_apart, fn->peel_line / size - 1, fn->peel_apart);
	cu_end(g);
}

/* The numbers of the row, made again wherever they are used: nvcc would hold them all, and what is made of them, where
 * threads wait. ptxas sees through that, but not through a number that the device alone knows to be 0: where threads
 * hold most of a row, they are made again after a wait, so that a thread block more fits (bench/notes/rows.md). */
static void print_numbers(Cu *g, bool after_wait)
{
	const Fn *fn = g->fn;
	int front = peel_front(fn);
	Str length = cu_launch(g, fn->below.p[0]);
	bool again = after_wait && fn->cluster && fn->row_regs * 4 / peel_vector(fn) > COST_PEEL_AGAIN;
	out_printf(g->o, "int ct_begin = ct_head%s;\nasm volatile(\"\" : \"+r\"(ct_begin));\n",
		again ? " + ct_cluster_zero()" : "");
	out_printf(g->o, "const int ct_body = ((int)%s - ct_begin - %d) & ~%d;\n", length, fn->peel_apart,
		peel_vector(fn) - 1);
	out_printf(g->o, "const int ct_left = ct_body - (int)%s;\n", peel_of_thread(*some_row(fn)->lay));
	out_puts(g->o, "const int ct_place = (int)(ct_lane + (ct_warp << 5));\n");
	out_printf(g->o, "const int ct_end = ct_place < %d ? ct_place : ct_begin + ct_body + (ct_place - %d);\n", front,
		front);
	out_printf(g->o, "const int ct_edge = ct_end < (ct_place < %d ? ct_begin : (int)%s);\n", front, length);
}

/* ---- parts ---- */
static bool is_name(Cu *g, const Op *op) { return op_is_pointwise(op) && elem_is_name(g, op); }

/* What is computed in parts is there after all of them. */
static void declare(Cu *g, const Op *op)
{
	for (int i = 0; i < op->nout; i++) {
		CuVal *v = cu_val(g, op->out[i]);
		if (v->inside || is_name(g, op)) continue;
		cu_declare(g, op->out[i]);
		v->declared = true;
	}
}

static void print_part(Cu *g, Op *first, const Op *end, int part)
{
	g->part = part;
	for (Op *op = first; op != end;) {
		if (op_is_pointwise(op)) {
			op = elem_group(g, op, end);
			continue;
		}
		control_op(g, op);
		op = op->next;
	}
	g->part = PART_NONE;
}

/* ---- what has another phase, in shared memory ---- */
static int pieces_of(const Fn *fn) { return fn->row_regs / peel_vector(fn); }

static int64_t stage_begin(const Fn *fn, int number)
{
	return fn->stage_at + STAGE_BAR + number * peel_stage_bytes(fn);
}

/* A lane of the first warp asks for what the thread block needs of each step of all threads. */
void peel_stage_init(Cu *g)
{
	out_printf(g->o, "ct_stage_init(ct_smem + %lld, %d);\n", (long long)g->fn->stage_at, pieces_of(g->fn));
}

static int staged_loads(const Fn *fn)
{
	int n = 0;
	for (const Op *op = fn->body->first; op; op = op->next) n += peel_stage(fn, op) >= 0;
	return n;
}

static void ask_stage(Cu *g)
{
	const Fn *fn = g->fn;
	int threads = block_threads(fn), each = peel_vector(fn), all = threads * each;
	out_puts(g->o, "if (threadIdx.x < 32) {\n");
	out_in(g->o);
	print_numbers(g, false);
	out_puts(g->o, "__syncwarp();\n");
	out_printf(g->o, "const int ct_from = (int)ct_lane * %d + (int)ct_cluster_rank() * %d, ct_some = ct_body - ct_from "
		"< %d ? ct_body - ct_from : %d;\n", all * fn->cluster, all, all, all);
	out_printf(g->o, "const unsigned int ct_bytes = ct_lane < %d && ct_some > 0 ? ct_some * %d + 16 : 0;\n",
		pieces_of(fn), 16 / each);
	out_printf(g->o, "if (ct_lane < %d) ct_stage_expect(ct_smem + %lld, %d * ct_bytes);\n", pieces_of(fn),
		(long long)fn->stage_at, staged_loads(fn));
	out_puts(g->o, "if (ct_bytes) {\n");
	out_in(g->o);
	for (const Op *op = fn->body->first; op; op = op->next) {
		int n = peel_stage(fn, op);
		if (n < 0) continue;
		cu_line(g, op);
		out_printf(g->o,
			"ct_stage(ct_smem + %lld + ct_lane * %d, %s + ct_begin + ct_from, ct_bytes, ct_smem + %lld);\n",
			(long long)stage_begin(fn, n), (threads + 1) * 16, cu_val(g, ir_in(op, 0))->view->base,
			(long long)fn->stage_at);
	}
	cu_end(g);
	cu_end(g);
}

/* Every warp has to see the mbarrier that it waits for initialised, so thread blocks synchronise first. */
static void await_stage(Cu *g, const Op *op)
{
	int64_t stage = ir_int(op, AT_STAGE, 0);
	if (!(stage & STAGE_AWAIT)) return;
	if (stage == STAGE_BOTH) ask_stage(g);
	cluster_meet(g);
	out_printf(g->o, "ct_bar_wait(ct_smem + %lld);\n", (long long)g->fn->stage_at);
}

static void print_pieces(Cu *g, Op *first, const Op *end)
{
	bool some = ir_int(first, AT_LEAVES_OUT, 0);
	Lay l = *some_row(g->fn)->lay;
	int each = peel_vector(g->fn);
	if (cu_is(cu_loop(g, "ct_part", g->fn->row_regs / each), 0)) out_puts(g->o, "const int ct_part = 0;\n");
	if (some) {
		int sure = g->fn->row_sure > each ? g->fn->row_sure / each : 1;         /* the first begins what sums add to */
		out_printf(g->o, "if (ct_part < %d || %s < ct_left) {\n", sure,
			peel_in_body(l, cu_var(str_fmt("(ct_part * %d)", each))));
		out_in(g->o);
	}
	print_part(g, first, end, PART_PIECE);
	if (some) cu_end(g);
	cu_end(g);
}

Op *peel_stretch(Cu *g, Op *first)
{
	Op *end = first;
	int64_t number = ir_int(first, AT_PIECES, 0);
	while (end && ir_int(end, AT_PIECES, 0) == number) end = end->next;
	for (Op *op = first; op != end; op = op->next) {
		declare(g, op);
		await_stage(g, op);
	}
	out_puts(g->o, "{\n");
	out_in(g->o);
	print_numbers(g, stands_after_wait(first));
	print_pieces(g, first, end);
	out_puts(g->o, "{\n");
	out_in(g->o);
	print_part(g, first, end, PART_END);
	cu_end(g);
	cu_end(g);
	return end;
}

/* ---- accesses ---- */
static void begin(Access *x, const Op *op, const Val *data, bool store, Cu *g)
{
	access_open(x, g, op, data, store);
	out_puts(g->o, "{\n");
	out_in(g->o);
	if (!g->part) print_numbers(g, false);
	print_row(x);
	if (g->part == PART_END) return;
	out_printf(g->o, "%s%s *const ct_q = ct_p + ct_begin + (int)%s;\n", store || !x->v->constant ? "" : "const ",
		elem_rows[x->v->elem].cuda, peel_of_thread(x->plan.l));
}

/* ct_in: is vector `number` of the thread one of the row? Its registers begin with ct_b. */
static void print_inside(const Access *x, const char *number)
{
	const Fn *fn = x->g->fn;
	Str in = str_fmt("%s < ct_left", peel_in_body(x->plan.l, cu_var("ct_b")));
	if (fn->row_sure) in = str_fmt("ct_b < %d || %s", fn->row_sure, in);
	out_printf(x->g->o, "const int ct_b = %s << %d;\nconst int ct_in = %s;\n", number, x->plan.vec, in);
}

static void vector_registers(const Access *x, Str *reg)
{
	for (int k = 0; k < 1 << x->plan.vec; k++) reg[k] = cu_at(x->g, x->data, k ? str_fmt("ct_b + %d", k) : "ct_b");
}

static void load_end(Access *x)
{
	Cu *g = x->g;
	int bits = 8 * elem_bytes(x->v->elem);
	Str reg = cu_at(g, x->data, str_i64(g->fn->row_regs));
	cu_line(g, x->op);
	out_printf(g->o, "const %s ct_w = ct_ld%s_b%d_if(ct_p + ct_end, ct_edge, %s);\n", words_type(bits / 8),
		x->v->constant ? "nc" : "", bits, x->pad);
	words_unpack(g, x->v->elem, 1, "ct_w", &reg);
}

/* Of all vectors, then of the end; elements are taken out of words when all have been asked for. */
static void load_all(Access *x, const char *nc)
{
	Cu *g = x->g;
	Str reg[16];
	int pieces = g->fn->row_regs >> x->plan.vec;
	out_printf(g->o, "ct_u32x4 ct_v[%d];\n", pieces);
	CuInt i = cu_loop(g, "ct_i", pieces);
	print_inside(x, i.text);
	cu_line(g, x->op);
	out_printf(g->o, "ct_v[%s] = ct_ld%s_b128_if(ct_q + %s, ct_in, ct_pad);\n", i.text, nc,
		peel_in_body(x->plan.l, cu_var("ct_b")));
	cu_end(g);
	load_end(x);
	i = cu_loop(g, "ct_i", pieces);
	out_printf(g->o, "const int ct_b = %s << %d;\n", i.text, x->plan.vec);
	vector_registers(x, reg);
	words_unpack(g, x->v->elem, 1 << x->plan.vec, str_fmt("ct_v[%s]", i.text), reg);
	cu_end(g);
}

/* ---- what has another phase ---- */
/* A vector that begins anywhere, from the three aligned ones of 8 bytes around it: of two of 16 bytes as many words
 * would be chosen once more, six instructions a vector. Of shared memory words are read where that is less work than
 * the shift, pairs of them where more than one tensor is: then banks would be what threads wait for. */
static void load_around(Access *x, const char *nc)
{
	Cu *g = x->g;
	Str reg[16], at = str_fmt("ct_around + %s * %d", peel_in_body(x->plan.l, cu_var("ct_b")), elem_bytes(x->v->elem));
	int bits = 8 * elem_bytes(x->v->elem), stage = peel_stage(g->fn, x->op);
	out_puts(g->o, "const unsigned int ct_skew = (unsigned int)(unsigned long long)ct_q & 15;\n");
	print_inside(x, "ct_part");
	cu_line(g, x->op);
	if (stage >= 0) {
		out_printf(g->o, "ct_u32x4 ct_w = ct_skewed_%s_b%d(ct_smem + %lld + ct_part * %d + "
			"threadIdx.x * 16, ct_skew);\n",
			staged_loads(g->fn) > 1 ? "pairs" : "words", bits, (long long)stage_begin(g->fn, stage),
			(block_threads(g->fn) + 1) * 16);
		if (ir_int(x->op, AT_PADDED, 0)) out_puts(g->o, "if (!ct_in) ct_w = ct_pad;\n");
	} else {
		const char *type = x->v->constant ? "const unsigned char" : "unsigned char";
		out_printf(g->o, "%s *const ct_around = (%s *)ct_q - (ct_skew & 7);\n", type, type);
		out_puts(g->o, "const ct_u32x2 ct_half = { { ct_pad.v[0], ct_pad.v[1] } };\n");
		out_printf(g->o, "const ct_u32x4 ct_w = ct_skewed_b%d(", bits);
		for (int i = 0; i < 3; i++) out_printf(g->o, "ct_ld%s_b64_if(%s + %d, ct_in, ct_half), ", nc, at, 8 * i);
		out_puts(g->o, "ct_skew);\n");
	}
	vector_registers(x, reg);
	words_unpack(g, x->v->elem, 1 << x->plan.vec, "ct_w", reg);
}

void peel_load(Cu *g, const Op *op)
{
	Access x;
	begin(&x, op, op->out[0], false, g);
	x.pad = words_pad(g, x.v->elem, ir_in(op, op->nin - 1));
	const char *nc = x.v->constant ? "nc" : "";
	if (g->part == PART_END) {
		load_end(&x);
	} else {
		out_printf(g->o, "const ct_u32x4 ct_pad = %s;\n", access_pad(&x));
		if (g->part) load_around(&x, nc);
		else load_all(&x, nc);
	}
	cu_end(g);
	if (ir_int(op, AT_STAGE, 0) == STAGE_ASK) ask_stage(g);
}

void peel_store(Cu *g, const Op *op)
{
	Access x;
	Str reg[16];
	const Val *data = ir_in(op, op->nin - 1);
	begin(&x, op, data, true, g);
	if (g->part == PART_END) {
		reg[0] = cu_at(g, data, str_i64(g->fn->row_regs));
		Str w = words_pack(g, x.v->elem, 1, reg);
		cu_line(g, op);
		out_printf(g->o, "ct_st_b%d_if(ct_p + ct_end, ct_edge, %s);\n", 8 * elem_bytes(x.v->elem), w);
	} else {
		print_inside(&x, "ct_part");
		vector_registers(&x, reg);
		Str w = words_pack(g, x.v->elem, 1 << x.plan.vec, reg);
		cu_line(g, op);
		out_printf(g->o, "ct_st_b128_if(ct_q + %s, ct_in, %s);\n", peel_in_body(x.plan.l, cu_var("ct_b")), w);
	}
	cu_end(g);
}
