#!/bin/sh
# Prints the path of an nvcc: the one on PATH, or a pinned one that is downloaded into .deps/ on the first call. It needs
# no GPU. Messages go to standard error.
set -u
cd "$(dirname "$0")/.." || exit 1
version=13.0.3.0

if command -v nvcc >/dev/null 2>&1; then
	command -v nvcc
	exit 0
fi
find_nvcc() {
	find "$PWD/.deps/nvcc" -path '*/bin/nvcc' -type f 2>/dev/null | head -n 1
}
nvcc=$(find_nvcc)
if [ -z "$nvcc" ]; then
	echo "get-nvcc: downloading nvcc $version into .deps/nvcc (about 300 MB, once)" >&2
	rm -rf .deps/nvcc .deps/nvcc.new
	mkdir -p .deps
	pip=
	if python3 -m pip --version >/dev/null 2>&1; then
		pip="python3 -m pip"
	elif python3 -m venv .deps/venv >/dev/null 2>&1; then
		pip=".deps/venv/bin/python -m pip"
	else
		echo "get-nvcc: Python has no pip; the line to type is" >&2
		echo "  apt-get install python3-pip python3-venv" >&2
		exit 1
	fi
	if ! $pip install --quiet --root-user-action=ignore --disable-pip-version-check --target .deps/nvcc.new \
		"cuda-toolkit[nvcc,nvvm,crt,cudart,cccl]==$version" >&2; then
		echo "get-nvcc: the download failed; to repeat it:" >&2
		echo "  sh tools/get-nvcc.sh" >&2
		exit 1
	fi
	mv .deps/nvcc.new .deps/nvcc
	nvcc=$(find_nvcc)
	if [ -z "$nvcc" ]; then
		echo "get-nvcc: the download holds no nvcc; to repeat it: rm -rf .deps/nvcc && sh tools/get-nvcc.sh" >&2
		exit 1
	fi
	# the toolkit's layout has lib64 where the packages have lib; the runtime is named with its version only
	root=$(dirname "$(dirname "$nvcc")")
	chmod +x "$root"/bin/* "$root"/nvvm/bin/* 2>/dev/null
	[ -e "$root/lib64" ] || ln -s lib "$root/lib64"
	for lib in "$root"/lib/libcudart.so.*; do
		if [ -e "$lib" ] && [ ! -e "$root/lib/libcudart.so" ]; then ln -s "$(basename "$lib")" "$root/lib/libcudart.so"; fi
	done
fi
if ! "$nvcc" --version >/dev/null 2>&1; then
	echo "get-nvcc: $nvcc does not run; to get it again: rm -rf .deps/nvcc && sh tools/get-nvcc.sh" >&2
	exit 1
fi
echo "$nvcc"
