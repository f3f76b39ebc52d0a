"""Mutation testing of the compiler: does the quick label notice when one small thing in it is wrong?

    run.py [--seed S] [--count N] [--jobs J] [--folders a,b,...] [--record FILE] [--again FILE]

Draws N mutants of the compiler's sources (sites.py has the kinds), builds each one in a copy of the committed tree and runs the
tests of the label `quick` until one fails: then the mutant is killed. A mutant whose object code is that of the original is no
mutant and is drawn again. Tests that killed others come first. Prints a line for each mutant and, at the end, how many were
killed; --record keeps the lines in FILE, one JSON object each, and goes on where FILE ends. --again tries only the survivors of
FILE, for a suite that has grown. survivors.txt holds those that are known, each with the reason why it may live.
"""
import argparse
import concurrent.futures
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sites import sites

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = "sema,ir,lower,layout,emit,emit_c,emit_cuda,emit_tile"
SECONDS = 60    # of a test that takes a second or two: a mutant that hangs is killed


def call(args, cwd, **kw):
    return subprocess.run(args, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **kw)


class Tree:
    """A copy of the committed tree with a build of its own."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs, self.build = folder, jobs, os.path.join(folder, "build")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        archive = subprocess.Popen(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE)
        subprocess.run(["tar", "x", "-C", folder], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            sys.exit("git archive failed")
        if os.path.isdir(os.path.join(ROOT, ".deps")):
            os.symlink(os.path.realpath(os.path.join(ROOT, ".deps")), os.path.join(folder, ".deps"))
        made = self.make()
        if made.returncode != 0:
            sys.exit(made.stdout[-3000:])
        # no test of this label is called so: the script sets CTest up and leaves
        call(["sh", "tools/test.sh", "build", "none", str(jobs)], folder)
        self.tests = self.list_tests()

    def make(self):
        return call(["make", "-j%d" % self.jobs, "all", "lib", "CFLAGS=-O1"], self.folder)

    def link_units(self):
        return call(["cmake", "--build", os.path.join(self.build, "tests"), "-j", str(self.jobs)], self.folder)

    def list_tests(self):
        shown = call(["ctest", "--show-only=json-v1", "-L", "quick"], os.path.join(self.build, "tests"))
        tests = [Test(t) for t in json.loads(shown.stdout)["tests"]]
        if len(tests) < 100:
            sys.exit("the quick label has few tests: " + shown.stdout[-2000:])
        return tests

    def path(self, name):
        return os.path.join(self.folder, name)


class Test:
    def __init__(self, t):
        p = {q["name"]: q["value"] for q in t.get("properties", [])}
        self.name, self.command = t["name"], t["command"]
        self.cwd = p.get("WORKING_DIRECTORY")
        self.env = dict(e.split("=", 1) for e in p.get("ENVIRONMENT", []))
        self.lock = bool(p.get("RESOURCE_LOCK"))
        self.unit = self.name.startswith("unit/") and not self.command[0].endswith("python3")
        self.seconds, self.kills, self.kills_in = 1.0, 0, {}

    def run(self, stop=None):
        """True: passed or skipped. None: given up because another one has failed."""
        p = subprocess.Popen(self.command, cwd=self.cwd, env={**os.environ, **self.env}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        end = time.monotonic() + SECONDS
        while True:
            try:
                return p.wait(0.2) in (0, 77)
            except subprocess.TimeoutExpired:
                if time.monotonic() < end and not (stop and stop.is_set()):
                    continue
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()
                return None if stop and stop.is_set() else False

    def worth(self, folder):
        return (0.02 + self.kills + 3 * self.kills_in.get(folder, 0)) / self.seconds


def first_failure(tests, jobs, alone):
    """Runs tests side by side until one fails; its name, or None."""
    stop, failed = threading.Event(), []

    def one(test):
        if stop.is_set():
            return
        if test.lock:
            with alone:
                ok = test.run(stop)
        else:
            ok = test.run(stop)
        if ok is False and not stop.is_set():
            failed.append(test)
            stop.set()

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, tests))
    return failed[0] if failed else None


def measure(tree, alone):
    """Each test's time on the compiler as it is; those that fail there say nothing of mutants."""
    def one(test):
        begin = time.monotonic()
        if test.lock:
            with alone:
                ok = test.run()
        else:
            ok = test.run()
        test.seconds = max(0.02, time.monotonic() - begin)
        return ok

    with concurrent.futures.ThreadPoolExecutor(tree.jobs) as pool:
        passed = list(pool.map(one, tree.tests))
    for test, ok in zip(tree.tests, passed):
        if not ok:
            print("fails without a mutant, left out: " + test.name, flush=True)
    if sum(passed) < len(passed) * 0.95:
        sys.exit("too many tests fail on the compiler as it is")
    tree.tests = [t for t, ok in zip(tree.tests, passed) if ok]


def draw(rng, files):
    name = rng.choices(list(files), weights=[len(files[f][1]) for f in files])[0]
    return name, rng.choice(files[name][1])


def read_files(tree, folders):
    files = {}
    for folder in folders:
        path = tree.path(folder)
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else []:
            if name.endswith(".c"):
                with open(os.path.join(path, name)) as f:
                    text = f.read()
                found = sites(text)
                if found:
                    files[folder + "/" + name] = (text, found)
    return files


def try_mutant(tree, name, text, site, alone):
    """"equal" (same object code), "broken" (does not compile), the killing test's name, or "" of a survivor."""
    obj = os.path.join(tree.build, "obj", name[:-2] + ".o")
    with open(obj, "rb") as f:
        before = f.read()
    with open(tree.path(name), "w") as f:
        f.write(site.apply(text))
    try:
        if tree.make().returncode != 0:
            return "broken"
        with open(obj, "rb") as f:
            if f.read() == before:
                return "equal"
        folder = name.split("/")[0]
        units = [t for t in tree.tests if t.unit]
        others = sorted((t for t in tree.tests if not t.unit), key=lambda t: -t.worth(folder))
        first = folder in ("layout", "ir")
        killer = None if first else first_failure(others, tree.jobs, alone)
        if not killer:
            tree.link_units()
            killer = first_failure(units, tree.jobs, alone)
        if not killer and first:
            killer = first_failure(others, tree.jobs, alone)
        if not killer:
            return ""
        killer.kills += 1
        killer.kills_in[folder] = killer.kills_in.get(folder, 0) + 1
        return killer.name
    finally:
        with open(tree.path(name), "w") as f:
            f.write(text)


def keep(path, row):
    if path:
        with open(path, "a") as f:
            f.write(json.dumps(row) + "\n")


def read_record(path):
    if not path or not os.path.exists(path):
        return []
    with open(path) as f:
        return [json.loads(line) for line in f]


def find_again(files, row):
    """The survivor's site in today's text: the same change at the nearest line."""
    if row["file"] not in files:
        return None
    near = [s for s in files[row["file"]][1] if (s.kind, s.old, s.new) == (row["kind"], row["old"], row["new"])]
    return min(near, key=lambda s: abs(s.line - row["line"]), default=None)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=200)
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--folders", default=FOLDERS)
    ap.add_argument("--work", default=os.path.join(ROOT, "build", "mutants"), help="folder of the copy")
    ap.add_argument("--record")
    ap.add_argument("--again")
    a = ap.parse_args()
    tree = Tree(a.work, a.jobs)
    alone = threading.Lock()
    measure(tree, alone)
    files = read_files(tree, a.folders.split(","))
    done = read_record(a.record)
    for row in done:        # what killed once comes first again
        for t in tree.tests:
            if t.name == row["killed by"]:
                t.kills += 1
    rng, rows = random.Random(a.seed), []
    wanted = iter([(r["file"], find_again(files, r)) for r in read_record(a.again) if not r["killed by"]]) if a.again else None
    while wanted is not None or len(rows) < a.count:
        name, site = next(wanted, (None, None)) if wanted is not None else draw(rng, files)
        if name is None:
            break
        if site is None:
            continue
        if len(rows) < len(done) and (done[len(rows)]["file"], done[len(rows)]["begin"]) == (name, site.begin):
            rows.append(done[len(rows)])
            continue
        begin = time.monotonic()
        killer = try_mutant(tree, name, files[name][0], site, alone)
        if killer in ("equal", "broken"):
            continue
        row = {"file": name, "line": site.line, "begin": site.begin, "kind": site.kind, "old": site.old, "new": site.new,
               "killed by": killer, "seconds": round(time.monotonic() - begin, 1)}
        rows.append(row)
        keep(a.record, row)
        print("%3d %-9s %s:%d  %s -> %s  (%.0f s)" % (len(rows), "killed" if killer else "SURVIVED", name, site.line,
              " ".join(site.old.split())[:60], " ".join(site.new.split())[:60] or "nothing", row["seconds"]), flush=True)
    killed = sum(1 for r in rows if r["killed by"])
    print("%d of %d mutants killed (%.1f %%), seed %d" % (killed, len(rows), 100.0 * killed / max(1, len(rows)), a.seed))


main()
