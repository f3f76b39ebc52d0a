"""torch.compile as a peer: max-autotune without CUDA graphs.

Nearly all of the seconds that a case takes are spent on compiling, one after the other, the configurations that its tuning tries. So
`bench.py warm` has them compiled by many processes at once, into a folder. What they measured meanwhile says little, for they shared the
device: no process keeps which configuration was fastest, and a measuring run, alone, tunes again, with binaries that are there."""
import json
import os

MODE = "max-autotune-no-cudagraphs"


def prepare(folder, jobs):
    """To be called before torch is imported: where compiled graphs and kernels lie; processes that share the cores compile by themselves."""
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(os.path.abspath(folder), "inductor"))
    if jobs > 1:
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"


def chosen_file(folder):
    return os.path.join(folder, "chosen.json")


class Compiler:
    """Compiles what cases give as `plain`, each once: its calls differ in their tensors only."""

    def __init__(self, torch, folder):
        import torch._inductor.config as config
        self.torch, self.name, self.fn = torch, None, None
        config.autotune_local_cache = False         # no tuning outlives its process
        try:
            with open(chosen_file(folder)) as f: self.chosen = set(json.load(f))
        except FileNotFoundError:
            self.chosen = set()

    def __call__(self, case):
        """The compiled function. Its first call compiles and tunes."""
        if self.name != case["name"]:
            self.torch._dynamo.reset()
            # A graph that was stored holds which library's convolution was fastest when it was made: such a choice is made again, too.
            self.torch.compiler.config.force_disable_caches = case["name"] in self.chosen
            self.name, self.fn = case["name"], self.torch.compile(case.get("plain", case["torch"]), mode=MODE, dynamic=False)
        return self.fn


def warm(compiler, case, args):
    """Leaves in the folder what tuning compiles. Whether a choice between libraries went into the graph."""
    from torch._dynamo.utils import counters
    before = counters["inductor"]["select_algorithm_autotune"]
    compiler(case)(*args)
    return counters["inductor"]["select_algorithm_autotune"] > before


def measure_briefly():
    """Tuning takes the steps it would take, about: a few calls of each configuration do for that, of a device that others use, too."""
    from torch._inductor.runtime.benchmarking import InductorBenchmarker
    whole = InductorBenchmarker.benchmark_gpu
    InductorBenchmarker.benchmark_gpu = lambda self, fn, **more: whole(self, fn, **{**more, "memory_warmup_iters": 5, "max_benchmark_duration": 3})
