#!/usr/bin/env python3
"""What ctilec prints of placed IR through nvcc: no warning, no spill, and nothing that ptxas says about products it had to
serialise or about registers it could not change (C75xx). Usage: nvcc.py FILE.tir..."""
import os
import re
import subprocess
import sys
import tempfile


def main(files):
    nvcc = os.environ.get('NVCC')
    if not nvcc:
        print('no nvcc')
        return 77
    for path in files:
        with tempfile.TemporaryDirectory() as tmp:
            cu = os.path.join(tmp, 'k.cu')
            subprocess.run([os.environ['CTILEC'], path, '-o', cu], check=True)
            with open(path) as f:
                arch = re.search(r'^\tarch (\d+)\n(\tspecific\n)?', f.read(), re.M)
            number = arch.group(1) + ('a' if arch.group(2) else '')
            r = subprocess.run([nvcc, '-O3', f'-gencode=arch=compute_{number},code=sm_{number}', '-Xptxas', '-v', '-cubin', cu, '-o',
                                os.path.join(tmp, 'k.cubin')], capture_output=True, text=True)
            text = r.stdout + r.stderr
            spills = re.findall(r'(\d+) bytes spill', text)
            kernels = text.count('Compiling entry function')
            if r.returncode or 'warning' in text or re.search(r'C7\d\d\d', text) or any(int(n) for n in spills) or not kernels:
                print(text)
                sys.exit(f'{path}: not as it should be')
            print(f'{path}: {kernels} kernels')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
