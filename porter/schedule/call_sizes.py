"""Tells host code how to find the sizes of a call: from extents of arguments, and from arguments that are numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from porter.contract.model.contract import Argument, ScalarArg, TensorArg
from porter.contract.model.expressions import names_in
from porter.ir.tile.program import Operator
from porter.schedule.host_values import host
from porter.schedule.polynomial import NotSchedulableError, Polynomial

Extent = Callable[[str, int], str]  # of a tensor's name and the number of an axis, in the language of the host code


def call_sizes(
    operator: Operator, arguments: Sequence[Argument], extent: Extent | None, quotient: str
) -> Iterator[tuple[str, str]]:
    """Yields each size that host code uses but no argument names, with the text that gives it.

    `extent` is None where tensors do not know their shape; `quotient` is the sign of a whole quotient. Raises
    `NotSchedulableError` where no argument tells a size.
    """
    wanted = _wanted(operator)
    known = {argument.name for argument in arguments}
    equations = list(_equations(arguments, extent))
    progress = True
    while progress and wanted - known:
        progress = False
        for told, value in equations:
            unknown = names_in(told) - known
            if len(unknown) != 1 or not unknown & wanted:
                continue
            (symbol,) = unknown
            solved = _solved(told, value, symbol, quotient)
            if solved is not None:
                yield symbol, solved
                known.add(symbol)
                progress = True
    if missing := sorted(wanted - known):
        raise NotSchedulableError(f"no argument gives '{missing[0]}'")


def _wanted(operator: Operator) -> set[str]:
    texts = [size.text for _, size in operator.sizes] + [condition.text for condition, _ in operator.demands]
    texts += [extent.text for buffer in (*operator.buffers, *operator.results) for extent in buffer.extents]
    for launch in operator.launches:
        texts += [one.text for one in launch.grid] + [value.text for _, value in launch.blocks] + [launch.warps.text]
        texts += [launch.when.text] if launch.when is not None else []
    found = {name for one in texts for name in names_in(one.replace("//", "/"))}
    derived = {name for name, size in operator.sizes if name != size.text}
    return (found | {name for _, number in operator.numbers for name, _ in number.powers}) - derived


def _equations(arguments: Sequence[Argument], extent: Extent | None) -> Iterator[tuple[str, str]]:
    """Yields equations for sizes: an expression over them, and the text that gives its value."""
    for argument in arguments:
        if isinstance(argument, ScalarArg) and names_in(argument.value):
            yield argument.value, argument.name
        elif isinstance(argument, TensorArg) and extent is not None:
            for axis, told in enumerate(argument.shape):
                yield told, extent(argument.name, axis)


def _solved(extent: str, value: str, symbol: str, quotient: str) -> str | None:
    """Returns the text that gives `symbol` where `extent` is `value`; None where the symbol is no factor of it."""
    polynomial = Polynomial.of_extent(extent)
    if polynomial == Polynomial.atom(symbol):
        return value
    try:
        rest = polynomial.over(Polynomial.atom(symbol))
    except NotSchedulableError:
        return None
    if symbol in rest.atoms or len(rest.terms) != 1:
        return None
    divisor = host(rest).text.replace("//", quotient)
    return f"{value} {quotient} {divisor if divisor.isidentifier() or divisor.isdecimal() else f'({divisor})'}"
