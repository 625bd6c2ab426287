"""A language model, as the layers around it and the proposers see it.

Recorded( Retried( Paced( Metered( Endpoint | Local ))))

Each layer is a `Model` of its own. A try that fails is a `FailedError`; a question that stays without an answer an
`UnansweredError`, which does not end a search: it goes on with its other proposers. What only the user can mend, a
wrong key or a model that does not exist, is a `MachineError`.
"""

from __future__ import annotations

from typing import Protocol

from porter.agent.question import Answer, Question, Usage


class Model(Protocol):
    """Answers questions, each at once."""

    def ask(self, question: Question) -> Answer:
        """The answer. Raises `UnansweredError` where there is none, `MachineError` where asking again is of no use."""
        ...


class UnansweredError(Exception):
    """The question has no answer; `because` says why, in words that hold no secret."""

    def __init__(self, because: str) -> None:
        super().__init__(because)
        self.because = because


class FailedError(UnansweredError):
    """One try failed in a way that passes: `wait_s` is what the server asked for, `spent` what it may have billed."""

    def __init__(self, because: str, wait_s: float | None = None, spent: Usage | None = None) -> None:
        super().__init__(because)
        self.wait_s = wait_s
        self.spent = spent or Usage()


class OverError(UnansweredError):
    """No question will have an answer any more in this run."""


class BudgetError(OverError):
    """Asking could exceed the budget."""


class GoneError(OverError):
    """The endpoint counts as gone, or nobody waits for its answers any longer."""
