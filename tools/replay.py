#!/usr/bin/env python3
"""Unpacks a repro file of --save-repro into a folder and runs the compilation again: replay.py FILE FOLDER [CTILEC].

Files get names of their own in FOLDER (000-name.tile); the arguments that named them are changed accordingly, and imports are
found by -I FOLDER/imports, where each file lies under its base name as well."""
import os
import subprocess
import sys


def unescape(s):
    return s.replace("\\n", "\n").replace("\\\\", "\\")


def unpack(data):
    arguments, files, at = [], [], 0
    while True:
        end = data.index(b"\n", at)
        key, _, value = data[at:end].decode("utf-8", "replace").partition(" ")
        at = end + 1
        if key == "argument":
            arguments.append(unescape(value))
        elif key == "file":
            size, _, path = value.partition(" ")
            files.append((unescape(path), data[at:at + int(size)]))
            at += int(size) + 1
        elif key == "end":
            return arguments, files
        else:
            print("%s %s" % (key, value))


def main(repro, folder, ctilec):
    with open(repro, "rb") as f:
        arguments, files = unpack(f.read())
    imports = os.path.join(folder, "imports")
    os.makedirs(imports, exist_ok=True)
    names = {}
    for i, (path, text) in enumerate(files):
        base = os.path.basename(path.strip("<>"))
        names[path] = os.path.join(folder, "%03d-%s" % (i, base))
        for place in (names[path], os.path.join(imports, base)):
            with open(place, "wb") as f:
                f.write(text)
    line, skip = [ctilec, "-I", imports], False
    for a in arguments:
        if skip:
            skip = False
        elif a in ("-o", "-MF"):
            skip = True
        elif not a.startswith(("--header", "--save-repro", "-MD")):
            line.append(names.get(a, names.get("<stdin>", a) if a == "-" else a))
    line += ["-o", os.path.join(folder, "out"), "--no-header"]
    print(" ".join(line))
    return subprocess.run(line).returncode


if len(sys.argv) < 3:
    print(__doc__)
    sys.exit(2)
sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "build/ctilec"))
