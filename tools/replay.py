#!/usr/bin/env python3
"""Unpacks a repro file of --save-repro into a folder and runs the compilation again: replay.py FILE [FOLDER] [CTILEC].

FOLDER must be new or empty; without one, a temporary folder is made and named. A repro may come from anybody, so nothing is written
outside of FOLDER, whatever it says: its files get the same places relative to each other in FOLDER/tree, outputs go to FOLDER/out,
and of its options (the compiler's table: --help=json) those that name a file or folder are left out or point into FOLDER. A kind of
value that this script does not know is refused."""
import json
import os
import re
import subprocess
import sys
import tempfile

DEPTH = 16                                      # of the folder that stands for the current one: so many `..` lead out of it
HERE = b"/".join([b"here"] * DEPTH)
VALUES = {"", "NAME=VALUE", "NAME", "NS", "TARGET", "LIST", "KIND", "WHEN", "OLD=NEW", "LEVEL", "N", "CODE", "FORM", "SIZES", "PASS"}        # that name no file
STAY_AWAY = {"-o", "--header", "-MF", "--save-repro"}       # outputs get names of their own


class Bad(Exception):
    """Why the file is not replayed."""


def shown(b):
    return "`%s`" % b.decode("utf-8", "backslashreplace").encode("unicode_escape").decode()[:200]


# ---- the file ----
def unescape(s):
    return re.sub(rb"\\(.)", lambda m: b"\n" if m.group(1) == b"n" else m.group(1), s, flags=re.S)


def read_repro(data):
    """Its arguments and its files, as (path, text); the first file is the input."""
    arguments, files, at = [], [], 0
    if not data.startswith(b"ctilec-repro 1\n"):
        raise Bad("this is no repro file: it does not begin with `ctilec-repro 1`")
    while True:
        end = data.find(b"\n", at)
        if end < 0:
            raise Bad("the file is cut: it has no `end`")
        key, _, value = data[at:end].partition(b" ")
        at = end + 1
        if key == b"argument":
            arguments.append(unescape(value))
        elif key == b"file":
            size, _, path = value.partition(b" ")
            if not re.fullmatch(rb"[0-9]{1,10}", size) or at + int(size) + 1 > len(data) or data[at + int(size):at + int(size) + 1] != b"\n":
                raise Bad("the length of file %s is wrong" % shown(path))
            files.append((unescape(path), data[at:at + int(size)]))
            at += int(size) + 1
        elif key == b"end":
            return arguments, files
        elif key not in (b"ctilec-repro", b"version", b"message"):
            raise Bad("an unknown line: %s" % shown(key))


# ---- places ----
def place(path):
    """Where a path of the repro lies below FOLDER/tree, without `.` and `..`."""
    if b"\0" in path:
        raise Bad("a path holds a NUL byte")
    parts = []
    for part in (path if path.startswith(b"/") else HERE + b"/" + path).split(b"/"):
        if part == b"..":
            if not parts:
                raise Bad("the path %s leads out of the tree" % shown(path))
            parts.pop()
        elif part not in (b"", b"."):
            parts.append(part)
    if not parts or sum(len(p) + 1 for p in parts) > 3000 or max(map(len, parts)) > 255:
        raise Bad("the path %s is too long, or none" % shown(path))
    return b"/".join(parts)


def add_file(tree, path, text):
    at = place(path)
    if tree.setdefault(at, text) != text:
        raise Bad("two files lie at %s" % shown(path))
    return at


# ---- options ----
def split_option(word, following, table):
    """The row of the table, the name, the value (None: there is none), and whether the value is the following word: as the compiler's
    driver/options.c has it, the longest name that fits."""
    best = None
    for row in table:
        for name in row["spellings"]:
            n, kind = name.encode(), row["argument"]
            rest = word[len(n):]
            joined = not name.startswith("--") and kind in ("required", "joined")
            if word.startswith(n) and (not rest or joined or (rest.startswith(b"=") and kind != "none")) and (best is None or len(n) > len(best[1])):
                value = None if not rest else rest[1:] if rest.startswith(b"=") and kind != "joined" else rest
                best = (row, n, value)
    if not best:
        raise Bad("the compiler has no option %s" % shown(word))
    row, name, value = best
    takes_next = row["argument"] == "required" and value is None
    if takes_next and following is None:
        raise Bad("the option %s lacks its value" % shown(word))
    return row, name, following if takes_next else value, takes_next


def one_word(row, name, value):
    return name if value is None else name + value if row["argument"] == "joined" else name + b"=" + value


def command_line(arguments, files, table, tree_path):
    """The arguments of the new run: each is one word that begins with `-`, or the input after `--`. tree_path(p): p in FOLDER/tree."""
    line, inputs, i, only_files = [], [], 0, False
    known = {place(path) for path, _ in files if not path.startswith(b"<")}
    while i < len(arguments):
        word = arguments[i]
        i += 1
        if b"\0" in word:
            raise Bad("an argument holds a NUL byte")
        if not only_files and word == b"--":
            only_files = True
        elif only_files or not word.startswith(b"-") or word == b"-":
            inputs.append(word)
        else:
            row, name, value, takes_next = split_option(word, arguments[i] if i < len(arguments) else None, table)
            i += takes_next
            if name.decode() in STAY_AWAY:
                continue
            if row["metavar"] == "DIR":
                line.append(name + tree_path(place(value)))
            elif row["metavar"] == "FILE":
                if place(value) not in known:
                    raise Bad("%s names %s, which is not in the repro" % (name.decode(), shown(value)))
                line.append(one_word(row, name, tree_path(place(value))))
            elif row["metavar"] in VALUES:
                line.append(one_word(row, name, value))
            else:
                raise Bad("the option %s takes a kind of value that replay.py does not know" % name.decode())
    if len(inputs) != 1 or not files:
        raise Bad("there are %d inputs and %d files" % (len(inputs), len(files)))
    return line, inputs[0]


def plan(data, table, folder):
    """What is written below `folder`, {path: text}, and the arguments of the run, whose current folder is tree/HERE."""
    arguments, files = read_repro(data)
    tree = {}

    def tree_path(at):
        return os.path.join(folder, b"tree", at)

    line, source = command_line(arguments, files, table, tree_path)
    first = True
    for path, text in files:
        from_stdin = first and source == b"-"
        first = False
        if from_stdin:
            continue
        at = add_file(tree, path, text)
        base = os.path.basename(at)
        tree.setdefault(b"imports/" + base, text)       # found by -I whatever folder it was found in
    if source != b"-" and place(source) not in tree:
        raise Bad("the input %s is not in the repro" % shown(source))
    line += [b"-I" + tree_path(b"imports"), b"-o", os.path.join(folder, b"out"), b"--no-header"]
    given = b"-" if source == b"-" else tree_path(place(source)) if source.startswith(b"/") else b"./" + source
    written = {os.path.join(b"tree", at): text for at, text in tree.items()}
    return written, line + [b"--", given], files[0][1] if source == b"-" else b""


# ---- doing it ----
def write_all(folder, written):
    os.makedirs(os.path.join(folder, b"tree", HERE), exist_ok=True)
    for at, text in written.items():
        path = os.path.join(folder, at)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as f:
            f.write(text)


def options_of(ctilec):
    return json.loads(subprocess.run([ctilec, "--help=json"], stdout=subprocess.PIPE, check=True).stdout)["options"]


def replay(repro, folder, ctilec):
    ctilec = os.path.abspath(ctilec)
    if folder is None:
        folder = tempfile.mkdtemp(prefix="ctilec-replay-")
    os.makedirs(folder, exist_ok=True)
    folder = os.fsencode(os.path.realpath(folder))
    if os.listdir(folder):
        raise Bad("the folder %s is not empty" % shown(folder))
    with open(repro, "rb") as f:
        written, line, given = plan(f.read(), options_of(ctilec), folder)
    write_all(folder, written)
    print("in %s: ctilec %s" % (os.fsdecode(folder), " ".join(shown(w)[1:-1] for w in line)), flush=True)
    return subprocess.run([os.fsencode(ctilec)] + line, input=given, cwd=os.path.join(folder, b"tree", HERE)).returncode


def main():
    if not 2 <= len(sys.argv) <= 4:
        print(__doc__)
        return 2
    try:
        return replay(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None, sys.argv[3] if len(sys.argv) > 3 else "build/ctilec")
    except (Bad, OSError) as e:
        print("replay: %s" % e, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
