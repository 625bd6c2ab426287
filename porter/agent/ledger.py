"""What models have cost, and the limits that hold before a question is asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.agent.model import BudgetError, FailedError, Model
from porter.agent.question import Answer, Question, Usage, estimated_tokens


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in whatever currency the budget is in."""

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
    """What was spent, by all that share it. A resumed run begins with what its journal says."""

    prices: Prices = field(default_factory=Prices)
    budget: Budget = field(default_factory=Budget)
    spent: Usage = field(default_factory=Usage)

    @property
    def cost(self) -> float:
        """Returns what that cost."""
        return self.prices.of(self.spent)

    def book(self, usage: Usage) -> None:
        """Add `usage` to what was spent."""
        self.spent += usage

    def refusal(self, most: Usage) -> str:
        """Returns why a question that takes up to `most` may not be asked; empty where it may."""
        after, budget = self.spent + most, self.budget
        if budget.tokens is not None and after.tokens > budget.tokens:
            return f"the budget of {budget.tokens} tokens: {self.spent.tokens} are spent, this may take {most.tokens}"
        if budget.cost is not None and self.prices.of(after) > budget.cost:
            return f"the budget of {budget.cost:g}: {self.cost:.4g} is spent, this may cost {self.prices.of(most):.4g}"
        return ""


@dataclass(frozen=True, slots=True)
class Metered:
    """`model` within a budget: nothing is asked whose longest answer could exceed it."""

    model: Model
    ledger: Ledger

    def ask(self, question: Question) -> Answer:
        """The answer, booked; also a try that failed is, as far as it may have been billed."""
        most = Usage(estimated_tokens(question.text), question.sampling.output_tokens)
        if refusal := self.ledger.refusal(most):
            raise BudgetError(refusal)
        try:
            answer = self.model.ask(question)
        except FailedError as failed:
            self.ledger.book(failed.spent)
            raise
        self.ledger.book(answer.usage)
        return answer
