"""The same calls on the C target and on the emulated CUDA target, or in the simulator, must give the same numbers (compare.py).
diff.py CTILEC PRELUDE_TOOL FILE.tile [ARCH [SECTION]]: libctilec.a for PRELUDE_TOOL: in the simulator. A section is the part of the
file after `// ---- SECTION`. EMU_ORDER: orders of threads, separated by spaces; each call is made in all of them."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "sim"))
from compare import Emulated, Target, compare, each_variant, section, told, SIZES
from simulated import Simulated


def sh(*args):
    r = subprocess.run(args, capture_output=True, text=True)
    if r.returncode:
        sys.exit("%s\n%s%s" % (" ".join(args), r.stdout, r.stderr))
    return r.stdout


def main():
    ctilec, tool, source = sys.argv[1:4]
    arch = sys.argv[4] if len(sys.argv) > 4 else "sm_80"
    only = sys.argv[5] if len(sys.argv) > 5 else ""
    orders = os.environ.get("EMU_ORDER", "").split() or ["0"]
    with tempfile.TemporaryDirectory() as tmp:
        cu, emu, c, one = [os.path.join(tmp, n) for n in ("t.cu", "e.c", "t.c", "one.tile")]
        with open(source) as f:
            text = f.read()
        with open(one, "w") as f:
            f.write(each_variant(section(text, only)))
        entries = json.loads(sh(ctilec, "--emit=manifest", one, "-o", "-"))["entries"]
        sh(ctilec, "--target=c", "--line=off", one, "-o", c)
        sh("gcc", "-std=c11", "-O0", "-w", "-fPIC", "-shared", "-I" + tmp, "-o", c + ".so", c, "-lm")       # built in a third of the time, and it runs briefly
        if tool.endswith(".a"):
            sh(ctilec, "--versions=16", "--target=sim", "--arch=" + arch, "--line=off", one, "-o", emu)
            device = Simulated(emu, tool, tmp, entries)
        else:
            sh(ctilec, "--versions=16", "--target=cuda", "--line=off", one, "-o", cu)
            sh(sys.executable, os.path.join(HERE, "emulate.py"), tool, cu, emu, arch)
            sh("gcc", "-std=gnu11", "-Og", "-w", "-DCT_LEAST(n)=((n)/128)", "-DCT_STEPS=1", "-fPIC", "-shared", "-I" + HERE, "-I" + tmp, "-o", emu + ".so", emu, "-lm")
            device = Emulated(emu + ".so")
        calls, bad = compare(Target(c + ".so"), device, entries, told(text, "sizes", SIZES), told(text, "phases", [0]), orders,
            special=told(text, "special", False))
    print("%d calls, %d wrong" % (calls, bad))
    sys.exit(1 if bad or not calls else 0)


main()
