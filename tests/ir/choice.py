#!/usr/bin/env python3
"""Which variant a launcher takes: rules with a condition, then those with a cost, the least first, then the order of the variants.
A kernel of each variant writes its number."""
import os
import subprocess
import sys
import tempfile

KERNEL = '''
kernel k{i} typed {{
	source k
	dim n: i32
	param y: out tensor<i32, [n]> strides [1] right
	grid [1]
{where}	body (%y: tensor<i32, [_]>) {{
		%at = const {{value = 0}} : i32
		%x = const {{value = {i}}} : tile<i32, [1]>
		store %y, %at, %x {{steps = [1]}}
		return
	}}
}}
'''
ENTRY = '''
entry f {
	dim n: i32
	param y: out tensor<i32, [n]> strides [1] right
	body {
		let sms = multiprocessors
		launch k0, k1, k2, k3 (@y.0) dims [n] tuned {
			when any, n == 7 use 3
			when any use 0 cost n
			when any, n > 10 use 1 cost 100 + 0 * sms
			when any use 2 cost 200 / sms
		}
	}
}
'''
MAIN = '''
#include <stdint.h>
#include <stdio.h>
struct CUstream_st;
int f(void *y, int64_t n, struct CUstream_st *stream);
static int y[1000];
int main(void)
{
	static const int sizes[] = { 4, 5, 7, 50, 60, 99, 101, 102, 190, 300 };
	for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
		y[0] = -1;
		if (f(y, sizes[i], NULL)) return 1;
		printf("%d ", y[0]);
	}
	return 0;
}
'''
# n: 4 and 50 to k0, which is cheaper than 100 and 200; 5 and 99 are not for k0, whose where clause wants even sizes, and 5 not for k1; 7 has a rule
WANT = [0, 2, 3, 0, 0, 1, 1, 1, 1, 1]


def main():
    text = 'module "choice.ir"\n' + ''.join(
        KERNEL.format(i=i, where='\twhere n % 2 == 0 text "n % 2 == 0"\n' if i == 0 else '') for i in range(4)) + ENTRY
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, 'choice.ir')
        for name, content in ((path, text), (os.path.join(tmp, 'main.c'), MAIN)):
            with open(name, 'w') as f:
                f.write(content)
        out = os.path.join(tmp, 'choice.c')
        subprocess.run([os.environ['CTILEC'], '--target=c', path, '-o', out], check=True)
        program = os.path.join(tmp, 'program')
        subprocess.run([os.environ.get('CC', 'cc'), '-std=c11', '-Wall', '-Wextra', '-Werror', '-o', program, out, os.path.join(tmp, 'main.c'), '-lm'], check=True)
        r = subprocess.run([program], capture_output=True, text=True)
    got = [int(x) for x in r.stdout.split()]
    print('variants taken:', got)
    return r.returncode != 0 or got != WANT


if __name__ == '__main__':
    sys.exit(main())
