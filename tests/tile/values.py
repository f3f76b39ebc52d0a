"""A part of a suite of ../values with target cuda-tile, whose kernels interpret.py runs: values.py SUITE PART/PARTS. CTILEC as for all tests."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

suite, part = sys.argv[1:]
sys.exit(subprocess.run([sys.executable, os.path.join(ROOT, "tests", "values", suite + ".py"), "test", "--target", "tile", "--ctilec", CTILEC,
                         "--part", part]).returncode)
