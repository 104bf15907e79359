"""Recorded items through today's checkers, beside the verdicts that they got."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from verifier_server.cli.terminal import printable

if TYPE_CHECKING:
    from verifier_server.client import VerifierClient
    from verifier_server.verdict import Verdict

_BATCH = 512


@dataclass
class Replayed:
    """How many verdicts stayed as they were, by checker and its versions then and now."""

    same: Counter[tuple[str, str]] = field(default_factory=Counter)
    differ: Counter[tuple[str, str]] = field(default_factory=Counter)
    without_text: int = 0

    @property
    def changed(self) -> int:
        """How many did not."""
        return self.differ.total()


def changes(
    client: VerifierClient, rows: Iterable[Mapping[str, Any]], into: Replayed
) -> Iterator[str]:
    """A line for each entry whose score or outcome is another now; counts all in `into`.

    Faults of the service's, then or now, say nothing of a checker and are left out.
    """
    entries = iter(rows)
    while batch := list(islice(entries, _BATCH)):
        items = [json.loads(row["item"]) for row in batch]
        whole = [
            (row, item) for row, item in zip(batch, items, strict=True) if "completion" in item
        ]
        into.without_text += len(batch) - len(whole)
        verdicts = client.score([{**item, "no_cache": True} for _, item in whole])
        for (row, _), verdict in zip(whole, verdicts, strict=True):
            if line := _compare(row, verdict, into):
                yield line


def _compare(row: Mapping[str, Any], verdict: Verdict, into: Replayed) -> str | None:
    then = json.loads(row["verdict"])
    if "service" in (then["fault"], verdict.fault):
        return None
    key = (row["checker"], f"{row['version'] or '?'} -> {verdict.version or '?'}")
    if (row["outcome"], row["score"]) == (verdict.outcome.value, verdict.score):
        into.same[key] += 1
        return None
    into.differ[key] += 1
    return (
        f"entry {row['number']} ({printable(row['checker'], 40)}): "
        f"{row['outcome']} {_score(row['score'])} -> {verdict.outcome.value} "
        f"{_score(verdict.score)}: {printable(verdict.explanation)}"
    )


def change_table(replayed: Replayed) -> Table:
    """One row a checker and pair of versions."""
    table = Table("checker", "version", "same", "changed", box=None)
    for key in sorted(replayed.same.keys() | replayed.differ.keys()):
        checker, versions = key
        table.add_row(
            Text(printable(checker, 40)),
            Text(printable(versions, 40)),
            str(replayed.same[key]),
            str(replayed.differ[key]),
        )
    return table


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.3g}"


__all__ = ["Replayed", "change_table", "changes"]
