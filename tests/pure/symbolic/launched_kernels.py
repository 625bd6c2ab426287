"""Calls of a kernel that are executed on symbols."""

import base64
import struct
from pathlib import Path

from porter.contract.model.dtype import DType
from porter.ir.simt.replay.kernels import Kernels
from porter.launch_plan.steps import (
    Allocate,
    Bytes,
    Fill,
    Input,
    Launch,
    LaunchPlan,
    Pointer,
    Return,
    Scalar,
    TensorView,
)
from porter.source.parse import parse
from porter.source_text import Source
from porter.symbolic.executor import executed
from porter.symbolic.request import InputTensor
from porter.syntax.read import read_unit

F32 = DType.FLOAT32


def pointer(buffer: int) -> Bytes:
    return Bytes(base64.b64encode(bytes(8)).decode(), (Pointer(0, buffer, 0),))


def whole(value: int) -> Bytes:
    return Bytes(base64.b64encode(struct.pack("<i", value)).decode())


def launched(
    kernel: str, inputs: tuple[InputTensor, ...], out: tuple[int, ...], *numbers: int, grid=1, block=32, bits=None
):
    """Returns what a kernel `k(inputs..., float* out, int...)` leaves in `out`, which holds `bits` if any."""
    unit = read_unit(parse(Source(Path("op.cu"), kernel)))
    count = len(inputs)
    size = 4
    for extent in out:
        size *= extent
    arguments = [*map(pointer, range(count + 1)), *map(whole, numbers)]
    options = {"block_x": block, "block_y": 1, "block_z": 1, "shared_bytes": 1024}
    strides = tuple(out[1] if axis == 0 and len(out) == 2 else 1 for axis in range(len(out)))
    steps = (
        *(Input(number, number) for number in range(count)),
        Allocate(count, size),
        *([Fill(TensorView(count, "uint32", (size // 4,), (1,), 0), bits)] if bits is not None else []),
        Launch("k", (grid, 1, 1), tuple((str(n), a) for n, a in enumerate(arguments)),
               tuple((name, Scalar(value)) for name, value in options.items())),
        Return((TensorView(count, "float32", out, strides, 0),)),
    )  # fmt: skip
    return executed({"k": Kernels(unit).function("k")}, LaunchPlan(steps), inputs)
