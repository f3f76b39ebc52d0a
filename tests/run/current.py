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
    # the compiler must build from them: with no re2c and no Bison
    built = sanitized()
    for name in ("tile_lex.c", "tile_tab.c", "tile_tab.h"):
        check(filecmp.cmp(os.path.join(built, "gen/grammar", name), os.path.join(folder, name), shallow=False), "the build did not take bootstrap/" + name)
    sample = os.path.join(ROOT, "samples/vecadd/vecadd.tile")
    a = run([os.path.join(built, "ctilec"), "--emit=ast", sample], env={"ASAN_OPTIONS": "detect_leaks=0"})
    b = ctilec("--emit=ast", sample)
    check(a.code == 0 and a.out == b.out, "the compiler built from bootstrap/ parses differently")


{"docs": docs, "editors": editors, "bootstrap": bootstrap}[sys.argv[1]]()
finish()
