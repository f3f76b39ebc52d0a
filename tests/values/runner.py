"""Builds kernels with ctilec for one target and calls them with numpy arrays through ctypes.

Three steps, so that a machine with a GPU needs no ctilec, and one with ctilec no GPU: `emit` writes a folder of C or CUDA
texts, `build` makes shared libraries of them too, `run` loads those. A case is one kernel, its inputs and a reference that knows nothing of ctilec.
"""
import ctypes, faulthandler, mmap, os, signal, subprocess, sys, traceback
import numpy as np
import ml_dtypes

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cuda"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tile"))

DTYPE = {
    "bool": np.dtype(np.uint8), "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32), "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8), "u16": np.dtype(np.uint16), "u32": np.dtype(np.uint32), "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "tf32": np.dtype(np.float32), "f8e4m3": np.dtype(ml_dtypes.float8_e4m3fn), "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
}


TARGETS = {"c": "c", "tile": "cuda-tile", "cuda-tile": "cuda-tile"}         # others: cuda; `tile` is interpreted, `cuda-tile` runs on a GPU
ON_GPU = "cuda", "cuda-tile"


class Host:
    """Arrays are used where they lie."""
    def upload(self, a): return a
    def pointer(self, h): return ctypes.c_void_p(h.ctypes.data)
    def download(self, h, like): return h
    def sync(self): pass


class Emulated:
    """Arrays are copied to memory that the emulation knows."""
    def __init__(self, lib):
        self.lib = lib
        lib.dev_alloc.restype = ctypes.c_void_p

    def upload(self, a):
        p = ctypes.c_void_p(self.lib.dev_alloc(ctypes.c_size_t(a.nbytes)))
        ctypes.memmove(p, a.ctypes.data, a.nbytes)
        return p

    def pointer(self, h): return h

    def download(self, h, like):
        out = np.empty_like(like)
        ctypes.memmove(out.ctypes.data, h, out.nbytes)
        return out

    def sync(self): pass


class Cuda:
    """Arrays are copied to the device through the CUDA runtime that the library itself is linked with."""
    def __init__(self, lib):
        self.lib = lib

    def check(self, status, what):
        if status:
            sys.exit(f"{what}: CUDA error {status}")

    def upload(self, a):
        p = ctypes.c_void_p()
        self.check(self.lib.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(max(a.nbytes, 1))), "cudaMalloc")
        self.check(self.lib.cudaMemcpy(p, ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(a.nbytes), 1), "cudaMemcpy")
        return p

    def pointer(self, h): return h

    def download(self, h, like):
        out = np.empty_like(like)
        self.check(self.lib.cudaMemcpy(ctypes.c_void_p(out.ctypes.data), h, ctypes.c_size_t(out.nbytes), 2), "cudaMemcpy")
        self.lib.cudaFree(h)
        return out

    def sync(self):
        self.check(self.lib.cudaDeviceSynchronize(), "a kernel")


def load(path, target):
    lib = ctypes.CDLL(os.path.abspath(path))
    lib.ctile_status_text.restype = ctypes.c_char_p
    if target == "tile":
        import emulation_tile
        emulation_tile.attach(lib, os.path.abspath(path))
    return lib, (Cuda(lib) if target in ON_GPU else Emulated(lib) if target == "emulated" else Host())


def call(lib, dev, name, args, outputs):
    """args: numpy arrays, or ctypes scalars, in the order of the C function, without the stream. outputs: indices of arrays
    to bring back. Returns the arrays; a status other than 0 is an error."""
    held, c = {}, []
    for i, a in enumerate(args):
        if isinstance(a, np.ndarray):
            held[i] = dev.upload(np.ascontiguousarray(a))
            c.append(dev.pointer(held[i]))
        else:
            c.append(a)
    status = getattr(lib, name)(*c, ctypes.c_void_p(None))
    if status:
        raise RuntimeError(f"{name}: status {status}: {lib.ctile_status_text(status).decode()}")
    dev.sync()
    out = [dev.download(held[i], args[i]) for i in outputs]
    if isinstance(dev, Cuda):
        for i in held:
            if i not in outputs:
                dev.lib.cudaFree(held[i])
    return out


def part_of(text):
    """I/N as two numbers; for argparse."""
    part, parts = (int(v) for v in text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError
    return part, parts


def part_name(name, part, parts):
    return name if parts == 1 else f"{name}.{part}of{parts}"


def emit(ctilec, target, source, folder, name, flags=()):
    """Compiles source text to folder/name.c or .cu, which is given."""
    os.makedirs(folder, exist_ok=True)
    tile = os.path.join(folder, name + ".tile")
    text = os.path.join(folder, name + (".c" if target == "c" else ".cu"))
    with open(tile, "w") as f:
        f.write(source)
    subprocess.run([ctilec, tile, f"--target={TARGETS.get(target, 'cuda')}", "-w", "-o", text, *flags], check=True)
    if not os.path.getsize(text):
        raise SystemExit(f"FAILED {text} is empty")
    return text


def build(ctilec, target, source, folder, name, flags=()):
    """Compiles source text to folder/name.so, which is given."""
    text = emit(ctilec, target, source, folder, name, flags)
    lib = os.path.join(folder, name + ".so")
    if target == "emulated":
        import emulation        # a machine that only runs tests lacks it
        emulation.library(os.environ.get("BUILD") or os.path.dirname(os.path.abspath(ctilec)), text, lib, os.environ.get("EMU_ARCH", "sm_80"))
    elif target == "tile":
        import emulation_tile
        emulation_tile.library(text, lib)
    elif target == "cuda":
        subprocess.run([os.environ.get("NVCC", "nvcc"), "-O1", "-std=c++17", "-arch=" + os.environ.get("CUDA_ARCH", "sm_90a"), "-shared", "-Xcompiler", "-fPIC",
                        "-cudart", "shared" if os.environ.get("CUDART_SHARED") else "static", "-Xlinker", "--export-dynamic",
                        "-o", lib, text], check=True)
    else:       # not optimized: built in half the time, and it runs briefly; samples and the library are compiled with -O2
        subprocess.run([os.environ.get("CC", "gcc"), "-std=c11", "-O0", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror",
                        *os.environ.get("VALUES_CFLAGS", "").split(), "-o", lib, text, "-lm"], check=True)
    return lib


def guarded(name, f):
    """Runs f(box) in a child and gives what it gives, a number of failures. A crash is one failure, and names the case that f
    wrote to the box last. The child ends without clean-up: what the CUDA runtime undoes at exit is no test's business. The
    parent must not have touched the GPU, since a child cannot use its context."""
    box = mmap.mmap(-1, 4096)
    sys.stdout.flush()
    child = os.fork()
    if not child:
        failed = 255
        try:
            faulthandler.enable()
            failed = min(f(box), 254)
        except SystemExit as e:
            print(f"FAILED {name} at {said(box)}: {e}")
        except BaseException:
            traceback.print_exc()
            print(f"FAILED {name} at {said(box)}: the test itself")
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(failed)
    _, end = os.waitpid(child, 0)
    if os.WIFSIGNALED(end):
        print(f"FAILED {name} at {said(box)}: signal {signal.Signals(os.WTERMSIG(end)).name}")
        return 1
    return os.WEXITSTATUS(end)


def say(box, case):
    box[:200] = case.encode()[:200].ljust(200, bytes(1))


def said(box):
    return bytes(box[:200]).rstrip(bytes(1)).decode()
