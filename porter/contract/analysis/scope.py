"""Resolves host expressions: replaces local names, constants, macros and one-line helpers, recognises `cdiv`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from porter.contract.analysis.body import Body, parsed, quietly, rebuild, substitute
from porter.contract.analysis.records import symbol
from porter.contract.analysis.usage import Usage
from porter.contract.model.expressions import children, function_name
from porter.contract.model.syntax import Binary, Call, Cast, Member, Name, Node, Number, Subscript
from porter.source.arithmetic_types import arithmetic
from porter.source.program import Function
from porter.source.qualified import unqualified
from porter.source.vocabulary import COORDINATES

_CEILING_DIVISIONS = frozenset(("ceil_div", "CeilDiv", "ATenCeilDiv", "THCCeilDiv", "divup", "ceilDiv"))
_DEEPEST_CALL = 4
_FLOATS = ("float", "double", "half", "bfloat16")


@dataclass
class Scope:
    """The names one function can see. Its own parameters stand for themselves."""

    usage: Usage
    function: Function
    _inlining: tuple[str, ...] = field(default=())

    @property
    def body(self) -> Body:
        """The function's body."""
        return self.usage.body(self.function)

    def resolve(self, node: Node) -> Node:
        """Returns `node` in terms of parameters, tensor extents, thread indices and numbers."""
        return simplified(self._inlined(substitute(node, self.values)))

    @cached_property
    def values(self) -> Mapping[str, Node]:
        """The expressions behind the names of constants and locals; parameters of the function stand for themselves."""
        params = {p.name for p in self.function.params}
        values = {name: node for name, node in self.usage.constants.items() if name not in params}
        for name, nodes in self.body.definitions.items():
            if name not in params:
                values[name] = nodes[0]
        for template in self.function.template:
            values.pop(template.name, None)
        return values

    def with_fields(self, node: Node) -> Node:
        """Returns `node` with the names that contracts give the fields of structs: `p_x_cols` for `p.x.cols`."""
        if isinstance(node, Member) and (named := self._fields.get(_dotted(node))) is not None:
            return Name(named)
        return rebuild(node, [self.with_fields(child) for child in children(node)])

    @cached_property
    def _fields(self) -> Mapping[str, str]:
        """The fields of the structs that the function takes, as they are written, with their names in contracts."""
        handed = (self.usage.records.fields(self.function, p) for p in self.function.params if p.name)
        return {field.name: symbol(field.name) for fields in handed for field in fields}

    def _inlined(self, node: Node) -> Node:
        node = rebuild(node, [self._inlined(child) for child in children(node)])
        if not isinstance(node, Call) or not isinstance(node.callee, Name):
            return node
        name = unqualified(node.callee.name)
        if name in _CEILING_DIVISIONS and len(node.arguments) == 2:
            return Call(Name("cdiv"), node.arguments)
        if function_name(name) or name in self._inlining or len(self._inlining) > 4:
            return node
        inner = self._returned(name, node.arguments)
        return inner if inner is not None else node

    def _returned(self, name: str, arguments: tuple[Node, ...]) -> Node | None:
        """Returns what `name(arguments)` returns, for function macros and functions of one `return`."""
        for macro in self.usage.program.macros:
            if macro.name == name and macro.params is not None and len(macro.params) == len(arguments):
                body = quietly(macro.body)
                given = dict(zip(macro.params, arguments, strict=True))
                return None if body is None else self._nested(name, substitute(body, given, 1))
        callee = self.usage.callee(name, len(arguments))
        if callee is None or callee.returns.base == "void":
            return None
        words = self.usage.body(callee).words
        returns = [i for i, w in enumerate(words) if w.text == "return"]
        if len(returns) != 1 or returns[0] != 1:
            return None
        node = parsed(words[2:-2])
        given = {p.name: a for p, a in zip(callee.params, arguments, strict=False)}
        return None if node is None else self._nested(name, substitute(node, given, 1))

    def _nested(self, name: str, node: Node) -> Node:
        return Scope(self.usage, self.function, (*self._inlining, name))._inlined(node)


def _dotted(node: Node) -> str:
    """Returns `p.x.cols` as it is written; empty for what is no member of members of a name."""
    match node:
        case Name(name):
            return name
        case Member(owner, name) if outer := _dotted(owner):
            return f"{outer}.{name}"
        case _:
            return ""


def demands(usage: Usage, function: Function, depth: int = 0) -> Iterator[Node]:
    """Yields what `function` demands before it goes on, and so for host functions that it passes its arguments to."""
    scope = Scope(usage, function)
    yield from map(scope.resolve, usage.requirements(function))
    for name, arguments in usage.body(function).calls if depth < _DEEPEST_CALL else ():
        callee = usage.callee(name, len(arguments))
        if callee is None or callee.space != "host" or callee is function:
            continue
        given = {p.name: scope.resolve(a) for p, a in zip(callee.params, arguments, strict=False) if a is not None}
        yield from (substitute(demand, given, 1) for demand in demands(usage, callee, depth + 1))


def simplified(node: Node) -> Node:
    """Drops casts to integers, makes thread indices plain names (`threadIdx.x`) and ceiling divisions `cdiv`."""
    node = rebuild(node, [simplified(child) for child in children(node)])
    match node:
        case Cast(type_, operand) if not any(f in type_ for f in _FLOATS) and "*" not in type_:
            return operand
        case Call(Name(name), (operand,)) if (number := arithmetic(name)) is not None and number.is_integer:
            return operand
        case Call(Name(name), (Cast(_, Binary("/", left, right)),)) if name.endswith(("ceil", "ceilf")):
            return Call(Name("cdiv"), (left, right))
        case Call(Name(name), (Binary("/", Cast(_, left), right),)) if name.endswith(("ceil", "ceilf")):
            return Call(Name("cdiv"), (left, right.operand if isinstance(right, Cast) else right))
        case Call(Name(name), arguments) if function_name(name):
            return Call(Name(function_name(name)), arguments)
        case Member(Name(name), axis) if name in COORDINATES:
            return Name(f"{name}.{axis}")
        case Binary():
            return _arithmetic(node)
        case Subscript(Call(Member(owner, "sizes" | "shape"), ()), index) | Subscript(Member(owner, "sizes"), index):
            return Call(Member(owner, "size"), (index,))
        case _:
            return node


def _arithmetic(node: Binary) -> Node:
    match node:
        case Binary(operator, Number(int() as a), Number(int() as b)) if operator in "+-*":
            return Number({"+": a + b, "-": a - b, "*": a * b}[operator])
        case Binary("/", Number(int() as a), Number(int() as b)) if b > 0 <= a:
            return Number(a // b)
        case Binary("*", x, Number(1)) | Binary("*", Number(1), x) | Binary("/", x, Number(1)):
            return x
        case Binary("+", x, Number(0)) | Binary("+", Number(0), x) | Binary("-", x, Number(0)):
            return x
        case Binary("+", Binary("/", Binary("-", x, Number(1)), y), Number(1)):
            return Call(Name("cdiv"), (x, y))
        case Binary("+", Binary("/", Binary("+", x, Number(-1)), y), Number(1)):
            return Call(Name("cdiv"), (x, y))
        case Binary("/", numerator, divisor) if (dividend := _rounded_up(numerator, divisor)) is not None:
            return Call(Name("cdiv"), (dividend, divisor))
        case _:
            return node


def _rounded_up(numerator: Node, divisor: Node) -> Node | None:
    """Returns `x` when `numerator` is `x + divisor - 1` in any order of its terms."""
    terms = _terms(numerator, 1)
    constant = sum(sign * t.value for sign, t in terms if isinstance(t, Number) and isinstance(t.value, int))
    rest = [(sign, t) for sign, t in terms if not isinstance(t, Number)]
    if isinstance(divisor, Number):
        if divisor.value < 2 or constant != divisor.value - 1:
            return None
    elif (1, divisor) in rest and constant == -1:
        rest.remove((1, divisor))
    else:
        return None
    if not rest or rest[0][0] < 0:
        return None
    total = rest[0][1]
    for sign, term in rest[1:]:
        total = Binary("+" if sign > 0 else "-", total, term)
    return total


def _terms(node: Node, sign: int) -> list[tuple[int, Node]]:
    match node:
        case Binary("+", left, right):
            return [*_terms(left, sign), *_terms(right, sign)]
        case Binary("-", left, right):
            return [*_terms(left, sign), *_terms(right, -sign)]
        case _:
            return [(sign, node)]
