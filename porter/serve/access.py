"""Decides who may speak to a server, and how much: every request passes here before anything of it is read."""

from __future__ import annotations

import asyncio
import ctypes
import hmac
import ipaddress
import json
import os
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from porter.agent.secret import Secret
from porter.errors import UsageError
from porter.serve.metrics import Metrics

TOKEN = "PORTER_EVALUATOR_TOKEN"
HEALTH = "/healthz"
QUESTION = "Porter-Question"  # a header that an answer brings back: what lies between may send answers twice
MOST_BYTES = 16 << 20  # of a body; a problem with all its headers is some hundred KiB
BODY_S = 30.0  # within which a body has to come
_SHORTEST = 16  # letters of a token that nobody guesses

Message = MutableMapping[str, Any]  # as ASGI has it
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


def find_token(file: Path | None, environment: Mapping[str, str]) -> Secret:
    """The token in `file`, else that of the environment; empty where there is none.

    Raises `UsageError` for a file that cannot be read, and for a token that is none.
    """
    try:
        token = file.read_text("utf-8").strip() if file is not None else environment.get(TOKEN, "").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: the token cannot be read: {error}") from error
    if (token or file is not None) and not (len(token) >= _SHORTEST and all("!" <= one <= "~" for one in token)):
        hint = "`openssl rand -hex 32` makes one"
        raise UsageError(f"a token has {_SHORTEST} letters, digits or signs at least, and no blanks", hint)
    return Secret(token)


def forget_token() -> None:
    """Take the token out of the environment of this process, where its children and `/proc` would show it."""
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    place = libc.getenv(TOKEN.encode())
    if place:
        ctypes.memset(place, ord("*"), len(os.environb.get(TOKEN.encode(), b"")))
    os.environ.pop(TOKEN, None)


def is_loopback(host: str) -> bool:
    """Returns whether nobody but this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Refused(Exception):  # noqa: N818 - an answer, which is sent at once
    """A request is answered with a status and a reason, and goes no further."""

    def __init__(self, status: int, because: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(because)
        self.status, self.because, self.headers = status, because, headers or {}


class Guard:
    """Lets requests through to `app` that have the token, and bodies that are small and come soon.

    Without a token there is none to show; then only requests that name this machine itself pass, so that no page in a
    browser reaches the server under another name.
    """

    def __init__(self, app: App, token: Secret, metrics: Metrics) -> None:
        self._app, self._token, self._metrics = app, token, metrics

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on with its whole body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        question = [(name, value) for name, value in scope["headers"] if name.lower() == QUESTION.lower().encode()]

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.answered(message["status"])
                message = {**message, "headers": [*message["headers"], *question]}
            await send(message)

        try:
            self._admit(scope)
            body = await self._body(scope, receive)
        except Refused as refused:
            await _answer(counted, refused)
            return
        await self._app(scope, _replayed(body, receive), counted)

    def _admit(self, scope: Message) -> None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        if scope["path"] == HEALTH:
            return
        if not self._token.value:
            host = headers.get(b"host", b"").decode("latin-1").rsplit(":", 1)[0].strip("[]")
            if not is_loopback(host) or b"origin" in headers:
                raise Refused(403, "without a token this server only answers programs on its own machine")
            return
        shown = headers.get(b"authorization", b"")
        if not hmac.compare_digest(shown, f"Bearer {self._token.value}".encode()):
            raise Refused(401, "the token is missing or wrong", {"WWW-Authenticate": "Bearer"})

    async def _body(self, scope: Message, receive: Receive) -> bytes:
        declared = next((value for name, value in scope["headers"] if name.lower() == b"content-length"), b"0")
        if not declared.isdigit() or int(declared) > MOST_BYTES:
            raise Refused(413, f"a body has at most {MOST_BYTES} bytes")
        parts, size, more = list[bytes](), 0, True
        try:
            async with asyncio.timeout(BODY_S):
                while more:
                    message = await receive()
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    more = message["type"] == "http.request" and message.get("more_body", False)
                    if size > MOST_BYTES:
                        raise Refused(413, f"a body has at most {MOST_BYTES} bytes")
        except TimeoutError:
            raise Refused(408, f"the body did not come within {BODY_S:g} s") from None
        return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Returns what gives the whole body once, and after that what comes."""
    rest = [body]

    async def replay() -> Message:
        if rest:
            return {"type": "http.request", "body": rest.pop(), "more_body": False}
        return await receive()

    return replay


async def _answer(send: Send, refused: Refused) -> None:
    headers = {"Content-Type": "application/json", "Connection": "close", **refused.headers}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refused.status, "headers": encoded})
    await send({"type": "http.response.body", "body": json.dumps({"error": refused.because}).encode()})
