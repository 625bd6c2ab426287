"""Takes the requests to a server, whoever brings them: accepts, queues, waits for what comes of them, ends them."""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from porter.evolve.candidate import Candidate, Origin
from porter.evolve.scoring.evaluation import Evaluation, EvaluationRequest, Program, content_of, digest_of
from porter.evolve.store import keepable
from porter.launch_plan.wire import WireError, decode
from porter.serve.access import Refused
from porter.serve.ledger import Job, JobState, Ledger
from porter.serve.metrics import Metrics
from porter.serve.protocol import LONGEST_WAIT_S, OpenedProblem, Reply, ServerReport
from porter.serve.queue import DeviceQueue, too_late

_OPENERS = 4  # problems that are opened at once


@dataclass(frozen=True)
class Place:
    """The place of a service: its ledger, its counts, a queue for each device, and what it says of the machine."""

    ledger: Ledger
    metrics: Metrics
    queues: Sequence[DeviceQueue]
    report: Callable[[], ServerReport]


class Service:
    """Lives in one event loop, from `start` to `close`; evaluations run in the threads of the queues."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiters: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._queue_of: dict[str, DeviceQueue] = {}
        self._openers = ThreadPoolExecutor(_OPENERS)

    def start(self) -> None:
        """Go on with what the ledger has queued."""
        self._loop = asyncio.get_running_loop()
        for job in self._place.ledger.unended():
            self._queue(job, decode(EvaluationRequest, job.request))
        for queue in self._place.queues:
            queue.start()

    def close(self) -> None:
        """End what goes on; what waits stays in the ledger."""
        for timer in self._timers.values():
            timer.cancel()
        self._loop = None

    def ended(self, name: str) -> None:
        """Wake who waits for a request; called in any thread."""
        if (loop := self._loop) is not None:
            loop.call_soon_threadsafe(self._wake, name)

    def keep(self, digest: str, content: bytes) -> None:
        """Keep a content. Raises `Refused` where that is not its digest."""
        if digest_of(content) != digest:
            raise Refused(400, f"the content is not that of {digest}")
        self._place.ledger.keep(digest, content)

    async def open(self, problem: str, seed: int) -> OpenedProblem:
        """Open a problem on its device. Raises `PorterError` where it cannot be."""
        queue = self._queue_for(problem)

        def opened() -> OpenedProblem:
            with queue.problems.using(problem, seed) as evaluator:
                return OpenedProblem(problem, evaluator.fidelity, evaluator.device)

        return await asyncio.get_running_loop().run_in_executor(self._openers, opened)

    def accept(self, body: bytes) -> str:
        """Queue a request, and return its name; what is known already is not queued again.

        Raises `Refused` for what is no request, is about contents that are not there, or finds the queue full.
        """
        request = _request(body)
        canonical = content_of(request)
        name, ledger = digest_of(canonical), self._place.ledger
        known = ledger.job(name)
        if known is not None and known.state not in (JobState.CANCELLED, JobState.FAILED):
            return name
        self._check_contents(request)
        queue = self._queue_for(request.problem)
        if queue.is_full:
            wait_s = math.ceil(self._place.metrics.mean_s)
            raise Refused(429, f"{queue.queued} requests wait for {queue.device}", {"Retry-After": str(wait_s)})
        ledger.accept(name, canonical, time.time() + request.deadline_s)
        job = ledger.job(name)
        assert job is not None
        self._queue(job, request)
        return name

    async def reply(self, name: str, wait_s: float = 0.0) -> Reply:
        """Returns what is known of a request once it is over, or after a while. Raises `Refused` for an unknown one."""
        woken = asyncio.get_running_loop().create_future()
        self._waiters[name].add(woken)
        try:
            job = self._known(name)
            if not job.state.is_over and wait_s > 0:
                await asyncio.wait((woken,), timeout=min(wait_s, LONGEST_WAIT_S))
                job = self._known(name)
        finally:
            self._waiters[name].discard(woken)
            if not self._waiters[name]:
                del self._waiters[name]
        return _reply_of(job)

    def cancel(self, name: str) -> Reply:
        """End a request that is not over. Raises `Refused` for an unknown one."""
        request = decode(EvaluationRequest, self._known(name).request)
        self._queue_for(request.problem).drop(name, JobState.CANCELLED, "it was cancelled")
        return _reply_of(self._known(name))

    async def report(self) -> ServerReport:
        """Returns what is there."""
        return await asyncio.get_running_loop().run_in_executor(self._openers, self._place.report)

    def metrics(self) -> str:
        """Returns all counts, as Prometheus reads them."""
        return self._place.metrics.text((queue.device, queue.queued, queue.running) for queue in self._place.queues)

    def _check_contents(self, request: EvaluationRequest) -> None:
        for digest in (request.problem, request.candidate):
            if self._place.ledger.content(digest) is None:
                raise Refused(409, f"the content {digest} was never sent")
        try:
            program = decode(Program, self._place.ledger.content(request.candidate) or b"")
        except WireError as error:
            raise Refused(422, f"{request.candidate} is no program: {error}") from error
        if not keepable(Candidate(program.files, Origin(""))):
            raise Refused(422, "a candidate's files have names of letters, digits and _ . + -, below one folder")

    def _queue_for(self, problem: str) -> DeviceQueue:
        """Returns the device on which all candidates of a problem are evaluated: at first the one with least to do."""
        return self._queue_of.setdefault(problem, min(self._place.queues, key=lambda queue: queue.load))

    def _queue(self, job: Job, request: EvaluationRequest) -> None:
        queue = self._queue_for(request.problem)
        loop = asyncio.get_running_loop()
        late = too_late(request.deadline_s)
        left_s = max(0.0, job.ends_at - time.time())
        self._timers[job.id] = loop.call_later(left_s, queue.drop, job.id, JobState.DONE, late)
        queue.put(job.id)

    def _known(self, name: str) -> Job:
        job = self._place.ledger.job(name)
        if job is None:
            raise Refused(404, f"the request {name} was never sent")
        return job

    def _wake(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()
        for waiter in self._waiters.get(name, ()):
            if not waiter.done():
                waiter.set_result(None)


def _request(body: bytes) -> EvaluationRequest:
    try:
        return decode(EvaluationRequest, body)
    except WireError as error:
        raise Refused(422, f"this is no request for an evaluation: {error}") from error


def _reply_of(job: Job) -> Reply:
    if job.state is JobState.DONE:
        return Reply(job.id, job.state, evaluation=decode(Evaluation, job.said))
    return Reply(job.id, job.state, because=job.said)
