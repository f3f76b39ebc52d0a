"""Names of the author beside names of the emitters: names.py c|cuda|header|nvcc|tile.

Every identifier that stands in emitted text (C, CUDA and headers of the operations, the rules of the language, samples and library),
every keyword of C, C++ and CUDA and every macro of the headers becomes a name in programs: of scalars that live through all kernels
of the operations and the rules, of functions, kernels, entries, tensors, dimensions, integer parameters. `c`: -Wshadow finds where a
name of the emitter hides one of the author's, so that the wrong one is taken. `cuda`: the same with emulated CUDA. `header`: the
headers from C++. `nvcc`: what only CUDA's own headers know. `tile`: CUDA Tile C++, with the identifiers of that target."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), n) for n in ("cuda", "run", "tile")]
from common import *
import emulation
import emulation_tile
from emitted import host_side

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\b[0-9][\w.]*|[A-Za-z_]\w*', re.S)
RESERVED = set("tile tensor ptr kernel fn const let var for while if else break continue return in unsafe inf nan null true false _ zero_of_ns".split())
KEYWORDS = set("""alignas alignof and and_eq asm auto bitand bitor bool case catch char char8_t char16_t char32_t class co_await co_return
co_yield compl concept const_cast consteval constexpr constinit decltype default delete do double dynamic_cast enum explicit export extern
float friend goto inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires restrict short signed sizeof static static_assert static_cast struct switch template this thread_local throw try
typedef typeid typename typeof union unsigned using virtual void volatile wchar_t xor xor_eq main errno assert stdin stdout stderr linux unix
signbit isnan isinf isfinite isnormal fpclassify offsetof setjmp va_arg va_copy alloca complex imaginary I EOF NULL BUFSIZ RAND_MAX NAN
HUGE_VAL EDOM ERANGE CHAR_BIT M_PI major minor atomicAdd atomicCAS atomicExch atomicMax clock clock64 dim3 uint uchar ushort float4 int2 half
make_int2 threadIdx blockIdx blockDim gridDim warpSize __syncthreads __shfl_sync __ldg __global__ __device__ __shared__ __half min max abs
printf memcpy memset malloc free index rand round sin sinf exp expf fma fmaf time div read write y0 j0 j1 yn gamma signgam environ
cudaMalloc cudaStream_t cudaSuccess surf1Dread tex1D nanosleep ct_x u_ct_x u_u_ct_x CT_X Ct_x ctile_x CTILE_OK ctile_status_text x_ws
zz zz_sm80 zz_sm90a x_workspace x_sm80 x_sm90a_aligned _x _X __x int_ int__ stream_ workspace bytes stream v0 v1 x_2 EOF_ I_ u_I int4 float4 double4_16a make_float4 sinl sin_ exit norm pow rsqrt select getline remove
copy fill add sum scale dot end""".split())
POSIX = """arpa/inet dirent dlfcn fcntl fenv fnmatch glob grp iconv inttypes langinfo libgen locale netdb net/if poll pthread pwd regex sched
search semaphore setjmp signal spawn strings sys/mman sys/select sys/socket sys/stat sys/time sys/wait syslog termios time uchar ulimit
unistd utime wchar wctype wordexp""".split()
LIBRARY = re.findall(r'"(\w+)"', read(os.path.join(ROOT, "emit", "library.def")))
BRIEF = ["-ftrack-macro-expansion=0", "-fno-diagnostics-show-caret", "-fmax-errors=500"]
# What stands only where the author's names cannot be: no more is learnt from the hundredth name of such a row.
CALLS = 100     # of one kernel: compilers take time that grows faster than its length
ROW, MADE = re.compile(r"\d+"), re.compile(r"^.*_(sm\d+.*|ws|workspace)$")


def identifiers(text):
    return {t for t in TOKEN.findall(text) if t[0].isalpha() or t[0] == "_"}


def sources():
    found = tile_files("tests/operations", "tests/language", "samples", "tests/golden")
    return found + [os.path.join(ROOT, p) for p in ("stdlib/reduce.tile", "stdlib/cumsum.tile", "stdlib/long_rows.tile", "tests/cuda/rare.tile", "tests/cuda/scans.tile")]


def macros():
    text = "".join("#include <%s.h>\n" % h for h in "stdarg stdio stdlib math stdint string stddef".split())
    r = must([CC, "-std=c11", "-dM", "-E", "-xc", "-"], stdin=text.encode())
    return re.findall(r"^#define ([A-Za-z]\w*)", r.out.decode(), re.M)


def collected(where, targets):
    """The names, one or two of each row that differs in numbers only."""
    names = KEYWORDS | set(macros())
    for target in targets:
        for i, path in enumerate(sources()):
            out = os.path.join(where, "%d.%s" % (i, target))
            r = ctilec("-w", "--checked", "--target=" + target, "--namespace=zero_of_ns", "-o", out, path)
            if r.code == 0:
                names |= identifiers(read(out)) | identifiers(read(os.path.join(where, "%d.h" % i)))
    check(len(names) > 1000, "%d names only" % len(names))
    rows, kept = {}, []
    for i, n in enumerate(sorted(names - RESERVED)):
        row = rows.setdefault(ROW.sub("#", MADE.sub("_sm#", n)), [])
        if n.startswith("ct_") and i % 16:      # one rule for all of them
            continue
        if re.sub("_(ws|workspace)$", "", n) in names - {n}:   # of an entry's own making
            continue
        if len(row) < 2:
            row.append(n)
            kept.append(n)
    return kept


# ---- programs ----
def bodies(text):
    """Where the body of each kernel begins and ends: places of its braces."""
    for m in re.finditer(r"^(?:@\w+(?:\([^)]*\))?\s+)*kernel\b", text, re.M):
        at = text.index("grid", m.end())
        depth = 0
        while depth or text[at] != "{":
            depth += (text[at] in "[(") - (text[at] in "])")
            at += 1
        begin, depth = at, 0
        while True:
            depth += (text[at] == "{") - (text[at] == "}")
            if not depth:
                break
            at += 1
        yield begin, at


def with_locals(path, names):
    """The program, each of whose kernels has the names as scalars that are printed at its end."""
    text = re.sub(r"//[^\n]*", "", read(path))
    out, done, used = "", 0, identifiers(text) | {"print", "bid"}
    free = [n for n in names if n not in used]
    for begin, end in bodies(text):
        out += text[done:begin + 1] + "\nlet zero_of_all = bid(0);\n"
        out += "".join("let %s = zero_of_all + %d;\n" % (n, i + 1) for i, n in enumerate(free))
        out += "{" + text[begin + 1:end] + "}\n"
        for i in range(0, len(free), 8):
            some = free[i:i + 8]
            out += 'print("%s", %s);\n' % (" ".join("{}" for _ in some), ", ".join(some))
        done = end
    return out + text[done:]


def items(names):
    """A kernel, a tensor of each direction, a dimension, an integer parameter and a function of every name; and entries."""
    lower = [n for n in names if n[0].islower()]
    n, out = len(names), ""
    for i, name in enumerate(names):
        x, y, s = names[(i + 1) % n], names[(i + 2) % n], names[(i + 3) % n]
        d = next(k for k in lower[i % len(lower):] + lower if k not in (x, y, s))
        out += ("kernel %s(%s: tensor<i32, [%s]>, %s: out tensor<i32, [2 * %s]>, %s: i32) grid [cdiv(%s, 64)] where %s <= 4 * %s {\n"
                "%s.store([bid(0)], %s.load([bid(0)], [64]) + %s);\n}\n" % (name, x, d, y, d, s, d, s, d, y, x, s))
    return out


def entries(names):
    lower = [n for n in names if n[0].islower()]
    n = len(names)
    out = ("kernel zero_of_all(x: tensor<i32, [n]>, y: out tensor<i32, [n]>, s: i32) grid [cdiv(n, 64)] {\n"
           "y.store([bid(0)], x.load([bid(0)], [64]) + s);\n}\n")
    for i, name in enumerate(names):
        x, y, s, t, v = [names[(i + k) % n] for k in range(1, 6)]
        d = next(k for k in lower[i % len(lower):] + lower if k not in (x, y, s, t, v))
        out += ("entry %s(%s: tensor<i32, [%s]>, %s: out tensor<i32, [%s]>, %s: i32) {\nlet %s = 2 * %s;\nscratch %s: tensor<i32, [%s]>;\n"
                "zero_of_all(%s, %s, %s);\nif 4 < %s { zero_of_all(%s, %s, %s); } else { zero_of_all(%s, %s, 1); }\n}\n" %
                (name, x, d, y, d, s, v, d, t, d, x, t, s, v, t, y, s, t, y))
    return out


def functions(names):
    """Functions of every name, whose parameters and results have names too."""
    n, out, calls = len(names), "", []
    for i, name in enumerate(names):
        out += "fn %s(%s: tile<i32, [4]>) -> tile<i32, [4]> { let %s = %s * %d; return %s + 1; }\n" % (
            name, names[(i + 1) % n], names[(i + 2) % n], names[(i + 1) % n], i + 2, names[(i + 2) % n])
        calls.append("zero_of_all.store([%d], %s(all_of_them));\n" % (i, name))
    for i in range(0, n, CALLS):
        out += ("kernel of_functions%d(x: tensor<i32, [4]>, zero_of_all: out tensor<i32, [n]>) grid [1] {\nlet all_of_them = x.load([0], [4]);\n%s}\n" %
                (i, "".join(calls[i:i + CALLS])))
    return out


def programs(where, names, sources):
    """(name, path) of every program; names that hide what the programs themselves need are left out."""
    found = []

    def add(name, text):
        path = os.path.join(where, name + ".tile")
        write(path, text)
        found.append((name, path))
    for i, path in enumerate(sources):
        if "kernel" in read(path):
            add("locals%d" % i, with_locals(path, names))
    own = set("i32 cdiv bid store load zero_of_all all_of_them x y s n".split())
    rest = [n for n in names if n not in own]
    add("items", items(rest))
    add("entries", entries(rest))
    add("functions", functions(rest))
    return found


def emitted(where, names, target, *options):
    some = [os.path.join(ROOT, "tests", "tile", "forms.tile")] if target == "cuda-tile" else tile_files("tests/operations", "tests/language")
    for name, path in programs(where, names, some):
        out = path[:-5] + "." + {"c": "c", "cuda": "cu", "cuda-tile": "cu"}[target]
        r = ctilec("-w", "-O1", "--line=off", "--target=" + target, "--namespace=zero_of_ns", *options, "-o", out, path)
        if check(r.code == 0, "%s: %s" % (name, r.text[-2000:])):
            yield name, out


def say(name, r):
    """What the compiler said; that a name of an emitter hides another one of an emitter, in a block of its own, is meant."""
    wrong = [l for l in r.text.splitlines() if ("error:" in l or "warning:" in l) and not re.search("declaration of .ct_.* shadows", l)]
    check(not wrong and (r.code == 0 or r.text), "%s: %d messages\n%s" % (name, len(wrong), "\n".join(wrong[:12])))


def on_c(where, names):
    for name, out in emitted(where, names, "c"):
        say(name, run([CC, "-std=c11", "-fsyntax-only", "-Wextra", "-Wshadow", *BRIEF, out]))


def on_emulated(where, names):
    for name, out in emitted(where, names, "cuda", "--arch=sm_80"):
        emu = out[:-3] + ".emu.c"
        emulation.rewrite(BUILD, out, emu, "sm_80")
        say(name, run(["gcc", "-std=gnu11", "-fsyntax-only", "-Wshadow", "-I" + os.path.join(ROOT, "tests", "cuda"), *BRIEF, emu]))


def on_header(where, names):
    # what is included before them takes longer than they: precompiled
    compilers = [["g++", "-std=" + std, "-Wextra", "-Werror", "-include", os.path.join(where, std + ".h")] for std in ("c++11", "c++20")]
    for *compiler, _, before in compilers:
        write(before, "".join("#include <%s>\n" % h for h in ("cstdio", "cmath", "cstdlib", "algorithm", "complex"))
              + "".join("#if __has_include(<%s.h>)\n#include <%s.h>\n#endif\n" % (h, h) for h in POSIX))
        must([*compiler, "-x", "c++-header", "-o", before + ".gch", before])
    write(os.path.join(where, "library.tile"), "".join(
        "kernel %s(y: out tensor<i32, [n]>) grid [1] { y[0] = 1; }\n" % n for n in LIBRARY if n not in RESERVED))
    library = os.path.join(where, "library.c")
    must([CTILEC, "-w", "-O0", "--target=c", "-o", library, library[:-2] + ".tile"])
    for name, out in list(emitted(where, names, "c")) + [("library", library)]:
        for compiler in compilers:
            write(out + ".cpp", "#include \"%s\"\n" % (out[:-2] + ".h"))
            say("header of %s, %s" % (name, compiler[1]), run([*compiler, "-fsyntax-only", out + ".cpp"]))


def parameters(names):
    """As many kernels as it takes for each name to be a parameter of one."""
    out = ""
    for i in range(0, len(names), 200):
        some = names[i:i + 200]
        out += "kernel parameters%d(%s, all_of_them: out tensor<i32, [zero_of_ns]>) grid [1] {\nall_of_them[0] = %s;\n}\n" % (
            i, ", ".join(n + ": i32" for n in some), " + ".join(some))
    return out


def on_nvcc(where, names):
    """Device text for one architecture: what the front end says of scalars, which have no names behind it, else down to PTX; and host parts,
    by the host's compiler with CUDA's headers before them."""
    if not NVCC:
        fail("there is no nvcc; `sh tools/get-nvcc.sh` gets one")
        return
    path = os.path.join(where, "parameters.tile")
    write(path, parameters(names))
    for name, out in list(emitted(where, names, "cuda", "--arch=sm_90a")) + [("parameters", path[:-5] + ".cu")]:
        if name == "parameters":
            r = ctilec("-w", "--line=off", "--arch=sm_90a", "-o", out, path)
            check(r.code == 0, r.text)
        if name not in ("items", "entries"):
            how = ["-fdevice-syntax-only"] if name.startswith("locals") else ["-Xcicc", "-O0"]
            r = run([NVCC, "-ptx", "-arch=sm_90a", *how, "-Werror", "all-warnings", "-o", out + ".ptx", out])
            check(r.code == 0 and not r.text, "%s: %s" % (name, (r.text + r.out.decode("utf-8", "replace"))[-2000:]))
        else:
            write(out + ".cpp", host_side(read(out)))
            folder = re.search(r'^#\$ INCLUDES="-I([^"]*)"', run([NVCC, "--dryrun", "-E", "-x", "cu", os.devnull]).text, re.M).group(1).strip()
            say(name, run(["g++", "-fsyntax-only", "-Wextra", *BRIEF, "-I" + where, "-isystem", folder, out + ".cpp"]))


def on_tile(where, names):
    """Kernels by NVIDIA's compiler as far as it looks at names, with all instances of templates; launchers by the host's
    compiler with stand-ins for the CUDA runtime."""
    nvcc = emulation_tile.tool("nvcc")
    for name, out in emitted(where, names, "cuda-tile"):
        r = run([nvcc, "--enable-tile", "-std=c++20", "-arch=sm_90", "-ptx", "-fdevice-syntax-only", "-Werror", "all-warnings", "-o", out + ".ptx", out], timeout=500)
        check(r.code == 0 and not r.text, "%s: %s" % (name, (r.text + r.out.decode("utf-8", "replace"))[-2000:]))
        write(out + ".cpp", emulation_tile.host_side(read(out)))
        say(name, run(["g++", "-std=c++20", "-fsyntax-only", "-Wextra", *BRIEF, "-I" + where, out + ".cpp"]))


if __name__ == "__main__":
    with tmpdir() as where:
        mode = sys.argv[1]
        all_names = collected(where, ("cuda-tile",) if mode == "tile" else ("c", "cuda"))
        {"c": on_c, "tile": on_tile, "cuda": on_emulated, "header": on_header, "nvcc": on_nvcc}[mode](where, all_names)
    finish()
