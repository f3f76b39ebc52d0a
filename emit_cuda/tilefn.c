/* Accesses to tiles as functions: the code of a tile's load or store, with ways for a tile inside, at a border, and not
 * aligned, is printed once before the kernels, which call it. Two accesses share a function where all of its text is
 * equal: the element type, shape and layout, which axes may end inside the tile, and how the rest is known to lie. All
 * else is an argument: the tile's registers, the tensor, the tile's first element, extents, strides. The functions are
 * inlined, so a constant argument is one there.
 *
 * Most accesses find their function printed already. To find it without printing, functions are looked up by a record,
 * and printed from that record alone: it is all that the printers get of the kernel, the operation and the tile. So
 * equal records have equal functions. */
#include <stdarg.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "emit_cuda/access.h"

typedef struct TileFn { Str name, text; } TileFn;

static VEC(TileFn) made;        /* of the file that is being printed */

typedef struct Record {
	/* of the kernel and the place in it */
	int row_log2, row_regs, row_sure, row_few, lanes;
	bool short_rows, aligned, roles, shifted, loads_first, row_shares;
	int shift_log2;
	int64_t rotated;
	/* of the tensor and the tile */
	Elem elem;
	bool constant, unit[TENSOR_RANK];
	int64_t multiple[TENSOR_RANK];
	const Type *type;
	bool placed, splat;     /* a tile with a layout; one value for all registers */
	/* of the access */
	AccessPlan plan;
	OpAsked asked;
	Ways ways;
	bool store, copies, held, patch;        /* it has a name for these three */
	PatchPlan patch_plan;   /* the last: of loads that overlap only */
} Record;

/* Several records may have one name: they differ in fields on which the text does not depend. */
typedef struct Printed { const Record *of; size_t n; uint32_t hash; Str name; } Printed;

static VEC(Printed) printed;    /* and under which names */

/* What is printed in the middle of something else stays there: in a loop over vectors that makes what it stores, of a
 * row that is peeled. */
static bool has_function(const Access *x)
{
	const Cu *g = x->g;
	const CuVal *c = &g->val[x->data->id];
	return !g->late && !g->part && !g->fn->peel_line && !c->inside
		&& !c->shifted;
}

/* ---- parameters ---- */
void tilefn_add(TileCall *c, Str arg, const char *param, ...)
{
	va_list list;
	bool first = !c->n++;
	if (c->args) {
		if (!first) out_puts(c->args, ", ");
		out_puts(c->args, arg);
	}
	if (!c->params) return;
	if (!first) out_puts(c->params, ", ");
	va_start(list, param);
	out_vprintf(c->params, param, list);
	va_end(list);
}

/* The tile's registers are an array, or one, which a store takes as a value. */
static bool takes_array(const Access *x) { return regs_of(x->data) > 1 && !cu_val(x->g, x->data)->splat; }

static void add_registers(TileCall *c, const Access *x)
{
	const char *type = cu_type(x->data->type->elem), *gap = elem_is_ptr(x->data->type->elem) ? "" : " ";
	Str name = cu_val(x->g, x->data)->name;
	bool array = takes_array(x);
	if (x->store && !array) tilefn_add(c, name, "%s%sct_r", type, gap);
	else tilefn_add(c, array ? name : str_fmt("&%s", name), "%s%s%s*ct_r", x->store ? "const " : "", type, gap);
}

static bool takes_extent(const Access *x, int a)
{
	return !x->plan.proved[a] || x->asked.asks_ahead || a == x->plan.rotated_axis;
}

static void add_view(TileCall *c, const Access *x)
{
	const CuView *v = x->v;
	tilefn_add(c, v->base, "%s%s *ct_base", x->store || !v->constant ? "" : "const ", elem_rows[v->elem].cuda);
	for (int a = 0; a < x->plan.rank; a++) {
		tilefn_add(c, c->args ? access_origin_text(x, a) : NULL, "long long ct_o%d", a);
		if (takes_extent(x, a)) tilefn_add(c, v->ext[a], "long long ct_n%d", a);
		if (!v->unit[a]) tilefn_add(c, v->str[a], "long long ct_s%d", a);
	}
}

static void add_rest(TileCall *c, const Access *x)
{
	int bytes = elem_bytes(x->v->elem);
	if (!x->store) tilefn_add(c, x->pad, "%s ct_outside", bytes == 8 ? "ct_u32x2" : words_type(bytes));
	if (x->plan.rotated_axis >= 0) tilefn_add(c, "&ct_phase", "int *ct_turn");
	else if (x->g->shifted) tilefn_add(c, "ct_phase", "int ct_phase");
	if (x->copies) tilefn_add(c, x->copies, "bool ct_first_copy");
	if (x->g->fn->short_rows) tilefn_add(c, "ct_lanes", "int ct_lanes");
	if (cu_leaves_out(x->g, x->plan.l)) tilefn_add(c, "ct_used", "int ct_used");
	tilefn_add(c, "ct_lane", "unsigned int ct_lane");
	tilefn_add(c, "ct_warp", "unsigned int ct_warp");
}

static void add_all(TileCall *c, const Access *x)
{
	if (x->patch) tilefn_add(c, x->patch, "%s *ct_x", cu_type(x->v->elem));
	else if (x->held) tilefn_add(c, x->held, "%s *ct_words", words_type(elem_bytes(x->v->elem) << x->plan.vec));
	else add_registers(c, x);
	add_view(c, x);
	add_rest(c, x);
}

/* ---- records ---- */
/* The names of parameters. */
static void name_all(Access *x, CuView *v, const Record *r)
{
	*v = (CuView){ .base = str_intern("ct_base"), .rank = x->plan.rank, .constant = r->constant, .elem = r->elem };
	for (int a = 0; a < x->plan.rank; a++) {
		v->unit[a] = r->unit[a];
		v->multiple[a] = r->multiple[a];
		if (takes_extent(x, a)) v->ext[a] = str_fmt("ct_n%d", a);
		v->str[a] = r->unit[a] ? str_intern("1") : str_fmt("ct_s%d", a);
	}
	if (!x->store) x->pad = str_intern("ct_outside");
	if (r->copies) x->copies = str_intern("ct_first_copy");
	if (r->held) x->held = str_intern("ct_words");
	if (r->patch) x->patch = str_intern("ct_x");
}

/* How much of the record there is. */
static size_t record(Record *r, const Access *x)
{
	const Cu *g = x->g;
	const Fn *fn = g->fn;
	size_t n = x->patch_plan ? sizeof *r : offsetof(Record, patch_plan);
	memset(r, 0, n);
	r->row_log2 = fn->row_log2;
	r->row_regs = fn->row_regs;
	r->row_sure = fn->row_sure;
	r->row_few = fn->row_few;
	r->lanes = fn->lanes;
	r->short_rows = fn->short_rows;
	r->aligned = fn->aligned;
	r->roles = g->roles;
	r->shifted = g->shifted;
	r->loads_first = g->loads_first;
	r->row_shares = g->row_shares;
	r->shift_log2 = g->shift_log2;
	r->rotated = g->rotated;
	r->elem = x->v->elem;
	r->constant = x->v->constant;
	memcpy(r->unit, x->v->unit, sizeof r->unit);
	memcpy(r->multiple, x->v->multiple, sizeof r->multiple);
	r->type = x->data->type;
	r->placed = x->data->lay;
	r->splat = g->val[x->data->id].splat;
	r->plan = x->plan;
	r->ways = x->ways;
	r->asked = x->asked;
	r->store = x->store;
	r->copies = x->copies;
	r->held = x->held;
	r->patch = x->patch;
	if (x->patch_plan) r->patch_plan = *x->patch_plan;
	return n;
}

static Str print_function(const Record *r, AccessBody *body)
{
	EmitOptions opt = { .line = LINE_OFF };         /* it is of no line of the source */
	Fn fn = { .row_log2 = r->row_log2, .row_regs = r->row_regs, .row_sure = r->row_sure, .row_few = r->row_few,
		.lanes = r->lanes, .short_rows = r->short_rows, .aligned = r->aligned, .warps = 1 };
	IrBlock block = { .fn = &fn };
	Op op = { .parent = &block };
	Val tile = { .type = r->type, .block = &block, .lay = r->placed ? &r->plan.l : NULL };
	CuVal val = { .splat = r->splat };
	CuView view;
	Access x = { .plan = r->plan };
	Cu g = { .o = out_new(), .fn = &fn, .opt = &opt, .val = &val, .nval = 1, .roles = r->roles, .shifted = r->shifted,
		.shift_log2 = r->shift_log2, .loads_first = r->loads_first, .row_shares = r->row_shares,
		.rotated = r->rotated };
	TileCall call = { .params = g.o };
	x.g = &g;
	x.op = &op;
	x.data = &tile;
	x.v = &view;
	x.store = r->store;
	x.ways = r->ways;
	x.asked = r->asked;
	x.patch_plan = r->patch ? &r->patch_plan : NULL;
	name_all(&x, &view, r);
	val.name = str_intern(x.store || takes_array(&x) ? "ct_r" : "*ct_r");
	out_puts(g.o, "(");
	add_all(&call, &x);
	out_puts(g.o, ")\n{\n");
	out_in(g.o);
	if (x.plan.rotated_axis >= 0) out_puts(g.o, "int ct_phase = *ct_turn;\n");
	access_thread(&x);
	body(&x);
	if (x.plan.rotated_axis >= 0) out_puts(g.o, "*ct_turn = ct_phase;\n");
	out_off(g.o);
	out_puts(g.o, "}\n");
	return out_take(g.o);
}

Str tilefn_of(Str what, Elem e, const Type *t, Str text)
{
	int same = 0;
	for (int i = 0; i < made.n; i++)
		if (made.p[i].text == text) return made.p[i].name;
	Out *stem = out_new();
	out_printf(stem, "ct_%s_%s", what, elem_name(e));
	for (int a = 0; t && a < t->rank; a++)
		out_printf(stem, "%s%lld", a ? "x" : "_", (long long)type_extent(t, a));
	for (int i = 0; i < made.n; i++) {
		size_t n = stem->n;
		same += !strncmp(made.p[i].name, stem->p, n) && (!made.p[i].name[n] || made.p[i].name[n] == '_');
	}
	if (same) out_printf(stem, "_%d", same + 1);
	TileFn f = { out_take(stem), text };
	vec_push(A_UNIT, &made, f);
	return f.name;
}

static Str function_of(const Access *x, AccessBody *body)
{
	Record r;
	Printed p = { .n = record(&r, x) };
	p.hash = hash_bytes((const char *)&r, p.n);
	for (int i = 0; i < printed.n; i++) {
		const Printed *q = &printed.p[i];
		if (q->hash == p.hash && q->n == p.n && !memcmp(q->of, &r, p.n)) return q->name;
	}
	const char *what = x->patch ? "load_patch" : x->store ? "store_tile" : x->held ? "fetch_tile" : "load_tile";
	char *of = arena_alloc(A_UNIT, p.n);
	memcpy(of, &r, p.n);
	p.of = (const Record *)of;
	p.name = tilefn_of(what, x->v->elem, x->data->type, print_function(&r, body));
	vec_push(A_UNIT, &printed, p);
	return p.name;
}

bool tilefn_print(const Access *x, AccessBody *body)
{
	Cu *g = x->g;
	if (!has_function(x)) return false;
	TileCall call = { .args = g->o };
	Str name = function_of(x, body);
	cu_line(g, x->op);
	out_printf(g->o, "%s(", name);
	add_all(&call, x);
	out_puts(g->o, ");\n");
	return true;
}

void tilefn_use(SnipSet *used)
{
	for (int i = 0; i < made.n; i++) snip_use_text(used, made.p[i].text);
}

static const char head[] =
	"\n/* ---- accesses to tiles ---- */\n"
	"/* Tiles of tensors: from ct_o0, ct_o1 ... on, of a tensor that ends at ct_n0, ct_n1 ...; ct_outside is loaded "
	"for what lies outside. */\n";

void tilefn_functions(Out *o)
{
	if (made.n) out_puts(o, head);
	for (int i = 0; i < made.n; i++) out_printf(o, "CT_FN void %s%s", made.p[i].name, made.p[i].text);
	made.n = printed.n = 0;
}
