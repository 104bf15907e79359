"""`verifier-server ledger`: what was judged, whether the record holds, and what would change."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from verifier_server.cli.serve import UnsafeNoSandbox
from verifier_server.cli.terminal import stderr, stdout

if TYPE_CHECKING:
    from verifier_server.ledger.store import Filter, LedgerStore

app = typer.Typer(help="Look into the record of verdicts.", no_args_is_help=True)

Url = Annotated[
    str | None,
    typer.Option("--ledger", metavar="URL", help="Its database.  [default: VERIFIER_LEDGER]"),
]
Checker = Annotated[str | None, typer.Option(help="Only of this checker.")]
OfOutcome = Annotated[str | None, typer.Option("--outcome", help="Only with this outcome.")]
Client = Annotated[str | None, typer.Option(help="Only for the API key of this name.")]
Hash = Annotated[str | None, typer.Option("--hash", help="Only with this request_hash.")]
Since = Annotated[str | None, typer.Option(help="From this time on, ISO 8601, UTC.")]
Until = Annotated[str | None, typer.Option(help="Before this time.")]


@app.command()
def query(
    ledger: Url = None,
    checker: Checker = None,
    outcome: OfOutcome = None,
    client: Client = None,
    request_hash: Hash = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many entries.")] = 50,
) -> None:
    """Print entries, oldest first."""
    from rich.table import Table
    from rich.text import Text

    from verifier_server.cli.terminal import printable

    chosen = _filter(checker, outcome, client, request_hash, since, until)
    table = Table("entry", "at", "checker", "outcome", "score", box=None)
    table.add_column("explanation", overflow="fold")
    with _open(ledger) as store:
        for row in islice(store.read(chosen), limit):
            verdict = json.loads(row["verdict"])
            table.add_row(
                str(row["number"]),
                row["at"][:19],
                Text(printable(f"{row['checker']}@{row['version'] or '?'}", 60)),
                row["outcome"],
                "-" if row["score"] is None else f"{row['score']:.3g}",
                Text(printable(verdict.get("explanation", ""))),
            )
    stdout().print(table)


@app.command()
def export(
    ledger: Url = None,
    checker: Checker = None,
    outcome: OfOutcome = None,
    client: Client = None,
    request_hash: Hash = None,
    since: Since = None,
    until: Until = None,
) -> None:
    """Write entries to stdout, one JSON object a line."""
    chosen = _filter(checker, outcome, client, request_hash, since, until)
    with _open(ledger) as store:
        for row in store.read(chosen):
            whole = {**row, "item": json.loads(row["item"]), "verdict": json.loads(row["verdict"])}
            sys.stdout.write(json.dumps(whole, allow_nan=False) + "\n")


@app.command()
def verify(
    ledger: Url = None,
    end: Annotated[
        str | None,
        typer.Option(metavar="NUMBER:HASH", help="An end printed before: is it still in there?"),
    ] = None,
) -> None:
    """Follow the chain of hashes from its first entry to its last.

    Exits with 1 if an entry was changed, taken out or put in. Who can write to the database
    can make the whole chain anew: note its end elsewhere, and name it the next time.
    """
    number, hash_ = _end(end)
    with _open(ledger) as store:
        found = store.verify()
        problems = list(found.problems)
        if hash_ and store.hash_of(number) != hash_:
            problems.append(f"entry {number} is not the one that was noted")
    for problem in problems:
        stderr().print(problem, style="red", markup=False)
    stdout().print(f"{found.entries} entries; the end is {found.last_number}:{found.last_hash}")
    if problems:
        raise typer.Exit(1)


@app.command()
def replay(
    ledger: Url = None,
    checker: Checker = None,
    outcome: OfOutcome = None,
    client: Client = None,
    request_hash: Hash = None,
    since: Since = None,
    until: Until = None,
    url: Annotated[
        str | None, typer.Option(help="A running service.  [default: a temporary one]")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="VERIFIER_API_KEY", help="Key of the service at --url.")
    ] = None,
    unsafe_no_sandbox: UnsafeNoSandbox = False,
) -> None:
    """Judge recorded items with today's checkers, and print which verdicts change.

    Exits with 1 if any does. Items whose texts were not kept can't be judged again.
    """
    from verifier_server.cli.replay import Replayed, change_table, changes
    from verifier_server.cli.scoring import open_client

    chosen = _filter(checker, outcome, client, request_hash, since, until)
    with (
        _open(ledger) as store,
        open_client(url, api_key, unsafe_no_sandbox=unsafe_no_sandbox) as service,
    ):
        replayed = Replayed()
        for line in changes(service, store.read(chosen), replayed):
            stdout().print(line, markup=False)
    stdout().print(change_table(replayed))
    if replayed.without_text:
        stderr().print(f"{replayed.without_text} entries without their texts were left out")
    if replayed.changed:
        raise typer.Exit(1)


@contextmanager
def _open(url: str | None) -> Iterator[LedgerStore]:
    from verifier_server.cli.configuration import load_settings
    from verifier_server.errors import ConfigError
    from verifier_server.ledger.store import LedgerStore

    settings = load_settings(ledger=url)
    if settings.ledger == "off":
        raise ConfigError("no ledger is kept", remedy="name one with --ledger URL")
    store = LedgerStore(settings.ledger_url, must_exist=True)
    try:
        yield store
    finally:
        store.close()


def _filter(
    checker: str | None,
    outcome: str | None,
    client: str | None,
    request_hash: str | None,
    since: str | None,
    until: str | None,
) -> Filter:
    from verifier_server.ledger.store import Filter
    from verifier_server.verdict import Outcome

    if outcome and outcome not in set(Outcome):
        raise typer.BadParameter(f"no outcome {outcome!r}; there are {', '.join(Outcome)}")
    return Filter(checker, outcome, client, request_hash, _time(since), _time(until))


def _time(text: str | None) -> str | None:
    """As the ledger writes times: UTC, to the microsecond."""
    from datetime import UTC, datetime

    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"no time: {text!r}; write 2026-01-31T12:00") from error
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return at.isoformat(timespec="microseconds")


def _end(text: str | None) -> tuple[int, str]:
    number, _, hash_ = (text or "0:").partition(":")
    if not number.isdecimal() or (text and not hash_):
        raise typer.BadParameter(f"no end of a chain: {text!r}; write NUMBER:HASH")
    return int(number), hash_


__all__ = ["app"]
