#!/bin/bash
# Builds and runs what prepare.sh collected, on a machine with nvcc and a GPU. Usage: run.sh [build] [samples] [stdlib] [values] [sanitize]
# Prints one line for each run and a count last; logs lie in ./log.
set -u
cd "$(dirname "$0")" || exit 1
what=${*:-build samples stdlib values sanitize}
jobs=$(nproc)
cuda=$(dirname "$(dirname "$(command -v nvcc)")")
mkdir -p bin log
fail=0

# name, folder of the .cu, nvcc flags: one binary
binary() {
	local n=${1%%:*} v=${1#*:} dir flags
	dir=samples/$n
	flags="-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a"
	case $v in
	sm_80) dir=samples/$n/sm_80; flags="-gencode arch=compute_80,code=compute_80" ;;
	checked) dir=samples/$n/checked ;;
	fmad) flags="$flags -fmad=false" ;;
	ftz) flags="$flags -ftz=true" ;;
	fast) flags="$flags -use_fast_math" ;;
	line) flags="$flags -lineinfo" ;;
	esac
	local o
	o=$(mktemp -d)
	{ nvcc -O3 -std=c++17 -Xcompiler -Wall,-Wextra $flags -c "$dir/$n.cu" -o "$o/k.o" &&
	gcc -std=c11 -O2 -I "$dir" -I common -c "samples/$n/main.c" -o "$o/m.o" &&
	gcc -std=c11 -O2 -I common -I "$cuda/include" -c common/device_cuda.c -o "$o/d.o" &&
	nvcc -cudart shared "$o/k.o" "$o/m.o" "$o/d.o" -o "bin/$n-$v"; } >"log/build-$n-$v" 2>&1 || echo "BUILD FAILED $n $v"
	rm -rf "$o"
}
export -f binary
export cuda

if [[ $what == *build* ]]; then
	for n in samples/*; do
		for v in plain sm_80 checked fmad ftz fast line; do echo "$(basename "$n"):$v"; done
	done | xargs -P "$jobs" -I{} bash -c 'binary {}'
	cat log/build-* | grep -i warning | sort | uniq -c | head
fi

if [[ $what == *samples* ]]; then
	for b in bin/*; do
		if timeout 100 "$b" >"log/$(basename "$b")" 2>&1; then echo "ok    $(basename "$b")"; else echo "WRONG $(basename "$b") ($?): $(grep -v ok "log/$(basename "$b")" | head -2)"; fail=$((fail + 1)); fi
	done
fi

if [[ $what == *stdlib* ]]; then
	for f in stdlib/*.c; do
		n=$(basename "$f" .c)
		if nvcc -O2 -arch=native -I stdlib -I common -o "bin/stdlib-$n" "$f" "stdlib/$n.cu" common/device_cuda.c >"log/build-stdlib-$n" 2>&1 &&
			timeout 300 "bin/stdlib-$n" >"log/stdlib-$n" 2>&1; then echo "ok    stdlib $n"; else echo "WRONG stdlib $n"; fail=$((fail + 1)); fi
	done
fi

# A suite is values/NAME.py; its texts are NAME.cu and, for other options of ctilec, NAME-OPTIONS.cu.
value_library() {
	nvcc -O1 -std=c++17 -arch="${CUDA_ARCH:-sm_90a}" -shared -Xcompiler -fPIC -cudart shared -Xlinker -rpath -Xlinker "$cuda/lib64" \
		-o "values/$1.so" "values/$1.cu" >"log/build-values-$1" 2>&1 || echo "BUILD FAILED values $1"
}
export -f value_library

if [[ $what == *values* ]]; then
	for f in values/*.cu; do basename "$f" .cu; done | xargs -P "$jobs" -I{} bash -c 'value_library {}'
	for f in values/*.py; do
		n=$(basename "$f" .py)
		[ -f "values/$n.cu" ] || continue
		if timeout 300 python3 "$f" run values --target "${VALUES_TARGET:-cuda}" >"log/values-$n" 2>&1; then echo "ok    values $(tail -1 "log/values-$n")"
		else
			echo "WRONG values $n ($?): $(grep -c FAILED "log/values-$n") lines FAILED; $(tail -1 "log/values-$n")"
			grep FAILED "log/values-$n" | head -5
			fail=$((fail + 1))
		fi
	done
fi

if [[ $what == *sanitize* ]]; then
	for n in samples/*; do
		n=$(basename "$n")
		for t in memcheck racecheck initcheck synccheck; do
			(CTILE_SMALL=1 timeout 200 compute-sanitizer --tool $t --error-exitcode 9 "bin/$n-line" >"log/$t-$n" 2>&1; echo "$t $n: $? $(tail -1 "log/$t-$n")") &
		done
		wait
	done
fi
echo "failures: $fail"
exit $((fail != 0))
