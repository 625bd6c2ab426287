"""Questions to the process that executes a class, and its answers. Both cross as JSON: it is not trusted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from porter.learn.curation.records import Call, Report, Signature
from porter.learn.records import plain, record


class Ask(StrEnum):
    """The questions."""

    SIGNATURE = "signature"  # what its constructor and its `forward` take
    TRY = "try"  # build it, call it, and look whether that makes a task
    SHAPES = "shapes"  # the same without contents and memory: whether it takes these sizes, and what it then moves


@dataclass(frozen=True, slots=True)
class Question:
    """One question about the class `name`, or about a file in KernelBench's form where `call` is None."""

    ask: Ask
    name: str
    call: Call | None


@dataclass(frozen=True, slots=True)
class Answer:
    """A signature or a report; `error` says why there is neither."""

    signature: Signature | None = None
    report: Report | None = None
    error: str = ""


def encoded(value: Question | Answer) -> bytes:
    """Returns a question or an answer as bytes."""
    return json.dumps(plain(value)).encode(errors="surrogatepass")


def question_of(text: bytes) -> Question:
    """Returns the question that was `encoded`."""
    return record(Question, json.loads(text))


def answer_of(text: bytes) -> Answer:
    """Returns the answer that was `encoded`. Raises `ValueError` for anything else."""
    try:
        return record(Answer, json.loads(text))
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"no answer: {error}") from error
