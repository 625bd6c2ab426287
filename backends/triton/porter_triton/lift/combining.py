"""Which reduction the step of a loop over several values is: what it does is told by doing it.

On enough exact numbers, ties, zeros and limits among them, it must give what the reduction's own step does. NaN and
rounding stand aside, as with any order of additions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

from porter.syntax.nodes import Call, Declare, Member, Name, Statement, TypeName
from porter.syntax.walk import walk
from porter_triton.lift.exact import BEYOND, INFINITE, POWERS, InexactError, Machine, Number, Values, power
from porter_triton.lift.facts import Facts
from porter_triton.lift.trees import called
from porter_triton.lower.types import BUILT_IN, Arithmetic

Place = Name | Member
Part = tuple[Number, ...]
_NOTHING: Part = (-BEYOND, Fraction(0))
FIELDS = "xyz"  # what the parts of a result are called


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
    share = Fraction(b[2]) / count if count else Fraction(0)
    return a[0] + delta * share, a[1] + b[1] + delta * delta * a[2] * share, count


def _rescaled(a: Part, b: Part) -> Part:
    """The larger of two extremes, and the sum of what is below each, brought to it: softmax in one pass."""
    largest = max(a[0], b[0])
    return largest, a[1] * power(a[0] - largest) + b[1] * power(b[0] - largest)


_EXTREMES = {
    "argmax": _extreme(1, -1),
    "argmin": _extreme(-1, -1),
    "argmax_last": _extreme(1, 1),
    "argmin_last": _extreme(-1, 1),
}


def named(
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
        if _agrees(facts, order, rest, _rescaled, _scales(facts, order)) and _keeps_numbers(facts, order, rest):
            return "rescaled", order
    return None


def _pairs(facts: Facts, order: Sequence[Exchange]) -> list[tuple[Part, Part]]:
    """Pairs of values with their indices, which are whole numbers."""
    if _is_real(facts, order[1].own):
        return []
    most = 3 * 10**38 if _is_real(facts, order[0].own) else 2**31 - 1
    single = list(product((-most, -1, 0, 1, most), (-1, 0, 1, 2**31 - 1)))
    return list(product(single, single))


def _scales(facts: Facts, order: Sequence[Exchange]) -> list[tuple[Part, Part]]:
    """Pairs of an extreme and the sum below it; that of nothing is below everything."""
    if not all(_is_real(facts, e.own) for e in order):
        return []
    single: list[Part] = [(Fraction(m), Fraction(d, 3)) for m, d in product((-40, -3, 0, 1, 2, 700), (0, 1, 3, 16))]
    every = [*single, _NOTHING]
    return list(product(every, every))


def _keeps_numbers(facts: Facts, order: Sequence[Exchange], rest: tuple[Statement, ...]) -> bool:
    """Returns whether two lanes that have nothing make no NaN of it, as exp(-inf + inf) is: here they do not."""
    asked: set[str] = set()
    _turn(facts, order, rest, _NOTHING, _NOTHING, asked=asked)
    begins_finite = not any(_is_infinite(n) for f in facts.unit.functions for n in walk(f.body))
    return asked.isdisjoint(POWERS) or begins_finite


def _is_infinite(node: object) -> bool:
    name = called(node) if isinstance(node, Call) else node.name if isinstance(node, Name) else ""
    return name in INFINITE or name == "__int_as_float" or "infinity" in name


def _moments(facts: Facts, order: Sequence[Exchange]) -> list[tuple[Part, Part]]:
    """Pairs of moments, counts being whole numbers; those of nothing have one mean and no squares."""
    draw = random.Random(0)

    def one(count: int) -> Part:
        real = tuple(Fraction(draw.randint(-999, 999), draw.randint(1, 99)) for _ in range(2))
        return (*real, count if count else 0)

    if not all(_is_real(facts, e.own) for e in order[:2]):
        return []
    nothing = (Fraction(5), Fraction(0), 0)
    return [(nothing, nothing), *((one(n), one(m)) for n, m in product((0, 1, 2, 7, 30), (0, 1, 3, 8)) if n + m)]


def _agrees(
    facts: Facts,
    order: Sequence[Exchange],
    rest: tuple[Statement, ...],
    step: Callable[[Part, Part], Part],
    samples: list[tuple[Part, Part]],
) -> bool:
    """Returns whether a turn does on all samples what `step` does."""
    try:
        return bool(samples) and all(_turn(facts, order, rest, a, b) == step(a, b) for a, b in samples)
    except InexactError:
        return False


def _turn(
    facts: Facts,
    order: Sequence[Exchange],
    rest: tuple[Statement, ...],
    own: Part,
    other: Part,
    *,
    asked: set[str] | None = None,
) -> Part:
    values: Values = {}
    for exchange, mine, theirs in zip(order, own, other, strict=True):
        for place, given in ((exchange.own, mine), (exchange.other, theirs)):
            real = _is_real(facts, exchange.own)
            held = Fraction(given) if real else given
            if isinstance(place, Member):
                struct = values.setdefault(root(place), {})
                assert isinstance(struct, dict)
                struct[place.name] = held
            else:
                values[place.name] = held
    begun = {name for name, value in values.items() if isinstance(value, dict)}
    fields = {name: set(values[name]) for name in begun}  # type: ignore[arg-type]
    machine = Machine(facts.unit, values, asked=set() if asked is None else asked)
    left = machine.run(tuple(s for s in rest if not _declares(s, begun)))
    if left is not None or any(set(values[name]) != known for name, known in fields.items()):  # type: ignore[arg-type]
        raise InexactError
    return tuple(_held(values, e.own) for e in order)


def _declares(statement: Statement, names: set[str]) -> bool:
    """Returns whether a statement declares the struct that the exchanges fill, without a value."""
    if not isinstance(statement, Declare):
        return False
    return statement.variables[0].name in names and statement.variables[0].value is None


def _held(values: Values, place: Place) -> Number:
    found = values[root(place)]
    found = found[place.name] if isinstance(place, Member) and isinstance(found, dict) else found
    if isinstance(found, dict):
        raise InexactError
    return found


def _is_real(facts: Facts, place: Place) -> bool:
    """Returns whether a place holds real numbers: by its declared type, else by that of a template's parameter."""
    kind = type_of(facts, root(place))
    if isinstance(place, Member) and kind is not None:
        structs = facts.unit.struct(kind.name)
        kind = next((f.type for s in structs for f in s.fields if f.name == place.name), None)
    type_ = BUILT_IN.get(kind.name) if kind is not None else None
    return type_.is_float if isinstance(type_, Arithmetic) else True


def plain(name: str) -> str:
    """The array of which a name is an element."""
    return name.partition("@")[0]


def type_of(facts: Facts, name: str) -> TypeName | None:
    """The type that a local variable or a parameter is declared with."""
    name = plain(name)
    declared = (
        v.type for n in walk(facts.function.body) if isinstance(n, Declare) for v in n.variables if v.name == name
    )
    return next(declared, next((p.type for p in facts.function.parameters if p.name == name), None))


def root(place: Place) -> str:
    """The variable that a place is, or is a field of; empty for any other."""
    owner = place.owner if isinstance(place, Member) else place
    return owner.name if isinstance(owner, Name) else ""
