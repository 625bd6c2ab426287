"""Another machine as a place where candidates are evaluated: a server of `porter serve`, over HTTP.

Every question names what it is about by digest, so one that may have been lost is simply asked again. A server that
cannot be reached is waited for a while: it may be starting again, and goes on with what it was asked.
"""

from __future__ import annotations

import http.client
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlsplit

from porter.agent.secret import Secret
from porter.errors import InputError, MachineError, UsageError
from porter.evaluate.model.migration import Progress
from porter.evaluate.model.outcome import Fidelity
from porter.evolve.scoring.evaluation import (
    Evaluation,
    EvaluationRequest,
    Program,
    content_of,
    digest_of,
    problem_of,
)
from porter.evolve.scoring.subject import Subject
from porter.launch_plan.wire import WireError, decode
from porter.serve.access import HEALTH, QUESTION, TOKEN
from porter.serve.ledger import JobState
from porter.serve.protocol import LONGEST_WAIT_S, Failure, OpenedProblem, Reply, ServerReport

_PATIENCE_S = 60.0  # with a server that cannot be reached
_LONGEST_PAUSE_S = 5.0
_FIRST_PAUSE_S = 0.05
_OPENING_S = 900.0  # an original may be studied for minutes
_ANSWER_S = 30.0  # beyond what is waited for on purpose
_LONGEST_ANSWER = 64 << 20  # bytes; all samples of a few workloads are some MiB
_AGAIN = (408, 429, 503)
_Record = TypeVar("_Record")


class Unreachable(MachineError):  # noqa: N818 - a state of the server, which may pass
    """A server did not answer for as long as it is waited for; its work may be done elsewhere."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """The status of an answer, its body, and after how many seconds to ask again, where it says so."""

    status: int
    body: bytes
    retry_after_s: float | None


@dataclass(frozen=True)
class Server:
    """A server at `url`, as `http://host:port`; `patience_s` is how long it is waited for while it is out of reach.

    Each thread has a connection of its own, which stays open. Raises `UsageError` for a URL that is none.
    """

    url: str
    token: Secret = field(repr=False)
    patience_s: float = _PATIENCE_S
    _connections: threading.local = field(default_factory=threading.local, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        try:
            well_formed = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            well_formed = False
        if not well_formed or parts.path.strip("/") or parts.query or parts.username:
            raise UsageError(f"--evaluator {self.url}: not the address of a server", "for example http://lab:8900")

    def check(self) -> None:
        """Raises `MachineError` where nobody answers, or the token is wrong."""
        self._answer("GET", "/metrics")

    def report(self) -> ServerReport:
        """Returns what is there. Raises `MachineError` where nobody answers, or the token is wrong."""
        return self._asked(ServerReport, "GET", "/v1/server")

    def keep(self, content: bytes) -> str:
        """Send a content, and return its digest."""
        digest = digest_of(content)
        self._answer("PUT", f"/v1/contents/{digest}", content)
        return digest

    def open(self, problem: str, seed: int) -> OpenedProblem:
        """Open a problem whose content was sent. Raises `InputError` where its original is unsound."""
        return self._asked(OpenedProblem, "POST", f"/v1/problems/{problem}?seed={seed}", timeout_s=_OPENING_S)

    def evaluate(self, request: EvaluationRequest, contents: Sequence[bytes]) -> Evaluation:
        """Returns what came of a request, however long that takes; `contents` are what it names.

        The request is sent again until it is over: a server that lost it, or its contents, gets them once more. One
        that was cancelled is, too: somebody else asked for the same, and no longer waits.
        """
        self.keep(contents[-1])
        asked = content_of(request)
        while True:
            answer = self._answer("POST", f"/v1/evaluations?wait_s={LONGEST_WAIT_S:g}", asked, LONGEST_WAIT_S, (409,))
            if answer.status == 409:
                for content in contents:
                    self.keep(content)
                continue
            reply = self._decoded(Reply, answer)
            if reply.state.is_over and reply.state is not JobState.CANCELLED:
                break
        if reply.evaluation is None:
            hint = f"`porter doctor --evaluator {self.url}` says what is there"
            raise MachineError(f"{self.url}: {reply.state.value}: {reply.because}", hint)
        return reply.evaluation

    def cancel(self, request: str) -> None:
        """End a request that was sent, by its digest; one that is over, or never came, is no matter."""
        self._answer("DELETE", f"/v1/evaluations/{request}", expected=(404,))

    def _asked(self, kind: type[_Record], method: str, path: str, body: bytes = b"", timeout_s: float = 0.0) -> _Record:
        return self._decoded(kind, self._answer(method, path, body, timeout_s))

    def _decoded(self, kind: type[_Record], answer: _Answer) -> _Record:
        try:
            return decode(kind, answer.body)
        except WireError as error:
            hint = "is it `porter serve` of the same version?"
            raise MachineError(f"{self.url}: its answer is no {kind.__name__}: {error}", hint) from error

    def _answer(
        self, method: str, path: str, body: bytes = b"", timeout_s: float = 0.0, expected: Sequence[int] = ()
    ) -> _Answer:
        """The answer of a success, or with an `expected` status; a server that is busy or away is asked again, the
        latter for as long as patience lasts.
        """
        away_since, pause_s = 0.0, _FIRST_PAUSE_S
        while True:
            try:
                answer = self._once(method, path, body, timeout_s + _ANSWER_S)
            except (OSError, http.client.HTTPException) as error:
                self._forget()
                away_since = away_since or time.monotonic()
                if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
                    raise self._untrusted(error) from error
                if time.monotonic() - away_since >= self.patience_s:
                    raise self._unreachable(error) from error
                wait_s = pause_s
            else:
                if answer.status < 300 or answer.status in expected:
                    return answer
                if answer.status not in _AGAIN or answer.retry_after_s is None:
                    raise self._refusal(answer)
                away_since, wait_s = 0.0, answer.retry_after_s
            time.sleep(min(wait_s, _LONGEST_PAUSE_S))
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _once(self, method: str, path: str, body: bytes, timeout_s: float) -> _Answer:
        connection = self._connection(timeout_s)
        question = secrets.token_hex(8)
        headers = {"Content-Type": "application/json", QUESTION: question}
        if self.token.value:
            headers["Authorization"] = f"Bearer {self.token.value}"
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        content = response.read(_LONGEST_ANSWER + 1)
        if len(content) > _LONGEST_ANSWER:
            raise MachineError(f"{self.url}: an answer of more than {_LONGEST_ANSWER} bytes")
        if response.length:
            raise http.client.IncompleteRead(content, response.length)
        if response.status < 300 and response.headers.get(QUESTION) != question:
            raise http.client.HTTPException("the answer was cut short, or is that to an earlier question")
        return _Answer(response.status, content, _seconds(response.headers.get("Retry-After", "")))

    def _connection(self, timeout_s: float) -> http.client.HTTPConnection:
        known: http.client.HTTPConnection | None = getattr(self._connections, "one", None)
        if known is not None and known.sock is not None:
            known.sock.settimeout(timeout_s)
            return known
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        made = kind(parts.hostname or "", parts.port, timeout=timeout_s)
        made.connect()
        made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connections.one = made
        return made

    def _forget(self) -> None:
        known: http.client.HTTPConnection | None = getattr(self._connections, "one", None)
        if known is not None:
            known.close()

    def _untrusted(self, error: ssl.SSLError) -> MachineError:
        hint = (
            "SSL_CERT_FILE names the certificates that this machine trusts; http:// is for servers without --tls-cert"
        )
        return MachineError(f"{self.url}: no connection by TLS: {error}", hint)

    def _unreachable(self, error: Exception) -> Unreachable:
        because = self.token.scrub(str(error)) or type(error).__name__
        hint = f"is `porter serve` running there? {self.url}{HEALTH} answers anybody"
        return Unreachable(f"{self.url} cannot be reached: {because}", hint)

    def _refusal(self, answer: _Answer) -> InputError | MachineError:
        try:
            failure = decode(Failure, answer.body)
        except WireError:
            failure = Failure(answer.body[:300].decode("utf-8", "replace"))
        because = f"{self.url}: {self.token.scrub(failure.error)}"
        if answer.status in (401, 403):
            return MachineError(because, f"{TOKEN} holds the token that the server asks for")
        if failure.is_input:
            return InputError(because, failure.hint)
        return MachineError(because, failure.hint or f"it answered {answer.status}")


@dataclass(frozen=True)
class RemoteEvaluator:
    """Evaluates candidates of the problem `opened`, which is `content`, on a server."""

    server: Server
    opened: OpenedProblem
    content: bytes

    @property
    def problem(self) -> str:
        """Returns the digest of the problem."""
        return self.opened.problem

    @property
    def fidelity(self) -> Fidelity:
        """Returns where it scores candidates."""
        return self.opened.fidelity

    @property
    def device(self) -> str:
        """Returns the name of the device that times them; empty where a model scores them."""
        return self.opened.device

    def evaluate(self, program: Program, request: EvaluationRequest) -> Evaluation:
        """Returns what came of the program that `request` names. Raises `MachineError` where the server failed."""
        return self.server.evaluate(request, (self.content, content_of(program)))


@dataclass(frozen=True)
class AnotherMachine:
    """Evaluates on a server. Every candidate has a process of its own there, whoever wrote it."""

    server: Server

    @contextmanager
    def open(self, subject: Subject, jobs: int, progress: Progress, *, own: bool) -> Iterator[RemoteEvaluator]:  # noqa: ARG002
        """An evaluator of `subject`; how many it evaluates at once is the server's to say.

        Raises `InputError` where the original itself is unsound, and `MachineError` where nobody answers.
        """
        progress(f"opening the problem at {self.server.url}")
        content = content_of(problem_of(subject))
        opened = self.server.open(self.server.keep(content), subject.options.seed or 0)
        yield RemoteEvaluator(self.server, opened, content)


def _seconds(said: str) -> float | None:
    """Returns after how many seconds to ask again; None where the answer does not say."""
    try:
        return max(0.0, float(said))
    except ValueError:
        return None
