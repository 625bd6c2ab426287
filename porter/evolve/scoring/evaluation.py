"""The border of evaluation: questions about candidates, and their answers, as plain versioned data.

    Evaluators.open(subject) -> Evaluator            the original is built and studied once
    Evaluator.evaluate(program, request) -> Evaluation

A request names the problem and the candidate by the SHA-256 of their JSON, so that either is sent to another machine
once. On every machine the same request about the same contents means the same.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from porter.contract.model.toml import dumps
from porter.evaluate.model.migration import Progress
from porter.evaluate.model.outcome import Fidelity, Outcome, Verified
from porter.evaluate.model.speed import Measured
from porter.evolve.candidate import File
from porter.evolve.scored import Score
from porter.evolve.scoring.cost import Cost
from porter.evolve.scoring.subject import StandardKind, Subject
from porter.launch_plan.wire import encode_portable
from porter.source.encoding import read_text

VERSION = 2  # of all records here: one that has another is refused
_LONGEST_S = 1e6


def _check_version(version: int) -> None:
    if version != VERSION:
        raise ValueError(f"version {version} of the evaluation border, and this porter knows version {VERSION}")


@dataclass(frozen=True, slots=True)
class Program:
    """A candidate's files in the language of its target; the first is the one that is called."""

    files: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Holds all that candidates are evaluated for: no file of the machine that asks is needed.

    `files` are what candidates are compared with, of the kind `standard_kind`: CUDA and the local headers that it
    includes, by the names that it uses; a Python reference; or a recording, whose bytes are in base64. `contracts` is
    the text of `contract.toml`, which a user wrote if `is_stated`. `seed` is what scores are relative to. One run of a
    candidate may use `time_limit_s` seconds of processor time.
    """

    source: str
    files: tuple[File, ...]
    contracts: str
    target: str
    arch: str
    defines: tuple[str, ...]
    entry: str
    is_stated: bool
    seed: Program
    time_limit_s: float
    standard_kind: StandardKind = StandardKind.CUDA


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """One question: how good is `candidate` for `problem`? Both are digests of contents.

    `seed` draws the inputs of the judgement. `fidelity` says where it is scored: native or proxy on a device, emulated
    by a model. A candidate not evaluated `deadline_s` seconds after it was accepted is not verified. A score whose
    interval ends below `to_beat` (times the seed's speed) is not measured more closely; with `score_first` such a
    candidate is not proven either. `repetition` counts how often the same was asked for before: each is evaluated
    afresh.
    """

    problem: str
    candidate: str
    seed: int
    fidelity: Fidelity
    deadline_s: float
    to_beat: float = 1.0
    score_first: bool = False
    repetition: int = 0
    version: int = VERSION

    def __post_init__(self) -> None:
        _check_version(self.version)
        if not (0 < self.deadline_s <= _LONGEST_S and 0 <= self.to_beat <= _LONGEST_S and self.repetition >= 0):
            raise ValueError("deadline_s is more than 0, to_beat and repetition at least 0, and none is too large")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The whole answer about a candidate.

    `outcome` is that of the first entry that is not verified, else of all of them together: with the errors of every
    workload, the faults of a crash, the findings of a refusal, a compiler's log. Only a verified candidate has a
    `score`: `said` tells what it is made of, or why there is none, `times` hold every sample on a device, `costs` hold
    what a model says of each workload. `built` is the digest of what the compiler made, where that is known.
    `environment` has the versions of what executed it. It took `seconds`.
    """

    outcome: Outcome
    score: Score | None = None
    said: str = ""
    built: str = ""
    times: tuple[Measured, ...] = ()
    costs: tuple[Cost, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    version: int = VERSION

    def __post_init__(self) -> None:
        _check_version(self.version)
        if self.score is not None and not isinstance(self.outcome, Verified):
            raise ValueError(f"only what is verified has a score, and this is {self.outcome.label}")


class Evaluator(Protocol):
    """Evaluates candidates of one problem; several threads may ask it at once."""

    @property
    def fidelity(self) -> Fidelity:
        """Returns where it scores candidates."""
        ...

    @property
    def device(self) -> str:
        """The name of the device that times candidates; empty where a model scores them."""
        ...

    @property
    def problem(self) -> str:
        """Returns the digest of the problem."""
        ...

    def evaluate(self, program: Program, request: EvaluationRequest) -> Evaluation:
        """Returns the evaluation of the program that `request` names.

        Raises `MachineError` where the machine failed, never for anything a candidate does.
        """
        ...


class Evaluators(Protocol):
    """A place where candidates are evaluated: this machine, or another."""

    def open(self, subject: Subject, jobs: int, progress: Progress, *, own: bool) -> AbstractContextManager[Evaluator]:
        """Yields an evaluator that `jobs` threads may ask at once. With `own` all candidates are porter's own.

        Raises `InputError` where the original itself is unsound, and `MachineError` where nothing scores candidates.
        """
        ...


def digest_of(content: bytes) -> str:
    """Returns the name of a content: the hexadecimal digits of its SHA-256."""
    return hashlib.sha256(content).hexdigest()


def content_of(record: Problem | Program | EvaluationRequest) -> bytes:
    """Returns a record as the bytes by whose digest it is named."""
    return encode_portable(record).encode()


def problem_of(subject: Subject) -> Problem:
    """Returns what candidates for `subject` are evaluated for, as another machine needs it."""
    options = subject.options
    return Problem(
        subject.path.name,
        tuple(File(name, text) for name, text in _texts(subject).items()),
        dumps(subject.contracts),
        subject.target.backend,
        subject.target.arch,
        options.defines,
        options.entry,
        options.contract is not None,
        Program(tuple(File(file.name, file.text) for file in subject.seed.files)),
        options.time_limit_s,
        subject.standard_kind,
    )


def _texts(subject: Subject) -> Mapping[str, str]:
    if subject.standard_kind is StandardKind.RECORDING:
        return {subject.path.name: b64encode(subject.path.read_bytes()).decode()}
    if subject.standard_kind is StandardKind.PYTHON:
        return {subject.path.name: read_text(subject.path)}
    program = subject.original.program
    texts = (
        *((piece.path.name, piece.text) for piece in program.elsewhere),
        (program.source.path.name, program.source.text),
        *((name, header.text) for name, header in program.headers),
    )
    return dict(texts)
