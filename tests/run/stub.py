"""Every test that starts the compiler fails with one that does nothing: stub.py [-v] LABEL [REGEX]. In the compiler's place stands a
program that notes that it was started, prints nothing, writes nothing and exits with 0. A test that starts it and still passes is
satisfied by silence: it would pass, too, if what it looks at were lost. -v prints how each test ends; REGEX chooses tests by name."""
import json
import os
import re
import runpy
import sys
import time
import traceback

from common import *

STUB = """#!/bin/sh
: > "$CTILEC_STUB_CALLED"
"""
LIMIT = 60          # seconds of processor time for one test
JOBS = 2
# this test, and those that take long and never start the compiler
LEFT_OUT = "^tests/|^tree/|^build/pinned$|prelude|^sim/broken$"
# what all tests import: copies of this process have it already
import multiprocessing, random, shlex, shutil, struct
import numpy, ml_dtypes


def tests(label, names):
    """(name, command, environment) of the Python tests of this build; of several golden messages, each by itself"""
    listed = must(["ctest", "--show-only=json-v1", "-L", label, "-R", names, "-E", LEFT_OUT], cwd=os.path.join(BUILD, "tests"))
    for t in json.loads(listed.out)["tests"]:
        properties = {p["name"]: p["value"] for p in t["properties"]}
        if t["command"][0] == sys.executable:
            script, *arguments = t["command"][1:]
            for part in [[a] for a in arguments] if script.endswith("/run/diag.py") else [arguments]:
                name = " ".join([t["name"], *(os.path.basename(p) for p in part if len(part) < len(arguments))])
                yield name, [script, *part], dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", []))


def start(command, environment, log):
    """The test in a copy of this process, for starting Python once for each would take most of the time."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, resource.RLIM_INFINITY))         # tests set limits of their own
        os.chdir(ROOT)
        os.environ.update(environment)
        sys.argv = command
        sys.path[0] = os.path.dirname(command[0])
        del sys.modules["common"]           # it reads the environment
        runpy.run_path(command[0], run_name="__main__")
        status = 0
    except SystemExit as e:
        status = e.code if isinstance(e.code, int) else 0 if e.code is None else 1
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status & 255)


def main(args):
    verbose = args[:1] == ["-v"]
    args = args[verbose:]
    tried, running = 0, {}
    with tmpdir() as tmp:
        stub = os.path.join(tmp, "ctilec")
        write(stub, STUB)
        os.chmod(stub, 0o755)

        def end_one():
            pid, status = os.wait()
            name, mark, log, began = running.pop(pid)
            called = os.path.exists(mark)
            if verbose:
                print("%-40s %s status %d, %.2f s" % (name, "starts it," if called else "does not, ", status, time.time() - began))
            check(not called or status, "%s passes with a compiler that does nothing" % name)
            check(not os.WIFSIGNALED(status), "%s is ended by a signal:\n%s" % (name, read(log)[-2000:]))
            return called

        for name, command, environment in tests(args[0], (args + ["."])[1]):
            mark, log = (os.path.join(tmp, name.replace("/", "_") + end) for end in (".called", ".log"))
            environment.update(CTILEC=stub, CTILEC_STUB_CALLED=mark)
            sys.stdout.flush()
            running[start(command, environment, log)] = name, mark, log, time.time()
            if len(running) == JOBS:
                tried += end_one()
        while running:
            tried += end_one()
    print("%d tests start the compiler" % tried)
    check(tried, "no test starts the compiler")
    finish()


main(sys.argv[1:])
