"""metrics.jsonl: every number of a run, one JSON object a line, in the order it was known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE_NAME = "metrics.jsonl"


class JsonlMonitor:
    """Appends rows; each is on disk (in the system's hands) when `write` returns."""

    def __init__(self, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._path = out / FILE_NAME

    def start(self, before_step: int) -> None:
        """Forgets the rows of steps that will be run again; at 0, all of an earlier run."""
        rows = read_rows(self._path) if before_step else []
        kept = [row for row in rows if row["event"] == "warm_start" or row["step"] <= before_step]
        self._path.write_text("".join(json.dumps(row) + "\n" for row in kept))

    def write(self, event: str, row: Mapping[str, Any]) -> None:
        """One row: `event` is "step", "eval" or "warm_start"."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, **row}) + "\n")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """All whole rows of a metrics file; none if there is no file."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1]]
