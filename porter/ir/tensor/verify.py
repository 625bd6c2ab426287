"""The invariants of a well-formed tensor program, in a table against which every place is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from porter.contract.model.expressions import names_in
from porter.ir.tensor.expressions import (
    ArgReduce,
    Combine,
    Pointwise,
    Range,
    Read,
    Window,
)
from porter.ir.tensor.places import Place, inside, places
from porter.ir.tensor.program import Output, TensorProgram
from porter.ir.tensor.quantities import Affine, Floor, Quantity
from porter.ir.tensor.traversal import Reduction, affines, bounds, coordinates


class MalformedError(Exception):
    """A tensor program breaks an invariant; the message names the output, the place and what is wrong there."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A pointwise operation: how many operands it takes (None: two or more), and what it means."""

    arity: int | None
    meaning: str


POINTWISE: Mapping[str, Operation] = {
    "add": Operation(None, "the sum"),
    "multiply": Operation(None, "the product"),
    "maximum": Operation(None, "the largest; NaN where one is NaN"),
    "minimum": Operation(None, "the smallest; NaN where one is NaN"),
    "power": Operation(2, "the first raised to the second"),
    "divide": Operation(2, "the first over the second, a fraction also of integers"),
    "divide_rn": Operation(2, "the first over the second, computed as it is written and rounded to a single float"),
    "multiply_rn": Operation(2, "the product of two, computed as it is written and rounded to a single float"),
    "subtract": Operation(2, "the first without the second"),
    "negate": Operation(1, "the number with its sign turned"),
    "absolute": Operation(1, "the number without its sign"),
    "exp": Operation(1, "e to the number"),
    "exp2": Operation(1, "2 to the number"),
    "log": Operation(1, "the logarithm to base e"),
    "log2": Operation(1, "the logarithm to base 2"),
    "log1p": Operation(1, "the logarithm of 1 plus the number"),
    "expm1": Operation(1, "e to the number, less 1"),
    "sqrt": Operation(1, "the square root"),
    "rsqrt": Operation(1, "one over the square root"),
    "sin": Operation(1, "the sine"),
    "cos": Operation(1, "the cosine"),
    "tan": Operation(1, "the tangent"),
    "tanh": Operation(1, "the hyperbolic tangent"),
    "sinh": Operation(1, "the hyperbolic sine"),
    "cosh": Operation(1, "the hyperbolic cosine"),
    "asin": Operation(1, "the inverse sine"),
    "acos": Operation(1, "the inverse cosine"),
    "atan": Operation(1, "the inverse tangent"),
    "atan2": Operation(2, "the angle of the point whose height is the first and whose width the second"),
    "erf": Operation(1, "the error function"),
    "erfc": Operation(1, "1 less the error function"),
    "lgamma": Operation(1, "the logarithm of the gamma function's magnitude"),
    "floor": Operation(1, "the largest whole number that is not above"),
    "ceil": Operation(1, "the smallest whole number that is not below"),
    "round": Operation(1, "the nearest whole number, half to even"),
    "truncate": Operation(1, "the whole number towards zero, as an integer"),
    "select": Operation(3, "the second where the first is true, else the third"),
    "less": Operation(2, "whether the first is less than the second"),
    "equal": Operation(2, "whether both are equal"),
    "and": Operation(2, "whether both are true"),
    "or": Operation(2, "whether one is true"),
    "not": Operation(1, "whether it is false"),
    "remainder": Operation(2, "C's %, with the sign of the dividend"),
    "quotient": Operation(2, "C's division of integers, towards zero"),
    "cast": Operation(1, "the same value in another type"),
}

Invariant = Callable[[Place], str | None]  # returns what is wrong at a place that breaks it


def verify(program: TensorProgram) -> None:
    """Raises `MalformedError` where `program` breaks an invariant."""
    for place in places(program):
        for invariant in INVARIANTS:
            broken = invariant(place)
            if broken is not None:
                raise MalformedError(f"{' > '.join((program.name, *place.path))}: {broken}")


def names_are_distinct(place: Place) -> str | None:
    """No two inputs, symbols or parameters have one name, nor have two outputs; an output may be an input."""
    if not isinstance(place.thing, TensorProgram):
        return None
    program = place.thing
    taken = (*(tensor.name for tensor in program.inputs), *program.symbols, *program.parameters)
    again = _repeated(taken) or _repeated(output.name for output in program.outputs)
    return f"the name '{again}' is given twice" if again else None


def outputs_have_an_extent_for_each_coordinate(place: Place) -> str | None:
    """An output has as many extents as coordinates."""
    if isinstance(place.thing, Output) and len(place.thing.coordinates) != len(place.thing.shape):
        return f"it has {len(place.thing.coordinates)} coordinates and {len(place.thing.shape)} extents"
    return None


def coordinates_are_bound_once(place: Place) -> str | None:
    """A coordinate's name is bound once in an output; a reduction that occurs in several places counts as one."""
    if not isinstance(place.thing, Output):
        return None
    binders: dict[str, Reduction] = {}
    if again := _repeated(place.thing.coordinates):
        return f"the coordinate '{again}' is bound twice"
    for inner in inside(place.inside(place.thing.body)):
        if isinstance(inner.thing, Reduction):
            names = [extent.name for extent in inner.thing.ranges]
            taken = [name for name in names if name in inner.scope or binders.get(name, inner.thing) != inner.thing]
            again = _repeated(names) or next(iter(taken), None)
            if again or set(names) & set(place.thing.coordinates):
                return f"the coordinate '{again or names[0]}' is bound twice"
            binders |= dict.fromkeys(names, inner.thing)
    return None


def coordinates_are_in_scope(place: Place) -> str | None:
    """A coordinate is used only where its output or a reduction around it binds it."""
    if isinstance(place.thing, Affine):
        unknown = sorted(coordinates([place.thing]) - place.scope)
        return f"the coordinate '{unknown[0]}' is not in scope" if unknown else None
    return None


def inputs_are_known(place: Place) -> str | None:
    """A read names an input of the program."""
    if isinstance(place.thing, Read) and place.thing.tensor not in {tensor.name for tensor in place.program.inputs}:
        return f"there is no input '{place.thing.tensor}'"
    return None


def reads_have_an_index_for_each_axis(place: Place) -> str | None:
    """A read has as many indices as its input has axes."""
    if isinstance(place.thing, Read):
        given, ranks = len(place.thing.indices), {tensor.name: len(tensor.shape) for tensor in place.program.inputs}
        if given != ranks.get(place.thing.tensor, given):
            return f"{given} indices for the {ranks[place.thing.tensor]} axes of '{place.thing.tensor}'"
    return None


def operations_are_known(place: Place) -> str | None:
    """A pointwise operation is one of `POINTWISE`."""
    if isinstance(place.thing, Pointwise) and place.thing.op not in POINTWISE:
        return f"there is no operation '{place.thing.op}'"
    return None


def operations_have_their_operands(place: Place) -> str | None:
    """A pointwise operation has as many operands as it takes."""
    if isinstance(place.thing, Pointwise) and place.thing.op in POINTWISE:
        given, arity = len(place.thing.operands), POINTWISE[place.thing.op].arity
        if given != arity and (arity is not None or given < 2):
            return f"'{place.thing.op}' takes {arity or 'two or more'} operands and has {given}"
    return None


def reductions_have_ranges(place: Place) -> str | None:
    """A reduction runs over one coordinate at least."""
    return "it has no ranges" if isinstance(place.thing, Reduction) and not place.thing.ranges else None


def arguments_are_of_extremes(place: Place) -> str | None:
    """An argument reduction looks for the largest or the smallest key."""
    if isinstance(place.thing, ArgReduce) and place.thing.combine not in (Combine.MAXIMUM, Combine.MINIMUM):
        return f"'{place.thing.combine}' has no argument"
    return None


def windows_advance(place: Place) -> str | None:
    """A window's step, count and extent are positive, as far as they are known."""
    if isinstance(place.thing, Window):
        for word in ("step", "count", "extent"):
            constant = _constant(getattr(place.thing, word))
            if constant is not None and constant <= 0:
                return f"its {word} is {constant}"
    return None


def places_are_whole(place: Place) -> str | None:
    """No bound, index or window depends on a fractional parameter."""
    if isinstance(place.thing, Range | Window | Read):
        fractional = set(place.program.parameters)
        for quantity in _quantities_of_places(place.thing):
            used = sorted(fractional.intersection(symbol for symbol, _ in quantity.powers))
            if used:
                return f"it depends on the fractional parameter '{used[0]}'"
    return None


def terms_are_distinct(place: Place) -> str | None:
    """An affine function has each coordinate, and each quotient, in one term."""
    if isinstance(place.thing, Affine):
        again = _repeated(term for term, _ in place.thing.terms)
        return f"it has two terms in {again}" if again else None
    return None


def coefficients_are_not_zero(place: Place) -> str | None:
    """An affine function has no coefficient that is 0 at all sizes."""
    if isinstance(place.thing, Affine) and any(_constant(coefficient) == 0 for _, coefficient in place.thing.terms):
        return "it has a coefficient that is 0"
    return None


def divisors_are_positive(place: Place) -> str | None:
    """A coordinate is divided by a positive number, as far as it is known."""
    if isinstance(place.thing, Floor):
        constant = _constant(place.thing.divisor)
        return f"it divides by {constant}" if constant is not None and constant <= 0 else None
    return None


def symbols_are_known(place: Place) -> str | None:
    """A quantity, and the extents of an output, depend on symbols and parameters of the program."""
    used: list[str] = []
    if isinstance(place.thing, Quantity):
        used = [symbol for symbol, _ in place.thing.powers]
    elif isinstance(place.thing, Output):
        used = sorted(name for extent in place.thing.shape if extent for name in names_in(extent))
    unknown = [symbol for symbol in used if symbol not in {*place.program.symbols, *place.program.parameters}]
    return f"there is no symbol '{unknown[0]}'" if unknown else None


def powers_are_sorted(place: Place) -> str | None:
    """A quantity has each symbol once, in order."""
    if isinstance(place.thing, Quantity):
        symbols = [symbol for symbol, _ in place.thing.powers]
        return f"its symbols are {', '.join(symbols)}" if symbols != sorted(set(symbols)) else None
    return None


def exponents_are_not_zero(place: Place) -> str | None:
    """A quantity has no symbol to the power 0."""
    if isinstance(place.thing, Quantity):
        idle = [symbol for symbol, power in place.thing.powers if power == 0]
        return f"'{idle[0]}' has exponent 0" if idle else None
    return None


def factors_of_powers_are_not_zero(place: Place) -> str | None:
    """A quantity that depends on symbols has a factor other than 0."""
    if isinstance(place.thing, Quantity) and place.thing.powers and place.thing.factor == 0:
        return "its powers have the factor 0"
    return None


def quantities_have_a_value(place: Place) -> str | None:
    """No quantity is one over a constant 0."""
    return "it is one over 0" if isinstance(place.thing, Quantity) and _is_one_over_zero(place.thing) else None


INVARIANTS: tuple[Invariant, ...] = (
    names_are_distinct,
    outputs_have_an_extent_for_each_coordinate,
    coordinates_are_bound_once,
    coordinates_are_in_scope,
    inputs_are_known,
    reads_have_an_index_for_each_axis,
    operations_are_known,
    operations_have_their_operands,
    reductions_have_ranges,
    arguments_are_of_extremes,
    powers_are_sorted,
    exponents_are_not_zero,
    factors_of_powers_are_not_zero,
    quantities_have_a_value,
    symbols_are_known,
    places_are_whole,
    windows_advance,
    terms_are_distinct,
    coefficients_are_not_zero,
    divisors_are_positive,
)


def _repeated(names: Iterable[object]) -> object | None:
    """Returns the first that comes twice; None where all are distinct."""
    seen: set[object] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _constant(quantity: Quantity) -> Fraction | None:
    """Returns the number that a quantity is at all sizes; None where there is none, as there is for one over 0."""
    return None if _is_one_over_zero(quantity) else quantity.constant


def _is_one_over_zero(quantity: Quantity) -> bool:
    return quantity.inverse and not quantity.powers and quantity.factor + quantity.offset == 0


def _quantities_of_places(thing: Range | Window | Read) -> Iterator[Quantity]:
    for affine in affines(thing) if isinstance(thing, Read) else bounds(thing):
        yield affine.constant
        for term, coefficient in affine.terms:
            yield coefficient
            if isinstance(term, Floor):
                yield term.divisor
    if isinstance(thing, Window):
        yield from (thing.step, thing.count, thing.extent)
