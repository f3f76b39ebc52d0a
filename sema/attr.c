/* Attributes: where each may stand and which values it takes. Hints of kernels go into the Fn, those of statements into
 * the context while the statement is built. */
#include "ast/foreign.h"
#include "sema/scope.h"

#include <string.h>

enum { ON_KERNEL = 1, ON_FN = 2, ON_LOOP = 4, ON_STMT = 8 };

typedef struct AttrRule {
	const char *name;
	int on;
	int lo, hi;             /* value, one needed; hi 0: takes none */
	bool pow2;
	const char *values;
} AttrRule;

static const AttrRule rules[] = {
	{ "warps", ON_KERNEL, 1, 32, true, "a power of two from 1 to 32" },
	{ "stages", ON_KERNEL | ON_LOOP, 1, 16, false, "a number from 1 to 16" },
	{ "occupancy", ON_KERNEL, 1, 32, false, "a number from 1 to 32" },
	{ "cluster", ON_KERNEL, 1, 16, true, "1, 2, 4, 8 or 16" },
	{ "latency", ON_KERNEL | ON_LOOP | ON_STMT, 1, 10, false, "a number from 1 to 10" },
	{ "unroll", ON_LOOP, 1, 1024, false, "a number from 1 to 1024" },
	{ "no_tma", ON_KERNEL | ON_LOOP | ON_STMT, 0, 0, false, "no value" },
	{ "contract", ON_KERNEL | ON_FN | ON_LOOP | ON_STMT, 0, 0, false, "no value" },
	{ "no_contract", ON_KERNEL | ON_FN | ON_LOOP | ON_STMT, 0, 0, false, "no value" },
	{ "ordered", ON_KERNEL, 0, 0, false, "no value" }
};
enum { N_RULES = sizeof rules / sizeof *rules };

static Str list_rules(void)
{
	Out *o = out_new();
	for (int i = 0; i < N_RULES; i++)
		out_printf(o, "%s`@%s`", !i ? "" : i == N_RULES - 1 ? " and " : ", ", rules[i].name);
	return out_take(o);
}

static bool first_of_name(Cx *cx, const AttrVec *v, int i)
{
	for (int k = 0; k < i; k++) {
		if (v->p[k].name.s != v->p[i].name.s) continue;
		Diag *d = cx_diag(cx, D_ATTR, v->p[i].name.span, v->p[i].name.s, "stands here twice");
		diag_label(d, v->p[k].name.span, "here first");
		return false;
	}
	return true;
}

static const AttrRule *find_rule(Cx *cx, const Attr *a, int on)
{
	Near n;
	near_begin(&n, a->name.s);
	for (int i = 0; i < N_RULES; i++) {
		near_offer(&n, str_intern(rules[i].name));
		if (strcmp(rules[i].name, a->name.s) != 0) continue;
		if (rules[i].on & on) return &rules[i];
		const char *where = rules[i].on == ON_KERNEL ? "stands before a kernel only"
			: rules[i].on == ON_LOOP ? "stands before a loop only" : "cannot stand here";
		cx_diag(cx, D_ATTR, a->name.span, a->name.s, where);
		return NULL;
	}
	Diag *d = cx_diag(cx, D_ATTR, a->name.span, a->name.s, "is no attribute");
	const char *ours = foreign_word(FW_NAME, a->name.s), *say = foreign_word(FW_ATTR, a->name.s);
	if (ours) n.best = str_intern(ours);
	if (!n.best) diag_note(d, "there are %s", list_rules());
	if (ours) {
		diag_help(d, "write `@%s`", ours);
		diag_edit(d, a->name.span, ours);
	} else if (say) {
		diag_help(d, "%s", say);
	} else if (n.best) {
		diag_ask(d, str_fmt("@%s", n.best));
	}
	return NULL;
}

/* "sm_90", "sm_90a". */
static bool is_arch(Str s)
{
	size_t n = strncmp(s, "sm_", 3) == 0 ? strspn(s + 3, "0123456789") : 0;
	return n >= 2 && (s[3 + n] == 0 || ((s[3 + n] == 'a' || s[3 + n] == 'f') && s[4 + n] == 0));
}

static bool read_value(Cx *cx, const AttrRule *r, const Arg *a, int64_t *v)
{
	Int i;
	if (!sema_const_int(cx, a->value, &i)) return false;
	if (i >= r->lo && i <= r->hi && (!r->pow2 || (i & (i - 1)) == 0)) {
		*v = (int64_t)i;
		return true;
	}
	cx_diag(cx, D_ATTR, a->value->span, r->name, str_fmt("takes %s", r->values));
	return false;
}

/* Hints that no version of a kernel follows. Without architectures, for target `c`, no hint has
 * an effect: that is documented. */
static void warn_idle(Cx *cx, const Attr *a, Str name)
{
	bool stages = !strcmp(name, "stages"), latency = !strcmp(name, "latency"), tma = !strcmp(name, "no_tma");
	if (!cx->opt->least_arch || !(stages || latency || tma)) return;
	const char *why = stages ? "the compiler chooses how many iterations of a loop are loaded ahead" : latency
		? "the compiler chooses how far ahead tiles are loaded" : "the compiler chooses how tiles are copied";
	Diag *d = cx_diag(cx, D_HINT_IDLE, a->span, str_fmt("`@%s`", name), why);
	diag_help(d, "leave it out");
}

/* The attribute's values by architecture; false: wrong, reported. */
static bool read_attr(Cx *cx, const Attr *a, const AttrRule *r, Hint *h)
{
	h->name = a->name.s;
	h->span = a->span;
	if (r->hi == 0 ? a->args.n != 0 : a->args.n < 1 || a->args.p[0].name.s) {
		cx_diag(cx, D_ATTR, a->span, r->name, str_fmt("takes %s", r->values));
		return false;
	}
	for (int i = 0; i < a->args.n; i++) {
		const Arg *arg = &a->args.p[i];
		int64_t v;
		if (i > 0 && (!arg->name.s || !is_arch(arg->name.s))) {
			cx_diag(cx, D_ATTR, arg->value->span, r->name, "takes one value, then values for "
				"architectures as in `sm_90: 2`");
			return false;
		}
		if (arg->name.s && cx->opt->arch_known && !cx->opt->arch_known(arg->name.s)) {
			Diag *d = cx_diag(cx, D_ATTR, arg->name.span, r->name, str_fmt("knows no architecture `%s`", arg->name.s));
			diag_help(d, "leave it out: the first value is that of all architectures without one of their own");
			return false;
		}
		if (!read_value(cx, r, arg, &v)) return false;
		if (h->n == (int)(sizeof h->v / sizeof *h->v)) {
			cx_diag(cx, D_ATTR, a->span, r->name, "takes values for at most 7 architectures");
			return false;
		}
		h->v[h->n].arch = arg->name.s;
		h->v[h->n++].value = v;
	}
	return true;
}

static const Hint *kept_hint(const Hint *h)
{
	Hint *kept = NEW(A_UNIT, Hint);
	*kept = *h;
	return kept;
}

/* Operations carry their own marks, so that @contract in a kernel marked @no_contract only
 * takes the kernel's mark away. */
void attrs_of_stmt(Cx *cx, const Stmt *s)
{
	bool loop = (s->kind == ST_FOR && !s->is_const) || s->kind == ST_WHILE;
	for (int i = 0; i < s->attrs.n; i++) {
		const Attr *a = &s->attrs.p[i];
		Hint h = { 0 };
		const AttrRule *r = find_rule(cx, a, loop ? ON_LOOP : ON_STMT);
		if (!first_of_name(cx, &s->attrs, i) || !r || !read_attr(cx, a, r, &h)) continue;
		warn_idle(cx, a, str_intern(r->name));
		if (strcmp(r->name, "latency") == 0) cx->latency = h.v[0].value;
		else if (strcmp(r->name, "unroll") == 0) cx->unroll = kept_hint(&h);
		else if (strcmp(r->name, "no_contract") == 0) cx->no_contract = true;
		else if (strcmp(r->name, "contract") == 0) cx->no_contract = cx->fn->no_contract = false;
	}
}

void attrs_of_fn(Cx *cx, const Item *it)
{
	for (int i = 0; i < it->attrs.n; i++) {
		const Attr *a = &it->attrs.p[i];
		Hint h = { 0 };
		const AttrRule *r = find_rule(cx, a, ON_FN);
		if (!first_of_name(cx, &it->attrs, i) || !r || !read_attr(cx, a, r, &h)) continue;
		cx->no_contract = strcmp(r->name, "no_contract") == 0;
		if (!cx->no_contract) cx->fn->no_contract = false;
	}
}

void attrs_of_kernel(Cx *cx, const Item *it)
{
	for (int i = 0; i < it->attrs.n; i++) {
		const Attr *a = &it->attrs.p[i];
		Hint h = { 0 };
		const AttrRule *r = find_rule(cx, a, ON_KERNEL);
		if (!first_of_name(cx, &it->attrs, i) || !r || !read_attr(cx, a, r, &h)) continue;
		warn_idle(cx, a, str_intern(r->name));
		if (strcmp(r->name, "ordered") == 0) cx->fn->ordered = true;
		else if (strcmp(r->name, "no_contract") == 0) cx->no_contract = cx->fn->no_contract = true;
		else if (strcmp(r->name, "contract") == 0) cx->no_contract = cx->fn->no_contract = false;
		else vec_push(A_UNIT, &cx->fn->hints, h);
	}
}
