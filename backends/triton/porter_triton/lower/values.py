"""What an expression is while it is being lowered: text with a type, or parts that have one."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from porter.syntax.nodes import TypeName
from porter_triton.lower.affine import Affine, Digit
from porter_triton.lower.types import BOOL, INT, Arithmetic, Pointer, Record, Type

if TYPE_CHECKING:
    from porter_triton.lower.places import Place

# How tightly Python binds what a text is made of.
LAMBDA, CHOICE, NOT, COMPARE, OR, XOR, AND, SHIFT, SUM, PRODUCT, SIGN, ATOM = range(12)
UNSET = "nullptr"  # among the buffers of a pointer: it may point nowhere
LEVELS = {"|": OR, "^": XOR, "&": AND, "<<": SHIFT, ">>": SHIFT, "+": SUM, "-": SUM,
          "*": PRODUCT, "//": PRODUCT, "/": PRODUCT, "%": PRODUCT}  # fmt: skip
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value a thread, as Python text.

    `varying`: a tensor with an element a thread, else one value for the block. `held` is the type Triton sees where it
    is not `type`: unsigned arithmetic on the thread's and block's numbers is done on int32, which has the same bits.
    `interval` bounds an integer. `loose`: the text may be a Python number, which has no `.to`. `single` is the same
    value as a float where it is a double only because a literal lacks its `f`, good if rounded to float at once.
    `static`: it is known when Triton compiles, so that `if` drops what does not hold. `opposite` is the negation of a
    comparison. `pins` are digits of the thread's number that have one value wherever the condition holds; `exact`: the
    condition says nothing else. `bases` are the buffers a pointer may point into; its `affine` is how the pointers of
    threads differ. `multiple` divides an integer that is no constant, were it not to wrap around.
    """

    text: str
    type: Arithmetic | Pointer
    varying: bool = False
    level: int = ATOM
    constant: int | float | None = None
    held: Arithmetic | Pointer | None = None
    interval: tuple[int, int] | None = None
    affine: Affine | None = None
    loose: bool = False
    single: Scalar | None = None
    static: bool = False
    opposite: Scalar | None = None
    pins: tuple[tuple[Digit, int], ...] = ()
    exact: bool = False
    bases: frozenset[str] = frozenset()
    multiple: int = 1

    def within(self, level: int) -> str:
        """The text as an operand of an operator that binds as tightly as `level`."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def carried(self) -> Arithmetic | Pointer:
        """The type Triton sees."""
        return self.held or self.type

    @property
    def names(self) -> frozenset[str]:
        """The identifiers the text reads."""
        return frozenset(_IDENTIFIER.findall(self.text))

    @property
    def is_name(self) -> bool:
        """Returns whether the text is one identifier."""
        return _IDENTIFIER.fullmatch(self.text) is not None

    @property
    def fixed(self) -> int | None:
        """The integer this always is, even if it is written as a name."""
        if isinstance(self.constant, int):
            return self.constant
        return self.interval[0] if self.interval is not None and self.interval[0] == self.interval[1] else None

    def known_within(self, low: int, high: int) -> bool:
        """Returns whether the value certainly lies in `[low, high]`."""
        return self.interval is not None and low <= self.interval[0] and self.interval[1] <= high


@dataclass(frozen=True, slots=True)
class Fields:
    """A struct or vector by value."""

    type: Record
    values: tuple[tuple[str, Value], ...]

    def field(self, name: str) -> Value:
        """The value of one field."""
        return dict(self.values)[name]


@dataclass(frozen=True, slots=True)
class Address:
    """A pointer to what has no address in Triton: a variable, or an element of a shared or local array.

    `offset` counts elements from the place's beginning where the place is an array. With a `view` what it points to is
    read as another type than the array's. One of a struct's field knows the `fields` of one type from there on: it may
    be advanced over them.
    """

    place: Place
    offset: Scalar
    view: Type | None = None
    fields: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Bits:
    """A value of `type` as it lies in memory that holds `unit`s: what is only copied is never put together."""

    type: Type
    unit: Arithmetic
    parts: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A cooperative group: tiles of `width` threads, or the block where that is 0."""

    width: int


@dataclass(frozen=True, slots=True)
class Collective:
    """An object of CUB's: `kind` is reduce, scan, warp, load or store. Its storage is one too, of no kind.

    `striped`: neighbouring items belong to neighbouring threads, not to one. `element` is what it is a collective of.
    """

    kind: str = ""
    striped: bool = False
    element: TypeName | None = None


@dataclass(frozen=True, slots=True)
class Nothing:
    """The value of a void expression."""


Value = Scalar | Fields | Bits | Address | Group | Collective | Nothing


def number(value: float, type_: Arithmetic = INT) -> Scalar:
    """A constant of `type_`."""
    if type_.is_float:
        held = rounded(float(value)) if type_.bits == 32 else float(value)
        return Scalar(float_text(held, type_), type_, constant=held, loose=True, level=_number_level(value))
    return _whole(type_.wrap(int(value)), type_)


@lru_cache(maxsize=4096)
def _whole(whole: int, type_: Arithmetic) -> Scalar:
    text = str(bool(whole)) if type_ is BOOL else str(whole)
    affine = None if type_ is BOOL else Affine(offset=whole)
    return Scalar(text, type_, False, _number_level(whole), whole, interval=(whole, whole), affine=affine, loose=True)


_LARGEST_FLOAT = 3.4028234663852886e38


def _number_level(value: float) -> int:
    return SIGN if value < 0 and not math.isinf(value) else ATOM


def float_text(value: float, type_: Arithmetic) -> str:
    """A float as Triton code spells it: with no more digits than its type needs, and as no double where it is none."""
    if math.isnan(value) or math.isinf(value):
        return f'float("{value}")'
    if type_.bits == 32:
        shortest = (float(f"{value:.{digits}g}") for digits in range(1, 10))
        value = next((x for x in shortest if rounded(x) == value and abs(x) <= _LARGEST_FLOAT), value)
    return repr(value).replace("e+", "e")


def rounded(value: float) -> float:
    """`value` as a 32-bit float."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def negation(condition: Scalar) -> Scalar:
    """`!condition` of a boolean."""
    if condition.constant is not None:
        return number(not condition.constant, BOOL)
    if condition.opposite is not None:
        return replace(condition.opposite, opposite=replace(condition, opposite=None))
    if condition.loose:
        return replace(condition, text=f"not {condition.within(NOT)}", level=NOT, pins=(), exact=False)
    return replace(condition, text=f"~{condition.within(SIGN)}", level=SIGN, pins=(), exact=False)


def both(left: Scalar, right: Scalar) -> Scalar:
    """`left & right` of two booleans."""
    for one, other in ((left, right), (right, left)):
        if one.constant is not None:
            return other if one.constant else one
    text = f"{left.within(AND)} & {right.within(AND + 1)}"
    varying = left.varying or right.varying
    return Scalar(
        text,
        BOOL,
        varying,
        AND,
        loose=left.loose and right.loose,
        static=left.static and right.static,
        pins=left.pins + right.pins,
        exact=left.exact and right.exact,
    )


def fits_single(value: float) -> bool:
    """Returns whether a double is a float exactly."""
    return rounded(value) == value
