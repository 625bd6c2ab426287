"""Expressions of CUDA C++ as frozen trees, and the names of types in them; every node knows its line in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from porter.syntax.nodes import Block, Parameter


@dataclass(frozen=True, slots=True)
class TypeName:
    """`const unsigned* __restrict__` is `("unsigned int", pointers=1, const=True)`.

    `name` is spelt canonically (`unsigned int`, `long long`, `std::vector`), `arguments` are those of a template.
    """

    name: str
    arguments: tuple[TypeName | Expression, ...] = ()
    pointers: int = 0
    const: bool = False
    reference: bool = False
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """`type` is the C++ type: `0x1fu` is `unsigned int`, `1.f` is `float`, `"a"` is `string`, `nullptr` is itself."""

    value: int | float | bool | str
    type: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier with its `::` prefixes; `template` holds explicit template arguments."""

    name: str
    template: tuple[TypeName | Expression, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Unary:
    """`- ! ~ + & *`."""

    operator: str
    operand: Expression
    line: int = 0


@dataclass(frozen=True, slots=True)
class Update:
    """`++x`, `x++`, `--x`, `x--`; `operator` is `++` or `--`."""

    operator: str
    operand: Expression
    prefix: bool
    line: int = 0


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, comparison, logic, and the comma."""

    operator: str
    left: Expression
    right: Expression
    line: int = 0


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`; `operator` is empty, or that of a compound assignment (`+` for `+=`)."""

    operator: str
    target: Expression
    value: Expression
    line: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """`condition ? yes : no`."""

    condition: Expression
    yes: Expression
    no: Expression
    line: int = 0


@dataclass(frozen=True, slots=True)
class Cast:
    """`kind` is `c` for `(T)x` and `T(x)` on a built-in type, else `static`, `reinterpret`, `const`."""

    kind: str
    type: TypeName
    operand: Expression
    line: int = 0


@dataclass(frozen=True, slots=True)
class Member:
    """`owner.name` or, with `arrow`, `owner->name`."""

    owner: Expression
    name: str
    arrow: bool = False
    template: tuple[TypeName | Expression, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Subscript:
    """`owner[index]`."""

    owner: Expression
    index: Expression
    line: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """`callee(arguments...)`; an object made by `T(a, b)` reads as a call of the name `T`."""

    callee: Expression
    arguments: tuple[Expression, ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class Braces:
    """`{a, b}`, or `T{a, b}` where `type` is given; `parentheses` for `T x(a, b)`, which may mean something else."""

    items: tuple[Expression, ...]
    type: TypeName | None = None
    line: int = 0
    parentheses: bool = False


@dataclass(frozen=True, slots=True)
class SizeOf:
    """`sizeof(type)` or `sizeof expression`."""

    of: TypeName | Expression
    line: int = 0


@dataclass(frozen=True, slots=True)
class Lambda:
    """`[captures](parameters) { body }`."""

    parameters: tuple[Parameter, ...]
    body: Block
    line: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """`kernel<<<grid, block, shared_bytes, stream>>>(arguments)`."""

    kernel: Name
    grid: Expression
    block: Expression
    shared_bytes: Expression | None
    stream: Expression | None
    arguments: tuple[Expression, ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class Unread:
    """Text that could not be read, and why; whoever needs it refuses with this line."""

    text: str
    reason: str
    line: int = 0


Expression = (
    Literal | Name | Unary | Update | Binary | Assign | Choice | Cast | Member | Subscript | Call | Braces | SizeOf
    | Lambda | Launch | Unread
)  # fmt: skip
