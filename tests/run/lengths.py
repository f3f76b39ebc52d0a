"""Benchmarks are what users write: no function, kernel or entry of their sources has more than 25 lines."""
import glob
import os
import re

from common import check, read

MOST = 25


def check_lengths(folder):
    """Lines of each, without comments before it and empty lines."""
    for path in sorted(glob.glob(os.path.join(folder, "*.tile"))):
        at = None
        for line in read(path).splitlines():
            m = re.match(r"(?:kernel|entry|fn) (\w+)", line)
            if m:
                at, count = m.group(1), 0
            if at:
                count += bool(line.strip())
            if at and line.startswith("}") or (m and line.endswith("}")):
                check(count <= MOST, "%s: %s has %d lines" % (os.path.basename(path), at, count))
                at = None
