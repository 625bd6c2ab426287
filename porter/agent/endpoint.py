"""An OpenAI-compatible endpoint: one POST to `/chat/completions`, once; every way it fails gets its name here.

The `openai` package speaks to it, with its own retries off. The body is read piece by piece against a deadline, since a
server that sends a byte now and then never times out otherwise, and up to a size, since it is a stranger's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import cached_property

import httpx2
import openai
from openai.types.chat import ChatCompletionMessageParam

from porter.agent.model import FailedError, UnansweredError
from porter.agent.options import Limit
from porter.agent.question import Answer, Ending, Message, Question, Role, Usage, encodable, estimated_tokens
from porter.agent.secret import Secret
from porter.errors import MachineError

_LONGEST_BODY = 16 * 2**20  # bytes; 32 K tokens are about 0.2 MiB
_USERS_TO_MEND = (401, 403, 404)
_PASSES = (408, 409, 425, 429)  # beside all from 500 on
_QUOTED = 300  # characters of what a server says


@dataclass(frozen=True)
class Endpoint:
    """`base_url` as in `http://localhost:8000/v1`; `timeout_s` is for a whole answer.

    `limit` is what the server calls the limit of the answer's tokens: OpenAI's own newer models know the second only.
    """

    base_url: str
    key: Secret = field(repr=False)
    timeout_s: float = 600.0
    limit: Limit = "max_tokens"

    def ask(self, question: Question) -> Answer:
        """The answer of one try. Raises `FailedError` for what passes, `UnansweredError` for what does not."""
        deadline_s = time.monotonic() + self.timeout_s
        body = b""
        read = Usage(estimated_tokens(question.text), 0, estimated=True)
        with self._named_failures(read), self._posted(question) as pieces:
            for piece in pieces:
                body += piece
                if time.monotonic() > deadline_s:
                    raise FailedError(f"no whole answer within {self.timeout_s:g} s", spent=_spent(question, body))
                if len(body) > _LONGEST_BODY:
                    raise UnansweredError(f"an answer of more than {_LONGEST_BODY} bytes")
        answer = answer_of(body, question)
        return replace(answer, text=self.key.scrub_program(answer.text))

    @contextmanager
    def _posted(self, question: Question) -> Iterator[Iterator[bytes]]:
        sampling, limit = question.sampling, question.sampling.output_tokens
        with self._client.chat.completions.with_streaming_response.create(
            model=question.model,
            messages=[_message(message) for message in question.messages],
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            seed=question.seed,
            max_tokens=limit if self.limit == "max_tokens" else openai.omit,
            max_completion_tokens=limit if self.limit == "max_completion_tokens" else openai.omit,
        ) as response:
            yield response.iter_bytes()

    @cached_property
    def _client(self) -> openai.OpenAI:
        try:
            return openai.OpenAI(
                api_key=self.key.value or "none", base_url=self.base_url, timeout=self.timeout_s, max_retries=0
            )
        except ValueError as error:
            raise MachineError(f"this cannot be an endpoint: {self.base_url!r}: {self.key.scrub(str(error))}") from None

    @contextmanager
    def _named_failures(self, read: Usage) -> Iterator[None]:
        """Raises the client's errors as ours; `from None`, since its exceptions hold the request with its headers."""
        try:
            yield
        except openai.APIStatusError as error:
            raise self._refusal(error.response) from None
        except (openai.APITimeoutError, httpx2.TimeoutException):
            raise FailedError(f"no answer within {self.timeout_s:g} s", spent=read) from None
        except openai.APIConnectionError as error:
            raise FailedError(f"no connection: {self._words(error.__cause__ or error)}") from None
        except httpx2.RequestError as error:
            raise FailedError(f"the connection broke: {self._words(error)}", spent=read) from None

    def _words(self, error: BaseException) -> str:
        return self.key.scrub(str(error)) or type(error).__name__

    def _refusal(self, response: httpx2.Response) -> Exception:
        """Returns what a status that is no success means."""
        status = response.status_code
        said = self.key.scrub(encodable(_said(response)))[:_QUOTED]
        because = f"the endpoint answers {status}: {said}"
        if status in _USERS_TO_MEND:
            hint = "a wrong name of a model, or of an endpoint?" if status == 404 else "the key is wrong or missing"
            return MachineError(because, hint)
        if status >= 500 or status in _PASSES:
            return FailedError(because, _retry_after_s(response.headers.get("retry-after", "")))
        return UnansweredError(because)


def _message(message: Message) -> ChatCompletionMessageParam:
    match message.role:
        case Role.SYSTEM:
            return {"role": "system", "content": message.text}
        case Role.USER:
            return {"role": "user", "content": message.text}
        case Role.ASSISTANT:
            return {"role": "assistant", "content": message.text}


def answer_of(body: bytes, question: Question) -> Answer:
    """The answer in the body of a reply. Raises `FailedError` for one that is not JSON, or not of that shape."""
    try:
        document = json.loads(body)
        choice = document["choices"][0]
        text = choice["message"]["content"] or ""
        ending = choice.get("finish_reason") or Ending.COMPLETE
        if not isinstance(text, str):
            raise TypeError("the content is not text")
        usage = _usage(document.get("usage"), question, text)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        because = f"the reply is not what /chat/completions gives: {type(error).__name__}: {str(error)[:_QUOTED]}"
        raise FailedError(encodable(because), spent=_spent(question, body)) from None
    return Answer(encodable(text), Ending(ending) if ending in set(Ending) else Ending.COMPLETE, usage)


def _usage(row: object, question: Question, text: str) -> Usage:
    """Returns what the server counted, else what the texts come to."""
    if isinstance(row, dict):
        match row.get("prompt_tokens"), row.get("completion_tokens"):
            case (int(read), int(written)) if min(read, written) >= 0:
                return Usage(read, written)
    return Usage(estimated_tokens(question.text), estimated_tokens(text), estimated=True)


def _spent(question: Question, body: bytes) -> Usage:
    """Returns what a reply that is of no use has cost, as far as it came."""
    return Usage(estimated_tokens(question.text), -(-len(body) // 3), estimated=True)


def _said(response: httpx2.Response) -> str:
    """The message of an error, in OpenAI's form or in any other."""
    text = response.read()[:_LONGEST_BODY].decode("utf-8", "replace")
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return " ".join(text.split())


def _retry_after_s(header: str) -> float | None:
    """Seconds, given as such or as a date; None for anything else."""
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
