"""A part of a suite of ../values with target cuda-tile, whose kernels interpret.py runs: values.py SUITE PART/PARTS. CTILEC as for all tests."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
sys.path.insert(0, HERE)
from common import *
import emulation_tile

if not emulation_tile.tool("tileirdisasm"):
    skip("nvcc with CUDA Tile C++ is not there: sh tools/get-nvcc.sh tile")
suite, part = sys.argv[1:]
sys.exit(subprocess.run([sys.executable, os.path.join(ROOT, "tests", "values", suite + ".py"), "test", "--target", "tile", "--ctilec", CTILEC,
                         "--part", part]).returncode)
