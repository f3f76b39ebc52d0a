"""Builds emitted CUDA as a host program or library: emulate.py rewrites it, emu.h stands in for the GPU."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KERNEL = re.compile(r"(static __global__ void __launch_bounds__\([^\n]*\n(?:#if.*?#endif\n)?(\w+)\([^\n]*\)\n)\{\n(.*?)^\}\n", re.S | re.M)


def without_bodies(text, names=None):
    """The text whose kernels, or those of these names, do nothing."""
    return KERNEL.sub(lambda m: m.group(1) + "{\n}\n" if names is None or m.group(2) in names else m.group(0), text)


def prelude_tool(build):
    """The program that prints the C target's functions; made again when the compiler's library is newer."""
    tool = os.path.join(build, "tests", "emu_prelude")
    lib = os.path.join(build, "libctilec.a")
    if not os.path.exists(tool) or os.path.getmtime(tool) < os.path.getmtime(lib):
        os.makedirs(os.path.dirname(tool), exist_ok=True)
        made = "%s.%d" % (tool, os.getpid())
        subprocess.run(["gcc", "-std=c11", "-O1", "-I" + ROOT, "-o", made, os.path.join(HERE, "emu_prelude.c"), lib, "-lm"], check=True)
        os.replace(made, tool)
    return tool


def rewrite(build, cu, out, arch):
    subprocess.run([sys.executable, os.path.join(HERE, "emulate.py"), prelude_tool(build), cu, out, arch], check=True)


def library(build, cu, lib, arch):
    """cu, whose header lies beside it, as a shared library."""
    rewrite(build, cu, lib + ".c", arch)
    subprocess.run(["gcc", "-std=gnu11", "-O0", "-w", "-fPIC", "-shared", "-I" + HERE, "-I" + os.path.dirname(os.path.abspath(cu)), "-o", lib,
                    lib + ".c", "-lm"], check=True)
