"""Compiles emitted CUDA for the host: emulate.py PRELUDE_TOOL IN.cu OUT.c [ARCH], with emu.h. ARCH is sm_80 or sm_90a."""
import os
import re
import subprocess
import sys

from emulation import KERNEL, without_bodies

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = re.compile(r"static __global__ void __launch_bounds__\((.*?)\)\n(\w+)\((.*)\)\n\{")


def parameters(text):
    types = []
    for p in [p.strip() for p in text.split(",") if p.strip()]:
        name = re.search(r"(\w+)$", p).group(1)
        types.append(p[: -len(name)].replace("const ", "").strip())
    return types


def without_roles(text):
    """Kernels of roles run in the simulator (tests/sim), not here: no call takes them, and no tensor has a map."""
    roles = [m.group(2) for m in KERNEL.finditer(text) if "ct_rings[" in m.group(3) and "mbar" in m.group(3)]
    if not roles:
        return text
    text = without_bodies(text, roles).replace("const __grid_constant__ ", "const ")
    text = re.sub(r"(?sm)^/\* Tensor maps\. .*?^CT_HELPER int ct_encode.*?^\}\n", "", text)
    boxes = r"(?:\n\1static const CtBox \w+\[\] = \{\n.*?\n\1\};\n\1const CtBox \*const [^\n]*)?"
    text = re.sub(r"(?s)\n(\t+)(ct_tensor_map ct_m\d+ = \{ \{ 0 \} \};)" + boxes + r"\n\1(?:if \([^\n]*\) )?\{\n.*?\n\1\}(?=\n)", r"\n\1\2", text)
    text = re.sub(r"(?sm)^static __device__ __forceinline__ void\nct_wgmma_.*?^\}\n", "", text)

    def fits(m):
        rows = [re.search(r"\*\)(\w+),", row).group(1) for row in m.group(3).split("\n")]
        return m.group(0).replace(m.group(1), ", ".join("0" if row in roles else c for row, c in zip(rows, m.group(1).split(", "))), 1)

    text = re.sub(r"(?s)const char ct_fits\[\] = \{ (.*?) \};(.*?)static const CtKernel ct_k\[\] = \{\n(.*?)\n\s*\};", fits, text)
    return text.replace("/* ---- kernels ---- */", "/* ---- kernels ---- */\ntypedef struct ct_tensor_map { unsigned long long word[16]; } ct_tensor_map;", 1)


def emulated(path, tool):
    text = without_roles(open(path).read())
    macros = text[: text.index("#define CT_FN")]
    at = text.index("/* ---- kernels ---- */")
    end = text.index("#ifndef __CUDACC_RTC__", at)
    kernels, host = text[at:end], text[end:]
    own = re.findall(r"\b(ct_\w+?)\(", open(os.path.join(HERE, "emu.h")).read())
    kernels = re.sub(r"(?m)^\s*#pragma unroll.*\n", "", kernels)
    kernels = kernels.replace("CT_FN void", "static inline void")
    kernels = re.sub(r'asm volatile\("cp\.async\.\w+_group[^"]*" : : : "memory"\);', "", kernels)     # copies are done at once
    kernels = re.sub(r"extern __shared__ __align__\(\d+\) unsigned char (\w+)\[\];", r"unsigned char *const \1 = emu_shared[emu_rank()];", kernels)
    # functions that are made of others are taken as they are printed
    own_text = r"(?:dense|skewed|load_tile|store_tile|fetch_tile|load_patch|[a-z_]+_at|key|unkey|order|own|lanes|sort)_\w+|cvt_f8e\w+x2_f32|lt_wide|shfl_xor_wide|next_place|quotient|tile_order|ragged_order|copy_part"
    made = re.findall(r"(?ms)^typedef struct ct_(?:wide|place) .*?\n|^CT_FN [\w ]+ ct_(?:%s)\(.*?(?:^\}|^\{[^\n]* \})\n" % own_text, text[:at])
    made = re.sub(r"\batomic(?=[A-Z]\w+\()", "emu_atomic", "".join(made).replace("CT_FN", "static inline"))
    kernels = re.sub(r"(?m)^\s*#pragma unroll.*\n", "", made) + kernels
    names = sorted(set(own) | {"ct_trap"})
    prelude = subprocess.run([tool] + names, input=kernels.encode(), capture_output=True, check=True).stdout.decode()
    table, thunks = [], []
    for bounds, name, params in HEAD.findall(kernels):
        args = ", ".join("*(%s *)a[%d]" % (t, i) for i, t in enumerate(parameters(params)))
        thunks.append("static void emu_%s(void **a) { (void)a; %s(%s); }" % (name, name, args))
        table.append("\t{ (const void *)%s, emu_%s, %s }," % (name, name, bounds.split(",")[0]))
    find = ("static const EmuKernel *emu_kernel(const void *fn)\n{\n\tstatic const EmuKernel all[] = {\n%s\n\t};\n"
            "\tfor (size_t i = 0; i < sizeof all / sizeof *all; i++)\n\t\tif (all[i].fn == fn) return &all[i];\n"
            "\temu_fail(\"no such kernel\");\n}\n" % "\n".join(table))
    return macros, prelude, kernels + "\n".join(thunks) + "\n" + find + host


def main():
    tool, path, out = sys.argv[1:4]
    arch = sys.argv[4] if len(sys.argv) > 4 else "sm_80"
    macros, prelude, rest = emulated(path, tool)
    with open(out, "w") as f:
        number = re.search(r"\d+", arch).group(0)
        f.write("#define __CUDA_ARCH__ %s0\n" % number)
        if arch.endswith("a"):
            f.write("#define __CUDA_ARCH_FEAT_SM%s_ALL\n" % number)
        f.write(macros)
        f.write('#include "emu.h"\n')
        f.write(prelude)
        f.write(rest)


main()
