"""Rows through a service, a running one or one of the command's own, with progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from verifier_server.cli.rows import Row, read_rows
from verifier_server.cli.terminal import stderr
from verifier_server.errors import ConfigError

if TYPE_CHECKING:
    from verifier_server.client import VerifierClient
    from verifier_server.verdict import Verdict


def rows_of(file: str) -> list[Row]:
    """All rows of a file, `-` for standard input.

    Raises:
        ConfigError: it can't be read.
    """
    if file == "-":
        return read_rows(sys.stdin.buffer)
    try:
        with open(file, "rb") as lines:
            return read_rows(lines)
    except OSError as error:
        raise ConfigError(f"can't read {file}: {error.strerror}") from error


@contextmanager
def open_client(
    url: str | None, api_key: str | None, *, unsafe_no_sandbox: bool
) -> Iterator[VerifierClient]:
    """A client of the service at `url`, or of a temporary one on this machine."""
    from verifier_server.client import LocalServer, VerifierClient

    if url is not None:
        with VerifierClient(url, api_key=api_key) as client:
            yield client
        return
    arguments = ["--unsafe-no-sandbox"] if unsafe_no_sandbox else []
    with LocalServer(arguments) as server, VerifierClient(server.url) as client:
        yield client


def verdicts_of(client: VerifierClient, rows: Sequence[Row], doing: str) -> Iterator[Verdict]:
    """One verdict a row, in order, each as soon as all before it are there.

    Args:
        client: the service.
        rows: with or without an item.
        doing: what the progress bar says, where a person watches.
    """
    return _in_order(_with_progress(_stream(client, rows), len(rows), doing))


def _stream(client: VerifierClient, rows: Sequence[Row]) -> Iterator[Verdict]:
    """The verdicts as they fall due, `index` the row's; rows without an item come first."""
    good = [index for index, row in enumerate(rows) if row.item is not None]
    yield from (row.rejected(index) for index, row in enumerate(rows) if row.item is None)
    items = [row.item for row in rows if row.item is not None]
    for verdict in client.score_stream(items):
        yield verdict.model_copy(update={"index": good[verdict.index]})


def _with_progress(verdicts: Iterator[Verdict], total: int, doing: str) -> Iterator[Verdict]:
    from rich.progress import track

    console = stderr()
    return iter(
        track(
            verdicts,
            doing,
            total=total,
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
    )


def _in_order(verdicts: Iterator[Verdict]) -> Iterator[Verdict]:
    waiting: dict[int, Verdict] = {}
    next_index = 0
    for verdict in verdicts:
        waiting[verdict.index] = verdict
        while next_index in waiting:
            yield waiting.pop(next_index)
            next_index += 1
