"""The HTTP API of kimina-lean-server: files of Lean in, what Lean says of them out.

Its clients decide by the messages: an error is a failed proof, an entry in `sorries` one that
is left out, a text in `error` a failure of the server, or its time limit if it says "timed
out". A file comes without the statement that it should prove, so it is judged at tier
`compile`, which is what such a server can know. A field of ours, `params`, may name the
statement (params of the checker `lean`), and then the tier is the checker's best.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, Self

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, JsonValue, model_validator

from verifier_server.api.http.answer import json_answer, while_connected
from verifier_server.api.http.body import read_object, require_few, validate
from verifier_server.schemas import Item
from verifier_server.service import ScoringService
from verifier_server.settings import Settings
from verifier_server.verdict import Outcome, Verdict

InfoTree = Literal["full", "tactics", "original", "substantive"]

_MATHLIB = re.compile(r"\s*(?:import\s+\S+\s+)*?import\s+Mathlib(?![\w'!?])")
_SEVERITIES = {"information": "info", "warning": "warning", "error": "error"}
# What clients look for; Lean itself has changed its quotation marks.
_SORRY = "declaration uses 'sorry'"


class Snippet(BaseModel):
    """A file of Lean."""

    id: str = Field(min_length=1)
    code: str
    params: dict[str, Any] | None = Field(None, description="ours: params of the checker `lean`")


class CheckRequest(BaseModel):
    """The body of `POST /api/check`."""

    snippets: list[Snippet] = Field(min_length=1)
    timeout: int = Field(30, ge=0, le=3600, description="CPU seconds for each")
    debug: bool = False
    reuse: bool = Field(True, description="taken and not needed")
    infotree: InfoTree | None = Field(None, description="taken; no answer has one")

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if len({snippet.id for snippet in self.snippets}) < len(self.snippets):
            raise ValueError("`snippets` must have unique ids")
        return self


class Code(BaseModel):
    """A file of Lean, as older clients send it."""

    custom_id: str | int
    proof: str | None = None
    code: str | None = None
    params: dict[str, Any] | None = Field(None, description="ours: params of the checker `lean`")

    @model_validator(mode="after")
    def _has_text(self) -> Self:
        if self.proof is None and self.code is None:
            raise ValueError("a code needs `proof` or `code`")
        return self

    def as_snippet(self) -> Snippet:
        """The same as a snippet, whose id may be empty."""
        text = (self.proof if self.proof is not None else self.code) or ""
        return Snippet.model_construct(id=str(self.custom_id), code=text, params=self.params)


class VerifyRequest(BaseModel):
    """The body of `POST /verify`."""

    codes: list[Code]
    timeout: int = Field(300, ge=0, le=3600, description="CPU seconds for each")
    infotree_type: InfoTree | None = Field(None, description="taken; no answer has one")
    disable_cache: bool = Field(False, description="taken and not needed")


def router(service: ScoringService, settings: Settings) -> APIRouter:
    """The routes, over that service."""
    routes = APIRouter()

    async def judge(request: Request, snippets: Sequence[Snippet], time_s: int) -> list[Verdict]:
        require_few(len(snippets), settings)
        items = [_item(snippet, time_s) for snippet in snippets]
        return await while_connected(request, service.score(items))

    @routes.post("/api/check", summary="What Lean says of each snippet")
    @routes.post("/api/check/", include_in_schema=False)
    async def check(request: Request) -> Response:
        asked = validate(CheckRequest, await read_object(request, settings), "a check request")
        verdicts = await judge(request, asked.snippets, asked.timeout)
        results = [_result(verdict, asked.timeout, debug=asked.debug) for verdict in verdicts]
        return json_answer({"results": results})

    @routes.post("/verify", summary="The same, as older clients ask it")
    @routes.post("/one_pass_verify_batch", include_in_schema=False)
    async def verify(request: Request) -> Response:
        asked = validate(VerifyRequest, await read_object(request, settings), "a verify request")
        snippets = [code.as_snippet() for code in asked.codes]
        verdicts = await judge(request, snippets, asked.timeout)
        return json_answer({"results": [_old_result(v, asked.timeout) for v in verdicts]})

    @routes.get("/health", summary="Whether the process serves")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    return routes


def _item(snippet: Snippet, time_s: int) -> Item:
    # That Mathlib is here is the host's business; of what else is imported, the author's.
    header = "import Mathlib" if _MATHLIB.match(snippet.code) else ""
    params = snippet.params or {"tier": "compile", "header": header}
    given = {"extraction": "whole", "limits": {"time_s": max(1, time_s)}, **params}
    return Item(checker="lean", completion=snippet.code, params=given, id=snippet.id)


def _result(verdict: Verdict, time_s: int, *, debug: bool = False) -> dict[str, Any]:
    result: dict[str, Any] = {"id": verdict.id, "time": verdict.usage.run_s}
    if verdict.score is None:
        # Never of a time limit: that would be taken for the proof's.
        result["error"] = f"{verdict.outcome.value}: {verdict.explanation}".replace(
            "timed out", "took too long"
        )
    elif verdict.outcome is Outcome.TIME_LIMIT:
        result["error"] = f"Lean REPL command timed out in {time_s} seconds"
    else:
        result["response"] = _response(verdict)
    if debug:
        result["diagnostics"] = _diagnostics(verdict)
    return {**result, "verdict": verdict.model_dump()}


def _old_result(verdict: Verdict, time_s: int) -> dict[str, Any]:
    result = _result(verdict, time_s)
    result["custom_id"] = result.pop("id")
    taken_s = result.pop("time")
    if "response" in result:
        result["response"]["time"] = taken_s
    return result


def _response(verdict: Verdict) -> dict[str, Any]:
    """Messages that say of the proof what the verdict does, whatever Lean was made to print."""
    told = verdict.evidence.get("messages")
    raw = [m for m in told if isinstance(m, dict)] if isinstance(told, list) else []
    left_out = [_range(m) for m in raw if m["kind"] == "hasSorry"]
    messages = [_message(m) for m in raw]
    failed = any(message["severity"] == "error" for message in messages)
    if verdict.score == 1:
        # An error that is printed is no error of the file's: that would not have compiled.
        left_out = []
        messages = [m for m in messages if m["severity"] != "error"]
    elif not (failed or (left_out and verdict.outcome is Outcome.WRONG_ANSWER)):
        start = {"line": 1, "column": 0}
        message = {"severity": "error", "pos": start, "endPos": start}
        messages.append({**message, "data": f"{verdict.outcome.value}: {verdict.explanation}"})
    response: dict[str, Any] = {"env": 0, "messages": messages}
    if left_out:
        response["sorries"] = [{**place, "goal": ""} for place in left_out]
    return response


def _message(raw: dict[str, JsonValue]) -> dict[str, Any]:
    severity = _SEVERITIES.get(str(raw["severity"]), "info")
    data = _SORRY if raw["kind"] == "hasSorry" else raw["text"]
    return {"severity": severity, **_range(raw), "data": data}


def _range(raw: dict[str, JsonValue]) -> dict[str, Any]:
    place: dict[str, Any] = {"pos": {"line": raw["line"], "column": raw["column"]}}
    if raw["end_line"] is not None:
        place["endPos"] = {"line": raw["end_line"], "column": raw["end_column"]}
    return place


def _diagnostics(verdict: Verdict) -> dict[str, Any]:
    usage = verdict.usage
    known: dict[str, Any] = {"repl_uuid": verdict.request_hash}
    if usage.cpu_s is not None and usage.run_s:
        known["cpu_max"] = 100 * usage.cpu_s / usage.run_s
    if usage.memory_bytes is not None:
        known["memory_max"] = usage.memory_bytes
    return known


__all__ = ["router"]
