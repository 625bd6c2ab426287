"""Defines the tree of expressions: the C++ of host code and contracts share it (`parser.py` reads both)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from porter.errors import ContractError
from porter.source.arithmetic_types import SPELLINGS


class ExpressionError(ContractError):
    """A text that is not an expression, or an expression without a value."""


@dataclass(frozen=True, slots=True)
class Number:
    """A literal; `true` and `false` are 1 and 0."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Text:
    """A string literal, without its quotes."""

    value: str


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier, with its `::` prefixes and template arguments as written."""

    name: str
    template: str = ""


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `!x`, `~x`, `&x`, `*x`."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`; `and` and `or` are spelt `&&` and `||`."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Choice:
    """`condition ? yes : no`."""

    condition: Node
    yes: Node
    no: Node


@dataclass(frozen=True, slots=True)
class Cast:
    """`(type)operand` or `static_cast<type>(operand)`."""

    type: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Member:
    """`owner.name` or `owner->name`."""

    owner: Node
    name: str
    template: str = ""


@dataclass(frozen=True, slots=True)
class Subscript:
    """`owner[index]`."""

    owner: Node
    index: Node


@dataclass(frozen=True, slots=True)
class Call:
    """`callee(arguments...)`; `T{a, b}` is a call, too."""

    callee: Node
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Braces:
    """`{a, b}`."""

    items: tuple[Node, ...]


# `sizeof` of the types that are one word.
TYPE_BYTES: Mapping[str, int] = {
    **{name: type_.bytes for name, type_ in SPELLINGS.items() if " " not in name},
    "unsigned": 4, "signed": 4, "half2": 4, "__half2": 4, "__nv_bfloat162": 4, "nv_bfloat162": 4,
    "float2": 8, "int2": 8, "uint2": 8, "float3": 12, "int3": 12, "float4": 16, "int4": 16, "uint4": 16, "double2": 16,
}  # fmt: skip

Node = Number | Text | Name | Unary | Binary | Choice | Cast | Member | Subscript | Call | Braces
