#!/bin/sh
# Writes the pages that the compiler prints, and the one of the standard library: gen-docs.sh CTILEC FOLDER.
set -eu
ctilec=$1
out=$2
mkdir -p "$out"
page() {
	"$ctilec" "$2" > "$out/$1.new"
	mv "$out/$1.new" "$out/$1"
}
LC_ALL=C
export LC_ALL
page command-line.md --help=markdown
page operations.md --list-ops=markdown
page errors.md --list-diagnostics=markdown
root=$(dirname "$0")/..
awk -f "$root/tools/stdlib-docs.awk" "$root"/stdlib/*.tile > "$out/stdlib.md.new"
mv "$out/stdlib.md.new" "$out/stdlib.md"
