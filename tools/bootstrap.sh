#!/bin/sh
# Writes bootstrap/: the scanner and parser that re2c and Bison make, for machines that have neither, and sums of what
# they were made from. RE2C and BISON hold the command lines of the Makefile.
set -eu
cd "$(dirname "$0")/.."
mkdir -p bootstrap
$RE2C -o bootstrap/tile_lex.c grammar/tile.re
$BISON --header=bootstrap/tile_tab.h -o bootstrap/tile_tab.c grammar/tile.y
# the include guard and prefix of the parser would otherwise name the folder
for f in bootstrap/tile_tab.c bootstrap/tile_tab.h; do
	sed 's/YY_YY_BOOTSTRAP_/YY_YY_/g; s|bootstrap/tile_tab|tile_tab|g' "$f" > "$f.new"
	mv "$f.new" "$f"
done
sha256sum grammar/tile.re grammar/tile.y > bootstrap/SUMS
echo "bootstrap: written with $(${RE2C%% *} --version | head -1), $(${BISON%% *} --version | head -1)"
