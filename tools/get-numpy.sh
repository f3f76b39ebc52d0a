#!/bin/sh
# Prints the path of a Python with numpy and ml_dtypes, which some tests compare with: the one given (default python3) where
# it has them, else one in .deps/python that gets them on the first call. Where that fails it prints the one given, and
# those tests are skipped. Messages go to standard error.
set -u
cd "$(dirname "$0")/.." || exit 1
given=$(command -v "${1:-python3}") || exit 1

has_both() {
	"$1" -c 'import numpy, ml_dtypes' >/dev/null 2>&1
}

if has_both "$given"; then
	echo "$given"
	exit 0
fi
own=$PWD/.deps/python/bin/python
if ! has_both "$own"; then
	echo "get-numpy: downloading numpy and ml_dtypes into .deps/python (about 30 MB, once)" >&2
	rm -rf .deps/python
	mkdir -p .deps
	if ! "$given" -m venv .deps/python >&2 || ! "$own" -m pip install --quiet --disable-pip-version-check 'numpy>=1.24' 'ml_dtypes>=0.4' >&2 ||
		! has_both "$own"; then
		rm -rf .deps/python
		echo "get-numpy: the download failed: tests that compare with numpy are skipped; to repeat it:" >&2
		echo "  sh tools/get-numpy.sh" >&2
		own=$given
	fi
fi
echo "$own"
