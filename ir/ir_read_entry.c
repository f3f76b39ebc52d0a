/* Entries of the text form. */
#include "ir/ir_read.h"

static const IrParam *entry_tensor(const Reader *r, int64_t i)
{
	if (i < 0) return NULL;
	if (i < r->entry->params.n) return &r->entry->params.p[i];
	return i - r->entry->params.n < r->scratch.n ? r->scratch.p[i - r->entry->params.n] : NULL;
}

static void read_ref(Reader *r, HostArg *a)
{
	Span at = lex_span(&r->l);
	Str name = lex_name(&r->l, "a name");
	lex_need(&r->l, '.', "`.` and a number");
	int64_t i = lex_int(&r->l, "a number");
	if (r->l.failed) return;
	const IrParam *p = entry_tensor(r, i);
	if (!p || p->name != name) {
		lex_error(&r->l, D_IR_NAME, at, str_fmt("@%s.%s", name, str_i64(i)), r->owner);
		return;
	}
	a->is_tensor = p->is_tensor;
	if (p->is_tensor) a->tensor = (int)i;
	else a->scalar = (int)i;
}

static HostArg read_host_arg(Reader *r, Elem e)
{
	HostArg a = { .scalar = -1 };
	if (lex_accept(&r->l, '@')) {
		read_ref(r, &a);
		if (a.is_tensor && lex_accept(&r->l, '+')) a.offset = rd_sym(r);
	} else if (lex_accept(&r->l, '#')) {
		a.is_num = true;
		a.num = rd_num(r, e, rd_num_text(r));
	} else {
		a.value = rd_sym(r);
	}
	return a;
}

static void read_rule(Reader *r, HostStmt *s)
{
	LaunchRule rule = { 0 };
	if (!lex_accept_word(&r->l, "when")) lex_expected(&r->l, "`when`");
	if (!lex_accept_word(&r->l, "any")) rule.arch = lex_name(&r->l, "an architecture");
	if (lex_accept(&r->l, ',')) rule.cond = rd_sym(r);
	if (!lex_accept_word(&r->l, "use")) lex_expected(&r->l, "`use`");
	rule.variant = rd_small(r, "a variant's number");
	if (lex_accept_word(&r->l, "cost")) rule.cost = rd_sym(r);
	vec_push(A_UNIT, &s->u.launch.rules, rule);
}

static void read_variants(Reader *r, HostStmt *s)
{
	do {
		Span at = lex_span(&r->l);
		Str name = lex_name(&r->l, "a kernel's name");
		Variant v = { name ? rd_get(&r->fns, name) : NULL };
		if (name && !v.fn) lex_error(&r->l, D_IR_NAME, at, name, r->l.src->path);
		if (v.fn) vec_push(A_UNIT, &s->u.launch.variants, v);
	} while (lex_accept(&r->l, ','));
}

static void read_launch(Reader *r, HostStmt *s)
{
	read_variants(r, s);
	lex_need(&r->l, '(', "`(`");
	if (r->l.failed) return;
	const Fn *fn = s->u.launch.variants.p[0].fn;
	while (!r->l.failed && r->l.tok != ')') {
		int i = s->u.launch.args.n;
		vec_push(A_UNIT, &s->u.launch.args, read_host_arg(r, i < fn->params.n ? fn->params.p[i].elem : EL_I64));
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ')', "`)`");
	if (!lex_accept_word(&r->l, "dims")) lex_expected(&r->l, "`dims`");
	lex_need(&r->l, '[', "`[`");
	while (!r->l.failed && r->l.tok != ']') {
		vec_push(A_UNIT, &s->u.launch.dims, rd_sym(r));
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ']', "`]`");
	s->u.launch.tuned = lex_accept_word(&r->l, "tuned");
	if (!lex_accept(&r->l, '{')) return;
	while (!r->l.failed && r->l.tok != '}') {
		if (lex_accept_word(&r->l, "where")) vec_push(A_UNIT, &s->u.launch.where, rd_where(r));
		else read_rule(r, s);
	}
	lex_need(&r->l, '}', "`}`");
}

static void read_let(Reader *r, HostStmt *s)
{
	Span at = lex_span(&r->l);
	s->u.let.name = lex_name(&r->l, "a name");
	lex_need(&r->l, '=', "`=`");
	if (!lex_accept_word(&r->l, "multiprocessors")) s->u.let.value = rd_sym(r);
	rd_declare(r, s->u.let.name, ATOM_PARAM, at);
}

static void read_host(Reader *r, HostVec *v);

static void read_host_stmt(Reader *r, HostVec *v)
{
	HostStmt *s = NEW(A_UNIT, HostStmt);
	s->span = lex_span(&r->l);
	if (lex_accept_word(&r->l, "scratch")) {
		s->kind = HOST_SCRATCH;
		s->u.scratch.tensor = rd_param(r);
		vec_push(A_UNIT, &r->scratch, &s->u.scratch.tensor);
	} else if (lex_accept_word(&r->l, "launch")) {
		s->kind = HOST_LAUNCH;
		read_launch(r, s);
	} else if (lex_accept_word(&r->l, "if")) {
		s->kind = HOST_IF;
		s->u.ifs.cond = rd_sym(r);
		read_host(r, &s->u.ifs.then);
		if (lex_accept_word(&r->l, "else")) read_host(r, &s->u.ifs.other);
	} else if (lex_accept_word(&r->l, "let")) {
		s->kind = HOST_LET;
		read_let(r, s);
	} else {
		lex_expected(&r->l, "`scratch`, `launch`, `if` or `let`");
		return;
	}
	vec_push(A_UNIT, v, s);
}

static void read_host(Reader *r, HostVec *v)
{
	if (!rd_deeper(r)) return;
	lex_need(&r->l, '{', "`{`");
	while (!r->l.failed && r->l.tok != '}') read_host_stmt(r, v);
	lex_need(&r->l, '}', "`}`");
	r->depth--;
}

static bool read_entry_line(Reader *r, Entry *e)
{
	if (lex_accept_word(&r->l, "doc")) e->doc = rd_string(r, "a string");
	else if (lex_accept_word(&r->l, "dim")) vec_push(A_UNIT, &e->dims, rd_dim(r, false));
	else if (lex_accept_word(&r->l, "stride")) vec_push(A_UNIT, &e->dims, rd_dim(r, true));
	else if (lex_accept_word(&r->l, "param")) vec_push(A_UNIT, &e->params, rd_param(r));
	else if (lex_accept_word(&r->l, "where")) vec_push(A_UNIT, &e->where, rd_where(r));
	else return false;
	return true;
}

void rd_entry(Reader *r)
{
	Entry *e = r->entry = NEW(A_UNIT, Entry);
	e->span = lex_span(&r->l);
	e->name = r->owner = lex_name(&r->l, "an entry's name");
	r->scratch.n = 0;
	lex_need(&r->l, '{', "`{`");
	rd_declare_names(r);
	while (!r->l.failed && read_entry_line(r, e)) continue;
	if (!lex_accept_word(&r->l, "body")) lex_expected(&r->l, "a line of the entry's head, or `body`");
	read_host(r, &e->body);
	lex_need(&r->l, '}', "`}`");
	vec_push(A_UNIT, &r->m->entries, e);
}
