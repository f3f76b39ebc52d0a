"""Emitted CUDA and CUDA 12: nvrtc.py device|host.

device: the device's part of every sample through NVRTC 12.0 and 12.9 to machine code, for the architectures each of them knows; the
log must be empty, every kernel must be there. host: the host's part of every sample through the host's compiler with the headers of
CUDA 12.0. Both fetch pinned packages from PyPI into .deps/ once, and are skipped where that is not possible."""
import ctypes
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from emitted import *

VERSIONS = {"12.0": ["sm_80", "sm_89", "sm_90a"], "12.9": ["sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"]}
LISTS = ["", "sm_80,sm_89,sm_90a,sm_100,sm_120"]


def package(name, version):
    """The folder .deps/NAME-VERSION with that package."""
    folder = os.path.join(ROOT, ".deps", "%s-%s" % (name, version))
    if not os.path.isdir(folder):
        new = folder + ".%d.new" % os.getpid()
        r = run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore", "--no-deps",
                 "--only-binary", ":all:", "--target", new, "%s==%s.*" % (name, version)], timeout=500)
        if r.code:
            shutil.rmtree(new, ignore_errors=True)
            skip("%s %s is not in .deps and cannot be fetched:\n%s" % (name, version, r.text[-400:]))
        try:
            os.rename(new, folder)
        except OSError:             # another run was faster
            shutil.rmtree(new, ignore_errors=True)
    return folder


def find(folder, start):
    for top, _, names in sorted(os.walk(folder)):
        for n in sorted(names):
            if n.startswith(start):
                return os.path.join(top, n)
    fail("no %s in %s" % (start, folder))
    finish()


class Nvrtc:
    def __init__(self, version):
        path = find(package("nvidia-cuda-nvrtc-cu12", version), "libnvrtc.so")
        self.lib = ctypes.CDLL(path)
        a, b = ctypes.c_int(), ctypes.c_int()
        self.lib.nvrtcVersion(ctypes.byref(a), ctypes.byref(b))
        check("%d.%d" % (a.value, b.value) == version, "NVRTC says that it is %d.%d, not %s" % (a.value, b.value, version))

    def text_of(self, program, what):
        n = ctypes.c_size_t()
        getattr(self.lib, "nvrtcGet%sSize" % what)(program, ctypes.byref(n))
        text = ctypes.create_string_buffer(n.value or 1)
        getattr(self.lib, "nvrtcGet" + what)(program, text)
        return text.raw[:n.value]

    def compile(self, text, name, arch):
        """(status, log, machine code)"""
        program = ctypes.c_void_p()
        self.lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None)
        options = [b"--gpu-architecture=" + arch.encode(), b"--std=c++11"]
        status = self.lib.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        log = self.text_of(program, "ProgramLog").rstrip(b"\0").decode("utf-8", "replace").strip()
        code = self.text_of(program, "CUBIN") if status == 0 else b""
        self.lib.nvrtcDestroyProgram(ctypes.byref(program))
        return status, log, code


def device():
    compilers = {v: Nvrtc(v) for v in VERSIONS}
    done = 0
    with tmpdir() as tmp:
        for i, (name, path, options) in enumerate(samples(tmp)):
            archs = LISTS[i % len(LISTS)]
            out = os.path.join(tmp, "k.cu")
            if not emit(name, path, options + (["--arch=" + archs] if archs else []), out):
                continue
            text = read(out)
            kernels = re.findall(r"^(?:static )?(?:extern \"C\" )?__global__ void [^\n]*\n(\w+)\(", text, re.M)
            check(kernels, "%s: no kernel found in the text" % name)
            for version, known in VERSIONS.items():
                for arch in known:
                    status, log, code = compilers[version].compile(text, name + ".cu", arch)
                    what = "%s, NVRTC %s for %s" % (name, version, arch)
                    check(status == 0 and not log, "%s: status %d\n%s" % (what, status, log[-2000:]))
                    missing = [k for k in kernels if k.encode() not in code]
                    check(status or not missing, "%s: not in the machine code: %s" % (what, missing))
                    done += 1
    print("%d compilations" % done)


def host():
    headers = os.path.join(package("nvidia-cuda-runtime-cu12", "12.0"), "nvidia", "cuda_runtime", "include")
    check(os.path.exists(os.path.join(headers, "cuda_runtime.h")), "no cuda_runtime.h in %s" % headers)
    done = 0
    with tmpdir() as tmp:
        for name, path, options in samples(tmp) + library(tmp):
            out = os.path.join(tmp, "k.cu")
            if emit(name, path, options, out):
                write(os.path.join(tmp, "host.cpp"), host_side(read(out)))
                for cc in ("g++", "clang++"):
                    if shutil.which(cc):
                        r = run([cc, "-std=c++11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I" + tmp, "-isystem", headers, os.path.join(tmp, "host.cpp")])
                        check(r.code == 0, "%s with %s:\n%s" % (name, cc, r.text[-3000:]))
                        done += 1
    check(done, "neither g++ nor clang++ is here")
    print("%d compilations" % done)


def host_side(text):
    """What nvcc gives to the host's compiler: kernels are declared only, functions of the device are gone."""
    kernels = re.findall(r"^(static __global__ void [^\n]*\n\w+\([^{]*\))\n\{", text, re.M)
    first, last = text.index("#define CT_FN"), text.index("#ifndef __CUDACC_RTC__\n#include <stdarg.h>")
    stubs = "".join("%s { }\n" % re.sub(r"\b(\w+)(?=[,)])", r"", k, flags=0) for k in map(plain, kernels))
    return "#include <cuda_runtime.h>\n" + text[:first] + stubs + text[last:]


def plain(kernel):
    """A kernel's head as a function of the host, its parameters without their names."""
    kernel = re.sub(r"static __global__ void __launch_bounds__\([^\n]*\)\n", "static void ", kernel)
    return kernel


{"device": device, "host": host}[sys.argv[1]]()
finish()
