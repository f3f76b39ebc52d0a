#!/bin/sh
# Compiles the samples and runs them: on the CPU, and on the GPU where one and nvcc are there. Each command is printed.
# demo.sh BUILD [SAMPLE...]
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
shift
out=$build/demo
ctilec=$build/ctilec
cc=${CC:-cc}
failed=

run() {
	echo "  $*"
	"$@"
}

# what a sample's main needs besides the kernels
parts() {
	case $1 in
	picture) echo "samples/picture/main.c samples/picture/image.c" ;;
	*) echo "samples/$1/main.c" ;;
	esac
}

png_flags() {
	if [ "$1" = picture ] && command -v pkg-config >/dev/null 2>&1 && pkg-config --exists libpng; then
		echo "-DHAVE_PNG $(pkg-config --cflags --libs libpng)"
	fi
}

start() {
	if [ "$1" != picture ]; then
		run "$2"
		return
	fi
	run $cc -std=c11 -O2 -o "$out/make_picture" samples/picture/make_picture.c samples/picture/image.c -lm &&
		run "$out/make_picture" "$out/input" && input=$(ls "$out"/input* | head -n 1) &&
		run "$2" "$input" "$2.out" && echo "  to look at: $(echo "$2".out*)"
}

on_cpu() {
	dir=$out/$1
	mkdir -p "$dir" &&
		run "$ctilec" --target=c -o "$dir/$1.c" "samples/$1/$1.tile" &&
		run $cc -std=c11 -O3 -march=native $openmp -I"$dir" -Isamples/common -o "$dir/$1" $(parts "$1") \
			samples/common/device_host.c "$dir/$1.c" $(png_flags "$1") -lm &&
		start "$1" "$dir/$1"
}

on_gpu() {
	dir=$out/$1-cuda
	mkdir -p "$dir" &&
		run "$ctilec" --target=cuda -o "$dir/$1.cu" "samples/$1/$1.tile" &&
		run nvcc -O2 -arch=native -I"$dir" -Isamples/common -o "$dir/$1" $(parts "$1") samples/common/device_cuda.c "$dir/$1.cu" &&
		start "$1" "$dir/$1"
}

# OpenMP makes the C target use all cores; without it the pragma is a comment
mkdir -p "$out"
openmp=
printf 'int main(void) { return 0; }\n' > "$out/openmp.c"
if $cc -fopenmp -o "$out/openmp" "$out/openmp.c" 2>/dev/null; then openmp=-fopenmp; fi

if [ $# = 0 ]; then
	for d in samples/*/; do
		name=$(basename "$d")
		if [ -f "samples/$name/$name.tile" ]; then set -- "$@" "$name"; fi
	done
fi

echo "on the CPU:"
for name in "$@"; do on_cpu "$name" || failed="$failed $name"; done
if command -v nvcc >/dev/null 2>&1 && command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L >/dev/null 2>&1; then
	echo "on the GPU:"
	for name in "$@"; do on_gpu "$name" || failed="$failed $name(cuda)"; done
else
	echo "on the GPU: skipped, there is no GPU with nvcc here"
fi
if [ -n "$failed" ]; then
	echo "demo: failed:$failed"
	exit 1
fi
echo "demo: all samples agree with plain C"
