"""Sums in 16 bits: what the original itself rounds is allowed to a port, and what is wrong stays wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from porter.contract.infer.draft import draft
from porter.contract.model.dtype import DType, decode, encode
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.prove import Prover
from porter.evaluate.model.outcome import Fidelity, Verified, Wrong
from porter.evaluate.problem.bench import bench
from porter.execution.job import Job, LaunchRecord, Run, TensorValue
from porter.simt.compiler import missing_compiler
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit

TEXT = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
using T = TYPE;
using Sum = SUM;
__global__ void add(const T* x, float* y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    Sum sum = 0.0f;
    for (int i = 0; i < columns; i++) sum += Sum(x[row * columns + i]);
    y[row] = float(sum);
}
void sums(const T* x, float* y, int rows, int columns) { add<<<(rows + 63) / 64, 64>>>(x, y, rows, columns); }
"""
# By the type of the tensor the one its rows are added up in, as `compare` knows it and as C++ does.
TYPES = {
    "__half": (DType.FLOAT16, "__half"),
    "__nv_bfloat16": (DType.BFLOAT16, "__nv_bfloat16"),
    "__nv_fp8_e4m3": (DType.FLOAT16, "__half"),
}
Sum = Callable[[NDArray[np.float64], DType], NDArray[np.float64]]


def rounded(values: NDArray[np.float64], dtype: DType) -> NDArray[np.float64]:
    return decode(encode(values, dtype), dtype).astype(np.float64)


def pairwise(x: NDArray[np.float64], dtype: DType) -> NDArray[np.float64]:
    """The sum of each row in another order, as a tree adds it."""
    while x.shape[1] > 1:
        half = -(-x.shape[1] // 2)
        other = np.pad(x[:, half:], ((0, 0), (0, 2 * half - x.shape[1])))
        x = rounded(x[:, :half] + other, dtype)
    return x[:, 0]


def without_the_last(x: NDArray[np.float64], dtype: DType) -> NDArray[np.float64]:
    return pairwise(x[:, :-1], dtype)


def with_the_first_twice(x: NDArray[np.float64], dtype: DType) -> NDArray[np.float64]:
    return pairwise(np.hstack([x, x[:, :1]]), dtype)


def off_by_one_lane(x: NDArray[np.float64], dtype: DType) -> NDArray[np.float64]:
    return pairwise(np.roll(x.reshape(-1), 1).reshape(x.shape), dtype)


def of_every_other(x: NDArray[np.float64], dtype: DType) -> NDArray[np.float64]:
    return pairwise(x[:, ::2], dtype)


@dataclass(frozen=True)
class InPython:
    """A port that adds the rows in `dtype` by `add`."""

    fidelity = Fidelity.EMULATED
    add: Sum
    dtype: DType

    def candidates(self, contracts):
        return tuple((Candidate(None, self.run),) for _ in contracts)

    def run(self, job: Job) -> Run:
        x, y = (argument for argument in job.arguments if isinstance(argument, TensorValue))
        rows = decode(x.storage, x.dtype).astype(np.float64).reshape(y.storage.size, -1)
        result = self.add(rows, self.dtype).astype(np.float32).reshape(y.shape)
        launch = LaunchRecord("add", (1, 1, 1), (64, 1, 1), 0, 0)
        return Run(True, 0, (x, replace(y, storage=result)), (), (), (), (launch,), (), "", "", 0.0)


@pytest.fixture(params=list(TYPES), ids=str)
def outcome(request, build_cache):
    if missing_compiler():
        pytest.skip(missing_compiler())

    def prove(add: Sum) -> object:
        dtype, added_in = TYPES[request.param]
        program = parse(Source(Path("sums.cu"), TEXT.replace("TYPE", request.param).replace("SUM", added_in)))
        (contract,) = (c for c in draft(program) if c.name == "sums")
        with bench(build_cache, time_limit_s=20.0) as place:
            (proof,) = Prover(original_unit(program, (), ()), InPython(add, dtype), {}, place).prove(
                [contract], lambda _: None
            )
        return proof.entry.outcome

    return prove


def test_another_order_rounds_otherwise_and_is_right(outcome):
    proven = outcome(pairwise)
    assert isinstance(proven, Verified)
    assert {"odd", "odd, whole numbers"} <= {checked.name for checked in proven.checked}


@pytest.mark.parametrize("add", [without_the_last, with_the_first_twice, off_by_one_lane, of_every_other])
def test_no_rounding_excuses_another_sum(outcome, add):
    assert isinstance(outcome(add), Wrong)
