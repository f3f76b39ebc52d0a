"""Asks NVIDIA's compiler every question of questions.py and writes answers.txt: ask.py NVCC (13.4 or newer).

An expression becomes the body of a requires clause and, where it is well-formed, its decltype becomes a number. The
numbers of a file are one array of constants, so that PTX text has them: nothing is run, and no GPU is needed.
"""
import os
import re
import sys
import tempfile

from questions import CPP, cpp_type, questions
from common import run
from documented import Type
import answers

PER_FILE = 12000

HEAD = """\
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_tf32.h>
#include <cuda_tile.h>
namespace ct = cuda::tiles;
typedef unsigned long long u64;

struct accepted {};
accepted done();
template<class T> accepted takes(T);
template<class T> T any();

// 0: refused. 1: accepted, no result. 2: a type that the table has no name for. Else the element + 3 (pointers: + 64),
// from bit 8 the rank + 1 (scalars: 0), from bit 12 five bits for the logarithm of each length.
template<class T> constexpr u64 element = 2;
template<> constexpr u64 element<accepted> = 1;
template<> constexpr u64 element<void> = 1;
template<> constexpr u64 element<long> = 7;
template<> constexpr u64 element<unsigned long> = 12;
%s
constexpr u64 log_2(u64 n) { return n > 1 ? 1 + log_2(n / 2) : 0; }
template<class T> constexpr u64 code_of = element<T>;
template<class E, class S> constexpr u64 code_of<ct::tile<E, S>> = [] {
	u64 c = element<E> | (S::rank() + 1) << 8;
	for (unsigned i = 0; i < S::rank(); i++) c |= log_2(S::static_extent(i)) << (12 + 5 * i);
	return c;
}();
template<class T> struct bare { typedef T type; };
template<class T> struct bare<T &> { typedef T type; };
template<class T> struct bare<T &&> { typedef T type; };
template<class T> struct bare<const T> { typedef T type; };
"""

QUESTION = """\
template<class A, class B = int, class C = int, class D = int> struct Q%d {
	static A a; static B b; static C c; static D d;
	static consteval u64 get() {
		if constexpr (requires { %s; }) return code_of<typename bare<decltype(%s)>::type>;
		else return 0;
	}
};
"""

NAMES = list(CPP)


def elements():
    out = []
    for i, e in enumerate(NAMES):
        if e != "void":
            out.append("template<> constexpr u64 element<%s> = %d;" % (CPP[e], i + 3))
        out.append("template<> constexpr u64 element<%s *> = %d;" % (CPP[e], i + 3 + 64))
    return "\n".join(out)


def decode(n):
    if n < 2:
        return "ok" if n else None
    e = n & 0xff
    if e == 2:
        raise ValueError("a result whose type is none of the table's")
    name = NAMES[e - 3] if e < 64 else "ptr<%s>" % NAMES[e - 3 - 64]
    rank = (n >> 8) & 15
    return Type(name, None if rank == 0 else tuple(1 << ((n >> (12 + 5 * i)) & 31) for i in range(rank - 1)))


def source(cases):
    forms, types, rows = {}, {}, []
    for cpp, operands in cases:
        f = forms.setdefault(cpp, len(forms))
        ts = [types.setdefault(cpp_type(t), len(types)) for t in operands]
        rows.append("Q%d<%s>::get()" % (f, ", ".join("T%d" % t for t in ts)))
    out = [HEAD % elements()]
    out += [QUESTION % (n, cpp, cpp) for cpp, n in forms.items()]
    out += ["typedef %s T%d;" % (t, n) for t, n in types.items()]
    out.append("__device__ u64 answers[%d] = {\n%s};" % (len(rows), ",\n".join(rows)))
    return "\n".join(out) + "\n"


def ask(nvcc, folder, cases):
    """The answers to cases, pairs of an expression and the types of its operands."""
    cu, ptx = os.path.join(folder, "q.cu"), os.path.join(folder, "q.ptx")
    with open(cu, "w") as f:
        f.write(source(cases))
    r = run([nvcc, "--enable-tile", "-std=c++20", "-arch=sm_90", "--ptx", "-w", "-o", ptx, cu], timeout=3600)
    if r.code:
        sys.exit("ask: nvcc refused the questions\n" + r.text[:8000])
    with open(ptx) as f:
        m = re.search(r"answers\[(\d+)\](?: = \{([^}]*)\})?;", f.read())
    got = bytes(int(x) for x in m.group(2).split(",")) if m.group(2) else b""
    got += bytes(8 * len(cases) - len(got))        # PTX leaves out zeros at the end
    return [decode(int.from_bytes(got[i:i + 8], "little")) for i in range(0, len(got), 8)]


def main(nvcc):
    version = re.search(r"V(\d+\.\d+\.\d+)", run([nvcc, "--version"]).out.decode()).group(1)
    asked = [q for q in questions() if q.cpp]
    cases = sorted({(q.cpp, q.types) for q in asked}, key=repr)
    known = {}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(0, len(cases), PER_FILE):
            known.update(zip(cases[i:i + PER_FILE], ask(nvcc, folder, cases[i:i + PER_FILE])))
            print("%d of %d" % (len(known), len(cases)), flush=True)
    answers.write(version, {q.key: known[q.cpp, q.types] for q in asked})


if __name__ == "__main__":
    main(sys.argv[1])
