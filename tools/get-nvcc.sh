#!/bin/sh
# get-nvcc.sh        prints the path of an nvcc: the one on PATH, or a pinned one that is downloaded into .deps/ on the first call
# get-nvcc.sh tile   of the pinned one that has CUDA Tile C++ (cuda_tile.h): tests/vendor/ask.py asks it
# Neither needs a GPU. Messages go to standard error.
set -u
cd "$(dirname "$0")/.." || exit 1
case ${1-} in
'') version=13.0.3.0 folder=.deps/nvcc parts=nvcc,nvvm,crt,cudart,cccl ;;
tile) version=13.4.3 folder=.deps/nvcc-tile parts=nvcc,nvvm,crt,cudart,cccl,tileiras ;;
*) echo "get-nvcc: it takes nothing or \`tile\`" >&2; exit 1 ;;
esac

if [ -z "${1-}" ] && command -v nvcc >/dev/null 2>&1; then
	command -v nvcc
	exit 0
fi
find_nvcc() {
	find "$PWD/$folder" -path '*/bin/nvcc' -type f 2>/dev/null | head -n 1
}
nvcc=$(find_nvcc)
# a folder of an older version of this script, without the compiler of tile code
if [ "${1-}" = tile ] && [ -n "$nvcc" ] && [ ! -e "$(dirname "$nvcc")/tileiras" ]; then nvcc=; fi
if [ -z "$nvcc" ]; then
	echo "get-nvcc: downloading nvcc $version into $folder (about 300 MB, once)" >&2
	rm -rf "$folder" "$folder.new"
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
	if ! $pip install --quiet --root-user-action=ignore --disable-pip-version-check --target "$folder.new" \
		"cuda-toolkit[$parts]==$version" >&2; then
		echo "get-nvcc: the download failed; to repeat it:" >&2
		echo "  sh tools/get-nvcc.sh${1:+ $1}" >&2
		exit 1
	fi
	mv "$folder.new" "$folder"
	nvcc=$(find_nvcc)
	if [ -z "$nvcc" ]; then
		echo "get-nvcc: the download holds no nvcc; to repeat it: rm -rf $folder && sh tools/get-nvcc.sh${1:+ $1}" >&2
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
	echo "get-nvcc: $nvcc does not run; to get it again: rm -rf $folder && sh tools/get-nvcc.sh${1:+ $1}" >&2
	exit 1
fi
echo "$nvcc"
