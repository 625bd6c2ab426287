"""The constants that torch has for element types: those of the executor's headers are known to launchers."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from porter.contract.analysis.elements import torch_constant
from porter.contract.model.dtype import DType

_WITHOUT_DTYPE = re.compile(r"Complex|Q|Bits|Undefined|NumOptions|fnuz")


def test_every_constant_of_the_executor_that_a_tensor_can_have_is_known() -> None:
    text = (files("porter.simt") / "include/porter/torch/scalar_type.h").read_text("utf-8")
    names = set(re.findall(r"\b(k[A-Z]\w*) =", text)) | set(re.findall(r"= (ScalarType::\w+)", text))
    named = sorted(name for name in names if not _WITHOUT_DTYPE.search(name))
    assert len(named) > 30
    assert [name for name in named if torch_constant(name) is None] == []


@pytest.mark.parametrize(("name", "dtype"), [("kUInt64", DType.UINT64), ("ScalarType::Half", DType.FLOAT16)])
def test_what_a_constant_stands_for(name: str, dtype: DType) -> None:
    assert torch_constant(name) is dtype


@pytest.mark.parametrize("name", ["Half", "kHalfway", "UInt64", "MyType::Half"])
def test_other_names_are_no_constants(name: str) -> None:
    assert torch_constant(name) is None
