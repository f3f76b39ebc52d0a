"""Memory orders and scopes reach the instructions: one table of accesses, tried with every order and scope on every architecture.

memory_order.py text    the CUDA text calls the function of that order, which holds the instruction; the C text the builtin of that order
memory_order.py ptx     what nvcc makes of the CUDA text: exactly these accesses to global memory, and no other strong one"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

# name: what it does, its statement with @ in the place of `order: .., scope: ..`; a tile of 64 elements unless it says `one`
ACCESSES = {
    "load": ("ld", "let v = x.load([0], [64]@);"),
    "load_at": ("ld", "let v = x.load_at([3], [64]@);"),
    "load_slice": ("ld", "let v = x.slice(0, 1, n).load([0], [64]@);"),
    "load_partition": ("ld", "let v = x.partition([64]).load([0]@);"),
    "load_strided": ("ld", "let v = x.strided([64], [5]).load([0]@);"),
    "load_rows": ("ld", "let v = x.gather_scatter([64], 0).load([i]@);"),
    "gather": ("ld", "let v = x.gather([i]@);"),
    "load_pointer": ("ld", "let v = unsafe load(p + i@);"),
    "atomic_load": ("ld", "let v = atomic_load(x, [i]@);"),
    "atomic_load_view": ("ld", "let v = x.partition([64]).atomic_load([0]@);"),
    "atomic_load_pointer": ("ld", "let v = unsafe atomic_load(p + i@);"),
    "store": ("st", "x.store([0], v@);"),
    "store_at": ("st", "x.store_at([3], v@);"),
    "store_slice": ("st", "x.slice(0, 1, n).store([0], v@);"),
    "store_partition": ("st", "x.partition([64]).store([0], v@);"),
    "store_strided": ("st", "x.strided([64], [5]).store([0], v@);"),
    "store_rows": ("st", "x.gather_scatter([64], 0).store([i], v@);"),
    "scatter": ("st", "x.scatter([i], v@);"),
    "store_pointer": ("st", "unsafe store(p + i, v@);"),
    "atomic_store": ("st", "atomic_store(x, [i], v@);"),
    "atomic_store_view": ("st", "x.partition([64]).atomic_store([0], v@);"),
    "atomic_store_pointer": ("st", "unsafe atomic_store(p + i, v@);"),
    "add": ("atom.add", "atomic_add(x, [i], v@);"),
    "add_view": ("atom.add", "x.partition([64]).atomic_add([0], v@);"),
    "add_pointer": ("atom.add", "unsafe atomic_add(p + i, v@);"),
    "exchange": ("atom.exch", "let w = atomic_compare_exchange(x, [i], v, v@);"),
}
PLAIN = [a for a in ACCESSES if not re.match("atomic|add|exchange", a)]
ORDERS = {"ld": ["relaxed", "acquire"], "st": ["relaxed", "release"], "atom": ["relaxed", "acquire", "release", "acquire_release"]}
SCOPES = {"": "gpu", "device": "gpu", "block": "cta", "system": "sys"}
TYPES = ["bool", "i8", "u8", "f8e4m3", "f8e5m2", "i16", "u16", "f16", "bf16", "i32", "u32", "f32", "tf32", "i64", "u64", "f64"]
BITS = {"bool": 8, "f8e4m3": 8, "f8e5m2": 8, "bf16": 16, "tf32": 32}
ARCHS = ["sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"]


def bits_of(e):
    return BITS.get(e) or int(e[1:])


def kernel(name, what, order, scope, e):
    kind, statement = ACCESSES[what]
    args = "".join(", %s: %s" % (k, w) for k, w in (("order", order), ("scope", scope)) if w)
    statement = statement.replace("@", args)
    rest = "y.store([0], v);" if kind == "ld" else ""
    value = "" if kind == "ld" else "let v = y.load([0], [64]);"
    return "kernel %s(x: inout tensor<%s, [n]>, y: inout tensor<%s, [m]>, p: ptr<%s>) grid [1] {\n    let i = iota([64], i32);\n    %s %s %s\n}\n" % (
        name, e, e, e, value, statement, rest)


def cases():
    """name -> (source, what, order, scope, type); an order of None: weak"""
    r = {}

    def add(what, order, scope, e="u32"):
        name = "_".join(["k", what, order or "weak", scope or "default", e])
        r[name] = (kernel(name, what, order, scope, e), what, order, scope, e)
    for what, (kind, _) in ACCESSES.items():
        for order in ORDERS[kind[:4].strip(".")]:
            for scope in SCOPES: add(what, order, scope)
        if what in PLAIN: add(what, None, "")
    for e in TYPES:
        for what in ("load", "store", "gather", "scatter"): add(what, ORDERS[ACCESSES[what][0]][1], "system", e)
    return r


def wanted(what, order, scope, e):
    """The instruction on its element, and the builtin of the C target with its order."""
    kind = ACCESSES[what][0]
    sem = {"acquire_release": "acq_rel"}.get(order, order)
    head = "%s.%s.%s.global" % (kind.split(".")[0], sem, SCOPES[scope])
    tail = {"atom.add": "add", "atom.exch": "cas"}.get(kind, "")
    return head + ("." + tail if tail else ""), sem.upper()


def functions(text):
    """name -> what stands in it, of all functions that a text defines"""
    return dict(re.findall(r"^(?:CT_FN|static|__device__)[^\n]*?\b(\w+)\([^\n{;]*\)\s*\{(.*?)\}\n", text, re.M | re.S))


def reached(name, bodies, seen):
    if name in bodies and name not in seen:
        seen.add(name)
        for callee in re.findall(r"\b(ct_\w+)\(", bodies[name]): reached(callee, bodies, seen)
    return seen


def kernels(text, suffix):
    return {n: b for n, b in re.findall(r"^(k_\w+?)%s\([^\n]*\n\{(.*?)^\}" % suffix, text, re.M | re.S)}


def emitted(table, *flags):
    with tmpdir() as tmp:
        source, out = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.cu")
        write(source, "\n".join(c[0] for c in table.values()))
        r = ctilec("-w", "--line=off", *flags, source, "-o", out)
        check(r.code == 0, "the source does not compile:\n" + r.text)
        return read(out) if r.code == 0 else ""


STRONG = re.compile(r"\b(?:ld|st|atom|red)\.(?:relaxed|acquire|release|acq_rel)\.\w+[.\w]*")


def text():
    table = cases()
    for arch in ARCHS:
        cu = emitted(table, "--arch=" + arch)
        bodies, found = functions(cu), kernels(cu, "_" + arch.replace("_", ""))
        for name, (_, what, order, scope, e) in table.items():
            if not check(name in found, "%s, %s: no kernel" % (arch, name)): continue
            calls = {f for c in re.findall(r"\b(ct_\w+)\(", found[name]) for f in reached(c, bodies, set())}
            strong = {s for f in calls for s in STRONG.findall(bodies[f])}
            want = wanted(what, order, scope, e)[0] if order else None
            right = all(s.startswith(want) and s.endswith(str(bits_of(e))) for s in strong) and strong if want else not strong
            check(right, "%s, %s: %s, want %s" % (arch, name, sorted(strong), want))
    c = emitted(table, "--target=c")
    bodies, found = functions(c), {n: b for n, b in re.findall(r"^static void ct_block_(k_\w+)\([^\n]*\n\{(.*?)^\}", c, re.M | re.S)}
    for name, (_, what, order, scope, e) in table.items():
        if not check(name in found, "c, %s: no kernel" % name): continue
        calls = {f for k in re.findall(r"\b(ct_\w+)\(", found[name]) for f in reached(k, bodies, set())}
        orders = {o for f in calls for o in re.findall(r"__ATOMIC_(\w+)", bodies[f])}
        want = wanted(what, order, scope, e)[1] if order else None
        check(orders == ({"SEQ_CST"} if what == "exchange" else {want}) if want else not orders, "c, %s: %s, want %s" % (name, orders, want))
    finish()


def ptx():
    if not NVCC: skip("needs nvcc")
    table = cases()
    for arch in ("sm_80", "sm_90a"):
        with tmpdir() as tmp:
            source, out = os.path.join(tmp, "k.cu"), os.path.join(tmp, "k.ptx")
            write(source, emitted(table, "--arch=" + arch, "--header=" + os.path.join(tmp, "k.h")))
            must([NVCC, "-ptx", "-arch=" + arch, "-I", tmp, "-o", out, source])
            bodies = dict(re.findall(r"^\S*\.?(?:visible )?\.entry \w*?(k_\w+?)_sm\d+\w*\((.*?)^\}", read(out), re.M | re.S))
        for name, (_, what, order, scope, e) in table.items():
            if not check(name in bodies, "%s, %s: no code" % (arch, name)): continue
            strong = STRONG.findall(bodies[name])
            want = wanted(what, order, scope, e)[0] if order else None
            check(strong and all(s.startswith(want) for s in strong) if want else not strong, "%s, %s: %s, want %s" % (arch, name, strong, want))
    finish()


{"text": text, "ptx": ptx}[sys.argv[1]]()
