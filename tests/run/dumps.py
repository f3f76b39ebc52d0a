"""--dump-after shows every kernel that a version comes from, by its own name, after each pass of the PLACED form."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import *

r = ctilec("-w", "--versions=16", "--arch=sm_90a", "--no-header", "--dump-after=layouts", "--dump-after=pack", "--emit=cuda", "-o", os.devnull,
           os.path.join(ROOT, "samples", "softmax", "softmax.tile"))
check(r.code == 0, r.text)
for after in ("layouts", "pack"):
    texts = [t for t in re.split(r"(?m)^// after ", r.text) if t.startswith(after + ",")]
    names = re.findall(r'(?m)^kernel "?([\w.]+)"? placed', "".join(texts))
    for kind in ("", ".by_element", ".peeled"):
        check("softmax_f16_4096" + kind in names, "after %s no softmax_f16_4096%s: %s" % (after, kind, names[:20]))
    check(len(names) == len(set(names)), "after %s two kernels of one name" % after)
finish()
