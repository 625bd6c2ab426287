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

_TEXT = """
import torch

def reference(x, factor):
    return torch.relu(x) * factor
"""


@pytest.fixture
def reference(tmp_path, monkeypatch):
    """The compiled reference on the CPU, where there is no device."""
    monkeypatch.setattr(entries, "_DEVICE", "cpu")
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    path = tmp_path / "reference.py"
    path.write_text(_TEXT)
    return Entries().reference(ReferenceEntry(str(path), compiled=True))


def _graphs() -> int:
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


def _blank(*shape: int) -> list[object]:
    return without_memory([TensorValue(DType.FLOAT32, shape, np.zeros(0, np.float32)), ScalarValue(3.0)], "cpu")


def test_a_call_is_compiled_without_elements_and_executed_later(reference):
    reference.compile(_blank(64, 4097))
    compiled = _graphs()
    x = torch.randn(64, 4097)
    (answer,) = reference([x, 3.0])
    assert torch.equal(answer, torch.relu(x) * 3.0)
    assert compiled == _graphs() == 1


def test_another_size_is_compiled_when_it_is_called(reference):
    reference.compile(_blank(8, 16))
    x = torch.randn(8, 32)
    (answer,) = reference([x, 3.0])
    assert torch.equal(answer, torch.relu(x) * 3.0)
    assert _graphs() == 2


def test_every_size_is_compiled_however_many_there_are(reference):
    for columns in range(2, 20):
        x = torch.randn(4, columns)
        (answer,) = reference([x, 3.0])
        assert torch.equal(answer, torch.relu(x) * 3.0)
    assert _graphs() == 18


def test_tensors_without_memory_have_shape_and_type():
    value = TensorValue(DType.BFLOAT16, (1 << 20, 1 << 20), np.zeros(0, np.uint16))
    tensor, missing, number = without_memory([value, TensorValue.none(DType.FLOAT32), ScalarValue(2)], "cpu")
    assert isinstance(tensor, torch.Tensor)
    assert (tensor.shape, tensor.dtype, tensor.is_contiguous()) == ((1 << 20, 1 << 20), torch.bfloat16, True)
    assert (missing, number) == (None, 2)
