"""Contracts to test with: fixtures that are functions."""

from collections.abc import Callable

import pytest

from porter.comparison.compare import DEFAULT_TOLERANCE
from porter.contract.model.contract import (
    Argument,
    Contract,
    Entry,
    EntryKind,
    LaunchShape,
    Role,
    ScalarArg,
    TensorArg,
    Values,
    Workload,
)
from porter.contract.model.dtype import DType


def _tensor(name: str, *shape: str, role: Role = Role.IN, dtype: DType = DType.FLOAT32, **more: object) -> TensorArg:
    return TensorArg(name, role, dtype, shape, **more)  # type: ignore[arg-type]


def _contract(
    *arguments: Argument,
    symbols: tuple[str, ...] = ("n",),
    conditions: tuple[str, ...] = (),
    workloads: tuple[Workload, ...] = (),
) -> Contract:
    launch = LaunchShape(("cdiv(n, 256)", "1", "1"), ("256", "1", "1"))
    tolerance = {DType.FLOAT32: DEFAULT_TOLERANCE[DType.FLOAT32]}
    return Contract(
        "scale", "elementwise", Entry(EntryKind.KERNEL, "scale", ("float",), launch), arguments, symbols, conditions,
        workloads, tolerance,
    )  # fmt: skip


@pytest.fixture
def tensor() -> Callable[..., TensorArg]:
    return _tensor


@pytest.fixture
def contract() -> Callable[..., Contract]:
    return _contract


@pytest.fixture
def scale_contract() -> Contract:
    return _contract(
        _tensor("x", "n"),
        _tensor("y", "n", role=Role.OUT),
        _tensor("index", "n", dtype=DType.INT32, values=Values.INDEX, bound="n"),
        ScalarArg("factor", "float", "1.5"),
        ScalarArg("n", "int", "n"),
        workloads=(Workload("tiny", {"n": 5}, 7),),
    )
