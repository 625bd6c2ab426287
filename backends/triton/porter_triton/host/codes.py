"""Defines a piece of Python for an expression of host code: its text, its kind, and what is known of its value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from porter.syntax.nodes import Name, TypeName

# How tight Python's operators bind.
CONDITIONAL, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, ATOM = range(13)


class Kind(StrEnum):
    """The kind of a value; a pointer is the tensor it points into."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    TENSOR = "tensor"
    POINTER = "pointer"
    STRING = "string"
    DTYPE = "dtype"
    DEVICE = "device"
    OPTIONS = "options"  # `parts` are dtype and device
    DIM3 = "dim3"  # `parts` are x, y, z
    SEQUENCE = "sequence"
    STREAM = "stream"  # what Python does by itself: streams, events, contexts
    ERROR = "error"  # a runtime call's answer, always success
    RECORD = "record"  # `parts` are a struct's fields, called `names`
    PROPERTIES = "properties"  # of the device
    KERNEL = "kernel"  # the name of a kernel's instance, or None; `kernels` are all that it may name
    TIME = "time"  # a moment, or a value made from moments
    NOTHING = "nothing"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Code:
    """`binds` is the operator at the top of `text`; `constant` the value where it is known; `ctype` the C++ type.

    `nullable`: the source itself makes a null pointer of it under some condition. `said` is the string that a literal
    is, `length` how many elements memory has that is allocated here.
    """

    text: str
    kind: Kind
    binds: int = ATOM
    constant: int | float | bool | None = None
    ctype: TypeName | None = None
    parts: tuple[Code, ...] = ()
    names: tuple[str, ...] = ()
    nullable: bool = False
    kernels: tuple[Name, ...] = ()
    said: str | None = None
    length: str = ""

    def within(self, binds: int) -> str:
        """Returns the text as an operand of an operator that binds so tight."""
        return self.text if self.binds >= binds else f"({self.text})"

    @property
    def is_number(self) -> bool:
        """Returns whether it is an integer, a truth value or a floating-point number."""
        return self.kind in (Kind.INT, Kind.FLOAT, Kind.BOOL)

    def typed(self, ctype: TypeName | None) -> Code:
        """Returns the same with another C++ type."""
        return replace(self, ctype=ctype)


NONE = Code("None", Kind.NOTHING, nullable=True)
SUCCESS = Code("", Kind.ERROR, constant=0)
MOMENT = Code("__time__", Kind.TIME)


def integer(value: int) -> Code:
    """Returns an integer constant."""
    return Code(str(value), Kind.INT, ATOM if value >= 0 else SIGN, value, TypeName("int"))


def truth(value: bool) -> Code:
    """Returns a truth constant."""
    return Code(str(value), Kind.BOOL, ATOM, value, TypeName("bool"))


def string(value: str) -> Code:
    """Returns a string constant, in double quotes if it holds none of them alone."""
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    if '"' in value and "'" not in value:
        return Code(f"'{escaped}'", Kind.STRING, said=value)
    return Code('"' + escaped.replace('"', '\\"') + '"', Kind.STRING, said=value)


def sequence(items: tuple[Code, ...], *, as_list: bool = False) -> Code:
    """Returns a tuple or list display."""
    inside = ", ".join(i.text for i in items)
    text = f"[{inside}]" if as_list else f"({inside},)" if len(items) == 1 else f"({inside})"
    return Code(text, Kind.SEQUENCE, parts=items)
