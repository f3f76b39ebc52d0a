#!/bin/sh
# Runs the tests: test.sh BUILD LABELS JOBS. LABELS is a regular expression (`ctest -L`), empty for all.
# Tests take what tools/get.py has pinned, whatever else is installed: PYTHON names the interpreter that theirs is made from, and
# NVCC, where it is set, another nvcc than the pinned one. tests/build/pinned.py checks this.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
build=$1
labels=$2
jobs=${3:-2}
case $build in /*) ;; *) build=$root/$build ;; esac

for tool in cmake ctest "${PYTHON:-python3}"; do
	if ! command -v "$tool" >/dev/null 2>&1; then
		echo "test: $tool is missing; the line to type is" >&2
		echo "  sh tools/setup.sh && make test" >&2
		exit 1
	fi
done

# what would change a compiler's or an interpreter's result: a test's outcome belongs to the tree
unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH LD_PRELOAD GCC_EXEC_PREFIX COMPILER_PATH
unset CUDA_HOME CUDA_PATH CUDA_ROOT CUDA_ARCH NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS NVCC_CCBIN
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONOPTIMIZE PYTHONWARNINGS
export PYTHONNOUSERSITE=1

get() {
	"${PYTHON:-python3}" tools/get.py "$@"
}
python=$(get python)
case ${labels:-nvcc} in
*nvcc*|*gpu*|*tile*)
	nvcc=${NVCC:-$(get nvcc)}
	# some kinds of machines have no packages of these; their tests are skipped there
	for name in cuda-12.0 nvrtc-12.9 nvcc-tile nvcc-tile-13.3; do get "$name" >/dev/null || [ $? = 3 ]; done ;;
*)	nvcc=${NVCC:-$(get --there nvcc 2>/dev/null || true)} ;;
esac
case $nvcc in
''|/*) ;;
*) nvcc=$(command -v "$nvcc") || { echo "test: NVCC=$NVCC is not there" >&2; exit 1; } ;;
esac
if [ "$labels" = which ]; then		# only says what tests would use, and in which environment
	echo "python $python"
	echo "nvcc $nvcc"
	env
	exit 0
fi

cmake -S tests -B "$build/tests" -DCTILEC_BUILD="$build" -DNVCC="$nvcc" -DPYTHON="$python" \
	-DCMAKE_C_COMPILER="$(command -v "${CC:-cc}")" > "$build/tests.log" || { cat "$build/tests.log"; exit 1; }
cmake --build "$build/tests" -j "$jobs" > "$build/tests.log" || { cat "$build/tests.log"; exit 1; }
cd "$build/tests"
exec ctest --output-on-failure -j "$jobs" ${labels:+-L "$labels"}
