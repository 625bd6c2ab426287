"""Operations written as cheaper ones with the same value but for rounding."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from porter.ir.tensor.quantities import Quantity
from porter.schedule.loops import Apply, Node, Number

ONE, TWO, MINUS_ONE = (Number(Quantity.of(value)) for value in (1, 2, -1))
_HALF = Fraction(1, 2)


def reduced(node: Apply, is_of_row: Callable[[Node], bool]) -> Node:
    """Returns `node` with powers and quotients written out, one level deep.

    What is divided by a number of the whole row is multiplied by its reciprocal, which is computed once a row; factors
    of the whole row are multiplied with each other first. `log1p` and `tanh` are written with `exp` and `log`, which
    devices have: their error is that of a float at 1, which the comparison with the original has to allow.
    """
    match node:
        case Apply("power", (base, Number(quantity))):
            return _power(base, quantity.constant, node)
        case Apply("divide", (above, Apply("power", (base, Number(quantity))))) if quantity.constant == _HALF:
            root = Apply("rsqrt", (base,))
            return root if above == ONE else Apply("multiply", (above, root))
        case Apply("divide", (above, below)) if above != ONE and is_of_row(below) and not is_of_row(above):
            return Apply("multiply", (above, Apply("divide", (ONE, below))))
        case Apply("log1p", (inner,)):
            return Apply("log", (Apply("add", (ONE, inner)),))
        case Apply("tanh", (inner,)):
            above = Apply("exp", (Apply("multiply", (TWO, inner)),))
            share = Apply("divide", (TWO, Apply("add", (above, ONE))))
            return Apply("add", (ONE, Apply("multiply", (MINUS_ONE, share))))
        case Apply("multiply", operands) if len(operands) > 2:
            of_row = tuple(filter(is_of_row, operands))
            rest = tuple(operand for operand in operands if operand not in of_row)
            if len(of_row) > 1 and rest:
                return Apply("multiply", (*rest, Apply("multiply", of_row)))
    return node


def _power(base: Node, exponent: Fraction | None, node: Apply) -> Node:
    if exponent == _HALF:
        return Apply("sqrt", (base,))
    if exponent == -_HALF:
        return Apply("rsqrt", (base,))
    if exponent is not None and exponent.denominator == 1 and 2 <= abs(exponent) <= 4:
        whole = Apply("multiply", (base,) * abs(exponent.numerator))
        return whole if exponent > 0 else Apply("divide", (ONE, whole))
    return Apply("divide", (ONE, base)) if exponent == -1 else node
