"""Holds the expressions found for the outputs of a call. Nothing here needs PyTorch, whose import takes seconds."""

from __future__ import annotations

from dataclasses import dataclass

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Expression

RESULT = "out"  # the name of the only result; of several they are numbered


@dataclass(frozen=True, slots=True)
class FittedOutput:
    """An output at the sizes of one probe."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class FittedProbe:
    """All outputs at the sizes of one probe, and the assumptions they rest on."""

    outputs: tuple[FittedOutput, ...]
    assumptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RefusedProbe:
    """A probe without an expression at its sizes: a window of one element is no window, a group of one no group."""

    because: str


@dataclass(frozen=True, slots=True)
class FittedProbes:
    """All probes, in the order in which they were asked."""

    probes: tuple[FittedProbe | RefusedProbe, ...]
