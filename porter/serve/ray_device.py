"""The actor on a node of a Ray cluster for one of its devices; Ray carries the calls, and nothing here imports it.

All searches that use the cluster share it, as they do a server. It ends when nobody has asked for a minute, and so
gives its device back: who asks later starts another one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Thread

from porter.evaluate.model.migration import MigrateOptions
from porter.evolve.scoring.evaluation import EvaluationRequest, Program, digest_of
from porter.evolve.scoring.local import ThisMachine
from porter.launch_plan.wire import decode, encode_portable
from porter.serve.problems import OpenProblems
from porter.serve.protocol import OpenedProblem

_LONGEST_S = 3600.0  # that one run of a candidate may ask for: who reaches a Ray cluster may run anything there


class RayDevice:
    """Opens problems and evaluates candidates; several threads may ask it at once, about several problems.

    Records go in and out as JSON, as they do to a server. A `PorterError` goes to who asked.
    """

    def __init__(self, cache: Callable[[], Path], jobs: int, idle_s: float) -> None:
        self._contents: dict[str, bytes] = {}
        options = MigrateOptions("", cache(), time_limit_s=_LONGEST_S, environment=dict(os.environ))
        self._problems = OpenProblems(self._contents.get, ThisMachine(), options, jobs)
        self._lock, self._asking, self._last = Lock(), 0, time.monotonic()
        Thread(target=self._end_when_idle, args=(idle_s,), daemon=True).start()

    def open(self, problem: bytes, seed: int) -> str:
        """An `OpenedProblem`."""
        with self._asked():
            name = digest_of(problem)
            self._contents[name] = problem
            with self._problems.using(name, seed) as evaluator:
                return encode_portable(OpenedProblem(name, evaluator.fidelity, evaluator.device))

    def evaluate(self, program: bytes, request: bytes) -> str:
        """An `Evaluation`, of a problem that was opened."""
        with self._asked():
            asked = decode(EvaluationRequest, request)
            with self._problems.using(asked.problem, asked.seed) as evaluator:
                return encode_portable(evaluator.evaluate(decode(Program, program), asked))

    @contextmanager
    def _asked(self) -> Iterator[None]:
        with self._lock:
            self._asking += 1
        try:
            yield
        finally:
            with self._lock:
                self._asking -= 1
                self._last = time.monotonic()

    def _end_when_idle(self, idle_s: float) -> None:
        """End the process once nobody has asked for so long; one who asks meanwhile loses an answer, and asks again."""
        while True:
            time.sleep(idle_s / 10)
            with self._lock:
                if not self._asking and time.monotonic() - self._last >= idle_s:
                    os._exit(0)  # not by an exception: only calls of Ray's may end an actor by one
