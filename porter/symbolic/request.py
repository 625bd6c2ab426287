"""Requests to the process that carries plans out on symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from porter.contract.model.dtype import DType
from porter.ir.simt.ops import Function
from porter.launch_plan.steps import LaunchPlan


@dataclass(frozen=True, slots=True)
class InputTensor:
    """A tensor argument of a call, each element of which becomes a symbol; `name` is what the graph calls it."""

    name: str
    dtype: DType
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call at one choice of sizes: its plan, and its arguments; None stands for one that is no tensor."""

    plan: LaunchPlan
    arguments: tuple[InputTensor | None, ...]


@dataclass(frozen=True, slots=True)
class SymbolicRequest:
    """Calls of one entry, and all kernels that they launch, by the symbols that plans name them with.

    One that `is_evaluated` has one call, of which numbers are asked, else expressions of each are.
    """

    calls: tuple[PlannedCall, ...]
    kernels: Mapping[str, Function]
    is_evaluated: bool = False
