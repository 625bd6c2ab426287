"""Holds what an execution on symbols answers, and reads it. Nothing here needs PyTorch, whose import takes seconds."""

from __future__ import annotations

from dataclasses import dataclass

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Expression
from porter.launch_plan.wire import decode

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


@dataclass(frozen=True, slots=True)
class Values:
    """The elements of a tensor, row by row."""

    name: str
    shape: tuple[int, ...]
    elements: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class EvaluatedProbe:
    """The answer of a call for some inputs."""

    inputs: tuple[Values, ...]
    outputs: tuple[Values, ...]


def read_evaluated(answer: bytes) -> EvaluatedProbe:
    """Returns what `answer.evaluated` wrote. Raises `WireError` for anything else."""
    return decode(EvaluatedProbe, answer)


def read(answer: bytes) -> FittedProbes:
    """Returns what `answer.lifted` wrote. Raises `WireError` for anything else."""
    return decode(FittedProbes, answer)
