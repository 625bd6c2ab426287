"""Finds sizes at which a launch takes a second block, or its threads a second step: another formula may hold there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from porter.contract.model.contract import Contract
from porter.contract.model.expressions import evaluate
from porter.contract.model.validate import satisfies
from porter.lift.probes import Probe

_LARGEST = 1100  # a step of a block of 1,024 threads is crossed
_MOST_ELEMENTS = 1 << 14  # of all tensors: what a step more computes has to stay small
_NEAR = 8  # sizes behind another one that are tried, where a condition does not hold for it
_EXACTLY = 16  # enough to know of where the second block begins
_BEYOND = 37  # by how much a size is larger than the step: the second one is not full


@dataclass(frozen=True, slots=True)
class Geometry:
    """The blocks of all launches of a call, and the most threads that one has."""

    blocks: tuple[int, ...]
    threads: int


Look = Callable[[Probe], Geometry | None]  # None for sizes that the operator does not take


def crossing(contract: Contract, probes: Sequence[Probe], look: Look) -> dict[str, Probe]:
    """Returns a probe for each size that is too small in all probes for two blocks, or for two steps of one.

    Its other sizes are as small as in any probe. Sizes that would take too many elements are left out.
    """
    least = {name: min(probe.sizes[name] for probe in probes) for name in probes[0].sizes}
    base = replace(min(probes, key=lambda probe: prod(probe.sizes.values())), sizes=least)
    found = {}
    for name in least:
        probe = _crossing(contract, base, name, look)
        if probe is not None:
            found[name] = probe
    return found


def _crossing(contract: Contract, base: Probe, name: str, look: Look) -> Probe | None:
    def at(size: int) -> Probe | None:
        near = ({**base.sizes, name: size + more} for more in range(_NEAR))
        return next((replace(base, sizes=sizes) for sizes in near if satisfies(contract, sizes)), None)

    def seen(size: int) -> Geometry | None:
        probe = at(size)
        return look(probe) if probe is not None else None

    small, large = base.sizes[name], _affordable(contract, base, name)
    first, last = seen(small), seen(large)
    if first is None or last is None or large <= small or (near := seen(2 * small)) is None:
        return None
    if near.blocks != first.blocks:
        return None  # a block for each
    step = first.threads
    if last.blocks != first.blocks:
        step = _first(small, large, lambda size: (told := seen(size)) is None or told.blocks != first.blocks)
    probe = at(min(step + _BEYOND, large))
    return probe if step < large and probe is not None and look(probe) is not None else None


def _first(small: int, large: int, is_beyond: Callable[[int], bool]) -> int:
    """Returns about the least size for which `is_beyond` holds, as it does for `large`."""
    while large - small > _EXACTLY:
        middle = (small + large) // 2
        small, large = (small, middle) if is_beyond(middle) else (middle, large)
    return large


def _affordable(contract: Contract, base: Probe, name: str) -> int:
    """Returns the largest size that is tried."""
    whole = {**base.sizes, **base.whole}

    def elements(size: int) -> int:
        sizes = {**whole, name: size}
        return sum(prod(evaluate(extent, sizes) for extent in tensor.shape) for tensor in contract.tensors)

    most = _LARGEST
    while most > base.sizes[name] and elements(most) > _MOST_ELEMENTS:
        most //= 2
    return most
