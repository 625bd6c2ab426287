"""Exchanges of several values at once: the extreme and where it is, Welford's mean, sum of squares and count.

What a turn of the loop computes is told by computing it: on enough exact numbers, ties, zeros and limits among them, it
must give what the reduction's own step does. NaN and rounding stand aside, as with any order of additions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations, product

from porter.syntax.nodes import (
    Assign,
    Block,
    Call,
    Declare,
    Evaluate,
    Expression,
    For,
    Member,
    Name,
    Statement,
    TypeName,
    Variable,
)
from porter.syntax.walk import walk
from porter_triton.lift.exact import InexactError, Machine, Number, Values
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.loops import steps
from porter_triton.lift.only import First, only_read_by
from porter_triton.lift.trees import bare, called, flat, intrinsic, is_barrier, is_name, mapped, mentions, number
from porter_triton.lift.warps import same_segment, segment
from porter_triton.lower.assigned import assigned_names
from porter_triton.lower.types import BUILT_IN, Arithmetic

Place = Name | Member
Part = tuple[Number, ...]
_FIELDS = "xyz"


@dataclass(frozen=True, slots=True)
class Exchange:
    """`other` becomes what `own` is in another lane. `everywhere`: all lanes end with the result, else the first."""

    own: Place
    other: Place
    everywhere: bool


def _extreme(sign: int, last: int) -> Callable[[Part, Part], Part]:
    return lambda a, b: max(a, b, key=lambda pair: (sign * pair[0], last * pair[1]))


def _welford(a: Part, b: Part) -> Part:
    """Chan's merge of (mean, sum of squared deviations, count)."""
    count, delta = a[2] + b[2], b[0] - a[0]
    share = Fraction(b[2]) / count
    return a[0] + delta * share, a[1] + b[1] + delta * delta * a[2] * share, count


_EXTREMES = {
    "argmax": _extreme(1, -1),
    "argmin": _extreme(-1, -1),
    "argmax_last": _extreme(1, 1),
    "argmin_last": _extreme(-1, 1),
}


def tuple_exchanges(facts: Facts, statement: Statement) -> tuple[Statement, ...] | None:
    """A loop of exchanges of two or three values as one reduction over lanes, and assignments of what it gives."""
    found = steps(statement)
    if found is None or found.least != 1 or not isinstance(statement, For):
        return None
    width = segment(facts, found.extent)
    parts = _split(statement.body, found.name, facts, width) if width is not None else None
    if width is None or parts is None:
        return None
    exchanges, rest = parts
    if len({e.everywhere for e in exchanges}) != 1 or not _owned(facts, statement, exchanges, rest):
        return None
    if not exchanges[0].everywhere and not (number(width) == WARP and _left_to_first(facts, statement, exchanges)):
        return None
    named = _named(facts, exchanges, rest)
    return None if named is None else _written(facts, *named, width, statement.line)


def _left_to_first(facts: Facts, loop: For, exchanges: tuple[Exchange, ...]) -> bool:
    """Whether after the loop only first lanes read what it exchanges; what it hands to functions is gone with it."""
    empty = replace(loop, body=Block((), loop.line))
    body = mapped(facts.function.body, lambda n: empty if n is loop else n)
    rest = replace(facts, function=replace(facts.function, body=body))
    return all(only_read_by(rest, empty, _root(e.own), First.LANE) for e in exchanges)


def _split(
    body: Block, step: str, facts: Facts, width: Expression
) -> tuple[tuple[Exchange, ...], tuple[Statement, ...]] | None:
    """The exchanges a turn begins with, and what is done with them; None where it is no such loop."""
    exchanges: list[Exchange] = []
    rest: list[Statement] = []
    for place, value, declaration in _parts(body):
        exchange = None if place is None else _exchange(facts, place, value, step, width)
        if exchange is not None and not any(not isinstance(r, Declare) for r in rest):
            exchanges.append(exchange)
        else:
            rest.append(declaration)
    if not 2 <= len(exchanges) <= 3 or not rest or mentions(tuple(rest), step):
        return None
    distinct = len({e.own for e in exchanges}) == len({e.other for e in exchanges}) == len(exchanges)
    return (tuple(exchanges), tuple(rest)) if distinct else None


def _parts(body: Block) -> Iterator[tuple[Place | None, Expression | None, Statement]]:
    """Each statement, declarations one variable at a time, with the place it sets and to what."""
    for statement in (s for s in flat(body) if not is_barrier(s)):
        if isinstance(statement, Declare):
            for variable in statement.variables:
                yield Name(variable.name), bare(variable.value), Declare((variable,), statement.line)
        elif isinstance(statement, Evaluate) and isinstance(statement.expression, Assign):
            made = bare(statement.expression)
            plain = not made.operator and isinstance(made.target, Name | Member)
            yield made.target if plain else None, made.value, statement  # type: ignore[misc]
        else:
            yield None, None, statement


def _exchange(facts: Facts, place: Place, value: Expression | None, step: str, width: Expression) -> Exchange | None:
    """`place = __shfl_xor_sync(mask, own, step)`, or down."""
    kind = called(value).removesuffix("_sync")
    if not isinstance(value, Call) or kind not in {"__shfl_xor", "__shfl_down"}:
        return None
    own, lane, *rest = value.arguments[called(value).endswith("_sync") :]
    if not isinstance(own, Name | Member) or not is_name(lane, step):
        return None
    if not all(same_segment(facts, r, width) for r in rest):
        return None
    return Exchange(own, place, kind == "__shfl_xor")


def _owned(facts: Facts, loop: For, exchanges: tuple[Exchange, ...], rest: tuple[Statement, ...]) -> bool:
    """Whether a turn changes nothing but the values exchanged and what it declares itself."""
    inside = {v.name for n in walk(loop.body) if isinstance(n, Declare) for v in n.variables}
    roots = {_root(e.own) for e in exchanges}
    changed = assigned_names(facts.unit, rest) | {_root(e.other) for e in exchanges}
    return "" not in roots and not roots & inside and changed <= roots | inside


def _root(place: Place) -> str:
    owner = place.owner if isinstance(place, Member) else place
    return owner.name if isinstance(owner, Name) else ""


def _named(
    facts: Facts, exchanges: tuple[Exchange, ...], rest: tuple[Statement, ...]
) -> tuple[str, tuple[Exchange, ...]] | None:
    """The reduction that the turns are, and the exchanges in its order."""
    for order in permutations(exchanges):
        if len(order) == 3:
            if _agrees(facts, order, rest, _welford, _moments(facts, order)):
                return "welford", order
            continue
        for name, step in _EXTREMES.items():
            if _agrees(facts, order, rest, step, _pairs(facts, order)):
                return name, order
    return None


def _pairs(facts: Facts, order: Sequence[Exchange]) -> list[tuple[Part, Part]]:
    """Pairs of values with their indices, which are whole numbers."""
    if _is_real(facts, order[1].own):
        return []
    most = 3 * 10**38 if _is_real(facts, order[0].own) else 2**31 - 1
    single = list(product((-most, -1, 0, 1, most), (-1, 0, 1, 2**31 - 1)))
    return list(product(single, single))


def _moments(facts: Facts, order: Sequence[Exchange]) -> list[tuple[Part, Part]]:
    """Pairs of moments; counts are whole numbers, the other two are none."""
    draw = random.Random(0)

    def one(count: int) -> Part:
        real = tuple(Fraction(draw.randint(-999, 999), draw.randint(1, 99)) for _ in range(2))
        return (*real, count if count else 0)

    if not all(_is_real(facts, e.own) for e in order[:2]):
        return []
    return [(one(n), one(m)) for n, m in product((0, 1, 2, 7, 30), (0, 1, 3, 8)) if n + m]


def _agrees(
    facts: Facts,
    order: Sequence[Exchange],
    rest: tuple[Statement, ...],
    step: Callable[[Part, Part], Part],
    samples: list[tuple[Part, Part]],
) -> bool:
    """Whether a turn does on all samples what `step` does."""
    try:
        return bool(samples) and all(_turn(facts, order, rest, a, b) == step(a, b) for a, b in samples)
    except InexactError:
        return False


def _turn(facts: Facts, order: Sequence[Exchange], rest: tuple[Statement, ...], own: Part, other: Part) -> Part:
    values: Values = {}
    for exchange, mine, theirs in zip(order, own, other, strict=True):
        for place, given in ((exchange.own, mine), (exchange.other, theirs)):
            real = _is_real(facts, exchange.own)
            held = Fraction(given) if real else given
            if isinstance(place, Member):
                struct = values.setdefault(_root(place), {})
                assert isinstance(struct, dict)
                struct[place.name] = held
            else:
                values[place.name] = held
    begun = {name for name, value in values.items() if isinstance(value, dict)}
    fields = {name: set(values[name]) for name in begun}  # type: ignore[arg-type]
    left = Machine(facts.unit, values).run(tuple(s for s in rest if not _declares(s, begun)))
    if left is not None or any(set(values[name]) != known for name, known in fields.items()):  # type: ignore[arg-type]
        raise InexactError
    return tuple(_held(values, e.own) for e in order)


def _declares(statement: Statement, names: set[str]) -> bool:
    """Whether a statement declares the struct that the exchanges fill, without a value."""
    if not isinstance(statement, Declare):
        return False
    return statement.variables[0].name in names and statement.variables[0].value is None


def _held(values: Values, place: Place) -> Number:
    found = values[_root(place)]
    found = found[place.name] if isinstance(place, Member) and isinstance(found, dict) else found
    if isinstance(found, dict):
        raise InexactError
    return found


def _is_real(facts: Facts, place: Place) -> bool:
    """Whether a place holds real numbers: by its declared type, else by that of a template's parameter."""
    kind = _type(facts, _root(place))
    if isinstance(place, Member) and kind is not None:
        structs = facts.unit.struct(kind.name)
        kind = next((f.type for s in structs for f in s.fields if f.name == place.name), None)
    type_ = BUILT_IN.get(kind.name) if kind is not None else None
    return type_.is_float if isinstance(type_, Arithmetic) else True


def _type(facts: Facts, name: str) -> TypeName | None:
    declared = (
        v.type for n in walk(facts.function.body) if isinstance(n, Declare) for v in n.variables if v.name == name
    )
    return next(declared, next((p.type for p in facts.function.parameters if p.name == name), None))


def _written(
    facts: Facts, operation: str, order: tuple[Exchange, ...], width: Expression, line: int
) -> tuple[Statement, ...] | None:
    """`auto r = porter::warp_argmax(v, i)`, and the parts of r assigned."""
    held = f"{_root(order[0].own)}_{operation}"
    if any(getattr(n, "name", "") == held for n in walk(facts.function.body)):
        return None
    value = intrinsic(f"warp_{operation}", *(e.own for e in order), width, line=line)
    parts = (
        Evaluate(Assign("", e.own, Member(Name(held, line=line), field, line=line), line), line)
        for e, field in zip(order, _FIELDS, strict=False)
    )
    return (Declare((Variable(held, TypeName("auto"), value=value, line=line),), line), *parts)
