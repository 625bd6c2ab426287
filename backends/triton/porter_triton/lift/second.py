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
    For,
    If,
    Literal,
    Name,
    Statement,
    Subscript,
    TypeName,
    Unary,
    Update,
)
from porter_triton.lift.blocks import fresh
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.loops import Combine, combine
from porter_triton.lift.only import First
from porter_triton.lift.trees import bare, flat, is_barrier, is_name, mapped, number
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
    """Whether a reduction is one of what was loaded."""
    return is_name(again.value, value.result)


def _loaded(
    facts: Facts, statement: Statement, firsts: tuple[Reduction, ...], arrays: dict[str, str], *, few: bool
) -> tuple[str, Second] | None:
    """`v = t < warps ? a[lane] : neutral` or `T w = ...`: the variable of the first stage, and what is known.

    With `few`, where no other threads are, `v = a[lane]`.
    """
    given = _given(statement)
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
    if not _neutral(facts, first.operation, value.no):
        return None
    held = None if facts.is_lane(condition.left) else First.THREAD
    return first.target, Second(arrays[first.target], name, declared, value.no, held)


def _given(statement: Statement) -> tuple[str, TypeName | None, Expression] | None:
    """`T v = value;` or `v = value;`: the name, its type where it is declared, and the value."""
    if isinstance(statement, Declare) and len(statement.variables) == 1:
        variable = statement.variables[0]
        return None if variable.value is None else (variable.name, variable.type, bare(variable.value))
    made = bare(statement.expression) if isinstance(statement, Evaluate) else None
    if not isinstance(made, Assign) or made.operator or not isinstance(made.target, Name):
        return None
    return made.target.name, None, made.value


def _counts(facts: Facts, condition: Expression) -> bool:
    """Whether `t < n` or `lane < n` with n the number of warps."""
    assert facts.threads is not None
    if not isinstance(condition, Binary) or condition.operator != "<":
        return False
    right = condition.right.operand if isinstance(condition.right, Cast) else condition.right
    number_of_warps = facts.value(right) == facts.threads // WARP
    return number_of_warps and (facts.is_thread(condition.left) or facts.is_lane(condition.left))


def serial_stage(
    facts: Facts, rest: tuple[Statement, ...], firsts: tuple[Reduction, ...], arrays: dict[str, str]
) -> Stage | None:
    """`T v = a[0]; for (i = 1; i < warps; ++i) v = v op a[i];` by the first thread, or by each of them."""
    (first, *more) = firsts
    guard = rest[0].condition if rest and isinstance(rest[0], If) and rest[0].no is None else None
    under = rest[0] if rest and isinstance(rest[0], If) and guard and is_first_thread(facts, guard) else None
    inner = under.yes.statements if under is not None else rest
    if more or not inner:
        return None
    if under is not None and (kept := _in_place(facts, first, arrays[first.target], under)) is not None:
        return kept
    given = _given(inner[0])
    if given is None or len(inner) < 2 or (given[1] is None and given[0] != first.target):
        return None
    name, declared, value = given
    array = arrays[first.target]
    begin = _begun(facts, first, array, value)
    made = _counted(facts, inner[1], begin, facts.threads or 0)
    if made != Combine(first.operation, Name(name), Subscript(Name(array), Name("i"))):
        return None
    held = None if under is None else First.THREAD
    second = Second(array, name, declared, None, held, reduced=True, begun=None if begin else value)
    if under is not None:
        return Stage({first.target: second}, 1, inner[1], under, inner[2:])
    return Stage({first.target: second}, 2, inner[1])


def _in_place(facts: Facts, first: Reduction, array: str, under: If) -> Stage | None:
    """`for (i = 1; i < warps; ++i) a[0] = a[0] op a[i];` by the first thread."""
    loop, *rest = under.yes.statements
    whole = Subscript(Name(array), Literal(0, "int"))
    made = _counted(facts, loop, 1, facts.threads or 0)
    if made is None or number(getattr(made.target, "index", None)) != 0:
        return None
    if bare(made) != Combine(first.operation, made.target, Subscript(Name(array), Name("i"))):
        return None
    if not isinstance(made.target, Subscript) or not is_name(made.target.owner, array):
        return None
    name = fresh(f"{array}_{first.operation}", facts.function.body)
    second = Second(array, name, TypeName("auto"), None, None, reduced=True)
    store = Evaluate(Assign("", whole, Name(name), under.line), under.line)
    return Stage({first.target: second}, 1, loop, under, (store, *rest), kept=True)


def _begun(facts: Facts, first: Reduction, array: str, value: Expression) -> int | None:
    """How many elements a variable holds at first: none where it has the neutral value, one where it is a[0]."""
    if isinstance(value, Subscript) and is_name(value.owner, array):
        return 1 if number(value.index) == 0 or facts.is_thread(value.index) else None
    return 0 if _neutral(facts, first.operation, value) else None


def _counted(facts: Facts, loop: Statement, begin: int | None, threads: int) -> Combine | None:
    """What `for (i = begin; i < warps; ++i)` does in each turn, with `i` for the name of the counter."""
    if begin is None or not isinstance(loop, For) or len(loop.start) != 1 or not isinstance(loop.start[0], Declare):
        return None
    counter = loop.start[0].variables[0]
    condition, step = bare(loop.condition), loop.step
    if number(counter.value) != begin or not isinstance(condition, Binary) or condition.operator != "<":
        return None
    if not is_name(condition.left, counter.name) or facts.value(condition.right) != threads // WARP:
        return None
    if not isinstance(step, Update) or step.operator != "++" or not is_name(step.operand, counter.name):
        return None
    body = flat(loop.body)
    if len(body) != 1:
        return None
    return combine(mapped(body[0], lambda n: Name("i") if is_name(n, counter.name) else n))


def _neutral(facts: Facts, operation: str, value: Expression) -> bool:
    """Whether a value changes nothing, or for a maximum or minimum may be taken along."""
    while isinstance(value, Cast):
        value = value.operand
    if operation in {"sum", "or", "xor"}:
        return isinstance(value, Literal) and value.value == 0
    if operation == "product":
        return isinstance(value, Literal) and value.value == 1
    return operation in {"max", "min"} and facts.is_uniform(value)


def is_infinite(operation: str, value: Expression) -> bool:
    """Whether a maximum or minimum with `value` changes nothing, whatever the other one is."""
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
