/* The text form of a module; ir_read.c reads it back, and reading then printing gives the same bytes.
 *
 *   module "gemm.tile"
 *   kernel gemm_f16 typed {
 *           source gemm
 *           generic BM = "128"
 *           dim m: i32
 *           dim k: i32 = 2 * m
 *           param a: in tensor<f16, [m, k]> strides [k, 1] right
 *           grid [cdiv(m, 128)]
 *           where m % 16 == 0 text "m % 16 == 0"
 *           hint warps(8, sm_90: 4)
 *           body (%a.0: tensor<f16, [_, _]>) {
 *                   %1 = bid {axis = 0} : i32
 *                   %acc.3 = for %0, %1, %1, %2 : tile<f32, [4, 8]> do (%i.4: i32, %5: tile<f32, [4, 8]>) {
 *                           yield %5
 *                   }
 *                   return
 *           }
 *   }
 *
 * A value is %name.id or %id; ids are printed as they are, so that two dumps can be compared. Operands come first, then
 * attributes in braces, result types after the colon, each with ` @ layout` when PLACED, then the regions. Names that
 * are no identifiers stand in quotes. After the kernels stand their versions, with the architectures that they serve,
 * their guard, and perhaps the time that a call takes (`time cdiv(m, 128) * k`):
 *
 *   version gemm_f16 "aligned" for sm_80, sm_90a {
 *           guard aligned(a, 16) && k % 8 == 0
 *           source gemm
 *           ...
 *   }
 *
 * Source places are comments, on request. What is missing in a half-built module prints as `?`,
 * which does not read back. */
#include "ir/ir.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir_text.h"
#include "layout/lay_text.h"

/* ---- words and numbers ---- */
static bool irt_is_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_') return false;
	while (isalnum((unsigned char)*s) || *s == '_') s++;
	return !*s;
}

static void print_string(Out *o, const char *s)
{
	out_raw(o, "\"", 1);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\') out_printf(o, "\\%c", c);
		else if (c == '\n') out_raw(o, "\\n", 2);
		else if (c == '\t') out_raw(o, "\\t", 2);
		else if (c < 0x20 || c == 0x7f) out_printf(o, "\\x%02x", c);
		else out_raw(o, s, 1);
	}
	out_raw(o, "\"", 1);
}

static void print_name(Out *o, Str s)
{
	if (!s) out_puts(o, "?");
	else if (irt_is_name(s)) out_puts(o, s);
	else print_string(o, s);
}

/* The shortest decimal that reads back. tf32 is held as f32; narrower floats are doubles here. */
static Str float_text(Elem e, double f)
{
	char buf[64];
	bool single = e == EL_F32 || e == EL_TF32;
	if (isnan(f)) return str_intern("nan");
	if (isinf(f)) return str_intern(f < 0 ? "-inf" : "inf");
	if (single && (double)(float)f != f) single = false;
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(buf, sizeof buf, "%.*g", digits, f);
		if (single ? strtof(buf, NULL) == (float)f : strtod(buf, NULL) == f) break;
	}
	if (!strpbrk(buf, ".e")) strcat(buf, ".0");
	return str_intern(buf);
}

Str ir_num_text(Elem e, Num n)
{
	if (elem_is_any_float(e)) return float_text(e, n.f);
	if (elem_is_ptr(e) && n.i == 0) return str_intern("null");
	if (e == EL_BOOL && (n.i == 0 || n.i == 1)) return str_intern(n.i ? "true" : "false");
	if (e == EL_U64) return str_fmt("%" PRIu64, (uint64_t)n.i);
	return str_intern(str_i64(n.i));
}

static void print_sym(Out *o, const Sym *s)
{
	if (s) sym_print(o, s);
	else out_puts(o, "?");
}

static void print_syms(Out *o, int n, const Sym *const *s)
{
	out_puts(o, "[");
	for (int i = 0; i < n; i++) {
		if (i) out_puts(o, ", ");
		print_sym(o, s[i]);
	}
	out_puts(o, "]");
}

static void print_lay(Out *o, const Lay *l)
{
	char buf[8192];
	lay_print(buf, sizeof buf, *l);
	out_puts(o, buf);
}

/* ---- operations ---- */
static void print_val(Out *o, const Val *v)
{
	out_puts(o, "%");
	if (!v) {
		out_puts(o, "?");
		return;
	}
	if (v->name) {
		print_name(o, v->name);
		out_puts(o, ".");
	}
	out_puts(o, str_i64(v->id));
}

static void print_type(Out *o, const Val *v)
{
	out_puts(o, v && v->type ? type_text(v->type) : "?");
	if (v && v->lay) {
		out_puts(o, " @ ");
		print_lay(o, v->lay);
	}
}

static void print_ints(Out *o, int n, const int64_t *v)
{
	out_puts(o, "[");
	for (int i = 0; i < n; i++) out_printf(o, "%s%" PRId64, i ? ", " : "", v[i]);
	out_puts(o, "]");
}

static void print_nums(Out *o, Elem e, int n, const Num *v)
{
	out_puts(o, "[");
	for (int i = 0; i < n; i++) {
		if (i) out_puts(o, ", ");
		out_puts(o, ir_num_text(e, v[i]));
	}
	out_puts(o, "]");
}

static void print_attr(Out *o, const Op *op, const IrAttr *a)
{
	Elem e = op->nout && op->out[0] && op->out[0]->type ? op->out[0]->type->elem : EL_I64;
	Str word;
	out_printf(o, "%s = ", attr_rows[a->key].name);
	switch (attr_rows[a->key].kind) {
	case AK_INT:
		out_puts(o, str_i64(a->u.i));
		break;
	case AK_INTS:
		print_ints(o, a->u.ints.n, a->u.ints.p);
		break;
	case AK_WORD:
		word = a->u.i >= 0 && a->u.i < INT32_MAX ? attr_word_text(a->key, (int)a->u.i) : NULL;
		out_puts(o, word ? word : "?");
		break;
	case AK_STR:
		print_string(o, a->u.s ? a->u.s : "");
		break;
	case AK_SYM:
		print_sym(o, a->u.sym);
		break;
	case AK_NUM:
		out_puts(o, ir_num_text(e, a->u.num));
		break;
	case AK_NUMS:
		print_nums(o, e, a->u.nums.n, a->u.nums.p);
		break;
	case AK_LAY:
		print_lay(o, a->u.lay);
		break;
	}
}

static void print_head(Out *o, const Op *op)
{
	for (int i = 0; i < op->nout; i++) {
		if (i) out_puts(o, ", ");
		print_val(o, op->out[i]);
	}
	if (op->nout) out_puts(o, " = ");
	out_puts(o, op->code < OP_COUNT ? op_rows[op->code].name : "?");
	for (int i = 0; i < op->nin; i++) {
		out_puts(o, i ? ", " : " ");
		print_val(o, op->in[i] ? ir_in(op, i) : NULL);
	}
	for (int i = 0; i < op->nattr; i++) {
		out_puts(o, i ? ", " : " {");
		if (op->attr[i].key < AT_COUNT) print_attr(o, op, &op->attr[i]);
		else out_puts(o, "?");
	}
	if (op->nattr) out_puts(o, "}");
	for (int i = 0; i < op->nout; i++) {
		out_puts(o, i ? ", " : " : ");
		print_type(o, op->out[i]);
	}
}

Str ir_op_text(const Op *op)
{
	Out *o = out_new();
	print_head(o, op);
	return out_take(o);
}

/* Places are comments: they are not read back. In a complete text they are lines of the sources
 * that stand before all. */
static bool with_places;
static int *file_number;        /* by Src.index; NULL: the text is not complete */

static void print_place(Out *o, Span at)
{
	if (!with_places || !src_of(at)) return;
	Place p = src_place(at.lo);
	out_printf(o, " // loc(%u:%u)", (unsigned)p.line, (unsigned)p.col);
}

static void print_block(Out *o, const IrBlock *b, Span at);

static void print_line(Out *o, Span at)
{
	if (!file_number || !src_of(at)) return;
	Place p = src_place(at.lo);
	out_printf(o, " at %d:%u", file_number[p.src->index], (unsigned)p.line);
}

static void print_op(Out *o, const Op *op)
{
	print_head(o, op);
	print_line(o, op->span);
	for (int i = 0; i < op->nregion; i++) {
		out_puts(o, " do ");
		print_block(o, op->region[i], i ? (Span){ 0, 0 } : op->span);
	}
	if (!op->nregion) print_place(o, op->span);
	out_puts(o, "\n");
}

/* (arguments) { operations }, without a line end. */
static void print_block(Out *o, const IrBlock *b, Span at)
{
	for (int i = 0; i < b->args.n; i++) {
		out_puts(o, i ? ", " : "(");
		print_val(o, b->args.p[i]);
		out_puts(o, ": ");
		print_type(o, b->args.p[i]);
	}
	out_puts(o, b->args.n ? ") {" : "{");
	print_place(o, at);
	out_puts(o, "\n");
	out_in(o);
	for (const Op *op = b->first; op; op = op->next) print_op(o, op);
	out_off(o);
	out_puts(o, "}");
}

/* ---- what kernels and entries share ---- */
static void print_doc(Out *o, Str doc)
{
	if (!doc) return;
	out_puts(o, "doc ");
	print_string(o, doc);
	out_puts(o, "\n");
}

/* name: in tensor<f32, [n]> strides [1] right */
static void print_param(Out *o, const IrParam *p)
{
	static const char *const modes[] = { "in", "out", "inout" };
	print_name(o, p->name);
	out_puts(o, ": ");
	if (p->is_tensor) {
		out_printf(o, "%s tensor<%s, ", modes[p->mode], elem_name(p->elem));
		print_syms(o, p->rank, p->extent);
		out_puts(o, "> strides ");
		print_syms(o, p->rank, p->stride);
		out_printf(o, " %s", irt_layouts[p->layout]);
		if (p->pad) out_printf(o, " pad %" PRId64, p->pad);
		if (p->zeroed) out_puts(o, " zeroed");
	} else {
		out_puts(o, elem_name(p->elem));
	}
	if (p->doc) {
		out_puts(o, " doc ");
		print_string(o, p->doc);
	}
	out_puts(o, "\n");
}

const char *const irt_layouts[5] = { "right", "left", "right_padded", "left_padded", "strided" };

static void print_dim(Out *o, const IrDim *d)
{
	out_puts(o, d->is_stride ? "stride " : "dim ");
	print_name(o, d->name);
	out_printf(o, ": %s", elem_name(d->elem));
	if (d->def) {
		out_puts(o, " = ");
		print_sym(o, d->def);
	}
	out_puts(o, "\n");
}

static void print_where(Out *o, const IrWhere *w)
{
	out_puts(o, "where ");
	print_sym(o, w->cond);
	if (w->of_type) out_puts(o, " of_type");
	if (w->text) {
		out_puts(o, " text ");
		print_string(o, w->text);
	}
	out_puts(o, "\n");
}

/* ---- kernels ---- */
static void print_hint(Out *o, const Hint *h)
{
	out_puts(o, "hint ");
	print_name(o, h->name);
	out_puts(o, "(");
	for (int i = 0; i < h->n; i++) {
		if (i) out_puts(o, ", ");
		if (h->v[i].arch) {
			print_name(o, h->v[i].arch);
			out_puts(o, ": ");
		}
		out_puts(o, str_i64(h->v[i].value));
	}
	out_puts(o, ")\n");
}

static void print_steps(Out *o, const Steps *s)
{
	out_puts(o, "steps");
	for (int i = 0; i < s->fns.n; i++) {
		out_puts(o, i ? ", " : " ");
		print_name(o, s->fns.p[i]->name);
	}
	out_puts(o, " guard ");
	print_sym(o, s->guard);
	out_puts(o, " gain ");
	print_sym(o, s->gain);
	if (s->arch) out_printf(o, " on %d", s->arch);
	if (s->clear) {
		out_printf(o, " clear %d by ", s->clears);
		print_name(o, s->clear->name);
	}
	out_puts(o, "\n");
}

const FnFlag irt_fn_flags[FN_FLAGS] = {
	{ "aligned", offsetof(Fn, aligned) }, { "by_element", offsetof(Fn, by_element) },
		{ "alternate", offsetof(Fn, alternate) },
	{ "regrouped", offsetof(Fn, regrouped) }, { "by_warp", offsetof(Fn, by_warp) }, { "fewer", offsetof(Fn, fewer) },
	{ "short_rows", offsetof(Fn, short_rows) }, { "warp_rows", offsetof(Fn, warp_rows) },
	{ "row_pads", offsetof(Fn, row_pads) }, { "stream_k", offsetof(Fn, stream_k) },
	{ "brief", offsetof(Fn, brief) },
};

static bool irt_fn_flag(const Fn *fn, int i) { return *(const bool *)((const char *)fn + irt_fn_flags[i].offset); }

/* rows 12 [n] holds 8 of 4 sure 4: of 2^12 elements, in 8 of 2^4 registers, 4 of them wholly inside; few 4: where
 * rows share thread blocks, 4 of them may do; from 1: short rows have 2^1 lanes or more; peeled: how. See Fn. */
static void print_rows(Out *o, const Fn *fn)
{
	out_printf(o, "rows %d ", fn->row_log2);
	print_syms(o, fn->below.n, fn->below.p);
	out_printf(o, " holds %d of %d sure %d", fn->row_regs, fn->row_regs_log2, fn->row_sure);
	if (fn->row_few) out_printf(o, " few %d", fn->row_few);
	if (fn->lanes_least) out_printf(o, " from %d", fn->lanes_least);
	out_puts(o, "\n");
	if (!fn->peel_line) return;
	out_printf(o, "peeled %d apart %d stage %" PRId64 "\n", fn->peel_line, fn->peel_apart, fn->stage_at);
}

/* m: NULL: without what the module says of it. */
static void print_fn_head(Out *o, const Module *m, const Fn *fn)
{
	out_puts(o, "source ");
	print_name(o, fn->source_name);
	out_puts(o, "\n");
	print_doc(o, fn->doc);
	for (int i = 0; i < fn->generics.n; i++) {
		out_puts(o, "generic ");
		print_name(o, fn->generics.p[i].name);
		out_puts(o, " = ");
		print_string(o, fn->generics.p[i].value);
		out_puts(o, "\n");
	}
	for (int i = 0; i < fn->dims.n; i++) print_dim(o, &fn->dims.p[i]);
	for (int i = 0; i < fn->params.n; i++) {
		out_puts(o, "param ");
		print_param(o, &fn->params.p[i]);
	}
	out_puts(o, "grid ");
	print_syms(o, fn->ngrid, fn->grid);
	out_puts(o, "\n");
	if (ir_sweeps(fn)) {
		out_puts(o, "sweep");
		for (int i = 0; i < fn->ngrid; i++) out_printf(o, " %d", fn->sweep[i]);
		out_puts(o, "\n");
	}
	for (int i = 0; i < fn->where.n; i++) print_where(o, &fn->where.p[i]);
	for (int i = 0; i < fn->hints.n; i++) print_hint(o, &fn->hints.p[i]);
	bool joined = false;
	for (int i = 0; i < 4; i++) joined |= fn->joined[i] != 0;
	if (joined) out_printf(o, "joined %d %d %d %d\n", fn->joined[0], fn->joined[1], fn->joined[2], fn->joined[3]);
	if (fn->plan) out_printf(o, "plan \"%x\"\n", (unsigned)fn->plan);
	if (fn->ordered) out_puts(o, "ordered\n");
	if (fn->no_contract) out_puts(o, "no_contract\n");
	const Steps *steps = m && fn->stage == STAGE_TYPED ? ir_steps(&m->steps, fn) : NULL;
	if (steps) print_steps(o, steps);
	if (fn->arch) out_printf(o, "arch %d\n", fn->arch);
	if (fn->specific) out_puts(o, "specific\n");
	if (fn->persistent) out_puts(o, "persistent\n");
	if (fn->warps) out_printf(o, "warps %d\n", fn->warps);
	if (fn->cluster) out_printf(o, "cluster %d\n", fn->cluster);
	if (fn->lanes) out_printf(o, "lanes %d\n", fn->lanes);
	if (fn->packed) out_printf(o, "packed %d\n", fn->packed);
	if (fn->shared_bytes) out_printf(o, "shared %" PRId64 "\n", fn->shared_bytes);
	if (fn->warp_bytes) out_printf(o, "warp_bytes %" PRId64 "\n", fn->warp_bytes);
	for (int i = 0; i < FN_FLAGS; i++)
		if (irt_fn_flag(fn, i)) out_printf(o, "%s\n", irt_fn_flags[i].name);
	if (fn->row_log2) print_rows(o, fn);
}

static void print_fn(Out *o, const Module *m, const Fn *fn)
{
	out_puts(o, "kernel ");
	print_name(o, fn->name);
	out_puts(o, fn->stage == STAGE_PLACED ? " placed {\n" : " typed {\n");
	out_in(o);
	print_fn_head(o, m, fn);
	out_puts(o, "body ");
	print_block(o, fn->body, fn->span);
	out_puts(o, "\n");
	out_off(o);
	out_puts(o, "}\n");
}

void ir_print_fn(Out *o, const Fn *fn) { print_fn(o, NULL, fn); }

/* ---- versions ---- */
static void print_arch(Out *o, IrArch a) { out_printf(o, "sm_%d%s", a.number, a.specific ? "a" : ""); }

static void print_resident(Out *o, const Module *m, const Version *v)
{
	int n = 0;
	for (int i = 0; i < m->archs.n && v->resident; i++)
		if (v->archs >> i & 1) out_printf(o, n ? ", %d" : "resident %d", v->resident[n]), n++;
	out_puts(o, n ? "\n" : "");
}

static void print_version(Out *o, const Module *m, const Version *v)
{
	out_puts(o, "version ");
	print_name(o, v->of->name);
	out_puts(o, " ");
	print_string(o, v->name);
	for (int i = 0, n = 0; i < m->archs.n; i++) {
		if (!(v->archs >> i & 1)) continue;
		out_puts(o, n++ ? ", " : " for ");
		print_arch(o, m->archs.p[i]);
	}
	out_puts(o, " {\n");
	out_in(o);
	out_puts(o, "guard ");
	print_sym(o, v->guard);
	if (v->time) out_puts(o, "\ntime ");
	if (v->time) print_sym(o, v->time);
	out_puts(o, "\n");
	print_resident(o, m, v);
	print_fn_head(o, m, v->fn);
	out_puts(o, "body ");
	print_block(o, v->fn->body, v->fn->span);
	out_puts(o, "\n");
	out_off(o);
	out_puts(o, "}\n");
}

static void print_versions(Out *o, const Module *m)
{
	for (int i = 0; i < m->versions.n; i++) {
		out_puts(o, "\n");
		print_version(o, m, &m->versions.p[i]);
	}
}

/* ---- entries ---- */
typedef struct EntryText { Out *o; const Entry *entry; VEC(const IrParam *) scratch; } EntryText;

/* Scratch tensors are numbered after the parameters, in text order. */
static void collect_scratch(EntryText *t, const HostVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const HostStmt *s = v->p[i];
		if (s->kind == HOST_SCRATCH) vec_push(A_UNIT, &t->scratch, &s->u.scratch.tensor);
		if (s->kind != HOST_IF) continue;
		collect_scratch(t, &s->u.ifs.then);
		collect_scratch(t, &s->u.ifs.other);
	}
}

static void print_ref(EntryText *t, int index)
{
	const Entry *e = t->entry;
	const IrParam *p = NULL;
	if (index >= 0 && index < e->params.n) p = &e->params.p[index];
	else if (index >= e->params.n && index - e->params.n < t->scratch.n) p = t->scratch.p[index - e->params.n];
	out_puts(t->o, "@");
	print_name(t->o, p ? p->name : NULL);
	out_printf(t->o, ".%d", index);
}

/* @name.index: a parameter or scratch tensor, with + and a number the view that begins that many elements on;
 * #1.5: a constant of the kernel parameter's type; else an expression. */
static void print_host_arg(EntryText *t, const HostArg *a, Elem e)
{
	if (a->is_tensor) {
		print_ref(t, a->tensor);
		if (!a->offset) return;
		out_puts(t->o, " + ");
		print_sym(t->o, a->offset);
	} else if (a->is_num) {
		out_printf(t->o, "#%s", ir_num_text(e, a->num));
	} else if (a->scalar >= 0 && !a->value) {
		print_ref(t, a->scalar);
	} else {
		print_sym(t->o, a->value);
	}
}

static void print_rules(Out *o, const IrWhereVec *where, int n, const LaunchRule *r)
{
	out_puts(o, " {\n");
	out_in(o);
	for (int i = 0; i < where->n; i++) print_where(o, &where->p[i]);
	for (int i = 0; i < n; i++) {
		out_puts(o, "when ");
		if (r[i].arch) print_name(o, r[i].arch);
		else out_puts(o, "any");
		if (r[i].cond) {
			out_puts(o, ", ");
			print_sym(o, r[i].cond);
		}
		out_printf(o, " use %d", r[i].variant);
		if (r[i].cost) {
			out_puts(o, " cost ");
			print_sym(o, r[i].cost);
		}
		out_puts(o, "\n");
	}
	out_off(o);
	out_puts(o, "}");
}

static void print_launch(EntryText *t, const HostStmt *s)
{
	Out *o = t->o;
	const Fn *fn = s->u.launch.variants.p[0].fn;
	out_puts(o, "launch ");
	for (int i = 0; i < s->u.launch.variants.n; i++) {
		if (i) out_puts(o, ", ");
		print_name(o, s->u.launch.variants.p[i].fn->name);
	}
	out_puts(o, " (");
	for (int i = 0; i < s->u.launch.args.n; i++) {
		if (i) out_puts(o, ", ");
		print_host_arg(t, &s->u.launch.args.p[i], fn->params.p[i].elem);
	}
	out_puts(o, ") dims ");
	print_syms(o, s->u.launch.dims.n, s->u.launch.dims.p);
	if (s->u.launch.tuned) out_puts(o, " tuned");
	if (s->u.launch.rules.n || s->u.launch.where.n)
		print_rules(o, &s->u.launch.where, s->u.launch.rules.n, s->u.launch.rules.p);
	out_puts(o, "\n");
}

static void print_host(EntryText *t, const HostVec *v);

static void print_host_if(EntryText *t, const HostStmt *s)
{
	out_puts(t->o, "if ");
	print_sym(t->o, s->u.ifs.cond);
	out_puts(t->o, " ");
	print_host(t, &s->u.ifs.then);
	if (s->u.ifs.other.n) {
		out_puts(t->o, " else ");
		print_host(t, &s->u.ifs.other);
	}
	out_puts(t->o, "\n");
}

static void print_host_stmt(EntryText *t, const HostStmt *s)
{
	switch (s->kind) {
	case HOST_SCRATCH:
		out_puts(t->o, "scratch ");
		print_param(t->o, &s->u.scratch.tensor);
		break;
	case HOST_LAUNCH:
		print_launch(t, s);
		break;
	case HOST_IF:
		print_host_if(t, s);
		break;
	case HOST_LET:
		out_puts(t->o, "let ");
		print_name(t->o, s->u.let.name);
		out_puts(t->o, " = ");
		if (s->u.let.value) print_sym(t->o, s->u.let.value);
		else out_puts(t->o, "multiprocessors");
		out_puts(t->o, "\n");
		break;
	}
}

static void print_host(EntryText *t, const HostVec *v)
{
	out_puts(t->o, "{\n");
	out_in(t->o);
	for (int i = 0; i < v->n; i++) print_host_stmt(t, v->p[i]);
	out_off(t->o);
	out_puts(t->o, "}");
}

static void print_entry(Out *o, const Entry *e)
{
	EntryText t = { .o = o, .entry = e };
	collect_scratch(&t, &e->body);
	out_puts(o, "entry ");
	print_name(o, e->name);
	out_puts(o, " {\n");
	out_in(o);
	print_doc(o, e->doc);
	for (int i = 0; i < e->dims.n; i++) print_dim(o, &e->dims.p[i]);
	for (int i = 0; i < e->params.n; i++) {
		out_puts(o, "param ");
		print_param(o, &e->params.p[i]);
	}
	for (int i = 0; i < e->where.n; i++) print_where(o, &e->where.p[i]);
	out_puts(o, "body ");
	print_host(&t, &e->body);
	out_puts(o, "\n");
	out_off(o);
	out_puts(o, "}\n");
}

/* Sources that places are in, with the number of their lines. */
static void note_file(void *ctx, Op *op)
{
	(void)ctx;
	const Src *f = src_of(op->span);
	if (f) file_number[f->index] = 0;
}

static void number_files(Out *o, const Module *m)
{
	file_number = NEW_ARRAY(A_TMP, int, src_count() + 1);
	for (int i = 0; i < src_count(); i++) file_number[i] = -1;
	for (int i = 0; i < m->fns.n; i++) ir_walk(m->fns.p[i]->body, note_file, NULL);
	for (int i = 0; i < m->versions.n; i++) ir_walk(m->versions.p[i].fn->body, note_file, NULL);
	for (int i = 0, n = 0; i < src_count(); i++) {
		const Src *f = src_at(i);
		if (file_number[i] < 0) continue;
		file_number[i] = n++;
		out_printf(o, "file %d ", file_number[i]);
		print_string(o, src_mapped(f->path));
		out_printf(o, " %u\n", (unsigned)src_place(f->base + f->len).line);
	}
}

void ir_print(Out *o, const Module *m)
{
	out_puts(o, "module ");
	print_string(o, m->path ? src_mapped(m->path) : "");
	out_puts(o, "\n");
	if (file_number) number_files(o, m);
	for (int i = 0; i < m->archs.n && m->versions.n; i++) {
		out_puts(o, i ? ", " : "archs ");
		print_arch(o, m->archs.p[i]);
	}
	out_puts(o, m->versions.n ? "\n" : "");
	for (int i = 0; i < m->fns.n; i++) {
		out_puts(o, "\n");
		print_fn(o, m, m->fns.p[i]);
	}
	print_versions(o, m);
	for (int i = 0; i < m->entries.n; i++) {
		out_puts(o, "\n");
		print_entry(o, m->entries.p[i]);
	}
}

void ir_print_complete(Out *o, const Module *m)
{
	ArenaMark mark = arena_mark(A_TMP);
	file_number = NEW(A_TMP, int);  /* number_files makes it */
	ir_print(o, m);
	file_number = NULL;
	arena_release(A_TMP, mark);
}

void ir_print_places(Out *o, const Module *m)
{
	with_places = true;
	ir_print(o, m);
	with_places = false;
}
