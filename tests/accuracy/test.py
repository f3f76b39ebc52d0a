"""Mathematical functions of the C target keep the errors that docs/operations.md states: all of f16 and bf16 for functions of one operand, 2^18 inputs of
f32 and of f64 and pairs of each type. The comparison itself: a bound that is tightened fails, as do a fault, a row without a measurement and words that are unknown."""
import copy
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "run"), HERE]
import accuracy
from common import *


def tightened(bounds, label, ulp):
    out = copy.deepcopy(bounds)
    out[label, "c", "f32"].ulp = ulp
    return out


def changed(lines, key, t, **to):
    """The measurements with those of one function changed."""
    r = accuracy.Results(lines)
    r.rows["c", key, t] = dict(r.rows["c", key, t], **to)
    return r


with tmpdir() as tmp:
    accuracy.emit_c(CTILEC, tmp, accuracy.choose(None, accuracy.ALL))
    program = accuracy.build_c(tmp)
    lines = must([program, "18", "0", "1"]).out.decode().splitlines()
bounds = accuracy.stated(CTILEC)
results = accuracy.Results(lines)
for x in accuracy.errors(results, bounds) + accuracy.missing(results, bounds):
    fail(x)
check(len(results.rows) > 150 and all(d["inputs"] for d in results.rows.values()), "%d measurements" % len(results.rows))
exact = accuracy.allowed(accuracy.Bound(""), next(f for f in accuracy.functions() if f.key == "sqrt"), "f16")
check(exact == 0.5, "what is not in the table is the nearest value, not within %s" % exact)

for label, key, ulp in (("`log10`", "log10", 1), ("`erfc`", "erfc", 2), ("`atan2`", "atan2", 1), ("`exp`", "exp", 0.5)):
    found = accuracy.errors(results, tightened(bounds, label, ulp))
    check(any(x.startswith("c " + key) and "f32" in x and "stated are" in x for x in found), "%s within %g: %s" % (key, ulp, found))
check(accuracy.errors(changed(lines, "sin", "f32", sign=1, sign_at="-0x0p+0"), bounds), "a zero of the other sign is no error")
check(accuracy.errors(changed(lines, "sin", "f16", ulp=0.51), bounds), "an error of 0.51 in f16 is no error")
check(accuracy.errors(changed(lines, "exp_approximate", "f32", part=1.01, part_at="0x1p0"), bounds), "a relative error beyond the stated one is no error")
check(accuracy.errors(changed(lines, "exp_approximate", "f32", r0=2.0 ** -22, part=0.9, part_at="0x1p0"), bounds), "a part of another bound is no error")
part = accuracy.json.dumps(dict(results.rows["c", "sin", "f32"], inputs=1, ulp=9.0))
check(accuracy.Results(lines + [part]).rows == results.rows == accuracy.Results([part] + lines).rows, "a measurement of fewer inputs replaces one of more")
whole = accuracy.page(results, bounds)
some = accuracy.Results([l for l in lines if '"sin"' in l or "machine" in l])
check(accuracy.page(some, bounds, whole) == whole != accuracy.page(some, bounds), "what is not measured again does not stay on the page")
less = accuracy.Results(lines)
del less.rows["c", "cbrt", "f64"]
check(accuracy.missing(less, bounds), "a function that was not measured is not missed")
more = dict(bounds)
more["`gamma`", "c", "f32"] = accuracy.Bound("at most 2 ulp")
check(accuracy.missing(results, more), "a row of the table that nothing measures is not missed")
for words in ("at most 2 ulp below 4", "relative error at most 3 percent", "good"):
    try:
        accuracy.Bound(words)
        fail("accepted: " + words)
    except SystemExit:
        pass
finish()
