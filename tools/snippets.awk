# Turns the rows of a table of snippets into SnipNames NAME (emit/snippet.h), where names are found without a look at the rows. The input is
# the preprocessed file of the table, where SNIPPET_ROW(name, text) leaves its name between two @.
function row(name,   i, at, h, n) {
	n = length(name)
	for (i = PREFIX + 1; i <= n; i++) h = (h * FACTOR + code[substr(name, i, 1)]) % 2 ^ 32
	h %= SLOTS
	while (h in slot) h = (h + 1) % SLOTS
	slot[h] = ++rows
	at = code[substr(name, PREFIX + 1, 1)]
	if (!((at, n % 32) in has)) lengths[at] += 2 ^ (n % 32)
	has[at, n % 32] = 1
}
function constant(word) {
	match($0, word " = [0-9]+")
	return substr($0, RSTART + length(word) + 3, RLENGTH - length(word) - 3) + 0
}
BEGIN {
	RS = "@"
	for (i = 1; i < 128; i++) code[sprintf("%c", i)] = i
}
/ SNIP_SLOTS = / {
	PREFIX = constant("SNIP_PREFIX")
	FACTOR = constant("SNIP_FACTOR")
	SLOTS = constant("SNIP_SLOTS")
}
/^[ \n]*"/ && !/[^"A-Za-z0-9_ \n]/ {
	gsub(/[" \n]/, "")
	row($0)
}
END {
	printf "#include \"emit/snippet.h\"\nconst SnipNames %s = {\n", NAME
	for (i = 1; i < 128; i++) if (i in lengths) printf "\t.lengths[%d] = %.0fu,\n", i, lengths[i]
	for (i = 0; i < SLOTS; i++) if (i in slot) printf "\t.slot[%d] = %d,\n", i, slot[i]
	print "};"
}
