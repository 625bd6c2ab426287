"""Finds workloads for other choices of what only selects, and of host code by sizes, if the original takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from porter.contract.analysis.body import negated
from porter.contract.infer.branches import sides, taken
from porter.contract.model.contract import Contract, EntryKind, Workload
from porter.contract.model.expressions import names_in, render
from porter.contract.model.parser import parse
from porter.contract.model.selections import Selection, selected, selections, without
from porter.contract.probe import regular
from porter.contract.probe.branch_search import branch_workloads
from porter.contract.probe.other_values import other_values
from porter.contract.probe.placing import divisibilities
from porter.contract.probe.repeating import repeating
from porter.contract.probe.trials import Trials, endless, starts
from porter.contract.workload.probing import probe_sizes
from porter.contract.workload.workloads import branching, choose_sizes, large_workloads, selecting
from porter.execution.job import Execute, FaultKind, Run

_MOST_SIZES = 24
_MOST_BRANCHES = 4
_BEYOND_A_BLOCK = 263
_SLOW_S = 0.15  # of the original on the executor; a port in an interpreter takes up to a hundred times as long
_PROBES = (1, 0, 2)  # the middle one has some hundred rows

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Chosen:
    """`contract` with a workload for each remaining choice, and the `conditions` that single ones were run with."""

    contract: Contract
    conditions: tuple[str, ...]


def settled_choices(contract: Contract, execute: Execute, fixed: Sizes) -> Chosen:
    """Returns sizes for every choice: odd ones, else the first at which nothing breaks, as for the contract itself.

    They are those of a probe, thousands of elements where the odd workload has 100,000: some ways to do one thing take
    a block for what others do in a thread. A choice that starts at none of them, launches nothing or does not finish is
    not one that the original takes: it is dropped. So is leaving out a tensor that the original needs. A contract
    without sizes has no choices, nor has an original that is already wrong because its threads race.
    """
    if not contract.workloads or _races(Trials(execute).exact(contract, contract.workloads[0].sizes)):
        return Chosen(contract, ())
    workloads = [w for w in contract.workloads if not w.scalars]
    conditions: list[str] = []
    refused: list[Selection] = []
    for selection in selections(contract):
        choice = _Choice(selected(contract, selection), Trials(execute), fixed)
        usual = [w.sizes for w in workloads[1::-1]]
        is_tensor = any(t.name == selection.name for t in contract.tensors)
        found = choice.unaided(usual) if is_tensor else choice.sizes(usual)
        if found is None:
            refused.append(selection)
            continue
        sizes, demands = found
        workloads.append(selecting(selection, sizes))
        conditions += [f"{selection.name} != {selection.value} || {demand}" for demand in demands]
    apart: list[str] = []
    for workload, demands in islice(_branching(contract, Trials(execute), fixed), _MOST_BRANCHES):
        workloads.append(workload)
        apart += demands
    workloads += islice(_large(regular.limited(contract, tuple(apart)), Trials(execute), fixed), 1)
    settled = replace(without(contract, refused), workloads=tuple(workloads))
    settled = replace(settled, workloads=(*workloads, *other_values(settled, Trials(execute), fixed)))
    settled = replace(settled, workloads=(*settled.workloads, *repeating(settled, Trials(execute))))
    further = branch_workloads(regular.limited(settled, tuple(apart)), Trials(execute), fixed)
    return Chosen(replace(settled, workloads=(*settled.workloads, *further)), (*conditions, *apart))


def _races(run: Run) -> bool:
    return any(fault.kind is FaultKind.RACE for fault in run.faults)


def _large(contract: Contract, trials: Trials, fixed: Sizes) -> Iterator[Workload]:
    """Yields the largest even sizes at which the original is clean and not slow: grids are capped, pairs whole."""
    fresh = [w for w in large_workloads(contract, fixed) if all(w.sizes != known.sizes for known in contract.workloads)]

    def alone(workload: Workload) -> Contract:
        return replace(contract, workloads=(workload,))

    def fast(workload: Workload) -> bool:
        return trials.exact(alone(workload), workload.sizes).seconds < _SLOW_S

    # From below: where a size is that of the grid, too, the largest take a thousand times as long.
    fast_ones = list(takewhile(fast, reversed(fresh)))
    yield from (workload for workload in reversed(fast_ones) if _runs(trials, alone(workload), workload.sizes))


def _branching(contract: Contract, trials: Trials, fixed: Sizes) -> Iterator[tuple[Workload, tuple[str, ...]]]:
    """Yields a workload for each side of a branch that the contract's own do not take, if the original is clean there.

    It comes with the conditions on that side, where the original's threads race without them.
    """
    known = [w.sizes for w in contract.workloads]
    for branch in contract.branches:
        for side in sides(branch) if names_in(branch) <= set(contract.symbols) else ():
            if any(taken(side, sizes) for sizes in known):
                continue
            limited = replace(contract, conditions=(*contract.conditions, side))
            found = _sound(islice(_sizes_of(limited, side, fixed), _MOST_SIZES), limited, trials)
            if found is not None:
                sizes, demands = found
                known.append(sizes)
                other = render(negated(parse(side)))
                yield branching(side, sizes), tuple(f"{other} || {demand}" for demand in demands)


def _sizes_of(limited: Contract, side: str, fixed: Sizes) -> Iterator[tuple[Sizes, tuple[str, ...]]]:
    """Yields sizes on that side: those it is about beyond a block, the rest small; else a probe's, or rounder ones.

    Each comes with the conditions that it satisfies. Just across the branch, a row of 37 is still one warp, and an
    error among several warps does not show.
    """
    wide = dict.fromkeys(names_in(side), _BEYOND_A_BLOCK)
    plain = [choose_sizes(limited, fixed, {**limited.workloads[0].sizes, **wide})]
    plain += [probe_sizes(limited, frozenset(), fixed, attempt, 0) for attempt in _PROBES]
    yield from ((sizes, ()) for sizes in plain if sizes is not None)
    for demands in divisibilities(limited):
        rounder = replace(limited, conditions=(*limited.conditions, *demands))
        if (sizes := probe_sizes(rounder, frozenset(), fixed, _PROBES[0], 0)) is not None:
            yield sizes, demands


def _sound(
    tried: Iterator[tuple[Sizes, tuple[str, ...]]], contract: Contract, trials: Trials
) -> tuple[Sizes, tuple[str, ...]] | None:
    """Returns the first sizes at which the original is clean.

    Where threads race there, it returns the first that satisfy a condition and at which they do not race, with that
    condition.
    """
    clean = None
    for sizes, demands in tried:
        if (clean and not demands) or not _runs(trials, contract, sizes):
            continue  # at others without a condition a race would go unsaid
        if not _races(trials.exact(contract, sizes)):
            return sizes, demands if clean else ()
        clean = clean or (sizes, ())
    return clean


def _runs(trials: Trials, contract: Contract, sizes: Sizes) -> bool:
    run = trials.exact(contract, sizes)
    return run.finished and bool(run.launches) and trials.clean(contract, sizes)


@dataclass(frozen=True)
class _Choice:
    """`contract` at one choice."""

    contract: Contract
    trials: Trials
    fixed: Sizes

    def sizes(self, usual: list[Sizes]) -> tuple[Sizes, tuple[str, ...]] | None:
        """Returns the first sizes at which it is clean, else at which it starts, with the conditions behind them."""
        second_best: tuple[Sizes, tuple[str, ...]] | None = None
        for sizes, demands in islice(self._candidates(usual), _MOST_SIZES):
            run = self.trials.exact(self.contract, sizes)
            if (run.finished and not run.launches) or endless(run):
                return None
            if self.trials.clean(self.contract, sizes):
                return sizes, demands
            if second_best is None and starts(run):
                second_best = sizes, demands
        return second_best

    def unaided(self, usual: list[Sizes]) -> tuple[Sizes, tuple[str, ...]] | None:
        """Returns the first sizes at which it is clean, and leaves something, without the tensor that it asks for."""
        for sizes in filter(None, (self._moderate(self.contract), *usual)):
            run = self.trials.exact(self.contract, sizes)
            leaves = any(t.written_end for t in run.touched) or self.contract.entry.kind is EntryKind.TORCH
            if leaves and _runs(self.trials, self.contract, sizes):
                return sizes, ()
        return None

    def _candidates(self, usual: list[Sizes]) -> Iterator[tuple[Sizes, tuple[str, ...]]]:
        tried = [sizes for sizes in (self._moderate(self.contract), *usual) if sizes is not None]
        yield from ((sizes, ()) for sizes in tried)
        # A multiple of one size before smaller ones of all: of these there are thousands of rows, 96 by 64 of 32.
        for demands in sorted(divisibilities(self.contract), key=len):
            limited = replace(self.contract, conditions=(*self.contract.conditions, *demands))
            if (sizes := self._moderate(limited)) and sizes not in tried:
                tried.append(sizes)
                yield sizes, demands

    def _moderate(self, contract: Contract) -> Sizes | None:
        return probe_sizes(contract, frozenset(), self.fixed, 1, 0)
