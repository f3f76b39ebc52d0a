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
MEMORY = 6 << 30    # bytes of address space for the compiler
AT_ONCE = 0.4       # kills a second to be expected from a test that is run before all runs have been repeated
# how likely a test is to fail when one of its runs has changed, before it was tried
LIKELY = [(0.9, r"golden/(?!print)|diag/[EW]\d|syntax/|ir/text|sim/report|record/|rules/|tile/golden|diag/quiet|vendor/|docs/(current|editors)"),
          (0.1, r"cli/|names/|golden/print|fuzz/"), (0.4, "")]
# puts another program in the compiler's place
BLIND = ("tests/silent-compiler",)
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
        if self.unit:
            resource.prlimit(p.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
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
        known = {}
        if os.path.exists(self.known):
            with open(self.known, "rb") as f:
                known = pickle.load(f)
        self.state = hashlib.sha256(b"".join(l for l in git("ls-tree", "-r", "HEAD").splitlines() if b"\ttests/mutants/" not in l)).hexdigest()
        if known.get("state") != self.state:
            known = {}
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(self.tmp)
        self.unpack()
        self.limit = os.path.join(folder, "limit.o")
        call(["cc", "-O1", "-DBYTES=%dL" % MEMORY, "-c", os.path.join(HERE, "limit.c"), "-o", self.limit], self.folder)
        made = self.make("all", "lib")
        if made.returncode != 0:
            sys.exit(made.stdout[-3000:])
        if not known:
            known = self.record()
            self.keep(known)
        self.tests, self.runs, self.always = known["tests"], known["runs"], known["always"]
        if "functions" not in known:
            known["functions"] = self.reach()
            self.keep(known)
        self.functions = known["functions"]
        self.replay = recorded.Replay(self.path("build/ctilec"), self.runs, jobs)

    def keep(self, known):
        with open(self.known + ".new", "wb") as f:
            pickle.dump({**known, "state": self.state}, f)
        os.replace(self.known + ".new", self.known)

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
        return call(["make", "-j%d" % self.jobs, "CFLAGS=-O1", "LDFLAGS=" + self.limit, *goals], self.folder)

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
        limits = json.dumps([resource.getrlimit(r) for r in LIMITS])
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
        passing = {t.name: t for t in tests if codes[t.name] == 0}
        if len(passing) < 0.95 * len(tests):
            sys.exit("too many tests fail on the compiler as it is")
        found, odd = recorded.load(self.records, bases)
        runs, more = recorded.settle(found, program, self.jobs)
        always = [n for n in passing if n not in BLIND and (n in odd | more or n in {t.name for t in rest})]
        for run in runs:
            run.tests &= set(passing)
        print("%d tests have %d different runs of the compiler (%.0f s); for every mutant: %s" % (
            len(passing), len(runs), sum(r.seconds for r in runs), " ".join(sorted(always))), flush=True)
        return {"tests": passing, "runs": runs, "always": always}

    def reach(self):
        """Which functions each run enters."""
        build = self.path("cover")
        os.makedirs(build, exist_ok=True)
        call(["cc", "-O1", "-c", os.path.join(HERE, "cover.c"), "-o", os.path.join(build, "cover.o")], self.folder)
        made = call(["make", "-j%d" % self.jobs, "BUILD=cover", "LDFLAGS=cover/cover.o",
                     "CFLAGS=-O1 -g1 -finstrument-functions -falign-functions=16 -fno-pie -no-pie"], self.folder)
        if made.returncode != 0:
            sys.exit(made.stdout[-3000:])
        return recorded.reach(self.runs, os.path.join(build, "ctilec"), self.jobs, build)

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

    def turn(self, m):
        """The numbers of the runs that can reach a mutant, in the order in which they are repeated: those first that mutants of the file
        changed most, then those that belong to tests of most worth."""
        best = {name: t.worth() for name, t in self.tests.items()}
        bit = m.function(self.functions.get(m.file, []))
        if bit == -1:
            return []

        def rank(n):
            run = self.runs[n]
            return -run.hits.get(m.file, 0), -max((best[t] for t in run.tests), default=0) / (run.seconds + 0.005)
        return sorted((n for n, run in enumerate(self.runs) if bit is None or run.reach is None or run.reach >> bit & 1), key=rank)


class Mutant:
    """A site and its name, which holds as long as its line stays as it is."""

    def __init__(self, file, text, site, line, count):
        self.file, self.text, self.site = file, text, site
        self.key = "\0".join([file, site.kind, line, " ".join(site.old.split()), site.new, str(count)])
        self.name = hashlib.sha256(self.key.encode()).hexdigest()[:10]

    def turn(self, seed):
        return hashlib.sha256(("%d\0" % seed + self.key).encode()).digest()

    def function(self, starts):
        """The bit of the function that the site is in, of (line, bit) of those that some run enters: None outside of functions, -1
        in one that no run enters. A function's brackets stand alone, at the start of their lines."""
        lines = self.text.split("\n")
        begin = next((n for n in range(self.site.line - 1, -1, -1) if lines[n] == "{" or lines[n].startswith("}")), 0)
        if lines[begin] != "{":
            return None
        before = next((n for n in range(begin - 1, -1, -1) if lines[n].startswith("}")), -1)
        return next((bit for line, bit in starts if before + 1 < line <= begin + 1), -1)

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


def judge(tree, m, attempt):
    """(verdict, a word of explanation): what `attempt` says of the mutant when it is built, or one of NO_MUTANT."""
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
        return attempt(tree, m)
    finally:
        with open(tree.path(m.file), "w") as f:
            f.write(m.text)


def try_runs(tree, m):
    """Repeats the runs that reach the mutant, and runs the tests of those that change: first those that kill soon, as they come."""
    tried, changed, runs_changed = set(), set(), 0

    def fails(names):
        tests = [tree.tests[n] for n in names if n not in tried]
        tried.update(t.name for t in tests)
        return tree.first_failure(tests)

    for run, answer, _ in tree.replay.each(tree.turn(m), lambda r: not r.tests <= tried):
        if answer == run.reference:
            continue
        runs_changed += 1
        run.hits[m.file] = run.hits.get(m.file, 0) + 1
        changed |= run.tests
        killer = fails([n for n in changed if tree.tests[n].worth() >= AT_ONCE])
        if killer:
            return "killed", killer
    killer = fails(changed)
    return ("killed", killer) if killer else ("open", "%d runs change" % runs_changed)


def try_always(tree, m, so_far):
    """Runs the tests that see the compiler in another way than by runs that can be repeated."""
    tree.link_units()
    killer = tree.first_failure([tree.tests[n] for n in tree.always])
    return ("killed", killer) if killer else ("survived", so_far)


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

    def open(self):
        return [r[0] for r in self.counted() if r[2] == "open"]

    def summary(self):
        all, alive = len(self.counted()), len(self.survivors() + self.open())
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

    def step(m, attempt):
        begin = time.monotonic()
        verdict, why = judge(tree, m, attempt)
        record.add(m, tree.commit, verdict, why)
        print("%3d  %.0f s  %s  %s  %s  %s" % (len(record.counted()), time.monotonic() - begin, m.name, verdict, why, m.what()), flush=True)

    for m in drawn:
        if chosen is not None and m.name not in chosen or chosen is None and m.name in record.rows:
            continue
        if chosen is None and len(record.counted()) >= a.count:
            break
        step(m, try_runs)
    for m in drawn:
        if m.name in record.open() and (chosen is None or m.name in chosen):
            step(m, lambda tree, m: try_always(tree, m, record.rows[m.name][3]))
    tree.replay.close()
    print("seed %d: %s" % (a.seed, record.summary()))


if __name__ == "__main__":
    main()
