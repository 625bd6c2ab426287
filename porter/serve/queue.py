"""The queue of one device: requests are evaluated in the order in which they were accepted, a few at once."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Condition, Thread

from porter.errors import PorterError
from porter.evaluate.model.outcome import NotVerified
from porter.evolve.scoring.evaluation import Evaluation, EvaluationRequest, Program
from porter.launch_plan.wire import decode, encode_portable
from porter.serve.ledger import JobState, Ledger
from porter.serve.metrics import Metrics
from porter.serve.problems import OpenProblems


class DeviceQueue:
    """Threads that evaluate what `put` queued. At most `most_queued` requests wait."""

    def __init__(
        self,
        device: str,
        ledger: Ledger,
        problems: OpenProblems,
        metrics: Metrics,
        *,
        jobs: int,
        most_queued: int,
    ) -> None:
        self.device = device
        self.problems = problems
        self.most_queued = most_queued
        self._ledger, self._metrics = ledger, metrics
        self._ended: Callable[[str], None] = lambda _: None
        self._waiting: deque[str] = deque()
        self._changed = Condition()
        self._closed = False
        self._running = 0
        self._threads = [Thread(target=self._work, name=f"{device} {number}", daemon=True) for number in range(jobs)]

    @property
    def queued(self) -> int:
        """Returns how many requests wait."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Returns how many are evaluated now."""
        return self._running

    @property
    def load(self) -> int:
        """Returns how many requests have not ended."""
        return self.queued + self.running

    @property
    def is_full(self) -> bool:
        """Returns whether no more requests are accepted."""
        return self.queued >= self.most_queued

    def tell(self, ended: Callable[[str], None]) -> None:
        """From here on `ended` hears of each request that is over, in any thread."""
        self._ended = ended

    def start(self) -> None:
        """Begin to evaluate."""
        for thread in self._threads:
            thread.start()

    def put(self, name: str) -> None:
        """Queue a request that the ledger has."""
        with self._changed:
            self._waiting.append(name)
            self._changed.notify()

    def drop(self, name: str, state: JobState, said: str) -> bool:
        """End a request without what would come of it; returns False where it was over already."""
        if not self._ledger.end(name, state, said):
            return False
        with self._changed:
            if name in self._waiting:
                self._waiting.remove(name)
        self._ended(name)
        return True

    def close(self) -> None:
        """Evaluate nothing more, and end the processes of all problems; what waits stays in the ledger."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
        self.problems.close()

    def _work(self) -> None:
        while (name := self._next()) is not None:
            state, said = self._evaluated(name)
            with self._changed:
                self._running -= 1
            if self._ledger.end(name, state, said):
                self._ended(name)

    def _next(self) -> str | None:
        """Waits for a request that is still to be evaluated; None once the queue is closed."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return None
                name = self._waiting.popleft()
                self._running += 1
            if self._ledger.begin(name):
                return name
            with self._changed:
                self._running -= 1

    def _evaluated(self, name: str) -> tuple[JobState, str]:
        began = time.monotonic()
        try:
            evaluation = self._evaluation(name)
        except PorterError as error:
            self._metrics.failed()
            return JobState.FAILED, str(error)
        except Exception as error:  # noqa: BLE001 - of one request; the thread serves others
            self._metrics.failed()
            return JobState.FAILED, f"the server failed: {type(error).__name__}: {error}"
        self._metrics.evaluated(evaluation.outcome.label, time.monotonic() - began)
        return JobState.DONE, encode_portable(evaluation)

    def _evaluation(self, name: str) -> Evaluation:
        job = self._ledger.job(name)
        assert job is not None
        request = decode(EvaluationRequest, job.request)
        content = self._ledger.content(request.candidate)
        assert content is not None, "only requests about contents that are there are accepted"
        with self.problems.using(request.problem, request.seed) as evaluator:
            if evaluator.fidelity is not request.fidelity:
                here, asked = evaluator.fidelity.value, request.fidelity.value
                raise PorterError(f"scores of this server are {here} now, and {asked} ones were asked for")
            return evaluator.evaluate(decode(Program, content), request)


def too_late(deadline_s: float) -> str:
    """The evaluation of what was not evaluated in time, as JSON."""
    outcome = NotVerified(f"it was not evaluated within {deadline_s:g} s", too_slow=True)
    return encode_portable(Evaluation(outcome))
