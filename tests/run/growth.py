"""Memory of ctilec by the size of what it compiles, and its time by their number: growth.py. The programs are those of bench/compile/growth.py.
Four times as many of one thing may take eight times the memory, beyond what little ones take; a pass that keeps something for each pair of
things takes sixteen. A line of a program of many kernels may take twice the processor time of one of few: where each kernel was compared
with all others, it took three times as much. Only that ratio depends on time, and a loaded machine slows both alike."""
import importlib.util

from common import *

SMALL, LARGE, RATIO = 1000, 4000, 8
MIB = 1 << 20
MOST = 160 * MIB                # at LARGE: twice what the largest took when this was written
LINES, MOST_LINES = 10000, 110 * MIB
MANY, SLOWER = 50000, 2         # lines of a program of many kernels, and what each may take of a line of LINES
FLOOR = 8 * MIB                 # what a program may take whatever it is


def load(path):
    spec = importlib.util.spec_from_file_location("growth", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def usage(*args):
    """Of a run that may not have more than 2 GiB."""
    p = subprocess.Popen([CTILEC, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         preexec_fn=None if SANITIZER else lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)))
    text = p.stderr.read().decode("utf-8", "replace")
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = 0
    check(status == 0, "%s: status %d\n%s" % (" ".join(args), status, text[-500:]))
    return used


def peak(*args):
    """Bytes at the peak."""
    return usage(*args).ru_maxrss * 1024


def cuda(tmp, text, what=peak):
    path = os.path.join(tmp, "p.tile")
    write(path, text)
    return what(path, "--target=cuda", "-w", "--no-header", "-o", os.path.join(tmp, "p.cu"))


def seconds(tmp, lines):
    """Of the processor, in the compiler itself."""
    return cuda(tmp, growth.program(lines)[0], usage).ru_utime


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
    few, many = (seconds(tmp, n) for n in (LINES, MANY))
    check(many / MANY <= SLOWER * few / LINES, "%.2f s for %d lines, %.2f s for %d" % (few, LINES, many, MANY))
finish()
