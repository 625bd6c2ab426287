"""Counts what models have cost, and keeps the limits that hold before a question is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition

from porter.agent.model import BudgetError, FailedError, Model
from porter.agent.question import Answer, Question, Usage, estimated_tokens


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of a million tokens, in whatever currency the budget is in."""

    input_per_million: float = 0.0
    output_per_million: float = 0.0

    def of(self, usage: Usage) -> float:
        """The cost of `usage`."""
        return (usage.input_tokens * self.input_per_million + usage.output_tokens * self.output_per_million) / 1e6


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent; None is no limit."""

    tokens: int | None = None
    cost: float | None = None


@dataclass(slots=True)
class Ledger:
    """The account of what was spent by all that share it, and what is set aside for questions that are out.

    A resumed run begins with what its recording says.
    """

    budget: Budget = field(default_factory=Budget)
    spent: Usage = field(default_factory=Usage)
    cost: float = 0.0
    _lock: Condition = field(default_factory=Condition, repr=False)
    _aside_tokens: int = 0
    _aside_cost: float = 0.0

    def book(self, usage: Usage, cost: float) -> None:
        """Add to what was spent."""
        with self._lock:
            self.spent += usage
            self.cost += cost

    @contextmanager
    def set_aside(self, most: Usage, cost: float) -> Iterator[None]:
        """Room for a question that takes up to `most`, while it is out.

        Waits for those that are out, since they may take less than was set aside. Raises `BudgetError` where there is
        no room even so.
        """
        with self._lock:
            while refusal := self._refusal(most, cost):
                if not self._aside_tokens:
                    raise BudgetError(refusal)
                self._lock.wait()
            self._aside_tokens += most.tokens
            self._aside_cost += cost
        try:
            yield
        finally:
            with self._lock:
                self._aside_tokens -= most.tokens
                self._aside_cost -= cost
                self._lock.notify_all()

    def _refusal(self, most: Usage, cost: float) -> str:
        tokens, money = self.budget.tokens, self.budget.cost
        if tokens is not None and self.spent.tokens + self._aside_tokens + most.tokens > tokens:
            return f"the budget of {tokens} tokens: {self.spent.tokens} are spent, this may take {most.tokens}"
        if money is not None and self.cost + self._aside_cost + cost > money:
            return f"the budget of {money:g}: {self.cost:.4g} is spent, this may cost {cost:.4g}"
        return ""


@dataclass(frozen=True, slots=True)
class Metered:
    """`model` within a budget: nothing is asked whose longest answer could exceed it."""

    model: Model
    prices: Prices
    ledger: Ledger

    def ask(self, question: Question) -> Answer:
        """The answer, booked; also a try that failed is, as far as it may have been billed."""
        most = Usage(estimated_tokens(question.text), question.sampling.output_tokens)
        with self.ledger.set_aside(most, self.prices.of(most)):
            try:
                answer = self.model.ask(question)
            except FailedError as failed:
                self.ledger.book(failed.spent, self.prices.of(failed.spent))
                raise
            self.ledger.book(answer.usage, self.prices.of(answer.usage))
        return answer
