"""References that `torch.compile` compiles: before anything is executed, and for each size."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from porter.contract.model.dtype import DType
from porter.execution.job import ScalarValue, TensorValue
from porter.native import entries
from porter.native.entries import Entries
from porter.native.memory import without_memory
from porter.native.requests import ReferenceEntry

_FUSED = "torch.relu(x) * factor"
_CALLED = "torch.mm(x, x.t())"  # PyTorch calls a library for it: unlike C++, that takes no time to compile


@pytest.fixture
def reference_of(tmp_path, monkeypatch):
    """Returns the compiled reference that computes so on the CPU, where there is no device."""
    monkeypatch.setattr(entries, "_DEVICE", "cpu")
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    path = tmp_path / "reference.py"

    def compiled(expression):
        path.write_text(f"import torch\n\ndef reference(x, factor):\n    return {expression}\n")
        return Entries().reference(ReferenceEntry(str(path), compiled=True))

    # What a few files do not repay: compiling headers first, and programs that try the processor's vectors.
    with torch._inductor.config.patch({"cpp_cache_precompile_headers": False, "cpp.vec_isa_ok": True}):
        yield compiled


def _graphs() -> int:
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


def _blank(*shape: int) -> list[object]:
    return without_memory([TensorValue(DType.FLOAT32, shape, np.zeros(0, np.float32)), ScalarValue(3.0)], "cpu")


def test_a_call_is_compiled_without_elements_and_executed_later(reference_of):
    reference = reference_of(_FUSED)
    reference.compile(_blank(64, 4097))
    compiled = _graphs()
    x = torch.randn(64, 4097)
    (answer,) = reference([x, 3.0])
    assert torch.equal(answer, torch.relu(x) * 3.0)
    assert compiled == _graphs() == 1


def test_another_size_is_compiled_when_it_is_called(reference_of):
    reference = reference_of(_CALLED)
    reference.compile(_blank(8, 16))
    x = torch.randn(8, 32)
    (answer,) = reference([x, 3.0])
    assert torch.equal(answer, torch.mm(x, x.t()))
    assert _graphs() == 2


def test_every_size_is_compiled_however_many_there_are(reference_of):
    reference = reference_of(_CALLED)
    for columns in range(2, 12):
        x = torch.randn(4, columns)
        (answer,) = reference([x, 3.0])
        assert torch.equal(answer, torch.mm(x, x.t()))
    assert _graphs() == 10  # PyTorch would leave off after eight


def test_tensors_without_memory_have_shape_and_type():
    value = TensorValue(DType.BFLOAT16, (1 << 20, 1 << 20), np.zeros(0, np.uint16))
    tensor, missing, number = without_memory([value, TensorValue.none(DType.FLOAT32), ScalarValue(2)], "cpu")
    assert isinstance(tensor, torch.Tensor)
    assert (tensor.shape, tensor.dtype, tensor.is_contiguous()) == ((1 << 20, 1 << 20), torch.bfloat16, True)
    assert (missing, number) == (None, 2)
