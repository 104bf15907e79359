"""Verdicts as tables for people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from verifier_server.cli.rows import Row
from verifier_server.cli.terminal import printable
from verifier_server.verdict import Fault, Verdict

_STYLES = {Fault.NONE: "green", Fault.CANDIDATE: "yellow", Fault.TASK: "red", Fault.SERVICE: "red"}
_SHOWN_PROBLEMS = 20


def verdict_table(verdicts: Iterable[Verdict]) -> Table:
    """One row a verdict."""
    table = Table("item", "checker", "score", "outcome", box=None)
    table.add_column("answer", overflow="fold")
    table.add_column("explanation", overflow="fold")
    for verdict in verdicts:
        table.add_row(
            Text(printable(verdict.id, 40) or str(verdict.index)),
            Text(printable(verdict.checker, 40)),
            "-" if verdict.score is None else f"{verdict.score:.3g}",
            Text(verdict.outcome.value, _STYLES[verdict.fault]),
            Text(printable(verdict.answer, 60)),
            Text(printable(verdict.explanation)),
        )
    return table


def outcome_table(verdicts: Sequence[Verdict]) -> Table:
    """How many of each outcome, most first, and whose fault."""
    table = Table("outcome", "fault", "items", "share", box=None)
    counts = Counter(verdict.outcome for verdict in verdicts)
    for outcome, count in counts.most_common():
        style = _STYLES[outcome.fault]
        share = f"{count / len(verdicts):.1%}"
        table.add_row(Text(outcome.value, style), outcome.fault.value, str(count), share)
    return table


def checker_table(verdicts: Sequence[Verdict]) -> Table:
    """Items, accepted, unscored and the mean of the scores, by checker."""
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        groups[verdict.checker].append(verdict)
    table = Table("checker", "items", "accepted", "unscored", "mean score", box=None)
    for checker, group in sorted(groups.items()):
        scores = [verdict.score for verdict in group if verdict.score is not None]
        table.add_row(
            Text(printable(checker, 40) or "(none)"),
            str(len(group)),
            str(sum(verdict.fault is Fault.NONE and verdict.score == 1 for verdict in group)),
            str(len(group) - len(scores)),
            f"{sum(scores) / len(scores):.3f}" if scores else "-",
        )
    return table


def unscored_lines(rows: Sequence[Row], verdicts: Sequence[Verdict]) -> list[str]:
    """What went wrong in which line, the first few, for items that have no score."""
    unscored = [
        f"line {row.line}: {verdict.outcome.value}: {printable(verdict.explanation)}"
        for row, verdict in zip(rows, verdicts, strict=True)
        if verdict.score is None
    ]
    hidden = len(unscored) - _SHOWN_PROBLEMS
    return unscored[:_SHOWN_PROBLEMS] + ([f"and {hidden} more"] if hidden > 0 else [])
