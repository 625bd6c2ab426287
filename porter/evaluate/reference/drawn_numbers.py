"""Draws values of numbers for a judgement: a candidate that is right for a factor of 0.5 may be wrong for -3.

A number that is no size has one value in a contract, and a second one where porter drafted it, which anybody can read
there. One that is drawn lies where the contract's own does: below one, or above. What is less than zero, zero, or on
the other side of one the operator may not be meant for (the `lambda` of a shrinkage, the slope of a leaky ReLU that is
the larger of two products), though its original answers: what a candidate makes of it is said, and does not decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from porter.contract.analysis.records import is_stream
from porter.contract.model.contract import Contract, ScalarArg, Workload

_MOST = 2  # numbers that are tried alone with values that they may not be meant for
_TIMES = (2.0, 9.0)
_WITHIN_ONE = (0.05, 0.95)
_MORE = (2, 9)  # than a whole number's own value


def drawn_numbers(contract: Contract, base: Workload, seed: int) -> Iterator[Workload]:
    """Workloads like `base` with other values of numbers; whether an original takes them running it has to show."""
    random = Random(f"{seed} {contract.name} numbers")
    numbers = [a for a in contract.arguments if isinstance(a, ScalarArg) and _is_drawn(a)]
    drawn = {a.name: like(a, random) for a in numbers}
    others = [{a.name: value} for a in numbers[:_MOST] for value in _unlike(a, random)]
    for values in [*([drawn] if drawn else []), *others]:
        yield replace(base, name=_named(values), scalars={**base.scalars, **values}, scale=1.0, takes="")


def telling_sizes(contract: Contract) -> Mapping[str, int]:
    """Returns sizes at which other values of the contract's numbers show; empty where it gives none."""
    drawn = {a.name for a in contract.arguments if isinstance(a, ScalarArg) and _is_drawn(a)}
    return next((w.sizes for w in contract.workloads if drawn & w.scalars.keys() and not w.device_only), {})


def may_be_unmeant(contract: Contract, workload: Workload) -> bool:
    """Returns whether a number has a value that is on another side of zero or one than its own."""
    own = {a.name: float(a.value) for a in contract.arguments if isinstance(a, ScalarArg) and _is_drawn(a)}
    return not workload.takes and any(
        _side(value) != _side(own[name]) for name, value in workload.scalars.items() if name in own
    )


def _is_drawn(argument: ScalarArg) -> bool:
    """Returns whether a number has a value of its own, and does not only select."""
    if argument.choices or argument.type == "bool" or is_stream(argument.type):
        return False
    try:
        float(argument.value)
    except ValueError:
        return False
    return True


def _is_whole(argument: ScalarArg) -> bool:
    return argument.value.lstrip("-").isdecimal()


def _side(value: float) -> int:
    return (value > 0) + (value >= 1)


def fractions(contract: Contract) -> list[ScalarArg]:
    """Returns the numbers with a value of their own that may be no whole ones."""
    numbers = (a for a in contract.arguments if isinstance(a, ScalarArg))
    return [argument for argument in numbers if _is_drawn(argument) and not _is_whole(argument)]


def like(argument: ScalarArg, random: Random) -> float:
    """Returns a value that lies where the argument's own does: below one, or above."""
    own = float(argument.value)
    if _is_whole(argument):
        return own + random.randint(*_MORE)
    return random.uniform(*_WITHIN_ONE) if 0 < own < 1 else (own or 1.0) * random.uniform(*_TIMES)


def _unlike(argument: ScalarArg, random: Random) -> tuple[float, ...]:
    """Returns values that the operator may not be meant for; of whole numbers only zero: others may be places."""
    own = float(argument.value)
    if _is_whole(argument):
        return (0.0,) if own else ()
    return (-own, 0.0, random.uniform(*_TIMES)) if 0 < own < 1 else (-own,)


def _named(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in values.items())
