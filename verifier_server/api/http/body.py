"""Request bodies: bounded while they are read, strict JSON, items that fail alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from verifier_server.api.http.problems import RequestProblem
from verifier_server.checkers.runtime import explain
from verifier_server.schemas import Item
from verifier_server.service import Malformed
from verifier_server.settings import Settings

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ScoreBody:
    """What `POST /score` was sent: the items, and whether they came as a batch."""

    items: list[Item | Malformed]
    is_batch: bool


async def read_score_body(request: Request, settings: Settings) -> ScoreBody:
    """Reads one item, or `{"items": [...]}`.

    A single item that is malformed is a malformed request; in a batch it fails alone.

    Raises:
        RequestProblem: wrong content type, too large, not UTF-8, not JSON, or no item.
    """
    value = await read_object(request, settings)
    if "items" not in value:
        return ScoreBody([validate(Item, value, "an item")], is_batch=False)
    if extra := sorted(value.keys() - {"items"}):
        _refuse(f"a batch has only the field 'items', not also {extra[0]!r}")
    if not isinstance(value["items"], list):
        _refuse("'items' must be a list")
    require_few(len(value["items"]), settings)
    return ScoreBody([_member(entry) for entry in value["items"]], is_batch=True)


async def read_object(request: Request, settings: Settings) -> dict[str, Any]:
    """Reads a JSON object. Raises as `read_score_body`."""
    value = parse_json(await _read(request, settings.max_body_bytes))
    if not isinstance(value, dict):
        _refuse('the body must be a JSON object, as one item or {"items": [...]} is')
    return value


def require_few(count: int, settings: Settings) -> None:
    """Raises RequestProblem for more items than one request may bring."""
    if count > settings.max_items:
        raise RequestProblem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"{count} items; send at most {settings.max_items} in one request",
        )


def validate(model: type[M], value: Mapping[str, Any], what: str) -> M:
    """The value as that model. Raises RequestProblem: it is no `what`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        errors = [{"where": list(d["loc"]), "what": d["msg"]} for d in details]
        raise RequestProblem(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"not {what}: {explain(error)}", errors
        ) from error


def parse_json(data: bytes) -> Any:
    """Strict JSON: UTF-8, no NaN or Infinity. Raises RequestProblem."""
    try:
        return json.loads(data.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        _refuse(f"the body is not UTF-8: byte {error.start} ({error.reason})", malformed=True)
    except json.JSONDecodeError as error:
        _refuse(f"the body is not JSON: {error}", malformed=True)
    except RecursionError:
        _refuse("the body is nested too deeply", malformed=True)
    except ValueError as error:  # an integer literal of more digits than Python converts
        _refuse(f"the body holds an unreadable number: {error}", malformed=True)


async def _read(request: Request, max_bytes: int) -> bytes:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise RequestProblem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"content type {content_type or 'missing'}; send application/json",
        )
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding != "identity":
        raise RequestProblem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"content encoding {encoding}; send the body uncompressed",
        )
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > max_bytes:
        _refuse_size(max_bytes)
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > max_bytes:
            _refuse_size(max_bytes)
        chunks.append(chunk)
    return b"".join(chunks)


def _member(value: Any) -> Item | Malformed:
    try:
        return Item.model_validate(value)
    except ValidationError as error:
        known = value if isinstance(value, dict) else {}
        id_, checker = known.get("id"), known.get("checker")
        return Malformed(
            why=f"not an item: {explain(error)}",
            id=id_ if isinstance(id_, str) else None,
            checker=checker if isinstance(checker, str) else "",
        )


def _refuse(detail: str, *, malformed: bool = False) -> NoReturn:
    status = HTTPStatus.BAD_REQUEST if malformed else HTTPStatus.UNPROCESSABLE_ENTITY
    raise RequestProblem(status, detail)


def _refuse_size(max_bytes: int) -> NoReturn:
    raise RequestProblem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"the body is larger than {max_bytes} bytes; split the batch or raise "
        "VERIFIER_MAX_BODY_BYTES",
    )


def _refuse_constant(name: str) -> NoReturn:
    _refuse(f"{name} is not JSON", malformed=True)
