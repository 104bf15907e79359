"""Lines that a runner of ours wrote among others on its stream, told by a nonce."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any


def lines_with(nonce: str, stdout: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects with that nonce; anything else on the stream is not listened to."""
    for raw in BytesIO(stdout):
        if nonce.encode() in raw:
            try:
                line = json.loads(raw)
            except (ValueError, RecursionError):
                continue
            if isinstance(line, dict) and line.get("nonce") == nonce:
                yield line


def has_foreign_lines(nonce: str, stdout: bytes) -> bool:
    """Whether somebody else wrote a line on the stream; the last one may be cut."""
    whole, _, _ = stdout.rpartition(b"\n")
    return any(raw.strip() and nonce.encode() not in raw for raw in BytesIO(whole))
