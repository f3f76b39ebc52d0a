/* Symbolic integers of the text form. */
#include <string.h>

#include "ir/ir_read.h"

static const Sym *read_sum(Reader *r);

static const Sym *zero(void)
{
	return sym_const(0);
}

static const Sym *read_call2(Reader *r, const Sym *(*make)(const Sym *, const Sym *))
{
	const Sym *a = rd_sym(r);
	lex_need(&r->l, ',', "`,`");
	const Sym *b = rd_sym(r);
	lex_need(&r->l, ')', "`)`");
	return r->l.failed ? zero() : make(a, b);
}

static const Sym *read_call(Reader *r, Str name, Span at)
{
	if (!strcmp(name, "cdiv")) return read_call2(r, sym_cdiv);
	if (!strcmp(name, "min")) return read_call2(r, sym_min);
	if (!strcmp(name, "max")) return read_call2(r, sym_max);
	if (!strcmp(name, "aligned")) {
		Str tensor = lex_name(&r->l, "a tensor's name");
		lex_need(&r->l, ',', "`,`");
		int64_t bytes = lex_int(&r->l, "a number of bytes");
		lex_need(&r->l, ')', "`)`");
		return r->l.failed ? zero() : sym_aligned(tensor, bytes);
	}
	if (!strcmp(name, "phase")) {
		Str tensor = lex_name(&r->l, "a tensor's name");
		lex_need(&r->l, ')', "`)`");
		return r->l.failed ? zero() : sym_atom(ATOM_PHASE, tensor, 0);
	}
	if (!strcmp(name, "blocks")) {
		lex_need(&r->l, ')', "`)`");
		return sym_atom(ATOM_BLOCKS, NULL, 0);
	}
	if (!strcmp(name, "bid") || !strcmp(name, "val")) {
		int64_t i = lex_int(&r->l, "a number");
		if (i < 0 || i > ID_MAX) lex_error(&r->l, D_IR_NUMBER, at, str_i64(i), "i32");
		lex_need(&r->l, ')', "`)`");
		return r->l.failed ? zero() : sym_atom(*name == 'b' ? ATOM_BID : ATOM_VAL, NULL, (int)i);
	}
	lex_error(&r->l, D_IR_NAME, at, name, r->owner);
	return zero();
}

static const Sym *read_atom(Reader *r)
{
	Span at = lex_span(&r->l);
	Str name = r->l.text;
	lex_next(&r->l);
	if (lex_accept(&r->l, '(')) return read_call(r, name, at);
	const AtomKind *kind = rd_get(&r->names, name);
	if (!kind) {
		lex_error(&r->l, D_IR_NAME, at, name, r->owner);
		return zero();
	}
	return sym_atom(*kind, name, 0);
}

static const Sym *read_primary(Reader *r)
{
	if (r->l.tok == T_NUMBER) return sym_const(lex_int(&r->l, "a number"));
	if (r->l.tok == T_NAME) return read_atom(r);
	if (!lex_accept(&r->l, '(')) {
		lex_expected(&r->l, "an expression");
		return zero();
	}
	const Sym *s = rd_sym(r);
	lex_need(&r->l, ')', "`)`");
	return s;
}

static const Sym *read_unary(Reader *r)
{
	const Sym *s = zero();
	if (!rd_deeper(r)) return s;
	if (lex_accept(&r->l, '!')) {
		s = sym_logic(SYM_NOT, read_unary(r), NULL);
	} else if (r->l.tok == '-') {
		Lex back = r->l;
		lex_next(&r->l);
		if (r->l.tok == T_NUMBER) {     /* with its sign: the least integer has no positive */
			r->l = back;
			s = sym_const(lex_int(&r->l, "a number"));
		} else {
			s = sym_sub(zero(), read_unary(r));
		}
	} else {
		s = read_primary(r);
	}
	r->depth--;
	return s;
}

static const Sym *read_product(Reader *r)
{
	const Sym *s = read_unary(r);
	for (;;) {
		if (lex_accept(&r->l, '*')) s = sym_mul(s, read_unary(r));
		else if (lex_accept(&r->l, '/')) s = sym_div(s, read_unary(r));
		else if (lex_accept(&r->l, '%')) s = sym_mod(s, read_unary(r));
		else return s;
	}
}

static const Sym *read_sum(Reader *r)
{
	const Sym *s = read_product(r);
	for (;;) {
		if (lex_accept(&r->l, '+')) s = sym_add(s, read_product(r));
		else if (lex_accept(&r->l, '-')) s = sym_sub(s, read_product(r));
		else return s;
	}
}

static const Sym *read_cmp(Reader *r)
{
	const Sym *a = read_sum(r);
	int tok = r->l.tok;
	if (tok != T_EQ && tok != T_NE && tok != T_LE && tok != T_GE && tok != '<' && tok != '>') return a;
	lex_next(&r->l);
	const Sym *b = read_sum(r);
	switch (tok) {
	case T_EQ: return sym_cmp(SYM_EQ, a, b);
	case T_NE: return sym_cmp(SYM_NE, a, b);
	case T_LE: return sym_cmp(SYM_LE, a, b);
	case T_GE: return sym_cmp(SYM_LE, b, a);
	case '<':  return sym_cmp(SYM_LT, a, b);
	default:   return sym_cmp(SYM_LT, b, a);
	}
}

static const Sym *read_and(Reader *r)
{
	const Sym *s = read_cmp(r);
	while (lex_accept(&r->l, T_AND)) s = sym_logic(SYM_AND, s, read_cmp(r));
	return s;
}

static const Sym *read_or(Reader *r)
{
	const Sym *s = read_and(r);
	while (lex_accept(&r->l, T_OR)) s = sym_logic(SYM_OR, s, read_and(r));
	return s;
}

const Sym *rd_sym(Reader *r)
{
	if (!rd_deeper(r)) return zero();
	const Sym *s = read_or(r);
	if (lex_accept(&r->l, '?')) {
		const Sym *a = rd_sym(r);
		lex_need(&r->l, ':', "`:`");
		s = sym_select(s, a, rd_sym(r));
	}
	r->depth--;
	return s;
}

int rd_syms(Reader *r, int max, const Sym **out)
{
	int n = 0;
	lex_need(&r->l, '[', "`[`");
	while (!r->l.failed && r->l.tok != ']') {
		if (n == max) {
			lex_expected(&r->l, "`]`");
			return n;
		}
		out[n++] = rd_sym(r);
		if (!lex_accept(&r->l, ',')) break;
	}
	lex_need(&r->l, ']', "`]`");
	return n;
}
