"""Finds the names of a function that may be assigned to, and the variables that need an address."""

from __future__ import annotations

from collections.abc import Iterator

from porter.syntax.nodes import (
    Asm,
    Assign,
    Block,
    Call,
    Cast,
    Choice,
    Expression,
    Lambda,
    Member,
    Name,
    Subscript,
    Unary,
    Update,
    Variable,
)
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk

_WRITING = frozenset({"sincosf", "sincos", "__sincosf", "frexpf", "modff", "swap"})
_READING = frozenset({"move", "forward", "min", "max", "pow", "abs"})


def assigned_names(unit: Unit, body: object) -> frozenset[str]:
    """The names of variables that `body` may change; those that it declares without a value are among them."""
    return frozenset(_assigned(unit, body))


def _assigned(unit: Unit, body: object) -> Iterator[str]:
    for node in walk(body):
        match node:
            case Assign(target=target) | Update(operand=target):
                yield from _root(target)
            case Unary(operator="&", operand=operand):
                yield from _root(operand)
            case Call(callee=Member(owner=owner)):
                yield from _root(owner)
                yield from _of_arguments(unit, node)
            case Call():
                yield from _of_arguments(unit, node)
            case Variable(name=name, value=None):
                yield name
            case Variable(type=kind, value=value) if kind.reference and not kind.const and value is not None:
                yield from _root(value)
            case Asm(outputs=outputs):
                for _, output in outputs:
                    yield from _root(output)
            case Cast(type=kind, operand=operand) if kind.reference and not kind.const:
                yield from _root(operand)


def _of_arguments(unit: Unit, call: Call) -> Iterator[str]:
    """Yields the names of arguments that a call may change: those that it takes by a reference."""
    callee = call.callee
    name = callee.name if isinstance(callee, Name | Member) else ""
    plain = name.rpartition("::")[2]
    candidates = (unit.named(name) if isinstance(callee, Name) else ()) or _methods(unit, plain)  # or one of its own
    for number, argument in enumerate(call.arguments):
        known = [f.parameters[number].type for f in candidates if number < len(f.parameters)]
        changes = any(kind.reference and not kind.const for kind in known)
        if changes or (not known and _is_unknown(unit, callee, plain)) or plain in _WRITING:
            yield from _root(argument)


def _methods(unit: Unit, name: str) -> tuple[FunctionTree, ...]:
    return tuple(method for struct in unit.structs for method in struct.methods if method.head.name == name)


def _is_unknown(unit: Unit, callee: Expression, plain: str) -> bool:
    """Returns whether a callee is the value of a variable, or a method that nobody knows: it may change anything."""
    if isinstance(callee, Lambda | Call | Subscript):
        return True
    if isinstance(callee, Member):
        return plain not in ("load", "get", "size", "sync", "thread_rank", "any", "all", "ballot")
    return isinstance(callee, Name) and not callee.template and len(plain) <= 2 and not unit.named(callee.name)


def _root(target: Expression) -> Iterator[str]:
    """Yields the variable that a place is of."""
    match target:
        case Name(name=name):
            yield name
        case Member(owner=owner, arrow=False) | Subscript(owner=owner):
            yield from _root(owner)
        case Unary(operator="*", operand=operand) | Cast(operand=operand):
            yield from _root(operand)
        case Choice(yes=yes, no=no):
            yield from (*_root(yes), *_root(no))


class Addresses:
    """Finds the variables whose address is taken, also by a function that takes them by a reference."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._known: dict[int, tuple[Block, frozenset[str]]] = {}  # with the body, whose number nobody else has then

    def of(self, body: Block) -> frozenset[str]:
        """Returns the names of variables of `body` whose address is taken."""
        if id(body) not in self._known:
            self._known[id(body)] = body, frozenset()  # of a function that calls itself
            self._known[id(body)] = body, frozenset(self._addressed(body))
        return self._known[id(body)][1]

    def _addressed(self, body: Block) -> Iterator[str]:
        for node in walk(body):
            if (isinstance(node, Unary) and node.operator == "&") or (
                isinstance(node, Cast) and node.type.reference and node.kind == "reinterpret"
            ):
                yield from _of_address(node.operand)
            elif isinstance(node, Call) and isinstance(node.callee, Name):
                for argument in self._handed_on(node, node.callee.name):
                    yield from _of_address(argument)

    def _handed_on(self, call: Call, name: str) -> Iterator[Expression]:
        """Yields the arguments whose address a function of that name takes, to change them; of others a copy does."""
        for function in self._unit.named(name):
            for parameter, argument in zip(function.parameters, call.arguments, strict=False):
                kind = parameter.type
                if kind.reference and not kind.const and parameter.name in self.of(function.body):
                    yield argument


def _of_address(node: Expression) -> Iterator[str]:
    match node:
        case Name(name=name):
            yield name
        case Member(owner=owner, arrow=False) | Subscript(owner=owner):
            yield from _of_address(owner)
