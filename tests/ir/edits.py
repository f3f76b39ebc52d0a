"""Programs with one change each that ctilec must refuse, or must accept: what protocol.py and copies.py share."""
import os
import re
import subprocess
import tempfile


def nth(pattern, by, text, n):
    """text with the n-th match replaced (None: all); None where there are not so many."""
    found = list(re.finditer(pattern, text))
    if not found or (n and len(found) < n):
        return None
    for m in reversed(found) if n is None else [found[n - 1]]:
        text = text[:m.start()] + m.expand(by) + text[m.end():]
    return text


def refused(programs):
    """programs: what the message must say (None: it must be accepted), the program as it was, and changed (None: the change did not apply).
    How many were not refused for that, or not accepted."""
    bad = count = 0
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, 'broken.tir')
        for i, (says, original, text) in enumerate(programs):
            count += 1
            if text is None or text == original:
                print(f'{i}: `{says}`: the change does not apply')
                bad += 1
                continue
            with open(path, 'w') as f:
                f.write(text)
            r = subprocess.run([os.environ['CTILEC'], '--emit=ir', path, '-o', os.path.join(tmp, 'out')], capture_output=True, text=True)
            if r.returncode != 0 if says is None else r.returncode != 1 or says not in r.stderr:
                first = r.stderr.split('\n')[0]
                print(f'{i}: wanted `{says or "acceptance"}`, got {r.returncode} {first}')
                bad += 1
    print(f'{count} programs, {bad} not refused for what is wrong with them, or refused without a reason')
    return bad
