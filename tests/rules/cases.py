"""The rules of the CUDA Tile documents and of docs/language.md, case by case: cases.py FILE...

A file of cases holds rules. A rule begins at the margin with its number and what it says; below it, indented, stand cases:

    given a: tile<i32, [4]> = 1 2 3 4; s: f32    operands of the cases that follow, with values or without
    a + 1 -> tile<i32, [4]> = 2 3 4 5            an expression, its type, and its value: computed by the compiler from
                                                 constants, and by the C target from memory
    s + a -> E0261                               an expression that is refused, with its code; A/B: one of them
    let v: tile<i32, []> = 1; -> ok              a statement
    | kernel k(...) ...                          a whole file, line by line, then what becomes of it:
    -> ok, -> E0243, -> W1004                    no message, or these messages and no other ones
    -> E0330 with --arch=sm_80                   options of the command line
    call k(i32: 0..3, i32: *4, 2) -> ok, 2: 1 2  calls a C function of the file: arrays and numbers; the status, then arrays
                                                 after the call by the number of the argument
    differs: TEXT                                on purpose: TEXT begins a row of the table in docs/language.md 18
    n/a: REASON                                  the rule says nothing about this language

Values: 1 2 3, 0..31, 5*8 (eight times 5), *4 (four zeros), inf nan true false, 0x1.8p3. `needs A001 .. A188` asks for each number.
"""
import ctypes
import math
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *

INTEGERS = {"bool": (1, False), "i8": (1, True), "i16": (2, True), "i32": (4, True), "i64": (8, True),
            "u8": (1, False), "u16": (2, False), "u32": (4, False), "u64": (8, False)}
IEEE = {"f16": "<e", "f32": "<f", "f64": "<d", "tf32": "<f"}
FP8 = {"f8e4m3": (4, 3), "f8e5m2": (5, 2)}


# ---- values and bytes ----

def decode_fp8(elem, b):
    exponent_bits, fraction_bits = FP8[elem]
    sign = -1.0 if b & 0x80 else 1.0
    e, m = (b >> fraction_bits) & ((1 << exponent_bits) - 1), b & ((1 << fraction_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    if elem == "f8e4m3" and (b & 0x7f) == 0x7f:
        return math.nan
    if elem == "f8e5m2" and e == 31:
        return sign * math.inf if m == 0 else math.nan
    return sign * (math.ldexp(m, 1 - bias - fraction_bits) if e == 0 else math.ldexp(m + (1 << fraction_bits), e - bias - fraction_bits))


def size_of(elem):
    if elem in INTEGERS:
        return INTEGERS[elem][0]
    return 1 if elem in FP8 else 2 if elem == "bf16" else struct.calcsize(IEEE[elem])


def decode(elem, data):
    n = size_of(elem)
    out = []
    for i in range(0, len(data), n):
        b = data[i:i + n]
        if elem in INTEGERS:
            out.append(int.from_bytes(b, "little", signed=INTEGERS[elem][1]))
        elif elem in FP8:
            out.append(decode_fp8(elem, b[0]))
        elif elem == "bf16":
            out.append(struct.unpack("<f", b"\0\0" + b)[0])
        else:
            out.append(struct.unpack(IEEE[elem], b)[0])
    return out


def encode(elem, values):
    """Values that the type holds exactly; anything else is a mistake in the table."""
    out = b""
    for v in values:
        if elem in INTEGERS:
            out += int(v).to_bytes(INTEGERS[elem][0], "little", signed=INTEGERS[elem][1])
        elif elem in FP8:
            out += bytes([next(b for b in range(256) if same(decode_fp8(elem, b), float(v)))])
        elif elem == "bf16":
            out += struct.pack("<f", float(v))[2:]
        else:
            out += struct.pack(IEEE[elem], float(v))
    back = decode(elem, out)
    for v, b in zip(values, back):
        if not same(float(v) if elem not in INTEGERS else int(v), b):
            raise ValueError("%s is not a value of %s" % (v, elem))
    return out


def same(a, b):
    """Bit for bit as far as numbers show it: zeros have signs, one NaN is as good as another."""
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return a == b


def number(text):
    words = {"true": 1, "false": 0, "inf": math.inf, "-inf": -math.inf, "nan": math.nan}
    if text in words:
        return words[text]
    if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", text):
        return int(text, 0)
    return float.fromhex(text) if "0x" in text else float(text)


def values_of(text):
    out = []
    for word in text.split():
        m = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", word)
        if m:
            out += range(int(m.group(1)), int(m.group(2)) + 1)
        elif "*" in word:
            v, n = word.split("*")
            out += [number(v or "0")] * int(n)
        else:
            out.append(number(word))
    return out


# ---- the file ----

class Case:
    def __init__(self, rule, where, kind, **fields):
        self.rule, self.where, self.kind = rule, where, kind
        self.__dict__.update(fields)


class Rule:
    def __init__(self, name, text):
        self.name, self.text, self.cases, self.none, self.differs = name, text, 0, None, []


def code_list(text):
    return text if re.fullmatch(r"[EW]\d{4}([/ ][EW]\d{4})*", text) else None


def read_cases(path):
    """Returns the rules and the cases. A case that is not understood is an error of the table."""
    rules, cases, wanted = [], [], []
    given, program, called = [], [], None
    for n, raw in enumerate(read(path).split("\n"), 1):
        where, line = "%s:%d" % (os.path.basename(path), n), raw.rstrip()
        if line.lstrip().startswith("|"):
            program.append(line.lstrip()[1:].removeprefix(" "))
            continue
        if not line or line.lstrip().startswith("#"):
            continue
        if not raw.startswith(" "):
            if line.startswith("needs "):
                a, b = re.fullmatch(r"needs (\w+) \.\. (\w+)", line).groups()
                head = a.rstrip("0123456789")
                wanted += ["%s%0*d" % (head, len(a) - len(head), i) for i in range(int(a[len(head):]), int(b[len(head):]) + 1)]
                continue
            name, text = line.split(None, 1)
            rules.append(Rule(name, text))
            given, called = [], None
            continue
        rule, line = rules[-1], line.strip()
        if line.startswith("n/a: "):
            rule.none = line[5:]
        elif line.startswith("differs: "):
            rule.differs.append((where, line[9:]))
        elif line.startswith("given "):
            given = []
            for part in line[6:].split(";"):
                name, rest = part.strip().split(": ", 1)
                type_, _, value = rest.partition(" = ")
                given.append((name, type_.strip(), value.strip()))
        else:
            rule.cases += 1
            left, arrow, right = line.rpartition("->")
            if not arrow and line != "->":
                raise SystemExit("%s: what is this: %s" % (where, line))
            left, right = left.strip(), right.strip()
            if left.startswith("call "):
                cases.append(Case(rule, where, "call", call=left[5:], want=right, program=called))
            elif not left:
                want, _, options = right.partition(" with ")
                called = Case(rule, where, "program", text="\n".join(program) + "\n", want=want, options=options.split(), runs=False)
                cases.append(called)
                program = []
            elif left.endswith(";"):
                cases.append(Case(rule, where, "line", given=given, line=left, codes=code_list(right), want=right))
            elif code_list(right):
                cases.append(Case(rule, where, "line", given=given, line="let _ = %s;" % left, codes=right, want=right))
            else:
                type_, _, value = right.partition(" = ")
                line = "static_assert(type_of(%s) == %s);" % (left, type_)
                cases.append(Case(rule, where, "line", given=given, line=line, codes=None, want=right))
                if value:
                    cases.append(Case(rule, where, "value", given=given, expr=left, type=type_.strip(), value=values_of(value)))
    return rules, cases, wanted


# ---- types and refusals ----

def messages(path, *options):
    """[(line, code, text)] of --check."""
    r = ctilec("--check", "--diagnostics=short", "--error-limit=0", *options, path)
    out = []
    for line in r.text.splitlines():
        m = re.match(r"(?:.*?:(\d+):\d+|ctilec): (?:error|warning): (.*) \[(?:-W[\w-]+, )?([EW]\d{4})\]$", line)
        if m:
            out.append((int(m.group(1) or 0), m.group(3), m.group(2)))
        elif not line.startswith(" ") and " note: " not in line and not re.match(r"\d+ (error|warning)", line):
            fail("unexpected output: " + line)
    return out


def check_lines(cases, folder):
    for rule in sorted({c.rule.name for c in cases}):
        check_lines_of([c for c in cases if c.rule.name == rule], os.path.join(folder, rule + ".tile"))


def check_lines_of(cases, path):
    """Each case is a line of a function of its own; those of a rule are checked at once."""
    text, at = [], {}
    for i, c in enumerate(cases):
        text.append("fn case_%d(%s) {" % (i, ", ".join("%s: %s" % (n, t) for n, t, _ in c.given)))
        text.append("    " + c.line)
        at[len(text)] = c
        text.append("}")
    write(path, "\n".join(text) + "\n")
    found = {}
    for line, code, message in messages(path, "-w"):
        found.setdefault(line, []).append((code, message))
    for line, c in at.items():
        got = found.pop(line, [])
        if c.codes is None and got:
            fail("%s: %s: %s\n      %s: wanted %s, found %s: %s" % ((c.where, c.rule.name, c.rule.text, c.line, c.want) + got[0]))
        elif c.codes and not got:
            fail("%s: %s: %s\n      %s: accepted, wanted %s" % (c.where, c.rule.name, c.rule.text, c.line, c.want))
        elif c.codes and got[0][0] not in c.codes.split("/"):
            fail("%s: %s: %s\n      %s: wanted %s, found %s: %s" % ((c.where, c.rule.name, c.rule.text, c.line, c.want) + got[0]))
    for line, got in sorted(found.items()):
        fail("line %d of the generated file: %s" % (line, got[0]))


def check_programs(cases, folder):
    for i, c in enumerate(cases):
        path = c.path = os.path.join(folder, "program_%d.tile" % i)
        write(path, c.text)
        got = messages(path, *c.options)
        codes = " ".join(sorted({code for _, code, _ in got}))
        want = "" if c.want == "ok" else " ".join(sorted(c.want.split()))
        if codes != want:
            fail("%s: %s: %s\n      wanted %s, found %s" % (c.where, c.rule.name, c.rule.text, c.want, got or "no message"))


# ---- values ----

def parts(type_):
    """(element type, dimensions); dimensions None: a scalar."""
    m = re.fullmatch(r"tile<(\w+), \[(.*)\]>", type_)
    if not m:
        return type_, None
    return m.group(1), [int(d) for d in m.group(2).split(",")] if m.group(2).strip() else []


def spell(dims):
    return "[%s]" % ", ".join(map(str, dims))


def literal(elem, v):
    if elem == "bool":
        return "true" if v else "false"
    if isinstance(v, float):
        if math.isnan(v) or math.isinf(v):
            return ("-" if v < 0 else "") + ("nan" if math.isnan(v) else "inf")
        return v.hex()
    return str(v)


def constant(type_, value):
    elem, dims = parts(type_)
    numbers = [literal(elem, v) for v in values_of(value)]
    if not dims:
        return "let %%s: %s = %s;" % (type_, numbers[0])
    flat = "let %%s_flat: tile<%s, [%d]> = [%s]; " % (elem, len(numbers), ", ".join(numbers))
    return flat + "let %%s = reshape(%%s_flat, %s);" % spell(dims)


def value_kernel(name, c, folded):
    """The kernel that computes the value of one case, from constants or from memory; and the arrays it takes."""
    params, lines, arrays = [], [], []
    for n, type_, value in c.given:
        if not value:
            continue
        elem, dims = parts(type_)
        if folded:
            text = constant(type_, value)
            lines.append(text.replace("%s", n))
            continue
        arrays.append((elem, values_of(value)))
        params.append("%s_in: tensor<%s, %s>" % (n, elem, spell([1] if dims is None else dims)))
        if dims is None:
            lines.append("let %s = %s_in[0];" % (n, n))
        else:
            lines.append("let %s = %s_in.load(%s, %s);" % (n, n, spell([0] * len(dims)), spell(dims)))
    elem, dims = parts(c.type)
    params.append("result_out: out tensor<%s, %s>" % (elem, spell([1] if dims is None else dims)))
    store = "result_out[0] = %s;" % c.expr if dims is None else "result_out.store(%s, %s);" % (spell([0] * len(dims)), c.expr)
    arrays.append((elem, [0] * len(c.value)))
    text = "kernel %s(%s) grid [1] {\n    %s\n}\n" % (name, ", ".join(params), "\n    ".join(lines + [store]))
    return text, arrays


def compile_c(paths, folder, options=()):
    texts = []
    for p in paths:
        out = p[:-5] + ".c"
        r = ctilec("--target=c", "-w", "-o", out, "--no-header", *options, p)
        if r.code:
            fail("%s does not compile:\n%s" % (os.path.basename(p), r.text[-3000:]))
        else:
            texts.append(out)
    lib = os.path.join(folder, "cases.so")
    must([CC, "-std=c11", "-O0", "-w", "-ffp-contract=off", "-shared", "-fPIC", "-o", lib] + texts + ["-lm"])
    loaded = ctypes.CDLL(lib)
    loaded.ctile_status_text.restype = ctypes.c_char_p
    return loaded


def call(lib, name, args):
    """args: bytearrays and integers. Returns the status."""
    held = [(ctypes.c_char * len(a)).from_buffer(a) if isinstance(a, bytearray) and a else a for a in args]
    return getattr(lib, name)(*[h if not isinstance(h, int) else ctypes.c_int64(h) for h in held], ctypes.c_void_p(None))


def check_value(lib, name, c, arrays, how):
    buffers = [bytearray(encode(e, v)) for e, v in arrays]
    status = call(lib, name, buffers)
    got = decode(arrays[-1][0], bytes(buffers[-1]))
    elem = arrays[-1][0]
    want = [v if elem in INTEGERS else float(v) for v in c.value]
    if status or len(got) != len(want) or not all(same(g, w) for g, w in zip(got, want)):
        fail("%s: %s: %s\n      %s %s: wanted %s, found %s" % (c.where, c.rule.name, c.rule.text, c.expr, how, want, got))


def argument(text):
    m = re.fullmatch(r"(\w+): (.*)", text)
    if m:
        return m.group(1), bytearray(encode(m.group(1), values_of(m.group(2))))
    return None, None if text == "null" else int(text, 0)


def check_call(lib, c):
    name, inner = re.fullmatch(r"(\w+)\((.*)\)", c.call).groups()
    typed = [argument(a.strip()) for a in inner.split(",")] if inner else []
    status = call(lib, name, [a for _, a in typed])
    said = lib.ctile_status_text(status).decode()
    m = re.fullmatch(r'(?:ok|"(.*)")((?:, \d+: [^,]*)*)', c.want)
    if not m:
        raise SystemExit("%s: what is this: %s" % (c.where, c.want))
    text = m.group(1) or "success"
    if not check(said == text, "%s: %s: %s\n      %s: wanted %s, found %s" % (c.where, c.rule.name, c.rule.text, c.call, text, said)):
        return
    for part in m.group(2).split(", ")[1:]:
        i, values = part.split(": ")
        elem, data = typed[int(i)]
        got, want = decode(elem, bytes(data)), [v if elem in INTEGERS else float(v) for v in values_of(values)]
        check(len(got) == len(want) and all(same(g, w) for g, w in zip(got, want)),
              "%s: %s: %s\n      %s: wanted %s, found %s" % (c.where, c.rule.name, c.rule.text, c.call, want, got))


def check_values(cases, calls, folder):
    text, jobs = [], []
    for i, c in enumerate(cases):
        for folded in (True, False) if any(v for _, _, v in c.given) else (True,):
            name = "value_%d_%s" % (i, "folded" if folded else "loaded")
            kernel, arrays = value_kernel(name, c, folded)
            text.append(kernel)
            jobs.append((name, c, arrays, "of constants" if folded else "of memory"))
    path = os.path.join(folder, "values.tile")
    write(path, "\n".join(text))
    programs = []
    for c in calls:
        if c.program not in programs:
            programs.append(c.program)
    lib = compile_c([path] + [p.path for p in programs], folder)
    for job in jobs:
        check_value(lib, *job)
    for c in calls:
        check_call(lib, c)


# ---- the table as a whole ----

def check_table(path, rules, wanted):
    names = [r.name for r in rules]
    for n in sorted(set(names)):
        check(names.count(n) == 1, "%s stands in %s %d times" % (n, os.path.basename(path), names.count(n)))
    for n in wanted:
        check(n in names, "%s has no case for %s" % (os.path.basename(path), n))
    for r in rules:
        check(bool(r.cases) != bool(r.none), "%s: %s has %s" % (os.path.basename(path), r.name,
              "cases and says that it does not apply" if r.none else "no case"))
    section = re.split(r"\n## ", read(os.path.join(ROOT, "docs", "language.md")))
    section = next(s for s in section if s.startswith("18 "))
    rows = [re.sub(r"[`*]", "", line[1:]).strip() for line in section.split("\n") if line.startswith("| ")]
    for r in rules:
        for where, text in r.differs:
            check(any(row.startswith(text) for row in rows), "%s: docs/language.md 18 has no row that begins `%s`" % (where, text))


def main(paths):
    for path in paths:
        rules, cases, wanted = read_cases(path)
        check_table(path, rules, wanted)
        kinds = {k: [c for c in cases if c.kind == k] for k in ("line", "program", "value", "call")}
        with tmpdir() as folder:
            check_lines(kinds["line"], folder)
            check_programs(kinds["program"], folder)
            check_values(kinds["value"], kinds["call"], folder)
        print("%s: %d rules, %d do not apply; %d types and refusals, %d files, %d values, %d calls" % (
            os.path.basename(path), len(rules), sum(1 for r in rules if r.none), *[len(kinds[k]) for k in ("line", "program", "value", "call")]))
    finish()


if __name__ == "__main__":
    main(sys.argv[1:])
