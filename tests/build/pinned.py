"""Tests take what tools/get.py has pinned, and nothing else of the machine: wrong ones stand in the way of all of it, and are not used.
What is pinned is there whole or not at all, also when a download is killed."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *

POISON = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "PYTHONPATH",
          "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"]
KEPT = {"PIP_INDEX_URL": "https://packages.invalid/simple", "PIP_CERT": "/here/is one", "https_proxy": "http://proxy.invalid:3128"}
BASE = os.path.realpath(sys.executable)


def poisoned(tmp):
    """An environment whose nvcc and python3 fail, with a numpy of its own and headers that do not compile."""
    programs, modules = os.path.join(tmp, "bin"), os.path.join(tmp, "modules")
    for folder in (programs, os.path.join(modules, "numpy"), os.path.join(modules, "ml_dtypes")):
        os.makedirs(folder)
    for name in ("nvcc", "cuobjdump", "python3", "python", "pip"):
        write(os.path.join(programs, name), "#!/bin/sh\necho 'poisoned %s' >&2\nexit 9\n" % name)
        os.chmod(os.path.join(programs, name), 0o755)
    for name in ("numpy/__init__.py", "ml_dtypes/__init__.py", "sitecustomize.py"):
        write(os.path.join(modules, name), "raise SystemExit('poisoned %s')\n" % name)
    for name in ("stdint.h", "cuda_runtime.h"):
        write(os.path.join(modules, name), "#error poisoned %s\n" % name)
    env = dict.fromkeys(POISON, modules)
    env.update(NVCC_PREPEND_FLAGS="--poisoned", NVCC_APPEND_FLAGS="--poisoned", PATH=programs + os.pathsep + os.environ["PATH"], PYTHON=BASE, NVCC="")
    return env


def chosen(env, *command):
    """What tests would use: {"python": path, "nvcc": path}"""
    r = run(list(command) + ["sh", os.path.join(ROOT, "tools", "test.sh"), BUILD, "which", "1"], env=env, cwd=ROOT)
    check(r.code == 0, "test.sh: exit %d\n%s" % (r.code, r.text))
    found = dict(line.split(" ", 1) for line in r.out.decode().splitlines() if " " in line)
    left = [n for n in POISON if "\n%s=" % n in r.out.decode()]
    check(not left, "%s: %s are set" % (command or "test.sh", left))
    return found


def machine(tmp):
    """Neither PATH nor the environment says what tests use; NVCC does, where it is given."""
    env = poisoned(tmp)
    deps = os.path.join(ROOT, ".deps") + os.sep
    for what, line in (("test.sh", []), (".ci/run", [os.path.join(ROOT, ".ci", "run")])):
        found = chosen(env, *line)
        check(found.get("python", "").startswith(deps), "%s takes the Python %s" % (what, found.get("python")))
        check(found.get("nvcc", "").startswith(deps) or not found.get("nvcc"), "%s takes the nvcc %s" % (what, found.get("nvcc")))
    given = os.path.join(tmp, "bin", "nvcc")
    check(chosen(dict(env, NVCC="nvcc")).get("nvcc") == given, "NVCC=nvcc is not the one on PATH")
    check(not chosen(dict(env, NVCC=given), os.path.join(ROOT, ".ci", "run")).get("nvcc", "").startswith(tmp), ".ci/run takes NVCC of the environment")
    # what a test then runs
    inside = "import numpy, ml_dtypes; print(numpy.__file__)"
    r = run([os.path.join(ROOT, ".ci", "run"), sys.executable, "-c", inside], env=env)
    where = os.path.realpath(r.out.decode().strip())
    check(r.code == 0 and where.startswith(os.path.realpath(deps) + os.sep), "the Python of the tests has numpy from %s%s" % (where, r.text))


def network(tmp):
    """.ci/run keeps the way to the packages, and nothing else."""
    r = run([os.path.join(ROOT, ".ci", "run"), "env"], env=dict(KEPT, SECRET="1", PIP_TARGET="/x", PYTHONPATH="/x"))
    have = dict(line.split("=", 1) for line in r.out.decode().splitlines() if "=" in line)
    check(r.code == 0, ".ci/run env: exit %d\n%s" % (r.code, r.text))
    for name, value in KEPT.items():
        check(have.get(name) == value, ".ci/run: %s is %s" % (name, have.get(name)))
    for name in ("SECRET", "PIP_TARGET", "PYTHONPATH", "NVCC", "CTILEC"):
        check(name not in have, ".ci/run lets %s through" % name)


def same_line():
    """Continuous integration types what the README says."""
    line = re.search(r"set -- sh -c '([^']*)'", read(os.path.join(ROOT, ".ci", "run"))).group(1)
    check("\n%s\n" % line in read(os.path.join(ROOT, "README.md")), "`%s` is not a line of the README" % line)


# A tree of its own with a `pip` that waits in the middle of its work, or does it: no network.
PIP = """import os, sys, time
target = sys.argv[sys.argv.index("--target") + 1]
wanted = {"--require-hashes", "--only-binary"} - set(sys.argv)
if wanted: sys.exit("without %s" % wanted)
os.makedirs(target, exist_ok=True)
open(os.path.join(target, "half"), "w").close()
if os.path.exists("wait"):
    open("waiting", "w").close()
    time.sleep(60)
if os.path.exists("fail"): sys.exit("no network")
open(os.path.join(target, "whole"), "w").close()
"""


def whole_or_nothing(tmp):
    tree = os.path.join(tmp, "tree")
    os.makedirs(os.path.join(tree, "tools", "requirements"))
    shutil.copy(os.path.join(ROOT, "tools", "get.py"), os.path.join(tree, "tools"))
    pins = os.path.join(tree, "tools", "requirements", "nvrtc-12.9.txt")
    write(pins, "one==1\n")
    folder = os.path.join(tree, ".deps", "nvrtc-12.9")
    pip = os.path.join(tree, ".deps", "pip%d.%d" % sys.version_info[:2])
    os.makedirs(os.path.join(pip, "bin"))
    write(os.path.join(pip, ".pinned"), "%d.%d" % sys.version_info[:2])
    write(os.path.join(pip, "bin", "pip.py"), PIP)
    write(os.path.join(pip, "bin", "python"), '#!/bin/sh\nshift 2\nexec %s "%s/bin/pip.py" "$@"\n' % (BASE, pip))
    os.chmod(os.path.join(pip, "bin", "python"), 0o755)
    get = [BASE, os.path.join(tree, "tools", "get.py")]

    def left():
        return sorted(n for n in os.listdir(os.path.join(tree, ".deps")) if n.startswith("nvrtc") and not n.endswith(".lock"))

    write(os.path.join(tree, "fail"), "")
    r = run(get + ["nvrtc-12.9"], cwd=tree)
    check(r.code == 1 and "no network" in r.text and "tools/get.py nvrtc-12.9" in r.text and not left(), "a failed download: exit %d, %s\n%s" % (r.code, left(), r.text))
    os.remove(os.path.join(tree, "fail"))
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        write(os.path.join(tree, "wait"), "")
        p = subprocess.Popen(get + ["nvrtc-12.9"], cwd=tree, stderr=subprocess.DEVNULL, start_new_session=True)
        for _ in range(500):
            if os.path.exists(os.path.join(tree, "waiting")):
                break
            time.sleep(0.02)
        check(os.path.exists(os.path.join(tree, "waiting")), "the download did not begin")
        os.killpg(p.pid, stop)
        p.wait()
        os.remove(os.path.join(tree, "waiting"))
        os.remove(os.path.join(tree, "wait"))
        check(not os.path.exists(folder), "half a download is there after signal %d" % stop)
        check(stop == signal.SIGKILL or not left(), "signal %d leaves %s" % (stop, left()))
        check(run(get + ["--there", "nvrtc-12.9"], cwd=tree).code == 1, "half a download is taken for the whole")
    r = run(get + ["nvrtc-12.9"], cwd=tree)
    check(r.code == 0 and r.out.decode().strip() == folder and left() == ["nvrtc-12.9"] and os.path.exists(os.path.join(folder, "whole")), "after them: %s %s" % (left(), r.text))
    write(os.path.join(tree, "fail"), "")       # what is there is not fetched again; another version is
    check(run(get + ["nvrtc-12.9"], cwd=tree).code == 0, "what is there is fetched again")
    write(pins, "one==2\n")
    r = run(get + ["--there", "nvrtc-12.9"], cwd=tree)
    check(r.code == 1 and "not the version" in r.text, "another version is taken: %s" % r.text)
    check(run(get + ["nvrtc-12.9"], cwd=tree).code == 1 and left() == ["nvrtc-12.9"], "a failed download of another version: %s" % left())


def hashes():
    """Exact versions, each with hashes, and no word of where packages come from."""
    folder = os.path.join(ROOT, "tools", "requirements")
    for name in sorted(os.listdir(folder)):
        text = read(os.path.join(folder, name))
        rest = re.sub(r"(?m)^[\w-]+==[\w.]+(?: \\\n    --hash=sha256:[0-9a-f]{64})+$|^#.*$", "", text)
        check(not rest.strip() and "==" in text and "://" not in text, "tools/requirements/%s: %s" % (name, rest.strip()))


with tmpdir() as folder:
    folder = os.path.realpath(folder)
    machine(os.path.join(folder, "poison"))
    network(folder)
    whole_or_nothing(folder)
same_line()
hashes()
finish()
