"""Calls of launchers with what they return: run.py c|overlap|threads|nvcc."""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

STRICT = ["-Wall", "-Wextra", "-Werror"]


def generate(target, tmp):
    end = {"c": ".c", "cuda": ".cu"}[target]
    for name in ("launch", "second"):
        r = ctilec("--target=" + target, "-o", os.path.join(tmp, name + end), os.path.join(HERE, name + ".tile"))
        if not check(r.code == 0 and not r.text, r.text):
            finish()
    return [os.path.join(tmp, name + end) for name in ("launch", "second")]


def on_c(tmp, builds, flags):
    texts = generate("c", tmp)
    for cc, options in builds:
        if not shutil.which(cc):
            continue
        program = os.path.join(tmp, "launch")
        r = run([cc, "-std=c11"] + STRICT + options + flags + ["-I" + tmp, "-o", program, os.path.join(HERE, "launch.c")] + texts + ["-lm"])
        if r.code and "tsan" in r.text:
            print("no thread sanitizer for " + cc)
            continue
        if check(r.code == 0, "%s %s:\n%s" % (cc, options, r.text[-3000:])):
            r = run([program], env={"OMP_NUM_THREADS": "3"})
            check(r.code == 0, "%s %s: exit %d\n%s%s" % (cc, options, r.code, r.out.decode("utf-8", "replace")[-3000:], r.text[-3000:]))


def overlap(tmp):
    r = ctilec("--target=c", "-o", os.path.join(tmp, "overlap.c.inc"), os.path.join(HERE, "overlap.tile"))
    if not check(r.code == 0 and not r.text, r.text):
        return
    program = os.path.join(tmp, "overlap")
    must([CC, "-std=c11", "-O2", "-fsanitize=undefined", "-fno-sanitize-recover=all"] + STRICT + ["-I" + tmp, "-o", program, os.path.join(HERE, "overlap.c"), "-lm"])
    r = run([program])
    check(r.code == 0, "exit %d\n%s%s" % (r.code, r.out.decode("utf-8", "replace")[-3000:], r.text[-3000:]))
    print(r.out.decode("utf-8", "replace"))
    r = ctilec("--target=c", "--emit=c", os.path.join(ROOT, "samples", "vecadd", "vecadd.tile"))
    check(b"ct_folds" not in r.out and b"ct_meet" not in r.out, "tensors without gaps need no more than a comparison of ranges")


def headers_in_cxx(tmp):
    generate("c", tmp)
    write(os.path.join(tmp, "both.cc"), '#include "launch.h"\n#include "second.h"\nint main() { return copy(nullptr, nullptr, 0, nullptr); }\n')
    for cxx in ("g++", "clang++"):
        if shutil.which(cxx):
            must([cxx, "-std=c++11", "-pedantic"] + STRICT + ["-fsyntax-only", "both.cc"], cwd=tmp)


def on_nvcc(tmp):
    if not NVCC:
        fail("there is no nvcc; `sh tools/setup.sh test` gets one")
        return
    must([NVCC, "-arch=sm_90a", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra", "-I" + tmp, "-o", os.path.join(tmp, "launch"),
        os.path.join(HERE, "launch.c")] + generate("cuda", tmp))


with tmpdir() as tmp:
    if sys.argv[1] == "c":
        on_c(tmp, [("gcc", ["-O2"]), ("gcc", ["-O2", "-fopenmp"]), ("clang", ["-O2", "-Wno-unknown-pragmas"]), ("gcc", SANITIZED)], ["-Wno-unknown-pragmas"])
        headers_in_cxx(tmp)
    elif sys.argv[1] == "overlap":
        overlap(tmp)
    elif sys.argv[1] == "threads":
        on_c(tmp, [("gcc", ["-O1", "-g", "-fsanitize=thread"]), ("clang", ["-O1", "-g", "-fsanitize=thread"])], ["-DTHREADS", "-pthread", "-Wno-unknown-pragmas"])
    else:
        on_nvcc(tmp)
finish()
