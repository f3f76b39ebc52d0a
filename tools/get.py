#!/usr/bin/env python3
"""Gets what the tests are pinned to, into .deps/, and prints where it is: get.py [--there] NAME...

    python      a Python with the numpy and ml_dtypes that values are compared with: the path of the interpreter
    nvcc        CUDA 13.0: the path of nvcc                     nvcc-tile   CUDA 13.4, which has CUDA Tile C++: the path of nvcc
    nvcc-tile-13.3  CUDA 13.3, the first with CUDA Tile C++: the path of nvcc
    cuda-12.0   NVRTC and headers of CUDA 12.0: the folder      nvrtc-12.9  NVRTC of CUDA 12.9: the folder

Each is a file of tools/requirements: exact versions, the hash of every file, wheels only. What is there is not fetched again, and
nothing is there before all of it is; runs at the same time wait for each other. --there: says only where it is, and fails if it is not.
Needs nothing but Python with its module venv; messages go to standard error. Exit status 3: there are no packages for this machine."""
import fcntl
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEPS = os.path.join(ROOT, ".deps")
TAG = "%d.%d" % sys.version_info[:2]
PYTHONS = (3, 11), (3, 14)                  # for which tools/pin.py has written hashes
MACHINES = {"cuda-12.0": ["x86_64"]}        # others have wheels for every machine in tools/pin.py
STAMP = ".pinned"                           # in each folder: the hash of the file that it was made from


class Failure(Exception):
    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status


def requirements(name):
    return os.path.join(ROOT, "tools", "requirements", name + ".txt")


def folder_of(name):
    """Wheels of the Python packages are for one version of Python, so several may stand side by side."""
    return os.path.join(DEPS, "python" + TAG if name == "python" else "pip" + TAG if name == "pip" else name)


def wanted(name):
    """What the stamp of a folder says that is up to date."""
    if name == "pip":
        return TAG
    with open(requirements(name), "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def result(name):
    """What is printed: a program, or the folder."""
    folder = folder_of(name)
    if name in ("python", "pip"):
        return os.path.join(folder, "bin", "python")
    if name.startswith("nvcc"):
        return os.path.join(cuda_root(folder) or folder, "bin", "nvcc")
    return folder


def there(name):
    try:
        with open(os.path.join(folder_of(name), STAMP)) as f:
            return f.read() == wanted(name) and os.path.exists(result(name))
    except OSError:
        return False


def command(line, what):
    # a machine's settings say where packages come from, and nothing about this environment
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT")}
    environment["PYTHONNOUSERSITE"] = "1"
    p = subprocess.run(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if p.returncode:
        text = p.stdout.decode("utf-8", "replace").strip().splitlines()
        raise Failure("%s:\n  %s" % (what, "\n  ".join(text[-8:])))


def install(name, target):
    command([get("pip"), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir", "--no-user", "--no-deps",
             "--require-hashes", "--only-binary", ":all:", "--target", target, "-r", requirements(name)],
            "the download of %s failed" % name)


def virtual(folder, *options):
    command([sys.executable, "-m", "venv"] + list(options) + [folder], "Python %s cannot make a virtual environment (Debian: apt-get install python3-venv)" % TAG)


def cuda_root(folder):
    """The folder of a toolkit's bin, include and lib; None where there is none."""
    top = os.path.join(folder, "nvidia")
    for n in sorted(os.listdir(top)) if os.path.isdir(top) else []:
        if os.path.exists(os.path.join(top, n, "bin", "nvcc")):
            return os.path.join(top, n)
    return None


def make_toolkit(root):
    """Packages have lib where nvcc looks for lib64, programs without the right to run, and the runtime under its full name only."""
    for folder in ("bin", "nvvm/bin"):
        for n in os.listdir(os.path.join(root, folder)):
            path = os.path.join(root, folder, n)
            if os.path.isfile(path):
                os.chmod(path, 0o755)
    if not os.path.exists(os.path.join(root, "lib64")):
        os.symlink("lib", os.path.join(root, "lib64"))
    for n in sorted(os.listdir(os.path.join(root, "lib"))):
        if n.startswith("libcudart.so.") and not os.path.lexists(os.path.join(root, "lib", "libcudart.so")):
            os.symlink(n, os.path.join(root, "lib", "libcudart.so"))


def make(name, new):
    if name == "pip":
        return virtual(new)
    print("get: downloading what tools/requirements/%s.txt says, once" % name, file=sys.stderr)
    if name == "python":
        virtual(new, "--without-pip")
        return install(name, os.path.join(new, "lib", "python" + TAG, "site-packages"))
    install(name, new)
    if name.startswith("nvcc"):
        root = cuda_root(new)
        if not root:
            raise Failure("the packages of %s hold no nvcc" % name)
        make_toolkit(root)


def remove_left(folder):
    """What runs left that were killed: no other one is at work, for they wait for each other."""
    base = os.path.basename(folder)
    for n in os.listdir(DEPS):
        if n in (base + ".new", base + ".old"):
            shutil.rmtree(os.path.join(DEPS, n))


def get(name):
    if there(name):
        return result(name)
    if platform.machine() not in MACHINES.get(name, [platform.machine()]):
        raise Failure("there are no packages of %s for %s" % (name, platform.machine()), 3)
    if name == "python" and not PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]:
        raise Failure("the tests need a Python from %d.%d to %d.%d, and %s is %s; with another one:\n  make test PYTHON=python%d.%d" % (
            PYTHONS[0] + PYTHONS[1] + (sys.executable, TAG) + PYTHONS[0]))
    folder = folder_of(name)
    new, old = folder + ".new", folder + ".old"
    os.makedirs(DEPS, exist_ok=True)
    with open(os.path.join(DEPS, name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if there(name):
            return result(name)
        remove_left(folder)
        try:
            make(name, new)
            with open(os.path.join(new, STAMP), "w") as f:
                f.write(wanted(name))
            if os.path.lexists(folder):
                os.rename(folder, old)
            os.rename(new, folder)
        finally:
            remove_left(folder)
    return result(name)


def main(arguments):
    fetch = arguments[:1] != ["--there"]
    names = arguments if fetch else arguments[1:]
    known = sorted(n[:-4] for n in os.listdir(os.path.dirname(requirements(""))) if n.endswith(".txt") and n != "cmake.txt")
    if not names or set(names) - set(known):
        print("get: it takes names of %s" % ", ".join(known), file=sys.stderr)
        return 2
    for signal_ in (signal.SIGTERM, signal.SIGHUP):     # so that what is half made is removed
        signal.signal(signal_, lambda *_: sys.exit(1))
    for name in names:
        try:
            if not fetch and not there(name):
                raise Failure("%s is not here, or not the version that tools/requirements says" % name)
            print(get(name))
        except Failure as e:
            print("get: %s" % e, file=sys.stderr)
            if e.status == 1:
                print("get: to try again:\n  %s tools/get.py %s" % (sys.executable, name), file=sys.stderr)
            return e.status
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(1)
