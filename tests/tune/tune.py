"""`ctilec tune` without a GPU: nvcc.py stands in for nvcc, cuda_runtime.h for the device."""
import os
import re
import stat
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

TILE = """kernel doubled(x: inout tensor<f32, [n]>) grid [cdiv(n, 4096)] {
    x.store([bid(0)], x.load([bid(0)], [4096]) * 2);
}
kernel halved(x: inout tensor<f32, [n]>) grid [cdiv(n, 1024)] {
    x.store([bid(0)], x.load([bid(0)], [1024]) / 2);
}
"""


def main():
    with tmpdir() as tmp:
        source, listed = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.tune")
        write(source, TILE)
        nvcc = os.path.join(HERE, "nvcc.py")

        def tune(*more, **env):
            return ctilec("tune", source, "--extent", "n=10000", "--entry=doubled", "--nvcc", nvcc, *more, cwd=tmp, env=env)

        # a table; the fastest is the one of one warp, and the list pins it
        r = tune("--best=12", "--drawn=4")
        table = r.out.decode()
        check(r.code == 0 and "doubled: n = 10000, Fake GPU, sm_90a" in table, "exit %d\n%s%s" % (r.code, table, r.text))
        times = [float(t) for t in re.findall(r"^ +([\d.]+) us", table, re.M)]
        check(len(times) > 3 and times[1:] == sorted(times[1:]), "times are not in order:\n" + table)
        text = read(listed)
        m = re.search(r"^sm_90a: \* -> doubled @([0-9a-f]+)$", text, re.M)
        check(m is not None and text.startswith("[doubled]\n# Fake GPU, sm_90a: n = 10000;"), text)
        last = re.search(r"us .*best \d+ +(\w+)", table)
        check(m is not None and last and m.group(1) == last.group(1), "the fastest is another: %s\n%s" % (text, table))
        r = ctilec("--arch=sm_90a", "--tune=k.tune", "--emit=cuda", "-o", "out.cu", source, cwd=tmp)
        check(r.code == 0 and not r.text and "doubled_plan_" in read(os.path.join(tmp, "out.cu")), "the list is not read: " + r.text)

        # the part of another function stays
        write(listed, "[halved]\n*: * -> halved @4\n[doubled]\n*: * -> doubled @3\n")
        check(tune("--best=2").code == 0, "a second run")
        text = read(listed)
        check(text.startswith("[halved]\n*: * -> halved @4\n[doubled]\n# Fake") and "@3" not in text, text)

        # what is wrong or cannot be built is said, and not taken
        r = tune("--best=12", FAKE_WRONG="16", FAKE_FAILS="4")
        table = r.out.decode()
        check(r.code == 0 and "values of x differ" in table and "this candidate cannot be built" in table, table + r.text)
        check(not re.search(r"@[0-9a-f]*5$", read(listed), re.M), "a plan with wrong values is in the list: " + read(listed))

        # what is there stays when a run is interrupted
        write(listed, "[halved]\n*: * -> halved @4\n")
        r = run([CTILEC, "tune", source, "--extent", "n=10000", "--best=12", "--drawn=4", "--nvcc", nvcc], cwd=tmp, env={"FAKE_KILL": "halved", "TMPDIR": tmp})
        text = read(listed)
        check(r.code != 0 and re.search(r"^sm_90a: \* -> doubled @", text, re.M), "exit %d\n%s%s" % (r.code, text, r.text))
        check(text.startswith("[halved]\n*: * -> halved @4\n"), "what another run has found is gone: " + text)

        # plain sentences
        r = tune(FAKE_NO_GPU="1")
        check(r.code == 1 and "this machine's GPU, and CUDA says: no CUDA-capable device is detected" in r.text, r.text)
        r = ctilec("tune", source, "--extent", "n=1", "--nvcc", "/nowhere/nvcc", cwd=tmp)
        check(r.code == 1 and "needs nvcc, and `/nowhere/nvcc` does not run" in r.text, r.text)
        r = ctilec("tune", source, cwd=tmp)
        check(r.code == 2 and "--extent n=4096" in r.text, r.text)
        write(source, TILE.replace("doubled(x", "doubled(w: tensor<f32, [m]>, x"))
        r = ctilec("tune", source, "--extent", "m=1", "--entry=doubled", "--nvcc", nvcc, cwd=tmp)
        check(r.code == 1 and "has no plans for this call" in r.text, r.text)
        r = ctilec("tune", source, "--extent", "n=1", "--extent", "rows=1", "--nvcc", nvcc, cwd=tmp)
        check(r.code == 2 and "`--extent rows`: no function has such a dimension or parameter" in r.text, r.text)
        r = ctilec("tune", source, "--extent", "n=1", "--entry=none", "--nvcc", nvcc, cwd=tmp)
        check(r.code == 2 and "the program has no function `none`" in r.text, r.text)
    finish()


main()
