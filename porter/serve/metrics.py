"""Counts what happens in a server, as Prometheus reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from threading import Lock


class Metrics:
    """Counts since the server was started; any thread may count."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._outcomes: Counter[str] = Counter()
        self._answers: Counter[int] = Counter()
        self._failures = 0
        self._seconds = 0.0

    def evaluated(self, outcome: str, seconds: float) -> None:
        """Count an evaluation that came to an outcome."""
        with self._lock:
            self._outcomes[outcome] += 1
            self._seconds += seconds

    def failed(self) -> None:
        """Count an evaluation in which the server failed."""
        with self._lock:
            self._failures += 1

    def answered(self, status: int) -> None:
        """Count an answer by its status."""
        with self._lock:
            self._answers[status] += 1

    @property
    def mean_s(self) -> float:
        """Returns how long an evaluation took on average; 1 before the first."""
        with self._lock:
            count = self._outcomes.total()
            return self._seconds / count if count else 1.0

    def text(self, queues: Iterable[tuple[str, int, int]]) -> str:
        """All counts, with those of `queues`: the device, how many requests wait and how many run."""
        with self._lock:
            counts = [
                *_metric("evaluations_total", "counter", [(f'outcome="{k}"', n) for k, n in self._outcomes.items()]),
                *_metric("evaluation_failures_total", "counter", [("", self._failures)]),
                *_metric("evaluation_seconds_total", "counter", [("", round(self._seconds, 3))]),
                *_metric("http_responses_total", "counter", [(f'status="{k}"', n) for k, n in self._answers.items()]),
            ]
        each = list(queues)
        counts += _metric("queued", "gauge", [(f'device="{device}"', waiting) for device, waiting, _ in each])
        counts += _metric("running", "gauge", [(f'device="{device}"', running) for device, _, running in each])
        return "\n".join(counts) + "\n"


def _metric(name: str, kind: str, values: Iterable[tuple[str, float]]) -> list[str]:
    lines = [f"porter_{name}{{{labels}}} {value}" if labels else f"porter_{name} {value}" for labels, value in values]
    return [f"# TYPE porter_{name} {kind}", *lines]
