"""Runs or compiles the kernels of `function_table`: `function_table_kernels.py run|native|compile FOLDER COUNTS`."""

import json
import os
import sys
from pathlib import Path

if sys.argv[1] == "run":
    os.environ["TRITON_INTERPRET"] = "1"
FOLDER = Path(sys.argv[2])
sys.path.insert(0, str(FOLDER))

import numpy as np  # noqa: E402
import table_module  # noqa: E402
import torch  # noqa: E402


def run(counts):
    """Each kernel in the interpreter; the values by type into `values.npz`."""
    from porter_triton.device.corrections import correct

    correct()
    np.seterr(all="ignore")
    execute(counts, "cpu")


def native(counts):
    """Each kernel on the device that is here."""
    execute(counts, "cuda")


def execute(counts, device):
    held = np.load(FOLDER / "inputs.npz")
    given = [torch.from_numpy(held[t]).to(device) for t in counts]
    results = [torch.zeros(n * held["int32"].shape[1], dtype=_dtype(t), device=device) for t, n in counts.items()]
    for kernel in _kernels(table_module):
        kernel[(1,)](*given, *results)
    np.savez(FOLDER / "values.npz", **{t: r.cpu().numpy() for t, r in zip(counts, results, strict=True)})


def compile_all(counts):
    """Each kernel for two devices; what fails is printed."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = {"float32": "fp32", "float64": "fp64"}
    types = [f"*{names.get(t) or t.replace('uint', 'u').replace('int', 'i')}" for t in counts]
    for target in (GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)):
        for kernel in _kernels(table_module):
            signature = dict(zip(kernel.arg_names, types + types, strict=True))
            triton.compile(ASTSource(kernel, signature), target=target)


def _dtype(name):
    return getattr(torch, name)


def _kernels(module):
    return [value for name, value in vars(module).items() if name.startswith("rows_")]


if __name__ == "__main__":
    {"run": run, "native": native, "compile": compile_all}[sys.argv[1]](json.loads(sys.argv[3]))
