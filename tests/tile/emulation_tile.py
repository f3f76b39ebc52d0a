"""Builds emitted CUDA Tile C++ as a library whose kernels interpret.py runs: NVIDIA's front end makes Tile IR of the kernels; the host
part is compiled with stand-ins for the few functions of the CUDA runtime that launchers call."""
import ctypes
import os
import re
import subprocess
import sys

import interpret

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUNTIME = r"""
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef enum cudaError_t { cudaSuccess, cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction, cudaErrorLaunchFailure } cudaError_t;
enum { cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor, cudaDevAttrMultiProcessorCount };
struct dim3 { unsigned int x, y, z; dim3(unsigned int a, unsigned int b, unsigned int c) : x(a), y(b), z(c) {} };
static int (*launch)(const char *name, int64_t blocks, void **args);
extern "C" void interpret_with(int (*f)(const char *, int64_t, void **)) { launch = f; }
static inline cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3, void **args, size_t, struct CUstream_st *)
{ return launch((const char *)kernel, grid.x, args) ? cudaErrorLaunchFailure : cudaSuccess; }
static inline cudaError_t cudaGetLastError(void) { return cudaSuccess; }
static inline cudaError_t cudaGetDevice(int *device) { *device = 0; return cudaSuccess; }
static inline cudaError_t cudaDeviceGetAttribute(int *v, int, int) { *v = 1; return cudaSuccess; }
static inline cudaError_t cudaMemsetAsync(void *p, int v, size_t n, struct CUstream_st *) { memset(p, v, n); return cudaSuccess; }
static inline const char *cudaGetErrorString(cudaError_t) { return "a kernel failed"; }
"""


# what stands for a kernel: its name, of a template with its argument as in mangled names
KERNEL = 'static const char %s[] = "%s";\n'
KERNEL_TEMPLATE = 'template<bool> const char %s[] = "%sILb0E";\ntemplate<> const char %s<true>[] = "%sILb1E";\n'


def tool(name):
    """In the folder of the pinned nvcc that has Tile C++."""
    r = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "get.py"), "--there", "nvcc-tile"], capture_output=True, text=True)
    if r.returncode:
        sys.exit("FAILED: %s\n`sh tools/setup.sh test` gets it" % r.stderr.strip())
    return os.path.join(os.path.dirname(r.stdout.strip()), name)


def tile_ir(cu, out):
    subprocess.run([tool("nvcc"), "--enable-tile", "-std=c++20", "-arch=sm_90", "-w", "--tilebc", "-o", out + ".bc", cu], check=True)
    text = subprocess.run([tool("tileirdisasm"), out + ".bc"], check=True, capture_output=True, text=True).stdout
    with open(out, "w") as f:
        f.write(text)


def host_side(text):
    """The launchers over stand-ins: a kernel is a string, its name."""
    head, rest = text.split("\nnamespace {\n", 1)
    device, host = rest.split("\n} // namespace\n", 1)
    names = "".join(KERNEL_TEMPLATE % (k, k, k, k) if of else KERNEL % (k, k)
                    for of, k in re.findall(r"(template<bool ct_aligned>\n(?:\[\[.*\n)?)?static __tile_global__ void (\w+)\(", device))
    return RUNTIME + "".join(re.findall(r'^#include ".*"\n', head, re.M)) + "namespace ct_kernels {\n%s}\n" % names + host


def library(cu, lib):
    """cu, whose header lies beside it, as lib and lib.tileir."""
    cpp = lib + ".cpp"
    with open(cu) as f:
        text = host_side(f.read())
    with open(cpp, "w") as f:
        f.write(text)
    subprocess.run(["g++", "-std=c++17", "-O0", "-w", "-fPIC", "-shared", "-I" + os.path.dirname(os.path.abspath(cu)), "-o", lib, cpp], check=True)
    tile_ir(cu, lib + ".tileir")


def attach(lib, path):
    """lib, loaded from path, runs its kernels here from now on."""
    with open(path + ".tileir") as f:
        found = interpret.kernels(f.read())
    made = {}

    def kernel(name):
        if name not in made:
            plain = re.sub("ILb.E$", "", name)
            mangled = next(m for m in found if "%d%sE" % (len(plain), name) in m or m == name)
            made[name] = interpret.Kernel(name, *found[mangled])
        return made[name]

    def launch(name, blocks, args):
        name = name.decode()
        try:
            kernel(name).launch(blocks, args)
            return 0
        except (interpret.Undefined, AssertionError) as e:
            print("%s: %s" % (name, e))
            return 1
        except Exception:
            import traceback
            traceback.print_exc()
            return 1

    f = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p))(launch)
    lib.interpret_with(f)
    lib.keep = f
