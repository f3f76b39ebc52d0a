"""The compiler built with sanitizers: every .tile file of the project and the wrong ones too, without a report. A program that is
refused for target c never reaches a target: the other one would refuse it by the same steps."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *

program = os.path.join(sanitized(), "ctilec")
done, whole = 0, 0
with tmpdir() as tmp:
    for path in tile_files("samples", "stdlib", "tests"):
        for target in ("c", "cuda"):
            r = run([program, "--target=" + target, "-Wall", "-o", os.path.join(tmp, "k." + target), path],
                    # where each object was allocated takes a third of the time; a report says enough without it
                    env={"ASAN_OPTIONS": "detect_leaks=0:intercept_strstr=0:malloc_context_size=0"})
            check(r.code in (0, 1, 2) and "Sanitizer" not in r.text and "runtime error" not in r.text,
                  "%s for %s: exit %d\n%s" % (os.path.relpath(path, ROOT), target, r.code, r.text[-3000:]))
            done, whole = done + 1, whole + (r.code == 0)
            if r.code == 1:
                break
print("%d compilations, %d of programs that are right" % (done, whole))
check(done > 400 and whole > done / 2, "few programs were compiled")
finish()
