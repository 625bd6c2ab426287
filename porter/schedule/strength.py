"""Writes operations as cheaper ones with the same value except for rounding."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from porter.ir.tensor.quantities import Quantity
from porter.schedule.loops import Apply, Node, Number

ONE = Number(Quantity.of(1))
_HALF = Fraction(1, 2)


def reduced(node: Apply, is_of_row: Callable[[Node], bool]) -> Node:
    """Returns `node` with powers and quotients written out, one level deep.

    Division by a size becomes multiplication by its reciprocal, and factors of the whole row are multiplied with each
    other first. Other divisors stay: the reciprocal of a mean of denormal numbers is infinite. So do `log1p` and
    `tanh`: written with `exp` and `log` they would keep no digit of a small number.
    """
    match node:
        case Apply("power", (base, Number(quantity))):
            return _power(base, quantity.constant, node)
        case Apply("divide", (above, Apply("power", (base, Number(quantity))))) if quantity.constant == _HALF:
            root = Apply("rsqrt", (base,))
            return root if above == ONE else Apply("multiply", (above, root))
        case Apply("divide", (above, Number() as below)) if above != ONE and not is_of_row(above):
            return Apply("multiply", (above, Apply("divide", (ONE, below))))
        case Apply("multiply", operands):
            of_row = tuple(filter(is_of_row, operands))
            rest = tuple(operand for operand in operands if operand not in of_row)
            if rest and (len(of_row) > 1 or any(isinstance(one, Apply) and _inverted(one) for one in of_row)):
                return _of_row(of_row, rest)
    return node


def _of_row(of_row: tuple[Node, ...], rest: tuple[Node, ...]) -> Node:
    """Returns the product of all factors, those `of_row` together.

    Sizes times a reciprocal, `n * (1 / total)`, become a quotient by `total / n`, which is no larger than what was
    added up.
    """
    sizes = tuple(one for one in of_row if isinstance(one, Number))
    below = tuple(b for one in of_row if isinstance(one, Apply) for b in _inverted(one))
    if not below:
        return Apply("multiply", (*rest, _product(of_row)))
    others = tuple(one for one in of_row if one not in sizes and not (isinstance(one, Apply) and _inverted(one)))
    divisor = Apply("divide", (_product(below), _product(sizes))) if sizes else _product(below)
    return Apply("divide", (_product((*rest, _product(others)) if others else rest), divisor))


def _inverted(node: Apply) -> tuple[Node, ...]:
    """Returns the value that `node` is the reciprocal of, unless that is a size."""
    match node:
        case Apply("divide", (above, below)) if above == ONE and not isinstance(below, Number):
            return (below,)
        case Apply("power", (below, Number(quantity))) if quantity.constant == -1 and not isinstance(below, Number):
            return (below,)
    return ()


def _product(factors: tuple[Node, ...]) -> Node:
    return factors[0] if len(factors) == 1 else Apply("multiply", factors)


def _power(base: Node, exponent: Fraction | None, node: Apply) -> Node:
    if exponent == _HALF:
        return Apply("sqrt", (base,))
    if exponent == -_HALF:
        return Apply("rsqrt", (base,))
    if exponent is not None and exponent.denominator == 1 and 2 <= abs(exponent) <= 4:
        whole = Apply("multiply", (base,) * abs(exponent.numerator))
        return whole if exponent > 0 else Apply("divide", (ONE, whole))
    return Apply("divide", (ONE, base)) if exponent == -1 else node
