"""Evaluates candidates: admits, executes and compares them, and only then gives a score.

The original is built and studied once. A candidate is judged as `porter verify` judges what anybody may have written.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

from porter.backend import Backend, Port, PortedFile
from porter.contract.model.contract import Contract
from porter.errors import InputError
from porter.evaluate.judge.admission import not_admitted
from porter.evaluate.judge.calling import Called
from porter.evaluate.judge.ported import Candidates
from porter.evaluate.judge.prove import Proof, judged
from porter.evaluate.judge.standard_answers import StandardAnswers
from porter.evaluate.model.migration import Progress
from porter.evaluate.model.outcome import Equal, Fidelity, NotBuilt, NotVerified, Outcome, Refused, Verified
from porter.evaluate.model.speed import Measured
from porter.evaluate.problem.bench import Bench, bench
from porter.evaluate.problem.environment import environment
from porter.evaluate.problem.standards import opened
from porter.evaluate.reference.judging import Judging
from porter.evaluate.reference.study import Originals, Studied, Unproven
from porter.evolve.candidate import Candidate, File
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.scoring.cost import Cost
from porter.evolve.scoring.evaluation import (
    Evaluation,
    EvaluationRequest,
    Program,
    content_of,
    digest_of,
    problem_of,
)
from porter.evolve.scoring.subject import StandardKind, Subject
from porter.evolve.traits import Traits
from porter.execution.job import Built
from porter.registry import find_backend
from porter.source_text import Source
from porter.warp.explicit import with_warp_barriers

_MOST_LOG = 4000  # characters of a compiler's log that a proposer is told


_MEASURED = {Measure.NATIVE: Fidelity.NATIVE, Measure.PROXY: Fidelity.PROXY, Measure.MODELLED: Fidelity.EMULATED}
MEASURES = {fidelity: measure for measure, fidelity in _MEASURED.items()}


@dataclass(frozen=True, slots=True)
class Ranked:
    """The score of a right candidate: `said` tells what the score is made of, or why there is none.

    `built` is the digest of what the compiler made of it, where that is known; `times` and `costs` are given for each
    workload, where there are any.
    """

    score: Score | None
    said: str
    built: str = ""
    times: tuple[Measured, ...] = ()
    costs: tuple[Cost, ...] = ()

    def evaluation(self, outcome: Outcome) -> Evaluation:
        """Returns the evaluation of a candidate with that outcome, whose score counts where it is verified."""
        score = self.score if isinstance(outcome, Verified) else None
        return Evaluation(outcome, score, self.said, self.built, self.times, self.costs)


class Scorer(Protocol):
    """Says how good right candidates are."""

    @property
    def measure(self) -> Measure:
        """Returns what its scores are of."""
        ...

    @property
    def device(self) -> str:
        """The name of the device that times candidates; empty where a model scores them."""
        ...

    def score(self, port: Port, to_beat: float) -> Ranked:
        """Returns how good a port is that computes what the seed does; a score below `to_beat` need not be exact."""
        ...

    def may_win(self, score: Score, to_beat: float) -> bool:
        """Returns whether what has this score may be worth more than `to_beat`."""
        ...


class Examiner(Protocol):
    """Knows the right answers of one contract; several threads may compare candidates with them."""

    @property
    def contract(self) -> Contract:
        """Returns what its answers are of."""
        ...

    def proof(self, candidates: Candidates) -> Proof:
        """Returns the proof of a candidate."""
        ...


@dataclass(frozen=True)
class _OfOriginal:
    """An entry of a CUDA source, which was executed and can be believed."""

    originals: Originals
    studied: Studied

    @property
    def contract(self) -> Contract:
        """Returns the contract whose workloads the original answered to."""
        return self.studied.reference.contract

    def proof(self, candidates: Candidates) -> Proof:
        """Returns the port compared with the answers of the original."""
        return judged(self.originals, self.studied, candidates)


@dataclass(frozen=True)
class LocalEvaluator:
    """Evaluates candidates for one subject on this machine; several threads may ask it at once.

    Unless a candidate is to be scored first, it is only timed once it was found right.
    """

    subject: Subject
    problem: str
    backend: Backend
    examiners: tuple[Examiner, ...]
    bench: Bench
    scorer: Scorer

    @property
    def fidelity(self) -> Fidelity:
        """Returns where it scores candidates."""
        return _MEASURED[self.scorer.measure]

    @property
    def device(self) -> str:
        """The name of the device that times candidates; empty where a model scores them."""
        return self.scorer.device

    def evaluate(self, program: Program, request: EvaluationRequest) -> Evaluation:
        """Returns the evaluation. Never raises for anything a candidate does."""
        began = time.monotonic()
        found = self._evaluated(port_of(program.files, self.subject.path.parent), request)
        seconds = round(time.monotonic() - began, 3)
        return replace(found, environment=self._environment, seconds=seconds)

    @cached_property
    def _environment(self) -> Mapping[str, str]:
        return {**environment(), "device": self.device}

    def _evaluated(self, port: Port, request: EvaluationRequest) -> Evaluation:
        subject, to_beat = self.subject, request.to_beat
        broken = self.backend.lint(port.files, subject.own)
        refused = not_admitted(broken, port, self.backend, subject.target)
        if refused is not None:
            return Evaluation(_by_names(refused))
        ranked = self.scorer.score(port, to_beat) if request.score_first else None
        if ranked is not None and ranked.score is not None and not self.scorer.may_win(ranked.score, to_beat):
            return ranked.evaluation(NotVerified("it is slower than the best so far, and was not proven"))
        contracts = [examiner.contract for examiner in self.examiners]
        verified = Verified(())
        with self.backend.ready(port, subject.original, subject.target, self.bench, is_trusted=False) as ready:
            ported = Called(ready, subject.options.entry).candidates(contracts)
            for examiner, found in zip(self.examiners, ported, strict=True):
                outcome = examiner.proof(_uncompiled(found)).entry.outcome
                if not isinstance(outcome, Verified):
                    return Evaluation(_by_names(outcome))
                verified = verified.joined(outcome)
            ranked = ranked or self.scorer.score(port, to_beat)
            if ranked.score is None and (unbuilt := _not_compiled(ported)):
                return Evaluation(unbuilt)
        return ranked.evaluation(verified)


@contextmanager
def local_evaluator(subject: Subject, scorer: Scorer, progress: Progress, jobs: int = 1) -> Iterator[LocalEvaluator]:
    """Yields an evaluator of `subject` that `jobs` threads may ask at once.

    Raises `InputError` where what the judge draws shows the original itself unsound.
    """
    problem = digest_of(content_of(problem_of(subject)))
    backend = find_backend(subject.target.backend)
    examining = _of_cuda if subject.standard_kind is StandardKind.CUDA else _of_standard
    with (
        bench(subject.options.cache, subject.options.time_limit_s, 2 * jobs) as place,  # a port is built at two widths
        examining(subject, place, progress) as examiners,
    ):
        yield LocalEvaluator(subject, problem, backend, examiners, place, scorer)


@contextmanager
def _of_cuda(subject: Subject, place: Bench, progress: Progress) -> Iterator[tuple[Examiner, ...]]:
    """Yields the original, built and studied."""
    options, original = subject.options, subject.original
    headers = [header for _, header in original.headers]
    judging = Judging(options.seed or 0, options.sizes, options.draws_edges)
    explicit = original.replaced(with_warp_barriers(original.program, headers))
    originals = Originals(explicit, options.sizes, place, options.contract is not None, judging)
    built = originals.begin(subject.contracts).result()
    pairs = zip(subject.contracts, built, strict=True)
    yield tuple(_OfOriginal(originals, _sound(originals, contract, one, progress)) for contract, one in pairs)


@contextmanager
def _of_standard(subject: Subject, place: Bench, progress: Progress) -> Iterator[tuple[Examiner, ...]]:
    """Yields a Python reference, or a recording, asked for its answers."""
    del place
    with opened(subject.path, subject.options) as standard:
        progress(f"asking {subject.path.name}")
        examiners = tuple(StandardAnswers.of(standard, contract, subject.options) for contract in subject.contracts)
        if unusable := next((f"{one.contract.name}: {one.unusable}" for one in examiners if one.unusable), ""):
            raise InputError(f"{subject.path.name}: nothing can be improved: {unusable}")
        yield examiners


def scored(candidate: Candidate, evaluation: Evaluation, apart: Traits) -> Scored:
    """Returns what a search is told of an evaluation; the archive sorts its candidates by the traits `apart`."""
    outcome = evaluation.outcome
    if not isinstance(outcome, Verified):
        told = failed(candidate, outcome)
        return replace(told, feedback=evaluation.said or told.feedback, built=evaluation.built)
    cell = apart.cell(port_of(candidate.files, Path()).files, evaluation.score)
    return Scored(candidate.digest, outcome.label, "", evaluation.score, cell, evaluation.said, evaluation.built)


def failed(candidate: Candidate, outcome: Outcome) -> Scored:
    """Returns what is said of a candidate that is not right, with as much of a compiler's log as helps to mend it."""
    assert not isinstance(outcome, Equal)
    log = outcome.log if isinstance(outcome, NotBuilt) else ""
    feedback = f"{outcome.because}\n{log[:_MOST_LOG]}" if log else outcome.because
    return Scored(candidate.digest, outcome.label, outcome.because, feedback=feedback)


def _by_names(outcome: Outcome) -> Outcome:
    """Returns the outcome with plain file names: paths on this machine, and texts of files, are left out."""
    if not isinstance(outcome, Refused):
        return outcome
    named = (replace(one, source=one.source and Source(Path(one.source.path.name), "")) for one in outcome.broken)
    return replace(outcome, broken=tuple(named))


def _sound(originals: Originals, contract: Contract, built: Built, progress: Progress) -> Studied:
    """Returns the original's answers to the contract's workloads, and to what the judge draws besides."""
    studied = originals.study(contract, built, progress)
    if isinstance(studied, Unproven):
        raise InputError(f"{contract.name}: nothing can be improved: {studied.because}")
    return studied


def _uncompiled(found: Candidates) -> Candidates:
    """Returns `found`, not to be compiled after its answers: a scored candidate was compiled, the best one will be."""
    return tuple(replace(one, compiled=tuple) for one in found) if isinstance(found, tuple) else found


def _not_compiled(ported: Sequence[Candidates]) -> NotBuilt | None:
    """Returns what a compiler has against what was right."""
    asked = (one.compiled() for found in ported if isinstance(found, tuple) for one in found)
    return next((answer for answer in asked if isinstance(answer, NotBuilt)), None)


def port_of(files: Sequence[File], folder: Path) -> Port:
    """Returns a candidate's files as a port, in `folder`."""
    return Port(tuple(PortedFile(f.name, f.text, Source(folder / f.name, f.text)) for f in files), ())


def files_of(port: Port) -> tuple[File, ...]:
    """Returns a port's files as a candidate's."""
    return tuple(File(file.name, file.text) for file in port.files)
