/* --report: kernels run on some of their tile blocks, and what that took.
 *
 * Tensors begin at multiples of 256 bytes and hold small numbers; integers lie below the least dimension, so that
 * indices meet their tensors. Dimensions that the caller does not name get the first of a few sizes that the kernel's
 * where clauses allow. Integer parameters that a grid, a length or a condition mentions are sizes, too. What would take
 * long is tried with less. Counts are sums over the tile blocks that ran. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/show.h"
#include "sim/sim.h"

enum { ALIGN = 256, CELLS = 8, BLOCKS_MOST = 16, SCRATCH = 1 << 24, FEW = 16,
	TRIES = 4 };    /* of sizes, each half of the one before; then one tile block of FEW runs */
#define WORK INT64_C(4000000)           /* operations of warps: some seconds */
#define WORK_LAST (3 * WORK)            /* of one tile block, after all else: more is taken for endless */
#define BYTES_MOST (INT64_C(1) << 28)   /* of all tensors */
#define LONGEST (1 << 18)               /* elements of a row that are tried for versions of some lengths */

static const int64_t sizes_tried[] = { 1000, 1024, 960, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1 };

typedef struct Row { Str cell[CELLS]; } Row;
typedef VEC(Row) Rows;

/* ---- a call ---- */
static bool named_size(Str sizes, Str dim, int64_t *v)
{
	size_t n = strlen(dim);
	for (const char *p = sizes; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		char *end;
		if (strncmp(p, dim, n) != 0 || p[n] != '=') continue;
		*v = strtoll(p + n + 1, &end, 10);
		return end != p + n + 1 && (!*end || *end == ',');
	}
	return false;
}

/* ---- integer parameters as sizes ---- */
typedef struct Mention { Str name; bool found; } Mention;

static void look_for_param(void *ctx, const Sym *atom)
{
	Mention *m = ctx;
	m->found |= atom->kind == SYM_ATOM && atom->atom == ATOM_PARAM && atom->name == m->name;
}

/* Does the grid, a length, a stride or a condition mention this parameter? */
static bool is_size(const Fn *fn, int param)
{
	const IrParam *p = &fn->params.p[param];
	Mention m = { p->name, false };
	if (p->is_tensor || !elem_is_integral(p->elem)) return false;
	for (int i = 0; i < fn->ngrid; i++) sym_atoms(fn->grid[i], look_for_param, &m);
	for (int i = 0; i < fn->where.n; i++) sym_atoms(fn->where.p[i].cond, look_for_param, &m);
	for (int i = 0; i < fn->dims.n; i++)
		if (fn->dims.p[i].def) sym_atoms(fn->dims.p[i].def, look_for_param, &m);
	for (int i = 0; i < fn->params.n; i++)
		for (int a = 0; fn->params.p[i].is_tensor && a < fn->params.p[i].rank; a++) {
			sym_atoms(fn->params.p[i].extent[a], look_for_param, &m);
			sym_atoms(fn->params.p[i].stride[a], look_for_param, &m);
		}
	return m.found;
}

static int64_t greatest(Elem e)
{
	int bits = elem_bytes(e) * 8 - elem_is_signed(e);
	return e == EL_BOOL ? 1 : bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
}

static void set_params(const Fn *fn, void *const *arg, Str sizes, int64_t size)
{
	for (int i = 0; i < fn->params.n; i++) {
		int64_t v = size, most = greatest(fn->params.p[i].elem);
		if (!is_size(fn, i)) continue;
		if (!named_size(sizes, fn->params.p[i].name, &v) && v > most) v = most;
		memcpy(arg[i], &v, (size_t)elem_bytes(fn->params.p[i].elem));   /* hosts are little-endian, as GPUs */
	}
}

static bool has_size(const Fn *fn, Str name, size_t n)
{
	for (int i = 0; i < fn->dims.n; i++)
		if (strlen(fn->dims.p[i].name) == n && !strncmp(fn->dims.p[i].name, name, n)) return true;
	for (int i = 0; i < fn->params.n; i++)
		if (is_size(fn, i) && strlen(fn->params.p[i].name) == n && !strncmp(fn->params.p[i].name, name, n)) return true;
	return false;
}

Str sim_report_wrong(const Module *m, Str sizes)
{
	for (const char *p = sizes; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : "") {
		size_t n = strcspn(p, "=,"), all = strcspn(p, ",");
		char *end = NULL;
		bool found = false;
		if (p[n] == '=') strtoll(p + n + 1, &end, 10);
		if (!end || end == p + n + 1 || end != p + all)
			return str_fmt("`%.*s` is no size; write `name=number`", (int)all, p);
		for (int i = 0; i < m->fns.n; i++) found |= has_size(m->fns.p[i], p, n);
		if (found) continue;
		return str_fmt("no kernel has a dimension `%.*s`, or an integer parameter of this name that its grid, "
			"lengths or conditions use", (int)n, p);
	}
	return NULL;
}

/* Strides that nobody names are far enough apart for every extent that is tried. */
static void set_dims(const Fn *fn, int64_t *dim, Str sizes, int64_t size)
{
	int64_t stride = 1;
	for (int i = 0; i < fn->dims.n; i++) {
		if (fn->dims.p[i].is_stride) stride *= 2048;
		if (!named_size(sizes, fn->dims.p[i].name, &dim[i])) dim[i] = fn->dims.p[i].is_stride ? stride : size;
	}
}

static bool compute_dims(const SimCall *c, int64_t *dim)
{
	for (int i = 0; i < c->fn->dims.n; i++)
		if (c->fn->dims.p[i].def && !sim_sym(c, c->fn->dims.p[i].def, &dim[i])) return false;
	return true;
}

/* Bytes of a tensor; -1: too many. */
static int64_t tensor_bytes(const SimCall *c, const IrParam *p)
{
	int64_t last = 0, e, s;
	for (int a = 0; a < p->rank; a++) {
		if (!sim_sym(c, p->extent[a], &e) || !sim_sym(c, p->stride[a], &s) || e < 0 || s < 0) return -1;
		if (!e) return 0;
		if (s && e - 1 > BYTES_MOST / s) return -1;
		last += (e - 1) * s;
	}
	return last < BYTES_MOST ? (last + 1) * elem_bytes(p->elem) : -1;
}

static bool fits(const SimCall *c)
{
	int64_t all = 0;
	for (int i = 0; i < c->fn->params.n; i++) {
		int64_t bytes = c->fn->params.p[i].is_tensor ? tensor_bytes(c, &c->fn->params.p[i]) : 0;
		if (bytes < 0 || (all += bytes) > BYTES_MOST) return false;
	}
	int64_t v, blocks = 1;
	for (int i = 0; i < c->fn->where.n; i++)
		if (!sim_sym(c, c->fn->where.p[i].cond, &v) || !v) return false;
	for (int i = 0; i < c->fn->ngrid; i++) {
		if (!sim_sym(c, c->fn->grid[i], &v) || v < 1 || v > INT32_MAX || blocks > INT32_MAX / v) return false;
		blocks *= v;
	}
	return true;
}

static uint64_t bits_of(Elem e, uint32_t random, int64_t below)
{
	int64_t small = (int64_t)(random % 64) - 32;
	if (e == EL_BOOL) return random & 1;
	if (!elem_is_any_float(e)) return elem_bytes(e) > 1 && below > 0 ? random % (uint64_t)below : random & 0x7f;
	union { float f; uint32_t u; } single = { .f = (float)small / 16 };
	union { double f; uint64_t u; } wide = { .f = (double)small / 16 };
	switch (e) {
	case EL_F64: return wide.u;
	case EL_BF16: return single.u >> 16;
	case EL_F16: return UINT64_C(0x3800) | random % 1024;           /* 0.5 to 1 */
	case EL_F8E4M3: case EL_F8E5M2: return UINT64_C(0x30) | random % 8;
	default: return single.u;
	}
}

static void fill(unsigned char *p, int64_t bytes, Elem e, int64_t below, uint32_t seed)
{
	int size = elem_bytes(e);
	for (int64_t i = 0; i + size <= bytes; i += size) {
		seed = seed * 1664525u + 1013904223u;
		uint64_t bits = bits_of(e, seed >> 8, below);
		for (int k = 0; k < size; k++) p[i + k] = (unsigned char)(bits >> (8 * k));
	}
}

/* Is a pointer only scratch of groups of threads: a counter, or registers put aside? */
typedef struct Scratch { const Val *p; bool only; } Scratch;

static void look_at_use(void *ctx, Op *op)
{
	Scratch *s = ctx;
	bool group = op->code == OP_DRAW || op->code == OP_GRID_BARRIER || op->code == OP_GRID_SIGNAL
		|| op->code == OP_GRID_AWAIT || op->code == OP_STORE_REGS || op->code == OP_LOAD_REGS;
	for (int i = 0; i < op->nin; i++)
		if (ir_in(op, i) == s->p && !(group && i == 0)) s->only = s->only && op->code == OP_PTR_ADD;
}

static bool is_scratch(const Fn *fn, int param)
{
	Scratch s = { fn->body->args.p[param], true };
	ir_walk(fn->body, look_at_use, &s);
	return s.only;
}

/* Memory for the parameters; NULL: all is there, else why not. */
static Str make_args(Arena *mem, const SimCall *c, void **arg)
{
	int64_t below = INT64_MAX;
	if (sim_makes_pointers(c->fn)) return str_intern("takes addresses as numbers");
	for (int i = 0; i < c->fn->dims.n; i++)
		if (!c->fn->dims.p[i].is_stride && c->dim[i] < below) below = c->dim[i];
	for (int i = 0; i < c->fn->params.n; i++) {
		const IrParam *p = &c->fn->params.p[i];
		int64_t bytes = p->is_tensor ? tensor_bytes(c, p) : 8;
		if (is_size(c->fn, i)) continue;
		if (elem_is_ptr(p->elem) && !is_scratch(c->fn, i)) return str_intern("takes pointers");
		if (elem_is_ptr(p->elem)) {
			arg[i] = NEW(mem, void *);
			*(void **)arg[i] = NEW_ARRAY(mem, unsigned char, SCRATCH);
			continue;
		}
		unsigned char *at = NEW_ARRAY(mem, unsigned char, bytes + ALIGN);
		at += (ALIGN - (uintptr_t)at % ALIGN) % ALIGN;
		fill(at, p->is_tensor ? bytes : elem_bytes(p->elem), p->elem, p->is_tensor ? below : 2, (uint32_t)i + 1);
		arg[i] = at;
	}
	return NULL;
}

/* ---- what is printed ---- */
static Str where(const Op *op)
{
	if (!op->span.hi) return str_intern("?");
	Place p = src_place(op->span.lo);
	Str at = str_fmt("%u:%u", (unsigned)p.line, (unsigned)p.col);
	return !p.src || p.src == src_at(0) ? at : str_fmt("%s:%s", shown(src_mapped(p.src->path)), at);
}

static Str number(int64_t n) { return str_fmt("%lld", (long long)n); }

static Str ratio(int64_t a, int64_t b) { return str_fmt("%.2f", b ? (double)a / (double)b : 0.0); }

static Str object(const Op *op)
{
	const Val *v = op->nin ? ir_in(op, 0) : NULL;
	while (v && !v->name && v->def && v->def->nin) v = ir_in(v->def, 0);
	return v && v->name ? v->name : op->nout && op->out[0]->name ? op->out[0]->name : str_intern("");
}

/* Cells below each other; all but the first `left` columns to the right. */
static void table(Out *o, const char *title, const Rows *rows, const Row *head, int left)
{
	int width[CELLS] = { 0 };
	if (!rows->n) return;
	out_printf(o, "  %s\n", title);
	for (int i = -1; i < rows->n; i++)
		for (int k = 0; k < CELLS; k++) {
			Str c = i < 0 ? head->cell[k] : rows->p[i].cell[k];
			if (c && (int)strlen(c) > width[k]) width[k] = (int)strlen(c);
		}
	for (int i = -1; i < rows->n; i++) {
		const Row *r = i < 0 ? head : &rows->p[i];
		for (int k = 0; k < CELLS && r->cell[k]; k++)
			out_printf(o, "%s%*s", k ? "  " : "    ", k < left ? -width[k] : width[k], r->cell[k]);
		out_puts(o, "\n");
	}
}

static void tables(Out *o, const SimResult *r)
{
	static const Row global_head = { { "at", "access", "to", "requests", "bytes", "sectors", "least", "a request" } };
	static const Row shared_head = { { "at", "operation", "requests", "wavefronts", "least" } };
	Rows global = { 0 }, shared = { 0 };
	for (int i = 0; i < r->nop; i++) {
		const SimCount *c = &r->count[i];
		const Op *op = r->op[i];
		const char *name = op_rows[op->code].name;
		if (c->requests) {
			Row row = { { where(op), name, object(op), number(c->requests), number(c->bytes), number(c->sectors),
				number(c->least), ratio(c->sectors, c->requests) } };
			vec_push(A_TMP, &global, row);
		}
		if (c->shared) {
			Row row = { { where(op), name, number(c->shared), number(c->wavefronts), number(c->ideal) } };
			vec_push(A_TMP, &shared, row);
		}
	}
	table(o, "memory: requests of warps, bytes wanted, sectors of 32 bytes", &global, &global_head, 3);
	table(o, "shared memory: requests of warps, wavefronts, wavefronts without bank conflicts", &shared, &shared_head,
		2);
}

static void print_sizes(Out *o, const SimCall *c, const SimResult *r)
{
	out_puts(o, "  run      ");
	for (int i = 0; i < c->fn->dims.n; i++)
		out_printf(o, "%s%s = %lld", i ? ", " : " ", c->fn->dims.p[i].name, (long long)c->dim[i]);
	int n = c->fn->dims.n;
	for (int i = 0; i < c->fn->params.n; i++) {
		const IrParam *p = &c->fn->params.p[i];
		int64_t v;
		if (!is_size(c->fn, i) || !sim_sym(c, sym_atom(ATOM_PARAM, p->name, 0), &v)) continue;
		out_printf(o, "%s%s = %lld", n++ ? ", " : " ", p->name, (long long)v);
	}
	out_printf(o, "%s %lld of %lld tile blocks\n", n ? ":" : "", (long long)r->run, (long long)r->blocks);
}

static bool open_sizes(const Fn *fn, Str sizes)
{
	int64_t v;
	for (int i = 0; i < fn->dims.n; i++)
		if (!fn->dims.p[i].is_stride && !fn->dims.p[i].def && !named_size(sizes, fn->dims.p[i].name, &v)) return true;
	for (int i = 0; i < fn->params.n; i++)
		if (is_size(fn, i) && !named_size(sizes, fn->params.p[i].name, &v)) return true;
	return false;
}

/* Does the version serve the call? */
static bool serves(SimCall c, const Version *v)
{
	int64_t holds;
	c.fn = v->of;
	return sim_sym(&c, v->guard, &holds) && holds;
}

/* few: of the first dimension, where others are many. */
static bool try_size(const SimCall *c, const Version *v, int64_t *dim, Str sizes, int64_t size, bool few)
{
	for (int one = 0; one < 2; one++) {
		int64_t named;
		set_dims(c->fn, dim, sizes, size);
		if (few && c->fn->dims.n > 1 && size > FEW && !named_size(sizes, c->fn->dims.p[0].name, &named)) dim[0] = FEW;
		set_params(c->fn, c->arg, sizes, one ? 1 : size);
		if (compute_dims(c, dim) && fits(c) && serves(*c, v)) return true;
	}
	return false;
}

/* The first size not above *size with which the kernel accepts a call that the version serves; parameters are 1 where
 * they cannot be as large. */
static bool next_size(const SimCall *c, const Version *v, int64_t *dim, Str sizes, int64_t *size)
{
	for (size_t i = 0; i < sizeof sizes_tried / sizeof *sizes_tried; i++) {
		if (sizes_tried[i] > *size || !try_size(c, v, dim, sizes, sizes_tried[i], false)) continue;
		*size = sizes_tried[i];
		return true;
	}
	return false;
}

/* Versions for some lengths of rows: eighths of longer and longer ones. */
static bool other_size(const SimCall *c, const Version *v, int64_t *dim, Str sizes, int64_t *size)
{
	for (int64_t base = 16; base <= LONGEST; base *= 2)
		for (int64_t part = 8; part < 16; part++) {
			if (!try_size(c, v, dim, sizes, base / 8 * part + 1, true)) continue;
			*size = base / 8 * part + 1;
			return true;
		}
	return false;
}

static bool report_version(Out *o, const Version *v, Str arches, Str sizes)
{
	const Fn *fn = v->fn;
	Arena *mem = arena_new();
	int64_t *dim = NEW_ARRAY(mem, int64_t, fn->dims.n + 1);
	void **arg = NEW_ARRAY(mem, void *, fn->params.n + 1);
	SimCall c = { .fn = fn, .arg = arg, .dim = dim, .most = BLOCKS_MOST, .work = WORK };
	SimResult r = { .fault = NULL };
	Str why = NULL;
	bool found = false;
	/* scalars may stand in where clauses: their memory comes first, tensors' once the sizes are known */
	for (int i = 0; i < fn->params.n; i++) {
		unsigned char *at = NEW_ARRAY(mem, unsigned char, 2 * ALIGN);
		arg[i] = at + (ALIGN - (uintptr_t)at % ALIGN) % ALIGN;
	}
	out_printf(o, "kernel %s, ", v->of->name);
	if (*v->name) out_printf(o, "version %s, ", v->name);
	out_printf(o, "%s\n", arches);
	int64_t size = 1024, shorter = 0;
	int tries = 0;
	while ((found = next_size(&c, v, dim, sizes, &size) || other_size(&c, v, dim, sizes, &size))
		&& !(why = make_args(mem, &c, arg))) {
		sim_run(&c, &r);
		if (!r.stopped) break;
		shorter = size;
		if (c.work == WORK_LAST) break;
		bool open = size > 1 && open_sizes(fn, sizes);
		if (open && ++tries < TRIES) {
			size /= 2;
		} else {
			if (open && size > FEW) size = FEW;
			c.most = 1, c.work = WORK_LAST;
		}
	}
	if (!found) why = open_sizes(fn, sizes)
		? str_intern("no size tried is one that it serves and gives small tensors: name its dimensions")
		: str_fmt("it does not serve these sizes, or its tensors would have more than %lld bytes",
			(long long)BYTES_MOST);
	if (why) {
		out_printf(o, "  not run   %s\n", why);
	} else {
		if (shorter > size)
			out_printf(o, "  sizes     %lld would take long; name dimensions for others\n", (long long)shorter);
		print_sizes(o, &c, &r);
		if (r.fault) out_printf(o, "  fault     %s\n", r.fault);
		if (r.stopped)
			out_printf(o, "  stopped   after %lld operations of warps: a loop is endless with these numbers, or long\n",
				(long long)c.work);
		tables(o, &r);
		out_printf(o,
			"  all       %lld bytes in %lld sectors, %lld wavefronts, %lld shuffles, %lld barriers of warps\n",
			(long long)r.all.bytes,
			(long long)r.all.sectors, (long long)r.all.wavefronts, (long long)r.all.shuffles,
			(long long)r.all.barriers);
	}
	arena_free(mem);
	return !r.fault;
}

static Str arch_list(const Version *v, const EmitOptions *opt)
{
	Out *names = out_new();
	for (int i = 0; i < opt->archs.n; i++)
		if (v->archs >> i & 1) out_printf(names, "%s%s", names->n ? ", " : "", opt->archs.p[i]->name);
	return out_take(names);
}

bool sim_report(Out *o, const Module *m, const EmitOptions *opt, Str sizes)
{
	bool ok = true;
	for (int i = 0; i < m->versions.n; i++) {
		const Version *v = &m->versions.p[i];
		ArenaMark mark = arena_mark(A_TMP);
		out_puts(o, i ? "\n" : "");
		ok &= report_version(o, v, arch_list(v, opt), sizes);
		arena_release(A_TMP, mark);
	}
	return ok;
}
