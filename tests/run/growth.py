"""Memory of ctilec by the size of what it compiles: growth.py. The programs are those of bench/compile/growth.py. Four times as many of one
thing may take eight times the memory, beyond what little ones take; a pass that keeps something for each pair of things takes sixteen.
Nothing here depends on time."""
import importlib.util

from common import *

SMALL, LARGE, RATIO = 1000, 4000, 8
MIB = 1 << 20
MOST = 160 * MIB                # at LARGE: twice what the largest took when this was written
LINES, MOST_LINES = 10000, 110 * MIB
FLOOR = 8 * MIB                 # what a program may take whatever it is


def load(path):
    spec = importlib.util.spec_from_file_location("growth", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def peak(*args):
    """Bytes at the peak of a run that may not have more than 2 GiB."""
    p = subprocess.Popen([CTILEC, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         preexec_fn=None if SANITIZER else lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)))
    text = p.stderr.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = 0
    check(status == 0, "%s: status %d\n%s" % (" ".join(args), status, text[-500:]))
    return usage.ru_maxrss * 1024


def cuda(tmp, text):
    path = os.path.join(tmp, "p.tile")
    write(path, text)
    return peak(path, "--target=cuda", "-w", "--no-header", "-o", os.path.join(tmp, "p.cu"))


SANITIZER = True                # until it is known
start = peak("--version")
SANITIZER = start > 30 * MIB      # its shadow memory is no memory of the compiler's
if SANITIZER:
    skip("a sanitizer's memory is not the compiler's")
growth = load(os.path.join(ROOT, "bench", "compile", "growth.py"))
with tmpdir() as tmp:
    for name, shape in growth.SHAPES.items():
        small, large = (cuda(tmp, shape(n)) - start for n in (SMALL, LARGE))
        check(large <= RATIO * max(small, FLOOR), "%s: %.0f MiB for %d, %.0f MiB for %d" % (name, small / MIB, SMALL, large / MIB, LARGE))
        check(large <= MOST, "%s: %.0f MiB for %d" % (name, large / MIB, LARGE))
    n = cuda(tmp, growth.program(LINES)[0])
    check(n <= MOST_LINES, "%d lines: %.0f MiB" % (LINES, n / MIB))
finish()
