"""`verifier-server sandbox check`, and the attacks for `doctor`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from verifier_server.cli.sandbox.options import AsJson, Level, open_level
from verifier_server.cli.terminal import printable, stderr, stdout

if TYPE_CHECKING:
    from rich.table import Table

    from sandboxes.base import SandboxProvider
    from sandboxes.conformance import Result

_STYLES = {"held": "green", "known gap": "yellow", "broken": "red"}
_SHOWN_CHARS = 500


def check(
    level: Level = None,
    only: Annotated[
        str, typer.Option(metavar="WORD", help="Only attacks with this in their group or name.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Attack boxes in every way that the conformance suite knows.

    Exits with 1 if one does not hold, unless the level declares that gap.
    """
    with open_level(level) as provider:
        isolation = provider.probe().isolation
        results = list(attacked(provider, only))
    if not results:
        raise typer.BadParameter(f"no attack has {only!r} in its name")
    ok = all(result.ok for result in results)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "level": provider.name,
                    "isolation": isolation,
                    "ok": ok,
                    "attacks": [asdict(result) for result in results],
                },
                indent=2,
            )
        )
    else:
        stdout().print(results_table(results))
        tell(f"{provider.name} ({isolation})", results)
    if not ok:
        raise typer.Exit(1)


def attacked(provider: SandboxProvider, only: str = "") -> Iterator[Result]:
    """What came of each attack, with a progress bar where a person watches."""
    from rich.progress import track

    from sandboxes.conformance import ATTACKS, run_conformance

    attacks = [attack for attack in ATTACKS if only in attack.group or only in attack.name]
    console = stderr()
    return iter(
        track(
            run_conformance(provider, attacks),
            "attacking",
            total=len(attacks),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
    )


def results_table(results: Sequence[Result]) -> Table:
    """One line a result. What boxes wrote is hostile text."""
    from rich.table import Table
    from rich.text import Text

    table = Table("", "group", "attack", box=None)
    table.add_column("seen", overflow="fold")
    for result in results:
        outcome = Text(result.outcome, _STYLES[result.outcome])
        seen = Text(printable(result.detail, _SHOWN_CHARS))
        table.add_row(outcome, result.group, Text(result.name), seen)
    return table


def tell(what: str, results: Sequence[Result]) -> None:
    """How many attacks held."""
    counts = {outcome: 0 for outcome in _STYLES}
    for result in results:
        counts[result.outcome] += 1
    parts = [f"{count} {outcome}" for outcome, count in counts.items() if count]
    style = "red" if counts["broken"] else "green"
    stdout().print(f"{what}: of {len(results)} attacks {', '.join(parts)}", style=style)
