"""Several servers as one place where candidates are evaluated: work goes to the least busy, and away from a lost one.

A server is lost when it was out of reach for some seconds. Its work moves to another at once; it is tried again after a
pause, and then told to drop what was moved. So a request may be begun on two servers, but the search hears of it once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Lock

from porter.errors import InputError, MachineError
from porter.evaluate.model.migration import Progress
from porter.evaluate.model.outcome import Fidelity
from porter.evolve.scoring.evaluation import Evaluation, EvaluationRequest, Program, content_of, digest_of, problem_of
from porter.evolve.scoring.subject import Subject
from porter.serve.client import RemoteEvaluator, Server, Unreachable
from porter.serve.protocol import OpenedProblem

_NOTICED_S = 2.0  # out of reach for so long, a server is lost; shorter cuts are waited for
_AVOIDED_S = 5.0  # a lost server is not tried again for so long while there are others
_PATIENCE_S = 60.0  # with all servers together, as with a single one


@dataclass(eq=False)
class _Member:
    """A server of the pool: how much it has to do, until when it is avoided, and what moved away from it."""

    server: Server
    evaluator: RemoteEvaluator | None = None
    out: int = 0
    avoided_until: float = 0.0
    moved: set[str] = field(default_factory=set)


class PoolEvaluator:
    """Evaluates candidates of one problem on several servers; several threads may ask it at once.

    Raises `MachineError` where none of the servers answers, and `InputError` where they score in different ways or on
    different devices.
    """

    def __init__(self, servers: Sequence[Server], content: bytes, seed: int) -> None:
        self._content, self._seed = content, seed
        self._members = [_Member(replace(server, patience_s=_NOTICED_S)) for server in servers]
        self._lock = Lock()
        self._opened = self._open_any()

    @property
    def problem(self) -> str:
        """Returns the digest of the problem."""
        return self._opened.problem

    @property
    def fidelity(self) -> Fidelity:
        """Returns where all servers score candidates."""
        return self._opened.fidelity

    @property
    def device(self) -> str:
        """Returns the name of the device that times them on every server; empty where a model scores them."""
        return self._opened.device

    def evaluate(self, program: Program, request: EvaluationRequest) -> Evaluation:
        """Returns what came of the program that `request` names, on whichever server.

        Raises `MachineError` where a server failed, or none was within reach for a minute.
        """
        name, last_answer = digest_of(content_of(request)), time.monotonic()
        while True:
            with self._least_busy() as member:
                try:
                    return self._evaluated(member, program, request)
                except Unreachable as error:
                    member.moved.add(name)
                    member.avoided_until = time.monotonic() + _AVOIDED_S
                    if time.monotonic() - last_answer >= _PATIENCE_S:
                        raise MachineError(f"no server is within reach; {error.message}", error.hint) from error

    def _evaluated(self, member: _Member, program: Program, request: EvaluationRequest) -> Evaluation:
        evaluator = self._ready(member)
        while member.moved:
            with suppress(KeyError):  # another thread was faster
                evaluator.server.cancel(member.moved.pop())
        return evaluator.evaluate(program, request)

    @contextmanager
    def _least_busy(self) -> Iterator[_Member]:
        """The server that has least to do of those that are not avoided; of avoided ones the first to be tried."""
        with self._lock:
            now = time.monotonic()
            member = min(self._members, key=lambda one: (max(0.0, one.avoided_until - now), one.out))
            member.out += 1
        try:
            yield member
        finally:
            with self._lock:
                member.out -= 1

    def _ready(self, member: _Member) -> RemoteEvaluator:
        """The evaluator of a server, opened at its first use. Raises `InputError` where it scores otherwise."""
        if member.evaluator is None:
            opened = self._open_at(member)
            if (opened.fidelity, opened.device) != (self._opened.fidelity, self._opened.device):
                here, others = _scoring(opened), _scoring(self._opened)
                raise InputError(
                    f"{member.server.url} scores candidates {here}, and another server {others}",
                    "name servers of the same kind of device by --evaluator: other scores cannot be compared",
                )
            member.evaluator = RemoteEvaluator(member.server, opened, self._content)
        return member.evaluator

    def _open_any(self) -> OpenedProblem:
        """Open the problem on the first server that answers, and compare the others that do with it."""
        opened: OpenedProblem | None = None
        lost: list[Unreachable] = []
        for member in self._members:
            try:
                if opened is None:
                    self._opened = opened = self._open_at(member)
                    member.evaluator = RemoteEvaluator(member.server, opened, self._content)
                else:
                    self._ready(member)
            except Unreachable as error:
                lost.append(error)
                member.avoided_until = time.monotonic() + _AVOIDED_S
        if opened is None:
            raise MachineError("; ".join(error.message for error in lost), lost[0].hint)
        return opened

    def _open_at(self, member: _Member) -> OpenedProblem:
        return member.server.open(member.server.keep(self._content), self._seed)


@dataclass(frozen=True)
class ServerPool:
    """Evaluates on several servers, of which some may be away."""

    servers: tuple[Server, ...]

    @contextmanager
    def open(self, subject: Subject, jobs: int, progress: Progress, *, own: bool) -> Iterator[PoolEvaluator]:  # noqa: ARG002
        """An evaluator of `subject`; how many it evaluates at once is the servers' to say.

        Raises `InputError` where the original itself is unsound, and `MachineError` where no server answers.
        """
        progress(f"opening the problem at {len(self.servers)} servers")
        yield PoolEvaluator(self.servers, content_of(problem_of(subject)), subject.options.seed or 0)


def _scoring(opened: OpenedProblem) -> str:
    return f"by times on {opened.device}" if opened.device else "by a model"
