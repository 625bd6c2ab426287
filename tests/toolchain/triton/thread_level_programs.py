"""Random functions of the SIMT IR as Triton in its interpreter: `python thread_level_programs.py COUNT FOLDER`.

Prints the seeds whose results differ from those of the IR's own interpreter, or that do not run, as JSON.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path

if __name__ == "__main__":
    os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import torch

from porter.ir.simt.ops import Function, Op, Value
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Scalar
from porter_triton.device.corrections import correct
from porter_triton.device.source import helper_source
from porter_triton.kernel_records import Dimension, LaunchInfo, LoweredKernel, ParameterKind
from porter_triton.thread_level.kernel import PreparedKernel, prepared, print_kernel
from tests.pure.ir.simt.random_programs import OUTPUTS, function, threads_of, varied
from tests.pure.ir.simt.test_interpret import blocks_of, by_interpreter, inputs, told_apart

HEAD = "import triton\nimport triton.language as tl\n"


def without_double_fma(op: Op) -> Replacement | None:
    """Triton's interpreter cannot hold the product of two doubles."""
    if op.kind != "fma" or op.result.type is not Scalar.F64:
        return None
    product, total = Value(Scalar.F64), Value(Scalar.F64)
    made = Op("mul", op.operands[:2], (product,)), Op("add", (product, op.operands[2]), (total,))
    return Replacement(made, (total,))


def by_triton(made: Function, given: list[np.ndarray], seed: int, folder: Path) -> list[np.ndarray]:
    blocks, threads = blocks_of(seed), threads_of(seed)
    launch = LaunchInfo((Dimension(threads), Dimension(1), Dimension(1)))
    kernel = print_kernel(PreparedKernel(prepared(made, launch), launch, "random_kernel", made.name, {}))
    outputs = [np.zeros(blocks * threads * OUTPUTS, values.dtype) for values in given]
    tensors = [torch.from_numpy(values) for values in (*map(np.copy, given), *outputs)]
    loaded(kernel, folder / f"random_{seed}.py")[(blocks,)](**passed(kernel, [*tensors, 7, 0.75], blocks))
    return outputs


def loaded(kernel: LoweredKernel, path: Path):
    path.write_text("\n\n".join((HEAD, helper_source(kernel.helpers), kernel.text)), "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, kernel.name)


def passed(kernel: LoweredKernel, own: list, blocks: int) -> dict:
    left, found = iter(own), {}
    for parameter in kernel.parameters:
        if parameter.kind in (ParameterKind.POINTER, ParameterKind.SCALAR):
            found[parameter.name] = next(left)
        elif parameter.kind is ParameterKind.SCRATCH:
            found[parameter.name] = torch.empty(parameter.elements * blocks * 64, dtype=getattr(torch, parameter.dtype))
    return found


def difference(seed: int, folder: Path) -> str:
    made, given = rewritten(function(seed), without_double_fma), inputs(seed)
    try:
        found = by_triton(made, given, seed, folder)
    except Exception as error:  # noqa: BLE001 - whatever stops it is the answer
        return f"{type(error).__name__}: {error}"
    return ", ".join(told_apart(found, by_interpreter(made, given, seed)))


if __name__ == "__main__":
    correct()
    wrong = {seed: difference(seed, Path(sys.argv[2])) for seed in varied(int(sys.argv[1]))}
    sys.stdout.write(json.dumps({seed: what for seed, what in wrong.items() if what}))
