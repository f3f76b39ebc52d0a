"""Fuzzing with libFuzzer (clang), under address and undefined-behaviour sanitizers.

    run.py [TARGET ...] [--seconds N] [--runs N]    builds the targets and runs each for N seconds or executions, in turn
                                                    --fast: without sanitizers, ten times as many; what it finds new, the others see next time
                                                    --built: programs that are there are not built again
    run.py minimise [TARGET ...]                    writes tests/fuzz/corpus again: the fewest texts that reach as much
    run.py replay [TARGET ...] [--plain]            gives the kept texts to the targets; no clang needed. --plain: without sanitizers
    run.py record                                   prints how many executions there have been here

Targets: sema, parser, lexer, ir, tune, options, repro; none: all. The working corpus lies in BUILD/fuzz/corpus-TARGET. It begins with the
kept texts and with every file of the tree of the target's kind that is not longer than --length. A text that fails lies in BUILD/fuzz.
Memory of a compilation is given back when the program ends, so a target is started again every few thousand executions."""
import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "run"))
from common import *

FAST = ["-std=c11", "-O2", "-g1", "-fsanitize=fuzzer-no-link", "-w"]
FLAGS = ["-std=c11", "-O1", "-g", "-fsanitize=fuzzer-no-link,address,undefined", "-fno-sanitize-recover=all", "-DCT_ARENA_MALLOC", "-w"]
# executions until a target is started again; the longest text; what is kept of its corpus, in bytes
TARGETS = {"sema": (6000, 4096, 420000), "parser": (40000, 4096, 90000), "lexer": (100000, 2048, 30000), "ir": (10000, 8192, 250000),
           "tune": (20000, 1024, 40000), "options": (40000, 512, 40000), "repro": (0, 4096, 60000)}
KEPT = os.path.join(HERE, "corpus")
FOLDER = os.path.join(BUILD, "fuzz")
RECORD = os.path.join(FOLDER, "record.json")
SHARED = [os.path.join(HERE, name) for name in ("common.c",)]
ENV = {"ASAN_OPTIONS": "detect_leaks=0:intercept_strstr=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


# ---- kept texts: a line with the length, the bytes, a line end ----
def unpack(path):
    found, at = [], 0
    data = open(path, "rb").read() if os.path.exists(path) else b""
    while at < len(data):
        end = data.index(b"\n", at)
        n = int(data[at:end])
        found.append(data[end + 1:end + 1 + n])
        at = end + n + 2
    return found


def pack(path, texts):
    with open(path, "wb") as f:
        for t in texts:
            f.write(b"%d\n%s\n" % (len(t), t))


# ---- corpora ----
def seeds(target):
    if target == "ir":
        return [p for kind in ("ir", "tir") for p in glob.glob(os.path.join(ROOT, "tests", "**", "*." + kind), recursive=True)]
    if target == "tune":
        return glob.glob(os.path.join(ROOT, "tests", "**", "*.tune"), recursive=True)
    return [] if target in ("options", "repro") else tile_files("samples", "stdlib", "tests", "bench")


def command_lines():
    """A line for each option, with each of its words, and some longer ones."""
    lines = ["a.tile\n-o\nout.c\n-MF\nout.c", "-\n--stdin-name=k.tile\n--check", "@\n\f'a b.tile' -o \"x\\\"y\" -D N=\\ 1", "--\n-x.tile", "explain\nE0262", "-MD\n-MP\n-MT\nx\na.tile"]
    for o in json.loads(ctilec("--help=json").out)["options"]:
        for name in o["spellings"]:
            lines += ["%s\na.tile" % name, "%s=x\na.tile" % name, "%sx\na.tile" % name, "%s\nx=1\na.tile" % name]
            lines += ["%s=%s\na.tile" % (name, w) for w in o.get("words", [])]
    return [l.encode() for l in lines]


def fill(target, corpus, length):
    texts = list(unpack(os.path.join(KEPT, target)))
    for path in seeds(target):
        text = open(path, "rb").read()
        if len(text) <= length and b"10000000" not in text:      # the limit of unrolling is reached in seconds, not in milliseconds
            texts.append(text)
    if target == "options":
        texts += command_lines()
    for t in texts:
        path = os.path.join(corpus, hashlib.sha1(t).hexdigest())
        if not os.path.exists(path):
            write(path, t)
    words = sorted({w for t in texts for w in re.findall(r"[A-Za-z_][A-Za-z0-9_]{1,20}|[-+*/%&|^<>=!.@]{2,3}", t.decode("latin-1"))})
    write(corpus + ".dict", "".join('"%s"\n' % w for w in words))


# ---- programs ----
def library(folder, flags, cc):
    must(["make", "-C", ROOT, "-j2", "lib", "CC=" + cc, "CFLAGS=" + " ".join(flags[1:]), "BUILD=" + folder], "make", timeout=3000)
    return os.path.join(folder, "libctilec.a")


def build(target, fast=False, built=False):
    flags, kind = (FAST, "-fast") if fast else (FLAGS, "")
    made = os.path.join(FOLDER, "build" + kind)
    program = os.path.join(FOLDER, "fuzz_" + target + kind)
    if built and os.path.exists(program):
        return program
    must(["clang", *flags, "-fsanitize=fuzzer", "-Wl,--wrap=exit", "-I" + ROOT, "-I" + os.path.join(made, "gen"), "-o", program,
          os.path.join(HERE, "fuzz_%s.c" % target), os.path.join(HERE, "mutator.c"), *SHARED, library(made, flags, "clang"), "-lm"], timeout=900)
    return program


# ---- running ----
def counted(target, executions, seconds):
    known = json.loads(read(RECORD)) if os.path.exists(RECORD) else {}
    n, s = known.get(target, [0, 0.0])
    known[target] = [n + executions, s + seconds]
    write(RECORD + ".new", json.dumps(known))
    os.replace(RECORD + ".new", RECORD)


def record():
    known = json.loads(read(RECORD)) if os.path.exists(RECORD) else {}
    for target, (n, s) in sorted(known.items()):
        print("%-14s %11d executions %8.0f s %8.0f a second" % (target, n, s, n / max(s, 1)))
    print("%-14s %11d executions" % ("all", sum(n for n, _ in known.values())))


def run_once(target, program, corpus, length, runs, seconds, seed):
    begin = time.monotonic()
    r = subprocess.run([program, corpus, "-dict=" + corpus + ".dict", "-runs=%d" % runs, "-max_len=%d" % length, "-timeout=300", "-rss_limit_mb=6000", "-seed=%d" % seed,
                        "-max_total_time=%d" % max(1, int(seconds)), "-artifact_prefix=" + FOLDER + os.sep + target + "-", "-print_final_stats=1"],
                       cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=clean_env(ENV))
    done = re.search(r"number_of_executed_units: (\d+)", r.stdout)
    executions = int(done.group(1)) if done else 0
    counted(os.path.basename(program)[5:], executions, time.monotonic() - begin)
    print("%s, seed %d: %d executions, %s" % (target, seed, executions, " ".join(re.findall(r"(?:cov|ft|corp|rss): \S+", r.stdout)[-4:])), flush=True)
    check(r.returncode == 0, "%s, seed %d:\n%s" % (target, seed, r.stdout[-6000:]))
    return executions if r.returncode == 0 else 0


def fuzz(target, a):
    runs, length, _ = TARGETS[target]
    length = a.length or length
    if target == "repro":
        r = run([sys.executable, os.path.join(HERE, "fuzz_repro.py"), "--seconds", str(a.seconds), "--seed", str(a.seed)], timeout=a.seconds + 600)
        print(r.out.decode("utf-8", "replace"), end="", flush=True)
        check(r.code == 0, r.text[-4000:])
        done = re.search(rb"(\d+) executions", r.out)
        counted(target, int(done.group(1)) if done else 0, a.seconds)
        return
    corpus = os.path.join(FOLDER, "corpus-" + target)
    os.makedirs(corpus, exist_ok=True)
    program = build(target, a.fast, a.built)
    fill(target, corpus, length)
    end, left, seed = time.monotonic() + a.seconds, a.runs or sys.maxsize, a.seed or int(time.time())
    while time.monotonic() < end and left > 0:
        done = run_once(target, program, corpus, length, runs * (4 if a.fast else 1), end - time.monotonic(), seed)
        left -= done
        seed += 1
        if not done:
            break


def minimise(target, a):
    if target == "repro":
        return
    _, length, most = TARGETS[target]
    program, corpus = build(target, a.fast, a.built), os.path.join(FOLDER, "corpus-" + target)
    less = os.path.join(FOLDER, "less-" + target)
    shutil.rmtree(less, ignore_errors=True)
    os.makedirs(less)
    must([program, "-set_cover_merge=1", "-max_len=%d" % length, "-rss_limit_mb=12000", less, corpus], cwd=ROOT, env=ENV, timeout=6000)
    texts = sorted({open(p, "rb").read() for p in glob.glob(os.path.join(less, "*"))}, key=lambda t: hashlib.sha1(t).digest())
    kept, size = [], 0
    for t in texts:                         # in no order: neither only the short ones, which are mostly refused, nor only the long ones
        if size + len(t) <= most:
            kept.append(t)
            size += len(t)
    os.makedirs(KEPT, exist_ok=True)
    pack(os.path.join(KEPT, target), sorted(kept, key=lambda t: (len(t), t)))
    print("%s: %d texts of %d, %d bytes" % (target, len(kept), len(texts), size))


def replay(targets, plain):
    if plain:
        made, flags, link = BUILD, ["-std=c11", "-O1", "-g"], []
        lib = os.path.join(made, "libctilec.a")
    else:
        made = sanitized("lib")
        flags = ["-std=c11", "-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DCT_ARENA_MALLOC"]
        lib = os.path.join(made, "libctilec.a")
    with tmpdir() as tmp:
        for target in targets:
            if target == "repro":
                must([sys.executable, os.path.join(HERE, "fuzz_repro.py"), "--seconds", "2", "--seed", "1"])
                continue
            program = os.path.join(tmp, target)
            must([CC, *flags, "-Wl,--wrap=exit", "-I" + ROOT, "-I" + os.path.join(made, "gen"), "-o", program, os.path.join(HERE, "fuzz_%s.c" % target),
                  os.path.join(HERE, "replay.c"), *SHARED, lib, "-lm"])
            begin = time.monotonic()
            r = run([program, os.path.join(KEPT, target)], cwd=ROOT, env=ENV)
            check(r.code == 0, "%s: exit %d\n%s" % (target, r.code, r.text[-4000:]))
            texts = re.match(rb"(\d+) texts", r.out)
            check(texts and int(texts.group(1)) == len(unpack(os.path.join(KEPT, target))) > 20, "%s: few texts: %s" % (target, r.out))
            print("%s: %s in %.1f s" % (target, r.out.decode().strip(), time.monotonic() - begin))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("what", nargs="*", metavar="minimise | replay | record | TARGET")
    ap.add_argument("--seconds", type=int, default=60)
    ap.add_argument("--runs", type=int, default=0)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--length", type=int, default=0)
    ap.add_argument("--plain", action="store_true")
    ap.add_argument("--fast", action="store_true")
    ap.add_argument("--built", action="store_true")
    a = ap.parse_intermixed_args()
    command = a.what.pop(0) if a.what and a.what[0] in ("minimise", "replay", "record") else None
    unknown = [t for t in a.what if t not in TARGETS]
    if unknown:
        ap.error("no target is called `%s`" % unknown[0])
    targets = a.what or list(TARGETS)
    os.makedirs(FOLDER, exist_ok=True)
    if command == "record":
        record()
    elif command == "replay":
        replay(targets, a.plain)
    else:
        for target in targets:
            minimise(target, a) if command == "minimise" else fuzz(target, a)
    finish()


main()
