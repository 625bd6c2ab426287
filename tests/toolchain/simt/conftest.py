"""Builds small sources and runs them; executables are kept between test runs, by content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.dialect import CUDA
from porter.execution.job import BuildRequest, Callee, Executable, Job, Limits, Run, ScalarValue, TensorValue, Value
from porter.simt.build import build
from porter.simt.compiler import missing_compiler
from porter.simt.run import run
from porter.source_text import Source

_DTYPES = {
    "f4": DType.FLOAT32,
    "i4": DType.INT32,
    "u4": DType.UINT32,
    "f8": DType.FLOAT64,
    "u1": DType.UINT8,
    "i8": DType.INT64,
}

Execute = Callable[..., Run]


def value_of(given: object) -> Value:
    """An array as a tensor, anything else as a number."""
    if isinstance(given, np.ndarray):
        return TensorValue(_DTYPES[given.dtype.str[1:]], given.shape, given)
    assert isinstance(given, int | float)
    return ScalarValue(given)


@pytest.fixture(autouse=True)
def _needs_a_compiler() -> None:
    if missing_compiler():
        pytest.skip(missing_compiler())


@pytest.fixture
def build_text(build_cache: Path) -> Callable[..., Executable]:
    def build_it(text: str, name: str = "k", kind: EntryKind = EntryKind.KERNEL, **request: object) -> Executable:
        source, callee = Source(Path("/home/user/user.cu"), text), Callee(Entry(kind, name))
        base = BuildRequest(source, (), CUDA, (callee,), 32)
        (built,) = build(replace(base, **request), build_cache)
        assert isinstance(built, Executable), built.log
        return built

    return build_it


@pytest.fixture
def execute(build_text: Callable[..., Executable]) -> Execute:
    """Builds and runs: `execute(text, arguments, name, kind, limits, build={...}, **job)`."""

    def run_it(
        text: str,
        arguments: Sequence[object] = (),
        name: str = "k",
        kind: EntryKind = EntryKind.KERNEL,
        limits: Limits | None = None,
        build: dict[str, object] | None = None,
        **job: object,
    ) -> Run:
        executable = build_text(text, name, kind, **(build or {}))
        return run(executable, replace(Job(tuple(map(value_of, arguments))), **job), limits)

    return run_it
