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
import struct
import subprocess

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
        self.reference, self.seconds, self.hits = None, 0.0, {}
        self.reach = None       # the functions that the compiler enters, None: any
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
        given = os.path.join(self.folder, "given")
        os.makedirs(given, exist_ok=True)
        for n in self.scanned:
            source, target = os.path.join(self.folder, n), os.path.join(given, n)
            if os.path.isdir(source):
                shutil.copytree(source, target, symlinks=True)
            else:
                shutil.copy2(source, target)
        self.files = digest_tree(self.folder)[1]
        short = [w.replace(self.folder, "@") for w in self.args + [self.cwd]]
        inputs = [digest_tree(os.path.join(self.folder, n))[0] if os.path.isdir(os.path.join(self.folder, n)) else self.content(n) for n in self.scanned]
        env = sorted(i for i in self.row["env"].items() if i[0] not in ("PATH", "CTILEC"))
        self.key = json.dumps([short, inputs, self.content("stdin"), env])

    def content(self, name):
        with open(os.path.join(self.folder, name), "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()

    def made(self):
        """The files that the last repetition made or wrote over; they are removed, or as they were."""
        found = {}
        for top in self.scanned:
            path = os.path.join(self.folder, top)
            places = [os.path.join(d, n) for d, _, ns in os.walk(path) for n in ns] if os.path.isdir(path) else [path]
            for p in places:
                st = os.lstat(p)
                if self.files.get(p) == (st.st_size, st.st_mtime_ns):
                    continue
                inside = os.path.relpath(p, self.folder)
                if stat.S_ISREG(st.st_mode):
                    found[inside] = self.content(inside)
                os.remove(p)
                if p in self.files:
                    shutil.copy2(os.path.join(self.folder, "given", inside), p, follow_symlinks=False)
        return found

    def repeat(self, program, cover=None):
        """(exit status, what was printed, what was made), as text of a few bytes, and the seconds of processor time. cover: a file for
        the functions that are entered, whose content is then the answer."""
        out, err = os.path.join(self.folder, "out.new"), os.path.join(self.folder, "err.new")
        env = self.row["env"] if cover is None else {**self.row["env"], "MUTANTS_COVER": cover}
        with open(os.path.join(self.folder, "stdin"), "rb") as i, open(out, "wb") as o, open(err, "wb") as e:
            p = subprocess.Popen([program] + self.args, cwd=self.cwd, env=env, stdin=i, stdout=o, stderr=e)
            if self.reference is not None and cover is None:
                most = int(SLOWER * self.seconds) + SECONDS
                try:
                    resource.prlimit(p.pid, resource.RLIMIT_CPU, (most, most + 1))
                except ProcessLookupError:
                    pass
            _, status, used = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        made, seconds = self.made(), used.ru_utime + used.ru_stime
        if cover:
            return (open(cover, "rb").read() if os.path.exists(cover) else None), seconds
        return json.dumps([p.returncode, self.content("out.new"), self.content("err.new"), made]), seconds

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


def worker(program, runs, cover, queue, results):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    path = os.path.join(cover, str(os.getpid())) if cover else None
    for n in iter(queue.get, None):
        if path and os.path.exists(path):
            os.remove(path)
        results.put((n,) + runs[n].repeat(program, path))


class Replay:
    """Repeats runs in processes of their own, a few at a time, so that whoever asks can stop."""
    AHEAD = 8

    def __init__(self, program, runs, jobs, cover=None):
        self.runs, self.queue, self.results = runs, multiprocessing.Queue(), multiprocessing.Queue()
        args = (program, runs, cover, self.queue, self.results)
        self.workers = [multiprocessing.Process(target=worker, args=args, daemon=True) for _ in range(jobs)]
        for w in self.workers:
            w.start()

    def each(self, order=None, wanted=lambda run: True):
        """Yields (run, answer, seconds) for the runs of these numbers; one that is no longer wanted when its turn comes is left
        out. Closing it waits for the few that are under way."""
        waiting, left = 0, iter(range(len(self.runs)) if order is None else order)
        try:
            while True:
                while waiting < self.AHEAD:
                    n = next(left, None)
                    if n is None:
                        break
                    if wanted(self.runs[n]):
                        waiting += 1
                        self.queue.put(n)
                if not waiting:
                    return
                n, answer, seconds = self.results.get()
                waiting -= 1
                yield self.runs[n], answer, seconds
        finally:
            for _ in range(waiting):
                self.results.get()

    def close(self):
        for _ in self.workers:
            self.queue.put(None)


def settle(runs, program, jobs):
    """Repeats each run with the compiler as it is, twice: answers and times. The tests of runs that do not come out as recorded, or
    not the same each time, are odd, and these runs are left out."""
    odd, kept, first = set(), [], {}
    replay = Replay(program, runs, jobs)
    for run, answer, seconds in replay.each():
        first[id(run)] = answer, seconds
    for run, answer, seconds in replay.each():
        if answer == first[id(run)][0] and run.as_recorded(json.loads(answer)[0]):
            run.reference, run.seconds = answer, min(seconds, first[id(run)][1])
            kept.append(run)
        else:
            odd |= run.tests
    replay.close()
    return kept, odd


def reach(runs, program, jobs, folder):
    """Sets which functions each run enters, as a set of bits, with a compiler that cover.c is part of. Returns
    {file of the compiler: [(first line, bit), ...]}."""
    replay, numbers = Replay(program, runs, jobs, folder), {}
    for run, answer, _ in replay.each():
        run.reach = None if answer is None else sum({1 << numbers.setdefault(a, len(numbers)) for a in struct.unpack("<%dI" % (len(answer) // 4), answer)})
    replay.close()
    start = next(int(l.split()[0], 16) for l in command("nm", program).splitlines() if l.endswith(" __executable_start"))
    lines = command("addr2line", "-e", program, given="\n".join(hex(start + 16 * a) for a in numbers)).splitlines()
    found = {}
    for bit, place in zip(numbers.values(), lines):
        file, line = place.split(" ")[0].rsplit(":", 1)
        if line.isdigit():
            found.setdefault("/".join(file.split("/")[-2:]), []).append((int(line), bit))
    return found


def command(*args, given=""):
    return subprocess.run(args, input=given, stdout=subprocess.PIPE, text=True, check=True).stdout
