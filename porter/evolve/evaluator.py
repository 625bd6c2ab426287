"""Candidates evaluated: admitted, executed beside the original, compared, and only then given a score.

The original is built and studied once. A candidate is judged as `porter verify` judges what anybody may have written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from porter.backend import Backend, Port, PortedFile
from porter.contract.contract import Contract, Workload
from porter.errors import InputError
from porter.evaluate.admission import not_admitted
from porter.evaluate.bench import Bench, bench
from porter.evaluate.calling import Called
from porter.evaluate.judging import Judging
from porter.evaluate.migration import Progress
from porter.evaluate.outcome import Equal, NotBuilt, NotVerified, Outcome, Verified
from porter.evaluate.ported import Candidates
from porter.evaluate.prove import judged
from porter.evaluate.study import Originals, Studied, Unproven
from porter.evolve.candidate import Candidate, File
from porter.evolve.scored import Score, Scored
from porter.evolve.subject import Subject
from porter.evolve.traits import MECHANISM, Traits, traits
from porter.registry import find_backend
from porter.simt.job import Built
from porter.source.text import Source
from porter.warp.explicit import with_warp_barriers

_MOST_LOG = 4000  # characters of a compiler's log that a proposer is told


@dataclass(frozen=True, slots=True)
class Ranked:
    """How good a right candidate is: `said` tells what the score comes of, or why there is none.

    `built` is the digest of what the compiler made of it, where that is known.
    """

    score: Score | None
    said: str
    built: str = ""


class Scorer(Protocol):
    """Says how good right candidates are, at `workloads`; `planning` is where it plans what they launch there."""

    @property
    def planning(self) -> Bench:
        """Returns where candidates are planned and compiled."""
        ...

    @property
    def workloads(self) -> tuple[tuple[Contract, Workload], ...]:
        """Returns the workloads at which candidates are scored."""
        ...

    def score(self, port: Port) -> Ranked:
        """Returns how good a port is that computes what the seed does."""
        ...

    def keep(self, score: Score) -> None:
        """Takes note of the score of a candidate that was found right, which others have to beat."""
        ...

    def may_win(self, score: Score) -> bool:
        """Returns whether what has this score may be better than the best that was found right."""
        ...


@dataclass(frozen=True)
class Evaluator:
    """Evaluates candidates for one subject; it may be asked for several at once.

    What the proposers in `timed_first` write is porter's own, from a formula that was compared with the original: it is
    scored first, and what is not better is not proven. Of the others nothing is timed that was not found right.
    """

    subject: Subject
    backend: Backend
    originals: Originals
    studied: tuple[Studied, ...]
    bench: Bench
    scorer: Scorer
    traits: Traits
    timed_first: frozenset[str] = frozenset()

    def evaluate(self, candidate: Candidate) -> Scored:
        """Returns what came of it. Never raises for anything a candidate does."""
        subject = self.subject
        port = port_of(candidate.files, subject.original.source.path.parent)
        broken = self.backend.lint(port.files, subject.original.own)
        refused = not_admitted(broken, port, self.backend, subject.target)
        if refused is not None:
            return failed(candidate, refused)
        ranked = self.scorer.score(port) if candidate.origin.proposer in self.timed_first else None
        if ranked is not None and ranked.score is not None and not self.scorer.may_win(ranked.score):
            because = "it is slower than the best so far, and was not proven"
            return Scored(candidate.digest, NotVerified.label, because, feedback=ranked.said, built=ranked.built)
        contracts = [studied.reference.contract for studied in self.studied]
        with self.backend.ready(port, subject.original, subject.target, self.bench, is_trusted=False) as ready:
            ported = Called(ready, subject.options.entry).candidates(contracts)
            for studied, found in zip(self.studied, ported, strict=True):
                outcome = self._outcome(studied, _uncompiled(found))
                if not isinstance(outcome, Verified):
                    return failed(candidate, outcome)
            ranked = ranked or self.scorer.score(port)
            if ranked.score is None and (unbuilt := _not_compiled(ported)):
                return failed(candidate, unbuilt)
        if ranked.score is not None:
            self.scorer.keep(ranked.score)
        cell = self.traits.cell(port.files, ranked.score)
        return Scored(candidate.digest, Verified.label, "", ranked.score, cell, ranked.said, ranked.built)

    def _outcome(self, studied: Studied, found: Candidates) -> Outcome:
        return judged(self.originals, studied, found).entry.outcome


@contextmanager
def evaluator(
    subject: Subject,
    scorer: Scorer,
    progress: Progress,
    jobs: int = 1,
    *,
    told_apart: Traits | None = None,
    timed_first: frozenset[str] = frozenset(),
) -> Iterator[Evaluator]:
    """An evaluator of `subject`, that `jobs` may ask at once; candidates are `told_apart` by how they work without
    other traits.

    Raises `InputError` where what the judge draws shows the original itself unsound.
    """
    options, original = subject.options, subject.original
    headers = [header for _, header in original.headers]
    judging = Judging(options.seed or 0, options.sizes, options.draws_edges)
    with bench(options.cache, options.time_limit_s, 2 * jobs) as place:  # a port is built at two widths
        explicit = original.replaced(with_warp_barriers(original.program, headers))
        originals = Originals(explicit, options.sizes, place, options.contract is not None, judging)
        built = originals.begin(subject.contracts).result()
        pairs = zip(subject.contracts, built, strict=True)
        studied = tuple(_sound(originals, contract, one, progress) for contract, one in pairs)
        backend = find_backend(subject.target.backend)
        apart = told_apart or traits(MECHANISM, backend, ())
        yield Evaluator(subject, backend, originals, studied, place, scorer, apart, timed_first)


def _sound(originals: Originals, contract: Contract, built: Built, progress: Progress) -> Studied:
    """The original's answers to the contract's workloads, and to what the judge draws besides."""
    studied = originals.study(contract, built, progress)
    if isinstance(studied, Unproven):
        raise InputError(f"{contract.name}: nothing can be improved: {studied.because}")
    return studied


def _uncompiled(found: Candidates) -> Candidates:
    """`found`, not compiled once its answers are right: what has a score was, and the best is for every device."""
    return tuple(replace(one, compiled=tuple) for one in found) if isinstance(found, tuple) else found


def _not_compiled(ported: Sequence[Candidates]) -> NotBuilt | None:
    """Returns what a compiler has against what was right."""
    asked = (one.compiled() for found in ported if isinstance(found, tuple) for one in found)
    return next((answer for answer in asked if isinstance(answer, NotBuilt)), None)


def failed(candidate: Candidate, outcome: Outcome) -> Scored:
    """Returns what is said of a candidate that is not right, with as much of a compiler's log as helps to mend it."""
    assert not isinstance(outcome, Equal)
    log = getattr(outcome, "log", "")
    feedback = f"{outcome.because}\n{log[:_MOST_LOG]}" if log else outcome.because
    return Scored(candidate.digest, outcome.label, outcome.because, feedback=feedback)


def port_of(files: Sequence[File], folder: Path) -> Port:
    """A candidate's files as a port, in `folder`."""
    return Port(tuple(PortedFile(f.name, f.text, Source(folder / f.name, f.text)) for f in files), ())


def files_of(port: Port) -> tuple[File, ...]:
    """A port's files as a candidate's."""
    return tuple(File(file.name, file.text) for file in port.files)
