"""What the tests of emitted CUDA compile: the .tile programs of the project, by group, as (name, path, options of ctilec)."""
import importlib
import inspect
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

BLOCK = re.compile(r"^```tile\n(.*?)^```$", re.M | re.S)


def samples(tmp):
    return [(os.path.basename(p)[:-5], p, []) for p in tile_files("samples")]


def library(tmp):
    """The library's own entries, and the programs that make instances of its kernels."""
    paths = [os.path.join(ROOT, p) for p in ("stdlib/reduce.tile", "stdlib/cumsum.tile", "stdlib/long_rows.tile", "tests/cuda/library.tile")] + tile_files("tests/stdlib")
    return [(os.path.relpath(p, ROOT), p, []) for p in paths]


def pages(tmp):
    """The examples of the pages that compile and make an entry."""
    found = []
    for page in ["README.md"] + sorted(os.path.join("docs", n) for n in os.listdir(os.path.join(ROOT, "docs")) if n.endswith(".md")):
        text = read(os.path.join(ROOT, page))
        for m in BLOCK.finditer(text):
            if not re.search(r"^(instance|entry|tune)\b|^kernel \w+\(", m.group(1), re.M):
                continue
            where = "%s:%d" % (page, text.count("\n", 0, m.start()) + 1)
            path = os.path.join(tmp, "block_%d.tile" % len(found))
            write(path, m.group(1))
            found.append((where, path, []))
    return found


def programs(tmp):
    """The programs of the other tests."""
    paths = tile_files("tests/golden", "tests/language", "tests/operations") + [os.path.join(ROOT, "tests", "cuda", n) for n in ("edges.tile", "nothing.tile")]
    return [(os.path.relpath(p, ROOT), p, []) for p in paths]


def suites():
    """The suites of tests/values: (name, pieces of source, options)."""
    folder = os.path.join(ROOT, "tests", "values")
    sys.path.insert(0, folder)
    for name in sorted(n[:-3] for n in os.listdir(folder) if n.endswith(".py")):
        module = importlib.import_module(name)
        found = [v for v in vars(module).values() if hasattr(v, "used") and hasattr(v, "groups") and not isinstance(v, type)]
        for s in found:
            for group in s.used():
                yield name + (":" + group if group else ""), [text for _, text, _, g in s.cases if g == group], list(s.groups[group])
        if not found and inspect.isfunction(getattr(module, "source", None)):
            yield name, re.split(r"^(?=kernel )", module.source(), flags=re.M)[1:], []


def values(tmp):
    """The generated programs of tests/values, in parts that nvcc compiles in seconds."""
    found = []
    for name, cases, options in suites():
        defined = {f: i for i, text in enumerate(cases) for f in re.findall(r"^fn (\w+)", text, re.M)}
        words = [set(re.findall(r"\w+", text)) for text in cases]

        def needs(i, have):
            """Case i and the cases whose functions it calls, before it."""
            if i not in have:
                have[i] = True
                for j in sorted({defined[w] for w in words[i] if w in defined} - {i}):
                    needs(j, have)
            return have

        part, lines = {}, 0
        for i, text in enumerate(cases):
            needs(i, part)
            lines += text.count("element_cast") * 12 + text.count("\n") * 10 + 20
            if lines > 8000 or i + 1 == len(cases):
                path = os.path.join(tmp, "values_%d.tile" % len(found))
                write(path, "\n".join(cases[k] for k in sorted(part)) + "\n")
                found.append(("%s, part %d" % (name, len(found)), path, options))
                part, lines = {}, 0
    return found


GROUPS = {"samples": samples, "library": library, "pages": pages, "programs": programs, "values": values}


def emit(name, path, options, out):
    """Writes out and the header beside it; False after a message where the program does not compile."""
    r = ctilec("--target=cuda", "-w", "-o", out, *options, path)
    return check(r.code == 0, "%s does not compile for target cuda:\n%s" % (name, r.text[-2000:]))


def host_side(text):
    """What nvcc gives to the host's compiler: functions of the device are gone, kernels are functions without a body of their own."""
    heads = re.findall(r"^static __global__ void [^\n]*\n(?:#if[^\n]*\n__cluster_dims__[^\n]*\n#endif\n)?(\w+\([^{]*\))\n\{", text, re.M)
    first, last = text.index("#define CT_FN"), text.index("#ifndef __CUDACC_RTC__\n#include <stdarg.h>")
    unnamed = [re.sub(r"\w+(?=[,)])", "", head) for head in heads]
    types = re.findall(r"^typedef struct __align__\(64\) ct_tensor_map [^\n]*\n", text[first:last], re.M)
    return "#include <cuda_runtime.h>\n" + text[:first] + "".join(types) + "".join("static void %s { }\n" % head for head in unnamed) + text[last:]


def together(parts):
    """Texts as one: (name, path) -> a text that has each in a namespace of its own, so that nvcc reads CUDA's headers once. Nothing is
    left out: names with C linkage get C++ linkage, what was included or defined is included before and undefined behind."""
    first, rest = {}, []
    for k, (name, path) in enumerate(parts):
        text = read(path)
        text = re.sub(r'^#include "(.*)"$', lambda m: read(os.path.join(os.path.dirname(path), m.group(1))), text, flags=re.M)
        for line in re.findall(r"^#include <.*>$", text, re.M):
            first[line] = True
        text = re.sub(r"^#include <.*>$|^struct CUstream_st;$", "", text, flags=re.M).replace('extern "C" {', 'extern "C++" {')
        macros = sorted(set(re.findall(r"^[ \t]*#[ \t]*define (\w+)", text, re.M)))
        rest += ['namespace part_%d {\n#line 1 "%s"\n' % (k, name), text, "\n}\n"] + ["#undef %s\n" % m for m in macros]
    return "".join(line + "\n" for line in first) + "".join(rest)
