"""Which loops of products become pipelines (lower/pipeline.c, lower/chain.c): pipeline.py FILE, all of the file but for what its
line `// plain:` names; of roles for sm_90a, and of several stages for sm_80, but for what its line `// for roles:` names. What
`// without roles:` names has stages for both, what `// in wide tiles:` names has those with most sums. Rounds of what `// stream-k:` names
are dealt out over the device where there is workspace, and of no others. What `// asked ahead:` names loads what follows the loop before
the loop begins."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), sys.argv[1])


def main():
    plain = set(re.search(r"(?m)^// plain: (.*)$", read(SOURCE)).group(1).split(", "))
    only, without = (re.search(r"(?m)^// %s roles: (.*)$" % x, read(SOURCE)) for x in ("for", "without"))
    only, without = (set(x.group(1).split(", ") if x else []) for x in (only, without))
    shared = re.search(r"(?m)^// stream-k: (.*)$", read(SOURCE))
    shared = set(shared.group(1).split(", ")) if shared else set()
    with tmpdir() as tmp:
        out = os.path.join(tmp, "pipeline.tir")
        r = ctilec("-w", "--arch=sm_80,sm_90a", "--emit=placed", SOURCE, "-o", out)
        if check(r.code == 0, "the source does not compile:\n" + r.text):
            kernels = {k for k in re.findall(r"(?m)^kernel (\w+) typed", read(out)) if not k.endswith("_stream_k") and k != "clear_partials"}
            only = kernels if only == {"all"} else only
            for kind, arch, others in (("pipelined", "sm_90a", plain | without), ("stages", "sm_80", plain | only)):
                made = re.findall(r'(?m)^version (\w+) "%s\w*" for (.*) \{$' % kind, read(out))
                dealt = {name for name, _ in made if name.endswith("_stream_k")}      # steps of those with workspace (lower/streamk.c)
                check({name for name, _ in made} - dealt == kernels - others, "%s, made or wanted alone: %s" % (kind, sorted(({name for name, _ in made} - dealt) ^ (kernels - others))))
                check(dealt == {name + "_stream_k" for name in shared if kind == "pipelined"}, "%s, dealt out: %s" % (kind, sorted(dealt)))
                check(all(a == arch or name in without for name, a in made), "%s for %s" % (kind, sorted({a for _, a in made})))
            wide = re.search(r"(?m)^// in wide tiles: (.*)$", read(SOURCE))
            for name in wide.group(1).split(", ") if wide else []:
                check(re.search(r'(?m)^version %s\w* "stages_(256x128|128x256)"' % re.sub("_128$", "_f16_128x128x32", name), read(out)),
                      "%s has no stages of many sums" % name)
            ahead = re.search(r"(?m)^// asked ahead: (.*)$", read(SOURCE))
            for name in ahead.group(1).split(", ") if ahead else []:
                made = re.findall(r'(?ms)^version %s "pipelined\w*" .*?"consumer".*?\n(.*?)^\}' % name, read(out))
                check(made and all(0 < x.find(" = load ") < x.find("wgmma_fence") for x in made), "%s loads nothing before its loop" % name)
            check(plain <= kernels, "of the plain ones some are no kernels: %s" % sorted(plain - kernels))
    finish()


main()
