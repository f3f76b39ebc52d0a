"""The corpus (bench/corpus): sources of at most 25 lines a kernel, without warnings, and right on the C target on shapes drawn from
two seeds."""
import os
import sys

from common import *
from lengths import check_lengths

FOLDER = os.path.join(ROOT, "bench", "corpus")

try:
    import ml_dtypes
    import numpy
except ImportError:
    skip("no numpy or ml_dtypes")
check_lengths(FOLDER)
with tmpdir() as tmp:
    for seed in ("1", "2"):
        built = ["--built"] if seed != "1" else []
        r = run([sys.executable, os.path.join(FOLDER, "check.py"), CTILEC, tmp, "--seed", seed, *built], timeout=600)
        check(r.code == 0, r.out.decode() + r.text)
        check(b"143 cases" in r.out, "the corpus is not whole: " + r.out.decode()[-200:])
finish()
