"""Statements and expressions of CUDA C++ as frozen trees, macros expanded; every node knows its line in the file.

Nothing here is typed or resolved beyond what the text says: names mean what the scope of their user makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass


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
    """`{a, b}`, or `T{a, b}` where `type` is given."""

    items: tuple[Expression, ...]
    type: TypeName | None = None
    line: int = 0


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
    """`using name = type;` or a typedef; `template` are the parameters of an alias template."""

    name: str
    type: TypeName
    template: tuple[str, ...] = ()
    line: int = 0


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
