"""A PyTorch extension on the executor: its numbers, its launches, and the faults of its host code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType, decode
from porter.dialect import CUDA
from porter.execution.job import (
    BuildRequest,
    Callee,
    Executable,
    FaultKind,
    Job,
    Run,
    ScalarValue,
    TensorValue,
    Value,
)
from porter.simt.build import build
from porter.simt.run import run
from porter.source_text import Source

PATH = Path(__file__).parent / "row_softmax.cu"
X = np.random.default_rng(0).normal(size=(5, 77))


@pytest.fixture(scope="module", params=[(32, False), (64, False), (32, True)], ids=["32", "64", "double precision"])
def softmax(request: pytest.FixtureRequest, build_cache: Path) -> Executable:
    """The extension at 32 and 64 lanes, and with `float` as `double`; kept between test runs."""
    warp_size, double_precision = request.param
    source, entry = Source(PATH, PATH.read_text()), Entry(EntryKind.TORCH, "row_softmax")
    wanted = BuildRequest(source, (), CUDA, (Callee(entry),), warp_size, double_precision=double_precision)
    (built,) = build(wanted, build_cache)
    assert isinstance(built, Executable), built.log
    return built


def matrix(values: NDArray[np.float64], executable: Executable) -> TensorValue:
    """A float32 argument, wide where the build's floats are."""
    stored = np.float64 if executable.request.double_precision else np.float32
    return TensorValue(DType.FLOAT32, values.shape, values.astype(stored))


def numbers(tensor: TensorValue) -> NDArray[np.float64] | NDArray[np.int64]:
    return decode(tensor.storage, tensor.dtype).reshape(tensor.shape)


def call(executable: Executable, *arguments: Value) -> Run:
    return run(executable, Job(arguments=arguments))


def test_numbers_are_those_of_pytorch(softmax: Executable) -> None:
    done = call(softmax, matrix(X, softmax), ScalarValue(0))
    assert done.finished
    assert done.faults == ()
    (launch,) = done.launches
    assert launch.grid == (5, 1, 1)
    assert launch.block == (128, 1, 1)
    values, top = done.results
    want = torch.tensor(X.astype(np.float32)).softmax(1).numpy()
    assert values.shape == (5, 77)
    np.testing.assert_allclose(numbers(values), want, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(numbers(top), X.max(1), rtol=1e-6)


def test_an_optional_tensor_broadcasts(softmax: Executable) -> None:
    bias = np.linspace(-1, 1, 77)
    done = call(softmax, matrix(X, softmax), matrix(bias, softmax))
    want = torch.tensor(X + bias).softmax(1).numpy()
    np.testing.assert_allclose(numbers(done.results[0]), want, rtol=1e-4, atol=1e-6)


def test_half_results_come_back_as_half(softmax: Executable) -> None:
    done = call(softmax, TensorValue(DType.FLOAT16, X.shape, X.astype(np.float16)), ScalarValue(0))
    assert [r.dtype for r in done.results] == [DType.FLOAT16, DType.FLOAT16]
    want = torch.tensor(X.astype(np.float16)).softmax(1).numpy()
    np.testing.assert_allclose(numbers(done.results[0]), want, rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("argument", "message", "text"),
    [
        (TensorValue(DType.INT32, (5, 77), np.zeros((5, 77), np.int32)), "not implemented for 'Int'", "AT_DISPATCH"),
        (TensorValue(DType.FLOAT16, (6,), np.zeros(6, np.float16)), "x must be a matrix, not [6]", "TORCH_CHECK(x.dim"),
    ],
)
def test_a_failed_check_is_a_fault_at_its_line(softmax: Executable, argument: Value, message: str, text: str) -> None:
    done = call(softmax, argument, ScalarValue(0))
    assert not done.finished
    (fault,) = done.faults
    line = next(i for i, content in enumerate(PATH.read_text().splitlines(), 1) if text in content)
    assert (fault.kind, fault.line) == (FaultKind.HOST_CHECK, line)
    assert message in fault.message


def test_a_source_may_have_shuffles_of_pytorchs_names(build_cache: Path) -> None:
    text = """
#include <torch/extension.h>
template <typename T>
__device__ T WARP_SHFL_XOR(T value, int lane, int width = 32, unsigned int mask = 0xffffffff) {
    return __shfl_xor_sync(mask, value, lane, width);
}
__global__ void summed(float* x) {
    for (int lane = 16; lane > 0; lane /= 2) x[threadIdx.x] += WARP_SHFL_XOR(x[threadIdx.x], lane, 32, 0xffffffff);
}
void f(torch::Tensor x) { summed<<<1, 32>>>(x.data_ptr<float>()); }
"""
    wanted = BuildRequest(Source(Path("op.cu"), text), (), CUDA, (Callee(Entry(EntryKind.TORCH, "f")),), 32)
    (built,) = build(wanted, build_cache)
    assert isinstance(built, Executable), built.log
    done = run(built, Job((TensorValue(DType.FLOAT32, (32,), np.ones(32, np.float32)),)))
    assert done.outputs[0].storage.tolist() == [32] * 32
