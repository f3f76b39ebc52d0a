#!/bin/sh
# Writes the pages that the compiler prints: gen-docs.sh CTILEC FOLDER.
set -eu
ctilec=$1
out=$2
mkdir -p "$out"
page() {
	"$ctilec" "$2" > "$out/$1.new"
	mv "$out/$1.new" "$out/$1"
}
page command-line.md --help=markdown
page operations.md --list-ops=markdown
page errors.md --list-diagnostics=markdown
