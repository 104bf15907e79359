"""`POST /score`: one item or many; one answer, or a line for each verdict as it falls due."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from verifier_server.api.http.answer import dump, json_answer, while_connected
from verifier_server.api.http.body import read_score_body
from verifier_server.schemas import BatchVerdicts, Problem
from verifier_server.service import ScoringService
from verifier_server.settings import Settings
from verifier_server.verdict import Verdict

NDJSON = "application/x-ndjson"
_REFUSED = re.compile(r"q\s*=\s*0(\.0*)?")

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
        verdicts = await while_connected(request, service.score(body.items))
        scored = [verdict.model_dump() for verdict in verdicts]
        return json_answer({"verdicts": scored} if body.is_batch else scored[0])

    return routes


def _wants_lines(accept: list[str]) -> bool:
    """Whether NDJSON is among the media types asked for; `q=0` refuses it (RFC 9110, 12.4.2)."""
    for choice in ",".join(accept).lower().split(","):
        media_type, *parameters = [part.strip() for part in choice.split(";")]
        if media_type == NDJSON:
            return not any(_REFUSED.fullmatch(parameter) for parameter in parameters)
    return False


async def _lines(batches: AsyncIterator[list[Verdict]]) -> AsyncIterator[bytes]:
    async for verdicts in batches:
        yield b"".join(dump(verdict.model_dump()) + b"\n" for verdict in verdicts)
