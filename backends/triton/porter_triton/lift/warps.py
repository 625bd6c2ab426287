"""Warp reductions: `for (o = 16; o; o >>= 1) v += __shfl_xor_sync(mask, v, o)`, and with `__shfl_down_sync`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.syntax.nodes import (
    Assign,
    Call,
    Declare,
    Evaluate,
    Expression,
    For,
    Literal,
    Member,
    Name,
    Return,
    Statement,
    Unary,
)
from porter.syntax.terms import mentions
from porter_triton.lift import templates
from porter_triton.lift.combining import type_of
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.loops import Combine, combine, inlined, steps
from porter_triton.lift.only import First, only_read_by
from porter_triton.lift.trees import bare, called, flat, intrinsic, is_barrier, is_name, mapped, number
from porter_triton.lower.assigned import acts

_OPERATIONS = frozenset({"sum", "product", "max", "min", "and", "or", "xor"})
_REDUX = {f"__reduce_{name}_sync": {"add": "sum"}.get(name, name) for name in ("add", "max", "min", "and", "or", "xor")}
_XOR, _DOWN = "__shfl_xor_sync", "__shfl_down_sync"


@dataclass(frozen=True, slots=True)
class Reduction:
    """`target = reduction of value` over segments of `width` lanes. `everywhere`: in each lane, else in the first.

    No name is the `target` where `value` is an element that becomes its own reduction.
    """

    operation: str
    target: str
    value: Expression
    width: Expression
    everywhere: bool


def butterfly(facts: Facts, statement: Statement) -> tuple[Statement, ...] | None:
    """A loop of exchanges: by `lane ^ step` every lane has the result afterwards.

    By `lane + step` only the first one has it: then nobody else may read the variable until it is written anew.
    """
    found = exchanges(facts, statement)
    if not found:
        return None
    for reduction in found:
        if not reduction.everywhere and not (
            number(reduction.width) == WARP and _left_to_first(facts, statement, reduction.target)
        ):
            return None
    return tuple(_written(reduction, statement.line) for reduction in found)


def unrolled(facts: Facts, statements: tuple[Statement, ...]) -> tuple[int, Statement] | None:
    """Exchanges with lanes 16, 8, 4, 2, 1 or the other way round, one statement each: how many, and what they make."""
    made: list[Reduction] = []
    for statement in statements[:5]:
        found = _exchange(facts, statement, None, Literal(WARP, "int"))
        if found is None or (made and (found.value, found.operation) != (made[0].value, made[0].operation)):
            return None
        made.append(found)
    distances = [_distance(s) for s in statements[:5]]
    if distances not in ([16, 8, 4, 2, 1], [1, 2, 4, 8, 16]):
        return None
    everywhere = [r.everywhere for r in made]
    if any(everywhere) != all(everywhere):
        return None
    if not any(everywhere) and not _left_to_first(facts, statements[4], made[0].target):
        return None
    return 5, _written(made[0], statements[0].line)


def _left_to_first(facts: Facts, last: Statement, target: str) -> bool:
    return target != "" and only_read_by(facts, last, target, First.LANE)


def exchanges(facts: Facts, statement: Statement) -> tuple[Reduction, ...]:
    """Returns what a loop of exchanges reduces; nothing for any other statement."""
    found = steps(statement)
    if found is None or found.least != 1 or not isinstance(statement, For):
        return ()
    width = segment(facts, found.extent)
    if width is None:
        return ()
    inner = inlined(tuple(s for s in flat(statement.body) if not is_barrier(s)))
    made = [_exchange(facts, s, found.name, width) for s in inner]
    kept = tuple(r for r in made if r is not None)
    places = [r.target or _field(facts, r.value) for r in kept]
    distinct = len(set(places)) == len(made)
    return kept if distinct and (len(made) == 1 or all(places)) else ()


def _field(facts: Facts, place: Expression) -> str:
    """A field of a struct that is no pointer's: two of one struct, or of two variables, are two places."""
    if not isinstance(place, Member) or place.arrow or not isinstance(place.owner, Name):
        return ""
    kind = type_of(facts, place.owner.name)
    union = kind is None or any(s.union for s in facts.unit.struct(kind.name))
    return "" if union else f"{place.owner.name}.{place.name}"


def reduction(facts: Facts, statement: Statement, width: int = WARP) -> Reduction | None:
    """`statement` as a reduction over `width` lanes: a loop, a lifted one, or a call of a function that is one."""
    loop = exchanges(facts, statement)
    if loop:
        return loop[0] if len(loop) == 1 and loop[0].target and number(loop[0].width) == width else None
    target, value = _assigned(statement)
    if not isinstance(value, Call) or not value.arguments:
        return None
    lifted = isinstance(value.callee, Name) and value.callee.name.startswith("porter::warp_")
    if lifted and called(value).removeprefix("warp_") in _OPERATIONS:
        given = facts.value(value.arguments[1]) if len(value.arguments) == 2 else WARP
        of = Reduction(called(value).removeprefix("warp_"), target, value.arguments[0], Literal(width, "int"), True)
        return of if given == width else None
    if (operation := _REDUX.get(called(value))) is not None and len(value.arguments) == 2:
        whole = width == WARP and _is_full(facts, value.arguments[0])
        return Reduction(operation, target, value.arguments[1], Literal(WARP, "int"), True) if whole else None
    return _of_function(facts, value, target, width) if len(value.arguments) == 1 else None


def _is_full(facts: Facts, mask: Expression) -> bool:
    """Returns whether a mask names all lanes: `0xffffffff`, `~0`, `-1`, or a constant of the first value."""
    if isinstance(mask, Unary):
        return (mask.operator, number(mask.operand)) in {("~", 0), ("-", 1)}
    return facts.value(mask) == 0xFFFFFFFF


def _of_function(facts: Facts, call: Call, target: str, width: int) -> Reduction | None:
    """A call of a function of one parameter whose body reduces that and returns it."""
    name, value = called(call), call.arguments[0]
    functions = [f for f in facts.unit.named(name) if f.head.space != "global"] if name else []
    if len(functions) != 1 or len(functions[0].parameters) != 1:
        return None
    (function,) = functions
    inner = Facts(facts.unit, function, facts.block, templates.bound(facts, call, function))
    statements = [s for s in flat(function.body) if not is_barrier(s)]
    if len(statements) != 2 or not isinstance(statements[1], Return):
        return None
    parameter = function.parameters[0].name
    found = reduction(inner, statements[0], width) if name != called(statements[0]) else None
    if found is None or found.target != parameter or not is_name(statements[1].value, parameter):
        return None
    if found.value != Name(parameter):
        return None
    return Reduction(found.operation, target, value, found.width, found.everywhere)


def _assigned(statement: Statement) -> tuple[str, Expression | None]:
    """The variable and the value of `v = value` or `T v = value`, without lines."""
    if isinstance(statement, Declare) and len(statement.variables) == 1 and not statement.variables[0].extents:
        return statement.variables[0].name, bare(statement.variables[0].value)
    if isinstance(statement, Evaluate) and isinstance(statement.expression, Assign):
        made = bare(statement.expression)
        if not made.operator and isinstance(made.target, Name):
            return made.target.name, made.value
    return "", None


def segment(facts: Facts, node: Expression) -> Expression | None:
    """The width of a segment: a number where it is known, or the name of a constant that lowering knows."""
    value = facts.value(node)
    if value is not None:
        return Literal(value, "int") if 1 < value <= WARP and value & (value - 1) == 0 else None
    if not isinstance(node, Name) or node.template:
        return None
    known_later = any(p.name == node.name for p in facts.parameters) or node.name in facts.constexprs
    return node if known_later else None


def _distance(statement: Statement) -> int | None:
    """Returns how far apart the lanes are that exchange."""
    found = combine(statement)
    if found is None or not isinstance(found.other, Call):
        return None
    return number(found.other.arguments[1 + called(found.other).endswith("_sync")])


def _exchange(facts: Facts, statement: Statement, step: str | None, width: Expression) -> Reduction | None:
    """`v = v op __shfl_xor_sync(mask, v, step)` on a variable or an element; without `step` by any number."""
    found: Combine | None = combine(statement)
    if found is None or acts(found.target) or mentions(found.target, step or "") or not isinstance(found.other, Call):
        return None
    name = called(found.other)
    synchronous = name.endswith("_sync")
    kind = name if synchronous else f"{name}_sync"
    if kind not in {_XOR, _DOWN} or len(found.other.arguments) < 2 + synchronous:
        return None
    value, lane, *rest = found.other.arguments[synchronous:]
    by_step = number(lane) is not None if step is None else is_name(lane, step)
    if value != found.target or not by_step or not all(same_segment(facts, r, width) for r in rest):
        return None
    target = found.target.name if isinstance(found.target, Name) else ""
    return Reduction(found.operation, target, value, width, kind == _XOR)


def same_segment(facts: Facts, given: Expression, width: Expression) -> bool:
    """Returns whether the segments that a shuffle names are those of the reduction, or the whole warp."""
    return given == width or facts.value(given) in {WARP, number(width)} - {None}


def _written(found: Reduction, line: int) -> Statement:
    target = mapped(found.value, lambda n: replace(n, line=line) if hasattr(n, "line") else n)
    arguments = (target,) if number(found.width) == WARP else (target, found.width)
    return Evaluate(Assign("", target, intrinsic(f"warp_{found.operation}", *arguments, line=line), line), line)
