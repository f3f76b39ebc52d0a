"""bench/tile without a GPU and without nvcc: every source is printed for both targets, with each function that a row calls; its page is whole."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import *

BENCH = os.path.join(ROOT, "bench", "tile", "bench.py")


def rate(us, share, **more):
    return dict(us=us, share=share, low=share * 0.9, high=share * 1.1, **more)


def main():
    with tmpdir() as tmp:
        r = run([sys.executable, "-B", BENCH, "emit", CTILEC, tmp])
        check(r.code == 0, "emit: " + r.text)
        sys.path.insert(0, os.path.dirname(BENCH))
        import bench
        for side in bench.SIDES:
            for file, name in bench.called():
                check(re.search(r"\b%s_ws\(" % name, read(os.path.join(tmp, side, file + ".h"))), "%s: %s has no %s" % (side, file, name))
        page = os.path.join(tmp, "tile.json")
        ours, theirs, library = rate(10, 0.9, tile="128x64"), rate(15, 0.6, tile="64x64"), rate(9, 1)
        write(page, json.dumps(dict(
            device="a GPU", versions={"ctilec": "1"}, rounds=3, not_compiled={"cuda/scan.cu": "status 1"}, clocks_before={"sm": "1980"}, clocks_after={},
            parts=dict(gemm=[dict(name="one", rates={"ctilec": ours, "cuda-tile": theirs, "cuBLAS": library}, wrong={}, tiles={})],
                       attention=[dict(name="two", rates={}, wrong={"row": "hangs"})],
                       memory=[dict(name="three", rates={"ctilec": ours, "torch": library}, wrong={"cuda-tile": "differs"}, same=0.9)]))))
        r = run([sys.executable, os.path.join(ROOT, "bench", "page.py"), page])
        html = r.out.decode()
        for text in ("<b>1.50</b>", "two, row: hangs", "three, cuda-tile: differs", "cuda/scan.cu, not compiled: status 1", "128x64", "cuBLAS", "1980"):
            check(r.code == 0 and text in html, "the page lacks `%s`: %s" % (text, r.text))
    finish()


main()
