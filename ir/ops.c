/* The tables of operations and attributes, looking names up in them, and the reference of operations that is made from
 * them (--list-ops, docs/operations.md). */
#include "ir/ir.h"

#include <string.h>

#include "base/json.h"

const OpRow op_rows[OP_COUNT] = {
#define OP(id, name, form, sig, type, layout, flags, c, cuda, tile, needs, check, sim, print, doc) \
	[OP_##id] = { #id, name, FORM_##form, sig, TR_##type, LR_##layout, flags, c, cuda, tile, needs, doc },
#define A(key) (UINT64_C(1) << AT_##key)
#include "ir/ops.def"
#undef A
#undef OP
};

const unsigned op_traits[OP_COUNT] = {
#define OP(id, name, form, sig, type, layout, flags, c, cuda, tile, needs, check, sim, print, doc)
#undef OP_TRAITS
#define OP_TRAITS(id, traits) [OP_##id] = traits,
#include "ir/ops.def"
#undef OP_TRAITS
#undef OP
};

const AttrRow attr_rows[AT_COUNT] = {
#define ATTR(id, name, kind, words, of, doc) [AT_##id] = { name, AK_##kind, words, doc },
#include "ir/attrs.def"
#undef ATTR
};

/* ---- names ---- */
enum { NAME_SLOTS = 1024 };
static struct { Str name; OpCode op; } op_names[NAME_SLOTS];
_Static_assert(OP_COUNT * 2 <= NAME_SLOTS, "the table of names must stay at most half full");

static unsigned op_slot(Str name)
{
	unsigned h = str_hash(name) % NAME_SLOTS;
	while (op_names[h].name && op_names[h].name != name) h = (h + 1) % NAME_SLOTS;
	return h;
}

bool op_by_name(Str name, OpCode *op)
{
	static bool filled;
	for (int i = 0; !filled && i < OP_COUNT; i++) {
		Str s = str_intern(op_rows[i].name);
		unsigned h = op_slot(s);
		op_names[h].name = s;
		op_names[h].op = (OpCode)i;
	}
	filled = true;
	unsigned h = op_slot(name);
	if (op_names[h].name) *op = op_names[h].op;
	return op_names[h].name != NULL;
}

/* ---- words ---- */
/* The index-th word of a list, its length in *n; NULL past the end. */
static const char *word_at(const char *words, int index, size_t *n)
{
	for (; *words; words += *n + (words[*n] == ' ')) {
		*n = strcspn(words, " ");
		if (!index--) return words;
	}
	return NULL;
}

int attr_word(AttrKey key, Str word)
{
	size_t n;
	const char *w;
	for (int i = 0; (w = word_at(attr_rows[key].words, i, &n)) != NULL; i++)
		if (n == str_len(word) && memcmp(w, word, n) == 0) return i;
	return -1;
}

Str attr_word_text(AttrKey key, int index)
{
	size_t n;
	const char *w = index < 0 ? NULL : word_at(attr_rows[key].words, index, &n);
	return w ? str_intern_n(w, n) : NULL;
}

/* ---- signatures ---- */
int op_args(OpCode op, OpArg out[OP_ARGS])
{
	int n = 0;
	bool named = false;
	for (const char *s = op_rows[op].sig; *s;) {
		size_t len = strcspn(s, ",;:?");
		OpArg *a = &out[n++];
		*a = (OpArg){ .name = str_intern_n(s, len), .kind = 'v', .optional = named, .named = named, .word = AT_COUNT };
		s += len;
		if (*s == ':') {
			a->kind = s[1];
			s += 2;
		}
		if (*s == '?') {
			a->optional = true;
			s++;
		}
		for (int k = 0; named && k < AT_COUNT; k++)
			if (attr_rows[k].kind == AK_WORD && strcmp(attr_rows[k].name, a->name) == 0) a->word = (AttrKey)k;
		if (*s == ';') named = true;
		s += strspn(s, ",; ");
	}
	return n;
}

/* ---- the reference ---- */
static const char *const rule_docs[TR_COUNT] = {
#define TYPE_RULE(id, doc) [TR_##id] = doc,
#include "ir/rules.def"
#undef TYPE_RULE
};

typedef struct Listed { const char *group; OpCode op; } Listed;        /* a heading, or an operation */
static const Listed listed[] = {
#undef OP_GROUP
#define OP_GROUP(title) { title, OP_COUNT },
#define OP(id, name, form, sig, type, layout, flags, c, cuda, tile, needs, check, sim, print, doc) { NULL, OP_##id },
#include "ir/ops.def"
#undef OP
};
enum { NLISTED = sizeof listed / sizeof *listed };

static bool is_public(OpCode op)
{
	return !(op_rows[op].flags & OPF_HIDDEN);
}

static bool group_is_public(int heading)
{
	for (int i = heading + 1; i < NLISTED && !listed[i].group; i++)
		if (is_public(listed[i].op)) return true;
	return false;
}

static const char *kind_text(char kind)
{
	switch (kind) {
	case 's': return "a shape: a list of compile-time integers";
	case 't': return "an element type";
	case 'a': return "an axis, a list of axes, or absent for all; compile-time integers, 0 is the slowest";
	case 'l': return "a list of compile-time integers";
	case 'i': return "a list of integers, one for each axis: compile-time or run-time values";
	case 'f': return "a function or a lambda";
	case 'n': return "a compile-time integer";
	case 'b': return "a compile-time `true` or `false`";
	case 'q': return "a string";
	case 'w': return "a tensor or a view";
	case 'p': return "a tile of pointers";
	case 'r': return "a raw pointer, a scalar";
	case 'o': return "`layout_right` (default), `layout_left`, `layout_right_padded(a)`, `layout_left_padded(a)` or "
		"`layout_strided([s0, s1])`";
	case 'k': return "a condition: converted to bool, broadcast";
	default:  return "a tile or a scalar";
	}
}

/* What the row says to users: notes on the form inside the compiler are cut off. */
static Str public_doc(OpCode op)
{
	const char *doc = op_rows[op].doc, *end = strstr(doc, "IR operand");
	size_t n = end ? (size_t)(end - doc) : strlen(doc);
	while (n && strchr(" ;.", doc[n - 1])) n--;
	return str_intern_n(doc, n);
}

/* sum(x, axis, squeeze:, rounding:); the receiver form for what exists only on views. */
static void put_call(Out *o, OpCode op)
{
	OpArg a[OP_ARGS];
	int n = op_args(op, a), first = 0;
	if (op_rows[op].flags & OPF_VIEWCALL) out_printf(o, "%s.", a[first++].name);
	out_printf(o, "%s(", op_rows[op].name);
	for (int i = first; i < n; i++)
		out_printf(o, "%s%s%s", i > first ? ", " : "", a[i].name, a[i].named ? ":" : "");
	out_puts(o, ")");
}

/* Reads acquire, writes release, and both in one is both. Plain accesses may be weak, without an
 * order; atomics never are. */
bool op_takes_order(OpCode op, int word)
{
	Str w = attr_word_text(AT_ORDER, word);
	bool plain = op == OP_LOAD || op == OP_LOAD_AT || op == OP_STORE || op == OP_STORE_AT || op == OP_GATHER
		|| op == OP_SCATTER;
	bool load = op == OP_LOAD || op == OP_LOAD_AT || op == OP_GATHER || op == OP_ATOMIC_LOAD
		|| op == OP_ATOMIC_LOAD_PTR;
	bool store = op == OP_STORE || op == OP_STORE_AT || op == OP_SCATTER || op == OP_ATOMIC_STORE
		|| op == OP_ATOMIC_STORE_PTR;
	if (!w) return false;
	if (!strcmp(w, "weak")) return plain;
	if (!strcmp(w, "acquire")) return !store;
	if (!strcmp(w, "release")) return !load;
	if (!strcmp(w, "acquire_release")) return !load && !store;
	return true;
}

static void put_orders(Out *o, OpCode op, const char *quote)
{
	int weak = attr_word(AT_ORDER, str_intern("weak"));
	const char *sep = "";
	for (int i = op_takes_order(op, weak) ? -1 : 0; i < weak; i++) {
		if (i >= 0 && !op_takes_order(op, i)) continue;
		out_printf(o, "%s%s%s%s", sep, quote, attr_word_text(AT_ORDER, i < 0 ? weak : i), quote);
		sep = ", ";
	}
}

/* The words that the operation accepts, its default first. Functions like exp have two rounding modes of their own. */
static void put_words(Out *o, OpCode op, AttrKey key, const char *quote)
{
	Str w;
	const char *sep = "";
	if (key == AT_ROUNDING && (op == OP_EXP || op == OP_TANH)) {
		out_printf(o, "%sfull%s, %sapproximate%s", quote, quote, quote, quote);
		return;
	}
	if (key == AT_ORDER) {
		put_orders(o, op, quote);
		return;
	}
	for (int i = 0; (w = attr_word_text(key, i)) != NULL; i++) {
		if (key == AT_ROUNDING && i >= 4) continue;     /* where an operation takes more, its text says so */
		out_printf(o, "%s%s%s%s", sep, quote, w, quote);
		sep = ", ";
	}
}

static bool is_arg(OpCode op, const char *word, size_t n)
{
	OpArg a[OP_ARGS];
	int na = op == OP_COUNT ? 0 : op_args(op, a);
	for (int i = 0; i < na; i++)
		if (str_len(a[i].name) == n && memcmp(a[i].name, word, n) == 0) return true;
	return false;
}

/* With a capital letter where the text begins with a plain word; the name of an argument is none. */
static void put_sentence(Out *o, OpCode op, const char *s, const char *end)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_");
	OpCode other;
	if (!s[n] && op_by_name(str_intern(s), &other)) {
		out_printf(o, "Another name for `%s`%s", s, end);
		return;
	}
	if (n && strchr(" ,:-", s[n]) && !is_arg(op, s, n)) {
		out_printf(o, "%c%s%s", *s - 'a' + 'A', s + 1, end);
		return;
	}
	out_printf(o, "%s%s", s, end);
}

/* ---- as text ---- */
static void list_text(Out *o)
{
	for (int i = 0; i < NLISTED; i++) {
		if (listed[i].group && group_is_public(i)) out_printf(o, "%s%s\n", i ? "\n" : "", listed[i].group);
		if (listed[i].group || !is_public(listed[i].op)) continue;
		out_puts(o, "  ");
		put_call(o, listed[i].op);
		out_printf(o, "\n      %s\n", public_doc(listed[i].op));
	}
}

/* ---- as Markdown ---- */
static void md_arg(Out *o, OpCode op, const OpArg *a)
{
	out_printf(o, "- `%s%s`%s: ", a->name, a->named ? ":" : "", a->optional && !a->named ? " (optional)" : "");
	if (a->word != AT_COUNT) {
		out_puts(o, "one of ");
		put_words(o, op, a->word, "`");
		out_printf(o, "; %s", attr_rows[a->word].doc);
	} else {
		out_puts(o, kind_text(a->kind));
	}
	out_puts(o, "\n");
}

static void md_op(Out *o, OpCode op)
{
	OpArg a[OP_ARGS];
	int n = op_args(op, a);
	const OpRow *r = &op_rows[op];
	out_printf(o, "\n### %s\n\n    ", r->name);
	put_call(o, op);
	out_puts(o, "\n\n");
	put_sentence(o, op, public_doc(op), ".\n");
	for (int i = 0; i < n; i++) {
		if (!i) out_puts(o, "\n");
		md_arg(o, op, &a[i]);
	}
	if (r->type != TR_NONE && r->type != TR_GIVEN) {
		out_printf(o, "\nTypes: %s.\n", rule_docs[r->type]);
	}
}

static void md_heading(Out *o, const char *title)
{
	size_t n = strcspn(title, ";");
	const char *rest = title[n] ? title + n + 1 + strspn(title + n + 1, " ") : "";
	out_puts(o, "\n## ");
	put_sentence(o, OP_COUNT, str_intern_n(title, n), "\n");
	if (!*rest || strncmp(rest, "IR", 2) == 0) return;
	out_puts(o, "\n");
	put_sentence(o, OP_COUNT, rest, ".\n");
}

static void list_markdown(Out *o)
{
	out_puts(o, "# Operations\n\n"
		"Written by `ctilec --list-ops=markdown` from the compiler's table; do not edit.\n\n"
		"Operations are called by name, `f(x, y)`, or on their first argument, `x.f(y)`. Arguments "
		"with a colon are given\n"
		"by name, in any order, and may be left out: the first word listed is then meant. Names of operations are not\n"
		"reserved: a declaration of yours with the same name hides them. The operators `+ - * / %` are `add`, `sub`,\n"
		"`mul`, `div` and `remainder` in their default modes; `@` is `matmul`.\n");
	for (int i = 0; i < NLISTED; i++) {
		if (listed[i].group && group_is_public(i)) md_heading(o, listed[i].group);
		if (!listed[i].group && is_public(listed[i].op)) md_op(o, listed[i].op);
	}
}

/* ---- as JSON ---- */
static void json_arg(Out *o, OpCode op, const OpArg *a)
{
	out_printf(o, "{\"name\": \"%s\", \"kind\": ", a->name);
	json_string(o, a->word == AT_COUNT ? kind_text(a->kind) : "word");
	out_printf(o, ", \"optional\": %s, \"named\": %s", a->optional ? "true" : "false", a->named ? "true" : "false");
	if (a->word != AT_COUNT) {
		out_puts(o, ", \"words\": [");
		put_words(o, op, a->word, "\"");
		out_puts(o, "]");
	}
	out_puts(o, "}");
}

static void json_op(Out *o, const char *group, OpCode op)
{
	OpArg a[OP_ARGS];
	int n = op_args(op, a);
	out_printf(o, "{\"name\": \"%s\", \"group\": ", op_rows[op].name);
	json_string(o, group);
	out_puts(o, ", \"doc\": ");
	json_string(o, public_doc(op));
	out_puts(o, ", \"types\": ");
	json_string(o, op_rows[op].type == TR_NONE ? "" : rule_docs[op_rows[op].type]);
	out_puts(o, ", \"cuda_tile\": ");
	json_string(o, op_rows[op].tile);
	out_printf(o, ", \"view\": %s, \"arguments\": [", op_rows[op].flags & OPF_VIEWCALL ? "true" : "false");
	for (int i = 0; i < n; i++) {
		if (i) out_puts(o, ", ");
		json_arg(o, op, &a[i]);
	}
	out_puts(o, "]}");
}

static void list_json(Out *o)
{
	const char *group = "", *sep = "[\n";
	for (int i = 0; i < NLISTED; i++) {
		if (listed[i].group) group = listed[i].group;
		if (listed[i].group || !is_public(listed[i].op)) continue;
		out_puts(o, sep);
		json_op(o, group, listed[i].op);
		sep = ",\n";
	}
	out_puts(o, "\n]\n");
}

void ops_list(Out *o, OpsFormat format)
{
	switch (format) {
	case OPS_TEXT: list_text(o); break;
	case OPS_MARKDOWN: list_markdown(o); break;
	case OPS_JSON: list_json(o); break;
	}
}
