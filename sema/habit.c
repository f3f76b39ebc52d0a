/* Calls, members and prefixes as other languages write them: what a message offers for them. An edit is offered only
 * where it computes what was meant; ast/foreign.def is the table. */
#include "sema/build.h"
#include "sema/scope.h"

#include <string.h>

#include "ast/foreign.h"

/* ---- the words of the table ---- */

/* sinf, __logf: C and CUDA name the type with the function. */
static const char *math_of_c(Str name)
{
	OpCode op;
	size_t lead = strncmp(name, "__", 2) ? 0 : 2, n = str_len(name);
	if (n < lead + 4 || name[n - 1] != 'f') return NULL;
	Str stem = str_intern_n(name + lead, n - lead - 1);
	return op_by_name(stem, &op) && !(op_rows[op].flags & OPF_HIDDEN) ? stem : NULL;
}

const char *known_elsewhere(Str name)
{
	const char *ours = foreign_word(FW_NAME, name);
	if (!ours) ours = foreign_word(FW_TYPE, name);
	if (!ours) ours = math_of_c(name);
	return ours && *ours ? ours : NULL;
}

static const char *ours_of(Str name)
{
	OpCode op;
	Elem elem;
	if ((op_by_name(name, &op) && !(op_rows[op].flags & OPF_HIDDEN)) || elem_by_name(name, &elem)) return name;
	return known_elsewhere(name);
}

/* ---- source text in another place ---- */

static char beside(Span at, int step)
{
	const Src *s = src_of(at);
	const char *p = s->text + ((step < 0 ? at.lo - 1 : at.hi) - s->base), *end = s->text + s->len;
	while (p >= s->text && p < end && strchr(" \t\r\n", *p)) p += step;
	return p >= s->text && p < end ? *p : ';';
}

/* Nothing stands beside the expression that an operator in its place would meet. */
static bool stands_alone(Span at)
{
	return src_of(at) && strchr("=(,[{;", beside(at, -1)) && strchr(",;)]}", beside(at, 1));
}

/* The text of an operand: in parentheses unless it is one term. */
static Str term(const Expr *e)
{
	Str text = span_source(e->span);
	bool loose = e->kind == EX_UNARY || e->kind == EX_BINARY || e->kind == EX_COND || e->kind == EX_LAMBDA
		|| e->kind == EX_UNSAFE;
	return loose && *text != '(' ? str_fmt("(%s)", text) : text;
}

static bool is_ours(Cx *cx, const Expr *name)
{
	bool bad;
	return scope_find(cx, name->u.name) || scope_global(cx, name->u.name, name->span, &bad) || bad;
}

/* y.dtype, y.dtype.element_ty: the element type of the tensor or tile that has the name; NULL: it is none. */
Str habit_element(Cx *cx, const Expr *e)
{
	static const char *const words[] = {
		"dtype", "element_ty", "element_type", "scalar", "elem", "value_type", "type",
	};
	int members = 0;
	for (; e->kind == EX_MEMBER; e = e->u.mem.base, members++) {
		bool known = false;
		for (size_t i = 0; i < sizeof words / sizeof *words; i++) known |= !strcmp(e->u.mem.name.s, words[i]);
		if (!known) return NULL;
	}
	const Bind *b = members && e->kind == EX_NAME ? scope_find(cx, e->u.name) : NULL;
	if (!b) return NULL;
	if (b->kind == BIND_VAR) return b->type && type_is_tile(b->type) ? elem_word(cx, b->type->elem) : NULL;
	if (b->kind != BIND_SV) return NULL;
	if (b->sv.kind == SV_VIEW) return elem_word(cx, b->sv.u.view->elem);
	return sv_is_tile(b->sv) ? elem_word(cx, b->sv.type->elem) : NULL;
}

/* np.float16, float16, "float16": an argument that names a type in the words of another language. NULL: it is none. */
static Str type_word(Cx *cx, const Expr *e)
{
	Elem elem;
	Str word = habit_element(cx, e);
	if (word) return word;
	if (e->kind == EX_STRING) word = str_intern(e->u.str.s);
	else if (e->kind == EX_NAME && !is_ours(cx, e)) word = e->u.name;
	else if (e->kind == EX_MEMBER && e->u.mem.base->kind == EX_NAME && !is_ours(cx, e->u.mem.base)
		&& foreign_word(FW_PREFIX, e->u.mem.base->u.name)) word = e->u.mem.name.s;
	if (word && !elem_by_name(word, &elem)) word = foreign_word(FW_TYPE, word);
	return word && *word ? word : NULL;
}

static Str argument(Cx *cx, const Expr *e, bool wrap)
{
	Str word = type_word(cx, e);
	return word ? word : wrap ? term(e) : span_source(e->span);
}

/* The template with arguments in place of %1, %(1) ..; NULL: it takes another number of them. */
static Str expand(Cx *cx, const char *template, int n, const Expr *const *args, Span at)
{
	Out *o = out_new();
	int most = 0;
	for (const char *p = template; *p; p++) {
		bool wrap = p[0] == '%' && p[1] == '(';
		int i = p[0] == '%' ? p[wrap ? 2 : 1] - '1' : -1;
		if (i >= n) return NULL;
		if (i < 0) {
			out_printf(o, "%c", *p);
			continue;
		}
		out_puts(o, argument(cx, args[i], wrap));
		p += wrap ? 3 : 1;
		if (i >= most) most = i + 1;
	}
	if (most != n) return NULL;
	Str text = out_take(o);
	if (*template != '(' || !stands_alone(at)) return text;
	return str_intern_n(text + 1, str_len(text) - 2);
}

bool habit_call(Cx *cx, Diag *d, Str word, const Expr *call, const Expr *recv)
{
	enum { MOST = 4 };
	const char *template = foreign_word(FW_CALL, word);
	const ArgVec *a = &call->u.call.args;
	const Expr *args[MOST];
	int n = 0;
	if (!template || a->n + (recv != NULL) > MOST) return false;
	if (recv) args[n++] = recv;
	for (int i = 0; i < a->n; i++) {
		if (a->p[i].name.s) return false;
		args[n++] = a->p[i].value;
	}
	Str fix = expand(cx, template, n, args, call->span);
	if (!fix) return false;
	diag_help(d, "write `%s`", fix);
	diag_edit(d, call->span, fix);
	return true;
}

bool habit_member(Cx *cx, Diag *d, const Expr *member, const Expr *call)
{
	const Expr *base = member->u.mem.base;
	Str name = member->u.mem.name.s;
	const char *template = foreign_word(FW_MEMBER, name), *say = foreign_word(FW_MEMBERSAY, name);
	if (template && (!call || !call->u.call.args.n)) {
		Span at = call ? call->span : member->span;
		Str fix = expand(cx, template, 1, &base, at);
		diag_help(d, "write `%s`", fix);
		diag_edit(d, at, fix);
	} else if (!(call && habit_call(cx, d, name, call, base))) {
		if (!say) return false;
		diag_help(d, say, span_source(base->span));
	}
	return true;
}

/* blockIdx.x, threadIdx.y: one message for all of a line, whose words mean something together only. */
static bool coordinate(Cx *cx, const Expr *member)
{
	const Expr *base = member->u.mem.base;
	Str axis = member->u.mem.name.s, word = base->u.name;
	const char *ours = foreign_word(FW_COORD, word);
	if ((!ours && strcmp(word, "threadIdx") && strcmp(word, "blockDim")) || str_len(axis) != 1 || !strchr("xyz", *axis))
		return false;
	Place line = src_place(base->span.lo), said = src_place(cx->s->coordinate ? cx->s->coordinate : base->span.lo);
	bool again = cx->s->coordinate && said.src == line.src && said.line == line.line;
	cx->s->coordinate = base->span.lo;
	if (again) return true;
	Diag *d = cx_diag(cx, D_NAME_UNKNOWN, base->span, word);
	if (ours) {
		diag_help(d, "write `%s(%d)`", ours, *axis - 'x');
		diag_edit(d, member->span, str_fmt("%s(%d)", ours, *axis - 'x'));
	} else {
		diag_help(d, "%s", foreign_word(FW_SAY, word));
	}
	return true;
}

bool habit_prefixed(Cx *cx, const Expr *member, const Expr *call)
{
	const Expr *base = member->u.mem.base;
	bool bad;
	if (base->kind == EX_NAME && !scope_find(cx, base->u.name) && coordinate(cx, member)) return true;
	if (base->kind != EX_NAME || !foreign_word(FW_PREFIX, base->u.name)) return false;
	if (scope_find(cx, base->u.name) || scope_global(cx, base->u.name, base->span, &bad)) return false;
	Str word = member->u.mem.name.s;
	const char *ours = ours_of(word), *say = foreign_word(FW_SAY, word);
	int args = call ? call->u.call.args.n : 0;
	bool fits;
	Str file = library_with(cx->s, word, args, &fits);
	Diag *d = cx_diag(cx, D_NAME_UNKNOWN, base->span, base->u.name);
	if (call && habit_call(cx, d, word, call, NULL)) return true;
	if (ours) {
		diag_help(d, "operations have no prefix: write `%s`", ours);
		diag_edit(d, member->span, ours);
	} else if (file && fits) {
		habit_import(cx, d, file);
		diag_edit(d, member->span, word);
	} else {
		diag_help(d, "%s", say ? say : "operations have no prefix");
	}
	return true;
}

void habit_import(Cx *cx, Diag *d, Str file)
{
	uint32_t top = cx->unit->ast->src->base;
	diag_help(d, "it is a function of the library, which `import \"%s\";` at the top of the file makes known", file);
	diag_edit(d, (Span){ top, top }, str_fmt("import \"%s\";\n", file));
}

/* ---- x.shape[0], x.stride[1], x.size[0] ---- */

bool habit_extent(Cx *cx, const Expr *index, Sv base)
{
	const Expr *member = index->u.idx.base;
	Str name = member->u.mem.name.s, of = span_source(member->u.mem.base->span);
	bool shape = !strcmp(name, "shape") || !strcmp(name, "size"),
		stride = !strcmp(name, "stride") || !strcmp(name, "strides");
	if ((!shape && !stride) || index->u.idx.items.n != 1 || (base.kind != SV_VIEW && !sv_is_tile(base))) return false;
	Diag *d = cx_diag(cx, D_NO_MEMBER, member->u.mem.name.span, sv_what(base), name);
	const Expr *item = index->u.idx.items.p[0];
	Sv axis = item->kind == EX_INT ? lit_int(cx, item) : sv_none(item->span);
	if (base.kind == SV_VIEW) {
		Str fix = str_fmt("%s.%s(%s)", of, shape ? "extent" : "stride", span_source(item->span));
		diag_help(d, "write `%s`", fix);
		diag_edit(d, index->span, fix);
		return true;
	}
	Str n = shape && axis.kind == SV_INT && axis.u.i < base.type->rank ? extent_name(cx, base.type->log2[axis.u.i])
		: NULL;
	if (n) {
		diag_help(d, "a tile's extents are compile-time values: write `%s`", n);
		diag_edit(d, index->span, n);
	} else {
		diag_help(d, "a tile's extents are compile-time values: its type has them");
	}
	return true;
}
