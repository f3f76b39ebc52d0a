"""Emitted CUDA through nvcc: nvcc.py GROUP. Groups: see emitted.py.

Every program is emitted with the default --arch and with other lists, and each text is compiled to machine code for sm_80, 89, 90a,
100 and 120: in turn, so that a group of any size sees all combinations and few compilations; samples with the default list for all
five, those together for which the text is the same. Anything that nvcc says is a failure; so are spills in samples. Set TURN to begin elsewhere in the turns."""
import functools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from emitted import *

ARCHS = ["sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"]
LISTS = ["", "sm_80", "sm_89", "sm_90a", "sm_100", "sm_120", ",".join(ARCHS)]
COMBINATIONS = [(i, a) for i in LISTS for a in ARCHS]
SPILL = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
FUNCTION = re.compile(r"Compiling entry function '(\w+)'")
INFO = re.compile(r"^ptxas info\s*:|^\s+\d+ bytes stack frame|^$")

HEAVY = 2000        # lines of generated text for one architecture; programs with more are hardly optimized, samples always are
QUICK = ["-Ofc", "mid"]        # `max` and -Xcicc -O0 leave ptxas more than they save

# Groups whose host part is given to the host's compiler alone: nvcc needs five times as long to come to it.
APART = sys.argv[1] in ("pages", "library", "values")

spills, done = [], set()


def compile_one(name, text, archs, where, whole, heavy):
    """archs: between which the text makes no difference. whole: with its host part, through the host's compiler; else the device's part."""
    kind = ["-c", "-Xcompiler", "-Wall,-Wextra"] if whole and not APART else ["-fatbin"] if len(archs) > 1 else ["-cubin"]
    least = min(archs, key=lambda arch: int(re.sub(r"\D", "", arch)))
    codes = ["-gencode=arch=%s,code=%s" % (least.replace("sm", "compute"), arch) for arch in archs] if len(archs) > 1 else ["-arch=" + least]
    arch = ", ".join(archs)
    if heavy:
        kind += QUICK
    r = run([NVCC] + kind + codes + ["-Xptxas", "-v", "-Werror", "all-warnings", "-o", os.path.join(where, "k.bin"), text], timeout=500)
    said = r.out.decode("utf-8", "replace") + r.text
    wrong = [line for line in said.splitlines() if not INFO.match(line) or "C75" in line]
    check(r.code == 0 and not wrong, "%s for %s:\n%s" % (name, arch, "\n".join(wrong)[-3000:]))
    if whole and APART:
        host = os.path.join(where, "host.cpp")
        write(host, host_side(read(text)))
        r = run(["g++", "-c", "-o", host + ".o", "-Wall", "-Wextra", "-Werror", "-I" + os.path.dirname(text), "-isystem", include_folder(), host])
        check(r.code == 0, "%s, host part:\n%s" % (name, r.text[-3000:]))
    function = "?"
    for line in said.splitlines():
        m = FUNCTION.search(line)
        function = m.group(1) if m else function
        m = SPILL.search(line)
        if m and int(m.group(1)) + int(m.group(2)):
            spills.append("%s: %s for %s: %s" % (name, function, arch, m.group(0)))


@functools.lru_cache(None)
def include_folder():
    """Of the toolkit that nvcc belongs to, as nvcc itself says."""
    said = run([NVCC, "--dryrun", "-E", "-x", "cu", os.devnull]).text
    return re.search(r'^#\$ INCLUDES="-I([^"]*)"', said, re.M).group(1).strip()


def program(name, path, options, tmp, combinations, whole, heavy):
    """Emits and compiles one program for each combination; the one named by whole with its host part."""
    texts, served = {}, {}
    for archs, arch in combinations:
        if archs not in texts:
            where = os.path.join(tmp, "list%d" % LISTS.index(archs))
            os.makedirs(where, exist_ok=True)
            out = os.path.join(where, "k.cu")
            texts[archs] = out if emit(name, path, options + (["--arch=" + archs] if archs else []), out) else None
        if texts[archs]:
            served.setdefault((archs, differs(read(texts[archs]), arch)), []).append(arch)
    for (archs, _), mine in served.items():
        lines = read(texts[archs]).count("\n") / (archs.count(",") + 1 if archs else 2)
        compile_one("%s, --arch=%s" % (name, archs or "default"), texts[archs], mine, tmp, whole in [(archs, arch) for arch in mine], lines > heavy)
        done.update((archs, arch) for arch in mine)


def differs(text, arch):
    """What the preprocessor's questions come to: architectures for which it is the same get the same text."""
    number = 10 * int(re.sub(r"\D", "", arch))
    own = arch if "__CUDA_ARCH_FEAT_SM%d_ALL" % (number // 10) in text and arch.endswith("a") else ""
    return own, tuple(number >= int(n) for n in sorted(set(re.findall(r"__CUDA_ARCH__ *(?:>=|<) *(\d+)", text))))


def serves(archs, arch):
    """Does a text for this list hold code for arch? An entry with `a` serves only itself."""
    number = int(re.search(r"\d+", arch).group(0))
    own = (archs or "sm_80,sm_90a").split(",")
    return any(a == arch or (not a.endswith("a") and int(a[3:]) <= number) for a in own)


def spread(combinations):
    """In an order whose short runs hold many lists and architectures; those without any code come last."""
    return sorted(combinations, key=lambda c: (not serves(*c), (ARCHS.index(c[1]) + LISTS.index(c[0])) % len(ARCHS)))


def main(group):
    if not NVCC:
        fail("there is no nvcc; `sh tools/get-nvcc.sh` gets one")
        finish()
    turn = int(os.environ.get("TURN", "0"))
    with tmpdir() as tmp:
        found = GROUPS[group](tmp)
        check(found, "group %s is empty" % group)
        sample = group == "samples"
        rest = spread(c for c in COMBINATIONS if not sample or c[0])
        if group == "values":
            rest = [c for c in rest if serves(*c)]
        each = -(-len(rest) // len(found)) if sample else 1
        for i, (name, path, options) in enumerate(found):
            mine = [rest[(turn + each * i + k) % len(rest)] for k in range(each)]
            if sample:
                mine += [("", a) for a in ARCHS]
            whole = mine[-1 - i % len(ARCHS)] if sample else mine[0] if i % 4 == 0 else None
            program(name, path, options, tmp, mine, whole, 10**9 if sample else HEAVY)
        print("%d programs, %d of %d combinations of --arch and architecture" % (len(found), len(done), len(COMBINATIONS)))
        if sample:
            check(len(done) == len(COMBINATIONS), "combinations that no sample saw: %s" % sorted(set(COMBINATIONS) - done))
    for s in spills:
        print("spills: " + s)
    check(not spills or not sample, "samples spill registers")
    finish()


main(sys.argv[1])
