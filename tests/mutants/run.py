"""Mutation testing of the compiler: does the quick label notice when one small thing in it is wrong?

    run.py [--seed S] [--count N] [--jobs J] [--folders a,b,...] [--record FILE] [--again] [--only ID,...]

Tries N mutants of the compiler's sources (sites.py has the kinds), each built in a copy of the committed tree. A mutant is killed if
a test of the label `quick` fails. The tests are recorded once (recorder.py): for each mutant the recorded runs of the compiler are
repeated, which takes seconds, and only tests that have a run whose result changes are run, those first that are quick and
often kill; then those that link the compiler or see it in another way. runs.py says why the rest cannot fail.

A site's turn is a hash of the seed and of its line, so other changes of the sources leave the sample as it is. A mutant whose object
code is that of the original, or that does not compile, is none. --record keeps a line for each mutant in FILE and goes on where FILE ends
(results.txt here is the record of this tree); --again tries the survivors in FILE with the tests of today, --only those of these
names. survivors.txt has the reason for each survivor of results.txt.
"""
import argparse
import concurrent.futures
import hashlib
import io
import json
import os
import pickle
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import runs as recorded
from recorder import LIMITS
from sites import sites

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FOLDERS = "sema,ir,lower,layout,emit,emit_c,emit_cuda,emit_tile"
SECONDS = 60        # for a test, and ten times what it takes: a mutant that hangs is killed
MEMORY = 12 << 30   # bytes of address space for a test
AT_ONCE = 0.4       # kills a second to be expected from a test that is run before all runs have been repeated
# how likely a test is to fail when one of its runs has changed, before it was tried
LIKELY = [(0.9, r"golden/(?!print)|diag/[EW]\d|syntax/|ir/text|sim/report|record/|rules/|tile/golden|diag/quiet|vendor/|docs/(current|editors)"),
          (0.1, r"cli/|names/|golden/print|fuzz/"), (0.4, "")]
# folders where a test that links the compiler is the likeliest to fail
LINKED_FIRST = ("layout",)
NO_MUTANT = ("same code", "broken")


def call(args, cwd, **kw):
    return subprocess.run(args, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **kw)


def git(*args):
    return subprocess.run(["git", *args], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


class Test:
    def __init__(self, t):
        p = {q["name"]: q["value"] for q in t.get("properties", [])}
        self.name, self.command = t["name"], t["command"]
        self.cwd = p.get("WORKING_DIRECTORY")
        self.env = dict(e.split("=", 1) for e in p.get("ENVIRONMENT", []))
        self.unit = not self.command[0].endswith(("python3", "python"))
        self.seconds, self.tries, self.kills = 1.0, 0, 0
        self.likely = next(p for p, names in LIKELY if re.match(names, self.name))

    def run(self, stop=None, env=()):
        """0: passed; 77: skipped; None: given up because another one has failed; else it failed."""
        p = subprocess.Popen(self.command, cwd=self.cwd, env={**os.environ, **self.env, **dict(env)}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        resource.prlimit(p.pid, resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
        end = time.monotonic() + SECONDS + 10 * self.seconds
        while True:
            try:
                return p.wait(0.1)
            except subprocess.TimeoutExpired:
                if time.monotonic() < end and not (stop and stop.is_set()):
                    continue
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()
                return None if stop and stop.is_set() else -signal.SIGXCPU

    def worth(self):
        return (self.kills + 2 * self.likely) / (self.tries + 2) / (0.05 + self.seconds)


class Tree:
    """A copy of the committed tree with a build of its own, and what is known of its tests."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = os.path.join(folder, "tree"), jobs
        self.build, self.tmp = os.path.join(self.folder, "build"), os.path.join(folder, "tmp")
        self.records, self.known = os.path.join(folder, "records"), os.path.join(folder, "known")
        self.commit = git("rev-parse", "--short=10", "HEAD").decode().strip()
        os.environ["TMPDIR"] = self.tmp
        known = None
        if os.path.exists(self.known):
            with open(self.known, "rb") as f:
                known = pickle.load(f)
        again = known is not None and known["commit"] == self.commit
        if not again:
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(self.tmp)
        self.unpack()
        made = self.make("all", "lib")
        if made.returncode != 0:
            sys.exit(made.stdout[-3000:])
        if again:
            self.runs, self.tests, self.always, self.replay = known["runs"], known["tests"], known["always"], None
        else:
            self.record()
            with open(self.known, "wb") as f:
                pickle.dump({"commit": self.commit, "runs": self.runs, "tests": self.tests, "always": self.always}, f)
        self.replay = recorded.Replay(self.path("build/ctilec"), jobs)

    def unpack(self):
        """The committed files; those that are there already stay as they are."""
        os.makedirs(self.folder, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(git("archive", "HEAD"))) as tar:
            for m in tar.getmembers():
                path = self.path(m.name)
                if m.isfile() and os.path.exists(path):
                    with open(path, "rb") as f:
                        if f.read() == tar.extractfile(m).read():
                            continue
                    os.remove(path)
                tar.extract(m, self.folder)
                if m.isfile():
                    os.utime(path)
        deps = os.path.join(ROOT, ".deps")
        if os.path.isdir(deps) and not os.path.lexists(self.path(".deps")):
            os.symlink(os.path.realpath(deps), self.path(".deps"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, *goals):
        return call(["make", "-j%d" % self.jobs, "CFLAGS=-O1", *goals], self.folder)

    def link_units(self):
        self.make("lib")
        return call(["cmake", "--build", os.path.join(self.build, "tests"), "-j", str(self.jobs)], self.folder)

    def list_tests(self):
        # no test has the label `none`: the script sets CTest up and leaves
        call(["sh", "tools/test.sh", "build", "none", str(self.jobs)], self.folder)
        shown = call(["ctest", "--show-only=json-v1", "-L", "quick"], os.path.join(self.build, "tests"))
        tests = [Test(t) for t in json.loads(shown.stdout)["tests"]]
        if len(tests) < 100:
            sys.exit("the quick label has few tests: " + shown.stdout[-2000:])
        return tests

    def record(self):
        """Runs all tests with the recorder in the compiler's place, and without the library. Those that pass so see the compiler only by
        its runs; those that fail so, and pass with compiler and library, are run for every mutant."""
        tests = self.list_tests()
        program, library = self.path("build/ctilec"), self.path("build/libctilec.a")
        bases = [os.path.join(self.build, "tests", "tmp"), self.tmp]
        os.makedirs(self.records)
        os.rename(program, program + ".real")
        os.rename(library, library + ".away")
        with open(program, "w") as f:
            f.write("#!%s -IS\nimport sys\nsys.path.append(%r)\nimport recorder\nrecorder.main(%r, %r, %r)\n"
                    % (os.path.realpath(sys.executable), HERE, program + ".real", self.records, bases))
        os.chmod(program, 0o755)
        limits = json.dumps([resource.getrlimit(r) if r != resource.RLIMIT_AS else (MEMORY, resource.RLIM_INFINITY) for r in LIMITS])
        try:
            codes = self.run_all([t for t in tests if not t.unit], lambda t: {"MUTANTS_TEST": t.name, "MUTANTS_LIMITS": limits})
        finally:
            os.replace(program + ".real", program)
            os.replace(library + ".away", library)
        rest = [t for t in tests if codes.get(t.name) != 0]
        for name, code in self.run_all(rest, lambda t: {}).items():
            codes[name] = code
            if code not in (0, 77):
                print("fails without a mutant, left out: " + name, flush=True)
        self.tests = {t.name: t for t in tests if codes[t.name] == 0}
        if len(self.tests) < 0.95 * len(tests):
            sys.exit("too many tests fail on the compiler as it is")
        found, odd = recorded.load(self.records, bases)
        replay = recorded.Replay(program, self.jobs)
        self.runs, more = recorded.settle(found, replay)
        replay.close()
        self.always = [n for n in self.tests if n in odd | more or n in {t.name for t in rest}]
        for run in self.runs:
            run.tests &= set(self.tests)
        print("%d tests have %d different runs of the compiler (%.0f s); for every mutant: %s" % (
            len(self.tests), len(self.runs), sum(r.seconds for r in self.runs), " ".join(sorted(self.always))), flush=True)

    def run_all(self, tests, env):
        def one(test):
            begin = time.monotonic()
            code = test.run(env=env(test))
            test.seconds = time.monotonic() - begin
            return code
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return {t.name: c for t, c in zip(tests, pool.map(one, tests))}

    def first_failure(self, tests):
        """Runs tests side by side, those of most worth first, until one fails; its name, or None."""
        stop, failed = threading.Event(), []

        def one(test):
            code = None if stop.is_set() else test.run(stop)
            if code is not None:
                test.tries += 1
            if code not in (0, 77, None) and not stop.is_set():
                stop.set()
                failed.append(test)
                test.kills += 1

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(one, sorted(tests, key=lambda t: -t.worth())))
        return failed[0].name if failed else None

    def turn(self, folder):
        """The runs in the order in which they are repeated: those first that mutants of the folder changed most, of those that
        belong to tests of most worth."""
        best = {name: t.worth() for name, t in self.tests.items()}
        return sorted(self.runs, key=lambda r: (-r.hits.get(folder, 0), -max((best[n] for n in r.tests), default=0), r.seconds))


class Mutant:
    """A site and its name, which holds as long as its line stays as it is."""

    def __init__(self, file, text, site, line, count):
        self.file, self.text, self.site = file, text, site
        self.key = "\0".join([file, site.kind, line, " ".join(site.old.split()), site.new, str(count)])
        self.name = hashlib.sha256(self.key.encode()).hexdigest()[:10]

    def turn(self, seed):
        return hashlib.sha256(("%d\0" % seed + self.key).encode()).digest()

    def what(self):
        def short(s):
            s = " ".join(s.split())
            return s if len(s) <= 70 else s[:67] + "..."
        return "%s:%d %s: %s -> %s" % (self.file, self.site.line, self.site.kind, short(self.site.old), short(self.site.new) or "nothing")


def mutants(tree, folders):
    found = []
    for folder in folders:
        path = tree.path(folder)
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else []:
            if not name.endswith(".c"):
                continue
            with open(os.path.join(path, name)) as f:
                text = f.read()
            seen, lines = {}, text.split("\n")
            for site in sites(text):
                line = lines[site.line - 1].strip()
                same = (line, site.kind, site.old, site.new)
                seen[same] = seen.get(same, 0) + 1
                found.append(Mutant(folder + "/" + name, text, site, line, seen[same]))
    return found


def judge(tree, m):
    """(verdict, a word of explanation): "killed" and by which test, "survived", or one of NO_MUTANT."""
    obj = os.path.join(tree.build, "obj", m.file[:-2] + ".o")
    with open(obj, "rb") as f:
        before = f.read()
    with open(tree.path(m.file), "w") as f:
        f.write(m.site.apply(m.text))
    try:
        if tree.make("all").returncode != 0:
            return "broken", ""
        with open(obj, "rb") as f:
            if f.read() == before:
                return "same code", ""
        return try_tests(tree, m.file.split("/")[0])
    finally:
        with open(tree.path(m.file), "w") as f:
            f.write(m.text)


def try_tests(tree, folder):
    tried, changed, runs_changed = set(), set(), 0

    def fails(names):
        tests = [tree.tests[n] for n in names if n not in tried]
        tried.update(t.name for t in tests)
        return tree.first_failure(tests)

    def linked():
        tree.link_units()
        return fails(tree.always)

    killer = linked() if folder in LINKED_FIRST else None
    if killer:
        return "killed", killer
    for run, answer, _ in tree.replay.each(tree.turn(folder), lambda r: not r.tests <= tried):
        if answer == run.reference:
            continue
        runs_changed += 1
        run.hits[folder] = run.hits.get(folder, 0) + 1
        changed |= run.tests
        killer = fails([n for n in changed if tree.tests[n].worth() >= AT_ONCE])
        if killer:
            return "killed", killer
    killer = fails(changed) or (None if folder in LINKED_FIRST else linked())
    return ("killed", killer) if killer else ("survived", "%d runs change" % runs_changed)


class Record:
    """A line for each mutant: its name, the commit, the verdict, by what, the mutant. In memory only where there is no file."""

    def __init__(self, path, seed):
        self.path, self.seed, self.rows = path, seed, {}
        if path and os.path.exists(path):
            with open(path) as f:
                for line in f:
                    if line.startswith("# seed "):
                        if int(line.split()[2].rstrip(",:")) != seed:
                            sys.exit("%s is a record of another seed" % path)
                    elif not line.startswith("#"):
                        row = line.rstrip("\n").split("\t")
                        self.rows[row[0]] = row

    def add(self, m, commit, verdict, why):
        self.rows[m.name] = [m.name, commit, verdict, why, m.what()]
        if self.path:
            with open(self.path + ".new", "w") as f:
                f.write("# seed %d: %s\n# mutant, commit, verdict, by which test, what was changed (run.py)\n" % (self.seed, self.summary()))
                for row in self.rows.values():
                    f.write("\t".join(row) + "\n")
            os.replace(self.path + ".new", self.path)

    def counted(self):
        return [r for r in self.rows.values() if r[2] not in NO_MUTANT]

    def survivors(self):
        return [r[0] for r in self.counted() if r[2] == "survived"]

    def summary(self):
        all, alive = len(self.counted()), len(self.survivors())
        return "%d of %d mutants killed, %.1f %%" % (all - alive, all, 100.0 * (all - alive) / max(1, all))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=200)
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--folders", default=FOLDERS)
    ap.add_argument("--work", default=os.path.join(ROOT, "build", "mutants"), help="folder of the copy")
    ap.add_argument("--record")
    ap.add_argument("--again", action="store_true")
    ap.add_argument("--only")
    a = ap.parse_args()
    record = Record(a.record, a.seed)
    tree = Tree(os.path.abspath(a.work), a.jobs)
    for run in tree.runs:
        run.hits = {}
    for row in record.counted():        # what killed once comes first again
        if row[3] in tree.tests:
            tree.tests[row[3]].tries += 1
            tree.tests[row[3]].kills += 1
    drawn = sorted(mutants(tree, a.folders.split(",")), key=lambda m: m.turn(a.seed))
    chosen = a.only.split(",") if a.only else record.survivors() if a.again else None
    for m in drawn:
        if chosen is not None and m.name not in chosen or chosen is None and m.name in record.rows:
            continue
        if chosen is None and len(record.counted()) >= a.count:
            break
        begin = time.monotonic()
        verdict, why = judge(tree, m)
        record.add(m, tree.commit, verdict, why)
        print("%3d  %.0f s  %s  %s  %s  %s" % (len(record.counted()), time.monotonic() - begin, m.name, verdict, why, m.what()), flush=True)
    print("seed %d: %s" % (a.seed, record.summary()))
    os._exit(0)


if __name__ == "__main__":
    main()
