# Turns the %token lines of grammar/tile.y into rows TOKEN(NAME, "text", class) for grammar/tokens.inc.
# Class: CONTEXTUAL words carry a name, RESERVED words do not, CLASS texts hold a blank, the rest is PUNCTUATION.
/^%token/ { on = 1; named = /<name>/; sub(/^%token[ \t]*(<[a-z]+>)?/, "") }
/^%[^t]/ { on = 0 }
/^\/\*/ { on = 0 }
on {
	n = split($0, part, "\"")
	for (i = 1; i + 1 <= n; i += 2) row(part[i], part[i + 1])
}
function row(before, text,   word, cls) {
	split(before, word, " ")
	if (text ~ / /) cls = "CLASS"
	else if (text ~ /^[a-z]+$/) cls = named ? "CONTEXTUAL" : "RESERVED"
	else cls = "PUNCTUATION"
	printf "TOKEN(%s, \"%s\", %s)\n", word[1], text, cls
}
