"""Defines what porter and the process that plans send each other: requests go in pickled, answers come back as JSON.

The texts of kernels are answers, too: a kernel is its text and what the names in it stand for, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from porter.branch_coverage import Side
from porter.contract.model.dtype import DType
from porter.execution.job import Construction
from porter.launch_plan.steps import ElementType, KernelName, Number, Scalar, Step


@dataclass(frozen=True, slots=True)
class LanguageName:
    """A member of Triton's language: `tl.load`, `tl.math.exp`, `libdevice.tanh`, `triton.cdiv`; or a module: `tl`."""

    path: str


@dataclass(frozen=True, slots=True)
class Builtin:
    """A builtin function of Python, such as `range`."""

    name: str


@dataclass(frozen=True, slots=True)
class CompileTime:
    """A value that is known when the kernel is compiled (`tl.constexpr`)."""

    value: Binding


@dataclass(frozen=True, slots=True)
class Values:
    """A tuple of values."""

    items: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something that a kernel may not hold; `what` describes it."""

    what: str


Binding = Scalar | ElementType | KernelName | LanguageName | Builtin | CompileTime | Values | Foreign


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel or device function, called `key` in the plan and `name` in its `text`, which begins with `def`.

    `bindings` say what the names in it stand for that it does not define. `line` of `file` is where it begins.
    """

    key: str
    name: str
    text: str
    bindings: tuple[tuple[str, Binding], ...]
    noinline: bool
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor argument; its contents stay with porter. It is dense where it has no strides."""

    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    offset: int = 0


class Arguments(StrEnum):
    """The tensor objects that a call is given."""

    NEW = "new"  # none that the module has seen, elsewhere in memory
    SAME = "same"  # those of the last call with the same shapes
    SAME_PLACES = "same places"  # new objects where those lay


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The facts about its device that host code gets; memory is in bytes."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """One call of `function`. An argument is a tensor, a number, or None for a null pointer.

    `launch` has grid, block and shared bytes for a function that takes those, too. `configuration` is the one that
    autotuners choose, `answers` are the answers to `Read` steps, None where porter is asked; a call planned `alone`
    asks nothing, and reads zeros. `capturing` says that a stream is being captured. `lists` are as in a `Function`.
    """

    function: str
    arguments: tuple[TensorSpec | int | float | None, ...]
    device: DeviceFacts
    launch: tuple[tuple[int, int, int], tuple[int, int, int], int] | None = None
    construction: Construction | None = None
    objects: Arguments = Arguments.NEW
    configuration: int = 0
    capturing: bool = False
    answers: tuple[tuple[Number, ...], ...] | None = None
    alone: bool = False
    lists: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a call that did not return: `kind` is the value of a `FaultKind`; `line` is 0 where it is unknown."""

    kind: str
    message: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """The next steps of a call and the kernels they are the first to name.

    With `asks` the last step is a `Read` that waits for numbers; else the call is over, by a `Return` or by `ended`.
    `configurations` is the largest number that an autotuner chooses from. `branches` are the sides of host code's
    branches, where the call is over: True for those that it took.
    """

    steps: tuple[Step, ...]
    kernels: tuple[KernelText, ...]
    asks: bool = False
    ended: Ended | None = None
    configurations: int = 1
    branches: tuple[tuple[Side, bool], ...] = ()
