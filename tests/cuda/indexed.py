"""How many neighbours the accesses of indexed.tile take at once (elements_plan), and which updates are combined before memory sees them."""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

WANT = {"rows": {"ldnc_b128_if": 1}, "masked": {"ldnc_b128_if": 1}, "wide": {"ldnc_b128_if": 1}, "scattered": {"st_b128_if": 1},
        "added": {"red_add_f32_b128_device": 1}, "single": {"atomic_add_f32_relaxed_device": 1},
        "runs": {"red_add_f32_b128_device": 1, "atomic_sub_i32_relaxed_device": 1, "atomic_max_i32_relaxed_device": 1},
        "bits": {"atomic_and_u32_relaxed_device": 1}, "counts": {"atomic_add_i32_relaxed_device": 1, "atomic_add_i64_relaxed_device": 1}}
COMBINED = {"added", "runs", "bits", "counts"}      # updates of one place are combined in their thread first

with tmpdir() as tmp:
    out = os.path.join(tmp, "indexed.cu")
    r = ctilec("-w", "--line=off", "--arch=sm_90a", os.path.join(ROOT, "tests", "cuda", "indexed.tile"), "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    text, bodies = read(out), {}
    accesses = dict(re.findall(r"^CT_FN void ct_((?:gather|scatter|atomic_rmw)_at_\w+)\(.*?\)\n\{\n(.*?)^\}", text, re.M | re.S))
    for name, aligned, body in re.findall(r"^(\w+?)_sm90a(_aligned)?\(.*?\)\n\{\n(.*?)^\}", text, re.M | re.S):
        if aligned or name not in bodies: bodies[name] = body          # the other version is for tensors of odd rows
    check(set(bodies) == set(WANT), "kernels: %s" % sorted(bodies))
    for name, body in bodies.items():
        # what stands after the comment that names the access, until the next one, and the functions that are called instead
        own = re.findall(r"// [^\n]*?(?:gather|scatter|atomic_rmw)\([^\n]*\n(.*?)(?=^\t// |\Z)", body, re.M | re.S)
        called = [accesses[f] for f in re.findall(r"\bct_(\w+_at_\w+)\(", body)]
        found = collections.Counter(c for c in re.findall(r"\bct_((?:ld|st|red|atomic)\w*)\(", "".join(own + called)) if c not in accesses)
        for call, n in WANT[name].items():
            check(found[call] >= n, "%s: %s, want %s" % (name, dict(found), call))
        check(("ct_gone" in "".join([body] + called)) == (name in COMBINED), "%s: are updates of one place combined?" % name)
        check(name != "single" or not any("b128" in c for c in found), "single: %s" % dict(found))
finish()
