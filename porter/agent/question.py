"""Defines questions to a language model, and its answers. A question's identity is all that decides its answer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """The speaker of a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Ending(StrEnum):
    """Why an answer ends where it does."""

    COMPLETE = "stop"
    CUT = "length"  # at the limit of tokens
    WITHHELD = "content_filter"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """The way an answer is drawn; the defaults are those of Kernel-Smith (arXiv 2603.28342)."""

    temperature: float = 0.6
    top_p: float = 0.95
    output_tokens: int = 32_768


@dataclass(frozen=True, slots=True)
class Question:
    """One request. `seed` tells samples of the same prompt apart, and makes a server that honours it repeat itself."""

    model: str
    messages: tuple[Message, ...]
    sampling: Sampling
    seed: int

    @property
    def canonical(self) -> str:
        """The question as JSON, the same text for the same question."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """32 hexadecimal digits of the canonical text."""
        return hashlib.blake2b(self.canonical.encode(), digest_size=16).hexdigest()

    @property
    def text(self) -> str:
        """All that the model reads."""
        return "\n".join(message.text for message in self.messages)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written; `estimated` where the model did not say and they were reckoned from the text."""

    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False

    @property
    def tokens(self) -> int:
        """Both together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """The text that a model wrote: it is untrusted. `tries` says what happened to tries that came to nothing before."""

    text: str
    ending: Ending = Ending.COMPLETE
    usage: Usage = field(default_factory=Usage)
    tries: tuple[str, ...] = ()


def estimated_tokens(text: str) -> int:
    """Tokens of `text` where no tokenizer is at hand: three bytes each, for code rather too many.

    Bytes, since a Chinese comment takes about a token a character. Prompts are fitted by this count whichever model
    reads them, so that a recording is played back by the same questions.
    """
    return -(-len(text.encode("utf-8", "replace")) // 3)


def encodable(text: str) -> str:
    """`text` without what no UTF-8 file can hold: JSON may bring half a surrogate pair, or a NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")
