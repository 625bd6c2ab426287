"""Asking again, and not too often: the only layer that repeats a question, and the one that spaces questions out."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Event, Lock

from porter.agent.model import FailedError, GoneError, Model, UnansweredError
from porter.agent.question import Answer, Question


@dataclass(frozen=True, slots=True)
class Backoff:
    """The number of tries at a question, and the pauses: `first_s`, doubled each time up to `longest_s`.

    A server that asks for a longer pause than `longest_s` is not waited for. After `silent` questions in a row to
    which no try brought an answer the endpoint counts as gone, and is not asked again before the run is resumed.
    """

    tries: int = 5
    first_s: float = 1.0
    longest_s: float = 60.0
    silent: int = 3

    def pause_s(self, tried: int, asked_s: float | None, question: Question) -> float:
        """Seconds until the next try after `tried` of them; the jitter is the question's own, so that it repeats."""
        if asked_s is not None:
            return asked_s
        longest: float = min(self.first_s * 2.0 ** (tried - 1), self.longest_s)
        return longest * random.Random(f"{question.digest}:{tried}").uniform(0.5, 1.0)


@dataclass(slots=True)
class Retried:
    """`model`, asked again after failures that pass; `tell` hears of each as it happens, since pauses may be long."""

    model: Model
    backoff: Backoff
    tell: Callable[[str], None]
    closed: Event = field(default_factory=Event)
    _silent: int = field(default=0, init=False)

    def ask(self, question: Question) -> Answer:
        """The first answer that a try brings. Raises `GoneError` once there is no hope of one, or it is `closed`."""
        if self._silent >= self.backoff.silent:
            raise GoneError(f"not asked: {self._silent} questions in a row had no answer")
        try:
            answer = self._tried(question)
        except FailedError:
            self._silent += 1
            raise
        self._silent = 0
        return answer

    def _tried(self, question: Question) -> Answer:
        tries: list[str] = []
        while True:
            if self.closed.is_set():
                raise GoneError("not asked: the search is over")
            try:
                return replace(self.model.ask(question), tries=tuple(tries))
            except FailedError as failed:
                tries.append(failed.because)
                if len(tries) >= self.backoff.tries:
                    raise FailedError(f"{len(tries)} tries: {'; '.join(tries)}") from None
                pause_s = self.backoff.pause_s(len(tries), failed.wait_s, question)
            if pause_s > self.backoff.longest_s:
                raise UnansweredError(f"{'; '.join(tries)}; it asks for a pause of {pause_s:g} s")
            self.tell(f"{tries[-1]}; try {len(tries) + 1} of {self.backoff.tries} in {pause_s:.3g} s")
            self.closed.wait(pause_s)


@dataclass(slots=True)
class Paced:
    """`model`, asked at most `per_minute` times a minute, evenly; 0 is as often as one likes."""

    model: Model
    per_minute: float
    _next_s: float = field(default=0.0, init=False)
    _turn: Lock = field(default_factory=Lock, init=False)

    def ask(self, question: Question) -> Answer:
        """The answer, once it is its turn."""
        if self.per_minute > 0:
            with self._turn:
                time.sleep(max(0.0, self._next_s - time.monotonic()))
                self._next_s = time.monotonic() + 60.0 / self.per_minute
        return self.model.ask(question)
