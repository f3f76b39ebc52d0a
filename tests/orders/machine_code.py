"""Whether machine code for sm_90a keeps memory orders. In the kernels of weak.tile: a release is a MEMBAR of its scope before the access, an acquire a
CCTL.IVALL after it; the relaxed forms have neither, and every access that has an order is STRONG at the GPU's scope. With an order weakened, one is missed."""
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

WEAKENED = (("order: release", "order: relaxed"), ("order: acquire)", "order: relaxed)"), ("order: acquire_release", "order: relaxed"))


def kernels(text):
    """Names of kernels with their instructions, without predicates and operands."""
    out = {}
    for name, body in re.findall(r"Function : \S*?\d+((?:passing|buffering)(?:_relaxed)?)_sm\S*\n(.*?)(?=\n\s*Function :|\Z)", text, re.S):
        out[name] = re.findall(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\d+ )?([A-Z][A-Z0-9_.]*)", body, re.M)
    return out


def order_of(code):
    """MEMBAR, STORE, LOAD, ATOM and CCTL in the order in which they stand: a letter each."""
    letters = (("MEMBAR", "M"), ("CCTL.IVALL", "I"), ("STG.E.STRONG.GPU", "S"), ("LDG.E.STRONG.GPU", "L"), ("ATOMG", "A"))
    return "".join(letter for i in code for prefix, letter in letters if i.startswith(prefix))


def faults(found):
    wanted = {"passing": (r"LI", r"MS"), "buffering": (r"MAI",)}
    out = ["no kernel " + name for name in ("passing", "passing_relaxed", "buffering", "buffering_relaxed") if name not in found]
    for name, code in found.items():
        order = order_of(code)
        base = name.replace("_relaxed", "")
        out += ["%s: no %s in %s" % (name, w, order) for w in wanted[base] if name == base and not re.search(w, order)]
        if name != base and re.search("[MI]", order):
            out.append("%s: a barrier in %s" % (name, order))
        if "S" not in order or "L" not in order:
            out.append("%s: an access that is not strong: %s" % (name, order))
        if any(i.startswith("MEMBAR") and not i.endswith(".GPU") for i in code):
            out.append("%s: a MEMBAR of another scope" % name)
    return out


def machine_code(text, tmp, cuobjdump):
    source, emitted, made = (os.path.join(tmp, "weak." + x) for x in ("tile", "cu", "cubin"))
    write(source, text)
    must([CTILEC, "--arch=sm_90a", "-o", emitted, source])
    must([NVCC, "-cubin", "-std=c++17", "-arch=sm_90a", "-o", made, emitted])
    return kernels(must([cuobjdump, "-sass", made]).out.decode())


if not NVCC:
    fail("there is no nvcc; `sh tools/setup.sh test` gets one")
    finish()
cuobjdump = shutil.which(os.path.join(os.path.dirname(NVCC), "cuobjdump")) or skip("no cuobjdump beside nvcc")
text = read(os.path.join(HERE, "weak.tile"))
with tmpdir() as tmp:
    found = machine_code(text, tmp, cuobjdump)
    for wrong in faults(found):
        fail(wrong)
    for name, code in sorted(found.items()):
        print("%s: %s" % (name, " ".join(i for i in code if re.match(r"MEMBAR|CCTL|ATOMG|REDG|LDG.*STRONG|STG.*STRONG", i))))
    for order, weaker in WEAKENED:
        check(order in text, "weak.tile has no " + order)
        check(faults(machine_code(text.replace(order, weaker), tmp, cuobjdump)), "not noticed: %s for %s" % (weaker, order))
finish()
