"""Inclusive scans: `for (d = 1; d < 32; d *= 2) { n = __shfl_up_sync(mask, v, d); if (lane >= d) v += n; }`, and over a
shared array with two barriers a turn."""

from __future__ import annotations

from collections.abc import Callable

from porter.syntax.nodes import (
    Assign,
    Binary,
    Call,
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
)
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.loops import Combine, combine, steps
from porter_triton.lift.trees import bare, called, flat, intrinsic, is_barrier, is_name, number

_SCANNED = frozenset({"sum", "max", "min"})


def warp_scan(facts: Facts, statement: Statement) -> Statement | None:
    """A loop of exchanges with the lanes below, as an assignment of the scan."""
    found = steps(statement)
    if found is None or not found.rising or not isinstance(statement, For) or facts.value(found.extent) != WARP:
        return None
    inner = tuple(s for s in flat(statement.body) if not is_barrier(s))
    if len(inner) != 2 or not isinstance(inner[1], If) or inner[1].no is not None:
        return None
    other, value = _declared(inner[0])
    guarded = flat(inner[1].yes)
    made = combine(guarded[0]) if len(guarded) == 1 else None
    if made is None or not isinstance(made.target, Name) or not is_name(made.other, other):
        return None
    if not _from_below(value, made.target, found.name) or not _reaches(inner[1].condition, found.name, facts.is_lane):
        return None
    return _scanned("warp", made, statement.line)


def block_scan(facts: Facts, statement: Statement) -> Statement | None:
    """A loop that adds to each element of a shared array the one `d` before it, as an assignment of the scan."""
    found = steps(statement)
    if found is None or not found.rising or not isinstance(statement, For) or facts.threads is None:
        return None
    extent = facts.value(found.extent)
    if extent is None or extent < facts.threads or not facts.leaves_together:
        return None
    parts = _parts(statement)
    if parts is None:
        return None
    other, value, made, guard = parts
    if (
        not isinstance(made.target, Subscript)
        or not is_name(made.other, other)
        or not facts.is_thread(made.target.index)
    ):
        return None
    if not _before(facts, value, made.target, found.name):
        return None
    neutral = number(value.no) == 0 or (isinstance(value.no, Literal) and value.no.value == 0)
    safe = made.operation == "sum" and neutral if guard is None else _reaches(guard, found.name, facts.is_thread)
    return _scanned("block", made, statement.line) if safe else None


def _parts(loop: For) -> tuple[str, Choice, Combine, Expression | None] | None:
    """The variable with the earlier element, that as a choice, the combination, and the condition of the latter."""
    statements = flat(loop.body)
    barriers = [i for i, s in enumerate(statements) if called(s) == "__syncthreads"]
    work = [i for i, s in enumerate(statements) if not is_barrier(s)]
    if len(work) not in {2, 3} or not any(work[-2] < b < work[-1] for b in barriers):
        return None
    if not any(b < work[0] or b > work[-1] for b in barriers):
        return None
    earlier = _earlier(tuple(statements[i] for i in work[:-1]))
    last = statements[work[-1]]
    guard = last.condition if isinstance(last, If) and last.no is None and len(flat(last.yes)) == 1 else None
    made = combine(flat(last.yes)[0] if isinstance(last, If) and guard is not None else last)
    return None if earlier is None or made is None else (*earlier, made, guard)


def _earlier(statements: tuple[Statement, ...]) -> tuple[str, Choice] | None:
    """`T v = c ? a : b`, or `T v = b; if (c) v = a;`."""
    name, value = _declared(statements[0])
    if len(statements) == 1:
        return (name, value) if isinstance(value, Choice) else None
    (chosen,) = statements[1:]
    if not isinstance(chosen, If) or chosen.no is not None or len(flat(chosen.yes)) != 1:
        return None
    (inner,) = flat(chosen.yes)
    if not isinstance(inner, Evaluate) or not isinstance(inner.expression, Assign) or inner.expression.operator:
        return None
    if not name or not is_name(inner.expression.target, name):
        return None
    otherwise = value if value is not None else Name(name)
    return name, bare(Choice(chosen.condition, inner.expression.value, otherwise))


def _declared(statement: Statement) -> tuple[str, Expression | None]:
    if isinstance(statement, Declare) and len(statement.variables) == 1 and not statement.variables[0].extents:
        return statement.variables[0].name, bare(statement.variables[0].value)
    return "", None


def _from_below(value: Expression | None, target: Expression, step: str) -> bool:
    """Returns whether `value` is `__shfl_up_sync(mask, target, step)` over whole warps."""
    if not isinstance(value, Call) or called(value) not in {"__shfl_up_sync", "__shfl_up"}:
        return False
    moved, by, *rest = value.arguments[called(value).endswith("_sync") :]
    return moved == target and is_name(by, step) and all(number(r) == WARP or is_name(r, "warpSize") for r in rest)


def _reaches(condition: Expression, step: str, coordinate: Callable[[Expression], bool]) -> bool:
    """Returns whether the condition is `coordinate >= step`."""
    made = bare(condition)
    if not isinstance(made, Binary) or made.operator not in {">=", "<="}:
        return False
    high, low = (made.left, made.right) if made.operator == ">=" else (made.right, made.left)
    return coordinate(high) and is_name(low, step)


def _before(facts: Facts, value: Choice, target: Subscript, step: str) -> bool:
    """Returns whether `value` is `t >= d ? a[t - d] : ...` of the array of `target`."""
    read = value.yes
    if not _reaches(value.condition, step, facts.is_thread) or not isinstance(read, Subscript):
        return False
    index = read.index
    if read.owner != target.owner or not isinstance(index, Binary) or index.operator != "-":
        return False
    return facts.is_thread(index.left) and is_name(index.right, step)


def _scanned(scope: str, made: Combine, line: int) -> Statement | None:
    if made.operation not in _SCANNED:
        return None
    value = intrinsic(f"{scope}_scan_{made.operation}", made.target, line=line)
    return Evaluate(Assign("", made.target, value, line), line)
