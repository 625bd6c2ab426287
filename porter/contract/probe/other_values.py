"""Tries other values of numbers that the contract gives a single one: `eps`, a factor, a stride."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import lcm

from porter.contract.analysis.records import is_stream
from porter.contract.model.contract import Contract, EntryKind, ScalarArg, Workload
from porter.contract.model.selections import Selection, selected
from porter.contract.probe.trials import Trials
from porter.contract.workload.probing import probe_sizes
from porter.execution.job import Run

_SEED = 20_023
_TINY = 0.01  # what is added to avoid a division by zero is smaller, and shows only where it is a part of the answer
_VISIBLE = 0.25
_MOST = 6

Values = Mapping[str, float]
Sizes = Mapping[str, int]


def unvaried(contract: Contract) -> tuple[ScalarArg, ...]:
    """Returns the numbers of `contract` that all its workloads give the same value, except sizes."""
    varied = {name for workload in contract.workloads for name in workload.scalars}
    given = (a for a in contract.arguments if isinstance(a, ScalarArg) and a.name not in varied)
    return tuple(a for a in given if not is_stream(a.type) and _number(a) is not None)


def other_values(contract: Contract, trials: Trials, fixed: Sizes) -> tuple[Workload, ...]:
    """Returns workloads with another value of each number that has one, where the original takes them.

    It changes all numbers together where the original is clean so, else as many as it takes. Sizes that are `fixed`
    stay.
    """
    numbers = unvaried(contract)[:_MOST]
    if contract.entry.kind is EntryKind.PROGRAM or not numbers:
        return ()
    values = _others(numbers)
    whole = {a.name: values[a.name] for a in numbers if _is_integer(a)}
    floats = {name: value for name, value in values.items() if name not in whole}
    together = _workload(contract, trials, values, fixed)
    if together is not None or len(values) == 1:
        return tuple(filter(None, (together,)))
    single = [{name: value} for name, value in whole.items()]
    parts = [floats, *single] if whole and floats else [{name: value} for name, value in values.items()]
    return tuple(filter(None, (_workload(contract, trials, part, fixed) for part in parts)))


def _workload(contract: Contract, trials: Trials, values: Values, fixed: Sizes) -> Workload | None:
    """Returns the smallest workload in which most of these values show; None where the original takes none.

    Where it takes them at no usual sizes, all sizes are multiples of the whole ones.
    """
    sizes = _sizes(contract, trials, values, fixed)
    named = ", ".join(f"{name} = {value:g}" for name, value in values.items())
    return None if sizes is None else Workload(named, sizes, _SEED, scalars=values)


def _sizes(contract: Contract, trials: Trials, values: Values, fixed: Sizes) -> Sizes | None:
    """Returns the sizes of that workload; None where the original takes these values at none."""
    changed = _with(contract, values)
    tiny, *larger = (w.sizes for w in contract.workloads[:2])
    if _takes(trials, changed, tiny):
        return next((sizes for sizes in larger if _is_better(contract, trials, values, tiny, sizes)), tiny)
    if usual := next((sizes for sizes in larger if _takes(trials, changed, sizes)), None):
        return usual
    rounder = _multiples(contract, values, fixed)
    return rounder if rounder and _takes(trials, changed, rounder) else None


def _is_better(contract: Contract, trials: Trials, values: Values, tiny: Sizes, larger: Sizes) -> bool:
    """Returns whether the original takes `values` at `larger` sizes, too, and more of them show there.

    Runs at these take long: what showed at the `tiny` ones is only asked for again where something else shows.
    """
    shown = _shown(contract, trials, values, tiny, values)
    hidden = [name for name in values if name not in shown]
    if not hidden or not _takes(trials, _with(contract, values), larger):
        return False
    more = _shown(contract, trials, values, larger, hidden)
    return bool(more) and len(more) + len(_shown(contract, trials, values, larger, shown)) > len(shown)


def _shown(contract: Contract, trials: Trials, values: Values, sizes: Sizes, asked: Iterable[str]) -> list[str]:
    """Returns which of `values` that are `asked` change an answer: a window of 4 acts like one of 3 on 3 rows."""
    told = _answers(trials.exact(_with(contract, values), sizes))
    others = {name: {other: value for other, value in values.items() if other != name} for name in asked}
    return [name for name, rest in others.items() if _answers(trials.exact(_with(contract, rest), sizes)) != told]


def _with(contract: Contract, values: Values) -> Contract:
    for name, value in values.items():
        contract = selected(contract, Selection(name, value))
    return contract


def _multiples(contract: Contract, values: Values, fixed: Sizes) -> Sizes | None:
    """Returns sizes, each free one a multiple of all whole values above one; None where there are none."""
    unit = lcm(*(int(value) for value in values.values() if value > 1 and float(value).is_integer()))
    if unit == 1:
        return None
    demands = tuple(f"{symbol} % {unit} == 0" for symbol in contract.symbols if symbol not in fixed)
    limited = replace(contract, conditions=(*contract.conditions, *demands))
    return probe_sizes(limited, frozenset(), fixed, 1, 0)


def _answers(run: Run) -> list[bytes]:
    return [value.storage.tobytes() for value in (*run.outputs, *run.results)]


def _takes(trials: Trials, contract: Contract, sizes: Mapping[str, int]) -> bool:
    run = trials.exact(contract, sizes)
    is_sound = run.finished and bool(run.launches) and trials.clean(contract, sizes)
    return is_sound and not trials.unwritten(contract, sizes) and trials.ordered(contract, sizes)


def _is_integer(argument: ScalarArg) -> bool:
    return argument.value.lstrip("-").isdecimal()


def _number(argument: ScalarArg) -> float | None:
    try:
        return float(argument.value)
    except ValueError:
        return None


def _others(numbers: Sequence[ScalarArg]) -> dict[str, float]:
    """Returns another value of each number; equal whole numbers get different ones, so that exchanging them shows."""
    found: dict[str, float] = {}
    for place, number in enumerate(numbers):
        alike = sum(1 for other in numbers[:place] if other.value == number.value and _is_integer(other))
        found[number.name] = _other(number) + (alike if _is_integer(number) else 0)
    return found


def _other(argument: ScalarArg) -> float:
    """Returns the next whole number; for a float one that shows, within (0, 1) where its own is."""
    if _is_integer(argument):
        return int(argument.value) + 1
    own = float(argument.value)
    if 0 < own < 1:
        return _VISIBLE if own < _TINY else 1 - own / 2
    return own * 1.5 if own else 0.5
