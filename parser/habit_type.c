/* Types as C, Rust, Zig and Python write them, in the place of a type: pointers, arrays, slices, modules' names, and
 * tiles and tensors without what belongs to them. */
#include "parser/parse_impl.h"
#include <string.h>
#include "ast/foreign.h"
#include "grammar/tile_tab.h"

static bool is_name(const Token *t) { return t->kind == TOK_IDENT; }

static bool declares(const Gram *g) { return g->first == TOK_LET || g->first == TOK_VAR; }

static const char *element_word(const Token *t)
{
	const char *ours = is_name(t) ? foreign_word(FW_TYPE, t->v.name.s) : NULL;
	return ours && *ours ? ours : is_name(t) ? t->v.name.s : "f32";
}

/* What a parameter that is memory looks like here. */
static bool say_memory(Diag *d, const char *name, const char *elem)
{
	diag_help(d, "memory is a tensor, whose extent belongs to its type, as in `%s: tensor<%s, [n]>`; a pointer without "
		"one is `ptr<%s>`", name, elem, elem);
	return true;
}

/* let v: f32[16] = ..., kernel k(x: f32[n, m]) */
static bool array_type(Gram *g, Expected e)
{
	const Token *elem = &g->prev[0];
	if (g->last.kind != TOK_LBRACK || !is_name(elem) || g->prev[1].kind != TOK_COLON) return false;
	if (expects(e, "a name")) return false;
	Ahead a = ahead_from(g);
	bool empty = ahead_step(&a)->kind == TOK_RBRACK;
	if (empty || !ahead_to(&a, TOK_RBRACK) || (!declares(g) && g->first != TOK_KERNEL && g->first != TOK_ENTRY)) {
		if (declares(g) || !is_name(&g->prev[2])) return false;
		return say_memory(expect_say(g, e), g->prev[2].v.name.s, element_word(elem));
	}
	return expect_write(expect_say(g, e), parse_span(elem->span.lo, a.t.span.hi), arena_printf(A_UNIT, "%s<%s, %s]>",
		declares(g) ? "tile" : "tensor", element_word(elem), ahead_text(&a, g->last.span.lo)));
}

/* f(float *x) */
static bool c_pointer(Gram *g, Expected e)
{
	Token name;
	const Token *type = &g->prev[0];
	lex_peek(&g->lex, &name, 1);
	if (g->last.kind != TOK_STAR || !is_name(type) || !is_name(&name)) return false;
	if (!expects(e, ":") || expects(e, ",")) return false;
	return say_memory(diag0(D_C_PARAMETER, parse_span(type->span.lo, name.span.hi)), name.v.name.s, element_word(type));
}

/* x: f32* */
static bool pointer_behind(Gram *g, Expected e)
{
	const Token *p = g->prev;
	if (g->last.kind != TOK_STAR || !is_name(&p[0]) || p[1].kind != TOK_COLON || !is_name(&p[2])) return false;
	return say_memory(expect_say(g, e), p[2].v.name.s, element_word(&p[0]));
}

/* After an `&`: a slice follows, not the type that is referred to. */
bool habit_reference(const Gram *g)
{
	Ahead a = ahead_from(g);
	int k = ahead_step(&a)->kind;
	if (k == TOK_IDENT && !strcmp(a.t.v.name.s, "mut")) k = ahead_step(&a)->kind;
	return k == TOK_LBRACK;
}

/* x: *f32, *const f32, &[f32], [f32; n], []f32 */
static bool pointer_before(Gram *g, Expected e)
{
	int k = g->last.kind;
	bool begins = k == TOK_STAR || k == TOK_LBRACK || (k == TOK_AMP && habit_reference(g));
	if (!begins || g->prev[0].kind != TOK_COLON || !is_name(&g->prev[1]) || !expects(e, "tensor")) return false;
	Ahead a = ahead_from(g);
	for (int left = 8; left && a.t.kind != TOK_END; left--, ahead_step(&a))
		if (is_name(&a.t) && strcmp(a.t.v.name.s, "mut") != 0) break;
	Diag *d = expect_say(g, e);
	if (!declares(g)) return say_memory(d, g->prev[1].v.name.s, element_word(&a.t));
	diag_help(d, "a pointer is `ptr<%s>`, values side by side are a tile, as in `tile<%s, [64]>`", element_word(&a.t),
		element_word(&a.t));
	return true;
}

/* BLOCK: tl.constexpr, a: np.float32, A: T.Tensor(..) */
static bool prefixed_type(Gram *g, Expected e)
{
	const Token *p = g->prev;
	Token word;
	lex_peek(&g->lex, &word, 1);
	if (g->last.kind != TOK_DOT || !is_name(&p[0]) || !foreign_word(FW_PREFIX, p[0].v.name.s)) return false;
	if (p[1].kind != TOK_COLON || !is_name(&p[2]) || !is_name(&word)) return false;
	const char *name = p[2].v.name.s, *ours = foreign_word(FW_TYPE, word.v.name.s);
	if (ours && *ours) return expect_write(expect_say(g, e), parse_span(p[0].span.lo, word.span.hi), ours);
	Diag *d = expect_say(g, e);
	if (!strcmp(word.v.name.s, "constexpr"))
		diag_help(d, "a value that the compiler knows is a generic parameter, as in `kernel k<%s: int>(...)`", name);
	else diag_help(d, "memory is a tensor, whose extent belongs to its type, as in `%s: tensor<f32, [n]>`", name);
	return true;
}

/* let v: tensor = .., f(x: tile) -> tile */
static bool bare_type(Gram *g, Expected e)
{
	const Token *p = g->prev;
	bool tile = p[0].kind == TOK_TILE, tensor = p[0].kind == TOK_TENSOR;
	if ((!tile && !tensor) || (p[1].kind != TOK_COLON && p[1].kind != TOK_ARROW) || !expects(e, "<")) return false;
	Diag *d = expect_say(g, e);
	if (declares(g) && g->last.kind == TOK_ASSIGN) {
		diag_help(d, "the value has a type: leave `: %s` out", token_text(p[0].kind));
		diag_edit(d, parse_span(p[1].span.lo, p[0].span.hi), "");
	} else if (tile && g->first == TOK_FN) {
		diag_help(d, "an element type and a shape belong to it, any of which `tile<T, S>` takes: write `tile<T, S>`");
		diag_edit(d, p[0].span, "tile<T, S>");
	} else {
		diag_help(d, "%s", tile ? "an element type and a shape belong to it, as in `tile<f32, [64]>`" :
			"an element type and extents belong to it, as in `tensor<f32, [n]>`");
	}
	return true;
}

/* tensor<[n]> */
static bool lacks_element(Gram *g, Expected e)
{
	const Token *p = g->prev;
	if (g->last.kind != TOK_GT || p[0].kind != TOK_RBRACK || !expects(e, ",")) return false;
	const char *text = g->lex.src->text;
	uint32_t at = p[0].span.hi - g->lex.src->base;
	for (int depth = 0; at; ) {
		char c = text[--at];
		depth += (c == ']') - (c == '[');
		if (!depth) break;
	}
	if (at < 7 || strncmp(text + at - 7, "tensor<", 7) != 0) return false;
	uint32_t place = g->lex.src->base + at;
	diag_help(expect_say(g, e), "its element type stands first, as in `tensor<f32, %s>`",
		parse_text(g, parse_span(place, p[0].span.hi)));
	return true;
}

bool habit_type(Gram *g, Expected e)
{
	return array_type(g, e) || c_pointer(g, e) || pointer_behind(g, e) || pointer_before(g, e) || prefixed_type(g, e)
		|| bare_type(g, e) || lacks_element(g, e);
}
