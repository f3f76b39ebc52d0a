"""Which loops of products become pipelines of roles (lower/pipeline.c, lower/chain.c): pipeline.py FILE, all of the file but for what its
line `// plain:` names."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), sys.argv[1])


def main():
    plain = set(re.search(r"(?m)^// plain: (.*)$", read(SOURCE)).group(1).split(", "))
    with tmpdir() as tmp:
        out = os.path.join(tmp, "pipeline.tir")
        r = ctilec("-w", "--arch=sm_80,sm_90a", "--emit=placed", SOURCE, "-o", out)
        if check(r.code == 0, "the source does not compile:\n" + r.text):
            kernels = set(re.findall(r"(?m)^kernel (\w+) typed", read(out)))
            made = re.findall(r'(?m)^version (\w+) "pipelined\w*" for (.*) \{$', read(out))
            check({name for name, _ in made} == kernels - plain, "pipelines are %s" % sorted(name for name, _ in made))
            check({arch for _, arch in made} == {"sm_90a"}, "for %s" % sorted({arch for _, arch in made}))
            check(plain <= kernels, "of the plain ones some are no kernels: %s" % sorted(plain - kernels))
    finish()


main()
