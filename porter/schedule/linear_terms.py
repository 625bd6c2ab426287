"""Writes nodes as sums of other nodes times factors that depend on sizes alone."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from porter.schedule.loops import Apply, Node, Number
from porter.schedule.polynomial import NotSchedulableError, Polynomial, product

Terms = Mapping[Node, Polynomial]


def factor_between(terms: Terms, element: Terms, first: Node) -> Polynomial | None:
    """Returns the factor, 1 or -1, between all `terms` except those in `first` and `element`; None without one."""
    rest = {node: factor for node, factor in terms.items() if node != first}
    if set(rest) != set(element) or not element:
        return None
    for sign in (1, -1):
        if all(rest[node] == element[node] * Polynomial.of(sign) for node in element):
            return Polynomial.of(sign)
    return None


def linear_terms(node: Node) -> Terms:
    """Returns `node` as a sum of other nodes times factors that depend on sizes alone."""
    found: dict[Node, Polynomial] = {}

    def add(one: Node, factor: Polynomial) -> None:
        match one:
            case Apply("add", operands):
                for operand in operands:
                    add(operand, factor)
            case Apply("subtract", (left, right)):
                add(left, factor)
                add(right, -factor)
            case Apply("negate", (operand,)):
                add(operand, -factor)
            case Apply("multiply", operands):
                rest = [operand for operand in operands if not isinstance(operand, Number)]
                own = product(Polynomial.of_quantity(n.quantity) for n in operands if isinstance(n, Number))
                if len(rest) == 1:
                    add(rest[0], factor * own)
                else:
                    keep(one, factor)
            case Apply("divide", (above, Number(quantity))):
                add(above, factor.over(Polynomial.of_quantity(quantity)))
            case _:
                keep(one, factor)

    def keep(one: Node, factor: Polynomial) -> None:
        total = found.get(one, Polynomial()) + factor
        if total.terms:
            found[one] = total
        else:
            found.pop(one, None)

    try:
        add(node, Polynomial.of(Fraction(1)))
    except NotSchedulableError:
        return {node: Polynomial.of(1)}
    return found
