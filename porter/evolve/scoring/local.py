"""Evaluates candidates on this machine: with times where it has a device, else with scores by a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from porter.backend import Backend
from porter.evaluate.model.migration import Progress
from porter.evolve.scoring.evaluator import LocalEvaluator, Scorer, local_evaluator
from porter.evolve.scoring.modelled import modelled_scorer
from porter.evolve.scoring.subject import StandardKind, Subject
from porter.evolve.scoring.timed import timed_scorer
from porter.native.place import missing_device
from porter.registry import find_backend


@dataclass(frozen=True, slots=True)
class ThisMachine:
    """Evaluates here, on the first device that the environment of a subject's options shows."""

    @contextmanager
    def open(self, subject: Subject, jobs: int, progress: Progress, *, own: bool) -> Iterator[LocalEvaluator]:
        """Yields an evaluator that `jobs` threads may ask. With `own` candidates are porter's and share a process.

        Raises `InputError` where the original itself is unsound, and `MachineError` where nothing scores candidates.
        """
        backend = find_backend(subject.target.backend)
        with (
            scorer_of(subject, backend, own=own) as scorer,
            local_evaluator(subject, scorer, progress, jobs) as evaluator,
        ):
            yield evaluator


@contextmanager
def scorer_of(subject: Subject, backend: Backend, *, own: bool) -> Iterator[Scorer]:
    """Yields a scorer by times where there is a device, else by modelled costs.

    Candidates of a recording are modelled too: it has no answers at the sizes of a device. With `own` the candidates
    are porter's, and share a process; else each has one.
    """
    if missing_device() or subject.standard_kind is StandardKind.RECORDING:
        with modelled_scorer(subject, backend) as modelled:
            yield modelled
        return
    with timed_scorer(subject, backend, own=own) as scorer:
        yield scorer
