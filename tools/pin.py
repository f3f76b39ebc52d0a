#!/usr/bin/env python3
"""Writes the hashes of tools/requirements/*.txt again: pin.py [FILE...]. The versions are those that stand in the files.

For each package it asks pip which wheel each supported Python on each supported kind of machine would take, and keeps the hash of
every one of them, so that the same files serve all. To move to another version, change it in the file and run this."""
import json
import os
import re
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requirements")
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
MACHINES = ["x86_64", "aarch64"]
TAGS = ["manylinux_2_28_", "manylinux_2_27_", "manylinux_2_17_", "manylinux2014_", "manylinux_2_12_", "manylinux2010_", "manylinux1_"]


def wheel(package, python, machine):
    """(name, hash) of the wheel that pip would take, None where there is none."""
    line = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run", "--ignore-installed", "--no-deps",
            "--only-binary", ":all:", "--target", "unused", "--report", "-", "--python-version", python, "--implementation", "cp"]
    for tag in TAGS:
        line += ["--platform", tag + machine]
    p = subprocess.run(line + [package], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        if b"No matching distribution" in p.stderr:
            return None
        sys.exit("pin: %s: %s" % (package, p.stderr.decode().strip()))
    found = json.loads(p.stdout)["install"][0]["download_info"]
    return os.path.basename(found["url"]), found["archive_info"]["hashes"]["sha256"]


def pinned(package):
    """The lines of one package."""
    wheels = {}
    for machine in MACHINES:
        for python in PYTHONS:
            found = wheel(package, python, machine)
            if not found:
                print("pin: %s has no wheel for Python %s on %s" % (package, python, machine))
                break
            wheels[found[0]] = found[1]
            if "-py3-none-" in found[0]:        # one for every Python
                break
    return package + "".join(" \\\n    --hash=sha256:" + digest for digest in wheels.values())


def main(files):
    for path in files:
        with open(path) as f:
            text = f.read()
        head = "".join(line for line in text.splitlines(True) if line.startswith("#"))
        packages = re.findall(r"(?m)^[\w-]+==[\w.]+", text)
        with open(path, "w") as f:
            f.write(head + "".join(pinned(p) + "\n" for p in packages))
        print("%s: %d packages" % (os.path.relpath(path), len(packages)))


main(sys.argv[1:] or sorted(os.path.join(FOLDER, n) for n in os.listdir(FOLDER) if n.endswith(".txt")))
