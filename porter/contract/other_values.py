"""Other values of numbers that the contract gives one of: `eps`, a factor, a stride, where the original takes them."""

from __future__ import annotations

from collections.abc import Mapping

from porter.contract.contract import Contract, EntryKind, ScalarArg, Workload
from porter.contract.scalars import is_stream
from porter.contract.selections import Selection, selected
from porter.contract.trials import Trials
from porter.simt.job import Run

_SEED = 20_023
_TINY = 0.01  # what is added to avoid a division by zero is smaller, and shows only where it is a part of the answer
_VISIBLE = 0.25
_MOST = 6

Values = Mapping[str, float]


def unvaried(contract: Contract) -> tuple[ScalarArg, ...]:
    """The numbers of `contract` that all its workloads give the same value, which is no size's."""
    varied = {name for workload in contract.workloads for name in workload.scalars}
    given = (a for a in contract.arguments if isinstance(a, ScalarArg) and a.name not in varied)
    return tuple(a for a in given if not is_stream(a.type) and _number(a) is not None)


def other_values(contract: Contract, trials: Trials) -> tuple[Workload, ...]:
    """Workloads with another value of each number that has one: of all together where the original is clean so, else
    of as many as it takes.
    """
    numbers = unvaried(contract)[:_MOST]
    if contract.entry.kind is EntryKind.PROGRAM or not numbers:
        return ()
    values = {a.name: _other(a) for a in numbers}
    whole = {a.name: values[a.name] for a in numbers if _is_integer(a)}
    floats = {name: value for name, value in values.items() if name not in whole}
    together = _workload(contract, trials, values)
    if together is not None or len(values) == 1:
        return tuple(filter(None, (together,)))
    single = [{name: value} for name, value in whole.items()]
    parts = [floats, *single] if whole and floats else [{name: value} for name, value in values.items()]
    return tuple(filter(None, (_workload(contract, trials, part) for part in parts)))


def _workload(contract: Contract, trials: Trials, values: Values) -> Workload | None:
    """A workload of these values, the smallest in which they change an answer; None where the original takes none."""
    changed = contract
    for name, value in values.items():
        changed = selected(changed, Selection(name, value))
    taken = [w.sizes for w in contract.workloads[:2] if _takes(trials, changed, w.sizes)]
    telling = (s for s in taken if _answers(trials.exact(changed, s)) != _answers(trials.exact(contract, s)))
    sizes = next(telling, taken[0] if taken else None)
    named = ", ".join(f"{name} = {value:g}" for name, value in values.items())
    return None if sizes is None else Workload(named, sizes, _SEED, scalars=values)


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


def _other(argument: ScalarArg) -> float:
    """The next whole number; of floats one that shows, within (0, 1) where its own is."""
    if _is_integer(argument):
        return int(argument.value) + 1
    own = float(argument.value)
    if 0 < own < 1:
        return _VISIBLE if own < _TINY else 1 - own / 2
    return own * 1.5 if own else 0.5
