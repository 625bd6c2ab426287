"""Requests that slow proposers answer in threads of their own."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from copy import copy

from porter.evolve.candidate import Candidate
from porter.evolve.proposer import Account, Accountable, Proposer, Request

Answered = tuple[Sequence[Candidate], Account]


class Questions:
    """Asks each request once, and hands out answers in the order in which they came.

    The threads do not keep the process alive: a search that is over waits for no server.
    """

    def __init__(self) -> None:
        self._asked: set[int] = set()
        self._pending: dict[int, Future[None]] = {}
        self._answers: list[tuple[int, Answered | BaseException]] = []
        self._lock = threading.Lock()

    @property
    def pending(self) -> tuple[Future[None], ...]:
        """Returns those that are not answered yet, or whose answer was not handed out."""
        return tuple(self._pending.values())

    def ask(self, step: int, proposer: Proposer, request: Request) -> None:
        """Lets `proposer` answer the request of `step`, unless it was asked already."""
        if step in self._asked:
            return
        self._asked.add(step)
        done: Future[None] = Future()
        self._pending[step] = done
        threading.Thread(target=self._answer, args=(step, copy(proposer), request, done), daemon=True).start()

    def answers(self) -> Iterator[tuple[int, Answered]]:
        """Yields the answers that came, each once. Raises what a proposer raised."""
        with self._lock:
            came, self._answers = self._answers, []
        for step, answer in came:
            del self._pending[step]
            if isinstance(answer, BaseException):
                raise answer
            yield step, answer

    def _answer(self, step: int, proposer: Proposer, request: Request, done: Future[None]) -> None:
        answer: Answered | BaseException
        try:
            offered = proposer.propose(request)
            answer = offered, proposer.account() if isinstance(proposer, Accountable) else Account()
        except BaseException as error:  # noqa: BLE001 - raised again in the thread of the search
            answer = error
        with self._lock:
            self._answers.append((step, answer))
        done.set_result(None)
