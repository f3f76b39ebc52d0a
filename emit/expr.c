/* Checked expressions of launchers; expr.h has the picture. */
#include "emit/expr.h"

#include "emit/names.h"

/* ---- which functions have any ---- */
static int checked_all, checked_before;         /* in all; ahead of the function whose body is being printed */

int host_checked(void) { return checked_all; }
bool host_checks(void) { return checked_all > checked_before; }

Out *host_body_since(const Out *o, int checked)
{
	Out *body = out_new();
	body->indent = o->indent;
	checked_before = checked;
	return body;
}

Out *host_body(const Out *o) { return host_body_since(o, checked_all); }

void host_body_end(Out *o, Out *body)
{
	if (host_checks()) out_puts(o, "int ct_bad = 0;\n");
	out_raw(o, body->p, body->n);
	out_free(body);
}

const char *host_bad(void)
{
	checked_all++;
	return "&ct_bad";
}

void host_overflow(Out *o, Str who, const char *what)
{
	if (host_checks())
		out_printf(o, "if (ct_bad) return ct_fail(CTILE_OVERFLOW, \"%s: %s does not fit 64 bits\");\n", who, what);
}

/* ---- subexpressions that have names ---- */
typedef struct Part {
	const Sym *s;
	int uses;               /* as an operand of another one, or as one of the expressions */
	bool always;            /* evaluated with the expressions: no condition stands before it */
	int length;             /* operations and leaves, where what has a name is one */
	Str name;               /* NULL: it is written out */
} Part;

struct HostLets {
	VEC(Part) parts;        /* operands first: an order that no text of the IR loses, as it does the age of nodes */
	const Sym *const *whole;
	int n;
	const char *prefix;
};

enum { LENGTH = 12 };           /* of an expression in one line */

static Part *part_of(const HostLets *l, const Sym *s)
{
	for (int i = 0; i < l->parts.n; i++)
		if (l->parts.p[i].s == s) return &l->parts.p[i];
	return NULL;
}

/* Is an operand evaluated whenever the operation is? */
static bool is_unconditional(const Sym *s, int i)
{
	return i == 0 || (s->kind != SYM_SELECT && s->kind != SYM_AND && s->kind != SYM_OR);
}

/* It is evaluated always, and what it takes. */
static void mark_always(HostLets *l, const Sym *s)
{
	part_of(l, s)->always = true;
	for (int i = 0; i < s->n; i++)
		if (is_unconditional(s, i) && !part_of(l, s->arg[i])->always) mark_always(l, s->arg[i]);
}

static void count_use(HostLets *l, const Sym *s, bool always)
{
	Part *p = part_of(l, s);
	if (p) {
		p->uses++;
		if (always && !p->always) mark_always(l, s);
		return;
	}
	for (int i = 0; i < s->n; i++) count_use(l, s->arg[i], always && is_unconditional(s, i));
	vec_push(A_UNIT, &l->parts, ((Part){ .s = s, .uses = 1, .always = always }));
}

HostLets *host_lets(const Sym *const *s, int n, const char *prefix)
{
	HostLets *l = NEW(A_UNIT, HostLets);
	*l = (HostLets){ .whole = s, .n = n, .prefix = prefix };
	for (int i = 0; i < n; i++) count_use(l, s[i], true);
	return l;
}

void host_lets_name(HostLets *l, int i, Str name)
{
	Part *p = part_of(l, l->whole[i]);
	if (!p->name && p->s->n) p->name = name;
}

static bool is_number(const Sym *s)
{
	switch (s->kind) {
	case SYM_ADD: case SYM_MUL: case SYM_DIV: case SYM_CDIV: case SYM_MOD: case SYM_MIN: case SYM_MAX: case SYM_SELECT:
		return true;
	default: return false;
	}
}

void host_lets_print(Out *o, HostLets *l)
{
	int named = 0;
	for (int i = 0; i < l->parts.n; i++) {
		Part *p = &l->parts.p[i];
		p->length = 1;
		for (int k = 0; k < p->s->n; k++) {
			const Part *q = part_of(l, p->s->arg[k]);
			p->length += q->name ? 1 : q->length;
		}
		bool wanted = is_number(p->s) && p->always && (p->uses > 1 || p->length > LENGTH);
		Str name = p->name ? p->name : wanted ? str_fmt("%s%d", l->prefix, named++) : NULL;
		if (!name) continue;
		p->name = NULL;         /* while it is written out itself */
		out_printf(o, "const int64_t %s = ", name);
		host_expr_by(o, p->s, l);
		out_puts(o, ";\n");
		p->name = name;
	}
}

/* ---- expressions ---- */
static void expr_call(Out *o, const Sym *s, const char *f, bool checked, const HostLets *l)
{
	checked_all += checked;
	for (int i = 1; i < s->n; i++) out_printf(o, "%s(", f);
	host_expr_by(o, s->arg[0], l);
	for (int i = 1; i < s->n; i++) {
		out_puts(o, ", ");
		host_expr_by(o, s->arg[i], l);
		out_puts(o, checked ? ", &ct_bad)" : ")");
	}
}

static void expr_infix(Out *o, const Sym *s, const char *op, const HostLets *l)
{
	out_puts(o, "(");
	host_expr_by(o, s->arg[0], l);
	out_printf(o, " %s ", op);
	host_expr_by(o, s->arg[1], l);
	out_puts(o, ")");
}

static void expr_select(Out *o, const Sym *s, const HostLets *l)
{
	out_puts(o, "(");
	host_expr_by(o, s->arg[0], l);
	out_puts(o, " ? ");
	host_expr_by(o, s->arg[1], l);
	out_puts(o, " : ");
	host_expr_by(o, s->arg[2], l);
	out_puts(o, ")");
}

void host_expr_by(Out *o, const Sym *s, const HostLets *l)
{
	const Part *p = l && s->n ? part_of(l, s) : NULL;
	if (p && p->name) {
		out_puts(o, p->name);
		return;
	}
	switch (s->kind) {
	case SYM_ADD: expr_call(o, s, "ct_host_add", true, l); return;
	case SYM_MUL: expr_call(o, s, "ct_host_mul", true, l); return;
	case SYM_DIV: expr_call(o, s, "ct_host_div", true, l); return;
	case SYM_MOD: expr_call(o, s, "ct_host_mod", true, l); return;
	case SYM_CDIV: expr_call(o, s, "ct_host_cdiv", true, l); return;
	case SYM_MIN: expr_call(o, s, "ct_host_min", false, l); return;
	case SYM_MAX: expr_call(o, s, "ct_host_max", false, l); return;
	case SYM_EQ: expr_infix(o, s, "==", l); return;
	case SYM_NE: expr_infix(o, s, "!=", l); return;
	case SYM_LT: expr_infix(o, s, "<", l); return;
	case SYM_LE: expr_infix(o, s, "<=", l); return;
	case SYM_AND: expr_infix(o, s, "&&", l); return;
	case SYM_OR: expr_infix(o, s, "||", l); return;
	case SYM_SELECT: expr_select(o, s, l); return;
	case SYM_NOT:
		out_puts(o, "!");
		host_expr_by(o, s->arg[0], l);
		return;
	case SYM_CONST: case SYM_ATOM: case SYM_ALIGNED:
		out_puts(o, sym_c(s));
		return;
	}
}

void host_expr(Out *o, const Sym *s) { host_expr_by(o, s, NULL); }

void host_sizes(Out *o, Str kernel, const Sym *const *size, int n)
{
	HostLets *l = host_lets(size, n, "ct_v");
	for (int i = 0; i < n; i++) host_lets_name(l, i, str_fmt("ct_l%d", i));
	host_lets_print(o, l);
	for (int i = 0; i < n; i++) {
		const Part *p = part_of(l, size[i]);
		if (p->name == str_fmt("ct_l%d", i)) continue;
		out_printf(o, "const int64_t ct_l%d = ", i);
		host_expr_by(o, size[i], l);
		out_puts(o, ";\n");
	}
	if (n) host_overflow(o, kernel, "a size");
}
