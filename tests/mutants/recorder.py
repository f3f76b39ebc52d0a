"""Stands in the compiler's place while tests are recorded: keeps what this run of the compiler is given and what it prints, and is
otherwise the compiler. run.py writes a program of two lines that calls main(the compiler, the folder of temporary files, the tree).

A run that cannot be had again from a copy of its files (under a limit, with a descriptor that is closed or is a device, with a
library before the C library) is only noted, and the compiler takes the process over: run.py runs its test for each mutant."""
import json
import os
import resource
import signal
import stat
import sys

FILES, BYTES = 60, 16 << 20     # of a temporary folder that is copied whole
LIMITS = [resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_STACK]
KEPT = ("MUTANTS_", "PWD", "OLDPWD", "SHLVL", "_")


def ordinary():
    """Nothing about this process makes the compiler see another world than that of its files."""
    if os.environ.get("LD_PRELOAD") or json.loads(os.environ["MUTANTS_LIMITS"]) != [list(resource.getrlimit(r)) for r in LIMITS]:
        return False
    for fd in (0, 1, 2):
        try:
            mode = os.fstat(fd).st_mode
        except OSError:
            return False
        if stat.S_ISCHR(mode) and os.fstat(fd).st_rdev != os.stat("/dev/null").st_rdev:
            return False
    return True


def copy(source, target, budget):
    """A file, or a folder with all that is in it; False if that is too much or something else."""
    mode = os.lstat(source).st_mode
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(source), target)
        return True
    if stat.S_ISDIR(mode):
        os.mkdir(target)
        return all([copy(os.path.join(source, n), os.path.join(target, n), budget) for n in os.listdir(source)])
    if not stat.S_ISREG(mode):
        return False
    budget[0] += 1
    budget[1] += os.stat(source).st_size
    if budget[0] > FILES or budget[1] > BYTES:
        return False
    with open(source, "rb") as f, open(target, "wb") as g:
        g.write(f.read())
    os.chmod(target, stat.S_IMODE(mode))
    return True


def tops(words, bases):
    """The outermost temporary files and folders that words name, below the folders that hold such."""
    found = {}
    for w in words:
        for base in bases:
            at = w.find(base + "/")
            while at >= 0:
                name = w[at + len(base) + 1:].split("/")[0].split("=")[0]
                if name:
                    found[base + "/" + name] = None
                at = w.find(base + "/", at + 1)
    return [t for t in found if os.path.lexists(t)]


def size(folder):
    return sum(1 for _, _, names in os.walk(folder) for _ in names)


def copy_named(top, target, words, here):
    """Of a folder with much in it, the files that words name, and those beside them whose names begin alike. If the compiler reads
    others, too, its repetition does not come out as it did now, and run.py notices."""
    os.mkdir(target)
    for w in words:
        path = os.path.normpath(os.path.join(here, w.split("=")[-1]))
        folder, name = os.path.split(path)
        if not (path.startswith(top + "/") and os.path.isdir(folder)):
            continue
        inside = os.path.normpath(os.path.join(target, os.path.relpath(folder, top)))
        os.makedirs(inside, exist_ok=True)
        alike = {name} | {n for e in (".tile", ".tune") for n in [os.path.splitext(name)[0] + e]}
        for n in sorted(alike):
            if os.path.isfile(os.path.join(folder, n)) and not os.path.exists(os.path.join(inside, n)):
                copy(os.path.join(folder, n), os.path.join(inside, n), [0, 0])
    return True


def keep(folder, bases):
    here = os.getcwd()
    words = [os.fsdecode(w) for w in sys.argv[1:]]
    stdin = b"" if os.isatty(0) else sys.stdin.buffer.read()
    budget, copies = [0, 0], {}
    for i, top in enumerate(tops([here] + words, bases)):
        copies[top] = "t%d" % i
        target = os.path.join(folder, "t%d" % i)
        if os.path.isdir(top) and size(top) > FILES:
            copy_named(top, target, words, here)
        elif not copy(top, target, budget):
            return None
    with open(os.path.join(folder, "stdin"), "wb") as f:
        f.write(stdin)
    env = {k: v for k, v in os.environ.items() if not k.startswith(KEPT)}
    return {"test": os.environ["MUTANTS_TEST"], "cwd": here, "args": words, "copies": copies, "env": env}


def compile(real, folder):
    """Runs the compiler with what it prints in files; passes signals on to it."""
    out, err = os.path.join(folder, "out"), os.path.join(folder, "err")
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.path.join(folder, "stdin"), os.O_RDONLY, 0)]
    actions += [(os.POSIX_SPAWN_OPEN, fd, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666) for fd, path in ((1, out), (2, err))]
    pid = os.posix_spawn(real, sys.argv, os.environ, file_actions=actions)
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(s) != signal.SIG_IGN:
            signal.signal(s, lambda n, _: os.kill(pid, n))
    status = os.waitpid(pid, 0)[1]
    for fd, path in ((1, out), (2, err)):
        with open(path, "rb") as f:
            text = f.read()
        while text:
            text = text[os.write(fd, text):]
    return os.waitstatus_to_exitcode(status)


def main(real, records, bases):
    try:
        folder = os.path.join(records, "%d" % os.getpid())
        n = 0
        while True:
            try:
                os.mkdir(folder + "-%d" % n)
                break
            except FileExistsError:
                n += 1
        folder += "-%d" % n
        row = keep(folder, bases) if ordinary() and not has_fifo(bases) else None
    except (OSError, KeyError, MemoryError):
        row = None
    if row is None:
        note(records)
        os.execv(real, sys.argv)
    row["code"] = compile(real, folder)
    with open(os.path.join(folder, "run.json"), "w") as f:
        json.dump(row, f)
    if row["code"] < 0:
        os.kill(os.getpid(), -row["code"])
    os._exit(row["code"])


def has_fifo(bases):
    """A pipe with a name among what the compiler is given: whoever reads it waits for the compiler."""
    here = os.getcwd()
    return any(here.startswith(b + "/") for b in bases) and any(stat.S_ISFIFO(os.lstat(n).st_mode) for n in os.listdir("."))


def note(records):
    name = os.environ.get("MUTANTS_TEST", "unknown").replace("/", ":")
    os.close(os.open(os.path.join(records, "odd-" + name), os.O_CREAT | os.O_WRONLY, 0o666))
