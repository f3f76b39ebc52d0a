"""Whether machine code keeps memory orders: machine_code.py PROGRAM|OBJECT [CUOBJDUMP]. In the kernels of weak.tile: a release is a MEMBAR of its scope before
the access, an acquire a CCTL.IVALL after it; the relaxed forms have neither, and every access that has an order is STRONG at the GPU's scope."""
import re
import subprocess
import sys


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


def main():
    tool = sys.argv[2] if len(sys.argv) > 2 else "cuobjdump"
    text = subprocess.run([tool, "-sass", sys.argv[1]], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = kernels(text)
    for name, code in sorted(found.items()):
        print("%s: %s" % (name, " ".join(i for i in code if re.match(r"MEMBAR|CCTL|ATOMG|REDG|LDG.*STRONG|STG.*STRONG", i))))
    wrong = faults(found)
    print("\n".join(wrong) if wrong else "machine code keeps the orders")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
