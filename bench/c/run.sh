#!/bin/sh
# Builds and runs bench/c/loops.c with the C target's output. Usage: bench/c/run.sh [CTILEC]
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
ctilec=${1:-$top/build/ctilec}
cc=${CC:-gcc}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
src=
for k in saxpy softmax layer_norm gemm; do
	"$ctilec" --target=c "$top/samples/$k/$k.tile" -o "$out/$k.c"
	src="$src $out/$k.c"
done
flags="-std=c11 -O3 -march=native -fopenmp"
# shellcheck disable=SC2086
"$cc" -D_POSIX_C_SOURCE=200809L $flags -I "$out" $src "$top/bench/c/loops.c" -lm -o "$out/loops"
echo "# $("$cc" --version | head -n 1); $flags; $(nproc) threads; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-)"
"$out/loops"
