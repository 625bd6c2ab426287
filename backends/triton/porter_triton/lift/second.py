"""The second stage of a block reduction: the first warp, one thread or each of them reduces what the warps stored."""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.syntax.nodes import (
    Assign,
    Binary,
    Cast,
    Choice,
    Declare,
    Evaluate,
    Expression,
    If,
    Literal,
    Name,
    Statement,
    Subscript,
    TypeName,
    Unary,
)
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.only import First
from porter_triton.lift.trees import bare, flat, is_barrier, is_name, number
from porter_triton.lift.warps import Reduction, reduction

_INFINITE = frozenset({"INFINITY", "CUDART_INF_F", "CUDART_INF", "HUGE_VALF", "HUGE_VAL"})


@dataclass(frozen=True, slots=True)
class Second:
    """One value in the second stage: where it was stored, the variable it is loaded to, and what idle lanes load.

    `held` tells who has the result: each thread (None), the first lane of each warp, or the first thread. `begun` goes
    into it, too. `loaded` is the variable that held what was stored, where that is another one.
    """

    array: str
    result: str
    declared: TypeName | None
    neutral: Expression | None
    held: First | None
    reduced: bool = False
    begun: Expression | None = None
    loaded: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """The second stage of all values. `count` statements of the block are taken, `last` is the last one that reduces.

    `rest` follows in the same `if (warp == 0)`, which is `under`. `kept`: its first statement stores the result in the
    array.
    """

    values: dict[str, Second]
    count: int
    last: Statement
    under: If | None = None
    rest: tuple[Statement, ...] = ()
    kept: bool = False


def second_stage(
    facts: Facts, rest: tuple[Statement, ...], firsts: tuple[Reduction, ...], arrays: dict[str, str]
) -> Stage | None:
    """`v = t < warps ? a[lane] : neutral; if (warp == 0) v = reduce(v);` for each value, or both under the `if`.

    Or `if (t < warps) { v = a[t]; v = reduce(v); }`.
    """
    few = bool(rest) and isinstance(rest[0], If) and rest[0].no is None and _counts(facts, bare(rest[0].condition))
    under = rest[0] if rest and isinstance(rest[0], If) and (few or _first_warp(facts, rest[0])) else None
    inner = under.yes.statements if under is not None else rest
    loaded: dict[str, Second] = {}
    for count, statement in enumerate(inner, start=1):
        found = _loaded(facts, statement, firsts, arrays, few=few)
        if found is not None:
            loaded[found[0]] = found[1]
        elif not is_barrier(statement):
            guard = statement if under is None and isinstance(statement, If) and _first_warp(facts, statement) else None
            inside = (statement,) if guard is None else tuple(flat(guard.yes))
            taken = _reduced(facts, inside, firsts, loaded, guarded=under is not None or guard is not None)
            if guard is not None and _is_whole(loaded, firsts):
                return Stage(loaded, count, inside[taken - 1], guard, inside[taken:])
            if taken < len(inside):
                return None
        if _is_whole(loaded, firsts):
            return Stage(loaded, count if under is None else 1, statement, under, inner[count:] if under else ())
    return None


def _is_whole(loaded: dict[str, Second], firsts: tuple[Reduction, ...]) -> bool:
    return len(loaded) == len(firsts) and all(value.reduced for value in loaded.values())


def _reduced(
    facts: Facts,
    statements: tuple[Statement, ...],
    firsts: tuple[Reduction, ...],
    loaded: dict[str, Second],
    *,
    guarded: bool,
) -> int:
    """Mark loaded values that the first statements reduce as the first stage did; how many statements do just that."""
    for count, statement in enumerate(statements):
        again = reduction(facts, statement) or reduction(facts, statement, (facts.threads or 0) // WARP)
        first = next((f for f in firsts if again and f.target in loaded and _reads(again, loaded[f.target])), None)
        if again is None or first is None or again.operation != first.operation or loaded[first.target].reduced:
            return count
        value = loaded[first.target]
        if again.target != value.result:
            if not isinstance(statement, Declare):
                return count
            value = replace(value, result=again.target, declared=statement.variables[0].type, loaded=value.result)
        held = value.held if again.everywhere and number(again.width) == WARP else value.held or First.LANE
        loaded[first.target] = replace(value, held=First.THREAD if guarded else held, reduced=True)
    return len(statements)


def _reads(again: Reduction, value: Second) -> bool:
    """Returns whether a reduction is one of what was loaded."""
    return is_name(again.value, value.result)


def _loaded(
    facts: Facts, statement: Statement, firsts: tuple[Reduction, ...], arrays: dict[str, str], *, few: bool
) -> tuple[str, Second] | None:
    """`v = t < warps ? a[lane] : neutral` or `T w = ...`: the variable of the first stage, and what is known.

    With `few`, where no other threads are, `v = a[lane]`.
    """
    given = given_by(statement)
    if given is None:
        return None
    name, declared, value = given
    read = value if few else value.yes if isinstance(value, Choice) else None
    if not isinstance(read, Subscript):
        return None
    first = next((f for f in firsts if is_name(read.owner, arrays[f.target])), None)
    if first is None or not (facts.is_lane(read.index) or facts.is_thread(read.index)):
        return None
    if declared is None and name != first.target:
        return None
    if not isinstance(value, Choice):
        return first.target, Second(arrays[first.target], name, declared, None, First.THREAD)
    condition = value.condition
    if not isinstance(condition, Binary) or not _counts(facts, condition):
        return None
    if not is_neutral(facts, first.operation, value.no):
        return None
    held = None if facts.is_lane(condition.left) else First.THREAD
    return first.target, Second(arrays[first.target], name, declared, value.no, held)


def given_by(statement: Statement) -> tuple[str, TypeName | None, Expression] | None:
    """`T v = value;` or `v = value;`: the name, its type where it is declared, and the value."""
    if isinstance(statement, Declare) and len(statement.variables) == 1:
        variable = statement.variables[0]
        return None if variable.value is None else (variable.name, variable.type, bare(variable.value))
    made = bare(statement.expression) if isinstance(statement, Evaluate) else None
    if not isinstance(made, Assign) or made.operator or not isinstance(made.target, Name):
        return None
    return made.target.name, None, made.value


def _counts(facts: Facts, condition: Expression) -> bool:
    """Returns whether `t < n` or `lane < n` with n the number of warps."""
    assert facts.threads is not None
    if not isinstance(condition, Binary) or condition.operator != "<":
        return False
    right = condition.right.operand if isinstance(condition.right, Cast) else condition.right
    number_of_warps = facts.value(right) == facts.threads // WARP
    return number_of_warps and (facts.is_thread(condition.left) or facts.is_lane(condition.left))


def is_neutral(facts: Facts, operation: str, value: Expression) -> bool:
    """Returns whether a value changes nothing, or for a maximum or minimum may be taken along."""
    while isinstance(value, Cast):
        value = value.operand
    if operation in {"sum", "or", "xor"}:
        return isinstance(value, Literal) and value.value == 0
    if operation == "product":
        return isinstance(value, Literal) and value.value == 1
    return operation in {"max", "min"} and facts.is_uniform(value)


def is_infinite(operation: str, value: Expression) -> bool:
    """Returns whether a maximum or minimum with `value` changes nothing, whatever the other one is."""
    while isinstance(value, Cast):
        value = value.operand
    if operation == "max":
        if not isinstance(value, Unary) or value.operator != "-":
            return False
        value = value.operand
    return isinstance(value, Name) and value.name in _INFINITE


def is_first_thread(facts: Facts, condition: Expression) -> bool:
    """`t == 0` or `!t`."""
    made = bare(condition)
    if isinstance(made, Unary) and made.operator == "!":
        return facts.is_thread(made.operand)
    return isinstance(made, Binary) and made.operator == "==" and number(made.right) == 0 and facts.is_thread(made.left)


def _first_warp(facts: Facts, statement: If) -> bool:
    """`if (warp == 0)` or `if (t < 32)`, without `else`."""
    made = bare(statement.condition)
    if statement.no is not None:
        return False
    if isinstance(made, Unary) and made.operator == "!":
        return facts.is_warp(made.operand)
    if not isinstance(made, Binary):
        return False
    if made.operator == "<" and facts.is_thread(made.left):
        return facts.value(made.right) == WARP
    return made.operator == "==" and number(made.right) == 0 and facts.is_warp(made.left)
