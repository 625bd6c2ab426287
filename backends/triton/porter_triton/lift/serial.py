"""The second stage of a block reduction as a loop: one thread or each of them goes through what the warps stored."""

from __future__ import annotations

from porter.syntax.nodes import (
    Assign,
    Binary,
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
    Update,
)
from porter_triton.lift.blocks import fresh
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.loops import Combine, combine
from porter_triton.lift.only import First
from porter_triton.lift.second import Second, Stage, given_by, is_first_thread, is_neutral
from porter_triton.lift.trees import bare, flat, is_name, mapped, number
from porter_triton.lift.warps import Reduction


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
    given = given_by(inner[0])
    if given is None and under is not None:
        return _from_own(facts, first, arrays[first.target], under)
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


def _from_own(facts: Facts, first: Reduction, array: str, under: If) -> Stage | None:
    """`for (i = 1; i < warps; ++i) v = v op a[i];` by the first thread, whose `v` is the first warp's."""
    loop, *rest = under.yes.statements
    made = _counted(facts, loop, 1, facts.threads or 0)
    if made != Combine(first.operation, Name(first.target), Subscript(Name(array), Name("i"))):
        return None
    second = Second(array, first.target, None, None, First.THREAD, reduced=True)
    return Stage({first.target: second}, 1, loop, under, tuple(rest))


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
    """Returns how many elements a variable holds at first: none where it has the neutral value, one where it is
    a[0].
    """
    if isinstance(value, Subscript) and is_name(value.owner, array):
        return 1 if number(value.index) == 0 or facts.is_thread(value.index) else None
    return 0 if is_neutral(facts, first.operation, value) else None


def _counted(facts: Facts, loop: Statement, begin: int | None, threads: int) -> Combine | None:
    """Returns what `for (i = begin; i < warps; ++i)` does in each turn, with `i` for the name of the counter."""
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
