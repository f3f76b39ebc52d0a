/* Roles, barriers, rings and mbarriers: who runs what, and where the things lie that groups hand to each other.
 *
 * A kernel with rings has shared memory from ct_base (a 32-bit address) on, at a multiple of 1024, the same in all
 * thread blocks of a cluster. Within a role ct_warp is the warp of its group, ct_tid the thread of its group. A cursor
 * is a ct_place: which buffer, and its phase's parity. A buffer's name is that of its address. */
#include <string.h>

#include "base/diag.h"
#include "base/machine.h"
#include "emit_cuda/group.h"

/* ---- roles ---- */
static int role_warps(const Op *role) { return (int)(ir_int(role, AT_WARPS, 4) * ir_int(role, AT_GROUPS, 1)); }

bool group_has_roles(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_ROLE) return true;
	return false;
}

static void find_group(void *found, Op *op)
{
	if (op_has(op, OPF_GROUP)) *(bool *)found = true;
}

bool group_needs_base(const Fn *fn)
{
	bool found = false;
	ir_walk(fn->body, find_group, &found);
	return found;
}

static bool is_role(const Op *op) { return op && op->code == OP_ROLE; }

/* Named barriers: 0 is __syncthreads. Each group of each role has one, and each role one for all its groups. */
static CuGroup group_of(const Op *role)
{
	CuGroup r = { .warps = (int)ir_int(role, AT_WARPS, 4), .groups = (int)ir_int(role, AT_GROUPS, 1), .barrier = 1 };
	for (const Op *op = role->prev; op; op = op->prev) {
		if (!is_role(op)) continue;
		r.first += role_warps(op);
		r.barrier += (int)ir_int(op, AT_GROUPS, 1) + 1;
	}
	return r;
}

/* Registers of a thread at the start: what launch bounds of one thread block leave (CUDA: in steps of 8). */
static int start_registers(const Cu *g)
{
	int n = machine_registers() / block_threads(g->fn) / 8 * 8;
	return n > 255 ? 255 : n;
}

static void print_region(Cu *g, const Op *op)
{
	Frame f = { g->frame, op, NULL };
	g->frame = &f;
	control_block(g, op->region[0]);
	g->frame = f.up;
}

/* A name, as far as it is one: it goes into a comment. */
static Str plain_name(Str name)
{
	Out *o = out_new();
	for (const char *p = name; *p; p++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ", *p)) out_raw(o, p, 1);
	return out_take(o);
}

/* Is a barrier one of several groups', chosen by the group's number? */
static bool is_of_group(const CuGroup *me, const Op *barrier)
{
	enum { GROUP };
	return me->warps > 1 && ir_int(barrier, AT_AMONG, 0) == GROUP;
}

/* What operations of a group name: its number, and the thread that ct_elect chooses. */
typedef struct Needs { const CuGroup *of; bool number, leader; } Needs;

static void find_needs(void *needs, Op *op)
{
	Needs *n = needs;
	bool waits = op->code == OP_GROUP_BARRIER || op->code == OP_GRID_SIGNAL || op->code == OP_GRID_AWAIT;
	n->number |= op->code == OP_GRID_BARRIER || (waits && is_of_group(n->of, op));
	n->leader |= op->code == OP_ELECT;
}

static Needs needs_of(const CuGroup *group, const Op *op)
{
	Needs n = { .of = group };
	ir_walk(op->region[0], find_needs, &n);
	return n;
}

static void print_leader(Cu *g, Needs needs)
{
	if (needs.leader) out_puts(g->o, "const unsigned int ct_leader = ct_elect();\n");
}

static void print_role(Cu *g, const Op *op)
{
	CuGroup me = group_of(op);
	int regs = (int)ir_int(op, AT_REGS, 0);
	const Val *w = op->region[0]->args.p[0];
	out_in(g->o);
	if (regs)
		out_printf(g->o, "asm volatile(\"setmaxnreg.%s.sync.aligned.u32 %d;\");\n",
			regs <= start_registers(g) ? "dec" : "inc", regs);
	me.number = cu_val(g, w)->name = cu_name(g, w);
	Str unit = me.first ? str_fmt("(ct_unit - %d)", me.first) : str_intern("ct_unit"),
		thread = me.first ? str_fmt("(threadIdx.x - %d)", me.first * 32) : str_intern("threadIdx.x");
	Needs needs = needs_of(&me, op);
	if (needs.number || g->uses[w->id]) out_printf(g->o, "const int %s = (int)%s / %d;\n", me.number, unit, me.warps);
	out_printf(g->o, "const unsigned int ct_tid = %s %% %d;\n", thread, me.warps * 32);
	out_printf(g->o, "const unsigned int ct_warp = __shfl_sync(0xffffffffu, ct_tid / 32, 0);\n");
	if (me.warps == 1) print_leader(g, needs);
	g->group = &me;
	print_region(g, op);
	g->group = NULL;
	out_off(g->o);
}

/* Consecutive roles are one chain of conditions, uniform over each warp; the last role has no condition. */
void group_roles(Cu *g, const Op *op)
{
	if (is_role(op->prev)) return;
	for (; is_role(op); op = op->next) {
		const char *before = is_role(op->prev) ? "} else " : "";
		CuGroup me = group_of(op);
		bool rest = is_role(op->prev) && !is_role(op->next);
		Str test = rest ? str_intern("") : str_fmt("if (ct_unit < %d) ", me.first + role_warps(op));
		out_printf(g->o, "%s%s{        // role %s\n", before, test, plain_name(ir_attr(op, AT_TEXT)->u.s));
		print_role(g, op);
	}
	out_puts(g->o, "}\n");
}

void group_one_warp(Cu *g, const Op *op)
{
	const CuGroup *outer = g->group;
	CuGroup me = { .warps = 1, .groups = 1, .barrier = -1 };
	out_puts(g->o, "if (ct_warp == 0) {\n");
	out_in(g->o);
	if (!outer || outer->warps > 1) print_leader(g, needs_of(&me, op));
	g->group = &me;
	print_region(g, op);
	g->group = outer;
	cu_end(g);
}

/* The one operation inside, if it is a statement of its own; NULL: there are others. */
static const Op *only_statement(const Op *op)
{
	const Op *first = op->region[0]->first;
	return first && first->code == OP_BULK_WAIT && first->next && !first->next->next ? first : NULL;
}

void group_elect(Cu *g, const Op *op)
{
	const CuGroup *me = g->group;
	const Op *only = only_statement(op);
	if (only) cu_line(g, only);
	out_printf(g->o, "if (%s) ", me && me->warps == 1 ? "ct_leader" : me ? "ct_tid == 0" : "threadIdx.x == 0");
	if (only) {
		tma_wait(g, only);
		return;
	}
	cu_open(g);
	print_region(g, op);
	cu_end(g);
}

/* ---- barriers ---- */
void group_barrier(Cu *g, const Op *op)
{
	enum { GROUP, ROLE, BLOCK };
	const CuGroup *me = g->group;
	int64_t among = ir_int(op, AT_AMONG, 0);
	if (among == BLOCK || !me) out_puts(g->o, "__syncthreads();\n");
	else if (me->warps == 1 && (among == GROUP || me->groups == 1)) out_puts(g->o, "__syncwarp();\n");
	else if (among == ROLE) out_printf(g->o, "ct_named_sync(%d, %d);\n", me->barrier + me->groups,
		me->groups * me->warps * 32);
	else out_printf(g->o, "ct_named_sync(%d + %s, %d);\n", me->barrier, me->number, me->warps * 32);
}

void group_cluster_barrier(Cu *g, const Op *op)
{
	enum { ACQUIRE_RELEASE = 3 };
	if (ir_int(op, AT_ORDER, 0) == ACQUIRE_RELEASE) out_puts(g->o, "ct_cluster_sync();\n");
	else out_puts(g->o, "ct_cluster_arrive();\nct_cluster_wait();\n");
}

/* ---- rings ---- */
static Smem group_smem(const Val *ring)
{
	const Type *t = ring->type;
	Smem s = { .elem_log2 = (uint8_t)elem_log2(t->elem), .fast = 1, .span = (uint8_t)ir_int(ring->def, AT_SWIZZLE, 0) };
	s.extent[1] = (int)type_extent(t, t->rank - 1);
	s.extent[0] = (int)(type_size(t) / s.extent[1]);
	return s;
}

/* What one operation alone needs has no variable. */
static Str define_u32(Cu *g, const Val *v, Str text)
{
	CuVal *r = cu_val(g, v);
	if (g->uses[v->id] == 1) return r->name = str_fmt("(%s)", text);
	r->name = cu_name(g, v);
	out_printf(g->o, "const unsigned int %s = %s;\n", r->name, text);
	return r->name;
}

static Str place_text(Cu *g, const Val *v)     /* of a cursor or a number */
{
	return v->type->kind == TY_CURSOR ? str_fmt("%s.i", cu_scalar(g, v)) : str_fmt("(unsigned int)%s", cu_scalar(g, v));
}

void group_alloc(Cu *g, const Op *op)
{
	int64_t slot = ir_int(op, AT_SLOT, 0);
	cu_val(g, op->out[0])->name = slot ? str_fmt("(ct_base + %lld)", (long long)slot) : str_intern("ct_base");
}

void group_slot(Cu *g, const Op *op)
{
	const Val *ring = ir_in(op, 0);
	int64_t bytes = type_bytes(ring->type);
	CuShared *s = NEW(A_TMP, CuShared);
	s->whole = group_smem(ring);
	cu_val(g, op->out[0])->shared = s;
	if (ring->type->count == 1) cu_val(g, op->out[0])->name = cu_scalar(g, ring);
	else define_u32(g, op->out[0], str_fmt("%s + %s * %lldu", cu_scalar(g, ring), place_text(g, ir_in(op, 1)),
		(long long)bytes));
}

static bool inside_pattern(const Op *op, const CuShared *s)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	int last = op->out[0]->type->rank - 1, slab = smem_slab_elems(s->whole);
	return steps->u.ints.p[last] % slab || (offsets && offsets->u.ints.p[last] % slab);
}

/* Rows step by whole groups of 8, columns by whole slabs: so a part is addressed like a buffer. */
void group_part(Cu *g, const Op *op)
{
	const CuShared *s = cu_val(g, ir_in(op, 0))->shared;
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	int rank = op->out[0]->type->rank, slab = smem_slab_elems(s->whole);
	int64_t unit = (int64_t)slab << s->whole.elem_log2;
	Str at = cu_scalar(g, ir_in(op, 0));
	if (inside_pattern(op, s))
		return;      /* only ldmatrix takes such a part: it has the element's place from the whole buffer */
	cu_val(g, op->out[0])->shared = (CuShared *)s;
	for (int a = 0; a < rank; a++) {
		int64_t step = steps->u.ints.p[a], off = offsets ? offsets->u.ints.p[a] : 0;
		int64_t bytes = unit;
		Num n;
		if (a == rank - 1) {
			bytes = smem_slab_bytes(s->whole);
			step /= slab;
			off /= slab;
		}
		for (int b = a + 1; b < rank - 1; b++) bytes *= type_extent(ir_in(op, 0)->type, b);
		if (ir_const_value(ir_in(op, 1 + a), &n)) off += n.i * step;
		else if (step) at = str_fmt("%s + (unsigned int)%s * %lldu", at, cu_scalar(g, ir_in(op, 1 + a)),
			(long long)(step * bytes));
		if (off) at = str_fmt("%s + %lldu", at, (long long)(off * bytes));
	}
	define_u32(g, op->out[0], at);
}

/* ---- cursors ---- */
void group_cursor(Cu *g, const Op *op)
{
	const Op *user = g->user[op->out[0]->id];
	if (op->code == OP_CURSOR && g->uses[op->out[0]->id] == 1 && user->code == OP_FOR) {
		cu_val(g, op->out[0])->name = str_intern("{ 0, 0 }");   /* where the loop declares its own */
		return;
	}
	Str n = cu_val(g, op->out[0])->name = cu_fresh(g, "at");
	if (op->code == OP_CURSOR) {
		out_printf(g->o, "const ct_place %s = { 0, 0 };\n", n);
		return;
	}
	out_printf(g->o, "const ct_place %s = ct_next_place(%s, %d);\n", n, cu_scalar(g, ir_in(op, 0)),
		op->out[0]->type->count);
}

void group_declare_cursor(Cu *g, const Val *v)
{
	Str n = cu_val(g, v)->name = cu_fresh(g, "at");
	out_printf(g->o, "ct_place %s;\n", n);
}

/* ---- mbarriers ---- */
static void init_map(void *ctx, Op *op)
{
	Cu *g = ctx;
	if (op->code == OP_TENSOR_MAP) out_printf(g->o, "ct_prefetch_map(&%s);\n", cu_scalar(g, op->out[0]));
}

void group_mbar_init(Cu *g, const Op *op)
{
	out_puts(g->o, "if (threadIdx.x == 0) {\n");
	out_in(g->o);
	for (const Op *p = op->prev; p; p = p->prev) init_map(g, (Op *)p);
	for (int i = 0; i < op->nin; i++) {
		const Op *bar = ir_in(op, i)->def;
		cu_each(g, "ct_i", bar->out[0]->type->count);
		out_printf(g->o, "ct_mbar_init(%s + 8 * ct_i, %lld);\n", cu_scalar(g, bar->out[0]),
			(long long)ir_int(bar, AT_NUMBER, 0));
	}
	out_puts(g->o, "ct_bar_ready();\n");
	out_off(g->o);
	out_puts(g->o, g->fn->cluster > 1 ? "}\nct_cluster_arrive();\nct_cluster_wait();\n" : "}\n__syncthreads();\n");
}

Str group_bar(Cu *g, const Op *op, int i)      /* the mbarrier of operands i (mbarriers) and i + 1 (cursor) */
{
	return str_fmt("%s + 8 * %s", cu_scalar(g, ir_in(op, i)), place_text(g, ir_in(op, i + 1)));
}

void group_mbar_wait(Cu *g, const Op *op)
{
	out_printf(g->o, "ct_mbar_wait(%s, %s.parity%s);\n", group_bar(g, op, 0), cu_scalar(g, ir_in(op, 1)),
		ir_int(op, AT_PHASE, 0) ? " ^ 1" : "");
}

/* One thread arrives at each thread block of the mask: the thread of that number. */
void group_mbar_arrive(Cu *g, const Op *op)
{
	enum { GROUP, WARP, THREAD };
	int64_t by = ir_int(op, AT_BY, 0);
	Str bar = group_bar(g, op, 0), who = by == WARP ? str_intern("ct_lane") : str_intern(g->group
		&& g->group->warps > 1 ? "ct_tid" : "ct_lane");
	Num mask;
	/* one lane arrives for its warp, after what the other lanes did */
	if (by == WARP || (by == GROUP && (!g->group || g->group->warps == 1))) out_puts(g->o, "__syncwarp();\n");
	if (op->nin < 3) {
		if (by != THREAD) out_printf(g->o, "if (%s == 0) ", who);
		out_printf(g->o, "ct_mbar_arrive(%s);\n", bar);
		return;
	}
	int all = (1 << g->fn->cluster) - 1;
	bool every = ir_const_value(ir_in(op, 2), &mask) && mask.i == all;
	Str to = by == THREAD ? cu_loop(g, "ct_i", g->fn->cluster).text : who;
	if (by != THREAD)
		out_printf(g->o, "if (%s < %d%s) ", to, g->fn->cluster,
			every ? "" : str_fmt(" && (%s >> %s & 1)", cu_scalar(g, ir_in(op, 2)), to));
	else if (!every) out_printf(g->o, "if (%s >> %s & 1) ", cu_scalar(g, ir_in(op, 2)), to);
	out_printf(g->o, "ct_mbar_arrive_at(%s, %s);\n", bar, to);
	if (by == THREAD) cu_end(g);
}

/* ---- tiles of a persistent kernel ---- */
/* Calls a function with the operands, and the number where there is one. */
static void print_order(Cu *g, const Op *op, const char *function, Str number)
{
	Str i = cu_val(g, op->out[0])->name = cu_name(g, op->out[0]);
	Str j = cu_val(g, op->out[1])->name = cu_name(g, op->out[1]);
	Out *in = out_new();
	for (int k = 0; k < op->nin; k++) out_printf(in, "%s, ", cu_scalar(g, ir_in(op, k)));
	out_printf(g->o, "int %s, %s;\n%s(%s%s&%s, &%s);\n", i, j, function, out_take(in), number, i, j);
}

void group_tile_order(Cu *g, const Op *op)
{
	print_order(g, op, "ct_tile_order", str_fmt("%lld, ", (long long)ir_int(op, AT_GROUPS, 1)));
}

void group_ragged_order(Cu *g, const Op *op) { print_order(g, op, "ct_ragged_order", ""); }

void group_stream_k(Cu *g, const Op *op)
{
	Out *in = out_new(), *to = out_new(), *names = out_new();
	for (int i = 0; i < op->nin; i++) out_printf(in, "%s%s", i ? ", " : "", cu_scalar(g, ir_in(op, i)));
	for (int i = 0; i < op->nout; i++) {
		Str n = cu_val(g, op->out[i])->name = cu_name(g, op->out[i]);
		out_printf(names, "%s%s", i ? ", " : "", n);
		out_printf(to, ", &%s", n);
	}
	out_printf(g->o, "int %s;\nct_stream_k(%s, %lld%s);\n", out_take(names), out_take(in),
		(long long)ir_int(op, AT_GROUPS, 1), out_take(to));
}

void group_number(Cu *g, const Op *op)
{
	Str n = cu_val(g, op->out[0])->name = cu_name(g, op->out[0]);
	if (op->code == OP_CLUSTER_RANK)
		out_printf(g->o, "const int %s = %s;\n", n, g->fn->cluster > 1 ? "(int)ct_cluster_rank()" : "0");
	else out_printf(g->o, "const int %s = (int)gridDim.x%s;\n", n, g->fn->cluster > 1
		? str_fmt(" / %d", g->fn->cluster) : "");
}

/* ---- the start of a kernel with roles ---- */
void group_begin(Cu *g)
{
	/* a name of its own: nvcc takes arrays of one name for one, whose alignment may not differ between kernels */
	out_puts(g->o, "extern __shared__ __align__(1024) unsigned char ct_rings[];\n");
	if (!group_has_roles(g->fn)) out_puts(g->o, "unsigned char *const ct_smem = ct_rings;\n");
	out_puts(g->o, "const unsigned int ct_base = ct_address(ct_rings);\n");
	out_puts(g->o, "const unsigned int ct_lane = threadIdx.x & 31, ct_warp = threadIdx.x >> 5;\n");
	if (!group_has_roles(g->fn)) return;
	out_puts(g->o, "const unsigned int ct_unit = __shfl_sync(0xffffffffu, threadIdx.x >> 5, 0);        // of the "
		"thread block, the same in a warp\n");
}
