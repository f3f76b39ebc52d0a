"""Emitted CUDA and CUDA 12: nvrtc.py device|host.

device: the device's part of every sample through NVRTC 12.0 and 12.9 to machine code, each for two of the architectures that it knows,
in turn, so that every architecture sees a good part of the samples; the log must be empty, every kernel must be there. With ALL=1 each
sample is compiled for all of them. host: the host's part of every sample and of the library through the host's compiler with the
headers of CUDA 12.0. Both take what tools/get.py has fetched."""
import ctypes
import multiprocessing
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from emitted import *

PACKAGES = {"12.0": "cuda-12.0", "12.9": "nvrtc-12.9"}
VERSIONS = {"12.0": ["sm_80", "sm_89", "sm_90a"], "12.9": ["sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"]}
LISTS = ["", "sm_80,sm_89,sm_90a,sm_100,sm_120"]
EACH = 2            # architectures for each sample and version


def package(name):
    """The folder that tools/get.py has fetched; some kinds of machines have no packages of it."""
    r = run([sys.executable, os.path.join(ROOT, "tools", "get.py"), "--there", name])
    if r.code == 3:
        skip(r.text.strip())
    if not check(r.code == 0, r.text.strip() + "\n`sh tools/setup.sh test` gets it"):
        finish()
    return r.out.decode().strip()


def find(folder, start):
    for top, _, names in sorted(os.walk(folder)):
        for n in sorted(names):
            if n.startswith(start):
                return os.path.join(top, n)
    fail("no %s in %s" % (start, folder))
    finish()


class Nvrtc:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)

    def version(self):
        a, b = ctypes.c_int(), ctypes.c_int()
        self.lib.nvrtcVersion(ctypes.byref(a), ctypes.byref(b))
        return "%d.%d" % (a.value, b.value)

    def text_of(self, program, what):
        n = ctypes.c_size_t()
        getattr(self.lib, "nvrtcGet%sSize" % what)(program, ctypes.byref(n))
        text = ctypes.create_string_buffer(n.value or 1)
        getattr(self.lib, "nvrtcGet" + what)(program, text)
        return text.raw[:n.value]

    def compile(self, text, name, arch):
        """(status, log, machine code), which nobody runs: hardly optimized where NVRTC can do so and says no more for it, as it does of text
        with wgmma that is not."""
        program = ctypes.c_void_p()
        self.lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None)
        quick = self.version() == "12.9" and not (arch.endswith("a") and "ct_wgmma_" in text)
        options = [b"--gpu-architecture=" + arch.encode(), b"--std=c++11", b"--Ofast-compile=max" if quick else b"--ptxas-options=-O1"]
        status = self.lib.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        log = self.text_of(program, "ProgramLog").rstrip(b"\0").decode("utf-8", "replace").strip()
        code = self.text_of(program, "CUBIN") if status == 0 else b""
        self.lib.nvrtcDestroyProgram(ctypes.byref(program))
        return status, log, code


def compile_one(job):
    """In a process of its own, because compilations in one process wait for each other: (what, status, log, kernels without code)"""
    library, version, name, text, arch = job
    kernels = re.findall(r"^static __global__ void [^\n]*\n(\w+)\(", text, re.M)
    status, log, code = Nvrtc(library).compile(text, name + ".cu", arch)
    return "%s, NVRTC %s for %s" % (name, version, arch), status, log, [k for k in kernels if k.encode() not in code] if kernels else ["?"]


def device():
    libraries = {v: find(package(PACKAGES[v]), "libnvrtc.so") for v in VERSIONS}
    for version, path in libraries.items():
        have = Nvrtc(path).version()
        check(have == version, "NVRTC says that it is %s, not %s" % (have, version))
    jobs = []
    with tmpdir() as tmp:
        for i, (name, path, options) in enumerate(samples(tmp)):
            archs = LISTS[i % len(LISTS)]
            out = os.path.join(tmp, "k.cu")
            if emit(name, path, options + (["--arch=" + archs] if archs else []), out):
                text = read(out)
                for version, known in VERSIONS.items():
                    each = len(known) if os.environ.get("ALL") else EACH
                    jobs += [(libraries[version], version, name, text, known[(EACH * i + k) % len(known)]) for k in range(each)]
    jobs.sort(key=lambda job: -len(job[3]))         # the longest first, so that no process waits for it alone
    with multiprocessing.Pool(min(2, os.cpu_count() or 1)) as pool:
        for what, status, log, missing in pool.imap(compile_one, jobs):
            check(status == 0 and not log, "%s: status %d\n%s" % (what, status, log[-2000:]))
            check(status or not missing, "%s: not in the machine code: %s" % (what, missing))
    seen = {(version, arch) for _, version, _, _, arch in jobs}
    check(len(seen) == sum(map(len, VERSIONS.values())), "not all architectures are tried: %s" % sorted(seen))
    print("%d compilations" % len(jobs))


def host():
    # the runtime's headers include some that come with nvcc
    top = os.path.join(package("cuda-12.0"), "nvidia")
    headers = [os.path.join(top, n, "include") for n in ("cuda_runtime", "cuda_nvcc")]
    for folder, name in zip(headers, ("cuda_runtime.h", "crt/host_config.h")):
        check(os.path.exists(os.path.join(folder, name)), "no %s in %s" % (name, folder))
    include = [a for folder in headers for a in ("-isystem", folder)]
    done = 0
    with tmpdir() as tmp:
        ir = [(n, os.path.join(ROOT, "tests", "ir", n), ["--arch=sm_90a"]) for n in ("gemm_bf16.tir", "attention_f16.tir")]
        for name, path, options in samples(tmp) + library(tmp) + ir:
            out = os.path.join(tmp, "k.cu")
            if emit(name, path, options, out):
                write(os.path.join(tmp, "host.cpp"), host_side(read(out)))
                for cc in ("g++", "clang++"):
                    if shutil.which(cc):
                        r = run([cc, "-std=c++11", "-c", "-o", os.path.join(tmp, "host.o"), "-Wall", "-Wextra", "-Werror", "-I" + tmp] + include + [os.path.join(tmp, "host.cpp")])
                        check(r.code == 0, "%s with %s:\n%s" % (name, cc, r.text[-3000:]))
                        done += 1
    check(done, "neither g++ nor clang++ is here")
    print("%d compilations" % done)


{"device": device, "host": host}[sys.argv[1]]()
finish()
