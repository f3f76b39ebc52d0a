"""What the test runners share: running the compiler and reporting. Paths come from the environment that CTest sets:
CTILEC (the program), BUILD (the build folder), CC, NVCC ("" when there is none)."""
import os
import re
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))
CTILEC = os.environ.get("CTILEC", os.path.join(BUILD, "ctilec"))
CC = os.environ.get("CC", "cc")
NVCC = os.environ.get("NVCC", "")
UPDATE = os.environ.get("UPDATE", "") not in ("", "0")
SKIP = 77

# For what is built with optimization, too. Without it the sanitizers see all that is done, and gcc takes a quarter of the time; -g has
# it follow every variable through its instrumentation, which takes as long again.
SANITIZED = ["-O0", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

failures = []


def fail(message):
    failures.append(message)
    print("FAIL: " + message)
    if os.path.exists(os.environ.get("CTILEC_STUB_CALLED", "")):       # tests/silent-compiler waits for one failure only
        finish()


def check(ok, message):
    if not ok:
        fail(message)
    return ok


def finish():
    if failures:
        print("%d failed" % len(failures))
        sys.exit(1)
    sys.exit(0)


def skip(why):
    print("skipped: " + why)
    sys.exit(SKIP)


class Result:
    def __init__(self, p):
        self.code = p.returncode
        self.out = p.stdout
        self.err = p.stderr

    @property
    def text(self):
        return self.err.decode("utf-8", "replace")


def edited(program, edits):
    """The program after the edits of one help, as --diagnostics=json gives them."""
    text = program if isinstance(program, bytes) else program.encode()
    for e in sorted(edits, key=lambda e: e["bytes"], reverse=True):
        text = text[:e["bytes"][0]] + e["newText"].encode() + text[e["bytes"][1]:]
    return text if isinstance(program, bytes) else text.decode()


def claims(title):
    """A help that says "write `this`", or ends in ": `this`", is a replacement to be taken as it stands."""
    return re.search(r"(\b[Ww]rite|:) `", title) is not None


def clean_env(extra=None):
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    env.update(extra or {})
    return env


def run(args, cwd=None, stdin=b"", env=None, timeout=300, cpu=None):
    """timeout: seconds by the clock. cpu: seconds of processor time; who uses more is ended by SIGXCPU."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))) if cpu else None
    p = subprocess.run(args, cwd=cwd, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_env(env), timeout=timeout, preexec_fn=limit)
    return Result(p)


def ctilec(*args, **kw):
    """Runs the compiler; a crash, an internal error or a sanitizer's report is a failure wherever it happens."""
    if "cwd" not in kw:     # an internal error leaves a file where it happens
        kw["cwd"] = os.path.join(BUILD, "tests", "tmp")
        os.makedirs(kw["cwd"], exist_ok=True)
    r = run([CTILEC] + list(args), **kw)
    if r.code not in (0, 1, 2):
        fail("ctilec %s: exit %d\n%s" % (" ".join(args), r.code, r.text[-2000:]))
    if r.code == 0:
        missing = not_made(args, r.out, kw["cwd"])
        check(not missing, "ctilec %s: exit 0 without %s" % (" ".join(args), missing))
    return r


PRINTING = ("--emit=", "--list-", "--help", "--explain", "--report", "--version", "--print-")


def not_made(args, out, cwd):
    """What a call that succeeded should have made and has not: silence alone must not satisfy a test."""
    if "--check" in args:
        return ""
    if "-o" in args[:-1]:
        name = args[args.index("-o") + 1]
        path = os.path.join(cwd, name)
        if name != "-":
            return "" if os.path.exists(path) and (os.path.getsize(path) or not os.path.isfile(path)) else name
    elif not any(a.startswith(PRINTING) for a in args) or "--emit=types" in args:      # a file without kernels has no types
        return ""
    return "" if out else "output"


def must(args, what=None, **kw):
    r = run(args, **kw)
    if r.code != 0:
        print(r.out.decode("utf-8", "replace")[-4000:])
        print(r.text[-4000:])
        fail("%s: exit %d: %s" % (what or args[0], r.code, " ".join(args)))
        finish()
    return r


def sanitized(*goals):
    """The folder of a build with sanitizers. It is made with no re2c and no Bison, so from bootstrap/, which is tried by it, too."""
    folder = os.path.join(BUILD, "sanitized")
    must(["make", "-C", ROOT, "-j2", *goals, "SAN=1", "BUILD=" + folder, "RE2C=no-such-re2c", "BISON=no-such-bison"], "make SAN=1", timeout=1800)
    return folder


def tmpdir():
    base = os.path.join(BUILD, "tests", "tmp")
    os.makedirs(base, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=base)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def write(path, text):
    with open(path, "wb" if isinstance(text, bytes) else "w") as f:
        f.write(text)


def tile_files(*folders):
    """Every .tile file below the folders of the project, in order."""
    found = []
    for top in folders:
        for folder, _, names in sorted(os.walk(os.path.join(ROOT, top))):
            found += [os.path.join(folder, n) for n in sorted(names) if n.endswith(".tile")]
    return found
