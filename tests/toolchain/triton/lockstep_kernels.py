"""Kernels that programs run in lockstep and one after the other: what both leave is printed as JSON."""

import hashlib
import json
import sys
from types import SimpleNamespace

import numpy as np
import torch
import triton
import triton.language as tl

from porter.execution.job import Schedule
from porter_triton.replay.interpreter import Interpreter, Launched
from porter_triton.replay.observation import Observation
from porter_triton.replay.watch import Region


@triton.jit
def twice(v):
    return v * 2


@triton.jit
def larger(a, i, b, j):
    other = (b > a) | ((b == a) & (j < i))
    return tl.where(other, b, a), tl.where(other, j, i)


@triton.jit
def tail(x, y, n, width: tl.constexpr):
    i = tl.program_id(0) * width + tl.arange(0, width)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, twice(tl.exp(v)) + tl.num_programs(0), mask=i < n)


@triton.jit
def rows(x, y, n, width: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, width)
    v = tl.load(x + row * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * n + i, e / tl.sum(e, axis=0), mask=i < n)
    tl.store(y + row * n, tl.argmax(v, axis=0).to(tl.float32))


@triton.jit
def tiles(x, y, n):
    at = tl.program_id(0) * 64 + tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    v = tl.load(x + at, mask=at < n, other=1.0)
    w = tl.dot(v, tl.trans(v), input_precision="ieee") + tl.cumsum(v, axis=1) + tl.sum(v, axis=0, keep_dims=True)
    top, where = tl.reduce((w, at), 1, larger)
    left, right = tl.split(tl.reshape(w, (8, 4, 2)))
    both = tl.reshape(tl.join(right, left), (64,)) + tl.max(w) + tl.sum(w, keep_dims=True).reshape((1,))
    both += tl.gather(both, (tl.arange(0, 64) * 5) % 64, 0) + tl.sort(both)
    both += tl.reshape(tl.broadcast_to((top + where)[:, None], (8, 8)), (64,)) + tl.min(w, axis=1).sum(axis=0)
    tl.store(y + tl.program_id(0) * 64 + tl.arange(0, 64), both + tl.associative_scan(both, 0, later, reverse=True))


@triton.jit
def later(a, b):
    return a * 0.5 + b


@triton.jit
def narrow(x, y, n, width: tl.constexpr):
    i = tl.program_id(0) * width + tl.arange(0, width)
    v = tl.load(x + i, mask=i < n, other=0.0)
    h = (v.to(tl.bfloat16) * 1.5).to(tl.float32) + v.to(tl.float16).to(tl.float32)
    bits = v.to(tl.int32, bitcast=True) >> 3
    noise = tl.rand(7, i) + tl.where((bits & 1) == 0, h, -h) + (i // 7 % 5) + tl.sqrt(tl.abs(v))
    tl.store(y + i, noise + (v.to(tl.int32) % 3), mask=i < n)


@triton.jit
def scalars(x, y, n):
    row = tl.program_id(0)
    first = tl.load(x + row * n, mask=row % 3 != 0, other=0.0)
    second = tl.load(x + row, mask=row % 2 == 0, other=2.5)
    tl.store(y + row * n, first + second, mask=row != 5)


@triton.jit
def uneven(x, y, n, width: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([width], tl.float32)
    for start in range(0, (row // 8 + 1) * width, width):
        i = start + tl.arange(0, width)
        total += tl.load(x + i, mask=i < n, other=0.0)
        tl.store(y + row * n + tl.arange(0, width), total, mask=tl.arange(0, width) < n)
        tl.debug_barrier()
    tl.debug_barrier()
    if row % 16 == 3:
        tl.store(y + row * n, -1.0)


@triton.jit
def searching(x, y, n):
    row, place = tl.program_id(0), 0
    while tl.load(x + row * n + place) < 1.0 and place < n - 1:
        place += 1
    tl.store(y + row * n, place.to(tl.float32))


@triton.jit
def shared(x, y, n, width: tl.constexpr):
    i = tl.arange(0, width)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, v, mask=i < n)


@triton.jit
def meeting(x, y, n, width: tl.constexpr):
    i = tl.arange(0, width)
    tl.store(y + i, tl.load(x + i, mask=i < n, other=0.0) + tl.program_id(0), mask=i < n)


@triton.jit
def neighbours(y, n, width: tl.constexpr):
    i = tl.program_id(0) * width + tl.arange(0, width)
    v = tl.load(y + i + 1, mask=i + 1 < n, other=0.0)
    tl.store(y + i, v + 1.0, mask=i < n)


@triton.jit
def overtaken(y):
    row = tl.program_id(0)
    tl.store(y, 1.0)
    if row == 0:
        tl.store(y, 2.0)


@triton.jit
def beyond(x, y, width: tl.constexpr):
    i = tl.program_id(0) * width + tl.arange(0, width)
    tl.store(y + i, tl.load(x + i))


@triton.jit
def refusing(y):
    tl.device_assert(tl.program_id(0) < 5, "too far")
    tl.store(y + tl.program_id(0), 1.0)


@triton.jit
def adding(y):
    tl.atomic_add(y, 1.0)


KERNELS = {
    function.__name__: (function, grid, count)
    for function, grid, count in (
        (tail, (9, 1, 1), 1100),
        (rows, (40, 1, 1), 37),
        (tiles, (30, 1, 1), 1900),
        (narrow, (3, 1, 1), 300),
        (scalars, (40, 1, 1), 37),
        (uneven, (40, 1, 1), 37),
        (searching, (40, 1, 1), 37),
        (shared, (6, 1, 1), 37),
        (meeting, (6, 1, 1), 37),
        (neighbours, (6, 1, 1), 700),
        (overtaken, (6, 1, 1), 37),
        (beyond, (18, 1, 1), 37),
        (refusing, (9, 1, 1), 37),
        (adding, (9, 1, 1), 37),
    )
}


def left(interpreter, name, schedule, *, apart):
    """Returns what a launch leaves: memory, what was noted, sides of branches; and whether it ran in lockstep."""
    function, grid, n = KERNELS[name]
    numbers = np.random.default_rng(3).normal(size=2048).astype(np.float32)
    x, y = torch.full((2, 8192), 7.0)[:, :2048]
    x.copy_(torch.from_numpy(numbers))
    interpreter.observation = seen = Observation(__file__, schedule, 5)
    interpreter.marks.forget()
    interpreter._apart = {name} if apart else set()
    regions = [Region.of(k, t.data_ptr(), t.data_ptr() + 4 * 2000, 4) for k, t in (("x", x), ("y", y))]
    known = {"x": x, "y": y, "n": n, "width": 128}
    arguments = {name: known[name] for name in function.arg_names}
    kernels = SimpleNamespace(may_wait=lambda: False, key_of=lambda _: name)
    error = ""
    try:
        interpreter.launch(function, Launched(name, name, grid, {}, 1), arguments, regions, kernels)
    except Exception as ended:  # noqa: BLE001 - how it ends is compared
        error = repr(ended)
    memory = hashlib.sha256(x.numpy().tobytes() + y.numpy().tobytes()).hexdigest()
    noted = sorted(f"{fault.kind} {fault.message} {fault.line} {fault.count}" for fault in seen.faults())
    sides = sorted(map(repr, interpreter.marks.coverage().taken))
    return {"lockstep": name not in interpreter._apart, "left": [memory, noted, sides, error]}


def main():
    """Prints what each kernel leaves, in both ways and in two orders of programs."""
    np.seterr(all="ignore")
    interpreter = Interpreter()
    sys.stdout.write(
        json.dumps(
            {
                name: [
                    [left(interpreter, name, schedule, apart=apart) for apart in (False, True)]
                    for schedule in (Schedule.FORWARD, Schedule.SHUFFLED)
                ]
                for name in KERNELS
            }
        )
    )


main()
