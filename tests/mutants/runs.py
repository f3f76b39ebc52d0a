"""The runs of the compiler that the tests make, kept once (recorder.py) and then repeated without the tests: which of them does a
mutant change?

A test sees the compiler by what its runs give: an exit status, what is printed, files. What a test does next follows from that, so if
each recorded run of a test gives the same bytes with a mutant as without, the test does and says the same: it cannot fail, and need
not be run. This holds for tests that start the compiler and see it in no other way. Those that link libctilec.a are run
for every mutant, and so are those of which a run cannot be repeated from a copy of its files ("odd")."""
import hashlib
import json
import multiprocessing
import os
import resource
import shutil
import signal
import stat
import subprocess
import threading
import time

MEMORY = 6 << 30    # bytes of address space for a mutant
SLOWER = 20         # times as much processor time, and SECONDS more: the run has changed
SECONDS = 4


def digest_tree(folder):
    """What is in a folder, and the files' states as {path: (size, time)}."""
    h, files = hashlib.sha256(), {}
    for d, names, leaves in os.walk(folder):
        names.sort()
        for n in sorted(leaves):
            path = os.path.join(d, n)
            st = os.lstat(path)
            files[path] = (st.st_size, st.st_mtime_ns)
            h.update(os.path.relpath(path, folder).encode("utf-8", "surrogateescape") + b"\0")
            if stat.S_ISREG(st.st_mode):
                with open(path, "rb") as f:
                    h.update(hashlib.sha256(f.read()).digest())
    return h.hexdigest(), files


class Run:
    """One run of the compiler, in a folder of its own."""

    def __init__(self, folder, row):
        self.folder, self.row, self.tests = folder, row, {row["test"]}
        self.reference, self.seconds = None, 0.0
        self.paths = {top: os.path.join(folder, name) for top, name in row["copies"].items()}
        self.args = [self.moved(w) for w in row["args"]]
        self.cwd = self.moved(row["cwd"])

    def moved(self, word):
        for top, path in self.paths.items():
            word = word.replace(top, path)
        return word

    def settle(self, bases):
        """Gives a run without a folder of its own one, and computes what it is known by."""
        if self.cwd in bases or not os.path.isdir(self.cwd):
            self.cwd = os.path.join(self.folder, "t")
            os.makedirs(self.cwd, exist_ok=True)
        self.scanned = sorted(n for n in os.listdir(self.folder) if n.startswith("t"))
        digest, self.files = digest_tree(self.folder)
        short = [w.replace(self.folder, "@") for w in self.args + [self.cwd]]
        inputs = [digest_tree(os.path.join(self.folder, n))[0] if os.path.isdir(os.path.join(self.folder, n)) else self.content(n) for n in self.scanned]
        env = sorted(i for i in self.row["env"].items() if i[0] not in ("PATH", "CTILEC"))
        self.key = json.dumps([short, inputs, self.content("stdin"), env])

    def content(self, name):
        with open(os.path.join(self.folder, name), "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()

    def made(self):
        """The files that the last repetition made or changed, which are removed; None if it changed what it was given."""
        found, same = {}, True
        for top in self.scanned:
            path = os.path.join(self.folder, top)
            places = [(path, n) for n in [""]] if not os.path.isdir(path) else [(d, n) for d, _, ns in os.walk(path) for n in ns]
            for d, n in places:
                p = os.path.join(d, n) if n else d
                st = os.lstat(p)
                if self.files.get(p) == (st.st_size, st.st_mtime_ns):
                    continue
                if p in self.files:
                    same = False
                    continue
                if stat.S_ISREG(st.st_mode):
                    with open(p, "rb") as f:
                        found[os.path.relpath(p, self.folder)] = hashlib.sha256(f.read()).hexdigest()
                os.remove(p)
        return found if same else None

    def repeat(self, program):
        """(exit status, what was printed, what was made), as text of a few bytes, and the seconds of processor time"""
        out, err = os.path.join(self.folder, "out.new"), os.path.join(self.folder, "err.new")
        with open(os.path.join(self.folder, "stdin"), "rb") as i, open(out, "wb") as o, open(err, "wb") as e:
            p = subprocess.Popen([program] + self.args, cwd=self.cwd, env=self.row["env"], stdin=i, stdout=o, stderr=e)
            if self.reference is not None:
                most = int(SLOWER * self.seconds) + SECONDS
                try:
                    resource.prlimit(p.pid, resource.RLIMIT_CPU, (most, most + 1))
                except ProcessLookupError:
                    pass
            _, status, used = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        made = self.made()
        answer = json.dumps([p.returncode, self.content("out.new"), self.content("err.new"), made]) if made is not None else "changed its input"
        return answer, used.ru_utime + used.ru_stime

    def as_recorded(self, code):
        """Did the first repetition print what was recorded?"""
        def text(name, paths):
            with open(os.path.join(self.folder, name), "rb") as f:
                t = f.read()
            for a, b in paths:
                t = t.replace(os.fsencode(a), os.fsencode(b))
            return t
        return code == self.row["code"] and all(text(n, self.paths.items()) == text(n + ".new", []) for n in ("out", "err"))


def load(records, bases):
    """All recorded runs, equal ones once, and the names of the tests that are odd."""
    runs, odd = {}, set()
    for name in sorted(os.listdir(records)):
        folder = os.path.join(records, name)
        if name.startswith("odd-"):
            odd.add(name[4:].replace(":", "/"))
        elif os.path.exists(os.path.join(folder, "run.json")):
            with open(os.path.join(folder, "run.json")) as f:
                run = Run(folder, json.load(f))
            run.settle(bases)
            if run.key in runs:
                runs[run.key].tests |= run.tests
                shutil.rmtree(folder)
            else:
                runs[run.key] = run
    return list(runs.values()), odd


def worker(program, queue, results):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for n, run in iter(queue.get, None):
        results.put((n,) + run.repeat(program))


class Replay:
    """Repeats runs in processes of their own, a few at a time, so that whoever asks can stop."""
    AHEAD = 8

    def __init__(self, program, jobs):
        self.queue, self.results = multiprocessing.Queue(), multiprocessing.Queue()
        self.workers = [multiprocessing.Process(target=worker, args=(program, self.queue, self.results), daemon=True) for _ in range(jobs)]
        for w in self.workers:
            w.start()

    def each(self, runs, wanted=lambda run: True):
        """Yields (run, answer, seconds); a run that is no longer wanted when its turn comes is left out. Closing it waits for
        the few that are under way."""
        waiting, left = {}, iter(enumerate(runs))
        try:
            while True:
                while len(waiting) < self.AHEAD:
                    n, run = next(left, (None, None))
                    if run is None:
                        break
                    if wanted(run):
                        waiting[n] = run
                        self.queue.put((n, run))
                if not waiting:
                    return
                n, answer, seconds = self.results.get()
                yield waiting.pop(n), answer, seconds
        finally:
            for _ in range(len(waiting)):
                self.results.get()

    def close(self):
        for _ in self.workers:
            self.queue.put(None)


def settle(runs, replay):
    """Repeats each run with the compiler as it is, twice: answers and times. The tests of runs that do not come out as recorded, or
    not the same each time, are odd, and these runs are left out."""
    odd, kept = set(), []
    first = {}
    for run, answer, seconds in replay.each(runs):
        first[id(run)] = answer, seconds
    for run, answer, seconds in replay.each(runs):
        if answer == first[id(run)][0] and answer != "changed its input" and run.as_recorded(json.loads(answer)[0]):
            run.reference, run.seconds = answer, min(seconds, first[id(run)][1])
            kept.append(run)
        else:
            odd |= run.tests
    return kept, odd
