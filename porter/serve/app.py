"""The addresses of a server, for FastAPI; what they do stands in `service`, who may use them in `access`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from porter.errors import InputError, PorterError, UsageError
from porter.launch_plan.wire import encode_portable
from porter.serve.access import HEALTH, Refused
from porter.serve.protocol import LONGEST_WAIT_S, Failure, OpenedProblem, Reply, ServerReport
from porter.serve.service import Service

_MOST_SEED = 2**63 - 1
Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
Seed = Annotated[int, Query(ge=0, le=_MOST_SEED)]
WaitS = Annotated[float, Query(ge=0, le=LONGEST_WAIT_S)]


class Addresses:
    """Answers requests by asking the service."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def health(self) -> Response:
        """Say that the server is up."""
        return JSONResponse({"status": "ok"})

    async def metrics(self) -> Response:
        """Say what was counted."""
        return PlainTextResponse(self._service.metrics(), media_type="text/plain; version=0.0.4")

    async def server(self) -> Response:
        """Say what is there."""
        return _document(await self._service.report())

    async def put_content(self, digest: Digest, request: Request) -> Response:
        """Keep a content under its digest."""
        self._service.keep(digest, await request.body())
        return Response(status_code=204)

    async def open_problem(self, digest: Digest, seed: Seed) -> Response:
        """Open a problem, which takes as long as its original has to be studied."""
        return _document(await self._service.open(digest, seed))

    async def post_evaluation(self, request: Request, wait_s: WaitS = 0.0) -> Response:
        """Accept a request, and answer once it is over, or after a while."""
        name = self._service.accept(await request.body())
        return _reply(await self._service.reply(name, wait_s))

    async def get_evaluation(self, digest: Digest, wait_s: WaitS = 0.0) -> Response:
        """Answer once a request is over, or after a while."""
        return _reply(await self._service.reply(digest, wait_s))

    async def delete_evaluation(self, digest: Digest) -> Response:
        """Cancel a request."""
        return _reply(self._service.cancel(digest))


def application(service: Service) -> FastAPI:
    """The application that serves `service`, which starts and ends with it."""

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        service.close()

    app = FastAPI(title="porter", lifespan=living)
    at = Addresses(service)
    for method, path, answer in (
        ("GET", HEALTH, at.health),
        ("GET", "/metrics", at.metrics),
        ("GET", "/v1/server", at.server),
        ("PUT", "/v1/contents/{digest}", at.put_content),
        ("POST", "/v1/problems/{digest}", at.open_problem),
        ("POST", "/v1/evaluations", at.post_evaluation),
        ("GET", "/v1/evaluations/{digest}", at.get_evaluation),
        ("DELETE", "/v1/evaluations/{digest}", at.delete_evaluation),
    ):
        app.add_api_route(path, answer, methods=[method], response_model=None)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(PorterError, _failed)
    return app


def _reply(reply: Reply) -> Response:
    return _document(reply, 200 if reply.state.is_over else 202)


def _document(record: Reply | ServerReport | OpenedProblem | Failure, status: int = 200) -> Response:
    return Response(encode_portable(record), status, media_type="application/json")


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    answer = _document(Failure(error.because, is_input=True), error.status)
    answer.headers.update(error.headers)
    return answer


async def _failed(_: Request, error: Exception) -> Response:
    assert isinstance(error, PorterError)
    is_input = isinstance(error, InputError | UsageError)
    return _document(Failure(error.message, error.hint, is_input), 422 if is_input else 503)
