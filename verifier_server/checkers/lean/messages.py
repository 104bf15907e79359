"""What Lean says, as data.

It explains a verdict and may lower it, and never raises it: a program wrote it that ran what
the submission's author wanted. The one exception is told in `axioms`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

_MOST_MESSAGES = 100
_MOST_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Message:
    """A message about a range of the text: lines from 1, columns from 0."""

    severity: str
    line: int
    column: int
    end_line: int | None
    end_column: int | None
    kind: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


def read_messages(stdout: bytes) -> list[Message]:
    """The messages of a run with `--json`; what is none is not listened to."""
    messages: list[Message] = []
    for message in _messages(stdout):
        messages.append(message)
        if len(messages) == _MOST_MESSAGES:
            break
    return messages


def _messages(stdout: bytes) -> Iterator[Message]:
    for line in stdout.splitlines():
        try:
            raw = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(raw, dict) and isinstance(raw.get("severity"), str):
            yield _message(raw)


def _message(raw: dict[str, Any]) -> Message:
    line, column = _position(raw.get("pos"))
    end_line, end_column = _position(raw.get("endPos"))
    text = raw.get("data")
    return Message(
        severity=raw["severity"][:20],
        line=line or 0,
        column=column or 0,
        end_line=end_line,
        end_column=end_column,
        kind=str(raw.get("kind", ""))[:80],
        text=printable(text[:_MOST_CHARS]) if isinstance(text, str) else "",
    )


def _position(raw: Any) -> tuple[int | None, int | None]:
    if not isinstance(raw, dict):
        return None, None
    line, column = raw.get("line"), raw.get("column")
    if isinstance(line, int) and isinstance(column, int) and max(line, column) < 2**31:
        return line, column
    return None, None


def printable(text: str) -> str:
    """Valid Unicode: JSON may carry lone surrogates."""
    return text.encode(errors="replace").decode()


__all__ = ["Message", "printable", "read_messages"]
