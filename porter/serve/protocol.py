"""Defines what a server answers, as records that its client reads; their JSON is that of the evaluation border.

    GET    /healthz                        says that it is up, to anybody
    GET    /metrics                        counts, as Prometheus reads them
    GET    /v1/server                      ServerReport
    PUT    /v1/contents/DIGEST             keeps a Problem or a Program under its SHA-256
    POST   /v1/problems/DIGEST?seed=N      opens a problem: OpenedProblem
    POST   /v1/evaluations?wait_s=S        accepts an EvaluationRequest: Reply
    GET    /v1/evaluations/ID?wait_s=S     Reply, as soon as it is over or S seconds are
    DELETE /v1/evaluations/ID              cancels it: Reply

A failure is a Failure: 400 and 422 for what is malformed, 401 and 403 without a token, 404 and 409 for what was never
sent, 413 and 408 for bodies that are too large or too slow, 429 where a queue is full, 503 where the machine failed.
"""

from __future__ import annotations

from dataclasses import dataclass

from porter.evaluate.model.outcome import Fidelity
from porter.evolve.scoring.evaluation import VERSION, Evaluation
from porter.report.machine import Machine
from porter.serve.ledger import JobState

LONGEST_WAIT_S = 60.0  # that a client may wait for one answer


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """A device of a server: how many requests wait for it, of how many that may, and how many are evaluated."""

    name: str
    queued: int
    most_queued: int
    running: int


@dataclass(frozen=True, slots=True)
class ServerReport:
    """The report of a server: the machine with the targets that it serves, its devices, and the most a run may take.

    `timed` says that candidates are timed on devices; else a model scores them.
    """

    machine: Machine
    devices: tuple[DeviceReport, ...]
    timed: bool
    time_limit_s: float
    border: int = VERSION


@dataclass(frozen=True, slots=True)
class OpenedProblem:
    """A problem whose original is sound: where its candidates are scored."""

    problem: str
    fidelity: Fidelity
    device: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The state of a request, with its `evaluation` where it is done, and `because` where it failed."""

    id: str
    state: JobState
    because: str = ""
    evaluation: Evaluation | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer, and what to do about it. `is_input` says that it lies in what was sent."""

    error: str
    hint: str = ""
    is_input: bool = False
