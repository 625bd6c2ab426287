"""Scores candidates without a device: a backend's model of its target says what they cost. A cost is not a time."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import exp, log

from porter.backend import Backend, Port
from porter.contract.model.contract import Contract, Workload
from porter.errors import MachineError
from porter.evaluate.problem.bench import Bench, bench
from porter.evolve.scored import Measure, Score
from porter.evolve.scoring.cost import Cost
from porter.evolve.scoring.diagnosis import diagnosis
from porter.evolve.scoring.evaluator import Ranked
from porter.evolve.scoring.subject import StandardKind, Subject

_NO_DEVICE = "there is no device to measure on"
_RECORDED = "a recording has no answers at the sizes of a device, so that nothing is measured there"
_NO_COST = "{}, and the cost model of {} has no answer: {}"


@dataclass(frozen=True)
class ModelledScorer:
    """Compares the cost of a candidate with the seed's, at each of `workloads`."""

    subject: Subject
    backend: Backend
    planning: Bench
    workloads: tuple[tuple[Contract, Workload], ...]
    seed: tuple[Cost, ...]

    measure = Measure.MODELLED
    device = ""

    def score(self, port: Port, to_beat: float = 1.0) -> Ranked:  # noqa: ARG002 - all its scores are exact
        """Returns the geometric mean over all workloads of the seed's cost over the candidate's."""
        costs = _costs(self.subject, port, self.backend, self.planning, self.workloads)
        if isinstance(costs, str):
            return Ranked(None, f"no cost: {costs}")
        ratios = [seed.units / cost.units for seed, cost in zip(self.seed, costs, strict=True)]
        factor = exp(statistics.fmean(map(log, ratios)))
        said = "\n".join(diagnosis(*pair, cost) for pair, cost in zip(self.workloads, costs, strict=True))
        built = " ".join(cost.built for cost in costs)
        return Ranked(Score(Measure.MODELLED, factor, factor, factor), said, built, costs=costs)

    def may_win(self, score: Score, to_beat: float) -> bool:  # noqa: ARG002 - a model ranks, and decides nothing
        """Returns True: without times every candidate is proven, in whatever order it comes."""
        return True


@contextmanager
def modelled_scorer(subject: Subject, backend: Backend) -> Iterator[ModelledScorer]:
    """Yields a scorer by the model of `backend`. Raises `MachineError` where that says nothing about the seed."""
    options, workloads = subject.options, subject.workloads
    with bench(options.cache, options.time_limit_s) as place:
        costs = _costs(subject, subject.seed, backend, place, workloads) if workloads else "there are no sizes"
        if isinstance(costs, str):
            recorded = subject.standard_kind is StandardKind.RECORDING
            message = _NO_COST.format(_RECORDED if recorded else _NO_DEVICE, subject.target.backend, costs)
            hint = "search against the source of the recording" if recorded else "search on a machine with a device"
            raise MachineError(message, hint)
        yield ModelledScorer(subject, backend, place, workloads, costs)


def _costs(
    subject: Subject, port: Port, backend: Backend, place: Bench, workloads: tuple[tuple[Contract, Workload], ...]
) -> tuple[Cost, ...] | str:
    costs = []
    for contract, workload in workloads:
        cost = subject.cost(backend, port, contract, workload, place)
        if isinstance(cost, str):
            return cost
        costs.append(cost)
    return tuple(costs)
