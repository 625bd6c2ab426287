"""Statements and expressions of CUDA C++ as frozen trees, macros expanded; every node knows its line in the file.

Nothing here is typed or resolved beyond what the text says: names mean what the scope of their user makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from porter.syntax.expression_nodes import (
    Assign,
    Binary,
    Braces,
    Call,
    Cast,
    Choice,
    Expression,
    Lambda,
    Launch,
    Literal,
    Member,
    Name,
    SizeOf,
    Subscript,
    TypeName,
    Unary,
    Unread,
    Update,
)

__all__ = [
    "Alias",
    "Asm",
    "Assign",
    "Binary",
    "Block",
    "Braces",
    "Break",
    "Call",
    "Case",
    "Cast",
    "Choice",
    "Continue",
    "Declare",
    "Evaluate",
    "Expression",
    "For",
    "ForEach",
    "If",
    "Lambda",
    "Launch",
    "Literal",
    "Member",
    "Name",
    "Parameter",
    "Return",
    "SizeOf",
    "Skipped",
    "Statement",
    "Subscript",
    "Switch",
    "Throw",
    "TypeName",
    "Unary",
    "Unread",
    "Update",
    "Variable",
    "While",
]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A function parameter."""

    name: str
    type: TypeName
    default: Expression | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """One declared variable. `storage` is empty, `shared`, `extern shared`, `constant`, `device`, `static`.

    `extents` are those of an array (None for `[]`). `float x(3)` and `dim3 g(a, b)` have `value` Braces of their type.
    `scope` are the namespaces around one outside of functions.
    """

    name: str
    type: TypeName
    extents: tuple[Expression | None, ...] = ()
    value: Expression | None = None
    storage: str = ""
    constexpr: bool = False
    line: int = 0
    scope: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Declare:
    """`int i = 0, *p;`."""

    variables: tuple[Variable, ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression for its effect."""

    expression: Expression
    line: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """`{ ... }`."""

    statements: tuple[Statement, ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class If:
    """`if`; `constexpr` for `if constexpr`."""

    condition: Expression
    yes: Block
    no: Block | None
    constexpr: bool = False
    line: int = 0


@dataclass(frozen=True, slots=True)
class For:
    """`for (start; condition; step) body`. `unroll` is that of `#pragma unroll`: 0 for all, None without."""

    start: tuple[Statement, ...]
    condition: Expression | None
    step: Expression | None
    body: Block
    unroll: int | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class ForEach:
    """`for (variable : range) body`."""

    variable: Variable
    range: Expression
    body: Block
    line: int = 0


@dataclass(frozen=True, slots=True)
class While:
    """`while`, or `do ... while` where the body comes `first`."""

    condition: Expression
    body: Block
    first: bool = False
    line: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    """Labels that lead to `body`; `default` when one of them is `default`. Falling through is a body without break."""

    values: tuple[Expression, ...]
    default: bool
    body: Block
    line: int = 0


@dataclass(frozen=True, slots=True)
class Switch:
    """`switch (value) { cases }`."""

    value: Expression
    cases: tuple[Case, ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class Return:
    """`return value;`."""

    value: Expression | None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Break:
    """`break;`."""

    line: int = 0


@dataclass(frozen=True, slots=True)
class Continue:
    """`continue;`."""

    line: int = 0


@dataclass(frozen=True, slots=True)
class Throw:
    """`throw value;`."""

    value: Expression | None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Alias:
    """`using name = type;` or a typedef; `template` are the parameters of an alias template.

    `scope` are the namespaces and classes around one outside of functions. One that `enumerates` is an enum, and its
    type that of its values.
    """

    name: str
    type: TypeName
    template: tuple[str, ...] = ()
    line: int = 0
    scope: tuple[str, ...] = ()
    enumerates: bool = False


@dataclass(frozen=True, slots=True)
class Asm:
    """`asm("text" : outputs : inputs)`; operands are (constraint, expression)."""

    text: str
    outputs: tuple[tuple[str, Expression], ...]
    inputs: tuple[tuple[str, Expression], ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """A statement without meaning for the result: `static_assert`, an empty `;`, a using-directive."""

    line: int = 0


Statement = (
    Declare | Evaluate | Block | If | For | ForEach | While | Switch | Return | Break | Continue | Throw | Alias | Asm
    | Skipped | Unread
)  # fmt: skip
