"""An operator in PyTorch's stable interface, on the executor and as a launcher in Triton."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.dialect import CUDA
from porter.execution.job import BuildRequest, Callee, Executable, FaultKind, Job, ScalarValue, TensorValue
from porter.simt.build import build
from porter.simt.run import run
from porter.source.parse import parse
from porter.source.program import HostForm
from porter.source_text import Source
from porter_triton.port import lowered

PATH = Path(__file__).parent / "stable_scale.cu"
X = np.arange(6.0).reshape(2, 3)
SOURCE = Source(PATH, PATH.read_text())


@pytest.fixture(scope="module")
def scale(build_cache: Path) -> Executable:
    entry = Entry(EntryKind.TORCH, "scale")
    (built,) = build(BuildRequest(SOURCE, (), CUDA, (Callee(entry),), 32), build_cache)
    assert isinstance(built, Executable), built.log
    return built


@pytest.mark.parametrize(("dtype", "stored"), [(DType.FLOAT32, np.float32), (DType.FLOAT64, np.float64)])
def test_the_executor_runs_it_for_each_type_of_its_dispatch(scale: Executable, dtype: DType, stored: type) -> None:
    done = run(scale, Job(arguments=(TensorValue(dtype, X.shape, X.astype(stored)), ScalarValue(0.5))))
    assert done.faults == ()
    assert done.results[0].storage.reshape(-1).tolist() == (0.5 * X).reshape(-1).tolist()


def test_its_own_check_is_a_check_of_the_host(scale: Executable) -> None:
    flat = TensorValue(DType.FLOAT32, (6,), X.astype(np.float32).reshape(-1))
    (fault,) = run(scale, Job(arguments=(flat, ScalarValue(0.5)))).faults
    assert fault.kind is FaultKind.HOST_CHECK
    assert "x must have two axes, not 1" in fault.message


def test_it_is_bound() -> None:
    program = parse(SOURCE)
    assert program.form is HostForm.TORCH_EXTENSION
    assert [binding.function for binding in program.bindings] == ["scale"]


def test_its_launcher_is_written_in_triton() -> None:
    made = lowered(parse(SOURCE), ())
    assert made.port.findings == ()
    text = made.port.files[0].text
    assert "y = x.new_empty((x.shape[0], x.shape[1]))" in text
    assert "if the_type == torch.float32:" in text
    assert 'fail(f"scale, x must have two axes, not {x.dim()}")' in text
