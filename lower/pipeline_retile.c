/* Tiles for tensor cores, from those of the author.
 *
 * A tile is work, not a schedule: neighbouring tile blocks are joined, or parted, until each has 64 rows and as many
 * columns as divide those of the plan (widen.c says which kernels allow it), and iterations of the loop are joined
 * until each brings rows of 128 bytes. Joined iterations may go on after the author's last: there both factors must
 * be zero, so it is proved that they end before that. */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/pipeline.h"
#include "lower/widen.h"

static bool find_again(Pipe *p, const LowerCx *cx)
{
	simplify_kernel(p->fn, cx);
	return pipe_find(p, p->fn);
}

/* ---- rows and columns ---- */
/* The axis of the sums along which the tiles of neighbours along an axis of the grid lie; -1:
 * none, or they cannot be joined. */
static int axis_of_sums(Pipe *p, Widen *w, int axis)
{
	return widen_plan(w, p->fn, axis) ? w->along[p->product[0].op->out[0]->id] : -1;
}

int pipe_grid_axis(Pipe *p, int of_sums)
{
	Widen w;
	for (int a = 0; a < p->fn->ngrid; a++)
		if (axis_of_sums(p, &w, a) == of_sums) return a;
	return -1;
}

static int extent_log2(const Pipe *p, int axis) { return p->product[0].op->out[0]->type->log2[axis]; }

/* Makes the extent of the sums 2^want along an axis, or leaves it. */
static bool fit_axis(Pipe *p, const LowerCx *cx, int of_sums, int want)
{
	Widen w;
	int by = want - extent_log2(p, of_sums), axis = pipe_grid_axis(p, of_sums);
	if (!by || axis < 0 || !widen_plan(&w, p->fn, axis)) return true;
	if (by < 0 && !widen_parts(&w, -by)) return true;
	if (by < 0) widen_divide(&w, -by);
	else widen_do(&w, by);
	return find_again(p, cx);
}

/* ---- depth ---- */
typedef struct Depth { const Pipe *p; bool ends; } Depth;

static const PipeLoad *load_of(const Pipe *p, const Op *op)
{
	for (int i = 0; i < p->loads; i++)
		if (p->load[i].op == op) return &p->load[i];
	return NULL;
}

static void check_end(ValSyms *b, Op *op)
{
	Depth *d = b->ctx;
	const PipeLoad *l = load_of(d->p, op);
	if (!l) return;
	const Sym *ext = valsym_extent(b, ir_in(op, 0), l->depth_axis);
	const Sym *step = sym_const(type_extent(op->out[0]->type, l->depth_axis));
	d->ends &= ext && facts_le(b->facts, ext, sym_mul(valsym(b, ir_in(d->p->loop, 1)), step));
}

static bool is_int(const Val *v, int64_t n)
{
	Num c;
	return ir_const_value(v, &c) && c.i == n;
}

static bool is_counted(const PipeLoad *l, const Val *counter)
{
	const IrAttr *steps = ir_attr(l->op, AT_STEPS), *offsets = ir_attr(l->op, AT_OFFSETS);
	int a = l->depth_axis;
	return ir_in(l->op, 1 + a) == counter && steps->u.ints.p[a] == type_extent(l->op->out[0]->type, a)
		&& ir_in(l->op, 2 - a) != counter && (!offsets || !offsets->u.ints.p[a]);
}

/* Iterations 0, 1 ... that take one tile after the other along the depth: they can be parted. */
static bool counts_iterations(const Pipe *p)
{
	const Val *counter = p->loop->region[0]->args.p[0];
	if (!is_int(ir_in(p->loop, 0), 0) || !is_int(ir_in(p->loop, 2), 1)) return false;
	for (const Op *op = p->loop->region[0]->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++)
			if (ir_in(op, i) == counter && !load_of(p, op)) return false;
	for (int i = 0; i < p->loads; i++)
		if (!is_counted(&p->load[i], counter)) return false;
	return true;
}

/* Those that go up to the end of both tensors can be joined. */
static bool joins_iterations(Pipe *p)
{
	Depth d = { p, true };
	if (!counts_iterations(p)) return false;
	valsyms_accesses(p->fn, check_end, &d);
	return d.ends;
}

static void deepen_type(Val *v, int axis, int by)
{
	uint8_t log2[2] = { v->type->log2[0], v->type->log2[1] };
	log2[axis] = (uint8_t)(log2[axis] + by);
	v->type = type_with_shape(v->type, 2, log2);
}

static void deepen(const PipeLoad *l, int by)
{
	int64_t steps[2];
	for (int a = 0; a < 2; a++) {
		steps[a] = ir_attr(l->op, AT_STEPS)->u.ints.p[a];
		if (a == l->depth_axis) steps[a] = by < 0 ? steps[a] >> -by : steps[a] << by;
	}
	ir_set_ints(l->op, AT_STEPS, 2, steps);
	deepen_type(l->op->out[0], l->depth_axis, by);
	for (Op *op = l->op->next; op; op = op->next)
		if (op->code == OP_PERMUTE && ir_in(op, 0) == l->op->out[0]) deepen_type(op->out[0], 1 - l->depth_axis, by);
}

static bool fit_depth(Pipe *p, const LowerCx *cx, int bytes)
{
	const PipeLoad *l = &p->load[0];
	int have = l->op->out[0]->type->log2[l->depth_axis] + elem_log2(l->op->out[0]->type->elem),
		by = log2_of(bytes) - have;
	if (!by || !(by < 0 ? counts_iterations(p) : joins_iterations(p))) return true;
	Builder b = build_before(p->loop);
	Val *iterations = ir_in(p->loop, 1), *n = ir_const_int(&b, iterations->type, INT64_C(1) << (by < 0 ? -by : by));
	p->loop->in[1] = ir_binary(&b, by < 0 ? OP_MUL : OP_CEILDIV, iterations->type, iterations, n);
	for (int i = 0; i < p->loads; i++) deepen(&p->load[i], by);
	return find_again(p, cx);
}

/* ---- groups and clusters ---- */
/* Which loads depend on the grid's axis along which neighbours have other elements of an axis of the sums. */
static void find_differing(const Pipe *p, int axis, bool differs[PIPE_LOADS])
{
	Widen w;
	for (int i = 0; i < p->loads; i++) differs[i] = true;
	if (axis < 0 || !widen_plan(&w, p->fn, axis)) return;
	for (int i = 0; i < p->loads; i++) differs[i] = w.along[p->load[i].op->out[0]->id] >= 0;
}

bool pipe_starts_with_constants(const Pipe *p)
{
	Num n;
	for (int i = 3; i < p->loop->nin; i++)
		if (!ir_const_value(ir_in(p->loop, i), &n)) return false;
	return true;
}

bool pipe_may_stream_k(const Pipe *p)
{
	Num n;
	for (int i = 3; i < p->loop->nin; i++)
		if (!ir_const_value(ir_in(p->loop, i), &n) || n.f != 0) return false;
	return is_int(ir_in(p->loop, 0), 0) && is_int(ir_in(p->loop, 2), 1);
}

/* Groups and the thread blocks of a cluster side by side share what does not depend on where they are. */
static bool join(Pipe *p, const PipePlan *plan)
{
	bool rows[PIPE_LOADS], cols[PIPE_LOADS];
	int axis[] = { pipe_grid_axis(p, 0), pipe_grid_axis(p, 1) };
	p->plan = *plan;
	p->reps = plan->cols ? plan->cols >> extent_log2(p, 1) : 1;
	if ((plan->groups > 1 && axis[0] < 0) || (p->reps > 1 && (axis[1] < 0 || !pipe_starts_with_constants(p))))
		return false;
	if (plan->cluster > 1 && axis[plan->axis] < 0) return false;
	find_differing(p, axis[0], rows);
	find_differing(p, axis[1], cols);
	for (int i = 0; i < p->loads; i++) {
		p->load[i].differs = plan->groups > 1 && rows[i];
		p->load[i].shared = plan->cluster > 1 && !(plan->axis ? cols : rows)[i];
		if (p->reps > 1 && cols[i] != p->load[i].second) return false;
	}
	p->row_axis = axis[0] >= 0 ? axis[0] : axis[1] >= 0 ? 1 - axis[1] : 0;
	p->col_axis = 1 - p->row_axis;
	return true;
}

/* Factors fill whole rows of a swizzle and wgmma's tiles. */
static bool fits(const Pipe *p)
{
	int cols = 0;
	for (int i = 0; i < p->products; i++) {
		const Type *t = p->product[i].op->out[0]->type;
		if (type_extent(t, 0) != p->plan.rows || t->log2[1] < 4) return false;
		cols += 1 << t->log2[1];
	}
	for (int i = 0; i < p->loads; i++) {
		const Type *t = p->load[i].op->out[0]->type;
		if (t->log2[p->load[i].depth_axis] < 4 || t->log2[0] > 8 || t->log2[1] > 8) return false;
		if (t->log2[p->load[i].depth_axis] != p->load[0].op->out[0]->type->log2[p->load[0].depth_axis]) return false;
	}
	return cols * p->reps <= PIPE_COLS;
}

/* The columns of the kernel's own tile: the largest power of two that divides those of the plan. */
static int own_cols_log2(const Pipe *p, const PipePlan *plan)
{
	int own = 0;
	while (plan->cols ? plan->cols % (2 << own) == 0 : p->products * (2 << own) <= PIPE_COLS) own++;
	return own;
}

bool pipe_retile(Pipe *p, const PipePlan *plan, const LowerCx *cx)
{
	int cols = own_cols_log2(p, plan);
	if (!fit_axis(p, cx, 0, log2_of(plan->rows)) || !fit_axis(p, cx, 1, cols)) return false;
	if (!fit_depth(p, cx, plan->depth)) return false;
	if (plan->cols && extent_log2(p, 1) != cols) return false;
	return join(p, plan) && fits(p);
}

int pipe_part(const Pipe *p, Pipe *part, const LowerCx *cx)
{
	Widen w;
	int by = extent_log2(p, 1) - PIPE_PART_LOG2;
	*part = *p;
	part->fn = copy_kernel(p->fn);
	if (by > 0 && widen_plan(&w, part->fn, p->col_axis) && widen_parts(&w, by)) widen_divide(&w, by);
	else by = 0;
	if (!find_again(part, cx)) bug("the parts of a pipeline are none");
	part->row_axis = p->row_axis;
	part->col_axis = p->col_axis;
	return by;
}
