"""Statements, kernels, and the launches that compute an operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from porter.contract.model.dtype import DType
from porter.ir.tensor.quantities import Quantity
from porter.ir.tile.expressions import Name, Value, parts


@dataclass(frozen=True, slots=True)
class Let:
    """`name` is `value` from here on; in a loop it may replace what it was."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Store:
    """Stores `value` at `pointer` where `mask` is true."""

    pointer: Value
    value: Value
    mask: Value | None
    eviction: str = ""


@dataclass(frozen=True, slots=True)
class Loop:
    """`body` for `name` from `start` below `stop` in steps of `step`; constant where it `is_unrolled`."""

    name: str
    start: Value
    stop: Value
    step: Value
    body: tuple[Statement, ...]
    stages: int = 0
    is_unrolled: bool = False


@dataclass(frozen=True, slots=True)
class Await:
    """Waits until `count` programs have come this far, which are counted at `pointer`, from 0.

    What each of them stored before is there for all behind it. All of them must be able to run at once.
    """

    pointer: Value
    count: Value


Statement = Let | Store | Loop | Await


@dataclass(frozen=True, slots=True)
class Kernel:
    """The work of one program. `sizes` are whole numbers, `numbers` fractions, `blocks` constants of compilation.

    Rows whose elements are neighbours begin at multiples of `strides`, which are some of the sizes.
    """

    name: str
    tensors: tuple[str, ...]
    sizes: tuple[str, ...]
    numbers: tuple[str, ...]
    blocks: tuple[str, ...]
    body: tuple[Statement, ...]
    strides: tuple[str, ...] = ()

    @property
    def stored_tensors(self) -> frozenset[str]:
        """Returns the names of the tensors that it writes."""
        named = {one.name: one.value for one in statements(self.body) if isinstance(one, Let)}
        pointers = (one.pointer for one in statements(self.body) if isinstance(one, Store))
        return frozenset(tensor for pointer in pointers for tensor in self.tensors if _leads(pointer, tensor, named))


@dataclass(frozen=True, slots=True)
class Host:
    """A value of host code: a whole number of sizes, `+ - * //`, `min`, `max`, `cdiv` and `pow2ceil`, or a test."""

    text: str


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch of `kernel` on a grid; names in `blocks` and the count of warps are numbers or computed by the host.

    With `when`, a condition on sizes, there is none for other sizes. Kernels that are compiled before they are called
    have tiles of other extents, too: those of `narrower` launches cover as many points, and `row` is the length of the
    rows of which tiles may be narrower.
    """

    kernel: str
    grid: tuple[Host, ...]
    blocks: tuple[tuple[str, Host], ...]
    warps: Host
    when: Host | None = None
    narrower: tuple[Launch, ...] = ()
    row: Host | None = None


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tensor that host code allocates, full of zeros where it `is_zeroed`."""

    name: str
    dtype: DType
    extents: tuple[Host, ...]
    is_zeroed: bool = False


@dataclass(frozen=True, slots=True)
class Operator:
    """Kernels, and the host code around them.

    `sizes` and `numbers` are what kernels are passed beside tensors, in the order in which they are computed;
    `demands` are conditions on sizes without which the kernels are not for a call, each with the reason.
    """

    name: str
    schedule: str
    sizes: tuple[tuple[str, Host], ...]
    numbers: tuple[tuple[str, Quantity], ...]
    demands: tuple[tuple[Host, str], ...]
    buffers: tuple[Buffer, ...]
    results: tuple[Buffer, ...]
    kernels: tuple[Kernel, ...]
    launches: tuple[Launch, ...]
    precision: DType = field(default=DType.FLOAT32)

    @property
    def stored_tensors(self) -> frozenset[str]:
        """Returns the names of the tensors that its kernels write."""
        return frozenset[str]().union(*(kernel.stored_tensors for kernel in self.kernels))


def statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yields all statements, those of loops behind the loop itself."""
    for statement in body:
        yield statement
        if isinstance(statement, Loop):
            yield from statements(statement.body)


def _leads(pointer: Value, tensor: str, named: Mapping[str, Value]) -> bool:
    """Returns whether a pointer is one into `tensor`, by itself or from where a row of it begins."""
    names = [one.name for one in parts(pointer) if isinstance(one, Name)]
    rows = [one.name for name in names if name in named for one in parts(named[name]) if isinstance(one, Name)]
    return f"{tensor}_ptr" in (*names, *rows)
