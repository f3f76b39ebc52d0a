"""Files that are kept although they can be made: current.py docs|editors|bootstrap. They must be what making them gives."""
import filecmp
import hashlib
import os
import re
import sys

from common import *


def same_files(made, kept, what):
    for folder, _, names in os.walk(made):
        for n in names:
            new = os.path.join(folder, n)
            old = os.path.join(kept, os.path.relpath(new, made))
            check(os.path.exists(old) and filecmp.cmp(new, old, shallow=False),
                  "%s is not current; `make %s` writes it again" % (os.path.relpath(old, ROOT), what))


def docs():
    with tmpdir() as tmp:
        must(["sh", os.path.join(ROOT, "tools", "gen-docs.sh"), CTILEC, tmp])
        same_files(tmp, os.path.join(ROOT, "docs"), "docs")


def editors():
    with tmpdir() as tmp:
        must([sys.executable, os.path.join(ROOT, "tools", "gen-editors.py"), CTILEC, tmp])
        same_files(tmp, os.path.join(ROOT, "editors"), "editors")


def bootstrap():
    folder = os.path.join(ROOT, "bootstrap")
    for line in read(os.path.join(folder, "SUMS")).splitlines():
        want, path = line.split()
        with open(os.path.join(ROOT, path), "rb") as f:
            have = hashlib.sha256(f.read()).hexdigest()
        check(have == want, "bootstrap/ was made from another %s; `make bootstrap` writes it again" % path)
    # the compiler must build from them, with no re2c and no Bison: what they become, and all that includes it; other objects are the same
    with tmpdir() as tmp:
        must(["make", "-C", ROOT, "BUILD=" + tmp, "RE2C=no-such-re2c", "BISON=no-such-bison",
              *[os.path.join(tmp, "gen/grammar", n) for n in ("tile_lex.c", "tile_tab.c", "tokens.inc")]])
        objects = [os.path.join(folder, n[:-2]) for folder, _, names in os.walk(os.path.join(BUILD, "obj")) for n in names if n.endswith(".d")]
        others, parts = [], []
        for path in objects:
            source = os.path.relpath(path, os.path.join(BUILD, "obj")) + ".c"
            source = os.path.join(tmp if source.startswith("gen") else ROOT, source)
            if "/gen/grammar/" in read(path + ".d"):
                parts.append(source)
            elif os.path.exists(source):        # of a source that is gone the object may be left
                others.append(path + ".o")
        check(len(parts) >= 4 and len(others) > 200, "%d objects of %d are made from bootstrap/" % (len(parts), len(objects)))
        r = run([CC, "-std=c11", "-O0", "-w", "-I" + os.path.join(tmp, "gen"), "-I" + ROOT, "-o", os.path.join(tmp, "ctilec"),
                 *parts, *others, "-lm"], cwd=ROOT, timeout=900)
        if not check(r.code == 0, "the compiler does not build without re2c and Bison:\n" + r.text[-3000:]):
            return
        check(filecmp.cmp(os.path.join(tmp, "gen/grammar/tile_tab.c"), os.path.join(folder, "tile_tab.c"), shallow=False),
              "the build did not take bootstrap/tile_tab.c")
        sample = os.path.join(ROOT, "samples/vecadd/vecadd.tile")
        a = run([os.path.join(tmp, "ctilec"), "--emit=ast", sample])
        b = ctilec("--emit=ast", sample)
        check(a.code == 0 and a.out == b.out, "the compiler built from bootstrap/ parses differently")


{"docs": docs, "editors": editors, "bootstrap": bootstrap}[sys.argv[1]]()
finish()
