"""Builds a libFuzzer target and runs it: run.py sema|parser|lexer|ir [--seconds N] [--seed S] [--length BYTES].

Needs clang with libFuzzer. Builds with address and undefined-behaviour sanitizers in BUILD/fuzz; the corpus grows in
BUILD/fuzz/corpus-TARGET, beginning with every .tile file (or IR text) of the tree that is not longer than --length; a text that fails
lies in BUILD/fuzz. Memory of a compilation is given back when the program ends, so the target is started again every few thousand runs."""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *

FLAGS = ["-std=c11", "-O1", "-g", "-fsanitize=fuzzer-no-link,address,undefined", "-fno-sanitize-recover=all", "-DCT_ARENA_MALLOC", "-w"]
RUNS = {"sema": 6000, "parser": 50000, "lexer": 50000, "ir": 20000}


def build(target, folder):
    """The compiler's objects once, through its Makefile; the target behind them."""
    made = os.path.join(folder, "build")
    must(["make", "-C", ROOT, "-j2", "lib", "CC=clang", "CFLAGS=" + " ".join(FLAGS[1:]), "BUILD=" + made], "make", timeout=1800)
    program = os.path.join(folder, "fuzz_" + target)
    must(["clang", *FLAGS, "-fsanitize=fuzzer", "-I" + ROOT, "-I" + os.path.join(made, "gen"), "-o", program,
          os.path.join(ROOT, "tests", "fuzz", "fuzz_%s.c" % target), os.path.join(made, "libctilec.a"), "-lm"], timeout=600)
    return program


def fill(target, corpus, length):
    texts = glob.glob(os.path.join(ROOT, "tests", "ir", "**", "*.ir"), recursive=True) if target == "ir" else tile_files("samples", "stdlib", "tests", "bench")
    for path in texts:
        if os.path.getsize(path) <= length and "10000000" not in read(path):      # the limit of unrolling is reached in seconds, not in milliseconds
            shutil.copy(path, os.path.join(corpus, os.path.relpath(path, ROOT).replace(os.sep, "_")))
    words = sorted({w for path in texts for w in re.findall(r"[A-Za-z_][A-Za-z0-9_]{1,20}|[-+*/%&|^<>=!.@]{2,3}", read(path))})
    write(corpus + ".dict", "".join('"%s"\n' % w for w in words))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("target", choices=sorted(RUNS))
    ap.add_argument("--seconds", type=int, default=60)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--length", type=int, default=4096)
    a = ap.parse_args()
    folder = os.path.join(BUILD, "fuzz")
    corpus = os.path.join(folder, "corpus-" + a.target)
    os.makedirs(corpus, exist_ok=True)
    program = build(a.target, folder)
    fill(a.target, corpus, a.length)
    end = time.monotonic() + a.seconds
    while time.monotonic() < end:
        r = subprocess.run([program, corpus, "-dict=" + corpus + ".dict", "-runs=%d" % RUNS[a.target], "-max_len=%d" % a.length, "-timeout=300", "-rss_limit_mb=6000", "-seed=%d" % a.seed,
                            "-max_total_time=%d" % max(1, int(end - time.monotonic())), "-artifact_prefix=" + folder + os.sep, "-print_final_stats=1"],
                           cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=clean_env({"ASAN_OPTIONS": "detect_leaks=0:intercept_strstr=0"}))
        print("seed %d: %s" % (a.seed, " ".join(re.findall(r"(?:cov|ft|corp|rss): \S+", r.stdout)[-4:])), flush=True)
        if not check(r.returncode == 0, "%s, seed %d:\n%s" % (a.target, a.seed, r.stdout[-6000:])):
            break
        a.seed += 1
    finish()


main()
