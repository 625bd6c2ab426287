"""Writes sums over a row as its mean times its columns, where squared deviations from that mean are added up.

The mean of a row near the largest number is finite, its sum is not. So such a sum is written as that product, in which
the count meets the numbers beside the sum, and schedules compute the mean (`moments.py`).
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from porter.ir.tensor.expressions import Combine
from porter.ir.tensor.quantities import Quantity
from porter.schedule.linear_terms import factor_between, linear_terms
from porter.schedule.loops import Apply, Node, Number, Reduce, children, is_fold, rewritten, walk
from porter.schedule.polynomial import Polynomial, product


def with_means(bodies: Sequence[Node]) -> list[Node]:
    """Returns what is computed over the same rows and columns, with means in the place of the sums that have one."""
    folds = [node for node in dict.fromkeys(n for body in bodies for n in walk(body)) if isinstance(node, Reduce)]
    sums = {first for first in folds if is_fold(first) and any(adds_squares(first, other) for other in folds)}
    means = set(map(mean_of, sums))

    def rule(node: Node) -> Node:
        if node in sums:
            assert isinstance(node, Reduce)
            return Apply("multiply", (Number(_count(node)), mean_of(node)))
        return _met(node, means) if isinstance(node, Apply) else node

    return [rewritten(body, rule) for body in bodies] if sums else list(bodies)


def mean_of(fold: Reduce) -> Apply:
    """Returns the mean of what `fold` adds up, a sum of which `adds_squares` is true."""
    return Apply("divide", (fold, Number(_count(fold))))


def adds_squares(first: Node, other: Node) -> bool:
    """Returns whether `other` is the sum of squared deviations from the mean of what `first` adds up."""
    match first, other:
        case (
            Reduce(combine=Combine.SUM, guards=()),
            Reduce(combine=Combine.SUM, body=Apply("power", (base, Number(quantity)))),
        ) if quantity.constant == 2:
            terms, element = linear_terms(base), linear_terms(first.body)
            scale, count = factor_between(terms, element, first), product(loop.extent for loop in first.loops)
            return scale is not None and len(count.terms) == 1 and terms.get(first) == -scale.over(count)
    return False


def _count(fold: Reduce) -> Quantity:
    """Returns how many columns a row has, a product of sizes."""
    return _quantity(product(loop.extent for loop in fold.loops))


def _quantity(monomial: Polynomial) -> Quantity:
    ((powers, factor),) = monomial.terms
    return Quantity(factor, powers)


def _met(node: Apply, means: Set[Node]) -> Node:
    """Returns `node` in which the count of a sum and the numbers beside the sum are one number."""
    match node:
        case Apply("multiply", operands) if any(_is_sum(one, means) for one in operands):
            parts = [part for one in operands for part in (children(one) if _is_sum(one, means) else (one,))]
            numbers = [one.quantity for one in parts if isinstance(one, Number) and not one.quantity.offset]
            rest = [one for one in parts if not isinstance(one, Number) or one.quantity.offset]
            return _times(product(map(Polynomial.of_quantity, numbers)), rest)
        case Apply("divide", (Apply(_, (Number(count), mean)) as above, Number(quantity))) if not quantity.offset:
            if _is_sum(above, means):
                return _times(Polynomial.of_quantity(count).over(Polynomial.of_quantity(quantity)), [mean])
    return node


def _is_sum(node: Node, means: Set[Node]) -> bool:
    """Returns whether `node` is a number times one of `means`."""
    match node:
        case Apply("multiply", (Number(quantity), mean)):
            return mean in means and not quantity.offset
    return False


def _times(number: Polynomial, rest: Sequence[Node]) -> Node:
    if number.constant == 1:
        return rest[0] if len(rest) == 1 else Apply("multiply", tuple(rest))
    return Apply("multiply", (Number(_quantity(number)), *rest))
