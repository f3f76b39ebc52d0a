#!/bin/sh
# Runs the tests: test.sh BUILD LABELS JOBS. LABELS is a regular expression (`ctest -L`), empty for all.
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

nvcc=$(command -v nvcc || true)
case ${labels:-nvcc} in
*nvcc*) nvcc=$(sh tools/get-nvcc.sh) ;;
esac

python=$(command -v "${PYTHON:-python3}")
case ${labels:-values} in
*values*|*emulated*|*nvcc*) python=$(sh tools/get-numpy.sh "$python") ;;
esac

# hundreds of tests start it: the interpreter itself, for what stands in PATH may be a script that looks for one first
python=$("$python" -c 'import sys; print(sys.executable)')

cmake -S tests -B "$build/tests" -DCTILEC_BUILD="$build" -DNVCC="$nvcc" -DPYTHON="$python" \
	-DCMAKE_C_COMPILER="$(command -v "${CC:-cc}")" > "$build/tests.log" || { cat "$build/tests.log"; exit 1; }
cmake --build "$build/tests" -j "$jobs" > "$build/tests.log" || { cat "$build/tests.log"; exit 1; }
cd "$build/tests"
exec ctest --output-on-failure -j "$jobs" ${labels:+-L "$labels"}
