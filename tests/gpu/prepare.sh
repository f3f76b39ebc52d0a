#!/bin/sh
# Puts everything that a GPU run needs into a folder of its own: emitted CUDA, mains, value suites. Needs ctilec and a Python
# (PYTHON, default python3; tools/get.py gets the packages), no nvcc, no GPU.
# Usage: tests/gpu/prepare.sh CTILEC FOLDER        Then copy FOLDER to the machine with the GPU, and there: FOLDER/run.sh
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
ctilec=$1
out=$2
mkdir -p "$out/samples" "$out/values" "$out/stdlib" "$out/rows" "$out/texts"
cp "$top/tests/gpu/run.sh" "$out/"
cp -r "$top/samples/common" "$out/"
for d in "$top"/samples/*/; do
	n=$(basename "$d")
	[ -f "$d$n.tile" ] && [ "$n" != picture ] || continue
	mkdir -p "$out/samples/$n"
	cp "$d"*.c "$out/samples/$n/"
	"$ctilec" "$d$n.tile" -o "$out/samples/$n/$n.cu" || echo "no CUDA for sample $n"
	mkdir -p "$out/samples/$n/sm_80"
	"$ctilec" "$d$n.tile" --arch=sm_80 -o "$out/samples/$n/sm_80/$n.cu" || true
	mkdir -p "$out/samples/$n/checked"
	"$ctilec" "$d$n.tile" --checked -o "$out/samples/$n/checked/$n.cu" || true
done
for f in "$top"/tests/stdlib/*.c; do
	n=$(basename "$f" .c)
	tile=$top/tests/stdlib/$n.tile
	[ -f "$tile" ] || tile=$top/stdlib/$n.tile
	sed "s|../../samples/common/|../common/|" "$f" > "$out/stdlib/$n.c"
	"$ctilec" "$tile" -o "$out/stdlib/$n.cu"
done
for n in litmus weak; do
	sed "s|../../samples/common/|../common/|" "$top/tests/orders/$n.c" > "$out/stdlib/$n.c"
	"$ctilec" -Wno-progress "$top/tests/orders/$n.tile" -o "$out/stdlib/$n.cu"
done
cp "$top/tests/gpu/rows.h" "$top/tests/gpu/rows.cu" "$top/tests/gpu/devices.cu" "$out/rows/"
"$ctilec" "$top/tests/gpu/rows.tile" --arch=sm_90a -o "$out/rows/rows_kernels.cu"
for n in gemm_bf16 attention_bf16; do "$ctilec" "$top/tests/ir/$n.tir" -o "$out/rows/$n.cu"; done
python=$("${PYTHON:-python3}" "$top/tools/get.py" python)
"$python" -B "$top/tests/gpu/texts.py" emit "$ctilec" "$out/texts"
cp "$top/tests/gpu/texts.py" "$top/tests/cuda/compare.py" "$out/texts/"
# Parts of about 1.5 MB of CUDA text, so that many cores compile and run them at once; `control` has texts of two kinds.
for n in casts:16 control:1 elementwise:8 memory:3 modes:6 products:4 rand:1 reductions:12 shapes:8 spans:1; do
	parts=${n#*:}
	n=${n%:*}
	"$python" -B "$top/tests/values/$n.py" emit "$out/values" --target cuda --ctilec "$ctilec" --parts "$parts"
	cp "$top/tests/values/$n.py" "$out/values/"
done
for n in reference runner suite tables; do cp "$top/tests/values/$n.py" "$out/values/"; done
