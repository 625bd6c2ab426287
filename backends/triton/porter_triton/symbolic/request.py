"""Requests to the process that carries plans out on symbols."""

from __future__ import annotations

from dataclasses import dataclass

from porter.contract.dtype import DType
from porter.launch_plan.steps import LaunchPlan
from porter_triton.records import KernelText


@dataclass(frozen=True, slots=True)
class InputTensor:
    """A tensor argument of a call, each element of which becomes a symbol; `name` is what the graph calls it."""

    name: str
    dtype: DType
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """A call at one choice of sizes: its plan, and its arguments; None stands for one that is no tensor."""

    plan: LaunchPlan
    arguments: tuple[InputTensor | None, ...]


@dataclass(frozen=True, slots=True)
class SymbolicRequest:
    """Calls of one function, and the texts of all kernels that they launch."""

    probes: tuple[Probe, ...]
    kernels: tuple[KernelText, ...]
