"""What each pass does: passes.py. PASS.ir or PASS_NAME.ir is typed IR after a line of options; PASS.after is the command, and the text that
it prints, of the program after that pass. The pass must have changed something. versions_NAME.ir: the file of lower/ that makes versions
or variants of a kernel, and what is in a line of them alone, after the options; its .after has all versions, placed. UPDATE=1 writes the
.after files again: read the difference."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *


# the files of lower/ that make versions or variants: each has a versions_NAME.ir
MAKERS = {"collapse", "flat", "narrow", "cut", "by_warp", "peel", "dense", "privatise", "shift_slices", "short_axes", "single_tile", "single_trip",
          "unaligned"}
# what these do is printed only after another pass
SEEN = {"longrows": "expand", "split": "expand", "streamk": "expand"}


def after(name, options, end):
    """The text after pass `end`; after none, as it is read."""
    how = "--stop-after=" + end if end else "--emit=ir"
    r = ctilec("-w", *options, how, name, cwd=HERE)
    check(r.code == 0, "%s %s: exit %d\n%s" % (name, how, r.code, r.text))
    return "// ctilec %s %s\n" % (" ".join([*options, how]), name), r.out.decode()


def body(text):
    """Without what says only how far the kernel is lowered."""
    return re.sub(r"(?m)^(// .*|module .*)\n", "", text).strip()


def one(name, passes):
    base = os.path.splitext(name)[0]
    first = read(os.path.join(HERE, name)).split("\n", 1)[0]
    check(first.startswith("// options: "), name + " begins with no line of options")
    options = first[len("// options: "):].split()
    p = base.split("_")[0]
    if not check(p in passes, "%s: no pass %s" % (name, p)):
        return None
    command, text = after(name, options, SEEN.get(p, p))
    before = after(name, options, passes[passes.index(p) - 1] if p != passes[0] else None)[1]
    check(body(before) != body(text), "pass %s leaves %s as it is" % (p, name))
    compare(base, command, text)
    return p


def versions(name):
    """One of MAKERS: all versions of its program, placed, of which some have the line that it says."""
    base = os.path.splitext(name)[0]
    first, shows = read(os.path.join(HERE, name)).split("\n", 2)[:2]
    check(first.startswith("// options: ") and shows.startswith("// shows: "), name + " begins with no lines of options and of what it shows")
    command = ["-w", *first[len("// options: "):].split(), "--emit=placed", name]
    r = ctilec(*command, cwd=HERE)
    text = r.out.decode()
    check(r.code == 0, "%s: exit %d\n%s" % (name, r.code, r.text))
    found = [bool(re.search(shows[len("// shows: "):], v, re.M)) for v in re.split(r"(?m)^\tguard ", text)]
    check(any(found) and not all(found), "%s: not in some versions alone: %s" % (name, shows))
    compare(base, "// ctilec %s\n" % " ".join(command), text)
    return base[len("versions_"):]


def compare(base, command, text):
    kept = os.path.join(HERE, base + ".after")
    if UPDATE:
        write(kept, command + text)
    elif not check(os.path.exists(kept) and read(kept) == command + text, "%s: `%s` prints another text; UPDATE=1 writes it again" % (base, command.strip("/ \n"))):
        with tmpdir() as tmp:
            write(os.path.join(tmp, "new"), command + text)
            print(run(["diff", "-u", kept, os.path.join(tmp, "new")]).out.decode()[:4000])


def without(passes):
    """Optional passes may be left out, one by one; the others may not."""
    program = os.path.join(ROOT, "samples", "layer_norm", "layer_norm.tile")
    with tmpdir() as tmp:
        found = {p: ctilec("-w", "--without-pass=" + p, "--no-header", "-o", os.path.join(tmp, "k.cu"), program) for p in passes}
    refused = {p for p, r in found.items() if r.code == 2 and "does not take" in r.text}
    check({"expand", "layouts", "share"} <= refused and not {"split", "remat", "rotate"} & refused, "--without-pass does not take %s" % sorted(refused))
    for p, r in found.items(): check(p in refused or r.code == 0, "--without-pass=%s: exit %d\n%s" % (p, r.code, r.text[-1000:]))


def main():
    listed = ctilec("--list-passes").out.decode().splitlines()
    passes = [line.split()[0] for line in listed]
    check(len(passes) > 20, "--list-passes prints few")
    names = [name for name in sorted(os.listdir(HERE)) if name.endswith(".ir")]
    made = {versions(name) for name in names if name.startswith("versions_")}
    shown = {one(name, passes) for name in names if not name.startswith("versions_")}
    without(passes)
    check(not set(passes) - shown, "passes without a file: %s" % sorted(set(passes) - shown))
    check(made == MAKERS, "versions_*.ir are of %s, not of %s" % (sorted(made), sorted(MAKERS)))
    finish()


main()
