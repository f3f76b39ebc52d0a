#!/bin/sh
# Installs what is missing for building and testing ctilec: C and C++ compilers, make, re2c, Bison, CMake, Ninja, Python.
# Does nothing when all is there; safe to repeat. Needs Debian or Ubuntu and root (or sudo) to install; otherwise it says
# what to do. `setup.sh test` also gets what the tests are pinned to into .deps/ (tools/get.py): after it, nothing needs the network.
set -u
cd "$(dirname "$0")/.." || exit 1
case ${1-} in
''|test) for_tests=${1-} ;;
*) echo "setup: it takes nothing or \`test\`" >&2; exit 1 ;;
esac

# name of the tool, least version, package
tools='cc 0 gcc
c++ 0 g++
make 4.0 make
re2c 3.0 re2c
bison 3.8 bison
cmake 3.20 cmake
ninja 0 ninja-build
python3 3.8 python3'
# some tests need these, and are skipped without them
[ -z "$for_tests" ] || tools="$tools
pkg-config 0 pkg-config
gdb 0 gdb"

version() {
	case $1 in
	cc|c++|ninja) echo 0 ;;
	*) "$1" --version 2>/dev/null | head -n 1 | sed -n 's/.*[^0-9.]\([0-9][0-9]*\.[0-9.]*\).*/\1/p' ;;
	esac
}

# at_least HAVE WANT
at_least() {
	[ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

good() {
	command -v "$1" >/dev/null 2>&1 || return 1
	[ "$2" = 0 ] || at_least "$(version "$1")" "$2"
}

links() {
	printf 'int main(void) { return 0; }\n' > "$1.c"
	cc -o "$1" "$1.c" 2>/dev/null
}

look() {
	missing=
	old=
	while read -r tool want package; do
		if good "$tool" "$want"; then continue; fi
		missing="$missing $package"
		if command -v "$tool" >/dev/null 2>&1; then old="$old $tool"; fi
	done <<END
$tools
END
	# a compiler without the C library's headers cannot make a program
	tmp=$(mktemp -d)
	if command -v cc >/dev/null 2>&1 && ! links "$tmp/t"; then missing="$missing libc6-dev"; fi
	rm -rf "$tmp"
	# tools/get.py downloads with the pip of a virtual environment
	if command -v python3 >/dev/null 2>&1 && ! python3 -c 'import ensurepip' 2>/dev/null; then missing="$missing python3-venv"
	elif ! command -v python3 >/dev/null 2>&1; then missing="$missing python3-venv"; fi
}

# The last step: `setup.sh test` gets the packages of the tests.
finish() {
	if [ -n "$for_tests" ]; then
		for name in python nvcc cuda-12.0 nvrtc-12.9 nvcc-tile nvcc-tile-13.3; do
			"${PYTHON:-python3}" tools/get.py "$name" > /dev/null
			case $? in
			0) ;;
			3) echo "setup: without them, their tests are skipped" ;;
			*) exit 1 ;;
			esac
		done
	fi
	echo "setup: $1"
	exit 0
}

# What is missing and who could install it; then what works without.
by_hand() {
	echo "setup: missing:$missing"
	cat
	cat <<END
  or go on without:
    - re2c and Bison are not needed: \`make\` takes the scanner and parser kept in bootstrap/ when they are missing or old.
    - a C compiler and make are needed; many machines have them as modules: try \`module avail gcc\`.
    - CMake and Ninja are needed for the tests only; with Python's venv module:
          python3 -m venv .deps/venv &&
          .deps/venv/bin/pip install --require-hashes --only-binary :all: -r tools/requirements/cmake.txt
          PATH="\$PWD/.deps/venv/bin:\$PATH" make test
END
	case " $missing " in *" gcc "*|*" make "*|*" libc6-dev "*) exit 1 ;; esac
	case " $missing " in
	*" g++ "*|*" cmake "*|*" ninja-build "*|*" python3 "*|*" python3-venv "*)
		echo "setup: \`make\` and \`make demo\` work here; \`make test\` needs what is missing"
		[ -z "$for_tests" ]
		exit ;;
	esac
	finish "what is missing is not needed"
}

look
if [ -z "$missing" ]; then
	finish "everything that ctilec needs is here"
fi

as_root=
if [ "$(id -u)" != 0 ]; then
	if command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then as_root=sudo; fi
fi
if ! command -v apt-get >/dev/null 2>&1; then
	by_hand <<END
  This script installs with apt-get, which is not here. Install these packages with this system's own tool (names differ a
  little between systems) and run the same line again,
END
fi
if [ "$(id -u)" != 0 ] && [ -z "$as_root" ]; then
	by_hand <<END
  This machine has no root access for this script. Ask its administrator for
      apt-get install gcc g++ libc6-dev make re2c bison cmake ninja-build python3 python3-venv
END
fi

case " $missing " in *" gcc "*) missing="$missing libc6-dev" ;; esac
echo "setup: installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
if ! { $as_root apt-get update -q && $as_root apt-get install -q -y --no-install-recommends $missing; }; then
	echo "setup: the installation failed; the line to repeat by hand is"
	echo "  $as_root apt-get update && $as_root apt-get install$missing"
	exit 1
fi

look
for tool in $old; do
	case $tool in
	re2c|bison) echo "setup: $tool is older than needed; make takes bootstrap/ instead" ;;
	*) echo "setup: $tool is still older than needed: $(version "$tool")"; exit 1 ;;
	esac
done
finish "done"
