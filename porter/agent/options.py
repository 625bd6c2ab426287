"""Holds what a command line says of a model: its name, how it is asked, what it may cost. The key is not among it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from porter.agent.ledger import Budget, Prices
from porter.agent.patience import Backoff
from porter.agent.question import Sampling
from porter.agent.secret import OPENAI
from porter.errors import UsageError

ATTEMPTS = 5  # as in K-Search (arXiv 2602.19128)
Limit = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """`model` is the endpoint's name of it, or where `local`, a folder of `transformers`.

    Of several models each is asked as often as its `weight` says, and `at_once` questions may be out. `timeout_s` is
    for a whole answer, `requests_per_minute` 0 for as many as one likes. `context_tokens` is what a prompt may have,
    `sampling.output_tokens` an answer. `limit` is what the server calls the latter.
    """

    model: str
    base_url: str = OPENAI
    local: bool = False
    weight: float = 1.0
    at_once: int = 4
    sampling: Sampling = field(default_factory=Sampling)
    context_tokens: int = 32_768
    corrections: int = 1
    timeout_s: float = 600.0
    backoff: Backoff = field(default_factory=Backoff)
    requests_per_minute: float = 0.0
    prices: Prices = field(default_factory=Prices)
    limit: Limit = "max_tokens"

    def __post_init__(self) -> None:
        """Raises `UsageError` for what goes not together, or is no number of its kind."""
        if not self.base_url.startswith(("http://", "https://")):
            raise UsageError(f"this cannot be an endpoint: {self.base_url!r}", "it begins with http:// or https://")
        if "@" in self.base_url.split("/")[2]:
            raise UsageError("do not put a password into a URL", "set PORTER_API_KEY, or store the key in the keyring")
        counts = (self.context_tokens, self.sampling.output_tokens, self.backoff.tries, self.at_once)
        if min(counts) < 1 or min(self.timeout_s, self.weight) <= 0:
            raise UsageError("tokens, tries, seconds, weights and questions at once are positive")
        if min(self.corrections, self.requests_per_minute, self.backoff.longest_s) < 0:
            raise UsageError("corrections, requests a minute and pauses are not negative")
        if self.sampling.temperature < 0 or not 0 < self.sampling.top_p <= 1:
            raise UsageError("the temperature is at least 0, and top-p lies in (0, 1]")
        if self.limit not in get_args(Limit):
            raise UsageError(f"the limit of an answer is called {' or '.join(get_args(Limit))}, not {self.limit!r}")


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a search, and what they may cost together.

    `recording` is the folder that questions and answers go to, and come from; with `replay` from there alone.
    An intent of their plan is abandoned after so many `attempts` in a row without a gain.
    """

    each: tuple[ModelOptions, ...]
    budget: Budget = field(default_factory=Budget)
    recording: Path | None = None
    replay: bool = False
    attempts: int = ATTEMPTS

    def __post_init__(self) -> None:
        """Raises `UsageError` for what goes not together."""
        if not self.each:
            raise UsageError("no model is named")
        if self.attempts < 1:
            raise UsageError("an intent has at least one attempt", "for example --model-set attempts=5")
        if len({one.model for one in self.each}) < len(self.each):
            raise UsageError("two models have one name")
        if self.replay and self.recording is None:
            raise UsageError("a replay needs the folder of a recording")
        if self.budget.cost is not None and any(one.prices == Prices() for one in self.each):
            raise UsageError("a limit of cost needs the prices of each model's tokens", "input_price and output_price")
        tokens, longest = self.budget.tokens, max(one.sampling.output_tokens for one in self.each)
        if tokens is not None and tokens <= longest:
            raise UsageError(
                f"nothing can be asked within {tokens} tokens: one answer may take {longest}",
                "allow more with --tokens, or shorter answers with --model-set answer_tokens=N",
            )
