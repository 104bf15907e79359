"""`verifier-server score`: a file of items, or one item given by options."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from verifier_server.cli.serve import UnsafeNoSandbox
from verifier_server.cli.terminal import stderr, stdout

if TYPE_CHECKING:
    from verifier_server.cli.rows import Row
    from verifier_server.verdict import Verdict

_EACH_SHOWN = 20  # up to so many items every verdict is printed, beyond only the summary


def score(
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE.jsonl]", help="One item a line; - for standard input."),
    ] = None,
    checker: Annotated[str | None, typer.Option(help="Score one item: its checker.")] = None,
    completion: Annotated[str | None, typer.Option(help="… its completion.")] = None,
    params: Annotated[str, typer.Option(help="… its params, a JSON object.")] = "{}",
    url: Annotated[
        str | None,
        typer.Option(help="A running service.  [default: a temporary one on this machine]"),
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="VERIFIER_API_KEY", help="Key of the service at --url.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print verdicts as JSON lines, in the items' order.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write verdicts as JSON lines to this file.")
    ] = None,
    unsafe_no_sandbox: UnsafeNoSandbox = False,
) -> None:
    """Score completions and print a summary.

    Exits with 1 if any item has no score: a line that is no item, a task or service at fault.
    """
    from verifier_server.cli.scoring import open_client, verdicts_of

    rows = _rows(file, checker, completion, params)
    with ExitStack() as stack:
        sinks: list[TextIO] = [sys.stdout] if as_json else []
        if output:
            sinks.append(stack.enter_context(output.open("w", encoding="utf-8")))
        client = stack.enter_context(open_client(url, api_key, unsafe_no_sandbox=unsafe_no_sandbox))
        verdicts = []
        for verdict in verdicts_of(client, rows, "scoring"):
            verdicts.append(verdict)
            for sink in sinks:
                sink.write(json.dumps(verdict.model_dump(mode="json"), allow_nan=False) + "\n")
    _summarise(rows, verdicts, to_stdout=not as_json)
    if any(verdict.score is None for verdict in verdicts):
        raise typer.Exit(1)


def _rows(file: str | None, checker: str | None, completion: str | None, params: str) -> list[Row]:
    from verifier_server.cli.rows import Row
    from verifier_server.cli.scoring import rows_of

    if (file is None) == (checker is None):
        raise typer.BadParameter("give either a FILE or --checker and --completion")
    if file is None:
        if completion is None:
            raise typer.BadParameter("--checker needs --completion")
        try:
            given = json.loads(params)
        except ValueError as error:
            raise typer.BadParameter(f"--params is not JSON: {error}") from error
        return [Row(1, {"checker": checker, "completion": completion, "params": given})]
    return rows_of(file)


def _summarise(rows: Sequence[Row], verdicts: Sequence[Verdict], *, to_stdout: bool) -> None:
    from verifier_server.cli import report

    console = stdout() if to_stdout else stderr()
    if to_stdout and len(verdicts) <= _EACH_SHOWN:
        console.print(report.verdict_table(verdicts))
    if len(verdicts) > 1:
        console.print(report.outcome_table(verdicts))
        console.print(report.checker_table(verdicts))
    for problem in report.unscored_lines(rows, verdicts):
        stderr().print(problem, style="red", markup=False)
