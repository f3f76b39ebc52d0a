"""The programs of the pages with --checked on the C target: programs.py pages|samples.

What the cookbook, the language, the messages (mended programs) and the other pages show is right, so no check may stop it. All programs
become one, with names of their own; a call of each C function is made with the first lengths that its launcher accepts. Numbers in
memory count from 0 within the lengths, so that an index tensor is a permutation; divisors from 1. Samples run with their own main."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

BLOCK = re.compile(r"^```tile\n(.*?)^```$", re.M | re.S)
ITEM = re.compile(r"^(?:@\w+(?:\([^)]*\))?\s+)*(?:kernel|fn|entry|const|param|instance|tune)\s+(\w+)", re.M)
LENGTHS = [20, 16, 64, 32, 4, 2, 1, 128, 1024, 4096]
BYTES = {"i8": 1, "u8": 1, "bool": 1, "f8e4m3": 1, "f8e5m2": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i64": 8, "u64": 8, "f64": 8}
CTYPE = {"i8": "int8_t", "u8": "uint8_t", "i16": "int16_t", "u16": "uint16_t", "i32": "int32_t", "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t"}
FROM_1 = {("quotients", "b")}       # tensors of divisors
ROOM = 1 << 26      # bytes of a tensor at most


def pages():
    names = sorted(n for n in os.listdir(os.path.join(ROOT, "docs")) if n.endswith(".md"))
    for page in ["README.md"] + [os.path.join("docs", n) for n in names]:
        text = read(os.path.join(ROOT, page))
        for m in BLOCK.finditer(text):
            yield "%s:%d" % (os.path.basename(page), text.count("\n", 0, m.start()) + 1), m.group(1)


def merged():
    """One program of all blocks, and for each number of a block where it stands; blocks that import are programs of their own."""
    programs, where, text = [], {}, ""
    for i, (place, block) in enumerate(pages()):
        where[i] = place
        if re.search(r"element_bitcast\([^;]*ptr<", block): continue       # addresses that lie in a tensor: numbers made up here are none
        block = re.sub(r"\b0 \.\. \d{6,}\b", "0 .. 1000", block)       # what only takes time
        for name in sorted(set(ITEM.findall(block)), key=len, reverse=True):
            block = re.sub(r"(?<![\w.])%s\b" % name, "%s_of%d" % (name, i), block)
        if re.search(r"^import\b", block, re.M):
            programs.append(block)
        else:
            text += block + "\n"
    return [text] + programs, where


def number(expr, env):
    s = re.sub(r"/", "//", expr.replace("&&", " and ").replace("||", " or "))
    return eval(s, {"cdiv": lambda a, b: -(-a // b), "max": max, "min": min, "ceildiv": lambda a, b: -(-a // b)}, env)


def calls(entry):
    """C statements: a call for each length, until one succeeds; those of much memory last."""
    small, large = "", ""
    for d in LENGTHS:
        env = {x["name"]: d for x in entry["dims"]}
        env.update({p["name"]: 1 for p in entry["params"] if p["kind"] == "scalar"})
        for x in entry["dims"]:
            if "computed" in x:
                env[x["name"]] = number(x["computed"], env)
        args, fill, ok, all_of_them = [], "", True, 0
        for k, p in enumerate(entry["params"]):
            t = p["type"]
            if p["kind"] == "scalar" and "ptr" not in t:
                args.append("1")
                continue
            span = d * d
            try:
                if p["kind"] == "tensor":
                    span = 1 + sum((number(n, env) - 1) * number(s, env) for n, s in zip(p["shape"], p["strides"]))
            except Exception:
                ok = False
            size = span * BYTES.get(t, 4)
            if not ok or size > ROOM:
                ok = False
                break
            all_of_them += size
            kind = {"f32": "float", "f64": "double"}.get(t) or CTYPE.get(t, "int8_t" if t in ("bool", "f8e4m3", "f8e5m2") else "int16_t" if BYTES.get(t) == 2 else "int32_t")
            value = "1" if t == "bool" or "ptr" in t else "(i %% %d)" % min(d, 100)
            if (entry["name"].split("_of")[0], p["name"]) in FROM_1:
                value += " + 1"
            fill += "for (long i = 0; i < %d; i++) ((%s *)m[%d])[i] = (%s)(%s);\n" % (max(span, 0), kind, k, kind, value)
            args.append("m[%d]" % k)
        if not ok:
            continue
        dims = [str(d) for x in entry["dims"] if "computed" not in x]
        text = "%sif ((s = %s_ws(%s)) == 0) return 0;\n" % (fill, entry["name"], ", ".join(args + dims + ["m[15]", "%dll" % ROOM, "0"]))
        if all_of_them <= 1 << 14:
            small += text
        else:
            large += text
    return small + large


def main_c(entries):
    out = ('#include "k.h"\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\nstatic void *m[16];\n')
    for e in entries:
        out += "static int call_%s(void)\n{\nint s = -1;\n%sfprintf(stderr, \"%s: %%s\\n\", s < 0 ? \"no lengths\" : ctile_status_text(s));\nreturn 1;\n}\n" % (e["name"], calls(e), e["name"])
    out += "int main(void)\n{\nstatic const struct { const char *name; int (*f)(void); } all[] = {\n"
    out += "".join("{ \"%s\", call_%s },\n" % (e["name"], e["name"]) for e in entries)
    return out + """};
    for (int i = 0; i < 16; i++) if (posix_memalign(&m[i], 256, %d)) return 1;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        pid_t p = fork();
        if (!p) _exit(all[i].f());
        int s;
        waitpid(p, &s, 0);
        printf("%%s %%d\\n", all[i].name, s);
        fflush(stdout);
    }
}
""" % ROOM


def run_program(text, where):
    with tmpdir() as tmp:
        write(os.path.join(tmp, "k.tile"), text)
        r = ctilec("--checked", "--target=c", "-w", "--error-limit=0", "--diagnostics=short", "-o", "k.c", "k.tile", cwd=tmp)
        if not check(r.code == 0, r.text[-4000:]):
            return 0
        m = ctilec("--emit=manifest", "-w", "k.tile", cwd=tmp)
        entries = json.loads(m.out.decode())["entries"]
        write(os.path.join(tmp, "main.c"), main_c(entries))
        must([CC, "-std=gnu11", "-O0", "-w", "-o", "main", "main.c", "k.c", "-lm"], cwd=tmp)
        r = run([os.path.join(tmp, "main")], cwd=tmp)
        said = r.text.splitlines()
        done = re.findall(r"^(\S+) (\d+)$", r.out.decode("utf-8", "replace"), re.M)
        for name, status in done:
            block = re.search(r"_of(\d+)", name)
            place = where[int(block.group(1))] if block else "?"
            check(status == "0", "%s, %s: status %s" % (place, name, status))
        if any(s != "0" for _, s in done):
            print("\n".join(said[-40:]))
        check(len(done) == len(entries), "%d of %d calls" % (len(done), len(entries)))
        return len(done)


def samples():
    for name in sorted(os.listdir(os.path.join(ROOT, "samples"))):
        folder = os.path.join(ROOT, "samples", name)
        if not os.path.exists(os.path.join(folder, "main.c")) or name == "picture":
            continue
        with tmpdir() as tmp:
            r = ctilec("--checked", "--target=c", "-w", "-o", os.path.join(tmp, name + ".c"), os.path.join(folder, name + ".tile"))
            if check(r.code == 0, r.text):
                common = os.path.join(ROOT, "samples", "common")
                must([CC, "-std=gnu11", "-O1", "-w", "-I" + tmp, "-I" + common, "-o", os.path.join(tmp, "main"), os.path.join(folder, "main.c"),
                      os.path.join(tmp, name + ".c"), os.path.join(common, "device_host.c"), "-lm"])
                r = run([os.path.join(tmp, "main")], cwd=tmp)
                check(r.code == 0, "%s: exit %d\n%s" % (name, r.code, r.text[-2000:]))


if sys.argv[1] == "samples":
    samples()
else:
    programs, where = merged()
    n = sum(run_program(p, where) for p in programs)
    check(n > 150, "%d calls only" % n)
finish()
