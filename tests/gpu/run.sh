#!/bin/bash
# Builds and runs what prepare.sh collected, on a machine with nvcc and a GPU.
# Usage: run.sh [build | run] [samples] [stdlib] [values] [texts] [rows] [sanitize]
# Both steps and all kinds where none is named. texts: the programs of tests/cuda; rows: kernels of clusters in many orders, and
# launchers on two devices where there are two. `build` needs nvcc and no GPU, `run` no nvcc: the folder may be copied in between. Runs share the GPU, as many at once as
# there are cores. PYTHON names a Python with numpy and ml_dtypes (default python3). Prints one line for each run and a count last; logs lie in ./log.
set -u
cd "$(dirname "$0")" || exit 1
step=both
case ${1:-} in build | run) step=$1; shift ;; esac
what=" ${*:-samples stdlib values texts rows sanitize} "
jobs=${JOBS:-$(nproc)}
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export cuda arch=${CUDA_ARCH:-sm_90a} python=${PYTHON:-python3}
export LD_LIBRARY_PATH=$cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
mkdir -p bin log
rm -f log/FAILED

failed() {
	echo "$*"
	echo "$*" >>log/FAILED
}
export -f failed

# name:how, one binary of a sample; only `plain` holds code for every architecture of its text
binary() {
	local n=${1%%:*} v=${1#*:} dir flags memory= o
	dir=samples/$n
	flags="-gencode arch=compute_${arch#sm_},code=$arch"
	case $v in
	plain) flags="$flags -gencode arch=compute_80,code=sm_80" ;;
	sm_80) dir=samples/$n/sm_80; flags="-gencode arch=compute_80,code=compute_80" ;;
	checked) dir=samples/$n/checked ;;
	fmad) flags="$flags -fmad=false" ;;
	ftz) flags="$flags -ftz=true" ;;
	fast) flags="$flags -use_fast_math" ;;
	line) flags="$flags -lineinfo" memory=-DDEV_NO_FILL ;;	# for the sanitizer: initcheck must see what nobody wrote
	esac
	o=$(mktemp -d)
	{ nvcc -O3 -std=c++17 -Xcompiler -Wall,-Wextra $flags -c "$dir/$n.cu" -o "$o/k.o" &&
	gcc -std=c11 -O2 -I "$dir" -I common -c "samples/$n/main.c" -o "$o/m.o" &&
	gcc -std=c11 -O2 $memory -I common -I "$cuda/include" -c common/device_cuda.c -o "$o/d.o" &&
	nvcc -cudart shared "$o/k.o" "$o/m.o" "$o/d.o" -o "bin/$n-$v"; } >"log/build-$n-$v" 2>&1 || failed "BUILD FAILED $n $v"
	rm -rf "$o"
}

# a program of tests/stdlib
library_test() {
	local n=$1 o
	o=$(mktemp -d)
	{ gcc -O2 -I stdlib -I common -c "stdlib/$n.c" -o "$o/m.o" && gcc -O2 -I common -I "$cuda/include" -c common/device_cuda.c -o "$o/d.o" &&
	nvcc -O2 -std=c++17 -arch="$arch" -cudart shared -o "bin/stdlib-$n" "$o/m.o" "$o/d.o" "stdlib/$n.cu"; } >"log/build-stdlib-$n" 2>&1 ||
		failed "BUILD FAILED stdlib $n"
	rm -rf "$o"
}

# A suite is values/NAME.py; its texts are NAME.cu, or NAME.IofN.cu each with a part of the cases, with -OPTIONS for other options of ctilec.
# nvcc's -O is for the host's side, of which there is little.
value_library() {
	nvcc -O0 -std=c++17 -gencode "arch=compute_${arch#sm_},code=$arch" -shared -Xcompiler -fPIC -cudart shared -o "values/$1.so" "values/$1.cu" \
		>"log/build-values-$1" 2>&1 || failed "BUILD FAILED values $1"
}

# texts/NAME-ARCH.cu, whatever it was printed for, and NAME.c of the C target
text_library() {
	case $1 in
	*.c) gcc -std=c11 -O1 -w -fPIC -shared -o "texts/$1.so" "texts/$1" -lm ;;
	*) nvcc -O0 -std=c++17 -gencode "arch=compute_${arch#sm_},code=$arch" -shared -Xcompiler -fPIC -cudart shared -o "texts/${1%.cu}.so" "texts/$1" ;;
	esac >"log/build-texts-$1" 2>&1 || failed "BUILD FAILED texts $1"
}

# objects of the programs of rows/, then the programs
rows_object() {
	nvcc -O3 -std=c++17 -lineinfo -gencode "arch=compute_${arch#sm_},code=$arch" -c "rows/$1.cu" -o "rows/$1.o" >"log/build-rows-$1" 2>&1 ||
		failed "BUILD FAILED rows $1"
}
rows_programs() {
	{ nvcc -o bin/of-rows rows/rows.o rows/rows_kernels.o -lcuda &&
	nvcc -o bin/of-devices rows/devices.o rows/rows_kernels.o rows/gemm_bf16.o rows/attention_bf16.o -lcuda; } >log/build-rows 2>&1 ||
		failed "BUILD FAILED rows"
}

build_one() {
	case $1 in
	values/*) value_library "${1#values/}" ;;
	texts/*) text_library "${1#texts/}" ;;
	stdlib/*) library_test "${1#stdlib/}" ;;
	rows/*) rows_object "${1#rows/}" ;;
	*) binary "$1" ;;
	esac
}

# kind and name of one run; a line for it
run_one() {
	local kind=${1%%/*} n=${1#*/} part
	local log
	case $kind in
	samples)
		log=log/$n
		if timeout 100 "bin/$n" >"$log" 2>&1; then echo "ok    $n"
		else failed "WRONG $n ($?): $(grep -v ok "$log" | head -2)"; fi ;;
	stdlib)
		if timeout 300 "bin/stdlib-$n" >"log/stdlib-$n" 2>&1; then echo "ok    stdlib $n"; else failed "WRONG stdlib $n ($?)"; fi ;;
	values)
		log=log/values-$n part=1/1
		case $n in *.*of*) part=${n##*.}; part=${part%of*}/${part#*of} ;; esac
		if timeout 300 "$python" "values/${n%%.*}.py" run values --target "${VALUES_TARGET:-cuda}" --part "$part" >"$log" 2>&1; then
			echo "ok    values $(tail -1 "$log")"
		else failed "WRONG values $n ($?): $(grep -c FAILED "$log") lines FAILED; $(tail -1 "$log") $(grep FAILED "$log" | head -5)"; fi ;;
	texts)
		log=log/texts-$n
		if timeout 300 "$python" texts/texts.py run "texts/$n.so" >"$log" 2>&1; then echo "ok    texts $n: $(tail -1 "$log")"
		else failed "WRONG texts $n ($?): $(tail -3 "$log" | tr '\n' ' ')"; fi ;;
	rows)		# PROGRAM-ARGUMENTS
		log=log/rows-$n
		timeout 200 "bin/of-${n%%-*}" $(echo "${n#*-}" | tr - ' ') >"$log" 2>&1
		case $? in
		0) echo "ok    ${n//-/ }: $(tail -1 "$log")" ;;
		77) echo "skip  ${n//-/ }: $(tail -1 "$log")" ;;
		*) failed "WRONG ${n//-/ } ($?): $(head -2 "$log" | tr '\n' ' ')" ;;
		esac ;;
	*)
		log=log/$kind-$n
		if CTILE_SMALL=1 timeout 200 compute-sanitizer --tool "$kind" --error-exitcode 9 $(sanitized "$n") >"$log" 2>&1; then
			echo "ok    $kind $n $(tail -1 "$log")"
		else failed "WRONG $kind $n ($?): $(tail -1 "$log")"; fi ;;
	esac
}
# what runs under a tool: a sample, or a part of rows
sanitized() {
	case $1 in
	rows-*) echo "--kernel-name kns=sm90a bin/of-rows sanitize ${1#rows-} $PARTS" ;;
	*) echo "bin/$1-line" ;;
	esac
}
export -f binary library_test value_library text_library rows_object build_one run_one sanitized
export PARTS=8

samples() { for n in samples/*; do for v in ${VARIANTS:-plain sm_80 checked fmad ftz fast line}; do echo "$(basename "$n")$1$v"; done; done; }
programs() { for f in stdlib/*.c; do echo "stdlib/$(basename "$f" .c)"; done; }
texts() { ls values/*.cu | grep -v -e -; }
suites() {	# those with the most calls first
	{ texts | grep -e control -e memory; texts | grep -v -e control -e memory; } | sed 's/\.cu$//'
}
for_tools() { while read -r n; do for t in memcheck racecheck initcheck synccheck; do echo "$t/$n"; done; done; }
wanted() { [[ $what == *" $1 "* ]]; }

if [ "$step" != run ]; then	# the long ones first
	{	if wanted values; then for f in $(ls -S values/*.cu); do echo "${f%.cu}"; done; fi
		if wanted texts; then ls -S texts/*.c texts/*.cu; fi
		if wanted stdlib; then programs; fi
		if wanted rows; then for f in rows/*.cu; do echo "${f%.cu}"; done; fi
		if wanted samples; then samples :; fi
	} | xargs -P "$jobs" -I{} bash -c 'build_one {}'
	if wanted rows; then rows_programs; fi
	cat log/build-* | grep -i warning | sort | uniq -c | head
fi
if [ "$step" != build ]; then
	{	if wanted values; then suites; fi
		if wanted stdlib; then programs; fi
		if wanted texts; then ls texts/*.cu | sed 's/\.cu$//'; fi
		if wanted samples; then samples - | sed 's|^|samples/|'; fi
		if wanted rows; then echo rows/rows-4000-1; echo rows/rows-4000-2-24; echo rows/devices-200-1; fi
	} | xargs -P "$jobs" -I{} bash -c 'run_one {}'
	if wanted sanitize; then
		{	for n in samples/*; do basename "$n"; done
			for ((i = 0; i < PARTS; i++)); do echo "rows-$i"; done
		} | for_tools | xargs -P "$jobs" -I{} bash -c 'run_one {}'
	fi
fi
fail=$(grep -cE '^(WRONG|BUILD FAILED)' log/FAILED 2>/dev/null)
echo "failures: ${fail:-0}"
exit $((${fail:-0} != 0))
