/* Building, changing and walking Tile IR. Operations, values and blocks live in one arena (ir_home) and are freed with
 * it alone: a removed op stays readable, its links still point to where it was, and so a walk may go on from it.
 *
 * Replacing a value does not visit its uses. The old value forwards to the new one and ir_in follows; ir_number settles
 * all of it. Each step is linear in what it touches. */
#include "ir/ir.h"

#include <string.h>

#include "base/diag.h"
#include "base/hash.h"

static unsigned long edits;     /* values and operations that were made, moved, removed, replaced */
static Arena *home;             /* NULL: A_UNIT */

Arena *ir_home(void) { return home ? home : A_UNIT; }

void ir_set_home(Arena *a) { home = a; }

/* ---- making ---- */
Module *ir_module(Str path)
{
	Module *m = NEW(A_UNIT, Module);
	m->path = path;
	return m;
}

Fn *ir_fn(Str name, Span span)
{
	Fn *fn = NEW(A_UNIT, Fn);
	fn->name = fn->source_name = name;
	fn->span = span;
	fn->body = ir_block(fn, NULL);
	return fn;
}

IrBlock *ir_block(Fn *fn, Op *owner)
{
	IrBlock *b = NEW(ir_home(), IrBlock);
	b->fn = fn;
	b->owner = owner;
	return b;
}

static Val *new_val(Fn *fn, const Type *t, int index)
{
	Val *v = NEW(ir_home(), Val);
	edits++;
	v->type = t;
	v->id = fn->nval++;
	v->index = index;
	return v;
}

Val *ir_arg(IrBlock *b, const Type *t, Str name)
{
	Val *v = new_val(b->fn, t, b->args.n);
	v->block = b;
	v->name = name;
	vec_push(ir_home(), &b->args, v);
	return v;
}

static Val *settled(Val *v)
{
	Val *to = v;
	while (to->fwd) to = to->fwd;
	while (v->fwd) {        /* shorten the path, so that long chains cost their length once */
		Val *next = v->fwd;
		v->fwd = to;
		v = next;
	}
	return to;
}

static void link_before(Op *op, IrBlock *b, Op *before)
{
	edits++;
	op->parent = b;
	op->next = before;
	op->prev = before ? before->prev : b->last;
	*(op->prev ? &op->prev->next : &b->first) = op;
	*(before ? &before->prev : &b->last) = op;
}

Op *ir_op(Builder *b, OpCode code, int nin, Val *const *in, int nout, const Type *const *out)
{
	/* in one piece: there are many, and each piece has its gap */
	Op *op = arena_alloc(ir_home(), sizeof *op + sizeof(Val *) * ((size_t)nin + (size_t)nout));
	op->code = code;
	op->span = b->span;
	op->nin = nin;
	op->nout = nout;
	op->in = (Val **)(void *)(op + 1);
	op->out = op->in + nin;
	for (int i = 0; i < nin; i++) {
		if (!in[i]) bug("operand %d of `%s` is missing", i, op_rows[code].name);
		op->in[i] = settled(in[i]);
	}
	for (int i = 0; i < nout; i++) {
		op->out[i] = new_val(b->fn, out[i], i);
		op->out[i]->def = op;
	}
	link_before(op, b->block, b->before);
	return op;
}

Val *ir_op1(Builder *b, OpCode code, const Type *t, int nin, Val *const *in)
{
	return ir_op(b, code, nin, in, 1, &t)->out[0];
}

Val *ir_unary(Builder *b, OpCode code, const Type *t, Val *x)
{
	return ir_op1(b, code, t, 1, &x);
}

Val *ir_binary(Builder *b, OpCode code, const Type *t, Val *x, Val *y)
{
	return ir_op1(b, code, t, 2, (Val *[]){ x, y });
}

Val *ir_const_num(Builder *b, const Type *t, Num v)
{
	Val *r = ir_op1(b, OP_CONST, t, 0, NULL);
	ir_set_num(r->def, AT_VALUE, v);
	return r;
}

Val *ir_const_int(Builder *b, const Type *t, int64_t v)
{
	return ir_const_num(b, t, elem_is_any_float(t->elem) ? (Num){ .f = (double)v } : (Num){ .i = v });
}

Val *ir_launch(Builder *b, Elem e, const Sym *s)
{
	int64_t v;
	if (sym_is_const(s, &v)) return ir_const_int(b, type_scalar(e), v);
	Val *r = ir_op1(b, OP_LAUNCH, type_scalar(e), 0, NULL);
	ir_set_sym(r->def, AT_SYM, s);
	return r;
}

IrBlock *ir_region(Op *op)
{
	op->region = arena_grow(ir_home(), op->region, (size_t)op->nregion, (size_t)op->nregion + 1, sizeof *op->region);
	return op->region[op->nregion++] = ir_block(op->parent->fn, op);
}

/* ---- attributes ---- */
const IrAttr *ir_attr(const Op *op, AttrKey key)
{
	for (int i = 0; i < op->nattr; i++)
		if (op->attr[i].key == key) return &op->attr[i];
	return NULL;
}

int64_t ir_int(const Op *op, AttrKey key, int64_t dflt)
{
	const IrAttr *a = ir_attr(op, key);
	if (a) return a->u.i;
	return attr_rows[key].kind == AK_WORD ? 0 : dflt;
}

int ir_axis(const Op *op) { return (int)ir_int(op, AT_AXIS, 0); }

static bool ir_has_attr_default(AttrKey key, int64_t v)
{
	return attr_rows[key].kind == AK_WORD && v == 0;
}

static IrAttr *set_attr(Op *op, AttrKey key, AttrKind kind)
{
	AttrKind is = attr_rows[key].kind;
	if (is != kind && !(is == AK_WORD && kind == AK_INT)) bug("attribute `%s` is of another kind", attr_rows[key].name);
	int at = 0;
	while (at < op->nattr && op->attr[at].key < key) at++;
	if (at == op->nattr || op->attr[at].key != key) {
		op->attr = arena_grow(ir_home(), op->attr, (size_t)op->nattr, (size_t)op->nattr + 1, sizeof *op->attr);
		memmove(op->attr + at + 1, op->attr + at, (size_t)(op->nattr - at) * sizeof *op->attr);
		op->nattr++;
	}
	op->attr[at] = (IrAttr){ .key = key };
	return &op->attr[at];
}

static bool same_attr(const IrAttr *a, const IrAttr *b)
{
	if (a->key != b->key) return false;
	switch (attr_rows[a->key].kind) {
	case AK_INT: case AK_WORD: return a->u.i == b->u.i;
	case AK_INTS:
		return a->u.ints.n == b->u.ints.n && !memcmp(a->u.ints.p, b->u.ints.p,
			sizeof *a->u.ints.p * (size_t)a->u.ints.n);
	case AK_STR: return a->u.s == b->u.s;
	case AK_SYM: return a->u.sym == b->u.sym;
	case AK_NUM: return a->u.num.i == b->u.num.i && !memcmp(&a->u.num.f, &b->u.num.f, sizeof a->u.num.f);
	default: return false;
	}
}

bool ir_same_attrs(const Op *x, const Op *y)
{
	if (x->nattr != y->nattr) return false;
	for (int i = 0; i < x->nattr; i++)
		if (!same_attr(&x->attr[i], &y->attr[i])) return false;
	return true;
}

void ir_drop_attr(Op *op, AttrKey key)
{
	int n = 0;
	for (int i = 0; i < op->nattr; i++)
		if (op->attr[i].key != key) op->attr[n++] = op->attr[i];
	op->nattr = n;
}

void ir_set_int(Op *op, AttrKey key, int64_t v)
{
	if (ir_has_attr_default(key, v)) ir_drop_attr(op, key);
	else set_attr(op, key, AK_INT)->u.i = v;
}

void ir_set_ints(Op *op, AttrKey key, int n, const int64_t *v)
{
	int64_t *p = NEW_ARRAY(ir_home(), int64_t, n);
	for (int i = 0; i < n; i++) p[i] = v[i];
	IrAttr *a = set_attr(op, key, AK_INTS);
	a->u.ints.n = n;
	a->u.ints.p = p;
}

void ir_set_str(Op *op, AttrKey key, Str s)
{
	set_attr(op, key, AK_STR)->u.s = s;
}

void ir_set_sym(Op *op, AttrKey key, const Sym *s)
{
	set_attr(op, key, AK_SYM)->u.sym = s;
}

void ir_set_num(Op *op, AttrKey key, Num v)
{
	set_attr(op, key, AK_NUM)->u.num = v;
}

void ir_set_nums(Op *op, AttrKey key, int n, const Num *v)
{
	Num *p = NEW_ARRAY(ir_home(), Num, n);
	for (int i = 0; i < n; i++) p[i] = v[i];
	IrAttr *a = set_attr(op, key, AK_NUMS);
	a->u.nums.n = n;
	a->u.nums.p = p;
}

static const Lay *keep_lay(Lay l)
{
	Lay *p = NEW(ir_home(), Lay);
	*p = l;
	return p;
}

void ir_set_lay(Op *op, AttrKey key, Lay l)
{
	set_attr(op, key, AK_LAY)->u.lay = keep_lay(l);
}

void ir_set_layout(Val *v, Lay l)
{
	v->lay = keep_lay(l);
}

/* ---- copying entries ---- */
/* Entries launch kernels in about the order of the module: the search goes on where the last one ended. */
typedef struct FnCopies { const Module *to, *from; int last; } FnCopies;

static Fn *copy_of(FnCopies *c, Fn *fn)
{
	int n = c->from->fns.n;
	for (int k = 0; k < n; k++) {
		int i = (c->last + k) % n;
		if (c->from->fns.p[i] != fn) continue;
		c->last = i;
		return c->to->fns.p[i];
	}
	return fn;
}

static HostVec copy_host(const HostVec *v, FnCopies *c)
{
	HostVec r = { 0 };
	for (int i = 0; i < v->n; i++) {
		HostStmt *s = NEW(A_UNIT, HostStmt);
		*s = *v->p[i];
		vec_push(A_UNIT, &r, s);
		if (s->kind == HOST_IF) {
			s->u.ifs.then = copy_host(&v->p[i]->u.ifs.then, c);
			s->u.ifs.other = copy_host(&v->p[i]->u.ifs.other, c);
		}
		if (s->kind != HOST_LAUNCH) continue;
		int n = s->u.launch.variants.n;
		s->u.launch.variants.p = NEW_ARRAY(A_UNIT, Variant, n);
		s->u.launch.variants.cap = n;
		for (int k = 0; k < n; k++) {
			Variant *variant = &s->u.launch.variants.p[k];
			*variant = v->p[i]->u.launch.variants.p[k];
			variant->fn = copy_of(c, variant->fn);
		}
	}
	return r;
}

static Steps *copy_steps(const Steps *from, FnCopies *c)
{
	Steps *s = NEW(A_UNIT, Steps);
	*s = *from;
	s->of = copy_of(c, from->of);
	if (s->clear) s->clear = copy_of(c, s->clear);
	s->fns.p = NULL;
	s->fns.n = s->fns.cap = 0;
	for (int i = 0; i < from->fns.n; i++) vec_push(A_UNIT, &s->fns, copy_of(c, from->fns.p[i]));
	return s;
}

void ir_copy_lists(Module *to, const Module *from)
{
	FnCopies c = { to, from, 0 };
	to->steps = (StepsList){ .n = 0 };
	for (int i = 0; i < from->steps.n; i++) ir_add_steps(&to->steps, copy_steps(from->steps.p[i], &c));
	to->entries.p = NULL;
	to->entries.n = to->entries.cap = 0;
	for (int i = 0; i < from->entries.n; i++) {
		Entry *e = NEW(A_UNIT, Entry);
		*e = *from->entries.p[i];
		e->body = copy_host(&e->body, &c);
		vec_push(A_UNIT, &to->entries, e);
	}
}

Versions ir_versions(const Module *m, const Fn *fn, int from)
{
	Versions r = { from, 0 };
	while (r.first < m->versions.n && m->versions.p[r.first].of != fn) r.first++;
	while (r.first + r.n < m->versions.n && m->versions.p[r.first + r.n].of == fn) r.n++;
	return r;
}

/* The slot of the steps of fn, or the empty one that they would get: half of the slots are empty. */
static Steps **steps_slot(const StepsList *all, const Fn *fn)
{
	uint32_t i = hash_bytes((const char *)&fn, sizeof fn) & (all->slots - 1);
	while (all->slot[i] && all->slot[i]->of != fn) i = (i + 1) & (all->slots - 1);
	return &all->slot[i];
}

void ir_add_steps(StepsList *all, Steps *s)
{
	vec_push(A_UNIT, all, s);
	if (2 * (uint32_t)all->n > all->slots) {
		all->slots = all->slots ? 2 * all->slots : 16;
		all->slot = NEW_ARRAY(A_UNIT, Steps *, all->slots);
		for (int i = 0; i < all->n; i++) *steps_slot(all, all->p[i]->of) = all->p[i];
	}
	*steps_slot(all, s->of) = s;
}

Steps *ir_steps(const StepsList *all, const Fn *fn) { return all->n ? *steps_slot(all, fn) : NULL; }

/* ---- changing ---- */
Val *ir_settle(const Op *op, int i)
{
	return op->in[i] = settled(op->in[i]);
}

void ir_replace(Val *old, Val *with)
{
	old = settled(old);
	with = settled(with);
	if (old == with) return;
	edits++;
	old->fwd = with;
	if (!with->name) with->name = old->name;
}

Val *ir_retype(Op *op, int i, const Type *t)
{
	Val *v = new_val(op->parent->fn, t, i);
	edits++;
	v->def = op;
	v->name = op->out[i]->name;
	op->out[i]->def = NULL;
	return op->out[i] = v;
}

static void unlink_op(Op *op)
{
	IrBlock *b = op->parent;
	edits++;
	if (!b) bug("`%s` is in no block", op_rows[op->code].name);
	*(op->prev ? &op->prev->next : &b->first) = op->next;
	*(op->next ? &op->next->prev : &b->last) = op->prev;
	op->parent = NULL;
}

void ir_remove(Op *op)
{
	unlink_op(op);          /* next stays: a walk that stands here finds its way */
}

void ir_move_before(Op *op, Op *where)
{
	if (op == where) return;
	unlink_op(op);
	link_before(op, where->parent, where);
}

/* Ops that f puts in are not visited. An op that f removes, this one or a later one, is passed over. */
void ir_walk(IrBlock *b, void (*f)(void *ctx, Op *op), void *ctx)
{
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		f(ctx, op);
		for (int i = 0; i < op->nregion && op->parent; i++) ir_walk(op->region[i], f, ctx);
		if (!next || next->parent == b) continue;
		while (next && !next->parent) next = next->next;
		if (next && next->parent != b) next = op->parent == b ? op->next : NULL;
	}
}

static void walk_launches(const HostVec *body, void (*visit)(void *ctx, HostStmt *launch), void *ctx)
{
	for (int i = 0; i < body->n; i++) {
		HostStmt *h = body->p[i];
		if (h->kind == HOST_LAUNCH) visit(ctx, h);
		if (h->kind != HOST_IF) continue;
		walk_launches(&h->u.ifs.then, visit, ctx);
		walk_launches(&h->u.ifs.other, visit, ctx);
	}
}

void ir_walk_launches(Module *m, void (*visit)(void *ctx, HostStmt *launch), void *ctx)
{
	for (int i = 0; i < m->entries.n; i++) walk_launches(&m->entries.p[i]->body, visit, ctx);
}

static int number_block(IrBlock *b, int n)
{
	for (int i = 0; i < b->args.n; i++) b->args.p[i]->id = n++;
	for (Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nin; i++) ir_in(op, i);
		for (int i = 0; i < op->nout; i++) op->out[i]->id = n++;
		for (int i = 0; i < op->nregion; i++) n = number_block(op->region[i], n);
	}
	return n;
}

/* A pass that needs numbers asks for them, and most often nothing has changed since the last one did. */
void ir_number(Fn *fn)
{
	if (fn->numbered == edits) return;
	fn->nval = number_block(fn->body, 0);
	fn->numbered = edits;
}

static void count_uses(void *ctx, Op *op)
{
	int *uses = ctx;
	for (int i = 0; i < op->nin; i++) uses[ir_in(op, i)->id]++;
}

int *ir_use_counts(Fn *fn, Arena *a)
{
	int *uses = NEW_ARRAY(a, int, fn->nval);
	ir_walk(fn->body, count_uses, uses);
	return uses;
}

bool ir_const_value(const Val *v, Num *n)
{
	while (v->fwd) v = v->fwd;
	if (!v->def || v->def->code != OP_CONST) return false;
	const IrAttr *a = ir_attr(v->def, AT_VALUE);
	if (a && n) *n = a->u.num;
	return a != NULL;
}

const Val *ir_tensor(const Val *v)
{
	while (v->def && (v->def->code == OP_VIEW || v->def->code == OP_PERMUTE)) v = ir_in(v->def, 0);
	return v;
}

Val *ir_accessed(const Op *op)
{
	if (op->code == OP_LOAD) return op->out[0];
	return op->code == OP_STORE ? ir_in(op, op->nin - 1) : NULL;
}

/* ---- hints ---- */

static bool is_arch(Str name, int arch)
{
	return name == str_fmt("sm_%d", arch) || name == str_fmt("sm_%da", arch);
}

bool ir_sweeps(const Fn *fn)
{
	for (int i = 0; i < fn->ngrid; i++)
		if (fn->sweep[i]) return true;
	return false;
}

int ir_sweep(const Fn *fn, int i) { return ir_sweeps(fn) ? fn->sweep[i] : i; }

bool ir_has_hint(const Fn *fn, const char *name)
{
	for (int i = 0; i < fn->hints.n; i++)
		if (!strcmp(fn->hints.p[i].name, name)) return true;
	return false;
}

bool ir_hints_threads(const Fn *fn)
{
	return ir_has_hint(fn, "warps") || ir_has_hint(fn, "cluster") || ir_has_hint(fn, "occupancy");
}

bool ir_hint_by_arch(const Fn *fn, const char *name)
{
	for (int i = 0; i < fn->hints.n; i++) {
		const Hint *h = &fn->hints.p[i];
		for (int k = 0; k < h->n; k++)
			if (h->v[k].arch && !strcmp(h->name, name)) return true;
	}
	return false;
}

int64_t ir_hint(const Fn *fn, const char *name, int arch)
{
	int64_t r = 0;
	for (int i = 0; i < fn->hints.n; i++) {
		const Hint *h = &fn->hints.p[i];
		if (strcmp(h->name, name) != 0) continue;
		for (int pass = 0; pass < 2; pass++)
			for (int k = 0; k < h->n; k++)
				if (pass ? h->v[k].arch && is_arch(h->v[k].arch, arch) : !h->v[k].arch) r = h->v[k].value;
	}
	return r;
}
