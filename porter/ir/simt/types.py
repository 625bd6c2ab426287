"""Types of the SIMT IR: numbers, short vectors of numbers, pointers and arrays in an address space."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Scalar(StrEnum):
    """A number: truth value, integer with or without a sign, or float."""

    BOOL = "bool"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    F64 = "f64"

    @property
    def is_float(self) -> bool:
        """Returns whether values round."""
        return self in _FLOATS

    @property
    def is_integer(self) -> bool:
        """Returns whether values are whole numbers; truth values are none."""
        return self is not Scalar.BOOL and not self.is_float

    @property
    def is_signed(self) -> bool:
        """Returns whether an integer may be negative."""
        return self in _SIGNED

    @property
    def bytes(self) -> int:
        """The size in memory."""
        return 1 if self is Scalar.BOOL else self.bits // 8

    @property
    def bits(self) -> int:
        """The number of bits of a value."""
        return _BITS[self]

    @property
    def alignment(self) -> int:
        """Returns the number of bytes that addresses of a value are multiples of."""
        return self.bytes


# Looked up, since interpreters ask for each number.
_FLOATS = frozenset({Scalar.F16, Scalar.BF16, Scalar.F32, Scalar.F64})
_SIGNED = frozenset(scalar for scalar in Scalar if scalar.value.startswith("i"))
_BITS = {scalar: 1 if scalar is Scalar.BOOL else int(scalar.value.lstrip("iubf")) for scalar in Scalar}


class Space(StrEnum):
    """The kinds of memory by owner: all threads of the launch, a block, or one thread."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Vector:
    """`count` numbers side by side, as one access moves them."""

    element: Scalar
    count: int

    @property
    def bytes(self) -> int:
        """The size in memory."""
        return self.element.bytes * self.count

    @property
    def alignment(self) -> int:
        """Returns the number of bytes that addresses of a value are multiples of."""
        return self.bytes

    def __str__(self) -> str:
        return f"{self.element}x{self.count}"


Element = Scalar | Vector


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of an element; memory of no known type is memory of `u8`."""

    element: Element
    space: Space

    def __str__(self) -> str:
        return f"ptr<{self.element}, {self.space}>"


@dataclass(frozen=True, slots=True)
class Array:
    """Memory of `count` elements that a block, or a thread, has for itself."""

    element: Element
    count: int
    space: Space

    def __str__(self) -> str:
        return f"array<{self.element}, {self.count}, {self.space}>"


Type = Scalar | Vector | Pointer | Array
