"""Litmus tests of tile blocks that run at once, on the C target with a thread for each block: litmus.py NAME ARGUMENTS, of NAME.tile and NAME.c. On a GPU:
gpu/prepare.sh, with the numbers of rounds and pairs that the programs take by themselves."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

# outcomes that are forbidden, and options: the blocks of `weak` wait for each other
PROGRAMS = {"litmus": (4, []), "weak": (2, ["-Wno-progress"])}
name, arguments = sys.argv[1], sys.argv[2:]
forbidden, options = PROGRAMS[name]
with tmpdir() as tmp:
    r = ctilec("--target=c", "-Wall", *options, "-o", os.path.join(tmp, name + "_k.c"),
               "--header=" + os.path.join(tmp, name + ".h"), os.path.join(HERE, name + ".tile"))
    check(r.code == 0 and not r.text, r.text)
    common = os.path.join(ROOT, "samples", "common")
    must([CC, "-std=c11", "-O2", "-fopenmp", "-I", tmp, "-I", common, "-o", os.path.join(tmp, name), os.path.join(HERE, name + ".c"),
          os.path.join(tmp, name + "_k.c"), os.path.join(common, "device_host.c"), "-lm"])
    r = run([os.path.join(tmp, name), *arguments], env={"OMP_NUM_THREADS": "2", "OMP_DYNAMIC": "false"})
    print(r.out.decode())
    check(r.code == 0 and r.out.count(b"forbidden") == forbidden, "a forbidden outcome:\n" + r.out.decode() + r.text)
finish()
