#!/usr/bin/env python3
"""Placed IR text: printing what was read, and reading that again, gives the same bytes; and ctilec prints it as CUDA twice alike.
Usage: text.py FILE.tir..."""
import os
import subprocess
import sys
import tempfile


def printed(*args):
    r = subprocess.run([os.environ['CTILEC'], *args, '-o', '-'], capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stderr)
    return r.stdout


def main(files):
    for path in files:
        text = printed('--emit=ir', path)
        with tempfile.TemporaryDirectory() as tmp:
            again = os.path.join(tmp, os.path.basename(path))
            with open(again, 'w') as f:
                f.write(text)
            if printed('--emit=ir', again) != text:
                sys.exit(f'{path}: reading and printing changes it')
        if printed('--emit=cuda', path) != printed('--emit=cuda', path):
            sys.exit(f'{path}: two outputs')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
