"""Frames between the service and its workers: a length, the task's number, then JSON.

JSON and not pickle, since a worker that met hostile text is not trusted. Standard `json`
escapes lone surrogates, which completions may hold and UTF-8 can't.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from verifier_server.checkers.runtime import Task
from verifier_server.verdict import Case, Judgement, Outcome, Tampering

HEADER = struct.Struct("<IQ")
_JUDGEMENT_FIELDS = tuple(field.name for field in fields(Judgement))


def pack(number: int, message: Mapping[str, Any]) -> bytes:
    """One frame about the task of that number."""
    body = json.dumps(message).encode()
    return HEADER.pack(len(body), number) + body


def unpack(body: bytes) -> dict[str, Any]:
    """A frame's body as the message it was."""
    message: dict[str, Any] = json.loads(body)
    return message


def task_to_wire(task: Task) -> dict[str, Any]:
    """A task as plain data."""
    return {
        "checker": task.checker,
        "completion": task.completion,
        "params": task.params,
        "prompt": task.prompt,
        "request_hash": task.request_hash,
    }


def task_from_wire(wire: Mapping[str, Any]) -> Task:
    """The task that `task_to_wire` wrote."""
    return Task(**wire)


def judgement_to_wire(judgement: Judgement) -> dict[str, Any]:
    """A judgement as plain data."""
    wire = {name: getattr(judgement, name) for name in _JUDGEMENT_FIELDS}
    return wire | {
        "components": dict(judgement.components),
        "cases": [case.model_dump() for case in judgement.cases],
        "evidence": dict(judgement.evidence),
    }


def judgement_from_wire(wire: Mapping[str, Any]) -> Judgement:
    """The judgement that `judgement_to_wire` wrote. Raises ValueError if it is none."""
    return Judgement(
        **{
            **wire,
            "outcome": Outcome(wire["outcome"]),
            "cases": [Case.model_validate(case) for case in wire["cases"]],
            "tampering": [Tampering(kind) for kind in wire["tampering"]],
        }
    )
