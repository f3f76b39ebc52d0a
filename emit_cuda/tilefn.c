/* Accesses to tiles as functions: what a tile's load or store takes - ways for a tile inside, at a border, not aligned
 * - stands once before the kernels, and kernels call it. Two accesses share a function where all of its text is
 * equal: the element type, shape and layout, which axes may end inside the tile, and how the rest is known to lie. All
 * else are arguments: the tile's registers, the tensor, the tile's first element, extents, strides. The functions are
 * inlined, so a constant argument is one there. */
#include <stdarg.h>
#include <string.h>

#include "base/diag.h"
#include "emit_cuda/access.h"

typedef struct TileFn { Str name, text; } TileFn;

static VEC(TileFn) made;        /* of the file that is being printed */

/* What is printed in the middle of something else stays there: in a loop over vectors that makes what it stores, of a
 * row that is peeled. */
static bool has_function(const Access *x)
{
	const Cu *g = x->g;
	const CuVal *c = &g->val[x->data->id];
	return !g->late && !g->part && !g->fn->peel_line && !c->inside
		&& !c->shifted;
}

void tilefn_add(TileCall *c, Str arg, const char *param, ...)
{
	va_list list;
	if (c->params->n) {
		out_puts(c->params, ", ");
		out_puts(c->args, ", ");
	}
	va_start(list, param);
	out_vprintf(c->params, param, list);
	va_end(list);
	out_puts(c->args, arg);
}

/* The tile's registers: an array, or one, which a store takes as a value. */
static void add_registers(TileCall *c, Access *x, CuVal *v)
{
	const char *type = cu_type(x->data->type->elem), *gap = elem_is_ptr(x->data->type->elem) ? "" : " ";
	bool array = regs_of(x->data) > 1 && !v->splat;
	if (array || !x->store) {
		tilefn_add(c, array ? v->name : str_fmt("&%s", v->name), "%s%s%s*ct_r", x->store ? "const " : "", type, gap);
		v->name = str_intern(array ? "ct_r" : "*ct_r");
	} else {
		tilefn_add(c, v->name, "%s%sct_r", type, gap);
		v->name = str_intern("ct_r");
	}
}

/* The words that a loop holds (next.c): an array. */
static void add_words(TileCall *c, Access *x)
{
	tilefn_add(c, x->held, "%s *ct_words", words_type(elem_bytes(x->v->elem) << x->vec));
	x->held = str_intern("ct_words");
}

/* The tensor, under names of the function's own. */
static void add_view(TileCall *c, Access *x, CuView *v)
{
	tilefn_add(c, v->base, "%s%s *ct_base", x->store || !v->constant ? "" : "const ", elem_rows[v->elem].cuda);
	v->base = str_intern("ct_base");
	for (int a = 0; a < x->rank; a++) {
		tilefn_add(c, access_origin_text(x, a), "long long ct_o%d", a);
		if (!x->proved[a] || ir_attr(x->op, AT_AHEAD)) {
			tilefn_add(c, v->ext[a], "long long ct_n%d", a);
			v->ext[a] = str_fmt("ct_n%d", a);
		}
		if (!v->unit[a]) {
			tilefn_add(c, v->str[a], "long long ct_s%d", a);
			v->str[a] = str_fmt("ct_s%d", a);
		}
	}
	x->v = v;
}

static void add_rest(TileCall *c, Access *x)
{
	int bytes = elem_bytes(x->v->elem);
	if (!x->store) {
		tilefn_add(c, x->pad, "%s ct_outside", bytes == 8 ? "ct_u32x2" : words_type(bytes));
		x->pad = str_intern("ct_outside");
	}
	if (x->rotated_axis >= 0) tilefn_add(c, str_intern("&ct_phase"), "int *ct_turn");
	else if (x->g->shifted) tilefn_add(c, str_intern("ct_phase"), "int ct_phase");
	if (x->copies) {
		tilefn_add(c, x->copies, "bool ct_first_copy");
		x->copies = str_intern("ct_first_copy");
	}
	if (x->g->fn->short_rows) tilefn_add(c, str_intern("ct_lanes"), "int ct_lanes");
	if (cu_leaves_out(x->g, x->l)) tilefn_add(c, str_intern("ct_used"), "int ct_used");
	tilefn_add(c, str_intern("ct_lane"), "unsigned int ct_lane");
	tilefn_add(c, str_intern("ct_warp"), "unsigned int ct_warp");
}

static void print_body(Access *x)
{
	Out *o = x->g->o;
	out_in(o);
	if (x->rotated_axis >= 0) out_puts(o, "int ct_phase = *ct_turn;\n");
	access_thread(x);
	if (x->body) x->body(x);
	else access_ways(x);
	if (x->rotated_axis >= 0) out_puts(o, "*ct_turn = ct_phase;\n");
	out_off(o);
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

bool tilefn_print(Access *x)
{
	Cu *g = x->g;
	if (!has_function(x)) return false;
	CuVal *c = cu_val(g, x->data), kept = *c;
	Out *o = g->o, *text = out_new();
	const EmitOptions *opt = g->opt;
	EmitOptions plain = *opt;
	CuView view = *x->v;
	TileCall call = { out_new(), out_new() };
	int ntemp = g->ntemp;
	if (x->patch) {
		tilefn_add(&call, x->patch, "%s *ct_x", cu_type(x->v->elem));
		x->patch = str_intern("ct_x");
	} else if (x->held) {
		add_words(&call, x);
	} else {
		add_registers(&call, x, c);
	}
	add_view(&call, x, &view);
	add_rest(&call, x);
	plain.line = LINE_OFF;          /* it is of no line of the source */
	g->opt = &plain;
	g->o = text;
	g->ntemp = 0;
	out_printf(text, "(%s)\n{\n", call.params->p);
	print_body(x);
	out_puts(text, "}\n");
	g->opt = opt;
	g->o = o;
	g->ntemp = ntemp;
	*c = kept;
	cu_line(g, x->op);
	const char *what = x->patch ? "load_patch" : x->store ? "store_tile" : x->held ? "fetch_tile" : "load_tile";
	Str name = tilefn_of(what, x->v->elem, x->data->type, out_take(text));
	out_printf(o, "%s(%s);\n", name, call.args->p);
	out_free(call.params);
	out_free(call.args);
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
	made.n = 0;
}
