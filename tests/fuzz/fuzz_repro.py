"""Hostile repro files: fuzz_repro.py [--seconds N] [--seed S]. Whatever a repro says, tools/replay.py refuses it in a sentence, or plans to
write below its folder only and runs the compiler with words of its table. Some of what is accepted is run, in a folder beside files that
must stay as they are. Repro N of seed S is always the same."""
import argparse
import os
import random
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "run"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
from common import *
import replay

SOURCE = b"import \"lib.tile\";\nkernel k(y: out tensor<f32, [n]>) grid [1] { y.store([0], full([8], ONE, f32)); }\n"
LIBRARY = b"const ONE: f32 = 1.0;\n"
PATHS = [b"k.tile", b"./k.tile", b"../k.tile", b"../../../../k.tile", b"/etc/passwd", b"/tmp/x", b"a/b/../../../k.tile", b"..", b".", b"", b"/", b"-", b"<stdin>", b"@x",
         b"lib.tile", b"x" * 300, b"a\0b", b"a\\nb", b"\xff\xfe", b"--", b"-o", b"tree", b"../" * 17 + b"k.tile", b"imports/lib.tile", b"out", b"/" + b"a/" * 2000]
WORDS = [b"-o", b"-MF", b"-MF/tmp/evil", b"-MF=evil", b"--header=/tmp/evil", b"--header", b"--save-repro=/tmp/evil", b"-o/tmp/evil", b"-I", b"-I/", b"--tune=k.tune", b"-MD", b"-M", b"-MT",
         b"-MTx", b"-O2", b"--target=c", b"--emit=ir", b"--check", b"@/tmp/evil", b"--", b"-", b"-DN=1", b"-D", b"N=@x", b"-Wall", b"-h", b"--help=json", b"--explain", b"-MFx", b"-M=x", b"-w",
         b"--dump-after=fold", b"--stop-after", b"--stdin-name=/tmp/evil", b"--file-prefix-map=a=/tmp", b"--time-report", b"-MP/tmp/x", b"--report=n=8", b"--line=abs", b"k.tile"]


def escaped(s):
    return s.replace(b"\\", b"\\\\").replace(b"\n", b"\\n")


def packed(arguments, files):
    out = b"ctilec-repro 1\nversion 0.1.0\n" + b"".join(b"argument %s\n" % escaped(a) for a in arguments)
    return out + b"".join(b"file %d %s\n%s\n" % (len(t), escaped(p), t) for p, t in files) + b"end\n"


def drawn(rng):
    arguments, files = [b"--target=c", b"k.tile"], [(b"k.tile", SOURCE), (b"lib.tile", LIBRARY)]
    for _ in range(rng.randrange(6)):
        arguments.insert(rng.randrange(len(arguments) + 1), rng.choice(WORDS + PATHS))
    if rng.random() < 0.4:
        k = rng.randrange(len(files))
        files[k] = (rng.choice(PATHS), files[k][1])
    if rng.random() < 0.3:
        path = rng.choice(PATHS)
        arguments = [path if a == b"k.tile" else a for a in arguments]
        files[0] = (path, SOURCE)
    if rng.random() < 0.2:
        files.insert(rng.randrange(3), (rng.choice(PATHS), rng.choice([SOURCE, LIBRARY, b""])))
    data = bytearray(packed(arguments, files))
    for _ in range(rng.choice([0, 0, 0, 1, 2, 8])):
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at:at + rng.randrange(1, 20)]
        elif kind == 2:
            data[at:at] = rng.choice(WORDS + PATHS)
        else:
            data[at:at] = data[rng.randrange(len(data)):][:rng.randrange(1, 40)]
    return bytes(data)


def sound(written, line, folder, spellings):
    """None, or what is wrong with a plan. Written apart from replay.py: it knows nothing of how one is made."""
    for at in written:
        path = os.path.normpath(os.path.join(folder, at))
        if not path.startswith(folder + b"/tree/") or b".." in at.split(b"/"):
            return "writes %r" % at
    if line[-2] != b"--" or line[-1].startswith(b"@") or line.count(b"-o") != 1 or line[line.index(b"-o") + 1] != folder + b"/out":
        return "the line %r" % line
    for w in line[:-2]:
        if w in (b"-o", folder + b"/out"):
            continue
        if not w.startswith(b"-") or w.startswith((b"-o", b"-MF", b"--header", b"--save-repro")):
            return "the word %r" % w
        if not any(w.startswith(s) for s in spellings):
            return "the unknown word %r" % w
        if w.startswith((b"-I", b"--tune")) and folder + b"/tree/" not in w:
            return "a path outside: %r" % w
    return None


def listing(top):
    return sorted((os.path.join(d, n), os.lstat(os.path.join(d, n)).st_mtime_ns) for d, _, names in os.walk(top) for n in names)


def really(data, tmp, table):
    """Runs it, beside files that it must not touch."""
    inner, outer = os.path.join(tmp, "inner"), os.path.join(tmp, "outer")
    for d in (inner, outer):
        os.makedirs(d)
    write(os.path.join(outer, "k.tile"), SOURCE)
    before = listing(outer), sorted(os.listdir("/tmp")) if os.path.exists("/tmp/evil") else None
    folder = os.fsencode(os.path.realpath(inner))
    written, line, given = replay.plan(data, table, folder)
    replay.write_all(folder, written)
    r = run([os.fsencode(CTILEC)] + line, cwd=os.path.join(folder, b"tree", replay.HERE), stdin=given)
    check(r.code in (0, 1, 2), "exit %d of %r: %s" % (r.code, line, r.text[-1000:]))
    check(listing(outer) == before[0] and not os.path.exists("/tmp/evil"), "a file outside changed: %r" % line)
    return r.code == 0


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--seconds", type=float, default=10)
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    table = replay.options_of(os.path.abspath(CTILEC))
    spellings = [s.encode() for row in table for s in row["spellings"]]
    end, n, accepted, ran, compiled = time.monotonic() + a.seconds, 0, 0, 0, 0
    with tmpdir() as tmp:
        while time.monotonic() < end and len(failures) < 5:
            data = drawn(random.Random("%d %d" % (a.seed, n)))
            n += 1
            try:
                written, line, _ = replay.plan(data, table, b"/folder")
            except replay.Bad as e:
                check(str(e) and len(str(e)) < 400 and str(e).isprintable(), "the sentence %r" % str(e))
                continue
            except Exception as e:          # anything else is a mistake of replay.py
                fail("repro %d of seed %d: %r: %r" % (n - 1, a.seed, e, data))
                continue
            accepted += 1
            wrong = sound(written, line, b"/folder", spellings)
            check(not wrong, "repro %d of seed %d %s" % (n - 1, a.seed, wrong))
            if accepted % 400 == 1:
                with tempfile.TemporaryDirectory(dir=tmp) as t:
                    try:
                        compiled += really(data, t, table)
                    except OSError:         # a file where another one's folder should be: replay.py says so and stops
                        continue
                ran += 1
    print("%d executions, %d accepted, %d run, %d compiled" % (n, accepted, ran, compiled))
    check(n < 2000 or (accepted > n // 20 and compiled > 0), "too few repros are accepted: the others test nothing")
    finish()


main()
