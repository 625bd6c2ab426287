"""The steps of a launch plan.

A plan is what one call of a candidate's host code asks of a device: memory, moves, launches, and what it returns. It is
data without code: who wrote it cannot do anything beyond these steps, and whoever carries it out owns the memory.

Buffers are numbered; each number is made once, by `Input`, `Allocate`, `Constant` or `Compute`. A plan that uses the
number of an earlier call's plan uses memory that the candidate kept (`kept.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

Number = bool | int | float
MAIN_STREAM = 0
OUT = "out"


@dataclass(frozen=True, slots=True)
class TensorView:
    """A tensor in a buffer. `strides` and `offset` count elements of `dtype`, which has torch's name."""

    buffer: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number, a text or nothing, passed by value."""

    value: Number | str | None


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type passed by value; `name` is that of the backend's language."""

    name: str


@dataclass(frozen=True, slots=True)
class KernelName:
    """A kernel or device function of the plan, passed by value."""

    name: str


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address in eight bytes, `at` bytes from the begin of what holds them: that of byte `offset` of `buffer`."""

    at: int
    buffer: int
    offset: int


@dataclass(frozen=True, slots=True)
class Bytes:
    """An argument as it lies in memory, in base 64: a number, an address, a struct. `pointers` are addresses in it."""

    content: str
    pointers: tuple[Pointer, ...] = ()


@dataclass(frozen=True, slots=True)
class Sequence:
    """Several arguments passed as one."""

    items: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A tensor that a kernel reads and writes in blocks of the shape `block`; `padding` is what lies around it."""

    base: TensorView
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block: tuple[int, ...]
    padding: str


Argument = TensorView | Scalar | ElementType | KernelName | Descriptor | Bytes | Sequence


@dataclass(frozen=True, slots=True)
class Input:
    """The contents of argument `argument` of the call are in `buffer`, dense and row by row."""

    buffer: int
    argument: int


@dataclass(frozen=True, slots=True)
class Allocate:
    """New memory of `size_bytes`, which holds nothing that anybody may rely on; `by` is the call that asked for it.

    The host may use `shared` memory, too.
    """

    buffer: int
    size_bytes: int
    by: str = ""
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Free:
    """Nothing may use `buffer` any more."""

    buffer: int


@dataclass(frozen=True, slots=True)
class Variable:
    """The memory of the device's variable called `name`, which lives from one call to the next."""

    buffer: int
    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Constant:
    """New memory that holds `content`, in base 64: what the host made from sizes alone, and addresses of the device."""

    buffer: int
    content: str
    pointers: tuple[Pointer, ...] = ()


@dataclass(frozen=True, slots=True)
class Fill:
    """Every element of `to` becomes `value`."""

    to: TensorView
    value: Number
    stream: int = MAIN_STREAM


@dataclass(frozen=True, slots=True)
class Move:
    """Copies `source` to `to`, of the same shape: element by element, between floats or between integers rounded."""

    to: TensorView
    source: TensorView
    stream: int = MAIN_STREAM


@dataclass(frozen=True, slots=True)
class Compute:
    """Applies an operator of the library (`operator`, as torch names its overload).

    Its results are new buffers, or the arguments called `OUT`. They may be read; they may be used only where the
    original's own host code has the operator. `line` is that of the candidate, in C++ the number of the calls that
    lead there.
    """

    operator: str
    arguments: tuple[tuple[str, Argument], ...]
    results: tuple[TensorView, ...]
    stream: int = MAIN_STREAM
    line: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """Launches `kernel` on `grid` blocks. `arguments` and `options` are by name; `line` is that of the candidate."""

    kernel: str
    grid: tuple[int, int, int]
    arguments: tuple[tuple[str, Argument], ...]
    options: tuple[tuple[str, Scalar], ...] = ()
    stream: int = MAIN_STREAM
    line: int = 0


@dataclass(frozen=True, slots=True)
class Read:
    """The host reads the numbers of `source` and goes on: what follows may depend on them."""

    source: TensorView
    stream: int = MAIN_STREAM


@dataclass(frozen=True, slots=True)
class Wait:
    """`stream` goes on when all that `awaited` was given so far is done."""

    stream: int
    awaited: int


@dataclass(frozen=True, slots=True)
class Record:
    """`event` stands for all that `stream` was given so far."""

    event: int
    stream: int


@dataclass(frozen=True, slots=True)
class Await:
    """`stream` goes on when what `event` stands for is done."""

    event: int
    stream: int


@dataclass(frozen=True, slots=True)
class Synchronise:
    """The host waits for what `event` stands for, None for all that it asked for: such a call cannot be captured."""

    event: int | None = None


@dataclass(frozen=True, slots=True)
class Return:
    """The call ends with these results, in order: tensors, or numbers of the host."""

    results: tuple[TensorView | Scalar, ...]


Step = (
    Input
    | Allocate
    | Free
    | Variable
    | Constant
    | Fill
    | Move
    | Compute
    | Launch
    | Read
    | Wait
    | Record
    | Await
    | Synchronise
    | Return
)


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """The steps of one call, in order. `reads` are the numbers that its `Read` steps were answered with."""

    steps: tuple[Step, ...]
    reads: tuple[tuple[Number, ...], ...] = ()

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The launches, in order."""
        return tuple(step for step in self.steps if isinstance(step, Launch))

    @property
    def returned(self) -> tuple[TensorView | Scalar, ...]:
        """Returns what the call returns; nothing where it does not end."""
        last = self.steps[-1] if self.steps else None
        return last.results if isinstance(last, Return) else ()
