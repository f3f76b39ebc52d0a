/* cache: keeps in shared memory what a later loop would load once more.
 *
 * Of two loops over the same range, the later one may repeat a load of the earlier one (pass strip makes such loops).
 * Each thread keeps its own part of what it loaded, slice by slice, in bytes of shared memory that no other thread
 * accesses, so no barrier is needed. The first slices are kept, as many as leave room for another thread block, or as
 * many as fit if that is too few; the rest is loaded twice.
 *
 * A load is repeated if everything it depends on is the same, apart from the loops' counters, and if nobody writes the
 * tensor in between, except that the later loop may store the slice after loading it. */
#include "base/diag.h"
#include "ir/fold.h"
#include "ir/rules.h"
#include "lower/placed.h"

enum {
	DEPTH_MOST = 8                  /* of what an index is computed with */
};

typedef struct Loop { Op *op; int64_t iterations; } Loop;  /* iterations: at most */
typedef struct Reload { Op *load; Loop in; } Reload;
/* bytes of one slice, of a thread block */
typedef struct Held { Op *load; Loop in; VEC(Reload) reloads; int64_t bytes; } Held;
typedef struct Keep { Fn *fn; VEC(Loop) loops; VEC(Held) held; } Keep;

/* A constant that v is not above: what is at most n without a sign is so in every type that has n. */
static bool known_bound(const Val *v, Num *n)
{
	const Val *to = rule_kept(v), *x = to;
	if (to->def && to->def->code == OP_CAST && elem_class_in(ir_in(to->def, 0)->type->elem, 1u << EC_UINT))
		x = ir_in(to->def, 0);
	const Val *least = x->def && x->def->code == OP_MIN ? ir_in(x->def, 1) : x;
	return ir_const_value(least, n) && (x == to || fold_fits(*n, x->type->elem, to->type->elem));
}

static bool counts_from_0(const Op *op, int64_t *iterations)
{
	Num lo, hi, step;
	if (op->code != OP_FOR || !ir_const_value(ir_in(op, 0), &lo) || !known_bound(ir_in(op, 1), &hi)) return false;
	if (!ir_const_value(ir_in(op, 2), &step) || lo.i || step.i != 1 || hi.i < 1) return false;
	*iterations = hi.i;
	return ir_in(op, 0)->type->elem == EL_I32;
}

/* ---- the same but for the counters ---- */
static bool same(const Val *x, const Val *y, const Loop *a, const Loop *b, int depth)
{
	const Op *p = x->def, *q = y->def;
	if (x == y || (x == a->op->region[0]->args.p[0] && y == b->op->region[0]->args.p[0])) return true;
	if (!p || !q || !depth || p->code != q->code || x->type != y->type || x->index != y->index) return false;
	if (p->nin != q->nin || p->nregion) return false;
	if (!op_has(p, OPF_PURE) || !ir_same_attrs(p, q)) return false;
	for (int i = 0; i < p->nin; i++)
		if (!same(ir_in(p, i), ir_in(q, i), a, b, depth - 1)) return false;
	return true;
}

static bool same_access(const Op *x, const Op *y, const Loop *a, const Loop *b, int operands)
{
	for (int i = 0; i < operands; i++)
		if (!same(ir_in(x, i), ir_in(y, i), a, b, DEPTH_MOST)) return false;
	const IrAttr *s = ir_attr(x, AT_STEPS), *t = ir_attr(y, AT_STEPS), *o = ir_attr(x, AT_OFFSETS),
		*p = ir_attr(y, AT_OFFSETS);
	const IrAttr *pair[2][2] = { { s, t }, { o, p } };
	for (int i = 0; i < 2; i++) {
		if (!pair[i][0] != !pair[i][1]) return false;
		for (int k = 0; pair[i][0] && k < pair[i][0]->u.ints.n; k++)
			if (pair[i][0]->u.ints.p[k] != pair[i][1]->u.ints.p[k]) return false;
	}
	return true;
}

static bool repeats(const Op *x, const Op *y, const Loop *a, const Loop *b)
{
	Num all;
	/* b may go further */
	if (ir_in(a->op, 1) != ir_in(b->op, 1) && !ir_const_value(ir_in(a->op, 1), &all)) return false;
	return y->code == OP_LOAD && x->nin == y->nin && x->out[0]->type == y->out[0]->type
		&& a->iterations == b->iterations && lay_eq(*x->out[0]->lay, *y->out[0]->lay)
		&& same_access(x, y, a, b, x->nin);
}

/* ---- who writes ---- */
static const Val *root_of(const Val *v)         /* NULL: memory of raw pointers, which may alias each other */
{
	v = ir_tensor(v);
	return v->type->kind == TY_VIEW ? v : NULL;
}

typedef struct Writes { const Val *root; const Op *but; bool found; } Writes;

/* After an access with a memory order stands what other tile blocks wrote. */
static void find_write(void *ctx, Op *op)
{
	Writes *w = ctx;
	w->found |= ir_int(op, AT_ORDER, 0) != 0;
	if (op == w->but || !op_has(op, OPF_WRITE) || !op->nin) return;
	const Val *v = ir_in(op, 0);
	bool view = v->type->kind == TY_VIEW, pointer = (type_is_scalar(v->type) || type_is_tile(v->type))
		&& elem_is_ptr(v->type->elem);
	w->found |= view ? root_of(v) == w->root : pointer && op->code != OP_PRINT;
}

/* The store of the slice that `load` loads, after it in its loop; NULL: there is none. */
static const Op *own_store(const Op *load, const Loop *in)
{
	for (const Op *op = load->next; op; op = op->next) {
		if (op->code != OP_STORE || ir_in(op, op->nin - 1)->type != load->out[0]->type) continue;
		if (same_access(load, op, in, in, load->nin - 1)) return op;
	}
	return NULL;
}

static bool written_between(const Held *h, const Op *reload, const Loop *in)
{
	const Val *view = ir_in(h->load, 0);
	if (memory_is_constant(h->load->parent->fn, view)) return false;
	const Val *root = root_of(view);
	Writes w = { root, root ? own_store(reload, in) : NULL, false };  /* elements of a span may lie in one place */
	for (Op *op = h->in.op; op; op = op->next) {
		find_write(&w, op);
		for (int k = 0; k < op->nregion; k++) ir_walk(op->region[k], find_write, &w);
		if (op == in->op) break;
	}
	return w.found;
}

/* ---- what is kept ---- */
static Held *first_of(Keep *k, const Op *load, const Loop *in)
{
	for (int i = 0; i < k->held.n; i++)
		if (k->held.p[i].in.op != in->op && repeats(k->held.p[i].load, load, &k->held.p[i].in, in))
			return &k->held.p[i];
	return NULL;
}

static void find_loads(Keep *k, const Loop *in)
{
	for (Op *op = in->op->region[0]->first; op; op = op->next) {
		if (op->code != OP_LOAD || !type_is_tile(op->out[0]->type) || one_thread_reads(op)) continue;
		Held *h = first_of(k, op, in);
		if (h) {
			Reload a = { op, *in };
			if (!written_between(h, op, in)) vec_push(A_TMP, &h->reloads, a);
			continue;
		}
		const Val *v = op->out[0];
		int threads = tile_threads(k->fn);
		Held one = { .load = op, .in = *in };
		one.bytes = ((int64_t)elem_bytes(v->type->elem) << v->lay->in[HW_REG]) * threads;
		vec_push(A_TMP, &k->held, one);
	}
}

static void drop_single(Keep *k)
{
	int n = 0;
	for (int i = 0; i < k->held.n; i++)
		if (k->held.p[i].reloads.n) k->held.p[n++] = k->held.p[i];
	k->held.n = n;
}

/* ---- writing ---- */
/* The first operation of the block that uses v, which an earlier one made. */
static Op *first_use(const Val *v)
{
	for (Op *op = v->def->next; op; op = op->next)
		for (int i = 0; i < op->nin; i++)
			if (ir_in(op, i) == v) return op;
	return NULL;
}

/* Before the first use, and not right after the load: other loads stand between, and who keeps has to wait. */
static Op *write_keep(const Held *h, int64_t slot, int64_t count)
{
	Op *use = first_use(h->load->out[0]);
	Builder b = use ? build_before(use) : build_after(h->load);
	Op *op = ir_op(&b, OP_KEEP, 2, (Val *[]){ h->in.op->region[0]->args.p[0], h->load->out[0] }, 0, NULL);
	ir_set_int(op, AT_SLOT, slot);
	ir_set_int(op, AT_NUMBER, count);
	return op;
}

static Val *kept(Builder *b, const Reload *a, int64_t slot)
{
	const Val *v = a->load->out[0];
	Val *r = ir_unary(b, OP_KEPT, v->type, a->in.op->region[0]->args.p[0]);
	ir_set_int(r->def, AT_SLOT, slot);
	ir_set_layout(r, *v->lay);
	return r;
}

/* The slice from shared memory, or loaded if its number is not below count. */
static void take_kept(const Reload *a, int64_t slot, int64_t count)
{
	Builder b = build_before(a->load);
	Val *old = a->load->out[0], *r;
	if (count >= a->in.iterations) {
		r = kept(&b, a, slot);
	} else {
		Val *k = a->in.op->region[0]->args.p[0];
		Val *few = ir_binary(&b, OP_LT, type_scalar(EL_BOOL), k, ir_const_int(&b, k->type, count));
		Op *choice = ir_op(&b, OP_IF, 1, &few, 1, &old->type);
		for (int i = 0; i < 2; i++) {
			Builder in = { b.fn, ir_region(choice), NULL, b.span };
			Val *v = i ? ir_op1(&in, OP_LOAD, old->type, a->load->nin, a->load->in) : kept(&in, a, slot);
			if (i) copy_attrs(v->def, a->load);
			/* not each iteration has a next one that loads */
			if (i && ir_int(a->load, AT_HELD, 0)) ir_drop_attr(v->def, AT_HELD);
			ir_set_layout(v, *old->lay);
			ir_op(&in, OP_YIELD, 1, &v, 0, NULL);
		}
		r = choice->out[0];
		ir_set_layout(r, *old->lay);
	}
	r->name = old->name;
	ir_replace(old, r);
	ir_remove(a->load);
}

/* How many slices of `bytes` are kept: all, or as many as there is room for beside the other thread blocks of the SM,
 * which small ones need. */
static int64_t slices_kept(const Fn *fn, int64_t iterations, int64_t bytes, int64_t most)
{
	int threads = tile_threads(fn),
		sharers = threads >= COST_KEEP_ALONE ? 1 : threads >= COST_KEEP_TWO ? 2 : 3;
	int64_t all = iterations * bytes;
	int64_t room = (most + COST_SHARED_OWN) / sharers - COST_SHARED_OWN - fn->shared_bytes;
	return room < 0 ? 0 : room >= all ? iterations : room / bytes;
}

static void keep_fn(Fn *fn, const LowerCx *cx)
{
	Keep k = { .fn = fn };
	Loop l;
	int64_t bytes = 0, iterations = 0;
	if (fn->warps < 2) return;              /* tile blocks of one warp share thread blocks */
	for (Op *op = fn->body->first; op; op = op->next) {
		l.op = op;
		if (counts_from_0(op, &l.iterations)) vec_push(A_TMP, &k.loops, l);
	}
	for (int i = 0; i < k.loops.n; i++) find_loads(&k, &k.loops.p[i]);
	drop_single(&k);
	for (int i = 0; i < k.held.n; i++) {
		bytes += k.held.p[i].bytes;
		if (k.held.p[i].in.iterations > iterations) iterations = k.held.p[i].in.iterations;
	}
	if (!bytes) return;
	fn->shared_bytes = (fn->shared_bytes + 15) / 16 * 16;
	int64_t count = slices_kept(fn, iterations, bytes, shared_room(cx, fn));
	for (int i = 0; i < k.held.n && count; i++) {
		Held *h = &k.held.p[i];
		int64_t n = count < h->in.iterations ? count : h->in.iterations;
		write_keep(h, fn->shared_bytes, n);
		for (int a = 0; a < h->reloads.n; a++) take_kept(&h->reloads.p[a], fn->shared_bytes, n);
		fn->shared_bytes += n * h->bytes;
	}
}

void pass_cache(Module *m, const LowerCx *cx)
{
	for (int i = 0; i < m->fns.n; i++) keep_fn(m->fns.p[i], cx);
}
