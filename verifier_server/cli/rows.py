"""Items out of a JSON Lines file. A bad line is kept, as the verdict it will get."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from verifier_server.verdict import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One line that is not blank.

    Attributes:
        line: its number, from 1.
        item: what it holds, not yet validated; None if it holds no JSON object.
        why: what is wrong with it otherwise.
    """

    line: int
    item: dict[str, Any] | None
    why: str = ""

    def rejected(self, index: int) -> Verdict:
        """The verdict of a row without an item."""
        outcome = Outcome.BAD_REFERENCE
        return Verdict(
            index=index,
            checker="",
            outcome=outcome,
            fault=outcome.fault,
            score=None,
            explanation=self.why,
        )


def read_rows(lines: Iterable[bytes]) -> list[Row]:
    """All rows, in order."""
    return [_row(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _row(number: int, line: bytes) -> Row:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Row(number, None, f"not JSON: {error}")
    if not isinstance(value, dict):
        return Row(number, None, f"not a JSON object but {type(value).__name__}")
    return Row(number, value)
