"""Frames between the service and its workers: a length, the task's number, then JSON.

JSON and not pickle, since a worker that met hostile text is not trusted. Standard `json`
escapes lone surrogates, which completions may hold and UTF-8 can't. A task's completion, by
far its longest part, follows its JSON as plain bytes, so that nobody has to escape it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

from verifier_server.checkers.runtime import Task

HEADER = struct.Struct("<IQ")
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def pack(number: int, message: Mapping[str, Any]) -> bytes:
    """One frame about the task of that number."""
    return _framed(number, _ENCODER.encode(message).encode())


def unpack(body: bytes) -> dict[str, Any]:
    """A frame's body as the message it was."""
    message: dict[str, Any] = json.loads(body)
    return message


def pack_task(number: int, task: Task, *, lint: bool = False) -> bytes:
    """One frame that asks a worker for a task's judgement, or for that of its reference."""
    head = _ENCODER.encode([task.checker, task.params, task.prompt, task.request_hash, lint])
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
