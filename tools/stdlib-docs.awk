# Prints the page of the standard library from its sources: awk -f tools/stdlib-docs.awk stdlib/*.tile
# A file's first `//` lines introduce it; each `///` comment stands with the declaration behind it, up to its body.
BEGIN {
	print "# Standard library\n"
	print "Written by `make docs` from the files in `stdlib/`; do not edit.\n"
	print "`import \"nn.tile\";` makes a file's functions and kernels visible, `import \"nn.tile\" as nn;` as `nn.silu`. A function works on tiles"
	print "and is inlined; a kernel becomes a C function through an `instance` of yours; instances and entries are C functions when the"
	print "file itself is compiled: `ctilec stdlib/reduce.tile`."
}
FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	print "\n## " name
	introduction = 1
}
introduction && /^\/\/ / { if (!said) print ""; said = 1; sub(/^\/\/ /, ""); gsub(/[<*]/, "\\\\&"); print; next }
{ introduction = said = 0 }
/^\/\/\// { sub(/^\/\/\/ ?/, ""); gsub(/[<*]/, "\\\\&"); doc = doc (doc ? "\n" : "") $0; next }
/^(fn|kernel|entry) / { open = 1; text = "" }
/^instance / { print "\n    " $0; if (doc) print "\n" doc; doc = ""; next }
open {
	line = $0
	body = sub(/[ ]*\{[^{}]*(\}[^{}]*)?$/, "", line)
	if (line != "") text = text "\n    " line
	if (body) { print text; if (doc) print "\n" doc; open = 0; doc = "" }
	next
}
!/^@/ { doc = "" }
