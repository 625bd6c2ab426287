"""Which model, how it is asked, what it may cost: all that a command line can say of it. The key is not among it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from porter.agent.ledger import Budget, Prices
from porter.agent.patience import Backoff
from porter.agent.question import Sampling
from porter.agent.secret import OPENAI
from porter.errors import UsageError

Limit = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """`model` is the endpoint's name of it, or where `local`, a folder of `transformers`.

    `recording` is the folder that questions and answers go to, and come from; with `replay` from there alone.
    `timeout_s` is for a whole answer, `requests_per_minute` 0 for as many as one likes. `context_tokens` is what a
    prompt may have, `sampling.output_tokens` an answer. `limit` is what the server calls the latter.
    """

    model: str
    base_url: str = OPENAI
    local: bool = False
    recording: Path | None = None
    replay: bool = False
    sampling: Sampling = field(default_factory=Sampling)
    context_tokens: int = 32_768
    corrections: int = 1
    timeout_s: float = 600.0
    backoff: Backoff = field(default_factory=Backoff)
    requests_per_minute: float = 0.0
    prices: Prices = field(default_factory=Prices)
    budget: Budget = field(default_factory=Budget)
    limit: Limit = "max_tokens"

    def __post_init__(self) -> None:
        """Raises `UsageError` for what goes not together, or is no number of its kind."""
        if self.replay and self.recording is None:
            raise UsageError("a replay needs the folder of a recording")
        if not self.base_url.startswith(("http://", "https://")):
            raise UsageError(f"no endpoint can be at {self.base_url!r}", "it begins with http:// or https://")
        if "@" in self.base_url.split("/")[2]:
            raise UsageError("a URL is no place for a password", "set PORTER_API_KEY, or store the key in the keyring")
        if min(self.context_tokens, self.sampling.output_tokens, self.backoff.tries) < 1 or self.timeout_s <= 0:
            raise UsageError("tokens, tries and seconds are positive")
        if self.budget.cost is not None and self.prices == Prices():
            raise UsageError("a limit of cost needs the prices of the model's tokens")
        if self.sampling.temperature < 0 or not 0 < self.sampling.top_p <= 1:
            raise UsageError("the temperature is at least 0, and top-p lies in (0, 1]")
