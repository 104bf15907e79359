"""Every error answer in one shape: RFC 9457 `application/problem+json`."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from verifier_server.errors import Overloaded
from verifier_server.schemas import Problem

log = logging.getLogger(__name__)


class RequestProblem(Exception):
    """A request that can't be served as it is. `detail` says why and how to mend it."""

    def __init__(
        self, status: HTTPStatus, detail: str, errors: list[dict[str, Any]] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = errors or []


def install(app: FastAPI) -> None:
    """Maps exceptions to problems."""

    @app.exception_handler(RequestProblem)
    async def on_problem(_: Request, error: RequestProblem) -> JSONResponse:
        return _answer(error.status, error.detail, error.errors)

    @app.exception_handler(Overloaded)
    async def on_overload(_: Request, error: Overloaded) -> JSONResponse:
        answer = _answer(HTTPStatus.TOO_MANY_REQUESTS, str(error))
        answer.headers["Retry-After"] = f"{error.retry_after_s:.0f}"
        return answer

    @app.exception_handler(HTTPException)
    async def on_http_error(_: Request, error: HTTPException) -> JSONResponse:
        answer = _answer(HTTPStatus(error.status_code), str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(ClientDisconnect)
    async def on_disconnect(_: Request, __: ClientDisconnect) -> JSONResponse:
        return _answer(HTTPStatus.BAD_REQUEST, "the client went away")  # which nobody reads

    # Not a verdict's boundary: nothing was judged, and the client is told so.
    @app.exception_handler(Exception)
    async def on_bug(_: Request, error: Exception) -> JSONResponse:
        log.error("a request failed", exc_info=error)
        return _answer(
            HTTPStatus.INTERNAL_SERVER_ERROR, "the service failed; its log has the details"
        )


def _answer(
    status: HTTPStatus, detail: str, errors: list[dict[str, Any]] | None = None
) -> JSONResponse:
    problem = Problem(title=status.phrase, status=status, detail=detail, errors=errors or [])
    return JSONResponse(
        problem.model_dump(), status_code=status, media_type="application/problem+json"
    )
