"""`POST /score`: one item or many; one answer, or a line for each verdict as it falls due."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.requests import ClientDisconnect

from verifier_server.api.http.body import read_score_body
from verifier_server.schemas import BatchVerdicts, Problem
from verifier_server.service import ScoringService
from verifier_server.settings import Settings
from verifier_server.verdict import Verdict

NDJSON = "application/x-ndjson"
_REFUSED = re.compile(r"q\s*=\s*0(\.0*)?")

T = TypeVar("T")

# The body is read by hand (bounds, strictness, items that fail alone), so OpenAPI is told
# its schema here, and the models themselves in `app`.
_REQUEST = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "oneOf": [
                        {"$ref": "#/components/schemas/Item"},
                        {"$ref": "#/components/schemas/Batch"},
                    ]
                }
            }
        },
    }
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": what}
    for status, what in {
        400: "not UTF-8, not JSON",
        401: "no valid API key",
        413: "too large",
        415: "not application/json",
        422: "no item",
        429: "a queue is full: retry after Retry-After seconds",
    }.items()
}


def router(service: ScoringService, settings: Settings) -> APIRouter:
    """The route, over that service."""
    routes = APIRouter()

    @routes.post(
        "/score",
        response_model=Verdict | BatchVerdicts,
        responses=_PROBLEMS,
        openapi_extra=_REQUEST,
        summary="Judge one item, or each item of a batch",
    )
    async def score(request: Request) -> Response:
        body = await read_score_body(request, settings)
        if _wants_lines(request.headers.getlist("accept")):
            return StreamingResponse(_lines(await service.stream(body.items)), media_type=NDJSON)
        verdicts = await _while_connected(request, service.score(body.items))
        scored = [verdict.model_dump() for verdict in verdicts]
        return _json({"verdicts": scored} if body.is_batch else scored[0])

    return routes


def _wants_lines(accept: list[str]) -> bool:
    """Whether NDJSON is among the media types asked for; `q=0` refuses it (RFC 9110, 12.4.2)."""
    for choice in ",".join(accept).lower().split(","):
        media_type, *parameters = [part.strip() for part in choice.split(";")]
        if media_type == NDJSON:
            return not any(_REFUSED.fullmatch(parameter) for parameter in parameters)
    return False


async def _while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns; it is cancelled if the client goes away first.

    Raises:
        ClientDisconnect: it did.
    """
    working = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _lines(batches: AsyncIterator[list[Verdict]]) -> AsyncIterator[bytes]:
    async for verdicts in batches:
        yield b"".join(_dump(verdict.model_dump()) + b"\n" for verdict in verdicts)


def _dump(value: Any) -> bytes:
    """JSON in ASCII: texts may hold lone surrogates, which UTF-8 can't carry."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def _json(value: Any) -> Response:
    return Response(_dump(value), media_type="application/json")
