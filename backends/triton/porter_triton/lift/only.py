"""Whether only certain threads read a variable after a statement: the first lane of each warp, or the first thread."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from porter.syntax.nodes import (
    Assign,
    Binary,
    Call,
    Declare,
    Evaluate,
    Expression,
    Literal,
    Name,
    Return,
    Statement,
    Subscript,
    Unary,
    Update,
)
from porter.syntax.terms import conjuncts, mentions
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk
from porter_triton.lift.after import Reader, readers, writes
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.trees import bare, called, is_name, mapped, number, suites
from porter_triton.lower.assigned import assigned_names

_T = TypeVar("_T")
_MOST_CALLERS = 4  # functions that hand the value on


class First(Enum):
    """Whom a value must be left to: the first lane of each warp, or the first thread of the block."""

    LANE = "lane"
    THREAD = "thread"


def only_read_by(facts: Facts, last: Statement, name: str, first: First, *, depth: int = 0, setter: str = "") -> bool:
    """Returns whether after `last` only the `first` ones read the local variable `name`.

    What a function returns or hands back is followed to all its callers; `setter` is one that keeps no reference.
    """
    if name in _shown(facts, setter):
        return False
    returned = False

    def rest(statement: _T) -> _T:
        return _without_first_lane(statement, name) if first is First.LANE else statement

    for reader in readers(facts.function.body, last, lambda s: writes(rest(s), name)):
        if not mentions(reader.node, name) or _guarded(facts, reader, first):
            continue
        if isinstance(reader.node, Return) and is_name(reader.node.value, name):
            returned = True
        elif mentions(rest(reader.node), name):
            return False
    position = handed_back(facts.function, name)
    if position is not None and not (depth < _MOST_CALLERS and _callers_do(facts, first, depth, position)):
        return False
    return not returned or (depth < _MOST_CALLERS and _callers_do(facts, first, depth))


def handed_back(function: FunctionTree, name: str) -> int | None:
    """The position of the parameter `name` if it is a variable of the caller's."""
    parameters = enumerate(function.parameters)
    return next((i for i, p in parameters if p.name == name and p.type.reference and not p.type.const), None)


def _shown(facts: Facts, setter: str) -> frozenset[str]:
    """Variables of which more than the name may lead to their value: their address or a reference is taken."""
    body = facts.function.body

    def without(node: object) -> object:
        if isinstance(node, Update) or (isinstance(node, Call) and setter and called(node) == setter):
            return Literal(0, "int")
        return node.value if isinstance(node, Assign) else node

    plain = mapped(body, without)
    return assigned_names(facts.unit, plain) | _led_to(plain)


def _led_to(body: object) -> frozenset[str]:
    """Arrays that pointers may lead to, and variables that have another name: `p = a`, `&a[1]`, `int& r = i`."""
    declared = [v for n in walk(body) if isinstance(n, Declare) for v in n.variables]
    arrays = {v.name for v in declared if v.extents}
    elements = (n.operand for n in walk(body) if isinstance(n, Unary) and n.operator == "&")
    inside = mapped(body, lambda n: n.index if isinstance(n, Subscript) and isinstance(n.owner, Name) else n)
    named = [n.name for n in walk(inside) if isinstance(n, Name) and n.name in arrays]
    referred = [v.value for v in declared if v.type.reference]
    return frozenset(named).union(n.name for n in walk((*elements, *referred)) if isinstance(n, Name))


def _callers_do(facts: Facts, first: First, depth: int, position: int | None = None) -> bool:
    """Returns whether all callers assign what the function returns to a variable that only those threads read.

    With `position` that is the variable which is the argument there.
    """
    name = facts.function.head.name
    if len(facts.unit.named(name)) != 1 or facts.function.head.space == "global":
        return False
    methods = (method for struct in facts.unit.structs for method in struct.methods)
    for caller in (*facts.unit.functions, *methods):
        calls = sum(isinstance(n, Call) and called(n) == name for n in walk(caller.body))
        if not calls:
            continue
        inside = Facts(facts.unit, caller, facts.block)
        targets = _assignments(caller, name) if position is None else _given(caller, name, position)
        if len(targets) != calls:
            return False
        setter = "" if position is None else name
        if not all(only_read_by(inside, s, target, first, depth=depth + 1, setter=setter) for s, target in targets):
            return False
    return True


def _assignments(caller: FunctionTree, function: str) -> list[tuple[Statement, str]]:
    """The statements `v = f(...)` and `T v = f(...)`, with v."""
    found: list[tuple[Statement, str]] = []
    for block in suites(caller.body):
        for statement in block.statements:
            if isinstance(statement, Declare) and len(statement.variables) == 1:
                if called(statement.variables[0].value) == function:
                    found.append((statement, statement.variables[0].name))
            elif isinstance(statement, Evaluate) and isinstance(statement.expression, Assign):
                made = statement.expression
                if not made.operator and isinstance(made.target, Name) and called(made.value) == function:
                    found.append((statement, made.target.name))
    return found


def _given(caller: FunctionTree, function: str, position: int) -> list[tuple[Statement, str]]:
    """The statements `f(...)` with the variable that is the argument at `position`."""
    found: list[tuple[Statement, str]] = []
    for block in suites(caller.body):
        for statement in block.statements:
            call = statement.expression if isinstance(statement, Evaluate) else None
            if isinstance(call, Call) and called(call) == function and len(call.arguments) > position:
                argument = call.arguments[position]
                found += [(statement, argument.name)] if isinstance(argument, Name) else []
    return found


def _guarded(facts: Facts, reader: Reader, first: First) -> bool:
    """Returns whether the conditions hold only for the first ones. The first thread is the first lane of its warp,
    too.
    """
    parts = [part for guard in reader.guards for part in conjuncts(bare(guard))]
    zeros = [zero for part in parts if (zero := _zero(part)) is not None]
    lane = any(facts.is_lane(zero) for zero in zeros)
    if any(facts.is_thread(zero) for zero in zeros) or (lane and first is First.LANE):
        return True
    first_warp = any(facts.is_warp(zero) for zero in zeros) or any(_below_warp(facts, part) for part in parts)
    return lane and first_warp


def _below_warp(facts: Facts, condition: Expression) -> bool:
    """`t < 32`."""
    if not isinstance(condition, Binary) or condition.operator != "<":
        return False
    return facts.is_thread(condition.left) and facts.value(condition.right) == WARP


def _zero(condition: Expression) -> Expression | None:
    """Returns what a condition compares with 0."""
    if isinstance(condition, Unary) and condition.operator == "!":
        return condition.operand
    if isinstance(condition, Binary) and condition.operator == "==":
        if number(condition.right) == 0:
            return condition.left
        return condition.right if number(condition.left) == 0 else None
    return None


def _without_first_lane(node: _T, name: str) -> _T:
    """`node` without `__shfl_sync(mask, name, 0)`, which gives everyone the first lane's value."""

    def change(n: object) -> object:
        if isinstance(n, Call) and called(n) == "__shfl_sync" and len(n.arguments) >= 3:
            _, value, lane, *_ = n.arguments
            if is_name(value, name) and number(lane) == 0:
                return Literal(0, "int")
        return n

    return mapped(node, change)
