/* Rows side by side (lower/dense.c): a warp's stretch of memory comes to shared memory in vectors of 16 bytes, wherever
 * it begins, and a thread takes the elements of its row from there; results go the other way.
 *
 * The places of a stretch keep their distance from the last multiple of 16 bytes. A load asks for its own stretch and
 * for those after it up to the next store, then waits for all: nothing is asked for twice. Lanes beyond the grid hold
 * the rows after the last one: what they read was never written, what they write is not moved. */
#include <string.h>

#include "base/diag.h"
#include "emit/names.h"
#include "emit_cuda/access.h"

void dense_begin(Cu *g)
{
	const Fn *fn = g->fn;
	int lanes = fn_threads(fn).lanes;
	out_puts(g->o, "unsigned char *const ct_rows = ct_all_smem");
	if (fn->shared_bytes) out_printf(g->o, " + (blockDim.x >> %d) * %lld", lanes, (long long)fn->shared_bytes);
	out_printf(g->o, " + (threadIdx.x >> 5) * %lld;\n", (long long)fn->warp_bytes);
	out_printf(g->o, "const int ct_row = (int)(ct_at & %d);\n", dense_rows(fn) - 1);
	out_puts(g->o, "const unsigned int ct_row0 = ct_at - ct_row;\n");
	out_printf(g->o, "const int ct_nrow = ct_blocks - ct_row0 < %d ? (int)(ct_blocks - ct_row0) : %d;\n",
		dense_rows(fn), dense_rows(fn));
}

/* A warp's stretch of memory. */
typedef struct Run { Str from, row, bytes; int size, rounds; bool rows; } Run;

static Run run_of(Cu *g, const Op *op)
{
	const CuView *v = cu_val(g, ir_in(op, 0))->view;
	Run r = { .size = elem_bytes(v->elem), .row = v->ext[v->rank - 1], .rows = ir_int(op, AT_DENSE, 0) == DENSE_ROW };
	r.from = r.rows ? str_fmt("%s + (long long)ct_row0 * %s", v->base, r.row) : v->base;
	r.bytes = str_fmt(r.rows ? "ct_nrow * (int)%s * %d" : "(int)%s * %d", r.row, r.size);
	r.rounds = (int)((dense_bytes(g->fn, op) + VECTOR_BYTES * LANES - 1) / (VECTOR_BYTES * LANES));
	return r;
}

static bool asks(const Op *op) { return op->code == OP_LOAD && ir_int(op, AT_DENSE, 0); }
static bool writes(const Op *op) { return op_has(op, OPF_WRITE); }

static Str slot_of(const Op *op) { return cu_sum(cu_var("ct_rows"), cu_int(ir_int(op, AT_SLOT, 0))).text; }

/* Rows first: what comes by single elements is waited for. */
static void ask_for(Cu *g, const Op *first, bool rows)
{
	for (const Op *op = first; op && !writes(op); op = op->next) {
		if (!asks(op)) continue;
		Run r = run_of(g, op);
		if (r.rows != rows) continue;
		const char *nc = cu_val(g, ir_in(op, 0))->view->constant ? "nc" : "";
		cu_line(g, op);
		out_printf(g->o, "ct_dense_%s%s_b%d(%s, %s, %s, %d);\n", rows ? "get" : "same", nc, 8 * r.size, slot_of(op),
			r.from, r.bytes, r.rounds);
	}
}

/* Is it the first of those that are asked for together? */
static bool asks_first(const Op *op)
{
	for (const Op *o = op->prev; o && !writes(o); o = o->prev)
		if (asks(o)) return false;
	return true;
}

/* ct_p: where the row's element 0 of this thread lies in shared memory; ct_last: how many elements further on the row
 * ends. */
static CuMap print_place(Cu *g, const Op *op, const Val *data, const Run *r)
{
	CuMap m = cu_map(*data->lay, data->type->rank - 1);
	out_printf(g->o, "const int ct_c = (int)%s;\n", cu_map_thread(&m).text);
	Str at = cu_times(cu_var("ct_c"), r->size).text;
	if (r->rows)
		at = str_fmt("((unsigned long long)(%s) & %d) + %s", r->from, VECTOR_BYTES - 1,
			cu_times(cu_compound(str_fmt("ct_row * (int)%s + ct_c", r->row)), r->size).text);
	out_printf(g->o, "%sunsigned char *const ct_p = %s + %s;\n", op->code == OP_LOAD ? "const " : "", slot_of(op), at);
	out_printf(g->o, "int ct_last = (int)%s - ct_c;\nasm volatile(\"\" : \"+r\"(ct_last));\n", r->row);
	return m;
}

/* The condition that the element of a register is inside. */
static Str inside_text(const Cu *g, const Val *data, const CuMap *m, CuInt reg)
{
	const Fn *fn = g->fn;
	Str c = cu_map_reg(m, reg).text;
	bool sure = fn->row_sure && holds_row(fn, *data->lay);
	Str below = str_fmt("(int)%s < ct_last", c);
	return sure ? str_fmt("(%s < %d || %s)", cu_operand(reg), fn->row_sure, below) : below;
}

/* Elements that a thread accesses at once: neighbours, of a tile that is the same for all rows. */
static int taken_at_once(const Run *r, const Val *data)
{
	int n = VECTOR_BYTES / r->size, run = lay_run(*data->lay, data->type->rank - 1, NULL);
	while (n > 1 << run || regs_of(data) % n) n /= 2;
	return r->rows ? 1 : n;
}

/* There is room after the row's end for as many elements as the version has registers: they are
 * read, and not looked at. */
static void print_taken(Cu *g, const Val *v, const CuMap *m, int n, const Run *r)
{
	Elem e = v->type->elem;
	Str reg[VECTOR_BYTES];
	const char *type = words_type(n * r->size);
	CuInt b = cu_loop(g, "ct_i", regs_of(v) / n);
	if (n > 1 && regs_of(v) > n) {
		out_printf(g->o, "const int ct_b = %s;\n", cu_times(b, n).text);
		b = cu_var("ct_b");
	}
	for (int i = 0; i < n; i++) reg[i] = cu_at(g, v, cu_sum(b, cu_int(i)).text);
	out_printf(g->o, "const %s ct_w = *(const %s *)(ct_p + %s * %d);\n", type, type, cu_map_reg(m, b).text, r->size);
	words_unpack(g, e, n, "ct_w", reg);
	for (int i = 0; i < n; i++)
		out_printf(g->o, "%s = %s ? %s : ct_pad;\n", reg[i],
			inside_text(g, v, m, cu_sum(b, cu_int(i))), reg[i]);
	cu_end(g);
}

bool dense_load(Cu *g, const Op *op)
{
	const Val *r = op->out[0];
	if (!ir_int(op, AT_DENSE, 0)) return false;
	cu_val(g, r)->name = cu_name(g, r);
	cu_say(g, op);
	if (asks_first(op)) {
		ask_for(g, op, true);
		ask_for(g, op, false);
		out_puts(g->o, "ct_copied();\n__syncwarp();\n");
	}
	cu_declare(g, r);
	out_puts(g->o, "{\n");
	out_in(g->o);
	Run run = run_of(g, op);
	CuMap m = print_place(g, op, r, &run);
	out_printf(g->o, "const %s ct_pad = %s;\n", cu_type(r->type->elem), cu_scalar(g, ir_in(op, op->nin - 1)));
	cu_line(g, op);
	print_taken(g, r, &m, taken_at_once(&run, r), &run);
	cu_end(g);
	return true;
}

bool dense_store(Cu *g, const Op *op)
{
	const Val *x = ir_in(op, op->nin - 1);
	Elem e = x->type->elem;
	if (!ir_int(op, AT_DENSE, 0)) return false;
	cu_say(g, op);
	out_puts(g->o, "{\n");
	out_in(g->o);
	Run run = run_of(g, op);
	out_puts(g->o, "__syncwarp();\n");
	CuMap m = print_place(g, op, x, &run);
	CuInt b = cu_registers(g, *x->lay, 0);
	Str reg = cu_at(g, x, b.text), word = words_pack(g, e, 1, &reg);
	cu_line(g, op);
	out_printf(g->o, "if (%s) *(%s *)(ct_p + %s * %d) = %s;\n", inside_text(g, x, &m, b),
		words_type(run.size), cu_map_reg(&m, b).text, run.size, word);
	cu_end(g);
	out_puts(g->o, "__syncwarp();\n");
	cu_line(g, op);
	out_printf(g->o, "ct_dense_put_b%d(%s, %s, %s, %d);\n", 8 * run.size, run.from, slot_of(op), run.bytes,
		run.rounds);
	cu_end(g);
	return true;
}
