"""Values that the machine does not compute itself: floats, and whatever depends on them.

A value is an array of numpy with an element for each lane, or one element for all. Integers, truth values and addresses
are numbers; floats are what the domain makes of them. A domain may have values of any type that are not known: these
have the dtype `SYMBOL`, whose meaning is the domain's own, and the machine hands it everything that they occur in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from porter.ir.simt.ops import NOWHERE, Location
from porter.ir.simt.types import Element, Pointer, Scalar, Type

Data = NDArray[Any]
Datum = Data | tuple[Data, ...]  # of a vector a value for each component
Mask = NDArray[np.bool_]
# Two fields, though one says all: numpy takes an array with one field for numbers where it is asked to convert it.
SYMBOL = np.dtype([("node", np.int64), ("symbol", np.int64)])


class ExecutionError(Exception):
    """A function does what no device allows, or what the interpreter does not do; the message says what and where."""

    def __init__(self, message: str, location: Location = NOWHERE) -> None:
        super().__init__(message)
        self.message, self.location = message, location

    def __str__(self) -> str:
        return f"line {self.location}: {self.message}" if self.location.line else self.message


class Memory(Protocol):
    """Buffers of bytes by their addresses."""

    def allocate(self, size_bytes: int, rows: int) -> tuple[int, int]:
        """Makes `rows` memories of `size_bytes`, which hold nothing.

        Returns the address of the first and the distance between two.
        """
        ...

    def free(self, address: int) -> None:
        """Takes back what was allocated at `address`."""
        ...

    def load(self, addresses: Data, mask: Mask, type: Element, *, noted: bool = False) -> Datum:
        """Returns the elements at `addresses` in the lanes of `mask`. Raises `ExecutionError`.

        Of what is `noted` it was said before that lanes update it.
        """
        ...

    def store(
        self, addresses: Data, value: Datum, mask: Mask, predicate: Data | None, type: Element, *, noted: bool = False
    ) -> None:
        """Puts `value` at `addresses` in the lanes of `mask`, the last of several; where `predicate` is true, if given.

        Raises `ExecutionError`.
        """
        ...

    def note_updates(self, addresses: Data, mask: Mask, kind: str, type: Scalar) -> Mask:
        """Notes that the lanes of `mask` update elements by atomics of one kind.

        Returns those of them that find something else in another order of threads.
        """
        ...


class Order(Protocol):
    """A listener that is told when threads wait for each other."""

    def run(self, first: int, count: int) -> None:
        """`count` blocks of the launch run together, beginning with block `first`."""
        ...

    def barrier(self, mask: Mask) -> None:
        """The lanes of `mask` pass a barrier of their block."""
        ...

    def meet(self, mask: Mask, named: Data) -> None:
        """The lanes of `mask` pass an operation with those of their warp that they name, by bits."""
        ...

    def fence(self, mask: Mask) -> None:
        """The lanes of `mask` fence: other blocks see what these wrote so far before what they write next."""
        ...


class Domain(Protocol):
    """Floats, and values that are not known."""

    def number(self, value: float, type: Scalar) -> Data:
        """Returns a float that the function names."""
        ...

    def undefined(self, type: Scalar) -> Data:
        """Returns a value that nobody may rely on."""
        ...

    def apply(self, kind: str, type: Scalar, given: Sequence[Scalar], operands: Sequence[Data]) -> Data:
        """Returns the operation `kind` with a result of `type` on operands of the types `given`."""
        ...

    def select(self, condition: Data, yes: Data, no: Data, type: Scalar) -> Data:
        """Returns `yes` where `condition` is true, else `no`."""
        ...

    def decided(self, value: Data, type: Scalar, mask: Mask) -> Data:
        """Returns a value as numbers, garbage outside of `mask`. Raises `ExecutionError` where it is not known."""
        ...

    def certain(self, condition: Data) -> tuple[Mask, Mask]:
        """Returns the lanes in which `condition` is true whatever the data are, and those in which it is false."""
        ...

    def found(self, each: Sequence[Data], type: Scalar, contested: Mask) -> Data:
        """Returns what atomics of one lane each found, together: `contested` is in another order of threads another."""
        ...

    def moved(self, base: Data, index: Data, size_bytes: int, mask: Mask) -> Data:
        """Returns addresses `index` elements of `size_bytes` further on; not every domain lets data decide them."""
        ...


_NUMPY = {
    Scalar.BOOL: np.bool_, Scalar.I8: np.int8, Scalar.I16: np.int16, Scalar.I32: np.int32, Scalar.I64: np.int64,
    Scalar.U8: np.uint8, Scalar.U16: np.uint16, Scalar.U32: np.uint32, Scalar.U64: np.uint64, Scalar.F16: np.float16,
    Scalar.BF16: np.float32, Scalar.F32: np.float32, Scalar.F64: np.float64,
}  # fmt: skip


def numpy_type(type_: Type) -> np.dtype[Any]:
    """The type of numpy that has the numbers of `type_`; for addresses that of whole numbers."""
    return np.dtype(_NUMPY[type_] if isinstance(type_, Scalar) else np.int64)


def is_symbolic(data: Data) -> bool:
    """Returns whether `data` are not numbers."""
    return data.dtype == SYMBOL


def value_type(type_: Type) -> Scalar:
    """The type of the numbers that stand for a value; that of an address is a whole number."""
    return Scalar.I64 if isinstance(type_, Pointer) or not isinstance(type_, Scalar) else type_
