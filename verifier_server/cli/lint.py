"""`verifier-server lint`: a data set's references, before any model answers.

Each reference is asked for a verdict on an empty completion. Checkers look at the reference
before they look at the completion, in worker processes that are killed when they hang, so
what comes back as `bad_reference` is bad whatever the completion says, and nothing else is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verifier_server.cli.serve import UnsafeNoSandbox
from verifier_server.cli.terminal import printable, stdout

if TYPE_CHECKING:
    from rich.table import Table

    from verifier_server.cli.rows import Row
    from verifier_server.verdict import Verdict

_MAX_REASON = 300


def lint(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE.jsonl",
            help="One item a line, completions not needed; - for standard input.",
        ),
    ],
    url: Annotated[
        str | None,
        typer.Option(help="A running service.  [default: a temporary one on this machine]"),
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="VERIFIER_API_KEY", help="Key of the service at --url.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print bad lines as JSON lines, and nothing else.")
    ] = False,
    unsafe_no_sandbox: UnsafeNoSandbox = False,
) -> None:
    """Find the references of a data set that nothing could be judged against.

    Prints each bad line with the reason and a summary. Exits with 1 if any line is bad.
    """
    from verifier_server.cli.scoring import open_client, rows_of, verdicts_of

    rows = [_without_completion(row) for row in rows_of(file)]
    found: list[tuple[Row, Verdict]] = []
    with open_client(url, api_key, unsafe_no_sandbox=unsafe_no_sandbox) as client:
        verdicts = verdicts_of(client, rows, "linting")
        for row, verdict in zip(rows, verdicts, strict=True):
            if verdict.score is not None:
                continue
            found.append((row, verdict))
            if as_json:
                typer.echo(json.dumps(_report(row, verdict)))
            else:
                stdout().print(_sentence(row, verdict), soft_wrap=True, markup=False)
    if not as_json:
        stdout().print(_summary(rows, found))
    if found:
        raise typer.Exit(1)


def _without_completion(row: Row) -> Row:
    """The row's check alone: what else a data set keeps in its lines is not the service's."""
    if row.item is None:
        return row
    check = {name: row.item[name] for name in ("checker", "params") if name in row.item}
    return replace(row, item=check | {"completion": ""})


def _report(row: Row, verdict: Verdict) -> dict[str, Any]:
    return {
        "line": row.line,
        "checker": verdict.checker,
        "outcome": verdict.outcome.value,
        "reason": verdict.explanation,
    }


def _sentence(row: Row, verdict: Verdict) -> str:
    return f"line {row.line}: {_what(verdict)}{printable(verdict.explanation, _MAX_REASON)}"


def _what(verdict: Verdict) -> str:
    """Says so where the service failed: a reference that was not looked at is not good."""
    from verifier_server.verdict import Fault

    is_ours = verdict.fault is Fault.SERVICE
    return f"not linted, {verdict.outcome.value}: " if is_ours else ""


def _summary(rows: Sequence[Row], found: Sequence[tuple[Row, Verdict]]) -> Table:
    """References by checker: good, bad, and not linted by a fault of the service."""
    from rich.table import Table
    from rich.text import Text

    table = Table("checker", "references", "good", "bad", "not linted", box=None)
    total = Counter(_checker(row) for row in rows)
    unlinted = Counter(_checker(row) for row, verdict in found if _what(verdict))
    bad = Counter(_checker(row) for row, verdict in found if not _what(verdict))
    for checker, count in sorted(total.items()):
        wrong = (bad[checker], unlinted[checker])
        cells = [Text(str(n), "red" if n else "green") for n in wrong]
        table.add_row(Text(checker), str(count), str(count - sum(wrong)), *cells)
    return table


def _checker(row: Row) -> str:
    name = row.item.get("checker") if row.item else None
    return printable(str(name), 40) if name else "(none)"
