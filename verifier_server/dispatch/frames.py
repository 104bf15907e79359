"""Frames between the service and its workers: a length, the task's number, then JSON.

JSON and not pickle, since a worker that met hostile text is not trusted. Standard `json`
escapes lone surrogates, which completions may hold and UTF-8 can't. A task's completion, by
far its longest part, follows its JSON as plain bytes, so that nobody has to escape it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from verifier_server.checkers.runtime import Task
from verifier_server.verdict import Case, Judgement, Outcome, Tampering

HEADER = struct.Struct("<IQ")
# Of a judgement; those that are as they are by default don't travel.
_OPTIONAL = {
    field.name: field.default if field.default is not MISSING else None
    for field in fields(Judgement)
    if field.name not in ("outcome", "score")
}


def pack(number: int, message: Mapping[str, Any]) -> bytes:
    """One frame about the task of that number."""
    return _framed(number, json.dumps(message).encode())


def unpack(body: bytes) -> dict[str, Any]:
    """A frame's body as the message it was."""
    message: dict[str, Any] = json.loads(body)
    return message


def pack_task(number: int, task: Task, *, lint: bool = False) -> bytes:
    """One frame that asks a worker for a task's judgement, or for that of its reference."""
    head = json.dumps([task.checker, task.params, task.prompt, task.request_hash, lint])
    completion = task.completion.encode("utf-8", "surrogatepass")
    return _framed(number, head.encode() + b"\n" + completion)


def unpack_task(body: bytes) -> tuple[Task, bool]:
    """The task that `pack_task` wrote, and whether it asks for the reference alone."""
    head, _, completion = body.partition(b"\n")
    checker, params, prompt, request_hash, lint = json.loads(head)
    text = completion.decode("utf-8", "surrogatepass")
    return Task(checker, text, params, prompt, request_hash), lint


def _framed(number: int, body: bytes) -> bytes:
    return HEADER.pack(len(body), number) + body


def judgement_to_wire(judgement: Judgement) -> dict[str, Any]:
    """A judgement as plain data."""
    wire: dict[str, Any] = {"outcome": judgement.outcome, "score": judgement.score}
    for name, default in _OPTIONAL.items():
        value = getattr(judgement, name)
        if value != default and (value or isinstance(value, str | int | float)):
            wire[name] = value
    if judgement.components:
        wire["components"] = dict(judgement.components)
    if judgement.cases:
        wire["cases"] = [case.model_dump() for case in judgement.cases]
    if judgement.evidence:
        wire["evidence"] = dict(judgement.evidence)
    return wire


def judgement_from_wire(wire: Mapping[str, Any]) -> Judgement:
    """The judgement that `judgement_to_wire` wrote. Raises ValueError if it is none."""
    rest = dict(wire)
    outcome, score = Outcome(rest.pop("outcome")), rest.pop("score")
    if "cases" in rest:
        rest["cases"] = [Case.model_validate(case) for case in rest["cases"]]
    if "tampering" in rest:
        rest["tampering"] = [Tampering(kind) for kind in rest["tampering"]]
    return Judgement(outcome, score, **rest)
