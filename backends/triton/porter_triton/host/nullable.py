"""Finds parameters of host functions that may be null: the source passes null, or goes on either way if it asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from porter.source.qualified import unqualified
from porter.syntax.nodes import (
    Binary,
    Block,
    Call,
    Cast,
    Choice,
    Expression,
    If,
    Launch,
    Literal,
    Member,
    Name,
    Return,
    Throw,
    Unary,
    Variable,
)
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk

Place = tuple[str, int]
_NULLS = ("nullptr", "NULL")


def nullable_parameters(unit: Unit) -> frozenset[Place]:
    """Returns function name and position of each parameter that is compared with null, or gets null in a call."""
    functions = [f for f in unit.functions if "host" in f.head.space]
    names = {f.head.name for f in functions}
    calls = [(f, c) for f in functions for c in walk(f.body) if isinstance(c, Call) and _callee(c) in names]
    found = {place for function in functions for asked in _asked(function) for place in _own(function, asked)}
    known = -1
    while known != len(found):
        known = len(found)
        for caller, call in calls:
            given = enumerate(call.arguments)
            found |= {(_callee(call), i) for i, a in given if _is_null(a) or not found.isdisjoint(_own(caller, a))}
    return frozenset(found)


def acting_objects(function: FunctionTree) -> frozenset[str]:
    """Returns the pointer parameters that `function` compares with null, and otherwise only calls members of.

    Such an object only acts by itself: a recorder of launches, a profiler.
    """
    nodes = list(walk(function.body))
    asked = [
        name.name
        for node in nodes
        if isinstance(node, If)
        for name in _truths(node.condition)
        if isinstance(name, Name)
    ]
    owners = [node.owner.name for node in nodes if isinstance(node, Member) and isinstance(node.owner, Name)]
    known = Counter((*asked, *owners))
    named = Counter(node.name for node in nodes if isinstance(node, Name))
    names = {p.name for p in function.parameters if p.type.pointers == 1}
    return frozenset(name for name in names & set(asked) if named[name] == known[name])


def given(condition: Expression) -> Expression:
    """Returns the pointer that is not null where `condition` holds, p for `p != nullptr`; else the condition."""
    is_comparison = isinstance(condition, Binary) and condition.operator == "!="
    return next(_compared(condition), condition) if is_comparison else condition


def _callee(call: Call) -> str:
    return unqualified(call.callee.name) if isinstance(call.callee, Name) else ""


def _is_null(node: Expression) -> bool:
    if isinstance(node, Cast):
        zero = isinstance(node.operand, Literal) and node.operand.value == 0
        return node.type.pointers > 0 and (zero or _is_null(node.operand))
    return isinstance(node, Literal | Name) and (node.name if isinstance(node, Name) else node.type) in _NULLS


def _own(caller: FunctionTree, node: Expression) -> set[Place]:
    """Returns the parameter of `caller` that is handed on."""
    names = [p.name if p.type.pointers else "" for p in caller.parameters]
    return {(caller.head.name, names.index(node.name))} if isinstance(node, Name) and node.name in names else set()


def _asked(function: FunctionTree) -> Iterator[Expression]:
    """Yields what `function` asks if it is null, other than to leave."""
    for node in walk(function.body):
        match node:
            case If(condition, yes, no) if no is not None or not _leaves(yes):
                yield from _truths(condition)
            case Choice(condition, _, _):
                yield from _truths(condition)
            case Variable(value=value) if value is not None:
                yield from _compared(value)
            case Launch(arguments=arguments) | Call(arguments=arguments):
                yield from (asked for argument in arguments for asked in _compared(argument))


def _leaves(block: Block) -> bool:
    return bool(block.statements) and isinstance(block.statements[-1], Return | Throw)


def _truths(condition: Expression) -> Iterator[Expression]:
    """Yields what is taken for true or false in a condition, and what it compares with null."""
    match condition:
        case Unary("!", operand):
            yield from _truths(operand)
        case Binary("&&" | "||", left, right):
            yield from (*_truths(left), *_truths(right))
        case Name():
            yield condition
        case _:
            yield from _compared(condition)


def _compared(node: Expression) -> Iterator[Expression]:
    for inner in walk(node):
        if isinstance(inner, Binary) and inner.operator in ("==", "!="):
            if _is_null(inner.right):
                yield inner.left
            elif _is_null(inner.left):
                yield inner.right
