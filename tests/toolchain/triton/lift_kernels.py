"""Runs kernels in Triton's interpreter: `python lift_kernels.py FOLDER`, which has `lifted_module.py`."""

import os
import sys
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"
FOLDER = Path(sys.argv[1])
sys.path.insert(0, str(FOLDER))

import lifted_module  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

from porter_triton.device.corrections import correct  # noqa: E402

BLOCKS, THREADS = 2, 128


def main():
    """The output of each kernel, by its name."""
    correct()
    x = torch.from_numpy(np.random.default_rng(0).normal(size=BLOCKS * THREADS).astype(np.float32))
    results = {}
    for name, (kernel, constants) in lifted_module.KERNELS.items():
        out = torch.zeros(BLOCKS * THREADS)
        given = {"x": x, "out": out, "n": BLOCKS * THREADS, **constants}
        kernel[(BLOCKS,)](**{name: value for name, value in given.items() if name in kernel.arg_names})
        results[name] = out.numpy()
    np.savez(FOLDER / "results.npz", **results)


main()
