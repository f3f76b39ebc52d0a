/* The verifier: what every pass may rely on and must leave behind. This half checks structure: links, numbering,
 * definitions before uses, ends of blocks, control flow, layouts of tiles, kernels' heads, and entries; ir_check_op.c
 * checks the operations. Linear in the size of the module; recursion on the nesting of regions only. */
#include <string.h>

#include "base/diag.h"
#include "ir/ir_check.h"
#include "ir/ir_text.h"
#include "ir/rules.h"

enum { MOST_VERSIONS = 32 };

bool ir_trusts_protocols;

/* ---- symbolic integers ---- */
static bool is_declared(const Check *c, AtomKind kind, Str name)
{
	int n = c->fn ? c->fn->dims.n : c->entry->dims.n, np = c->fn ? c->fn->params.n : c->entry->params.n;
	const IrDim *d = c->fn ? c->fn->dims.p : c->entry->dims.p;
	const IrParam *p = c->fn ? c->fn->params.p : c->entry->params.p;
	for (int i = 0; i < n && kind != ATOM_PARAM; i++)
		if (d[i].name == name) return d[i].is_stride == (kind == ATOM_STRIDE);
	for (int i = 0; i < np && kind == ATOM_PARAM; i++)
		if (p[i].name == name) return !p[i].is_tensor && elem_is_integral(p[i].elem);
	return false;
}

static bool is_let(const HostVec *v, Str name)
{
	for (int i = 0; i < v->n; i++) {
		const HostStmt *s = v->p[i];
		if (s->kind == HOST_LET && s->u.let.name == name) return true;
		if (s->kind == HOST_IF && (is_let(&s->u.ifs.then, name) || is_let(&s->u.ifs.other, name))) return true;
	}
	return false;
}

static void chk_atom(void *ctx, const Sym *atom)
{
	Check *c = ctx;
	if (atom->kind != SYM_ATOM || atom->atom == ATOM_TENSOR) return;
	if (atom->atom == ATOM_BID || atom->atom == ATOM_VAL) {
		chk_fail(c, "`%s` is not known at the launch", sym_text(atom));
		return;
	}
	if (atom->atom == ATOM_BLOCKS || atom->atom == ATOM_PHASE) {
		if (!c->guard) chk_fail(c, "`%s` is known in guards of versions alone", sym_text(atom));
		return;
	}
	if (is_declared(c, atom->atom, atom->name)) return;
	if (!c->fn && atom->atom == ATOM_PARAM && is_let(&c->entry->body, atom->name)) return;
	chk_fail(c, "`%s` is not declared", atom->name);
}

bool chk_sym(Check *c, const Sym *s)
{
	NEED(s, "an expression is missing");
	sym_atoms(s, chk_atom, c);
	return !c->msg;
}

/* ---- values ---- */
typedef struct Scope {          /* what break, continue and leave mean here */
	const Op *loop, *scope;
	bool pure;              /* in the region of a reduction: none of them, no return */
} Scope;

typedef struct Body {
	Check c;
	const Val **by_id;      /* the value that has this number */
	bool *visible;
	int nval;
	const Lay *good;        /* the last layout that was found good: neighbours often share one */
} Body;

static bool chk_block(Body *k, IrBlock *b, Scope s);

static bool chk_tile_layout(Body *k, const Val *v)
{
	Check *c = &k->c;
	if (c->fn->stage == STAGE_TYPED) {
		NEED(v->type->kind <= TY_TOKEN && type_parts(v->type) == 1, "value %%%d has a type of placed kernels", v->id);
		NEED(!v->lay, "value %%%d has a layout before the kernel is placed", v->id);
		return true;
	}
	if (!type_is_tile(v->type) && v->type->kind != TY_ASYNC && v->type->kind != TY_FRAG) {
		NEED(!v->lay, "value %%%d is no tile and has a layout", v->id);
		return true;
	}
	bool known = v->lay && k->good && lay_eq(*v->lay, *k->good);
	NEED(known || (v->lay && lay_ok(*v->lay)), "value %%%d is a tile without a layout", v->id);
	NEED(lay_has_shape(*v->lay, v->type->rank, v->type->log2), "the layout of value %%%d has another shape", v->id);
	if (known) return true;
	NEED(lay_onto(*v->lay), "the layout of value %%%d leaves out elements", v->id);
	NEED(v->lay->in[HW_OFF] == 0, "the layout of value %%%d has offsets", v->id);
	NEED(1 << v->lay->in[HW_LANE] <= (c->fn->lanes ? c->fn->lanes : 32),
		"the layout of value %%%d has more lanes than the tile block", v->id);
	NEED(!c->fn->warps || 1 << v->lay->in[HW_WARP] <= c->fn->warps,
		"the layout of value %%%d has more warps than the kernel", v->id);
	k->good = v->lay;
	return true;
}

static bool define(Body *k, const Val *v)
{
	Check *c = &k->c;
	NEED(v && v->type, "a value without a type");
	NEED(v->id >= 0 && v->id < k->nval, "the number of value %%%d is outside the kernel's", v->id);
	NEED(!k->by_id[v->id], "the number %%%d is used twice", v->id);
	if (type_is_tile(v->type))
		NEED(rule_limits(v->type->elem, v->type->rank, v->type->log2) == RULE_OK, "value %%%d is too large", v->id);
	k->by_id[v->id] = v;
	k->visible[v->id] = true;
	return chk_tile_layout(k, v);
}

static void hide_block(Body *k, const IrBlock *b)
{
	for (int i = 0; i < b->args.n; i++) k->visible[b->args.p[i]->id] = false;
	for (const Op *op = b->first; op; op = op->next)
		for (int i = 0; i < op->nout; i++) k->visible[op->out[i]->id] = false;
}

static bool chk_uses(Body *k, const Op *op)
{
	Check *c = &k->c;
	for (int i = 0; i < op->nin; i++) {
		NEED(op->in[i], "operand %d is missing", i);
		const Val *v = ir_in(op, i);
		bool known = v->id >= 0 && v->id < k->nval && k->by_id[v->id] == v;
		NEED(known && k->visible[v->id], "operand %d is not defined before this use", i);
		NEED(v->type->kind != TY_TOKEN, "operand %d is a token", i);
	}
	return true;
}

/* ---- control flow ---- */
static bool same_vals(Check *c, int n, Val *const *v, int want_n, Val *const *want, const char *what)
{
	NEED(n == want_n, "%d %s given, %d needed", n, what, want_n);
	for (int i = 0; i < n; i++) {
		const Val *a = v[i];
		while (a->fwd) a = a->fwd;
		NEED(a->type == want[i]->type, "%s %d: `%s` given, `%s` needed", what, i, type_text(a->type),
			type_text(want[i]->type));
		if (a->lay && want[i]->lay) NEED(lay_eq(*a->lay, *want[i]->lay), "%s %d: the layout changes", what, i);
	}
	return true;
}

static bool is_bool_scalar(const Type *t)
{
	return type_is_scalar(t) && t->elem == EL_BOOL;
}

static bool chk_for(Check *c, const Op *op)
{
	NEED(op->nin >= 3 && op->nregion == 1, "bounds, a step and one region needed");
	const Type *t = chk_in(op, 0);
	NEED(type_is_scalar(t) && elem_is_int(t->elem), "the bounds must be integer scalars");
	NEED(chk_in(op, 1) == t && chk_in(op, 2) == t, "bounds and step must have one type");
	const IrBlock *b = op->region[0];
	NEED(b->args.n >= 1 && b->args.p[0]->type == t, "the counter must have the type of the bounds");
	return same_vals(c, op->nin - 3, op->in + 3, b->args.n - 1, b->args.p + 1, "initial values")
		&& same_vals(c, op->nout, op->out, b->args.n - 1, b->args.p + 1, "results");
}

static bool chk_while(Check *c, const Op *op)
{
	NEED(op->nregion == 2, "two regions needed");
	const IrBlock *test = op->region[0], *body = op->region[1];
	return same_vals(c, op->nin, op->in, test->args.n, test->args.p, "initial values")
		&& same_vals(c, op->nout, op->out, body->args.n, body->args.p, "results");
}

static bool chk_if(Check *c, const Op *op)
{
	NEED(op->nin == 1 && op->nregion == 2, "a condition and two regions needed");
	NEED(is_bool_scalar(chk_in(op, 0)), "the condition must be a bool scalar");
	NEED(!op->region[0]->args.n && !op->region[1]->args.n, "the regions have no arguments");
	return true;
}

static bool chk_regions(Body *k, const Op *op, Scope s)
{
	for (int i = 0; i < op->nregion; i++) {
		Check *c = &k->c;
		c->op = op;
		NEED(op->region[i] && op->region[i]->owner == op, "region %d belongs to another operation", i);
		if (!chk_block(k, op->region[i], s)) return false;
	}
	return true;
}

/* The types of the regions' arguments first, then the regions. */
static bool chk_region_op(Body *k, const Op *op, Scope s)
{
	Check *c = &k->c;
	for (int i = 0; i < op->nregion; i++)
		for (int j = 0; j < op->region[i]->args.n; j++)
			NEED(op->region[i]->args.p[j]->type, "an argument without a type");
	switch (op->code) {
	case OP_FOR:
		s.loop = op;
		return chk_for(c, op) && chk_regions(k, op, s);
	case OP_WHILE:
		s.loop = op;
		return chk_while(c, op) && chk_regions(k, op, s);
	case OP_IF:
		return chk_if(c, op) && chk_regions(k, op, s);
	case OP_SCOPE_:
		s.scope = op;
		NEED(op->nin == 0 && op->nregion == 1 && op->region[0]->args.n == 0,
			"one region without arguments, no operands");
		return chk_regions(k, op, s);
	default:
		if (op_has(op, OPF_GROUP)) return chk_group_region(c, op) && chk_regions(k, op, (Scope){ 0 });
		return chk_reduce_region(c, op) && chk_regions(k, op, (Scope){ .pure = true });
	}
}

/* ---- ends of blocks ---- */
static bool chk_yield(Check *c, const Op *op, const IrBlock *b)
{
	const Op *o = b->owner;
	NEED(o, "a kernel's body ends in `return`");
	switch (o->code) {
	case OP_IF: case OP_FOR: case OP_ROLE: case OP_ONE_WARP: case OP_ELECT:
		return same_vals(c, op->nin, op->in, o->nout, o->out, "values");
	case OP_WHILE:
		NEED(b == o->region[1], "the first region of a `while` ends in `condition`");
		return same_vals(c, op->nin, op->in, o->region[0]->args.n, o->region[0]->args.p, "values");
	case OP_SCOPE_:
		return chk_fail(c, "a `scope` ends in `leave`");
	default:
		NEED(op->nin == o->nout, "%d values given, %d needed", op->nin, o->nout);
		for (int i = 0; i < op->nin; i++) {
			const Type *t = chk_in(op, i);
			NEED(type_is_scalar(t) && t->elem == o->out[i]->type->elem,
				"value %d must be a scalar of the result's element type", i);
		}
		return true;
	}
}

static bool chk_condition(Check *c, const Op *op, const IrBlock *b)
{
	const Op *o = b->owner;
	NEED(o && o->code == OP_WHILE && b == o->region[0], "only the first region of a `while` ends in `condition`");
	NEED(op->nin >= 1 && is_bool_scalar(chk_in(op, 0)), "the condition must be a bool scalar");
	return same_vals(c, op->nin - 1, op->in + 1, o->nout, o->out, "values");
}

static bool chk_end(Check *c, const Op *op, const IrBlock *b, Scope s)
{
	bool test = b->owner && b->owner->code == OP_WHILE && b == b->owner->region[0];
	NEED(op->nout == 0 && op->nregion == 0, "an end of a block has no results and no regions");
	NEED(!test || op->code == OP_CONDITION, "the first region of a `while` ends in `condition`");
	NEED(b->owner || op->code == OP_RETURN, "a kernel's body ends in `return`");
	switch (op->code) {
	case OP_YIELD: return chk_yield(c, op, b);
	case OP_CONDITION: return chk_condition(c, op, b);
	case OP_BREAK:
		NEED(s.loop, "no loop to break");
		return same_vals(c, op->nin, op->in, s.loop->nout, s.loop->out, "values");
	case OP_CONTINUE:
		NEED(s.loop, "no loop to continue");
		if (s.loop->code == OP_FOR) return same_vals(c, op->nin, op->in, s.loop->nout, s.loop->out, "values");
		return same_vals(c, op->nin, op->in, s.loop->region[0]->args.n, s.loop->region[0]->args.p, "values");
	case OP_LEAVE:
		NEED(s.scope, "no scope to leave");
		return same_vals(c, op->nin, op->in, s.scope->nout, s.scope->out, "values");
	default:
		NEED(!s.pure, "a reduction cannot return from the kernel");
		NEED(op->nin == 0, "`return` has no values");
		return true;
	}
}

/* ---- operations and blocks ---- */
static bool chk_form(Check *c, const Op *op)
{
	OpForm form = op_rows[op->code].form;
	NEED(form != FORM_SUGAR, "the operation exists in the language only");
	NEED(form != FORM_PLACED || c->fn->stage == STAGE_PLACED, "the operation exists in placed kernels only");
	NEED(form != FORM_TYPED || c->fn->stage == STAGE_TYPED, "the operation does not exist in placed kernels");
	return true;
}

static bool chk_one(Body *k, const Op *op, const IrBlock *b, Scope s)
{
	Check *c = &k->c;
	unsigned flags = op_rows[op->code].flags;
	if (!chk_form(c, op) || !chk_uses(k, op)) return false;
	for (int i = 0; i < op->nout; i++)
		NEED(op->out[i] && op->out[i]->type && op->out[i]->def == op && op->out[i]->index == i,
			"result %d belongs elsewhere", i);
	if (!chk_attrs(c, op)) return false;
	NEED(!(flags & OPF_TERM) == (op->next != NULL), op->next ? "the block goes on after its end"
		: "the block has no end");
	if (flags & OPF_TERM) return chk_end(c, op, b, s);
	bool step = op->nregion && (op->code == OP_REDUCE_REGS || op->code == OP_REDUCE_LANES);
	NEED(flags & OPF_REGION || step || !op->nregion, "the operation has no regions");
	if (!(flags & OPF_REGION) && !chk_op(c, op)) return false;
	if ((flags & OPF_REGION || step) && !chk_region_op(k, op, s)) return false;
	c->op = op;
	for (int i = 0; i < op->nout; i++)
		if (!define(k, op->out[i])) return false;
	return true;
}

static bool chk_block(Body *k, IrBlock *b, Scope s)
{
	Check *c = &k->c;
	NEED(b->fn == c->fn, "a block belongs to another kernel");
	for (int i = 0; i < b->args.n; i++) {
		NEED(b->args.p[i] && b->args.p[i]->block == b && b->args.p[i]->index == i, "argument %d belongs elsewhere", i);
		if (!define(k, b->args.p[i])) return false;
	}
	NEED(b->first, "a block is empty: the end is missing");
	const Op *prev = NULL;
	for (const Op *op = b->first; op; prev = op, op = op->next) {
		c->op = op;
		NEED(op->code < OP_COUNT, "the operation does not exist");
		NEED(op->parent == b && op->prev == prev, "the links of the block are broken");
		if (!chk_one(k, op, b, s)) return false;
	}
	NEED(b->last == prev, "the links of the block are broken");
	hide_block(k, b);
	return true;
}

/* ---- heads of kernels and entries ---- */
static bool chk_param(Check *c, const IrParam *p, bool scratch)
{
	NEED(p->name, "a parameter without a name");
	if (!p->is_tensor) {
		NEED(p->elem != EL_VOID, "parameter `%s` has no type", p->name);
		return true;
	}
	NEED(p->rank >= 0 && p->rank <= TENSOR_RANK, "tensor `%s` has too many axes", p->name);
	NEED(!elem_is_ptr(p->elem) && p->elem != EL_VOID, "tensor `%s` has an impossible element type", p->name);
	NEED((unsigned)p->mode <= PM_INOUT && (unsigned)p->layout <= ML_STRIDED, "tensor `%s` has an impossible mode",
		p->name);
	NEED(!p->zeroed || scratch, "tensor `%s` is no scratch and cannot be zeroed", p->name);
	for (int i = 0; i < p->rank; i++) {
		NEED(p->extent[i] && p->stride[i], "tensor `%s` lacks an extent or a stride of axis %d", p->name, i);
		if (!chk_sym(c, p->extent[i]) || !chk_sym(c, p->stride[i])) return false;
	}
	return true;
}

static bool chk_head(Check *c, int ndim, const IrDim *dim, int nparam, const IrParam *param, int nwhere,
	const IrWhere *where)
{
	for (int i = 0; i < ndim; i++) {
		NEED(dim[i].name, "a dimension without a name");
		NEED(dim[i].elem == EL_I32 || dim[i].elem == EL_I64, "dimension `%s` must be i32 or i64", dim[i].name);
		for (int j = 0; j < i; j++) NEED(dim[j].name != dim[i].name, "dimension `%s` is declared twice", dim[i].name);
		if (dim[i].def && !chk_sym(c, dim[i].def)) return false;
	}
	for (int i = 0; i < nparam; i++)
		if (!chk_param(c, &param[i], false)) return false;
	for (int i = 0; i < nwhere; i++)
		if (!chk_sym(c, where[i].cond)) return false;
	return true;
}

static bool chk_args(Check *c, const Fn *fn)
{
	NEED(fn->body->args.n == fn->params.n, "one argument of the body for each parameter needed");
	for (int i = 0; i < fn->params.n; i++) {
		const IrParam *p = &fn->params.p[i];
		const Type *want = p->is_tensor ? type_view(p->elem, p->rank) : type_scalar(p->elem);
		NEED(fn->body->args.p[i]->type == want, "argument %d must be `%s`", i, type_text(want));
		NEED(p->val == fn->body->args.p[i], "parameter `%s` does not know its argument", p->name);
	}
	return true;
}

static bool chk_fn(Check *c, const Fn *fn)
{
	c->fn = fn;
	c->op = NULL;
	NEED(fn->name && *fn->name, "a kernel without a name");
	NEED(fn->ngrid >= 1 && fn->ngrid <= 4, "the grid needs 1 to 4 extents");
	NEED(fn->body && !fn->body->owner, "no body");
	if (!chk_head(c, fn->dims.n, fn->dims.p, fn->params.n, fn->params.p, fn->where.n, fn->where.p)) return false;
	for (int i = 0; i < fn->ngrid; i++)
		if (!chk_sym(c, fn->grid[i])) return false;
	unsigned swept = 0;
	for (int i = 0; i < fn->ngrid; i++) swept |= 1u << (fn->sweep[i] & 31);
	NEED(!ir_sweeps(fn) || swept == (1u << fn->ngrid) - 1, "the sweep takes each axis of the grid once");
	if (fn->stage == STAGE_PLACED && (!chk_thread_block(c, fn) || !chk_rows(c, fn))) return false;
	NEED(!fn->packed || !fn->cluster, "tile blocks of clusters share no thread block");
	NEED(!fn->packed || fn->warps == 1 || (!fn->shared_bytes && !fn->warp_bytes),
		"tile blocks of several warps that share a thread block have no shared memory");
	NEED(!fn->lanes || (fn->warps == 1 && fn->lanes < 32 && !(fn->lanes & (fn->lanes - 1))),
		"the lanes of a tile block are a power of two, or a warp");
	NEED(!fn->packed || fn->packed * (fn->lanes ? fn->lanes : 32) % 32 == 0, "a thread block consists of whole warps");
	for (int i = 0; i < fn->body->args.n; i++)
		NEED(fn->body->args.p[i]->type, "argument %d of the body has no type", i);
	if (!chk_args(c, fn)) return false;
	ArenaMark mark = arena_mark(A_TMP);
	Body k = { .c = *c, .nval = fn->nval };
	k.by_id = NEW_ARRAY(A_TMP, const Val *, fn->nval);
	k.visible = NEW_ARRAY(A_TMP, bool, fn->nval);
	bool ok = chk_block(&k, fn->body, (Scope){ 0 });
	*c = k.c;
	ok = ok && (fn->stage == STAGE_TYPED || ir_trusts_protocols || (chk_protocol(c, fn) && chk_copies(c, fn)));
	arena_release(A_TMP, mark);
	return ok;
}

/* ---- versions ---- */
static bool chk_version(Check *c, const Module *m, int at)
{
	const Version *v = &m->versions.p[at];
	uint32_t all = m->archs.n < 32 ? ((uint32_t)1 << m->archs.n) - 1 : UINT32_MAX;
	c->fn = v->fn;
	c->op = NULL;
	NEED(v->of && v->fn && v->fn->body && v->name && v->guard, "a version lacks its kernel, its name or its guard");
	NEED(v->fn->stage == STAGE_PLACED, "a version is not placed");
	NEED(v->archs && !(v->archs & ~all), "a version serves no architecture of the module");
	NEED(v->fn->params.n == v->of->params.n && v->fn->dims.n == v->of->dims.n,
		"a version has other parameters than its kernel");
	c->guard = true;
	bool known = chk_sym(c, v->guard) && (!v->time || chk_sym(c, v->time));
	c->guard = false;
	if (!known) return false;
	int same = 0;
	for (int i = at - 1; i >= 0 && m->versions.p[i].of == v->of; i--) {
		if (!(m->versions.p[i].archs & v->archs)) continue;
		same++;
		NEED(m->versions.p[i].name != v->name, "two versions `%s` for one architecture", v->name);
	}
	NEED(same < MOST_VERSIONS, "more than %d versions for an architecture", MOST_VERSIONS);
	return chk_version_device(c, v) && chk_fn(c, v->fn);
}

/* Versions of a kernel are neighbours, and each architecture has one that serves all calls. */
static bool chk_versions(Check *c, const Module *m)
{
	for (int i = 0; i < m->versions.n; i++)
		if (!chk_version(c, m, i)) return false;
	c->resident = 0;
	Versions of = { 0, 0 };
	for (int k = 0; k < m->fns.n && m->versions.n; k++) {
		uint32_t served = 0, all = 0;
		of = ir_versions(m, m->fns.p[k], of.first + of.n);
		for (int i = of.first; i < of.first + of.n; i++) {
			all |= m->versions.p[i].archs;
			if (sym_is_const(m->versions.p[i].guard, NULL)) served |= m->versions.p[i].archs;
		}
		c->fn = m->fns.p[k];
		c->op = NULL;
		NEED(of.n && served == all, "no version serves all calls");
	}
	return true;
}

/* ---- entries ---- */
/* parameters (NULL: a scalar), then scratch in text order */
typedef struct Tensors { VEC(const IrParam *) v; } Tensors;

static bool chk_host_arg(Check *c, const Tensors *t, const HostArg *a, const IrParam *p)
{
	const Entry *e = c->entry;
	bool pointer = !p->is_tensor && elem_is_ptr(p->elem);   /* takes a tensor's memory, too */
	NEED(a->is_tensor == p->is_tensor || (a->is_tensor && pointer), "parameter `%s` gets the wrong kind of argument",
		p->name);
	if (a->is_tensor) {
		NEED(a->tensor >= 0 && a->tensor < t->v.n && t->v.p[a->tensor], "parameter `%s` gets no tensor", p->name);
		const IrParam *x = t->v.p[a->tensor];
		if (pointer) {
			NEED(elem_ptr_to(x->elem) == p->elem && !a->offset, "parameter `%s` gets a tensor of another type",
				p->name);
			return true;
		}
		NEED(x->elem == p->elem && (a->offset || x->rank == p->rank), "parameter `%s` gets a tensor of another type",
			p->name);
		return !a->offset || chk_sym(c, a->offset);
	}
	if (a->is_num) {
		NEED(irt_num_fits(p->elem, a->num), "parameter `%s` gets a number of another type", p->name);
		return true;
	}
	if (a->value) {
		NEED(elem_is_integral(p->elem), "parameter `%s` is no integer and gets an expression", p->name);
		return chk_sym(c, a->value);
	}
	NEED(a->scalar >= 0 && a->scalar < e->params.n && !e->params.p[a->scalar].is_tensor,
		"parameter `%s` gets no scalar", p->name);
	NEED(e->params.p[a->scalar].elem == p->elem, "parameter `%s` gets a scalar of another type", p->name);
	return true;
}

static bool same_signature(const Fn *a, const Fn *b)
{
	if (a->params.n != b->params.n || a->dims.n != b->dims.n) return false;
	for (int i = 0; i < a->params.n; i++) {
		const IrParam *p = &a->params.p[i], *q = &b->params.p[i];
		if (p->is_tensor != q->is_tensor || p->elem != q->elem || p->rank != q->rank) return false;
	}
	for (int i = 0; i < a->dims.n; i++)
		if (a->dims.p[i].name != b->dims.p[i].name) return false;
	return true;
}

/* Entries launch kernels in about the order of the module: the search goes on where the last one ended. */
static bool is_fn_of(Check *c, const Fn *fn)
{
	const Module *m = c->m;
	for (int k = 0; k < m->fns.n; k++) {
		int i = (c->last_fn + k) % m->fns.n;
		if (m->fns.p[i] != fn) continue;
		c->last_fn = i;
		return true;
	}
	return false;
}

static bool chk_launch(Check *c, const Tensors *t, const HostStmt *s)
{
	NEED(s->u.launch.variants.n > 0, "a launch of nothing");
	const Fn *fn = s->u.launch.variants.p[0].fn;
	for (int i = 0; i < s->u.launch.variants.n; i++) {
		const Fn *v = s->u.launch.variants.p[i].fn;
		NEED(v && is_fn_of(c, v), "a launch of a kernel that is not in the module");
		NEED(same_signature(fn, v), "the variants `%s` and `%s` have different signatures", fn->name, v->name);
	}
	NEED(s->u.launch.args.n == fn->params.n, "the launch of `%s` needs one argument for each parameter", fn->name);
	for (int i = 0; i < fn->params.n; i++)
		if (!chk_host_arg(c, t, &s->u.launch.args.p[i], &fn->params.p[i])) return false;
	NEED(s->u.launch.dims.n == fn->dims.n, "the launch of `%s` needs one value for each dimension", fn->name);
	for (int i = 0; i < fn->dims.n; i++)
		if (!chk_sym(c, s->u.launch.dims.p[i])) return false;
	for (int i = 0; i < s->u.launch.where.n; i++)
		if (!chk_sym(c, s->u.launch.where.p[i].cond)) return false;
	for (int i = 0; i < s->u.launch.rules.n; i++) {
		const LaunchRule *r = &s->u.launch.rules.p[i];
		NEED(r->variant >= 0 && r->variant < s->u.launch.variants.n, "a rule uses a variant that does not exist");
		if (r->cond && !chk_sym(c, r->cond)) return false;
		if (r->cost && !chk_sym(c, r->cost)) return false;
	}
	return true;
}

static bool chk_host(Check *c, Tensors *t, const HostVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const HostStmt *s = v->p[i];
		bool ok = true;
		switch (s->kind) {
		case HOST_SCRATCH:
			NEED(s->u.scratch.tensor.is_tensor, "scratch `%s` is no tensor", s->u.scratch.tensor.name);
			ok = chk_param(c, &s->u.scratch.tensor, true);
			vec_push(A_UNIT, &t->v, &s->u.scratch.tensor);
			break;
		case HOST_LAUNCH:
			ok = chk_launch(c, t, s);
			break;
		case HOST_IF:
			ok = chk_sym(c, s->u.ifs.cond) && chk_host(c, t, &s->u.ifs.then) && chk_host(c, t, &s->u.ifs.other);
			break;
		case HOST_LET:
			NEED(s->u.let.name, "a local without a name");
			ok = !s->u.let.value || chk_sym(c, s->u.let.value);
			break;
		}
		if (!ok) return false;
	}
	return true;
}

static bool chk_entry(Check *c, const Entry *e)
{
	Tensors t = { { 0 } };
	c->fn = NULL;
	c->op = NULL;
	c->entry = e;
	NEED(e->name && *e->name, "an entry without a name");
	if (!chk_head(c, e->dims.n, e->dims.p, e->params.n, e->params.p, e->where.n, e->where.p)) return false;
	for (int i = 0; i < e->params.n; i++) vec_push(A_UNIT, &t.v, e->params.p[i].is_tensor ? &e->params.p[i] : NULL);
	return chk_host(c, &t, &e->body);
}

/* ---- the module ---- */
typedef struct Names { Str *slot; uint32_t cap; } Names;       /* a set of interned names, open addressing */

static Names names_for(int n)
{
	Names s = { NULL, 16 };
	while (s.cap < 2 * (uint32_t)n) s.cap *= 2;
	s.slot = NEW_ARRAY(A_TMP, Str, s.cap);
	return s;
}

static bool names_add(Names *s, Str name)       /* false: it was there */
{
	uint32_t h = str_hash(name) & (s->cap - 1);
	for (; s->slot[h]; h = (h + 1) & (s->cap - 1))
		if (s->slot[h] == name) return false;
	s->slot[h] = name;
	return true;
}

static bool chk_steps(Check *c, const Steps *s)
{
	const Fn *fn = c->fn = s->of;
	const IrParamVec *last = &s->fns.p[s->fns.n - 1]->params;
	for (int i = 0; i < s->fns.n; i++) {
		const Fn *step = s->fns.p[i];
		NEED(step->is_step && !ir_steps(&c->m->steps, step), "`%s` is a step of another kernel", step->name);
		NEED(step->params.n > fn->params.n && step->params.n == last->n,
			"a step takes what its kernel takes, and workspace");
		NEED(step->dims.n == fn->dims.n, "a step has the dimensions of its kernel");
	}
	for (int i = fn->params.n; i < last->n; i++) NEED(last->p[i].is_tensor, "what a step has in workspace is a tensor");
	NEED(!s->clear || s->clear->params.n == 1, "what clears the workspace takes nothing else");
	return chk_sym(c, s->guard) && chk_sym(c, s->gain);
}

static bool chk_all_steps(Check *c, const Module *m)
{
	for (int i = 0; i < m->steps.n; i++)
		if (!chk_steps(c, m->steps.p[i])) return false;
	return true;
}

static bool chk_fns(Check *c, const Module *m)
{
	for (int i = 0; i < m->fns.n; i++)
		if (!chk_fn(c, m->fns.p[i])) return false;
	return true;
}

static bool chk_lists(Check *c, const Module *m)
{
	Names fns = names_for(m->fns.n), entries = names_for(m->entries.n);
	c->op = NULL;
	for (int i = 0; i < m->fns.n; i++) {
		c->fn = m->fns.p[i];
		NEED(names_add(&fns, m->fns.p[i]->name), "another kernel has the same name");
	}
	for (int i = 0; i < m->entries.n; i++) {
		if (!chk_entry(c, m->entries.p[i])) return false;
		NEED(names_add(&entries, m->entries.p[i]->name), "another entry has the same name");
	}
	return true;
}

enum { CHECK_TYPED = 1, CHECK_VERSIONS = 2 };

/* What is wrong with the parts that are asked for, and with the lists. */
static const char *check(const Module *m, int parts, Span *at)
{
	Check c = { .m = m };
	ArenaMark mark = arena_mark(A_TMP);
	bool ok = chk_all_steps(&c, m) && (!(parts & CHECK_TYPED) || chk_fns(&c, m));
	if (ok && parts & CHECK_VERSIONS) ok = chk_versions(&c, m);
	if (ok) chk_lists(&c, m);
	arena_release(A_TMP, mark);
	if (at) *at = c.at;
	return c.msg;
}

const char *irt_check(const Module *m, Span *at)
{
	return check(m, CHECK_TYPED | CHECK_VERSIONS, at);
}

const char *ir_check(const Module *m)
{
	return check(m, CHECK_TYPED | CHECK_VERSIONS, NULL);
}

static void sound(const char *why, const char *after)
{
	if (why) bug("after %s: %s", after, why);
}

void ir_verify(const Module *m, const char *after)
{
	sound(check(m, CHECK_TYPED | CHECK_VERSIONS, NULL), after);
}

void ir_verify_versions(const Module *m, const char *after) { sound(check(m, CHECK_VERSIONS, NULL), after); }

void ir_verify_lists(const Module *m, const char *after) { sound(check(m, 0, NULL), after); }
