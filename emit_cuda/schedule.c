/* --explain-schedule: how each kernel was placed on threads, and the figures of that placement.
 *
 * Everything is read off the PLACED form. Exact are threads, shared bytes, layouts, sectors (for tiles whose rows begin
 * at 16-byte multiples and lie in sectors of their own) and bank conflicts. Estimates are registers, since nvcc decides
 * (placed/pressure.c), and bytes in flight, which count loads up to the first use of each in program order. */
#include <string.h>

#include "base/diag.h"
#include "base/show.h"
#include "emit_cuda/cu.h"
#include "emit_cuda/emit_cuda.h"
#include "placed/access.h"

enum { COLUMN = 14, CELLS = 9 };

typedef struct Row { Str cell[CELLS]; } Row;    /* NULL: none, or no more */
typedef VEC(Row) Rows;
typedef enum Way { BY_NAMES, BY_SHUFFLES, BY_SHARED, WAYS } Way;

typedef struct Sched {
	Out *o;
	const Fn *fn;
	Rows memory, moves;
	int ways[WAYS];         /* how many conversions go which way */
	const Op **store;       /* by Val id of a buffer: who fills it */
	int step;
	int *begin;             /* by Val id: the step of the walk that makes it */
	int *held;              /* by Val id: the value whose registers it is another name of, or itself */
	VEC(const Val *) tiles;
	VEC(const Op *) at;     /* by step */
} Sched;

static Str where(const Op *op)
{
	Place p = src_place(op->span.lo);
	Str at = str_fmt("%u:%u", (unsigned)p.line, (unsigned)p.col);
	return !p.src || p.src == src_at(0) ? at : str_fmt("%s:%s", shown(src_mapped(p.src->path)), at);
}

static int log2_regs(Lay l) { return lay_rank(lay_pick(l, 1u << HW_REG, ~0u)); }

static Str counted(int64_t n, const char *thing)
{
	return str_fmt("%lld %s%s", (long long)n, thing, n == 1 ? "" : "s");
}

/* How many places of level h lie along each axis: "1x32". */
static Str along(Lay l, Hw h)
{
	Out *o = out_new();
	for (int a = 0; a < l.naxis; a++)
		out_printf(o, "%s%d", a ? "x" : "", 1 << lay_rank(lay_pick(l, 1u << h, 1u << a)));
	Str r = str_intern(o->n ? o->p : "1");
	out_free(o);
	return r;
}

/* ---- memory ---- */
static Str tensor_name(const Val *v)
{
	while (!v->name && v->def && v->def->nin) v = ir_in(v->def, 0);
	return v->name ? v->name : "memory";
}

/* The axis along which a thread's accesses are wider than an element; -1: none. */
static int wide_axis(const Fn *fn, const Val *view, Lay l)
{
	for (int a = view->type->rank - 1; a >= 0; a--)
		if (l.out[a] && unit_axis(fn, view, a)) return a;
	return -1;
}

/* The sectors that lanes access at once: an access of a thread is aligned to its size, and so lies in one. Lanes that
 * differ along an axis whose stride is not known access different rows, which lie in sectors of their own. */
static int sectors(const Fn *fn, const Val *view, Lay l, int elem_size)
{
	struct { uint32_t row; int64_t sector; } seen[1 << LANES_LOG2];
	int n = 0;
	for (int i = 0; i < 1 << l.in[HW_LANE] && i < 1 << LANES_LOG2; i++) {
		uint32_t row = lay_apply(l, (uint32_t[HW_N]){ [HW_LANE] = (uint32_t)i });
		int64_t at = 0, stride;
		for (int a = 0; a < view->type->rank; a++) {
			int shift = lay_shift(l, a);
			uint32_t mask = (((uint32_t)1 << l.out[a]) - 1) << shift;
			if (!known_stride(fn, view, a, &stride)) continue;
			at += (int64_t)((row & mask) >> shift) * stride;
			row &= ~mask;
		}
		int64_t sector = at * elem_size / SECTOR;
		int k = 0;
		while (k < n && (seen[k].row != row || seen[k].sector != sector)) k++;
		if (k < n) continue;
		seen[n].row = row;
		seen[n++].sector = sector;
	}
	return n;
}

static Str number(int64_t n) { return str_fmt("%lld", (long long)n); }

/* The elements that a thread reads for tiles that overlap. */
static int patch_size(const Op *op)
{
	Patch p;
	return patch_of(*op->out[0]->lay, op->nout, ir_attr(op, AT_OFFSETS)->u.ints.p, &p) ? p.wanted : 0;
}

static void explain_access(Sched *s, const Op *op)
{
	bool patch = op->code == OP_LOADS, load = patch || op->code == OP_LOAD;
	const Val *v = load ? op->out[0] : ir_in(op, op->nin - 1);
	if (!type_is_tile(v->type)) return;
	int bytes = elem_bytes(v->type->elem), fast = wide_axis(s->fn, ir_in(op, 0), *v->lay);
	int vec = fast < 0 ? 0 : lay_run(*v->lay, fast, NULL), most = log2_of(VECTOR_BYTES / bytes);
	if (vec > most) vec = most;
	int moved = bytes << (vec + lay_rank(lay_pick(*v->lay, 1u << HW_LANE, ~0u)));
	Row r = { { where(op), patch ? "loads" : load ? "load" : "store", tensor_name(ir_in(op, 0)), type_text(v->type),
		number(patch ? patch_size(op) : 1 << log2_regs(*v->lay)),
		number(bytes << vec), along(*v->lay, HW_LANE), along(*v->lay, HW_WARP),
		str_fmt("%d / %d", sectors(s->fn, ir_in(op, 0), *v->lay, bytes), (moved + SECTOR - 1) / SECTOR) } };
	vec_push(A_TMP, &s->memory, r);
}

/* Accesses at computed places: what a thread has side by side is tried as one access. */
static void explain_elements(Sched *s, const Op *op)
{
	const Val *v = op->nout ? op->out[0] : ir_in(op, op->nin - 1);
	if (!type_is_tile(v->type) || !v->lay) return;
	Row r = { { where(op), op_rows[op->code].name, tensor_name(ir_in(op, 0)), type_text(v->type),
		number(1 << log2_regs(*v->lay)),
		number(elem_bytes(v->type->elem) << elements_plan(op, v).vec), along(*v->lay, HW_LANE),
		along(*v->lay, HW_WARP), "by index" } };
	vec_push(A_TMP, &s->memory, r);
}

/* ---- what moves between threads ---- */
/* Bank conflicts: the width of an access, and how many of a warp's share a bank at worst. */
static Str banks(Lay reg, Lay smem, Elem e)
{
	int vec = lay_vec(reg, smem), most = log2_of(VECTOR_BYTES / elem_bytes(e));
	if (vec > most) vec = most;
	int ways = vec < 0 ? -1 : lay_conflicts(reg, smem, elem_log2(e), vec);
	if (ways < 0) return str_intern("element by element");
	if (!ways) return str_fmt("of %s without bank conflicts", counted(elem_bytes(e) << vec, "byte"));
	return str_fmt("of %s with %d-way bank conflicts", counted(elem_bytes(e) << vec, "byte"), 1 << ways);
}

static void move_row(Sched *s, const Op *op, const char *what, const Type *t, Str how)
{
	Row r = { { where(op), what, t ? type_text(t) : "", how } };
	vec_push(A_TMP, &s->moves, r);
}

static const Lay *buffer_layout(const Val *buf) { return ir_attr(buf->def, AT_LAYOUT)->u.lay; }

static Str stored(const Sched *s, const Val *buf)
{
	const Op *st = s->store[buf->id];
	if (!st) bug("%%%d is read before it is stored", buf->id);
	const Val *v = ir_in(st, 1);
	return str_fmt("%lld bytes of shared memory: stores %s", (long long)type_bytes(buf->type),
		banks(*v->lay, *buffer_layout(buf), v->type->elem));
}

static const Type *tile_of(const Type *buffer) { return type_tile(buffer->elem, buffer->rank, buffer->log2); }

static Str shuffles(const Op *op)
{
	Lay c, l = *op->out[0]->lay;
	if (lay_pull(l, *ir_in(op, 0)->lay, &c) != CVT_SHFL) return str_intern("by shuffles");
	int choices = lay_rank(lay_pick(c, 1u << HW_LANE, 1u << LAY_HWAXIS(HW_REG)));
	return str_fmt("by %s a thread", counted(1 << (log2_regs(l) + choices), "shuffle"));
}

static void explain_move(Sched *s, const Op *op)
{
	const Val *r = op->nout ? op->out[0] : NULL;
	switch (op->code) {
	case OP_STORE_SHARED: s->store[ir_in(op, 0)->id] = op; return;
	case OP_CONVERT_REGS:
		s->ways[BY_NAMES]++;
		move_row(s, op, "convert", r->type, str_intern("by other names of registers"));
		return;
	case OP_CONVERT_LANES:
		s->ways[BY_SHUFFLES]++;
		move_row(s, op, "convert", r->type, shuffles(op));
		return;
	case OP_SLIDE: move_row(s, op, "shift", r->type, str_intern("by shuffles between neighbours")); return;
	case OP_LOAD_SHARED:
		s->ways[BY_SHARED]++;
		move_row(s, op, "convert", r->type, str_fmt("through %s, loads %s", stored(s, ir_in(op, 0)),
			banks(*r->lay, *buffer_layout(ir_in(op, 0)), r->type->elem)));
		return;
	case OP_MMA_SYNC:
		for (int i = 0; i < 2; i++)
			move_row(s, op, i ? "right factor" : "left factor", tile_of(ir_in(op, i)->type),
				str_fmt("for %s through %s", ir_attr(op, AT_SHAPE)->u.s, stored(s, ir_in(op, i))));
		return;
	case OP_EXCHANGE:
		move_row(s, op, "exchange", r->type, str_fmt("%lld bytes to each thread block of the cluster",
			(long long)scratch_bytes(op)));
		return;
	default:
		s->ways[BY_SHARED] += op->code == OP_CONVERT;
		if (scratch_bytes(op))
			move_row(s, op, op_rows[op->code].name, r ? r->type : NULL,
				str_fmt("in %lld bytes of shared memory", (long long)scratch_bytes(op)));
	}
}

/* ---- registers, and loads under way ---- */
static bool is_made_again(const Op *op)         /* from its operands, wherever it is used */
{
	return op->code == OP_CONST || op->code == OP_IOTA || op->code == OP_BROADCAST
		|| (op->code == OP_LITERAL && !op->nin);
}

static bool is_renaming(const Op *op)
{
	return op->code == OP_RESHAPE || op->code == OP_PERMUTE || op->code == OP_CONVERT_REGS || op->code == OP_OPAQUE;
}

static void begin(Sched *s, const Val *v)
{
	bool renamed = v->def && is_renaming(v->def) && type_is_tile(v->type);
	s->held[v->id] = renamed ? s->held[ir_in(v->def, 0)->id] : v->id;
	if (renamed) return;
	s->begin[v->id] = s->step;
	bool held = !v->def || !is_made_again(v->def);
	if (type_is_tile(v->type) && v->lay && held) vec_push(A_TMP, &s->tiles, v);
}

static void walk(Sched *s, const IrBlock *b);

static void walk_op(Sched *s, const Op *op)
{
	s->step++;
	vec_push(A_TMP, &s->at, op);
	for (int r = 0; r < op->nregion; r++) {
		for (int i = 0; i < op->region[r]->args.n; i++) begin(s, op->region[r]->args.p[i]);
		walk(s, op->region[r]);
	}
	for (int i = 0; i < op->nout; i++) begin(s, op->out[i]);
	if (op->code == OP_LOAD || op->code == OP_LOADS || op->code == OP_STORE) explain_access(s, op);
	else if (op_has(op, OPF_READ | OPF_WRITE) && op->nin && ir_in(op, 0)->type->kind == TY_VIEW)
		explain_elements(s, op);
	else explain_move(s, op);
}

static void walk(Sched *s, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) walk_op(s, op);
}

/* Tiles that overlap share the registers of their patch: the first stands for all. */
static bool in_patch(const Val *v) { return v->def && v->def->code == OP_LOADS; }

static int64_t load_bytes(const Val *v)
{
	if (in_patch(v)) return v == v->def->out[0] ? (type_bytes(v->type) >> v->lay->in[HW_REG]) * patch_size(v->def) : 0;
	return v->def && v->def->code == OP_LOAD ? type_bytes(v->type) : 0;
}

/* The greatest sum, over all steps, of the bytes of loads that are not used yet. */
static int64_t most_in_flight(const Sched *s, const int *first_use)
{
	int64_t *change = NEW_ARRAY(A_TMP, int64_t, s->step + 2), now = 0, most = 0;
	for (int i = 0; i < s->tiles.n; i++) {
		const Val *v = s->tiles.p[i];
		int begin = s->begin[v->id], end = first_use[v->id];
		if (end <= begin) continue;
		change[begin] += load_bytes(v);
		change[end] -= load_bytes(v);
	}
	for (int i = 0; i <= s->step; i++) {
		now += change[i];
		if (now > most) most = now;
	}
	return most;
}

static int *first_uses(const Sched *s)
{
	int *r = NEW_ARRAY(A_TMP, int, s->fn->nval + 1);
	for (int k = s->at.n - 1; k >= 0; k--)
		for (int i = 0; i < s->at.p[k]->nin && !is_renaming(s->at.p[k]); i++)
			r[s->held[ir_in(s->at.p[k], i)->id]] = k + 1;
	return r;
}

/* ---- a kernel ---- */
static bool has_warps_hint(const Fn *fn)
{
	for (int i = 0; i < fn->hints.n; i++)
		if (!strcmp(fn->hints.p[i].name, "warps")) return true;
	return false;
}

static Str why_threads(const Sched *s)
{
	const Type *most = NULL;
	for (int i = 0; i < s->tiles.n; i++) {
		const Type *t = s->tiles.p[i]->type;
		int more = most ? type_log2_size(t) - type_log2_size(most) : 1,
			bytes = most ? elem_bytes(t->elem) - elem_bytes(most->elem) : 0;
		if (!more) more = bytes ? bytes : strcmp(type_text(t), type_text(most));
		if (more > 0) most = t;
	}
	if (has_warps_hint(s->fn)) return str_intern("as @warps says");
	if (!most) return str_intern("no tiles");
	Threads n = fn_threads(s->fn);
	int each = type_log2_size(most) - n.lanes - n.warps;
	return str_fmt("%s of the largest tile, %s, for each", counted(each < 0 ? 1 : 1 << each, "element"),
		type_text(most));
}

static void line(Out *o, const char *what, Str text) { out_printf(o, "  %-*s %s\n", COLUMN, what, text); }

static void threads(const Sched *s)
{
	const Fn *fn = s->fn;
	int share = fn->packed ? fn->packed : 1;
	Str warps = fn->lanes ? str_fmt("%s of a warp", counted(fn->lanes, "lane")) : counted(fn->warps, "warp");
	line(s->o, "tile block", str_fmt("%s%s: %s", warps, fn->cluster
		? str_fmt(" over a cluster of %d thread blocks", fn->cluster) : "", why_threads(s)));
	line(s->o, "thread block", str_fmt("%s%s", counted(block_threads(fn), "thread"), share > 1 ? str_fmt(", up to %d "
		"tile blocks", share) : ""));
	line(s->o, "shared memory", str_fmt("%s a thread block", counted(fn->shared_bytes * share, "byte")));
}

/* Cells below each other; numbers, the columns from `right` up to `left`, to the right. */
static void table(Out *o, const char *title, const Rows *rows, Row head, int right, int left)
{
	int width[CELLS] = { 0 };
	for (int i = -1; i < rows->n; i++)
		for (int k = 0; k < CELLS; k++) {
			Str c = i < 0 ? head.cell[k] : rows->p[i].cell[k];
			if (c && (int)strlen(c) > width[k]) width[k] = (int)strlen(c);
		}
	out_printf(o, "  %s%s\n", title, rows->n ? "" : ": none");
	for (int i = head.cell[0] ? -1 : 0; i < rows->n; i++) {
		const Row *r = i < 0 ? &head : &rows->p[i];
		for (int k = 0; k < CELLS && r->cell[k]; k++) {
			bool last = k == CELLS - 1 || !r->cell[k + 1];
			out_printf(o, "%s%*s", k ? "  " : "    ", k >= right && k < left ? width[k] : last ? 0 : -width[k],
				r->cell[k]);
		}
		out_puts(o, "\n");
	}
}

static void conversions(const Sched *s)
{
	static const char *const how[] = { "by names of registers", "by shuffles", "through shared memory" };
	Out *t = out_new();
	for (int i = 0; i < WAYS; i++)
		if (s->ways[i]) out_printf(t, "%s%d %s", t->n ? ", " : "", s->ways[i], how[i]);
	line(s->o, "conversions", t->n ? str_intern(t->p) : "none");
	out_free(t);
}

/* ---- versions whose warps have roles ---- */
/* The buffers of a kernel's first ring; 0: it has none. */
static int buffers(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_ALLOC_RING) return op->out[0]->type->count;
	return 0;
}

static void pipelines(Out *o, const Module *m, const Fn *of)
{
	Row head = { { "version", "threads", "cluster", "buffers", "shared memory", "time of a call, of "
		"which the least is taken" } };
	Rows rows = { 0 };
	for (int i = 0; i < m->versions.n; i++) {
		const Version *v = &m->versions.p[i];
		if (v->of != of || !buffers(v->fn)) continue;
		Row r = { { v->name, str_i64(block_threads(v->fn)), str_i64(v->fn->cluster ? v->fn->cluster : 1),
			str_i64(buffers(v->fn)), str_i64(v->fn->shared_bytes), v->time ? sym_text(v->time) : NULL } };
		vec_push(A_TMP, &rows, r);
	}
	if (rows.n) table(o, "pipelines, for tensors that the copy engine can read", &rows, head, 1, 5);
}

/* The versions of a kernel for an architecture of those that `main` serves, and how many registers each is expected to
 * take: at most those that launch bounds leave. */
static void versions(Out *o, const Module *m, const Version *main)
{
	Row head = { { "version", "threads", "thread blocks", "registers" } };
	Rows rows = { 0 };
	int arch = 0;
	while (!(main->archs >> arch & 1)) arch++;
	for (int i = 0; i < m->versions.n; i++) {
		const Version *v = &m->versions.p[i];
		if (v->of != main->of || !(v->archs >> arch & 1)) continue;
		int n = 0;
		for (int a = 0; a < arch; a++) n += v->archs >> a & 1;
		int blocks = v->resident ? v->resident[n] : 0, threads = block_threads(v->fn);
		Str name = *v->name ? v->name : "-";
		Row r = { { name, str_i64(threads), blocks ? str_i64(blocks) : "-",
			str_i64(regs_taken(v->fn, threads, blocks)) } };
		vec_push(A_TMP, &rows, r);
		if (!rows_share(v->fn)) continue;
		Row few = { { str_fmt("%s, short rows", name), str_i64(COST_SHORT_THREADS), "-",
			str_i64(regs_taken(v->fn, COST_SHORT_THREADS, 0)) } };
		vec_push(A_TMP, &rows, few);
	}
	table(o, "versions", &rows, head, 1, 4);
}

static bool explain_kernel(Out *o, const Module *m, const Version *v, Str arches, Str more)
{
	(void)more;
	const Fn *fn = v->fn;
	static const Row head = { { "at", "access", "to", "tile", "elements a thread", "bytes at once", "lanes", "warps",
		"sectors / least" } };
	Sched s = { .o = o, .fn = fn, .store = NEW_ARRAY(A_TMP, const Op *, fn->nval + 1),
		.begin = NEW_ARRAY(A_TMP, int, fn->nval + 1), .held = NEW_ARRAY(A_TMP, int, fn->nval + 1) };
	int64_t blocks = fn->packed ? fn->packed : 1, parts = fn->cluster ? fn->cluster : 1;
	for (int i = 0; i < fn->body->args.n; i++) begin(&s, fn->body->args.p[i]);
	walk(&s, fn->body);
	out_printf(o, "kernel %s, %s\n", v->of->name, arches);
	threads(&s);
	Pressure p = pressure_of(fn);
	line(o, "registers", p.at ? str_fmt("about %d of a thread hold tiles at %s", p.words, where(p.at))
		: "none hold tiles");
	line(o, "in flight", str_fmt("%s of loads a thread block",
		counted(most_in_flight(&s, first_uses(&s)) * blocks / parts, "byte")));
	conversions(&s);
	table(o, "memory", &s.memory, head, 4, 6);
	table(o, "exchanges", &s.moves, (Row){ { NULL } }, CELLS, CELLS);
	versions(o, m, v);
	pipelines(o, m, v->of);
	return true;
}

void cuda_schedule(Out *o, const Module *m, const EmitOptions *opt)
{
	emit_kernels(o, m, opt, explain_kernel, NULL);
}
