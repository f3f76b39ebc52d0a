"""The same input and options give the same bytes: in two folders, two locales, two environments, twice; and a kernel has the
same text whether compiled for one architecture or several."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *

ENVS = [{"LC_ALL": "C", "HOME": "/"}, {"LC_ALL": "de_DE.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Tokyo", "COLUMNS": "40", "X" * 50: "y" * 5000}]


def outputs(path, folder, env):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    name = os.path.basename(path)
    with open(path, "rb") as f:
        write(os.path.join(folder, name), f.read())
    result = []
    for target in ("c", "cuda"):
        r = ctilec("--target=" + target, "-MD", "-o", "k." + target, name, cwd=folder, env=env)
        result.append((r.code, r.err))
        for n in ("k." + target, "k.h", "k.tile.d"):
            p = os.path.join(folder, n)
            data = open(p, "rb").read() if os.path.exists(p) else None
            check(data is None or folder.encode() not in data, "%s: %s names the folder" % (name, n))
            result.append(data)
    result.append(ctilec("--emit=manifest", name, cwd=folder, env=env).out)
    result.append(ctilec("--emit=ir", name, cwd=folder, env=env).out)
    return result


KERNEL = re.compile(r"^static __global__ .*\n(\w+)_sm\d+a?\(.*\)\n\{\n#if (.*)\n((?:.*\n)*?)#endif\n\}\n", re.M)
ACCESS = re.compile(r"^CT_FN void (ct_(?:load|store)_tile_\w+)(\(.*\)\n\{\n(?:.*\n)*?\}\n)", re.M)
WAIT = "\tct_grid_wait();\n"        # does nothing where kernels of sm_80 are compiled, so it may be missing there


def kernels(path, arch):
    """(kernel, architecture) -> its text without #line, where counting depends on what stands before. One text serves the architectures
    that its `#if` names. The numbers in names of functions that access tiles count those of the file, so a call stands here with the
    function's text."""
    text = ctilec("--target=cuda", "--arch=" + arch, "--line=off", "-o", "-", path).out.decode()
    access = {m[1]: m[2] for m in ACCESS.finditer(text)}
    called = lambda m: "{%s}" % access[m[0]]
    return {(m[1], a): re.sub(r"\bct_(?:load|store)_tile_\w+", called, m[3].replace(WAIT, "", 1)) for m in KERNEL.finditer(text)
            for a in re.findall(r"CT_SM(\w+)", m[2])}


HINT = b"""@warps(2, sm_90: 4)
kernel twice(x: tensor<f32, [n]>, y: out tensor<f32, [n]>) grid [cdiv(n, 1024)] {
    y.store([bid(0)], x.load([bid(0)], [1024]) * 2);
}
"""


def main():
    written = shared = 0
    with tmpdir() as tmp:
        hint = os.path.join(tmp, "hint.tile")
        write(hint, HINT)
        check(len(set(kernels(hint, "sm_80,sm_90").values())) == 2, "a hint for one architecture reaches the other")
    for path in tile_files("samples") + tile_files("tests/golden"):
        both, alone = kernels(path, "sm_80,sm_90"), {**kernels(path, "sm_80"), **kernels(path, "sm_90")}
        check(both == alone, "%s: compiled for two architectures, a kernel is not the one compiled for each" % os.path.relpath(path, ROOT))
        shared += sum(both[k, a] == both.get((k, "90")) for k, a in both if a == "80")
    check(shared >= 10, "too few kernels are the same for two architectures")
    with tmpdir() as tmp:
        for path in tile_files("samples") + tile_files("tests/diag")[::10]:
            a = outputs(path, os.path.join(tmp, "one"), ENVS[0])
            b = outputs(path, os.path.join(tmp, "another", "deep folder"), ENVS[1])
            c = outputs(path, os.path.join(tmp, "one"), ENVS[0])
            check(a == b == c, "%s: two compilations differ" % os.path.relpath(path, ROOT))
            written += a[1] is not None
    check(written >= 5, "too few programs compiled")
    finish()


main()
