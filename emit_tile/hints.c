/* Hints and promises: what Tile C++ knows of them. Hints of a kernel and of an access are attributes; a hint of an
 * access stands before an expression statement, for before a declaration it is ignored. Those that Tile C++ has not are
 * left out: language.md 16. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit_tile/tile.h"

/* 900 for "sm_90"; 0 for all architectures. */
static int arch_number(Str arch) { return arch ? 10 * atoi(arch + 3) : 0; }

static const Hint *hint_of(const Fn *fn, const char *name)
{
	for (int i = 0; i < fn->hints.n; i++)
		if (!strcmp(fn->hints.p[i].name, name)) return &fn->hints.p[i];
	return NULL;
}

/* "[[cutile::hint(0, occupancy=2)]] [[cutile::hint(900, occupancy=1)]] ": a value for
 * sm_90a counts as one for sm_90. */
static void put_hint(Out *o, const Hint *h, const char *key)
{
	for (int i = 0; h && i < h->n; i++) {
		bool twice = false;
		for (int k = 0; k < i; k++) twice |= arch_number(h->v[k].arch) == arch_number(h->v[i].arch);
		if (!twice)
			out_printf(o, "[[cutile::hint(%d, %s=%lld)]] ", arch_number(h->v[i].arch), key, (long long)h->v[i].value);
	}
}

/* @cluster is left out: where thread blocks share a tile smaller than they have threads, nvcc 13.3 and 13.4 have each
 * write its part of a reduction to its own shared memory and read all parts there (fault `shared_parts` of
 * tests/tile/faults.py). */
Str tl_kernel_hints(const Fn *fn)
{
	Out *o = out_new();
	put_hint(o, hint_of(fn, "occupancy"), "occupancy");
	return out_take(o);
}

/* ---- which accesses use the copy engine ---- */
static void mark_factors(void *ctx, Op *op)
{
	bool *factor = ctx;
	for (int i = 0; op->code == OP_MMA && i < 2; i++) {
		const Val *v = ir_in(op, i);
		while (v->def && v->def->code != OP_LOAD && v->def->nin) v = ir_in(v->def, 0);
		factor[v->id] = true;
	}
}

bool *tl_factors(const Fn *fn)
{
	bool *factor = NEW_ARRAY(A_TMP, bool, fn->nval + 1);
	ir_walk(fn->body, mark_factors, factor);
	return factor;
}

/* Tile blocks write the tensor maps of views that are made in the kernel; of parameters the driver has them. */
static bool writes_map(const Op *load) { return ir_in(load, 0)->def != NULL; }

typedef struct MapCount { const bool *factor; bool any; } MapCount;

static void count_map(void *ctx, Op *op)
{
	MapCount *c = ctx;
	c->any |= op->code == OP_LOAD && c->factor[op->out[0]->id] && writes_map(op);
}

/* Several kernels of a file whose tile blocks write tensor maps write them over other memory (fault tensor_maps of
 * tests/tile/faults.py), so that only one kernel of a file may. */
bool tl_may_write_maps(const Module *m)
{
	int kernels = 0;
	for (int i = 0; i < m->fns.n; i++) {
		const Fn *fn = m->fns.p[i];
		ArenaMark mark = arena_mark(A_TMP);
		MapCount c = { .factor = tl_factors(fn) };
		ir_walk(fn->body, count_map, &c);
		arena_release(A_TMP, mark);
		kernels += c.any && !ir_has_hint(fn, "no_tma");
	}
	return kernels <= 1;
}

/* A tensor map pays off in a loop of products that loads many tiles, and costs more than vector accesses in a kernel
 * that loads a few (bench/tile/README.md). Only aligned tensors leave the choice. */
static bool by_vectors(const Tg *g, const Op *op)
{
	bool factor = op->nout && g->factor[op->out[0]->id];
	return g->aligned.guard.n && !(factor && (g->may_write_maps || !writes_map(op)));
}

Str tl_access_hints(const Tg *g, const Op *op, bool by_view)
{
	Out *o = out_new();
	int64_t latency = ir_int(op, AT_LATENCY, 0);
	if (latency) out_printf(o, "[[cutile::hint(0, latency=%lld)]] ", (long long)latency);
	else put_hint(o, hint_of(g->fn, "latency"), "latency");
	if (by_view && (ir_has_hint(g->fn, "no_tma") || by_vectors(g, op)))
		out_puts(o, "[[cutile::hint(0, allow_tma=false)]] ");
	return out_take(o);
}

/* ---- promises about the elements of a tile ---- */
static bool is_power(long long n) { return n > 0 && (n & (n - 1)) == 0; }

/* The greatest number that assume_bounded takes, and the least. */
static long long most_of(Elem e) { return (long long)(~0ull >> (65 - 8 * elem_rows[e].bytes)); }
static long long least_of(Elem e) { return elem_is_signed(e) ? -most_of(e) - 1 : 0; }

static Str bounded(Elem e, long long lo, long long hi, Str x)
{
	bool below = lo > least_of(e), above = hi < most_of(e);
	if (e == EL_BOOL || lo > most_of(e) || hi < least_of(e) || (!above && (!below || !elem_is_signed(e)))) return x;
	if (!below) return str_fmt("ct::assume_bounded_above<%lldll>(%s)", hi, x);
	return above ? str_fmt("ct::assume_bounded<%lldll, %lldll>(%s)", lo, hi, x)
		: str_fmt("ct::assume_bounded_below<%lldll>(%s)", lo, x);
}

static Str blocked(const char *lengths, Str x)
{
	Out *o = out_new();
	for (char *p = (char *)lengths; *p; ) {
		long long n = strtoll(p, &p, 10);
		if (!is_power(n)) return x;
		out_printf(o, "%s%lld", o->n ? ", " : "", n);
	}
	return str_fmt("ct::assume_blocked<ct::shape<%s>>(%s)", out_take(o), x);
}

Str tl_promised(const Op *op, Str x)
{
	const char *text = ir_attr(op, AT_TEXT)->u.s;
	long long a = 0, b = 0, axis = 0;
	char word[16] = "";
	Elem e = op->out[0]->type->elem;
	if (sscanf(text, "%15s %lld every %lld along %lld", word, &a, &b, &axis) == 4)
		return is_power(a) && (elem_is_ptr(e) || elem_is_signed(e))
			? str_fmt("ct::assume_%s_strided<%lld, %lld, %lld>(%s)", word, a, b, axis, x) : x;
	if (!strcmp(word, "blocked")) return blocked(text + strlen(word), x);
	if (sscanf(text, "bounded %lld %lld", &a, &b) == 2) return bounded(e, a, b, x);
	if (sscanf(text, "%15s %lld", word, &a) == 2 && is_power(a) && e != EL_BOOL)
		return str_fmt("ct::assume_%s<%lld>(%s)", word, a, x);
	return x;
}
